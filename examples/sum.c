/* Sums float32 data of any size: a NumPy file, raw floats from a file or a pipe, or generated
 * numbers. The input goes through two pinned buffers: one is read into while the GPU copies and
 * sums the other, so that a file may be larger than the GPU's memory. The kernel writes each
 * chunk's sum straight into pinned memory, and the host adds these exactly. Where there is no
 * GPU the whole sum is exact, on the CPU.
 *
 *     nvcc -O3 -arch=native sum.c fastreduce.cu -o sum && ./sum 2^28
 *     cc -std=c99 -O3 -DSUM_HOST_ONLY sum.c -o sum && ./sum data.npy          (without CUDA)
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#ifdef SUM_HOST_ONLY
#define FASTREDUCE_HOST_IMPLEMENTATION
#else
#include <cuda_runtime_api.h>
#endif
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "../fastreduce.h"
#include "input.h"

enum {
    CHUNK = 8 << 20,            /* floats: 32 MiB */
    PIECE = 1 << 20,            /* bytes read at once, so that progress shows on a slow pipe too */
    HEADER_LIMIT = 1 << 16,     /* bytes; NumPy writes some 120 for an array of floats */
    HOST = FASTREDUCE_EXACT + 1 /* one more choice of --kernel */
};

static const char help[] =
    "usage: sum [--kernel NAME] [--block THREADS] INPUT\n"
    "\n"
    "INPUT is one of\n"
    "  N          so many generated floats: digits, digits and K, M or G (2^10, 2^20, 2^30),\n"
    "             or 2^k\n"
    "  FILE.npy   a NumPy file (format 1.0, 2.0 or 3.0) of float32 ('<f4'), any shape, C or\n"
    "             Fortran order\n"
    "  FILE.f32   raw little-endian float32\n"
    "  -          the same on standard input\n"
    "\n"
    "Options, before or after INPUT; the last of a kind counts\n"
    "  --kernel NAME    auto (default), v0, v1, ... v7: a GPU kernel; exact: the sum rounded\n"
    "                   once; host: the same, always on the CPU\n"
    "  --block THREADS  32, 64, 128, 256, 512 or 1024 threads a block on the GPU (default: the\n"
    "                   library's)\n"
    "  --help           print this text and do nothing else\n"
    "\n"
    "Sums on the current CUDA device. Without one, or in a build without CUDA, the exact sum on\n"
    "the CPU is taken instead, and a line on standard error says why.\n"
    "Input is read in chunks of 32 MiB. auto and v0 to v7 round within a chunk, and the sums of\n"
    "the chunks are added exactly and rounded once. exact and host round only once, to the\n"
    "nearest float, ties to even.\n"
    "\n"
    "Generated float number i = 0, 1, ... is uniform in [-1, 1), of 24 bits, by 64-bit\n"
    "arithmetic modulo 2^64:\n"
    "  z = (i + 1) * 0x9e3779b97f4a7c15\n"
    "  z = (z ^ z >> 32) * 0xd6e8feb86659fd93\n"
    "  z = z ^ z >> 32\n"
    "  float = (z >> 40) / 2^23 - 1\n"
    "\n"
    "Prints on standard output\n"
    "  sum     with nine digits, enough to tell every float from every other\n"
    "  n       how many floats were summed\n"
    "  ran     the kernel and the device, or: exact on the CPU\n"
    "  time    from the first read to the sum, generating included, setting the GPU up\n"
    "          excluded; 10^9 bytes a s\n"
    "  kernel  the GPU's time in the kernels alone, by events (only on the GPU, and for n > 0)\n"
    "On a terminal, standard error shows the progress after one second, and erases it.\n"
    "\n"
    "Exit status\n"
    "  0  the sum was printed\n"
    "  1  the input could not be summed (missing, malformed, short, too long, of another type),\n"
    "     or the GPU, memory or standard output failed\n"
    "  2  the command line was wrong\n"
    "On 1 and 2 there is one line on standard error. No sum is printed unless all of the input\n"
    "was read.\n";

/* ---- Messages -------------------------------------------------------------------------------- */

static int progress_is_shown;

static void erase_progress(void)
{
    if (progress_is_shown) fputs("\r\033[K", stderr);
    progress_is_shown = 0;
}

/* Only the first complaint is printed: later ones, say of the cleanup, are its consequences. */
static void complain(const char *format, ...)
{
    static int complained;
    va_list list;
    if (complained) return;
    complained = 1;
    erase_progress();
    fputs("sum: ", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- Where the floats come from -------------------------------------------------------------- */

typedef struct source {
    const char *name;
    FILE *file;     /* null: generated */
    uint64_t done;  /* elements delivered */
    uint64_t total; /* elements in all; UINT64_MAX until a pipe has ended */
    double start, shown;
    const char *where; /* "GPU" or "CPU", for the progress line */
} source;

/* Generated float number i: 24 bits of a hash. */
static float generated(uint64_t i)
{
    return (float)((int32_t)(hash(i) >> 40) - (1 << 23)) / (1 << 23);
}

/* Skips spaces, then the given text; 0 if something else stands there. */
static int skip(const char **at, const char *text)
{
    const char *p = *at;
    while (*p == ' ') ++p;
    if (strncmp(p, text, strlen(text)) != 0) return 0;
    *at = p + strlen(text);
    return 1;
}

/* A shape, as Python writes tuples: (), (3,), (3, 5); Python 2 wrote 3L on some systems. Returns
 * 0 where it is malformed, -1 where its elements are too many for 64 bits. */
static int parse_shape(const char **at, uint64_t *elements)
{
    int extents = 0, comma = 1, too_many = 0;
    uint64_t product = 1;
    if (!skip(at, "(")) return 0;
    while (!skip(at, ")")) {
        char *end;
        uint64_t extent;
        (void)skip(at, "");
        if (!comma || **at < '0' || **at > '9') return 0;
        errno = 0;
        extent = strtoull(*at, &end, 10);
        if (errno || (extent && product > (UINT64_MAX >> 3) / extent))
            too_many = 1;
        else
            product *= extent;
        *at = *end == 'L' ? end + 1 : end;
        comma = skip(at, ",");
        ++extents;
    }
    if (extents == 1 && !comma) return 0; /* (3) is a number */
    *elements = product;
    return too_many ? -1 : 1;
}

/* The header of a .npy file is a Python dictionary of type, order and shape, padded
 * with spaces and a newline. Writes the number of elements; 0 with a complaint. The
 * order does not matter to a sum. */
static int parse_npy_header(const char *name, const char *text, size_t length, uint64_t *elements)
{
    const char *p = text;
    int descr = 0, order = 0, shape = 0, comma = 1, fits = 1;

    if (!skip(&p, "{")) goto malformed;
    while (!skip(&p, "}")) {
        if (!comma) goto malformed;
        if (skip(&p, "'descr':")) {
            if (!skip(&p, "'<f4'")) {
                size_t type = 0;
                (void)skip(&p, "");
                if (*p == '\'')
                    type = 1 + strspn(p + 1, "<>=|[]0123456789abcdefghijklmnopqrstuvwxyzMOSUV");
                if (*p != '[' && (type == 0 || type > 40 || p[type] != '\'')) goto malformed;
                if (type)
                    complain("%s: its elements are %.*s, not float32 ('<f4')", name, (int)type + 1,
                             p);
                else
                    complain("%s: its elements are records, not float32 ('<f4')", name);
                return 0;
            }
            ++descr;
        } else if (skip(&p, "'fortran_order':")) {
            if (!skip(&p, "False") && !skip(&p, "True")) goto malformed;
            ++order;
        } else if (skip(&p, "'shape':")) {
            const int good = parse_shape(&p, elements);
            if (!good) goto malformed;
            if (good < 0) fits = 0;
            ++shape;
        } else {
            goto malformed;
        }
        comma = skip(&p, ",");
    }
    while (*p == ' ' || *p == '\n') ++p;
    if (p != text + length || descr != 1 || order != 1 || shape != 1) goto malformed;
    if (!fits) complain("%s: its shape has more elements than any file can hold", name);
    return fits;
malformed:
    complain("%s: its header is not one that NumPy writes", name);
    return 0;
}

/* Reads exactly so many bytes of the header; 0 with a complaint. */
static int read_header(source *s, void *to, size_t bytes)
{
    if (fread(to, 1, bytes, s->file) == bytes) return 1;
    if (ferror(s->file))
        complain("%s: %s", s->name, strerror(errno));
    else
        complain("%s: ends within its header", s->name);
    return 0;
}

/* Reads a .npy file up to its first element. */
static int open_npy(source *s)
{
    unsigned char start[12];
    size_t length;
    char *header;
    int good;

    if (!read_header(s, start, 8)) return 0;
    if (memcmp(start, "\x93NUMPY", 6) != 0) {
        complain("%s: does not begin as a .npy file does", s->name);
        return 0;
    }
    if (start[6] < 1 || start[6] > 3 || start[7] != 0) {
        complain("%s: is of .npy format %d.%d, not 1.0, 2.0 or 3.0", s->name, start[6], start[7]);
        return 0;
    }
    memset(start + 8, 0, 4);
    if (!read_header(s, start + 8, start[6] == 1 ? 2 : 4))
        return 0; /* format 2 made room for longer ones */
    length = start[8] | (size_t)start[9] << 8 | (size_t)start[10] << 16 | (size_t)start[11] << 24;
    if (length > HEADER_LIMIT) {
        complain("%s: its header claims %lu bytes, more than an array of floats can need", s->name,
                 (unsigned long)length);
        return 0;
    }
    header = (char *)malloc(length + 1);
    if (!header) {
        complain("no memory for a header of %lu bytes", (unsigned long)length);
        return 0;
    }
    good = read_header(s, header, length);
    if (good) {
        header[length] = 0;
        good = parse_npy_header(s->name, header, length, &s->total);
    }
    free(header);
    return good;
}

/* Opens a file up to its first element, and compares its size with its header's promise. */
static int open_file(source *s)
{
    const char *dot = strrchr(s->name, '.');
    const int npy = dot && strcmp(dot, ".npy") == 0, raw = dot && strcmp(dot, ".f32") == 0;
    struct stat status;
    off_t begin;
    uint64_t bytes;

    s->file = fopen(s->name, "rb");
    if (!s->file || fstat(fileno(s->file), &status) != 0) {
        complain("%s: %s", *s->name ? s->name : "an empty file name", strerror(errno));
        return 0;
    }
    if (S_ISDIR(status.st_mode)) {
        complain("%s: is a directory", s->name);
        return 0;
    }
    if (!npy && !raw) {
        complain("%s: its name ends neither in .npy nor in .f32", s->name);
        return 0;
    }
    s->total = UINT64_MAX;
    if (npy && !open_npy(s)) return 0;
    if (!S_ISREG(status.st_mode))
        return 1; /* a pipe shows its size at its end: read_chunk checks */

    begin = ftello(s->file);
    if (begin < 0 || status.st_size < begin) {
        complain("%s: changed its size while it was read", s->name);
        return 0;
    }
    bytes = (uint64_t)(status.st_size - begin);
    if (raw) s->total = bytes / 4;
    if (bytes == 4 * s->total) return 1;
    if (raw)
        complain("%s: its %" PRIu64 " bytes are not a whole number of floats", s->name, bytes);
    else if (bytes < 4 * s->total)
        complain("%s: is short, with %" PRIu64 " bytes of data where its header promises %" PRIu64,
                 s->name, bytes, 4 * s->total);
    else
        complain("%s: has %" PRIu64 " bytes too many after its array", s->name,
                 bytes - 4 * s->total);
    return 0;
}

static void show_progress(source *s, uint64_t done)
{
    const double now = seconds();
    if (now - s->start < 1 || now - s->shown < 0.1 || !isatty(STDERR_FILENO)) return;
    s->shown = now;
    progress_is_shown = 1;
    fprintf(stderr, "\rsumming on the %s: %.2f", s->where, 4e-9 * (double)done);
    if (s->total != UINT64_MAX && s->total != 0)
        fprintf(stderr, " of %.2f GB, %.0f %%", 4e-9 * (double)s->total,
                100 * (double)done / (double)s->total);
    else
        fputs(" GB", stderr);
    fputs("\033[K", stderr);
}

/* How large a buffer the source can fill, in floats. */
static size_t chunk_capacity(const source *s)
{
    return s->total == 0 ? 1 : s->total < CHUNK ? (size_t)s->total : CHUNK;
}

/* The next floats, a full buffer unless the input ends: how many, 0
 * at the end, -1 with a complaint. */
static long read_chunk(source *s, float *chunk)
{
    const uint64_t left = s->total - s->done;
    const size_t count = left < CHUNK ? (size_t)left : CHUNK;
    size_t i, bytes = 0, got = 0;

    if (!s->file) {
        for (i = 0; i < count; ++i) chunk[i] = generated(s->done + i);
        s->done += count;
        show_progress(s, s->done);
        return (long)count;
    }
    while (bytes < 4 * count) {
        const size_t piece = 4 * count - bytes < PIECE ? 4 * count - bytes : PIECE;
        got = fread((char *)chunk + bytes, 1, piece, s->file);
        bytes += got;
        if (got < piece) break;
        show_progress(s, s->done + bytes / 4);
    }
    if (count == 0 && !feof(s->file) && fgetc(s->file) != EOF) {
        complain("%s: has bytes after its array", s->name);
        return -1;
    }
    if (ferror(s->file)) {
        complain("%s: %s", s->name, strerror(errno));
        return -1;
    }
    s->done += bytes / 4;
    if (bytes < 4 * count) { /* the end */
        if (s->total != UINT64_MAX) {
            complain("%s: ends early, after %" PRIu64 " of %" PRIu64 " floats", s->name, s->done,
                     s->total);
            return -1;
        }
        if (bytes % 4) {
            complain("%s: ends within a float, after %d of its 4 bytes", s->name, (int)(bytes % 4));
            return -1;
        }
        s->total = s->done;
    }
    if (count) show_progress(s, s->done);
    return (long)(bytes / 4);
}

/* ---- Summing --------------------------------------------------------------------------------- */

typedef struct result {
    fastreduce_accumulator sum;
    char ran[400];
    double seconds;
    double kernel_seconds; /* 0: not on the GPU */
} result;

static int sum_on_cpu(source *s, result *r)
{
    float *chunk = (float *)malloc(chunk_capacity(s) * sizeof(float));
    long count = -1;

    s->where = "CPU";
    s->start = seconds();
    if (!chunk) complain("no memory for a chunk of the input");
    while (chunk && (count = read_chunk(s, chunk)) > 0)
        fastreduce_host_accumulate_f32(chunk, &r->sum, (size_t)count);
    r->seconds = seconds() - s->start;
    free(chunk);
    snprintf(r->ran, sizeof r->ran, "exact on the CPU");
    return count == 0;
}

#ifdef SUM_HOST_ONLY

/* Whether the CPU is to sum, and why: "" where the user asked for it. */
static int use_cpu(int kernel, char *why, size_t size)
{
    snprintf(why, size, "%s", kernel == HOST ? "" : "built without CUDA");
    return 1;
}

static int sum_on_gpu(source *s, result *r, int kernel, unsigned block_size)
{
    (void)s, (void)r, (void)kernel, (void)block_size;
    return 0;
}

#else

static int cuda_good(cudaError_t error, const char *call)
{
    if (error != cudaSuccess)
        complain("%.*s failed: %s", (int)strcspn(call, "("), call, cudaGetErrorString(error));
    return error == cudaSuccess;
}
static int fastreduce_good(fastreduce_status status, const char *call)
{
    if (status != FASTREDUCE_SUCCESS)
        complain("%.*s failed: %s", (int)strcspn(call, "("), call,
                 fastreduce_status_string(status));
    return status == FASTREDUCE_SUCCESS;
}
#define CUDA(call) cuda_good(call, #call)
#define FASTREDUCE(call) fastreduce_good(call, #call)

/* Whether the CPU is to sum, and why: "" where the user asked for it. */
static int use_cpu(int kernel, char *why, size_t size)
{
    int devices = 0;
    cudaError_t error;

    *why = 0;
    if (kernel == HOST) return 1;
    error = cudaGetDeviceCount(&devices);
    if (error != cudaSuccess && error != cudaErrorNoDevice &&
        error != cudaErrorInsufficientDriver && error != cudaErrorStubLibrary) {
        snprintf(why, size, "no CUDA device answers (%s)", cudaGetErrorString(error));
        return 1;
    }
    if (error != cudaSuccess || devices == 0) {
        snprintf(why, size, "no CUDA device");
        return 1;
    }
    return 0;
}

/* One half of the double buffer, with a stream of its own. */
typedef struct half {
    float *host, *device;              /* the chunk; host: pinned */
    float *sum;                        /* pinned; the kernel writes it */
    fastreduce_accumulator *exact_sum; /* pinned; for FASTREDUCE_EXACT instead */
    cudaEvent_t begin, end;            /* around the kernels */
    fastreduce_config config;
    int busy;
} half;

static int make_half(half *h, size_t capacity, int kernel, unsigned block_size)
{
    const size_t bytes = capacity * sizeof(float);
    h->config.kernel = (fastreduce_kernel)kernel;
    h->config.block_size = block_size;
    h->config.workspace_bytes = fastreduce_workspace_bytes(capacity, &h->config);
    if (!CUDA(cudaStreamCreateWithFlags(&h->config.stream, cudaStreamNonBlocking)) ||
        !CUDA(cudaEventCreate(&h->begin)) || !CUDA(cudaEventCreate(&h->end)) ||
        !CUDA(cudaMallocHost((void **)&h->host, bytes)) ||
        !CUDA(cudaMalloc((void **)&h->device, bytes)) ||
        !CUDA(cudaMallocHost((void **)&h->sum, sizeof *h->sum)) ||
        !CUDA(cudaMallocHost((void **)&h->exact_sum, sizeof *h->exact_sum)))
        return 0;
    memset(h->exact_sum, 0, sizeof *h->exact_sum);
    if (h->config.workspace_bytes &&
        !CUDA(cudaMalloc(&h->config.workspace, h->config.workspace_bytes)))
        return 0;
    return FASTREDUCE(fastreduce_workspace_init(h->config.workspace, h->config.workspace_bytes,
                                                h->config.stream));
}

/* Takes a half in any state: work may be under way, parts may never have been made. */
static int free_half(half *h)
{
    int good = 1;
    if (h->config.stream) good &= CUDA(cudaStreamSynchronize(h->config.stream));
    good &= CUDA(cudaFree(h->config.workspace));
    good &= CUDA(cudaFreeHost(h->exact_sum));
    good &= CUDA(cudaFreeHost(h->sum));
    good &= CUDA(cudaFree(h->device));
    good &= CUDA(cudaFreeHost(h->host));
    if (h->end) good &= CUDA(cudaEventDestroy(h->end));
    if (h->begin) good &= CUDA(cudaEventDestroy(h->begin));
    if (h->config.stream) good &= CUDA(cudaStreamDestroy(h->config.stream));
    return good;
}

static int enqueue(half *h, size_t count)
{
    const fastreduce_stream stream = h->config.stream;
    h->busy = 1;
    return CUDA(cudaMemcpyAsync(h->device, h->host, count * sizeof(float), cudaMemcpyHostToDevice,
                                stream)) &&
           CUDA(cudaEventRecord(h->begin, stream)) &&
           (h->config.kernel == FASTREDUCE_EXACT
                ? FASTREDUCE(fastreduce_accumulate_f32(h->device, h->exact_sum, count, &h->config))
                : FASTREDUCE(fastreduce_sum_f32(h->device, h->sum, count, &h->config))) &&
           CUDA(cudaEventRecord(h->end, stream));
}

/* Waits for the half's chunk and takes its sum. An exact sum stays where it grows until the end. */
static int collect(half *h, result *r)
{
    float milliseconds;
    if (!h->busy) return 1;
    h->busy = 0;
    if (!CUDA(cudaStreamSynchronize(h->config.stream)) ||
        !CUDA(cudaEventElapsedTime(&milliseconds, h->begin, h->end)))
        return 0;
    r->kernel_seconds += 1e-3 * milliseconds;
    if (h->config.kernel != FASTREDUCE_EXACT) fastreduce_host_accumulate_f32(h->sum, &r->sum, 1);
    return 1;
}

static int stream_through(half halves[2], source *s, result *r)
{
    half *h = &halves[0];
    long count = 0;
    while (collect(h, r) && (count = read_chunk(s, h->host)) > 0) {
        if (!enqueue(h, (size_t)count)) return 0;
        h = h == &halves[0] ? &halves[1] : &halves[0];
        count = -1; /* in case collect fails */
    }
    if (count < 0 || !collect(&halves[0], r) || !collect(&halves[1], r)) return 0;
    fastreduce_accumulator_merge(&r->sum, halves[0].exact_sum);
    fastreduce_accumulator_merge(&r->sum, halves[1].exact_sum);
    return 1;
}

static int sum_on_gpu(source *s, result *r, int kernel, unsigned block_size)
{
    const size_t capacity = chunk_capacity(s);
    struct cudaDeviceProp properties;
    half halves[2];
    int device, good, used;

    memset(halves, 0, sizeof halves);
    good = CUDA(cudaGetDevice(&device)) && CUDA(cudaGetDeviceProperties(&properties, device)) &&
           make_half(&halves[0], capacity, kernel, block_size) &&
           make_half(&halves[1], capacity, kernel, block_size) &&
           CUDA(cudaStreamSynchronize(halves[0].config.stream)) &&
           CUDA(cudaStreamSynchronize(halves[1].config.stream));
    if (good) {
        s->where = "GPU";
        s->start = seconds();
        good = stream_through(halves, s, r);
        r->seconds = seconds() - s->start;
        used = snprintf(r->ran, sizeof r->ran, "%s on %s",
                        fastreduce_kernel_name((fastreduce_kernel)kernel), properties.name);
        if (block_size)
            snprintf(r->ran + used, sizeof r->ran - used, ", blocks of %u threads", block_size);
    }
    good &= free_half(&halves[0]);
    good &= free_half(&halves[1]);
    return good;
}

#endif

/* ---- The program ----------------------------------------------------------------------------- */

/* What was printed counts only once it has been written. */
static int finish_output(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
    complain("standard output: %s", strerror(errno));
    return 1;
}

static void print_rate(const char *label, double time, uint64_t n)
{
    printf("%-7s %.3g s, %.4g GB/s\n", label, time, time > 0 ? 4e-9 * (double)n / time : 0.0);
}

static int run(source *s, int kernel, unsigned block_size)
{
    char why[200];
    result r;
    const int on_cpu = use_cpu(kernel, why, sizeof why);

    memset(&r, 0, sizeof r);
    if (!(on_cpu ? sum_on_cpu(s, &r) : sum_on_gpu(s, &r, kernel, block_size))) return 1;
    erase_progress();
    if (*why && kernel >= FASTREDUCE_V0 && kernel <= FASTREDUCE_V7)
        fprintf(stderr, "%s: summing exactly on the CPU, which stands in for %s\n", why,
                fastreduce_kernel_name((fastreduce_kernel)kernel));
    else if (*why)
        fprintf(stderr, "%s: summing exactly on the CPU\n", why);

    printf("sum     %.9g\n", (double)fastreduce_accumulator_f32(&r.sum));
    printf("n       %" PRIu64 "\n", s->done);
    printf("ran     %s\n", r.ran);
    print_rate("time", r.seconds, s->done);
    if (r.kernel_seconds > 0) print_rate("kernel", r.kernel_seconds, s->done);
    return finish_output();
}

static int parse_kernel(const char *name)
{
    if (strcmp(name, "auto") == 0) return FASTREDUCE_AUTO;
    if (strcmp(name, "exact") == 0) return FASTREDUCE_EXACT;
    if (strcmp(name, "host") == 0) return HOST;
    if (name[0] == 'v' && name[1] >= '0' && name[1] <= '7' && name[2] == 0)
        return FASTREDUCE_V0 + (name[1] - '0');
    return -1;
}

static int usage(const char *why, const char *what)
{
    complain("%s%s (sum --help tells more)", why, what);
    return 2;
}

int main(int argc, char **argv)
{
    const unsigned short one = 1;
    const char *input = NULL;
    int kernel = FASTREDUCE_AUTO, i, status = 1;
    uint64_t block_size = 0;
    source s;

    memset(&s, 0, sizeof s);
    for (i = 1; i < argc; ++i) {
        const char *option = argv[i];
        if (strcmp(option, "--help") == 0) {
            fputs(help, stdout);
            return finish_output();
        }
        if (strcmp(option, "--kernel") == 0 || strcmp(option, "--block") == 0) {
            if (++i == argc) return usage("a value is missing after ", option);
            if (strcmp(option, "--kernel") == 0) {
                kernel = parse_kernel(argv[i]);
                if (kernel < 0) return usage("no such kernel: ", argv[i]);
            } else if (!parse_size(argv[i], &block_size) || block_size < 32 || block_size > 1024 ||
                       (block_size & (block_size - 1)) != 0) {
                return usage("no such block size: ", argv[i]);
            }
        } else if (option[0] == '-' && option[1] != 0) {
            return usage("no such option: ", option);
        } else if (input) {
            return usage("more than one input: ", option);
        } else {
            input = option;
        }
    }
    if (!input) return usage("no input", "");
    if (*(const unsigned char *)&one != 1) {
        complain("floats are read as they lie in memory, which needs a little-endian machine");
        return 1;
    }

    s.name = input;
    if (strcmp(input, "-") == 0) {
        s.name = "standard input";
        s.file = stdin;
        s.total = UINT64_MAX;
    }
    if (s.file || parse_size(input, &s.total)) {
        status = run(&s, kernel, (unsigned)block_size);
    } else if (*input >= '0' && *input <= '9' && !strpbrk(input, "./")) {
        status = usage("no such number: ", input);
    } else if (open_file(&s)) {
        status = run(&s, kernel, (unsigned)block_size);
    }
    if (s.file && s.file != stdin) fclose(s.file);
    return status;
}

/* Sums real input of any size: a NumPy file, raw floats from a file or a pipe, or generated data. Chunks are read into one
 * pinned buffer while the GPU copies and sums the other, so a file may be larger than the GPU's memory. Without a GPU
 * the sum is exact, on the CPU.
 *
 *     nvcc -O3 -arch=native sum.c fastreduce.cu -o sum && ./sum 2^28
 *     cc -std=c99 -O3 -DSUM_HOST_ONLY sum.c -o sum -lm && ./sum data.npy          (without CUDA)
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

enum { CHUNK = 8 << 20 /* floats: 32 MiB */, HOST = FASTREDUCE_EXACT + 1 };

static const char help[] =
    "usage: sum [--kernel NAME] [--block THREADS] INPUT\n"
    "\n"
    "INPUT\n"
    "  N          that many generated floats, uniform in [-1, 1): digits, 2^k, or with a suffix K, M, G "
    "(2^10, 2^20, 2^30)\n"
    "  FILE.npy   a float32 array as NumPy writes it, of any shape\n"
    "  FILE.f32   raw little-endian floats\n"
    "  -          raw little-endian floats on standard input\n"
    "\n"
    "  --kernel NAME    auto (default), v0, v1, ... v7, exact, or host: exactly on the CPU\n"
    "  --block THREADS  32, 64, 128, 256, 512 or 1024 threads a block (default: the library's)\n"
    "  --help           this text\n"
    "\n"
    "Sums on the GPU, or exactly on the CPU where there is none; a line says which. Input is taken in chunks "
    "of 32 MiB\n"
    "whose sums are added exactly. Prints the sum with nine digits, which identify a float; n; what ran; the "
    "time from\n"
    "the first byte read to the sum, and of the GPU's work alone.\n"
    "Exit status: 0 success, 1 the input or the GPU failed, 2 the command line was wrong.\n";

static void complain(const char *format, ...)
{
    va_list list;
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

/* ---- Where the floats come from ---------------------------------------------------------------------------------- */

typedef struct source {
    const char *name;
    FILE *file;     /* null: generated */
    uint64_t done;  /* elements delivered */
    uint64_t total; /* elements in all; of a pipe, UINT64_MAX until its end */
    double start, shown;
} source;

/* Digits, 2^k, or digits and K, M or G. */
static int parse_size(const char *text, uint64_t *size)
{
    char *end;
    unsigned shift = 0;
    uint64_t value;
    if (*text < '0' || *text > '9') return 0;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno) return 0;
    if (value == 2 && *end == '^' && end[1] >= '0' && end[1] <= '9') {
        const unsigned long k = strtoul(end + 1, &end, 10);
        if (k > 61) return 0;
        value = (uint64_t)1 << k;
    } else if (*end == 'K' || *end == 'M' || *end == 'G') {
        shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 30;
        ++end;
    }
    *size = value << shift;
    return *end == 0 && value <= UINT64_MAX >> 2 >> shift;
}

/* Float number i of the generated data, by a hash: 24 random bits. */
static float generated(uint64_t i)
{
    uint64_t z = (i + 1) * 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93u;
    z ^= z >> 32;
    return (float)((int32_t)(z >> 40) - (1 << 23)) / (1 << 23);
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

/* The header of a .npy file (format 1, 2 or 3) is a Python dictionary: type, order and shape. The number of elements, or
 * 0 with a complaint. Order does not matter to a sum. */
static int parse_npy_header(const char *name, const char *text, uint64_t *elements)
{
    const char *p = text;
    int descr = 0, order = 0, shape = 0;
    if (!skip(&p, "{")) goto malformed;
    while (!skip(&p, "}")) {
        if (skip(&p, "'descr':")) {
            if (!skip(&p, "'<f4'")) {
                const char *end;
                while (*p == ' ') ++p;
                end = *p == '\'' ? strchr(p + 1, '\'') : NULL;
                if (!end) end = p - 1;
                complain("%s: holds elements of type %.*s, not float32 ('<f4')", name,
                         (int)(end + 1 - p > 0 && end + 1 - p < 40 ? end + 1 - p : 0), p);
                return 0;
            }
            ++descr;
        } else if (skip(&p, "'fortran_order':")) {
            if (!skip(&p, "False") && !skip(&p, "True")) goto malformed;
            ++order;
        } else if (skip(&p, "'shape':")) {
            *elements = 1;
            if (!skip(&p, "(")) goto malformed;
            while (!skip(&p, ")")) {
                char *end;
                uint64_t extent;
                while (*p == ' ') ++p;
                if (*p < '0' || *p > '9') goto malformed;
                errno = 0;
                extent = strtoull(p, &end, 10);
                if (errno || (extent && *elements > UINT64_MAX / 8 / extent)) goto malformed;
                *elements *= extent;
                p = end;
                if (!skip(&p, ",") && *p != ')') goto malformed;
            }
            ++shape;
        } else {
            goto malformed;
        }
        if (!skip(&p, ",") && *p != '}' && *p != ' ') goto malformed;
    }
    while (*p == ' ' || *p == '\n') ++p;
    if (*p == 0 && descr == 1 && order == 1 && shape == 1) return 1;
malformed:
    complain("%s: its header is not one that NumPy writes", name);
    return 0;
}

static int open_npy(source *s)
{
    unsigned char start[12];
    size_t length, size_bytes;
    char *header;
    int good;
    if (fread(start, 1, 8, s->file) != 8 || memcmp(start, "\x93NUMPY", 6) != 0) {
        complain("%s: is not a .npy file", s->name);
        return 0;
    }
    if (start[6] < 1 || start[6] > 3 || start[7] != 0) {
        complain("%s: is of .npy format %d.%d, not 1.0, 2.0 or 3.0", s->name, start[6], start[7]);
        return 0;
    }
    size_bytes = start[6] == 1 ? 2 : 4;
    if (fread(start + 8, 1, size_bytes, s->file) != size_bytes) {
        complain("%s: ends within its header", s->name);
        return 0;
    }
    length = start[8] | (size_t)start[9] << 8;
    if (size_bytes == 4) length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    if (length > 1 << 20) {
        complain("%s: its header is not one that NumPy writes", s->name);
        return 0;
    }
    header = (char *)malloc(length + 1);
    if (!header) {
        complain("out of memory");
        return 0;
    }
    good = fread(header, 1, length, s->file) == length;
    if (!good) complain("%s: ends within its header", s->name);
    header[good ? length : 0] = 0;
    good = good && parse_npy_header(s->name, header, &s->total);
    free(header);
    return good;
}

/* Opens the input that an argument names. On failure complains and leaves nothing open. */
static int open_source(source *s, const char *argument)
{
    struct stat status;
    const char *dot = strrchr(argument, '.');
    const int npy = dot && strcmp(dot, ".npy") == 0, raw = dot && strcmp(dot, ".f32") == 0;

    memset(s, 0, sizeof *s);
    s->name = argument;
    if (parse_size(argument, &s->total)) return 1;
    if (strcmp(argument, "-") == 0) {
        s->name = "standard input";
        s->file = stdin;
        s->total = UINT64_MAX;
        return 1;
    }
    s->file = fopen(argument, "rb");
    if (!s->file || fstat(fileno(s->file), &status) != 0) {
        complain("%s: %s", argument, strerror(errno));
    } else if (S_ISDIR(status.st_mode)) {
        complain("%s: is a directory", argument);
    } else if (!npy && !raw) {
        complain("%s: neither .npy nor .f32", argument);
    } else if (!npy || open_npy(s)) {
        const off_t begin = ftello(s->file);
        if (!S_ISREG(status.st_mode)) { /* a pipe shows its size at its end */
            if (raw) s->total = UINT64_MAX;
            return 1;
        }
        const uint64_t bytes = (uint64_t)(status.st_size - begin);
        if (raw) s->total = bytes / 4;
        if (bytes == 4 * s->total) return 1;
        if (raw)
            complain("%s: %" PRIu64 " bytes is no whole number of floats", argument, bytes);
        else if (bytes < 4 * s->total)
            complain("%s: is short: %" PRIu64 " bytes of data where its header promises %" PRIu64, argument,
                     bytes, 4 * s->total);
        else
            complain("%s: has %" PRIu64 " bytes after its array", argument, bytes - 4 * s->total);
    }
    if (s->file) fclose(s->file);
    return 0;
}

static void show_progress(source *s)
{
    const double now = seconds();
    if (now - s->start < 1 || now - s->shown < 0.1 || !isatty(STDERR_FILENO)) return;
    s->shown = now;
    if (s->total == UINT64_MAX)
        fprintf(stderr, "\r%.2f GB", 4e-9 * (double)s->done);
    else
        fprintf(stderr, "\r%3.0f %% of %.2f GB", 100 * (double)s->done / (double)s->total,
                4e-9 * (double)s->total);
}

static void erase_progress(const source *s)
{
    if (s->shown > 0) fputs("\r\033[K", stderr);
}

/* The next floats, CHUNK of them unless the input ends first: their number, 0 at the end, or -1 with a complaint. */
static long read_chunk(source *s, float *chunk)
{
    const uint64_t left = s->total - s->done;
    size_t count = left < CHUNK ? (size_t)left : CHUNK;
    if (!s->file) {
        size_t i;
        for (i = 0; i < count; ++i) chunk[i] = generated(s->done + i);
    } else if (count) {
        const size_t bytes = fread(chunk, 1, 4 * count, s->file);
        if (bytes < 4 * count) {
            if (ferror(s->file)) {
                complain("%s: %s", s->name, strerror(errno));
                return -1;
            }
            if (s->total != UINT64_MAX) {
                complain("%s: ends early", s->name);
                return -1;
            }
            if (bytes % 4) {
                complain("%s: ends within a float, after %zu bytes of it", s->name, bytes % 4);
                return -1;
            }
            count = bytes / 4;
            s->total = s->done + count;
        }
    }
    if (count == 0 && s->file && fgetc(s->file) != EOF) {
        complain("%s: has bytes after its array", s->name);
        return -1;
    }
    s->done += count;
    show_progress(s);
    return (long)count;
}

/* ---- Summing ------------------------------------------------------------------------------------------------------- */

typedef struct result {
    fastreduce_accumulator sum;
    char ran[400];
    double kernel_seconds; /* 0: not on the GPU */
} result;

static int sum_on_cpu(source *s, result *r)
{
    float *chunk = (float *)malloc(CHUNK * sizeof(float));
    long count = -1;
    if (!chunk) complain("out of memory");
    while (chunk && (count = read_chunk(s, chunk)) > 0)
        fastreduce_host_accumulate_f32(chunk, &r->sum, (size_t)count);
    free(chunk);
    snprintf(r->ran, sizeof r->ran, "exactly, on the CPU");
    return count == 0;
}

#ifndef SUM_HOST_ONLY

/* One of the two halves of the double buffer. */
typedef struct half {
    float *host, *device; /* host: pinned */
    float *sum;           /* pinned; the kernel writes it */
    cudaEvent_t begin, end;
    fastreduce_config config;
    int busy;
} half;

static int cuda_good(cudaError_t error, const char *call)
{
    if (error != cudaSuccess) complain("%s: %s", call, cudaGetErrorString(error));
    return error == cudaSuccess;
}
static int fastreduce_good(fastreduce_status status, const char *call)
{
    if (status != FASTREDUCE_SUCCESS) complain("%s: %s", call, fastreduce_status_string(status));
    return status == FASTREDUCE_SUCCESS;
}
#define CUDA(call) cuda_good(call, #call)
#define FASTREDUCE(call) fastreduce_good(call, #call)

static int make_half(half *h, fastreduce_kernel kernel, unsigned block_size)
{
    h->config.kernel = kernel;
    h->config.block_size = block_size;
    h->config.workspace_bytes = fastreduce_workspace_bytes(CHUNK, &h->config);
    return CUDA(cudaStreamCreateWithFlags(&h->config.stream, cudaStreamNonBlocking)) &&
           CUDA(cudaEventCreate(&h->begin)) && CUDA(cudaEventCreate(&h->end)) &&
           CUDA(cudaMallocHost((void **)&h->host, CHUNK * sizeof(float))) &&
           CUDA(cudaMallocHost((void **)&h->sum, sizeof(float))) &&
           CUDA(cudaMalloc((void **)&h->device, CHUNK * sizeof(float))) &&
           (h->config.workspace_bytes == 0 ||
            CUDA(cudaMalloc(&h->config.workspace, h->config.workspace_bytes))) &&
           FASTREDUCE(
               fastreduce_workspace_init(h->config.workspace, h->config.workspace_bytes, h->config.stream));
}

static void free_half(half *h)
{
    if (h->config.stream) cudaStreamSynchronize(h->config.stream);
    cudaFree(h->config.workspace);
    cudaFree(h->device);
    cudaFreeHost(h->sum);
    cudaFreeHost(h->host);
    if (h->end) cudaEventDestroy(h->end);
    if (h->begin) cudaEventDestroy(h->begin);
    if (h->config.stream) cudaStreamDestroy(h->config.stream);
}

/* Waits for the half's chunk and takes its sum. */
static int collect(half *h, result *r, int exact)
{
    float milliseconds;
    if (!h->busy) return 1;
    h->busy = 0;
    if (!CUDA(cudaStreamSynchronize(h->config.stream)) ||
        !CUDA(cudaEventElapsedTime(&milliseconds, h->begin, h->end)))
        return 0;
    r->kernel_seconds += 1e-3 * milliseconds;
    if (!exact) fastreduce_host_accumulate_f32(h->sum, &r->sum, 1);
    return 1;
}

static int enqueue(half *h, size_t count, fastreduce_accumulator *exact)
{
    h->busy = 1;
    return CUDA(cudaMemcpyAsync(h->device, h->host, count * sizeof(float), cudaMemcpyHostToDevice,
                                h->config.stream)) &&
           CUDA(cudaEventRecord(h->begin, h->config.stream)) &&
           (exact ? FASTREDUCE(fastreduce_accumulate_f32(h->device, exact, count, &h->config))
                  : FASTREDUCE(fastreduce_sum_f32(h->device, h->sum, count, &h->config))) &&
           CUDA(cudaEventRecord(h->end, h->config.stream));
}

/* exact: null, or one pinned accumulator a half. */
static int stream_through_gpu(source *s, result *r, half halves[2], fastreduce_accumulator *exact)
{
    unsigned turn;
    long count;
    for (turn = 0;; ++turn) {
        half *h = &halves[turn % 2];
        if (!collect(h, r, exact != NULL)) return 0;
        count = read_chunk(s, h->host);
        if (count <= 0) break;
        if (!enqueue(h, (size_t)count, exact ? exact + turn % 2 : NULL)) return 0;
    }
    if (count < 0 || !collect(&halves[0], r, exact != NULL) || !collect(&halves[1], r, exact != NULL))
        return 0;
    if (exact) {
        fastreduce_accumulator_merge(&r->sum, &exact[0]);
        fastreduce_accumulator_merge(&r->sum, &exact[1]);
    }
    return 1;
}

static int sum_on_gpu(source *s, result *r, fastreduce_kernel kernel, unsigned block_size)
{
    struct cudaDeviceProp properties;
    half halves[2];
    fastreduce_accumulator *exact = NULL;
    int device, good;

    memset(halves, 0, sizeof halves);
    good = CUDA(cudaGetDevice(&device)) && CUDA(cudaGetDeviceProperties(&properties, device)) &&
           make_half(&halves[0], kernel, block_size) && make_half(&halves[1], kernel, block_size);
    if (good && kernel == FASTREDUCE_EXACT) {
        good = CUDA(cudaMallocHost((void **)&exact, 2 * sizeof *exact));
        if (good) memset(exact, 0, 2 * sizeof *exact);
    }
    if (good) {
        s->start = seconds(); /* the device is up */
        good = stream_through_gpu(s, r, halves, exact);
        snprintf(r->ran, sizeof r->ran, "%s on %s", fastreduce_kernel_name(kernel), properties.name);
    }
    free_half(&halves[0]);
    free_half(&halves[1]);
    cudaFreeHost(exact);
    return good;
}

/* Why the GPU cannot run the kernel; null if it can. */
static const char *no_gpu(int kernel)
{
    int devices = 0;
    if (kernel == HOST) return "";
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return "no CUDA device";
    if (kernel == FASTREDUCE_EXACT) {
        fastreduce_accumulator *probe = NULL;
        fastreduce_status status = FASTREDUCE_ERROR_UNSUPPORTED;
        fastreduce_config config = {FASTREDUCE_EXACT, 0, NULL, 0, NULL};
        if (cudaMallocHost((void **)&probe, sizeof *probe) == cudaSuccess) {
            memset(probe, 0, sizeof *probe);
            status = fastreduce_accumulate_f32(NULL, probe, 0, &config);
            cudaDeviceSynchronize();
        }
        cudaFreeHost(probe);
        if (status == FASTREDUCE_ERROR_UNSUPPORTED) return "the exact sum is not on the GPU yet";
    }
    return NULL;
}
#endif

static int run(source *s, int kernel, unsigned block_size)
{
    result r;
    double elapsed;
    float sum;
    int good;
    const char *why = "built without CUDA";

    memset(&r, 0, sizeof r);
    s->start = seconds();
#ifndef SUM_HOST_ONLY
    why = no_gpu(kernel);
    if (!why)
        good = sum_on_gpu(s, &r, (fastreduce_kernel)kernel, block_size);
    else
#else
    (void)block_size;
    if (kernel == HOST) why = "";
#endif
    {
        if (*why) fprintf(stderr, "%s: summing exactly on the CPU\n", why);
        good = sum_on_cpu(s, &r);
    }
    elapsed = seconds() - s->start;
    erase_progress(s);
    if (!good) return 1;

    sum = fastreduce_accumulator_f32(&r.sum);
    printf("sum     %.9g\nn       %" PRIu64 "\nran     %s\ntime    %.3g s, %.3g GB/s\n", (double)sum, s->done,
           r.ran, elapsed, 4e-9 * (double)s->done / elapsed);
    if (r.kernel_seconds > 0)
        printf("kernel  %.3g s, %.4g GB/s\n", r.kernel_seconds, 4e-9 * (double)s->done / r.kernel_seconds);
    if (fflush(stdout) != 0 || ferror(stdout)) {
        complain("standard output: %s", strerror(errno));
        return 1;
    }
    return 0;
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
    int kernel = FASTREDUCE_AUTO, i, status;
    uint64_t block_size = 0;
    source s;

    if (*(const unsigned char *)&one != 1) {
        complain("this example reads floats as they lie in memory, and needs a little-endian machine");
        return 1;
    }
    for (i = 1; i < argc; ++i) {
        const char *option = argv[i];
        if (strcmp(option, "--help") == 0 || strcmp(option, "-h") == 0) {
            fputs(help, stdout);
            return fflush(stdout) == 0 ? 0 : 1;
        }
        if (strcmp(option, "--kernel") == 0 || strcmp(option, "--block") == 0) {
            if (++i == argc) return usage("a value is missing after ", option);
            if (option[2] == 'k') {
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
    if (!open_source(&s, input)) return 1;
    status = run(&s, kernel, (unsigned)block_size);
    if (s.file && s.file != stdin) fclose(s.file);
    return status;
}

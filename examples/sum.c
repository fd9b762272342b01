/* Sums float32 data of any size: NumPy files, raw floats from files and pipes, or generated
 * numbers. On the GPU the input goes through two pinned buffers: one is read into while the GPU
 * copies and sums the other, so that a file may be larger than the GPU's memory; each chunk's sum
 * is written straight into pinned memory, and the host adds these exactly. Where there is no GPU
 * the whole sum is exact, by all cores: each reads chunks that stay in its cache, adds them to an
 * accumulator of its own, and these are merged.
 *
 *     nvcc -O3 -arch=native sum.c fastreduce.cu -o sum && ./sum 2^28
 *     cc -std=c99 -O3 -pthread -DSUM_HOST_ONLY sum.c -o sum && ./sum data.npy      (without CUDA)
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#define PROGRAM "sum"
#define END_PROGRAM end_with_progress
static inline void end_with_progress(int status, const char *text);
#ifdef SUM_HOST_ONLY
#define FASTREDUCE_HOST_IMPLEMENTATION
#else
#include <cuda_runtime_api.h>
#endif
#include "../fastreduce.h"
#include "common.h"
#include "array.h"
#include "chunks.h"

enum {
    CPU_CHUNK = 1 << 16,         /* floats: 256 KiB, which stay in a core's second-level cache */
    GPU_CHUNK = 8 << 20,         /* 32 MiB */
    HOST = FASTREDUCE_EXACT + 1, /* one more choice of --kernel */
    DEFAULT                      /* none: AUTO, or without a GPU EXACT on the CPU */
};

/* clang-format off */
static const char help[] =
    "usage: sum [OPTIONS] INPUT...\n"
    "\n"
    "Prints one sum, of all inputs together. INPUT is one of\n"
    "  N          so many generated floats: " SIZE_FORMS "\n"
    "  FILE.npy   a NumPy file (format 1.0, 2.0 or 3.0) of float32, any shape and order; it is\n"
    "             known by its first bytes, whatever its name\n"
    "  FILE.f32   raw little-endian float32\n"
    "  -          either of them on standard input; a pipe by name may also hold either\n"
    "             A file may be named several times, and is summed as often; a pipe only once.\n"
    "             A pipe without a byte is an error, as what writes to it may have failed.\n"
    "\n"
    "Options, before or after INPUT; the last of a kind counts; --kernel=NAME works too\n"
    "  --kernel NAME    auto, v0, v1, ... v7: a GPU kernel; exact: the sum rounded once; host:\n"
    "                   the same, always on the CPU. Default: auto, or exact without a GPU\n"
    "  --block THREADS  32, 64, 128, 256, 512 or 1024 threads a block on the GPU\n"
    "  --               what follows is INPUT, even if it begins with -\n"
    "  -h, --help, --version  print and do nothing else\n"
    "\n"
    "Sums on the current CUDA device, in chunks of 32 MiB; without one, by default and with\n"
    "exact, on the CPU, and a line on standard error says why. exact and host round once, to\n"
    "the nearest float, ties to even. auto and v0 to v7 round within a chunk, and chunks are\n"
    "added exactly.\n"
    "\n"
    "Generated float number i = 0, 1, ... is uniform in [-1, 1): with integers modulo 2^64,\n"
    "  z = (i + 1) * 0x9e3779b97f4a7c15;  z = (z ^ z >> 32) * 0xd6e8feb86659fd93\n"
    "  z = z ^ z >> 32;  float = (z >> 40) / 2^23 - 1\n"
    "\n"
    "Prints the sum, with nine digits, which tell every float from every other; n; what ran;\n"
    "the time from the first read to the sum, but for setting the GPU up; and of the GPU's\n"
    "kernels alone, by events. A terminal shows the progress after one second.\n"
    "\n"
    "Exit status: 0: the sum of all of the input was printed; 1: the input could not be\n"
    "summed, or the GPU, memory or standard output failed; 2: the command line was wrong;\n"
    "77: --kernel needs a GPU, and there is none. On all but 0 there is one line on standard\n"
    "error.\n";
/* clang-format on */

static fastreduce_accumulator sum; /* guarded by chunks.lock */

static void add_to_sum(const fastreduce_accumulator *part)
{
    pthread_mutex_lock(&chunks.lock);
    fastreduce_accumulator_merge(&sum, part);
    pthread_mutex_unlock(&chunks.lock);
}

/* ---- The CPU --------------------------------------------------------------------------------- */

static void add_on_cpu(void)
{
    fastreduce_accumulator part = {{0}};
    float *buffer = (float *)malloc(CPU_CHUNK * sizeof *buffer);
    const float *chunk;
    size_t count;
    if (!buffer) fail(1, "no memory for a chunk of the input");
    while ((chunk = next_chunk(buffer, CPU_CHUNK, &count)))
        fastreduce_host_accumulate_f32(chunk, &part, count);
    free(buffer);
    add_to_sum(&part);
}

static void sum_on_cpu(char *ran, size_t size)
{
    array *a;
    const uint64_t parts = chunks.total / (4 * CPU_CHUNK) + 1;
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int threads = cores < 1 ? 1 : cores < MOST_THREADS ? (int)cores : MOST_THREADS;
    if (parts < (uint64_t)threads) threads = (int)parts;
    for (a = chunks.now; a < chunks.end; ++a) map_floats(a);
    threads = run_threads(add_on_cpu, threads, "CPU");
    snprintf(ran, size, "exact on the CPU, %d thread%s", threads, threads == 1 ? "" : "s");
}

/* ---- The GPU --------------------------------------------------------------------------------- */

static double kernel_seconds; /* 0: not on the GPU */

#ifdef SUM_HOST_ONLY

/* Why there is no GPU; null if there is one. */
static const char *no_gpu(void) { return "built without CUDA"; }

static void sum_on_gpu(int kernel, unsigned block_size, char *ran, size_t size)
{
    (void)kernel, (void)block_size, (void)ran, (void)size;
}

#else

static const char *no_gpu(void)
{
    static char why[200];
    int devices = 0;
    const char *reason = find_gpus(&devices);
    if (!reason) return NULL;
    snprintf(why, sizeof why, "no CUDA device (%s)", reason);
    return why;
}

/* One half of the double buffer, with a stream of its own. */
typedef struct half {
    float *host, *device;          /* the chunk; host: pinned */
    float *sum;                    /* pinned; the kernel writes it */
    fastreduce_accumulator *exact; /* pinned; for FASTREDUCE_EXACT instead */
    cudaEvent_t begin, end;        /* around the kernel */
    fastreduce_config config;
    int busy;
} half;

static half halves[2];
static size_t capacity; /* floats */

static void make_half(half *h, int kernel, unsigned block_size)
{
    h->config.kernel = (fastreduce_kernel)kernel;
    h->config.block_size = block_size;
    h->config.workspace_bytes = fastreduce_workspace_bytes(capacity, &h->config);
    CHECK(cudaStreamCreateWithFlags(&h->config.stream, cudaStreamNonBlocking));
    CHECK(cudaEventCreate(&h->begin));
    CHECK(cudaEventCreate(&h->end));
    CHECK(cudaMallocHost((void **)&h->host, capacity * sizeof(float)));
    CHECK(cudaMalloc((void **)&h->device, capacity * sizeof(float)));
    CHECK(cudaMallocHost((void **)&h->sum, sizeof *h->sum));
    CHECK(cudaMallocHost((void **)&h->exact, sizeof *h->exact));
    memset(h->exact, 0, sizeof *h->exact);
    if (h->config.workspace_bytes)
        CHECK(cudaMalloc(&h->config.workspace, h->config.workspace_bytes));
    CHECK(fastreduce_workspace_init(h->config.workspace, h->config.workspace_bytes,
                                    h->config.stream));
    CHECK(cudaStreamSynchronize(h->config.stream));
}

static void free_half(half *h)
{
    CHECK(cudaFree(h->config.workspace));
    CHECK(cudaFreeHost(h->exact));
    CHECK(cudaFreeHost(h->sum));
    CHECK(cudaFree(h->device));
    CHECK(cudaFreeHost(h->host));
    CHECK(cudaEventDestroy(h->end));
    CHECK(cudaEventDestroy(h->begin));
    CHECK(cudaStreamDestroy(h->config.stream));
}

static void enqueue(half *h, size_t count)
{
    const fastreduce_stream stream = h->config.stream;
    h->busy = 1;
    CHECK(
        cudaMemcpyAsync(h->device, h->host, count * sizeof(float), cudaMemcpyHostToDevice, stream));
    CHECK(cudaEventRecord(h->begin, stream));
    if (h->config.kernel == FASTREDUCE_EXACT)
        CHECK(fastreduce_accumulate_f32(h->device, h->exact, count, &h->config));
    else
        CHECK(fastreduce_sum_f32(h->device, h->sum, count, &h->config));
    CHECK(cudaEventRecord(h->end, stream));
}

/* Waits for the half's chunk and takes its sum. An exact sum stays where it grows until the end. */
static void collect(half *h, fastreduce_accumulator *part)
{
    float milliseconds;
    if (!h->busy) return;
    h->busy = 0;
    CHECK(cudaStreamSynchronize(h->config.stream));
    CHECK(cudaEventElapsedTime(&milliseconds, h->begin, h->end));
    kernel_seconds += 1e-3 * milliseconds;
    if (h->config.kernel != FASTREDUCE_EXACT) fastreduce_host_accumulate_f32(h->sum, part, 1);
}

static void add_on_gpu(void)
{
    fastreduce_accumulator part = {{0}};
    half *h = &halves[0];
    size_t count;
    while (collect(h, &part), next_chunk(h->host, capacity, &count)) {
        enqueue(h, count);
        h = h == &halves[0] ? &halves[1] : &halves[0];
    }
    for (h = halves; h < halves + 2; ++h) {
        collect(h, &part);
        fastreduce_accumulator_merge(&part, h->exact);
    }
    add_to_sum(&part);
}

static void sum_on_gpu(int kernel, unsigned block_size, char *ran, size_t size)
{
    struct cudaDeviceProp properties;
    int device, used;

    CHECK(cudaGetDevice(&device));
    CHECK(cudaGetDeviceProperties(&properties, device));
    capacity = chunks.total / 4 < GPU_CHUNK ? (size_t)(chunks.total / 4) + 1 : GPU_CHUNK;
    make_half(&halves[0], kernel, block_size);
    make_half(&halves[1], kernel, block_size);
    run_threads(add_on_gpu, 1, "GPU");
    free_half(&halves[0]);
    free_half(&halves[1]);
    used = snprintf(ran, size, "%s on %s", fastreduce_kernel_name((fastreduce_kernel)kernel),
                    properties.name);
    if (block_size) snprintf(ran + used, size - used, ", blocks of %u threads", block_size);
}

#endif

/* ---- The program ----------------------------------------------------------------------------- */

static void print_rate(const char *label, double time)
{
    printf("%-7s %.3g s, %.4g GB/s\n", label, time,
           time > 0 ? 1e-9 * (double)chunks.bytes / time : 0.0);
}

/* why: null, or why there is no GPU. */
static void print_sum(int kernel, unsigned block_size, const char *why)
{
    char ran[400];

    if (kernel == HOST || why)
        sum_on_cpu(ran, sizeof ran);
    else
        sum_on_gpu(kernel == DEFAULT ? FASTREDUCE_AUTO : kernel, block_size, ran, sizeof ran);
    printf("sum     %.9g\n", (double)fastreduce_accumulator_f32(&sum));
    printf("n       %" PRIu64 "\n", chunks.bytes / 4);
    printf("ran     %s\n", ran);
    print_rate("time", chunks.seconds);
    if (kernel_seconds > 0) print_rate("kernel", kernel_seconds);
    finish_output();
    if (why) fprintf(stderr, "%s: summed exactly on the CPU\n", why);
}

static int parse_kernel(const arguments *a)
{
    const char *const name = a->value;
    if (strcmp(name, "auto") == 0) return FASTREDUCE_AUTO;
    if (strcmp(name, "exact") == 0) return FASTREDUCE_EXACT;
    if (strcmp(name, "host") == 0) return HOST;
    if (name[0] != 'v' || name[1] < '0' || name[1] > '7' || name[2] != 0)
        wrong_usage(a, "no such kernel: ", name);
    return FASTREDUCE_V0 + (name[1] - '0');
}

/* Standard input, or a pipe by name: to be read only once. */
static int is_stream(const char *name, struct stat *status)
{
    if (strcmp(name, "-") == 0) return fstat(STDIN_FILENO, status) == 0;
    return stat(name, status) == 0 && (S_ISFIFO(status->st_mode) || S_ISSOCK(status->st_mode));
}

/* Two readers of a stream would share it. A file may be named, and summed, several times. */
static void refuse_streams_named_twice(const arguments *a, char **names, int count)
{
    struct stat one, other;
    int j, k;
    for (k = 0; k < count; ++k)
        for (j = is_stream(names[k], &one) ? 0 : k; j < k; ++j)
            if (is_stream(names[j], &other) && one.st_dev == other.st_dev &&
                one.st_ino == other.st_ino)
                wrong_usage(a, "named more than once, but can be read only once: ", names[k]);
}

int main(int argc, char **argv)
{
    arguments a = arguments_of(argv);
    const char *why;
    array *inputs = (array *)malloc((size_t)argc * sizeof *inputs);
    uint64_t block_size = 0;
    int kernel = DEFAULT, count = 0, k;

    if (!inputs) fail(1, "no memory for the command line");
    while (next_argument(&a, help)) {
        if (is_option_with_value(&a, "--kernel")) {
            kernel = parse_kernel(&a);
        } else if (is_option_with_value(&a, "--block")) {
            if (!parse_size(a.value, &block_size) || block_size < 32 || block_size > 1024 ||
                (block_size & (block_size - 1)) != 0)
                wrong_usage(&a, "no such block size: ", a.value);
        } else if (is_operand(&a)) {
            argv[count++] = a.word; /* in place: this word has been read */
        } else {
            wrong_usage(&a, "no such option: ", a.word);
        }
    }
    if (count == 0) wrong_usage(&a, "no input", "");
    refuse_streams_named_twice(&a, argv, count);
    why = kernel == HOST ? NULL : no_gpu();
    if (why && kernel < FASTREDUCE_EXACT)
        fail(NO_GPU, "%s: %s needs a GPU; only exact is available on the CPU", why,
             fastreduce_kernel_name((fastreduce_kernel)kernel));
    /* all are opened before any is summed */
    for (k = 0; k < count; ++k) inputs[k] = open_input(argv[k], FASTREDUCE_F32, uniform);
    set_chunks(inputs, inputs + count);
    print_sum(kernel, (unsigned)block_size, why);
    for (k = 0; k < count; ++k) close_array(&inputs[k]);
    free(inputs);
    return 0;
}

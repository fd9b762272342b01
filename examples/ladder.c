/* The ladder V0..V7 on one input: what each idea gains. Time, bandwidth, share of the GPU's
 * peak, speed-up over V0 and error against the exact sum; exits with 1 if a sum is wrong.
 *
 *     nvcc -O3 -arch=native ladder.c fastreduce.cu -o ladder && ./ladder
 *     ./ladder 2^28 512          n (digits, or 2^k), and the block size (32 to 1024; default 256)
 *
 * Where there is no GPU it says so and exits with 77. Built with LADDER_ON_CPU_MACHINE against
 * the CPU machine of test/simt, as the project's own build does, it needs none: it counts what
 * the kernels do instead of timing them.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "../fastreduce.h"

/* n as digits or as 2^k; 0 if it is neither. */
static size_t parse_size(const char *text)
{
    char *end;
    unsigned long long value;
    if (*text < '0' || *text > '9') return 0;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (value == 2 && *end == '^') {
        const unsigned long k = strtoul(end + 1, &end, 10);
        value = k < 40 ? 1ull << k : 0;
    }
    return errno || *end || value > SIZE_MAX / sizeof(float) ? 0 : (size_t)value;
}

static int usage(const char *why)
{
    fprintf(stderr,
            "ladder: %s\n"
            "usage: ladder [N [BLOCK_SIZE]]    N: digits or 2^k; BLOCK_SIZE: 32, 64, ... 1024\n",
            why);
    return 2;
}

#ifdef LADDER_ON_CPU_MACHINE
#include "../test/kernels/simt_profile.h"

enum { DEFAULT_LOG2_N = 14, DEFAULT_BLOCK_SIZE = 256 };

static int run(size_t n, unsigned block_size)
{
    int v;
    printf("no GPU is used: V0..V7 on the CPU machine, n = %lu, blocks of %u threads\n\n",
           (unsigned long)n, block_size);
    printf("%-20s %8s %8s %9s %9s %9s %9s %6s %9s\n", "", "", "", "block", "divergent", "avoidable",
           "bank", "worst", "shared");
    printf("%-20s %8s %8s %9s %9s %9s %9s %6s %9s\n", "kernel", "launches", "blocks", "barriers",
           "steps", "steps", "conflicts", "n-way", "accesses");
    for (v = FASTREDUCE_V0; v <= FASTREDUCE_V7; ++v) {
        simt_profile p;
        if (simt_profile_sum((fastreduce_kernel)v, block_size, n, &p) != 0) {
            fprintf(stderr, "ladder: %s: %s\n", fastreduce_kernel_name((fastreduce_kernel)v),
                    simt_profile_error());
            return 1;
        }
        printf("%-20s %8llu %8llu %9llu %9llu %9llu %9llu %6u %9llu\n",
               fastreduce_kernel_name((fastreduce_kernel)v), p.launches, p.blocks, p.barriers,
               p.divergent_steps, p.avoidable_steps, p.conflicts, p.worst_conflict,
               p.shared_accesses);
    }
    printf("\n"
           "divergent steps: accesses of a warp to shared memory with some of its lanes only;\n"
           "avoidable: those that packing the active threads into as few warps as possible would\n"
           "save. Every sum was right.\n");
    return 0;
}

#else
#include <cuda_runtime_api.h>

enum { DEFAULT_LOG2_N = 26, DEFAULT_BLOCK_SIZE = 256, CHUNK = 1 << 22, REPLAYS = 15 };

static void check_cuda(cudaError_t error, const char *call)
{
    if (error == cudaSuccess) return;
    fprintf(stderr, "ladder: %s: %s\n", call, cudaGetErrorString(error));
    exit(1);
}
#define CUDA(call) check_cuda(call, #call)

static void check_fastreduce(fastreduce_status status, const char *call)
{
    if (status == FASTREDUCE_SUCCESS) return;
    fprintf(stderr, "ladder: %s: %s\n", call, fastreduce_status_string(status));
    exit(1);
}
#define FASTREDUCE(call) check_fastreduce(call, #call)

/* Fills the input with floats uniform in [-1, 1), and sums them and their magnitudes exactly. */
static void fill(float *input, size_t n, double *sum, double *magnitude)
{
    fastreduce_accumulator exact = {{0}}, absolute = {{0}};
    float *chunk = (float *)malloc(CHUNK * sizeof(float));
    size_t begin, i;
    if (!chunk) exit(1);
    for (begin = 0; begin < n; begin += CHUNK) {
        const size_t count = n - begin < CHUNK ? n - begin : CHUNK;
        for (i = 0; i < count; ++i) {
            unsigned long long z = (begin + i + 1) * 0x9e3779b97f4a7c15ull;
            z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93ull;
            z ^= z >> 32;
            chunk[i] = (float)((long long)(z >> 40) - (1 << 23)) / (1 << 23);
        }
        CUDA(cudaMemcpy(input + begin, chunk, count * sizeof(float), cudaMemcpyHostToDevice));
        fastreduce_host_accumulate_f32(chunk, &exact, count);
        for (i = 0; i < count; ++i) chunk[i] = fabsf(chunk[i]);
        fastreduce_host_accumulate_f32(chunk, &absolute, count);
    }
    free(chunk);
    *sum = fastreduce_accumulator_f64(&exact);
    *magnitude = fastreduce_accumulator_f64(&absolute);
}

static int by_size(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Microseconds of one sum: a graph of several, the median over replays. */
static double time_sum(const float *input, float *output, size_t n, const fastreduce_config *config)
{
    const int calls = n < (1 << 24) ? 32 : 4;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaEvent_t start, stop;
    float milliseconds[REPLAYS];
    int k;
    CUDA(cudaStreamBeginCapture(config->stream, cudaStreamCaptureModeThreadLocal));
    for (k = 0; k < calls; ++k) FASTREDUCE(fastreduce_sum_f32(input, output, n, config));
    CUDA(cudaStreamEndCapture(config->stream, &graph));
    CUDA(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    CUDA(cudaEventCreate(&start));
    CUDA(cudaEventCreate(&stop));
    CUDA(cudaGraphLaunch(executable, config->stream)); /* warm-up */
    for (k = 0; k < REPLAYS; ++k) {
        CUDA(cudaEventRecord(start, config->stream));
        CUDA(cudaGraphLaunch(executable, config->stream));
        CUDA(cudaEventRecord(stop, config->stream));
        CUDA(cudaEventSynchronize(stop));
        CUDA(cudaEventElapsedTime(&milliseconds[k], start, stop));
    }
    CUDA(cudaEventDestroy(start));
    CUDA(cudaEventDestroy(stop));
    CUDA(cudaGraphExecDestroy(executable));
    CUDA(cudaGraphDestroy(graph));
    qsort(milliseconds, REPLAYS, sizeof *milliseconds, by_size);
    return 1e3 * milliseconds[REPLAYS / 2] / calls;
}

static int run(size_t n, unsigned block_size)
{
    int devices = 0, device, clock_khz, bus_bits, l2_bytes, wrong = 0, v;
    struct cudaDeviceProp properties;
    float *input, *output;
    double exact, magnitude, peak, first = 0;
    fastreduce_config config = {FASTREDUCE_V0, 0, NULL, 0, NULL};
    const cudaError_t found = cudaGetDeviceCount(&devices);

    if (found != cudaSuccess || devices == 0) {
        printf(
            "no GPU here (%s): build the ladder on the CPU machine to count what the kernels do\n",
            found != cudaSuccess ? cudaGetErrorString(found) : "no device");
        return 77;
    }
    CUDA(cudaGetDevice(&device));
    CUDA(cudaGetDeviceProperties(&properties, device));
    CUDA(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrMemoryClockRate, device));
    CUDA(cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, device));
    CUDA(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device));
    peak = 2e3 * clock_khz * (bus_bits / 8) * 1e-9; /* GB/s: two transfers a clock */

    CUDA(cudaMalloc((void **)&input, n * sizeof(float)));
    CUDA(cudaMallocHost((void **)&output, sizeof(float)));
    CUDA(cudaStreamCreate(&config.stream));
    fill(input, n, &exact, &magnitude);
    config.block_size = block_size;
    for (v = FASTREDUCE_V0; v <= FASTREDUCE_V7; ++v) { /* the largest need serves all */
        size_t bytes;
        config.kernel = (fastreduce_kernel)v;
        bytes = fastreduce_workspace_bytes(n, &config);
        if (bytes > config.workspace_bytes) config.workspace_bytes = bytes;
    }
    if (config.workspace_bytes) CUDA(cudaMalloc(&config.workspace, config.workspace_bytes));
    FASTREDUCE(fastreduce_workspace_init(config.workspace, config.workspace_bytes, config.stream));

    printf("%s, n = %lu, blocks of %u threads, peak %.0f GB/s by memory clock and bus width%s\n",
           properties.name, (unsigned long)n, block_size, peak,
           n * sizeof(float) < 2 * (size_t)l2_bytes ? "; the input may stay in L2" : "");
    printf("%-20s %10s %8s %7s %8s %10s\n", "kernel", "us", "GB/s", "% peak", "over V0", "error");
    for (v = FASTREDUCE_V0; v <= FASTREDUCE_V7; ++v) {
        double us, error, bandwidth;
        int bad;
        config.kernel = (fastreduce_kernel)v;
        *output = NAN;
        us = time_sum(input, output, n, &config);
        if (v == FASTREDUCE_V0) first = us;
        error = fabs(*output - exact);
        /* A tree of at most 80 additions in depth errs by 80 units of 2^-24 of the sum of
         * magnitudes at most. */
        bad = !(error <= 80 * ldexp(1, -24) * magnitude);
        wrong |= bad;
        bandwidth = (double)n * sizeof(float) / us * 1e-3;
        printf("%-20s %10.2f %8.0f %7.1f %8.2f %10.1e%s\n", fastreduce_kernel_name(config.kernel),
               us, bandwidth, 100 * bandwidth / peak, first / us, error, bad ? "  WRONG" : "");
    }
    printf("exact sum %.17g\n", exact);
    CUDA(cudaStreamDestroy(config.stream));
    if (config.workspace) CUDA(cudaFree(config.workspace));
    CUDA(cudaFreeHost(output));
    CUDA(cudaFree(input));
    return wrong;
}
#endif

int main(int argc, char **argv)
{
    size_t n = (size_t)1 << DEFAULT_LOG2_N;
    unsigned long block_size = DEFAULT_BLOCK_SIZE;
    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        printf("usage: ladder [N [BLOCK_SIZE]]\n"
               "V0..V7 on N elements (digits or 2^k, default 2^%d), with blocks of\n"
               "BLOCK_SIZE threads (32, 64, ... 1024, default %d)\n",
               DEFAULT_LOG2_N, DEFAULT_BLOCK_SIZE);
        return 0;
    }
    if (argc > 3) return usage("too many arguments");
    if (argc > 1 && (n = parse_size(argv[1])) == 0) return usage("N is not a size");
    if (argc > 2) block_size = parse_size(argv[2]);
    if (block_size < 32 || block_size > 1024 || (block_size & (block_size - 1)) != 0)
        return usage("BLOCK_SIZE is not a power of two from 32 to 1024");
    return run(n, (unsigned)block_size);
}

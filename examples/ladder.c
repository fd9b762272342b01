/* The ladder V0..V7 on one input: what each idea gains. Time, bandwidth, share of the GPU's
 * peak, speed-up over V0 and error against the exact sum; exits with 1 if a sum is wrong.
 *
 *     nvcc -O3 -arch=native ladder.c fastreduce.cu -o ladder && ./ladder
 *     ./ladder 2^28 512              n, and the block size (32 to 1024; default 256)
 *
 * Where there is no GPU it says so and exits with 77. Built with LADDER_ON_CPU_MACHINE against
 * the CPU machine of test/simt, as the project's own build does, it needs none: it counts what
 * the kernels do instead of timing them.
 */
#define PROGRAM "ladder"
#ifndef LADDER_ON_CPU_MACHINE
#include <cuda_runtime_api.h>
#endif
#include <math.h>
#include "../fastreduce.h"
#include "common.h"

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
            fail(1, "%s: %s", fastreduce_kernel_name((fastreduce_kernel)v), simt_profile_error());
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

enum { DEFAULT_LOG2_N = 26, DEFAULT_BLOCK_SIZE = 256, CHUNK = 1 << 22, REPLAYS = 15 };

/* Fills the input with floats uniform in [-1, 1), and sums them and their magnitudes exactly. */
static void fill(float *input, size_t n, double *sum, double *magnitude)
{
    fastreduce_accumulator exact = {{0}}, absolute = {{0}};
    float *chunk = (float *)malloc(CHUNK * sizeof(float));
    size_t begin, i;
    if (!chunk) fail(1, "no memory for a chunk");
    for (begin = 0; begin < n; begin += CHUNK) {
        const size_t count = n - begin < CHUNK ? n - begin : CHUNK;
        for (i = 0; i < count; ++i) chunk[i] = uniform(begin + i);
        CHECK(cudaMemcpy(input + begin, chunk, count * sizeof(float), cudaMemcpyHostToDevice));
        fastreduce_host_accumulate_f32(chunk, &exact, count);
        for (i = 0; i < count; ++i) chunk[i] = fabsf(chunk[i]);
        fastreduce_host_accumulate_f32(chunk, &absolute, count);
    }
    free(chunk);
    *sum = fastreduce_accumulator_f64(&exact);
    *magnitude = fastreduce_accumulator_f64(&absolute);
}

/* Microseconds of one sum: a graph of several, the median over replays. */
static double time_sum(const float *input, float *output, size_t n, const fastreduce_config *config)
{
    const int calls = n < (1 << 24) ? 32 : 4;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    cudaEvent_t start, stop;
    float milliseconds;
    double times[REPLAYS];
    int k;
    CHECK(cudaStreamBeginCapture(config->stream, cudaStreamCaptureModeThreadLocal));
    for (k = 0; k < calls; ++k) CHECK(fastreduce_sum_f32(input, output, n, config));
    CHECK(cudaStreamEndCapture(config->stream, &graph));
    CHECK(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    CHECK(cudaEventCreate(&start));
    CHECK(cudaEventCreate(&stop));
    CHECK(cudaGraphLaunch(executable, config->stream)); /* warm-up */
    for (k = 0; k < REPLAYS; ++k) {
        CHECK(cudaEventRecord(start, config->stream));
        CHECK(cudaGraphLaunch(executable, config->stream));
        CHECK(cudaEventRecord(stop, config->stream));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
        times[k] = 1e3 * milliseconds / calls;
    }
    CHECK(cudaEventDestroy(start));
    CHECK(cudaEventDestroy(stop));
    CHECK(cudaGraphExecDestroy(executable));
    CHECK(cudaGraphDestroy(graph));
    return median(times, REPLAYS);
}

static int run(size_t n, unsigned block_size)
{
    int device, clock_khz, bus_bits, l2_bytes, wrong = 0, v;
    struct cudaDeviceProp properties;
    float *input, *output;
    double exact, magnitude, peak, first = 0;
    fastreduce_config config = {.kernel = FASTREDUCE_V0};

    (void)count_gpus();
    CHECK(cudaGetDevice(&device));
    CHECK(cudaGetDeviceProperties(&properties, device));
    CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrMemoryClockRate, device));
    CHECK(cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, device));
    CHECK(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, device));
    peak = 2e3 * clock_khz * (bus_bits / 8) * 1e-9; /* GB/s: two transfers a clock */

    CHECK(cudaMalloc((void **)&input, n * sizeof(float)));
    CHECK(cudaMallocHost((void **)&output, sizeof(float)));
    CHECK(cudaStreamCreate(&config.stream));
    fill(input, n, &exact, &magnitude);
    config.block_size = block_size;
    for (v = FASTREDUCE_V0; v <= FASTREDUCE_V7; ++v) { /* the largest need serves all */
        size_t bytes;
        config.kernel = (fastreduce_kernel)v;
        bytes = fastreduce_workspace_bytes(n, &config);
        if (bytes > config.workspace_bytes) config.workspace_bytes = bytes;
    }
    if (config.workspace_bytes) CHECK(cudaMalloc(&config.workspace, config.workspace_bytes));
    CHECK(fastreduce_workspace_init(config.workspace, config.workspace_bytes, config.stream));

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
    CHECK(cudaStreamDestroy(config.stream));
    if (config.workspace) CHECK(cudaFree(config.workspace));
    CHECK(cudaFreeHost(output));
    CHECK(cudaFree(input));
    return wrong;
}
#endif

int main(int argc, char **argv)
{
    arguments a = arguments_of(argv);
    uint64_t n = (uint64_t)1 << DEFAULT_LOG2_N, block_size = DEFAULT_BLOCK_SIZE;
    int operands = 0, wrong;
    char help[400];

    (void)argc;
    snprintf(help, sizeof help,
             "usage: ladder [N [BLOCK_SIZE]]\n"
             "V0 to V7 on N elements (" SIZE_FORMS ";\n"
             "default 2^%d), with blocks of BLOCK_SIZE threads (32, 64, ... 1024; default %d).\n"
             "-h, --help and --version print and do nothing else.\n",
             DEFAULT_LOG2_N, DEFAULT_BLOCK_SIZE);
    while (next_argument(&a, help)) {
        if (!is_operand(&a)) wrong_usage(&a, "no such option: ", a.word);
        if (operands == 2) wrong_usage(&a, "too many arguments: ", a.word);
        if (operands++ == 0)
            n = size_argument(&a, "no such number: ", a.word);
        else
            block_size = size_argument(&a, "no such block size: ", a.word);
    }
    if (n == 0) wrong_usage(&a, "nothing to sum: ", "0");
    if (block_size < 32 || block_size > 1024 || (block_size & (block_size - 1)) != 0)
        wrong_usage(&a, "the block size is none of ", "32, 64, ... 1024");
    wrong = run((size_t)n, (unsigned)block_size);
    finish_output();
    return wrong;
}

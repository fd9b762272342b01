/* Why an exact sum: one array in several orders and splits. The bits of a float sum depend on
 * both, be it a loop on the CPU or AUTO and V7 on the GPU; the exact sum's do not, and both
 * processors have the same. Prints the bits of each sum and how far off each method was; exits
 * with 1 if two exact sums differ. Where there is no GPU it shows what the CPU does.
 *
 *     nvcc -O3 -arch=native -x cu exact.c fastreduce.cu -o exact && ./exact 2^24
 *     cc -std=c99 -O3 -DEXACT_HOST_ONLY exact.c -o exact && ./exact                (without CUDA)
 *
 * CUB's sum is among the methods where a CUDA compiler sees this file, hence -x cu.
 */
#define PROGRAM "exact"
#ifdef EXACT_HOST_ONLY
#define FASTREDUCE_HOST_IMPLEMENTATION
#else
#include <cuda_runtime_api.h>
#ifdef __CUDACC__
#include <cub/device/device_reduce.cuh>
#endif
#endif
#include "../fastreduce.h"
#include "common.h"

enum { DEFAULT_N = 10000000, ORDERS = 8 };
enum method {
    CPU_LOOP,
    CPU_EXACT,
    GPU_AUTO,
    GPU_V7,
    GPU_EXACT,
    GPU_CUB,
#ifdef __CUDACC__
    METHODS,
#else
    METHODS = GPU_CUB,
#endif
    CPU_METHODS = GPU_AUTO
};
static const char *const names[] = {"CPU loop", "CPU exact", "GPU auto",
                                    "GPU v7",   "GPU exact", "GPU CUB"};

static const char help[] =
    "usage: exact [N]\n"
    "Sums N generated floats in several orders and splits, on CPU and GPU. N is like\n" SIZE_FORMS
    "; default 10 million.\n"
    "-h, --help and --version print and do nothing else.\n"
    "Magnitudes spread over 2^40; both signs cancel to some 1 / sqrt(N) of the sum of\n"
    "magnitudes.\n"
    "Exit status: 0; 1 if two exact sums differ, or if something failed; 2 for a wrong command\n"
    "line; 77 if it was built for a GPU and there is none.\n";

/* Shuffles; seed 0 reverses. */
static void reorder(float *x, size_t n, uint64_t seed)
{
    size_t i;
    for (i = n; i > (seed ? 1 : n - n / 2); --i) {
        const size_t other = seed ? hash(i ^ seed << 48) % i : n - i;
        const float swapped = x[i - 1];
        x[i - 1] = x[other];
        x[other] = swapped;
    }
}

static float loop(const float *x, size_t n)
{
    float sum = 0;
    size_t i;
    for (i = 0; i < n; ++i) sum += x[i];
    return sum;
}

#ifdef EXACT_HOST_ONLY
enum { HOST_ONLY = 1 };
#define open_gpu(n) "built without CUDA"
#define close_gpu() (void)0
#define upload(x, n) (void)0
#define gpu_sum(method, begin, n) 0.0f
#define gpu_accumulate(part, begin, n) (void)0
#else
enum { HOST_ONLY = 0 };

static float *array; /* on the GPU */
static struct {
    float sum;
    fastreduce_accumulator total;
} * result; /* in pinned memory: kernels write it, the CPU reads it */

/* Null, or why there is no GPU. */
static const char *open_gpu(size_t n)
{
    int devices = 0;
    const char *why = find_gpus(&devices);
    if (why) return why;
    CHECK(cudaMalloc((void **)&array, n * sizeof *array));
    CHECK(cudaMallocHost((void **)&result, sizeof *result));
    return NULL;
}

static void close_gpu(void)
{
    CHECK(cudaFreeHost(result));
    CHECK(cudaFree(array));
}

static void upload(const float *x, size_t n)
{
    CHECK(cudaMemcpy(array, x, n * sizeof *x, cudaMemcpyHostToDevice));
}

static void cub_sum(const float *x, float *output, size_t n)
{
#ifdef __CUDACC__
    size_t bytes = 0;
    void *scratch;
    CHECK(cub::DeviceReduce::Sum(NULL, bytes, x, output, n));
    CHECK(cudaMalloc(&scratch, bytes));
    CHECK(cub::DeviceReduce::Sum(scratch, bytes, x, output, n));
    CHECK(cudaFree(scratch));
#else
    (void)x, (void)output, (void)n; /* METHODS has no GPU_CUB */
#endif
}

static float gpu_sum(int method, size_t begin, size_t n)
{
    /* the pool's memory, the default stream */
    fastreduce_config config;
    memset(&config, 0, sizeof config);
    if (method == GPU_V7) config.kernel = FASTREDUCE_V7;
    if (method == GPU_EXACT) config.kernel = FASTREDUCE_EXACT;
    if (method == GPU_CUB)
        cub_sum(array + begin, &result->sum, n);
    else
        CHECK(fastreduce_sum_f32(array + begin, &result->sum, n, &config));
    CHECK(cudaStreamSynchronize(NULL));
    return result->sum;
}

static void gpu_accumulate(fastreduce_accumulator *part, size_t begin, size_t n)
{
    result->total = *part;
    CHECK(fastreduce_accumulate_f32(array + begin, &result->total, n, NULL));
    CHECK(cudaStreamSynchronize(NULL));
    *part = result->total;
}
#endif

/* Parts are summed one by one, the last first. Exact ones merge as accumulators, and the others'
 * float sums add up exactly too, so that what they lose is lost within the parts. */
static float sum(int method, const float *x, size_t n, size_t parts)
{
    fastreduce_accumulator total = {{0}};
    size_t k;
    if (parts == 1 && method == CPU_EXACT) return fastreduce_host_sum_f32(x, n);
    if (parts == 1 && method == GPU_EXACT) return gpu_sum(method, 0, n);
    for (k = parts; k-- > 0;) {
        const size_t begin = n / parts * k, count = k + 1 == parts ? n - begin : n / parts;
        fastreduce_accumulator part = {{0}};
        if (method == CPU_EXACT) {
            fastreduce_host_accumulate_f32(x + begin, &part, count);
        } else if (method == GPU_EXACT) {
            gpu_accumulate(&part, begin, count);
        } else {
            const float rounded =
                method == CPU_LOOP ? loop(x + begin, count) : gpu_sum(method, begin, count);
            fastreduce_host_accumulate_f32(&rounded, &part, 1);
        }
        fastreduce_accumulator_merge(&total, &part);
    }
    return fastreduce_accumulator_f32(&total);
}

static float sums[METHODS][ORDERS];

static void print_order(const char *order, const float *x, size_t n, size_t parts, int methods)
{
    static int column;
    int m;
    if (methods == METHODS) upload(x, n);
    printf("%-14s", order);
    for (m = 0; m < methods; ++m) {
        sums[m][column] = sum(m, x, n, parts);
        printf("   %08lx", (unsigned long)bits_of(sums[m][column]));
    }
    printf("\n");
    ++column;
}

static void print_method(const char *name, const float *results,
                         const fastreduce_accumulator *exact)
{
    const float rounded = fastreduce_accumulator_f32(exact);
    const uint32_t next_bits = bits_of(rounded) + 1;
    float next, least = results[0], most = results[0];
    double worst = 0;
    int k, first, different = 0;
    memcpy(&next, &next_bits, sizeof next);
    for (k = 0; k < ORDERS; ++k) {
        const double ulps =
            (results[k] - fastreduce_accumulator_f64(exact)) / ((double)next - rounded);
        if (ulps > worst || -ulps > worst) worst = ulps < 0 ? -ulps : ulps;
        if (results[k] < least) least = results[k];
        if (results[k] > most) most = results[k];
        for (first = 0; bits_of(results[first]) != bits_of(results[k]);) ++first;
        different += first == k;
    }
    printf("%-14s %9d %17.9g %17.9g %18.2f\n", name, different, (double)least, (double)most, worst);
}

int main(int argc, char **argv)
{
    arguments a = arguments_of(argv);
    const char *no_gpu;
    const char *operand = only_operand(&a, help);
    const uint64_t n = operand ? size_argument(&a, "no such number: ", operand) : DEFAULT_N;
    float *x;
    fastreduce_accumulator exact = {{0}};
    size_t i;
    int m, k, methods, differ = 0;

    (void)argc;
    if (n == 0) wrong_usage(&a, "nothing to sum: ", operand);
    x = n <= SIZE_MAX / sizeof *x ? (float *)malloc((size_t)n * sizeof *x) : NULL;
    if (!x) fail(1, "no memory for %lu floats", (unsigned long)n);
    for (i = 0; i < n; ++i) x[i] = ill_conditioned(i);
    fastreduce_host_accumulate_f32(x, &exact, n);
    no_gpu = open_gpu(n);
    if (no_gpu) printf("no GPU here (%s): the CPU's sums alone\n", no_gpu);
    methods = no_gpu ? CPU_METHODS : METHODS;

    printf("bits of the sum of %lu floats\n%-14s", (unsigned long)n, "");
    for (m = 0; m < methods; ++m) printf("  %9s", names[m]);
    printf("\n");
    print_order("as generated", x, n, 1, methods);
    print_order("in 2 parts", x, n, 2, methods);
    print_order("in 7 parts", x, n, 7, methods);
    reorder(x, n, 0);
    print_order("reversed", x, n, 1, methods);
    for (k = 1; k <= 3; ++k) {
        reorder(x, n, (uint64_t)k);
        print_order("shuffled", x, n, 1, methods);
    }
    print_order("and in 7 parts", x, n, 7, methods);

    printf("\n%-14s %9s %17s %17s %18s\n", "", "different", "smallest", "largest",
           "worst error (ulps)");
    for (m = 0; m < methods; ++m) {
        print_method(names[m], sums[m], &exact);
        for (k = 0; k < ORDERS; ++k)
            differ |= (m == CPU_EXACT || m == GPU_EXACT) &&
                      bits_of(sums[m][k]) != bits_of(sums[CPU_EXACT][0]);
    }
    printf("the exact sums %s\nexamples/bench/bench.cu measures times, CUB's too\n",
           differ ? "DIFFER" : "have the same bits in every order and split");
    if (!no_gpu) close_gpu();
    free(x);
    finish_output();
    return differ ? 1 : no_gpu && !HOST_ONLY ? NO_GPU : 0;
}

/* One sum over all GPUs of a machine, in one process, the same bits for every number of GPUs.
 * Each GPU adds its slice of the array to an exact accumulator on its own stream; one
 * ncclAllReduce adds the 16 limbs of all accumulators as integers, which is exact in any order.
 * Every GPU's total is compared with the exact sum of the same array on the CPU.
 *
 *     nvcc -O3 -arch=native sum_nccl.c fastreduce.cu -lnccl -o sum_nccl
 *     ./sum_nccl 2^33 --scaling
 *
 * A C file has no kernel to generate with, and the host would take long for 2^33 floats. So the
 * array repeats one generated tile of 2^24 floats, whose sum the CPU knows. The tile is ill-
 * conditioned: magnitudes over 2^40 and both signs. Added as floats, another order or another
 * number of GPUs would give another result. Where there is no GPU it exits with 77.
 */
#define _POSIX_C_SOURCE 200809L
#define PROGRAM "sum_nccl"
#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <nccl.h>
#include <time.h>
#include "../fastreduce.h"
#include "common.h"

enum { TILE = 1 << 24, WARM_UPS = 2, REPEATS = 15, MOST_GPUS = 64 };

/* clang-format off */
static const char help[] =
    "usage: sum_nccl [--gpus K] [--scaling] [N]\n"
    "\n"
    "  N          how many floats over all GPUs, by default 2^28:\n"
    "             " SIZE_FORMS "\n"
    "  --gpus K   the first K GPUs; default all that are visible\n"
    "  --scaling  the same N floats on 1, 2, ... K GPUs\n"
    "-h, --help and --version print and do nothing else.\n"
    "\n"
    "The floats repeat a tile of 2^24 generated ones. Prints a row for each number of GPUs\n"
    "  total us    from the first call to the sum on every GPU: clearing, accumulating,\n"
    "              all-reduce; by the host's clock, median of 15 after 2 to warm up\n"
    "  GB/s        all GPUs' bytes over the total time\n"
    "  efficiency  GB/s per GPU over that of the first row\n"
    "  bits        of the sum, on every GPU the same in every repetition\n"
    "\n"
    "Exit status: 0: all sums were right; 1: one was not, or CUDA, NCCL or memory failed; 2:\n"
    "the command line was wrong; 77: there is no GPU.\n";
/* clang-format on */

static void check_nccl(ncclResult_t result, const char *call)
{
    if (result == ncclSuccess) return;
    fail(1, "%.*s failed: %s", (int)strcspn(call, "("), call, ncclGetErrorString(result));
}
#define NCCL(call) check_nccl(call, #call)

/* What one GPU has of the sum. */
typedef struct shard {
    float *data;
    size_t count;
    fastreduce_accumulator *part, *total; /* of its data, and of all; in the GPU's memory */
    fastreduce_config config;             /* with the GPU's own stream and workspace */
} shard;

static shard shards[MOST_GPUS];
static ncclComm_t communicators[MOST_GPUS];

/* Elements begin .. begin + count - 1 of the array, where element i is tile[i % TILE]. */
static void open_shard(shard *own, size_t begin, size_t count, const float *tile)
{
    fastreduce_config *config = &own->config;
    size_t done, part;
    own->count = count;
    config->workspace_bytes = FASTREDUCE_WORKSPACE_BYTES;
    CHECK(cudaStreamCreateWithFlags(&config->stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&config->workspace, config->workspace_bytes));
    CHECK(fastreduce_workspace_init(config->workspace, config->workspace_bytes, config->stream));
    CHECK(cudaMalloc((void **)&own->data, count * sizeof *own->data));
    CHECK(cudaMalloc((void **)&own->part, sizeof *own->part));
    CHECK(cudaMalloc((void **)&own->total, sizeof *own->total));
    for (done = 0; done < count; done += part) { /* from the host, up to the end of a tile */
        const size_t phase = (begin + done) % TILE;
        part = TILE - phase < count - done ? TILE - phase : count - done;
        CHECK(cudaMemcpy(own->data + done, tile + phase, part * sizeof *tile,
                         cudaMemcpyHostToDevice));
    }
}

static void close_shard(shard *own)
{
    CHECK(cudaFree(own->total));
    CHECK(cudaFree(own->part));
    CHECK(cudaFree(own->data));
    CHECK(cudaFree(own->config.workspace));
    CHECK(cudaStreamDestroy(own->config.stream));
}

/* Leaves the sum of all slices on every GPU. All is enqueued before anything is waited for. */
static void sum_on_gpus(int gpus)
{
    int g;
    for (g = 0; g < gpus; ++g) {
        shard *own = &shards[g];
        CHECK(cudaSetDevice(g));
        CHECK(cudaMemsetAsync(own->part, 0, sizeof *own->part, own->config.stream));
        CHECK(fastreduce_accumulate_f32(own->data, own->part, own->count, &own->config));
    }
    /* An accumulator is a number in 16 integers with room for 2^31 such summands: adding each
     * for itself adds the numbers, without rounding and in any order. One thread calls for all
     * GPUs, which takes a group. */
    NCCL(ncclGroupStart());
    for (g = 0; g < gpus; ++g)
        NCCL(ncclAllReduce(shards[g].part->limb, shards[g].total->limb, 16, ncclInt64, ncclSum,
                           communicators[g], shards[g].config.stream));
    NCCL(ncclGroupEnd());
    for (g = 0; g < gpus; ++g) CHECK(cudaStreamSynchronize(shards[g].config.stream));
}

/* How many GPUs have another total than the right one. Not only the rounded sum: equal numbers
 * have equal limbs once the carries are done, which merging does. */
static int wrong_totals(int gpus, const fastreduce_accumulator *right, uint32_t *bits)
{
    int g, wrong = 0;
    for (g = 0; g < gpus; ++g) {
        fastreduce_accumulator total, sum = {{0}};
        CHECK(cudaMemcpy(&total, shards[g].total, sizeof total, cudaMemcpyDeviceToHost));
        fastreduce_accumulator_merge(&sum, &total);
        wrong += memcmp(&sum, right, sizeof sum) != 0;
        if (g == 0 || wrong) *bits = bits_of(fastreduce_accumulator_f32(&sum));
    }
    return wrong;
}

/* ---- Measuring ------------------------------------------------------------------------------- */

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int rows; /* printed */

/* A row of the table: n floats on so many GPUs. How many totals were wrong. */
static int run(int gpus, size_t n, const float *tile, const fastreduce_accumulator *right)
{
    static double base = 0; /* GB/s per GPU of the first row */
    double times[REPEATS], us, rate;
    size_t begin = 0, available, all;
    uint32_t bits = 0;
    int g, k, wrong = 0;

    CHECK(cudaMemGetInfo(&available, &all)); /* NCCL's buffers take some of it */
    if (n / (size_t)gpus > (available - available / 16) / sizeof(float)) {
        printf("%4d  the floats do not fit\n", gpus);
        finish_output();
        return 0;
    }
    for (g = 0; g < gpus; ++g) { /* equal slices, but for one float */
        const size_t count = n / (size_t)gpus + ((size_t)g < n % (size_t)gpus);
        CHECK(cudaSetDevice(g));
        open_shard(&shards[g], begin, count, tile);
        begin += count;
    }
    NCCL(ncclCommInitAll(communicators, gpus, NULL)); /* null: the GPUs 0, 1, ... */
    for (k = -WARM_UPS; k < REPEATS; ++k) {
        const double start = seconds();
        sum_on_gpus(gpus);
        if (k >= 0) times[k] = 1e6 * (seconds() - start);
        if (wrong == 0) wrong = wrong_totals(gpus, right, &bits);
    }
    us = median(times, REPEATS);
    rate = 4e-3 * (double)n / us;
    if (rows++ == 0) base = rate / gpus;
    printf("%4d %12.1f %9.0f %9.1f %%  0x%08" PRIx32 "%s\n", gpus, us, rate,
           base > 0 ? 100 * rate / gpus / base : 0.0, bits, wrong ? "  WRONG" : "");
    finish_output();
    for (g = 0; g < gpus; ++g) {
        CHECK(cudaSetDevice(g));
        NCCL(ncclCommDestroy(communicators[g]));
        close_shard(&shards[g]);
    }
    CHECK(cudaSetDevice(0));
    return wrong;
}

int main(int argc, char **argv)
{
    arguments a = arguments_of(argv);
    fastreduce_accumulator whole = {{0}}, right = {{0}};
    uint64_t n = 1 << 28, last = 0, k;
    struct cudaDeviceProp properties;
    float *tile = (float *)malloc(TILE * sizeof *tile);
    int devices, sizes = 0, scaling = 0, wrong = 0;

    (void)argc;
    while (next_argument(&a, help)) {
        if (is_option_with_value(&a, "--gpus")) {
            last = size_argument(&a, "no such number of GPUs: ", a.value);
            if (last == 0) wrong_usage(&a, "no such number of GPUs: ", a.value);
        } else if (is_option(&a, "--scaling")) {
            scaling = 1;
        } else if (!is_operand(&a)) {
            wrong_usage(&a, "no such option: ", a.word);
        } else if (sizes++) {
            wrong_usage(&a, "more than one N: ", a.word);
        } else {
            n = size_argument(&a, "no such number: ", a.word);
        }
    }
    devices = count_gpus();
    if (devices > MOST_GPUS) devices = MOST_GPUS;
    if (last > (uint64_t)devices) fail(2, "only %d GPUs are visible", devices);
    if (last == 0) last = (uint64_t)devices;
    /* NVLink multicast (NVLS) adds in the switch, for the sake of bandwidth: 128 bytes gain
     * nothing from it. It needs a switch and rights that not every machine, container or virtual
     * machine has, and where they lack, starting NCCL can fail. What the user has set stays. */
    if (setenv("NCCL_NVLS_ENABLE", "0", 0) != 0) fail(1, "setenv failed: %s", strerror(errno));

    if (!tile) fail(1, "no memory for a tile");
    for (k = 0; k < TILE; ++k) tile[k] = ill_conditioned(k);
    fastreduce_host_accumulate_f32(tile, &whole, TILE);
    for (k = 0; k < n / TILE; ++k) fastreduce_accumulator_merge(&right, &whole);
    fastreduce_host_accumulate_f32(tile, &right, (size_t)(n % TILE));

    CHECK(cudaGetDeviceProperties(&properties, 0));
    printf("%s, n = %" PRIu64 ", a tile of 2^24 floats over and over\n", properties.name, n);
    printf("%4s %12s %9s %11s  %s\n", "GPUs", "total us", "GB/s", "efficiency", "bits");
    for (k = scaling ? 1 : last; k <= last; ++k) wrong |= run((int)k, (size_t)n, tile, &right);
    printf("exact sum on the CPU %.9g, bits 0x%08" PRIx32 "\n",
           (double)fastreduce_accumulator_f32(&right), bits_of(fastreduce_accumulator_f32(&right)));
    finish_output();
    free(tile);
    if (wrong) fail(1, "sums were wrong");
    if (rows == 0) fail(1, "%" PRIu64 " floats do not fit", n);
    return 0;
}

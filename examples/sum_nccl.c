/* One sum over all GPUs of a machine, in one process, the same bits for every number of GPUs, in
 * either of two ways. EXACT: each GPU adds its slice of the array to an exact accumulator on its
 * own stream; one ncclAllReduce adds the limbs of all accumulators as integers, which is exact in
 * any order. AUTO: each GPU sums a shard of 2^k elements; one ncclAllGather brings these sums
 * together in the order of the array, and each GPU adds them by one more call. Every GPU's total
 * is compared with that of the same array on the CPU. Of any type of floats, or of their squares.
 *
 *     nvcc -O3 -arch=native -DEVERY_FLOAT sum_nccl.c fastreduce.cu -lnccl -o sum_nccl
 *     ./sum_nccl 2^33
 *
 * The array repeats one generated tile of 2^24 floats, as the host would take long for 2^33. The
 * tile is ill-conditioned: magnitudes over 2^40 and both signs. Added as floats in slices of any
 * length, another number of GPUs would give another result. Where there is no GPU it exits with 77.
 */
#define _POSIX_C_SOURCE 200809L
#define PROGRAM "sum_nccl"
#include <cuda_runtime_api.h>
#include <inttypes.h>
#include <nccl.h>
#include "../fastreduce.h"
#include "common.h"
#include "typed_sum.h"

enum { TILE = 1 << 24, WARM_UPS = 2, REPEATS = 15, MOST_GPUS = 64 };

static const char help[] =
    "usage: sum_nccl [OPTIONS] [N]\n"
    "Sums N floats (" SIZE_FORMS "; default 2^28)\n"
    "on 1, 2, ... all visible GPUs, each with a slice; auto's are 2^k long, so that the last\n"
    "GPUs may have less. A row for each number of GPUs: the time from the first call to the\n"
    "sum on every GPU by the host's clock, median of 15 after 2 to warm up; GB/s of all GPUs;\n"
    "the same per GPU, over that of one; the bits, which every GPU had every time.\n" SUM_OPTIONS
    "-h, --help and --version print and do nothing else.\n"
    "Exit status: 0; 1: a sum was wrong, or CUDA, NCCL or memory failed; 2: the command line\n"
    "was wrong; 77: there is no GPU.\n";

static void check_nccl(ncclResult_t result, const char *call)
{
    if (result == ncclSuccess) return;
    fail(1, "%.*s failed: %s", (int)strcspn(call, "("), call, ncclGetErrorString(result));
}
#define NCCL(call) check_nccl(call, #call)

/* What one GPU has of the sum. */
typedef struct shard {
    char *data;
    size_t count;
    sum_limbs *part, *total;  /* of its data, and of all; in the GPU's memory */
    void *parts;              /* AUTO: of each GPU, up to MOST_GPUS */
    fastreduce_config config; /* with the GPU's own stream and workspace */
    ncclComm_t communicator;
} shard;

/* Elements begin .. begin + count - 1 of the array, where element i is tile[i % TILE]. */
static void open_shard(shard *own, size_t begin, size_t count, const char *tile)
{
    const size_t size = fastreduce_type_size(sum_of.type);
    fastreduce_config *config = &own->config;
    size_t done, part;
    own->count = count;
    config->workspace_bytes = FASTREDUCE_WORKSPACE_BYTES;
    CHECK(cudaStreamCreateWithFlags(&config->stream, cudaStreamNonBlocking));
    CHECK(cudaMalloc(&config->workspace, config->workspace_bytes));
    CHECK(fastreduce_workspace_init(config->workspace, config->workspace_bytes, config->stream));
    CHECK(cudaMalloc((void **)&own->data, count * size));
    CHECK(cudaMalloc((void **)&own->part, 2 * sizeof *own->part));
    CHECK(cudaMalloc(&own->parts, MOST_GPUS * partial_size()));
    own->total = own->part + 1;
    for (done = 0; done < count; done += part) { /* from the host, up to the end of a tile */
        const size_t phase = (begin + done) % TILE;
        part = TILE - phase < count - done ? TILE - phase : count - done;
        CHECK(cudaMemcpy(own->data + done * size, tile + phase * size, part * size,
                         cudaMemcpyHostToDevice));
    }
}

static void close_shard(shard *own)
{
    NCCL(ncclCommDestroy(own->communicator));
    CHECK(cudaFree(own->parts));
    CHECK(cudaFree(own->part));
    CHECK(cudaFree(own->data));
    CHECK(cudaFree(own->config.workspace));
    CHECK(cudaStreamDestroy(own->config.stream));
}

/* Leaves the sum of all slices on every GPU. All is enqueued before anything is waited for. */
static void sum_on_gpus(const shard *shards, int gpus)
{
    const shard *own;
    int g;
    for (g = 0, own = shards; g < gpus; ++g, ++own) {
        CHECK(cudaSetDevice(g));
        CHECK(cudaMemsetAsync(own->part, 0, sizeof *own->part, own->config.stream));
        sum_on_device(own->data, own->part, own->count, &own->config);
    }
    /* An accumulator is a number in 16 or 72 integers with room for 2^31 such summands: adding
     * each for itself adds the numbers, without rounding and in any order. AUTO's sums are only
     * copied. One thread calls for all GPUs, which takes a group. */
    NCCL(ncclGroupStart());
    for (g = 0, own = shards; g < gpus; ++g, ++own)
        NCCL(is_auto() ? ncclAllGather(own->part, own->parts, partial_size(), ncclInt8,
                                       own->communicator, own->config.stream)
                       : ncclAllReduce(own->part->limb, own->total->limb, (size_t)limbs_of_sum(),
                                       ncclInt64, ncclSum, own->communicator, own->config.stream));
    NCCL(ncclGroupEnd());
    for (g = 0, own = shards; g < gpus && is_auto(); ++g, ++own) {
        CHECK(cudaSetDevice(g));
        CHECK(fastreduce_reduce(own->parts, own->total, (size_t)gpus, partial_type(),
                                FASTREDUCE_SUM, &own->config));
    }
    for (g = 0; g < gpus; ++g) CHECK(cudaStreamSynchronize(shards[g].config.stream));
}

/* Not only the rounded sum: equal numbers have equal limbs once the carries are done, which merging
 * does. */
static void check_totals(const shard *shards, int gpus, const sum_limbs *right)
{
    const size_t size = is_auto() ? partial_size() : (size_t)limbs_of_sum() * sizeof *right->limb;
    int g;
    for (g = 0; g < gpus; ++g) {
        sum_limbs total, sum = {.limb = {0}};
        CHECK(cudaMemcpy(&total, shards[g].total, sizeof total, cudaMemcpyDeviceToHost));
        if (is_auto())
            sum = total;
        else
            merge_sums(&sum, &total);
        if (memcmp(&sum, right, size) != 0)
            fail(1, "GPU %d of %d has the sum %s instead of %s", g, gpus, text_of_sum(&sum).value,
                 text_of_sum(right).value);
    }
}

/* Sums the array, which repeats the tile, on the CPU. AUTO takes the tiles for its shards. */
static void sum_on_cpu(const char *tile, uint64_t n, sum_limbs *right)
{
    const size_t size = partial_size(), tiles = (size_t)(n / TILE);
    sum_limbs whole = {.limb = {0}};
    char *parts = (char *)malloc((tiles + 1) * size);
    size_t k;
    if (!parts) fail(1, "no memory for the sums of tiles");
    sum_on_host(tile, &whole, TILE);
    for (k = 0; k < tiles && is_auto(); ++k) memcpy(parts + k * size, &whole, size);
    for (k = 0; k < tiles && !is_auto(); ++k) merge_sums(right, &whole);
    sum_on_host(tile, is_auto() ? parts + tiles * size : (char *)right, (size_t)(n % TILE));
    if (is_auto()) add_partials(parts, right, tiles + 1);
    free(parts);
}

/* A row of the table: n floats on so many GPUs, in slices of one length. Only the last ones may be
 * shorter. AUTO's length is a power of two. */
static void run(int gpus, size_t n, const char *tile, const sum_limbs *right)
{
    static double base; /* GB/s of one GPU */
    static shard shards[MOST_GPUS];
    ncclComm_t communicators[MOST_GPUS];
    double times[REPEATS], us, rate;
    size_t length = n / (size_t)gpus + (n % (size_t)gpus > 0), power = 1;
    int g, k;

    NCCL(ncclCommInitAll(communicators, gpus, NULL)); /* null: the GPUs 0, 1, ... */
    while (power < length) power *= 2;
    if (is_auto()) length = power;
    for (g = 0; g < gpus; ++g) {
        const size_t begin = (size_t)g * length < n ? (size_t)g * length : n;
        CHECK(cudaSetDevice(g));
        open_shard(&shards[g], begin, n - begin < length ? n - begin : length, tile);
        shards[g].communicator = communicators[g];
    }
    for (k = -WARM_UPS; k < REPEATS; ++k) {
        const double start = seconds();
        sum_on_gpus(shards, gpus);
        if (k >= 0) times[k] = 1e6 * (seconds() - start);
        check_totals(shards, gpus, right);
    }
    us = median(times, REPEATS);
    rate = 1e-3 * (double)(fastreduce_type_size(sum_of.type) * n) / us;
    if (gpus == 1) base = rate;
    printf("%4d %12.1f %9.0f %9.1f %%  %s\n", gpus, us, rate,
           base > 0 ? 100 * rate / gpus / base : 0.0, text_of_sum(right).bits);
    finish_output();
    for (g = 0; g < gpus; ++g) {
        CHECK(cudaSetDevice(g));
        close_shard(&shards[g]);
    }
}

int main(int argc, char **argv)
{
    arguments a = arguments_of(argv);
    const char *operand = operand_of_sum(&a, help);
    const uint64_t n = operand ? size_argument(&a, "no such number: ", operand) : 1 << 28;
    const size_t size = fastreduce_type_size(sum_of.type);
    sum_limbs right = {.limb = {0}};
    const int devices = count_gpus();
    char *tile = (char *)malloc(TILE * size);
    struct cudaDeviceProp properties;
    uint64_t k;
    int gpus;

    (void)argc;
    if (n > SIZE_MAX / size) wrong_usage(&a, "too many for memory: ", operand);
    if (!tile) fail(1, "no memory for a tile");
    /* NVLink multicast (NVLS) gains nothing for 128 bytes, and where a machine, container or
     * virtual machine does not allow it, starting NCCL can fail. What the user has set stays. */
    if (setenv("NCCL_NVLS_ENABLE", "0", 0) != 0) fail(1, "setenv failed: %s", strerror(errno));
    for (k = 0; k < TILE; ++k) typed_number(sum_of.type, ill_conditioned, k, tile + k * size);
    sum_on_cpu(tile, n, &right);

    CHECK(cudaGetDeviceProperties(&properties, 0));
    printf("%s, n = %" PRIu64 ", %s sum on the CPU %s\n", properties.name, n,
           fastreduce_kernel_name(sum_of.kernel), text_of_sum(&right).value);
    printf("%4s %12s %9s %11s  %s\n", "GPUs", "total us", "GB/s", "efficiency", "bits");
    for (gpus = 1; gpus <= devices && gpus <= MOST_GPUS; ++gpus) run(gpus, (size_t)n, tile, &right);
    free(tile);
    return 0;
}

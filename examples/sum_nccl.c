/* One sum over all GPUs of a machine, in one process, the same bits for every number of GPUs.
 * Each GPU adds its slice of the array to an exact accumulator on its own stream; one
 * ncclAllReduce adds the 16 limbs of all accumulators as integers, which is exact in any order.
 * Every GPU's total is compared with the exact sum of the same array on the CPU.
 *
 *     nvcc -O3 -arch=native sum_nccl.c fastreduce.cu -lnccl -o sum_nccl
 *     ./sum_nccl 2^33 --scaling
 *
 * A C file has no kernel to generate with, and the host would take long for 2^33 floats. So the
 * array repeats one generated tile of 2^24 floats: element i is tile[i % 2^24], which the copy
 * engines of the GPUs spread, and whose sum the CPU knows from the tile's. The tile is ill-
 * conditioned: magnitudes over 2^40 and both signs. Added as floats, another order or another
 * number of GPUs would give another result. Where there is no GPU it exits with 77.
 */
#define _POSIX_C_SOURCE 200809L
#include <cuda_runtime_api.h>
#include <errno.h>
#include <inttypes.h>
#include <nccl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include "../fastreduce.h"
#include "input.h"

enum { TILE = 1 << 24, DEFAULT_LOG2_N = 28, WARM_UPS = 2, REPEATS = 15, LIMBS = 16 };

static const char help[] =
    "usage: sum_nccl [--gpus K] [--scaling] [N]\n"
    "\n"
    "  N          how many floats over all GPUs: digits, digits and K, M or G (2^10, 2^20,\n"
    "             2^30), or 2^k; default 2^28\n"
    "  --gpus K   the first K GPUs; default all that are visible\n"
    "  --scaling  the same N floats on 1, 2, ... K GPUs\n"
    "  --help     print this text and do nothing else\n"
    "\n"
    "The floats repeat a tile of 2^24 generated ones. Prints a row for each number of GPUs\n"
    "  total us    from the first call to the sum on every GPU: clearing, accumulating,\n"
    "              all-reduce; by the host's clock, median of 15 after 2 to warm up\n"
    "  sums us     of these the accumulation, slowest GPU, by events, median\n"
    "  GB/s        all GPUs' bytes over the total time\n"
    "  efficiency  GB/s per GPU over that of the first row\n"
    "  bits        of the sum, on every GPU the same in every repetition\n"
    "\n"
    "Exit status: 0: all sums were right; 1: one was not, or CUDA, NCCL or memory failed; 2:\n"
    "the command line was wrong; 77: there is no GPU.\n";

/* ---- Failures -------------------------------------------------------------------------------- */

static void give_up(const char *call, const char *why)
{
    fprintf(stderr, "sum_nccl: %.*s failed: %s\n", (int)strcspn(call, "("), call, why);
    exit(1);
}
static void check_cuda(cudaError_t error, const char *call)
{
    if (error != cudaSuccess) give_up(call, cudaGetErrorString(error));
}
static void check_nccl(ncclResult_t result, const char *call)
{
    if (result != ncclSuccess) give_up(call, ncclGetErrorString(result));
}
static void check_fastreduce(fastreduce_status status, const char *call)
{
    if (status != FASTREDUCE_SUCCESS) give_up(call, fastreduce_status_string(status));
}
#define CUDA(call) check_cuda(call, #call)
#define NCCL(call) check_nccl(call, #call)
#define FASTREDUCE(call) check_fastreduce(call, #call)

static void *allocate(size_t count, size_t size)
{
    void *memory = calloc(count, size);
    if (!memory) give_up("calloc", "no memory");
    return memory;
}

/* What was printed counts only once it has been written. */
static void finish_output(void)
{
    if (fflush(stdout) != 0 || ferror(stdout)) give_up("printing", strerror(errno));
}

static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- The array ------------------------------------------------------------------------------- */

static float *make_tile(void)
{
    float *tile = (float *)allocate(TILE, sizeof *tile);
    size_t i;
    for (i = 0; i < TILE; ++i) tile[i] = ill_conditioned(i);
    return tile;
}

/* The exact sum of the first n elements: the tile's sum, as often as it repeats, and the rest's. */
static fastreduce_accumulator sum_on_cpu(const float *tile, size_t n)
{
    fastreduce_accumulator whole = {{0}}, sum = {{0}};
    size_t k;
    if (n >= TILE) fastreduce_host_accumulate_f32(tile, &whole, TILE);
    for (k = 0; k < n / TILE; ++k) fastreduce_accumulator_merge(&sum, &whole);
    fastreduce_host_accumulate_f32(tile, &sum, n % TILE);
    return sum;
}

/* ---- The GPUs -------------------------------------------------------------------------------- */

/* What one GPU has of the sum. */
typedef struct shard {
    float *data; /* elements begin .. begin + count - 1 of the array */
    size_t begin, count;
    fastreduce_accumulator *part, *total; /* of this slice, and of all; in the GPU's memory */
    fastreduce_config config;             /* with the GPU's own stream and workspace */
    cudaEvent_t start, stop;              /* around the accumulation */
    ncclComm_t communicator;
} shard;

static void copy(float *to, const float *from, size_t count, enum cudaMemcpyKind kind,
                 cudaStream_t stream)
{
    if (count) CUDA(cudaMemcpyAsync(to, from, count * sizeof *to, kind, stream));
}

/* Fills the slice: a tile from the host, beginning where the slice does, and then copies of what
 * is there already, which doubles each time and stays whole tiles. */
static void fill(shard *own, const float *tile)
{
    const fastreduce_stream stream = own->config.stream;
    const size_t phase = own->begin % TILE, count = own->count;
    const size_t first = count < TILE - phase ? count : TILE - phase;
    size_t filled = count < TILE ? count : TILE;

    copy(own->data, tile + phase, first, cudaMemcpyHostToDevice, stream);
    copy(own->data + first, tile, filled - first, cudaMemcpyHostToDevice, stream);
    while (filled < count) {
        const size_t more = count - filled < filled ? count - filled : filled;
        copy(own->data + filled, own->data, more, cudaMemcpyDeviceToDevice, stream);
        filled += more;
    }
    CUDA(cudaStreamSynchronize(stream));
}

/* Whether the current GPU has room for so many floats, and for the buffers of NCCL. */
static int fits(size_t count)
{
    const size_t more = (size_t)256 << 20;
    size_t available, all;
    CUDA(cudaMemGetInfo(&available, &all));
    return available > more && (available - more) / sizeof(float) >= count;
}

/* On the current GPU. 0 where the slice does not fit: nothing has been made then. */
static int open_shard(shard *own, const float *tile)
{
    fastreduce_config *config = &own->config;
    if (!fits(own->count)) return 0;
    config->kernel = FASTREDUCE_EXACT;
    config->workspace_bytes = fastreduce_workspace_bytes(own->count, config);
    CUDA(cudaStreamCreateWithFlags(&config->stream, cudaStreamNonBlocking));
    if (config->workspace_bytes) CUDA(cudaMalloc(&config->workspace, config->workspace_bytes));
    FASTREDUCE(
        fastreduce_workspace_init(config->workspace, config->workspace_bytes, config->stream));
    CUDA(cudaMalloc((void **)&own->data, own->count * sizeof(float)));
    CUDA(cudaMalloc((void **)&own->part, sizeof *own->part));
    CUDA(cudaMalloc((void **)&own->total, sizeof *own->total));
    CUDA(cudaEventCreate(&own->start));
    CUDA(cudaEventCreate(&own->stop));
    fill(own, tile);
    return 1;
}

static void close_shard(shard *own)
{
    if (own->communicator) NCCL(ncclCommDestroy(own->communicator));
    CUDA(cudaEventDestroy(own->stop));
    CUDA(cudaEventDestroy(own->start));
    CUDA(cudaFree(own->total));
    CUDA(cudaFree(own->part));
    CUDA(cudaFree(own->data));
    CUDA(cudaFree(own->config.workspace));
    CUDA(cudaStreamDestroy(own->config.stream));
}

static void close_shards(shard *shards, int gpus)
{
    int g;
    for (g = 0; g < gpus; ++g) {
        CUDA(cudaSetDevice(g));
        close_shard(&shards[g]);
    }
    free(shards);
}

/* n floats in equal slices, but for one, on so many GPUs; null where one does not fit. */
static shard *open_shards(int gpus, size_t n, const float *tile)
{
    shard *shards = (shard *)allocate((size_t)gpus, sizeof *shards);
    ncclComm_t *communicators;
    int g;

    for (g = 0; g < gpus; ++g) {
        const size_t k = (size_t)g, rest = n % (size_t)gpus, each = n / (size_t)gpus;
        shards[g].begin = each * k + (k < rest ? k : rest);
        shards[g].count = each + (k < rest);
        CUDA(cudaSetDevice(g));
        if (!open_shard(&shards[g], tile)) {
            close_shards(shards, g);
            return NULL;
        }
    }
    communicators = (ncclComm_t *)allocate((size_t)gpus, sizeof *communicators);
    NCCL(ncclCommInitAll(communicators, gpus, NULL)); /* null: the GPUs 0, 1, ... */
    for (g = 0; g < gpus; ++g) shards[g].communicator = communicators[g];
    free(communicators);
    return shards;
}

/* Leaves the sum of all slices on every GPU. Everything is enqueued
 * before anything is waited for. */
static void sum_on_gpus(shard *shards, int gpus)
{
    int g;
    for (g = 0; g < gpus; ++g) {
        shard *own = &shards[g];
        CUDA(cudaSetDevice(g));
        CUDA(cudaMemsetAsync(own->part, 0, sizeof *own->part, own->config.stream));
        CUDA(cudaEventRecord(own->start, own->config.stream));
        FASTREDUCE(fastreduce_accumulate_f32(own->data, own->part, own->count, &own->config));
        CUDA(cudaEventRecord(own->stop, own->config.stream));
    }
    /* An accumulator is a number in 16 integers with room for 2^31 such summands: adding each
     * for itself adds the numbers, without rounding and in any order. One thread calls for all
     * GPUs, which takes a group. */
    NCCL(ncclGroupStart());
    for (g = 0; g < gpus; ++g)
        NCCL(ncclAllReduce(shards[g].part->limb, shards[g].total->limb, LIMBS, ncclInt64, ncclSum,
                           shards[g].communicator, shards[g].config.stream));
    NCCL(ncclGroupEnd());
    for (g = 0; g < gpus; ++g) CUDA(cudaStreamSynchronize(shards[g].config.stream));
}

/* ---- Measuring ------------------------------------------------------------------------------- */

typedef struct result {
    double seconds;    /* of the whole sum; 0: it does not fit */
    double accumulate; /* of these on the slowest GPU */
    uint32_t bits;
    int wrong; /* sums, of all GPUs and repetitions */
} result;

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values)
{
    qsort(values, REPEATS, sizeof *values, by_size);
    return values[REPEATS / 2];
}

static double slowest_accumulation(const shard *shards, int gpus)
{
    float most = 0, milliseconds;
    int g;
    for (g = 0; g < gpus; ++g) {
        CUDA(cudaEventElapsedTime(&milliseconds, shards[g].start, shards[g].stop));
        if (milliseconds > most) most = milliseconds;
    }
    return 1e-3 * most;
}

/* Reads every GPU's total; how many differ from the right one. Not only the rounded sums: equal
 * numbers have equal limbs once the carries are done, which merging does. */
static int wrong_totals(const shard *shards, int gpus, const fastreduce_accumulator *right,
                        uint32_t *bits)
{
    int g, wrong = 0;
    for (g = 0; g < gpus; ++g) {
        fastreduce_accumulator total, sum = {{0}};
        CUDA(cudaMemcpy(&total, shards[g].total, sizeof total, cudaMemcpyDeviceToHost));
        fastreduce_accumulator_merge(&sum, &total);
        wrong += memcmp(&sum, right, sizeof sum) != 0;
        if (g == 0 || memcmp(&sum, right, sizeof sum) != 0)
            *bits = bits_of(fastreduce_accumulator_f32(&sum));
    }
    return wrong;
}

static result measure(int gpus, size_t n, const float *tile, const fastreduce_accumulator *right)
{
    double total[REPEATS], accumulation[REPEATS];
    result r = {0, 0, 0, 0};
    shard *shards = open_shards(gpus, n, tile);
    int k;

    if (!shards) return r;
    for (k = -WARM_UPS; k < REPEATS; ++k) {
        const double start = seconds();
        uint32_t bits = 0;
        int wrong;
        sum_on_gpus(shards, gpus);
        if (k >= 0) {
            total[k] = seconds() - start;
            accumulation[k] = slowest_accumulation(shards, gpus);
        }
        wrong = wrong_totals(shards, gpus, right, &bits);
        if (wrong || !r.wrong) r.bits = bits;
        r.wrong += wrong;
    }
    close_shards(shards, gpus);
    r.seconds = median(total);
    r.accumulate = median(accumulation);
    return r;
}

static int run(size_t n, int first, int last)
{
    struct cudaDeviceProp properties;
    float *tile = make_tile();
    const fastreduce_accumulator right = sum_on_cpu(tile, n);
    double base = 0; /* GB/s per GPU of the first row */
    int gpus, wrong = 0, rows = 0;

    CUDA(cudaGetDeviceProperties(&properties, 0));
    printf("%s, n = %lu, a tile of 2^24 floats over and over\n", properties.name, (unsigned long)n);
    printf("%4s %12s %12s %9s %11s  %s\n", "GPUs", "total us", "sums us", "GB/s", "efficiency",
           "bits");
    for (gpus = first; gpus <= last; ++gpus) {
        const result r = measure(gpus, n, tile, &right);
        const double rate = r.seconds > 0 ? 4e-9 * (double)n / r.seconds : 0;
        if (r.seconds == 0) {
            printf("%4d  the floats do not fit\n", gpus);
            continue;
        }
        if (rows++ == 0) base = rate / gpus;
        printf("%4d %12.1f %12.1f %9.0f %9.1f %%  0x%08" PRIx32 "%s\n", gpus, 1e6 * r.seconds,
               1e6 * r.accumulate, rate, base > 0 ? 100 * rate / gpus / base : 0.0, r.bits,
               r.wrong ? "  WRONG" : "");
        finish_output();
        wrong += r.wrong;
    }
    printf("exact sum on the CPU %.9g, bits 0x%08" PRIx32 "\n",
           (double)fastreduce_accumulator_f32(&right), bits_of(fastreduce_accumulator_f32(&right)));
    finish_output();
    free(tile);
    if (rows == 0) fprintf(stderr, "sum_nccl: %lu floats do not fit\n", (unsigned long)n);
    if (wrong) fprintf(stderr, "sum_nccl: %d sums were wrong\n", wrong);
    return rows == 0 || wrong != 0;
}

/* ---- The program ----------------------------------------------------------------------------- */

static int usage(const char *why, const char *what)
{
    fprintf(stderr, "sum_nccl: %s%s (sum_nccl --help tells more)\n", why, what);
    return 2;
}

int main(int argc, char **argv)
{
    uint64_t n = UINT64_C(1) << DEFAULT_LOG2_N, wanted = 0;
    int devices = 0, scaling = 0, sizes = 0, last, i;
    const char *wanted_text = "";
    cudaError_t found;

    for (i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(help, stdout);
            finish_output();
            return 0;
        }
        if (strcmp(argv[i], "--scaling") == 0) {
            scaling = 1;
        } else if (strcmp(argv[i], "--gpus") == 0) {
            if (++i == argc) return usage("a value is missing after ", "--gpus");
            wanted_text = argv[i];
            if (!parse_size(wanted_text, &wanted) || wanted == 0)
                return usage("no such number of GPUs: ", wanted_text);
        } else if (argv[i][0] == '-') {
            return usage("no such option: ", argv[i]);
        } else if (sizes++) {
            return usage("more than one N: ", argv[i]);
        } else if (!parse_size(argv[i], &n)) {
            return usage("no such number: ", argv[i]);
        }
    }
    found = cudaGetDeviceCount(&devices);
    if (found != cudaSuccess || devices == 0) {
        printf("no GPU here (%s)\n",
               found != cudaSuccess ? cudaGetErrorString(found) : "no device");
        return 77;
    }
    if (wanted > (uint64_t)devices) return usage("more GPUs than are visible: ", wanted_text);
    /* NVLink multicast (NVLS) adds in the switch, for the sake of bandwidth: 128 bytes gain
     * nothing from it. It needs a switch and rights that not every machine, container or virtual
     * machine has, and where they lack, starting NCCL can fail. What the user has set stays. */
    if (setenv("NCCL_NVLS_ENABLE", "0", 0) != 0) give_up("setenv", strerror(errno));
    last = wanted ? (int)wanted : devices;
    return run((size_t)n, scaling ? 1 : last, last);
}

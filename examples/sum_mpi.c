/* One sum over any number of MPI ranks, the same bits for every number of ranks. Each rank adds
 * its slice of the array to an exact accumulator, chunk by chunk, on its GPU or on the CPU; one
 * MPI_Allreduce adds the 16 limbs of all accumulators as integers, which is exact in any order;
 * and every rank rounds the total once.
 *
 *     nvcc -O3 -arch=native -ccbin mpicxx sum_mpi.c fastreduce.cu -o sum_mpi
 *     mpirun -n 4 ./sum_mpi 2^30
 *
 *     mpicc -std=c99 -O3 -DSUM_HOST_ONLY sum_mpi.c -o sum_mpi                      (without CUDA)
 *     mpirun -n 4 ./sum_mpi data.f32
 *
 * The generated array is ill-conditioned: magnitudes over 2^40 and both signs, which cancel to
 * about 1 / sqrt(n) of the sum of magnitudes. Added as floats, another order or another number
 * of ranks gives another result. A number's value follows from its index alone, so that every
 * split sums the same array.
 */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64
#define PROGRAM "sum_mpi"
#define END_PROGRAM meet
static inline void meet(int status, const char *text);
#ifdef SUM_HOST_ONLY
#define FASTREDUCE_HOST_IMPLEMENTATION
#else
#include <cuda_runtime_api.h>
#endif
#include <mpi.h>
#include "../fastreduce.h"
#include "common.h"
#include "array.h"

enum { CHUNK = 1 << 20 }; /* floats: 4 MiB */

/* clang-format off */
static const char help[] =
    "usage: mpirun -n RANKS sum_mpi INPUT\n"
    "\n"
    "INPUT is one of\n"
    "  N          so many generated floats: " SIZE_FORMS "\n"
    "  FILE.npy   a NumPy file of float32, known by its first bytes\n"
    "  FILE.f32   raw little-endian float32\n"
    "-h, --help and --version print and do nothing else.\n"
    "\n"
    "Rank r of R reads the r-th of R slices, a chunk at a time. The ranks of a node take its\n"
    "GPUs in turn; without one, or built without CUDA, they sum on the CPU. Rank 0 prints the\n"
    "sum, its bits, n, on what the ranks ran, and two times of the slowest: to read or generate\n"
    "its slice and add it, and of the MPI_Allreduce.\n"
    "\n"
    "Exit status of every rank: 0: the sum was printed; 1: the file, memory, a GPU or standard\n"
    "output failed; 2: the command line was wrong. On 1 and 2 standard error has one line.\n"
    "A failure of MPI ends all ranks in MPI's words.\n";
/* clang-format on */

static int rank, ranks;

/* Where all ranks meet: they go on if none has a text to end with. Otherwise the first that has
 * prints it, and all exit with its status: none waits for another that has left, and one sentence
 * is printed rather than one a rank. */
static inline void meet(int status, const char *text)
{
    const size_t name = strlen(PROGRAM ": ");
    const int mine = text ? rank : ranks;
    int first;

    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == ranks) return;
    if (first == rank && status == 1)
        fprintf(stderr, "%.*srank %d: %s", (int)name, text, rank, text + name);
    else if (first == rank)
        fputs(text, status ? stderr : stdout);
    if (fflush(stdout) != 0 && status == 0) {
        fputs(PROGRAM ": standard output cannot be written\n", stderr);
        status = 1;
    }
    MPI_Bcast(&status, 1, MPI_INT, first, MPI_COMM_WORLD);
    MPI_Barrier(MPI_COMM_WORLD); /* the text is out before an exit status ends the others */
    MPI_Finalize();
    exit(status);
}

/* The next floats of the array, at most a chunk, up to the end of the slice. */
static size_t read_chunk(const array *a, float *chunk, uint64_t *begin, uint64_t end)
{
    const size_t count = end - *begin < CHUNK ? (size_t)(end - *begin) : CHUNK;
    size_t i;
    if (a->file >= 0) read_floats(a, chunk, *begin, count);
    for (i = 0; a->file < 0 && i < count; ++i) chunk[i] = ill_conditioned(*begin + i);
    *begin += count;
    return count;
}

static void add_on_cpu(const array *a, uint64_t begin, uint64_t end, fastreduce_accumulator *sum)
{
    float *chunk = (float *)malloc(CHUNK * sizeof *chunk);
    if (!chunk) fail(1, "no memory for a chunk");
    while (begin < end)
        fastreduce_host_accumulate_f32(chunk, sum, read_chunk(a, chunk, &begin, end));
    free(chunk);
}

#ifdef SUM_HOST_ONLY
#define choose_gpu(node_rank) (0 * (node_rank))
#define add_on_gpu add_on_cpu
#else

/* The ranks of a node share out its GPUs. No GPU is no failure; a GPU that does not answer is. */
static int choose_gpu(int node_rank)
{
    int devices = 0;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) return 0;
    CHECK(cudaSetDevice(node_rank % devices));
    return 1;
}

/* Chunks are read into pinned memory, which the GPU sums where it lies. */
static void add_on_gpu(const array *a, uint64_t begin, uint64_t end, fastreduce_accumulator *sum)
{
    fastreduce_config config = {FASTREDUCE_EXACT, 0, NULL, FASTREDUCE_WORKSPACE_BYTES, NULL};
    fastreduce_accumulator *total; /* pinned too: the GPU adds to it */
    float *chunk;
    CHECK(cudaMalloc(&config.workspace, config.workspace_bytes));
    CHECK(fastreduce_workspace_init(config.workspace, config.workspace_bytes, NULL));
    CHECK(cudaMallocHost((void **)&chunk, CHUNK * sizeof *chunk));
    CHECK(cudaMallocHost((void **)&total, sizeof *total));
    memset(total, 0, sizeof *total);
    while (begin < end) {
        const size_t count = read_chunk(a, chunk, &begin, end);
        CHECK(fastreduce_accumulate_f32(chunk, total, count, &config));
        CHECK(cudaStreamSynchronize(NULL));
    }
    *sum = *total;
    CHECK(cudaFreeHost(total));
    CHECK(cudaFreeHost(chunk));
    CHECK(cudaFree(config.workspace));
}

#endif

static array open_input(char **argv)
{
    arguments words = arguments_of(argv);
    array a = {NULL, -1, 0, 0, 0, NULL, {0}, 0};
    while (next_argument(&words, help)) {
        if (!is_operand(&words)) wrong_usage(&words, "no such option: ", words.word);
        if (a.name) wrong_usage(&words, "more than one input: ", words.word);
        a.name = words.word;
    }
    if (!a.name) wrong_usage(&words, "no input", "");
    if (parse_size(a.name, &a.count)) return a;
    a = open_array(a.name);
    if (!a.seekable) fail(1, "%s: is not a regular file", a.name);
    return a;
}

/* A rank's number among those that share its node's memory, and so its GPUs. */
static int rank_on_node(void)
{
    MPI_Comm node;
    int number;
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &number);
    MPI_Comm_free(&node);
    return number;
}

/* What of all ranks is the largest. */
static double most(double value)
{
    double result;
    MPI_Allreduce(&value, &result, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return result;
}

int main(int argc, char **argv)
{
    fastreduce_accumulator own = {{0}}, total;
    uint64_t size[2], least[2], begin, rest;
    int node_rank, on_gpu, gpus;
    double start, time, merge_time;
    array a;

    MPI_Init(&argc, &argv); /* MPI's failures end the program: its default */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    node_rank = rank_on_node();
    a = open_input(argv);
    on_gpu = choose_gpu(node_rank);
    meet(0, NULL);
    size[0] = a.count;
    size[1] = ~a.count; /* whose least belongs to the largest count */
    MPI_Allreduce(size, least, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    if (least[0] != ~least[1]) fail(1, "%s: its size is not the same on all ranks", a.name);

    start = MPI_Wtime();
    rest = a.count % (uint64_t)ranks; /* so many ranks, the first, have one more */
    begin = a.count / (uint64_t)ranks * (uint64_t)rank +
            ((uint64_t)rank < rest ? (uint64_t)rank : rest);
    (on_gpu ? add_on_gpu : add_on_cpu)(
        &a, begin, begin + a.count / (uint64_t)ranks + ((uint64_t)rank < rest), &own);
    close_array(&a);
    meet(0, NULL);
    time = most(MPI_Wtime() - start);

    /* An accumulator is a number in 16 integers that have room for 2^31 such summands: adding each
     * for itself adds the numbers, without rounding and in any order. */
    start = MPI_Wtime();
    MPI_Allreduce(own.limb, total.limb, 16, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    merge_time = most(MPI_Wtime() - start);

    MPI_Allreduce(&on_gpu, &gpus, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (rank == 0) {
        const float sum = fastreduce_accumulator_f32(&total);
        printf("sum     %.9g\nbits    0x%08" PRIx32 "\n", (double)sum, bits_of(sum));
        printf("n       %" PRIu64 "\nranks   %d\n", a.count, ranks);
        printf("ran     exact, %d on GPUs and %d on CPUs\n", gpus, ranks - gpus);
        printf("time    %.3g s, %.4g GB/s\n", time, 4e-9 * (double)a.count / time);
        printf("merge   %.3g s\n", merge_time);
        finish_output();
    }
    meet(0, NULL);
    MPI_Finalize();
    return 0;
}

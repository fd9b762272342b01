/* One sum over any number of MPI ranks, the same bits for every number of ranks, in either of two
 * ways. EXACT: each rank adds its slice of the array to an exact accumulator, chunk by chunk, on
 * its GPU or on the CPU; one MPI_Allreduce adds the limbs of all accumulators as integers, which
 * is exact in any order; and the total, which every rank has, is rounded once. AUTO: the chunks
 * are shards of 2^k elements; one MPI_Allgather brings their sums together in the order of the
 * array, and one more call adds them. Of any type of floats, or of their squares.
 *
 *     nvcc -O3 -arch=native -DEVERY_FLOAT -ccbin mpicxx sum_mpi.c fastreduce.cu -o sum_mpi
 *     mpirun -n 4 ./sum_mpi 2^30
 *
 *     mpicc -std=c99 -O3 -DSUM_HOST_ONLY sum_mpi.c -o sum_mpi                      (without CUDA)
 *     mpirun -n 4 ./sum_mpi --type f64 data.npy
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
#include "typed_sum.h"

enum { CHUNK = 1 << 20 }; /* floats at the most: 2 to 8 MiB */

static const char help[] =
    "usage: mpirun -n RANKS sum_mpi [OPTIONS] INPUT\n"
    "INPUT: so many generated floats, of both signs and of magnitudes over 2^40, whose sum as\n"
    "floats depends on the order: " SIZE_FORMS ";\n"
    "or a file of floats, .npy or raw (.f32, say). Each rank sums a slice, on a GPU of its node,\n"
    "or without one on the CPU. Times are the slowest rank's: to read its slice and add it, and\n"
    "to merge.\n" SUM_OPTIONS "-h, --help and --version print and do nothing else.\n"
    "Exit status of every rank: 0; 1: the file, memory, a GPU or standard output failed; 2: the\n"
    "command line was wrong.\n";

static int rank, ranks;
static uint64_t chunk_size = CHUNK; /* a power of two */
static size_t bytes_of_sums;        /* of a rank's accumulator, or of the sums of its chunks */

/* Where all ranks meet: they go on if none has a text to end with. Otherwise the first that has
 * prints it, and all exit with its status: none waits for another that has left. */
static inline void meet(int status, const char *text)
{
    const int mine = text ? rank : ranks;
    int first;
    MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    if (first == ranks) return;
    if (first == rank && status == 0) {
        fputs(text, stdout);
        status = fflush(stdout) != 0;
        text = PROGRAM ": standard output cannot be written\n";
    }
    if (first == rank && status != 0)
        fprintf(stderr, PROGRAM ": rank %d%s", rank, text + strlen(PROGRAM));
    MPI_Bcast(&status, 1, MPI_INT, first, MPI_COMM_WORLD); /* the text is out before any exits */
    MPI_Finalize();
    exit(status);
}

/* The next floats of the array, at most a chunk, up to the end of the slice. */
static size_t read_chunk(const array *a, void *chunk, uint64_t *begin, uint64_t end)
{
    const size_t count = (size_t)(end - *begin < chunk_size ? end - *begin : chunk_size);
    read_floats(a, chunk, *begin, count);
    *begin += count;
    return count;
}

/* Adds a slice to one accumulator, or writes AUTO's sum of each chunk. */
static void sum_on_cpu(const array *a, uint64_t begin, uint64_t end, char *to)
{
    void *chunk = malloc(CHUNK * a->size);
    if (!chunk) fail(1, "no memory for a chunk");
    for (; begin < end; to += step_of_sums())
        sum_on_host(chunk, to, read_chunk(a, chunk, &begin, end));
    free(chunk);
}

#ifdef SUM_HOST_ONLY
#define choose_gpu(node_rank) (0 * (node_rank))
#define sum_on_gpu sum_on_cpu
#else

/* The ranks of a node share out its GPUs. No GPU is no failure; a GPU that does not answer is. */
static int choose_gpu(int node_rank)
{
    int devices = 0;
    if (find_gpus(&devices)) return 0;
    CHECK(cudaSetDevice(node_rank % devices));
    return 1;
}

/* Chunks are read into pinned memory, which the GPU sums where it lies. */
static void sum_on_gpu(const array *a, uint64_t begin, uint64_t end, char *to)
{
    fastreduce_config config = {.kernel = sum_of.kernel,
                                .workspace_bytes = FASTREDUCE_WORKSPACE_BYTES};
    char *pinned; /* what `to` has: the GPU writes to it */
    void *chunk;
    size_t at = 0;
    CHECK(cudaMalloc(&config.workspace, config.workspace_bytes));
    CHECK(fastreduce_workspace_init(config.workspace, config.workspace_bytes, NULL));
    CHECK(cudaMallocHost(&chunk, CHUNK * a->size));
    CHECK(cudaMallocHost((void **)&pinned, bytes_of_sums + 1));
    memcpy(pinned, to, bytes_of_sums);
    for (; begin < end; at += step_of_sums()) {
        sum_on_device(chunk, pinned + at, read_chunk(a, chunk, &begin, end), &config);
        CHECK(cudaStreamSynchronize(NULL));
    }
    memcpy(to, pinned, bytes_of_sums);
    CHECK(cudaFreeHost(pinned));
    CHECK(cudaFreeHost(chunk));
    CHECK(cudaFree(config.workspace));
}

#endif

int main(int argc, char **argv)
{
    sum_limbs total;
    uint64_t size[2], least[2], begin, end, chunks;
    char *own, *all;
    double times[2], slowest[2], start;
    int node_rank, on_gpu, gpus;
    arguments words;
    const char *name;
    MPI_Comm node; /* the ranks that share a node's memory, and so its GPUs */
    array a;

    MPI_Init(&argc, &argv); /* MPI's failures end the program: its default */
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &node_rank);
    MPI_Comm_free(&node);

    words = arguments_of(argv); /* which MPI_Init may have changed */
    name = operand_of_sum(&words, help);
    if (!name) wrong_usage(&words, "no input", "");
    if (strcmp(name, "-") == 0) fail(1, "standard input: is not a regular file");
    a = open_input(name, sum_of.type, ill_conditioned);
    if (!a.generate && !a.seekable) fail(1, "%s: is not a regular file", a.name);
    on_gpu = choose_gpu(node_rank);
    meet(0, NULL);
    size[0] = a.count;
    size[1] = ~a.count; /* whose least belongs to the largest count */
    MPI_Allreduce(size, least, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    if (least[0] != ~least[1]) fail(1, "%s: its size is not the same on all ranks", a.name);

    start = MPI_Wtime();
    /* Every rank has the same number of chunks, eight or more of a large array; the last ranks may
     * have fewer. */
    while (chunk_size > 1 && a.count / chunk_size / 8 < (uint64_t)ranks) chunk_size /= 2;
    chunks = (a.count + chunk_size * (uint64_t)ranks - 1) / (chunk_size * (uint64_t)ranks);
    begin = chunks * chunk_size * (uint64_t)rank;
    if (begin > a.count) begin = a.count;
    end = begin + chunks * chunk_size;
    if (end > a.count) end = a.count;
    bytes_of_sums = is_auto() ? (size_t)chunks * partial_size() : sizeof total;
    own = (char *)calloc(bytes_of_sums + 1, 1);
    all = (char *)malloc(bytes_of_sums * (size_t)ranks + 1);
    if (!own || !all) fail(1, "no memory for the sums of chunks");
    (on_gpu ? sum_on_gpu : sum_on_cpu)(&a, begin, end, own);
    close_array(&a);
    times[0] = MPI_Wtime() - start;
    meet(0, NULL);

    /* An accumulator is a number in 16 or 72 integers that have room for 2^31 such summands: adding
     * each for itself adds the numbers, without rounding and in any order. */
    start = MPI_Wtime();
    if (is_auto()) {
        MPI_Allgather(own, (int)bytes_of_sums, MPI_BYTE, all, (int)bytes_of_sums, MPI_BYTE,
                      MPI_COMM_WORLD);
        add_partials(all, &total, (size_t)((a.count + chunk_size - 1) / chunk_size));
    } else {
        MPI_Allreduce(own, total.limb, limbs_of_sum(), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    }
    times[1] = MPI_Wtime() - start;
    free(own);
    free(all);

    MPI_Reduce(times, slowest, 2, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&on_gpu, &gpus, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (rank == 0) {
        const sum_text text = text_of_sum(&total);
        printf("sum     %s\nbits    %s\n", text.value, text.bits);
        printf("n       %" PRIu64 "\nranks   %d\n", a.count, ranks);
        printf("ran     %s, %d on GPUs and %d on CPUs\n", fastreduce_kernel_name(sum_of.kernel),
               gpus, ranks - gpus);
        printf("time    %.3g s, %.4g GB/s\n", slowest[0],
               1e-9 * (double)(a.size * a.count) / slowest[0]);
        printf("merge   %.3g s\n", slowest[1]);
        finish_output();
    }
    meet(0, NULL);
    MPI_Finalize();
    return 0;
}

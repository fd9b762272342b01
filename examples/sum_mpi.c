/* One sum over any number of MPI ranks, the same bits for every number of ranks. Each rank adds
 * its slice of the array to an exact accumulator, on its GPU or on the CPU; one MPI_Allreduce
 * adds the 16 limbs of all accumulators as integers, which is exact in any order; and every rank
 * rounds the total once.
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
#ifdef SUM_HOST_ONLY
#define FASTREDUCE_HOST_IMPLEMENTATION
#else
#include <cuda_runtime_api.h>
#endif
#include <errno.h>
#include <inttypes.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include "../fastreduce.h"
#include "input.h"

enum {
    CHUNK = 1 << 20 /* floats on their way to the GPU at once: 4 MiB */,
    GPU_NAME = 16 /* bytes */
};

static const char help[] =
    "usage: mpirun -n RANKS sum_mpi INPUT\n"
    "\n"
    "INPUT is one of\n"
    "  N         so many generated floats: digits, digits and K, M or G (2^10, 2^20, 2^30),\n"
    "            or 2^k\n"
    "  FILE.f32  raw float32 in this machine's byte order; every rank reads its own slice\n"
    "\n"
    "Options\n"
    "  --help    print this text and do nothing else\n"
    "\n"
    "Rank r of R holds the r-th of R slices, equal but for one float, in its memory. On each\n"
    "node the ranks take the GPUs in turn; a rank without one, or of a build without CUDA, sums\n"
    "on the CPU.\n"
    "\n"
    "Generated float number i = 0, 1, ... has a hash's 23 bits and one of 41 exponents, modulo\n"
    "2^64:\n"
    "  z = (i + 1) * 0x9e3779b97f4a7c15\n"
    "  z = (z ^ z >> 32) * 0xd6e8feb86659fd93\n"
    "  z = z ^ z >> 32\n"
    "  float = (2 * (z >> 41) + 1 - 2^23) * 2^((z % 2^24 * 41 >> 24) - 43)\n"
    "\n"
    "Prints on standard output, from rank 0\n"
    "  sum    with nine digits, enough to tell every float from every other\n"
    "  bits   the same float as hexadecimal; every rank has them, or the program fails\n"
    "  n      how many floats were summed\n"
    "  ranks  over how many ranks\n"
    "  ran    on what\n"
    "  time   to add the slices, which lie in memory, to accumulators: the slowest rank; all\n"
    "         ranks' bytes\n"
    "  merge  the MPI_Allreduce: the slowest rank\n"
    "\n"
    "Exit status of every rank\n"
    "  0  the sum was printed\n"
    "  1  the file, memory, a GPU, MPI or standard output failed\n"
    "  2  the command line was wrong\n"
    "On 1 and 2 there is one line on standard error.\n";

/* ---- Failures -------------------------------------------------------------------------------- */

/* A rank that fails says nothing yet: it notes why, and goes on to the next agree(), where all
 * ranks meet. So none of them waits for another that has left, and one sentence is printed
 * rather than one a rank. */
static char failure[400];
static int failure_status; /* 0: none */

/* Notes the first failure; later ones are its consequences.
 * Returns 0, for its callers to return. */
static int fail(int status, const char *format, ...)
{
    va_list list;
    if (failure_status) return 0;
    failure_status = status;
    va_start(list, format);
    vsnprintf(failure, sizeof failure, format, list);
    va_end(list);
    return 0;
}

/* MPI's own failures cannot be agreed upon through MPI. */
static void check_mpi(int error, const char *call)
{
    char text[MPI_MAX_ERROR_STRING] = "unknown error";
    int length;
    if (error == MPI_SUCCESS) return;
    MPI_Error_string(error, text, &length);
    fprintf(stderr, "sum_mpi: %.*s failed: %s\n", (int)strcspn(call, "("), call, text);
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}
#define MPI(call) check_mpi(call, #call)

static int world_rank(void)
{
    int rank;
    MPI(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    return rank;
}

static int world_size(void)
{
    int size;
    MPI(MPI_Comm_size(MPI_COMM_WORLD, &size));
    return size;
}

/* Collective: 1 if no rank has failed. Else the first that has
 * says why, and all have its status. */
static int agree(void)
{
    const int rank = world_rank(), size = world_size();
    const int mine = failure_status ? rank : size;
    int first;
    MPI(MPI_Allreduce(&mine, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD));
    if (first == size) return 1;
    if (first == rank && failure_status == 2) /* as a rule the same command line on all ranks */
        fprintf(stderr, "sum_mpi: %s\n", failure);
    else if (first == rank)
        fprintf(stderr, "sum_mpi: rank %d: %s\n", rank, failure);
    MPI(MPI_Bcast(&failure_status, 1, MPI_INT, first, MPI_COMM_WORLD));
    return 0;
}

/* Collective: whether all ranks have the same value, with the same answer on all of them. */
static int same_on_all_ranks(uint64_t value)
{
    uint64_t mine[2],
        least[2]; /* of the value and its complement: the least complement is the largest value's */
    mine[0] = value;
    mine[1] = ~value;
    MPI(MPI_Allreduce(mine, least, 2, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD));
    return least[0] == ~least[1];
}

static double slowest(double seconds)
{
    double most;
    MPI(MPI_Allreduce(&seconds, &most, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD));
    return most;
}

/* ---- Where the floats come from -------------------------------------------------------------- */

typedef struct source {
    const char *name;
    FILE *file;     /* null: generated */
    uint64_t total; /* floats over all ranks */
    uint64_t next;  /* index of the next float to read */
} source;

/* Opens a file of raw floats and counts them. */
static int open_file(source *s)
{
    const char *dot = strrchr(s->name, '.');
    struct stat status;

    s->file = fopen(s->name, "rb");
    if (!s->file || fstat(fileno(s->file), &status) != 0)
        return fail(1, "%s: %s", s->name, strerror(errno));
    if (!S_ISREG(status.st_mode)) return fail(1, "%s: is not a regular file", s->name);
    if (!dot || strcmp(dot, ".f32") != 0)
        return fail(1, "%s: its name does not end in .f32", s->name);
    if (status.st_size % 4 != 0)
        return fail(1, "%s: its %" PRIu64 " bytes are not a whole number of floats", s->name,
                    (uint64_t)status.st_size);
    s->total = (uint64_t)status.st_size / 4;
    return 1;
}

static int seek(source *s, uint64_t index)
{
    s->next = index;
    if (!s->file || fseeko(s->file, (off_t)(4 * index), SEEK_SET) == 0) return 1;
    return fail(1, "%s: %s", s->name, strerror(errno));
}

/* The next floats of the array. */
static int read_floats(source *s, float *to, size_t count)
{
    size_t i;
    if (!s->file) {
        for (i = 0; i < count; ++i) to[i] = ill_conditioned(s->next + i);
    } else if (fread(to, sizeof *to, count, s->file) != count) {
        if (ferror(s->file)) return fail(1, "%s: %s", s->name, strerror(errno));
        return fail(1, "%s: became shorter while it was read", s->name);
    }
    s->next += count;
    return 1;
}

/* ---- A rank's slice of the array ------------------------------------------------------------- */

typedef struct slice {
    float *data; /* on the GPU, or in host memory */
    size_t count;
    fastreduce_accumulator
        *sum; /* in memory that the host reads, and the GPU writes where there is one */
    fastreduce_config config; /* of the GPU */
    int on_gpu;
    char why_not[120];           /* on the GPU */
    unsigned char gpu[GPU_NAME]; /* which GPU, different for each; zeros for the CPU */
} slice;

static int load_on_cpu(slice *own, source *s)
{
    own->data = (float *)malloc(own->count * sizeof(float) +
                                1); /* + 1: a null pointer only where it failed */
    own->sum = (fastreduce_accumulator *)calloc(1, sizeof *own->sum);
    if (!own->data || !own->sum)
        return fail(1, "no memory for a slice of %" PRIu64 " floats", (uint64_t)own->count);
    return read_floats(s, own->data, own->count);
}

static int free_on_cpu(slice *own)
{
    free(own->data);
    free(own->sum);
    return 1;
}

#ifdef SUM_HOST_ONLY

static int choose_gpu(slice *own, int node_rank)
{
    (void)node_rank;
    snprintf(own->why_not, sizeof own->why_not, "built without CUDA");
    return 1;
}

static int load_on_gpu(slice *own, source *s)
{
    (void)own, (void)s;
    return 0;
}

static int accumulate_on_gpu(slice *own)
{
    (void)own;
    return 0;
}

static int free_on_gpu(slice *own)
{
    (void)own;
    return 1;
}

#else

static int cuda_good(cudaError_t error, const char *call)
{
    if (error == cudaSuccess) return 1;
    return fail(1, "%.*s failed: %s", (int)strcspn(call, "("), call, cudaGetErrorString(error));
}
static int fastreduce_good(fastreduce_status status, const char *call)
{
    if (status == FASTREDUCE_SUCCESS) return 1;
    return fail(1, "%.*s failed: %s", (int)strcspn(call, "("), call,
                fastreduce_status_string(status));
}
#define CUDA(call) cuda_good(call, #call)
#define FASTREDUCE(call) fastreduce_good(call, #call)

/* The ranks of a node share out its GPUs. No GPU is no failure; a GPU that does not answer is. */
static int choose_gpu(slice *own, int node_rank)
{
    struct cudaDeviceProp properties;
    int devices = 0, device;
    const cudaError_t error = cudaGetDeviceCount(&devices);

    if (error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ||
        error == cudaErrorStubLibrary || (error == cudaSuccess && devices == 0)) {
        snprintf(own->why_not, sizeof own->why_not, "no CUDA device");
        return 1;
    }
    if (!cuda_good(error, "cudaGetDeviceCount")) return 0;
    device = node_rank % devices;
    if (!CUDA(cudaSetDevice(device)) || !CUDA(cudaGetDeviceProperties(&properties, device)))
        return 0;
    memcpy(own->gpu, &properties.uuid, sizeof own->gpu);
    own->on_gpu = 1;
    return 1;
}

/* Through pinned memory, a chunk at a time. */
static int copy_to_gpu(slice *own, source *s)
{
    const fastreduce_stream stream = own->config.stream;
    float *chunk = NULL;
    size_t begin;
    int good = CUDA(cudaMallocHost((void **)&chunk, CHUNK * sizeof(float)));
    for (begin = 0; good && begin < own->count; begin += CHUNK) {
        const size_t left = own->count - begin, count = left < CHUNK ? left : CHUNK;
        good = read_floats(s, chunk, count) &&
               CUDA(cudaMemcpyAsync(own->data + begin, chunk, count * sizeof(float),
                                    cudaMemcpyHostToDevice, stream)) &&
               CUDA(cudaStreamSynchronize(stream));
    }
    return CUDA(cudaFreeHost(chunk)) && good;
}

static int accumulate_on_gpu(slice *own)
{
    return FASTREDUCE(fastreduce_accumulate_f32(own->data, own->sum, own->count, &own->config)) &&
           CUDA(cudaStreamSynchronize(own->config.stream));
}

static int load_on_gpu(slice *own, source *s)
{
    fastreduce_config *config = &own->config;

    config->kernel = FASTREDUCE_EXACT;
    config->workspace_bytes = fastreduce_workspace_bytes(own->count, config);
    if (!CUDA(cudaMalloc((void **)&own->data, own->count * sizeof(float))) ||
        !CUDA(cudaMallocHost((void **)&own->sum, sizeof *own->sum)) ||
        !CUDA(cudaStreamCreateWithFlags(&config->stream, cudaStreamNonBlocking)) ||
        (config->workspace_bytes &&
         !CUDA(cudaMalloc(&config->workspace, config->workspace_bytes))) ||
        !FASTREDUCE(fastreduce_workspace_init(config->workspace, config->workspace_bytes,
                                              config->stream)) ||
        !copy_to_gpu(own, s))
        return 0;
    memset(own->sum, 0, sizeof *own->sum);
    if (!accumulate_on_gpu(own))
        return 0; /* the first call loads the kernel, which is not to be timed */
    memset(own->sum, 0, sizeof *own->sum);
    return 1;
}

/* Takes a slice in any state: parts may never have been made. */
static int free_on_gpu(slice *own)
{
    int good = CUDA(cudaFree(own->config.workspace));
    if (own->config.stream) good &= CUDA(cudaStreamDestroy(own->config.stream));
    good &= CUDA(cudaFreeHost(own->sum));
    return CUDA(cudaFree(own->data)) && good;
}

#endif

static int load(slice *own, source *s)
{
    const uint64_t size = (uint64_t)world_size(), rank = (uint64_t)world_rank(),
                   rest = s->total % size;
    const uint64_t count = s->total / size + (rank < rest); /* the first ranks have one more */
    const uint64_t begin = s->total / size * rank + (rank < rest ? rank : rest);

    if (count > (SIZE_MAX - 1) / sizeof(float))
        return fail(1, "a slice of %" PRIu64 " floats is larger than memory can be", count);
    own->count = (size_t)count;
    if (!seek(s, begin)) return 0;
    return own->on_gpu ? load_on_gpu(own, s) : load_on_cpu(own, s);
}

/* Adds the slice to the rank's accumulator: the time that takes,
 * for the slowest rank. Collective. */
static double accumulate(slice *own)
{
    double start;
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    start = MPI_Wtime();
    if (own->on_gpu)
        (void)accumulate_on_gpu(own); /* agree() takes up its failure */
    else
        fastreduce_host_accumulate_f32(own->data, own->sum, own->count);
    return slowest(MPI_Wtime() - start);
}

/* The sum of all ranks' accumulators, on every rank. An accumulator is a number in 16 integers
 * that have room for 2^31 such summands: adding each for itself adds the numbers, without
 * rounding and in any order. */
static double merge(const slice *own, fastreduce_accumulator *total)
{
    const fastreduce_accumulator empty = {{0}};
    double start;
    /* the first call opens connections, which is not to be timed */
    MPI(MPI_Allreduce(empty.limb, total->limb, 16, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    start = MPI_Wtime();
    MPI(MPI_Allreduce(own->sum->limb, total->limb, 16, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    return slowest(MPI_Wtime() - start);
}

/* ---- The program ----------------------------------------------------------------------------- */

static int by_bytes(const void *a, const void *b)
{
    return memcmp(a, b, GPU_NAME);
}

/* What the ranks ran on, in words, on rank 0. Ranks may share a GPU, and each may see the
 * others' GPUs or not: so the different ones are counted. */
static int describe(const slice *own, char *text, size_t length)
{
    static const unsigned char cpu[GPU_NAME];
    const int size = world_size(), rank = world_rank();
    unsigned char *names = rank == 0 ? (unsigned char *)malloc((size_t)size * GPU_NAME) : NULL;
    int r, on_cpu = 0, gpus = 0;

    if (rank == 0 && !names) (void)fail(1, "no memory for the names of %d GPUs", size);
    if (!agree()) return 0;
    MPI(MPI_Gather(own->gpu, GPU_NAME, MPI_BYTE, names, GPU_NAME, MPI_BYTE, 0, MPI_COMM_WORLD));
    if (rank != 0) return 1;
    qsort(names, (size_t)size, GPU_NAME, by_bytes);
    for (r = 0; r < size; ++r) {
        const unsigned char *name = names + (size_t)r * GPU_NAME;
        if (by_bytes(name, cpu) == 0)
            ++on_cpu;
        else if (r == 0 || by_bytes(name, name - GPU_NAME) != 0)
            ++gpus;
    }
    free(names);
    if (on_cpu == 0)
        snprintf(text, length, "exact, on %d GPU%s", gpus, gpus == 1 ? "" : "s");
    else if (on_cpu == size)
        snprintf(text, length, "exact, on the CPU (%s)", own->why_not);
    else
        snprintf(text, length, "exact, %d ranks on %d GPU%s and %d on the CPU", size - on_cpu, gpus,
                 gpus == 1 ? "" : "s", on_cpu);
    return 1;
}

/* What was printed counts only once it has been written. */
static void finish_output(void)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        (void)fail(1, "standard output: %s", strerror(errno));
}

/* Each step is one that all ranks take, or none: where one of them
 * has failed, agree() is 0 on all. */
static int sum(slice *own, source *s)
{
    fastreduce_accumulator total;
    char ran[200] = "";
    double time, merge_time;
    float result;

    if (!same_on_all_ranks(s->total))
        (void)fail(1, "%s: its size is not the same on all ranks", s->name);
    if (!agree()) return 0;
    (void)load(own, s);
    if (!agree()) return 0;
    time = accumulate(own);
    if (!agree()) return 0;
    merge_time = merge(own, &total);
    result = fastreduce_accumulator_f32(&total);
    if (!same_on_all_ranks(bits_of(result))) (void)fail(1, "the ranks have different sums");
    if (!agree() || !describe(own, ran, sizeof ran)) return 0;
    if (world_rank() == 0) {
        printf("sum     %.9g\n", (double)result);
        printf("bits    0x%08" PRIx32 "\n", bits_of(result));
        printf("n       %" PRIu64 "\n", s->total);
        printf("ranks   %d\n", world_size());
        printf("ran     %s\n", ran);
        printf("time    %.3g s, %.4g GB/s\n", time,
               time > 0 ? 4e-9 * (double)s->total / time : 0.0);
        printf("merge   %.3g s\n", merge_time);
        finish_output();
    }
    return agree();
}

/* A rank's number among those that share its node's memory, and so its GPUs. */
static int rank_on_node(void)
{
    MPI_Comm node;
    int rank;
    MPI(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node));
    MPI(MPI_Comm_rank(node, &rank));
    MPI(MPI_Comm_free(&node));
    return rank;
}

static void run(source *s)
{
    slice own;
    int good;
    memset(&own, 0, sizeof own);
    if (choose_gpu(&own, rank_on_node()) && s->name) (void)open_file(s);
    good = agree() && sum(&own, s);
    (void)(own.on_gpu ? free_on_gpu(&own) : free_on_cpu(&own));
    if (s->file) fclose(s->file);
    if (good) (void)agree(); /* on the freeing */
}

/* 1 with a source, or 0: --help, or a failure. */
static int parse_command_line(int argc, char **argv, source *s, int *want_help)
{
    const char *input = NULL;
    int i;
    for (i = 1; i < argc; ++i) {
        if (strcmp(argv[i], "--help") == 0) {
            *want_help = 1;
            return 0;
        }
        if (argv[i][0] == '-')
            return fail(2, "no such option: %s (sum_mpi --help tells more)", argv[i]);
        if (input) return fail(2, "more than one input: %s (sum_mpi --help tells more)", argv[i]);
        input = argv[i];
    }
    if (!input) return fail(2, "no input (sum_mpi --help tells more)");
    if (parse_size(input, &s->total)) return 1;
    if (*input >= '0' && *input <= '9' && !strpbrk(input, "./"))
        return fail(2, "no such number: %s (sum_mpi --help tells more)", input);
    s->name = input;
    return 1;
}

int main(int argc, char **argv)
{
    source s;
    int want_help = 0;

    memset(&s, 0, sizeof s);
    if (MPI_Init(&argc, &argv) != MPI_SUCCESS) {
        fputs("sum_mpi: MPI_Init failed\n", stderr);
        return 1;
    }
    MPI(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    (void)parse_command_line(argc, argv, &s, &want_help);
    if (want_help && world_rank() == 0) {
        fputs(help, stdout);
        finish_output();
    }
    if (agree() && !want_help) run(&s);
    /* the sentence is out before a rank's exit status ends the others */
    MPI(MPI_Barrier(MPI_COMM_WORLD));
    MPI(MPI_Finalize());
    return failure_status;
}

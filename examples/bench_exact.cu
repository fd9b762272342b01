/* What exactness costs: EXACT beside AUTO of the same type and operator, and beside CUB's
 * reproducible sum; device time in graphs of calls on inputs out of L2. Every exact result is
 * compared with the CPU's, bit by bit.
 *
 *     nvcc -O3 -std=c++17 -arch=native bench_exact.cu -o bench_exact && ./bench_exact type=f64
 *
 * A part: lists for FASTREDUCE_TYPES and FASTREDUCE_OPERATORS, as bench_types has them, with F32
 * and SUM among them. CUB's reproducible sum (gpu_to_gpu) needs CCCL 3.1 or later; -DBENCH_NO_CUB:
 * without.
 */
#define PROGRAM "bench_exact"
#define FASTREDUCE_NO_LADDER
#define FASTREDUCE_WITH_EXACT_PRODUCTS
#ifndef FASTREDUCE_TYPES
#define FASTREDUCE_TYPES FASTREDUCE_F32, FASTREDUCE_F64, FASTREDUCE_F16, FASTREDUCE_BF16
#endif
#ifndef FASTREDUCE_OPERATORS
#define FASTREDUCE_OPERATORS                                                                       \
    FASTREDUCE_SUM, FASTREDUCE_SUM_ABS, FASTREDUCE_SUM_SQUARES, FASTREDUCE_NORM2, FASTREDUCE_MEAN, \
        FASTREDUCE_VARIANCE
#endif
#define FASTREDUCE_IMPLEMENTATION
#include "../fastreduce.cuh"
#include "common.h"
#include "measure.cuh"
#include "calls.cuh"
#include "elements.cuh"
#include <cstring>
#include "gpu_to_gpu.cuh"

/* clang-format off */
static const char help[] =
    "usage: bench_exact [OPTIONS] [type=TYPE ...] [op=OPERATOR ...] [data=KIND ...]\n"
    "                   [bytes=SIZE ...]\n"
    "\n"
    "Device time of EXACT and of AUTO, a table for each type, operator and kind of data: graphs\n"
    "of calls, replayed in turns; median over replays. Inputs are out of L2.\n"
    "\n"
    "  type=TYPE      f32, f64, f16, bf16; several: type=f16,bf16; all (default): all built in\n"
    "  op=OPERATOR    sum, sum_abs, sum_squares, norm2, mean, variance, dot; several, or\n"
    "                 all (default)\n"
    "  data=KIND      uniform (in [-1, 1)); any: every finite bit pattern, exponents over the\n"
    "                 whole range, the slowest there is; several, or all (default)\n"
    "  bytes=SIZE     " SIZE_FORMS ";\n"
    "                 several: bytes=2^24,2^28 (default: 2^12 to 2^30 by 4); of both arrays of\n"
    "                 a dot product\n"
    "  --replays N    timed replays of each graph (default 15)\n"
    "  --csv          machine-readable rows instead of the tables\n"
    "  -h, --help, --version  print and do nothing else\n"
    "\n"
    "Columns: bytes read, microseconds (median) of EXACT, spread (half the interquartile range,\n"
    "percent of it), GB/s, microseconds of AUTO, EXACT over AUTO, microseconds of CUB's sum\n"
    "that is the same on every GPU, and EXACT over that. Results of EXACT are compared with\n"
    "the CPU's; wrong ones are named on standard error.\n"
    "Exit status: 0; 1 for a wrong result or a failed call; 2 for a wrong command line;\n"
    "77 where there is no GPU.\n";
/* clang-format on */

/* ---- What is reduced ------------------------------------------------------------------------- */

/* One more operator than there are. */
constexpr auto dot_product = static_cast<fastreduce_operator>(FASTREDUCE_COUNT_NONZERO + 1);
static const char *name_of(fastreduce_operator op)
{
    return op == dot_product ? "dot" : fastreduce_operator_name(op);
}

enum class data { uniform, any };
static const char *name_of(data kind)
{
    return kind == data::any ? "any" : "uniform";
}

/* An exponent of all ones is no number: it loses a bit. */
template <class T>
static __global__ void fill_any(T *x, size_t n, unsigned long long exponent)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
         i += size_t(gridDim.x) * blockDim.x) {
        unsigned long long bits = mixed(i);
        if ((bits & exponent) == exponent) bits ^= exponent & (~exponent + 1);
        memcpy(static_cast<void *>(x + i), &bits, sizeof *x);
    }
}

template <class T>
static void fill_with_data(void *memory, size_t bytes, data kind)
{
    if (kind == data::uniform) {
        fill_with<T>(memory, bytes, filling::any);
        return;
    }
    const unsigned long long exponent = std::is_same_v<T, double>   ? 0x7ffull << 52
                                        : std::is_same_v<T, float>  ? 0xffull << 23
                                        : std::is_same_v<T, __half> ? 0x1full << 10
                                                                    : 0xffull << 7;
    fill_any<<<2048, 256>>>(static_cast<T *>(memory), bytes / sizeof(T), exponent);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}

using peer = void (*)(void *memory, const void *input, void *output, size_t n, cudaStream_t stream);

#ifdef BENCH_CUB_GPU_TO_GPU
template <class T>
static void by_cub(void *memory, const void *input, void *output, size_t n, cudaStream_t stream)
{
    CHECK(sum_gpu_to_gpu(static_cast<const T *>(input), static_cast<T *>(output), n, stream,
                         borrowed{memory}));
}
#endif

template <class T>
static peer peer_of(fastreduce_operator op)
{
#ifdef BENCH_CUB_GPU_TO_GPU
    if constexpr (sizeof(T) >= sizeof(float))
        if (op == FASTREDUCE_SUM) return by_cub<T>;
#endif
    (void)op;
    return nullptr;
}

struct reduction {
    fastreduce_type type;
    fastreduce_operator op;
    void (*fill)(void *memory, size_t bytes, data kind);
    peer cub;

    size_t element_bytes() const
    {
        return fastreduce_type_size(type) * (op == dot_product ? 2 : 1);
    }
};

/* Of one type, what this build has. */
template <fastreduce_type Type>
static void add(std::vector<reduction> &all)
{
    using T = element<Type>;
    const auto add_one = [&](fastreduce_operator op) {
        all.push_back({Type, op, fill_with_data<T>, peer_of<T>(op)});
    };
    for (fastreduce_operator op : {FASTREDUCE_OPERATORS})
        if (fastreduce_supports(Type, op, FASTREDUCE_EXACT)) add_one(op);
    if (fastreduce_supports_dot(Type, FASTREDUCE_EXACT)) add_one(dot_product);
}

template <fastreduce_type... Types>
static std::vector<reduction> reductions(list<Types...>)
{
    std::vector<reduction> all;
    (add<Types>(all), ...);
    return all;
}

constexpr size_t peers_bytes = size_t(64) << 20;
struct scratch {
    void *workspace = nullptr, *peers = nullptr;

    scratch()
    {
        CHECK(cudaMalloc(&workspace, FASTREDUCE_WORKSPACE_BYTES));
        CHECK(cudaMalloc(&peers, peers_bytes));
        CHECK(fastreduce_workspace_init(workspace, FASTREDUCE_WORKSPACE_BYTES, nullptr));
        CHECK(cudaDeviceSynchronize());
    }
};

/* Of a dot product's two arrays the second follows the first. */
static std::vector<contender> contenders(const reduction &r, const scratch &memory)
{
    const auto ours = [=](fastreduce_kernel kernel) {
        return [=](const float *input, float *output, size_t n, cudaStream_t stream) {
            fastreduce_config config = {};
            config.kernel = kernel;
            config.workspace = memory.workspace;
            config.workspace_bytes = FASTREDUCE_WORKSPACE_BYTES;
            config.stream = stream;
            const char *const second =
                reinterpret_cast<const char *>(input) + n * fastreduce_type_size(r.type);
            if (r.op == dot_product)
                CHECK(fastreduce_dot(input, second, output, n, r.type, &config));
            else
                CHECK(fastreduce_reduce(input, output, n, r.type, r.op, &config));
        };
    };
    std::vector<contender> all = {{"exact", 0, true, false, true, ours(FASTREDUCE_EXACT)},
                                  {"auto", 0, true, false, true, ours(FASTREDUCE_AUTO)}};
    if (r.cub)
        all.push_back({"gpu_to_gpu", 0, true, false, true,
                       [=](const float *input, float *output, size_t n, cudaStream_t stream) {
                           r.cub(memory.peers, input, output, n, stream);
                       }});
    return all;
}

/* Whether the result has the CPU's bits. */
static bool is_right(const reduction &r, const char *input, size_t n, uint64_t got)
{
    uint64_t right = 0;
    if (r.op == dot_product)
        CHECK(fastreduce_host_dot(input, input + n * fastreduce_type_size(r.type), &right, n,
                                  r.type, FASTREDUCE_DEFAULT_TYPE));
    else
        CHECK(fastreduce_host_reduce(input, &right, n, r.type, r.op, FASTREDUCE_DEFAULT_TYPE));
    return std::memcmp(&got, &right, r.type == FASTREDUCE_F64 ? 8 : 4) == 0;
}

/* ---- The tables ------------------------------------------------------------------------------ */

struct options : request {
    std::vector<fastreduce_type> types;
    std::vector<fastreduce_operator> ops;
    std::vector<data> kinds;
};

static void print_row(const options &wanted, const device &gpu, const reduction &r, data kind,
                      size_t n, const timing times[3])
{
    const size_t bytes = n * r.element_bytes();
    const double us = times[0].microseconds, plain = times[1].microseconds,
                 cub = times[2].microseconds, gbs = 1e-3 * static_cast<double>(bytes) / us,
                 over_cub = cub > 0 ? us / cub : 0;
    if (wanted.csv)
        std::printf("\"%s\",%s,%s,%s,%zu,%zu,%.4f,%.4f,%.2f,%.4f,%.4f,%s,%s\n", gpu.name.c_str(),
                    fastreduce_type_name(r.type), name_of(r.op), name_of(kind), bytes, n, us,
                    times[0].spread, gbs, plain, us / plain, cell(cub, "%.4f", "").c_str(),
                    cell(over_cub, "%.4f", "").c_str());
    else
        std::printf("%12zu %11.2f %6.1f%% %8.1f %11.2f %10.2f %11s %9s\n", bytes, us,
                    100 * times[0].spread, gbs, plain, us / plain, cell(cub, "%.2f", "").c_str(),
                    cell(over_cub, "%.2f", "").c_str());
    std::fflush(stdout);
}

static bool table(const options &wanted, const reduction &r, data kind, field &inputs,
                  std::vector<char> &host, const scratch &memory, const device &gpu)
{
    bool good = true;
    r.fill(inputs.inputs, inputs.floats * sizeof(float), kind);
    CHECK(cudaMemcpy(host.data(), inputs.inputs, host.size(), cudaMemcpyDeviceToHost));
    if (!wanted.csv)
        std::printf("\n%s %s, %s\n%12s %11s %7s %8s %11s %10s %11s %9s\n",
                    fastreduce_type_name(r.type), name_of(r.op), name_of(kind), "bytes", "us",
                    "spread", "GB/s", "AUTO, us", "over AUTO", "CUB, us", "over CUB");
    for (size_t bytes : wanted.sizes) {
        const size_t n = std::max<size_t>(1, bytes / r.element_bytes());
        timing times[3] = {};
        std::vector<uint64_t> results;
        inputs.set(n, r.element_bytes());
        progress(std::string(fastreduce_type_name(r.type)) + " " + name_of(r.op) +
                 ", n = " + std::to_string(n));
        const auto measured =
            times_of(contenders(r, memory), inputs, gpu.stream, replays_of(wanted, n), &results);
        const bool right = is_right(r, host.data(), n, results[0]);
        progress("");
        std::copy(measured.begin(), measured.end(), times);
        if (!right)
            std::fprintf(stderr, PROGRAM ": wrong: %s of %s, n = %zu, %s\n", name_of(r.op),
                         fastreduce_type_name(r.type), n, name_of(kind));
        good &= right;
        print_row(wanted, gpu, r, kind, n, times);
    }
    return good;
}

static bool tables(const options &wanted, const std::vector<reduction> &chosen)
{
    const device gpu;
    const scratch memory;
    field inputs;
    const size_t most = *std::max_element(wanted.sizes.begin(), wanted.sizes.end()) + 16;
    std::vector<char> host(most);
    bool good = true;
    inputs.prepare(gpu, (most + sizeof(float) - 1) / sizeof(float), wanted.how, 0);
    if (wanted.csv)
        std::printf("gpu,type,op,data,bytes,n,us,spread,gbs,auto_us,over_auto,cub_us,over_cub\n");
    else
        std::printf("%s, inputs out of L2\n", gpu.name.c_str());
    for (const reduction &r : chosen)
        for (data kind : {data::uniform, data::any})
            if (is_among(wanted.kinds, kind))
                good &= table(wanted, r, kind, inputs, host, memory, gpu);
    return good;
}

/* ---- Command line ---------------------------------------------------------------------------- */

static options parse(char **argv)
{
    arguments a = arguments_of(argv);
    options wanted;
    while (next_argument(&a, help)) {
        if (is_option_with_value(&a, "--replays"))
            take_replays(a, wanted);
        else if (is_option(&a, "--csv"))
            wanted.csv = true;
        else if (std::strncmp(a.word, "type=", 5) == 0)
            take_names(a, a.word + 5, "no such type: ", FASTREDUCE_F32, FASTREDUCE_BF16,
                       fastreduce_type_name, wanted.types);
        else if (std::strncmp(a.word, "op=", 3) == 0)
            take_names<fastreduce_operator>(a, a.word + 3, "no such operator: ", FASTREDUCE_SUM,
                                            dot_product, name_of, wanted.ops);
        else if (std::strncmp(a.word, "data=", 5) == 0)
            take_names<data>(a, a.word + 5, "no such data: ", 0, 1, name_of, wanted.kinds);
        else if (std::strncmp(a.word, "bytes=", 6) == 0)
            take_sizes(a, a.word + 6, wanted.sizes);
        else
            wrong_usage(&a, "not understood: ", a.word);
    }
    if (wanted.sizes.empty())
        for (int k = 12; k <= 30; k += 2) wanted.sizes.push_back(size_t(1) << k);
    return wanted;
}

int main(int, char **argv)
{
    const options wanted = parse(argv);
    const auto chosen = chosen_of(reductions(list<FASTREDUCE_TYPES>()), wanted);
    (void)count_gpus();
    const bool good = tables(wanted, chosen);
    finish_output();
    return good ? 0 : 1;
}

/* How fast, by element type and operator, beside the same reduction by CUB and the sum of as many
 * bytes of floats: device time of AUTO, in graphs of calls on inputs out of L2, or --isolated.
 *
 *     nvcc -O3 -std=c++17 -arch=native bench_types.cu -o bench_types && ./bench_types type=u8
 *
 * All of it takes minutes to compile. A part: a list for each of these macros, with F32 and SUM in
 * it, the times' measure (nvcc splits at a comma without a backslash); -DBENCH_NO_CUB, or CUB
 * before CCCL 3.0: without peers.
 *
 *     -DFASTREDUCE_TYPES='FASTREDUCE_F32\,FASTREDUCE_U8' -DFASTREDUCE_OPERATORS=FASTREDUCE_SUM
 */
#define PROGRAM "bench_types"
#define FASTREDUCE_NO_LADDER
#define FASTREDUCE_NO_EXACT
#define FASTREDUCE_IMPLEMENTATION
/* clang-format off */
#ifndef FASTREDUCE_TYPES
#define FASTREDUCE_TYPES \
    FASTREDUCE_F32, FASTREDUCE_F64, FASTREDUCE_F16, FASTREDUCE_BF16, FASTREDUCE_I8, \
    FASTREDUCE_I16, FASTREDUCE_I32, FASTREDUCE_I64, FASTREDUCE_U8, FASTREDUCE_U16, \
    FASTREDUCE_U32, FASTREDUCE_U64
#endif
#ifndef FASTREDUCE_OPERATORS
#define FASTREDUCE_OPERATORS \
    FASTREDUCE_SUM, FASTREDUCE_PRODUCT, FASTREDUCE_MIN, FASTREDUCE_MAX, FASTREDUCE_ARGMIN, \
    FASTREDUCE_ARGMAX, FASTREDUCE_SUM_ABS, FASTREDUCE_SUM_SQUARES, FASTREDUCE_MAX_ABS, \
    FASTREDUCE_NORM2, FASTREDUCE_MEAN, FASTREDUCE_VARIANCE, FASTREDUCE_COUNT_NONZERO
#endif
/* clang-format on */
#include "../fastreduce.cuh"
#include "common.h"
#include "measure.cuh"
#include "calls.cuh"
#include "elements.cuh"
#include <cstring>
#include <thread>
#if __has_include(<cub/cub.cuh>) && !defined(BENCH_NO_CUB)
#include <cub/cub.cuh>
#if CUB_VERSION >= 300000
#define BENCH_CUB
#endif
#endif

/* clang-format off */
static const char help[] =
    "usage: bench_types [OPTIONS] [type=TYPE ...] [op=OPERATOR ...] [bytes=SIZE ...]\n"
    "\n"
    "Device time of fastreduce_reduce with AUTO, a table for each type and operator: graphs of\n"
    "calls, replayed in turns; median over replays. Inputs are out of L2.\n"
    "\n"
    "  type=TYPE      f32, f64, f16, bf16, i8, i16, i32, i64, u8, u16, u32, u64; several:\n"
    "                 type=u8,f16; all (default): those built in\n"
    "  op=OPERATOR    sum, product, min, max, argmin, argmax, sum_abs, sum_squares, max_abs,\n"
    "                 norm2, mean, variance, count_nonzero; several, or all (default)\n"
    "  bytes=SIZE     " SIZE_FORMS ";\n"
    "                 several: bytes=2^24,2^28 (default: 2^12 to 2^30 by 4)\n"
    "  n=SIZE         the same in elements\n"
    "  --isolated     one call at a time on an idle GPU, not in a graph, so that its launch\n"
    "                 counts; L2 holds other data, just written\n"
    "  --replays N    timed replays of each graph (default 15), or calls with --isolated\n"
    "                 (default 41 up to 256 MiB, 15 beyond)\n"
    "  --csv, --json  machine-readable rows instead of the tables\n"
    "  -h, --help, --version  print and do nothing else\n"
    "\n"
    "Columns: bytes read, microseconds (median) of AUTO, spread (half the interquartile range,\n"
    "percent of it), GB/s, microseconds of CUB, AUTO over CUB, and over AUTO's sum of the same\n"
    "bytes as f32, timed in the same turns. CUB's results have the same types; its norm2 is\n"
    "the sum of squares, its mean the sum, and variance has none. Results are checked on the\n"
    "host; wrong ones are named on standard error.\n"
    "Exit status: 0; 1 for a wrong result or a failed call; 2 for a wrong command line;\n"
    "77 where there is no GPU.\n";
/* clang-format on */

/* ---- What is right -------------------------------------------------------------------------- */

/* term(0) .. term(n - 1), combined in this order on all cores; in blocks, as doubles are good for
 * many terms then. */
template <class Value, class Term, class Combine>
static Value fold(size_t n, Term term, Combine combine)
{
    constexpr size_t block = 4096;
    const size_t cores = std::max(1u, std::thread::hardware_concurrency()),
                 share = (n / cores / block + 1) * block;
    std::vector<Value> partials((n + share - 1) / share);
    std::vector<std::thread> threads;
    for (size_t k = 0; k < partials.size(); ++k)
        threads.emplace_back([&, k] {
            const size_t end = std::min(n, (k + 1) * share);
            for (size_t i = k * share; i < end;) {
                const bool first = i == k * share;
                Value part = term(i);
                for (const size_t stop = std::min(end, i + block); ++i < stop;)
                    part = combine(part, term(i));
                partials[k] = first ? part : combine(partials[k], part);
            }
        });
    for (std::thread &thread : threads) thread.join();
    Value all = partials[0];
    for (size_t k = 1; k < partials.size(); ++k) all = combine(all, partials[k]);
    return all;
}

/* The number that is right, and of which size errors are a part; or the integer. */
struct expected {
    double value, scale;
    uint64_t whole;
};

template <fastreduce_operator Op, class T>
static expected on_host(const void *input, size_t n)
{
    const T *x = static_cast<const T *>(input);
    const auto sum = [=](auto term) {
        return fold<double>(
            n, [=](size_t i) { return term(x[i]); }, combine<FASTREDUCE_SUM>());
    };
    const double count = static_cast<double>(n);
    if constexpr (is_index(Op)) {
        struct place {
            decltype(number(T())) value;
            size_t index;
        };
        const auto better = [](place a, place b) {
            return (Op == FASTREDUCE_ARGMIN ? b.value < a.value : a.value < b.value) ? b : a;
        };
        const auto at = [=](size_t i) { return place{number(x[i]), i}; };
        return {0, 0, fold<place>(n, at, better).index};
    } else if constexpr (Op == FASTREDUCE_MEAN) {
        return {sum(term<FASTREDUCE_SUM, double>()) / count,
                sum(term<FASTREDUCE_SUM_ABS, double>()) / count, 0};
    } else if constexpr (Op == FASTREDUCE_NORM2) {
        const double norm = std::sqrt(sum(term<FASTREDUCE_SUM_SQUARES, double>()));
        return {norm, norm, 0};
    } else if constexpr (Op == FASTREDUCE_VARIANCE) {
        const double mean = sum(term<FASTREDUCE_SUM, double>()) / count;
        const double variance = sum([=](T y) {
                                    const double d = static_cast<double>(number(y)) - mean;
                                    return d * d;
                                }) /
                                count;
        return {variance, variance, 0};
    } else {
        constexpr bool whole = std::is_integral_v<result<Op, T>>;
        using value = std::conditional_t<whole, result<Op, T>, double>;
        const value all = fold<value>(
            n, [=](size_t i) { return term<Op, value>()(x[i]); }, combine<Op>());
        if constexpr (whole)
            return {0, 0, static_cast<uint64_t>(all)};
        else
            return {all,
                    is_extreme(Op)         ? 0
                    : Op == FASTREDUCE_SUM ? sum(term<FASTREDUCE_SUM_ABS, double>())
                                           : std::fabs(all),
                    0};
    }
}

/* Orders of addition differ: a hundred-thousandth is generous to floats, and finds losses. */
template <fastreduce_operator Op, class T>
static bool is_right(uint64_t output, expected right)
{
    result<Op, T> got;
    std::memcpy(static_cast<void *>(&got), &output, sizeof got);
    if constexpr (std::is_integral_v<result<Op, T>>)
        return static_cast<uint64_t>(got) == right.whole;
    else
        return std::fabs(static_cast<double>(number(got)) - right.value) <=
               (sizeof got == 8 ? 1e-10 : 1e-5) * right.scale;
}

/* ---- Contenders ------------------------------------------------------------------------------ */

constexpr size_t peers_bytes = size_t(64) << 20;

using peer = void (*)(void *memory, const void *input, void *output, size_t n, cudaStream_t stream);

#ifdef BENCH_CUB
template <fastreduce_operator Op, class T>
static void by_cub(void *memory, const void *input, void *output, size_t n, cudaStream_t stream)
{
    using cub::DeviceReduce;
    using value = result<Op, T>;
    const T *x = static_cast<const T *>(input);
    value *out = static_cast<value *>(output);
    const auto count = static_cast<long long>(n);
    size_t bytes = peers_bytes;
    if constexpr (Op == FASTREDUCE_MIN)
        CHECK(DeviceReduce::Min(memory, bytes, x, out, count, stream));
    else if constexpr (Op == FASTREDUCE_MAX)
        CHECK(DeviceReduce::Max(memory, bytes, x, out, count, stream));
    else if constexpr (Op == FASTREDUCE_ARGMIN)
        CHECK(DeviceReduce::ArgMin(memory, bytes, x, reinterpret_cast<T *>(out + 1), out, count,
                                   stream));
    else if constexpr (Op == FASTREDUCE_ARGMAX)
        CHECK(DeviceReduce::ArgMax(memory, bytes, x, reinterpret_cast<T *>(out + 1), out, count,
                                   stream));
    else if constexpr (Op == FASTREDUCE_SUM && std::is_arithmetic_v<T>)
        CHECK(DeviceReduce::Sum(memory, bytes, x, out, count, stream));
    else
        CHECK(DeviceReduce::TransformReduce(memory, bytes, x, out, count, combine<Op>(),
                                            term<Op, value>(), value(Op == FASTREDUCE_PRODUCT),
                                            stream));
}
#endif

template <fastreduce_operator Op, class T>
static peer peer_of()
{
#ifdef BENCH_CUB
    if constexpr (Op != FASTREDUCE_VARIANCE) return by_cub<counterpart(Op), T>;
#endif
    return nullptr;
}

struct reduction {
    fastreduce_type type;
    fastreduce_operator op;
    void (*fill)(void *memory, size_t bytes, filling kind);
    expected (*on_host)(const void *input, size_t n);
    bool (*is_right)(uint64_t output, expected right);
    peer cub;
};

template <fastreduce_type Type, fastreduce_operator... Ops>
static void add(std::vector<reduction> &all, list<Ops...>)
{
    using T = element<Type>;
    (all.push_back({Type, Ops, fill_with<T>, on_host<Ops, T>, is_right<Ops, T>, peer_of<Ops, T>()}),
     ...);
}

template <fastreduce_type... Types>
static std::vector<reduction> reductions(list<Types...>)
{
    std::vector<reduction> all;
    (add<Types>(all, list<FASTREDUCE_OPERATORS>()), ...);
    return all;
}

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

/* AUTO, its sum of the same bytes as floats, and CUB. */
static std::vector<contender> contenders(const reduction &r, const scratch &memory)
{
    const auto ours = [=](fastreduce_type type, fastreduce_operator op) {
        return [=](const float *input, float *output, size_t n, cudaStream_t stream) {
            fastreduce_config config = {};
            config.workspace = memory.workspace;
            config.workspace_bytes = FASTREDUCE_WORKSPACE_BYTES;
            config.stream = stream;
            CHECK(fastreduce_reduce(input, output,
                                    n * fastreduce_type_size(r.type) / fastreduce_type_size(type),
                                    type, op, &config));
        };
    };
    std::vector<contender> all = {
        {"auto", 0, true, false, true, ours(r.type, r.op)},
        {"f32 sum", 0, true, false, true, ours(FASTREDUCE_F32, FASTREDUCE_SUM)}};
    if (r.cub)
        all.push_back({"cub", 0, true, false, true,
                       [=](const float *input, float *output, size_t n, cudaStream_t stream) {
                           r.cub(memory.peers, input, output, n, stream);
                       }});
    return all;
}

/* ---- The tables ------------------------------------------------------------------------------ */

struct options : request {
    std::vector<fastreduce_type> types;
    std::vector<fastreduce_operator> ops;
    std::vector<size_t> counts; /* sizes in elements; the others are in bytes */
};

static std::vector<size_t> counts_of(const options &wanted, size_t element_bytes)
{
    std::vector<size_t> counts;
    for (size_t bytes : wanted.sizes) counts.push_back(std::max<size_t>(1, bytes / element_bytes));
    counts.insert(counts.end(), wanted.counts.begin(), wanted.counts.end());
    return counts;
}

/* The inputs, and the host's copy of the first of them. */
struct arrays {
    field inputs;
    std::vector<char> host;
    fastreduce_type type = {};
    filling kind = filling::any;

    void fill(const reduction &r)
    {
        if (type == r.type && kind == filling_for(r.op)) return;
        type = r.type, kind = filling_for(r.op);
        r.fill(inputs.inputs, inputs.floats * sizeof(float), kind);
        CHECK(cudaMemcpy(host.data(), inputs.inputs, host.size(), cudaMemcpyDeviceToHost));
    }
};

static void print_head(const options &wanted, const device &gpu)
{
    if (wanted.csv)
        std::printf("gpu,cache,type,op,bytes,n,us,spread,gbs,cub_us,f32_us,over_cub,over_f32\n");
    else if (wanted.json)
        std::printf("[");
    else
        std::printf("%s, inputs %s\n", gpu.name.c_str(), in_words(wanted.how));
}

static void print_row(const options &wanted, const device &gpu, const reduction &r, size_t n,
                      const timing times[3])
{
    const size_t bytes = n * fastreduce_type_size(r.type);
    const char *cache = wanted.how == mode::isolated ? "isolated" : "cold",
               *type = fastreduce_type_name(r.type), *op = fastreduce_operator_name(r.op);
    const double us = times[0].microseconds, f32 = times[1].microseconds,
                 cub = times[2].microseconds, spread = times[0].spread,
                 over_cub = cub > 0 ? us / cub : 0, gbs = 1e-3 * static_cast<double>(bytes) / us;
    if (wanted.csv)
        std::printf("\"%s\",%s,%s,%s,%zu,%zu,%.4f,%.4f,%.2f,%s,%.4f,%s,%.4f\n", gpu.name.c_str(),
                    cache, type, op, bytes, n, us, spread, gbs, cell(cub, "%.4f", "").c_str(), f32,
                    cell(over_cub, "%.4f", "").c_str(), us / f32);
    else if (wanted.json)
        std::printf("{\"gpu\": \"%s\", \"cache\": \"%s\", \"type\": \"%s\", \"op\": \"%s\", "
                    "\"bytes\": %zu, \"n\": %zu, \"us\": %.4f, \"spread\": %.4f, \"gbs\": %.2f, "
                    "\"cub_us\": %s, \"f32_us\": %.4f, \"over_cub\": %s, \"over_f32\": %.4f}",
                    gpu.name.c_str(), cache, type, op, bytes, n, us, spread, gbs,
                    cell(cub, "%.4f", "null").c_str(), f32, cell(over_cub, "%.4f", "null").c_str(),
                    us / f32);
    else
        std::printf("%12zu %11.2f %6.1f%% %8.1f %11s %9s %13.2f\n", bytes, us, 100 * spread, gbs,
                    cell(cub, "%.2f", "").c_str(), cell(over_cub, "%.2f", "").c_str(), us / f32);
    std::fflush(stdout);
}

static bool table(const options &wanted, const reduction &r, arrays &a, const scratch &memory,
                  const device &gpu, bool first)
{
    const size_t size = fastreduce_type_size(r.type);
    bool good = true;
    a.fill(r);
    if (!wanted.csv && !wanted.json)
        std::printf("\n%s %s\n%12s %11s %7s %8s %11s %9s %13s\n", fastreduce_type_name(r.type),
                    fastreduce_operator_name(r.op), "bytes", "us", "spread", "GB/s", "CUB, us",
                    "over CUB", "over f32 sum");
    for (size_t n : counts_of(wanted, size)) {
        timing times[3] = {};
        std::vector<uint64_t> results;
        a.inputs.set(n, size);
        progress(std::string(fastreduce_type_name(r.type)) + " " + fastreduce_operator_name(r.op) +
                 ", n = " + std::to_string(n));
        const auto measured = times_of(contenders(r, memory), a.inputs, gpu.stream,
                                       replays_of(wanted, n * size / sizeof(float)), &results);
        const expected right = r.on_host(a.host.data(), n);
        progress("");
        std::copy(measured.begin(), measured.end(), times);
        const auto judge = [&](const char *who, uint64_t output) {
            if (r.is_right(output, right)) return;
            good = false;
            std::fprintf(stderr, PROGRAM ": wrong: %s of %s, n = %zu, by %s\n",
                         fastreduce_operator_name(r.op), fastreduce_type_name(r.type), n, who);
        };
        judge("AUTO", results[0]);
        if (r.cub && counterpart(r.op) == r.op) judge("CUB", results[2]);
        if (wanted.json) std::printf(first ? "\n" : ",\n");
        print_row(wanted, gpu, r, n, times);
        first = false;
    }
    return good;
}

static bool tables(const options &wanted, const std::vector<reduction> &chosen)
{
    const device gpu;
    const scratch memory;
    arrays a;
    size_t most = 0;
    bool good = true, first = true;
    for (const reduction &r : chosen)
        for (size_t n : counts_of(wanted, fastreduce_type_size(r.type)))
            most = std::max(most, n * fastreduce_type_size(r.type));
    a.inputs.prepare(gpu, (most + sizeof(float) - 1) / sizeof(float), wanted.how, 0);
    a.host.resize(most);
    print_head(wanted, gpu);
    for (const reduction &r : chosen) {
        good &= table(wanted, r, a, memory, gpu, first);
        first = false;
    }
    if (wanted.json) std::printf("\n]\n");
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
        else if (is_option(&a, "--isolated"))
            wanted.how = mode::isolated;
        else if (is_option(&a, "--csv"))
            wanted.csv = true;
        else if (is_option(&a, "--json"))
            wanted.json = true;
        else if (std::strncmp(a.word, "type=", 5) == 0)
            take_names(a, a.word + 5, "no such type: ", FASTREDUCE_F32, FASTREDUCE_U64,
                       fastreduce_type_name, wanted.types);
        else if (std::strncmp(a.word, "op=", 3) == 0)
            take_names(a, a.word + 3, "no such operator: ", FASTREDUCE_SUM,
                       FASTREDUCE_COUNT_NONZERO, fastreduce_operator_name, wanted.ops);
        else if (std::strncmp(a.word, "bytes=", 6) == 0)
            take_sizes(a, a.word + 6, wanted.sizes);
        else if (std::strncmp(a.word, "n=", 2) == 0)
            take_sizes(a, a.word + 2, wanted.counts);
        else
            wrong_usage(&a, "not understood: ", a.word);
    }
    if (wanted.csv && wanted.json) wrong_usage(&a, "--csv or --json, not both", "");
    if (wanted.sizes.empty() && wanted.counts.empty())
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

/* How fast, by shape: many results in one call, of rows, columns, middle axes and ragged segments,
 * beside CUB's segmented reduction and AUTO's one result of the same elements; dot products, of one
 * result beside cuBLAS; calls with a second output beside calls without; folds beside a copy.
 * Device time, in graphs of calls on inputs out of L2; with --isolated, of single calls on an idle
 * GPU, where planning on the CPU counts.
 *
 *     nvcc -O3 -std=c++17 -arch=native bench_shapes.cu -o bench_shapes && ./bench_shapes
 *
 * With cuBLAS: -DBENCH_CUBLAS -lcublas. Without EXACT, for a shorter build: -DFASTREDUCE_NO_EXACT.
 * Other types and operators than these few: FASTREDUCE_TYPES and FASTREDUCE_OPERATORS, as
 * bench_types has them. -DBENCH_NO_CUB, or CUB before CCCL 3.0: without peers, and nothing to
 * compare results with.
 */
#define PROGRAM "bench_shapes"
#define FASTREDUCE_NO_LADDER
#define FASTREDUCE_WITH_SHAPES
#define FASTREDUCE_IMPLEMENTATION
#ifndef FASTREDUCE_TYPES
#define FASTREDUCE_TYPES FASTREDUCE_F32, FASTREDUCE_F16, FASTREDUCE_U8
#endif
#ifndef FASTREDUCE_OPERATORS
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM, FASTREDUCE_MAX, FASTREDUCE_ARGMAX
#endif
#include "../../fastreduce.cuh"
#include "peers.cuh"

/* clang-format off */
static const char help[] =
    "usage: bench_shapes [OPTIONS] [shape=OUTERxNxINNER ...]\n"
    "\n"
    "Device time of fastreduce_reduce_axis and fastreduce_reduce_segments with AUTO: graphs of\n"
    "calls, replayed in turns; median over replays. Inputs are out of L2.\n"
    "\n"
    "  --table TABLE  rows, columns (and middle axes), segments (ragged), small, dot (products\n"
    "                 of two arrays, or their rows), second (with a second output: of argmax,\n"
    "                 variance and their like), fold (of N / 1024 and N / 64 elements each);\n"
    "                 several: --table rows,small; all (default)\n"
    "  shape=...      arrays of OUTER x N x INNER elements, reduced along N, instead of tables:\n"
    "                 shape=2^18x1000x1\n"
    "  --elements N   of the array, but in the table small (default 2^28);\n"
    "                 " SIZE_FORMS "\n"
    "  --type TYPE    f32 (default), f64, f16, bf16, i8, i16, i32, i64, u8, u16, u32, u64;\n"
    "                 several: --type f32,f16; all: those built in\n"
    "  --op OPERATOR  sum (default), product, min, max, argmin, argmax, sum_abs, sum_squares,\n"
    "                 max_abs, norm2, mean, variance, count_nonzero, min_max, argmax_abs;\n"
    "                 several, or all\n"
    "  --exact        EXACT in place of AUTO, of sums; of flat stays AUTO's\n"
    "  --isolated     one call at a time on an idle GPU, not in a graph, so that planning and\n"
    "                 launch on the CPU count; other data are in L2, just written\n"
    "  --replays N    timed replays of each graph (default 15), or calls with --isolated\n"
    "                 (default 41 up to 2^26 elements, 15 beyond)\n"
    "  --no-peers     CUB is not timed, for a shorter run; results are compared all the same\n"
    "  --csv, --json  machine-readable rows instead of the tables\n"
    "  -h, --help, --version  print and do nothing else\n"
    "\n"
    "Columns: the shape (of segments their number and average length), microseconds (median),\n"
    "spread (half the interquartile range, percent of it), GB/s of elements and offsets read\n"
    "and results written, that as a fraction of flat, fastreduce_reduce on the same elements,\n"
    "and CUB's times over ours: cub::DeviceSegmentedReduce with segments of one size (CCCL 3.2\n"
    "or later) and with offsets, which are computed where segments are not ragged. It reads\n"
    "columns through an iterator; its norm2 is the sum of squares, its mean the sum, and it has\n"
    "no variance. Results that are not CUB's are named on standard error. In other tables the\n"
    "peers' times over ours are those of cuBLAS (dot, where flat is one sum of both arrays);\n"
    "of the call without the second output, and of max (second); of a copy on the device that\n"
    "moves as many bytes (fold). With --isolated, host us: microseconds that our call takes on\n"
    "the CPU (median).\n"
    "Exit status: 0; 1 for a wrong result or a failed call; 2 for a wrong command line;\n"
    "77 where there is no GPU.\n";
/* clang-format on */

/* ---- Shapes ---------------------------------------------------------------------------------- */

enum class lengths { equal, ragged, half_in_one, dot, second, fold };

struct shape {
    size_t outer, n, inner; /* of ragged segments: how many, their average length, 1 */
    lengths kind = lengths::equal;
    const char *table = "shape"; /* that it is in */

    /* Of dot, half of the rows are the second array; of a fold, each row is a buffer. */
    size_t results() const
    {
        return kind == lengths::fold ? n : kind == lengths::dot ? outer / 2 : outer * inner;
    }
    size_t elements() const { return outer * n * inner; }
};

static bool is_ragged(const shape &s)
{
    return s.kind == lengths::ragged || s.kind == lengths::half_in_one;
}

static std::string name_of(const shape &s)
{
    return s.kind == lengths::dot           ? "dot"
           : s.kind == lengths::fold        ? "fold"
           : s.kind == lengths::ragged      ? "ragged"
           : s.kind == lengths::half_in_one ? "half in one"
                                            : std::to_string(s.inner);
}

static std::vector<shape> rows_of(size_t elements)
{
    std::vector<shape> all;
    for (size_t columns :
         {1,   2,   3,   4,   7,   8,   15,   16,   17,   31,   32,   33,   63,    64,    65,
          100, 127, 128, 129, 256, 300, 1000, 1023, 1024, 1025, 2048, 4096, 10000, 65536, 1000000})
        if (columns < elements) all.push_back({elements / columns, columns, 1});
    all.push_back({1, elements, 1});
    return all;
}

/* Columns, the widest last, and middle axes. */
static std::vector<shape> columns_of(size_t elements)
{
    std::vector<shape> all;
    for (size_t inner : {3, 4, 16, 100, 256, 1024, 4096, 1 << 14, 1 << 16, 1 << 18, 1000000,
                         1 << 20, 1 << 24, 1 << 26})
        if (inner <= elements) all.push_back({1, elements / inner, inner});
    const size_t middle[][2] = {{256, 256},   {64, 64}, {64, 16}, {1 << 16, 64},
                                {1000, 1000}, {33, 7},  {4, 4}};
    for (const auto &m : middle)
        if (m[0] * m[1] <= elements) all.push_back({elements / m[0] / m[1], m[0], m[1]});
    return all;
}

static std::vector<shape> segments_of(size_t elements)
{
    std::vector<shape> all;
    for (size_t average :
         {4, 16, 32, 64, 128, 256, 512, 1000, 2000, 4000, 10000, 30000, 100000, 1000000})
        if (average <= elements) all.push_back({elements / average, average, 1, lengths::ragged});
    if (elements >= 128) all.push_back({elements / 64, 64, 1, lengths::half_in_one});
    return all;
}

static std::vector<shape> small_ones(size_t)
{
    return {{10, 10, 1},
            {64, 4096, 1},
            {256, 256, 1},
            {1000, 1000, 1},
            {8, 1 << 16, 1},
            {1, 4096, 64},
            {1, 64, 4096},
            {1, 1000, 1000},
            {16, 64, 64},
            {64, 4096, 1, lengths::ragged},
            {1000, 100, 1, lengths::ragged},
            {1000, 1000, 1, lengths::half_in_one}};
}

/* Of two arrays, and of their rows. */
static std::vector<shape> dots_of(size_t elements)
{
    std::vector<shape> all;
    for (size_t n = 1024; 2 * n <= elements; n *= 8) all.push_back({2, n, 1, lengths::dot});
    all.push_back({2, elements / 2, 1, lengths::dot});
    for (size_t n : {32, 128, 1000, 4096})
        if (2 * n <= elements) all.push_back({elements / 2 / n * 2, n, 1, lengths::dot});
    return all;
}

/* One result, rows, columns. */
static std::vector<shape> seconds_of(size_t elements)
{
    std::vector<shape> all;
    for (size_t n = 1 << 10; n <= elements && n <= 1 << 26; n *= 4) all.push_back({1, n, 1});
    for (size_t n : {32, 1000, 65536}) all.push_back({elements / n, n, 1});
    for (size_t inner : {32, 1000, 65536}) all.push_back({1, elements / inner, inner});
    all.erase(std::remove_if(all.begin(), all.end(), [](shape s) { return s.elements() == 0; }),
              all.end());
    for (shape &s : all) s.kind = lengths::second;
    return all;
}

static std::vector<shape> folds_of(size_t elements)
{
    std::vector<shape> all;
    for (size_t n : {elements / 1024, elements / 64})
        for (size_t buffers : {2, 8, 64})
            if (n > 0) all.push_back({buffers, n, 1, lengths::fold});
    return all;
}

/* Where each segment begins, and the end: lengths from 0 to twice the average, scaled so that they
 * fill the array. The long one is a third of the way through. */
static std::vector<int64_t> offsets_of(const shape &s)
{
    std::vector<double> ends(s.outer + 1);
    const double stretch = s.kind == lengths::half_in_one ? 2 : 1,
                 all = static_cast<double>(s.elements());
    for (size_t k = 0; k < s.outer; ++k)
        ends[k + 1] = ends[k] + static_cast<double>(hash(k) % (2 * s.n + 1));
    std::vector<int64_t> offsets(s.outer + 1);
    for (size_t k = 0; k <= s.outer; ++k) {
        const double share = ends[s.outer] > 0 ? ends[k] / ends[s.outer] : 0;
        offsets[k] = static_cast<int64_t>(share * (all / stretch));
        if (stretch > 1 && k > s.outer / 3) offsets[k] += static_cast<int64_t>(all / 2);
    }
    offsets[s.outer] = static_cast<int64_t>(s.elements());
    return offsets;
}

/* ---- Peers ----------------------------------------------------------------------------------- */

struct shape_scratch : scratch {
    void *results, *seconds, *of_peers;
    size_t result_bytes;
    int64_t *offsets;
    unsigned long long *wrong; /* how many, and the first */

    shape_scratch(size_t bytes, size_t second_bytes, size_t peer_bytes, size_t segments)
        : result_bytes(bytes)
    {
        CHECK(cudaMalloc(&results, result_bytes));
        CHECK(cudaMalloc(&seconds, second_bytes));
        CHECK(cudaMalloc(&of_peers, peer_bytes));
        CHECK(cudaMalloc(&offsets, (segments + 1) * sizeof *offsets));
        CHECK(cudaMalloc(&wrong, 2 * sizeof *wrong));
    }
    /* The next part of the memory for results, so that what is written is out of L2, too. */
    void *next_output(size_t bytes) const
    {
        static size_t begin = 0, end = 0;
        begin = end + bytes > result_bytes ? 0 : end;
        end = begin + (bytes + 255) / 256 * 256;
        return static_cast<char *>(results) + begin;
    }
};

using peer = void (*)(const shape_scratch &memory, const shape &s, const call &c);

#ifdef BENCH_CUB_TYPES
/* Where segment s of n elements each begins. */
struct times_n {
    long long n;
    __host__ __device__ long long operator()(long long s) const { return s * n; }
};

/* Elements in the order of their results: number k of result s is element s * n + k. In 32 bits, as
 * long as those do: division takes long. */
template <class T>
struct of_columns {
    const T *x;
    unsigned n, inner;
    __host__ __device__ T operator()(long long index) const
    {
        const unsigned i = static_cast<unsigned>(index), s = i / n, k = i % n;
        return x[(size_t(s / inner) * n + k) * inner + s % inner];
    }
};

/* By offsets, or as segments of one size. */
template <fastreduce_operator Op, class T, bool Fixed>
static void segments_by_cub(const shape_scratch &memory, const shape &s, const call &c)
{
    const auto count = thrust::make_counting_iterator(0ll);
    const auto begins =
        thrust::make_transform_iterator(count, times_n{static_cast<long long>(s.n)});
    const T *const x = reinterpret_cast<const T *>(c.input);
    const auto by_form = [&](auto elements, auto... bounds) {
        by_cub<Op, T>(memory.peers, elements, memory.of_peers, c.stream,
                      static_cast<int64_t>(s.results()), bounds...);
    };
    const auto call = [&](auto elements) {
        if constexpr (Fixed)
            by_form(elements, static_cast<int>(s.n));
        else if (s.kind == lengths::equal)
            by_form(elements, begins, begins + 1);
        else
            by_form(elements, memory.offsets, memory.offsets + 1);
    };
    if (s.inner == 1)
        call(x);
    else
        call(thrust::make_transform_iterator(
            count, of_columns<T>{x, static_cast<unsigned>(s.n), static_cast<unsigned>(s.inner)}));
}

template <fastreduce_operator Op, class Ours, class Peer>
__global__ void compare(const Ours *ours, const Peer *peers, size_t results, size_t n,
                        const int64_t *offsets, unsigned long long *wrong)
{
    constexpr bool of_nothing = is_extreme(Op) || is_index(Op) || Op == FASTREDUCE_MEAN;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < results;
         i += size_t(gridDim.x) * blockDim.x) {
        const auto count = static_cast<double>(offsets ? offsets[i + 1] - offsets[i] : n);
        if (count == 0 && of_nothing) continue; /* CUB gives other results of no elements */
        if (are_alike<Op>(ours[i], peers[i], count)) continue;
        atomicAdd(&wrong[0], 1);
        atomicMin(&wrong[1], i);
    }
}

/* CUB's results with offsets and ours are both there. */
template <fastreduce_operator Op, class T>
static bool results_are_alike(const shape_scratch &memory, const shape &s, const std::string &name,
                              cudaStream_t stream)
{
    using by_cub =
        std::conditional_t<is_index(Op), cub::KeyValuePair<int, T>, result<counterpart(Op), T>>;
    unsigned long long wrong[2] = {0, ~0ull};
    if constexpr (is_comparable<Op, T>) {
        CHECK(cudaMemcpyAsync(memory.wrong, wrong, sizeof wrong, cudaMemcpyHostToDevice, stream));
        compare<Op><<<2048, 256, 0, stream>>>(
            static_cast<const result<Op, T> *>(memory.results),
            static_cast<const by_cub *>(memory.of_peers), s.results(), s.n,
            s.kind == lengths::equal ? nullptr : memory.offsets, memory.wrong);
        CHECK(cudaGetLastError());
        CHECK(cudaStreamSynchronize(stream));
        CHECK(cudaMemcpy(wrong, memory.wrong, sizeof wrong, cudaMemcpyDeviceToHost));
    }
    if (wrong[0] == 0) return true;
    std::fprintf(stderr,
                 PROGRAM ": wrong: %s, %zu x %zu x %s: %llu results, the first number %llu\n",
                 name.c_str(), s.outer, s.n, name_of(s).c_str(), wrong[0], wrong[1]);
    return false;
}
#endif

#ifdef BENCH_CUBLAS
/* Both arrays behind each other. The result is of the elements' type; of halves it is added up in
 * float. */
template <class T>
static void dot_by_cublas(const shape_scratch &memory, const shape &s, const call &c)
{
    constexpr cudaDataType_t type = std::is_same_v<T, double>   ? CUDA_R_64F
                                    : std::is_same_v<T, float>  ? CUDA_R_32F
                                    : std::is_same_v<T, __half> ? CUDA_R_16F
                                                                : CUDA_R_16BF;
    const T *const x = reinterpret_cast<const T *>(c.input);
    CHECK_CUBLAS(cublasDotEx_64(cublas_of(c.stream), static_cast<int64_t>(s.n), x, type, 1, x + s.n,
                                type, 1, memory.of_peers, type,
                                std::is_same_v<T, double> ? CUDA_R_64F : CUDA_R_32F));
}
#endif

/* ---- Contenders ------------------------------------------------------------------------------ */

struct shaped : reduction {
    peer offsets, fixed, dot; /* null where there is none */
    bool (*are_alike)(const shape_scratch &memory, const shape &s, const std::string &name,
                      cudaStream_t stream);
};

template <fastreduce_type Type, fastreduce_operator Op>
static shaped shaped_of()
{
    using T = element<Type>;
    shaped r = {{Type, Op, fill_with<T>}, nullptr, nullptr, nullptr, nullptr};
#ifdef BENCH_CUB_TYPES
    if constexpr (Op <= FASTREDUCE_COUNT_NONZERO && Op != FASTREDUCE_VARIANCE) {
        r.offsets = segments_by_cub<counterpart(Op), T, false>;
        r.are_alike = results_are_alike<Op, T>;
#ifdef BENCH_CUB_FIXED
        r.fixed = segments_by_cub<counterpart(Op), T, true>;
#endif
    }
#endif
#ifdef BENCH_CUBLAS
    if constexpr (!std::is_integral_v<T>) r.dot = dot_by_cublas<T>;
#endif
    return r;
}

static fastreduce_kernel kernel_wanted = FASTREDUCE_AUTO;

/* Of the results, the second ones too. */
static size_t bytes_written(const shaped &r, const shape &s)
{
    const fastreduce_type second =
        s.kind == lengths::second ? fastreduce_second_type(r.type, r.op) : FASTREDUCE_DEFAULT_TYPE;
    return s.results() * (fastreduce_type_size(fastreduce_output_type(r.type, r.op)) +
                          fastreduce_type_size(second));
}

/* Of a copy that moves as many bytes as the fold. */
static size_t bytes_copied(const shaped &r, const shape &s)
{
    return s.kind == lengths::fold ? (s.elements() * r.bytes() + bytes_written(r, s)) / 2 : 0;
}

static void reduce_shape(const shaped &r, const shape_scratch &memory, const shape &s,
                         const call &c)
{
    fastreduce_config config = memory.config(c.stream, kernel_wanted);
    const fastreduce_shape axis = {s.kind == lengths::dot ? s.outer / 2 : s.outer, s.n, s.inner, 0,
                                   0};
    const char *const x = reinterpret_cast<const char *>(c.input);
    const void *buffers[64];
    if (s.kind == lengths::second) config.second_output = memory.seconds;
    for (size_t k = 0; s.kind == lengths::fold && k < s.outer; ++k)
        buffers[k] = x + k * s.n * r.bytes();
    if (s.kind == lengths::fold)
        CHECK(fastreduce_fold(buffers, s.outer, memory.next_output(bytes_written(r, s)), s.n,
                              r.type, r.op, &config));
    else if (s.kind == lengths::dot)
        CHECK(fastreduce_dot_axis(x, x + s.results() * s.n * r.bytes(), memory.results, &axis,
                                  r.type, &config));
    else if (!is_ragged(s))
        CHECK(fastreduce_reduce_axis(c.input, memory.results, &axis, r.type, r.op, &config));
    else
        CHECK(fastreduce_reduce_segments(c.input, memory.results, s.outer, memory.offsets, r.type,
                                         r.op, &config));
}

static bool has_cub(const shape &s) { return s.kind == lengths::equal || is_ragged(s); }

/* Whether CUB's iterator over columns, and its ints, hold the shape. */
static bool fits(const shape &s)
{
    return s.n < size_t(1) << 31 && (s.inner == 1 || s.elements() < size_t(1) << 32);
}

/* Ours, one result of all elements, and the peers' forms. */
static std::vector<contender> contenders(const shaped &r, const shape_scratch &memory,
                                         const shape &s, bool peers)
{
    std::vector<contender> all = {
        {"axis", [=, &memory](const call &c) { reduce_shape(r, memory, s, c); }},
        {"flat", [=, &memory](const call &c) { reduce(r, c, memory); }}};
    const auto add = [&](const char *name, peer form, bool has) {
        if (peers && form && has)
            all.push_back({name, [=, &memory](const call &c) { form(memory, s, c); }});
    };
    add("fixed", r.fixed, s.kind == lengths::equal && fits(s));
    add("offsets", r.offsets, has_cub(s) && fits(s));
    add("fixed", r.dot, s.kind == lengths::dot && s.outer == 2);
    const auto add_plain = [&](const char *name, fastreduce_operator op) {
        shaped other = r;
        other.op = op;
        shape plain = s;
        plain.kind = lengths::equal;
        const auto form = [=, &memory](const call &c) { reduce_shape(other, memory, plain, c); };
        if (fastreduce_supports_shapes(r.type, op, kernel_wanted)) all.push_back({name, form});
    };
    if (s.kind == lengths::second) {
        add_plain("fixed", r.op);
        add_plain("offsets", FASTREDUCE_MAX);
    } else if (s.kind == lengths::fold) {
        const size_t bytes = bytes_copied(r, s);
        all.push_back({"fixed", [=, &memory](const call &c) {
                           CHECK(cudaMemcpyAsync(memory.next_output(bytes), c.input, bytes,
                                                 cudaMemcpyDeviceToDevice, c.stream));
                       }});
    }
    return all;
}

/* Once for each row, into memory that holds no result of an earlier one. */
static bool results_are_right(const shaped &r, const shape_scratch &memory, const shape &s,
                              const call &c)
{
    if (!r.are_alike || !has_cub(s) || !fits(s)) return true;
    CHECK(cudaMemsetAsync(memory.results, 0xff, bytes_written(r, s), c.stream));
    reduce_shape(r, memory, s, c);
    r.offsets(memory, s, c);
    return r.are_alike(memory, s, r.name(), c.stream);
}

/* ---- The tables ------------------------------------------------------------------------------ */

struct table {
    const char *name;
    std::vector<shape> (*shapes)(size_t elements);
};
static const table tables[] = {
    {"rows", rows_of}, {"columns", columns_of}, {"segments", segments_of}, {"small", small_ones},
    {"dot", dots_of},  {"second", seconds_of},  {"fold", folds_of}};
constexpr int table_count = sizeof tables / sizeof tables[0];

struct options : reductions_wanted {
    std::vector<int> tables; /* their numbers */
    std::vector<shape> shapes;
    bool peers = true;
};

static void print_row(const options &wanted, printer &print, const device &gpu, const shaped &r,
                      const shape &s, const std::vector<timing> &times)
{
    const size_t read = s.elements() * r.bytes(), written = bytes_written(r, s),
                 of_offsets = is_ragged(s) ? (s.outer + 1) * sizeof(int64_t) : 0;
    const double us = times[0].microseconds, flat = times[1].microseconds,
                 fixed = of(times, "fixed").microseconds,
                 offsets = of(times, "offsets").microseconds,
                 gbs = 1e-3 * static_cast<double>(read + written + of_offsets) / us;
    print.row(
        r.name() + ", " + s.table,
        {{"gpu", "", gpu.name},
         {"table", "", s.table},
         {"type", "", fastreduce_type_name(r.type)},
         {"op", "", name_of(r.op)},
         {"outer", "%.0f", static_cast<double>(s.outer), "      outer", "%.0f"},
         {"n", "%.0f", static_cast<double>(s.n), "          n", "%.0f"},
         {"inner", "      inner", name_of(s)},
         {"us", "%.4f", us, "         us"},
         {"spread", "%.4f", times[0].spread, " spread", "%.1f%%"},
         {"gbs", "%.2f", gbs, "    GB/s", "%.1f"},
         {"flat_us", "%.4f", flat},
         {"of_flat", "%.4f", gbs * flat / (1e-3 * static_cast<double>(read)), " of flat"},
         {"cub_fixed_us", "%.4f", fixed},
         {"cub_offsets_us", "%.4f", offsets},
         {"cub_fixed_over_ours", "%.4f", fixed / us,
          s.kind == lengths::dot      ? "    cuBLAS"
          : s.kind == lengths::second ? "   without"
          : s.kind == lengths::fold   ? "      copy"
                                      : " CUB fixed"},
         {"cub_offsets_over_ours", "%.4f", offsets / us,
          s.kind == lengths::second ? "         max" : " CUB offsets"},
         {"cache", "", name_of(wanted.how)},
         {"host_us", "%.4f", times[0].host, wanted.how == mode::isolated ? "   host us" : ""}});
}

static bool measure(const options &wanted, printer &print, const device &gpu, const shaped &r,
                    const shape &s, const shape_scratch &memory, field &inputs)
{
    if (is_ragged(s)) {
        const std::vector<int64_t> offsets = offsets_of(s);
        CHECK(cudaMemcpy(memory.offsets, offsets.data(), offsets.size() * sizeof offsets[0],
                         cudaMemcpyHostToDevice));
        CHECK(cudaDeviceSynchronize()); /* the stream waits for no other */
    }
    inputs.set(std::max(s.elements(), bytes_copied(r, s) / r.bytes()), r.bytes());
    inputs.n = s.elements();
    const bool good =
        results_are_right(r, memory, s, {inputs.input(0), inputs.output, 0, gpu.stream});
    print_row(wanted, print, gpu, r, s,
              times_of(contenders(r, memory, s, wanted.peers), inputs, gpu.stream,
                       replays_of(wanted, s.elements()),
                       r.name() + ", " + std::to_string(s.outer) + " x " + std::to_string(s.n) +
                           " x " + name_of(s)));
    return good;
}

/* Whether there is such a call. */
static bool is_measured(const shaped &r, const shape &s)
{
    switch (s.kind) {
    case lengths::dot: return r.op == FASTREDUCE_SUM && kernel_wanted == FASTREDUCE_AUTO;
    case lengths::second:
        return fastreduce_second_type(r.type, r.op) != FASTREDUCE_DEFAULT_TYPE &&
               kernel_wanted == FASTREDUCE_AUTO;
    case lengths::fold:
        return (r.op == FASTREDUCE_SUM || r.op == FASTREDUCE_MIN || r.op == FASTREDUCE_MAX ||
                r.op == FASTREDUCE_MEAN) &&
               kernel_wanted == FASTREDUCE_AUTO;
    default: return true;
    }
}

static bool measure_all(const options &wanted, const std::vector<shaped> &chosen)
{
    const device gpu;
    size_t bytes = 0, segments = 0, result_bytes = 0, second_bytes = 0, peer_bytes = 0;
    bool good = true;
    for (const shaped &r : chosen)
        for (const shape &s : wanted.shapes) {
            if (!is_measured(r, s)) continue;
            const size_t written = bytes_written(r, s), copied = bytes_copied(r, s);
            bytes = std::max({bytes, s.elements() * r.bytes(), copied});
            segments = std::max(segments, is_ragged(s) ? s.outer : 0);
            result_bytes = std::max({result_bytes, written, copied});
            if (copied > 0) result_bytes = std::max(result_bytes, size_t(1) << 30);
            if (s.kind == lengths::second) second_bytes = std::max(second_bytes, written);
            /* an index of CUB's comes with its value */
            if (r.offsets || r.dot)
                peer_bytes = std::max(peer_bytes, is_index(r.op) ? 16 * s.results() : written);
        }
    field inputs(gpu, bytes, wanted.how);
    const shape_scratch memory(result_bytes, second_bytes, peer_bytes, segments);
    printer print(wanted, gpu.name + ", inputs " + in_words(wanted.how));
    for (const shaped &r : chosen) {
        r.fill(inputs, filling_for(r.op));
        for (const shape &s : wanted.shapes)
            if (is_measured(r, s)) good &= measure(wanted, print, gpu, r, s, memory, inputs);
    }
    return good;
}

/* ---- Command line ---------------------------------------------------------------------------- */

static void take_shape(const arguments &a, std::vector<shape> &shapes)
{
    std::vector<size_t> extents;
    double elements = 1;
    for (const std::string &part : split(a.value, 'x')) {
        extents.push_back(size_argument(&a, "no such size: ", part.c_str()));
        elements *= static_cast<double>(extents.back());
    }
    if (extents.size() != 3 || elements < 1 || elements >= 0x1p40)
        wrong_usage(&a, "no such shape: ", a.value);
    shapes.push_back({extents[0], extents[1], extents[2]});
}

static options parse(char **argv)
{
    arguments a = arguments_of(argv);
    options wanted;
    wanted.modes = {mode::isolated};
    while (next_argument(&a, help)) {
        if (has_value(a, "elements")) {
            wanted.sizes.clear();
            take_sizes(a, wanted.sizes);
            if (wanted.sizes.size() > 1) wrong_usage(&a, "one number, not ", a.value);
        } else if (has_value(a, "table")) {
            take_names<int>(
                a, "no such table: ", 0, table_count - 1, [](int k) { return tables[k].name; },
                wanted.tables);
        } else if (has_value(a, "shape")) {
            take_shape(a, wanted.shapes);
        } else if (is_option(&a, "--no-peers")) {
            wanted.peers = false;
        } else if (is_option(&a, "--exact")) {
            kernel_wanted = FASTREDUCE_EXACT;
        } else if (!take_option(a, wanted) &&
                   !take_reductions(a, wanted, FASTREDUCE_U64, FASTREDUCE_ARGMAX_ABS)) {
            wrong_usage(&a, "not understood: ", a.word);
        }
    }
    default_sizes(wanted, 28, 28);
    if (wanted.tables.empty() && wanted.shapes.empty())
        for (int k = 0; k < table_count; ++k) wanted.tables.push_back(k);
    for (int number : wanted.tables)
        for (shape s : tables[number].shapes(wanted.sizes[0])) {
            s.table = tables[number].name;
            wanted.shapes.push_back(s);
        }
    if (wanted.types.empty()) wanted.types = {FASTREDUCE_F32};
    if (wanted.ops.empty()) wanted.ops = {FASTREDUCE_SUM};
    return wanted;
}

int main(int, char **argv)
{
    const options wanted = parse(argv);
    const auto make = [](auto type, auto op) { return shaped_of<type(), op()>(); };
    const auto chosen = chosen_of<shaped, FASTREDUCE_ARGMAX_ABS>(wanted, kernel_wanted, make);
    (void)count_gpus();
    const bool good = measure_all(wanted, chosen);
    finish_output();
    return good ? 0 : 1;
}

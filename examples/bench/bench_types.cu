/* How fast, by element type and operator, beside the same reduction by CUB and the sum of as many
 * bytes of floats: device time of AUTO, in graphs of calls on inputs out of L2, or --isolated.
 *
 *     nvcc -O3 -std=c++17 -arch=native bench_types.cu -o bench_types && ./bench_types type=u8
 *
 * All of it takes minutes to compile; a part, with F32 and SUM in it, the times' measure:
 *
 *     -DFASTREDUCE_TYPES=FASTREDUCE_F32+FASTREDUCE_U8 -DFASTREDUCE_OPERATORS=FASTREDUCE_SUM
 *
 * -DBENCH_NO_CUB, or CUB before CCCL 3.0: without peers, and nothing to compare results with.
 */
#define PROGRAM "bench_types"
#define FASTREDUCE_NO_LADDER
#define FASTREDUCE_NO_EXACT
#define FASTREDUCE_IMPLEMENTATION
#include "../../fastreduce.cuh"
#include "peers.cuh"

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
    "                 counts; other data are in L2, just written\n"
    "  --replays N    timed replays of each graph (default 15), or calls with --isolated\n"
    "                 (default 41 up to 256 MiB, 15 beyond)\n"
    "  --csv, --json  machine-readable rows instead of the tables\n"
    "  -h, --help, --version  print and do nothing else\n"
    "\n"
    "Columns: bytes read, microseconds (median) of AUTO, spread (half the interquartile range,\n"
    "percent of it), GB/s, microseconds of CUB, AUTO over CUB, and over AUTO's sum of the same\n"
    "bytes as f32. CUB's results have the same types; its norm2 is the sum of squares, its mean\n"
    "the sum, and it has no variance. Results that are not CUB's are named on standard error.\n"
    "Exit status: 0; 1 for a wrong result or a failed call; 2 for a wrong command line;\n"
    "77 where there is no GPU.\n";
/* clang-format on */

struct typed : reduction {
    void (*cub)(void *memory, const call &c);
    bool (*are_alike)(uint64_t ours, uint64_t peer, size_t n);
};

#ifdef BENCH_CUB_TYPES
template <fastreduce_operator Op, class T>
static void flat_by_cub(void *memory, const call &c)
{
    by_cub<Op, T>(memory, reinterpret_cast<const T *>(c.input), c.output, c.stream,
                  static_cast<long long>(c.n));
}

template <fastreduce_operator Op, class T>
static bool bits_are_alike(uint64_t ours, uint64_t peer, size_t n)
{
    result<Op, T> x;
    result<counterpart(Op), T> y;
    std::memcpy(static_cast<void *>(&x), &ours, sizeof x);
    std::memcpy(static_cast<void *>(&y), &peer, sizeof y);
    return !is_comparable<Op, T> || are_alike<Op>(x, y, static_cast<double>(n));
}
#endif

template <fastreduce_type Type, fastreduce_operator Op>
static typed typed_of()
{
    typed r = {{Type, Op, fill_with<element<Type>>}, nullptr, nullptr};
#ifdef BENCH_CUB_TYPES
    if constexpr (Op != FASTREDUCE_VARIANCE) {
        r.cub = flat_by_cub<counterpart(Op), element<Type>>;
        r.are_alike = bits_are_alike<Op, element<Type>>;
    }
#endif
    return r;
}

/* AUTO, its sum of the same bytes as floats, and CUB. */
static std::vector<contender> contenders(const typed &r, const scratch &memory)
{
    const auto f32_sum = [=](const call &c) {
        const fastreduce_config config = memory.config(c.stream);
        CHECK(fastreduce_sum_f32(c.input, c.output, c.n * r.bytes() / sizeof(float), &config));
    };
    std::vector<contender> all = {{"auto", [=](const call &c) { reduce(r, c, memory); }},
                                  {"f32 sum", f32_sum}};
    if (r.cub) all.push_back({"cub", [=](const call &c) { r.cub(memory.peers, c); }});
    return all;
}

struct options : reductions_wanted {
    std::vector<size_t> counts; /* sizes in elements; the others are in bytes */

    std::vector<size_t> counts_of(size_t element_bytes) const
    {
        std::vector<size_t> all;
        for (size_t bytes : sizes) all.push_back(std::max<size_t>(1, bytes / element_bytes));
        all.insert(all.end(), counts.begin(), counts.end());
        return all;
    }
};

static bool tables(const options &wanted, const std::vector<typed> &chosen)
{
    const device gpu;
    const scratch memory;
    size_t most = 0;
    bool good = true;
    for (const typed &r : chosen)
        for (size_t n : wanted.counts_of(r.bytes())) most = std::max(most, n * r.bytes());
    field inputs(gpu, most, wanted.how);
    printer print(wanted, gpu.name + ", inputs " + in_words(wanted.how));
    for (const typed &r : chosen) {
        r.fill(inputs, filling_for(r.op));
        for (size_t n : wanted.counts_of(r.bytes())) {
            const double bytes = static_cast<double>(n * r.bytes());
            inputs.set(n, r.bytes());
            const auto times =
                times_of(contenders(r, memory), inputs, gpu.stream,
                         replays_of(wanted, n * r.bytes() / sizeof(float)), r.name());
            const timing ours = times[0], f32 = times[1], cub = of(times, "cub");
            const double us = ours.microseconds;
            print.row(r.name(), {{"gpu", "", gpu.name},
                                 {"cache", "", name_of(wanted.how)},
                                 {"type", "", fastreduce_type_name(r.type)},
                                 {"op", "", name_of(r.op)},
                                 {"bytes", "%.0f", bytes, "       bytes", "%.0f"},
                                 {"n", "%.0f", static_cast<double>(n)},
                                 {"us", "%.4f", us, "         us"},
                                 {"spread", "%.4f", ours.spread, " spread", "%.1f%%"},
                                 {"gbs", "%.2f", 1e-3 * bytes / us, "    GB/s", "%.1f"},
                                 {"cub_us", "%.4f", cub.microseconds, "    CUB, us"},
                                 {"f32_us", "%.4f", f32.microseconds},
                                 {"over_cub", "%.4f", us / cub.microseconds, " over CUB"},
                                 {"over_f32", "%.4f", us / f32.microseconds, " over f32 sum"}});
            if (!r.cub || r.are_alike(ours.result, cub.result, n)) continue;
            good = false;
            std::fprintf(stderr, PROGRAM ": wrong: %s, n = %zu: not CUB's result\n",
                         r.name().c_str(), n);
        }
    }
    return good;
}

static options parse(char **argv)
{
    arguments a = arguments_of(argv);
    options wanted;
    wanted.modes = {mode::isolated};
    while (next_argument(&a, help))
        if (has_value(a, "bytes"))
            take_sizes(a, wanted.sizes);
        else if (has_value(a, "n"))
            take_sizes(a, wanted.counts);
        else if (!take_option(a, wanted) && !take_reductions(a, wanted))
            wrong_usage(&a, "not understood: ", a.word);
    if (wanted.counts.empty()) default_sizes(wanted, 12, 30);
    return wanted;
}

int main(int, char **argv)
{
    const options wanted = parse(argv);
    const auto make = [](auto type, auto op) { return typed_of<type(), op()>(); };
    const auto chosen = chosen_of<typed>(wanted, FASTREDUCE_AUTO, make);
    (void)count_gpus();
    const bool good = tables(wanted, chosen);
    finish_output();
    return good ? 0 : 1;
}

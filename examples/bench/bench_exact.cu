/* What exactness costs: EXACT beside AUTO of the same type and operator, and beside CUB's
 * reproducible sum; device time in graphs of calls on inputs out of L2. Every exact result is
 * compared with the CPU's, bit by bit.
 *
 *     nvcc -O3 -std=c++17 -arch=native bench_exact.cu -o bench_exact && ./bench_exact type=f64
 *
 * A part: FASTREDUCE_TYPES and FASTREDUCE_OPERATORS, as bench_types has them. CUB's reproducible
 * sum (gpu_to_gpu) needs CCCL 3.1 or later; -DBENCH_NO_CUB: without.
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
#include "../../fastreduce.cuh"
#include "peers.cuh"

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
    "  --csv, --json  machine-readable rows instead of the tables\n"
    "  -h, --help, --version  print and do nothing else\n"
    "\n"
    "Columns: bytes read, microseconds (median) of EXACT, spread (half the interquartile range,\n"
    "percent of it), GB/s, microseconds of AUTO, EXACT over AUTO, microseconds of CUB's sum\n"
    "that is the same on every GPU, and EXACT over that. Results of EXACT are compared with\n"
    "the CPU's; wrong ones are named on standard error.\n"
    "Exit status: 0; 1 for a wrong result or a failed call; 2 for a wrong command line;\n"
    "77 where there is no GPU.\n";
/* clang-format on */

struct floating : reduction {
    void (*cub)(void *memory, const call &c); /* null where it has none */
};

#ifdef BENCH_CUB_GPU_TO_GPU
template <class T>
static void by_cub(void *memory, const call &c)
{
    CHECK(sum_gpu_to_gpu(reinterpret_cast<const T *>(c.input), reinterpret_cast<T *>(c.output), c.n,
                         c.stream, borrowed{memory}));
}
#endif

template <fastreduce_type Type, fastreduce_operator Op>
static floating floating_of()
{
    floating r = {{Type, Op, fill_with<element<Type>>}, nullptr};
#ifdef BENCH_CUB_GPU_TO_GPU
    if constexpr (Op == FASTREDUCE_SUM && sizeof(element<Type>) >= sizeof(float))
        r.cub = by_cub<element<Type>>;
#endif
    return r;
}

static std::vector<contender> contenders(const floating &r, const scratch &memory)
{
    std::vector<contender> all = {
        {"exact", [=](const call &c) { reduce(r, c, memory, FASTREDUCE_EXACT); }},
        {"auto", [=](const call &c) { reduce(r, c, memory); }}};
    if (r.cub) all.push_back({"gpu_to_gpu", [=](const call &c) { r.cub(memory.peers, c); }});
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

struct options : reductions_wanted {
    std::vector<filling> kinds;
};

static const char *name_of(filling kind) { return kind == filling::any ? "any" : "uniform"; }

static bool tables(const options &wanted, const std::vector<floating> &chosen)
{
    const device gpu;
    const scratch memory;
    std::vector<char> host(*std::max_element(wanted.sizes.begin(), wanted.sizes.end()) + 16);
    const field whole(gpu, host.size(), wanted.how);
    printer print(wanted, gpu.name + ", inputs out of L2");
    bool good = true;
    const auto measure = [&](const floating &r, filling kind, size_t size) {
        const size_t n = std::max<size_t>(1, size / r.bytes());
        const double bytes = static_cast<double>(n * r.bytes());
        field inputs = whole;
        inputs.set(n, r.bytes());
        const auto times =
            times_of(contenders(r, memory), inputs, gpu.stream, replays_of(wanted, n), r.name());
        const timing exact = times[0], plain = times[1], cub = of(times, "gpu_to_gpu");
        const double us = exact.microseconds;
        print.row(r.name() + ", " + name_of(kind),
                  {{"gpu", "", gpu.name},
                   {"type", "", fastreduce_type_name(r.type)},
                   {"op", "", name_of(r.op)},
                   {"data", "", name_of(kind)},
                   {"bytes", "%.0f", bytes, "       bytes", "%.0f"},
                   {"n", "%.0f", static_cast<double>(n)},
                   {"us", "%.4f", us, "         us"},
                   {"spread", "%.4f", exact.spread, " spread", "%.1f%%"},
                   {"gbs", "%.2f", 1e-3 * bytes / us, "    GB/s", "%.1f"},
                   {"auto_us", "%.4f", plain.microseconds, "   AUTO, us"},
                   {"over_auto", "%.4f", us / plain.microseconds, " over AUTO"},
                   {"cub_us", "%.4f", cub.microseconds, "    CUB, us"},
                   {"over_cub", "%.4f", us / cub.microseconds, " over CUB"}});
        if (is_right(r, host.data(), n, exact.result)) return;
        good = false;
        std::fprintf(stderr, PROGRAM ": wrong: %s, n = %zu, %s\n", r.name().c_str(), n,
                     name_of(kind));
    };
    for (const floating &r : chosen)
        for (filling kind : {filling::uniform, filling::any}) {
            if (!is_among(wanted.kinds, kind)) continue;
            r.fill(whole, kind);
            CHECK(cudaMemcpy(host.data(), whole.inputs, host.size(), cudaMemcpyDeviceToHost));
            for (size_t size : wanted.sizes) measure(r, kind, size);
        }
    return good;
}

static void take_data(const arguments &a, options &wanted)
{
    for (const std::string &part : split(a.value)) {
        if (part != "uniform" && part != "any" && part != "all")
            wrong_usage(&a, "no such data: ", part.c_str());
        if (part != "any") wanted.kinds.push_back(filling::uniform);
        if (part != "uniform") wanted.kinds.push_back(filling::any);
    }
}

static options parse(char **argv)
{
    arguments a = arguments_of(argv);
    options wanted;
    while (next_argument(&a, help))
        if (has_value(a, "data"))
            take_data(a, wanted);
        else if (has_value(a, "bytes"))
            take_sizes(a, wanted.sizes);
        else if (!take_option(a, wanted) &&
                 !take_reductions(a, wanted, FASTREDUCE_BF16, dot_product))
            wrong_usage(&a, "not understood: ", a.word);
    default_sizes(wanted, 12, 30);
    return wanted;
}

int main(int, char **argv)
{
    const options wanted = parse(argv);
    const auto make = [](auto type, auto op) { return floating_of<type(), op()>(); };
    const auto chosen = chosen_of<floating, dot_product>(wanted, FASTREDUCE_EXACT, make);
    (void)count_gpus();
    const bool good = tables(wanted, chosen);
    finish_output();
    return good ? 0 : 1;
}

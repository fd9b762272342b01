/* The pairwise reduction of columns, middle axes, strided rows and windows: each result has the
 * bits of fastreduce_reduce of its elements, whatever the plan: few and many multiprocessors, steps
 * of warps, runs of tiles, groups of groups of blocks, several launches, any order of blocks. Every
 * type by every operator, and operators that do not commute. Parts: names of types, `others`,
 * `plans`. */
#include <cuda_runtime.h>
#ifndef FASTREDUCE_WITH_SHAPES
#define FASTREDUCE_WITH_SHAPES
#endif
#define FASTREDUCE_IMPLEMENTATION
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/dynamic_shared.h"
#include "../common/elements.h"
#include "../common/exact_input.h"
#include "../common/geometry.h"
#include "../common/order.h"
#include "../common/parts.h"
#include "../common/turns.h"
#include <functional>
#include <map>

namespace detail = fastreduce::detail;

/* ---- How a call is planned ------------------------------------------------------------------- */

/* 0 words or blocks: as many as there may be. Levels: steps of a warp in a tile, as a logarithm, at
 * most. */
struct how {
    unsigned multiprocessors, levels;
    size_t words_of_result; /* of workspace, at most */
    size_t blocks;
};
constexpr how hows[] = {
    {132, 9, 0, 0},  /* as on a GPU: many blocks down the rows */
    {1, 9, 0, 0},    /* few: steps in registers */
    {132, 0, 0, 0},  /* no steps: groups of groups of blocks */
    {1, 9, 0, 3},    /* several launches */
    {132, 1, 24, 0}, /* runs, whose blocks meet */
    {4, 0, 1, 0},    /* one run */
    {132, 0, 60, 7}, /* all of it */
};

/* One reducer's calls. */
namespace
{
struct reduction {
    const char *name;
    size_t result_bytes;
    bool any_nan; /* where the CPU machine may take either operand's */
    std::function<fastreduce_status(const void *input, size_t n, void *result)> flat;
    std::function<fastreduce_status(const detail::result_layout &all, void *result,
                                    const how &given, fastreduce::workspace memory)>
        columns;
};
} // namespace

static unsigned calls_made = 0;

template <class Reducer>
static fastreduce_status columns_by(const Reducer &reducer, const detail::result_layout &all,
                                    void *result, const how &given, fastreduce::workspace memory)
{
    using group = detail::group_of<Reducer>;
    detail::reduction_output<group> output = {result, detail::as_group<group>(reducer)};
    detail::kernel_set e = detail::kernels_of<group, detail::columns_part>;
    for (auto &lane : e.lane) lane.levels = std::min(lane.levels, given.levels);
    if (calls_made % 3 > 0) e.least_leaves = 0; /* vectors of few columns, too */
    const size_t words = given.words_of_result * all.end * e.partial_words;
    const detail::launch_options options = {
        memory, nullptr, given.blocks ? given.blocks : detail::max_blocks,
        given.words_of_result ? std::min(words, detail::workspace_words) : detail::workspace_words};
    return detail::launch(detail::plan_columns, e, all, &output, options);
}

/* ---- One shape ------------------------------------------------------------------------------- */

static check::buffer<unsigned char> &workspace()
{
    static auto *const all = new check::buffer<unsigned char>(FASTREDUCE_WORKSPACE_BYTES);
    return *all;
}

static bool is_nan(size_t size, u64 bits)
{
    return size == 4 ? std::isnan(from_bits<float>(bits)) : std::isnan(from_bits<double>(bits));
}

/* `count` elements, of which results have copies: a few patterns, or what windows have. */
template <class T>
struct shape {
    geometry g;
    std::vector<T> values;
    std::vector<size_t> pattern_of; /* of each result */
    std::vector<std::vector<T>> patterns;

    template <class Make>
    shape(const geometry &given, const Make &make) : g(given)
    {
        if (g.stride == 0) g.stride = g.inner;
        if (g.outer_stride == 0) g.outer_stride = g.n * g.stride;
        const size_t results = g.outer * g.inner,
                     span =
                         g.n ? (g.outer - 1) * g.outer_stride + (g.n - 1) * g.stride + g.inner : 0;
        values = make(span, span + 7);
        std::vector<std::vector<T>> made;
        for (u64 k = 0; k < 3; ++k) made.push_back(make(g.n, k));
        for (size_t r = 0; r < results; ++r)
            for (size_t k = 0; k < g.n; ++k) at(r, k) = made[check::mix(r, g.n) % 3][k];
        std::map<std::string, size_t> known; /* windows overwrite each other */
        for (size_t r = 0; r < results; ++r) {
            std::vector<T> own(g.n);
            for (size_t k = 0; k < g.n; ++k) own[k] = at(r, k);
            const std::string bytes(reinterpret_cast<const char *>(own.data()), g.n * sizeof(T));
            const auto found = known.emplace(bytes, patterns.size());
            if (found.second) patterns.push_back(own);
            pattern_of.push_back(found.first->second);
        }
    }
    T &at(size_t result, size_t k)
    {
        return values[result / g.inner * g.outer_stride + result % g.inner + k * g.stride];
    }
};

template <class T>
static void call(const shape<T> &of, const exact_input<T> &input, const reduction &by,
                 const how &given, const std::vector<u64> &wanted)
{
    const geometry &g = of.g;
    const size_t results = of.pattern_of.size(), size = by.result_bytes;
    check::buffer<unsigned char> output(results * size, size);
    output.fill(0x7b);
#ifdef SIMT_MACHINE
    simt::gpu gpu;
    gpu.multiprocessors = given.multiprocessors;
    gpu.number = static_cast<int>(gpu.multiprocessors % 61); /* as limits are remembered by it */
    simt::set_gpu(gpu);
    detail::device_limits limits = {};
    detail::find_limits(&limits);
    check::that(limits.multiprocessors == given.multiprocessors, "%u multiprocessors, not %u",
                limits.multiprocessors, given.multiprocessors);
#endif
    const char *const in_order = order::next();
    detail::result_layout all = {};
    all.input = g.n ? input.data() : nullptr;
    all.end = results;
    all.n = g.n;
    all.inner = g.inner;
    all.outer_stride = g.outer_stride;
    all.stride = g.stride;
    all.result_bytes = static_cast<unsigned>(size);
#ifdef SIMT_MACHINE
    const auto before = simt::statistics();
#endif
    const bool pool = calls_made % 5 == 0;
    const fastreduce_status status = by.columns(
        all, output.data(), given,
        {pool ? nullptr : workspace().data(), pool ? 0 : size_t(FASTREDUCE_WORKSPACE_BYTES)});
    CUDA(cudaDeviceSynchronize());
    order::usual();
    char text[300];
    std::snprintf(text, sizeof text,
                  "%s, %s: outer %zu, n %zu, inner %zu, strides %zu and %zu, offset %zu; %u "
                  "multiprocessors, %u levels, %zu words, %zu blocks, %s",
                  by.name, g.name, g.outer, g.n, g.inner, g.outer_stride, g.stride, g.offset,
                  given.multiprocessors, given.levels, given.words_of_result, given.blocks,
                  in_order);
    check::that(status == 0, "%s: status %d %s", text, status, order::report());
#ifdef SIMT_MACHINE
    const auto launches = simt::statistics().launches - before.launches,
               blocks = simt::statistics().blocks - before.blocks;
    check::that(given.blocks == 0 || blocks <= given.blocks * launches,
                "%s: %llu blocks in %llu launches", text, static_cast<u64>(blocks),
                static_cast<u64>(launches));
#endif
    check::that(workspace().every_byte_is(0) && workspace().canaries_alive() &&
                    output.canaries_alive(),
                "%s: words left dirty, or a write outside", text);
    if (status != 0) workspace().fill(0);
    const std::vector<unsigned char> got = output.get();
    size_t wrong = 0, first = 0;
    for (size_t r = results; r-- > 0;) {
        u64 bits[4] = {};
        std::memcpy(bits, got.data() + r * size, size);
        const u64 *const right = wanted.data() + 4 * of.pattern_of[r];
        if (std::memcmp(bits, right, sizeof bits) == 0 ||
            (by.any_nan && is_nan(size, bits[0]) && is_nan(size, right[0])))
            continue;
        ++wrong;
        first = r;
    }
    u64 bits = 0;
    std::memcpy(&bits, got.data() + first * size, std::min(size, sizeof bits));
    check::that(wrong == 0, "%s: %zu of %zu, the first %zu: %llx, not %llx", text, wrong, results,
                first, bits, wanted[4 * of.pattern_of[first]]);
}

/* By each reducer, planned in `several` ways. */
template <class T, class Make>
static void run(const geometry &g, const std::vector<reduction> &all, unsigned several,
                const Make &make)
{
    const shape<T> of(g, make);
    const exact_input<T> input(of.values, g.offset);
    for (const reduction &by : all) {
        std::vector<u64> wanted(4 * of.patterns.size());
        check::buffer<u64> result(4);
        for (size_t p = 0; p < of.patterns.size(); ++p) {
            const exact_input<T> row(of.patterns[p], 0);
            result.fill(0);
            const fastreduce_status status = by.flat(row.data(), g.n, result.data());
            CUDA(cudaDeviceSynchronize());
            check::that(status == 0, "%s of %zu: status %d", by.name, g.n, status);
            std::memcpy(&wanted[4 * p], result.get().data(), 4 * sizeof(u64));
        }
        for (unsigned k = 0; k < several; ++k, ++calls_made)
            call(of, input, by, hows[calls_made % (sizeof hows / sizeof *hows)], wanted);
    }
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

/* About the ends of packs, leaves, steps and tiles, wide and not, with and without gaps. */
template <class T, class Make>
static void shapes(const std::vector<reduction> &all, const Make &make)
{
    constexpr size_t size = detail::pack<T>::size;
    for (size_t n : {size_t(1), size_t(2), size - 1, size, size + 1, size_t(7), size_t(9),
                     size_t(16), size_t(31), size_t(33), size_t(129)})
        for (size_t inner : {1, 2, 3, 4, 8, 16, 17, 33, 64, 130, 300}) {
            const size_t k = n + inner;
            run<T>({"columns", 1, n, inner, 0, 0, 0}, all, 1, make);
            if (k % 3 == 0) run<T>({"unaligned", 1, n, inner, 0, 0, 1}, all, 1, make);
            if (k % 3 == 1) run<T>({"middle", 3, n, inner, 0, 0, 0}, all, 1, make);
            if (k % 3 == 2)
                run<T>({"gaps", 2, n, inner, (n + 1) * (inner + 16), inner + 16, 0}, all, 1, make);
        }
    constexpr unsigned ways = sizeof hows / sizeof *hows;
    for (size_t n : {255, 256, 257, 511, 513, 1000, 1024, 1025})
        for (size_t inner : {1, 4, 5, 32, 96})
            run<T>({"longer", 1 + n % 2, n, inner, 0, inner == 1 ? size_t(2) : 0, 0}, all, 2, make);
    run<T>({"long", 1, 8191, 16, 0, 0, 0}, all, ways, make);
    run<T>({"long", 1, 8193, 40, 0, 0, 0}, all, ways, make);
    run<T>({"long", 2, 16390, 7, 0, 0, 0}, all, ways, make);
    run<T>({"strided", 2, 40001, 1, 0, 3, 1}, all, ways, make);
    run<T>({"longest", 1, 70000, 8, 0, 0, 0}, all, ways, make);
    run<T>({"many", 700, 5, 3, 0, 0, 0}, all, 3, make);
    run<T>({"many", 1, 20, 5000, 0, 0, 0}, all, 3, make);
    for (const geometry &g : overlapping(100)) run<T>(g, all, 1, make);
    for (const geometry &g : edge_cases) /* none without elements gets here */
        if (g.n > 0 && g.outer * g.inner > 0 && g.n < 100) run<T>(g, all, 2, make);
}

/* Plans of shapes too large to run: every row has one place, and all there is fits. */
static void plans()
{
    const auto e = detail::sizes_of<detail::reducer_t<fastreduce::plus, float>>();
    for (u64 k = 0; k < 20000; ++k) {
        detail::result_layout all = {};
        all.n = check::mix(k, 1) >> (28 + check::mix(k, 2) % 36);
        all.inner = 1;
        if (check::mix(k, 3) % 3) all.inner += check::mix(k, 4) >> (34 + check::mix(k, 5) % 30);
        all.end = all.inner * ((check::mix(k, 6) >> (34 + check::mix(k, 7) % 30)) + 1);
        all.stride = all.inner;
        all.outer_stride = all.n * all.stride;
        const size_t blocks = k % 2 ? detail::max_blocks : 1 + check::mix(k, 8) % 5000,
                     words = k % 3 ? detail::workspace_words : check::mix(k, 9) % 5000;
        const unsigned multiprocessors = static_cast<unsigned>(1 + check::mix(k, 10) % 200);
        const auto made =
            detail::plan_columns(e, all, {multiprocessors, 0}, {{}, nullptr, blocks, words});
        const bool wide = made.kernel == detail::vector_columns;
        const detail::columns_plan &plan = made.layout;
        const unsigned of_lanes = 5 - plan.across_log + e.lane[wide].rows_log,
                       tile = of_lanes + plan.steps_log + plan.warps_log + plan.run_log;
        const size_t down = plan.down_blocks,
                     across = (std::min(made.most_results, all.end) - 1) / made.block_results + 1;
        check::that(((down - 1) << tile) < std::max(all.n, size_t(1)) &&
                        ((all.n >> tile) < down || all.n == down << tile),
                    "plan %llu: rows", k);
        check::that(across * down <= blocks &&
                        made.workspace_bytes <= words * sizeof(detail::status_word),
                    "plan %llu: room", k);
        check::that((down == 1 && plan.run_log == 0) || plan.warps_log == 3, "plan %llu: warps", k);
        check::that(down == 1 || made.block_results <= detail::columns_block,
                    "plan %llu: a thread has partials of one result", k);
        check::that(plan.prefetched == (all.n > 0 && all.n <= 2048 * 1024 / all.end),
                    "plan %llu: prefetched", k);
        check::that(made.shared_bytes <= 40 * 1024 && plan.steps_log <= e.lane[wide].levels &&
                        made.block_results == size_t(1) << plan.results_log(e.lane[wide].per_lane),
                    "plan %llu: levels", k);
    }
}

/* ---- Types and operators --------------------------------------------------------------------- */

template <class T>
struct of_library {
    using type = T;
};
template <>
struct of_library<f16> {
    using type = detail::f16;
};
template <>
struct of_library<bf16> {
    using type = detail::bf16;
};

template <class T, fastreduce_operator Op, class Operator>
static void add(std::vector<reduction> *all)
{
    if constexpr (detail::holds(detail::built_types, type_of<T>) &&
                  detail::holds(detail::built_operators, Op)) {
        using Input = typename of_library<T>::type;
        const fastreduce_type result = fastreduce_output_type(type_of<T>, Op);
        static char names[operators * 12][40];
        static unsigned used = 0;
        char *const name = names[used++ % (operators * 12)];
        std::snprintf(name, sizeof *names, "%s %s", fastreduce_type_name(type_of<T>),
                      fastreduce_operator_name(Op));
        all->push_back({name, fastreduce_type_size(result),
                        result == FASTREDUCE_F32 || result == FASTREDUCE_F64,
                        [](const void *input, size_t n, void *to) {
                            return fastreduce_reduce(input, to, n, type_of<T>, Op, nullptr);
                        },
                        [](const detail::result_layout &all, void *to, const how &given,
                           fastreduce::workspace memory) {
                            return columns_by(detail::make_reducer<Operator, Input>(), all, to,
                                              given, memory);
                        }});
    }
}

template <class T>
static void type()
{
    if (!asked_for(fastreduce_type_name(type_of<T>))) return;
    std::vector<reduction> all;
    add<T, FASTREDUCE_SUM, fastreduce::plus>(&all);
    add<T, FASTREDUCE_PRODUCT, fastreduce::multiplies>(&all);
    add<T, FASTREDUCE_MIN, fastreduce::minimum>(&all);
    add<T, FASTREDUCE_MAX, fastreduce::maximum>(&all);
    add<T, FASTREDUCE_ARGMIN, fastreduce::argmin>(&all);
    add<T, FASTREDUCE_ARGMAX, fastreduce::argmax>(&all);
    add<T, FASTREDUCE_SUM_ABS, fastreduce::sum_abs>(&all);
    add<T, FASTREDUCE_SUM_SQUARES, fastreduce::sum_squares>(&all);
    add<T, FASTREDUCE_MAX_ABS, fastreduce::max_abs>(&all);
    add<T, FASTREDUCE_NORM2, fastreduce::norm2>(&all);
    add<T, FASTREDUCE_MEAN, fastreduce::mean>(&all);
    add<T, FASTREDUCE_VARIANCE, fastreduce::variance>(&all);
    add<T, FASTREDUCE_COUNT_NONZERO, fastreduce::count_nonzero>(&all);
    add<T, FASTREDUCE_MIN_MAX, fastreduce::min_max>(&all);
    add<T, FASTREDUCE_ARGMAX_ABS, fastreduce::argmax_abs>(&all);
    if (all.empty()) return;
    shapes<T>(all, [](size_t n, u64 seed) {
        constexpr data kinds[] = {data::usual, data::few,      data::wide,
                                  data::mixed, data::near_one, data::shifted};
        std::vector<T> values = make<T>(kinds[calls_made % 6], n, 1000 + seed);
        if constexpr (is_float<T>)
            if (calls_made % 4 == 1 && n > 0 && seed % 3 == 0)
                values[check::mix(n, seed) % n] = from_bits<T>(
                    infinity_bits<T> | (calls_made % 8 == 1 ? infinity_bits<T> >> 1 : 0));
        return values;
    });
}

/* x -> factor x + term, one after the other. */
struct affine {
    unsigned factor, term;
};
struct composed {
    template <class Value>
    static __host__ __device__ Value identity()
    {
        return {1, 0};
    }
    template <class Value>
    __host__ __device__ Value operator()(Value a, Value b) const
    {
        return {a.factor * b.factor, b.factor * a.term + b.term};
    }
};
/* No size that divides 16, and sums that round. */
struct three_floats {
    float x[3];
};
struct added {
    template <class Value>
    static __host__ __device__ Value identity()
    {
        return {{0, 0, 0}};
    }
    template <class Value>
    __host__ __device__ Value operator()(const Value &a, const Value &b) const
    {
        return {{a.x[0] + b.x[0], a.x[1] + b.x[1], a.x[2] + b.x[2]}};
    }
};

template <class T, class Operator>
static std::vector<reduction> of_user(const char *name)
{
    using reducer = fastreduce::detail::reducer_t<Operator, T>;
    return {{name, sizeof(T), false,
             [](const void *input, size_t n, void *to) {
                 return detail::launch_reducer({input, n}, static_cast<T *>(to), reducer(),
                                               {{nullptr, 0}, nullptr});
             },
             [](const detail::result_layout &all, void *to, const how &given,
                fastreduce::workspace memory) {
                 return columns_by(reducer(), all, to, given, memory);
             }}};
}

static void others()
{
    if (!asked_for("others")) return;
    shapes<affine>(of_user<affine, composed>("affine maps"), [](size_t n, u64 seed) {
        std::vector<affine> values(n);
        for (size_t i = 0; i < n; ++i)
            values[i] = {static_cast<unsigned>(check::mix(i, seed)) | 1,
                         static_cast<unsigned>(check::mix(i, seed + 1))};
        return values;
    });
    shapes<three_floats>(of_user<three_floats, added>("three floats"), [](size_t n, u64 seed) {
        std::vector<three_floats> values(n);
        const std::vector<float> from = make<float>(data::usual, 3 * n, seed);
        for (size_t i = 0; i < n; ++i)
            values[i] = {{from[3 * i], from[3 * i + 1], from[3 * i + 2]}};
        return values;
    });
}

int main(int argc, char **argv)
{
    parse_parts(argc, argv);
    check::need_device();
    workspace().fill(0);
    for_each_type<f16, bf16>([](auto zero) { type<decltype(zero)>(); });
    others();
    if (asked_for("plans")) plans();
    return check::finish("columns");
}

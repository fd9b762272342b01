/* The kernels of many results, of a few types and operators, in shapes that reach each branch: rows
 * and segments that lanes, warps and blocks reduce, columns by the same, results of a few elements;
 * on GPUs of one multiprocessor and of many, with few words and few blocks. Compiles and runs
 * within seconds, so that test/quality/mutants.py can do it for each of its changes; -DSMALL_AUTO
 * and -DSMALL_EXACT choose AUTO's or EXACT's, and arguments parts of these. */
#if !defined(SMALL_AUTO) && !defined(SMALL_EXACT)
#define SMALL_AUTO
#define SMALL_EXACT
#endif
#define FASTREDUCE_HOST_IMPLEMENTATION
#include "../../fastreduce.cuh"
#include "../common/dynamic_shared.h"
#include "../common/exact_input.h"
#include "../common/float_kinds.h"
#include "../common/geometry.h"
#include "../common/order.h"
#include "../common/pairwise.h"
#include "../common/parts.h"
#include <functional>

using namespace fastreduce::detail;
using lengths = std::vector<size_t>;

/* ---- Calls ----------------------------------------------------------------------------------- */

/* On a GPU of so many multiprocessors, as if a launch could have so many blocks only, and a
 * workspace so many words. */
struct how {
    unsigned multiprocessors;
    size_t blocks = max_blocks, words = workspace_words;
};

static check::buffer<unsigned char> &workspace()
{
    static auto *const all = new check::buffer<unsigned char>(FASTREDUCE_WORKSPACE_BYTES);
    return *all;
}

static bool is_nan(size_t size, u64 bits)
{
    return size == 4 ? (bits & 0x7fffffff) > 0x7f800000 : bits << 1 > 0x7ffull << 53;
}

/* `launch` writes a result of `size` bytes for each of those wanted, to an output with a
 * workspace. */
template <class Launch>
static void expect(const std::string &what, const how &given, const std::vector<u64> &wanted,
                   size_t size, bool any_nan, const Launch &launch)
{
    check::buffer<unsigned char> output(wanted.size() * size, size);
    output.fill(0x7b);
    simt::gpu gpu;
    gpu.multiprocessors = given.multiprocessors;
    gpu.number = static_cast<int>(gpu.multiprocessors % 61); /* as limits are remembered by it */
    simt::set_gpu(gpu);
    const char *const in_order = order::next();
    const fastreduce_status status = launch(
        output.data(), fastreduce::workspace{workspace().data(), FASTREDUCE_WORKSPACE_BYTES});
    order::usual();
    check::that(status == 0, "%s, %s: status %d %s", what.c_str(), in_order, status,
                order::report());
    const unsigned char *const words = workspace().data();
    check::that(words[0] == 0 && std::memcmp(words, words + 1, workspace().bytes() - 1) == 0 &&
                    workspace().canaries_alive() && output.canaries_alive(),
                "%s, %s: words left dirty, or a write outside", what.c_str(), in_order);
    for (size_t r = 0; r < wanted.size(); ++r) {
        u64 bits = 0;
        std::memcpy(&bits, output.data() + r * size, size);
        if (bits != wanted[r] && !(any_nan && is_nan(size, bits) && is_nan(size, wanted[r])))
            check::that(false, "%s, %s: result %zu of %zu: %llx, not %llx", what.c_str(), in_order,
                        r, wanted.size(), bits, wanted[r]);
    }
    check::that(true, "all results");
}

static std::string text(const char *type, const geometry &g, const how &given)
{
    char all[300];
    std::snprintf(all, sizeof all,
                  "%s, %s: outer %zu, n %zu, inner %zu, strides %zu and %zu, offset %zu; %u "
                  "multiprocessors, %zu blocks, %zu words",
                  type, g.name, g.outer, g.n, g.inner, g.outer_stride, g.stride, g.offset,
                  given.multiprocessors, given.blocks, given.words);
    return all;
}

namespace
{
/* An array whose results have one of a few patterns each, or what windows have; and what is right
 * of each. */
template <class T>
struct strided_case {
    std::vector<T> values;
    std::vector<u64> wanted;
    result_layout all = {};

    template <class Make, class Right>
    strided_case(const geometry &g, const Make &make, const Right &right, size_t patterns = 7)
    {
        const size_t stride = g.stride ? g.stride : g.inner,
                     outer_stride = g.outer_stride ? g.outer_stride : g.n * stride,
                     results = g.outer * g.inner,
                     span = g.n ? (g.outer - 1) * outer_stride + (g.n - 1) * stride + g.inner : 0;
        const bool apart = g.outer == 1 || outer_stride >= (g.n - 1) * stride + g.inner;
        all.end = results;
        all.n = g.n;
        all.inner = g.inner;
        all.outer_stride = outer_stride;
        all.stride = stride;
        values = make(span, patterns); /* gaps have elements like any others, which would show */
        const auto at = [&](size_t r, size_t k) -> T & {
            return values[r / g.inner * outer_stride + r % g.inner + k * stride];
        };
        std::vector<std::vector<T>> made;
        std::vector<u64> known;
        for (size_t p = 0; p < patterns; ++p) {
            made.push_back(make(g.n, p));
            known.push_back(right(made[p]));
        }
        std::vector<T> own(g.n);
        for (size_t r = 0; r < results; ++r) {
            const size_t p = check::mix(r, g.n) % patterns;
            for (size_t k = 0; apart && k < g.n; ++k) at(r, k) = made[p][k];
            for (size_t k = 0; !apart && k < g.n; ++k) own[k] = at(r, k);
            wanted.push_back(apart ? known[p] : right(own));
        }
    }
};

/* Segments in an array, with gaps between them or none, some before those that precede them, or all
 * from the first element on; their offsets of 32 or 64 bits. */
constexpr size_t at_once = SIZE_MAX;
template <class T>
struct segments_case {
    std::vector<int64_t> begins, ends;
    std::vector<T> values;
    std::vector<u64> wanted;
    check::buffer<int64_t> device;
    result_layout all = {};

    template <class Make, class Right>
    segments_case(const lengths &each, size_t gap, bool narrow, const Make &make,
                  const Right &right)
        : device(2 * each.size())
    {
        const size_t count = each.size();
        size_t at = gap == at_once ? 0 : gap;
        for (size_t s = 0; gap == at_once && s < count; ++s) {
            begins.push_back(0);
            ends.push_back(static_cast<int64_t>(each[s]));
            if (values.size() < each[s]) values = make(each[s], s);
        }
        for (size_t s = 0; gap != at_once && s < count; ++s) {
            const bool back = gap > 4 && s % gap == 3 && at > 100; /* overlaps those before */
            begins.push_back(static_cast<int64_t>(back ? at - 90 : at));
            ends.push_back(begins[s] + static_cast<int64_t>(each[s]));
            const std::vector<T> own = make(each[s], s);
            if (back) values.resize(std::max<size_t>(at, static_cast<size_t>(ends[s])));
            if (!back) {
                values.resize(at);
                values.insert(values.end(), own.begin(), own.end());
            }
            at = std::max(at, static_cast<size_t>(ends[s])) + gap * (s % 3);
            if (gap > 4 && each[s] == 0 && s % 2) { /* none where offsets decrease or are < 0 */
                ends[s] -= 5;
                if (s % 4 == 1) begins[s] = -1, ends[s] = 4;
            }
        }
        for (size_t s = 0; s < count; ++s) {
            const T *const from = values.data() + (begins[s] < 0 ? 0 : begins[s]);
            wanted.push_back(right(std::vector<T>(from, from + each[s])));
        }
        int32_t *const low = reinterpret_cast<int32_t *>(device.data());
        for (size_t s = 0; s < count; ++s) {
            if (narrow) {
                low[s] = static_cast<int32_t>(begins[s]);
                low[count + s] = static_cast<int32_t>(ends[s]);
            } else {
                device.data()[s] = begins[s];
                device.data()[count + s] = ends[s];
            }
        }
        all.begins = device.data();
        all.ends = narrow ? static_cast<const void *>(low + count) : device.data() + count;
        all.end = count;
        all.offset_bytes = narrow ? 4 : 8;
    }
};
} // namespace

static lengths random_lengths(size_t count, size_t below)
{
    lengths all(count);
    for (size_t s = 0; s < count; ++s) all[s] = check::mix(s, below) % below;
    return all;
}
static lengths with(lengths all, std::initializer_list<std::pair<size_t, size_t>> some)
{
    for (const auto &one : some) all[one.first] = one.second;
    return all;
}

#ifdef SMALL_AUTO
/* ---- AUTO ------------------------------------------------------------------------------------ */

/* A sum of floats, whose order shows; of bytes, in any order; of halves, by a kernel for two types;
 * a variance, whose partials have three words; an index; and maps, which do not commute. */
struct f32_sum {
    using T = float;
    using reducer = plain_reducer<float>;
    static constexpr const char *name = "f32";
    static constexpr unsigned share = 1, result_bytes = 4;
    static constexpr fastreduce_type type = FASTREDUCE_F32;
    static constexpr fastreduce_operator op = FASTREDUCE_SUM;
    static reducer make() { return {}; }
};
struct u8_sum {
    using T = unsigned char;
    using reducer = integer_reducer<unsigned char>;
    static constexpr const char *name = "u8";
    static constexpr unsigned share = 1, result_bytes = 8;
    static constexpr fastreduce_type type = FASTREDUCE_U8;
    static constexpr fastreduce_operator op = FASTREDUCE_SUM;
    static reducer make() { return {}; }
};
struct f16_sum {
    using T = f16;
    using reducer = reducer_variant<plain_reducer<bf16>, plain_reducer<f16>>;
    static constexpr const char *name = "f16";
    static constexpr unsigned share = 1, result_bytes = 4;
    static constexpr fastreduce_type type = FASTREDUCE_F16;
    static constexpr fastreduce_operator op = FASTREDUCE_SUM;
    static reducer make() { return as_group<reducer>(plain_reducer<f16>()); }
};
struct f64_variance {
    using T = double;
    using reducer = variance_reducer<double>;
    static constexpr const char *name = "f64";
    static constexpr unsigned share = 3, result_bytes = 8;
    static constexpr fastreduce_type type = FASTREDUCE_F64;
    static constexpr fastreduce_operator op = FASTREDUCE_VARIANCE;
    static reducer make() { return {}; }
};
struct f32_argmax {
    using T = float;
    using reducer = index_reducer<float>;
    static constexpr const char *name = "argmax";
    static constexpr unsigned share = 3, result_bytes = 8;
    static constexpr fastreduce_type type = FASTREDUCE_F32;
    static constexpr fastreduce_operator op = FASTREDUCE_ARGMAX;
    static reducer make() { return make_reducer<fastreduce::argmax, float>(); }
};

struct linear_map {
    unsigned factor, added;
};
struct first_then {
    linear_map operator()(linear_map a, linear_map b) const
    {
        return {a.factor * b.factor, a.added * b.factor + b.added};
    }
};
struct map_of {
    linear_map operator()(unsigned x) const { return {2 * x + 1, x >> 3}; }
};
struct u32_maps {
    using T = unsigned;
    using reducer = custom_reducer<unsigned, linear_map, first_then, map_of>;
    static constexpr const char *name = "maps";
    static constexpr unsigned share = 1, result_bytes = sizeof(linear_map);
    static constexpr fastreduce_type type = FASTREDUCE_DEFAULT_TYPE;
    static constexpr fastreduce_operator op = FASTREDUCE_SUM;
    static reducer make() { return reducer{{}, {}, {}, {1, 0}}; }
};

static void take(u64 z, unsigned *to) { *to = static_cast<unsigned>(z >> 20); }
static void take(u64 z, unsigned char *to) { *to = static_cast<unsigned char>(z >> 40); }
static void take(u64 z, f16 *to)
{
    to->bits = static_cast<unsigned short>((z >> 20 & 0x83ff) | (5 + z % 20) << 10);
}
template <class Real>
static void take(u64 z, Real *to)
{
    *to = std::ldexp(static_cast<Real>(static_cast<int64_t>(z)), static_cast<int>(z % 30) - 80);
}

template <class Of>
static std::vector<typename Of::T> elements(size_t n, u64 seed)
{
    std::vector<typename Of::T> all(n);
    for (size_t k = 0; k < n; ++k) take(check::mix(k, seed + 100), &all[k]);
    return all;
}

template <class Of>
static u64 right(const std::vector<typename Of::T> &x)
{
    u64 bits = 0;
    if (pairwise::result(Of::type, Of::op, x.data(), x.size(), &bits)) return bits;
    if constexpr (Of::op == FASTREDUCE_ARGMAX) {
        for (size_t k = 1; k < x.size(); ++k)
            if (x[k] > x[bits]) bits = k;
        return x.empty() ? ~u64(0) : bits;
    } else if constexpr (Of::type == FASTREDUCE_U8) {
        for (unsigned char one : x) bits += one;
    } else if constexpr (std::is_same<Of, u32_maps>::value) {
        linear_map all = {1, 0};
        for (unsigned one : x) all = first_then()(all, map_of()(one));
        std::memcpy(&bits, &all, sizeof all);
    }
    return bits;
}

template <class Of>
static void shape(const geometry &g, const how &given)
{
    using T = typename Of::T;
    strided_case<T> of(g, elements<Of>, right<Of>);
    const exact_input<T> input(of.values, g.offset);
    constexpr unsigned size = Of::result_bytes;
    of.all.input = input.data();
    of.all.result_bytes = size;
    expect(text(Of::name, g, given), given, of.wanted, size, Of::type == FASTREDUCE_F64,
           [&](void *to, fastreduce::workspace memory) {
               reduction_output<typename Of::reducer> output = {to, Of::make()};
               return launch(plan_results, kernels_of<typename Of::reducer, every_part>, of.all,
                             &output, {memory, nullptr, given.blocks, given.words});
           });
}

template <class Of>
static void segments(const lengths &each, const how &given, size_t gap = 0)
{
    using T = typename Of::T;
    static unsigned turn = 0;
    segments_case<T> of(each, gap, ++turn % 2, elements<Of>, right<Of>);
    const exact_input<T> input(of.values, gap % 4);
    constexpr unsigned size = Of::result_bytes;
    of.all.input = input.data();
    of.all.result_bytes = size;
    expect(text(Of::name, {"segments", each.size(), each[0], 1, gap, 0, 0}, given), given,
           of.wanted, size, Of::type == FASTREDUCE_F64,
           [&](void *to, fastreduce::workspace memory) {
               reduction_output<typename Of::reducer> output = {to, Of::make()};
               return launch(plan_results, kernels_of<typename Of::reducer, every_part>, of.all,
                             &output, {memory, nullptr, given.blocks, given.words});
           });
}

template <class Of>
static void rows()
{
    constexpr size_t p = pack<typename Of::T>::size;
    unsigned turn = 0;
    /* so many in a warp, with and without an incomplete pack behind a power of two of them */
    for (size_t n : {p, p + 1, 2 * p, 2 * p + 1, 3 * p - 1, 4 * p, 4 * p + 1, 5 * p, 7 * p + 1,
                     8 * p, 9 * p - 1, 13 * p, 16 * p + 1, 17 * p, 30 * p + 1, 32 * p})
        for (size_t count : {5, 77, 300}) {
            const size_t pitches[] = {0, n + 1, (n + p) / p * p};
            if (++turn % Of::share || (count == 300 && turn % 2)) continue;
            shape<Of>({"rows", count, n, 1, pitches[turn % 3], 1, turn % 3}, {turn % 2 ? 4u : 1u});
        }
    /* more than a few, which warps still reduce */
    for (size_t n : {33 * p - 1, 100 * p + 3, 257 * p - 1})
        if (Of::share == 1 || n > 140 * p) shape<Of>({"many rows", 1030, n, 1, 0, 1, 1}, {132});
    /* by blocks: of one tile, of few, of many, small and large */
    for (size_t n : {40 * p + 3, 512 * p, 512 * p + 1, 1024 * p + 1, 1300 * p, 9000 * p + 5})
        if (++turn % Of::share == 0)
            shape<Of>({"long rows", 3, n, 1, n + n % 2, 1, n % 3}, {turn % 2 ? 1u : 132u});
    shape<Of>({"long rows", 3, 3000 * p, 1, 0, 1, 0}, {132, 20, workspace_words});
    shape<Of>({"long rows", 3, 3000 * p, 1, 0, 1, 0}, {132, max_blocks, 50});
    shape<Of>({"launches", 300, 3 * p, 1, 3 * p + 1, 1, 0}, {1, 2, workspace_words});
    shape<Of>({"no words", 300, 3 * p, 1, 0, 1, 0}, {1, 20, 1});
    shape<Of>({"no elements", 40, 0, 1, 30, 1, 0}, {4});
    shape<Of>({"one row", 1, 3000, 1, 0, 0, 0}, {4});
}

template <class Of>
static void all_segments()
{
    using T = typename Of::T;
    const size_t few = most_of_few / sizeof(T), listed = most_of_block_of_few / sizeof(T);
    for (size_t below : {2, 9, 40, 200, 600}) {
        if (Of::share > 1 && below != 40) continue;
        segments<Of>(random_lengths(300, below), {4, 1, workspace_words}, below % 7);
        segments<Of>(random_lengths(130, below), {4});
    }
    segments<Of>(random_lengths(1000, 6), {4, 1, workspace_words}, 5);
    segments<Of>(random_lengths(1100, 20), {1}, 6);
    segments<Of>(with(random_lengths(1100, 20), {{7, 2000}, {1000, 4000}}), {1}, 1);
    segments<Of>(lengths(5, 0), {4});
    segments<Of>(lengths(100, 0), {4, 1, workspace_words});
    segments<Of>(with(lengths(300, 9), {{38, 3000}, {76, 700}}), {4, 1, workspace_words}, at_once);
    segments<Of>(with(lengths(40, 3), {{0, few}, {5, few + 1}, {6, 3 * few}, {39, few}}), {4}, 1);
    segments<Of>(lengths(100, few + 9), {132, 1, workspace_words});
    for (const size_t words : {workspace_words, result_queue::all_words + size_t(20)}) {
        segments<Of>(with(lengths(20, 30), {{3, listed}, {4, listed + 1}, {19, 3 * listed}}),
                     {4, max_blocks, words}, 1);
        segments<Of>(with(lengths(70, 5), {{3, listed + 1}, {4, 2 * listed + 1}}),
                     {1, max_blocks, words}, 2);
    }
    const size_t many = most_of_block / sizeof(T);
    segments<Of>(with(lengths(1030, 1), {{500, most_of_many + 1}, {501, many + 1}}), {2}, 1);
}

template <class Of>
static void columns()
{
    constexpr size_t p = pack<typename Of::T>::size;
    const how hows[] = {{132}, {1}, {1, 3, workspace_words}, {132, max_blocks, 700}, {4}};
    unsigned turn = 0;
    for (size_t n : {9u, 16u, 31u, 65u, 300u})
        for (size_t inner : {1, 2, 4, 8, 24, 33, 130}) {
            const size_t gap = ++turn % 3 == 0 ? 8 : 0, stride = inner == 1 ? 3 : inner + gap;
            if (Of::share > 1 && turn % 4) continue;
            shape<Of>({"columns", 1 + turn % 2, n, inner, turn % 4 == 1 ? n * stride + 5 : 0,
                       stride, turn % 5 == 2},
                      hows[turn % 5]);
        }
    for (const how &given : hows)
        for (size_t inner : {3, 16}) {
            if (Of::share > 1 && inner == 16) continue;
            shape<Of>({"long columns", 1, 9000, inner, 0, 0, 0}, given);
            shape<Of>({"columns", 1, 1030, 2 * inner, 0, 0, 1}, given);
        }
    for (size_t tiles : {8, 9, 10, 17})
        shape<Of>({"groups of blocks", 1, tiles * 2048 - 5, 2, 0, 0, 0}, {132});
    shape<Of>({"strided", 2, 20001, 1, 0, 3, 1}, {132});
    shape<Of>({"runs", 1, 40000, 8, 0, 0, 0}, {4, max_blocks, 40});
    shape<Of>({"transposed", 24, 50, 1, 1, 24, 0}, {4});
    shape<Of>({"windows of columns", 4, 33, 17, 17, 17, 1}, {4});
    shape<Of>({"windows in columns", 5, 40, 3, 1, 4, 0}, {4});
    shape<Of>({"planes", 70, 15, 7, 0, 0, 0}, {4});
    shape<Of>({"groups", 9, 20, 3, 1000, 0, 0}, {4});
    shape<Of>({"far apart", 30, p + 1, 1, 2 * p + 9, 1, 0}, {4});
    shape<Of>({"far apart", 9, 300, 1, 1000, 1, 0}, {4});
}

template <class Of>
static void few_elements()
{
    constexpr size_t p = pack<typename Of::T>::size;
    for (size_t n = 0; n <= 9; ++n) {
        shape<Of>({"a few", n % 2 ? 5000u : 1025u, n, 1, n + n / 2 + 1, 1, n % 3}, {4, 2, 1000});
        shape<Of>({"planes", 30, n, 5, 0, 0, n % 2}, {4});
    }
    shape<Of>({"one each", 60, 1, 1, 3, 2, 0}, {4});
    shape<Of>({"rows", 60, p - 1, 1, 0, 1, 0}, {4});
}

/* Whatever runtime call fails, of several launches: the status says so. */
static void failures()
{
    if (!asked_for("failures")) return;
    using reducer = f32_sum::reducer;
    const std::vector<float> x = elements<f32_sum>(40000, 1);
    const exact_input<float> input(x, 0);
    check::buffer<float> output(2000);
    result_layout all = {input.data(), 0, 2000, 16, 1, 20, 1, 4, 0, 0, nullptr, nullptr};
    for (const bool columns : {false, true}) {
        if (columns) all.stride = 2000, all.outer_stride = 1;
        fastreduce_status status = FASTREDUCE_ERROR_UNSUPPORTED;
        for (unsigned k = 1; status != 0; ++k) {
            reduction_output<reducer> to = {output.data(), {}};
            const auto before = simt::calls();
            simt::fail_call(k);
            status = launch(plan_results, kernels_of<reducer, every_part>, all, &to,
                            {{workspace().data(), FASTREDUCE_WORKSPACE_BYTES}, nullptr, 2});
            simt::fail_call(0);
            check::that((status == 0) == (simt::calls() - before < k), "call %u fails: status %d",
                        k, status);
        }
    }
}

template <class Of>
static void auto_of()
{
    const std::string name = Of::name;
    if (asked_for(name + "-rows")) rows<Of>();
    if (asked_for(name + "-segments")) all_segments<Of>();
    if (asked_for(name + "-columns")) columns<Of>();
    if (asked_for(name + "-few")) few_elements<Of>();
}

/* ---- AUTO's plans ---------------------------------------------------------------------------- */

/* How rows or, where n is 0, segments are shared, in numbers. For long rows: threads of a block,
 * runs of a row, tiles of a run, as a logarithm, and bytes asked for early. For others: results
 * of a warp and of a block; then chunks of a warp, lanes and chunks of a row, as logarithms, and
 * elements behind them; or elements of a segment by a warp and by a block, and tiles of a run at
 * least. */
struct rows_case {
    size_t results, n, pitch;
    how given;
    const char *wanted;
};
template <class Of>
static void expect_rows(std::initializer_list<rows_case> plans)
{
    const kernel_set e = sizes_of<typename Of::reducer>();
    for (const rows_case &of : plans) {
        result_layout all = {};
        all.end = of.results;
        all.n = of.n;
        all.inner = all.stride = 1;
        all.outer_stride = of.pitch ? of.pitch : of.n;
        if (of.n == 0) all.begins = &all;
        const launch_plan plan = (of.n == 0 ? plan_segments : plan_rows)(
            e, all, {of.given.multiprocessors, 0}, {{}, nullptr, of.given.blocks});
        const rows_plan &share = plan.share;
        char got[200];
        int at = 0;
        const auto say = [&](const char *format, auto... numbers) {
            at += std::snprintf(got + at, sizeof got - static_cast<size_t>(at), format, numbers...);
        };
        if (plan.kernel == small_tiles)
            say("threads %u, runs %u %u, %u", plan.threads, plan.array.runs, plan.array.run_log,
                plan.array.prefetch_bytes);
        else
            say("%zu %zu", share.per_warp, share.per_block);
        if (plan.kernel == segment_rows)
            say(", segments %zu %zu, %u%s", share.most_of_warp, share.most_of_block,
                share.least_run_log, share.few_segments ? " few" : "");
        else if (plan.kernel == short_rows)
            say(", chunks %u, %u %u %u%s%s%s", share.chunks, share.lanes_log, share.chunks_log,
                share.tail, share.vectors ? " vectors" : "", share.by_lanes ? " in turn" : "",
                share.prefetched ? " prefetched" : "");
        check::that(std::strcmp(got, of.wanted) == 0,
                    "%s, %zu x %zu, pitch %zu, %u multiprocessors: %s", Of::name, of.results, of.n,
                    of.pitch, of.given.multiprocessors, got);
    }
}

/* How columns are shared: lanes across, warps down, steps and tiles, as logarithms; blocks down,
 * results of a block and of a launch; words and bytes of shared memory. */
struct columns_case {
    size_t outer, n, inner, outer_stride, stride;
    how given;
    const char *wanted;
};
template <class Of>
static void expect_columns(std::initializer_list<columns_case> plans)
{
    const kernel_set e = sizes_of<typename Of::reducer>();
    for (const columns_case &of : plans) {
        result_layout all = {};
        all.end = of.outer * of.inner;
        all.n = of.n;
        all.inner = of.inner;
        all.stride = of.stride ? of.stride : of.inner;
        all.outer_stride = of.outer_stride ? of.outer_stride : of.n * all.stride;
        const launch_plan made = plan_columns(e, all, {of.given.multiprocessors, 0},
                                              {{}, nullptr, of.given.blocks, of.given.words});
        char got[200];
        std::snprintf(got, sizeof got, "%s%u %u %u %u, %u of %zu, %zu; %zu %zu%s",
                      made.kernel == vector_columns ? "wide, " : "", made.layout.across_log,
                      made.layout.warps_log, made.layout.steps_log, made.layout.run_log,
                      made.layout.down_blocks, made.block_results, made.most_results,
                      made.workspace_bytes / sizeof(status_word), made.shared_bytes,
                      made.layout.prefetched ? " prefetched" : "");
        check::that(std::strcmp(got, of.wanted) == 0,
                    "%s, %zu x %zu x %zu, strides %zu and %zu, %u multiprocessors: %s", Of::name,
                    of.outer, of.n, of.inner, of.outer_stride, of.stride, of.given.multiprocessors,
                    got);
    }
}

static void plans()
{
    if (!asked_for("plans")) return;
    const size_t b = max_blocks;
    expect_rows<f32_sum>({
        {4, 1, 0, {4}, "1 8, chunks 1, 0 0 0 prefetched"},
        {100, 4, 0, {4}, "1 8, chunks 1, 0 0 0 vectors prefetched"},
        {128, 4, 0, {4}, "1 8, chunks 1, 0 0 0 vectors prefetched"},
        {129, 4, 0, {4}, "2 16, chunks 1, 0 0 0 vectors prefetched"},
        {1000, 16, 0, {1}, "32 256, chunks 4, 2 0 0 vectors prefetched"},
        {300, 16, 17, {1}, "10 80, chunks 2, 2 0 0 prefetched"},
        {300, 17, 0, {1}, "10 80, chunks 2, 2 0 16 prefetched"},
        {300, 16, 20, {1}, "10 80, chunks 2, 2 0 0 vectors prefetched"},
        {300, 20, 0, {1}, "10 80, chunks 2, 2 0 16 prefetched"},
        {300, 33, 0, {1}, "10 80, chunks 3, 3 0 32 prefetched"},
        {5000, 64, 0, {4}, "16 128, chunks 8, 4 0 0 vectors prefetched"},
        {1024, 128, 0, {4}, "8 64, chunks 8, 5 0 0 vectors prefetched"},
        {1024, 129, 0, {132}, "threads 128, runs 1 0, 8192"},
        {1025, 129, 0, {132}, "1 8, chunks 1, 5 0 128 prefetched"},
        {5000, 256, 0, {1}, "4 32, chunks 8, 5 1 0 vectors prefetched"},
        {1025, 1024, 0, {4}, "1 8, chunks 8, 5 3 0 vectors prefetched"},
        {1025, 1028, 0, {4}, "1 8, chunks 8, 5 3 1024 prefetched"},
        {1025, 1029, 0, {4}, "threads 128, runs 1 0, 8192"},
        {3, 2048, 0, {4}, "threads 128, runs 1 0, 8192"},
        {3, 2049, 0, {4}, "threads 256, runs 1 0, 16384"},
        {3, 4096, 0, {4}, "threads 256, runs 1 0, 16384"},
        {3, 4097, 0, {4}, "threads 128, runs 3 0, 8192"},
        {3, 32764, 0, {4}, "threads 128, runs 16 0, 8192"},
        {3, 32765, 0, {4}, "threads 256, runs 8 0, 16384"},
        {200, 32768, 0, {132}, "threads 256, runs 8 0, 0"},
        {3, 1000000, 0, {4}, "threads 256, runs 62 2, 0"},
        {200, 1000000, 0, {132}, "threads 256, runs 31 3, 0"},
        {1, 68719476736, 0, {132}, "threads 256, runs 512 15, 0"},
        {2, 17592186044416, 0, {132}, "threads 256, runs 512 23, 0"},
        {2048, 1024, 0, {132}, "1 8, chunks 8, 5 3 0 vectors prefetched"},
        {2048, 1025, 0, {132}, "1 8, chunks 8, 5 3 1024"},
        {2048, 1024, 1025, {132}, "1 8, chunks 8, 5 3 0"},
        {16, 131072, 0, {132}, "threads 256, runs 32 0, 16384"},
        {16, 131073, 0, {132}, "threads 256, runs 33 0, 0"},
        {1, 0, 0, {4}, "1 1, segments 1024 16384, 2 few"},
        {63, 0, 0, {4}, "1 6, segments 1024 16384, 2 few"},
        {64, 0, 0, {4}, "1 6, segments 16384 16384, 2 few"},
        {96, 0, 0, {4}, "1 8, segments 16384 16384, 2 few"},
        {97, 0, 0, {4}, "1 8, segments 16384 16384, 2 few"},
        {128, 0, 0, {4}, "1 8, segments 16384 16384, 2 few"},
        {129, 0, 0, {4}, "1 8, segments 16384 16384, 2 few"},
        {1024, 0, 0, {4}, "2 16, segments 16384 16384, 2 few"},
        {1025, 0, 0, {4}, "2 16, segments 16384 131072, 2"},
        {1100, 0, 0, {1}, "5 40, segments 16384 131072, 2"},
        {9000, 0, 0, {1}, "36 288, segments 16384 131072, 2"},
        {1000000, 0, 0, {132}, "30 240, segments 16384 131072, 2"},
        {100000000, 0, 0, {132}, "2960 23680, segments 16384 131072, 2"},
        {300, 0, 0, {4, 1}, "38 304, segments 16384 16384, 2 few"},
        {300, 0, 0, {4, 3, 100000}, "13 104, segments 16384 16384, 2 few"},
    });
    expect_rows<f32_sum>({
        {2, 1ull << 34, 0, {4}, "threads 256, runs 512 13, 0"},
        {2, (1ull << 34) - 4, 0, {4}, "threads 256, runs 128 15, 0"},
        {2, 1ull << 44, 0, {4}, "threads 256, runs 512 23, 0"},
        {12, 0, 0, {4}, "1 1, segments 1024 16384, 2 few"},
        {304, 0, 0, {4, 1}, "38 304, segments 16384 16384, 2 few"},
        {13, 0, 0, {4}, "1 2, segments 1024 16384, 2 few"},
    });
    expect_rows<f32_argmax>({
        {2000, 64, 0, {4}, "16 128, chunks 2, 1 0 0 vectors in turn prefetched"},
        {2000, 128, 0, {4}, "8 64, chunks 2, 2 0 0 vectors in turn prefetched"},
        {2000, 300, 0, {132}, "1 8, chunks 2, 5 0 0 vectors in turn prefetched"},
        {2000, 1000, 0, {132}, "1 8, chunks 2, 5 0 0 vectors in turn prefetched"},
        {2000, 5000, 0, {132}, "1 8, chunks 2, 5 0 0 vectors in turn"},
    });
    expect_rows<u8_sum>({
        {2000, 330, 0, {1}, "16 128, chunks 2, 1 0 0 in turn prefetched"},
        {2000, 700, 0, {1}, "8 64, chunks 2, 2 0 0 in turn prefetched"},
        {2000, 1500, 0, {1}, "4 32, chunks 2, 3 0 0 in turn prefetched"},
        {2000, 3000, 0, {1}, "2 16, chunks 2, 4 0 0 in turn prefetched"},
        {2000, 6000, 0, {1}, "1 8, chunks 2, 5 0 0 vectors in turn"},
        {2000, 16, 0, {4}, "16 128, chunks 1, 0 0 0 vectors prefetched"},
        {2000, 128, 0, {4}, "16 128, chunks 4, 3 0 0 vectors prefetched"},
        {2000, 129, 0, {4}, "16 128, chunks 4, 3 0 128 prefetched"},
        {2000, 144, 0, {1}, "32 256, chunks 8, 3 0 128 prefetched"},
        {2000, 256, 0, {4}, "16 128, chunks 8, 4 0 0 vectors prefetched"},
        {2000, 272, 0, {4}, "16 128, chunks 2, 1 0 0 vectors in turn prefetched"},
        {2000, 512, 0, {4}, "8 64, chunks 2, 2 0 0 vectors in turn prefetched"},
        {1024, 512, 0, {4}, "8 64, chunks 2, 2 0 0 vectors in turn prefetched"},
        {1024, 513, 0, {4}, "threads 128, runs 1 0, 8192"},
        {2000, 1040, 0, {4}, "4 32, chunks 2, 3 0 0 vectors in turn prefetched"},
        {2000, 2080, 0, {132}, "1 8, chunks 2, 5 0 0 vectors in turn prefetched"},
        {2000, 8192, 0, {4}, "1 8, chunks 2, 5 0 0 vectors in turn"},
        {2000, 65536, 0, {4}, "1 8, chunks 2, 5 0 0 vectors in turn"},
        {2000, 65537, 0, {4}, "threads 128, runs 1 4, 0"},
        {20, 320, 0, {4}, "1 8, chunks 2, 5 0 0 vectors in turn prefetched"},
        {5, 480, 0, {132}, "1 8, chunks 2, 5 0 0 vectors in turn prefetched"},
        {2000, 300, 301, {4}, "16 128, chunks 2, 1 0 0 in turn prefetched"},
        {64, 0, 0, {4}, "1 6, segments 16384 65536, 2 few"},
        {96, 0, 0, {4}, "1 8, segments 16384 65536, 2 few"},
        {97, 0, 0, {4}, "1 8, segments 16384 65536, 2 few"},
        {128, 0, 0, {4}, "1 8, segments 16384 65536, 2 few"},
    });
    expect_rows<f64_variance>({
        {300, 2, 0, {1}, "10 80, chunks 1, 0 0 0 vectors prefetched"},
        {300, 9, 0, {1}, "10 80, chunks 2, 2 0 8 prefetched"},
        {300, 32, 0, {4}, "3 24, chunks 2, 4 0 0 vectors prefetched"},
        {1025, 256, 0, {4}, "1 8, chunks 4, 5 2 0 vectors prefetched"},
        {1025, 258, 0, {4}, "1 8, chunks 4, 5 2 256 prefetched"},
        {1025, 259, 0, {4}, "threads 64, runs 1 0, 4096"},
        {1025, 512, 0, {4}, "threads 64, runs 1 0, 4096"},
        {1025, 513, 0, {4}, "threads 128, runs 1 0, 8192"},
        {1024, 512, 0, {4}, "threads 128, runs 1 0, 8192"},
        {3, 1024, 0, {4}, "threads 128, runs 1 0, 8192"},
        {3, 1025, 0, {4}, "threads 256, runs 1 0, 16384"},
        {3, 5000, 0, {4}, "threads 128, runs 5 0, 8192"},
        {3, 20000, 0, {132}, "threads 256, runs 10 0, 16384"},
        {63, 0, 0, {4}, "1 6, segments 512 8192, 2 few"},
        {1025, 0, 0, {4}, "2 16, segments 16384 65536, 2"},
    });
    expect_columns<f32_sum>({
        {1, 0, 5, 0, 0, {4}, "5 0 0 0, 1 of 256, 549755813632; 0 0"},
        {1, 1, 33, 0, 0, {4}, "5 0 0 0, 1 of 256, 549755813632; 0 0 prefetched"},
        {1, 9, 1, 0, 3, {4}, "5 0 0 0, 1 of 256, 549755813632; 0 0 prefetched"},
        {7, 9, 1, 0, 3, {4}, "5 0 0 0, 1 of 256, 549755813632; 0 0 prefetched"},
        {7, 9, 1, 1, 7, {4}, "5 0 0 0, 1 of 256, 549755813632; 0 0 prefetched"},
        {1, 100, 4, 0, 0, {4}, "2 0 0 0, 1 of 32, 68719476704; 0 0 prefetched"},
        {1, 100, 4, 0, 5, {4}, "2 0 0 0, 1 of 32, 68719476704; 0 0 prefetched"},
        {1, 100, 8, 0, 8, {4}, "3 1 0 0, 1 of 32, 68719476704; 0 0 prefetched"},
        {3, 100, 8, 801, 8, {4}, "3 1 0 0, 1 of 32, 68719476704; 0 0 prefetched"},
        {1, 100, 300, 0, 0, {4}, "wide, 5 3 0 0, 1 of 128, 274877906816; 0 0 prefetched"},
        {1, 100, 300, 0, 301, {4}, "5 3 0 0, 1 of 32, 68719476704; 0 0 prefetched"},
        {70, 7, 7, 0, 0, {4}, "5 0 0 0, 1 of 256, 549755813632; 0 0 prefetched"},
        {70, 73, 7, 0, 0, {4}, "5 3 0 0, 1 of 32, 68719476704; 0 0 prefetched"},
        {70, 74, 7, 0, 0, {4}, "3 1 0 0, 1 of 32, 68719476704; 0 0 prefetched"},
        {70, 64, 8, 0, 0, {132}, "5 2 0 0, 1 of 64, 137438953408; 0 0 prefetched"},
        {1, 1024, 64, 0, 0, {4}, "wide, 4 3 0 0, 4 of 64, 34359738304; 256 0 prefetched"},
        {1, 1024, 4096, 0, 0, {132}, "wide, 5 3 0 0, 8 of 128, 34359738240; 32768 0"},
        {1, 65536, 4096, 0, 0, {132}, "wide, 5 3 5 0, 16 of 128, 17179869056; 73728 0"},
        {1, 65536, 4096, 0, 0, {4}, "wide, 5 3 6 0, 8 of 128, 34359738240; 32768 0"},
        {1, 1048576, 16, 0, 0, {132}, "wide, 2 3 1 0, 512 of 16, 67108848; 8320 0"},
        {1, 1048576, 16, 0, 0, {132, 50}, "wide, 2 3 5 0, 32 of 16, 16; 512 0"},
        {1, 1048576, 16, 0, 0, {132, b, 100}, "wide, 2 3 6 2, 4 of 16, 8589934576; 64 192"},
        {1, 1048576, 3, 0, 0, {132, 1}, "2 3 6 4, 1 of 4, 4; 0 80"},
        {1, 1073741824, 5, 0, 0, {132}, "3 3 6 1, 16384 of 8, 1048568; 84560 64"},
        {1, 1099511627776, 8, 0, 0, {132}, "wide, 1 3 6 10, 8192 of 8, 2097144; 66048 352"},
        {1, 20, 100000, 0, 0, {4, 7}, "wide, 5 0 1 0, 1 of 1024, 7168; 0 0 prefetched"},
        {1, 512, 4096, 0, 0, {4}, "wide, 5 2 3 0, 1 of 256, 549755813632; 0 0 prefetched"},
        {1, 513, 4096, 0, 0, {4}, "wide, 5 2 4 0, 1 of 256, 549755813632; 0 0"},
        {1, 2000, 1, 0, 2, {1}, "0 2 0 0, 1 of 2, 4294967294; 0 0 prefetched"},
    });
    expect_columns<u8_sum>({
        {1, 100, 8, 0, 0, {4}, "3 1 0 0, 1 of 32, 68719476704; 0 0 prefetched"},
        {1, 1000, 64, 0, 65, {132}, "5 3 0 0, 8 of 32, 8589934560; 1024 0 prefetched"},
        {1, 1048576, 24, 0, 0, {132}, "wide, 3 3 1 0, 512 of 32, 134217696; 25344 0"},
        {1, 1048576, 24, 0, 0, {132, b, 300}, "wide, 3 3 6 2, 4 of 32, 17179869152; 192 768"},
        {5, 300, 7, 0, 0, {4}, "3 3 0 0, 1 of 8, 17179869176; 0 0 prefetched"},
    });
    expect_columns<f64_variance>({
        {1, 100, 8, 0, 0, {4}, "3 1 0 0, 1 of 32, 68719476704; 0 0 prefetched"},
        {1, 1000, 64, 0, 65, {132}, "5 3 0 0, 8 of 32, 8589934560; 1536 0 prefetched"},
        {1, 1048576, 24, 0, 0, {132}, "5 3 4 0, 512 of 32, 134217696; 42048 0"},
        {1, 1048576, 24, 0, 0, {132, b, 300}, "5 3 6 5, 4 of 32, 17179869152; 288 3072"},
        {5, 300, 7, 0, 0, {4}, "3 3 0 0, 1 of 8, 17179869176; 0 0 prefetched"},
    });
}
#endif

#ifdef SMALL_EXACT
/* ---- EXACT ----------------------------------------------------------------------------------- */

/* Each result has a kind of data of its own, from number `first` on. */
template <class T>
struct exact_data_of {
    unsigned first;
    bool same; /* for all */
    std::vector<T> operator()(size_t n, u64 seed) const
    {
        return make<T>(static_cast<data>((same ? first : first + seed) % kinds), n, seed + first);
    }
};

template <class T>
static std::function<u64(const std::vector<T> &)> right_by(fastreduce_operator op, int precision)
{
    return [=](const std::vector<T> &x) {
        u64 bits = 0;
        fastreduce_host_reduce(x.data(), &bits, x.size(), type_of<T>, op,
                               precision == 53 ? FASTREDUCE_F64 : FASTREDUCE_F32);
        return bits;
    };
}

static unsigned turn = 0;

template <class T, class Source>
static void exact_call(const std::string &what, const how &given, fastreduce_operator op,
                       int precision, const std::vector<T> &values, size_t offset,
                       const std::vector<u64> &wanted, exact_results all)
{
    const exact_input<T> input(values, offset);
    all.layout.input = input.data();
    all.layout.result_bytes = precision == 53 ? 8 : 4;
    all.type = type_of<T>;
    all.op = op;
    all.precision = precision;
    expect(std::string("EXACT ") + fastreduce_operator_name(op) + " of " + what, given, wanted,
           all.layout.result_bytes, true, [&](void *to, fastreduce::workspace memory) {
               all.output = to;
               return launch_exact_results<T, Source, false>(all, memory, nullptr);
           });
}

template <class T, class Source>
static void exact_shape(fastreduce_operator op, const geometry &g, unsigned multiprocessors)
{
    const int precision = is_double<T> || ++turn % 2 ? 53 : 24;
    strided_case<T> of(g, exact_data_of<T>{turn, false}, right_by<T>(op, precision));
    exact_results all = {};
    all.layout = of.all;
    const how given = {multiprocessors};
    exact_call<T, Source>(text(fastreduce_type_name(type_of<T>), g, given), given, op, precision,
                          of.values, g.offset, of.wanted, all);
}

template <class T, class Source>
static void exact_segments(fastreduce_operator op, const lengths &each, unsigned multiprocessors,
                           size_t gap)
{
    const int precision = is_double<T> || ++turn % 2 ? 53 : 24;
    segments_case<T> of(each, gap, turn % 3, exact_data_of<T>{turn, false},
                        right_by<T>(op, precision));
    exact_results all = {};
    all.layout = of.all;
    all.layout.stride = 1;
    const how given = {multiprocessors};
    exact_call<T, Source>(text(fastreduce_type_name(type_of<T>),
                               {"segments", each.size(), each[0], 1, gap, 0, 0}, given),
                          given, op, precision, of.values, gap % 3, of.wanted, all);
}

template <class T, class Source>
static void exact_by(const char *part, std::initializer_list<fastreduce_operator> operators)
{
    if (!asked_for(std::string(fastreduce_type_name(type_of<T>)) + "-" + part)) return;
    turn = 0;
    for (fastreduce_operator op : operators) {
        for (size_t n : {1, 2, 3, 4, 5, 8, 9, 17, 33, 65, 130, 300})
            for (size_t count : {12, 40}) {
                if (count == 40 && n > 5) continue;
                exact_shape<T, Source>(op, {"rows", count, n, 1, n + n % 2, 1, n % 3},
                                       n % 2 ? 4 : 1);
                exact_shape<T, Source>(op, {"columns", 1, n, count, 0, 0, n % 2}, 4);
            }
        exact_shape<T, Source>(op, {"many", 1030, 3, 1, 0, 1, 0}, 1);
        exact_shape<T, Source>(op, {"none", 30, 0, 1, 5, 1, 0}, 4);
        exact_shape<T, Source>(op, {"planes", 3, 40, 5, 0, 0, 0}, 4);
        exact_shape<T, Source>(op, {"long rows", 3, 4097, 1, 4099, 1, 1}, 4);
        exact_shape<T, Source>(op, {"long columns", 1, 4096, 3, 0, 0, 0}, 4);
        exact_segments<T, Source>(op, random_lengths(60, 30), 4, 0);
        exact_segments<T, Source>(op, random_lengths(1100, 7), 1, 5);
        exact_segments<T, Source>(
            op, with(random_lengths(60, 9), {{5, 4096}, {6, 4097}, {40, 16384}, {59, 16385}}), 4,
            1);
    }
}

/* Numbers so many binades apart, up to what two doubles hold. */
template <class T, class Source>
static void exact_pairs(const char *part, std::initializer_list<fastreduce_operator> operators)
{
    if (!asked_for(std::string(fastreduce_type_name(type_of<T>)) + "-" + part)) return;
    for (fastreduce_operator op : operators)
        for (unsigned k = 0; k < 24; ++k) {
            const auto of = [&](size_t length, u64 seed) {
                const int apart = static_cast<int>(6 * k + seed);
                std::vector<T> x(length);
                for (size_t i = 0; i < length && i < 3; ++i) {
                    const u64 z = check::mix(i + 3 * k, seed);
                    u64 fraction = z >> 11 & ((1ull << fraction_bits<T>)-1);
                    if (z % 3 == 0) fraction &= fraction - 1; /* a few bits */
                    const u64 one = static_cast<u64>(most_exponent<T> / 2) << fraction_bits<T>;
                    x[i] = std::ldexp(from_bits<T>(one | (z % 5 ? fraction : 0)),
                                      -static_cast<int>(i) * apart + 4);
                    if (z & 1 << 8) x[i] = -x[i];
                }
                return x;
            };
            const geometry g = {"a sum and rests", 9, 5, 1, 0, 0, 0};
            const int precision = is_double<T> || k % 2 ? 53 : 24;
            strided_case<T> made(g, of, right_by<T>(op, precision));
            exact_results results = {};
            results.layout = made.all;
            exact_call<T, Source>(text(fastreduce_type_name(type_of<T>), g, {4}), {4}, op,
                                  precision, made.values, 0, made.wanted, results);
        }
}

/* Packs whose exponents lie so far apart that a double holds their sum, or just not. */
template <class T, class Source>
static void exact_spans(const char *part, std::initializer_list<fastreduce_operator> operators)
{
    if (!asked_for(std::string(fastreduce_type_name(type_of<T>)) + "-" + part)) return;
    for (fastreduce_operator op : operators)
        for (unsigned span = 0; span < 64; span += span < 20 ? 4 : 1) {
            const auto of = [&](size_t length, u64 seed) {
                std::vector<T> x(length);
                for (size_t i = 0; i < length; ++i) {
                    const u64 z = check::mix(i + 9 * seed, span);
                    const u64 one = static_cast<u64>(most_exponent<T> / 2) << fraction_bits<T>;
                    x[i] = std::ldexp(
                        from_bits<T>(one | (z >> 11 & ((1ull << fraction_bits<T>)-1))),
                        i % 4 == seed % 4 ? 0 : -static_cast<int>(span - z % (span / 4 + 1)));
                    if (z & 1 << 8) x[i] = -x[i];
                }
                return x;
            };
            const geometry g = {"spans", 20, 4 + span % 3, 1, 0, 0, 0};
            strided_case<T> made(g, of, right_by<T>(op, 53), 20);
            exact_results results = {};
            results.layout = made.all;
            exact_call<T, Source>(text(fastreduce_type_name(type_of<T>), g, {4}), {4}, op, 53,
                                  made.values, 0, made.wanted, results);
        }
}

/* Sums, quotients and roots halfway between two numbers, and a little beside, as a sum and what it
 * has lost: by round_sum and store_sum, which one thread calls. */
static void exact_rounding()
{
    if (!asked_for("rounding")) return;
    __extension__ using wide = __int128;
    const auto next_part = [](wide *rest) {
        const double part = static_cast<double>(*rest);
        *rest -= static_cast<wide>(part);
        return part;
    };
    const fastreduce_operator operators[] = {FASTREDUCE_SUM, FASTREDUCE_MEAN, FASTREDUCE_NORM2};
    for (u64 k = 0; k < 12000; ++k) {
        const u64 z = check::mix(k, 77), y = check::mix(k, 78);
        const fastreduce_operator op = operators[k % 3];
        constexpr int precisions[] = {24, 53, 11, 8};
        const int precision = precisions[k / 3 % (k % 2 ? 2 : 4)];
        const u64 tie = (z >> (63 - precision) | 1ull << precision) + (k / 6 % 3 == 0) - z % 2;
        const size_t n = static_cast<size_t>(y >> (8 + k / 18 % 50)) | 1;
        wide all = op == FASTREDUCE_MEAN    ? static_cast<wide>(tie) * static_cast<wide>(n)
                   : op == FASTREDUCE_NORM2 ? static_cast<wide>(tie) * static_cast<wide>(tie)
                                            : static_cast<wide>(tie);
        if (op == FASTREDUCE_MEAN && precision == 53 && z % 2) { /* near a power of two */
            unsigned bits = 0;
            while (n >> bits != 0) ++bits;
            const wide ties = (static_cast<wide>(1) << (53 + bits)) / static_cast<wide>(n);
            all = (ties - (ties % 2 == 0)) * static_cast<wide>(n);
        }
        unsigned room = 0;
        while (all >> (125 - room) == 0) ++room;
        all <<= y % (room + 1);
        room -= static_cast<unsigned>(y % (room + 1));
        all += static_cast<int>(z / 2 % 3) - 1;
        if (room < 60 && k % 4 == 1) /* units of a double beside it */
            all += (static_cast<int>(z / 8 % 5) - 2) * (static_cast<wide>(1) << (126 - room - 53));
        if (k % 5 == 0 && op != FASTREDUCE_NORM2) all = -all;
        wide rest = all;
        double part[2];
        for (double &one : part) one = next_part(&rest);
        const bool far = part[1] == 0 && z / 64 % 2; /* beyond 128 bits */
        if (far) part[1] = z / 128 % 2 ? 0x1p-60 : -0x1p-60;
        fastreduce_wide_accumulator total = {};
        fastreduce_host_accumulate_f64(part, &total, 2);
        const u64 wanted = fastreduce_detail_read(total.limb, FASTREDUCE_DETAIL_WIDE_DIGITS, -1074,
                                                  op, n, precision);
        const auto expect_bits = [&](const char *what, u64 &got) {
            check::that(got == wanted, "%s, %s of %a, %a, n %zu, %d bits: %llx, not %llx", what,
                        fastreduce_operator_name(op), part[0], part[1], n, precision, got, wanted);
            got = 0;
        };
        u64 bits = 0;
        round_sum<f16>(part[0], part[1], &bits, op, precision, n);
        expect_bits("round_sum", bits);
        store_sum<f16>(double_double{part[0], part[1]}, &bits, op, precision, n);
        expect_bits("store_sum", bits);
        if (precision >= 24) {
            round_sum<double>(part[0], part[1], &bits, op, precision, n);
            expect_bits("round_sum of doubles", bits);
            store_sum<double>(double_double{part[0], part[1]}, &bits, op, precision, n);
            expect_bits("store_sum of doubles", bits);
        }
        if (!far && rest == 0 && std::fabs(part[0]) > 0x1p54) { /* a sum that is not the nearest */
            const double sum = std::nextafter(part[0], z / 256 % 2 ? 0.0 : 2 * part[0]);
            wide lost = all - static_cast<wide>(sum);
            const double error = next_part(&lost);
            if (lost == 0) {
                store_sum<f16>(double_double{sum, error}, &bits, op, precision, n);
                expect_bits("store_sum of another sum", bits);
            }
        }
    }
}

/* Results that little decides, far below the rest, of which some is lost where lanes meet. */
template <class T, class Source>
static void exact_ties(const char *part, std::initializer_list<fastreduce_operator> operators)
{
    if (!asked_for(std::string(fastreduce_type_name(type_of<T>)) + "-" + part)) return;
    constexpr double most = DBL_MAX, root = 0x1.fffffffffffffp511;
    const double all[13][16] = {{1, 0x1p-24, 0x1p-127},
                                {1, 0x1p-24, 0x1p-63},
                                {1, 0x1p-24, 0x1p-64},
                                {1, 0x1p-24, 0x1p-65},
                                {-0x1p-2, -0x1p-26, 0x1p-90},
                                {-0x1p-2, -0x1p-26, -0x1p-90},
                                {0x1p27, 1, 0, 0, 1, 0x1p-30},
                                {0x1p54, 1, 0, 0, -0x1p53, 0x1p-60},
                                {0x1p25, 1, 0, 0, -0x1p24, 0x1p-36},
                                {0x1p54, 1, 0, 0, -0x1p53, -0x1p-60, 0x1p-100, -0x1p-100},
                                {0x1p54, 0, 0, 0, 1, 1, 0, 0, -0x1p54},
                                {0x1p54, 0, 0, 0, 1, 0, 0, 0, -0x1p54},
                                {-0x1p100, 0x1p40, 0x1p-20, 0x1p-80, 0x1p100, 1}},
                 greatest[][16] = {{most, 0x1p969, 0x1p969},
                                   {root, 0x1p485, 0x1p485, 0x1p485},
                                   {most, -0x1p969, most, -most},
                                   {0x1p-485, 0x1p-484, 0x1p-538},
                                   {0x1.0000001p-484, 0x1p-484, 0x1.0000001p-485, 0x1p-1074},
                                   {0x1.0000001p-511, 0x1p-530, 0x1p-540},
                                   {0x1p-510, -0x1.8p-537, 0x1p-1070}};
    for (fastreduce_operator op : operators)
        for (unsigned zeros : {0, 1, 9})
            for (bool columns : {false, true}) {
                const size_t n = 16 * (zeros + 1);
                const auto of = [&](size_t length, u64 seed) {
                    const double *const from =
                        is_double<T> && zeros == 1 ? greatest[seed % 7] : all[seed % 13];
                    std::vector<T> x(length);
                    for (size_t k = 0; k < length; k += zeros + 1)
                        x[k] = static_cast<T>(from[k / (zeros + 1) % 16]);
                    return x;
                };
                for (int precision : {24, 53}) {
                    if (is_double<T> && precision == 24) continue;
                    const geometry g = {"ties", columns ? 1u : 30u, n, columns ? 30u : 1u, 0, 0, 0};
                    strided_case<T> made(g, of, right_by<T>(op, precision), 13);
                    exact_results results = {};
                    results.layout = made.all;
                    exact_call<T, Source>(text(fastreduce_type_name(type_of<T>), g, {4}), {4}, op,
                                          precision, made.values, 0, made.wanted, results);
                }
            }
}

static void exact()
{
    const std::initializer_list<fastreduce_operator> sums = {FASTREDUCE_SUM, FASTREDUCE_MEAN,
                                                             FASTREDUCE_SUM_ABS},
                                                     squares = {FASTREDUCE_SUM_SQUARES,
                                                                FASTREDUCE_NORM2},
                                                     variance = {FASTREDUCE_VARIANCE};
    exact_pairs<float, doubles_masked>("sums", sums);
    exact_pairs<float, doubles_masked>("squares", squares);
    exact_pairs<double, doubles_masked>("sums", sums);
    exact_pairs<double, exact_products<double>>("squares", squares);
    exact_rounding();
    exact_spans<float, doubles_masked>("sums", sums);
    exact_spans<float, doubles_masked>("squares", squares);
    exact_ties<float, doubles_masked>("sums", sums);
    exact_ties<float, doubles_masked>("squares", squares);
    exact_ties<double, doubles_masked>("sums", sums);
    exact_ties<double, exact_products<double>>("squares", squares);
    exact_by<float, doubles_masked>("sums", sums);
    exact_by<float, doubles_masked>("squares", squares);
    exact_by<float, exact_moments<float>>("variance", variance);
    exact_by<f16, doubles_masked>("sums", sums);
    exact_by<f16, doubles_masked>("squares", squares);
    exact_by<double, doubles_masked>("sums", sums);
    exact_by<double, exact_products<double>>("squares", squares);
    exact_by<double, exact_moments<double>>("variance", variance);
}
#endif

int main(int argc, char **argv)
{
    parse_parts(argc, argv);
    workspace().fill(0);
#ifdef SMALL_AUTO
    plans();
    failures();
    auto_of<f32_sum>();
    auto_of<u8_sum>();
    auto_of<f16_sum>();
    auto_of<f64_variance>();
    auto_of<f32_argmax>();
    auto_of<u32_maps>();
#endif
#ifdef SMALL_EXACT
    exact();
#endif
    return check::finish("small shapes");
}

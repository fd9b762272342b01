/* fastreduce_reduce_by_index: of every type, by every operator that it has, each bin's result has
 * the bits of the CPU's for the elements of the bin, in whatever order they come and however many
 * there are; with fewer and more bins than the table in shared memory holds, and in several
 * launches; the workspace stays zeroed; in a captured graph; refusals. Inputs end where their
 * memory does. Parts: names of types, `refusals`; `quick` for less of each. */
#include <cuda_runtime.h>
#ifndef FASTREDUCE_WITH_BY_INDEX
#define FASTREDUCE_WITH_BY_INDEX
#endif
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_NO_LADDER
#define FASTREDUCE_OPERATORS                                                                \
    FASTREDUCE_SUM, FASTREDUCE_SUM_ABS, FASTREDUCE_MEAN, FASTREDUCE_MIN, FASTREDUCE_MAX,    \
        FASTREDUCE_ARGMIN, FASTREDUCE_ARGMAX, FASTREDUCE_MAX_ABS, FASTREDUCE_COUNT_NONZERO, \
        FASTREDUCE_PRODUCT, FASTREDUCE_MIN_MAX
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/dynamic_shared.h"
#include "../common/elements.h"
#include "../common/exact_input.h"
#include "../common/order.h"
#include "../common/parts.h"
#include "../common/turns.h"

namespace detail = fastreduce::detail;

static bool many; /* sizes and ways, on a GPU without `quick` */

struct call {
    fastreduce_operator op;
    fastreduce_kernel kernel;
    fastreduce_type output_type = FASTREDUCE_DEFAULT_TYPE;
};
template <class T>
static std::vector<call> calls_of()
{
    std::vector<call> all;
    if (is_float<T>) {
        for (fastreduce_operator op : {FASTREDUCE_SUM, FASTREDUCE_SUM_ABS, FASTREDUCE_MEAN}) {
            all.push_back({op, FASTREDUCE_EXACT});
            if (sizeof(T) < 8) all.push_back({op, FASTREDUCE_EXACT, FASTREDUCE_F64});
            if (sizeof(T) < 4) all.push_back({op, FASTREDUCE_EXACT, type_of<T>});
        }
    } else {
        all.push_back({FASTREDUCE_SUM, FASTREDUCE_AUTO});
    }
    for (fastreduce_operator op : {FASTREDUCE_MIN, FASTREDUCE_MAX, FASTREDUCE_ARGMIN,
                                   FASTREDUCE_ARGMAX, FASTREDUCE_MAX_ABS, FASTREDUCE_COUNT_NONZERO})
        all.push_back({op, FASTREDUCE_AUTO});
    return all;
}

/* ---- Data ---- */

enum class indices { random, sorted, half_in_one, few, one, mostly_outside };
constexpr const char *index_names[] = {"random",        "sorted",     "half in one",
                                       "few have most", "all in one", "mostly outside"};

/* Element i's index. Where bins are several, the last is empty, unless they are sorted. */
static long long index_of(indices kind, size_t i, size_t n, size_t bins, u64 seed)
{
    const u64 z = check::mix(i, seed + 99);
    const size_t some = bins > 1 ? bins - 1 : 1;
    const double share = std::ldexp(static_cast<double>(z >> 11), -53);
    switch (kind) {
    case indices::sorted: return static_cast<long long>(i * bins / n);
    case indices::half_in_one: return static_cast<long long>(z & 1 << 20 ? some / 2 : z % some);
    case indices::few: /* Zipf's law */
        return static_cast<long long>(
            std::min(std::pow(static_cast<double>(some + 1), share) - 1.0, double(some - 1)));
    case indices::one: return static_cast<long long>(some / 2);
    case indices::mostly_outside: {
        const long long outside[] = {-1, static_cast<long long>(bins), INT32_MIN, INT32_MAX,
                                     static_cast<long long>(bins) + 1};
        return z % 8 < 5 ? outside[z % 8] : static_cast<long long>(z / 8 % some);
    }
    default: return static_cast<long long>(z % some);
    }
}

/* Floats also have infinities and several NaNs, in some bins. */
template <class T>
static std::vector<T> values_of(data kind, const std::vector<long long> &index, u64 seed)
{
    std::vector<T> values = make<T>(kind, index.size(), seed);
    if constexpr (is_float<T>)
        for (size_t i = 0; i < values.size(); ++i) {
            const u64 z = check::mix(i, seed + 7);
            const u64 nan = index[i] % 15 == 3 ? z / 16 % 3 : 0, sign = z / 64 % 2 * sign_bit<T>;
            if (index[i] % 5 == 3 && z % 16 == 0)
                values[i] = from_bits<T>(infinity_bits<T> | nan | (index[i] % 10 == 3 ? sign : 0));
            if (index[i] % 35 == 13 && z % 16 == 1) values[i] = from_bits<T>(infinity_bits<T>);
            if (index[i] % 4 == 1 && z % 8 == 2) values[i] = from_bits<T>(sign_bit<T>);
        }
    return values;
}

/* ---- What is right ---- */

static bool is_nan(fastreduce_type type, u64 bits)
{
    return type < FASTREDUCE_I8 && std::isnan(result_of(type, bits));
}

/* The first `n` elements, and each bin's result as the CPU has it. */
template <class T>
struct grouping {
    size_t bins;
    std::vector<long long> index;
    std::vector<T> values;
    std::vector<std::vector<T>> elements;    /* of each bin */
    std::vector<std::vector<size_t>> places; /* where they are */
    char text[120];

    grouping(size_t n, size_t bin_count, indices order, data kind, u64 seed = 0)
        : bins(bin_count), index(n)
    {
        std::snprintf(text, sizeof text, "%s, %zu to %zu bins, %s, %s",
                      fastreduce_type_name(type_of<T>), n, bins,
                      index_names[static_cast<int>(order)], data_names[static_cast<int>(kind)]);
        for (size_t i = 0; i < n; ++i) index[i] = index_of(order, i, n, bins, seed);
        values = values_of<T>(kind, index, seed);
        take(n);
    }
    /* Counts the first n only. */
    void take(size_t n)
    {
        elements.assign(bins, {});
        places.assign(bins, {});
        for (size_t i = 0; i < n; ++i) {
            if (index[i] < 0 || index[i] >= static_cast<long long>(bins)) continue;
            elements[static_cast<size_t>(index[i])].push_back(values[i]);
            places[static_cast<size_t>(index[i])].push_back(i);
        }
    }
    u64 wanted(const call &c, size_t bin) const
    {
        u64 bits = 0;
        const std::vector<T> &x = elements[bin];
        const auto reduce =
            c.kernel == FASTREDUCE_EXACT ? fastreduce_host_reduce : fastreduce_host_pairwise;
        const fastreduce_status status =
            reduce(x.data(), &bits, x.size(), type_of<T>, c.op, c.output_type);
        if (status != 0) check::that(false, "%s: the CPU refuses", text);
        const bool finds = c.op == FASTREDUCE_ARGMIN || c.op == FASTREDUCE_ARGMAX;
        return finds && !x.empty() ? places[bin][bits] : bits;
    }
    void compare(const call &c, const std::vector<unsigned char> &got, const char *what) const
    {
        const fastreduce_type type = c.output_type != FASTREDUCE_DEFAULT_TYPE
                                         ? c.output_type
                                         : fastreduce_output_type(type_of<T>, c.op);
        const size_t size = fastreduce_type_size(type);
        size_t wrong = 0, first = 0;
        u64 first_got = 0, first_wanted = 0;
        for (size_t bin = 0; bin < bins; ++bin) {
            u64 bits = 0;
            std::memcpy(&bits, &got[bin * size], size);
            const u64 right = wanted(c, bin);
            if (bits == right || (is_nan(type, bits) && is_nan(type, right))) continue;
            if (wrong++ > 0) continue;
            first = bin;
            first_got = bits;
            first_wanted = right;
        }
        check::that(wrong == 0, "%s, %s %s, %s: %zu wrong, the first %zu of %zu: %llx, not %llx",
                    text, fastreduce_kernel_name(c.kernel), fastreduce_operator_name(c.op), what,
                    wrong, first, wrong ? elements[first].size() : 0, first_got, first_wanted);
    }
};

/* ---- Calls ---- */

/* How a call is made. */
struct way {
    size_t input_offset, index_offset; /* from a multiple of 256 bytes */
    bool narrow, counted, pool;        /* 32-bit indices; n on the device; memory of the pool */
};

template <class Index>
static std::vector<Index> converted(const std::vector<long long> &index)
{
    return std::vector<Index>(index.begin(), index.end());
}

template <class T, class Index>
static void reduce(grouping<T> &g, const call &c, const way &how)
{
    const size_t n = g.index.size(), fewer = how.counted ? n - n / 3 : n;
    const exact_input<T> input(g.values, how.input_offset);
    const exact_input<Index> index(converted<Index>(g.index), how.index_offset);
    fastreduce_config config = {};
    config.kernel = c.kernel;
    config.output_type = c.output_type;
    config.offset_type = sizeof(Index) == 4 ? FASTREDUCE_I32 : FASTREDUCE_I64;
    const size_t size = fastreduce_type_size(c.output_type != FASTREDUCE_DEFAULT_TYPE
                                                 ? c.output_type
                                                 : fastreduce_output_type(type_of<T>, c.op)),
                 bytes = fastreduce_by_index_workspace_bytes(g.bins, type_of<T>, c.op, &config);
    check::buffer<unsigned char> output(g.bins * size, how.input_offset * size);
    check::buffer<unsigned char> workspace(bytes);
    check::buffer<size_t> length(1);
    length.set(&fewer);
    workspace.fill(0);
    if (how.counted) config.n_on_device = length.data();
    if (!how.pool) {
        config.workspace = workspace.data();
        config.workspace_bytes = bytes;
    }
    const char *const schedule = order::next();
    const fastreduce_status status = fastreduce_reduce_by_index(
        input.data(), index.data(), output.data(), n, g.bins, type_of<T>, c.op, &config);
    CUDA(cudaDeviceSynchronize());
    order::usual();
    check::that(status == 0, "%s %s: status %d %s", g.text, fastreduce_operator_name(c.op), status,
                order::report());
    check::that(output.canaries_alive() && workspace.canaries_alive(), "%s %s: a write outside",
                g.text, fastreduce_operator_name(c.op));
    check::that(workspace.every_byte_is(0), "%s %s: the workspace", g.text,
                fastreduce_operator_name(c.op));
    if (how.counted) g.take(fewer);
    g.compare(c, output.get(), schedule);
    if (how.counted) g.take(n);
}
template <class T>
static void reduce(grouping<T> &g, const call &c, const way &how)
{
    how.narrow ? reduce<T, int>(g, c, how) : reduce<T, long long>(g, c, how);
}

constexpr way all_ways[] = {{0, 0, false, false, false},
                            {0, 0, true, true, true},
                            {1, 3, true, false, false},
                            {3, 1, false, true, false}};

/* In several launches: of few elements each, between which limbs carry, and of few bins. The device
 * may say that the first elements are all. */
template <class T>
static void in_parts(grouping<T> &g, const call &c, bool counted)
{
    const size_t n = g.index.size(), fewer = n - n / 4;
    check::buffer<size_t> length(1);
    length.set(&fewer);
    const exact_input<T> input(g.values, 0);
    const exact_input<int> index(converted<int>(g.index), 0);
    const size_t size = fastreduce_type_size(fastreduce_output_type(type_of<T>, c.op));
    check::buffer<unsigned char> output(g.bins * size);
    fastreduce_config config = {};
    config.kernel = c.kernel;
    const detail::call_settings settings = detail::settings_for(&config, type_of<T>, c.op);
    const detail::index_set &set = *detail::find_index_set(settings);
    detail::index_launch launch = detail::launch_of(c.op);
    launch.input = input.data();
    launch.index = index.data();
    launch.bins = g.bins;
    launch.output = output.data();
    launch.index_bytes = sizeof(int);
    launch.result_bytes = static_cast<unsigned>(size);
    launch.precision = settings.precision;
    launch.in_vectors = true;
    if (counted) launch.n_on_device = length.data();
    check::buffer<unsigned char> workspace(
        fastreduce_by_index_workspace_bytes(g.bins, type_of<T>, c.op, &config));
    workspace.fill(0);
    detail::launch_options options = {{workspace.data(), workspace.bytes()}, nullptr};
    options.most_additions = n / 24 * 8;
    options.most_bins = g.bins / 2 + 1;
    const fastreduce_status status = detail::launch_by_index(set, launch, n, options);
    CUDA(cudaDeviceSynchronize());
    check::that(status == 0, "%s in parts: status %d", g.text, status);
    check::that(output.canaries_alive() && workspace.canaries_alive(),
                "%s in parts: a write outside", g.text);
    check::that(workspace.every_byte_is(0), "%s in parts: the workspace", g.text);
    if (counted) g.take(fewer);
    g.compare(c, output.get(), "in parts");
    g.take(n);
}

/* Sums with a power of two, up to where 128 bits no longer hold them. One is that power alone,
 * though words that cancel are not zero: floats below 8 have another plane than 8. */
template <class T>
static void powers()
{
    grouping<T> g(8, 2, indices::sorted, data::usual);
    for (int exponent = 0; exponent < 120; ++exponent) {
        const T power = std::ldexp(T(1), exponent);
        g.values = {T(1.5), power, T(0), T(0), T(4), T(4), T(-8), -power};
        g.take(8);
        reduce(g, call{FASTREDUCE_SUM, FASTREDUCE_EXACT}, all_ways[0]);
    }
}

/* Counts indices, without elements. */
static void count_indices()
{
    grouping<int> g(20011, 130, indices::mostly_outside, data::near_one);
    const exact_input<long long> index(g.index, 1);
    check::buffer<u64> output(g.bins);
    const fastreduce_status status =
        fastreduce_reduce_by_index(nullptr, index.data(), output.data(), g.index.size(), g.bins,
                                   FASTREDUCE_F32, FASTREDUCE_COUNT_NONZERO, nullptr);
    CUDA(cudaDeviceSynchronize());
    check::that(status == 0, "no elements: status %d", status);
    const std::vector<u64> got = output.get();
    for (size_t bin = 0; bin < g.bins; ++bin)
        check::that(got[bin] == g.elements[bin].size(), "no elements, bin %zu: %llu", bin,
                    got[bin]);
}

#ifdef SIMT_MACHINE
/* Every call of the runtime fails once: an error comes back, nothing leaks, and with a clean
 * workspace the next one is right. */
static void failures()
{
    const call c = {FASTREDUCE_MEAN, FASTREDUCE_EXACT};
    grouping<float> g(3001, 70, indices::random, data::usual);
    const exact_input<float> input(g.values, 0);
    const exact_input<long long> index(g.index, 0);
    fastreduce_config config = {};
    config.kernel = c.kernel;
    check::buffer<unsigned char> output(g.bins * sizeof(float)),
        workspace(fastreduce_by_index_workspace_bytes(g.bins, FASTREDUCE_F32, c.op, &config));
    const auto reduce = [&](bool pool) {
        config.workspace = pool ? nullptr : workspace.data();
        config.workspace_bytes = workspace.bytes();
        return fastreduce_reduce_by_index(input.data(), index.data(), output.data(),
                                          g.values.size(), g.bins, FASTREDUCE_F32, c.op, &config);
    };
    for (bool pool : {false, true}) {
        workspace.fill(0);
        check::that(reduce(pool) == 0, "the first call, which asks for more");
        const unsigned long long before = simt::calls();
        check::that(reduce(pool) == 0, "the second call");
        const unsigned calls = static_cast<unsigned>(simt::calls() - before);
        const size_t live = simt::live_allocations();
        for (unsigned k = 1; k <= calls; ++k) {
            workspace.fill(0);
            simt::fail_call(k);
            const fastreduce_status status = reduce(pool);
            simt::fail_call(0);
            check::that(status > 0, "runtime call %u of %u failed, status %d", k, calls, status);
            check::that(simt::live_allocations() == live + (pool && k == calls),
                        "runtime call %u of %u failed, memory leaked", k, calls);
            workspace.fill(0);
            check::that(reduce(pool) == 0, "after failure %u", k);
            g.compare(c, output.get(), "after a failure");
        }
    }
}
#else
/* Each replay reads what is in the buffers then. */
template <class T>
static void in_graph(const call &c)
{
    grouping<T> now(50021, 3000, indices::random, data::usual),
        later(50021, 3000, indices::half_in_one, data::usual, 5);
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    fastreduce_config config = {};
    config.kernel = c.kernel;
    config.output_type = c.output_type;
    const size_t size = fastreduce_type_size(c.output_type != FASTREDUCE_DEFAULT_TYPE
                                                 ? c.output_type
                                                 : fastreduce_output_type(type_of<T>, c.op)),
                 n = now.index.size(),
                 bytes = fastreduce_by_index_workspace_bytes(now.bins, type_of<T>, c.op, &config);
    check::buffer<T> input(n);
    check::buffer<long long> index(n);
    check::buffer<unsigned char> output(now.bins * size), workspace(bytes);
    workspace.fill(0);
    config.workspace = workspace.data();
    config.workspace_bytes = bytes;
    CUDA(cudaStreamCreateWithFlags(&config.stream, cudaStreamNonBlocking));
    CUDA(cudaStreamBeginCapture(config.stream, cudaStreamCaptureModeGlobal));
    check::that(fastreduce_reduce_by_index(input.data(), index.data(), output.data(), n, now.bins,
                                           type_of<T>, c.op, &config) == 0,
                "%s: capture", now.text);
    CUDA(cudaStreamEndCapture(config.stream, &graph));
    CUDA(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    for (const grouping<T> *one : {&now, &later, &now}) {
        input.set(one->values);
        index.set(one->index);
        CUDA(cudaDeviceSynchronize());
        CUDA(cudaGraphLaunch(executable, config.stream));
        CUDA(cudaStreamSynchronize(config.stream));
        one->compare(c, output.get(), "in a graph");
        check::that(workspace.every_byte_is(0), "%s: the workspace of a graph", one->text);
    }
    CUDA(cudaGraphExecDestroy(executable));
    CUDA(cudaGraphDestroy(graph));
    CUDA(cudaStreamDestroy(config.stream));
}

/* So many elements of one bin that its words overflow, if nothing carries between launches: 2^30 of
 * one value, then 2^28 of another. The wanted sum is that of both products, which are exact. */
template <class T>
static void overflow()
{
    const size_t n[] = {size_t(1) << 30, size_t(1) << 28}, all = n[0] + n[1];
    size_t free_bytes = 0, all_bytes = 0;
    CUDA(cudaMemGetInfo(&free_bytes, &all_bytes));
    if (free_bytes < all * (sizeof(T) + 2 * sizeof(int))) return;
    check::buffer<T> input(all), output(1);
    check::buffer<int> index(all);
    T value[2], wanted = 0;
    for (int k = 0; k < 2; ++k) {
        std::memset(value + k, 0x40 + k, sizeof(T));
        CUDA(cudaMemset(input.data() + k * n[0], 0x40 + k, n[k] * sizeof(T)));
        value[k] *= static_cast<T>(n[k]);
    }
    CUDA(cudaMemset(index.data(), 0, all * sizeof(int)));
    fastreduce_config exact = {};
    exact.kernel = FASTREDUCE_EXACT;
    exact.offset_type = FASTREDUCE_I32;
    const fastreduce_status status = fastreduce_reduce_by_index(
        input.data(), index.data(), output.data(), all, 1, type_of<T>, FASTREDUCE_SUM, &exact);
    const T got = output.get()[0];
    fastreduce_host_reduce(value, &wanted, 2, type_of<T>, FASTREDUCE_SUM, FASTREDUCE_DEFAULT_TYPE);
    check::that(status == 0 && got == wanted, "2^30 in a bin: status %d, %.17g, not %.17g", status,
                double(got), double(wanted));
}
#endif

template <class T>
static void type()
{
    if constexpr (detail::holds(detail::built_types, type_of<T>)) {
        if (!asked_for(fastreduce_type_name(type_of<T>))) return;
        constexpr data kinds[] = {data::usual, data::few, data::wide, data::mixed, data::shifted};
        constexpr indices orders[] = {indices::random, indices::sorted, indices::half_in_one,
                                      indices::few,    indices::one,    indices::mostly_outside};
        const struct {
            size_t n, bins;
        } sizes[] = {{0, 3},         {1, 1},         {7, 2},
                     {8, 1},         {1000, 64},     {8191, 200},
                     {8193, 1},      {20003, 1500},  {9001, 6000},
                     {30011, 20000}, {12007, 40000}, {size_t(many ? 3000017 : 40009), 1000}};
        size_t turn = 0;
        const std::vector<call> calls = calls_of<T>();
        for (const auto &s : sizes)
            for (indices order : orders) {
                if (!many && ++turn % 3 != s.bins % 3 && s.n > 1000) continue;
                grouping<T> g(s.n, s.bins, order, kinds[(s.n + turn + unsigned(order)) % 5], turn);
                for (const call &c : calls) {
                    ++turn;
                    for (const way &how : all_ways)
                        if (many || s.n < 1000 || &how == all_ways + turn % 4) reduce(g, c, how);
                }
            }
        for (data kind : kinds)
            for (indices order : {indices::random, indices::mostly_outside}) {
                grouping<T> g(5003, 400, order, kind, 3);
                for (const call &c : calls)
                    if (c.output_type == FASTREDUCE_DEFAULT_TYPE)
                        in_parts(g, c, order == indices::random);
            }
        if constexpr (std::is_floating_point_v<T>) powers<T>();
#ifndef SIMT_MACHINE
        for (const call &c : calls) in_graph<T>(c);
        if constexpr (std::is_floating_point_v<T>)
            if (many) overflow<T>();
#endif
    }
}

/* ---- Refusals ---- */

static void refusals()
{
    constexpr size_t n = 40, bins = 10;
    check::buffer<float> input(n + 1), output(bins);
    check::buffer<long long> index(n + 1);
    check::buffer<size_t> length(1);
    check::buffer<unsigned char> workspace(65536);
    output.fill(0x7b);
    workspace.fill(0);
    struct given {
        const void *input, *index;
        void *output;
        size_t n = 40, bins = 10;
        fastreduce_type type = FASTREDUCE_F32;
        fastreduce_operator op = FASTREDUCE_SUM;
    };
    const given good = {input.data(), index.data(), output.data()};
    fastreduce_config exact = {};
    exact.kernel = FASTREDUCE_EXACT;
    const auto refuse = [&](const char *what, fastreduce_status wanted, const given &g,
                            const fastreduce_config &config) {
        const fastreduce_status got = fastreduce_reduce_by_index(g.input, g.index, g.output, g.n,
                                                                 g.bins, g.type, g.op, &config);
        CUDA(cudaDeviceSynchronize());
        check::that(got == wanted, "%s: status %d, not %d", what, got, wanted);
        check::that(output.every_byte_is(0x7b) && workspace.every_byte_is(0), "%s: a write", what);
    };
    constexpr fastreduce_status invalid = FASTREDUCE_ERROR_INVALID_ARGUMENT,
                                unsupported = FASTREDUCE_ERROR_UNSUPPORTED;
    const auto with = [&](auto member, auto value) {
        given g = good;
        g.*member = value;
        return g;
    };
    const auto changed = [&](auto member, auto value) {
        fastreduce_config config = exact;
        config.*member = value;
        return config;
    };
    const auto shifted = [](const void *from, size_t bytes) {
        return static_cast<const void *>(static_cast<const char *>(from) + bytes);
    };
    refuse("no such type", invalid, with(&given::type, static_cast<fastreduce_type>(99)), exact);
    refuse("no such operator", invalid, with(&given::op, static_cast<fastreduce_operator>(99)),
           exact);
    refuse("no such kernel", invalid, good,
           changed(&fastreduce_config::kernel, static_cast<fastreduce_kernel>(99)));
    refuse("no such block size", invalid, good, changed(&fastreduce_config::block_size, 33u));
    refuse("indices of floats", invalid, good,
           changed(&fastreduce_config::offset_type, FASTREDUCE_F32));
    refuse("no input", invalid, with(&given::input, nullptr), exact);
    refuse("no index", invalid, with(&given::index, nullptr), exact);
    refuse("no output", invalid, with(&given::output, nullptr), exact);
    refuse("a misaligned input", invalid, with(&given::input, shifted(input.data(), 2)), exact);
    refuse("a misaligned index", invalid, with(&given::index, shifted(index.data(), 4)), exact);
    refuse("a misaligned output", invalid,
           with(&given::output, const_cast<void *>(shifted(output.data(), 2))), exact);
    refuse("too many elements", invalid, with(&given::n, ~size_t(0) / 4), exact);
    refuse("too many bins", invalid, with(&given::bins, ~size_t(0) / 4), exact);
    refuse("bins whose words are too many", invalid, with(&given::bins, ~size_t(0) / 64), exact);
    refuse("an output in the input", invalid, with(&given::input, shifted(output.data(), 4)),
           exact);
    given overlapping = with(&given::output, static_cast<void *>(index.data()));
    refuse("an output in the index", invalid, overlapping, exact);
    fastreduce_config inside = changed(&fastreduce_config::workspace, (void *)index.data());
    inside.workspace_bytes = n;
    refuse("a workspace in the index", invalid, good, inside);
    refuse("a misaligned workspace", invalid, good,
           changed(&fastreduce_config::workspace, static_cast<void *>(workspace.data() + 8)));
    refuse("a length on the device, misaligned", invalid, good,
           changed(&fastreduce_config::n_on_device,
                   static_cast<const size_t *>(shifted(length.data(), 4))));
    fastreduce_config small = changed(&fastreduce_config::workspace, (void *)workspace.data());
    small.workspace_bytes =
        fastreduce_by_index_workspace_bytes(bins, FASTREDUCE_F32, FASTREDUCE_SUM, &exact) - 1;
    refuse("a small workspace", FASTREDUCE_ERROR_WORKSPACE_TOO_SMALL, good, small);
    for (fastreduce_kernel kernel : {FASTREDUCE_AUTO, FASTREDUCE_V0, FASTREDUCE_V7})
        refuse("another kernel", unsupported, good, changed(&fastreduce_config::kernel, kernel));
    for (unsigned op = 0; op < operators; ++op) {
        const fastreduce_operator one = operator_of(op);
        given g = with(&given::op, one);
        g.bins = 5; /* results of 8 bytes */
        if (!is_exact(FASTREDUCE_F32, one)) refuse("another operator", unsupported, g, exact);
        const bool has_order =
            one == FASTREDUCE_SUM || one == FASTREDUCE_PRODUCT || one == FASTREDUCE_SUM_ABS ||
            one == FASTREDUCE_SUM_SQUARES || one == FASTREDUCE_NORM2 || one == FASTREDUCE_MEAN ||
            one == FASTREDUCE_VARIANCE || one == FASTREDUCE_MIN_MAX || one == FASTREDUCE_ARGMAX_ABS;
        if (has_order) refuse("another operator", unsupported, g, {});
    }
    refuse("doubles of extremes", unsupported, with(&given::op, FASTREDUCE_MAX),
           changed(&fastreduce_config::output_type, FASTREDUCE_F64));
    for (fastreduce_operator op : {FASTREDUCE_SUM, FASTREDUCE_ARGMIN}) {
        fastreduce_config second = op == FASTREDUCE_SUM ? exact : fastreduce_config{};
        second.second_output = workspace.data();
        given g = with(&given::op, op);
        g.bins = 5;
        refuse("a second output", unsupported, g, second);
        check::that(fastreduce_by_index_workspace_bytes(5, FASTREDUCE_F32, op, &second) == 0,
                    "the workspace of what is refused");
    }
    for (unsigned options : {1u, 2u, 1u << 31})
        refuse("options", unsupported, good, changed(&fastreduce_config::options, options));
    refuse("no bins", FASTREDUCE_SUCCESS, {nullptr, nullptr, nullptr, n, 0}, exact);
    check::that(fastreduce_by_index_workspace_bytes(0, FASTREDUCE_F32, FASTREDUCE_SUM, &exact) == 0,
                "the workspace of no bins");
    check::that(
        fastreduce_by_index_workspace_bytes(bins, FASTREDUCE_F32, FASTREDUCE_SUM, nullptr) == 0,
        "the workspace of AUTO's sums of floats");
    check::that(output.canaries_alive() && workspace.canaries_alive(), "a write outside");
}

int main(int argc, char **argv)
{
    many = !parse_parts(argc, argv) && on_gpu;
    check::need_device();
    for_each_type<f16, bf16>([](auto zero) { type<decltype(zero)>(); });
    if (asked_for("refusals")) {
        refusals();
        count_indices();
#ifdef SIMT_MACHINE
        failures();
#endif
    }
    return check::finish("by index");
}

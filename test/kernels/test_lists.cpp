/* The lists by which blocks share long results, at their limits: as many results as a list has
 * room for, one more, and many more, in many orders of blocks. Each result has the bits that it has
 * alone, and all words of the workspace are zero afterwards. */
#include <cuda_runtime.h>
#include <algorithm>
#define FASTREDUCE_HOST_IMPLEMENTATION
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/dynamic_shared.h"
#include "../common/order.h"
#include "../common/pairwise.h"

using namespace fastreduce::detail;
using ull = unsigned long long;
using lengths = std::vector<size_t>;

static bool thorough = on_gpu, small_part = false; /* for mutants: seconds */
static unsigned orders = on_gpu ? 10 : 4;

/* ---- Results that overlap: many long ones of little memory ----------------------------------- */

static void take(double x, float *to) { *to = static_cast<float>(x); }
static void take(double x, double *to) { *to = x; }
static void take(double x, f16 *to) /* of few bits, and of exponents that a half has */
{
    const int n = static_cast<int>(std::fabs(x) * 16) % 1024;
    to->bits = static_cast<unsigned short>((x < 0 ? 0x8000 : 0) | 0x3c00 | n);
}

/* Result r begins at element 5 r, and has so many elements. */
template <class T>
struct results_of {
    std::vector<T> values;
    std::vector<int64_t> begins, ends;
    check::buffer<T> input;
    check::buffer<int64_t> from, to;

    static std::vector<T> make(const lengths &of, int exponents)
    {
        size_t most = 0;
        for (size_t r = 0; r < of.size(); ++r) most = std::max(most, 5 * r + of[r]);
        std::vector<T> made(most);
        for (size_t i = 0; i < most; ++i) {
            const ull z = check::mix(i, 7);
            const double x = static_cast<double>(static_cast<long long>(z >> 32) - (1ll << 31)) + 3;
            take(exponents > 0 ? std::ldexp(x, static_cast<int>(z % exponents) - exponents / 2 - 31)
                               : x / 1024,
                 &made[i]);
        }
        return made;
    }
    results_of(const lengths &of, int exponents)
        : values(make(of, exponents)), input(values.size()), from(of.size()), to(of.size())
    {
        for (size_t r = 0; r < of.size(); ++r) {
            begins.push_back(static_cast<int64_t>(5 * r));
            ends.push_back(static_cast<int64_t>(5 * r + of[r]));
        }
        input.set(values);
        from.set(begins);
        to.set(ends);
    }
    result_layout layout(size_t result_bytes)
    {
        result_layout segments = {};
        segments.input = input.data();
        segments.end = begins.size();
        segments.stride = 1;
        segments.result_bytes = static_cast<unsigned>(result_bytes);
        segments.offset_bytes = sizeof(int64_t);
        segments.begins = from.data();
        segments.ends = to.data();
        return segments;
    }
};

/* Calls launch() in several orders of blocks, and compares bits. A GPU takes its own. The workspace
 * has so many words and no more. The CPU machine takes each case of many results in two orders, as
 * those of few results meet the same borders in all orders. */
template <class Result, class Prepare, class Launch>
static void in_every_order(const char *what, const std::vector<Result> &wanted,
                           check::buffer<Result> &output, size_t words, const Prepare &prepare,
                           const Launch &launch)
{
    static unsigned turn = 0;
    check::buffer<status_word> workspace(words);
    workspace.fill(0);
    const unsigned turns = on_gpu || wanted.size() < 500 ? orders : std::min(orders, 2u);
    for (unsigned k = 0; k < turns; ++k) {
#ifdef SIMT_MACHINE
        const unsigned residents[] = {16, 1, 7, 16, 3};
        simt::settings().resident = residents[turn % 5];
        simt::settings().blocks_in_order = true;
        simt::settings().schedule = static_cast<simt::order>(turn % 3);
        simt::settings().seed = turn;
#endif
        ++turn;
        prepare(output);
        const int status = launch(workspace.data());
        CUDA(cudaDeviceSynchronize());
        check::that(status == 0, "%s, turn %u: status %d %s", what, turn, status, order::report());
        const std::vector<Result> got = output.get();
        for (size_t r = 0; r < got.size(); ++r)
            check::that(std::memcmp(&got[r], &wanted[r], sizeof wanted[r]) == 0,
                        "%s, turn %u: result %zu of %zu is %.17g, not %.17g", what, turn, r,
                        got.size(), static_cast<double>(got[r]), static_cast<double>(wanted[r]));
        check::that(workspace.every_byte_is(0), "%s, turn %u: workspace left dirty", what, turn);
        check::that(workspace.canaries_alive() && output.canaries_alive(),
                    "%s, turn %u: a write outside", what, turn);
        workspace.fill(0);
    }
    order::usual();
}

/* ---- EXACT ----------------------------------------------------------------------------------- */

struct exact_call {
    const char *name;
    fastreduce_type type;
    fastreduce_operator op;
    int exponents; /* of the elements; 0: few */
};

/* The list has room for `most` results, or for as many as the library gives it. Results of more
 * than most_of_warp elements are listed. */
template <class Source, class Result, class T>
static void exact_list(const exact_call &call, T, const lengths &of, size_t most_of_warp = 32,
                       unsigned most = max_queued_exact<typename Source::Sums>)
{
    results_of<T> from(of, call.exponents);
    std::vector<Result> wanted(of.size());
    for (size_t r = 0; r < of.size(); ++r)
        fastreduce_host_reduce(from.values.data() + 5 * r, &wanted[r], of[r], call.type, call.op,
                               FASTREDUCE_DEFAULT_TYPE);
    check::buffer<Result> output(of.size()), second(of.size());
    const int precision = sizeof(Result) == sizeof(double) ? 53 : 24;
    const bool has_second = call.op == FASTREDUCE_VARIANCE;
    exact_results all = {};
    all.layout = from.layout(sizeof(Result));
    all.output = output.data();
    if (has_second) all.second = second.data();
    all.layout.second_bytes = sizeof(Result);
    all.type = call.type;
    all.op = call.op;
    all.precision = precision;
    char what[200];
    std::snprintf(what, sizeof what, "EXACT, %s: %zu results, the first of %zu, room for %u",
                  call.name, of.size(), of[0], most);
    const bool real = most_of_warp == most_of_resolving_warp;
    const size_t words = result_queue::all_words + most * size_t(Source::Sums::limbs + 1);
    in_every_order(
        what, wanted, output, words,
        [&](check::buffer<Result> &to) { /* all are open */
                                         const ull open =
                                             precision == 53 ? 0x7ff1000000000000 : 0x7f810000;
                                         std::vector<Result> bits(of.size());
                                         for (Result &one : bits)
                                             std::memcpy(&one, &open, sizeof one);
                                         to.set(bits);
        },
        [&](status_word *data) {
            if (real)
                return static_cast<int>(launch_exact_results<T, Source, false>(
                    all, {data, FASTREDUCE_WORKSPACE_BYTES}, nullptr));
            return static_cast<int>(
                launch_resolving<Source>(all, of.size(), data, nullptr, most_of_warp, most));
        });
    const std::vector<Result> means = second.get();
    for (size_t r = 0; has_second && r < of.size(); ++r) {
        Result mean;
        fastreduce_host_reduce(from.values.data() + 5 * r, &mean, of[r], call.type, FASTREDUCE_MEAN,
                               FASTREDUCE_DEFAULT_TYPE);
        check::that(std::memcmp(&mean, &means[r], sizeof mean) == 0,
                    "%s: the mean of result %zu is %.17g, not %.17g", what, r,
                    static_cast<double>(means[r]), static_cast<double>(mean));
    }
    check::that(second.canaries_alive(), "%s: a write outside the means", what);
    if (!real || !thorough) return;
    /* the same as rows */
    for (size_t n : of)
        if (n != of[0]) return;
    all.layout = {from.input.data(), 0, of.size(), of[0],  1, 5, 1, sizeof(Result),
                  sizeof(Result),    0, nullptr,   nullptr};
    in_every_order(
        what, wanted, output, words, [](check::buffer<Result> &to) { to.fill(0x7b); },
        [&](status_word *data) {
            return static_cast<int>(launch_exact_results<T, Source, false>(
                all, {data, FASTREDUCE_WORKSPACE_BYTES}, nullptr));
        });
}

/* So many results, the lengths taken in turn. */
static lengths repeated(size_t count, const lengths &of)
{
    lengths made;
    for (size_t r = 0; r < count; ++r) made.push_back(of[r * of.size() / count]);
    return made;
}
static lengths mixed(size_t count, const lengths &of)
{
    lengths made;
    for (size_t r = 0; r < count; ++r) made.push_back(of[check::mix(r, count) % of.size()]);
    return made;
}

/* Short and long lists, of results of one unit or of several. */
template <class Source, class Result, class T>
static void exact_lists(const exact_call &call, T tag)
{
    for (unsigned most : {9u, 1u, 2u, 40u}) {
        for (size_t count : {size_t(most) - 1, size_t(most), size_t(most) + 1, size_t(200)})
            if (count > 0) {
                exact_list<Source, Result>(call, tag, repeated(count, {33, 33}), 32, most);
                exact_list<Source, Result>(call, tag, mixed(count, {5, 40, 100, 0, 77}), 32, most);
            }
        if (small_part) break;
    }
    for (unsigned most : {2u, 8u}) /* units at the border: of 1, 2 and 3 */
        exact_list<Source, Result>(
            call, tag, mixed(60, {33, 40, 33, exact_unit, exact_unit + 1, 2 * exact_unit + 1}), 32,
            most);
}

/* More than few_unresolved results are seen by no block as a whole. */
template <class Source, class Result, class T>
static void many_results(const exact_call &call, T tag)
{
    for (size_t count : {few_unresolved, few_unresolved + 1, size_t(2000)})
        exact_list<Source, Result>(call, tag, repeated(count, {33, 34}), 32, 30);
    /* as the library calls it: some 550 results and more */
    constexpr unsigned room = max_queued_exact<typename Source::Sums>;
    const size_t least = most_of_resolving_warp + 1;
    for (size_t count : {size_t(room), size_t(room) + 1, thorough ? size_t(5000) : size_t(1200)})
        exact_list<Source, Result>(call, tag, repeated(count, {least}), most_of_resolving_warp);
    if (!thorough) return;
    exact_list<Source, Result>(call, tag, repeated(room + 4000, {least}), most_of_resolving_warp);
    exact_list<Source, Result>(call, tag, repeated(20000, {least}), most_of_resolving_warp);
    exact_list<Source, Result>(call, tag, mixed(5000, {least, 20000, 3, least, 4100, 40000}),
                               most_of_resolving_warp);
}

static void exact(const char *which)
{
    const exact_call variance[] = {{"variance of f32", FASTREDUCE_F32, FASTREDUCE_VARIANCE, 0},
                                   {"variance of f64", FASTREDUCE_F64, FASTREDUCE_VARIANCE, 0},
                                   {"variance of f16", FASTREDUCE_F16, FASTREDUCE_VARIANCE, 0}},
                     sum[] = {{"sum of f32", FASTREDUCE_F32, FASTREDUCE_SUM, 180},
                              {"sum of f64", FASTREDUCE_F64, FASTREDUCE_SUM, 600}},
                     squares = {"squares of f64", FASTREDUCE_F64, FASTREDUCE_SUM_SQUARES, 600};
    const auto chosen = [&](const exact_call &call) {
        return which == nullptr || std::strstr(call.name, which) != nullptr;
    };
    if (small_part || chosen(sum[0])) exact_lists<doubles_masked, float>(sum[0], float());
    if (small_part) return;
    if (chosen(sum[0])) {
        many_results<doubles_masked, float>(sum[0], float());
    }
    if (chosen(variance[1])) {
        exact_lists<exact_moments<double>, double>(variance[1], double());
        many_results<exact_moments<double>, double>(variance[1], double());
    }
    if (!thorough) return;
    if (chosen(sum[1])) many_results<doubles_masked, double>(sum[1], double());
    if (chosen(variance[0])) many_results<exact_moments<float>, float>(variance[0], float());
    if (chosen(variance[2])) many_results<exact_moments<f16>, float>(variance[2], f16());
    if (chosen(squares)) many_results<exact_products<double>, double>(squares, double());
}

/* ---- AUTO ------------------------------------------------------------------------------------ */

/* Sums of doubles, as if there were so many words of workspace, room in the list, and blocks of a
 * launch. */
static void auto_list(const char *name, const lengths &of, size_t words = workspace_words,
                      unsigned most = result_queue::max_entries, size_t most_blocks = max_blocks)
{
    using reducer = reducer_t<fastreduce::plus, double>;
    results_of<double> from(of, 60);
    std::vector<double> wanted(of.size());
    for (size_t r = 0; r < of.size(); ++r)
        wanted[r] = pairwise::sum([&](size_t k) { return from.values[5 * r + k]; }, of[r]);
    check::buffer<double> output(of.size());
    reduction_output<reducer> to = {output.data(), make_reducer<fastreduce::plus, double>()};
    const result_layout layout = from.layout(sizeof(double));
    char what[200];
    std::snprintf(what, sizeof what, "AUTO, %s: %zu results, %zu words, room for %u", name,
                  of.size(), words, most);
    in_every_order(
        what, wanted, output, words, [](check::buffer<double> &results) { results.fill(0x7b); },
        [&](status_word *data) {
            return static_cast<int>(
                launch(plan_results, kernels_of<reducer, rows_part>, layout, &to,
                       {{data, FASTREDUCE_WORKSPACE_BYTES}, nullptr, most_blocks, words, most}));
        });
}

static void auto_lists()
{
    constexpr size_t words = partial_words<double>::count, first = result_queue::all_words,
                     listed = most_of_block_of_few / sizeof(double) + 1, runs = 5;
    for (unsigned most : {8u, 1u, 2u}) {
        for (size_t count : {size_t(most) - 1, size_t(most), size_t(most) + 1, size_t(30)})
            if (count > 0) {
                auto_list("all listed", repeated(count, {listed}), workspace_words, most);
                auto_list("some listed", mixed(2 * count, {listed, 3, 700, listed + 999, 0}),
                          workspace_words, most);
            }
        if (small_part) break;
    }
    /* runs: room for those of all, for one less, for those of one, and for none */
    for (size_t room : {4 * runs, 4 * runs - 1, runs, runs - 1, size_t(0)})
        auto_list("runs", repeated(4, {listed}), first + room * words);
    auto_list("runs", mixed(40, {listed, 2 * listed, 5}), first + 37 * words);
    /* blocks of a launch: each launch has a list of its own */
    for (size_t blocks : {1, 2, 5})
        auto_list("few blocks", mixed(60, {listed, 3, 700}), workspace_words, 4, blocks);
    /* one long result, where other warps of a block look for such */
    constexpr size_t few = most_passes * rows_block;
    for (size_t place : {few / 2, few - most_passes * fastreduce::warp_size, few - 1}) {
        lengths of = repeated(few, {3});
        of[place] = listed;
        auto_list("one long", of);
    }
    if (small_part) return;
    /* a block's own long results: as many as it has room for, one more, and more */
    device_limits limits = {};
    CUDA(find_limits(&limits));
    constexpr unsigned most = block_results::most, of_block = most + 8;
    for (unsigned count : {most - 1, most, most + 1, of_block}) {
        lengths of = repeated(limits.multiprocessors * size_t(of_block * 32), {1});
        for (unsigned k = 0; k < count; ++k) of[10 * of_block + k] = most_of_many + 1;
        auto_list("later", of);
    }
    if (!thorough) return;
    /* 8192 entries, overfull by thousands */
    auto_list("more than 8192", repeated(12000, {most_of_block / sizeof(double) + 1}));
    auto_list("more than 8192", mixed(30000, {most_of_block / sizeof(double) + 1, 5, 100}));
    for (unsigned most : {100u, 543u})
        auto_list("overfull", repeated(9000, {most_of_block / sizeof(double) + 1}), workspace_words,
                  most);
}

#ifdef SIMT_MACHINE
/* ---- As many blocks as words count --------------------------------------------------------- */

static void set_multiprocessors(int count)
{
    simt::gpu gpu;
    gpu.number = 8 + count / 1000, gpu.multiprocessors = count;
    simt::set_gpu(gpu);
}

/* A word of EXACT's totals counts 4095 blocks: no more are launched, however many tiles there are
 * and however many blocks would be resident. */
static void blocks_of_exact()
{
    using accumulator = superaccumulator<32>;
    set_multiprocessors(5000);
    for (size_t tiles : {size_t(4095), size_t(4096)}) {
        const std::vector<float> values =
            check::make(check::data::wide, (tiles - 1) * 512 + 1, tiles);
        check::buffer<float> input(values.size()), output(1);
        check::buffer<status_word> words(accumulator::status_words);
        input.set(values);
        words.fill(0);
        exact_output to = {output.data(), nullptr, FASTREDUCE_SUM, 24};
        const fastreduce_status status =
            launch(plan_array, exact_kernels_of<accumulator>, {input.data(), values.size()}, &to,
                   {{words.data(), words.bytes()}, nullptr});
        const float wanted = fastreduce_host_sum_f32(values.data(), values.size());
        check::that(status == 0 && output.get()[0] == wanted && words.every_byte_is(0),
                    "EXACT of %zu tiles: status %d, %g, not %g, or words left dirty", tiles, status,
                    static_cast<double>(output.get()[0]), static_cast<double>(wanted));
        check::that(simt::latest_launch().grid.x == std::min(tiles, size_t(4095)),
                    "EXACT of %zu tiles: %u blocks", tiles, simt::latest_launch().grid.x);
    }
}

/* A list counts 65535 blocks: more take another launch. */
static void blocks_of_list()
{
    set_multiprocessors(3000);
    lengths of = repeated(queue_counters::max_count + 1, {1});
    of[queue_counters::max_count - 1] = most_of_block / sizeof(double) + 1;
    const ull before = simt::statistics().launches;
    orders = 1;
    auto_list("blocks", of);
    check::that(simt::statistics().launches - before == 2, "%zu segments: %llu launches", of.size(),
                simt::statistics().launches - before);
}
#endif

int main(int argc, char **argv)
{
    check::need_device();
#ifdef SIMT_MACHINE
    simt::gpu gpu;
    gpu.number = 7, gpu.multiprocessors = 4;
    simt::set_gpu(gpu);
#endif
    thorough = on_gpu && argc == 1;
    const char *const which = argc > 1 && std::strcmp(argv[1], "quick") ? argv[1] : nullptr;
    small_part = which != nullptr && std::strcmp(which, "small") == 0;
    if (small_part) orders = 2;
    if (which == nullptr || small_part || std::strcmp(which, "auto") == 0) auto_lists();
    exact(which);
#ifdef SIMT_MACHINE
    if (which == nullptr || std::strcmp(which, "blocks") == 0) {
        blocks_of_exact();
        blocks_of_list();
    }
#endif
    return check::finish("lists");
}

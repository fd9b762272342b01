/* The dispatcher's planning: pure functions, no device. */
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/dynamic_shared.h"

using namespace fastreduce;
using namespace fastreduce::detail;

static_assert(blocks_for(0, 256) == 1 && blocks_for(1, 256) == 1 && blocks_for(256, 256) == 1,
              "one block");
static_assert(blocks_for(257, 256) == 2 &&
                  blocks_for((size_t(1) << 33) + 3, 2048) == (size_t(1) << 22) + 1,
              "");
static_assert(blocks_for(SIZE_MAX, 32) == SIZE_MAX / 32 + 1, "no overflow at the largest n");
static_assert(default_items(FASTREDUCE_V0) == 1 && default_items(FASTREDUCE_V2) == 1, "");
static_assert(default_items(FASTREDUCE_V3) == 2 && default_items(FASTREDUCE_V5) == 2, "");
static_assert(default_items(FASTREDUCE_V6) == 8 && default_items(FASTREDUCE_V7) == 8, "");
static_assert(default_items(FASTREDUCE_AUTO) == 8, "one round of AUTO is V7's");
static_assert(std::is_same<accumulate_t<plus, float>, float>::value, "");
static_assert(std::is_same<accumulate_t<plus, int>, long long>::value, "");
static_assert(std::is_same<accumulate_t<plus, unsigned char>, unsigned long long>::value, "");
static_assert(std::is_same<accumulate_t<plus, int64_t>, int64_t>::value,
              "a 64-bit type stays as it is");
static_assert(std::is_same<accumulate_t<plus, size_t>, size_t>::value, "");
static_assert(std::is_same<accumulate_t<plus, unsigned long long>, unsigned long long>::value, "");
static_assert(std::is_same<accumulate_t<maximum, int>, int>::value, "");
static_assert(bounds<long double>::greatest() > std::numeric_limits<long double>::max(), "");

constexpr size_t operator"" _log2(unsigned long long k) { return size_t(1) << k; }

/* ---- By what AUTO and EXACT choose ----------------------------------------------------------- */

struct three_bytes {
    unsigned char part[3];
};
struct three_words {
    unsigned part[3];
};
struct alignas(16) four_words {
    unsigned part[4];
};
struct bytes_32 {
    unsigned part[8];
};
/* Of anything. */
struct first_of {
    template <class T>
    static T identity()
    {
        return T();
    }
    template <class T>
    T operator()(const T &a, const T &) const
    {
        return a;
    }
};

/* As many as tiles, but no more than are resident, and a word can count. */
static void blocks_of_exact()
{
    const kernel_set
        sums = exact_sizes_of<exact_sum<float>>(),
        products = exact_sizes_of<wide_superaccumulator<exact_block, exact_products<double>>>();
    const auto blocks = [](const kernel_set &set, size_t n, const device_limits &device) {
        return plan_array(set, {nullptr, n}, device).shared_blocks;
    };
    constexpr size_t h100 = 228 * kibibyte, a100 = 164 * kibibyte, ada = 100 * kibibyte,
                     turing = 64 * kibibyte;
    const struct {
        size_t n;
        device_limits device;
        size_t sums, products;
    } table[] = {
        {0, {132, h100}, 1, 1},
        {11_log2, {132, h100}, 1, 1},
        {11_log2 + 1, {132, h100}, 1, 2},
        {12_log2, {132, h100}, 1, 2},
        {12_log2 + 1, {132, h100}, 2, 3},
        {5 * 12_log2, {1, h100}, 4, 3},
        {19_log2, {132, h100}, 128, 256},
        {20_log2, {132, h100}, 256, 396},
        {20_log2, {20, h100}, 80, 60},
        {40_log2, {132, h100}, 528, 396},
        {40_log2, {5000, h100}, 4095, 4095},
        {SIZE_MAX / 8, {108, a100}, 324, 324},
        {40_log2, {142, ada}, 284, 284},
        {40_log2, {40, turing}, 40, 40},
        {40_log2, {40, 10 * kibibyte}, 40, 40},
    };
    for (const auto &wanted : table)
        check::that(blocks(sums, wanted.n, wanted.device) == wanted.sums &&
                        blocks(products, wanted.n, wanted.device) == wanted.products,
                    "EXACT, n %zu, %u multiprocessors of %zu bytes: %zu and %zu blocks", wanted.n,
                    wanted.device.multiprocessors, wanted.device.shared_bytes,
                    blocks(sums, wanted.n, wanted.device),
                    blocks(products, wanted.n, wanted.device));
    check::that(most_counted_blocks == 4095, "blocks that 12 bits count");
}

/* What accumulators need, and what any device gives but for sums of squares of doubles. */
template <class Accumulator>
static void shared_memory_of(const char *what, size_t most)
{
    const size_t bytes = exact_sizes_of<Accumulator>().exact_shared_bytes;
    check::that(bytes >= Accumulator::shared_bytes && bytes <= most,
                "EXACT of %s: %zu bytes of shared memory", what, bytes);
}

static void shared_memory_of_exact()
{
    constexpr size_t without_asking = 47 * kibibyte;
    shared_memory_of<exact_sum<float>>("floats", without_asking);
    shared_memory_of<exact_sum<double>>("doubles", without_asking);
    shared_memory_of<wide_superaccumulator<exact_block, exact_products<float>>>("products",
                                                                                without_asking);
    shared_memory_of<wide_superaccumulator<exact_block, exact_products<double>>>(
        "products of doubles", without_asking);
    shared_memory_of<wide_superaccumulator<exact_block, exact_moments<double>>>("variances",
                                                                                64 * kibibyte);
}

/* Never less for more elements; and fastreduce.h's constant is enough for any number of them. */
constexpr size_t enough = FASTREDUCE_WORKSPACE_BYTES;
static_assert(enough == size_t(1) << 20, "a mebibyte");

template <class Element>
static void workspace_grows(const char *what)
{
    const kernel_set e = exact_sizes_of<exact_sum<Element>>();
    size_t last = 0, last_n = 0;
    const auto at = [&](size_t n) {
        const size_t bytes = array_workspace_bytes(e, n);
        check::that(n >= last_n && bytes >= last, "%s: %zu bytes for %zu, %zu for %zu", what, last,
                    last_n, bytes, n);
        check::that(bytes <= enough, "%s: %zu bytes for %zu", what, bytes, n);
        last = bytes;
        last_n = n;
    };
    for (size_t n = 0; n < 70000; ++n) at(n);
    for (size_t n = 70000; n < SIZE_MAX / sizeof(Element) / 33 * 32; n += n / 33) at(n);
    at(SIZE_MAX / sizeof(Element));
    check::that(array_workspace_bytes(e, 0) == 0 && array_workspace_bytes(e, 1) == 0,
                "%s: workspace for a single tile", what);
}

static void workspaces()
{
    workspace_grows<float>("EXACT");
    workspace_grows<double>("EXACT of doubles");
    const kernel_set e = exact_sizes_of<exact_sum<float>>();
    check::that(array_workspace_bytes(e, 12_log2) == 0 &&
                    array_workspace_bytes(e, 12_log2 + 1) == 512 &&
                    array_workspace_bytes(e, SIZE_MAX / 4) == 512,
                "EXACT's workspace");
}

/* ---- AUTO's blocks: how they share an array -------------------------------------------------- */

template <class Operator, class Input>
static kernel_set sizes_for()
{
    return kernels_of<reducer_t<Operator, Input>, array_part>;
}

/* Bytes decide, whatever the type: one small tile, whose bytes are fewer where elements are not in
 * vectors, one large one, small ones, large ones, from more bytes on at addresses that vectors
 * cannot be loaded from. */
template <class Operator, class Input>
static void sizes_of_blocks(const char *what, bool heavy)
{
    const kernel_set e = sizes_for<Operator, Input>();
    const size_t size = sizeof(Input),
                 one = 16 % size == 0 ? 14_log2 : e.tile[0].tile_packs() * size,
                 small = heavy ? 23_log2 : 20_log2;
    const auto large = [&](size_t bytes) { return has_large_tiles(e, bytes / size, true); };
    const auto beyond = [&](size_t bytes) { return has_large_tiles(e, bytes / size + 1, true); };
    const size_t unaligned = 3 * 22_log2 / size;
    check::that(
        !large(0) && !has_large_tiles(e, 1, true) && !large(one) && beyond(one) == !heavy &&
            large(16_log2) == !heavy && !beyond(16_log2) && !large(small) && beyond(small) &&
            large(40_log2) && has_large_tiles(e, SIZE_MAX / size, true) &&
            !has_large_tiles(e, 1, false) && has_large_tiles(e, 16_log2 / size, false) == !heavy &&
            !has_large_tiles(e, unaligned, false) && has_large_tiles(e, unaligned + 1, false),
        "%s: blocks of the wrong size", what);
    check::that(e.element_bytes == size && e.pack_size == pack<Input>::size &&
                    e.tile[0].block_size == 256 && e.tile[1].block_size == 512 &&
                    e.tile[0].packs <= e.tile[1].packs &&
                    e.find(small_tiles).address != e.find(large_tiles).address,
                "%s: another engine", what);
}

/* The words that the kernel's levels lie in, by a count of its own: runs of tiles, groups of runs,
 * groups of groups ... until one is left. */
static size_t words_of(size_t runs, size_t group, size_t each)
{
    if (runs == 1) return 0;
    size_t words = 1;
    for (; runs > 1; runs = runs / group + (runs % group != 0)) words += runs * each;
    return words;
}

/* Runs of as few tiles as their words allow. */
static void plan_of(size_t n, unsigned pack_size, unsigned each, const tile_size &size,
                    size_t most_words)
{
    const size_t group = size_t(size.block_size) * 2,
                 tile = size_t(size.block_size) * size.packs * pack_size,
                 tiles = n == 0 ? 1 : (n - 1) / tile + 1;
    const run_plan plan = plan_runs(n, pack_size, each, size, most_words);
    const auto runs_of = [&](unsigned log) { return ((tiles - 1) >> log) + 1; };
    check::that(plan.runs == runs_of(plan.run_log) &&
                    plan.status_words == words_of(plan.runs, group, each),
                "n %zu, tiles of %zu: %zu runs of 2^%u tiles in %zu words", n, tile, plan.runs,
                plan.run_log, plan.status_words);
    check::that(plan.status_words <= most_words || plan.run_log == most_run_log,
                "n %zu, tiles of %zu: %zu words of %zu", n, tile, plan.status_words, most_words);
    check::that(plan.run_log == 0 || words_of(runs_of(plan.run_log - 1), group, each) > most_words,
                "n %zu, tiles of %zu: runs of 2^%u tiles, and shorter ones have room", n, tile,
                plan.run_log);
    const auto shared = [&](size_t most_runs, size_t blocks) {
        pairwise_array array = {};
        array.n = n;
        array.run_log = 7; /* of no account */
        array.share(tile, most_runs, blocks);
        check::that(array.runs == runs_of(array.run_log) && array.last_run >= 1 &&
                        array.last_run <= size_t(1) << array.run_log &&
                        (size_t(array.runs - 1) << array.run_log) + array.last_run == tiles,
                    "n %zu, tiles of %zu: the last of %u runs has %u", n, tile, array.runs,
                    array.last_run);
        return array.run_log;
    };
    check::that(shared(plan.runs, plan.runs) == plan.run_log || plan.runs == 1,
                "n %zu, tiles of %zu: other runs in the kernel", n, tile);
    for (size_t blocks : {1, 3, 264}) { /* which take them in turn, and fewer than there may be */
        const size_t most = std::min(plan.runs, turns_of_block * blocks);
        const unsigned log = shared(plan.runs, blocks);
        check::that((runs_of(log) <= most || log == most_run_log) &&
                        (log == 0 || runs_of(log - 1) > most),
                    "n %zu, tiles of %zu, %zu blocks: runs of 2^%u tiles", n, tile, blocks, log);
    }
}

static void plans()
{
    const tile_size sizes[] = {{32, 1}, {32, 2}, {64, 2}, {256, 2}, {256, 4}, {512, 2}, {512, 8}};
    for (const tile_size &size : sizes)
        for (unsigned pack_size : {1u, 2u, 4u, 8u, 16u})
            for (unsigned each = 1; each <= 5; ++each)
                for (size_t most_words : {size_t(4), size_t(100), size_t(4097), workspace_words}) {
                    const size_t tile = size.tile_packs() * pack_size;
                    for (unsigned k = 0; k < 60; ++k)
                        for (size_t n : {(size_t(1) << k) - 1, size_t(1) << k, (size_t(1) << k) + 1,
                                         (tile << k / 2) - 1, tile << k / 2, (tile << k / 2) + 1,
                                         (most_words / each) * tile + k - 30})
                            if (n <= 60_log2 && (n >> 31 >> (most_words < 1000 ? 0 : 14)) < tile)
                                plan_of(n, pack_size, each, size, most_words);
                }
    check::that(plan_runs(0, 4, 1, {512, 8}).status_words == 0 &&
                    plan_runs(14_log2, 4, 1, {512, 8}).status_words == 0 &&
                    plan_runs(14_log2 + 1, 4, 1, {512, 8}).status_words == 3 &&
                    plan_runs(14_log2 + 1, 4, 5, {512, 8}).status_words == 11 &&
                    plan_runs(24_log2, 4, 1, {512, 8}).status_words == 1025 &&
                    plan_runs(24_log2 + 1, 4, 1, {512, 8}).status_words == 1 + 1025 + 2,
                "words of a plan: a counter, and each run's partial, and each group's");
}

/* Never less for more elements; never more than fastreduce.h's constant, of as many bytes as 2^60;
 * and enough for all that is launched. */
template <class Operator, class Input>
static void pairwise_workspace(const char *what)
{
    const kernel_set e = sizes_for<Operator, Input>();
    const size_t most = 60_log2 / sizeof(Input);
    size_t last = 0, last_n = 0;
    const auto at = [&](size_t n) {
        const size_t bytes = array_workspace_bytes(e, n);
        check::that(n >= last_n && bytes >= last, "%s: %zu bytes for %zu, %zu for %zu", what, last,
                    last_n, bytes, n);
        check::that(bytes <= enough, "%s: %zu bytes for %zu", what, bytes, n);
        for (const bool vectors : {false, true})
            check::that(
                plan_runs(n, e.pack_size, e.partial_words, e.tile[has_large_tiles(e, n, vectors)])
                            .status_words *
                        sizeof(status_word) <=
                    bytes,
                "%s: %zu bytes for %zu are not enough", what, bytes, n);
        last = bytes;
        last_n = n;
    };
    for (size_t n = 0; n < 140000; ++n) at(n);
    for (size_t n = 140000; n < most / 129 * 128; n += n / 129) at(n);
    at(most);
    check::that(array_workspace_bytes(e, 0) == 0 && array_workspace_bytes(e, 1) == 0,
                "%s: workspace for a single tile", what);
}

static void pairwise_engines()
{
    sizes_of_blocks<plus, float>("floats", false);
    sizes_of_blocks<plus, double>("doubles", false);
    sizes_of_blocks<plus, signed char>("bytes", false);
    sizes_of_blocks<first_of, three_bytes>("three bytes", false);
    sizes_of_blocks<first_of, three_words>("three words", false);
    sizes_of_blocks<first_of, four_words>("four words", false);
    sizes_of_blocks<first_of, bytes_32>("32 bytes", false);
    sizes_of_blocks<minimum, double>("least doubles", true);
    sizes_of_blocks<argmin, float>("places of the least float", true);
    pairwise_workspace<plus, float>("floats");
    pairwise_workspace<maximum, float>("greatest floats");
    pairwise_workspace<plus, double>("doubles");
    pairwise_workspace<variance, float>("variances of floats");
    pairwise_workspace<plus, signed char>("chars");
    pairwise_workspace<maximum, signed char>("greatest chars");
    pairwise_workspace<plus, int>("ints");
    pairwise_workspace<first_of, four_words>("four words");
    pairwise_workspace<first_of, three_words>("three words");
    pairwise_workspace<first_of, three_bytes>("three bytes");
    pairwise_workspace<first_of, bytes_32>("32 bytes");
    check::that(workspace_bytes(14_log2) == 0 && workspace_bytes(14_log2 + 1) == 6 * 8 &&
                    workspace_bytes<FASTREDUCE_EXACT>(20000) == 512 &&
                    workspace_bytes<FASTREDUCE_AUTO, FASTREDUCE_BLOCK_SIZE,
                                    FASTREDUCE_ITEMS_PER_THREAD, plus, int>(14_log2 + 1) ==
                        (2 * 5 + 1) * 8 &&
                    workspace_bytes(SIZE_MAX / 4) > 0 && workspace_bytes(SIZE_MAX / 4 + 1) == 0,
                "workspace_bytes of AUTO and EXACT");
}

/* 4 MiB over all blocks, 8 KiB at least, and no more than a tile; nothing where n is unknown. */
static void prefetches()
{
    const kernel_set e = sizes_for<plus, float>();
    const size_t count = 1, tile = 14_log2; /* elements of a large one, of 64 KiB */
    const auto bytes = [&](size_t n, const size_t *n_on_device = nullptr) {
        return plan_array(e, {nullptr, n, n_on_device}, {132, 0}).array.prefetch_bytes;
    };
    check::that(bytes(tile) == 65536 && bytes(64 * tile) == 65536 && bytes(100 * tile) == 41936 &&
                    bytes(511 * tile) == 8208 && bytes(40_log2) == 8192 && bytes(1) == 16384 &&
                    bytes(tile, &count) == 0,
                "bytes to prefetch");
    check::that(are_prefetched(1000, 2097, 4) && !are_prefetched(1000, 2098, 4) &&
                    are_prefetched(1, size_t(8) << 20, 1) && !are_prefetched(1, 0, 4) &&
                    !are_prefetched(SIZE_MAX, SIZE_MAX, 16) && !are_prefetched(1, SIZE_MAX, 1),
                "whether rows and columns are prefetched");
}

/* ---- By index -------------------------------------------------------------------------------- */

/* As many additions as a launch has of the largest significand, shifted the most, fit a word beside
 * what a carry leaves. */
template <class Planes>
constexpr bool has_room =
    Planes::digits > 1 ? Planes::width + additions_log < 63
                       : Planes::significand + Planes::width - 1 + additions_log <= 63;
static_assert(has_room<float_planes<float, false>> && has_room<float_planes<double, false>> &&
                  has_room<float_planes<f16, false>> && has_room<float_planes<bf16, false>>,
              "no word overflows");
static_assert(float_planes<float, true>::limbs == 22 && float_planes<double, true>::limbs == 66 &&
                  float_planes<f16, true>::limbs == 2 && float_planes<bf16, true>::limbs == 10,
              "planes");

static void plans_by_index()
{
    constexpr index_limits h100 = {132, 227 * kibibyte, 50 * mebibyte},
                           turing = {40, 64 * kibibyte, 4 * mebibyte};
    const index_set &floats = index_set_of<float_planes<float, false>>,
                    &means = index_set_of<float_planes<float, true>>,
                    &doubles = index_set_of<float_planes<double, false>>,
                    &means_of_doubles = index_set_of<float_planes<double, true>>,
                    &bytes = index_set_of<key_planes<unsigned char>>;
    const struct {
        const index_set &set;
        size_t n, bins;
        const index_limits &device;
        size_t blocks, slots, launches, ranges;
    } table[] = {
        {floats, 0, 1, h100, 1, 1, 1, 1},
        {floats, 1, 1, h100, 1, 2, 1, 1},
        {floats, 1000, 1, h100, 1, 1024, 1, 1},
        {floats, 8193, 64, h100, 2, 4096, 1, 1},
        {floats, 26_log2, 1000, h100, 132, 16384, 1, 1},
        {means, 26_log2, 1000, h100, 132, 8192, 1, 1},
        {floats, 26_log2, 1000, turing, 40, 4096, 1, 1},
        {floats, 28_log2, 1000, h100, 132, 16384, 1, 1},
        {floats, 28_log2 + 1, 1000, h100, 132, 16384, 2, 1},
        {floats, 36_log2, 1000, h100, 132, 16384, 256, 1},
        {floats, 26_log2, 4000000, h100, 132, 16384, 1, 1},
        {floats, 26_log2, 16000000, h100, 132, 16384, 1, 4},
        {means, 26_log2, 16000000, h100, 132, 8192, 1, 8},
        {floats, 8000000, 16000000, h100, 132, 16384, 1, 4},
        {floats, 7999999, 16000000, h100, 132, 16384, 1, 1},
        {floats, 30_log2, 26_log2, h100, 132, 16384, 4, 1},
        {doubles, 26_log2, 1000, h100, 132, 8192, 1, 1},
        {means_of_doubles, 26_log2, 1000, h100, 132, 4096, 1, 1},
        {means_of_doubles, 4097, 1, h100, 2, 4096, 1, 1},
        {bytes, 36_log2, 100, h100, 132, 256, 1, 1},
        {bytes, 26_log2, 100000, h100, 132, 16384, 1, 1},
        {bytes, 1000, 33_log2, h100, 1, 2048, 1, 4},
    };
    for (const auto &t : table) {
        const index_plan plan = plan_by_index(t.set, t.n, t.bins, t.device);
        check::that(plan.blocks == t.blocks && size_t(1) << plan.slots_log == t.slots &&
                        blocks_for(t.n, plan.most_elements) == t.launches &&
                        blocks_for(t.bins, plan.most_bins) == t.ranges,
                    "%zu to %zu bins: %zu blocks, 2^%u slots, %zu elements, %zu bins", t.n, t.bins,
                    plan.blocks, plan.slots_log, plan.most_elements, plan.most_bins);
        check::that(plan.shared_bytes + kibibyte <= t.device.shared_bytes, "shared memory");
        check::that(index_pitch(t.bins) >= t.bins, "a pitch");
    }
    check::that(floats.workspace_bytes(1000, false) == 16 + 23 * 8 * 1040 &&
                    means.workspace_bytes(1000, false) == 16 + 24 * 8 * 1040 &&
                    bytes.workspace_bytes(1000, false) == 16 + 8 * 1040 &&
                    bytes.workspace_bytes(1000, true) == 16 + 2 * 8 * 1040 &&
                    floats.workspace_bytes(SIZE_MAX / 100, false) == 0,
                "workspaces by index");
}

/* Arrays may end with the address space. */
static void ends_of_memory()
{
    const char *const last = reinterpret_cast<const char *>(UINTPTR_MAX - 100);
    void *const workspace = reinterpret_cast<void *>(UINTPTR_MAX - 4095);
    alignas(16) const char input[16] = {};
    const long long output = 0;
    const fastreduce_status invalid = FASTREDUCE_ERROR_INVALID_ARGUMENT;
    check::that(check_arguments(last, &output, 100, {nullptr, 0}) == 0 &&
                    check_arguments(last, &output, 101, {nullptr, 0}) == invalid &&
                    check_arguments(input, &output, 16, {workspace, 4095}) == 0 &&
                    check_arguments(input, &output, 16, {workspace, 4096}) == invalid,
                "arrays at the end of the address space");
}

/* As assertions say, when it is asked for while a program runs. */
static void at_run_time()
{
    const unsigned wanted[] = {8, 1, 1, 1, 2, 2, 2, 8, 8, 8};
    for (int version = FASTREDUCE_AUTO; version <= FASTREDUCE_EXACT; ++version)
        check::that(default_items(static_cast<fastreduce_kernel>(version)) == wanted[version],
                    "items of kernel %d", version);
}

int main()
{
    blocks_of_exact();
    shared_memory_of_exact();
    plans();
    pairwise_engines();
    workspaces();
    prefetches();
    plans_by_index();
    check::that(bounds<float>::greatest() > 3.5e38 && bounds<float>::least() < -3.5e38,
                "infinities");
    for (unsigned size = 0; size <= 4096; ++size) {
        const bool good =
            size == 32 || size == 64 || size == 128 || size == 256 || size == 512 || size == 1024;
        check::that(valid_block_size(size) == good, "block size %u", size);
    }

    for (size_t tile : {32, 64, 256, 512, 2048, 8192, 65536}) {
        for (size_t size : {size_t(1), size_t(4), size_t(8), size_t(16)}) {
            size_t last = 0;
            for (int k = 0; k < 56; ++k) {
                for (size_t n : {(size_t(1) << k) - 1, size_t(1) << k, (size_t(1) << k) + 1}) {
                    const ladder_plan made = plan_ladder(n, tile, size);
                    const size_t next = (made.blocks - 1) / tile + 1;
                    check::that(made.blocks * tile >= n &&
                                    (made.blocks == 1 || (made.blocks - 1) * tile < n),
                                "n %zu, tile %zu: %zu blocks", n, tile, made.blocks);
                    check::that(made.blocks <= max_blocks || made.workspace_bytes == 0,
                                "n %zu, tile %zu: %zu bytes", n, tile, made.workspace_bytes);
                    if (made.blocks > max_blocks) continue;
                    const size_t first = made.blocks > 1 ? made.blocks * size : 0;
                    const size_t second = next > 1 ? next * size : 0;
                    check::that(
                        made.second_half >= first && made.second_half < first + workspace_alignment,
                        "n %zu, tile %zu: the second half at %zu", n, tile, made.second_half);
                    check::that(made.second_half % workspace_alignment == 0,
                                "the second half is misaligned");
                    check::that(made.workspace_bytes >= made.second_half + second &&
                                    made.workspace_bytes <
                                        made.second_half + second + workspace_alignment,
                                "n %zu, tile %zu: %zu bytes", n, tile, made.workspace_bytes);
                    check::that(made.workspace_bytes >= last,
                                "n %zu, tile %zu: less than for a smaller n", n, tile);
                    last = made.workspace_bytes;
                }
            }
        }
    }
    check::that(workspace_bytes<FASTREDUCE_V0, 32>(33) == plan_ladder(33, 32, 4).workspace_bytes,
                "float partials");
    check::that(workspace_bytes<FASTREDUCE_V3, 64, 2, plus, int>(size_t(1) << 20) ==
                    plan_ladder(size_t(1) << 20, 128, 8).workspace_bytes,
                "64-bit partials of integers");

    char bytes[64];
    const auto meet = [](const char *a, size_t a_bytes, const char *b, size_t b_bytes) {
        return check_arguments({{a, 1, 1, a_bytes}}, {{b, 1, 1, b_bytes}}, {nullptr, 0}) != 0;
    };
    check::that(meet(bytes, 10, bytes + 9, 1) && meet(bytes + 9, 1, bytes, 10),
                "overlap by a byte");
    check::that(!meet(bytes, 10, bytes + 10, 10) && !meet(bytes + 10, 10, bytes, 10), "neighbours");
    check::that(meet(bytes, 64, bytes + 8, 4) && meet(bytes + 8, 4, bytes, 64),
                "one inside the other");
    check::that(meet(bytes, 8, bytes + 1, 4) && meet(bytes + 1, 4, bytes, 8),
                "one inside the other, a byte from its beginning");
    for (int k = 0; k < 10; ++k)
        check::that(!meet(bytes + k, 0, bytes, 10) && !meet(bytes, 10, bytes + k, 0),
                    "nothing overlaps nothing");

    ends_of_memory();
    at_run_time();
    check::that(status_of(cudaSuccess) == 0, "success");
    check::that(status_of(cudaErrorNoDevice) == FASTREDUCE_ERROR_NO_DEVICE, "no device");
    check::that(status_of(cudaErrorInsufficientDriver) == FASTREDUCE_ERROR_NO_DEVICE,
                "insufficient driver");
    check::that(status_of(cudaErrorStubLibrary) == FASTREDUCE_ERROR_NO_DEVICE, "stub library");
    check::that(status_of(cudaErrorInvalidValue) == 1, "others keep their number");
    return check::finish("plan");
}

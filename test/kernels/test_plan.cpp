/* The dispatcher's planning: pure functions, no device. */
#include "../../fastreduce.cuh"
#include "../common/check.h"

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
static_assert(default_items(FASTREDUCE_AUTO) == 8, "AUTO of what the engine does not take is V7");
static_assert(std::is_same<accumulate_t<plus, float>, float>::value, "");
static_assert(std::is_same<accumulate_t<plus, int>, long long>::value, "");
static_assert(std::is_same<accumulate_t<plus, unsigned char>, unsigned long long>::value, "");
static_assert(std::is_same<accumulate_t<plus, int64_t>, int64_t>::value,
              "a 64-bit type stays as it is");
static_assert(std::is_same<accumulate_t<plus, size_t>, size_t>::value, "");
static_assert(std::is_same<accumulate_t<plus, unsigned long long>, unsigned long long>::value, "");
static_assert(std::is_same<accumulate_t<maximum, int>, int>::value, "");
static_assert(bounds<float>::greatest() > 3.5e38 && bounds<float>::least() < -3.5e38, "infinities");

constexpr size_t operator"" _log2(unsigned long long k)
{
    return size_t(1) << k;
}

/* ---- The tables by which AUTO and EXACT choose ----------------------------------------------- */

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

using sums = auto_engine<plus, float>;
using maxima = auto_engine<maximum, float>;

constexpr device_limits h200 = {132, 232448, true}, a100 = {108, 166912, false},
                        tiny = {20, 232448, true}, one = {1, 232448, true},
                        huge = {5000, 232448, true}, huge_old = {5000, 166912, false};
constexpr device_limits all_devices[] = {h200,
                                         a100,
                                         tiny,
                                         one,
                                         huge,
                                         huge_old,
                                         {142, 101376, false},
                                         {40, 65536, false},
                                         {40, 49152, false}};

namespace
{
struct choice {
    size_t n;
    device_limits device;
    unsigned row, blocks;
    size_t units;
};
} // namespace

template <class Engine>
static void chosen(const char *what, std::initializer_list<choice> table)
{
    for (const choice &wanted : table) {
        const unsigned number = pick(table_of<Engine>(), wanted.n, wanted.device);
        const plan_row row = Engine::row(number);
        const work_plan work = plan_work(wanted.n / pack<typename Engine::Element>::size, row);
        const unsigned blocks = blocks_of(table_of<Engine>(), row, work.units, wanted.device);
        check::that(number == wanted.row && blocks == wanted.blocks && work.units == wanted.units,
                    "%s, n %zu, %u multiprocessors, %zu bytes: row %u, %u blocks, %zu units", what,
                    wanted.n, wanted.device.multiprocessors, wanted.device.shared_bytes, number,
                    blocks, work.units);
    }
}

static void rows_of_auto()
{
    chosen<sums>("AUTO",
                 {
                     {0, h200, 0, 1, 1},
                     {1, one, 0, 1, 1},
                     {12_log2, h200, 0, 1, 1},
                     {12_log2 + 1, h200, 1, 1, 1},
                     {14_log2, huge, 1, 1, 1},
                     {14_log2 + 1, h200, 2, 4, 4},
                     {14_log2 + 3, h200, 2, 4, 4},
                     {14_log2 + 4, h200, 2, 5, 5},
                     {19_log2, one, 2, 128, 128},
                     {19_log2 + 1, h200, 3, 32, 32},
                     {19_log2 + 4, h200, 3, 33, 33},
                     {23_log2, h200, 3, 512, 512},
                     {23_log2 + 1, h200, 4, 512, 512},
                     {26_log2, tiny, 4, 4096, 4096},
                     {26_log2, a100, 4, 4096, 4096},
                     {26_log2 + 1, h200, 5, 132, 4096},
                     {26_log2 + 1, a100, 7, 4096, 4096},
                     {26_log2 + 1, huge, 5, 4096, 4096},
                     /* 4097 tiles: 288 units of 8, 256 of 4 and of 2, 257 of 1 */
                     {26_log2 + 4, h200, 5, 132, 1057},
                     {26_log2 + 4, tiny, 5, 20, 1057},
                     {26_log2 + 4, one, 5, 1, 1057},
                     {26_log2 + 4, huge, 5, 1057, 1057},
                     {26_log2 + 4, a100, 7, 1057, 1057},
                     {26_log2 + 4, huge_old, 7, 1057, 1057},
                     /* 2^16 tiles: 7 levels, 2^16 - 127 * 256 tiles beyond 256 units of each */
                     {30_log2, h200, 5, 132, 258 + 7 * 256},
                     {40_log2, tiny, 5, 20, 257 + 17 * 256},
                     {40_log2, huge, 5, 257 + 17 * 256, 257 + 17 * 256},
                     {40_log2, huge_old, 7, 257 + 17 * 256, 257 + 17 * 256},
                     /* three tiles, a line more for each, and the reserve, 6 KiB */
                     {40_log2, {132, 203136, true}, 5, 132, 257 + 17 * 256},
                     {40_log2, {132, 203135, true}, 6, 132, 257 + 17 * 256},
                     /* one tile, a line and the reserve */
                     {40_log2, {132, 71808, true}, 6, 132, 257 + 17 * 256},
                     {40_log2, {132, 71807, true}, 7, 257 + 17 * 256, 257 + 17 * 256},
                     {40_log2, {132, 232448, false}, 7, 257 + 17 * 256, 257 + 17 * 256},
                     {12_log2, {132, 6144, false}, 0, 1, 1},
                     {SIZE_MAX / 4, h200, 5, 132, 257 + 39 * 256},
                 });
    /* bytes decide, whatever the type: 16 of them are a pack */
    chosen<auto_engine<plus, signed char>>("bytes", {{14_log2, h200, 0, 1, 1},
                                                     {14_log2 + 1, h200, 1, 1, 1},
                                                     {16_log2, h200, 1, 1, 1},
                                                     {16_log2 + 15, h200, 2, 4, 4},
                                                     {16_log2 + 16, h200, 2, 5, 5},
                                                     {21_log2, h200, 2, 128, 128},
                                                     {21_log2 + 1, h200, 3, 32, 32},
                                                     {28_log2, h200, 4, 4096, 4096},
                                                     {28_log2 + 1, h200, 5, 132, 4096}});
    chosen<auto_engine<plus, double>>("doubles", {{11_log2, h200, 0, 1, 1},
                                                  {11_log2 + 1, h200, 1, 1, 1},
                                                  {13_log2, h200, 1, 1, 1},
                                                  {13_log2 + 1, h200, 2, 4, 4},
                                                  {13_log2 + 2, h200, 2, 5, 5},
                                                  {25_log2, h200, 4, 4096, 4096},
                                                  {25_log2 + 1, h200, 5, 132, 4096},
                                                  {25_log2 + 2, h200, 5, 132, 1057}});
    chosen<auto_engine<plus, four_words>>("four words", {{10_log2, h200, 0, 1, 1},
                                                         {12_log2, h200, 1, 1, 1},
                                                         {12_log2 + 1, h200, 2, 5, 5},
                                                         {24_log2 + 1, h200, 5, 132, 1057}});
    /* of what takes long, several blocks instead of one of 512 x 8 */
    chosen<auto_engine<minimum, double>>("least doubles", {{11_log2, h200, 0, 1, 1},
                                                           {11_log2 + 1, h200, 2, 1, 1},
                                                           {11_log2 + 2, h200, 2, 2, 2},
                                                           {13_log2, h200, 2, 4, 4},
                                                           {25_log2 + 2, h200, 5, 132, 1057}});
    /* a size that does not divide 16: a pack is an element, and nothing is copied */
    chosen<auto_engine<plus, three_words>>("three words", {{0, h200, 0, 1, 1},
                                                           {256, h200, 0, 1, 1},
                                                           {257, h200, 0, 2, 2},
                                                           {1365, h200, 0, 6, 6},
                                                           {1366, h200, 1, 3, 3},
                                                           {5461, h200, 1, 11, 11},
                                                           {5462, h200, 2, 22, 22},
                                                           {174762, h200, 2, 683, 683},
                                                           {174763, h200, 3, 342, 342},
                                                           {21_log2, h200, 3, 4096, 4096},
                                                           {21_log2 + 1, h200, 7, 1057, 1057},
                                                           {21_log2 + 1, a100, 7, 1057, 1057}});
    chosen<auto_engine<plus, three_bytes>>("three bytes", {{5461, h200, 0, 22, 22},
                                                           {5462, h200, 1, 11, 11},
                                                           {21845, h200, 1, 43, 43},
                                                           {21846, h200, 2, 86, 86},
                                                           {699050, h200, 2, 2731, 2731},
                                                           {699051, h200, 3, 1366, 1366},
                                                           {21_log2, one, 3, 4096, 4096},
                                                           {21_log2 + 1, one, 7, 1057, 1057}});
    chosen<auto_engine<plus, bytes_32>>("32 bytes", {{256, h200, 0, 1, 1},
                                                     {513, h200, 1, 2, 2},
                                                     {2049, h200, 2, 9, 9},
                                                     {65537, h200, 3, 129, 129},
                                                     {21_log2, h200, 4, 4096, 4096},
                                                     {22_log2, h200, 7, 1296, 1296}});
}

static void rows_of_exact()
{
    chosen<exact_engine>(
        "EXACT",
        {
            {0, h200, 0, 1, 1},
            {12_log2 + 3, h200, 0, 1, 1},
            {12_log2 + 4, h200, 0, 2, 2},
            {4 * 12_log2, one, 0, 4, 4},
            {5 * 12_log2, one, 0, 4, 5},
            {20_log2, h200, 0, 256, 256},
            {20_log2, tiny, 0, 80, 256},
            {20_log2, one, 0, 4, 256},
            {21_log2, h200, 0, 512, 512},
            {21_log2, a100, 0, 432, 512},
            {21_log2, huge, 0, 512, 512},
            {21_log2 + 1, h200, 1, 256, 256},
            {21_log2 + 1, tiny, 1, 40, 256},
            {23_log2, h200, 1, 264, 1024},
            {23_log2 + 1, h200, 2, 264, 1024},
            {26_log2, h200, 2, 264, 8192},
            {26_log2, huge, 2, 4095, 8192},
            {26_log2, {2047, 232448, true}, 2, 4094, 8192},
            /* 8192 tiles: 272 units of 16, 256 of each smaller size */
            {26_log2 + 1, h200, 3, 132, 272 + 4 * 256},
            {26_log2 + 1, huge, 3, 272 + 4 * 256, 272 + 4 * 256},
            {26_log2 + 1, a100, 4, 272 + 4 * 256, 272 + 4 * 256},
            {40_log2, huge, 3, 4095, 257 + 18 * 256},
            {40_log2, huge_old, 4, 4095, 257 + 18 * 256},
            /* the pipeline's 128 KiB, the bins' 68, the reserve; then 76 and the reserve alone */
            {40_log2, {132, 206848, true}, 3, 132, 257 + 18 * 256},
            {40_log2, {132, 206847, true}, 4, 4095, 257 + 18 * 256},
            {40_log2, {40, 83968, false}, 4, 4095, 257 + 18 * 256},
            {40_log2, {40, 83967, false}, 5, 160, 28_log2},
            {40_log2, {5000, 65536, false}, 5, 4095, 28_log2},
            {22_log2, {132, 83968, false}, 1, 264, 512},
            {22_log2, {132, 83967, false}, 5, 528, 1024},
            {1000, {132, 51200, false}, 0, 1, 1},
            {1000, {132, 51199, false}, 5, 1, 1},
        });
}

/* What a row promises, and the rows of one size together. */
template <class Engine>
static void table_is_sound(const char *what)
{
    constexpr size_t pack_bytes = sizeof(pack<typename Engine::Element>);
    for (unsigned number = 0; number < Engine::rows; ++number) {
        const plan_row row = Engine::row(number);
        check::that(valid_block_size(row.block_size) && row.packs > 0, "%s, row %u", what, number);
        check::that(row.tile_packs() == size_t(row.block_size) * row.packs, "%s, row %u: its tile",
                    what, number);
        if (row.kernel != engine_kernel::pipelined || row.max_bytes == 0) continue;
        const size_t stages = row.used_stages * row.tile_packs() * pack_bytes;
        check::that(row.stages >= 2 && row.used_stages >= 1 && row.used_stages <= row.stages &&
                        row.shared_bytes >= stages && pack_bytes == 16,
                    "%s, row %u: %u of %u stages in %zu bytes", what, number, row.used_stages,
                    row.stages, row.shared_bytes);
    }
    for (const device_limits &device : all_devices) {
        const plan_row last = Engine::row(pick(table_of<Engine>(), SIZE_MAX / pack_bytes, device));
        check::that(last.max_bytes == any_bytes, "%s: the last row is not for any size", what);
        for (int k = 0; k < 60; ++k) {
            for (size_t n : {(size_t(1) << k) - 1, size_t(1) << k, (size_t(1) << k) + 1}) {
                if (n > SIZE_MAX / sizeof(typename Engine::Element)) continue;
                const unsigned number = pick(table_of<Engine>(), n, device);
                const plan_row row = Engine::row(number);
                const work_plan work = plan_work(n / pack<typename Engine::Element>::size, row);
                const unsigned blocks = blocks_of(table_of<Engine>(), row, work.units, device);
                check::that(row.kernel != engine_kernel::pipelined || device.pipelined,
                            "%s, n %zu: a copy engine where there is none", what, n);
                /* the last row serves everywhere: 2 KiB are more than its kernels' own */
                const size_t own = number + 1 == Engine::rows ? 2 * kibibyte : shared_reserve;
                check::that(row.shared_bytes + own <= device.shared_bytes,
                            "%s, n %zu: more shared memory than there is", what, n);
                check::that(blocks >= 1 && blocks <= work.units && blocks <= Engine::most_blocks,
                            "%s, n %zu: %u blocks for %zu units", what, n, blocks, work.units);
                if (row.kernel == engine_kernel::tile)
                    check::that(blocks == work.tiles && blocks == work.units && blocks <= 4096,
                                "%s, n %zu: %u blocks, %zu tiles", what, n, blocks, work.tiles);
                /* the words that blocks publish in, and the counter after them, lie within what
                 * every device is asked for */
                const size_t bytes = engine_workspace_bytes(table_of<Engine>(), n),
                             used = blocks == 1 && row.kernel != engine_kernel::pipelined &&
                                            work.units == 1
                                        ? 0
                                        : Engine::template accumulator<512>::words_for(work.units) +
                                              (row.kernel == engine_kernel::pipelined);
                check::that(used * sizeof(status_word) <= bytes,
                            "%s, n %zu: %zu words in %zu bytes of workspace", what, n, used, bytes);
                /* bits are the same everywhere: tiles and units are */
                const plan_row other = Engine::row(pick(table_of<Engine>(), n, h200));
                if (table_of<Engine>().tiles_matter)
                    check::that(
                        other.block_size == row.block_size && other.packs == row.packs &&
                            plan_work(n / pack<typename Engine::Element>::size, other).units ==
                                work.units,
                        "%s, n %zu: another tree on another device", what, n);
            }
        }
    }
}

/* Never less for more elements; and fastreduce.h's constant is enough for any number of them. */
constexpr size_t enough = FASTREDUCE_WORKSPACE_BYTES;
static_assert(enough == size_t(1) << 20, "a mebibyte");

template <class Engine>
static void workspace_grows(const char *what)
{
    using element = typename Engine::Element;
    size_t last = 0, last_n = 0;
    const auto at = [&](size_t n) {
        const size_t bytes = engine_workspace_bytes(table_of<Engine>(), n);
        check::that(n >= last_n && bytes >= last, "%s: %zu bytes for %zu, %zu for %zu", what, last,
                    last_n, bytes, n);
        check::that(bytes <= enough, "%s: %zu bytes for %zu", what, bytes, n);
        last = bytes;
        last_n = n;
    };
    for (size_t n = 0; n < 70000; ++n) at(n);
    for (size_t n = 70000; n < SIZE_MAX / sizeof(element) / 33 * 32; n += n / 33) at(n);
    at(SIZE_MAX / sizeof(element));
    check::that(engine_workspace_bytes(table_of<Engine>(), 0) == 0 &&
                    engine_workspace_bytes(table_of<Engine>(), 1) == 0,
                "%s: workspace for a single tile", what);
}

static void workspaces()
{
    workspace_grows<sums>("floats");
    workspace_grows<maxima>("greatest floats");
    workspace_grows<auto_engine<plus, double>>("doubles");
    workspace_grows<auto_engine<plus, char>>("chars");
    workspace_grows<auto_engine<maximum, char>>("greatest chars");
    workspace_grows<auto_engine<plus, int>>("ints");
    workspace_grows<auto_engine<plus, four_words>>("four words");
    workspace_grows<auto_engine<plus, three_words>>("three words");
    workspace_grows<auto_engine<plus, three_bytes>>("three bytes");
    workspace_grows<auto_engine<plus, bytes_32>>("32 bytes");
    workspace_grows<exact_engine>("EXACT");

    check::that(engine_workspace_bytes(table_of<sums>(), 14_log2) == 0 &&
                    engine_workspace_bytes(table_of<sums>(), 14_log2 + 1) == 4097 * 8 &&
                    engine_workspace_bytes(table_of<sums>(), 40_log2) ==
                        (4 * 256 + 17 * 257 + 1) * 8,
                "AUTO's workspace: a word a unit at least, and the counter");
    check::that(engine_workspace_bytes(table_of<auto_engine<plus, double>>(), 13_log2) == 0 &&
                    engine_workspace_bytes(table_of<auto_engine<plus, double>>(), 13_log2 + 1) ==
                        (2 * 4096 + 1) * 8 &&
                    engine_workspace_bytes(table_of<auto_engine<plus, char>>(), 16_log2 + 1) ==
                        4097 * 8 &&
                    engine_workspace_bytes(table_of<auto_engine<maximum, char>>(), 16_log2 + 1) ==
                        4097 * 8 &&
                    engine_workspace_bytes(table_of<auto_engine<plus, three_words>>(), 257) ==
                        (2 * 4096 + 1) * 8 &&
                    engine_workspace_bytes(table_of<auto_engine<plus, four_words>>(), 4097) ==
                        (3 * 4096 + 1) * 8,
                "AUTO's workspace: a word for each 63 bits, and sums of bytes have one");
    check::that(engine_workspace_bytes(table_of<exact_engine>(), 12_log2 + 3) == 0 &&
                    engine_workspace_bytes(table_of<exact_engine>(), 12_log2 + 4) == 520 &&
                    engine_workspace_bytes(table_of<exact_engine>(), SIZE_MAX / 4) == 520,
                "EXACT's workspace");
    check::that(
        workspace_bytes(20000) == 4097 * 8 && workspace_bytes<FASTREDUCE_EXACT>(20000) == 520 &&
            workspace_bytes<FASTREDUCE_AUTO, FASTREDUCE_BLOCK_SIZE, FASTREDUCE_ITEMS_PER_THREAD,
                            plus, int>(20000) == (2 * 4096 + 1) * 8 &&
            workspace_bytes(SIZE_MAX / 4) > 0 && workspace_bytes(SIZE_MAX / 4 + 1) == 0,
        "workspace_bytes of AUTO and EXACT");
}

/* Elements and results of up to 32 bytes; larger ones go through V7. */
struct bytes_33 {
    unsigned char part[33];
};
struct widening {
};
template <>
struct fastreduce::accumulate<widening, char> {
    using type = bytes_33;
};
template <>
struct fastreduce::accumulate<widening, short> {
    using type = bytes_32;
};
template <>
struct fastreduce::accumulate<widening, bytes_33> {
    using type = int;
};
static_assert(engine_takes<plus, char>() && engine_takes<plus, bytes_32>(), "up to 32 bytes");
static_assert(!engine_takes<plus, bytes_33>(), "elements too large");
static_assert(engine_takes<widening, short>() && !engine_takes<widening, char>(),
              "results too large");
static_assert(std::is_same<method<FASTREDUCE_AUTO, 256, 8, plus, tail::warp, double>::engine,
                           auto_engine<plus, double>>::value,
              "AUTO is the engine");

/* ---- Tiles and units ------------------------------------------------------------------------- */

static void tiles()
{
    const plan_row row = sums::row(0); /* 1024 packs a tile */
    for (size_t k : {size_t(1), size_t(2), size_t(77), size_t(1) << 50})
        check::that(tiles_of(k * 1024, row) == k && tiles_of(k * 1024 - 1, row) == k &&
                        tiles_of(k * 1024 + 1, row) == k + 1,
                    "%zu tiles", k);
    check::that(tiles_of(0, row) == 1 && tiles_of(1, row) == 1, "no packs still take a tile");
    check::that(tiles_of(SIZE_MAX, row) == SIZE_MAX / 1024 + 1, "no overflow");

    check::that(work_plan::levels_for(1) == 0 && work_plan::levels_for(4096) == 0 &&
                    work_plan::levels_for(4097) == 3 && work_plan::levels_for(8191) == 3 &&
                    work_plan::levels_for(8192) == 4 && work_plan::levels_for(SIZE_MAX) == 54,
                "levels");
    /* where a fixed grid takes turns, units are single tiles */
    const plan_row turns = exact_engine::row(0), all = exact_engine::row(4);
    plan_row in_one_place = turns;
    in_one_place.blocks_per_multiprocessor = 1;
    check::that(plan_work(size_t(1) << 30, turns).levels == 0 &&
                    plan_work(size_t(1) << 30, turns).units == size_t(1) << 20 &&
                    plan_work(size_t(1) << 30, in_one_place).levels == 0 &&
                    plan_work(size_t(1) << 30, all).levels > 0,
                "units of one tile");
}

/* Units cover all tiles, in order; sizes are powers of two that fall by one step at a time, and
 * there are 256 at least of each. */
static void units_of(size_t tiles, unsigned levels)
{
    const work_plan work = work_plan::of(tiles, levels);
    check::that(levels != work_plan::levels_for(tiles) ||
                    work.units <= work_plan::most_units(tiles),
                "%zu tiles: %zu units are more than the most", tiles, work.units);
    check::that(work.tiles == tiles && work.levels == levels && work.prefetch_packs == 0,
                "%zu tiles, %u levels: not what was asked for", tiles, levels);
    std::vector<size_t> units(levels + 1);
    size_t next = 0, last = size_t(1) << levels;
    for (size_t u = 0; u < work.units; ++u) {
        const tile_run run = work.run(u);
        unsigned level = 0;
        while (size_t(1) << level < run.count && level < levels) ++level;
        if (!check::that(run.first == next && run.count == size_t(1) << level &&
                             (run.count == last || 2 * run.count == last),
                         "%zu tiles, %u levels: unit %zu is %zu from %zu", tiles, levels, u,
                         run.count, run.first))
            return;
        ++units[level];
        next = run.first + run.count;
        last = run.count;
    }
    check::that(next == tiles, "%zu tiles, %u levels: units cover %zu", tiles, levels, next);
    const tile_run beyond = work.run(work.units); /* a kernel asks before it stops */
    check::that(beyond.first == tiles && beyond.count == 1,
                "%zu tiles, %u levels: after the last unit come %zu from %zu", tiles, levels,
                beyond.count, beyond.first);
    for (unsigned level = 0; level < levels; ++level)
        check::that(units[level] == 256 || units[level] == 257,
                    "%zu tiles, %u levels: %zu units of 2^%u", tiles, levels, units[level], level);
}

static void units()
{
    for (size_t tiles = 1; tiles <= 10000; tiles += tiles < 300 ? 1 : 97)
        units_of(tiles, work_plan::levels_for(tiles));
    for (size_t tiles : {256 * 7, 256 * 7 + 1, 256 * 7 + 7, 256 * 7 + 8, 256 * 15, 5000, 100001})
        for (unsigned levels = 0; tiles >= 256 * ((size_t(1) << levels) - 1); ++levels)
            units_of(tiles, levels);
    for (unsigned k = 12; k < 64; ++k) {
        for (size_t tiles : {(size_t(1) << k) - 1, size_t(1) << k, (size_t(1) << k) + 1}) {
            const work_plan work = work_plan::of(tiles, work_plan::levels_for(tiles));
            check::that(work.units <= 4096 || work.units <= 770 + 257 * size_t(work.levels),
                        "%zu tiles: %zu units", tiles, work.units);
            check::that(work.units <= work_plan::most_units(tiles) &&
                            work_plan::most_units(tiles - 1) <= work_plan::most_units(tiles),
                        "%zu tiles: at most %zu units", tiles, work_plan::most_units(tiles));
            if (k < 30) units_of(tiles, work.levels);
            const tile_run first = work.run(0), last = work.run(work.units - 1);
            check::that(first.first == 0 && last.first + last.count == tiles && last.count == 1,
                        "%zu tiles: the last unit is %zu from %zu", tiles, last.count, last.first);
        }
    }
    /* the largest number of tiles that any type can have: a partial of each level has its place */
    check::that(work_plan::levels_for(SIZE_MAX / 512) < most_levels, "levels of the largest input");
}

/* A tile's lines: one more than its bytes, where it may begin within one. */
static void stages()
{
    check::that(stage_bytes<reduction<plus, float, 512>, 4096>() == (1 << 16) + 128 &&
                    stage_bytes<superaccumulator<512>, 2048>() == 1 << 15,
                "bytes of a stage");
}

/* 4 MiB over all blocks, 8 KiB at least, and no more than a tile: in packs. */
static void prefetches()
{
    const plan_row large = sums::row(3), small = sums::row(0);
    check::that(packs_to_prefetch(large, 1) == 4096 && packs_to_prefetch(large, 64) == 4096 &&
                    packs_to_prefetch(large, 100) == 2621 && packs_to_prefetch(large, 511) == 513 &&
                    packs_to_prefetch(large, 4096) == 512 && packs_to_prefetch(small, 1) == 1024 &&
                    packs_to_prefetch(small, 300) == 873,
                "packs to prefetch");
}

/* Arrays may end with the address space. */
/* Where n is read when it runs: which row has the tiles of the other size, and for how many. */
template <class Engine>
static void other_row_is(size_t n, unsigned number, size_t most)
{
    const unsigned chosen = pick(table_of<Engine>(), n, h200);
    const other_row other = other_row_for(table_of<Engine>(), n, chosen);
    check::that(other.number == number && other.most == most,
                "at most %zu: row %u for %zu beside row %u", n, other.number, other.most, chosen);
}

static void other_rows()
{
    using doubles = auto_engine<plus, double>;
    using indices = auto_engine<argmin, float>; /* heavy: no large tile before small ones */
    other_row_is<sums>(12_log2, 0, 12_log2);
    other_row_is<sums>(12_log2 + 1, 0, 12_log2);
    other_row_is<sums>(14_log2 + 1, 1, 14_log2);
    other_row_is<sums>(19_log2 + 1, 2, 19_log2);
    other_row_is<sums>(26_log2 + 1, 2, 19_log2);
    other_row_is<doubles>(11_log2 + 1, 0, 11_log2);
    other_row_is<indices>(12_log2 + 1, 2, 12_log2 + 1);
    other_row_is<indices>(19_log2 + 1, 2, 19_log2);
    other_row_is<exact_engine>(21_log2 + 1, 1, 21_log2 + 1);
    check::that(plan_work(size_t(1) << 20, exact_engine::row(0)).single_tiles &&
                    !plan_work(size_t(1) << 20, sums::row(7)).single_tiles,
                "which units are single tiles");
}

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
    check::that(engine_takes<plus, char>() && engine_takes<plus, bytes_32>() &&
                    engine_takes<widening, short>() && !engine_takes<plus, bytes_33>() &&
                    !engine_takes<widening, char>() && !engine_takes<widening, bytes_33>(),
                "what the engine takes");
    const unsigned wanted[] = {8, 1, 1, 1, 2, 2, 2, 8, 8, 8};
    for (int version = FASTREDUCE_AUTO; version <= FASTREDUCE_EXACT; ++version)
        check::that(default_items(static_cast<fastreduce_kernel>(version)) == wanted[version],
                    "items of kernel %d", version);
}

/* Blocks of segments fit where they are planned, with room for the longest that is staged. */
static void segments_fit()
{
    constexpr device_limits turing = {40, 65536, false}, ada = {142, 101376, false};
    for (const device_limits &device :
         {h200, a100, turing, ada, tiny, device_limits{1, 49152, 0}}) {
        const segments_plan plan = plan_segments(device);
        check::that(plan.blocks >= 1 && plan.blocks <= segment_blocks &&
                        (plan.stages == 1 || plan.stages == 2) && plan.stage_bytes % 128 == 0 &&
                        plan.stage_bytes >= least_stage && plan.stage_bytes <= most_stage &&
                        plan.blocks * (plan.shared_bytes() + 2304) <= device.shared_bytes + 1024,
                    "segments in %zu bytes: %u blocks, %u stages of %u bytes", device.shared_bytes,
                    plan.blocks, plan.stages, plan.stage_bytes);
    }
    const segments_plan of_h200 = plan_segments(h200), of_turing = plan_segments(turing);
    check::that(of_h200.blocks == 3 && of_h200.stages == 2 && of_h200.stage_bytes > 30000,
                "segments on an H200: %u blocks, %u stages of %u bytes", of_h200.blocks,
                of_h200.stages, of_h200.stage_bytes);
    check::that(of_turing.blocks == 2 && of_turing.stages == 1,
                "segments where a multiprocessor has 64 KiB: %u blocks, %u stages of %u bytes",
                of_turing.blocks, of_turing.stages, of_turing.stage_bytes);
}

int main()
{
    segments_fit();
    rows_of_auto();
    rows_of_exact();
    table_is_sound<sums>("floats");
    table_is_sound<auto_engine<plus, char>>("chars");
    table_is_sound<auto_engine<minimum, double>>("doubles");
    table_is_sound<auto_engine<plus, three_bytes>>("three bytes");
    table_is_sound<auto_engine<plus, three_words>>("three words");
    table_is_sound<auto_engine<plus, four_words>>("four words");
    table_is_sound<auto_engine<plus, bytes_32>>("32 bytes");
    table_is_sound<exact_engine>("EXACT");
    table_is_sound<exact_sum<double>::engine>("EXACT of doubles");
    table_is_sound<exact_products_engine<exact_products<float>>>("EXACT of products");
    workspaces();
    tiles();
    units();
    stages();
    prefetches();
    for (unsigned size = 0; size <= 4096; ++size) {
        const bool good =
            size == 32 || size == 64 || size == 128 || size == 256 || size == 512 || size == 1024;
        check::that(valid_block_size(size) == good, "block size %u", size);
    }

    const auto levels = [](size_t n, size_t tile) { return make_plan(n, tile, 4).levels; };
    check::that(levels(0, 256) == 1 && levels(1, 256) == 1 && levels(256, 256) == 1, "one level");
    check::that(levels(257, 256) == 2 && levels(65536, 256) == 2, "two levels");
    check::that(levels(65537, 256) == 3 && levels(size_t(1) << 24, 256) == 3, "three levels");
    check::that(levels((size_t(1) << 33) + 3, 32) == 7, "2^33 + 3 by 32");
    check::that(levels(SIZE_MAX, 32) == max_levels, "the largest n by 32");

    for (size_t tile : {32, 64, 256, 512, 2048, 8192, 65536}) {
        for (size_t size : {size_t(1), size_t(4), size_t(8), size_t(16)}) {
            size_t last = 0;
            for (int k = 0; k < 56; ++k) {
                for (size_t n : {(size_t(1) << k) - 1, size_t(1) << k, (size_t(1) << k) + 1}) {
                    const plan made = make_plan(n, tile, size);
                    size_t left = n;
                    for (unsigned level = 0; level < made.levels; ++level) {
                        check::that(made.blocks[level] == blocks_for(left, tile),
                                    "n %zu, tile %zu: level %u has %zu blocks", n, tile, level,
                                    made.blocks[level]);
                        left = made.blocks[level];
                    }
                    check::that(left == 1, "n %zu, tile %zu: ends with %zu partials", n, tile,
                                left);
                    const size_t first = made.levels > 1 ? made.blocks[0] * size : 0;
                    const size_t second = made.levels > 2 ? made.blocks[1] * size : 0;
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
    check::that(workspace_bytes<FASTREDUCE_V0, 32>(33) == make_plan(33, 32, 4).workspace_bytes,
                "float partials");
    check::that(workspace_bytes<FASTREDUCE_V3, 64, 2, plus, int>(size_t(1) << 20) ==
                    make_plan(size_t(1) << 20, 128, 8).workspace_bytes,
                "64-bit partials of integers");

    char bytes[64];
    check::that(overlap(bytes, 10, bytes + 9, 1) && overlap(bytes + 9, 1, bytes, 10),
                "overlap by a byte");
    check::that(!overlap(bytes, 10, bytes + 10, 10) && !overlap(bytes + 10, 10, bytes, 10),
                "neighbours");
    check::that(overlap(bytes, 64, bytes + 8, 4) && overlap(bytes + 8, 4, bytes, 64),
                "one inside the other");
    check::that(overlap(bytes, 8, bytes + 1, 4) && overlap(bytes + 1, 4, bytes, 8),
                "one inside the other, a byte from its beginning");
    for (int k = 0; k < 10; ++k)
        check::that(!overlap(bytes + k, 0, bytes, 10) && !overlap(bytes, 10, bytes + k, 0),
                    "nothing overlaps nothing");

    other_rows();
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

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
static_assert(default_items(FASTREDUCE_AUTO) == 8, "AUTO of other types than float is V7");
static_assert(std::is_same<accumulate_t<plus, float>, float>::value, "");
static_assert(std::is_same<accumulate_t<plus, int>, long long>::value, "");
static_assert(std::is_same<accumulate_t<plus, unsigned char>, unsigned long long>::value, "");
static_assert(std::is_same<accumulate_t<plus, int64_t>, int64_t>::value,
              "a 64-bit type stays as it is");
static_assert(std::is_same<accumulate_t<plus, size_t>, size_t>::value, "");
static_assert(std::is_same<accumulate_t<plus, unsigned long long>, unsigned long long>::value, "");
static_assert(std::is_same<accumulate_t<maximum, int>, int>::value, "");
static_assert(bounds<float>::greatest() > 3.5e38 && bounds<float>::least() < -3.5e38, "infinities");

/* The tables by which AUTO and EXACT choose, at every border: n, GPU, kernel, blocks. */
constexpr size_t operator"" _log2(unsigned long long k)
{
    return size_t(1) << k;
}

namespace
{
template <class Kernel>
struct choice {
    size_t n;
    gpu_facts gpu;
    Kernel kernel;
    unsigned blocks;
};
} // namespace

template <class Kernel, size_t N, class Plan>
static void chosen(const char *what, const choice<Kernel> (&table)[N], Plan plan)
{
    for (const choice<Kernel> &wanted : table) {
        const auto made = plan(wanted.n, wanted.gpu);
        check::that(made.kernel == wanted.kernel && made.blocks == wanted.blocks,
                    "%s, n %zu, %u multiprocessors, %u bytes: kernel %d, %u blocks", what, wanted.n,
                    wanted.gpu.multiprocessors, wanted.gpu.shared_bytes,
                    static_cast<int>(made.kernel), made.blocks);
    }
}

static void choices()
{
    constexpr gpu_facts h200 = {132, 232448, true}, a100 = {108, 166912, false},
                        tiny = {20, 232448, true}, huge = {5000, 232448, true},
                        huge_old = {5000, 166912, false};
    const choice<auto_kernel> autos[] = {
        {0, h200, auto_kernel::tile_256x4, 1},
        {12_log2, h200, auto_kernel::tile_256x4, 1},
        {12_log2 + 1, h200, auto_kernel::tile_512x8, 1},
        {14_log2, h200, auto_kernel::tile_512x8, 1},
        {14_log2 + 1, h200, auto_kernel::tile_256x4, 4},
        {14_log2 + 4, h200, auto_kernel::tile_256x4, 5},
        {19_log2, h200, auto_kernel::tile_256x4, 128},
        {19_log2 + 1, h200, auto_kernel::tile_512x8, 32},
        {26_log2, tiny, auto_kernel::tile_512x8, 4096},
        {26_log2 + 1, h200, auto_kernel::ring_256, 132},
        {26_log2 + 1, a100, auto_kernel::dealt_512x2, 432},
        {40_log2, tiny, auto_kernel::ring_256, 20},
        {40_log2, huge, auto_kernel::ring_256, 4096},
        {40_log2, huge_old, auto_kernel::dealt_512x2, 4096},
        /* 192 KiB and the reserve, 6 KiB */
        {40_log2, {132, 202752, true}, auto_kernel::ring_256, 132},
        {40_log2, {132, 202751, true}, auto_kernel::dealt_512x2, 528},
        {40_log2, {132, 232448, false}, auto_kernel::dealt_512x2, 528},
    };
    chosen("AUTO", autos, plan_auto);
    const choice<exact_kernel> exacts[] = {
        {0, h200, exact_kernel::dealt_256x2, 1},
        {11_log2 + 3, h200, exact_kernel::dealt_256x2, 1},
        {11_log2 + 4, h200, exact_kernel::dealt_256x2, 2},
        {20_log2, h200, exact_kernel::dealt_256x2, 512},
        {20_log2, tiny, exact_kernel::dealt_256x2, 80},
        {21_log2, huge, exact_kernel::dealt_256x2, 1024},
        {21_log2 + 1, h200, exact_kernel::dealt_512x4, 256},
        {21_log2 + 1, tiny, exact_kernel::dealt_512x4, 40},
        {26_log2, h200, exact_kernel::dealt_512x4, 264},
        {26_log2, huge, exact_kernel::dealt_512x4, 1024},
        {26_log2 + 1, h200, exact_kernel::ring_512, 132},
        {26_log2 + 1, huge, exact_kernel::ring_512, 1024},
        {26_log2 + 1, a100, exact_kernel::dealt_512x4, 216},
        /* the ring's 128 KiB, the columns' 68, the reserve; then 76 and the reserve alone */
        {40_log2, {132, 206848, true}, exact_kernel::ring_512, 132},
        {40_log2, {132, 206847, true}, exact_kernel::dealt_512x4, 264},
        {40_log2, {40, 83968, false}, exact_kernel::dealt_512x4, 80},
        {40_log2, {40, 83967, false}, exact_kernel::dealt_256x2, 160},
        {40_log2, {5000, 65536, false}, exact_kernel::dealt_256x2, 1024},
    };
    chosen("EXACT", exacts, plan_exact);
    check::that(auto_workspace_bytes(14_log2) == 0 && auto_workspace_bytes(14_log2 + 1) == 32768,
                "AUTO's workspace");
    check::that(exact_workspace_bytes(11_log2) == 0 && exact_workspace_bytes(11_log2 + 1) == 520,
                "EXACT's workspace");
    check::that(workspace_bytes(20000) == 32768 && workspace_bytes<FASTREDUCE_EXACT>(20000) == 520,
                "workspace_bytes of AUTO and EXACT");
}

int main()
{
    choices();
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
    for (int k = 0; k < 10; ++k)
        check::that(!overlap(bytes + k, 0, bytes, 10) && !overlap(bytes, 10, bytes + k, 0),
                    "nothing overlaps nothing");

    check::that(status_of(cudaSuccess) == 0, "success");
    check::that(status_of(cudaErrorNoDevice) == FASTREDUCE_ERROR_NO_DEVICE, "no device");
    check::that(status_of(cudaErrorInsufficientDriver) == FASTREDUCE_ERROR_NO_DEVICE,
                "insufficient driver");
    check::that(status_of(cudaErrorStubLibrary) == FASTREDUCE_ERROR_NO_DEVICE, "stub library");
    check::that(status_of(cudaErrorInvalidValue) == 1, "others keep their number");
    return check::finish("plan");
}

/* V0..V7 and AUTO on the CPU machine with an element type that logs its accesses: no race, no
 * uninitialised read, no access out of bounds, no barrier that some threads miss, for every
 * block size, ragged sizes, and three schedules. This is the test that must fail when any
 * barrier is taken out of fastreduce.cuh (test/quality/mutants.py takes them out). */
#define FASTREDUCE_HOST_IMPLEMENTATION
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/dynamic_shared.h"
#include "../common/one_row.h"
namespace fastreduce::FASTREDUCE_DETAIL_ABI::detail
{
template <class T>
struct moves_as_bytes<simt::traced<T>> : std::true_type {
};
} // namespace fastreduce::FASTREDUCE_DETAIL_ABI::detail

using traced = simt::traced<float>;

template <fastreduce_kernel Version, unsigned BlockSize, unsigned Items, fastreduce::tail Tail>
static void run(size_t n, simt::order schedule)
{
    const std::vector<float> values = check::make(check::data::integers, n, n + BlockSize);
    check::buffer<traced> input(n), output(1);
    input.set(reinterpret_cast<const traced *>(values.data()));
    simt::reset();
    simt::settings().trace = true;
    simt::settings().schedule = schedule;
    const fastreduce_status status =
        fastreduce::reduce<Version, BlockSize, Items, fastreduce::plus, Tail>(input.data(),
                                                                              output.data(), n);
    simt::settings() = simt::options();
    check::that(status == 0, "%s, block %u, items %u, n %zu, schedule %d: %s",
                fastreduce_kernel_name(Version), BlockSize, Items, n, static_cast<int>(schedule),
                simt::report().c_str());
    if (status != 0) return;
    float got;
    std::memcpy(&got, static_cast<const void *>(output.data()), sizeof got);
    check::that(got == fastreduce_host_sum_f32(values.data(), n), "%s, block %u, n %zu: %.9g",
                fastreduce_kernel_name(Version), BlockSize, n, static_cast<double>(got));
}

template <fastreduce_kernel Version, unsigned BlockSize,
          unsigned Items = fastreduce::default_items(Version),
          fastreduce::tail Tail = fastreduce::tail::warp>
static void sizes()
{
    const size_t tile = static_cast<size_t>(BlockSize) * Items;
    for (size_t n : {size_t(0), size_t(1), size_t(33), tile - 1, tile, 3 * tile + tile / 2 + 1})
        for (simt::order schedule :
             {simt::order::forward, simt::order::reverse, simt::order::random})
            run<Version, BlockSize, Items, Tail>(n, schedule);
}

template <fastreduce_kernel Version>
static void block_sizes()
{
    sizes<Version, 32>();
    sizes<Version, 64>();
    sizes<Version, 128>();
    sizes<Version, 256>();
    sizes<Version, 1024>();
}

/* The engine's kernels whose threads meet at barriers of the block and of warps, which is what the
 * log knows: a tile a block, and units in turn, where a warp collects one tile while the others are
 * at the next. */
template <fastreduce::detail::engine_kernel Kernel, unsigned BlockSize, unsigned Packs>
static void engine(size_t tiles, unsigned levels, unsigned blocks)
{
    using namespace fastreduce::detail;
    using row =
        one_row::engine<reduction<fastreduce::plus, traced, BlockSize>, Kernel, BlockSize, Packs>;
    const size_t n = tiles * BlockSize * Packs * 4 - 3;
    const std::vector<float> values = check::make(check::data::integers, n, n);
    check::buffer<traced> input(n), output(1);
    check::buffer<status_word> words(tiles + 1);
    input.set(reinterpret_cast<const traced *>(values.data()));
    words.fill(0);
    const work_plan work = work_plan::of(tiles, levels);
    if (blocks == 0) blocks = static_cast<unsigned>(work.units);
    for (simt::order schedule : {simt::order::forward, simt::order::reverse, simt::order::random}) {
        simt::reset();
        simt::settings().trace = true;
        simt::settings().schedule = schedule;
        const cudaError_t error =
            one_row::launch<row>(0, blocks, 0, one_row::array_of<row>(0, input.data(), n), work,
                                 output_of<fastreduce::plus, traced>(output.data()), words.data());
        simt::settings() = simt::options();
        check::that(error == cudaSuccess, "engine, kernel %d, %u x %u, %zu tiles, schedule %d: %s",
                    static_cast<int>(Kernel), BlockSize, Packs, tiles, static_cast<int>(schedule),
                    simt::report().c_str());
        if (error != cudaSuccess) continue;
        float got;
        std::memcpy(&got, static_cast<const void *>(output.data()), sizeof got);
        check::that(got == fastreduce_host_sum_f32(values.data(), n) && words.every_byte_is(0),
                    "engine, kernel %d, %zu tiles: %.9g", static_cast<int>(Kernel), tiles,
                    static_cast<double>(got));
    }
}

static void engines()
{
    using fastreduce::detail::engine_kernel;
    for (size_t tiles : {1, 2, 5, 70}) {
        engine<engine_kernel::tile, 32, 2>(tiles, 0, 0);
        engine<engine_kernel::tile, 64, 1>(tiles, 0, 0);
        engine<engine_kernel::grid_stride, 64, 2>(tiles, 0, 1);
        engine<engine_kernel::grid_stride, 128, 1>(tiles, 0, 0);
    }
    engine<engine_kernel::tile, 512, 1>(3, 0, 0);
    engine<engine_kernel::grid_stride, 64, 1>(261, 1, 1);
    engine<engine_kernel::grid_stride, 512, 1>(7, 0, 2);
    for (size_t n : {size_t(0), size_t(5000), size_t(20000)})
        for (simt::order schedule : {simt::order::forward, simt::order::reverse})
            run<FASTREDUCE_AUTO, FASTREDUCE_BLOCK_SIZE, FASTREDUCE_ITEMS_PER_THREAD,
                fastreduce::tail::warp>(n, schedule);
}

int main()
{
    engines();
    block_sizes<FASTREDUCE_V0>();
    block_sizes<FASTREDUCE_V1>();
    block_sizes<FASTREDUCE_V2>();
    block_sizes<FASTREDUCE_V3>();
    block_sizes<FASTREDUCE_V4>();
    block_sizes<FASTREDUCE_V5>();
    block_sizes<FASTREDUCE_V6>();
    block_sizes<FASTREDUCE_V7>();
    /* the lecture's sum_warp and sum_unroll */
    sizes<FASTREDUCE_V4, 256, 1, fastreduce::tail::warp>();
    sizes<FASTREDUCE_V4, 32, 1, fastreduce::tail::block>();
    sizes<FASTREDUCE_V4, 256, 1, fastreduce::tail::block>();
    return check::finish("races");
}

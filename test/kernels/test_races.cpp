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
struct is_trivially_copyable<simt::traced<T>> : std::true_type {
};
} // namespace fastreduce::FASTREDUCE_DETAIL_ABI::detail

using traced = simt::traced<float>;

template <fastreduce_kernel Version, unsigned BlockSize, unsigned Items>
static void run(size_t n, simt::order schedule)
{
    const std::vector<float> values = check::make(check::data::integers, n, n + BlockSize);
    check::buffer<traced> input(n), output(1);
    input.set(reinterpret_cast<const traced *>(values.data()));
    simt::reset();
    simt::settings().trace = true;
    simt::settings().schedule = schedule;
    simt::settings().blocks_in_order = Version == FASTREDUCE_AUTO;
    const fastreduce_status status =
        fastreduce::reduce<Version, BlockSize, Items>(input.data(), output.data(), n);
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
          unsigned Items = fastreduce::default_items(Version)>
static void sizes()
{
    const size_t tile = static_cast<size_t>(BlockSize) * Items;
    for (size_t n : {size_t(0), size_t(1), size_t(33), tile - 1, tile, 3 * tile + tile / 2 + 1})
        for (simt::order schedule :
             {simt::order::forward, simt::order::reverse, simt::order::random})
            run<Version, BlockSize, Items>(n, schedule);
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

/* AUTO's kernel in small blocks: groups of blocks that one warp awaits, and such that several do,
 * which are handed on at barriers; runs of several tiles; and runs that blocks take in turn, as n
 * is on the device. */
template <unsigned BlockSize, unsigned Packs>
static void engine(size_t tiles, size_t most_words, bool counted)
{
    using namespace fastreduce::detail;
    using sum = reducer_t<fastreduce::plus, traced>;
    const size_t n = tiles * BlockSize * Packs * 4 - 3;
    const std::vector<float> values = check::make(check::data::integers, n, n);
    check::buffer<traced> input(n), output(1);
    check::buffer<size_t> count(1);
    const size_t bytes =
        array_workspace_bytes(sizes_of<sum, BlockSize, Packs, BlockSize, Packs>(), n);
    check::buffer<unsigned char> memory(bytes);
    input.set(reinterpret_cast<const traced *>(values.data()));
    memory.fill(0);
    count.set(&n);
    one_row::pairwise_call call;
    call.most_words = most_words;
    if (counted) call.n_on_device = count.data();
    for (simt::order schedule : {simt::order::forward, simt::order::reverse, simt::order::random}) {
        simt::reset();
        simt::settings().trace = true;
        simt::settings().schedule = schedule;
        simt::settings().blocks_in_order = true;
        const fastreduce_status status = one_row::reduce_pairwise_in<sum, BlockSize, Packs>(
            input.data(), n, output.data(), sum(), {bytes ? memory.data() : nullptr, bytes}, call);
        simt::settings() = simt::options();
        check::that(status == 0, "engine, %u x %u, %zu tiles, %zu words, schedule %d: %s",
                    BlockSize, Packs, tiles, most_words, static_cast<int>(schedule),
                    simt::report().c_str());
        if (status != 0) {
            memory.fill(0);
            continue;
        }
        float got;
        std::memcpy(&got, static_cast<const void *>(output.data()), sizeof got);
        check::that(got == fastreduce_host_sum_f32(values.data(), n) && memory.every_byte_is(0),
                    "engine, %u x %u, %zu tiles, %zu words: %.9g", BlockSize, Packs, tiles,
                    most_words, static_cast<double>(got));
    }
}

static void engines()
{
    const size_t all = fastreduce::detail::workspace_words;
    for (size_t tiles : {1, 2, 5, 70}) {
        engine<32, 2>(tiles, all, false);
        engine<64, 1>(tiles, all, false);
        engine<128, 2>(tiles, all, false);
        engine<64, 2>(tiles, 30, false);
        engine<128, 1>(tiles, 12, false);
    }
    engine<512, 1>(3, all, false);
    engine<64, 1>(261, all, false); /* groups that both warps await, and a group of these */
    engine<64, 1>(64 * 65, 3000, false);
    engine<32, 1>(1100, all, true);
    engine<64, 1>(1100, all, true);
    engine<64, 1>(2200, 1300, true);
    for (size_t n : {size_t(0), size_t(5000), size_t(20000)})
        for (simt::order schedule : {simt::order::forward, simt::order::reverse})
            run<FASTREDUCE_AUTO, FASTREDUCE_BLOCK_SIZE, FASTREDUCE_ITEMS_PER_THREAD>(n, schedule);
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
    return check::finish("races");
}

/* V0..V7 on the CPU machine with an element type that logs its accesses: no race, no
 * uninitialised read, no access out of bounds, no barrier that some threads miss, for every
 * block size, ragged sizes, and three schedules. This is the test that must fail when any
 * barrier is taken out of fastreduce.cuh (test/quality/mutants.py takes them out). */
#define FASTREDUCE_HOST_IMPLEMENTATION
#include "../../fastreduce.cuh"
#include "../common/check.h"
namespace fastreduce::FASTREDUCE_DETAIL_ABI::detail
{
SIMT_DYNAMIC_SHARED(dynamic_shared_bytes)
template <class T>
struct moves_as_bytes<simt::traced<T>> : std::true_type {
};
} // namespace fastreduce::FASTREDUCE_DETAIL_ABI::detail

using element = simt::traced<float>;

template <fastreduce_kernel Version, unsigned BlockSize, unsigned Items, fastreduce::tail Tail>
static void run(size_t n, simt::order schedule)
{
    const std::vector<float> values = check::make(check::data::integers, n, n + BlockSize);
    check::buffer<element> input(n), output(1);
    input.set(reinterpret_cast<const element *>(values.data()));
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

int main()
{
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

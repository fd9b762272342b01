/* The exact sum on the GPU or the CPU machine: the bits of the host's exact sum, which
 * test_host.c compares with MPFR, and with -DHAVE_MPFR of mpfr_sum itself, for every kernel with
 * grids of its own. The accumulators must be equal limb by limb. */
#include <cuda_runtime.h>
#ifdef SIMT_MACHINE
#define FASTREDUCE_HOST_IMPLEMENTATION
#else
#define FASTREDUCE_IMPLEMENTATION
#endif
#include "../../fastreduce.cuh"
#include "../common/exact_data.h"
#ifdef HAVE_MPFR
#include "../common/oracle.h"
#endif
#ifdef SIMT_MACHINE
namespace fastreduce::FASTREDUCE_DETAIL_ABI::detail
{
SIMT_DYNAMIC_SHARED(dynamic_shared_bytes)
}
#endif

using namespace fastreduce;
using namespace fastreduce::detail;

struct expected {
    float sum;
    fastreduce_accumulator accumulator;
};

static expected expect(const char *what, const std::vector<float> &values)
{
    const expected e = {fastreduce_host_sum_f32(values.data(), values.size()),
                        exact_data::accumulated(values.data(), values.size())};
#ifdef HAVE_MPFR
    if (values.size() <= 200000) {
        const float oracle = mpfr_oracle(values.data(), values.size());
        check::that(exact_data::bits_of(e.sum) == exact_data::bits_of(oracle),
                    "%s, n %zu: the host %.9g, MPFR %.9g", what, values.size(),
                    static_cast<double>(e.sum), static_cast<double>(oracle));
    }
#else
    (void)what;
#endif
    return e;
}

static bool same(const fastreduce_accumulator &a, const fastreduce_accumulator &b)
{
    return std::memcmp(&a, &b, sizeof a) == 0;
}

static const char *name(exact_kernel kernel)
{
    return kernel == exact_kernel::dealt_256x2   ? "dealt 256 x 2"
           : kernel == exact_kernel::dealt_512x4 ? "dealt 512 x 4"
                                                 : "ring";
}

/* Each case runs in another order than the one before. */
static void next_order()
{
#ifdef SIMT_MACHINE
    static unsigned turn = 0;
    simt::settings().schedule = static_cast<simt::order>(turn++ % 3); /* forward, reverse, random */
#endif
}

static void run_case(const exact_plan &made, const char *what, const std::vector<float> &values,
                     size_t offset)
{
    next_order();
    const size_t n = values.size();
    check::buffer<float> input(n, offset), rounded(1, offset);
    check::buffer<fastreduce_accumulator> total(1);
    check::buffer<published> slots(exact_sum<512>::status_words_used + 1);
    const expected wanted = expect(what, values);
    const float before[2] = {0x1p+90f, -3.25f};
    fastreduce_accumulator start = exact_data::accumulated(before, 2);
    input.set(values);
    slots.fill(0);
    rounded.fill(0x7f);
    total.set(&start);
    gpu_facts gpu = {};
    CUDA(find_gpu_facts(launch_of(exact_kernel::ring_512), &gpu));
    const auto launch = [&](exact_output output) {
        CUDA(launch_tuned(launch_of(made.kernel), made.blocks, gpu.device,
                          static_cast<const float *>(input.data()), output, n, slots.data(),
                          nullptr));
        CUDA(cudaDeviceSynchronize());
    };
    launch({rounded.data(), nullptr});
    launch({nullptr, total.data()}); /* relies on the slots that the first left */
    fastreduce_accumulator_merge(&start, &wanted.accumulator);
    const float got = rounded.get()[0];
    check::that(exact_data::bits_of(got) == exact_data::bits_of(wanted.sum),
                "%s, %u blocks, %s, n %zu, offset %zu: %.9g (%08x) instead of %.9g (%08x)",
                name(made.kernel), made.blocks, what, n, offset, static_cast<double>(got),
                exact_data::bits_of(got), static_cast<double>(wanted.sum),
                exact_data::bits_of(wanted.sum));
    check::that(same(total.get()[0], start),
                "%s, %u blocks, %s, n %zu, offset %zu: another accumulator", name(made.kernel),
                made.blocks, what, n, offset);
    check::that(slots.every_byte_is(0) && slots.canaries_alive() && rounded.canaries_alive() &&
                    total.canaries_alive(),
                "%s, %u blocks, %s, n %zu: slots left dirty, or a write outside", name(made.kernel),
                made.blocks, what, n);
}

static bool has_ring()
{
    gpu_facts gpu = {};
    CUDA(find_gpu_facts(launch_of(exact_kernel::ring_512), &gpu));
    return !on_gpu || plan_exact(SIZE_MAX / 8, gpu).kernel == exact_kernel::ring_512;
}

/* Sizes about the tiles of both kernels, all offsets from a vector's and a copy's alignment that
 * differ, grids of 1 to 7. */
static void small_sizes(bool everything)
{
    const size_t tile = 4 * 256 * 2;
    unsigned long long seed = 0;
    for (const exact_data::pattern &p : exact_data::patterns()) {
        for (size_t n : {size_t(1), size_t(2), size_t(33), tile - 1, tile + 1, 3 * tile + 77}) {
            for (unsigned blocks : {1u, 3u}) {
                if (!everything && blocks == 1 && n < tile) continue;
                ++seed;
                const std::vector<float> values = exact_data::make(p, n, seed);
                run_case({seed % 2 ? exact_kernel::dealt_256x2 : exact_kernel::dealt_512x4, blocks},
                         p.name, values, seed / 2 % 4);
                if (has_ring())
                    run_case({exact_kernel::ring_512, blocks}, p.name, values, seed % 37);
            }
        }
    }
    for (unsigned blocks : {1u, 2u, 7u})
        run_case({exact_kernel::dealt_256x2, blocks}, "nothing", {}, blocks % 4);
    if (has_ring())
        for (unsigned blocks : {1u, 2u, 7u})
            run_case({exact_kernel::ring_512, blocks}, "nothing", {}, blocks);
    for (size_t offset = 0; offset < 40; offset += everything ? 1 : 7) {
        const std::vector<float> values =
            exact_data::make(exact_data::patterns()[0], 5 * tile + 99, offset);
        run_case({exact_kernel::dealt_256x2, 5}, "any bits", values, offset);
        if (has_ring()) run_case({exact_kernel::ring_512, 2}, "any bits", values, offset);
    }
}

/* Every pattern where the ring turns and windows move, and with many blocks. */
static void larger_sizes()
{
    const size_t n = on_gpu ? (size_t(1) << 22) + 4321 : 70001;
    unsigned long long seed = 100;
    for (const exact_data::pattern &p : exact_data::patterns()) {
        const std::vector<float> values = exact_data::make(p, n, ++seed);
        run_case({exact_kernel::dealt_512x4, on_gpu ? 512u : 2u}, p.name, values, seed % 4);
        if (has_ring())
            run_case({exact_kernel::ring_512, on_gpu ? 132u : 1u}, p.name, values, seed % 4);
    }
    const std::vector<float> values = exact_data::make(exact_data::patterns()[0], n, 1);
    run_case({exact_kernel::dealt_256x2, on_gpu ? 300u : 35u}, "any bits", values, 1);
}

/* By the public functions: the launcher, the pool, C++. */
static void public_functions()
{
    unsigned long long seed = 500;
    for (size_t n : {size_t(0), size_t(1), size_t(4095), size_t(4097), size_t(20000)}) {
        const std::vector<float> values = exact_data::make(exact_data::patterns()[0], n, ++seed);
        const expected wanted = expect("any bits", values);
        check::buffer<float> input(n, 3), output(1);
        check::buffer<fastreduce_accumulator> total(1);
        input.set(values);
        for (bool pooled : {true, false}) {
            next_order();
            workspace scratch = {nullptr, 0};
            check::buffer<unsigned char> memory(exact_workspace_bytes(n));
            memory.fill(0);
            if (!pooled) scratch = {memory.data(), memory.bytes()};
            output.fill(0x7f);
            total.fill(0);
            const fastreduce_status first =
                reduce<FASTREDUCE_EXACT>(input.data(), output.data(), n, nullptr, scratch);
            const fastreduce_status second =
                accumulate_exactly(input.data(), total.data(), n, nullptr, scratch);
            CUDA(cudaDeviceSynchronize());
            check::that(first == 0 &&
                            exact_data::bits_of(output.get()[0]) == exact_data::bits_of(wanted.sum),
                        "reduce<EXACT>, n %zu: status %d, %.9g", n, first,
                        static_cast<double>(output.get()[0]));
            check::that(second == 0 && same(total.get()[0], wanted.accumulator),
                        "accumulate_exactly, n %zu: status %d", n, second);
            check::that(memory.every_byte_is(0) && memory.canaries_alive(),
                        "n %zu: workspace left dirty", n);
        }
        check::that(workspace_bytes<FASTREDUCE_EXACT>(n) == exact_workspace_bytes(n),
                    "workspace_bytes<EXACT>");
    }
}

/* The choice fits every GPU: enough slots, no ring where there is none. */
static void choices()
{
    for (const gpu_facts &gpu : {gpu_facts{132, 232448, true}, gpu_facts{108, 166912, false},
                                 gpu_facts{1, 101376, true}, gpu_facts{5000, 232448, true}}) {
        size_t before = 0;
        for (int k = 0; k < 62; ++k) {
            for (size_t n : {(size_t(1) << k) - 1, size_t(1) << k, (size_t(1) << k) + 1}) {
                const exact_plan made = plan_exact(n, gpu);
                const size_t bytes = exact_workspace_bytes(n);
                check::that(
                    made.blocks == 1 ||
                        (made.blocks > 1 && made.blocks <= exact_max_blocks &&
                         bytes == (exact_sum<512>::status_words_used + 1) * sizeof(published)),
                    "n %zu: %u blocks, but %zu bytes", n, made.blocks, bytes);
                check::that(bytes >= before, "n %zu: less workspace than for a smaller n", n);
                check::that(made.kernel != exact_kernel::ring_512 ||
                                (gpu.hopper && gpu.shared_bytes > 200000),
                            "n %zu: a ring where there is none", n);
                before = bytes;
            }
        }
    }
}

#ifndef SIMT_MACHINE
#include "exact_gpu.h"
#endif

int main(int argc, char **)
{
    /* an argument leaves out what a sanitizer takes too long for */
    const bool everything = on_gpu && argc == 1;
    check::need_device();
    choices();
    small_sizes(everything);
    public_functions();
    larger_sizes();
#ifndef SIMT_MACHINE
    if (everything) {
        long_runs();
        permutations();
        big();
    }
#endif
    return check::finish("exact");
}

/* The exact sum on the GPU or the CPU machine: the bits of the host's exact sum, which
 * test_host.c compares with MPFR, and with -DHAVE_MPFR of mpfr_sum itself, for every kernel with
 * grids of its own. The accumulators must be equal limb by limb. */
#include <cuda_runtime.h>
#ifdef SIMT_MACHINE
#define FASTREDUCE_HOST_IMPLEMENTATION
#else
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#endif
#include "../../fastreduce.cuh"
#include "../common/dynamic_shared.h"
#include "../common/exact_data.h"
#include "../common/one_row.h"
#include "../common/order.h"
#ifdef HAVE_MPFR
#include "../common/oracle.h"
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

/* In blocks of so many threads, as many as the test likes, as far as there are tiles. */
template <unsigned BlockSize>
static void run_case(unsigned blocks, const char *what, const std::vector<float> &values,
                     size_t offset)
{
    order::next();
    const size_t n = values.size();
    check::buffer<float> input(n, offset), rounded(1, offset);
    check::buffer<fastreduce_accumulator> total(1);
    check::buffer<status_word> words(superaccumulator<BlockSize>::status_words);
    const expected wanted = expect(what, values);
    const float before[2] = {0x1p+90f, -3.25f};
    fastreduce_accumulator start = exact_data::accumulated(before, 2);
    input.set(values);
    words.fill(0);
    rounded.fill(0x7f);
    total.set(&start);
    const auto launch = [&](exact_output output) {
        const fastreduce_status status = one_row::reduce_exact_in<superaccumulator<BlockSize>>(
            blocks, input.data(), n, output, words.data());
        check::that(status == 0, "blocks of %u: status %d", BlockSize, status);
        CUDA(cudaDeviceSynchronize());
    };
    launch({rounded.data(), nullptr});
    launch({nullptr, total.data()->limb}); /* relies on the words that the first left */
    fastreduce_accumulator_merge(&start, &wanted.accumulator);
    const float got = rounded.get()[0];
    check::that(exact_data::bits_of(got) == exact_data::bits_of(wanted.sum),
                "%u blocks of %u, %s, n %zu, offset %zu: %.9g (%08x) instead of %.9g (%08x)",
                blocks, BlockSize, what, n, offset, static_cast<double>(got),
                exact_data::bits_of(got), static_cast<double>(wanted.sum),
                exact_data::bits_of(wanted.sum));
    check::that(same(total.get()[0], start),
                "%u blocks of %u, %s, n %zu, offset %zu: another accumulator", blocks, BlockSize,
                what, n, offset);
    check::that(words.every_byte_is(0) && words.canaries_alive() && rounded.canaries_alive() &&
                    total.canaries_alive(),
                "%u blocks of %u, %s, n %zu: words left dirty, or a write outside", blocks,
                BlockSize, what, n);
}

/* Sizes about the tiles, all offsets from a vector's alignment, grids of 1 to 7. */
static void small_sizes(bool everything)
{
    const size_t tile = 16 * 256;
    unsigned long long seed = 0;
    for (const exact_data::pattern &p : exact_data::patterns()) {
        for (size_t n : {size_t(1), size_t(2), size_t(33), tile - 1, tile + 1, 3 * tile + 77}) {
            for (unsigned blocks : {1u, 3u}) {
                if (!everything && blocks == 1 && n < tile) continue;
                ++seed;
                const std::vector<float> values = exact_data::make(p, n, seed);
                run_case<256>(blocks, p.name, values, seed % 36);
                run_case<64>(blocks, p.name, values, seed % 36);
            }
        }
    }
    for (size_t offset : {0, 5, 35}) run_case<256>(1, "nothing", {}, offset);
    for (unsigned blocks : {1u, 2u, 7u}) {
        const size_t n = tile * blocks + blocks * 17;
        run_case<256>(blocks, "any bits", exact_data::make(exact_data::patterns()[0], n, blocks),
                      blocks * 9);
    }
    for (size_t offset = 0; offset < 36; ++offset) {
        const std::vector<float> values =
            exact_data::make(exact_data::patterns()[0], 2 * tile + 99, offset);
        run_case<256>(2, "any bits", values, offset);
        run_case<256>(1, "a few", {values.begin(), values.begin() + 40}, offset);
    }
}

/* Every pattern where windows move, and with many blocks. */
static void larger_sizes()
{
    const size_t n = on_gpu ? (size_t(1) << 22) + 4321 : 70001;
    unsigned long long seed = 100;
    for (const exact_data::pattern &p : exact_data::patterns()) {
        const std::vector<float> values = exact_data::make(p, n, ++seed);
        run_case<256>(on_gpu ? 500 : 2, p.name, values, seed % 36);
        run_case<64>(on_gpu ? 132 : 1, p.name, values, seed % 36);
    }
    const std::vector<float> values = exact_data::make(exact_data::patterns()[0], n, 1);
    run_case<32>(on_gpu ? 300 : 35, "any bits", values, 1);
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
            order::next();
            workspace scratch = {nullptr, 0};
            check::buffer<unsigned char> memory(workspace_bytes<FASTREDUCE_EXACT>(n));
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
        check::that(workspace_bytes<FASTREDUCE_EXACT>(n) ==
                        (n > 4096 ? superaccumulator<32>::status_words * sizeof(status_word) : 0),
                    "workspace_bytes<EXACT>");
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

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

/* Rows of the table; some have the same kernel and differ in how it loads. */
constexpr unsigned stride_256 = 0, stride_512 = 1, streaming_512 = 2, pipelined_512 = 3,
                   units_512 = 4;

static const char *name(unsigned row)
{
    const char *const names[] = {"256 x 2",   "512 x 4",        "512 x 4, streaming",
                                 "pipelined", "512 x 4, units", "256 x 2, any size"};
    return names[row];
}

static device_limits this_device(int *device)
{
    device_limits limits = {};
    CUDA(find_limits(&limits, device));
    CUDA(one_row::pipelines<exact_engine>(pipelined_512, *device, &limits.pipelined));
    return limits;
}

static bool runs_here(unsigned number)
{
    int device;
    const device_limits limits = this_device(&device);
    const plan_entry row = exact_engine::row(number);
    return !on_gpu || (row.shared_bytes + shared_reserve <= limits.shared_bytes &&
                       (row.kernel != engine_kernel::pipelined || limits.pipelined));
}

/* By a kernel of the table, with as many blocks as the test likes, as far as there are units for
 * them, and levels. */
static void run_case(unsigned number, unsigned blocks, const char *what,
                     const std::vector<float> &values, size_t offset, unsigned levels = 0)
{
    order::next();
    const plan_entry row = exact_engine::row(number);
    const size_t n = values.size();
    check::buffer<float> input(n, offset), rounded(1, offset);
    check::buffer<fastreduce_accumulator> total(1);
    const array_layout array = one_row::array_of<exact_engine>(number, input.data(), n);
    const work_plan work = work_plan::of(tiles_of(array.packs, row), levels);
    if (blocks > work.units) blocks = static_cast<unsigned>(work.units);
    check::buffer<status_word> words(one_row::words_of<exact_engine>(work.units));
    const expected wanted = expect(what, values);
    const float before[2] = {0x1p+90f, -3.25f};
    fastreduce_accumulator start = exact_data::accumulated(before, 2);
    input.set(values);
    words.fill(0);
    rounded.fill(0x7f);
    total.set(&start);
    int device;
    this_device(&device);
    const auto launch = [&](exact_output output) {
        CUDA(one_row::launch<exact_engine>(number, blocks, device, array, work, output,
                                           words.data()));
        CUDA(cudaDeviceSynchronize());
    };
    launch({rounded.data(), nullptr});
    launch({nullptr, total.data()->limb}); /* relies on the words that the first left */
    fastreduce_accumulator_merge(&start, &wanted.accumulator);
    const float got = rounded.get()[0];
    check::that(exact_data::bits_of(got) == exact_data::bits_of(wanted.sum),
                "%s, %u blocks, %u levels, %s, n %zu, offset %zu: %.9g (%08x) instead of %.9g "
                "(%08x)",
                name(number), blocks, levels, what, n, offset, static_cast<double>(got),
                exact_data::bits_of(got), static_cast<double>(wanted.sum),
                exact_data::bits_of(wanted.sum));
    check::that(same(total.get()[0], start),
                "%s, %u blocks, %u levels, %s, n %zu, offset %zu: another accumulator",
                name(number), blocks, levels, what, n, offset);
    check::that(words.every_byte_is(0) && words.canaries_alive() && rounded.canaries_alive() &&
                    total.canaries_alive(),
                "%s, %u blocks, %s, n %zu: words left dirty, or a write outside", name(number),
                blocks, what, n);
}

/* Sizes about the tiles of both sizes, all offsets from a line's alignment, grids of 1 to 7. */
static void small_sizes(bool everything)
{
    const size_t tile = 4 * 256 * 2, largest_tile = 4 * 512 * 4;
    unsigned long long seed = 0;
    for (const exact_data::pattern &p : exact_data::patterns()) {
        for (size_t n : {size_t(1), size_t(2), size_t(33), tile - 1, tile + 1, 3 * tile + 77}) {
            for (unsigned blocks : {1u, 3u}) {
                if (!everything && blocks == 1 && n < tile) continue;
                ++seed;
                const std::vector<float> values = exact_data::make(p, n, seed);
                run_case(seed % 2 ? stride_256 : streaming_512, blocks, p.name, values, seed % 36);
                if (runs_here(pipelined_512))
                    run_case(pipelined_512, blocks, p.name, values, seed % 36);
            }
        }
    }
    for (unsigned number = 0; number < exact_engine::rows; ++number) {
        if (!runs_here(number)) continue;
        for (size_t offset : {0, 5, 35}) run_case(number, 1, "nothing", {}, offset);
        for (unsigned blocks : {1u, 2u, 7u}) {
            const size_t n = largest_tile * blocks + blocks * 17;
            run_case(number, blocks, "any bits",
                     exact_data::make(exact_data::patterns()[0], n, blocks), blocks * 9);
        }
    }
    for (size_t offset = 0; offset < 36; ++offset) {
        const std::vector<float> values =
            exact_data::make(exact_data::patterns()[0], 2 * largest_tile + 99, offset);
        for (unsigned number : {stride_256, stride_512, streaming_512, pipelined_512, units_512}) {
            /* the CPU machine takes one kernel at an offset */
            if (!runs_here(number) || (!everything && number != offset % 5)) continue;
            run_case(number, 2, "any bits", values, offset);
            const std::vector<float> few(values.begin(), values.begin() + 40);
            run_case(number, 1, "a few", few, offset);
        }
    }
}

/* Every pattern where stages are used again and windows move, and with many blocks. */
static void larger_sizes()
{
    const size_t n = on_gpu ? (size_t(1) << 22) + 4321 : 70001;
    unsigned long long seed = 100;
    for (const exact_data::pattern &p : exact_data::patterns()) {
        const std::vector<float> values = exact_data::make(p, n, ++seed);
        run_case(stride_512, on_gpu ? 512 : 2, p.name, values, seed % 36);
        if (runs_here(pipelined_512))
            run_case(pipelined_512, on_gpu ? 132 : 1, p.name, values, seed % 36);
    }
    const std::vector<float> values = exact_data::make(exact_data::patterns()[0], n, 1);
    run_case(stride_256, on_gpu ? 300 : 35, "any bits", values, 1);
}

#ifndef SIMT_MACHINE
/* Units of several tiles, from a counter or in turn. On the CPU machine test_small.cpp has them, in
 * tiles of 128. */
static void larger_units()
{
    const size_t tile = 4 * 512 * 4;
    unsigned long long seed = 300;
    for (unsigned levels : {1u, 2u, 3u}) {
        const size_t n = tile * 256 * ((size_t(1) << levels) + 1) + 4099;
        for (unsigned blocks : {1u, 7u, 132u, 257u}) {
            const exact_data::pattern &p =
                exact_data::patterns()[++seed % exact_data::patterns().size()];
            const std::vector<float> values = exact_data::make(p, n, seed);
            for (unsigned number = 0; number < exact_engine::rows; ++number)
                if (runs_here(number)) run_case(number, blocks, p.name, values, seed % 36, levels);
        }
    }
}

#endif

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
            check::buffer<unsigned char> memory(
                engine_workspace_bytes(engine_of<exact_engine>(), n));
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
                        engine_workspace_bytes(engine_of<exact_engine>(), n),
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
        larger_units();
        long_runs();
        permutations();
        big();
    }
#endif
    return check::finish("exact");
}

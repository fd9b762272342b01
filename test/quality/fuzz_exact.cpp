/* A fuzz target for the exact sum, by libFuzzer: the host's sum, EXACT's kernels on the CPU
 * machine and MPFR have to give the same bits, and every split the same accumulator.
 *
 *     clang++ -std=c++17 -O2 -g -fsanitize=fuzzer,undefined -fno-sanitize-recover=all \
 *         -I test/simt test/quality/fuzz_exact.cpp -lmpfr -lgmp -ldl -o fuzz_exact
 *     ./fuzz_exact -max_len=4096 -max_total_time=600
 *
 * With a file's name instead of the options it runs that input alone.
 *
 * Without AddressSanitizer: it does not know the fibers that stand for a block's threads. The
 * CPU machine has guard pages about all device memory, and canaries tell of writes beside it.
 */
/* What the machine itself does says nothing of the input, and to count and compare it takes six
 * times as long. */
#pragma clang attribute push(__attribute__((no_sanitize("coverage"))), apply_to = function)
#include <cuda_runtime.h>
#pragma clang attribute pop
#define FASTREDUCE_HOST_IMPLEMENTATION
#include "../../fastreduce.cuh"
#include "../common/dynamic_shared.h"
#include "../common/exact_data.h"
#include "../common/one_row.h"
#include "../common/oracle.h"

using namespace fastreduce;
using namespace fastreduce::detail;

/* An input is ten bytes that choose, by the place in this structure, and then floats. */
struct choices {
    unsigned char unused, schedule, blocks, offset;
    unsigned char encoding, base; /* of floats in bytes */
    unsigned char copies, rule;   /* repeats them, changed: a few bytes are to fill several tiles */
    unsigned char split[2];
};

constexpr size_t most_floats = 20000; /* some tiles of every kernel: more only takes longer */

static float from_bits(unsigned bits)
{
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

static std::vector<float> decode(const choices &c, const unsigned char *bytes, size_t size)
{
    std::vector<float> values;
    switch (c.encoding % 3) {
    case 0: /* all bits */
        for (size_t i = 0; i + 4 <= size; i += 4) {
            unsigned bits;
            std::memcpy(&bits, bytes + i, sizeof bits);
            values.push_back(from_bits(bits));
        }
        break;
    case 1: /* the upper 16 */
        for (size_t i = 0; i + 2 <= size; i += 2)
            values.push_back(from_bits(static_cast<unsigned>(bytes[i] << 8 | bytes[i + 1]) << 16));
        break;
    default: /* an exponent among 64, about as far as a window reaches, and 24 bits of a hash */
        for (size_t i = 0; i + 2 <= size; i += 2) {
            const unsigned exponent = std::min(254u, c.base % 255u + bytes[i] % 64u);
            const unsigned fraction = static_cast<unsigned>(check::mix(bytes[i + 1], 7) >> 41);
            values.push_back(from_bits(static_cast<unsigned>(bytes[i] >> 7) << 31 | exponent << 23 |
                                       (bytes[i] & 64 ? fraction : fraction & 0x700000)));
        }
    }
    return values;
}

/* Copy k of a float: itself, its opposite so that everything may cancel, or its exponent moved. */
static float copy_of(float x, unsigned k, unsigned rule)
{
    const unsigned bits = exact_data::bits_of(x), exponent = bits >> 23 & 255;
    if (rule == 1 && k % 2) return from_bits(bits ^ 0x80000000u);
    if (rule == 2 && exponent != 255)
        return from_bits((bits & 0x807fffffu) | (exponent + 5 * k) % 255 << 23);
    return x;
}

static std::vector<float> stretch(const choices &c, const std::vector<float> &values)
{
    std::vector<float> longer;
    const unsigned copies = 1 + c.copies % 16;
    for (unsigned k = 0; k < copies; ++k)
        for (size_t i = 0; i < values.size() && longer.size() < most_floats; ++i)
            longer.push_back(copy_of(values[c.rule / 4 % 2 && k % 2 ? values.size() - 1 - i : i], k,
                                     c.rule % 4));
    return longer;
}

/* A launch of its own for each output, as test_exact.cpp's. */
static void launch(unsigned blocks, const std::vector<float> &values, size_t offset,
                   exact_output output)
{
    check::buffer<float> input(values.size(), offset);
    check::buffer<status_word> words(superaccumulator<256>::status_words);
    input.set(values);
    words.fill(0);
    const fastreduce_status status = one_row::reduce_exact_in<superaccumulator<256>>(
        blocks, input.data(), values.size(), output, words.data());
    CUDA(cudaDeviceSynchronize());
    check::that(status == 0 && words.every_byte_is(0) && words.canaries_alive() &&
                    input.canaries_alive(),
                "status %d, words left dirty, or a write outside", status);
}

static void same_bits(const char *what, float got, float wanted)
{
    check::that(exact_data::bits_of(got) == exact_data::bits_of(wanted),
                "%s: %.9g (%08x) instead of %.9g (%08x)", what, static_cast<double>(got),
                exact_data::bits_of(got), static_cast<double>(wanted), exact_data::bits_of(wanted));
}

static void same_limbs(const char *what, const fastreduce_accumulator &got,
                       const fastreduce_accumulator &wanted)
{
    for (int k = 0; k < 16; ++k)
        check::that(got.limb[k] == wanted.limb[k], "%s: limb %d is %lld instead of %lld", what, k,
                    static_cast<long long>(got.limb[k]), static_cast<long long>(wanted.limb[k]));
}

static float rounded_by_kernel(unsigned blocks, const std::vector<float> &values, size_t offset)
{
    check::buffer<float> rounded(1);
    rounded.fill(0x7f);
    launch(blocks, values, offset, {rounded.data(), nullptr});
    check::that(rounded.canaries_alive(), "a write beside the output");
    return rounded.get()[0];
}

static void add_by_kernel(unsigned blocks, const std::vector<float> &values, size_t offset,
                          fastreduce_accumulator *sum)
{
    check::buffer<fastreduce_accumulator> total(1);
    total.set(sum);
    launch(blocks, values, offset, {nullptr, total.data()->limb});
    check::that(total.canaries_alive(), "a write beside the accumulator");
    *sum = total.get()[0];
}

static void compare(const choices &c, const std::vector<float> &values)
{
    /* a block takes as long for few floats as for many */
    constexpr unsigned some[] = {1, 1, 1, 2, 2, 3, 5, 1};
    const unsigned blocks = some[c.blocks % 8];
    const size_t n = values.size(), offset = c.offset % 40;
    const size_t first = n * c.split[0] / 255, second = std::max(first, n * c.split[1] / 255);
    const std::vector<float> between(values.begin() + static_cast<ptrdiff_t>(first),
                                     values.begin() + static_cast<ptrdiff_t>(second));
    simt::settings().schedule = static_cast<simt::order>(c.schedule % 3);
    simt::settings().seed = c.schedule;

    double wanted_wide;
    const float wanted = mpfr_oracle_twice(values.data(), n, &wanted_wide);
    const fastreduce_accumulator whole = exact_data::accumulated(values.data(), n);
    const double wide = fastreduce_accumulator_f64(&whole);
    same_bits("the host", fastreduce_host_sum_f32(values.data(), n), wanted);
    check::that(std::memcmp(&wide, &wanted_wide, sizeof wide) == 0,
                "the host, as double: %.17g instead of %.17g", wide, wanted_wide);

    /* The kernel rounds the whole, or it adds the middle one of three
     * parts to the first's accumulator. */
    fastreduce_accumulator merged = exact_data::accumulated(values.data(), first), limbs = merged;
    const fastreduce_accumulator middle = exact_data::accumulated(between.data(), between.size()),
                                 last = exact_data::accumulated(values.data() + second, n - second);
    if (c.schedule & 128) {
        same_bits("the kernel", rounded_by_kernel(blocks, values, offset), wanted);
        fastreduce_accumulator_merge(&merged, &middle);
    } else {
        add_by_kernel(blocks, between, offset, &merged);
    }
    fastreduce_accumulator_merge(&merged, &last);
    same_limbs("three parts", merged, whole);

    /* limbs added as integers, as MPI would */
    for (int k = 0; k < 16; ++k) limbs.limb[k] += middle.limb[k] + last.limb[k];
    same_bits("limbs added", fastreduce_accumulator_f32(&limbs), wanted);
    const fastreduce_accumulator nothing = {};
    fastreduce_accumulator_merge(&limbs, &nothing);
    same_limbs("limbs added", limbs, whole);

    if (check::failures() == 0) return;
    std::printf("%s, %u blocks, schedule %d, n %zu, offset %zu, parts to %zu and %zu\n",
                c.schedule & 128 ? "rounded" : "added", blocks, c.schedule % 3, n, offset, first,
                second);
    std::fflush(stdout);
    std::abort(); /* what libFuzzer takes for a finding */
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size)
{
    choices c;
    if (size < sizeof c) return 0;
    std::memcpy(&c, bytes, sizeof c);
    compare(c, stretch(c, decode(c, bytes + sizeof c, size - sizeof c)));
    return 0;
}

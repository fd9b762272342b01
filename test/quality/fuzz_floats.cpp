/* A fuzz target for the exact reductions on the CPU, by libFuzzer: those of floats, doubles and
 * halves, and of their products, have MPFR's bits, whatever the elements, in every mode that the
 * CPU may be in, and however they are split.
 *
 *     clang++ -std=c++17 -O2 -g -fsanitize=fuzzer,undefined -fno-sanitize-recover=all \
 *         test/quality/fuzz_floats.cpp -lmpfr -lgmp -o fuzz_floats
 *     ./fuzz_floats -max_len=4096 -max_total_time=600
 *
 * With a file's name instead of the options it runs that input alone.
 */
#include "../host/every_result.h"
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

/* An input is eight bytes that choose, by the place in this structure, and then elements. */
struct choices {
    unsigned char format, encoding, base, offset;
    unsigned char copies, rule, seed[2]; /* copies: a few bytes are to fill many rows */
};

constexpr size_t most_elements = 6000; /* enough for rows, chunks and bins */

/* An element: all bits from the input, or its upper 16 alone, or an exponent among 128 and a
 * fraction by a hash. Returns how many bytes it took. */
static size_t decode(const choices &c, const unsigned char *bytes, int format, uint64_t *element)
{
    const size_t size = c.encoding % 3 == 0 ? formats[format].bytes : 2;
    const int width = 8 * static_cast<int>(formats[format].bytes);
    *element = 0;
    std::memcpy(element, bytes, size);
    if (c.encoding % 3 == 1) *element <<= width - 16;
    if (c.encoding % 3 == 2) {
        const uint64_t fractions = (uint64_t(1) << (formats[format].precision - 1)) - 1,
                       most = formats[format].infinity / (fractions + 1) - 1,
                       exponent = std::min(most, c.base * most / 255 + bytes[0] % 128u),
                       fraction = (bytes[1] + 1u) * 0x9e3779b97f4a7c15u >> 11;
        *element = exponent * (fractions + 1) | (fraction & fractions) |
                   (bytes[0] & 128 ? sign_of(format) : 0);
    }
    return size;
}

/* Copy k of an element: itself, its opposite, so that all may cancel, or its exponent moved. */
static uint64_t copy_of(uint64_t element, int format, unsigned k, unsigned rule)
{
    const uint64_t sign = sign_of(format), one = uint64_t(1) << (formats[format].precision - 1),
                   magnitude = element & (sign - 1), infinity = formats[format].infinity;
    if (rule == 1 && k % 2) return element ^ sign;
    if (rule == 2 && magnitude < infinity)
        return (element & sign) | (magnitude + 7 * k * one) % infinity;
    return element;
}

extern "C" int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size)
{
    static double x[most_elements + 8], y[most_elements + 8];
    choices c;
    if (size < sizeof c) return 0;
    std::memcpy(&c, bytes, sizeof c);
    const int format = c.format % FORMATS;
    const unsigned copies = c.copies % 4 ? 1 : 1 + c.copies / 4;
    /* anywhere that an element may lie; the products are of elements and of others of them */
    char *const u = reinterpret_cast<char *>(x) + c.offset % 8 * formats[format].bytes,
                *const v = reinterpret_cast<char *>(y) + c.offset / 8 % 8 * formats[format].bytes;
    size_t n = 0;
    for (unsigned k = 0; k < copies; ++k) {
        uint64_t element;
        size_t at = sizeof c;
        for (; at + formats[format].bytes <= size && n < most_elements; ++n) {
            at += decode(c, bytes + at, format, &element);
            store(u, format, n, copy_of(element, format, k, c.rule % 4));
        }
    }
    for (size_t i = 0; i < n; ++i) store(v, format, i, load(u, format, i * (1 + c.rule / 4) % n));
    state = c.seed[0] | c.seed[1] << 8; /* of the splits */
    every_result("fuzz", format, u, v, n);
    if (failures == 0) return 0;
    std::printf("%s, n %zu\n", formats[format].name, n);
    std::fflush(stdout);
    std::abort(); /* what libFuzzer takes for a finding */
}

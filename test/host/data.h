/* Elements of every float for the tests of the exact reductions on the CPU, made of integers alone:
 * every compiler has the same. */
#ifndef DATA_H
#define DATA_H

#include "checks.h"

static const struct {
    const char *name;
    fastreduce_type type;
    size_t bytes;
    uint64_t infinity;    /* its bits */
    int precision, least; /* exponent of the least denormal */
} formats[] = {{"f32", FASTREDUCE_F32, 4, 0x7f800000, 24, -149},
               {"f64", FASTREDUCE_F64, 8, 0x7ff0000000000000, 53, -1074},
               {"f16", FASTREDUCE_F16, 2, 0x7c00, 11, -24},
               {"bf16", FASTREDUCE_BF16, 2, 0x7f80, 8, -133}};
enum { F32, F64, F16, BF16, FORMATS };

static uint64_t sign_of(int format) { return (uint64_t)1 << (8 * formats[format].bytes - 1); }

static uint64_t load(const void *x, int format, size_t i)
{
    uint64_t bits = 0;
    memcpy(&bits, (const char *)x + i * formats[format].bytes, formats[format].bytes);
    return bits; /* little-endian, as all that CUDA runs on */
}

static void store(void *x, int format, size_t i, uint64_t bits)
{
    memcpy((char *)x + i * formats[format].bytes, &bits, formats[format].bytes);
}

/* Element i of n: `kind` says which bits. */
typedef enum kind {
    ANY_BITS,
    ANY_FINITE,
    UNIFORM,
    DENORMALS,
    AROUND_LEAST_NORMAL,
    ONE_EXPONENT,
    NEAR_EXPONENTS,
    CANCELLING,
    OVERFLOW_THAT_CANCELS,
    ZEROS,
    ONE_SPECIAL,
    OUTLIERS,
    KINDS
} kind;
static const char *const kind_names[] = {"any bits",
                                         "any finite",
                                         "uniform",
                                         "denormals",
                                         "around the least normal",
                                         "one exponent and sign",
                                         "near exponents",
                                         "cancelling",
                                         "overflow that cancels",
                                         "zeros",
                                         "one special",
                                         "outliers"};

static uint64_t finite_bits(int format)
{
    const int fraction = formats[format].precision - 1;
    const uint64_t exponents = formats[format].infinity >> fraction;
    const uint64_t sign = random_words() & 1 ? sign_of(format) : 0;
    return sign | random_words() % exponents << fraction |
           (random_words() >> 3 & (((uint64_t)1 << fraction) - 1));
}

/* The same with an exponent from the lowest on, `more` at the most beyond. */
static uint64_t near_bits(int format, uint64_t lowest, uint64_t more)
{
    const int fraction = formats[format].precision - 1;
    const uint64_t most = (formats[format].infinity >> fraction) - 1;
    const uint64_t exponent = lowest + random_words() % (more + 1);
    const uint64_t bits = finite_bits(format) & (sign_of(format) | (((uint64_t)1 << fraction) - 1));
    return bits | (exponent < most ? exponent : most) << fraction;
}

static inline void fill(void *x, int format, size_t n, kind which)
{
    const uint64_t infinity = formats[format].infinity, sign = sign_of(format);
    const int fraction = formats[format].precision - 1;
    const uint64_t one = (uint64_t)1 << fraction, exponents = infinity >> fraction;
    const uint64_t lowest = random_words() % exponents, more = random_words() % 60;
    const uint64_t place = random_words() % (n + 1), one_sign = random_words() & sign;
    const uint64_t special = random_words() % 3;
    size_t i;
    for (i = 0; i < n; ++i) {
        uint64_t bits = 0;
        switch (which) {
        case ANY_BITS: bits = random_words() & (2 * sign - 1); break;
        case UNIFORM: bits = near_bits(format, exponents / 2 - 9, 8); break;
        case DENORMALS: bits = random_words() & (sign | (one - 1)); break;
        case AROUND_LEAST_NORMAL: bits = random_words() & (sign | (2 * one - 1)); break;
        case ONE_EXPONENT: bits = (near_bits(format, lowest, 0) & (sign - 1)) | one_sign; break;
        case NEAR_EXPONENTS: bits = near_bits(format, lowest, more); break;
        case CANCELLING: /* and now and then a little is left */
            bits = i % 2 ? load(x, format, i - 1) ^ sign : finite_bits(format);
            if (random_words() % 16 == 0) bits = random_words() & (sign | 7);
            break;
        case OVERFLOW_THAT_CANCELS:
            bits = (infinity - 1 - random_words() % 2) | (i % 2 ? sign : 0);
            if (i == n - 1 && random_words() % 2) bits = random_words() & (2 * one - 1);
            break;
        case ZEROS: bits = random_words() & sign; break;
        case ONE_SPECIAL:
            bits = near_bits(format, lowest, 4);
            if (i == place) bits = infinity | (random_words() & sign) | (special == 0);
            if (i == place / 2 && special == 1) bits = infinity | (random_words() & sign);
            break;
        case OUTLIERS:
            bits = near_bits(format, exponents / 2, 5);
            if (i % 700 == place % 700) bits = finite_bits(format);
            break;
        default: bits = finite_bits(format);
        }
        store(x, format, i, bits);
    }
}

#endif

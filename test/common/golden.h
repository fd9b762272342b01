/* Results of AUTO, bit by bit, with the second ones, and EXACT's means beside a variance. They
 * freeze both: no later version may give others. golden.py wrote the rows below, and computes them
 * by itself. Should a change of AUTO's bits be meant, that breaks the interface, and
 * `python3 golden.py --write` writes them anew.
 *
 * The data of a row can be made in any language. Element i, from 0 on, is made of 64 bits z, with
 * everything modulo 2^64 (splitmix64):
 *
 *     z = seed + (i + 1) * 0x9e3779b97f4a7c15
 *     z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9
 *     z = (z ^ z >> 27) * 0x94d049bb133111eb
 *     z = z ^ z >> 31
 *     e = lowest + (z >> 52) % exponents
 *     negative, if the uppermost bit of z is 0
 *
 * Floats: their exponent field is e, their fraction the low bits of z, of which f32 takes 23, f64
 * 52, f16 10 and bf16 7; the sign bit is set if negative. Integers: the low e bits of z, e from 1
 * to 64, as a number; of signed types its negative if negative; and of that as many low bits as the
 * type has. The y of a dot product is made as x is, with the next seed. */
#ifndef GOLDEN_H
#define GOLDEN_H

#include <stdint.h>
#include <string.h>
#include "../../fastreduce.h"

#define GOLDEN_DOT (-1) /* as op: fastreduce_dot */

typedef struct golden_row {
    fastreduce_type type;
    int op; /* a fastreduce_operator, or GOLDEN_DOT */
    size_t n;
    uint64_t seed;
    unsigned lowest, exponents;
    uint64_t bits;               /* of the result; if that is a NaN, any NaN is right */
    uint64_t second, exact_mean; /* 0 where there is none */
} golden_row;

/* Stores x, n elements of `size` bytes each; with which == 1 the y of a dot product. */
static inline void golden_fill(const golden_row *row, unsigned which, void *x, size_t size)
{
    static const unsigned fractions[] = {0, 23, 52, 10, 7};
    const int is_float = row->type < FASTREDUCE_I8, is_signed = row->type < FASTREDUCE_U8;
    size_t i;
    for (i = 0; i < row->n; ++i) {
        uint64_t z = row->seed + which + (i + 1) * UINT64_C(0x9e3779b97f4a7c15), e, bits;
        uint8_t byte;
        uint16_t half;
        uint32_t word;
        z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
        z = z ^ z >> 31;
        e = row->lowest + (z >> 52) % row->exponents;
        if (is_float) {
            const unsigned fraction = fractions[row->type];
            bits = (uint64_t)(z >> 63 == 0) << (8 * size - 1) | e << fraction |
                   (z & ((UINT64_C(1) << fraction) - 1));
        } else {
            bits = z & ~UINT64_C(0) >> (64 - e);
            if (is_signed && z >> 63 == 0) bits = 0 - bits;
        }
        byte = (uint8_t)bits;
        half = (uint16_t)bits;
        word = (uint32_t)bits;
        memcpy((char *)x + i * size,
               size == 1   ? (void *)&byte
               : size == 2 ? (void *)&half
               : size == 4 ? (void *)&word
                           : (void *)&bits,
               size);
    }
}

/* type, op, n, seed, lowest, exponents, bits, second, exact_mean. Written by golden.py. */
/* clang-format off */
static const golden_row golden_rows[] = {
    {FASTREDUCE_F32, FASTREDUCE_SUM, 0, 1, 110, 30, 0x00000000, 0, 0},
    {FASTREDUCE_F32, FASTREDUCE_SUM, 1, 2, 110, 30, 0x419756ce, 0, 0},
    {FASTREDUCE_F32, FASTREDUCE_SUM, 2, 3, 120, 10, 0x3ff32114, 0, 0},
    {FASTREDUCE_F32, FASTREDUCE_SUM, 7, 40004, 120, 10, 0x40b10204, 0, 0},
    {FASTREDUCE_F32, FASTREDUCE_SUM, 1000, 50004, 0, 20, 0x0b42f938, 0, 0},
    {FASTREDUCE_F32, FASTREDUCE_SUM, 65537, 6, 100, 40, 0xc8331f39, 0, 0},
    {FASTREDUCE_F32, FASTREDUCE_SUM, 1000000, 7, 120, 10, 0x4567b166, 0, 0},
    {FASTREDUCE_F32, FASTREDUCE_SUM_ABS, 4097, 80009, 115, 20, 0x4797a699, 0, 0},
    {FASTREDUCE_F32, FASTREDUCE_SUM_SQUARES, 16389, 90035, 110, 20, 0x471808ea, 0, 0},
    {FASTREDUCE_F32, FASTREDUCE_PRODUCT, 1000, 10, 126, 2, 0x4fe87747, 0, 0},
    {FASTREDUCE_F32, FASTREDUCE_MEAN, 0, 11, 120, 10, 0x7fc00000, 0, 0},
    {FASTREDUCE_F32, FASTREDUCE_MEAN, 100003, 120002, 120, 10, 0xb910fe11, 0, 0},
    {FASTREDUCE_F32, FASTREDUCE_NORM2, 5, 130110, 100, 40, 0x423d3de9, 0, 0},
    {FASTREDUCE_F32, FASTREDUCE_NORM2, 333, 14, 0, 40, 0x14a76b8d, 0, 0},
    {FASTREDUCE_F32, FASTREDUCE_NORM2, 4099, 15, 0, 245, 0x7b54db8d, 0, 0},
    {FASTREDUCE_F32, FASTREDUCE_NORM2, 100001, 16, 120, 10, 0x442fa029, 0, 0},
    {FASTREDUCE_F32, FASTREDUCE_NORM2, 12, 1290810, 83, 3, 0x2b365471, 0, 0},
    {FASTREDUCE_F32, FASTREDUCE_NORM2, 12, 5181714, 188, 3, 0x5fbd395a, 0, 0},
    {FASTREDUCE_F32, FASTREDUCE_VARIANCE, 2, 17, 120, 10, 0x3e809147,
     0x3ec655a8, 0x3ec655a9},
    {FASTREDUCE_F32, FASTREDUCE_VARIANCE, 1001, 180008, 125, 3, 0x3f89d44d,
     0x3cbc0fa5, 0x3cbc0fa4},
    {FASTREDUCE_F32, FASTREDUCE_VARIANCE, 3002, 190082, 120, 72, 0x7d21e48c,
     0xdb30161a, 0xdb30161a},
    {FASTREDUCE_F32, FASTREDUCE_VARIANCE, 65543, 20, 120, 10, 0x409e6d09,
     0x3c0b9c7f, 0x3c0b9c7e},
    {FASTREDUCE_F32, FASTREDUCE_VARIANCE, 2, 21, 40, 3, 0x00000000,
     0x140ac2db, 0x140ac2dc},
    {FASTREDUCE_F32, GOLDEN_DOT, 1023, 210031, 100, 50, 0xd511f06b, 0, 0},
    {FASTREDUCE_F32, GOLDEN_DOT, 262147, 22, 120, 10, 0xc52f9b3b, 0, 0},
    {FASTREDUCE_F64, FASTREDUCE_SUM, 33, 300001, 1000, 60, 0xc21d572822f083d3, 0, 0},
    {FASTREDUCE_F64, FASTREDUCE_SUM, 1000000, 310003, 1010, 20, 0x40c6c62fdd29550c, 0, 0},
    {FASTREDUCE_F64, FASTREDUCE_SUM_ABS, 1025, 320016, 0, 70, 0x04a7c79b74835f79, 0, 0},
    {FASTREDUCE_F64, FASTREDUCE_SUM_SQUARES, 2047, 330033, 1000, 40, 0x4263269fe4ffbead, 0, 0},
    {FASTREDUCE_F64, FASTREDUCE_PRODUCT, 10000, 34, 1022, 2, 0x65e20a396aa74733, 0, 0},
    {FASTREDUCE_F64, FASTREDUCE_MEAN, 999, 35, 1010, 20, 0xbfd5c243345edfc5, 0, 0},
    {FASTREDUCE_F64, FASTREDUCE_NORM2, 77, 360155, 0, 300, 0x11faed07f8ec7d2f, 0, 0},
    {FASTREDUCE_F64, FASTREDUCE_NORM2, 50, 370017, 1700, 340, 0x7f4ad132f3853948, 0, 0},
    {FASTREDUCE_F64, FASTREDUCE_NORM2, 3001, 380100, 400, 300, 0x2bd39f3fd608238b, 0, 0},
    {FASTREDUCE_F64, FASTREDUCE_NORM2, 1003, 390724, 1020, 470, 0x5d16d43007ba217c, 0, 0},
    {FASTREDUCE_F64, FASTREDUCE_NORM2, 100000, 400031, 1010, 20, 0x40bf289a08a37dfb, 0, 0},
    {FASTREDUCE_F64, FASTREDUCE_VARIANCE, 3, 410003, 1010, 20, 0x3f82a8fbecd59a2d,
     0xbf6fa6de0f7d17c0, 0xbf6fa6de0f7d17d4},
    {FASTREDUCE_F64, FASTREDUCE_VARIANCE, 65538, 420002, 1010, 20, 0x40838971a8ce71ac,
     0x3f736457cdf9c000, 0x3f736457cdf99f6a},
    {FASTREDUCE_F64, FASTREDUCE_VARIANCE, 1003, 1040014, 1023, 2, 0x4017a33877356679,
     0x3fadf9e984086980, 0x3fadf9e984086920},
    {FASTREDUCE_F64, FASTREDUCE_VARIANCE, 2, 22, 400, 3, 0x0000000000000000,
     0x192bb27a85a9aa2c, 0x192bb27a85a9aa2c},
    {FASTREDUCE_F64, GOLDEN_DOT, 100003, 430004, 1010, 20, 0x4116447779f9a113, 0, 0},
    {FASTREDUCE_F16, FASTREDUCE_SUM, 5001, 500004, 0, 31, 0x486b5c92, 0, 0},
    {FASTREDUCE_F16, FASTREDUCE_SUM, 777, 49, 0, 2, 0xbb417800, 0, 0},
    {FASTREDUCE_F16, FASTREDUCE_SUM_ABS, 257, 510024, 0, 31, 0x492d73fd, 0, 0},
    {FASTREDUCE_F16, FASTREDUCE_SUM_SQUARES, 8195, 520066, 0, 31, 0x534eda8c, 0, 0},
    {FASTREDUCE_F16, FASTREDUCE_PRODUCT, 300, 53, 14, 2, 0xc8c38016, 0, 0},
    {FASTREDUCE_F16, FASTREDUCE_MEAN, 6500, 540001, 0, 31, 0xc1ae7572, 0, 0},
    {FASTREDUCE_F16, FASTREDUCE_NORM2, 2049, 550039, 0, 31, 0x48d8583f, 0, 0},
    {FASTREDUCE_F16, FASTREDUCE_VARIANCE, 9, 560004, 10, 10, 0x426a72b8,
     0x40775e00, 0x40775e00},
    {FASTREDUCE_F16, FASTREDUCE_VARIANCE, 10027, 570025, 0, 31, 0x4ccfbaba,
     0x42038fb3, 0x42038fb8},
    {FASTREDUCE_F16, GOLDEN_DOT, 4100, 580006, 0, 31, 0xce1be6c8, 0, 0},
    {FASTREDUCE_BF16, FASTREDUCE_SUM, 5001, 60, 100, 40, 0x46e7de1a, 0, 0},
    {FASTREDUCE_BF16, FASTREDUCE_SUM_ABS, 4099, 610021, 100, 40, 0x498d9cb3, 0, 0},
    {FASTREDUCE_BF16, FASTREDUCE_SUM_SQUARES, 8195, 620031, 110, 20, 0x469f55db, 0, 0},
    {FASTREDUCE_BF16, FASTREDUCE_PRODUCT, 300, 630003, 126, 2, 0x4b08a8a5, 0, 0},
    {FASTREDUCE_BF16, FASTREDUCE_MEAN, 6500, 640003, 110, 20, 0xbab8ea5d, 0, 0},
    {FASTREDUCE_BF16, FASTREDUCE_NORM2, 1003, 65, 0, 245, 0x7b14ae09, 0, 0},
    {FASTREDUCE_BF16, FASTREDUCE_NORM2, 12345, 660224, 120, 10, 0x437b9c02, 0, 0},
    {FASTREDUCE_BF16, FASTREDUCE_NORM2, 24, 2080965, 76, 10, 0x2b0c5da4, 0, 0},
    {FASTREDUCE_BF16, FASTREDUCE_NORM2, 24, 217, 181, 9, 0x5f4dda08, 0, 0},
    {FASTREDUCE_BF16, FASTREDUCE_VARIANCE, 515, 670018, 120, 10, 0x409692d4,
     0x3cbd7018, 0x3cbd7018},
    {FASTREDUCE_BF16, FASTREDUCE_VARIANCE, 3001, 680587, 120, 72, 0x7d2e17a5,
     0xdba84bf2, 0xdba84bf2},
    {FASTREDUCE_BF16, GOLDEN_DOT, 4100, 690004, 100, 40, 0x4b3cbedf, 0, 0},
    {FASTREDUCE_I8, FASTREDUCE_NORM2, 3001, 70, 1, 8, 0x40a0c96dd2de105c, 0, 0},
    {FASTREDUCE_I8, FASTREDUCE_VARIANCE, 300, 1020001, 6, 2, 0x40ab2e523d136eea,
     0x4005a740da740da0, 0},
    {FASTREDUCE_U8, FASTREDUCE_NORM2, 3002, 72, 1, 8, 0x40a94daa3e300265, 0, 0},
    {FASTREDUCE_U8, FASTREDUCE_VARIANCE, 300, 102, 7, 2, 0x40b100f4e531a712,
     0x40581f92c5f92c60, 0},
    {FASTREDUCE_I16, FASTREDUCE_NORM2, 100003, 74, 10, 7, 0x414a3af5f01472d7, 0, 0},
    {FASTREDUCE_I16, FASTREDUCE_VARIANCE, 3003, 750004, 1, 16, 0x4189eec99dd6c67f,
     0xc03b085ab436e800, 0},
    {FASTREDUCE_U16, FASTREDUCE_NORM2, 3004, 76, 1, 16, 0x4121a8482c744dad, 0, 0},
    {FASTREDUCE_U16, FASTREDUCE_VARIANCE, 301, 110, 15, 2, 0x41b07fcef608d24a,
     0x40d6a2a9aca6b29b, 0},
    {FASTREDUCE_I32, FASTREDUCE_NORM2, 3005, 780007, 1, 32, 0x420f15ed69cb9d33, 0, 0},
    {FASTREDUCE_I32, FASTREDUCE_VARIANCE, 333, 1020085, 30, 2, 0x43a916c5271b734c,
     0xc155d09db7bc5900, 0},
    {FASTREDUCE_U32, FASTREDUCE_NORM2, 3006, 800038, 1, 32, 0x421ae74fd62ce26b, 0, 0},
    {FASTREDUCE_U32, FASTREDUCE_VARIANCE, 3006, 810152, 1, 32, 0x438d5db9125639dd,
     0x41a1184169efa611, 0},
    {FASTREDUCE_I64, FASTREDUCE_NORM2, 3007, 820077, 1, 64, 0x440be52b4ee9e083, 0, 0},
    {FASTREDUCE_I64, FASTREDUCE_VARIANCE, 3007, 830166, 1, 64, 0x47691b521c6010ca,
     0xc367001210af3200, 0},
    {FASTREDUCE_I64, FASTREDUCE_VARIANCE, 7, 1000211, 60, 5, 0x4790a461eedc5466,
     0xc3b9fe187b48bcb0, 0},
    {FASTREDUCE_U64, FASTREDUCE_NORM2, 3008, 840128, 1, 64, 0x4412cb1c5aa762b1, 0, 0},
    {FASTREDUCE_U64, FASTREDUCE_VARIANCE, 3008, 850038, 1, 64, 0x4780da20f9130f99,
     0x43933347507a90c0, 0},
    {FASTREDUCE_U64, FASTREDUCE_VARIANCE, 7, 1080051, 60, 5, 0x475e1e31f5c6e84a,
     0x43b0bba7621b73a7, 0},
    {FASTREDUCE_F32, FASTREDUCE_VARIANCE, 0, 23, 120, 10, 0x7fc00000,
     0x7fc00000, 0x7fc00000},
    {FASTREDUCE_F32, FASTREDUCE_MIN_MAX, 4097, 24, 0, 250, 0xfcbfc699,
     0x7ce608cf, 0},
    {FASTREDUCE_F64, FASTREDUCE_MIN_MAX, 1003, 25, 0, 2000, 0xfcf57cfbd66de150,
     0x7ca320849a3b7e1c, 0},
    {FASTREDUCE_F16, FASTREDUCE_MIN_MAX, 0, 26, 0, 31, 0x7c00,
     0xfc00, 0},
    {FASTREDUCE_BF16, FASTREDUCE_MIN_MAX, 6500, 27, 0, 255, 0xff7d,
     0x7f4c, 0},
    {FASTREDUCE_I8, FASTREDUCE_MIN_MAX, 300, 28, 1, 6, 0xc1,
     0x3c, 0},
    {FASTREDUCE_U16, FASTREDUCE_MIN_MAX, 333, 29, 1, 16, 0x0000,
     0xef57, 0},
    {FASTREDUCE_I64, FASTREDUCE_MIN_MAX, 3007, 30, 1, 64, 0x800d0bf504201ea8,
     0x7fe014c4a93955e2, 0},
    {FASTREDUCE_F32, FASTREDUCE_ARGMAX_ABS, 4097, 31, 0, 250, 0x0000000000000ce2,
     0x7cfe1389, 0},
    {FASTREDUCE_F64, FASTREDUCE_ARGMAX_ABS, 0, 32, 0, 2000, 0xffffffffffffffff,
     0x0000000000000000, 0},
    {FASTREDUCE_F16, FASTREDUCE_ARGMAX_ABS, 10027, 79, 0, 31, 0x000000000000172e,
     0xfbfa, 0},
    {FASTREDUCE_BF16, FASTREDUCE_ARGMAX_ABS, 6500, 35, 110, 9, 0x0000000000000080,
     0xbb7f, 0},
    {FASTREDUCE_I8, FASTREDUCE_ARGMAX_ABS, 300, 319, 1, 8, 0x00000000000000be,
     0x80, 0},
    {FASTREDUCE_U8, FASTREDUCE_ARGMAX_ABS, 300, 36, 1, 8, 0x00000000000000c3,
     0xf7, 0},
    {FASTREDUCE_I32, FASTREDUCE_ARGMAX_ABS, 3005, 36, 1, 4, 0x0000000000000063,
     0xfffffff1, 0},
    {FASTREDUCE_U64, FASTREDUCE_ARGMAX_ABS, 3008, 38, 1, 64, 0x0000000000000b56,
     0xfbfb8cf69c293577, 0},
};
/* clang-format on */
#endif

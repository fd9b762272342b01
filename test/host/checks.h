/* What the tests of the exact sums on the CPU share: a count of checks, random bits, and both ways
 * that the CPU may take. Included in place of fastreduce.h. */
#ifndef CHECKS_H
#define CHECKS_H

#include <stddef.h>
/* chunks between two settlings of the limbs: 2^16, which nobody would wait for */
static size_t most_chunks = (size_t)1 << 16;
#define FASTREDUCE_DETAIL_CHUNKS most_chunks
/* with and without what is for AVX2, where the CPU has it */
static int use_avx2;
#define FASTREDUCE_DETAIL_HAS_AVX2 use_avx2
/* elements that were added one by one, the slowest way */
static size_t one_by_one;
#define FASTREDUCE_DETAIL_ONE_BY_ONE(n) (one_by_one += (n))
#define FASTREDUCE_HOST_IMPLEMENTATION
#include "../../fastreduce.h"
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

static unsigned long checks, failures;
static uint64_t state = 20260101;

static inline uint64_t random_words(void)
{
    uint64_t z;
    state += 0x9e3779b97f4a7c15u;
    z = (state ^ (state >> 32)) * 0xd6e8feb86659fd93u;
    return (z ^ (z >> 32)) * 0xd6e8feb86659fd93u;
}

static inline uint32_t random_bits(void) { return (uint32_t)(random_words() >> 32); }

static inline uint32_t bits_f32(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline uint64_t bits_f64(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static inline float from_bits(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline double from_bits_f64(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static inline void expect(int good, const char *what, size_t n, double got, double wanted)
{
    ++checks;
    if (!good && ++failures <= 20)
        printf("FAIL: %s, n %lu: %.17g instead of %.17g\n", what, (unsigned long)n, got, wanted);
#ifdef CHECK_STOPS
    if (!good) exit(1); /* the first ends the program */
#endif
}

static inline int same_f64(double a, double b)
{
    const uint64_t infinity = 0x7ff0000000000000, magnitudes = 0x7fffffffffffffff;
    return bits_f64(a) == bits_f64(b) ||
           ((bits_f64(a) & magnitudes) > infinity && (bits_f64(b) & magnitudes) > infinity);
}

static inline int has_avx2(void)
{
#ifdef FASTREDUCE_DETAIL_AVX2
    return __builtin_cpu_supports("avx2") != 0;
#else
    return 0;
#endif
}

/* Calls `check` in each way of rounding, and where the CPU takes denormals for zeros or makes none:
 * a result must not depend on what the caller has told the CPU. */
static inline void every_mode(void (*check)(void *), void *argument)
{
    static const int directions[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO, FE_TONEAREST};
    size_t k;
    for (k = 0; k < sizeof directions / sizeof *directions; ++k) {
        fesetround(directions[k]);
        check(argument);
        fesetround(FE_TONEAREST);
    }
#ifdef __SSE2__
    {
        const unsigned flush_to_zero = 0x8000, denormals_are_zeros = 0x40, before = _mm_getcsr();
        const unsigned modes[] = {flush_to_zero, denormals_are_zeros,
                                  flush_to_zero | denormals_are_zeros};
        for (k = 0; k < sizeof modes / sizeof *modes; ++k) {
            _mm_setcsr(before | modes[k]);
            check(argument);
            _mm_setcsr(before);
        }
    }
#endif
}
#endif

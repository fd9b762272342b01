/* What the examples have in common: sizes on their command lines, floats that
 * they generate, a float's bits. */
#ifndef FASTREDUCE_EXAMPLES_INPUT_H
#define FASTREDUCE_EXAMPLES_INPUT_H

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Digits, digits and K, M or G, or 2^k. 0 for anything else, and from 2^62
 * on, where bytes would overflow. */
static inline int parse_size(const char *text, uint64_t *size)
{
    const uint64_t most = UINT64_MAX >> 2;
    unsigned long shift = 0;
    uint64_t value;
    char *end;

    if (*text < '0' || *text > '9') return 0;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno) return 0;
    if (strncmp(text, "2^", 2) == 0 && text[2] >= '0' && text[2] <= '9') {
        value = 1;
        shift = strtoul(text + 2, &end, 10);
    } else if (*end == 'K' || *end == 'M' || *end == 'G') {
        shift = *end == 'K' ? 10 : *end == 'M' ? 20 : 30;
        ++end;
    }
    if (*end || shift > 61 || value > most >> shift) return 0;
    *size = value << shift;
    return 1;
}

static inline uint64_t hash(uint64_t i)
{
    uint64_t z = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 32)) * UINT64_C(0xd6e8feb86659fd93);
    return z ^ (z >> 32);
}

/* Float number i of an array whose sum is ill-conditioned: an odd significand of 23 bits, never 0,
 * of either sign, times 2^-43 .. 2^-3. Exact, as it is a product of two floats by powers of two. */
static inline float ill_conditioned(uint64_t i)
{
    const uint64_t z = hash(i);
    return (float)(2 * (int32_t)(z >> 41) + 1 - (1 << 23)) *
           (float)(UINT64_C(1) << ((z & 0xffffff) * 41 >> 24)) / (float)(UINT64_C(1) << 43);
}

static inline uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

#endif

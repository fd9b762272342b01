/* Floats of every type, by their bits, and kinds of arrays of them that EXACT is tested with. Comes
 * after fastreduce.cuh. */
#ifndef FLOAT_KINDS_H
#define FLOAT_KINDS_H

#include "check.h"

using u64 = unsigned long long;
using fastreduce::detail::bf16;
using fastreduce::detail::f16;

/* ---- Types, results ---- */

template <class T>
constexpr fastreduce_type type_of = std::is_same<T, float>::value    ? FASTREDUCE_F32
                                    : std::is_same<T, double>::value ? FASTREDUCE_F64
                                    : std::is_same<T, f16>::value    ? FASTREDUCE_F16
                                                                     : FASTREDUCE_BF16;
template <class T>
constexpr bool is_double = std::is_same<T, double>::value;
template <class T>
constexpr int fraction_bits = is_double<T>                    ? 52
                              : std::is_same<T, float>::value ? 23
                              : std::is_same<T, f16>::value   ? 10
                                                              : 7;
template <class T>
constexpr int most_exponent = (1 << (8 * sizeof(T) - 1 - fraction_bits<T>)) - 1; /* no number */

constexpr fastreduce_operator all_operators[] = {FASTREDUCE_SUM,     FASTREDUCE_MEAN,
                                                 FASTREDUCE_SUM_ABS, FASTREDUCE_SUM_SQUARES,
                                                 FASTREDUCE_NORM2,   FASTREDUCE_VARIANCE};

template <class T>
static T from_bits(u64 bits)
{
    T x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

/* ---- Data ---- */

enum class data {
    any,        /* any bits but infinities and NaNs */
    special,    /* any, and now and then a NaN, or infinities of one sign or both */
    usual,      /* exponents near each other, any sign */
    ones,       /* one exponent, one sign: sums carry far */
    binades,    /* a hundred exponents, higher ones later */
    cancelling, /* pairs, but for the middle element */
    denormal,
    huge,       /* near the greatest, any sign */
    ties,       /* a sum halfway between two floats or doubles but for a little */
    ties_apart, /* the same, by every eighth element */
    zeros       /* of any sign */
};
static const char *const names[] = {"any",     "special",    "usual",    "ones",
                                    "binades", "cancelling", "denormal", "huge",
                                    "ties",    "ties apart", "zeros"};
constexpr unsigned kinds = sizeof names / sizeof *names;

template <class T>
static T element(data kind, size_t i, size_t n, u64 seed)
{
    constexpr int top = most_exponent<T>, middle = top / 2;
    const u64 z = check::mix(i, seed), turn = check::mix(0, seed);
    u64 fraction = z >> 12 & ((1ull << fraction_bits<T>)-1), sign = z & 1;
    int exponent = static_cast<int>((z >> 1) % static_cast<u64>(top));
    switch (kind) {
    case data::special:
        if (i != n / 2 && check::mix(i, seed + 1) % 1000) break;
        exponent = top;
        if (turn % 4 > 0) fraction = 0;
        if (turn % 4 > 1) sign = turn % 2;
        break;
    case data::usual: exponent = middle - 6 + exponent % 8; break;
    case data::ones:
        exponent = middle + 1;
        sign = seed & 1;
        break;
    case data::binades:
        exponent = middle + static_cast<int>(i * 100 / (n + 1)) % (top - middle) - exponent % 3;
        break;
    case data::cancelling:
        if (i >= n / 2 && i < n / 2 * 2)
            return from_bits<T>([&] {
                const T other = element<T>(data::any, n / 2 * 2 - 1 - i, n, seed);
                u64 bits = 0;
                std::memcpy(&bits, &other, sizeof other);
                return bits ^ 1ull << (8 * sizeof(T) - 1);
            }());
        break;
    case data::denormal: exponent = 0; break;
    case data::huge: exponent = top - 1 - exponent % 2; break;
    case data::ties:
        exponent = top - 3 - (i == 0 ? 0 : i == 1 ? (turn & 8 ? 53 : 24) : 130 + exponent % 30);
        if (exponent < 0 || i > 2 || (i == 2 && turn & 16)) exponent = 0;
        fraction = i == 2 && exponent == 0;
        sign = i == 2 && turn & 4;
        break;
    case data::ties_apart:
        return i % 8 == 1 ? element<T>(data::ties, i / 8, n, seed) : from_bits<T>(0);
    case data::zeros: return from_bits<T>(sign << (8 * sizeof(T) - 1));
    default: break;
    }
    return from_bits<T>(sign << (8 * sizeof(T) - 1) |
                        static_cast<u64>(exponent) << fraction_bits<T> | fraction);
}

template <class T>
static std::vector<T> make(data kind, size_t n, u64 seed)
{
    std::vector<T> values(n);
    for (size_t i = 0; i < n; ++i) values[i] = element<T>(kind, i, n, seed);
    return values;
}

#endif

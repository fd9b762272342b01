/* Data on which a sum that is not exact fails, each a function of the index: element i of n.
 * `seed` varies them; its low bits choose between variants. */
#ifndef EXACT_DATA_H
#define EXACT_DATA_H

#include "check.h"

namespace exact_data
{

inline float any_finite(size_t i, unsigned long long seed)
{
    unsigned bits = static_cast<unsigned>(check::mix(i, seed) >> 20);
    if ((bits >> 23 & 255) == 255) bits ^= 1u << (23 + check::mix(i, seed) % 8);
    float x;
    std::memcpy(&x, &bits, sizeof x);
    return x;
}

/* [-1, 1), with as many digits after the leading one near 0 as anywhere */
inline float in_unit(size_t i, unsigned long long seed)
{
    return static_cast<float>(static_cast<double>(static_cast<long long>(check::mix(i, seed))) *
                              0x1p-63);
}

inline float normal(size_t i, unsigned long long seed)
{
    const double u = (static_cast<double>(check::mix(i, seed) >> 11) + 0.5) * 0x1p-53;
    return static_cast<float>(std::sqrt(-2 * std::log(u)) *
                              std::cos(6.283185307179586 * in_unit(i, seed + 1)));
}

struct pattern {
    const char *name;
    float (*at)(size_t i, size_t n, unsigned long long seed);
};

inline const std::vector<pattern> &patterns()
{
    using ull = unsigned long long;
    static const std::vector<pattern> list = {
        {"any bits", [](size_t i, size_t, ull seed) { return any_finite(i, seed); }},
        {"uniform", [](size_t i, size_t, ull seed) { return in_unit(i, seed); }},
        {"normal", [](size_t i, size_t, ull seed) { return normal(i, seed); }},
        {"positive", [](size_t i, size_t, ull seed) { return std::fabs(in_unit(i, seed)); }},
        /* everything cancels but the middle element of an odd n:
         * condition numbers of 1e30 and beyond */
        {"cancelling",
         [](size_t i, size_t n, ull seed) {
             if (i == n / 2 && n % 2) return seed % 2 ? 0x1p-149f : -0x1.8p-60f;
             return i < n / 2 ? any_finite(i, seed) : -any_finite(n - 1 - i, seed);
         }},
        /* halfway between two floats, the lower of them even or odd; or a little off */
        {"ties",
         [](size_t i, size_t n, ull seed) {
             if (n < 8) return i == 0 ? 1.0f : i == 1 ? 0x1p-24f : 0.0f;
             if (i == 0) return seed & 1 ? 1.0f : 1.0f + 0x1p-23f;
             if (i == n / 3) return seed & 2 ? 0x1p-24f : -0x1p-25f;
             if (i == n / 2) return seed & 4 ? 0.0f : seed & 8 ? 0x1p-149f : -0x1p-149f;
             const size_t partner = i ^ 1;
             if (i < 4 || i >= n / 2 * 2 || i / 2 == n / 6 || i / 2 == n / 4) return 0.0f;
             return i % 2 ? -any_finite(partner, seed) : any_finite(i, seed);
         }},
        {"denormals", [](size_t i, size_t,
                         ull seed) { return std::ldexp(in_unit(i, seed), -126 - int(seed % 3)); }},
        /* far past FLT_MAX on the way, and back */
        {"overflow that cancels",
         [](size_t i, size_t n, ull seed) {
             if (i == n - 1) return in_unit(i, seed);
             return i < n / 2 ? FLT_MAX : i < n / 2 * 2 ? -FLT_MAX : 0.0f;
         }},
        /* FLT_MAX and half a unit, which rounds to infinity; or less by
         * the smallest bit, which does not */
        {"near overflow",
         [](size_t i, size_t n, ull seed) {
             if (i == 0) return FLT_MAX;
             if (i == n / 2) return 0x1p+103f;
             if (i == n - 1 && seed % 2) return -0x1p-149f;
             return 0.0f;
         }},
        {"overflow", [](size_t i, size_t,
                        ull seed) { return seed % 2 ? -FLT_MAX : FLT_MAX / float(1 + i % 3); }},
        /* seed: +infinity, -infinity, both, NaN, NaN and both; a few of them among any bits */
        {"specials",
         [](size_t i, size_t n, ull seed) {
             const ull z = check::mix(i, seed + 9) % (n / 3 + 1), kind = seed % 5;
             if (z > 2) return any_finite(i, seed);
             if (kind >= 3 && z == 2) return i % 2 ? NAN : -NAN;
             if (kind == 0 || (kind != 1 && kind != 3 && z == 0)) return float(INFINITY);
             return kind == 3 ? 1.0f : -float(INFINITY);
         }},
        {"all special",
         [](size_t i, size_t, ull seed) { return seed % 2 || i % 3 ? float(INFINITY) : NAN; }},
        {"zeros", [](size_t i, size_t, ull seed) { return seed % 2 || i % 2 ? -0.0f : 0.0f; }},
        {"equal", [](size_t, size_t, ull seed) { return seed % 2 ? 0.1f : -1.99999988f; }},
        {"one huge",
         [](size_t i, size_t n, ull seed) {
             return i == check::mix(1, seed) % n ? 1e30f : 1e-3f * in_unit(i, seed);
         }},
        {"one tiny",
         [](size_t i, size_t n, ull seed) {
             return i == check::mix(1, seed) % n ? 1e-30f : in_unit(i, seed);
         }},
        /* scales that move: the window has to follow, or cannot */
        {"ascending",
         [](size_t i, size_t n, ull seed) {
             return std::ldexp(1 + in_unit(i, seed) / 4, int(240 * i / n) - 120);
         }},
        {"descending",
         [](size_t i, size_t n, ull seed) {
             return std::ldexp(1 + in_unit(i, seed) / 4, 120 - int(240 * i / n));
         }},
        {"an outlier here and there",
         [](size_t i, size_t, ull seed) {
             return std::ldexp(in_unit(i, seed), check::mix(i, seed) % 700 ? 0 : 70);
         }},
        {"an outlier in every group",
         [](size_t i, size_t, ull seed) {
             return std::ldexp(in_unit(i, seed), check::mix(i / 16, seed) % 16 == i % 16 ? -60 : 0);
         }},
        {"two scales by turns",
         [](size_t i, size_t, ull seed) {
             return std::ldexp(in_unit(i, seed), i / (4096 << seed % 3) % 2 ? 50 : -50);
         }},
        {"the largest and the smallest",
         [](size_t i, size_t, ull seed) {
             return i % 2 ? std::ldexp(in_unit(i, seed), 127) : 0x1p-149f;
         }},
    };
    return list;
}

inline std::vector<float> make(const pattern &p, size_t n, unsigned long long seed)
{
    std::vector<float> values(n);
    for (size_t i = 0; i < n; ++i) values[i] = p.at(i, n, seed);
    return values;
}

inline unsigned bits_of(float x)
{
    unsigned bits;
    std::memcpy(&bits, &x, sizeof bits);
    return bits;
}

inline fastreduce_accumulator accumulated(const float *values, size_t n)
{
    fastreduce_accumulator sum = {};
    fastreduce_host_accumulate_f32(values, &sum, n);
    return sum;
}

/* `times` times the sum, as an accumulator: an oracle for data that repeats. */
inline fastreduce_accumulator repeated(fastreduce_accumulator sum, long long times)
{
    const fastreduce_accumulator nothing = {};
    for (int64_t &limb : sum.limb) limb *= times;
    fastreduce_accumulator carried = {};
    fastreduce_accumulator_merge(&carried, &sum);
    fastreduce_accumulator_merge(&carried, &nothing);
    return carried;
}

} // namespace exact_data
#endif

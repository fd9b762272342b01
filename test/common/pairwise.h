/* The bits of AUTO, for every type and operator whose result rounds, from its contract alone: which
 * elements meet in which order depends on n, and on nothing else. Host code in plain C++17, which
 * shares nothing with fastreduce.cuh: a mistake there is not repeated here. */
#ifndef PAIRWISE_H
#define PAIRWISE_H

#include <cfloat>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <functional>
#include <type_traits>
#include <utility>
#include "../../fastreduce.h"

static_assert(FLT_EVAL_METHOD == 0, "a float is added as a float, not as something wider");

namespace pairwise
{

/* The n > 0 values get(first), get(first + 1) ... in their order: as many as the greatest power of
 * two below n, and the rest. */
template <class Get, class Combine>
std::decay_t<decltype(std::declval<Get>()(0))> of(const Get &get, size_t n, const Combine &combine,
                                                  size_t first = 0)
{
    if (n == 1) return get(first);
    size_t half = 1;
    while (half < n - half) half *= 2;
    return combine(of(get, half, combine, first), of(get, n - half, combine, first + half));
}

/* The sum of any number of values; of none what Value() is. */
template <class Get>
auto sum(const Get &get, size_t n)
{
    using Value = std::decay_t<decltype(get(0))>;
    return n == 0 ? Value() : of(get, n, std::plus<Value>());
}

/* Rounded by itself: compilers may fuse a product and the addition that follows, which is GCC's
 * default where the processor can, but not with a call in between. */
template <class Real>
__attribute__((noinline)) Real product(Real a, Real b)
{
    return a * b;
}
template <class Real>
Real square(Real x)
{
    return product(x, x);
}

/* ---- Elements ---- */

struct f16 {
    unsigned short bits;
};
struct bf16 {
    unsigned short bits;
};

template <class Number>
Number widened(Number x)
{
    return x;
}
inline float widened(bf16 x)
{
    const unsigned bits = static_cast<unsigned>(x.bits) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
inline float widened(f16 x)
{
    const int exponent = x.bits >> 10 & 31, fraction = x.bits & 1023;
    const float size = exponent == 31 ? fraction ? NAN : INFINITY
                       : exponent == 0
                           ? std::ldexp(static_cast<float>(fraction), -24)
                           : std::ldexp(static_cast<float>(1024 + fraction), exponent - 25);
    return x.bits >> 15 ? -size : size;
}

/* Returns whether results of the type may have its 16 bits: a float's. */
inline bool has_16_bits(fastreduce_type type, fastreduce_operator op)
{
    return (type == FASTREDUCE_F16 || type == FASTREDUCE_BF16) &&
           fastreduce_output_type(type, op) == FASTREDUCE_F32;
}

/* Returns the bits of the 16-bit float that is nearest to a float, of which these are the bits; of
 * two as near the even one, and of NaN a NaN. */
inline uint64_t nearest(fastreduce_type type, uint64_t bits)
{
    const bool is_half = type == FASTREDUCE_F16;
    const unsigned word = static_cast<unsigned>(bits), infinity = is_half ? 0x7c00 : 0x7f80;
    const auto value = [&](unsigned k) -> double {
        if (k == infinity) return std::ldexp(1.0, is_half ? 16 : 128); /* what would come next */
        const unsigned short x = static_cast<unsigned short>(k);
        return static_cast<double>(is_half ? widened(f16{x}) : widened(bf16{x}));
    };
    float number;
    std::memcpy(&number, &word, sizeof number);
    const double magnitude = std::fabs(static_cast<double>(number));
    unsigned low = 0, high = infinity; /* those around it */
    if (number != number) return infinity + 1;
    while (high - low > 1) (value((low + high) / 2) <= magnitude ? low : high) = (low + high) / 2;
    const double below = magnitude - value(low), above = value(high) - magnitude;
    const bool is_low = below < above || (below <= above && low % 2 == 0);
    return (word >> 16 & 0x8000) | (is_low ? low : high);
}

/* An array anywhere, aligned or not: halves are read as floats. */
template <class T>
struct elements {
    const void *from;
    using Number = decltype(widened(T()));

    Number operator()(size_t i) const
    {
        T x;
        std::memcpy(static_cast<void *>(&x), static_cast<const char *>(from) + i * sizeof x,
                    sizeof x);
        return widened(x);
    }
    static constexpr bool is_float = std::is_floating_point<Number>::value,
                          in_float = std::is_same<Number, float>::value;
    /* Floats that meet in 16 bytes first: the last such pack may be incomplete. */
    static constexpr size_t pack = 16 / sizeof(T);
    static size_t packs(size_t n) { return n / pack + (n % pack != 0); }
};

/* ---- Norms ---- */

/* A sum of squares of doubles, which may be far from what a double holds: of elements times
 * 2^(-600 bucket). */
struct scaled_squares {
    double squares;
    int bucket;

    static scaled_squares of(double x)
    {
        const double one = square(x);
        if ((one >= 0x1p-900 && one <= 0x1p900) || std::isnan(one)) return {one, 0};
        const int bucket = one > 1 ? 1 : -1;
        return {square(std::ldexp(x, -600 * bucket)), bucket};
    }
    friend scaled_squares operator+(const scaled_squares &a, const scaled_squares &b)
    {
        if (a.bucket == b.bucket) return {a.squares + b.squares, a.bucket};
        const scaled_squares &high = a.bucket > b.bucket ? a : b,
                             &low = a.bucket > b.bucket ? b : a;
        return {std::fma(product(low.squares, 0x1p-600), 0x1p-600, high.squares), high.bucket};
    }
};

/* Squares of a pack's floats, as floats where these hold them well enough. */
template <class T>
double squares_of_pack(const elements<T> &x, size_t n, size_t first)
{
    const auto at = [&](size_t j) { return first + j < n ? x(first + j) : 0.0f; };
    const float squares = sum([&](size_t j) { return square(at(j)); }, x.pack);
    bool zeros = true;
    for (size_t j = 0; j < x.pack; ++j) zeros = zeros && at(j) == 0;
    if ((squares >= 1e-25f && squares <= 1e38f) || std::isnan(squares) || zeros) return squares;
    return sum([&](size_t j) { return square<double>(at(j)); }, x.pack);
}

template <class T>
double norm(const elements<T> &x, size_t n)
{
    using Number = typename elements<T>::Number;
    if constexpr (std::is_same<T, double>::value) {
        const scaled_squares all = sum([&](size_t i) { return scaled_squares::of(x(i)); }, n);
        return std::ldexp(std::sqrt(all.squares), 600 * all.bucket);
    } else if constexpr (std::is_same<T, f16>::value) {
        return std::sqrt(static_cast<double>(sum([&](size_t i) { return square(x(i)); }, n)));
    } else if constexpr (elements<T>::is_float) {
        return std::sqrt(sum([&](size_t k) { return squares_of_pack(x, n, k * x.pack); }, //
                             x.packs(n)));
    } else if constexpr (sizeof(Number) == 1) {
        unsigned long long squares = 0;
        for (size_t i = 0; i < n; ++i) squares += static_cast<unsigned>(x(i) * x(i));
        return std::sqrt(static_cast<double>(squares));
    } else {
        return std::sqrt(sum([&](size_t i) { return square(static_cast<double>(x(i))); }, n));
    }
}

/* ---- Variances ---- */

struct moments {
    double sum, squares;

    static moments of(double distance) { return {distance, square(distance)}; }
    friend moments operator+(const moments &a, const moments &b)
    {
        return {a.sum + b.sum, a.squares + b.squares};
    }
};

/* x - pivot as a double: of integers the difference is exact, and rounded once. */
template <class Number>
double distance(Number x, Number pivot)
{
    using whole = unsigned long long;
    if constexpr (std::is_floating_point<Number>::value)
        return static_cast<double>(x) - static_cast<double>(pivot);
    else if (x < pivot)
        return -static_cast<double>(static_cast<whole>(pivot) - static_cast<whole>(x));
    else
        return static_cast<double>(static_cast<whole>(x) - static_cast<whole>(pivot));
}

/* Of a pack's floats from its own first one, as floats, and from there on from the pivot. */
template <class T>
moments moments_of_pack(const elements<T> &x, size_t n, size_t first)
{
    const float pivot = x(0), own = x(first);
    const auto at = [&](size_t j) { return first + j < n ? x(first + j) : pivot; };
    const auto from_own = [&](size_t j) { return at(j) - own; };
    const float near = sum(from_own, x.pack),
                squares = sum([&](size_t j) { return square(from_own(j)); }, x.pack);
    if (squares == INFINITY)
        return sum([&](size_t j) { return moments::of(distance(at(j), pivot)); }, x.pack);
    const double by = distance(own, pivot), far = std::fma(static_cast<double>(x.pack), by, near);
    return {far, std::fma(by, far + near, squares)};
}

template <class T>
moments all_moments(const elements<T> &x, size_t n)
{
    if constexpr (elements<T>::in_float)
        return sum([&](size_t k) { return moments_of_pack(x, n, k * x.pack); }, x.packs(n));
    else
        return sum([&](size_t i) { return moments::of(distance(x(i), x(0))); }, n);
}

inline double variance(const moments &all, size_t n)
{
    if (n == 0) return NAN;
    const double count = static_cast<double>(n);
    const double quotient = std::fma(-all.sum, all.sum / count, all.squares) / count;
    return quotient <= 0 ? 0 : quotient; /* where squares underflow: no -0 */
}
template <class T>
double variance(const elements<T> &x, size_t n)
{
    return variance(n == 0 ? moments() : all_moments(x, n), n);
}

/* ---- All types and operators ---- */

template <class Value>
bool store(void *result, Value value)
{
    std::memcpy(result, &value, sizeof value);
    return true;
}

template <class T>
bool result(const elements<T> &x, fastreduce_operator op, size_t n, void *to)
{
    using Number = typename elements<T>::Number;
    using Result = std::conditional_t<elements<T>::in_float, float, double>;
    if (op == FASTREDUCE_NORM2) return store(to, static_cast<Result>(norm(x, n)));
    if (op == FASTREDUCE_VARIANCE) return store(to, static_cast<Result>(variance(x, n)));
    if constexpr (elements<T>::is_float) {
        switch (op) {
        case FASTREDUCE_SUM: return store(to, sum(x, n));
        case FASTREDUCE_PRODUCT:
            return store(to, n == 0 ? Number(1) : of(x, n, std::multiplies<Number>()));
        case FASTREDUCE_SUM_ABS:
            return store(to, sum([&](size_t i) { return std::fabs(x(i)); }, n));
        case FASTREDUCE_SUM_SQUARES:
            return store(to, sum([&](size_t i) { return square(x(i)); }, n));
        case FASTREDUCE_MEAN:
            if (n == 0) return store(to, static_cast<Result>(NAN));
            return store(
                to, static_cast<Result>(static_cast<double>(sum(x, n)) / static_cast<double>(n)));
        default: break;
        }
    }
    return false;
}

template <class T>
bool dot(const elements<T> &x, const elements<T> &y, size_t n, void *to)
{
    if constexpr (elements<T>::is_float)
        return store(to, sum([&](size_t i) { return product(x(i), y(i)); }, n));
    else
        return false;
}

/* What `use` makes of a T(), the type's. */
template <class Use>
bool by_type(fastreduce_type type, const Use &use)
{
    switch (type) {
    case FASTREDUCE_F32: return use(float());
    case FASTREDUCE_F64: return use(double());
    case FASTREDUCE_F16: return use(f16());
    case FASTREDUCE_BF16: return use(bf16());
    case FASTREDUCE_I8: return use(int8_t());
    case FASTREDUCE_I16: return use(int16_t());
    case FASTREDUCE_I32: return use(int32_t());
    case FASTREDUCE_I64: return use(int64_t());
    case FASTREDUCE_U8: return use(uint8_t());
    case FASTREDUCE_U16: return use(uint16_t());
    case FASTREDUCE_U32: return use(uint32_t());
    case FASTREDUCE_U64: return use(uint64_t());
    default: return false;
    }
}

/* Stores the result of AUTO, of the type that fastreduce_output_type says; false, and nothing is
 * stored, where no order matters: where nothing rounds but, for a mean of integers, the result. */
inline bool result(fastreduce_type type, fastreduce_operator op, const void *x, size_t n, void *to)
{
    return by_type(type, [&](auto zero) { return result(elements<decltype(zero)>{x}, op, n, to); });
}

/* The mean that comes with a variance. */
template <class T>
bool mean_beside(const elements<T> &x, size_t n, void *to)
{
    using Result = std::conditional_t<elements<T>::in_float, float, double>;
    if (n == 0) return store(to, static_cast<Result>(NAN));
    const double first = static_cast<double>(x(0)), count = static_cast<double>(n);
    return store(to, static_cast<Result>(first + all_moments(x, n).sum / count));
}

/* Stores a second result of AUTO, of the type that fastreduce_second_type says; false if the
 * operator has none. Indices and maxima are those of fastreduce_host_pairwise. */
inline bool second(fastreduce_type type, fastreduce_operator op, const void *x, size_t n, void *to)
{
    const bool is_index =
        op == FASTREDUCE_ARGMIN || op == FASTREDUCE_ARGMAX || op == FASTREDUCE_ARGMAX_ABS;
    if (op == FASTREDUCE_VARIANCE)
        return by_type(type,
                       [&](auto zero) { return mean_beside(elements<decltype(zero)>{x}, n, to); });
    if (!is_index && op != FASTREDUCE_MIN_MAX) return false;
    const size_t size = fastreduce_type_size(type);
    if (is_index && n > 0) {
        int64_t found = 0;
        fastreduce_host_pairwise(x, &found, n, type, op, FASTREDUCE_DEFAULT_TYPE);
        std::memcpy(to, static_cast<const char *>(x) + static_cast<size_t>(found) * size, size);
    } else if (is_index) {
        std::memset(to, 0, size);
    } else {
        fastreduce_host_pairwise(x, to, n, type, FASTREDUCE_MAX, FASTREDUCE_DEFAULT_TYPE);
        by_type(type, [&](auto zero) { /* AUTO has one NaN */
                                       const elements<decltype(zero)> maximum{to};
                                       const uint64_t nan = (uint64_t(1) << (8 * size - 1)) - 1;
                                       if (maximum(0) != maximum(0)) std::memcpy(to, &nan, size);
                                       return true;
        });
    }
    return true;
}

/* The same of fastreduce_dot. */
inline bool dot(fastreduce_type type, const void *x, const void *y, size_t n, void *to)
{
    return by_type(type, [&](auto zero) {
        using every = elements<decltype(zero)>;
        return dot(every{x}, every{y}, n, to);
    });
}

} // namespace pairwise
#endif

/* Elements of every type: their bits and values, data to test with, and what any operator has to
 * give for them, by exact or wider arithmetic. */
#ifndef ELEMENTS_H
#define ELEMENTS_H

#include "check.h"
#include <algorithm>
#include <limits>
#include <type_traits>

using u64 = unsigned long long;
__extension__ typedef __int128 wide_integer;
using real = long double;

constexpr unsigned operators = FASTREDUCE_ARGMAX_ABS + 1;
inline fastreduce_operator operator_of(unsigned number)
{
    return static_cast<fastreduce_operator>(number);
}

/* What EXACT takes, without FASTREDUCE_WITH_EXACT_PRODUCTS. */
inline bool is_exact(fastreduce_type type, fastreduce_operator op)
{
    return type < FASTREDUCE_I8 &&
           (op == FASTREDUCE_SUM || op == FASTREDUCE_MEAN || op == FASTREDUCE_SUM_ABS);
}

/* ---- Numbers ---- */

struct f16 {
    unsigned short bits;
};
struct bf16 {
    unsigned short bits;
};

template <class T>
constexpr fastreduce_type type_of =
    std::is_same<T, float>::value    ? FASTREDUCE_F32
    : std::is_same<T, double>::value ? FASTREDUCE_F64
    : std::is_same<T, f16>::value    ? FASTREDUCE_F16
    : std::is_same<T, bf16>::value
        ? FASTREDUCE_BF16
        : static_cast<fastreduce_type>((std::is_signed<T>::value ? FASTREDUCE_I8 : FASTREDUCE_U8) +
                                       (sizeof(T) >= 2) + (sizeof(T) >= 4) + (sizeof(T) >= 8));
template <class T>
constexpr bool is_float = type_of<T> < FASTREDUCE_I8;

template <class T>
real real_of(T x)
{
    return static_cast<real>(x);
}
inline real real_of(bf16 x)
{
    const unsigned bits = static_cast<unsigned>(x.bits) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
}
inline real real_of(f16 x)
{
    const int exponent = x.bits >> 10 & 31, fraction = x.bits & 1023;
    const real sign = x.bits >> 15 ? -1 : 1;
    if (exponent == 31) return fraction ? static_cast<real>(NAN) : sign * INFINITY;
    return sign * std::ldexp(static_cast<real>(fraction + (exponent ? 1024 : 0)),
                             (exponent ? exponent : 1) - 25);
}

/* Halves are rounded towards zero. */
template <class T>
T number(double x)
{
    return static_cast<T>(x);
}
template <>
inline bf16 number(double x)
{
    const float single = static_cast<float>(x);
    unsigned bits;
    std::memcpy(&bits, &single, sizeof bits);
    return {static_cast<unsigned short>(bits >> 16)};
}
template <>
inline f16 number(double x)
{
    const double magnitude = std::fabs(x);
    const int exponent = magnitude < 0x1p-14 ? -14 : std::ilogb(std::min(magnitude, 65504.0));
    const int bits = magnitude > 65504 ? 0x7c00
                                       : (exponent + 14) * 1024 +
                                             static_cast<int>(std::ldexp(magnitude, 10 - exponent));
    return {static_cast<unsigned short>(bits | (std::signbit(x) ? 0x8000 : 0))};
}

/* The bits of a number, and the number of bits. */
template <class T>
u64 bits_of(T x)
{
    u64 bits = 0;
    std::memcpy(&bits, &x, sizeof x);
    return bits;
}
template <class T>
T from_bits(u64 bits)
{
    T x;
    std::memcpy(static_cast<void *>(&x), &bits, sizeof x);
    return x;
}
template <class T>
constexpr u64 sign_bit = u64(1) << (8 * sizeof(T) - 1);
template <class T>
constexpr u64 infinity_bits = type_of<T> == FASTREDUCE_F32   ? 0x7f800000
                              : type_of<T> == FASTREDUCE_F64 ? u64(0x7ff) << 52
                              : type_of<T> == FASTREDUCE_F16 ? 0x7c00
                                                             : 0x7f80;

/* The least and the greatest of a type; of floats, infinities. */
template <class T>
T extreme(bool greatest)
{
    if constexpr (is_float<T>)
        return from_bits<T>(infinity_bits<T> | (greatest ? 0 : sign_bit<T>));
    else
        return greatest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min();
}

/* A result, given its bits. */
inline real result_of(fastreduce_type type, u64 bits)
{
    switch (type) {
    case FASTREDUCE_F32: return from_bits<float>(bits);
    case FASTREDUCE_F64: return from_bits<double>(bits);
    case FASTREDUCE_F16: return real_of(from_bits<f16>(bits));
    default: return real_of(from_bits<bf16>(bits));
    }
}

/* ---- What is right ---- */

struct answer {
    bool exact; /* these bits, or else a value within an error */
    u64 bits;
    real value, error;
};

inline bool agrees(const answer &wanted, fastreduce_type type, u64 bits)
{
    if (wanted.exact) return bits == wanted.bits;
    const real got = result_of(type, bits), value = wanted.value;
    const real most = type == FASTREDUCE_F64 ? real(DBL_MAX) : real(FLT_MAX);
    if (std::isnan(value)) return std::isnan(got);
    if (std::fabs(value) > most) return std::isinf(got) && std::signbit(got) == std::signbit(value);
    return std::fabs(got - value) <= wanted.error;
}

/* All there is to know of an array. */
template <class T>
class oracle
{
  public:
    explicit oracle(const std::vector<T> &values) : n_(values.size())
    {
        real sum = 0, magnitudes = 0, squares = 0; /* of a few, so that little is lost */
        for (size_t i = 0; i < n_; ++i) {
            const T x = values[i];
            const real r = real_of(x);
            if constexpr (is_float<T>) {
                if (std::isnan(r) && nan_ == none) nan_ = i;
                factors_ += std::fabs(r) != 1;
            } else {
                const u64 number = static_cast<u64>(x), size = less(x, T(0)) ? 0 - number : number;
                total_ += x;
                magnitudes64_ += size;
                squares64_ += number * number;
                product64_ *= number;
                greatest_magnitude_ = std::max(greatest_magnitude_, size);
            }
            count_ += r != 0;
            product_ *= r;
            if (i == 0 || r < real_of(values[least_at_])) least_at_ = i;
            if (i == 0 || r > real_of(values[greatest_at_])) greatest_at_ = i;
            if (i == 0 || std::fabs(r) > std::fabs(real_of(values[farthest_at_]))) farthest_at_ = i;
            if (i == 0 || less(x, least_)) least_ = x;
            if (i == 0 || less(greatest_, x)) greatest_ = x;
            sum += from(values[0], x);
            magnitudes += std::fabs(r);
            squares += r * r;
            if (i % 1024 == 1023 || i + 1 == n_) {
                sum_ += sum;
                magnitudes_ += magnitudes;
                squares_ += squares;
                sum = magnitudes = squares = 0;
            }
        }
        for (size_t i = 0; i < n_; ++i) {
            const real from_mean = from(values[0], values[i]) - sum_ / static_cast<real>(n_);
            sum += from_mean * from_mean;
            if (i % 1024 == 1023 || i + 1 == n_) {
                spread_ += sum;
                sum = 0;
            }
        }
    }

    /* An element takes part in `depth` additions at most. Not inline: GCC 13.3 at -O3 loses two
     * cases of the switch in a loop over operators. */
    __attribute__((noinline)) answer of(fastreduce_operator op, unsigned depth) const
    {
        switch (op) {
        case FASTREDUCE_MIN_MAX:
        case FASTREDUCE_MIN: return one_of(n_ ? least_ : extreme<T>(true));
        case FASTREDUCE_MAX: return one_of(n_ ? greatest_ : extreme<T>(false));
        case FASTREDUCE_ARGMIN: return index(least_at_);
        case FASTREDUCE_ARGMAX: return index(greatest_at_);
        case FASTREDUCE_ARGMAX_ABS: return index(farthest_at_);
        case FASTREDUCE_COUNT_NONZERO: return {true, count_, 0, 0};
        default: break;
        }
        if constexpr (is_float<T>)
            return of_floats(op, depth);
        else
            return of_integers(op);
    }

  private:
    static constexpr size_t none = ~size_t(0);
    static constexpr bool in_double = type_of<T> == FASTREDUCE_F64;

    static bool less(T a, T b)
    {
        if constexpr (is_float<T>) {
            const real x = real_of(a), y = real_of(b);
            return x < y || (x == y && std::signbit(x) && !std::signbit(y));
        } else {
            return a < b;
        }
    }
    /* Integers less the first, as a mean would need more digits than there are. */
    static real from(T first, T x)
    {
        if constexpr (is_float<T>)
            return real_of(x);
        else
            return static_cast<real>(wide_integer(x) - first);
    }
    answer one_of(T x) const
    {
        return nan_ == none ? answer{true, bits_of(x), 0, 0} : answer{false, 0, NAN, 0};
    }
    answer index(size_t i) const
    {
        return {true, n_ == 0 ? ~u64(0) : u64(nan_ == none ? i : nan_), 0, 0};
    }

    answer of_integers(fastreduce_operator op) const
    {
        const real n = static_cast<real>(n_);
        switch (op) {
        case FASTREDUCE_SUM: return {true, static_cast<u64>(total_), 0, 0};
        case FASTREDUCE_PRODUCT: return {true, product64_, 0, 0};
        case FASTREDUCE_SUM_ABS: return {true, magnitudes64_, 0, 0};
        case FASTREDUCE_SUM_SQUARES: return {true, squares64_, 0, 0};
        case FASTREDUCE_MAX_ABS: return {true, greatest_magnitude_, 0, 0};
        case FASTREDUCE_NORM2: {
            const real norm = std::sqrt(squares_);
            return {false, 0, norm, norm * 1e-12L};
        }
        case FASTREDUCE_MEAN: /* the exact sum, rounded, over n */
            if (n_ == 0) return {false, 0, NAN, 0};
            return {true, bits_of(static_cast<double>(total_) / static_cast<double>(n_)), 0, 0};
        default: { /* an outlier as the first element: what cancels then costs n roundings */
            const real variance = spread_ / n;
            return {false, 0, variance, variance * (1e-9L + n * 0x1p-52L)};
        }
        }
    }

    /* An addition or a multiplication errs by u of its result, or by half the least number. */
    answer of_floats(fastreduce_operator op, unsigned depth) const
    {
        const real n = static_cast<real>(n_), k = depth + 2, u = in_double ? 0x1p-53L : 0x1p-24L,
                   least = in_double ? 0x1p-1074L : 0x1p-149L;
        switch (op) {
        case FASTREDUCE_SUM: return {false, 0, sum_, k * u * magnitudes_};
        case FASTREDUCE_PRODUCT: /* multiplications by 1 are exact */
            return {false, 0, product_,
                    static_cast<real>(factors_) * 1.01L * u * std::fabs(product_)};
        case FASTREDUCE_SUM_ABS: return {false, 0, magnitudes_, k * u * magnitudes_};
        case FASTREDUCE_SUM_SQUARES: return {false, 0, squares_, k * u * squares_ + n * least};
        case FASTREDUCE_MAX_ABS: {
            const u64 all_but_sign = sign_bit<T> - 1, a = bits_of(least_) & all_but_sign,
                      b = bits_of(greatest_) & all_but_sign;
            if (n_ == 0) return {true, 0, 0, 0};
            return one_of(from_bits<T>(std::max(a, b)));
        }
        case FASTREDUCE_NORM2: {
            const real norm = std::sqrt(squares_);
            return {false, 0, norm, k * u * norm + least};
        }
        case FASTREDUCE_MEAN: return {false, 0, sum_ / n, k * u * magnitudes_ / n + least};
        default: {
            const real variance = spread_ / n, error_of_mean = magnitudes_ / n * 0x1p-60L;
            return {false, 0, variance,
                    (in_double ? 1e-9L : 1e-5L) * variance + least + error_of_mean * error_of_mean};
        }
        }
    }

    size_t n_, nan_ = none, count_ = 0, least_at_ = 0, greatest_at_ = 0, farthest_at_ = 0,
               factors_ = 0;
    T least_ = T(), greatest_ = T();
    wide_integer total_ = 0;
    u64 magnitudes64_ = 0, squares64_ = 0, product64_ = 1, greatest_magnitude_ = 0;
    real sum_ = 0, magnitudes_ = 0, squares_ = 0, product_ = 1, spread_ = 0;
};

/* ---- Data ---- */

/* Floats of exponents far apart, and far from 1, as far as squares have room in the result. */
enum class data {
    usual,     /* floats: [-1, 1) plus a quarter; integers: any bits, odd for products */
    few,       /* five values: ties, zeros of both signs, denormals */
    wide,      /* exponents far apart; extremes of integers */
    shifted,   /* a mean of many standard deviations */
    outlier,   /* the first element is far from the others */
    same,      /* all the same */
    one,       /* zero but for one element */
    near_one,  /* for products */
    large,     /* squares overflow; in the sum, if not by themselves */
    too_large, /* squares overflow */
    small,     /* squares underflow */
    mixed      /* both */
};
constexpr const char *data_names[] = {"usual",   "few",       "wide",  "shifted",
                                      "outlier", "same",      "one",   "near one",
                                      "large",   "too large", "small", "mixed"};

template <class T>
T float_of(data kind, size_t i, size_t n, u64 seed)
{
    const u64 z = check::mix(i, seed);
    const double fraction = std::ldexp(static_cast<double>(static_cast<long long>(z)), -63);
    const bool half = type_of<T> == FASTREDUCE_F16, twice = type_of<T> == FASTREDUCE_F64,
               rough = type_of<T> == FASTREDUCE_BF16;
    const double few[] = {0, -0.0, 1, -1, 2}, scale[] = {1.5e19, 1e30, 1e-30},
                 scale_of_doubles[] = {1e149, 1e200, 1e-200}, scale_of_halves[] = {6e4, 6e4, 1e-6};
    switch (kind) {
    case data::few: return z % 7 == 6 ? from_bits<T>(1) : number<T>(few[z % 5]);
    case data::wide:
        return number<T>(std::ldexp(fraction, twice  ? static_cast<int>(z % 600) - 400
                                              : half ? static_cast<int>(z % 26) - 11
                                                     : static_cast<int>(z % 90) - 55));
    case data::shifted:
        return number<T>(half    ? 1024 + 32 * fraction
                         : rough ? 100 + 16 * fraction
                                 : 0x1p20 + 2 * fraction);
    case data::outlier: return number<T>(i == 0 ? (half ? 6e4 : 1e6) : fraction + 0.25);
    case data::same: return number<T>(-0.7);
    case data::one: return number<T>(i == seed % n ? -0.3 : 0);
    case data::near_one:
        return number<T>(z % (n / 1000 + 1) == 0 ? 1 + fraction / 32 : z % 3 ? 1 : -1);
    case data::mixed:
        return float_of<T>(z % 5 < 2   ? data::too_large
                           : z % 5 < 4 ? data::small
                                       : data::usual,
                           i, n, seed + 1);
    case data::large:
    case data::too_large:
    case data::small: {
        const unsigned k = static_cast<unsigned>(kind) - static_cast<unsigned>(data::large);
        return number<T>(fraction * (half ? scale_of_halves : twice ? scale_of_doubles : scale)[k]);
    }
    default: return number<T>(fraction + 0.25);
    }
}

template <class T>
T integer_of(data kind, size_t i, size_t n, u64 seed)
{
    const u64 z = check::mix(i, seed);
    const T least = extreme<T>(false), most = extreme<T>(true);
    const T few[] = {0, 1, 2, static_cast<T>(-1), static_cast<T>(-2)},
            extremes[] = {least, most, 0, static_cast<T>(-1), static_cast<T>(least + 1)};
    switch (kind) {
    case data::few: return few[z % 5];
    case data::wide: return extremes[z % 5];
    case data::shifted: return static_cast<T>(most - static_cast<T>(z % 10));
    case data::outlier: return i == 0 ? most : static_cast<T>(z % 10);
    case data::same: return static_cast<T>(most / 3);
    case data::one: return i == seed % n ? most : T(0);
    case data::near_one: return static_cast<T>(z | 1);
    default: return static_cast<T>(z);
    }
}

template <class T>
std::vector<T> make(data kind, size_t n, u64 seed)
{
    std::vector<T> values(n);
    for (size_t i = 0; i < n; ++i)
        if constexpr (is_float<T>)
            values[i] = float_of<T>(kind, i, n, seed);
        else
            values[i] = integer_of<T>(kind, i, n, seed);
    return values;
}

#endif

/* traced<T>: a number that reports each access to it, in shared and in global memory, and that
 * kernels use as they use a T. Of what nvcc takes one thing is refused: that it turns into a number
 * that is not traced without a cast. (Both ways at once, `i < n ? input[i] : 0` would have two
 * meanings.) A sum is traced, as additions are counted; what other operators give is a T. */
#ifndef SIMT_TRACED_H
#define SIMT_TRACED_H

#include <cmath>
#include <limits>
#include <type_traits>
#include "trace.h"

/* Where the function that says this was called. It must not be inlined. */
#define SIMT_SITE __builtin_return_address(0)

namespace simt
{

template <class T>
class traced;

template <class T>
struct element_of {
    using type = T; /* of a number that is not traced */
    static constexpr bool is_traced = false, is_number = std::is_arithmetic<T>::value;
};
template <class T>
struct element_of<traced<T>> {
    using type = T;
    static constexpr bool is_traced = true, is_number = true;
};
template <class T>
using element_type = typename element_of<std::remove_cv_t<T>>::type;
template <class... T>
using numbers = std::enable_if_t<(element_of<std::remove_cv_t<T>>::is_number && ...)>;
template <class... T> /* with one that is traced among them, at least */
using traced_numbers = std::enable_if_t<(element_of<std::remove_cv_t<T>>::is_number && ...) &&
                                        (element_of<std::remove_cv_t<T>>::is_traced || ...)>;

template <class T>
T read(const T &number, const void *)
{
    return number;
}
template <class T>
T read(const traced<T> &number, const void *site)
{
    return number.read(site);
}
template <class T>
T read(const volatile traced<T> &number, const void *site)
{
    return const_cast<const traced<T> &>(number).read(site);
}

template <class T>
class traced
{
  public:
    traced() = default;
    constexpr traced(T value) : value_(value) {}
    template <class N, class = std::enable_if_t<!std::is_same<N, T>::value>>
    [[gnu::noinline]] traced(const traced<N> &other) : value_(static_cast<T>(other.read(SIMT_SITE)))
    {
    }
    [[gnu::noinline]] traced(const traced &other) : value_(other.read(SIMT_SITE)) {}
    [[gnu::noinline]] traced &operator=(const traced &other)
    {
        const void *site = SIMT_SITE;
        write(other.read(site), site);
        return *this;
    }
    /* As old code has it that takes a warp to run in step. */
    [[gnu::noinline]] traced(const volatile traced &other) : value_(simt::read(other, SIMT_SITE)) {}
    [[gnu::noinline]] traced &operator=(const volatile traced &other)
    {
        const void *site = SIMT_SITE;
        write(simt::read(other, site), site);
        return *this;
    }
    [[gnu::noinline]] void operator=(const volatile traced &other) volatile
    {
        const void *site = SIMT_SITE;
        plain(*this).write(simt::read(other, site), site);
    }
    [[gnu::noinline]] void operator=(const traced &other) volatile
    {
        const void *site = SIMT_SITE;
        plain(*this).write(other.read(site), site);
    }
    template <class N, class = std::enable_if_t<std::is_arithmetic<N>::value>>
    [[gnu::noinline]] explicit operator N() const
    {
        return static_cast<N>(read(SIMT_SITE));
    }

#define SIMT_ASSIGNMENT(op, note)                                                  \
    template <class N, class = numbers<N>>                                         \
    [[gnu::noinline]] traced &operator op##=(const N &other)                       \
    {                                                                              \
        const void *site = SIMT_SITE;                                              \
        const auto term = simt::read(other, site);                                 \
        note(site);                                                                \
        write(static_cast<T>(read(site) op term), site);                           \
        return *this;                                                              \
    }                                                                              \
    template <class N, class = numbers<N>>                                         \
    [[gnu::noinline]] void operator op##=(const N &other) volatile                 \
    {                                                                              \
        const void *site = SIMT_SITE;                                              \
        const auto term = simt::read(other, site);                                 \
        note(site);                                                                \
        plain(*this).write(static_cast<T>(plain(*this).read(site) op term), site); \
    }
    SIMT_ASSIGNMENT(+, on_addition)
    SIMT_ASSIGNMENT(-, (void))
    SIMT_ASSIGNMENT(*, (void))
    SIMT_ASSIGNMENT(/, (void))
#undef SIMT_ASSIGNMENT
    [[gnu::always_inline]] traced &operator++() { return *this += 1; }
    [[gnu::always_inline]] traced &operator--() { return *this -= 1; }
    [[gnu::always_inline]] T operator++(int)
    {
        *this += 1;
        return value_ - 1;
    }

    T get() const { return value_; }
    T read(const void *site) const
    {
        on_access(&value_, sizeof value_, false, site);
        return value_;
    }
    T add_atomically(T term, const void *site)
    {
        on_addition(site);
        on_access(&value_, sizeof value_, true, site, true);
        return std::exchange(value_, value_ + term);
    }

  private:
    static traced &plain(const volatile traced &element) { return const_cast<traced &>(element); }
    void write(T value, const void *site)
    {
        on_access(&value_, sizeof value_, true, site);
        value_ = value;
    }
    T value_;
};

/* ---- Operators ------------------------------------------------------------------------------- */

template <class A, class B, class = traced_numbers<A, B>>
[[gnu::noinline]] auto operator+(const A &a, const B &b)
{
    const void *site = SIMT_SITE;
    on_addition(site);
    using S = decltype(read(a, site) + read(b, site));
    using T = element_type<std::conditional_t<element_of<std::remove_cv_t<A>>::is_traced, A, B>>;
    const S sum = static_cast<S>(read(a, site)) + static_cast<S>(read(b, site));
    return std::conditional_t<std::is_same<S, T>::value, traced<S>, S>(sum);
}
#define SIMT_OPERATOR(op)                                      \
    template <class A, class B, class = traced_numbers<A, B>>  \
    [[gnu::noinline]] auto operator op(const A &a, const B &b) \
    {                                                          \
        const void *site = SIMT_SITE;                          \
        return read(a, site) op read(b, site);                 \
    }
SIMT_OPERATOR(-)
SIMT_OPERATOR(*)
SIMT_OPERATOR(/)
SIMT_OPERATOR(<)
SIMT_OPERATOR(>)
SIMT_OPERATOR(<=)
SIMT_OPERATOR(>=)
SIMT_OPERATOR(==)
SIMT_OPERATOR(!=)
#undef SIMT_OPERATOR
template <class A, class = traced_numbers<A>>
[[gnu::noinline]] auto operator-(const A &a)
{
    return -read(a, SIMT_SITE);
}
template <class A, class = traced_numbers<A>>
[[gnu::noinline]] auto operator+(const A &a)
{
    return read(a, SIMT_SITE);
}
#define SIMT_ASSIGNMENT(op)                                                             \
    template <class N, class T, class = std::enable_if_t<std::is_arithmetic<N>::value>> \
    [[gnu::noinline]] N &operator op##=(N &to, const traced<T> &from)                   \
    {                                                                                   \
        return to = static_cast<N>(to op from.read(SIMT_SITE));                         \
    }
SIMT_ASSIGNMENT(+)
SIMT_ASSIGNMENT(-)
SIMT_ASSIGNMENT(*)
SIMT_ASSIGNMENT(/)
#undef SIMT_ASSIGNMENT

/* ---- Functions, which are found as their arguments are of this namespace --------------------- */

template <class A, class B, class = traced_numbers<A, B>>
[[gnu::noinline]] auto min(const A &a, const B &b)
{
    const void *site = SIMT_SITE;
    return std::fmin(read(a, site), read(b, site));
}
template <class A, class B, class = traced_numbers<A, B>>
[[gnu::noinline]] auto max(const A &a, const B &b)
{
    const void *site = SIMT_SITE;
    return std::fmax(read(a, site), read(b, site));
}
#define SIMT_FUNCTION(name, from)                       \
    template <class... A, class = traced_numbers<A...>> \
    [[gnu::noinline]] auto name(const A &...a)          \
    {                                                   \
        const void *site = SIMT_SITE;                   \
        return from::name(read(a, site)...);            \
    }
#define SIMT_FUNCTIONS(name) \
    SIMT_FUNCTION(name, std) \
    SIMT_FUNCTION(name##f, ) \
    }                        \
    namespace std            \
    {                        \
    using simt::name;        \
    }                        \
    namespace simt           \
    {
SIMT_FUNCTIONS(sqrt)
SIMT_FUNCTIONS(cbrt)
SIMT_FUNCTIONS(exp)
SIMT_FUNCTIONS(exp2)
SIMT_FUNCTIONS(log)
SIMT_FUNCTIONS(log2)
SIMT_FUNCTIONS(log10)
SIMT_FUNCTIONS(sin)
SIMT_FUNCTIONS(cos)
SIMT_FUNCTIONS(tan)
SIMT_FUNCTIONS(tanh)
SIMT_FUNCTIONS(fabs)
SIMT_FUNCTIONS(floor)
SIMT_FUNCTIONS(ceil)
SIMT_FUNCTIONS(trunc)
SIMT_FUNCTIONS(round)
SIMT_FUNCTIONS(rint)
SIMT_FUNCTIONS(fmin)
SIMT_FUNCTIONS(fmax)
SIMT_FUNCTIONS(fmod)
SIMT_FUNCTIONS(pow)
SIMT_FUNCTIONS(fma)
SIMT_FUNCTIONS(ldexp)
SIMT_FUNCTIONS(lrint)
SIMT_FUNCTIONS(llrint)
SIMT_FUNCTIONS(lround)
SIMT_FUNCTIONS(llround)
SIMT_FUNCTION(abs, std)
SIMT_FUNCTION(isnan, std)
SIMT_FUNCTION(isinf, std)
SIMT_FUNCTION(isfinite, std)
#undef SIMT_FUNCTIONS

} // namespace simt

template <class T>
struct std::numeric_limits<simt::traced<T>> : std::numeric_limits<T> {
};
#endif

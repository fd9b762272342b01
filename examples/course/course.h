/* What an exercise of the course includes. On a GPU it is CUDA and two helpers. On the CPU machine
 * `float` is an element of the machine's, which tells it of every access: so the same file is a
 * CUDA program, and one that can be graded without a GPU. */
#ifndef COURSE_H
#define COURSE_H

#include <cstddef>
#include <cstdio>
#include <tuple>
#include <type_traits>
#include <utility>
#include <cuda_runtime.h>

namespace course
{
constexpr unsigned warp_size = 32;

#ifdef SIMT_MACHINE
using element = simt::traced<float>;
using double_element = simt::traced<double>;
#endif

/* A word by which blocks meet: 0 until it holds a float, and a flag beside it. */
using word = unsigned long long;

template <class Tuple, size_t... I>
void launch_with(const void *kernel, unsigned blocks, unsigned threads, size_t shared_bytes,
                 Tuple &values, std::index_sequence<I...>)
{
    void *pointers[] = {const_cast<void *>(static_cast<const void *>(&std::get<I>(values)))...};
    cudaLaunchKernel(kernel, dim3(blocks), dim3(threads), pointers, shared_bytes, nullptr);
}

/* What kernel<<<blocks, threads, shared_bytes>>>(arguments...) does, in plain C++. */
template <class... Parameters, class... Arguments>
void launch(void (*kernel)(Parameters...), unsigned blocks, unsigned threads, size_t shared_bytes,
            Arguments... arguments)
{
#ifdef SIMT_MACHINE
    simt::know_kernel(kernel);
#endif
    std::tuple<Parameters...> values(arguments...);
    launch_with(reinterpret_cast<const void *>(kernel), blocks, threads, shared_bytes, values,
                std::index_sequence_for<Parameters...>());
}

/* A value and its flag in one store, so that nobody sees one without the other. */
inline __device__ void publish(word *to, float value)
{
    *static_cast<volatile word *>(to) = static_cast<word>(__float_as_uint(value)) << 1 | 1;
}

/* The word as it is now: 0 if nobody has published there yet. */
inline __device__ word peek(const word *from)
{
    const word now = *static_cast<const volatile word *>(from);
    if (now == 0) __nanosleep(20);
    return now;
}

/* What peek() has got from publish(). */
inline __device__ float value_of(word published)
{
    return __uint_as_float(static_cast<unsigned>(published >> 1));
}
} // namespace course

#if defined(SIMT_MACHINE) && !defined(COURSE_ON_THE_HOST)
namespace course
{
struct alignas(8) two_floats {
    element x, y;
};
struct three_floats {
    element x, y, z;
};
struct alignas(16) four_floats {
    element x, y, z, w;
};
/* Neighbours in one access, which the machine is told of. Here loads alone matter. */
template <class Floats>
struct pack : Floats {
    pack() = default;
    template <class... A, class = std::enable_if_t<sizeof...(A) * sizeof(float) == sizeof(Floats)>>
    pack(A... a) : Floats{a...}
    {
    }
    [[gnu::noinline]] pack(const pack &other) { copy(other, __builtin_return_address(0)); }
    [[gnu::noinline]] pack &operator=(const pack &other)
    {
        copy(other, __builtin_return_address(0));
        return *this;
    }

  private:
    void copy(const pack &other, const void *site)
    {
        simt::machine &m = simt::the_machine();
        const std::string bytes = std::to_string(sizeof other);
        if (m.running && reinterpret_cast<uintptr_t>(&other) % sizeof other != 0)
            simt::stop(m, "misaligned: " + simt::words(m.threads[m.current]) + " loads " + bytes +
                              " bytes at " + simt::source_of(site) +
                              " from an address that is no multiple of " + bytes);
        simt::on_access(&other, sizeof other, false, site);
        memcpy(static_cast<void *>(this), static_cast<const void *>(&other), sizeof other);
        simt::on_access(this, sizeof *this, true, site);
    }
};
inline void publish(word *to, const element &value) { publish(to, value.get()); }
template <class Floats, class... A>
pack<Floats> make_pack(const A &...a)
{
    return pack<Floats>(a...);
}

/* CUDA has min and max of numbers. The machine has those of elements. */
template <class A, class B>
using numbers = std::enable_if_t<std::is_arithmetic<A>::value && std::is_arithmetic<B>::value>;
template <class A, class B, class = numbers<A, B>>
constexpr std::common_type_t<A, B> min(A a, B b)
{
    return b < a ? b : a;
}
template <class A, class B, class = numbers<A, B>>
constexpr std::common_type_t<A, B> max(A a, B b)
{
    return a < b ? b : a;
}

/* Elements are printed as what they hold. */
template <class... A>
int printf(const char *format, A... arguments)
{
    return ::printf(format, simt::read(arguments, nullptr)...);
}
} // namespace course
#define float course::element
#define double course::double_element
#define float2 course::pack<course::two_floats>
#define float3 course::three_floats
#define float4 course::pack<course::four_floats>
#define make_float2 course::make_pack<course::two_floats>
#define make_float3(x, y, z) (course::three_floats{x, y, z})
#define make_float4 course::make_pack<course::four_floats>
#endif
using namespace course;
#endif

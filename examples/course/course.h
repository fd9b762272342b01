/* What an exercise of the course includes. On a GPU it is CUDA and two helpers. On the CPU machine
 * `float` is an element of the machine's, which tells it of every access: so the same file is a
 * CUDA program, and one that can be graded without a GPU. */
#ifndef COURSE_H
#define COURSE_H

#include <cstddef>
#include <tuple>
#include <utility>
#include <cuda_runtime.h>

namespace course
{
constexpr unsigned warp_size = 32;

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
/* Four neighbours in one access, which the machine is told of. Here loads alone matter. */
struct alignas(16) vector {
    simt::traced<float> x, y, z, w;
    vector() = default;
    vector(simt::traced<float> a, simt::traced<float> b, simt::traced<float> c,
           simt::traced<float> d)
        : x(a), y(b), z(c), w(d)
    {
    }
    [[gnu::noinline]] vector(const vector &other) { copy(other, __builtin_return_address(0)); }
    [[gnu::noinline]] vector &operator=(const vector &other)
    {
        copy(other, __builtin_return_address(0));
        return *this;
    }

  private:
    void copy(const vector &other, const void *site)
    {
        simt::machine &m = simt::the_machine();
        if (m.running && reinterpret_cast<uintptr_t>(&other) % sizeof(vector) != 0)
            simt::stop(m, "misaligned: " + simt::words(m.threads[m.current]) +
                              " loads 16 bytes at " + simt::source_of(site) +
                              " from an address that is no multiple of 16");
        simt::on_access(&other, sizeof other, false, site);
        memcpy(static_cast<void *>(this), static_cast<const void *>(&other), sizeof other);
        simt::on_access(this, sizeof *this, true, site);
    }
};
inline void publish(word *to, const simt::traced<float> &value) { publish(to, value.get()); }
inline vector make_vector(simt::traced<float> a, simt::traced<float> b, simt::traced<float> c,
                          simt::traced<float> d)
{
    return {a, b, c, d};
}
} // namespace course
#define float simt::traced<float>
#define float4 course::vector
#define make_float4 course::make_vector
#endif
using namespace course;
#endif

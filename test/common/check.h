/* What the tests share: a count of checks, data with known sums, device memory between canaries.
 * The same source builds on the CPU machine (test/simt) and, by nvcc, on a GPU. */
#ifndef CHECK_H
#define CHECK_H

#include <cuda_runtime.h>
#include <cfloat>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>
#include "../../fastreduce.h"

#ifdef SIMT_MACHINE
constexpr bool on_gpu = false;
#else
constexpr bool on_gpu = true;
#endif

namespace check
{

inline unsigned long long &count()
{
    static unsigned long long value = 0;
    return value;
}
inline unsigned long long &failures()
{
    static unsigned long long value = 0;
    return value;
}

/* Counts a check; a failed one prints the sentence, up to the twentieth; with CHECK_STOPS the
 * first ends the program. */
__attribute__((format(printf, 2, 3))) inline bool that(bool good, const char *format, ...)
{
    ++count();
    if (good) return true;
    if (++failures() <= 20) {
        va_list list;
        va_start(list, format);
        std::printf("FAIL: ");
        std::vprintf(format, list);
        std::printf("\n");
        va_end(list);
        std::fflush(stdout);
    }
#ifdef CHECK_STOPS
    std::_Exit(1);
#endif
    return false;
}

inline int finish(const char *what)
{
    std::printf("%s: %llu checks, %llu failed\n", what, count(), failures());
    return failures() != 0;
}

/* For calls of the test itself that must not fail. */
inline void cuda(cudaError_t error, const char *call)
{
    if (error == cudaSuccess) return;
    std::printf("FAIL: %s: %s\n", call, cudaGetErrorString(error));
    std::exit(1);
}
#define CUDA(call) check::cuda(call, #call)

/* Ends the program with 77, which Meson reads as SKIP, where there is no GPU. */
inline void need_device()
{
    int devices = 0, driver = 1;
    const cudaError_t error = cudaGetDeviceCount(&devices);
    if (error == cudaSuccess && devices > 0) return;
    /* without a driver, which is version 0, the error is about one that is too old */
    const bool none = cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0;
    std::printf("SKIP: no GPU (%s)\n", none                   ? "no NVIDIA driver"
                                       : error == cudaSuccess ? "no device"
                                                              : cudaGetErrorString(error));
    std::exit(77);
}

/* A hash of an index and a seed: data that any test, on any machine, can make again. */
inline unsigned long long mix(unsigned long long index, unsigned long long seed)
{
    unsigned long long z =
        index * 0x9e3779b97f4a7c15ull + seed * 0xd1342543de82ef95ull + 0x632be59bd9b4e019ull;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93ull;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93ull;
    return z ^ (z >> 32);
}

enum class data {
    integers, /* -7 .. 12: every float sum is exact, so a lost, doubled or foreign element shows */
    uniform,  /* [-1, 1) plus a quarter */
    wide,     /* exponents over 2^-60 .. 2^40, both signs */
    infinity, /* uniform with one +infinity */
    both_infinities,
    nan
};
constexpr data all_data[] = {data::integers, data::uniform,         data::wide,
                             data::infinity, data::both_infinities, data::nan};

inline const char *name(data kind)
{
    switch (kind) {
    case data::integers: return "integers";
    case data::uniform: return "uniform";
    case data::wide: return "wide";
    case data::infinity: return "infinity";
    case data::both_infinities: return "both infinities";
    default: return "nan";
    }
}

inline std::vector<float> make(data kind, size_t n, unsigned long long seed)
{
    std::vector<float> values(n);
    for (size_t i = 0; i < n; ++i) {
        const unsigned long long z = mix(i, seed);
        const float fraction =
            static_cast<float>(static_cast<long long>(z >> 40) - (1 << 23)) / (1 << 23);
        if (kind == data::integers)
            values[i] = static_cast<float>(static_cast<long long>(z % 20) - 7);
        else if (kind == data::wide)
            values[i] = std::ldexp(fraction, static_cast<int>(z % 100) - 60);
        else
            values[i] = fraction + 0.25f;
    }
    if (n > 0 && (kind == data::infinity || kind == data::both_infinities))
        values[mix(n, seed) % n] = INFINITY;
    if (n > 1 && kind == data::both_infinities) {
        const size_t first = mix(n, seed) % n;
        values[(first + 1 + mix(n, seed + 1) % (n - 1)) % n] = -INFINITY;
    }
    if (n > 0 && kind == data::nan) values[mix(n, seed) % n] = NAN;
    return values;
}

/* Whether `got` may be the sum of the values by a tree in which an element takes part in at most
 * `depth` float additions: |error| <= depth * u / (1 - depth * u) * sum of |x|, u = 2^-24 (N.
 * Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 4.2), against the
 * exact sum. Integers that stay under 2^24: equal. */
inline bool plausible_sum(const std::vector<float> &values, data kind, float got, unsigned depth)
{
    fastreduce_accumulator sum = {}, magnitude = {};
    fastreduce_host_accumulate_f32(values.data(), &sum, values.size());
    const double exact = fastreduce_accumulator_f64(&sum);
    if (std::isnan(exact)) return std::isnan(got);
    if (std::isinf(exact)) return static_cast<double>(got) == exact;
    if (kind == data::integers && values.size() < (1u << 20))
        return static_cast<double>(got) == exact;
    std::vector<float> absolute(values);
    for (float &x : absolute) x = std::fabs(x);
    fastreduce_host_accumulate_f32(absolute.data(), &magnitude, absolute.size());
    const double u = std::ldexp(1.0, -24);
    return std::fabs(got - exact) <=
           depth * u / (1 - depth * u) * fastreduce_accumulator_f64(&magnitude);
}

/* Device memory of n elements, `offset` elements past a 256-byte boundary, between canaries. */
template <class T>
class buffer
{
  public:
    explicit buffer(size_t n, size_t offset = 0) : n_(n), before_(canary + offset)
    {
        const size_t total = before_ + n + canary;
        CUDA(cudaMalloc(reinterpret_cast<void **>(&base_), total * sizeof(T)));
        CUDA(cudaMemset(base_, pattern, total * sizeof(T)));
    }
    ~buffer() { CUDA(cudaFree(base_)); }
    buffer(const buffer &) = delete;
    buffer &operator=(const buffer &) = delete;

    T *data() { return base_ + before_; }
    size_t bytes() const { return n_ * sizeof(T); }
    void set(const T *values) { CUDA(cudaMemcpy(data(), values, bytes(), cudaMemcpyHostToDevice)); }
    void set(const std::vector<T> &values) { set(values.data()); }
    /* for any stream to see */
    void fill(int byte)
    {
        CUDA(cudaMemset(data(), byte, bytes()));
#ifndef SIMT_MACHINE
        CUDA(cudaDeviceSynchronize());
#endif
    }
    std::vector<T> get()
    {
        std::vector<T> values(n_);
        CUDA(cudaMemcpy(values.data(), data(), bytes(), cudaMemcpyDeviceToHost));
        return values;
    }
    bool every_byte_is(int byte) { return same(data(), bytes(), byte); }
    bool canaries_alive()
    {
        return same(base_, before_ * sizeof(T), pattern) &&
               same(data() + n_, canary * sizeof(T), pattern);
    }

  private:
    static constexpr size_t canary = 256;
    static constexpr int pattern = 0xc5;
    static bool same(const T *data, size_t bytes, int byte)
    {
        std::vector<unsigned char> copy(bytes);
        CUDA(cudaMemcpy(copy.data(), data, bytes, cudaMemcpyDeviceToHost));
        for (unsigned char x : copy)
            if (x != byte) return false;
        return true;
    }
    size_t n_, before_;
    T *base_;
};

/* Additions an element takes part in at the most. AUTO: fastreduce.h says it, up to 2^36. */
constexpr unsigned auto_depth = 47;

/* V0..V7: per level, the thread's own items and the tree's steps. */
inline unsigned tree_depth(size_t n, unsigned block_size, unsigned items)
{
    unsigned steps = items, depth = 0;
    for (unsigned b = block_size; b > 1; b /= 2) ++steps;
    do {
        depth += steps;
        n = (n + static_cast<size_t>(block_size) * items - 1) /
            (static_cast<size_t>(block_size) * items);
    } while (n > 1);
    return depth;
}

} // namespace check
#endif

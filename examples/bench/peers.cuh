/* CUB, where its headers are and not with BENCH_NO_CUB, and cuBLAS, with BENCH_CUBLAS:
 *
 *     BENCH_CUB              there is a CUB
 *     BENCH_CUB_TYPES        of CCCL 3.0 or later, which has all types and operators
 *     BENCH_CUB_FIXED        3.2: segments of one size
 *     BENCH_CUB_GPU_TO_GPU   3.1: a sum that is the same on every GPU
 */
#ifndef FASTREDUCE_EXAMPLES_PEERS_CUH
#define FASTREDUCE_EXAMPLES_PEERS_CUH

#include "elements.cuh"

#if __has_include(<cub/cub.cuh>) && !defined(BENCH_NO_CUB)
#include <cub/cub.cuh>
#define BENCH_CUB
#if CUB_VERSION >= 300000
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#define BENCH_CUB_TYPES
#endif
#if CUB_VERSION >= 300200
#define BENCH_CUB_FIXED
#endif
#if CCCL_VERSION >= 3001000
#include <cuda/execution>
#define BENCH_CUB_GPU_TO_GPU
#endif
#endif
#ifdef BENCH_CUBLAS
#include <cublas_v2.h>

#define CHECK_CUBLAS(call) \
    if ((call) != CUBLAS_STATUS_SUCCESS) fail(1, "%.*s failed", (int)strcspn(#call, "("), #call)

inline cublasHandle_t cublas_of(cudaStream_t stream)
{
    static cublasHandle_t handle = nullptr;
    if (handle == nullptr) {
        CHECK_CUBLAS(cublasCreate(&handle));
        CHECK_CUBLAS(cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE));
    }
    CHECK_CUBLAS(cublasSetStream(handle, stream));
    return handle;
}
#endif

#ifdef BENCH_CUB_GPU_TO_GPU
/* A memory resource that hands out memory that is there: no allocation in the graph. */
struct borrowed {
    void *memory;
    void *allocate(cuda::stream_ref, size_t, size_t = 0) { return memory; }
    void deallocate(cuda::stream_ref, void *, size_t, size_t = 0) {}
    void *allocate_sync(size_t, size_t = 0) { return memory; }
    void deallocate_sync(void *, size_t, size_t = 0) {}
    bool operator==(const borrowed &other) const { return memory == other.memory; }
    bool operator!=(const borrowed &other) const { return memory != other.memory; }
};

/* Of float or double. */
template <class T, class Resource>
cudaError_t sum_gpu_to_gpu(const T *input, T *output, size_t n, cudaStream_t stream,
                           Resource resource)
{
    auto reproducible = cuda::execution::require(cuda::execution::determinism::gpu_to_gpu);
    auto memory = cuda::std::execution::prop{cuda::mr::get_memory_resource_t{}, resource};
    auto environment = cuda::std::execution::env{cuda::stream_ref{stream}, reproducible, memory};
    return cub::DeviceReduce::Sum(input, output, static_cast<long long>(n), environment);
}
#endif

#ifdef BENCH_CUB_TYPES
/* What CUB has in an operator's stead. */
constexpr fastreduce_operator counterpart(fastreduce_operator op)
{
    return op == FASTREDUCE_MEAN    ? FASTREDUCE_SUM
           : op == FASTREDUCE_NORM2 ? FASTREDUCE_SUM_SQUARES
                                    : op;
}

/* `counts`: n; or how many segments, and their begins and ends, or the size of all. */
template <fastreduce_operator Op, class T, class Input, class... Counts>
void by_cub(void *memory, Input x, void *output, cudaStream_t stream, Counts... counts)
{
    constexpr bool flat = sizeof...(Counts) == 1;
    using calls = std::conditional_t<flat, cub::DeviceReduce, cub::DeviceSegmentedReduce>;
    using value = result<Op, T>;
    [[maybe_unused]] value *out = static_cast<value *>(output);
    size_t bytes = scratch::peers_bytes;
    if constexpr (Op == FASTREDUCE_MIN) {
        CHECK(calls::Min(memory, bytes, x, out, counts..., stream));
    } else if constexpr (Op == FASTREDUCE_MAX) {
        CHECK(calls::Max(memory, bytes, x, out, counts..., stream));
    } else if constexpr (is_index(Op) && flat) { /* the value comes after the index */
        T *extreme = reinterpret_cast<T *>(out + 1);
        if constexpr (Op == FASTREDUCE_ARGMIN)
            CHECK(calls::ArgMin(memory, bytes, x, extreme, out, counts..., stream));
        else
            CHECK(calls::ArgMax(memory, bytes, x, extreme, out, counts..., stream));
    } else if constexpr (is_index(Op)) {
        using place = std::conditional_t<sizeof...(Counts) == 2, cuda::std::pair<int, T>,
                                         cub::KeyValuePair<int, T>>;
        if constexpr (Op == FASTREDUCE_ARGMIN)
            CHECK(calls::ArgMin(memory, bytes, x, static_cast<place *>(output), counts..., stream));
        else
            CHECK(calls::ArgMax(memory, bytes, x, static_cast<place *>(output), counts..., stream));
    } else if constexpr (Op == FASTREDUCE_SUM && std::is_arithmetic_v<T>) {
        CHECK(calls::Sum(memory, bytes, x, out, counts..., stream));
    } else if constexpr (flat) {
        CHECK(calls::TransformReduce(memory, bytes, x, out, counts..., combine<Op>(),
                                     term<Op, value>(), value(Op == FASTREDUCE_PRODUCT), stream));
    } else {
        CHECK(calls::Reduce(memory, bytes, thrust::make_transform_iterator(x, term<Op, value>()),
                            out, counts..., combine<Op>(), value(Op == FASTREDUCE_PRODUCT),
                            stream));
    }
}

/* An index with its value, of segments by their begins and ends. */
template <class T>
__host__ __device__ int number(cub::KeyValuePair<int, T> place)
{
    return place.key;
}

/* CUB's sums have no mean where they can overflow, and variance has no counterpart. */
template <fastreduce_operator Op, class T>
constexpr bool is_comparable =
    Op != FASTREDUCE_VARIANCE && !(is_real(Op) && std::is_integral_v<T> && sizeof(T) > 2);

/* Whether our result of `count` elements goes with CUB's by the counterpart. Orders of addition
 * differ, and CUB's rounds the more often the longer a segment is. Indices, integers and extremes
 * have to be equal. */
template <fastreduce_operator Op, class Ours, class Peer>
__host__ __device__ bool are_alike(Ours ours, Peer peer, double count)
{
    if constexpr (std::is_integral_v<Ours>) {
        return static_cast<long long>(ours) == static_cast<long long>(number(peer));
    } else {
        double x = static_cast<double>(number(ours)), y;
        if constexpr (std::is_integral_v<Peer>)
            y = static_cast<double>(static_cast<long long>(peer));
        else
            y = static_cast<double>(number(peer));
        if (Op == FASTREDUCE_MEAN) x *= count;
        if (Op == FASTREDUCE_NORM2) x *= x;
        const double unit = sizeof(Ours) == 8 ? 1e-10 : 2e-6, root = sqrt(count);
        return is_extreme(Op) ? x == y : fabs(x - y) <= unit * (1 + root / 256) * (fabs(y) + root);
    }
}
#endif

#endif

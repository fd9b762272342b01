/* CUB's sum that is the same on every GPU, where there is CCCL 3.1 or later: BENCH_CUB_GPU_TO_GPU
 * says so. BENCH_CUB: there is a CUB at all; not with BENCH_NO_CUB. */
#ifndef FASTREDUCE_EXAMPLES_GPU_TO_GPU_CUH
#define FASTREDUCE_EXAMPLES_GPU_TO_GPU_CUH

#if __has_include(<cub/cub.cuh>) && !defined(BENCH_NO_CUB)
#include <cub/cub.cuh>
#define BENCH_CUB
#if CCCL_VERSION >= 3001000
#include <cuda/execution>
#define BENCH_CUB_GPU_TO_GPU
#endif
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

#endif

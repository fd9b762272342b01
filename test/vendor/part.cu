/* A part of a program or a shared library that carries its own copy of FastReduce, as its
 * function PART. With FASTREDUCE_NO_LADDER it has no V7, so it can tell that it runs its own
 * copy and not another part's. */
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#include "fastreduce.cuh"

extern "C" __attribute__((visibility("default"))) int PART(void);

/* 0, or which check failed. */
int PART(void)
{
#ifdef FASTREDUCE_NO_LADDER
    const bool ladder = false;
#else
    const bool ladder = true;
#endif
    const float x[3] = {1e30f, 3, -1e30f};
    const size_t n = 100000;
    fastreduce_config config = {};
    config.kernel = FASTREDUCE_V7;
    if (fastreduce_host_sum_f32(x, 3) != 3) return 1;
    if ((fastreduce_workspace_bytes(n, &config) > 0) != ladder) return 2;

    float *memory = nullptr;
    const bool gpu = cudaMallocManaged(&memory, (n + 1) * sizeof(float)) == cudaSuccess;
    if (gpu)
        for (size_t i = 0; i < n; ++i) memory[i] = 1;
    else
        memory = reinterpret_cast<float *>(16); /* not accessed: there is no GPU to do it */
    const fastreduce_status v7 = fastreduce_sum_f32(memory, memory + n, n, &config);
    config.kernel = FASTREDUCE_AUTO;
    const fastreduce_status tuned = fastreduce_sum_f32(memory, memory + n, n, &config);
    if (!gpu) {
        if (v7 != (ladder ? FASTREDUCE_ERROR_NO_DEVICE : FASTREDUCE_ERROR_UNSUPPORTED)) return 3;
        return tuned == FASTREDUCE_ERROR_NO_DEVICE ? 0 : 4;
    }
    if (v7 != (ladder ? FASTREDUCE_SUCCESS : FASTREDUCE_ERROR_UNSUPPORTED)) return 5;
    if (tuned != FASTREDUCE_SUCCESS || cudaDeviceSynchronize() != cudaSuccess) return 6;
    const bool right = memory[n] == static_cast<float>(n);
    cudaFree(memory);
    return right ? 0 : 7;
}

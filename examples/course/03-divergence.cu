/* Lesson 3: the same pairs as in lesson 2, by the first threads. Fill in the step: thread t takes
 * the t-th pair, if there is one. */
#include "course.h"

__global__ void block_sums(const float *input, float *partials, size_t n)
{
    extern __shared__ float sdata[];
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + tid;

    sdata[tid] = i < n ? input[i] : 0;
    __syncthreads();

    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        /* YOUR CODE */
        __syncthreads();
    }

    if (tid == 0) partials[blockIdx.x] = sdata[0];
}

/* Lesson 2: a block's sum by a tree. Fill in the loop: in the step of each stride, every thread
 * whose number is a multiple of 2 * stride adds what lies stride further on. */
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
    }

    if (tid == 0) partials[blockIdx.x] = sdata[0];
}

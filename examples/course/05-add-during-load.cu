/* Lesson 5: an addition before the tree. Fill in the load: a block has 2 * blockDim.x elements, and
 * each thread adds two of them, a block apart, into sdata[tid]. */
#include "course.h"

__global__ void block_sums(const float *input, float *partials, size_t n)
{
    extern __shared__ float sdata[];
    const unsigned tid = threadIdx.x;

    /* YOUR CODE */
    __syncthreads();

    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) sdata[tid] += sdata[tid + stride];
        __syncthreads();
    }

    if (tid == 0) partials[blockIdx.x] = sdata[0];
}

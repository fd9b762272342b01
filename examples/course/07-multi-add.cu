/* Lesson 7: eight elements a thread, and a block size that the compiler knows. Fill in the load:
 * the sum of eight elements, a block apart. */
#include "course.h"

template <unsigned BlockSize>
__global__ void block_sums(const float *input, float *partials, size_t n)
{
    __shared__ float sdata[BlockSize];
    const unsigned tid = threadIdx.x;

    float value = 0;
    /* YOUR CODE */
    sdata[tid] = value;
    __syncthreads();

#pragma unroll
    for (unsigned stride = BlockSize / 2; stride > warp_size; stride /= 2) {
        if (tid < stride) sdata[tid] += sdata[tid + stride];
        __syncthreads();
    }
    if (tid >= warp_size) return;
#pragma unroll
    for (unsigned stride = warp_size; stride > 0; stride /= 2) {
        if (tid < stride && tid + stride < BlockSize) sdata[tid] += sdata[tid + stride];
        __syncwarp();
    }

    if (tid == 0) partials[blockIdx.x] = sdata[0];
}

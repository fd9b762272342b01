/* Lesson 6: the last warp by itself. The loop stops above stride 32. Let the first warp go on
 * without block barriers, in blocks of 32 threads too. */
#include "course.h"

__global__ void block_sums(const float *input, float *partials, size_t n)
{
    extern __shared__ float sdata[];
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * (2 * blockDim.x) + tid;

    float value = i < n ? input[i] : 0;
    if (i + blockDim.x < n) value += input[i + blockDim.x];
    sdata[tid] = value;
    __syncthreads();

    for (unsigned stride = blockDim.x / 2; stride > warp_size; stride /= 2) {
        if (tid < stride) sdata[tid] += sdata[tid + stride];
        __syncthreads();
    }
    /* YOUR CODE */

    if (tid == 0) partials[blockIdx.x] = sdata[0];
}

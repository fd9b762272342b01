/* Lesson 8: from register to register. Fill in the tree: the lanes of each warp by shuffles, then
 * the warps' sums, through warp_values, by the first warp; thread 0 gets the sum in `value`. */
#include "course.h"

template <unsigned BlockSize>
__global__ void block_sums(const float *input, float *partials, size_t n)
{
    __shared__ float warp_values[BlockSize / warp_size];
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * (8 * BlockSize) + tid;

    float value = 0;
#pragma unroll
    for (unsigned k = 0; k < 8; ++k)
        if (i + k * BlockSize < n) value += input[i + k * BlockSize];

    /* YOUR CODE */

    if (tid == 0) partials[blockIdx.x] = value;
}

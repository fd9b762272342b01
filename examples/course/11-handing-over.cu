/* Lesson 11: neighbours first, without a shuffle for every value. Lane l has values[k], number
 * 32 * k + l of its warp. Fill in what gives every lane the sum of all, in pairs of neighbours,
 * pairs of pairs, and so on by that number. A lane and its partner, lane ^ 1, hold neighbours: each
 * keeps one half of its values, and hands over the half that the other keeps. */
#include "course.h"
#include "steps.cuh"

__device__ float warp_sum(float (&values)[4])
{
    const unsigned lane = threadIdx.x % warp_size;
    /* YOUR CODE */
    return values[0];
}

template <unsigned BlockSize>
__global__ void block_sums(const float *input, float *partials, size_t n)
{
    __shared__ float warp_values[BlockSize / warp_size];
    const size_t tile = static_cast<size_t>(BlockSize) * 16;
    const size_t first = blockIdx.x * tile + 4 * first_pack();

    float values[4];
    for (unsigned k = 0; k < 4; ++k)
        values[k] = pack_sum(input, first + 4 * warp_size * k, n, whole_tile(input, tile, n));

    float value = warp_sum(values);
    if (threadIdx.x % warp_size == 0) warp_values[threadIdx.x / warp_size] = value;
    __syncthreads();
    if (threadIdx.x >= warp_size) return;
    value = threadIdx.x < BlockSize / warp_size ? warp_values[threadIdx.x] : -0.0f;
    for (unsigned delta = 1; delta < BlockSize / warp_size; delta *= 2)
        value += __shfl_xor_sync(0xffffffff, value, delta);

    if (threadIdx.x == 0) partials[blockIdx.x] = value;
}

/* Lesson 20: mend it. Every block stores its sum and counts itself. The one that finds all others
 * counted comes last, and adds up what they have stored. On a GPU this is right nearly every time.
 * Run check.sh, see what the machine reports, and make it right with one line. */
#include "course.h"
#include "steps.cuh"

template <unsigned BlockSize>
__global__ void sum_at_once(const float *input, float *output, float *partials, unsigned *counter,
                            size_t n)
{
    __shared__ float warp_values[BlockSize / warp_size];
    __shared__ bool comes_last;
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * (4 * BlockSize) + tid;

    float value = 0;
    for (unsigned k = 0; k < 4; ++k)
        if (i + k * BlockSize < n) value += input[i + k * BlockSize];
    value = block_sum<BlockSize>(value, warp_values); /* in thread 0 */

    if (tid == 0) {
        partials[blockIdx.x] = value;
        comes_last = atomicAdd(counter, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!comes_last) return;

    value = 0;
    for (unsigned k = tid; k < gridDim.x; k += BlockSize) value += partials[k];
    value = block_sum<BlockSize>(value, warp_values);
    if (tid == 0) {
        *output = value;
        *counter = 0; /* for the next sum */
    }
}

void sum(const float *input, float *output, float *partials, unsigned *counter, size_t n)
{
    const unsigned blocks = static_cast<unsigned>((n - 1) / (4 * 256) + 1);
    launch(sum_at_once<256>, blocks, 256, 0, input, output, partials, counter, n);
}

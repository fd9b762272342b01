/* Lesson 4: no two lanes of a warp in one bank. Fill in the tree: its strides begin at half of the
 * block and halve. */
#include "course.h"

__global__ void block_sums(const float *input, float *partials, size_t n)
{
    extern __shared__ float sdata[];
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + tid;

    sdata[tid] = i < n ? input[i] : 0;
    __syncthreads();

    /* YOUR CODE */

    if (tid == 0) partials[blockIdx.x] = sdata[0];
}

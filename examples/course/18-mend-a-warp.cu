/* Lesson 18: mend it. Every warp sums its own 32 words of shared memory, without a block barrier,
 * and thread 0 adds up the warps' sums. On a GPU this is right nearly every time. Run check.sh, see
 * what the machine reports, and make it right with one line. */
#include "course.h"

__global__ void block_sums(const float *input, float *partials, size_t n)
{
    extern __shared__ float sdata[];
    const unsigned tid = threadIdx.x, lane = tid % warp_size;
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + tid;

    sdata[tid] = i < n ? input[i] : 0;

    for (unsigned stride = warp_size / 2; stride > 0; stride /= 2) {
        if (lane < stride) sdata[tid] += sdata[tid + stride];
        __syncwarp();
    }
    __syncthreads();

    if (tid > 0) return;
    for (unsigned k = warp_size; k < blockDim.x; k += warp_size) sdata[0] += sdata[k];
    partials[blockIdx.x] = sdata[0];
}

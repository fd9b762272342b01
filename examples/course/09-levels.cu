/* Lesson 9: sums of sums. Each launch turns what is left into one partial a block. Fill in the
 * launches, until one block is left, whose sum goes to output. workspace has room for twice as many
 * floats as the first launch has blocks. (Blocks are small, so that levels come early.) */
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

    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) sdata[tid] += sdata[tid + stride];
        __syncthreads();
    }

    if (tid == 0) partials[blockIdx.x] = sdata[0];
}

void sum(const float *input, float *output, float *workspace, size_t n)
{
    const unsigned threads = 32;
    const size_t tile = 2 * threads; /* elements of a block */
    const size_t bytes = threads * sizeof(float);
    /* launch(block_sums, blocks, threads, bytes, from, to, elements); */
    /* YOUR CODE */
}

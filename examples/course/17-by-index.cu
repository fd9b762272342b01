/* Lesson 17: mend it. sums[b] is the sum of the values whose index is b. Its bits change with the
 * order in which threads come. Make them those of the exact sum, rounded once, in any order. The
 * values are multiples of 2^-20, and every sum of a bin is below 2^43. sums and space are zero at
 * first, and have a float and a word for each of the bins. */
#include "course.h"

__global__ void add_by_index(const float *values, const unsigned *index, float *sums, size_t n)
{
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
    if (i < n) atomicAdd(&sums[index[i]], values[i]);
}

void sums_by_index(const float *values, const unsigned *index, float *sums, word *space, size_t n,
                   unsigned bins)
{
    const unsigned threads = 256, blocks = static_cast<unsigned>((n - 1) / threads + 1);
    launch(add_by_index, blocks, threads, 0, values, index, sums, n);
}

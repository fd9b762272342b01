/* What nvcc takes beyond what the exercises of the course need, and the grader takes, too: a
 * solution of lesson 9. Each value is needed: x comes back as it was, for the block to sum. */
#include <cmath>
#include "course.h"

constexpr float one = 1;
__constant__ float two[] = {1, 2};
struct numbers {
    float a, b;
};

/* Arrays of a size that the launch says are one memory, of any type. */
template <class T>
__device__ T broadcast(T x)
{
    extern __shared__ T values[];
    __syncthreads();
    if (threadIdx.x == 0) values[0] = x;
    __syncthreads();
    return values[0];
}

__device__ float twice(float x) { return x * 2; }

__global__ void block_sums(const float *__restrict__ input, float *partials, size_t n)
{
    // extern __shared__ memory: sdata[]
    /* extern __shared__ comment[] */
    extern __shared__ float tile[]; /* not named as in the exercise */
    __shared__ float spare[32], total;
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + tid;

    const float x = i < n ? __ldg(input + i) : 0.0;
    tile[tid] = x;
    if (tid == 0) total = 0;
    __syncthreads();
    if (tid < 32) spare[tid] = -tile[tid];
    __syncthreads();
    if (tid == 0 && n == 1) printf("%g %g %s %d\n", tile[0], spare[0] * two[1], "printed", 3);

    float y = 2 * x / 2 - x + 1 * x;
    y *= 2.0f;
    y /= two[1];
    y += 1;
    y -= 1.0;
    if (y == 0.0f || !x) y = 0;
    if (y != x || x > y || y < x || x <= y - 1 || y - 1 >= x) y = 1e30f;
    const float2 pair = make_float2(y, 0);
    const float2 *from = &pair;
    y = from->x + pair.y;
    y = min(max(y, -1e30f), fminf(fmaxf(x, y), 1e30f));
    y = sqrtf(fabsf(y) * fabs(y)) * (y < 0 ? -one : one);
    y = __uint_as_float(__float_as_uint(y)) * (n > 0 ? 1 / make_float3(x, 1, 2).y : 0);
    double sum = 0;
    sum += y;
    sum = sum + static_cast<double>(y) - y;
    y = (int)y + (float)sum - twice(x) + +y;
    numbers both = {y, 0};
    both.b = both.a++;
    double wide = y;
    y = wide;
    if (std::fabs(wide) > std::numeric_limits<float>::max()) y = 0;
    if (both.a == both.b + 1 && !isnan(both.a)) y = --both.a;
    y = min(tid, 2000u) == tid && max(1, 2) == 2 ? y : 0;

    tile[tid] = y;
    __syncthreads();
    for (unsigned k = 0; k < 2; ++k) atomicAdd(&total, tile[tid] / 2);
    __syncthreads();
    const float sum_of_all = broadcast(total);
    if (tid == 0) partials[blockIdx.x] = sum_of_all;
}

__global__ void store(float *to)
{
    extern __shared__ float4 packs[];
    extern __shared__ __align__(16) volatile unsigned char bytes[];
    packs[0] = make_float4(1, 2, 3, 4);
    bytes[3] = 0;
    *to = packs[0].w;
}

void sum(const float *input, float *output, float *workspace, size_t n)
{
    const unsigned threads = 64;
    const size_t blocks = (n - 1) / threads + 1;
    float *const to = blocks == 1 ? output : workspace;
    launch(block_sums, static_cast<unsigned>(blocks), threads, threads * sizeof(float), input, to,
           n);
    if (blocks > 1) sum(to, output, workspace + blocks, blocks);
}

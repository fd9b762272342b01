/* The steps from V7 to AUTO, of floats alone: vector_loads, handing_over and one_launch, each with
 * what it needs that the one before had not. Comes after course.h. A lesson's exercise, when it is
 * graded, sees what the lessons before it have made. */
#ifndef COURSE_STEPS_CUH
#define COURSE_STEPS_CUH
#ifndef LESSON
#define COURSE_HAS(step) 1
#else
#define COURSE_HAS(step) (LESSON > 9 + step)
#endif
#if COURSE_HAS(0)

constexpr unsigned packs = 4, tile_items = 4 * packs; /* of a thread: packs of 16 bytes; floats */

/* V7's tree: lanes by shuffles, then warps by the first one. In thread 0. */
template <unsigned BlockSize>
__device__ float block_sum(float value, float *warp_values)
{
    const unsigned tid = threadIdx.x;
    for (unsigned delta = warp_size / 2; delta > 0; delta /= 2)
        value += __shfl_down_sync(0xffffffff, value, delta);
    if (tid % warp_size == 0) warp_values[tid / warp_size] = value;
    __syncthreads();
    if (tid >= warp_size) return value;
    value = tid < BlockSize / warp_size ? warp_values[tid] : 0;
    for (unsigned delta = BlockSize / warp_size / 2; delta > 0; delta /= 2)
        value += __shfl_down_sync(0xffffffff, value, delta);
    return value;
}

#if COURSE_HAS(1)

/* The sum of pack number k of a thread, whose first element is `first`; -0 where there is none, as
 * x + -0 is x for every x. */
__device__ inline float pack_sum(const float *input, size_t first, size_t n, bool whole)
{
    if (whole) {
        const float4 pack = *reinterpret_cast<const float4 *>(input + first);
        return (pack.x + pack.y) + (pack.z + pack.w);
    }
    float item[4];
    for (unsigned j = 0; j < 4; ++j) item[j] = first + j < n ? input[first + j] : -0.0f;
    return (item[0] + item[1]) + (item[2] + item[3]);
}

/* Whether a tile is all there, and made of vectors. */
__device__ inline bool whole_tile(const float *input, size_t tile, size_t n)
{
    return reinterpret_cast<size_t>(input) % sizeof(float4) == 0 && (blockIdx.x + 1) * tile <= n;
}

/* The first of a thread's packs, which are 32 apart: a warp's are next to each other. */
__device__ inline unsigned first_pack()
{
    return threadIdx.x / warp_size * (warp_size * packs) + threadIdx.x % warp_size;
}

/* Step 1. A thread loads four packs of four neighbours, a block apart. */
template <unsigned BlockSize>
__global__ void vector_loads(const float *input, float *partials, size_t n)
{
    __shared__ float warp_values[BlockSize / warp_size];
    const size_t tile = size_t(BlockSize) * tile_items;
    const size_t first = blockIdx.x * tile + 4 * threadIdx.x;
    const bool whole = whole_tile(input, tile, n);

    float value = 0;
#pragma unroll
    for (unsigned k = 0; k < packs; ++k)
        value += pack_sum(input, first + 4 * BlockSize * k, n, whole);
    value = block_sum<BlockSize>(value, warp_values);

    if (threadIdx.x == 0) partials[blockIdx.x] = value;
}

#if COURSE_HAS(2)

/* Lane l has values[k], number 32 * k + l of its warp's. While lanes pair, each hands over the half
 * of its values that its partner keeps. Every lane gets the sum. */
template <unsigned Count>
__device__ float warp_pairs(float (&values)[Count])
{
    unsigned held = Count;
#pragma unroll
    for (unsigned delta = 1; delta < warp_size; delta *= 2) {
        const bool upper = (threadIdx.x & delta) != 0;
        if (held == 1) {
            values[0] += __shfl_xor_sync(0xffffffff, values[0], delta);
            continue;
        }
        held /= 2;
#pragma unroll
        for (unsigned k = 0; k < held; ++k) {
            const float kept = upper ? values[k + held] : values[k];
            const float handed = upper ? values[k] : values[k + held];
            values[k] = kept + __shfl_xor_sync(0xffffffff, handed, delta);
        }
    }
#pragma unroll
    for (unsigned bit = Count / 2; bit > 0; bit /= 2)
        values[0] += __shfl_xor_sync(0xffffffff, values[0], bit);
    return values[0];
}

/* The sum of a block in the order of packs: warps meet as lanes do. In warp 0. Between two calls
 * with the same warp_values there is a barrier. */
template <unsigned BlockSize, unsigned Count>
__device__ float block_pairs(float (&values)[Count], float *warp_values)
{
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    float value = warp_pairs(values);
    if (lane == 0) warp_values[warp] = value;
    __syncthreads();
    if (warp > 0) return value;
    value = lane < BlockSize / warp_size ? warp_values[lane] : -0.0f;
#pragma unroll
    for (unsigned delta = 1; delta < BlockSize / warp_size; delta *= 2)
        value += __shfl_xor_sync(0xffffffff, value, delta);
    return value;
}

/* A block's tile, pairwise by index. */
template <unsigned BlockSize>
__device__ float tile_pairs(const float *input, size_t n, float *warp_values)
{
    const size_t tile = size_t(BlockSize) * tile_items;
    const size_t first = blockIdx.x * tile + 4 * first_pack();
    const bool whole = whole_tile(input, tile, n);
    float values[packs];
#pragma unroll
    for (unsigned k = 0; k < packs; ++k)
        values[k] = pack_sum(input, first + 4 * warp_size * k, n, whole);
    return block_pairs<BlockSize>(values, warp_values);
}

/* Step 2. The same loads, but neighbours meet first: the sum is that of the index alone. */
template <unsigned BlockSize>
__global__ void handing_over(const float *input, float *partials, size_t n)
{
    __shared__ float warp_values[BlockSize / warp_size];
    const float value = tile_pairs<BlockSize>(input, n, warp_values);
    if (threadIdx.x == 0) partials[blockIdx.x] = value;
}

#if COURSE_HAS(3)

/* Step 3. One launch: blocks publish their partials in words, and the last one awaits them. For
 * BlockSize * packs blocks at most; AUTO has groups of blocks, and groups of groups. */
template <unsigned BlockSize>
__global__ void one_launch(const float *input, float *output, word *words, size_t n)
{
    __shared__ float warp_values[BlockSize / warp_size], own;
    float value = tile_pairs<BlockSize>(input, n, warp_values);
    const unsigned others = gridDim.x - 1;
    if (blockIdx.x < others) {
        if (threadIdx.x == 0) publish(words + blockIdx.x, value);
        return;
    }
    if (threadIdx.x == 0) own = value;
    __syncthreads();
    float values[packs];
#pragma unroll
    for (unsigned k = 0; k < packs; ++k) {
        const unsigned number = first_pack() + warp_size * k;
        values[k] = number == others ? own : -0.0f;
        if (number >= others) continue;
        word published = peek(words + number);
        while (published == 0) published = peek(words + number);
        words[number] = 0;
        values[k] = value_of(published);
    }
    value = block_pairs<BlockSize>(values, warp_values);
    if (threadIdx.x == 0) *output = value;
}

#endif
#endif
#endif
#endif
#endif

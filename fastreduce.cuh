/* ==========================================================================================================
 * Room 1: manual
 * ==========================================================================================================
 *
 * FastReduce: parallel reduction for CUDA in two files. This one holds everything that runs on or for the GPU.
 *
 * SPDX-License-Identifier: MIT (the text is in LICENSE)
 *
 * Vendoring. Copy fastreduce.h and fastreduce.cuh into your project; one .cu file says
 *
 *     #define FASTREDUCE_IMPLEMENTATION
 *     #include "fastreduce.cuh"
 *
 * and holds the C functions that fastreduce.h declares. C++ code may also include this file anywhere, without
 * that macro, for the templates: the building blocks (room 4) inside kernels of its own, and
 *
 *     fastreduce::reduce<FASTREDUCE_V7>(input, output, n, stream);                    // float, int, double ...
 *     fastreduce::reduce<FASTREDUCE_V7, 512, 16, fastreduce::maximum>(input, output, n);
 *     fastreduce::round<FASTREDUCE_V2, 128>(input, partials, n);                      // one level only
 *
 * Macros, defined before the first include of this file:
 *
 *   FASTREDUCE_IMPLEMENTATION     defines the C functions. Scope: one .cu file of the program.
 *   FASTREDUCE_BLOCK_SIZE         threads a block where none is asked for: 32, 64, ... 1024. Default 256.
 *                                 Scope: the same in every file.
 *   FASTREDUCE_ITEMS_PER_THREAD   elements a thread adds before the block's tree in V6 and V7: 1 to 64.
 *                                 Default 8. Scope: the same in every file.
 *   FASTREDUCE_NO_LADDER          the C functions leave out V0..V6, for a shorter build: they answer
 *                                 FASTREDUCE_ERROR_UNSUPPORTED. AUTO and V7 stay. Scope: the implementing file.
 *   FASTREDUCE_NO_EXACT           the same for EXACT, which this version does not have on the GPU: no effect
 *                                 yet. Scope: the implementing file.
 *   FASTREDUCE_STATIC, FASTREDUCE_API   see fastreduce.h.
 *
 * Rooms: 1 manual, 2 configuration and portability, 3 elements and operators, 4 building blocks, 5 the ladder
 * V0..V7, 6 the tuned kernels, 7 the exact sum, 8 dispatcher, 9 the C functions. Needs C++14 and CUDA 11.2.
 *
 * Words: a *block* of threads reduces one *tile* of the input, block size times *items* per thread elements,
 * to one *partial*. A *level* (one launch, a *round*) turns n elements into as many partials as it has blocks;
 * levels follow until one partial is left.
 */
#ifndef FASTREDUCE_CUH
#define FASTREDUCE_CUH

#include <cuda_runtime.h>
#include <limits>
#include <type_traits>
#include "fastreduce.h"

/* ==========================================================================================================
 * Room 2: configuration and portability
 * May hold: macros and their checks; whatever knows compilers and architectures, as named device functions.
 * ========================================================================================================== */

#ifndef FASTREDUCE_BLOCK_SIZE
#define FASTREDUCE_BLOCK_SIZE 256
#endif
#if FASTREDUCE_BLOCK_SIZE < 32 || FASTREDUCE_BLOCK_SIZE > 1024 || \
    (FASTREDUCE_BLOCK_SIZE & (FASTREDUCE_BLOCK_SIZE - 1)) != 0
#error "FASTREDUCE_BLOCK_SIZE must be 32, 64, 128, 256, 512 or 1024"
#endif

#ifndef FASTREDUCE_ITEMS_PER_THREAD
#define FASTREDUCE_ITEMS_PER_THREAD 8
#endif
#if FASTREDUCE_ITEMS_PER_THREAD < 1 || FASTREDUCE_ITEMS_PER_THREAD > 64
#error "FASTREDUCE_ITEMS_PER_THREAD must be from 1 to 64"
#endif

namespace fastreduce
{

/* A constant of ours: loops over the built-in warpSize, which is no constant, stay rolled. */
constexpr unsigned warp_size = 32;
constexpr unsigned max_block_size = 1024;

/* The block's dynamic shared memory. Raw bytes, as arrays of several types cannot share one name. */
extern __shared__ __align__(16) unsigned char dynamic_shared_bytes[];

template <class T>
__device__ __forceinline__ T *dynamic_shared()
{
    return reinterpret_cast<T *>(dynamic_shared_bytes);
}

/* The value of the lane `delta` above; of any type, word by word. All 32 lanes call it. Lanes that have no lane
 * so far above get their own value. */
template <class T>
__device__ __forceinline__ T shuffle_down(T value, unsigned delta)
{
    constexpr unsigned words = (sizeof(T) + sizeof(unsigned) - 1) / sizeof(unsigned);
    unsigned word[words] = {};
    memcpy(word, static_cast<const void *>(&value), sizeof(T));
#pragma unroll
    for (unsigned k = 0; k < words; ++k) word[k] = __shfl_down_sync(0xffffffffu, word[k], delta);
    memcpy(static_cast<void *>(&value), word, sizeof(T));
    return value;
}

/* ==========================================================================================================
 * Room 3: elements and operators
 * May hold: what is to be known of an operator (identity, combine) and of an element type under it (the type
 * that accumulates). A new operator or type is added here and nowhere else.
 *
 * An operator is a type without state that has
 *     template <class T> static T identity();          combine(identity, x) == x
 *     T operator()(T a, T b) const;                    associative and commutative, but for rounding
 * Element types are trivially copyable and trivially default constructible (they live in shared memory).
 * ========================================================================================================== */

struct plus {
    template <class T>
    static __host__ __device__ __forceinline__ T identity()
    {
        return T(0);
    }
    template <class T>
    __host__ __device__ __forceinline__ T operator()(T a, T b) const
    {
        return a + b;
    }
};

/* Constants, as device code may use those but not call std::numeric_limits. */
template <class T>
struct bounds {
    using limits = std::numeric_limits<T>;
    static constexpr T greatest = limits::has_infinity ? limits::infinity() : limits::max();
    static constexpr T least = limits::has_infinity ? static_cast<T>(-limits::infinity()) : limits::lowest();
};

/* Minimum and maximum. Where an element is NaN the result is unspecified, as NaN has no place in an order. */
struct minimum {
    template <class T>
    static __host__ __device__ __forceinline__ T identity()
    {
        return bounds<T>::greatest;
    }
    template <class T>
    __host__ __device__ __forceinline__ T operator()(T a, T b) const
    {
        return b < a ? b : a;
    }
};

struct maximum {
    template <class T>
    static __host__ __device__ __forceinline__ T identity()
    {
        return bounds<T>::least;
    }
    template <class T>
    __host__ __device__ __forceinline__ T operator()(T a, T b) const
    {
        return a < b ? b : a;
    }
};

/* The type of partials and of the result. Integers add up in 64 bits; everything else stays as it is. */
template <class Operator, class Input>
struct accumulate {
    using type = Input;
};
template <class Input>
struct accumulate<plus, Input> {
    using wide = std::conditional_t<std::is_signed<Input>::value, long long, unsigned long long>;
    using type = std::conditional_t<std::is_integral<Input>::value, wide, Input>;
};
template <class Operator, class Input>
using accumulate_t = typename accumulate<Operator, Input>::type;

/* ==========================================================================================================
 * Room 4: building blocks
 * May hold: what threads, warps and blocks do together. Public: call them in kernels of your own, as
 * examples/block_reduce.cu does. The result is the same bits every time.
 * ========================================================================================================== */

/* What one thread adds up by itself: input[first], input[first + stride] ... Items of them, those at n and
 * beyond left out. A thread whose items all exist takes the branch without checks, so that its loads are all
 * under way before the first addition. */
template <unsigned Items, class Operator, class T, class Input>
__device__ __forceinline__ T thread_reduce(const Input *input, size_t first, unsigned stride, size_t n)
{
    const Operator combine;
    T value = Operator::template identity<T>();
    if (first + (Items - 1) * stride < n) {
#pragma unroll
        for (unsigned k = 0; k < Items; ++k)
            value = combine(value, static_cast<T>(input[first + k * stride]));
    } else {
        for (unsigned k = 0; k < Items; ++k)
            if (first + k * stride < n) value = combine(value, static_cast<T>(input[first + k * stride]));
    }
    return value;
}

/* Reduces one value a lane over lanes 0 .. Width - 1 of a warp, a power of two. All 32 lanes call it; the result
 * is lane 0's, the other lanes get something between. */
template <class Operator, unsigned Width = warp_size, class T>
__device__ __forceinline__ T warp_reduce(T value)
{
    const Operator combine;
#pragma unroll
    for (unsigned delta = Width / 2; delta > 0; delta /= 2)
        value = combine(value, shuffle_down(value, delta));
    return value;
}

/* Reduces one value a thread over a block of BlockSize threads (one-dimensional; 32 to 1024, a power of two).
 * Every thread calls it; the result is thread 0's. `slots` is shared memory for BlockSize / 32 values, and may
 * be used again after a block barrier. */
template <unsigned BlockSize, class Operator, class T>
__device__ __forceinline__ T block_reduce(T value, T *slots)
{
    constexpr unsigned warps = BlockSize / warp_size;
    const unsigned lane = threadIdx.x % warp_size;
    const unsigned warp = threadIdx.x / warp_size;

    value = warp_reduce<Operator>(value);
    if (warps == 1) return value;

    if (lane == 0) slots[warp] = value;
    __syncthreads();
    if (warp == 0) {
        if (lane < warps) value = slots[lane];
        value = warp_reduce<Operator, warps>(value);
    }
    return value;
}

/* ==========================================================================================================
 * Room 5: the ladder
 * May hold: V0..V7, one kernel each, in order. All have one skeleton: load to shared memory, a tree over the
 * block, thread 0 stores the block's partial. A neighbour differs by the one idea its comment calls Change.
 *
 * A kernel reduces input[0 .. n) with a grid of one block a tile; block b writes partials[b]. Elements past n
 * count as the identity. A block has blockDim.x threads, a power of two from 32 to 1024; from V5 on that is the
 * template parameter BlockSize. A thread's running sum stays in `value`, and sdata[tid] is the copy that others
 * read: without that register V2 takes 10 % longer (2^28 floats, one H200).
 * ========================================================================================================== */

/* V0, baseline.
 * Change: none yet. Neighbours add up in pairs, pairs of pairs, and so on, in place.
 * Why:    log2(block size) steps instead of block size - 1 additions one after the other.
 * Costs:  the threads that work, every second, fourth, eighth ..., are spread over all warps: each warp takes
 *         every step for a few of its lanes. The remainder is slow arithmetic besides. */
template <class Operator, class T, class Input>
__global__ void __launch_bounds__(max_block_size)
    v0_baseline(const Input *__restrict__ input, T *__restrict__ partials, size_t n)
{
    T *sdata = dynamic_shared<T>();
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + tid;
    const Operator combine;

    T value = i < n ? static_cast<T>(input[i]) : Operator::template identity<T>();
    sdata[tid] = value;
    __syncthreads();

    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0) sdata[tid] = value = combine(value, sdata[tid + stride]);
        __syncthreads();
    }

    if (tid == 0) partials[blockIdx.x] = value;
}

/* V1, no divergence.
 * Change: the same pairs, but thread t takes the t-th pair, so the threads that work are the first ones.
 * Why:    whole warps work or are done; no remainder.
 * Costs:  lanes now access shared memory 2, 4, 8 ... words apart, and collide in its banks. */
template <class Operator, class T, class Input>
__global__ void __launch_bounds__(max_block_size)
    v1_no_divergence(const Input *__restrict__ input, T *__restrict__ partials, size_t n)
{
    T *sdata = dynamic_shared<T>();
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + tid;
    const Operator combine;

    sdata[tid] = i < n ? static_cast<T>(input[i]) : Operator::template identity<T>();
    __syncthreads();

    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        const unsigned index = 2 * stride * tid;
        if (index < blockDim.x) sdata[index] = combine(sdata[index], sdata[index + stride]);
        __syncthreads();
    }

    if (tid == 0) partials[blockIdx.x] = sdata[0];
}

/* V2, no bank conflicts.
 * Change: the stride starts at half the block and halves; thread t adds element t + stride to element t.
 * Why:    the lanes of a warp access neighbouring words, one a bank.
 * Costs:  half the threads never add: they load one element and wait. */
template <class Operator, class T, class Input>
__global__ void __launch_bounds__(max_block_size)
    v2_no_bank_conflict(const Input *__restrict__ input, T *__restrict__ partials, size_t n)
{
    T *sdata = dynamic_shared<T>();
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + tid;
    const Operator combine;

    T value = i < n ? static_cast<T>(input[i]) : Operator::template identity<T>();
    sdata[tid] = value;
    __syncthreads();

    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) sdata[tid] = value = combine(value, sdata[tid + stride]);
        __syncthreads();
    }

    if (tid == 0) partials[blockIdx.x] = value;
}

/* The load of V3 to V5: the thread's element, and with two items the one a block further on. */
template <unsigned Items, class Operator, class T, class Input>
__device__ __forceinline__ T load_pair(const Input *input, size_t i, unsigned stride, size_t n)
{
    static_assert(Items == 1 || Items == 2, "V3, V4 and V5 load one or two items per thread");
    const Operator combine;
    T value = i < n ? static_cast<T>(input[i]) : Operator::template identity<T>();
    if (Items == 2 && i + stride < n) value = combine(value, static_cast<T>(input[i + stride]));
    return value;
}

/* V3, add during load.
 * Change: each thread loads two elements, a block apart, and stores their sum to shared memory.
 * Why:    every thread adds at least once; half the blocks, and half the shared memory traffic an element.
 * Costs:  the last six steps keep every warp at block barriers for the work of one. */
template <class Operator, unsigned Items, class T, class Input>
__global__ void __launch_bounds__(max_block_size)
    v3_add_during_load(const Input *__restrict__ input, T *__restrict__ partials, size_t n)
{
    T *sdata = dynamic_shared<T>();
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * (Items * blockDim.x) + tid;
    const Operator combine;

    T value = load_pair<Items, Operator, T>(input, i, blockDim.x, n);
    sdata[tid] = value;
    __syncthreads();

    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) sdata[tid] = value = combine(value, sdata[tid + stride]);
        __syncthreads();
    }

    if (tid == 0) partials[blockIdx.x] = value;
}

/* How V4 takes the steps of stride 32 and below, unrolled either way. */
enum class tail {
    warp, /* by the first warp alone, with warp barriers (the lecture's sum_warp, at one item) */
    block /* by all warps, with block barriers (the lecture's sum_unroll, at one item) */
};

/* The last steps of V4 to V6, strides 32 to 1, from the thread's value to the block's in thread 0. A lane that has
 * nothing to add stays out: reading on, as the classic code does, would leave the array of a 32-thread block.
 * Warps do not run in lock-step (since Volta), so a warp barrier stands where a lane's store meets another lane's
 * load. */
template <class Operator, tail Tail, class T>
__device__ __forceinline__ T unrolled_tail(T *sdata, T value, unsigned tid, unsigned block_size)
{
    const Operator combine;
#pragma unroll
    for (unsigned stride = warp_size; stride > 0; stride /= 2) {
        if (tid < stride && (stride < warp_size || block_size > warp_size))
            sdata[tid] = value = combine(value, sdata[tid + stride]);
        if (Tail == tail::warp)
            __syncwarp();
        else
            __syncthreads();
    }
    return value;
}

/* V4, unroll the last warp.
 * Change: from stride 32 down only the first warp goes on, without block barriers and without a loop.
 * Why:    six block barriers fewer, and the other warps retire early, which makes room for the next block.
 * Costs:  the loop above it: counter, compare and branch for an addition or two. */
template <class Operator, unsigned Items, tail Tail, class T, class Input>
__global__ void __launch_bounds__(max_block_size)
    v4_unroll_last_warp(const Input *__restrict__ input, T *__restrict__ partials, size_t n)
{
    T *sdata = dynamic_shared<T>();
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * (Items * blockDim.x) + tid;
    const Operator combine;

    T value = load_pair<Items, Operator, T>(input, i, blockDim.x, n);
    sdata[tid] = value;
    __syncthreads();

    for (unsigned stride = blockDim.x / 2; stride > warp_size; stride /= 2) {
        if (tid < stride) sdata[tid] = value = combine(value, sdata[tid + stride]);
        __syncthreads();
    }
    if (Tail == tail::warp && tid >= warp_size) return;
    value = unrolled_tail<Operator, Tail>(sdata, value, tid, blockDim.x);

    if (tid == 0) partials[blockIdx.x] = value;
}

/* V5, completely unrolled.
 * Change: the block size is a template parameter, so the compiler unrolls every step.
 * Why:    no loop, no comparison with blockDim.x, shared memory of a known size.
 * Costs:  two loads a thread: too few on their way to memory at a time, too many blocks to start. */
template <class Operator, unsigned BlockSize, unsigned Items, class T, class Input>
__global__ void __launch_bounds__(BlockSize)
    v5_completely_unroll(const Input *__restrict__ input, T *__restrict__ partials, size_t n)
{
    __shared__ T sdata[BlockSize];
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * (Items * BlockSize) + tid;
    const Operator combine;

    T value = load_pair<Items, Operator, T>(input, i, BlockSize, n);
    sdata[tid] = value;
    __syncthreads();

#pragma unroll
    for (unsigned stride = BlockSize / 2; stride > warp_size; stride /= 2) {
        if (tid < stride) sdata[tid] = value = combine(value, sdata[tid + stride]);
        __syncthreads();
    }
    if (tid >= warp_size) return;
    value = unrolled_tail<Operator, tail::warp>(sdata, value, tid, BlockSize);

    if (tid == 0) partials[blockIdx.x] = value;
}

/* V6, multi add.
 * Change: each thread adds Items elements, a block apart, in a register before it goes to shared memory.
 * Why:    Items loads on their way at once, and the tree's cost is shared by Items times as many elements.
 * Costs:  the tree still moves every value through shared memory. */
template <class Operator, unsigned BlockSize, unsigned Items, class T, class Input>
__global__ void __launch_bounds__(BlockSize)
    v6_multi_add(const Input *__restrict__ input, T *__restrict__ partials, size_t n)
{
    __shared__ T sdata[BlockSize];
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * (Items * BlockSize) + tid;
    const Operator combine;

    T value = thread_reduce<Items, Operator, T>(input, i, BlockSize, n);
    sdata[tid] = value;
    __syncthreads();

#pragma unroll
    for (unsigned stride = BlockSize / 2; stride > warp_size; stride /= 2) {
        if (tid < stride) sdata[tid] = value = combine(value, sdata[tid + stride]);
        __syncthreads();
    }
    if (tid >= warp_size) return;
    value = unrolled_tail<Operator, tail::warp>(sdata, value, tid, BlockSize);

    if (tid == 0) partials[blockIdx.x] = value;
}

/* V7, shuffle.
 * Change: lanes hand values over by shuffle, from register to register; shared memory holds one value a warp.
 * Why:    almost no shared memory traffic, one block barrier.
 * Costs:  nothing that shows: from V6 on memory is the limit (93 % of its peak at 2^28 floats, one H200). */
template <class Operator, unsigned BlockSize, unsigned Items, class T, class Input>
__global__ void __launch_bounds__(BlockSize)
    v7_shuffle(const Input *__restrict__ input, T *__restrict__ partials, size_t n)
{
    __shared__ T slots[BlockSize / warp_size];
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * (Items * BlockSize) + tid;

    const T value = thread_reduce<Items, Operator, T>(input, i, BlockSize, n);
    const T partial = block_reduce<BlockSize, Operator>(value, slots);

    if (tid == 0) partials[blockIdx.x] = partial;
}

/* ==========================================================================================================
 * Room 6: the tuned kernels behind FASTREDUCE_AUTO
 * Empty in this version: AUTO is V7.
 * ========================================================================================================== */

/* ==========================================================================================================
 * Room 7: the exact sum
 * Empty in this version on the GPU. The accumulator's arithmetic, for host and device, is in fastreduce.h.
 * ========================================================================================================== */

/* ==========================================================================================================
 * Room 8: dispatcher
 * May hold: planning, as pure functions that run without a GPU; then what launches by the plan.
 * ========================================================================================================== */

constexpr size_t max_blocks = 0x7fffffff; /* of one launch, in x: compute capability 3.0 and later */
constexpr size_t workspace_alignment = 16;

/* Blocks, and so partials, of the level that reduces n elements. No elements still take a block: it writes
 * the identity. */
constexpr size_t blocks_for(size_t n, size_t tile)
{
    return n == 0 ? 1 : (n - 1) / tile + 1;
}

/* A sum of n elements: its levels, and where their partials go. Even levels write to the first half of the workspace
 * and odd ones to the second, so no level reads what it writes; the last level writes to the output. */
constexpr unsigned max_levels = 13; /* of SIZE_MAX elements in tiles of 32 */

struct plan {
    unsigned levels;
    size_t blocks[max_levels]; /* of each level: as many partials */
    size_t second_half;        /* offset in bytes */
    size_t workspace_bytes;    /* of both halves; 0 for one level */
};

inline plan make_plan(size_t n, size_t tile, size_t partial_size)
{
    plan made = {1, {blocks_for(n, tile)}, 0, 0};
    for (; made.blocks[made.levels - 1] > 1; ++made.levels)
        made.blocks[made.levels] = blocks_for(made.blocks[made.levels - 1], tile);

    const size_t mask = workspace_alignment - 1;
    if (made.levels > 1) made.second_half = (made.blocks[0] * partial_size + mask) & ~mask;
    made.workspace_bytes = made.second_half;
    if (made.levels > 2) made.workspace_bytes += (made.blocks[1] * partial_size + mask) & ~mask;
    return made;
}

/* Items per thread of a version where none are asked for. */
constexpr unsigned default_items(fastreduce_kernel version)
{
    return version >= FASTREDUCE_V0 && version <= FASTREDUCE_V2   ? 1
           : version >= FASTREDUCE_V3 && version <= FASTREDUCE_V5 ? 2
                                                                  : FASTREDUCE_ITEMS_PER_THREAD;
}

constexpr bool valid_block_size(unsigned block_size)
{
    return block_size >= warp_size && block_size <= max_block_size && (block_size & (block_size - 1)) == 0;
}

/* Whether two byte ranges meet. Both lie in the address space, so no end wraps around. */
inline bool overlap(const void *a, size_t a_bytes, const void *b, size_t b_bytes)
{
    const uintptr_t x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
    return a_bytes != 0 && b_bytes != 0 && (x <= y ? y - x < a_bytes : x - y < b_bytes);
}

inline bool aligned(const void *pointer, size_t alignment)
{
    return reinterpret_cast<uintptr_t>(pointer) % alignment == 0;
}

/* Scratch memory of a call: a caller's, or with data == nullptr, memory from the stream's pool. */
struct workspace {
    void *data;
    size_t bytes;
};

template <class Input, class T>
fastreduce_status check_arguments(const Input *input, const T *output, size_t n, workspace scratch)
{
    if (n > SIZE_MAX / sizeof(Input) || (input == nullptr && n != 0) || output == nullptr)
        return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    if (!aligned(input, alignof(Input)) || !aligned(output, alignof(T)) ||
        !aligned(scratch.data, workspace_alignment))
        return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    const size_t input_bytes = n * sizeof(Input), scratch_bytes = scratch.data ? scratch.bytes : 0;
    if (input_bytes > UINTPTR_MAX - reinterpret_cast<uintptr_t>(input) ||
        scratch_bytes > UINTPTR_MAX - reinterpret_cast<uintptr_t>(scratch.data))
        return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    if (overlap(input, input_bytes, output, sizeof(T)) ||
        overlap(input, input_bytes, scratch.data, scratch_bytes) ||
        overlap(output, sizeof(T), scratch.data, scratch_bytes))
        return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    return FASTREDUCE_SUCCESS;
}

/* The runtime's answers that mean "nothing to run on" get one name. */
inline fastreduce_status status_of(cudaError_t error)
{
    return error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver || error == cudaErrorStubLibrary
               ? FASTREDUCE_ERROR_NO_DEVICE
               : static_cast<fastreduce_status>(error);
}

template <class Input, class T>
using round_kernel = void (*)(const Input *, T *, size_t);

/* The kernel of each version. Tag dispatch, so that only what is asked for is compiled. */
template <fastreduce_kernel Version>
using version_tag = std::integral_constant<fastreduce_kernel, Version>;

template <class Operator, unsigned BlockSize, unsigned Items, tail Tail, class T, class Input>
struct kernels {
    using kernel = round_kernel<Input, T>;
    static kernel of(version_tag<FASTREDUCE_V0>) { return v0_baseline<Operator, T, Input>; }
    static kernel of(version_tag<FASTREDUCE_V1>) { return v1_no_divergence<Operator, T, Input>; }
    static kernel of(version_tag<FASTREDUCE_V2>) { return v2_no_bank_conflict<Operator, T, Input>; }
    static kernel of(version_tag<FASTREDUCE_V3>) { return v3_add_during_load<Operator, Items, T, Input>; }
    static kernel of(version_tag<FASTREDUCE_V4>)
    {
        return v4_unroll_last_warp<Operator, Items, Tail, T, Input>;
    }
    static kernel of(version_tag<FASTREDUCE_V5>)
    {
        return v5_completely_unroll<Operator, BlockSize, Items, T, Input>;
    }
    static kernel of(version_tag<FASTREDUCE_V6>)
    {
        return v6_multi_add<Operator, BlockSize, Items, T, Input>;
    }
    static kernel of(version_tag<FASTREDUCE_V7>) { return v7_shuffle<Operator, BlockSize, Items, T, Input>; }
    static kernel of(version_tag<FASTREDUCE_AUTO>) { return of(version_tag<FASTREDUCE_V7>()); }
};

/* Everything the dispatcher has to know of a version: its kernel for the first level, which reads elements,
 * and for those after it, which read partials; and its shape. */
template <class Input, class T>
struct rung {
    round_kernel<Input, T> first;
    round_kernel<T, T> next;
    unsigned block_size;
    size_t tile;
    size_t shared_bytes; /* dynamic */
};

template <fastreduce_kernel Version, unsigned BlockSize, unsigned Items, class Operator, tail Tail,
          class Input>
rung<Input, accumulate_t<Operator, Input>> make_rung()
{
    static_assert(valid_block_size(BlockSize), "the block size must be 32, 64, 128, 256, 512 or 1024");
    static_assert(Items >= 1 && Items <= 64, "items per thread must be from 1 to 64");
    static_assert(default_items(Version) != 1 || Items == 1, "V0, V1 and V2 have one item per thread");
    static_assert(Tail == tail::warp || Version == FASTREDUCE_V4, "only V4 has a choice of tails");
    using T = accumulate_t<Operator, Input>;
    constexpr bool dynamic = Version >= FASTREDUCE_V0 && Version <= FASTREDUCE_V4;
    return {kernels<Operator, BlockSize, Items, Tail, T, Input>::of(version_tag<Version>()),
            kernels<Operator, BlockSize, Items, Tail, T, T>::of(version_tag<Version>()), BlockSize,
            static_cast<size_t>(BlockSize) * Items, dynamic ? BlockSize * sizeof(T) : 0};
}

/* One level: n elements to blocks_for(n, tile) partials. */
template <class Input, class T, class Shape>
cudaError_t launch_round(round_kernel<Input, T> kernel, const Shape &shape, const Input *input, T *partials,
                         size_t n, cudaStream_t stream)
{
    void *arguments[] = {&input, &partials, &n};
    return cudaLaunchKernel(kernel, dim3(static_cast<unsigned>(blocks_for(n, shape.tile))),
                            dim3(shape.block_size), arguments, shape.shared_bytes, stream);
}

/* All levels. Arguments are checked. */
template <class Input, class T>
fastreduce_status launch_levels(const rung<Input, T> &shape, const Input *input, T *output, size_t n,
                                workspace scratch, cudaStream_t stream)
{
    const plan made = make_plan(n, shape.tile, sizeof(T));
    const size_t bytes = made.workspace_bytes;
    const bool pooled = scratch.data == nullptr && bytes > 0;
    if (made.blocks[0] > max_blocks) return FASTREDUCE_ERROR_UNSUPPORTED;
    if (scratch.data != nullptr && scratch.bytes < bytes) return FASTREDUCE_ERROR_WORKSPACE_TOO_SMALL;
    cudaError_t error = pooled ? cudaMallocAsync(&scratch.data, bytes, stream) : cudaSuccess;
    if (error != cudaSuccess) return status_of(error);

    unsigned char *const memory = static_cast<unsigned char *>(scratch.data);
    T *const half[2] = {reinterpret_cast<T *>(memory), reinterpret_cast<T *>(memory + made.second_half)};
    for (unsigned level = 0; level < made.levels && error == cudaSuccess; ++level) {
        T *const partials = level + 1 < made.levels ? half[level % 2] : output;
        if (level == 0)
            error = launch_round(shape.first, shape, input, partials, n, stream);
        else
            error = launch_round<T, T>(shape.next, shape, half[(level - 1) % 2], partials,
                                       made.blocks[level - 1], stream);
    }

    /* A caller's workspace is left as zero as it came, a pool's goes back: after an error too. */
    cudaError_t tidy = cudaSuccess;
    if (bytes > 0)
        tidy = pooled ? cudaFreeAsync(scratch.data, stream) : cudaMemsetAsync(scratch.data, 0, bytes, stream);
    return status_of(error != cudaSuccess ? error : tidy);
}

/* Reduces input[0] .. input[n - 1] to *output with Operator; n == 0 gives the identity. As fastreduce_sum_f32
 * in every respect (memory, asynchrony, capture, determinism, errors), for any element type and operator. The
 * type of the output is accumulate_t<Operator, Input>: 64-bit for sums of integers. */
template <fastreduce_kernel Version = FASTREDUCE_AUTO, unsigned BlockSize = FASTREDUCE_BLOCK_SIZE,
          unsigned Items = default_items(Version), class Operator = plus, tail Tail = tail::warp, class Input>
fastreduce_status reduce(const Input *input, accumulate_t<Operator, Input> *output, size_t n,
                         cudaStream_t stream = nullptr, workspace scratch = {nullptr, 0})
{
    const fastreduce_status status = check_arguments(input, output, n, scratch);
    if (status != FASTREDUCE_SUCCESS) return status;
    return launch_levels(make_rung<Version, BlockSize, Items, Operator, Tail, Input>(), input, output, n,
                         scratch, stream);
}

/* Bytes of workspace that reduce() with the same template arguments needs for n elements. */
template <fastreduce_kernel Version = FASTREDUCE_AUTO, unsigned BlockSize = FASTREDUCE_BLOCK_SIZE,
          unsigned Items = default_items(Version), class Operator = plus, class Input = float>
size_t workspace_bytes(size_t n)
{
    return make_plan(n, static_cast<size_t>(BlockSize) * Items, sizeof(accumulate_t<Operator, Input>))
        .workspace_bytes;
}

/* One level of the dispatcher: block b of the grid reduces elements [b * tile, (b + 1) * tile) to partials[b],
 * with tile = BlockSize * Items. `partials` has room for blocks_for(n, tile) values and does not overlap the
 * input. Otherwise as reduce(). */
template <fastreduce_kernel Version = FASTREDUCE_AUTO, unsigned BlockSize = FASTREDUCE_BLOCK_SIZE,
          unsigned Items = default_items(Version), class Operator = plus, tail Tail = tail::warp, class Input>
fastreduce_status round(const Input *input, accumulate_t<Operator, Input> *partials, size_t n,
                        cudaStream_t stream = nullptr)
{
    using T = accumulate_t<Operator, Input>;
    const rung<Input, T> shape = make_rung<Version, BlockSize, Items, Operator, Tail, Input>();
    const size_t blocks = blocks_for(n, shape.tile);
    fastreduce_status status = check_arguments(input, partials, n, {nullptr, 0});
    if (status == FASTREDUCE_SUCCESS && overlap(input, n * sizeof(Input), partials, blocks * sizeof(T)))
        status = FASTREDUCE_ERROR_INVALID_ARGUMENT;
    if (status == FASTREDUCE_SUCCESS && blocks > max_blocks) status = FASTREDUCE_ERROR_UNSUPPORTED;
    if (status != FASTREDUCE_SUCCESS) return status;
    return status_of(launch_round(shape.first, shape, input, partials, n, stream));
}

} // namespace fastreduce
#endif /* FASTREDUCE_CUH */

/* ==========================================================================================================
 * Room 9: the C functions
 * May hold: fastreduce.h's functions, which check their arguments and pick the instantiation, nothing else.
 * ========================================================================================================== */

#if defined(FASTREDUCE_IMPLEMENTATION) && !defined(FASTREDUCE_IMPLEMENTED)
#define FASTREDUCE_IMPLEMENTED

#define FASTREDUCE_DETAIL_CUDA_ERROR_STRING(status) cudaGetErrorString(static_cast<cudaError_t>(status))
#ifndef FASTREDUCE_HOST_IMPLEMENTATION
#define FASTREDUCE_HOST_IMPLEMENTATION
#endif
#include "fastreduce.h"

namespace fastreduce
{
namespace launcher
{

template <fastreduce_kernel Version, unsigned BlockSize>
rung<float, float> rung_of()
{
    return make_rung<Version, BlockSize, default_items(Version), plus, tail::warp, float>();
}

template <fastreduce_kernel Version>
rung<float, float> with_block_size(unsigned block_size)
{
    switch (block_size) {
    case 32: return rung_of<Version, 32>();
    case 64: return rung_of<Version, 64>();
    case 128: return rung_of<Version, 128>();
    case 256: return rung_of<Version, 256>();
    case 512: return rung_of<Version, 512>();
    default: return rung_of<Version, 1024>();
    }
}

struct choice {
    fastreduce_status status;
    rung<float, float> shape; /* where status is FASTREDUCE_SUCCESS */
};

inline choice choose(const fastreduce_config &config)
{
    const unsigned block_size = config.block_size == 0 ? FASTREDUCE_BLOCK_SIZE : config.block_size;
    if (!valid_block_size(block_size)) return {FASTREDUCE_ERROR_INVALID_ARGUMENT, {}};
    switch (config.kernel) {
#ifndef FASTREDUCE_NO_LADDER
    case FASTREDUCE_V0: return {FASTREDUCE_SUCCESS, with_block_size<FASTREDUCE_V0>(block_size)};
    case FASTREDUCE_V1: return {FASTREDUCE_SUCCESS, with_block_size<FASTREDUCE_V1>(block_size)};
    case FASTREDUCE_V2: return {FASTREDUCE_SUCCESS, with_block_size<FASTREDUCE_V2>(block_size)};
    case FASTREDUCE_V3: return {FASTREDUCE_SUCCESS, with_block_size<FASTREDUCE_V3>(block_size)};
    case FASTREDUCE_V4: return {FASTREDUCE_SUCCESS, with_block_size<FASTREDUCE_V4>(block_size)};
    case FASTREDUCE_V5: return {FASTREDUCE_SUCCESS, with_block_size<FASTREDUCE_V5>(block_size)};
    case FASTREDUCE_V6: return {FASTREDUCE_SUCCESS, with_block_size<FASTREDUCE_V6>(block_size)};
#else
    case FASTREDUCE_V0:
    case FASTREDUCE_V1:
    case FASTREDUCE_V2:
    case FASTREDUCE_V3:
    case FASTREDUCE_V4:
    case FASTREDUCE_V5:
    case FASTREDUCE_V6: return {FASTREDUCE_ERROR_UNSUPPORTED, {}};
#endif
    case FASTREDUCE_AUTO:
    case FASTREDUCE_V7: return {FASTREDUCE_SUCCESS, with_block_size<FASTREDUCE_V7>(block_size)};
    case FASTREDUCE_EXACT: return {FASTREDUCE_ERROR_UNSUPPORTED, {}};
    }
    return {FASTREDUCE_ERROR_INVALID_ARGUMENT, {}};
}

inline fastreduce_config config_or_default(const fastreduce_config *config)
{
    return config ? *config : fastreduce_config();
}

} // namespace launcher
} // namespace fastreduce

#ifdef __cplusplus
extern "C" {
#endif

FASTREDUCE_API fastreduce_status fastreduce_sum_f32(const float *input, float *output, size_t n,
                                                    const fastreduce_config *config)
{
    const fastreduce_config settings = fastreduce::launcher::config_or_default(config);
    const fastreduce::workspace scratch = {settings.workspace, settings.workspace_bytes};
    const fastreduce::launcher::choice choice = fastreduce::launcher::choose(settings);
    const fastreduce_status status = fastreduce::check_arguments(input, output, n, scratch);
    if (choice.status == FASTREDUCE_ERROR_INVALID_ARGUMENT || status != FASTREDUCE_SUCCESS)
        return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    if (choice.status != FASTREDUCE_SUCCESS) return choice.status;
    return fastreduce::launch_levels(choice.shape, input, output, n, scratch, settings.stream);
}

FASTREDUCE_API size_t fastreduce_workspace_bytes(size_t n, const fastreduce_config *config)
{
    const fastreduce::launcher::choice choice =
        fastreduce::launcher::choose(fastreduce::launcher::config_or_default(config));
    if (choice.status != FASTREDUCE_SUCCESS || n > SIZE_MAX / sizeof(float)) return 0;
    return fastreduce::make_plan(n, choice.shape.tile, sizeof(float)).workspace_bytes;
}

FASTREDUCE_API fastreduce_status fastreduce_workspace_init(void *workspace, size_t workspace_bytes,
                                                           fastreduce_stream stream)
{
    if (workspace_bytes == 0) return FASTREDUCE_SUCCESS;
    if (workspace == nullptr || !fastreduce::aligned(workspace, fastreduce::workspace_alignment))
        return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    return fastreduce::status_of(cudaMemsetAsync(workspace, 0, workspace_bytes, stream));
}

FASTREDUCE_API fastreduce_status fastreduce_accumulate_f32(const float *input,
                                                           fastreduce_accumulator *accumulator, size_t n,
                                                           const fastreduce_config *config)
{
    const fastreduce_config settings = fastreduce::launcher::config_or_default(config);
    const fastreduce::workspace scratch = {settings.workspace, settings.workspace_bytes};
    const fastreduce_status status = fastreduce::check_arguments(input, accumulator, n, scratch);
    if (status != FASTREDUCE_SUCCESS) return status;
    return FASTREDUCE_ERROR_UNSUPPORTED;
}

#ifdef __cplusplus
}
#endif
#endif /* FASTREDUCE_IMPLEMENTATION */

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
 * NVRTC, which compiles at run time, needs no headers but the two files, and sees rooms 1 to 7.
 *
 * Macros, defined before the first include of this file:
 *
 *   FASTREDUCE_IMPLEMENTATION     defines the C functions. Scope: one .cu file of the program.
 *   FASTREDUCE_BLOCK_SIZE         threads a block where none is asked for: 32, 64, ... 1024. Default 256.
 *                                 Scope: the same in every file.
 *   FASTREDUCE_ITEMS_PER_THREAD   elements a thread adds before the block's tree in V6 and V7: 1 to 64.
 *                                 Default 8. Scope: the same in every file.
 *   FASTREDUCE_NO_LADDER          the C functions leave out V0..V7, for a shorter build: they answer
 *                                 FASTREDUCE_ERROR_UNSUPPORTED. AUTO stays. Scope: the implementing file.
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

#ifndef __CUDACC_RTC__
#include <cuda_runtime.h>
#include <atomic>
#include <limits>
#include <type_traits>
#endif
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

/* All of the namespace stays inside the shared library that compiled it. Two libraries that vendor different copies
 * would otherwise run one's templates and inline functions in both. */
#ifdef __GNUC__
#pragma GCC visibility push(hidden)
#endif

namespace fastreduce
{

#ifdef __CUDACC_RTC__
/* NVRTC has no headers: what the rooms below use of <type_traits>, for built-in types. */
namespace std
{
template <bool Condition, class A, class B>
struct conditional {
    using type = A;
};
template <class A, class B>
struct conditional<false, A, B> {
    using type = B;
};
template <bool Condition, class A, class B>
using conditional_t = typename conditional<Condition, A, B>::type;

template <class T, class... List>
struct one_of {
    static constexpr bool value = false;
};
template <class T, class... Rest>
struct one_of<T, T, Rest...> {
    static constexpr bool value = true;
};
template <class T, class First, class... Rest>
struct one_of<T, First, Rest...> : one_of<T, Rest...> {
};
template <class T>
using is_signed = one_of<T, char, signed char, short, int, long, long long, float, double>;
template <class T>
using is_integral = one_of<T, bool, char, signed char, short, int, long, long long, unsigned char,
                           unsigned short, unsigned, unsigned long, unsigned long long>;
} // namespace std
#endif

/* A constant of ours: loops over the built-in warpSize, which is no constant, stay rolled. */
constexpr unsigned warp_size = 32;
constexpr unsigned max_block_size = 1024;

/* The block's dynamic shared memory. Raw bytes, as arrays of several types cannot share one name. Aligned for the copy
 * engine, which takes 35 % longer to addresses that are multiples of 16 alone (one H200). */
extern __shared__ __align__(128) unsigned char dynamic_shared_bytes[];

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

/* Overlapped launches (programmatic dependent launch, compute capability 9.0): the next grid of the stream may take
 * its place on the GPU as soon as every block of this one has said so, but touches memory only when this one is
 * done. A grid launched that way waits before its first access. */
__device__ __forceinline__ void allow_next_grid()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

__device__ __forceinline__ void wait_for_previous_grid()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* A float and a flag in one word: stored and loaded as a whole, so that seeing the flag is seeing the float, without
 * a fence. Zero is "not published". */
using published = unsigned long long;

__device__ __forceinline__ void publish(published *slot, float value)
{
    const published word = static_cast<published>(__float_as_uint(value)) << 32 | 1;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(slot), "l"(word) : "memory");
#else
    *static_cast<volatile published *>(slot) = word;
#endif
}

/* A breath in a portable loop that waits for memory. */
__device__ __forceinline__ void pause()
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
    __nanosleep(20);
#endif
}

/* Waits for the slot, takes the float and leaves the slot zero. */
__device__ __forceinline__ float await(published *slot)
{
    published word;
    do {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
        asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(slot) : "memory");
#else
        word = *static_cast<volatile published *>(slot);
        if (word == 0) pause();
#endif
    } while (word == 0);
    *slot = 0;
    return __uint_as_float(static_cast<unsigned>(word >> 32));
}

/* Copies from global to shared memory by the copy engine (compute capability 9.0). One thread starts a copy; each
 * completed copy ends a phase of its barrier, phases count 0, 1, 0, 1 ... The portable twin copies at once. */
using copy_barrier = unsigned long long;

__device__ __forceinline__ void init_copy_barrier(copy_barrier *barrier)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    asm volatile(
        "mbarrier.init.shared.b64 [%0], 1;" ::"r"(static_cast<unsigned>(__cvta_generic_to_shared(barrier)))
        : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory"); /* for the copy engine to see it */
#else
    *static_cast<volatile copy_barrier *>(barrier) = 0;
#endif
}

__device__ __forceinline__ void bulk_copy(float4 *to, const float4 *from, unsigned vectors,
                                          copy_barrier *barrier)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address), "r"(vectors * 16)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            static_cast<unsigned>(__cvta_generic_to_shared(to))),
        "l"(from), "r"(vectors * 16), "r"(address)
        : "memory");
#else
    for (unsigned k = 0; k < vectors; ++k) to[k] = from[k];
    volatile copy_barrier *const phases = barrier;
    *phases = *phases + 1;
#endif
}

__device__ __forceinline__ void wait_for_copy(copy_barrier *barrier, unsigned phase)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    unsigned done;
    do {
        asm volatile(
            "{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
            : "=r"(done)
            : "r"(static_cast<unsigned>(__cvta_generic_to_shared(barrier))), "r"(phase)
            : "memory");
    } while (!done);
#else
    while ((*static_cast<volatile copy_barrier *>(barrier) & 1) == phase) pause();
#endif
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

#ifndef __CUDACC_RTC__
/* Constants, as device code may use those but not call std::numeric_limits. */
template <class T>
struct bounds {
    using limits = std::numeric_limits<T>;
    static constexpr T greatest = limits::has_infinity ? limits::infinity() : limits::max();
    static constexpr T least = limits::has_infinity ? static_cast<T>(-limits::infinity()) : limits::lowest();
};
#else
template <class T>
struct bounds { /* integers */
    static constexpr T least = std::is_signed<T>::value ? T(1ull << (8 * sizeof(T) - 1)) : T(0);
    static constexpr T greatest = T(~least);
};
template <>
struct bounds<float> {
    static constexpr float greatest = 1 / 0.0f, least = -greatest;
};
template <>
struct bounds<double> {
    static constexpr double greatest = 1 / 0.0, least = -greatest;
};
#endif

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
 * May hold: the sum of floats in one launch, by kernels that differ in how blocks load; how they end is shared.
 * (AUTO of any other type or operator is V7.)
 * ========================================================================================================== */

/* The input in 16-byte vectors from the first address on that is a multiple of Alignment floats, and the few floats
 * before and after them. */
template <unsigned Alignment>
struct vectors_of {
    const float4 *data;
    size_t count;
    unsigned head, tail;

    __device__ __forceinline__ vectors_of(const float *input, size_t n)
    {
        const unsigned gap = (0u - static_cast<unsigned>(reinterpret_cast<uintptr_t>(input) / 4)) % Alignment;
        head = gap < n ? gap : static_cast<unsigned>(n);
        data = reinterpret_cast<const float4 *>(input + head);
        count = (n - head) / 4;
        tail = static_cast<unsigned>(n - head) % 4;
    }
};

__device__ __forceinline__ float sum_of(float4 v)
{
    return (v.x + v.y) + (v.z + v.w);
}

__device__ __forceinline__ void add(float4 &sum, float4 v)
{
    sum.x += v.x;
    sum.y += v.y;
    sum.z += v.z;
    sum.w += v.w;
}

/* The floats beside the vectors: the last block's first threads add them, one each. */
template <unsigned Alignment>
__device__ __forceinline__ float sum_of_edges(const float *input, size_t n,
                                              const vectors_of<Alignment> &vectors)
{
    if (blockIdx.x + 1 != gridDim.x) return 0;
    if (threadIdx.x < vectors.head) return input[threadIdx.x];
    if (threadIdx.x < vectors.head + vectors.tail)
        return input[n - vectors.tail + (threadIdx.x - vectors.head)];
    return 0;
}

/* From the threads' values to the output. Each block publishes its sum; the last block awaits all others, folds, and
 * leaves the slots zero. One launch and no atomic: two launches cost 1.2 us more, a fence and a ticket 0.5 us (one
 * H200). No other block waits, so the grid may be of any size. The order of the additions is fixed. */
template <unsigned BlockSize>
__device__ __forceinline__ void finish_sum(float value, published *slots, float *output)
{
    __shared__ float warp_sums[BlockSize / warp_size];
    const unsigned others = gridDim.x - 1;

    value = block_reduce<BlockSize, plus>(value, warp_sums);
    if (blockIdx.x != others) {
        if (threadIdx.x == 0) publish(slots + blockIdx.x, value);
        return;
    }
    if (others > 0) {
        if (threadIdx.x != 0) value = 0;
        for (unsigned k = threadIdx.x; k < others; k += BlockSize) value += await(slots + k);
        __syncthreads(); /* warp_sums is used again */
        value = block_reduce<BlockSize, plus>(value, warp_sums);
    }
    if (threadIdx.x == 0) *output = value;
}

/* One tile of BlockSize * Vectors vectors a block, all loads under way before the first addition. Best while the whole
 * grid, or nearly, is resident: a loop over tiles takes 10 to 20 % longer there. */
template <unsigned BlockSize, unsigned Vectors>
__global__ void __launch_bounds__(BlockSize)
    auto_tile(const float *__restrict__ input, float *output, size_t n, published *slots)
{
    allow_next_grid();
    wait_for_previous_grid();
    const vectors_of<4> vectors(input, n);
    const size_t first = static_cast<size_t>(blockIdx.x) * (BlockSize * Vectors) + threadIdx.x;
    float4 loaded[Vectors];

    if (first - threadIdx.x + BlockSize * Vectors <= vectors.count) {
#pragma unroll
        for (unsigned k = 0; k < Vectors; ++k) loaded[k] = __ldg(vectors.data + first + k * BlockSize);
    } else {
#pragma unroll
        for (unsigned k = 0; k < Vectors; ++k)
            loaded[k] = first + k * BlockSize < vectors.count ? __ldg(vectors.data + first + k * BlockSize)
                                                              : make_float4(0, 0, 0, 0);
    }

    float value = sum_of_edges(input, n, vectors);
#pragma unroll
    for (unsigned k = 0; k < Vectors; ++k) value += sum_of(loaded[k]);
    finish_sum<BlockSize>(value, slots, output);
}

/* Tiles dealt round to a resident grid: for large n where there is no copy engine. */
template <unsigned BlockSize, unsigned Vectors>
__global__ void __launch_bounds__(BlockSize)
    auto_dealt(const float *__restrict__ input, float *output, size_t n, published *slots)
{
    allow_next_grid();
    wait_for_previous_grid();
    const vectors_of<4> vectors(input, n);
    const size_t step = static_cast<size_t>(gridDim.x) * (BlockSize * Vectors);
    size_t i = static_cast<size_t>(blockIdx.x) * (BlockSize * Vectors) + threadIdx.x;
    float4 sum[Vectors];

#pragma unroll
    for (unsigned k = 0; k < Vectors; ++k) sum[k] = make_float4(0, 0, 0, 0);
    for (; i + (Vectors - 1) * BlockSize < vectors.count; i += step) {
        float4 loaded[Vectors];
#pragma unroll
        for (unsigned k = 0; k < Vectors; ++k) loaded[k] = __ldg(vectors.data + i + k * BlockSize);
#pragma unroll
        for (unsigned k = 0; k < Vectors; ++k) add(sum[k], loaded[k]);
    }
#pragma unroll
    for (unsigned k = 0; k < Vectors; ++k)
        if (i + k * BlockSize < vectors.count) add(sum[k], __ldg(vectors.data + i + k * BlockSize));

    float value = sum_of_edges(input, n, vectors);
#pragma unroll
    for (unsigned k = 0; k < Vectors; ++k) value += sum_of(sum[k]);
    finish_sum<BlockSize>(value, slots, output);
}

/* The copy engine fills a ring of Stages tiles of TileVectors vectors in shared memory, the threads add behind it: more
 * bytes under way than registers could hold. Each block has one contiguous run, of whole rows of BlockSize vectors,
 * so that runs differ by a row at most; the last block adds what is less than a row. */
template <unsigned BlockSize, unsigned TileVectors, unsigned Stages>
__global__ void __launch_bounds__(BlockSize)
    auto_ring(const float *__restrict__ input, float *output, size_t n, published *slots)
{
    static_assert(TileVectors % (4 * BlockSize) == 0, "four accumulators a thread share a tile evenly");
    __shared__ copy_barrier barriers[Stages];
    float4 *ring = dynamic_shared<float4>();
    if (threadIdx.x < Stages) init_copy_barrier(barriers + threadIdx.x);
    __syncthreads();
    allow_next_grid();
    wait_for_previous_grid();

    const vectors_of<32> vectors(input, n); /* 128 bytes: copies from elsewhere take 30 % longer */
    const size_t rows = vectors.count / BlockSize, share = rows / gridDim.x, rest = rows % gridDim.x;
    const size_t first_row = blockIdx.x * share + (blockIdx.x < rest ? blockIdx.x : rest);
    const size_t run = (share + (blockIdx.x < rest)) * BlockSize; /* vectors */
    const float4 *const data = vectors.data + first_row * BlockSize;
    const size_t tiles = (run + TileVectors - 1) / TileVectors;
    const auto tile_size = [&](size_t t) {
        return static_cast<unsigned>(run - t * TileVectors < TileVectors ? run - t * TileVectors
                                                                         : TileVectors);
    };

    if (threadIdx.x == 0)
        for (unsigned t = 0; t < Stages && t < tiles; ++t)
            bulk_copy(ring + t * TileVectors, data + static_cast<size_t>(t) * TileVectors, tile_size(t),
                      barriers + t);

    float4 sum[4] = {};
    float value = sum_of_edges(input, n, vectors);
    if (blockIdx.x + 1 == gridDim.x && rows * BlockSize + threadIdx.x < vectors.count)
        value += sum_of(__ldg(vectors.data + rows * BlockSize + threadIdx.x));

    unsigned stage = 0, phase = 0;
    for (size_t t = 0; t < tiles; ++t) {
        wait_for_copy(barriers + stage, phase);
        const float4 *const tile = ring + stage * TileVectors + threadIdx.x;
        const unsigned size = tile_size(t);
        if (size == TileVectors) {
#pragma unroll
            for (unsigned k = 0; k < TileVectors / BlockSize; ++k) add(sum[k % 4], tile[k * BlockSize]);
        } else {
            for (unsigned k = 0; k < size / BlockSize; ++k) add(sum[0], tile[k * BlockSize]);
        }
        __syncthreads(); /* all have read the tile before it is filled again */
        if (threadIdx.x == 0 && t + Stages < tiles)
            bulk_copy(ring + stage * TileVectors, data + (t + Stages) * TileVectors, tile_size(t + Stages),
                      barriers + stage);
        if (++stage == Stages) {
            stage = 0;
            phase ^= 1;
        }
    }

#pragma unroll
    for (unsigned k = 0; k < 4; ++k) value += sum_of(sum[k]);
    finish_sum<BlockSize>(value, slots, output);
}

/* ==========================================================================================================
 * Room 7: the exact sum
 * Empty in this version on the GPU. The accumulator's arithmetic, for host and device, is in fastreduce.h.
 * ========================================================================================================== */

/* ==========================================================================================================
 * Room 8: dispatcher
 * May hold: planning, as pure functions that run without a GPU; then what launches by the plan.
 * ========================================================================================================== */
#ifndef __CUDACC_RTC__

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

/* ---- AUTO: which kernel, and how it is launched ---- */

enum class auto_kernel : unsigned char { tile_256x4, tile_512x4, tile_512x8, dealt_512x2, ring_256 };

/* What the choice depends on besides n. */
struct gpu_facts {
    unsigned multiprocessors;
    bool overlapped_launch; /* compute capability 9.0, and the kernels are compiled for it */
    bool ring;              /* the same, and shared memory for the ring */
};

struct auto_plan {
    auto_kernel kernel;
    unsigned blocks;
};

constexpr unsigned auto_max_blocks = 2048;
constexpr unsigned ring_stages = 3, ring_tile_vectors = 4096; /* 64 KiB a stage */
constexpr size_t ring_shared_bytes = static_cast<size_t>(ring_stages) * ring_tile_vectors * sizeof(float4);

/* The table, by n: from where on another kernel is faster (one H200, CUDA 13.0, inputs out of L2, microseconds).
 *     up to 2^14  one block of 512 x 8: 1.24 at 2^14, where blocks of 256 x 4 that publish take 1.43
 *     up to 2^20  256 x 4: 2.9 at 2^20, against 3.1 for 512 x 4 or 512 x 8
 *     up to 2^23  512 x 4: 9.15 at 2^23, against 10.5 for 256 x 4, whose grid is then 2048 blocks
 *     up to 2^25  512 x 8: 31.1 at 2^25, against 31.5 for 512 x 4 and for the ring
 *     beyond      the ring, one block a multiprocessor: 59.9 at 2^26, against 60.3 for 512 x 8 (4096 blocks) */
inline auto_plan plan_auto(size_t n, const gpu_facts &gpu)
{
    const auto tiles = [n](size_t vectors) { return static_cast<unsigned>(blocks_for(n / 4, vectors)); };
    const auto at_most = [](unsigned blocks) { return blocks < auto_max_blocks ? blocks : auto_max_blocks; };
    if (n <= size_t(1) << 12) return {auto_kernel::tile_256x4, 1};
    if (n <= size_t(1) << 14) return {auto_kernel::tile_512x8, 1};
    if (n <= size_t(1) << 20) return {auto_kernel::tile_256x4, tiles(256 * 4)};
    if (n <= size_t(1) << 23) return {auto_kernel::tile_512x4, tiles(512 * 4)};
    if (n <= size_t(1) << 25) return {auto_kernel::tile_512x8, tiles(512 * 8)};
    if (gpu.ring) return {auto_kernel::ring_256, at_most(gpu.multiprocessors)};
    return {auto_kernel::dealt_512x2, at_most(4 * gpu.multiprocessors)};
}

/* The same for every GPU: a slot for each block but the last. */
inline size_t auto_workspace_bytes(size_t n)
{
    return n <= size_t(1) << 14 ? 0 : auto_max_blocks * sizeof(published);
}

/* Facts of the current device, asked for once each and remembered: a word per device, 0 for unknown. Two threads that
 * ask at once store the same word. */
inline cudaError_t find_gpu_facts(gpu_facts *facts)
{
    constexpr int remembered = 64;
    static std::atomic<unsigned> known[remembered];
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error != cudaSuccess) return error;
    unsigned word = device < remembered ? known[device].load(std::memory_order_relaxed) : 0;
    if (word == 0) {
        int multiprocessors = 0, shared_bytes = 0;
        cudaFuncAttributes compiled = {};
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
        if (error == cudaSuccess)
            error = cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
        if (error == cudaSuccess)
            error = cudaFuncGetAttributes(&compiled, auto_ring<256, ring_tile_vectors, ring_stages>);
        if (error != cudaSuccess) return error;
        /* what the code is compiled for counts, not the device: PTX of an older architecture lacks the instructions */
        const bool hopper = compiled.ptxVersion >= 90;
        const bool ring =
            hopper && static_cast<size_t>(shared_bytes) >= ring_shared_bytes + compiled.sharedSizeBytes;
        word = static_cast<unsigned>(multiprocessors) << 2 | (ring ? 2 : 0) | (hopper ? 1 : 0);
        if (device < remembered) known[device].store(word, std::memory_order_relaxed);
    }
    *facts = {word >> 2, (word & 1) != 0, (word & 2) != 0};
    return cudaSuccess;
}

using auto_kernel_pointer = void (*)(const float *, float *, size_t, published *);

inline cudaError_t launch_auto_kernel(auto_kernel_pointer kernel, unsigned blocks, unsigned block_size,
                                      size_t shared_bytes, bool overlapped, const float *input, float *output,
                                      size_t n, published *slots, cudaStream_t stream)
{
    void *arguments[] = {&input, &output, &n, &slots};
#if defined(CUDART_VERSION) && CUDART_VERSION >= 11080
    if (overlapped) {
        cudaLaunchAttribute attribute = {};
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config = {};
        config.gridDim = dim3(blocks);
        config.blockDim = dim3(block_size);
        config.dynamicSmemBytes = shared_bytes;
        config.stream = stream;
        config.attrs = &attribute;
        config.numAttrs = 1;
        return cudaLaunchKernelExC(&config, reinterpret_cast<const void *>(kernel), arguments);
    }
#else
    (void)overlapped;
#endif
    return cudaLaunchKernel(kernel, dim3(blocks), dim3(block_size), arguments, shared_bytes, stream);
}

inline cudaError_t launch_plan(const auto_plan &made, bool overlapped, const float *input, float *output,
                               size_t n, published *slots, cudaStream_t stream)
{
    const auto launch = [&](auto_kernel_pointer kernel, unsigned block_size, size_t shared_bytes) {
        return launch_auto_kernel(kernel, made.blocks, block_size, shared_bytes, overlapped, input, output, n,
                                  slots, stream);
    };
    switch (made.kernel) {
    case auto_kernel::tile_256x4: return launch(auto_tile<256, 4>, 256, 0);
    case auto_kernel::tile_512x4: return launch(auto_tile<512, 4>, 512, 0);
    case auto_kernel::tile_512x8: return launch(auto_tile<512, 8>, 512, 0);
    case auto_kernel::dealt_512x2: return launch(auto_dealt<512, 2>, 512, 0);
    default: break;
    }
    /* every time: the setting is lost with a reset of the device, and costs little beside 2^25 floats */
    const auto ring = auto_ring<256, ring_tile_vectors, ring_stages>;
    const cudaError_t error = cudaFuncSetAttribute(ring, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                   static_cast<int>(ring_shared_bytes));
    return error != cudaSuccess ? error : launch(ring, 256, ring_shared_bytes);
}

/* The sum of floats in one launch. Arguments are checked. Memory from the pool is not zero: there it takes a clearing
 * first. */
inline fastreduce_status launch_auto(const float *input, float *output, size_t n, workspace scratch,
                                     cudaStream_t stream)
{
    const size_t bytes = auto_workspace_bytes(n);
    const bool pooled = scratch.data == nullptr && bytes > 0;
    if (scratch.data != nullptr && scratch.bytes < bytes) return FASTREDUCE_ERROR_WORKSPACE_TOO_SMALL;
    gpu_facts gpu = {};
    cudaError_t error = find_gpu_facts(&gpu);
    if (error == cudaSuccess && pooled) error = cudaMallocAsync(&scratch.data, bytes, stream);
    if (error != cudaSuccess) return status_of(error);

    if (pooled) error = cudaMemsetAsync(scratch.data, 0, bytes, stream);
    if (error == cudaSuccess)
        error = launch_plan(plan_auto(n, gpu), gpu.overlapped_launch, input, output, n,
                            static_cast<published *>(scratch.data), stream);
    const cudaError_t tidy = pooled ? cudaFreeAsync(scratch.data, stream) : cudaSuccess;
    return status_of(error != cudaSuccess ? error : tidy);
}

/* The road that reduce() takes: true for AUTO's own kernels. */
template <fastreduce_kernel Version, class Operator, class Input>
using tuned =
    std::integral_constant<bool, Version == FASTREDUCE_AUTO && std::is_same<Operator, plus>::value &&
                                     std::is_same<Input, float>::value>;

template <fastreduce_kernel Version, unsigned BlockSize, unsigned Items, class Operator, tail Tail>
fastreduce_status launch_reduce(std::true_type, const float *input, float *output, size_t n,
                                workspace scratch, cudaStream_t stream)
{
    return launch_auto(input, output, n, scratch, stream);
}

template <fastreduce_kernel Version, unsigned BlockSize, unsigned Items, class Operator, tail Tail,
          class Input>
fastreduce_status launch_reduce(std::false_type, const Input *input, accumulate_t<Operator, Input> *output,
                                size_t n, workspace scratch, cudaStream_t stream)
{
    return launch_levels(make_rung<Version, BlockSize, Items, Operator, Tail, Input>(), input, output, n,
                         scratch, stream);
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
    return launch_reduce<Version, BlockSize, Items, Operator, Tail>(tuned<Version, Operator, Input>(), input,
                                                                    output, n, scratch, stream);
}

/* Bytes of workspace that reduce() with the same template arguments needs for n elements. */
template <fastreduce_kernel Version = FASTREDUCE_AUTO, unsigned BlockSize = FASTREDUCE_BLOCK_SIZE,
          unsigned Items = default_items(Version), class Operator = plus, class Input = float>
size_t workspace_bytes(size_t n)
{
    return tuned<Version, Operator, Input>::value
               ? auto_workspace_bytes(n)
               : make_plan(n, static_cast<size_t>(BlockSize) * Items, sizeof(accumulate_t<Operator, Input>))
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

#endif /* __CUDACC_RTC__ */
} // namespace fastreduce
#ifdef __GNUC__
#pragma GCC visibility pop
#endif
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
namespace /* each translation unit's own: with FASTREDUCE_STATIC their macros may differ */
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
    bool tuned;               /* AUTO */
    rung<float, float> shape; /* of the ladder, where status is FASTREDUCE_SUCCESS and not tuned */
};

inline choice choose(const fastreduce_config &config)
{
    const unsigned block_size = config.block_size == 0 ? FASTREDUCE_BLOCK_SIZE : config.block_size;
    if (!valid_block_size(block_size)) return {FASTREDUCE_ERROR_INVALID_ARGUMENT, false, {}};
    switch (config.kernel) {
    case FASTREDUCE_AUTO: return {FASTREDUCE_SUCCESS, true, {}};
#ifndef FASTREDUCE_NO_LADDER
    case FASTREDUCE_V0: return {FASTREDUCE_SUCCESS, false, with_block_size<FASTREDUCE_V0>(block_size)};
    case FASTREDUCE_V1: return {FASTREDUCE_SUCCESS, false, with_block_size<FASTREDUCE_V1>(block_size)};
    case FASTREDUCE_V2: return {FASTREDUCE_SUCCESS, false, with_block_size<FASTREDUCE_V2>(block_size)};
    case FASTREDUCE_V3: return {FASTREDUCE_SUCCESS, false, with_block_size<FASTREDUCE_V3>(block_size)};
    case FASTREDUCE_V4: return {FASTREDUCE_SUCCESS, false, with_block_size<FASTREDUCE_V4>(block_size)};
    case FASTREDUCE_V5: return {FASTREDUCE_SUCCESS, false, with_block_size<FASTREDUCE_V5>(block_size)};
    case FASTREDUCE_V6: return {FASTREDUCE_SUCCESS, false, with_block_size<FASTREDUCE_V6>(block_size)};
    case FASTREDUCE_V7: return {FASTREDUCE_SUCCESS, false, with_block_size<FASTREDUCE_V7>(block_size)};
#else
    case FASTREDUCE_V0:
    case FASTREDUCE_V1:
    case FASTREDUCE_V2:
    case FASTREDUCE_V3:
    case FASTREDUCE_V4:
    case FASTREDUCE_V5:
    case FASTREDUCE_V6:
    case FASTREDUCE_V7:
#endif
    case FASTREDUCE_EXACT: return {FASTREDUCE_ERROR_UNSUPPORTED, false, {}};
    }
    return {FASTREDUCE_ERROR_INVALID_ARGUMENT, false, {}};
}

inline fastreduce_config config_or_default(const fastreduce_config *config)
{
    return config ? *config : fastreduce_config();
}

} // namespace
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
    return choice.tuned ? fastreduce::launch_auto(input, output, n, scratch, settings.stream)
                        : fastreduce::launch_levels(choice.shape, input, output, n, scratch, settings.stream);
}

FASTREDUCE_API size_t fastreduce_workspace_bytes(size_t n, const fastreduce_config *config)
{
    const fastreduce::launcher::choice choice =
        fastreduce::launcher::choose(fastreduce::launcher::config_or_default(config));
    if (choice.status != FASTREDUCE_SUCCESS || n > SIZE_MAX / sizeof(float)) return 0;
    return choice.tuned ? fastreduce::auto_workspace_bytes(n)
                        : fastreduce::make_plan(n, choice.shape.tile, sizeof(float)).workspace_bytes;
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

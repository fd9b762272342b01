/* ================================================================================================
 * Room 1: manual
 * ================================================================================================
 *
 * FastReduce: parallel reduction for CUDA in two files. This one holds everything that runs on
 * or for the GPU.
 *
 * SPDX-License-Identifier: MIT (the text is in LICENSE)
 *
 * Vendoring. Copy fastreduce.h and fastreduce.cuh into your project; one .cu file says
 *
 *     #define FASTREDUCE_IMPLEMENTATION
 *     #include "fastreduce.cuh"
 *
 * and holds the C functions that fastreduce.h declares. CUDA C++ files may also include this
 * one, without that macro, for the templates: the building blocks (room 4) inside kernels of its
 * own, and
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
 *                                 Scope: the file; others may differ.
 *   FASTREDUCE_ITEMS_PER_THREAD   elements a thread adds before the block's tree in V6 and V7: 1 to 64.
 *                                 Default 8. Scope: the file; others may differ.
 *   FASTREDUCE_NO_LADDER          the C functions leave out V0..V7, for a shorter build: they answer
 *                                 FASTREDUCE_ERROR_UNSUPPORTED. AUTO stays. Scope: the implementing file.
 *   FASTREDUCE_NO_EXACT           the same for EXACT and fastreduce_accumulate_f32. Scope: the implementing
 *                                 file.
 *   FASTREDUCE_EXACT_INTEGER      EXACT adds every float by integer arithmetic alone, by the road that it takes
 *                                 otherwise where its window misses: the same bits, slower. For measurements.
 *                                 Scope: the file; others may differ. Default: off.
 *   FASTREDUCE_TAG                letters and digits, to tell files of one program apart that are compiled differently in
 *                                 what no macro says: -use_fast_math, -ftz=true; sm_90 beside sm_90a; machine code
 *                                 beside PTX; and any architectures, with nvcc before 11.5 and with Clang before it
 *                                 had __CUDA_ARCH_LIST__ (14 has not, 22 has). Scope: the file. Default: nothing.
 *   FASTREDUCE_STATIC, FASTREDUCE_API   see fastreduce.h.
 *
 * Names: namespace fastreduce holds what users call, fastreduce::detail the rest. Both lie in an
 * inline namespace that names version, switches, architectures and tag (room 2), so that copies
 * that differ can be in one program. All of it is hidden (GCC, Clang): a shared library does not
 * export functions of its own that have our types in their signatures.
 *
 * Rooms: 1 manual, 2 configuration and portability, 3 elements and operators, 4 building blocks,
 * 5 the ladder V0..V7, 6 the tuned kernels, 7 the exact sum, 8 dispatcher, 9 the C functions.
 * Needs C++14 and CUDA 11.2.
 *
 * Words: a *block* of threads reduces one *tile* of the input, block size times *items* per
 * thread elements, to one *partial*. A *level* (one launch, a *round*) turns n elements into as
 * many partials as it has blocks; levels follow until one partial is left.
 */
#ifndef FASTREDUCE_CUH
#define FASTREDUCE_CUH

#if defined(_MSVC_LANG) ? _MSVC_LANG < 201402L : __cplusplus < 201402L
#error "fastreduce.cuh needs C++14 or later: compile with -std=c++14"
#endif

#ifndef __CUDACC_RTC__
#include <cuda_runtime.h>
#include <atomic>
#include <limits>
#include <type_traits>
#endif
#include "fastreduce.h"

/* ================================================================================================
 * Room 2: configuration and portability May hold: macros and their checks; whatever knows
 * compilers and architectures, as named device functions.
 * ================================================================================================ */

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

#ifdef FASTREDUCE_EXACT_INTEGER
#define FASTREDUCE_DETAIL_INTEGER 1
#else
#define FASTREDUCE_DETAIL_INTEGER 0
#endif

/* -rdc=true: functions out of line get registers without regard to the kernels that call them,
 * and more than bounds on those would leave. */
#ifdef __CUDACC_RDC__
#define FASTREDUCE_DETAIL_SEPARATE 1
#else
#define FASTREDUCE_DETAIL_SEPARATE 0
#endif

/* What compute capability 9.0 brought, from CUDA 12 on: 11.8 compiles for it but cannot assemble
 * all of it. */
#if (defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ < 12) || \
    (defined(CUDART_VERSION) && CUDART_VERSION < 12000)
#define FASTREDUCE_DETAIL_TOOLKIT 11
#else
#define FASTREDUCE_DETAIL_TOOLKIT 12
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define FASTREDUCE_DETAIL_HOPPER
#endif
#endif

#ifndef FASTREDUCE_TAG
#define FASTREDUCE_TAG
#endif

/* The linker keeps one of several templates of the same name. So what code depends on is in the
 * name: version, switches and the architectures it is compiled for, as in
 * version_0_1_0__12_0_0_750800. Files that agree in all of that share their templates; no others
 * do. What no macro tells is up to FASTREDUCE_TAG (room 1). */
#ifdef __CUDA_ARCH_LIST__
#define FASTREDUCE_DETAIL_ARCHS __CUDA_ARCH_LIST__
#else
#define FASTREDUCE_DETAIL_ARCHS
#endif
/* clang-format off */
#define FASTREDUCE_DETAIL_PASTE(major, minor, patch, tag, toolkit, integer, separate, \
                                a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, ...) \
    version_##major##_##minor##_##patch##_##tag##_##toolkit##_##integer##_##separate##_\
##a##b##c##d##e##f##g##h##i##j##k##l##m##n##o##p##q##r##s##t##u##v##w##x
#define FASTREDUCE_DETAIL_NAME(list) FASTREDUCE_DETAIL_PASTE list
#define FASTREDUCE_DETAIL_ABI                                                                             \
    FASTREDUCE_DETAIL_NAME((FASTREDUCE_VERSION_MAJOR, FASTREDUCE_VERSION_MINOR, FASTREDUCE_VERSION_PATCH, \
                            FASTREDUCE_TAG, FASTREDUCE_DETAIL_TOOLKIT, FASTREDUCE_DETAIL_INTEGER,         \
                            FASTREDUCE_DETAIL_SEPARATE, FASTREDUCE_DETAIL_ARCHS,                          \
                            , , , , , , , , , , , , , , , , , , , , , , , , ))
/* clang-format on */

/* CUDA's 16-bit types, whose headers are the user's to include. */
struct __half;
struct __nv_bfloat16;

/* All of the namespace stays inside the shared library that compiled it. Two libraries that
 * vendor different copies would otherwise run one's templates and inline functions in both. */
#ifdef __GNUC__
#pragma GCC visibility push(hidden)
#endif

namespace fastreduce
{
inline namespace FASTREDUCE_DETAIL_ABI
{

/* A constant of ours: loops over the built-in warpSize, which is no constant, stay rolled. */
constexpr unsigned warp_size = 32;

namespace detail
{

constexpr bool toolkit_knows_hopper = FASTREDUCE_DETAIL_TOOLKIT >= 12;
constexpr bool exact_integer = FASTREDUCE_DETAIL_INTEGER;
constexpr bool separate_compilation = FASTREDUCE_DETAIL_SEPARATE;
constexpr unsigned max_block_size = 1024;

#ifndef __CUDACC_RTC__
namespace standard = ::std;
#else
/* NVRTC has no headers: what the rooms below use of <type_traits>, for built-in types. */
namespace standard
{
template <bool Condition, class Yes, class No>
struct conditional {
    using type = Yes;
};
template <class Yes, class No>
struct conditional<false, Yes, No> {
    using type = No;
};
template <bool Condition, class Yes, class No>
using conditional_t = typename conditional<Condition, Yes, No>::type;

template <class Value, class... List>
struct one_of {
    static constexpr bool value = false;
};
template <class Value, class... Rest>
struct one_of<Value, Value, Rest...> {
    static constexpr bool value = true;
};
template <class Value, class First, class... Rest>
struct one_of<Value, First, Rest...> : one_of<Value, Rest...> {
};
template <class Value>
using is_signed =
    one_of<Value, char, wchar_t, signed char, short, int, long, long long, float, double>;
template <class Value>
using is_integral =
    one_of<Value, bool, char, wchar_t, char16_t, char32_t, signed char, short, int, long, long long,
           unsigned char, unsigned short, unsigned, unsigned long, unsigned long long>;
} // namespace standard
#endif

/* The block's dynamic shared memory. Raw bytes, as arrays of several types cannot share one
 * name. Aligned for the copy engine, which takes 35 % longer to addresses that are multiples of
 * 16 alone (one H200). */
extern __shared__ __align__(128) unsigned char dynamic_shared_bytes[];

template <class Value>
__device__ __forceinline__ Value *dynamic_shared()
{
    return reinterpret_cast<Value *>(dynamic_shared_bytes);
}

/* The value of the lane `delta` above; of any type, word by word. All 32 lanes call it. Lanes
 * that have no lane so far above get their own value. */
template <class Value>
__device__ __forceinline__ Value shuffle_down(Value value, unsigned delta)
{
    constexpr unsigned length = (sizeof(Value) + sizeof(unsigned) - 1) / sizeof(unsigned);
    unsigned word[length] = {};
    memcpy(word, static_cast<const void *>(&value), sizeof(Value));
#pragma unroll
    for (unsigned k = 0; k < length; ++k) word[k] = __shfl_down_sync(0xffffffffu, word[k], delta);
    memcpy(static_cast<void *>(&value), word, sizeof(Value));
    return value;
}

/* Overlapped launches (programmatic dependent launch, compute capability 9.0): a grid launched
 * that way takes its place on the GPU while the previous one still runs, and waits before its
 * first access. Only then it allows the next grid: what begins after ours begins after all that
 * came before ours, as behind any other kernel. (To allow it at once is 4 to 5 % faster up to
 * 2^12, and 2 to 8 % slower from 2^14 to 2^20; one H200, a graph of calls.) */
__device__ __forceinline__ void allow_next_grid()
{
#ifdef FASTREDUCE_DETAIL_HOPPER
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

__device__ __forceinline__ void wait_for_previous_grid()
{
#ifdef FASTREDUCE_DETAIL_HOPPER
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Asks for vectors to come into L2, and does not wait for them. May stand before
 * wait_for_previous_grid: what that grid writes goes to L2 too, and nothing is read yet. */
__device__ __forceinline__ void prefetch_to_l2(const float4 *from, unsigned vectors)
{
#ifdef FASTREDUCE_DETAIL_HOPPER
    asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(from), "r"(vectors * 16)
                 : "memory");
#else
    (void)from, (void)vectors;
#endif
}

/* Back-off for spin loops. */
__device__ __forceinline__ void back_off()
{
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 700
    __nanosleep(20);
#endif
}

/* 63 bits of a value and a flag in one word: stored and loaded as a whole, so that seeing the flag is seeing the value,
 * without a fence. Zero is "not published". */
using published = unsigned long long;

__device__ __forceinline__ void publish(published *slot, unsigned long long value)
{
    const published word = value << 1 | 1;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(slot), "l"(word) : "memory");
#else
    *static_cast<volatile published *>(slot) = word;
#endif
}

__device__ __forceinline__ published peek(const published *slot)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    published word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(slot) : "memory");
    return word;
#else
    const published word = *static_cast<const volatile published *>(slot);
    back_off();
    return word;
#endif
}

/* Waits for status_words[first], status_words[first + stride] ... Count of them, takes their
 * values and leaves them zero. Those at `end` and beyond do not exist and give 0. Whole warps
 * call it, which look at all their words before they look again, and go on together. */
template <unsigned Count>
__device__ __forceinline__ void await(published *status_words, unsigned first, unsigned stride,
                                      unsigned end, unsigned long long (&values)[Count])
{
    published *const slot = status_words + first;
    published word[Count];
    bool missing;
    do {
        missing = false;
#pragma unroll
        for (unsigned k = 0; k < Count; ++k)
            word[k] = first + k * stride < end ? peek(slot + k * stride) : 1;
#pragma unroll
        for (unsigned k = 0; k < Count; ++k) missing |= word[k] == 0;
    } while (__any_sync(0xffffffffu, missing));
#pragma unroll
    for (unsigned k = 0; k < Count; ++k) {
        if (first + k * stride < end) slot[k * stride] = 0;
        values[k] = word[k] >> 1;
    }
}

/* a + b and a - b rounded to nearest, denormals and all, whatever -ftz=true or -use_fast_math
 * say. */
__device__ __forceinline__ float ieee_add(float a, float b)
{
#ifdef __CUDA_ARCH__
    float sum;
    asm("add.rn.f32 %0, %1, %2;" : "=f"(sum) : "f"(a), "f"(b));
    return sum;
#else
    return a + b;
#endif
}

__device__ __forceinline__ float ieee_subtract(float a, float b)
{
#ifdef __CUDA_ARCH__
    float difference;
    asm("sub.rn.f32 %0, %1, %2;" : "=f"(difference) : "f"(a), "f"(b));
    return difference;
#else
    return a - b;
#endif
}

/* The sum modulo 2^32 of the 32 lanes' values, for all of them; and the greatest. */
__device__ __forceinline__ unsigned warp_add(unsigned value)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_add_sync(0xffffffffu, value);
#else
    for (unsigned flip = warp_size / 2; flip > 0; flip /= 2)
        value += __shfl_xor_sync(0xffffffffu, value, static_cast<int>(flip));
    return value;
#endif
}

__device__ __forceinline__ unsigned warp_max(unsigned value)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_max_sync(0xffffffffu, value);
#else
    for (unsigned flip = warp_size / 2; flip > 0; flip /= 2) {
        const unsigned other = __shfl_xor_sync(0xffffffffu, value, static_cast<int>(flip));
        value = value < other ? other : value;
    }
    return value;
#endif
}

/* Copies from global to shared memory by the copy engine (compute capability 9.0). One thread
 * starts a copy; each completed copy ends a phase of its barrier, phases count 0, 1, 0, 1 ...
 * The portable twin copies at once. */
using copy_barrier = unsigned long long;

__device__ __forceinline__ void init_copy_barrier(copy_barrier *barrier)
{
#ifdef FASTREDUCE_DETAIL_HOPPER
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(barrier)))
                 : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::
                     : "memory"); /* for the copy engine to see it */
#else
    *static_cast<volatile copy_barrier *>(barrier) = 0;
#endif
}

__device__ __forceinline__ void bulk_copy(float4 *to, const float4 *from, unsigned vectors,
                                          copy_barrier *barrier)
{
#ifdef FASTREDUCE_DETAIL_HOPPER
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(address),
                 "r"(vectors * 16)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
            "r"(static_cast<unsigned>(__cvta_generic_to_shared(to))),
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
#ifdef FASTREDUCE_DETAIL_HOPPER
    unsigned done;
    do {
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 "
                     "%0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(static_cast<unsigned>(__cvta_generic_to_shared(barrier))), "r"(phase)
                     : "memory");
    } while (!done);
#else
    while ((*static_cast<volatile copy_barrier *>(barrier) & 1) == phase) back_off();
#endif
}
#undef FASTREDUCE_DETAIL_HOPPER

} // namespace detail

/* ================================================================================================
 * Room 3: elements and operators May hold: what is to be known of an operator (identity,
 * combine) and of an element type under it (the type that accumulates). A new operator or type
 * is added here and nowhere else.
 *
 * An operator is a type without state that has
 *     template <class Value> static Value identity();  combine(identity, x) == x
 *     Value operator()(Value a, Value b) const;        associative and commutative, but for rounding
 * Element types are trivially copyable and trivially default constructible (they live in shared
 * memory).
 * ================================================================================================ */

struct plus {
    template <class Value>
    static __host__ __device__ __forceinline__ Value identity()
    {
        return Value(0);
    }
    template <class Value>
    __host__ __device__ __forceinline__ Value operator()(Value a, Value b) const
    {
        return a + b;
    }
};

namespace detail
{

/* The greatest and the least value of a type: infinities, where it has any. */
template <class Value>
struct bounds {
#ifndef __CUDACC_RTC__
    using limits = std::numeric_limits<Value>;
    static_assert(limits::is_specialized,
                  "minimum and maximum need a type with std::numeric_limits: give another an "
                  "operator of its own");
    /* constants, as device code may use those but not call std::numeric_limits */
    static constexpr Value most = limits::has_infinity ? limits::infinity() : (limits::max)();
    static constexpr Value fewest =
        limits::has_infinity ? static_cast<Value>(-limits::infinity()) : limits::lowest();
#else
    static_assert(
        standard::is_integral<Value>::value,
        "minimum and maximum need an arithmetic type: give another an operator of its own");
    static constexpr Value fewest =
        standard::is_signed<Value>::value ? Value(1ull << (8 * sizeof(Value) - 1)) : Value(0);
    static constexpr Value most = Value(~fewest);
#endif
    static constexpr __host__ __device__ Value greatest()
    {
        return most;
    }
    static constexpr __host__ __device__ Value least()
    {
        return fewest;
    }
};
#ifdef __CUDACC_RTC__
template <>
struct bounds<float> {
    static constexpr __device__ float greatest() { return 1 / 0.0f; }
    static constexpr __device__ float least() { return -1 / 0.0f; }
};
template <>
struct bounds<double> {
    static constexpr __device__ double greatest() { return 1 / 0.0; }
    static constexpr __device__ double least() { return -1 / 0.0; }
};
#endif

template <class Half, unsigned short Infinity>
struct half_bounds {
    static __host__ __device__ __forceinline__ Half of_bits(unsigned short bits)
    {
        Half value;
        memcpy(static_cast<void *>(&value), &bits, sizeof value);
        return value;
    }
    static __host__ __device__ __forceinline__ Half greatest() { return of_bits(Infinity); }
    static __host__ __device__ __forceinline__ Half least() { return of_bits(Infinity | 0x8000); }
};
template <>
struct bounds<__half> : half_bounds<__half, 0x7c00> {
};
template <>
struct bounds<__nv_bfloat16> : half_bounds<__nv_bfloat16, 0x7f80> {
};

} // namespace detail

/* Minimum and maximum. Where an element is NaN the result is unspecified, as NaN has no place in
 * an order. */
struct minimum {
    template <class Value>
    static __host__ __device__ __forceinline__ Value identity()
    {
        return detail::bounds<Value>::greatest();
    }
    template <class Value>
    __host__ __device__ __forceinline__ Value operator()(Value a, Value b) const
    {
        return b < a ? b : a;
    }
};

struct maximum {
    template <class Value>
    static __host__ __device__ __forceinline__ Value identity()
    {
        return detail::bounds<Value>::least();
    }
    template <class Value>
    __host__ __device__ __forceinline__ Value operator()(Value a, Value b) const
    {
        return a < b ? b : a;
    }
};

/* The type of partials and of the result. Sums of integers are of 64 bits; everything else stays
 * as it is. */
template <class Operator, class Input>
struct accumulate {
    using type = Input;
};
template <class Input>
struct accumulate<plus, Input> {
    using wide = detail::standard::conditional_t<detail::standard::is_signed<Input>::value,
                                                 long long, unsigned long long>;
    static constexpr bool widens =
        detail::standard::is_integral<Input>::value && sizeof(Input) < sizeof(wide);
    using type = detail::standard::conditional_t<widens, wide, Input>;
};
template <class Operator, class Input>
using accumulate_t = typename accumulate<Operator, Input>::type;

/* ================================================================================================
 * Room 4: building blocks May hold: what threads, warps and blocks do together. Public: call
 * them in kernels of your own, as examples/block_reduce.cu does. The result is the same bits
 * every time.
 * ================================================================================================ */

/* What one thread adds up by itself: input[first], input[first + stride] ... Items of them,
 * those at n and beyond left out. A thread whose items all exist takes the branch without
 * checks, so that its loads are all under way before the first addition. */
template <unsigned Items, class Operator, class Value, class Input>
__device__ __forceinline__ Value thread_reduce(const Input *input, size_t first, size_t stride,
                                               size_t n)
{
    const Operator combine;
    Value value = Operator::template identity<Value>();
    if (first + (Items - 1) * stride < n) {
#pragma unroll
        for (unsigned k = 0; k < Items; ++k)
            value = combine(value, static_cast<Value>(input[first + k * stride]));
    } else {
        for (unsigned k = 0; k < Items; ++k)
            if (first + k * stride < n)
                value = combine(value, static_cast<Value>(input[first + k * stride]));
    }
    return value;
}

/* Reduces one value a lane over lanes 0 .. Width - 1 of a warp, a power of two. All 32 lanes
 * call it; the result is lane 0's, the other lanes get something between. */
template <class Operator, unsigned Width = warp_size, class Value>
__device__ __forceinline__ Value warp_reduce(Value value)
{
    const Operator combine;
#pragma unroll
    for (unsigned delta = Width / 2; delta > 0; delta /= 2)
        value = combine(value, detail::shuffle_down(value, delta));
    return value;
}

/* Reduces one value a thread over a block of BlockSize threads (one-dimensional; 32 to 1024, a
 * power of two). Every thread calls it; the result is thread 0's. `warp_values` is shared memory
 * for BlockSize / 32 values, and may be used again after a block barrier. */
template <unsigned BlockSize, class Operator, class Value>
__device__ __forceinline__ Value block_reduce(Value value, Value *warp_values)
{
    constexpr unsigned warps = BlockSize / warp_size;
    const unsigned lane = threadIdx.x % warp_size;
    const unsigned warp = threadIdx.x / warp_size;

    value = warp_reduce<Operator>(value);
    if (warps == 1) return value;

    if (lane == 0) warp_values[warp] = value;
    __syncthreads();
    if (warp == 0) {
        if (lane < warps) value = warp_values[lane];
        value = warp_reduce<Operator, warps>(value);
    }
    return value;
}

/* ================================================================================================
 * Room 5: the ladder May hold: V0..V7, one kernel each, in order. All have one skeleton: load to
 * shared memory, a tree over the block, thread 0 stores the block's partial. A neighbour differs
 * by the one idea its comment calls Change.
 *
 * A kernel reduces input[0 .. n) with a grid of one block a tile; block b writes partials[b].
 * Elements past n count as the identity. A block has blockDim.x threads, a power of two from 32
 * to 1024; from V5 on that is the template parameter BlockSize. A thread's running sum stays in
 * `value`, and sdata[tid] is the copy that others read: without that register V2 takes 10 %
 * longer (2^28 floats, one H200).
 * ================================================================================================ */

/* V0, baseline. Change: none yet. Neighbours add up in pairs, pairs of pairs, and so on, in
 * place. Why:    log2(block size) steps instead of block size - 1 additions one after the other.
 * Costs:  the threads that work, every second, fourth, eighth ..., are spread over all warps:
 * each warp takes
 *         every step for a few of its lanes. The remainder is slow arithmetic besides. */
template <class Operator, class Value, class Input>
__global__ void __launch_bounds__(detail::max_block_size)
    v0_baseline(const Input *__restrict__ input, Value *__restrict__ partials, size_t n)
{
    Value *sdata = detail::dynamic_shared<Value>();
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + tid;
    const Operator combine;

    Value value = i < n ? static_cast<Value>(input[i]) : Operator::template identity<Value>();
    sdata[tid] = value;
    __syncthreads();

    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0) sdata[tid] = value = combine(value, sdata[tid + stride]);
        __syncthreads();
    }

    if (tid == 0) partials[blockIdx.x] = value;
}

/* V1, no divergence. Change: the same pairs, but thread t takes the t-th pair, so the threads
 * that work are the first ones. Why:    whole warps work or are done; no remainder. Costs:
 * lanes now access shared memory 2, 4, 8 ... words apart, and collide in its banks. */
template <class Operator, class Value, class Input>
__global__ void __launch_bounds__(detail::max_block_size)
    v1_no_divergence(const Input *__restrict__ input, Value *__restrict__ partials, size_t n)
{
    Value *sdata = detail::dynamic_shared<Value>();
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + tid;
    const Operator combine;

    sdata[tid] = i < n ? static_cast<Value>(input[i]) : Operator::template identity<Value>();
    __syncthreads();

    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        const unsigned index = 2 * stride * tid;
        if (index < blockDim.x) sdata[index] = combine(sdata[index], sdata[index + stride]);
        __syncthreads();
    }

    if (tid == 0) partials[blockIdx.x] = sdata[0];
}

/* V2, no bank conflicts. Change: the stride starts at half the block and halves; thread t adds
 * element t + stride to element t. Why:    the lanes of a warp access neighbouring words, one a
 * bank. Costs:  half the threads never add: they load one element and wait. */
template <class Operator, class Value, class Input>
__global__ void __launch_bounds__(detail::max_block_size)
    v2_no_bank_conflict(const Input *__restrict__ input, Value *__restrict__ partials, size_t n)
{
    Value *sdata = detail::dynamic_shared<Value>();
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + tid;
    const Operator combine;

    Value value = i < n ? static_cast<Value>(input[i]) : Operator::template identity<Value>();
    sdata[tid] = value;
    __syncthreads();

    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) sdata[tid] = value = combine(value, sdata[tid + stride]);
        __syncthreads();
    }

    if (tid == 0) partials[blockIdx.x] = value;
}

namespace detail
{
/* The load of V3 to V5: the thread's element, and with two items the one a block further on. */
template <unsigned Items, class Operator, class Value, class Input>
__device__ __forceinline__ Value load_pair(const Input *input, size_t i, unsigned stride, size_t n)
{
    static_assert(Items == 1 || Items == 2, "V3, V4 and V5 load one or two items per thread");
    const Operator combine;
    Value value = i < n ? static_cast<Value>(input[i]) : Operator::template identity<Value>();
    if (Items == 2 && i + stride < n) value = combine(value, static_cast<Value>(input[i + stride]));
    return value;
}
} // namespace detail

/* V3, add during load. Change: each thread loads two elements, a block apart, and stores their
 * sum to shared memory. Why:    every thread adds at least once; half the blocks, and half the
 * shared memory traffic an element. Costs:  the last six steps keep every warp at block barriers
 * for the work of one. */
template <class Operator, unsigned Items, class Value, class Input>
__global__ void __launch_bounds__(detail::max_block_size)
    v3_add_during_load(const Input *__restrict__ input, Value *__restrict__ partials, size_t n)
{
    Value *sdata = detail::dynamic_shared<Value>();
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * (Items * blockDim.x) + tid;
    const Operator combine;

    Value value = detail::load_pair<Items, Operator, Value>(input, i, blockDim.x, n);
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

namespace detail
{
/* The last steps of V4 to V6, strides 32 to 1, from the thread's value to the block's in thread
 * 0. A lane that has nothing to add stays out: reading on, as the classic code does, would leave
 * the array of a 32-thread block. Warps do not run in lock-step (since Volta), so a warp barrier
 * stands where a lane's store meets another lane's load. */
template <class Operator, tail Tail, class Value>
__device__ __forceinline__ Value unrolled_tail(Value *sdata, Value value, unsigned tid,
                                               unsigned block_size)
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
} // namespace detail

/* V4, unroll the last warp. Change: from stride 32 down only the first warp goes on, without
 * block barriers and without a loop. Why:    six block barriers fewer, and the other warps
 * retire early, which makes room for the next block. Costs:  the loop above it: counter, compare
 * and branch for an addition or two. */
template <class Operator, unsigned Items, tail Tail, class Value, class Input>
__global__ void __launch_bounds__(detail::max_block_size)
    v4_unroll_last_warp(const Input *__restrict__ input, Value *__restrict__ partials, size_t n)
{
    Value *sdata = detail::dynamic_shared<Value>();
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * (Items * blockDim.x) + tid;
    const Operator combine;

    Value value = detail::load_pair<Items, Operator, Value>(input, i, blockDim.x, n);
    sdata[tid] = value;
    __syncthreads();

    for (unsigned stride = blockDim.x / 2; stride > warp_size; stride /= 2) {
        if (tid < stride) sdata[tid] = value = combine(value, sdata[tid + stride]);
        __syncthreads();
    }
    if (Tail == tail::warp && tid >= warp_size) return;
    value = detail::unrolled_tail<Operator, Tail>(sdata, value, tid, blockDim.x);

    if (tid == 0) partials[blockIdx.x] = value;
}

/* V5, completely unrolled. Change: the block size is a template parameter, so the compiler
 * unrolls every step. Why:    no loop, no comparison with blockDim.x, shared memory of a known
 * size. Costs:  two loads a thread: too few on their way to memory at a time, too many blocks to
 * start. */
template <class Operator, unsigned BlockSize, unsigned Items, class Value, class Input>
__global__ void __launch_bounds__(BlockSize)
    v5_completely_unroll(const Input *__restrict__ input, Value *__restrict__ partials, size_t n)
{
    __shared__ Value sdata[BlockSize];
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * (Items * BlockSize) + tid;
    const Operator combine;

    Value value = detail::load_pair<Items, Operator, Value>(input, i, BlockSize, n);
    sdata[tid] = value;
    __syncthreads();

#pragma unroll
    for (unsigned stride = BlockSize / 2; stride > warp_size; stride /= 2) {
        if (tid < stride) sdata[tid] = value = combine(value, sdata[tid + stride]);
        __syncthreads();
    }
    if (tid >= warp_size) return;
    value = detail::unrolled_tail<Operator, tail::warp>(sdata, value, tid, BlockSize);

    if (tid == 0) partials[blockIdx.x] = value;
}

/* V6, multi add. Change: each thread adds Items elements, a block apart, in a register before it
 * goes to shared memory. Why:    Items loads on their way at once, and the tree's cost is shared
 * by Items times as many elements. Costs:  the tree still moves every value through shared
 * memory. */
template <class Operator, unsigned BlockSize, unsigned Items, class Value, class Input>
__global__ void __launch_bounds__(BlockSize)
    v6_multi_add(const Input *__restrict__ input, Value *__restrict__ partials, size_t n)
{
    __shared__ Value sdata[BlockSize];
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * (Items * BlockSize) + tid;
    const Operator combine;

    Value value = thread_reduce<Items, Operator, Value>(input, i, BlockSize, n);
    sdata[tid] = value;
    __syncthreads();

#pragma unroll
    for (unsigned stride = BlockSize / 2; stride > warp_size; stride /= 2) {
        if (tid < stride) sdata[tid] = value = combine(value, sdata[tid + stride]);
        __syncthreads();
    }
    if (tid >= warp_size) return;
    value = detail::unrolled_tail<Operator, tail::warp>(sdata, value, tid, BlockSize);

    if (tid == 0) partials[blockIdx.x] = value;
}

/* V7, shuffle. Change: lanes hand values over by shuffle, from register to register; shared
 * memory holds one value a warp. Why:    almost no shared memory traffic, one block barrier.
 * Costs:  nothing that shows: from V6 on memory is the limit (93 % of its peak at 2^28 floats,
 * one H200). */
template <class Operator, unsigned BlockSize, unsigned Items, class Value, class Input>
__global__ void __launch_bounds__(BlockSize)
    v7_shuffle(const Input *__restrict__ input, Value *__restrict__ partials, size_t n)
{
    __shared__ Value warp_values[BlockSize / warp_size];
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * (Items * BlockSize) + tid;

    const Value value = thread_reduce<Items, Operator, Value>(input, i, BlockSize, n);
    const Value partial = block_reduce<BlockSize, Operator>(value, warp_values);

    if (tid == 0) partials[blockIdx.x] = partial;
}

/* ================================================================================================
 * Room 6: the tuned kernels behind FASTREDUCE_AUTO and FASTREDUCE_EXACT May hold: sums of floats
 * in one launch, by kernels that differ in how blocks load. What becomes of the floats is the
 * business of their parameter, a Sum: float_sum here for AUTO, exact_sum in room 7. (AUTO of any
 * other type or operator is V7.) A Sum has
 *     Output                         where it writes to
 *     shared_bytes                   dynamic shared memory that it needs, given to its constructor
 *     add(group)                     adds an array of vectors; whole warps call it
 *     finish(status_words, output)   from the threads' values to the output; whole blocks call it, once
 *     any_block_adds                 whether the result is the same whichever block adds an element
 *     status_words_used              how many it uses, if so; the ring's counter comes after them
 *     resident_threads               on a multiprocessor, for the compiler to share out registers; 0 leaves it the choice
 * ================================================================================================ */

namespace detail
{

/* The input in 16-byte vectors from the first address on that is a multiple of Alignment floats,
 * and the few floats before and after them. */
template <unsigned Alignment>
struct vectors_of {
    const float4 *data;
    size_t count;
    unsigned head, tail;

    __device__ __forceinline__ vectors_of(const float *input, size_t n)
    {
        const unsigned gap =
            (0u - static_cast<unsigned>(reinterpret_cast<uintptr_t>(input) / 4)) % Alignment;
        head = gap < n ? gap : static_cast<unsigned>(n);
        data = reinterpret_cast<const float4 *>(input + head);
        count = (n - head) / 4;
        tail = static_cast<unsigned>(n - head) % 4;
    }
    __device__ __forceinline__ float4 at(size_t i) const
    {
        return i < count ? __ldcs(data + i) : make_float4(0, 0, 0, 0);
    }
};

/* The floats beside the vectors: the last block's first threads have them, one each; everybody
 * else has 0. */
template <unsigned Alignment>
__device__ __forceinline__ float4 edge_of(const float *input, size_t n,
                                          const vectors_of<Alignment> &vectors)
{
    float edge = 0;
    if (blockIdx.x + 1 == gridDim.x) {
        if (threadIdx.x < vectors.head)
            edge = input[threadIdx.x];
        else if (threadIdx.x < vectors.head + vectors.tail)
            edge = input[n - vectors.tail + (threadIdx.x - vectors.head)];
    }
    return make_float4(edge, 0, 0, 0);
}

/* A tile's vectors first, first + BlockSize ... of a thread, all loads under way at once. As
 * they are read once they are the first to leave the cache (1 to 2 % faster from 2^24 on; one
 * H200). */
template <unsigned BlockSize, unsigned Vectors, unsigned Alignment, unsigned Room>
__device__ __forceinline__ void load_tile(float4 (&loaded)[Room],
                                          const vectors_of<Alignment> &vectors, size_t tile)
{
    static_assert(Vectors <= Room, "the array holds the vectors");
    const size_t first = tile * (BlockSize * Vectors) + threadIdx.x;
    if ((tile + 1) * (BlockSize * Vectors) <= vectors.count) {
#pragma unroll
        for (unsigned k = 0; k < Vectors; ++k)
            loaded[k] = __ldcs(vectors.data + first + k * BlockSize);
    } else {
#pragma unroll
        for (unsigned k = 0; k < Vectors; ++k) loaded[k] = vectors.at(first + k * BlockSize);
    }
}

/* How many of its next vectors a block asks for before it waits for the previous grid, so that
 * they are in L2 when it reads them: 4 MiB over the grid, as the previous grid may still be
 * loading, but not less than 8 KiB. (10 to 20 % faster up to 2^18,
 * 2 to 7 % up to 2^24; one H200, a graph of calls.) */
__host__ __device__ inline unsigned vectors_to_prefetch(size_t next, unsigned blocks)
{
    const unsigned share = (1u << 18) / blocks, most = share > 512 ? share : 512;
    return next < most ? static_cast<unsigned>(next) : most;
}

/* By thread 0: the first of a block's next vectors. */
__device__ __forceinline__ void prefetch(const float4 *vectors, size_t next)
{
    const unsigned most = vectors_to_prefetch(next, gridDim.x);
    if (threadIdx.x == 0 && next > 0) prefetch_to_l2(vectors, most);
}

/* The same of the tile that has the block's number. */
template <unsigned Size, unsigned Alignment>
__device__ __forceinline__ void prefetch_tile(const vectors_of<Alignment> &vectors)
{
    const size_t first = blockIdx.x * size_t(Size),
                 rest = first < vectors.count ? vectors.count - first : 0;
    prefetch(vectors.data + first, rest < Size ? rest : Size);
}

/* Four running sums of four floats each. Ahead: status words that a thread awaits at once. */
template <unsigned BlockSize, unsigned Ahead = 1>
struct float_sum {
    using Output = float *;
    static constexpr unsigned status_words_used = 0, resident_threads = 0;
    static constexpr size_t shared_bytes = 0;
    static constexpr bool any_block_adds = false;
    float4 sum[4];

    /* From -0: the compiler knows that x + -0 is x, and leaves out the first addition to each. */
    __device__ __forceinline__ explicit float_sum(void *)
    {
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) sum[k] = make_float4(-0.0f, -0.0f, -0.0f, -0.0f);
    }

    template <unsigned Count>
    __device__ __forceinline__ void add(const float4 (&group)[Count])
    {
#pragma unroll
        for (unsigned k = 0; k < Count; ++k) {
            sum[k % 4].x += group[k].x;
            sum[k % 4].y += group[k].y;
            sum[k % 4].z += group[k].z;
            sum[k % 4].w += group[k].w;
        }
    }

    /* Each block publishes its sum; the last block awaits all others, folds, and leaves the
     * words zero. One launch and no atomic: two launches cost 1.2 us more, a fence and a ticket
     * 0.5 us (one H200). No other block waits, so the grid may be of any size. The order of the
     * additions is fixed. */
    __device__ __forceinline__ void finish(published *status_words, float *output)
    {
        __shared__ float warp_sums[BlockSize / warp_size];
        const unsigned others = gridDim.x - 1;

        float value = -0.0f;
#pragma unroll
        for (unsigned k = 0; k < 4; ++k) value += (sum[k].x + sum[k].y) + (sum[k].z + sum[k].w);
#pragma unroll 1
        for (bool all = others == 0;; all = true) {
            /* The block's own, then all blocks': by the same instructions, as the first time
             * that others run they have to be fetched, which takes 0.1 to 0.3 us while memory is
             * busy. */
            value = block_reduce<BlockSize, plus>(value, warp_sums);
            if (all) break;
            if (blockIdx.x != others) {
                if (threadIdx.x == 0) publish(status_words + blockIdx.x, __float_as_uint(value));
                return;
            }
            if (threadIdx.x != 0) value = 0;
            for (unsigned first = 0; first < others; first += Ahead * BlockSize) {
                unsigned long long values[Ahead];
                await(status_words, first + threadIdx.x, BlockSize, others, values);
#pragma unroll
                for (unsigned j = 0; j < Ahead; ++j)
                    value += __uint_as_float(static_cast<unsigned>(values[j]));
            }
            __syncthreads(); /* warp_sums is used again */
        }
        if (threadIdx.x == 0) *output = value + 0.0f;
    }
};

/* The kernels below begin before the previous grid has ended, which may write their input. So it
 * is not __restrict__: the compiler could then load it by ways that are not coherent
 * (NVIDIA/cccl#11463). */

/* One tile of BlockSize * Vectors vectors a block, all loads under way before the first
 * addition. Best while the whole grid, or nearly, is resident: a loop over tiles takes 10 to 20
 * % longer there. */
template <class Sum, unsigned BlockSize, unsigned Vectors>
__global__ void __launch_bounds__(BlockSize)
    sum_tile(const float *input, typename Sum::Output output, size_t n, published *status_words)
{
    const vectors_of<4> vectors(input, n);
    prefetch_tile<BlockSize * Vectors>(vectors);
    wait_for_previous_grid();
    allow_next_grid();
    float4 loaded[Vectors + 1];
    load_tile<BlockSize, Vectors>(loaded, vectors, blockIdx.x);
    loaded[Vectors] = edge_of(input, n, vectors);

    Sum sum(dynamic_shared<void>());
    sum.add(loaded);
    sum.finish(status_words, output);
}

/* Tiles dealt round to the grid: for larger n where there is no copy engine. */
template <class Sum, unsigned BlockSize, unsigned Vectors>
__global__ void __launch_bounds__(BlockSize, Sum::resident_threads / BlockSize)
    sum_dealt(const float *input, typename Sum::Output output, size_t n, published *status_words)
{
    const vectors_of<4> vectors(input, n);
    prefetch_tile<BlockSize * Vectors>(vectors);
    wait_for_previous_grid();
    const float4 edge[1] = {edge_of(input, n, vectors)};
    allow_next_grid(); /* a moment later than at once: EXACT is 1 to 3 % faster up to 2^24 (one H200) */

    Sum sum(dynamic_shared<void>());
    for (size_t tile = blockIdx.x; tile * (BlockSize * Vectors) < vectors.count;
         tile += gridDim.x) {
        float4 loaded[Vectors];
        load_tile<BlockSize, Vectors>(loaded, vectors, tile);
        sum.add(loaded);
    }
    if (vectors.head + vectors.tail > 0) sum.add(edge);
    sum.finish(status_words, output);
}

/* How sum_ring divides the rows of BlockSize vectors: first a run for each block, equal but for
 * a row; then, where it does not matter who adds them, a twentieth in tiles that blocks take as
 * they come to them, so that no block is late. */
struct ring_shares {
    size_t in_runs, tiles; /* rows; tiles after them */
};

__host__ __device__ inline ring_shares shares_of_ring(size_t rows, unsigned tile_rows,
                                                      bool any_block_adds)
{
    const size_t shared = any_block_adds ? (rows + 19) / 20 : 0;
    return {rows - shared, (shared + tile_rows - 1) / tile_rows};
}

/* The copy engine fills a ring of Stages tiles of TileVectors vectors in shared memory, the
 * threads add behind it: more bytes under way than registers could hold. The last block adds
 * what is less than a row. The counter of tiles that were taken is zero before and after. */
template <class Sum, unsigned BlockSize, unsigned TileVectors, unsigned Stages>
__global__ void __launch_bounds__(BlockSize)
    sum_ring(const float *input, typename Sum::Output output, size_t n, published *status_words)
{
    constexpr unsigned tile_rows = TileVectors / BlockSize;
    constexpr unsigned group_size = 4; /* vectors a thread loads from shared memory at once */
    static_assert(TileVectors % (group_size * BlockSize) == 0,
                  "a thread's share of a tile is whole groups");
    static_assert(Stages >= 2, "a barrier of the block lies between a stage's filling and its use");
    __shared__ copy_barrier barriers[Stages];
    __shared__ unsigned rows_in[Stages];
    float4 *ring = dynamic_shared<float4>();
    if (threadIdx.x < Stages) init_copy_barrier(barriers + threadIdx.x);
    __syncthreads();

    const vectors_of<32> vectors(input, n); /* 128 bytes: copies from elsewhere take 30 % longer */
    const size_t rows = vectors.count / BlockSize;
    const ring_shares shares = shares_of_ring(rows, tile_rows, Sum::any_block_adds);
    const size_t share = shares.in_runs / gridDim.x, rest = shares.in_runs % gridDim.x;
    published *const counter = status_words + Sum::status_words_used;

    /* Thread 0 copies. It asks the counter for a tile when it copies the one before, as the
     * answer takes a while. */
    size_t row = blockIdx.x * share + (blockIdx.x < rest ? blockIdx.x : rest), answer = 0;
    size_t end = row + share + (blockIdx.x < rest);
    prefetch(vectors.data + row * BlockSize, (end - row) * BlockSize);
    wait_for_previous_grid();
    allow_next_grid();

    const auto ask = [&] {
        if (shares.tiles > 0) answer = atomicAdd(counter, 1ull);
    };
    const auto fill = [&](unsigned stage) {
        if (row == end && answer < shares.tiles) {
            row = shares.in_runs + answer * tile_rows;
            end = row + tile_rows < rows ? row + tile_rows : rows;
        }
        const unsigned count = end - row < tile_rows ? static_cast<unsigned>(end - row) : tile_rows;
        rows_in[stage] = count;
        if (count == 0) return;
        bulk_copy(ring + stage * TileVectors, vectors.data + row * BlockSize, count * BlockSize,
                  barriers + stage);
        row += count;
        if (row == end) ask();
    };
    if (threadIdx.x == 0) {
        if (row == end) ask();
        for (unsigned stage = 0; stage < Stages; ++stage) fill(stage);
    }

    const bool last = blockIdx.x + 1 == gridDim.x;
    const float4 beside[2] = {last ? vectors.at(rows * BlockSize + threadIdx.x)
                                   : make_float4(0, 0, 0, 0),
                              edge_of(input, n, vectors)};
    Sum sum(ring + Stages * TileVectors);
    __syncthreads(); /* rows_in is there */

    unsigned stage = 0, phase = 0;
    while (const unsigned here = rows_in[stage]) {
        wait_for_copy(barriers + stage, phase);
        const float4 *const vector = ring + stage * TileVectors + threadIdx.x;
#pragma unroll
        for (unsigned k = 0; k < tile_rows; k += group_size) {
            float4 group[group_size];
#pragma unroll
            for (unsigned j = 0; j < group_size; ++j)
                group[j] = k + j < here ? vector[(k + j) * BlockSize] : make_float4(0, 0, 0, 0);
            sum.add(group);
        }
        __syncthreads(); /* all have read the tile before it is filled again */
        if (threadIdx.x == 0) fill(stage);
        if (++stage == Stages) {
            stage = 0;
            phase ^= 1;
        }
    }
    sum.add(beside);
    sum.finish(status_words, output);
    /* every block is past its last question, or the last would still wait for it */
    if (Sum::any_block_adds && last && threadIdx.x == 0) *counter = 0;
}

/* ================================================================================================
 * Room 7: the exact sum May hold: the Sum behind FASTREDUCE_EXACT. The accumulator's arithmetic,
 * for host and device, is in fastreduce.h.
 *
 * A float is an integer times 2^-149. Adding 1.5 * 2^(23 + e) to it, and taking that away again,
 * rounds it to a multiple of 2^e, exactly; the bits of the first sum count the multiples, and
 * what was rounded off is exact too. Done twice, 22 bits apart, this cuts a float into two
 * integers, which add up without rounding: the window. Its position follows the data, warp by
 * warp. A thread with a float that reaches above or below the window adds integers to its bins
 * in shared memory instead, one for each 16 exponents. All roads are exact, so the choice does
 * not show in the result. No double is used: the cost is the same where those are slow.
 *
 * Integers end in the warp's accumulator, spread over its lanes: lane k holds limb k.
 * ================================================================================================ */

constexpr unsigned exact_bins = 17; /* 16 for 16 exponents each, one counts NaN and infinities */
constexpr unsigned window_bits =
    44; /* a float below 2^(position + 44 - 149) fits, if it is a multiple */
constexpr unsigned top_position =
    230; /* of 2^(position - 149); up to here both anchors are finite */
constexpr unsigned exact_group_limit = 9; /* vectors that a thread adds at once, at most ... */
constexpr unsigned groups_between_settles =
    4096; /* ... and so often, before a 64-bit sum could overflow */
constexpr unsigned exact_totals =
    4; /* that blocks add to: one each, as additions to the same take turns */
/* A block in the count of each word of a total; below it is the sum of limbs. */
constexpr unsigned long long exact_one_block = 1ull << 52;

/* Digit `lane` of number * 2^shift, in limbs of 32 bits; the highest that is not 0 has the sign. */
__device__ __forceinline__ long long digit_of(long long number, unsigned shift)
{
    const int from = static_cast<int>(threadIdx.x % warp_size * 32) - static_cast<int>(shift);
    if (from <= -32 || from >= 64) return 0;
    if (from >= 32) return number >> from;
    const unsigned long long bits = static_cast<unsigned long long>(number);
    return static_cast<long long>((from >= 0 ? bits >> from : bits << -from) & 0xffffffff);
}

/* What the lane adds to its limb for the sum of the lanes' numbers, each times 2^shift. In three
 * parts, of which 32 add up without overflow. */
__device__ __forceinline__ long long digit_of_sum(long long number, unsigned shift)
{
    constexpr unsigned bits = 27, mask = (1u << bits) - 1;
    const long long low = warp_add(static_cast<unsigned>(number) & mask);
    const long long middle = warp_add(static_cast<unsigned>(number >> bits) & mask);
    const int high = static_cast<int>(warp_add(static_cast<unsigned>(number >> 2 * bits)));
    return digit_of(low + (middle << bits), shift) + digit_of(high, shift + 2 * bits);
}

/* Propagates the carries of the warp's accumulator, as fastreduce_detail_carry does. The limbs'
 * magnitudes are below 2^62; those that are no digits stay. */
__device__ __forceinline__ long long carry_across_lanes(long long limb)
{
    constexpr unsigned all = 0xffffffff, top_lane = FASTREDUCE_DIGITS - 1;
    constexpr long long mask = 0xffffffff, bias = 1ll << 62;
    const unsigned lane = threadIdx.x % warp_size;

    /* None is negative thanks to the bias, which the next limb takes back. After one step from
     * lane to lane they are 0 or 1, and ripple through digits of all ones as in an addition of
     * masks. */
    long long digit =
        limb + (lane < top_lane ? bias : 0) - (lane > 0 && lane <= top_lane ? bias >> 32 : 0);
    const unsigned step = __shfl_up_sync(all, static_cast<unsigned>(digit >> 32), 1);
    if (lane < top_lane) digit &= mask;
    if (lane > 0 && lane <= top_lane) digit += step;
    const unsigned generate = __ballot_sync(all, lane < top_lane && digit > mask);
    const unsigned propagate = __ballot_sync(all, lane < top_lane && digit == mask);
    digit += (((generate << 1) + propagate) ^ propagate) >> lane & 1;
    if (lane < top_lane) digit &= mask;
    return digit;
}

/* The warp's accumulator, its carries propagated, rounded to float as by
 * fastreduce_detail_read_f32, by all lanes together: one thread takes 0.2 us longer. Lanes from
 * 16 on have 0; where one that counts has more, the number does not matter. */
__device__ __forceinline__ float read_across_lanes(long long digit)
{
    constexpr unsigned all = 0xffffffff, top_lane = FASTREDUCE_DIGITS - 1;
    constexpr long long mask = 0xffffffff;
    const unsigned lane = threadIdx.x % warp_size, special = __ballot_sync(all, digit != 0);

    const bool negative = __ballot_sync(all, lane == top_lane && digit < 0) != 0;
    if (negative) { /* complement, and add 1 */
        const unsigned zeros = __ballot_sync(all, lane < top_lane && digit == 0);
        digit = (lane < top_lane    ? digit ^ mask
                 : lane == top_lane ? ~digit
                                    : 0) +
                (((zeros + 1) ^ zeros) >> lane & 1);
        if (lane < top_lane) digit &= mask;
    }

    const unsigned nonzero = __ballot_sync(all, digit != 0);
    const int top = nonzero != 0 ? 31 - __clz(static_cast<int>(nonzero)) : 0;
    const unsigned word = static_cast<unsigned>(digit), high = __shfl_sync(all, word, top),
                   middle = __shfl_sync(all, word, top >= 1 ? top - 1 : 31),
                   low = __shfl_sync(all, word, top >= 2 ? top - 2 : 31);
    const bool below = top >= 3 && (nonzero & ((1u << (top - 2)) - 1)) != 0;
    uint64_t significand;
    int shift;
    fastreduce_detail_round_top(high, middle, low, below, top, 24, &significand, &shift);
    return fastreduce_detail_pack_f32(
        fastreduce_detail_special(special >> FASTREDUCE_NAN_COUNT & 1,
                                  special >> FASTREDUCE_POSITIVE_INFINITY_COUNT & 1,
                                  special >> FASTREDUCE_NEGATIVE_INFINITY_COUNT & 1),
        negative, significand, shift);
}

/* Where the sum goes: rounded, or if that is null, added to an accumulator. */
struct exact_output {
    float *rounded;
    fastreduce_accumulator *total;
};

template <unsigned BlockSize>
struct exact_sum {
    using Output = exact_output;
    static constexpr unsigned limbs = 16, status_words_used = exact_totals * limbs;
    static constexpr unsigned resident_threads = separate_compilation ? 0 : 1024;
    static constexpr size_t shared_bytes = exact_bins * BlockSize * sizeof(long long);
    static constexpr bool any_block_adds = true;
    static constexpr unsigned nowhere = ~0u;

    long long value = 0; /* what the thread's window has caught, in units of 2^(position - 149) */
    unsigned position = nowhere; /* of the window; the warp's */
    long long limb = 0;          /* of the warp's accumulator: this lane's */
    long long *const bins;       /* the thread's, BlockSize apart */
    bool bins_used = false;      /* by the warp, since the last settling */
    unsigned bins_only = 0;      /* groups that the warp does not try to catch in the window */
    unsigned groups = 0;         /* since the last settling */

    __device__ __forceinline__ explicit exact_sum(void *shared)
        : bins(static_cast<long long *>(shared) + threadIdx.x)
    {
    }

    template <unsigned Count>
    __device__ __forceinline__ void add(const float4 (&group)[Count])
    {
        static_assert(Count <= exact_group_limit, "a 64-bit sum could overflow");
        if (position == nowhere) {
            const float4 first[1] = {
                group[0]}; /* a guess: another look at all of them takes longer */
            position = window_for(first);
        }
        const bool missed = exact_integer || bins_only > 0 || !add_to_window(group);
        const unsigned misses = __ballot_sync(0xffffffffu, missed);
        if (misses != 0) add_missed(group, misses);
        if (++groups == groups_between_settles) settle();
    }

    /* The window with this group's greatest float and one more binade. */
    template <unsigned Count>
    __device__ __forceinline__ unsigned window_for(const float4 (&group)[Count])
    {
        unsigned greatest = 0;
        for_each(group, [&](float x) {
            const unsigned bits = __float_as_uint(x) & 0x7fffffff;
            if (bits < 0x7f800000 && bits > greatest) greatest = bits;
        });
        const unsigned exponent = warp_max(greatest) >> 23;
        return exponent <= 20 ? 0 : exponent - 20 < top_position ? exponent - 20 : top_position;
    }

    /* Adds the whole group, or if a float of it does not fit, nothing, and says so. */
    template <unsigned Count>
    __device__ __forceinline__ bool add_to_window(const float4 (&group)[Count])
    {
        const unsigned upper = (position + 23) << 23 | 0x400000,
                       lower = (position + 1) << 23 | 0x400000;
        const float upper_anchor = __uint_as_float(upper), lower_anchor = __uint_as_float(lower);
        unsigned high = 0, low = 0, above = 0, below = 0;
        for_each(group, [&](float x) {
            const float caught = ieee_add(x, upper_anchor);
            const float rest = ieee_subtract(x, ieee_subtract(caught, upper_anchor));
            const float caught_rest = ieee_add(rest, lower_anchor);
            const float kept = ieee_subtract(caught_rest, lower_anchor);
            high += __float_as_uint(caught);
            low += __float_as_uint(caught_rest);
            above |=
                __float_as_uint(caught) ^ upper; /* another exponent: too large, or not finite */
            below |= __float_as_uint(kept) ^
                     __float_as_uint(rest); /* some of it lies below; signs of 0 differ */
        });
        if ((above & 0xff800000) | (below & 0x7fffffff)) return false;
        value += (1ll << window_bits / 2) * static_cast<int>(high - 4 * Count * upper) +
                 static_cast<int>(low - 4 * Count * lower);
        return true;
    }

    /* For a group that some threads of the warp, the bits of misses, could not add. Where they
     * are a few, their bins take it; where they are more, the window moves first, if it fits
     * better elsewhere, and if it does not, rests a while. */
    template <unsigned Count>
    __device__ __forceinline__ void add_missed(const float4 (&group)[Count], unsigned misses)
    {
        constexpr int few = 3;
        const unsigned lane_bit = 1u << threadIdx.x % warp_size;
        if (bins_only > 0) {
            --bins_only;
        } else if (!exact_integer && __popc(misses) > few) {
            const unsigned better = window_for(group);
            if (better > position || better + 8 < position) {
                settle_window();
                position = better;
                misses = __ballot_sync(0xffffffffu, (misses & lane_bit) && !add_to_window(group));
                if (misses == 0) return;
            }
            if (__popc(misses) > few) bins_only = 16;
        }
        if (!bins_used) {
            for (unsigned c = 0; c < exact_bins; ++c) bins[c * BlockSize] = 0;
            bins_used = true;
        }
        if (misses & lane_bit) {
#pragma unroll
            for (unsigned j = 0; j < Count; ++j) add_to_bins(group[j]);
        }
    }

    /* Bin c has the floats with exponents 16 c to 16 c + 15, in units of 2^(16 c - 1 - 149);
     * denormals have the scale of exponent 1. The last bin counts what is not finite. */
    __device__ __forceinline__ void add_to_bins(float4 v)
    {
        const unsigned bits[4] = {__float_as_uint(v.x), __float_as_uint(v.y), __float_as_uint(v.z),
                                  __float_as_uint(v.w)};
        bool finite = true;
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) finite = finite && (bits[j] >> 23 & 255) != 255;
        if (!finite) {
            add_special(bins, v);
            return;
        }
#pragma unroll
        for (unsigned j = 0; j < 4; ++j) {
            const unsigned exponent = bits[j] >> 23 & 255, place = exponent > 0 ? exponent : 1;
            const int sign = static_cast<int>(bits[j]) >> 31; /* 0 or -1 */
            const int significand =
                static_cast<int>((bits[j] & 0x7fffff) | (exponent > 0 ? 0x800000 : 0));
            bins[place / 16 * BlockSize] +=
                static_cast<long long>((significand ^ sign) - sign) * (1 << place % 16);
        }
    }

    /* Four floats of which one at least is not finite. Out of line, as one by one they are slow
     * and rare. */
    static __device__ __noinline__ void add_special(long long *bins, float4 v)
    {
        const float x[4] = {v.x, v.y, v.z, v.w};
#pragma unroll 1
        for (unsigned j = 0; j < 4; ++j) {
            const unsigned bits = __float_as_uint(x[j]), exponent = bits >> 23 & 255,
                           fraction = bits & 0x7fffff;
            const unsigned place = exponent > 0 ? exponent : 1;
            long long addend = static_cast<long long>(fraction | (exponent > 0 ? 0x800000 : 0))
                               << place % 16;
            if (bits >> 31) addend = -addend;
            if (exponent == 255) addend = fraction != 0 ? 1 : bits >> 31 ? 1ll << 42 : 1ll << 21;
            bins[(exponent == 255 ? exact_bins - 1 : place / 16) * BlockSize] += addend;
        }
    }

    /* From the threads' sums to the warp's accumulator. */
    __device__ __forceinline__ void settle_window()
    {
        limb += digit_of_sum(value, position);
        value = 0;
    }

    __device__ __forceinline__ void settle()
    {
        groups = 0;
        settle_window();
        if (bins_used) limb += digit_of_bins(bins);
        bins_used = false;
    }

    /* What the lane adds to its limb for the bins. Out of line, as it is long and most warps
     * never need it. */
    static __device__ __noinline__ long long digit_of_bins(const long long *bins)
    {
        long long digit = digit_of_sum(bins[0] / 2, 0); /* exact: nothing has exponent 0 here */
        for (unsigned c = 1; c + 1 < exact_bins; ++c) {
            const long long sum = bins[c * BlockSize];
            if (__any_sync(0xffffffffu, sum != 0)) digit += digit_of_sum(sum, 16 * c - 1);
        }
        const long long counts = bins[(exact_bins - 1) * BlockSize];
        const unsigned lane = threadIdx.x % warp_size, mask = 0x1fffff,
                       nans = warp_add(static_cast<unsigned>(counts) & mask),
                       positive = warp_add(static_cast<unsigned>(counts >> 21) & mask),
                       negative = warp_add(static_cast<unsigned>(counts >> 42));
        if (lane == FASTREDUCE_NAN_COUNT) digit += nans;
        if (lane == FASTREDUCE_POSITIVE_INFINITY_COUNT) digit += positive;
        if (lane == FASTREDUCE_NEGATIVE_INFINITY_COUNT) digit += negative;
        return digit;
    }

    /* Every block but the last adds its limbs to one of the totals, and with each limb 1 to the
     * count in the word's top 12 bits; the last waits until all counts say all blocks, and
     * leaves zeros. So it needs no fence and no ticket, and looks at a few words, where status
     * words as AUTO's would be 16 a block (1 us longer at 2^20; one H200). */
    __device__ __forceinline__ void finish(published *totals, const exact_output &output)
    {
        constexpr unsigned warps = BlockSize / warp_size,
                           at_once = exact_totals * limbs / warp_size;
        __shared__ long long sums[warps][limbs];
        const unsigned others = gridDim.x - 1, lane = threadIdx.x % warp_size, k = lane % limbs;

        settle();
        if (lane < limbs) sums[threadIdx.x / warp_size][k] = limb;
        __syncthreads();
        if (threadIdx.x >= warp_size) return;
        long long sum = 0;
#pragma unroll
        for (unsigned row = 0; row < warps; row += 2)
            if (row + lane / limbs < warps) sum += sums[row + lane / limbs][k];
        sum += shuffle_down(sum, limbs); /* lane k has limb k */
        if (blockIdx.x != others) {
            const unsigned long long addend =
                exact_one_block + static_cast<unsigned long long>(carried(sum));
            if (lane < limbs) atomicAdd(totals + blockIdx.x % exact_totals * limbs + k, addend);
            return;
        }
        if (others > 0) {
            unsigned long long total;
            bool missing;
            do {
                total = 0;
#pragma unroll
                for (unsigned j = 0; j < at_once; ++j) total += peek(totals + lane + j * warp_size);
                total += shuffle_down(total, limbs);
                /* to the nearest, as a negative sum borrows from the count */
                missing = lane < limbs && (total + exact_one_block / 2) / exact_one_block != others;
            } while (__any_sync(0xffffffffu, missing));
#pragma unroll
            for (unsigned j = 0; j < at_once; ++j) totals[lane + j * warp_size] = 0;
            sum += static_cast<long long>(total - others * exact_one_block);
        }
        if (lane >= limbs) sum = 0;
        const bool rounds = output.rounded != nullptr;
        if (!rounds) sum += saturated(carried(output.total->limb[k]));
        sum = carry_across_lanes(sum);
        if (rounds) {
            const float rounded = read_across_lanes(sum);
            if (lane == 0) *output.rounded = rounded;
        } else if (lane < limbs) {
            output.total->limb[k] = saturated(sum);
        }
    }

  private:
    /* One step of carries, limb to limb, so that there is room for a sum of several, and beside
     * it for a count. The limb with the sign and those that count floats stay as they are. */
    static __device__ __forceinline__ long long carried(long long limb)
    {
        const unsigned lane = threadIdx.x % warp_size;
        const long long carry = lane < FASTREDUCE_DIGITS - 1 ? limb >> 32 : 0;
        const int incoming = __shfl_up_sync(0xffffffffu, static_cast<int>(carry), 1);
        return limb - carry * (1ll << 32) + (lane > 0 ? incoming : 0);
    }

    /* Counts stay below 2^32, as by fastreduce_detail_settle. */
    static __device__ __forceinline__ long long saturated(long long limb)
    {
        const unsigned lane = threadIdx.x % warp_size;
        const bool counts =
            lane >= FASTREDUCE_NAN_COUNT && lane <= FASTREDUCE_NEGATIVE_INFINITY_COUNT;
        return counts && limb > FASTREDUCE_MOST_COUNTED ? FASTREDUCE_MOST_COUNTED : limb;
    }

    template <unsigned Count, class Use>
    static __device__ __forceinline__ void for_each(const float4 (&group)[Count], Use use)
    {
#pragma unroll
        for (unsigned j = 0; j < Count; ++j) {
            use(group[j].x);
            use(group[j].y);
            use(group[j].z);
            use(group[j].w);
        }
    }
};

} // namespace detail

/* ================================================================================================
 * Room 8: dispatcher
 * May hold: planning, as pure functions that run without a GPU; then what launches by the plan.
 * ================================================================================================ */
#ifndef __CUDACC_RTC__

/* Blocks, and so partials, of the level that reduces n elements. No elements still take a block:
 * it writes the identity. */
constexpr size_t blocks_for(size_t n, size_t tile)
{
    return n == 0 ? 1 : (n - 1) / tile + 1;
}

/* Items per thread of a version where none are asked for. A template, as files may differ in the
 * macro. */
template <unsigned Items = FASTREDUCE_ITEMS_PER_THREAD>
constexpr unsigned default_items(fastreduce_kernel version)
{
    return version >= FASTREDUCE_V0 && version <= FASTREDUCE_V2   ? 1
           : version >= FASTREDUCE_V3 && version <= FASTREDUCE_V5 ? 2
                                                                  : Items;
}

/* Scratch memory of a call: a caller's, or with data == nullptr, memory from the stream's pool. */
struct workspace {
    void *data;
    size_t bytes;
};

namespace detail
{

constexpr size_t max_blocks =
    0x7fffffff; /* of one launch, in x: compute capability 3.0 and later */
constexpr size_t workspace_alignment = 16;
constexpr size_t pool_alignment = 256; /* of cudaMallocAsync's memory, at least */

/* What a workspace with partials of this type has to be aligned to. */
template <class Value>
constexpr size_t alignment_for()
{
    static_assert(alignof(Value) <= pool_alignment,
                  "element types are aligned to 256 bytes at the most");
    return alignof(Value) > workspace_alignment ? alignof(Value) : workspace_alignment;
}

/* A sum of n elements: its levels, and where their partials go. Even levels write to the first
 * half of the workspace and odd ones to the second, so no level reads what it writes; the last
 * level writes to the output. */
constexpr unsigned max_levels = 13; /* of SIZE_MAX elements in tiles of 32 */

struct plan {
    unsigned levels;
    size_t blocks[max_levels]; /* of each level: as many partials */
    size_t second_half;        /* offset in bytes */
    size_t workspace_bytes;    /* of both halves; 0 for one level */
};

inline plan make_plan(size_t n, size_t tile, size_t partial_size,
                      size_t alignment = workspace_alignment)
{
    plan made = {1, {blocks_for(n, tile)}, 0, 0};
    for (; made.blocks[made.levels - 1] > 1; ++made.levels)
        made.blocks[made.levels] = blocks_for(made.blocks[made.levels - 1], tile);

    const size_t mask = alignment - 1;
    if (made.levels > 1) made.second_half = (made.blocks[0] * partial_size + mask) & ~mask;
    made.workspace_bytes = made.second_half;
    if (made.levels > 2) made.workspace_bytes += (made.blocks[1] * partial_size + mask) & ~mask;
    return made;
}

constexpr bool valid_block_size(unsigned block_size)
{
    return block_size >= warp_size && block_size <= max_block_size &&
           (block_size & (block_size - 1)) == 0;
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

template <class Input, class Value>
fastreduce_status check_arguments(const Input *input, const Value *output, size_t n,
                                  workspace scratch)
{
    if (n > SIZE_MAX / sizeof(Input) || (input == nullptr && n != 0) || output == nullptr)
        return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    if (!aligned(input, alignof(Input)) || !aligned(output, alignof(Value)) ||
        !aligned(scratch.data, alignment_for<Value>()))
        return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    const size_t input_bytes = n * sizeof(Input), scratch_bytes = scratch.data ? scratch.bytes : 0;
    if (input_bytes > UINTPTR_MAX - reinterpret_cast<uintptr_t>(input) ||
        scratch_bytes > UINTPTR_MAX - reinterpret_cast<uintptr_t>(scratch.data))
        return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    if (overlap(input, input_bytes, output, sizeof(Value)) ||
        overlap(input, input_bytes, scratch.data, scratch_bytes) ||
        overlap(output, sizeof(Value), scratch.data, scratch_bytes))
        return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    return FASTREDUCE_SUCCESS;
}

/* The runtime's answers that mean "nothing to run on" get one name. */
inline fastreduce_status status_of(cudaError_t error)
{
    return error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ||
                   error == cudaErrorStubLibrary
               ? FASTREDUCE_ERROR_NO_DEVICE
               : static_cast<fastreduce_status>(error);
}

template <class Input, class Value>
using round_kernel = void (*)(const Input *, Value *, size_t);

/* The kernel of each version. Tag dispatch, so that only what is asked for is compiled. */
template <fastreduce_kernel Version>
using version_tag = std::integral_constant<fastreduce_kernel, Version>;

template <class Operator, unsigned BlockSize, unsigned Items, tail Tail, class Value, class Input>
struct kernels {
    using kernel = round_kernel<Input, Value>;
    static kernel of(version_tag<FASTREDUCE_V0>) { return v0_baseline<Operator, Value, Input>; }
    static kernel of(version_tag<FASTREDUCE_V1>)
    {
        return v1_no_divergence<Operator, Value, Input>;
    }
    static kernel of(version_tag<FASTREDUCE_V2>)
    {
        return v2_no_bank_conflict<Operator, Value, Input>;
    }
    static kernel of(version_tag<FASTREDUCE_V3>)
    {
        return v3_add_during_load<Operator, Items, Value, Input>;
    }
    static kernel of(version_tag<FASTREDUCE_V4>)
    {
        return v4_unroll_last_warp<Operator, Items, Tail, Value, Input>;
    }
    static kernel of(version_tag<FASTREDUCE_V5>)
    {
        return v5_completely_unroll<Operator, BlockSize, Items, Value, Input>;
    }
    static kernel of(version_tag<FASTREDUCE_V6>)
    {
        return v6_multi_add<Operator, BlockSize, Items, Value, Input>;
    }
    static kernel of(version_tag<FASTREDUCE_V7>)
    {
        return v7_shuffle<Operator, BlockSize, Items, Value, Input>;
    }
    static kernel of(version_tag<FASTREDUCE_AUTO>) { return of(version_tag<FASTREDUCE_V7>()); }
};

/* Everything the dispatcher has to know of a version: its kernel for the first level, which
 * reads elements, and for those after it, which read partials; and its shape. */
template <class Input, class Value>
struct rung {
    round_kernel<Input, Value> first;
    round_kernel<Value, Value> next;
    unsigned block_size;
    size_t tile;
    size_t shared_bytes; /* dynamic */
};

template <fastreduce_kernel Version, unsigned BlockSize, unsigned Items, class Operator, tail Tail,
          class Input>
rung<Input, accumulate_t<Operator, Input>> make_rung()
{
    using Value = accumulate_t<Operator, Input>;
    constexpr bool dynamic = Version >= FASTREDUCE_V0 && Version <= FASTREDUCE_V4;
    return {kernels<Operator, BlockSize, Items, Tail, Value, Input>::of(version_tag<Version>()),
            kernels<Operator, BlockSize, Items, Tail, Value, Value>::of(version_tag<Version>()),
            BlockSize, static_cast<size_t>(BlockSize) * Items,
            dynamic ? BlockSize * sizeof(Value) : 0};
}

/* What the runtime takes for a kernel. Up to CUDA 12.5 its overload for function pointers
 * matches none; the CPU machine of test/simt has to see the kernel's type. */
template <class Kernel>
auto kernel_address(Kernel *kernel)
{
#ifdef SIMT_MACHINE
    return kernel;
#else
    return reinterpret_cast<const void *>(kernel);
#endif
}

/* One level: n elements to blocks_for(n, tile) partials. */
template <class Input, class Value, class Shape>
cudaError_t launch_round(round_kernel<Input, Value> kernel, const Shape &shape, const Input *input,
                         Value *partials, size_t n, cudaStream_t stream)
{
    void *arguments[] = {&input, &partials, &n};
    return cudaLaunchKernel(kernel_address(kernel),
                            dim3(static_cast<unsigned>(blocks_for(n, shape.tile))),
                            dim3(shape.block_size), arguments, shape.shared_bytes, stream);
}

/* All levels. Arguments are checked. */
template <class Input, class Value>
fastreduce_status launch_levels(const rung<Input, Value> &shape, const Input *input, Value *output,
                                size_t n, workspace scratch, cudaStream_t stream)
{
    const plan made = make_plan(n, shape.tile, sizeof(Value), alignment_for<Value>());
    const size_t bytes = made.workspace_bytes;
    const bool pooled = scratch.data == nullptr && bytes > 0;
    if (made.blocks[0] > max_blocks) return FASTREDUCE_ERROR_UNSUPPORTED;
    if (scratch.data != nullptr && scratch.bytes < bytes)
        return FASTREDUCE_ERROR_WORKSPACE_TOO_SMALL;
    cudaError_t error = pooled ? cudaMallocAsync(&scratch.data, bytes, stream) : cudaSuccess;
    if (error != cudaSuccess) return status_of(error);

    unsigned char *const memory = static_cast<unsigned char *>(scratch.data);
    Value *const half[2] = {reinterpret_cast<Value *>(memory),
                            reinterpret_cast<Value *>(memory + made.second_half)};
    for (unsigned level = 0; level < made.levels && error == cudaSuccess; ++level) {
        Value *const partials = level + 1 < made.levels ? half[level % 2] : output;
        if (level == 0)
            error = launch_round(shape.first, shape, input, partials, n, stream);
        else
            error = launch_round<Value, Value>(shape.next, shape, half[(level - 1) % 2], partials,
                                               made.blocks[level - 1], stream);
    }

    /* A caller's workspace is left as zero as it came, a pool's goes back: after an error too. */
    cudaError_t after = cudaSuccess;
    if (bytes > 0)
        after = pooled ? cudaFreeAsync(scratch.data, stream)
                       : cudaMemsetAsync(scratch.data, 0, bytes, stream);
    return status_of(error != cudaSuccess ? error : after);
}

/* ---- AUTO and EXACT: which kernel, and how it is launched. Templates without need of one, `template <class = void>`, so
 * that only who calls them compiles their kernels. ---- */

/* What the choice depends on besides n. */
struct gpu_facts {
    unsigned multiprocessors;
    unsigned shared_bytes; /* that a block may have */
    bool hopper;           /* the ring's kernel is compiled for compute capability 9.0 or later */
    int device = 0;
};

constexpr unsigned shared_reserve =
    6 * 1024; /* what ring kernels may have beside the ring and a Sum's */

constexpr bool ring_fits(const gpu_facts &gpu, size_t ring_bytes, size_t sum_bytes)
{
    return gpu.hopper && ring_bytes + sum_bytes + shared_reserve <= gpu.shared_bytes;
}

template <class Output>
using tuned_kernel = void (*)(const float *, Output, size_t, published *);

/* What a kernel is compiled for, by device: asked for once each and remembered. Two threads that
 * ask at once store the same. Caches begin with = {}: compilers would guard them otherwise. */
constexpr int remembered_devices = 64;
constexpr unsigned char unknown_code = 0, older_code = 1, hopper_code = 2;
using compiled_cache = std::atomic<unsigned char>[remembered_devices];

template <class Output>
struct tuned_launch {
    tuned_kernel<Output> kernel;
    unsigned block_size;
    size_t shared_bytes; /* dynamic */
    compiled_cache *known;
};

template <class Sum, unsigned BlockSize, unsigned Vectors>
tuned_launch<typename Sum::Output> tile_launch()
{
    static compiled_cache known = {};
    return {sum_tile<Sum, BlockSize, Vectors>, BlockSize, Sum::shared_bytes, &known};
}
template <class Sum, unsigned BlockSize, unsigned Vectors>
tuned_launch<typename Sum::Output> dealt_launch(size_t shared_bytes = Sum::shared_bytes)
{
    static compiled_cache known = {};
    return {sum_dealt<Sum, BlockSize, Vectors>, BlockSize, shared_bytes, &known};
}
template <class Sum, unsigned BlockSize, unsigned TileVectors, unsigned Stages>
tuned_launch<typename Sum::Output> ring_launch()
{
    static compiled_cache known = {};
    return {sum_ring<Sum, BlockSize, TileVectors, Stages>, BlockSize,
            Stages * TileVectors * sizeof(float4) + Sum::shared_bytes, &known};
}

/* A choice of kernel and grid. */
template <class Kernel>
struct tuned_plan {
    Kernel kernel;
    unsigned blocks;
};

enum class auto_kernel : unsigned char { tile_256x4, tile_512x8, dealt_512x2, ring_256 };
using auto_plan = tuned_plan<auto_kernel>;

constexpr unsigned auto_max_blocks = 4096;
constexpr unsigned auto_ring_stages = 3, auto_ring_vectors = 4096; /* 64 KiB a stage */

inline unsigned at_most(size_t blocks, unsigned limit)
{
    return blocks < limit ? static_cast<unsigned>(blocks) : limit;
}

/* The table, by n: from where on another kernel is faster (one H200, CUDA 13.0, inputs out of
 * L2, microseconds).
 *     up to 2^12  one block of 256 x 4: 1.00 at 2^12
 *     up to 2^14  one block of 512 x 8: 1.26 at 2^14, where four of 256 x 4 take 1.49
 *     up to 2^19  256 x 4: 1.86 at 2^18, against 1.90 for 512 x 8
 *     up to 2^26  512 x 8: 8.9 at 2^23, against 10.8 for 256 x 4; 59.3 at 2^26, against 59.6 for the ring
 *     beyond      the ring, one block a multiprocessor: 116.8 at 2^27, against 117.5 for 512 x 8 */
inline auto_plan plan_auto(size_t n, const gpu_facts &gpu)
{
    const auto tiles = [n](size_t vectors) {
        return static_cast<unsigned>(blocks_for(n / 4, vectors));
    };
    if (n <= size_t(1) << 12) return {auto_kernel::tile_256x4, 1};
    if (n <= size_t(1) << 14) return {auto_kernel::tile_512x8, 1};
    if (n <= size_t(1) << 19) return {auto_kernel::tile_256x4, tiles(256 * 4)};
    if (n <= size_t(1) << 26) return {auto_kernel::tile_512x8, tiles(512 * 8)};
    if (ring_fits(gpu, auto_ring_stages * auto_ring_vectors * sizeof(float4), 0))
        return {auto_kernel::ring_256, at_most(gpu.multiprocessors, auto_max_blocks)};
    return {auto_kernel::dealt_512x2, at_most(4 * gpu.multiprocessors, auto_max_blocks)};
}

template <class = void>
tuned_launch<float *> launch_of(auto_kernel kernel)
{
    switch (kernel) {
    case auto_kernel::tile_256x4: return tile_launch<float_sum<256>, 256, 4>();
    case auto_kernel::tile_512x8: return tile_launch<float_sum<512, 4>, 512, 8>();
    case auto_kernel::dealt_512x2: return dealt_launch<float_sum<512>, 512, 2>();
    default: return ring_launch<float_sum<256>, 256, auto_ring_vectors, auto_ring_stages>();
    }
}

/* The same for every GPU: a slot for each block but the last. */
inline size_t auto_workspace_bytes(size_t n)
{
    return n <= size_t(1) << 14 ? 0 : auto_max_blocks * sizeof(published);
}

enum class exact_kernel : unsigned char { dealt_256x2, dealt_512x4, ring_512 };
using exact_plan = tuned_plan<exact_kernel>;

constexpr unsigned exact_max_blocks = 1024; /* a word of the totals counts to 4095 */
constexpr unsigned exact_ring_stages = 4, exact_ring_vectors = 2048; /* 32 KiB a stage */

/* Shared memory of a dealt kernel: more than the bins take, so that as many blocks as the plan
 * counts on fit a multiprocessor and no more. The next grid's, launched early, would share out
 * unevenly among the places left. */
constexpr size_t exact_bytes_256 = 44 * 1024, exact_bytes_512 = 76 * 1024;

/* EXACT's table, measured as AUTO's.
 *     up to 2^21  256 x 2, four blocks a multiprocessor: 3.8 at 2^20, against 4.2 for 512 x 4
 *     up to 2^26  512 x 4, two blocks a multiprocessor: 10.5 at 2^23, against 10.8 for 256 x 2 and 12.2 for the ring;
 *                 61.6 at 2^26, against 61.9 for the ring
 *     beyond      the ring, one block a multiprocessor: 232.6 at 2^28, against 236.1 for 512 x 4
 * Where a block cannot have enough shared memory for 512 x 4 (compute capability 7.5), 256 x 2
 * at every size. */
inline exact_plan plan_exact(size_t n, const gpu_facts &gpu)
{
    const bool wide = gpu.shared_bytes >= exact_bytes_512 + shared_reserve;
    if (n <= size_t(1) << 21 || !wide)
        return {exact_kernel::dealt_256x2,
                at_most(blocks_for(n / 4, 256 * 2),
                        at_most(4 * gpu.multiprocessors, exact_max_blocks))};
    if (n > size_t(1) << 26 &&
        ring_fits(gpu, exact_ring_stages * exact_ring_vectors * sizeof(float4),
                  exact_sum<512>::shared_bytes))
        return {exact_kernel::ring_512, at_most(gpu.multiprocessors, exact_max_blocks)};
    return {exact_kernel::dealt_512x4, at_most(blocks_for(n / 4, 512 * 4),
                                               at_most(2 * gpu.multiprocessors, exact_max_blocks))};
}

template <class = void>
tuned_launch<exact_output> launch_of(exact_kernel kernel)
{
    switch (kernel) {
    case exact_kernel::dealt_256x2: return dealt_launch<exact_sum<256>, 256, 2>(exact_bytes_256);
    case exact_kernel::dealt_512x4: return dealt_launch<exact_sum<512>, 512, 4>(exact_bytes_512);
    default: return ring_launch<exact_sum<512>, 512, exact_ring_vectors, exact_ring_stages>();
    }
}

inline size_t exact_workspace_bytes(size_t n)
{
    return n <= size_t(1) << 11 ? 0 : (exact_sum<256>::status_words_used + 1) * sizeof(published);
}

/* Facts of the current device, asked for once each and remembered: a word per device, 0 for
 * unknown. */
template <class = void>
cudaError_t find_device_facts(gpu_facts *facts)
{
    static std::atomic<unsigned long long> known[remembered_devices] = {};
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error != cudaSuccess) return error;
    const bool remembered = device < remembered_devices;
    unsigned long long word = remembered ? known[device].load(std::memory_order_relaxed) : 0;
    if (word == 0) {
        int multiprocessors = 0, shared_bytes = 0;
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
        if (error == cudaSuccess)
            error = cudaDeviceGetAttribute(&shared_bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                           device);
        if (error != cudaSuccess) return error;
        word = static_cast<unsigned long long>(multiprocessors) << 32 |
               static_cast<unsigned>(shared_bytes);
        if (remembered) known[device].store(word, std::memory_order_relaxed);
    }
    *facts = {static_cast<unsigned>(word >> 32), static_cast<unsigned>(word), false, device};
    return cudaSuccess;
}

/* Whether a kernel has what compute capability 9.0 brought. That is a question of its code and
 * not of the device alone: PTX of an older architecture lacks the instructions, and another
 * kernel of the program may be compiled for another. */
template <class Output>
cudaError_t find_hopper(const tuned_launch<Output> &made, int device, bool *hopper)
{
    const bool remembered = device < remembered_devices;
    unsigned char code =
        remembered ? (*made.known)[device].load(std::memory_order_relaxed) : unknown_code;
    if (code == unknown_code) {
        cudaFuncAttributes attributes = {};
        const cudaError_t error = cudaFuncGetAttributes(&attributes, made.kernel);
        if (error != cudaSuccess) return error;
        code = attributes.ptxVersion >= 90 ? hopper_code : older_code;
        if (remembered) (*made.known)[device].store(code, std::memory_order_relaxed);
    }
    *hopper = toolkit_knows_hopper && code == hopper_code;
    return cudaSuccess;
}

/* All that a plan has to know, where this would be the kernel for large n. */
template <class Output>
cudaError_t find_gpu_facts(const tuned_launch<Output> &ring, gpu_facts *facts)
{
    const cudaError_t error = find_device_facts(facts);
    return error != cudaSuccess ? error : find_hopper(ring, facts->device, &facts->hopper);
}

/* By overlapped launch, if the kernel waits for the previous grid. */
template <class Output>
cudaError_t launch_tuned(const tuned_launch<Output> &made, unsigned blocks, int device,
                         const float *input, Output output, size_t n, published *status_words,
                         cudaStream_t stream)
{
    bool hopper = false;
    cudaError_t error = find_hopper(made, device, &hopper);
    if (error != cudaSuccess) return error;
    void *arguments[] = {&input, &output, &n, &status_words};
    constexpr size_t without_asking = 48 * 1024;
    if (made.shared_bytes > without_asking) {
        /* every time: the setting is lost with a reset of the device, and costs little beside
         * such sums */
        error = cudaFuncSetAttribute(made.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(made.shared_bytes));
        if (error != cudaSuccess) return error;
    }
#if defined(CUDART_VERSION) && CUDART_VERSION >= 12000
    if (hopper) {
        cudaLaunchAttribute attribute = {};
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
        cudaLaunchConfig_t config = {};
        config.gridDim = dim3(blocks);
        config.blockDim = dim3(made.block_size);
        config.dynamicSmemBytes = made.shared_bytes;
        config.stream = stream;
        config.attrs = &attribute;
        config.numAttrs = 1;
        return cudaLaunchKernelExC(&config, kernel_address(made.kernel), arguments);
    }
#else
    (void)hopper;
#endif
    return cudaLaunchKernel(kernel_address(made.kernel), dim3(blocks), dim3(made.block_size),
                            arguments, made.shared_bytes, stream);
}

/* One launch, as `plan` says. Arguments are checked. Memory from the pool is not zero: there it
 * takes a clearing first. */
template <class Output, class Plan>
fastreduce_status launch_planned(const Plan &plan, const tuned_launch<Output> &ring, size_t bytes,
                                 const float *input, Output output, size_t n, workspace scratch,
                                 cudaStream_t stream)
{
    const bool pooled = scratch.data == nullptr && bytes > 0;
    if (scratch.data != nullptr && scratch.bytes < bytes)
        return FASTREDUCE_ERROR_WORKSPACE_TOO_SMALL;
    gpu_facts gpu = {};
    cudaError_t error = find_gpu_facts(ring, &gpu);
    if (error == cudaSuccess && pooled) error = cudaMallocAsync(&scratch.data, bytes, stream);
    if (error != cudaSuccess) return status_of(error);

    const auto made = plan(n, gpu);
    if (pooled) error = cudaMemsetAsync(scratch.data, 0, bytes, stream);
    if (error == cudaSuccess)
        error = launch_tuned(launch_of(made.kernel), made.blocks, gpu.device, input, output, n,
                             static_cast<published *>(scratch.data), stream);
    const cudaError_t after = pooled ? cudaFreeAsync(scratch.data, stream) : cudaSuccess;
    return status_of(error != cudaSuccess ? error : after);
}

template <class = void>
fastreduce_status launch_auto(const float *input, float *output, size_t n, workspace scratch,
                              cudaStream_t stream)
{
    return launch_planned(plan_auto, launch_of(auto_kernel::ring_256), auto_workspace_bytes(n),
                          input, output, n, scratch, stream);
}

template <class = void>
fastreduce_status launch_exact(const float *input, exact_output output, size_t n, workspace scratch,
                               cudaStream_t stream)
{
    return launch_planned(plan_exact, launch_of(exact_kernel::ring_512), exact_workspace_bytes(n),
                          input, output, n, scratch, stream);
}

/* The road that reduce() takes: the ladder's levels, or one launch of a tuned kernel. */
enum class road { levels, automatic, exact };

/* Bytes of workspace for n elements, 0 where there are too many; what follows n counts on the
 * road of levels. */
inline size_t workspace_bytes_of(road taken, size_t n, size_t tile, size_t partial_size,
                                 size_t alignment = workspace_alignment)
{
    switch (taken) {
    case road::automatic: return auto_workspace_bytes(n);
    case road::exact: return exact_workspace_bytes(n);
    default: break;
    }
    const plan made = make_plan(n, tile, partial_size, alignment);
    return made.blocks[0] > max_blocks ? 0 : made.workspace_bytes;
}

template <fastreduce_kernel Version, class Operator, class Input>
constexpr road road_of()
{
    constexpr bool float_sums =
        std::is_same<Operator, plus>::value && std::is_same<Input, float>::value;
    static_assert(Version != FASTREDUCE_EXACT || float_sums, "the exact sum is of floats");
    return Version == FASTREDUCE_EXACT                ? road::exact
           : Version == FASTREDUCE_AUTO && float_sums ? road::automatic
                                                      : road::levels;
}
template <road Road>
using road_tag = std::integral_constant<road, Road>;

template <fastreduce_kernel Version, unsigned BlockSize, unsigned Items, class Operator, tail Tail>
fastreduce_status launch_reduce(road_tag<road::automatic>, const float *input, float *output,
                                size_t n, workspace scratch, cudaStream_t stream)
{
    return launch_auto(input, output, n, scratch, stream);
}

template <fastreduce_kernel Version, unsigned BlockSize, unsigned Items, class Operator, tail Tail>
fastreduce_status launch_reduce(road_tag<road::exact>, const float *input, float *output, size_t n,
                                workspace scratch, cudaStream_t stream)
{
    return launch_exact(input, {output, nullptr}, n, scratch, stream);
}

template <fastreduce_kernel Version, unsigned BlockSize, unsigned Items, class Operator, tail Tail,
          class Input>
fastreduce_status launch_reduce(road_tag<road::levels>, const Input *input,
                                accumulate_t<Operator, Input> *output, size_t n, workspace scratch,
                                cudaStream_t stream)
{
    return launch_levels(make_rung<Version, BlockSize, Items, Operator, Tail, Input>(), input,
                         output, n, scratch, stream);
}

template <class Operator, class Value, class = void>
struct has_combine : std::false_type {
};
template <class Operator, class Value>
struct has_combine<Operator, Value,
                   decltype(static_cast<void>(std::declval<const Operator &>()(
                       std::declval<Value>(), std::declval<Value>())))> : std::true_type {
};

template <class Operator, class Value, class = void>
struct has_identity : std::false_type {
};
template <class Operator, class Value>
struct has_identity<Operator, Value,
                    decltype(static_cast<void>(Operator::template identity<Value>()))>
    : std::true_type {
};

/* A name of our own, for the CPU machine of test/simt, whose elements log how they are copied. */
template <class Value>
struct moves_as_bytes : std::is_trivially_copyable<Value> {
};

/* What the templates refuse, in words. */
template <class Operator, class Input>
constexpr bool check_types()
{
    using Value = accumulate_t<Operator, Input>;
    static_assert(
        moves_as_bytes<Input>::value && moves_as_bytes<Value>::value,
        "elements have to be trivially copyable: they are moved as bytes, from lane to lane");
    static_assert(
        has_combine<Operator, Value>::value,
        "the operator needs: T operator()(T, T) const for the elements, for host and device");
    static_assert(
        has_identity<Operator, Value>::value,
        "the operator needs: template <class T> static T identity(), for host and device");
    return true;
}

template <fastreduce_kernel Version, unsigned BlockSize, unsigned Items, tail Tail>
constexpr bool check_choice()
{
    static_assert(Version >= FASTREDUCE_AUTO && Version <= FASTREDUCE_EXACT,
                  "there is no such kernel");
    static_assert(valid_block_size(BlockSize),
                  "the block size must be 32, 64, 128, 256, 512 or 1024");
    static_assert(Items >= 1 && Items <= 64, "items per thread must be from 1 to 64");
    static_assert(default_items(Version) != 1 || Items == 1,
                  "V0, V1 and V2 have one item per thread");
    static_assert(Tail == tail::warp || Version == FASTREDUCE_V4, "only V4 has a choice of tails");
    return true;
}

template <fastreduce_kernel Version, unsigned BlockSize, unsigned Items>
constexpr bool check_automatic()
{
    constexpr bool chooses = Version == FASTREDUCE_AUTO || Version == FASTREDUCE_EXACT;
    static_assert(!chooses ||
                      (BlockSize == FASTREDUCE_BLOCK_SIZE && Items == default_items(Version)),
                  "AUTO and EXACT choose block size and items per thread themselves: leave them at "
                  "their defaults");
    return true;
}

} // namespace detail

/* Reduces input[0] .. input[n - 1] to *output with Operator; n == 0 gives the identity. As
 * fastreduce_sum_f32 in every respect (memory, asynchrony, capture, determinism, errors), for
 * any element type and operator. The type of the output is accumulate_t<Operator, Input>: 64-bit
 * for sums of integers. */
template <fastreduce_kernel Version = FASTREDUCE_AUTO, unsigned BlockSize = FASTREDUCE_BLOCK_SIZE,
          unsigned Items = default_items(Version), class Operator = plus, tail Tail = tail::warp,
          class Input>
fastreduce_status reduce(const Input *input, accumulate_t<Operator, Input> *output, size_t n,
                         cudaStream_t stream = nullptr, workspace scratch = {nullptr, 0})
{
    static_assert(detail::check_types<Operator, Input>() &&
                      detail::check_choice<Version, BlockSize, Items, Tail>() &&
                      detail::check_automatic<Version, BlockSize, Items>(),
                  "");
    const fastreduce_status status = detail::check_arguments(input, output, n, scratch);
    if (status != FASTREDUCE_SUCCESS) return status;
    return detail::launch_reduce<Version, BlockSize, Items, Operator, Tail>(
        detail::road_tag<detail::road_of<Version, Operator, Input>()>(), input, output, n, scratch,
        stream);
}

/* Bytes of workspace that reduce() with the same template arguments, less Tail, needs for n
 * elements; 0 where it needs none, and where it would refuse n. Aligned to 16 bytes, or more
 * where the result's type is. */
template <fastreduce_kernel Version = FASTREDUCE_AUTO, unsigned BlockSize = FASTREDUCE_BLOCK_SIZE,
          unsigned Items = default_items(Version), class Operator = plus, class Input = float>
size_t workspace_bytes(size_t n)
{
    using Value = accumulate_t<Operator, Input>;
    static_assert(detail::check_choice<Version, BlockSize, Items, tail::warp>() &&
                      detail::check_automatic<Version, BlockSize, Items>(),
                  "");
    if (n > SIZE_MAX / sizeof(Input)) return 0;
    return detail::workspace_bytes_of(detail::road_of<Version, Operator, Input>(), n,
                                      static_cast<size_t>(BlockSize) * Items, sizeof(Value),
                                      detail::alignment_for<Value>());
}

/* Adds input[0] .. input[n - 1] to *accumulator, exactly: as fastreduce_accumulate_f32. */
template <class = void>
fastreduce_status accumulate_exactly(const float *input, fastreduce_accumulator *accumulator,
                                     size_t n, cudaStream_t stream = nullptr,
                                     workspace scratch = {nullptr, 0})
{
    const fastreduce_status status = detail::check_arguments(input, accumulator, n, scratch);
    return status != FASTREDUCE_SUCCESS
               ? status
               : detail::launch_exact(input, {nullptr, accumulator}, n, scratch, stream);
}

/* One level of the dispatcher: block b of the grid reduces elements [b * tile, (b + 1) * tile)
 * to partials[b], with tile = BlockSize * Items. AUTO is V7 here. `partials` has room for
 * blocks_for(n, tile) values and does not overlap the input. Otherwise as reduce(). */
template <fastreduce_kernel Version = FASTREDUCE_AUTO, unsigned BlockSize = FASTREDUCE_BLOCK_SIZE,
          unsigned Items = default_items(Version), class Operator = plus, tail Tail = tail::warp,
          class Input>
/* in brackets, as `round` may be a macro */
fastreduce_status(round)(const Input *input, accumulate_t<Operator, Input> *partials, size_t n,
                         cudaStream_t stream = nullptr)
{
    using Value = accumulate_t<Operator, Input>;
    static_assert(Version != FASTREDUCE_EXACT, "EXACT has no levels");
    static_assert(detail::check_types<Operator, Input>() &&
                      detail::check_choice<Version, BlockSize, Items, Tail>(),
                  "");
    const detail::rung<Input, Value> shape =
        detail::make_rung<Version, BlockSize, Items, Operator, Tail, Input>();
    const size_t blocks = blocks_for(n, shape.tile);
    fastreduce_status status = detail::check_arguments(input, partials, n, {nullptr, 0});
    if (status == FASTREDUCE_SUCCESS &&
        detail::overlap(input, n * sizeof(Input), partials, blocks * sizeof(Value)))
        status = FASTREDUCE_ERROR_INVALID_ARGUMENT;
    if (status == FASTREDUCE_SUCCESS && blocks > detail::max_blocks)
        status = FASTREDUCE_ERROR_UNSUPPORTED;
    if (status != FASTREDUCE_SUCCESS) return status;
    return detail::status_of(detail::launch_round(shape.first, shape, input, partials, n, stream));
}

#endif /* __CUDACC_RTC__ */
} // namespace FASTREDUCE_DETAIL_ABI
} // namespace fastreduce
#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#endif /* FASTREDUCE_CUH */

/* ================================================================================================
 * Room 9: the C functions May hold: fastreduce.h's functions, which check their arguments and
 * pick the instantiation, nothing else.
 * ================================================================================================ */

#if defined(FASTREDUCE_IMPLEMENTATION) && !defined(FASTREDUCE_IMPLEMENTED)
#define FASTREDUCE_IMPLEMENTED

#ifndef FASTREDUCE_HOST_IMPLEMENTATION
#define FASTREDUCE_HOST_IMPLEMENTATION
#endif
#include "fastreduce.h"

#ifdef __GNUC__
#pragma GCC visibility push(hidden)
#endif
namespace fastreduce
{
inline namespace FASTREDUCE_DETAIL_ABI
{
namespace detail
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
    road taken;
    rung<float, float>
        shape; /* of the ladder, where status is FASTREDUCE_SUCCESS and the road is levels */
};

inline choice choose(const fastreduce_config &config)
{
    const unsigned block_size = config.block_size == 0 ? FASTREDUCE_BLOCK_SIZE : config.block_size;
    if (!valid_block_size(block_size)) return {FASTREDUCE_ERROR_INVALID_ARGUMENT, road::levels, {}};
    switch (config.kernel) {
    case FASTREDUCE_AUTO: return {FASTREDUCE_SUCCESS, road::automatic, {}};
#ifndef FASTREDUCE_NO_EXACT
    case FASTREDUCE_EXACT: return {FASTREDUCE_SUCCESS, road::exact, {}};
#else
    case FASTREDUCE_EXACT: return {FASTREDUCE_ERROR_UNSUPPORTED, road::exact, {}};
#endif
#ifndef FASTREDUCE_NO_LADDER
    case FASTREDUCE_V0:
        return {FASTREDUCE_SUCCESS, road::levels, with_block_size<FASTREDUCE_V0>(block_size)};
    case FASTREDUCE_V1:
        return {FASTREDUCE_SUCCESS, road::levels, with_block_size<FASTREDUCE_V1>(block_size)};
    case FASTREDUCE_V2:
        return {FASTREDUCE_SUCCESS, road::levels, with_block_size<FASTREDUCE_V2>(block_size)};
    case FASTREDUCE_V3:
        return {FASTREDUCE_SUCCESS, road::levels, with_block_size<FASTREDUCE_V3>(block_size)};
    case FASTREDUCE_V4:
        return {FASTREDUCE_SUCCESS, road::levels, with_block_size<FASTREDUCE_V4>(block_size)};
    case FASTREDUCE_V5:
        return {FASTREDUCE_SUCCESS, road::levels, with_block_size<FASTREDUCE_V5>(block_size)};
    case FASTREDUCE_V6:
        return {FASTREDUCE_SUCCESS, road::levels, with_block_size<FASTREDUCE_V6>(block_size)};
    case FASTREDUCE_V7:
        return {FASTREDUCE_SUCCESS, road::levels, with_block_size<FASTREDUCE_V7>(block_size)};
#else
    case FASTREDUCE_V0:
    case FASTREDUCE_V1:
    case FASTREDUCE_V2:
    case FASTREDUCE_V3:
    case FASTREDUCE_V4:
    case FASTREDUCE_V5:
    case FASTREDUCE_V6:
    case FASTREDUCE_V7: return {FASTREDUCE_ERROR_UNSUPPORTED, road::levels, {}};
#endif
    default: break;
    }
    return {FASTREDUCE_ERROR_INVALID_ARGUMENT, road::levels, {}};
}

inline fastreduce_config config_or_default(const fastreduce_config *config)
{
    return config ? *config : fastreduce_config();
}

} // namespace
} // namespace detail
} // namespace FASTREDUCE_DETAIL_ABI
} // namespace fastreduce
#ifdef __GNUC__
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
extern "C" {
#endif

FASTREDUCE_API fastreduce_status fastreduce_sum_f32(const float *input, float *output, size_t n,
                                                    const fastreduce_config *config)
{
    const fastreduce_config settings = fastreduce::detail::config_or_default(config);
    const fastreduce::workspace scratch = {settings.workspace, settings.workspace_bytes};
    const fastreduce::detail::choice choice = fastreduce::detail::choose(settings);
    const fastreduce_status status = fastreduce::detail::check_arguments(input, output, n, scratch);
    if (status != FASTREDUCE_SUCCESS) return status; /* invalid comes before unsupported */
    if (choice.status != FASTREDUCE_SUCCESS) return choice.status;
    switch (choice.taken) {
    case fastreduce::detail::road::automatic:
        return fastreduce::detail::launch_auto(input, output, n, scratch, settings.stream);
#ifndef FASTREDUCE_NO_EXACT
    case fastreduce::detail::road::exact:
        return fastreduce::detail::launch_exact(input, {output, nullptr}, n, scratch,
                                                settings.stream);
#endif
    default:
        return fastreduce::detail::launch_levels(choice.shape, input, output, n, scratch,
                                                 settings.stream);
    }
}

FASTREDUCE_API size_t fastreduce_workspace_bytes(size_t n, const fastreduce_config *config)
{
    const fastreduce::detail::choice choice =
        fastreduce::detail::choose(fastreduce::detail::config_or_default(config));
    if (choice.status != FASTREDUCE_SUCCESS || n > SIZE_MAX / sizeof(float)) return 0;
    return fastreduce::detail::workspace_bytes_of(choice.taken, n, choice.shape.tile,
                                                  sizeof(float));
}

FASTREDUCE_API fastreduce_status fastreduce_workspace_init(void *workspace, size_t workspace_bytes,
                                                           fastreduce_stream stream)
{
    if (workspace_bytes == 0) return FASTREDUCE_SUCCESS;
    if (workspace == nullptr ||
        !fastreduce::detail::aligned(workspace, fastreduce::detail::workspace_alignment))
        return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    return fastreduce::detail::status_of(cudaMemsetAsync(workspace, 0, workspace_bytes, stream));
}

FASTREDUCE_API fastreduce_status fastreduce_accumulate_f32(const float *input,
                                                           fastreduce_accumulator *accumulator,
                                                           size_t n,
                                                           const fastreduce_config *config)
{
    const fastreduce_config settings = fastreduce::detail::config_or_default(config);
    const fastreduce::workspace scratch = {settings.workspace, settings.workspace_bytes};
#ifndef FASTREDUCE_NO_EXACT
    return fastreduce::accumulate_exactly(input, accumulator, n, settings.stream, scratch);
#else
    const fastreduce_status status =
        fastreduce::detail::check_arguments(input, accumulator, n, scratch);
    return status != FASTREDUCE_SUCCESS ? status : FASTREDUCE_ERROR_UNSUPPORTED;
#endif
}

#ifdef __cplusplus
}
#endif
#endif /* FASTREDUCE_IMPLEMENTATION */

/* ================================================================================================
 * Room 1: manual
 * ================================================================================================
 *
 * FastReduce: parallel reduction for CUDA in two files. This one holds everything that runs on
 * or for the GPU.
 *
 * SPDX-License-Identifier: MIT (the text is at the end)
 *
 * Vendoring. Copy fastreduce.h and fastreduce.cuh into your project; one .cu file says
 *
 *     #define FASTREDUCE_IMPLEMENTATION
 *     #include "fastreduce.cuh"
 *
 * and holds the C functions that fastreduce.h declares. CUDA C++ files may also include this
 * one, without that macro, for the templates: the building blocks (room 4; exact ones, room 7)
 * inside kernels of its own, and
 *
 *     fastreduce::reduce(input, output, n, stream);               // float, int, structs ...
 *     fastreduce::reduce<fastreduce::maximum>(input, output, n, stream);
 *     fastreduce::reduce_to_pair<fastreduce::argmax>(input, pair, n);    // index and element
 *     fastreduce::reduce<FASTREDUCE_V7, 512, 16, fastreduce::maximum>(input, output, n);
 *     fastreduce::transform_reduce(input, output, n, transform, combine, identity, stream);
 *     fastreduce::dot(x, y, output, n, stream);                   // the sum of x[k] * y[k]
 *     fastreduce::round<FASTREDUCE_V2, 128>(input, partials, n);  // one level only
 *     fastreduce::status_string(status);                          // what each of these returns
 *
 * NVRTC, which compiles at run time, needs no headers but the two files, and sees rooms 1 to 7.
 *
 * Macros, defined before the first include of this file:
 *
 *   FASTREDUCE_IMPLEMENTATION     defines the C functions. Scope: one .cu file of the program.
 *   FASTREDUCE_BLOCK_SIZE         threads a block of V0..V7 where none is asked for: 32, 64, ...
 *                                 1024. Default 256. Scope: the file; others may differ.
 *   FASTREDUCE_ITEMS_PER_THREAD   elements a thread adds before the block's tree in V6 and V7: 1 to
 *                                 64. Default 8. Scope: the file; others may differ.
 *   FASTREDUCE_NO_LADDER          the C functions leave out V0..V7, for a shorter build: they
 *                                 answer FASTREDUCE_ERROR_UNSUPPORTED. Scope: the implementing
 *                                 file.
 *   FASTREDUCE_NO_EXACT           the same for EXACT, of one result or many, and
 *                                 fastreduce_accumulate and its like. Scope: the implementing file.
 *   FASTREDUCE_WITH_EXACT_PRODUCTS   EXACT has SUM_SQUARES, NORM2, VARIANCE and dot products, too,
 *                                 which answer UNSUPPORTED otherwise, as they take long to compile.
 *                                 Scope: the implementing file.
 *   FASTREDUCE_WITH_SHAPES        the C functions hold fastreduce_reduce_axis, fastreduce_dot_axis,
 *                                 fastreduce_reduce_segments, fastreduce_fold: else UNSUPPORTED.
 *                                 Of all types and operators they take minutes to compile, so name
 *                                 those you need too, as below. Scope: the implementing file.
 *   FASTREDUCE_WITH_SKIP_NAN      the C functions take FASTREDUCE_SKIP_NAN, which is UNSUPPORTED
 *                                 otherwise: it has kernels of its own for floats. Scope: the
 *                                 implementing file.
 *   FASTREDUCE_WITH_BY_INDEX      the C functions hold fastreduce_reduce_by_index, which answers
 *                                 UNSUPPORTED otherwise. Scope: the implementing file.
 *   FASTREDUCE_TYPES,             the element types and the operators that the C functions hold, by
 *   FASTREDUCE_OPERATORS          name, with + or commas between them, for a shorter build:
 *                                     nvcc -DFASTREDUCE_TYPES=FASTREDUCE_F32+FASTREDUCE_F16
 *                                 (on its command line nvcc splits at a comma). What is left out
 *                                 answers FASTREDUCE_ERROR_UNSUPPORTED. Dot products and all of
 *                                 fastreduce_accumulate but _f32 go with FASTREDUCE_SUM, V0..V7
 *                                 with that of FASTREDUCE_F32. Default: all. Scope: the
 *                                 implementing file.
 *   FASTREDUCE_NO_OVERLAP         grids begin when the previous one has ended, as on GPUs before
 *                                 compute capability 9.0. By default a captured call may have a
 *                                 programmatic edge to the kernel before it: functions like
 *                                 cudaGraphGetEdges return cudaErrorLossyQuery unless edge data is
 *                                 asked for, too. Scope: the file; others may differ.
 *   FASTREDUCE_TAG                letters and digits, to tell files of one program apart that are
 *                                 compiled differently in what no macro says: -use_fast_math,
 *                                 -ftz=true, -fmad=false; sm_90 beside sm_90a; machine code beside
 *                                 PTX; and any architectures, with nvcc before 11.5 and with Clang
 *                                 before it had __CUDA_ARCH_LIST__ (14 has not, 22 has). Scope: the
 *                                 file. Default: nothing.
 *   FASTREDUCE_STATIC, FASTREDUCE_API, FASTREDUCE_SUFFIX   see fastreduce.h.
 *
 * Flags: -use_fast_math, -ftz=true and -fmad change no result of AUTO and EXACT, nor of V0..V7:
 * denormals count, and each operation rounds by itself, to nearest. Operators and functions of your
 * own are compiled as your flags say.
 *
 * Names: namespace fastreduce holds what users call, fastreduce::detail the rest. Both lie in an
 * inline namespace that names version, switches, architectures and tag (room 2), so that copies
 * that differ can be in one program. All of it is hidden (GCC, Clang): a shared library does not
 * export functions of its own that have our types in their signatures.
 *
 * Rooms: 1 manual, 2 configuration and portability, 3 elements and operators, 4 building blocks,
 * 5 the ladder V0..V7, 6 the engine, 7 EXACT, 8 dispatcher, 9 the C functions. A new operator goes
 * into room 3, a new element type into room 3 and its declaration into room 2; for the C functions
 * both also into fastreduce.h: enumeration, list, and macros before them.
 * Needs CUDA 11.2 and C++17: with GCC before 11 or Clang before 16, whose default nvcc takes,
 * compile with -std=c++17.
 *
 * Words: a *block* of threads reduces one *tile* of the input to one *partial*. In the ladder a
 * tile is block size times *items* per thread elements, and a *level* (one launch, a *round*)
 * turns n elements into as many partials as it has blocks; levels follow until one partial is
 * left. The engine loads *packs* of 16 bytes. A pack, or a few neighboring ones, is a *leaf* of the
 * tree over the index; what a leaf and its parents become is a *Value*. A block reduces a *run* of
 * tiles, and a *group* of runs is what one block awaits.
 *
 * Map: where a call goes, by names to search for. One-line helpers and room 2 are left out.
 *
 * fastreduce_sum_f32, by AUTO
 *   arguments   fastreduce_reduce, settings_for, reduce_array, check_arrays  (room 9)
 *   kernels     find_kernels, find_auto, kernels_of: by type and operator    (rooms 9, 8)
 *   launch      launch, with_workspace, launch_kernel                        (room 8)
 *     plan      plan_array, plan_tiles: which tiles, and how many blocks
 *   kernel      reduce_pairwise, reduce_run: a block reduces its run         (room 6)
 *     load      load_values, lane_packs::load
 *     reduce    item_values, and the Reducer's values_of, reduce_pack        (room 3)
 *     combine   lanes_value of a warp, block_value, carry over tiles, group_value of blocks
 *     store     store_results, by the Reducer's store, apply_step
 *
 * fastreduce_reduce_axis, of ARGMAX over columns of bytes
 *   arguments   describe_shape, check_arrays, reduce_results
 *   plan        launch, plan_results, plan_columns
 *   kernel      reduce_columns: a block reduces neighboring columns
 *     load      warp_columns, leaf_values: rows as vectors, turned into packs by take_column
 *     reduce    leaf_value, thread_value, and the Reducer's value_of_packs: index_reducer
 *     combine   pairs of lanes, carry_in_registers; fold_parts of warps, columns_of_blocks
 *     store     store_results; and where there is config->second_output, store_second
 * Rows are planned by plan_rows: plan_chunks for reduce_short_rows (load_row_values, pair_lanes),
 * plan_long_rows for reduce_pairwise. Results of a few elements each go to reduce_by_threads, by
 * plan_by_threads. For fastreduce_dot_axis they load from two arrays (result_layout::counterpart).
 * fastreduce_fold goes to reduce_buffers, by plan_buffers.
 *
 * fastreduce_reduce_segments
 *   plan        launch, plan_results, plan_segments
 *   kernel      reduce_segments, reduce_neighbours: a warp reduces neighboring segments
 *     short     choose_neighbours, load_stage, reduce_staged: several at once, in shared memory
 *     longer    reduce_by_warp
 *     long      reduce_by_block: reduce_run by the block, after its warps' own segments
 *     longest   result_queue::append, await; reduce_queued: reduce_run by many blocks
 *
 * fastreduce_sum_f32, by EXACT
 *   plan        find_exact, plan_array                                       (rooms 9, 8)
 *   kernel      reduce_exact; superaccumulator::add_items, add_group         (room 7)
 *     window    window_sum::add_float by add_to_window; what it misses: add_missed, add_to_bins
 *     combine   flush to the warp's limbs, limb_of_block, sum_of_blocks
 *     store     carry_across_lanes, round_across_lanes: rounded once
 * EXACT of many results takes the engine's kernels with exact_reducer, a Reducer of pairs of
 * doubles; then resolve_exact_results for what no pair holds.
 *
 * fastreduce_reduce_by_index
 *   plan        find_index_set, plan_by_index, launch_by_index               (rooms 9, 8)
 *   kernels     add_by_index, by index_tile, index_thread, and value_of      (room 7)
 *               float_planes or key_planes; carry_bins; finish_bins
 *
 * fastreduce::reduce<FASTREDUCE_V2, 128>
 *   checks      reduce, check_reduction                                      (room 8)
 *   launch      plan_ladder, launch_ladder, launch_levels                    (rooms 8, 5)
 *   kernel      v2_no_bank_conflict                                          (room 5)
 */
#ifndef FASTREDUCE_CUH
#define FASTREDUCE_CUH

#if defined(_MSVC_LANG) ? _MSVC_LANG < 201703L : __cplusplus < 201703L
#error "fastreduce.cuh needs C++17 or later: compile with -std=c++17"
#endif

#ifndef __CUDACC_RTC__
#include <cuda_runtime.h>
#include <atomic>
#include <cmath>
#include <limits>
#include <type_traits>
#include <utility>
#endif
#include "fastreduce.h"

/* ================================================================================================
 * Room 2: configuration and portability
 * Offers: shuffles of any type, prefetches, loads, words with flags that blocks exchange, and
 * arithmetic that no compiler flag changes. May hold: macros and their checks; whatever knows
 * compilers and architectures, as named device functions.
 * ============================================================================================= */

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

/* -rdc=true: functions out of line get registers without regard to the kernels that call them, and
 * exceed the bounds of these. */
#ifdef __CUDACC_RDC__
#define FASTREDUCE_DETAIL_SEPARATE 1
#else
#define FASTREDUCE_DETAIL_SEPARATE 0
#endif

/* --default-stream per-thread: it decides which stream a null one is, and which functions of the
 * runtime are called. */
#ifdef __CUDART_API_PER_THREAD_DEFAULT_STREAM
#define FASTREDUCE_DETAIL_STREAM 1
#else
#define FASTREDUCE_DETAIL_STREAM 0
#endif

/* Instructions of compute capability 9.0 need CUDA 12: the assembler of 11.8 does not know all of
 * them. */
#if defined(FASTREDUCE_NO_OVERLAP) ||                               \
    (defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ < 12) || \
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
 * version_0_8_0__12_0_0_750800. Files that agree in all of that share their templates; no others
 * do. What no macro tells is up to FASTREDUCE_TAG (room 1). */
#ifdef __CUDA_ARCH_LIST__
#define FASTREDUCE_DETAIL_ARCHS __CUDA_ARCH_LIST__
#else
#define FASTREDUCE_DETAIL_ARCHS
#endif
/* clang-format off */
#define FASTREDUCE_DETAIL_PASTE(major, minor, patch, tag, toolkit, separate, stream, \
                                a, b, c, d, e, f, g, h, i, j, k, l, \
                                m, n, o, p, q, r, s, t, u, v, w, x, ...) \
    version_##major##_##minor##_##patch##_##tag##_##toolkit##_##separate##_##stream##_\
##a##b##c##d##e##f##g##h##i##j##k##l##m##n##o##p##q##r##s##t##u##v##w##x
#define FASTREDUCE_DETAIL_NAME(list) FASTREDUCE_DETAIL_PASTE list
#define FASTREDUCE_DETAIL_ABI \
    FASTREDUCE_DETAIL_NAME((FASTREDUCE_VERSION_MAJOR, FASTREDUCE_VERSION_MINOR, \
                            FASTREDUCE_VERSION_PATCH, FASTREDUCE_TAG, FASTREDUCE_DETAIL_TOOLKIT, \
                            FASTREDUCE_DETAIL_SEPARATE, FASTREDUCE_DETAIL_STREAM, \
                            FASTREDUCE_DETAIL_ARCHS, \
                            , , , , , , , , , , , , , , , , , , , , , , , , ))
/* clang-format on */

/* Stands before a function of the GPU. */
#define FASTREDUCE_DEVICE __device__ __forceinline__

/* CUDA's 16-bit types, whose headers are the user's to include. */
struct __half;
struct __nv_bfloat16;

/* nvcc 11.2 misses the returns of `if constexpr`, and says so at the end of the file, where it
 * instantiates templates: so this cannot be taken back. */
#if defined(__CUDACC_VER_MAJOR__) && __CUDACC_VER_MAJOR__ == 11 && __CUDACC_VER_MINOR__ < 5
#pragma diag_suppress 940
#endif

/* All of the namespace stays inside the shared library that compiled it. Two libraries that
 * vendor different copies would otherwise run one's templates and inline functions in both. */
#ifdef __GNUC__
#pragma GCC visibility push(hidden)
#endif

namespace fastreduce
{
inline namespace FASTREDUCE_DETAIL_ABI
{

/* Threads of a warp. Loops over the built-in warpSize, which is no constant, stay rolled. */
constexpr unsigned warp_size = 32;

namespace detail
{

constexpr unsigned warp_log = 5, all_lanes = 0xffffffff; /* of a warp, as a mask */
constexpr bool toolkit_knows_hopper = FASTREDUCE_DETAIL_TOOLKIT >= 12;
constexpr unsigned first_hopper = 90; /* with overlapped launches */
constexpr bool separate_compilation = FASTREDUCE_DETAIL_SEPARATE;
/* Returns the second argument of __launch_bounds__. It is 0 with -rdc=true, as functions out of
 * line ignore it. */
__host__ __device__ constexpr unsigned resident(unsigned wanted)
{
    return separate_compilation ? 0 : wanted;
}
constexpr unsigned max_block_size = 1024;
__host__ __device__ constexpr bool valid_block_size(unsigned block_size)
{
    return block_size >= warp_size && block_size <= max_block_size &&
           (block_size & (block_size - 1)) == 0;
}

template <class Value, class Other>
constexpr bool are_same = false;
template <class Value>
constexpr bool are_same<Value, Value> = true;
/* Says whether a type is in a list. */
template <class Value, class... List>
struct one_of {
    static constexpr bool value = (are_same<Value, List> || ...);
};
#ifndef __CUDACC_RTC__
namespace standard
{
using namespace ::std;
}
#else
/* NVRTC has no headers. The rooms below use this much of <type_traits>, for built-in types. */
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

template <class Value>
using is_signed =
    one_of<Value, char, wchar_t, signed char, short, int, long, long long, float, double>;
template <class Value>
using is_integral =
    one_of<Value, bool, char, wchar_t, char16_t, char32_t, signed char, short, int, long, long long,
           unsigned char, unsigned short, unsigned, unsigned long, unsigned long long>;
} // namespace standard
#endif
using standard::conditional_t;

/* The block's dynamic shared memory is an array of bytes, as arrays of several types cannot share a
 * name. */
extern __shared__ __align__(128) unsigned char dynamic_shared_bytes[];

template <class Value>
FASTREDUCE_DEVICE Value *dynamic_shared()
{
    return reinterpret_cast<Value *>(dynamic_shared_bytes);
}

/* A value as 32-bit words, which are moved one by one. */
template <class Value>
struct word_array {
    static constexpr unsigned length = (sizeof(Value) + sizeof(unsigned) - 1) / sizeof(unsigned);
    unsigned word[length] = {};

    FASTREDUCE_DEVICE explicit word_array(const Value &value)
    {
        memcpy(word, static_cast<const void *>(&value), sizeof value);
    }
    FASTREDUCE_DEVICE Value value() const
    {
        Value joined;
        memcpy(static_cast<void *>(&joined), word, sizeof joined);
        return joined;
    }
};
/* Replaces each word of a value by function(word, its number). */
template <class Value, class Function>
FASTREDUCE_DEVICE Value map_words(const Value &value, const Function &function)
{
    word_array<Value> copy(value);
#pragma unroll
    for (unsigned k = 0; k < word_array<Value>::length; ++k)
        copy.word[k] = function(copy.word[k], k);
    return copy.value();
}

/* Returns the value of the lane `delta` above, or the lane's own where there is no such lane.
 * Shuffles take any type, and all 32 lanes call them. */
template <class Value>
FASTREDUCE_DEVICE Value shuffle_down(Value value, unsigned delta)
{
    return map_words(
        value, [=](unsigned word, unsigned) { return __shfl_down_sync(all_lanes, word, delta); });
}
/* Returns the value of the lane whose number differs in the bits of `flip`. */
template <class Value>
FASTREDUCE_DEVICE Value shuffle_xor(Value value, unsigned flip)
{
    return map_words(value, [=](unsigned word, unsigned) {
        return __shfl_xor_sync(all_lanes, word, static_cast<int>(flip));
    });
}
/* Returns the value of lane number `lane`. */
template <class Value>
FASTREDUCE_DEVICE Value shuffle(Value value, unsigned lane)
{
    return map_words(value, [=](unsigned word, unsigned) {
        return __shfl_sync(all_lanes, word, static_cast<int>(lane));
    });
}

/* Returns first ? a : b, word by word: to choose an address, compilers would put both in local
 * memory. */
template <class Value>
FASTREDUCE_DEVICE Value select_value(bool first, const Value &a, const Value &b)
{
    const word_array<Value> other(b);
    return map_words(a, [&](unsigned word, unsigned k) { return first ? word : other.word[k]; });
}

/* Overlapped launches (programmatic dependent launch, compute capability 9.0): a grid launched
 * that way takes its place on the GPU while the previous one still runs, and waits before its
 * first access. Only then it allows the next grid: what begins after ours begins after all that
 * came before ours, as behind any other kernel. (To allow it at once is 4 to 5 % faster up to
 * 2^12, and 2 to 8 % slower from 2^14 to 2^20; one H200, a graph of calls.) */
FASTREDUCE_DEVICE void allow_next_grid()
{
#ifdef FASTREDUCE_DETAIL_HOPPER
    asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

FASTREDUCE_DEVICE void wait_for_previous_grid()
{
#ifdef FASTREDUCE_DETAIL_HOPPER
    asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
}

/* Prefetches whole vectors of 16 bytes into L2, from the one that `from` is in, and does not wait
 * for them. It may stand before wait_for_previous_grid: what that grid writes goes to L2 too, and
 * nothing is read yet. */
FASTREDUCE_DEVICE void prefetch_to_l2([[maybe_unused]] const void *from,
                                      [[maybe_unused]] size_t bytes)
{
#ifdef FASTREDUCE_DETAIL_HOPPER
    const uintptr_t vectors = reinterpret_cast<uintptr_t>(from) & ~uintptr_t(15);
    const unsigned whole = static_cast<unsigned>(bytes) & ~15u;
    if (whole > 0)
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(vectors), "r"(whole)
                     : "memory");
#endif
}

/* Prefetches the cache lines of `count` elements, which lie `stride` elements from each other. */
template <class Element>
FASTREDUCE_DEVICE void prefetch_to_l2([[maybe_unused]] const Element *from,
                                      [[maybe_unused]] size_t stride, [[maybe_unused]] size_t count)
{
#ifdef FASTREDUCE_DETAIL_HOPPER
    const size_t distance = stride * sizeof(Element), step = distance < 128 ? 128 / distance : 1;
#pragma unroll 1
    for (size_t k = 0; k < count; k += step)
        asm volatile("prefetch.global.L2 [%0];" ::"l"(from + k * stride) : "memory");
#endif
}

/* Loads what is read once, and so may leave the cache first. This is __ldcs, which older headers of
 * Clang do not have. */
FASTREDUCE_DEVICE float4 load_streaming(const float4 *from)
{
#ifdef __CUDA_ARCH__
    float4 loaded;
    asm volatile("ld.global.cs.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(loaded.x), "=f"(loaded.y), "=f"(loaded.z), "=f"(loaded.w)
                 : "l"(from));
    return loaded;
#else
    return *from;
#endif
}

/* Stores a vector in one access. Compilers split 16 bytes whose alignment they lose track of. */
template <class Vector>
FASTREDUCE_DEVICE void store_vector(void *to, const Vector &x)
{
#ifdef __CUDA_ARCH__
    if constexpr (are_same<Vector, float4>)
        asm volatile("st.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(x.x), "f"(x.y),
                     "f"(x.z), "f"(x.w)
                     : "memory");
    else
#endif
        *static_cast<Vector *>(to) = x;
}

/* Copies 16 aligned bytes from global to shared memory. This thread may read them after
 * wait_for_copies. It takes no registers where the GPU can copy by itself. */
FASTREDUCE_DEVICE void copy_vector(void *to, const void *from)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(
                     static_cast<unsigned>(__cvta_generic_to_shared(to))),
                 "l"(from)
                 : "memory");
#else
    *static_cast<float4 *>(to) = *static_cast<const float4 *>(from);
#endif
}
FASTREDUCE_DEVICE void wait_for_copies()
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/* Returns a word with the lowest `count` bits set, or all 32 if there are no more. */
FASTREDUCE_DEVICE unsigned low_bits(unsigned count) { return __funnelshift_lc(~0u, 0, count); }

/* How blocks hand partials over, in one of two ways.
 *
 * Words with flags (publish, peek): one word has 63 bits of a value and a flag. It is stored and
 * loaded as a whole, so that whoever sees the flag sees the value, without a fence. Zero is "not
 * published".
 *
 *     | value: bits 63 to 1 | flag: bit 0 |
 *
 * A ticket (warp_comes_last), for what is not in such words: a warp fences what it wrote, and one
 * thread adds to the ticket. If its warp is the last one it fences again, before the others learn
 * of it: what was written before any addition to the ticket is seen then. */
using status_word = unsigned long long;

FASTREDUCE_DEVICE void publish(status_word *slot, unsigned long long value)
{
    const status_word word = value << 1 | 1;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(slot), "l"(word) : "memory");
#else
    *static_cast<volatile status_word *>(slot) = word;
#endif
}

FASTREDUCE_DEVICE status_word peek(const status_word *slot)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
    status_word word;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(word) : "l"(slot) : "memory");
    return word;
#else
    const status_word word = *static_cast<const volatile status_word *>(slot);
#ifndef __CUDA_ARCH__
    __nanosleep(20); /* meanwhile the CPU machine of test/simt runs other threads */
#endif
    return word;
#endif
}

/* Adds the warp's share to the ticket. Returns true for the last warp, which makes it `total`. */
FASTREDUCE_DEVICE bool warp_comes_last(status_word *ticket, status_word share, status_word total)
{
    __threadfence();
    __syncwarp();
    unsigned last = 0;
    if (threadIdx.x % warp_size == 0) {
        last = atomicAdd(ticket, share) + share == total;
        if (last) __threadfence();
    }
    last = __shfl_sync(all_lanes, last, 0);
    __syncwarp();
    return last;
}

/* Arithmetic of IEEE 754, whatever -ftz=true or -use_fast_math say: rounded to nearest, with
 * denormals, and each operation by itself. Operators of the language, intrinsics such as __fmul_rn
 * and conversions flush denormals of floats under these flags, so floats have PTX; and compilers
 * fuse a product and a sum where they like, so results would depend on where. Other types: as they
 * add and multiply themselves. */
/* clang-format off */
#ifdef __CUDA_ARCH__
#define FASTREDUCE_DETAIL_IEEE(name, symbol, of_floats, of_doubles)                              \
    template <class Value> __host__ FASTREDUCE_DEVICE Value name(Value a, Value b)               \
    {                                                                                            \
        if constexpr (one_of<Value, float>::value)                                               \
            asm(of_floats ".rn.f32 %0, %1, %2;" : "=f"(a) : "f"(a), "f"(b));                     \
        else if constexpr (one_of<Value, double>::value)                                         \
            a = of_doubles(a, b);                                                                \
        else                                                                                     \
            a = a symbol b;                                                                      \
        return a;                                                                                \
    }
#else
#define FASTREDUCE_DETAIL_IEEE(name, symbol, of_floats, of_doubles)                              \
    template <class Value> __host__ FASTREDUCE_DEVICE Value name(Value a, Value b)               \
    {                                                                                            \
        return a symbol b;                                                                       \
    }
#endif
FASTREDUCE_DETAIL_IEEE(ieee_add, +, "add", __dadd_rn)
FASTREDUCE_DETAIL_IEEE(ieee_subtract, -, "sub", __dsub_rn)
FASTREDUCE_DETAIL_IEEE(ieee_multiply, *, "mul", __dmul_rn)
#undef FASTREDUCE_DETAIL_IEEE
/* clang-format on */

FASTREDUCE_DEVICE float ieee_magnitude(float x)
{
#ifdef __CUDA_ARCH__
    float magnitude;
    asm("abs.f32 %0, %1;" : "=f"(magnitude) : "f"(x));
    return magnitude;
#else
    return fabsf(x);
#endif
}

/* Converts x as static_cast does. */
template <class To, class From>
__host__ FASTREDUCE_DEVICE To ieee_cast(const From &x)
{
    To converted = static_cast<To>(x);
#ifdef __CUDA_ARCH__
    if constexpr (one_of<To, double>::value && one_of<From, float>::value)
        asm("cvt.f64.f32 %0, %1;" : "=d"(converted) : "f"(x));
    else if constexpr (one_of<To, float>::value && one_of<From, double>::value)
        asm("cvt.rn.f32.f64 %0, %1;" : "=f"(converted) : "d"(x));
#endif
    return converted;
}

/* Return the sum of the 32 lanes' values modulo 2^32, or the greatest or least, to every lane. */
FASTREDUCE_DEVICE unsigned warp_add(unsigned value)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_add_sync(all_lanes, value);
#else
    for (unsigned flip = warp_size / 2; flip > 0; flip /= 2)
        value += __shfl_xor_sync(all_lanes, value, static_cast<int>(flip));
    return value;
#endif
}

FASTREDUCE_DEVICE unsigned warp_max(unsigned value)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    return __reduce_max_sync(all_lanes, value);
#else
    for (unsigned flip = warp_size / 2; flip > 0; flip /= 2) {
        const unsigned other = __shfl_xor_sync(all_lanes, value, static_cast<int>(flip));
        value = value < other ? other : value;
    }
    return value;
#endif
}

FASTREDUCE_DEVICE unsigned warp_min(unsigned value) { return ~warp_max(~value); }

/* Returns a * b + c, rounded once. */
FASTREDUCE_DEVICE double fused(double a, double b, double c)
{
#ifdef __CUDA_ARCH__
    double sum; /* PTX, so that a test can tell it from what compilers fuse */
    asm("fma.rn.f64 %0, %1, %2, %3;" : "=d"(sum) : "d"(a), "d"(b), "d"(c));
    return sum;
#else
    return fma(a, b, c);
#endif
}

template <class To, class From>
__host__ FASTREDUCE_DEVICE To bits_as(From from)
{
    static_assert(sizeof(To) == sizeof(From), "the same bits");
    To to;
    memcpy(static_cast<void *>(&to), static_cast<const void *>(&from), sizeof to);
    return to;
}

/* Returns a + b rounded down or up: both are equal if the sum is exact. On the CPU the sum is
 * positive and normal. */
template <bool Up>
FASTREDUCE_DEVICE float ieee_add_rounding(float a, float b)
{
#ifdef __CUDA_ARCH__
    float sum;
    if (Up)
        asm("add.rp.f32 %0, %1, %2;" : "=f"(sum) : "f"(a), "f"(b));
    else
        asm("add.rm.f32 %0, %1, %2;" : "=f"(sum) : "f"(a), "f"(b));
    return sum;
#else
    const float sum = a + b, part = sum - a, lost = (a - (sum - part)) + (b - part);
    if (Up ? lost <= 0 : lost >= 0) return sum;
    return bits_as<float>(Up ? bits_as<unsigned>(sum) + 1 : bits_as<unsigned>(sum) - 1);
#endif
}

/* Returns the value of a 16-bit float of IEEE 754. */
FASTREDUCE_DEVICE float half_to_float(unsigned short bits)
{
#ifdef __CUDA_ARCH__
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
#else
    const unsigned magnitude = bits & 0x7fffu, sign = (bits & 0x8000u) << 16;
    if (magnitude >= 0x7c00) return bits_as<float>(sign | 0x7f800000 | magnitude << 13);
    constexpr float two_to_112 = 5192296858534827628530496329220096.0f;
    return bits_as<float>(magnitude << 13 | sign) * two_to_112;
#endif
}

/* Returns the bits of a float rounded to a 16-bit float of IEEE 754, or to a bf16. */
FASTREDUCE_DEVICE unsigned short float_to_half(float x)
{
#ifdef __CUDA_ARCH__
    unsigned short bits;
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(x));
    return bits;
#else
    return static_cast<unsigned short>(fastreduce_detail_narrowed(bits_as<unsigned>(x), 11));
#endif
}
FASTREDUCE_DEVICE unsigned short float_to_bf16(float x)
{
    const unsigned bits = bits_as<unsigned>(x), upper = bits >> 16;
    const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
    return static_cast<unsigned short>(is_nan ? upper | 0x40 : (bits + 0x7fff + upper % 2) >> 16);
}

/* Maps a float's bits, of any width, to an unsigned number in the same order. Positive NaNs come
 * last. */
template <class Unsigned>
__host__ FASTREDUCE_DEVICE Unsigned ordered_bits(Unsigned bits)
{
    constexpr Unsigned sign = Unsigned(Unsigned(1) << (8 * sizeof(Unsigned) - 1));
    return static_cast<Unsigned>(bits & sign ? ~bits : bits | sign);
}

template <class Unsigned>
__host__ FASTREDUCE_DEVICE Unsigned from_ordered_bits(Unsigned ordered)
{
    constexpr Unsigned sign = Unsigned(Unsigned(1) << (8 * sizeof(Unsigned) - 1));
    return static_cast<Unsigned>(ordered & sign ? ordered ^ sign : ~ordered);
}

/* Return the greater of two, or of each of the two halves in a word: -0 is less than +0. Where one
 * is NaN the result is a NaN, always the same. */
__host__ FASTREDUCE_DEVICE float max_or_nan(float a, float b)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    float greater;
    asm("max.NaN.f32 %0, %1, %2;" : "=f"(greater) : "f"(a), "f"(b));
    return greater;
#else
    /* not as floats: -ftz=true compares denormals as zeros */
    if (a != a || b != b) return bits_as<float>(0x7fffffffu);
    return ordered_bits(bits_as<unsigned>(a)) > ordered_bits(bits_as<unsigned>(b)) ? a : b;
#endif
}

/* Return the greater too, but NaN only if both are. */
__host__ FASTREDUCE_DEVICE float max_number(float a, float b)
{
#ifdef __CUDA_ARCH__
    float greater;
    asm("max.f32 %0, %1, %2;" : "=f"(greater) : "f"(a), "f"(b));
    return greater;
#else
    return a != a ? b : b != b ? a : max_or_nan(a, b);
#endif
}

template <bool IsBf16, bool SkipsNan>
FASTREDUCE_DEVICE unsigned max_pair(unsigned a, unsigned b)
{
    unsigned greater = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if (IsBf16 && SkipsNan)
        asm("max.bf16x2 %0, %1, %2;" : "=r"(greater) : "r"(a), "r"(b));
    else if (SkipsNan)
        asm("max.f16x2 %0, %1, %2;" : "=r"(greater) : "r"(a), "r"(b));
    else if (IsBf16)
        asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(greater) : "r"(a), "r"(b));
    else
        asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(greater) : "r"(a), "r"(b));
#else
#pragma unroll
    for (unsigned shift = 0; shift < 32; shift += 16) {
        constexpr unsigned short infinity = IsBf16 ? 0x7f80 : 0x7c00;
        const unsigned short x = static_cast<unsigned short>(a >> shift),
                             y = static_cast<unsigned short>(b >> shift);
        const bool x_nan = (x & 0x7fff) > infinity, y_nan = (y & 0x7fff) > infinity;
        unsigned larger = ordered_bits(x) > ordered_bits(y) ? x : y;
        if (SkipsNan && x_nan != y_nan)
            larger = x_nan ? y : x;
        else if (x_nan || y_nan)
            larger = 0x7fff;
        greater |= larger << shift;
    }
#endif
    return greater;
}

/* NVRTC has no code for __dp2a_lo up to 12.0. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 610 && \
    !(defined(__CUDACC_RTC__) && __CUDACC_VER_MAJOR__ * 10 + __CUDACC_VER_MINOR__ <= 120)
#define FASTREDUCE_DETAIL_DP4A
#else
template <class Part, class Sum>
FASTREDUCE_DEVICE Sum dot_parts(unsigned a, unsigned b, Sum sum)
{
#pragma unroll
    for (unsigned shift = 0; shift < 32; shift += 8 * sizeof(Part))
        sum += static_cast<Sum>(static_cast<Part>(a >> shift)) *
               static_cast<Sum>(static_cast<Part>(b >> shift));
    return sum;
}
#endif

/* Returns sum + a[0] * b[0] + ... + a[3] * b[3] of two words' bytes, signed as the sum is. */
template <class Sum>
FASTREDUCE_DEVICE Sum dot_bytes(unsigned a, unsigned b, Sum sum)
{
#ifdef FASTREDUCE_DETAIL_DP4A
    return __dp4a(static_cast<Sum>(a), static_cast<Sum>(b), sum);
#else
    constexpr bool is_signed = standard::is_signed<Sum>::value;
    return dot_parts<conditional_t<is_signed, signed char, unsigned char>>(a, b, sum);
#endif
}

/* Returns sum + a[0] + a[1] of a word's halves, signed as the sum is. */
template <class Sum>
FASTREDUCE_DEVICE Sum add_halves(unsigned a, Sum sum)
{
#ifdef FASTREDUCE_DETAIL_DP4A
    return __dp2a_lo(static_cast<Sum>(a), static_cast<Sum>(0x0101), sum);
#else
    constexpr bool is_signed = standard::is_signed<Sum>::value;
    return dot_parts<conditional_t<is_signed, short, unsigned short>>(a, 0x10001, sum);
#endif
}

/* Returns all ones for each byte, or half, of a word that is negative, and zeros for others. */
template <unsigned Bytes>
FASTREDUCE_DEVICE unsigned sign_masks(unsigned word)
{
#ifdef __CUDA_ARCH__
    unsigned masks;
    asm("prmt.b32 %0, %1, 0, %2;" : "=r"(masks) : "r"(word), "n"(Bytes == 1 ? 0xba98 : 0xbb99));
    return masks;
#else
    constexpr unsigned ones = Bytes == 1 ? 0x01010101 : 0x10001;
    return (word >> (8 * Bytes - 1) & ones) * (Bytes == 1 ? 0xff : 0xffff);
#endif
}

#undef FASTREDUCE_DETAIL_HOPPER
#undef FASTREDUCE_DETAIL_DP4A

} // namespace detail

/* ================================================================================================
 * Room 3: elements and operators
 * Offers: the operators (plus, maximum, argmin ...); accumulate_t, the type of a result;
 * make_reducer, which returns what the engine needs to know about an operator and a type. May hold:
 * operators, element types, and how each operator reduces each type. A new one is added here; a
 * type that needs a declaration has it in room 2.
 *
 * A user's operator is a type without state that has
 *     template <class Value> static Value identity();  combine(identity, x) == x, and the other way
 *     Value operator()(Value a, Value b) const;   associative, but for rounding
 * Element types are trivially copyable and trivially default constructible (they live in shared
 * memory).
 *
 * The operators of this file need more: narrow elements are reduced several at once, argmin keeps
 * an index beside the value, norm2 takes a square root at the end. A Reducer describes that:
 *     Element, Result                the types that it reads and writes
 *     Value                          a partial result: identity(), combine(a, b); zero(), the
 *                                    identity whatever the sign of a zero
 *     Partial                        a thread's result of one pack or more: reduce_pack(pack),
 *                                    merge(a, b); it may be narrower than Value
 *     value_of(partial)              the thread's Value
 *     finish(value, n)               the result, for n elements
 *     any_order                      true if the order of Values changes no bit
 *     commutes                       true if combine(a, b) is combine(b, a)
 *     padding(input)                 an element that changes nothing, to fill the last pack; a
 *                                    zero, where a Reducer has none
 *     needs_element_count            true if there is no such element: reduce_pack(pack, count)
 *                                    leaves out those from `count` on
 *     two_arrays                     true for a dot product: reduce_pack(pack, pack)
 *     reduces_packs                  true if value_of_packs reduces a thread's packs, instead of
 *                                    reduce_pack and merge
 *     by_warp                        true if warp_value combines a warp's Values at once
 *     tile_by_warp                   true if tile_warp_value does so for Values of a single tile
 *     compute_bound                  true if an element takes many instructions
 *     prepare(input, n)              looks at the array before anything else
 *     store(result, value, n)        writes what finish() returns
 *     has_second                     true if store_second(slot, value, n) writes a second result;
 *                                    second_reads_input, if it reads elements again
 *     may_narrow                     true if it has `narrows`, which rounds results to 16 bits
 * Operators that differ by a constant share a Reducer, and so its kernels; the C functions also
 * share kernels among several Reducers (reducer_variant).
 * ============================================================================================= */

namespace detail
{

/* The bits of 16-bit floats, whose headers are the user's to include. */
struct f16 {
    unsigned short bits;
};
struct bf16 {
    unsigned short bits;
};

template <unsigned Size, class One, class Two, class Four, class Eight>
using of_size =
    conditional_t<Size <= 2, conditional_t<Size == 1, One, Two>,
                  conditional_t<Size == 4, Four, conditional_t<Size == 8, Eight, void>>>;
template <unsigned Size, bool Signed>
using integer_t =
    conditional_t<Signed, of_size<Size, signed char, short, int, long long>,
                  of_size<Size, unsigned char, unsigned short, unsigned, unsigned long long>>;

template <class Type>
struct type_identity {
    using type = Type;
};

/* Describes a type of elements. Equivalent types have one `type`: long and long long, __half and
 * f16. */
template <class Input>
struct element {
    static constexpr bool is_signed = standard::is_signed<Input>::value,
                          is_f16 = one_of<Input, __half, f16>::value,
                          is_bf16 = one_of<Input, __nv_bfloat16, bf16>::value,
                          is_integer = standard::is_integral<Input>::value && sizeof(Input) <= 8,
                          is_float = is_f16 || is_bf16 || one_of<Input, float, double>::value,
                          is_number = is_integer || is_float;
    static constexpr unsigned fraction_bits = is_bf16              ? 7
                                              : sizeof(Input) <= 2 ? 10
                                              : sizeof(Input) == 4 ? 23
                                                                   : 52;
    using type = conditional_t<is_integer, integer_t<sizeof(Input), is_signed>,
                               conditional_t<is_f16, f16, conditional_t<is_bf16, bf16, Input>>>;
};
template <class Input>
using element_t = typename element<Input>::type;

/* An unsigned integer of the element's size; and one of at least 32 bits. */
template <class Element>
using unsigned_t = integer_t<sizeof(Element), false>;
template <class Element>
using bits_t = integer_t<sizeof(Element) < 4 ? 4 : sizeof(Element), false>;

/* The top bit of each element of a word. */
template <class Element>
constexpr bits_t<Element> top_bits = sizeof(Element) == 1 ? 0x80808080
                                     : sizeof(Element) == 2
                                         ? 0x80008000
                                         : bits_t<Element>(1) << (8 * sizeof(Element) - 1);

/* 16 bytes of elements, which one load brings; or one element of a size that does not divide 16. */
constexpr unsigned pack_bytes = 16;

template <class Element, bool Narrow = sizeof(Element) <= 2>
struct alignas(pack_bytes % sizeof(Element) == 0 ? pack_bytes : alignof(Element)) pack {
    static constexpr unsigned size =
        pack_bytes % sizeof(Element) == 0 ? pack_bytes / sizeof(Element) : 1;
    Element item[size];

    FASTREDUCE_DEVICE const Element &operator[](unsigned j) const { return item[j]; }
    FASTREDUCE_DEVICE void fill(const Element &x) { fill_from(0, x); }
    /* Replaces the elements from number `count` on. */
    FASTREDUCE_DEVICE void fill_from(unsigned count, const Element &x)
    {
#pragma unroll
        for (unsigned j = 0; j < size; ++j)
            if (j >= count) item[j] = x;
    }
    /* Loads the first `count` elements from any address, one by one; zeros follow narrow ones. */
    FASTREDUCE_DEVICE void gather(const Element *from, unsigned count = size)
    {
#pragma unroll
        for (unsigned j = 0; j < size; ++j)
            if (j < count) item[j] = from[j];
    }
    /* Takes one column of rows, which are vectors in words. */
    template <class Words>
    FASTREDUCE_DEVICE void take_column(const Words (&rows)[size], unsigned column)
    {
#pragma unroll
        for (unsigned j = 0; j < size; ++j)
            memcpy(static_cast<void *>(&item[j]), rows[j].word + column * sizeof(Element) / 4,
                   sizeof(Element));
    }
};
/* Keeps 8 and 16-bit elements in words: compilers would split arrays of them, and spill. */
template <class Element>
struct alignas(pack_bytes) pack<Element, true> {
    static constexpr unsigned size = pack_bytes / sizeof(Element), bits = 8 * sizeof(Element),
                              word_size = 32 / bits;
    unsigned word[4];

    FASTREDUCE_DEVICE Element operator[](unsigned j) const
    {
        return bits_as<Element>(
            static_cast<unsigned_t<Element>>(word[j / word_size] >> j * bits % 32));
    }
    FASTREDUCE_DEVICE void fill(Element x)
    {
#pragma unroll
        for (unsigned &four : word) four = number(x) * (bits == 8 ? 0x01010101u : 0x10001u);
    }
    FASTREDUCE_DEVICE void fill_from(unsigned count, Element x)
    {
        pack filled;
        filled.fill(x);
#pragma unroll
        for (unsigned w = 0; w < 4; ++w) {
            const unsigned end = count * bits, begin = w * 32,
                           kept = low_bits(end > begin ? end - begin : 0);
            word[w] = (word[w] & kept) | (filled.word[w] & ~kept);
        }
    }
    FASTREDUCE_DEVICE void gather(const Element *from, unsigned count = size)
    {
        *this = {};
#pragma unroll
        for (unsigned j = 0; j < size; ++j)
            if (j < count) word[j / word_size] |= number(from[j]) << j * bits % 32;
    }
    template <class Words>
    FASTREDUCE_DEVICE void take_column(const Words (&rows)[size], unsigned column)
    {
        constexpr unsigned mask = (1u << bits) - 1;
        *this = {};
#pragma unroll
        for (unsigned j = 0; j < size; ++j) {
            const unsigned row = rows[j].word[column / word_size];
            word[j / word_size] |= (row >> column % word_size * bits & mask) << j * bits % 32;
        }
    }

  private:
    static FASTREDUCE_DEVICE unsigned number(Element x) { return bits_as<unsigned_t<Element>>(x); }
};

/* Loads a pack, in one access where it is a vector. */
template <bool Streaming, class Element>
FASTREDUCE_DEVICE pack<Element> load_pack(const pack<Element> *from)
{
    /* of two numbers the compiler would wait for a conditional load, as it converts the words at
     * once */
    if constexpr (sizeof *from == sizeof(float4) &&
                  (Streaming || !one_of<Element, double, long long, unsigned long long>::value)) {
        const float4 *const source = reinterpret_cast<const float4 *>(from);
        return bits_as<pack<Element>>(Streaming ? load_streaming(source) : *source);
    } else {
        return *from;
    }
}

/* Returns a half as a float, and any other element as it is. */
FASTREDUCE_DEVICE float widened(f16 x) { return half_to_float(x.bits); }
FASTREDUCE_DEVICE float widened(bf16 x)
{
    return bits_as<float>(static_cast<unsigned>(x.bits) << 16);
}
template <class Value>
FASTREDUCE_DEVICE Value widened(const Value &x)
{
    return x;
}

/* Returns the bits of a float rounded to 16 bits. */
template <class Element>
FASTREDUCE_DEVICE unsigned short narrowed(float x)
{
    return element<Element>::is_f16 ? float_to_half(x) : float_to_bf16(x);
}

/* Returns the float's place in the order from -infinity to infinity, and then NaNs. */
template <class Value>
__host__ FASTREDUCE_DEVICE unsigned_t<Value> order_key(Value x)
{
    using bits = unsigned_t<Value>;
    constexpr bits one = bits(bits(1) << element<Value>::fraction_bits);
    return static_cast<bits>(ordered_bits(bits_as<bits>(x)) - (one - 1));
}
/* Returns the float with the other sign, NaN too. */
template <class Value>
__host__ FASTREDUCE_DEVICE Value negated(Value x)
{
    using bits = unsigned_t<Value>;
    return bits_as<Value>(static_cast<bits>(bits_as<bits>(x) ^ bits(1) << (8 * sizeof(Value) - 1)));
}

/* The bits of infinity; of 16-bit floats in both halves of a word. */
template <class Float>
constexpr bits_t<Float> bits_of_infinity = ((bits_t<Float>(1) << (8 * sizeof(Float) - 1)) -
                                            (bits_t<Float>(1) << element<Float>::fraction_bits)) *
                                           (sizeof(Float) == 2 ? 0x10001 : 1);

/* Return the greatest and the least value of a type: infinities, where it has any. */
template <class Value, bool IsFloat = element<Value>::is_float>
struct bounds {
#ifndef __CUDACC_RTC__
    using limits = std::numeric_limits<Value>;
    static_assert(limits::is_specialized,
                  "minimum and maximum need a type with std::numeric_limits: give another an "
                  "operator of its own");
    /* constants, as device code may use those but not call std::numeric_limits */
    static constexpr Value most = limits::has_infinity ? limits::infinity() : (limits::max)();
    static constexpr Value lowest =
        limits::has_infinity ? static_cast<Value>(-limits::infinity()) : limits::lowest();
#else
    static_assert(
        standard::is_integral<Value>::value,
        "minimum and maximum need an arithmetic type: give another an operator of its own");
    static constexpr Value lowest =
        standard::is_signed<Value>::value ? Value(1ull << (8 * sizeof(Value) - 1)) : Value(0);
    static constexpr Value most = Value(~lowest);
#endif
    static constexpr __host__ __device__ Value greatest() { return most; }
    static constexpr __host__ __device__ Value least() { return lowest; }
};
template <class Float>
struct bounds<Float, true> {
    static __host__ FASTREDUCE_DEVICE Float greatest()
    {
        return bits_as<Float>(static_cast<unsigned_t<Float>>(bits_of_infinity<Float>));
    }
    static __host__ FASTREDUCE_DEVICE Float least() { return negated(greatest()); }
};

} // namespace detail

/* ---- The operators ---- */

struct plus {
    template <class Value>
    static __host__ FASTREDUCE_DEVICE Value identity()
    {
        return Value(0);
    }
    template <class Value>
    __host__ FASTREDUCE_DEVICE Value operator()(Value a, Value b) const
    {
        return detail::ieee_add(a, b);
    }
};

struct multiplies {
    template <class Value>
    static __host__ FASTREDUCE_DEVICE Value identity()
    {
        return Value(1);
    }
    template <class Value>
    __host__ FASTREDUCE_DEVICE Value operator()(Value a, Value b) const
    {
        return detail::ieee_multiply(a, b);
    }
};

/* Minimum and maximum are NaN where an element is NaN. -0 is less than +0. */
struct maximum {
    template <class Value>
    static __host__ FASTREDUCE_DEVICE Value identity()
    {
        return detail::bounds<Value>::least();
    }
    template <class Value>
    __host__ FASTREDUCE_DEVICE Value operator()(Value a, Value b) const
    {
        if constexpr (detail::one_of<Value, float>::value)
            return detail::max_or_nan(a, b);
        else if constexpr (detail::element<Value>::is_float)
            return detail::order_key(a) < detail::order_key(b) ? b : a;
        else
            return a < b ? b : a;
    }
};

struct minimum {
    template <class Value>
    static __host__ FASTREDUCE_DEVICE Value identity()
    {
        return detail::bounds<Value>::greatest();
    }
    template <class Value>
    __host__ FASTREDUCE_DEVICE Value operator()(Value a, Value b) const
    {
        if constexpr (detail::element<Value>::is_float)
            return detail::negated(maximum()(detail::negated(a), detail::negated(b)));
        else
            return b < a ? b : a;
    }
};

namespace detail
{

/* Rows of the table of results in fastreduce.h, and last the element's own type. */
enum class result_kind { sum, sum_abs, max_abs, mean, index, count, element };

template <result_kind Kind>
struct numeric {
};
/* Returns the kind of an operator that does more than combine two elements to one. */
template <result_kind Kind>
__host__ __device__ constexpr result_kind numeric_kind(const numeric<Kind> *)
{
    return Kind;
}
__host__ __device__ constexpr result_kind numeric_kind(const void *)
{
    return result_kind::element;
}

} // namespace detail

/* These are for numbers, and for AUTO only. fastreduce.h says what they do, under FASTREDUCE_ARGMIN
 * and so on. */
struct argmin : detail::numeric<detail::result_kind::index> {
};
struct argmax : detail::numeric<detail::result_kind::index> {
};
struct sum_abs : detail::numeric<detail::result_kind::sum_abs> {
};
struct sum_squares : detail::numeric<detail::result_kind::sum_abs> {
};
struct max_abs : detail::numeric<detail::result_kind::max_abs> {
};
struct norm2 : detail::numeric<detail::result_kind::mean> {
};
struct mean : detail::numeric<detail::result_kind::mean> {
};
struct variance : detail::numeric<detail::result_kind::mean> {
};
struct count_nonzero : detail::numeric<detail::result_kind::count> {
};
struct min_max : detail::numeric<detail::result_kind::element> {
};
struct argmax_abs : detail::numeric<detail::result_kind::index> {
};

namespace detail
{

template <class Operator>
constexpr result_kind kind_of = numeric_kind(static_cast<const Operator *>(nullptr));
template <class Operator>
constexpr bool is_numeric_operator = kind_of<Operator> != result_kind::element;

/* Returns the type of a result, in a type_identity. */
template <class Operator, class Input>
__host__ __device__ constexpr auto result_type()
{
    using row = result_kind;
    constexpr row kind = one_of<Operator, plus, multiplies>::value ? row::sum : kind_of<Operator>;
    constexpr bool is_integer = element<Input>::is_integer;
    if constexpr (kind == row::index)
        return type_identity<long long>();
    else if constexpr (kind == row::count || (kind == row::sum_abs && is_integer))
        return type_identity<unsigned long long>();
    else if constexpr (kind == row::max_abs && is_integer)
        return type_identity<unsigned_t<Input>>();
    else if constexpr (kind == row::mean && is_integer)
        return type_identity<double>();
    else if constexpr (kind == row::sum && is_integer && sizeof(Input) < 8)
        return type_identity<integer_t<8, element<Input>::is_signed>>();
    else if constexpr ((kind == row::sum || kind == row::sum_abs || kind == row::mean) &&
                       element<Input>::is_float && sizeof(Input) < 8)
        return type_identity<float>();
    else
        return type_identity<Input>();
}

} // namespace detail

/* The type of the result: of numbers, what the table in fastreduce.h says; of other types, and
 * under a user's operator, the element type. */
template <class Operator, class Input>
struct accumulate {
    using type = typename decltype(detail::result_type<Operator, Input>())::type;
};
template <class Operator, class Input>
using accumulate_t = typename accumulate<Operator, Input>::type;

/* A result and its second one, as fastreduce.h lists them at fastreduce_operator. */
template <class First, class Second>
struct result_pair {
    First first;
    Second second;
};
template <class Operator, class Input>
using result_pair_t = result_pair<accumulate_t<Operator, Input>,
                                  detail::conditional_t<detail::one_of<Operator, variance>::value,
                                                        accumulate_t<mean, Input>, Input>>;

/* ---- Reducers ---- */

namespace detail
{

/* Reduces an array in place, in pairs, to its first value. */
template <unsigned Count, class Value, class Combine>
FASTREDUCE_DEVICE Value reduce_pairs(Value (&values)[Count], const Combine &combine)
{
#pragma unroll
    for (unsigned width = 1; width < Count; width *= 2)
#pragma unroll
        for (unsigned k = 0; k + width < Count; k += 2 * width)
            values[k] = combine(values[k], values[k + width]);
    return values[0];
}
/* Reduces function(0) to function(Count - 1) in pairs. */
template <unsigned Count, class Function, class Combine>
FASTREDUCE_DEVICE auto reduce_each(const Function &function, const Combine &combine)
{
    using Value = decltype(function(0u));
    Value values[Count];
#pragma unroll
    for (unsigned k = 0; k < Count; ++k) values[k] = function(k);
    return reduce_pairs(values, combine);
}
template <class Reducer, class Value, unsigned Count>
FASTREDUCE_DEVICE Value combine_all(const Reducer &reducer, Value (&values)[Count])
{
    return reduce_pairs(values, [&](Value &a, Value &b) { return reducer.combine(a, b); });
}

/* Returns the sum of map(x) for a pack's elements. */
template <class Element, class Map>
FASTREDUCE_DEVICE auto sum_over(const pack<Element> &from, const Map &map)
{
    return reduce_each<pack<Element>::size>([&](unsigned j) { return map(from[j]); }, plus());
}

/* Where a result and its second one go, or null where none is asked for; and what was reduced:
 * element k is from[k * stride]. */
struct result_slot {
    void *result, *second;
    const void *from;
    size_t stride = 1;
};

/* Splits a Value into words of 63 bits, the payload, beside which a flag fits, and joins them. */
constexpr unsigned payload_bits = 63;

template <class Value>
struct word_format {
    static constexpr unsigned parts = (sizeof(Value) + 7) / 8,
                              payloads = (8 * sizeof(Value) + payload_bits - 1) / payload_bits;

    static FASTREDUCE_DEVICE void split(const Value &value, unsigned long long (&payload)[payloads])
    {
        unsigned long long word[parts + 1] = {};
        memcpy(word, static_cast<const void *>(&value), sizeof value);
#pragma unroll
        for (unsigned k = 0; k < payloads; ++k) {
            const unsigned bit = k * payload_bits, low = bit % 64;
            payload[k] = word[bit / 64] >> low;
            if (low > 1) payload[k] |= word[bit / 64 + 1] << (64 - low);
        }
    }
    static FASTREDUCE_DEVICE Value join(const unsigned long long (&payload)[payloads])
    {
        unsigned long long word[parts + 1] = {};
#pragma unroll
        for (unsigned k = 0; k < payloads; ++k) {
            const unsigned bit = k * payload_bits, low = bit % 64;
            word[bit / 64] |= payload[k] << low;
            if (low > 1) word[bit / 64 + 1] = payload[k] >> (64 - low);
        }
        Value value;
        memcpy(static_cast<void *>(&value), word, sizeof value);
        return value;
    }
};

/* Reads a thread's packs as elements of another type of the same size. */
template <class Type, class Items>
struct items_as {
    using Element = Type;
    static constexpr unsigned packs_each = Items::packs_each, pack_size = Items::pack_size;
    const Items &items;

    FASTREDUCE_DEVICE explicit items_as(const Items &others) : items(others) {}
    FASTREDUCE_DEVICE pack<Element> operator[](unsigned k) const
    {
        return bits_as<pack<Element>>(items[k]);
    }
    FASTREDUCE_DEVICE size_t index_of(unsigned number) const { return items.index_of(number); }
};

/* Says that a reducer makes a float of 16-bit floats, which may be rounded to their type. */
template <class Reducer>
constexpr bool can_narrow =
    sizeof(typename Reducer::Element) == 2 && are_same<typename Reducer::Result, float>;

/* Supplies what most reducers share: they add Values, starting with 0, and that is all. */
template <class Reducer>
struct common_reducer {
    static constexpr bool any_order = false, commutes = true, needs_element_count = false,
                          two_arrays = false, reduces_packs = false, by_warp = false,
                          tile_by_warp = false, compute_bound = false, has_second = false,
                          second_reads_input = false, may_narrow = false;

    static FASTREDUCE_DEVICE auto identity() { return typename Reducer::Value(); }
    template <class Value>
    static FASTREDUCE_DEVICE Value combine(const Value &a, const Value &b)
    {
        return plus()(a, b);
    }
    template <class Partial>
    FASTREDUCE_DEVICE Partial merge(const Partial &a, const Partial &b) const
    {
        return self().combine(a, b);
    }
    template <class Partial>
    static FASTREDUCE_DEVICE auto value_of(const Partial &partial)
    {
        return static_cast<typename Reducer::Value>(partial);
    }
    template <class Value>
    static FASTREDUCE_DEVICE Value finish(const Value &value, size_t)
    {
        return value;
    }
    /* Stores a result, which `narrows` rounds to the elements' 16 bits. */
    template <class Value>
    FASTREDUCE_DEVICE void store(void *result, const Value &value, size_t n,
                                 bool narrows = false) const
    {
        const typename Reducer::Result finished = self().finish(value, n);
        if constexpr (can_narrow<Reducer>)
            if (narrows) {
                *static_cast<unsigned short *>(result) =
                    narrowed<typename Reducer::Element>(finished);
                return;
            }
        *static_cast<typename Reducer::Result *>(result) = finished;
    }
    FASTREDUCE_DEVICE auto zero() const { return self().identity(); }
    /* Returns the sum of a warp's Values, of a tile of 64 KiB at most. 32 bits tell negative sums
     * from large ones. Sums of signed bytes are above -2^24, and those of squares of bytes below
     * 2^32 - 2^24. Sums of signed 16 bits are above -1.6e9, and others below 2^32 - 1.6e9; dot
     * products of bytes are less than 2^29. */
    static FASTREDUCE_DEVICE unsigned long long tile_warp_value(unsigned long long value)
    {
        constexpr bool of_bytes = sizeof(typename Reducer::Element) == 1 && !Reducer::two_arrays;
        const unsigned sum = warp_add(static_cast<unsigned>(value));
        return sum - (sum >= (of_bytes ? 0xff000000 : 0xa0000000) ? 1ull << 32 : 0);
    }
    static FASTREDUCE_DEVICE auto padding(const void *) { return typename Reducer::Element(); }
    /* Writes the Value of each of a thread's packs. */
    template <class Items, unsigned Count, class Value>
    FASTREDUCE_DEVICE void values_of(const Items &items, const Items &others,
                                     Value (&values)[Count]) const
    {
        const items_as<typename Reducer::Element, Items> x(items), y(others);
#pragma unroll
        for (unsigned k = 0; k < Count; ++k) {
            if constexpr (Reducer::two_arrays)
                values[k] = self().value_of(self().reduce_pack(x[k], y[k]));
            else if constexpr (Reducer::needs_element_count)
                values[k] = self().reduce_pack(x[k], items.existing(k));
            else
                values[k] = self().value_of(self().reduce_pack(x[k]));
        }
    }
    FASTREDUCE_DEVICE void prepare(const void *, size_t) {}
    template <class Function>
    FASTREDUCE_DEVICE void visit(const Function &function) const
    {
        function(self());
    }

  private:
    FASTREDUCE_DEVICE const Reducer &self() const { return static_cast<const Reducer &>(*this); }
};

/* Returns the Value of all of a thread's packs, in any order. */
template <class Reducer, class Items>
FASTREDUCE_DEVICE typename Reducer::Value thread_value(const Reducer &reducer, const Items &items)
{
    if constexpr (Reducer::reduces_packs) {
        return reducer.value_of_packs(items);
    } else {
        using Partial = typename Reducer::Partial;
        return reducer.value_of(reduce_each<Items::packs_each>(
            [&](unsigned k) { return reducer.reduce_pack(items[k]); },
            [&](Partial &a, Partial &b) { return reducer.merge(a, b); }));
    }
}

/* Reduces by a user's operator, which may have state, after a function of each element. */
template <class Input, class Output, class Combine, class Transform>
struct custom_reducer : common_reducer<custom_reducer<Input, Output, Combine, Transform>> {
    using Element = Input;
    using Value = Output;
    using Partial = Value;
    using Result = Value;

    static constexpr bool commutes = false, needs_element_count = true;

    Combine operation;
    Transform transform;
    Value neutral;

    FASTREDUCE_DEVICE Value identity() const { return neutral; }
    FASTREDUCE_DEVICE Value combine(Value a, Value b) const { return operation(a, b); }
    FASTREDUCE_DEVICE Partial reduce_pack(const pack<Element> &from, unsigned count) const
    {
        return reduce_each<pack<Element>::size>(
            [&](unsigned j) { return j < count ? ieee_cast<Value>(transform(from[j])) : neutral; },
            operation);
    }
};

/* What a sum needs at the end. */
enum class result_step : unsigned char { none, mean, root };

/* Returns the mean or the root. Out of line, or every sum would contain both. */
static __device__ __noinline__ double apply_step(double sum, double n, result_step step)
{
    return step == result_step::mean ? sum / n : sqrt(sum);
}

/* Returns the product of two elements, as sums add it. Integers of 64 bits are unsigned. */
template <class Input>
FASTREDUCE_DEVICE auto product(Input x, Input y)
{
    if constexpr (element<Input>::is_float) {
        return ieee_multiply(widened(x), widened(y));
    } else {
        using wide = conditional_t<element<Input>::is_signed, long long, unsigned long long>;
        return static_cast<unsigned long long>(static_cast<wide>(x) * static_cast<wide>(y));
    }
}

/* Maps return what is added for an element. */
struct itself {
    template <class Value>
    FASTREDUCE_DEVICE Value operator()(Value x) const
    {
        return x;
    }
};
struct magnitude {
    FASTREDUCE_DEVICE float operator()(float x) const { return ieee_magnitude(x); }
    FASTREDUCE_DEVICE double operator()(double x) const { return fabs(x); }
    template <class Integer>
    FASTREDUCE_DEVICE bits_t<Integer> operator()(Integer x) const
    {
        const bits_t<Integer> number = static_cast<bits_t<Integer>>(x);
        return x < 0 ? 0 - number : number;
    }
};
struct squaring {
    FASTREDUCE_DEVICE float operator()(float x) const { return product(x, x); }
    FASTREDUCE_DEVICE double operator()(double x) const { return product(x, x); }
    FASTREDUCE_DEVICE unsigned long long operator()(int x) const { return product(x, x); }
    FASTREDUCE_DEVICE unsigned long long operator()(unsigned x) const { return product(x, x); }
    FASTREDUCE_DEVICE unsigned long long operator()(unsigned long long x) const { return x * x; }
};

/* Reduces Map(x) with an operator that has combine and identity: users' operators, and sums and
 * products of floats. Ends says that the result may be a mean or a root. Sums of f32, the most
 * used, do without it, which saves 0.04 us (one H200). */
template <class Input, class Operator = plus, class Map = itself,
          bool Ends = are_same<Operator, plus> &&one_of<Input, double, f16, bf16>::value>
struct plain_reducer : common_reducer<plain_reducer<Input, Operator, Map, Ends>> {
    static constexpr bool sums = are_same<Operator, plus>, of_floats = element<Input>::is_float;
    using Element = Input;
    using Value = accumulate_t<Operator, Input>;
    using Partial = Value;
    using Result = Value;
    static constexpr bool commutes = one_of<Operator, plus, multiplies, minimum, maximum>::value,
                          needs_element_count =
                              !of_floats || !one_of<Operator, plus, multiplies>::value;

    result_step step = result_step::none;

    static FASTREDUCE_DEVICE Value identity() { return Operator::template identity<Value>(); }
    static FASTREDUCE_DEVICE Value zero()
    {
        Value none = identity();
        if constexpr (sums && of_floats) none = -none;
        return none;
    }
    static FASTREDUCE_DEVICE Element padding(const void *)
    {
        if constexpr (needs_element_count)
            return {};
        else if constexpr (sums)
            return negated(Element());
        else if constexpr (sizeof(Input) == 2)
            return {static_cast<unsigned short>(element<Input>::is_f16 ? 0x3c00 : 0x3f80)}; /* 1 */
        else
            return 1;
    }
    static FASTREDUCE_DEVICE Value combine(Value a, Value b) { return Operator()(a, b); }
    static FASTREDUCE_DEVICE Partial reduce_pack(const pack<Element> &from,
                                                 unsigned count = pack<Element>::size)
    {
        return reduce_each<pack<Element>::size>(
            [&](unsigned j) {
                return j < count ? static_cast<Value>(Map()(widened(from[j]))) : zero();
            },
            Operator());
    }
    FASTREDUCE_DEVICE Result finish(Value value, size_t n) const
    {
        if constexpr (Ends) {
            if (step != result_step::none)
                return ieee_cast<Result>(
                    apply_step(ieee_cast<double>(value), static_cast<double>(n), step));
        }
        return value;
    }
};

/* Sums of integers modulo 2^64, after a Map. 8 and 16-bit elements are added in 32 bits, which hold
 * a tile's sum. Squares of 16-bit elements need 64. */
template <class Input, class Map = itself>
struct integer_reducer : common_reducer<integer_reducer<Input, Map>> {
    static constexpr bool magnitudes = are_same<Map, magnitude>, squares = are_same<Map, squaring>,
                          any_order = true, tile_by_warp = sizeof(Input) < (squares ? 2 : 4);
    using word_sum = conditional_t<element<Input>::is_signed && !magnitudes, int, unsigned>;
    using Element = Input;
    using Value = unsigned long long;
    using Partial = conditional_t<tile_by_warp, word_sum, Value>;
    using Result = unsigned long long; /* the bits of a double, where it is not the sum */

    result_step step = result_step::none;

    static FASTREDUCE_DEVICE Partial reduce_pack(const pack<Input> &from)
    {
        Partial sum = 0;
        if constexpr (tile_by_warp) {
            int negative = 0;
#pragma unroll
            for (unsigned word : from.word) {
                /* |x| is x where its sign mask is 0, and ~x + 1 where it is -1 */
                const unsigned masks = magnitudes ? sign_masks<sizeof(Input)>(word) : 0;
                sum = squares ? dot_bytes(word, word, sum) : add_word(word ^ masks, sum);
                if (magnitudes) negative = add_word(masks, negative);
            }
            sum -= static_cast<Partial>(negative);
        } else {
            constexpr unsigned size = pack<Input>::size, chains = sizeof(Input) == 2 ? 2 : size;
            Partial sums[chains] = {};
#pragma unroll
            for (unsigned j = 0; j < size; ++j)
                sums[j % chains] += static_cast<Partial>(Map()(from[j]));
            sum = reduce_pairs(sums, plus());
        }
        return sum;
    }
    FASTREDUCE_DEVICE Result finish(Value value, size_t n) const
    {
        if (sizeof(Input) > 2 || step == result_step::none)
            return value; /* wider ones have no other step */
        const double number = element<Input>::is_signed && step == result_step::mean
                                  ? static_cast<double>(static_cast<long long>(value))
                                  : static_cast<double>(value);
        return bits_as<Result>(apply_step(number, static_cast<double>(n), step));
    }

  private:
    template <class Sum>
    static FASTREDUCE_DEVICE Sum add_word(unsigned word, Sum sum)
    {
        return sizeof(Input) == 1 ? dot_bytes(word, 0x01010101, sum) : add_halves(word, sum);
    }
};

/* Sums for means of 32 and 64-bit integers, which may need more than 64 bits. */
struct sum_of_128_bits {
    unsigned long long low, high;

    sum_of_128_bits() = default;
    FASTREDUCE_DEVICE sum_of_128_bits(unsigned long long lower, unsigned long long upper = 0)
        : low{lower}, high{upper}
    {
    }
    FASTREDUCE_DEVICE explicit sum_of_128_bits(long long x)
        : low{static_cast<unsigned long long>(x)}, high{static_cast<unsigned long long>(x >> 63)}
    {
    }

    friend FASTREDUCE_DEVICE sum_of_128_bits operator+(const sum_of_128_bits &a,
                                                       const sum_of_128_bits &b)
    {
        const unsigned long long lower = a.low + b.low;
        return {lower, a.high + b.high + (lower < a.low)};
    }
    /* Returns the sum rounded once. */
    FASTREDUCE_DEVICE double number() const
    {
        const bool negative = high >> 63;
        unsigned long long upper = negative ? ~high + (low == 0) : high,
                           lower = negative ? 0 - low : low;
        double scale = negative ? -1 : 1;
        for (; upper != 0; upper >>= 1, scale += scale)
            lower = upper << 63 | lower >> 1 | (lower & 1);
        return ieee_multiply(scale, static_cast<double>(lower));
    }
};

template <class Input>
struct integer_mean : common_reducer<integer_mean<Input>> {
    static constexpr bool any_order = true, wide = sizeof(Input) == 8, compute_bound = true;
    using Element = Input;
    using Value = sum_of_128_bits;
    using number = integer_t<8, element<Input>::is_signed>;
    using Partial = conditional_t<wide, Value, number>;
    using Result = double;

    static FASTREDUCE_DEVICE Partial reduce_pack(const pack<Element> &from)
    {
        return sum_over(from, [](Element x) { return Partial(static_cast<number>(x)); });
    }
    static FASTREDUCE_DEVICE Result finish(const Value &value, size_t n)
    {
        return apply_step(value.number(), static_cast<double>(n), result_step::mean);
    }
};

/* Products of integers modulo 2^64. Those of 32 bits are exact, and need one instruction each. */
template <class Input>
struct integer_product : common_reducer<integer_product<Input>> {
    using Element = Input;
    using Value = unsigned long long;
    using Partial = Value;
    using Result = Value;
    static constexpr bool any_order = true, compute_bound = sizeof(Input) <= 2;

    static FASTREDUCE_DEVICE Value identity() { return 1; }
    static FASTREDUCE_DEVICE Element padding(const void *) { return 1; }
    static FASTREDUCE_DEVICE Value combine(Value a, Value b) { return a * b; }
    static FASTREDUCE_DEVICE Partial reduce_pack(const pack<Element> &from)
    {
        using word = conditional_t<element<Input>::is_signed, int, unsigned>;
        using narrow = conditional_t<sizeof(Input) <= 4, word, Value>;
        constexpr unsigned size = pack<Element>::size,
                           each = sizeof(Input) < 4 ? 4 / sizeof(Input) : 1;
        narrow parts[size / each];
#pragma unroll
        for (unsigned j = 0; j < size; ++j) {
            const narrow factor = static_cast<narrow>(from[j]);
            parts[j / each] = j % each == 0 ? factor : parts[j / each] * factor;
        }
        return reduce_each<size / each / 2>(
            [&](unsigned j) -> Value { return product(parts[2 * j], parts[2 * j + 1]); },
            multiplies());
    }
};

/* Extremes. All reducers of extremes look for the greatest: to find the least, or the float of the
 * greatest magnitude, a transform changes an element's bits first; a second time it changes them
 * back, or leaves a magnitude. What leaves a thread is a key, an unsigned number in the same order;
 * 0 stands for no element. */
template <class Element>
struct key_transform {
    static constexpr bool skips_nan = false;
    static constexpr bits_t<Element> /* a double's lower half stays as it is */
        fixed = are_same<Element, double> ? 0xffffffff : 0;
    bits_t<Element> mask, flip; /* the same for each element of a word */

    FASTREDUCE_DEVICE bits_t<Element> operator()(bits_t<Element> word) const
    {
        return (word & (mask | fixed)) ^ (flip & ~fixed);
    }
};

/* Turns a word's elements into their magnitudes: x where the mask of signs is 0, ~x + 1 where it is
 * -1. */
template <class Element>
struct magnitudes_of {
    static constexpr bool skips_nan = false;
    FASTREDUCE_DEVICE bits_t<Element> operator()(bits_t<Element> word) const
    {
        if constexpr (sizeof(Element) >= 4) {
            return word >> (8 * sizeof word - 1) ? 0 - word : word;
        } else {
            const unsigned masks = sign_masks<sizeof(Element)>(word);
            return (word ^ masks) + (masks & top_bits<Element> >> (8 * sizeof(Element) - 1));
        }
    }
};

FASTREDUCE_DEVICE unsigned lowest_bit(unsigned word)
{
    return 31 - static_cast<unsigned>(__clz(static_cast<int>(word & (0 - word))));
}

/* A transform after which NaNs do not count. */
template <class Element>
struct numbers_of : key_transform<Element> {
    static constexpr bool skips_nan = true;
};

/* Keys are in the order of elements: ordered_bits of floats, and order_key of doubles, which begins
 * with -infinity. `least` is the key of the least element. Below it is 0, that of NaNs which do not
 * count. */
template <class Element, bool SkipsNan = false>
struct element_keys {
    static constexpr bool is_float = element<Element>::is_float;
    using Key = bits_t<Element>;
    static constexpr Key minus_infinity =
                             is_float ? (Key(1) << element<Element>::fraction_bits) - 1 : 0,
                         offset = sizeof(Element) == 8 ? minus_infinity - SkipsNan : 0,
                         least = minus_infinity - offset;

    static __host__ FASTREDUCE_DEVICE Key key_of(Element x)
    {
        if constexpr (is_float)
            return ordered_bits(bits_as<unsigned_t<Element>>(x)) - offset;
        else
            return x;
    }
    static FASTREDUCE_DEVICE Element element_of(Key key)
    {
        const unsigned_t<Element> bits = static_cast<unsigned_t<Element>>(key + offset);
        if constexpr (is_float)
            return bits_as<Element>(from_ordered_bits(bits));
        else
            return bits;
    }
    /* Returns a float's key, or 0 instead of a NaN's. */
    static FASTREDUCE_DEVICE Key number_key(Element x)
    {
        const Key key = key_of(x), infinity = key_of(bounds<Element>::greatest());
        return SkipsNan && key - least > infinity - least ? 0 : key;
    }
    /* Returns the key by value, for indices: -0 has that of +0. */
    static FASTREDUCE_DEVICE Key by_value(Key key)
    {
        return is_float && key == key_of(negated(Element())) ? key_of(Element()) : key;
    }
};

/* Finds the greatest element of a pack, and of a thread's packs. first_of returns the number of the
 * first element of a pack that has a key by value; there is one. This is for 32 and 64 bits. A
 * double's Partial is its key. All NaNs have one key. */
template <class Element, bool SkipsNan = false, bool Narrow = sizeof(Element) <= 2>
struct greatest : element_keys<Element, SkipsNan> {
    static constexpr bool is_double = are_same<Element, double>;
    using Key = typename element_keys<Element>::Key;
    using Partial = conditional_t<is_double, Key, Element>;

    static FASTREDUCE_DEVICE Partial merge(Partial a, Partial b)
    {
        if constexpr (SkipsNan && !is_double)
            return max_number(a, b);
        else
            return maximum()(a, b);
    }
    template <class Transform>
    static FASTREDUCE_DEVICE Partial of_pack(const pack<Element> &from, const Transform &transform)
    {
        return reduce_each<pack<Element>::size>(
            [&](unsigned j) { return of_one(from[j], transform); },
            [](Partial a, Partial b) { return merge(a, b); });
    }
    static FASTREDUCE_DEVICE Key key(Partial best)
    {
        if constexpr (is_double && SkipsNan) {
            return best;
        } else if constexpr (SkipsNan) {
            return greatest::number_key(best);
        } else if constexpr (is_double) {
            const Key nan = greatest::key_of(bits_as<double>(~0ull >> 1));
            return best > greatest::key_of(bounds<double>::greatest()) ? nan : best;
        } else {
            return greatest::key_of(best);
        }
    }
    template <class Transform>
    static FASTREDUCE_DEVICE unsigned first_of(const pack<Element> &from, Key wanted,
                                               const Transform &transform)
    {
        unsigned first = 0;
#pragma unroll
        for (unsigned j = pack<Element>::size; j-- > 0;) {
            const Partial part = of_one(from[j], transform);
            if (greatest::by_value(key(merge(part, part))) == wanted) first = j; /* NaNs are one */
        }
        return first;
    }

    template <class Transform>
    static FASTREDUCE_DEVICE Partial of_one(Element x, const Transform &transform)
    {
        const Element transformed = bits_as<Element>(transform(bits_as<Key>(x)));
        if constexpr (is_double)
            return greatest::number_key(transformed);
        else
            return transformed;
    }
};

/* Compares halves and 16-bit integers, two in a word; and bytes, of which each takes the upper half
 * of 16 bits: bytes 1 and 3 in one word, 0 and 2 in another. What lies below them does not
 * matter. */
template <class Element, bool SkipsNan>
struct greatest<Element, SkipsNan, true> : element_keys<Element, SkipsNan> {
    static constexpr bool is_float = element<Element>::is_float;
    static constexpr unsigned bits = 8 * sizeof(Element), word_count = 16 / bits;
    using Key = unsigned;
    struct Partial {
        unsigned word[word_count];
    };

    static FASTREDUCE_DEVICE Partial merge(Partial a, Partial b)
    {
        Partial best;
#pragma unroll
        for (unsigned k = 0; k < word_count; ++k) best.word[k] = greater(a.word[k], b.word[k]);
        return best;
    }
    template <class Transform>
    static FASTREDUCE_DEVICE Partial of_pack(const pack<Element> &from, const Transform &transform)
    {
        const auto part = [&](unsigned w) {
            const unsigned word = transform(from.word[w]);
            Partial one;
#pragma unroll
            for (unsigned k = 0; k < word_count; ++k) one.word[k] = word << k * bits;
            return one;
        };
        return merge(merge(part(0), part(1)), merge(part(2), part(3)));
    }
    static FASTREDUCE_DEVICE Key key(Partial best)
    {
        unsigned both = best.word[0];
        if constexpr (word_count > 1) both = greater(both, best.word[1]);
        [[maybe_unused]] const unsigned low = both & 0xffff;
        const unsigned high = both >> 16;
        if constexpr (is_float)
            return greatest::number_key(
                bits_as<Element>(static_cast<unsigned short>(greater(both, high))));
        else
            return (low > high ? low : high) >> (16 - bits);
    }
    template <class Transform>
    static FASTREDUCE_DEVICE unsigned first_of(const pack<Element> &from, Key wanted,
                                               const Transform &transform)
    {
        constexpr unsigned tops = top_bits<Element>, ones = tops >> (bits - 1);
        const unsigned copies = bits_as<unsigned_t<Element>>(greatest::element_of(wanted)) * ones;
        unsigned first = 0;
#pragma unroll
        for (unsigned w = 4; w-- > 0;) {
            unsigned word = transform(from.word[w]);
            if constexpr (is_float) {
                word = greater(word, word);                     /* NaNs are one */
                const unsigned others = (word & ~tops) + ~tops; /* signs of: not 0 */
                word &= others | ~tops;
            }
            const unsigned differing = word ^ copies,
                           zeros = (differing - ones) & ~differing & tops; /* the lowest is right */
            if (zeros != 0) first = w * (32 / bits) + lowest_bit(zeros) / bits;
        }
        return first;
    }

  private:
    static FASTREDUCE_DEVICE unsigned greater(unsigned a, unsigned b)
    {
        if constexpr (is_float)
            return max_pair<element<Element>::is_bf16, SkipsNan>(a, b);
        else
            return __vmaxu2(a, b);
    }
};

/* Returns the greatest key of the warp's lanes, to all of them. */
FASTREDUCE_DEVICE unsigned greatest_of_warp(unsigned key) { return warp_max(key); }
FASTREDUCE_DEVICE unsigned long long greatest_of_warp(unsigned long long key)
{
    const unsigned high = warp_max(static_cast<unsigned>(key >> 32)),
                   low = warp_max(key >> 32 == high ? static_cast<unsigned>(key) : 0);
    return static_cast<unsigned long long>(high) << 32 | low;
}

/* Supplies what reducers by keys share: they fill packs with an element of the array. */
template <class Reducer>
struct keyed_reducer : common_reducer<Reducer> {
    static constexpr bool any_order = true, by_warp = true;

    static FASTREDUCE_DEVICE auto padding(const void *input)
    {
        return *static_cast<const typename Reducer::Element *>(input);
    }
};

template <class Input, class Transform = key_transform<Input>>
struct extreme_reducer : keyed_reducer<extreme_reducer<Input, Transform>>,
                         greatest<Input, Transform::skips_nan> {
    using keys = greatest<Input, Transform::skips_nan>;
    using Element = Input;
    using Value = typename keys::Key;
    using Partial = typename keys::Partial;
    using Result = Input;
    using keys::merge;
    static constexpr bool compute_bound = sizeof(Input) == 8;

    Transform transform = {};
    Value of_none = keys::least;

    static FASTREDUCE_DEVICE Value combine(Value a, Value b) { return a < b ? b : a; }
    FASTREDUCE_DEVICE Partial reduce_pack(const pack<Element> &from) const
    {
        return extreme_reducer::of_pack(from, transform);
    }
    static FASTREDUCE_DEVICE Value value_of(Partial best) { return extreme_reducer::key(best); }
    static FASTREDUCE_DEVICE Value warp_value(Value value) { return greatest_of_warp(value); }
    FASTREDUCE_DEVICE Result finish(Value value, size_t = 0) const
    {
        using bits = unsigned_t<Input>;
        const Input extreme = extreme_reducer::element_of(combine(value, of_none));
        constexpr bits nan = static_cast<bits>(static_cast<bits>(~bits(0)) >> 1);
        if (element<Input>::is_float && bits_as<bits>(extreme) == nan) return extreme;
        return bits_as<Input>(static_cast<bits>(transform(bits_as<bits>(extreme))));
    }
};

template <class Part>
struct lower_and_upper {
    Part lower, upper;
};
/* Finds both extremes at once. */
template <class Input, class Transform = key_transform<Input>>
struct min_max_reducer : keyed_reducer<min_max_reducer<Input, Transform>> {
    using one = extreme_reducer<Input, Transform>;
    using Element = Input;
    using Result = Input;
    using Value = lower_and_upper<typename one::Value>;
    using Partial = lower_and_upper<typename one::Partial>;
    static constexpr bool compute_bound = true, has_second = true;

    one least, most;

    static FASTREDUCE_DEVICE Value combine(const Value &a, const Value &b)
    {
        return {one::combine(a.lower, b.lower), one::combine(a.upper, b.upper)};
    }
    FASTREDUCE_DEVICE Partial reduce_pack(const pack<Element> &from) const
    {
        return {least.reduce_pack(from), most.reduce_pack(from)};
    }
    static FASTREDUCE_DEVICE Partial merge(const Partial &a, const Partial &b)
    {
        return {one::merge(a.lower, b.lower), one::merge(a.upper, b.upper)};
    }
    static FASTREDUCE_DEVICE Value value_of(const Partial &best)
    {
        return {one::value_of(best.lower), one::value_of(best.upper)};
    }
    static FASTREDUCE_DEVICE Value warp_value(const Value &value)
    {
        return {greatest_of_warp(value.lower), greatest_of_warp(value.upper)};
    }
    FASTREDUCE_DEVICE Result finish(const Value &value, size_t) const
    {
        return least.finish(value.lower);
    }
    FASTREDUCE_DEVICE void store_second(const result_slot &slot, const Value &value, size_t) const
    {
        *static_cast<Input *>(slot.second) = most.finish(value.upper);
    }
};

/* Holds the key of an extreme, and its first index; a vector, where it has 16 bytes. */
template <class Key>
struct alignas(sizeof(Key) == 8 ? 16 : 4) key_and_index {
    Key key;
    unsigned low, high; /* halves of the index: no padding */

    key_and_index() = default;
    FASTREDUCE_DEVICE key_and_index(Key best, unsigned long long first)
        : key(best), low{static_cast<unsigned>(first)}, high{static_cast<unsigned>(first >> 32)}
    {
    }
    FASTREDUCE_DEVICE unsigned long long number() const
    {
        return low | static_cast<unsigned long long>(high) << 32;
    }
};

template <class Input, class Transform = key_transform<Input>>
struct index_reducer : keyed_reducer<index_reducer<Input, Transform>> {
    using keys = greatest<Input, Transform::skips_nan>;
    using Element = Input;
    using Key = typename keys::Key;
    using Value = key_and_index<Key>;
    using Result = long long;
    static constexpr bool reduces_packs = true, compute_bound = true, has_second = true,
                          second_reads_input = true;

    Transform transform;

    static FASTREDUCE_DEVICE Value identity() { return {0, ~0ull}; }
    static FASTREDUCE_DEVICE Value combine(const Value &a, const Value &b)
    {
        /* | and &, as || and && would branch */
        const bool second = (a.key < b.key) | ((a.key == b.key) & (b.number() < a.number()));
        Value best = a;
        if (second) best = b;
        return best;
    }
    /* Finds the thread's first pack that holds the best key, then the first element in it with
     * that key. */
    template <class Items>
    FASTREDUCE_DEVICE Value value_of_packs(const Items &items) const
    {
        Key best = key(items[0]);
        pack<Element> best_pack = items[0];
        unsigned number = 0;
#pragma unroll
        for (unsigned k = 1; k < Items::packs_each; ++k) {
            const Key next = key(items[k]);
            if (best < next) {
                best = next;
                best_pack = items[k];
                number = k;
            }
        }
        const unsigned long long first =
            items.index_of(number) + keys::first_of(best_pack, best, transform);
        return {best, Transform::skips_nan && best == 0 ? ~0ull : first};
    }
    static FASTREDUCE_DEVICE Value warp_value(const Value &value)
    {
        const Key best = greatest_of_warp(value.key);
        const bool good = value.key == best;
        const unsigned high = warp_min(good ? value.high : ~0u),
                       low = warp_min(good && value.high == high ? value.low : ~0u);
        return {best, low | static_cast<unsigned long long>(high) << 32};
    }
    static FASTREDUCE_DEVICE Result finish(const Value &value, size_t)
    {
        return static_cast<Result>(value.number());
    }
    /* Stores the element. Its key does not tell the signs of zeros and magnitudes. */
    static FASTREDUCE_DEVICE void store_second(const result_slot &slot, const Value &value,
                                               size_t n)
    {
        Element extreme = {};
        if (Transform::skips_nan ? value.number() != ~0ull : n > 0)
            extreme = static_cast<const Element *>(slot.from)[value.number() * slot.stride];
        *static_cast<Element *>(slot.second) = extreme;
    }

  private:
    FASTREDUCE_DEVICE Key key(const pack<Element> &from) const
    {
        return keys::by_value(keys::key(keys::of_pack(from, transform)));
    }
};

/* Counts elements that are not zero under a mask, which leaves out a float's sign. */
template <class Input>
struct count_reducer : common_reducer<count_reducer<Input>> {
    using Element = Input;
    using Value = unsigned long long;
    using Partial = unsigned; /* for each element of a word */
    using Result = unsigned long long;
    static constexpr bool any_order = true, narrow = sizeof(Input) <= 2, tile_by_warp = narrow;

    bits_t<Input> mask;

    FASTREDUCE_DEVICE Partial reduce_pack(const pack<Element> &from) const
    {
        unsigned sum = 0;
        if constexpr (narrow) {
            constexpr unsigned tops = top_bits<Input>;
#pragma unroll
            for (unsigned word : from.word) {
                word &= static_cast<unsigned>(mask);
                const unsigned carried = (word & ~tops) + ~tops; /* to the top, if it is not zero */
                sum += ((carried | word) & tops) >> (8 * sizeof(Input) - 1);
            }
        } else {
#pragma unroll
            for (unsigned j = 0; j < pack<Element>::size; ++j) sum += (from[j] & mask) != 0;
        }
        return sum;
    }
    static FASTREDUCE_DEVICE Value value_of(Partial sums)
    {
        return narrow ? dot_bytes(sums, 0x01010101, 0u) : sums; /* all below 256 */
    }
};

/* Returns a number as a double; one of 32 bits by an addition, as conversions are slow. */
template <class Number>
FASTREDUCE_DEVICE double to_double(Number x)
{
    if constexpr (element<Number>::is_integer && sizeof(Number) <= 4) {
        constexpr unsigned long long two_to_52 = 0x433ull << 52;
        constexpr unsigned sign = element<Number>::is_signed ? 0x80000000 : 0;
        return bits_as<double>(two_to_52 | (static_cast<unsigned>(x) ^ sign)) -
               bits_as<double>(two_to_52 | sign);
    } else {
        return ieee_cast<double>(x);
    }
}

/* Norms of elements too large, or too small, to be squared in their type: sums of squares as
 * doubles. A pack's floats are squared as floats first, and again where that went too far. */
template <class Input>
struct norm_reducer : common_reducer<norm_reducer<Input>> {
    using Element = Input;
    using Value = double;
    using Partial = double;
    using Result = accumulate_t<norm2, Input>;
    static constexpr bool compute_bound = true;

    static FASTREDUCE_DEVICE Partial reduce_pack(const pack<Element> &from)
    {
        if constexpr (element<Input>::is_float) {
            constexpr float least = 1e-25f, most = 1e38f; /* what is lost between is too small */
            const float sum = sum_over(from, [](Element x) { return squaring()(widened(x)); });
            /* not as floats: -ftz=true compares denormals as zeros */
            const unsigned bits = bits_as<unsigned>(sum), infinity = 0x7f800000,
                           signs = static_cast<unsigned>(top_bits<Input>);
            const pack<unsigned> parts = bits_as<pack<unsigned>>(from);
            if ((bits >= bits_as<unsigned>(least) && bits <= bits_as<unsigned>(most)) ||
                bits > infinity || ((parts[0] | parts[1] | parts[2] | parts[3]) & ~signs) == 0)
                return ieee_cast<double>(sum); /* of zeros alone it is exact, too */
        } else if constexpr (sizeof(Input) == 2) {
            return static_cast<Value>(integer_reducer<Input, squaring>::reduce_pack(from));
        }
        return sum_over(from, [](Element x) { return squaring()(to_double(widened(x))); });
    }
    static FASTREDUCE_DEVICE Result finish(Value value, size_t)
    {
        return ieee_cast<Result>(apply_step(value, 1, result_step::root));
    }
};

/* Norms of doubles, whose squares may not fit a double: they are of elements times
 * 2^600, 1 or 2^-600, in bucket -1, 0 or 1. */
template <>
struct norm_reducer<double> : common_reducer<norm_reducer<double>> {
    struct halves {
        unsigned low, high;
    };
    struct Value {
        halves parts; /* of the sum of squares: no padding */
        int bucket;

        FASTREDUCE_DEVICE double squares() const { return bits_as<double>(parts); }
    };
    using Element = double;
    using Partial = Value;
    using Result = double;
    static constexpr bool compute_bound = true;

    static FASTREDUCE_DEVICE Value identity() { return make(0, -1); }
    static FASTREDUCE_DEVICE Value combine(const Value &a, const Value &b)
    {
        if (a.bucket == b.bucket) return make(a.squares() + b.squares(), a.bucket);
        const bool second = a.bucket < b.bucket;
        const double greater = second ? b.squares() : a.squares(), ratio = scale(-1),
                     lesser = second ? a.squares() : b.squares();
        /* by one bucket: two below counts as zero */
        return make(fused(ieee_multiply(lesser, ratio), ratio, greater),
                    second ? b.bucket : a.bucket);
    }
    static FASTREDUCE_DEVICE Partial reduce_pack(const pack<double> &from)
    {
        const double a = squaring()(from[0]), b = squaring()(from[1]);
        if (is_accurate(a) && is_accurate(b)) return make(a + b, 0);
        return combine(square_of(from[0]), square_of(from[1]));
    }
    static FASTREDUCE_DEVICE Result finish(const Value &value, size_t)
    {
        return ieee_multiply(apply_step(value.squares(), 1, result_step::root),
                             scale(value.bucket));
    }

  private:
    static FASTREDUCE_DEVICE Value make(double squares, int bucket)
    {
        return {bits_as<halves>(squares), bucket};
    }
    static FASTREDUCE_DEVICE Value square_of(double x)
    {
        const double one = squaring()(x);
        if (is_accurate(one)) return make(one, 0);
        const int bucket = one > 1 ? 1 : -1;
        return make(squaring()(ieee_multiply(x, scale(-bucket))), bucket);
    }
    /* Returns 2^(600 bucket). */
    static FASTREDUCE_DEVICE double scale(int bucket)
    {
        return bits_as<double>(static_cast<unsigned long long>(1023 + 600 * bucket) << 52);
    }
    /* Returns true from 2^-900 to 2^900, where squares neither overflow nor lose bits that matter;
     * and for NaN. */
    static FASTREDUCE_DEVICE bool is_accurate(double squares)
    {
        constexpr double least = 1.1830521861667747e-271, most = 8.452712498170644e+270;
        return (squares >= least && squares <= most) || squares != squares;
    }
};

/* Variances: sums of x - pivot and of its square, in doubles, and the pivot is the first element
 * for all. As that is one of them, its distance from the mean is at most sqrt(n) standard
 * deviations. So the final subtraction loses at most n roundings of the sum of squares. Of floats
 * a pack takes its own first element as pivot, for which float arithmetic is accurate enough,
 * unless squares overflow; then its sums are moved to the common pivot. */
struct moments {
    double sum, squares;

    friend FASTREDUCE_DEVICE moments operator+(const moments &a, const moments &b)
    {
        return {a.sum + b.sum, a.squares + b.squares};
    }
    /* Turns sums of x - pivot into those of x - (pivot - by). */
    FASTREDUCE_DEVICE moments moved(double by, unsigned count) const
    {
        const double new_sum = fused(static_cast<double>(count), by, sum);
        return {new_sum, fused(by, new_sum + sum, squares)};
    }
    /* Returns the variance of n elements, or NaN. It is +0 where squares underflow and the
     * difference would be negative. Out of line, as a division is long. */
    __device__ __noinline__ double variance(double n) const
    {
        const double quotient = fused(-sum, sum / n, squares) / n;
        return quotient <= 0 ? 0 : quotient;
    }
    __device__ __noinline__ double mean(double pivot, double n) const { return pivot + sum / n; }
};

template <class Input>
struct variance_reducer : common_reducer<variance_reducer<Input>> {
    using Element = Input;
    using Value = moments;
    using Partial = moments;
    using Result = accumulate_t<variance, Input>;
    static constexpr bool compute_bound = true, has_second = true, second_reads_input = true;

    Element pivot;

    FASTREDUCE_DEVICE void prepare(const void *input, size_t n)
    {
        pivot = n > 0 ? *static_cast<const Element *>(input) : Element();
    }
    FASTREDUCE_DEVICE Element padding(const void *) const { return pivot; }
    FASTREDUCE_DEVICE Partial reduce_pack(const pack<Element> &from) const
    {
        [[maybe_unused]] constexpr unsigned size = pack<Element>::size;
        if constexpr (element<Input>::is_integer && sizeof(Input) <= 2) {
            /* exact, so that 0 will do as the pack's pivot */
            const Value sums = {to_double(integer_reducer<Input>::reduce_pack(from)),
                                static_cast<double>(static_cast<unsigned long long>(
                                    integer_reducer<Input, squaring>::reduce_pack(from)))};
            return sums.moved(-difference(pivot, Element()), size);
        } else {
            if constexpr (element<Input>::is_float && sizeof(Input) <= 4) {
                const float first = widened(from[0]);
                float sums[size], squares[size];
#pragma unroll
                for (unsigned j = 0; j < size; ++j) {
                    sums[j] = ieee_subtract(widened(from[j]), first);
                    squares[j] = squaring()(sums[j]);
                }
                const float sum = reduce_pairs(sums, plus()),
                            of_squares = reduce_pairs(squares, plus());
                if (bits_as<unsigned>(of_squares) != 0x7f800000) /* no overflow of floats */
                    return Value{ieee_cast<double>(sum), ieee_cast<double>(of_squares)}.moved(
                        difference(from[0], pivot), size);
            }
            return sum_over(from, [&](Element x) {
                const double distance = difference(x, pivot);
                return Value{distance, squaring()(distance)};
            });
        }
    }
    static FASTREDUCE_DEVICE Result finish(const Value &value, size_t n)
    {
        return ieee_cast<Result>(value.variance(static_cast<double>(n)));
    }
    /* Stores the mean. */
    static FASTREDUCE_DEVICE void store_second(const result_slot &slot, const Value &value,
                                               size_t n)
    {
        const Element first = n > 0 ? *static_cast<const Element *>(slot.from) : Element();
        *static_cast<Result *>(slot.second) =
            ieee_cast<Result>(value.mean(to_double(widened(first)), static_cast<double>(n)));
    }

  private:
    /* Returns a - b in double, whatever the type; of 64-bit integers, which do not fit, it is taken
     * in integers first. */
    static FASTREDUCE_DEVICE double difference(Element a, Element b)
    {
        if constexpr (element<Input>::is_integer && sizeof(Input) == 8) {
            using bits = unsigned long long;
            const bits x = static_cast<bits>(a), y = static_cast<bits>(b);
            return a < b ? -to_double(y - x) : to_double(x - y);
        } else {
            return to_double(widened(a)) - to_double(widened(b));
        }
    }
};

/* Dot products; of bytes in 32 bits, as sums. */
template <class Input>
struct dot_reducer : common_reducer<dot_reducer<Input>> {
    static constexpr bool is_float = element<Input>::is_float;
    using word = conditional_t<element<Input>::is_signed, int, unsigned>;
    using Element = Input;
    using Value = conditional_t<is_float, accumulate_t<plus, Input>, unsigned long long>;
    using Partial = conditional_t<sizeof(Input) == 1, word, Value>;
    using Result = Value;
    static constexpr bool any_order = !is_float, two_arrays = true,
                          tile_by_warp = sizeof(Input) == 1;

    static FASTREDUCE_DEVICE Value zero() { return is_float ? -Value(0) : Value(0); }
    /* Returns an element of x; y's is +0, and so their product -0. */
    static FASTREDUCE_DEVICE Element padding(const void *)
    {
        Element none = {};
        if constexpr (is_float) none = negated(none);
        return none;
    }
    static FASTREDUCE_DEVICE Partial reduce_pack(const pack<Element> &x, const pack<Element> &y)
    {
        Partial sum = 0;
        if constexpr (is_float) {
            sum = reduce_each<pack<Element>::size>([&](unsigned j) { return product(x[j], y[j]); },
                                                   plus());
        } else if constexpr (sizeof(Input) == 1) {
#pragma unroll
            for (unsigned w = 0; w < 4; ++w) sum = dot_bytes(x.word[w], y.word[w], sum);
        } else if constexpr (sizeof(Input) == 2) {
            Partial high = 0; /* by words, as compilers would make 64 bits of 16 */
#pragma unroll
            for (unsigned w = 0; w < 4; ++w) {
                sum += product<word>(word(x.word[w] << 16) >> 16, word(y.word[w] << 16) >> 16);
                high += product<word>(word(x.word[w]) >> 16, word(y.word[w]) >> 16);
            }
            sum += high;
        } else {
#pragma unroll
            for (unsigned j = 0; j < pack<Element>::size; ++j) sum += product(x[j], y[j]);
        }
        return sum;
    }
};

/* ---- Reducers that share kernels ---- */

/* Returns true if Reducers differ only in what a single thread does. */
template <class One, class Other>
__host__ __device__ constexpr bool can_share_kernel()
{
    return are_same<typename One::Value, typename Other::Value> &&
           sizeof(typename One::Element) == sizeof(typename Other::Element) &&
           One::by_warp == Other::by_warp && One::tile_by_warp == Other::tile_by_warp &&
           One::compute_bound == Other::compute_bound && One::any_order == Other::any_order &&
           One::needs_element_count == Other::needs_element_count &&
           One::two_arrays == Other::two_arrays;
}

/* Says whether results are rounded to the elements' 16 bits, where one of the Reducers can. */
template <bool Can>
struct narrowing {
    static constexpr bool narrows = false;
};
template <>
struct narrowing<true> {
    bool narrows;
};
template <class... Reducers>
using narrowing_of = narrowing<(can_narrow<Reducers> || ...)>;

/* Holds one of several Reducers, which is known when it runs. They differ only in what a single
 * thread does, and combine Values of several threads in the same way. */
template <class First, class... Others>
struct reducer_variant : First, Others..., narrowing_of<First, Others...> {
    static_assert((can_share_kernel<First, Others>() && ...),
                  "members may differ only in what a single thread does");
    using Element = unsigned_t<typename First::Element>; /* any of that size */
    using Value = typename First::Value;
    using First::any_order, First::by_warp, First::combine, First::commutes, First::compute_bound,
        First::has_second, First::identity, First::needs_element_count, First::second_reads_input,
        First::tile_by_warp, First::tile_warp_value, First::two_arrays, First::zero;
    static constexpr bool reduces_packs = true,
                          may_narrow = (can_narrow<First> || ... || can_narrow<Others>);

    unsigned active; /* the number of the member in use */

    template <class Member>
    __host__ __device__ void activate(const Member &reducer)
    {
        constexpr bool is_member[] = {are_same<Member, First>, are_same<Member, Others>...};
        for (active = 0; !is_member[active];) ++active;
        static_cast<Member &>(*this) = reducer;
    }
    /* Calls the function with the active member. */
    template <class Function>
    FASTREDUCE_DEVICE auto visit(const Function &function) const
    {
        return visit_type<First, Others...>([&](auto type) {
            return function(static_cast<const typename decltype(type)::type &>(*this));
        });
    }

    static FASTREDUCE_DEVICE Value warp_value(const Value &value)
    {
        return First::warp_value(value);
    }
    FASTREDUCE_DEVICE void prepare(const void *input, size_t n)
    {
        visit_type<First, Others...>([&](auto type) {
            static_cast<typename decltype(type)::type &>(*this).prepare(input, n);
        });
    }
    template <class Items>
    FASTREDUCE_DEVICE Value value_of_packs(const Items &items) const
    {
        return visit([&](const auto &member) {
            const auto copy = member;
            return thread_value(copy, items_as<typename decltype(copy)::Element, Items>(items));
        });
    }
    template <class Items, unsigned Count>
    FASTREDUCE_DEVICE void values_of(const Items &items, const Items &others,
                                     Value (&values)[Count]) const
    {
        visit([&](const auto &member) { member.values_of(items, others, values); });
    }
    FASTREDUCE_DEVICE Element padding(const void *input) const
    {
        return visit([&](const auto &member) { return bits_as<Element>(member.padding(input)); });
    }
    FASTREDUCE_DEVICE void store(void *result, const Value &value, size_t n) const
    {
        visit([&](const auto &member) { member.store(result, value, n, this->narrows); });
    }
    FASTREDUCE_DEVICE void store_second(const result_slot &slot, const Value &value, size_t n) const
    {
        visit([&](const auto &member) { member.store_second(slot, value, n); });
    }

  private:
    /* Calls the function with the type of the active member: Member or one of Later, the last. */
    template <class Member, class... Later, class Function>
    FASTREDUCE_DEVICE auto visit_type(const Function &function) const
    {
        if constexpr (sizeof...(Later) == 0)
            return function(type_identity<Member>());
        else
            return active == sizeof...(Others) - sizeof...(Later)
                       ? function(type_identity<Member>())
                       : visit_type<Later...>(function);
    }
};

/* Lists the variants of the C functions. */
template <class... Types>
struct type_list {
};
using signed8 = signed char;
using unsigned8 = unsigned char;
using unsigned16 = unsigned short;
using signed64 = long long;
using unsigned64 = unsigned long long;
using reducer_groups = type_list<
    reducer_variant<integer_reducer<unsigned8>, integer_reducer<signed8>,
                    integer_reducer<signed8, magnitude>, integer_reducer<unsigned8, squaring>,
                    integer_reducer<signed8, squaring>, count_reducer<unsigned8>>,
    reducer_variant<integer_reducer<unsigned16>, integer_reducer<short>,
                    integer_reducer<short, magnitude>, count_reducer<unsigned16>>,
    reducer_variant<integer_reducer<unsigned16, squaring>, integer_reducer<short, squaring>>,
    reducer_variant<integer_reducer<unsigned>, integer_reducer<int>,
                    integer_reducer<int, magnitude>, integer_reducer<unsigned, squaring>,
                    integer_reducer<int, squaring>, count_reducer<unsigned>>,
    reducer_variant<integer_reducer<unsigned64>, integer_reducer<signed64, magnitude>,
                    integer_reducer<unsigned64, squaring>, count_reducer<unsigned64>>,
    reducer_variant<integer_product<unsigned8>, integer_product<signed8>>,
    reducer_variant<integer_product<unsigned16>, integer_product<short>>,
    reducer_variant<integer_product<unsigned>, integer_product<int>>,
    reducer_variant<integer_mean<unsigned>, integer_mean<int>>,
    reducer_variant<integer_mean<unsigned64>, integer_mean<signed64>>,
    reducer_variant<plain_reducer<float, plus, magnitude>, plain_reducer<float, plus, squaring>,
                    plain_reducer<float, plus, itself, true>>,
    reducer_variant<plain_reducer<double>, plain_reducer<double, plus, magnitude>,
                    plain_reducer<double, plus, squaring>>,
    reducer_variant<plain_reducer<f16>, plain_reducer<bf16>, plain_reducer<f16, plus, magnitude>,
                    plain_reducer<bf16, plus, magnitude>, plain_reducer<f16, plus, squaring>,
                    plain_reducer<bf16, plus, squaring>>,
    reducer_variant<plain_reducer<f16, multiplies>, plain_reducer<bf16, multiplies>>,
    reducer_variant<extreme_reducer<unsigned8>,
                    extreme_reducer<unsigned8, magnitudes_of<unsigned8>>>,
    reducer_variant<extreme_reducer<unsigned16>, extreme_reducer<f16>, extreme_reducer<bf16>,
                    extreme_reducer<unsigned16, magnitudes_of<unsigned16>>>,
    reducer_variant<extreme_reducer<float>, extreme_reducer<unsigned>,
                    extreme_reducer<unsigned, magnitudes_of<unsigned>>>,
    reducer_variant<extreme_reducer<unsigned64>, extreme_reducer<double>,
                    extreme_reducer<unsigned64, magnitudes_of<unsigned64>>>,
    reducer_variant<min_max_reducer<unsigned16>, min_max_reducer<f16>, min_max_reducer<bf16>>,
    reducer_variant<min_max_reducer<f16, numbers_of<f16>>, min_max_reducer<bf16, numbers_of<bf16>>>,
    reducer_variant<extreme_reducer<f16, numbers_of<f16>>, extreme_reducer<bf16, numbers_of<bf16>>>,
    reducer_variant<index_reducer<f16, numbers_of<f16>>, index_reducer<bf16, numbers_of<bf16>>>,
    reducer_variant<min_max_reducer<float>, min_max_reducer<unsigned>>,
    reducer_variant<min_max_reducer<unsigned64>, min_max_reducer<double>>,
    reducer_variant<index_reducer<unsigned16>, index_reducer<f16>, index_reducer<bf16>>,
    reducer_variant<index_reducer<float>, index_reducer<unsigned>>,
    reducer_variant<index_reducer<double>, index_reducer<unsigned64>>,
    reducer_variant<norm_reducer<unsigned16>, norm_reducer<short>, norm_reducer<bf16>>,
    reducer_variant<norm_reducer<float>, norm_reducer<unsigned>, norm_reducer<int>>,
    reducer_variant<norm_reducer<unsigned64>, norm_reducer<signed64>>,
    reducer_variant<variance_reducer<unsigned8>, variance_reducer<signed8>>,
    reducer_variant<variance_reducer<unsigned16>, variance_reducer<short>, variance_reducer<f16>,
                    variance_reducer<bf16>>,
    reducer_variant<variance_reducer<float>, variance_reducer<unsigned>, variance_reducer<int>>,
    reducer_variant<variance_reducer<double>, variance_reducer<unsigned64>,
                    variance_reducer<signed64>>,
    reducer_variant<dot_reducer<unsigned8>, dot_reducer<signed8>>,
    reducer_variant<dot_reducer<unsigned16>, dot_reducer<short>>,
    reducer_variant<dot_reducer<unsigned>, dot_reducer<int>>,
    reducer_variant<dot_reducer<f16>, dot_reducer<bf16>>>;

/* Finds the variant of a list that holds a Reducer. `type` is its group, or else the Reducer. */
template <class First>
struct group;
template <class First, class... Others>
struct found_group {
    using type = group<First>;
    using variant = reducer_variant<First, Others...>;
};
template <class Reducer, class List>
struct find_group : type_identity<Reducer> {
};
template <class Reducer, class... Members, class... Rest>
struct find_group<Reducer, type_list<reducer_variant<Members...>, Rest...>>
    : conditional_t<one_of<Reducer, Members...>::value, found_group<Members...>,
                    find_group<Reducer, type_list<Rest...>>> {
};
template <class Reducer>
using group_of = typename find_group<Reducer, reducer_groups>::type;

/* Names a variant by its first member, to keep kernels' names short. */
template <class First>
struct group : find_group<First, reducer_groups>::variant {
};

/* Returns a Reducer as its group. */
template <class Group, class Reducer>
__host__ __device__ Group as_group(const Reducer &reducer)
{
    if constexpr (are_same<Group, Reducer>) {
        return reducer;
    } else {
        Group variant = {};
        variant.activate(reducer);
        return variant;
    }
}

/* ---- Without NaN ---- */

/* What stands for a NaN: an element that changes nothing, for variances the pivot. Means and
 * variances also count NaNs. Extremes and indices know how to skip them (numbers_of). */
enum class nan_rule : unsigned char { replace, mean, variance };

/* Replaces the NaNs of a pack by other bits, and returns how many there are. */
template <class Element>
FASTREDUCE_DEVICE unsigned replace_nans(pack<Element> &numbers, bits_t<Element> infinity,
                                        bits_t<Element> by)
{
    using bits = bits_t<Element>;
    constexpr bits signs = top_bits<Element>;
    unsigned count = 0;
    if constexpr (sizeof(Element) == 2) {
#pragma unroll
        for (unsigned &word : numbers.word) {
            /* magnitudes above infinity carry into the signs */
            const unsigned nans = ((word & ~signs) + (~signs - infinity)) & signs,
                           mask = (nans << 1) - (nans >> 15);
            word = (word & ~mask) | (by & mask);
            count += static_cast<unsigned>(__popc(nans));
        }
    } else {
#pragma unroll
        for (Element &x : numbers.item) {
            /* by masks: conditions would make loads wait for each other */
            const bits word = bits_as<bits>(x), above = infinity - (word & ~signs),
                       mask = 0 - (above >> (8 * sizeof x - 1));
            x = bits_as<Element>((word & ~mask) | (by & mask));
            count += static_cast<unsigned>(mask & 1);
        }
    }
    return count;
}

/* A Value, and how many NaNs it leaves out. */
template <class Value>
struct value_and_nans {
    Value value;
    unsigned low, high; /* halves of the count: no padding */

    FASTREDUCE_DEVICE unsigned long long nans() const
    {
        return low | static_cast<unsigned long long>(high) << 32;
    }
};

/* A thread's packs, in which other elements stand for NaNs. */
template <class Type, class Items>
struct items_without_nan {
    using Element = Type;
    static constexpr unsigned packs_each = Items::packs_each, pack_size = Items::pack_size;
    const Items &items;
    bits_t<Element> infinity, replacement;

    FASTREDUCE_DEVICE pack<Element> operator[](unsigned k) const
    {
        auto numbers = bits_as<pack<Element>>(items[k]);
        replace_nans(numbers, infinity, replacement);
        return numbers;
    }
    FASTREDUCE_DEVICE size_t index_of(unsigned number) const { return items.index_of(number); }
};

/* Reduces as if NaNs were not there. The bits of 16-bit floats are in both halves of a word. */
template <class Reducer, nan_rule Rule>
struct without_nan : Reducer {
    static constexpr bool reduces_packs = true,
                          counts = Rule == nan_rule::mean || Rule == nan_rule::variance;
    using Element = typename Reducer::Element;
    using Inner = typename Reducer::Value;
    using Value = conditional_t<counts, value_and_nans<Inner>, Inner>;
    using bits = bits_t<Element>;

    bits infinity, replacement;

    template <class Items>
    FASTREDUCE_DEVICE auto clean(const Items &items) const
    {
        return items_without_nan<Element, Items>{items, infinity, replacement};
    }

    static FASTREDUCE_DEVICE Value identity() { return with_count(Reducer::identity(), 0); }
    FASTREDUCE_DEVICE Value zero() const { return with_count(Reducer::zero(), 0); }
    static FASTREDUCE_DEVICE Value combine(const Value &a, const Value &b)
    {
        if constexpr (counts)
            return with_count(Reducer::combine(a.value, b.value), a.nans() + b.nans());
        else
            return Reducer::combine(a, b);
    }
    FASTREDUCE_DEVICE void prepare(const void *input, size_t n)
    {
        if constexpr (Rule == nan_rule::variance) {
            const Element first = first_number(input, n);
            Reducer::prepare(&first, n);
            replacement = bits_as<unsigned_t<Element>>(first);
            if constexpr (sizeof(Element) == 2) replacement *= 0x10001;
        }
    }
    template <class Function>
    FASTREDUCE_DEVICE void visit(const Function &function) const
    {
        function(*this);
    }
    template <class Items, unsigned Count>
    FASTREDUCE_DEVICE void values_of(const Items &items, const Items &others,
                                     Value (&values)[Count]) const
    {
        Inner inner[Count];
        Reducer::values_of(clean(items), clean(others), inner);
#pragma unroll
        for (unsigned k = 0; k < Count; ++k) values[k] = with_count(inner[k], nans_of(items[k]));
    }
    template <class Items>
    FASTREDUCE_DEVICE Value value_of_packs(const Items &items) const
    {
        const Reducer &reducer = *this;
        const Inner value = thread_value(reducer, clean(items));
        unsigned nans = 0;
        if constexpr (counts)
#pragma unroll
            for (unsigned k = 0; k < Items::packs_each; ++k) nans += nans_of(items[k]);
        return with_count(value, nans);
    }
    FASTREDUCE_DEVICE Value warp_value(const Value &value) const
    {
        if constexpr (counts) {
            unsigned long long nans = value.nans();
#pragma unroll
            for (unsigned delta = warp_size / 2; delta > 0; delta /= 2)
                nans += shuffle_xor(nans, delta);
            return with_count(Reducer::warp_value(value.value), nans);
        } else {
            return Reducer::warp_value(value);
        }
    }
    FASTREDUCE_DEVICE void store(void *result, const Value &value, size_t n) const
    {
        if constexpr (counts)
            Reducer::store(result, value.value, n - value.nans());
        else
            Reducer::store(result, value, n);
    }
    FASTREDUCE_DEVICE void store_second(result_slot slot, const Value &value, size_t n) const
    {
        const Element first = first_number(slot.from, n);
        slot.from = &first;
        Reducer::store_second(slot, value.value, n - value.nans());
    }

  private:
    static FASTREDUCE_DEVICE Value with_count(const Inner &value, unsigned long long nans)
    {
        if constexpr (counts)
            return {value, static_cast<unsigned>(nans), static_cast<unsigned>(nans >> 32)};
        else
            return value;
    }
    template <class Pack>
    FASTREDUCE_DEVICE unsigned nans_of(const Pack &from) const
    {
        auto numbers = bits_as<pack<Element>>(from);
        return replace_nans(numbers, infinity, 0);
    }
    /* Returns a variance's pivot: the first element, or 0 for NaN. */
    FASTREDUCE_DEVICE Element first_number(const void *input, size_t n) const
    {
        pack<Element> first = {};
        first.fill(n > 0 ? *static_cast<const Element *>(input) : Element());
        replace_nans(first, infinity, 0);
        return first[0];
    }
};

/* ---- The reducer of an operator ---- */

/* Names the type that a sum reads. Modulo 2^64 signs make no difference to numbers of 64 bits. */
template <class Input>
using summed_t =
    conditional_t<element<Input>::is_integer && sizeof(Input) == 8, unsigned long long, Input>;
template <class Input, class Map = itself>
using sum_reducer = conditional_t<element<Input>::is_integer, integer_reducer<Input, Map>,
                                  plain_reducer<Input, plus, Map>>;

/* Returns the reducer of an extreme or its index: floats are compared as such, and integers without
 * their sign. */
template <class Operator, class Input, bool SkipsNan = false>
__host__ __device__ auto make_extreme_reducer()
{
    constexpr bool is_float = element<Input>::is_float,
                   is_signed = element<Input>::is_signed && !is_float;
    using compared = conditional_t<is_float, Input, unsigned_t<Input>>;
    using bits = bits_t<compared>;
    constexpr bits sign = top_bits<compared>, every_bit = ~bits(0),
                   integer_sign = is_signed ? sign : 0;
    constexpr bool is_least = one_of<Operator, minimum, argmin>::value,
                   is_index = one_of<Operator, argmin, argmax, argmax_abs>::value,
                   is_magnitude = one_of<Operator, max_abs, argmax_abs>::value;
    using transform_type = conditional_t<SkipsNan, numbers_of<compared>, key_transform<compared>>;
    [[maybe_unused]] constexpr key_transform<compared> transform = {
        is_magnitude && is_float ? ~sign : every_bit, is_magnitude ? bits(0)
                                                      : !is_least  ? integer_sign
                                                      : is_float   ? sign
                                                                   : ~integer_sign};
    /* of no elements the last one of the type, which is a magnitude of 0, and of bool true */
    using keys = element_keys<compared, SkipsNan>;
    constexpr bool least_bool = is_least && are_same<Input, bool>;
    [[maybe_unused]] const bits of_none = least_bool     ? 0xfe
                                          : is_magnitude ? keys::key_of({})
                                                         : keys::least;
    if constexpr (is_index && is_magnitude && is_signed)
        return index_reducer<compared, magnitudes_of<compared>>();
    else if constexpr (is_index)
        return index_reducer<compared, transform_type>{{}, {transform}};
    else if constexpr (is_magnitude && is_signed)
        return extreme_reducer<compared, magnitudes_of<compared>>();
    else
        return extreme_reducer<compared, transform_type>{{}, {}, {transform}, of_none};
}

/* Names an element's type as those of the same kind share it, so that they share kernels. Users'
 * operators, and the minimum of bools, whose result for no elements is true, have it as it is. */
template <class Operator, class Input>
using canonical_element_t =
    conditional_t<is_numeric_operator<Operator> ||
                      one_of<Operator, plus, multiplies, maximum>::value ||
                      (are_same<Operator, minimum> && !are_same<Input, bool>),
                  element_t<Input>, Input>;

/* Returns the reducer of an operator and a type of elements. */
template <class Operator, class Input>
__host__ __device__ auto make_reducer()
{
    using number = canonical_element_t<Operator, Input>;
    using type = element<number>;
    if constexpr (are_same<Operator, plus>) {
        return sum_reducer<summed_t<number>>();
    } else if constexpr (are_same<Operator, multiplies> && type::is_integer) {
        return integer_product<summed_t<number>>();
    } else if constexpr (are_same<Operator, sum_abs>) {
        return sum_reducer<number,
                           conditional_t<type::is_float || type::is_signed, magnitude, itself>>();
    } else if constexpr (are_same<Operator, sum_squares>) {
        return sum_reducer<summed_t<number>, squaring>();
    } else if constexpr (are_same<Operator, mean>) {
        if constexpr (type::is_float)
            return plain_reducer<number, plus, itself, true>{{}, result_step::mean};
        else if constexpr (sizeof(number) <= 2)
            return integer_reducer<number>{{}, result_step::mean};
        else
            return integer_mean<number>();
    } else if constexpr (are_same<Operator, norm2>) {
        /* f16 squares fit a float. Up to 2^46 squared bytes fit 63 bits. */
        if constexpr (type::is_f16 || sizeof(number) == 1)
            return sum_reducer<number, squaring>{{}, result_step::root};
        else
            return norm_reducer<number>();
    } else if constexpr (are_same<Operator, variance>) {
        return variance_reducer<number>();
    } else if constexpr (are_same<Operator, count_nonzero>) {
        return count_reducer<unsigned_t<number>>{{}, ~(type::is_float ? top_bits<number> : 0)};
    } else if constexpr (type::is_number && are_same<Operator, min_max>) {
        const auto least = make_extreme_reducer<minimum, number>();
        return min_max_reducer<typename decltype(least)::Element>{
            {}, least, make_extreme_reducer<maximum, number>()};
    } else if constexpr (type::is_number && one_of<Operator, minimum, maximum, max_abs, argmin,
                                                   argmax, argmax_abs>::value) {
        return make_extreme_reducer<Operator, number>();
    } else {
        return plain_reducer<number, Operator>();
    }
}
template <class Operator, class Input>
using reducer_t = decltype(make_reducer<Operator, Input>());

/* Returns the reducer that leaves out NaNs, of an operator of room 3 and a type of floats. */
template <class Operator, class Input>
__host__ __device__ auto make_reducer_without_nan()
{
    using number = element_t<Input>;
    if constexpr (are_same<Operator, min_max>) {
        return min_max_reducer<number, numbers_of<number>>{
            {},
            make_extreme_reducer<minimum, number, true>(),
            make_extreme_reducer<maximum, number, true>()};
    } else if constexpr (one_of<Operator, minimum, maximum, max_abs, argmin, argmax,
                                argmax_abs>::value) {
        return make_extreme_reducer<Operator, number, true>();
    } else {
        constexpr nan_rule rule = are_same<Operator, mean>       ? nan_rule::mean
                                  : are_same<Operator, variance> ? nan_rule::variance
                                                                 : nan_rule::replace;
        constexpr bits_t<number> infinity = bits_of_infinity<number>,
                                 copies = sizeof(number) == 2 ? 0x10001 : 1,
                                 exponent_one = copies << element<number>::fraction_bits,
                                 one = (infinity - exponent_one) / 2;
        auto reducer = make_reducer<Operator, number>();
        using group = group_of<decltype(reducer)>;
        return without_nan<group, rule>{as_group<group>(reducer), infinity,
                                        are_same<Operator, multiplies> ? one : 0};
    }
}

/* Names the reducer of a dot product of numbers. */
template <class Input>
using dot_t = dot_reducer<summed_t<element_t<Input>>>;

} // namespace detail

/* ================================================================================================
 * Room 4: building blocks
 * May hold: what threads, warps and blocks do together. Public: call them in kernels of your own,
 * as examples/block_reduce.cu does. The result is the same bits every time.
 * ============================================================================================= */

/* One thread's sum: input[first], input[first + stride] ... Items of them, one or more, those at
 * n and beyond left out. A thread whose items all exist takes the branch without
 * checks, so that its loads are all under way before the first addition. */
template <unsigned Items, class Operator, class Value, class Input>
FASTREDUCE_DEVICE Value thread_reduce(const Input *input, size_t first, size_t stride, size_t n)
{
    static_assert(Items >= 1, "Items must be at least 1");
    const Operator combine;
    Value value = Operator::template identity<Value>();
    if (first + (Items - 1) * stride < n) {
#pragma unroll
        for (unsigned k = 0; k < Items; ++k)
            value = combine(value, static_cast<Value>(input[first + k * stride]));
    } else {
#pragma unroll 1
        for (size_t k = first; k < n; k += stride)
            value = combine(value, static_cast<Value>(input[k]));
    }
    return value;
}

/* Reduces one value a lane over lanes 0 .. Width - 1 of a warp; Width is 1, 2, 4, 8, 16 or 32. All
 * 32 lanes call it; the result is lane 0's, the other lanes get partial results. */
template <class Operator, unsigned Width = warp_size, class Value>
FASTREDUCE_DEVICE Value warp_reduce(Value value)
{
    static_assert(Width >= 1 && Width <= warp_size && (Width & (Width - 1)) == 0,
                  "Width must be 1, 2, 4, 8, 16 or 32");
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
FASTREDUCE_DEVICE Value block_reduce(Value value, Value *warp_values)
{
    static_assert(detail::valid_block_size(BlockSize),
                  "BlockSize must be 32, 64, 128, 256, 512 or 1024");
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
 * Room 5: the ladder
 * May hold: V0..V7, one kernel each, in order, and the loop that launches them. All have one
 * skeleton: load to shared memory, a tree over the block, thread 0 stores the block's partial.
 * Each differs from the one before by the idea that its comment calls Change.
 *
 * A kernel reduces input[0 .. n) with a grid of one block a tile; block b writes partials[b].
 * Elements past n count as the identity. A block has blockDim.x threads, a power of two from 32
 * to 1024; from V5 on that is the template parameter BlockSize.
 * ============================================================================================= */

namespace detail
{
/* Returns input[i] as a Value, or the identity past the end. */
template <class Operator, class Value, class Input>
FASTREDUCE_DEVICE Value load_item(const Input *input, size_t i, size_t n)
{
    return i < n ? static_cast<Value>(input[i]) : Operator::template identity<Value>();
}
} // namespace detail

/* V0, baseline.
 * Change: none yet. Neighbours add up in pairs, pairs of pairs, and so on, in place.
 * Why:    log2(block size) steps instead of block size - 1 additions one after the other.
 * Costs:  the threads that work, every second, fourth, eighth ..., are spread over all warps:
 *         each warp takes every step for a few of its lanes. And % is slow. */
template <class Operator, class Value, class Input>
__global__ void __launch_bounds__(detail::max_block_size)
    v0_baseline(const Input *__restrict__ input, Value *__restrict__ partials, size_t n)
{
    Value *sdata = detail::dynamic_shared<Value>();
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + tid;
    const Operator combine;

    /* Load the thread's element. */
    sdata[tid] = detail::load_item<Operator, Value>(input, i, n);
    __syncthreads();

    /* Reduce the block in shared memory. */
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        if (tid % (2 * stride) == 0) sdata[tid] = combine(sdata[tid], sdata[tid + stride]);
        __syncthreads();
    }

    /* Store the block's partial. */
    if (tid == 0) partials[blockIdx.x] = sdata[0];
}

/* V1, no divergence.
 * Change: the same pairs, but thread t takes the t-th pair, so the threads that work are the
 *         first ones.
 * Why:    whole warps work or are done; no remainder.
 * Costs:  shared memory is in 32 banks, word k in bank k % 32, and each gives one word at a time.
 *         Lanes access it 2, 4, 8 ... words apart now, so that several want words of one bank,
 *         and wait for each other. */
template <class Operator, class Value, class Input>
__global__ void __launch_bounds__(detail::max_block_size)
    v1_no_divergence(const Input *__restrict__ input, Value *__restrict__ partials, size_t n)
{
    Value *sdata = detail::dynamic_shared<Value>();
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + tid;
    const Operator combine;

    /* Load the thread's element. */
    sdata[tid] = detail::load_item<Operator, Value>(input, i, n);
    __syncthreads();

    /* Reduce the block in shared memory. */
    for (unsigned stride = 1; stride < blockDim.x; stride *= 2) {
        const unsigned index = 2 * stride * tid;
        if (index < blockDim.x) sdata[index] = combine(sdata[index], sdata[index + stride]);
        __syncthreads();
    }

    /* Store the block's partial. */
    if (tid == 0) partials[blockIdx.x] = sdata[0];
}

/* V2, no bank conflicts.
 * Change: the stride starts at half the block and halves; thread t adds element t + stride to
 *         element t.
 * Why:    the lanes of a warp access neighbouring words, one a bank.
 * Costs:  half the threads never add: they load one element and wait. */
template <class Operator, class Value, class Input>
__global__ void __launch_bounds__(detail::max_block_size)
    v2_no_bank_conflict(const Input *__restrict__ input, Value *__restrict__ partials, size_t n)
{
    Value *sdata = detail::dynamic_shared<Value>();
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * blockDim.x + tid;
    const Operator combine;

    /* Load the thread's element. */
    sdata[tid] = detail::load_item<Operator, Value>(input, i, n);
    __syncthreads();

    /* Reduce the block in shared memory. */
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) sdata[tid] = combine(sdata[tid], sdata[tid + stride]);
        __syncthreads();
    }

    /* Store the block's partial. */
    if (tid == 0) partials[blockIdx.x] = sdata[0];
}

/* V3, add during load.
 * Change: two. Each thread loads two elements, a block apart, and adds them before the tree. And
 *         its sum, begun there, stays in a register; sdata[tid] is the copy that others read.
 * Why:    every thread adds at least once; half the blocks, and less than half the shared memory
 *         traffic an element. The register alone saves V2 10 % (1121 us, against 1239; 2^28
 *         floats, one H100).
 * Costs:  the last six steps keep every warp at block barriers for the work of one. */
template <class Operator, class Value, class Input>
__global__ void __launch_bounds__(detail::max_block_size)
    v3_add_during_load(const Input *__restrict__ input, Value *__restrict__ partials, size_t n)
{
    Value *sdata = detail::dynamic_shared<Value>();
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * (2 * blockDim.x) + tid;
    const Operator combine;

    /* Load the thread's two elements, and add them. */
    Value value = detail::load_item<Operator, Value>(input, i, n);
    if (i + blockDim.x < n) value = combine(value, static_cast<Value>(input[i + blockDim.x]));
    sdata[tid] = value;
    __syncthreads();

    /* Reduce the block in shared memory. */
    for (unsigned stride = blockDim.x / 2; stride > 0; stride /= 2) {
        if (tid < stride) sdata[tid] = value = combine(value, sdata[tid + stride]);
        __syncthreads();
    }

    /* Store the block's partial. */
    if (tid == 0) partials[blockIdx.x] = value;
}

/* V4, unroll the last warp.
 * Change: from stride 32 down only the first warp goes on, without block barriers and without a
 *         loop. Lanes of a warp do not run in step (since Volta), so a warp barrier stands where a
 *         lane's store meets another lane's load. A lane that has nothing to add stays out: reading
 *         on, as the classic code does, would leave the array of a block of 32 threads.
 * Why:    six block barriers fewer, and the other warps retire early, which makes room for the
 *         next block.
 * Costs:  the loop above it: counter, compare and branch for an addition or two. */
template <class Operator, class Value, class Input>
__global__ void __launch_bounds__(detail::max_block_size)
    v4_unroll_last_warp(const Input *__restrict__ input, Value *__restrict__ partials, size_t n)
{
    Value *sdata = detail::dynamic_shared<Value>();
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * (2 * blockDim.x) + tid;
    const Operator combine;

    /* Load the thread's two elements, and add them. */
    Value value = detail::load_item<Operator, Value>(input, i, n);
    if (i + blockDim.x < n) value = combine(value, static_cast<Value>(input[i + blockDim.x]));
    sdata[tid] = value;
    __syncthreads();

    /* Reduce the block in shared memory. */
    for (unsigned stride = blockDim.x / 2; stride > warp_size; stride /= 2) {
        if (tid < stride) sdata[tid] = value = combine(value, sdata[tid + stride]);
        __syncthreads();
    }

    /* Reduce the last warp, without block barriers. */
    if (tid >= warp_size) return;
    if (blockDim.x > warp_size) sdata[tid] = value = combine(value, sdata[tid + warp_size]);
    __syncwarp();
#pragma unroll
    for (unsigned stride = warp_size / 2; stride > 0; stride /= 2) {
        if (tid < stride) sdata[tid] = value = combine(value, sdata[tid + stride]);
        __syncwarp();
    }

    /* Store the block's partial. */
    if (tid == 0) partials[blockIdx.x] = value;
}

/* V5, completely unrolled.
 * Change: the block size is a template parameter, so the compiler unrolls every step.
 * Why:    no loop, no comparison with blockDim.x, shared memory of a known size.
 * Costs:  two loads a thread: too few on their way to memory at a time, too many blocks to
 *         start. */
template <class Operator, unsigned BlockSize, class Value, class Input>
__global__ void __launch_bounds__(BlockSize)
    v5_completely_unroll(const Input *__restrict__ input, Value *__restrict__ partials, size_t n)
{
    __shared__ Value sdata[BlockSize];
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * (2 * BlockSize) + tid;
    const Operator combine;

    /* Load the thread's two elements, and add them. */
    Value value = detail::load_item<Operator, Value>(input, i, n);
    if (i + BlockSize < n) value = combine(value, static_cast<Value>(input[i + BlockSize]));
    sdata[tid] = value;
    __syncthreads();

    /* Reduce the block in shared memory. */
#pragma unroll
    for (unsigned stride = BlockSize / 2; stride > warp_size; stride /= 2) {
        if (tid < stride) sdata[tid] = value = combine(value, sdata[tid + stride]);
        __syncthreads();
    }

    /* Reduce the last warp, without block barriers. */
    if (tid >= warp_size) return;
    if (BlockSize > warp_size) sdata[tid] = value = combine(value, sdata[tid + warp_size]);
    __syncwarp();
#pragma unroll
    for (unsigned stride = warp_size / 2; stride > 0; stride /= 2) {
        if (tid < stride) sdata[tid] = value = combine(value, sdata[tid + stride]);
        __syncwarp();
    }

    /* Store the block's partial. */
    if (tid == 0) partials[blockIdx.x] = value;
}

/* V6, multi add.
 * Change: each thread adds Items elements, a block apart, before the tree. A thread whose elements
 *         are all there takes the branch without checks: its loads all begin before it adds.
 * Why:    Items loads on their way at once, and the tree's cost is shared by Items times as many
 *         elements.
 * Costs:  the tree still moves every value through shared memory. */
template <class Operator, unsigned BlockSize, unsigned Items, class Value, class Input>
__global__ void __launch_bounds__(BlockSize)
    v6_multi_add(const Input *__restrict__ input, Value *__restrict__ partials, size_t n)
{
    __shared__ Value sdata[BlockSize];
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * (Items * BlockSize) + tid;
    const Operator combine;

    /* Load the thread's elements, and add them. */
    Value value = Operator::template identity<Value>();
    if (i + (Items - 1) * BlockSize < n) {
#pragma unroll
        for (unsigned k = 0; k < Items; ++k)
            value = combine(value, static_cast<Value>(input[i + k * BlockSize]));
    } else {
#pragma unroll 1
        for (size_t k = i; k < n; k += BlockSize)
            value = combine(value, static_cast<Value>(input[k]));
    }
    sdata[tid] = value;
    __syncthreads();

    /* Reduce the block in shared memory. */
#pragma unroll
    for (unsigned stride = BlockSize / 2; stride > warp_size; stride /= 2) {
        if (tid < stride) sdata[tid] = value = combine(value, sdata[tid + stride]);
        __syncthreads();
    }

    /* Reduce the last warp, without block barriers. */
    if (tid >= warp_size) return;
    if (BlockSize > warp_size) sdata[tid] = value = combine(value, sdata[tid + warp_size]);
    __syncwarp();
#pragma unroll
    for (unsigned stride = warp_size / 2; stride > 0; stride /= 2) {
        if (tid < stride) sdata[tid] = value = combine(value, sdata[tid + stride]);
        __syncwarp();
    }

    /* Store the block's partial. */
    if (tid == 0) partials[blockIdx.x] = value;
}

/* V7, shuffle.
 * Change: lanes hand values over by shuffle, from register to register. Shared memory holds one
 *         value a warp, which the first warp's lanes then hand over in the same way.
 * Why:    almost no shared memory traffic, one block barrier.
 * Costs:  nothing that shows: from V6 on memory is the limit (93 % of its peak at 2^28 floats,
 *         one H200).
 * Next:   reduce_pairwise, in room 6, by four steps, lessons 10 to 13 of examples/course: loads
 *         of vectors; pairs of neighbors, by lanes that hand halves over; one launch, in which
 *         blocks meet; and the sum whose order six lines of C name. */
template <class Operator, unsigned BlockSize, unsigned Items, class Value, class Input>
__global__ void __launch_bounds__(BlockSize)
    v7_shuffle(const Input *__restrict__ input, Value *__restrict__ partials, size_t n)
{
    constexpr unsigned warps = BlockSize / warp_size;
    __shared__ Value warp_values[warps];
    const unsigned tid = threadIdx.x;
    const size_t i = static_cast<size_t>(blockIdx.x) * (Items * BlockSize) + tid;
    const Operator combine;

    /* Load the thread's elements, and add them. */
    Value value = Operator::template identity<Value>();
    if (i + (Items - 1) * BlockSize < n) {
#pragma unroll
        for (unsigned k = 0; k < Items; ++k)
            value = combine(value, static_cast<Value>(input[i + k * BlockSize]));
    } else {
#pragma unroll 1
        for (size_t k = i; k < n; k += BlockSize)
            value = combine(value, static_cast<Value>(input[k]));
    }

    /* Reduce each warp in registers. */
#pragma unroll
    for (unsigned delta = warp_size / 2; delta > 0; delta /= 2)
        value = combine(value, detail::shuffle_down(value, delta));
    if (tid % warp_size == 0) warp_values[tid / warp_size] = value;
    __syncthreads();

    /* Reduce the warps' values in the first warp. */
    if (tid >= warp_size) return;
    if (tid < warps) value = warp_values[tid];
#pragma unroll
    for (unsigned delta = warps / 2; delta > 0; delta /= 2)
        value = combine(value, detail::shuffle_down(value, delta));

    /* Store the block's partial. */
    if (tid == 0) partials[blockIdx.x] = value;
}

/* Blocks, and so partials, of the level that reduces n elements. With none one block writes the
 * identity. */
__host__ __device__ constexpr size_t blocks_for(size_t n, size_t tile)
{
    return n == 0 ? 1 : (n - 1) / tile + 1;
}

#ifndef __CUDACC_RTC__
namespace detail
{
/* A version without its types: its kernel for the first level, which reads elements, and for those
 * after it, which read partials; and how they are launched. */
struct version_kernels {
    const void *first, *next;
    unsigned block_size;
    size_t tile, shared_bytes; /* dynamic */
    size_t partial_size, alignment;
};

/* One level: n elements to blocks_for(n, tile) partials. */
inline cudaError_t launch_round(const void *kernel, const version_kernels &version,
                                const void *input, void *partials, size_t n, cudaStream_t stream)
{
    void *arguments[] = {&input, &partials, &n};
    return cudaLaunchKernel(kernel, dim3(static_cast<unsigned>(blocks_for(n, version.tile))),
                            dim3(version.block_size), arguments, version.shared_bytes, stream);
}

/* The ladder's loop: levels until one partial is left, which goes to the output. The others go to
 * the two halves of a workspace in turn, as a level must not write what it reads: its blocks run in
 * any order. */
inline cudaError_t launch_levels(const version_kernels &version, const void *input, void *output,
                                 size_t n, void *const (&half)[2], cudaStream_t stream)
{
    const void *kernel = version.first;
    for (unsigned level = 0;; ++level) {
        const size_t blocks = blocks_for(n, version.tile);
        void *const partials = blocks > 1 ? half[level % 2] : output;
        const cudaError_t error = launch_round(kernel, version, input, partials, n, stream);
        if (blocks == 1 || error != cudaSuccess) return error;
        kernel = version.next;
        input = partials;
        n = blocks;
    }
}
} // namespace detail
#endif /* __CUDACC_RTC__ */

/* ================================================================================================
 * Room 6: the engine behind FASTREDUCE_AUTO
 * May hold: kernels that reduce elements, whatever a Reducer makes of them.
 *
 * AUTO's are for a Reducer, and one reduction, the pairwise one by index: reduce_pairwise, what
 * comes after V7, of one array or of long rows; reduce_short_rows and reduce_segments;
 * reduce_columns of what does not lie together; and reduce_by_threads of a few elements each.
 * ============================================================================================= */

namespace detail
{

__host__ __device__ constexpr size_t min_of(size_t a, size_t b) { return a < b ? a : b; }

/* Returns how many bytes an address is behind that of a vector. */
FASTREDUCE_DEVICE unsigned misalignment_of(const void *address)
{
    return static_cast<unsigned>(reinterpret_cast<uintptr_t>(address)) % pack_bytes;
}

/* Partials of blocks, in status words. A block awaits those of blocks whose index is lower, and
 * which are assumed to have begun before it. All GPUs so far begin blocks in the order of their
 * indices, and CUB's scans rely on it too; CUDA does not promise it. */
template <class Value>
struct partial_words {
    using Format = word_format<Value>;
    static constexpr unsigned count = Format::payloads;

    static FASTREDUCE_DEVICE void publish(status_word *base, size_t number, const Value &value)
    {
        unsigned long long payload[count];
        Format::split(value, payload);
#pragma unroll
        for (unsigned w = 0; w < count; ++w) detail::publish(base + number * count + w, payload[w]);
    }

    /* Waits for those of Count partials, `stride` of them apart, that are awaited(k), and leaves
     * their words zero; other values stay as they are. All loads are under way at once. Whole warps
     * call it, and go on together: lanes that look again by themselves take turns, up to twice as
     * long (columns, one H100). */
    template <unsigned Count, class Awaited>
    static FASTREDUCE_DEVICE void await(status_word *first, size_t stride, const Awaited &awaited,
                                        Value (&values)[Count])
    {
        status_word word[Count * count];
        bool missing;
        do {
            missing = false;
#pragma unroll
            for (unsigned k = 0; k < Count * count; ++k)
                word[k] =
                    awaited(k / count) ? peek(first + (k / count * stride * count + k % count)) : 1;
#pragma unroll
            for (unsigned k = 0; k < Count * count; ++k) missing |= word[k] == 0;
        } while (__any_sync(all_lanes, missing));
#pragma unroll
        for (unsigned k = 0; k < Count; ++k) {
            if (!awaited(k)) continue;
            unsigned long long payload[count];
#pragma unroll
            for (unsigned w = 0; w < count; ++w) {
                payload[w] = word[k * count + w] >> 1;
                first[k * stride * count + w] = 0;
            }
            values[k] = Format::join(payload);
        }
    }
};

/* A reduction's output, and that of second results, or null. */
template <class Reducer>
struct reduction_output {
    void *result;
    Reducer reducer;
    void *second = nullptr;

    /* Returns where result `number` goes, whose elements begin at `from`. The layout has the sizes
     * of results. */
    template <class Layout>
    FASTREDUCE_DEVICE result_slot slot(const Layout &layout, size_t number, const void *from,
                                       size_t stride = 1) const
    {
        return {static_cast<unsigned char *>(result) + number * layout.result_bytes,
                second == nullptr
                    ? nullptr
                    : static_cast<unsigned char *>(second) + number * layout.second_bytes,
                from, stride};
    }
};

/* Stores a second result, out of line. */
template <class Reducer>
__device__ __noinline__ void store_second(Reducer reducer, typename Reducer::Value value,
                                          result_slot slot, size_t n)
{
    reducer.store_second(slot, value, n);
}
/* Stores a result, and the second result if it is asked for. A second result that reads the input
 * is stored out of line, unless a kernel has a Single result: each repetition would lengthen it. */
template <bool Single = false, class Reducer, class Value>
FASTREDUCE_DEVICE void store_results(const Reducer &reducer, const result_slot &slot,
                                     const Value &value, size_t n)
{
    reducer.store(slot.result, value, n);
    if constexpr (Reducer::has_second)
        if (slot.second != nullptr) {
            if constexpr (Single || !Reducer::second_reads_input)
                reducer.store_second(slot, value, n);
            else
                store_second(reducer, value, slot, n);
        }
}

/* Returns the 16 bytes of elements that begin `shift` bytes after the first of two vectors. */
template <class Element>
FASTREDUCE_DEVICE pack<unsigned> shifted_words(const pack<unsigned> &a, const pack<unsigned> &b,
                                               unsigned shift)
{
    unsigned word[8];
    pack<unsigned> shifted;
#pragma unroll
    for (unsigned w = 0; w < 8; ++w) word[w] = w < 4 ? a.item[w] : b.item[w - 4];
#pragma unroll
    for (unsigned w = 0; w < 6; ++w)
        if (shift & 8) word[w] = word[w + 2];
#pragma unroll
    for (unsigned w = 0; w < 5; ++w)
        if (shift & 4) word[w] = word[w + 1];
#pragma unroll
    for (unsigned w = 0; w < 4; ++w)
        shifted.item[w] =
            alignof(Element) >= 4
                ? word[w]
                : static_cast<unsigned>(
                      (word[w] | static_cast<unsigned long long>(word[w + 1]) << 32) >>
                      shift % 4 * 8);
    return shifted;
}

/* ---- AUTO: the pairwise reduction by index ----
 *
 * It computes these six lines, for n > 0 elements as the Reducer maps each:
 *
 *     Value pairwise(const Value *x, size_t n)
 *     {
 *         size_t half = 1;
 *         if (n == 1) return x[0];
 *         while (2 * half < n) half *= 2;
 *         return combine(pairwise(x, half), pairwise(x + half, n - half));
 *     }
 *
 * Neighbours first, then pairs of pairs: the balanced tree over the index, with the identity as
 * padding. A thread reduces packs; lanes, warps, blocks and groups of blocks combine as far as
 * they are neighbours. So the bits depend on nothing but the elements. */

/* Where a lane's packs of a tile begin, and how it may load them. */
struct tile_offset {
    size_t index; /* element */
    bool whole;   /* all packs of the warp are vectors that exist */
};

/* A lane's packs, with a stride. */
template <class Input, unsigned Packs, unsigned Stride = warp_size>
struct lane_packs {
    using Element = Input;
    static constexpr unsigned packs_each = Packs, pack_size = pack<Element>::size,
                              stride = Stride * pack_size, span = Packs * stride;
    pack<Element> packs[Packs];
    size_t index, n; /* of the first pack's first element; of all elements */

    FASTREDUCE_DEVICE const pack<Element> &operator[](unsigned k) const { return packs[k]; }
    FASTREDUCE_DEVICE size_t index_of(unsigned k) const { return index + k * stride; }
    /* Returns how many elements of a pack exist. */
    FASTREDUCE_DEVICE unsigned existing(unsigned k) const
    {
        const size_t first = index_of(k);
        return static_cast<unsigned>(min_of(first < n ? n - first : 0, pack_size));
    }

    /* Loads packs that exist, as vectors. All loads are under way at once. */
    template <bool Streaming>
    FASTREDUCE_DEVICE void load_whole(const Element *input)
    {
        const pack<Element> *const from = reinterpret_cast<const pack<Element> *>(input + index);
#pragma unroll
        for (unsigned k = 0; k < Packs; ++k) packs[k] = load_pack<Streaming>(from + k * warp_size);
    }
    /* Loads elements one by one, from any address, and `padding` behind the end of the array. That
     * is quicker where elements are wide and ends are near. */
    FASTREDUCE_DEVICE void load_elements(const Element *input, const Element &padding)
    {
        const unsigned remaining = static_cast<unsigned>(min_of(index < n ? n - index : 0, span));
#pragma unroll
        for (unsigned k = 0; k < Packs; ++k) {
            packs[k].fill(padding);
            packs[k].gather(input + index + k * stride,
                            k * stride < remaining ? remaining - k * stride : 0);
        }
    }
    /* Loads packs from any address, and `padding` behind the end of the array. It shifts a pack out
     * of two aligned vectors: a lane loads one of them, and has the other from the next lane. At
     * the array's ends, which these exceed, it loads elements one by one. */
    FASTREDUCE_DEVICE void load_any(const Element *input, const Element &padding)
    {
        const Element *const start = input + index;
        const size_t behind = index < n ? n - index : 0;
        const unsigned remaining = static_cast<unsigned>(min_of(behind, 2 * span)),
                       shift = can_shift ? misalignment_of(start) : 0,
                       reach = shift > 0 ? 2 * pack_size : pack_size;
        const pack<Element> *const from = reinterpret_cast<const pack<Element> *>(
            reinterpret_cast<const unsigned char *>(start) - shift);
        pack<Element> extra; /* of lane 0: behind the last pack of lane 31 */
        extra.fill(padding);
        if (shift > 0 && threadIdx.x % warp_size == 0 && span + pack_size <= remaining)
            extra = load_pack<false>(from + Packs * warp_size);
        unsigned by_elements = 0; /* a bit each */
#pragma unroll
        for (unsigned k = 0; k < Packs; ++k) {
            const bool exceeds = k == 0 && shift > 0 && index == 0;
            if ((exceeds || k * stride + reach > remaining) && k * stride < remaining)
                by_elements |= 1u << k;
            packs[k].fill(padding);
            if (!exceeds && k * stride + pack_size <= remaining)
                packs[k] = load_pack<false>(from + k * warp_size);
        }
        if constexpr (can_shift)
            if (shift > 0) shift_packs(extra, shift);
#pragma unroll 1
        for (unsigned k = 0; by_elements >> k != 0; ++k) {
            if ((by_elements >> k & 1) == 0) continue;
            pack<Element> single = {};
            single.gather(start + k * stride, existing(k));
            single.fill_from(existing(k), padding);
#pragma unroll
            for (unsigned j = 0; j < Packs; ++j) packs[j] = select_value(j == k, single, packs[j]);
        }
    }

    /* Loads a tile's packs. It calls `padding`() where it needs one. */
    template <class Padding>
    FASTREDUCE_DEVICE void load(const Element *input, const tile_offset &offset, bool streaming,
                                const Padding &padding)
    {
        if (offset.whole && !streaming)
            load_whole<false>(input);
        else if (offset.whole)
            load_whole<true>(input);
        else
            load_any(input, padding());
    }

  private:
    static constexpr bool can_shift = sizeof(pack<Element>) == pack_bytes;

    FASTREDUCE_DEVICE void shift_packs(const pack<Element> &extra, unsigned shift)
    {
        const unsigned lane = threadIdx.x % warp_size;
#pragma unroll
        for (unsigned k = 0; k < Packs; ++k) {
            const pack<Element> &below = k + 1 < Packs ? packs[(k + 1) % Packs] : extra,
                                next = shuffle(select_value(lane == 0, below, packs[k]),
                                               (lane + 1) % warp_size);
            packs[k] = bits_as<pack<Element>>(shifted_words<Element>(
                bits_as<pack<unsigned>>(packs[k]), bits_as<pack<unsigned>>(next), shift));
        }
    }
};

/* Returns the least b with 2^b >= number. */
__host__ __device__ constexpr unsigned bits_for(size_t number)
{
    unsigned bits = 0;
    while (bits < 64 && size_t(1) << bits < number) ++bits;
    return bits;
}

/* Combines the Value that a lane has kept with what the lane `delta` from it hands over. */
template <class Reducer, class Value>
FASTREDUCE_DEVICE Value combine_pair(const Reducer &reducer, const Value &kept, const Value &handed,
                                     unsigned delta)
{
    const Value neighbor = shuffle_xor(handed, delta);
    const bool swapped = !Reducer::commutes && (threadIdx.x & delta) != 0;
    return reducer.combine(select_value(swapped, neighbor, kept),
                           select_value(swapped, kept, neighbor));
}

/* A number that is known when the kernel is compiled, where others are known when it runs. */
template <unsigned Number>
struct fixed_number {
    __host__ FASTREDUCE_DEVICE constexpr operator unsigned() const { return Number; }
};

/* Reduces results that 2^lanes_log lanes share, with 2^chunks_log Values of each lane, in the order
 * of chunks and then of lanes. While lanes pair, each hands over the half of its Values that its
 * partner keeps. So this takes Count - 1 shuffles more than one Value a lane. Afterwards a lane has
 * Count >> lanes_log results, or one. */
template <unsigned Delta = 1, unsigned Held = 0, class Reducer, class Log, class ChunksLog,
          class Value, unsigned Count>
FASTREDUCE_DEVICE void pair_lanes(const Reducer &reducer, Log lanes_log, ChunksLog chunks_log,
                                  Value (&values)[Count])
{
    constexpr unsigned held = Held == 0 ? Count : Held;
    if constexpr (held > 1) {
        const bool upper = threadIdx.x & Delta;
        if (Delta >> lanes_log != 0) return;
#pragma unroll
        for (unsigned k = 0; k < held / 2; ++k) {
            const Value kept = select_value(upper, values[k + held / 2], values[k]),
                        handed = select_value(upper, values[k], values[k + held / 2]);
            values[k] = combine_pair(reducer, kept, handed, Delta);
        }
        pair_lanes<2 * Delta, held / 2>(reducer, lanes_log, chunks_log, values);
    } else {
        [[maybe_unused]] constexpr unsigned unrolled = are_same<Log, unsigned> ? 1 : warp_log;
#pragma unroll unrolled
        for (unsigned delta = Delta; delta >> lanes_log == 0; delta *= 2)
            values[0] = combine_pair(reducer, values[0], values[0], delta);
            /* The number of a Value's chunk lies reversed in the lanes. */
#pragma unroll unrolled
        for (unsigned bit = Count / 2; bit > 0 && bit << chunks_log >= Count; bit /= 2)
            values[0] = combine_pair(reducer, values[0], values[0], bit);
    }
}

/* Returns the Value of Lanes lanes that have Count Values each. Reducers that allow any order have
 * one, which some reduce faster by a whole warp. IsTile: it comes from one tile. */
template <unsigned Lanes, bool IsTile, class Reducer, class Value, unsigned Count>
FASTREDUCE_DEVICE Value lanes_value(const Reducer &reducer, Value (&values)[Count])
{
    [[maybe_unused]] constexpr fixed_number<bits_for(Lanes)> lanes_log;
    if constexpr (!Reducer::any_order)
        pair_lanes(reducer, lanes_log, fixed_number<bits_for(Count)>(), values);
    else if constexpr (Reducer::by_warp)
        values[0] = reducer.warp_value(values[0]);
    else if constexpr (IsTile && Reducer::tile_by_warp)
        values[0] = reducer.tile_warp_value(values[0]);
    else
        pair_lanes<1, 1>(reducer, lanes_log, fixed_number<0>(), values);
    return values[0];
}

/* Returns the Value of a block, from one Value a warp, in warp 0. */
template <class Reducer, class Value, unsigned Warps>
FASTREDUCE_DEVICE Value block_value(const Reducer &reducer, unsigned threads,
                                    const Value &warp_value, Value (&warp_values)[Warps])
{
    if constexpr (Warps == 1) return warp_value;
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size;
    if (lane == 0) warp_values[warp] = warp_value;
    __syncthreads();
    if (warp > 0) return warp_value;
    Value value[1] = {lane < threads / warp_size ? warp_values[lane] : reducer.zero()};
    return lanes_value<Warps, false>(reducer, value);
}

constexpr size_t kibibyte = 1024, mebibyte = 1024 * kibibyte;
constexpr unsigned small_block = 256, large_block = 512, most_run_log = 31;
constexpr size_t turns_of_block = 32;

/* Returns how many packs of a thread fit in registers, beside their Values. (Dot products of 65536
 * rows: of 1000 floats 8 packs take .83 of the time of 4, but of 129 bf16 1.18, one H200.) */
template <class Reducer>
__host__ __device__ constexpr unsigned packs_of_thread()
{
    constexpr size_t value = sizeof(typename Reducer::Value);
    constexpr bool narrow_products =
        Reducer::two_arrays && sizeof(typename Reducer::Element) < sizeof(float);
    return value > 24 ? 2 : value > (Reducer::any_order ? 12 : 8) || narrow_products ? 4 : 8;
}

/* How many arrays a Reducer reads. */
template <class Reducer>
constexpr unsigned arrays_of = Reducer::two_arrays ? 2 : 1;
/* Whether lanes keep Values over a result's tiles, in any order. */
template <class Reducer>
constexpr bool keeps_lane_values = Reducer::any_order && !Reducer::tile_by_warp;
/* The packs of a thread that goes through several tiles of a result. */
template <class Reducer>
constexpr unsigned packs_of_step = Reducer::any_order && sizeof(typename Reducer::Value) <= 24
                                       ? 8
                                       : packs_of_thread<Reducer>();

/* Returns the number of a thread's first pack. Those of a warp's lanes are next to each other. */
template <unsigned Packs>
FASTREDUCE_DEVICE unsigned first_pack()
{
    return threadIdx.x / warp_size * (warp_size * Packs) + threadIdx.x % warp_size;
}

template <class Element, unsigned Packs>
__host__ __device__ constexpr size_t elements_of_tile(unsigned threads)
{
    return size_t(threads) * Packs * pack<Element>::size;
}

/* An array, or two of a dot product, or rows of equal length; and how blocks share each: one
 * reduces a run of 2^run_log tiles. */
struct pairwise_array {
    const void *input, *other;
    const size_t *n_on_device;
    size_t n;                /* elements; the most there may be, if their number */
    unsigned runs, last_run; /* of tiles; tiles of the last one */
    unsigned run_log;
    unsigned prefetch_bytes;             /* of each block's first tile */
    bool vectors;                        /* packs are vectors, by their addresses */
    bool streaming;                      /* the input exceeds the cache */
    unsigned result_bytes, second_bytes; /* of rows */
    size_t row, pitch; /* the first row of this launch; elements from row to row, or 0 */

    /* Splits the array into as many runs as are allowed, and at most turns_of_block for each
     * block. */
    __host__ __device__ void share(size_t tile_elements, size_t most_runs, size_t blocks)
    {
        const size_t tiles = blocks_for(n, tile_elements),
                     most = min_of(most_runs, turns_of_block * blocks);
        for (run_log = 0; run_log < most_run_log && (tiles - 1) >> run_log >= most;) ++run_log;
        runs = static_cast<unsigned>((tiles - 1) >> run_log) + 1;
        last_run = static_cast<unsigned>(tiles - (static_cast<size_t>(runs - 1) << run_log));
    }
    /* Becomes one of the rows. */
    template <class Reducer>
    FASTREDUCE_DEVICE void select_row(size_t number)
    {
        using Element = typename Reducer::Element;
        input = static_cast<const Element *>(input) + number * pitch;
        vectors = misalignment_of(input) == 0;
        if constexpr (Reducer::two_arrays) {
            other = static_cast<const Element *>(other) + number * pitch;
            vectors = vectors && misalignment_of(other) == 0;
        }
    }
    template <class Element, unsigned Packs>
    FASTREDUCE_DEVICE tile_offset locate_tile(unsigned threads, size_t run, unsigned tile) const
    {
        constexpr unsigned pack_size = pack<Element>::size;
        const size_t first = ((run << run_log) + tile) * elements_of_tile<Element, Packs>(threads);
        const unsigned pack = first_pack<Packs>(),
                       end = pack - threadIdx.x % warp_size + Packs * warp_size;
        return {first + pack * pack_size, vectors && first + end * pack_size <= n};
    }
};

/* Reduces a lane's packs to one Value each, or in any order to one Value. */
template <class Reducer, class Items, class Value, unsigned Packs>
FASTREDUCE_DEVICE void item_values(const Reducer &reducer, const Items &items, const Items &others,
                                   Value (&values)[Packs])
{
    if constexpr (Reducer::any_order && !Reducer::two_arrays)
        values[0] = thread_value(reducer, items_as<typename Reducer::Element, Items>(items));
    else
        reducer.values_of(items, others, values);
    if constexpr (Reducer::any_order && Reducer::two_arrays) combine_all(reducer, values);
}

/* Loads a lane's packs of a tile and reduces them so. */
template <class Reducer, class Value, unsigned Packs>
FASTREDUCE_DEVICE void load_values(const Reducer &reducer, const pairwise_array &array,
                                   const tile_offset &offset, Value (&values)[Packs])
{
    using Element = typename Reducer::Element;
    using Items = lane_packs<Element, Packs>;
    const Element *const x = static_cast<const Element *>(array.input);
    [[maybe_unused]] const Element *const y = static_cast<const Element *>(array.other);
    Items items = {{}, offset.index, array.n};
    [[maybe_unused]] Items others = items;
    items.load(x, offset, array.streaming,
               [&]() { return array.n > 0 ? reducer.padding(x) : Element(); });
    if constexpr (Reducer::two_arrays)
        others.load(y, offset, array.streaming, []() { return Element(); });
    item_values(reducer, items, others, values);
}

/* A block's shared memory. */
template <class Value, unsigned Warps>
struct block_values {
    Value warp_values[Warps], carried[most_run_log + 1];
    unsigned next_run;
};

/* Partials of a group that one thread awaits. More would cost registers that the tile loop
 * needs. */
constexpr unsigned partials_of_thread = 2;

/* Returns the Value of a group of runs, in warp 0 of the block of its first run, which is `number`
 * of `count`. It awaits the partials of the others. What one warp can await needs no barrier. */
template <class Reducer, class Value, unsigned Warps>
FASTREDUCE_DEVICE Value group_value(const Reducer &reducer, unsigned threads,
                                    status_word *status_words, unsigned number, unsigned count,
                                    Value value, block_values<Value, Warps> &shared)
{
    const bool by_warp = Warps == 1 || count - number <= warp_size * partials_of_thread;
    if (by_warp && threadIdx.x >= warp_size) return value;
    const unsigned first = first_pack<partials_of_thread>();
    Value values[partials_of_thread];
#pragma unroll
    for (unsigned k = 0; k < partials_of_thread; ++k)
        values[k] = select_value(first + k == 0, value, reducer.zero());
    if (!by_warp) __syncthreads(); /* warp_values is used again */
    const auto awaited = [&](unsigned k) {
        return first + k > 0 && first + k * warp_size < count - number;
    };
    partial_words<Value>::await(status_words + size_t(number + first) * partial_words<Value>::count,
                                warp_size, awaited, values);
    if constexpr (Reducer::any_order) combine_all(reducer, values);
    value = lanes_value<warp_size, false>(reducer, values);
    return by_warp ? value : block_value(reducer, threads, value, shared.warp_values);
}

/* Combines the Values of a run's tiles in pairs, pairs of pairs and so on, as ones carry in the
 * binary number that counts tiles. The last tile's Value is that of the run. One thread calls
 * it. */
template <class Reducer, class Value>
FASTREDUCE_DEVICE Value carry(const Reducer &reducer, Value value, Value *carried, size_t position,
                              bool last)
{
    unsigned level = 0;
#pragma unroll 1
    for (; position >> level & 1; ++level) value = reducer.combine(carried[level], value);
    carried[level] = value;
#pragma unroll 1
    for (++level; last && (position + 1) >> level != 0; ++level)
        if ((position + 1) >> level & 1) value = reducer.combine(carried[level], value);
    return value;
}

/* Asks for a part of the block's first tile before the previous grid has ended, so that it is in L2
 * when it is read: 10 to 20 % faster up to 2^18, 2 to 7 % up to 2^24 (one H200, a graph of calls).
 * One thread calls it. */
template <class Element, unsigned Packs>
FASTREDUCE_DEVICE void prefetch_tile(const pairwise_array &array, unsigned threads, size_t run)
{
    const size_t first = (run << array.run_log) * elements_of_tile<Element, Packs>(threads),
                 remaining = first < array.n ? (array.n - first) * sizeof(Element) : 0,
                 bytes = min_of(remaining, array.prefetch_bytes);
    prefetch_to_l2(static_cast<const Element *>(array.input) + first, bytes);
    if (array.other != nullptr)
        prefetch_to_l2(static_cast<const Element *>(array.other) + first, bytes);
}

/* Reduces a run of tiles by a block. The block hands the partial to its group's first run; that one
 * hands the group's to the first of the groups, and so on. Runs wait only for those after them,
 * which have to begin before. One launch: two cost 1.2 us more, a fence and a ticket 0.5 us (one
 * H200). */
template <unsigned Packs, class Reducer, class Value, unsigned Warps>
FASTREDUCE_DEVICE void reduce_run(const Reducer &reducer, const pairwise_array &array,
                                  const result_slot &slot, status_word *status_words,
                                  size_t most_runs, unsigned threads, unsigned run,
                                  block_values<Value, Warps> &shared)
{
    using partials = partial_words<Value>;
    using Element = typename Reducer::Element;
    constexpr unsigned group = Warps * warp_size * partials_of_thread;
    constexpr bool keeps_values = keeps_lane_values<Reducer>;
    [[maybe_unused]] Value value, lane_value;
#pragma unroll 1
    for (unsigned tile = 0;;) { /* of the run */
        Value values[Packs];
        load_values(reducer, array, array.template locate_tile<Element, Packs>(threads, run, tile),
                    values);
        if constexpr (keeps_values)
            values[0] = lane_value = tile > 0 ? reducer.combine(lane_value, values[0]) : values[0];
        const unsigned tiles = run + 1 < array.runs ? 1u << array.run_log : array.last_run;
        if (!keeps_values || tile + 1 == tiles)
            value = block_value(reducer, threads, lanes_value<warp_size, true>(reducer, values),
                                shared.warp_values);
        if (array.run_log == 0) break;
        if (!keeps_values && threadIdx.x == 0)
            value = carry(reducer, value, shared.carried, tile, tile + 1 == tiles);
        if (++tile == tiles) break;
        if (!keeps_values) __syncthreads(); /* warp_values is used again */
    }
    /* partial `number` of `count`: of runs, of groups, of groups of groups ... */
    unsigned number = run, count = array.runs;
#pragma unroll 1
    for (size_t most = most_runs; count > 1; most = (most - 1) / group + 1) {
        if (number % group > 0) {
            if (threadIdx.x == 0) partials::publish(status_words, number, value);
            return;
        }
        value = group_value(reducer, threads, status_words, number, count, value, shared);
        status_words += most * partials::count;
        number /= group;
        count = (count - 1) / group + 1;
    }
    if (threadIdx.x == 0)
        store_results<true>(reducer, slot, array.n == 0 ? reducer.identity() : value, array.n);
}

/* Returns the counter's next number to a block, once all its threads are done with shared
 * memory. */
FASTREDUCE_DEVICE unsigned draw(status_word *counter, unsigned &next_run)
{
    __syncthreads();
    if (threadIdx.x == 0) next_run = static_cast<unsigned>(atomicAdd(counter, 1ull));
    __syncthreads();
    return next_run;
}

/* Reduces one array, or long rows, by a block for each run of tiles. GPUs begin blocks in order,
 * and the first one takes the last run. For the end of an input that was just written is in L2 (64
 * MiB, one H100: 12.4 us, against 18.8 from the beginning).
 *
 * Where n is on the device empty blocks would take 1.4 ns each (one H100), so there are as many as
 * are resident at once. If there are more runs they take these in turn, by a counter, which the
 * last one leaves zero.
 *
 * It begins before the previous grid has ended, which may write the input. So that is not
 * __restrict__: the compiler could then load it by ways that are not coherent (NVIDIA/cccl#11463).
 *
 * AnyCall: n may be on the device, there may be rows, and blocks may have fewer threads. */
template <class Reducer, unsigned BlockSize, unsigned Packs, bool AnyCall>
__global__ void __launch_bounds__(BlockSize, resident(1024 / BlockSize))
    reduce_pairwise(pairwise_array array, reduction_output<Reducer> output,
                    status_word *status_words)
{
    using Element = typename Reducer::Element;
    __shared__ block_values<typename Reducer::Value, BlockSize / warp_size> shared;
    const unsigned most_runs = array.runs, threads = AnyCall ? blockDim.x : BlockSize;
    unsigned turn = blockIdx.x, run = most_runs - 1 - turn;
    result_slot slot = {output.result, output.second, array.input};
    if constexpr (AnyCall)
        if (array.pitch > 0) {
            const unsigned number = gridDim.x - 1 - turn, row = number / most_runs;
            run = number % most_runs;
            array.template select_row<Reducer>(array.row + row);
            slot = output.slot(array, array.row + row, array.input);
            status_words += size_t(row) * most_runs * partial_words<typename Reducer::Value>::count;
        }
    if (threadIdx.x == 0) prefetch_tile<Element, Packs>(array, threads, run);
    wait_for_previous_grid();
    allow_next_grid();
    bool in_turn = false;
    if constexpr (AnyCall)
        if (array.n_on_device != nullptr) {
            if (*array.n_on_device < array.n) array.n = *array.n_on_device;
            array.share(elements_of_tile<Element, Packs>(threads), most_runs, gridDim.x);
            in_turn = gridDim.x < array.runs;
            if (!in_turn && turn >= array.runs) return;
            run = array.runs - 1 - turn;
        }
    output.reducer.prepare(array.input, array.n);
#pragma unroll 1
    do {
        if (in_turn) {
            turn = draw(status_words, shared.next_run);
            if (threadIdx.x == 0 && turn + 1 == array.runs + gridDim.x) *status_words = 0;
            if (turn >= array.runs) return;
            run = array.runs - 1 - turn;
        }
        reduce_run<Packs>(output.reducer, array, slot, status_words + 1, most_runs, threads, run,
                          shared);
    } while (in_turn);
}

/* ---- Many results ----
 *
 * Each result is reduced by index as one array is, and has the same bits. */

/* A pack of a result: its address, the number of its first element, and how many elements
 * follow. */
template <class Element>
struct pack_source {
    const Element *start;
    unsigned index, remaining;
};

/* Where the elements of results `begin` to `end` are. Result r reduces n elements of the input.
 * Number k of these is element (r / inner) * outer_stride + r % inner + k * stride: of rows
 * inner is 1. Where a segment is follows from offsets on the device. */
struct result_layout {
    const void *input;
    size_t begin, end, n, inner, outer_stride, stride;
    unsigned result_bytes, second_bytes, offset_bytes;
    const void *begins, *ends; /* of segments; of dot products null and the other array */

    struct span {
        size_t begin, n; /* elements */
    };
    __host__ FASTREDUCE_DEVICE bool are_segments() const { return begins != nullptr; }
    __host__ FASTREDUCE_DEVICE const void *other() const { return ends; }
    FASTREDUCE_DEVICE long long offset_at(const void *from, size_t result) const
    {
        return offset_bytes == 8 ? static_cast<const long long *>(from)[result]
                                 : static_cast<const int *>(from)[result];
    }
    /* Returns where a segment's elements are: none where offsets are negative or decrease. */
    FASTREDUCE_DEVICE span segment(size_t result) const
    {
        const long long from = offset_at(begins, result), to = offset_at(ends, result);
        return {static_cast<size_t>(from),
                from >= 0 && to > from ? static_cast<size_t>(to - from) : 0};
    }
    /* Returns a result's first element, without a division where there is one axis. */
    template <class Element>
    FASTREDUCE_DEVICE const Element *first(size_t result) const
    {
        return element<Element>(inner == 1       ? result * outer_stride
                                : result < inner ? result
                                                 : result / inner * outer_stride + result % inner);
    }
    template <class Element>
    FASTREDUCE_DEVICE const Element *element(size_t index) const
    {
        return static_cast<const Element *>(input) + index;
    }
    /* Returns where the other array has the element that the input has at `x`. */
    template <class Element>
    FASTREDUCE_DEVICE const Element *counterpart(const Element *x) const
    {
        return reinterpret_cast<const Element *>(static_cast<const unsigned char *>(other()) +
                                                 (reinterpret_cast<const unsigned char *>(x) -
                                                  static_cast<const unsigned char *>(input)));
    }
    template <class Element>
    FASTREDUCE_DEVICE pack_source<Element> counterpart(const pack_source<Element> &x) const
    {
        return {counterpart(x.start), x.index, x.remaining};
    }
};

/* ---- Rows and segments ----
 *
 * A warp reduces neighbouring results. Where rows lie is known in advance: each lane loads a pack
 * of several rows, chunk by chunk, and lanes pair by handing halves of their values over. Short
 * segments, side by side, go to shared memory first, where one lane or several reduce each. Longer
 * results take a warp several steps; still longer ones a block, or several blocks. */

constexpr unsigned rows_block = small_block, least_long_block = rows_block / 2, most_chunks = 8;
/* One group awaits the runs of a row or a segment. */
constexpr unsigned most_runs_of_result = rows_block * partials_of_thread;
constexpr unsigned segments_blocks =
    768 / rows_block;                       /* resident blocks of reduce_segments, at least */
constexpr unsigned warp_stage_bytes = 4096; /* of a warp's stage in shared memory */
constexpr unsigned most_passes = 4;         /* results of a lane */
constexpr unsigned most_leaf = 4;           /* packs of a leaf of a result's tree */
constexpr unsigned staged_levels = 6;       /* of the tree over a result's steps */
/* The most packs of a result in a stage. Narrow elements are slow to load otherwise. */
template <class Element>
constexpr unsigned most_short_packs = sizeof(Element) < 4 ? 256 : 128;

/* How warps share rows and segments. */
struct rows_plan {
    size_t per_warp, per_block;         /* results of a warp, of a block */
    size_t most_of_warp, most_of_block; /* elements of a segment; longer ones are deferred */
    /* a warp's chunks; a row has 2^lanes_log of its lanes and 2^chunks_log of them */
    unsigned chunks, lanes_log, chunks_log;
    unsigned tail; /* elements before an incomplete pack that each row has besides; or 0 */
    bool vectors;  /* all packs are */
    bool by_lanes; /* the lanes of a row take its packs in turn, as any order will do */
    /* For chunk k: row[k] is the row's number after the lane's first; within[k] the pack's first
     * element, in that row; byte_offset[k] is counted from the warp's first row. */
    unsigned row[most_chunks], within[most_chunks];
    size_t byte_offset[most_chunks];
    bool prefetched;        /* the rows are, before the previous grid has ended */
    unsigned least_run_log; /* a run of a segment has 2^least_run_log tiles at least */
    bool few_segments;      /* every block looks at the lengths of all segments */
};

/* How a warp loads its chunks' packs: as vectors; shifted out of two vectors each, for narrow
 * elements; by elements; or one pack after the other, where there are few or an array ends. */
enum class row_loads { vectors, shifted, elements, in_turn };

/* A loaded pack, or two vectors that it is to be shifted out of. */
template <row_loads How, class Element>
struct raw_pack {
    pack<Element> first, second;
    unsigned shift;
    pack_source<Element> source;

    FASTREDUCE_DEVICE void load(const pack_source<Element> &from)
    {
        source = from;
        first = {};
        if (How == row_loads::vectors ||
            (How == row_loads::in_turn && from.remaining >= pack<Element>::size &&
             misalignment_of(from.start) == 0)) {
            if (from.remaining > 0)
                first = load_pack<false>(reinterpret_cast<const pack<Element> *>(from.start));
        } else if constexpr (How != row_loads::shifted) {
            first.gather(from.start, from.remaining);
        } else {
            shift = misalignment_of(from.start);
            const pack<Element> *const vectors = reinterpret_cast<const pack<Element> *>(
                reinterpret_cast<const unsigned char *>(from.start) - shift);
            second = {};
            if (from.remaining > 0) first = load_pack<false>(vectors);
            if (shift + from.remaining * sizeof(Element) > pack_bytes)
                second = load_pack<false>(vectors + 1);
        }
    }
    FASTREDUCE_DEVICE pack<Element> value() const
    {
        if constexpr (How == row_loads::shifted)
            return bits_as<pack<Element>>(shifted_words<Element>(
                bits_as<pack<unsigned>>(first), bits_as<pack<unsigned>>(second), shift));
        else
            return first;
    }
};

/* Reduces neighboring packs of a result, from each array, to one Value. */
template <class Reducer, class Items>
FASTREDUCE_DEVICE typename Reducer::Value leaf_value(const Reducer &reducer, const Items &items,
                                                     const Items &others)
{
    typename Reducer::Value values[Items::packs_each];
    item_values(reducer, items, others, values);
    if constexpr (!Reducer::any_order) combine_all(reducer, values);
    return values[0];
}

/* Loads Count packs of a lane, from number `first` on, which may be of different results, and
 * reduces each to a Value. */
template <row_loads How, unsigned Count, class Reducer, class SourceOf, class Value>
FASTREDUCE_DEVICE void load_pack_values(const Reducer &reducer, const result_layout &rows,
                                        const SourceOf &source_of, unsigned first, Value *values)
{
    using Element = typename Reducer::Element;
    constexpr unsigned arrays = arrays_of<Reducer>;
    raw_pack<How, Element> loaded[arrays][Count];
#pragma unroll
    for (unsigned k = 0; k < Count; ++k) {
        loaded[0][k].load(source_of(first + k));
        if constexpr (Reducer::two_arrays) loaded[1][k].load(rows.counterpart(loaded[0][k].source));
    }
    reducer.visit([&](const auto &member) {
#pragma unroll
        for (unsigned k = 0; k < Count; ++k) {
            const pack_source<Element> &part = loaded[0][k].source;
            auto prepared = member;
            using Member = typename decltype(prepared)::Element;
            prepared.prepare(part.start - part.index, part.remaining > 0);
            const bool filled = How != row_loads::vectors &&
                                (sizeof(Element) >= 4 || part.remaining < pack<Member>::size);
            lane_packs<Member, 1, 1> items = {{bits_as<pack<Member>>(loaded[0][k].value())},
                                              part.index,
                                              part.index + part.remaining};
            if (filled) {
                const Member element = items.packs[0][0];
                items.packs[0].fill_from(part.remaining, prepared.padding(&element));
            }
            [[maybe_unused]] auto others = items;
            if constexpr (Reducer::two_arrays) {
                others.packs[0] = bits_as<pack<Member>>(loaded[1][k].value());
                if (filled) others.packs[0].fill_from(part.remaining, Member());
            }
            values[k] = select_value(part.remaining > 0, leaf_value(prepared, items, others),
                                     member.zero());
        }
    });
}

/* Loads a lane's packs and reduces them to one Value a chunk. It issues 8 loads at a time: two for
 * a pack that is shifted out of two vectors, and twice as many for a dot product. */
template <row_loads How, class Reducer, class SourceOf, unsigned Packs>
FASTREDUCE_DEVICE void load_row_values(const Reducer &reducer, const result_layout &rows,
                                       unsigned chunks, const SourceOf &source_of,
                                       typename Reducer::Value (&values)[Packs])
{
    if constexpr (How == row_loads::in_turn) {
#pragma unroll
        for (unsigned k = 0; k < Packs; ++k) values[k] = reducer.zero();
#pragma unroll 1
        for (unsigned k = 0; k < chunks; ++k) {
            typename Reducer::Value value;
            load_pack_values<How, 1>(reducer, rows, source_of, k, &value);
#pragma unroll
            for (unsigned j = 0; j < Packs; ++j) values[j] = select_value(j == k, value, values[j]);
        }
    } else {
        constexpr unsigned loads = (How == row_loads::shifted ? 2 : 1) * arrays_of<Reducer>,
                           at_once = Packs * loads > 8 ? 8 / loads : Packs;
#pragma unroll
        for (unsigned begin = 0; begin < Packs; begin += at_once)
            load_pack_values<How, at_once>(reducer, rows, source_of, begin, values + begin);
    }
}

/* Does what carry() does for several Values at once, with levels in registers: 2^Levels steps at
 * most. */
template <class Reducer, class Value, unsigned Columns, unsigned Levels>
FASTREDUCE_DEVICE void carry_in_registers(const Reducer &reducer, Value (&level)[Levels][Columns],
                                          Value (&values)[Columns], unsigned step, bool last)
{
    bool carries = true;
#pragma unroll
    for (unsigned l = 0; l < Levels; ++l) {
        if (!carries && !last) break;
        const bool meet = step >> l & 1;
#pragma unroll
        for (unsigned c = 0; c < Columns; ++c)
            if (meet)
                values[c] = reducer.combine(level[l][c], values[c]);
            else if (carries)
                level[l][c] = values[c];
        carries = carries && meet;
    }
}

/* How blocks share long results. A block queues what needs several blocks. When it has finished its
 * other results it exits, unless it finds that all blocks have started: those wait for each other,
 * and take the runs of the queued results in turn. No block waits for one that is not resident yet.
 * (A second launch took 3 us.) Bits of the word, from the lowest on:
 *
 *   0-15    blocks that have started        32-47   idle blocks, which wait
 *   16-31   blocks that have finished       48      set once a result is queued */
struct queue_counters {
    status_word word;
    static constexpr unsigned bits = 16;
    static constexpr status_word started = 1, finished = started << bits, idle = finished << bits,
                                 queued = idle << bits;
    static constexpr size_t max_count = (1u << bits) - 1;
    FASTREDUCE_DEVICE size_t blocks(status_word state) const { return word / state & max_count; }
    FASTREDUCE_DEVICE bool all_started() const { return blocks(started) == gridDim.x; }
    FASTREDUCE_DEVICE bool all_finished() const { return blocks(finished) == gridDim.x; }
    FASTREDUCE_DEVICE bool has_results() const { return word >= queued; }
};
/* The queue in the workspace, all of whose words are zero between calls:
 *
 *   word 0   counts blocks (queue_counters)
 *   word 1   counts the entries, and the runs of all entries
 *   word 2   counts the runs that blocks have taken
 *   word 3   counts the blocks that have found no run left
 *   word 4   what word 1 was when the queue became full, or 0
 *   then     the entries; then the partials of the blocks that share a result */
struct result_queue {
    struct entry {
        status_word number,
            first; /* the result's number; its first run, counted over all entries */
    };
    static constexpr unsigned shift = 40, max_entries = 8192, head_words = 5;
    static constexpr size_t all_words =
        head_words + max_entries * sizeof(entry) / sizeof(status_word);
    status_word *base;
    unsigned most_entries;
    size_t most_runs; /* of all entries */

    struct content {
        unsigned entries;
        size_t runs;
    };
    FASTREDUCE_DEVICE entry *entries() const
    {
        return reinterpret_cast<entry *>(base + head_words);
    }
    /* Queues a result, or returns false if there is no room, or only for longer ones. One thread
     * calls it. One addition counts the entry and its runs, so that entries are in the order of
     * their runs. Several threads may see the last room and count themselves. The first that finds
     * none left notes where the queue ends; what it and later ones have counted is ignored. */
    static __device__ __noinline__ bool append(result_queue queue, size_t result, size_t runs_of_it)
    {
        constexpr status_word one = status_word(1) << shift, mask = one - 1;
        const auto has_room = [&](status_word counted, size_t runs) {
            return counted >> shift < queue.most_entries &&
                   (counted & mask) + runs <= queue.most_runs;
        };
        const status_word now = peek(queue.base + 1);
        const unsigned used = static_cast<unsigned>(now >> shift);
        if (!has_room(now, runs_of_it) || runs_of_it >> used * 8 / queue.most_entries == 0)
            return false;
        const status_word before = atomicAdd(queue.base + 1, one + runs_of_it);
        const bool fits = has_room(before, runs_of_it);
        if (fits)
            queue.entries()[before >> shift] = {result, before & mask};
        else if (before >> shift <= queue.most_entries && (before & mask) <= queue.most_runs)
            queue.base[4] = before;
        __threadfence();
        if (before == 0) atomicAdd(queue.base, queue_counters::queued);
        return fits;
    }
    /* Returns what is queued, for the block to take its part, or nothing. One thread calls it when
     * the block has finished its own results. It looks `patience` times whether all blocks have
     * started. */
    FASTREDUCE_DEVICE content await(unsigned patience) const
    {
        const bool lists = peek(base + 1) != 0;
        bool waits = queue_counters{peek(base)}.all_started();
        while (!waits && --patience > 0) waits = queue_counters{peek(base)}.all_started();
        const status_word change = queue_counters::finished + (waits ? queue_counters::idle : 0);
        if (lists)
            __threadfence(); /* Entries that threads of the block wrote come before its count. */
        queue_counters blocks = {atomicAdd(base, change) + change};
        /* The last one may be one that does not wait. */
        if (blocks.all_finished() && !blocks.has_results()) *base = 0;
        while (waits && blocks.word != 0 && !blocks.all_finished()) blocks.word = peek(base);
        if (!waits || !blocks.has_results()) return {};
        __threadfence();
        const status_word counted = peek(base + 1), full = peek(base + 4),
                          counted_entries = full != 0 ? full : counted;
        return {static_cast<unsigned>(counted_entries >> shift),
                counted_entries & ((status_word(1) << shift) - 1)};
    }
    /* Returns the number of the entry that a run belongs to. The warp tries 32 entries at once. */
    FASTREDUCE_DEVICE unsigned find_entry(const content &queued, size_t run) const
    {
        unsigned begin = 0, end = queued.entries;
        while (begin < end) {
            const unsigned step = (end - begin - 1) / warp_size + 1,
                           candidate = begin + (threadIdx.x % warp_size + 1) * step - 1;
            const bool precedes = candidate < end && entries()[candidate].first <= run;
            begin += static_cast<unsigned>(__popc(__ballot_sync(all_lanes, precedes))) * step;
            if (end - begin >= step) end = begin + step - 1;
        }
        return begin - 1;
    }
    /* Leaves the queue after the last run. The last block to call it leaves all words zero. */
    FASTREDUCE_DEVICE void leave(unsigned count) const
    {
        const bool last =
            threadIdx.x == 0 && atomicAdd(base + 3, 1ull) + 1 ==
                                    queue_counters{peek(base)}.blocks(queue_counters::idle);
        if (!__syncthreads_or(last)) return;
        for (unsigned k = threadIdx.x; k < head_words + 2 * count; k += blockDim.x) base[k] = 0;
    }
};

/* A lane's packs of a row, `stride` elements apart. */
template <class Input, unsigned Packs>
struct packs_of_row {
    using Element = Input;
    static constexpr unsigned packs_each = Packs, pack_size = pack<Element>::size;
    pack<Element> packs[Packs];
    unsigned index, stride;
    FASTREDUCE_DEVICE const pack<Element> &operator[](unsigned k) const { return packs[k]; }
    FASTREDUCE_DEVICE unsigned index_of(unsigned k) const { return index + k * stride; }
};

/* Reduces rows by a warp, 2^lanes_log lanes each, where any order will do. */
template <row_loads How, class Reducer>
FASTREDUCE_DEVICE void reduce_by_lanes(const result_layout &bounds, const rows_plan &share,
                                       const reduction_output<Reducer> &output, size_t first,
                                       unsigned rows)
{
    using Element = typename Reducer::Element;
    constexpr unsigned arrays = arrays_of<Reducer>, size = pack<Element>::size,
                       at_once = How == row_loads::in_turn ? 1 : 4 / arrays;
    const unsigned lane = threadIdx.x % warp_size, lanes = 1u << share.lanes_log,
                   number = lane >> share.lanes_log, stride = size * lanes,
                   n = number < rows ? static_cast<unsigned>(bounds.n) : 0;
    const Element *const from = bounds.element<Element>((first + number) * bounds.outer_stride);
    Reducer reducer = output.reducer;
    reducer.prepare(from, n);
    typename Reducer::Value value[1] = {reducer.zero()};
#pragma unroll 1
    for (unsigned index = lane % lanes * size; index < n; index += at_once * stride) {
        packs_of_row<Element, at_once> items = {{}, index, stride};
        raw_pack<How, Element> loaded[arrays][at_once];
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k) {
            const unsigned begin = index + k * stride;
            loaded[0][k].load({from + begin, begin, begin < n ? n - begin : 0});
            if constexpr (Reducer::two_arrays)
                loaded[1][k].load(bounds.counterpart(loaded[0][k].source));
        }
        [[maybe_unused]] packs_of_row<Element, at_once> others = items;
#pragma unroll
        for (unsigned k = 0; k < at_once; ++k) {
            items.packs[k] = loaded[0][k].value();
            if (loaded[0][k].source.remaining < size)
                items.packs[k].fill_from(loaded[0][k].source.remaining, reducer.padding(from));
            if constexpr (Reducer::two_arrays) /* behind the row x is 0, whatever this one is */
                others.packs[k] = loaded[1][k].value();
        }
        if constexpr (Reducer::two_arrays)
            value[0] = reducer.combine(value[0], leaf_value(reducer, items, others));
        else
            value[0] = reducer.combine(value[0], thread_value(reducer, items));
    }
    pair_lanes(reducer, share.lanes_log, fixed_number<0>(), value);
    if (lane % lanes == 0 && number < rows)
        store_results(reducer, output.slot(bounds, first + number, from), value[0], n);
}

/* Reduces `rows` rows from number `first` on by a warp, of as many packs as it has, or one more. */
template <row_loads How, class Reducer>
FASTREDUCE_DEVICE void reduce_rows(const result_layout &rows_in, const rows_plan &share,
                                   const reduction_output<Reducer> &output, size_t first,
                                   unsigned rows)
{
    using Element = typename Reducer::Element;
    using Value = typename Reducer::Value;
    constexpr unsigned packs = packs_of_thread<Reducer>(), packs_log = bits_for(packs),
                       tails = packs > most_leaf ? packs / most_leaf : 1;
    if constexpr (Reducer::any_order)
        if (share.by_lanes) return reduce_by_lanes<How>(rows_in, share, output, first, rows);
    const Reducer &reducer = output.reducer;
    const unsigned lane = threadIdx.x % warp_size, lanes_log = share.lanes_log,
                   chunks_log = share.chunks_log, number = lane >> lanes_log,
                   index = lane % (1u << lanes_log) * pack<Element>::size;
    const size_t pitch = rows_in.outer_stride * sizeof(Element);
    const unsigned char *const from =
        static_cast<const unsigned char *>(rows_in.input) + first * pitch;
    const unsigned char *const start = from + number * pitch + index * sizeof(Element);
    const unsigned remaining = static_cast<unsigned>(rows_in.n) - index,
                   left = rows > number ? rows - number : 0;
    const auto source_of = [&](unsigned chunk) {
        const int behind = static_cast<int>(remaining - share.within[chunk]);
        return pack_source<Element>{
            reinterpret_cast<const Element *>(start + share.byte_offset[chunk]),
            index + share.within[chunk],
            left > share.row[chunk] && behind > 0 ? static_cast<unsigned>(behind) : 0};
    };
    Value values[packs];
    load_row_values<How>(reducer, rows_in, share.chunks, source_of, values);
    pair_lanes(reducer, lanes_log, chunks_log, values);
    /* What the lane is left with is of chunks from `chunk` on. */
    unsigned chunk = 0;
#pragma unroll
    for (unsigned b = 0; b < packs_log; ++b)
        if (b < lanes_log) chunk |= (lane >> b & 1) << (packs_log - 1 - b);
    const bool stores = lane % (1u << lanes_log) < packs && chunk % (1u << chunks_log) == 0;
    const auto row_of = [&](unsigned k) {
        return ((chunk + k) >> chunks_log << (warp_log - lanes_log)) + number;
    };
    if (How != row_loads::vectors && share.tail > 0) {
        Value of_tail[tails];
        const auto tail_of = [&](unsigned k) {
            return pack_source<Element>{
                reinterpret_cast<const Element *>(from + row_of(k) * pitch) + share.tail,
                share.tail,
                stores && row_of(k) < rows ? static_cast<unsigned>(rows_in.n) - share.tail : 0};
        };
        load_pack_values<How, tails>(reducer, rows_in, tail_of, 0, of_tail);
#pragma unroll
        for (unsigned k = 0; k < tails; ++k) values[k] = reducer.combine(values[k], of_tail[k]);
    }
    if (!stores) return;
#pragma unroll
    for (unsigned k = 0; k < packs; ++k) {
        if ((k << lanes_log >= packs && k > 0) || row_of(k) >= rows) break;
        store_results(reducer, output.slot(rows_in, first + row_of(k), from + row_of(k) * pitch),
                      rows_in.n == 0 ? reducer.identity() : values[k], rows_in.n);
    }
}

/* Reduces a longer result by a warp. */
template <class Reducer>
FASTREDUCE_DEVICE void reduce_by_warp(const result_layout &bounds, size_t result,
                                      const reduction_output<Reducer> &output,
                                      typename Reducer::Value *carried)
{
    using Element = typename Reducer::Element;
    using Value = typename Reducer::Value;
    constexpr unsigned packs = packs_of_step<Reducer>;
    using Items = lane_packs<Element, packs>;
    constexpr size_t step = size_t(warp_size) * packs * Items::pack_size;
    constexpr bool keeps_values = keeps_lane_values<Reducer>;
    const result_layout::span span = bounds.segment(result);
    const Element *const x = bounds.element<Element>(span.begin);
    const bool vectors = misalignment_of(x) == 0;
    Reducer reducer = output.reducer;
    reducer.prepare(x, span.n);
    const Element padding = span.n > 0 ? reducer.padding(x) : Element();
    [[maybe_unused]] Value value, lane_value;
#pragma unroll 1
    for (size_t begin = 0, turn = 0; begin < span.n; begin += step, ++turn) {
        const bool last = span.n - begin <= step;
        Items items = {{}, begin + threadIdx.x % warp_size * Items::pack_size, span.n};
        if (vectors && begin + step <= span.n)
            items.template load_whole<false>(x);
        else if constexpr (sizeof(Element) >= 4)
            items.load_elements(x, padding);
        else
            items.load_any(x, padding);
        Value values[packs];
        item_values(reducer, items, items, values);
        if constexpr (keeps_values)
            values[0] = lane_value = turn > 0 ? reducer.combine(lane_value, values[0]) : values[0];
        if (!keeps_values || last) value = lanes_value<warp_size, true>(reducer, values);
        if (!keeps_values && threadIdx.x % warp_size == 0)
            value = carry(reducer, value, carried, turn, last);
    }
    if (threadIdx.x % warp_size == 0)
        store_results(reducer, output.slot(bounds, result, x),
                      span.n == 0 ? reducer.identity() : value, span.n);
}

/* Results that wait for all of a block's warps. */
struct block_results {
    static constexpr unsigned most = 64;
    unsigned count;
    size_t number[most];
    FASTREDUCE_DEVICE bool append(size_t result) /* by one thread */
    {
        const unsigned index = atomicAdd(&count, 1u);
        if (index < most) number[index] = result;
        return index < most;
    }
};

/* Returns a segment of n elements as at most `most` runs of 2^least_run_log tiles or more. */
template <class Reducer>
FASTREDUCE_DEVICE pairwise_array segment_array(const void *input, size_t n, unsigned most,
                                               unsigned least_run_log)
{
    constexpr size_t tile =
        elements_of_tile<typename Reducer::Element, packs_of_step<Reducer>>(rows_block);
    pairwise_array array = {};
    array.input = input;
    array.n = n;
    array.vectors = misalignment_of(input) == 0;
    array.share(tile, min_of(most, (n / tile >> least_run_log) + 1), most);
    return array;
}

/* Reduces a run of a segment by a block. Out of line, as it is long and called twice. */
template <class Reducer>
__device__ __noinline__ void
reduce_segment_run(Reducer reducer, result_slot slot, size_t n, unsigned most,
                   unsigned least_run_log, status_word *status_words, unsigned run,
                   block_values<typename Reducer::Value, rows_block / warp_size> &shared)
{
    const pairwise_array array = segment_array<Reducer>(slot.from, n, most, least_run_log);
    reducer.prepare(slot.from, n);
    reduce_run<packs_of_step<Reducer>>(reducer, array, slot, status_words, array.runs, rows_block,
                                       run, shared);
}

/* Reduces by a block the results that need all its warps, one after the other. */
template <class Reducer>
FASTREDUCE_DEVICE void
reduce_by_block(const result_layout &bounds, const reduction_output<Reducer> &output,
                const block_results &long_results,
                block_values<typename Reducer::Value, rows_block / warp_size> &shared)
{
    __syncthreads();
    const unsigned count = static_cast<unsigned>(min_of(long_results.count, long_results.most));
#pragma unroll 1
    for (unsigned k = 0; k < count; ++k) {
        const size_t result = long_results.number[k];
        const result_layout::span span = bounds.segment(result);
        const auto *const from = bounds.element<typename Reducer::Element>(span.begin);
        reduce_segment_run(output.reducer, output.slot(bounds, result, from), span.n, 1, 0, nullptr,
                           0, shared);
        __syncthreads();
    }
}

/* Reduces runs of queued results by a block, in turn, from the last one on. */
template <class Reducer>
FASTREDUCE_DEVICE void
reduce_queued(const result_layout &bounds, const rows_plan &share,
              const reduction_output<Reducer> &output, const result_queue &queue,
              const result_queue::content &queued,
              block_values<typename Reducer::Value, rows_block / warp_size> &shared)
{
#pragma unroll 1
    for (unsigned turn; (turn = draw(queue.base + 2, shared.next_run)) < queued.runs;) {
        const size_t run = queued.runs - 1 - turn;
        const result_queue::entry entry = queue.entries()[queue.find_entry(queued, run)];
        const result_layout::span span = bounds.segment(entry.number);
        const auto *const from = bounds.element<typename Reducer::Element>(span.begin);
        reduce_segment_run(output.reducer, output.slot(bounds, entry.number, from), span.n,
                           most_runs_of_result, share.least_run_log,
                           queue.base + result_queue::all_words +
                               entry.first * partial_words<typename Reducer::Value>::count,
                           static_cast<unsigned>(run - entry.first), shared);
    }
    queue.leave(queued.entries);
}

/* Copies `count` elements into the warp's stage, where they begin as many bytes after a vector as
 * in memory. All loads are under way at once. */
template <class Element>
FASTREDUCE_DEVICE void load_stage(unsigned char *stage, const Element *from, unsigned count)
{
    using Vector = pack<Element>;
    constexpr unsigned each = warp_stage_bytes / (warp_size * pack_bytes);
    const unsigned lane = threadIdx.x % warp_size, misalignment = misalignment_of(from),
                   before = (pack_bytes - misalignment) % pack_bytes / sizeof(Element),
                   head = before < count ? before : count, vectors = (count - head) / Vector::size,
                   tail = (count - head) % Vector::size;
    const Vector *const whole = reinterpret_cast<const Vector *>(from + head) + lane;
    Vector *const to = reinterpret_cast<Vector *>(stage) + lane + (misalignment > 0);
#pragma unroll
    for (unsigned k = 0; k < each; ++k)
        if (k * warp_size + lane < vectors) copy_vector(to + k * warp_size, whole + k * warp_size);
    /* Each half of the warp loads elements one by one, before and after the vectors. */
    const unsigned number = lane % 16, element = lane < 16 ? number : count - tail + number;
    if (number < (lane < 16 ? head : tail))
        reinterpret_cast<Element *>(stage + misalignment)[element] = from[element];
}

/* Returns a pack of elements in shared memory, which may begin at any element. */
template <class Element>
FASTREDUCE_DEVICE pack<Element> staged_pack(const unsigned char *from)
{
    pack<Element> loaded;
    if constexpr (sizeof(Element) >= 4) {
        loaded.gather(reinterpret_cast<const Element *>(from));
    } else {
        const unsigned misalignment = static_cast<unsigned>(reinterpret_cast<uintptr_t>(from)) % 4;
        const unsigned *const words_from = reinterpret_cast<const unsigned *>(from - misalignment);
#pragma unroll
        for (unsigned w = 0; w < 4; ++w)
            loaded.word[w] = static_cast<unsigned>(
                (words_from[w] | static_cast<unsigned long long>(words_from[w + 1]) << 32) >>
                misalignment * 8);
    }
    return loaded;
}

/* Where a short result begins in a warp's stage, in elements after the first one's. */
struct staged_result {
    unsigned begin, n;
};
/* A warp's shared memory for segments. The stage has room for what is before the first element in
 * its vector, and for what lanes read beyond the last. */
template <class Reducer>
struct warp_shared {
    alignas(pack_bytes) unsigned char stage[warp_stage_bytes + (2 + most_leaf) * pack_bytes];
    staged_result results[most_passes * warp_size];
    /* of at most 2^30 turns, of a KiB at least */
    typename Reducer::Value carried[keeps_lane_values<Reducer> ? 1 : 30];
};

/* Where the next results' elements are, a few results a lane. */
struct upcoming_spans {
    result_layout::span spans[most_passes];
    FASTREDUCE_DEVICE void load(const result_layout &bounds, size_t first, size_t end)
    {
#pragma unroll
        for (unsigned pass = 0; pass < most_passes; ++pass) {
            const size_t number = first + pass * warp_size + threadIdx.x % warp_size;
            spans[pass] = number < end ? bounds.segment(number) : result_layout::span{};
        }
    }
};

/* A stage's content: `elements` elements, from `begin` on, of `results` results. */
struct stage_content {
    size_t begin;
    unsigned results, elements;
};

/* Chooses the results from `first` on that have room in a stage together: none if the first is
 * long. */
template <class Element>
FASTREDUCE_DEVICE stage_content choose_neighbours(const upcoming_spans &window, size_t first,
                                                  size_t end, staged_result *results)
{
    constexpr size_t capacity = warp_stage_bytes / sizeof(Element),
                     most_short = most_short_packs<Element> * pack<Element>::size;
    const unsigned lane = threadIdx.x % warp_size;
    /* The first result that has elements begins here; an empty one may begin anywhere. */
    const unsigned full = __ballot_sync(all_lanes, window.spans[0].n > 0);
    const size_t begin =
        full != 0 ? shuffle(window.spans[0].begin, lowest_bit(full)) : ~size_t(0) / 2;
    stage_content content = {begin, 0, 0};
    bool continues = true;
#pragma unroll
    for (unsigned pass = 0; pass < most_passes; ++pass) {
        if (!continues) continue;
        const size_t number = first + pass * warp_size + lane;
        const result_layout::span span = window.spans[pass];
        const size_t before = span.begin - begin;
        const bool has_room = span.n == 0 || (span.n <= most_short && before <= capacity &&
                                              before + span.n <= capacity);
        const unsigned others = ~__ballot_sync(all_lanes, number < end && has_room),
                       count = others == 0 ? warp_size : lowest_bit(others);
        const bool included = lane < count && span.n > 0;
        if (included && before + span.n > content.elements)
            content.elements = static_cast<unsigned>(before + span.n);
        results[pass * warp_size + lane] = {static_cast<unsigned>(before),
                                            included ? static_cast<unsigned>(span.n) : 0};
        content.results += count;
        continues = others == 0;
    }
    content.elements = warp_max(content.elements);
    __syncwarp();
    return content;
}

/* Reduces n elements in shared memory by 2^lanes_log lanes, which all get the Value: a leaf a lane
 * in each of `steps` steps, as many for all of a warp. */
template <unsigned Leaf, class Reducer>
FASTREDUCE_DEVICE typename Reducer::Value
staged_value(const Reducer &reducer, const unsigned char *from, unsigned n, unsigned lanes_log,
             unsigned steps, const typename Reducer::Element &padding)
{
    using Element = typename Reducer::Element;
    using Value = typename Reducer::Value;
    constexpr unsigned size = pack<Element>::size, elements = Leaf * size;
    const unsigned lane = threadIdx.x % warp_size, lanes = 1u << lanes_log;
    [[maybe_unused]] Value levels[staged_levels][1], value[1] = {reducer.zero()};
    unsigned first = lane % lanes * elements;
#pragma unroll 1
    for (unsigned step = 0; step < steps; ++step, first += lanes * elements) {
        Value here = reducer.zero();
        if (first < n) {
            const unsigned remaining = n - first;
            lane_packs<Element, Leaf, 1> items = {{}, first, n};
#pragma unroll
            for (unsigned k = 0; k < Leaf; ++k)
                items.packs[k] = staged_pack<Element>(
                    from + first * static_cast<unsigned>(sizeof(Element)) + k * pack_bytes);
            if (remaining < elements) {
#pragma unroll
                for (unsigned k = 0; k < Leaf; ++k)
                    items.packs[k].fill_from(remaining > k * size ? remaining - k * size : 0,
                                             padding);
            }
            here = leaf_value(reducer, items, items);
        }
        if constexpr (Reducer::any_order) {
            value[0] = reducer.combine(value[0], here);
        } else {
            value[0] = here;
            pair_lanes(reducer, lanes_log, fixed_number<0>(), value);
            if (steps > 1) carry_in_registers(reducer, levels, value, step, step + 1 == steps);
        }
    }
    if constexpr (Reducer::any_order) pair_lanes(reducer, lanes_log, fixed_number<0>(), value);
    return value[0];
}

/* Reduces the short results in a warp's stage. */
template <class Reducer>
FASTREDUCE_DEVICE void reduce_staged(const result_layout &bounds, size_t first,
                                     const stage_content &content,
                                     const reduction_output<Reducer> &output,
                                     const unsigned char *staged, const staged_result *results)
{
    using Element = typename Reducer::Element;
    constexpr unsigned size = pack<Element>::size;
    const unsigned lane = threadIdx.x % warp_size;
#pragma unroll 1
    for (unsigned begin_of_group = 0; begin_of_group < content.results;
         begin_of_group += warp_size) {
        const unsigned left = content.results - begin_of_group,
                       count = left < warp_size ? left : warp_size,
                       count_log = 32 - static_cast<unsigned>(__clz(static_cast<int>(count - 1))),
                       lanes_log = warp_log - count_log,
                       number = begin_of_group + (lane >> lanes_log);
        const staged_result result = number < content.results ? results[number] : staged_result{};
        /* Packs of a lane. Leaves are short where many lanes would meet in a bank. */
        const unsigned packs =
            ((warp_max(result.n) + size - 1) / size + (1u << lanes_log) - 1) >> lanes_log;
        const unsigned char *const from =
            staged + result.begin * static_cast<unsigned>(sizeof(Element));
        Reducer reducer = output.reducer;
        reducer.prepare(from, result.n);
        const Element padding = result.n > 0 ? reducer.padding(from) : Element();
        const auto value =
            lanes_log <= 3 && packs > 2
                ? staged_value<4>(reducer, from, result.n, lanes_log, (packs + 3) / 4, padding)
            : lanes_log <= 4 && packs > 1
                ? staged_value<2>(reducer, from, result.n, lanes_log, (packs + 1) / 2, padding)
                : staged_value<1>(reducer, from, result.n, lanes_log, packs, padding);
        if (number < content.results && lane % (1u << lanes_log) == 0)
            store_results(reducer, output.slot(bounds, first + number, from),
                          result.n == 0 ? reducer.identity() : value, result.n);
    }
}

/* Reduces results from `next` to `end` by a warp. */
template <class Reducer>
FASTREDUCE_DEVICE void reduce_neighbours(const result_layout &bounds, const rows_plan &share,
                                         const reduction_output<Reducer> &output,
                                         const result_queue &queue, size_t next, size_t end,
                                         block_results &long_results, warp_shared<Reducer> &shared)
{
    using Element = typename Reducer::Element;
    const unsigned lane = threadIdx.x % warp_size;
    upcoming_spans window;
    window.load(bounds, next, end);
#pragma unroll 1
    while (next < end) {
        stage_content content = {}; /* A single result needs no stage. */
        if (share.per_warp > 1)
            content = choose_neighbours<Element>(window, next, end, shared.results);
        if (content.results == 0) {
            const size_t n = shuffle(window.spans[0].n, 0);
            window.load(bounds, next + 1, end);
            bool deferred = false;
            if (n > share.most_of_block && lane == 0)
                deferred = result_queue::append(
                    queue, next,
                    segment_array<Reducer>(nullptr, n, most_runs_of_result, share.least_run_log)
                        .runs);
            if (!deferred && n > share.most_of_warp && lane == 0)
                deferred = long_results.append(next);
            if (!__any_sync(all_lanes, deferred))
                reduce_by_warp(bounds, next, output, shared.carried);
            ++next;
            continue;
        }
        const Element *const input = bounds.element<Element>(content.begin);
        load_stage(shared.stage, input, content.elements);
        window.load(bounds, next + content.results, end);
        wait_for_copies();
        __syncwarp();
        reduce_staged(bounds, next, content, output, shared.stage + misalignment_of(input),
                      shared.results);
        next += content.results;
        __syncwarp();
    }
}

/* A warp's results. */
struct result_range {
    size_t first, end;
    FASTREDUCE_DEVICE result_range(const result_layout &bounds, const rows_plan &share,
                                   unsigned number) /* of the block */
    {
        const size_t block = bounds.begin + number * share.per_block;
        first = block + threadIdx.x / warp_size * share.per_warp;
        end = min_of(first + share.per_warp, min_of(block + share.per_block, bounds.end));
    }
};

/* Returns the most elements of a result that one thread reduces. Planes of 4 x 4 halves take .22 of
 * the time of columns, rows of 2 .60 of that of chunks (one H200). */
__host__ __device__ constexpr unsigned max_elements_of_thread(size_t element_bytes)
{
    return element_bytes > 4 ? 4 : 8;
}
__host__ __device__ constexpr unsigned results_of_thread(size_t element_bytes, unsigned arrays = 1)
{
    return element_bytes > 8 ? 1 : 4 / arrays;
}

/* Reduces several results by a thread. It compiles Most loads for each. */
template <unsigned Most, class Reducer>
FASTREDUCE_DEVICE void reduce_tiny_results(const result_layout &results, size_t first,
                                           const reduction_output<Reducer> &output)
{
    using Element = typename Reducer::Element;
    constexpr unsigned arrays = arrays_of<Reducer>,
                       each = results_of_thread(sizeof(Element), arrays),
                       size = pack<Element>::size, packs = (Most - 1) / size + 1;
    const unsigned n = static_cast<unsigned>(results.n);
    const Element *from[each];
    Element loaded[arrays][each][Most] = {};
    typename Reducer::Value values[each];
#pragma unroll
    for (unsigned j = 0; j < each; ++j) {
        const size_t result = first + j * rows_block;
        from[j] = results.template first<Element>(result < results.end ? result : first);
#pragma unroll
        for (unsigned k = 0; k < Most; ++k)
            if (k < n) loaded[0][j][k] = from[j][k * results.stride];
        if constexpr (Reducer::two_arrays)
#pragma unroll
            for (unsigned k = 0; k < Most; ++k)
                if (k < n) loaded[1][j][k] = results.counterpart(from[j])[k * results.stride];
    }
    output.reducer.visit([&](const auto &member) {
#pragma unroll
        for (unsigned j = 0; j < each; ++j) {
            auto prepared = member;
            prepared.prepare(from[j], n);
            lane_packs<Element, packs, 1> items[arrays];
#pragma unroll
            for (unsigned a = 0; a < arrays; ++a) {
                Element padding = {}, elements[packs * size];
                if (n > 0 && a == 0) padding = bits_as<Element>(prepared.padding(from[j]));
#pragma unroll
                for (unsigned k = 0; k < packs * size; ++k)
                    elements[k] = k < Most && k < n ? loaded[a][j][k % Most] : padding;
                items[a] = {{}, 0, n};
#pragma unroll
                for (unsigned k = 0; k < packs; ++k) items[a].packs[k].gather(elements + k * size);
            }
            values[j] = leaf_value(prepared, items[0], items[arrays - 1]);
        }
    });
#pragma unroll
    for (unsigned j = 0; j < each; ++j) {
        const size_t result = first + j * rows_block;
        if (result >= results.end) break;
        store_results(output.reducer, output.slot(results, result, from[j], results.stride),
                      n == 0 ? output.reducer.identity() : values[j], n);
    }
}

/* Reduces results of a few elements each, wherever these are. A kernel of its own, as
 * reduce_short_rows would take 1.04 to 1.13 times as long with this in it (one H200). */
template <class Reducer>
__global__ void __launch_bounds__(rows_block, resident(1024 / rows_block))
    reduce_by_threads(result_layout results, reduction_output<Reducer> output)
{
    constexpr size_t element_bytes = sizeof(typename Reducer::Element);
    constexpr unsigned most = max_elements_of_thread(element_bytes),
                       of_block = results_of_thread(element_bytes, arrays_of<Reducer>) * rows_block;
    wait_for_previous_grid();
    allow_next_grid();
#pragma unroll 1
    for (size_t first = results.begin + size_t(blockIdx.x) * of_block + threadIdx.x;
         first < results.end; first += size_t(gridDim.x) * of_block)
        if (results.n <= 4)
            reduce_tiny_results<4>(results, first, output);
        else
            reduce_tiny_results<most>(results, first, output);
}

/* Reduces short rows, the last ones first. */
template <class Reducer>
__global__ void __launch_bounds__(rows_block, resident(1024 / rows_block))
    reduce_short_rows(result_layout bounds, rows_plan share, reduction_output<Reducer> output)
{
    using Element = typename Reducer::Element;
    constexpr unsigned size = pack<Element>::size;
    constexpr row_loads how = size > 4 ? row_loads::shifted : row_loads::elements;
    const result_range range(bounds, share, gridDim.x - 1 - blockIdx.x);
    const bool inside = range.first * bounds.outer_stride >= size &&
                        (bounds.end - range.end) * bounds.outer_stride >= 2 * size;
    if (threadIdx.x == 0 && share.prefetched) {
        const size_t rows = min_of(share.per_block, bounds.end - range.first);
        const size_t bytes = ((rows - 1) * bounds.outer_stride + bounds.n) * sizeof(Element);
        const Element *const from =
            static_cast<const Element *>(bounds.input) + range.first * bounds.outer_stride;
        prefetch_to_l2(from, bytes);
        if constexpr (Reducer::two_arrays) prefetch_to_l2(bounds.counterpart(from), bytes);
    }
    wait_for_previous_grid();
    allow_next_grid();
    if (range.first >= range.end) return;
    const unsigned rows = static_cast<unsigned>(range.end - range.first);
    if (share.chunks <= 1 || (size > 4 && !inside && !share.vectors))
        reduce_rows<row_loads::in_turn>(bounds, share, output, range.first, rows);
    else if (share.vectors)
        reduce_rows<row_loads::vectors>(bounds, share, output, range.first, rows);
    else
        reduce_rows<how>(bounds, share, output, range.first, rows);
}

/* Reduces segments. */
template <class Reducer>
__global__ void __launch_bounds__(rows_block, resident(segments_blocks))
    reduce_segments(result_layout bounds, rows_plan share, reduction_output<Reducer> output,
                    result_queue queue)
{
    using Value = typename Reducer::Value;
    constexpr unsigned warps = rows_block / warp_size;
    __shared__ block_values<Value, warps> shared;
    __shared__ block_results long_results;
    __shared__ result_queue::content queued;
    __shared__ warp_shared<Reducer> warps_shared[warps];
    const result_range range(bounds, share, blockIdx.x);
    wait_for_previous_grid();
    allow_next_grid();
    /* Where nothing is long no block waits for others. Where few segments are, runs are of a tile
     * or two: 25 % faster for one, but 20 % slower for 268 (one H100). */
    bool has_long = !share.few_segments;
    if (share.few_segments) {
        upcoming_spans window;
        window.load(bounds, bounds.begin + threadIdx.x / warp_size * most_passes * warp_size,
                    bounds.end);
#pragma unroll
        for (const result_layout::span &span : window.spans)
            has_long |= span.n > share.most_of_block;
    }
    if (threadIdx.x == 0) long_results.count = 0;
    const bool many_long = __popc(__ballot_sync(all_lanes, has_long)) > 8;
    has_long = __syncthreads_or(has_long);
    if (share.few_segments && has_long && !__syncthreads_or(many_long))
        share.least_run_log = partial_words<Value>::count > 2;
    if (has_long && threadIdx.x == 0) atomicAdd(queue.base, queue_counters::started);
    if (range.first < range.end)
        reduce_neighbours(bounds, share, output, queue, range.first, range.end, long_results,
                          warps_shared[threadIdx.x / warp_size]);
    reduce_by_block(bounds, output, long_results, shared);
    if (!has_long) return;
    if (threadIdx.x == 0) queued = queue.await(share.few_segments ? 128 : 1);
    __syncthreads();
    if (queued.runs > 0) reduce_queued(bounds, share, output, queue, queued, shared);
}

/* ---- Columns ----
 *
 * The same for elements that do not lie together. A lane goes down its columns, a leaf of some rows
 * at a time; all loads of a leaf are under way at once. Rows are shared out by powers of two, so
 * that neighbors of the tree meet. Leaves go to neighboring lanes, as far as these do not lie
 * across results. The Values of a warp's steps meet as ones carry in the binary number that counts
 * steps; then those of warps, of a block's tiles, and of blocks. The plan says how many of each
 * there are, which shows in no bit. */
constexpr unsigned columns_block = 256, columns_warps_log = 3;

struct columns_plan {
    unsigned across_log;                 /* lanes of a warp that lie across results */
    unsigned warps_log;                  /* warps of a block that lie down the rows */
    unsigned steps_log, run_log;         /* steps of a warp in a tile; tiles of a block */
    unsigned across_blocks, down_blocks; /* blocks with other results, and with other rows */
    bool prefetched;                     /* before the previous grid has ended */

    /* Returns the results of a block whose lanes have `each` columns. */
    __host__ __device__ constexpr unsigned results_log(unsigned each) const
    {
        return bits_for(each) + across_log + columns_warps_log - warps_log;
    }
};

/* A row of neighboring columns, in a vector. */
template <unsigned Words>
struct alignas(Words * sizeof(unsigned)) row_vector {
    unsigned word[Words];
};

/* What a lane has registers for. */
template <class Reducer>
struct columns_of {
    static constexpr unsigned element_bytes = sizeof(typename Reducer::Element),
                              value_words = (sizeof(typename Reducer::Value) + 3) / 4,
                              most_words = Reducer::any_order ? 16 : 8; /* of a level */

    /* Returns how many columns a lane reads as a vector. Vectors of 16 bytes are no faster for
     * narrow elements, nor those of 8 for bytes, and fit fewer rows: 2^20 x 100 halves take .54 of
     * the time, bytes .58 (one H200). Wide elements need none. */
    static __host__ __device__ constexpr unsigned wide()
    {
        if (pack_bytes % element_bytes != 0 || element_bytes > 4) return 1;
        unsigned each = 4;
        while (each * value_words > most_words && each * element_bytes > 4) each /= 2;
        return each;
    }
    /* Returns how many rows a leaf has, as far as there is room. 32 rows of narrow vectors take .8
     * to 1 of the time of 16, as more loads are under way. The exception is 1024 x 64, with 1.05 to
     * 1.16. Of single bytes 32 rows take 1.03 to 1.16 (one H200). */
    static __host__ __device__ constexpr unsigned rows_log(unsigned each)
    {
        constexpr unsigned size = pack<typename Reducer::Element>::size;
        constexpr bool has_room = Reducer::any_order || value_words == 1;
        const unsigned bytes = each * element_bytes < 4 ? 4 : each * element_bytes,
                       most_bytes =
                           (each == 4 && (element_bytes < 4 || value_words == 1) ? 256 : 128) /
                           arrays_of<Reducer>;
        unsigned log = has_room && (each > 1 || element_bytes == 2) ? 5 : 4;
        while (1u << log > size && (bytes << log > most_bytes || value_words << log > 32 * size))
            --log;
        return log;
    }
    /* Returns the least number of blocks on a multiprocessor. (For single narrow columns that are
     * compute bound, 3 take 1.13 to 1.2 of the time of 4: argmax of u8, one H100.) */
    static __host__ __device__ constexpr unsigned blocks(unsigned each)
    {
        if (each == 4 || each * value_words > 4) return 2;
        return !Reducer::compute_bound ? 3 : element_bytes > 4 ? 2 : 4;
    }
    /* Returns the levels of a warp's steps. */
    static __host__ __device__ constexpr unsigned levels(unsigned each)
    {
        const unsigned fitting = 48 / (each * value_words);
        return fitting > 6 || Reducer::any_order ? 6 : fitting > 1 ? fitting : 1;
    }
};

/* Returns the padding for a missing row. */
template <class Reducer, class Element, class Vector>
FASTREDUCE_DEVICE Vector padding_row(const Reducer &reducer, const Element *from, size_t n)
{
    Vector row = Vector();
    reducer.visit([&](const auto &member) {
#pragma unroll
        for (unsigned c = 0; c < sizeof row / sizeof(Element); ++c) {
            auto prepared = member;
            prepared.prepare(from + c, n);
            const Element padding = bits_as<Element>(prepared.padding(from + c));
            memcpy(reinterpret_cast<unsigned char *>(&row) + c * sizeof padding, &padding,
                   sizeof padding);
        }
    });
    return row;
}

/* Loads the rows of a leaf. The first `behind` exist, and padding() stands for the others. */
template <class Vector, unsigned Packs, unsigned Size, class Element, class Padding>
FASTREDUCE_DEVICE void load_rows(Vector (&rows)[Packs][Size], const Element *start, size_t stride,
                                 size_t behind, const Padding &padding)
{
    const auto load_row = [&](unsigned k) {
        return *reinterpret_cast<const Vector *>(start + k * stride);
    };
    if (behind >= Packs * Size) {
#pragma unroll
        for (unsigned k = 0; k < Packs * Size; ++k) rows[k / Size][k % Size] = load_row(k);
    } else {
        const Vector missing = padding();
#pragma unroll
        for (unsigned k = 0; k < Packs * Size; ++k)
            rows[k / Size][k % Size] = k < behind ? load_row(k) : missing;
    }
}

/* Reduces a leaf of each of a lane's columns: the rows from `row` on, as far as they exist. */
template <class Reducer, class Element, class Value, unsigned Columns>
FASTREDUCE_DEVICE void leaf_values(const Reducer &reducer, const result_layout &results,
                                   const Element *from, size_t row, Value (&values)[Columns])
{
    using Vector = conditional_t<Columns == 1, Element, row_vector<Columns * sizeof(Element) / 4>>;
    constexpr unsigned size = pack<Element>::size, arrays = arrays_of<Reducer>,
                       packs = (1u << columns_of<Reducer>::rows_log(Columns)) / size;
    using Items = lane_packs<Element, packs, 1>;
    const size_t n = results.n, behind = row < n ? n - row : 0;
    const Element *const start = from + row * results.stride;
    Vector rows[arrays][packs][size];
    load_rows(rows[0], start, results.stride, behind,
              [&]() { return padding_row<Reducer, Element, Vector>(reducer, from, n); });
    if constexpr (Reducer::two_arrays)
        load_rows(rows[1], results.counterpart(start), results.stride, behind,
                  []() { return Vector(); });
    reducer.visit([&](const auto &member) {
#pragma unroll
        for (unsigned c = 0; c < Columns; ++c) {
            auto prepared = member;
            Items items = {{}, row, n};
            [[maybe_unused]] Items others = items;
            prepared.prepare(from + c, n);
#pragma unroll
            for (unsigned k = 0; k < packs; ++k) {
                if constexpr (Columns == 1)
                    items.packs[k].gather(rows[0][k]);
                else
                    items.packs[k].take_column(rows[0][k], c);
                if constexpr (Reducer::two_arrays && Columns == 1)
                    others.packs[k].gather(rows[1][k]);
                else if constexpr (Reducer::two_arrays)
                    others.packs[k].take_column(rows[1][k], c);
            }
            values[c] = leaf_value(prepared, items, others);
        }
    });
}

/* Reduces a warp's rows of a tile, from `first` on, with steps 2^step_log rows apart. */
template <class Reducer, class Element, class Value, unsigned Columns>
FASTREDUCE_DEVICE void warp_columns(const Reducer &reducer, const result_layout &results,
                                    const columns_plan &plan, const Element *from, size_t first,
                                    unsigned step_log, Value (&values)[Columns])
{
    using registers = columns_of<Reducer>;
    const unsigned lane = threadIdx.x % warp_size;
    const size_t steps = first < results.n ? min_of(((results.n - first - 1) >> step_log) + 1,
                                                    size_t(1) << plan.steps_log)
                                           : 0;
    size_t row = first + (lane >> plan.across_log << registers::rows_log(Columns));
    const auto pair_lanes_of_rows = [&] {
#pragma unroll 1
        for (unsigned delta = 1u << plan.across_log; delta < warp_size; delta *= 2)
#pragma unroll
            for (unsigned c = 0; c < Columns; ++c)
                values[c] = combine_pair(reducer, values[c], values[c], delta);
    };
    [[maybe_unused]] Value level[registers::levels(Columns)][Columns];
#pragma unroll
    for (unsigned c = 0; c < Columns; ++c) values[c] = reducer.zero();
#pragma unroll 1
    for (unsigned step = 0; step < steps; ++step, row += size_t(1) << step_log) {
        if constexpr (Reducer::any_order) {
            Value leaf[Columns];
            leaf_values(reducer, results, from, row, leaf);
#pragma unroll
            for (unsigned c = 0; c < Columns; ++c) values[c] = reducer.combine(values[c], leaf[c]);
        } else {
            leaf_values(reducer, results, from, row, values);
            pair_lanes_of_rows();
            carry_in_registers(reducer, level, values, step, step + 1 == steps);
        }
    }
    if constexpr (Reducer::any_order) pair_lanes_of_rows();
}

/* Combines parts in shared memory, each of 2^results_log Values, in order, into the first part.
 * Each result is touched by one thread only. */
template <class Reducer, class Value>
FASTREDUCE_DEVICE void fold_parts(const Reducer &reducer, Value *values, unsigned parts,
                                  unsigned results_log)
{
    constexpr unsigned at_once = 8;
    __syncthreads();
#pragma unroll 1
    for (unsigned step = 1; step < parts; step *= at_once) {
        if (step > 1) __syncthreads();
        const unsigned groups = (parts - 1) / (at_once * step) + 1;
#pragma unroll 1
        for (unsigned k = threadIdx.x; k < groups << results_log; k += columns_block) {
            const unsigned first = (k >> results_log) * at_once * step;
            Value *const target = values + (first << results_log | (k & ((1u << results_log) - 1)));
            Value group[at_once];
#pragma unroll
            for (unsigned j = 0; j < at_once; ++j) {
                group[j] = reducer.zero();
                if (first + j * step < parts) group[j] = target[j * step << results_log];
            }
            *target = combine_all(reducer, group);
        }
    }
}

/* Combines the partial Values of all blocks that share these columns, as reduce_run does, and
 * returns true in the block that ends up with them. A group has as many blocks as there is room for
 * their Values. */
template <unsigned Columns, class Reducer, class Value>
FASTREDUCE_DEVICE bool columns_of_blocks(const Reducer &reducer, const columns_plan &plan,
                                         unsigned number, size_t first, size_t results,
                                         status_word *status_words, Value *values)
{
    using partials = partial_words<Value>;
    const unsigned group_log = columns_warps_log + warp_log - plan.across_log,
                   results_log = plan.results_log(Columns), thread = threadIdx.x,
                   part = thread >> results_log, stride = columns_block >> results_log;
    const size_t result = first + (thread & ((1u << results_log) - 1));
    const bool has_result = result < results;
#pragma unroll 1
    for (unsigned count = plan.down_blocks; count > 1; count = ((count - 1) >> group_log) + 1) {
        const unsigned remaining = count - number, most = 1u << group_log,
                       parts = remaining < most ? remaining : most;
        if ((number & (most - 1)) > 0) {
            if (part == 0 && has_result)
                partials::publish(status_words, number * results + result, values[thread]);
            return false;
        }
        const auto awaited = [&](unsigned c) {
            return has_result && part + c * stride > 0 && part + c * stride < parts;
        };
        Value partial[Columns]; /* Words are counted in 32 bits, which take fewer registers. */
        partials::await(status_words + ((number + part) * results + result) * partials::count,
                        static_cast<unsigned>(stride * results), awaited, partial);
        __syncthreads();
#pragma unroll
        for (unsigned c = 0; c < Columns; ++c)
            if (awaited(c)) values[c * columns_block + thread] = partial[c];
        fold_parts(reducer, values, parts, results_log);
        status_words += count * results * partials::count;
        number >>= group_log;
    }
    return true;
}

/* Reduces neighboring columns over a run of tiles by a block. Block 0 takes the last run. */
template <class Reducer, unsigned Columns>
__global__ void __launch_bounds__(columns_block, resident(columns_of<Reducer>::blocks(Columns)))
    reduce_columns(result_layout results, columns_plan plan, reduction_output<Reducer> output,
                   status_word *status_words)
{
    using Value = typename Reducer::Value;
    __shared__ Value values[columns_block * Columns];
    const Reducer &reducer = output.reducer;
    const unsigned lane = threadIdx.x % warp_size, warp = threadIdx.x / warp_size,
                   down = warp & ((1u << plan.warps_log) - 1), lanes = 1u << plan.across_log,
                   column = (warp >> plan.warps_log) * lanes + (lane & (lanes - 1)),
                   results_log = plan.results_log(Columns);
    /* Logarithms of the rows of a step and of a tile. In any order warps take steps in turn, to
     * have equally many. */
    constexpr unsigned rows_log = columns_of<Reducer>::rows_log(Columns);
    const unsigned step_log = rows_log + warp_log - plan.across_log,
                   tile_log = step_log + plan.steps_log + plan.warps_log,
                   down_log = Reducer::any_order ? step_log : step_log + plan.steps_log;
    const unsigned block = gridDim.x - 1 - blockIdx.x, number = block / plan.across_blocks;
    const size_t first = size_t(block % plan.across_blocks) << results_log,
                 count = results.end - results.begin, result = first + column * Columns;
    const auto *const from = results.template first<typename Reducer::Element>(
        results.begin + (result < count ? result : 0));
    size_t tile = size_t(number) << plan.run_log;
    if (plan.prefetched) {
        const size_t row =
            (tile << tile_log) + (size_t(down) << down_log) + (lane >> plan.across_log << rows_log);
        const size_t rows = row < results.n ? min_of(results.n - row, size_t(1) << rows_log) : 0;
        prefetch_to_l2(from + row * results.stride, results.stride, rows);
        if constexpr (Reducer::two_arrays)
            prefetch_to_l2(results.counterpart(from) + row * results.stride, results.stride, rows);
    }
    wait_for_previous_grid();
    allow_next_grid();
#pragma unroll 1
    for (unsigned turn = 0;; ++turn, ++tile) {
        Value warp_values[Columns];
        warp_columns(reducer, results, plan, from, (tile << tile_log) + (size_t(down) << down_log),
                     Reducer::any_order ? step_log + plan.warps_log : step_log, warp_values);
        if (lane < lanes)
#pragma unroll
            for (unsigned c = 0; c < Columns; ++c)
                values[(down << results_log) + column * Columns + c] = warp_values[c];
        fold_parts(reducer, values, 1u << plan.warps_log, results_log);
        if (plan.run_log == 0) break;
        const bool last = (turn + 1) >> plan.run_log != 0 || (tile + 1) << tile_log >= results.n;
        if (threadIdx.x >> results_log == 0)
            values[threadIdx.x] =
                carry(reducer, values[threadIdx.x],
                      dynamic_shared<Value>() + threadIdx.x * (plan.run_log + 1), turn, last);
        if (last) break;
        __syncthreads();
    }
    if (!columns_of_blocks<Columns>(reducer, plan, number, first, count, status_words, values))
        return;
#pragma unroll 1
    for (unsigned k = threadIdx.x; k >> results_log == 0 && first + k < count; k += columns_block) {
        const size_t target = results.begin + first + k;
        const auto *const elements = results.template first<typename Reducer::Element>(target);
        store_results(reducer, output.slot(results, target, elements, results.stride), values[k],
                      results.n);
    }
}

/* ---- Buffers ----
 *
 * fastreduce_fold reduces buffers element by element. A thread takes vectors of neighboring
 * elements whose results fill 16 bytes, so that a warp's accesses are contiguous. It takes elements
 * before and after whole tiles of vectors one by one. */
constexpr unsigned buffers_block = 256, most_buffers = 64;

struct buffer_list {
    const void *input[most_buffers], *output;
    size_t count, n, result_bytes; /* buffers; elements of each */
    size_t head, tiles;            /* elements before the vectors; blocks that take vectors */
    double inverse;                /* 1 / count */

    /* Returns sum / count as a division rounds it, unless that is denormal. The error is exact, and
     * no quotient by 64 or less lies near the middle between two doubles. Infinities and zeros stay
     * as they are. (A division takes 1.05 to 1.3 of the time: means of u8, f16, one H200.) */
    FASTREDUCE_DEVICE double mean(double sum) const
    {
        const double quotient = ieee_multiply(sum, inverse),
                     error = fused(-quotient, static_cast<double>(count), sum);
        return error < 0 || error > 0 ? fused(error, inverse, quotient) : quotient;
    }
};

/* Returns how many vectors of a buffer a thread takes: loads of few bytes need more of them. */
__host__ __device__ constexpr unsigned vectors_of_thread(unsigned leaf, size_t vector_bytes)
{
    return (vector_bytes < 8 ? 8 : 4) / leaf;
}

/* Says what is combined: elements, or for extremes of narrow types words of them. */
template <class Reducer>
struct buffer_units {
    using Element = typename Reducer::Element;
    static constexpr bool extremes = Reducer::by_warp, narrow = extremes && sizeof(Element) <= 2;
    using Unit = conditional_t<narrow, unsigned, Element>;
    using Part = conditional_t<narrow, unsigned, typename Reducer::Partial>;
    using Result = conditional_t<narrow, unsigned, typename Reducer::Result>;
    const Reducer &reducer;
    const buffer_list &buffers;

    FASTREDUCE_DEVICE Part part_of(Unit x) const
    {
        if constexpr (narrow)
            return reducer.transform(x);
        else if constexpr (extremes)
            return Reducer::of_one(x, reducer.transform);
        else
            return static_cast<Part>(widened(x));
    }
    FASTREDUCE_DEVICE Part operator()(const Part &a, const Part &b) const
    {
        if constexpr (!narrow)
            return reducer.merge(a, b);
        else if constexpr (sizeof(Element) == 1)
            return __vmaxu4(a, b);
        else
            return Reducer::merge({{a}}, {{b}}).word[0];
    }
    FASTREDUCE_DEVICE Result result_of(const Part &part) const
    {
        if constexpr (narrow) {
            return reducer.transform(part);
        } else if constexpr (extremes || are_same<Part, double>) {
            return reducer.finish(reducer.value_of(part), buffers.count);
        } else if constexpr (are_same<typename Reducer::Value, sum_of_128_bits>) {
            return buffers.mean(reducer.value_of(part).number());
        } else {
            using number = conditional_t<element<Element>::is_integer, double, float>;
            if (reducer.step == result_step::none) return reducer.value_of(part);
            return bits_as<Result>(ieee_cast<number>(buffers.mean(ieee_cast<double>(part))));
        }
    }
};

/* Reduces vectors of Size elements, or single elements, Leaf buffers at a time. A thread stores
 * after all of its loads, as the output may be one of the buffers. */
template <unsigned Leaf, unsigned Size, class Reducer>
FASTREDUCE_DEVICE void reduce_vectors(const buffer_list &buffers,
                                      const reduction_output<Reducer> &output)
{
    using Element = typename Reducer::Element;
    using Result = typename Reducer::Result;
    using units = buffer_units<Reducer>;
    using Unit = typename units::Unit;
    constexpr unsigned bytes = Size * sizeof(Element), result_bytes = Size * sizeof(Result),
                       wide = pack_bytes / sizeof(Result), each = (bytes - 1) / sizeof(Unit) + 1,
                       vectors = vectors_of_thread(Leaf, wide * sizeof(Element)),
                       tile = vectors * buffers_block, parts = vectors * each;
    using Vector = conditional_t<(bytes < 4), integer_t<bytes, false>, row_vector<bytes / 4>>;
    using Stored =
        conditional_t<result_bytes == pack_bytes, float4, integer_t<result_bytes, false>>;
    const units unit = {output.reducer, buffers};
    const size_t in_vectors = buffers.tiles * tile * wide, singles = buffers.n - in_vectors,
                 first = (Size > 1 ? blockIdx.x : blockIdx.x - buffers.tiles) * tile + threadIdx.x;
    const unsigned last = static_cast<unsigned>(buffers.count) - 1;
    size_t start[vectors];
    Element padding[Size] = {};
    Vector none; /* stands for buffers behind the last, and changes no sum */
#pragma unroll
    for (unsigned k = 0; k < Size; ++k)
        if constexpr (!units::extremes) padding[k] = Reducer::padding(nullptr);
    memcpy(&none, static_cast<void *>(padding), sizeof none);
    typename units::Part values[parts], level[4][parts];
#pragma unroll
    for (unsigned v = 0; v < vectors; ++v) {
        const size_t next = first + v * buffers_block, single = next < singles ? next : first;
        start[v] = Size > 1 ? buffers.head + next * Size
                            : single + (single < buffers.head ? 0 : in_vectors);
    }
    wait_for_previous_grid();
    allow_next_grid();
    if (Size == 1 && first >= singles) return;
#pragma unroll 1
    for (unsigned step = 0;; ++step) {
        const unsigned row = step * Leaf;
        Vector rows[Leaf][vectors];
#pragma unroll
        for (unsigned r = 0; r < Leaf; ++r) { /* the last one again, where no more are left */
            const void *const from = buffers.input[row + r < last ? row + r : last];
#pragma unroll
            for (unsigned v = 0; v < vectors; ++v)
                rows[r][v] = *reinterpret_cast<const Vector *>(static_cast<const Element *>(from) +
                                                               start[v]);
        }
#pragma unroll
        for (unsigned k = 0; k < parts; ++k) {
            const auto part = [&](unsigned r) {
                Unit x[each] = {};
                Vector loaded = rows[r][k / each];
                if constexpr (!units::extremes)
                    loaded = select_value(row + r <= last, loaded, none);
                memcpy(static_cast<void *>(x), &loaded, sizeof loaded);
                return unit.part_of(x[k % each]);
            };
            const typename units::Part leaf = reduce_each<Leaf>(part, unit);
            values[k] = Reducer::any_order && row > 0 ? unit(values[k], leaf) : leaf;
        }
        if constexpr (Leaf > 2 && !Reducer::any_order)
            carry_in_registers(output.reducer, level, values, step, row + Leaf > last);
        if (Leaf == 2 || row + Leaf > last) break;
    }
#pragma unroll
    for (unsigned v = 0; v < vectors; ++v) {
        typename units::Result results[each];
        Stored stored;
#pragma unroll
        for (unsigned u = 0; u < each; ++u) results[u] = unit.result_of(values[v * each + u]);
        if constexpr (can_narrow<Reducer>)
            if (buffers.result_bytes == sizeof(Element)) {
                unsigned short narrow[each];
                Vector rounded;
#pragma unroll
                for (unsigned u = 0; u < each; ++u) narrow[u] = narrowed<Element>(results[u]);
                memcpy(&rounded, static_cast<const void *>(narrow), sizeof rounded);
                store_vector(static_cast<Element *>(output.result) + start[v], rounded);
                continue;
            }
        memcpy(&stored, static_cast<const void *>(results), sizeof stored);
        store_vector(static_cast<Result *>(output.result) + start[v], stored);
    }
}

/* Reduces vectors in the first blocks, and single elements in the others. */
template <class Reducer>
__global__ void __launch_bounds__(buffers_block, resident(4))
    reduce_buffers(buffer_list buffers, reduction_output<Reducer> output)
{
    constexpr unsigned size = pack_bytes / sizeof(typename Reducer::Result);
    const bool wide = blockIdx.x < buffers.tiles;
    if (buffers.count > 2)
        wide ? reduce_vectors<4, size>(buffers, output) : reduce_vectors<4, 1>(buffers, output);
    else
        wide ? reduce_vectors<2, size>(buffers, output) : reduce_vectors<2, 1>(buffers, output);
}

} // namespace detail

/* ================================================================================================
 * Room 7: EXACT
 * May hold: all that only EXACT needs on the GPU; its arithmetic, for host and device, is in
 * fastreduce.h. It offers reduce_exact for one array, of floats first, then of doubles and of
 * products; resolve_exact_results for many results; and for users' own kernels exact_atomic_add,
 * exact_carry, exact_value, exact_block_reduce and exact_block_add. Reduction by index ends it.
 *
 * reduce_exact takes an Accumulator, such as superaccumulator, which says what becomes of elements.
 * It is made of an output, uses dynamic shared memory, and has
 *     Element                        what it reads
 *     two_arrays                     whether there may be another array, of a dot product
 *     block_size, resident_blocks    threads; and blocks of a multiprocessor
 *     add_items(items, others)       adds a thread's packs of a tile; whole warps call it
 *     reduce_blocks(status_words, output, n)
 *                                    from all blocks, of n elements, to the output
 *
 * A float is an integer times 2^-149. Adding 1.5 * 2^(23 + e) to it, and taking that away again,
 * rounds it to a multiple of 2^e, exactly; the bits of the first sum count the multiples, and
 * what was rounded off is exact too. Done twice, 22 bits apart, this cuts a float into two
 * integers, which add up without rounding: the window. Its position follows the data, warp by
 * warp. A thread with a float that reaches above or below the window uses its bins instead. These
 * are integers in shared memory, one for each 16 exponents. Both ways are exact, so the choice does
 * not show in the result. Single sums of floats use no double, so slow doubles do not matter.
 *
 *     weight    2^(position + 44)     2^(position + 22)     2^position     2^(position - 22)
 *                       |         high        |       low        |      lowest      |
 *                       |<---------------- window -------------->|<--- extension -->|
 *
 * Integers end in the warp's accumulator, spread over its lanes: lane k holds limb k.
 * ============================================================================================= */

namespace detail
{

constexpr unsigned every_bit = ~0u, all_but_the_sign = ~0u >> 1;

/* A sum's output: the operator's result, rounded to a precision, or an accumulator's limbs if
 * `result` is null. `mask` says which bits of a float, or of the upper half of a double, are
 * summed. `skips_nan` leaves out NaNs. `second` is a variance's mean, or null. */
struct exact_output {
    void *result;
    int64_t *total;
    fastreduce_operator op = FASTREDUCE_SUM;
    int precision = 24;
    unsigned mask = every_bit;
    bool skips_nan = false;
    void *second = nullptr;
};

/* 16 bins take 16 exponents each; one counts NaN and infinities. */
constexpr unsigned exact_bins = 17;
/* A window fits a multiple of 2^(position - 149) that is below 2^(position + 44 - 149). */
constexpr unsigned window_bits = 44;
/* The highest position whose anchors are both finite. */
constexpr unsigned top_position = 230;
/* The most floats that a thread adds at once, and how many groups of them a 64-bit sum holds. */
constexpr unsigned exact_group_limit = 36, groups_between_flushes = 4096;
/* Copies of the total. A block adds to one of them, as additions to the same address take turns. */
constexpr unsigned exact_totals = 4;
/* Counts one block in the top bits of a total's word; the sum of limbs is below it. */
constexpr unsigned long long exact_one_block = 1ull << 52;

/* The limbs of an accumulator: digits, then counts of NaN, +infinity and -infinity, then one 0. */
template <class Accumulator>
struct accumulator_format {
    static constexpr unsigned limbs = sizeof(Accumulator) / sizeof(int64_t), digits = limbs - 4;
    static constexpr int least = /* the exponent of one unit of limb 0 */
        digits == FASTREDUCE_DETAIL_DIGITS        ? -149
        : digits == FASTREDUCE_DETAIL_WIDE_DIGITS ? -1074
                                                  : FASTREDUCE_DETAIL_PRODUCT_LEAST;
    /* Returns whether a limb carries: all do but the one with the sign and those that count. */
    static FASTREDUCE_DEVICE bool carries(unsigned k) { return k < digits - 1; }
};
using float_format = accumulator_format<fastreduce_accumulator>;

/* Returns an accumulator's limbs, for atomics. */
template <class Accumulator>
FASTREDUCE_DEVICE unsigned long long *words_of(Accumulator *accumulator)
{
    return reinterpret_cast<unsigned long long *>(accumulator->limb);
}

/* Returns the position, from `least` to `top`, of the window that holds floats up to an exponent
 * and `reach` binades below. */
FASTREDUCE_DEVICE unsigned position_for(unsigned exponent, unsigned reach, unsigned least,
                                        unsigned top)
{
    return exponent <= reach + least ? least : exponent - reach < top ? exponent - reach : top;
}

/* A product of doubles that is not rounded. */
struct double_product {
    double x, y;
};

/* The parts of a term, a float or a double: low * 2^exponent. If it is not finite, `special` says
 * which of the three counting limbs counts it. */
template <class Term>
struct term_parts {
    unsigned_t<Term> low;
    static constexpr unsigned_t<Term> high = 0;
    int exponent;
    unsigned special;
    bool is_negative, is_finite;

    FASTREDUCE_DEVICE explicit term_parts(Term x)
    {
        constexpr unsigned fraction_bits = element<Term>::fraction_bits,
                           sign_bit = 8 * sizeof(Term) - 1,
                           most = (1u << (sign_bit - fraction_bits)) - 1;
        constexpr int least = 1 - static_cast<int>(most / 2 + fraction_bits);
        constexpr unsigned_t<Term> one = static_cast<unsigned_t<Term>>(1) << fraction_bits;
        const unsigned_t<Term> bits = bits_as<unsigned_t<Term>>(x), fraction = bits & (one - 1);
        const unsigned biased = static_cast<unsigned>(bits >> fraction_bits) & most;
        low = fraction | (biased > 0 ? one : 0);
        exponent = least + static_cast<int>(biased > 0 ? biased - 1 : 0);
        is_negative = bits >> sign_bit != 0;
        is_finite = biased != most;
        special = fraction != 0 ? 0 : is_negative ? 2 : 1;
    }
};
/* Those of a product, (high * 2^64 + low) * 2^exponent. */
template <>
struct term_parts<double_product> {
    uint64_t low, high;
    int exponent;
    unsigned special;
    bool is_negative, is_finite;

    FASTREDUCE_DEVICE explicit term_parts(double_product product)
    {
        const term_parts<double> x(product.x), y(product.y);
        low = fastreduce_detail_multiply_words(x.low, y.low, &high);
        exponent = x.exponent + y.exponent;
        is_negative = x.is_negative != y.is_negative;
        is_finite = x.is_finite && y.is_finite;
        special = term_parts<double>(ieee_multiply(product.x, product.y)).special;
    }
};

/* Returns digit `lane` of number * 2^shift in limbs of 32 bits. The highest that is not 0 has the
 * sign. */
FASTREDUCE_DEVICE long long digit_of(long long number, unsigned shift)
{
    const int from = static_cast<int>(threadIdx.x % warp_size * 32) - static_cast<int>(shift);
    if (from <= -32 || from >= 64) return 0;
    if (from >= 32) return number >> from;
    const unsigned long long bits = static_cast<unsigned long long>(number);
    return static_cast<long long>((from >= 0 ? bits >> from : bits << -from) & 0xffffffff);
}

/* Carries once in a warp's limbs, of which lane k holds number k + 32 j in limb[j], where
 * Format::carries(number) says so. Then there is room for a sum of several, and for a count beside
 * it. With `half` = 2^31 it rounds carries to the nearest, so that a sum of either sign has few
 * limbs, which must be below 2^62. */
template <class Format, unsigned Each>
FASTREDUCE_DEVICE void carry_once(long long (&limb)[Each], long long half = 0)
{
    const unsigned lane = threadIdx.x % warp_size;
    int from_below = 0; /* lane 0's */
#pragma unroll
    for (unsigned j = 0; j < Each; ++j) {
        const bool has_carry = Format::carries(lane + j * warp_size);
        const int carry = has_carry ? static_cast<int>((limb[j] + half) >> 32) : 0,
                  incoming = __shfl_sync(all_lanes, carry, (lane + warp_size - 1) % warp_size);
        limb[j] = limb[j] - carry * (1ll << 32) + (lane > 0 ? incoming : from_below);
        from_below = incoming;
    }
}

/* Returns limb k of the block's sum in lane k of the first warp, and 0 from lane 16 on. */
template <unsigned BlockSize>
FASTREDUCE_DEVICE long long limb_of_block(long long limb, fastreduce_accumulator *warp_sums)
{
    constexpr unsigned warps = BlockSize / warp_size, limbs = 16;
    const unsigned lane = threadIdx.x % warp_size, k = lane % limbs;
    if (lane < limbs) warp_sums[threadIdx.x / warp_size].limb[k] = limb;
    __syncthreads();
    if (threadIdx.x >= warp_size) return 0;
    long long sum = 0;
#pragma unroll
    for (unsigned row = 0; row < warps; row += 2)
        if (row + lane / limbs < warps) sum += warp_sums[row + lane / limbs].limb[k];
    sum += shuffle_down(sum, limbs);
    return lane < limbs ? sum : 0;
}

/* Adds the limbs of warp 0 of each block. Returns true in the last block, whose limbs are then the
 * sum of all. Every other block adds its limbs to one of the totals, and with each limb 1 to the
 * count in the word's top 12 bits. The last waits until all counts say all blocks, and leaves
 * zeros. So it needs no fence and no ticket. */
template <class Format, unsigned Each>
FASTREDUCE_DEVICE bool sum_of_blocks(status_word *totals, long long (&limb)[Each])
{
    constexpr unsigned limbs = Format::limbs;
    const unsigned others = gridDim.x - 1, lane = threadIdx.x % warp_size;
    if (others == 0) return true;
    if (blockIdx.x != others) {
        status_word *const total_of_block = totals + blockIdx.x % exact_totals * limbs;
        carry_once<Format>(limb);
#pragma unroll
        for (unsigned j = 0; j < Each; ++j)
            if (lane + j * warp_size < limbs)
                atomicAdd(total_of_block + lane + j * warp_size,
                          exact_one_block + static_cast<unsigned long long>(limb[j]));
        return false;
    }
    unsigned long long total[Each];
    bool missing;
    do {
        missing = false;
#pragma unroll
        for (unsigned j = 0; j < Each; ++j) {
            const bool has_limb = lane + j * warp_size < limbs;
            const status_word *const word = totals + (has_limb ? lane + j * warp_size : 0);
            /* Without branches, as loads would take turns: .7 us longer (one H100). */
            total[j] = 0;
#pragma unroll
            for (unsigned k = 0; k < exact_totals; ++k) total[j] += peek(word + k * limbs);
            /* Rounds to the nearest, as a negative sum borrows from the count. */
            missing |= has_limb && (total[j] + exact_one_block / 2) / exact_one_block != others;
        }
    } while (__any_sync(all_lanes, missing));
#pragma unroll
    for (unsigned j = 0; j < Each; ++j) {
        if (lane + j * warp_size >= limbs) continue;
        limb[j] += static_cast<long long>(total[j] - others * exact_one_block);
#pragma unroll
        for (unsigned k = 0; k < exact_totals; ++k) totals[k * limbs + lane + j * warp_size] = 0;
    }
    return true;
}

/* Returns what the lane adds to its limb for the sum of the lanes' numbers, each times 2^shift.
 * Sums three parts of them, of which 32 add up without overflow; of numbers below 2^52 two. */
template <unsigned Parts = 3>
FASTREDUCE_DEVICE long long digit_of_sum(long long number, unsigned shift)
{
    constexpr unsigned bits = 27, mask = (1u << bits) - 1;
    const long long low = warp_add(static_cast<unsigned>(number) & mask);
    if (Parts == 2) {
        const int rest = static_cast<int>(warp_add(static_cast<unsigned>(number >> bits)));
        return digit_of(low + (1ll << bits) * rest, shift);
    }
    const long long middle = warp_add(static_cast<unsigned>(number >> bits) & mask);
    const int high = static_cast<int>(warp_add(static_cast<unsigned>(number >> 2 * bits)));
    return digit_of(low + (middle << bits), shift) + digit_of(high, shift + 2 * bits);
}

/* Propagates the carries of the warp's accumulator, as fastreduce_detail_carry does. The limbs'
 * magnitudes are below 2^62; those that are no digits stay. */
template <unsigned Digits = FASTREDUCE_DETAIL_DIGITS>
FASTREDUCE_DEVICE long long carry_across_lanes(long long limb)
{
    constexpr unsigned top_lane = Digits - 1;
    constexpr long long mask = 0xffffffff, bias = 1ll << 62;
    const unsigned lane = threadIdx.x % warp_size;

    /* The bias, which the next limb takes back, makes all of them positive. After one step from
     * lane to lane carries are 0 or 1. They ripple through digits of all ones as in an addition of
     * masks. */
    long long digit =
        limb + (lane < top_lane ? bias : 0) - (lane > 0 && lane <= top_lane ? bias >> 32 : 0);
    const unsigned step = __shfl_up_sync(all_lanes, static_cast<unsigned>(digit >> 32), 1);
    if (lane < top_lane) digit &= mask;
    if (lane > 0 && lane <= top_lane) digit += step;
    const unsigned generate = __ballot_sync(all_lanes, lane < top_lane && digit > mask);
    const unsigned propagate = __ballot_sync(all_lanes, lane < top_lane && digit == mask);
    digit += (((generate << 1) + propagate) ^ propagate) >> lane & 1;
    if (lane < top_lane) digit &= mask;
    return digit;
}

/* Replaces the digits, whose carries are propagated, by those of the magnitude. Returns whether the
 * number is negative. Lanes that have no digit become 0. */
template <unsigned Digits>
FASTREDUCE_DEVICE bool absolute_across_lanes(long long &digit)
{
    constexpr unsigned top_lane = Digits - 1;
    constexpr long long mask = 0xffffffff;
    const unsigned lane = threadIdx.x % warp_size;
    if (__ballot_sync(all_lanes, lane == top_lane && digit < 0) == 0) return false;
    /* complement, and add 1 */
    const unsigned zeros = __ballot_sync(all_lanes, lane < top_lane && digit == 0);
    digit = (lane < top_lane    ? digit ^ mask
             : lane == top_lane ? ~digit
                                : 0) +
            (((zeros + 1) ^ zeros) >> lane & 1);
    if (lane < top_lane) digit &= mask;
    return true;
}

/* Returns the leading bits of a magnitude, whose digits, times 2^least, are in the lanes; lane
 * 31 has 0. Three parts are enough to round a sum; a quotient or a root takes five. */
template <unsigned Parts>
FASTREDUCE_DEVICE fastreduce_detail_magnitude leading_across_lanes(long long digit, int least)
{
    const unsigned nonzero = __ballot_sync(all_lanes, digit != 0),
                   word = static_cast<unsigned>(digit);
    const int top = nonzero != 0 ? 31 - __clz(static_cast<int>(nonzero)) : 0;
    unsigned part[Parts];
#pragma unroll
    for (int k = 0; k < static_cast<int>(Parts); ++k)
        part[k] = __shfl_sync(all_lanes, word, top >= k ? top - k : warp_size - 1);
    const unsigned zeros = static_cast<unsigned>(__clz(static_cast<int>(part[0]))),
                   more = zeros == 0 ? 0 : 32 - zeros;
    const auto join_words = [&](unsigned first) {
        const unsigned long long both =
            static_cast<unsigned long long>(part[first]) << 32 | part[first + 1];
        return zeros == 0 ? both : both << zeros | part[first + 2] >> more;
    };
    fastreduce_detail_magnitude value = {0, 0, 0, 0};
    if (nonzero == 0) return value;
    value.high = join_words(0);
    if constexpr (Parts > 3) value.low = join_words(2);
    value.exponent = 32 * top + 31 - static_cast<int>(zeros) + least;
    value.below = part[Parts - 1] << zeros != 0 ||
                  (top >= static_cast<int>(Parts) &&
                   (nonzero & ((1u << (top + 1 - static_cast<int>(Parts))) - 1)) != 0);
    return value;
}

/* Returns the bits of an operator's result, rounded once from the warp's accumulator, whose carries
 * are propagated: of a sum those of a float by default. All lanes work together, as one thread
 * takes 0.2 us longer. Lanes from 16 on have 0. */
template <unsigned Parts>
FASTREDUCE_DEVICE uint64_t round_across_lanes(long long digit,
                                              fastreduce_operator op = FASTREDUCE_SUM, size_t n = 0,
                                              int precision = 24)
{
    const unsigned counts = __ballot_sync(all_lanes, digit != 0) >> float_format::digits;
    const int special = fastreduce_detail_special(counts & 1, counts >> 1 & 1, counts >> 2 & 1);
    const bool negative = absolute_across_lanes<float_format::digits>(digit);
    return fastreduce_detail_finish(special, negative,
                                    leading_across_lanes<Parts>(digit, float_format::least), op, n,
                                    precision);
}

/* Returns a pack whose elements have only those bits that `mask`, of a float's bits, says. */
template <class Input>
FASTREDUCE_DEVICE pack<Input> mask_pack(const pack<Input> &x, unsigned mask)
{
    auto masked = bits_as<pack<unsigned>>(x);
    if (sizeof(Input) == 2) mask = mask >> 16 | (mask & 0xffff0000);
#pragma unroll
    for (unsigned &word : masked.item) word &= mask;
    return bits_as<pack<Input>>(masked);
}

/* Stores the bits of a float of that precision (fastreduce_detail_pack). Only those of elements of
 * 16 bits have as few. */
template <class Input = f16>
FASTREDUCE_DEVICE void store_bits(void *result, uint64_t bits, int precision)
{
    if (sizeof(Input) == 2 && precision < 24)
        *static_cast<unsigned short *>(result) = static_cast<unsigned short>(bits);
    else if (precision == 24)
        *static_cast<unsigned *>(result) = static_cast<unsigned>(bits);
    else
        *static_cast<unsigned long long *>(result) = bits;
}

/* A thread's floats as integers. Their parts are multiples of 2^(position + 22), of 2^position and,
 * if Extended, of 2^(position - 22), all times 2^-149. It holds up to 500 floats. */
template <bool Extended>
struct window_sum {
    unsigned high = 0, low = 0, lowest = 0, above = 0, below = 0;

    FASTREDUCE_DEVICE void add_float(float x, unsigned position)
    {
        const unsigned upper = (position + 23) << 23 | 0x400000,
                       lower = (position + 1) << 23 | 0x400000,
                       least = (position - 21) << 23 | 0x400000;
        const float caught = ieee_add(x, __uint_as_float(upper));
        float remainder = ieee_subtract(x, ieee_subtract(caught, __uint_as_float(upper)));
        float caught_remainder = ieee_add(remainder, __uint_as_float(lower));
        float rounded = ieee_subtract(caught_remainder, __uint_as_float(lower));
        high += __float_as_uint(caught) - upper;
        low += __float_as_uint(caught_remainder) - lower;
        if (Extended) {
            remainder = ieee_subtract(remainder, rounded);
            caught_remainder = ieee_add(remainder, __uint_as_float(least));
            rounded = ieee_subtract(caught_remainder, __uint_as_float(least));
            lowest += __float_as_uint(caught_remainder) - least;
        }
        /* another exponent: x is too large, or not finite */
        above |= __float_as_uint(caught) ^ upper;
        /* some of x lies below; signs of 0 differ */
        below |= __float_as_uint(rounded) ^ __float_as_uint(remainder);
    }
    FASTREDUCE_DEVICE bool has_all_bits() const { return (below & 0x7fffffff) == 0; }
    FASTREDUCE_DEVICE bool is_complete() const
    {
        return ((above & 0xff800000) | (below & 0x7fffffff)) == 0;
    }
    FASTREDUCE_DEVICE long long value() const
    {
        return (1ll << window_bits / 2) * static_cast<int>(high) + static_cast<int>(low);
    }
    /* Returns the sum as a double, which holds it: without `lowest`, of up to 2^8 floats. */
    FASTREDUCE_DEVICE double number(unsigned position) const
    {
        const double unit =
            bits_as<double>(static_cast<unsigned long long>(position + 1023 - 149) << 52);
        return ieee_multiply(
            ieee_add(ieee_multiply<double>(static_cast<int>(high), 1u << window_bits / 2),
                     static_cast<double>(static_cast<int>(low))),
            unit);
    }
};

template <unsigned BlockSize, class Input = float>
struct superaccumulator {
    using Element = Input;
    static constexpr bool two_arrays = false;
    static constexpr unsigned block_size = BlockSize, resident_blocks = 1024 / BlockSize,
                              limbs = 16, status_words = exact_totals * limbs, nowhere = ~0u;
    static constexpr size_t shared_bytes = exact_bins * BlockSize * sizeof(long long);

    long long value = 0;         /* the thread's window, in units of 2^(position - 149) */
    long long value_below = 0;   /* the extension below it, in units 2^22 times smaller */
    unsigned position = nowhere; /* of the window; the warp's */
    long long limb = 0;          /* this lane's, of the warp's accumulator */
    long long *const bins;       /* the thread's, BlockSize apart */
    bool bins_used = false;      /* the warp has used them since the last flush */
    unsigned groups_to_skip = 0; /* groups that go to bins without a look at the window */
    unsigned groups = 0;         /* since the last flush */
    const unsigned mask;         /* of a float's bits */
    /* A window that never moves holds all of f16. */
    static constexpr bool narrow = sizeof(Input) == 2, fixed = are_same<Input, f16>;
    static constexpr unsigned fixed_position = 149 - 24;
    static constexpr unsigned reach = narrow ? 16 : 20;

    FASTREDUCE_DEVICE explicit superaccumulator(const exact_output &output)
        : bins(dynamic_shared<long long>() + threadIdx.x), mask{output.mask}
    {
    }

    template <class Items>
    FASTREDUCE_DEVICE void add_items(const Items &items, const Items &)
    {
        constexpr unsigned size = pack<Input>::size, packs = Items::packs_each,
                           at_once = narrow && !fixed ? (packs + 1) / 2 : packs; /* registers */
#pragma unroll
        for (unsigned first = 0; first < packs; first += at_once) {
            float group[at_once * size];
#pragma unroll
            for (unsigned k = 0; k < at_once; ++k) {
                const pack<Input> masked = mask_pack(items.packs[first + k], mask);
#pragma unroll
                for (unsigned j = 0; j < size; ++j) group[k * size + j] = widened(masked[j]);
            }
            add_group(group);
        }
    }

    template <unsigned Count>
    FASTREDUCE_DEVICE void add_group(const float (&group)[Count])
    {
        static_assert(Count <= exact_group_limit, "a 64-bit sum could overflow");
        if (position == nowhere) {
            /* A guess, as another look at all of them takes longer. */
            const float first[4] = {group[0], group[1], group[2], group[3]};
            position = fixed ? fixed_position : window_for(first);
        }
        const bool missed = groups_to_skip > 0 || !catch_all(group);
        const unsigned misses = __ballot_sync(all_lanes, missed);
        if (misses != 0) add_missed(group, misses);
        if (++groups == groups_between_flushes) flush();
    }

    /* Returns the position of the window that holds the greatest float and one more binade. */
    template <unsigned Count>
    FASTREDUCE_DEVICE unsigned window_for(const float (&group)[Count])
    {
        unsigned greatest = 0;
#pragma unroll
        for (float x : group) {
            const unsigned bits = __float_as_uint(x) & 0x7fffffff;
            if (bits < 0x7f800000 && bits > greatest) greatest = bits;
        }
        return position_for(warp_max(greatest) >> 23, reach, 0, top_position);
    }

    template <unsigned Count>
    FASTREDUCE_DEVICE bool catch_all(const float (&group)[Count])
    {
        if constexpr (narrow && Count % 8 == 0)
            return catch_by_eights(group);
        else
            return add_to_window<false>(group);
    }
    /* Adds the group to the same window, in digits of 21 bits. These have room for the sum of eight
     * high ones and of four low ones. What is added with both ways of rounding is exact if they
     * agree. The fixed window holds everything. */
    template <unsigned Count>
    FASTREDUCE_DEVICE bool catch_by_eights(const float (&group)[Count])
    {
        constexpr unsigned bits = window_bits / 2 - 1;
        const unsigned upper = (position + bits + 1) << 23 | 0x400000,
                       lower = (position + 1) << 23 | 0x400000;
        unsigned high = 0, low = 0, above = 0, differ = 0;
#pragma unroll
        for (unsigned k = 0; k < Count; k += 8) {
            float caught = __uint_as_float(upper);
#pragma unroll
            for (unsigned j = k; j < k + 8; j += 4) {
                float down = __uint_as_float(lower), up = down;
#pragma unroll
                for (unsigned i = j; i < j + 4; ++i) {
                    const float x = group[i], next = ieee_add(caught, x),
                                remainder = ieee_subtract(x, ieee_subtract(next, caught));
                    caught = next;
                    down = fixed ? ieee_add(down, remainder)
                                 : ieee_add_rounding<false>(down, remainder);
                    up = ieee_add_rounding<true>(up, remainder);
                    if (!fixed) above |= __float_as_uint(caught) ^ upper;
                }
                if (fixed) above |= __float_as_uint(down) ^ lower; /* where it is not finite */
                if (!fixed) differ |= __float_as_uint(down) ^ __float_as_uint(up);
                low += __float_as_uint(down);
            }
            high += __float_as_uint(caught);
        }
        if ((above & 0xff800000) | differ) return false;
        value += (1ll << bits) * static_cast<int>(high - Count / 8 * upper) +
                 static_cast<int>(low - Count / 4 * lower);
        return true;
    }

    /* Adds the whole group, or returns false and adds nothing if a float does not fit. Extended: it
     * uses the extension below the window, too. */
    template <bool Extended, unsigned Count>
    FASTREDUCE_DEVICE bool add_to_window(const float (&group)[Count])
    {
        window_sum<Extended> sum;
#pragma unroll
        for (float x : group) sum.add_float(x, position);
        if (!sum.is_complete()) return false;
        value += sum.value();
        if (Extended) value_below += static_cast<int>(sum.lowest);
        return true;
    }

    /* Adds a group that the threads with a bit in `misses` could not add. If they are few, most
     * have something below the window, which the extension takes, or else their bins. If they are
     * more, the window moves first to where it fits better. If it still misses many, the next
     * groups go to bins. */
    template <unsigned Count>
    FASTREDUCE_DEVICE void add_missed(const float (&group)[Count], unsigned misses)
    {
        constexpr int max_outliers = 3;
        const unsigned lane_bit = 1u << threadIdx.x % warp_size;
        if (groups_to_skip > 0) {
            --groups_to_skip;
        } else if (fixed || __popc(misses) <= max_outliers) {
            if (position >= window_bits / 2)
                misses =
                    __ballot_sync(all_lanes, (misses & lane_bit) && !add_to_window<true>(group));
        } else {
            const unsigned better = window_for(group);
            if (better > position || better + 8 < position) {
                flush_window();
                position = better;
                misses = __ballot_sync(all_lanes, (misses & lane_bit) && !catch_all(group));
            }
            if (__popc(misses) > max_outliers) groups_to_skip = 16;
        }
        if (misses == 0) return;
        if (!bins_used) {
            for (unsigned c = 0; c < exact_bins; ++c) bins[c * BlockSize] = 0;
            bins_used = true;
        }
        if (misses & lane_bit) {
#pragma unroll
            for (unsigned j = 0; j < Count; j += 4)
                add_to_bins({{group[j], group[j + 1], group[j + 2], group[j + 3]}});
        }
        __syncwarp(); /* Otherwise the warp may stay divided to the end. */
    }

    /* Adds a pack to the bins. Bin c has the floats with exponents 16 c to 16 c + 15, in units of
     * 2^(16 c - 1 - 149). Denormals have the scale of exponent 1. The last bin counts what is not
     * finite. */
    FASTREDUCE_DEVICE void add_to_bins(const pack<float> &v)
    {
        bool finite = true;
#pragma unroll
        for (float x : v.item) finite = finite && term_parts<float>(x).is_finite;
        if (!finite) {
            add_special(bins, v);
            return;
        }
#pragma unroll
        for (float item : v.item) {
            const term_parts<float> x(item);
            const unsigned scale = static_cast<unsigned>(x.exponent + 150);
            const int number = static_cast<int>(x.is_negative ? 0 - x.low : x.low);
            bins[scale / 16 * BlockSize] += static_cast<long long>(number) * (1 << scale % 16);
        }
    }

    /* Adds four floats that are not all finite. Out of line, as it is slow and rare. */
    static __device__ __noinline__ void add_special(long long *bins, pack<float> v)
    {
#pragma unroll 1
        for (unsigned j = 0; j < 4; ++j) {
            const term_parts<float> x(v.item[j]);
            const unsigned scale = static_cast<unsigned>(x.exponent + 150);
            const long long magnitude = static_cast<long long>(x.low) << scale % 16;
            bins[(x.is_finite ? scale / 16 : exact_bins - 1) * BlockSize] +=
                !x.is_finite    ? 1ll << 21 * x.special
                : x.is_negative ? -magnitude
                                : magnitude;
        }
    }

    /* Moves the threads' sums to the warp's accumulator. */
    FASTREDUCE_DEVICE void flush_window()
    {
        limb += digit_of_sum(value, position);
        if (__any_sync(all_lanes, value_below != 0))
            limb += digit_of_extension(value_below, position - window_bits / 2);
        value = value_below = 0;
    }

    FASTREDUCE_DEVICE void flush()
    {
        groups = 0;
        flush_window();
        if (bins_used) limb += digit_of_bins(bins);
        bins_used = false;
    }

    /* Out of line: most warps never need it. */
    static __device__ __noinline__ long long digit_of_extension(long long number, unsigned shift)
    {
        return digit_of_sum(number, shift);
    }

    /* Returns what the lane adds to its limb for the bins. Out of line, as most need none. */
    static __device__ __noinline__ long long digit_of_bins(const long long *bins)
    {
        long long digit = digit_of_sum(bins[0] / 2, 0); /* exact, as nothing has exponent 0 here */
        for (unsigned c = 1; c + 1 < exact_bins; ++c) {
            const long long sum = bins[c * BlockSize];
            if (__any_sync(all_lanes, sum != 0)) digit += digit_of_sum(sum, 16 * c - 1);
        }
        const long long counts = bins[(exact_bins - 1) * BlockSize];
#pragma unroll
        for (unsigned k = 0; k < 3; ++k) {
            const unsigned count = warp_add(static_cast<unsigned>(counts >> 21 * k) & 0x1fffff);
            if (threadIdx.x % warp_size == float_format::digits + k) digit += count;
        }
        return digit;
    }

    FASTREDUCE_DEVICE void add_nans(unsigned count)
    {
        if (threadIdx.x % warp_size == float_format::digits) limb += count;
    }
    FASTREDUCE_DEVICE void reduce_blocks(status_word *totals, const exact_output &output, size_t n)
    {
        __shared__ fastreduce_accumulator sums[BlockSize / warp_size];
        flush();
        long long sum[1] = {limb_of_block<BlockSize>(limb, sums)};
        if (threadIdx.x < warp_size && sum_of_blocks<float_format>(totals, sum))
            store(sum[0], output, n);
    }

  private:
    static FASTREDUCE_DEVICE void store(long long sum, const exact_output &output, size_t n)
    {
        const unsigned lane = threadIdx.x % warp_size;
        const bool rounds = output.result != nullptr;
        if (!rounds) {
            long long before[1] = {output.total[lane % limbs]};
            carry_once<float_format>(before);
            sum += before[0];
        }
        sum = carry_across_lanes(sum);
        if (!rounds) {
            /* Limits counts as fastreduce_detail_normalize does. */
            if (lane >= float_format::digits && sum > FASTREDUCE_DETAIL_MOST_COUNTED)
                sum = FASTREDUCE_DETAIL_MOST_COUNTED;
            if (lane < limbs) output.total[lane] = sum;
        } else if (output.op != FASTREDUCE_MEAN && output.precision == 24 && !output.skips_nan) {
            const uint64_t bits = round_across_lanes<3>(sum);
            if (lane == 0) store_bits(output.result, bits, 24);
        } else {
            if (output.skips_nan) {
                n -= static_cast<size_t>(shuffle(sum, float_format::digits));
                if (lane == float_format::digits) sum = 0;
            }
            store_slowly(sum, output.result, output.op, output.precision, n);
        }
    }
    static __device__ __noinline__ void
    store_slowly(long long sum, void *result, fastreduce_operator op, int precision, size_t n)
    {
        const uint64_t bits = round_across_lanes<5>(sum, op, n, precision);
        if (threadIdx.x % warp_size == 0) store_bits<Input>(result, bits, precision);
    }
};

/* Leaves out NaNs: zeros stand for them, and it counts them. */
template <class Accumulator>
struct exact_without_nan : Accumulator {
    using Element = typename Accumulator::Element;
    unsigned nans = 0;

    FASTREDUCE_DEVICE explicit exact_without_nan(const exact_output &output) : Accumulator(output)
    {
    }
    template <class Items>
    FASTREDUCE_DEVICE void add_items(const Items &items, const Items &)
    {
        Items numbers = items;
#pragma unroll
        for (auto &one : numbers.packs) nans += replace_nans(one, bits_of_infinity<Element>, 0);
        Accumulator::add_items(numbers, numbers);
    }
    FASTREDUCE_DEVICE void reduce_blocks(status_word *totals, const exact_output &output, size_t n)
    {
        this->add_nans(warp_add(nans));
        Accumulator::reduce_blocks(totals, output, n);
    }
};

/* Reduces one array exactly. Blocks take its tiles in turn, as many blocks as there is room for,
 * because what they hand over is long. They go from the end to the front, as what was just written
 * is in the cache. As reduce_pairwise it begins before the previous grid has ended. */
template <class Accumulator, unsigned Packs>
__global__ void __launch_bounds__(Accumulator::block_size, resident(Accumulator::resident_blocks))
    reduce_exact(pairwise_array array, exact_output output, status_word *status_words)
{
    using Element = typename Accumulator::Element;
    constexpr unsigned block_size = Accumulator::block_size;
    constexpr size_t tile_elements = elements_of_tile<Element, Packs>(block_size);
    const auto zero = []() { return Element(); };
    size_t tiles = blocks_for(array.n, tile_elements);
    if (threadIdx.x == 0) prefetch_tile<Element, Packs>(array, block_size, tiles - 1 - blockIdx.x);
    wait_for_previous_grid();
    if (array.n_on_device != nullptr) {
        if (*array.n_on_device < array.n) array.n = *array.n_on_device;
        tiles = blocks_for(array.n, tile_elements);
    }
    Accumulator accumulator(output);
    /* Below 0 numbers wrap around. */
#pragma unroll 1
    for (size_t tile = tiles - 1 - blockIdx.x; tile < tiles; tile -= gridDim.x) {
        const tile_offset offset = array.template locate_tile<Element, Packs>(block_size, tile, 0);
        lane_packs<Element, Packs> items = {{}, offset.index, array.n};
        items.load(static_cast<const Element *>(array.input), offset, array.streaming, zero);
        lane_packs<Element, Packs> others = items; /* squares, if there is no other array */
        if (Accumulator::two_arrays && array.other != nullptr)
            others.load(static_cast<const Element *>(array.other), offset, array.streaming, zero);
        /* After the first loads it is 3 to 8 % faster than at once, up to 2^18 (one H200). */
        allow_next_grid();
        accumulator.add_items(items, others);
    }
    accumulator.reduce_blocks(status_words, output, array.n);
}

/* ---- The same for doubles ----
 *
 * Doubles, and products of floats, of which a double holds every one: integers times 2^-1074. A
 * window cuts each into two doubles, multiples of two powers of two 48 binades apart, of which a
 * group's add up without rounding. What it misses goes to shared memory, where the warp's limbs
 * are, too: doubles as digits that the warp counts, products to bins of each lane. */

/* Return the two halves of a double's bits. */
FASTREDUCE_DEVICE unsigned upper_bits(double x)
{
    return static_cast<unsigned>(bits_as<unsigned long long>(x) >> 32);
}
FASTREDUCE_DEVICE unsigned lower_bits(double x)
{
    return static_cast<unsigned>(bits_as<unsigned long long>(x));
}
/* Returns the upper half without the sign. It orders magnitudes up to the lower 32 bits. */
FASTREDUCE_DEVICE unsigned upper_magnitude(double x) { return upper_bits(x) & ~0u >> 1; }
constexpr unsigned not_finite = 2047; /* a double's exponent bits */

/* A term of a sum is a double, or the product of two. */
FASTREDUCE_DEVICE double rounded_term(double x) { return x; }
FASTREDUCE_DEVICE double rounded_term(double_product product)
{
    return ieee_multiply(product.x, product.y);
}
/* Returns whether a term is not 0 although the upper half of its rounded magnitude is. */
FASTREDUCE_DEVICE bool is_tiny_nonzero(double x) { return lower_bits(x) != 0; }
FASTREDUCE_DEVICE bool is_tiny_nonzero(double_product product)
{
    return product.x != 0 && product.y != 0;
}

/* Zeros what the warp has in shared memory. */
template <class Sums>
FASTREDUCE_DEVICE void clear_by_warp(Sums &sums)
{
    constexpr unsigned word_count = sizeof(Sums) / sizeof(uint64_t);
    const unsigned lane = threadIdx.x % warp_size;
#pragma unroll
    for (unsigned k = 0; k < word_count; k += warp_size)
        if (k + lane < word_count) reinterpret_cast<uint64_t *>(&sums)[k + lane] = 0;
    __syncwarp();
}

/* A warp's sum in shared memory, as the limbs of an accumulator. Structs derived from it hold what
 * windows miss, up to some number of terms a lane, until the warp adds that to the limbs. */
template <class Accumulator>
struct wide_limbs : accumulator_format<Accumulator> {
    using format = accumulator_format<Accumulator>;
    using format::digits, format::limbs;
    static constexpr unsigned nan_limb = digits;
    int64_t limb[limbs];

    FASTREDUCE_DEVICE int64_t &limb_at(unsigned k) { return limb[k]; }
    /* Forgets NaNs, and returns how many there were. The warp calls it. */
    FASTREDUCE_DEVICE size_t remove_nans()
    {
        const int64_t nans = limb[digits];
        __syncwarp();
        limb[digits] = 0;
        __syncwarp();
        return static_cast<size_t>(nans);
    }

    /* Adds the sum of the lanes' numbers, times 2^(shift - 1074). The warp calls it. */
    FASTREDUCE_DEVICE void add_lanes(long long number, unsigned shift)
    {
        const unsigned lane = threadIdx.x % warp_size;
        shift += static_cast<unsigned>(-1074 - format::least);
        const long long digit = digit_of_sum(number, shift % 32);
        if (lane < 5) limb[shift / 32 + lane] += digit;
        __syncwarp();
    }
};

/* Takes any terms that windows miss. half_limb[2 k] and half_limb[2 k + 1], which counts 2^16 times
 * as much, are what they add to limb k. */
template <class Accumulator>
struct wide_sums : wide_limbs<Accumulator> {
    using limbs_of_warp = wide_limbs<Accumulator>;
    using limbs_of_warp::limb, limbs_of_warp::digits, limbs_of_warp::limbs;
    static constexpr unsigned most_missed = 512;
    static constexpr bool may_be_denormal = true;
    int half_limb[2 * limbs];

    template <class Source, class Group>
    FASTREDUCE_DEVICE void add_missed(const Group &group)
    {
        group.template visit<Source>([&](const auto &term) { add_any(term); });
    }
    /* Adds a thread's term, less than 2^17 to a half limb. Out of line, as it is rare. */
    template <class Term>
    __device__ __noinline__ void add_any(Term term)
    {
        const term_parts<Term> parts(term);
        const unsigned shift = static_cast<unsigned>(parts.exponent - limbs_of_warp::least);
        if (!parts.is_finite) {
            atomicAdd(&half_limb[2 * (digits + parts.special)], 1);
            return;
        }
        add_bits(parts.low, shift, parts.is_negative);
        if (sizeof term > sizeof(double)) add_bits(parts.high, shift + 64, parts.is_negative);
    }
    /* Moves half limbs to limbs. The warp calls it. */
    FASTREDUCE_DEVICE void flush_missed()
    {
        __syncwarp();
        for (unsigned k = threadIdx.x % warp_size; k + 1 < limbs; k += warp_size) {
            limb[k] += half_limb[2 * k] + (1ll << 16) * half_limb[2 * k + 1];
            half_limb[2 * k] = half_limb[2 * k + 1] = 0;
        }
        __syncwarp();
    }

  private:
    FASTREDUCE_DEVICE void add_bits(unsigned long long bits, unsigned shift, bool is_negative)
    {
        const unsigned long long low = bits << shift % 16, high = bits >> 48 >> (16 - shift % 16);
        const int sign = is_negative ? -1 : 1;
#pragma unroll
        for (unsigned k = 0; k < 5; ++k) {
            const int part = static_cast<int>((k < 4 ? low >> 16 * k : high) & 0xffff);
            if (part != 0) atomicAdd(&half_limb[shift / 16 + k], sign * part);
        }
    }
};

/* Takes products of floats that windows miss; they are normal doubles or zero. Bin c of a lane has
 * minus the sum of multiples of 2^(32 c - 345). These are halves of products, of 24 bits each; the
 * lower halves of narrow products are zero. */
template <bool Narrow>
struct product_sums : wide_limbs<fastreduce_wide_accumulator> {
    static constexpr unsigned bins = 19, most_missed = 256, first_shift = 1074 - 345,
                              least_exponent = 1023 - 298, half_bits = 24;
    static constexpr bool may_be_denormal = false;
    long long bin[bins][warp_size];

    template <class Source, class Group>
    FASTREDUCE_DEVICE void add_missed(const Group &group)
    {
        unsigned greatest = 0;
        group.template visit<Source>([&](double x) {
            const unsigned upper = upper_magnitude(x);
            greatest = upper > greatest ? upper : greatest;
        });
        if (greatest >= not_finite << 20)
            group.template visit<Source>([&](double x) { add_any(x); });
        else
            group.template visit<Source>([&](double x) { add_finite(x); });
    }
    /* Moves bins to limbs. The warp calls it. */
    __device__ __noinline__ void flush_missed()
    {
        for (unsigned c = 0; c < bins; ++c) {
            long long &sum_of_lane = bin[c][threadIdx.x % warp_size];
            if (__any_sync(all_lanes, sum_of_lane != 0))
                add_lanes(-sum_of_lane, first_shift + 32 * c);
            sum_of_lane = 0;
        }
    }

  private:
    /* Adds a finite product, without branches, so that the next one's bins are found meanwhile. */
    FASTREDUCE_DEVICE void add_finite(double x)
    {
        constexpr unsigned one = 1u << (half_bits - 1), low_zeros = 53 - 2 * half_bits;
        const unsigned exponent = upper_bits(x) >> 20 & not_finite,
                       scale =
                           (exponent > least_exponent ? exponent : least_exponent) - least_exponent,
                       fraction = static_cast<unsigned>(bits_as<unsigned long long>(x) >>
                                                        (low_zeros + half_bits)) &
                                  (one - 1);
        const int sign = static_cast<int>(upper_bits(x)) >> 31, /* 0 or -1 */
            above = static_cast<int>(fraction | (exponent > 0 ? one : 0)),
                  below = static_cast<int>(lower_bits(x) >> low_zeros & (2 * one - 1));
        if (!Narrow) subtract_scaled((below ^ sign) - sign, scale);
        subtract_scaled((above ^ sign) - sign, scale + half_bits);
    }
    /* Subtracts, as -2^31 is an int. */
    FASTREDUCE_DEVICE void subtract_scaled(int number, unsigned scale)
    {
        bin[scale / 32][threadIdx.x % warp_size] +=
            static_cast<long long>(number) * static_cast<int>(~0u << scale % 32);
    }
    __device__ __noinline__ void add_any(double x)
    {
        const term_parts<double> parts(x);
        if (parts.is_finite)
            add_finite(x);
        else
            atomicAdd(words_of(this) + digits + parts.special, 1ull);
    }
};

/* A Source says what is summed: a term of an element, or of an element of each of two arrays, of
 * which the second may be the first. It takes as many packs at once as there are registers for. All
 * terms are multiples of 2^(least_unit - 1074). Of their 53 bits the lowest low_zeros are 0; if
 * that is negative, products of doubles have a remainder. */
struct doubles_masked {
    using Element = double;
    using Sums = wide_sums<fastreduce_wide_accumulator>;
    static constexpr bool two_arrays = false, follows_pairs = true;
    static constexpr unsigned packs_at_once = 4, least_unit = 0, resident_threads = 1024;
    static constexpr int low_zeros = 0;

    static FASTREDUCE_DEVICE double term(double x, double, unsigned mask)
    {
        return bits_as<double>(bits_as<unsigned long long>(x) &
                               (static_cast<unsigned long long>(mask) << 32 | 0xffffffff));
    }
};

/* Products of two arrays, or squares of one. */
template <class Input>
struct exact_products {
    using Element = Input;
    static constexpr bool two_arrays = true, follows_pairs = false,
                          of_doubles = sizeof(Input) == sizeof(double);
    using Term = standard::conditional_t<of_doubles, double_product, double>;
    static constexpr unsigned packs_at_once = 2, resident_threads = 768,
                              fraction_bits = element<Input>::fraction_bits,
                              bias = (1u << (8 * sizeof(Input) - 2 - fraction_bits)) - 1,
                              least_unit = of_doubles ? 0 : 1074 - 2 * (bias - 1 + fraction_bits);
    /* Beside its leading 53 bits, a window holds all of a product's 106 bits but 48. */
    static constexpr int low_zeros =
        of_doubles ? 48 - 53 : 53 - 2 * static_cast<int>(fraction_bits + 1);
    using Sums = standard::conditional_t<of_doubles, wide_sums<fastreduce_product_accumulator>,
                                         product_sums<(sizeof(Input) < sizeof(float))>>;

    static FASTREDUCE_DEVICE Term term(Input x, Input y, unsigned)
    {
        if constexpr (of_doubles)
            return {x, y};
        else if constexpr (are_same<Input, f16>) /* a float holds it */
            return ieee_cast<double>(ieee_multiply(widened(x), widened(y)));
        else
            return ieee_multiply(ieee_cast<double>(widened(x)), ieee_cast<double>(widened(y)));
        return Term();
    }
};

/* Dot products of many results, and the squares of variances. What windows miss goes to half limbs,
 * which take less shared memory than bins. */
template <class Input>
struct wide_products : exact_products<Input> {
    using Sums = wide_sums<
        standard::conditional_t<exact_products<Input>::of_doubles, fastreduce_product_accumulator,
                                fastreduce_wide_accumulator>>;
};

/* A group, which a window takes or misses as a whole: Count of a thread's packs, from number
 * `first` on. */
template <unsigned Count, class Items>
struct pack_range {
    const Items &items, &others;
    unsigned first, mask;

    template <class Source, class Function>
    FASTREDUCE_DEVICE void visit(const Function &function) const
    {
#pragma unroll
        for (unsigned k = 0; k < Count; ++k)
#pragma unroll
            for (unsigned j = 0; j < Items::pack_size; ++j)
                function(Source::term(items[first + k][j], others[first + k][j], mask));
    }
};

/* Rounds the limbs, which it may destroy, to a result. The warp calls it. Usually the limbs that
 * are not 0 fit one a lane; otherwise one thread rounds. */
template <class Accumulator>
__device__ __noinline__ void round_by_warp(wide_limbs<Accumulator> &sum, const result_slot &slot,
                                           fastreduce_operator op, int precision, size_t n,
                                           bool skips_nan)
{
    constexpr unsigned digits = wide_limbs<Accumulator>::digits;
    constexpr int least = wide_limbs<Accumulator>::least;
    if (skips_nan) n -= sum.remove_nans();
    int64_t *const limb = sum.limb;
    const unsigned lane = threadIdx.x % warp_size;
    unsigned first = digits, last = 0;
#pragma unroll
    for (unsigned from = 0; from < digits; from += warp_size) {
        const unsigned nonzero =
            __ballot_sync(all_lanes, from + lane < digits && limb[from + lane] != 0);
        if (nonzero == 0) continue;
        if (first == digits) first = from + lowest_bit(nonzero);
        last = from + 31 - static_cast<unsigned>(__clz(static_cast<int>(nonzero)));
    }
    if (first == digits) first = 0;
    uint64_t bits;
    if (last < first + warp_size - 3) {
        long long digit =
            carry_across_lanes<warp_size>(first + lane < digits ? limb[first + lane] : 0);
        const bool negative = absolute_across_lanes<warp_size>(digit);
        bits = fastreduce_detail_finish(
            fastreduce_detail_special(limb[digits] != 0, limb[digits + 1] != 0,
                                      limb[digits + 2] != 0),
            negative, leading_across_lanes<5>(digit, static_cast<int>(32 * first) + least), op, n,
            precision);
    } else if (lane == 0) {
        bits = fastreduce_detail_read(limb, digits, least, op, n, precision);
    }
    if (lane == 0) store_bits(slot.result, bits, precision);
    __syncwarp();
}

/* Adds the limbs to an accumulator. `other` is scratch memory. */
template <class Accumulator>
__device__ __noinline__ void add_to_total(wide_limbs<Accumulator> &sum,
                                          wide_limbs<Accumulator> &other, int64_t *total)
{
    using format = accumulator_format<Accumulator>;
    constexpr unsigned digits = format::digits, limbs = format::limbs;
    int64_t *const room = other.limb;
    for (unsigned k = threadIdx.x % warp_size; k < limbs; k += warp_size) room[k] = total[k];
    __syncwarp();
    if (threadIdx.x % warp_size == 0) {
        fastreduce_detail_normalize(room, digits);
        for (unsigned k = 0; k < limbs; ++k) room[k] += sum.limb[k];
        fastreduce_detail_normalize(room, digits);
    }
    __syncwarp();
    for (unsigned k = threadIdx.x % warp_size; k < limbs; k += warp_size) total[k] = room[k];
}

/* A warp's sum of doubles that come in groups of Terms a thread. */
template <class Source>
struct wide_window {
    using Sums = typename Source::Sums;
    /* The unit is 2^(position - 1074). |x| < 2^(2 * half - 1) fits, so that doubles hold the sums
     * of most_terms, and `high` and `low` those of most_caught. Up to top_position anchors are
     * finite. A product of doubles is its rounded value and a remainder, which `low` and `lowest`
     * take: exactly, as nothing in the window is a denormal. */
    static constexpr bool has_rests = Source::low_zeros < 0;
    static constexpr unsigned half = 48, most_terms = has_rests ? 8 : 16,
                              least_position = has_rests ? half : 0, top_position = 2045 - half,
                              most_caught = 4096, nowhere = ~0u;

    /* the thread's window: multiples of 2^half units, of units, and of 2^-half units */
    long long high = 0, low = 0, lowest = 0;
    unsigned position = nowhere;     /* the warp's */
    unsigned caught = 0, missed = 0; /* terms since the last flush, at most */
    unsigned groups_to_skip = 0;     /* groups that skip the window */
    Sums &sums;

    FASTREDUCE_DEVICE explicit wide_window(Sums &of_warp) : sums(of_warp) { clear_by_warp(sums); }

    template <unsigned Terms, class Group>
    FASTREDUCE_DEVICE void add_group(const Group &group)
    {
        static_assert(Terms <= most_terms, "a sum of doubles could round");
        if (position == nowhere) position = window_for(group);
        const bool misses_any = groups_to_skip > 0 || !add_to_window(group);
        const unsigned misses = __ballot_sync(all_lanes, misses_any);
        if (misses != 0) add_missed<Terms>(group, misses);
        caught += Terms;
        if (caught > most_caught - most_terms) flush_window();
    }

    FASTREDUCE_DEVICE void flush()
    {
        flush_window();
        if (missed > 0) sums.flush_missed();
        missed = 0;
    }

  private:
    /* Returns the double that rounds what is added to it to multiples of 2^(unit - 1074). */
    static FASTREDUCE_DEVICE double anchor(unsigned unit)
    {
        return bits_as<double>(static_cast<unsigned long long>(unit + 1) << 52 | 1ull << 51);
    }
    /* Returns how many multiples of 2^(unit - 1074) a sum of less than 2^51 of them is. */
    static FASTREDUCE_DEVICE long long number_of(double sum, unsigned unit)
    {
        const double above = anchor(unit);
        return static_cast<long long>(bits_as<unsigned long long>(ieee_add(sum, above)) -
                                      bits_as<unsigned long long>(above));
    }

    /* Returns the position of the window that holds the greatest term and one more binade. */
    template <class Group>
    FASTREDUCE_DEVICE unsigned window_for(const Group &group) const
    {
        unsigned greatest = 0;
        group.template visit<Source>([&](const auto &term) {
            const unsigned upper = upper_magnitude(rounded_term(term));
            if (upper < not_finite << 20 && upper > greatest) greatest = upper;
        });
        return position_for(warp_max(greatest) >> 20, 2 * half - 54, least_position, top_position);
    }

    /* Adds the whole group, or returns false and adds nothing if a term does not fit. The smallest
     * exponent tells whether a term reaches below the window. */
    template <class Group>
    FASTREDUCE_DEVICE bool add_to_window(const Group &group)
    {
        constexpr unsigned reach = 1u << (half - 1 - 32);
        constexpr unsigned above_unit = static_cast<unsigned>(1 - Source::low_zeros);
        const double above = anchor(position + half), middle = anchor(position);
        const unsigned least_caught = upper_bits(above) - reach,
                       least_fit =
                           position > Source::least_unit ? ((position + above_unit) << 20) - 1 : 0;
        double high_sum = 0, low_sum = 0, lowest_sum = 0;
        unsigned greatest_offset = 0, least = ~0u;
        group.template visit<Source>([&](const auto &term) {
            const double x = rounded_term(term);
            const double anchored = ieee_add(x, above), kept = ieee_subtract(anchored, above);
            high_sum = ieee_add(high_sum, kept);
            low_sum = ieee_add(low_sum, ieee_subtract(x, kept));
            if constexpr (has_rests) {
                const double remainder = fused(term.x, term.y, -x),
                             kept_remainder = ieee_subtract(ieee_add(remainder, middle), middle);
                low_sum = ieee_add(low_sum, kept_remainder);
                lowest_sum = ieee_add(lowest_sum, ieee_subtract(remainder, kept_remainder));
            }
            const unsigned offset = upper_bits(anchored) - least_caught;
            greatest_offset = offset > greatest_offset ? offset : greatest_offset;
            unsigned upper = upper_magnitude(x);
            if (Sums::may_be_denormal && upper == 0 && is_tiny_nonzero(term)) upper = 1;
            least = upper - 1 < least ? upper - 1 : least;
        });
        if (greatest_offset >= 2 * reach || least < least_fit) return false;
        high += number_of(high_sum, position + half);
        low += number_of(low_sum, position);
        if constexpr (has_rests) lowest += number_of(lowest_sum, position - half);
        return true;
    }

    /* Adds a group that the threads with a bit in `misses` could not add. The window moves if it
     * fits better elsewhere. If it still misses many, the next groups skip it. */
    template <unsigned Terms, class Group>
    FASTREDUCE_DEVICE void add_missed(const Group &group, unsigned misses)
    {
        constexpr int max_outliers = 3;
        constexpr unsigned too_high = 16;
        const unsigned lane_bit = 1u << threadIdx.x % warp_size;
        if (groups_to_skip > 0) {
            --groups_to_skip;
        } else {
            const unsigned better = window_for(group);
            if (better > position || better + too_high < position) {
                flush_window();
                position = better;
                misses = __ballot_sync(all_lanes, (misses & lane_bit) && !add_to_window(group));
            }
            if (__popc(misses) > max_outliers) groups_to_skip = 16;
        }
        if (misses == 0) return;
        if (misses & lane_bit) sums.template add_missed<Source>(group);
        __syncwarp(); /* Otherwise the warp may stay divided, twice as slow, to the end. */
        missed += Terms;
        if (missed > Sums::most_missed - most_terms) {
            sums.flush_missed();
            missed = 0;
        }
    }

    FASTREDUCE_DEVICE void flush_window()
    {
        if (position != nowhere) {
            sums.add_lanes(high, position + half);
            sums.add_lanes(low, position);
            if constexpr (has_rests) sums.add_lanes(lowest, position - half);
        }
        high = low = lowest = 0;
        caught = 0;
    }
};

/* The two sums of a variance: of the elements, as doubles, and of their squares. */
template <class Input>
struct values_of : doubles_masked {
    static constexpr int low_zeros = 52 - static_cast<int>(element<Input>::fraction_bits);

    static FASTREDUCE_DEVICE double term(Input x, Input, unsigned)
    {
        return ieee_cast<double>(widened(x));
    }
};
template <class Input>
struct moment_sums {
    typename values_of<Input>::Sums values;
    typename wide_products<Input>::Sums squares;
    int64_t room[FASTREDUCE_DETAIL_VARIANCE_DIGITS];
    static constexpr unsigned of_values = values_of<Input>::Sums::limbs,
                              nan_limb = values_of<Input>::Sums::digits,
                              limbs = of_values + wide_products<Input>::Sums::limbs;

    FASTREDUCE_DEVICE int64_t &limb_at(unsigned k)
    {
        return k < of_values ? values.limb[k] : squares.limb[k - of_values];
    }
    static FASTREDUCE_DEVICE bool carries(unsigned k)
    {
        return k < of_values ? values_of<Input>::Sums::carries(k)
                             : wide_products<Input>::Sums::carries(k - of_values);
    }
};
template <class Input>
__device__ __noinline__ void round_by_warp(moment_sums<Input> &sums, const result_slot &slot,
                                           fastreduce_operator, int precision, size_t n,
                                           bool skips_nan)
{
    using values = typename values_of<Input>::Sums;
    if (skips_nan) {
        n -= sums.values.remove_nans();
        sums.squares.remove_nans();
    }
    if (slot.second != nullptr && threadIdx.x % warp_size == 0) {
        constexpr int bits = sizeof(Input) == sizeof(double) ? 53 : 24;
        memcpy(sums.room, sums.values.limb, sizeof sums.values.limb);
        store_bits(slot.second,
                   fastreduce_detail_read(sums.room, values::digits, values::least, FASTREDUCE_MEAN,
                                          n, bits),
                   bits);
    }
    __syncwarp();
    clear_by_warp(sums.room);
    if (threadIdx.x % warp_size == 0)
        store_bits<Input>(slot.result,
                          fastreduce_detail_variance(sums.values.limb, sums.squares.limb,
                                                     wide_products<Input>::Sums::digits, sums.room,
                                                     n, precision),
                          precision);
    __syncwarp();
}
template <class Input>
struct exact_moments : exact_products<Input> {
    using Sums = moment_sums<Input>;
    static constexpr bool two_arrays = false;
};

template <class Input>
struct wide_window<exact_moments<Input>> {
    moment_sums<Input> &sums;
    wide_window<values_of<Input>> values;
    wide_window<wide_products<Input>> squares;

    FASTREDUCE_DEVICE explicit wide_window(moment_sums<Input> &of_warp)
        : sums(of_warp), values(of_warp.values), squares(of_warp.squares)
    {
    }
    template <unsigned Terms, class Group>
    FASTREDUCE_DEVICE void add_group(const Group &group)
    {
        values.template add_group<Terms>(group);
        squares.template add_group<Terms>(group);
    }
    FASTREDUCE_DEVICE void flush()
    {
        values.flush();
        squares.flush();
    }
};

template <unsigned BlockSize, class Source>
struct wide_superaccumulator {
    using Element = typename Source::Element;
    using Sums = typename Source::Sums;
    static constexpr bool two_arrays = Source::two_arrays;
    static constexpr unsigned block_size = BlockSize,
                              resident_blocks = Source::resident_threads / BlockSize,
                              warps = BlockSize / warp_size, limbs = Sums::limbs,
                              status_words = exact_totals * limbs;
    static constexpr size_t shared_bytes = warps * sizeof(Sums);

    wide_window<Source> window;
    const unsigned mask; /* of a double's upper half */

    FASTREDUCE_DEVICE explicit wide_superaccumulator(const exact_output &output)
        : window(dynamic_shared<Sums>()[threadIdx.x / warp_size]), mask{output.mask}
    {
    }

    template <class Items>
    FASTREDUCE_DEVICE void add_items(const Items &items, const Items &others)
    {
        constexpr unsigned packs = min_of(Items::packs_each, Source::packs_at_once);
        static_assert(Items::packs_each % packs == 0, "groups of as many packs each");
#pragma unroll
        for (unsigned first = 0; first < Items::packs_each; first += packs)
            window.template add_group<packs * Items::pack_size>(
                pack_range<packs, Items>{items, others, first, mask});
    }

    FASTREDUCE_DEVICE void add_nans(unsigned count)
    {
        if (threadIdx.x % warp_size == 0) window.sums.limb_at(Sums::nan_limb) += count;
        __syncwarp();
    }
    FASTREDUCE_DEVICE void reduce_blocks(status_word *totals, const exact_output &output, size_t n)
    {
        constexpr unsigned each = (limbs - 1) / warp_size + 1;
        const unsigned lane = threadIdx.x % warp_size;
        Sums *const sums = &window.sums;
        window.flush();
        __syncthreads();
        if (threadIdx.x >= warp_size) return;
        long long sum[each];
#pragma unroll
        for (unsigned j = 0; j < each; ++j) {
            sum[j] = 0;
            for (unsigned w = 0; w < warps; ++w)
                if (lane + j * warp_size < limbs) sum[j] += sums[w].limb_at(lane + j * warp_size);
        }
        if (!sum_of_blocks<Sums>(totals, sum)) return;
#pragma unroll
        for (unsigned j = 0; j < each; ++j)
            if (lane + j * warp_size < limbs) sums->limb_at(lane + j * warp_size) = sum[j];
        __syncwarp();
        if (output.result != nullptr)
            round_by_warp(*sums, {output.result, output.second, nullptr}, output.op,
                          output.precision, n, output.skips_nan);
        else if constexpr (!are_same<Sums, moment_sums<Element>>)
            add_to_total(*sums, sums[1], output.total);
    }
};

/* ---- Many exact sums ----
 *
 * The engine's kernels for rows, columns and segments reduce these to pairs of doubles, which
 * nearly always hold the sum. They mark a result that no pair holds as unresolved, by a NaN that is
 * no sum. A second launch, resolve_exact_results, adds up the elements of those by windows and
 * limbs. Variances, dot products and squares of doubles are left to it alone. */

/* Adds b to a, and returns the rounding error: a NaN where the sum is not finite. */
FASTREDUCE_DEVICE double two_sum(double &a, double b)
{
    const double both = ieee_add(a, b), added = ieee_subtract(both, a),
                 error = ieee_add(ieee_subtract(a, ieee_subtract(both, added)),
                                  ieee_subtract(b, added));
    a = both;
    return error;
}

/* A sum and its rounding error, which is exact as long as a double holds it: as long as the bits of
 * all terms lie within some hundred binades. Else the pair is incomplete, and stays so. */
struct double_double {
    double sum, error;

    /* Returns whether the pair is complete, and half a unit more leaves it finite. */
    FASTREDUCE_DEVICE bool is_complete() const
    {
        constexpr unsigned top = (not_finite - 1) << 20;
        return upper_magnitude(sum) < top && upper_magnitude(error) < top;
    }
    template <unsigned Count>
    FASTREDUCE_DEVICE void add_terms(const double (&term)[Count])
    {
        double lost[Count];
        bool rounds = false, fails = false;
#pragma unroll
        for (unsigned j = 0; j < Count; ++j) {
            lost[j] = two_sum(sum, term[j]);
            rounds |= !(lost[j] == 0);
        }
        if (!rounds) return;
#pragma unroll
        for (double x : lost) fails |= !(two_sum(error, x) == 0);
        if (fails) mark_incomplete();
    }
    FASTREDUCE_DEVICE void add_sum(const double_double &other)
    {
        const double lost = two_sum(sum, other.sum);
        if (lost == 0 && error == 0 && other.error == 0) return; /* most floats */
        const double first = two_sum(error, other.error), second = two_sum(error, lost);
        if (!(first == 0 && second == 0)) mark_incomplete();
    }

  private:
    FASTREDUCE_DEVICE void mark_incomplete()
    {
        error = bits_as<double>(static_cast<unsigned long long>(not_finite) << 52);
    }
};

/* Stores the mean or the root of sum + error, an unevaluated sum whose doubles do not overlap. Out
 * of line, as it is long. */
template <class Input>
__device__ __noinline__ void round_sum(double sum, double error, void *result,
                                       fastreduce_operator op, int precision, size_t n)
{
    if (sizeof(Input) > 2) precision = precision == 53 ? 53 : 24;
    const term_parts<double> top(sum), tail(error);
    fastreduce_detail_magnitude value = {top.low << 11, 0, top.exponent + 52, 0};
    const unsigned down = static_cast<unsigned>(top.exponent - tail.exponent);
    const uint64_t bits = tail.low << 11, high = down < 64 ? bits >> down : 0;
    uint64_t low = down == 0 || down >= 128 ? 0
                   : down <= 64             ? bits << (64 - down)
                                            : bits >> (down - 64);
    value.below = down > 64 && (down < 128 ? bits << (128 - down) : bits) != 0;
    if (tail.is_negative == top.is_negative) {
        value.low = low;
        value.high += high;
    } else {
        low += static_cast<unsigned>(value.below);
        value.high -= high + (low > 0 ? 1 : 0);
        value.low = 0 - low;
    }
    while (value.high != 0 && !(value.high >> 63)) {
        value.high = value.high << 1 | value.low >> 63;
        value.low <<= 1;
        --value.exponent;
    }
    store_bits<Input>(result, fastreduce_detail_finish(0, sum < 0, value, op, n, precision),
                      precision);
}

/* Stores what the operator makes of a sum of n elements. */
template <class Input>
FASTREDUCE_DEVICE void store_sum(double_double pair, void *result, fastreduce_operator op,
                                 int precision, size_t n)
{
    const double error = pair.error == 0 ? 0 : two_sum(pair.sum, pair.error);
    unsigned long long bits = bits_as<unsigned long long>(pair.sum);
    if (op == FASTREDUCE_MEAN || op == FASTREDUCE_NORM2 || (sizeof(Input) == 2 && precision < 24)) {
        round_sum<Input>(pair.sum, error, result, op, precision, n);
    } else if (precision == 53) {
        store_bits<Input>(result, bits, precision);
    } else {
        /* Rounds to odd, so that one more rounding, to float, is as good as the only one. */
        if (error != 0 && bits % 2 == 0) bits += (error < 0) == (pair.sum < 0) ? 1 : ~0ull;
        store_bits<Input>(result, __float_as_uint(ieee_cast<float>(bits_as<double>(bits))),
                          precision);
    }
}

/* Returns the bits that mark a result as unresolved: a NaN that no sum is. The uppermost 16 bits
 * tell that. */
template <class Input = f16>
FASTREDUCE_DEVICE uint64_t unresolved_marker(int precision)
{
    if (sizeof(Input) == 2 && precision < 24) return precision == 11 ? 0x7c01 : 0x7f81;
    return precision == 53 ? 0x7ff1000000000000 : 0x7f810000;
}

/* EXACT's Reducer for many results, of each operator but VARIANCE and squares of doubles. */
template <class Input>
struct exact_reducer : common_reducer<exact_reducer<Input>> {
    using Element = Input;
    using Value = double_double;
    static constexpr bool any_order = true, reduces_packs = true, by_warp = true,
                          is_narrow = sizeof(Input) < sizeof(double), is_f16 = are_same<Input, f16>;
    fastreduce_operator op;
    int precision;

    static FASTREDUCE_DEVICE Value identity() { return Value(); }
    static FASTREDUCE_DEVICE Value combine(Value a, const Value &b)
    {
        a.add_sum(b);
        return a;
    }
    /* Mostly the lanes' sums add up without rounding. */
    FASTREDUCE_DEVICE Value warp_value(Value value) const
    {
        double sum = value.sum;
        bool rounds = value.error != 0;
#pragma unroll
        for (unsigned delta = warp_size / 2; delta > 0; delta /= 2)
            rounds |= !(two_sum(sum, shuffle_xor(sum, delta)) == 0);
        if (!__any_sync(all_lanes, rounds)) return {sum, 0};
#pragma unroll 1
        for (unsigned delta = warp_size / 2; delta > 0; delta /= 2)
            value.add_sum(shuffle_xor(value, delta));
        return value;
    }
    FASTREDUCE_DEVICE bool squares() const
    {
        return is_narrow && (op == FASTREDUCE_SUM_SQUARES || op == FASTREDUCE_NORM2);
    }
    FASTREDUCE_DEVICE double term(Input x) const
    {
        const double wide = ieee_cast<double>(widened(x));
        if (squares()) return ieee_multiply(wide, wide);
        return op == FASTREDUCE_SUM_ABS ? fabs(wide) : wide;
    }
    template <class Items>
    FASTREDUCE_DEVICE Value value_of_packs(const Items &items) const
    {
        constexpr unsigned count = Items::packs_each, size = pack<Input>::size;
        Value value = {};
        if constexpr (is_narrow) {
            const unsigned mask = op == FASTREDUCE_SUM_ABS ? all_but_the_sign : every_bit;
            thread_packs<count> thread;
#pragma unroll
            for (unsigned k = 0; k < count; ++k) thread.packs[k] = mask_pack(items[k], mask);
            bool fits;
            if constexpr (count * size <= 4)
                fits = sum_of_pack(thread.packs[0], value.sum);
            else
                fits = !squares() && thread.sum_of_floats(value.sum);
            if (!fits) value = sum_of_doubles(*this, thread);
        } else {
#pragma unroll
            for (unsigned k = 0; k < count; ++k) {
                double terms[size];
#pragma unroll
                for (unsigned j = 0; j < size; ++j) terms[j] = term(items[k][j]);
                value.add_terms(terms);
            }
        }
        return value;
    }
    FASTREDUCE_DEVICE void store(void *result, const Value &value, size_t n) const
    {
        if (value.is_complete())
            store_sum<Input>(value, result, op, precision, n);
        else
            store_bits<Input>(result, unresolved_marker<Input>(precision), precision);
    }

  private:
    /* Adds up a pack's terms, and returns whether they are finite and a double holds the sum. The
     * exponents of the greatest term, and of the least but 0, tell that. */
    FASTREDUCE_DEVICE bool sum_of_pack(const pack<Input> &from, double &sum) const
    {
        constexpr unsigned bits_of_count = 3, bits = element<Input>::fraction_bits + 1;
        static_assert(pack<Input>::size <= 1u << bits_of_count, "the sum of more takes more bits");
        unsigned greatest = 0, least = ~0u, unit = 0;
        double terms[pack<Input>::size];
#pragma unroll
        for (unsigned j = 0; j < pack<Input>::size; ++j)
            terms[j] = ieee_cast<double>(widened(from[j]));
        if (squares()) {
            unit = bits;
#pragma unroll
            for (double &x : terms) x = ieee_multiply(x, x);
        }
#pragma unroll
        for (double x : terms) {
            const unsigned upper = upper_magnitude(x);
            greatest = upper > greatest ? upper : greatest;
            least = upper - 1 < least ? upper - 1 : least;
        }
        sum = ieee_add(0.0, reduce_pairs(terms, plus()));
        const unsigned span = (greatest >> 20) - ((least + 1) >> 20);
        return (greatest < not_finite << 20) & (span + bits_of_count + bits + unit <= 53);
    }
    template <unsigned Count>
    struct thread_packs {
        static constexpr unsigned size = pack<Input>::size;
        pack<Input> packs[Count];

        FASTREDUCE_DEVICE float element_at(unsigned k) const
        {
            return widened(packs[k / size][k % size]);
        }
        /* Adds up all elements, and returns whether the sum is exact: whether a window fits them
         * that has the greatest at its top. A double holds the sum of 2^13 halves. */
        FASTREDUCE_DEVICE bool sum_of_floats(double &sum) const
        {
            constexpr unsigned count = Count * size, reach = 20;
            if constexpr (is_f16) {
                double sums[4] = {};
#pragma unroll
                for (unsigned k = 0; k < count; ++k)
                    sums[k % 4] = ieee_add(sums[k % 4], ieee_cast<double>(element_at(k)));
                sum = reduce_pairs(sums, plus());
                return upper_magnitude(sum) < not_finite << 20;
            }
            float greatest = 0;
#pragma unroll
            for (unsigned k = 0; k < count; ++k)
                greatest = max_or_nan(greatest, ieee_magnitude(element_at(k)));
            const unsigned exponent = __float_as_uint(greatest) >> 23,
                           position = exponent > reach ? exponent - reach : 0;
            window_sum<false> window;
#pragma unroll
            for (unsigned k = 0; k < count; ++k) window.add_float(element_at(k), position);
            sum = window.number(position);
            return (position <= top_position) & window.has_all_bits();
        }
    };
    /* Adds up in doubles: packs as one where a double holds their sum. Out of line: it is rare. */
    template <unsigned Count>
    static __device__ __noinline__ Value sum_of_doubles(exact_reducer reducer,
                                                        thread_packs<Count> thread)
    {
        constexpr unsigned size = pack<Input>::size;
        Value value = {0, 0};
#pragma unroll
        for (unsigned k = 0; k < Count; ++k) {
            double terms[size], sums[1];
#pragma unroll
            for (unsigned j = 0; j < size; ++j) terms[j] = reducer.term(thread.packs[k][j]);
            if (reducer.sum_of_pack(thread.packs[k], sums[0]))
                value.add_terms(sums);
            else
                value.add_terms(terms);
        }
        return value;
    }
};

/* Results of any shape and type. */
struct exact_results {
    result_layout layout;
    void *output, *second; /* second results, or null */
    fastreduce_type type;
    fastreduce_operator op;
    int precision;
    bool skips_nan;

    FASTREDUCE_DEVICE size_t length(size_t result) const
    {
        return layout.are_segments() ? layout.segment(result).n : layout.n;
    }
    FASTREDUCE_DEVICE result_slot slot(size_t result) const
    {
        return reduction_output<int>{output, 0, second}.slot(layout, result, nullptr);
    }
    /* Returns a bit for each of the results `first`, `first` + step ... before `end` that is
     * unresolved. All loads are under way at once. */
    template <unsigned Count, class Source>
    FASTREDUCE_DEVICE unsigned find_unresolved(size_t first, size_t step, size_t end) const
    {
        if (!Source::follows_pairs) /* all are */
            return first < end ? low_bits(unsigned((end - first - 1) / step) + 1) : 0;
        const unsigned upper = layout.result_bytes / 2 - 1; /* 16 bits, of a result */
        const unsigned marker = static_cast<unsigned>(unresolved_marker(precision) >> 16 * upper);
        unsigned short word[Count];
        unsigned marked = 0;
#pragma unroll
        for (unsigned k = 0; k < Count; ++k, first += step) {
            word[k] = 0;
            if (first < end)
                word[k] = static_cast<const unsigned short *>(slot(first).result)[upper];
        }
#pragma unroll
        for (unsigned k = 0; k < Count; ++k)
            if (word[k] == marker) marked |= 1u << k;
        return marked;
    }
};

/* A thread's elements `first`, `first` + step ... of a result, or terms where the Source follows
 * pairs and so takes any type as doubles; zeros behind its end. */
template <class Source>
struct exact_terms {
    static constexpr unsigned count = 8;
    static constexpr bool of_two = are_same<Source, wide_products<typename Source::Element>>;
    typename Source::Element element[count], other[of_two ? count : 1];

    template <class Of, class Function>
    FASTREDUCE_DEVICE void visit(const Function &function) const
    {
        if constexpr (of_two) {
#pragma unroll
            for (unsigned j = 0; j < count; ++j)
                function(Of::term(element[j], other[j], every_bit));
        } else {
#pragma unroll
            for (const auto &x : element) function(Of::term(x, x, every_bit));
        }
    }
    FASTREDUCE_DEVICE exact_terms(const exact_results &results, size_t result, size_t first,
                                  size_t end, unsigned step)
    {
        const result_layout &layout = results.layout;
        const auto load = [&](auto zero) {
            using Input = decltype(zero);
            const exact_reducer<Input> reducer = {{}, results.op, results.precision};
            const Input *const from =
                layout.are_segments() ? layout.template element<Input>(layout.segment(result).begin)
                                      : layout.template first<Input>(result);
#pragma unroll
            for (unsigned j = 0; j < count; ++j, first += step) {
                const Input x = first < end ? from[first * layout.stride] : zero;
                if constexpr (Source::follows_pairs)
                    element[j] = reducer.term(x);
                else
                    element[j] = x;
                if constexpr (of_two)
                    other[j] = first < end ? layout.counterpart(from)[first * layout.stride] : zero;
            }
        };
        if constexpr (Source::follows_pairs) {
            switch (results.type) {
            case FASTREDUCE_F16: load(f16()); break;
            case FASTREDUCE_BF16: load(bf16()); break;
            case FASTREDUCE_F32: load(float()); break;
            default: load(double());
            }
        } else {
            load(typename Source::Element());
        }
    }
};
/* Leaves the sum of a result's elements from `begin` to `end`, which `threads` threads add up, of
 * which this is number `thread`: of each warp in its own sums. Out of line. */
template <class Source>
__device__ __noinline__ void add_to_windows(const exact_results &results, size_t result,
                                            size_t begin, size_t end, unsigned thread,
                                            unsigned threads, typename Source::Sums &sums)
{
    using terms = exact_terms<Source>;
    wide_window<Source> window(sums);
#pragma unroll 1
    for (; begin < end; begin += terms::count * threads)
        window.template add_group<terms::count>(
            terms(results, result, begin + thread, end, threads));
    window.flush();
}

/* Blocks share long results in units of so many elements. A queued one has limbs and a ticket. */
constexpr size_t exact_unit = 16384, few_unresolved = 1024;
constexpr unsigned exact_block = 256;
template <class Sums>
constexpr unsigned max_queued_exact = (FASTREDUCE_WORKSPACE_BYTES / sizeof(status_word) -
                                       result_queue::all_words) /
                                      (Sums::limbs + 1);

/* Takes units of the queued results in turn. A block adds its limbs to the result's; the last to
 * arrive rounds them and leaves zeros. */
template <class Source, class Sums>
FASTREDUCE_DEVICE void add_queued_units(const exact_results &results, const result_queue &queue,
                                        const result_queue::content &queued, Sums *sums)
{
    constexpr unsigned warps = exact_block / warp_size, limbs = Sums::limbs;
    __shared__ unsigned next_unit;
    const unsigned lane = threadIdx.x % warp_size;
#pragma unroll 1
    for (unsigned unit; (unit = draw(queue.base + 2, next_unit)) < queued.runs;) {
        const unsigned k = queue.find_entry(queued, unit);
        const result_queue::entry entry = queue.entries()[k];
        const size_t result = entry.number, n = results.length(result),
                     begin = (unit - entry.first) * exact_unit;
        add_to_windows<Source>(results, result, begin, min_of(begin + exact_unit, n), threadIdx.x,
                               exact_block, sums[threadIdx.x / warp_size]);
        __syncthreads();
        if (threadIdx.x >= warp_size) continue;
        status_word *const total = queue.base + result_queue::all_words + size_t(k) * (limbs + 1);
        for (unsigned d = lane; d < limbs; d += warp_size) {
            long long limb = 0;
            for (unsigned w = 0; w < warps; ++w) limb += sums[w].limb_at(d);
            if (limb != 0) atomicAdd(total + d, static_cast<unsigned long long>(limb));
        }
        if (!warp_comes_last(total + limbs, 1, (n - 1) / exact_unit + 1)) continue;
        for (unsigned d = lane; d < limbs; d += warp_size) {
            sums[0].limb_at(d) = static_cast<long long>(peek(total + d));
            total[d] = 0;
        }
        if (lane == 0) total[limbs] = 0;
        __syncwarp();
        round_by_warp(sums[0], results.slot(result), results.op, results.precision, n,
                      results.skips_nan);
    }
    queue.leave(queued.entries);
}

/* Reduces unresolved results, one a warp. Longer ones are queued for all blocks, where there are
 * status words. Idle blocks wait for others to begin, but not for ever, as those may need their
 * places on the GPU. */
template <class Source>
__global__ void __launch_bounds__(exact_block, resident(1024 / exact_block))
    resolve_exact_results(exact_results results, size_t count, size_t most_of_warp,
                          result_queue queue)
{
    using Sums = typename Source::Sums;
    __shared__ Sums sums[exact_block / warp_size];
    __shared__ result_queue::content queued;
    constexpr unsigned patience = 100; /* some 100 us */
    constexpr size_t warps = exact_block / warp_size;
    const unsigned lane = threadIdx.x % warp_size;
    constexpr unsigned loads = 8; /* of results, under way at once */
    const size_t each = min_of((count - 1) / (gridDim.x * warps) + 1, warp_size),
                 step = gridDim.x * warps * each;
    bool has_queue = queue.base != nullptr;
    wait_for_previous_grid();
    allow_next_grid();
    /* Look for unresolved results: of a few, each block looks at all, as long ones stay so. */
    if (count <= few_unresolved) {
        bool is_unresolved = false, is_long = false;
        for (size_t k = threadIdx.x; k < count; k += exact_block)
            if (results.find_unresolved<1, Source>(k, 1, count) != 0) {
                is_unresolved = true;
                is_long |= results.length(k) > most_of_warp;
            }
        if (!__syncthreads_or(is_unresolved)) return;
        has_queue = __syncthreads_or(is_long && has_queue);
    }
    if (has_queue && threadIdx.x == 0) atomicAdd(queue.base, queue_counters::started);
    Sums &warp_sums = sums[threadIdx.x / warp_size];
    /* Reduce the short ones, and queue the long ones. */
#pragma unroll 1
    for (size_t first = (blockIdx.x * warps + threadIdx.x / warp_size) * each; first < count;
         first += loads * step) {
        size_t group = first;
        unsigned unresolved =
            results.find_unresolved<loads, Source>(first + lane, step, lane < each ? count : 0);
        if (!__any_sync(all_lanes, unresolved != 0)) continue;
#pragma unroll 1
        for (unsigned k = 0; k < loads; ++k, group += step, unresolved >>= 1) {
            const size_t candidate = group + lane;
            bool by_warp = unresolved & 1;
            if (by_warp && has_queue && results.length(candidate) > most_of_warp)
                by_warp = !result_queue::append(queue, candidate,
                                                (results.length(candidate) - 1) / exact_unit + 1);
            for (unsigned lanes = __ballot_sync(all_lanes, by_warp); lanes != 0;
                 lanes &= lanes - 1) {
                const size_t result = group + lowest_bit(lanes), n = results.length(result);
                add_to_windows<Source>(results, result, 0, n, lane, warp_size, warp_sums);
                round_by_warp(warp_sums, results.slot(result), results.op, results.precision, n,
                              results.skips_nan);
            }
        }
    }
    if (!has_queue) return;
    /* Share the long ones. */
    __syncthreads();
    if (threadIdx.x == 0) queued = queue.await(patience);
    __syncthreads();
    if (queued.runs > 0) add_queued_units<Source>(results, queue, queued, sums);
}

/* ---- Exact atomics, and sums of blocks ---- */

/* Adds a term to up to two limbs, of a double three, of a product five. It does not carry, as 64
 * bits have room for many. */
template <class Accumulator, class Term>
FASTREDUCE_DEVICE void add_atomically(Accumulator *accumulator, Term term)
{
    using format = accumulator_format<Accumulator>;
    constexpr unsigned long long mask = 0xffffffff;
    const term_parts<Term> parts(term);
    const unsigned position = static_cast<unsigned>(parts.exponent - format::least),
                   shift = position % 32;
    unsigned long long *const limb = words_of(accumulator);
    if (!parts.is_finite) {
        atomicAdd(limb + format::digits + parts.special, 1ull);
        return;
    }
    const auto add_digit = [&](unsigned k, unsigned long long digit) {
        if (digit != 0) atomicAdd(limb + position / 32 + k, parts.is_negative ? 0 - digit : digit);
    };
    const unsigned long long low = parts.low, high = parts.high, above = low >> 32 >> (32 - shift);
    add_digit(0, low << shift & mask);
    add_digit(1, low << shift >> 32);
    if (sizeof(Term) > sizeof(float)) add_digit(2, above | (high << shift & mask));
    if (sizeof(Term) > sizeof(double)) {
        add_digit(3, high << shift >> 32);
        add_digit(4, high >> 32 >> (32 - shift));
    }
}

/* Returns what the lane adds to its limb for the floats of its warp. A window takes them, placed by
 * the greatest; if one does not fit, bins of each lane do. */
template <unsigned BlockSize, unsigned Items>
FASTREDUCE_DEVICE long long digit_of_floats(const float (&x)[Items])
{
    static_assert(valid_block_size(BlockSize), "BlockSize must be 32, 64, 128, 256, 512 or 1024");
    static_assert(Items >= 1 && Items <= 64, "a thread gives 1 to 64 floats");
    unsigned greatest = 0;
#pragma unroll
    for (unsigned j = 0; j < Items; ++j) {
        const unsigned twice = 2 * __float_as_uint(x[j]);
        greatest = greatest < twice ? twice : greatest;
    }
    const unsigned position =
        position_for(warp_max(greatest) >> 24, window_bits / 2 - 1, window_bits / 2, top_position);
    window_sum<true> sum;
#pragma unroll
    for (float item : x) sum.add_float(item, position);
    if (!__any_sync(all_lanes, !sum.is_complete())) {
        long long digit = digit_of_sum<2>(sum.value(), position);
        const int lowest = static_cast<int>(sum.lowest);
        if (__any_sync(all_lanes, lowest != 0))
            digit += digit_of_sum<2>(lowest, position - window_bits / 2);
        return digit;
    }
    long long bins[exact_bins] = {};
#pragma unroll
    for (unsigned j = 0; j < Items; j += 4) {
        pack<float> four = {};
#pragma unroll
        for (unsigned i = 0; i < 4 && j + i < Items; ++i) four.item[i] = x[j + i];
        superaccumulator<1>::add_special(bins, four);
    }
    return superaccumulator<1>::digit_of_bins(bins);
}

} // namespace detail

/* Adds x to *accumulator, exactly. Its atomics on integers give the same accumulator in any order,
 * where atomicAdd on floats gives the bits of the order that happened. A float goes to one limb or
 * two, a double to up to three. A NaN or an infinity is counted, and a zero adds nothing.
 *
 *   accumulator   shared or global memory, aligned to 8 bytes; all zeros to begin with, or as the
 *                 functions of fastreduce.h leave it, which also read it and merge it
 *   x             a float or 16-bit float; for wide accumulators a float or a double
 *
 * No carries: an addition changes a limb by less than 2^32 of the 2^63 that it holds. So 2^31 - 1
 * additions of any values fit after zeros, or after a carry. exact_carry below carries, and so does
 * whatever else adds to an accumulator: fastreduce_accumulator_merge, fastreduce_accumulate_f32.
 * Nothing that reads or merges needs a carry before. If accumulators are merged by adding their
 * limbs, the additions to all of them count, and one for each accumulator.
 *
 * As other atomics, these are relaxed: read after a barrier, or in the next kernel. */
template <class Accumulator, class Number>
FASTREDUCE_DEVICE void exact_atomic_add(Accumulator *accumulator, Number x)
{
    using number = detail::element_t<Number>;
    constexpr bool is_half = detail::one_of<number, detail::f16, detail::bf16>::value,
                   is_wide = detail::one_of<Accumulator, fastreduce_wide_accumulator>::value;
    static_assert(is_wide || detail::one_of<Accumulator, fastreduce_accumulator>::value,
                  "numbers go to a fastreduce_accumulator or a fastreduce_wide_accumulator");
    static_assert(is_half || detail::one_of<number, float>::value ||
                      (is_wide && detail::one_of<number, double>::value),
                  "exact_atomic_add takes a float, __half or __nv_bfloat16; a double goes to a "
                  "fastreduce_wide_accumulator");
    detail::add_atomically(accumulator, detail::widened(detail::bits_as<number>(x)));
}
/* Adds x * y, to up to five limbs. */
FASTREDUCE_DEVICE void exact_atomic_add(fastreduce_product_accumulator *accumulator, double x,
                                        double y)
{
    detail::add_atomically(accumulator, detail::double_product{x, y});
}

/* Carries, so that 2^31 - 1 more additions fit. One thread calls it; others may add to the
 * accumulator, and carry, at the same time: the atomic that takes a carry from a limb also leaves
 * the remainder. Where none does, it leaves the limbs that the functions of fastreduce.h leave. */
template <class Accumulator>
__device__ __noinline__ void exact_carry(Accumulator *accumulator)
{
    constexpr unsigned digits = detail::accumulator_format<Accumulator>::digits;
    unsigned long long *const limb = detail::words_of(accumulator);
#pragma unroll 1
    for (unsigned k = 0; k + 1 < digits; ++k) {
        const long long carry = static_cast<long long>(atomicAnd(limb + k, 0xffffffffull)) >> 32;
        if (carry != 0) atomicAdd(limb + k + 1, static_cast<unsigned long long>(carry));
    }
    for (unsigned k = digits; k < digits + 3; ++k)
        atomicMin(limb + k, static_cast<unsigned long long>(FASTREDUCE_DETAIL_MOST_COUNTED));
}

/* Returns the number, rounded once to float or double: as fastreduce_accumulator_f32, _f64 and
 * their like. Of a fastreduce_accumulator a float by default, else a double. One thread calls it,
 * and none adds at the time. */
template <class Result = void, class Accumulator>
__device__ __noinline__ auto exact_value(const Accumulator *accumulator)
{
    using format = detail::accumulator_format<Accumulator>;
    using float_or_double =
        detail::standard::conditional_t<detail::one_of<Accumulator, fastreduce_accumulator>::value,
                                        float, double>;
    using number = detail::standard::conditional_t<detail::one_of<Result, void>::value,
                                                   float_or_double, Result>;
    static_assert(detail::one_of<number, float, double>::value, "a float or a double");
    const volatile int64_t *const limb = accumulator->limb;
    int64_t copy[format::limbs];
    for (unsigned k = 0; k < format::limbs; ++k) copy[k] = limb[k];
    return detail::bits_as<number>(static_cast<detail::unsigned_t<number>>(
        fastreduce_detail_read(copy, static_cast<int>(format::digits), format::least,
                               FASTREDUCE_SUM, 0, sizeof(number) == sizeof(double) ? 53 : 24)));
}

/* Returns the sum of a float of each thread, or of an array of up to 64, over a block of BlockSize
 * threads (one-dimensional; 32 to 1024, a power of two). It is exact, and rounded once, so it has
 * the same bits in any order. Every thread calls it; the result is thread 0's. `warp_sums` is
 * shared memory for BlockSize / 32 accumulators, whatever they hold, and may be used again after a
 * block barrier. */
template <unsigned BlockSize, unsigned Items>
FASTREDUCE_DEVICE float exact_block_reduce(const float (&x)[Items],
                                           fastreduce_accumulator *warp_sums)
{
    const long long sum =
        detail::limb_of_block<BlockSize>(detail::digit_of_floats<BlockSize>(x), warp_sums);
    if (threadIdx.x >= warp_size) return 0;
    return __uint_as_float(
        static_cast<unsigned>(detail::round_across_lanes<3>(detail::carry_across_lanes(sum))));
}
template <unsigned BlockSize>
FASTREDUCE_DEVICE float exact_block_reduce(float x, fastreduce_accumulator *warp_sums)
{
    return exact_block_reduce<BlockSize, 1>({x}, warp_sums);
}

/* Adds the same sum to *accumulator without rounding. It counts as one of the 2^31 - 1 additions
 * that fit. It takes an atomic for each of the few limbs that the sum touches. */
template <unsigned BlockSize, unsigned Items>
FASTREDUCE_DEVICE void exact_block_add(fastreduce_accumulator *accumulator, const float (&x)[Items],
                                       fastreduce_accumulator *warp_sums)
{
    long long sum[1] = {
        detail::limb_of_block<BlockSize>(detail::digit_of_floats<BlockSize>(x), warp_sums)};
    if (threadIdx.x >= warp_size) return;
    detail::carry_once<detail::float_format>(sum, 1ll << 31);
    if (sum[0] != 0)
        atomicAdd(detail::words_of(accumulator) + threadIdx.x,
                  static_cast<unsigned long long>(sum[0]));
}
template <unsigned BlockSize>
FASTREDUCE_DEVICE void exact_block_add(fastreduce_accumulator *accumulator, float x,
                                       fastreduce_accumulator *warp_sums)
{
    exact_block_add<BlockSize, 1>(accumulator, {x}, warp_sums);
}

namespace detail
{

/* ---- By index ----
 *
 * fastreduce_reduce_by_index has words of 64 bits, several for each bin: word[plane * pitch + bin].
 * add_by_index changes them by atomics on integers, whose order does not show. finish_bins turns
 * the words of each bin into its result, and leaves zeros.
 *
 * Sums of floats are exact. Words of plane k count multiples of 2^(width * k) times the least
 * float. A float goes to the plane of its exponent, as a whole, which takes one atomic. Most data
 * go to one plane or two, so L2 holds the words of more bins than if a bin's lay side by side:
 *
 *     bits of a word   | sign | 28 | significand, shifted by less than width |
 *
 * 28 bits are left for the number of floats. The 53 bits of a double are cut into three digits,
 * where planes begin. Sums of integers, counts, and keys of extremes have one plane. */

constexpr unsigned index_block = 1024, finish_block = 256, no_bin = ~0u;
constexpr unsigned additions_log = 28;    /* of additions between carries */
constexpr unsigned touched_specials = 31; /* a bit of index_header::touched; the others: planes */

/* At the beginning of the workspace: which planes are not all zeros, and how many blocks of the
 * last launch have ended. */
struct index_header {
    status_word touched, ticket;
};

/* What a launch does: elements from begin to end, for the bins from first_bin on. */
struct index_launch {
    const void *input, *index; /* null input: elements that are not 0 */
    const size_t *n_on_device;
    size_t begin, end, bins, first_bin;
    size_t pitch; /* words from a plane to the next */
    index_header *header;
    unsigned long long *plane_words;
    void *output;
    fastreduce_operator op;
    unsigned bin_count, index_bytes, result_bytes;
    int precision;      /* bits of a float's significand */
    unsigned slots_log; /* of the table in shared memory */
    unsigned pass;      /* the second finds indices of elements whose keys are known */
    bool in_vectors, adds, finds_least, finds_indices;
    bool is_packed; /* a key and its index are in one word */

    FASTREDUCE_DEVICE unsigned slot_count() const { return 1u << slots_log; }
    FASTREDUCE_DEVICE size_t key(unsigned plane, size_t bin) const { return plane * pitch + bin; }
    FASTREDUCE_DEVICE unsigned long long *word(unsigned plane, size_t bin) const
    {
        return plane_words + key(plane, bin);
    }
    /* Returns a word, and leaves 0. */
    FASTREDUCE_DEVICE unsigned long long take(unsigned plane, size_t bin) const
    {
        unsigned long long *const from = word(plane, bin);
        const unsigned long long taken = *from;
        if (taken != 0) *from = 0;
        return taken;
    }
};

/* What an element adds to words of its bin, in the plane and those that follow. The last part of
 * several counts elements, in a plane of its own. */
template <unsigned Parts>
struct index_value {
    unsigned plane;
    unsigned long long part[Parts];
};

/* Exact sums of floats: limb planes, a plane with a bit for NaN, infinity and -infinity, and for
 * means the number of elements. */
template <class Input, bool IsMean>
struct float_planes {
    using Element = Input;
    static constexpr unsigned significand = element<Input>::fraction_bits + 1,
                              digits = sizeof(Input) == 8 ? 3 : 1, parts = digits + IsMean,
                              width = digits > 1 ? 32 : 64 - additions_log - significand,
                              bias = (1u << (8 * sizeof(Input) - significand - 1)) - 1;
    /* A plane begins at 8, so that numbers around 1 share one. */
    static constexpr unsigned
        offset = digits > 1 ? 0 : width - 1 - (bias + 1) % width,
        top = 2 * bias - 1 + offset + (digits > 1 ? significand : 0), limbs = top / width + 1,
        specials = limbs, counts = limbs + 1, touched_log = limbs > touched_specials ? 2 : 0;
    static constexpr int least = 1 - static_cast<int>(bias + significand - 1 + offset);
    using Value = index_value<parts>;
    using Narrow = unsigned; /* results of 32 bits; there are some of 64 and of 16 */

    static FASTREDUCE_DEVICE Value value_of(Element x, const index_launch &launch, unsigned bin,
                                            size_t)
    {
        const term_parts<Element> term(x);
        const unsigned long long low = term.is_finite ? term.low : 0;
        /* What adds nothing goes where 1 does. */
        const unsigned position = low != 0 ? static_cast<unsigned>(term.exponent - least) : bias,
                       shift = position % width;
        const bool is_negative = term.is_negative && launch.op != FASTREDUCE_SUM_ABS;
        Value value = {position / width, {low << shift}};
        if constexpr (digits > 1) {
            value.part[0] = low << shift & 0xffffffff;
            value.part[1] = low << shift >> 32;
            value.part[2] = low >> 32 >> (32 - shift);
        }
#pragma unroll
        for (unsigned k = 0; k < digits; ++k)
            if (is_negative) value.part[k] = 0 - value.part[k];
        if constexpr (IsMean) value.part[digits] = 1;
        if (!term.is_finite) {
            const unsigned special = term.special == 0 ? 0 : is_negative ? 2 : 1;
            atomicOr(launch.word(specials, launch.first_bin + bin), 1ull << special);
            atomicOr(&launch.header->touched, 1ull << touched_specials);
        }
        return value;
    }

    /* Returns the bits of a bin's result. */
    static FASTREDUCE_DEVICE uint64_t finish(const index_launch &launch, size_t bin,
                                             unsigned touched)
    {
        const unsigned groups = touched & ~(1u << touched_specials),
                       first = groups != 0 ? lowest_bit(groups) << touched_log : 0,
                       above = (32u - static_cast<unsigned>(__clz(static_cast<int>(groups))))
                               << touched_log;
        unsigned lowest = 0, end = 0; /* of the planes where the bin has a word that is not 0 */
        for (unsigned k = first; k < above && k < limbs; ++k) {
            if (*launch.word(k, bin) == 0) continue;
            if (end == 0) lowest = k;
            end = k + 1;
        }
        const size_t count = IsMean ? launch.take(counts, bin) : 0,
                     flags = touched >> touched_specials ? launch.take(specials, bin) : 0;
        const int exponent = least + static_cast<int>(lowest * width),
                  special = fastreduce_detail_special(flags & 1, flags >> 1 & 1, flags >> 2 & 1);
        fastreduce_detail_magnitude sum = {0, 0, exponent + 127, 0};
        int negative;
        /* 128 bits may hold the sum: words have 64 bits, those of doubles' digits 61. */
        if ((end - lowest) * width < 64 + width + (digits > 1)) {
            for (unsigned k = end; k-- > lowest;) {
                const unsigned long long word = launch.take(k, bin);
                sum.high = (sum.high << width | sum.low >> (64 - width)) - (word >> 63);
                sum.low = (sum.low << width) + word;
                sum.high += sum.low < word;
            }
            negative = static_cast<int>(sum.high >> 63);
            if (negative) {
                sum.low = 0 - sum.low;
                sum.high = ~sum.high + (sum.low == 0);
            }
            if (sum.high == 0) sum = {sum.low, 0, sum.exponent - 64, 0};
            const int zeros = __clzll(static_cast<long long>(sum.high)) & 63;
            sum.high = sum.high << zeros | sum.low >> 1 >> (63 - zeros);
            sum.low <<= zeros;
            sum.exponent -= zeros;
        } else {
            int64_t digit[limbs * width / 32 + 4 + 3] = {};
            const int digits_used = static_cast<int>((end - lowest) * width / 32 + 4);
            for (unsigned k = lowest; k < end; ++k)
                fastreduce_detail_add_scaled(digit, static_cast<int64_t>(launch.take(k, bin)),
                                             (k - lowest) * width);
            negative = fastreduce_detail_absolute(digit, digits_used);
            sum = fastreduce_detail_leading(digit, digits_used, exponent);
        }
        return fastreduce_detail_finish(special, negative, sum, launch.op, count, launch.precision);
    }
};

/* Integers' sums, counts and extremes. The plane of indices follows where they are not packed. */
template <class Input>
struct key_planes {
    using Element = Input;
    using bits = unsigned_t<Input>;
    static constexpr unsigned digits = 1, parts = 1, width = 64, limbs = 1, counts = 1,
                              touched_log = 0;
    static constexpr bool is_float = element<Input>::is_float;
    static constexpr bits sign = bits(bits(1) << (8 * sizeof(bits) - 1)),
                          one = bits(bits(1) << element<Input>::fraction_bits);
    using Value = index_value<parts>;
    using Narrow = bits;

    /* Returns a number in the order of the elements, or in reverse. That of no elements is 0. */
    static FASTREDUCE_DEVICE bits key_of(Element x, const index_launch &launch)
    {
        bits key = bits_as<bits>(x);
        if constexpr (is_float) {
            const bits magnitude = key & static_cast<bits>(~sign);
            if (magnitude > sign - one) /* NaN */
                key = static_cast<bits>(~sign);
            else if (launch.finds_least)
                key ^= sign;
            if (launch.op == FASTREDUCE_MAX_ABS) return key & static_cast<bits>(~sign);
            if (launch.finds_indices && magnitude == 0) key = 0;
            return order_key(bits_as<Element>(key));
        } else {
            const bool is_signed = element<Input>::is_signed;
            if (launch.op == FASTREDUCE_MAX_ABS)
                return static_cast<bits>(is_signed && key & sign ? 0 - key : key);
            if (is_signed) key ^= sign;
            return launch.finds_least ? static_cast<bits>(~key) : key;
        }
    }
    static FASTREDUCE_DEVICE Value value_of(Element x, const index_launch &launch, unsigned bin,
                                            size_t i)
    {
        if constexpr (!is_float)
            if (launch.op == FASTREDUCE_SUM) return {0, {static_cast<unsigned long long>(x)}};
        if (launch.op == FASTREDUCE_COUNT_NONZERO) {
            const bits magnitude = is_float ? bits_as<bits>(x) & ~sign : bits_as<bits>(x);
            return {0, {magnitude != 0}};
        }
        const unsigned long long key = key_of(x, launch);
        if (launch.is_packed) return {0, {key << 32 | static_cast<unsigned>(~i)}};
        if (launch.pass == 0) return {0, {key}};
        const bool is_found = *launch.word(0, launch.first_bin + bin) == key;
        return {1, {is_found ? ~static_cast<unsigned long long>(i) : 0}};
    }

    static FASTREDUCE_DEVICE uint64_t finish(const index_launch &launch, size_t bin, unsigned)
    {
        const unsigned long long word = launch.take(0, bin);
        bits key = static_cast<bits>(word);
        if (launch.adds || launch.op == FASTREDUCE_MAX_ABS) return word;
        if (launch.is_packed) return word == 0 ? ~0ull : static_cast<unsigned>(~word);
        if (launch.finds_indices) return ~launch.take(1, bin); /* -1 is none */
        if constexpr (is_float)
            key = from_ordered_bits(static_cast<bits>(key + (one - 1)));
        else if (element<Input>::is_signed)
            key ^= sign;
        return static_cast<bits>(!launch.finds_least ? key : is_float ? key ^ sign : ~key);
    }
};

/* Neighboring elements, as vectors where they are aligned. */
template <class Element, unsigned Items>
struct alignas(min_of(Items * sizeof(Element), pack_bytes)) index_vector {
    Element item[Items];

    FASTREDUCE_DEVICE void load(const Element *from, size_t i, size_t end, bool in_vectors)
    {
        if (in_vectors && i + Items <= end) {
            *this = *reinterpret_cast<const index_vector *>(from + i);
            return;
        }
#pragma unroll
        for (unsigned j = 0; j < Items; ++j) item[j] = i + j < end ? from[i + j] : Element();
    }
};

/* A thread's elements and their bins, counted from first_bin. no_bin stands for that of an element
 * that is left out. */
template <class Planes>
struct index_tile {
    using Element = typename Planes::Element;
    static constexpr unsigned items = sizeof(Element) == 8 ? 4 : 8, of_block = items * index_block;
    index_vector<Element, items> x;
    unsigned bin[items];
    size_t first;

    FASTREDUCE_DEVICE void load(const index_launch &launch, size_t i, size_t end)
    {
        first = i;
        if (launch.input != nullptr)
            x.load(static_cast<const Element *>(launch.input), i, end, launch.in_vectors);
        else
#pragma unroll
            for (Element &one : x.item) one = bits_as<Element>(unsigned_t<Element>(1));
        if (launch.index_bytes == sizeof(int))
            load_bins<int>(launch, end);
        else
            load_bins<long long>(launch, end);
    }
    template <class Index>
    FASTREDUCE_DEVICE void load_bins(const index_launch &launch, size_t end)
    {
        index_vector<Index, items> index;
        index.load(static_cast<const Index *>(launch.index), first, end, launch.in_vectors);
#pragma unroll
        for (unsigned j = 0; j < items; ++j) {
            const auto from_first = static_cast<bits_t<Index>>(index.item[j]) -
                                    static_cast<bits_t<Index>>(launch.first_bin);
            const bool is_in = first + j < end && from_first < launch.bin_count;
            bin[j] = is_in ? static_cast<unsigned>(from_first) : no_bin;
        }
    }
};

/* A thread's way to words. The block has a table of some of them in shared memory: a word's slot is
 * its key's lower bits, and belongs to the first key that comes. So bins that have many of the
 * elements are in the table. What has no slot goes to global memory at once. A thread adds up runs
 * of a bin before. */
template <class Planes>
struct index_thread {
    using Value = typename Planes::Value;
    const index_launch &launch;
    unsigned long long *const table; /* slots for each part; the tags of their keys follow */
    unsigned *const tags;
    unsigned held_bin = no_bin; /* what the thread adds up */
    Value held = {};
    unsigned touched = 0;

    FASTREDUCE_DEVICE void add_value(const Value &value, unsigned bin)
    {
        if (bin == held_bin && value.plane == held.plane) {
#pragma unroll
            for (unsigned k = 0; k < Planes::parts; ++k)
                held.part[k] = combine(held.part[k], value.part[k]);
            return;
        }
        store_held();
        held = value;
        held_bin = bin;
    }
    FASTREDUCE_DEVICE void store_held()
    {
        const size_t bin = launch.first_bin + held_bin, key = launch.key(held.plane, bin);
        const unsigned slot = static_cast<unsigned>(key) & (launch.slot_count() - 1),
                       tag = static_cast<unsigned>(key >> launch.slots_log) + 1;
        unsigned long long any = 0;
#pragma unroll
        for (unsigned k = 0; k < Planes::parts; ++k) any |= held.part[k];
        if (any == 0) return;
        touched |= 1u << (held.plane >> Planes::touched_log) |
                   1u << ((held.plane + Planes::digits - 1) >> Planes::touched_log);
        unsigned owner = *static_cast<volatile unsigned *>(tags + slot);
        if (owner == 0) {
            owner = atomicCAS(tags + slot, 0u, tag);
            if (owner == 0) owner = tag;
        }
#pragma unroll
        for (unsigned k = 0; k < Planes::parts; ++k) {
            if (held.part[k] == 0) continue;
            if (owner == tag)
                change_shared(table + k * launch.slot_count() + slot, held.part[k]);
            else
                change_global(k, held.plane, bin, held.part[k]);
        }
    }

    /* Adds the block's table to the words in global memory. */
    FASTREDUCE_DEVICE void store_table() const
    {
        for (unsigned slot = threadIdx.x; slot < launch.slot_count(); slot += index_block) {
            if (tags[slot] == 0) continue;
            const size_t key = static_cast<size_t>(tags[slot] - 1) << launch.slots_log | slot,
                         plane = key / launch.pitch;
            for (unsigned k = 0; k < Planes::parts; ++k) {
                const unsigned long long part = table[k * launch.slot_count() + slot];
                if (part != 0)
                    change_global(k, static_cast<unsigned>(plane), key - plane * launch.pitch,
                                  part);
            }
        }
    }

    FASTREDUCE_DEVICE bool adds() const { return Planes::width < 64 || launch.adds; }
    FASTREDUCE_DEVICE unsigned long long combine(unsigned long long a, unsigned long long b) const
    {
        return adds() ? a + b : a < b ? b : a;
    }
    /* Additions of 32 bits are instructions; those of 64 bits loop until no other thread came
     * between, and take up to 6 times as long (one H200). The lower half's old value tells the
     * carry. */
    FASTREDUCE_DEVICE void change_shared(unsigned long long *word, unsigned long long part) const
    {
        if (!adds()) {
            atomicMax(word, part);
            return;
        }
        unsigned *const half = reinterpret_cast<unsigned *>(word);
        const unsigned low = static_cast<unsigned>(part), old = atomicAdd(half, low),
                       high = static_cast<unsigned>(part >> 32) + (old + low < low);
        if (high != 0) atomicAdd(half + 1, high);
    }
    FASTREDUCE_DEVICE void change_global(unsigned k, unsigned plane, size_t bin,
                                         unsigned long long part) const
    {
        unsigned long long *const word =
            launch.word(k < Planes::digits ? plane + k : Planes::counts, bin);
        if (adds())
            atomicAdd(word, part);
        else if (peek(word) < part)
            atomicMax(word, part);
    }
};

/* Adds elements to the words of their bins. Blocks take tiles in turn: the bins of a launch may be
 * those of neighboring elements alone. */
template <class Planes>
__global__ void __launch_bounds__(index_block, resident(1)) add_by_index(index_launch launch)
{
    using tile = index_tile<Planes>;
    unsigned long long *const table = dynamic_shared<unsigned long long>();
    index_thread<Planes> thread = {
        launch, table, reinterpret_cast<unsigned *>(table + Planes::parts * launch.slot_count())};

    /* Clear the table. */
    for (unsigned k = threadIdx.x; k < Planes::parts * launch.slot_count(); k += index_block)
        table[k] = 0;
    for (unsigned k = threadIdx.x; k < launch.slot_count(); k += index_block) thread.tags[k] = 0;
    __syncthreads();

    /* Find the block's tiles. */
    wait_for_previous_grid();
    allow_next_grid();
    size_t end = launch.end;
    if (launch.n_on_device != nullptr && *launch.n_on_device < end) end = *launch.n_on_device;

        /* Add the elements. */
#pragma unroll 1
    for (size_t begin = launch.begin + blockIdx.x * size_t(tile::of_block); begin < end;
         begin += gridDim.x * size_t(tile::of_block)) {
        tile items;
        items.load(launch, begin + threadIdx.x * tile::items, end);
#pragma unroll
        for (unsigned j = 0; j < tile::items; ++j)
            if (items.bin[j] != no_bin)
                thread.add_value(
                    Planes::value_of(items.x.item[j], launch, items.bin[j], items.first + j),
                    items.bin[j]);
    }
    thread.store_held();
    if (thread.touched & ~peek(&launch.header->touched))
        atomicOr(&launch.header->touched, status_word(thread.touched));
    __syncthreads();

    /* Add the table to global memory. */
    thread.store_table();
}

/* Carries in limb planes, so that as many additions fit again. */
template <class Planes>
__global__ void __launch_bounds__(finish_block) carry_bins(index_launch launch)
{
    wait_for_previous_grid();
    allow_next_grid();
    for (size_t bin = blockIdx.x * size_t(finish_block) + threadIdx.x; bin < launch.bins;
         bin += size_t(gridDim.x) * finish_block)
        for (unsigned k = 0; k + 1 < Planes::limbs; ++k) {
            unsigned long long *const word = launch.word(k, bin);
            const long long carry = static_cast<long long>(*word) >> Planes::width;
            if (carry == 0) continue;
            *word &= (1ull << Planes::width) - 1;
            *launch.word(k + 1, bin) += static_cast<unsigned long long>(carry);
            atomicOr(&launch.header->touched, 1ull << ((k + 1) >> Planes::touched_log));
        }
}

/* Stores the result of each bin, and leaves zeros in the workspace. */
template <class Planes>
__global__ void __launch_bounds__(finish_block) finish_bins(index_launch launch)
{
    wait_for_previous_grid();
    allow_next_grid();
    using Narrow = typename Planes::Narrow;
    const unsigned touched = static_cast<unsigned>(launch.header->touched);
    for (size_t bin = blockIdx.x * size_t(finish_block) + threadIdx.x; bin < launch.bins;
         bin += size_t(gridDim.x) * finish_block) {
        const uint64_t bits = Planes::finish(launch, bin, touched);
        if (launch.result_bytes == sizeof bits)
            static_cast<uint64_t *>(launch.output)[bin] = bits;
        else if (launch.result_bytes == sizeof(Narrow))
            static_cast<Narrow *>(launch.output)[bin] = static_cast<Narrow>(bits);
        else
            static_cast<unsigned short *>(launch.output)[bin] = static_cast<unsigned short>(bits);
    }
    __syncthreads();
    if (threadIdx.x < warp_size && warp_comes_last(&launch.header->ticket, 1, gridDim.x) &&
        threadIdx.x == 0)
        *launch.header = {};
}

} // namespace detail

/* ================================================================================================
 * Room 8: dispatcher
 * May hold: planning, as pure functions that run without a GPU; then what launches by the plan.
 *
 * It offers reduce, transform_reduce, reduce_by, dot, round, accumulate_exactly, workspace_bytes
 * and status_string. Behind them, each shape has one function that plans, and all but V0..V7 share
 * launch:
 *
 *     one array, V0..V7   plan_ladder, for launch_ladder
 *     one array           plan_array
 *     rows                plan_rows
 *     segments            plan_segments
 *     columns             plan_columns
 *     many results        plan_results, by one of these three
 *     buffers             plan_buffers
 *     by index            plan_by_index, for launch_by_index
 *
 * A kernel_set holds a reducer's kernels without its types, so the host's code is shared by all.
 *
 * AUTO and EXACT keep status words of 8 bytes in the workspace, which are zero between calls:
 *
 *     one array, AUTO    | counter | partials of blocks | partials of groups of blocks | ... |
 *     one array, EXACT   | limbs that the blocks add to |
 *     long rows          | counter | partials of the first row's blocks | of the second | ... |
 *     segments           | counters | list of long segments | partials of their blocks |
 *     columns            | partials of blocks | partials of groups of blocks | ... |
 *     by index           | index_header | words of each plane |
 *
 * The ladder keeps partials of even levels there, then partials of odd levels.
 * ============================================================================================= */
#ifndef __CUDACC_RTC__

/* Returns a version's default items per thread. A template, as files may differ in the macro. */
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

constexpr size_t max_blocks = 0x7fffffff; /* of a launch, from compute capability 3.0 on */
constexpr size_t workspace_alignment = 16;
constexpr size_t pool_alignment = 256; /* of cudaMallocAsync's memory, at least */
constexpr size_t workspace_words = FASTREDUCE_WORKSPACE_BYTES / sizeof(status_word);

/* Returns the alignment of a workspace for partials of this type. */
template <class Value>
constexpr size_t alignment_for()
{
    static_assert(alignof(Value) <= pool_alignment,
                  "element types are aligned to 256 bytes at the most");
    return alignof(Value) > workspace_alignment ? alignof(Value) : workspace_alignment;
}

/* ---- Arguments ---- */

/* An array or a result; size and alignment are an element's. */
struct buffer {
    const void *data;
    size_t size, alignment;
    size_t count = 1;
};

constexpr size_t greatest_of(size_t a, size_t b) { return a < b ? b : a; }
inline uintptr_t address_of(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }

/* `alignment` is a power of two. */
inline bool aligned(const void *pointer, size_t alignment)
{
    return (address_of(pointer) & (alignment - 1)) == 0;
}

/* Returns whether the buffer is aligned and ends inside the address space. */
inline bool is_valid(const buffer &memory)
{
    return aligned(memory.data, memory.alignment) &&
           memory.count <= (UINTPTR_MAX - address_of(memory.data)) / memory.size;
}

/* Checks what a call reads and what it writes. Arrays without elements may be null. */
template <unsigned Inputs, unsigned Outputs>
fastreduce_status check_arguments(const buffer (&inputs)[Inputs], const buffer (&outputs)[Outputs],
                                  workspace scratch, size_t scratch_alignment = workspace_alignment)
{
    const buffer memory = {scratch.data, 1, scratch_alignment,
                           scratch.data != nullptr ? scratch.bytes : 0};
    /* Neither end wraps, as both are valid. */
    const auto overlap = [](const buffer &a, const buffer &b) {
        const uintptr_t x = address_of(a.data), y = address_of(b.data);
        const size_t a_bytes = a.count * a.size, b_bytes = b.count * b.size;
        return a_bytes != 0 && b_bytes != 0 && (x <= y ? y - x < a_bytes : x - y < b_bytes);
    };
    /* Returns whether an array is valid, and overlaps neither the memory nor an earlier output. */
    const auto is_good = [&](const buffer &array) {
        bool good =
            array.data == nullptr ? array.count == 0 : is_valid(array) && !overlap(array, memory);
        for (const buffer &output : outputs) {
            if (&output == &array) break;
            good = good && !overlap(array, output);
        }
        return good;
    };
    bool valid = is_valid(memory);
    for (const buffer &output : outputs) valid = valid && is_good(output);
    for (const buffer &input : inputs) valid = valid && is_good(input);
    return valid ? FASTREDUCE_SUCCESS : FASTREDUCE_ERROR_INVALID_ARGUMENT;
}

template <class Input, class Value>
fastreduce_status check_arguments(const Input *input, const Value *output, size_t n,
                                  workspace scratch)
{
    return check_arguments({{input, sizeof(Input), alignof(Input), n}},
                           {{output, sizeof(Value), alignof(Value)}}, scratch,
                           alignment_for<Value>());
}

/* Returns one status for all of the runtime's errors that mean that there is no GPU. */
inline fastreduce_status status_of(cudaError_t error)
{
    return error == cudaErrorNoDevice || error == cudaErrorInsufficientDriver ||
                   error == cudaErrorStubLibrary
               ? FASTREDUCE_ERROR_NO_DEVICE
               : static_cast<fastreduce_status>(error);
}

/* Calls enqueue with the caller's workspace, or with memory from the stream's pool that it frees
 * afterwards. It leaves a caller's workspace zero, after an error too: `clean` says that enqueue
 * does so by itself, given zeros. While another thread captures a graph in global mode, the pool
 * gives memory in relaxed mode only. */
template <class Enqueue>
fastreduce_status with_workspace(workspace memory, size_t bytes, cudaStream_t stream,
                                 const Enqueue &enqueue, bool clean = true)
{
    if (memory.data != nullptr && memory.bytes < bytes) return FASTREDUCE_ERROR_WORKSPACE_TOO_SMALL;
    if (memory.data != nullptr || bytes == 0) {
        const cudaError_t error = enqueue(memory.data);
        cudaError_t cleared = cudaSuccess;
        if (bytes > 0 && !clean) cleared = cudaMemsetAsync(memory.data, 0, bytes, stream);
        return status_of(error != cudaSuccess ? error : cleared);
    }
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    cudaError_t error = cudaThreadExchangeStreamCaptureMode(&mode);
    if (error != cudaSuccess) return status_of(error);
    error = cudaMallocAsync(&memory.data, bytes, stream);
    if (error == cudaSuccess) {
        if (clean) error = cudaMemsetAsync(memory.data, 0, bytes, stream);
        if (error == cudaSuccess) error = enqueue(memory.data);
        const cudaError_t freed = cudaFreeAsync(memory.data, stream);
        if (error == cudaSuccess) error = freed;
    }
    const cudaError_t restored = cudaThreadExchangeStreamCaptureMode(&mode);
    return status_of(error != cudaSuccess ? error : restored);
}

/* ---- The ladder ---- */

/* Returns what the runtime takes for a kernel. Up to CUDA 12.5 its overload for function pointers
 * matches none; the CPU machine of test/simt has to see the kernel's type once. */
template <class Kernel>
const void *kernel_address(Kernel *kernel)
{
#ifdef SIMT_MACHINE
    simt::know_kernel(kernel);
#endif
    return reinterpret_cast<const void *>(kernel);
}

/* Returns the kernel of a version; no other is compiled. AUTO's is V7's, for round(). */
template <fastreduce_kernel Version, unsigned BlockSize, unsigned Items, class Operator,
          class Value, class Input>
const void *kernel_of()
{
    if constexpr (Version == FASTREDUCE_V0)
        return kernel_address(v0_baseline<Operator, Value, Input>);
    else if constexpr (Version == FASTREDUCE_V1)
        return kernel_address(v1_no_divergence<Operator, Value, Input>);
    else if constexpr (Version == FASTREDUCE_V2)
        return kernel_address(v2_no_bank_conflict<Operator, Value, Input>);
    else if constexpr (Version == FASTREDUCE_V3)
        return kernel_address(v3_add_during_load<Operator, Value, Input>);
    else if constexpr (Version == FASTREDUCE_V4)
        return kernel_address(v4_unroll_last_warp<Operator, Value, Input>);
    else if constexpr (Version == FASTREDUCE_V5)
        return kernel_address(v5_completely_unroll<Operator, BlockSize, Value, Input>);
    else if constexpr (Version == FASTREDUCE_V6)
        return kernel_address(v6_multi_add<Operator, BlockSize, Items, Value, Input>);
    else
        return kernel_address(v7_shuffle<Operator, BlockSize, Items, Value, Input>);
}

template <fastreduce_kernel Version, unsigned BlockSize, unsigned Items, class Operator,
          class Input>
version_kernels make_version()
{
    using Value = accumulate_t<Operator, Input>;
    return {kernel_of<Version, BlockSize, Items, Operator, Value, Input>(),
            kernel_of<Version, BlockSize, Items, Operator, Value, Value>(),
            BlockSize,
            size_t(BlockSize) * Items,
            Version >= FASTREDUCE_V0 && Version <= FASTREDUCE_V4 ? BlockSize * sizeof(Value) : 0,
            sizeof(Value),
            alignment_for<Value>()};
}

/* Where partials of a reduction by the ladder go: those of even levels to the first half of the
 * workspace, those of odd levels to the second, and the last one to the output. */
struct ladder_plan {
    size_t blocks;          /* of the first level */
    size_t second_half;     /* offset in bytes */
    size_t workspace_bytes; /* of both halves; 0 for one level, or if a launch has no room */
};

inline ladder_plan plan_ladder(size_t n, size_t tile, size_t partial_size,
                               size_t alignment = workspace_alignment)
{
    const size_t mask = alignment - 1;
    const size_t first = blocks_for(n, tile), second = blocks_for(first, tile);
    ladder_plan plan = {first, 0, 0};
    if (first > max_blocks) return plan;
    if (first > 1) plan.second_half = (first * partial_size + mask) & ~mask;
    plan.workspace_bytes = plan.second_half;
    if (second > 1) plan.workspace_bytes += (second * partial_size + mask) & ~mask;
    return plan;
}

/* Launches every level. Arguments are checked. */
inline fastreduce_status launch_ladder(const version_kernels &version, const void *input,
                                       void *output, size_t n, workspace memory,
                                       cudaStream_t stream)
{
    const ladder_plan plan = plan_ladder(n, version.tile, version.partial_size, version.alignment);
    if (plan.blocks > max_blocks) return FASTREDUCE_ERROR_UNSUPPORTED;
    const auto enqueue = [&](void *data) {
        void *const half[2] = {data, static_cast<unsigned char *>(data) + plan.second_half};
        return launch_levels(version, input, output, n, half, stream);
    };
    return with_workspace(memory, plan.workspace_bytes, stream, enqueue, false);
}

/* ---- AUTO and EXACT: kernels, and how they are launched ---- */

/* The current device, and what plans depend on besides the arguments. */
struct device_limits {
    unsigned multiprocessors;
    size_t shared_bytes; /* of a multiprocessor */
    int device = 0;
};

constexpr int remembered_devices = 64;

/* Finds the limits of the current device. A word for each device remembers them; 0 is unknown. */
inline cudaError_t find_limits(device_limits *limits)
{
    static std::atomic<unsigned long long> cache[remembered_devices] = {};
    int device = 0;
    cudaError_t error = cudaGetDevice(&device);
    if (error != cudaSuccess) return error;
    const bool remembered = device < remembered_devices;
    unsigned long long word = remembered ? cache[device].load(std::memory_order_relaxed) : 0;
    if (word == 0) {
        int multiprocessors = 0, shared_bytes = 0;
        error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
        if (error == cudaSuccess)
            error = cudaDeviceGetAttribute(&shared_bytes,
                                           cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
        if (error != cudaSuccess) return error;
        word = static_cast<unsigned long long>(multiprocessors) << 32 |
               static_cast<unsigned>(shared_bytes);
        if (remembered) cache[device].store(word, std::memory_order_relaxed);
    }
    *limits = {static_cast<unsigned>(word >> 32), static_cast<unsigned>(word), device};
    return cudaSuccess;
}

/* What a kernel is compiled for, by device: each is asked for once and remembered. Two threads
 * that ask at once store the same. Caches begin with = {}: compilers would guard them otherwise. */
using compiled_cache = std::atomic<unsigned>[remembered_devices];
struct kernel_entry {
    const void *address;
    compiled_cache *cache;
};
struct compiled_code {
    bool overlaps;       /* whether it waits for the previous grid */
    size_t static_bytes; /* of shared memory */
};

/* Finds what a kernel is compiled for. That depends on its code, not on the device alone: PTX of an
 * older architecture lacks the instructions, and other kernels may be compiled for others. */
inline cudaError_t find_code(const kernel_entry &kernel, int device, compiled_code *code)
{
    constexpr unsigned older_code = 1, hopper_code = 2; /* in the lowest byte; 0 is unknown */
    const bool remembered = device < remembered_devices;
    unsigned word = remembered ? (*kernel.cache)[device].load(std::memory_order_relaxed) : 0;
    if (word == 0) {
        cudaFuncAttributes attributes = {};
        const cudaError_t error = cudaFuncGetAttributes(&attributes, kernel.address);
        if (error != cudaSuccess) return error;
        const unsigned version = static_cast<unsigned>(attributes.ptxVersion);
        word = static_cast<unsigned>(attributes.sharedSizeBytes) << 8 |
               (!toolkit_knows_hopper || version < first_hopper ? older_code : hopper_code);
        if (remembered) (*kernel.cache)[device].store(word, std::memory_order_relaxed);
    }
    *code = {(word & hopper_code) != 0, word >> 8};
    return cudaSuccess;
}

/* Launches a kernel; by overlapped launch, if it is compiled to wait for the previous grid. */
inline cudaError_t launch_kernel(const kernel_entry &kernel, int device, size_t blocks,
                                 unsigned threads, size_t shared_bytes, void **arguments,
                                 cudaStream_t stream)
{
    const dim3 grid_size(static_cast<unsigned>(blocks)), block_size(threads);
    compiled_code code = {};
    cudaError_t error = find_code(kernel, device, &code);
    if (error != cudaSuccess) return error;
    constexpr size_t without_asking = 47 * kibibyte; /* of 48, as the two may be aligned */
    if (code.static_bytes + shared_bytes > without_asking) {
        /* A reset of the device loses the setting, so each call asks. It costs little there. */
        error = cudaFuncSetAttribute(kernel.address, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                     static_cast<int>(shared_bytes));
        if (error != cudaSuccess) return error;
    }
#if defined(CUDART_VERSION) && CUDART_VERSION >= 12000
    bool overlaps = code.overlaps;
#if CUDART_VERSION < 12030 /* from then on graphs have edges for it */
    cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
    if (overlaps) error = cudaStreamIsCapturing(stream, &capture);
    if (error != cudaSuccess) return error;
    overlaps = overlaps && capture == cudaStreamCaptureStatusNone;
#endif
    if (overlaps) {
        cudaLaunchAttribute attribute = {};
        attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
        attribute.val.programmaticStreamSerializationAllowed = 1;
        const cudaLaunchConfig_t config = {grid_size, block_size, shared_bytes,
                                           stream,    &attribute, 1};
        return cudaLaunchKernelExC(&config, kernel.address, arguments);
    }
#endif
    return cudaLaunchKernel(kernel.address, grid_size, block_size, arguments, shared_bytes, stream);
}

struct tile_size {
    unsigned block_size, packs; /* threads; packs of each */

    constexpr size_t tile_packs() const { return size_t(block_size) * packs; }
    constexpr size_t group_runs() const { return size_t(block_size) * partials_of_thread; }
};

/* A lane's columns of a vector; rows of a leaf, and levels of its steps, as logarithms. */
struct lane_columns {
    unsigned per_lane, rows_log, levels;
};

/* Numbers of the kernels of a set. Small tiles also serve long rows. */
constexpr unsigned small_tiles = 0, large_tiles = 1, by_threads = 2, short_rows = 3,
                   segment_rows = 4, single_columns = 5, vector_columns = 6, kernel_count = 7;

/* A reducer's or an accumulator's kernels, without its types; and what plans depend on. */
struct kernel_set {
    kernel_entry (*find)(unsigned number);
    unsigned element_bytes, pack_size;
    unsigned partial_words, value_bytes; /* of a block's partial, of a Value */
    tile_size tile[2];                   /* of one array: small and large */
    size_t one_large_tile;     /* bytes that one large tile takes faster than small ones */
    size_t most_small;         /* bytes beyond which large tiles are faster */
    unsigned thread_packs_log; /* of short rows: packs of a thread */
    bool any_order;
    lane_columns lane[2];      /* of single columns and of vectors */
    unsigned least_leaves;     /* of vectors, for each multiprocessor */
    unsigned total_words;      /* EXACT: status words that blocks add to */
    unsigned resident_blocks;  /* EXACT: of a multiprocessor, at most */
    size_t exact_shared_bytes; /* EXACT: dynamic, of a block */

    constexpr size_t tile_elements(unsigned kernel) const
    {
        return tile[kernel].tile_packs() * pack_size;
    }
};

/* Memory and stream of a call; and limits, which tests make smaller. */
struct launch_options {
    workspace memory;
    cudaStream_t stream;
    size_t most_blocks = max_blocks, most_words = workspace_words; /* of a launch, of a workspace */
    unsigned most_listed = result_queue::max_entries;
    size_t most_additions = size_t(1) << additions_log, most_bins = size_t(1) << 31; /* by index */
};

/* A call's launches, all but its output: results go to blocks, and to several launches where one
 * has no room. */
struct launch_plan {
    unsigned kernel = 0, threads = 0;
    size_t shared_bytes = 0, workspace_bytes = 0;
    size_t most_results = 1;  /* of a launch */
    size_t block_results = 1; /* of one block, or of several that share them */
    size_t shared_blocks = 1; /* how many blocks share them */
    size_t least_blocks = 0;  /* of a launch */
    result_layout input;      /* the kernel's arguments; ends with the call's results */
    union {
        pairwise_array array;
        rows_plan share;
        columns_plan layout;
        buffer_list buffers;
    };
};

/* Plans one array or many results, by one of the functions below, and launches the plan. Arguments
 * are checked; `output` points to a reduction_output or an exact_output. */
template <class Shape>
fastreduce_status launch(launch_plan (*plan_shape)(const kernel_set &, const Shape &,
                                                   const device_limits &, const launch_options &),
                         const kernel_set &set, const Shape &shape, void *output,
                         const launch_options &options)
{
    device_limits limits = {};
    const cudaError_t error = find_limits(&limits);
    if (error != cudaSuccess) return status_of(error);
    launch_plan plan = plan_shape(set, shape, limits, options);
    const unsigned number = plan.kernel;
    const size_t results = plan.input.end;
    void *status_words = nullptr;
    result_queue list = {};
    /* Kernels of an array take the last three; &plan.array is that of the whole union. */
    void *arguments[] = {&plan.input, &plan.array, output,
                         number == segment_rows ? static_cast<void *>(&list) : &status_words};
    if (number == by_threads) arguments[1] = output;
    const auto enqueue = [&](void *data) {
        const kernel_entry kernel = set.find(number);
        cudaError_t failure = cudaSuccess;
        status_words = data;
        if (number == segment_rows)
            list = {static_cast<status_word *>(data), options.most_listed,
                    (options.most_words - result_queue::all_words) / set.partial_words};
        for (size_t begin = 0, end = 0; end != results && failure == cudaSuccess;) {
            begin = end;
            end += min_of(plan.most_results, results - begin);
            const size_t parts = (end - begin - 1) / plan.block_results + 1,
                         blocks = parts * plan.shared_blocks;
            plan.input.begin = begin;
            plan.input.end = end;
            if (number >= single_columns)
                plan.layout.across_blocks = static_cast<unsigned>(parts);
            else if (number == small_tiles)
                plan.array.row = begin;
            failure = launch_kernel(kernel, limits.device, greatest_of(blocks, plan.least_blocks),
                                    plan.threads, plan.shared_bytes,
                                    arguments + (number <= large_tiles), options.stream);
        }
        return failure;
    };
    return with_workspace(options.memory, plan.workspace_bytes, options.stream, enqueue);
}

/* ---- One array ---- */

/* An array of n elements, or of as many as are on the device, and n at most. A dot product has
 * another. */
struct array_argument {
    const void *data;
    size_t n;
    const size_t *n_on_device = nullptr;
    const void *other = nullptr;
};

/* Bytes that are streamed: loads leave the cache first. 31.6 us at 64 MiB in a call by itself,
 * against 36.8; but 359.8 at 1 GiB against 352.8 (one H100). */
constexpr size_t streamed_from = 32 * mebibyte, streamed_to = 256 * mebibyte;

constexpr size_t most_counted_blocks = 4095; /* by a word of EXACT's totals */

/* Results up to this size; larger ones spill, and with 512 bytes a thread has 3 KiB of local
 * memory. */
constexpr size_t most_result_bytes = 128;

/* Small tiles serve where n is on the device, and up to so many bytes where vectors are shifted.
 * They take .82 to .97 of large ones' time from 2 to 8 MiB. At 12 it is
 * .9 to 1, at 16 .99 to 1.11 (four types, one H100, one H200). */
constexpr size_t most_shifted_small = 12 * mebibyte;

/* Returns whether tiles are large. Bytes decide (sums of floats out of L2 in graphs of calls, one
 * H100, CUDA 13.0, microseconds):
 *     up to 16 KiB   one block of 256 x 4
 *     up to 64 KiB   one block of 512 x 8: 1.40 at 64 KiB, where four of 256 x 4 take 1.55; but
 *                    not if an element takes many instructions
 *     up to 1 MiB    256 x 4: 2.01 at 1 MiB, against 2.16 for 512 x 8; up to 8 MiB for many
 *                    instructions an element: variance 5.20 there, against 5.96
 *     beyond         512 x 8: 2.43 at 2 MiB, against 2.64; 6.47 at 16 MiB, against 7.17 */
constexpr bool has_large_tiles(const kernel_set &set, size_t n, bool vectors)
{
    const size_t bytes = n * set.element_bytes;
    return (n > set.tile_elements(small_tiles) && bytes <= set.one_large_tile) ||
           bytes > (vectors ? set.most_small : most_shifted_small);
}

/* How blocks divide an array. It changes no bits. */
struct run_plan {
    size_t tiles, runs; /* of the array; runs of tiles, one for each block */
    unsigned run_log;   /* tiles of a run, as a logarithm */
    size_t status_words;
};

/* Returns the shortest runs whose partials, and those of their groups, fit the workspace. */
constexpr run_plan plan_runs(size_t n, unsigned pack_size, unsigned partial_words,
                             const tile_size &tile, size_t most_words = workspace_words)
{
    const size_t group = tile.group_runs();
    run_plan plan = {blocks_for(n, tile.tile_packs() * pack_size), 0, 0, 0};
    for (;; ++plan.run_log) {
        plan.runs = ((plan.tiles - 1) >> plan.run_log) + 1;
        plan.status_words = plan.runs > 1; /* the counter */
        for (size_t count = plan.runs; count > 1; count = (count - 1) / group + 1)
            plan.status_words += count * partial_words;
        if (plan.status_words <= most_words || plan.run_log == most_run_log) return plan;
    }
}

/* Divides an array among AUTO's blocks. The workspace depends on n alone, and never decreases with
 * it: it has room for any address and for n on the device. */
inline void plan_tiles(launch_plan *plan, const kernel_set &set, const array_argument &input,
                       size_t most_words)
{
    const auto runs_of = [&](size_t n, bool large, size_t limit = workspace_words) {
        return plan_runs(n, set.pack_size, set.partial_words, set.tile[large], limit);
    };
    const auto words_for = [](const run_plan &runs) {
        return runs.run_log > 0 ? workspace_words : runs.status_words;
    };
    const size_t bytes = input.n * set.element_bytes,
                 most_n = min_of(bytes, most_shifted_small) / set.element_bytes;
    const bool usual = has_large_tiles(set, input.n, true),
               large = input.n_on_device == nullptr &&
                       has_large_tiles(set, input.n, plan->array.vectors);
    run_plan runs = runs_of(input.n, usual);
    size_t status_words = words_for(runs);
    if (bytes > set.most_small) /* where small tiles serve after all */
        status_words = greatest_of(status_words, words_for(runs_of(most_n, false)));
    if (large != usual || most_words < status_words)
        runs = runs_of(input.n, large, min_of(most_words, status_words));
    plan->kernel = large ? large_tiles : small_tiles;
    plan->workspace_bytes = status_words * sizeof(status_word);
    plan->shared_blocks = runs.runs;
    plan->array.runs = static_cast<unsigned>(runs.runs);
    plan->array.last_run = static_cast<unsigned>(runs.tiles - ((runs.runs - 1) << runs.run_log));
    plan->array.run_log = runs.run_log;
}

/* Plans one array. EXACT has no more blocks than are resident, as each takes as many tiles. */
inline launch_plan plan_array(const kernel_set &set, const array_argument &input,
                              const device_limits &limits, const launch_options &options = {})
{
    const size_t bytes = input.n * set.element_bytes;
    /* Packs of one element are loaded as they are; others are shifted out of two vectors. */
    const bool vectors = pack_bytes % set.element_bytes != 0 ||
                         (aligned(input.data, pack_bytes) && aligned(input.other, pack_bytes)),
               streaming = bytes > streamed_from && bytes <= streamed_to,
               counted = input.n_on_device != nullptr;
    launch_plan plan;
    plan.input.end = 1;
    plan.array = {};
    plan.array.input = input.data;
    plan.array.other = input.other;
    plan.array.n_on_device = input.n_on_device;
    plan.array.n = input.n;
    plan.array.vectors = vectors;
    plan.array.streaming = streaming;
    size_t resident = 0; /* blocks of a multiprocessor, where no more are launched */
    if (set.total_words > 0) {
        constexpr size_t reserve = 2 * kibibyte; /* static shared memory, and the system's */
        const size_t tile = set.tile_elements(0),
                     room = limits.shared_bytes / (set.exact_shared_bytes + reserve);
        plan.shared_bytes = set.exact_shared_bytes;
        if (input.n > tile) plan.workspace_bytes = set.total_words * sizeof(status_word);
        plan.shared_blocks =
            min_of(blocks_for(input.n, tile), min_of(options.most_blocks, most_counted_blocks));
        resident = min_of(set.resident_blocks, greatest_of(room, 1));
    } else {
        plan_tiles(&plan, set, input, options.most_words);
        if (counted) resident = 1024 / set.tile[plan.kernel].block_size;
    }
    if (resident > 0)
        plan.shared_blocks = min_of(plan.shared_blocks, resident * limits.multiprocessors);
    plan.threads = set.tile[plan.kernel].block_size;
    if (!counted) {
        /* 4 MiB over the grid, as the previous one may still load; but 8 KiB a block at least. */
        const size_t each = 4 * mebibyte / plan.shared_blocks / pack_bytes * pack_bytes,
                     tile_bytes = set.tile[plan.kernel].tile_packs() * pack_bytes;
        plan.array.prefetch_bytes =
            static_cast<unsigned>(min_of(greatest_of(each, 8 * kibibyte), tile_bytes));
    }
    return plan;
}

/* Returns what AUTO or EXACT needs on any device. It never decreases with n. */
inline size_t array_workspace_bytes(const kernel_set &set, size_t n)
{
    return plan_array(set, {nullptr, n}, {1, 0}).workspace_bytes;
}

/* Returns all of a reducer's kernel_set but the kernels. So a size can be asked for without
 * compiling them. */
template <class Reducer, unsigned SmallBlock = small_block,
          unsigned SmallPacks = min_of(4, packs_of_thread<Reducer>()),
          unsigned LargeBlock = large_block,
          unsigned LargePacks = (sizeof(typename Reducer::Value) > 24   ? 2
                                 : sizeof(typename Reducer::Value) > 16 ? 4
                                 : Reducer::two_arrays                  ? 4
                                                                        : 8)>
constexpr kernel_set sizes_of(kernel_entry (*find)(unsigned) = nullptr)
{
    using Element = typename Reducer::Element;
    using Value = typename Reducer::Value;
    using lanes = columns_of<Reducer>;
    constexpr unsigned packs = packs_of_thread<Reducer>(), wide = lanes::wide();
    kernel_set set = {};
    set.find = find;
    set.element_bytes = sizeof(Element);
    set.pack_size = pack<Element>::size;
    set.partial_words = partial_words<Value>::count;
    set.value_bytes = sizeof(Value);
    set.tile[0] = {SmallBlock, SmallPacks};
    set.tile[1] = {LargeBlock, LargePacks};
    set.one_large_tile = Reducer::compute_bound ? 0 : 64 * kibibyte;
    set.most_small = Reducer::compute_bound ? 8 * mebibyte : mebibyte;
    set.thread_packs_log = bits_for(packs);
    set.any_order = Reducer::any_order;
    set.lane[0] = {1, lanes::rows_log(1), lanes::levels(1)};
    set.lane[1] = {wide, lanes::rows_log(wide), lanes::levels(wide)};
    set.least_leaves = warp_size;
    return set;
}

/* Which kernels of a reducer are compiled. */
constexpr unsigned array_part = 1, rows_part = 2, columns_part = 4,
                   every_part = array_part | rows_part | columns_part, buffers_part = 8;

/* Returns a kernel of the parts, and its cache. */
template <class Reducer, unsigned Parts, unsigned... Sizes>
static kernel_entry find_kernel(unsigned number)
{
    static compiled_cache cache[Parts == array_part ? large_tiles + 1 : kernel_count] = {};
    const void *kernel[kernel_count] = {};
    constexpr kernel_set sizes = sizes_of<Reducer, Sizes...>();
    constexpr tile_size lesser = sizes.tile[0], larger = sizes.tile[1];
    if constexpr ((Parts & (array_part | rows_part)) != 0)
        kernel[small_tiles] =
            kernel_address(reduce_pairwise<Reducer, lesser.block_size, lesser.packs, true>);
    if constexpr ((Parts & array_part) != 0)
        kernel[large_tiles] =
            kernel_address(reduce_pairwise<Reducer, larger.block_size, larger.packs, false>);
    if constexpr ((Parts & rows_part) != 0) {
        kernel[by_threads] = kernel_address(reduce_by_threads<Reducer>);
        kernel[short_rows] = kernel_address(reduce_short_rows<Reducer>);
        if constexpr (!Reducer::two_arrays) /* there are no dot products of segments */
            kernel[segment_rows] = kernel_address(reduce_segments<Reducer>);
    }
    if constexpr ((Parts & columns_part) != 0) {
        constexpr unsigned wide = columns_of<Reducer>::wide();
        kernel[single_columns] = kernel_address(reduce_columns<Reducer, 1>);
        kernel[vector_columns] = kernel_address(reduce_columns<Reducer, wide>);
    }
    if constexpr (Parts == buffers_part)
        kernel[large_tiles] = kernel_address(reduce_buffers<Reducer>); /* launched as an array's */
    return {kernel[number], &cache[number]};
}

template <class Reducer, unsigned Parts, unsigned... Sizes>
static constexpr kernel_set
    kernels_of = sizes_of<Reducer, Sizes...>(find_kernel<Reducer, Parts, Sizes...>);

/* Launches AUTO of one array by a reducer of the kernels' type. */
template <class Reducer, class Value>
fastreduce_status launch_reducer(const array_argument &input, Value *result, const Reducer &reducer,
                                 const launch_options &options, void *second = nullptr)
{
    reduction_output<Reducer> output = {result, reducer, second};
    return launch(plan_array, kernels_of<Reducer, array_part>, input, &output, options);
}

/* Returns all of an accumulator's kernel_set but the kernel. Sums' blocks have more shared memory
 * than they need, so that just as many fit a multiprocessor as the plan counts on. Blocks of the
 * next grid, launched early, would be unevenly divided among the places left. Others' blocks take
 * its registers: three of 256 threads, as two are 8 % slower (squares of 2^28 floats, one H100). */
template <class Accumulator, unsigned Packs = 4>
constexpr kernel_set exact_sizes_of(kernel_entry (*find)(unsigned) = nullptr)
{
    using Element = typename Accumulator::Element;
    kernel_set set = {};
    set.find = find;
    set.element_bytes = sizeof(Element);
    set.pack_size = pack<Element>::size;
    set.tile[0] = {Accumulator::block_size, Packs};
    set.total_words = Accumulator::status_words;
    set.resident_blocks = Accumulator::resident_blocks;
    set.exact_shared_bytes = greatest_of(Accumulator::shared_bytes, 44 * kibibyte);
    return set;
}

template <class Accumulator, unsigned Packs>
static kernel_entry find_exact_kernel(unsigned)
{
    static compiled_cache cache = {};
    return {kernel_address(reduce_exact<Accumulator, Packs>), &cache};
}

template <class Accumulator, unsigned Packs = 4>
static constexpr kernel_set
    exact_kernels_of = exact_sizes_of<Accumulator, Packs>(find_exact_kernel<Accumulator, Packs>);

/* The accumulator of the sum, by the element. */
template <class Input>
using exact_sum = std::conditional_t<std::is_same<Input, double>::value,
                                     wide_superaccumulator<exact_block, doubles_masked>,
                                     superaccumulator<exact_block, Input>>;

/* ---- Rows and segments ---- */

/* Returns whether blocks of rows or columns ask for what they read first before the previous grid
 * has ended: .75 to .95 of the time up to 8 MiB, but .8 to 1.14 at 16, in that grid's way. Not for
 * a few elements each, by threads (1.1 to 1.8; one H100, graphs of sums of f32, u8). */
constexpr bool are_prefetched(size_t results, size_t elements, size_t element_bytes)
{
    return elements > 0 && elements <= 8 * mebibyte / element_bytes / results;
}

/* A warp reduces a segment of up to so many elements where there are many, or bytes where few. */
constexpr size_t most_of_many = 16384, most_of_few = 4 * kibibyte;
/* A block reduces a segment of up to so many bytes; longer ones are listed. */
constexpr size_t most_of_block = 512 * kibibyte, most_of_block_of_few = 64 * kibibyte;
/* A warp's lanes take up to so many packs of a row in turn. */
constexpr size_t most_packs_by_lanes = 4096;

/* Returns whether packs of all rows are vectors. */
inline bool rows_are_vectors(const kernel_set &set, const result_layout &rows)
{
    const size_t bytes = rows.outer_stride * set.element_bytes | rows.n * set.element_bytes;
    return (bytes | address_of(rows.input) | address_of(rows.other())) % pack_bytes == 0;
}

/* Plans rows of up to as many packs as a warp has, and one more. A warp takes `fair` rows, or as
 * many as it has packs for. */
inline void plan_chunks(rows_plan *share, const kernel_set &set, const result_layout &rows,
                        size_t packs, size_t fair)
{
    const size_t most = size_t(warp_size) << set.thread_packs_log;
    const bool tail = packs > most_leaf && ((packs - 1) & (packs - 2)) == 0;
    const unsigned packs_log = bits_for(packs - tail);
    const size_t n = tail ? (packs - 1) * set.pack_size : rows.n;
    share->per_warp = min_of(most >> packs_log, fair);
    share->tail = tail ? static_cast<unsigned>(n) : 0;
    share->vectors = !tail && rows_are_vectors(set, rows);
    share->lanes_log = packs_log < warp_log ? packs_log : warp_log;
    share->chunks_log = packs_log - share->lanes_log;
    share->chunks =
        (static_cast<unsigned>((share->per_warp - 1) >> (warp_log - share->lanes_log)) + 1)
        << share->chunks_log;
    for (unsigned chunk = 0; chunk < 1u << set.thread_packs_log; ++chunk) {
        share->row[chunk] = chunk >> share->chunks_log << (warp_log - share->lanes_log);
        share->within[chunk] = chunk % (1u << share->chunks_log) * (warp_size * set.pack_size);
        share->byte_offset[chunk] =
            (share->row[chunk] * rows.outer_stride + share->within[chunk]) * set.element_bytes;
    }
}

/* Plans how many lanes take the packs of a row in turn. Few are better, as steps are whole, lanes
 * have to meet, and neighbouring rows load better together; but a lane takes 16 packs at most. */
inline void plan_lanes(rows_plan *share, const kernel_set &set, const result_layout &rows,
                       size_t packs, size_t fair)
{
    const size_t packs_log = bits_for(packs), least = packs_log > 4 ? packs_log - 4 : 0;
    size_t least_cost = SIZE_MAX;
    for (size_t log = min_of(least, warp_log); log <= min_of(least + 2, warp_log); ++log) {
        const size_t steps = ((packs - 1) >> log) / 4 + 1,
                     cost = ((8 * steps + log) << log) + (set.pack_size > 4 ? 9 : 3) * steps;
        if (cost > least_cost) continue;
        least_cost = cost;
        share->lanes_log = static_cast<unsigned>(log);
    }
    while (fair << share->lanes_log < warp_size && share->lanes_log < packs_log)
        ++share->lanes_log; /* where there are few rows */
    share->by_lanes = true;
    share->per_warp = min_of(fair, size_t(warp_size) >> share->lanes_log);
    share->chunks = 2; /* not one pack in turn */
    share->vectors = rows_are_vectors(set, rows);
}

/* Plans segments, of unknown lengths, in eight rounds of warps or blocks; in one where there are
 * few. Each run has two tiles or more, as it has to be handed over. */
inline launch_plan plan_segments(const kernel_set &set, const result_layout &segments,
                                 const device_limits &limits, const launch_options &options = {})
{
    constexpr size_t warps = rows_block / warp_size, rounds = 8;
    const size_t results = segments.end,
                 fair = (results - 1) / (limits.multiprocessors * (1024 / warp_size)) + 1,
                 most_blocks = min_of(options.most_blocks, queue_counters::max_count),
                 least = (results - 1) / (warps * most_blocks) + 1,
                 resident = limits.multiprocessors * segments_blocks;
    const bool are_few = results <= most_passes * rows_block;
    launch_plan plan;
    rows_plan &share = plan.share;
    share = {};
    share.per_warp = greatest_of(least, min_of(fair, fair / rounds + 1));
    share.per_block = share.per_warp * warps;
    if (share.per_warp == 1)
        share.per_block = min_of(warps, (results - 1) / (resident * (are_few ? 1 : rounds)) + 1);
    share.most_of_warp =
        results < limits.multiprocessors * 16 ? most_of_few / set.element_bytes : most_of_many;
    share.most_of_block = (are_few ? most_of_block_of_few : most_of_block) / set.element_bytes;
    share.least_run_log = 2;
    share.few_segments = are_few;
    plan.kernel = segment_rows;
    plan.threads = rows_block;
    plan.workspace_bytes = FASTREDUCE_WORKSPACE_BYTES;
    if (are_few) /* blocks without segments help with long ones */
        plan.least_blocks = min_of(options.most_blocks, resident);
    plan.input = segments;
    plan.block_results = share.per_block;
    plan.most_results = min_of(results, most_blocks * share.per_block);
    return plan;
}

/* Plans rows that one block or several reduce. Blocks of 256 threads serve rows of one tile (64
 * rows of 4096 floats take .68 of the time, one H100) and of many. There are no more blocks than
 * it takes to fill the device, as those of a row wait for each other. */
inline launch_plan plan_long_rows(const kernel_set &set, const result_layout &rows, bool prefetched,
                                  size_t packs, const device_limits &limits,
                                  const launch_options &options)
{
    const size_t half = least_long_block * set.tile[0].packs, /* packs of a smaller tile */
        results = rows.end;
    const bool large = packs > half && (packs <= 2 * half || packs >= 16 * half),
               is_half = packs <= half / 2 && results > most_passes * rows_block;
    const size_t tile = half << large >> is_half;
    launch_plan plan;
    plan.threads = large ? rows_block : least_long_block >> is_half;
    size_t most_runs = plan.threads * partials_of_thread; /* of one group */
    if (packs <= 2 * half)
        most_runs = 1;
    else if (packs <= SIZE_MAX >> 32)
        most_runs = min_of(most_runs, (limits.multiprocessors * 64 - 1) / results + 1);
    plan.array = {};
    plan.array.input = rows.input;
    plan.array.other = rows.other();
    plan.array.n = rows.n;
    plan.array.pitch = rows.outer_stride;
    plan.array.result_bytes = rows.result_bytes;
    plan.array.second_bytes = rows.second_bytes;
    plan.array.share(tile * set.pack_size, most_runs, most_runs);
    if (prefetched) plan.array.prefetch_bytes = static_cast<unsigned>(tile * pack_bytes);
    const size_t runs = plan.array.runs, row_words = runs > 1 ? runs * set.partial_words : 0;
    plan.kernel = small_tiles;
    plan.input = rows;
    plan.shared_blocks = runs;
    plan.most_results =
        min_of(results, options.most_blocks > runs ? options.most_blocks / runs : 1);
    if (runs > 1) {
        plan.most_results = min_of(plan.most_results, (options.most_words - 1) / row_words);
        plan.workspace_bytes = (1 + plan.most_results * row_words) * sizeof(status_word);
    }
    return plan;
}

/* Plans rows. */
inline launch_plan plan_rows(const kernel_set &set, const result_layout &rows,
                             const device_limits &limits, const launch_options &options = {})
{
    const size_t results = rows.end,
                 fair = (results - 1) / (limits.multiprocessors * (1024 / warp_size)) + 1,
                 packs = rows.n / set.pack_size + (rows.n % set.pack_size != 0),
                 warp_packs = size_t(warp_size) << set.thread_packs_log;
    const bool are_few = results <= most_passes * rows_block,
               prefetched = are_prefetched(results, rows.n, set.element_bytes) &&
                            are_prefetched(results, rows.outer_stride, set.element_bytes),
               take_turns = set.any_order && packs > (set.pack_size > 4 ? 16 : 8) &&
                            packs <= most_packs_by_lanes,
               in_chunks = packs <= warp_packs || (packs == warp_packs + 1 && packs > most_leaf);
    if ((are_few && packs > warp_size) || (!take_turns && !in_chunks))
        return plan_long_rows(set, rows, prefetched, packs, limits, options);
    launch_plan plan;
    rows_plan &share = plan.share;
    share = {};
    share.prefetched = prefetched;
    (take_turns ? plan_lanes : plan_chunks)(&share, set, rows, packs, fair);
    share.per_block = share.per_warp * (rows_block / warp_size);
    plan.kernel = short_rows;
    plan.threads = rows_block;
    plan.input = rows;
    plan.block_results = share.per_block;
    plan.most_results = min_of(results, options.most_blocks * share.per_block);
    return plan;
}

/* ---- Columns ---- */

/* Warps of a multiprocessor, as far as there are rows for them: of two blocks. More steps of each
 * are better: 4096 columns in 64 steps take .99 of a flat sum's bandwidth, in 16 .96, in 4 .90.
 * Fewer than 4 warps down the rows are not: two take 1.03 of the time for maxima of 1024 rows,
 * eight 1.07 for EXACT sums of 268 (2^28 floats, one H100). */
constexpr size_t columns_warps = 16;

/* In planes of up to so many bytes, a warp's lanes take the columns of several planes, which stay
 * in L1 meanwhile: 2.1 times as fast for 33 x 7 floats (one H100). */
constexpr size_t small_plane = 2048;

inline launch_plan plan_columns(const kernel_set &set, const result_layout &given,
                                const device_limits &limits, const launch_options &options = {})
{
    result_layout results = given;
    if (results.inner == 1 && results.outer_stride == 1) results.inner = results.end; /* a matrix */
    const lane_columns vectors = set.lane[1];
    const size_t strides =
        results.stride | (results.inner < results.end ? results.outer_stride : 0);
    const size_t vector_leaves = blocks_for(results.n, size_t(1) << vectors.rows_log);
    /* Single columns are faster where vectors leave multiprocessors idle: 64 x 4096 halves take .81
     * of the time, 32768 x 4 .63. Planes of many rows would then take several blocks each: 16 x
     * 1024 x 16 1.92. Single columns of 4 bytes a row take .57 (one H200). */
    const bool is_small = results.end / vectors.per_lane * vector_leaves <=
                              size_t(limits.multiprocessors) * set.least_leaves &&
                          (vector_leaves <= 4 || results.inner == results.end),
               wide = vectors.per_lane > 1 && !is_small &&
                      results.inner * set.element_bytes > sizeof(unsigned) &&
                      (results.inner | strides) % vectors.per_lane == 0 &&
                      (address_of(results.input) | address_of(results.other())) %
                              (vectors.per_lane * set.element_bytes) ==
                          0;
    const lane_columns lane = set.lane[wide];
    const bool planes = results.inner > 1,
               large_planes = planes && results.n * results.inner * set.element_bytes > small_plane;
    size_t neighbours = 1; /* lanes that could lie side by side across columns */
    if (planes || results.outer_stride <= results.stride)
        neighbours = (large_planes ? results.inner : results.end) / lane.per_lane;
    const size_t lanes = results.end / lane.per_lane,
                 leaves = blocks_for(results.n, size_t(1) << lane.rows_log),
                 down_log = min_of(bits_for(leaves), warp_log - bits_for(min_of(neighbours, 32)));
    launch_plan plan;
    columns_plan &layout = plan.layout;
    layout = {};
    layout.prefetched = are_prefetched(results.end, results.n, set.element_bytes);
    layout.across_log = warp_log - static_cast<unsigned>(down_log);
    const size_t steps = ((leaves - 1) >> down_log) + 1,
                 warps = ((lanes - 1) >> layout.across_log) + 1,
                 wanted = (limits.multiprocessors * columns_warps - 1) / warps + 1; /* down */
    while (layout.steps_log < lane.levels && (steps - 1) >> layout.steps_log > 0 &&
           (layout.steps_log < 2 || (steps - 1) >> layout.steps_log >= 4) &&
           ((steps - 1) >> (layout.steps_log + 1)) + 1 >= wanted)
        ++layout.steps_log;
    size_t status_words = 0;
    for (size_t blocks = 0; blocks != 1;) { /* as few as there is room for */
        const size_t down = ((steps - 1) >> layout.steps_log) + 1;
        layout.warps_log = static_cast<unsigned>(min_of(bits_for(down), columns_warps_log));
        blocks = ((down - 1) >> layout.warps_log >> layout.run_log) + 1;
        layout.down_blocks = static_cast<unsigned>(blocks);
        status_words = 0;
        for (size_t count = blocks; count > 1 && count <= options.most_words;
             count = ((count - 1) >> (columns_warps_log + down_log)) + 1)
            status_words += count * results.end * set.partial_words;
        if (blocks <= min_of(options.most_words, options.most_blocks) &&
            status_words <= options.most_words)
            break;
        if (blocks > 1) ++(layout.steps_log < lane.levels ? layout.steps_log : layout.run_log);
    }
    plan.kernel = wide ? vector_columns : single_columns;
    plan.threads = columns_block;
    plan.block_results = size_t(1) << layout.results_log(lane.per_lane);
    plan.most_results = options.most_blocks / layout.down_blocks * plan.block_results;
    plan.shared_blocks = layout.down_blocks;
    plan.workspace_bytes = status_words * sizeof(status_word);
    if (layout.run_log > 0)
        plan.shared_bytes = (layout.run_log + 1) * plan.block_results * set.value_bytes;
    plan.input = results;
    return plan;
}

/* ---- Buffers ---- */

/* Plans buffers. Vectors serve if those of the inputs begin where those of the output do. */
inline launch_plan plan_buffers(const kernel_set &set, const buffer_list &given,
                                const device_limits &, const launch_options &)
{
    /* Sums of floats are Values, even if they are stored as narrower ones. */
    const size_t unit = set.any_order ? given.result_bytes : set.value_bytes,
                 wide = pack_bytes / unit, bytes = wide * set.element_bytes,
                 stored = wide * given.result_bytes,
                 head = (0 - address_of(given.output)) % stored / given.result_bytes,
                 tile = buffers_block * vectors_of_thread(given.count > 2 ? 4 : 2, bytes);
    size_t shift = given.n < head;
    for (size_t k = 0; k < given.count; ++k)
        shift |= (address_of(given.input[k]) + head * set.element_bytes) % bytes;
    launch_plan plan;
    buffer_list &buffers = plan.buffers;
    buffers = given;
    buffers.head = head;
    buffers.tiles = shift == 0 ? (given.n - head) / (wide * tile) : 0;
    buffers.inverse = 1.0 / static_cast<double>(given.count);
    plan.kernel = large_tiles;
    plan.threads = buffers_block;
    plan.input.end = 1;
    plan.shared_blocks = buffers.tiles + blocks_for(given.n - buffers.tiles * tile * wide, tile);
    return plan;
}

/* ---- Rows, columns or one array ---- */

/* Plans results of a few elements each, which a thread reduces. */
inline launch_plan plan_by_threads(const kernel_set &set, const result_layout &results,
                                   const launch_options &options)
{
    const size_t of_block = results_of_thread(set.element_bytes) * rows_block;
    launch_plan plan;
    plan.kernel = by_threads;
    plan.threads = rows_block;
    plan.most_results = plan.block_results = results.end;
    plan.shared_blocks = min_of(blocks_for(results.end, of_block), options.most_blocks);
    plan.input = results;
    return plan;
}

/* Plans results of any shape, by one of the functions above. */
inline launch_plan plan_results(const kernel_set &set, const result_layout &results,
                                const device_limits &limits, const launch_options &options)
{
    constexpr size_t far_rows = 256; /* bytes of a row that may be far from the next one */
    const size_t n = results.n, bytes = n * set.element_bytes;
    const bool rows = results.inner == 1 && (results.stride == 1 || n == 1) &&
                      results.outer_stride != 1 &&
                      (results.outer_stride <= n + n / 4 || bytes >= far_rows);
    if (results.are_segments()) return plan_segments(set, results, limits, options);
    if (n <= max_elements_of_thread(set.element_bytes) && (!rows || bytes < pack_bytes))
        return plan_by_threads(set, results, options);
    return (rows ? plan_rows : plan_columns)(set, results, limits, options);
}

/* ---- Results by EXACT ----
 *
 * AUTO's kernels sum in two doubles. Where these cannot tell the result, they leave it unresolved,
 * and a second launch adds its elements exactly. */

/* A warp adds up to so many elements of an unresolved result; more are listed. */
constexpr size_t most_of_resolving_warp = exact_unit / 4;

/* Launches the kernel for unresolved results. most_of_warp, most_listed: smaller limits, for tests.
 */
template <class Source>
cudaError_t launch_resolving(exact_results results, size_t count, void *status_words,
                             cudaStream_t stream, size_t most_of_warp = most_of_resolving_warp,
                             unsigned most_listed = max_queued_exact<typename Source::Sums>)
{
    [[maybe_unused]] static compiled_cache cache = {};
    device_limits limits = {};
    const cudaError_t error = find_limits(&limits);
    if (error != cudaSuccess) return error;
    /* These blocks are enough if no result is resolved, but no more, as mostly all are. */
    const size_t of_block = 2 * exact_unit, segments_of_block = 32, to_round = 32,
                 blocks = results.layout.are_segments()
                              ? greatest_of(count / segments_of_block, limits.multiprocessors)
                              : (results.layout.n + to_round) * count / of_block + 1,
                 most = size_t(limits.multiprocessors) * (1024 / exact_block);
    result_queue queue = {static_cast<status_word *>(status_words), most_listed, ~0u >> 1};
    void *arguments[] = {&results, &count, &most_of_warp, &queue};
    return launch_kernel({kernel_address(resolve_exact_results<Source>), &cache}, limits.device,
                         min_of(blocks, most), exact_block, 0, arguments, stream);
}

/* Launches all results, strided or as segments. Arguments are checked. */
template <class Input, class Source, bool SkipsNan>
fastreduce_status launch_exact_results(const exact_results &results, workspace memory,
                                       cudaStream_t stream)
{
    const bool segments = results.layout.are_segments();
    const size_t needed =
        segments || results.layout.n > most_of_resolving_warp ? FASTREDUCE_WORKSPACE_BYTES : 0;
    if (memory.data != nullptr && memory.bytes < needed) /* before the first of two launches */
        return FASTREDUCE_ERROR_WORKSPACE_TOO_SMALL;
    if constexpr (Source::follows_pairs) {
        const auto make = [&results]() {
            const exact_reducer<Input> reducer = {{}, results.op, results.precision};
            if constexpr (SkipsNan)
                return without_nan<exact_reducer<Input>, nan_rule::mean>{
                    reducer, bits_of_infinity<Input>, 0};
            else
                return reducer;
        };
        reduction_output<decltype(make())> output = {results.output, make()};
        const kernel_set &set = kernels_of<decltype(make()), rows_part | columns_part>;
        const fastreduce_status status =
            launch(plan_results, set, results.layout, &output, {memory, stream});
        if (status != FASTREDUCE_SUCCESS || (!segments && results.layout.n == 0)) return status;
    }
    return with_workspace(memory, needed, stream, [&](void *data) {
        return launch_resolving<Source>(results, results.layout.end, needed > 0 ? data : nullptr,
                                        stream);
    });
}

/* ---- By index ---- */

/* Returns words from a plane to the next, so many that a bin's words have different slots. */
constexpr size_t index_pitch(size_t bins) { return (bins / 4 + 10) * 4; }

/* The kernels for a type, without it. */
struct index_set {
    kernel_entry (*find)(unsigned number);
    unsigned planes, limbs, parts, tile;

    constexpr bool is_exact() const { return limbs > 1; }
    /* Returns 0 if there is no room for so many in the address space. */
    constexpr size_t workspace_bytes(size_t bins, bool finds_indices) const
    {
        const size_t of_bin = (planes + finds_indices) * sizeof(unsigned long long);
        return bins > SIZE_MAX / 2 / of_bin ? 0 : sizeof(index_header) + index_pitch(bins) * of_bin;
    }
};
constexpr unsigned adding = 0, carrying = 1, finishing = 2;

template <class Planes>
static kernel_entry find_index_kernel(unsigned number)
{
    static compiled_cache cache[3] = {};
    const void *kernel[3] = {kernel_address(add_by_index<Planes>), nullptr,
                             kernel_address(finish_bins<Planes>)};
    if constexpr (Planes::width < 64) kernel[carrying] = kernel_address(carry_bins<Planes>);
    return {kernel[number], &cache[number]};
}
template <class Planes>
static constexpr index_set index_set_of = {
    find_index_kernel<Planes>, Planes::counts + (Planes::parts > Planes::digits), Planes::limbs,
    Planes::parts, index_tile<Planes>::of_block};

/* Returns what a launch knows of the operator. */
inline index_launch launch_of(fastreduce_operator op)
{
    index_launch launch = {};
    launch.op = op;
    launch.adds = op != FASTREDUCE_MAX_ABS && (op < FASTREDUCE_MIN || op > FASTREDUCE_ARGMAX);
    launch.finds_least = op == FASTREDUCE_MIN || op == FASTREDUCE_ARGMIN;
    launch.finds_indices = op == FASTREDUCE_ARGMIN || op == FASTREDUCE_ARGMAX;
    return launch;
}

/* What a plan depends on besides the arguments: shared memory is that of a block that asks. */
struct index_limits {
    size_t multiprocessors, shared_bytes, l2_bytes;
};

/* How a call is divided: elements of a launch, bins of a launch, and blocks; and the table in a
 * block's shared memory. */
struct index_plan {
    size_t most_elements, most_bins, blocks, shared_bytes;
    unsigned slots_log;
};

inline index_plan plan_by_index(const index_set &set, size_t n, size_t bins,
                                const index_limits &limits, const launch_options &options = {})
{
    constexpr size_t word = sizeof(unsigned long long), reserve = kibibyte, most_ranges = 12;
    index_plan plan = {};
    plan.most_elements = set.is_exact() ? options.most_additions : SIZE_MAX;
    plan.blocks =
        min_of(blocks_for(min_of(n, plan.most_elements), set.tile), limits.multiprocessors);

    /* A range's common words fit L2. */
    const size_t ranges =
        blocks_for(set.parts * word * bins, greatest_of(limits.l2_bytes / 8 * 5, 1));
    plan.most_bins = ranges > most_ranges || n < bins / 2 ? bins : (bins - 1) / ranges + 1;
    plan.most_bins = min_of(plan.most_bins, options.most_bins);

    /* A slot for each word that may come, or as many as there is room for. */
    const size_t slot = set.parts * word + sizeof(unsigned),
                 most = (limits.shared_bytes - min_of(limits.shared_bytes, reserve)) / slot,
                 wanted = min_of(set.limbs * index_pitch(bins), 2 * min_of(n, most));
    while (size_t(2) << plan.slots_log <= most && size_t(1) << plan.slots_log < wanted)
        ++plan.slots_log;
    plan.shared_bytes = slot << plan.slots_log;
    return plan;
}

/* Plans and launches a checked call; `launch` says all but where words are and how it is
 * divided. */
inline fastreduce_status launch_by_index(const index_set &set, index_launch launch, size_t n,
                                         const launch_options &options)
{
    device_limits limits = {};
    constexpr cudaDeviceAttr asked[] = {cudaDevAttrMaxSharedMemoryPerBlockOptin,
                                        cudaDevAttrL2CacheSize};
    int bytes[2] = {};
    cudaError_t error = find_limits(&limits);
    for (unsigned k = 0; k < 2 && error == cudaSuccess; ++k)
        error = cudaDeviceGetAttribute(bytes + k, asked[k], limits.device);
    if (error != cudaSuccess) return status_of(error);
    const size_t bins = launch.bins,
                 reach = launch.index_bytes == sizeof(int) ? min_of(bins, size_t(1) << 31) : bins;
    const index_limits given = {limits.multiprocessors, static_cast<size_t>(bytes[0]),
                                static_cast<size_t>(bytes[1])};
    const index_plan plan = plan_by_index(set, n, bins, given, options);
    const unsigned passes = launch.finds_indices && !launch.is_packed ? 2 : 1;
    const size_t bin_blocks = min_of(blocks_for(bins, finish_block), 8 * limits.multiprocessors);
    launch.pitch = index_pitch(bins);
    launch.slots_log = plan.slots_log;
    const auto enqueue = [&](void *data) {
        cudaError_t failure = cudaSuccess;
        const auto start = [&](unsigned kernel, size_t blocks, unsigned threads, size_t shared) {
            void *arguments[] = {&launch};
            if (failure == cudaSuccess)
                failure = launch_kernel(set.find(kernel), limits.device, blocks, threads, shared,
                                        arguments, options.stream);
        };
        launch.header = static_cast<index_header *>(data);
        launch.plane_words = reinterpret_cast<unsigned long long *>(launch.header + 1);
        for (launch.pass = 0; passes > launch.pass; ++launch.pass)
            for (launch.begin = 0; n > launch.begin; launch.begin = launch.end) {
                launch.end = launch.begin + min_of(n - launch.begin, plan.most_elements);
                for (size_t bin = 0; bin < reach; bin += launch.bin_count) {
                    launch.first_bin = bin;
                    launch.bin_count = static_cast<unsigned>(min_of(reach - bin, plan.most_bins));
                    start(adding, plan.blocks, index_block, plan.shared_bytes);
                }
                if (launch.end < n && set.is_exact()) start(carrying, bin_blocks, finish_block, 0);
            }
        start(finishing, bin_blocks, finish_block, 0);
        return failure;
    };
    return with_workspace(options.memory, set.workspace_bytes(bins, launch.finds_indices),
                          options.stream, enqueue);
}

/* ---- The templates: checks in words ---- */

template <class Operator, class Value, class = void>
struct has_identity : std::false_type {
};
template <class Operator, class Value>
struct has_identity<Operator, Value, std::void_t<decltype(Operator::template identity<Value>())>>
    : std::true_type {
};

/* A name of our own, for the CPU machine of test/simt, whose elements log how they are copied. */
template <class Value>
struct is_trivially_copyable : std::is_trivially_copyable<Value> {
};

/* Refuses misuse of reduce(), workspace_bytes() and, for one level alone, round(). */
template <fastreduce_kernel Version, unsigned BlockSize, unsigned Items, class Operator,
          class Input, bool OneLevel = false>
constexpr bool check_reduction()
{
    using Value = accumulate_t<Operator, Input>;
    constexpr bool numeric = is_numeric_operator<Operator>,
                   automatic = !OneLevel && Version == FASTREDUCE_AUTO,
                   exact = Version == FASTREDUCE_EXACT;
    static_assert(Version >= FASTREDUCE_AUTO && Version <= FASTREDUCE_EXACT,
                  "there is no such kernel");
    static_assert(!OneLevel || !exact, "EXACT has no levels");
    static_assert(valid_block_size(BlockSize),
                  "the block size must be 32, 64, 128, 256, 512 or 1024");
    static_assert(Items >= 1 && Items <= 64, "items per thread must be from 1 to 64");
    static_assert(Version < FASTREDUCE_V0 || Version > FASTREDUCE_V5 ||
                      Items == default_items(Version),
                  "V0, V1 and V2 have one item per thread, V3, V4 and V5 two");
    static_assert(!(automatic || exact) ||
                      (BlockSize == FASTREDUCE_BLOCK_SIZE && Items == default_items(Version)),
                  "AUTO and EXACT choose block size and items per thread themselves: leave them at "
                  "their defaults");
    static_assert(
        is_trivially_copyable<Input>::value && is_trivially_copyable<Value>::value,
        "elements have to be trivially copyable: they are moved as bytes, from lane to lane");
    static_assert(!numeric || element<Input>::is_number,
                  "this operator is for numbers of 8, 16, 32 or 64 bits");
    static_assert(!automatic ||
                      (sizeof(Input) <= most_result_bytes && sizeof(Value) <= most_result_bytes),
                  "AUTO takes elements and results of 128 bytes at most; FASTREDUCE_V7 takes "
                  "larger ones, if the operator commutes");
    static_assert(!numeric || automatic,
                  "this operator is for FASTREDUCE_AUTO alone: V0 to V7 and round() take those "
                  "that combine two elements to one");
    static_assert(
        numeric || std::is_invocable<const Operator &, Value, Value>::value,
        "the operator needs: T operator()(T, T) const for the elements, for host and device");
    static_assert(
        numeric || has_identity<Operator, Value>::value,
        "the operator needs: template <class T> static T identity(), for host and device");
    static_assert(
        !exact || (are_same<Operator, plus> && (are_same<Input, float> || are_same<Input, double>)),
        "the exact sum is of floats or doubles");
    return true;
}

} // namespace detail

/* Reduces input[0] .. input[n - 1] to *output with Operator; n == 0 gives the identity. As
 * fastreduce_sum_f32 in every respect (memory, asynchrony, capture, determinism, errors). AUTO: for
 * any operator, and elements and results of up to 128 bytes. V0..V7: operators that combine two
 * elements. EXACT: plus, of float and double. The type of the output is
 * accumulate_t<Operator, Input>: 64-bit for sums of integers. An operator that multiplies and adds
 * has the same bits everywhere only if it says how it rounds (fmaf, __fmul_rn): compilers fuse the
 * two where they like. AUTO combines as fastreduce.h's pairwise() does, operands in index order, so
 * an operator of yours need not commute: identity() is one from both sides. V2..V7 ask that it
 * does. */
template <fastreduce_kernel Version = FASTREDUCE_AUTO, unsigned BlockSize = FASTREDUCE_BLOCK_SIZE,
          unsigned Items = default_items(Version), class Operator = plus, class Input>
fastreduce_status reduce(const Input *input, accumulate_t<Operator, Input> *output, size_t n,
                         cudaStream_t stream = nullptr, workspace scratch = {nullptr, 0})
{
    static_assert(detail::check_reduction<Version, BlockSize, Items, Operator, Input>(), "");
    const fastreduce_status status = detail::check_arguments(input, output, n, scratch);
    if (status != FASTREDUCE_SUCCESS) return status;
    if constexpr (Version == FASTREDUCE_AUTO) {
        static_assert(sizeof(typename detail::reducer_t<Operator, Input>::Result) == sizeof *output,
                      "a reducer's Result has the bits of the result");
        return detail::launch_reducer({input, n}, output, detail::make_reducer<Operator, Input>(),
                                      {scratch, stream});
    } else if constexpr (Version == FASTREDUCE_EXACT) {
        detail::exact_output result = {output, nullptr, FASTREDUCE_SUM,
                                       sizeof(Input) == 4 ? 24 : 53};
        return detail::launch(detail::plan_array,
                              detail::exact_kernels_of<detail::exact_sum<Input>>, {input, n},
                              &result, {scratch, stream});
    } else {
        return detail::launch_ladder(
            detail::make_version<Version, BlockSize, Items, Operator, Input>(), input, output, n,
            scratch, stream);
    }
}

/* Does the same by AUTO, with the operator named first: reduce<maximum>(input, output, n). */
template <class Operator, class Input>
fastreduce_status reduce(const Input *input, accumulate_t<Operator, Input> *output, size_t n,
                         cudaStream_t stream = nullptr, workspace scratch = {nullptr, 0})
{
    return reduce<FASTREDUCE_AUTO, FASTREDUCE_BLOCK_SIZE, default_items(FASTREDUCE_AUTO), Operator>(
        input, output, n, stream, scratch);
}

/* Reduces by AUTO and writes both results of min_max, argmin, argmax, argmax_abs or variance, from
 * one read of the input: reduce_to_pair<argmax>(input, pair, n). reduce() writes the first one. */
template <class Operator, class Input>
fastreduce_status reduce_to_pair(const Input *input, result_pair_t<Operator, Input> *output,
                                 size_t n, cudaStream_t stream = nullptr,
                                 workspace scratch = {nullptr, 0})
{
    static_assert(detail::one_of<Operator, min_max, argmin, argmax, argmax_abs, variance>::value,
                  "no other operator has two results");
    static_assert(detail::check_reduction<FASTREDUCE_AUTO, FASTREDUCE_BLOCK_SIZE,
                                          default_items(FASTREDUCE_AUTO), Operator, Input>(),
                  "");
    const fastreduce_status status = detail::check_arguments(input, output, n, scratch);
    if (status != FASTREDUCE_SUCCESS) return status;
    return detail::launch_reducer({input, n}, &output->first,
                                  detail::make_reducer<Operator, Input>(), {scratch, stream},
                                  &output->second);
}

/* Reduces transform(input[0]) .. transform(input[n - 1]) to *output; n == 0 gives identity.
 *
 *   transform, combine   called on the GPU, and may have state: function objects with a const
 *                        operator(), or with nvcc's --extended-lambda __device__ lambdas. (Not
 *                        __host__ __device__ ones that capture: nvcc makes them objects that cannot
 *                        be copied byte by byte, as everything here is.) combine is associative but
 *                        for rounding, and need not commute: operands stay in index order.
 *   identity             a value of the output's type with combine(identity, x) == x, and
 *                        combine(x, identity) == x.
 *   scratch              memory of the stream's pool by default; FASTREDUCE_WORKSPACE_BYTES are
 *                        enough.
 *
 * Elements and results have 128 bytes at most. By AUTO, and otherwise as reduce(). */
template <class Input, class Output, class Transform, class Combine>
fastreduce_status transform_reduce(const Input *input, Output *output, size_t n,
                                   Transform transform, Combine combine, Output identity,
                                   cudaStream_t stream = nullptr, workspace scratch = {nullptr, 0})
{
    static_assert(detail::is_trivially_copyable<Input>::value &&
                      detail::is_trivially_copyable<Output>::value,
                  "elements and results have to be trivially copyable: they are moved as bytes");
    static_assert(sizeof(Input) <= detail::most_result_bytes &&
                      sizeof(Output) <= detail::most_result_bytes,
                  "elements and results have 128 bytes at most");
    static_assert(detail::is_trivially_copyable<Transform>::value &&
                      detail::is_trivially_copyable<Combine>::value,
                  "what is called on the GPU has to be trivially copyable: lambdas are __device__ "
                  "ones, as nvcc's __host__ __device__ ones are not if they capture");
    using reducer = detail::custom_reducer<Input, Output, Combine, Transform>;
    const fastreduce_status status = detail::check_arguments(input, output, n, scratch);
    if (status != FASTREDUCE_SUCCESS) return status;
    return detail::launch_reducer({input, n}, output, reducer{{}, combine, transform, identity},
                                  {scratch, stream});
}

/* Does so without a transform: elements are converted to the output's type. */
template <class Input, class Output, class Combine>
fastreduce_status reduce_by(const Input *input, Output *output, size_t n, Combine combine,
                            Output identity, cudaStream_t stream = nullptr,
                            workspace scratch = {nullptr, 0})
{
    return transform_reduce(input, output, n, detail::itself(), combine, identity, stream, scratch);
}

/* Adds up x[k] * y[k] for k < n to *output; n == 0 gives 0. Of numbers of 8, 16, 32 or 64 bits, as
 * fastreduce_dot; scratch as of transform_reduce(). By AUTO, and otherwise as reduce(). */
template <class Input>
fastreduce_status dot(const Input *x, const Input *y, accumulate_t<plus, Input> *output, size_t n,
                      cudaStream_t stream = nullptr, workspace scratch = {nullptr, 0})
{
    static_assert(detail::element<Input>::is_number,
                  "dot() is for numbers of 8, 16, 32 or 64 bits");
    fastreduce_status status = detail::check_arguments(x, output, n, scratch);
    if (status == FASTREDUCE_SUCCESS) status = detail::check_arguments(y, output, n, scratch);
    if (status != FASTREDUCE_SUCCESS) return status;
    return detail::launch_reducer({x, n, nullptr, y}, output, detail::dot_t<Input>(),
                                  {scratch, stream});
}

/* Returns the bytes of workspace that reduce() with the same template arguments needs for n
 * elements; 0 where it needs none, and where it would refuse n. Aligned to 16 bytes, or more where
 * the result's type is. */
template <fastreduce_kernel Version = FASTREDUCE_AUTO, unsigned BlockSize = FASTREDUCE_BLOCK_SIZE,
          unsigned Items = default_items(Version), class Operator = plus, class Input = float>
size_t workspace_bytes(size_t n)
{
    static_assert(detail::check_reduction<Version, BlockSize, Items, Operator, Input>(), "");
    using Value = accumulate_t<Operator, Input>;
    if (n > SIZE_MAX / sizeof(Input)) return 0;
    if constexpr (Version == FASTREDUCE_AUTO)
        return detail::array_workspace_bytes(detail::sizes_of<detail::reducer_t<Operator, Input>>(),
                                             n);
    else if constexpr (Version == FASTREDUCE_EXACT)
        return detail::array_workspace_bytes(detail::exact_sizes_of<detail::exact_sum<Input>>(), n);
    else
        return detail::plan_ladder(n, size_t(BlockSize) * Items, sizeof(Value),
                                   detail::alignment_for<Value>())
            .workspace_bytes;
}

/* Adds input[0] .. input[n - 1] to *accumulator, exactly: as fastreduce_accumulate_f32, but that
 * n_on_device is not checked. */
template <class = void>
fastreduce_status accumulate_exactly(const float *input, fastreduce_accumulator *accumulator,
                                     size_t n, cudaStream_t stream = nullptr,
                                     workspace scratch = {nullptr, 0},
                                     const size_t *n_on_device = nullptr)
{
    const fastreduce_status status = detail::check_arguments(input, accumulator, n, scratch);
    if (status != FASTREDUCE_SUCCESS) return status;
    detail::exact_output result = {nullptr, accumulator->limb};
    return detail::launch(detail::plan_array, detail::exact_kernels_of<detail::exact_sum<float>>,
                          {input, n, n_on_device}, &result, {scratch, stream});
}

/* Launches one level of the dispatcher: block b of the grid reduces elements
 * [b * tile, (b + 1) * tile) to partials[b], with tile = BlockSize * Items. AUTO is V7 here.
 * `partials` has room for blocks_for(n, tile) values and does not overlap the input. Otherwise as
 * reduce(). */
template <fastreduce_kernel Version = FASTREDUCE_AUTO, unsigned BlockSize = FASTREDUCE_BLOCK_SIZE,
          unsigned Items = default_items(Version), class Operator = plus, class Input>
/* in brackets, as `round` may be a macro */
fastreduce_status(round)(const Input *input, accumulate_t<Operator, Input> *partials, size_t n,
                         cudaStream_t stream = nullptr)
{
    using Value = accumulate_t<Operator, Input>;
    static_assert(detail::check_reduction<Version, BlockSize, Items, Operator, Input, true>(), "");
    const size_t blocks = blocks_for(n, size_t(BlockSize) * Items);
    const fastreduce_status status =
        detail::check_arguments({{input, sizeof(Input), alignof(Input), n}},
                                {{partials, sizeof(Value), alignof(Value), blocks}}, {nullptr, 0});
    if (status != FASTREDUCE_SUCCESS) return status;
    if (blocks > detail::max_blocks) return FASTREDUCE_ERROR_UNSUPPORTED;
    const detail::version_kernels version =
        detail::make_version<Version, BlockSize, Items, Operator, Input>();
    return detail::status_of(
        detail::launch_round(version.first, version, input, partials, n, stream));
}

/* Returns what fastreduce_status_string does, in programs without an implementing file, too. */
inline const char *status_string(fastreduce_status status)
{
    return fastreduce_detail_status_text(status);
}

#endif /* __CUDACC_RTC__ */
} // namespace FASTREDUCE_DETAIL_ABI
} // namespace fastreduce
#undef FASTREDUCE_DEVICE
#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#endif /* FASTREDUCE_CUH */

/* ================================================================================================
 * Room 9: the C functions
 * Offers: all that fastreduce.h declares for the GPU. May hold: what checks arguments and picks the
 * kernels of a type and an operator (find_kernels) for a launcher of room 8.
 * ============================================================================================= */

#if defined(FASTREDUCE_IMPLEMENTATION) && !defined(FASTREDUCE_DETAIL_IMPLEMENTED)
#define FASTREDUCE_DETAIL_IMPLEMENTED

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

/* ---- What this build holds: by default everything ---- */

/* A set of types or of operators: one, or several with + between them. */
template <class Member>
struct member_set {
    unsigned bits;

    constexpr member_set(Member member) : bits(1u << member) {}
    constexpr member_set(unsigned members) : bits(members) {}
    constexpr member_set operator+(member_set other) const { return bits | other.bits; }
};
constexpr member_set<fastreduce_type> operator+(fastreduce_type a, fastreduce_type b)
{
    return member_set<fastreduce_type>(a) + b;
}
constexpr member_set<fastreduce_operator> operator+(fastreduce_operator a, fastreduce_operator b)
{
    return member_set<fastreduce_operator>(a) + b;
}

#ifdef FASTREDUCE_TYPES
constexpr member_set<fastreduce_type> built_types[] = {FASTREDUCE_TYPES};
#else
constexpr member_set<fastreduce_type> built_types[] = {~0u};
#endif
#ifdef FASTREDUCE_OPERATORS
constexpr member_set<fastreduce_operator> built_operators[] = {FASTREDUCE_OPERATORS};
#else
constexpr member_set<fastreduce_operator> built_operators[] = {~0u};
#endif
/* Returns whether a switch is defined: its name does not stand for itself then. */
#define FASTREDUCE_DETAIL_TEXT(x) #x
#define FASTREDUCE_DETAIL_IS_SET(name) (sizeof FASTREDUCE_DETAIL_TEXT(name) != sizeof #name)
constexpr bool has_exact = !FASTREDUCE_DETAIL_IS_SET(FASTREDUCE_NO_EXACT),
               has_exact_products =
                   has_exact && FASTREDUCE_DETAIL_IS_SET(FASTREDUCE_WITH_EXACT_PRODUCTS),
               has_shapes = FASTREDUCE_DETAIL_IS_SET(FASTREDUCE_WITH_SHAPES),
               has_skip_nan = FASTREDUCE_DETAIL_IS_SET(FASTREDUCE_WITH_SKIP_NAN),
               has_by_index = FASTREDUCE_DETAIL_IS_SET(FASTREDUCE_WITH_BY_INDEX),
               has_ladder = !FASTREDUCE_DETAIL_IS_SET(FASTREDUCE_NO_LADDER);
#undef FASTREDUCE_DETAIL_IS_SET
#undef FASTREDUCE_DETAIL_TEXT

template <class Member, size_t Count>
static constexpr bool holds(const member_set<Member> (&list)[Count], Member member)
{
    for (size_t k = 0; k < Count; ++k)
        if (list[k].bits >> member & 1) return true;
    return false;
}

constexpr bool has_ladder_kernels =
    has_ladder && holds(built_types, FASTREDUCE_F32) && holds(built_operators, FASTREDUCE_SUM);
constexpr bool has_exact_sums = has_exact && (holds(built_operators, FASTREDUCE_SUM) ||
                                              holds(built_operators, FASTREDUCE_SUM_ABS) ||
                                              holds(built_operators, FASTREDUCE_MEAN));

/* ---- AUTO and EXACT: from a type and an operator to kernels ---- */

/* The kernels of a type and an operator, null where this build has none; and their
 * reduction_output or exact_output. */
struct operator_entry {
    const kernel_set *kernels = nullptr; /* by EXACT, of one array */
    /* of many results by EXACT; null for AUTO, and without FASTREDUCE_WITH_SHAPES */
    fastreduce_status (*launch_exact)(const exact_results &results, workspace memory,
                                      cudaStream_t stream) = nullptr;
    alignas(16) unsigned char output[160];
};

/* Returns the entry of a reducer's group, where this build has the operator. */
template <fastreduce_operator Number, unsigned Parts, class Reducer>
static operator_entry entry_for(const Reducer &reducer, const exact_output &to)
{
    constexpr bool of_buffers = Parts == buffers_part,
                   folds = Number == FASTREDUCE_SUM || Number == FASTREDUCE_MIN ||
                           Number == FASTREDUCE_MAX || Number == FASTREDUCE_MEAN;
    operator_entry entry; /* clearing its output would take longer than the rest */
    if constexpr (holds(built_operators, Number) && (!of_buffers || (has_shapes && folds))) {
        using group = conditional_t<of_buffers, Reducer, group_of<Reducer>>;
        reduction_output<group> output = {to.result, as_group<group>(reducer), to.second};
        if constexpr (group::may_narrow) output.reducer.narrows = to.precision < 24;
        static_assert(sizeof output <= sizeof entry.output && alignof(decltype(output)) <= 16,
                      "there is room for it");
        memcpy(entry.output, static_cast<const void *>(&output), sizeof output);
        entry.kernels = &kernels_of<group, Parts>;
    }
    return entry;
}

constexpr unsigned built_parts = has_shapes ? every_part : array_part;

template <fastreduce_operator Number, unsigned Parts, class Operator, class Input>
static operator_entry entry_of(const exact_output &to)
{
    if constexpr (has_skip_nan && element<Input>::is_float && Parts != buffers_part)
        if (to.skips_nan)
            return entry_for<Number, Parts>(make_reducer_without_nan<Operator, Input>(), to);
    return entry_for<Number, Parts>(make_reducer<Operator, Input>(), to);
}

/* Returns AUTO's entry; dot products are there as sums are, but for segments. */
template <class Input, unsigned Parts>
static operator_entry find_auto(fastreduce_operator op, bool dot, const exact_output &output)
{
    if (dot) return entry_for<FASTREDUCE_SUM, built_parts>(dot_t<Input>(), output);
    switch (op) {
#define FASTREDUCE_DETAIL_CASE(name, text, functor, kind) \
    case FASTREDUCE_##name: return entry_of<FASTREDUCE_##name, Parts, functor, Input>(output);
        FASTREDUCE_DETAIL_OPERATORS(FASTREDUCE_DETAIL_CASE)
#undef FASTREDUCE_DETAIL_CASE
    default: return {};
    }
}

/* Source is that of unresolved results. */
template <class Input, class Source, class Accumulator>
static void set_exact_kernels(operator_entry *entry, bool skips_nan)
{
    entry->kernels = &exact_kernels_of<Accumulator>;
    if constexpr (has_shapes) entry->launch_exact = launch_exact_results<Input, Source, false>;
    if constexpr (has_skip_nan)
        if (skips_nan) entry->kernels = &exact_kernels_of<exact_without_nan<Accumulator>>;
    if constexpr (has_skip_nan && has_shapes)
        if (skips_nan) entry->launch_exact = launch_exact_results<Input, Source, true>;
}

/* Returns EXACT's entry. */
template <class Input>
static operator_entry find_exact(fastreduce_operator op, bool dot, exact_output output)
{
    constexpr bool is_float = element<Input>::is_float;
    operator_entry entry;
    if (dot || op == FASTREDUCE_SUM_SQUARES || op == FASTREDUCE_NORM2) { /* of products */
        if constexpr (has_exact_products && is_float)
            set_exact_kernels<
                Input, conditional_t<sizeof(Input) == 8, exact_products<double>, doubles_masked>,
                wide_superaccumulator<exact_block, exact_products<Input>>>(&entry,
                                                                           output.skips_nan);
        if constexpr (has_exact_products && is_float && has_shapes)
            if (dot) entry.launch_exact = launch_exact_results<Input, wide_products<Input>, false>;
    } else if (op == FASTREDUCE_VARIANCE) {
        if constexpr (has_exact_products && is_float && holds(built_operators, FASTREDUCE_VARIANCE))
            set_exact_kernels<Input, exact_moments<Input>,
                              wide_superaccumulator<exact_block, exact_moments<Input>>>(
                &entry, output.skips_nan);
    } else if (op == FASTREDUCE_SUM || op == FASTREDUCE_SUM_ABS || op == FASTREDUCE_MEAN) {
        if constexpr (has_exact_sums && is_float)
            set_exact_kernels<Input, doubles_masked, exact_sum<Input>>(&entry, output.skips_nan);
    }
    if (entry.kernels != nullptr && !holds(built_operators, op)) entry.kernels = nullptr;
    if (op == FASTREDUCE_SUM_ABS) output.mask = all_but_the_sign;
    memcpy(entry.output, &output, sizeof output);
    return entry;
}

/* Returns the entry of AUTO, which takes the output's addresses alone, or of EXACT. */
template <unsigned Parts = built_parts>
static operator_entry find_kernels(fastreduce_type type, fastreduce_operator op,
                                   fastreduce_kernel kernel, bool dot,
                                   const exact_output &output = {})
{
    switch (type) {
#define FASTREDUCE_DETAIL_CASE(name, text, bytes, input, sum, sum_abs, max_abs, mean)       \
    case FASTREDUCE_##name:                                                                 \
        if constexpr (holds(built_types, FASTREDUCE_##name)) {                              \
            if (kernel == FASTREDUCE_AUTO) return find_auto<input, Parts>(op, dot, output); \
            if (kernel == FASTREDUCE_EXACT) return find_exact<input>(op, dot, output);      \
        }                                                                                   \
        break;
        FASTREDUCE_DETAIL_TYPES(FASTREDUCE_DETAIL_CASE)
#undef FASTREDUCE_DETAIL_CASE
    default: break;
    }
    return {};
}

/* ---- The ladder: sums of floats, by all versions, and by all block sizes of each ---- */

constexpr unsigned block_sizes = 6, versions = 8;

constexpr fastreduce_kernel version_at(size_t number)
{
    return static_cast<fastreduce_kernel>(FASTREDUCE_V0 + number / block_sizes);
}

template <size_t... Numbers>
static version_kernels ladder_version(fastreduce_kernel version, unsigned block_size,
                                      std::index_sequence<Numbers...>)
{
    using maker = version_kernels (*)();
    const maker make[] = {make_version<version_at(Numbers), (warp_size << Numbers % block_sizes),
                                       default_items(version_at(Numbers)), plus, float>...};
    return make[(version - FASTREDUCE_V0) * block_sizes + bits_for(block_size / warp_size)]();
}

/* ---- Checks of arguments: INVALID_ARGUMENT comes before UNSUPPORTED ---- */

/* A call's configuration, and what follows from it. */
struct call_settings {
    const fastreduce_config &config;
    fastreduce_type type, result; /* the result's is 0 where type or operator is none */
    fastreduce_operator op;
    size_t result_size = fastreduce_type_size(result);
    unsigned block_size = config.block_size == 0 ? FASTREDUCE_BLOCK_SIZE : config.block_size;
    bool is_valid = result_size != 0 && valid_block_size(block_size) &&
                    config.kernel >= FASTREDUCE_AUTO && config.kernel <= FASTREDUCE_EXACT,
         has_second = config.second_output != nullptr;
    size_t second_size = has_second ? fastreduce_type_size(fastreduce_second_type(type, op)) : 0;
    bool is_unsupported =
        (config.options & ~(has_skip_nan ? unsigned(FASTREDUCE_SKIP_NAN) : 0u)) != 0 ||
        (config.output_type != FASTREDUCE_DEFAULT_TYPE && config.output_type != result) ||
        (has_second &&
         (second_size == 0 || (config.kernel == FASTREDUCE_EXACT && op != FASTREDUCE_VARIANCE)));
    int precision = fastreduce_detail_precision(result);
    launch_options options = {{config.workspace, config.workspace_bytes}, config.stream};

    bool skips_nan() const { return (config.options & FASTREDUCE_SKIP_NAN) != 0; }
    /* Returns the bytes of an offset or an index, or 0 for a type that these cannot have. */
    size_t offset_size() const
    {
        const fastreduce_type asked = config.offset_type;
        return asked == FASTREDUCE_I32                                       ? sizeof(int32_t)
               : asked == FASTREDUCE_I64 || asked == FASTREDUCE_DEFAULT_TYPE ? sizeof(int64_t)
                                                                             : 0;
    }
    /* Returns where so many second results go: nowhere if there are none. */
    buffer second_output(size_t results) const
    {
        return second_size == 0 ? buffer{nullptr, 1, 1, 0}
                                : buffer{config.second_output, second_size, second_size, results};
    }
    /* Returns the output that find_kernels takes. */
    exact_output output_to(void *results) const
    {
        return {results, nullptr, op, precision, every_bit, skips_nan(), config.second_output};
    }
};

/* Returns the settings of a call. */
static call_settings settings_for(const fastreduce_config *given, fastreduce_type type,
                                  fastreduce_operator op)
{
    static const fastreduce_config default_config = {};
    const fastreduce_config &config = given != nullptr ? *given : default_config;
    const fastreduce_type result =
        fastreduce_detail_result_type(type, fastreduce_output_type(type, op), config.output_type,
                                      config.kernel == FASTREDUCE_EXACT);
    return {config, type, result, op};
}

/* Checks that an array, or two of a dot product, may be reduced to the output. */
static fastreduce_status check_arrays(const void *x, const void *y, bool dot, size_t n,
                                      const buffer &output, const call_settings &call)
{
    const size_t size = fastreduce_type_size(call.type), *const count = call.config.n_on_device;
    if (size == 0) return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    return check_arguments({{x, size, size, n},
                            {y, size, size, dot ? n : 0},
                            {count, sizeof *count, sizeof *count, count != nullptr}},
                           {output, call.second_output(output.count)}, call.options.memory);
}

/* Finds a shape's results, and how many elements lie from the first to the last that they have.
 * Returns false where a size does not fit. */
static bool describe_shape(const fastreduce_shape &shape, result_layout *results, size_t *reach)
{
    bool fits = true;
    const auto product = [&fits](size_t a, size_t b) {
        fits = fits && (a == 0 || b <= SIZE_MAX / a);
        return a * b;
    };
    results->n = shape.n;
    results->inner = shape.inner;
    results->stride = shape.stride == 0 ? shape.inner : shape.stride;
    results->outer_stride = shape.outer_stride;
    results->end = product(shape.outer, shape.inner);
    if (results->end == 0) return fits;
    if (shape.outer_stride == 0) results->outer_stride = product(shape.n, results->stride);
    if (shape.n == 0) return fits;
    const size_t to_last_result = product(shape.outer - 1, results->outer_stride),
                 to_last_element = product(shape.n - 1, results->stride);
    *reach = to_last_result + to_last_element + shape.inner;
    return fits && to_last_element <= SIZE_MAX - shape.inner &&
           to_last_result <= SIZE_MAX - shape.inner - to_last_element;
}

/* Returns whether this build has a kernel for an array, or for a dot product. */
static bool has_kernels(fastreduce_type type, fastreduce_operator op, fastreduce_kernel kernel,
                        bool dot)
{
    return find_kernels(type, op, kernel, dot).kernels != nullptr ||
           (has_ladder_kernels && kernel >= FASTREDUCE_V0 && kernel <= FASTREDUCE_V7 && !dot &&
            type == FASTREDUCE_F32 && op == FASTREDUCE_SUM);
}

/* ---- Launches of checked calls ---- */

/* Reduces one array; or two, of a dot product. */
static fastreduce_status reduce_array(const void *x, const void *y, bool dot, void *output,
                                      size_t n, const call_settings &call)
{
    const buffer result = {output, call.result_size, call.result_size};
    if (!call.is_valid) return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    const fastreduce_status status = check_arrays(x, y, dot, n, result, call);
    if (status != FASTREDUCE_SUCCESS) return status;
    if (call.is_unsupported || (dot && call.skips_nan())) return FASTREDUCE_ERROR_UNSUPPORTED;
    const array_argument input = {x, n, call.config.n_on_device, y};
    operator_entry entry =
        find_kernels(call.type, call.op, call.config.kernel, dot, call.output_to(output));
    if (entry.kernels != nullptr)
        return launch(plan_array, *entry.kernels, input, entry.output, call.options);
    if constexpr (has_ladder_kernels)
        if (has_kernels(call.type, call.op, call.config.kernel, dot) &&
            input.n_on_device == nullptr && !call.skips_nan())
            return launch_ladder(ladder_version(call.config.kernel, call.block_size,
                                                std::make_index_sequence<versions * block_sizes>()),
                                 x, output, n, call.options.memory, call.options.stream);
    return FASTREDUCE_ERROR_UNSUPPORTED;
}

/* Reduces to results of any shape: strided ones, of one array or the products of two, or
 * segments. */
static fastreduce_status reduce_results(result_layout results, const void *x, const void *y,
                                        bool dot, void *output, const call_settings &call)
{
    results.input = x;
    if (dot) results.ends = y;
    results.result_bytes = static_cast<unsigned>(call.result_size);
    results.second_bytes = static_cast<unsigned>(call.second_size);
    if (call.config.n_on_device != nullptr || call.is_unsupported || !has_shapes ||
        (dot && call.skips_nan()))
        return FASTREDUCE_ERROR_UNSUPPORTED;
    operator_entry entry =
        find_kernels(call.type, call.op, call.config.kernel, dot, call.output_to(output));
    if (entry.kernels == nullptr) return FASTREDUCE_ERROR_UNSUPPORTED;
    if (!results.are_segments() && results.end == 1 && results.inner == 1 &&
        (results.stride == 1 || results.n == 1)) /* one array */
        return launch(plan_array, *entry.kernels, {x, results.n, nullptr, y}, entry.output,
                      call.options);
    if (entry.launch_exact != nullptr)
        return entry.launch_exact({results, output, call.config.second_output, call.type, call.op,
                                   call.precision, call.skips_nan()},
                                  call.options.memory, call.options.stream);
    return launch(plan_results, *entry.kernels, results, entry.output, call.options);
}

/* Reduces what a shape says of one array, or of two for dot products. */
static fastreduce_status reduce_shape(const void *x, const void *y, bool dot, void *output,
                                      const fastreduce_shape *shape, const call_settings &call)
{
    result_layout results = {};
    size_t reach = 0; /* elements from the first to the last */
    if (shape == nullptr || !call.is_valid || !describe_shape(*shape, &results, &reach))
        return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    if (results.end == 0) return FASTREDUCE_SUCCESS;
    const buffer result = {output, call.result_size, call.result_size, results.end};
    const fastreduce_status status = check_arrays(x, y, dot, reach, result, call);
    return status != FASTREDUCE_SUCCESS ? status : reduce_results(results, x, y, dot, output, call);
}

/* Adds an array, or products of two, to an accumulator. Kernel and block size are not read. */
template <class Accumulator>
static fastreduce_status add_exactly(Accumulator *accumulator, const void *x, const void *y,
                                     bool dot, size_t n, fastreduce_type type,
                                     const fastreduce_config *config,
                                     const kernel_set *kernels = nullptr)
{
    const call_settings call = settings_for(config, type, FASTREDUCE_SUM);
    const fastreduce_status status =
        check_arrays(x, y, dot, n, {accumulator, sizeof *accumulator, sizeof(int64_t)}, call);
    if (status != FASTREDUCE_SUCCESS) return status;
    if (kernels == nullptr)
        kernels = find_kernels(type, FASTREDUCE_SUM, FASTREDUCE_EXACT, dot).kernels;
    if (kernels == nullptr || call.config.options != 0) return FASTREDUCE_ERROR_UNSUPPORTED;
    exact_output output = {nullptr, accumulator->limb};
    return launch(plan_array, *kernels, {x, n, call.config.n_on_device, y}, &output, call.options);
}

/* ---- By index ---- */

/* Returns the kernels for a type, or null where this build has none for the operator. */
template <class Input>
static const index_set *find_index_kernels(fastreduce_operator op, fastreduce_kernel kernel)
{
    constexpr bool is_float = element<Input>::is_float;
    if constexpr (has_exact && is_float) {
        if (kernel == FASTREDUCE_EXACT && op == FASTREDUCE_MEAN)
            return &index_set_of<float_planes<Input, true>>;
        if (kernel == FASTREDUCE_EXACT && (op == FASTREDUCE_SUM || op == FASTREDUCE_SUM_ABS))
            return &index_set_of<float_planes<Input, false>>;
    }
    const bool adds = op == FASTREDUCE_COUNT_NONZERO || (op == FASTREDUCE_SUM && !is_float);
    if (kernel == FASTREDUCE_AUTO && (adds || !launch_of(op).adds))
        return &index_set_of<key_planes<Input>>;
    return nullptr;
}
static const index_set *find_index_set(const call_settings &call)
{
    if (!has_by_index || !holds(built_operators, call.op) || call.is_unsupported ||
        call.has_second || call.skips_nan())
        return nullptr;
    switch (call.type) {
#define FASTREDUCE_DETAIL_CASE(name, text, bytes, input, sum, sum_abs, max_abs, mean) \
    case FASTREDUCE_##name:                                                           \
        if constexpr (has_by_index && holds(built_types, FASTREDUCE_##name))          \
            return find_index_kernels<input>(call.op, call.config.kernel);            \
        break;
        FASTREDUCE_DETAIL_TYPES(FASTREDUCE_DETAIL_CASE)
#undef FASTREDUCE_DETAIL_CASE
    default: break;
    }
    return nullptr;
}

} // namespace detail
} // namespace FASTREDUCE_DETAIL_ABI
} // namespace fastreduce
#ifdef __GNUC__
#pragma GCC visibility pop
#endif

extern "C" {

FASTREDUCE_API fastreduce_status fastreduce_sum_f32(const float *input, float *output, size_t n,
                                                    const fastreduce_config *config)
{
    return fastreduce_reduce(input, output, n, FASTREDUCE_F32, FASTREDUCE_SUM, config);
}

FASTREDUCE_API fastreduce_status fastreduce_reduce(const void *input, void *output, size_t n,
                                                   fastreduce_type type, fastreduce_operator op,
                                                   const fastreduce_config *config)
{
    using namespace fastreduce::detail;
    return reduce_array(input, nullptr, false, output, n, settings_for(config, type, op));
}

FASTREDUCE_API fastreduce_status fastreduce_dot(const void *x, const void *y, void *output,
                                                size_t n, fastreduce_type type,
                                                const fastreduce_config *config)
{
    using namespace fastreduce::detail;
    return reduce_array(x, y, true, output, n, settings_for(config, type, FASTREDUCE_SUM));
}

FASTREDUCE_API fastreduce_status fastreduce_reduce_axis(const void *input, void *output,
                                                        const fastreduce_shape *shape,
                                                        fastreduce_type type,
                                                        fastreduce_operator op,
                                                        const fastreduce_config *config)
{
    using namespace fastreduce::detail;
    return reduce_shape(input, nullptr, false, output, shape, settings_for(config, type, op));
}

FASTREDUCE_API fastreduce_status fastreduce_dot_axis(const void *x, const void *y, void *output,
                                                     const fastreduce_shape *shape,
                                                     fastreduce_type type,
                                                     const fastreduce_config *config)
{
    using namespace fastreduce::detail;
    return reduce_shape(x, y, true, output, shape, settings_for(config, type, FASTREDUCE_SUM));
}

FASTREDUCE_API fastreduce_status fastreduce_reduce_segments(const void *input, void *output,
                                                            size_t segments, const void *offsets,
                                                            fastreduce_type type,
                                                            fastreduce_operator op,
                                                            const fastreduce_config *config)
{
    using namespace fastreduce::detail;
    const call_settings call = settings_for(config, type, op);
    const void *const ends = call.config.end_offsets;
    const size_t size = fastreduce_type_size(type), result_size = call.result_size,
                 offset_size = call.offset_size();
    if (!call.is_valid || offset_size == 0) return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    if (segments == 0) return FASTREDUCE_SUCCESS;
    /* How much input there is, and where, is known on the device alone. */
    const fastreduce_status status = check_arguments(
        {{input, size, size, 0},
         {offsets, offset_size, offset_size, segments + (ends == nullptr)},
         {ends, offset_size, offset_size, ends != nullptr ? segments : 0}},
        {{output, result_size, result_size, segments}, call.second_output(segments)},
        call.options.memory);
    if (status != FASTREDUCE_SUCCESS) return status;
    result_layout results = {};
    results.end = segments;
    results.stride = 1;
    results.offset_bytes = static_cast<unsigned>(offset_size);
    results.begins = offsets;
    results.ends = ends != nullptr ? ends : static_cast<const char *>(offsets) + offset_size;
    return reduce_results(results, input, nullptr, false, output, call);
}

FASTREDUCE_API fastreduce_status fastreduce_fold(const void *const *inputs, size_t count,
                                                 void *output, size_t n, fastreduce_type type,
                                                 fastreduce_operator op,
                                                 const fastreduce_config *config)
{
    using namespace fastreduce::detail;
    const call_settings call = settings_for(config, type, op);
    const buffer result = {output, call.result_size, call.result_size, n};
    buffer_list buffers = {{}, output, count, n, call.result_size, 0, 0, 0};
    if (!call.is_valid || count > most_buffers || (n > 0 && count > 0 && inputs == nullptr))
        return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    if (n == 0) return FASTREDUCE_SUCCESS;
    fastreduce_status status = check_arrays(nullptr, nullptr, false, 0, result, call);
    for (size_t k = 0; k < count && status == FASTREDUCE_SUCCESS; ++k) {
        buffers.input[k] = inputs[k];
        if (inputs[k] != output || type != call.result)
            status = check_arrays(inputs[k], nullptr, false, n, result, call);
    }
    if (status != FASTREDUCE_SUCCESS) return status;
    const fastreduce_shape nothing = {1, 0, n, 0, 0};
    operator_entry entry;
    if (call.config.kernel == FASTREDUCE_AUTO && call.config.n_on_device == nullptr &&
        !call.is_unsupported && !call.skips_nan())
        entry =
            find_kernels<buffers_part>(type, op, FASTREDUCE_AUTO, false, call.output_to(output));
    if (entry.kernels == nullptr) return FASTREDUCE_ERROR_UNSUPPORTED;
    if (count == 0) return fastreduce_reduce_axis(nullptr, output, &nothing, type, op, config);
    return launch(plan_buffers, *entry.kernels, buffers, entry.output, call.options);
}

FASTREDUCE_API fastreduce_status fastreduce_reduce_by_index(const void *input, const void *index,
                                                            void *output, size_t n, size_t bins,
                                                            fastreduce_type type,
                                                            fastreduce_operator op,
                                                            const fastreduce_config *config)
{
    using namespace fastreduce::detail;
    const call_settings call = settings_for(config, type, op);
    const size_t size = fastreduce_type_size(type), *const count = call.config.n_on_device,
                 index_size = call.offset_size();
    const bool has_input = input != nullptr || op != FASTREDUCE_COUNT_NONZERO;
    if (!call.is_valid || index_size == 0) return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    if (bins == 0) return FASTREDUCE_SUCCESS;
    const fastreduce_status status = check_arguments(
        {{input, size, size, has_input ? n : 0},
         {index, index_size, index_size, n},
         {count, sizeof *count, sizeof *count, count != nullptr}},
        {{output, call.result_size, call.result_size, bins}, call.second_output(bins)},
        call.options.memory);
    if (status != FASTREDUCE_SUCCESS) return status;
    const index_set *const set = find_index_set(call);
    if (set == nullptr) return FASTREDUCE_ERROR_UNSUPPORTED;
    index_launch launch = launch_of(op);
    launch.input = input;
    launch.index = index;
    launch.n_on_device = count;
    launch.bins = bins;
    launch.output = output;
    launch.index_bytes = static_cast<unsigned>(index_size);
    launch.result_bytes = static_cast<unsigned>(call.result_size);
    launch.precision = call.precision;
    launch.in_vectors = aligned(input, pack_bytes) && aligned(index, pack_bytes);
    launch.is_packed = launch.finds_indices && size <= sizeof(int32_t) && n <= every_bit;
    return set->workspace_bytes(bins, launch.finds_indices) == 0
               ? FASTREDUCE_ERROR_INVALID_ARGUMENT
               : launch_by_index(*set, launch, n, call.options);
}

FASTREDUCE_API size_t fastreduce_by_index_workspace_bytes(size_t bins, fastreduce_type type,
                                                          fastreduce_operator op,
                                                          const fastreduce_config *config)
{
    using namespace fastreduce::detail;
    const call_settings call = settings_for(config, type, op);
    const index_set *const set = call.is_valid ? find_index_set(call) : nullptr;
    return set == nullptr || bins == 0 ? 0
                                       : set->workspace_bytes(bins, launch_of(op).finds_indices);
}

FASTREDUCE_API int fastreduce_supports(fastreduce_type type, fastreduce_operator op,
                                       fastreduce_kernel kernel)
{
    return fastreduce::detail::has_kernels(type, op, kernel, false);
}

FASTREDUCE_API int fastreduce_supports_shapes(fastreduce_type type, fastreduce_operator op,
                                              fastreduce_kernel kernel)
{
    return fastreduce::detail::has_shapes &&
           (kernel == FASTREDUCE_AUTO || kernel == FASTREDUCE_EXACT) &&
           fastreduce_supports(type, op, kernel);
}

FASTREDUCE_API int fastreduce_supports_dot(fastreduce_type type, fastreduce_kernel kernel)
{
    return fastreduce::detail::has_kernels(type, FASTREDUCE_SUM, kernel, true);
}

FASTREDUCE_API size_t fastreduce_workspace_bytes(size_t n, const fastreduce_config *config)
{
    using namespace fastreduce::detail;
    const call_settings call = settings_for(config, FASTREDUCE_F32, FASTREDUCE_SUM);
    if (!call.is_valid || n > SIZE_MAX / sizeof(float)) return 0;
    switch (call.config.kernel) {
    case FASTREDUCE_AUTO: return fastreduce::workspace_bytes<FASTREDUCE_AUTO>(n);
    case FASTREDUCE_EXACT: return has_exact ? fastreduce::workspace_bytes<FASTREDUCE_EXACT>(n) : 0;
    default:
        if (!has_ladder) return 0;
        const size_t items = fastreduce::default_items(call.config.kernel);
        return plan_ladder(n, call.block_size * items, sizeof(float)).workspace_bytes;
    }
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

FASTREDUCE_API fastreduce_status fastreduce_accumulate(const void *input,
                                                       fastreduce_accumulator *accumulator,
                                                       size_t n, fastreduce_type type,
                                                       const fastreduce_config *config)
{
    if (type == FASTREDUCE_F64) return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    using namespace fastreduce::detail;
    return add_exactly(accumulator, input, nullptr, false, n, type, config);
}

FASTREDUCE_API fastreduce_status fastreduce_accumulate_f64(const double *input,
                                                           fastreduce_wide_accumulator *accumulator,
                                                           size_t n,
                                                           const fastreduce_config *config)
{
    using namespace fastreduce::detail;
    return add_exactly(accumulator, input, nullptr, false, n, FASTREDUCE_F64, config);
}

FASTREDUCE_API fastreduce_status fastreduce_accumulate_dot(const void *x, const void *y,
                                                           fastreduce_wide_accumulator *accumulator,
                                                           size_t n, fastreduce_type type,
                                                           const fastreduce_config *config)
{
    if (type == FASTREDUCE_F64) return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    using namespace fastreduce::detail;
    return add_exactly(accumulator, x, y, true, n, type, config);
}

FASTREDUCE_API fastreduce_status fastreduce_accumulate_dot_f64(
    const double *x, const double *y, fastreduce_product_accumulator *accumulator, size_t n,
    const fastreduce_config *config)
{
    using namespace fastreduce::detail;
    return add_exactly(accumulator, x, y, true, n, FASTREDUCE_F64, config);
}

FASTREDUCE_API fastreduce_status fastreduce_accumulate_f32(const float *input,
                                                           fastreduce_accumulator *accumulator,
                                                           size_t n,
                                                           const fastreduce_config *config)
{
    using namespace fastreduce::detail;
    const kernel_set *kernels = nullptr; /* whatever FASTREDUCE_TYPES says */
#ifndef FASTREDUCE_NO_EXACT
    kernels = &exact_kernels_of<exact_sum<float>>;
#endif
    return add_exactly(accumulator, input, nullptr, false, n, FASTREDUCE_F32, config, kernels);
}

/* clang-format off */
FASTREDUCE_DETAIL_PLAIN(sum_f32) FASTREDUCE_DETAIL_PLAIN(reduce)
FASTREDUCE_DETAIL_PLAIN(reduce_axis) FASTREDUCE_DETAIL_PLAIN(reduce_segments)
FASTREDUCE_DETAIL_PLAIN(dot) FASTREDUCE_DETAIL_PLAIN(dot_axis)
FASTREDUCE_DETAIL_PLAIN(supports) FASTREDUCE_DETAIL_PLAIN(supports_shapes)
FASTREDUCE_DETAIL_PLAIN(supports_dot)
FASTREDUCE_DETAIL_PLAIN(workspace_bytes) FASTREDUCE_DETAIL_PLAIN(workspace_init)
FASTREDUCE_DETAIL_PLAIN(accumulate_f32) FASTREDUCE_DETAIL_PLAIN(accumulate)
FASTREDUCE_DETAIL_PLAIN(accumulate_f64) FASTREDUCE_DETAIL_PLAIN(accumulate_dot)
FASTREDUCE_DETAIL_PLAIN(accumulate_dot_f64) FASTREDUCE_DETAIL_PLAIN(fold)
FASTREDUCE_DETAIL_PLAIN(reduce_by_index) FASTREDUCE_DETAIL_PLAIN(by_index_workspace_bytes)
/* clang-format on */

} /* extern "C" */
#endif /* FASTREDUCE_IMPLEMENTATION */

/* Revisions are at the end of fastreduce.h.
 *
 * MIT License. Copyright (c) 2026 The FastReduce authors
 *
 * Permission is hereby granted, free of charge, to any person obtaining a copy of this software and
 * associated documentation files (the "Software"), to deal in the Software without restriction,
 * including without limitation the rights to use, copy, modify, merge, publish, distribute,
 * sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is
 * furnished to do so, subject to the following conditions:
 *
 * The above copyright notice and this permission notice shall be included in all copies or
 * substantial portions of the Software.
 *
 * THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT
 * NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND
 * NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM,
 * DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM,
 * OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
 */

/* FastReduce: parallel reduction for CUDA in two files. This one is plain C99 and needs no CUDA
 * header.
 *
 * SPDX-License-Identifier: MIT (the text is at the end)
 *
 * Vendoring. Copy fastreduce.h and fastreduce.cuh into your project. For the GPU, exactly one .cu
 * file says
 *
 *     #define FASTREDUCE_IMPLEMENTATION
 *     #include "fastreduce.cuh"
 *
 * and everything else, C or C++, includes this header. Without CUDA, exactly one .c file says
 *
 *     #define FASTREDUCE_HOST_IMPLEMENTATION
 *     #include "fastreduce.h"
 *
 * and gets exact sums and AUTO's results on the CPU, the accumulators, and names of statuses. A
 * program may contain both: the linker keeps one definition of each function, and only the text
 * for a cudaError_t differs. On Windows the .c file then defines FASTREDUCE_STATIC, too.
 *
 * Macros of this header, defined before its first include:
 *
 *   FASTREDUCE_HOST_IMPLEMENTATION  defines the host functions here. Scope: one .c or .cpp file.
 *   FASTREDUCE_STATIC               makes every function `static`, so that several files may each
 *                                   contain a copy. Files without an implementation cannot call
 *                                   them. Scope: the files that contain a copy. Default: off.
 *   FASTREDUCE_API                  stands before each declaration, for example a visibility
 *                                   attribute. Scope: the same in every file that includes this
 *                                   one. Default: `extern`, or `static` with FASTREDUCE_STATIC.
 *   FASTREDUCE_SUFFIX               ends the functions' names in object files. By default it is the
 *                                   version, as in _0_8_0, so that two versions can be linked into
 *                                   one program. ELF objects also have the plain names, as weak
 *                                   symbols, for other languages, dlsym and ctypes. Empty, it
 *                                   leaves these alone (-DFASTREDUCE_SUFFIX=). Choose your own if
 *                                   copies differ in other macros. Scope: as of FASTREDUCE_API.
 *
 * fastreduce.cuh lists the macros that concern the GPU.
 *
 * Windows is untested. Objects there have no weak functions and no plain names, so a program has
 * one definition or uses FASTREDUCE_STATIC. FASTREDUCE_API has to export functions of a DLL.
 *
 * Promises that hold for every function, unless its comment says otherwise:
 *   - it does not print, abort, throw, synchronise or change the current device,
 *     and has no observable state;
 *   - it may be called from any number of threads at once;
 *   - when it returns an error of ours (a negative status), output and workspace have not been
 *     touched. A cudaError_t (a positive status) may come after a launch: then the output is
 *     unspecified, and a workspace of the caller's must be initialised again before its next use.
 */
#ifndef FASTREDUCE_H
#define FASTREDUCE_H

#if !defined(__cplusplus) && (!defined(__STDC_VERSION__) || __STDC_VERSION__ < 199901L)
#ifdef _MSC_VER
#error "fastreduce.h needs C99 or later: compile with /std:c11"
#else
#error "fastreduce.h needs C99 or later: compile with -std=c99"
#endif
#endif

#ifndef __CUDACC_RTC__
#include <stddef.h>
#include <stdint.h>
#elif !defined(INT64_MAX)
/* NVRTC, which compiles kernels at run time, has no headers. These are the types that libcu++ gives
 * it. */
typedef unsigned uint32_t;
typedef long long int64_t;
typedef unsigned long long uint64_t, uintptr_t;
#endif

#define FASTREDUCE_VERSION_MAJOR 0
#define FASTREDUCE_VERSION_MINOR 8
#define FASTREDUCE_VERSION_PATCH 0
/* One number that grows with every release: 10000 * major + 100 * minor + patch. */
#define FASTREDUCE_VERSION \
    (10000 * FASTREDUCE_VERSION_MAJOR + 100 * FASTREDUCE_VERSION_MINOR + FASTREDUCE_VERSION_PATCH)
/* Compatibility between versions; the revisions at the end list the breaks. API: a patch keeps it.
 * Before 1.0.0 a minor version may change it. New versions may add functions, enumerators, and
 * members at the end of fastreduce_config, where zero keeps the old behaviour. ABI: not promised,
 * so callers are compiled with the header of the copy that they call. The linker checks that, as
 * functions' names end in the version (FASTREDUCE_SUFFIX). Callers of plain names ask
 * fastreduce_version(). Accumulators are the same in all versions, so they can be stored and sent.
 * Bits: EXACT's are those of the true result in every version. V0..V7 keep their trees. */

#ifndef FASTREDUCE_API
#ifndef FASTREDUCE_STATIC
#define FASTREDUCE_API extern
#elif defined(__GNUC__) || defined(__clang__)
#define FASTREDUCE_API __attribute__((unused)) static
#else
#define FASTREDUCE_API static
#endif
#endif

/* The functions' names in object files */
#define FASTREDUCE_DETAIL_VERSIONED(major, minor, patch) _##major##_##minor##_##patch
#define FASTREDUCE_DETAIL_VERSION(major, minor, patch) \
    FASTREDUCE_DETAIL_VERSIONED(major, minor, patch)
#ifndef FASTREDUCE_SUFFIX
#define FASTREDUCE_DETAIL_DEFAULT_SUFFIX
#define FASTREDUCE_SUFFIX                                                         \
    FASTREDUCE_DETAIL_VERSION(FASTREDUCE_VERSION_MAJOR, FASTREDUCE_VERSION_MINOR, \
                              FASTREDUCE_VERSION_PATCH)
#endif
#define FASTREDUCE_DETAIL_JOINED(name, suffix) name##suffix
#define FASTREDUCE_DETAIL_JOIN(name, suffix) FASTREDUCE_DETAIL_JOINED(name, suffix)
#define FASTREDUCE_DETAIL_SYMBOL(name) FASTREDUCE_DETAIL_JOIN(fastreduce_##name, FASTREDUCE_SUFFIX)
#define FASTREDUCE_DETAIL_QUOTED(name) #name
#define FASTREDUCE_DETAIL_QUOTE(name) FASTREDUCE_DETAIL_QUOTED(name)
#if defined(FASTREDUCE_DETAIL_DEFAULT_SUFFIX) && defined(__ELF__) && !defined(FASTREDUCE_STATIC)
/* A second, plain name for the function fastreduce_name, which is defined above it */
#define FASTREDUCE_DETAIL_PLAIN(name)                                    \
    FASTREDUCE_API __typeof__(fastreduce_##name) FASTREDUCE_DETAIL_JOIN( \
        fastreduce_##name, _plain) __asm__("fastreduce_" #name)          \
        __attribute__((weak, nothrow, alias(FASTREDUCE_DETAIL_QUOTE(fastreduce_##name))));
#else
#define FASTREDUCE_DETAIL_PLAIN(name)
#endif
#define fastreduce_status_string FASTREDUCE_DETAIL_SYMBOL(status_string)
#define fastreduce_version FASTREDUCE_DETAIL_SYMBOL(version)
#define fastreduce_kernel_name FASTREDUCE_DETAIL_SYMBOL(kernel_name)
#define fastreduce_type_name FASTREDUCE_DETAIL_SYMBOL(type_name)
#define fastreduce_operator_name FASTREDUCE_DETAIL_SYMBOL(operator_name)
#define fastreduce_type_size FASTREDUCE_DETAIL_SYMBOL(type_size)
#define fastreduce_output_type FASTREDUCE_DETAIL_SYMBOL(output_type)
#define fastreduce_second_type FASTREDUCE_DETAIL_SYMBOL(second_type)
#define fastreduce_sum_f32 FASTREDUCE_DETAIL_SYMBOL(sum_f32)
#define fastreduce_reduce FASTREDUCE_DETAIL_SYMBOL(reduce)
#define fastreduce_reduce_axis FASTREDUCE_DETAIL_SYMBOL(reduce_axis)
#define fastreduce_reduce_segments FASTREDUCE_DETAIL_SYMBOL(reduce_segments)
#define fastreduce_fold FASTREDUCE_DETAIL_SYMBOL(fold)
#define fastreduce_reduce_by_index FASTREDUCE_DETAIL_SYMBOL(reduce_by_index)
#define fastreduce_by_index_workspace_bytes FASTREDUCE_DETAIL_SYMBOL(by_index_workspace_bytes)
#define fastreduce_dot FASTREDUCE_DETAIL_SYMBOL(dot)
#define fastreduce_dot_axis FASTREDUCE_DETAIL_SYMBOL(dot_axis)
#define fastreduce_supports FASTREDUCE_DETAIL_SYMBOL(supports)
#define fastreduce_supports_shapes FASTREDUCE_DETAIL_SYMBOL(supports_shapes)
#define fastreduce_supports_dot FASTREDUCE_DETAIL_SYMBOL(supports_dot)
#define fastreduce_workspace_bytes FASTREDUCE_DETAIL_SYMBOL(workspace_bytes)
#define fastreduce_workspace_init FASTREDUCE_DETAIL_SYMBOL(workspace_init)
#define fastreduce_accumulate_f32 FASTREDUCE_DETAIL_SYMBOL(accumulate_f32)
#define fastreduce_accumulate FASTREDUCE_DETAIL_SYMBOL(accumulate)
#define fastreduce_accumulate_f64 FASTREDUCE_DETAIL_SYMBOL(accumulate_f64)
#define fastreduce_accumulate_dot FASTREDUCE_DETAIL_SYMBOL(accumulate_dot)
#define fastreduce_accumulate_dot_f64 FASTREDUCE_DETAIL_SYMBOL(accumulate_dot_f64)
#define fastreduce_accumulator_merge FASTREDUCE_DETAIL_SYMBOL(accumulator_merge)
#define fastreduce_accumulator_f32 FASTREDUCE_DETAIL_SYMBOL(accumulator_f32)
#define fastreduce_accumulator_f64 FASTREDUCE_DETAIL_SYMBOL(accumulator_f64)
#define fastreduce_host_accumulate_f32 FASTREDUCE_DETAIL_SYMBOL(host_accumulate_f32)
#define fastreduce_host_sum_f32 FASTREDUCE_DETAIL_SYMBOL(host_sum_f32)
#define fastreduce_host_reduce FASTREDUCE_DETAIL_SYMBOL(host_reduce)
#define fastreduce_host_dot FASTREDUCE_DETAIL_SYMBOL(host_dot)
#define fastreduce_host_pairwise FASTREDUCE_DETAIL_SYMBOL(host_pairwise)
#define fastreduce_reduce_on_host FASTREDUCE_DETAIL_SYMBOL(reduce_on_host)
#define fastreduce_host_pairwise_dot FASTREDUCE_DETAIL_SYMBOL(host_pairwise_dot)
#define fastreduce_host_sum_f64 FASTREDUCE_DETAIL_SYMBOL(host_sum_f64)
#define fastreduce_host_dot_f32 FASTREDUCE_DETAIL_SYMBOL(host_dot_f32)
#define fastreduce_host_accumulate FASTREDUCE_DETAIL_SYMBOL(host_accumulate)
#define fastreduce_host_accumulate_f64 FASTREDUCE_DETAIL_SYMBOL(host_accumulate_f64)
#define fastreduce_host_accumulate_dot FASTREDUCE_DETAIL_SYMBOL(host_accumulate_dot)
#define fastreduce_host_accumulate_dot_f64 FASTREDUCE_DETAIL_SYMBOL(host_accumulate_dot_f64)
#define fastreduce_wide_accumulator_merge FASTREDUCE_DETAIL_SYMBOL(wide_accumulator_merge)
#define fastreduce_wide_accumulator_f32 FASTREDUCE_DETAIL_SYMBOL(wide_accumulator_f32)
#define fastreduce_wide_accumulator_f64 FASTREDUCE_DETAIL_SYMBOL(wide_accumulator_f64)
#define fastreduce_product_accumulator_merge FASTREDUCE_DETAIL_SYMBOL(product_accumulator_merge)
#define fastreduce_product_accumulator_f64 FASTREDUCE_DETAIL_SYMBOL(product_accumulator_f64)

/* ---- Statuses -------------------------------------------------------------------------------- */

/* 0 is success, a negative number one of the errors below, and a positive one a cudaError_t that
 * the CUDA runtime has returned. */
typedef int fastreduce_status;

enum {
    FASTREDUCE_SUCCESS = 0,
    /* A pointer is null or misaligned, or arrays overlap; there is no such kernel, block size, type
     * or operator; or an array or a shape would reach past the end of the address space. */
    FASTREDUCE_ERROR_INVALID_ARGUMENT = -1,
    /* This kernel or build does not have it, or one launch cannot have as many blocks. */
    FASTREDUCE_ERROR_UNSUPPORTED = -2,
    /* config->workspace_bytes is less than the call needs. */
    FASTREDUCE_ERROR_WORKSPACE_TOO_SMALL = -3,
    /* There is no CUDA device or no driver, or the driver is too old for this build's runtime. */
    FASTREDUCE_ERROR_NO_DEVICE = -4
};

/* ---- Kernels --------------------------------------------------------------------------------- */

typedef enum fastreduce_kernel {
    FASTREDUCE_AUTO = 0, /* the fastest: in pairs by index, one launch, the same bits on any GPU */
    FASTREDUCE_V0,       /* baseline: interleaved addressing, divergent warps */
    FASTREDUCE_V1,       /* no divergence: strided index, bank conflicts */
    FASTREDUCE_V2,       /* no bank conflicts: sequential addressing */
    FASTREDUCE_V3,       /* add during load: two elements a thread */
    FASTREDUCE_V4,       /* unroll the last warp */
    FASTREDUCE_V5,       /* completely unrolled: the block size is a constant */
    FASTREDUCE_V6,       /* multi add: FASTREDUCE_ITEMS_PER_THREAD elements a thread */
    FASTREDUCE_V7,       /* warp shuffle */
    FASTREDUCE_EXACT     /* the correctly rounded sum, the same bits everywhere, in one launch */
} fastreduce_kernel;

/* ---- Element types and operators ------------------------------------------------------------- */

#if defined(FASTREDUCE_F32) || defined(FASTREDUCE_F64) || defined(FASTREDUCE_F16) ||        \
    defined(FASTREDUCE_BF16) || defined(FASTREDUCE_I8) || defined(FASTREDUCE_I16) ||        \
    defined(FASTREDUCE_I32) || defined(FASTREDUCE_I64) || defined(FASTREDUCE_U8) ||         \
    defined(FASTREDUCE_U16) || defined(FASTREDUCE_U32) || defined(FASTREDUCE_U64) ||        \
    defined(FASTREDUCE_SUM) || defined(FASTREDUCE_PRODUCT) || defined(FASTREDUCE_MIN) ||    \
    defined(FASTREDUCE_MAX) || defined(FASTREDUCE_ARGMIN) || defined(FASTREDUCE_ARGMAX) ||  \
    defined(FASTREDUCE_SUM_ABS) || defined(FASTREDUCE_SUM_SQUARES) ||                       \
    defined(FASTREDUCE_MAX_ABS) || defined(FASTREDUCE_NORM2) || defined(FASTREDUCE_MEAN) || \
    defined(FASTREDUCE_VARIANCE) || defined(FASTREDUCE_COUNT_NONZERO) ||                    \
    defined(FASTREDUCE_MIN_MAX) || defined(FASTREDUCE_ARGMAX_ABS)
#error "nvcc splits -DFASTREDUCE_TYPES=A,B at the comma: write A+B, and so for FASTREDUCE_OPERATORS"
#endif

typedef enum fastreduce_type {
    FASTREDUCE_DEFAULT_TYPE = 0, /* as output_type: what fastreduce_output_type says */
    FASTREDUCE_F32,
    FASTREDUCE_F64,
    FASTREDUCE_F16,  /* IEEE 754 binary16, CUDA's __half */
    FASTREDUCE_BF16, /* the upper half of a float, CUDA's __nv_bfloat16 */
    FASTREDUCE_I8,
    FASTREDUCE_I16,
    FASTREDUCE_I32,
    FASTREDUCE_I64,
    FASTREDUCE_U8,
    FASTREDUCE_U16,
    FASTREDUCE_U32,
    FASTREDUCE_U64
} fastreduce_type;

/* What is computed, and the type of the result:
 *
 *                        f16, bf16, f32   f64        signed integers     unsigned integers
 *   SUM, PRODUCT         f32              f64        i64, modulo 2^64    u64, modulo 2^64
 *   MIN, MAX, MIN_MAX    the type         the type   the type            the type
 *   ARGMIN, ARGMAX,
 *     ARGMAX_ABS         i64              i64        i64                 i64
 *   SUM_ABS, SUM_SQUARES f32              f64        u64, modulo 2^64    u64, modulo 2^64
 *   MAX_ABS              the type         the type   the unsigned type   the type
 *   NORM2, MEAN, VARIANCE f32             f64        f64                 f64
 *   COUNT_NONZERO        u64              u64        u64                 u64
 *
 * NaN: MIN, MAX, MIN_MAX and MAX_ABS are NaN if an element is; ARGMIN, ARGMAX and ARGMAX_ABS give
 * the index of the first NaN; COUNT_NONZERO counts NaNs. NORM2 and MEAN follow IEEE arithmetic, so
 * a NaN and an infinity give NaN. VARIANCE is NaN if an element is NaN or infinite. In MIN, MAX and
 * MIN_MAX -0 is less than +0; in ARGMIN, ARGMAX and ARGMAX_ABS they are equal. MAX_ABS and
 * ARGMAX_ABS take magnitudes of integers as unsigned: the least one of a type has the greatest.
 *
 * Some operators write a second result, too (config->second_output), from the same read. Its type
 * is fastreduce_second_type(type, op). Without second_output only the result is written.
 *
 *                        the result      the second result
 *   MIN_MAX              that of MIN     that of MAX
 *   ARGMIN, ARGMAX,
 *     ARGMAX_ABS         the index       the element there, with its sign; of no elements 0
 *   VARIANCE             the variance    the mean; of no elements NaN
 *
 * AUTO's mean beside a variance has not the bits of MEAN (below). It does not overflow where MEAN's
 * sum would. If an element is infinite it is infinite or NaN. EXACT's has the bits of EXACT's MEAN.
 *
 * Accuracy: 16-bit floats are added as floats. MEAN of integers is their exact sum, rounded,
 * divided by n. NORM2 neither overflows nor loses anything to underflow if the result fits its
 * type. VARIANCE adds, in one pass, differences from the first element and their squares, which
 * have to fit a double. Its relative error is about d^2 * 2^-52, where the first element is d
 * standard deviations from the mean, sqrt(n) at most. For 16 and 32-bit floats some 1e-6 are added,
 * as packs are summed as floats.
 *
 * If a partial result of finite elements overflows, the result is infinite or NaN. PRODUCT of 1e30,
 * 1e30, 1e-30, 1e-30 as f32 may be infinite, zero or NaN, as pairs are multiplied first: use f64,
 * or scale the elements. For SUM or MEAN use f64 or FASTREDUCE_EXACT, whose final result alone can
 * overflow. If the squares of VARIANCE add up past DBL_MAX, scale the elements.
 *
 * AUTO's bits are those of pairwise() (at fastreduce_sum_f32) over the leaves below, in float, or
 * for f64 in double. Each operation rounds by itself, also with -use_fast_math; none is fused but
 * fma().
 *
 *   SUM, PRODUCT, SUM_ABS, SUM_SQUARES, dot products   leaves x, x, |x|, x * x, x * y
 *   MEAN              (double)SUM / (double)n, rounded to the result's type
 *   NORM2, f16        sqrt((double)SUM_SQUARES)
 *   NORM2, bf16, f32  sqrt(s), where s is pairwise() in double over packs of 16 bytes. The first
 *                     pack begins at input[0], and zeros fill up the last. A pack's leaf is
 *                         F = pairwise(x * x) in float;
 *                         (F < 1e-25f && some x != 0) || F > 1e38f ? pairwise(x * x) in double : F
 *   NORM2, f64        sqrt(q) * 2^(600 b), where (q, b) is the result over the leaves
 *                         q = x * x; if (2^-900 <= q && q <= 2^900 || isnan(q)) return (q, 0);
 *                         b = q > 1 ? 1 : -1; y = x * 2^(-600 b); return (y * y, b);
 *                     Two of the same b add their q. Otherwise (q, b) has the higher b:
 *                         (q, b) + (r, c) = (fma(r * 2^-600, 2^-600, q), b)
 *   NORM2, integers   sqrt(s), leaves (double)x * (double)x; of 8 bits, s is the exact sum
 *   VARIANCE          v = fma(-sum, sum / n, squares) / n; v <= 0 ? +0 : v (squares underflow).
 *                     (sum, squares) is pairwise() in double over the leaves
 *                         d = x - input[0], of 64-bit integers rounded once; return (d, d * d);
 *                     f16, bf16, f32: over packs, as above, but input[0] fills up the last. Of the
 *                     pack's s elements o is the first, S = pairwise(x - o) and
 *                     Q = pairwise((x - o) * (x - o)), in float. The pack's leaf, in double, is
 *                         by = o - input[0]; sum = fma(s, by, S);
 *                         return (sum, fma(by, sum + S, Q));
 *                     If Q is +infinity, it is pairwise() of the elements' (d, d * d) instead.
 *                     The mean is (double)input[0] + sum / n, rounded to its type.
 *
 * All else is exact or rounded once. A row, a column or a segment has the same bits.
 *
 * Shards: cut the elements into shards of 2^k each, of which the last may be shorter. Reduce each
 * one by AUTO, on any GPU or CPU. Reduce these partial results, in order, by one more call of AUTO.
 * It gives the bits of AUTO's result of the whole, for any k and any number of shards from 1 on.
 *
 * The second call is SUM for SUM, SUM_ABS, SUM_SQUARES, COUNT_NONZERO and dot products. It is MAX
 * for MAX_ABS, and the same operator for PRODUCT, MIN and MAX. Results of MIN_MAX take MIN, and its
 * second results MAX. The elements of the second call have the type of the partial results, as in
 * the table above: f32 for sums of 16-bit floats, which must not be rounded to 16 bits between the
 * calls. The length of shards matters only where floats are added or multiplied. Shards without
 * elements, at the end, turn a sum of -0 alone into +0, and change nothing else.
 *
 * MEAN, NORM2, VARIANCE and indices have no such second call. But MEAN is (double)s / (double)n,
 * rounded to its type, where s is SUM by shards and n counts all elements. For integers s must not
 * overflow. EXACT has accumulators instead. */
typedef enum fastreduce_operator {
    FASTREDUCE_SUM = 0,       /* of no elements: 0 */
    FASTREDUCE_PRODUCT,       /* 1 */
    FASTREDUCE_MIN,           /* the type's greatest value; of floats, infinity */
    FASTREDUCE_MAX,           /* the type's least value; of floats, -infinity */
    FASTREDUCE_ARGMIN,        /* index of the least element, the first of several; -1 */
    FASTREDUCE_ARGMAX,        /* -1 */
    FASTREDUCE_SUM_ABS,       /* of magnitudes; 0 */
    FASTREDUCE_SUM_SQUARES,   /* 0 */
    FASTREDUCE_MAX_ABS,       /* 0 */
    FASTREDUCE_NORM2,         /* square root of the sum of squares; 0 */
    FASTREDUCE_MEAN,          /* NaN */
    FASTREDUCE_VARIANCE,      /* mean square of the distance from the mean; NaN */
    FASTREDUCE_COUNT_NONZERO, /* 0 */
    FASTREDUCE_MIN_MAX,       /* the result of MIN; that of MAX is the second result */
    FASTREDUCE_ARGMAX_ABS     /* index of the greatest magnitude, the first of several; -1 */
} fastreduce_operator;

/* The types and the operators as X-macros: X(name, text, bytes, C++ type, results of SUM, SUM_ABS,
 * MAX_ABS, MEAN) and X(name, text, C++ operator, which of these results). */
/* clang-format off */
#define FASTREDUCE_DETAIL_TYPES(X)                              \
    X(F32,  "f32",  4, float,              F32, F32, F32,  F32) \
    X(F64,  "f64",  8, double,             F64, F64, F64,  F64) \
    X(F16,  "f16",  2, f16,                F32, F32, F16,  F32) \
    X(BF16, "bf16", 2, bf16,               F32, F32, BF16, F32) \
    X(I8,   "i8",   1, signed char,        I64, U64, U8,   F64) \
    X(I16,  "i16",  2, short,              I64, U64, U16,  F64) \
    X(I32,  "i32",  4, int,                I64, U64, U32,  F64) \
    X(I64,  "i64",  8, long long,          I64, U64, U64,  F64) \
    X(U8,   "u8",   1, unsigned char,      U64, U64, U8,   F64) \
    X(U16,  "u16",  2, unsigned short,     U64, U64, U16,  F64) \
    X(U32,  "u32",  4, unsigned,           U64, U64, U32,  F64) \
    X(U64,  "u64",  8, unsigned long long, U64, U64, U64,  F64)
#define FASTREDUCE_DETAIL_OPERATORS(X)                        \
    X(SUM,           "sum",           plus,          facts->of_sum)  \
    X(PRODUCT,       "product",       multiplies,    facts->of_sum)  \
    X(MIN,           "min",           minimum,       type)    \
    X(MAX,           "max",           maximum,       type)    \
    X(ARGMIN,        "argmin",        argmin,        FASTREDUCE_I64) \
    X(ARGMAX,        "argmax",        argmax,        FASTREDUCE_I64) \
    X(SUM_ABS,       "sum_abs",       sum_abs,       facts->of_sum_abs) \
    X(SUM_SQUARES,   "sum_squares",   sum_squares,   facts->of_sum_abs) \
    X(MAX_ABS,       "max_abs",       max_abs,       facts->of_max_abs) \
    X(NORM2,         "norm2",         norm2,         facts->of_mean) \
    X(MEAN,          "mean",          mean,          facts->of_mean) \
    X(VARIANCE,      "variance",      variance,      facts->of_mean) \
    X(COUNT_NONZERO, "count_nonzero", count_nonzero, FASTREDUCE_U64) \
    X(MIN_MAX,       "min_max",       min_max,       type)    \
    X(ARGMAX_ABS,    "argmax_abs",    argmax_abs,    FASTREDUCE_I64)
/* clang-format on */

/* ---- Configuration --------------------------------------------------------------------------- */

struct CUstream_st;
typedef struct CUstream_st *fastreduce_stream; /* the same type as cudaStream_t */

/* How to reduce. All zeros ({0} in C, {} in C++), or a null pointer, are the defaults. */
typedef struct fastreduce_config {
    fastreduce_kernel kernel;
    unsigned block_size; /* threads a block: 32 to 1024, a power of two; 0: FASTREDUCE_BLOCK_SIZE */
    void *workspace;     /* device memory aligned to 16 bytes; null: memory of the stream's pool */
    size_t workspace_bytes;   /* size of workspace; ignored where workspace is null */
    fastreduce_stream stream; /* null: the default stream */
    /* Null, or a pointer to the number of elements in device memory, aligned to 8 bytes, outside
     * output and workspace. AUTO and EXACT read it when they run, and reduce that many, at most n.
     * So each replay of a graph may have its own number. V0..V7: UNSUPPORTED. */
    const size_t *n_on_device;
    /* The result's type: FASTREDUCE_DEFAULT_TYPE (0), or what fastreduce_output_type says. Where
     * that is f32, AUTO and EXACT of f16 also take FASTREDUCE_F16, and those of bf16
     * FASTREDUCE_BF16; EXACT takes FASTREDUCE_F64, too. EXACT rounds the true result once to that
     * type. AUTO rounds its float once more, to nearest, ties to even; NaN stays NaN, and what is
     * too large becomes an infinity. All else is UNSUPPORTED. */
    fastreduce_type output_type;
    /* offset_type is the type of the offsets of fastreduce_reduce_segments, or of the indices of
     * fastreduce_reduce_by_index: I64 (or FASTREDUCE_DEFAULT_TYPE) or I32. end_offsets is for
     * fastreduce_reduce_segments alone: null if each segment ends where the next one begins, or
     * else an array of their ends in device memory, of that type. */
    fastreduce_type offset_type;
    const void *end_offsets;
    /* Null, or an array for the second results (fastreduce_operator), one for each result. Their
     * type is fastreduce_second_type(type, op), whatever output_type is. Memory and alignment are
     * as for the output. It must not overlap the output, the workspace or what the call reads.
     * UNSUPPORTED if the operator has no second result, as in sums, dot products, fastreduce_fold
     * and V0..V7. EXACT has one of VARIANCE only. fastreduce_accumulate and its like do not read
     * it. */
    void *second_output;
    /* 0, or FASTREDUCE_SKIP_NAN; other bits are UNSUPPORTED. */
    unsigned options;
} fastreduce_config;

enum {
    /* An option: floats are reduced as if NaNs were not there, by AUTO and EXACT. Integers have
     * none. If all elements are NaN the result is that of no elements. MEAN and VARIANCE divide by
     * the number of the elements that are left. Indices count all elements.
     *
     * AUTO's bits are those at fastreduce_operator, with +0 in the place of each NaN, for PRODUCT
     * with 1. For VARIANCE it is input[0], or +0 if that is NaN: then +0 also stands for input[0]
     * above, and accuracy is that of a first element of 0.
     *
     * UNSUPPORTED unless the implementing file defines FASTREDUCE_WITH_SKIP_NAN, and for dot
     * products, fastreduce_fold, V0..V7, fastreduce_accumulate and its like. */
    FASTREDUCE_SKIP_NAN = 1
};

/* Many results in one call. Result (o, i), for o < outer and i < inner, reduces the n elements
 *
 *     input[o * outer_stride + i + k * stride]    for k < n
 *
 * and is stored at output[o * inner + i]. inner == 1 reduces rows, and outer_stride is their pitch;
 * outer == 1 reduces columns, and stride is their pitch. Otherwise the middle axis of an array of
 * outer x n x inner is reduced. Adjacent axes that are reduced together can be merged into one if
 * they are contiguous: its n is the product of theirs. So can adjacent axes that are kept.
 *
 * stride == 0 stands for inner, and outer_stride == 0 for n * stride: no gaps. Strides may be
 * smaller than that, and results then share elements, as windows do (outer_stride == 1), or columns
 * (stride < inner). A true stride of zero, by which all results or all elements were the same, does
 * not exist: reduce once, and copy the result. */
typedef struct fastreduce_shape {
    size_t outer, n, inner;
    size_t outer_stride, stride; /* in elements */
} fastreduce_shape;

/* 1 MiB: a workspace of this size serves every call of AUTO and EXACT, whatever the function, n,
 * type and operator; in C++, for elements and results of up to 32 bytes. Only
 * fastreduce_reduce_by_index needs more. */
#define FASTREDUCE_WORKSPACE_BYTES (sizeof(char) << 20)

/* ---- Exact partial sums ---------------------------------------------------------------------- */

/* An exact partial sum of floats: a fixed-point number that holds every finite float and the sum
 * of 2^64 of them. All zeros is the empty sum.
 *
 *   limb[0..11]   the number is the sum over k of limb[k] * 2^(32k - 149)
 *   limb[12..14]  counts of NaN, +infinity, -infinity; 2^32 - 1 stands for that many or more
 *   limb[15]      0, reserved
 *
 * Accumulators are merged by adding their limbs as int64, in any order. MPI_SUM and ncclSum do
 * that. Each function here leaves limb[0..10] and limb[12..14] in [0, 2^32). So up to 2^31
 * accumulators can be added before a limb could overflow, and every function here takes such sums.
 * Your own kernels add single floats by fastreduce::exact_atomic_add (fastreduce.cuh), where each
 * float counts as one of the 2^31. */
typedef struct fastreduce_accumulator {
    int64_t limb[16];
} fastreduce_accumulator;

/* An exact partial sum of doubles, or of products of two floats: limb[0..67] count 2^(32k - 1074),
 * three counts and a reserved 0 follow. */
typedef struct fastreduce_wide_accumulator {
    int64_t limb[72];
} fastreduce_wide_accumulator;

/* An exact partial sum of products of two doubles: limb[0..133] count 2^(32k - 2162), three counts
 * and a reserved 0 follow. */
typedef struct fastreduce_product_accumulator {
    int64_t limb[138];
} fastreduce_product_accumulator;

#endif /* FASTREDUCE_H */

/* ============================================================================================== */

#if defined(FASTREDUCE_STATIC) && defined(FASTREDUCE_DETAIL_DECLARED) && \
    !defined(FASTREDUCE_DETAIL_STATIC)
#error "FASTREDUCE_STATIC has to be defined before the first include of fastreduce.h"
#endif

/* With FASTREDUCE_STATIC only files that define functions declare them, as compilers warn of static
 * ones without a definition. NVRTC refuses host functions. */
#if !defined(FASTREDUCE_DETAIL_DECLARED) && !defined(__CUDACC_RTC__) &&   \
    (!defined(FASTREDUCE_STATIC) || defined(FASTREDUCE_IMPLEMENTATION) || \
     defined(FASTREDUCE_HOST_IMPLEMENTATION))
#define FASTREDUCE_DETAIL_DECLARED
#ifdef FASTREDUCE_STATIC
#define FASTREDUCE_DETAIL_STATIC
#endif

/* A `static` host implementation has no GPU functions, and declares none. */
#if defined(FASTREDUCE_STATIC) && !defined(FASTREDUCE_IMPLEMENTATION)
#define FASTREDUCE_DETAIL_HOST_ONLY
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Returns a sentence for a status: never null, in static storage, without a newline. For a positive
 * status it is the CUDA runtime's, if the implementation is in a .cu file. Programs that call
 * templates alone use fastreduce::status_string. The names below are in static storage, too. */
FASTREDUCE_API const char *fastreduce_status_string(fastreduce_status status);

/* Returns the implementation's FASTREDUCE_VERSION. */
FASTREDUCE_API int fastreduce_version(void);

/* Returns "auto", "v0_baseline", ... "v7_shuffle", "exact"; "unknown" for any other value. */
FASTREDUCE_API const char *fastreduce_kernel_name(fastreduce_kernel kernel);

/* Return "f32" ... "u64"; "sum" ... "argmax_abs", as the enumerators; else "unknown". */
FASTREDUCE_API const char *fastreduce_type_name(fastreduce_type type);
FASTREDUCE_API const char *fastreduce_operator_name(fastreduce_operator op);

/* Returns the bytes of an element; 0 if the type is invalid or FASTREDUCE_DEFAULT_TYPE. */
FASTREDUCE_API size_t fastreduce_type_size(fastreduce_type type);

/* Returns the type of a result, by the table above; 0 if the type or the operator is invalid. */
FASTREDUCE_API fastreduce_type fastreduce_output_type(fastreduce_type type, fastreduce_operator op);

/* Returns the type of a second result (at fastreduce_operator), whatever config->output_type is; 0
 * if the operator has none, or the type or the operator is invalid. */
FASTREDUCE_API fastreduce_type fastreduce_second_type(fastreduce_type type, fastreduce_operator op);

/* ---- Reductions on the GPU ------------------------------------------------------------------- */

#ifndef FASTREDUCE_DETAIL_HOST_ONLY
/* What the functions on the GPU share:
 *
 *   input    elements that the current device can read, aligned to their size. It may be null if
 *            there are none, and is never written.
 *   output   in device, managed or pinned host memory that the current device can write, aligned to
 *            the size of a result. Input, output and workspace do not overlap.
 *   n        elements, not bytes; more than 2^32 work.
 *   config   null for defaults. A workspace serves one call at a time: calls that may run at once
 *            (on two streams, in parallel branches of a graph, in two executable graphs) need one
 *            each. A zeroed workspace is left zeroed, so it is initialised once and then serves any
 *            number of calls. FASTREDUCE_WORKSPACE_BYTES serve every call with AUTO and EXACT.
 *
 * Asynchrony: a call enqueues work on config->stream and returns. Input, output and workspace must
 * live until that work is done. It is stream-ordered: it sees what earlier work wrote, even if its
 * blocks are on the GPU before, and later work begins when it has ended.
 *
 * Capture: with a workspace a call can be captured into a CUDA graph, and replayed any number of
 * times. Call it once before you capture it: the first call of a kernel loads it, which the runtime
 * may refuse during a capture. From compute capability 9.0 on, the node may have a programmatic
 * edge to the kernel before it. Functions like cudaGraphGetEdges then return cudaErrorLossyQuery
 * unless they are asked for edge data, too. FASTREDUCE_NO_OVERLAP (fastreduce.cuh) avoids such
 * edges.
 *
 * Errors: INVALID_ARGUMENT, also for a type or an operator that does not exist; UNSUPPORTED, also
 * for what this build leaves out; WORKSPACE_TOO_SMALL; NO_DEVICE; or the cudaError_t of the
 * runtime's call that failed. Most calls fail before anything is launched. V0..V7 may fail between
 * levels, or when they clear the workspace after the last one. Memory of the pool is freed last. */

/* Writes the sum of input[0] .. input[n - 1], floats, to *output; n == 0 writes 0.
 *
 * The limit of n is 2^31 - 1 blocks: 2^36 - 32 elements for V0, V1 and V2 with blocks of 32, more
 * for every other choice. Beyond it: UNSUPPORTED.
 *
 * Determinism: V0..V7 give the same bits for the same input, n and block size. AUTO's are those of
 *
 *     float pairwise(const float *x, size_t n)
 *     {
 *         size_t half = 1;
 *         while (2 * half < n) half *= 2;
 *         return n == 1 ? x[0] : pairwise(x, half) + pairwise(x + half, n - half);
 *     }
 *
 * whatever the GPU, the input's alignment, the workspace, and whether n is on the device; but a NaN
 * may be another NaN. A sum of -0 alone is -0. Sums of shards of 2^k elements, added up by one more
 * call, have the bits of one call for all (fastreduce_operator says more). EXACT's bits are
 * fastreduce_host_reduce's: the same for any order of the elements, on every GPU and on the CPU.
 *
 * Accuracy: an element takes part in at most k additions. So the error is at most
 * k / (1 - k * 2^-24) * 2^-24 times the sum of magnitudes. AUTO: k is log2(n), rounded up. V0..V7:
 * k is items a thread - 1 + log2(block size) for each level; V7 with blocks of 256 has 15 a level,
 * and three levels up to 2^33. Special values follow IEEE arithmetic in the order of the tree.
 *
 * Source: the ladder V0..V7 follows M. Harris, "Optimizing Parallel Reduction in CUDA" (NVIDIA,
 * 2007). EXACT sums in fixed point, as U. Kulisch proposed (Computer Arithmetic and Validity,
 * 2013, chapter 8), by a way of its own. */
FASTREDUCE_API fastreduce_status fastreduce_sum_f32(const float *input, float *output, size_t n,
                                                    const fastreduce_config *config);

/* Reduces input[0] .. input[n - 1], of any type, to *output by any operator.
 *
 *   output   one value of the type fastreduce_output_type(type, op).
 *   config   AUTO takes every type and operator. EXACT takes SUM, SUM_ABS, MEAN, SUM_SQUARES, NORM2
 *            and VARIANCE of floats (f16, bf16, f32, f64). V0..V7 take SUM of f32
 *            (fastreduce::reduce takes more), and need as much workspace as
 *            fastreduce_workspace_bytes says. All else is UNSUPPORTED. What a build has is up to
 *            FASTREDUCE_TYPES, FASTREDUCE_OPERATORS and, for EXACT's squares, norms and variances,
 *            FASTREDUCE_WITH_EXACT_PRODUCTS (fastreduce.cuh).
 *
 * Determinism: AUTO's bits are those at fastreduce_operator; EXACT's are those of
 * fastreduce_host_reduce. All else as for fastreduce_sum_f32. */
FASTREDUCE_API fastreduce_status fastreduce_reduce(const void *input, void *output, size_t n,
                                                   fastreduce_type type, fastreduce_operator op,
                                                   const fastreduce_config *config);

/* Reduces along one axis of an array: rows, columns, or axes between (fastreduce_shape).
 * UNSUPPORTED unless the implementing file defines FASTREDUCE_WITH_SHAPES.
 *
 *   input    outer x n x inner elements with the strides of the shape.
 *   output   outer * inner values of the type fastreduce_output_type(type, op), without gaps.
 *   shape    read before the call returns. Without results (outer or inner is 0) nothing happens,
 *            and neither pointers nor n and strides are looked at. With n == 0 each result is that
 *            of no elements.
 *   config   as for fastreduce_reduce. Kernels other than AUTO and EXACT are UNSUPPORTED, as is
 *            n_on_device.
 *
 * Determinism: each result is batch-invariant. It has the bits that fastreduce_reduce gives for its
 * elements, and does not depend on the other results, their number, the strides or the GPU. But if
 * floats or doubles are added a NaN may be another NaN.
 *
 * EXACT sums in double-double arithmetic, even if the GPU's doubles are slow. A second kernel takes
 * variances and squares of f64. It also takes sums whose bits, with those of their elements, span
 * more than about 100 binary orders of magnitude. Those take longer.
 *
 * INVALID_ARGUMENT also for a null shape, and for elements or results past the address space. */
FASTREDUCE_API fastreduce_status fastreduce_reduce_axis(const void *input, void *output,
                                                        const fastreduce_shape *shape,
                                                        fastreduce_type type,
                                                        fastreduce_operator op,
                                                        const fastreduce_config *config);

/* Reduces segments of any lengths. Segment s is input[offsets[s]] .. input[offsets[s + 1] - 1].
 * With config->end_offsets it is input[offsets[s]] .. input[end_offsets[s] - 1]; segments may then
 * leave gaps, overlap, and come in any order, but are fastest in the order of the input.
 *
 *   input    the elements of all segments. Gaps of less than 4 KiB between two segments are read as
 *            well, so the device must be able to read them; their contents do not matter. The host
 *            does not know where the input ends, so overlap with output and workspace is not
 *            checked.
 *   output   `segments` values of the type fastreduce_output_type(type, op).
 *   offsets  segments + 1 numbers in device memory, or `segments` with config->end_offsets, of the
 *            type config->offset_type, aligned to their size. They do not decrease and are not
 *            negative. They are read when the kernels run. A segment that is empty, ends before it
 *            begins or begins below 0 gives the result of no elements. Without segments nothing
 *            happens, and no pointer is looked at.
 *   config   as for fastreduce_reduce_axis, with offset_type and end_offsets. An invalid
 *            offset_type is INVALID_ARGUMENT.
 *
 * All else as for fastreduce_reduce_axis: each result has the bits of a row. AUTO makes one launch,
 * EXACT two. */
FASTREDUCE_API fastreduce_status fastreduce_reduce_segments(const void *input, void *output,
                                                            size_t segments, const void *offsets,
                                                            fastreduce_type type,
                                                            fastreduce_operator op,
                                                            const fastreduce_config *config);

/* Reduces buffers element by element: output[i] is the result of inputs[0][i] ..
 * inputs[count - 1][i]. After an all-gather this completes an all-reduce, whose bits depend on the
 * values and the order of the inputs alone. UNSUPPORTED unless the implementing file defines
 * FASTREDUCE_WITH_SHAPES.
 *
 *   inputs   `count` pointers in host memory, 64 at most, to n elements each. The call copies the
 *            pointers. Buffers may be equal, or overlap. With count == 0 each result is that of no
 *            elements.
 *   output   n values of the type fastreduce_output_type(type, op), or config->output_type. If
 *            that is `type`, it may be one of the inputs, but may not overlap one otherwise. With
 *            n == 0 nothing is written, and pointers are not looked at.
 *   op       SUM, MIN, MAX or MEAN. Others are UNSUPPORTED. A build has those of which
 *            fastreduce_supports_shapes(type, op, FASTREDUCE_AUTO) returns 1.
 *   config   as for fastreduce_reduce_axis, but by AUTO alone: EXACT is UNSUPPORTED, too. No
 *            workspace is needed.
 *
 * It is fastest if all arrays, the output too, begin at multiples of 16 bytes, or all as many
 * elements behind one. Otherwise sums of 16-bit floats take up to 1.8 times as long, and extremes
 * of bytes up to four times. All else as for fastreduce_reduce_axis: each result has the bits of a
 * column. INVALID_ARGUMENT also for more than 64 inputs. */
FASTREDUCE_API fastreduce_status fastreduce_fold(const void *const *inputs, size_t count,
                                                 void *output, size_t n, fastreduce_type type,
                                                 fastreduce_operator op,
                                                 const fastreduce_config *config);

/* Reduces elements by index: output[b] is the result of the elements input[i] whose index[i] is b,
 * as in a scatter-add, a weighted histogram or a sum by group. UNSUPPORTED unless the implementing
 * file defines FASTREDUCE_WITH_BY_INDEX.
 *
 *   input    n elements. It may be null for COUNT_NONZERO, which then counts indices.
 *   index    n numbers in device memory, of the type config->offset_type, aligned to their size. An
 *            element whose index is below 0, or `bins` or more, is left out.
 *   output   `bins` values of the type fastreduce_output_type(type, op), or config->output_type.
 *            One without elements is the result of no elements. With bins == 0 nothing is written,
 *            and pointers are not looked at.
 *   config   EXACT takes SUM, SUM_ABS and MEAN of floats (f16, bf16, f32, f64). AUTO takes what no
 *            order changes: SUM of integers, and MIN, MAX, ARGMIN, ARGMAX, MAX_ABS and
 *            COUNT_NONZERO of every type. All else is UNSUPPORTED, AUTO's sums of floats,
 *            second_output and options among it. offset_type is the type of the indices; an invalid
 *            one is INVALID_ARGUMENT. end_offsets is not read.
 *
 * The workspace grows with bins, so FASTREDUCE_WORKSPACE_BYTES is not enough:
 * fastreduce_by_index_workspace_bytes says how much is. One of which more is zeroed serves any call
 * that needs no more. The call leaves it zeroed.
 *
 * Determinism: AUTO's results have the bits of fastreduce_reduce for the elements of the bin, in
 * their order; an index found is one of `input`. EXACT's are those of fastreduce_host_reduce. No
 * order of the elements, and no GPU, changes them. But a NaN may be another NaN. */
FASTREDUCE_API fastreduce_status fastreduce_reduce_by_index(const void *input, const void *index,
                                                            void *output, size_t n, size_t bins,
                                                            fastreduce_type type,
                                                            fastreduce_operator op,
                                                            const fastreduce_config *config);

/* Returns the bytes of workspace that fastreduce_reduce_by_index needs. Of config it reads kernel,
 * output_type and second_output. It is 0 if bins is 0, and if the build has no such call. */
FASTREDUCE_API size_t fastreduce_by_index_workspace_bytes(size_t bins, fastreduce_type type,
                                                          fastreduce_operator op,
                                                          const fastreduce_config *config);

/* Writes the dot product, the sum of x[k] * y[k] for k < n, to *output; n == 0 writes 0.
 *
 *   x, y     n elements of the type each. They may be one array, or overlap.
 *   output   one value of the type fastreduce_output_type(type, FASTREDUCE_SUM): f32 for 16-bit
 *            floats and f32, f64 for f64, 64 bits for integers, modulo 2^64.
 *   config   as for fastreduce_reduce. Kernels: AUTO; EXACT for floats, if the implementing file
 *            defines FASTREDUCE_WITH_EXACT_PRODUCTS. All others are UNSUPPORTED. A build has the
 *            types of FASTREDUCE_TYPES, if FASTREDUCE_OPERATORS names FASTREDUCE_SUM.
 *
 * Determinism: AUTO's bits are those of pairwise() over the rounded products, in f32 for f32 and 16
 * bits. EXACT's are those of fastreduce_host_dot, the true sum of the true products, rounded once.
 *
 * Accuracy of AUTO: as for SUM, with the sum of |x[k] * y[k]| and one more rounding. Products may
 * underflow as well. */
FASTREDUCE_API fastreduce_status fastreduce_dot(const void *x, const void *y, void *output,
                                                size_t n, fastreduce_type type,
                                                const fastreduce_config *config);

/* Writes the dot products of rows, of columns, or along an axis between (fastreduce_shape).
 *
 *   x, y     outer x n x inner elements each, both with the strides of the shape. They may be one
 *            array, or overlap.
 *   output   outer * inner values of the type that fastreduce_dot writes, without gaps.
 *   shape    as for fastreduce_reduce_axis.
 *   config   as for fastreduce_dot; n_on_device is UNSUPPORTED. A build has it for a type if
 *            fastreduce_supports_dot(type, kernel) and
 *            fastreduce_supports_shapes(type, FASTREDUCE_SUM, kernel) return 1.
 *
 * Determinism: each result has the bits that fastreduce_dot gives for its elements. All else as for
 * fastreduce_reduce_axis. EXACT computes all results by its second kernel, which is slower. */
FASTREDUCE_API fastreduce_status fastreduce_dot_axis(const void *x, const void *y, void *output,
                                                     const fastreduce_shape *shape,
                                                     fastreduce_type type,
                                                     const fastreduce_config *config);

/* Return 1 if fastreduce_reduce, or fastreduce_reduce_axis and _segments, or fastreduce_dot of this
 * build have the kernel for the type and operator; else 0. fastreduce_accumulate and _f64 have the
 * types whose SUM has FASTREDUCE_EXACT; fastreduce_accumulate_dot and _dot_f64 have those whose dot
 * product has it. Every build has fastreduce_accumulate_f32 but those with FASTREDUCE_NO_EXACT. */
FASTREDUCE_API int fastreduce_supports(fastreduce_type type, fastreduce_operator op,
                                       fastreduce_kernel kernel);
FASTREDUCE_API int fastreduce_supports_shapes(fastreduce_type type, fastreduce_operator op,
                                              fastreduce_kernel kernel);
FASTREDUCE_API int fastreduce_supports_dot(fastreduce_type type, fastreduce_kernel kernel);

/* Returns the bytes of workspace that fastreduce_sum_f32 and fastreduce_accumulate_f32 need for n
 * elements with config->kernel and config->block_size; other members are not read. It grows with n,
 * so the answer for the largest n serves every smaller one. For AUTO and EXACT it is at most
 * FASTREDUCE_WORKSPACE_BYTES. It is 0 if no workspace is needed, and if fastreduce_sum_f32 would
 * refuse kernel, block_size or n, even if this build lacks FASTREDUCE_F32. */
FASTREDUCE_API size_t fastreduce_workspace_bytes(size_t n, const fastreduce_config *config);

/* Zeroes a workspace, asynchronously on the stream; once, before its first use. A null workspace is
 * an error unless workspace_bytes is 0. Errors: INVALID_ARGUMENT, NO_DEVICE, or a cudaError_t. */
FASTREDUCE_API fastreduce_status fastreduce_workspace_init(void *workspace, size_t workspace_bytes,
                                                           fastreduce_stream stream);

/* Adds input[0] .. input[n - 1] to *accumulator, exactly, on the GPU. The limbs are those that
 * fastreduce_host_accumulate_f32 gives. Data larger than memory, or of several streams or GPUs, use
 * one accumulator each; these are merged by adding their limbs.
 *
 *   accumulator   device or pinned host memory that the current device can read and write, aligned
 *                 to 8 bytes, outside input and workspace. It begins as zeros. Later its limbs are
 *                 as the functions here leave them, or the sum of up to 2^31 such.
 *   config        its kernel, block_size, output_type and second_output are not read. Ask
 *                 fastreduce_workspace_bytes with kernel = FASTREDUCE_EXACT.
 *
 * All else as for fastreduce_sum_f32. Calls on one stream add one after the other. */
FASTREDUCE_API fastreduce_status fastreduce_accumulate_f32(const float *input,
                                                           fastreduce_accumulator *accumulator,
                                                           size_t n,
                                                           const fastreduce_config *config);

/* Add in the same way f16, bf16 and f32, or f64; _dot and _dot_f64 add the products x[k] * y[k] for
 * k < n of these. The limbs are those of the function with `host` in its name. F64 as `type` is
 * INVALID_ARGUMENT, as its accumulators are others. Other types are UNSUPPORTED. A build has the
 * types of FASTREDUCE_TYPES, if FASTREDUCE_OPERATORS names FASTREDUCE_SUM, and products with
 * FASTREDUCE_WITH_EXACT_PRODUCTS. */
FASTREDUCE_API fastreduce_status fastreduce_accumulate(const void *input,
                                                       fastreduce_accumulator *accumulator,
                                                       size_t n, fastreduce_type type,
                                                       const fastreduce_config *config);
FASTREDUCE_API fastreduce_status fastreduce_accumulate_f64(const double *input,
                                                           fastreduce_wide_accumulator *accumulator,
                                                           size_t n,
                                                           const fastreduce_config *config);
FASTREDUCE_API fastreduce_status fastreduce_accumulate_dot(const void *x, const void *y,
                                                           fastreduce_wide_accumulator *accumulator,
                                                           size_t n, fastreduce_type type,
                                                           const fastreduce_config *config);
FASTREDUCE_API fastreduce_status fastreduce_accumulate_dot_f64(
    const double *x, const double *y, fastreduce_product_accumulator *accumulator, size_t n,
    const fastreduce_config *config);
#endif

/* ---- Reductions on the CPU -------------------------------------------------------------------
 *
 * These functions work on host memory, by one thread, with at most 96 KiB of stack. Input and
 * output are aligned to their size. Input may be null if n == 0. */

/* Add *from, which may be the same object, to *into, exactly, and carry, so merges may follow in
 * any number. The magnitude has to stay below 2^235 (2^107 elements of the largest float); of a
 * wide accumulator below 2^1102 (2^78 times the largest double), of products below 2^2126. */
FASTREDUCE_API void fastreduce_accumulator_merge(fastreduce_accumulator *into,
                                                 const fastreduce_accumulator *from);
FASTREDUCE_API void fastreduce_wide_accumulator_merge(fastreduce_wide_accumulator *into,
                                                      const fastreduce_wide_accumulator *from);
FASTREDUCE_API void
fastreduce_product_accumulator_merge(fastreduce_product_accumulator *into,
                                     const fastreduce_product_accumulator *from);

/* Return the sum as fastreduce_host_reduce does, rounded once to a float or a double: the f32
 * result is not the f64 result rounded again. */
FASTREDUCE_API float fastreduce_accumulator_f32(const fastreduce_accumulator *accumulator);
FASTREDUCE_API double fastreduce_accumulator_f64(const fastreduce_accumulator *accumulator);
FASTREDUCE_API float
fastreduce_wide_accumulator_f32(const fastreduce_wide_accumulator *accumulator);
FASTREDUCE_API double
fastreduce_wide_accumulator_f64(const fastreduce_wide_accumulator *accumulator);
FASTREDUCE_API double
fastreduce_product_accumulator_f64(const fastreduce_product_accumulator *accumulator);

/* Reduces input[0] .. input[n - 1] to *output, exactly and rounded once, to nearest, ties to even.
 *
 *   type, op      SUM, SUM_ABS, SUM_SQUARES, NORM2, MEAN and VARIANCE of f16, bf16, f32 and f64.
 *                 All else is UNSUPPORTED.
 *   output_type   as that of a fastreduce_config for EXACT.
 *
 * The result is NaN if an element is NaN or both infinities occur; for MEAN and VARIANCE also if
 * n == 0, and for VARIANCE if one infinity does. Otherwise it is an infinity if one occurs, or if
 * it is past the largest finite value. Nothing overflows or underflows before the end, so NORM2 of
 * finite elements is finite if the norm fits. MEAN divides by n itself, even if no float equals it.
 * An exact zero is +0. The result does not depend on the order of the elements, on rounding modes,
 * on flushing of denormals, or on -ffast-math.
 *
 * INVALID_ARGUMENT comes before UNSUPPORTED. */
FASTREDUCE_API fastreduce_status fastreduce_host_reduce(const void *input, void *output, size_t n,
                                                        fastreduce_type type,
                                                        fastreduce_operator op,
                                                        fastreduce_type output_type);

/* Writes the dot product, the sum of x[k] * y[k], by the same rules, of f16, bf16, f32 and f64. No
 * product is rounded, or overflows; infinity times zero is NaN. x and y may be one array, or
 * overlap. */
FASTREDUCE_API fastreduce_status fastreduce_host_dot(const void *x, const void *y, void *output,
                                                     size_t n, fastreduce_type type,
                                                     fastreduce_type output_type);

/* Return the sum of floats or doubles, and the dot product of floats, by the same rules. */
FASTREDUCE_API float fastreduce_host_sum_f32(const float *input, size_t n);
FASTREDUCE_API double fastreduce_host_sum_f64(const double *input, size_t n);
FASTREDUCE_API float fastreduce_host_dot_f32(const float *x, const float *y, size_t n);

/* Add input[0] .. input[n - 1], of f32, of f16, bf16 or f32, and of f64, to an accumulator,
 * exactly; _dot and _dot_f64 add x[k] * y[k] for k < n. The limbs do not depend on the order of the
 * elements, or on how they are split between calls. Errors as for fastreduce_host_reduce, and
 * INVALID_ARGUMENT for F64 as `type`; the accumulator is then left as it was. */
FASTREDUCE_API void fastreduce_host_accumulate_f32(const float *input,
                                                   fastreduce_accumulator *accumulator, size_t n);
FASTREDUCE_API fastreduce_status fastreduce_host_accumulate(const void *input,
                                                            fastreduce_accumulator *accumulator,
                                                            size_t n, fastreduce_type type);
FASTREDUCE_API void fastreduce_host_accumulate_f64(const double *input,
                                                   fastreduce_wide_accumulator *accumulator,
                                                   size_t n);
FASTREDUCE_API fastreduce_status fastreduce_host_accumulate_dot(
    const void *x, const void *y, fastreduce_wide_accumulator *accumulator, size_t n,
    fastreduce_type type);
FASTREDUCE_API void fastreduce_host_accumulate_dot_f64(const double *x, const double *y,
                                                       fastreduce_product_accumulator *accumulator,
                                                       size_t n);

/* Reduces input[0] .. input[n - 1] to *output with the bits of AUTO: any machine can check a GPU's
 * result. It takes every type and operator. output_type is as that of a fastreduce_config for AUTO.
 * Other errors are as for fastreduce_host_reduce.
 *
 * A NaN may be another NaN than a GPU's. No option of a compiler changes the result. While the CPU
 * flushes denormals, rounds twice (x87) or not to nearest, the call is UNSUPPORTED. Programs that
 * GCC links with -ffast-math flush denormals until they clear that flag. */
FASTREDUCE_API fastreduce_status fastreduce_host_pairwise(const void *input, void *output, size_t n,
                                                          fastreduce_type type,
                                                          fastreduce_operator op,
                                                          fastreduce_type output_type);

/* Reduces input[0] .. input[n - 1], in host memory, to *output as fastreduce_reduce does on a GPU,
 * by AUTO or EXACT, with the same bits: it reads the config's kernel, output_type, second_output
 * and options. V0..V7 and n_on_device are UNSUPPORTED; other members are not read. Errors are as
 * for fastreduce_host_pairwise and fastreduce_host_reduce. */
FASTREDUCE_API fastreduce_status fastreduce_reduce_on_host(const void *input, void *output,
                                                           size_t n, fastreduce_type type,
                                                           fastreduce_operator op,
                                                           const fastreduce_config *config);

/* Writes the dot product with the bits of fastreduce_dot's AUTO, by the same rules. */
FASTREDUCE_API fastreduce_status fastreduce_host_pairwise_dot(const void *x, const void *y,
                                                              void *output, size_t n,
                                                              fastreduce_type type,
                                                              fastreduce_type output_type);

#ifdef __cplusplus
}
#endif
#endif /* FASTREDUCE_DETAIL_DECLARED */

/* Below is C, which C++ files include too. */
#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#endif

/* ---- The accumulator's arithmetic: one source for the CPU and the GPU ------------------------ */

#if (defined(FASTREDUCE_HOST_IMPLEMENTATION) || defined(FASTREDUCE_CUH)) && \
    !defined(FASTREDUCE_DETAIL_ARITHMETIC)
#define FASTREDUCE_DETAIL_ARITHMETIC

#ifndef __CUDACC_RTC__
#include <string.h>
#endif

#if defined(__CUDACC__) && !defined(SIMT_MACHINE)
#define FASTREDUCE_DETAIL_HOST_DEVICE __host__ __device__
#else
#define FASTREDUCE_DETAIL_HOST_DEVICE
#endif
#ifdef __GNUC__ /* Clang behind nvcc warns of what a file does not call */
#define FASTREDUCE_DETAIL_FUNCTION \
    static inline __attribute__((unused)) FASTREDUCE_DETAIL_HOST_DEVICE
#else
#define FASTREDUCE_DETAIL_FUNCTION static inline FASTREDUCE_DETAIL_HOST_DEVICE
#endif

enum {
    FASTREDUCE_DETAIL_DIGITS = 12, /* limbs that hold the number; the top one carries the sign */
    FASTREDUCE_DETAIL_NAN_COUNT = 12,
    FASTREDUCE_DETAIL_POSITIVE_INFINITY_COUNT = 13,
    FASTREDUCE_DETAIL_NEGATIVE_INFINITY_COUNT = 14,
    FASTREDUCE_DETAIL_WIDE_DIGITS = 68, /* the three counts follow */
    FASTREDUCE_DETAIL_PRODUCT_DIGITS = 134,
    FASTREDUCE_DETAIL_PRODUCT_LEAST = -2162,
    FASTREDUCE_DETAIL_FIRST_WIDE = 34, /* limb of products with the weight of a wide one's first */
    FASTREDUCE_DETAIL_QUOTIENT_DIGITS = 8, /* of a variance; then of all that it takes */
    FASTREDUCE_DETAIL_VARIANCE_DIGITS = 149
};
#define FASTREDUCE_DETAIL_MOST_COUNTED 0xffffffffLL

/* Propagates carries: limbs end in [0, 2^32), but the top one keeps the sign. A number has one such
 * form, so equal sums have equal limbs. */
FASTREDUCE_DETAIL_FUNCTION void fastreduce_detail_carry(int64_t *limb, int digits)
{
    int k;
    for (k = 0; k + 1 < digits; ++k) {
        int64_t digit = limb[k] & 0xffffffff;
        limb[k + 1] += limb[k] >> 32; /* arithmetic, in every compiler that knows CUDA */
        limb[k] = digit;
    }
}

/* Propagates carries and limits counts to 2^32 - 1, as the functions here leave accumulators. */
FASTREDUCE_DETAIL_FUNCTION void fastreduce_detail_normalize(int64_t *limb, int digits)
{
    int k;
    fastreduce_detail_carry(limb, digits);
    for (k = digits; k < digits + 3; ++k)
        if (limb[k] > FASTREDUCE_DETAIL_MOST_COUNTED) limb[k] = FASTREDUCE_DETAIL_MOST_COUNTED;
}

/* Adds value * 2^shift to the limb shift / 32 and the two that follow, which have to exist: less
 * than 2^32 to each. */
FASTREDUCE_DETAIL_FUNCTION void fastreduce_detail_add_scaled(int64_t *limb, int64_t value,
                                                             unsigned shift)
{
    uint64_t magnitude = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    unsigned k = shift / 32, s = shift % 32;
    uint64_t low = magnitude << s, high = s ? magnitude >> (64 - s) : 0;
    int64_t sign = value < 0 ? -1 : 1;
    limb[k] += sign * (int64_t)(low & 0xffffffff);
    limb[k + 1] += sign * (int64_t)(low >> 32);
    limb[k + 2] += sign * (int64_t)high;
}

/* Returns the lower half of a * b, and the upper half in *high. */
FASTREDUCE_DETAIL_FUNCTION uint64_t fastreduce_detail_multiply_words(uint64_t a, uint64_t b,
                                                                     uint64_t *high)
{
    const uint64_t low = (a & 0xffffffff) * (b & 0xffffffff), left = (a >> 32) * (b & 0xffffffff),
                   right = (a & 0xffffffff) * (b >> 32),
                   middle = (low >> 32) + (left & 0xffffffff) + (right & 0xffffffff);
    *high = (a >> 32) * (b >> 32) + (left >> 32) + (right >> 32) + (middle >> 32);
    return a * b;
}

/* Replaces the limbs of a number by those of its magnitude. Returns 1 if it is negative. */
FASTREDUCE_DETAIL_FUNCTION int fastreduce_detail_absolute(int64_t *digit, int digits)
{
    int k, negative;
    fastreduce_detail_carry(digit, digits);
    negative = digit[digits - 1] < 0;
    if (negative) {
        for (k = 0; k < digits; ++k) digit[k] = -digit[k];
        fastreduce_detail_carry(digit, digits);
    }
    return negative;
}

/* Returns 0 for a finite sum, 1 for NaN, 2 for +infinity and 3 for -infinity, given which of the
 * three occurred. */
FASTREDUCE_DETAIL_FUNCTION int fastreduce_detail_special(int nan, int positive, int negative)
{
    return nan || (positive && negative) ? 1 : positive ? 2 : negative ? 3 : 0;
}

/* A magnitude: (high * 2^64 + low) * 2^(exponent - 127), where high has its top bit, or is 0.
 * `below` says whether it has bits below these. */
typedef struct fastreduce_detail_magnitude {
    uint64_t high, low;
    int exponent, below;
} fastreduce_detail_magnitude;

/* Returns 64 bits of a magnitude, from `position` on; below the lowest digit are zeros. Reads two
 * limbs behind the digits, too, which have to be zeros. */
FASTREDUCE_DETAIL_FUNCTION uint64_t fastreduce_detail_bits_from(const int64_t *digit, int position)
{
    const int shift = position & 31, first = (position - shift) / 32;
    uint64_t part[3];
    int k;
    for (k = 0; k < 3; ++k) part[k] = first + k < 0 ? 0 : (uint64_t)digit[first + k];
    return part[0] >> shift | part[1] << (32 - shift) | part[2] << (63 - shift) << 1;
}

/* Returns whether a bit below `position` is 1. */
FASTREDUCE_DETAIL_FUNCTION int fastreduce_detail_any_below(const int64_t *digit, int position)
{
    int k, any = 0;
    for (k = 0; k < position / 32; ++k) any |= digit[k] != 0;
    return position > 0 && (any || (digit[k] & (((int64_t)1 << position % 32) - 1)) != 0);
}

/* Returns the position of the highest bit that is 1, or -1. */
FASTREDUCE_DETAIL_FUNCTION int fastreduce_detail_highest(const int64_t *digit, int digits)
{
    int top = digits - 1, bit = 31;
    while (top > 0 && digit[top] == 0) --top;
    while (bit >= 0 && !(digit[top] >> bit & 1)) --bit;
    return bit < 0 ? -1 : 32 * top + bit;
}

/* Returns the leading bits of a magnitude, digits * 2^least. */
FASTREDUCE_DETAIL_FUNCTION fastreduce_detail_magnitude
fastreduce_detail_leading(const int64_t *digit, int digits, int least)
{
    const int highest = fastreduce_detail_highest(digit, digits);
    fastreduce_detail_magnitude result;
    result.high = fastreduce_detail_bits_from(digit, highest - 63);
    result.low = fastreduce_detail_bits_from(digit, highest - 127);
    result.exponent = highest + least;
    result.below = fastreduce_detail_any_below(digit, highest - 127);
    return result;
}

/* Returns value / n for n > 0, bit by bit until `high` is full. */
FASTREDUCE_DETAIL_FUNCTION fastreduce_detail_magnitude
fastreduce_detail_quotient(fastreduce_detail_magnitude value, uint64_t n)
{
    fastreduce_detail_magnitude result = {0, 0, 0, 0};
    uint64_t remainder = 0;
    int bit = 0;
    if (value.high == 0) return result;
    for (; !(result.high >> 63); ++bit) {
        const int carry = (int)(remainder >> 63);
        remainder = remainder << 1 | value.high >> 63;
        value.high = value.high << 1 | value.low >> 63;
        value.low <<= 1;
        result.high <<= 1;
        if (carry || remainder >= n) {
            remainder -= n;
            ++result.high;
        }
    }
    result.exponent = value.exponent - bit + 64;
    result.below = value.below || (remainder | value.high) != 0; /* `low` is used up */
    return result;
}

/* Returns the square root: 60 bits, one for each two of the magnitude. */
FASTREDUCE_DETAIL_FUNCTION fastreduce_detail_magnitude
fastreduce_detail_root(fastreduce_detail_magnitude value)
{
    fastreduce_detail_magnitude result = {0, 0, 0, 0};
    const int odd = value.exponent & 1;
    uint64_t remainder = 0, root = 0;
    if (value.high == 0) return result;
    result.exponent = (value.exponent - odd) / 2;
    if (!odd) { /* pairs of bits end at even exponents */
        value.below |= (int)(value.low & 1);
        value.low = value.low >> 1 | value.high << 63;
        value.high >>= 1;
    }
    while (!(root >> 59)) { /* the first is 1 */
        const uint64_t trial = root << 2 | 1;
        remainder = remainder << 2 | value.high >> 62;
        value.high = value.high << 2 | value.low >> 62;
        value.low <<= 2;
        root <<= 1;
        if (remainder >= trial) {
            remainder -= trial;
            ++root;
        }
    }
    result.high = root << 4;
    result.below = value.below || (remainder | value.high) != 0; /* `low` is used up */
    return result;
}

/* Returns the bits of a double (precision 53), f32 (24), f16 (11) or bf16 (8): the value rounded to
 * nearest, ties to even, unless fastreduce_detail_special says that it is none. */
FASTREDUCE_DETAIL_FUNCTION uint64_t fastreduce_detail_pack(int special, int negative,
                                                           fastreduce_detail_magnitude value,
                                                           int precision)
{
    const int is_double = precision == 53, is_half = precision == 11,
              least = is_double ? -1074
                      : is_half ? -24
                                : -125 - precision;
    const uint64_t infinity = (uint64_t)(is_double ? 2047 : is_half ? 31 : 255) << (precision - 1);
    uint64_t bits = 0;

    if (special) {
        bits = special == 1 ? infinity | (uint64_t)1 << (precision - 2) : infinity;
        negative = special == 3;
    } else if (value.high != 0) {
        /* exponent of the result's lowest bit, and how many bits of `high` lie below it */
        const int normal = value.exponent - precision + 1, lowest = normal < least ? least : normal,
                  count = 63 - value.exponent + lowest;
        if (count <= 64) {
            const uint64_t half = (uint64_t)1 << 63, cut = value.high << (64 - count);
            const int below = value.below || value.low != 0;
            bits = count < 64 ? value.high >> count : 0;
            bits += cut > half || (cut == half && (below || (bits & 1)));
            /* The top bit adds the one by which the exponent's field is ahead. A carry out of
             * rounding lands there, too. Past the largest finite value follow infinity and NaN. */
            bits += (uint64_t)(lowest - least) << (precision - 1);
            if (bits > infinity) bits = infinity;
        }
    }
    return bits | (uint64_t)negative << (is_double ? 63 : is_half ? 15 : precision + 7);
}

/* Returns the bits of a float rounded to f16 (precision 11) or bf16 (8), as above. */
FASTREDUCE_DETAIL_FUNCTION uint64_t fastreduce_detail_narrowed(uint32_t bits, int precision)
{
    const uint32_t infinity = 0x7f800000, magnitude = bits & 0x7fffffff, field = magnitude >> 23,
                   is_normal = field != 0;
    const int negative = (int)(bits >> 31);
    fastreduce_detail_magnitude value = {0, 0, 0, 0};
    value.high = (uint64_t)((magnitude & 0x7fffff) | is_normal << 23) << 40;
    value.exponent = (int)(field + !is_normal) - 127; /* denormals have a bf16's least exponent */
    return fastreduce_detail_pack(fastreduce_detail_special(magnitude > infinity,
                                                            magnitude == infinity && !negative,
                                                            magnitude == infinity && negative),
                                  negative, value, precision);
}

/* Returns the float with these bits. They are volatile, as -ffast-math lets Clang 23 leave out what
 * gives NaN or infinity. */
FASTREDUCE_DETAIL_FUNCTION float fastreduce_detail_float_of(uint64_t bits)
{
    volatile uint32_t opaque = (uint32_t)bits;
    const uint32_t low = opaque;
    float result;
    memcpy(&result, &low, sizeof result);
    return result;
}

FASTREDUCE_DETAIL_FUNCTION double fastreduce_detail_double_of(uint64_t bits)
{
    volatile uint64_t opaque = bits;
    double result;
    bits = opaque;
    memcpy(&result, &bits, sizeof result);
    return result;
}

/* Returns the bits of an operator's result: the sum, the mean of n elements, or the root. */
FASTREDUCE_DETAIL_FUNCTION uint64_t fastreduce_detail_finish(int special, int negative,
                                                             fastreduce_detail_magnitude sum,
                                                             fastreduce_operator op, uint64_t n,
                                                             int precision)
{
    if (op == FASTREDUCE_MEAN && n == 0) special = 1;
    if (op == FASTREDUCE_MEAN && !special) sum = fastreduce_detail_quotient(sum, n);
    if (op == FASTREDUCE_NORM2) sum = fastreduce_detail_root(sum);
    return fastreduce_detail_pack(special, negative, sum, precision);
}

/* Returns fastreduce_detail_finish of a sum's limbs, which are destroyed. */
FASTREDUCE_DETAIL_FUNCTION uint64_t fastreduce_detail_read(int64_t *limb, int digits, int least,
                                                           fastreduce_operator op, uint64_t n,
                                                           int precision)
{
    const int negative = fastreduce_detail_absolute(limb, digits);
    const int64_t *const counts = limb + digits;
    const int special = fastreduce_detail_special(counts[0] != 0, counts[1] != 0, counts[2] != 0);
    fastreduce_detail_magnitude value = {0, 0, 0, 0};
    if (!special) value = fastreduce_detail_leading(limb, digits, least);
    return fastreduce_detail_finish(special, negative, value, op, n, precision);
}

/* Divides digits by n > 0, in place. Returns 1 if there is a remainder. */
FASTREDUCE_DETAIL_FUNCTION int fastreduce_detail_divide(int64_t *digit, int digits, uint64_t n)
{
    uint64_t remainder = 0;
    int k, bit;
    for (k = digits - 1; k >= 0; --k) {
        uint32_t result = 0;
        for (bit = 31; bit >= 0; --bit) {
            const int carry = (int)(remainder >> 63);
            remainder = remainder << 1 | (uint64_t)(digit[k] >> bit & 1);
            result <<= 1;
            if (carry || remainder >= n) {
                remainder -= n;
                ++result;
            }
        }
        digit[k] = result;
    }
    return remainder != 0;
}

/* Returns digit k of an accumulator of products. A wide one counts as its middle part. */
FASTREDUCE_DETAIL_FUNCTION int64_t fastreduce_detail_digit_at(const int64_t *limb, int digits,
                                                              int k)
{
    if (digits == FASTREDUCE_DETAIL_WIDE_DIGITS) k -= FASTREDUCE_DETAIL_FIRST_WIDE;
    return k >= 0 && k < digits ? limb[k] : 0;
}

/* Returns the bits of the variance of n numbers, (n * squares - sum * sum) / (n * n), rounded once.
 * Given are the limbs of their sum, a wide accumulator, which are destroyed; those of the sum of
 * squares, of `digits` digits; and FASTREDUCE_DETAIL_VARIANCE_DIGITS zeros, for intermediates. */
FASTREDUCE_DETAIL_FUNCTION uint64_t fastreduce_detail_variance(int64_t *sum, const int64_t *squares,
                                                               int digits, int64_t *digit,
                                                               uint64_t n, int precision)
{
    const int64_t *const counts = sum + FASTREDUCE_DETAIL_WIDE_DIGITS;
    const int kept = FASTREDUCE_DETAIL_QUOTIENT_DIGITS;
    const uint64_t mask = 0xffffffff;
    fastreduce_detail_magnitude value = {0, 0, 0, 0};
    int first = 0, end = 0, count = FASTREDUCE_DETAIL_WIDE_DIGITS, length, j, k, from,
        remainder = 0;
    int64_t carry = 0;

    if (n == 0 || (counts[0] | counts[1] | counts[2]) != 0)
        return fastreduce_detail_pack(1, 0, value, precision);
    for (k = count - 1; k >= 0; --k) { /* digits that are not zeros, and two for carries */
        const int is_zero = sum[k] == 0 &&
                            fastreduce_detail_digit_at(squares, digits, 2 * k) == 0 &&
                            fastreduce_detail_digit_at(squares, digits, 2 * k + 1) == 0;
        if (!is_zero) first = k;
        if (!is_zero && end == 0) end = k + 3;
    }
    count = (end < count ? end : count) - first;
    if (count <= 0) return 0;
    length = 2 * count + 3;
    sum += first;
    digit += kept; /* for the quotient */
    fastreduce_detail_absolute(sum, count);
    /* so that the square of a unit of the sum is a unit of the squares */
    for (k = 0; k < count; ++k) sum[k] *= 128;
    fastreduce_detail_carry(sum, count);
    for (k = 0; k < length - 2; ++k) {
        const int64_t limb = fastreduce_detail_digit_at(squares, digits, 2 * first + k) + carry;
        const uint64_t low = ((uint64_t)limb & mask) * (n & mask),
                       high = ((uint64_t)limb & mask) * (n >> 32);
        carry = limb >> 32;
        digit[k] += (int64_t)(low & mask);
        digit[k + 1] += (int64_t)((low >> 32) + (high & mask));
        digit[k + 2] += (int64_t)(high >> 32);
    }
    for (j = 0; j < count; ++j)
        for (k = 0; sum[j] != 0 && k < count; ++k) {
            const uint64_t product = (uint64_t)sum[j] * (uint64_t)sum[k];
            digit[j + k] -= (int64_t)(product & mask);
            digit[j + k + 1] -= (int64_t)(product >> 32);
        }
    fastreduce_detail_carry(digit, length);
    digit -= kept;
    length += kept;
    /* a dividend of 225 bits or more leaves at least 64 after a division by 128 bits */
    from = fastreduce_detail_highest(digit, length) / 32 - kept + 1;
    if (from < 0) from = 0;
    for (k = 0; k < (n >> 32 ? 2 : 1); ++k)
        remainder |= fastreduce_detail_divide(digit + from, kept, n >> 32 ? n : n * n);
    value = fastreduce_detail_leading(digit, length,
                                      64 * first - 32 * kept + FASTREDUCE_DETAIL_PRODUCT_LEAST);
    value.below |= remainder;
    return fastreduce_detail_pack(0, 0, value, precision);
}

#ifndef __CUDACC_RTC__
/* Returns what fastreduce_status_string and fastreduce::status_string do. */
static inline const char *fastreduce_detail_status_text(fastreduce_status status)
{
    switch (status) {
    case FASTREDUCE_SUCCESS: return "success";
    case FASTREDUCE_ERROR_INVALID_ARGUMENT:
        return "invalid argument: a null, misaligned or overlapping pointer, an n or a shape too "
               "large for memory, or an unknown kernel, block size, type or operator";
    case FASTREDUCE_ERROR_UNSUPPORTED:
        return "not supported by this build of FastReduce: not what this kernel does, or left out "
               "by FASTREDUCE_TYPES, FASTREDUCE_OPERATORS, FASTREDUCE_NO_LADDER, "
               "FASTREDUCE_NO_EXACT or for want of FASTREDUCE_WITH_SHAPES, "
               "FASTREDUCE_WITH_BY_INDEX or FASTREDUCE_WITH_EXACT_PRODUCTS";
    case FASTREDUCE_ERROR_WORKSPACE_TOO_SMALL:
        return "the workspace is too small: FASTREDUCE_WORKSPACE_BYTES are enough for AUTO and "
               "EXACT, and fastreduce.h says what V0 to V7 need";
    case FASTREDUCE_ERROR_NO_DEVICE: return "no CUDA device, or no driver that is new enough";
    default: break;
    }
#if defined(__CUDACC__) || defined(SIMT_MACHINE)
    if (status > 0) return cudaGetErrorString((cudaError_t)status);
#else
    if (status > 0) return "a CUDA runtime error: cudaGetErrorString has its text";
#endif
    return "unknown status";
}
#endif
#endif /* FASTREDUCE_DETAIL_ARITHMETIC */

/* ---- Host implementation --------------------------------------------------------------------- */

#if defined(FASTREDUCE_HOST_IMPLEMENTATION) && !defined(FASTREDUCE_DETAIL_HOST_IMPLEMENTED)
#define FASTREDUCE_DETAIL_HOST_IMPLEMENTED

/* Functions are weak outside the CUDA translation unit. So a program may have the host
 * implementation in a .c file and the whole library in a .cu file. Windows has no such symbols. */
#if (defined(__ELF__) || defined(__MACH__)) && !defined(FASTREDUCE_STATIC) && \
    !defined(FASTREDUCE_IMPLEMENTATION)
#define FASTREDUCE_DETAIL_DEFINE FASTREDUCE_API __attribute__((weak))
#else
#define FASTREDUCE_DETAIL_DEFINE FASTREDUCE_API
#endif

#define FASTREDUCE_DETAIL_ROW 256 /* floats whose sum fits the window's two integers of 32 bits */
#define FASTREDUCE_DETAIL_BLOCK (16 * FASTREDUCE_DETAIL_ROW) /* a chunk of floats */
#define FASTREDUCE_DETAIL_BINS_FULL (1 << 20)
#define FASTREDUCE_DETAIL_CHUNK 512 /* of elements that are converted, or added as doubles */
#define FASTREDUCE_DETAIL_LEVEL 44  /* bits of a level of the window of doubles, and levels */
#define FASTREDUCE_DETAIL_LEVELS 4
#ifndef FASTREDUCE_DETAIL_CHUNKS /* between carries; a test makes them few */
#define FASTREDUCE_DETAIL_CHUNKS (1 << 16)
#endif

#ifndef FASTREDUCE_DETAIL_ONE_BY_ONE /* a test counts elements that go the slowest way */
#define FASTREDUCE_DETAIL_ONE_BY_ONE(n) (void)0
#endif

#ifdef __GNUC__ /* inlined without optimisation, too */
#define FASTREDUCE_DETAIL_INLINE static inline __attribute__((always_inline))
#else
#define FASTREDUCE_DETAIL_INLINE static inline
#endif

/* Objects hold a large function only once. */
#if defined(__clang__) || !defined(__GNUC__)
#define FASTREDUCE_DETAIL_NOINLINE static inline
#else
#define FASTREDUCE_DETAIL_NOINLINE static __attribute__((noinline, noclone, unused))
#endif

/* Some functions are for AVX2, whose vectors shift each element by a count of its own. The CPU is
 * asked at run time. GCC is told to vectorise them at any level, Clang does from -O1 on. The level
 * comes first: after the target, GCC 13 and 14 forget the target. On Windows GCC does not align
 * vectors on the stack. */
#if defined(__x86_64__) && !defined(_WIN32) && !defined(__CUDA_ARCH__) && !defined(__INTEL_COMPILER)
#if defined(__clang__) && __clang_major__ >= 6 && defined(__OPTIMIZE__)
#define FASTREDUCE_DETAIL_AVX2 __attribute__((target("avx2")))
#elif defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 5

#define FASTREDUCE_DETAIL_AVX2 __attribute__((optimize("O3"), target("avx2")))
#endif
#endif
#ifdef FASTREDUCE_DETAIL_AVX2
#define FASTREDUCE_DETAIL_FOR_AVX2 FASTREDUCE_DETAIL_AVX2
#else
#define FASTREDUCE_DETAIL_FOR_AVX2
#undef FASTREDUCE_DETAIL_HAS_AVX2
#define FASTREDUCE_DETAIL_HAS_AVX2 0
#endif
#ifndef FASTREDUCE_DETAIL_HAS_AVX2 /* a test decides */
#define FASTREDUCE_DETAIL_HAS_AVX2 (__builtin_cpu_init(), __builtin_cpu_supports("avx2"))
#endif
#define FASTREDUCE_DETAIL_HAS_FMA (FASTREDUCE_DETAIL_HAS_AVX2 && __builtin_cpu_supports("fma"))
#ifdef __GNUC__ /* past the end of the input it does nothing */
#define FASTREDUCE_DETAIL_PREFETCH(x, bytes) \
    __builtin_prefetch((const void *)((uintptr_t)(x) + (bytes)))
#else
#define FASTREDUCE_DETAIL_PREFETCH(x, bytes) (void)0
#endif

/* Defines `name`, which calls name_any, or its copy for AVX2 if the CPU has that. */
#define FASTREDUCE_DETAIL_FOR_THIS_CPU(name, parameters, arguments)                               \
    FASTREDUCE_DETAIL_FOR_AVX2 static int name##_avx2 parameters { return name##_any arguments; } \
    static inline int name parameters                                                             \
    {                                                                                             \
        return FASTREDUCE_DETAIL_HAS_AVX2 ? name##_avx2 arguments : name##_any arguments;         \
    }

#ifdef __cplusplus
extern "C" {
#endif

FASTREDUCE_DETAIL_DEFINE int fastreduce_version(void) { return FASTREDUCE_VERSION; }

FASTREDUCE_DETAIL_DEFINE const char *fastreduce_status_string(fastreduce_status status)
{
    return fastreduce_detail_status_text(status);
}

FASTREDUCE_DETAIL_DEFINE const char *fastreduce_kernel_name(fastreduce_kernel kernel)
{
    /* clang-format off */
    static const char *const names[] = {
        "auto", "v0_baseline", "v1_no_divergence", "v2_no_bank_conflict", "v3_add_during_load",
        "v4_unroll_last_warp", "v5_completely_unroll", "v6_multi_add", "v7_shuffle", "exact"};
    /* clang-format on */
    return (unsigned)kernel <= FASTREDUCE_EXACT ? names[kernel] : "unknown";
}

typedef struct fastreduce_detail_type_facts {
    const char *name;
    size_t bytes;
    fastreduce_type of_sum, of_sum_abs, of_max_abs, of_mean; /* of the results */
} fastreduce_detail_type_facts;

/* Returns the facts of a type; of an invalid one, no bytes. */
static inline const fastreduce_detail_type_facts *fastreduce_detail_facts(fastreduce_type type)
{
#define FASTREDUCE_DETAIL_FACTS(name, text, bytes, element, sum, sum_abs, max_abs, mean) \
    {text, bytes, FASTREDUCE_##sum, FASTREDUCE_##sum_abs, FASTREDUCE_##max_abs, FASTREDUCE_##mean},
    static const fastreduce_detail_type_facts facts[] = {
        {"unknown", 0, FASTREDUCE_DEFAULT_TYPE, FASTREDUCE_DEFAULT_TYPE, FASTREDUCE_DEFAULT_TYPE,
         FASTREDUCE_DEFAULT_TYPE},
        FASTREDUCE_DETAIL_TYPES(FASTREDUCE_DETAIL_FACTS)};
    return facts + ((unsigned)type <= FASTREDUCE_U64 ? type : 0);
}

FASTREDUCE_DETAIL_DEFINE const char *fastreduce_type_name(fastreduce_type type)
{
    return fastreduce_detail_facts(type)->name;
}

FASTREDUCE_DETAIL_DEFINE size_t fastreduce_type_size(fastreduce_type type)
{
    return fastreduce_detail_facts(type)->bytes;
}

FASTREDUCE_DETAIL_DEFINE const char *fastreduce_operator_name(fastreduce_operator op)
{
    switch (op) {
#define FASTREDUCE_DETAIL_CASE(name, text, functor, result) \
    case FASTREDUCE_##name: return text;
        FASTREDUCE_DETAIL_OPERATORS(FASTREDUCE_DETAIL_CASE)
#undef FASTREDUCE_DETAIL_CASE
    default: return "unknown";
    }
}

FASTREDUCE_DETAIL_DEFINE fastreduce_type fastreduce_output_type(fastreduce_type type,
                                                                fastreduce_operator op)
{
    const fastreduce_detail_type_facts *const facts = fastreduce_detail_facts(type);

    if (facts->bytes == 0) return FASTREDUCE_DEFAULT_TYPE;
    switch (op) {
#define FASTREDUCE_DETAIL_CASE(name, text, functor, result) \
    case FASTREDUCE_##name: return result;
        FASTREDUCE_DETAIL_OPERATORS(FASTREDUCE_DETAIL_CASE)
#undef FASTREDUCE_DETAIL_CASE
    default: return FASTREDUCE_DEFAULT_TYPE;
    }
}

/* Returns the type of a result that is asked for, if there are such, or else the usual one. */
static inline fastreduce_type fastreduce_detail_result_type(fastreduce_type type,
                                                            fastreduce_type usual,
                                                            fastreduce_type asked, int is_exact)
{
    const int is_other = asked == type || (asked == FASTREDUCE_F64 && is_exact);
    return usual == FASTREDUCE_F32 && is_other ? asked : usual;
}

/* Returns the bits of a float's significand, with the one that is not stored. */
static inline int fastreduce_detail_precision(fastreduce_type type)
{
    return type == FASTREDUCE_F64    ? 53
           : type == FASTREDUCE_F16  ? 11
           : type == FASTREDUCE_BF16 ? 8
                                     : 24;
}

FASTREDUCE_DETAIL_DEFINE fastreduce_type fastreduce_second_type(fastreduce_type type,
                                                                fastreduce_operator op)
{
    const fastreduce_detail_type_facts *const facts = fastreduce_detail_facts(type);

    switch (op) {
    case FASTREDUCE_MIN_MAX:
    case FASTREDUCE_ARGMIN:
    case FASTREDUCE_ARGMAX:
    case FASTREDUCE_ARGMAX_ABS: return facts->bytes != 0 ? type : FASTREDUCE_DEFAULT_TYPE;
    case FASTREDUCE_VARIANCE: return facts->of_mean;
    default: return FASTREDUCE_DEFAULT_TYPE;
    }
}

/* Adds one accumulator to another; both are normalized. */
FASTREDUCE_DETAIL_NOINLINE void fastreduce_detail_merge(int64_t *into, int64_t *from, int digits)
{
    int k;
    fastreduce_detail_normalize(from, digits);
    fastreduce_detail_normalize(into, digits);
    for (k = 0; k < digits + 4; ++k) into[k] += from[k];
    fastreduce_detail_normalize(into, digits);
}

/* Returns what fastreduce_detail_read does for an accumulator. Objects hold it once. */
FASTREDUCE_DETAIL_NOINLINE uint64_t fastreduce_detail_host_read(int64_t *limb, int digits,
                                                                fastreduce_operator op, uint64_t n,
                                                                int precision)
{
    const int least = digits == FASTREDUCE_DETAIL_DIGITS        ? -149
                      : digits == FASTREDUCE_DETAIL_WIDE_DIGITS ? -1074
                                                                : FASTREDUCE_DETAIL_PRODUCT_LEAST;
    return fastreduce_detail_read(limb, digits, least, op, n, precision);
}

/* The functions of accumulators: fastreduce_accumulator_f32, fastreduce_accumulator_merge, etc. */
#define FASTREDUCE_DETAIL_READ(kind, digits, type, number, precision)                      \
    FASTREDUCE_DETAIL_DEFINE number fastreduce_##kind##_##type(                            \
        const fastreduce_##kind *accumulator)                                              \
    {                                                                                      \
        fastreduce_##kind copy = *accumulator;                                             \
        return fastreduce_detail_##number##_of(                                            \
            fastreduce_detail_host_read(copy.limb, digits, FASTREDUCE_SUM, 0, precision)); \
    }
#define FASTREDUCE_DETAIL_MERGE(kind, digits)                                              \
    FASTREDUCE_DETAIL_DEFINE void fastreduce_##kind##_merge(fastreduce_##kind *into,       \
                                                            const fastreduce_##kind *from) \
    {                                                                                      \
        fastreduce_##kind copy = *from; /* they may be the same */                         \
        fastreduce_detail_merge(into->limb, copy.limb, digits);                            \
    }
FASTREDUCE_DETAIL_READ(accumulator, FASTREDUCE_DETAIL_DIGITS, f32, float, 24)
FASTREDUCE_DETAIL_READ(accumulator, FASTREDUCE_DETAIL_DIGITS, f64, double, 53)
FASTREDUCE_DETAIL_READ(wide_accumulator, FASTREDUCE_DETAIL_WIDE_DIGITS, f32, float, 24)
FASTREDUCE_DETAIL_READ(wide_accumulator, FASTREDUCE_DETAIL_WIDE_DIGITS, f64, double, 53)
FASTREDUCE_DETAIL_READ(product_accumulator, FASTREDUCE_DETAIL_PRODUCT_DIGITS, f64, double, 53)
FASTREDUCE_DETAIL_MERGE(accumulator, FASTREDUCE_DETAIL_DIGITS)
FASTREDUCE_DETAIL_MERGE(wide_accumulator, FASTREDUCE_DETAIL_WIDE_DIGITS)
FASTREDUCE_DETAIL_MERGE(product_accumulator, FASTREDUCE_DETAIL_PRODUCT_DIGITS)

/* Adds or subtracts significand * 2^shift, a significand below 2^53, to two limbs, less than 2^53
 * to each. */
FASTREDUCE_DETAIL_INLINE void fastreduce_detail_add_significand(int64_t *limb, uint64_t significand,
                                                                unsigned shift, int is_negative)
{
    const int64_t sign = -(int64_t)is_negative; /* all bits of it: no branch */
    const int64_t low = (int64_t)(significand << shift % 32 & 0xffffffff);
    const int64_t high = (int64_t)(significand >> (32 - shift % 32));
    limb[shift / 32] += (low ^ sign) - sign;
    limb[shift / 32 + 1] += (high ^ sign) - sign;
}

/* Returns the bits of element i, of 1, 2, 4 or 8 bytes. */
FASTREDUCE_DETAIL_INLINE uint64_t fastreduce_detail_load(const void *x, size_t i, size_t bytes)
{
    const char *const from = (const char *)x + i * bytes;
    uint64_t wide = 0;
    uint32_t word;
    uint16_t half;
    if (bytes == 8) memcpy(&wide, from, sizeof wide);
    if (bytes == 4) memcpy(&word, from, sizeof word), wide = word;
    if (bytes == 2) memcpy(&half, from, sizeof half), wide = half;
    if (bytes == 1) wide = *(const unsigned char *)from;
    return wide;
}

/* Adds a float or a double, given by its bits. */
FASTREDUCE_DETAIL_INLINE void fastreduce_detail_add_one(int64_t *limb, int64_t *counts,
                                                        uint64_t bits, int is_double)
{
    const int fraction_bits = is_double ? 52 : 23;
    const unsigned special = is_double ? 2047 : 255,
                   exponent = (unsigned)(bits >> fraction_bits) & special;
    const uint64_t one = (uint64_t)1 << fraction_bits, fraction = bits & (one - 1);
    const int is_negative = (int)(bits >> (is_double ? 63 : 31));
    if (exponent == special)
        ++counts[fraction != 0 ? 0 : is_negative ? 2 : 1];
    else
        fastreduce_detail_add_significand(limb, exponent > 0 ? fraction | one : fraction,
                                          exponent - (exponent > 0), is_negative);
}

/* Adds floats or, to a wide accumulator, doubles one by one. A chunk adds less than 2^62 to a limb.
 * Every other goes to limbs of its own, so that equal exponents in a row do not wait for each
 * other's store. */
FASTREDUCE_DETAIL_INLINE void fastreduce_detail_add_each(int64_t *limb, int is_double,
                                                         const void *input, size_t n)
{
    const int digits = is_double ? FASTREDUCE_DETAIL_WIDE_DIGITS : FASTREDUCE_DETAIL_DIGITS;
    int64_t others[FASTREDUCE_DETAIL_WIDE_DIGITS] = {0};
    size_t i;
    int k;
    FASTREDUCE_DETAIL_ONE_BY_ONE(n);
    for (i = 0; i < n; ++i)
        fastreduce_detail_add_one(i % 2 ? others : limb, limb + digits,
                                  fastreduce_detail_load(input, i, is_double ? 8 : 4), is_double);
    for (k = 0; k < digits; ++k) limb[k] += others[k];
}

/* Adds element i to its bin, and returns what that holds. Each sign and exponent has one bin of
 * doubles, which adds them up as if they were normal numbers; bit 62 says that it is full. It has
 * two of floats, for even and odd i, so that equal exponents in a row do not wait for each other's
 * store. These add up fractions and, from bit 43 on, count them: 2^20 elements fill one. */
FASTREDUCE_DETAIL_INLINE uint64_t fastreduce_detail_add_to_bin(uint64_t *bin, const void *input,
                                                               size_t i, int is_double)
{
    const int fraction_bits = is_double ? 52 : 23;
    const uint64_t bits = fastreduce_detail_load(input, i, is_double ? 8 : 4),
                   fraction = bits & (((uint64_t)1 << fraction_bits) - 1);
    if (!is_double) bin += i % 2 * 512;
    return bin[bits >> fraction_bits] += fraction | (uint64_t)1 << (is_double ? 52 : 43);
}

/* Adds the sum of bin k to the limbs, and empties it. */
static inline void fastreduce_detail_empty_bin(uint64_t *bin, unsigned k, int64_t *limb,
                                               int is_double)
{
    const unsigned special = is_double ? 2047 : 255, exponent = k & special;
    int64_t sum = (int64_t)bin[k];
    if (!is_double)
        sum = (int64_t)((bin[k] & (((uint64_t)1 << 43) - 1)) +
                        (exponent > 0 ? bin[k] >> 43 << 23 : 0));
    fastreduce_detail_add_scaled(limb, k & (special + 1) ? -sum : sum, exponent - (exponent > 0));
    bin[k] = 0;
}

/* Adds a chunk or less to bins. It does not fill the bins of doubles that are no normal numbers,
 * and of floats that are not finite: these go to the limbs instead. */
FASTREDUCE_DETAIL_INLINE void fastreduce_detail_add_to_bins(uint64_t *bin, int64_t *limb,
                                                            const void *input, size_t n,
                                                            int is_double)
{
    const unsigned special = is_double ? 2047 : 255, bins = is_double ? 4096 : 1024;
    uint64_t others = 0;
    size_t i;
    unsigned k;
    for (i = 0; i + 8 <= n; i += 8) { /* prefetches make it 1.5 times as fast (AMD EPYC, Zen 4) */
        uint64_t sums = 0;

        FASTREDUCE_DETAIL_PREFETCH(input, (is_double ? 8 : 4) * i + 4096);
        for (k = 0; k < 8; ++k) sums |= fastreduce_detail_add_to_bin(bin, input, i + k, is_double);
        for (k = 0; is_double && sums >> 62 && k < 8; ++k) {
            const unsigned full = (unsigned)(fastreduce_detail_load(input, i + k, 8) >> 52);
            if (bin[full] >> 62) fastreduce_detail_empty_bin(bin, full, limb, 1);
        }
    }
    for (; i < n; ++i) fastreduce_detail_add_to_bin(bin, input, i, is_double); /* the last seven */
    for (k = 0; k < bins; k += special + 1) {
        if (is_double) others |= bin[k], bin[k] = 0;
        others |= bin[k + special], bin[k + special] = 0;
    }
    for (i = 0; others && i < n; ++i) {
        const uint64_t bits = fastreduce_detail_load(input, i, is_double ? 8 : 4),
                       one = (uint64_t)1 << (is_double ? 52 : 23),
                       magnitude = bits & (one * (special + 1) - 1);
        if (magnitude >= one * special || (is_double && magnitude - 1 < one - 1))
            fastreduce_detail_add_one(
                limb, limb + (is_double ? FASTREDUCE_DETAIL_WIDE_DIGITS : FASTREDUCE_DETAIL_DIGITS),
                bits, is_double);
    }
}

/* Returns element i, an f16, bf16 or f32, as the bits of a float. */
FASTREDUCE_DETAIL_INLINE uint32_t fastreduce_detail_float_bits(const void *x, size_t i,
                                                               fastreduce_type type)
{
    const uint32_t bits = (uint32_t)fastreduce_detail_load(x, i, type == FASTREDUCE_F32 ? 4 : 2),
                   magnitude = bits & 0x7fff, sign = (bits & 0x8000) << 16;
    const float denormal = (float)(int)magnitude * (1.0f / (1 << 24)); /* not one as a float */
    /* all bits of them: no branch, so that compilers vectorise it */
    const uint32_t is_denormal = 0 - (uint32_t)(magnitude < 0x400),
                   is_special = 0 - (uint32_t)(magnitude >= 0x7c00);
    const uint32_t normal = (magnitude << 13) + (112u << 23) + (is_special & 112u << 23);
    if (type != FASTREDUCE_F16) return type == FASTREDUCE_F32 ? bits : bits << 16;
    return sign | (normal & ~is_denormal) |
           ((uint32_t)fastreduce_detail_load(&denormal, 0, sizeof denormal) & is_denormal);
}

/* Makes floats of n elements, but doubles of doubles: of their bits those that `mask` has. */
FASTREDUCE_DETAIL_INLINE int fastreduce_detail_convert_any(const void *input, size_t n,
                                                           fastreduce_type type, uint64_t mask,
                                                           void *output)
{
    size_t i;
    for (i = 0; i < n; ++i) {
        if (type == FASTREDUCE_F64) {
            const uint64_t bits = fastreduce_detail_load(input, i, 8) & mask;
            memcpy((double *)output + i, &bits, sizeof bits);
        } else {
            const uint32_t bits = fastreduce_detail_float_bits(input, i, type) & (uint32_t)mask;
            memcpy((float *)output + i, &bits, sizeof bits);
        }
    }
    return 1;
}
FASTREDUCE_DETAIL_FOR_THIS_CPU(fastreduce_detail_convert,
                               (const void *input, size_t n, fastreduce_type type, uint64_t mask,
                                void *output),
                               (input, n, type, mask, output))

/* Returns n elements from the begin-th on as floats, or doubles as they are, without their signs
 * where `magnitudes` is 1: the input itself where that changes nothing, else the buffer. */
FASTREDUCE_DETAIL_NOINLINE const void *fastreduce_detail_operand(const void *input, size_t begin,
                                                                 size_t n, fastreduce_type type,
                                                                 int magnitudes, void *buffer)
{
    const int cut = magnitudes + (type == FASTREDUCE_F64 ? 0 : 32); /* bits of a mask */
    input = (const char *)input + begin * fastreduce_type_size(type);
    if (!magnitudes && (type == FASTREDUCE_F32 || type == FASTREDUCE_F64)) return input;
    fastreduce_detail_convert(input, n, type, ~(uint64_t)0 >> cut, buffer);
    return buffer;
}

/* Adds floats that have the values of halves, a chunk or less, and returns 1; or 0 if some are not
 * finite. They are multiples of 2^-24 below 2^16, so each sum of some is a double, exactly. In any
 * order a sum of some that are not finite is not. It is volatile, as the compiler may take for
 * granted that what it adds is finite. */
FASTREDUCE_DETAIL_INLINE int fastreduce_detail_add_halves_any(int64_t *limb, const float *floats,
                                                              size_t n)
{
    double lane[8] = {0, 0, 0, 0, 0, 0, 0, 0}, sum;
    volatile double total;

    size_t i;
    int k;
    for (i = 0; i + 8 <= n; i += 8)
        for (k = 0; k < 8; ++k) lane[k] += (double)floats[i + (size_t)k];
    for (; i < n; ++i) lane[0] += (double)floats[i];
    for (k = 1; k < 8; ++k) lane[0] += lane[k];
    total = lane[0];
    sum = total;
    if ((fastreduce_detail_load(&sum, 0, sizeof sum) >> 52 & 2047) == 2047) return 0;
    fastreduce_detail_add_scaled(limb, (int64_t)(sum * (1 << 24)), 149 - 24);
    return 1;
}
FASTREDUCE_DETAIL_FOR_THIS_CPU(fastreduce_detail_add_halves,
                               (int64_t * limb, const float *floats, size_t n), (limb, floats, n))

/* Adds x[k] * y[k] one by one, of any floats, or to an accumulator of products, of any doubles:
 * less than 2^54 each to a limb. Infinity times zero is a NaN. */
FASTREDUCE_DETAIL_NOINLINE void fastreduce_detail_add_each_product(int64_t *limb, const void *x,
                                                                   const void *y, size_t n,
                                                                   int is_double)
{
    const int digits = is_double ? FASTREDUCE_DETAIL_PRODUCT_DIGITS : FASTREDUCE_DETAIL_WIDE_DIGITS,
              shift = is_double ? 32 * FASTREDUCE_DETAIL_FIRST_WIDE - 1074 : 1074 - 2 * 149,
              fraction_bits = is_double ? 52 : 23;
    const uint64_t one = (uint64_t)1 << fraction_bits, infinity = (is_double ? 2047 : 255) * one,
                   sign = infinity + one;
    size_t i;
    FASTREDUCE_DETAIL_ONE_BY_ONE(n);
    for (i = 0; i < n; ++i) {
        const uint64_t a = fastreduce_detail_load(x, i, is_double ? 8 : 4),
                       b = fastreduce_detail_load(y, i, is_double ? 8 : 4), p = a & (sign - 1),
                       q = b & (sign - 1), shift_p = p < one ? 0 : (p >> fraction_bits) - 1,
                       shift_q = q < one ? 0 : (q >> fraction_bits) - 1;
        const int is_negative = ((a ^ b) & sign) != 0;
        const unsigned position = (unsigned)(shift_p + shift_q) + (unsigned)shift;
        uint64_t low, high;
        if (p >= infinity || q >= infinity) {
            const int is_nan = p > infinity || q > infinity || p == 0 || q == 0;
            ++limb[digits + (is_nan ? 0 : is_negative ? 2 : 1)];
            continue;
        }
        low = fastreduce_detail_multiply_words(p - (shift_p << fraction_bits),
                                               q - (shift_q << fraction_bits), &high);
        fastreduce_detail_add_significand(limb, low & (((uint64_t)1 << 53) - 1), position,
                                          is_negative);
        if (is_double)
            fastreduce_detail_add_significand(limb, high << 11 | low >> 53, position + 53,
                                              is_negative);
    }
}

/* Multiplies floats. Products are doubles, exactly, unless a factor is a denormal, which the CPU
 * may take for zero, or not finite. Returns 1 if that is so for all n. */
FASTREDUCE_DETAIL_INLINE int fastreduce_detail_multiply_any(const float *x, const float *y,
                                                            double *products, size_t n)
{
    uint32_t greatest = 0, least = 0xffffffff;
    size_t i;
    for (i = 0; i < n; ++i) {
        const uint32_t a = (uint32_t)fastreduce_detail_load(x, i, sizeof *x) & 0x7fffffff,
                       b = (uint32_t)fastreduce_detail_load(y, i, sizeof *y) & 0x7fffffff;
        greatest = a > greatest ? a : greatest;
        greatest = b > greatest ? b : greatest;
        least = a - 1 < least ? a - 1 : least; /* zeros do not count */
        least = b - 1 < least ? b - 1 : least;
    }
    if (greatest >= 0x7f800000 || least < 0x7fffff) return 0;
    for (i = 0; i < n; ++i) products[i] = (double)x[i] * (double)y[i];
    return 1;
}
FASTREDUCE_DETAIL_FOR_THIS_CPU(fastreduce_detail_multiply,
                               (const float *x, const float *y, double *products, size_t n),
                               (x, y, products, n))

/* The state of a streaming sum of floats or doubles. A window that missed a chunk pauses, longer
 * each time: `pause` counts chunks until it is tried again, `last_pause` is the length. */
typedef struct fastreduce_detail_stream {
    int pause, last_pause;                   /* of the window of floats or doubles */
    int products_pause, products_last_pause; /* of the window of products */
    int is_double, has_window, is_long;      /* long: bins of doubles pay off */
    int levels, unit;                        /* place of the window of doubles, an exponent of 2 */
    unsigned position;                       /* of the window of floats */
    size_t in_bins;                          /* since all bins were empty */
    uint64_t bin[4096];                      /* of each sign and exponent: a sum of significands */
} fastreduce_detail_stream;

#ifdef FASTREDUCE_DETAIL_AVX2
#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed" /* sanitizers keep it from vectorising */
#endif
/* The window. A float whose exponent is one of the 24 from position + 1 on is an integer times
 * 2^(position - 149): its significand shifted by 0 to 23 bits, below 2^47 in magnitude. Shifts give
 * its multiples of 2^24, rounded down, and its lowest 32 bits. Both add up in 32 bits, so that a
 * vector holds many. What the multiples leave is 0 to 2^24 - 1 for each float, so for a row the
 * lowest 32 bits tell how much. This is integer arithmetic, unlike the window on the GPU: rounding
 * modes, flush-to-zero and -ffast-math do not matter. On one core (AMD EPYC, Zen 4) it reads 20
 * GB/s where bins read 8 and a loop that adds floats 5.
 *
 * Sums n elements, which are rows, in units of 2^(position - 149), and returns 1 if all are in the
 * window or zeros. It ends after a row that misses. *greatest: the bits of the greatest magnitude
 * up to there. */
FASTREDUCE_DETAIL_AVX2 static int fastreduce_detail_sum_window(const float *input, size_t n,
                                                               unsigned position, int64_t *sum,
                                                               uint32_t *greatest)
{
    const int32_t begin = (int32_t)((position + 1) << 23);
    int32_t most = 0, lost = 0;
    int64_t total = 0;
    size_t i;
    int k;

    for (i = 0; i < n; i += FASTREDUCE_DETAIL_ROW) {
        uint32_t high = 0, low = 0; /* sums modulo 2^32 */
        /* Two rows ahead: hardware prefetchers stop at the end of a page, and the loop is too long
         * for the core to see past. From memory twice as fast (Intel Xeon with AMX, one core:
         * 11.3 GB/s, 5.6 without). */
        for (k = 0; k < FASTREDUCE_DETAIL_ROW; k += 16)
            FASTREDUCE_DETAIL_PREFETCH(input + i + k, 2 * FASTREDUCE_DETAIL_ROW * sizeof *input);
#ifdef __clang__
#pragma clang loop vectorize(enable)
#endif
        for (k = 0; k < FASTREDUCE_DETAIL_ROW; ++k) {
            int32_t bits, magnitude, is_below, is_negative, significand;
            uint32_t shift;
            memcpy(&bits, input + i + k, sizeof bits);
            magnitude = bits & 0x7fffffff;
            is_below = (magnitude - begin) >> 31; /* all bits of the sign: no branch */
            is_negative = bits >> 31;
            most = magnitude > most ? magnitude : most;
            lost |= magnitude & is_below;
            significand = ((bits & 0x7fffff) | 0x800000) & ~is_below;
            significand = (significand ^ is_negative) - is_negative;
            shift = (uint32_t)(magnitude - begin) >> 23 & 31;
            high += (uint32_t)(significand * 128 >> (31 - shift)); /* * 2^(shift - 24) */
            low += (uint32_t)significand << shift;
        }
        total += (int64_t)(int32_t)high * (1 << 24) + (uint32_t)(low - (high << 24));
        if (lost != 0 || (uint32_t)most >> 23 > position + 24) break;
    }
    *sum = total;
    *greatest = (uint32_t)most;
    return lost == 0 && *greatest >> 23 <= position + 24;
}
#ifdef __clang__
#pragma clang diagnostic pop
#endif

/* Adds n elements, which are rows or less than one, and returns 1; or adds nothing, where no window
 * has them all. The window is the last call's, or if they miss it, the one with the greatest of
 * them and one more binade. */
static inline int fastreduce_detail_add_to_window(int64_t *limb, const float *input, size_t n,
                                                  unsigned *position)
{
    float row[FASTREDUCE_DETAIL_ROW];
    int64_t sum;
    uint32_t greatest;

    if (n < FASTREDUCE_DETAIL_ROW) { /* zeros follow */
        memset(row, 0, sizeof row);
        memcpy(row, input, n * sizeof *row);
        input = row;
        n = FASTREDUCE_DETAIL_ROW;
    }
    if (!fastreduce_detail_sum_window(input, n, *position, &sum, &greatest)) {
        const unsigned exponent = greatest >> 23, last = *position;
        *position = exponent <= 23 ? 0 : exponent < 253 ? exponent - 23 : 230;
        if (*position == last ||
            !fastreduce_detail_sum_window(input, n, *position, &sum, &greatest))
            return 0;
    }
    fastreduce_detail_add_scaled(limb, sum, *position);
    return 1;
}

typedef uint64_t fastreduce_detail_words_t __attribute__((vector_size(32)));
typedef double fastreduce_detail_doubles_t __attribute__((vector_size(32)));
/* For the compiler x may be any number, so that -ffast-math does not simplify what comes of it. */
#define FASTREDUCE_DETAIL_OPAQUE(x) __asm__("" : "+x"(x))
/* a * b - x in x, rounded once, whatever the compiler makes of such expressions. */
#define FASTREDUCE_DETAIL_FUSED_ERROR(a, b, x) \
    __asm__("vfmsub231pd {%2, %1, %0|%0, %1, %2}" : "+x"(x) : "x"(a), "x"(b))

/* The window of doubles. A level is a constant of 1.5 * 2^52 units, which rounds what is added to
 * it to a unit. What that loses goes to the next level, whose unit is 2^44 times smaller. Sums stay
 * in the binade of their constant, so that their bits count units. Only the addition to a level
 * rounds, and it has to round to nearest.
 *
 * Sums n doubles or products x[k] * y[k], a multiple of 8 and a chunk at most. Returns 1 if all are
 * below 2^(unit + 44) in magnitude and multiples of the last level's unit: then the sum is
 * sums[0] * 2^unit + sums[1] * 2^(unit - 44) + ... */
FASTREDUCE_DETAIL_INLINE FASTREDUCE_DETAIL_AVX2 int
fastreduce_detail_sum_levels(const double *input, const float *x, const float *y, size_t n,
                             int unit, const int levels, int64_t *sums)
{
    const uint64_t greatest = ((uint64_t)(unit + 1023 + FASTREDUCE_DETAIL_LEVEL) << 52) - 1,
                   magnitudes = 0x7fffffffffffffff;
    fastreduce_detail_words_t above = {0}, lost = {0}, start[FASTREDUCE_DETAIL_LEVELS];
    fastreduce_detail_doubles_t level[FASTREDUCE_DETAIL_LEVELS][2];
    size_t i, m;
    int j, k;

    for (k = 0; k < levels; ++k) {
        start[k] = above + ((uint64_t)(unit + 1075 - k * FASTREDUCE_DETAIL_LEVEL) << 52 |
                            (uint64_t)1 << 51);
        level[k][0] = level[k][1] = (fastreduce_detail_doubles_t)start[k];
    }
    for (i = 0; i < n; i += 8) {
        double products[8];
        if (input == 0) {
            FASTREDUCE_DETAIL_PREFETCH(x + i, 2048);
            FASTREDUCE_DETAIL_PREFETCH(y + i, 2048);
            for (m = 0; m < 8; ++m) products[m] = (double)x[i + m] * (double)y[i + m];
        } else {
            FASTREDUCE_DETAIL_PREFETCH(input + i, 4096);
        }
        for (j = 0; j < 2; ++j) {
            fastreduce_detail_doubles_t term, sum, taken;
            memcpy(&term, input == 0 ? products + 4 * j : input + i + 4 * j, sizeof term);
            FASTREDUCE_DETAIL_OPAQUE(term); /* its bits tell whether it is finite */
            above |= greatest - ((fastreduce_detail_words_t)term & magnitudes);
            for (k = 0; k < levels; ++k) {
                if (k > 0) term -= taken;
                FASTREDUCE_DETAIL_OPAQUE(term);
                sum = level[k][j] + term;
                FASTREDUCE_DETAIL_OPAQUE(sum);
                taken = sum - level[k][j];
                FASTREDUCE_DETAIL_OPAQUE(taken);
                level[k][j] = sum;
            }
            lost |= (fastreduce_detail_words_t)term ^ (fastreduce_detail_words_t)taken;
        }
    }
    for (k = 0; k < levels; ++k) {
        const fastreduce_detail_words_t units = (fastreduce_detail_words_t)level[k][0] - start[k] +
                                                (fastreduce_detail_words_t)level[k][1] - start[k];
        sums[k] = (int64_t)(units[0] + units[1] + units[2] + units[3]);
    }
    lost = (lost & magnitudes) | above >> 63;
    return (lost[0] | lost[1] | lost[2] | lost[3]) == 0;
}
FASTREDUCE_DETAIL_AVX2 static int fastreduce_detail_sum_chunk(const double *input, const float *x,
                                                              const float *y, size_t n, int unit,
                                                              int levels, int64_t *sums)
{
    if (levels == 2) return fastreduce_detail_sum_levels(0, x, y, n, unit, 2, sums);
    return levels == 3 ? fastreduce_detail_sum_levels(input, 0, 0, n, unit, 3, sums)
                       : fastreduce_detail_sum_levels(input, 0, 0, n, unit, 4, sums);
}

/* Returns the greatest biased exponent of n doubles. */
FASTREDUCE_DETAIL_AVX2 static int fastreduce_detail_top_exponent(const double *input, size_t n)
{
    int64_t greatest = 0;
    size_t i;
    for (i = 0; i < n; ++i) {
        const int64_t magnitude = (int64_t)(fastreduce_detail_load(input, i, 8) << 1 >> 1);
        greatest = magnitude > greatest ? magnitude : greatest;
    }
    return (int)(greatest >> 52);
}

/* Adds the sums of a window's levels to the limbs. */
static inline void fastreduce_detail_add_levels(int64_t *limb, const int64_t *sums, int levels,
                                                int unit)
{
    int k;
    for (k = 0; k < levels; ++k)
        fastreduce_detail_add_scaled(limb, sums[k],
                                     (unsigned)(unit + 1074 - k * FASTREDUCE_DETAIL_LEVEL));
}

/* Adds a chunk or less and returns 1; or adds nothing, where the window misses some. One that
 * misses is first placed anew, with two binades above the greatest of them. */
static inline int fastreduce_detail_add_to_wide_window(fastreduce_detail_stream *state,
                                                       int64_t *limb, const double *input, size_t n)
{
    const int lowest = (FASTREDUCE_DETAIL_LEVELS - 1) * FASTREDUCE_DETAIL_LEVEL - 1074;
    int64_t sums[FASTREDUCE_DETAIL_LEVELS];
    double padded[FASTREDUCE_DETAIL_CHUNK];
    if (n % 8 != 0) {
        memcpy(padded, input, n * sizeof *padded);
        for (input = padded; n % 8 != 0; ++n) padded[n] = 0;
    }
    if (state->levels == 0 ||
        !fastreduce_detail_sum_chunk(input, 0, 0, n, state->unit, state->levels, sums)) {
        state->unit = fastreduce_detail_top_exponent(input, n) - 1020 - FASTREDUCE_DETAIL_LEVEL;
        if (state->unit < lowest) state->unit = lowest;
        if (state->unit > 970) state->unit = 970;
        for (state->levels = 3; state->levels <= FASTREDUCE_DETAIL_LEVELS; ++state->levels)
            if (fastreduce_detail_sum_chunk(input, 0, 0, n, state->unit, state->levels, sums))
                break;
        if (state->levels > FASTREDUCE_DETAIL_LEVELS) {
            state->levels = 0;
            return 0;
        }
    }
    fastreduce_detail_add_levels(limb, sums, state->levels, state->unit);
    return 1;
}
#endif

/* Returns whether sums are rounded to nearest, once, and denormals are numbers. */
FASTREDUCE_DETAIL_NOINLINE int fastreduce_detail_is_usual_arithmetic(void)
{
    volatile double one = 1, little = 5e-17, least_normal = 2.3e-308; /* little: below 2^-54 */
    volatile double half = 1.1102230246251568e-16; /* above 2^-53; x87 rounds twice */
    volatile double next = one + half, more = one + little, less = one - little,
                    denormal = least_normal * 0.125;
    return more == 1 && less == 1 && next > 1 && denormal > 0;
}

/* Begins a sum of n floats, or of doubles. */
static inline void fastreduce_detail_begin(fastreduce_detail_stream *state, size_t n, int is_double)
{
    state->pause = state->last_pause = state->products_pause = state->products_last_pause = 0;
    state->is_double = is_double;
    state->has_window =
        FASTREDUCE_DETAIL_HAS_AVX2 && (!is_double || fastreduce_detail_is_usual_arithmetic());
    state->position = 106; /* a guess: from 2^-20 to 2^4 */

    state->levels = 3; /* a guess: from 2^-115 to 2^17, of products from 2^-71 on */
    state->unit = -27;
    state->is_long = n >= FASTREDUCE_DETAIL_BLOCK;
    state->in_bins = 0;
}

static inline void fastreduce_detail_end(fastreduce_detail_stream *state, int64_t *limb)
{
    unsigned k;
    for (k = 0; state->in_bins > 0 && k < (state->is_double ? 4096 : 512); ++k) {
        if (!state->is_double) state->bin[k] += state->bin[k + 512];
        if (state->bin[k] > 0) fastreduce_detail_empty_bin(state->bin, k, limb, state->is_double);
    }
    state->in_bins = 0;
}

/* Adds a chunk or less to the window. What it misses goes to bins, or one by one if it is too
 * little for them. A chunk adds less than 2^44 to a limb. */
FASTREDUCE_DETAIL_NOINLINE void fastreduce_detail_add_chunk(fastreduce_detail_stream *state,
                                                            int64_t *limb, const void *input,
                                                            size_t n)
{
    const int is_double = state->is_double;
#ifdef FASTREDUCE_DETAIL_AVX2
    if (state->has_window && (is_double || n >= 64) && !(state->pause > 0 && state->pause--)) {
        if (is_double ? fastreduce_detail_add_to_wide_window(state, limb, (const double *)input, n)
                      : fastreduce_detail_add_to_window(limb, (const float *)input, n,
                                                        &state->position)) {
            state->last_pause /= 2;
            return;
        }
        state->pause = state->last_pause = state->last_pause < 16 ? 2 * state->last_pause + 1 : 31;
    }
#endif
    if (state->in_bins > 0 ||
        (is_double ? state->is_long && (!state->has_window || state->last_pause > 1)
                   : n > FASTREDUCE_DETAIL_ROW)) {
        if (!is_double && state->in_bins + n > FASTREDUCE_DETAIL_BINS_FULL)
            fastreduce_detail_end(state, limb);
        if (state->in_bins == 0)
            memset(state->bin, 0, (is_double ? 4096 : 1024) * sizeof *state->bin);
        state->in_bins += n;
        if (is_double)
            fastreduce_detail_add_to_bins(state->bin, limb, input, n, 1);
        else
            fastreduce_detail_add_to_bins(state->bin, limb, input, n, 0);
    } else if (is_double) {
        fastreduce_detail_add_each(limb, 1, input, n);
        fastreduce_detail_carry(limb, FASTREDUCE_DETAIL_WIDE_DIGITS);
    } else {
        fastreduce_detail_add_each(limb, 0, input, n);
    }
}

/* Adds x[k] * y[k] for n elements, a chunk at most: to the window of products, or as doubles, or
 * one by one. */
static inline void fastreduce_detail_add_products(fastreduce_detail_stream *state, int64_t *limb,
                                                  const float *x, const float *y, size_t n)
{
    double products[FASTREDUCE_DETAIL_CHUNK];
#ifdef FASTREDUCE_DETAIL_AVX2
    if (state->has_window && n == FASTREDUCE_DETAIL_CHUNK &&
        (state->products_pause == 0 || state->products_pause-- == 0)) {
        int64_t sums[2];
        if (fastreduce_detail_sum_chunk(0, x, y, n, state->unit, 2, sums)) {
            fastreduce_detail_add_levels(limb, sums, 2, state->unit);
            state->products_last_pause /= 2;
            return;
        }
        state->products_pause = state->products_last_pause =
            state->products_last_pause < 16 ? 2 * state->products_last_pause + 1 : 31;
        state->levels = 0; /* the next try is where the doubles of this chunk are */
    }
#endif
    if (fastreduce_detail_multiply(x, y, products, n)) {
        fastreduce_detail_add_chunk(state, limb, products, n);
    } else {
        fastreduce_detail_add_each_product(limb, x, y, n, 0);
        fastreduce_detail_carry(limb, FASTREDUCE_DETAIL_WIDE_DIGITS);
    }
}

#ifdef FASTREDUCE_DETAIL_AVX2
/* Splits x[k] * y[k], for a multiple of 4 elements, into the rounded product and its error. Both
 * are 0 where the product may overflow, which rounding to zero hides. So are they where the error
 * may be a denormal, which the CPU may take for 0. Returns 1 if each of these has a zero factor. */
FASTREDUCE_DETAIL_AVX2 static int fastreduce_detail_split_products(const double *x, const double *y,
                                                                   double *products, double *errors,
                                                                   size_t n)
{
    const uint64_t least = (uint64_t)(1023 - 900) << 52, most = ((uint64_t)2046 << 52) - 1,
                   magnitudes = 0x7fffffffffffffff;
    fastreduce_detail_words_t missed = {0};
    size_t k;
    for (k = 0; k < n; k += 4) {
        fastreduce_detail_doubles_t a, b, product, error;
        fastreduce_detail_words_t bits, is_zero, is_outside;
        FASTREDUCE_DETAIL_PREFETCH(x + k, 4096);
        FASTREDUCE_DETAIL_PREFETCH(y + k, 4096);
        memcpy(&a, x + k, sizeof a);
        memcpy(&b, y + k, sizeof b);
        product = a * b;
        FASTREDUCE_DETAIL_OPAQUE(product);
        error = product;
        FASTREDUCE_DETAIL_FUSED_ERROR(a, b, error);
        bits = (fastreduce_detail_words_t)product & magnitudes;
        /* in the top bit, as 0 - 1 is negative */
        is_zero = (bits - 1) & ((((fastreduce_detail_words_t)a & magnitudes) - 1) |
                                (((fastreduce_detail_words_t)b & magnitudes) - 1));
        is_outside = -(((bits - least) | (most - bits)) >> 63);
        missed |= is_outside & ~is_zero;
        bits = (fastreduce_detail_words_t)product & ~is_outside;
        memcpy(products + k, &bits, sizeof bits);
        bits = (fastreduce_detail_words_t)error & ~is_outside;
        memcpy(errors + k, &bits, sizeof bits);
    }
    return ((missed[0] | missed[1] | missed[2] | missed[3]) >> 63) == 0;
}
#endif

/* Adds x[k] * y[k] for n doubles: as sums of two doubles, or one by one. */
FASTREDUCE_DETAIL_NOINLINE void fastreduce_detail_accumulate_dot_f64(int64_t *limb, const double *x,
                                                                     const double *y, size_t n)
{
    size_t i = 0, count;
    fastreduce_detail_normalize(limb, FASTREDUCE_DETAIL_PRODUCT_DIGITS);
#ifdef FASTREDUCE_DETAIL_AVX2
    if (n >= 4 && FASTREDUCE_DETAIL_HAS_FMA) {
        int64_t *const wide = limb + FASTREDUCE_DETAIL_FIRST_WIDE;
        double products[FASTREDUCE_DETAIL_CHUNK], errors[FASTREDUCE_DETAIL_CHUNK];
        fastreduce_detail_stream state[2];
        size_t k;
        for (k = 0; k < 2; ++k) fastreduce_detail_begin(state + k, n, 1);
        for (; n - i >= 4; i += count) {
            count = (n - i < FASTREDUCE_DETAIL_CHUNK ? n - i : FASTREDUCE_DETAIL_CHUNK) / 4 * 4;
            if (!fastreduce_detail_split_products(x + i, y + i, products, errors, count))
                for (k = 0; k < count; ++k)
                    if (products[k] == 0)
                        fastreduce_detail_add_each_product(limb, x + i + k, y + i + k, 1, 1);
            fastreduce_detail_add_chunk(state, wide, products, count);
            fastreduce_detail_add_chunk(state + 1, wide, errors, count);
            fastreduce_detail_carry(limb, FASTREDUCE_DETAIL_PRODUCT_DIGITS);
        }
        for (k = 0; k < 2; ++k) fastreduce_detail_end(state + k, wide);
    }
#endif
    for (; i < n; i += count) {
        count = n - i < FASTREDUCE_DETAIL_CHUNK ? n - i : FASTREDUCE_DETAIL_CHUNK;
        fastreduce_detail_add_each_product(limb, x + i, y + i, count, 1);
        if (n - i > count) fastreduce_detail_carry(limb, FASTREDUCE_DETAIL_PRODUCT_DIGITS);
    }
    fastreduce_detail_normalize(limb, FASTREDUCE_DETAIL_PRODUCT_DIGITS);
}

/* Adds n elements, or their magnitudes, or of floats to a wide accumulator x[k] * y[k]. */
FASTREDUCE_DETAIL_NOINLINE void fastreduce_detail_accumulate(int64_t *limb, int digits,
                                                             const void *x, const void *y, size_t n,
                                                             fastreduce_type type, int magnitudes)
{
    const int is_wide = digits == FASTREDUCE_DETAIL_WIDE_DIGITS,
              has_products = is_wide && type != FASTREDUCE_F64;
    const size_t most = type == FASTREDUCE_F32 && !is_wide && !magnitudes ? FASTREDUCE_DETAIL_BLOCK
                                                                          : FASTREDUCE_DETAIL_CHUNK;
    double buffer[2][FASTREDUCE_DETAIL_CHUNK]; /* or floats */
    fastreduce_detail_stream state;
    size_t i, count, chunks = 0;

    fastreduce_detail_normalize(limb, digits);
    fastreduce_detail_begin(&state, n, is_wide);
    for (i = 0; i < n; i += count) {
        const void *left, *right;
        count = n - i < most ? n - i : most;
        if (!is_wide && count > FASTREDUCE_DETAIL_ROW) count -= count % FASTREDUCE_DETAIL_ROW;
        left = right = fastreduce_detail_operand(x, i, count, type, magnitudes, buffer[0]);
        if (has_products && x != y)
            right = fastreduce_detail_operand(y, i, count, type, 0, buffer[1]);
        if (has_products)
            fastreduce_detail_add_products(&state, limb, (const float *)left, (const float *)right,
                                           count);
        else if (type != FASTREDUCE_F16 ||
                 !fastreduce_detail_add_halves(limb, (const float *)left, count))
            fastreduce_detail_add_chunk(&state, limb, left, count);
        if (++chunks % FASTREDUCE_DETAIL_CHUNKS == 0) fastreduce_detail_carry(limb, digits);
    }
    fastreduce_detail_end(&state, limb);
    fastreduce_detail_normalize(limb, digits);
}

FASTREDUCE_DETAIL_DEFINE void
fastreduce_host_accumulate_f32(const float *input, fastreduce_accumulator *accumulator, size_t n)
{
    fastreduce_detail_accumulate(accumulator->limb, FASTREDUCE_DETAIL_DIGITS, input, NULL, n,
                                 FASTREDUCE_F32, 0);
}

FASTREDUCE_DETAIL_DEFINE void
fastreduce_host_accumulate_dot_f64(const double *x, const double *y,
                                   fastreduce_product_accumulator *accumulator, size_t n)
{
    fastreduce_detail_accumulate_dot_f64(accumulator->limb, x, y, n);
}

FASTREDUCE_DETAIL_DEFINE void
fastreduce_host_accumulate_f64(const double *input, fastreduce_wide_accumulator *accumulator,
                               size_t n)
{
    fastreduce_detail_accumulate(accumulator->limb, FASTREDUCE_DETAIL_WIDE_DIGITS, input, NULL, n,
                                 FASTREDUCE_F64, 0);
}

/* Returns a status: whether n elements can be there, and are floats, whose sums are floats. */
static inline fastreduce_status fastreduce_detail_host_check(const void *input, size_t n,
                                                             fastreduce_type type)
{
    const size_t bytes = fastreduce_type_size(type);
    const fastreduce_type sum = fastreduce_output_type(type, FASTREDUCE_SUM);
    if (bytes == 0 || (!input && n > 0) || n > (UINTPTR_MAX - (uintptr_t)input) / bytes ||
        (uintptr_t)input % bytes != 0)
        return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    return sum == FASTREDUCE_F32 || sum == FASTREDUCE_F64 ? FASTREDUCE_SUCCESS
                                                          : FASTREDUCE_ERROR_UNSUPPORTED;
}

/* Adds one array, or the products of two, of f16, bf16 or f32. Returns a status. */
static inline fastreduce_status fastreduce_detail_try_accumulate(void *accumulator, int digits,
                                                                 const void *x, const void *y,
                                                                 size_t n, fastreduce_type type)
{
    const fastreduce_status status = fastreduce_detail_host_check(x, n, type);
    if (!accumulator || (uintptr_t)accumulator % sizeof(int64_t) != 0 || type == FASTREDUCE_F64 ||
        fastreduce_detail_host_check(y, n, type) != status)
        return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    if (status == FASTREDUCE_SUCCESS)
        fastreduce_detail_accumulate((int64_t *)accumulator, digits, x, y, n, type, 0);
    return status;
}

FASTREDUCE_DETAIL_DEFINE fastreduce_status fastreduce_host_accumulate(
    const void *input, fastreduce_accumulator *accumulator, size_t n, fastreduce_type type)
{
    return fastreduce_detail_try_accumulate(accumulator, FASTREDUCE_DETAIL_DIGITS, input, input, n,
                                            type);
}

FASTREDUCE_DETAIL_DEFINE fastreduce_status fastreduce_host_accumulate_dot(
    const void *x, const void *y, fastreduce_wide_accumulator *accumulator, size_t n,
    fastreduce_type type)
{
    return fastreduce_detail_try_accumulate(accumulator, FASTREDUCE_DETAIL_WIDE_DIGITS, x, y, n,
                                            type);
}

/* Returns the bits of infinity, or of an integer all. */
FASTREDUCE_DETAIL_INLINE uint64_t fastreduce_detail_infinity(fastreduce_type type)
{
    static const uint64_t infinities[] = {0, 0x7f800000, (uint64_t)2047 << 52, 0x7c00, 0x7f80};
    return type <= FASTREDUCE_BF16 ? infinities[type] : ~(uint64_t)0;
}

/* Returns whether element i is NaN. */
FASTREDUCE_DETAIL_INLINE int fastreduce_detail_is_nan(const void *x, size_t i, fastreduce_type type)
{
    const size_t bytes = fastreduce_type_size(type);
    const uint64_t sign = (uint64_t)1 << (8 * bytes - 1);
    return (fastreduce_detail_load(x, i, bytes) & (sign - 1)) > fastreduce_detail_infinity(type);
}

/* Returns how many elements are not NaN. */
FASTREDUCE_DETAIL_INLINE size_t fastreduce_detail_numbers(const void *x, size_t n,
                                                          fastreduce_type type)
{
    size_t i, count = 0;
    for (i = 0; i < n; ++i) count += !fastreduce_detail_is_nan(x, i, type);
    return count;
}

/* Returns the bits of the variance. Both sums are of one read, as much at a time as caches hold. */
FASTREDUCE_DETAIL_NOINLINE uint64_t fastreduce_detail_host_variance(const void *x, size_t n,
                                                                    fastreduce_type type,
                                                                    int precision, int skips_nan)
{
    int64_t sum[FASTREDUCE_DETAIL_WIDE_DIGITS + 4] = {0};
    int64_t squares[FASTREDUCE_DETAIL_PRODUCT_DIGITS + 4] = {0};
    int64_t narrow[FASTREDUCE_DETAIL_DIGITS + 4] = {0};
    int64_t digit[FASTREDUCE_DETAIL_VARIANCE_DIGITS] = {0};
    const int is_f64 = type == FASTREDUCE_F64,
              of_sum = is_f64 ? FASTREDUCE_DETAIL_WIDE_DIGITS : FASTREDUCE_DETAIL_DIGITS,
              digits = is_f64 ? FASTREDUCE_DETAIL_PRODUCT_DIGITS : FASTREDUCE_DETAIL_WIDE_DIGITS;
    const size_t most = 64 * FASTREDUCE_DETAIL_CHUNK, bytes = fastreduce_type_size(type);
    size_t i, count;
    int k;
    for (i = 0; i < n; i += count) {
        const char *const part = (const char *)x + i * bytes;
        count = n - i < most ? n - i : most;
        fastreduce_detail_accumulate(is_f64 ? sum : narrow, of_sum, part, NULL, count, type, 0);
        if (is_f64)
            fastreduce_detail_accumulate_dot_f64(squares, (const double *)part,
                                                 (const double *)part, count);
        else
            fastreduce_detail_accumulate(squares, digits, part, part, count, type, 0);
    }
    for (k = 0; k < FASTREDUCE_DETAIL_DIGITS; ++k)
        fastreduce_detail_add_scaled(sum, narrow[k], 1074 - 149 + 32 * (unsigned)k);
    for (k = 0; k < 3; ++k)
        sum[FASTREDUCE_DETAIL_WIDE_DIGITS + k] += narrow[FASTREDUCE_DETAIL_DIGITS + k];
    if (skips_nan) {
        sum[FASTREDUCE_DETAIL_WIDE_DIGITS] = 0;
        n = fastreduce_detail_numbers(x, n, type);
    }
    return fastreduce_detail_variance(sum, squares, digits, digit, n, precision);
}

/* Returns the bits of a result of x, or if y is an array, of their products. */
static inline uint64_t fastreduce_detail_host_bits(const void *x, const void *y, size_t n,
                                                   fastreduce_type type, fastreduce_operator op,
                                                   int precision, int skips_nan)
{
    const int is_f64 = type == FASTREDUCE_F64,
              digits = y && is_f64   ? FASTREDUCE_DETAIL_PRODUCT_DIGITS
                       : y || is_f64 ? FASTREDUCE_DETAIL_WIDE_DIGITS
                                     : FASTREDUCE_DETAIL_DIGITS;
    int64_t limb[FASTREDUCE_DETAIL_PRODUCT_DIGITS + 4] = {0};
    if (op == FASTREDUCE_VARIANCE)
        return fastreduce_detail_host_variance(x, n, type, precision, skips_nan);
    if (digits == FASTREDUCE_DETAIL_PRODUCT_DIGITS)
        fastreduce_detail_accumulate_dot_f64(limb, (const double *)x, (const double *)y, n);
    else
        fastreduce_detail_accumulate(limb, digits, x, y, n, type, op == FASTREDUCE_SUM_ABS);
    if (skips_nan) {
        limb[digits] = 0;
        n = fastreduce_detail_numbers(x, n, type);
    }
    return fastreduce_detail_host_read(limb, digits, op, n, precision);
}

FASTREDUCE_DETAIL_DEFINE float fastreduce_host_sum_f32(const float *input, size_t n)
{
    return fastreduce_detail_float_of(
        fastreduce_detail_host_bits(input, NULL, n, FASTREDUCE_F32, FASTREDUCE_SUM, 24, 0));
}

FASTREDUCE_DETAIL_DEFINE double fastreduce_host_sum_f64(const double *input, size_t n)
{
    return fastreduce_detail_double_of(
        fastreduce_detail_host_bits(input, NULL, n, FASTREDUCE_F64, FASTREDUCE_SUM, 53, 0));
}

FASTREDUCE_DETAIL_DEFINE float fastreduce_host_dot_f32(const float *x, const float *y, size_t n)
{
    return fastreduce_detail_float_of(
        fastreduce_detail_host_bits(x, y, n, FASTREDUCE_F32, FASTREDUCE_SUM, 24, 0));
}

/* ---- AUTO's bits, on the CPU ---- */

#define FASTREDUCE_DETAIL_UP 4.149515568880993e180    /* 2^600 */
#define FASTREDUCE_DETAIL_DOWN 2.409919865102884e-181 /* 2^-600 */

/* A partial result. `more` is VARIANCE's sum of squares, or NORM2's b at fastreduce_operator. */
typedef struct fastreduce_detail_partial {
    double value, more;
} fastreduce_detail_partial;

/* What is reduced: the elements of x, or if y is not null, their products with those of y. */
typedef struct fastreduce_detail_reduction {
    const void *x, *y;
    size_t n, bytes, pack; /* bytes of an element, and elements of a leaf */
    fastreduce_type type;
    fastreduce_operator op;
    int is_float, is_signed, is_narrow; /* narrow: each operation gives a float */
    int skips_nan;
    uint64_t top, first; /* an element's highest bit; VARIANCE: input[0], or 0 */
    double origin;       /* what VARIANCE subtracts from a float, or 0 */
} fastreduce_detail_reduction;

/* Rounds the result of one operation. It is volatile: no option of a compiler changes it. */
FASTREDUCE_DETAIL_INLINE double fastreduce_detail_rounded(const fastreduce_detail_reduction *r,
                                                          double x)
{
    volatile double wide = x;
    volatile float narrow;
    if (!r->is_narrow) return wide;
    narrow = (float)x;
    return (double)narrow;
}

/* Returns fma(a, b, c), or its square root for NORM2, without the C library. */
FASTREDUCE_DETAIL_NOINLINE double fastreduce_detail_fuse(double a, double b, double c,
                                                         fastreduce_operator op)
{
    const double one = 1;
    int64_t limb[FASTREDUCE_DETAIL_PRODUCT_DIGITS + 4] = {0};
    fastreduce_detail_add_each_product(limb, &a, &b, 1, 1);
    fastreduce_detail_add_each_product(limb, &c, &one, 1, 1);
    return fastreduce_detail_double_of(
        fastreduce_detail_host_read(limb, FASTREDUCE_DETAIL_PRODUCT_DIGITS, op, 0, 53));
}

/* Returns the bits of element i, those of a signed integer with copies of its sign before them. */
FASTREDUCE_DETAIL_INLINE uint64_t fastreduce_detail_element(const fastreduce_detail_reduction *r,
                                                            const void *x, size_t i)
{
    const uint64_t bits = fastreduce_detail_load(x, i, r->bytes);
    return r->is_signed ? (bits ^ r->top) - r->top : bits;
}

/* Returns element i as a double; of an integer its difference from r->first, rounded once. */
FASTREDUCE_DETAIL_INLINE double fastreduce_detail_number(const fastreduce_detail_reduction *r,
                                                         const void *x, size_t i)
{
    uint64_t a, b = r->first;
    if (r->skips_nan && fastreduce_detail_is_nan(x, i, r->type))
        return r->op == FASTREDUCE_PRODUCT ? 1 : r->origin;
    if (r->type == FASTREDUCE_F32) return (double)((const float *)x)[i];
    if (r->type == FASTREDUCE_F64) return ((const double *)x)[i];
    a = fastreduce_detail_element(r, x, i);
    if (r->type == FASTREDUCE_F16) a = fastreduce_detail_float_bits(x, i, FASTREDUCE_F16);
    if (r->type == FASTREDUCE_BF16) a <<= 16;
    if (r->is_float) return (double)fastreduce_detail_float_of(a);

    return (r->is_signed ? (int64_t)a < (int64_t)b : a < b) ? -(double)(b - a) : (double)(a - b);
}

/* Returns the leaf of element i. */
FASTREDUCE_DETAIL_INLINE fastreduce_detail_partial
fastreduce_detail_leaf(const fastreduce_detail_reduction *r, size_t i)
{
    const double x = fastreduce_detail_number(r, r->x, i);
    fastreduce_detail_partial leaf = {r->op == FASTREDUCE_SUM_ABS && x < 0 ? -x : x, 0};
    if (r->op == FASTREDUCE_VARIANCE) {
        leaf.value = fastreduce_detail_rounded(r, x - r->origin);
        leaf.more = fastreduce_detail_rounded(r, leaf.value * leaf.value);
    }
    if (r->y) leaf.value = fastreduce_detail_rounded(r, x * fastreduce_detail_number(r, r->y, i));
    if (r->op != FASTREDUCE_NORM2 || r->type != FASTREDUCE_F64) return leaf;
    if (leaf.value > 8.452712498170644e270) leaf.more = 1;    /* 2^900 */
    if (leaf.value < 1.1830521861667747e-271) leaf.more = -1; /* 2^-900; of NaN, none matters */

    if (leaf.more != 0) {
        volatile double y = x * (leaf.more > 0 ? FASTREDUCE_DETAIL_DOWN : FASTREDUCE_DETAIL_UP);
        leaf.value = fastreduce_detail_rounded(r, y * y);
    }
    return leaf;
}

/* Combines neighbours. */
FASTREDUCE_DETAIL_INLINE fastreduce_detail_partial fastreduce_detail_combine(
    const fastreduce_detail_reduction *r, fastreduce_detail_partial a, fastreduce_detail_partial b)
{
    if (r->op == FASTREDUCE_NORM2 && a.more != b.more) {
        fastreduce_detail_partial high = a.more > b.more ? a : b;
        volatile double low = (a.more > b.more ? b : a).value * FASTREDUCE_DETAIL_DOWN;
        high.value =
            fastreduce_detail_fuse(low, FASTREDUCE_DETAIL_DOWN, high.value, FASTREDUCE_SUM);
        return high;
    }
    a.value = r->op == FASTREDUCE_PRODUCT ? a.value * b.value : a.value + b.value;
    a.value = fastreduce_detail_rounded(r, a.value);
    if (r->op == FASTREDUCE_VARIANCE) a.more = fastreduce_detail_rounded(r, a.more + b.more);
    return a;
}

static inline fastreduce_detail_partial
fastreduce_detail_pack_leaf(const fastreduce_detail_reduction *r, size_t first);

/* Reduces n > 0 leaves, as pairwise() at fastreduce_sum_f32 does. It is faster where the last 32
 * leaves of a recursion are combined in place. */
static inline fastreduce_detail_partial
fastreduce_detail_pairwise(const fastreduce_detail_reduction *r, size_t first, size_t n)
{
    fastreduce_detail_partial x[32], y;
    size_t half = 32, step, k;
    if (n > half) {
        while (half < n - half) half *= 2;
        x[0] = fastreduce_detail_pairwise(r, first, half);
        y = fastreduce_detail_pairwise(r, first + half, n - half);
        return fastreduce_detail_combine(r, x[0], y);
    }
    for (k = 0; k < n; ++k)
        x[k] = r->pack > 1 ? fastreduce_detail_pack_leaf(r, (first + k) * r->pack)
                           : fastreduce_detail_leaf(r, first + k);
    for (step = 1; step < n; step *= 2)
        for (k = 0; k + step < n; k += 2 * step)
            x[k] = fastreduce_detail_combine(r, x[k], x[k + step]);
    return x[0];
}

/* Returns the leaf of a pack of floats. At fastreduce_operator, q is F for NORM2, and for VARIANCE
 * it is Q, and leaf.value S. */
static inline fastreduce_detail_partial
fastreduce_detail_pack_leaf(const fastreduce_detail_reduction *r, size_t first)
{
    const int is_norm = r->op == FASTREDUCE_NORM2;
    fastreduce_detail_reduction pack = *r;
    fastreduce_detail_partial leaf;
    volatile double q, by, sum;
    float x[8];
    size_t k;
    for (k = 0; k < r->pack; ++k)
        x[k] = (float)(first + k < r->n ? fastreduce_detail_number(r, r->x, first + k) : r->origin);
    pack.x = x, pack.y = is_norm ? x : NULL;
    pack.type = FASTREDUCE_F32, pack.pack = 1, pack.is_narrow = 1;
    pack.origin = (double)x[0];
    leaf = fastreduce_detail_pairwise(&pack, 0, r->pack);
    q = is_norm ? leaf.value : leaf.more;
    if (is_norm ? q < (double)1e-25f || q > (double)1e38f : q > 1e300) { /* infinity */
        pack.is_narrow = 0, pack.origin = r->origin;
        return fastreduce_detail_pairwise(&pack, 0, r->pack);
    }
    if (is_norm) return leaf;
    by = pack.origin - r->origin;
    sum = (double)(int)r->pack * by + leaf.value;
    leaf.more = fastreduce_detail_fuse(by, sum + leaf.value, q, FASTREDUCE_SUM);
    leaf.value = sum;
    return leaf;
}

FASTREDUCE_DETAIL_INLINE int fastreduce_detail_is_index(fastreduce_operator op)
{
    return op == FASTREDUCE_ARGMIN || op == FASTREDUCE_ARGMAX || op == FASTREDUCE_ARGMAX_ABS;
}

/* Returns the bits of a result that does not round, and the double nearest to a sum of integers. */
FASTREDUCE_DETAIL_NOINLINE uint64_t fastreduce_detail_whole(const fastreduce_detail_reduction *r,
                                                            double *value)
{
    const int is_magnitude = r->op == FASTREDUCE_ARGMAX_ABS,
              is_index = fastreduce_detail_is_index(r->op),
              is_minimum = r->op == FASTREDUCE_MIN || r->op == FASTREDUCE_MIN_MAX ||
                           r->op == FASTREDUCE_ARGMIN,
              is_abs = is_magnitude || r->op == FASTREDUCE_MAX_ABS || r->op == FASTREDUCE_SUM_ABS;
    const uint64_t infinity = fastreduce_detail_infinity(r->type),
                   sign = r->is_float || (r->is_signed && !is_abs) ? (uint64_t)1 << 63 : 0,
                   mask = is_minimum ? ~sign : sign;
    uint64_t low = r->op == FASTREDUCE_PRODUCT, high = 0, best = 0;
    int64_t limb[FASTREDUCE_DETAIL_DIGITS + 4] = {0};
    size_t i, index = 0, left = 0;
    for (i = 0; i < r->n; ++i) {
        uint64_t x = fastreduce_detail_element(r, r->x, i), magnitude = x, key;
        if (r->is_float) magnitude = x & (r->top - 1);
        if (r->skips_nan && magnitude > infinity) continue;
        ++left;
        if (r->is_signed && x >> 63) magnitude = 0 - x;
        if (is_abs) x = magnitude;
        if (r->op == FASTREDUCE_COUNT_NONZERO) x = magnitude != 0;
        if (r->y) x *= fastreduce_detail_element(r, r->y, i);
        low = r->op == FASTREDUCE_PRODUCT ? low * x : low + x;
        high += (low < x) - (r->is_signed ? x >> 63 : 0); /* 128 bits, for MEAN */
        /* Of keys, NaN has the greatest. -0 is the integer -1, but an index takes it for 0. */
        if (r->is_float && x & r->top) x = is_index && magnitude == 0 ? 0 : ~magnitude;
        key = magnitude > infinity ? ~(uint64_t)0 : x ^ mask;
        if (key > best) best = key, index = i;
    }
    if (is_index) return left > 0 ? index : ~(uint64_t)0;
    if (is_minimum || r->op == FASTREDUCE_MAX || r->op == FASTREDUCE_MAX_ABS) {
        best ^= mask;
        if (left == 0) best >>= 64 - 8 * r->bytes;
        if (left == 0 && r->is_float) best = is_abs ? 0 : is_minimum ? infinity : ~infinity;
        return r->is_float && best >> 63 ? ~best ^ r->top : best;
    }
    fastreduce_detail_add_scaled(limb, (int64_t)low, 149);
    fastreduce_detail_add_scaled(limb, (int64_t)(high + (low >> 63)), 149 + 64);

    *value = fastreduce_detail_double_of(
        fastreduce_detail_host_read(limb, FASTREDUCE_DETAIL_DIGITS, FASTREDUCE_SUM, 0, 53));
    return low;
}

/* Returns the bits of AUTO's result, or of the second one. Every NaN that arithmetic gives becomes
 * one. */
FASTREDUCE_DETAIL_NOINLINE uint64_t fastreduce_detail_pairwise_bits(const void *x, const void *y,
                                                                    size_t n, fastreduce_type type,
                                                                    fastreduce_operator op,
                                                                    int is_second, int skips_nan)
{
    const uint64_t sign = (uint64_t)1 << 63, infinity = (uint64_t)2047 << 52;
    const fastreduce_type sum = fastreduce_output_type(type, FASTREDUCE_SUM);
    const int is_norm = op == FASTREDUCE_NORM2, is_variance = op == FASTREDUCE_VARIANCE,
              is_wide = fastreduce_output_type(type, op) == FASTREDUCE_F64,
              is_float = sum == FASTREDUCE_F32 || sum == FASTREDUCE_F64,
              has_packs =
                  sum == FASTREDUCE_F32 && (is_variance || (is_norm && type != FASTREDUCE_F16));
    const size_t bytes = fastreduce_type_size(type), pack = has_packs ? 16 / bytes : 1;
    const int is_choice = (op >= FASTREDUCE_MIN && op <= FASTREDUCE_ARGMAX) ||
                          op == FASTREDUCE_MAX_ABS || op == FASTREDUCE_COUNT_NONZERO ||
                          op == FASTREDUCE_MIN_MAX || op == FASTREDUCE_ARGMAX_ABS;
    fastreduce_detail_reduction r;
    fastreduce_detail_partial total = {op == FASTREDUCE_PRODUCT ? 1.0 : 0.0, 0};
    volatile double count = (double)(skips_nan ? fastreduce_detail_numbers(x, n, type) : n), value;
    double wide;
    float narrow;
    uint64_t bits;

    r.x = x, r.y = y, r.n = n, r.bytes = bytes, r.pack = pack, r.type = type, r.op = op;
    r.is_float = is_float, r.is_signed = sum == FASTREDUCE_I64;
    r.is_narrow = sum == FASTREDUCE_F32 && pack == 1, r.top = (uint64_t)1 << (8 * bytes - 1);
    r.skips_nan = skips_nan, r.origin = 0;
    r.first = is_variance && n > 0 ? fastreduce_detail_element(&r, x, 0) : 0;
    r.origin = is_variance && n > 0 ? fastreduce_detail_number(&r, x, 0) : 0;

    if (is_float ? is_choice : !is_variance && (!is_norm || bytes == 1)) {
        if (is_second && op == FASTREDUCE_MIN_MAX) r.op = FASTREDUCE_MAX;
        bits = fastreduce_detail_whole(&r, &total.value);
        if (is_second && fastreduce_detail_is_index(op))
            return bits + 1 != 0 ? fastreduce_detail_load(x, (size_t)bits, bytes) : 0;
        if (op != FASTREDUCE_MEAN && !is_norm) return bits;
    } else if (n > 0) {
        total = fastreduce_detail_pairwise(&r, 0, n / pack + (n % pack != 0));
    }

    value = total.value;
    if (is_variance || op == FASTREDUCE_MEAN) value = value / count;
    if (is_second) { /* the mean */
        const double first = r.is_signed ? (double)(int64_t)r.first : (double)r.first;
        value = (is_float ? r.origin : first) + value;
    } else if (is_variance) {
        value = fastreduce_detail_fuse(-total.value, value, total.more, FASTREDUCE_SUM) / count;
    }
    if (is_norm) value = fastreduce_detail_fuse(value, 1, 0, op);
    if (is_norm && total.more > 0) value = value * FASTREDUCE_DETAIL_UP;
    if (is_norm && total.more < 0) value = value * FASTREDUCE_DETAIL_DOWN;
    wide = value;
    bits = fastreduce_detail_load(&wide, 0, sizeof wide);
    if ((bits & ~sign) > infinity) return is_wide ? infinity | infinity >> 1 : 0x7fc00000;
    /* SUM_ABS of -0 alone, or VARIANCE whose squares underflow */
    if (((is_variance && !is_second) || op == FASTREDUCE_SUM_ABS) && bits & sign) return 0;
    if (is_wide) return bits;
    narrow = (float)wide;
    return fastreduce_detail_load(&narrow, 0, sizeof narrow);
}

/* Reduces x or, where is_dot is 1, its products with y. That is by EXACT, by AUTO where is_auto is
 * 1, or where it is 2 to AUTO's second result. Returns a status. */
static inline fastreduce_status
fastreduce_detail_host_result(const void *x, const void *y, int is_dot, int is_auto, void *output,
                              size_t n, fastreduce_type type, fastreduce_operator op,
                              fastreduce_type output_type, unsigned options)
{
    const int skips_nan = options == FASTREDUCE_SKIP_NAN;
    const int squares = op == FASTREDUCE_SUM_SQUARES || op == FASTREDUCE_NORM2;
    const int is_exact = squares || op == FASTREDUCE_SUM || op == FASTREDUCE_SUM_ABS ||
                         op == FASTREDUCE_MEAN || op == FASTREDUCE_VARIANCE;
    const fastreduce_type second =
        is_auto == 2 ? fastreduce_second_type(type, op) : FASTREDUCE_DEFAULT_TYPE;
    const fastreduce_type usual = second ? second : fastreduce_output_type(type, op);
    const fastreduce_type result =
        fastreduce_detail_result_type(type, usual, output_type, !is_auto);
    const int precision = fastreduce_detail_precision(result);
    const size_t bytes = fastreduce_type_size(result);
    const fastreduce_status of_x = fastreduce_detail_host_check(x, n, type);
    const fastreduce_status of_y = fastreduce_detail_host_check(y, n, type);
    const uint64_t one = 1;
    const size_t first = *(const char *)&one ? 0 : sizeof one - bytes; /* of the bytes stored */
    uint64_t bits;

    if (of_x == FASTREDUCE_ERROR_INVALID_ARGUMENT || of_y == FASTREDUCE_ERROR_INVALID_ARGUMENT ||
        bytes == 0 || !output || (uintptr_t)output % bytes != 0)
        return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    if (options > FASTREDUCE_SKIP_NAN || (is_auto == 2 && !second) ||
        (!is_auto && (of_x != FASTREDUCE_SUCCESS || !is_exact)) ||
        (output_type != FASTREDUCE_DEFAULT_TYPE && output_type != result))
        return FASTREDUCE_ERROR_UNSUPPORTED;
    if (is_auto && !fastreduce_detail_is_usual_arithmetic()) return FASTREDUCE_ERROR_UNSUPPORTED;
    if (!is_dot && !squares) y = NULL;
    bits = is_auto ? fastreduce_detail_pairwise_bits(x, y, n, type, op, is_auto == 2, skips_nan)
                   : fastreduce_detail_host_bits(x, y, n, type, op, precision, skips_nan);
    if (is_auto && result != usual) bits = fastreduce_detail_narrowed((uint32_t)bits, precision);
    memcpy(output, (const char *)&bits + first, bytes);
    return FASTREDUCE_SUCCESS;
}

/* The functions of one array and of two: fastreduce_host_reduce, fastreduce_host_dot, and so on */
#define FASTREDUCE_DETAIL_HOST_RESULT(reduce, dot, is_auto)                                      \
    FASTREDUCE_DETAIL_DEFINE fastreduce_status fastreduce_host_##reduce(                         \
        const void *x, void *output, size_t n, fastreduce_type type, fastreduce_operator op,     \
        fastreduce_type output_type)                                                             \
    {                                                                                            \
        return fastreduce_detail_host_result(x, x, 0, is_auto, output, n, type, op, output_type, \
                                             0);                                                 \
    }                                                                                            \
    FASTREDUCE_DETAIL_DEFINE fastreduce_status fastreduce_host_##dot(                            \
        const void *x, const void *y, void *output, size_t n, fastreduce_type type,              \
        fastreduce_type output_type)                                                             \
    {                                                                                            \
        return fastreduce_detail_host_result(x, y, 1, is_auto, output, n, type, FASTREDUCE_SUM,  \
                                             output_type, 0);                                    \
    }
FASTREDUCE_DETAIL_HOST_RESULT(reduce, dot, 0)
FASTREDUCE_DETAIL_HOST_RESULT(pairwise, pairwise_dot, 1)

FASTREDUCE_DETAIL_DEFINE fastreduce_status
fastreduce_reduce_on_host(const void *input, void *output, size_t n, fastreduce_type type,
                          fastreduce_operator op, const fastreduce_config *config)
{
    static fastreduce_config usual; /* zeros */
    const fastreduce_config *const given = config ? config : &usual;
    const int is_exact = given->kernel == FASTREDUCE_EXACT;
    const fastreduce_type second_type = fastreduce_second_type(type, op);
    const size_t second_bytes = fastreduce_type_size(second_type),
                 bytes = fastreduce_type_size(fastreduce_detail_result_type(
                     type, fastreduce_output_type(type, op), given->output_type, is_exact));
    const uintptr_t first = (uintptr_t)output, second = (uintptr_t)given->second_output;
    const int is_unsupported =
        (given->kernel != FASTREDUCE_AUTO && !is_exact) || given->n_on_device ||
        (second && (second_bytes == 0 || (is_exact && op != FASTREDUCE_VARIANCE)));
    fastreduce_status status = FASTREDUCE_SUCCESS;
    uint64_t kept = 0; /* the second result */
    if ((unsigned)given->kernel > FASTREDUCE_EXACT) return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    if (second && second_bytes > 0 &&
        (second % second_bytes != 0 ||
         (first < second ? second - first < bytes : first - second < second_bytes)))
        return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    if (second && !is_unsupported)
        status = fastreduce_detail_host_result(input, input, 0, is_exact ? 0 : 2, &kept, n, type,
                                               is_exact ? FASTREDUCE_MEAN : op,
                                               FASTREDUCE_DEFAULT_TYPE, given->options);
    if (status == FASTREDUCE_SUCCESS) { /* it refuses options last */
        const unsigned options = is_unsupported ? ~0u : given->options;
        status = fastreduce_detail_host_result(input, input, 0, !is_exact, output, n, type, op,
                                               given->output_type, options);
    }
    if (status == FASTREDUCE_SUCCESS && second) memcpy(given->second_output, &kept, second_bytes);
    return status;
}

/* clang-format off */
FASTREDUCE_DETAIL_PLAIN(status_string) FASTREDUCE_DETAIL_PLAIN(version)
FASTREDUCE_DETAIL_PLAIN(kernel_name) FASTREDUCE_DETAIL_PLAIN(type_name)
FASTREDUCE_DETAIL_PLAIN(operator_name) FASTREDUCE_DETAIL_PLAIN(type_size)
FASTREDUCE_DETAIL_PLAIN(output_type) FASTREDUCE_DETAIL_PLAIN(second_type)
FASTREDUCE_DETAIL_PLAIN(accumulator_merge)
FASTREDUCE_DETAIL_PLAIN(accumulator_f32) FASTREDUCE_DETAIL_PLAIN(accumulator_f64)
FASTREDUCE_DETAIL_PLAIN(host_accumulate_f32) FASTREDUCE_DETAIL_PLAIN(host_sum_f32)
FASTREDUCE_DETAIL_PLAIN(host_reduce) FASTREDUCE_DETAIL_PLAIN(host_dot)
FASTREDUCE_DETAIL_PLAIN(host_pairwise) FASTREDUCE_DETAIL_PLAIN(host_pairwise_dot)
FASTREDUCE_DETAIL_PLAIN(reduce_on_host)
FASTREDUCE_DETAIL_PLAIN(host_sum_f64) FASTREDUCE_DETAIL_PLAIN(host_dot_f32)
FASTREDUCE_DETAIL_PLAIN(host_accumulate) FASTREDUCE_DETAIL_PLAIN(host_accumulate_f64)
FASTREDUCE_DETAIL_PLAIN(host_accumulate_dot) FASTREDUCE_DETAIL_PLAIN(host_accumulate_dot_f64)
FASTREDUCE_DETAIL_PLAIN(wide_accumulator_merge) FASTREDUCE_DETAIL_PLAIN(wide_accumulator_f32)
FASTREDUCE_DETAIL_PLAIN(wide_accumulator_f64) FASTREDUCE_DETAIL_PLAIN(product_accumulator_merge)
FASTREDUCE_DETAIL_PLAIN(product_accumulator_f64)
/* clang-format on */

#ifdef __cplusplus
}
#endif
#endif /* FASTREDUCE_HOST_IMPLEMENTATION */

#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC diagnostic pop
#endif

/* Revisions: changes of results (bits), of source code (API), and of compiled code (ABI)
 *
 *   0.8.0  2026-11  API: second results (fastreduce_config's second_output), MIN_MAX, ARGMAX_ABS,
 *                   fastreduce_second_type, fastreduce_dot_axis,
 *                   fastreduce_fold, fastreduce_reduce_by_index, fastreduce_reduce_on_host,
 *                   FASTREDUCE_SKIP_NAN (fastreduce_config's options); f16 and bf16 as output_type
 *                   of their sums and the like; without FASTREDUCE_EXACT_INTEGER and the old names
 *                   FASTREDUCE_SHAPES and FASTREDUCE_EXACT_PRODUCTS. ABI: fastreduce_config has two
 *                   more members at its end.
 *   0.7.0  2026-11  API: fastreduce_host_pairwise, fastreduce_host_pairwise_dot.
 *   0.6.1  2026-11  Bits: EXACT of many rows, columns or segments of more than 4096 elements could
 *                   be wrong with status 0, or leave the workspace dirty: VARIANCE of f64 from 544
 *                   results on, of other types from 791 on; SUM_SQUARES and NORM2 of f64 from 826
 *                   on, and whatever has many exponents from 1572 on. AUTO of more than 8192
 *                   segments past 512 KiB each could, too. f16 with NaN or infinity on the CPU was
 *                   wrong when compiled by Clang 19 or later with -ffast-math. With nvcc
 *                   -use_fast_math or -ftz=true, AUTO and V0..V7 took denormals for 0, and EXACT of
 *                   many f32 or bf16 results was not exact. AUTO's VARIANCE is never -0.
 *   0.6.0  2026-11  Bits: rows, columns and segments have those of one array, the pairwise sum.
 *                   API: offsets of 32 bits and ends of segments apart, fastreduce_supports_shapes,
 *                   fastreduce_supports_dot. fastreduce_accumulate and fastreduce_host_accumulate
 *                   take a fastreduce_accumulator and refuse F64: fastreduce_accumulate_f64 is new.
 *                   EXACT VARIANCE; SUM_SQUARES, NORM2 and dot products of f64, with an accumulator
 *                   of their own; those of floats refuse F64. V0..V7 take sums of floats alone.
 *                   ABI: fastreduce_config has two more members at its end.
 *                   fastreduce_product_accumulator is new.
 *   0.5.0  2026-11  Bits: AUTO of arrays and dot products is the pairwise sum. Sums of -0 are -0.
 *                   API: fastreduce.cuh needs C++17. Operands stay in index order, so that users'
 *                   operators need not commute.
 *   0.4.0  2026-11  Bits: AUTO's VARIANCE of f16 and f32 may differ in the last one.
 *                   API: fastreduce_reduce_axis, fastreduce_reduce_segments, fastreduce_dot,
 *                   FASTREDUCE_DEFAULT_TYPE; on the GPU fastreduce_accumulate and its like, EXACT
 *                   of every float; the same on the CPU: sums, means, norms and dot products.
 *                   ABI: in object files functions end in the version (FASTREDUCE_SUFFIX).
 *                   fastreduce_wide_accumulator is new.
 *   0.3.0  2026-11  Bits: NaN and -0 in MIN and MAX are defined; sums of 16-bit floats are floats.
 *                   API: fastreduce_reduce: 12 element types, 13 operators; a length in GPU memory.
 *                   ABI: fastreduce_config has two more members at its end;
 *                   FASTREDUCE_WORKSPACE_BYTES is 1 MiB, before 512 KiB.
 *   0.2.0  2026-11  AUTO of any type and operator. 0.1.0: V0 to V7, AUTO and EXACT of floats.
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

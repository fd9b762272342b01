/* Elements of every type, what operators make of them, and their names on command lines: what
 * bench_types and bench_shapes have in common. Comes after calls.cuh. */
#ifndef FASTREDUCE_EXAMPLES_ELEMENTS_CUH
#define FASTREDUCE_EXAMPLES_ELEMENTS_CUH

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <tuple>
#include <type_traits>

/* ---- Types and operators --------------------------------------------------------------------- */

/* In the order of fastreduce_type. */
template <fastreduce_type Type>
using element = std::tuple_element_t<
    Type, std::tuple<void, float, double, __half, __nv_bfloat16, signed char, short, int, long long,
                     unsigned char, unsigned short, unsigned, unsigned long long>>;

template <class T>
__host__ __device__ T number(T x)
{
    return x;
}
inline __host__ __device__ float number(__half x)
{
    return __half2float(x);
}
inline __host__ __device__ float number(__nv_bfloat16 x)
{
    return __bfloat162float(x);
}

template <class T>
__host__ __device__ void set_number(T &x, double value)
{
    x = static_cast<T>(value);
}
inline __host__ __device__ void set_number(__half &x, double value)
{
    x = __float2half(static_cast<float>(value));
}
inline __host__ __device__ void set_number(__nv_bfloat16 &x, double value)
{
    x = __float2bfloat16(static_cast<float>(value));
}

__host__ __device__ constexpr bool is_extreme(fastreduce_operator op)
{
    return op == FASTREDUCE_MIN || op == FASTREDUCE_MAX || op == FASTREDUCE_MAX_ABS;
}
__host__ __device__ constexpr bool is_index(fastreduce_operator op)
{
    return op == FASTREDUCE_ARGMIN || op == FASTREDUCE_ARGMAX;
}
__host__ __device__ constexpr bool is_real(fastreduce_operator op)
{
    return op == FASTREDUCE_NORM2 || op == FASTREDUCE_MEAN || op == FASTREDUCE_VARIANCE;
}

/* Of the result, by the table in fastreduce.h; i64 modulo 2^64 is the same bits as u64. */
template <fastreduce_operator Op, class T>
auto result_of()
{
    constexpr bool whole = std::is_integral_v<T>;
    if constexpr (Op == FASTREDUCE_MAX_ABS && whole)
        return std::make_unsigned_t<T>();
    else if constexpr (is_extreme(Op))
        return T();
    else if constexpr (Op == FASTREDUCE_COUNT_NONZERO || is_index(Op) || (whole && !is_real(Op)))
        return uint64_t();
    else
        return std::conditional_t < whole || std::is_same_v<T, double>, double, float > ();
}
template <fastreduce_operator Op, class T>
using result = decltype(result_of<Op, T>());

/* What an element adds to the result. */
template <fastreduce_operator Op, class Result>
struct term {
    template <class T>
    __host__ __device__ Result operator()(T x) const
    {
        constexpr bool magnitude = Op == FASTREDUCE_SUM_ABS || Op == FASTREDUCE_MAX_ABS;
        if constexpr (Op == FASTREDUCE_COUNT_NONZERO)
            return number(x) != 0;
        else if constexpr (!std::is_arithmetic_v<Result>)
            return __habs(x);
        else {
            const Result y = static_cast<Result>(number(x));
            if constexpr (magnitude && std::is_signed_v<decltype(number(x))>)
                return static_cast<Result>(number(x) < 0 ? 0 - y : y);
            else
                return Op == FASTREDUCE_SUM_SQUARES ? y * y : y;
        }
    }
};

template <fastreduce_operator Op>
struct combine {
    template <class Value>
    __host__ __device__ Value operator()(Value a, Value b) const
    {
        if constexpr (Op == FASTREDUCE_MIN)
            return b < a ? b : a;
        else if constexpr (Op == FASTREDUCE_MAX || Op == FASTREDUCE_MAX_ABS)
            return a < b ? b : a;
        else if constexpr (Op == FASTREDUCE_PRODUCT)
            return a * b;
        else
            return a + b;
    }
};

/* ---- Data ------------------------------------------------------------------------------------ */

static __device__ unsigned long long mixed(unsigned long long i)
{
    unsigned long long z = (i + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93ull;
    return z ^ (z >> 32);
}

enum class filling { any, factors, half_zeros };

inline filling filling_for(fastreduce_operator op)
{
    return op == FASTREDUCE_PRODUCT         ? filling::factors
           : op == FASTREDUCE_COUNT_NONZERO ? filling::half_zeros
                                            : filling::any;
}

/* The least and the greatest are one in a million each. Factors are odd; of floats, 1 and -1, and
 * few of 2 and 0.5, so that products are exact and in range. */
template <class T>
__global__ void fill_elements(T *x, size_t n, filling kind)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
         i += size_t(gridDim.x) * blockDim.x) {
        const auto bits = static_cast<long long>(mixed(2 * i));
        const unsigned rare = mixed(2 * i + 1) >> 44;
        if constexpr (std::is_integral_v<T>) {
            const T least = std::is_signed_v<T> ? static_cast<T>(1ull << (8 * sizeof(T) - 1)) : 0;
            x[i] = static_cast<T>(static_cast<T>(bits >> 4) / 2 + 1);
            if (rare < 2) x[i] = static_cast<T>(rare ? ~least : least);
            if (kind == filling::factors) x[i] |= 1;
        } else {
            double value = static_cast<double>(bits) * 0x1p-63;
            if (kind == filling::factors) value = bits < 0 ? -1 : 1;
            if (rare < 2) value = rare ? 2 : kind == filling::factors ? 0.5 : -2;
            set_number(x[i], value);
        }
        if (kind == filling::half_zeros && rare % 2) set_number(x[i], 0);
    }
}

template <class T>
void fill_with(void *memory, size_t bytes, filling kind)
{
    fill_elements<<<2048, 256>>>(static_cast<T *>(memory), bytes / sizeof(T), kind);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}

/* ---- What is built in, and how it is named --------------------------------------------------- */

/* What this build holds, F32 and SUM among it: times are compared with that. */
template <auto... Members>
struct list {
    template <class Member>
    static constexpr bool has(Member member)
    {
        return ((Members == member) || ...);
    }
};
static_assert(list<FASTREDUCE_TYPES>::has(FASTREDUCE_F32), "FASTREDUCE_TYPES lacks FASTREDUCE_F32");
static_assert(list<FASTREDUCE_OPERATORS>::has(FASTREDUCE_SUM),
              "FASTREDUCE_OPERATORS lacks FASTREDUCE_SUM");

/* What CUB has in an operator's stead. */
constexpr fastreduce_operator counterpart(fastreduce_operator op)
{
    return op == FASTREDUCE_MEAN    ? FASTREDUCE_SUM
           : op == FASTREDUCE_NORM2 ? FASTREDUCE_SUM_SQUARES
                                    : op;
}

/* The members of an enumeration with these names. */
template <class Member>
void take_names(const arguments &a, const char *text, const char *complaint, int begin, int end,
                const char *(*name_of)(Member), std::vector<Member> &wanted)
{
    for (const std::string &part : split(text)) {
        const size_t before = wanted.size();
        for (int k = begin; k <= end; ++k)
            if (part == "all" || part == name_of(static_cast<Member>(k)))
                wanted.push_back(static_cast<Member>(k));
        if (wanted.size() == before) wrong_usage(&a, complaint, part.c_str());
    }
}

template <class Member>
bool is_among(const std::vector<Member> &list, Member member)
{
    return list.empty() || std::find(list.begin(), list.end(), member) != list.end();
}

/* The reductions of the types and by the operators that are asked for. */
template <class Reduction, class Options>
std::vector<Reduction> chosen_of(const std::vector<Reduction> &built, const Options &wanted)
{
    std::vector<Reduction> chosen;
    for (const Reduction &r : built)
        if (is_among(wanted.types, r.type) && is_among(wanted.ops, r.op)) chosen.push_back(r);
    if (chosen.empty()) fail(2, "none of these types and operators is built in");
    return chosen;
}

/* A number, or what stands for none. */
inline std::string cell(double x, const char *format, const char *none)
{
    char text[32];
    std::snprintf(text, sizeof text, format, x);
    return x > 0 ? text : none;
}

#endif

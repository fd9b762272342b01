/* Elements of every type, operators on them, and which of these are asked for: shared by
 * bench_types, bench_exact and bench_shapes. */
#ifndef FASTREDUCE_EXAMPLES_ELEMENTS_CUH
#define FASTREDUCE_EXAMPLES_ELEMENTS_CUH

#include "calls.cuh"
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
__host__ __device__ auto number(T x)
{
    if constexpr (std::is_arithmetic_v<T>)
        return x;
    else
        return static_cast<float>(x);
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

enum class filling { uniform, factors, half_zeros, any };

inline filling filling_for(fastreduce_operator op)
{
    return op == FASTREDUCE_PRODUCT         ? filling::factors
           : op == FASTREDUCE_COUNT_NONZERO ? filling::half_zeros
                                            : filling::uniform;
}

/* The least and the greatest are one in a million each. Factors are odd; of floats, 1 and -1, and
 * few of 2 and 0.5, so that products are exact and in range. Any: every finite bit pattern. */
template <class T>
__global__ void fill_elements(T *x, size_t n, filling kind)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
         i += size_t(gridDim.x) * blockDim.x) {
        const auto bits = static_cast<long long>(hash(2 * i));
        const unsigned rare = hash(2 * i + 1) >> 44;
        if (kind == filling::any) {
            unsigned long long pattern = bits;
            memcpy(static_cast<void *>(x + i), &pattern, sizeof *x);
            if (isfinite(static_cast<double>(number(x[i])))) continue;
            pattern ^= 1ull << (8 * sizeof *x - 2); /* the exponent is all ones */
            memcpy(static_cast<void *>(x + i), &pattern, sizeof *x);
        } else if constexpr (std::is_integral_v<T>) {
            const T least = std::is_signed_v<T> ? static_cast<T>(1ull << (8 * sizeof(T) - 1)) : 0;
            x[i] = static_cast<T>(static_cast<T>(bits >> 4) / 2 + 1);
            if (rare < 2) x[i] = static_cast<T>(rare ? ~least : least);
            if (kind == filling::factors) x[i] |= 1;
        } else {
            double value = static_cast<double>(bits) * 0x1p-63;
            if (kind == filling::factors) value = bits < 0 ? -1 : 1;
            if (rare < 2) value = rare ? 2 : kind == filling::factors ? 0.5 : -2;
            x[i] = static_cast<T>(value);
        }
        if (kind == filling::half_zeros && rare % 2) x[i] = static_cast<T>(0.0);
    }
}

template <class T>
void fill_with(const field &inputs, filling kind)
{
    fill_elements<<<2048, 256>>>(reinterpret_cast<T *>(inputs.inputs),
                                 inputs.floats * sizeof(float) / sizeof(T), kind);
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}

/* ---- What is built in, and what is asked for ------------------------------------------------- */

/* One more operator than there are. */
constexpr auto dot_product = static_cast<fastreduce_operator>(FASTREDUCE_ARGMAX_ABS + 1);
inline const char *name_of(fastreduce_operator op)
{
    return op == dot_product ? "dot" : fastreduce_operator_name(op);
}

constexpr bool is_built(fastreduce_type type, fastreduce_operator op)
{
    using namespace fastreduce::detail;
    return holds(built_types, type) &&
           holds(built_operators, op == dot_product ? FASTREDUCE_SUM : op);
}
static_assert(is_built(FASTREDUCE_F32, FASTREDUCE_SUM), "times are compared with sums of f32");

struct reduction {
    fastreduce_type type;
    fastreduce_operator op;
    void (*fill)(const field &inputs, filling kind);

    /* of an element, or of both factors of a product */
    size_t bytes() const { return fastreduce_type_size(type) * (op == dot_product ? 2 : 1); }
    std::string name() const { return std::string(fastreduce_type_name(type)) + " " + name_of(op); }
};

/* One result. Of a dot product's two arrays the second follows the first. */
inline void reduce(const reduction &r, const call &c, const scratch &memory,
                   fastreduce_kernel kernel = FASTREDUCE_AUTO)
{
    const fastreduce_config config = memory.config(c.stream, kernel);
    const char *const x = reinterpret_cast<const char *>(c.input);
    if (r.op == dot_product)
        CHECK(fastreduce_dot(x, x + c.n * fastreduce_type_size(r.type), c.output, c.n, r.type,
                             &config));
    else
        CHECK(fastreduce_reduce(x, c.output, c.n, r.type, r.op, &config));
}

struct reductions_wanted : request {
    std::vector<fastreduce_type> types;
    std::vector<fastreduce_operator> ops;
};

inline bool take_reductions(arguments &a, reductions_wanted &wanted, int last_type = FASTREDUCE_U64,
                            int last_op = FASTREDUCE_COUNT_NONZERO)
{
    if (has_value(a, "type"))
        take_names(a, "no such type: ", FASTREDUCE_F32, last_type, fastreduce_type_name,
                   wanted.types);
    else if (has_value(a, "op"))
        take_names<fastreduce_operator>(a, "no such operator: ", FASTREDUCE_SUM, last_op, name_of,
                                        wanted.ops);
    else
        return false;
    return true;
}

template <class Member>
bool is_among(const std::vector<Member> &list, Member member)
{
    return list.empty() || std::find(list.begin(), list.end(), member) != list.end();
}

/* Of the types and operators of this build those that are asked for and that the kernel has, as
 * make(type, op) gives them, whose arguments are constants. */
template <class Reduction, fastreduce_operator Last, class Make, size_t... Pairs>
std::vector<Reduction> chosen_of(const reductions_wanted &wanted, fastreduce_kernel kernel,
                                 Make make, std::index_sequence<Pairs...>)
{
    std::vector<Reduction> chosen;
    const auto add = [&](auto pair) {
        constexpr auto type = static_cast<fastreduce_type>(FASTREDUCE_F32 + pair() / (Last + 1));
        constexpr auto op = static_cast<fastreduce_operator>(pair() % (Last + 1));
        if constexpr (is_built(type, op))
            if ((op == dot_product ? fastreduce_supports_dot(type, kernel)
                                   : fastreduce_supports(type, op, kernel)) &&
                is_among(wanted.types, type) && is_among(wanted.ops, op))
                chosen.push_back(make(std::integral_constant<fastreduce_type, type>(),
                                      std::integral_constant<fastreduce_operator, op>()));
    };
    (add(std::integral_constant<size_t, Pairs>()), ...);
    if (chosen.empty()) fail(2, "none of these types and operators is built in");
    return chosen;
}
template <class Reduction, fastreduce_operator Last = FASTREDUCE_COUNT_NONZERO, class Make>
std::vector<Reduction> chosen_of(const reductions_wanted &wanted, fastreduce_kernel kernel,
                                 Make make)
{
    return chosen_of<Reduction, Last>(wanted, kernel, make,
                                      std::make_index_sequence<FASTREDUCE_U64 *(Last + 1)>());
}

#endif

/* The C++ part without the C functions: types, operators, one round, and the building blocks in
 * a kernel of your own. TOOLKIT_VERSION is what the toolkit's headers have to call themselves.
 * Its exit status says what is wrong. */
#include "fastreduce.cuh"
#ifdef TOOLKIT_VERSION
static_assert(CUDART_VERSION == TOOLKIT_VERSION, "the headers are those of another toolkit");
#endif

/* A type of two words with an addition of its own: masses on a line, and their moment. */
struct moment {
    double weight, position;
};
struct add_moments {
    template <class T>
    static __host__ __device__ T identity()
    {
        return T{0, 0};
    }
    __host__ __device__ moment operator()(moment a, moment b) const
    {
        return {a.weight + b.weight, a.position + b.position};
    }
};

/* Numbers that AUTO loads one by one, as their size does not divide 16; and of many bytes. */
template <unsigned Count>
struct numbers {
    int number[Count];
};
struct add_numbers {
    template <class T>
    static __host__ __device__ T identity()
    {
        return T{{0}};
    }
    template <unsigned Count>
    __host__ __device__ numbers<Count> operator()(numbers<Count> a, numbers<Count> b) const
    {
        for (unsigned k = 0; k < Count; ++k) a.number[k] += b.number[k];
        return a;
    }
};

/* A sum by an operator that asks for an object that it may change. */
struct summed {
    float x;
    __host__ __device__ summed operator+(const summed &b) { return {x + b.x}; }
};

template <unsigned BlockSize>
__global__ void range_of_blocks(const float *input, float *ranges)
{
    __shared__ float slots[BlockSize / fastreduce::warp_size];
    const float x = input[blockIdx.x * BlockSize + threadIdx.x];
    const float most = fastreduce::block_reduce<BlockSize, fastreduce::maximum>(x, slots);
    __syncthreads();
    const float least = fastreduce::block_reduce<BlockSize, fastreduce::minimum>(x, slots);
    const float first_lanes = fastreduce::warp_reduce<fastreduce::plus, 16>(x);
    if (threadIdx.x == 0) ranges[blockIdx.x] = first_lanes > 0 ? most - least : 0;
}
template __global__ void range_of_blocks<32>(const float *, float *);
template __global__ void range_of_blocks<256>(const float *, float *);

/* Exact sums of blocks, and exact atomics. */
template <unsigned BlockSize>
__global__ void exact_sums(const float *input, float *sums, fastreduce_accumulator *total,
                           fastreduce_wide_accumulator *weights)
{
    __shared__ fastreduce_accumulator slots[BlockSize / fastreduce::warp_size];
    const float x[2] = {input[threadIdx.x], input[BlockSize + threadIdx.x]};
    fastreduce::exact_block_add<BlockSize>(total, x, slots);
    __syncthreads();
    const float sum = fastreduce::exact_block_reduce<BlockSize>(x[0], slots);
    fastreduce::exact_atomic_add(weights, 0.1 * x[0]);
    fastreduce::exact_atomic_add(weights, x[1]);
    if (threadIdx.x > 0) return;
    fastreduce::exact_atomic_add(total, sum);
    fastreduce::exact_carry(total);
    sums[0] = sum;
    sums[1] = fastreduce::exact_value(total);
    sums[2] = fastreduce::exact_value<float>(weights);
}
template __global__ void exact_sums<32>(const float *, float *, fastreduce_accumulator *,
                                        fastreduce_wide_accumulator *);
template __global__ void exact_sums<512>(const float *, float *, fastreduce_accumulator *,
                                         fastreduce_wide_accumulator *);

/* Without an input, every call is refused before the runtime is asked for anything. */
template <fastreduce_kernel Version, class Operator, class Input>
bool refuses()
{
    using result = fastreduce::accumulate_t<Operator, Input>;
    const Input *nothing = nullptr;
    result *const output = reinterpret_cast<result *>(256);
    constexpr unsigned items = fastreduce::default_items(Version);
    constexpr unsigned block_size = Version == FASTREDUCE_AUTO ? FASTREDUCE_BLOCK_SIZE : 128;
    return fastreduce::reduce<Version, block_size, items, Operator>(nothing, output, 5) ==
               FASTREDUCE_ERROR_INVALID_ARGUMENT &&
           fastreduce::round<Version, 128, items, Operator>(nothing, output, 5) ==
               FASTREDUCE_ERROR_INVALID_ARGUMENT;
}

template <class Input>
bool refuses_dot()
{
    using result = fastreduce::accumulate_t<fastreduce::plus, Input>;
    const Input *nothing = nullptr;
    return fastreduce::dot(nothing, nothing, reinterpret_cast<result *>(256), 5) ==
           FASTREDUCE_ERROR_INVALID_ARGUMENT;
}

int main()
{
    if (!refuses<FASTREDUCE_V0, fastreduce::plus, float>()) return 1;
    if (!refuses<FASTREDUCE_V1, fastreduce::minimum, double>()) return 2;
    if (!refuses<FASTREDUCE_V2, fastreduce::maximum, int>()) return 3;
    if (!refuses<FASTREDUCE_V3, fastreduce::plus, unsigned char>()) return 4;
    if (!refuses<FASTREDUCE_V4, fastreduce::minimum, unsigned long long>()) return 5;
    if (!refuses<FASTREDUCE_V5, fastreduce::maximum, signed char>()) return 6;
    if (!refuses<FASTREDUCE_V6, add_moments, moment>()) return 7;
    if (!refuses<FASTREDUCE_V7, fastreduce::plus, unsigned>()) return 8;
    if (!refuses<FASTREDUCE_AUTO, fastreduce::plus, float>()) return 9;
    if (!refuses<FASTREDUCE_AUTO, fastreduce::plus, unsigned char>()) return 10;
    if (!refuses<FASTREDUCE_AUTO, add_moments, moment>()) return 11;
    if (!refuses<FASTREDUCE_AUTO, add_numbers, numbers<3>>()) return 12;
    if (!refuses<FASTREDUCE_AUTO, add_numbers, numbers<17>>()) return 13;
    if (fastreduce::reduce_by(static_cast<const summed *>(nullptr), reinterpret_cast<summed *>(256),
                              5, fastreduce::plus(),
                              summed{0}) != FASTREDUCE_ERROR_INVALID_ARGUMENT)
        return 14;
    if (!refuses_dot<float>()) return 15;
    if (!refuses_dot<long>()) return 16;
    if (fastreduce::reduce<add_moments>(static_cast<const moment *>(nullptr),
                                        reinterpret_cast<moment *>(256), 5, nullptr,
                                        {nullptr, 0}) != FASTREDUCE_ERROR_INVALID_ARGUMENT)
        return 17;
    if (*fastreduce::status_string(FASTREDUCE_SUCCESS) != 's') return 18;
    return 0;
}

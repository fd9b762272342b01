/* The templates: element types x operators x versions, items per thread, one round, the building
 * blocks inside a kernel of the user's own. Integers and small whole numbers: results are
 * compared for equality. */
#include <cuda_runtime.h>
#include <cstdint>
#ifdef SIMT_MACHINE /* instead of CUDA's 16-bit types, as far as minimum and maximum go */
template <int>
struct half_bits {
    uint16_t bits;
    int rank() const { return bits & 0x8000 ? -(bits & 0x7fff) : bits; }
    bool operator<(half_bits other) const { return rank() < other.rank(); }
};
struct __half : half_bits<1> {
};
struct __nv_bfloat16 : half_bits<2> {
};
#else
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#endif
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_MAX
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/dynamic_shared.h"
#include <algorithm>

/* A two-word type with its own addition: sum and number of elements in one pass. */
struct mean {
    double sum;
    unsigned long long count;
};
struct add_means {
    template <class T>
    static __host__ __device__ T identity()
    {
        return T{0, 0};
    }
    __host__ __device__ mean operator()(mean a, mean b) const
    {
        return {a.sum + b.sum, a.count + b.count};
    }
};

template <class T>
static std::vector<T> whole_numbers(size_t n, unsigned long long seed)
{
    std::vector<T> values(n);
    for (size_t i = 0; i < n; ++i)
        values[i] =
            static_cast<T>(static_cast<int>(check::mix(i, seed) % 100) - (T(-1) < T(0) ? 37 : 0));
    return values;
}

template <fastreduce_kernel Version, unsigned BlockSize, unsigned Items, class Operator, class T>
static void type_case(const char *what, size_t n)
{
    using result = fastreduce::accumulate_t<Operator, T>;
    const std::vector<T> values = whole_numbers<T>(n, n + Version);
    check::buffer<T> input(n, n % 3);
    check::buffer<result> output(1, 1);
    input.set(values);
    const fastreduce_status status =
        fastreduce::reduce<Version, BlockSize, Items, Operator>(input.data(), output.data(), n);
    CUDA(cudaDeviceSynchronize());
    result wanted = Operator::template identity<result>();
    for (T x : values) wanted = Operator()(wanted, static_cast<result>(x));
    check::that(status == 0 && output.get()[0] == wanted && output.canaries_alive(),
                "%s, %s, block %u, items %u, n %zu: status %d, %g instead of %g", what,
                fastreduce_kernel_name(Version), BlockSize, Items, n, status,
                static_cast<double>(output.get()[0]), static_cast<double>(wanted));
}

template <fastreduce_kernel Version, unsigned BlockSize,
          unsigned Items = fastreduce::default_items(Version)>
static void types()
{
    for (size_t n : {size_t(0), size_t(1), size_t(33), size_t(4097), size_t(40001)}) {
        type_case<Version, BlockSize, Items, fastreduce::plus, float>("float sum", n);
        type_case<Version, BlockSize, Items, fastreduce::plus, double>("double sum", n);
        type_case<Version, BlockSize, Items, fastreduce::plus, int>("int sum", n);
        type_case<Version, BlockSize, Items, fastreduce::plus, unsigned char>("unsigned char sum",
                                                                              n);
        type_case<Version, BlockSize, Items, fastreduce::minimum, float>("float minimum", n);
        type_case<Version, BlockSize, Items, fastreduce::maximum, int>("int maximum", n);
        type_case<Version, BlockSize, Items, fastreduce::maximum, signed char>(
            "signed char maximum", n);
        type_case<Version, BlockSize, Items, fastreduce::minimum, unsigned long long>(
            "64-bit minimum", n);
    }
    const size_t n = 10007;
    std::vector<mean> values(n);
    mean wanted = {0, 0};
    for (size_t i = 0; i < n; ++i) {
        values[i] = {static_cast<double>(check::mix(i, 5) % 1000), 1 + i % 3};
        wanted = add_means()(wanted, values[i]);
    }
    check::buffer<mean> input(n), output(1);
    input.set(values);
    fastreduce::reduce<Version, BlockSize, Items, add_means>(input.data(), output.data(), n);
    CUDA(cudaDeviceSynchronize());
    const mean got = output.get()[0];
    check::that(got.sum == wanted.sum && got.count == wanted.count, "%s: a type of two words",
                fastreduce_kernel_name(Version));
}

/* 64-bit integers sum into their own type, whichever of the language's types that is. */
template <class T>
static void own_type()
{
    static_assert(std::is_same<fastreduce::accumulate_t<fastreduce::plus, T>, T>::value,
                  "its own type");
    const size_t n = 4097;
    std::vector<T> values(n);
    T wanted = 0;
    for (size_t i = 0; i < n; ++i) wanted += values[i] = static_cast<T>(check::mix(i, 3) >> 20);
    check::buffer<T> input(n), output(1);
    input.set(values);
    for (bool automatic : {false, true}) {
        output.fill(0x7f);
        const fastreduce_status status =
            automatic ? fastreduce::reduce(input.data(), output.data(), n)
                      : fastreduce::reduce<FASTREDUCE_V7>(input.data(), output.data(), n);
        CUDA(cudaDeviceSynchronize());
        check::that(status == 0 && output.get()[0] == wanted, "sum of a 64-bit type");
    }
}

/* The minimum and maximum of numbers of one sign, in bits, where an identity of 0 would win; of
 * nothing, an infinity. */
template <class Half>
static void halves(unsigned infinity)
{
    static_assert(sizeof(Half) == 2, "16 bits");
    for (size_t n : {size_t(0), size_t(1), size_t(33), size_t(5000), size_t(33333)}) {
        for (bool most : {false, true}) {
            /* the largest of negative numbers, the least of positive ones */
            const unsigned sign = most ? 0x8000 : 0;
            std::vector<uint16_t> bits(n);
            unsigned wanted = infinity;
            for (size_t i = 0; i < n; ++i) {
                const unsigned magnitude = 0x100 + check::mix(i, n) % (infinity - 0x100);
                bits[i] = static_cast<uint16_t>(sign | magnitude);
                wanted = std::min(wanted, magnitude);
            }
            std::vector<Half> values(n);
            if (n) std::memcpy(static_cast<void *>(values.data()), bits.data(), 2 * n);
            check::buffer<Half> input(n), output(1);
            input.set(values);
            for (bool automatic : {false, true}) {
                output.fill(0x7f);
                const fastreduce_status status =
                    automatic ? most ? fastreduce::reduce<fastreduce::maximum>(input.data(),
                                                                               output.data(), n)
                                     : fastreduce::reduce<fastreduce::minimum>(input.data(),
                                                                               output.data(), n)
                    : most ? fastreduce::reduce<FASTREDUCE_V7, 64, 8, fastreduce::maximum>(
                                 input.data(), output.data(), n)
                           : fastreduce::reduce<FASTREDUCE_V7, 64, 8, fastreduce::minimum>(
                                 input.data(), output.data(), n);
                CUDA(cudaDeviceSynchronize());
                uint16_t got;
                const std::vector<Half> result = output.get();
                std::memcpy(&got, static_cast<const void *>(result.data()), 2);
                check::that(status == 0 && got == (sign | wanted),
                            "%s of %zu halves with infinity %x%s: %x, not %x",
                            most ? "maximum" : "minimum", n, infinity, automatic ? ", AUTO" : "",
                            got, sign | wanted);
            }
        }
    }
}

/* A type whose partials want more room than a workspace of 16 bytes' alignment gives. */
struct alignas(32) wide_count {
    unsigned long long value;
    char rest[24];
};
struct add_wide {
    template <class T>
    static __host__ __device__ T identity()
    {
        return T{};
    }
    __host__ __device__ wide_count operator()(const wide_count &a, const wide_count &b) const
    {
        wide_count sum = a;
        sum.value += b.value;
        return sum;
    }
};

template <fastreduce_kernel Version, unsigned BlockSize, unsigned Items>
static void over_aligned(size_t n, size_t wanted_bytes)
{
    using fastreduce::workspace;
    const size_t bytes =
        fastreduce::workspace_bytes<Version, BlockSize, Items, add_wide, wide_count>(n);
    std::vector<wide_count> values(n, wide_count{});
    unsigned long long wanted = 0;
    for (size_t i = 0; i < n; ++i) wanted += values[i].value = 1 + i % 11;
    check::buffer<wide_count> input(n), output(1);
    check::buffer<unsigned char> memory(bytes + 64);
    input.set(values);
    output.fill(0x5a);
    memory.fill(0);
    unsigned char *const first =
        memory.data() + (0 - reinterpret_cast<uintptr_t>(memory.data())) % 32;
    const auto sum = [&](workspace scratch) {
        return fastreduce::reduce<Version, BlockSize, Items, add_wide>(input.data(), output.data(),
                                                                       n, nullptr, scratch);
    };
    check::that(bytes == wanted_bytes, "%s, n %zu: %zu bytes for partials of 32",
                fastreduce_kernel_name(Version), n, bytes);
    check::that(sum(workspace{first + 16, bytes}) == FASTREDUCE_ERROR_INVALID_ARGUMENT,
                "a workspace aligned to 16 bytes for partials aligned to 32");
    CUDA(cudaDeviceSynchronize());
    check::that(output.every_byte_is(0x5a), "a refused call wrote");
    for (const workspace scratch : {workspace{first, bytes}, workspace{nullptr, 0}}) {
        check::that(sum(scratch) == 0, "over-aligned elements");
        CUDA(cudaDeviceSynchronize());
        check::that(output.get()[0].value == wanted && memory.every_byte_is(0),
                    "over-aligned elements: sum");
        output.fill(0x5a);
    }
}

/* The largest and lowest values there are, where an identity of 0 would be wrong. */
static void identities()
{
    const auto extreme = [](auto combine, auto value) {
        using T = decltype(value);
        const std::vector<T> values(100, value);
        check::buffer<T> input(values.size()), output(1);
        input.set(values);
        fastreduce::reduce<FASTREDUCE_V7, 64, 8, decltype(combine)>(input.data(), output.data(),
                                                                    values.size());
        CUDA(cudaDeviceSynchronize());
        check::that(output.get()[0] == value, "an extreme value is not its own minimum or maximum");
        output.fill(0x55);
        fastreduce::reduce<decltype(combine)>(input.data(), output.data(), values.size());
        CUDA(cudaDeviceSynchronize());
        check::that(output.get()[0] == value, "AUTO: an extreme value is not its own");
    };
    extreme(fastreduce::maximum(), -INFINITY);
    extreme(fastreduce::minimum(), INFINITY);
    extreme(fastreduce::maximum(), -DBL_MAX);
    extreme(fastreduce::maximum(), static_cast<int>(-2147483647 - 1));
    extreme(fastreduce::minimum(), 2147483647);
    extreme(fastreduce::minimum(), ~0ull);
}

/* round(): every partial is the sum of its tile. */
template <fastreduce_kernel Version, unsigned BlockSize,
          unsigned Items = fastreduce::default_items(Version)>
static void one_round(size_t n)
{
    const size_t tile = static_cast<size_t>(BlockSize) * Items,
                 blocks = fastreduce::blocks_for(n, tile);
    const std::vector<float> values = check::make(check::data::integers, n, n);
    check::buffer<float> input(n), partials(blocks);
    input.set(values);
    const fastreduce_status status =
        fastreduce::round<Version, BlockSize, Items>(input.data(), partials.data(), n);
    check::that(status == 0, "round: status %d", status);
    CUDA(cudaDeviceSynchronize());
    const std::vector<float> got = partials.get();
    for (size_t b = 0; b < blocks; ++b) {
        const size_t begin = std::min(n, b * tile), end = std::min(n, begin + tile);
        check::that(got[b] == fastreduce_host_sum_f32(values.data() + begin, end - begin),
                    "%s: partial %zu of %zu", fastreduce_kernel_name(Version), b, blocks);
    }
    check::that(partials.canaries_alive(), "round wrote past its partials");
    const fastreduce_status refused =
        fastreduce::round<Version, BlockSize, Items>(input.data(), input.data() + n - 1, n);
    check::that(refused == FASTREDUCE_ERROR_INVALID_ARGUMENT,
                "round with partials that overlap the input");
}

/* What the templates refuse: nothing is launched. */
static void refusals()
{
    check::buffer<float> memory(64);
    float *data = memory.data(),
          *low = reinterpret_cast<float *>(64); /* an address that nobody will read */
    const fastreduce_status invalid = FASTREDUCE_ERROR_INVALID_ARGUMENT;
    memory.fill(0x5a);
    check::that(fastreduce::reduce<FASTREDUCE_V7>(static_cast<const float *>(nullptr), data, 5) ==
                    invalid,
                "reduce, null input");
    check::that(fastreduce::reduce<FASTREDUCE_AUTO>(data, data + 1, 5) == invalid,
                "reduce, overlap");
    check::that(fastreduce::round<FASTREDUCE_V0, 32>(static_cast<const float *>(nullptr), data,
                                                     5) == invalid,
                "round, null input");
    /* four partials, the last of which are elements */
    check::that(fastreduce::round<FASTREDUCE_V0, 32>(low + 2, low, 128) == invalid,
                "round, overlap");
    check::that(fastreduce::round<FASTREDUCE_V0, 32>(low, low + 127, 128) == invalid,
                "round, the last element");
    check::that(fastreduce::round<FASTREDUCE_V0, 32>(low, data, (size_t(1) << 36) - 31) ==
                    FASTREDUCE_ERROR_UNSUPPORTED,
                "round, 2^31 blocks");
    check::that(fastreduce::round<FASTREDUCE_V0, 32>(static_cast<const float *>(nullptr), data,
                                                     (size_t(1) << 36) - 31) == invalid,
                "round, null input of 2^31 blocks");
#ifdef SIMT_MACHINE
    simt::fail_call(1); /* the launch */
    check::that(fastreduce::round<FASTREDUCE_V0, 32>(low, data, (size_t(1) << 36) - 32) > 0,
                "round, 2^31 - 1 blocks");
    simt::fail_call(0);
#endif
    CUDA(cudaDeviceSynchronize());
    check::that(memory.every_byte_is(0x5a), "a refused call wrote");
}

/* block_reduce twice in one kernel, its slots reused after a barrier;
 * warp_reduce over part of a warp; thread_reduce of three elements, of which some are missing. */
template <unsigned BlockSize>
__global__ void two_sums(const float *input, float *output)
{
    __shared__ float slots[BlockSize / fastreduce::warp_size];
    const float value = input[threadIdx.x];
    const float sum = fastreduce::block_reduce<BlockSize, fastreduce::plus>(value, slots);
    __syncthreads();
    const float most = fastreduce::block_reduce<BlockSize, fastreduce::maximum>(value, slots);
    const float eight = fastreduce::warp_reduce<fastreduce::plus, 8>(value);
    output[3 + threadIdx.x] =
        fastreduce::thread_reduce<3, fastreduce::plus, float>(input, threadIdx.x, 5, BlockSize);
    if (threadIdx.x == 0) {
        output[0] = sum;
        output[1] = most;
        output[2] = eight;
    }
}

template <unsigned BlockSize>
static void building_blocks()
{
    const std::vector<float> values = check::make(check::data::integers, BlockSize, BlockSize);
    check::buffer<float> input(BlockSize), output(3 + BlockSize);
    input.set(values);
    const float *in = input.data();
    float *out = output.data();
    void *arguments[] = {&in, &out};
    CUDA(cudaLaunchKernel(fastreduce::detail::kernel_address(two_sums<BlockSize>), dim3(1),
                          dim3(BlockSize), arguments, 0, nullptr));
    CUDA(cudaDeviceSynchronize());
    const std::vector<float> got = output.get();
    check::that(got[0] == fastreduce_host_sum_f32(values.data(), BlockSize),
                "block_reduce, sum of %u", BlockSize);
    check::that(got[1] == *std::max_element(values.begin(), values.end()),
                "block_reduce, maximum of %u", BlockSize);
    check::that(got[2] == fastreduce_host_sum_f32(values.data(), 8), "warp_reduce over 8 lanes");
    for (unsigned k = 0; k < BlockSize; ++k) {
        float sum = 0;
        for (unsigned i = k; i < BlockSize && i < k + 15; i += 5) sum += values[i];
        check::that(got[3 + k] == sum, "thread_reduce from %u of %u", k, BlockSize);
    }
}

/* Elements keep their type under a user's operator, and a bool is true or false. */
struct either {
    template <class T>
    static __host__ __device__ T identity()
    {
        return T();
    }
    template <class T>
    __host__ __device__ T operator()(T a, T b) const
    {
        return static_cast<T>(a + b);
    }
};

template <class Operator>
static void bools(const char *what, size_t n)
{
    check::buffer<unsigned char> input(n), output(1);
    input.fill(1);
    const fastreduce_status status = fastreduce::reduce<Operator>(
        reinterpret_cast<const bool *>(input.data()), reinterpret_cast<bool *>(output.data()), n);
    CUDA(cudaDeviceSynchronize());
    check::that(status == 0 && output.get()[0] == 1, "%s of %zu bools: status %d, %u", what, n,
                status, output.get()[0]);
}

/* Workspaces are known in a build whose C functions have no sum. */
static void workspaces()
{
    fastreduce_config config = {};
    for (fastreduce_kernel kernel : {FASTREDUCE_AUTO, FASTREDUCE_V7, FASTREDUCE_EXACT}) {
        config.kernel = kernel;
        check::that(fastreduce_workspace_bytes(1 << 20, &config) > 0, "workspace of %s",
                    fastreduce_kernel_name(kernel));
    }
}

int main()
{
    check::need_device();
    static_assert(std::is_same<fastreduce::detail::reducer_t<either, __half>::Value, __half>::value,
                  "not a type of ours");
    bools<either>("a user's sum", 3);
    bools<fastreduce::minimum>("minimum", 0);
    bools<fastreduce::minimum>("minimum", 40);
    workspaces();
    types<FASTREDUCE_V0, 64>();
    types<FASTREDUCE_V1, 128>();
    types<FASTREDUCE_V2, 32>();
    types<FASTREDUCE_V3, 64>();
    types<FASTREDUCE_V4, 32>();
    types<FASTREDUCE_V4, 128>();
    types<FASTREDUCE_V5, 32>();
    types<FASTREDUCE_V6, 128>();
    types<FASTREDUCE_V6, 32, 3>();
    types<FASTREDUCE_V7, 1024>();
    types<FASTREDUCE_V7, 64, 1>();
    types<FASTREDUCE_V7, 32, 16>();
    types<FASTREDUCE_AUTO, FASTREDUCE_BLOCK_SIZE>();
    own_type<int64_t>();
    own_type<uint64_t>();
    own_type<size_t>();
    own_type<long long>();
    own_type<unsigned long long>();
    halves<__half>(0x7c00);
    halves<__nv_bfloat16>(0x7f80);
    over_aligned<FASTREDUCE_V0, 32, 1>(32 * 32 + 5, 32 * (33 + 2)); /* three levels */
    over_aligned<FASTREDUCE_AUTO, FASTREDUCE_BLOCK_SIZE, FASTREDUCE_ITEMS_PER_THREAD>(
        32 * 32 + 5, 8 * (1 + 2 * 5)); /* a counter, and of two tiles a word for each 63 bits */
    identities();
    refusals();
    one_round<FASTREDUCE_V0, 256>(5000);
    one_round<FASTREDUCE_V1, 1024>(5000);
    one_round<FASTREDUCE_V2, 128>(128 * 9);
    one_round<FASTREDUCE_V3, 32>(3333);
    one_round<FASTREDUCE_V4, 256>(3333);
    one_round<FASTREDUCE_V5, 1024>(3333);
    one_round<FASTREDUCE_V6, 64, 3>(3333);
    one_round<FASTREDUCE_V7, 128, 4>(3333);
    building_blocks<32>();
    building_blocks<64>();
    building_blocks<256>();
    building_blocks<1024>();
    return check::finish("types");
}

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
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/one_row.h"
#include "../common/tree.h"
#include <algorithm>
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#endif
#ifdef SIMT_MACHINE
namespace fastreduce::FASTREDUCE_DETAIL_ABI::detail
{
SIMT_DYNAMIC_SHARED(dynamic_shared_bytes)
}
#endif

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

/* AUTO by an operator. */
template <class Operator, class T>
static fastreduce_status automatically(const T *input,
                                       fastreduce::accumulate_t<Operator, T> *output, size_t n)
{
    return fastreduce::reduce<FASTREDUCE_AUTO, FASTREDUCE_BLOCK_SIZE, FASTREDUCE_ITEMS_PER_THREAD,
                              Operator>(input, output, n);
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
                    automatic
                        ? most ? automatically<fastreduce::maximum>(input.data(), output.data(), n)
                               : automatically<fastreduce::minimum>(input.data(), output.data(), n)
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
struct alignas(64) wide_count {
    unsigned long long value;
    char rest[56];
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
        memory.data() + (0 - reinterpret_cast<uintptr_t>(memory.data())) % 64;
    const auto sum = [&](workspace scratch) {
        return fastreduce::reduce<Version, BlockSize, Items, add_wide>(input.data(), output.data(),
                                                                       n, nullptr, scratch);
    };
    check::that(bytes == wanted_bytes, "%s, n %zu: %zu bytes for partials of 64",
                fastreduce_kernel_name(Version), n, bytes);
    check::that(sum(workspace{first + 16, bytes}) == FASTREDUCE_ERROR_INVALID_ARGUMENT,
                "a workspace aligned to 16 bytes for partials aligned to 64");
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
        automatically<decltype(combine)>(input.data(), output.data(), values.size());
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
          unsigned Items = fastreduce::default_items(Version),
          fastreduce::tail Tail = fastreduce::tail::warp>
static void one_round(size_t n)
{
    const size_t tile = static_cast<size_t>(BlockSize) * Items,
                 blocks = fastreduce::blocks_for(n, tile);
    const std::vector<float> values = check::make(check::data::integers, n, n);
    check::buffer<float> input(n), partials(blocks);
    input.set(values);
    const fastreduce_status status =
        fastreduce::round<Version, BlockSize, Items, fastreduce::plus, Tail>(input.data(),
                                                                             partials.data(), n);
    check::that(status == 0, "round: status %d", status);
    CUDA(cudaDeviceSynchronize());
    const std::vector<float> got = partials.get();
    for (size_t b = 0; b < blocks; ++b) {
        const size_t begin = std::min(n, b * tile), end = std::min(n, begin + tile);
        check::that(got[b] == fastreduce_host_sum_f32(values.data() + begin, end - begin),
                    "%s: partial %zu of %zu", fastreduce_kernel_name(Version), b, blocks);
    }
    check::that(partials.canaries_alive(), "round wrote past its partials");
    check::that(fastreduce::round<Version, BlockSize, Items, fastreduce::plus, Tail>(
                    input.data(), input.data() + n - 1, n) == FASTREDUCE_ERROR_INVALID_ARGUMENT,
                "round with partials that overlap the input");
}

/* ---- AUTO of any type ------------------------------------------------------------------------ */

/* Structures by their size in bytes, in words of 32 bits or bytes, and one that is aligned as a
 * vector. */
template <unsigned Words>
struct words {
    unsigned part[Words];
};
template <unsigned Bytes>
struct bytes {
    unsigned char part[Bytes];
};
struct alignas(16) aligned_words {
    unsigned part[4];
};
/* What a sum of numbers of 16 bits becomes here: more than the element. */
struct statistics {
    long long sum;
    int least, greatest;
    statistics() = default;
    __host__ __device__ explicit statistics(short x) : sum(x), least(x), greatest(x) {}
};

/* Operators for each part of a structure, or for a number. */
template <class Single>
struct each_part {
    template <class Value>
    __host__ __device__ Value operator()(Value a, const Value &b) const
    {
        for (unsigned k = 0; k < sizeof a.part / sizeof a.part[0]; ++k)
            a.part[k] = Single()(a.part[k], b.part[k]);
        return a;
    }
    template <class Value>
    static __host__ __device__ Value identity()
    {
        Value value = {};
        for (unsigned k = 0; k < sizeof value.part / sizeof value.part[0]; ++k)
            value.part[k] = Single::identity(value.part[k]);
        return value;
    }
};
struct adds {
    template <class T>
    static __host__ __device__ T identity(T)
    {
        return 0;
    }
    template <class T>
    __host__ __device__ T operator()(T a, T b) const
    {
        return static_cast<T>(a + b);
    }
};
struct multiplies {
    template <class T>
    static __host__ __device__ T identity(T)
    {
        return 1;
    }
    template <class T>
    __host__ __device__ T operator()(T a, T b) const
    {
        return static_cast<T>(a * b);
    }
};
struct product {
    template <class T>
    static __host__ __device__ T identity()
    {
        return T(1);
    }
    template <class T>
    __host__ __device__ T operator()(T a, T b) const
    {
        return static_cast<T>(a * b);
    }
};
struct bits_in_all {
    template <class T>
    static __host__ __device__ T identity()
    {
        return static_cast<T>(~T(0));
    }
    template <class T>
    __host__ __device__ T operator()(T a, T b) const
    {
        return static_cast<T>(a & b);
    }
};
struct describe {
    template <class T>
    static __host__ __device__ T identity()
    {
        T nothing;
        nothing.sum = 0;
        nothing.least = 32767;
        nothing.greatest = -32768;
        return nothing;
    }
    __host__ __device__ statistics operator()(statistics a, const statistics &b) const
    {
        a.sum += b.sum;
        a.least = b.least < a.least ? b.least : a.least;
        a.greatest = a.greatest < b.greatest ? b.greatest : a.greatest;
        return a;
    }
};
template <>
struct fastreduce::accumulate<describe, short> {
    using type = statistics;
};

/* Any bytes; of floating-point numbers, any value in [-1, 1) and the like; odd factors, and mostly
 * ones, so that a product or what all have in common says something. */
template <class Operator, class T>
static std::vector<T> elements_of(size_t n, unsigned long long seed)
{
    std::vector<T> values(n);
    for (size_t i = 0; i < n; ++i) {
        unsigned long long bits[sizeof(T) / 8 + 1];
        for (size_t k = 0; k <= sizeof(T) / 8; ++k) {
            bits[k] = check::mix(i, seed + 100 * k);
            if (std::is_same<Operator, bits_in_all>::value && i % 700 != 3) bits[k] = ~0ull;
            if (std::is_same<Operator, bits_in_all>::value && i % 700 == 3)
                bits[k] |= ~(1ull << bits[k] % 64);
            if (std::is_same<Operator, product>::value ||
                std::is_same<Operator, each_part<multiplies>>::value)
                bits[k] |= 0x0101010101010101ull;
        }
        std::memcpy(static_cast<void *>(&values[i]), bits, sizeof(T));
    }
    return values;
}
template <class T>
static std::vector<T> fractions(size_t n, unsigned long long seed)
{
    std::vector<T> values(n);
    for (size_t i = 0; i < n; ++i)
        values[i] = static_cast<T>(static_cast<long long>(check::mix(i, seed))) / T(3e18);
    return values;
}

/* Elements at an offset from the alignment of a vector, and not a byte beside them: there the
 * address sanitizer, or a GPU's, sees any access, as far as it can tell bytes apart. */
template <class T>
class exact_input
{
  public:
    exact_input(const std::vector<T> &values, size_t offset) : before_(offset * sizeof(T))
    {
        const size_t bytes = before_ + values.size() * sizeof(T);
#ifdef SIMT_MACHINE
        base_ = static_cast<unsigned char *>(std::aligned_alloc(64, (bytes + 64) / 64 * 64));
        beside(base_, before_);
        beside(base_ + bytes, (bytes + 64) / 64 * 64 - bytes);
#else
        CUDA(cudaMalloc(&base_, bytes + 1));
#endif
        if (!values.empty())
            CUDA(cudaMemcpy(base_ + before_, values.data(), bytes - before_,
                            cudaMemcpyHostToDevice));
    }
    ~exact_input()
    {
#ifdef SIMT_MACHINE
        std::free(base_);
#else
        CUDA(cudaFree(base_));
#endif
    }
    exact_input(const exact_input &) = delete;
    exact_input &operator=(const exact_input &) = delete;
    const T *data() const
    {
        return reinterpret_cast<const T *>(base_ + before_);
    }

  private:
    static void beside(unsigned char *memory, size_t bytes)
    {
        std::memset(memory, 0xa7, bytes);
#ifdef __SANITIZE_ADDRESS__
        ASAN_POISON_MEMORY_REGION(memory, bytes);
#endif
    }
    size_t before_;
    unsigned char *base_;
};

template <class Value>
static bool equal(const Value &a, const Value &b)
{
    return std::memcmp(static_cast<const void *>(&a), static_cast<const void *>(&b), sizeof a) == 0;
}

/* In order, one after the other. */
template <class Operator, class T>
static fastreduce::accumulate_t<Operator, T> folded(const std::vector<T> &values)
{
    using Value = fastreduce::accumulate_t<Operator, T>;
    Value value = Operator::template identity<Value>();
    for (const T &x : values) value = Operator()(value, static_cast<Value>(x));
    return value;
}

/* The row of a device that has everything: tiles are the same on all. */
template <class Operator, class T>
static fastreduce::accumulate_t<Operator, T> by_the_tree(const std::vector<T> &values)
{
    using namespace fastreduce::detail;
    using engine = auto_engine<Operator, T>;
    const plan_row row = engine::row(pick<engine>(values.size(), {132, 232448, true}));
    return tree::reduced<Operator>(values, plan_work(values.size() / pack<T>::size, row),
                                   row.block_size, row.packs);
}

/* Through the launcher, with a workspace and without. */
template <class Operator, class T>
static void auto_case(const char *what, const std::vector<T> &values, size_t offset,
                      const fastreduce::accumulate_t<Operator, T> &wanted)
{
    using namespace fastreduce;
    using Value = accumulate_t<Operator, T>;
    const size_t n = values.size();
    const exact_input<T> input(values, offset);
    check::buffer<Value> output(1, 1);
    const size_t bytes = workspace_bytes<FASTREDUCE_AUTO, FASTREDUCE_BLOCK_SIZE,
                                         FASTREDUCE_ITEMS_PER_THREAD, Operator, T>(n);
    check::buffer<unsigned char> memory(bytes);
    memory.fill(0);
#ifdef SIMT_MACHINE
    static unsigned turn = 0;
    simt::settings().schedule = static_cast<simt::order>(turn++ % 3);
#endif
    for (bool pooled : {false, true}) {
        if (pooled && (bytes == 0 || offset != 1)) continue;
        output.fill(0x7f);
        const workspace scratch = {pooled || bytes == 0 ? nullptr : memory.data(), bytes};
        const fastreduce_status status =
            reduce<FASTREDUCE_AUTO, FASTREDUCE_BLOCK_SIZE, FASTREDUCE_ITEMS_PER_THREAD, Operator>(
                input.data(), output.data(), n, nullptr, scratch);
        CUDA(cudaDeviceSynchronize());
        check::that(status == 0 && equal(output.get()[0], wanted) && output.canaries_alive(),
                    "AUTO, %s, n %zu, offset %zu%s: status %d, or another result", what, n, offset,
                    pooled ? ", pool" : "", status);
        check::that(memory.every_byte_is(0) && memory.canaries_alive(),
                    "AUTO, %s, n %zu: workspace left dirty, or a write outside", what, n);
    }
}

/* Each kernel in small blocks, with grids and units of any size. */
template <class Operator, class T, class Engine>
static void small_case(const char *what, const std::vector<T> &values, size_t offset,
                       unsigned blocks, const fastreduce::accumulate_t<Operator, T> &wanted)
{
    using namespace fastreduce::detail;
    const plan_row row = Engine::row(0);
    const size_t n = values.size();
    int device;
    bool hopper = false;
    CUDA(cudaGetDevice(&device));
    CUDA(find_hopper(launch_of<Engine>(0), device, &hopper));
    if (row.kernel == engine_kernel::pipelined && on_gpu && !hopper) return;
    const exact_input<T> input(values, offset);
    const elements<T> array(input.data(), n, false, row.streaming);
    const work_plan work = work_plan::of(tiles_of(array.packs, row), 0);
    if (row.kernel == engine_kernel::tile || blocks > work.units)
        blocks = static_cast<unsigned>(work.units);
    check::buffer<fastreduce::accumulate_t<Operator, T>> output(1, 1);
    check::buffer<status_word> status_words(Engine::template accumulator<32>::words_for(work.units) +
                                            1);
    status_words.fill(0);
    output.fill(0x7f);
    const cudaError_t error = launch_row<Engine>(0, blocks, device, array, work, output.data(),
                                                 status_words.data(), nullptr);
    CUDA(cudaDeviceSynchronize());
    check::that(error == cudaSuccess && equal(output.get()[0], wanted) && output.canaries_alive(),
                "%s, kernel %d, %u blocks, n %zu, offset %zu: status %d, or another result", what,
                static_cast<int>(row.kernel), blocks, n, offset, error);
    check::that(status_words.every_byte_is(0) && status_words.canaries_alive(),
                "%s, kernel %d, n %zu: words left dirty, or a write outside", what,
                static_cast<int>(row.kernel), n);
}

template <class Operator, class T>
using small_reduction = fastreduce::detail::reduction<Operator, T, 32>;

/* Only packs of 16 bytes are copied to shared memory. */
template <class Operator, class T>
static void small_pipeline(const char *what, const std::vector<T> &values, size_t offset,
                           unsigned blocks, const fastreduce::accumulate_t<Operator, T> &wanted,
                           std::true_type)
{
    using namespace fastreduce::detail;
    small_case<Operator, T,
               one_row::engine<small_reduction<Operator, T>, engine_kernel::pipelined, 32, 2, 3>>(
        what, values, offset, blocks, wanted);
}
template <class Operator, class T>
static void small_pipeline(const char *, const std::vector<T> &, size_t, unsigned,
                           const fastreduce::accumulate_t<Operator, T> &, std::false_type)
{
}

template <class Operator, class T>
static void small_kernels(const char *what, const std::vector<T> &values, size_t offset)
{
    using namespace fastreduce::detail;
    using accumulator = small_reduction<Operator, T>;
    const work_plan work = work_plan::of(
        (values.size() / pack<T>::size + 63) / 64 + (values.size() < pack<T>::size), 0);
    const auto wanted = tree::reduced<Operator>(values, work, 32, 2);
    small_case<Operator, T, one_row::engine<accumulator, engine_kernel::tile, 32, 2>>(
        what, values, offset, 1, wanted);
    for (unsigned blocks : {1u, 2u, 4u}) {
        if (blocks > work.units) continue;
        small_case<Operator, T, one_row::engine<accumulator, engine_kernel::grid_stride, 32, 2>>(
            what, values, offset, blocks, wanted);
        small_pipeline<Operator>(what, values, offset, blocks, wanted,
                                 std::integral_constant<bool, sizeof(pack<T>) == 16>());
    }
}

/* Where the table changes its rows and tiles end, a little less and a little more; at offsets that
 * are no vector's and with tails of any length. On a GPU every row. */
template <class Operator, class T, class Make>
static void auto_sizes(const char *what, Make make, bool any_order)
{
    using namespace fastreduce::detail;
    using engine = auto_engine<Operator, T>;
    constexpr size_t size = pack<T>::size, kib = 1024;
    const size_t first = engine::row(0).tile_packs() * size,
                 second = engine::row(1).tile_packs() * size, row_0 = 16 * kib / sizeof(T),
                 row_1 = 64 * kib / sizeof(T);
    std::vector<size_t> all = {0,         1,          size - 1,  size,      size + 1,     77,
                               first - 1, first,      first + 1, row_0 - 1, row_0,        row_0 + 1,
                               second,    second + 1, row_1,     row_1 + 1, row_1 + first};
    if (on_gpu)
        for (size_t limit : {2 * kib * kib, 32 * kib * kib, 256 * kib * kib})
            for (size_t n : {limit / sizeof(T) - 1, limit / sizeof(T), limit / sizeof(T) + 1,
                             limit / sizeof(T) + second + size - 1})
                if (limit < 64 * kib * kib || sizeof(T) == 8) all.push_back(n);
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    const std::vector<T> values = make(all.back(), 7);
    unsigned turn = 0;
    for (size_t n : all) {
        const std::vector<T> some(values.begin(), values.begin() + static_cast<ptrdiff_t>(n));
        const auto wanted = by_the_tree<Operator>(some);
        check::that(!any_order || equal(wanted, folded<Operator>(some)),
                    "%s, n %zu: the tree on the host", what, n);
        auto_case<Operator>(what, some, turn % size, wanted);
        if (on_gpu || n < row_0 || n == row_1 + 1)
            auto_case<Operator>(what, some, size - 1 - turn / 2 % size, wanted);
        ++turn;
    }
    const size_t tile = 64 * size;
    for (size_t n : {size_t(0), size_t(1), size, tile - 1, tile, tile + 1, 3 * tile + size + 1}) {
        const std::vector<T> some(values.begin(), values.begin() + static_cast<ptrdiff_t>(n));
        for (size_t offset = 0; offset < size; offset += 1 + (turn++ % 3) * size / 5)
            small_kernels<Operator>(what, some, offset);
    }
}

template <class Operator, class T>
static void auto_of(const char *what)
{
    auto_sizes<Operator, T>(what, elements_of<Operator, T>, true);
}

/* The same bits at any offset. */
template <class T>
static void fractions_of(const char *what)
{
    auto_sizes<fastreduce::plus, T>(what, fractions<T>, false);
    const size_t n = 64 * 1024 / sizeof(T) + 1027;
    const std::vector<T> values = fractions<T>(n, 3);
    const T wanted = by_the_tree<fastreduce::plus>(values);
    check::that(!equal(wanted, folded<fastreduce::plus>(values)),
                "%s: data whose sum is the same in any order", what);
    for (size_t offset = 0; offset < (on_gpu ? 33u : 5u); ++offset)
        auto_case<fastreduce::plus>(what, values, offset, wanted);
}

static void any_types()
{
    using namespace fastreduce;
    auto_of<plus, signed char>("int8, sum");
    auto_of<minimum, signed char>("int8, minimum");
    auto_of<maximum, unsigned char>("uint8, maximum");
    auto_of<plus, short>("int16, sum");
    auto_of<describe, short>("int16, statistics");
    auto_of<bits_in_all, unsigned short>("uint16, bits in all");
    auto_of<plus, int>("int, sum");
    auto_of<minimum, int>("int, minimum");
    auto_of<product, unsigned>("unsigned, product");
    auto_of<maximum, unsigned>("unsigned, maximum");
    auto_of<bits_in_all, unsigned long long>("64 bits in all");
    auto_of<plus, unsigned long long>("unsigned 64-bit sum");
    auto_of<minimum, long long>("64-bit minimum");
    fractions_of<double>("double, sum");
    fractions_of<float>("float, sum");
    auto_sizes<maximum, double>("double, maximum", fractions<double>, true);
    auto_of<each_part<adds>, bytes<3>>("3 bytes");
    auto_of<each_part<multiplies>, bytes<3>>("3 bytes, product");
    auto_of<each_part<multiplies>, words<3>>("12 bytes, product");
    auto_of<each_part<adds>, words<4>>("16 bytes");
    auto_of<each_part<multiplies>, aligned_words>("16 bytes, aligned, product");
    auto_of<each_part<multiplies>, words<6>>("24 bytes, product");
    auto_of<each_part<adds>, words<16>>("64 bytes");
}

/* What is too large for the engine goes through V7. */
static void too_large()
{
    using namespace fastreduce;
    using large = words<20>;
    using product_of_large = each_part<multiplies>;
    for (size_t n : {size_t(0), size_t(1), size_t(2047), size_t(2049), size_t(5000)}) {
        const std::vector<large> values = elements_of<product_of_large, large>(n, n);
        auto_case<product_of_large>("80 bytes", values, n % 2, folded<product_of_large>(values));
        check::that(workspace_bytes<FASTREDUCE_AUTO, FASTREDUCE_BLOCK_SIZE,
                                    FASTREDUCE_ITEMS_PER_THREAD, product_of_large, large>(n) ==
                        workspace_bytes<FASTREDUCE_V7, FASTREDUCE_BLOCK_SIZE,
                                        FASTREDUCE_ITEMS_PER_THREAD, product_of_large, large>(n),
                    "80 bytes, n %zu: not V7's workspace", n);
    }
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
    check::that(fastreduce::round<FASTREDUCE_V0, 32>(low, data, (size_t(1) << 36) - 31) ==
                    FASTREDUCE_ERROR_UNSUPPORTED,
                "round, 2^31 blocks");
    CUDA(cudaDeviceSynchronize());
    check::that(memory.every_byte_is(0x5a), "a refused call wrote");
}

/* block_reduce twice in one kernel, its slots reused after a barrier;
 * warp_reduce over part of a warp. */
template <unsigned BlockSize>
__global__ void two_sums(const float *input, float *output)
{
    __shared__ float slots[BlockSize / fastreduce::warp_size];
    const float value = input[threadIdx.x];
    const float sum = fastreduce::block_reduce<BlockSize, fastreduce::plus>(value, slots);
    __syncthreads();
    const float most = fastreduce::block_reduce<BlockSize, fastreduce::maximum>(value, slots);
    const float eight = fastreduce::warp_reduce<fastreduce::plus, 8>(value);
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
    check::buffer<float> input(BlockSize), output(3);
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
}

int main()
{
    check::need_device();
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
    any_types();
    too_large();
    own_type<int64_t>();
    own_type<uint64_t>();
    own_type<size_t>();
    own_type<long long>();
    own_type<unsigned long long>();
    halves<__half>(0x7c00);
    halves<__nv_bfloat16>(0x7f80);
    over_aligned<FASTREDUCE_V0, 32, 1>(32 * 32 + 5, 64 * (33 + 2)); /* three levels */
    over_aligned<FASTREDUCE_AUTO, FASTREDUCE_BLOCK_SIZE, FASTREDUCE_ITEMS_PER_THREAD>(
        32 * 32 + 5, 8 * (16 * 4096 + 1));
    identities();
    refusals();
    one_round<FASTREDUCE_V0, 256>(5000);
    one_round<FASTREDUCE_V1, 1024>(5000);
    one_round<FASTREDUCE_V2, 128>(128 * 9);
    one_round<FASTREDUCE_V4, 256, 1>(3333);
    one_round<FASTREDUCE_V4, 1024, 1, fastreduce::tail::block>(3333);
    one_round<FASTREDUCE_V7, 128, 4>(3333);
    building_blocks<32>();
    building_blocks<64>();
    building_blocks<256>();
    building_blocks<1024>();
    return check::finish("types");
}

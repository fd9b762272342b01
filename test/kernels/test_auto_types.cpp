/* AUTO of any element type and operator: numbers of 8 to 64 bits, structures of 3 to 32 bytes, and
 * one that is too large for the engine; sums, extremes, and operators whose identity is not zero;
 * operators with state, and functions of elements.
 * Results are compared with the tree on the host, bit by bit; inputs begin anywhere, and end where
 * their memory does. */
#include <cuda_runtime.h>
#define FASTREDUCE_HOST_IMPLEMENTATION
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/dynamic_shared.h"
#include "../common/exact_input.h"
#include "../common/one_row.h"
#include "../common/tree.h"
#include <algorithm>

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

/* Operators for each part of a structure, and of numbers. */
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
        using part = std::decay_t<decltype(Value::part[0])>;
        Value value = {};
        for (unsigned k = 0; k < sizeof value.part / sizeof value.part[0]; ++k)
            value.part[k] = Single::template identity<part>();
        return value;
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
                std::is_same<Operator, each_part<product>>::value)
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

static bool thorough = on_gpu; /* the CPU machine and sanitizers take too long for large arrays */

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

/* By the tree; or where any order will do, and tiles begin where the address says, one after the
 * other. */
template <class Operator, class T>
static fastreduce::accumulate_t<Operator, T> on_host(const std::vector<T> &values,
                                                     const fastreduce::detail::work_plan &work,
                                                     unsigned block_size, unsigned packs)
{
    return fastreduce::detail::auto_engine<Operator, T>::head_alignment > 0
               ? folded<Operator>(values)
               : tree::reduced<Operator>(values, work, block_size, packs);
}

/* The row of a device that has everything: tiles are the same on all. */
template <class Operator, class T>
static fastreduce::accumulate_t<Operator, T> by_the_tree(const std::vector<T> &values)
{
    using namespace fastreduce::detail;
    using engine = auto_engine<Operator, T>;
    const plan_row row = engine::row(pick(engine_of<engine>(), values.size(), {132, 232448, true}));
    return on_host<Operator>(values, plan_work(values.size() / pack<T>::size, row), row.block_size,
                             row.packs);
}

#ifdef SIMT_MACHINE
/* What is asked for before its turn has addresses and sizes that are multiples of 16: the CPU
 * machine has nothing that asks. */
template <class T>
static void check_prefetch(const char *what, size_t n, void **arguments)
{
    using namespace fastreduce::detail;
    const array_layout &array = *static_cast<array_layout *>(arguments[0]);
    const work_plan &work = *static_cast<work_plan *>(arguments[1]);
    check::that(work.prefetch_packs == 0 || array.packs == 0 ||
                    (aligned(array.packed, 16) && sizeof(pack<T>) % 16 == 0),
                "AUTO, %s, n %zu: asks for %u packs of %zu bytes at %p", what, n,
                work.prefetch_packs, sizeof(pack<T>), array.packed);
    check::that(work.prefetch_packs > 0 || !aligned(array.packed, 16) || sizeof(pack<T>) != 16,
                "AUTO, %s, n %zu: asks for nothing", what, n);
}
#endif

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
    if (detail::engine_takes<Operator, T>())
        simt::before_launch() = [&](void **arguments) { check_prefetch<T>(what, n, arguments); };
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
#ifdef SIMT_MACHINE
    simt::before_launch() = nullptr;
#endif
}

/* The result of a kernel that is compiled. */
template <class Operator, class T, class Engine>
static fastreduce::accumulate_t<Operator, T>
small_result(const char *what, const std::vector<T> &values, size_t offset, unsigned blocks,
             int device)
{
    using namespace fastreduce::detail;
    const plan_row row = Engine::row(0);
    const size_t n = values.size();
    const exact_input<T> input(values, offset);
    const array_layout array = one_row::array_of<Engine>(0, input.data(), n);
    const work_plan work = work_plan::of(tiles_of(array.packs, row), 0);
    if (row.kernel == engine_kernel::tile || blocks > work.units)
        blocks = static_cast<unsigned>(work.units);
    check::buffer<fastreduce::accumulate_t<Operator, T>> output(1, 1);
    check::buffer<status_word> status_words(
        Engine::template accumulator<32>::words_for(work.units) + 1);
    status_words.fill(0);
    output.fill(0x7f);
    const cudaError_t error = one_row::launch<Engine>(
        0, blocks, device, array, work, output_of<Operator, T>(output.data()), status_words.data());
    CUDA(cudaDeviceSynchronize());
    check::that(error == cudaSuccess && output.canaries_alive(),
                "%s, kernel %d, %u blocks, n %zu, offset %zu: status %d, or a write outside", what,
                static_cast<int>(row.kernel), blocks, n, offset, error);
    check::that(status_words.every_byte_is(0) && status_words.canaries_alive(),
                "%s, kernel %d, n %zu: words left dirty, or a write outside", what,
                static_cast<int>(row.kernel), n);
    return output.get()[0];
}

/* Each kernel in small blocks, with grids and units of any size. */
template <class Operator, class T, class Engine>
static void small_case(const char *what, const std::vector<T> &values, size_t offset,
                       unsigned blocks, const fastreduce::accumulate_t<Operator, T> &wanted)
{
    int device;
    CUDA(cudaGetDevice(&device));
    if (!one_row::is_compiled<Engine>(0, device)) return;
    check::that(
        equal(small_result<Operator, T, Engine>(what, values, offset, blocks, device), wanted),
        "%s, kernel %d, %u blocks, n %zu, offset %zu: another result", what,
        static_cast<int>(Engine::row(0).kernel), blocks, values.size(), offset);
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

/* All kernels, on an array of so many tiles. */
template <class Operator, class T>
static void small_kernels(const char *what, const std::vector<T> &values, size_t offset,
                          const fastreduce::detail::work_plan &work,
                          const fastreduce::accumulate_t<Operator, T> &wanted)
{
    using namespace fastreduce::detail;
    using accumulator = small_reduction<Operator, T>;
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

template <class T>
static fastreduce::detail::work_plan small_work(const std::vector<T> &values)
{
    using namespace fastreduce::detail;
    return work_plan::of(
        (values.size() / pack<T>::size + 63) / 64 + (values.size() < pack<T>::size), 0);
}

template <class Operator, class T>
static void small_kernels(const char *what, const std::vector<T> &values, size_t offset)
{
    const auto work = small_work(values);
    small_kernels<Operator>(what, values, offset, work, on_host<Operator>(values, work, 32, 2));
}

/* Where partials are rounded on their way, those that need not go it have to be rounded too. */
template <class Operator, class T>
static void kernels_agree(const char *what)
{
    using namespace fastreduce::detail;
    using tile = one_row::engine<small_reduction<Operator, T>, engine_kernel::tile, 32, 2>;
    int device;
    CUDA(cudaGetDevice(&device));
    for (size_t n : {1u, 3u, 100u, 128u, 300u, 700u, 701u, 702u})
        for (size_t seed = 0; seed < 4; ++seed) {
            const std::vector<T> values = fractions<T>(n, seed);
            small_kernels<Operator>(
                what, values, 1, small_work(values),
                small_result<Operator, T, tile>(
                    what, values, 1, static_cast<unsigned>(small_work(values).units), device));
        }
}

template <class Operator, class T>
static void small_sizes(const char *what, const std::vector<T> &values, std::true_type)
{
    constexpr size_t size = fastreduce::detail::pack<T>::size, tile = 64 * size;
    unsigned turn = 0;
    for (size_t n : {size_t(0), size_t(1), size, tile - 1, tile, tile + 1, 3 * tile + size + 1}) {
        const std::vector<T> some(values.begin(), values.begin() + static_cast<ptrdiff_t>(n));
        for (size_t offset = 0; offset < size; offset += 1 + (turn++ % 3) * size / 5)
            small_kernels<Operator>(what, some, offset);
    }
}
template <class Operator, class T>
static void small_sizes(const char *, const std::vector<T> &, std::false_type)
{
}

/* The greatest number's index, anywhere in five tiles. */
template <class T>
static void small_indices(const char *what)
{
    using namespace fastreduce::detail;
    using fastreduce::argmax;
    using accumulator = small_reduction<argmax, T>;
    constexpr size_t size = pack<T>::size, n = 320 * size + 1;
    std::vector<T> values(n, T(5));
    for (size_t place = 0; place < n; place += 5 * size + 1) {
        const auto wanted = static_cast<long long>(place);
        const size_t offset = place % size;
        const unsigned blocks = 1 + place % 3;
        values[place] = 6;
        small_case<argmax, T, one_row::engine<accumulator, engine_kernel::tile, 32, 2>>(
            what, values, offset, blocks, wanted);
        small_case<argmax, T, one_row::engine<accumulator, engine_kernel::grid_stride, 32, 2>>(
            what, values, offset, blocks, wanted);
        small_pipeline<argmax>(what, values, offset, blocks, wanted, std::true_type());
        values[place] = 5;
    }
}

/* Sums of which a tile's has room in 32 bits, and all of them together have not. */
template <class T>
static void large_sums(const char *what, T extreme)
{
    std::vector<T> values(100003);
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = static_cast<T>(extreme - (extreme > 0 ? 1 : -1) * static_cast<int>(i * i % 13));
    small_kernels<fastreduce::plus>(what, values, 3);
}

/* Where the table changes its rows and tiles end, a little less and a little more; at offsets that
 * are no vector's and with tails of any length. On a GPU every row, unless
 * an argument asks for less. */
template <class Operator, class T, bool Small, class Make>
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
    if (thorough)
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
    small_sizes<Operator>(what, values, std::integral_constant<bool, Small>());
}

template <class Operator, class T, bool Small = false>
static void auto_of(const char *what)
{
    auto_sizes<Operator, T, Small>(what, elements_of<Operator, T>, true);
}

/* The same bits at any offset. */
template <class T>
static void fractions_of(const char *what)
{
    auto_sizes<fastreduce::plus, T, true>(what, fractions<T>, false);
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
    auto_of<plus, signed char, true>("int8, sum");
    auto_of<maximum, unsigned char>("uint8, maximum");
    auto_of<describe, short, true>("int16, statistics");
    auto_of<bits_in_all, unsigned short>("uint16, bits in all");
    auto_of<plus, int>("int, sum");
    auto_of<product, unsigned, true>("unsigned, product");
    auto_of<minimum, long long>("64-bit minimum");
    auto_of<bits_in_all, unsigned long long>("64 bits in all");
    fractions_of<double>("double, sum");
    kernels_agree<variance, double>("double, variance");
    kernels_agree<norm2, float>("float, norm");
    auto_of<each_part<product>, bytes<3>, true>("3 bytes, product");
    auto_of<each_part<plus>, words<3>>("12 bytes, sum");
    auto_of<each_part<product>, words<4>, true>("16 bytes, product");
    auto_of<each_part<plus>, aligned_words>("16 bytes, aligned, sum");
    auto_of<each_part<product>, words<6>>("24 bytes, product");
    auto_of<each_part<plus>, words<8>>("32 bytes, sum");
}

/* What is too large for the engine goes through V7. */
template <unsigned Words>
static void too_large(const char *what)
{
    using namespace fastreduce;
    using large = words<Words>;
    using product_of_large = each_part<product>;
    for (size_t n : {size_t(0), size_t(1), size_t(2047), size_t(2049), size_t(5000)}) {
        const std::vector<large> values = elements_of<product_of_large, large>(n, n);
        auto_case<product_of_large>(what, values, n % 2, folded<product_of_large>(values));
        check::that(workspace_bytes<FASTREDUCE_AUTO, FASTREDUCE_BLOCK_SIZE,
                                    FASTREDUCE_ITEMS_PER_THREAD, product_of_large, large>(n) ==
                        workspace_bytes<FASTREDUCE_V7, FASTREDUCE_BLOCK_SIZE,
                                        FASTREDUCE_ITEMS_PER_THREAD, product_of_large, large>(n),
                    "%s, n %zu: not V7's workspace", what, n);
    }
}

/* Operators and functions of elements with state. */
struct product_modulo {
    unsigned modulus;
    __host__ __device__ unsigned operator()(unsigned a, unsigned b) const
    {
        return a * b % modulus;
    }
};
struct farthest_from {
    int place;
    __host__ __device__ long long operator()(long long a, long long b) const
    {
        const long long from_a = a < place ? place - a : a - place,
                        from_b = b < place ? place - b : b - place;
        return from_a < from_b || (from_a == from_b && a < b) ? b : a;
    }
};
struct shifted {
    unsigned by;
    __host__ __device__ unsigned operator()(unsigned short x) const { return x % 1000 + by; }
    __host__ __device__ unsigned operator()(const bytes<3> &x) const { return x.part[1] + by; }
};

template <class T, class Output, class Call>
static void given_case(const char *what, const std::vector<T> &values, size_t offset, Output wanted,
                       Call call)
{
    const size_t n = values.size();
    const exact_input<T> input(values, offset);
    check::buffer<Output> output(1, 1);
    check::buffer<unsigned char> memory(FASTREDUCE_WORKSPACE_BYTES);
    memory.fill(0);
    const fastreduce::workspace of_caller = {memory.data(), FASTREDUCE_WORKSPACE_BYTES},
                                of_pool = {nullptr, 0};
    for (const fastreduce::workspace &scratch : {of_caller, of_pool}) {
        output.fill(0x7f);
        fastreduce_status status = call(input.data(), output.data(), n, scratch);
        CUDA(cudaDeviceSynchronize());
        check::that(status == 0 && output.get()[0] == wanted && output.canaries_alive(),
                    "%s, n %zu, offset %zu: status %d, or another result", what, n, offset, status);
        output.fill(0x7f);
        status = call(static_cast<const T *>(nullptr), output.data(), n + 1, scratch);
        check::that(status == FASTREDUCE_ERROR_INVALID_ARGUMENT && output.every_byte_is(0x7f),
                    "%s, no input: status %d, or the output was written", what, status);
    }
    check::that(memory.every_byte_is(0) && memory.canaries_alive(),
                "%s, n %zu: workspace left dirty, or a write outside", what, n);
}

template <class T>
static void transformed(const char *what)
{
    const product_modulo combine = {65521};
    const shifted transform = {7};
    for (size_t n : {size_t(0), size_t(1), size_t(7), size_t(9), size_t(8200), size_t(40000)}) {
        const std::vector<T> values = elements_of<fastreduce::plus, T>(n, n);
        unsigned wanted = 1;
        for (const T &x : values) wanted = combine(wanted, transform(x));
        given_case(what, values, n % 5, wanted,
                   [=](const T *input, unsigned *output, size_t count, fastreduce::workspace in) {
                       return fastreduce::transform_reduce(input, output, count, transform, combine,
                                                           1u, nullptr, in);
                   });
    }
}

static void by_operator()
{
    const farthest_from combine = {1 << 30};
    for (size_t n : {size_t(0), size_t(1), size_t(5), size_t(4097), size_t(20000)}) {
        const std::vector<int> values = elements_of<fastreduce::plus, int>(n, n);
        long long wanted = combine.place;
        for (int x : values) wanted = combine(wanted, x);
        given_case(
            "the farthest", values, n % 5, wanted,
            [=](const int *input, long long *output, size_t count, fastreduce::workspace in) {
                return fastreduce::reduce_by(input, output, count, combine,
                                             static_cast<long long>(combine.place), nullptr, in);
            });
    }
}

int main(int argc, char **)
{
    check::need_device();
    thorough = on_gpu && argc == 1;
    any_types();
    too_large<9>("36 bytes");
    too_large<50>("200 bytes"); /* a block's are more than shared memory has unasked */
    transformed<unsigned short>("product of uint16, by a modulus");
    transformed<bytes<3>>("product of 3 bytes, by a modulus");
    by_operator();
    small_indices<short>("the greatest int16");
    small_indices<unsigned long long>("the greatest uint64");
    large_sums<unsigned short>("large uint16", 65535);
    large_sums<short>("large negative int16", -32768);
    return check::finish("auto types");
}

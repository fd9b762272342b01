/* AUTO of any element type and operator: numbers of 8 to 64 bits, structures of 3 to 128 bytes, and
 * one that is too large for the engine; sums, extremes, and operators whose identity is not zero;
 * operators with state, functions of elements, and operators that do not commute.
 * Results are compared with the pairwise reduction on the host, bit by bit; inputs begin anywhere,
 * and end where their memory does. */
#include <cuda_runtime.h>
#define FASTREDUCE_HOST_IMPLEMENTATION
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/dynamic_shared.h"
#include "../common/exact_input.h"
#include "../common/one_row.h"
#include "../common/order.h"
#include "../common/pairwise.h"
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

/* By the pairwise reduction, of what elements are converted to. */
template <class Operator, class T>
static fastreduce::accumulate_t<Operator, T> on_host(const std::vector<T> &values)
{
    using Value = fastreduce::accumulate_t<Operator, T>;
    if (values.empty()) return Operator::template identity<Value>();
    return pairwise::of([&](size_t i) { return static_cast<Value>(values[i]); }, values.size(),
                        Operator());
}

#ifdef SIMT_MACHINE
/* What is asked for before its turn: the CPU machine has nothing that asks. */
template <class T>
static void check_prefetch(const char *what, size_t n, void **arguments)
{
    using namespace fastreduce::detail;
    const pairwise_array &array = *static_cast<pairwise_array *>(arguments[0]);
    check::that(array.prefetch_bytes % 16 == 0 && array.prefetch_bytes > 0,
                "AUTO, %s, n %zu: asks for %u bytes at %p", what, n, array.prefetch_bytes,
                array.input);
    check::that(array.vectors == (aligned(array.input, 16) || 16 % sizeof(T) != 0),
                "AUTO, %s, n %zu: vectors at %p", what, n, array.input);
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
    simt::before_launch() = [&](void **arguments) { check_prefetch<T>(what, n, arguments); };
#endif
    for (bool pooled : {false, true}) {
        if (pooled && (bytes == 0 || offset != 1)) continue;
        output.fill(0x7f);
        order::next();
        const workspace scratch = {pooled || bytes == 0 ? nullptr : memory.data(), bytes};
        const fastreduce_status status =
            reduce<Operator>(input.data(), output.data(), n, nullptr, scratch);
        CUDA(cudaDeviceSynchronize());
        check::that(status == 0 && equal(output.get()[0], wanted) && output.canaries_alive(),
                    "AUTO, %s, n %zu, offset %zu%s: status %d, or another result %s", what, n,
                    offset, pooled ? ", pool" : "", status, order::report());
        check::that(memory.every_byte_is(0) && memory.canaries_alive(),
                    "AUTO, %s, n %zu: workspace left dirty, or a write outside", what, n);
    }
    order::usual();
#ifdef SIMT_MACHINE
    simt::before_launch() = nullptr;
#endif
}

/* In blocks of 32 threads, with as few words as make each take runs of up to four tiles. */
template <class Operator, class T>
static void small_case(const char *what, const std::vector<T> &values, size_t offset,
                       const fastreduce::accumulate_t<Operator, T> &wanted)
{
    using namespace fastreduce::detail;
    using reducer = reducer_t<Operator, T>;
    const size_t n = values.size();
    const exact_input<T> input(values, offset);
    const kernel_set engine = sizes_of<reducer, 32, 2, 32, 2>();
    check::buffer<unsigned char> memory(array_workspace_bytes(engine, n));
    memory.fill(0);
    check::buffer<fastreduce::accumulate_t<Operator, T>> output(1, 1);
    const size_t tiles = n / (64 * pack<T>::size);
    for (size_t words : {workspace_words, tiles * engine.partial_words / 3 + 8}) {
        output.fill(0x7f);
        one_row::pairwise_call call;
        call.most_words = words;
        const char *const in_order = order::next();
        const fastreduce_status status = one_row::reduce_pairwise_in<reducer, 32, 2>(
            input.data(), n, output.data(), make_reducer<Operator, T>(),
            {memory.bytes() ? memory.data() : nullptr, memory.bytes()}, call);
        CUDA(cudaDeviceSynchronize());
        order::usual();
        check::that(status == 0 && equal(output.get()[0], wanted) && output.canaries_alive(),
                    "%s, n %zu, offset %zu, %zu words, blocks %s: status %d, or another result %s",
                    what, n, offset, words, in_order, status, order::report());
        check::that(memory.every_byte_is(0) && memory.canaries_alive(),
                    "%s, n %zu, offset %zu: words left dirty, or a write outside", what, n, offset);
    }
}

template <class Operator, class T>
static void small_sizes(const char *what, const std::vector<T> &values)
{
    constexpr size_t size = fastreduce::detail::pack<T>::size, tile = 64 * size;
    unsigned turn = 0;
    for (size_t n : {size_t(0), size_t(1), size, tile - 1, tile, tile + 1, 3 * tile + size + 1,
                     14 * tile, 67 * tile + 1}) {
        if (n > values.size()) continue;
        const std::vector<T> some(values.begin(), values.begin() + static_cast<ptrdiff_t>(n));
        const auto wanted = on_host<Operator>(some);
        for (size_t offset = 0; offset <= size; offset += 1 + (turn++ % 3) * size / 5)
            small_case<Operator>(what, some, offset, wanted);
    }
}

/* The greatest number's index, anywhere in five tiles. */
template <class T>
static void small_indices(const char *what)
{
    constexpr size_t size = fastreduce::detail::pack<T>::size, n = 320 * size + 1;
    std::vector<T> values(n, T(5));
    for (size_t place = 0; place < n; place += 5 * size + 1) {
        values[place] = 6;
        small_case<fastreduce::argmax>(what, values, place % size, static_cast<long long>(place));
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
    small_case<fastreduce::plus>(what, values, 3, on_host<fastreduce::plus>(values));
}

/* Where the blocks' sizes change and tiles end, a little less and a little more; at offsets that
 * are no vector's and with tails of any length. On a GPU every size, unless
 * an argument asks for less. */
template <class Operator, class T, bool Small, class Make>
static void auto_sizes(const char *what, Make make, bool any_order)
{
    using namespace fastreduce::detail;
    const kernel_set engine = sizes_of<reducer_t<Operator, T>>();
    constexpr size_t size = pack<T>::size, kib = 1024;
    const size_t first = engine.tile[0].tile_packs() * size,
                 second = engine.tile[1].tile_packs() * size, row_0 = 16 * kib / sizeof(T),
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
    const std::vector<T> values = make(std::max(all.back(), 67 * 64 * size + 1), 7);
    unsigned turn = 0;
    for (size_t n : all) {
        const std::vector<T> some(values.begin(), values.begin() + static_cast<ptrdiff_t>(n));
        const auto wanted = on_host<Operator>(some);
        check::that(!any_order || equal(wanted, folded<Operator>(some)),
                    "%s, n %zu: the pairwise reduction on the host", what, n);
        auto_case<Operator>(what, some, turn % size, wanted);
        if (on_gpu || n < row_0 || n == row_1 + 1)
            auto_case<Operator>(what, some, size - 1 - turn / 2 % size, wanted);
        ++turn;
    }
    if constexpr (Small) small_sizes<Operator>(what, values);
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
    const T wanted = on_host<fastreduce::plus>(values);
    check::that(!equal(wanted, folded<fastreduce::plus>(values)),
                "%s: data whose sum is the same in any order", what);
    for (size_t offset = 0; offset < (on_gpu ? 33u : 5u); ++offset)
        auto_case<fastreduce::plus>(what, values, offset, wanted);
}

/* ---- What does not commute ------------------------------------------------------------------- */

/* x -> factor * x + summand, modulo 2^32: one after the other, the left one first. */
struct affine {
    unsigned factor, summand;
};
struct compose {
    template <class T>
    static __host__ __device__ T identity()
    {
        return {1, 0};
    }
    __host__ __device__ affine operator()(const affine &a, const affine &b) const
    {
        return {a.factor * b.factor, a.summand * b.factor + b.summand};
    }
};
/* Matrices modulo 2^64, by rows. */
template <unsigned Size>
struct matrix {
    unsigned long long at[Size][Size];
};
struct multiply {
    template <class T>
    static __host__ __device__ T identity()
    {
        T one = {};
        for (unsigned i = 0; i < sizeof one.at / sizeof one.at[0]; ++i) one.at[i][i] = 1;
        return one;
    }
    template <unsigned Size>
    __host__ __device__ matrix<Size> operator()(const matrix<Size> &a, const matrix<Size> &b) const
    {
        matrix<Size> product = {};
        for (unsigned i = 0; i < Size; ++i)
            for (unsigned j = 0; j < Size; ++j)
                for (unsigned k = 0; k < Size; ++k) product.at[i][j] += a.at[i][k] * b.at[k][j];
        return product;
    }
};
/* What exists has an odd number: of anything else there is no matrix, and the test would see it. */
template <unsigned Size>
struct number_as_matrix {
    const unsigned *uncounted;
    __host__ __device__ matrix<Size> operator()(unsigned x) const
    {
        if (x % 2 == 0) ++*const_cast<unsigned *>(uncounted);
        matrix<Size> made = {{{x, 1}, {1ull << 40 | x, x * 7ull}}};
        for (unsigned i = 2; i < Size; ++i) made.at[i][i - 1] = made.at[i - 2][i] = x + i;
        return made;
    }
};
struct byte_as_affine {
    const unsigned *uncounted;
    __host__ __device__ affine operator()(unsigned char x) const
    {
        if (x % 2 == 0) ++*const_cast<unsigned *>(uncounted);
        return {x * 2654435761u, x + 77u};
    }
};

/* Left to right, from the first one on: the operators are exact, so any other association has the
 * same result, and any other order another. */
template <class Combine, class Value, class T, class Transform>
static std::vector<Value> prefixes(const std::vector<T> &x, const Transform &transform)
{
    std::vector<Value> all = {Combine::template identity<Value>()};
    for (const T &one : x) all.push_back(Combine()(all.back(), transform(one)));
    return all;
}

template <class Output, class Call>
static void ordered_case(const char *what, size_t n, size_t offset, const Output &wanted,
                         const Call &call)
{
    check::buffer<Output> output(1, 1);
    check::buffer<unsigned char> memory(FASTREDUCE_WORKSPACE_BYTES / 16);
    const fastreduce::workspace scratch = {memory.data(), memory.bytes()};
    memory.fill(0);
    output.fill(0x7f);
    const char *const in_order = order::next();
    const fastreduce_status status = call(output.data(), scratch);
    CUDA(cudaDeviceSynchronize());
    order::usual();
    check::that(status == 0 && equal(output.get()[0], wanted) && output.canaries_alive(),
                "%s, n %zu, offset %zu, blocks %s: status %d, or another result %s", what, n,
                offset, in_order, status, order::report());
    if (n % 64 == 1 || n > 5000)
        check::that(memory.every_byte_is(0) && memory.canaries_alive(),
                    "%s, n %zu: workspace left dirty, or a write outside", what, n);
}

/* By reduce(), reduce_by() and transform_reduce(), and in small blocks. */
template <class Combine, class Value, class T, class Transform>
static void in_order(const char *what, size_t most, size_t step)
{
    using namespace fastreduce;
    using given = detail::custom_reducer<T, Value, Combine, Transform>;
    check::buffer<unsigned> foreign(1);
    foreign.fill(0);
    unsigned on_cpu = 0;
    const Transform transform = {foreign.data()}, host_transform = {&on_cpu};
    const Combine combine = {};
    const Value identity = Combine::template identity<Value>();
    std::vector<T> elements(most);
    for (size_t i = 0; i < most; ++i) elements[i] = static_cast<T>(check::mix(i, most) | 1);
    std::vector<Value> values;
    for (const T &x : elements) values.push_back(host_transform(x));
    const std::vector<Value> wanted = prefixes<Combine, Value>(elements, host_transform);
    constexpr size_t size = detail::pack<T>::size;
    unsigned turn = 0;
    for (size_t n = 0; n <= most; n += n < 300 ? 1 : step) {
        const size_t offset = turn++ % (size + 1);
        const std::vector<T> some(elements.begin(), elements.begin() + static_cast<ptrdiff_t>(n));
        const std::vector<Value> mapped(values.begin(), values.begin() + static_cast<ptrdiff_t>(n));
        const exact_input<T> input(some, offset);
        const exact_input<Value> already(mapped, offset % 3);
        ordered_case(what, n, offset, wanted[n], [&](Value *output, workspace scratch) {
            return transform_reduce(input.data(), output, n, transform, combine, identity, nullptr,
                                    scratch);
        });
        ordered_case(what, n, offset, wanted[n], [&](Value *output, workspace scratch) {
            return one_row::reduce_pairwise_in<given, 32, 1>(
                input.data(), n, output, given{{}, combine, transform, identity}, scratch);
        });
        ordered_case(what, n, offset, wanted[n], [&](Value *output, workspace scratch) {
            one_row::pairwise_call call;
            call.most_words = 24; /* runs of several tiles */
            return one_row::reduce_pairwise_in<given, 32, 1>(
                input.data(), n, output, given{{}, combine, transform, identity}, scratch, call);
        });
        if (turn % 4 && !on_gpu) continue;
        ordered_case(what, n, offset % 3, wanted[n], [&](Value *output, workspace scratch) {
            return reduce_by(already.data(), output, n, combine, identity, nullptr, scratch);
        });
        ordered_case(what, n, offset % 3, wanted[n], [&](Value *output, workspace scratch) {
            return reduce<Combine>(already.data(), output, n, nullptr, scratch);
        });
    }
    check::that(foreign.every_byte_is(0) && on_cpu == 0,
                "%s: called with what is no element %u times", what, foreign.get()[0]);
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
    auto_of<each_part<product>, bytes<3>, true>("3 bytes, product");
    auto_of<each_part<plus>, words<3>>("12 bytes, sum");
    auto_of<each_part<product>, words<4>, true>("16 bytes, product");
    auto_of<each_part<plus>, aligned_words>("16 bytes, aligned, sum");
    auto_of<each_part<product>, words<6>>("24 bytes, product");
    auto_of<each_part<plus>, words<8>, true>("32 bytes, sum");
    auto_of<each_part<product>, words<9>>("36 bytes, product");
    auto_of<each_part<plus>, words<32>>("128 bytes, sum");
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
    transformed<unsigned short>("product of uint16, by a modulus");
    transformed<bytes<3>>("product of 3 bytes, by a modulus");
    by_operator();
    in_order<compose, affine, unsigned char, byte_as_affine>("affine maps of bytes",
                                                             on_gpu ? 70000 : 9000, 331);
    in_order<multiply, matrix<2>, unsigned, number_as_matrix<2>>("2 x 2 matrices",
                                                                 on_gpu ? 70000 : 5000, 157);
    in_order<multiply, matrix<3>, unsigned, number_as_matrix<3>>("3 x 3 matrices",
                                                                 on_gpu ? 20000 : 1500, 157);
    small_indices<short>("the greatest int16");
    small_indices<unsigned long long>("the greatest uint64");
    large_sums<unsigned short>("large uint16", 65535);
    large_sums<short>("large negative int16", -32768);
    return check::finish("auto types");
}

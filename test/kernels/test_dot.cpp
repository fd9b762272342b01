/* fastreduce_dot: every type, against exact or wider arithmetic; of floats the bits of the pairwise
 * reduction, wherever x and y begin, whoever knows n, in small blocks, in shards; refusals.
 * fastreduce_dot_axis: the same bits of rows, columns and axes between. x and y end where their
 * memory does. */
#include <cuda_runtime.h>
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#define FASTREDUCE_NO_LADDER
#define FASTREDUCE_NO_EXACT
#define FASTREDUCE_WITH_SHAPES
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/dynamic_shared.h"
#include "../common/exact_input.h"
#include "../common/geometry.h"
#include "../common/golden.h"
#include "../common/one_row.h"
#include "../common/order.h"
#include "../common/pairwise.h"
#include "../common/parts.h"
#include "../common/shards.h"
#include "../common/turns.h"
#include <algorithm>
#include <limits>
#include <type_traits>
#include <utility>

static bool thorough = on_gpu; /* the CPU machine and sanitizers take too long for all of it */

using u64 = unsigned long long;
using real = long double;
using fastreduce::detail::bf16;
using fastreduce::detail::built_types;
using fastreduce::detail::dot_t;
using fastreduce::detail::f16;
using fastreduce::detail::holds;

/* ---- Numbers ---- */

template <class T>
constexpr fastreduce_type type_of =
    std::is_same<T, float>::value    ? FASTREDUCE_F32
    : std::is_same<T, double>::value ? FASTREDUCE_F64
    : std::is_same<T, f16>::value    ? FASTREDUCE_F16
    : std::is_same<T, bf16>::value
        ? FASTREDUCE_BF16
        : static_cast<fastreduce_type>((std::is_signed<T>::value ? FASTREDUCE_I8 : FASTREDUCE_U8) +
                                       (sizeof(T) >= 2) + (sizeof(T) >= 4) + (sizeof(T) >= 8));
template <class T>
constexpr bool is_float = type_of<T> < FASTREDUCE_I8;
template <class T>
constexpr bool is_half = is_float<T> && sizeof(T) == 2;

/* Of 16 bits, a sign, an exponent and a fraction of this many. */
template <class T>
constexpr int fraction_bits = std::is_same<T, f16>::value ? 10 : 7;
template <class T>
constexpr int most_exponent = (1 << (15 - fraction_bits<T>)) - 1; /* of infinities and NaNs */

template <class T>
static real real_of(T x)
{
    if constexpr (is_half<T>) {
        const int exponent = x.bits >> fraction_bits<T> & most_exponent<T>,
                  one = 1 << fraction_bits<T>, fraction = x.bits & (one - 1);
        const real sign = x.bits >> 15 ? -1 : 1;
        if (exponent == most_exponent<T>)
            return fraction ? static_cast<real>(NAN) : sign * static_cast<real>(INFINITY);
        return sign *
               std::ldexp(static_cast<real>(fraction + (exponent ? one : 0)),
                          (exponent ? exponent : 1) - most_exponent<T> / 2 - fraction_bits<T>);
    } else {
        return static_cast<real>(x);
    }
}

/* Halves are rounded towards zero, and too small ones are zeros. */
template <class T>
static T number(double x)
{
    if constexpr (is_half<T>) {
        const double magnitude = std::fabs(x);
        const unsigned sign = std::signbit(x) ? 0x8000 : 0,
                       infinity = static_cast<unsigned>(most_exponent<T>) << fraction_bits<T>;
        if (std::isnan(x)) return {static_cast<unsigned short>(infinity | 1)};
        if (std::isinf(x)) return {static_cast<unsigned short>(infinity | sign)};
        const int exponent = magnitude > 0 ? std::ilogb(magnitude) : -9999,
                  stored = exponent + most_exponent<T> / 2;
        if (stored < 1) return {static_cast<unsigned short>(sign)};
        const unsigned significand =
            static_cast<unsigned>(std::ldexp(magnitude, fraction_bits<T> - exponent));
        return {static_cast<unsigned short>(
            sign | ((static_cast<unsigned>(stored - 1) << fraction_bits<T>)+significand))};
    } else {
        return static_cast<T>(x);
    }
}

/* A result in 64 bits, and back. */
template <class T>
using result_t = fastreduce::accumulate_t<fastreduce::plus, T>;

/* ---- What is right ---- */

struct answer {
    u64 bits;          /* of integers */
    real value, error; /* of floats */
};

template <class T>
static answer dot_of(const T *x, const T *y, size_t n)
{
    answer all = {0, 0, 0};
    real sum = 0, magnitudes = 0; /* of a few, so that little is lost */
    for (size_t i = 0; i < n; ++i)
        if constexpr (is_float<T>) {
            const real product = real_of(x[i]) * real_of(y[i]);
            sum += product;
            magnitudes += std::fabs(product);
            if (i % 1024 < 1023 && i + 1 < n) continue;
            all.value += sum;
            all.error += magnitudes;
            sum = magnitudes = 0;
        } else {
            all.bits += static_cast<u64>(x[i]) * static_cast<u64>(y[i]);
        }
    /* one rounding more than additions, or half the least number for each product */
    const bool twice = type_of<T> == FASTREDUCE_F64;
    const real roundings = check::auto_depth + 1, u = twice ? 0x1p-53L : 0x1p-24L,
               least = twice ? 0x1p-1074L : 0x1p-149L;
    all.error = all.error * roundings * u / (1 - roundings * u) + static_cast<real>(n) * least;
    return all;
}

template <class T>
static bool agrees(const answer &wanted, u64 bits)
{
    if constexpr (is_float<T>) {
        result_t<T> got;
        std::memcpy(&got, &bits, sizeof got);
        const real value = wanted.value, most = std::numeric_limits<result_t<T>>::max();
        if (std::isnan(value)) return std::isnan(got);
        if (std::fabs(value) > most)
            return std::isinf(got) && std::signbit(got) == std::signbit(value);
        return std::fabs(got - value) <= wanted.error;
    } else {
        return bits == wanted.bits;
    }
}

/* ---- Data ---- */

enum class data {
    whole,    /* floats: -1 .. 2, whose sums are exact below 2^24; integers: any bits */
    usual,    /* floats: [-1, 1) plus a quarter; integers: small, x and y of unlike sizes */
    wide,     /* floats: exponents far apart; integers: the ends of the type, in any order */
    greatest, /* integers: the least by the least; unsigned, the greatest by the greatest */
    negative  /* integers: the least by the greatest */
};
static const char *const data_names[] = {"whole", "usual", "wide", "greatest", "negative"};
template <class T>
constexpr int kinds = is_float<T> ? 3 : 5;

template <class T>
static T element(data kind, size_t i, bool of_y)
{
    const u64 z = check::mix(i, 2 * static_cast<u64>(kind) + of_y);
    if constexpr (is_float<T>) {
        const double fraction = std::ldexp(static_cast<double>(static_cast<long long>(z)), -63);
        const int binades = std::is_same<T, f16>::value    ? 26
                            : type_of<T> == FASTREDUCE_F64 ? 500
                                                           : 80;
        if (kind == data::whole) return number<T>(static_cast<double>(z % 4) - 1);
        if (kind == data::usual) return number<T>(fraction + 0.25);
        return number<T>(
            std::ldexp(fraction, static_cast<int>(z % static_cast<u64>(binades)) - binades / 2));
    } else {
        const T least = std::numeric_limits<T>::min(), most = std::numeric_limits<T>::max(),
                ends[] = {least, most, 0, static_cast<T>(-1), static_cast<T>(least + 1)},
                off = static_cast<T>(z % 3);
        switch (kind) {
        case data::whole: return static_cast<T>(z);
        case data::usual: return static_cast<T>(z % (of_y ? 7 : 100));
        case data::wide: return ends[z % 5];
        case data::greatest: return std::is_signed<T>::value ? T(least + off) : T(most - off);
        default: return of_y ? T(most - off) : T(least + off);
        }
    }
}

template <class T>
static std::vector<T> make(data kind, size_t n, bool of_y)
{
    std::vector<T> values(n);
    for (size_t i = 0; i < n; ++i) values[i] = element<T>(kind, i, of_y);
    return values;
}

/* ---- Calls ---- */

struct scratch {
    check::buffer<unsigned char> memory{FASTREDUCE_WORKSPACE_BYTES};
    scratch() { memory.fill(0); }
};
static check::buffer<unsigned char> &workspace()
{
    static scratch *const all = new scratch; /* longer than the CPU machine of its thread */
    return all->memory;
}

static fastreduce_config own_workspace()
{
    fastreduce_config config = {};
    config.workspace = workspace().data();
    config.workspace_bytes = FASTREDUCE_WORKSPACE_BYTES;
    return config;
}

/* Whether bits are those of a float rounded to 16 bits. */
static bool same_halves(fastreduce_type type, u64 got, u64 of)
{
    const u64 wanted = pairwise::nearest(type, of),
              infinity = type == FASTREDUCE_F16 ? 0x7c00 : 0x7f80;
    return got == wanted || ((got & 0x7fff) > infinity && (wanted & 0x7fff) > infinity);
}

/* One result, and nothing written beside it. */
template <class T>
static u64 result(const char *what, const T *x, const T *y, size_t n,
                  const fastreduce_config &config)
{
    check::buffer<result_t<T>> output(1, 1);
    output.fill(0x7b);
    order::next();
    const fastreduce_status status = fastreduce_dot(x, y, output.data(), n, type_of<T>, &config);
    CUDA(cudaDeviceSynchronize());
    check::that(status == 0 && output.canaries_alive(),
                "%s, %s, n %zu: status %d, or a write outside", fastreduce_type_name(type_of<T>),
                what, n, status);
    u64 bits = 0;
    const std::vector<result_t<T>> got = output.get();
    std::memcpy(&bits, got.data(), sizeof(result_t<T>));
    if (pairwise::has_16_bits(type_of<T>, FASTREDUCE_SUM)) {
        check::buffer<unsigned short> half(1, 1);
        fastreduce_config rounding = config;
        rounding.output_type = type_of<T>;
        const int second = fastreduce_dot(x, y, half.data(), n, type_of<T>, &rounding);
        CUDA(cudaDeviceSynchronize());
        check::that(second == 0 && half.canaries_alive() &&
                        same_halves(type_of<T>, half.get()[0], bits),
                    "%s, %s, n %zu, rounded: status %d, %x of %llx, or a write outside",
                    fastreduce_type_name(type_of<T>), what, n, second, half.get()[0], bits);
    }
    return bits;
}

template <class T>
static void right(const char *what, u64 got, const answer &wanted, size_t n)
{
    check::that(agrees<T>(wanted, got), "%s, %s, n %zu: %llx, not %llx (%Lg, error %Lg)",
                fastreduce_type_name(type_of<T>), what, n, got, wanted.bits, wanted.value,
                wanted.error);
}

template <class T>
static void same(const char *what, u64 got, u64 wanted, size_t n, size_t x_offset, size_t y_offset)
{
    check::that(got == wanted, "%s, %s, n %zu, offsets %zu, %zu: %llx, not %llx",
                fastreduce_type_name(type_of<T>), what, n, x_offset, y_offset, got, wanted);
}

template <class T>
static void workspace_is_clean(const char *what)
{
    check::that(workspace().every_byte_is(0) && workspace().canaries_alive(),
                "%s, %s: workspace left dirty, or a write outside",
                fastreduce_type_name(type_of<T>), what);
}

/* ---- The tests ---- */

/* Offsets of x and y from a vector's alignment, in elements: both aligned, each, neither. */
template <class T>
static std::vector<std::pair<size_t, size_t>> offsets(size_t n)
{
    constexpr size_t size = 16 / sizeof(T);
    std::vector<std::pair<size_t, size_t>> all = {{0, 0}, {0, 1}, {1, 0}, {1, 1}, {1, size - 1}};
    if (thorough || n < 300)
        for (size_t k = 0; k < size * size; k += 1 + size / 3) all.push_back({k / size, k % size});
    return all;
}

/* Where tiles end, and AUTO's table changes its rows: a little less and a little more. */
template <class T>
static std::vector<size_t> sizes()
{
    std::vector<size_t> all = {0, 1, 2, 3, 4, 5, 15, 16, 17, 33, 255, 256, 257, 1000};
    const size_t tile = 16384;
    for (size_t bytes : {tile, 2 * tile, 4 * tile, 128 * tile})
        for (size_t n : {bytes / sizeof(T) - 1, bytes / sizeof(T), bytes / sizeof(T) + 1})
            if (thorough || bytes < 128 * tile || n * sizeof(T) > bytes) all.push_back(n);
    all.push_back(3000000 / sizeof(T) + 5);
    if (sizeof(T) == 4) all.push_back(3000017);
    if (thorough) all.insert(all.end(), {(size_t(40) << 20) / sizeof(T) + 3, 5000011});
    return all;
}

/* The result, and its bits wherever x and y begin, from any GPU and any memory, a second time. */
template <class T>
static void every_size()
{
    int some = 0; /* kinds of data, on the CPU machine: of neighbouring sizes all of them */
    for (size_t n : sizes<T>()) {
        some += 2;
        for (int number = 0; number < kinds<T>; ++number) {
            const bool small = n * sizeof(T)<1 << 12, large = n * sizeof(T)> 1 << 20;
            if (!thorough && !small && (number + some) % kinds < T >> !large) continue;
            const data kind = static_cast<data>(number);
            const char *const what = data_names[number];
            const std::vector<T> x = make<T>(kind, n, false), y = make<T>(kind, n, true);
            answer wanted = dot_of(x.data(), y.data(), n);
            if (is_float<T> && kind == data::whole) wanted.error = 0;
            u64 bits = 0;
            int turn = 0;
            for (const auto &offset : offsets<T>(n)) {
#ifdef SIMT_MACHINE
                simt::gpu gpu;
                gpu.number = 1 + turn % 20;
                gpu.multiprocessors = turn ? 7 * gpu.number : 132;
                simt::set_gpu(gpu);
#endif
                const exact_input<T> from_x(x, offset.first), from_y(y, offset.second);
                const auto config = turn % 2 ? own_workspace() : fastreduce_config();
                const u64 got = result(what, from_x.data(), from_y.data(), n, config);
                if (turn == 0) right<T>(what, bits = got, wanted, n);
                same<T>(what, got, bits, n, offset.first, offset.second);
                if (turn == 1)
                    same<T>("again", result(what, from_x.data(), from_y.data(), n, config), bits, n,
                            offset.first, offset.second);
                if (turn == 1)
                    same<T>("x and y changed",
                            result(what, from_y.data(), from_x.data(), n, config), bits, n,
                            offset.second, offset.first);
                if (turn == 2) {
                    check::buffer<result_t<T>> output(1);
                    const auto status = fastreduce::dot(from_x.data(), from_y.data(), output.data(),
                                                        n, nullptr, {nullptr, 0});
                    CUDA(cudaDeviceSynchronize());
                    u64 of_template = 0;
                    const auto got_there = output.get();
                    std::memcpy(&of_template, got_there.data(), sizeof(result_t<T>));
                    check::that(status == 0, "dot(): status %d", status);
                    same<T>("dot()", of_template, bits, n, offset.first, offset.second);
                }
                ++turn;
            }
        }
    }
#ifdef SIMT_MACHINE
    simt::set_gpu(simt::gpu());
#endif
    workspace_is_clean<T>("every size");
}

/* One array as x and y, and arrays that overlap. */
template <class T>
static void overlaps()
{
    constexpr size_t size = 16 / sizeof(T);
    for (size_t n : {size_t(1), size_t(6), 20000 / sizeof(T) + 3})
        for (size_t shift : {size_t(0), size_t(1), size, 2 * size + 1, n - 1}) {
            const std::vector<T> values = make<T>(data::usual, n + shift, false);
            const exact_input<T> input(values, shift % 3);
            const T *const x = input.data();
            right<T>("overlap", result("overlap", x, x + shift, n, own_workspace()),
                     dot_of(values.data(), values.data() + shift, n), n);
        }
}

/* A length in GPU memory: the bits of a call that is told it. What lies behind it does not
 * matter. */
template <class T>
static void counted()
{
    constexpr size_t tile = 16384 / sizeof(T), small_tiles = 128 * tile; /* at the most */
    std::vector<size_t> bounds = {1, 40, tile + 7, 5 * tile + 3};
    if (thorough || sizeof(T) == 4) bounds.push_back(small_tiles + 9);
    check::buffer<size_t> count(1);
    for (size_t bound : bounds)
        for (size_t n : {size_t(0), size_t(1), bound / 3, bound - 1, bound, tile, tile + 1,
                         4 * tile, 4 * tile + 1, small_tiles, small_tiles + 1, ~size_t(0)}) {
            if (n > bound && n < ~size_t(0)) continue;
            if (bound > small_tiles && !thorough && n / 2 != small_tiles / 2) continue;
            const size_t least = std::min(n, bound);
            std::vector<T> x = make<T>(data::usual, bound, false),
                           y = make<T>(data::usual, bound, true);
            for (size_t i = least; i < bound; ++i) {
                if constexpr (is_float<T>)
                    (i % 2 ? x : y)[i] = number<T>(NAN);
                else
                    x[i] = y[i] = static_cast<T>(99);
            }
            const size_t x_offset = bound % 2, y_offset = n % 2;
            const exact_input<T> from_x(x, x_offset), from_y(y, y_offset);
            fastreduce_config config = own_workspace();
            const u64 wanted = result("told", from_x.data(), from_y.data(), least, config);
            right<T>("told", wanted, dot_of(x.data(), y.data(), least), least);
            count.set({n});
            config.n_on_device = count.data();
            same<T>("counted", result("counted", from_x.data(), from_y.data(), bound, config),
                    wanted, n, x_offset, y_offset);
        }
    workspace_is_clean<T>("counted");
}

/* NaNs and infinities in x and y, first, last and between. */
template <class T>
static void specials()
{
    const double infinity = INFINITY, most = type_of<T> == FASTREDUCE_F64 ? 1e200 : 1e30,
                 cases[][2] = {{NAN, 1},       {1, NAN},       {infinity, 0},  {0, -infinity},
                               {infinity, -2}, {-3, infinity}, {most, most},   {-most, most},
                               {most, -most},  {-0.0, 5},      {NAN, infinity}};
    for (size_t n : {size_t(1), size_t(6), size_t(33), 20000 / sizeof(T) + 3})
        for (size_t at : {size_t(0), n / 2, n - 1})
            for (const auto &one : cases) {
                if (type_of<T> == FASTREDUCE_F16 && std::fabs(one[0]) == most) continue;
                std::vector<T> x = make<T>(data::usual, n, false),
                               y = make<T>(data::usual, n, true);
                x[at] = number<T>(one[0]);
                y[at] = number<T>(one[1]);
                const exact_input<T> from_x(x, n % 2), from_y(y, at % 2);
                right<T>("special",
                         result("special", from_x.data(), from_y.data(), n, own_workspace()),
                         dot_of(x.data(), y.data(), n), n);
            }
}

/* In blocks of 32 threads, a pack each: in groups of groups, and by runs of several tiles. */
template <class T>
static void small_blocks()
{
    using namespace fastreduce::detail;
    using reducer = dot_t<T>;
    constexpr size_t tile = 512 / sizeof(T);
    const kernel_set engine = sizes_of<reducer, 32, 1, 32, 1>();
    const data kind = is_float<T>                ? data::wide
                      : std::is_signed<T>::value ? data::negative
                                                 : data::greatest;
    for (size_t n : {tile - 1, 5 * tile + 1, 33 * tile, 77 * tile + 3, 1100 * tile + 1})
        for (size_t turn = 0; turn < 4; ++turn) {
            if (!thorough && n > 1000 * tile && turn > 1) continue;
            const std::vector<T> x = make<T>(kind, n, false), y = make<T>(kind, n, true);
            const size_t x_offset = turn % 2, y_offset = turn / 2;
            const exact_input<T> from_x(x, x_offset), from_y(y, y_offset);
            const u64 wanted =
                result("in blocks", from_x.data(), from_y.data(), n, own_workspace());
            right<T>("in blocks", wanted, dot_of(x.data(), y.data(), n), n);
            check::buffer<result_t<T>> output(1);
            output.fill(0x7b);
            one_row::pairwise_call call;
            call.other = from_y.data();
            if (turn > 1) call.most_words = n / tile / 3 * engine.partial_words + 20;
            order::next();
            const fastreduce_status status = one_row::reduce_pairwise_in<reducer, 32, 1>(
                from_x.data(), n, output.data(), reducer(),
                {workspace().data(), FASTREDUCE_WORKSPACE_BYTES}, call);
            CUDA(cudaDeviceSynchronize());
            check::that(status == 0, "in small blocks: status %d %s", status, order::report());
            u64 got = 0;
            const auto got_there = output.get();
            std::memcpy(&got, got_there.data(), sizeof(result_t<T>));
            same<T>("in small blocks", got, wanted, n, x_offset, y_offset);
        }
    workspace_is_clean<T>("small blocks");
}

static bool is_same(fastreduce_type type, u64 a, u64 b)
{
    return a == b || (type == FASTREDUCE_F64
                          ? std::isnan(fastreduce::detail::bits_as<double>(a)) &&
                                std::isnan(fastreduce::detail::bits_as<double>(b))
                          : std::isnan(fastreduce::detail::bits_as<float>(unsigned(a))) &&
                                std::isnan(fastreduce::detail::bits_as<float>(unsigned(b))));
}

/* Dot products of shards of 2^k elements are added up, on the CPU if the build lacks their type, to
 * the bits of one call. Of floats other lengths show. */
template <class T>
static void in_shards()
{
    const fastreduce_type type = fastreduce_output_type(type_of<T>, FASTREDUCE_SUM);
    const size_t n = thorough ? 3000017 : 9001, period = thorough ? 1 << 16 : 1 << 10;
    const std::vector<T> x = make<T>(data::wide, n, false), y = make<T>(data::wide, n, true);
    const exact_input<T> from_x(x, 1), from_y(y, 0);
    const auto one = [&](size_t begin, size_t count) {
        return result("shard", from_x.data() + begin, from_y.data() + begin, count,
                      own_workspace());
    };
    const auto all = [&](const void *partials, size_t count) {
        check::buffer<result_t<T>> input(count), output(1);
        input.set(static_cast<const result_t<T> *>(partials));
        result_t<T> sum = 0;
        const bool on_host = !fastreduce_supports(type, FASTREDUCE_SUM, FASTREDUCE_AUTO);
        const int status =
            on_host ? fastreduce_host_pairwise(partials, &sum, count, type, FASTREDUCE_SUM, type)
                    : fastreduce_reduce(input.data(), output.data(), count, type, FASTREDUCE_SUM,
                                        nullptr);
        CUDA(cudaDeviceSynchronize());
        check::that(status == 0, "partial results: status %d", status);
        if (!on_host) sum = output.get()[0];
        u64 bits = 0;
        std::memcpy(&bits, &sum, sizeof sum);
        return bits;
    };
    const u64 whole = one(0, n);
    for (size_t length : {period / 8, period, 4 * period, 64 * period}) {
        const u64 got = shards::result(one, all, sizeof(result_t<T>), n, length, length % 3);
        check::that(got == whole, "%s in shards of %zu: %llx, not %llx",
                    fastreduce_type_name(type_of<T>), length, got, whole);
    }
    unsigned differ = 0;
    for (size_t length : {period - 1, period + 1, period / 2 * 3, period / 8 * 5, n / 3})
        differ += shards::result(one, all, sizeof(result_t<T>), n, length, 0) != whole;
    check::that((differ > 0) == is_float<T>, "%s in other shards: %u differ",
                fastreduce_type_name(type_of<T>), differ);
    workspace_is_clean<T>("shards");
}

/* Of floats, at any offset of x and any of y; and the frozen results. */
template <class T>
static void pairwise_bits()
{
    constexpr size_t size = 16 / sizeof(T);
    std::vector<size_t> all = {0, 1, 2, 3, 5, 31, 127, 129, 1000, 4097, 16385};
    if (thorough) all.insert(all.end(), {70001, 3000017, 20000003});
    unsigned turn = 0;
    for (size_t n : all)
        for (data kind : {data::usual, data::wide}) {
            const std::vector<T> x = make<T>(kind, n, false), y = make<T>(kind, n, true);
            u64 wanted = 0;
            check::that(pairwise::dot(type_of<T>, x.data(), y.data(), n, &wanted), "no result");
            for (size_t k = 0; k <= size * (size + 1); ++k) {
                if (n > 1000 && k != turn++ % 7 * 3) continue;
                const size_t x_offset = k % (size + 1), y_offset = k / (size + 1);
                const exact_input<T> from_x(x, x_offset), from_y(y, y_offset);
                const u64 got =
                    result("pairwise", from_x.data(), from_y.data(), n, own_workspace());
                check::that(
                    is_same(fastreduce_output_type(type_of<T>, FASTREDUCE_SUM), got, wanted),
                    "%s, pairwise, n %zu, offsets %zu, %zu: %llx, not %llx",
                    fastreduce_type_name(type_of<T>), n, x_offset, y_offset, got, wanted);
            }
        }
    for (const golden_row &row : golden_rows) {
        if (row.type != type_of<T> || row.op != GOLDEN_DOT) continue;
        std::vector<T> x(row.n), y(row.n);
        golden_fill(&row, 0, x.data(), sizeof(T));
        golden_fill(&row, 1, y.data(), sizeof(T));
        const exact_input<T> from_x(x, 1), from_y(y, 0);
        const u64 got = result("golden", from_x.data(), from_y.data(), row.n, own_workspace());
        check::that(is_same(fastreduce_output_type(row.type, FASTREDUCE_SUM), got, row.bits),
                    "%s, golden, n %zu: %llx", fastreduce_type_name(row.type), row.n, got);
    }
    workspace_is_clean<T>("pairwise");
}

/* Results of any shape, on a GPU of so many multiprocessors. What lies beside a result shows: gaps
 * are NaN, of both arrays, and some results of y begin with an infinity. Some results are -0. */
template <class T>
static void along_axis(const geometry &g, size_t y_offset,
                       [[maybe_unused]] unsigned multiprocessors)
{
    const size_t stride = g.stride ? g.stride : g.inner, results = g.outer * g.inner,
                 outer_stride = g.outer_stride ? g.outer_stride : g.n * stride,
                 span = results && g.n ? (g.outer - 1) * outer_stride + (g.n - 1) * stride + g.inner
                                       : 0;
    const auto position = [&](size_t r, size_t k) {
        return r / g.inner * outer_stride + r % g.inner + k * stride;
    };
    std::vector<T> values[2];
    for (const bool of_y : {false, true}) {
        const std::vector<T> all = make<T>(data::wide, span, of_y);
        values[of_y].assign(span, number<T>(is_float<T> ? NAN : 99));
        for (size_t r = 0; r < results; ++r)
            for (size_t k = 0; k < g.n; ++k) values[of_y][position(r, k)] = all[position(r, k)];
        for (size_t r = 2; is_float<T> && g.n && r < results; r += 3) {
            if (of_y) values[1][position(r, 0)] = number<T>(INFINITY);
            for (size_t k = 0; k < g.n; ++k)
                values[of_y][position(r - 1, k)] = number<T>(of_y ? -0.0 : 1.0);
        }
    }
    const exact_input<T> x(values[0], g.offset), other(values[1], y_offset);
    const bool one_array = span % 5 == 4; /* as x and y */
    const exact_input<T> &y = one_array ? x : other;
    const bool rounds =
        pairwise::has_16_bits(type_of<T>, FASTREDUCE_SUM) && (span + y_offset) % 3 == 1;
    const size_t size = rounds ? sizeof(T) : sizeof(result_t<T>);
    check::buffer<unsigned char> output(results * size, size);
    output.fill(0x7b);
    order::next();
#ifdef SIMT_MACHINE
    simt::gpu gpu;
    gpu.multiprocessors = multiprocessors;
    gpu.number = static_cast<int>(multiprocessors % 61); /* as limits are remembered by it */
    simt::set_gpu(gpu);
#endif
    const fastreduce_shape shape = {g.outer, g.n, g.inner, g.outer_stride, g.stride};
    fastreduce_config config = own_workspace();
    if (rounds) config.output_type = type_of<T>;
    const fastreduce_status status =
        fastreduce_dot_axis(x.data(), y.data(), output.data(), &shape, type_of<T>, &config);
    CUDA(cudaDeviceSynchronize());
    char what[200];
    std::snprintf(what, sizeof what,
                  "%s, %s: outer %zu, n %zu, inner %zu, strides %zu and %zu, offsets %zu and %zu",
                  fastreduce_type_name(type_of<T>), g.name, g.outer, g.n, g.inner, g.outer_stride,
                  g.stride, g.offset, one_array ? g.offset : y_offset);
    check::that(status == 0 && output.canaries_alive() && workspace().every_byte_is(0),
                "%s: status %d, words left dirty, or a write outside %s", what, status,
                order::report());
    const std::vector<unsigned char> got = output.get();
    for (size_t r = 0; r < results; ++r) {
        std::vector<T> row[2];
        for (const bool of_y : {false, true})
            for (size_t k = 0; k < g.n; ++k)
                row[of_y].push_back(values[of_y && !one_array][position(r, k)]);
        u64 wanted = 0, bits = 0;
        if (!pairwise::dot(type_of<T>, row[0].data(), row[1].data(), g.n, &wanted))
            wanted = dot_of(row[0].data(), row[1].data(), g.n).bits;
        std::memcpy(&bits, &got[r * size], size);
        if (rounds ? !same_halves(type_of<T>, bits, wanted)
                   : !is_same(fastreduce_output_type(type_of<T>, FASTREDUCE_SUM), bits, wanted))
            check::that(false, "%s%s: result %zu: %llx, not %llx", what, rounds ? ", rounded" : "",
                        r, bits, wanted);
    }
}

/* In shapes that reach each way to share results: by threads, chunks, lanes in turn, blocks, and
 * several blocks of several tiles; columns, single and as vectors. */
template <class T>
static void axes()
{
    constexpr size_t p = 16 / sizeof(T), half = 512 * p; /* of a long row's tile */
    size_t turn = 0;
    const auto each = [&](const geometry &g, unsigned multiprocessors = 4) {
        along_axis<T>(g, turn++ % (p + 1), multiprocessors);
    };
    for (size_t n = 0; n < 10; ++n) {
        each({"a few", n % 2 ? 1025u : 600u, n, 1, n + n / 2 + 1, 1, n % 3});
        each({"planes", 30, n, 5, 0, 0, n % 2});
    }
    for (size_t n : {p, p + 1, 2 * p, 2 * p + 1, 3 * p - 1, 4 * p + 1, 5 * p, 8 * p, 9 * p - 1,
                     16 * p + 1, 17 * p, 20 * p + 1, 32 * p})
        for (size_t count : {5, 77, 300}) {
            const size_t pitches[] = {0, n + 1, (n + p) / p * p};
            if (count == 300 && n > 9 * p) continue;
            for (const size_t offset : {size_t(0), turn % p})
                each({"rows", count, n, 1, pitches[turn % 3], 1, offset}, turn % 2 ? 1 : 132);
            along_axis<T>({"aligned rows", count, n, 1, pitches[2], 1, 0}, 0, 4);
        }
    for (size_t n : {33 * p, 40 * p + 1, 64 * p, 128 * p, 128 * p + 1})
        each({"many rows", 1030, n, 1, n % 2 ? 0 : n + p, 1, 0});
    for (size_t n : {half, half + 1, 2 * half + 3, 3 * half, 7 * half - 1, 70 * half + 5})
        each({"long rows", 2, n, 1, n + turn % 3, 1, turn % 2}, n > 9 * half ? 1 : 4);
    for (size_t n : {9, 16, 31, 65, 300})
        for (size_t inner : {1, 2, 4, 8, 24, 33, 130}) {
            const size_t stride = inner == 1 ? 3 : inner + (turn % 3 == 0 ? 8 : 0);
            each({"columns", 1 + turn % 2, n, inner, turn % 4 == 1 ? n * stride + 5 : 0, stride,
                  turn % 5 == 2},
                 turn % 2 ? 1 : 132);
            along_axis<T>({"aligned columns", 2, n, inner, 0, 0, 0}, 0, 1);
        }
    for (size_t inner : {3, 16}) each({"long columns", 1, 9000, inner, 0, 0, 0}, 132);
    for (const geometry &g : overlapping(200)) each(g);
    for (const geometry &g : edge_cases) each(g);
    workspace_is_clean<T>("axes");
}

/* Vectors are for arrays that both begin at one: of rows of whole packs, and of columns. */
static void plans()
{
    using namespace fastreduce::detail;
    const kernel_set set = sizes_of<dot_t<float>>();
    for (size_t x : {0, 4, 16})
        for (size_t y : {0, 8, 32}) {
            const auto plan_of = [&](size_t n, size_t inner, size_t stride, size_t outer_stride) {
                result_layout all = {};
                all.input = reinterpret_cast<const void *>(uintptr_t(256 + x));
                all.ends = reinterpret_cast<const void *>(uintptr_t(512 + y));
                all.end = 4096;
                all.n = n;
                all.inner = inner;
                all.stride = stride;
                all.outer_stride = outer_stride;
                return plan_results(set, all, {4, 0}, {});
            };
            const launch_plan rows = plan_of(64, 1, 1, 64), columns = plan_of(640, 4096, 4096, 1);
            const bool vectors = (x | y) % 16 == 0;
            check::that(rows.kernel == short_rows && rows.share.vectors == vectors &&
                            columns.kernel == (vectors ? vector_columns : single_columns),
                        "plans: x at %zu, y at %zu", x, y);
        }
}

/* On a GPU: past the tiles that a block each takes, a pattern again and again. */
template <class T>
static void long_arrays()
{
    const size_t period = 65521, n = (size_t(300) << 20) / sizeof(T) + 3;
    const std::vector<T> x = make<T>(data::whole, period, false),
                         y = make<T>(data::whole, period, true);
    check::buffer<T> arrays[2] = {check::buffer<T>(n + 1), check::buffer<T>(n + 1)};
    for (int k = 0; k < 2; ++k) {
        CUDA(cudaMemcpy(arrays[k].data() + k, (k ? y : x).data(), period * sizeof(T),
                        cudaMemcpyHostToDevice));
        for (size_t done = period; done < n; done *= 2)
            CUDA(cudaMemcpy(arrays[k].data() + k + done, arrays[k].data() + k,
                            std::min(done, n - done) * sizeof(T), cudaMemcpyDeviceToDevice));
    }
    const answer period_sum = dot_of(x.data(), y.data(), period),
                 rest = dot_of(x.data(), y.data(), n % period);
    const u64 times = n / period;
    const real many = static_cast<real>(times);
    const answer wanted = {times * period_sum.bits + rest.bits,
                           many * period_sum.value + rest.value,
                           many * period_sum.error + rest.error};
    right<T>("long", result("long", arrays[0].data(), arrays[1].data() + 1, n, own_workspace()),
             wanted, n);
}

template <class T>
static void of_type()
{
    if (!asked_for(fastreduce_type_name(type_of<T>))) return;
    if constexpr (holds(built_types, type_of<T>)) {
        const u64 nothing = result<T>("null", nullptr, nullptr, 0, own_workspace());
        check::that(nothing == 0, "%s, no elements: %llx", fastreduce_type_name(type_of<T>),
                    nothing);
        every_size<T>();
        overlaps<T>();
        counted<T>();
        if constexpr (is_float<T>) specials<T>();
        if constexpr (is_float<T>) pairwise_bits<T>();
        in_shards<T>();
        small_blocks<T>();
        axes<T>();
        if (thorough) long_arrays<T>();
        workspace_is_clean<T>("all");
    }
}

/* ---- Refusals ---- */

static void refusals()
{
    check::buffer<unsigned char> x(64), y(64), output(16, 0), scratch(16);
    x.fill(1);
    y.fill(1);
    unsigned char *const in[2] = {x.data(), y.data()}, *const out = output.data();
    const auto refused = [&](const char *what, int wanted, const void *from, const void *by,
                             void *to, size_t n, int type, const fastreduce_config &config) {
        output.fill(0x7b);
        const fastreduce_status status =
            fastreduce_dot(from, by, to, n, static_cast<fastreduce_type>(type), &config);
        CUDA(cudaDeviceSynchronize());
        check::that(status == wanted, "%s, type %d: status %d, not %d", what, type, status, wanted);
        check::that(output.every_byte_is(0x7b) && output.canaries_alive() && x.every_byte_is(1) &&
                        x.canaries_alive() && y.every_byte_is(1) && y.canaries_alive(),
                    "%s, type %d: memory was written", what, type);
    };
    const int invalid = FASTREDUCE_ERROR_INVALID_ARGUMENT,
              unsupported = FASTREDUCE_ERROR_UNSUPPORTED;
    const fastreduce_config none = {};
    for (int type : {-1, 0, FASTREDUCE_U64 + 1, 1000})
        refused("no such type", invalid, in[0], in[1], out, 2, type, none);
    for (int type = FASTREDUCE_F32; type <= FASTREDUCE_U64; ++type) {
        const fastreduce_type result =
            fastreduce_output_type(static_cast<fastreduce_type>(type), FASTREDUCE_SUM);
        const size_t size = fastreduce_type_size(static_cast<fastreduce_type>(type)),
                     result_size = fastreduce_type_size(result);
        fastreduce_config config = {};
        if (!fastreduce_supports(static_cast<fastreduce_type>(type), FASTREDUCE_SUM,
                                 FASTREDUCE_AUTO)) {
            refused("not built", unsupported, in[0], in[1], out, 2, type, none);
            continue;
        }

        /* what is wrong with one of the arrays, and the other is as it should be */
        for (bool second : {false, true}) {
            const auto array_refused = [&](const char *what, int wanted, const void *array,
                                           void *to, size_t n, const fastreduce_config &how) {
                const void *const good = in[!second];
                refused(what, wanted, second ? good : array, second ? array : good, to, n, type,
                        how);
            };
            unsigned char *const array = in[second];
            for (size_t off = 1; off < size; off *= 2)
                array_refused("misaligned", invalid, array + off, out, 2, none);
            array_refused("null", invalid, nullptr, out, 2, none);
            array_refused("null of one", invalid, nullptr, out, 1, none);
            array_refused("output within", invalid, array, array + 8, 9, none);
            if (result_size > size)
                array_refused("within the output", invalid, out + result_size - size, out, 1, none);
            const uintptr_t last = ~uintptr_t(0) / 64 * 64;
            array_refused("past the address space", invalid, reinterpret_cast<const void *>(last),
                          out, 128 / size, none);
            config = none;
            config.workspace = array;
            config.workspace_bytes = 16;
            array_refused("workspace within", invalid, array, out, 2, config);
            config.workspace = array + 48;
            array_refused("workspace at the end", invalid, array, out, 48 / size + 1, config);
        }
        for (size_t off = 1; off < result_size; off *= 2)
            refused("misaligned output", invalid, in[0], in[1], out + off, 2, type, none);
        refused("null output", invalid, in[0], in[1], nullptr, 2, type, none);
        refused("null output of nothing", invalid, nullptr, nullptr, nullptr, 0, type, none);
        if (size > 1)
            refused("more bytes than there are", invalid, in[0], in[1], out, ~size_t(0) / size + 1,
                    type, none);
        config = none;
        for (unsigned block_size : {1u, 16u, 48u, 100u, 2048u}) {
            config.block_size = block_size;
            refused("block size", invalid, in[0], in[1], out, 2, type, config);
        }
        config = none;
        for (int kernel = -1; kernel <= FASTREDUCE_EXACT + 1; ++kernel) {
            config.kernel = static_cast<fastreduce_kernel>(kernel);
            check::that(fastreduce_supports_dot(static_cast<fastreduce_type>(type),
                                                config.kernel) == (kernel == FASTREDUCE_AUTO),
                        "supports_dot: type %d, kernel %d", type, kernel);
            if (kernel < 0 || kernel > FASTREDUCE_EXACT) {
                refused("no such kernel", invalid, in[0], in[1], out, 2, type, config);
            } else if (kernel != FASTREDUCE_AUTO) {
                refused("kernel", unsupported, in[0], in[1], out, 2, type, config);
                refused("invalid before unsupported", invalid, in[0], nullptr, out, 2, type,
                        config);
            }
        }
        config = none;
        for (int other : {-1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 1000}) {
            config.output_type = static_cast<fastreduce_type>(other);
            if (other != result && (other != type || result != FASTREDUCE_F32))
                refused("output type", unsupported, in[0], in[1], out, 2, type, config);
        }
        config = none;
        config.workspace = scratch.data() + 1;
        config.workspace_bytes = 8;
        refused("misaligned workspace", invalid, in[0], in[1], out, 2, type, config);
        config.workspace = scratch.data();
        const void *const nothing_reads = reinterpret_cast<const void *>(uintptr_t(4096));
        refused("workspace too small", FASTREDUCE_ERROR_WORKSPACE_TOO_SMALL, nothing_reads,
                nothing_reads, out, 1 << 20, type, config);
        config.workspace = out;
        refused("workspace in the output", invalid, in[0], in[1], out, 2, type, config);
        config = none;
        config.n_on_device = reinterpret_cast<const size_t *>(in[0] + 4);
        refused("misaligned count", invalid, in[0], in[1], out, 2, type, config);
        config.n_on_device = reinterpret_cast<const size_t *>(out + 8);
        refused("count in the output", invalid, in[0], in[1], out + 8, 2, type, config);
        config.n_on_device = reinterpret_cast<const size_t *>(scratch.data() + 8);
        config.workspace = scratch.data();
        config.workspace_bytes = 16;
        refused("count in the workspace", invalid, in[0], in[1], out, 2, type, config);

        config = none;
        config.output_type = result;
        check::buffer<unsigned char> room(8);
        check::that(fastreduce_dot(in[0], in[1], room.data(), 2, static_cast<fastreduce_type>(type),
                                   &config) == 0,
                    "type %d: its own output type is refused", type);
        CUDA(cudaDeviceSynchronize());
    }

    /* of many results: two rows of two elements, or what `change` makes of these arguments */
    struct axis_call {
        const void *x, *y;
        void *to;
        const fastreduce_shape *shape;
        fastreduce_config config;
    };
    for (int type = 0; type <= FASTREDUCE_U64; ++type) {
        const fastreduce_type of = static_cast<fastreduce_type>(type),
                              result = fastreduce_output_type(of, FASTREDUCE_SUM);
        const bool is_built = fastreduce_supports_shapes(of, FASTREDUCE_SUM, FASTREDUCE_AUTO) &&
                              fastreduce_supports_dot(of, FASTREDUCE_AUTO);
        const size_t size = fastreduce_type_size(of), n_max = ~size_t(0);
        fastreduce_shape shape = {2, 2, 1, 0, 0};
        const auto axis_refused = [&](const char *what, int wanted, auto change) {
            axis_call call = {in[0], in[1], out, &shape, {}};
            change(call);
            output.fill(0x7b);
            const fastreduce_status status =
                fastreduce_dot_axis(call.x, call.y, call.to, call.shape, of, &call.config);
            CUDA(cudaDeviceSynchronize());
            check::that(status == wanted && output.every_byte_is(0x7b) && output.canaries_alive() &&
                            x.every_byte_is(1) && y.every_byte_is(1),
                        "axis, %s, type %d: status %d, or memory was written", what, type, status);
        };
        if (type == 0) {
            axis_refused("no such type", invalid, [](axis_call &) {});
            continue;
        }
        if (!is_built) {
            axis_refused("not built", unsupported, [](axis_call &) {});
            continue;
        }
        axis_refused("null shape", invalid, [](axis_call &c) { c.shape = nullptr; });
        axis_refused("null x", invalid, [](axis_call &c) { c.x = nullptr; });
        axis_refused("null y", invalid, [](axis_call &c) { c.y = nullptr; });
        axis_refused("null output", invalid, [](axis_call &c) { c.to = nullptr; });
        for (size_t off = 1; off < size; off *= 2) {
            axis_refused("misaligned x", invalid, [&](axis_call &c) { c.x = in[0] + off; });
            axis_refused("misaligned y", invalid, [&](axis_call &c) { c.y = in[1] + off; });
        }
        axis_refused("misaligned output", invalid, [&](axis_call &c) { c.to = out + 1; });
        for (size_t k = 0; k < 2; ++k) { /* at the last element of each */
            unsigned char *const within = in[k] + 3 * size / 8 * 8;
            axis_refused("output within", invalid, [&](axis_call &c) { c.to = within; });
            axis_refused("workspace within", invalid, [&](axis_call &c) {
                c.config.workspace = in[k];
                c.config.workspace_bytes = 16;
            });
        }
        for (const int kernel : {-1, FASTREDUCE_EXACT + 1})
            axis_refused("no such kernel", invalid, [&](axis_call &c) {
                c.config.kernel = static_cast<fastreduce_kernel>(kernel);
            });
        for (const fastreduce_kernel kernel : {FASTREDUCE_V0, FASTREDUCE_V7, FASTREDUCE_EXACT})
            axis_refused("kernel", unsupported, [&](axis_call &c) { c.config.kernel = kernel; });
        for (const int other : {-1, 1, 2, 3, 4, 5, 12, 1000})
            if (other != result && (other != type || result != FASTREDUCE_F32))
                axis_refused("output type", unsupported, [&](axis_call &c) {
                    c.config.output_type = static_cast<fastreduce_type>(other);
                });
        check::buffer<size_t> count(1);
        count.set({1});
        axis_refused("count", unsupported,
                     [&](axis_call &c) { c.config.n_on_device = count.data(); });
        for (const fastreduce_shape &huge :
             {fastreduce_shape{n_max, 2, 1, 1, 1}, fastreduce_shape{2, n_max, 2, 0, 0},
              fastreduce_shape{n_max / 2, 1, 4, 0, 0}, fastreduce_shape{2, 2, 1, n_max, 1},
              fastreduce_shape{1, 3, 1, 0, n_max / 2}, fastreduce_shape{1, 1, n_max / 8, 0, 0}}) {
            shape = huge;
            axis_refused("past the address space", invalid, [](axis_call &) {});
        }
        shape = {0, n_max, 3, 0, 0};
        axis_refused("no results", 0, [](axis_call &c) { c.x = c.y = c.to = nullptr; });
    }

    /* the template */
    const float *const a = reinterpret_cast<const float *>(in[0]),
                       *const b = reinterpret_cast<const float *>(in[1]);
    float *const to = reinterpret_cast<float *>(out);
    check::that(fastreduce::dot<float>(nullptr, b, to, 1) == invalid &&
                    fastreduce::dot<float>(a, nullptr, to, 1) == invalid &&
                    fastreduce::dot<float>(a, b, nullptr, 1) == invalid &&
                    fastreduce::dot(to, b, to, 1) == invalid &&
                    fastreduce::dot(a, to, to, 1) == invalid,
                "dot() takes what is invalid");
}

int main(int argc, char **argv)
{
    check::need_device();
    const bool quick = parse_parts(argc, argv);
    thorough = on_gpu && !quick;
    if (asked_for("refusals")) refusals();
    if (asked_for("plans")) plans();
    for_each_type<f16, bf16>([](auto x) { of_type<decltype(x)>(); });
    return check::finish("dot");
}

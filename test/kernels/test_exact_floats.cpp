/* EXACT of every float type and operator, of dot products, and accumulators: the bits that the CPU
 * gives, whose results tests compare with MPFR; by every kernel; a length in GPU memory;
 * refusals. */
#include <cuda_runtime.h>
#define FASTREDUCE_IMPLEMENTATION
#ifndef FASTREDUCE_TYPES
#define FASTREDUCE_TYPES \
    FASTREDUCE_F32, FASTREDUCE_F64, FASTREDUCE_F16, FASTREDUCE_BF16, FASTREDUCE_I32
#endif
#define FASTREDUCE_OPERATORS                                                                       \
    FASTREDUCE_SUM, FASTREDUCE_MEAN, FASTREDUCE_SUM_ABS, FASTREDUCE_SUM_SQUARES, FASTREDUCE_NORM2, \
        FASTREDUCE_VARIANCE
#define FASTREDUCE_NO_LADDER
#define FASTREDUCE_WITH_EXACT_PRODUCTS
#define FASTREDUCE_WITH_SHAPES
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/dynamic_shared.h"
#include "../common/exact_input.h"
#include "../common/float_kinds.h"
#include "../common/golden.h"
#include "../common/one_row.h"
#include "../common/parts.h"
#include "../common/order.h"
#include "../common/turns.h"
#include <algorithm>
#include <array>
#include <functional>
#include <limits>

static bool thorough = on_gpu; /* the CPU machine and sanitizers take too long for all of it */

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
static void workspace_is_clean(const char *what)
{
    check::that(workspace().every_byte_is(0) && workspace().canaries_alive(),
                "%s: workspace left dirty, or a write outside", what);
}

static fastreduce_config exact(fastreduce_type output_type = static_cast<fastreduce_type>(0))
{
    fastreduce_config config = {};
    config.kernel = FASTREDUCE_EXACT;
    config.output_type = output_type;
    take_turns(config, workspace().data(), 5);
    order::next();
    return config;
}

/* Returns type number 0, 1 or 2 of a result: the default one, f64, the elements' own. */
template <class T>
static fastreduce_type output_type_of(u64 number)
{
    if (number == 1 && !is_double<T>) return FASTREDUCE_F64;
    return number == 2 && sizeof(T) == 2 ? type_of<T> : static_cast<fastreduce_type>(0);
}
template <class T>
static size_t output_size(fastreduce_type output_type)
{
    return output_type ? fastreduce_type_size(output_type) : is_double<T> ? 8 : 4;
}

/* What is called, of arrays x and y in GPU memory, or of x alone. */
struct call {
    const char *what;
    fastreduce_operator op;
    bool dot;
};

template <class T>
static void expect_result(const call &c, const T *x, const T *y, const std::vector<T> &host_x,
                          const std::vector<T> &host_y, size_t n, fastreduce_config config,
                          size_t counted)
{
    const size_t size = output_size<T>(config.output_type);
    u64 wanted = 0, got = 0;
    const fastreduce_status expected =
        c.dot ? fastreduce_host_dot(host_x.data(), host_y.data(), &wanted, counted, type_of<T>,
                                    config.output_type)
              : fastreduce_host_reduce(host_x.data(), &wanted, counted, type_of<T>, c.op,
                                       config.output_type);
    const bool has_second = !c.dot && c.op == FASTREDUCE_VARIANCE && n % 3 < 2;
    const size_t second_size = sizeof(T) == 8 ? 8 : 4;
    check::buffer<unsigned char> output(size, size), second(second_size);
    output.fill(0x7b);
    if (has_second) config.second_output = second.data();
    const fastreduce_status status =
        c.dot ? fastreduce_dot(x, y, output.data(), n, type_of<T>, &config)
              : fastreduce_reduce(x, output.data(), n, type_of<T>, c.op, &config);
    CUDA(cudaDeviceSynchronize());
    const auto bytes = output.get();
    std::memcpy(&got, bytes.data(), bytes.size());
    check::that(expected == 0 && status == 0 && got == wanted && output.canaries_alive(),
                "%s, %s of %s in %zu bytes, n %zu of %zu: status %d, %llx, not %llx", c.what,
                c.dot ? "dot" : fastreduce_operator_name(c.op), fastreduce_type_name(type_of<T>),
                size, counted, n, status, got, wanted);
    if (!has_second) return;
    u64 mean = 0, got_mean = 0;
    fastreduce_host_reduce(host_x.data(), &mean, counted, type_of<T>, FASTREDUCE_MEAN,
                           FASTREDUCE_DEFAULT_TYPE);
    std::memcpy(&got_mean, second.get().data(), second_size);
    check::that(got_mean == mean && second.canaries_alive(),
                "%s, mean beside the variance of %s, n %zu of %zu: %llx, not %llx", c.what,
                fastreduce_type_name(type_of<T>), counted, n, got_mean, mean);
}

template <class T>
static void every_result(const char *what, const T *x, const T *y, const std::vector<T> &host_x,
                         const std::vector<T> &host_y)
{
    const size_t n = host_x.size();
    for (unsigned turn = 0; turn < (sizeof(T) == 2 ? 3 : 2); ++turn) {
        const fastreduce_type type = output_type_of<T>(turn);
        for (fastreduce_operator op : all_operators)
            expect_result<T>({what, op, false}, x, y, host_x, host_y, n, exact(type), n);
        expect_result<T>({what, FASTREDUCE_SUM, true}, x, y, host_x, host_y, n, exact(type), n);
    }
}

/* ---- The tests ---- */

template <class T>
static std::vector<size_t> sizes()
{
    constexpr size_t tile = 16384 / sizeof(T);
    std::vector<size_t> all = {0, 1, 2, 3, 7, 8, 9, 31, 33, 100, 1000, tile - 1, tile, tile + 9};
    all.push_back(5 * tile + 3);
    if (thorough)
        all.insert(all.end(), {100003, 40 * tile + 1, (size_t(9) << 20) / sizeof(T) + 5,
                               (size_t(34) << 20) / sizeof(T) + 1});
    return all;
}

template <class T>
static void every_size()
{
    unsigned turn = 0;
    for (size_t n : sizes<T>())
        for (unsigned kind = 0; kind < kinds; ++kind) {
            if (n > 1000000 && kind % 3 != turn % 3 && ++turn) continue;
            if (!thorough && n > 5000 && (kind + n) % 3) continue;
            const std::vector<T> x = make<T>(static_cast<data>(kind), n, 3 * turn),
                                 y = make<T>(static_cast<data>(check::mix(turn, 2) % kinds), n,
                                             3 * turn + 1);
            const exact_input<T> from_x(x, turn % (32 / sizeof(T))),
                from_y(y, turn / 3 % (16 / sizeof(T)));
            every_result(names[kind], from_x.data(), from_y.data(), x, y);
            ++turn;
        }
    workspace_is_clean("every size");
}

/* Each variant of the ties. */
/* The frozen means beside a variance. */
template <class T>
static void golden()
{
    for (const golden_row &row : golden_rows) {
        if (row.type != type_of<T> || row.op != FASTREDUCE_VARIANCE || row.n > 20000) continue;
        std::vector<T> x(row.n);
        golden_fill(&row, 0, x.data(), sizeof(T));
        const exact_input<T> input(x, 1);
        const size_t size = is_double<T> ? 8 : 4;
        check::buffer<unsigned char> output(size), mean(size);
        fastreduce_config config = exact();
        config.second_output = mean.data();
        const fastreduce_status status = fastreduce_reduce(input.data(), output.data(), row.n,
                                                           row.type, FASTREDUCE_VARIANCE, &config);
        CUDA(cudaDeviceSynchronize());
        u64 got = 0;
        std::memcpy(&got, mean.get().data(), size);
        check::that(status == 0 && got == row.exact_mean && mean.canaries_alive(),
                    "golden, mean beside the variance of %s, n %zu: status %d, %llx",
                    fastreduce_type_name(type_of<T>), row.n, status, got);
    }
}

template <class T>
static void every_tie()
{
    for (u64 seed = 0; seed < 24; ++seed) {
        const std::vector<T> x = make<T>(data::ties, 4, seed);
        const exact_input<T> from(x, 0);
        every_result("ties", from.data(), from.data(), x, x);
    }
}

/* The same elements in other orders, one result. */
template <class T>
static void any_order()
{
    const size_t n = thorough ? 20011 : 3011;
    std::vector<T> x = make<T>(data::any, n, 77), y = make<T>(data::any, n, 78);
    for (unsigned k = 0; k < (thorough ? 30u : 3u); ++k) {
        for (size_t i = n - 1; i > 0; --i) {
            const size_t other = check::mix(i, k) % (i + 1);
            std::swap(x[i], x[other]);
            std::swap(y[i], y[other]);
        }
        const exact_input<T> from_x(x, 0), from_y(y, k % 2);
        every_result("order", from_x.data(), from_y.data(), x, y);
    }
}

template <class T>
static void counted()
{
    constexpr size_t tile = 16384 / sizeof(T), bound = 7 * tile + 5;
    const std::vector<T> x = make<T>(data::usual, bound, 5), y = make<T>(data::any, bound, 6);
    const exact_input<T> from_x(x, 1), from_y(y, 2);
    check::buffer<size_t> count(1);
    for (size_t n : {size_t(0), size_t(1), tile + 1, bound, ~size_t(0)}) {
        count.set({n});
        for (fastreduce_operator op : all_operators) {
            fastreduce_config config = exact();
            config.n_on_device = count.data();
            expect_result<T>({"counted", op, false}, from_x.data(), nullptr, x, y, bound, config,
                             std::min(n, bound));
        }
        fastreduce_config config = exact(FASTREDUCE_F64);
        config.n_on_device = count.data();
        expect_result<T>({"counted", FASTREDUCE_SUM, true}, from_x.data(), from_y.data(), x, y,
                         bound, config, std::min(n, bound));
    }
    workspace_is_clean("counted");
}

/* Onto what is there, limbs of many sums among it; the CPU's limbs. */
template <class Total, class OnGpu, class OnCpu>
static void expect_limbs(const char *what, const OnGpu &on_gpu_of, const OnCpu &on_cpu_of)
{
    constexpr int limbs = sizeof(Total) / 8, digits = limbs - 4;
    for (unsigned before = 0; before < 3; ++before) {
        Total wanted = {};
        if (before > 0)
            for (int k = 0; k < digits - 1; ++k)
                wanted.limb[k] = static_cast<int64_t>(check::mix(k, before) >> 2) *
                                 (before == 1 ? 1 : k % 3 - 1);
        check::buffer<Total> total(1);
        total.set({wanted});
        on_gpu_of(total.data());
        on_gpu_of(total.data());
        CUDA(cudaDeviceSynchronize());
        on_cpu_of(&wanted);
        on_cpu_of(&wanted);
        const Total got = total.get()[0];
        int wrong = -1;
        for (int k = limbs - 1; k >= 0; --k)
            if (got.limb[k] != wanted.limb[k]) wrong = k;
        check::that(wrong < 0 && total.canaries_alive(), "%s, onto %u: limb %d is %llx, not %llx",
                    what, before, wrong, wrong < 0 ? 0 : static_cast<u64>(got.limb[wrong]),
                    wrong < 0 ? 0 : static_cast<u64>(wanted.limb[wrong]));
    }
}

template <class T>
static void accumulators()
{
    using total =
        std::conditional_t<is_double<T>, fastreduce_wide_accumulator, fastreduce_accumulator>;
    constexpr size_t tile = 16384 / sizeof(T);
    for (size_t n : {size_t(0), size_t(1), size_t(5), tile, 3 * tile + 1})
        for (unsigned kind = 0; kind < kinds; ++kind) {
            if (!thorough && n > 5 && kind % 3 != n % 3) continue;
            const std::vector<T> x = make<T>(static_cast<data>(kind), n, kind),
                                 y = make<T>(data::any, n, kind + 1);
            const exact_input<T> from_x(x, n % 3), from_y(y, kind % 2);
            expect_limbs<total>(
                names[kind],
                [&](total *to) {
                    const auto config = exact();
                    fastreduce_status status;
                    if constexpr (is_double<T>)
                        status = fastreduce_accumulate_f64(from_x.data(), to, n, &config);
                    else
                        status = fastreduce_accumulate(from_x.data(), to, n, type_of<T>, &config);
                    check::that(status == FASTREDUCE_SUCCESS, "fastreduce_accumulate");
                },
                [&](total *to) {
                    if constexpr (is_double<T>)
                        fastreduce_host_accumulate_f64(x.data(), to, n);
                    else
                        fastreduce_host_accumulate(x.data(), to, n, type_of<T>);
                });
            using products = std::conditional_t<is_double<T>, fastreduce_product_accumulator,
                                                fastreduce_wide_accumulator>;
            expect_limbs<products>(
                names[kind],
                [&](products *to) {
                    const auto config = exact();
                    fastreduce_status status;
                    if constexpr (is_double<T>)
                        status = fastreduce_accumulate_dot_f64(from_x.data(), from_y.data(), to, n,
                                                               &config);
                    else
                        status = fastreduce_accumulate_dot(from_x.data(), from_y.data(), to, n,
                                                           type_of<T>, &config);
                    check::that(status == FASTREDUCE_SUCCESS, "fastreduce_accumulate_dot");
                },
                [&](products *to) {
                    if constexpr (is_double<T>)
                        fastreduce_host_accumulate_dot_f64(x.data(), y.data(), to, n);
                    else
                        fastreduce_host_accumulate_dot(x.data(), y.data(), to, n, type_of<T>);
                });
        }
    workspace_is_clean("accumulators");
}

/* The kernel in small blocks. */
template <class Accumulator, class T>
static void by_kernel(const char *what, const std::vector<T> &x, fastreduce_operator op,
                      exact_output output)
{
    const exact_input<T> from(x, 0);
    u64 wanted = 0, got = 0;
    if (fastreduce_host_reduce(x.data(), &wanted, x.size(), type_of<T>, op,
                               is_double<T> ? static_cast<fastreduce_type>(0) : FASTREDUCE_F64))
        check::that(false, "the CPU refuses");
    for (unsigned blocks : {1u, 3u, 7u}) {
        check::buffer<u64> result(1);
        output.result = result.data();
        output.op = op;
        output.precision = 53;
        const fastreduce_status status = one_row::reduce_exact_in<Accumulator>(
            blocks, from.data(), x.size(), output,
            reinterpret_cast<fastreduce::detail::status_word *>(workspace().data()));
        CUDA(cudaDeviceSynchronize());
        got = result.get()[0];
        check::that(status == 0 && got == wanted,
                    "%s, %s of %s, n %zu, %u blocks: status %d, %llx, not %llx", what,
                    fastreduce_operator_name(op), fastreduce_type_name(type_of<T>), x.size(),
                    blocks, status, got, wanted);
    }
}

template <class Accumulator, class T>
static void by_kernels(fastreduce_operator op, exact_output output)
{
    for (size_t n : {size_t(0), size_t(5), 70000 / sizeof(T) + 1})
        for (data kind : {data::any, data::usual, data::binades}) {
            const std::vector<T> x = make<T>(kind, n, n);
            by_kernel<Accumulator>("blocks of 64", x, op, output);
        }
    workspace_is_clean("kernels");
}

/* One number is left of three, about as far below the others as windows reach, with its highest and
 * lowest bit: of doubles that is 42 binades, of their products 37, of products of floats 46, of
 * floats 20 and 42. */
template <class T>
static void edges_of_windows()
{
    constexpr int top = most_exponent<T> - 2;
    constexpr u64 one = 1ull << fraction_bits<T>;
    const std::vector<T> y(64, from_bits<T>((top / 2 + 1) * one - 1));
    const exact_input<T> from_y(y, 0);
    for (int greatest : {top, top / 2, 100, 60, 50, 46, 43})
        for (int depth = 0; depth < 100; ++depth) {
            if (greatest > top || depth > greatest || (!thorough && depth % 20 > 7)) continue;
            std::vector<T> x(64);
            x[0] = from_bits<T>((static_cast<u64>(greatest) + 1) * one - 1);
            x[1] = from_bits<T>((static_cast<u64>(greatest) + 1) * one - 1 +
                                (1ull << (8 * sizeof(T) - 1)));
            x[7] = from_bits<T>(static_cast<u64>(greatest - depth) * one + 1);
            const exact_input<T> from_x(x, 0);
            expect_result<T>({"edge", FASTREDUCE_SUM, false}, from_x.data(), nullptr, x, x, 64,
                             exact(FASTREDUCE_F64), 64);
            expect_result<T>({"edge", FASTREDUCE_SUM, true}, from_x.data(), from_y.data(), x, y, 64,
                             exact(FASTREDUCE_F64), 64);
            if constexpr (is_double<T>) { /* a double hides what lies below the least one */
                check::buffer<fastreduce_product_accumulator> total(1);
                total.fill(0);
                const auto config = exact();
                check::that(fastreduce_accumulate_dot_f64(from_x.data(), from_y.data(),
                                                          total.data(), 64, &config) == 0,
                            "fastreduce_accumulate_dot_f64");
                CUDA(cudaDeviceSynchronize());
                fastreduce_product_accumulator wanted = {};
                fastreduce_host_accumulate_dot_f64(x.data(), y.data(), &wanted, 64);
                const auto got = total.get();
                check::that(std::memcmp(&got[0], &wanted, sizeof wanted) == 0,
                            "edge of products, %d and %d: other limbs", greatest, depth);
            }
        }
}

/* More than a warp's digits or a lane's bins hold, as no window takes two exponents that far
 * apart; of products each to the place where a bin's room is least. */
template <class Accumulator, class T>
static void by_kernel_without_windows(fastreduce_operator op, exact_output output)
{
    std::vector<T> x(64 * 2600);
    constexpr u64 high = is_double<T> ? 1500 : 141, low = is_double<T> ? 500 : 29;
    for (size_t i = 0; i < x.size(); ++i)
        x[i] = from_bits<T>((((i % 2 ? high : low) + 1) << fraction_bits<T>)-1);
    by_kernel<Accumulator>("no window", x, op, output);
}

static void kernels()
{
    using namespace fastreduce::detail;
    by_kernels<superaccumulator<64, float>, float>(
        FASTREDUCE_SUM_ABS, {nullptr, nullptr, FASTREDUCE_SUM, 53, all_but_the_sign});
    by_kernels<superaccumulator<64, bf16>, bf16>(FASTREDUCE_MEAN,
                                                 {nullptr, nullptr, FASTREDUCE_SUM, 53});
    by_kernels<wide_superaccumulator<64, doubles_masked>, double>(
        FASTREDUCE_SUM, {nullptr, nullptr, FASTREDUCE_SUM, 53});
    by_kernels<wide_superaccumulator<64, exact_products<float>>, float>(
        FASTREDUCE_NORM2, {nullptr, nullptr, FASTREDUCE_SUM, 53});
    by_kernel_without_windows<wide_superaccumulator<64, doubles_masked>, double>(
        FASTREDUCE_SUM, {nullptr, nullptr, FASTREDUCE_SUM, 53});
    by_kernel_without_windows<wide_superaccumulator<64, exact_products<float>>, float>(
        FASTREDUCE_NORM2, {nullptr, nullptr, FASTREDUCE_SUM, 53});
    by_kernels<wide_superaccumulator<64, exact_products<double>>, double>(
        FASTREDUCE_NORM2, {nullptr, nullptr, FASTREDUCE_SUM, 53});
    by_kernels<wide_superaccumulator<64, exact_moments<double>>, double>(
        FASTREDUCE_VARIANCE, {nullptr, nullptr, FASTREDUCE_SUM, 53});
    by_kernels<wide_superaccumulator<64, exact_moments<bf16>>, bf16>(
        FASTREDUCE_VARIANCE, {nullptr, nullptr, FASTREDUCE_SUM, 53});
    by_kernel_without_windows<wide_superaccumulator<64, exact_products<double>>, double>(
        FASTREDUCE_NORM2, {nullptr, nullptr, FASTREDUCE_SUM, 53});
    by_kernels<wide_superaccumulator<64, exact_products<f16>>, f16>(
        FASTREDUCE_SUM_SQUARES, {nullptr, nullptr, FASTREDUCE_SUM, 53});
}

/* More of a kind than a window or a digit holds: they have to be emptied in time. */
template <class T>
static void many_of_a_kind()
{
    const size_t n = thorough ? 3000000 : 600000;
    for (int exponents = 0; exponents < 2; ++exponents) {
        std::vector<T> x(n);
        for (size_t i = 0; i < n; ++i)
            x[i] = from_bits<T>(
                (static_cast<u64>(exponents && i % 64 < 40
                                      ? 1 + i % 4 * static_cast<u64>(most_exponent<T> / 5)
                                      : static_cast<u64>(most_exponent<T> - 1))
                 << fraction_bits<T>) |
                ((1ull << fraction_bits<T>)-1));
        const exact_input<T> from(x, 0);
        expect_result<T>({"many", FASTREDUCE_SUM, false}, from.data(), nullptr, x, x, n, exact(),
                         n);
        expect_result<T>({"many", FASTREDUCE_NORM2, false}, from.data(), nullptr, x, x, n,
                         exact(FASTREDUCE_F64), n);
    }
}

/* Rows, columns, middle axes and segments: each result, of elements gathered on the CPU; with those
 * of a second array, a dot product. */
template <class T>
static void expect_results(const char *what, const std::vector<u64> &got, size_t results,
                           fastreduce_type output_type, fastreduce_operator op,
                           const std::function<std::vector<T>(size_t)> &of,
                           const std::function<std::vector<T>(size_t)> &of_y = nullptr)
{
    const size_t size = output_size<T>(output_type);
    size_t wrong = results;
    u64 wanted = 0, first = 0;
    for (size_t r = results; r-- > 0;) {
        const std::vector<T> elements = of(r);
        u64 bits = 0, here = 0;
        if (of_y)
            fastreduce_host_dot(elements.data(), of_y(r).data(), &bits, elements.size(), type_of<T>,
                                output_type);
        else
            fastreduce_host_reduce(elements.data(), &bits, elements.size(), type_of<T>, op,
                                   output_type);
        std::memcpy(&here, reinterpret_cast<const unsigned char *>(got.data()) + r * size, size);
        if (here != bits) wrong = r, wanted = bits, first = here;
    }
    check::that(wrong == results, "%s, %s of %s in %zu bytes: result %zu of %zu: %llx, not %llx",
                what, of_y ? "dot" : fastreduce_operator_name(op), fastreduce_type_name(type_of<T>),
                size, wrong, results, first, wanted);
}

template <class T>
static void shapes()
{
    const size_t many = thorough ? 3000 : 90, length = thorough ? 100000 : 9000;
    const fastreduce_shape all[] = {{many, 5, 1, 0, 0},
                                    {7, 1000, 1, 1003, 0},
                                    {3, length, 1, 0, 0},
                                    {1, 37, many, 0, 0},
                                    {1, 300, 5, 0, 11},
                                    {4, 33, 7, 0, 0},
                                    {2, 270000 / sizeof(T), 1, 0, 0}, /* by a launch for each */
                                    {3, 0, 2, 0, 0},
                                    {2, 9, 1, 40, 3},
                                    {1, 70001, 3, 0, 0}, /* by several blocks each */
                                    {1, thorough ? size_t(3000) : 70, 2000, 0, 0}, /* launches */
                                    {1, 20, thorough ? size_t(16500) : 40, 0, 0}};
    unsigned turn = 0;
    for (const fastreduce_shape &s : all)
        for (fastreduce_operator op : all_operators) {
            const data kind = static_cast<data>(check::mix(++turn, 1) % kinds);
            const fastreduce_type output_type = output_type_of<T>(check::mix(turn, 7) % 3);
            const size_t stride = s.stride ? s.stride : s.inner,
                         outer = s.outer_stride ? s.outer_stride : s.n * stride,
                         reach =
                             s.n == 0 ? 0 : (s.outer - 1) * outer + (s.n - 1) * stride + s.inner,
                         results = s.outer * s.inner;
            const std::vector<T> x = make<T>(kind, reach, turn),
                                 y = make<T>(kind, reach, turn + 100);
            const exact_input<T> from(x, turn % 3), from_y(y, turn / 3 % 3);
            const auto elements_of =
                [&](const std::vector<T> &values) -> std::function<std::vector<T>(size_t)> {
                return [&](size_t r) {
                    std::vector<T> one(s.n);
                    for (size_t k = 0; k < s.n; ++k)
                        one[k] = values[r / s.inner * outer + r % s.inner + k * stride];
                    return one;
                };
            };
            for (const bool dot : {false, true}) { /* once for each shape */
                if (dot && op != FASTREDUCE_SUM) continue;
                check::buffer<u64> output(results);
                const auto config = exact(output_type);
                const auto status =
                    dot ? fastreduce_dot_axis(from.data(), from_y.data(), output.data(), &s,
                                              type_of<T>, &config)
                        : fastreduce_reduce_axis(from.data(), output.data(), &s, type_of<T>, op,
                                                 &config);
                CUDA(cudaDeviceSynchronize());
                check::that(status == 0 && output.canaries_alive(), "%s_axis: status %d",
                            dot ? "dot" : "reduce", status);
                expect_results<T>(names[static_cast<unsigned>(kind)], output.get(), results,
                                  output_type, op, elements_of(x), dot ? elements_of(y) : nullptr);
            }
        }
    for (fastreduce_operator op : all_operators) {
        std::vector<int64_t> offsets = {3};
        for (size_t k = 0; k < many; ++k)
            offsets.push_back(offsets.back() + static_cast<int64_t>(k == many / 3 ? 140001
                                                                    : k == many / 2
                                                                        ? length
                                                                        : check::mix(k, 3) % 40));
        const data kind = static_cast<data>(check::mix(++turn, 1) % kinds);
        const fastreduce_type output_type = output_type_of<T>(check::mix(turn, 7) % 3);
        const std::vector<T> x = make<T>(kind, static_cast<size_t>(offsets.back()), turn);
        const exact_input<T> from(x, turn % 3);
        check::buffer<int64_t> device_offsets(offsets.size());
        device_offsets.set(offsets);
        check::buffer<u64> output(many);
        const auto config = exact(output_type);
        const auto status = fastreduce_reduce_segments(
            from.data(), output.data(), many, device_offsets.data(), type_of<T>, op, &config);
        CUDA(cudaDeviceSynchronize());
        check::that(status == 0 && output.canaries_alive(), "reduce_segments: status %d", status);
        expect_results<T>("segments", output.get(), many, output_type, op, [&](size_t r) {
            return std::vector<T>(x.begin() + offsets[r], x.begin() + offsets[r + 1]);
        });
    }
    workspace_is_clean("shapes");
}

/* Doubles whose sum, or that of their squares, is beyond the greatest double, or at it, only with
 * what was rounded off. */
static void at_the_greatest()
{
    constexpr double greatest = std::numeric_limits<double>::max(), root = 0x1.fffffffffffffp511;
    constexpr size_t results = 40, n = 4;
    const std::array<double, n> all[] = {{greatest, 0x1p969, 0x1p969, 0},
                                         {root, 0x1p485, 0x1p485, 0x1p485},
                                         {greatest, -0x1p969, greatest, -greatest}};
    for (const std::array<double, n> &some : all)
        for (fastreduce_operator op : all_operators)
            for (bool columns : {false, true}) {
                std::vector<double> x;
                for (size_t i = 0; i < results * n; ++i)
                    x.push_back(some[columns ? i / results : i % n]);
                const exact_input<double> from(x, 0);
                check::buffer<u64> output(results);
                const fastreduce_shape shape = {columns ? 1 : results, n, columns ? results : 1, 0,
                                                0};
                const auto config = exact();
                const auto status = fastreduce_reduce_axis(from.data(), output.data(), &shape,
                                                           FASTREDUCE_F64, op, &config);
                CUDA(cudaDeviceSynchronize());
                check::that(status == 0, "reduce_axis: status %d", status);
                expect_results<double>(
                    columns ? "columns" : "rows", output.get(), results, config.output_type, op,
                    [&](size_t) { return std::vector<double>(some.begin(), some.end()); });
            }
}

/* Rows, columns and segments of which each has a kind of data of its own: what lanes hold in two
 * doubles, and miss; by any number of lanes, warps and blocks a result. */
template <class T>
static void result_by_result()
{
    const std::vector<size_t> lengths =
        thorough ? std::vector<size_t>{1,  2,  3,   4,   5,   8,    9,    16,   17,   32,    64,
                                       65, 90, 128, 257, 513, 1025, 3000, 4097, 9000, 17000, 70000}
                 : std::vector<size_t>{1, 2, 3, 4, 5, 17, 32, 65, 130, 300, 1100, 2500};
    unsigned turn = 0;
    for (size_t n : lengths)
        for (int shape = 0; shape < 3; ++shape)
            for (fastreduce_operator op : all_operators) {
                const fastreduce_type output_type = output_type_of<T>(check::mix(++turn, 7) % 3);
                const bool columns = shape == 1;
                if (!thorough && n > 64 && check::mix(turn, 2) % 3) continue;
                const size_t results = n < 10000 ? 47 : 5;
                std::vector<std::vector<T>> each;
                std::vector<int64_t> offsets = {0};
                for (size_t r = 0; r < results; ++r) {
                    const size_t length = shape < 2 ? n : check::mix(r, n) % (2 * n);
                    each.push_back(make<T>(static_cast<data>((r + turn) % kinds), length, r + n));
                    offsets.push_back(offsets.back() + static_cast<int64_t>(length));
                }
                std::vector<T> x(static_cast<size_t>(offsets.back()));
                for (size_t r = 0; r < results; ++r)
                    for (size_t k = 0; k < each[r].size(); ++k)
                        x[columns ? k * results + r : static_cast<size_t>(offsets[r]) + k] =
                            each[r][k];
                const exact_input<T> from(x, turn % 3);
                check::buffer<u64> output(results);
                check::buffer<int64_t> device_offsets(offsets.size());
                device_offsets.set(offsets);
                const fastreduce_shape s = {columns ? 1 : results, n, columns ? results : 1, 0, 0};
                const auto config = exact(output_type);
                const auto status = shape < 2
                                        ? fastreduce_reduce_axis(from.data(), output.data(), &s,
                                                                 type_of<T>, op, &config)
                                        : fastreduce_reduce_segments(from.data(), output.data(),
                                                                     results, device_offsets.data(),
                                                                     type_of<T>, op, &config);
                CUDA(cudaDeviceSynchronize());
                check::that(status == 0 && output.canaries_alive(), "result by result: status %d",
                            status);
                expect_results<T>(columns     ? "columns"
                                  : shape < 1 ? "rows"
                                              : "segments",
                                  output.get(), results, output_type, op,
                                  [&](size_t r) { return each[r]; });
            }
    workspace_is_clean("result by result");
}

/* Rows of 3 k, 4 k and hardly anything: norms halfway between two numbers but for that. */
template <class T>
static void ties_of_norms()
{
    constexpr size_t results = 300, n = 5;
    std::vector<T> x(n * results);
    for (size_t r = 0; r < results; ++r) {
        const u64 z = check::mix(r, 9);
        /* 5 k has a bit more than T */
        const double k = std::ldexp(7.0, fraction_bits<T> - 4) +
                         static_cast<double>((z | 1) % (1ull << (fraction_bits<T> - 3)));
        x[n * r + r % n] = static_cast<T>(-3 * k);
        x[n * r + (r + 2) % n] = static_cast<T>(4 * k);
        x[n * r + (r + 1) % n] =
            static_cast<T>(r % 3 ? std::ldexp(1.0, -static_cast<int>(z % 1000)) : 0);
    }
    const exact_input<T> from(x, 0);
    check::buffer<u64> output(results);
    const fastreduce_shape shape = {results, n, 1, 0, 0};
    const auto config = exact();
    for (fastreduce_operator op : {FASTREDUCE_SUM_SQUARES, FASTREDUCE_NORM2}) {
        check::that(fastreduce_reduce_axis(from.data(), output.data(), &shape, type_of<T>, op,
                                           &config) == 0,
                    "reduce_axis");
        CUDA(cudaDeviceSynchronize());
        expect_results<T>("ties", output.get(), results, config.output_type, op, [&](size_t r) {
            return std::vector<T>(x.begin() + static_cast<long>(n * r),
                                  x.begin() + static_cast<long>(n * r + n));
        });
    }
}

static void refusals()
{
    const fastreduce_status invalid = FASTREDUCE_ERROR_INVALID_ARGUMENT,
                            unsupported = FASTREDUCE_ERROR_UNSUPPORTED;
    check::buffer<double> input(4), output(80);
    input.fill(1);
    output.fill(0x5d);
    fastreduce_config config = {};
    config.kernel = FASTREDUCE_EXACT;
    const auto reduce = [&](fastreduce_type type, fastreduce_operator op) {
        return fastreduce_reduce(input.data(), output.data(), 2, type, op, &config);
    };
    check::that(reduce(FASTREDUCE_F64, FASTREDUCE_MAX) == unsupported &&
                    !fastreduce_supports(FASTREDUCE_F64, FASTREDUCE_MAX, FASTREDUCE_EXACT),
                "EXACT has MAX of f64");
    check::that(reduce(FASTREDUCE_I32, FASTREDUCE_SUM) == unsupported, "EXACT of integers");
    for (fastreduce_type type : {FASTREDUCE_F32, FASTREDUCE_F64, FASTREDUCE_F16, FASTREDUCE_BF16})
        for (fastreduce_operator op : all_operators)
            check::that(fastreduce_supports(type, op, FASTREDUCE_EXACT) &&
                            fastreduce_supports_shapes(type, op, FASTREDUCE_EXACT) &&
                            fastreduce_supports_dot(type, FASTREDUCE_EXACT),
                        "what is supported: type %d, operator %d", type, op);
    config.output_type = FASTREDUCE_F16;
    for (fastreduce_type type : {FASTREDUCE_F32, FASTREDUCE_F64, FASTREDUCE_BF16})
        check::that(reduce(type, FASTREDUCE_SUM) == unsupported, "f16 of type %d", type);
    check::that(fastreduce_reduce(input.data(), reinterpret_cast<char *>(output.data()) + 1, 2,
                                  FASTREDUCE_F16, FASTREDUCE_SUM, &config) == invalid,
                "f16 where none is aligned");
    config.output_type = FASTREDUCE_F64;
    check::that(fastreduce_reduce(input.data(), reinterpret_cast<float *>(output.data()) + 1, 2,
                                  FASTREDUCE_F32, FASTREDUCE_SUM, &config) == invalid,
                "a double where none is aligned");
    check::that(reduce(static_cast<fastreduce_type>(0), FASTREDUCE_SUM) == invalid &&
                    reduce(FASTREDUCE_F32, static_cast<fastreduce_operator>(99)) == invalid,
                "no type, no operator");
    config.kernel = FASTREDUCE_AUTO;
    check::that(reduce(FASTREDUCE_F32, FASTREDUCE_SUM) == unsupported, "AUTO to a double");

    config = {};
    config.kernel = FASTREDUCE_EXACT;
    config.output_type = FASTREDUCE_F32;
    check::that(fastreduce_dot(input.data(), input.data(), output.data(), 1, FASTREDUCE_I32,
                               &config) == unsupported,
                "dot of integers");

    auto *const total = reinterpret_cast<fastreduce_wide_accumulator *>(output.data());
    auto *const narrow = reinterpret_cast<fastreduce_accumulator *>(output.data());
    unsigned char *const odd = reinterpret_cast<unsigned char *>(output.data()) + 4;
    const double *const none = nullptr, *const inside = output.data() + 71;
    config = {};
    check::that(
        fastreduce_accumulate(input.data(), narrow, 1, FASTREDUCE_I32, nullptr) == unsupported &&
            fastreduce_accumulate(input.data(), narrow, 1, static_cast<fastreduce_type>(0),
                                  nullptr) == invalid &&
            fastreduce_accumulate(input.data(), narrow, 1, FASTREDUCE_F64, nullptr) == invalid &&
            fastreduce_accumulate(nullptr, narrow, 1, FASTREDUCE_F32, nullptr) == invalid &&
            fastreduce_accumulate(input.data(), nullptr, 1, FASTREDUCE_F32, nullptr) == invalid &&
            fastreduce_accumulate(input.data(), reinterpret_cast<fastreduce_accumulator *>(odd), 1,
                                  FASTREDUCE_F32, nullptr) == invalid,
        "an accumulator");
    check::that(fastreduce_accumulate_f64(none, total, 1, nullptr) == invalid &&
                    fastreduce_accumulate_f64(inside, nullptr, 1, nullptr) == invalid &&
                    fastreduce_accumulate_f64(input.data(),
                                              reinterpret_cast<fastreduce_wide_accumulator *>(odd),
                                              1, nullptr) == invalid &&
                    fastreduce_accumulate_f64(inside, total, 1, nullptr) == invalid,
                "an accumulator of doubles");
    check::buffer<double> both(17);
    both.fill(0);
    auto *const before = reinterpret_cast<fastreduce_accumulator *>(both.data());
    check::that(fastreduce_accumulate(both.data() + 16, before, 1, FASTREDUCE_F32, nullptr) == 0,
                "an array right behind its accumulator");
    config.kernel = static_cast<fastreduce_kernel>(42);
    config.block_size = 33;
    config.output_type = FASTREDUCE_I8;
    check::that(fastreduce_accumulate(both.data() + 16, before, 1, FASTREDUCE_F32, &config) == 0,
                "what an accumulator's call does not read");
    config = {};
    check::that(fastreduce_accumulate_dot(input.data(), input.data(), total, 1, FASTREDUCE_F64,
                                          nullptr) == invalid &&
                    fastreduce_accumulate_dot(input.data(), nullptr, total, 1, FASTREDUCE_F32,
                                              nullptr) == invalid &&
                    fastreduce_accumulate_dot(nullptr, input.data(), total, 1, FASTREDUCE_F32,
                                              nullptr) == invalid &&
                    fastreduce_accumulate_dot(input.data(), input.data(), nullptr, 1,
                                              FASTREDUCE_F32, nullptr) == invalid,
                "an accumulator of products");
    check::buffer<fastreduce_product_accumulator> products(1);
    products.fill(0x5d);
    check::that(
        fastreduce_accumulate_dot_f64(none, inside, products.data(), 1, nullptr) == invalid &&
            fastreduce_accumulate_dot_f64(inside, none, products.data(), 1, nullptr) == invalid &&
            fastreduce_accumulate_dot_f64(
                inside, reinterpret_cast<const double *>(&products.data()->limb[137]),
                products.data(), 1, nullptr) == invalid &&
            products.every_byte_is(0x5d),
        "an accumulator of products of doubles");
    config.n_on_device = reinterpret_cast<const size_t *>(output.data() + 70);
    check::that(fastreduce_accumulate_f64(input.data(), total, 1, &config) == invalid,
                "a count in the accumulator");
    config.n_on_device = nullptr;
    config.workspace = workspace().data();
    config.workspace_bytes = 16;
    const auto *const anywhere = reinterpret_cast<const double *>(size_t(1) << 62);
    check::that(fastreduce_accumulate_f64(anywhere, total, 100000, &config) ==
                    FASTREDUCE_ERROR_WORKSPACE_TOO_SMALL,
                "a workspace too small for an accumulator's call");
    CUDA(cudaDeviceSynchronize());
    check::that(output.every_byte_is(0x5d), "a refused call wrote");
}

template <class T>
static void of_type()
{
    if (!asked_for(fastreduce_type_name(type_of<T>))) return;
    every_size<T>();
    golden<T>();
    every_tie<T>();
    any_order<T>();
    counted<T>();
    accumulators<T>();
    many_of_a_kind<T>();
    edges_of_windows<T>();
    shapes<T>();
    result_by_result<T>();
    if constexpr (sizeof(T) >= sizeof(float)) ties_of_norms<T>();
    if constexpr (is_double<T>) at_the_greatest();
}

int main(int argc, char **argv)
{
    check::need_device();
    const bool quick = parse_parts(argc, argv);
    thorough = on_gpu && !quick;
    if (asked_for("refusals")) refusals();
    if (asked_for("kernels")) kernels();
    of_type<float>();
    of_type<double>();
    of_type<f16>();
    of_type<bf16>();
    return check::finish("exact floats");
}

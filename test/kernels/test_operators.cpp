/* fastreduce_reduce: every type, operator and kernel, against exact or wider arithmetic. NaN, zeros
 * of both signs, infinities, ties, overflow; no elements; shards; refusals. Inputs begin anywhere,
 * and end where their memory does. */
#include <cuda_runtime.h>
#define FASTREDUCE_IMPLEMENTATION
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/dynamic_shared.h"
#include "../common/elements.h"
#include "../common/exact_input.h"
#include "../common/golden.h"
#include "../common/order.h"
#include "../common/pairwise.h"
#include "../common/parts.h"
#include "../common/shards.h"
#include "../common/turns.h"
#include <algorithm>

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

static bool same_or_nan(fastreduce_type type, u64 a, u64 b)
{
    return a == b || (type < FASTREDUCE_I8 && std::isnan(result_of(type, a)) &&
                      std::isnan(result_of(type, b)));
}

static u64 only_bits(check::buffer<unsigned char> &value)
{
    u64 bits = 0;
    const std::vector<unsigned char> bytes = value.get();
    std::memcpy(&bits, bytes.data(), bytes.size());
    return bits;
}

/* One result, and nothing written beside it; aligned to no more than its size. */
static u64 reduced(const char *what, const void *input, size_t n, fastreduce_type type,
                   fastreduce_operator op, const fastreduce_config *config)
{
    const bool rounds = config && config->output_type == type;
    const size_t size = fastreduce_type_size(rounds ? type : fastreduce_output_type(type, op));
    check::buffer<unsigned char> output(size, size);
    output.fill(0x7b);
    order::next();
    const fastreduce_status status = fastreduce_reduce(input, output.data(), n, type, op, config);
    CUDA(cudaDeviceSynchronize());
    check::that(status == 0 && output.canaries_alive(), "%s: status %d, or a write outside", what,
                status);
    fastreduce_config rounding = config ? *config : fastreduce_config{};
    if (rounding.output_type == type) return only_bits(output);
    if (pairwise::has_16_bits(type, op)) {
        rounding.output_type = type;
        const u64 got = reduced(what, input, n, type, op, &rounding),
                  wanted = pairwise::nearest(type, only_bits(output));
        check::that(same_or_nan(type, got, wanted), "%s, rounded to 16 bits: %llx, not %llx", what,
                    got, wanted);
    }
    return only_bits(output);
}

/* The second result of a call like it, which has to write the same first one. */
static void check_second(const std::string &what, const void *input, const void *elements, size_t n,
                         fastreduce_type type, fastreduce_operator op, fastreduce_config config,
                         u64 first)
{
    const size_t size = fastreduce_type_size(fastreduce_output_type(type, op)),
                 second_size = fastreduce_type_size(fastreduce_second_type(type, op));
    u64 wanted = 0;
    if (second_size == 0 || config.kernel != FASTREDUCE_AUTO) return;
    pairwise::second(type, op, elements, n, &wanted);
    check::buffer<unsigned char> output(size, size), second(second_size, second_size);
    output.fill(0x7b);
    second.fill(0x7b);
    config.second_output = second.data();
    const fastreduce_status status = fastreduce_reduce(input, output.data(), n, type, op, &config);
    CUDA(cudaDeviceSynchronize());
    check::that(status == 0 && output.canaries_alive() && second.canaries_alive(),
                "%s, with a second: status %d, or a write outside", what.c_str(), status);
    const u64 got = only_bits(second);
    check::that(same_or_nan(fastreduce_output_type(type, op), only_bits(output), first),
                "%s, with a second: %llx, not %llx", what.c_str(), only_bits(output), first);
    check::that(got == wanted || (op == FASTREDUCE_VARIANCE &&
                                  same_or_nan(fastreduce_second_type(type, op), got, wanted)),
                "%s, the second: %llx, not %llx", what.c_str(), got, wanted);
}

static std::string name_of(fastreduce_type type, fastreduce_operator op,
                           const fastreduce_config &config, const char *data, size_t n)
{
    char text[200];
    std::snprintf(text, sizeof text, "%s of %s, %s, %u a block, %s, n %zu",
                  fastreduce_operator_name(op), fastreduce_type_name(type),
                  fastreduce_kernel_name(config.kernel), config.block_size, data, n);
    return text;
}

template <class T>
static void one_call(const T *input, size_t n, fastreduce_operator op,
                     const fastreduce_config &config, answer wanted, const char *data,
                     size_t offset, const T *elements = nullptr)
{
    const fastreduce_type type = type_of<T>;
    const std::string what = name_of(type, op, config, data, n);
    /* of AUTO's extremes, the NaN that hardware makes */
    if (std::isnan(wanted.value) && config.kernel == FASTREDUCE_AUTO &&
        (op == FASTREDUCE_MIN || op == FASTREDUCE_MAX || op == FASTREDUCE_MIN_MAX ||
         op == FASTREDUCE_MAX_ABS))
        wanted = {true, sign_bit<T> - 1, 0, 0};
    const u64 got = reduced(what.c_str(), input, n, type, op, &config);
    check::that(agrees(wanted, fastreduce_output_type(type, op), got),
                "%s, offset %zu: %llx (%Lg), not %llx (%Lg, error %Lg)", what.c_str(), offset, got,
                wanted.exact ? real(0) : result_of(fastreduce_output_type(type, op), got),
                wanted.bits, wanted.value, wanted.error);
    check_second(what, input, elements, n, type, op, config, got);
}

/* Some of V0 to V7, on a GPU all of them, with blocks of any size. */
static void ladder_calls(const float *input, size_t n, const oracle<float> &right, const char *data,
                         size_t offset)
{
    static unsigned turn = 0;
    for (int version = FASTREDUCE_V0; version <= FASTREDUCE_V7; ++version) {
        const unsigned now = turn++;
        if (!thorough && now % 8 != now / 8 % 8) continue;
        fastreduce_config config = {};
        config.kernel = static_cast<fastreduce_kernel>(version);
        config.block_size = now / 3 % 7 ? 16u << now / 3 % 7 : 0;
        const unsigned block = config.block_size ? config.block_size : FASTREDUCE_BLOCK_SIZE;
        const size_t enough = fastreduce_workspace_bytes(n, &config);
        if (now % 5 && enough <= FASTREDUCE_WORKSPACE_BYTES) {
            config.workspace = workspace().data();
            config.workspace_bytes = enough;
        }
        one_call(input, n, FASTREDUCE_SUM, config,
                 right.of(FASTREDUCE_SUM,
                          check::tree_depth(n, block, fastreduce::default_items(config.kernel))),
                 data, offset);
    }
}

/* V7 of extremes, which the template alone has. */
template <class Operator, class T>
static void extreme_by_template(const T *input, size_t n, fastreduce_operator op,
                                const oracle<T> &right, const char *data)
{
    check::buffer<T> output(1);
    output.fill(0x7b);
    const fastreduce_status status =
        fastreduce::reduce<FASTREDUCE_V7, 64, 8, Operator>(input, output.data(), n);
    CUDA(cudaDeviceSynchronize());
    const u64 got = bits_of(output.get()[0]);
    check::that(status == 0 && output.canaries_alive() &&
                    agrees(right.of(op, check::tree_depth(n, 64, 8)), type_of<T>, got),
                "V7 by template: %s of %s, %s, n %zu: status %d, %llx",
                fastreduce_operator_name(op), fastreduce_type_name(type_of<T>), data, n, status,
                got);
}

static void exact_call(const float *input, const std::vector<float> &values, const char *data,
                       size_t offset)
{
    fastreduce_config config = {};
    config.kernel = FASTREDUCE_EXACT;
    one_call(input, values.size(), FASTREDUCE_SUM, config,
             {true, bits_of(fastreduce_host_sum_f32(values.data(), values.size())), 0, 0}, data,
             offset);
}

constexpr unsigned every_operator = (1u << operators) - 1;

template <class T>
static void every_call(const char *data, const std::vector<T> &values, size_t offset,
                       unsigned which = every_operator)
{
    const size_t n = values.size();
    const exact_input<T> input(values, offset);
    const oracle<T> right(values);
    fastreduce_config config = {};
    config.workspace = workspace().data();
    config.workspace_bytes = FASTREDUCE_WORKSPACE_BYTES;
    for (unsigned number = 0; number < operators; ++number) {
        const fastreduce_operator op = operator_of(number);
        if ((which >> number & 1) == 0) continue;
        one_call(input.data(), n, op, config, right.of(op, check::auto_depth), data, offset,
                 values.data());
        if constexpr (std::is_same<T, float>::value)
            if (op == FASTREDUCE_SUM) {
                ladder_calls(input.data(), n, right, data, offset);
                exact_call(input.data(), values, data, offset);
            }
        if constexpr (sizeof(T) >= 4 && std::is_signed<T>::value) {
            using namespace fastreduce;
            if (op == FASTREDUCE_MIN)
                extreme_by_template<minimum>(input.data(), n, op, right, data);
            if (op == FASTREDUCE_MAX)
                extreme_by_template<maximum>(input.data(), n, op, right, data);
        }
    }
    std::vector<T> after(n);
    if (n > 0) CUDA(cudaMemcpy(after.data(), input.data(), n * sizeof(T), cudaMemcpyDeviceToHost));
    check::that(n == 0 || std::memcmp(static_cast<const void *>(after.data()), values.data(),
                                      n * sizeof(T)) == 0,
                "%s, %s, n %zu: the input was written", fastreduce_type_name(type_of<T>), data, n);
}

static void workspace_is_clean(const char *what)
{
    check::that(workspace().every_byte_is(0) && workspace().canaries_alive(),
                "%s: workspace left dirty, or a write outside", what);
}

/* ---- The tests ---- */

template <class T>
constexpr size_t most_offsets = 16 / sizeof(T); /* from a vector's alignment */

/* Where AUTO's table changes its rows, a little less and a little more; and what is in no line. */
template <class T>
static void sizes()
{
    std::vector<size_t> all = {0, 1, 2, 15, 16, 17, 31, 33, 77};
    for (size_t bytes : {size_t(16) << 10, size_t(64) << 10, size_t(2) << 20, size_t(32) << 20})
        for (size_t n : {bytes / sizeof(T) - 1, bytes / sizeof(T), bytes / sizeof(T) + 1,
                         bytes / sizeof(T) * 5 / 4 + 3})
            if (thorough || bytes <= 16 << 10 || (bytes <= 64 << 10 && n % 4 == 3))
                all.push_back(n);
    for (u64 k = 0; k < (thorough ? 20 : 2); ++k)
        all.push_back(check::mix(k, 1) % ((thorough ? 1 << 20 : 12 << 10) / sizeof(T)));
    constexpr unsigned product = 1u << FASTREDUCE_PRODUCT,
                       kinds =
                           static_cast<unsigned>(is_float<T> ? data::mixed : data::near_one) + 1;
    unsigned turn = 0;
    for (size_t k = 0; k < all.size(); ++k) {
        const size_t n = all[k], bytes = n * sizeof(T);
        /* only some kinds of data with large arrays, and with others on the CPU machine */
        const unsigned every = thorough ? (bytes > 4 << 20 ? 6 : 1) : bytes > 1 << 10 ? 8 : 4;
        for (unsigned number = k % every; number < kinds; number += every) {
            const data kind = static_cast<data>(number);
            const unsigned which = !is_float<T>             ? every_operator
                                   : kind == data::near_one ? product
                                                            : every_operator & ~product;
            every_call(data_names[number], make<T>(kind, n, check::mix(n, number)),
                       turn++ * 7 % (most_offsets<T> + 1), which);
        }
    }
    workspace_is_clean(fastreduce_type_name(type_of<T>));
}

/* Two equal extremes among elements that are all the same, or -0 and +0 of the other sign: at any
 * place in a pack, in a tile, and in two tiles. */
template <class T>
static void ties()
{
    constexpr size_t pack = 16 / sizeof(T), tile = 16384 / sizeof(T), n = 5 * tile + pack - 1;
    const unsigned arguments =
        1u << FASTREDUCE_ARGMIN | 1u << FASTREDUCE_ARGMAX | 1u << FASTREDUCE_ARGMAX_ABS;
    std::vector<std::pair<size_t, size_t>> places;
    for (size_t i = 0; i < pack; ++i) places.push_back({tile + i, tile + (i + 1) % pack});
    for (size_t gap : {pack, 31 * pack, 256 * pack, tile - 1, tile, 3 * tile + 1})
        for (size_t from : {size_t(0), pack - 1, tile / 2 + 1})
            places.push_back({from, from + gap});
    places.push_back({n - 2, n - 1});
    places.push_back({0, n - 1});
    unsigned turn = 0;
    for (const auto &place : places) {
        if (!thorough && turn % 3 && place.first != tile) {
            ++turn;
            continue;
        }
        const size_t count = thorough || turn % 8 == 0 ? n : std::min(n, tile);
        std::vector<T> values(count, number<T>(5));
        for (bool greatest : {false, true}) {
            for (size_t at : {place.first, place.second})
                values[at % count] = number<T>(greatest ? 9 : 2);
            every_call("ties", values, turn % (pack + 1), arguments);
        }
        if (is_float<T>) {
            std::fill(values.begin(), values.end(), number<T>(turn % 2 ? 0.0 : -0.0));
            for (size_t at : {place.first, place.second})
                values[at % count] = number<T>(turn % 2 ? -0.0 : 0.0);
            every_call("zeros of both signs", values, turn % (pack + 1),
                       arguments | 1u << FASTREDUCE_MIN_MAX | 1u << FASTREDUCE_MIN |
                           1u << FASTREDUCE_MAX | 1u << FASTREDUCE_MAX_ABS |
                           1u << FASTREDUCE_COUNT_NONZERO);
        }
        ++turn;
    }
}

/* NaN of either sign, quiet or signalling; infinities of either sign, and both; first, last or
 * between; and a second one behind. */
template <class T>
static void specials()
{
    const u64 infinity = infinity_bits<T>, quiet = infinity | infinity >> 1, sign = sign_bit<T>,
              patterns[] = {quiet,    quiet | sign,   infinity | 1, infinity | sign | 1,
                            infinity, infinity | sign};
    unsigned turn = 0;
    for (size_t n : {size_t(1), size_t(33), size_t(16640) / sizeof(T), size_t(70001) / sizeof(T)})
        for (size_t at : {size_t(0), n / 2, n - 1})
            for (u64 pattern : patterns) {
                if (turn++, at > 0 && n == 1) continue;
                if (!thorough && n > 33 && turn % 11) continue;
                const size_t offset = turn % (most_offsets<T> + 1);
                for (data kind : {data::usual, data::near_one}) {
                    const unsigned product = 1u << FASTREDUCE_PRODUCT,
                                   which =
                                       kind == data::usual ? every_operator & ~product : product;
                    std::vector<T> values = make<T>(kind, n, turn);
                    values[at] = from_bits<T>(pattern);
                    every_call("one special", values, offset, which);
                    values[n - 1] = from_bits<T>(patterns[turn % 6]);
                    every_call("two specials", values, offset, which);
                }
            }
}

/* Norms of elements whose squares, or a thread's sum of them, are about as large or as small as
 * have room, and of what is far beyond. */
template <class T>
static void norms()
{
    const bool twice = type_of<T> == FASTREDUCE_F64;
    const double scales[] = {twice ? 0x1p450 : 0x1p63, twice ? 0x1p-450 : 0x1p-42,
                             twice ? 1e300 : 1e37, twice ? 1e-300 : 1e-37};
    unsigned turn = 0;
    for (size_t n : {size_t(1), size_t(3), size_t(77), size_t(3000), size_t(20000)})
        for (double scale : scales)
            for (int smaller = 0; smaller < 4; ++smaller) {
                std::vector<T> values = make<T>(data::usual, n, ++turn);
                for (T &x : values)
                    x = number<T>(static_cast<double>(real_of(x)) * std::ldexp(scale, -smaller));
                every_call("a norm", values, turn % (most_offsets<T> + 1), 1u << FASTREDUCE_NORM2);
            }
    std::vector<T> largest(5000); /* whose differences have no room */
    for (size_t i = 0; i < largest.size(); ++i)
        largest[i] = number<T>(check::mix(i, 1) % 2 ? 0x1p127 : -0x1p127);
    if (!twice) every_call("the largest", largest, 1, 1u << FASTREDUCE_VARIANCE);
}

/* Norms and variances of what is not finite, whatever stands first. */
template <class T>
static void not_finite()
{
    const T one = number<T>(1.0), nan = from_bits<T>(infinity_bits<T> | 1),
            infinity = from_bits<T>(infinity_bits<T>),
            minus = from_bits<T>(infinity_bits<T> | sign_bit<T>);
    const std::vector<T> all[] = {{nan, infinity},
                                  {infinity, one, nan},
                                  {infinity, infinity},
                                  {one, infinity},
                                  {infinity, minus, one}};
    for (const std::vector<T> &values : all) {
        const exact_input<T> input(values, 0);
        bool any_nan = false;
        for (T x : values) any_nan |= std::isnan(static_cast<double>(real_of(x)));
        for (fastreduce_operator op : {FASTREDUCE_NORM2, FASTREDUCE_VARIANCE}) {
            const real got = result_of(
                fastreduce_output_type(type_of<T>, op),
                reduced("not finite", input.data(), values.size(), type_of<T>, op, nullptr));
            check::that(any_nan || op == FASTREDUCE_VARIANCE ? std::isnan(got) : got == INFINITY,
                        "%s of %zu %s that are not finite: %Lg", fastreduce_operator_name(op),
                        values.size(), fastreduce_type_name(type_of<T>), got);
        }
    }
}

/* Beyond 2^24 elements the mean is still divided by their number, which no float holds. */
template <class T>
static void mean_of_many()
{
    const size_t n = (size_t(1) << 24) + 3;
    int sum = 1; /* for which a division by the nearest float gives another result */
    while (static_cast<float>(sum / static_cast<double>(n)) == static_cast<float>(sum) / n) ++sum;
    check::buffer<T> input(n, 0);
    input.fill(0);
    const T other = number<T>(static_cast<double>(sum));
    CUDA(cudaMemcpy(input.data() + n / 3, &other, sizeof other, cudaMemcpyHostToDevice));
    const u64 got = reduced("mean of many", input.data(), n, type_of<T>, FASTREDUCE_MEAN, nullptr);
    check::that(real_of(other) == sum &&
                    got == bits_of(static_cast<float>(sum / static_cast<double>(n))),
                "mean of 2^24 + 3, %s: %llx", fastreduce_type_name(type_of<T>), got);
}

/* Zero elements, whatever the kernel: the input may be null. */
template <class T>
static void nothing()
{
    const oracle<T> right({});
    for (unsigned number = 0; number < operators; ++number)
        for (int kernel = FASTREDUCE_AUTO; kernel <= FASTREDUCE_EXACT; ++kernel) {
            fastreduce_config config = {};
            config.kernel = static_cast<fastreduce_kernel>(kernel);
            if (fastreduce_supports(type_of<T>, operator_of(number), config.kernel))
                one_call<T>(nullptr, 0, operator_of(number), config,
                            right.of(operator_of(number), 0), "null", 0);
        }
}

/* A mean is the sum over n, which is +0 where all elements are -0: of a whole tile too, to which
 * nothing else is added. */
template <class T>
static void mean_of_zeros()
{
    const size_t n = 16384 / sizeof(T);
    check::buffer<T> input(n, 0);
    input.set(std::vector<T>(n, number<T>(-0.0)));
    const u64 got = reduced("mean of -0", input.data(), n, type_of<T>, FASTREDUCE_MEAN, nullptr);
    const u64 sign = type_of<T> == FASTREDUCE_F64 ? u64(1) << 63 : u64(1) << 31;
    check::that(got == sign, "mean of -0, %s: %llx", fastreduce_type_name(type_of<T>), got);
}

#ifdef SIMT_MACHINE
/* Squares of 2^34 elements that 64 bits do not hold. */
static void norm_of_many()
{
    using reducer_type = fastreduce::detail::reducer_t<fastreduce::norm2, short>;
    const reducer_type reducer;
    const auto half = static_cast<reducer_type::Value>(0x1p63);
    const auto result = reducer.finish(reducer.combine(half, half), size_t(1) << 34);
    check::that(bits_of(result) == bits_of(0x1p32), "norm of 2^34 elements");
}
#endif

/* AUTO's bits where something rounds: those of the pairwise reduction, at any address. */
template <class T>
static void pairwise_bits()
{
    const fastreduce_type type = type_of<T>;
    std::vector<size_t> all = {0, 1, 2, 3, 5, 31, 127, 129, 1000, 4095, 4097, 16385};
    if (thorough) all.insert(all.end(), {70001, (size_t(2) << 20) / sizeof(T) + 1, 3000017});
    unsigned turn = 0;
    for (size_t n : all)
        for (data kind : {data::usual, is_float<T> ? data::mixed : data::near_one}) {
            const std::vector<T> values = make<T>(kind, n, n + 3),
                                 factors = make<T>(data::near_one, n, n + 4);
            for (unsigned k = 0; k < operators; ++k) {
                const fastreduce_operator op = operator_of(k);
                const std::vector<T> &x = op == FASTREDUCE_PRODUCT ? factors : values;
                u64 wanted = 0;
                if (!pairwise::result(type, op, x.data(), n, &wanted)) continue;
                for (size_t offset = 0; offset <= most_offsets<T>; ++offset) {
                    if (!thorough && n > 1000 && offset != turn++ % (most_offsets<T> + 1)) continue;
                    if (n > 1 << 20 && offset > 1) continue;
                    fastreduce_config config = {};
                    config.workspace = workspace().data();
                    config.workspace_bytes = FASTREDUCE_WORKSPACE_BYTES;
                    const exact_input<T> input(x, offset);
                    const std::string what = name_of(type, op, config, "pairwise", n);
                    const u64 got = reduced(what.c_str(), input.data(), n, type, op, &config);
                    check::that(same_or_nan(fastreduce_output_type(type, op), got, wanted),
                                "%s, offset %zu: %llx, not %llx", what.c_str(), offset, got,
                                wanted);
                }
            }
        }
    workspace_is_clean("pairwise");
}

/* The frozen second results. */
static void golden_second(const std::string &what, const golden_row &row, const void *input)
{
    const auto op = static_cast<fastreduce_operator>(row.op);
    const fastreduce_type type = fastreduce_second_type(row.type, op);
    const size_t size = fastreduce_type_size(type);
    if (size == 0) return;
    check::buffer<unsigned char> second(size, size);
    second.fill(0x7b);
    fastreduce_config config = {};
    config.second_output = second.data();
    reduced(what.c_str(), input, row.n, row.type, op, &config);
    check::that(second.canaries_alive() && same_or_nan(type, only_bits(second), row.second),
                "%s, seed %llu, the second: %llx", what.c_str(),
                static_cast<unsigned long long>(row.seed), only_bits(second));
}

/* The frozen results. */
template <class T>
static void golden()
{
    for (const golden_row &row : golden_rows) {
        if (row.type != type_of<T> || row.op == GOLDEN_DOT || (!thorough && row.n > 20000))
            continue;
        std::vector<T> x(row.n);
        golden_fill(&row, 0, x.data(), sizeof(T));
        const fastreduce_operator op = static_cast<fastreduce_operator>(row.op);
        for (size_t offset : {0, 1}) {
            const exact_input<T> input(x, offset);
            const std::string what = name_of(row.type, op, {}, "golden", row.n);
            const u64 got = reduced(what.c_str(), input.data(), row.n, row.type, op, nullptr);
            check::that(same_or_nan(fastreduce_output_type(row.type, op), got, row.bits),
                        "%s, seed %llu, offset %zu: %llx, not %llx", what.c_str(),
                        static_cast<unsigned long long>(row.seed), offset, got,
                        static_cast<unsigned long long>(row.bits));
            golden_second(what, row, input.data());
        }
    }
}

/* The second call for partial results of shards: on the CPU, if the build lacks their type. */
static u64 of_partials(const unsigned char *partials, size_t count, fastreduce_type type,
                       fastreduce_operator op)
{
    const size_t size = fastreduce_type_size(type);
    u64 bits = 0;
    if (fastreduce_supports(type, op, FASTREDUCE_AUTO)) {
        check::buffer<unsigned char> input(count * size, size);
        input.set(partials);
        return reduced("partial results", input.data(), count, type, op, nullptr);
    }
    check::that(
        fastreduce_host_pairwise(partials, &bits, count, type, op, FASTREDUCE_DEFAULT_TYPE) == 0,
        "partial results, on the CPU");
    return bits;
}

/* Results of shards of 2^k elements, of which the CPU reduces some, are reduced to the bits of one
 * call. Where something rounds, other lengths show. */
template <class T>
static void in_shards()
{
    const fastreduce_type type = type_of<T>;
    const size_t n = thorough ? 3000017 : 9001, period = thorough ? 1 << 16 : 1 << 10;
    const std::vector<T> values = make<T>(data::usual, n, 21),
                         factors = make<T>(data::near_one, n, 21);
    const exact_input<T> input(values, 1), for_products(factors, 1);
    for (unsigned number = 0; number < operators; ++number) {
        const fastreduce_operator op = operator_of(number);
        const fastreduce_type output = fastreduce_output_type(type, op);
        const bool is_product = op == FASTREDUCE_PRODUCT;
        const T *const from = (is_product ? for_products : input).data(),
                       *const on_host = (is_product ? factors : values).data();
        fastreduce_operator second;
        if (!shards::second_operator(static_cast<int>(op), &second)) continue;
        const u64 whole = reduced("whole", from, n, type, op, nullptr);
        const auto one = [&](size_t begin, size_t count) {
            u64 bits = 0;
            if (begin % 5 != 1) return reduced("shard", from + begin, count, type, op, nullptr);
            check::that(fastreduce_host_pairwise(on_host + begin, &bits, count, type, op,
                                                 FASTREDUCE_DEFAULT_TYPE) == 0,
                        "a shard on the CPU");
            return bits;
        };
        const auto all = [&](const unsigned char *partials, size_t count) {
            return of_partials(partials, count, output, second);
        };
        unsigned differ = 0;
        for (size_t length : {period / 8, period, 4 * period, 64 * period}) {
            const u64 got =
                shards::result(one, all, fastreduce_type_size(output), n, length, length % 3);
            check::that(got == whole, "%s of %s in shards of %zu: %llx, not %llx",
                        fastreduce_operator_name(op), fastreduce_type_name(type), length, got,
                        whole);
        }
        const bool rounds = is_float<T> && (op == FASTREDUCE_SUM || op == FASTREDUCE_SUM_ABS ||
                                            op == FASTREDUCE_SUM_SQUARES || is_product);
        /* some lengths give the same sum once it is rounded */
        for (size_t k = 0; k < (rounds ? 20 : 3) && differ == 0; ++k)
            differ += shards::result(one, all, fastreduce_type_size(output), n,
                                     period / 8 * (5 + 2 * k) + 1, 0) != whole;
        check::that((differ > 0) == rounds, "%s of %s in other shards: %u differ",
                    fastreduce_operator_name(op), fastreduce_type_name(type), differ);
    }
    workspace_is_clean("shards");
}

/* AUTO's bits depend on neither address, nor workspace, nor GPU. */
template <class T>
static void same_bits()
{
    const fastreduce_type type = type_of<T>;
    std::vector<size_t> all = {77, 20000 / sizeof(T), 90000 / sizeof(T)};
    if (thorough)
        all.insert(all.end(), {(size_t(3) << 20) / sizeof(T), (size_t(40) << 20) / sizeof(T)});
    for (size_t n : all) {
        const std::vector<T> values = make<T>(data::usual, n, 11),
                             factors = make<T>(data::near_one, n, 11);
        u64 wanted[operators] = {};
        for (size_t offset = 0; offset < most_offsets<T>; ++offset) {
            if (!thorough && n > 77 && offset > 1 && offset + 1 < most_offsets<T>) continue;
            const bool pooled = offset % 2 == 0;
            fastreduce_config config = {};
            config.workspace = pooled ? nullptr : workspace().data();
            config.workspace_bytes = pooled ? 0 : FASTREDUCE_WORKSPACE_BYTES;
#ifdef SIMT_MACHINE
            simt::gpu gpu;
            gpu.number = 1 + static_cast<int>(offset);
            gpu.multiprocessors = offset ? 7 * gpu.number : 132;
            simt::set_gpu(gpu);
#endif
            const exact_input<T> input(values, offset), for_products(factors, offset);
            for (unsigned k = 0; k < operators; ++k) {
                const fastreduce_operator op = operator_of(k);
                const T *const from = (op == FASTREDUCE_PRODUCT ? for_products : input).data();
                const std::string what = name_of(type, op, config, "usual", n);
                const u64 got = reduced(what.c_str(), from, n, type, op, &config);
                if (offset == 0) wanted[k] = got;
                check::that(got == wanted[k], "%s, offset %zu: %llx, not %llx", what.c_str(),
                            offset, got, wanted[k]);
            }
        }
    }
#ifdef SIMT_MACHINE
    simt::set_gpu(simt::gpu());
#endif
    workspace_is_clean("same bits");
}

/* A length in GPU memory: the bits are those of a call that is told it, whatever it may be at most.
 * More than that counts as that. */
template <class T>
static void counted()
{
    const fastreduce_type type = type_of<T>;
    std::vector<size_t> bounds = {1, 40, 20000 / sizeof(T), 90000 / sizeof(T)};
    if (thorough)
        bounds.insert(bounds.end(), {(size_t(2) << 20) / sizeof(T), (size_t(5) << 20) / sizeof(T)});
    if (thorough && sizeof(T) == 4) bounds.push_back((size_t(300) << 20) / sizeof(T));
    constexpr size_t small_tiles = (size_t(2) << 20) / sizeof(T); /* at the most */
    if (std::is_same<T, float>::value) bounds.push_back(small_tiles + 9);
    check::buffer<size_t> count(1);
    for (size_t bound : bounds) {
        const size_t offset = bound % 3;
        check::buffer<T> input(bound + offset, 0);
        input.set(make<T>(data::near_one, bound + offset, 12));
        const T *const from = input.data() + offset;
        for (unsigned k = 0; k < operators; ++k) {
            const fastreduce_operator op = operator_of(k);
            for (size_t n : {size_t(0), size_t(1), bound / 3, bound - 1, bound, 16384 / sizeof(T),
                             16384 / sizeof(T) + 1, 65536 / sizeof(T), 65536 / sizeof(T) + 1,
                             small_tiles, small_tiles + 1, ~size_t(0)}) {
                if (n > bound && n < ~size_t(0)) continue;
                if (bound > small_tiles && !thorough &&
                    (op != FASTREDUCE_PRODUCT || n / 2 != small_tiles / 2))
                    continue;
                fastreduce_config config = {};
                config.workspace = workspace().data();
                config.workspace_bytes = FASTREDUCE_WORKSPACE_BYTES;
                if (n == bound / 3 && fastreduce_supports(type, op, FASTREDUCE_EXACT))
                    config.kernel = FASTREDUCE_EXACT;
                const std::string what = name_of(type, op, config, "counted", n);
                const u64 wanted =
                    reduced(what.c_str(), from, std::min(n, bound), type, op, &config);
                count.set({n});
                config.n_on_device = count.data();
                const u64 got = reduced(what.c_str(), from, bound, type, op, &config);
                check::that(got == wanted, "%s of at most %zu: %llx, not %llx", what.c_str(), bound,
                            got, wanted);
            }
        }
    }
    workspace_is_clean("counted");
}

/* Past the tiles that a block each takes: a pattern of large integers again and again, whose sums
 * are known without looking at all of them. */
template <class T>
static void long_array()
{
    const size_t period = 65521, n = (size_t(300) << 20) / sizeof(T) + 3;
    std::vector<T> pattern(period);
    for (size_t i = 0; i < period; ++i)
        pattern[i] = static_cast<T>(std::numeric_limits<T>::max() - static_cast<T>(i * i % 11));
    pattern[1000] = 0;
    pattern[2000] = std::numeric_limits<T>::max();
    check::buffer<T> input(n + 1);
    T *const from = input.data() + 1;
    CUDA(cudaMemcpy(from, pattern.data(), period * sizeof(T), cudaMemcpyHostToDevice));
    for (size_t done = period; done < n; done *= 2)
        CUDA(cudaMemcpy(from + done, from, std::min(done, n - done) * sizeof(T),
                        cudaMemcpyDeviceToDevice));
    u64 sum = 0, squares = 0, nonzero = 0;
    size_t greatest = 0;
    for (size_t i = 0; i < period; ++i) {
        const u64 times = n / period + (i < n % period), x = static_cast<u64>(pattern[i]);
        sum += times * x;
        squares += times * (x * x);
        nonzero += times * (x != 0);
        if (pattern[i] > pattern[greatest]) greatest = i;
    }
    const u64 most = static_cast<u64>(pattern[greatest]);
    const struct {
        fastreduce_operator op;
        u64 wanted;
    } cases[] = {{FASTREDUCE_SUM, sum},         {FASTREDUCE_SUM_ABS, sum},
                 {FASTREDUCE_PRODUCT, 0},       {FASTREDUCE_SUM_SQUARES, squares},
                 {FASTREDUCE_MIN, 0},           {FASTREDUCE_MAX, most},
                 {FASTREDUCE_MAX_ABS, most},    {FASTREDUCE_ARGMIN, 1000},
                 {FASTREDUCE_ARGMAX, greatest}, {FASTREDUCE_COUNT_NONZERO, nonzero}};
    for (const auto &c : cases) {
        fastreduce_config config = {};
        config.workspace = workspace().data();
        config.workspace_bytes = FASTREDUCE_WORKSPACE_BYTES;
        const std::string what = name_of(type_of<T>, c.op, config, "long", n);
        const u64 got = reduced(what.c_str(), from, n, type_of<T>, c.op, &config);
        check::that(got == c.wanted, "%s: %llx, not %llx", what.c_str(), got, c.wanted);
    }
}

/* Sums at the middle between two 16-bit floats, and beside it: `reduced` rounds them. */
template <class T>
static void ties_of_16_bits()
{
    constexpr u64 infinity = infinity_bits<T>, one = infinity & -infinity;
    const u64 half_unit = type_of<T> == FASTREDUCE_F16 ? 11 : 8; /* binades below the first bit */
    for (u64 r = 0; r < 200; ++r) {
        const u64 exponent = 21 + check::mix(r, 5) % (infinity / one - 21),
                  sign = r % 2 ? sign_bit<T> : 0, below = r % 3 == 1 ? sign ^ sign_bit<T> : sign;
        const std::vector<T> x = {from_bits<T>(sign | exponent * one | check::mix(r, 6) % one),
                                  from_bits<T>(sign | (exponent - half_unit) * one),
                                  from_bits<T>(r % 3 == 2 ? sign : below | (exponent - 20) * one)};
        reduced("ties of 16 bits", exact_input<T>(x, r % 2).data(), 3, type_of<T>, FASTREDUCE_SUM,
                nullptr);
    }
}

template <class T>
static void of_type()
{
    if (!asked_for(fastreduce_type_name(type_of<T>))) return;
    nothing<T>();
    sizes<T>();
    ties<T>();
    if constexpr (is_float<T> && sizeof(T) == 2) ties_of_16_bits<T>();
    if constexpr (is_float<T>) specials<T>();
    if constexpr (is_float<T>) mean_of_zeros<T>();
    if constexpr (is_float<T>) not_finite<T>();
    if constexpr (is_float<T> && type_of<T> != FASTREDUCE_F64)
        if (thorough) mean_of_many<T>();
    if constexpr (is_float<T> && type_of<T> != FASTREDUCE_F16) norms<T>();
    if constexpr (!is_float<T> && sizeof(T) == 8) { /* a sum of 65 bits, just beyond a tie */
        const T half = T(u64(1) << 63), minus = std::is_signed<T>::value ? T(-1) : T(1);
        every_call<T>("beyond a tie", {half, half, T(minus * 2048), minus}, 1);
        every_call<T>("65 bits", {half, half}, 0);
    }
    pairwise_bits<T>();
    golden<T>();
    in_shards<T>();
    same_bits<T>();
    counted<T>();
    if constexpr (!is_float<T>)
        if (thorough) long_array<T>();
    workspace_is_clean(fastreduce_type_name(type_of<T>));
}

/* ---- Names and refusals ---- */

static bool takes(fastreduce_type type, fastreduce_operator op, fastreduce_kernel kernel)
{
    if (kernel == FASTREDUCE_EXACT) return is_exact(type, op);
    return kernel == FASTREDUCE_AUTO || (type == FASTREDUCE_F32 && op == FASTREDUCE_SUM);
}

static void names()
{
    /* what fastreduce.h says, by type: F32 ... U64 */
    const char *const types[] = {"f32", "f64", "f16", "bf16", "i8",  "i16",
                                 "i32", "i64", "u8",  "u16",  "u32", "u64"};
    const char *const ops[] = {"sum",    "product",  "min",           "max",     "argmin",
                               "argmax", "sum_abs",  "sum_squares",   "max_abs", "norm2",
                               "mean",   "variance", "count_nonzero", "min_max", "argmax_abs"};
    const size_t type_sizes[] = {4, 8, 2, 2, 1, 2, 4, 8, 1, 2, 4, 8};
    const auto output_is = [&](int type, int op, int wanted) {
        check::that(fastreduce_output_type(static_cast<fastreduce_type>(type),
                                           static_cast<fastreduce_operator>(op)) == wanted,
                    "the result's type of type %d, operator %d", type, op);
    };
    for (int type = -2; type < 70; ++type) {
        const bool is_type = type >= FASTREDUCE_F32 && type <= FASTREDUCE_U64;
        const auto the_type = static_cast<fastreduce_type>(type);
        check::that(std::strcmp(fastreduce_type_name(the_type),
                                is_type ? types[type - 1] : "unknown") == 0 &&
                        fastreduce_type_size(the_type) == (is_type ? type_sizes[type - 1] : 0),
                    "name or size of type %d", type);
        const bool f = type <= FASTREDUCE_BF16, is_signed = !f && type <= FASTREDUCE_I64;
        const int sum = type == FASTREDUCE_F64 ? FASTREDUCE_F64
                        : f                    ? FASTREDUCE_F32
                        : is_signed            ? FASTREDUCE_I64
                                               : FASTREDUCE_U64,
                  magnitudes = f ? sum : FASTREDUCE_U64, mean = f ? sum : FASTREDUCE_F64,
                  outputs[] = {sum,
                               sum,
                               type,
                               type,
                               FASTREDUCE_I64,
                               FASTREDUCE_I64,
                               magnitudes,
                               magnitudes,
                               is_signed ? type + 4 : type,
                               mean,
                               mean,
                               mean,
                               FASTREDUCE_U64,
                               type,
                               FASTREDUCE_I64};
        for (int op = -2; op < 20; ++op) {
            const bool is_operator = op >= 0 && op < static_cast<int>(operators);
            output_is(type, op, is_type && is_operator ? outputs[op] : 0);
            for (int kernel = -1; kernel <= FASTREDUCE_EXACT + 1; ++kernel) {
                const auto the_operator = static_cast<fastreduce_operator>(op);
                const auto the_kernel = static_cast<fastreduce_kernel>(kernel);
                const bool wanted = is_type && is_operator && kernel >= 0 &&
                                    kernel <= FASTREDUCE_EXACT &&
                                    takes(the_type, the_operator, the_kernel);
                check::that(fastreduce_supports(the_type, the_operator, the_kernel) == wanted,
                            "type %d, operator %d, kernel %d: %s", type, op, kernel,
                            wanted ? "not supported" : "supported");
            }
        }
    }
    for (int op = -2; op < 70; ++op)
        check::that(
            std::strcmp(fastreduce_operator_name(static_cast<fastreduce_operator>(op)),
                        op >= 0 && op < static_cast<int>(operators) ? ops[op] : "unknown") == 0,
            "name of operator %d", op);
}

static void refusals()
{
    check::buffer<unsigned char> input(64), output(16, 0), scratch(16);
    input.fill(1);
    unsigned char *const in = input.data(), *const out = output.data();
    const auto refused = [&](const char *what, int wanted, const void *from, void *to, size_t n,
                             int type, int op, const fastreduce_config &config) {
        output.fill(0x7b);
        const fastreduce_status status =
            fastreduce_reduce(from, to, n, static_cast<fastreduce_type>(type),
                              static_cast<fastreduce_operator>(op), &config);
        CUDA(cudaDeviceSynchronize());
        check::that(status == wanted, "%s, type %d, operator %d: status %d, not %d", what, type, op,
                    status, wanted);
        check::that(output.every_byte_is(0x7b) && output.canaries_alive() &&
                        input.every_byte_is(1) && input.canaries_alive(),
                    "%s, type %d, operator %d: memory was written", what, type, op);
    };
    const int invalid = FASTREDUCE_ERROR_INVALID_ARGUMENT,
              unsupported = FASTREDUCE_ERROR_UNSUPPORTED;
    const fastreduce_config none = {};
    for (int type : {-1, 0, FASTREDUCE_U64 + 1, 1000})
        for (int op : {0, 4, 12}) refused("no such type", invalid, in, out, 2, type, op, none);
    for (int op : {-1, static_cast<int>(operators), 1000})
        for (int type : {1, 5, 12})
            refused("no such operator", invalid, in, out, 2, type, op, none);
    for (int number = FASTREDUCE_F32; number <= FASTREDUCE_U64; ++number)
        for (int op = 0; op < static_cast<int>(operators); ++op) {
            const fastreduce_type type = static_cast<fastreduce_type>(number),
                                  result = fastreduce_output_type(
                                      type, operator_of(static_cast<unsigned>(op)));
            const size_t size = fastreduce_type_size(type),
                         result_size = fastreduce_type_size(result);
            for (size_t off = 1; off < size; off *= 2)
                refused("misaligned input", invalid, in + off, out, 2, type, op, none);
            for (size_t off = 1; off < result_size; off *= 2)
                refused("misaligned output", invalid, in, out + off, 2, type, op, none);
            refused("null input", invalid, nullptr, out, 2, type, op, none);
            refused("null output", invalid, in, nullptr, 2, type, op, none);
            refused("output in the input", invalid, in, in + 8, 9, type, op, none);
            if (result_size > size)
                refused("input in the output", invalid, out + result_size - size, out, 1, type, op,
                        none);
            refused("more bytes than there are", invalid, in, out, ~size_t(0) / size + (size > 1),
                    type, op, none);
            fastreduce_config config = {};
            for (unsigned block_size : {1u, 16u, 48u, 100u, 2048u}) {
                config.block_size = block_size;
                refused("block size", invalid, in, out, 2, type, op, config);
            }
            config.block_size = 0;
            for (int kernel = -1; kernel <= FASTREDUCE_EXACT + 1; ++kernel) {
                config.kernel = static_cast<fastreduce_kernel>(kernel);
                if (kernel < 0 || kernel > FASTREDUCE_EXACT)
                    refused("no such kernel", invalid, in, out, 2, type, op, config);
                else if (!takes(type, operator_of(static_cast<unsigned>(op)), config.kernel)) {
                    refused("kernel", unsupported, in, out, 2, type, op, config);
                    refused("invalid before unsupported", invalid, nullptr, out, 2, type, op,
                            config);
                }
            }
            config.kernel = FASTREDUCE_AUTO;
            for (int kernel : {FASTREDUCE_AUTO, FASTREDUCE_V7, FASTREDUCE_EXACT})
                for (int other : {-1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 1000}) {
                    config.kernel = static_cast<fastreduce_kernel>(kernel);
                    config.output_type = static_cast<fastreduce_type>(other);
                    const bool as_double = kernel == FASTREDUCE_EXACT && other == FASTREDUCE_F64 &&
                                           result == FASTREDUCE_F32,
                               as_element = kernel != FASTREDUCE_V7 && other == type &&
                                            result == FASTREDUCE_F32;
                    if (other != result && !as_double && !as_element)
                        refused("output type", unsupported, in, out, 2, type, op, config);
                }
            config.kernel = FASTREDUCE_AUTO;
            config.output_type = result;
            config.workspace = in;
            config.workspace_bytes = 16;
            refused("workspace in the input", invalid, in, out, 2, type, op, config);
            config.workspace = in + 33;
            refused("misaligned workspace", invalid, in, out, 2, type, op, config);
            config.workspace = in;
            refused("workspace too small", FASTREDUCE_ERROR_WORKSPACE_TOO_SMALL,
                    reinterpret_cast<const void *>(uintptr_t(4096)), out, 1 << 20, type, op,
                    config); /* nothing reads there */
            config = none;
            config.n_on_device = reinterpret_cast<const size_t *>(in + 4);
            refused("misaligned count", invalid, in, out, 2, type, op, config);
            config.n_on_device = reinterpret_cast<const size_t *>(out + 8);
            refused("count in the output", invalid, in, out + 8, 2, type, op, config);
            config.n_on_device = reinterpret_cast<const size_t *>(scratch.data() + 8);
            config.workspace = scratch.data();
            config.workspace_bytes = 16;
            refused("count in the workspace", invalid, in, out, 2, type, op, config);
            config.n_on_device = reinterpret_cast<const size_t *>(in);
            config.kernel = FASTREDUCE_V7;
            refused("a count for the ladder", unsupported, in + 8, out, 2, type, op, config);
            config = none;
            const size_t second_size = fastreduce_type_size(
                fastreduce_second_type(type, operator_of(static_cast<unsigned>(op))));
            config.second_output = scratch.data();
            if (second_size == 0) {
                refused("no second result", unsupported, in, out, 2, type, op, config);
                refused("invalid before no second", invalid, nullptr, out, 2, type, op, config);
            } else {
                for (const fastreduce_kernel kernel : {FASTREDUCE_V7, FASTREDUCE_EXACT}) {
                    config.kernel = kernel;
                    refused("a second result, kernel", unsupported, in, out, 2, type, op, config);
                }
                config.kernel = FASTREDUCE_AUTO;
                for (size_t off = 1; off < second_size; off *= 2) {
                    config.second_output = scratch.data() + off;
                    refused("misaligned second output", invalid, in, out, 2, type, op, config);
                }
                config.second_output = out + 8 - second_size;
                refused("second output in the output", invalid, in, out + 8 - result_size, 2, type,
                        op, config);
                config.second_output = in + 8;
                refused("second output in the input", invalid, in, out, 9, type, op, config);
                config.second_output = scratch.data() + 8;
                config.workspace = scratch.data();
                config.workspace_bytes = 16;
                refused("second output in the workspace", invalid, in, out, 2, type, op, config);
                config.workspace = nullptr;
                config.n_on_device = reinterpret_cast<const size_t *>(scratch.data() + 8);
                refused("count in the second output", invalid, in, out, 2, type, op, config);
            }
            config = none;
            config.output_type = result;
            check::buffer<unsigned char> right(8);
            check::that(fastreduce_reduce(in, right.data(), 2, type,
                                          operator_of(static_cast<unsigned>(op)), &config) == 0,
                        "type %d, operator %d: its own output type is refused", type, op);
        }
    CUDA(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
    check::need_device();
    const bool quick = parse_parts(argc, argv);
    thorough = on_gpu && !quick;
    if (asked_for("refusals")) {
        names();
        refusals();
    }
#ifdef SIMT_MACHINE
    norm_of_many();
#endif
    for_each_type<f16, bf16>([](auto x) { of_type<decltype(x)>(); });
    return check::finish("operators");
}

/* FASTREDUCE_SKIP_NAN: of every type of floats and every operator, by AUTO and EXACT, of arrays,
 * rows, columns and segments, with second results and with n on the device: the bits of the
 * elements that are left; refusals. Inputs end where their memory does. Parts: names of types,
 * `refusals`. */
#include <cuda_runtime.h>
#define FASTREDUCE_WITH_SHAPES
#define FASTREDUCE_WITH_SKIP_NAN
#define FASTREDUCE_WITH_EXACT_PRODUCTS
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_NO_LADDER
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/dynamic_shared.h"
#include "../common/elements.h"
#include "../common/exact_input.h"
#include "../common/order.h"
#include "../common/pairwise.h"
#include "../common/parts.h"
#include "../common/turns.h"

namespace detail = fastreduce::detail;

/* ---- Data ---- */

enum class nans { none, some, most, all, first, beside_least, beside_greatest };
constexpr nans all_nans[] = {nans::some, nans::first,        nans::most,           nans::all,
                             nans::none, nans::beside_least, nans::beside_greatest};

template <class T>
static T nan_of(u64 seed)
{
    const u64 sign = seed % 2 ? sign_bit<T> : 0;
    return from_bits<T>(sign | infinity_bits<T> | (1 + seed % 5));
}
template <class T>
static bool is_nan(T x)
{
    return (bits_of(x) & ~sign_bit<T>) > infinity_bits<T>;
}

template <class T>
static std::vector<T> make(nans kind, size_t n, u64 seed)
{
    std::vector<T> all(n);
    for (size_t i = 0; i < n; ++i) {
        const u64 z = check::mix(i, seed);
        const double number = static_cast<double>(static_cast<long long>(z >> 20 & 0xfff) - 1500);
        const bool is_one = kind == nans::some ? z % 7 == 2 : kind == nans::most && z % 9 != 4;
        all[i] = ::number<T>(z % 11 == 3 ? 0 : number / 512);
        if (z % 23 == 6) all[i] = from_bits<T>(sign_bit<T>);
        if (kind >= nans::beside_least)
            all[i] = z % 5 == 1 && i > 2 ? extreme<T>(kind == nans::beside_greatest) : nan_of<T>(z);
        if (is_one || kind == nans::all || (kind == nans::first && i == 0)) all[i] = nan_of<T>(z);
    }
    return all;
}

/* ---- What is right ---- */

template <class T>
struct wanted {
    std::vector<T> left; /* without NaN */
    std::vector<size_t> index;
    std::vector<T> given;

    explicit wanted(const std::vector<T> &x) : given(x)
    {
        for (size_t i = 0; i < x.size(); ++i)
            if (!is_nan(x[i])) {
                left.push_back(x[i]);
                index.push_back(i);
            }
    }
    using Result = std::conditional_t<std::is_same<T, double>::value, double, float>;

    std::vector<T> replaced(T by) const
    {
        std::vector<T> all = given;
        for (T &x : all)
            if (is_nan(x)) x = by;
        return all;
    }
    T pivot() const { return given.empty() || is_nan(given[0]) ? T() : given[0]; }
    pairwise::moments moments() const
    {
        const std::vector<T> all = replaced(pivot());
        return all.empty() ? pairwise::moments() : moments_of(all);
    }
    static pairwise::moments moments_of(const std::vector<T> &all)
    {
        using Same =
            std::conditional_t<std::is_same<T, f16>::value, pairwise::f16,
                               std::conditional_t<std::is_same<T, bf16>::value, pairwise::bf16, T>>;
        return pairwise::all_moments(pairwise::elements<Same>{all.data()}, all.size());
    }
    u64 result(fastreduce_operator op, bool exact, fastreduce_type as) const
    {
        constexpr fastreduce_type type = type_of<T>;
        u64 bits = 0;
        if (!exact && as == type && pairwise::has_16_bits(type, op))
            return pairwise::nearest(type, result(op, false, FASTREDUCE_F32));
        if (exact) {
            fastreduce_host_reduce(left.data(), &bits, left.size(), type, op, as);
        } else if (op == FASTREDUCE_MEAN) {
            Result sum = 0;
            const std::vector<T> all = replaced(T());
            pairwise::result(type, FASTREDUCE_SUM, all.data(), all.size(), &sum);
            pairwise::store(&bits, static_cast<Result>(static_cast<double>(sum) /
                                                       static_cast<double>(left.size())));
        } else if (op == FASTREDUCE_VARIANCE) {
            pairwise::store(&bits, static_cast<Result>(pairwise::variance(moments(), left.size())));
        } else if (op == FASTREDUCE_ARGMIN || op == FASTREDUCE_ARGMAX ||
                   op == FASTREDUCE_ARGMAX_ABS) {
            fastreduce_host_pairwise(left.data(), &bits, left.size(), type, op,
                                     FASTREDUCE_DEFAULT_TYPE);
            if (!left.empty()) bits = index[bits];
        } else {
            const std::vector<T> all =
                replaced(op == FASTREDUCE_PRODUCT ? number<T>(1) : number<T>(0));
            if (!pairwise::result(type, op, all.data(), all.size(), &bits))
                fastreduce_host_pairwise(left.data(), &bits, left.size(), type, op,
                                         FASTREDUCE_DEFAULT_TYPE);
        }
        return bits;
    }
    u64 second(fastreduce_operator op, bool exact) const
    {
        u64 bits = 0;
        if (op == FASTREDUCE_VARIANCE && exact) {
            return result(FASTREDUCE_MEAN, true, FASTREDUCE_DEFAULT_TYPE);
        }
        if (op == FASTREDUCE_VARIANCE)
            pairwise::store(&bits,
                            static_cast<Result>(static_cast<double>(real_of(pivot())) +
                                                moments().sum / static_cast<double>(left.size())));
        else
            pairwise::second(type_of<T>, op, left.data(), left.size(), &bits);
        return bits;
    }
};

template <class T>
static bool same(fastreduce_type type, u64 got, u64 right)
{
    return got == right || (type < FASTREDUCE_I8 && std::isnan(result_of(type, got)) &&
                            std::isnan(result_of(type, right)));
}

/* ---- Calls ---- */

template <class T>
class results
{
  public:
    results(fastreduce_operator op, bool exact, size_t count)
        : op_(op), exact_(exact), count_(count),
          type_(pairwise::has_16_bits(type_of<T>, op) && count % 2
                    ? type_of<T>
                    : fastreduce_output_type(type_of<T>, op)),
          size_(fastreduce_type_size(type_)),
          second_size_(fastreduce_type_size(fastreduce_second_type(type_of<T>, op))),
          output_(count * size_), second_(count * 8), workspace_(FASTREDUCE_WORKSPACE_BYTES)
    {
        static unsigned turn = 0;
        workspace_.fill(0);
        take_turns(config, workspace_.data(), 3);
        config.kernel = exact ? FASTREDUCE_EXACT : FASTREDUCE_AUTO;
        config.options = FASTREDUCE_SKIP_NAN;
        config.output_type = type_;
        if (exact && op != FASTREDUCE_VARIANCE) second_size_ = 0;
        if (++turn % 3 == 0) second_size_ = 0;
        if (second_size_ > 0) config.second_output = second_.data();
        order::next();
    }
    unsigned char *output() { return output_.data(); }

    /* of(r) returns the elements of result r */
    template <class Of>
    void compare(fastreduce_status status, const char *what, const Of &of)
    {
        CUDA(cudaDeviceSynchronize());
        order::usual();
        char text[200];
        std::snprintf(text, sizeof text, "%s %s by %s, %s", fastreduce_type_name(type_of<T>),
                      fastreduce_operator_name(op_), exact_ ? "EXACT" : "AUTO", what);
        check::that(status == 0, "%s: status %d %s", text, status, order::report());
        check::that(output_.canaries_alive() && second_.canaries_alive() &&
                        workspace_.every_byte_is(0),
                    "%s: a write outside, or a workspace left dirty", text);
        const std::vector<unsigned char> first = output_.get(), second = second_.get();
        for (size_t r = 0; r < count_; ++r) {
            const wanted<T> right(of(r));
            u64 got[2] = {};
            std::memcpy(got, &first[r * size_], size_);
            std::memcpy(got + 1, &second[r * second_size_], second_size_);
            const u64 bits = right.result(op_, exact_, type_);
            u64 on_host[2] = {};
            fastreduce_config given = config;
            given.second_output = second_size_ > 0 ? on_host + 1 : nullptr;
            given.n_on_device = nullptr;
            const fastreduce_status of_host = fastreduce_reduce_on_host(
                right.given.data(), on_host, right.given.size(), type_of<T>, op_, &given);
            check::that(of_host == 0 && same<T>(type_, on_host[0], bits),
                        "%s, on the CPU, of %zu elements: status %d, %llx, not %llx", text,
                        right.given.size(), of_host, on_host[0], bits);
            check::that(same<T>(type_, got[0], bits),
                        "%s, result %zu of %zu, of %zu elements, %zu left: %llx, not %llx", text, r,
                        count_, right.given.size(), right.left.size(), got[0], bits);
            if (second_size_ == 0) continue;
            const u64 other = right.second(op_, exact_);
            check::that(same<T>(fastreduce_second_type(type_of<T>, op_), on_host[1], other),
                        "%s, second result on the CPU: %llx, not %llx", text, on_host[1], other);
            check::that(same<T>(fastreduce_second_type(type_of<T>, op_), got[1], other),
                        "%s, second result %zu of %zu, of %zu elements, %zu left: %llx, not %llx",
                        text, r, count_, right.given.size(), right.left.size(), got[1], other);
        }
    }

    fastreduce_config config = {};

  private:
    fastreduce_operator op_;
    bool exact_;
    size_t count_;
    fastreduce_type type_;
    size_t size_, second_size_;
    check::buffer<unsigned char> output_, second_, workspace_;
};

template <class T>
static void array(fastreduce_operator op, bool exact, nans kind, size_t n, size_t offset)
{
    const std::vector<T> x = make<T>(kind, n, n + offset);
    const exact_input<T> input(x, offset);
    check::buffer<size_t> length(1);
    results<T> all(op, exact, 1);
    size_t now = n;
    if (n % 3 == 1) {
        now = n - n / 4;
        length.set(&now);
        all.config.n_on_device = length.data();
    }
    all.compare(fastreduce_reduce(input.data(), all.output(), n, type_of<T>, op, &all.config),
                "an array", [&](size_t) { return std::vector<T>(x.begin(), x.begin() + now); });
}

template <class T>
static void shape(fastreduce_operator op, bool exact, nans kind, const fastreduce_shape &s)
{
    const size_t stride = s.stride ? s.stride : s.inner,
                 outer = s.outer_stride ? s.outer_stride : s.n * stride,
                 results_of = s.outer * s.inner;
    std::vector<T> x = make<T>(kind, (s.outer - 1) * outer + (s.n - 1) * stride + s.inner, s.n);
    const exact_input<T> input(x, s.n % 3);
    results<T> all(op, exact, results_of);
    char text[100];
    std::snprintf(text, sizeof text, "%zu x %zu x %zu", s.outer, s.n, s.inner);
    all.compare(fastreduce_reduce_axis(input.data(), all.output(), &s, type_of<T>, op, &all.config),
                text, [&](size_t r) {
                    std::vector<T> own(s.n);
                    for (size_t k = 0; k < s.n; ++k)
                        own[k] = x[r / s.inner * outer + r % s.inner + k * stride];
                    return own;
                });
}

template <class T>
static void segments(fastreduce_operator op, bool exact, nans kind, size_t below, size_t count)
{
    std::vector<int64_t> offsets(1);
    for (size_t s = 0; s < count; ++s) {
        const size_t most = s % 9 == 4 ? 9 * below : below;
        offsets.push_back(offsets[s] + static_cast<int64_t>(check::mix(s, below) % most));
    }
    const std::vector<T> x = make<T>(kind, static_cast<size_t>(offsets[count]), below);
    const exact_input<T> input(x, below % 3);
    const exact_input<int64_t> from(offsets, 0);
    results<T> all(op, exact, count);
    all.compare(fastreduce_reduce_segments(input.data(), all.output(), count, from.data(),
                                           type_of<T>, op, &all.config),
                "segments", [&](size_t s) {
                    return std::vector<T>(x.begin() + offsets[s], x.begin() + offsets[s + 1]);
                });
}

template <class T>
static void type()
{
    if constexpr (detail::holds(detail::built_types, type_of<T>)) {
        if (!asked_for(fastreduce_type_name(type_of<T>))) return;
        const std::vector<size_t> lengths = {
            0, 1, 2, 5, 16, 40, 300, 3001, on_gpu ? 500000u : 9000u};
        for (unsigned number = 0; number < operators; ++number)
            for (bool exact : {false, true}) {
                const fastreduce_operator op = operator_of(number);
                const fastreduce_kernel kernel = exact ? FASTREDUCE_EXACT : FASTREDUCE_AUTO;
                if (!fastreduce_supports(type_of<T>, op, kernel)) continue;
                size_t turn = number;
                for (size_t n : lengths)
                    for (nans kind : all_nans)
                        if (++turn % 3 == 0 || on_gpu || n == 40)
                            array<T>(op, exact, kind, n, turn % 4);
                for (const fastreduce_shape &s : {fastreduce_shape{9, 3, 1, 0, 0},
                                                  {7, 33, 1, 35, 1},
                                                  {5, 300, 1, 0, 1},
                                                  {3, 2500, 1, 2501, 1},
                                                  {1, 9, 50, 0, 0},
                                                  {1, 150, 33, 0, 37},
                                                  {3, 17, 5, 0, 0},
                                                  {1, on_gpu ? 9000u : 1200u, 4, 0, 0},
                                                  {40, on_gpu ? 9000u : 64u, 1, 0, 0}})
                    for (nans kind : all_nans)
                        if (on_gpu || ++turn % 4 == 0) shape<T>(op, exact, kind, s);
                for (size_t below : {5, 40, 700})
                    for (nans kind : all_nans)
                        if (on_gpu || ++turn % 4 == 0)
                            segments<T>(op, exact, kind, below, on_gpu ? 300 : 40);
            }
    }
}

/* ---- Refusals ---- */

/* What fastreduce_reduce_on_host refuses: it writes nothing then. */
static void refusals_on_host()
{
    const double x[] = {1, 2.5, -4};
    const size_t length = 3;
    double output[2] = {7, 8};
    fastreduce_config config = {};
    const auto refused = [&](const char *what, fastreduce_status wanted, fastreduce_operator op,
                             const void *from = nullptr, size_t n = 3) {
        const fastreduce_status got = fastreduce_reduce_on_host(from == nullptr ? x : from, output,
                                                                n, FASTREDUCE_F64, op, &config);
        check::that(got == wanted && output[0] == 7 && output[1] == 8,
                    "on the CPU, %s: status %d, not %d", what, got, wanted);
        config = {};
    };
    constexpr fastreduce_status invalid = FASTREDUCE_ERROR_INVALID_ARGUMENT,
                                unsupported = FASTREDUCE_ERROR_UNSUPPORTED;
    config.kernel = FASTREDUCE_V7;
    refused("V7", unsupported, FASTREDUCE_SUM);
    config.kernel = static_cast<fastreduce_kernel>(99);
    refused("no such kernel", invalid, FASTREDUCE_SUM);
    config.n_on_device = &length;
    refused("a length elsewhere", unsupported, FASTREDUCE_SUM);
    config.options = 2;
    refused("another option", unsupported, FASTREDUCE_SUM);
    config.options = 2;
    refused("another option, and a misaligned input", invalid, FASTREDUCE_SUM,
            reinterpret_cast<const char *>(x) + 1, 1);
    config.output_type = FASTREDUCE_F32;
    refused("another type of results", unsupported, FASTREDUCE_SUM);
    config.second_output = output + 1;
    refused("a second result of a sum", unsupported, FASTREDUCE_SUM);
    config.second_output = output;
    refused("a second output on the output", invalid, FASTREDUCE_ARGMAX);
    config.second_output = reinterpret_cast<char *>(output + 1) + 4;
    refused("a misaligned second output", invalid, FASTREDUCE_ARGMAX);
    config.kernel = FASTREDUCE_EXACT;
    config.second_output = output + 1;
    refused("an index by EXACT", unsupported, FASTREDUCE_ARGMAX);
    config.kernel = FASTREDUCE_EXACT;
    refused("a product by EXACT", unsupported, FASTREDUCE_PRODUCT);
    check::that(fastreduce_reduce_on_host(x, output, 3, FASTREDUCE_F64, FASTREDUCE_SUM, nullptr) ==
                        0 &&
                    output[0] == -0.5,
                "on the CPU, without a config: %g", output[0]);
}

static void refusals()
{
    check::buffer<float> x(64), y(64), output(16);
    check::buffer<fastreduce_accumulator> total(1);
    x.fill(0x11);
    y.fill(0x12);
    output.fill(0x7b);
    total.fill(0x7b);
    const fastreduce_shape rows = {4, 16, 1, 0, 0};
    const void *const buffers[] = {x.data(), y.data()};
    fastreduce_config config = {};
    config.options = FASTREDUCE_SKIP_NAN;
    const auto refused = [&](const char *what, fastreduce_status status) {
        CUDA(cudaDeviceSynchronize());
        check::that(status == FASTREDUCE_ERROR_UNSUPPORTED, "%s: status %d", what, status);
        check::that(output.every_byte_is(0x7b) && total.every_byte_is(0x7b), "%s: a write", what);
    };
    float *const to = output.data();
    constexpr fastreduce_type f32 = FASTREDUCE_F32;
    constexpr fastreduce_operator sum = FASTREDUCE_SUM;
    for (fastreduce_kernel kernel : {FASTREDUCE_AUTO, FASTREDUCE_EXACT}) {
        config.kernel = kernel;
        refused("a dot product", fastreduce_dot(x.data(), y.data(), to, 16, f32, &config));
        refused("dot products of rows",
                fastreduce_dot_axis(x.data(), y.data(), to, &rows, f32, &config));
        refused("a fold", fastreduce_fold(buffers, 2, to, 16, f32, sum, &config));
        refused("an accumulator", fastreduce_accumulate(x.data(), total.data(), 16, f32, &config));
    }
    config.kernel = FASTREDUCE_V7;
    refused("V7", fastreduce_sum_f32(x.data(), to, 16, &config));
    config.kernel = FASTREDUCE_AUTO;
    for (unsigned options : {2u, 3u, 1u << 31}) {
        config.options = options;
        refused("another option", fastreduce_sum_f32(x.data(), to, 16, &config));
        refused("another option of rows",
                fastreduce_reduce_axis(x.data(), to, &rows, f32, sum, &config));
    }
    config.options = FASTREDUCE_SKIP_NAN;
    if (!fastreduce_supports(FASTREDUCE_U8, sum, FASTREDUCE_AUTO)) return;
    check::that(fastreduce_reduce(x.data(), output.data(), 64, FASTREDUCE_U8, sum, &config) == 0,
                "integers have no NaN");
    CUDA(cudaDeviceSynchronize());
    u64 total_of_all = 0;
    std::memcpy(&total_of_all, output.get().data(), sizeof total_of_all);
    check::that(total_of_all == 64 * 0x11, "the sum of integers: %llu", total_of_all);
}

int main(int argc, char **argv)
{
    parse_parts(argc, argv);
    check::need_device();
    type<float>();
    type<double>();
    type<f16>();
    type<bf16>();
    if (asked_for("refusals")) {
        refusals_on_host();
        refusals();
    }
    return check::finish("skip_nan");
}

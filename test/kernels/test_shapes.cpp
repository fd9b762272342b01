/* fastreduce_reduce_axis and fastreduce_reduce_segments: rows, columns, middle axes and segments of
 * any length give, bit for bit, what fastreduce_reduce gives for the elements of each result; some
 * results also against exact or wider arithmetic. What is refused. */
#include <cuda_runtime.h>
#define FASTREDUCE_WITH_SHAPES
#define FASTREDUCE_IMPLEMENTATION
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/dynamic_shared.h"
#include "../common/elements.h"
#include "../common/exact_input.h"
#include "../common/geometry.h"
#include "../common/order.h"
#include "../common/pairwise.h"
#include "../common/parts.h"
#include "../common/turns.h"
#include <algorithm>
#include <array>
#include <chrono>
#include <unordered_map>

static bool thorough = on_gpu; /* the CPU machine and sanitizers take too long for all of it */
static bool quick = false;

using bytes = std::vector<unsigned char>;

constexpr unsigned those_built()
{
    unsigned those = 0;
    for (const auto &some : fastreduce::detail::built_operators) those |= some.bits;
    return those;
}
constexpr unsigned every_operator = those_built(),
                   product = every_operator & 1u << FASTREDUCE_PRODUCT;

/* Device memory that grows as it is needed. It outlives the CPU machine of its thread. */
class device_memory
{
  public:
    unsigned char *of(size_t size)
    {
        if (size > size_) {
            CUDA(cudaFree(memory_));
            CUDA(cudaMalloc(reinterpret_cast<void **>(&memory_), size));
            size_ = size;
        }
        return memory_;
    }

  private:
    unsigned char *memory_ = nullptr;
    size_t size_ = 0;
};

struct scratch {
    check::buffer<unsigned char> memory{FASTREDUCE_WORKSPACE_BYTES};
    scratch() { memory.fill(0); }
};
static check::buffer<unsigned char> &workspace()
{
    static scratch *const all = new scratch;
    return all->memory;
}

static void workspace_is_clean(const char *what)
{
    check::that(workspace().every_byte_is(0) && workspace().canaries_alive(),
                "%s: workspace left dirty, or a write outside", what);
}

/* ---- What is right --------------------------------------------------------------------------- */

/* fastreduce_reduce's results. The same elements come again and again, so all are kept, by a hash
 * of the elements. */
class flat_results
{
  public:
    struct entry {
        unsigned known = 0;
        std::array<u64, operators> bits = {}, second = {};
    };

    /* The results by these operators, at least. The entry stays where it is. */
    const entry *of(const unsigned char *elements, size_t n, fastreduce_type type, unsigned which)
    {
        const size_t size = fastreduce_type_size(type);
        entry &all = known_[hash(elements, n * size) ^ check::mix(n, type)];
        const unsigned missing = which & ~all.known;
        if (missing == 0) return &all;
        unsigned char *const input = input_.of(n * size + 1);
        u64 *const output = reinterpret_cast<u64 *>(output_.of(sizeof(u64) * operators));
        CUDA(cudaMemcpy(input, elements, n * size, cudaMemcpyHostToDevice));
        CUDA(cudaMemset(output, 0, sizeof(u64) * operators));
        fastreduce_config config = {};
        config.workspace = workspace_.memory.data(); /* which only these calls could leave dirty */
        config.workspace_bytes = FASTREDUCE_WORKSPACE_BYTES;
        for (unsigned k = 0; k < operators; ++k) {
            if ((missing >> k & 1) == 0) continue;
            const fastreduce_status status =
                fastreduce_reduce(input, output + k, n, type, operator_of(k), &config);
            check::that(status == 0, "fastreduce_reduce of %zu: status %d", n, status);
        }
        std::array<u64, operators> got;
        CUDA(cudaMemcpy(got.data(), output, sizeof got, cudaMemcpyDeviceToHost));
        for (unsigned k = 0; k < operators; ++k)
            if (missing >> k & 1) {
                all.bits[k] = got[k];
                pairwise::second(type, operator_of(k), elements, n, &all.second[k]);
            }
        all.known |= missing;
        return &all;
    }
    void forget() { known_.clear(); }

  private:
    static u64 hash(const unsigned char *data, size_t size)
    {
        u64 sum = size;
        for (size_t i = 0; i < size; i += sizeof(u64)) {
            u64 word = 0;
            std::memcpy(&word, data + i, std::min(sizeof word, size - i));
            sum = (sum ^ word) * 0xd6e8feb86659fd93ull;
            sum ^= sum >> 32;
        }
        return sum;
    }
    std::unordered_map<u64, entry> known_;
    device_memory input_, output_;
    scratch workspace_;
};
static flat_results &flat()
{
    static flat_results *const all = new flat_results;
    return *all;
}

static bool is_nan(fastreduce_type type, u64 bits)
{
    return type <= FASTREDUCE_BF16 && std::isnan(result_of(type, bits));
}

/* Where a CPU adds, and where a GPU adds doubles, the operands' order decides which NaN comes out,
 * and compilers swap them. Norms, means and variances of floats are made in doubles too. Extremes
 * have one NaN. */
static bool same(fastreduce_type type, fastreduce_operator op, u64 a, u64 b)
{
    const fastreduce_type result = fastreduce_output_type(type, op);
    const bool selects = op == FASTREDUCE_MIN || op == FASTREDUCE_MAX || op == FASTREDUCE_MIN_MAX ||
                         op == FASTREDUCE_MAX_ABS;
    const bool doubles = result == FASTREDUCE_F64 || op == FASTREDUCE_NORM2 ||
                         op == FASTREDUCE_MEAN || op == FASTREDUCE_VARIANCE;
    if (a == b) return true;
    return !selects && (!on_gpu || doubles) && is_nan(result, a) && is_nan(result, b);
}

/* ---- Calls ----------------------------------------------------------------------------------- */

/* What both functions have in common: how many results there are, and of what they are. */
struct many_results {
    fastreduce_type type;
    size_t count;
    std::string what;
    std::vector<const flat_results::entry *> wanted; /* of each result */
};

/* Calls by one operator: `call` has an output and a config. */
template <class Call>
static void compare(const many_results &all, fastreduce_operator op, const Call &call)
{
    const char *const name = fastreduce_operator_name(op);
    static unsigned turn = 0;
    const bool rounds = pairwise::has_16_bits(all.type, op) && turn % 5 < 2;
    const size_t size =
        fastreduce_type_size(rounds ? all.type : fastreduce_output_type(all.type, op));
    check::buffer<unsigned char> output(all.count * size, size); /* aligned to no more */
    output.fill(0x7b);
    const size_t second_size = fastreduce_type_size(fastreduce_second_type(all.type, op));
    const bool has_second = second_size > 0 && ++turn % 4 > 0;
    check::buffer<unsigned char> second(all.count * second_size, second_size);
    fastreduce_config config = {};
    take_turns(config, workspace().data(), 4);
    second.fill(0x7b);
    if (has_second) config.second_output = second.data();
    if (rounds) config.output_type = all.type;
    order::next();
#ifdef SIMT_MACHINE
    const size_t allocations = simt::live_allocations();
#endif
    const fastreduce_status status = call(
        output.data(), config.workspace == nullptr && !has_second && !rounds ? nullptr : &config);
    CUDA(cudaDeviceSynchronize());
#ifdef SIMT_MACHINE
    check::that(simt::live_allocations() == allocations, "%s of %s: memory of the pool is lost",
                name, all.what.c_str());
    simt::set_gpu(simt::gpu());
#endif
    order::usual();
    check::that(status == 0, "%s of %s: status %d", name, all.what.c_str(), status);
    check::that(output.canaries_alive() && second.canaries_alive(),
                "%s of %s: a write outside the output", name, all.what.c_str());
    const auto compare_bits = [&](const char *which, const bytes &got, size_t bytes_each,
                                  const auto &wanted, const auto &are_same) {
        size_t wrong = 0, first = 0;
        u64 bits = 0, bits_of_first = 0;
        for (size_t k = all.count; k-- > 0;) {
            std::memcpy(&bits, got.data() + k * bytes_each, bytes_each);
            if (are_same(bits, wanted(k))) continue;
            ++wrong;
            first = k;
            bits_of_first = bits;
        }
        check::that(wrong == 0, "%s%s of %s: %zu of %zu results, the first %zu: %llx, not %llx",
                    name, which, all.what.c_str(), wrong, all.count, first, bits_of_first,
                    wrong ? wanted(first) : 0);
    };
    compare_bits(
        rounds ? ", rounded," : "", output.get(), size,
        [&](size_t k) {
            const u64 bits = all.wanted[k]->bits[op];
            return rounds ? pairwise::nearest(all.type, bits) : bits;
        },
        [&](u64 a, u64 b) {
            if (rounds) return a == b || (is_nan(all.type, a) && is_nan(all.type, b));
            return same(all.type, op, a, b);
        });
    const fastreduce_type mean = fastreduce_second_type(all.type, op);
    if (has_second)
        compare_bits(
            ", the second", second.get(), second_size,
            [&](size_t k) { return all.wanted[k]->second[op]; },
            [&](u64 a, u64 b) {
                return a == b || (op == FASTREDUCE_VARIANCE && is_nan(mean, a) && is_nan(mean, b));
            });
    else
        check::that(second.every_byte_is(0x7b), "%s of %s: a second result", name,
                    all.what.c_str());
}

/* What fastreduce_reduce gave against arithmetic that shares nothing with it: were all wrong in the
 * same way, nothing else here would show it. */
template <class T>
static void check_oracle(const many_results &all, const T *elements, size_t n,
                         const flat_results::entry &got, unsigned which)
{
    const oracle<T> right(std::vector<T>(elements, elements + n));
    for (unsigned k = 0; k < operators; ++k) {
        const fastreduce_operator op = operator_of(k);
        if ((which >> k & 1) == 0) continue;
        answer wanted = right.of(op, check::auto_depth);
        if (std::isnan(wanted.value) && (op == FASTREDUCE_MIN || op == FASTREDUCE_MAX ||
                                         op == FASTREDUCE_MIN_MAX || op == FASTREDUCE_MAX_ABS))
            wanted = {true, sign_bit<T> - 1, 0, 0};
        check::that(agrees(wanted, fastreduce_output_type(all.type, op), got.bits[k]),
                    "%s of %s: %llx, not %llx (%Lg, error %Lg)", fastreduce_operator_name(op),
                    all.what.c_str(), got.bits[k], wanted.bits, wanted.value, wanted.error);
    }
}

template <class T>
static void check_unchanged(const many_results &all, const T *input, const std::vector<T> &values)
{
    std::vector<T> after(values.size());
    if (values.empty()) return;
    CUDA(cudaMemcpy(after.data(), input, values.size() * sizeof(T), cudaMemcpyDeviceToHost));
    check::that(std::memcmp(static_cast<const void *>(after.data()), values.data(),
                            values.size() * sizeof(T)) == 0,
                "%s: the input was written", all.what.c_str());
}

/* ---- Data ------------------------------------------------------------------------------------ */

/* Kinds of elements, of which each case has one: those that tell one order of additions from
 * another, ties, and with `specials` here and there NaN, infinities, -0 and denormals. */
struct contents {
    data kind;
    bool specials;
    unsigned which; /* operators that it is meant for */
    const char *name;
    unsigned known; /* of these, those with an oracle: a product of denormals has none */
};

template <class T>
static contents contents_of(unsigned turn)
{
    const unsigned others = every_operator & ~product;
    if (!is_float<T>) {
        const contents all[] = {{data::usual, false, every_operator, "usual", every_operator},
                                {data::few, false, every_operator, "few", every_operator},
                                {data::near_one, false, every_operator, "odd", every_operator},
                                {data::wide, false, every_operator, "wide", every_operator}};
        return all[turn % (quick ? 3 : 4)];
    }
    const contents all[] = {{data::usual, false, others, "usual", others},
                            {data::usual, true, others, "specials", others},
                            {data::near_one, false, product, "near one", product},
                            {data::few, false, others, "few", others},
                            {data::wide, false, others, "wide", others},
                            {data::near_one, true, product, "near one, specials", 0},
                            {data::mixed, false, others, "mixed", others}};
    return all[turn % (quick ? 4 : 7)];
}
constexpr unsigned most_contents = 7;

/* Elements of one result. The same `pattern` has the same elements everywhere. */
template <class T>
static std::vector<T> make(const contents &what, size_t n, u64 pattern)
{
    std::vector<T> values = make<T>(what.kind, n, 1000 + pattern);
    if constexpr (is_float<T>)
        if (what.specials && pattern % 4 != 3) {
            const u64 infinity = infinity_bits<T>, sign = sign_bit<T>,
                      all[] = {0,
                               sign,
                               1,
                               sign | 1,
                               infinity,
                               infinity | sign,
                               infinity | infinity >> 1,
                               infinity | sign | 1};
            /* without NaN, without infinity, with all of them */
            const u64 kinds = pattern % 4 == 0 ? 4 : pattern % 4 == 1 ? 6 : 8;
            for (size_t k = 0; k < n / 40 + 1 && n > 0; ++k)
                values[check::mix(k, pattern) % n] =
                    from_bits<T>(all[check::mix(k, pattern + 1) % kinds]);
        }
    return values;
}

/* ---- Axes ------------------------------------------------------------------------------------ */

/* Few results have elements of their own: the same come again, in no order, so that what is right
 * need not be computed for all. */
constexpr u64 most_patterns = 5;
static u64 patterns(size_t n) { return quick ? (n <= 16 ? 3 : 2) : n <= 40 ? most_patterns : 3; }

/* fastreduce_reduce_axis with AUTO, as if a launch could have so many blocks only, and a workspace
 * so many words. */
static size_t launch_blocks = SIZE_MAX, launch_words = fastreduce::detail::workspace_words;
static fastreduce_status reduce_in_launches(const void *input, void *output,
                                            const fastreduce_shape &shape, fastreduce_type type,
                                            fastreduce_operator op, const fastreduce_config *config)
{
    using namespace fastreduce::detail;
    const call_settings call = settings_for(config, type, op);
    operator_entry found = find_kernels(type, op, FASTREDUCE_AUTO, false, call.output_to(output));
    result_layout all = {};
    size_t reach = 0;
    describe_shape(shape, &all, &reach);
    all.input = input;
    all.result_bytes = static_cast<unsigned>(call.result_size);
    all.second_bytes = static_cast<unsigned>(call.second_size);
    launch_options options = call.options;
    options.most_blocks = launch_blocks;
    options.most_words = launch_words;
    return launch(plan_results, *found.kernels, all, found.output, options);
}

template <class T>
static void axis(const geometry &g, const contents &what, unsigned which = every_operator)
{
    const size_t stride = g.stride ? g.stride : g.inner,
                 outer_stride = g.outer_stride ? g.outer_stride : g.n * stride,
                 results = g.outer * g.inner;
    const bool any = results > 0 && g.n > 0;
    const size_t span = any ? (g.outer - 1) * outer_stride + (g.n - 1) * stride + g.inner : 0;
    which &= what.which;
    if (which == 0) return;

    char text[300];
    std::snprintf(text, sizeof text,
                  "%s, %s: outer %zu, n %zu, inner %zu, strides %zu and %zu, offset %zu, %s",
                  fastreduce_type_name(type_of<T>), g.name, g.outer, g.n, g.inner, g.outer_stride,
                  g.stride, g.offset, what.name);
    many_results all = {type_of<T>, results, text, {}};

    /* gaps have elements like any others, which show in a result */
    std::vector<T> values = make<T>(what, span, span + 7), elements(any ? g.n : 0);
    std::vector<std::vector<T>> pattern;
    for (u64 k = 0; any && k < std::min(u64(results), patterns(g.n)); ++k)
        pattern.push_back(make<T>(what, g.n, k));
    const auto at = [&](size_t result) {
        return result / g.inner * outer_stride + result % g.inner;
    };
    for (size_t r = 0; any && r < results; ++r) {
        const std::vector<T> &from = pattern[check::mix(r, g.n) % pattern.size()];
        for (size_t k = 0; k < g.n; ++k) values[at(r) + k * stride] = from[k];
    }
    for (size_t r = 0; r < results; ++r) { /* where results overlap, that is another pattern */
        for (size_t k = 0; k < g.n; ++k) elements[k] = values[at(r) + k * stride];
        all.wanted.push_back(flat().of(reinterpret_cast<const unsigned char *>(elements.data()),
                                       g.n, type_of<T>, which));
        if (r == results / 2)
            check_oracle(all, elements.data(), g.n, *all.wanted.back(), which & what.known);
    }

    const exact_input<T> input(values, g.offset);
    for (unsigned k = 0; k < operators; ++k)
        if (which >> k & 1)
            compare(all, operator_of(k), [&](void *output, const fastreduce_config *config) {
                fastreduce_shape shape = {g.outer, g.n, g.inner, g.outer_stride, g.stride};
                const void *const from = any ? input.data() : nullptr;
                const fastreduce_status status =
                    launch_blocks < SIZE_MAX
                        ? reduce_in_launches(from, output, shape, type_of<T>, operator_of(k),
                                             config)
                        : fastreduce_reduce_axis(from, output, &shape, type_of<T>, operator_of(k),
                                                 config);
                std::memset(&shape, 0x7b, sizeof shape); /* it is the caller's again */
                return status;
            });
    check_unchanged(all, input.data(), values);
}

/* A case with one kind of elements, or of floats with two, as one of them is for products. */
template <class T>
static void axes(const geometry &g, unsigned which = every_operator)
{
    static unsigned turn = 0;
    contents first = contents_of<T>(turn++);
    axis<T>(g, first, which);
    if (is_float<T> && first.which == product) axis<T>(g, contents_of<T>(turn++), which);
}

/* The most elements of a case: now and then many. */
static size_t most_elements(unsigned turn)
{
    const bool many = check::mix(turn, 1) % 10 == 0;
    return thorough ? (many ? 10000000 : 500000) : quick ? 30000 : many ? 200000 : 60000;
}

/* What a case has of some property, as if at random, and each property for itself. */
template <size_t N>
static size_t one_of(const size_t (&all)[N], unsigned turn, u64 property)
{
    return all[check::mix(turn, property) % N];
}

/* As many bytes of any type, where there are many. */
template <class T>
static size_t scaled(size_t n)
{
    return n <= 300 || sizeof(T) == 4 ? n : n * 4 / sizeof(T) + n % 7 % sizeof(T);
}

template <class T>
static void rows()
{
    constexpr size_t lengths[] = {0,    1,    2,    3,     4,     5,     7,    8,    15,   16,
                                  17,   31,   32,   33,    63,    64,    65,   100,  127,  128,
                                  129,  256,  300,  511,   1000,  1023,  1024, 1025, 2048, 4095,
                                  4096, 4097, 5000, 10000, 16384, 16385, 40000},
                     counts[] = {1, 2, 3, 31, 33, 100, 1000, 20000, 1000000};
    unsigned turn = 0;
    for (size_t length : lengths)
        for (size_t count : counts) {
            const size_t n = scaled<T>(length), offsets[] = {0, 1, 3},
                         pitches[] = {0, n, n + 1, n + 3, 2 * n + 5, n <= 300 ? 5 * n : n + 16},
                         pitch = one_of(pitches, ++turn, 2);
            const size_t least = thorough ? 1 : 20; /* a result is not for nothing either */
            if (count > 3 && count * std::max({n, least, pitch}) > most_elements(turn)) continue;
            if (quick && (turn % 3 || n * count > 30000)) continue;
            axes<T>({"rows", count, n, 1, pitch, turn % 2, one_of(offsets, turn, 3)});
        }
}

/* Columns, and axes between two others. */
template <class T>
static void columns()
{
    constexpr size_t inners[] = {1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 31, 32, 33, 64, 65, 100, 1000},
                     lengths[] = {0, 1, 2, 3, 4, 5, 16, 17, 64, 100, 257, 1000, 1025, 4097, 20000};
    unsigned turn = 0;
    for (size_t outer : {1, 2, 5})
        for (size_t inner : inners)
            for (size_t length : lengths) {
                const size_t n = scaled<T>(length), gaps[] = {0, 0, 0, 1, 2, 3, inner},
                             stride = inner + one_of(gaps, ++turn, 2);
                if (outer * n * stride > most_elements(turn)) continue;
                if (quick && (turn + type_of<T>) % 8) continue; /* of each type others */
                const size_t pitches[] = {0, n * stride, n * stride + 3, n * stride + inner},
                             offsets[] = {0, 1, 2, 3}, pitch = one_of(pitches, turn, 4);
                const bool says_stride = stride > inner || turn % 2;
                axes<T>({outer == 1 ? "columns" : "middle axis", outer, n, inner, pitch,
                         says_stride ? stride : 0, one_of(offsets, turn, 5)});
            }
}

/* So many columns that a lane may have several, where these lie together in aligned vectors: of
 * arrays that are aligned, and nearly. */
template <class T>
static void many_columns()
{
    const size_t pack_size = 16 / sizeof(T), enough = on_gpu ? 600000 : 17000,
                 lengths[] = {1,
                              2,
                              3,
                              4,
                              5,
                              pack_size,
                              pack_size + 1,
                              3 * pack_size + 2,
                              70,
                              thorough ? size_t(1100) : 300,
                              thorough ? size_t(70000) : 17000};
    unsigned turn = type_of<T>;
    for (size_t n : lengths) {
        if (quick && turn++ % 3) continue;
        const size_t packs = std::max<size_t>(n / pack_size, 1), results = enough / packs + 7;
        for (size_t inner : {size_t(4), turn % 2 ? size_t(20) : size_t(24), results / 8 * 8}) {
            const size_t outer = results / inner + 1, gaps[] = {0, 0, 8, 2, 1},
                         gap = one_of(gaps, ++turn, 6), stride = inner + gap,
                         between[] = {0, 0, 4 * stride, 2}, offsets[] = {0, 0, 0, 1, 2, 4};
            axes<T>({"many columns", inner > 24 ? 1 : outer, n, inner,
                     n * stride + one_of(between, turn, 7), stride, one_of(offsets, turn, 8)},
                    quick ? 1u << FASTREDUCE_SUM | 1u << FASTREDUCE_ARGMAX : every_operator);
        }
    }
}

/* Results so long that several blocks share one. */
template <class T>
static void long_results()
{
    const unsigned some = 1u << FASTREDUCE_SUM | 1u << FASTREDUCE_ARGMAX | 1u << FASTREDUCE_NORM2,
                   which = quick ? some : every_operator;
    const size_t n = scaled<T>(600000), two = (size_t(2) << 20) / sizeof(T);
    axis<T>({"a long row", 1, n, 1, 0, 0, 1}, contents_of<T>(0), which);
    axis<T>({"long columns", 1, scaled<T>(70001), 3, 0, 0, 1}, contents_of<T>(0), which);
    axis<T>({"four long columns", 1, scaled<T>(70001), 4, 0, 0, 0}, contents_of<T>(0), which);
    /* sums that round: the order counts */
    const unsigned most = every_operator & ~product;
    axis<T>({"twenty long columns", 1, scaled<T>(17001), 20, 0, 0, 1},
            {data::wide, false, most, "wide", most}, which);
    if (quick) return;
    const contents for_products = contents_of<T>(2), specials = contents_of<T>(1);
    axis<T>({"long rows", 3, n + 1, 1, n + 4, 1, 3}, for_products);
    axis<T>({"long rows", 2, n - 5, 1, 0, 0, 0}, specials);
    axis<T>({"rows of 2 MiB", 1, two, 1, 0, 0, 1}, contents_of<T>(0), some);
    axis<T>({"rows beyond 2 MiB", 2, two + 1, 1, 0, 0, 0}, contents_of<T>(0), some);
    axis<T>({"overlapping rows", 2, two + 1, 1, 1, 1, 0}, contents_of<T>(0), some);
    axis<T>({"long columns", 1, two + 1, 1, 0, 2, 1}, contents_of<T>(0), some);
    for (size_t inner : {2, 5, 20, 33, 64}) /* large tiles; so many columns in a block, or a part */
        axis<T>({"columns beyond 2 MiB", 1, two + 4 * inner, inner, 0, 0, inner % 3},
                contents_of<T>(0), some);
    axis<T>({"planes beyond 2 MiB", 2, two + 3, 12, 0, 0, 0}, contents_of<T>(0), some);
    axis<T>({"long columns", 1, scaled<T>(40000), 7, 0, 8, 1}, for_products);
    axis<T>({"long middle axis", 2, scaled<T>(50001), 2, 0, 0, 0}, specials);
    if (!thorough) return;
    const size_t longer = scaled<T>(3000000);
    for (unsigned kind = 0; kind < most_contents; ++kind) {
        const contents what = contents_of<T>(kind);
        axis<T>({"long rows", 7, longer, 1, longer + kind, 1, kind % 3}, what);
        axis<T>({"long columns", 1, longer / 2 + kind, 7, 0, 0, kind % 3}, what);
        axis<T>({"long columns", 1, longer / 30, 100, 0, 103, kind % 3}, what);
        axis<T>({"long columns", 1, longer / 30, 100, 0, 104, 0}, what);
        axis<T>({"long middle axis", 3, longer / 8, 5, 0, 0, kind % 3}, what);
    }
    if (type_of<T> == FASTREDUCE_F32 || type_of<T> == FASTREDUCE_U8)
        for (size_t stride : {1, 2}) /* as rows, and as what others than rows have */
            axis<T>({"the longest rows", 2, 70000000, 1, 0, stride, 1}, contents_of<T>(0));
}

template <class T>
static void windows()
{
    for (const geometry &g : overlapping(thorough ? 3000 : quick ? 40 : 150)) {
        axes<T>(g);
        if (thorough) axes<T>(g);
    }
    for (const geometry &g : edge_cases) axes<T>(g);
}

/* ---- Segments -------------------------------------------------------------------------------- */

using lengths = std::vector<size_t>;

/* Offsets in device memory: of 64 bits, or 32, aligned to no more; ends apart, or not. */
struct placed_offsets {
    bytes all;
    check::buffer<unsigned char> begins, ends;
    fastreduce_config config = {};

    placed_offsets(const std::vector<int64_t> &from, const std::vector<int64_t> &to, bool narrow,
                   bool apart)
        : all(written(from, narrow)), begins(all.size(), narrow ? 4 : 8),
          ends(written(to, narrow).size(), narrow ? 4 : 8)
    {
        begins.set(all);
        ends.set(written(to, narrow));
        if (narrow) config.offset_type = FASTREDUCE_I32;
        if (apart) config.end_offsets = ends.data();
    }

  private:
    static bytes written(const std::vector<int64_t> &numbers, bool narrow)
    {
        bytes to(numbers.size() * (narrow ? 4 : 8));
        for (size_t k = 0; k < numbers.size(); ++k) {
            const int32_t low = static_cast<int32_t>(numbers[k]);
            if (narrow)
                std::memcpy(to.data() + 4 * k, &low, 4);
            else
                std::memcpy(to.data() + 8 * k, &numbers[k], 8);
        }
        return to;
    }
};

/* fastreduce_reduce_segments with AUTO, as if the workspace had so many words. */
static fastreduce_status reduce_with_room(const void *input, void *output, size_t count,
                                          placed_offsets &offsets, fastreduce_type type,
                                          fastreduce_operator op, const fastreduce_config *config,
                                          size_t words, size_t blocks = SIZE_MAX)
{
    using namespace fastreduce::detail;
    const call_settings call = settings_for(config, type, op);
    operator_entry found = find_kernels(type, op, FASTREDUCE_AUTO, false, call.output_to(output));
    const unsigned size = offsets.config.offset_type == FASTREDUCE_I32 ? 4 : 8;
    result_layout all = {};
    all.input = input;
    all.begins = offsets.begins.data();
    all.ends = offsets.config.end_offsets ? offsets.config.end_offsets
                                          : static_cast<const void *>(offsets.begins.data() + size);
    all.end = count;
    all.offset_bytes = size;
    all.result_bytes = static_cast<unsigned>(call.result_size);
    all.second_bytes = static_cast<unsigned>(call.second_size);
    launch_options options = call.options;
    options.most_blocks = blocks;
    options.most_words = words;
    return launch(plan_results, *found.kernels, all, found.output, options);
}

/* offsets[0] is `first`: what lies before it is not there at all. */
template <class T>
static void segments(const char *name, const lengths &all_lengths, const contents &what,
                     size_t first, size_t offset, size_t words = SIZE_MAX)
{
    const size_t count = all_lengths.size();
    std::vector<int64_t> offsets = {static_cast<int64_t>(first)};
    for (size_t n : all_lengths) offsets.push_back(offsets.back() + static_cast<int64_t>(n));
    static unsigned turn = 0; /* three of four kinds of offsets a time would do as well */
    const bool narrow = ++turn % 2, apart = turn / 2 % 2;

    char text[200];
    std::snprintf(text, sizeof text, "%s, %s: %zu segments, offsets %lld to %lld, offset %zu, %s",
                  fastreduce_type_name(type_of<T>), name, count, static_cast<long long>(first),
                  static_cast<long long>(offsets.back()), offset, what.name);
    many_results all = {type_of<T>, count, text, {}};
    std::vector<T> values;
    std::unordered_map<size_t, std::array<std::vector<T>, most_patterns>>
        known; /* the short ones */
    for (size_t s = 0; s < count; ++s) {
        const size_t n = all_lengths[s];
        const u64 pattern = check::mix(s, count) % patterns(n);
        std::vector<T> alone, &elements = n <= 5000 ? known[n][pattern] : alone;
        if (elements.empty()) elements = make<T>(what, n, pattern);
        values.insert(values.end(), elements.begin(), elements.end());
        all.wanted.push_back(flat().of(reinterpret_cast<const unsigned char *>(elements.data()), n,
                                       type_of<T>, what.which));
        if (s == count / 2)
            check_oracle(all, elements.data(), n, *all.wanted.back(), what.which & what.known);
    }

    const exact_input<T> input(values, offset);
    const std::vector<int64_t> ends(offsets.begin() + 1, offsets.end());
    if (apart) offsets.pop_back();
    placed_offsets where(offsets, ends, narrow, apart);
    const T *const from =
        reinterpret_cast<const T *>(reinterpret_cast<uintptr_t>(input.data()) - first * sizeof(T));
    for (unsigned k = 0; k < operators; ++k) {
        if ((what.which >> k & 1) == 0) continue;
#ifdef SIMT_MACHINE
        unsigned launches = 0;
        simt::before_launch() = [&](void **) { ++launches; };
#endif
        compare(all, operator_of(k), [&](void *output, const fastreduce_config *config) {
            fastreduce_config with = where.config;
            if (config != nullptr) {
                with = *config;
                with.offset_type = where.config.offset_type;
                with.end_offsets = where.config.end_offsets;
            }
            return words < SIZE_MAX
                       ? reduce_with_room(from, output, count, where, type_of<T>, operator_of(k),
                                          &with, words)
                       : fastreduce_reduce_segments(from, output, count, where.begins.data(),
                                                    type_of<T>, operator_of(k), &with);
        });
#ifdef SIMT_MACHINE
        simt::before_launch() = nullptr;
        check::that(launches <= 1, "%s of %s: %u launches",
                    fastreduce_operator_name(operator_of(k)), all.what.c_str(), launches);
#endif
    }
    check_unchanged(all, input.data(), values);
    check::that(where.begins.get() == where.all && where.begins.canaries_alive() &&
                    where.ends.canaries_alive(),
                "%s: offsets were written", all.what.c_str());
}

/* Blocks that could share long segments, of which there is none: whoever leaves last, all words are
 * zero. It may be one that has seen that not all had begun: the CPU machine lets it sleep. */
static void last_to_leave()
{
    const size_t count = 1100, calls = 1000;
    std::vector<int64_t> offsets(count), ends(count);
    std::vector<unsigned char> values(count);
    for (size_t k = 0; k < count; ++k) {
        values[k] = static_cast<unsigned char>(check::mix(k, count));
        offsets[k] = static_cast<int64_t>(k);
        ends[k] = offsets[k] + 1;
    }
    placed_offsets where(offsets, ends, false, true);
    const exact_input<unsigned char> input(values, 0);
    check::buffer<u64> output(count);
    for (size_t call = 0; call < calls; ++call) {
        fastreduce_config config = where.config;
        config.workspace = workspace().data();
        config.workspace_bytes = FASTREDUCE_WORKSPACE_BYTES;
        order::next();
        const fastreduce_status status =
            reduce_with_room(input.data(), output.data(), count, where, FASTREDUCE_U8,
                             FASTREDUCE_SUM, &config, fastreduce::detail::workspace_words, 6);
        CUDA(cudaDeviceSynchronize());
        check::that(status == 0, "who leaves last: status %d %s", status, order::report());
        order::usual();
        workspace_is_clean("who leaves last");
    }
}

/* Lengths less than `below`, at random. */
static lengths random_lengths(size_t count, size_t below)
{
    lengths all(count);
    for (size_t s = 0; s < count; ++s) all[s] = check::mix(s, below) % below;
    return all;
}
static lengths with(lengths all, size_t at, size_t n)
{
    all[at] = n;
    return all;
}

/* Segments that leave gaps, overlap and come in any order; and offsets that decrease or are
 * negative: these have no elements. Nothing else is read or written. */
template <class T>
static void bad_offsets()
{
    const contents what = contents_of<T>(0);
    const std::vector<T> values = make<T>(what, 40000, 3);
    const int64_t begins[] = {500, 40,    0,   39000, 7,  7,     300,  -5,
                              -9,  20000, 100, 0,     90, 38000, 39999},
                  ends[] = {530, 45,    2000, 40000, 8,  30007, 200,  9,
                            -2,  20000, 99,   5,     90, -1,    40000};
    constexpr size_t count = sizeof begins / sizeof *begins;
    many_results all = {type_of<T>, count, "segments anywhere", {}};
    const exact_input<T> input(values, 1);
    for (size_t s = 0; s < count; ++s) {
        const bool any = begins[s] >= 0 && ends[s] > begins[s];
        all.wanted.push_back(flat().of(
            reinterpret_cast<const unsigned char *>(values.data() + (any ? begins[s] : 0)),
            any ? static_cast<size_t>(ends[s] - begins[s]) : 0, type_of<T>, what.which));
    }
    for (const bool narrow : {false, true}) {
        placed_offsets where({begins, begins + count}, {ends, ends + count}, narrow, true);
        for (unsigned k = 0; k < operators; ++k)
            if (what.which >> k & 1)
                compare(all, operator_of(k), [&](void *output, const fastreduce_config *config) {
                    fastreduce_config with = config ? *config : fastreduce_config();
                    with.offset_type = where.config.offset_type;
                    with.end_offsets = where.config.end_offsets;
                    return fastreduce_reduce_segments(input.data(), output, count,
                                                      where.begins.data(), type_of<T>,
                                                      operator_of(k), &with);
                });
    }
    /* many, so that a warp has several: some of them empty ones that begin before the elements */
    std::vector<int64_t> from, to;
    many_results many = {type_of<T>, 1500, "many segments anywhere", {}};
    for (u64 s = 0; s < many.count; ++s) {
        const bool any = check::mix(s, 1) % 3 > 0;
        from.push_back(static_cast<int64_t>(check::mix(s, 2) % 400) - (any ? 0 : 500));
        to.push_back(any ? from.back() + static_cast<int64_t>(check::mix(s, 3) % 60) : from.back());
        many.wanted.push_back(
            flat().of(reinterpret_cast<const unsigned char *>(values.data() + (any ? from[s] : 0)),
                      static_cast<size_t>(to[s] - from[s]), type_of<T>, 1u << FASTREDUCE_SUM));
    }
    placed_offsets apart(from, to, false, true);
    compare(many, FASTREDUCE_SUM, [&](void *output, const fastreduce_config *config) {
        fastreduce_config with = config ? *config : fastreduce_config();
        with.end_offsets = apart.config.end_offsets;
        return fastreduce_reduce_segments(input.data(), output, many.count, apart.begins.data(),
                                          type_of<T>, FASTREDUCE_SUM, &with);
    });
    /* of which each second ends where it begins, or before */
    std::vector<int64_t> falling;
    for (int64_t s = 0; s < 300; ++s) falling.push_back(s % 2 ? 17 * s : 40000 - 100 * s);
    many_results some = {type_of<T>, falling.size() - 1, "offsets up and down", {}};
    for (size_t s = 0; s + 1 < falling.size(); ++s)
        some.wanted.push_back(flat().of(
            reinterpret_cast<const unsigned char *>(values.data() + falling[s]),
            falling[s + 1] > falling[s] ? static_cast<size_t>(falling[s + 1] - falling[s]) : 0,
            type_of<T>, 1u << FASTREDUCE_SUM));
    placed_offsets where(falling, {}, false, false);
    compare(some, FASTREDUCE_SUM, [&](void *output, const fastreduce_config *config) {
        return fastreduce_reduce_segments(input.data(), output, some.count, where.begins.data(),
                                          type_of<T>, FASTREDUCE_SUM, config);
    });
}

template <class T>
static void all_segments()
{
    const auto in = [](size_t kibibytes) { return (kibibytes << 10) / sizeof(T); };
    const size_t many = thorough ? 200000 : quick ? 700 : 3000, half = in(thorough ? 8192 : 60);
    std::vector<std::pair<const char *, lengths>> all;
    const auto add = [&](const char *name, const lengths &one) { all.push_back({name, one}); };

    add("no segments", {});
    for (size_t n : {size_t(0), size_t(1), size_t(31), size_t(1000), in(16), in(17), in(65)})
        add("one segment", {n});
    for (size_t count : {size_t(2), size_t(33), size_t(1025), many})
        add("all empty", lengths(count, 0));
    for (size_t at : {size_t(0), size_t(31), many / 2, many - 1})
        for (size_t n : {size_t(1), size_t(40), in(20), in(70)})
            add("all empty but one", with(lengths(many, 0), at, n));
    for (size_t at : {size_t(0), size_t(97), many - 1})
        add("half of everything in one", with(random_lengths(many, 12), at, half));
    add("a long one among many", with(random_lengths(1500, 12), 700, in(600)));
    add("first and last empty", {0, 5, 100, 0});
    add("a long one among many", with(random_lengths(1500, 12), 700, in(600)));
    add("first and last empty", with(with(random_lengths(300, 70), 0, 0), 299, 0));
    for (size_t below : {2, 3, 8, 17, 33, 41, 65, 130, 300})
        add("lengths at random", random_lengths(many / (below / 8 + 1) + below, below));
    for (size_t n : {1, 2, 16, 31, 32, 33, 64, 100, 128, 129, 500, 1000, 3000})
        add("equal lengths", lengths(many / (n / 4 + 1) + 3, n));
    for (size_t kibibytes : {1, 2, 4, 8, 16, 32, 64}) {
        const size_t n = in(kibibytes);
        add("about a power of two", {n - 1, 3, n, 0, n + 1, n, 1, n + 2});
    }
    add("tiles and none", {in(16), in(16), 0, 0, in(64), in(32), 0, in(16) * 3, 0});
    add("long and short", {1, in(200), 2, 0, in(100) + 1, 7, 0, 0, in(150) - 1, 0});
    /* a block has several that are in several tiles */
    lengths tiled;
    for (size_t k = 0; k < 28; ++k) tiled.push_back(in(66) + k);
    add("several tiles for each block", tiled);
    /* a block has a share of several units: not a power of two of them; twice, for quick */
    for (size_t tiles : {41, 67}) add("nearly all in one", {3, in(16) * tiles + 5, 1});

    /* what a warp takes of few, what a block takes, and what several do; and two that are together
     * more than a block takes, with others between */
    const size_t pack = 16 / sizeof(T);
    add("about a warp's and a block's",
        {in(4) + pack - 1, in(4) + pack, 0, in(64), in(64) + 1, in(64) + pack, 2, in(80), in(16)});
    add("two that are together too long",
        with(with(random_lengths(290, 9), 100, in(40)), 101, in(40)));

    /* no more than a block's part of all, nor staged with others */
    lengths blocks;
    for (size_t k = 0; k < 40; ++k) blocks.push_back(in(17) + k);
    add("one for each block", blocks);

    /* long on average, with short and empty ones */
    lengths mostly;
    for (size_t k = 0; k < 60; ++k) mostly.push_back(k % 3 == 2 ? k % 9 / 3 * 70 : in(29) + 37 * k);
    add("mostly long", mostly);

    lengths rising, falling, doubling, apart;
    for (size_t n = 0; n < (quick ? 80 : 300); ++n) rising.push_back(n);
    falling.assign(rising.rbegin(), rising.rend());
    for (size_t n = 1; n <= in(thorough ? 16384 : 128); n *= 2) doubling.push_back(n);
    for (size_t s = 0; s < 40; ++s) apart.push_back(s % 13 == 4 ? in(18) + s : 0);
    add("rising", rising);
    add("falling", falling);
    add("doubling", doubling);
    add("long ones far apart", apart);
    /* where AUTO changes to blocks of two sizes: of a few types, as that takes long */
    if (thorough || (!quick && (type_of<T> == FASTREDUCE_F32 || type_of<T> == FASTREDUCE_U8))) {
        lengths tiles;
        for (size_t k = 0; k < 34; ++k) tiles.push_back(in(85) + k);
        add("more tiles for each block", tiles);
        add("about 2 MiB", {in(2048) - 1, 5, in(2048), 0, in(2048) + 1});
    }
    if (thorough) {
        add("millions", random_lengths(3000000, 41));
        add("long ones", random_lengths(3000, 20000));
        add("very long ones", {in(32768) - 1, 1, in(32768), in(32768) + 1, 0, in(65536) + 3});
        if (type_of<T> == FASTREDUCE_F64) /* of one type, as there is much */
            add("dozens of long ones for each block", random_lengths(8000, in(64)));
    }

    /* a GPU's block has a longer part of all: several long ones in each; twice, as quick leaves out
     * every other one */
    if (quick && on_gpu)
        for (size_t kibibytes : {20, 36})
            add("several long ones for each block", random_lengths(1400, in(kibibytes)));

    unsigned turn = type_of<T>;
    for (const auto &one : all) {
        if (quick && turn % 2 && one.second.size() > 1) {
            ++turn;
            continue;
        }
        const size_t first = turn % 3 ? 0 : turn % 2 ? 1 : 123457;
        for (unsigned next = 0; next < 2; ++next) { /* one for products, then one for the others */
            const contents what = contents_of<T>(turn++);
            segments<T>(one.first, one.second, what, first, turn % 4);
            if (!is_float<T> || what.which != product) break;
        }
    }

    /* the list of long ones has room for none, for some, and for all but the last */
    lengths listed = {3, in(2048) + 9, 0, in(2050), 7, in(2048) + 1, in(30), 5};
    if (quick) listed = {3, in(200) + 9, 0, in(30), in(70), 5};
    contents what = contents_of<T>(0);
    what.which &= 1u << FASTREDUCE_SUM | 1u << FASTREDUCE_ARGMAX;
    for (size_t room : {0, 5, 14, 300})
        segments<T>("a list without room", listed, what, 0, room % 3,
                    fastreduce::detail::result_queue::all_words + room);
#ifndef __NVCC__
    /* blocks at a time, of those that share what is long */
    listed = random_lengths(200, 3000);
    for (size_t k : {0, 40, 41, 70, 110, 199}) listed[k] = in(70 + k);
    launch_blocks = 5;
    for (unsigned resident : {1, 2, 3, 7, 30})
        for (unsigned seed : {1, 2, 3}) {
            simt::settings().resident = resident;
            simt::settings().seed = seed;
            segments<T>("several blocks at a time", listed, what, 0, seed % 3);
        }
    launch_blocks = SIZE_MAX;
    simt::settings() = simt::options();
#endif
    bad_offsets<T>();
}

/* ---- Refusals -------------------------------------------------------------------------------- */

/* Arguments that work, of which each refusal changes some. */
struct arguments {
    const void *input;
    void *output;
    const fastreduce_shape *shape;
    const void *offsets;
    size_t segments;
    int type, op;
    fastreduce_config config;
};

/* Memory that the refused calls point into, in one piece, and none of which they may write. */
constexpr size_t piece = 4096;
enum : size_t { input_at = 1 * piece, output_at = 2 * piece, offsets_at = 3 * piece };

class refusing
{
  public:
    refusing() { memory_.fill(0x2e); }
    unsigned char *at(size_t byte) { return memory_.data() + byte; }

    void axis(const char *what, int wanted, const arguments &a)
    {
        check_status("axis", what, wanted, a,
                     fastreduce_reduce_axis(a.input, a.output, a.shape,
                                            static_cast<fastreduce_type>(a.type),
                                            static_cast<fastreduce_operator>(a.op), &a.config));
    }
    void segments(const char *what, int wanted, const arguments &a)
    {
        check_status("segments", what, wanted, a,
                     fastreduce_reduce_segments(a.input, a.output, a.segments, a.offsets,
                                                static_cast<fastreduce_type>(a.type),
                                                static_cast<fastreduce_operator>(a.op), &a.config));
    }
    void both(const char *what, int wanted, const arguments &a)
    {
        axis(what, wanted, a);
        segments(what, wanted, a);
    }
    void check_untouched()
    {
        check::that(memory_.every_byte_is(0x2e) && memory_.canaries_alive(),
                    "a refused call has written");
    }

  private:
    void check_status(const char *function, const char *what, int wanted, const arguments &a,
                      fastreduce_status status)
    {
        CUDA(cudaDeviceSynchronize());
        check::that(status == wanted, "%s, %s, type %d, operator %d: status %d, not %d", function,
                    what, a.type, a.op, status, wanted);
#ifdef SIMT_MACHINE /* where that is cheap */
        check::that(*at(output_at) == 0x2e && memory_.every_byte_is(0x2e),
                    "%s, %s, type %d, operator %d: memory was written", function, what, a.type,
                    a.op);
#endif
    }
    check::buffer<unsigned char> memory_{5 * piece, 0};
};

static void refusals_of(refusing &r, fastreduce_type type, fastreduce_operator op)
{
    const int invalid = FASTREDUCE_ERROR_INVALID_ARGUMENT,
              unsupported = FASTREDUCE_ERROR_UNSUPPORTED;
    const size_t size = fastreduce_type_size(type), most = ~size_t(0);
    const fastreduce_type result = fastreduce_output_type(type, op);
    const size_t result_size = fastreduce_type_size(result);
    const fastreduce_shape shape = {3, 5, 4, 0, 0}; /* 60 elements, 12 results */
    arguments good = {};
    good.input = r.at(input_at);
    good.output = r.at(output_at);
    good.shape = &shape;
    good.offsets = static_cast<const void *>(r.at(offsets_at));
    good.segments = 12;
    good.type = type;
    good.op = op;
    arguments a = good;
    const auto is_refused = [&](const char *what, int wanted) {
        r.both(what, wanted, a);
        a = good;
    };
    const auto axis_is_refused = [&](const char *what, const fastreduce_shape &other) {
        a.shape = &other;
        r.axis(what, invalid, a);
        a = good;
    };

    /* null and misaligned */
    a.output = nullptr;
    is_refused("null output", invalid);
    a.input = nullptr;
    r.axis("null input", invalid, a);
    a = good;
    a.shape = nullptr;
    r.axis("null shape", invalid, a);
    a = good;
    a.offsets = nullptr;
    r.segments("null offsets", invalid, a);
    a = good;
    for (size_t off = 1; off < size; off *= 2) {
        a.input = r.at(input_at + off);
        is_refused("misaligned input", invalid);
    }
    for (size_t off = 1; off < result_size; off *= 2) {
        a.output = r.at(output_at + off);
        is_refused("misaligned output", invalid);
    }
    for (size_t off = 1; off < 8; off *= 2) {
        a.offsets = static_cast<const void *>(r.at(offsets_at + off));
        r.segments("misaligned offsets", invalid, a);
        a = good;
        a.config.end_offsets = static_cast<const void *>(r.at(offsets_at + off));
        r.segments("misaligned ends", invalid, a);
        a = good;
    }
    a.config.offset_type = FASTREDUCE_I32;
    a.offsets = static_cast<const void *>(r.at(offsets_at + 2));
    r.segments("misaligned offsets of 32 bits", invalid, a);
    a = good;
    for (int other : {-1, 1, 2, 5, 6, 9, 12, 13, 1000}) {
        a.config.offset_type = static_cast<fastreduce_type>(other);
        r.segments("no type of offsets", invalid, a);
    }
    a = good;
    a.config.workspace = r.at(piece / 2 + 8);
    a.config.workspace_bytes = 1024;
    is_refused("misaligned workspace", invalid);

    /* overlaps, by the least that there may be */
    const size_t in_bytes = 60 * size, out_bytes = 12 * result_size;
    a.output = r.at(input_at + in_bytes / 8 * 8 - 8);
    r.axis("output at the input's end", invalid, a);
    a.output = r.at(input_at - out_bytes + result_size);
    if (result_size > size) a.output = r.at(input_at - (out_bytes - result_size) / 8 * 8);
    r.axis("output's end in the input", invalid, a);
    a = good;
    const size_t gap = 100;
    const fastreduce_shape pitched = {2, 3, 2, gap, 2};
    a.shape = &pitched;
    a.output = r.at(input_at + (gap + 5) * size / 8 * 8 - (size > 4 ? 0 : 8));
    if (size < 8) a.output = r.at(input_at + (gap + 4) * size / 8 * 8);
    r.axis("output in the last row", invalid, a);
    a = good;
    const auto workspace_at = [&](size_t byte, size_t workspace_bytes) {
        a.config.workspace = r.at(byte);
        a.config.workspace_bytes = workspace_bytes;
    };
    workspace_at(input_at - 1024, 1024 + size);
    r.axis("workspace's end in the input", invalid, a);
    a = good;
    workspace_at(input_at + (in_bytes - 1) / 16 * 16, 1024);
    r.axis("workspace at the input's end", invalid, a);
    a = good;
    workspace_at(output_at - 1024, 1025);
    is_refused("workspace's end in the output", invalid);
    workspace_at(output_at + (out_bytes - 1) / 16 * 16, 1024);
    is_refused("workspace at the output's end", invalid);
    workspace_at(offsets_at - 1024, 1025);
    r.segments("workspace's end in the offsets", invalid, a);
    a = good;
    workspace_at(offsets_at + 96, 1024); /* the thirteenth, with which the last segment ends */
    r.segments("workspace at the offsets' end", invalid, a);
    a = good;
    a.offsets = static_cast<const void *>(r.at(output_at - 96));
    r.segments("offsets' end in the output", invalid, a);
    a.offsets = good.offsets;
    a.config.end_offsets = static_cast<const void *>(r.at(output_at - 88));
    r.segments("ends in the output", invalid, a);
    a.config = good.config;
    a.offsets = static_cast<const void *>(r.at(output_at + (out_bytes - 1) / 8 * 8));
    r.segments("offsets at the output's end", invalid, a);
    a = good;

    /* second results */
    const size_t second_size = fastreduce_type_size(fastreduce_second_type(type, op));
    const auto second_is_refused = [&](const char *what, int wanted, unsigned char *second) {
        a.config.second_output = second;
        is_refused(what, wanted);
    };
    if (second_size == 0) {
        second_is_refused("no second result", unsupported, r.at(piece / 2));
    } else {
        for (size_t off = 1; off < second_size; off *= 2)
            second_is_refused("misaligned second output", invalid, r.at(piece / 2 + off));
        second_is_refused("second output at the output's end", invalid,
                          r.at(output_at + (out_bytes - 1) / 8 * 8));
        second_is_refused("second output's end in the output", invalid,
                          r.at(output_at - 12 * second_size + second_size));
        workspace_at(piece / 2, 1024);
        second_is_refused("second output in the workspace", invalid, r.at(piece / 2 + 1016));
        a.config.second_output = r.at(input_at - 11 * second_size);
        r.axis("second output's end in the input", invalid, a);
        a = good;
        a.config.second_output = r.at(offsets_at + 96);
        r.segments("second output at the offsets' end", invalid, a);
        a = good;
    }

    /* more than there can be */
    const size_t half = most / 2 + 1, quarter = half / 2;
    axis_is_refused("elements past 2^64", {half, 2, 1, 0, 0});
    axis_is_refused("elements past 2^64", {1, half, 4, 0, 0});
    axis_is_refused("elements past 2^64",
                    {size_t(1) << 22, size_t(1) << 22, size_t(1) << 22, 0, 0});
    axis_is_refused("elements of 2^64 bytes", {1, most / size + (size > 1), 1, 0, 0});
    axis_is_refused("a pitch of 2^64 bytes", {2, 1, 1, most / size + (size > 1), 1});
    axis_is_refused("pitches of 2^64 bytes", {3, 5, 4, half / size, 4});
    axis_is_refused("pitches of 2^65 bytes", {5, 5, 4, half / size, 4});
    axis_is_refused("a stride of 2^64 bytes", {1, 2, 1, 1, most / size + (size > 1)});
    axis_is_refused("strides of 2^64 bytes", {1, 3, 4, 1, half / size});
    axis_is_refused("strides of 2^65 bytes", {1, 5, 4, 1, half / size});
    axis_is_refused("a pitch and strides", {2, 2, 1, half / size, half / size});
    axis_is_refused("an end past the address space", {2, 5, 4, (most - 4096) / size, 4});
    axis_is_refused("results past 2^64", {half, 0, 2, 0, 0});
    axis_is_refused("results past 2^64", {half, 0, 4, 0, 0});
    axis_is_refused("results past 2^64", {size_t(1) << 33, 0, size_t(1) << 33, 0, 0});
    axis_is_refused("results of 2^64 bytes", {1, 0, most / result_size + (result_size > 1), 0, 0});
    axis_is_refused("results of 2^64 bytes",
                    {quarter, 0, 4 / std::min<size_t>(result_size, 4) + (result_size == 8), 0, 0});
    for (size_t count : {most / result_size + (result_size > 1), most, most / 8, most / 8 + 1}) {
        a.segments = count;
        r.segments("segments past the address space", invalid, a);
        a = good;
    }

    /* kernels and the rest of a config */
    for (int kernel = -1; kernel <= FASTREDUCE_EXACT + 1; ++kernel) {
        a.config.kernel = static_cast<fastreduce_kernel>(kernel);
        const bool has =
            kernel == FASTREDUCE_AUTO || (kernel == FASTREDUCE_EXACT && is_exact(type, op));
        check::that(fastreduce_supports_shapes(type, op, a.config.kernel) == has,
                    "supports_shapes: type %d, operator %d, kernel %d", type, op, kernel);
        if (kernel < 0 || kernel > FASTREDUCE_EXACT)
            is_refused("no such kernel", invalid);
        else if (!has) {
            is_refused("kernel", unsupported);
            a.config.kernel = static_cast<fastreduce_kernel>(kernel);
            a.output = nullptr;
            is_refused("invalid before unsupported", invalid);
        }
    }
    a = good;
    a.config.n_on_device = reinterpret_cast<const size_t *>(r.at(piece / 2));
    is_refused("a count on the device", unsupported);
    /* Without ends, no array of ends is in the way of an output at a low address. */
    a.output = reinterpret_cast<unsigned char *>(result_size);
    a.config.kernel = FASTREDUCE_V0;
    r.segments("output at a low address, no ends", unsupported, a);
    a = good;
    for (unsigned block_size : {1u, 16u, 48u, 100u, 2048u}) {
        a.config.block_size = block_size;
        is_refused("block size", invalid);
    }
    for (int other : {-1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 1000}) {
        a.config.output_type = static_cast<fastreduce_type>(other);
        if (other != result && (other != type || result != FASTREDUCE_F32))
            is_refused("output type", unsupported);
    }

    /* Long rows, which several blocks share, and segments, which need a list: nothing is read. */
    const fastreduce_shape long_rows = {2, size_t(1) << 24, 1, 0, 0};
    a.input = reinterpret_cast<const void *>(most / 2 + 1);
    a.shape = &long_rows;
    a.segments = 100;
    a.output = r.at(output_at);
    a.offsets = static_cast<const void *>(r.at(offsets_at));
    workspace_at(piece / 2, 16);
    is_refused("workspace too small", FASTREDUCE_ERROR_WORKSPACE_TOO_SMALL);
}

static void refusals()
{
    refusing r;
    const int invalid = FASTREDUCE_ERROR_INVALID_ARGUMENT;
    const fastreduce_shape shape = {3, 5, 4, 0, 0}, nothing = {0, 5, 4, 0, 0};
    arguments a = {};
    a.input = r.at(input_at);
    a.output = r.at(output_at);
    a.offsets = static_cast<const void *>(r.at(offsets_at));
    for (const fastreduce_shape *of : {&shape, &nothing}) {
        a.shape = of;
        a.segments = of == &shape ? 12 : 0;
        for (int type : {-1, 0, FASTREDUCE_U64 + 1, 1000})
            for (int op : {0, 4, 12}) {
                a.type = type;
                a.op = op;
                r.both("no such type", invalid, a);
            }
        for (int op : {-1, static_cast<int>(operators), 1000})
            for (int type : {1, 5, 12}) {
                a.type = type;
                a.op = op;
                r.both("no such operator", invalid, a);
            }
    }
    for (int type = FASTREDUCE_F32; type <= FASTREDUCE_U64; ++type)
        for (unsigned k = 0; k < operators; ++k)
            if (fastreduce_supports(static_cast<fastreduce_type>(type), operator_of(k),
                                    FASTREDUCE_AUTO)) {
                refusals_of(r, static_cast<fastreduce_type>(type), operator_of(k));
                r.check_untouched();
            }

    /* what looks like a refusal and is none: nothing to read, nothing to write */
    constexpr size_t most = SIZE_MAX;
    const fastreduce_shape none[] = {
        {0, 5, 4, 0, 0},          {5, 5, 0, 0, 0},       {0, 0, 0, 0, 0},
        {0, 2, most, 0, 0},       {0, most, most, 0, 0}, {0, most, most, 0, most},
        {0, most, most, most, 0}, {most, most, 0, 0, 0}, {most, most, 0, most, most}};
    for (const fastreduce_shape &of : none)
        for (fastreduce_kernel kernel : {FASTREDUCE_AUTO, FASTREDUCE_EXACT}) {
            fastreduce_config config = {};
            config.kernel = kernel;
            const fastreduce_status status = fastreduce_reduce_axis(
                nullptr, nullptr, &of, FASTREDUCE_F32, FASTREDUCE_SUM, &config);
            check::that(status == 0, "no results of %zu x %zu x %zu, strides %zu, %zu: status %d",
                        of.outer, of.n, of.inner, of.outer_stride, of.stride, status);
        }
    for (const void *offsets : {a.offsets, static_cast<const void *>(nullptr)})
        check::that(fastreduce_reduce_segments(r.at(input_at + 1), nullptr, 0, offsets,
                                               FASTREDUCE_F32, FASTREDUCE_SUM, nullptr) == 0,
                    "no segments are refused");
    CUDA(cudaDeviceSynchronize());
    r.check_untouched();
}

/* ---- Plans ----------------------------------------------------------------------------------- */

/* In how many runs a segment of n elements is shared out. */
static size_t runs_of(const fastreduce::detail::rows_plan &share, size_t n, size_t tile)
{
    fastreduce::detail::pairwise_array array = {};
    array.n = n;
    array.share(tile, fastreduce::detail::most_runs_of_result,
                (n / tile >> share.least_run_log) + 1);
    return array.runs;
}

/* Plans of rows, of which there may be any number: what a launch and a workspace hold. (Those of
 * columns are test_columns'.) A plan is constant work: the quickest of several is quick. */
template <class T>
static void plans()
{
    using namespace fastreduce::detail;
    constexpr size_t most = max_blocks, warps = rows_block / 32;
    for (fastreduce_operator op : {FASTREDUCE_SUM, FASTREDUCE_ARGMAX, FASTREDUCE_VARIANCE}) {
        if (!(every_operator >> op & 1)) continue;
        const kernel_set &e = *find_kernels(type_of<T>, op, FASTREDUCE_AUTO, false).kernels;
        for (unsigned multiprocessors : {1u, 30u, 132u})
            for (size_t results :
                 {size_t(1), size_t(2), size_t(100), size_t(70000), most + 1, most << 6})
                for (size_t n : {size_t(0), size_t(1), size_t(5), size_t(1000), size_t(4096),
                                 size_t(1) << 20, size_t(1) << 36, size_t(1) << 44})
                    for (bool segments : {false, true}) {
                        result_layout all = {};
                        all.begins = segments ? &all : nullptr;
                        all.end = results;
                        all.n = segments ? 0 : n;
                        all.inner = all.stride = 1;
                        all.outer_stride = multiprocessors == 30 ? 1000 * all.n : all.n;
                        launch_plan plan;
                        double quickest = 1e9;
                        for (unsigned turn = 0; turn < 20 && quickest > 2e-6; ++turn) {
                            const auto start = std::chrono::steady_clock::now();
                            plan = (segments ? plan_segments : plan_rows)(
                                e, all, {multiprocessors, 0}, {{}, nullptr, most});
                            const std::chrono::duration<double> took =
                                std::chrono::steady_clock::now() - start;
                            quickest = std::min(quickest, took.count());
                        }
                        char shape[120];
                        std::snprintf(
                            shape, sizeof shape, "plan of %s, %zu %s of %zu %s, %u multiprocessors",
                            fastreduce_operator_name(op), results, segments ? "segments" : "rows",
                            n, fastreduce_type_name(type_of<T>), multiprocessors);
                        const rows_plan &share = plan.share;
                        const size_t tile = plan.threads * e.tile[0].packs;
                        const bool is_long = plan.kernel == small_tiles,
                                   close = all.n > 0 &&
                                           all.outer_stride <= 8 * mebibyte / sizeof(T) / results;
                        const size_t runs = is_long    ? plan.array.runs
                                            : segments ? runs_of(share, n, tile * e.pack_size)
                                                       : 1;
                        check::that(quickest < 10e-6, "%s: %g us", shape, quickest * 1e6);
                        check::that(plan.block_results > 0 && plan.most_results > 0 &&
                                        (!segments || (results - 1) / plan.block_results < most),
                                    "%s: %zu a block", shape, plan.block_results);
                        check::that(is_long || (share.per_warp > 0 &&
                                                plan.block_results <= share.per_warp * warps &&
                                                share.prefetched == close),
                                    "%s: %zu a warp", shape, share.per_warp);
                        check::that(!is_long || plan.array.prefetch_bytes ==
                                                    (close ? tile * pack_bytes : 0),
                                    "%s: %u bytes", shape, plan.array.prefetch_bytes);
                        check::that(runs >= 1 && runs <= plan.threads * partials_of_thread &&
                                        1 + runs * e.partial_words <=
                                            workspace_words - result_queue::all_words,
                                    "%s: %zu runs", shape, runs);
                    }
    }
}

/* The bits do not depend on how many launches there are, as where one could have 2 blocks only, nor
 * on how much room. */
template <class T>
static void several_launches()
{
    const geometry shapes[] = {
        {"short rows", 3000, 40, 1, 41, 0, 1},   {"aligned rows", 500, 64, 1, 0, 0, 0},
        {"long rows", 20, 9000, 1, 9001, 0, 0},  {"few columns", 400, 30, 6, 0, 0, 1},
        {"by threads", 9000, 3, 1, 4, 0, 1},     {"planes by threads", 700, 4, 5, 20, 0, 0},
        {"groups apart", 90, 20, 3, 1000, 0, 0}, {"columns", 1, 90, 7000, 0, 0, 0},
        {"long columns", 1, 3000, 400, 0, 0, 1}, {"windows", 3000, 100, 1, 3, 2, 0}};
    launch_blocks = 2;
    for (const geometry &g : shapes) axes<T>(g);
    launch_blocks = SIZE_MAX;
    launch_words = 100;
    for (const geometry &g : shapes) axes<T>(g);
    launch_words = fastreduce::detail::workspace_words;
}

/* ---- What is asked for ----------------------------------------------------------------------- */

/* By default everything. `axes`, `segments`, `refusals`: these parts alone; names of types: these
 * alone, without refusals; `quick`: three types, and less of each. */
static bool any_named(const std::vector<std::string> &some)
{
    return std::any_of(some.begin(), some.end(), is_named);
}
static const std::vector<std::string> parts = {"axes", "segments", "refusals"};
static const std::vector<std::string> types = {"f32", "f64", "f16", "bf16", "i8",  "i16",
                                               "i32", "i64", "u8",  "u16",  "u32", "u64"};
static bool part_asked_for(const char *part) { return is_named(part) || !any_named(parts); }

template <class T>
static void of_type()
{
    const std::string name = fastreduce_type_name(type_of<T>);
    const bool few = name == "f32" || name == "f64" || name == "u8";
    if (any_named(types) ? !is_named(name) : quick && !few) return;
    if (!fastreduce_supports(type_of<T>, FASTREDUCE_SUM, FASTREDUCE_AUTO)) return;
    if (part_asked_for("axes")) {
        plans<T>();
        several_launches<T>();
        rows<T>();
        workspace_is_clean("rows");
        columns<T>();
        many_columns<T>();
        workspace_is_clean("columns");
        windows<T>();
        workspace_is_clean("windows");
        long_results<T>();
        workspace_is_clean("long results");
    }
    if (part_asked_for("segments")) {
        if (name == "u8") last_to_leave();
        all_segments<T>();
        workspace_is_clean("segments");
    }
    flat().forget();
}

int main(int argc, char **argv)
{
    check::need_device();
    quick = parse_parts(argc, argv);
    thorough = on_gpu && !quick;
    if (is_named("refusals") || (part_asked_for("refusals") && !any_named(types))) refusals();
    for_each_type<f16, bf16>([](auto x) { of_type<decltype(x)>(); });
    return check::finish("shapes");
}

/* The order in which AUTO's elements meet, and the bits that follow from it: pairwise.h, by which
 * the tests of the kernels judge them, against orders that are written out, and against golden.h,
 * which another program has computed; and fastreduce_host_pairwise against both. */
#define FASTREDUCE_HOST_IMPLEMENTATION
#include <cfenv>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <string>
#include <vector>
#include "../common/golden.h"
#include "../common/pairwise.h"
#include "../common/shards.h"
#ifdef __SSE2__
#include <xmmintrin.h>
#endif

static unsigned long checks, failures;

static void expect(bool good, const std::string &what)
{
    ++checks;
    if (!good && ++failures <= 20) std::printf("FAIL: %s\n", what.c_str());
}

static std::string hexadecimal(uint64_t bits)
{
    char text[20];
    std::snprintf(text, sizeof text, "%llx", static_cast<unsigned long long>(bits));
    return text;
}

/* ---- Orders -------------------------------------------------------------------------------- */

static std::string paired(const std::string &a, const std::string &b) { return "(" + a + b + ")"; }

static std::string order_of(size_t n)
{
    return pairwise::of([](size_t i) { return std::string(1, static_cast<char>('a' + i)); }, n,
                        paired);
}

static void orders()
{
    const char *const written[] = {"a",
                                   "(ab)",
                                   "((ab)c)",
                                   "((ab)(cd))",
                                   "(((ab)(cd))e)",
                                   "(((ab)(cd))(ef))",
                                   "(((ab)(cd))((ef)g))",
                                   "(((ab)(cd))((ef)(gh)))",
                                   "((((ab)(cd))((ef)(gh)))i)"};
    for (size_t n = 1; n <= sizeof written / sizeof *written; ++n)
        expect(order_of(n) == written[n - 1],
               "n " + std::to_string(n) + ": " + order_of(n) + ", not " + written[n - 1]);
    /* neighbours meet, and then their results: the last of an odd number goes on as it is */
    for (size_t n = 1; n <= 300; ++n) {
        std::vector<std::string> left;
        for (size_t i = 0; i < n; ++i) left.push_back(std::to_string(i) + " ");
        const std::vector<std::string> all = left;
        for (; left.size() > 1; left.resize((left.size() + 1) / 2))
            for (size_t k = 0; k < left.size(); k += 2)
                left[k / 2] = k + 1 < left.size() ? paired(left[k], left[k + 1]) : left[k];
        expect(pairwise::of([&](size_t i) { return all[i]; }, n, paired) == left[0],
               "n " + std::to_string(n) + ": not the order of neighbours");
    }
}

/* ---- Bits ---------------------------------------------------------------------------------- */

/* Whether the type of what pairwise.h gives is f32, and not f64. */
static bool in_float(fastreduce_type type)
{
    return type == FASTREDUCE_F32 || type == FASTREDUCE_F16 || type == FASTREDUCE_BF16;
}

static size_t size_of(fastreduce_type type)
{
    static const size_t sizes[] = {0, 4, 8, 2, 2, 1, 2, 4, 8, 1, 2, 4, 8};
    return sizes[type];
}

/* The type of a result: of fastreduce_dot, too. */
static fastreduce_type output_of(fastreduce_type type, int op)
{
    return fastreduce_output_type(type, op == GOLDEN_DOT ? FASTREDUCE_SUM
                                                         : static_cast<fastreduce_operator>(op));
}

static uint64_t infinity_of(fastreduce_type type)
{
    static const uint64_t bits[] = {0, 0x7f800000, uint64_t(0x7ff) << 52, 0x7c00, 0x7f80};
    return type < FASTREDUCE_I8 ? bits[type] : ~uint64_t(0);
}

/* Whether results of the type have the same bits: any NaN is right. */
static bool same(fastreduce_type type, uint64_t a, uint64_t b)
{
    const uint64_t magnitude = (uint64_t(1) << (8 * size_of(type) - 1)) - 1;
    return a == b || ((a & magnitude) > infinity_of(type) && (b & magnitude) > infinity_of(type));
}

/* The result of fastreduce_host_pairwise or of its dot product. */
static uint64_t host(fastreduce_type type, int op, const void *x, const void *y, size_t n)
{
    const fastreduce_operator by =
        op == GOLDEN_DOT ? FASTREDUCE_SUM : static_cast<fastreduce_operator>(op);
    const size_t size = size_of(fastreduce_output_type(type, by));
    uint64_t bits[2] = {~uint64_t(0), ~uint64_t(0)};
    const fastreduce_status status =
        op == GOLDEN_DOT
            ? fastreduce_host_pairwise_dot(x, y, bits, n, type, FASTREDUCE_DEFAULT_TYPE)
            : fastreduce_host_pairwise(x, bits, n, type, by, FASTREDUCE_DEFAULT_TYPE);
    expect(status == FASTREDUCE_SUCCESS, "fastreduce_host_pairwise refuses");
    const uint64_t past = size == 8 ? 0 : ~uint64_t(0) << 8 * size;
    expect((bits[0] & past) == past && bits[1] == ~uint64_t(0), "it writes past its result");
    if (pairwise::has_16_bits(type, by)) {
        uint64_t rounded = ~uint64_t(0);
        expect((op == GOLDEN_DOT ? fastreduce_host_pairwise_dot(x, y, &rounded, n, type, type)
                                 : fastreduce_host_pairwise(x, &rounded, n, type, by, type)) ==
                       FASTREDUCE_SUCCESS &&
                   rounded >> 16 == ~uint64_t(0) >> 16,
               "a result of 16 bits is refused, or it writes past it");
        expect(same(type, rounded & 0xffff, pairwise::nearest(type, bits[0] & ~past)),
               "16 bits of " + hexadecimal(bits[0] & ~past) + ": " + hexadecimal(rounded & 0xffff));
    }
    return bits[0] & ~past;
}

/* Floats at and beside each 16-bit float, and each middle between two. */
static void roundings()
{
    for (const fastreduce_type type : {FASTREDUCE_F16, FASTREDUCE_BF16}) {
        const int precision = type == FASTREDUCE_F16 ? 11 : 8;
        const auto bits_at = [&](unsigned k) -> uint32_t {
            const unsigned short half = static_cast<unsigned short>(k);
            const float x = type == FASTREDUCE_F16 ? pairwise::widened(pairwise::f16{half})
                                                   : pairwise::widened(pairwise::bf16{half});
            uint32_t bits;
            std::memcpy(&bits, &x, sizeof bits);
            return bits;
        };
        for (unsigned k = 0; k < 0xffff; ++k)
            for (uint32_t at : {bits_at(k), bits_at(k) / 2 + bits_at(k + 1) / 2})
                for (uint32_t bits : {at - 1, at, at + 1}) {
                    const uint64_t got = fastreduce_detail_narrowed(bits, precision),
                                   wanted = pairwise::nearest(type, bits);
                    expect(same(type, got, wanted), "16 bits of " + hexadecimal(bits) + ": " +
                                                        hexadecimal(got) + ", not " +
                                                        hexadecimal(wanted));
                }
    }
}

static bool result_of(fastreduce_type type, int op, const void *x, const void *y, size_t n,
                      uint64_t *bits)
{
    unsigned char result[8];
    std::memset(result, 0xa5, sizeof result);
    const bool defined =
        op == GOLDEN_DOT
            ? pairwise::dot(type, x, y, n, result)
            : pairwise::result(type, static_cast<fastreduce_operator>(op), x, n, result);
    for (size_t i = defined ? in_float(type) ? 4 : 8 : 0; i < 8; ++i)
        expect(result[i] == 0xa5, "a result is larger than its type");
    uint32_t word;
    std::memcpy(&word, result, sizeof word);
    std::memcpy(bits, result, sizeof *bits);
    if (in_float(type)) *bits = word;
    return defined;
}

static int second_on_host(const void *x, uint64_t *second, const golden_row &row)
{
    uint64_t first = 0;
    fastreduce_config config = {};
    config.second_output = second;
    return fastreduce_reduce_on_host(x, &first, row.n, row.type,
                                     static_cast<fastreduce_operator>(row.op), &config);
}

/* The second result, by pairwise.h, by the host and, of EXACT, by the host's exact mean. */
static void golden_second(const golden_row &row, const void *x)
{
    const auto op = static_cast<fastreduce_operator>(row.op);
    const fastreduce_type second = fastreduce_second_type(row.type, op);
    uint64_t by_order = 0, by_host = 0, exact = 0;
    if (second == FASTREDUCE_DEFAULT_TYPE) return;
    bool good = pairwise::second(row.type, op, x, row.n, &by_order) &&
                second_on_host(x, &by_host, row) == 0 && same(second, by_order, row.second) &&
                same(second, by_host, row.second);
    if (op == FASTREDUCE_VARIANCE && row.type <= FASTREDUCE_BF16)
        good &= fastreduce_host_reduce(x, &exact, row.n, row.type, FASTREDUCE_MEAN,
                                       FASTREDUCE_DEFAULT_TYPE) == 0 &&
                same(second, exact, row.exact_mean);
    expect(good, "golden row, seed " + std::to_string(row.seed) + ", the second: " +
                     hexadecimal(by_order) + ", on the host: " + hexadecimal(by_host) +
                     ", the exact mean: " + hexadecimal(exact));
}

static void golden()
{
    for (const golden_row &row : golden_rows) {
        const size_t size = size_of(row.type), bytes = row.n * size;
        std::vector<unsigned char> x(bytes + 1), y(bytes + 1);
        golden_fill(&row, 0, x.data() + 1, size); /* where no element is aligned */
        golden_fill(&row, 1, y.data() + 1, size);
        uint64_t bits;
        const bool is_exact = row.op == FASTREDUCE_MIN_MAX || row.op == FASTREDUCE_ARGMAX_ABS,
                   defined = result_of(row.type, row.op, x.data() + 1, y.data() + 1, row.n, &bits);
        expect(is_exact || (defined && same(output_of(row.type, row.op), bits, row.bits)),
               "golden row, seed " + std::to_string(row.seed) + ", type " +
                   std::to_string(row.type) + ", operator " + std::to_string(row.op) + ", n " +
                   std::to_string(row.n) + ": " + hexadecimal(bits) + ", not " +
                   hexadecimal(row.bits));
        golden_fill(&row, 0, x.data(), size);
        golden_fill(&row, 1, y.data(), size);
        bits = host(row.type, row.op, x.data(), y.data(), row.n);
        expect(same(output_of(row.type, row.op), bits, row.bits),
               "golden row, seed " + std::to_string(row.seed) +
                   ", on the host: " + hexadecimal(bits));
        golden_second(row, x.data());
    }
}

/* Of no elements, of one negative zero and of a NaN; and which pairs have bits. */
static void every_pair()
{
    constexpr int dot = FASTREDUCE_ARGMAX_ABS + 1;
    for (int number = FASTREDUCE_F32; number <= FASTREDUCE_U64; ++number)
        for (int op = 0; op <= dot; ++op) {
            const fastreduce_type type = static_cast<fastreduce_type>(number),
                                  output = output_of(type, op == dot ? GOLDEN_DOT : op);
            const bool is_float = type < FASTREDUCE_I8,
                       rounds =
                           op == FASTREDUCE_NORM2 || op == FASTREDUCE_VARIANCE ||
                           (is_float && (op == FASTREDUCE_SUM || op == FASTREDUCE_PRODUCT ||
                                         op == dot || op == FASTREDUCE_SUM_ABS ||
                                         op == FASTREDUCE_SUM_SQUARES || op == FASTREDUCE_MEAN));
            const uint64_t nan = in_float(type) ? 0x7fc00000 : uint64_t(0x7ff8) << 48,
                           one = in_float(type) ? 0x3f800000 : uint64_t(0x3ff) << 52,
                           sign = in_float(type) ? 0x80000000 : uint64_t(1) << 63,
                           of_none = op == FASTREDUCE_PRODUCT                             ? one
                                     : op == FASTREDUCE_MEAN || op == FASTREDUCE_VARIANCE ? nan
                                                                                          : 0;
            const std::string what =
                "type " + std::to_string(type) + ", operator " + std::to_string(op) + ", ";
            uint64_t bits, element = ~uint64_t(0); /* a NaN of every float */
            const auto of = [&](size_t n) {
                return result_of(type, op == dot ? GOLDEN_DOT : op, &element, &element, n, &bits);
            };
            expect(of(0) == rounds, what + "no elements: whether it has bits");
            if (!rounds) continue;
            expect(same(output, bits, of_none), what + "no elements: " + hexadecimal(bits));
            if (!is_float) continue;
            expect(of(1) && same(output, bits, nan), what + "a NaN: " + hexadecimal(bits));
            element = uint64_t(1) << (8 * size_of(type) - 1);
            const bool keeps = op == FASTREDUCE_SUM || op == FASTREDUCE_PRODUCT || //
                               op == FASTREDUCE_MEAN;
            expect(of(1) && bits == (keeps ? sign : 0), what + "a -0: " + hexadecimal(bits));
        }
}

/* ---- Every result of fastreduce_host_pairwise ---------------------------------------------- */

__extension__ typedef __int128 wide;

/* The bits of a result that no order changes, by the table in fastreduce.h. */
template <class T>
static uint64_t unordered(fastreduce_type type, int op, const void *from, const void *with,
                          size_t n)
{
    using real = long double; /* which holds every element */
    const pairwise::elements<T> x{from}, y{with};
    const auto whole = [&](size_t i) { return static_cast<uint64_t>(static_cast<wide>(x(i))); };
    const bool is_least =
                   op == FASTREDUCE_MIN || op == FASTREDUCE_MIN_MAX || op == FASTREDUCE_ARGMIN,
               is_abs = op == FASTREDUCE_MAX_ABS || op == FASTREDUCE_ARGMAX_ABS,
               is_index = op == FASTREDUCE_ARGMIN || op == FASTREDUCE_ARGMAX || //
                          op == FASTREDUCE_ARGMAX_ABS;
    const auto key = [&](size_t i) {
        const real value = static_cast<real>(x(i));
        return is_abs ? std::fabs(value) : is_least ? -value : value;
    };
    wide total = 0;
    uint64_t product = 1, squares = 0, magnitudes = 0, count = 0, dot = 0, bits = 0;
    size_t best = 0;
    for (size_t i = 0; i < n; ++i) {
        const real a = key(i), b = key(best);
        if (!std::isnan(b) &&
            (std::isnan(a) || a > b ||
             (a == b && !is_index && std::signbit(b) && !std::signbit(a) && type < FASTREDUCE_I8)))
            best = i;
        count += a != 0;
        if (x.is_float) continue;
        total += static_cast<wide>(x(i));
        product *= whole(i);
        squares += whole(i) * whole(i);
        magnitudes += x(i) < 0 ? 0 - whole(i) : whole(i);
        dot += whole(i) * static_cast<uint64_t>(static_cast<wide>(y(i)));
    }
    switch (op) {
    case GOLDEN_DOT: return dot;
    case FASTREDUCE_SUM: return static_cast<uint64_t>(total);
    case FASTREDUCE_PRODUCT: return product;
    case FASTREDUCE_SUM_ABS: return magnitudes;
    case FASTREDUCE_SUM_SQUARES: return squares;
    case FASTREDUCE_COUNT_NONZERO: return count;
    case FASTREDUCE_ARGMIN:
    case FASTREDUCE_ARGMAX_ABS:
    case FASTREDUCE_ARGMAX: return n == 0 ? ~uint64_t(0) : best;
    case FASTREDUCE_MEAN: {
        const double mean = static_cast<double>(total) / static_cast<double>(n);
        std::memcpy(&bits, &mean, sizeof bits);
        return bits;
    }
    default: break;
    }
    const uint64_t sign = uint64_t(1) << (8 * sizeof(T) - 1);
    if (n > 0)
        std::memcpy(&bits, static_cast<const char *>(from) + best * sizeof(T), sizeof(T));
    else if (op == FASTREDUCE_MAX_ABS)
        return 0;
    else if constexpr (pairwise::elements<T>::is_float)
        bits = infinity_of(type) | (is_least ? 0 : sign);
    else
        bits = static_cast<uint64_t>(is_least ? std::numeric_limits<T>::max()
                                              : std::numeric_limits<T>::min());
    if (op == FASTREDUCE_MAX_ABS && (bits & sign) && (x.is_float || std::is_signed<T>::value))
        bits = x.is_float ? bits ^ sign : 0 - bits;
    return sizeof(T) == 8 ? bits : bits & (2 * sign - 1);
}

/* Elements of some kind: from which exponents, or of integers of how many bits; and what is put
 * among them. */
static void fill(golden_row &row, int kind, std::vector<uint64_t> &x, unsigned which)
{
    static const unsigned exponents[] = {0, 255, 2047, 31, 255};
    const size_t size = size_of(row.type);
    const bool is_float = row.type < FASTREDUCE_I8;
    const unsigned most = is_float ? exponents[row.type] : unsigned(8 * size), half = most / 2;
    const unsigned ranges[][2] = {{0, most}, {0, most + 1}, {half - 2, 4},
                                  {0, 2},    {most - 2, 2}, {half, 1}};
    row.lowest = ranges[kind % 6][0], row.exponents = ranges[kind % 6][1];
    if (!is_float) row.lowest = row.lowest < 1 ? 1 : row.lowest;
    if (!is_float && row.lowest + row.exponents > most + 1) row.exponents = most + 1 - row.lowest;
    golden_fill(&row, which, x.data(), size);
    if (kind < 6 || row.n == 0) return;
    const uint64_t sign = uint64_t(1) << (8 * size - 1),
                   specials[] = {sign, is_float ? infinity_of(row.type) : sign - 1, 0,
                                 is_float ? infinity_of(row.type) | sign : sign + 1,
                                 is_float ? infinity_of(row.type) + 1 : 2 * sign - 1};
    for (size_t k = 0; k < (kind < 9 ? 1 : row.n); ++k) { /* one of them, or nothing else */
        const uint64_t z = (row.seed + k) * 0x9e3779b97f4a7c15 >> 32;
        std::memcpy(reinterpret_cast<char *>(x.data()) + (kind < 9 ? z % row.n : k) * size,
                    &specials[kind == 9 ? z / 7 % 3 : z / 7 % 5], size);
    }
}

/* Where the CPU rounds otherwise or flushes denormals, a result is refused. */
static void expect_refusal(const golden_row &row, const void *x, const void *y)
{
    uint64_t output = 0xa5a5a5a5a5a5a5a5;
    const fastreduce_status status =
        row.op == GOLDEN_DOT
            ? fastreduce_host_pairwise_dot(x, y, &output, row.n, row.type, FASTREDUCE_DEFAULT_TYPE)
            : fastreduce_host_pairwise(x, &output, row.n, row.type,
                                       static_cast<fastreduce_operator>(row.op),
                                       FASTREDUCE_DEFAULT_TYPE);
    expect(status == FASTREDUCE_ERROR_UNSUPPORTED && output == 0xa5a5a5a5a5a5a5a5,
           "another mode of the CPU: status " + std::to_string(status));
}

static void modes(const golden_row &row, const void *x, const void *y)
{
    static const int directions[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
    for (const int direction : directions) {
        std::fesetround(direction);
        expect_refusal(row, x, y);
        std::fesetround(FE_TONEAREST);
    }
#ifdef __SSE2__
    const unsigned before = _mm_getcsr();
    for (const unsigned flush : {0x8000u, 0x40u, 0x8040u}) {
        _mm_setcsr(before | flush);
        expect_refusal(row, x, y);
        _mm_setcsr(before);
    }
#endif
}

/* The second result, or that there is none. */
static void check_second(const golden_row &row, int kind, const void *x)
{
    const auto op = static_cast<fastreduce_operator>(row.op);
    const fastreduce_type output = fastreduce_second_type(row.type, op);
    uint64_t wanted = 0, got = 0;
    const bool has_second = pairwise::second(row.type, op, x, row.n, &wanted);
    const int status = second_on_host(x, &got, row),
              right = has_second ? FASTREDUCE_SUCCESS : FASTREDUCE_ERROR_UNSUPPORTED;
    expect(status == right && (output != FASTREDUCE_DEFAULT_TYPE) == has_second &&
               (!has_second || same(output, got, wanted)),
           "the second result, type " + std::to_string(row.type) + ", operator " +
               std::to_string(row.op) + ", kind " + std::to_string(kind) + ", n " +
               std::to_string(row.n) + ": status " + std::to_string(status) + ", " +
               hexadecimal(got) + ", not " + hexadecimal(wanted));
}

static void every_result()
{
    static const size_t sizes[] = {0,    1,    2,    3,    4,    5,    7,    8,    9,
                                   13,   16,   17,   31,   32,   33,   100,  255,  511,
                                   512,  513,  1000, 1024, 1025, 1537, 2047, 2048, 2049,
                                   3000, 4095, 4096, 4097, 5121, 8200};
    std::vector<uint64_t> x(8200), y(8200);
    golden_row row{};
    for (int number = FASTREDUCE_F32; number <= FASTREDUCE_U64; ++number)
        for (int kind = 0; kind < 11; ++kind)
            for (const size_t n : sizes) {
                if (n > 1100 && kind % 3) continue;
                row.type = static_cast<fastreduce_type>(number);
                row.n = n;
                ++row.seed;
                fill(row, kind, x, 0);
                fill(row, kind, y, 1);
                for (row.op = GOLDEN_DOT; row.op <= FASTREDUCE_ARGMAX_ABS; ++row.op) {
                    const fastreduce_type output = output_of(row.type, row.op);
                    uint64_t wanted;
                    if (!result_of(row.type, row.op, x.data(), y.data(), n, &wanted))
                        pairwise::by_type(row.type, [&](auto zero) {
                            wanted =
                                unordered<decltype(zero)>(row.type, row.op, x.data(), y.data(), n);
                            return true;
                        });
                    const uint64_t got = host(row.type, row.op, x.data(), y.data(), n);
                    expect(same(output, got, wanted),
                           "on the host, type " + std::to_string(row.type) + ", operator " +
                               std::to_string(row.op) + ", kind " + std::to_string(kind) + ", n " +
                               std::to_string(n) + ": " + hexadecimal(got) + ", not " +
                               hexadecimal(wanted));
                    if (row.op != GOLDEN_DOT) check_second(row, kind, x.data());
                    if (n == 4) modes(row, x.data(), y.data());
                }
            }
}

/* ---- Shards -------------------------------------------------------------------------------- */

/* Returns the bits of the mean of n elements, given those of their sum. */
static uint64_t mean_of(fastreduce_type type, uint64_t sum, size_t n)
{
    const uint32_t word = static_cast<uint32_t>(sum);
    uint64_t bits = 0;
    double all;
    float single;
    std::memcpy(&single, &word, sizeof single);
    std::memcpy(&all, &sum, sizeof all);
    if (in_float(type)) all = single;
    if (type == FASTREDUCE_I64) all = static_cast<double>(static_cast<int64_t>(sum));
    if (type == FASTREDUCE_U64) all = static_cast<double>(sum);
    all /= static_cast<double>(n);
    single = static_cast<float>(all);
    if (in_float(type))
        std::memcpy(&bits, &single, sizeof single);
    else
        std::memcpy(&bits, &all, sizeof all);
    return bits;
}

/* Shards of 2^k elements have the bits of the whole. Others have them, by any operator, only where
 * nothing rounds: returns how many of these differ. */
static unsigned check_shards(const golden_row &row, fastreduce_operator second, const char *x,
                             const char *y)
{
    const fastreduce_type output = output_of(row.type, row.op);
    const size_t size = size_of(row.type);
    const uint64_t whole = host(row.type, row.op, x, y, row.n),
                   minus = output < FASTREDUCE_I8 ? uint64_t(1) << (8 * size_of(output) - 1)
                                                  : ~whole; /* -0 */
    const auto in_shards = [&](size_t length, size_t empty) {
        return shards::result(
            [&](size_t begin, size_t count) {
                return host(row.type, row.op, x + begin * size, y + begin * size, count);
            },
            [&](const void *partials, size_t count) {
                return host(output, second, partials, partials, count);
            },
            size_of(output), row.n, length, empty);
    };
    if (row.op == FASTREDUCE_SUM && row.n > 0 && (row.type < FASTREDUCE_I8 || size < 8))
        expect(same(output_of(row.type, FASTREDUCE_MEAN), mean_of(output, whole, row.n),
                    host(row.type, FASTREDUCE_MEAN, x, y, row.n)),
               "the mean of a sum, type " + std::to_string(row.type) + ", n " +
                   std::to_string(row.n));
    unsigned differ = 0;
    for (unsigned k = row.seed % 3; k < 14; k += 3)
        for (const size_t empty : {0, 1, 5}) {
            const size_t length = size_t(1) << k;
            if (row.n / length > 60 || (row.n == 0 && empty == 0)) continue; /* no shard */
            const bool is_lost = empty > 0 && second == FASTREDUCE_SUM && whole == minus;
            const uint64_t got = in_shards(length, empty);
            expect(same(output, got, is_lost ? 0 : whole),
                   "shards of " + std::to_string(length) + ", " + std::to_string(empty) +
                       " empty, type " + std::to_string(row.type) + ", operator " +
                       std::to_string(row.op) + ", n " + std::to_string(row.n) + ": " +
                       hexadecimal(got) + ", not " + hexadecimal(whole));
        }
    for (const size_t length : {3, 7, 24, 100, 1000})
        differ +=
            length < row.n && row.n / length < 60 && !same(output, in_shards(length, 0), whole);
    return differ;
}

static void all_shards()
{
    static const size_t sizes[] = {0, 1, 2, 3, 5, 8, 31, 100, 259, 1000, 1025, 2600, 4099};
    std::vector<uint64_t> x(4099), y(4099);
    for (int number = FASTREDUCE_F32; number <= FASTREDUCE_U64; ++number)
        for (int op = GOLDEN_DOT; op <= FASTREDUCE_ARGMAX_ABS; ++op) {
            golden_row row{};
            row.type = static_cast<fastreduce_type>(number);
            row.op = op;
            fastreduce_operator second;
            if (!shards::second_operator(op, &second)) continue;
            unsigned differ = 0;
            for (int kind = 0; kind < 11; ++kind)
                for (const size_t n : sizes) {
                    if (n > 300 && (kind + op) % 3 != 2) continue;
                    row.n = n;
                    ++row.seed;
                    fill(row, kind, x, 0);
                    fill(row, kind, y, 1);
                    differ += check_shards(row, second, reinterpret_cast<const char *>(x.data()),
                                           reinterpret_cast<const char *>(y.data()));
                }
            const bool rounds = number < FASTREDUCE_I8 && second != FASTREDUCE_MIN &&
                                second != FASTREDUCE_MAX && op != FASTREDUCE_COUNT_NONZERO;
            expect((differ > 0) == rounds,
                   "shards of other lengths, type " + std::to_string(number) + ", operator " +
                       std::to_string(op) + ": " + std::to_string(differ) + " differ");
        }
}

/* ---- Refusals ------------------------------------------------------------------------------ */

/* Calls with every mistake; what is refused leaves the output as it was. */
static void check_refusal(fastreduce_type type, int op, fastreduce_type output_type, const char *x,
                          const char *y, size_t n, int to)
{
    static double output[2];
    char *const place = to < 0 ? nullptr : reinterpret_cast<char *>(output) + to;
    const bool is_dot = op == GOLDEN_DOT;
    const fastreduce_operator by = is_dot ? FASTREDUCE_SUM : static_cast<fastreduce_operator>(op);
    const fastreduce_type usual = fastreduce_output_type(type, by);
    const bool is_rounded = output_type == type && pairwise::has_16_bits(type, by);
    const auto is_bad = [](const char *from, size_t size, size_t count) {
        const uintptr_t address = reinterpret_cast<uintptr_t>(from);
        return size == 0 || (!from && count > 0) || address % size != 0 ||
               count > (UINTPTR_MAX - address) / size;
    };
    const size_t size = fastreduce_type_size(type);
    const bool is_invalid = is_bad(x, size, n) || (is_dot && is_bad(y, size, n)) ||
                            is_bad(place, fastreduce_type_size(is_rounded ? type : usual), 1);
    const int wanted = is_invalid ? FASTREDUCE_ERROR_INVALID_ARGUMENT
                       : output_type != 0 && output_type != usual && !is_rounded
                           ? FASTREDUCE_ERROR_UNSUPPORTED
                           : FASTREDUCE_SUCCESS;
    if (wanted == FASTREDUCE_SUCCESS && n > 2) return; /* there is no such memory */
    std::memset(output, 0xa5, sizeof output);
    uint64_t nowhere = 0;
    fastreduce_config both = {};
    both.second_output = &nowhere;
    if (!is_dot && output_type == 0 && fastreduce_second_type(type, by) == 0)
        expect(fastreduce_reduce_on_host(x, place, n, type, by, &both) ==
                   (is_invalid ? FASTREDUCE_ERROR_INVALID_ARGUMENT : FASTREDUCE_ERROR_UNSUPPORTED),
               "no second result: type " + std::to_string(type) + ", operator " +
                   std::to_string(op));
    const int got = is_dot ? fastreduce_host_pairwise_dot(x, y, place, n, type, output_type)
                           : fastreduce_host_pairwise(x, place, n, type, by, output_type);
    unsigned char bytes[sizeof output];
    std::memcpy(bytes, output, sizeof output);
    bool is_untouched = true;
    for (const unsigned char byte : bytes) is_untouched = is_untouched && byte == 0xa5;
    expect(got == wanted && is_untouched == (got != FASTREDUCE_SUCCESS),
           "status " + std::to_string(got) + ", not " + std::to_string(wanted) + ": type " +
               std::to_string(type) + ", operator " + std::to_string(op) + ", output type " +
               std::to_string(output_type) + ", n " + std::to_string(n));
}

static void refusals()
{
    alignas(8) static const char x[24] = {};
    for (int type = 0; type <= FASTREDUCE_U64 + 1; ++type)
        for (int op = GOLDEN_DOT; op <= FASTREDUCE_ARGMAX_ABS + 1; ++op)
            for (int result = 0; result <= FASTREDUCE_U64 + 1; ++result)
                for (const int from : {-1, 0, 1, 2, 4})
                    for (const int with : {-1, 0, 1, 2, 4})
                        for (const int to : {-1, 0, 1, 2, 4})
                            for (const size_t n : {size_t(0), size_t(2), SIZE_MAX / 2, SIZE_MAX})
                                if (op == GOLDEN_DOT || with == from)
                                    check_refusal(static_cast<fastreduce_type>(type), op,
                                                  static_cast<fastreduce_type>(result),
                                                  from < 0 ? nullptr : x + from,
                                                  with < 0 ? nullptr : x + with, n, to);
}

int main()
{
    orders();
    golden();
    roundings();
    every_pair();
    every_result();
    all_shards();
    refusals();
    std::printf("pairwise: %lu checks, %lu failed\n", checks, failures);
    return failures != 0;
}

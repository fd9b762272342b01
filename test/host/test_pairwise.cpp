/* The order in which AUTO's elements meet, and the bits that follow from it: pairwise.h, by which
 * the tests of the kernels judge them, against orders that are written out, and against golden.h,
 * which another program has computed. */
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>
#include "../common/golden.h"
#include "../common/pairwise.h"

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

static std::string paired(const std::string &a, const std::string &b)
{
    return "(" + a + b + ")";
}

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

static bool same(fastreduce_type type, uint64_t a, uint64_t b)
{
    const uint64_t infinity = in_float(type) ? 0x7f800000 : uint64_t(0x7ff) << 52,
                   sign = in_float(type) ? 0x80000000 : uint64_t(1) << 63;
    return a == b || ((a & ~sign) > infinity && (b & ~sign) > infinity); /* any NaN is right */
}

static size_t size_of(fastreduce_type type)
{
    static const size_t sizes[] = {0, 4, 8, 2, 2, 1, 2, 4, 8, 1, 2, 4, 8};
    return sizes[type];
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

static void golden()
{
    for (const golden_row &row : golden_rows) {
        const size_t size = size_of(row.type), bytes = row.n * size;
        std::vector<unsigned char> x(bytes + 1), y(bytes + 1);
        golden_fill(&row, 0, x.data() + 1, size); /* where no element is aligned */
        golden_fill(&row, 1, y.data() + 1, size);
        uint64_t bits;
        const bool defined = result_of(row.type, row.op, x.data() + 1, y.data() + 1, row.n, &bits);
        expect(defined && same(row.type, bits, row.bits),
               "golden row, seed " + std::to_string(row.seed) + ", type " +
                   std::to_string(row.type) + ", operator " + std::to_string(row.op) + ", n " +
                   std::to_string(row.n) + ": " + hexadecimal(bits) + ", not " +
                   hexadecimal(row.bits));
    }
}

/* Of no elements, of one negative zero and of a NaN; and which pairs have bits. */
static void every_pair()
{
    constexpr int dot = FASTREDUCE_COUNT_NONZERO + 1;
    for (int number = FASTREDUCE_F32; number <= FASTREDUCE_U64; ++number)
        for (int op = 0; op <= dot; ++op) {
            const fastreduce_type type = static_cast<fastreduce_type>(number);
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
            expect(same(type, bits, of_none), what + "no elements: " + hexadecimal(bits));
            if (!is_float) continue;
            expect(of(1) && same(type, bits, nan), what + "a NaN: " + hexadecimal(bits));
            element = uint64_t(1) << (8 * size_of(type) - 1);
            const bool keeps = op == FASTREDUCE_SUM || op == FASTREDUCE_PRODUCT || //
                               op == FASTREDUCE_MEAN;
            expect(of(1) && bits == (keeps ? sign : 0), what + "a -0: " + hexadecimal(bits));
        }
}

int main()
{
    orders();
    golden();
    every_pair();
    std::printf("pairwise: %lu checks, %lu failed\n", checks, failures);
    return failures != 0;
}

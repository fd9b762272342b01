/* How fast exact sums on the CPU are, of floats, of doubles and of products of floats, on one core,
 * beside loops that are not exact: one number that takes every element, and sixteen by turns.
 *
 *     cc -O3 host_speed.c -o host_speed -lm && ./host_speed [N]
 *
 * For each kind of data and each n up to N (10^8 by default): nanoseconds a call for few elements,
 * GB/s for many. They take turns and the best of several rounds counts. A call begins when the one
 * before has ended: its pointer depends on the sum.
 *
 * With -DWITH_XSUM -IXSUM XSUM/xsum.c, where XSUM is R. Neal's library for exact sums of doubles
 * (gitlab.com/radfordneal/xsum), it is in the table, too. */
#define PROGRAM "host_speed"
#define FASTREDUCE_HOST_IMPLEMENTATION
#include "../../fastreduce.h"
#include "../common.h"
#include <math.h>
#ifdef WITH_XSUM
#include <xsum.h>
#endif

enum { LANES = 16 };

static const char help[] = "usage: host_speed [N]\n"
                           "Sums arrays of up to N elements (" SIZE_FORMS ";\n"
                           "at least 8; default 10^8) by one core, exactly and by plain loops.\n"
                           "-h, --help and --version print and do nothing else.\n";

/* The plain loops: TERM is element i, or the product of two. Of a dot product the second array
 * follows the first. */
#define PLAIN_LOOPS(NAME, T, TERM)                             \
    static double NAME##_by_one(const void *input, size_t n)   \
    {                                                          \
        const T *x = (const T *)input;                         \
        T sum = 0;                                             \
        size_t i;                                              \
        for (i = 0; i < n; ++i) sum += TERM;                   \
        return (double)sum;                                    \
    }                                                          \
    static double NAME##_by_lanes(const void *input, size_t n) \
    {                                                          \
        const T *x = (const T *)input;                         \
        T lane[LANES] = {0}, sum = 0;                          \
        size_t i, first;                                       \
        int k;                                                 \
        for (first = 0; first + LANES <= n; first += LANES)    \
            for (k = 0; k < LANES; ++k) {                      \
                i = first + (size_t)k;                         \
                lane[k] += TERM;                               \
            }                                                  \
        for (i = first; i < n; ++i) sum += TERM;               \
        for (k = 0; k < LANES; ++k) sum += lane[k];            \
        return (double)sum;                                    \
    }
PLAIN_LOOPS(floats, float, x[i])
PLAIN_LOOPS(doubles, double, x[i])
PLAIN_LOOPS(products, float, x[i] * x[n + i])

static double exact_floats(const void *x, size_t n)
{
    return (double)fastreduce_host_sum_f32((const float *)x, n);
}

static double exact_doubles(const void *x, size_t n)
{
    return fastreduce_host_sum_f64((const double *)x, n);
}

static double exact_products(const void *x, size_t n)
{
    return (double)fastreduce_host_dot_f32((const float *)x, (const float *)x + n, n);
}

#ifdef WITH_XSUM
/* Its larger accumulator takes longer to begin with and to round. */
static double xsum_doubles(const void *x, size_t n)
{
    if (n <= 1000) {
        xsum_small_accumulator sum;
        xsum_small_init(&sum);
        xsum_small_addv(&sum, (const double *)x, (xsum_length)n);
        return xsum_small_round(&sum);
    } else {
        xsum_large_accumulator sum;
        xsum_large_init(&sum);
        xsum_large_addv(&sum, (const double *)x, (xsum_length)n);
        return xsum_large_round(&sum);
    }
}
#else
#define xsum_doubles NULL
#endif

typedef double (*reduction)(const void *x, size_t n);
enum { CONTENDERS = 4 };
static const char *const contender_names[CONTENDERS] = {"exact", "one number", "16 numbers",
                                                        "xsum"};
static const struct {
    const char *name;
    size_t bytes; /* read for each n */
    int is_double;
    reduction contender[CONTENDERS]; /* null: there is none */
} sums[] = {{"floats", 4, 0, {exact_floats, floats_by_one, floats_by_lanes, NULL}},
            {"doubles", 8, 1, {exact_doubles, doubles_by_one, doubles_by_lanes, xsum_doubles}},
            {"products", 8, 0, {exact_products, products_by_one, products_by_lanes, NULL}}};
enum { SUMS = sizeof sums / sizeof *sums };

static uint32_t random_bits(void)
{
    static uint64_t state = 0;
    return (uint32_t)(hash(state++) >> 32);
}

static double fraction(void) { return ldexp((double)random_bits(), -32); }

static double normal(void)
{
    return sqrt(-2 * log(fraction() + 0x1p-33)) * cos(6.283185307179586 * fraction());
}

static const char *const kinds[] = {"uniform",         "normal",
                                    "half zeros",      "lognormal, sigma 5",
                                    "ascending",       "1e30 in the middle",
                                    "1e30 every 1000", "any exponent"};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Exponents of doubles are eight times as far apart where they are spread. */
static double element(int kind, size_t i, size_t n, int is_double)
{
    const int reach = is_double ? 8 * 120 : 120;
    switch (kind) {
    case 0: return fraction();
    case 1: return normal();
    case 2: return random_bits() >> 31 ? normal() : 0;
    case 3: return exp(5 * normal());
    case 4: return ldexp(1 + fraction(), (int)(2 * (size_t)reach * i / n) - reach);
    case 5: return i == n / 2 ? 1e30 : normal();
    case 6: return i % 1000 == 999 ? 1e30 : normal();
    default: break;
    }
    return ldexp(fraction() - 0.5, (int)(random_bits() % (2 * (unsigned)reach)) - reach);
}

static void fill(void *x, int kind, size_t n, int is_double)
{
    size_t i;
    for (i = 0; i < n; ++i) {
        const double value = element(kind, i, n, is_double);
        if (is_double)
            ((double *)x)[i] = value;
        else
            ((float *)x)[i] = (float)value;
    }
}

/* Seconds for each of `calls` calls. */
static double time_calls(reduction volatile sum, const void *x, size_t n, size_t calls)
{
    const char *place = (const char *)x;
    const clock_t begin = clock();
    size_t k;
    for (k = 0; k < calls; ++k) /* never equal, and the compiler cannot know */
        place += 8 * (sum(place, n) == 0x1.23456789abcdep-500);
    return (double)(clock() - begin) / CLOCKS_PER_SEC / (double)calls;
}

static void measure(int which, int kind, const void *x, size_t n)
{
    const size_t calls = 1 + 2000000 / (n + 50);
    const int rounds = n > 10000000 ? 5 : 11;
    double best[CONTENDERS], seconds;
    int round, k;
    for (round = 0; round < rounds; ++round) {
        for (k = 0; k < CONTENDERS; ++k) {
            if (!sums[which].contender[k]) continue;
            seconds = time_calls(sums[which].contender[k], x, n, calls);
            if (round == 0 || seconds < best[k]) best[k] = seconds;
        }
    }
    printf("%-9s %-18s %10lu", sums[which].name, kinds[kind], (unsigned long)n);
    for (k = 0; k < CONTENDERS && sums[which].contender[k]; ++k)
        printf(n > 1000 ? "%10.2f GB/s" : "%10.1f ns  ",
               n > 1000 ? 1e-9 * (double)sums[which].bytes * (double)n / best[k] : 1e9 * best[k]);
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {8, 32, 100, 256, 1000, 100000, 100000000};
    arguments a = arguments_of(argv);
    const char *operand = only_operand(&a, help);
    const uint64_t most = operand ? size_argument(&a, "no such number: ", operand) : 100000000;
    void *x;
    size_t s;
    int which, kind, k;

    (void)argc;
    if (most < 8) wrong_usage(&a, "too few: ", operand);
    x = most <= SIZE_MAX / sizeof(double) ? malloc((size_t)most * sizeof(double)) : NULL;
    if (!x) fail(1, "no memory for %lu doubles", (unsigned long)most);
    printf("%-9s %-18s %10s", "sum of", "data", "n");
    for (k = 0; k < CONTENDERS && sums[1].contender[k]; ++k) printf("%15s", contender_names[k]);
    printf("\n");
    for (which = 0; which < SUMS; ++which) {
        for (kind = 0; kind < KINDS; ++kind) {
            for (s = 0; s < sizeof sizes / sizeof *sizes && sizes[s] <= most; ++s) {
                const size_t n = sizes[s];
                fill(x, kind, n * sums[which].bytes / (sums[which].is_double ? 8 : 4),
                     sums[which].is_double);
                measure(which, kind, x, n);
            }
        }
    }
    free(x);
    finish_output();
    return 0;
}

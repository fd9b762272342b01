/* How fast the exact sum on the CPU is, on one core, beside loops that are not exact: one float
 * that takes every element, and sixteen that take turns.
 *
 *     cc -O3 host_speed.c -o host_speed -lm && ./host_speed [N]
 *
 * For each kind of data and each n up to N (10^8 by default): nanoseconds a call for few elements,
 * GB/s for many. The three take turns and the best of several rounds counts. A call begins when
 * the one before has ended: its pointer depends on the sum. */
#define PROGRAM "host_speed"
#define FASTREDUCE_HOST_IMPLEMENTATION
#include "../fastreduce.h"
#include "common.h"
#include <math.h>

enum { LANES = 16 };

static const char help[] = "usage: host_speed [N]\n"
                           "Sums arrays of up to N floats (" SIZE_FORMS ";\n"
                           "at least 8; default 10^8) by one core, exactly and by plain loops.\n"
                           "-h, --help and --version print and do nothing else.\n";

static float sum_plain(const float *x, size_t n)
{
    float sum = 0;
    size_t i;
    for (i = 0; i < n; ++i) sum += x[i];
    return sum;
}

static float sum_lanes(const float *x, size_t n)
{
    float lane[LANES] = {0}, sum = 0;
    size_t i;
    int k;
    for (i = 0; i + LANES <= n; i += LANES)
        for (k = 0; k < LANES; ++k) lane[k] += x[i + (size_t)k];
    for (; i < n; ++i) sum += x[i];
    for (k = 0; k < LANES; ++k) sum += lane[k];
    return sum;
}

typedef float (*sum_function)(const float *x, size_t n);
static const struct {
    const char *name;
    sum_function sum;
} contender[] = {
    {"exact", fastreduce_host_sum_f32}, {"one float", sum_plain}, {"16 floats", sum_lanes}};
enum { CONTENDERS = sizeof contender / sizeof *contender };

static uint32_t random_bits(void)
{
    static uint64_t state = 0;
    return (uint32_t)(hash(state++) >> 32);
}

static float fraction(void)
{
    return ldexpf((float)(random_bits() >> 8), -24);
}

static float normal(void)
{
    return sqrtf(-2 * logf(fraction() + 0x1p-25f)) * cosf(6.2831853f * fraction());
}

static const char *const kinds[] = {"uniform",         "normal",
                                    "half zeros",      "lognormal, sigma 5",
                                    "ascending",       "1e30 in the middle",
                                    "1e30 every 1000", "any exponent"};
enum { KINDS = sizeof kinds / sizeof *kinds };

static float element(int kind, size_t i, size_t n)
{
    float x;
    uint32_t bits = random_bits();
    switch (kind) {
    case 0: return fraction();
    case 1: return normal();
    case 2: return bits >> 31 ? normal() : 0;
    case 3: return expf(5 * normal());
    case 4: return ldexpf(1 + fraction(), (int)(240 * i / n) - 120);
    case 5: return i == n / 2 ? 1e30f : normal();
    case 6: return i % 1000 == 999 ? 1e30f : normal();
    default: break;
    }
    if ((bits >> 23 & 255) == 255) bits ^= 1u << 30;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Seconds for each of `calls` calls. */
static double time_calls(sum_function volatile sum, const float *x, size_t n, size_t calls)
{
    const clock_t begin = clock();
    size_t k;
    for (k = 0; k < calls; ++k)
        x += bits_of(sum(x, n)) == 0x12345678; /* never, and the compiler cannot know */
    return (double)(clock() - begin) / CLOCKS_PER_SEC / (double)calls;
}

static void measure(int kind, const float *x, size_t n)
{
    const size_t calls = 1 + 4000000 / (n + 50);
    const int rounds = n > 10000000 ? 5 : 15;
    double best[CONTENDERS], seconds;
    int round, k;
    for (round = 0; round < rounds; ++round) {
        for (k = 0; k < CONTENDERS; ++k) {
            seconds = time_calls(contender[k].sum, x, n, calls);
            if (round == 0 || seconds < best[k]) best[k] = seconds;
        }
    }
    printf("%-20s %10lu", kinds[kind], (unsigned long)n);
    for (k = 0; k < CONTENDERS; ++k)
        printf(n > 1000 ? "%10.2f GB/s" : "%10.1f ns  ",
               n > 1000 ? 4e-9 * (double)n / best[k] : 1e9 * best[k]);
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {8, 32, 100, 256, 1000, 100000, 100000000};
    arguments a = arguments_of(argv);
    const char *operand = only_operand(&a, help);
    const uint64_t most = operand ? size_argument(&a, "no such number: ", operand) : 100000000;
    float *x;
    size_t s, i;
    int kind, k;

    (void)argc;
    if (most < 8) wrong_usage(&a, "too few: ", operand);
    x = most <= SIZE_MAX / sizeof *x ? (float *)malloc((size_t)most * sizeof *x) : NULL;
    if (!x) fail(1, "no memory for %lu floats", (unsigned long)most);
    printf("%-20s %10s", "data", "n");
    for (k = 0; k < CONTENDERS; ++k) printf("%15s", contender[k].name);
    printf("\n");
    for (kind = 0; kind < KINDS; ++kind) {
        for (s = 0; s < sizeof sizes / sizeof *sizes && sizes[s] <= most; ++s) {
            for (i = 0; i < sizes[s]; ++i) x[i] = element(kind, i, sizes[s]);
            measure(kind, x, sizes[s]);
        }
    }
    free(x);
    finish_output();
    return 0;
}

/* The exact sum on the CPU against MPFR's mpfr_sum: equal bits, as float and as double, for the
 * whole and for any split and merge. */
#include "checks.h"
#include "../common/names.h"
#include "../common/oracle.h"

static void shuffle(float *x, size_t n)
{
    size_t i, j;
    for (i = n; i > 1; --i) {
        float t = x[i - 1];
        j = random_bits() % i;
        x[i - 1] = x[j];
        x[j] = t;
    }
}

typedef struct sum_of {
    const char *what;
    const float *x;
    size_t n;
    float wanted;
} sum_of;

static void check_sum(void *argument)
{
    const sum_of *sum = (const sum_of *)argument;
    const float got = fastreduce_host_sum_f32(sum->x, sum->n);
    expect(bits_f32(got) == bits_f32(sum->wanted), sum->what, sum->n, got, sum->wanted);
}

static void sum_case(const char *what, float *x, size_t n)
{
    float wanted, got;
    double wanted64;
    sum_of sum;
    fastreduce_accumulator whole, merged, raw, part;
    size_t begin, end;
    int k;

    most_chunks = random_bits() % 2 ? 1 + random_bits() % 3 : (size_t)1 << 16;
    wanted = mpfr_oracle_twice(x, n, &wanted64);
    sum.what = what, sum.x = x, sum.n = n, sum.wanted = wanted;
    for (use_avx2 = 0; use_avx2 <= has_avx2(); ++use_avx2) {
        every_mode(check_sum, &sum);
        memset(&whole, 0, sizeof whole);
        fastreduce_host_accumulate_f32(x, &whole, n);
        expect(same_f64(fastreduce_accumulator_f64(&whole), wanted64), what, n,
               fastreduce_accumulator_f64(&whole), wanted64);
    }
    use_avx2 = (int)(random_bits() % (1 + (unsigned)has_avx2()));

    /* another order, in pieces: merged by the function, and by adding limbs as MPI_SUM would */
    shuffle(x, n);
    memset(&merged, 0, sizeof merged);
    memset(&raw, 0, sizeof raw);
    for (begin = 0; begin < n; begin = end) {
        end = begin + 1 + random_bits() % (n - begin);
        memset(&part, 0, sizeof part);
        fastreduce_host_accumulate_f32(x + begin, &part, end - begin);
        fastreduce_accumulator_merge(&merged, &part);
        for (k = 0; k < 16; ++k) raw.limb[k] += part.limb[k];
    }
    got = fastreduce_accumulator_f32(&raw);
    expect(bits_f32(got) == bits_f32(wanted), "limbs added", n, got, wanted);
    expect(memcmp(&merged, &whole, sizeof whole) == 0,
           "merged accumulators differ from the whole's", n, got, wanted);
}

/* Every finite float, each exponent as likely as another. */
static float any_finite(void)
{
    uint32_t bits;
    do bits = random_bits();
    while ((bits >> 23 & 255) == 255);
    return from_bits(bits);
}

static float in_unit(void)
{
    return (float)((int32_t)(random_bits() >> 8) - (1 << 23)) / (float)(1 << 23);
}

static void random_cases(void)
{
    static float x[4099];
    size_t n, i;
    int round;
    for (round = 0; round < 400; ++round) {
        n = round < 40 ? (size_t)round : random_bits() % 4000;
        for (i = 0; i < n; ++i) x[i] = any_finite();
        sum_case("all exponents", x, n);
        for (i = 0; i < n; ++i) x[i] = in_unit();
        sum_case("uniform", x, n);
        for (i = 0; i < n; ++i)
            x[i] = from_bits((random_bits() & 0x80000000u) | (random_bits() & 0x7fffff));
        sum_case("denormals", x, n);
        for (i = 0; i < n; ++i) x[i] = from_bits((random_bits() & 0x81ffffffu));
        sum_case("around the smallest normals", x, n);
        for (i = 0; i < n; ++i)
            x[i] = from_bits((uint32_t)(round % 254 + 1) << 23 | (random_bits() & 0x7fffff));
        sum_case("one exponent, one sign", x, n);
        /* ill-conditioned: every large term is taken back, small ones
         * stay; sums of condition up to 1e60 */
        for (i = 0; i + 2 < n; i += 3) {
            x[i] = any_finite();
            x[i + 1] = -x[i];
            x[i + 2] = in_unit() * from_bits((1 + random_bits() % 100) << 23);
        }
        for (; i < n; ++i) x[i] = in_unit() * FLT_MIN;
        shuffle(x, n);
        sum_case("ill-conditioned", x, n);
        for (i = 0; i < n; ++i)
            x[i] = random_bits() % 2 ? FLT_MAX : -FLT_MAX * (random_bits() % 2 ? 1.0f : 0.5f);
        sum_case("overflow that may cancel", x, n);
        for (i = 0; i < n; ++i)
            x[i] = random_bits() % 64 ? any_finite()
                                      : from_bits(0x7f800000u | (random_bits() & 0x80000000u));
        sum_case("infinities", x, n);
        for (i = 0; i < n; ++i) x[i] = from_bits(random_bits());
        sum_case("all bit patterns", x, n);
    }
}

/* Rows and blocks of them around what the window takes. All is near one exponent, from the lowest
 * to the highest, and rows after the first may have one more, for which the window has room. */
static void windows(void)
{
    enum { MOST = 3 * FASTREDUCE_DETAIL_BLOCK + 300 };
    static float x[MOST];
    static const size_t sizes[] = {257, 511, 512, 513, 1024, 4095, 4096, 4097, 3 * 4096, MOST};
    static const char *const kinds[] = {"the largest significands",
                                        "the same of one sign",
                                        "in the window",
                                        "one below it",
                                        "one above it",
                                        "a denormal",
                                        "one that is not finite",
                                        "half of the blocks are wide",
                                        "half zeros"};
    static const uint32_t lowest[] = {1, 2, 23, 24, 25, 100, 229, 230, 231, 253};
    unsigned round, kind;
    for (round = 0; round < 200; ++round) {
        const size_t n = round % 2 ? sizes[round / 2 % 10] : 257 + random_bits() % (MOST - 257);
        const uint32_t first = lowest[random_bits() % 10], sign = random_bits() & 0x80000000u;
        for (kind = 0; kind < sizeof kinds / sizeof *kinds; ++kind) {
            const size_t place = random_bits() % n;
            uint32_t below, bits;
            size_t i;
            for (i = 0; i < n; ++i) {
                /* from the top of the window down */
                below = kind < 2 ? 0 : random_bits() % 23;
                if (kind == 7 && i / 2048 % 2) below = random_bits() % 200;
                bits = first + (i >= 256);
                bits = (bits > below ? bits - below : 1) << 23;
                bits |= kind < 2 ? 0x7fffff : random_bits() & 0x7fffff;
                if (kind == 8 && random_bits() % 2) bits = 0;
                x[i] = from_bits(bits | (kind == 1 ? sign : random_bits() & 0x80000000u));
            }
            bits = first << 23 | (random_bits() & 0x807fffff);
            if (kind == 3 && first > 23) x[place] = from_bits(bits - (23u << 23));
            if (kind == 4 && first < 253) x[place] = from_bits(bits + (2u << 23));
            if (kind == 5) x[place] = from_bits(bits & 0x807fffff);
            if (kind == 6) x[place] = from_bits(bits | 0x7f800000);
            sum_case(kinds[kind], x, n);
        }
    }
}

/* Which way a sum is made, which the sum does not show: rows in the window, up to the last exponent
 * that fits. */
static void paths(void)
{
    uint32_t low;
    size_t i;
#ifdef FASTREDUCE_DETAIL_AVX2
    float row[FASTREDUCE_DETAIL_ROW] = {0};
    uint32_t high;
    unsigned position;
    int64_t sum = 0;
    for (position = 0; position <= 230 && has_avx2(); position += 23) {
        for (high = 0; high < 256; ++high) {
            const int fits = high > position && high <= position + 24;
            const uint32_t bits = high << 23 | (high == 0);
            int64_t limb[16] = {0};
            unsigned moved = position, wanted = high < 23 ? 0 : high > 253 ? 230 : high - 23;
            uint32_t greatest;
            row[high] = from_bits(0x80000000u | bits);
            expect(fastreduce_detail_sum_window(row, FASTREDUCE_DETAIL_ROW, position, &sum,
                                                &greatest) == fits,
                   "in the window", high, high, position);
            expect(greatest == bits, "the greatest", high, greatest, bits);
            expect(fastreduce_detail_add_to_window(limb, row, FASTREDUCE_DETAIL_ROW, &moved) ==
                       (high > 0 && high < 255),
                   "in a window", high, high, position);
            expect(moved == (fits ? position : wanted), "where the window moves", high, moved,
                   wanted);
            row[high] = 0;
        }
    }
#endif
    {
        float x[300];
        /* the greatest sums: 31 exponents apart, of a row or one element more */
        for (low = 1; low <= 223; low += 222) {
            for (i = 0; i < 300; ++i) x[i] = from_bits((low + 31) << 23 | 0x7fffff);
            x[0] = from_bits(low << 23);
            sum_case("the greatest sums of a row", x, 256);
            sum_case("more than a row of the greatest", x, 257);
            for (i = 0; i < 300; ++i) x[i] = -x[i];
            sum_case("the least sums of a row", x, 256);
        }
        /* the last finite float and what follows */
        for (i = 0; i < 300; ++i) x[i] = i % 2 ? from_bits(0x7f800000) : FLT_MAX;
        sum_case("FLT_MAX and infinity", x, 10);
        sum_case("FLT_MAX and infinity", x, 300);
        /* bins that cancel, all but the smallest denormal */
        for (low = 0; low < 20; ++low) {
            for (i = 0; i < 300; ++i) x[i] = i % 2 ? FLT_MAX : -FLT_MAX;
            x[1] = 0;
            x[2] = from_bits(1);
            sum_case("a denormal that is left", x, 300);
        }
    }
}

/* As many equal floats as fill a bin, and more. */
static void full_bins(void)
{
    const size_t most = FASTREDUCE_DETAIL_BINS_FULL + 2 * FASTREDUCE_DETAIL_BLOCK;
    float *x = (float *)malloc(most * sizeof *x);
    const float equal = from_bits(0x3fffffff);
    size_t i;
    int k;
    if (!x) exit(1);
    most_chunks = (size_t)1 << 16;
    for (i = 0; i < most; ++i) x[i] = equal;
    for (use_avx2 = 0; use_avx2 <= has_avx2(); ++use_avx2) {
        for (k = -1; k <= 2; ++k) {
            const size_t n = k == 2 ? most : (size_t)(FASTREDUCE_DETAIL_BINS_FULL + k);
            const double wanted = (double)equal * (double)n;
            fastreduce_accumulator sum;
            memset(&sum, 0, sizeof sum);
            fastreduce_host_accumulate_f32(x, &sum, n);
            expect(same_f64(fastreduce_accumulator_f64(&sum), wanted), "equal floats", n,
                   fastreduce_accumulator_f64(&sum), wanted);
        }
    }
    use_avx2 = 0;
    free(x);
}

/* Halfway cases: a float of either parity and sign plus half of its unit, split in unequal
 * pieces; also a smallest denormal to either side of the middle. */
static void ties(void)
{
    int round, piece, side;
    for (round = 0; round < 3000; ++round) {
        float x[8], base, half;
        uint32_t bits = (random_bits() & 0x807fffffu) | (30 + random_bits() % 220) << 23;
        base = from_bits(bits);
        half = from_bits((bits & 0x80000000u) | ((bits >> 23 & 255) - 24)
                                                    << 23); /* half a unit, same sign */
        for (side = -1; side <= 1; ++side) {
            size_t n = 0;
            x[n++] = base;
            for (piece = 0; piece < 2; ++piece) x[n++] = half * 0.375f;
            x[n++] = half * 0.25f;
            if (side) x[n++] = (float)side * from_bits(1);
            sum_case("ties", x, n);
        }
    }
    {
        /* to infinity and not: FLT_MAX plus half its unit is the first sum that rounds up */
        float x[3];
        const float half = ldexpf(1, 103);
        for (piece = 0; piece < 4; ++piece) { /* the floats that would follow, were there more */
            x[0] = FLT_MAX, x[1] = 2 * half, x[2] = 4.0f * (float)piece * half;
            sum_case("past FLT_MAX", x, 3);
        }
        x[0] = FLT_MAX, x[1] = half, x[2] = 0.0f;
        sum_case("FLT_MAX and half a unit", x, 2);
        x[0] = FLT_MAX, x[1] = half, x[2] = -from_bits(1);
        sum_case("FLT_MAX and less than half a unit", x, 3);
        x[0] = -FLT_MAX, x[1] = -half, x[2] = 0.0f;
        sum_case("-FLT_MAX and half a unit", x, 2);
        x[0] = -0.0f, x[1] = -0.0f;
        sum_case("negative zeros", x, 2);
        x[0] = from_bits(1), x[1] = -from_bits(1);
        sum_case("denormals that cancel", x, 2);
        x[0] = from_bits(0x7fffff), x[1] = from_bits(1);
        sum_case("denormals that make a normal", x, 2);
        x[0] = -from_bits(1);
        sum_case("a negative denormal", x, 1);
    }
}

/* The same of doubles: 53 bits from three floats, and half of the last one's unit. */
static void ties_of_doubles(void)
{
    int exponent, turn, side;
    for (exponent = -95; exponent < 128; ++exponent) {
        for (turn = 0; turn < 8; ++turn) {
            float x[5];
            const float sign = turn & 1 ? -1.0f : 1.0f;
            for (side = -1; side <= 1; ++side) {
                x[0] = sign * ldexpf((float)(0x800000 | (random_bits() & 0x7fffff)), exponent - 23);
                x[1] = sign * ldexpf((float)(random_bits() & 0xffffff), exponent - 47);
                x[2] = sign * ldexpf((float)((random_bits() & 30) + (turn & 2) / 2), exponent - 52);
                x[3] = sign * ldexpf(1, exponent - 53);
                x[4] = (float)side * from_bits(1);
                sum_case("ties of doubles", x, side ? 5 : 4);
            }
        }
    }
}

/* Many equal accumulators: by merging, and by adding limbs without a carry pass as often as the
 * header allows. */
static void headroom(void)
{
    float x[3];
    fastreduce_accumulator one, many;
    int k;
    double wanted;
    x[0] = FLT_MAX, x[1] = FLT_MIN, x[2] = -3.0f;
    memset(&one, 0, sizeof one);
    fastreduce_host_accumulate_f32(x, &one, 3);
    many = one;
    for (k = 0; k < 16; ++k) many.limb[k] *= (int64_t)1 << 31;
    wanted = ldexp(fastreduce_accumulator_f64(&one), 31);
    expect(same_f64(fastreduce_accumulator_f64(&many), wanted), "2^31 limbs added", 3,
           fastreduce_accumulator_f64(&many), wanted);
    many = one;
    for (k = 0; k < 106; ++k) fastreduce_accumulator_merge(&many, &many);
    wanted = ldexp(fastreduce_accumulator_f64(&one), 106);
    expect(same_f64(fastreduce_accumulator_f64(&many), wanted), "merged with itself 106 times", 3,
           fastreduce_accumulator_f64(&many), wanted);
    /* negative numbers take the same way */
    x[0] = -FLT_MAX, x[1] = -FLT_MIN, x[2] = 3.0f;
    memset(&many, 0, sizeof many);
    fastreduce_host_accumulate_f32(x, &many, 3);
    expect(fastreduce_accumulator_f64(&many) == -fastreduce_accumulator_f64(&one), "negated", 3,
           fastreduce_accumulator_f64(&many), -fastreduce_accumulator_f64(&one));
    fastreduce_accumulator_merge(&many, &one);
    memset(&one, 0, sizeof one);
    /* counts stay below 2^32, however often they are doubled */
    for (k = FASTREDUCE_DETAIL_NAN_COUNT; k <= FASTREDUCE_DETAIL_NEGATIVE_INFINITY_COUNT; ++k) {
        fastreduce_accumulator counts = one;
        int round;
        counts.limb[k] = 1;
        for (round = 0; round < 100; ++round) {
            const double count = round < 31 ? ldexp(1, round + 1) : 4294967295.0;
            fastreduce_accumulator_merge(&counts, &counts);
            expect((double)counts.limb[k] == count, "a count after merges with itself",
                   (size_t)round, (double)counts.limb[k], count);
        }
    }
    expect(memcmp(&many, &one, sizeof one) == 0, "x - x has limbs other than zero", 6,
           fastreduce_accumulator_f64(&many), 0);
}

/* Accumulators as large as the header allows, with limbs that were added 2^31 times and never
 * carried: each function takes them as they are. */
static void raw_limbs(void)
{
    float x[2];
    fastreduce_accumulator raw, carried, zero, a, b;
    int k, negative;
    memset(&zero, 0, sizeof zero);
    for (negative = 0; negative < 2; ++negative) {
        memset(&raw, 0, sizeof raw);
        for (k = 0; k < 11; ++k) raw.limb[k] = (int64_t)0xffffffff << 31;
        raw.limb[11] = negative ? -((int64_t)1 << 31) : 3;
        for (k = 12; k < 15; ++k) raw.limb[k] = (int64_t)0xffffffff << (negative ? 31 : 0);
        carried = zero;
        fastreduce_accumulator_merge(&carried, &raw);
        for (k = 0; k < 15; ++k)
            if (k != 11)
                expect(carried.limb[k] >= 0 && carried.limb[k] >> 32 == 0, "a limb after a merge",
                       (size_t)k, (double)carried.limb[k], 0);
        for (k = 12; k < 15; ++k)
            raw.limb[k] = carried.limb[k] = 0; /* for the numbers to be read */
        expect(same_f64(fastreduce_accumulator_f64(&raw), fastreduce_accumulator_f64(&carried)),
               "raw limbs read", 0, fastreduce_accumulator_f64(&raw),
               fastreduce_accumulator_f64(&carried));
        a = raw, b = carried; /* twice as much, each way */
        fastreduce_accumulator_merge(&a, &raw);
        fastreduce_accumulator_merge(&b, &carried);
        expect(memcmp(&a, &b, sizeof a) == 0, "raw limbs merged", 0, fastreduce_accumulator_f64(&a),
               fastreduce_accumulator_f64(&b));
        a = raw, b = raw;
        fastreduce_accumulator_merge(&a, &a);
        fastreduce_accumulator_merge(&b, &raw);
        expect(memcmp(&a, &b, sizeof a) == 0, "raw limbs merged with themselves", 0,
               fastreduce_accumulator_f64(&a), fastreduce_accumulator_f64(&b));
        for (k = 12; k < 15; ++k)
            raw.limb[k] = (int64_t)0xffffffff << 31, carried.limb[k] = 0xffffffff;
        x[0] = from_bits(0x7f800000), x[1] = from_bits(0x7fc00000); /* counts that are full */
        a = raw, b = carried;
        fastreduce_host_accumulate_f32(x, &a, 2);
        fastreduce_host_accumulate_f32(x, &b, 2);
        expect(memcmp(&a, &b, sizeof a) == 0 && a.limb[12] == 0xffffffff &&
                   a.limb[13] == 0xffffffff,
               "accumulated to full counts", 2, (double)a.limb[12], (double)b.limb[12]);
        for (k = 12; k < 15; ++k) raw.limb[k] = carried.limb[k] = 0;
        x[0] = FLT_MAX, x[1] = from_bits(0x807fffff); /* the largest and a negative denormal */
        a = raw, b = carried;
        fastreduce_host_accumulate_f32(x, &a, 2);
        fastreduce_host_accumulate_f32(x, &b, 2);
        expect(memcmp(&a, &b, sizeof a) == 0, "accumulated to raw limbs", 2,
               fastreduce_accumulator_f64(&a), fastreduce_accumulator_f64(&b));
        x[0] = FLT_MAX, x[1] = FLT_MAX; /* positive carries out of every limb */
        a = raw, b = carried;
        fastreduce_host_accumulate_f32(x, &a, 2);
        fastreduce_host_accumulate_f32(x, &b, 2);
        expect(memcmp(&a, &b, sizeof a) == 0, "accumulated to raw limbs", 2,
               fastreduce_accumulator_f64(&a), fastreduce_accumulator_f64(&b));
    }
}

/* Each kind of special value alone, with a finite float of either sign beside it, and each pair:
 * result and counts. */
static void specials(void)
{
    static const uint32_t kinds[] = {0x7f800000, 0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001,
                                     0xff800001, 0x7fffffff, 0xc0400000, 0x40400000};
    static const int slot[] = {FASTREDUCE_DETAIL_POSITIVE_INFINITY_COUNT,
                               FASTREDUCE_DETAIL_NEGATIVE_INFINITY_COUNT,
                               FASTREDUCE_DETAIL_NAN_COUNT,
                               FASTREDUCE_DETAIL_NAN_COUNT,
                               FASTREDUCE_DETAIL_NAN_COUNT,
                               FASTREDUCE_DETAIL_NAN_COUNT,
                               FASTREDUCE_DETAIL_NAN_COUNT,
                               15,
                               15};
    size_t i, j;
    for (i = 0; i < sizeof kinds / sizeof *kinds; ++i) {
        for (j = 0; j < sizeof kinds / sizeof *kinds; ++j) {
            fastreduce_accumulator total, wanted;
            float x[2];
            memset(&total, 0, sizeof total);
            memset(&wanted, 0, sizeof wanted);
            x[0] = from_bits(kinds[i]), x[1] = from_bits(kinds[j]);
            fastreduce_host_accumulate_f32(x, &total, 2);
            ++wanted.limb[slot[i]];
            ++wanted.limb[slot[j]];
            wanted.limb[15] = 0;
            expect(memcmp(total.limb + 12, wanted.limb + 12, 4 * sizeof(int64_t)) == 0,
                   "counts of specials", i, (double)kinds[i], (double)kinds[j]);
            if (slot[i] == FASTREDUCE_DETAIL_NAN_COUNT)
                expect(bits_f64(fastreduce_accumulator_f64(&total)) == 0x7ff8000000000000u,
                       "the double that is the quiet NaN", i, (double)kinds[i], (double)kinds[j]);
            sum_case("two kinds", x, 2);
        }
    }
}

static void words(void)
{
    static const char *const part[] = {"no CUDA device", "the workspace is too small",
                                       "not supported",  "invalid argument",
                                       "success",        "cudaGetErrorString"};
    int k;
    for (k = 0; k < 11; ++k)
        expect(strcmp(fastreduce_kernel_name((fastreduce_kernel)k), kernel_names[k]) == 0,
               "the name of a kernel", 0, k, k);
    for (k = -4; k <= 1; ++k)
        expect(strstr(fastreduce_status_string(k), part[k + 4]) != NULL, "the words for a status",
               0, k, k);
    expect(strcmp(fastreduce_status_string(-5), "unknown status") == 0, "the words for status -5",
           0, -5, -5);
    expect(fastreduce_version() == FASTREDUCE_VERSION, "version", 0, fastreduce_version(),
           FASTREDUCE_VERSION);
}

int main(void)
{
    words(); /* the shortest first: mutants.py is done with the first that fails */
    specials();
    raw_limbs();
    headroom();
    paths();
    full_bins();
    windows();
    ties_of_doubles();
    ties();
    random_cases();
    expect(bits_f32(fastreduce_host_sum_f32(NULL, 0)) == 0, "the empty sum", 0,
           fastreduce_host_sum_f32(NULL, 0), 0);
    printf("host sum: %lu checks, %lu failed\n", checks, failures);
    return failures != 0;
}

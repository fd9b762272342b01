/* The exact reductions on the CPU against MPFR, bit by bit: sums of elements, of magnitudes and of
 * squares, means, norms and dot products of every float, as floats, as doubles and as what the
 * elements are, for the whole and for any split and merge. */
#include "every_result.h"

static void random_cases(void)
{
    static double x[MOST], y[MOST];
    static const size_t sizes[] = {0,    1,    2,    3,    7,    8,    9,   127,  128,
                                   129,  255,  256,  257,  511,  512,  513, 1023, 1024,
                                   1025, 1536, 2000, 4096, 8191, 8192, 8193};
    const int rounds = 60;
    int round, format, which;
    for (round = 0; round < rounds; ++round) {
        for (format = 0; format < FORMATS; ++format) {
            for (which = 0; which < KINDS; ++which) {
                const size_t pick = random_words() % 100;
                const size_t n = round < 25 && which == round % KINDS ? sizes[round]
                                 : pick < 25                          ? sizes[pick % 20]
                                                                      : random_words() % 700;
                /* anywhere that an element may lie */
                char *const u = (char *)x + random_words() % 8 * formats[format].bytes;
                char *const v = (char *)y + random_words() % 8 * formats[format].bytes;
                fill(u, format, n, (kind)which);
                fill(v, format, n, random_words() % 3 ? (kind)which : NEAR_EXPONENTS);
                every_result(kind_names[which], format, u, v, n);
            }
        }
    }
}

/* Sums of 16-bit floats beside the middle between two of them, and past the greatest. A float holds
 * few of these sums: one that is rounded to a float first shows. */
static void ties_of_16_bits(void)
{
    int round, format;
    for (format = F16; format <= BF16; ++format) {
        const int fraction = formats[format].precision - 1;
        const uint64_t infinity = formats[format].infinity, exponents = infinity >> fraction;
        unsigned differ = 0;
        for (round = 0; round < 3000; ++round) {
            const uint64_t sign = random_bits() % 2 ? sign_of(format) : 0;
            const uint64_t least = (uint64_t)fraction + 1; /* where half a unit is normal */
            const uint64_t exponent =
                round % 3 ? least + random_words() % (exponents - least) : exponents - 1;
            const uint64_t top = exponent << fraction | random_words() >> (64 - fraction),
                           tiny = random_bits() % 3; /* or none */
            uint16_t x[3], as_sum;
            float sum;
            x[0] = (uint16_t)(sign | (round % 6 ? top : infinity - 1));
            x[1] = (uint16_t)(sign | (exponent - least) << fraction); /* half a unit */
            x[2] = (uint16_t)(tiny | (random_bits() % 2 ? sign_of(format) : 0));
            every_result("ties of 16 bits", format, x, x, 3);
            fastreduce_host_reduce(x, &sum, 3, formats[format].type, FASTREDUCE_SUM,
                                   FASTREDUCE_DEFAULT_TYPE);
            fastreduce_host_reduce(x, &as_sum, 3, formats[format].type, FASTREDUCE_SUM,
                                   formats[format].type);
            differ += fastreduce_detail_narrowed(bits_f32(sum), fraction + 1) != as_sum;
        }
        expect(differ > 300, "sums that a float first would round to others", differ, 0, 300);
    }
}

/* Products that take part for part back, so that only what the last rounding sees is left. */
static void ties(void)
{
    int round, side;
    for (round = 0; round < 2000; ++round) {
        /* (a + b/2 unit) as products, and a denormal product to either side of the middle */
        for (side = -1; side <= 1; ++side) {
            const uint32_t e = 60 + random_bits() % 100;
            float x[5], y[5];
            double d[3], f[3];
            x[0] = from_bits((random_bits() & 0x807fffff) | e << 23), y[0] = 2.0f;
            x[1] = from_bits((bits_f32(x[0]) & 0x80000000) | (e - 24) << 23), y[1] = 0.75f;
            x[2] = x[1], y[2] = 1.25f;
            x[3] = from_bits(1), y[3] = (float)side * from_bits(1 + random_bits() % 9);
            x[4] = from_bits(random_bits() & 0x7fffff), y[4] = 0;
            every_result("ties", F32, x, y, 5);
            d[0] = from_bits_f64((random_words() & 0x800fffffffffffff) |
                                 (uint64_t)(100 + random_bits() % 1900) << 52);
            d[1] = from_bits_f64((bits_f64(d[0]) & 0xfff0000000000000) -
                                 ((uint64_t)53 << 52)); /* half a unit */
            d[2] = (double)side * from_bits_f64(1);
            every_result("ties", F64, d, d, 3);
            f[0] = 0.5, f[1] = 2, f[2] = from_bits_f64(1 + random_bits() % 9);
            d[0] *= 2, d[1] /= 2;
            every_result("ties of products", F64, d, f, 3);
        }
    }
    /* norms of 3k and 4k, 5k, of 25 bits */
    for (round = 0; round < 200; ++round) {
        const uint32_t k = 3355444 + random_bits() % 2236900;
        float x[3];
        double d[3], double_k;
        x[0] = -3.0f * (float)k, x[1] = 4.0f * (float)k;
        x[2] = from_bits(random_bits() % 2 ? 1u << 23 : 1); /* and a little more */
        every_result("ties of norms", F32, x, x, 2);
        every_result("ties of norms", F32, x, x, 3);
        d[0] = -3 * (double_k = ldexp(7, 48) + (double)(random_words() >> 15)), d[1] = 4 * double_k;
        d[2] = from_bits_f64((random_bits() % 2 ? random_words() % 1000 : 0) << 52 | 1);
        every_result("ties of norms", F64, d, d, 2);
        every_result("ties of norms", F64, d, d, 3);
        /* and variances that are the square of a number of half as many bits, and almost */
        x[0] = (float)(5793 + 2 * (random_bits() % 1200)), x[1] = -x[0];
        d[0] = 94906267 + 2 * (double)(random_bits() % 19600000), d[1] = -d[0];
        every_result("ties of variances", F32, x, x, 2);
        every_result("ties of variances", F64, d, d, 2);
        d[0] = from_bits_f64(bits_f64(d[0]) + random_bits() % 3 - 1);
        every_result("ties of variances", F64, d, d, 2);
    }
    /* variances of five, 2 more than a multiple of 8, where doubles are 4 apart, and hardly more */
    for (round = 0; round < 1200; ++round) {
        double d[5];
        d[0] = 5 * (42500001 + 2 * (double)(random_bits() % 300000)), d[1] = -d[0];
        d[2] = 10 * (double)(random_bits() % 300000), d[3] = -d[2];
        d[4] = ldexp(1, -round / 10);
        every_result("variances almost halfway", F64, d, d, 5);
    }
    /* means of five halfway between two numbers, but for a fifth of a unit 2^m below */
    for (round = 0; round < 700; ++round) {
        const int m = 36 + round % 64, above = random_bits() % 2 ? 1 : -1;
        const double float_below = (1 << 24) + 2 * (double)(random_bits() >> 9),
                     double_below = ldexp(1, 53) + 2 * (double)random_bits();
        float x[5];
        double d[5];
        x[0] = x[1] = (float)ldexp(float_below, m + 1), x[2] = (float)ldexp(float_below, m);
        x[3] = (float)ldexp(5, m), x[4] = (float)above;
        every_result("means almost halfway", F32, x, x, 5);
        d[0] = d[1] = ldexp(double_below, m - 28), d[2] = ldexp(double_below, m - 29);
        d[3] = ldexp(5, m - 29), d[4] = above;
        every_result("means almost halfway", F64, d, d, 5);
    }
    {
        double d[3];
        const double half = ldexp(1, 970), most = DBL_MAX;
        d[0] = most, d[1] = half, d[2] = 0;
        every_result("DBL_MAX and half a unit", F64, d, d, 2);
        d[2] = -from_bits_f64(1);
        every_result("DBL_MAX and less than half a unit", F64, d, d, 3);
        d[0] = -most, d[1] = -half;
        every_result("-DBL_MAX and half a unit", F64, d, d, 2);
        d[0] = from_bits_f64(1), d[1] = 0, d[2] = 0;
        every_result("means below the least denormal", F64, d, d, 2);
        every_result("means below the least denormal", F64, d, d, 3);
        d[1] = from_bits_f64(2);
        every_result("means of denormals", F64, d, d, 2);
    }
}

/* Each position of the window, and each exponent about it. */
static void windows(void)
{
    static double x[3 * 128 + 1], many[MOST];
    const size_t n = sizeof x / sizeof *x;
    int position, beside;
    size_t i;
    for (position = 0; position < 2046; position += position < 60 || position > 1930 ? 1 : 37) {
        for (beside = 0; beside < 4; ++beside) { /* in it; one below, one above; a denormal */
            const uint64_t most = (uint64_t)(position < 1994 ? position + 52 : 2046);
            for (i = 0; i < n; ++i) {
                const uint64_t below = random_words() % 53;
                const uint64_t exponent = most > below ? most - below : 1;
                x[i] = from_bits_f64((random_words() & 0x800fffffffffffff) | exponent << 52);
            }
            i = random_words() % n;
            if (beside == 1 && most > 53) x[i] = from_bits_f64((most - 53) << 52 | 5);
            if (beside == 2 && most < 2046) x[i] = from_bits_f64((most + 1) << 52 | 3);
            if (beside == 3) x[i] = from_bits_f64(random_words() >> 13);
            every_result("windows", F64, x, x, n);
        }
    }
    /* the greatest sums of rows */
    for (position = 1; position < 2047; position += 31) {
        for (i = 0; i < n; ++i) x[i] = from_bits_f64((uint64_t)position << 52 | 0xfffffffffffff);
        every_result("the largest significands", F64, x, x, n);
        x[0] = from_bits_f64((uint64_t)(position > 52 ? position - 52 : 1) << 52);
        for (i = 0; i < n; ++i) x[i] = -x[i];
        every_result("the largest significands, negative", F64, x, x, n);
    }
    /* as much as the window's two integers hold, and more */
    for (i = 0; i < MOST; ++i) many[i] = from_bits_f64((uint64_t)(1000 + (i > 127)) << 52) * 2;
    for (i = 0; i < MOST; ++i) many[i] = from_bits_f64(bits_f64(many[i]) | 0xfffffffffffff);
    every_result("many of the largest significands", F64, many, many, MOST);
}

/* Many doubles that no window has. Those whose exponents are far apart cancel, and what is left
 * is of one kind: what fills a bin, or is no normal number, or nothing. */
static void far_apart(void)
{
    static double x[6000];
    static const uint64_t left[][2] = {
        {0, 0x8000000000000000},
        {0x000fffffffffffff, 0},
        {0x800fffffffffffff, 0x8000000000000000},
        {0x0010000000000000, 1},
        {0x7fdfffffffffffff, 0x001fffffffffffff},
        {0xffdfffffffffffff, 0x801fffffffffffff},
        {0x7ff0000000000000, 0},
        {0xfff0000000000000, 0},
        {0x7ff8000000000000, 0x7ff0000000000000},
    };
    const size_t n = sizeof x / sizeof *x;
    size_t k, i;
    for (k = 0; k < sizeof left / sizeof *left; ++k) {
        const int once = (left[k][0] & 0x7ff0000000000000) == 0x7ff0000000000000;
        for (i = 0; i < n; i += 4) {
            x[i] = from_bits_f64((random_words() & 0x800fffffffffffff) | (3 + random_words() % 2043)
                                                                             << 52);
            x[i + 1] = -x[i];
            x[i + 2] = from_bits_f64(once && i != n / 2 ? 0 : left[k][0]);
            x[i + 3] = from_bits_f64(once && i != n / 2 ? 0 : left[k][1]);
        }
        every_result("far apart", F64, x, x, n);
    }
}

/* Doubles of one exponent fill a bin, from any place among eight, but for the first eight of a
 * chunk; 2 is alone in its bin. In the last turn the largest double counts once, although a
 * denormal lets all be looked at again. Parts are too short for bins. */
static void full_bins(void)
{
    enum { PART = 1000, MANY = 24 * PART };
    static double x[MANY];
    size_t turn, i;
    use_avx2 = 0;
    for (turn = 0; turn < 9; ++turn) {
        fastreduce_wide_accumulator parts = {{0}};
        double sum, wanted;
        for (i = 0; i < MANY; ++i)
            x[i] = from_bits_f64((random_words() & 0xfffff) | 0xffffffff00000 |
                                 (i % 8 == turn && i % FASTREDUCE_DETAIL_CHUNK >= 8
                                      ? (uint64_t)1000
                                      : 300 + random_words() % 600)
                                     << 52);
        x[3] = 2;
        if (turn == 8) x[0] = DBL_MAX, x[1] = -DBL_MAX / 2, x[2] = from_bits_f64(1);
        for (i = 0; i < MANY; i += PART) fastreduce_host_accumulate_f64(x + i, &parts, PART);
        sum = fastreduce_host_sum_f64(x, MANY);
        wanted = fastreduce_wide_accumulator_f64(&parts);
        expect(bits_f64(sum) == bits_f64(wanted), "full bins", turn, sum, wanted);
    }
}

/* Many doubles, and products, about the limits of the windows; one chunk says where the next are to
 * be, in which some lie beyond. */
static void limits_of_windows(void)
{
    static double x[6 * FASTREDUCE_DETAIL_CHUNK + 5];
    static float a[sizeof x / sizeof *x], b[sizeof x / sizeof *x];
    const size_t n = sizeof x / sizeof *x;
    unsigned turn;
    size_t i;
    for (turn = 0; turn < 150; ++turn) {
        const uint64_t spread = turn % 3 ? 70 + random_words() % 70 : 1 + random_words() % 60,
                       least = turn % 7 ? 1 + random_words() % (2046 - spread) : 1,
                       lost = random_words() % 53, /* bits at the end that are zeros */
            spread_a = 1 + random_words() % 40, least_a = 1 + random_words() % (254 - spread_a),
                       spread_b = 1 + random_words() % 12,
                       least_b = 1 + random_words() % (254 - spread_b);
        for (i = 0; i < n; ++i) {
            const uint64_t fraction = random_words() >> 12 >> lost << lost;
            uint64_t exponent = least + random_words() % spread;
            if (i > n / 2 && random_words() % 700 == 0) exponent += random_words() % 30;
            if (exponent > 2046) exponent = 2046;
            x[i] = from_bits_f64((random_words() & (uint64_t)1 << 63) | exponent << 52 | fraction);
            a[i] = from_bits((uint32_t)(random_words() & 0x807fffff) |
                             (uint32_t)(least_a + random_words() % spread_a) << 23);
            b[i] = from_bits((uint32_t)(random_words() & 0x807fffff) |
                             (uint32_t)(least_b + random_words() % spread_b) << 23);
            if (random_words() % 50 == 0) x[i] = a[i] = turn % 2 ? -0.0f : 0.0f;
        }
        if (turn % 10 == 9) { /* what no window has */
            const uint32_t others[] = {1, 0x80000001, 0x7f800000, 0x7fc00000};
            a[n - 600] = from_bits(others[turn / 10 % 4]);
            x[n - 600] = from_bits_f64((uint64_t)(turn / 10 % 2 ? 0x7ff : 0) << 52 | 1);
        }
        every_result("limits of windows", F64, x, x, n);
        every_result("limits of windows", F32, a, b, n);
    }
}

#ifdef FASTREDUCE_DETAIL_AVX2
/* A power of two, and one with a last bit, in windows of 2, 3 and 4 levels: whether it is in it,
 * and the sums. */
static void levels(void)
{
    static double x[FASTREDUCE_DETAIL_CHUNK];
    static float a[FASTREDUCE_DETAIL_CHUNK], b[FASTREDUCE_DETAIL_CHUNK];
    const int units[] = {-942, -400, 0, 970};
    size_t k, i;
    int exponent, bits, which;
    for (i = 0; i < FASTREDUCE_DETAIL_CHUNK; ++i) {
        x[i] = i % 2 ? -0.0 : 0.0;
        a[i] = 0, b[i] = -1;
    }
    for (k = 0; k < 12; ++k) {
        const int of_products = k >= 8,
                  count = of_products ? 2
                          : k < 4     ? 4
                                      : 3,
                  unit = of_products ? (int)(k - 9) * 20 : units[k % 4],
                  last = unit - (count - 1) * 44;
        const int from = of_products || last - 4 > -1022 ? last - 4 : -1022;
        for (exponent = from; exponent < unit + 50 && exponent < 1024; ++exponent)
            for (which = 0; which < 2; ++which) {
                int64_t sums[4] = {0};
                double got = 0;
                const double value =
                    ldexp(which ? (of_products ? 1.5 : 1 + ldexp(1, -52)) : 1, exponent);
                const int least = exponent - (which ? (of_products ? 1 : 52) : 0),
                          fits = exponent < unit + 44 && least >= last;
                i = random_words() % FASTREDUCE_DETAIL_CHUNK;
                x[i] = value;
                a[i] = (float)ldexp(value, -exponent / 2);
                b[i] = (float)ldexp(1, exponent / 2);
                bits = fastreduce_detail_sum_chunk(x, a, b, FASTREDUCE_DETAIL_CHUNK, unit, count,
                                                   sums);
                expect(bits == fits, "in a window of doubles", (size_t)(exponent - from), bits,
                       fits);
                for (bits = 0; bits < count; ++bits)
                    got += ldexp((double)sums[bits], unit - 44 * bits);
                expect(!fits || got == value, "the sums of a window", i, got, value);
                x[i] = i % 2 ? -0.0 : 0.0;
                a[i] = 0, b[i] = -1;
            }
    }
}

/* One double of each exponent among zeros: where the window is placed if its guess misses. How long
 * the window pauses if none has the double. */
static void places(void)
{
    static fastreduce_detail_stream state;
    static double x[FASTREDUCE_DETAIL_CHUNK];
    fastreduce_wide_accumulator sum;
    int exponent, turn;
    use_avx2 = 1;
    for (exponent = 0; exponent < 2048; ++exponent) {
        const size_t n = 1 + (size_t)exponent % FASTREDUCE_DETAIL_CHUNK, place = n / 3;
        const int least = exponent > 0 ? exponent - 1075 : -1074, top = exponent - 1064,
                  is_guessed = exponent < 1023 + 17 && least >= -115, has_window = exponent < 2037,
                  unit = is_guessed   ? -27
                         : top < -942 ? -942
                         : top > 970  ? 970
                                      : top,
                  levels = !has_window          ? 0
                           : least >= unit - 88 ? 3
                                                : 4;
        memset(&sum, 0, sizeof sum);
        fastreduce_detail_begin(&state, n, 1);
        x[place] = from_bits_f64((uint64_t)exponent << 52 | 1 | (uint64_t)1 << 63);
        for (turn = 0; turn < 3; ++turn) {
            const int added = fastreduce_detail_add_to_wide_window(&state, sum.limb, x, n);
            expect(added == has_window, "in some window of doubles", n, added, has_window);
            expect(state.unit == unit && state.levels == levels, "the place of the window", n,
                   state.unit, unit);
        }
        expect(!has_window || same_f64(fastreduce_wide_accumulator_f64(&sum), 3 * x[place]),
               "the sum of a window", n, fastreduce_wide_accumulator_f64(&sum), 3 * x[place]);
        x[place] = 0;
    }
    x[0] = from_bits_f64((uint64_t)2047 << 52);
    for (turn = 1, state.last_pause = 0; turn < 64; turn = 2 * turn + 1) {
        state.pause = 0;
        fastreduce_detail_add_chunk(&state, sum.limb, x, 1);
        expect(state.pause == (turn < 31 ? turn : 31), "longer pauses", 1, state.pause, turn);
        state.pause = 1;
        fastreduce_detail_add_chunk(&state, sum.limb, x, 1);
        expect(state.pause == 0, "a pause ends", 1, state.pause, 0);
    }
    use_avx2 = 0;
}
#endif

#ifdef FASTREDUCE_DETAIL_AVX2
/* Products of doubles that are two doubles, by their exponent; and of what is not ordinary. */
static void split_products(void)
{
    static const uint64_t others[] = {
        0, 0x8000000000000000, 1, 0x800fffffffffffff, 0x7ff0000000000000, 0x7ff8000000000000};
    double x[4], y[4], products[4], rests[4];
    int exponent, k, a, b;
    for (exponent = -1074; exponent < 1024; ++exponent)
        for (k = -1; k < 2; ++k) {
            const int half = exponent / 2, fits = exponent >= -900 && exponent < 1023;
            for (a = 0; a < 4; ++a) x[a] = a % 2 ? 1.5 : -0.0, y[a] = 1.25;
            x[2] = ldexp(1 - ldexp(k < 0, -53), half), y[2] = -ldexp(1 + (k > 0), exponent - half);
            a = fastreduce_detail_split_products(x, y, products, rests, 4);
            b = k > 0   ? exponent + 1 >= -900 && exponent + 1 < 1023
                : k < 0 ? exponent > -900 && exponent <= 1023
                        : fits;
            expect(a == b && products[2] == (b ? x[2] * y[2] : 0) && rests[2] == 0 &&
                       products[1] == 1.875,
                   "a product that is two doubles", (size_t)(exponent + 1074), a, b);
        }
    for (a = 0; a < 6; ++a)
        for (b = 0; b < 6; ++b) {
            for (k = 0; k < 4; ++k) x[k] = y[k] = 3;
            x[a % 4] = from_bits_f64(others[a]);
            y[a % 4] = from_bits_f64(others[b]);
            k = (a < 2 || b < 2) && a < 4 && b < 4;
            expect(fastreduce_detail_split_products(x, y, products, rests, 4) == k,
                   "products of what is not ordinary", (size_t)(6 * a + b), 0, k);
            every_result("products of what is not ordinary", F64, x, y, 4);
            use_avx2 = 1;
        }
}
#endif

/* Which way a sum is made, which the sum does not show. */
static void paths(void)
{
#ifdef FASTREDUCE_DETAIL_AVX2
    if (has_avx2() && fastreduce_detail_is_usual_arithmetic()) {
        levels();
        places();
    }
    use_avx2 = has_avx2();
    if (FASTREDUCE_DETAIL_HAS_FMA) split_products();
    use_avx2 = 0;
#endif
    {
        float x[3], y[3];
        double products[3];
        /* the first five are ordinary; each beside each */
        const uint32_t values[] = {0,          0x80000000, 0x00800000, 0x7f7fffff, 0xff7fffff, 1,
                                   0x007fffff, 0x80000001, 0x7f800000, 0xff800000, 0x7fc00000};
        size_t k, turn;
        for (k = 0; k < 11 * 11; ++k) {
            for (turn = 0; turn < 6; ++turn) {
                float *const place = turn < 3 ? x : y;
                x[0] = x[1] = x[2] = 3.0f, y[0] = y[1] = y[2] = -0.5f;
                place[turn % 3] = from_bits(values[k % 11]);
                place[(turn + 1) % 3] = from_bits(values[k / 11]);
                expect(fastreduce_detail_multiply(x, y, products, 3) == (k % 11 < 5 && k / 11 < 5),
                       "products that are doubles", k, (double)turn, 0);
            }
        }
        for (k = 0; k < 8; ++k) { /* zeros alone, of each sign */
            for (turn = 0; turn < 3; ++turn) x[turn] = y[2 - turn] = k >> turn & 1 ? -0.0f : 0.0f;
            expect(fastreduce_detail_multiply(x, y, products, 3) == 1,
                   "products of zeros are doubles", k, 0, 1);
        }
    }
}

/* Accumulators as large as the header allows: 2^31 added, and merged with themselves. */
static void headroom(void)
{
    static const double x[] = {DBL_MAX, DBL_MIN, -3.0, 0.1, 1e-310};
    fastreduce_wide_accumulator one, many;
    double wanted;
    int k, negative;
    for (negative = 0; negative < 2; ++negative) {
        double y[5];
        for (k = 0; k < 5; ++k) y[k] = negative ? -x[k] : x[k];
        y[0] = ldexp(y[0], -200); /* for the result to be finite */
        memset(&one, 0, sizeof one);
        fastreduce_host_accumulate_f64(y, &one, 5);
        many = one;
        for (k = 0; k < 72; ++k) many.limb[k] *= (int64_t)1 << 31;
        wanted = ldexp(fastreduce_wide_accumulator_f64(&one), 31);
        expect(bits_f64(fastreduce_wide_accumulator_f64(&many)) == bits_f64(wanted),
               "2^31 wide limbs added", 5, fastreduce_wide_accumulator_f64(&many), wanted);
        fastreduce_wide_accumulator_merge(&many, &one);
        fastreduce_host_accumulate_f64(y, &many, 5);
        for (k = 0; k < 67; ++k)
            expect(many.limb[k] >= 0 && many.limb[k] >> 32 == 0, "a wide limb after a merge",
                   (size_t)k, (double)many.limb[k], 0);
        many = one;
        for (k = 0; k < 62; ++k) fastreduce_wide_accumulator_merge(&many, &many);
        wanted = ldexp(fastreduce_wide_accumulator_f64(&one), 62);
        expect(bits_f64(fastreduce_wide_accumulator_f64(&many)) == bits_f64(wanted),
               "merged with itself 62 times", 5, fastreduce_wide_accumulator_f64(&many), wanted);
    }
    /* limbs that were added 2^31 times and never carried, counts too, are taken as they are */
    for (negative = 0; negative < 2; ++negative) {
        static const float factors[] = {3.5f, -1e-30f, INFINITY, 1.0f};
        fastreduce_wide_accumulator raw, carried;
        memset(&carried, 0, sizeof carried);
        memset(&raw, 0, sizeof raw);
        for (k = 0; k < 67; ++k) raw.limb[k] = (int64_t)0xffffffff << 31;
        raw.limb[67] = negative ? -((int64_t)1 << 31) : 3;
        for (k = 68; k < 71; ++k) raw.limb[k] = (int64_t)0xffffffff << 31;
        fastreduce_wide_accumulator_merge(&carried, &raw);
        for (use_avx2 = 0; use_avx2 <= has_avx2(); ++use_avx2) {
            fastreduce_wide_accumulator a = raw, b = carried;
            fastreduce_host_accumulate_dot(factors, factors, &a, 4, FASTREDUCE_F32);
            fastreduce_host_accumulate_dot(factors, factors, &b, 4, FASTREDUCE_F32);
            expect(memcmp(&a, &b, sizeof a) == 0, "products to raw limbs", 4, 0, 0);
            a = raw;
            fastreduce_host_accumulate_dot(NULL, NULL, &a, 0, FASTREDUCE_F32);
            expect(memcmp(&a, &carried, sizeof a) == 0, "no products to raw limbs", 0, 0, 0);

            a = raw, b = carried;
            fastreduce_host_accumulate_f64(x, &a, 5);
            fastreduce_host_accumulate_f64(x, &b, 5);
            expect(memcmp(&a, &b, sizeof a) == 0, "doubles to raw limbs", 5, 0, 0);
            for (k = 0; k < 71; ++k)
                if (k != 67)
                    expect(a.limb[k] >= 0 && a.limb[k] >> 32 == 0, "a limb that was raw", (size_t)k,
                           (double)a.limb[k], 0);
        }
        use_avx2 = 0;
    }
    /* 2^64 times the largest double fit, and counts stay below 2^32 */
    memset(&one, 0, sizeof one);
    fastreduce_host_accumulate_f64(x, &one, 1);
    many = one;
    for (k = 0; k < 64; ++k) fastreduce_wide_accumulator_merge(&many, &many);
    wanted = HUGE_VAL;
    expect(fastreduce_wide_accumulator_f64(&many) == wanted, "2^64 times the largest double", 1,
           fastreduce_wide_accumulator_f64(&many), wanted);
    for (k = 0; k < 68; ++k) many.limb[k] = -many.limb[k];
    expect(fastreduce_wide_accumulator_f64(&many) == -wanted, "2^64 times the least double", 1,
           fastreduce_wide_accumulator_f64(&many), -wanted);
    for (k = 68; k < 71; ++k) {
        int round;
        memset(&many, 0, sizeof many);
        many.limb[k] = 1;
        for (round = 0; round < 40; ++round) {
            const double count = round < 31 ? ldexp(1, round + 1) : 4294967295.0;
            fastreduce_wide_accumulator_merge(&many, &many);
            expect((double)many.limb[k] == count, "a count", (size_t)round, (double)many.limb[k],
                   count);
        }
    }
}

/* The same of products of doubles. */
static void headroom_of_products(void)
{
    static const double x[] = {DBL_MAX, DBL_MIN, -3.0, 0.1, 5e-324, 1e-310};
    double y[6];
    fastreduce_product_accumulator one, many, raw;
    int k, turn;
    for (turn = 0; turn < 2; ++turn) {
        for (k = 0; k < 6; ++k) y[k] = turn ? -x[k] : x[k];
        y[0] = ldexp(y[0], -1200); /* for the result to be finite */
        memset(&one, 0, sizeof one);
        fastreduce_host_accumulate_dot_f64(x, y, &one, 6);
        many = one;
        for (k = 0; k < 137; ++k) many.limb[k] *= (int64_t)1 << 31;
        raw = many;
        expect(fastreduce_product_accumulator_f64(&many) ==
                   ldexp(fastreduce_product_accumulator_f64(&one), 31),
               "2^31 limbs of products added", 6, 0, 0);
        fastreduce_host_accumulate_dot_f64(x, y, &raw, 6);
        fastreduce_product_accumulator_merge(&many, &one);
        expect(memcmp(&raw, &many, sizeof raw) == 0, "products to raw limbs", 6, 0, 0);
        many = one;
        for (k = 0; k < 64; ++k) fastreduce_product_accumulator_merge(&many, &many);
        expect(fastreduce_product_accumulator_f64(&many) ==
                   ldexp(fastreduce_product_accumulator_f64(&one), 64),
               "products merged with themselves 64 times", 6, 0, 0);
        memset(&many, 0, sizeof many);
        y[0] = turn ? -DBL_MAX : DBL_MAX;
        fastreduce_host_accumulate_dot_f64(x, y, &many, 1);
        one = many;
        for (k = 0; k < 64; ++k) fastreduce_product_accumulator_merge(&many, &many);
        expect(fastreduce_product_accumulator_f64(&many) == (turn ? -HUGE_VAL : HUGE_VAL) &&
                   many.limb[133] == (turn ? -262144 : 262143),
               "2^64 times the largest product", 1, (double)many.limb[133], turn);
        for (k = 0; k < 134; ++k) one.limb[k] = -one.limb[k];
        for (k = 0; k < 64; ++k) fastreduce_product_accumulator_merge(&one, &one);
        fastreduce_product_accumulator_merge(&many, &one);
        expect(fastreduce_product_accumulator_f64(&many) == 0, "and back", 1, 0, 0);
    }
}

/* Of more numbers than memory holds, given their sums: of one, and n - 1 times another. */
static void variances_of_many(void)
{
    mpfr_t wanted;
    int turn, k;
    mpfr_init2(wanted, 400);
    for (turn = 0; turn < 2000; ++turn) {
        const uint64_t n = random_words() >> turn % 63 | 1, others = n - 1;
        fastreduce_wide_accumulator sum = {{0}}, one = {{0}};
        fastreduce_product_accumulator squares = {{0}}, square = {{0}};
        double x[2];
        for (k = 0; k < 2; ++k)
            x[k] = ldexp((double)(int64_t)random_words(), turn % 3 ? (int)(random_bits() % 80) : 0);
        mpfr_set_d(wanted, x[0], MPFR_RNDN); /* (x[0] - x[1])^2 * (n - 1) / n^2 */
        mpfr_sub_d(wanted, wanted, x[1], MPFR_RNDN);
        mpfr_sqr(wanted, wanted, MPFR_RNDN);
        mpfr_mul_ui(wanted, wanted, (unsigned long)others, MPFR_RNDN);
        fastreduce_host_accumulate_f64(x, &sum, 1);
        fastreduce_host_accumulate_dot_f64(x, x, &squares, 1);
        fastreduce_host_accumulate_f64(x + 1, &one, 1);
        fastreduce_host_accumulate_dot_f64(x + 1, x + 1, &square, 1);
        for (k = 0; k < 64; ++k) {
            if (others >> k & 1) {
                fastreduce_wide_accumulator_merge(&sum, &one);
                fastreduce_product_accumulator_merge(&squares, &square);
            }
            fastreduce_wide_accumulator_merge(&one, &one);
            fastreduce_product_accumulator_merge(&square, &square);
        }
        for (k = 0; k < 2; ++k) {
            const double right = rounded(wanted, FASTREDUCE_VARIANCE, n, k ? F64 : F32);
            fastreduce_wide_accumulator a = sum;
            fastreduce_product_accumulator b = squares;
            int64_t room[FASTREDUCE_DETAIL_VARIANCE_DIGITS] = {0};
            const uint64_t got =
                fastreduce_detail_variance(a.limb, b.limb, 134, room, n, k ? 53 : 24);
            expect(got == (k ? bits_f64(right) : bits_f32((float)right)), "a variance of many", n,
                   k ? fastreduce_detail_double_of(got) : (double)fastreduce_detail_float_of(got),
                   right);
        }
    }
    mpfr_clear(wanted);
}

/* What fastreduce.h says of a result's type; 0: there is none. */
static int result_type(int type, int op, int output_type)
{
    const int is_type = type >= FASTREDUCE_F32 && type <= FASTREDUCE_U64;
    const int is_float = type < FASTREDUCE_I8, is_signed = !is_float && type < FASTREDUCE_U8;
    int usual = is_float ? FASTREDUCE_F32 : is_signed ? FASTREDUCE_I64 : FASTREDUCE_U64;
    if (!is_type || op < 0 || op > FASTREDUCE_ARGMAX_ABS) return 0;
    if (type == FASTREDUCE_F64) usual = FASTREDUCE_F64;
    if (op == FASTREDUCE_MIN || op == FASTREDUCE_MAX || op == FASTREDUCE_MIN_MAX) usual = type;
    if (op == FASTREDUCE_MAX_ABS) usual = is_signed ? type + 4 : type;
    if (op == FASTREDUCE_ARGMIN || op == FASTREDUCE_ARGMAX || op == FASTREDUCE_ARGMAX_ABS)
        usual = FASTREDUCE_I64;
    if (op == FASTREDUCE_COUNT_NONZERO) usual = FASTREDUCE_U64;
    if (is_signed && (op == FASTREDUCE_SUM_ABS || op == FASTREDUCE_SUM_SQUARES))
        usual = FASTREDUCE_U64;
    if (!is_float && (op == FASTREDUCE_NORM2 || op == FASTREDUCE_MEAN || op == FASTREDUCE_VARIANCE))
        usual = FASTREDUCE_F64;
    return usual == FASTREDUCE_F32 && (output_type == FASTREDUCE_F64 || output_type == type)
               ? output_type
               : usual;
}

/* What it says of a second result's type. */
static int second_type(int type, int op)
{
    if (op == FASTREDUCE_VARIANCE) return result_type(type, FASTREDUCE_MEAN, 0);
    return op == FASTREDUCE_ARGMIN || op == FASTREDUCE_ARGMAX || op >= FASTREDUCE_MIN_MAX
               ? result_type(type, op, 0) ? type : 0
               : 0;
}

/* Names, sizes and types of results, of what there is and of what there is not. */
static void names(void)
{
    static const char *const types[] = {"f32", "f64", "f16", "bf16", "i8",  "i16",
                                        "i32", "i64", "u8",  "u16",  "u32", "u64"};
    static const char *const operators[] = {"sum",           "product", "min",       "max",
                                            "argmin",        "argmax",  "sum_abs",   "sum_squares",
                                            "max_abs",       "norm2",   "mean",      "variance",
                                            "count_nonzero", "min_max", "argmax_abs"};
    static const size_t sizes[] = {4, 8, 2, 2, 1, 2, 4, 8, 1, 2, 4, 8};
    int type, op;
    for (type = -2; type <= 15; ++type) {
        const fastreduce_type t = (fastreduce_type)type;
        const int is_type = type >= 1 && type <= 12,
                  is_op = type >= 0 && type <= FASTREDUCE_ARGMAX_ABS;
        expect(strcmp(fastreduce_type_name(t), is_type ? types[type - 1] : "unknown") == 0,
               "the name of a type", 0, type, type);
        expect(fastreduce_type_size(t) == (is_type ? sizes[type - 1] : 0), "the size of a type", 0,
               (double)fastreduce_type_size(t), type);
        expect(strcmp(fastreduce_operator_name((fastreduce_operator)type),
                      is_op ? operators[type] : "unknown") == 0,
               "the name of an operator", 0, type, type);
        for (op = -2; op <= 15; ++op) {
            const int got = (int)fastreduce_output_type(t, (fastreduce_operator)op);
            const int second = (int)fastreduce_second_type(t, (fastreduce_operator)op);
            expect(got == result_type(type, op, 0), "the type of a result", (size_t)op, got, type);
            expect(second == second_type(type, op), "the type of a second result", (size_t)op,
                   second, type);
        }
    }
    expect(FASTREDUCE_DEFAULT_TYPE == 0, "the type that zeros stand for", 0, 0, 0);
}

/* Every refusal that fastreduce.h states, of every type, operator and output type, where pointers
 * are null or misaligned, and n is too large: invalid comes before unsupported, and what is to be
 * written is left as it was. */
enum { REDUCE, DOT, ACCUMULATE, ACCUMULATE_DOT, CALLS };

typedef struct a_call {
    int which, type, op, output_type;
    const char *x, *y;
    size_t n;
    char *output;
} a_call;

static int lies_there(const char *x, size_t n, size_t size)
{
    const uintptr_t address = (uintptr_t)x;
    return (x || n == 0) && address % size == 0 && n <= (UINTPTR_MAX - address) / size;
}

static fastreduce_status wanted_status(const a_call *call)
{
    const int is_dot = call->which == DOT || call->which == ACCUMULATE_DOT;
    const int has_result = call->which == REDUCE || call->which == DOT;
    const int result = result_type(call->type, call->op, call->output_type);
    const int is_f64 = call->type == FASTREDUCE_F64;
    const size_t size = fastreduce_type_size((fastreduce_type)call->type);
    const size_t alignment = has_result ? fastreduce_type_size((fastreduce_type)result) : 8;
    const int is_exact = call->op == FASTREDUCE_SUM || call->op == FASTREDUCE_SUM_ABS ||
                         call->op == FASTREDUCE_SUM_SQUARES || call->op == FASTREDUCE_NORM2 ||
                         call->op == FASTREDUCE_MEAN || call->op == FASTREDUCE_VARIANCE;
    if (result == 0 || (!has_result && is_f64) || !lies_there(call->x, call->n, size) ||
        (is_dot && !lies_there(call->y, call->n, size)) || !call->output ||
        (uintptr_t)call->output % alignment != 0)
        return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    if (call->type >= FASTREDUCE_I8 || !is_exact ||
        (call->output_type != 0 && call->output_type != result))
        return FASTREDUCE_ERROR_UNSUPPORTED;
    return FASTREDUCE_SUCCESS;
}

static fastreduce_status status_of(const a_call *call)
{
    const fastreduce_type type = (fastreduce_type)call->type,
                          output_type = (fastreduce_type)call->output_type;
    switch (call->which) {
    case REDUCE:
        return fastreduce_host_reduce(call->x, call->output, call->n, type,
                                      (fastreduce_operator)call->op, output_type);
    case DOT:
        return fastreduce_host_dot(call->x, call->y, call->output, call->n, type, output_type);
    case ACCUMULATE:
        return fastreduce_host_accumulate(call->x, (fastreduce_accumulator *)call->output, call->n,
                                          type);
    default: break;
    }
    return fastreduce_host_accumulate_dot(
        call->x, call->y, (fastreduce_wide_accumulator *)call->output, call->n, type);
}

static void check_refusal(const a_call *call, char *place, size_t bytes)
{
    static char before[sizeof(fastreduce_wide_accumulator) + 8];
    const fastreduce_status wanted = wanted_status(call);
    fastreduce_status got;
    char what[300];
    if (call->n > 2 && wanted == FASTREDUCE_SUCCESS) return; /* there is no such memory */
    memset(place, 0, bytes);
    memset(before, 0, bytes);
    got = status_of(call);
    if (got == wanted && (wanted == FASTREDUCE_SUCCESS || memcmp(before, place, bytes) == 0)) {
        ++checks;
        return;
    }
    snprintf(what, sizeof what,
             "call %d, type %d, op %d, output type %d, x %p, y %p, output %p, n 0x%llx%s",
             call->which, call->type, call->op, call->output_type, (const void *)call->x,
             (const void *)call->y, (void *)call->output, (unsigned long long)call->n,
             got == wanted ? ": something was written" : "");
    expect(0, what, call->n, got, wanted);
}

static void refusals(void)
{
    static double x[4] = {1, 2, 3, 4};
    static fastreduce_wide_accumulator place[2];
    static const int offsets[] = {0, 1, 2, 4, -1}; /* -1: null */
    a_call call;
    int a, b, c, d;
    for (call.which = 0; call.which < CALLS; ++call.which) {
        const int is_dot = call.which == DOT || call.which == ACCUMULATE_DOT;
        const int has_result = call.which == REDUCE || call.which == DOT;
        const int first_op = call.which == REDUCE ? -1 : 0, last_op = call.which == REDUCE ? 13 : 0;
        const size_t bytes = has_result ? 16 : sizeof *place + 8;
        for (call.type = -1; call.type <= 13; ++call.type)
            for (call.op = first_op; call.op <= last_op; ++call.op)
                for (call.output_type = has_result ? -1 : 0;
                     call.output_type <= (has_result ? 13 : 0); ++call.output_type)
                    for (a = 0; a < 5; ++a)
                        for (b = 0; b < (is_dot ? 5 : 1); ++b)
                            for (c = 0; c < 5; ++c)
                                for (d = 0; d < 6; ++d) {
                                    const size_t size =
                                        fastreduce_type_size((fastreduce_type)call.type);
                                    const size_t most =
                                        (UINTPTR_MAX - (uintptr_t)x) / (size ? size : 1);
                                    const size_t counts[] = {0, 1, 2, most, most + 1, (size_t)-1};
                                    call.x = offsets[a] < 0 ? NULL : (char *)x + offsets[a];
                                    call.y = offsets[b] < 0 ? NULL : (char *)x + offsets[b];
                                    call.output =
                                        offsets[c] < 0 ? NULL : (char *)place + offsets[c];
                                    call.n = counts[d];
                                    check_refusal(&call, (char *)place, bytes);
                                }
    }
}

/* Zeros have no exponent of their own: alone or among others, they do not make a sum slow. Products
 * of denormals are the ones that are. */
static void zeros_are_fast(void)
{
    enum { DOT_PRODUCT = 4, DOT_F32, RESULTS, DENORMALS = 5 };
    static const char *const kinds[] = {"zeros",         "negative zeros", "zeros of both signs",
                                        "1.5 and zeros", "one 1.5",        "denormals"};
    static const char *const results[] = {"sum",         "sum_abs", "mean",
                                          "sum_squares", "dot",     "dot_f32"};
    static const fastreduce_operator operators[] = {FASTREDUCE_SUM, FASTREDUCE_SUM_ABS,
                                                    FASTREDUCE_MEAN, FASTREDUCE_SUM_SQUARES};
    static const size_t sizes[] = {1, 8, 100, 128, 129, 256, 257, 512, 513, 1000, 5000};
    static double x[5000];
    size_t s, i;
    int kind, format, k;
    for (kind = 0; kind <= DENORMALS; ++kind)
        for (format = 0; format < FORMATS; ++format)
            for (s = 0; s < sizeof sizes / sizeof *sizes; ++s) {
                const size_t n = sizes[s];
                const fastreduce_type type = formats[format].type;
                for (i = 0; i < n; ++i) {
                    uint64_t bits = kind == 1 || (kind >= 2 && i % 2) ? sign_of(format) : 0;
                    if ((kind == 3 && i % 3) || (kind == 4 && i == n / 2))
                        bits |= formats[format].infinity >> 1; /* 1.5 */
                    store(x, format, i, bits | (kind == DENORMALS));
                }
                for (k = 0; k < RESULTS; ++k) {
                    /* denormal halves are normal floats */
                    const int of_denormals = kind == DENORMALS && format != F16, products = k >= 3;
                    /* the last of floats, if less than 64, and of products of doubles */
                    const size_t end = products                         ? format == F64 ? n % 4 : 0
                                       : format == F16 || format == F64 ? 0
                                                                        : n % 256;
                    const size_t wanted = of_denormals ? n : end < 64 ? end : 0;
                    char what[100];
                    double result;
                    if (!products && of_denormals) continue;
                    if (k == DOT_F32 && format != F32) continue;
                    one_by_one = 0;
                    if (k == DOT_F32)
                        fastreduce_host_dot_f32((const float *)x, (const float *)x, n);
                    else if (k == DOT_PRODUCT)
                        fastreduce_host_dot(x, x, &result, n, type, FASTREDUCE_F64);
                    else
                        fastreduce_host_reduce(x, &result, n, type, operators[k], FASTREDUCE_F64);
                    snprintf(what, sizeof what, "one by one: %s of %s, %s", results[k],
                             formats[format].name, kinds[kind]);
                    expect(one_by_one == wanted, what, n, (double)one_by_one, (double)wanted);
                }
            }
}

/* So many of one value that windows take many rows at once, then as many of another, below the
 * window or above it by any distance: what they add up to before the miss shows is nothing. */
static void out_of_the_window(void)
{
    enum { EACH = 16384 };
    static double x[2 * EACH];
    static float a[2 * EACH], b[2 * EACH];
    static const int floats[] = {-149, -100, -40, -24, -23, -1, 1,  2,  7,  8,  23,
                                 24,   25,   31,  32,  33,  55, 56, 57, 64, 68, 100};
    static const int doubles[] = {-1074, -500, -128, -68, -64, -54, -53, -52, -1,  1,   2,   51,
                                  52,    53,   54,   55,  56,  60,  63,  64,  65,  68,  100, 116,
                                  117,   118,  119,  120, 127, 128, 129, 180, 200, 500, 1000};
    static const char *const kinds[] = {"doubles that leave the window",
                                        "floats that leave the window",
                                        "products that leave the window"};
    const double most = 2 - ldexp(1, -23); /* the largest significand of a float */
    int sign, kind;
    size_t k, i;
    for (sign = -1; sign <= 1; sign += 2)
        for (kind = 0; kind < 3; ++kind) {
            const size_t count =
                kind ? sizeof floats / sizeof *floats : sizeof doubles / sizeof *doubles;
            for (k = 0; k < count; ++k) {
                const int e = kind ? floats[k] : doubles[k];
                const double first = sign, second = ldexp(e < -100 ? sign : sign * most, e),
                             factor = kind == 2 && e > -100 ? ldexp(1, e) : 1, /* twice as far */
                    wanted = EACH * first + EACH * (second * factor);          /* one rounding */
                double got = 0;
                for (i = 0; i < 2 * EACH; ++i) {
                    x[i] = i < EACH ? first : second;
                    a[i] = kind ? (float)x[i] : 0;
                    b[i] = i < EACH ? 1 : (float)factor;
                }
                if (kind == 2)
                    fastreduce_host_dot(a, b, &got, 2 * EACH, FASTREDUCE_F32, FASTREDUCE_F64);
                else
                    fastreduce_host_reduce(kind ? (void *)a : (void *)x, &got, 2 * EACH,
                                           kind ? FASTREDUCE_F32 : FASTREDUCE_F64, FASTREDUCE_SUM,
                                           FASTREDUCE_F64);
                expect(bits_f64(got) == bits_f64(wanted), kinds[kind], k, got, wanted);
            }
        }
}

/* A mean divides by n, which as a float would be 2^24. */
static void mean_of_many(void)
{
    const size_t n = ((size_t)1 << 24) + 1;
    uint16_t *const x = (uint16_t *)calloc(n, sizeof *x);
    const float wanted = (float)(1.0 / (double)n);
    float got = 0;
    if (!x) exit(1);
    x[n / 2] = 0x3c00; /* 1 */
    fastreduce_host_reduce(x, &got, n, FASTREDUCE_F16, FASTREDUCE_MEAN, FASTREDUCE_DEFAULT_TYPE);
    expect(got == wanted && wanted != ldexpf(1, -24), "the mean of 2^24 + 1", n, got, wanted);
    free(x);
}

/* Long sums, and sums of magnitudes, of positive floats that fit a window, which takes as many rows
 * at once as it may, and whose end is a part of a chunk: they are the sums of short parts. */
static void long_sums(void)
{
    enum { PART = 1000, LONG = 75 * FASTREDUCE_DETAIL_CHUNK };
    static float x[LONG];
    static const size_t sizes[] = {64 * FASTREDUCE_DETAIL_CHUNK + 344, LONG - 1};
    static const fastreduce_operator operators[] = {FASTREDUCE_SUM, FASTREDUCE_SUM_ABS};
    size_t s, i, k;
    int format;
    for (format = 0; format < FORMATS; ++format)
        for (s = 0; s < 2 && formats[format].type != FASTREDUCE_F64; ++s)
            for (k = 0; k < 2; ++k) {
                const size_t n = sizes[s], size = formats[format].bytes;
                const fastreduce_type type = formats[format].type;
                const uint64_t most = (formats[format].infinity >> (formats[format].precision - 1));
                const uint64_t lowest = random_words() % (most - 3);
                fastreduce_accumulator parts = {{0}};
                double sum = 0, wanted;
                for (i = 0; i < n; ++i)
                    store(x, format, i, near_bits(format, lowest, 2) & ~sign_of(format));
                for (i = 0; i < n; i += PART)
                    fastreduce_host_accumulate((const char *)x + i * size, &parts,
                                               n - i < PART ? n - i : PART, type);
                fastreduce_host_reduce(x, &sum, n, type, operators[k], FASTREDUCE_F64);
                wanted = fastreduce_accumulator_f64(&parts);
                expect(bits_f64(sum) == bits_f64(wanted), "a long sum", n, sum, wanted);
            }
}

int main(void)
{
    static const float ones[] = {1.5f, -0.25f};
    double nothing = 1;
    union {
        double alignment;
        float pair[2];
    } output;
    float *const pair = output.pair;
    names(); /* the shortest first: mutants.py is done with the first that fails */
    refusals();
    paths();
    use_avx2 = has_avx2();
    if (use_avx2) zeros_are_fast();
    for (use_avx2 = 0; use_avx2 <= has_avx2(); ++use_avx2) out_of_the_window();
    use_avx2 = 0;
    mean_of_many();
    headroom();
    headroom_of_products();
    variances_of_many();
    windows();
    far_apart();
    full_bins();
    limits_of_windows();
    ties();
    ties_of_16_bits();
    for (use_avx2 = 0; use_avx2 <= has_avx2(); ++use_avx2) long_sums();
    use_avx2 = 0;
    random_cases();
    expect(fastreduce_host_dot_f32(ones, ones, 2) == 2.3125f, "dot_f32", 2,
           fastreduce_host_dot_f32(ones, ones, 2), 2.3125);
    expect(fastreduce_host_reduce(ones, pair + 1, 2, FASTREDUCE_F32, FASTREDUCE_SUM,
                                  FASTREDUCE_DEFAULT_TYPE) == FASTREDUCE_SUCCESS &&
               pair[1] == 1.25f,
           "an output that is aligned as a float is", 2, pair[1], 1.25);
    expect(fastreduce_host_reduce(ones, pair, 2, FASTREDUCE_F32, FASTREDUCE_SUM, FASTREDUCE_F32) ==
                   FASTREDUCE_SUCCESS &&
               pair[0] == 1.25f,
           "an output type that is the default", 2, pair[0], 1.25);
    expect(bits_f64(fastreduce_host_sum_f64(NULL, 0)) == 0, "the empty sum of doubles", 0,
           fastreduce_host_sum_f64(NULL, 0), 0);
    expect(fastreduce_host_reduce(NULL, &nothing, 0, FASTREDUCE_F64, FASTREDUCE_MEAN,
                                  FASTREDUCE_DEFAULT_TYPE) == FASTREDUCE_SUCCESS &&
               isnan(nothing),
           "the mean of nothing", 0, nothing, 0);
    printf("host floats: %lu checks, %lu failed\n", checks, failures);
    return failures != 0;
}

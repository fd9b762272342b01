/* Every exact reduction on the CPU of given elements, against MPFR. */
#ifndef EVERY_RESULT_H
#define EVERY_RESULT_H

#include "data.h"
#include <mpfr.h>

enum { MOST = 40000 };

/* ---- The oracle ---- */

/* The number that the bits stand for: significand * 2^exponent. */
static void set_bits(mpfr_t number, int format, uint64_t bits)
{
    const int fraction = formats[format].precision - 1;
    const uint64_t magnitude = bits & (sign_of(format) - 1);
    const long exponent = (long)(magnitude >> fraction);
    uint64_t significand = magnitude & (((uint64_t)1 << fraction) - 1);
    if (magnitude > formats[format].infinity) {
        mpfr_set_nan(number);
        return;
    }
    if (exponent > 0) significand |= (uint64_t)1 << fraction;
    if (magnitude == formats[format].infinity)
        mpfr_set_inf(number, 1);
    else
        mpfr_set_uj_2exp(number, significand, formats[format].least + (exponent ? exponent - 1 : 0),
                         MPFR_RNDN);
    if (bits & sign_of(format)) mpfr_neg(number, number, MPFR_RNDN);
}

/* All the results of an array, or of two: the exact sum of what is added. */
static void exact_sum(mpfr_t sum, const void *x, const void *y, int format, int magnitudes,
                      size_t n)
{
    static mpfr_t terms[MOST];
    static mpfr_ptr pointers[MOST];
    static int is_ready;
    mpfr_t other;
    size_t i;
    if (!is_ready) {
        for (i = 0; i < MOST; ++i) mpfr_init2(terms[i], 106);
        is_ready = 1;
    }
    mpfr_init2(other, 53);
    for (i = 0; i < n; ++i) {
        pointers[i] = terms[i];
        set_bits(terms[i], format, load(x, format, i));
        if (y) {
            set_bits(other, format, load(y, format, i));
            if (mpfr_mul(terms[i], terms[i], other, MPFR_RNDN) != 0) exit(1);
        }
        if (magnitudes) mpfr_abs(terms[i], terms[i], MPFR_RNDN);
    }
    if (mpfr_sum(sum, pointers, n, MPFR_RNDN) != 0 && mpfr_number_p(sum)) exit(1);
    mpfr_clear(other);
}

/* From the sum of squares what a variance divides by n * n. */
static void subtract_mean(mpfr_t squares, const void *x, int format, size_t n)
{
    mpfr_t sum;
    mpfr_init2(sum, mpfr_get_prec(squares));
    exact_sum(sum, x, NULL, format, 0, n);
    if (n == 0 || !mpfr_number_p(sum)) {
        mpfr_set_nan(squares);
    } else {
        mpfr_sqr(sum, sum, MPFR_RNDN);
        mpfr_mul_ui(squares, squares, (unsigned long)n, MPFR_RNDN);
        if (mpfr_sub(squares, squares, sum, MPFR_RNDN) != 0) exit(1);
    }
    mpfr_clear(sum);
}

/* What the operator makes of it, rounded once. Only quotient and root round: to the precision of
 * the result, where denormals have less (MPFR's manual, mpfr_subnormalize). */
static double rounded(const mpfr_t sum, fastreduce_operator op, size_t n, int format)
{
    const mpfr_exp_t before_least = mpfr_get_emin(), before_most = mpfr_get_emax();
    mpfr_t result, squared;
    double value;
    int ternary = 0;
    mpfr_init2(squared, 128);
    mpfr_set_uj(squared, n, MPFR_RNDN);
    mpfr_sqr(squared, squared, MPFR_RNDN);
    mpfr_init2(result, formats[format].precision);
    mpfr_set_emin(formats[format].least + 1);
    mpfr_set_emax(format == F64 ? 1024 : format == F16 ? 16 : 128);
    if (op == FASTREDUCE_MEAN)
        ternary = mpfr_div_ui(result, sum, (unsigned long)n, MPFR_RNDN);
    else if (op == FASTREDUCE_VARIANCE)
        ternary = mpfr_div(result, sum, squared, MPFR_RNDN);
    else if (op == FASTREDUCE_NORM2)
        ternary = mpfr_sqrt(result, sum, MPFR_RNDN);
    else
        ternary = mpfr_set(result, sum, MPFR_RNDN);
    ternary = mpfr_check_range(result, ternary, MPFR_RNDN);
    mpfr_subnormalize(result, ternary, MPFR_RNDN);
    value = mpfr_get_d(result, MPFR_RNDN);
    mpfr_set_emin(before_least);
    mpfr_set_emax(before_most);
    mpfr_clear(result);
    mpfr_clear(squared);
    if (isnan(value)) return fabs((double)NAN);
    return value == 0 && mpfr_zero_p(sum) ? 0.0 : value; /* an exact zero is +0 */
}

/* Returns the bits of a number that the format holds. */
static uint64_t bits_of(int format, double value)
{
    const int fraction = formats[format].precision - 1, least = formats[format].least;
    const uint64_t sign = bits_f64(value) >> 63 ? sign_of(format) : 0;
    int exponent;
    if (isnan(value)) return formats[format].infinity | (uint64_t)1 << (fraction - 1);
    if (isinf(value)) return formats[format].infinity | sign;
    frexp(value, &exponent);
    exponent -= least + fraction + 1;
    if (value == 0 || exponent < 0) exponent = 0; /* of a denormal, as of the least normal ones */
    return sign |
           ((uint64_t)ldexp(fabs(value), -least - exponent) + ((uint64_t)exponent << fraction));
}

/* ---- Comparison ---- */

typedef struct reduction {
    const char *what;
    const void *x, *y; /* y: a dot product */
    size_t n;
    int format;
    fastreduce_operator op;
    double wanted[3]; /* as a float, as a double, and as an element */
    uint64_t bits[3]; /* of these */
} reduction;

static void check_reduction(void *argument)
{
    const reduction *r = (const reduction *)argument;
    const fastreduce_type type = formats[r->format].type;
    int which;
    for (which = r->format == F64; which < 3; ++which) {
        const int format = which < 2 ? which : r->format; /* of the result */
        const fastreduce_type output_type =
            format == F32 ? FASTREDUCE_DEFAULT_TYPE : formats[format].type;
        const size_t size = formats[format].bytes;
        uint64_t got[2] = {0x0707070707070707, 0x0707070707070707}, past[2];
        const fastreduce_status status =
            r->y ? fastreduce_host_dot(r->x, r->y, got, r->n, type, output_type)
                 : fastreduce_host_reduce(r->x, got, r->n, type, r->op, output_type);
        const uint64_t bits = load(got, format, 0);
        char what[200];
        snprintf(what, sizeof what, "%s, %s of %s as %s: %llx, not %llx", r->what,
                 r->y ? "dot" : fastreduce_operator_name(r->op), formats[r->format].name,
                 formats[format].name, (unsigned long long)bits,
                 (unsigned long long)r->bits[which]);
        /* nothing is written behind the result */
        memcpy(past, got, sizeof past);
        memset((char *)past + size, 7, sizeof past - size);
        expect(status == FASTREDUCE_SUCCESS && bits == r->bits[which] &&
                   memcmp(past, got, sizeof past) == 0,
               what, r->n, 0, r->wanted[which]);
    }
    if (r->format == F64 && r->op == FASTREDUCE_SUM && !r->y) {
        const double got = fastreduce_host_sum_f64((const double *)r->x, r->n);
        expect(bits_f64(got) == r->bits[1], r->what, r->n, got, r->wanted[1]);
    }
    if (r->format == F32 && r->y) {
        const float got = fastreduce_host_dot_f32((const float *)r->x, (const float *)r->y, r->n);
        expect(bits_f32(got) == r->bits[0], r->what, r->n, got, r->wanted[0]);
    }
}

/* To the accumulator of its kind at that place. */
static void add_to(fastreduce_product_accumulator *sum, const void *x, const void *y, size_t n,
                   fastreduce_type type)
{
    fastreduce_wide_accumulator *const wide = (fastreduce_wide_accumulator *)sum;
    if (y && type == FASTREDUCE_F64)
        fastreduce_host_accumulate_dot_f64((const double *)x, (const double *)y, sum, n);
    else if (y)
        fastreduce_host_accumulate_dot(x, y, wide, n, type);
    else if (type == FASTREDUCE_F64)
        fastreduce_host_accumulate_f64((const double *)x, wide, n);
    else
        fastreduce_host_accumulate(x, (fastreduce_accumulator *)sum, n, type);
}

/* The array is split at random; each piece has its accumulator, and the limbs are added as MPI_SUM
 * would, and by merging. */
static void check_split(const reduction *whole)
{
    const fastreduce_type type = formats[whole->format].type;
    const int is_f64 = whole->format == F64, limbs = whole->y && is_f64   ? 138
                                                     : whole->y || is_f64 ? 72
                                                                          : 16;
    const size_t bytes = formats[whole->format].bytes;
    fastreduce_product_accumulator part, added, merged, together;
    const fastreduce_wide_accumulator *const wide = (const fastreduce_wide_accumulator *)&added;
    size_t begin, end;
    double got;
    int k;
    memset(&added, 0, sizeof added);
    memset(&merged, 0, sizeof merged);
    memset(&together, 0, sizeof together);
    for (begin = 0; begin < whole->n; begin = end) {
        const char *const x = (const char *)whole->x + begin * bytes;
        const char *const y = whole->y ? (const char *)whole->y + begin * bytes : NULL;
        end = begin + 1 + random_words() % (whole->n - begin);
        memset(&part, 0, sizeof part);
        add_to(&part, x, y, end - begin, type);
        add_to(&together, x, y, end - begin, type);
        for (k = 0; k < limbs; ++k) added.limb[k] += part.limb[k];
        if (limbs == 138)
            fastreduce_product_accumulator_merge(&merged, &part);
        else if (limbs == 72)
            fastreduce_wide_accumulator_merge((fastreduce_wide_accumulator *)&merged,
                                              (const fastreduce_wide_accumulator *)&part);
        else
            fastreduce_accumulator_merge((fastreduce_accumulator *)&merged,
                                         (const fastreduce_accumulator *)&part);
    }
    expect(memcmp(&merged, &together, sizeof merged) == 0, "pieces, merged or one after the other",
           whole->n, 0, 0);
    if (whole->y && !is_f64) {
        const float as_float = fastreduce_wide_accumulator_f32(wide);
        expect(bits_f32(as_float) == whole->bits[0], "limbs added, as f32", whole->n, as_float,
               whole->wanted[0]);
    }
    got = limbs == 138  ? fastreduce_product_accumulator_f64(&added)
          : limbs == 72 ? fastreduce_wide_accumulator_f64(wide)
                        : fastreduce_accumulator_f64((const fastreduce_accumulator *)&added);
    expect(bits_f64(got) == whole->bits[1], "limbs added", whole->n, got, whole->wanted[1]);
    for (k = 0; k < limbs; ++k) /* as the functions leave them */
        if (k != limbs - 5)
            expect(merged.limb[k] >= 0 && merged.limb[k] >> 32 == 0, "a limb", (size_t)k,
                   (double)merged.limb[k], 0);
}

/* Every exact result of x, and of x and y; each way that the CPU may take. */
static void every_result(const char *what, int format, const void *x, const void *y, size_t n)
{
    static const struct {
        fastreduce_operator op;
        int magnitudes, squares, dot;
    } results[] = {{FASTREDUCE_SUM, 0, 0, 0},     {FASTREDUCE_MEAN, 0, 0, 0},
                   {FASTREDUCE_SUM_ABS, 1, 0, 0}, {FASTREDUCE_SUM_SQUARES, 0, 1, 0},
                   {FASTREDUCE_NORM2, 0, 1, 0},   {FASTREDUCE_VARIANCE, 0, 1, 0},
                   {FASTREDUCE_SUM, 0, 0, 1}};
    mpfr_t sum;
    size_t k;
    mpfr_init2(sum, 4400); /* every sum of products of doubles */
    most_chunks = random_bits() % 2 ? 1 + random_bits() % 3 : (size_t)1 << 16;
    for (k = 0; k < sizeof results / sizeof *results; ++k) {
        reduction r;
        r.what = what, r.x = x, r.n = n, r.format = format, r.op = results[k].op;
        r.y = results[k].dot ? y : NULL;
        if (k == 0 || results[k].magnitudes || results[k].squares || results[k].dot)
            exact_sum(sum, x, results[k].squares ? x : r.y, format, results[k].magnitudes, n);
        if (r.op == FASTREDUCE_MEAN && n == 0) mpfr_set_nan(sum);
        if (r.op == FASTREDUCE_VARIANCE) subtract_mean(sum, x, format, n);
        r.wanted[0] = rounded(sum, r.op, n, F32);
        r.wanted[1] = rounded(sum, r.op, n, F64);
        r.wanted[2] = rounded(sum, r.op, n, format);
        r.bits[0] = bits_f32((float)r.wanted[0]);
        r.bits[1] = bits_f64(r.wanted[1]);
        r.bits[2] = bits_of(format, r.wanted[2]);
        for (use_avx2 = 0; use_avx2 <= has_avx2(); ++use_avx2) every_mode(check_reduction, &r);
        use_avx2 = (int)(random_bits() % (1 + (unsigned)has_avx2()));
        if (n > 0 && (k == 0 || results[k].dot)) check_split(&r);
        if (r.op == FASTREDUCE_MEAN && n == 0) mpfr_set_zero(sum, 1);
    }
    mpfr_clear(sum);
}

#endif

/* One hash of the bits of some 40,000 results of every function on the CPU, of every float: every
 * compiler and all of its options have to print the same. Each result is computed with and without
 * AVX2, in every rounding mode and with denormals flushed. EXACT's have the same bits, and AUTO's
 * are refused in other modes. */
#include "data.h"

enum { MOST = 4100 };

typedef struct operands {
    const char *x, *y;
    size_t n, split; /* where a second accumulator begins */
    int format;
    uint64_t hash, with_auto;
    int is_hashed, has_auto;
} operands;

static uint64_t mixed(uint64_t hash, const void *bits, size_t bytes)
{
    const unsigned char *const byte = (const unsigned char *)bits;
    size_t k;
    for (k = 0; k < bytes; ++k) hash = (hash ^ byte[k]) * 0x100000001b3u;
    return hash;
}

/* The limbs of both parts, merged, and what is read from these. */
static uint64_t accumulators(const operands *o, uint64_t hash)
{
    const fastreduce_type type = formats[o->format].type;
    const size_t first = o->split, rest = o->n - first, from = first * formats[o->format].bytes;
    fastreduce_accumulator narrow[2];
    fastreduce_wide_accumulator wide[2];
    fastreduce_product_accumulator products[2];
    float f;
    double d;
    memset(narrow, 0, sizeof narrow);
    memset(wide, 0, sizeof wide);
    memset(products, 0, sizeof products);
    if (o->format == F64) {
        const double *const x = (const double *)o->x, *const y = (const double *)o->y;
        fastreduce_host_accumulate_f64(x, &wide[0], first);
        fastreduce_host_accumulate_f64(x + first, &wide[1], rest);
        fastreduce_host_accumulate_dot_f64(x, y, &products[0], first);
        fastreduce_host_accumulate_dot_f64(x + first, y + first, &products[1], rest);
    } else {
        if (o->format == F32)
            fastreduce_host_accumulate_f32((const float *)o->x, &narrow[0], first);
        else
            fastreduce_host_accumulate(o->x, &narrow[0], first, type);
        fastreduce_host_accumulate(o->x + from, &narrow[1], rest, type);
        fastreduce_host_accumulate_dot(o->x, o->y, &wide[0], first, type);
        fastreduce_host_accumulate_dot(o->x + from, o->y + from, &wide[1], rest, type);
    }
    fastreduce_accumulator_merge(&narrow[0], &narrow[1]);
    fastreduce_wide_accumulator_merge(&wide[0], &wide[1]);
    fastreduce_product_accumulator_merge(&products[0], &products[1]);
    hash = mixed(hash, narrow, sizeof narrow);
    hash = mixed(hash, wide, sizeof wide);
    hash = mixed(hash, products, sizeof products);
    f = fastreduce_accumulator_f32(narrow);
    hash = mixed(hash, &f, sizeof f);
    d = fastreduce_accumulator_f64(narrow);
    hash = mixed(hash, &d, sizeof d);
    f = fastreduce_wide_accumulator_f32(wide);
    hash = mixed(hash, &f, sizeof f);
    d = fastreduce_wide_accumulator_f64(wide);
    hash = mixed(hash, &d, sizeof d);
    d = fastreduce_product_accumulator_f64(products);
    return mixed(hash, &d, sizeof d);
}

static void fail(const operands *o, const char *what)
{
    if (++failures <= 20)
        printf("FAIL: %s, n %lu: %s\n", formats[o->format].name, (unsigned long)o->n, what);
}

static int is_usual_mode(void)
{
#ifdef __SSE2__
    if (_mm_getcsr() & 0x8040u) return 0;
#endif
    return fegetround() == FE_TONEAREST;
}

/* AUTO's results: of the floats, and of integers that have the same bytes. In other modes they are
 * refused. */
static uint64_t pairwise(const operands *o, uint64_t hash)
{
    const fastreduce_type types[] = {formats[o->format].type,
                                     (fastreduce_type)(FASTREDUCE_I8 + o->format),
                                     (fastreduce_type)(FASTREDUCE_U8 + o->format)};
    const int is_usual = is_usual_mode();
    const fastreduce_status wanted = is_usual ? FASTREDUCE_SUCCESS : FASTREDUCE_ERROR_UNSUPPORTED;
    int k, op;
    for (k = 0; k < 3; ++k) {
        uint64_t output = 0;
        fastreduce_status status = fastreduce_host_pairwise_dot(o->x, o->y, &output, o->n, types[k],
                                                                FASTREDUCE_DEFAULT_TYPE);
        for (op = 0;; ++op) {
            if (status != wanted) fail(o, "the status of a result of AUTO");
            if (!is_usual && output != 0) fail(o, "a refused result is written");
            hash = mixed(hash, &output, sizeof output);
            if (op > FASTREDUCE_ARGMAX_ABS) break;
            status = fastreduce_host_pairwise(o->x, &output, o->n, types[k],
                                              (fastreduce_operator)op, FASTREDUCE_DEFAULT_TYPE);
        }
    }
    return hash;
}

static void check_bits(void *argument)
{
    operands *const o = (operands *)argument;
    const fastreduce_type type = formats[o->format].type;
    uint64_t hash = 0xcbf29ce484222325u;
    const fastreduce_type output_types[] = {FASTREDUCE_DEFAULT_TYPE, FASTREDUCE_F64, type};
    int op, k;
    for (k = 0; k < 3; ++k) {
        const fastreduce_type output_type = output_types[k];
        for (op = 0; op <= FASTREDUCE_ARGMAX_ABS; ++op) { /* the others are refused */
            uint64_t output = 0;
            const fastreduce_status status = fastreduce_host_reduce(
                o->x, &output, o->n, type, (fastreduce_operator)op, output_type);
            hash = mixed(hash, &status, sizeof status);
            hash = mixed(hash, &output, sizeof output);
        }
        for (op = 0; op < 2; ++op) {
            uint64_t output = 0;
            fastreduce_host_dot(o->x, op ? o->x : o->y, &output, o->n, type, output_type);
            hash = mixed(hash, &output, sizeof output);
        }
    }
    if (o->format == F32) {
        const float *const x = (const float *)o->x, *const y = (const float *)o->y;
        const float results[] = {fastreduce_host_sum_f32(x, o->n),
                                 fastreduce_host_dot_f32(x, y, o->n)};
        hash = mixed(hash, results, sizeof results);
    } else if (o->format == F64) {
        const double result = fastreduce_host_sum_f64((const double *)o->x, o->n);
        hash = mixed(hash, &result, sizeof result);
    }
    hash = accumulators(o, hash);
    if (o->is_hashed && hash != o->hash) fail(o, "another mode, other bits");
    o->hash = hash;
    o->is_hashed = 1;
    if (o->n <= 9) hash = pairwise(o, hash); /* of more, other modes take long */
    if (is_usual_mode()) {
        if (o->has_auto && hash != o->with_auto) fail(o, "AVX2, other bits of AUTO");
        o->with_auto = hash;
        o->has_auto = 1;
    }
    ++checks;
}

int main(void)
{
    static const size_t sizes[] = {0, 1, 3, 8, 9, 128, 129, 256, 257, 513, 1536, 4097};
    static double x[MOST], y[MOST];
    uint64_t hash = 0;
    int format, which;
    size_t k;
#ifdef __SSE2__
    _mm_setcsr(_mm_getcsr() & ~0x8040u); /* programs by -ffast-math begin by flushing denormals */
#endif
    for (format = 0; format < FORMATS; ++format) {
        for (which = 0; which < KINDS; ++which) {
            for (k = 0; k < sizeof sizes / sizeof *sizes; ++k) {
                operands o;
                memset(&o, 0, sizeof o);
                o.x = (char *)x, o.y = (char *)y, o.n = sizes[k], o.format = format;
                o.split = random_words() % (o.n + 1);
                fill(x, format, o.n, (kind)which);
                fill(y, format, o.n, random_words() % 3 ? (kind)which : NEAR_EXPONENTS);
                for (use_avx2 = 0; use_avx2 <= has_avx2(); ++use_avx2) every_mode(check_bits, &o);
                hash = pairwise(&o, mixed(hash, &o.with_auto, sizeof o.with_auto));
            }
        }
    }
    printf("%016llx\n", (unsigned long long)hash);
    return failures != 0;
}

/* Shared by sum_mpi and sum_nccl: the sum that is asked for, of a type of floats or of their
 * squares, by EXACT or AUTO, and what holds it. Include common.h first. */
#ifndef FASTREDUCE_EXAMPLES_TYPED_SUM_H
#define FASTREDUCE_EXAMPLES_TYPED_SUM_H

#include <inttypes.h>

#define SUM_OPTIONS                                                                            \
    "  --type TYPE    f16, bf16, f32 (default), f64: the elements'. Sums of f64 are of f64,\n" \
    "                 exact sums of squares too, others of f32.\n"                             \
    "  --op OPERATOR  sum (default); sum_squares, not of f64\n"                                \
    "  --kernel NAME  exact (default): the true sum, rounded once; auto: neighbours, then\n"   \
    "                 pairs of neighbours and so on, each sum rounded, in shards of 2^k\n"

static struct {
    fastreduce_type type;
    fastreduce_operator op;
    fastreduce_kernel kernel;
} sum_of = {FASTREDUCE_F32, FASTREDUCE_SUM, FASTREDUCE_EXACT};

/* Either accumulator: it has nothing but limbs, which are integers. The wide one is of doubles and
 * of products. Or AUTO's sum. */
typedef union sum_limbs {
    fastreduce_accumulator narrow;
    fastreduce_wide_accumulator wide;
    int64_t limb[72];
    float f32;
    double f64;
} sum_limbs;

static inline int is_auto(void) { return sum_of.kernel == FASTREDUCE_AUTO; }

/* Whether the sum is a double. */
static inline int is_wide(void)
{
    return sum_of.type == FASTREDUCE_F64 || (sum_of.op == FASTREDUCE_SUM_SQUARES && !is_auto());
}

/* AUTO's partial sums: their type, and its size. */
static inline fastreduce_type partial_type(void)
{
    return fastreduce_output_type(sum_of.type, FASTREDUCE_SUM);
}
static inline size_t partial_size(void) { return fastreduce_type_size(partial_type()); }

/* Bytes from where one chunk is added to where the next one is: EXACT adds all to one place. */
static inline size_t step_of_sums(void) { return is_auto() ? partial_size() : 0; }

/* How many limbs are in use. */
static inline int limbs_of_sum(void) { return is_wide() ? 72 : 16; }

/* The one operand of a program with these options; null if there is none. */
static inline const char *operand_of_sum(arguments *a, const char *help)
{
    const char *operand = NULL;
    while (next_argument(a, help)) {
        if (is_option_with_value(a, "--type")) {
            fastreduce_type *const type = &sum_of.type;
            for (*type = FASTREDUCE_F32; *type <= FASTREDUCE_BF16; ++*type)
                if (strcmp(a->value, fastreduce_type_name(*type)) == 0) break;
            if (*type > FASTREDUCE_BF16) wrong_usage(a, "no such type of floats: ", a->value);
        } else if (is_option_with_value(a, "--op")) {
            const int squares = strcmp(a->value, "sum_squares") == 0;
            sum_of.op = squares ? FASTREDUCE_SUM_SQUARES : FASTREDUCE_SUM;
            if (!squares && strcmp(a->value, "sum") != 0)
                wrong_usage(a, "neither sum nor sum_squares: ", a->value);
        } else if (is_option_with_value(a, "--kernel")) {
            sum_of.kernel = strcmp(a->value, "auto") == 0 ? FASTREDUCE_AUTO : FASTREDUCE_EXACT;
            if (!is_auto() && strcmp(a->value, "exact") != 0)
                wrong_usage(a, "neither exact nor auto: ", a->value);
        } else {
            take_operand(a, &operand);
        }
    }
    if (sum_of.type == FASTREDUCE_F64 && sum_of.op == FASTREDUCE_SUM_SQUARES)
        wrong_usage(a, "no squares of f64", "");
    return operand;
}

/* Adds partial sums of shards, in their order. */
static inline void add_partials(const void *partials, sum_limbs *sum, size_t count)
{
    CHECK(fastreduce_host_pairwise(partials, sum, count, partial_type(), FASTREDUCE_SUM,
                                   FASTREDUCE_DEFAULT_TYPE));
}

/* Add n elements to the accumulator *to, or write AUTO's sum of them there. Squares are products
 * x * x, as a dot product has them. */
static inline void sum_on_host(const void *input, void *to, size_t n)
{
    sum_limbs *const sum = (sum_limbs *)to;
    const fastreduce_type type = sum_of.type;
    const int squares = sum_of.op == FASTREDUCE_SUM_SQUARES;
    if (is_auto() && squares)
        CHECK(fastreduce_host_pairwise_dot(input, input, to, n, type, FASTREDUCE_DEFAULT_TYPE));
    else if (is_auto())
        CHECK(fastreduce_host_pairwise(input, to, n, type, sum_of.op, FASTREDUCE_DEFAULT_TYPE));
    else if (squares)
        CHECK(fastreduce_host_accumulate_dot(input, input, &sum->wide, n, type));
    else if (type == FASTREDUCE_F64)
        fastreduce_host_accumulate_f64((const double *)input, &sum->wide, n);
    else
        CHECK(fastreduce_host_accumulate(input, &sum->narrow, n, type));
}

#ifdef CUDART_VERSION
static inline void sum_on_device(const void *input, void *to, size_t n,
                                 const fastreduce_config *config)
{
    sum_limbs *const sum = (sum_limbs *)to;
    const fastreduce_type type = sum_of.type;
    const int squares = sum_of.op == FASTREDUCE_SUM_SQUARES;
    if (is_auto() && squares)
        CHECK(fastreduce_dot(input, input, to, n, type, config));
    else if (is_auto())
        CHECK(fastreduce_reduce(input, to, n, type, sum_of.op, config));
    else if (squares)
        CHECK(fastreduce_accumulate_dot(input, input, &sum->wide, n, type, config));
    else if (type == FASTREDUCE_F64)
        CHECK(fastreduce_accumulate_f64((const double *)input, &sum->wide, n, config));
    else
        CHECK(fastreduce_accumulate(input, &sum->narrow, n, type, config));
}
#endif

static inline void merge_sums(sum_limbs *into, const sum_limbs *from)
{
    if (is_wide())
        fastreduce_wide_accumulator_merge(&into->wide, &from->wide);
    else
        fastreduce_accumulator_merge(&into->narrow, &from->narrow);
}

/* The sum, rounded once, and its bits. */
typedef struct sum_text {
    char value[40], bits[20];
} sum_text;

static inline sum_text text_of_sum(const sum_limbs *sum)
{
    sum_text text;
    if (is_wide()) {
        const double rounded = is_auto() ? sum->f64 : fastreduce_wide_accumulator_f64(&sum->wide);
        uint64_t bits;
        memcpy(&bits, &rounded, sizeof bits);
        snprintf(text.value, sizeof text.value, "%.17g", rounded);
        snprintf(text.bits, sizeof text.bits, "0x%016" PRIx64, bits);
    } else {
        const float rounded = is_auto() ? sum->f32 : fastreduce_accumulator_f32(&sum->narrow);
        snprintf(text.value, sizeof text.value, "%.9g", (double)rounded);
        snprintf(text.bits, sizeof text.bits, "0x%08" PRIx32, bits_of(rounded));
    }
    return text;
}

#endif

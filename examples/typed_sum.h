/* Shared by sum_mpi and sum_nccl: the sum that is asked for, of a type of floats or of their
 * squares, and its accumulator. Include common.h first. */
#ifndef FASTREDUCE_EXAMPLES_TYPED_SUM_H
#define FASTREDUCE_EXAMPLES_TYPED_SUM_H

#include <inttypes.h>

#define SUM_OPTIONS                                                                       \
    "  --type TYPE    f16, bf16, f32 (default), f64: the elements'. Sums of f64 and of\n" \
    "                 squares are of f64, others of f32.\n"                               \
    "  --op OPERATOR  sum (default); sum_squares, not of f64\n"

static struct {
    fastreduce_type type;
    fastreduce_operator op;
} sum_of = {FASTREDUCE_F32, FASTREDUCE_SUM};

/* Either accumulator: it has nothing but limbs, which are integers. The wide one is of doubles and
 * of products. */
typedef union sum_limbs {
    fastreduce_accumulator narrow;
    fastreduce_wide_accumulator wide;
    int64_t limb[72];
} sum_limbs;

static inline int is_wide(void)
{
    return sum_of.type == FASTREDUCE_F64 || sum_of.op == FASTREDUCE_SUM_SQUARES;
}

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
        } else {
            take_operand(a, &operand);
        }
    }
    if (sum_of.type == FASTREDUCE_F64 && sum_of.op == FASTREDUCE_SUM_SQUARES)
        wrong_usage(a, "no squares of f64", "");
    return operand;
}

static inline void add_on_host(const void *input, sum_limbs *sum, size_t n)
{
    if (sum_of.op == FASTREDUCE_SUM && sum_of.type == FASTREDUCE_F64)
        fastreduce_host_accumulate_f64((const double *)input, &sum->wide, n);
    else if (sum_of.op == FASTREDUCE_SUM)
        CHECK(fastreduce_host_accumulate(input, &sum->narrow, n, sum_of.type));
    else
        CHECK(fastreduce_host_accumulate_dot(input, input, &sum->wide, n, sum_of.type));
}

#ifdef CUDART_VERSION
static inline void add_on_device(const void *input, sum_limbs *sum, size_t n,
                                 const fastreduce_config *config)
{
    if (sum_of.op == FASTREDUCE_SUM && sum_of.type == FASTREDUCE_F64)
        CHECK(fastreduce_accumulate_f64((const double *)input, &sum->wide, n, config));
    else if (sum_of.op == FASTREDUCE_SUM)
        CHECK(fastreduce_accumulate(input, &sum->narrow, n, sum_of.type, config));
    else
        CHECK(fastreduce_accumulate_dot(input, input, &sum->wide, n, sum_of.type, config));
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
        const double rounded = fastreduce_wide_accumulator_f64(&sum->wide);
        uint64_t bits;
        memcpy(&bits, &rounded, sizeof bits);
        snprintf(text.value, sizeof text.value, "%.17g", rounded);
        snprintf(text.bits, sizeof text.bits, "0x%016" PRIx64, bits);
    } else {
        const float rounded = fastreduce_accumulator_f32(&sum->narrow);
        snprintf(text.value, sizeof text.value, "%.9g", (double)rounded);
        snprintf(text.bits, sizeof text.bits, "0x%08" PRIx32, bits_of(rounded));
    }
    return text;
}

#endif

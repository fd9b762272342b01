/* The correctly rounded sum by GNU MPFR: 400 bits hold every sum of floats, from 2^-149 to
 * 2^192, and one rounding follows. An exact zero is +0, a NaN is the quiet one. */
#ifndef ORACLE_H
#define ORACLE_H

#include <math.h>
#include <mpfr.h>
#include <stdlib.h>

/* To float, and if `wide` is not null, to double too: the exact sum rounded once for each. */
static inline float mpfr_oracle_twice(const float *x, size_t n, double *wide)
{
    mpfr_t *terms = (mpfr_t *)malloc((n ? n : 1) * sizeof *terms);
    mpfr_ptr *pointers = (mpfr_ptr *)malloc((n ? n : 1) * sizeof *pointers);
    mpfr_t sum;
    float result;
    size_t i;
    if (!terms || !pointers) exit(1);
    for (i = 0; i < n; ++i) {
        mpfr_init2(terms[i], 24);
        mpfr_set_flt(terms[i], x[i], MPFR_RNDN);
        pointers[i] = terms[i];
    }
    mpfr_init2(sum, 400);
    if (mpfr_sum(sum, pointers, n, MPFR_RNDN) != 0 && mpfr_number_p(sum))
        exit(1); /* not exact: a bug here */
    result = mpfr_zero_p(sum)  ? 0.0f
             : mpfr_nan_p(sum) ? fabsf((float)NAN)
                               : mpfr_get_flt(sum, MPFR_RNDN);
    if (wide)
        *wide = mpfr_zero_p(sum)  ? 0.0
                : mpfr_nan_p(sum) ? fabs((double)NAN)
                                  : mpfr_get_d(sum, MPFR_RNDN);
    for (i = 0; i < n; ++i) mpfr_clear(terms[i]);
    mpfr_clear(sum);
    free(terms);
    free(pointers);
    return result;
}

static inline float mpfr_oracle(const float *x, size_t n) { return mpfr_oracle_twice(x, n, NULL); }
#endif

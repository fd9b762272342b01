/* Lesson 13: the contract. Fill in the pairwise sum of n > 0 elements, whose bits AUTO promises:
 * the sum of the first so many, the greatest power of two below n, and that of the rest. */
#include "course.h"

float pairwise(const float *x, size_t n)
{
    if (n == 1) return x[0];
    float sum = 0;
    /* YOUR CODE */
    return sum;
}

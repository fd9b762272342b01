/* Lesson 1: a sum in groups of m elements. Fill in the inner loop: the sum of the group that begins
 * at `begin`, of which the last one may have fewer than m. */
#include "course.h"

float sum(const float *input, size_t n, size_t m)
{
    float total = 0;
    for (size_t begin = 0; begin < n; begin += m) {
        float partial = 0;
        /* YOUR CODE */
        total += partial;
    }
    return total;
}

/* Lesson 14: a pairwise sum of numbers that come one by one, of which nobody knows how many. Level
 * k holds the sum of 2^k numbers if bit k of count is 1. Fill in add: as when a binary counter
 * counts, a level that is taken meets the new sum, and the pair goes on to the next level. */
#include "course.h"

struct running_sum {
    float level[64];
    size_t count = 0;

    void add(float x)
    {
        unsigned k = 0;
        /* YOUR CODE */
        ++count;
    }

    float total() const
    {
        unsigned k = 0;
        while (k < 63 && (count >> k & 1) == 0) ++k;
        float sum = level[k];
        for (++k; k < 64; ++k)
            if (count >> k & 1) sum = level[k] + sum;
        return sum;
    }
};

float sum(const float *x, size_t n)
{
    running_sum running;
    for (size_t i = 0; i < n; ++i) running.add(x[i]);
    return running.total();
}

/* What one sum does on the CPU machine, counted. C, so that examples/ladder.c can print it. */
#ifndef SIMT_PROFILE_H
#define SIMT_PROFILE_H
#include <stdio.h>
#include "../../fastreduce.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct simt_profile {
    unsigned long long launches, blocks;
    unsigned long long barriers;        /* block barriers, summed over blocks */
    unsigned long long shared_accesses; /* loads and stores of single lanes */
    unsigned long long warp_steps;      /* accesses to shared memory by a warp as a whole */
    unsigned long long divergent_steps; /* of those, with some of the warp's lanes only */
    unsigned long long
        avoidable_steps;          /* of those, more than the active threads would need if packed */
    unsigned long long conflicts; /* extra transactions that bank conflicts cost */
    unsigned worst_conflict;      /* n-way */
    unsigned interval_conflict
        [16]; /* the same, per interval between block barriers of the first block */
} simt_profile;

/* Sums n floats with V0..V7 and blocks of 32 to 1024 threads; compares with the exact sum of the
 * same data.
 * 0 for success; otherwise simt_profile_error() says what was wrong. */
int simt_profile_sum(fastreduce_kernel kernel, unsigned block_size, size_t n,
                     simt_profile *profile);
const char *simt_profile_error(void);

/* Sums likewise, and prints as CSV a line `kernel` (name, block size, block barriers, warp steps,
 * conflicts), and what each thread does: `what` (input, output: global memory;
 * load, store: shared; add; shuffle; exit), the block barriers and then the meetings of its warp
 * since the latest of those that it has behind it, the thread, where (element, word or source
 * thread) and by which place in the kernel. Of one block, so n is a tile at most. */
int simt_profile_trace(fastreduce_kernel kernel, unsigned block_size, size_t n, FILE *trace);

#ifdef __cplusplus
}
#endif
#endif

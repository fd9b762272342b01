/* Prints what V0..V7 do with one full tile, from the CPU machine, as CSV (simt_profile.h says how).
 * examples/course/ladder_pictures.py draws it: trace_ladder [BLOCK_SIZE], 128 by default. */
#include <stdlib.h>
#include "simt_profile.h"

int main(int argc, char **argv)
{
    const unsigned block_size = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 128;
    int v;
    for (v = FASTREDUCE_V0; v <= FASTREDUCE_V7; ++v) {
        const fastreduce_kernel kernel = (fastreduce_kernel)v;
        const size_t items = v <= FASTREDUCE_V2 ? 1 : v <= FASTREDUCE_V5 ? 2 : 8;
        if (simt_profile_trace(kernel, block_size, block_size * items, stdout) == 0) continue;
        fprintf(stderr, "trace_ladder: %s: %s\n", fastreduce_kernel_name(kernel),
                simt_profile_error());
        return 1;
    }
    return fflush(stdout) != 0;
}

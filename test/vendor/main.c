/* A C program beside fastreduce.o, or with WITH_HOST and HOST_ONLY, all by itself. Its exit
 * status says what is wrong. */
#ifdef WITH_HOST
#define FASTREDUCE_HOST_IMPLEMENTATION
#endif
#include "fastreduce.h"
#include "fastreduce.h"
#include <stdio.h>
#include <string.h>

int main(void)
{
    const float x[5] = {1e30f, 3.0f, -1e30f, 0.25f, 1e-20f};
    fastreduce_accumulator sum = {{0}};
    fastreduce_host_accumulate_f32(x, &sum, 5);
    if (fastreduce_host_sum_f32(x, 5) != 3.25f || fastreduce_accumulator_f64(&sum) != 3.25 + 1e-20)
        return 1;
#ifndef HOST_ONLY
    fastreduce_config config = {FASTREDUCE_V7, 128, NULL, 0, NULL};
    fastreduce_status status = fastreduce_sum_f32(NULL, NULL, 5, &config);
    if (status != FASTREDUCE_ERROR_INVALID_ARGUMENT) return 2;
    const size_t address = 64; /* of nothing, and no cast: C++ compiles this, too */
    void *workspace;
    memcpy(&workspace, &address, sizeof workspace);
    status = fastreduce_workspace_init(workspace, 64, NULL);
    if (status == FASTREDUCE_SUCCESS) return 3;
    printf("%s: %s\n", fastreduce_kernel_name(config.kernel), fastreduce_status_string(status));
#endif
    return 0;
}

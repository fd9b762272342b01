/* A C program beside fastreduce.o, or with WITH_HOST and HOST_ONLY, all by itself. Its exit
 * status says what is wrong. */
#ifdef WITH_HOST
#define FASTREDUCE_HOST_IMPLEMENTATION
#endif
#include "fastreduce.h"
#include "fastreduce.h"
#include <stdio.h>
#include <string.h>

/* The accumulator of many floats, all exponents and near ones by turns, is that of each alone, and
 * so are the sums of the first few: whatever the compiler was told of float arithmetic. */
static int sums_differ(void)
{
    static float x[20000];
    fastreduce_accumulator whole = {{0}}, one_by_one = {{0}};
    uint32_t bits = 1;
    size_t i;
    for (i = 0; i < 20000; ++i) {
        uint32_t b;
        bits = bits * 1664525 + 1013904223;
        b = i / 4096 % 2 ? bits : (bits & 0x83ffffff) | 0x3c000000;
        b &= (b >> 23 & 255) == 255 ? 0x807fffff : 0xffffffff;
        memcpy(x + i, &b, sizeof b);
    }
    for (i = 0; i < 20000; ++i) {
        fastreduce_host_accumulate_f32(x + i, &one_by_one, 1);
        if (i < 300) {
            const float sum = fastreduce_host_sum_f32(x, i + 1),
                        wanted = fastreduce_accumulator_f32(&one_by_one);
            if (memcmp(&sum, &wanted, sizeof sum) != 0) return 1;
        }
    }
    fastreduce_host_accumulate_f32(x, &whole, 20000);
    return memcmp(&whole, &one_by_one, sizeof whole) != 0;
}

int main(void)
{
    const float x[5] = {1e30f, 3.0f, -1e30f, 0.25f, 1e-20f};
    fastreduce_accumulator sum = {{0}};
    float y = 0;
    fastreduce_host_accumulate_f32(x, &sum, 5);
    if (fastreduce_host_sum_f32(x, 5) != 3.25f || fastreduce_accumulator_f64(&sum) != 3.25 + 1e-20)
        return 1;
    if (sums_differ()) return 4;
    if (fastreduce_host_reduce(x, &y, 5, FASTREDUCE_F32, FASTREDUCE_SUM, FASTREDUCE_DEFAULT_TYPE) !=
            FASTREDUCE_SUCCESS ||
        y != 3.25f)
        return 5;
#ifndef HOST_ONLY
    fastreduce_config config = {FASTREDUCE_V7,  128,  NULL, 0, NULL, NULL, FASTREDUCE_F32,
                                FASTREDUCE_I64, NULL, NULL, 0};
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

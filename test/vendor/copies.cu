/* A part of a program: the function PART calls the library as it is in this file, and
 * standin_runtime.c logs what comes of that. It calls the templates, and with
 * FASTREDUCE_IMPLEMENTATION the C functions too. */
#include "fastreduce.cuh"
#include "standin_runtime.h"
#include <stdio.h>

#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
#define QUOTED(a) #a
#define QUOTE(a) QUOTED(a)

/* By its name the stand-in runtime knows this file's kernels. */
extern "C" __global__ void JOIN(part_, PART)() {}

/* Addresses that nothing accesses. */
static const float *const input = reinterpret_cast<const float *>(size_t(1) << 30);
static float *const output = reinterpret_cast<float *>(size_t(1) << 20);
static const int *const integers = reinterpret_cast<const int *>(size_t(1) << 30);
static long long *const wide_output = reinterpret_cast<long long *>(size_t(1) << 20);
static fastreduce_accumulator *const total =
    reinterpret_cast<fastreduce_accumulator *>(size_t(1) << 20);

static void caller(const char *call) { standin_caller(QUOTE(PART), call); }

extern "C" void PART(void)
{
    caller("version");
    standin_log("%d.%d", FASTREDUCE_VERSION_MINOR, FASTREDUCE_VERSION_PATCH);
    for (unsigned bits : {10u, 20u, 27u}) {
        const size_t n = size_t(1) << bits;
        caller("auto");
        standin_log("of 2^%u needs %lu bytes", bits,
                    static_cast<unsigned long>(fastreduce::workspace_bytes<FASTREDUCE_AUTO>(n)));
        standin_log("answers %d", fastreduce::reduce<FASTREDUCE_AUTO>(input, output, n));
        caller("auto of integers");
        standin_log(
            "of 2^%u needs %lu bytes", bits,
            static_cast<unsigned long>(
                fastreduce::workspace_bytes<FASTREDUCE_AUTO, FASTREDUCE_BLOCK_SIZE,
                                            FASTREDUCE_ITEMS_PER_THREAD, fastreduce::plus, int>(
                    n)));
        standin_log("answers %d", fastreduce::reduce<FASTREDUCE_AUTO>(integers, wide_output, n));
        caller("exact");
        standin_log("of 2^%u needs %lu bytes", bits,
                    static_cast<unsigned long>(fastreduce::workspace_bytes<FASTREDUCE_EXACT>(n)));
        standin_log("answers %d", fastreduce::reduce<FASTREDUCE_EXACT>(input, output, n));
        standin_log("answers %d", fastreduce::accumulate_exactly(input, total, n));
        caller("ladder");
        standin_log("answers %d", fastreduce::reduce<FASTREDUCE_V0>(input, output, n));
        standin_log("answers %d", fastreduce::reduce<FASTREDUCE_V7>(input, output, n));
        standin_log("answers %d", (fastreduce::round<FASTREDUCE_V3, 128>(input, output, n)));
#ifdef FASTREDUCE_IMPLEMENTATION
        for (fastreduce_kernel kernel :
             {FASTREDUCE_AUTO, FASTREDUCE_EXACT, FASTREDUCE_V0, FASTREDUCE_V7}) {
            fastreduce_config config = {};
            config.kernel = kernel;
            char call[64];
            snprintf(call, sizeof call, "C function, %s", fastreduce_kernel_name(kernel));
            caller(call);
            standin_log("of 2^%u needs %lu bytes", bits,
                        static_cast<unsigned long>(fastreduce_workspace_bytes(n, &config)));
            standin_log("answers %d", fastreduce_sum_f32(input, output, n, &config));
        }
        caller("C function, accumulate");
        standin_log("answers %d", fastreduce_accumulate_f32(input, total, n, nullptr));
        caller("C function, version");
        standin_log("%d", fastreduce_version());
#endif
    }
}

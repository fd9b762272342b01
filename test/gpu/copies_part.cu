/* One of test_copies's two objects: a copy of FastReduce of its
 * own, compiled with -DCOPY=NUMBER. */
#define FASTREDUCE_STATIC
#define FASTREDUCE_NO_LADDER
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#include "../../fastreduce.cuh"

#define JOIN_AGAIN(a, b) a##b
#define JOIN(a, b) JOIN_AGAIN(a, b)

extern "C" fastreduce_status JOIN(sum_, COPY)(const float *input, float *output, size_t n,
                                              const fastreduce_config *config)
{
    return fastreduce_sum_f32(input, output, n, config);
}

extern "C" size_t JOIN(workspace_bytes_, COPY)(size_t n, const fastreduce_config *config)
{
    return fastreduce_workspace_bytes(n, config);
}

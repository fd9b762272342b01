/* One level of each version of the ladder over full blocks of 256 threads, for a profiler to
 * count: profile_ladder [BLOCKS]. profile.py runs it. */
#include "../../fastreduce.cuh"
#include "../common/check.h"

template <fastreduce_kernel Version>
static void run(const float *input, float *partials, size_t blocks)
{
    const size_t n = blocks * 256 * fastreduce::default_items(Version);
    const fastreduce_status status = fastreduce::round<Version, 256>(input, partials, n);
    check::that(status == FASTREDUCE_SUCCESS, "V%d: status %d", Version - FASTREDUCE_V0, status);
    CUDA(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
    check::need_device();
    const size_t blocks = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 1 << 15,
                 most = blocks * 256 * 8;
    float *input, *partials;
    CUDA(cudaMalloc(&input, most * sizeof(float)));
    CUDA(cudaMalloc(&partials, blocks * sizeof(float)));
    CUDA(cudaMemset(input, 0, most * sizeof(float)));
    run<FASTREDUCE_V0>(input, partials, blocks);
    run<FASTREDUCE_V1>(input, partials, blocks);
    run<FASTREDUCE_V2>(input, partials, blocks);
    run<FASTREDUCE_V3>(input, partials, blocks);
    run<FASTREDUCE_V4>(input, partials, blocks);
    run<FASTREDUCE_V5>(input, partials, blocks);
    run<FASTREDUCE_V6>(input, partials, blocks);
    run<FASTREDUCE_V7>(input, partials, blocks);
    CUDA(cudaFree(input));
    CUDA(cudaFree(partials));
    return check::finish("profiled");
}

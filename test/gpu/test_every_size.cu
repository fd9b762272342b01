/* Every n from 0 to 70,000, or the argument, for every kernel, at two offsets from a vector's
 * alignment. Small integers, so that every float sum is exact and known from a running total. */
#include <cuda_runtime.h>
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#include "../../fastreduce.cuh"
#include "../common/check.h"

int main(int argc, char **argv)
{
    check::need_device();
    const size_t most = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 70000;
    const std::vector<float> values = check::make(check::data::integers, most, 3);
    for (size_t offset : {0, 3}) {
        check::buffer<float> input(most, offset), output(most + 1);
        input.set(values);
        for (int kernel = FASTREDUCE_AUTO; kernel <= FASTREDUCE_EXACT; ++kernel) {
            fastreduce_config config = {};
            config.kernel = static_cast<fastreduce_kernel>(kernel);
            config.workspace_bytes = fastreduce_workspace_bytes(most, &config);
            check::buffer<unsigned char> workspace(config.workspace_bytes);
            workspace.fill(0);
            config.workspace = workspace.data();
            output.fill(0x7f);
            for (size_t n = 0; n <= most; ++n)
                check::that(fastreduce_sum_f32(input.data(), output.data() + n, n, &config) == 0,
                            "status");
            CUDA(cudaDeviceSynchronize());
            const std::vector<float> got = output.get();
            double sum = 0;
            for (size_t n = 0; n <= most; ++n) {
                check::that(static_cast<double>(got[n]) == sum,
                            "%s, n %zu, offset %zu: %.9g instead of %.9g",
                            fastreduce_kernel_name(config.kernel), n, offset,
                            static_cast<double>(got[n]), sum);
                if (n < most) sum += static_cast<double>(values[n]);
            }
            check::that(workspace.every_byte_is(0) && workspace.canaries_alive(),
                        "%s: workspace left dirty", fastreduce_kernel_name(config.kernel));
        }
    }
    return check::finish("every size");
}

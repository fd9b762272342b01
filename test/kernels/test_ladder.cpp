/* V0..V7 and AUTO through the C launcher: version x block size x size x alignment x data,
 * against the exact sum, with canaries around input, output and workspace. Runs on the CPU
 * machine and on a GPU. */
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/dynamic_shared.h"
#include <algorithm>
#include <set>

static void sum_case(fastreduce_kernel kernel, unsigned block_size, size_t n, size_t offset,
                     check::data kind, bool pooled)
{
    const unsigned long long seed = n * 31 + offset * 7 + block_size + kernel;
    const std::vector<float> values = check::make(kind, n, seed);
#ifdef SIMT_MACHINE
    simt::settings().schedule = static_cast<simt::order>(seed % 3); /* of threads and blocks */
#endif
    check::buffer<float> input(n, offset), output(1, offset);
    input.set(values);

    fastreduce_config config = {};
    config.kernel = kernel;
    config.block_size = block_size;
    config.workspace_bytes = fastreduce_workspace_bytes(n, &config);
    check::buffer<unsigned char> workspace(config.workspace_bytes);
    workspace.fill(0);
    if (!pooled && config.workspace_bytes) config.workspace = workspace.data();

    char label[200];
    std::snprintf(label, sizeof label, "%s, block %u, n %zu, offset %zu, %s, seed %llu, %s",
                  fastreduce_kernel_name(kernel), block_size, n, offset, check::name(kind), seed,
                  pooled ? "pool" : "workspace");
    const fastreduce_status status = fastreduce_sum_f32(input.data(), output.data(), n, &config);
    if (!check::that(status == FASTREDUCE_SUCCESS, "%s: status %d, %s", label, status,
                     fastreduce_status_string(status)))
        return;
    CUDA(cudaDeviceSynchronize());

    const float got = output.get()[0];
    const unsigned depth =
        kernel == FASTREDUCE_AUTO
            ? check::auto_depth
            : check::tree_depth(n, block_size, fastreduce::default_items(kernel));
    check::that(check::plausible_sum(values, kind, got, depth),
                "%s: %.9g, but the exact sum is %.9g", label, static_cast<double>(got),
                static_cast<double>(fastreduce_host_sum_f32(values.data(), n)));
    check::that(output.canaries_alive() && input.canaries_alive() && workspace.canaries_alive(),
                "%s: a write outside output, input or workspace", label);
    const std::vector<float> after = input.get();
    check::that(n == 0 || std::memcmp(after.data(), values.data(), n * sizeof(float)) == 0,
                "%s: the input was written", label);
    check::that(workspace.every_byte_is(0), "%s: the workspace was left dirty", label);

    if (n > 2) { /* the same bits in a second run */
        output.fill(0x7f);
        fastreduce_sum_f32(input.data(), output.data(), n, &config);
        CUDA(cudaDeviceSynchronize());
        const float again = output.get()[0];
        check::that(
            std::memcmp(&again, &got, sizeof got) == 0 || kind >= check::data::both_infinities,
            "%s: %.9g, then %.9g", label, static_cast<double>(got), static_cast<double>(again));
    }
}

/* Around 0, 1, a warp, powers of two, and where a level, two and three begin. */
static std::set<size_t> sizes(size_t tile, size_t most)
{
    std::set<size_t> result = {0, 1, 2, 3, 31, 32, 33, 1000};
    for (size_t middle = 64; middle <= most; middle *= on_gpu ? 2 : 16)
        result.insert({middle - 1, middle, middle + 1});
    for (size_t middle : {tile, 2 * tile, tile * tile, tile * tile * tile})
        if (middle < most) result.insert({middle - 1, middle, middle + 1, middle + tile / 2 + 3});
    return result;
}

int main(int argc, char **argv)
{
    /* An argument bounds n; the defaults keep a run within seconds. */
    const size_t most = argc > 1 ? std::strtoull(argv[1], nullptr, 10)
                        : on_gpu ? size_t(1) << 22
                                 : 70000;
    check::need_device();
    const fastreduce_kernel kernels[] = {FASTREDUCE_V0, FASTREDUCE_V1, FASTREDUCE_V2,
                                         FASTREDUCE_V3, FASTREDUCE_V4, FASTREDUCE_V5,
                                         FASTREDUCE_V6, FASTREDUCE_V7, FASTREDUCE_AUTO};
    for (fastreduce_kernel kernel : kernels) {
        for (unsigned block_size = 32; block_size <= 1024; block_size *= 2) {
            const size_t tile = static_cast<size_t>(block_size) * fastreduce::default_items(kernel);
            unsigned turn = 0;
            for (size_t n : sizes(tile, most)) {
                /* Integers at every size; the other kinds, alignments and the pool take turns. */
                sum_case(kernel, block_size, n, turn % 4, check::data::integers, turn % 3 == 0);
                sum_case(kernel, block_size, n, (turn + 1) % 4, check::all_data[1 + turn % 5],
                         turn % 3 == 1);
                ++turn;
            }
        }
        std::printf("%s done\n", fastreduce_kernel_name(kernel));
        std::fflush(stdout);
    }
    return check::finish("ladder");
}

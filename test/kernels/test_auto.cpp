/* AUTO's kernels, each launched with grids and sizes of its own, so that all are tested whatever
 * the GPU and n would choose; and on a GPU the soak: replays, many streams at once, a GPU kept
 * busy. Small integers: sums are exact. -DAUTO_SMALL, for test/quality/mutants.py, leaves out the
 * kernels of the table, which take long. */
#include <cuda_runtime.h>
#ifdef SIMT_MACHINE
#define FASTREDUCE_HOST_IMPLEMENTATION
#else
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#endif
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/dynamic_shared.h"
#include "../common/one_row.h"
#include "../common/tree.h"

using namespace fastreduce;
using namespace fastreduce::detail;

using sums = auto_engine<plus, float>;

static bool thorough = on_gpu; /* the CPU machine and sanitizers take too long for some */

static const char *name(engine_kernel kernel)
{
    switch (kernel) {
    case engine_kernel::tile: return "tile";
    case engine_kernel::grid_stride: return "grid-stride";
    default: return "pipelined";
    }
}

static float tree_sum(const std::vector<float> &values, const plan_row &row, const work_plan &units)
{
    return tree::reduced<plus>(values, units, row.block_size, row.packs);
}

/* ---- Every kernel makes the same tree -------------------------------------------------------- */

/* Each case runs in another order than the one before. */
static void next_order()
{
#ifdef SIMT_MACHINE
    static unsigned turn = 0;
    simt::settings().schedule = static_cast<simt::order>(turn++ % 3); /* forward, reverse, random */
#endif
}

static device_limits this_device(int *device)
{
    device_limits limits = {};
    CUDA(find_limits(&limits, device));
    CUDA(one_row::pipelines<sums>(5, *device, &limits.pipelined));
    return limits;
}

static bool runs_here(unsigned number)
{
    int device;
    const device_limits limits = this_device(&device);
    return one_row::is_compiled<sums>(number, device) &&
           (!on_gpu || sums::row(number).shared_bytes + shared_reserve <= limits.shared_bytes);
}

/* Twice: the second call relies on the words that the first left. */
static void run_case(unsigned number, unsigned blocks, const work_plan &units,
                     const std::vector<float> &values, size_t offset, float wanted)
{
    const plan_row row = sums::row(number);
    const size_t n = values.size(), words = reduction<plus, float, 512>::words_for(units.units) + 1;
    check::buffer<float> input(n, offset), output(1, offset);
    check::buffer<status_word> status_words(words);
    input.set(values);
    status_words.fill(0);
    int device;
    this_device(&device);
    for (int repeat = 0; repeat < 2; ++repeat) {
        next_order();
        output.fill(0x7f);
        const cudaError_t error = one_row::launch<sums>(
            number, blocks, device, one_row::array_of<sums>(number, input.data(), n), units,
            output_of<plus, float>(output.data()), status_words.data());
        CUDA(cudaDeviceSynchronize());
        const float got = output.get()[0];
        check::that(error == cudaSuccess && std::memcmp(&got, &wanted, sizeof got) == 0,
                    "%s, %u blocks, %u levels, n %zu, offset %zu: status %d, %.9g, not %.9g",
                    name(row.kernel), blocks, units.levels, n, offset, error,
                    static_cast<double>(got), static_cast<double>(wanted));
    }
    check::that(
        status_words.every_byte_is(0) && status_words.canaries_alive() && output.canaries_alive(),
        "%s, %u blocks, n %zu: words left dirty, or a write outside", name(row.kernel), blocks, n);
}

static work_plan work_of(size_t tiles)
{
    return work_plan::of(tiles, work_plan::levels_for(tiles));
}

/* The rows of the table with this one's tiles, with grids of any size where the kernel takes them,
 * at any offset. */
static void same_bits(unsigned of_row, const std::vector<float> &values, const work_plan &units)
{
    const plan_row tiles = sums::row(of_row);
    const float wanted = tree_sum(values, tiles, units);
    for (unsigned number = 0; number < sums::rows; ++number) {
        const plan_row row = sums::row(number);
        if (row.block_size != tiles.block_size || row.packs != tiles.packs || !runs_here(number))
            continue;
        if (row.kernel == engine_kernel::tile && units.levels > 0) continue;
        const unsigned all = static_cast<unsigned>(units.units);
        for (unsigned blocks : {1u, 2u, 7u, 132u, all}) {
            if (blocks > all || (row.kernel == engine_kernel::tile && blocks < all)) continue;
            for (size_t offset : {0, 1, 2, 3, 4, 31, 32}) {
                if (!thorough && offset > 1 && values.size() > 40000) continue;
                run_case(number, blocks, units, values, offset, wanted);
            }
        }
    }
}

static void every_kernel()
{
    for (unsigned number : {0u, 3u}) {
        const plan_row row = sums::row(number);
        const size_t tile = 4 * row.tile_packs();
        for (size_t n : {size_t(0), size_t(1), size_t(3), size_t(4), size_t(7), size_t(1023),
                         tile - 1, tile, tile + 1, tile + 4, 2 * tile, 3 * tile + tile / 2 + 5,
                         9 * tile + 6, 300 * tile + 1}) {
            if (!thorough && n > 10 * tile) continue;
            const std::vector<float> values = check::make(check::data::uniform, n, n);
            same_bits(number, values, work_plan::of(tiles_of(n / 4, row), 0));
        }
    }
    /* units of several tiles; as many levels as the table would make, and more */
    const size_t tile = 4 * sums::row(3).tile_packs();
    for (size_t tiles : {size_t(256 * 3 + 4), size_t(256 * 3 + 7), size_t(4097), size_t(8191)}) {
        if (!thorough) continue;
        const std::vector<float> values =
            check::make(check::data::uniform, tiles * tile - 5, tiles);
        same_bits(3, values, work_of(tiles));
        same_bits(3, values, work_plan::of(tiles, 2));
    }
}

/* ---- Units, in tiles so small that there are many -------------------------------------------- */

template <class Engine>
static bool small_runs_here(int device)
{
    return one_row::is_compiled<Engine>(0, device);
}

/* Twice, with grids of any size: the second call relies on the words that the first left. */
template <class Engine>
static void small_blocks(const std::vector<float> &values, const work_plan &units, size_t offset,
                         float wanted)
{
    const plan_row row = Engine::row(0);
    const size_t n = values.size(), counter = units.units;
    int device;
    this_device(&device);
    if (!small_runs_here<Engine>(device)) return;
    check::buffer<float> input(n, offset), output(1, offset);
    check::buffer<status_word> words(counter + 1);
    input.set(values);
    words.fill(0);
    const unsigned all = static_cast<unsigned>(units.units);
    for (unsigned blocks : {1u, 2u, 7u, all}) {
        if (blocks > all || (row.kernel == engine_kernel::tile && blocks < all)) continue;
        for (int repeat = 0; repeat < 2; ++repeat) {
            next_order();
            output.fill(0x7f);
            const cudaError_t error = one_row::launch<Engine>(
                0, blocks, device, one_row::array_of<Engine>(0, input.data(), n), units,
                output_of<plus, float>(output.data()), words.data());
            CUDA(cudaDeviceSynchronize());
            const float got = output.get()[0];
            check::that(error == cudaSuccess && std::memcmp(&got, &wanted, sizeof got) == 0,
                        "%s, %u x %u, %u blocks, %zu tiles, %u levels, n %zu, offset %zu: status "
                        "%d, %.9g, not %.9g",
                        name(row.kernel), row.block_size, row.packs, blocks, units.tiles,
                        units.levels, n, offset, error, static_cast<double>(got),
                        static_cast<double>(wanted));
        }
    }
    check::that(words.every_byte_is(0) && words.canaries_alive() && output.canaries_alive(),
                "%s, %u x %u, %zu tiles, n %zu: words left dirty, or a write outside",
                name(row.kernel), row.block_size, row.packs, units.tiles, n);
}

template <unsigned BlockSize, unsigned Packs, unsigned Stages>
static void small_kernels(size_t tiles, unsigned levels, size_t cut)
{
    using sum = reduction<plus, float, BlockSize>;
    const size_t n = tiles * BlockSize * Packs * 4 - cut;
    const std::vector<float> values = check::make(check::data::uniform, n, n + levels);
    const work_plan units = work_plan::of(tiles, levels);
    const float wanted = tree::reduced<plus>(values, units, BlockSize, Packs);
    for (size_t offset : {cut % 4, (cut + 1 + levels) % 4 + 28}) {
        if (levels == 0)
            small_blocks<one_row::engine<sum, engine_kernel::tile, BlockSize, Packs>>(
                values, units, offset, wanted);
        small_blocks<one_row::engine<sum, engine_kernel::grid_stride, BlockSize, Packs>>(
            values, units, offset, wanted);
        small_blocks<one_row::engine<sum, engine_kernel::grid_stride, BlockSize, Packs, 0, true>>(
            values, units, offset, wanted);
        small_blocks<one_row::engine<sum, engine_kernel::pipelined, BlockSize, Packs, Stages>>(
            values, units, offset, wanted);
    }
}

static void small_tiles()
{
    /* `cut` floats are missing from the last tile */
    for (size_t cut : {0, 1, 4, 7, 125}) {
        for (size_t tiles : {1, 2, 3, 4, 9}) {
            small_kernels<32, 1, 3>(tiles, 0, cut);
            small_kernels<64, 3, 2>(tiles, 0, cut);
        }
    }
    small_kernels<32, 1, 3>(260, 0, 5);
    small_kernels<32, 1, 3>(260, 1, 2);
    small_kernels<32, 1, 1>(511, 1, 3);
    small_kernels<32, 1, 2>(1023, 2, 66);
    if (!thorough) return;
    for (unsigned levels = 0; levels <= 4; ++levels) {
        small_kernels<32, 1, 3>(4096 + 7 * levels, levels, levels);
        small_kernels<128, 2, 4>(3999 + 7 * levels, levels, levels + 3);
    }
}

#ifndef SIMT_MACHINE
__global__ void busy(unsigned long long cycles)
{
    const long long start = clock64();
    while (clock64() - start < static_cast<long long>(cycles)) {
    }
}

/* Many streams at once, each with its workspace, on a GPU that a long kernel mostly occupies. */
static void crowd()
{
    constexpr int streams = 24, repeats = 200;
    cudaStream_t blocker;
    CUDA(cudaStreamCreateWithFlags(&blocker, cudaStreamNonBlocking));
    const size_t largest = (size_t(1) << 25) + 12345;
    const std::vector<float> values = check::make(check::data::uniform, largest, 77);
    check::buffer<float> input(largest, 1), output(streams);
    input.set(values);
    std::vector<float> wanted(streams);
    for (bool crowded : {false, true}) {
        for (int s = 0; s < streams; ++s) {
            if (crowded && s == 0) {
                int device, multiprocessors;
                CUDA(cudaGetDevice(&device));
                CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount,
                                            device));
                busy<<<2 * multiprocessors - 2, 1024, 0, blocker>>>(
                    2000000000ull); /* a second: all but one place */
                CUDA(cudaGetLastError());
            }
            fastreduce_config config = {};
            CUDA(cudaStreamCreateWithFlags(&config.stream, cudaStreamNonBlocking));
            const size_t n = largest >> s;
            config.workspace_bytes = fastreduce_workspace_bytes(n, &config);
            if (config.workspace_bytes) CUDA(cudaMalloc(&config.workspace, config.workspace_bytes));
            check::that(fastreduce_workspace_init(config.workspace, config.workspace_bytes,
                                                  config.stream) == 0,
                        "init");
            for (int r = 0; r < (crowded ? repeats / 10 : 1); ++r)
                check::that(fastreduce_sum_f32(input.data(), output.data() + s, n, &config) == 0,
                            "crowd: status");
            if (!crowded) CUDA(cudaDeviceSynchronize());
            /* streams and workspaces are left to the end of the process: they are in use */
        }
        CUDA(cudaDeviceSynchronize());
        const std::vector<float> got = output.get();
        if (!crowded) wanted = got;
        for (int s = 0; s < streams; ++s)
            check::that(std::memcmp(&got[s], &wanted[s], sizeof(float)) == 0,
                        "crowd: stream %d gave %.9g, alone %.9g", s, got[s], wanted[s]);
    }
}

/* One graph replayed 10^5 times: the same bits, the slots zero. Its calls follow each other by
 * overlapped launch. */
static void replays()
{
    for (size_t n : {size_t(5000), size_t(100001), size_t(1) << 21}) {
        const std::vector<float> values = check::make(check::data::uniform, n, 5);
        check::buffer<float> input(n, 3), output(4);
        input.set(values);
        fastreduce_config config = {};
        config.workspace_bytes = fastreduce_workspace_bytes(n, &config);
        check::buffer<unsigned char> workspace(config.workspace_bytes);
        workspace.fill(0);
        if (config.workspace_bytes) config.workspace = workspace.data();
        CUDA(cudaStreamCreateWithFlags(&config.stream, cudaStreamNonBlocking));
        fastreduce_sum_f32(input.data(), output.data(), n, &config);
        CUDA(cudaStreamSynchronize(config.stream));
        const float wanted = output.get()[0];

        cudaGraph_t graph;
        cudaGraphExec_t executable;
        CUDA(cudaStreamBeginCapture(config.stream, cudaStreamCaptureModeGlobal));
        for (int k = 0; k < 4; ++k)
            check::that(fastreduce_sum_f32(input.data(), output.data() + k, n, &config) == 0,
                        "capture");
        CUDA(cudaStreamEndCapture(config.stream, &graph));
        CUDA(cudaGraphInstantiateWithFlags(&executable, graph, 0));
        for (int replay = 0; replay < 100000; ++replay) {
            CUDA(cudaGraphLaunch(executable, config.stream));
            if (replay % 1000 == 999) {
                CUDA(cudaStreamSynchronize(config.stream));
                for (float got : output.get())
                    check::that(std::memcmp(&got, &wanted, sizeof got) == 0,
                                "n %zu, replay %d: %.9g, not %.9g", n, replay, got, wanted);
                output.fill(0x7f);
            }
        }
        CUDA(cudaStreamSynchronize(config.stream));
        check::that(workspace.every_byte_is(0), "n %zu: slots left dirty", n);
        CUDA(cudaGraphExecDestroy(executable));
        CUDA(cudaGraphDestroy(graph));
        CUDA(cudaStreamDestroy(config.stream));
    }
}

/* A kernel or a copy of the user's right before the call: the sum sees what it wrote, overlapped
 * launch or not. */
__global__ void write_ones(float *data, size_t n, float value)
{
    const long long start = clock64();
    while (clock64() - start < 20000) {
    }
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
         i += size_t(gridDim.x) * blockDim.x)
        data[i] = value;
}

static void after_others()
{
    constexpr size_t n = 300000;
    check::buffer<float> input(n), output(1);
    fastreduce_config config = {};
    config.workspace_bytes = fastreduce_workspace_bytes(n, &config);
    check::buffer<unsigned char> workspace(config.workspace_bytes);
    workspace.fill(0);
    config.workspace = workspace.data();
    CUDA(cudaStreamCreateWithFlags(&config.stream, cudaStreamNonBlocking));
    for (int k = 1; k < 200; ++k) {
        const float value = static_cast<float>(k % 7 + 1);
        if (k % 2) {
            write_ones<<<64, 256, 0, config.stream>>>(input.data(), n, value);
            CUDA(cudaGetLastError());
        } else {
            CUDA(cudaMemsetAsync(input.data(), 0, n * sizeof(float), config.stream));
        }
        check::that(fastreduce_sum_f32(input.data(), output.data(), n, &config) == 0,
                    "after others: status");
        float got;
        CUDA(cudaMemcpyAsync(&got, output.data(), sizeof got, cudaMemcpyDeviceToHost,
                             config.stream));
        CUDA(cudaStreamSynchronize(config.stream));
        check::that(got == (k % 2 ? value * n : 0), "after others: %.9g in round %d", got, k);
    }
    CUDA(cudaStreamDestroy(config.stream));
}
#endif

int main(int argc, char **)
{
    check::need_device();
    thorough = on_gpu && argc == 1;
    small_tiles();
#ifndef AUTO_SMALL
    every_kernel();
#endif
#ifndef SIMT_MACHINE
    after_others();
    if (thorough) {
        replays();
        crowd();
    }
#endif
    return check::finish("auto");
}

/* AUTO's kernels, each launched with grids and sizes of its own, so that all are tested whatever
 * the GPU and n would choose; and on a GPU the soak: replays, many streams at once, a GPU kept
 * busy. Small integers: sums are exact. */
#include <cuda_runtime.h>
#ifdef SIMT_MACHINE
#define FASTREDUCE_HOST_IMPLEMENTATION
#else
#define FASTREDUCE_IMPLEMENTATION
#endif
#include "../../fastreduce.cuh"
#include "../common/check.h"
#ifdef SIMT_MACHINE
namespace fastreduce::FASTREDUCE_DETAIL_ABI::detail
{
SIMT_DYNAMIC_SHARED(dynamic_shared_bytes)
}
#endif

using namespace fastreduce;
using namespace fastreduce::detail;

using sums = auto_engine<plus, float>;

static const char *name(engine_kernel kernel)
{
    switch (kernel) {
    case engine_kernel::tile: return "tile";
    case engine_kernel::grid_stride: return "grid-stride";
    default: return "pipelined";
    }
}

/* ---- The tree on the host, from its description in room 6 ---------------------------------- */

/* Pairs of neighbours, pairs of pairs ... */
static float pairs(std::vector<float> values)
{
    for (; values.size() > 1; values.resize((values.size() + 1) / 2))
        for (size_t k = 0; k < values.size(); k += 2)
            values[k / 2] = k + 1 < values.size() ? values[k] + values[k + 1] : values[k];
    return values[0];
}

/* Lanes 0 .. width - 1: the upper half is added to the lower, until one is left. */
static float halves(std::vector<float> values)
{
    for (size_t width = values.size() / 2; width > 0; width /= 2)
        for (size_t k = 0; k < width; ++k) values[k] += values[k + width];
    return values[0];
}

static float block(const std::vector<float> &threads)
{
    std::vector<float> warps;
    for (size_t w = 0; w < threads.size(); w += 32)
        warps.push_back(halves({threads.begin() + static_cast<std::ptrdiff_t>(w),
                                threads.begin() + static_cast<std::ptrdiff_t>(w + 32)}));
    return halves(warps);
}

static float tile_partial(const std::vector<float> &values, size_t tile, size_t tiles,
                          size_t threads, size_t packs)
{
    const size_t whole = values.size() / 4;
    std::vector<float> of_threads(threads);
    for (size_t t = 0; t < threads; ++t) {
        std::vector<float> of_packs(packs, 0.0f);
        for (size_t k = 0; k < packs; ++k) {
            const size_t at = (tile * packs + k) * threads + t;
            if (at < whole)
                of_packs[k] = pairs(
                    {values[4 * at], values[4 * at + 1], values[4 * at + 2], values[4 * at + 3]});
        }
        of_threads[t] = pairs(of_packs);
        if (tile + 1 == tiles && t < values.size() % 4) of_threads[t] += values[4 * whole + t];
    }
    return block(of_threads);
}

static float tree_sum(const std::vector<float> &values, const plan_row &row, const work_plan &units)
{
    std::vector<float> partials;
    for (size_t u = 0; u < units.units; ++u) {
        const tile_run run = units.run(u);
        std::vector<float> tiles;
        for (size_t k = 0; k < run.count; ++k)
            tiles.push_back(
                tile_partial(values, run.first + k, units.tiles, row.block_size, row.packs));
        partials.push_back(pairs(tiles));
    }
    const float last = partials.back();
    partials.pop_back();
    if (partials.empty()) return last + 0.0f;
    std::vector<float> threads(row.block_size, 0.0f);
    threads[0] = last;
    for (size_t u = 0; u < partials.size(); ++u) threads[u % row.block_size] += partials[u];
    return block(threads) + 0.0f;
}

/* ---- Every kernel makes this tree ----------------------------------------------------------- */

static device_limits this_device(int *device)
{
    device_limits limits = {};
    CUDA(find_limits(&limits, device));
    CUDA(find_hopper(launch_of<sums>(5), *device, &limits.hopper));
    return limits;
}

static bool runs_here(const plan_row &row)
{
    int device;
    const device_limits limits = this_device(&device);
    return row.kernel != engine_kernel::pipelined || !on_gpu ||
           (limits.hopper && row.shared_bytes + shared_reserve <= limits.shared_bytes);
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
        output.fill(0x7f);
        const cudaError_t error =
            launch_row<sums>(number, blocks, device, {input.data(), n, false, row.streaming}, units,
                             output.data(), status_words.data(), nullptr);
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
        if (row.block_size != tiles.block_size || row.packs != tiles.packs || !runs_here(row))
            continue;
        if (row.kernel == engine_kernel::tile && units.levels > 0) continue;
        const unsigned all = static_cast<unsigned>(units.units);
        for (unsigned blocks : {1u, 2u, 7u, 132u, all}) {
            if (blocks > all || (row.kernel == engine_kernel::tile && blocks < all)) continue;
            for (size_t offset : {0, 1, 2, 3, 4, 31, 32}) {
                if (!on_gpu && offset > 4 && values.size() > 100000) continue;
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
            if (!on_gpu && n > 10 * tile) continue;
            const std::vector<float> values = check::make(check::data::uniform, n, n);
            same_bits(number, values, work_plan::of(tiles_of(n / 4, row), 0));
        }
    }
    /* units of several tiles; as many levels as the table would make, and more */
    const size_t tile = 4 * sums::row(3).tile_packs();
    for (size_t tiles : {size_t(256 * 3 + 4), size_t(256 * 3 + 7), size_t(4097), size_t(8191)}) {
        if (!on_gpu) continue;
        const std::vector<float> values =
            check::make(check::data::uniform, tiles * tile - 5, tiles);
        same_bits(3, values, work_of(tiles));
        same_bits(3, values, work_plan::of(tiles, 2));
    }
}

/* Units cover the tiles in order, each a power of two, never larger than the one before. */
static void units()
{
    for (size_t tiles : {size_t(1), size_t(2), size_t(4095), size_t(4096), size_t(4097),
                         size_t(4098), size_t(8191), size_t(8192), size_t(131072), size_t(131071),
                         size_t(262143), size_t(4194304) + 12345}) {
        const work_plan made = work_of(tiles);
        size_t next = 0, last = ~size_t(0);
        for (size_t u = 0; u < made.units; ++u) {
            const tile_run run = made.run(u);
            if (run.first != next || run.count == 0 || (run.count & (run.count - 1)) != 0 ||
                run.count > last || run.count > tiles / 256)
                if (run.count != 1)
                    check::that(false, "%zu tiles: unit %zu is %zu tiles from %zu", tiles, u,
                                run.count, run.first);
            next = run.first + run.count;
            last = run.count;
        }
        check::that(next == tiles, "%zu tiles: units cover %zu", tiles, next);
        check::that(made.levels == 0 || last == 1, "%zu tiles: the last unit has %zu", tiles, last);
        check::that(made.units <= 4096, "%zu tiles: %zu units", tiles, made.units);
    }
    for (unsigned k = 12; k < 48; ++k)
        check::that(work_of(size_t(1) << k).units <= 12000 &&
                        work_of(size_t(1) << k).levels < most_levels,
                    "2^%u tiles: %zu units", k, work_of(size_t(1) << k).units);
}

/* 4 MiB over all blocks, 8 KiB at least, and no more than a tile: in packs. */
static void prefetches()
{
    const plan_row row = sums::row(3), small = sums::row(0);
    check::that(packs_to_prefetch(row, 1, 16) == 4096 && packs_to_prefetch(row, 100, 16) == 2621 &&
                    packs_to_prefetch(row, 512, 16) == 512 &&
                    packs_to_prefetch(row, 4096, 16) == 512 &&
                    packs_to_prefetch(small, 1, 16) == 1024,
                "packs to prefetch");
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
    units();
    prefetches();
#ifdef SIMT_MACHINE
    (void)argc;
    for (simt::order schedule : {simt::order::forward, simt::order::reverse, simt::order::random}) {
        simt::settings().schedule = schedule;
        every_kernel();
    }
#else
    every_kernel();
    after_others();
    if (argc == 1) { /* an argument leaves out what a sanitizer takes too long for */
        replays();
        crowd();
    }
#endif
    return check::finish("auto");
}

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

static const char *name(auto_kernel kernel)
{
    switch (kernel) {
    case auto_kernel::tile_256x4: return "tile 256 x 4";
    case auto_kernel::tile_512x8: return "tile 512 x 8";
    case auto_kernel::dealt_512x2: return "dealt 512 x 2";
    default: return "ring 256";
    }
}

static bool has_ring(const gpu_facts &gpu)
{
    return gpu.hopper && gpu.shared_bytes >= 200 * 1024; /* 192 KiB and what the compiler adds */
}

static void run_case(const auto_plan &made, size_t n, size_t offset)
{
    const std::vector<float> values = check::make(check::data::integers, n, n + offset);
    check::buffer<float> input(n, offset), output(1, offset);
    check::buffer<published> slots(made.blocks); /* the ring's counter besides */
    input.set(values);
    slots.fill(0);
    gpu_facts gpu = {};
    CUDA(find_gpu_facts(launch_of(auto_kernel::ring_256), &gpu));
    const float wanted = fastreduce_host_sum_f32(values.data(), n);
    for (int repeat = 0; repeat < 2;
         ++repeat) { /* the second relies on the slots that the first left */
        output.fill(0x7f);
        const cudaError_t error = launch_tuned(launch_of(made.kernel), made.blocks, gpu.device,
                                               static_cast<const float *>(input.data()),
                                               output.data(), n, slots.data(), nullptr);
        CUDA(cudaDeviceSynchronize());
        check::that(error == cudaSuccess && output.get()[0] == wanted,
                    "%s, %u blocks, n %zu, offset %zu: status %d, %.9g instead of %.9g",
                    name(made.kernel), made.blocks, n, offset, error,
                    static_cast<double>(output.get()[0]), static_cast<double>(wanted));
    }
    check::that(slots.every_byte_is(0) && slots.canaries_alive() && output.canaries_alive(),
                "%s, %u blocks, n %zu: slots left dirty, or a write outside", name(made.kernel),
                made.blocks, n);
}

/* A tile kernel takes as many blocks as tiles; the others any grid. */
static void every_kernel()
{
    const auto tiled = [](auto_kernel kernel, size_t vectors) {
        const size_t tile = 4 * vectors;
        for (size_t n :
             {size_t(0), size_t(1), size_t(2), size_t(3), size_t(4), size_t(7), size_t(1023),
              tile - 1, tile, tile + 1, 2 * tile, 3 * tile + tile / 2 + 5, 9 * tile + 6})
            for (size_t offset = 0; offset < 4; ++offset)
                run_case({kernel, static_cast<unsigned>(blocks_for(n / 4, vectors))}, n, offset);
    };
    tiled(auto_kernel::tile_256x4, 256 * 4);
    tiled(auto_kernel::tile_512x8, 512 * 8);

    gpu_facts gpu = {};
    CUDA(find_gpu_facts(launch_of(auto_kernel::ring_256), &gpu));
    const size_t row = 4 * 256, tile = 4 * auto_ring_vectors;
    for (unsigned blocks : {1u, 2u, 3u, 7u}) {
        for (size_t n : {size_t(0), size_t(1), size_t(6), row - 1, row, row * blocks + 3, tile,
                         tile + row + 1, tile * blocks + 2, 2 * tile * blocks + 5 * row + 77,
                         4 * tile * blocks - row, 5 * tile * blocks + tile / 2 + 9}) {
            if (!on_gpu && n > 5 * tile) continue;
            for (size_t offset = 0; offset < 4; ++offset) {
                run_case({auto_kernel::dealt_512x2, blocks}, n, offset);
                if (!on_gpu || has_ring(gpu)) run_case({auto_kernel::ring_256, blocks}, n, offset);
            }
        }
    }
}

/* How the ring divides rows: all of them, and none shared where it would show in the result. */
static void shares()
{
    for (size_t rows : {size_t(0), size_t(1), size_t(19), size_t(20), size_t(21), size_t(2479),
                        size_t(1) << 50}) {
        const ring_shares runs = shares_of_ring(rows, 4, false),
                          any = shares_of_ring(rows, 4, true);
        check::that(runs.in_runs == rows && runs.tiles == 0, "%zu rows: some are shared", rows);
        check::that(any.in_runs + 4 * any.tiles >= rows && any.in_runs + 4 * any.tiles < rows + 4,
                    "%zu rows: %zu in runs and %zu tiles", rows, any.in_runs, any.tiles);
        const size_t shared = rows - any.in_runs;
        check::that(20 * shared >= rows && 20 * shared < rows + 20, "%zu rows: %zu shared", rows,
                    shared);
    }
}

/* 4 MiB over all blocks, 8 KiB at least, and no more than there is. */
static void prefetches()
{
    const struct {
        size_t next;
        unsigned blocks, wanted;
    } cases[] = {{1024, 1, 1024},
                 {size_t(1) << 40, 1, 1 << 18},
                 {size_t(1) << 40, 100, 2621},
                 {5, 132, 5},
                 {2047, 128, 2047},
                 {2049, 128, 2048},
                 {4096, 512, 512},
                 {4096, 4096, 512},
                 {511, 4096, 511}};
    for (const auto &c : cases)
        check::that(vectors_to_prefetch(c.next, c.blocks) == c.wanted,
                    "%zu vectors, %u blocks: %u to prefetch", c.next, c.blocks,
                    vectors_to_prefetch(c.next, c.blocks));
}

/* The choice: for every n it covers the input, and needs no more slots than the workspace has. */
static void choices()
{
    for (const gpu_facts &gpu : {gpu_facts{132, 232448, true}, gpu_facts{108, 166912, false},
                                 gpu_facts{1, 101376, true}, gpu_facts{5000, 232448, true}}) {
        for (int k = 0; k < 62; ++k) {
            for (size_t n : {(size_t(1) << k) - 1, size_t(1) << k, (size_t(1) << k) + 1}) {
                const auto_plan made = plan_auto(n, gpu);
                size_t capacity = SIZE_MAX; /* vectors */
                if (made.kernel == auto_kernel::tile_256x4)
                    capacity = size_t(256) * 4 * made.blocks;
                if (made.kernel == auto_kernel::tile_512x8)
                    capacity = size_t(512) * 8 * made.blocks;
                check::that(made.blocks >= 1 && capacity >= n / 4, "n %zu: %u blocks of %s", n,
                            made.blocks, name(made.kernel));
                check::that((made.blocks - 1) * sizeof(published) <= auto_workspace_bytes(n),
                            "n %zu: %u blocks, but %zu bytes", n, made.blocks,
                            auto_workspace_bytes(n));
                check::that(made.kernel != auto_kernel::ring_256 || has_ring(gpu),
                            "n %zu: a ring where there is none", n);
            }
        }
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
    shares();
    prefetches();
    choices();
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

/* Under load: 16 host threads, each with its stream and workspace, sum random sizes by random
 * kernels, while a second process does the same. Every result is checked against the one that
 * the same call gave alone; memory stays flat.
 *
 *     test_load [SECONDS]     default 20
 */
#include <cuda_runtime.h>
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include <atomic>
#include <chrono>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

constexpr size_t most = (size_t(1) << 24) + 4099;
constexpr int kernels = FASTREDUCE_EXACT + 1, sizes = 24, workers = 16;

struct shared_state {
    const float *input;
    float wanted[kernels][sizes];
    std::mutex report; /* check::that counts without one */
    std::atomic<unsigned long long> sums;
};

static size_t size_of(int s)
{
    return s == 0 ? 0 : (most >> (sizes - 1 - s)) - static_cast<size_t>(s) % 3;
}

static void work(shared_state *state, unsigned seed, double seconds)
{
    fastreduce_config config = {};
    float *outputs;
    float results[16];
    for (int kernel = 0; kernel < kernels; ++kernel) {
        config.kernel = static_cast<fastreduce_kernel>(kernel);
        config.workspace_bytes =
            std::max(config.workspace_bytes, fastreduce_workspace_bytes(most, &config));
    }
    CUDA(cudaStreamCreateWithFlags(&config.stream, cudaStreamNonBlocking));
    CUDA(cudaMalloc(&config.workspace, config.workspace_bytes));
    CUDA(cudaMalloc(reinterpret_cast<void **>(&outputs), sizeof results));
    fastreduce_status status =
        fastreduce_workspace_init(config.workspace, config.workspace_bytes, config.stream);
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    unsigned long long turn = 0;
    while (std::chrono::steady_clock::now() < end) {
        int kernel[16], size[16];
        void *const workspace = config.workspace;
        for (int k = 0; k < 16; ++k, ++turn) {
            kernel[k] = static_cast<int>(check::mix(turn, seed) % kernels);
            size[k] = static_cast<int>(check::mix(turn, seed + 100) % sizes);
            config.kernel = static_cast<fastreduce_kernel>(kernel[k]);
            config.workspace = check::mix(turn, seed + 200) % 8 == 0
                                   ? nullptr
                                   : workspace; /* the pool, now and then */
            const fastreduce_status now =
                fastreduce_sum_f32(state->input, outputs + k, size_of(size[k]), &config);
            if (now != 0) status = now;
        }
        config.workspace = workspace;
        CUDA(cudaMemcpyAsync(results, outputs, sizeof results, cudaMemcpyDeviceToHost,
                             config.stream));
        CUDA(cudaStreamSynchronize(config.stream));
        const std::lock_guard<std::mutex> guard(state->report);
        for (int k = 0; k < 16; ++k)
            check::that(
                std::memcmp(&results[k], &state->wanted[kernel[k]][size[k]], sizeof(float)) == 0,
                "%s, n %zu under load: %.9g, alone %.9g",
                fastreduce_kernel_name(static_cast<fastreduce_kernel>(kernel[k])), size_of(size[k]),
                static_cast<double>(results[k]),
                static_cast<double>(state->wanted[kernel[k]][size[k]]));
        state->sums += 16;
    }
    CUDA(cudaFree(config.workspace));
    CUDA(cudaFree(outputs));
    CUDA(cudaStreamDestroy(config.stream));
    const std::lock_guard<std::mutex> guard(state->report);
    check::that(status == 0, "a call under load: status %d", status);
}

int main(int argc, char **argv)
{
    const double seconds = argc > 1 ? std::atof(argv[1]) : 20;
    /* before the first CUDA call: the other process has a context of its own */
    const pid_t other = fork();
    check::need_device();
    const std::vector<float> values = check::make(check::data::uniform, most, 21);
    static shared_state state;
    {
        check::buffer<float> input(most, 1), output(1);
        input.set(values);
        state.input = input.data();
        for (int kernel = 0; kernel < kernels; ++kernel) {
            for (int s = 0; s < sizes; ++s) {
                fastreduce_config config = {};
                config.kernel = static_cast<fastreduce_kernel>(kernel);
                check::that(fastreduce_sum_f32(input.data(), output.data(), size_of(s), &config) ==
                                0,
                            "alone");
                CUDA(cudaDeviceSynchronize());
                state.wanted[kernel][s] = output.get()[0];
            }
        }
        for (int s = 0; s < sizes; ++s) {
            const float exact = fastreduce_host_sum_f32(values.data(), size_of(s));
            check::that(std::memcmp(&exact, &state.wanted[FASTREDUCE_EXACT][s], sizeof exact) == 0,
                        "exact, n %zu", size_of(s));
        }
        size_t before = 0, after = 0, all;
        for (int round = 0; round < 2;
             ++round) { /* the first grows pools and stacks to what they need */
            std::vector<std::thread> threads;
            for (unsigned t = 0; t < workers; ++t)
                threads.emplace_back(
                    work, &state, t + 1000 * static_cast<unsigned>(round) + (other == 0 ? 50 : 0),
                    round == 0 ? seconds / 10 : seconds);
            for (std::thread &thread : threads) thread.join();
            CUDA(cudaDeviceSynchronize());
            CUDA(cudaMemGetInfo(round == 0 ? &before : &after, &all));
        }
        /* the other process allocates at its own pace: what counts is that nothing grows with
         * the number of sums */
        check::that(after + (size_t(256) << 20) > before, "free memory went from %zu to %zu bytes",
                    before, after);
    }
    std::printf("%llu sums by %s process, 16 threads\n", state.sums.load(),
                other == 0 ? "the second" : "the first");
    const int result = check::finish("load");
    if (other == 0) return result;
    int status = 0;
    check::that(waitpid(other, &status, 0) == other && WIFEXITED(status) &&
                    WEXITSTATUS(status) == 0,
                "the second process ended with status %d", status);
    return result || check::failures() != 0;
}

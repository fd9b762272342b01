/* The C functions from several threads at once, each with a stream and workspace of its own: the
 * same results as from one, and for the thread sanitizer no race in what they share, the facts
 * of the current device. On the CPU machine every thread has a GPU of its own by the same
 * number, so all ask for its facts for the first time together. */
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include "../common/dynamic_shared.h"
#include <atomic>
#include <thread>

constexpr size_t n = 2500;
constexpr int threads = 3, rounds = 3;
static std::atomic<int> arrived{0};

/* Sums by every kernel, and an accumulator; false if anything is wrong. Nothing here is shared
 * but the input. */
static bool work(const std::vector<float> &values, float wanted, int round)
{
    simt::gpu gpu;
    gpu.number = round; /* not asked for before */
    simt::set_gpu(gpu);
    check::buffer<float> input(n), output(1);
    check::buffer<fastreduce_accumulator> total(1);
    check::buffer<unsigned char> workspace(1 << 17);
    input.set(values);
    total.fill(0);
    workspace.fill(0);
    fastreduce_config config = {};
    bool good = true;
    arrived.fetch_add(1);
    while (arrived.load() % threads != 0) std::this_thread::yield(); /* all together */
    for (int kernel = FASTREDUCE_AUTO; kernel <= FASTREDUCE_EXACT; ++kernel) {
        config.kernel = static_cast<fastreduce_kernel>(kernel);
        config.workspace = kernel % 2 ? workspace.data() : nullptr;
        config.workspace_bytes = fastreduce_workspace_bytes(n, &config);
        good = good && fastreduce_sum_f32(input.data(), output.data(), n, &config) == 0;
        good = good && output.get()[0] == wanted;
    }
    good = good && fastreduce_accumulate_f32(input.data(), total.data(), n, nullptr) == 0;
    fastreduce_accumulator sum = {};
    fastreduce_host_accumulate_f32(values.data(), &sum, n);
    fastreduce_accumulator_merge(&sum, total.data());
    return good && fastreduce_accumulator_f32(&sum) == 2 * wanted;
}

int main()
{
    const std::vector<float> values = check::make(check::data::integers, n, 3);
    const float wanted = fastreduce_host_sum_f32(values.data(), n);
    for (int round = 1; round <= rounds; ++round) {
        std::vector<char> good(threads);
        std::vector<std::thread> running;
        for (int t = 0; t < threads; ++t)
            running.emplace_back(
                [&, t] { good[static_cast<size_t>(t)] = work(values, wanted, round); });
        for (std::thread &t : running) t.join();
        for (int t = 0; t < threads; ++t)
            check::that(good[static_cast<size_t>(t)] != 0, "round %d, thread %d: a wrong result",
                        round, t);
    }
    return check::finish("threads");
}

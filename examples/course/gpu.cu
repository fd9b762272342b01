/* Times a right solution on a GPU, beside the library's own kernel and AUTO: check.sh compiles it
 * with nvcc, -DLESSON=number and -DSOLUTION="file", where there are both. */
#include <algorithm>
#include <cstdio>
#include <vector>
#include "course.h"
#include SOLUTION
#include "../../fastreduce.cuh"

constexpr fastreduce_kernel rung = LESSON <= 6
                                       ? static_cast<fastreduce_kernel>(FASTREDUCE_V0 + LESSON - 2)
                                   : LESSON == 7 ? FASTREDUCE_V6
                                   : LESSON == 9 ? FASTREDUCE_V3
                                                 : FASTREDUCE_V7;
constexpr unsigned block = 256;
constexpr size_t n = LESSON == 12 ? size_t(1) << 22 : size_t(1) << 28;

/* The whole sum; `space` has room for two levels of partials, and is zero for words. */
static void sum_by_solution(const float *input, float *output, float *space)
{
#if LESSON == 9
    sum(input, output, space, n);
#elif LESSON == 12
    sum(input, output, reinterpret_cast<word *>(space), n);
#else
    constexpr unsigned items = LESSON < 5 ? 1 : LESSON < 7 ? 2 : LESSON < 9 ? 8 : 16;
    constexpr size_t tile = size_t(block) * items;
    float *halves[] = {space, space + n / 64};
    size_t left = n;
    for (unsigned level = 0;; ++level) {
        const unsigned blocks = static_cast<unsigned>(fastreduce::blocks_for(left, tile));
        float *const to = blocks == 1 ? output : halves[level % 2];
#if LESSON < 7
        launch(block_sums, blocks, block, block * sizeof(float), input, to, left);
#else
        launch(block_sums<block>, blocks, block, 0, input, to, left);
#endif
        if (blocks == 1) return;
        input = to;
        left = blocks;
    }
#endif
}

static bool good = true;
static void check(cudaError_t error)
{
    if (error == cudaSuccess) return;
    printf("  GPU     %s\n", cudaGetErrorString(error));
    exit(1);
}

/* The median of eleven calls, and whether each gave n ones. */
template <class Work>
static double gigabytes_a_second(const Work &work, const float *output)
{
    cudaEvent_t begin, end;
    check(cudaEventCreate(&begin));
    check(cudaEventCreate(&end));
    std::vector<float> times;
    for (int k = 0; k < 12; ++k) {
        float milliseconds = 0, result = 0;
        check(cudaEventRecord(begin));
        work();
        check(cudaEventRecord(end));
        check(cudaEventSynchronize(end));
        check(cudaGetLastError());
        check(cudaEventElapsedTime(&milliseconds, begin, end));
        check(cudaMemcpy(&result, output, sizeof result, cudaMemcpyDeviceToHost));
        good &= result == static_cast<float>(n);
        if (k > 0) times.push_back(milliseconds);
    }
    std::sort(times.begin(), times.end());
    return static_cast<double>(n * sizeof(float)) / static_cast<double>(times[5]) * 1e-6;
}

int main()
{
    float *input, *output, *space, *words; /* words: AUTO's, which it leaves zero */
    constexpr size_t bytes = n / 16 * sizeof(float);
    check(cudaMalloc(&input, n * sizeof(float)));
    check(cudaMalloc(&output, sizeof(float)));
    check(cudaMalloc(&space, bytes));
    check(cudaMemset(space, 0, bytes));
    check(cudaMalloc(&words, FASTREDUCE_WORKSPACE_BYTES));
    check(cudaMemset(words, 0, FASTREDUCE_WORKSPACE_BYTES));
    const std::vector<float> ones(n, 1.0f);
    check(cudaMemcpy(input, ones.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    const double yours = gigabytes_a_second([&] { sum_by_solution(input, output, space); }, output);
    const double ours = gigabytes_a_second(
        [&] {
            good &= fastreduce::reduce<rung, block>(input, output, n, nullptr, {space, bytes}) == 0;
        },
        output);
    const double best = gigabytes_a_second(
        [&] {
            good &= fastreduce::reduce<FASTREDUCE_AUTO>(input, output, n, nullptr,
                                                        {words, FASTREDUCE_WORKSPACE_BYTES}) == 0;
        },
        output);
    printf("  GPU     %.0f GB/s for n = %zu; the library's V%d %.0f, its AUTO %.0f%s\n", yours, n,
           rung - FASTREDUCE_V0, ours, best, good ? "" : ": BUT A SUM IS WRONG");
    return good ? 0 : 1;
}

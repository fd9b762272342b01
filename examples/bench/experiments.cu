/* Two experiments from the literature on the ladder, repeated: one round of five kernels, whose
 * partial sums the CPU adds, and rows that are summed by one block each.
 *
 *     nvcc -O3 -std=c++17 -arch=native experiments.cu -o experiments && ./experiments --one-round
 */
#define PROGRAM "experiments"
#define FASTREDUCE_IMPLEMENTATION
/* for a shorter build */
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#include "../../fastreduce.cuh"
#include "../common.h"
#include "measure.cuh"
#include <functional>

static const char help[] =
    "usage: experiments [--one-round] [--rows-of-one-block]\n"
    "\n"
    "  --one-round          five kernels, blocks of 256 and 1024, one round on the GPU and the\n"
    "                       rest on the CPU: J. Wang, ECE 587 lecture 20, Illinois Institute of\n"
    "                       Technology, March 2026, and its times on a Tesla T4\n"
    "  --rows-of-one-block  2^29 floats in rows of one block each, V0 to V7, blocks of 128 to\n"
    "                       1024: \"Reduction (Sum): part 1\", a post of October 2025, had V0, V1\n"
    "  -h, --help, --version  print and do nothing else\n"
    "\n"
    "Without an option: both. Exit status: 0; 1 for a wrong sum or a failed call; 2 for a wrong\n"
    "command line; 77 where there is no GPU.\n";

/* Milliseconds of one round, the median of ten after a warm-up. */
static double milliseconds_of(const std::function<fastreduce_status()> &round, cudaStream_t stream)
{
    const stopwatch watch(stream);
    std::vector<double> times;
    CHECK(round());
    for (int r = 0; r < 10; ++r) times.push_back(watch.microseconds([&] { CHECK(round()); }));
    return 1e-3 * summary(times).microseconds;
}

using round_function = fastreduce_status (*)(const float *, float *, size_t, cudaStream_t);

template <fastreduce_kernel Version, unsigned BlockSize>
static fastreduce_status one_round_of(const float *input, float *partials, size_t n,
                                      cudaStream_t stream)
{
    return fastreduce::round<Version, BlockSize>(input, partials, n, stream);
}

/* V2 with its last six steps unrolled: by all warps with block barriers, the lecture's sum_unroll,
 * or by the first warp with its own, which is sum_warp. */
template <bool LastWarp>
__global__ void unrolled_sum(const float *input, float *partials, size_t n)
{
    extern __shared__ float sdata[];
    const unsigned tid = threadIdx.x;
    const size_t i = size_t(blockIdx.x) * blockDim.x + tid;
    sdata[tid] = i < n ? input[i] : 0;
    __syncthreads();
    for (unsigned stride = blockDim.x / 2; stride > 32; stride /= 2) {
        if (tid < stride) sdata[tid] += sdata[tid + stride];
        __syncthreads();
    }
    if (LastWarp && tid >= 32) return;
#pragma unroll
    for (unsigned stride = 32; stride > 0; stride /= 2) {
        if (tid < stride) sdata[tid] += sdata[tid + stride];
        if (LastWarp)
            __syncwarp();
        else
            __syncthreads();
    }
    if (tid == 0) partials[blockIdx.x] = sdata[0];
}

template <bool LastWarp, unsigned BlockSize>
static fastreduce_status unrolled(const float *input, float *partials, size_t n,
                                  cudaStream_t stream)
{
    const unsigned blocks = static_cast<unsigned>(fastreduce::blocks_for(n, BlockSize));
    unrolled_sum<LastWarp>
        <<<blocks, BlockSize, BlockSize * sizeof(float), stream>>>(input, partials, n);
    return cudaGetLastError();
}

/* J. Wang, ECE 587 lecture 20, Illinois Institute of Technology, March 2026: one round on the
 * GPU, the CPU adds the partial sums. Milliseconds on a Tesla T4 from its two tables. */
static int one_round()
{
    struct row {
        const char *name;
        round_function run[2]; /* blocks of 256, 1024 */
        double t4[2][4];
    };
    const row rows[5] = {{"sum_mod",
                          {one_round_of<FASTREDUCE_V0, 256>, one_round_of<FASTREDUCE_V0, 1024>},
                          {{2.10, 9.76, 22.62, 74.22}, {3.56, 7.66, 26.81, 109.24}}},
                         {"sum_idx",
                          {one_round_of<FASTREDUCE_V1, 256>, one_round_of<FASTREDUCE_V1, 1024>},
                          {{1.75, 8.00, 14.06, 53.13}, {2.47, 5.35, 18.43, 73.48}}},
                         {"sum_seq",
                          {one_round_of<FASTREDUCE_V2, 256>, one_round_of<FASTREDUCE_V2, 1024>},
                          {{1.35, 6.25, 10.40, 42.46}, {2.06, 4.50, 15.56, 61.37}}},
                         {"sum_unroll",
                          {unrolled<false, 256>, unrolled<false, 1024>},
                          {{1.23, 5.68, 9.13, 38.00}, {1.94, 4.24, 14.65, 57.55}}},
                         {"sum_warp",
                          {unrolled<true, 256>, unrolled<true, 1024>},
                          {{0.84, 3.76, 6.74, 27.99}, {1.35, 3.00, 10.36, 41.01}}}};
    const size_t sizes[4] = {16, 64, 256, 1024}; /* times 2^20 */
    const unsigned blocks[2] = {256, 1024};
    double measured[5][2][4];
    const device gpu;
    float *input, *partials;
    int wrong = 0;

    CHECK(cudaMalloc(&input, sizes[3] << 22));
    CHECK(cudaMalloc(&partials, (sizes[3] << 22) / 256));
    fill<<<2048, 256>>>(input, sizes[3] << 20, 0);
    CHECK(cudaGetLastError());
    std::vector<float> host((sizes[3] << 20) / 256);
    for (int s = 0; s < 4; ++s) {
        const size_t n = sizes[s] << 20;
        const exact_sums exact = sum_exactly(input, n);
        for (int b = 0; b < 2; ++b)
            for (int k = 0; k < 5; ++k) {
                progress(std::string(rows[k].name) + ", " + std::to_string(n));
                measured[k][b][s] = milliseconds_of(
                    [&] { return rows[k].run[b](input, partials, n, gpu.stream); }, gpu.stream);
                CHECK(cudaMemcpy(host.data(), partials, n / blocks[b] * sizeof(float),
                                 cudaMemcpyDeviceToHost));
                const double sum = fastreduce_host_sum_f32(host.data(), n / blocks[b]);
                wrong |= !(std::fabs(sum - exact.sum) <= 1e-4 * exact.magnitude);
            }
    }
    progress("");
    std::printf(
        "%s: milliseconds of one round, N in units of 2^20; in brackets the gain over the kernel "
        "above, here / on the lecture's Tesla T4\n",
        gpu.name.c_str());
    for (const auto &group : {std::pair<int, int>{0, 2}, std::pair<int, int>{2, 4}}) {
        std::printf("\n%-18s", "kernel, block");
        for (size_t size : sizes) std::printf("   %-22s", ("N = " + std::to_string(size)).c_str());
        std::printf("\n");
        for (int b = 0; b < 2; ++b)
            for (int k = group.first; k <= group.second; ++k) {
                std::printf("%-12s %4u ", rows[k].name, blocks[b]);
                for (int s = 0; s < 4; ++s) {
                    std::printf("   %8.3f", measured[k][b][s]);
                    if (k == group.first)
                        std::printf("%14s", "");
                    else
                        std::printf(" (%4.2f / %4.2f)", measured[k - 1][b][s] / measured[k][b][s],
                                    rows[k - 1].t4[b][s] / rows[k].t4[b][s]);
                }
                std::printf("\n");
            }
    }
    if (wrong) std::printf("\nA sum was WRONG.\n");
    CHECK(cudaFree(input));
    CHECK(cudaFree(partials));
    return wrong;
}

template <unsigned BlockSize>
static std::vector<round_function> ladder_of()
{
    return {one_round_of<FASTREDUCE_V0, BlockSize>, one_round_of<FASTREDUCE_V1, BlockSize>,
            one_round_of<FASTREDUCE_V2, BlockSize>, one_round_of<FASTREDUCE_V3, BlockSize>,
            one_round_of<FASTREDUCE_V4, BlockSize>, one_round_of<FASTREDUCE_V5, BlockSize>,
            one_round_of<FASTREDUCE_V6, BlockSize>, one_round_of<FASTREDUCE_V7, BlockSize>};
}

/* "Reduction (Sum): part 1", a post of October 2025: 2048 * 1024 * 256 floats, each row summed
 * by a block of its own, with V0 and V1; here the whole ladder. Effective bandwidth counts the
 * floats read and the sums written. */
static int rows_of_one_block()
{
    constexpr size_t n = size_t(2048) * 1024 * 256;
    const device gpu;
    float *input, *sums;
    int wrong = 0;
    CHECK(cudaMalloc(&input, n * sizeof(float)));
    CHECK(cudaMalloc(&sums, n / 128 * sizeof(float)));
    fill<<<2048, 256>>>(input, n, 0);
    CHECK(cudaGetLastError());
    const exact_sums exact = sum_exactly(input, n);
    std::vector<float> host(n / 128);
    const std::pair<unsigned, std::vector<round_function>> ladders[] = {{128, ladder_of<128>()},
                                                                        {256, ladder_of<256>()},
                                                                        {512, ladder_of<512>()},
                                                                        {1024, ladder_of<1024>()}};
    std::printf("%s: %zu floats in rows of one block; peak %.0f GB/s\n\n%-22s %10s %12s %28s %8s\n",
                gpu.name.c_str(), n, gpu.peak, "kernel", "threads", "runtime (us)",
                "mean effective bandwidth", "% peak");
    for (int k = 0; k < 8; ++k)
        for (const auto &ladder : ladders) {
            const unsigned block_size = ladder.first;
            const fastreduce_kernel version = static_cast<fastreduce_kernel>(FASTREDUCE_V0 + k);
            const size_t rows = n / (block_size * fastreduce::default_items(version));
            const double us =
                1e3 * milliseconds_of([&] { return ladder.second[k](input, sums, n, gpu.stream); },
                                      gpu.stream);
            const double bandwidth = 4e-3 * static_cast<double>(n + rows) / us;
            CHECK(cudaMemcpy(host.data(), sums, rows * sizeof(float), cudaMemcpyDeviceToHost));
            wrong |= !(std::fabs(fastreduce_host_sum_f32(host.data(), rows) - exact.sum) <=
                       1e-4 * exact.magnitude);
            std::printf("%-22s %10u %12.2f %23.1f GB/s %7.2f%%\n", fastreduce_kernel_name(version),
                        block_size, us, bandwidth, 100 * bandwidth / gpu.peak);
            std::fflush(stdout);
        }
    if (wrong) std::printf("\nA sum was WRONG.\n");
    CHECK(cudaFree(input));
    CHECK(cudaFree(sums));
    return wrong;
}

int main(int, char **argv)
{
    arguments a = arguments_of(argv);
    bool round = false, rows = false;
    while (next_argument(&a, help)) {
        if (is_option(&a, "--one-round"))
            round = true;
        else if (is_option(&a, "--rows-of-one-block"))
            rows = true;
        else
            wrong_usage(&a, "not understood: ", a.word);
    }
    (void)count_gpus();
    int wrong = 0;
    if (round || !rows) wrong |= one_round();
    if (rows || !round) wrong |= rows_of_one_block();
    finish_output();
    return wrong;
}

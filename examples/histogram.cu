/* A weighted histogram, a thousand times on the same input: by atomicAdd on floats, whose additions
 * round in the order in which they happen, and by exact_atomic_add, where no order shows. Prints
 * how many different results each gave, and what each costs. (deposit.cu does so without a kernel
 * of its own.)
 *
 *     nvcc -O3 -arch=native histogram.cu -o histogram && ./histogram
 */
#define PROGRAM "histogram"
#define FASTREDUCE_HOST_IMPLEMENTATION /* for the words of a status, and exact sums on the CPU */
#include "../fastreduce.cuh"
#include "common.h"
#include <cstdio>
#include <set>
#include <string>
#include <vector>

static const char help[] =
    "usage: histogram [-h | --help | --version]\n"
    "A weighted histogram, a thousand times each by atomicAdd and by exact_atomic_add.\n";

constexpr unsigned bins = 64, runs = 1000, blocks = 512, block_size = 256;
constexpr size_t n = 1 << 20;

__global__ void add_floats(const unsigned char *keys, const float *weights, float *histogram)
{
    for (size_t i = blockIdx.x * block_size + threadIdx.x; i < n; i += blocks * block_size)
        atomicAdd(histogram + keys[i], weights[i]);
}

__global__ void add_exactly(const unsigned char *keys, const float *weights,
                            fastreduce_accumulator *histogram)
{
    for (size_t i = blockIdx.x * block_size + threadIdx.x; i < n; i += blocks * block_size)
        fastreduce::exact_atomic_add(histogram + keys[i], weights[i]);
}

__global__ void round_bins(const fastreduce_accumulator *histogram, float *rounded)
{
    rounded[threadIdx.x] = fastreduce::exact_value(histogram + threadIdx.x);
}

int main(int, char **argv)
{
    take_nothing(argv, help);
    (void)count_gpus();
    std::vector<unsigned char> keys(n);
    std::vector<float> weights(n), of_bin[bins];
    for (size_t i = 0; i < n; ++i) {
        keys[i] = static_cast<unsigned char>(hash(i + n) % bins);
        weights[i] = ill_conditioned(i);
        of_bin[keys[i]].push_back(weights[i]);
    }

    unsigned char *keys_on_gpu;
    float *weights_on_gpu, *floats;
    fastreduce_accumulator *accumulators;
    CHECK(cudaMalloc(&keys_on_gpu, n));
    CHECK(cudaMalloc(&weights_on_gpu, n * sizeof(float)));
    CHECK(cudaMalloc(&floats, bins * sizeof(float)));
    CHECK(cudaMalloc(&accumulators, bins * sizeof(fastreduce_accumulator)));
    CHECK(cudaMemcpy(keys_on_gpu, keys.data(), n, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(weights_on_gpu, weights.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));

    size_t different[2];
    std::vector<float> result(bins);
    for (bool exact : {false, true}) {
        std::set<std::string> results; /* their bytes */
        std::vector<double> times;
        for (unsigned run = 0; run < runs; ++run) {
            CHECK(cudaMemset(floats, 0, bins * sizeof(float)));
            CHECK(cudaMemset(accumulators, 0, bins * sizeof(fastreduce_accumulator)));
            CHECK(cudaEventRecord(begin));
            if (exact)
                add_exactly<<<blocks, block_size>>>(keys_on_gpu, weights_on_gpu, accumulators);
            else
                add_floats<<<blocks, block_size>>>(keys_on_gpu, weights_on_gpu, floats);
            CHECK(cudaGetLastError());
            CHECK(cudaEventRecord(end));
            if (exact) round_bins<<<1, bins>>>(accumulators, floats);
            CHECK(cudaGetLastError());
            CHECK(cudaMemcpy(result.data(), floats, bins * sizeof(float), cudaMemcpyDeviceToHost));
            float milliseconds;
            CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
            times.push_back(milliseconds);
            results.emplace(reinterpret_cast<char *>(result.data()), bins * sizeof(float));
        }
        different[exact] = results.size();
        std::printf("%-17s %4zu different results in %u runs, %8.1f us each\n",
                    exact ? "exact_atomic_add:" : "atomicAdd:", different[exact], runs,
                    1000 * median(times.data(), runs));
    }

    unsigned wrong = 0;
    for (unsigned b = 0; b < bins; ++b) {
        const float sum = fastreduce_host_sum_f32(of_bin[b].data(), of_bin[b].size());
        wrong += bits_of(sum) != bits_of(result[b]);
    }
    std::printf("exact_atomic_add: %u of %u bins differ from the exact sum on the CPU\n", wrong,
                bins);
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    CHECK(cudaFree(keys_on_gpu));
    CHECK(cudaFree(weights_on_gpu));
    CHECK(cudaFree(floats));
    CHECK(cudaFree(accumulators));
    finish_output();
    return wrong != 0 || different[true] != 1;
}

/* The building blocks inside a kernel of your own: the root mean square of every row of a matrix,
 * one block a row, without a second pass and without a workspace. The squares never reach memory.
 *
 *     nvcc -O3 -arch=native block_reduce.cu -o block_reduce && ./block_reduce
 */
#define PROGRAM "block_reduce"
#define FASTREDUCE_HOST_IMPLEMENTATION /* for the words of a status */
#include "../fastreduce.cuh"
#include "common.h"
#include <cmath>
#include <cstdio>
#include <vector>

static const char help[] = "usage: block_reduce [-h | --help | --version]\n"
                           "The root mean square of every row of a matrix, beside the CPU's.\n";

constexpr unsigned block_size = 256;

__global__ void __launch_bounds__(block_size)
    row_rms(const float *matrix, float *rms, size_t columns)
{
    __shared__ float slots[block_size / fastreduce::warp_size];
    const float *row = matrix + blockIdx.x * columns;

    float squares = 0;
    for (size_t k = threadIdx.x; k < columns; k += block_size) squares += row[k] * row[k];
    squares = fastreduce::block_reduce<block_size, fastreduce::plus>(squares, slots);

    if (threadIdx.x == 0) rms[blockIdx.x] = sqrtf(squares / columns);
}

int main(int, char **argv)
{
    constexpr size_t rows = 1000, columns = 4099;
    take_nothing(argv, help);
    (void)count_gpus();
    std::vector<float> matrix(rows * columns), rms(rows);
    for (size_t i = 0; i < matrix.size(); ++i)
        matrix[i] = static_cast<float>(i % 1013) / (1 + i / columns);
    float *matrix_on_gpu, *rms_on_gpu;
    CHECK(cudaMalloc(&matrix_on_gpu, matrix.size() * sizeof(float)));
    CHECK(cudaMalloc(&rms_on_gpu, rms.size() * sizeof(float)));
    CHECK(cudaMemcpy(matrix_on_gpu, matrix.data(), matrix.size() * sizeof(float),
                     cudaMemcpyHostToDevice));

    row_rms<<<rows, block_size>>>(matrix_on_gpu, rms_on_gpu, columns);
    CHECK(cudaGetLastError());
    CHECK(cudaMemcpy(rms.data(), rms_on_gpu, rms.size() * sizeof(float), cudaMemcpyDeviceToHost));

    int wrong = 0;
    for (size_t r = 0; r < rows; ++r) {
        double squares = 0;
        for (size_t k = 0; k < columns; ++k) squares += std::pow(matrix[r * columns + k], 2.0);
        const double expected = std::sqrt(squares / columns);
        wrong += !(std::fabs(rms[r] - expected) <= 1e-6 * expected);
    }
    std::printf("root mean square of %zu rows: row 0 %.7g, row %zu %.7g, %d wrong\n", rows, rms[0],
                rows - 1, rms[rows - 1], wrong);
    CHECK(cudaFree(matrix_on_gpu));
    CHECK(cudaFree(rms_on_gpu));
    finish_output();
    return wrong != 0;
}

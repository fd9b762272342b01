/* Particles deposit their mass on a grid, each on the four nodes around it, as particle-in-cell
 * codes do in every step. With fastreduce_reduce_by_index the grid has the same bits in whatever
 * order the particles come; with atomicAdd not even in the same order twice. Prints how many
 * different grids each gave, and what each costs.
 *
 *     nvcc -O3 -std=c++17 -arch=native deposit.cu -o deposit && ./deposit
 */
#define PROGRAM "deposit"
#define FASTREDUCE_NO_LADDER
#define FASTREDUCE_WITH_BY_INDEX
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#define FASTREDUCE_IMPLEMENTATION
#include "../fastreduce.cuh"
#include "common.h"
#include <cstdio>
#include <set>
#include <string>
#include <vector>

static const char help[] = "usage: deposit [-h | --help | --version]\n"
                           "Mass of particles on a grid, by fastreduce_reduce_by_index and by "
                           "atomicAdd.\n";

constexpr unsigned side = 512, nodes = side * side, orders = 20, blocks = 512, block_size = 256;
constexpr size_t particles = 1 << 20, deposits = 4 * particles;

__device__ float fraction_of(uint64_t bits) { return static_cast<float>(bits >> 40) * 0x1p-24f; }

/* Finds the nodes around each particle, and their shares of its mass. The step, which is odd, puts
 * the same particles into another order. */
__global__ void find_shares(size_t step, int *node, float *share)
{
    for (size_t i = blockIdx.x * block_size + threadIdx.x; i < particles;
         i += blocks * block_size) {
        const size_t particle = i * step % particles;
        const float x = fraction_of(hash(particle)) * (side - 1),
                    y = fraction_of(hash(particle + particles)) * (side - 1),
                    mass = 1 + fraction_of(hash(particle + 2 * particles));
        const int column = static_cast<int>(x), row = static_cast<int>(y);
        const float right = x - static_cast<float>(column), up = y - static_cast<float>(row);
        for (int corner = 0; corner < 4; ++corner) {
            const int across = corner % 2, above = corner / 2;
            node[4 * i + corner] = (row + above) * static_cast<int>(side) + column + across;
            share[4 * i + corner] = mass * (across ? right : 1 - right) * (above ? up : 1 - up);
        }
    }
}

__global__ void add_floats(const int *node, const float *share, float *grid)
{
    for (size_t i = blockIdx.x * block_size + threadIdx.x; i < deposits; i += blocks * block_size)
        atomicAdd(grid + node[i], share[i]);
}

int main(int, char **argv)
{
    take_nothing(argv, help);
    (void)count_gpus();
    int *node;
    float *share, *grid;
    fastreduce_config config = {};
    config.kernel = FASTREDUCE_EXACT;
    config.offset_type = FASTREDUCE_I32; /* of the indices */
    config.workspace_bytes =
        fastreduce_by_index_workspace_bytes(nodes, FASTREDUCE_F32, FASTREDUCE_SUM, &config);
    CHECK(cudaMalloc(&node, deposits * sizeof *node));
    CHECK(cudaMalloc(&share, deposits * sizeof *share));
    CHECK(cudaMalloc(&grid, nodes * sizeof *grid));
    CHECK(cudaMalloc(&config.workspace, config.workspace_bytes));
    CHECK(fastreduce_workspace_init(config.workspace, config.workspace_bytes, nullptr));
    cudaEvent_t begin, end;
    CHECK(cudaEventCreate(&begin));
    CHECK(cudaEventCreate(&end));

    size_t different[2];
    std::vector<float> result(nodes);
    for (bool exact : {false, true}) {
        std::set<std::string> grids; /* their bytes */
        std::vector<double> times;
        for (unsigned run = 0; run < orders; ++run) {
            find_shares<<<blocks, block_size>>>(2 * run * 12345 + 1, node, share);
            CHECK(cudaGetLastError());
            CHECK(cudaEventRecord(begin));
            if (exact) {
                CHECK(fastreduce_reduce_by_index(share, node, grid, deposits, nodes, FASTREDUCE_F32,
                                                 FASTREDUCE_SUM, &config));
            } else {
                CHECK(cudaMemsetAsync(grid, 0, nodes * sizeof *grid));
                add_floats<<<blocks, block_size>>>(node, share, grid);
                CHECK(cudaGetLastError());
            }
            CHECK(cudaEventRecord(end));
            CHECK(cudaMemcpy(result.data(), grid, nodes * sizeof *grid, cudaMemcpyDeviceToHost));
            float milliseconds;
            CHECK(cudaEventElapsedTime(&milliseconds, begin, end));
            times.push_back(milliseconds);
            grids.emplace(reinterpret_cast<char *>(result.data()), nodes * sizeof *grid);
        }
        different[exact] = grids.size();
        std::printf("%-27s %3zu different grids from %u orders, %6.1f us each\n",
                    exact ? "fastreduce_reduce_by_index:" : "atomicAdd:", different[exact], orders,
                    1000 * median(times.data(), times.size()));
    }
    CHECK(cudaEventDestroy(begin));
    CHECK(cudaEventDestroy(end));
    CHECK(cudaFree(config.workspace));
    CHECK(cudaFree(node));
    CHECK(cudaFree(share));
    CHECK(cudaFree(grid));
    finish_output();
    return different[true] != 1;
}

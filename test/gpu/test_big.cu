/* n past 2^31, 2^32 and 2^33 for AUTO and V0..V7 on a GPU: sparse data whose float sum is exact,
 * with values around every index that 32 bits would fold onto another; dense data against a sum in
 * double; and how far AUTO errs on equal values. Bytes by other operators. Takes 4 n bytes of
 * memory. */
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_TYPES FASTREDUCE_F32, FASTREDUCE_U8
#define FASTREDUCE_OPERATORS                                                              \
    FASTREDUCE_SUM, FASTREDUCE_MIN, FASTREDUCE_MAX, FASTREDUCE_ARGMIN, FASTREDUCE_ARGMAX, \
        FASTREDUCE_SUM_SQUARES, FASTREDUCE_MEAN, FASTREDUCE_COUNT_NONZERO
#include "../../fastreduce.cuh"
#include "../common/check.h"

__global__ void fill_dense(float *data, size_t n)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
         i += size_t(gridDim.x) * blockDim.x) {
        unsigned long long z = (i + 1) * 0x9e3779b97f4a7c15ull;
        z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93ull;
        data[i] =
            static_cast<float>(static_cast<long long>(z >> 40) - (1 << 23)) / (1 << 23) + 0.25f;
    }
}

__global__ void sum_in_double(const float *data, size_t n, double *sums)
{
    double sum = 0, magnitude = 0;
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
         i += size_t(gridDim.x) * blockDim.x) {
        sum += data[i];
        magnitude += fabsf(data[i]);
    }
    atomicAdd(&sums[0], sum);
    atomicAdd(&sums[1], magnitude);
}

__global__ void fill_equal(float *data, size_t n, float value)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
         i += size_t(gridDim.x) * blockDim.x)
        data[i] = value;
}

/* A long chain of additions loses most on equal values, whose sum rounds the same way again and
 * again: 2^31 of them one after the other end at 2^21, of 2^28 (0.1f). */
static void equal_values(float *input)
{
    const size_t n = size_t(1) << 31;
    const float value = 0.1f;
    fill_equal<<<2048, 256>>>(input, n, value);
    double error[2];
    for (fastreduce_kernel kernel : {FASTREDUCE_AUTO, FASTREDUCE_V7}) {
        fastreduce_config config = {};
        config.kernel = kernel;
        check::buffer<float> output(1);
        check::that(fastreduce_sum_f32(input, output.data(), n, &config) == 0, "equal values");
        CUDA(cudaDeviceSynchronize());
        error[kernel == FASTREDUCE_V7] = std::fabs(output.get()[0] - std::ldexp(value, 31));
    }
    std::printf("2^31 times 0.1f: off by %g, V7 by %g\n", error[0], error[1]);
    check::that(error[0] <= 2 * error[1], "2^31 times 0.1f: off by %g, V7 by %g", error[0],
                error[1]);
}

static void sums(float *input, size_t n, double wanted, double tolerance, const char *what)
{
    for (int kernel = FASTREDUCE_AUTO; kernel <= FASTREDUCE_V7; ++kernel) {
        for (unsigned block_size : {256u, 1024u}) {
            fastreduce_config config = {};
            config.kernel = static_cast<fastreduce_kernel>(kernel);
            config.block_size = block_size;
            check::buffer<float> output(1);
            const fastreduce_status status = fastreduce_sum_f32(input, output.data(), n, &config);
            CUDA(cudaDeviceSynchronize());
            const double got = output.get()[0];
            check::that(status == 0 && std::fabs(got - wanted) <= tolerance,
                        "%s, %s, block %u, n %zu: status %d, %.9g instead of %.9g", what,
                        fastreduce_kernel_name(config.kernel), block_size, n, status, got, wanted);
        }
    }
    std::printf("%s, n %zu: done\n", what, n);
    std::fflush(stdout);
}

/* Threes, with other bytes at each end and around what 31, 32 and 33 bits count: 0 in two places
 * and the greatest in two. */
static void bytes(unsigned char *input, size_t n)
{
    const unsigned char usual = 3;
    unsigned long long sum = usual * n, squares = usual * sum, zeros = 0, first_zero = n;
    unsigned char most = usual;
    size_t first_most = 0;
    CUDA(cudaMemset(input, usual, n));
    for (size_t middle : {size_t(0), size_t(1) << 31, size_t(1) << 32, size_t(1) << 33})
        for (size_t i = middle >= 2 ? middle - 2 : 0; i < n && i < middle + 2; ++i) {
            const bool zero = i == (size_t(1) << 31) + 1 || i == (size_t(1) << 32) + 1;
            const unsigned char x =
                zero ? 0 : static_cast<unsigned char>(100 + i % 7 + middle % 11);
            CUDA(cudaMemcpy(input + i, &x, 1, cudaMemcpyHostToDevice));
            sum += x - usual;
            squares += static_cast<unsigned long long>(x * x) - usual * usual;
            if (zero) zeros += 1;
            if (zero && i < first_zero) first_zero = i;
            if (x > most) {
                most = x;
                first_most = i;
            }
        }
    const unsigned char least = zeros > 0 ? 0 : usual;
    if (zeros == 0) first_zero = 2; /* the first of the threes */
    const double mean = static_cast<double>(sum) / static_cast<double>(n);
    unsigned long long mean_bits;
    std::memcpy(&mean_bits, &mean, sizeof mean);
    const struct {
        fastreduce_operator op;
        unsigned long long wanted;
    } all[] = {{FASTREDUCE_SUM, sum},           {FASTREDUCE_MIN, least},
               {FASTREDUCE_MAX, most},          {FASTREDUCE_ARGMIN, first_zero},
               {FASTREDUCE_ARGMAX, first_most}, {FASTREDUCE_SUM_SQUARES, squares},
               {FASTREDUCE_MEAN, mean_bits},    {FASTREDUCE_COUNT_NONZERO, n - zeros}};
    for (const auto &one : all) {
        check::buffer<unsigned long long> output(1);
        output.fill(0);
        const fastreduce_status status =
            fastreduce_reduce(input, output.data(), n, FASTREDUCE_U8, one.op, nullptr);
        CUDA(cudaDeviceSynchronize());
        check::that(status == 0 && output.get()[0] == one.wanted,
                    "%s of bytes, n %zu: status %d, %llx instead of %llx",
                    fastreduce_operator_name(one.op), n, status, output.get()[0], one.wanted);
    }
    std::printf("bytes, n %zu: done\n", n);
}

int main(int argc, char **argv)
{
    check::need_device();
    const size_t most = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : (size_t(1) << 33) + 3;
    size_t free_bytes, total_bytes;
    CUDA(cudaMemGetInfo(&free_bytes, &total_bytes));
    if (free_bytes < most * sizeof(float) + (size_t(1) << 30)) {
        std::printf("SKIP: needs %zu GiB of free GPU memory\n", (most * sizeof(float) >> 30) + 1);
        return 77;
    }
    float *input;
    double *double_sums;
    CUDA(cudaMalloc(&input, most * sizeof(float)));
    CUDA(cudaMalloc(&double_sums, 2 * sizeof(double)));
    for (size_t n : {(size_t(1) << 31) - 1, (size_t(1) << 31) + 1, (size_t(1) << 32) + 1, most}) {
        if (n > most) continue;
        CUDA(cudaMemset(input, 0, n * sizeof(float)));
        double wanted = 0;
        float value = 1;
        for (size_t middle :
             {size_t(0), size_t(1) << 31, size_t(1) << 32, size_t(1) << 33, n - 1, n / 3}) {
            for (size_t i = middle >= 3 ? middle - 3 : 0; i < n && i < middle + 3;
                 ++i, value += 1) {
                float before;
                CUDA(cudaMemcpy(&before, input + i, sizeof before, cudaMemcpyDeviceToHost));
                wanted += value - before;
                CUDA(cudaMemcpy(input + i, &value, sizeof value, cudaMemcpyHostToDevice));
            }
        }
        sums(input, n, wanted, 0, "sparse");
    }
    if (most >= size_t(1) << 31) equal_values(input);
    fill_dense<<<2048, 256>>>(input, most);
    CUDA(cudaMemset(double_sums, 0, 2 * sizeof(double)));
    sum_in_double<<<2048, 256>>>(input, most, double_sums);
    double reference[2];
    CUDA(cudaMemcpy(reference, double_sums, sizeof reference, cudaMemcpyDeviceToHost));
    /* 60 bounds the depth of all trees here (check::tree_depth, check::auto_depth). The double sum
     * errs far less */
    sums(input, most, reference[0], 60 * std::ldexp(1.0, -24) * reference[1], "dense");
    for (size_t n : {(size_t(1) << 31) + 1, (size_t(1) << 32) + 3, most})
        if (n <= most) bytes(reinterpret_cast<unsigned char *>(input), n);
    CUDA(cudaFree(double_sums));
    CUDA(cudaFree(input));
    return check::finish("big");
}

/* Shared by the programs that measure: data, exact sums of it, the GPU, times of work on
 * it. Comes after fastreduce.cuh; a program defines PROGRAM first. */
#ifndef FASTREDUCE_EXAMPLES_MEASURE_CUH
#define FASTREDUCE_EXAMPLES_MEASURE_CUH

#include "../common.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>
#include <unistd.h>

static const std::vector<std::string> data_names = {
    "uniform", "positive", "normal", "wide", "missing", "huge", "sorted", "equal", "zeros"};

/* Float number i of n, by a hash; kind is an index into data_names. */
static __device__ float datum(size_t i, size_t n, int kind)
{
    const uint64_t z = hash(i);
    const float uniform =
        static_cast<float>(static_cast<double>(static_cast<long long>(z)) * 0x1p-63);
    switch (kind) {
    case 1: return fabsf(uniform);
    case 2: return static_cast<float>(normcdfinv((static_cast<double>(z >> 11) + 0.5) * 0x1p-53));
    case 3:
        return __uint_as_float(static_cast<unsigned>(z >> 32) & 0x807fffff |
                               static_cast<unsigned>(z % 255) << 23);
    case 4: return z % 64 == 0 ? uniform * 0x1p-70f : uniform;
    case 5: return i == n / 3 ? 1e30f : uniform;
    case 6: return ldexpf(1 + fabsf(uniform) / 1048576, static_cast<int>(i * 120 / n) - 60);
    case 7: return 0.1f;
    case 8: return 0;
    default: return uniform;
    }
}

static __global__ void fill(float *data, size_t n, int kind)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
         i += size_t(gridDim.x) * blockDim.x)
        data[i] = datum(i, n, kind);
}

struct exact_sums {
    double sum, magnitude;
    float rounded;
};

inline exact_sums sum_exactly(const float *device, size_t n)
{
    constexpr size_t chunk = 1 << 24;
    static std::vector<float> host(chunk);
    fastreduce_accumulator sum = {}, magnitude = {};
    for (size_t begin = 0; begin < n; begin += chunk) {
        const size_t count = std::min(chunk, n - begin);
        CHECK(
            cudaMemcpy(host.data(), device + begin, count * sizeof(float), cudaMemcpyDeviceToHost));
        fastreduce_host_accumulate_f32(host.data(), &sum, count);
        for (size_t i = 0; i < count; ++i) host[i] = std::fabs(host[i]);
        fastreduce_host_accumulate_f32(host.data(), &magnitude, count);
    }
    return {fastreduce_accumulator_f64(&sum), fastreduce_accumulator_f64(&magnitude),
            fastreduce_accumulator_f32(&sum)};
}

struct device {
    std::string name;
    double peak; /* GB/s */
    size_t l2_bytes;
    unsigned multiprocessors;
    cudaStream_t stream;

    device()
    {
        int current, clock_khz;
        cudaDeviceProp properties;
        CHECK(cudaGetDevice(&current));
        CHECK(cudaGetDeviceProperties(&properties, current));
        CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrMemoryClockRate, current));
        CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        name = properties.name;
        peak = 2e-6 * clock_khz * (properties.memoryBusWidth / 8); /* two transfers a clock */
        l2_bytes = static_cast<size_t>(properties.l2CacheSize);
        multiprocessors = static_cast<unsigned>(properties.multiProcessorCount);
    }
};

struct timing {
    double microseconds = NAN, spread = NAN; /* median; half the interquartile range over it */
    double host = NAN; /* of the calls themselves, on the CPU, median; NaN: they are in a graph */
    std::string name = {}; /* of what was timed */
    uint64_t result = 0;   /* the bits of its last one */
};

inline timing summary(std::vector<double> times)
{
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    return {median, (times[times.size() * 3 / 4] - times[times.size() / 4]) / 2 / median};
}

struct stopwatch {
    cudaStream_t stream;
    cudaEvent_t start, stop;

    explicit stopwatch(cudaStream_t s) : stream(s)
    {
        CHECK(cudaEventCreate(&start));
        CHECK(cudaEventCreate(&stop));
    }
    stopwatch(const stopwatch &) = delete;
    ~stopwatch()
    {
        CHECK(cudaEventDestroy(start));
        CHECK(cudaEventDestroy(stop));
    }
    template <class Work>
    double microseconds(Work work) const
    {
        float milliseconds;
        CHECK(cudaEventRecord(start, stream));
        work();
        CHECK(cudaEventRecord(stop, stream));
        CHECK(cudaEventSynchronize(stop));
        CHECK(cudaEventElapsedTime(&milliseconds, start, stop));
        return 1e3 * milliseconds;
    }
};

inline void progress(const std::string &what)
{
    if (isatty(STDERR_FILENO)) std::fprintf(stderr, "\r\033[K%s", what.c_str());
}

#endif

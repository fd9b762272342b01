/* How fast sums by index are: fastreduce_reduce_by_index, whose sums are exact and the same in any
 * order, beside atomicAdd on floats and doubles and beside CUB's sort and sum by key. All of our
 * results are compared with exact atomics.
 *
 *     nvcc -O3 -std=c++17 -arch=native bench_by_index.cu -o bench_by_index && ./bench_by_index
 *
 * Without CUB: -DBENCH_NO_CUB.
 */
#define PROGRAM "bench_by_index"
#define FASTREDUCE_NO_LADDER
#define FASTREDUCE_WITH_BY_INDEX
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#define FASTREDUCE_IMPLEMENTATION
#include "../../fastreduce.cuh"
#include "calls.cuh"
#if __has_include(<cub/cub.cuh>) && !defined(BENCH_NO_CUB)
#include <cub/cub.cuh>
#define BENCH_CUB
#endif

/* clang-format off */
static const char help[] =
    "usage: bench_by_index [OPTIONS]\n"
    "\n"
    "Device time of sums of floats in [-1, 1) by an index of 32 bits; median over calls, which\n"
    "take turns.\n"
    "\n"
    "  --elements N   how many (default 2^26); " SIZE_FORMS "\n"
    "  --bins N       how many sums; several: --bins 64,2^20 (default: 1 to 2^24 by 4)\n"
    "  --order ORDER  random; sorted; half: one bin has half of the elements; zipf: the number\n"
    "                 of a bin's elements goes with 1 over its number; several, or all\n"
    "                 (default)\n"
    "  --replays N    timed calls (default 5)\n"
    "  --csv, --json  machine-readable rows instead of the tables\n"
    "  -h, --help, --version  print and do nothing else\n"
    "\n"
    "Columns: the number of bins, microseconds (median), spread (half the interquartile range,\n"
    "percent of it), GB/s of elements and indices, microseconds of atomicAdd on floats, and\n"
    "ours over it; of atomicAdd on doubles; of CUB's SortPairs and ReduceByKey, and ours over\n"
    "it.\n"
    "Wrong results are named on standard error.\n"
    "Exit status: 0; 1 for a wrong result or a failed call; 2 for a wrong command line;\n"
    "77 where there is no GPU.\n";
/* clang-format on */

enum class order { random, sorted, half, zipf };
static const char *name_of(order how)
{
    const char *const names[] = {"random", "sorted", "half", "zipf"};
    return names[static_cast<int>(how)];
}

/* ---- Data, and what is right ----------------------------------------------------------------- */

constexpr unsigned blocks = 2048, block_size = 256;

template <class Function>
__global__ void for_each(size_t n, Function function)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
         i += size_t(gridDim.x) * blockDim.x)
        function(i);
}
template <class Function>
static void launch_for_each(size_t n, cudaStream_t stream, const Function &function)
{
    for_each<<<blocks, block_size, 0, stream>>>(n, function);
    CHECK(cudaGetLastError());
}

struct make_index {
    int *index;
    size_t n, bins;
    order how;

    __device__ void operator()(size_t i) const
    {
        const uint64_t z = hash(i + n);
        const double share = static_cast<double>(z >> 11) * 0x1p-53,
                     count = static_cast<double>(bins);
        double bin = share * count;
        if (how == order::sorted) bin = static_cast<double>(i) * count / static_cast<double>(n);
        if (how == order::half && z % 2 == 1) bin = count / 3;
        if (how == order::zipf) bin = exp(share * log(count + 1)) - 1;
        const size_t whole = static_cast<size_t>(bin);
        index[i] = static_cast<int>(whole < bins ? whole : bins - 1);
    }
};

template <class Sum>
struct add_atomically {
    const float *x;
    const int *index;
    Sum *sums;
    __device__ void operator()(size_t i) const { atomicAdd(sums + index[i], Sum(x[i])); }
};

struct add_exactly {
    const float *x;
    const int *index;
    fastreduce_accumulator *sums;
    __device__ void operator()(size_t i) const
    {
        fastreduce::exact_atomic_add(sums + index[i], x[i]);
    }
};

struct compare {
    const fastreduce_accumulator *exact;
    const float *sums;
    unsigned long long *wrong;
    __device__ void operator()(size_t bin) const
    {
        if (__float_as_uint(fastreduce::exact_value(exact + bin)) != __float_as_uint(sums[bin]))
            atomicAdd(wrong, 1ull);
    }
};

/* ---- Contenders ------------------------------------------------------------------------------ */

struct memory {
    float *x, *sums, *sums_by_key;
    int *index, *keys;
    double *doubles;
    fastreduce_accumulator *exact;
    unsigned long long *wrong;
    scratch work; /* ours */
#ifdef BENCH_CUB
    float *sorted_x;
    int *sorted_index, *runs;
    void *of_cub;
    size_t cub_bytes = 0;
#endif

    memory(size_t n, size_t bins)
        : work(
              fastreduce_by_index_workspace_bytes(bins, FASTREDUCE_F32, FASTREDUCE_SUM, &exactly()))
    {
        CHECK(cudaMalloc(&x, n * sizeof *x));
        CHECK(cudaMalloc(&index, n * sizeof *index));
        CHECK(cudaMalloc(&sums, bins * sizeof *sums));
        CHECK(cudaMalloc(&sums_by_key, bins * sizeof *sums_by_key));
        CHECK(cudaMalloc(&keys, bins * sizeof *keys));
        CHECK(cudaMalloc(&doubles, bins * sizeof *doubles));
        CHECK(cudaMalloc(&exact, bins * sizeof *exact));
        CHECK(cudaMalloc(&wrong, sizeof *wrong));
        CHECK(cudaMemset(sums_by_key, 0, bins * sizeof *sums_by_key));
        CHECK(cudaMemset(doubles, 0, bins * sizeof *doubles));
#ifdef BENCH_CUB
        CHECK(cudaMalloc(&sorted_x, n * sizeof *x));
        CHECK(cudaMalloc(&sorted_index, n * sizeof *index));
        CHECK(cudaMalloc(&runs, sizeof *runs));
        size_t bytes = 0;
        for (int stage = 0; stage < 2; ++stage) {
            CHECK(by_cub(stage, nullptr, bytes, n, bins, nullptr));
            cub_bytes = std::max(cub_bytes, bytes);
        }
        CHECK(cudaMalloc(&of_cub, cub_bytes));
#endif
    }
    static const fastreduce_config &exactly()
    {
        static const fastreduce_config config = {FASTREDUCE_EXACT};
        return config;
    }
#ifdef BENCH_CUB
    /* Sorts, or adds up what is sorted. */
    cudaError_t by_cub(int stage, void *temporary, size_t &bytes, size_t n, size_t bins,
                       cudaStream_t stream) const
    {
        int bits = 1;
        while (bits < 31 && bins - 1 >> bits > 0) ++bits;
        const long long count = static_cast<long long>(n);
        if (stage == 0)
            return cub::DeviceRadixSort::SortPairs(temporary, bytes, index, sorted_index, x,
                                                   sorted_x, count, 0, bits, stream);
        return cub::DeviceReduce::ReduceByKey(temporary, bytes, sorted_index, keys, sorted_x,
                                              sums_by_key, runs, sum_of_two(), count, stream);
    }
    struct sum_of_two {
        __host__ __device__ float operator()(float a, float b) const { return a + b; }
    };
#endif
};

static void reduce(const memory &m, size_t n, size_t bins, cudaStream_t stream)
{
    fastreduce_config config = m.work.config(stream, FASTREDUCE_EXACT);
    config.offset_type = FASTREDUCE_I32;
    CHECK(fastreduce_reduce_by_index(m.x, m.index, m.sums, n, bins, FASTREDUCE_F32, FASTREDUCE_SUM,
                                     &config));
}

static bool is_right(const memory &m, size_t n, size_t bins, order how, cudaStream_t stream)
{
    unsigned long long wrong;
    CHECK(cudaMemsetAsync(m.exact, 0, bins * sizeof *m.exact, stream));
    CHECK(cudaMemsetAsync(m.sums, 0xff, bins * sizeof *m.sums, stream));
    CHECK(cudaMemsetAsync(m.wrong, 0, sizeof *m.wrong, stream));
    reduce(m, n, bins, stream);
    launch_for_each(n, stream, add_exactly{m.x, m.index, m.exact});
    launch_for_each(bins, stream, compare{m.exact, m.sums, m.wrong});
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(&wrong, m.wrong, sizeof wrong, cudaMemcpyDeviceToHost));
    if (wrong == 0) return true;
    std::fprintf(stderr, PROGRAM ": wrong: %llu of %zu bins, %s\n", wrong, bins, name_of(how));
    return false;
}

/* ---- Tables ---------------------------------------------------------------------------------- */

struct options : request {
    size_t elements = size_t(1) << 26;
    std::vector<order> orders;
};

static bool measure(const options &wanted, printer &print, const device &gpu, const memory &m,
                    size_t bins, order how)
{
    const size_t n = wanted.elements;
    const stopwatch watch(gpu.stream);
    progress(std::string(name_of(how)) + ", " + std::to_string(bins) + " bins");
    launch_for_each(n, gpu.stream, make_index{m.index, n, bins, how});
    const bool good = is_right(m, n, bins, how, gpu.stream);
    const std::function<void()> work[] = {
        [&] { reduce(m, n, bins, gpu.stream); },
        [&] {
            launch_for_each(n, gpu.stream, add_atomically<float>{m.x, m.index, m.sums_by_key});
        },
        [&] {
            launch_for_each(n, gpu.stream, add_atomically<double>{m.x, m.index, m.doubles});
        },
#ifdef BENCH_CUB
        [&] {
            size_t bytes = m.cub_bytes;
            for (int stage = 0; stage < 2; ++stage)
                CHECK(m.by_cub(stage, m.of_cub, bytes, n, bins, gpu.stream));
        },
#endif
    };
    std::vector<double> times[4];
    for (int turn = -1; turn < (wanted.replays > 0 ? wanted.replays : 5); ++turn)
        for (const auto &call : work) {
            const double time = watch.microseconds(call);
            if (turn >= 0) times[&call - work].push_back(time); /* the first is a warm-up */
        }
    const timing ours = summary(times[0]), floats = summary(times[1]), doubles = summary(times[2]),
                 cub = times[3].empty() ? timing() : summary(times[3]);
    const double us = ours.microseconds;
    print.row(name_of(how),
              {{"gpu", "", gpu.name},
               {"order", "", name_of(how)},
               {"n", "%.0f", static_cast<double>(n)},
               {"bins", "%.0f", static_cast<double>(bins), "      bins", "%.0f"},
               {"us", "%.4f", us, "        us", "%.1f"},
               {"spread", "%.4f", ours.spread, " spread", "%.1f%%"},
               {"gbs", "%.2f", 8e-3 * static_cast<double>(n) / us, "    GB/s", "%.1f"},
               {"float_us", "%.4f", floats.microseconds, "  atomicAdd", "%.1f"},
               {"over_float", "%.5f", us / floats.microseconds, " over it", "%.3f"},
               {"double_us", "%.4f", doubles.microseconds, " of doubles", "%.1f"},
               {"cub_us", "%.4f", cub.microseconds, "   CUB, us", "%.1f"},
               {"over_cub", "%.4f", us / cub.microseconds, " over CUB"}});
    return good;
}

static options parse(char **argv)
{
    arguments a = arguments_of(argv);
    options wanted;
    while (next_argument(&a, help)) {
        if (has_value(a, "elements")) {
            std::vector<size_t> sizes;
            take_sizes(a, sizes);
            if (sizes.size() > 1) wrong_usage(&a, "one number, not ", a.value);
            wanted.elements = sizes[0];
        } else if (has_value(a, "bins")) {
            take_sizes(a, wanted.sizes);
            for (size_t bins : wanted.sizes)
                if (bins > INT32_MAX) wrong_usage(&a, "no such size: ", a.value);
        } else if (has_value(a, "order")) {
            take_names<order>(a, "no such order: ", 0, 3, name_of, wanted.orders);
        } else if (!take_option(a, wanted)) {
            wrong_usage(&a, "not understood: ", a.word);
        }
    }
    default_sizes(wanted, 0, 24);
    if (wanted.orders.empty())
        wanted.orders = {order::random, order::sorted, order::half, order::zipf};
    return wanted;
}

int main(int, char **argv)
{
    const options wanted = parse(argv);
    (void)count_gpus();
    const device gpu;
    const memory m(wanted.elements, *std::max_element(wanted.sizes.begin(), wanted.sizes.end()));
    printer print(wanted, gpu.name + ", " + std::to_string(wanted.elements) + " floats");
    bool good = true;
    fill<<<blocks, block_size, 0, gpu.stream>>>(m.x, wanted.elements, 0);
    CHECK(cudaGetLastError());
    for (order how : wanted.orders)
        for (size_t bins : wanted.sizes) good &= measure(wanted, print, gpu, m, bins, how);
    finish_output();
    return good ? 0 : 1;
}

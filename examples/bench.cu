/* How fast, beside CUB, Thrust, cuBLAS and a plain copy: device time of sums. By default in graphs
 * of calls on inputs out of L2; as programs meet them with --warm (inputs in L2 if they fit),
 * --isolated (one call on an idle GPU) and --after-producer (input just written). And two
 * experiments from the literature on the ladder, --one-round and --rows-of-one-block.
 *
 *     nvcc -O3 -std=c++17 -arch=native bench.cu -o bench && ./bench
 *     nvcc -O3 -std=c++17 -arch=native -DBENCH_CUBLAS bench.cu -lcublas -o bench   (with cuBLAS)
 *
 * Peers are left out where their headers are missing, or by -DBENCH_NO_CUB and
 * -DBENCH_NO_THRUST. CUB's reproducible sum (gpu_to_gpu) needs CCCL 3.1 or later.
 */
#define FASTREDUCE_IMPLEMENTATION
#include "../fastreduce.cuh"
#include "input.h"
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <string>
#include <vector>
#include <unistd.h>
#if __has_include(<cub/cub.cuh>) && !defined(BENCH_NO_CUB)
#include <cub/cub.cuh>
#define BENCH_CUB
#if CCCL_VERSION >= 3001000
#include <cuda/execution>
#define BENCH_CUB_GPU_TO_GPU
#endif
#endif
#if __has_include(<thrust/reduce.h>) && !defined(BENCH_NO_THRUST)
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#define BENCH_THRUST
#endif
#ifdef BENCH_CUBLAS
#include <cublas_v2.h>
#endif

/* clang-format off */
static const char help[] =
    "usage: bench [OPTIONS] [reduce] [KERNEL ...] [n=SIZE ...]\n"
    "\n"
    "Device time of a sum of n floats: graphs of calls, replayed in turns; median over replays.\n"
    "\n"
    "  KERNEL    auto, exact, v0 ... v7, cub, gpu_to_gpu (CUB's reproducible sum), thrust,\n"
    "            cublas, copy; ladder: v0 to v7; all (default): everything built in\n"
    "  n=SIZE    digits, 2^k, or with K, M, G (2^10, 2^20, 2^30); several: n=2^10,2^20\n"
    "            (default: 2^10 to 2^30 by 4; --after-producer: 2^12 to 2^26)\n"
    "  --data KIND     uniform (in [-1, 1), default), positive (its magnitudes), normal, wide\n"
    "                  (any exponent), missing (one float in 64 far off the others' scale),\n"
    "                  huge (one float far above), sorted, equal, zeros\n"
    "  --block N[,N]   block sizes of v0 to v7 (default 256)\n"
    "  --replays N     timed replays of each graph (default 15), or calls with --isolated\n"
    "                  (default 41 up to 2^26, 15 beyond)\n"
    "  --csv, --json   machine-readable rows instead of the table (--errors: --csv)\n"
    "  --help\n"
    "\n"
    "At most one of these; without, inputs are cold, out of L2, each used once in a graph:\n"
    "\n"
    "  --warm               one input again and again, so that small ones come from L2\n"
    "  --isolated           one call at a time on an idle GPU, not in a graph, so that its\n"
    "                       launch counts; each has another part of memory where n allows, and\n"
    "                       L2 holds other data, just written\n"
    "  --after-producer     graphs of 50 pairs, a kernel that updates the input in place and\n"
    "                       the sum: time of a pair less that of the kernel alone, which has a\n"
    "                       row of its own, producer; --data is positive by default, so that\n"
    "                       a sum of what was there before the update is far off\n"
    "  --errors             one call each, not timed: its sum, the exact sum and the error;\n"
    "                       --data is positive by default, as near zero nothing can be said of\n"
    "                       a relative error\n"
    "  --one-round          five kernels, blocks of 256 and 1024, one round on the GPU and the\n"
    "                       rest on the CPU\n"
    "  --rows-of-one-block  2^29 floats in rows of one block each, V0 to V7, blocks of 128 to\n"
    "                       1024\n"
    "\n"
    "Columns: microseconds (median), spread (half the interquartile range, percent of it), GB/s\n"
    "read, percent of the peak by memory clock and bus width, percent of the best read measured\n"
    "on this GPU in this run, error relative to the exact sum (0: correctly rounded). copy is\n"
    "cudaMemcpyAsync on the device; it and producer count as bytes read, though they write as\n"
    "many; cublas is asum, the sum of magnitudes; thrust returns to the host, so its time holds\n"
    "launch and synchronisation.\n"
    "Exit status: 0; 1 for a wrong sum or a failed call; 2 for a wrong command line.\n";
/* clang-format on */

static void check(cudaError_t error, const char *call)
{
    if (error == cudaSuccess) return;
    std::fprintf(stderr, "bench: %s: %s\n", call, cudaGetErrorString(error));
    std::exit(1);
}
#define CUDA(call) check(call, #call)

static void check_status(fastreduce_status status, const char *what)
{
    if (status == FASTREDUCE_SUCCESS) return;
    std::fprintf(stderr, "bench: %s: %s\n", what, fastreduce_status_string(status));
    std::exit(1);
}

/* What is done; the first four say how the sums are called that are timed. */
enum class mode { cold, warm, isolated, after_producer, errors, one_round, rows_of_one_block };

/* As in the column `cache`, and as options, all but cold. */
static const std::vector<std::string> mode_names = {
    "cold", "warm", "isolated", "after-producer", "errors", "one-round", "rows-of-one-block"};

static const std::string &name_of(mode how)
{
    return mode_names[static_cast<size_t>(how)];
}

/* ---- Data and time --------------------------------------------------------------------------- */

static const std::vector<std::string> data_names = {
    "uniform", "positive", "normal", "wide", "missing", "huge", "sorted", "equal", "zeros"};

/* Float number i of n, by a hash; kind is an index into data_names. */
__device__ float datum(size_t i, size_t n, int kind)
{
    unsigned long long z = (i + 1) * 0x9e3779b97f4a7c15ull;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93ull;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93ull;
    z ^= z >> 32;
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

__global__ void fill(float *data, size_t n, int kind)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
         i += size_t(gridDim.x) * blockDim.x)
        data[i] = datum(i, n, kind);
}

/* The producer of --after-producer: writes every float anew, and a second one restores them all,
 * so that their sum stays known. A sum that does not wait for it has the wrong sign. */
__global__ void negate(float *data, size_t n)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
         i += size_t(gridDim.x) * blockDim.x)
        data[i] = -data[i];
}

struct exact_sums {
    double sum, magnitude;
    float rounded;
};

static exact_sums sum_exactly(const float *device, size_t n)
{
    constexpr size_t chunk = 1 << 24;
    static std::vector<float> host(chunk);
    fastreduce_accumulator sum = {}, magnitude = {};
    for (size_t begin = 0; begin < n; begin += chunk) {
        const size_t count = std::min(chunk, n - begin);
        CUDA(
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
        int current, clock_khz, bus_bits, l2;
        cudaDeviceProp properties;
        CUDA(cudaGetDevice(&current));
        CUDA(cudaGetDeviceProperties(&properties, current));
        CUDA(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrMemoryClockRate, current));
        CUDA(cudaDeviceGetAttribute(&bus_bits, cudaDevAttrGlobalMemoryBusWidth, current));
        CUDA(cudaDeviceGetAttribute(&l2, cudaDevAttrL2CacheSize, current));
        CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        name = properties.name;
        peak = 2e3 * clock_khz * (bus_bits / 8) * 1e-9; /* two transfers a clock */
        l2_bytes = static_cast<size_t>(l2);
        multiprocessors = static_cast<unsigned>(properties.multiProcessorCount);
    }
};

struct contender {
    std::string name;
    unsigned block_size; /* 0: its own */
    bool capturable;     /* else it is timed call by call */
    bool magnitudes;     /* sums |x| */
    bool sums;           /* has a result to check */
    std::function<void(const float *input, float *output, size_t n, cudaStream_t stream)> enqueue;
    bool after_first = false; /* enqueues the list's first as well, whose time is taken off */
};

struct timing {
    double microseconds, spread; /* median; half the interquartile range over it */
};

static timing summary(std::vector<double> times)
{
    std::sort(times.begin(), times.end());
    const double median = times[times.size() / 2];
    return {median, (times[times.size() * 3 / 4] - times[times.size() / 4]) / 2 / median};
}

/* Inputs of n floats, and in what state calls find them. `calls` of them are timed together; they
 * take in turn the `parts` of memory that hold an input each. */
struct field {
    float *inputs = nullptr, *output = nullptr, *flush = nullptr;
    size_t floats = 0, flush_bytes = 0, n = 0, calls = 0, parts = 0, stride = 0;
    mode how = mode::cold;

    void prepare(const device &gpu, size_t most, mode wanted, int kind)
    {
        how = wanted;
        flush_bytes = 3 * gpu.l2_bytes;
        floats = std::max(most, size_t(1) << (how == mode::isolated ? 28 : 26)) + 1024;
        CUDA(cudaMalloc(&inputs, floats * sizeof(float)));
        CUDA(cudaMalloc(&output, sizeof(float)));
        CUDA(cudaMalloc(&flush, flush_bytes));
        fill<<<2048, 256>>>(inputs, floats, kind);
        fill<<<2048, 256>>>(flush, flush_bytes / sizeof(float), kind);
        CUDA(cudaGetLastError());
        CUDA(cudaDeviceSynchronize());
    }
    void set(size_t size)
    {
        const size_t there = std::max<size_t>(1, floats / std::max<size_t>(size, 1024));
        n = size;
        switch (how) {
        case mode::isolated: calls = 1, parts = std::min<size_t>(512, there); break;
        case mode::after_producer: calls = 50, parts = 1; break; /* even: see negate */
        case mode::warm: calls = n >= size_t(1) << 20 ? 4 : 64, parts = 1; break;
        default: calls = parts = std::min<size_t>(64, there);
        }
        stride = (floats - 1024) / parts / 1024 * 1024;
    }
    /* Before what is timed. The output becomes NaN, or the flush's sum, so that calls that write
     * nothing are found. */
    void before(cudaStream_t stream) const
    {
        CUDA(cudaMemsetAsync(output, 0xff, sizeof(float), stream));
        if (how == mode::cold) empty_cache(stream);
        if (how != mode::isolated) return;
        CUDA(cudaMemsetAsync(flush, 0, flush_bytes, stream)); /* L2 as a program leaves it: dirty */
        CUDA(cudaStreamSynchronize(stream));
    }
    /* By reading: what is written stays in the cache too, and has to be carried out first. */
    void empty_cache(cudaStream_t stream) const
    {
        fastreduce_config config = {};
        config.stream = stream;
        check_status(fastreduce_sum_f32(flush, output, flush_bytes / sizeof(float), &config),
                     "flush");
    }
    /* One part further each time round, or contenders as many as parts would keep to one each. */
    const float *input(size_t call) const
    {
        return inputs + (call + call / parts) % parts * stride;
    }
    float result() const
    {
        float value;
        CUDA(cudaMemcpy(&value, output, sizeof value, cudaMemcpyDeviceToHost));
        return value;
    }
};

/* What is timed of a contender: a graph of calls, or the calls themselves. */
struct prepared {
    const contender *what;
    cudaGraph_t graph;
    cudaGraphExec_t executable;
    std::vector<double> times;
};

static void enqueue_all(const contender &c, const field &f, cudaStream_t stream, size_t first = 0)
{
    for (size_t k = 0; k < f.calls; ++k) c.enqueue(f.input(first + k), f.output, f.n, stream);
}

static prepared prepare(const contender &c, const field &f, cudaStream_t stream)
{
    prepared p = {&c, nullptr, nullptr, {}};
    enqueue_all(c, f, stream); /* warm-up */
    CUDA(cudaStreamSynchronize(stream));
    if (!c.capturable || f.how == mode::isolated) return p;
    CUDA(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
    enqueue_all(c, f, stream);
    CUDA(cudaStreamEndCapture(stream, &p.graph));
    CUDA(cudaGraphInstantiateWithFlags(&p.executable, p.graph, 0));
    CUDA(cudaGraphLaunch(p.executable, stream));
    CUDA(cudaStreamSynchronize(stream));
    return p;
}

struct stopwatch {
    cudaStream_t stream;
    cudaEvent_t start, stop;

    explicit stopwatch(cudaStream_t s) : stream(s)
    {
        CUDA(cudaEventCreate(&start));
        CUDA(cudaEventCreate(&stop));
    }
    stopwatch(const stopwatch &) = delete;
    ~stopwatch()
    {
        cudaEventDestroy(start);
        cudaEventDestroy(stop);
    }
    template <class Work>
    double microseconds(Work work) const
    {
        float milliseconds;
        CUDA(cudaEventRecord(start, stream));
        work();
        CUDA(cudaEventRecord(stop, stream));
        CUDA(cudaEventSynchronize(stop));
        CUDA(cudaEventElapsedTime(&milliseconds, start, stop));
        return 1e3 * milliseconds;
    }
};

/* Times in turns: one replay of each, then the next of each. Isolated calls take the parts of
 * memory one after the other; in the last turn all take the first, whose exact sum is known.
 * `last` gets the last results. */
static std::vector<timing> times_of(const std::vector<contender> &list, const field &f,
                                    cudaStream_t stream, int replays,
                                    std::vector<float> *last = nullptr)
{
    const stopwatch watch(stream);
    std::vector<prepared> all;
    size_t calls = 0; /* isolated ones */
    for (const contender &c : list) all.push_back(prepare(c, f, stream));
    for (int r = 0; r < replays; ++r)
        for (prepared &p : all) {
            const size_t first = f.how == mode::isolated && r + 1 < replays ? ++calls : 0;
            f.before(stream);
            const double time = watch.microseconds([&] {
                if (p.executable)
                    CUDA(cudaGraphLaunch(p.executable, stream));
                else
                    enqueue_all(*p.what, f, stream, first);
            });
            p.times.push_back(time / static_cast<double>(f.calls));
            if (last && r + 1 == replays) last->push_back(f.result());
        }
    std::vector<timing> result;
    for (prepared &p : all) {
        if (p.what->after_first)
            for (int r = 0; r < replays; ++r) p.times[r] -= all[0].times[r];
        result.push_back(summary(p.times));
        if (p.executable) CUDA(cudaGraphExecDestroy(p.executable));
        if (p.graph) CUDA(cudaGraphDestroy(p.graph));
    }
    return result;
}

/* ---- Contenders ------------------------------------------------------------------------------ */

struct scratch {
    void *workspace = nullptr, *peers = nullptr;
    size_t workspace_bytes = 0, peers_bytes = 0;
};

static contender ours(fastreduce_kernel kernel, unsigned block_size, const scratch &memory)
{
    const std::string name = kernel == FASTREDUCE_AUTO ? "auto"
                             : kernel == FASTREDUCE_EXACT
                                 ? "exact"
                                 : "v" + std::to_string(kernel - FASTREDUCE_V0);
    return {name,
            block_size,
            true,
            false,
            true,
            [=](const float *input, float *output, size_t n, cudaStream_t stream) {
                fastreduce_config config = {};
                config.kernel = kernel;
                config.block_size = block_size;
                config.workspace = memory.workspace;
                config.workspace_bytes = memory.workspace_bytes;
                config.stream = stream;
                check_status(fastreduce_sum_f32(input, output, n, &config), "fastreduce_sum_f32");
            }};
}

#ifdef BENCH_CUB_GPU_TO_GPU
/* A memory resource that hands out memory that is there: no allocation in the graph. */
struct borrowed {
    void *memory;
    void *allocate(cuda::stream_ref, size_t, size_t = 0) { return memory; }
    void deallocate(cuda::stream_ref, void *, size_t, size_t = 0) {}
    void *allocate_sync(size_t, size_t = 0) { return memory; }
    void deallocate_sync(void *, size_t, size_t = 0) {}
    bool operator==(const borrowed &other) const { return memory == other.memory; }
    bool operator!=(const borrowed &other) const { return memory != other.memory; }
};

template <class Resource>
static cudaError_t sum_gpu_to_gpu(const float *input, float *output, size_t n, cudaStream_t stream,
                                  Resource resource)
{
    auto reproducible = cuda::execution::require(cuda::execution::determinism::gpu_to_gpu);
    auto memory = cuda::std::execution::prop{cuda::mr::get_memory_resource_t{}, resource};
    auto environment = cuda::std::execution::env{cuda::stream_ref{stream}, reproducible, memory};
    return cub::DeviceReduce::Sum(input, output, static_cast<long long>(n), environment);
}
#endif

static std::vector<contender> peers(const scratch &memory)
{
    std::vector<contender> list;
#ifdef BENCH_CUB
    list.push_back({"cub", 0, true, false, true,
                    [=](const float *input, float *output, size_t n, cudaStream_t stream) {
                        size_t bytes = memory.peers_bytes;
                        CUDA(cub::DeviceReduce::Sum(memory.peers, bytes, input, output,
                                                    static_cast<long long>(n), stream));
                    }});
#endif
#ifdef BENCH_CUB_GPU_TO_GPU
    list.push_back({"gpu_to_gpu", 0, true, false, true,
                    [=](const float *input, float *output, size_t n, cudaStream_t stream) {
                        CUDA(sum_gpu_to_gpu(input, output, n, stream, borrowed{memory.peers}));
                    }});
#endif
#ifdef BENCH_THRUST
    list.push_back({"thrust", 0, false, false, true,
                    [](const float *input, float *output, size_t n, cudaStream_t s) {
                        const float sum =
                            thrust::reduce(thrust::cuda::par.on(s), input, input + n, 0.0f);
                        CUDA(cudaMemcpyAsync(output, &sum, sizeof sum, cudaMemcpyHostToDevice, s));
                    }});
#endif
#ifdef BENCH_CUBLAS
    static cublasHandle_t handle = nullptr;
    if (!handle &&
        (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS ||
         cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE) != CUBLAS_STATUS_SUCCESS)) {
        std::fprintf(stderr, "bench: cuBLAS does not start\n");
        std::exit(1);
    }
    list.push_back({"cublas", 0, true, true, true,
                    [](const float *input, float *output, size_t n, cudaStream_t s) {
                        if (cublasSetStream(handle, s) != CUBLAS_STATUS_SUCCESS ||
                            cublasSasum_64(handle, static_cast<int64_t>(n), input, 1, output) !=
                                CUBLAS_STATUS_SUCCESS) {
                            std::fprintf(stderr, "bench: cublasSasum_64 fails\n");
                            std::exit(1);
                        }
                    }});
#endif
    list.push_back({"copy", 0, true, false, false,
                    [=](const float *input, float *, size_t n, cudaStream_t stream) {
                        const size_t bytes = std::min(n * sizeof(float), memory.peers_bytes);
                        for (size_t done = 0; done < n * sizeof(float); done += bytes)
                            CUDA(cudaMemcpyAsync(memory.peers,
                                                 reinterpret_cast<const char *>(input) + done,
                                                 std::min(bytes, n * sizeof(float) - done),
                                                 cudaMemcpyDeviceToDevice, stream));
                    }});
    return list;
}

/* The producer, and after it each of the list with the producer before its every call. */
static std::vector<contender> after_producer(const std::vector<contender> &list, const device &gpu)
{
    const unsigned blocks = 2 * gpu.multiprocessors;
    const auto produce = [=](const float *input, float *, size_t n, cudaStream_t stream) {
        negate<<<blocks, 512, 0, stream>>>(const_cast<float *>(input), n); /* the field's own */
        CUDA(cudaGetLastError());
    };
    std::vector<contender> pairs = {{"producer", 0, true, false, false, produce}};
    for (const contender &c : list) {
        contender pair = c;
        pair.after_first = true;
        pair.enqueue = [=](const float *input, float *output, size_t n, cudaStream_t stream) {
            produce(input, output, n, stream);
            c.enqueue(input, output, n, stream);
        };
        pairs.push_back(pair);
    }
    return pairs;
}

/* ---- The table ------------------------------------------------------------------------------- */

struct options {
    std::vector<std::string> kernels;
    std::vector<size_t> sizes;
    std::vector<unsigned> block_sizes = {256};
    bool help = false, csv = false, json = false;
    mode how = mode::cold;
    int replays = 0, data = -1; /* by what is wanted */
};

static int replays_of(const options &wanted, size_t n)
{
    if (wanted.replays > 0) return wanted.replays;
    return wanted.how == mode::isolated && n <= size_t(1) << 26 ? 41 : 15;
}

static void progress(const std::string &what)
{
    if (isatty(STDERR_FILENO)) std::fprintf(stderr, "\r\033[K%s", what.c_str());
}

/* JSON knows no infinity: where floats overflow the error is one. */
static std::string number_or_null(double x)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", x);
    return std::isfinite(x) ? text : "null";
}

struct judgement {
    double error; /* relative to the exact sum; 0: correctly rounded */
    bool wrong;
};

static judgement judge(const contender &c, double got, const exact_sums &exact)
{
    if (!c.sums) return {0, false};
    const double right = c.magnitudes ? exact.magnitude : exact.sum;
    const double error = got == exact.rounded ? 0
                         : right != 0         ? std::fabs(got - right) / std::fabs(right)
                                              : std::fabs(got);
    /* others add in orders of their own: 1e-4 of the magnitudes is generous and finds losses */
    return {error, (c.name == "exact" && error != 0) ||
                       !(std::fabs(got - right) <= 1e-4 * exact.magnitude)};
}

/* Errors alone, at any n in the time of a call and an exact sum on the CPU. */
static bool error_table(const options &wanted, const std::vector<contender> &chosen,
                        const field &inputs, const device &gpu)
{
    bool wrong = false;
    if (wanted.csv)
        std::printf("gpu,data,n,kernel,block,sum,exact,error\n");
    else
        std::printf("%s, data %s\n\n%12s %-10s %5s %15s %15s %9s\n", gpu.name.c_str(),
                    data_names[wanted.data].c_str(), "n", "kernel", "block", "sum", "exact",
                    "error");
    for (size_t n : wanted.sizes) {
        progress("n = " + std::to_string(n));
        const exact_sums exact = sum_exactly(inputs.inputs, n);
        progress("");
        for (const contender &c : chosen) {
            if (!c.sums) continue;
            CUDA(cudaMemsetAsync(inputs.output, 0xff, sizeof(float), gpu.stream)); /* NaN */
            c.enqueue(inputs.inputs, inputs.output, n, gpu.stream);
            CUDA(cudaStreamSynchronize(gpu.stream));
            const float got = inputs.result();
            const judgement j = judge(c, got, exact);
            const double right = c.magnitudes ? exact.magnitude : exact.sum;
            wrong |= j.wrong;
            if (wanted.csv)
                std::printf("\"%s\",%s,%zu,%s,%u,%.9g,%.9g,%.3g\n", gpu.name.c_str(),
                            data_names[wanted.data].c_str(), n, c.name.c_str(), c.block_size, got,
                            right, j.error);
            else
                std::printf("%12zu %-10s %5s %15.9g %15.9g %9.1e%s\n", n, c.name.c_str(),
                            c.block_size ? std::to_string(c.block_size).c_str() : "", got, right,
                            j.error, j.wrong ? "  WRONG" : "");
        }
        std::fflush(stdout);
    }
    return wrong;
}

/* Memory for the kernels and the peers, enough for inputs of n floats. */
static scratch scratch_for(const options &wanted, size_t n)
{
    scratch memory;
    memory.workspace_bytes = 16;
    memory.peers_bytes = size_t(256) << 20;
    for (int kernel = FASTREDUCE_AUTO; kernel <= FASTREDUCE_EXACT; ++kernel)
        for (unsigned block_size : wanted.block_sizes) {
            fastreduce_config config = {};
            config.kernel = static_cast<fastreduce_kernel>(kernel);
            config.block_size = block_size;
            memory.workspace_bytes =
                std::max(memory.workspace_bytes, fastreduce_workspace_bytes(n, &config));
        }
    CUDA(cudaMalloc(&memory.workspace, memory.workspace_bytes));
    CUDA(cudaMalloc(&memory.peers, memory.peers_bytes));
    check_status(fastreduce_workspace_init(memory.workspace, memory.workspace_bytes, nullptr),
                 "workspace_init");
    CUDA(cudaDeviceSynchronize());
    return memory;
}

static std::vector<contender> contenders(const options &wanted, const scratch &memory)
{
    std::vector<contender> all = {ours(FASTREDUCE_AUTO, 0, memory),
                                  ours(FASTREDUCE_EXACT, 0, memory)};
    for (int v = 0; v < 8; ++v)
        for (unsigned block_size : wanted.block_sizes)
            all.push_back(
                ours(static_cast<fastreduce_kernel>(FASTREDUCE_V0 + v), block_size, memory));
    for (const contender &peer : peers(memory)) all.push_back(peer);
    std::vector<contender> chosen;
    for (const contender &c : all) {
        const auto named = [&](const std::string &word) {
            return std::find(wanted.kernels.begin(), wanted.kernels.end(), word) !=
                   wanted.kernels.end();
        };
        if (wanted.kernels.empty() || named("all") || named(c.name) ||
            (named("ladder") && c.name[0] == 'v'))
            chosen.push_back(c);
    }
    return chosen;
}

/* As in: inputs ... */
static const char *in_words(mode how)
{
    switch (how) {
    case mode::warm: return "warm";
    case mode::isolated: return "out of L2, one call at a time";
    case mode::after_producer: return "just updated, by a producer whose time is taken off";
    default: return "out of L2";
    }
}

static void print_head(const options &wanted, const device &gpu, double best)
{
    const auto sizes = std::minmax_element(wanted.sizes.begin(), wanted.sizes.end());
    const std::string fewest = std::to_string(replays_of(wanted, *sizes.second)),
                      most = std::to_string(replays_of(wanted, *sizes.first));
    if (wanted.csv)
        std::printf("gpu,cache,n,kernel,block,us,spread,gbs,peak_gbs,best_gbs,error\n");
    else if (wanted.json)
        std::printf("[\n");
    else
        std::printf("%s, peak %.0f GB/s, best read measured %.0f GB/s, data %s, inputs %s, "
                    "%s replays\n\n%12s %-10s %5s %11s %7s %8s %7s %7s %9s\n",
                    gpu.name.c_str(), gpu.peak, best, data_names[wanted.data].c_str(),
                    in_words(wanted.how), (most == fewest ? most : fewest + " to " + most).c_str(),
                    "n", "kernel", "block", "us", "spread", "GB/s", "% peak", "% best", "error");
}

static void print_row(const options &wanted, const device &gpu, double best, size_t n,
                      const contender &c, timing t, judgement j)
{
    const char *cache = name_of(wanted.how).c_str();
    const double bandwidth = 4e-3 * static_cast<double>(n) / t.microseconds;
    if (wanted.csv)
        std::printf("\"%s\",%s,%zu,%s,%u,%.4f,%.4f,%.2f,%.1f,%.1f,%.3g\n", gpu.name.c_str(), cache,
                    n, c.name.c_str(), c.block_size, t.microseconds, t.spread, bandwidth, gpu.peak,
                    best, j.error);
    else if (wanted.json)
        std::printf("{\"gpu\": \"%s\", \"cache\": \"%s\", \"n\": %zu, \"kernel\": \"%s\", "
                    "\"block\": %u, \"us\": %.4f, \"spread\": %.4f, \"gbs\": %.2f, "
                    "\"peak_gbs\": %.1f, \"best_gbs\": %.1f, \"error\": %s}",
                    gpu.name.c_str(), cache, n, c.name.c_str(), c.block_size, t.microseconds,
                    t.spread, bandwidth, gpu.peak, best, number_or_null(j.error).c_str());
    else
        std::printf("%12zu %-10s %5s %11.2f %6.1f%% %8.1f %7.1f %7.1f %9.1e%s\n", n, c.name.c_str(),
                    c.block_size ? std::to_string(c.block_size).c_str() : "", t.microseconds,
                    100 * t.spread, bandwidth, 100 * bandwidth / gpu.peak, 100 * bandwidth / best,
                    j.error, j.wrong ? "  WRONG" : "");
    std::fflush(stdout);
}

static bool time_table(const options &wanted, const std::vector<contender> &chosen, field &inputs,
                       const device &gpu, double best)
{
    bool wrong = false, first = true;
    print_head(wanted, gpu, best);
    for (size_t n : wanted.sizes) {
        inputs.set(n);
        const exact_sums exact = sum_exactly(inputs.input(inputs.calls - 1), n);
        progress("n = " + std::to_string(n));
        std::vector<float> results;
        const std::vector<timing> times =
            times_of(chosen, inputs, gpu.stream, replays_of(wanted, n), &results);
        progress("");
        for (size_t k = 0; k < chosen.size(); ++k) {
            const judgement j = judge(chosen[k], results[k], exact);
            wrong |= j.wrong;
            if (wanted.json && !first) std::printf(",\n");
            print_row(wanted, gpu, best, n, chosen[k], times[k], j);
            first = false;
        }
    }
    if (wanted.json) std::printf("\n]\n");
    return wrong;
}

static int table(const options &wanted)
{
    const device gpu;
    field inputs;
    inputs.prepare(gpu, *std::max_element(wanted.sizes.begin(), wanted.sizes.end()), wanted.how,
                   wanted.data);
    const scratch memory = scratch_for(wanted, inputs.floats);
    std::vector<contender> chosen = contenders(wanted, memory);
    if (chosen.empty()) {
        std::fprintf(stderr, "bench: none of these kernels is built in\n");
        return 2;
    }
    if (wanted.how == mode::errors) return error_table(wanted, chosen, inputs, gpu);

    /* the best read: AUTO over as much as there is */
    inputs.set(inputs.floats - 1024);
    const contender automatic = ours(FASTREDUCE_AUTO, 0, memory);
    const timing whole = times_of({automatic}, inputs, gpu.stream, 5)[0];
    const double best = 4e-3 * static_cast<double>(inputs.n) / whole.microseconds;
    if (wanted.how == mode::after_producer) chosen = after_producer(chosen, gpu);
    return time_table(wanted, chosen, inputs, gpu, best);
}

/* ---- Experiments from the literature --------------------------------------------------------- */

/* Milliseconds of one call, the median of ten after a warm-up. */
static double milliseconds_of(const std::function<fastreduce_status()> &call, cudaStream_t stream)
{
    const stopwatch watch(stream);
    std::vector<double> times;
    check_status(call(), "round");
    for (int r = 0; r < 10; ++r)
        times.push_back(1e-3 * watch.microseconds([&] { check_status(call(), "round"); }));
    return summary(times).microseconds;
}

using round_function = fastreduce_status (*)(const float *, float *, size_t, cudaStream_t);

template <fastreduce_kernel Version, unsigned BlockSize,
          unsigned Items = fastreduce::default_items(Version),
          fastreduce::tail Tail = fastreduce::tail::warp>
static fastreduce_status one_round_of(const float *input, float *partials, size_t n,
                                      cudaStream_t stream)
{
    return fastreduce::round<Version, BlockSize, Items, fastreduce::plus, Tail>(input, partials, n,
                                                                                stream);
}

/* J. Wang, ECE 587 lecture 20, Illinois Institute of Technology, March 2026: one round on the
 * GPU, the CPU adds the partial sums. Milliseconds on a Tesla T4 from its two tables. */
static int one_round()
{
    constexpr fastreduce::tail by_block = fastreduce::tail::block;
    struct row {
        const char *name;
        round_function run[2]; /* blocks of 256, 1024 */
        double t4[2][4];
    };
    const row rows[5] = {
        {"sum_mod",
         {one_round_of<FASTREDUCE_V0, 256>, one_round_of<FASTREDUCE_V0, 1024>},
         {{2.10, 9.76, 22.62, 74.22}, {3.56, 7.66, 26.81, 109.24}}},
        {"sum_idx",
         {one_round_of<FASTREDUCE_V1, 256>, one_round_of<FASTREDUCE_V1, 1024>},
         {{1.75, 8.00, 14.06, 53.13}, {2.47, 5.35, 18.43, 73.48}}},
        {"sum_seq",
         {one_round_of<FASTREDUCE_V2, 256>, one_round_of<FASTREDUCE_V2, 1024>},
         {{1.35, 6.25, 10.40, 42.46}, {2.06, 4.50, 15.56, 61.37}}},
        {"sum_unroll",
         {one_round_of<FASTREDUCE_V4, 256, 1, by_block>,
          one_round_of<FASTREDUCE_V4, 1024, 1, by_block>},
         {{1.23, 5.68, 9.13, 38.00}, {1.94, 4.24, 14.65, 57.55}}},
        {"sum_warp",
         {one_round_of<FASTREDUCE_V4, 256, 1>, one_round_of<FASTREDUCE_V4, 1024, 1>},
         {{0.84, 3.76, 6.74, 27.99}, {1.35, 3.00, 10.36, 41.01}}}};
    const size_t sizes[4] = {16, 64, 256, 1024}; /* times 2^20 */
    const unsigned blocks[2] = {256, 1024};
    double measured[5][2][4];
    const device gpu;
    float *input, *partials;
    int wrong = 0;

    CUDA(cudaMalloc(&input, sizes[3] << 22));
    CUDA(cudaMalloc(&partials, (sizes[3] << 22) / 256));
    fill<<<2048, 256>>>(input, sizes[3] << 20, 0);
    CUDA(cudaGetLastError());
    std::vector<float> host((sizes[3] << 20) / 256);
    for (int s = 0; s < 4; ++s) {
        const size_t n = sizes[s] << 20;
        const exact_sums exact = sum_exactly(input, n);
        for (int b = 0; b < 2; ++b)
            for (int k = 0; k < 5; ++k) {
                progress(std::string(rows[k].name) + ", " + std::to_string(n));
                measured[k][b][s] = milliseconds_of(
                    [&] { return rows[k].run[b](input, partials, n, gpu.stream); }, gpu.stream);
                CUDA(cudaMemcpy(host.data(), partials, n / blocks[b] * sizeof(float),
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
    CUDA(cudaFree(input));
    CUDA(cudaFree(partials));
    return wrong;
}

template <unsigned BlockSize>
static void rows_of(std::vector<round_function> &list)
{
    list = {one_round_of<FASTREDUCE_V0, BlockSize>, one_round_of<FASTREDUCE_V1, BlockSize>,
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
    CUDA(cudaMalloc(&input, n * sizeof(float)));
    CUDA(cudaMalloc(&sums, n / 128 * sizeof(float)));
    fill<<<2048, 256>>>(input, n, 0);
    CUDA(cudaGetLastError());
    const exact_sums exact = sum_exactly(input, n);
    std::vector<float> host(n / 128);
    std::printf("%s: %zu floats in rows of one block; peak %.0f GB/s\n\n%-22s %10s %12s %28s %8s\n",
                gpu.name.c_str(), n, gpu.peak, "kernel", "threads", "runtime (us)",
                "mean effective bandwidth", "% peak");
    for (int k = 0; k < 8; ++k)
        for (unsigned block_size : {128u, 256u, 512u, 1024u}) {
            std::vector<round_function> list;
            if (block_size == 128) rows_of<128>(list);
            if (block_size == 256) rows_of<256>(list);
            if (block_size == 512) rows_of<512>(list);
            if (block_size == 1024) rows_of<1024>(list);
            const fastreduce_kernel version = static_cast<fastreduce_kernel>(FASTREDUCE_V0 + k);
            const size_t rows = n / (block_size * fastreduce::default_items(version));
            const double us =
                1e3 *
                milliseconds_of([&] { return list[k](input, sums, n, gpu.stream); }, gpu.stream);
            const double bandwidth = 4e-3 * static_cast<double>(n + rows) / us;
            CUDA(cudaMemcpy(host.data(), sums, rows * sizeof(float), cudaMemcpyDeviceToHost));
            wrong |= !(std::fabs(fastreduce_host_sum_f32(host.data(), rows) - exact.sum) <=
                       1e-4 * exact.magnitude);
            std::printf("%-22s %10u %12.2f %23.1f GB/s %7.2f%%\n", fastreduce_kernel_name(version),
                        block_size, us, bandwidth, 100 * bandwidth / gpu.peak);
            std::fflush(stdout);
        }
    if (wrong) std::printf("\nA sum was WRONG.\n");
    CUDA(cudaFree(input));
    CUDA(cudaFree(sums));
    return wrong;
}

/* ---- Command line ---------------------------------------------------------------------------- */

/* 0 if it is no size, or 2^40 and more. */
static size_t size_of(const std::string &text)
{
    uint64_t size;
    return parse_size(text.c_str(), &size) && size < uint64_t(1) << 40 ? size : 0;
}

static std::vector<std::string> split(const std::string &text)
{
    std::vector<std::string> parts;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t comma = std::min(text.find(',', begin), text.size());
        parts.push_back(text.substr(begin, comma - begin));
        begin = comma + 1;
    }
    return parts;
}

/* Each of these returns what is wrong with a word, or "". */

static std::string take_sizes(const std::string &text, options &wanted)
{
    for (const std::string &part : split(text)) {
        wanted.sizes.push_back(size_of(part));
        if (wanted.sizes.back() == 0) return "no such size: " + part;
    }
    return "";
}

static std::string take_blocks(const std::string &text, options &wanted)
{
    wanted.block_sizes.clear();
    for (const std::string &part : split(text)) {
        const size_t size = size_of(part);
        if (size > 1024 || !fastreduce::detail::valid_block_size(static_cast<unsigned>(size)))
            return "no such block size: " + part;
        wanted.block_sizes.push_back(static_cast<unsigned>(size));
    }
    return "";
}

static std::string take_replays(const std::string &text, options &wanted)
{
    wanted.replays = static_cast<int>(std::min<size_t>(size_of(text), 100000));
    return wanted.replays == 0 ? "no such number of replays: " + text : "";
}

static std::string take_data(const std::string &text, options &wanted)
{
    const auto kind = std::find(data_names.begin(), data_names.end(), text);
    wanted.data = static_cast<int>(kind - data_names.begin());
    return kind == data_names.end() ? "no such data: " + text : "";
}

static mode mode_of(const std::string &word)
{
    for (size_t k = 1; k < mode_names.size(); ++k)
        if (word == "--" + mode_names[k]) return static_cast<mode>(k);
    return mode::cold;
}

static std::string take_mode(mode how, options &wanted)
{
    const mode before = wanted.how;
    wanted.how = how;
    return before == mode::cold || before == how
               ? ""
               : "--" + name_of(before) + " or --" + name_of(how) + ", not both";
}

static std::string take_word(const std::string &word, options &wanted)
{
    static const std::vector<std::string> kernels = {
        "auto", "exact", "v0",         "v1",     "v2",     "v3",   "v4",     "v5", "v6",
        "v7",   "cub",   "gpu_to_gpu", "thrust", "cublas", "copy", "ladder", "all"};
    if (word.compare(0, 2, "n=") == 0) return take_sizes(word.substr(2), wanted);
    if (std::find(kernels.begin(), kernels.end(), word) != kernels.end())
        wanted.kernels.push_back(word);
    else if (word == "--help" || word == "-h")
        wanted.help = true;
    else if (word == "--csv")
        wanted.csv = true;
    else if (word == "--json")
        wanted.json = true;
    else if (mode_of(word) != mode::cold)
        return take_mode(mode_of(word), wanted);
    else if (word != "reduce")
        return "not understood: " + word;
    return "";
}

static std::string parse(int argc, char **argv, options &wanted)
{
    std::string wrong;
    for (int i = 1; i < argc && wrong.empty() && !wanted.help; ++i) {
        const std::string word = argv[i];
        const bool more = i + 1 < argc;
        if (word == "--block" && more)
            wrong = take_blocks(argv[++i], wanted);
        else if (word == "--replays" && more)
            wrong = take_replays(argv[++i], wanted);
        else if (word == "--data" && more)
            wrong = take_data(argv[++i], wanted);
        else
            wrong = take_word(word, wanted);
    }
    if (!wrong.empty() || wanted.help) return wrong;
    if (wanted.csv && wanted.json) return "--csv or --json, not both";
    if (wanted.how == mode::errors && wanted.json) return "--errors has no --json";
    const bool after = wanted.how == mode::after_producer;
    if (wanted.data < 0) wanted.data = wanted.how == mode::errors || after; /* positive, uniform */
    if (wanted.sizes.empty())
        for (int k = after ? 12 : 10; k <= (after ? 26 : 30); k += 2)
            wanted.sizes.push_back(size_t(1) << k);
    return "";
}

int main(int argc, char **argv)
{
    options wanted;
    const std::string wrong = parse(argc, argv, wanted);
    if (!wrong.empty()) {
        std::fprintf(stderr, "bench: %s (bench --help tells more)\n", wrong.c_str());
        return 2;
    }
    if (wanted.help) return std::fputs(help, stdout) < 0;

    int devices = 0;
    const cudaError_t found = cudaGetDeviceCount(&devices);
    if (found != cudaSuccess || devices == 0) {
        std::printf("no GPU here (%s)\n",
                    found != cudaSuccess ? cudaGetErrorString(found) : "no device");
        return 77;
    }
    if (wanted.how == mode::one_round) return one_round();
    if (wanted.how == mode::rows_of_one_block) return rows_of_one_block();
    return table(wanted);
}

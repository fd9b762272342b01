/* How fast, beside CUB, Thrust, cuBLAS and a plain copy: device time of sums. By default in graphs
 * of calls on inputs out of L2; as programs meet them with --warm (inputs in L2 if they fit),
 * --isolated (one call on an idle GPU) and --after-producer (input just written).
 *
 *     nvcc -O3 -std=c++17 -arch=native bench.cu -o bench && ./bench
 *     nvcc -O3 -std=c++17 -arch=native -DBENCH_CUBLAS bench.cu -lcublas -o bench   (with cuBLAS)
 *
 * Peers are left out where their headers are missing, or by -DBENCH_NO_CUB and
 * -DBENCH_NO_THRUST. CUB's reproducible sum (gpu_to_gpu) needs CCCL 3.1 or later.
 */
#define PROGRAM "bench"
#define FASTREDUCE_IMPLEMENTATION
/* for a shorter build */
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#include "../fastreduce.cuh"
#include "common.h"
#include "measure.cuh"
#include "calls.cuh"
#include <cstring>
#include "gpu_to_gpu.cuh"
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
    "  n=SIZE    " SIZE_FORMS ";\n"
    "            several: n=2^10,1e6\n"
    "            (default: 2^10 to 2^30 by 4; --after-producer: 2^12 to 2^26)\n"
    "  --data KIND     uniform (in [-1, 1), default), positive (its magnitudes), normal, wide\n"
    "                  (any exponent), missing (one float in 64 far off the others' scale),\n"
    "                  huge (one float far above), sorted, equal, zeros\n"
    "  --block N[,N]   block sizes of v0 to v7 (default 256)\n"
    "  --replays N     timed replays of each graph (default 15), or calls with --isolated\n"
    "                  (default 41 up to 2^26, 15 beyond)\n"
    "  --csv, --json   machine-readable rows instead of the table (--errors: --csv)\n"
    "  -h, --help, --version  print and do nothing else\n"
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
    "\n"
    "Columns: microseconds (median), spread (half the interquartile range, percent of it), GB/s\n"
    "read, percent of the peak by memory clock and bus width, percent of the best read measured\n"
    "on this GPU in this run, error relative to the exact sum (0: correctly rounded). copy is\n"
    "cudaMemcpyAsync on the device; it and producer count as bytes read, though they write as\n"
    "many; cublas is asum, the sum of magnitudes; thrust returns to the host, so its time holds\n"
    "launch and synchronisation.\n"
    "Exit status: 0; 1 for a wrong sum or a failed call; 2 for a wrong command line;\n"
    "77 where there is no GPU.\n";
/* clang-format on */

/* As in the column `cache`, and as options, all but cold. */
static const std::vector<std::string> mode_names = {"cold", "warm", "isolated", "after-producer",
                                                    "errors"};

static const std::string &name_of(mode how)
{
    return mode_names[static_cast<size_t>(how)];
}

/* The producer of --after-producer: writes every float anew, and a second one restores them all,
 * so that their sum stays known. A sum that does not wait for it has the wrong sign. */
static __global__ void negate(float *data, size_t n)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
         i += size_t(gridDim.x) * blockDim.x)
        data[i] = -data[i];
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
                CHECK(fastreduce_sum_f32(input, output, n, &config));
            }};
}

static std::vector<contender> peers(const scratch &memory)
{
    std::vector<contender> list;
#ifdef BENCH_CUB
    list.push_back({"cub", 0, true, false, true,
                    [=](const float *input, float *output, size_t n, cudaStream_t stream) {
                        size_t bytes = memory.peers_bytes;
                        CHECK(cub::DeviceReduce::Sum(memory.peers, bytes, input, output,
                                                     static_cast<long long>(n), stream));
                    }});
#endif
#ifdef BENCH_CUB_GPU_TO_GPU
    list.push_back({"gpu_to_gpu", 0, true, false, true,
                    [=](const float *input, float *output, size_t n, cudaStream_t stream) {
                        CHECK(sum_gpu_to_gpu(input, output, n, stream, borrowed{memory.peers}));
                    }});
#endif
#ifdef BENCH_THRUST
    list.push_back({"thrust", 0, false, false, true,
                    [](const float *input, float *output, size_t n, cudaStream_t s) {
                        const float sum =
                            thrust::reduce(thrust::cuda::par.on(s), input, input + n, 0.0f);
                        CHECK(cudaMemcpyAsync(output, &sum, sizeof sum, cudaMemcpyHostToDevice, s));
                    }});
#endif
#ifdef BENCH_CUBLAS
    static cublasHandle_t handle = nullptr;
    if (!handle &&
        (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS ||
         cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE) != CUBLAS_STATUS_SUCCESS)) {
        fail(1, "cuBLAS does not start");
    }
    list.push_back({"cublas", 0, true, true, true,
                    [](const float *input, float *output, size_t n, cudaStream_t s) {
                        if (cublasSetStream(handle, s) != CUBLAS_STATUS_SUCCESS ||
                            cublasSasum_64(handle, static_cast<int64_t>(n), input, 1, output) !=
                                CUBLAS_STATUS_SUCCESS) {
                            fail(1, "cublasSasum_64 fails");
                        }
                    }});
#endif
    list.push_back({"copy", 0, true, false, false,
                    [=](const float *input, float *, size_t n, cudaStream_t stream) {
                        const size_t bytes = std::min(n * sizeof(float), memory.peers_bytes);
                        for (size_t done = 0; done < n * sizeof(float); done += bytes)
                            CHECK(cudaMemcpyAsync(memory.peers,
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
        CHECK(cudaGetLastError());
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

struct options : request {
    std::vector<std::string> kernels;
    std::vector<unsigned> block_sizes = {256};
    int data = -1; /* by what is wanted */
};

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
            CHECK(cudaMemsetAsync(inputs.output, 0xff, sizeof(float), gpu.stream)); /* NaN */
            c.enqueue(inputs.inputs, inputs.output, n, gpu.stream);
            CHECK(cudaStreamSynchronize(gpu.stream));
            const float got = inputs.result<float>();
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
    CHECK(cudaMalloc(&memory.workspace, memory.workspace_bytes));
    CHECK(cudaMalloc(&memory.peers, memory.peers_bytes));
    CHECK(fastreduce_workspace_init(memory.workspace, memory.workspace_bytes, nullptr));
    CHECK(cudaDeviceSynchronize());
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
        const exact_sums exact = sum_exactly(inputs.inputs, n);
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
    if (chosen.empty()) fail(2, "none of these kernels is built in");
    if (wanted.how == mode::errors) return error_table(wanted, chosen, inputs, gpu);

    /* the best read: AUTO over as much as there is */
    inputs.set(inputs.floats - 1024);
    const contender automatic = ours(FASTREDUCE_AUTO, 0, memory);
    const timing whole = times_of({automatic}, inputs, gpu.stream, 5)[0];
    const double best = 4e-3 * static_cast<double>(inputs.n) / whole.microseconds;
    if (wanted.how == mode::after_producer) chosen = after_producer(chosen, gpu);
    return time_table(wanted, chosen, inputs, gpu, best);
}

/* ---- Command line ---------------------------------------------------------------------------- */

static void take_blocks(const arguments &a, options &wanted)
{
    wanted.block_sizes.clear();
    for (const std::string &part : split(a.value)) {
        uint64_t size = 0;
        if (!parse_size(part.c_str(), &size) || size > 1024 ||
            !fastreduce::detail::valid_block_size(static_cast<unsigned>(size)))
            wrong_usage(&a, "no such block size: ", part.c_str());
        wanted.block_sizes.push_back(static_cast<unsigned>(size));
    }
}

static void take_data(const arguments &a, options &wanted)
{
    const auto kind = std::find(data_names.begin(), data_names.end(), a.value);
    if (kind == data_names.end()) wrong_usage(&a, "no such data: ", a.value);
    wanted.data = static_cast<int>(kind - data_names.begin());
}

/* Whether the word is a mode's; two of them do not go together. */
static bool take_mode(const arguments &a, options &wanted)
{
    for (size_t k = 1; k < mode_names.size(); ++k) {
        const mode how = static_cast<mode>(k);
        if (!is_option(&a, ("--" + mode_names[k]).c_str())) continue;
        if (wanted.how != mode::cold && wanted.how != how)
            wrong_usage(&a, ("--" + name_of(wanted.how) + " or ").c_str(),
                        (a.word + std::string(", not both")).c_str());
        wanted.how = how;
        return true;
    }
    return false;
}

static void take_word(const arguments &a, options &wanted)
{
    static const std::vector<std::string> kernels = {
        "auto", "exact", "v0",         "v1",     "v2",     "v3",   "v4",     "v5", "v6",
        "v7",   "cub",   "gpu_to_gpu", "thrust", "cublas", "copy", "ladder", "all"};
    if (std::strncmp(a.word, "n=", 2) == 0)
        take_sizes(a, a.word + 2, wanted.sizes);
    else if (std::find(kernels.begin(), kernels.end(), a.word) != kernels.end())
        wanted.kernels.push_back(a.word);
    else if (std::strcmp(a.word, "reduce") != 0)
        wrong_usage(&a, "not understood: ", a.word);
}

static options parse(char **argv)
{
    arguments a = arguments_of(argv);
    options wanted;
    while (next_argument(&a, help)) {
        if (is_option_with_value(&a, "--block"))
            take_blocks(a, wanted);
        else if (is_option_with_value(&a, "--replays"))
            take_replays(a, wanted);
        else if (is_option_with_value(&a, "--data"))
            take_data(a, wanted);
        else if (is_option(&a, "--csv"))
            wanted.csv = true;
        else if (is_option(&a, "--json"))
            wanted.json = true;
        else if (!take_mode(a, wanted))
            take_word(a, wanted);
    }
    if (wanted.csv && wanted.json) wrong_usage(&a, "--csv or --json, not both", "");
    if (wanted.how == mode::errors && wanted.json) wrong_usage(&a, "--errors has no --json", "");
    const bool after = wanted.how == mode::after_producer;
    if (wanted.data < 0) wanted.data = wanted.how == mode::errors || after; /* positive, uniform */
    if (wanted.sizes.empty())
        for (int k = after ? 12 : 10; k <= (after ? 26 : 30); k += 2)
            wanted.sizes.push_back(size_t(1) << k);
    return wanted;
}

int main(int, char **argv)
{
    const options wanted = parse(argv);
    (void)count_gpus();
    const int wrong = table(wanted);
    finish_output();
    return wrong;
}

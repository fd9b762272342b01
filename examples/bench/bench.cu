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
#include "../../fastreduce.cuh"
#include "peers.cuh"
#if __has_include(<thrust/reduce.h>) && !defined(BENCH_NO_THRUST)
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>
#define BENCH_THRUST
#endif

/* clang-format off */
static const char help[] =
    "usage: bench [OPTIONS] [reduce] [KERNEL ...] [n=SIZE ...]\n"
    "\n"
    "Device time of a sum of n floats: the median over replays of graphs, taken in turns.\n"
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
    "                       launch counts; other data are in L2, just written\n"
    "  --after-producer     graphs of 50 pairs, a kernel that updates the input in place and\n"
    "                       the sum: time of a pair less that of the kernel alone, which has a\n"
    "                       row of its own; --data is positive by default\n"
    "  --errors             not timed: the sum, the exact sum and the error; --data is\n"
    "                       positive by default\n"
    "\n"
    "Columns: microseconds (median), spread (half the interquartile range, percent of it), GB/s\n"
    "read, percent of the peak by memory clock and bus width and of the best read measured in\n"
    "this run, error relative to the exact sum (0: correctly rounded). copy, cudaMemcpyAsync on\n"
    "the device, and producer write as many bytes as they read; cublas is asum, the sum of\n"
    "magnitudes; thrust returns to the host, so its time holds launch and synchronisation.\n"
    "Exit status: 0; 1 for a wrong sum or a failed call; 2 for a wrong command line;\n"
    "77 where there is no GPU.\n";
/* clang-format on */

struct options : request {
    std::vector<std::string> kernels;
    std::vector<unsigned> block_sizes = {256};
    int data = -1; /* by what is wanted */
};

/* ---- Contenders ------------------------------------------------------------------------------ */

static contender ours(fastreduce_kernel kernel, unsigned block_size, const scratch &memory)
{
    const std::string name = kernel == FASTREDUCE_AUTO ? "auto"
                             : kernel == FASTREDUCE_EXACT
                                 ? "exact"
                                 : "v" + std::to_string(kernel - FASTREDUCE_V0);
    const auto sum = [=](const call &c) {
        const fastreduce_config config = memory.config(c.stream, kernel, block_size);
        CHECK(fastreduce_sum_f32(c.input, c.output, c.n, &config));
    };
    return {name, sum, block_size};
}

#ifdef BENCH_THRUST
/* Its sum comes to the host. */
static void sum_by_thrust(const call &c)
{
    const auto policy = thrust::cuda::par.on(c.stream);
    const float sum = thrust::reduce(policy, c.input, c.input + c.n, 0.0f);
    CHECK(cudaMemcpyAsync(c.output, &sum, sizeof sum, cudaMemcpyHostToDevice, c.stream));
}
#endif

static void copy_by_parts(const call &c, void *to)
{
    const char *const from = reinterpret_cast<const char *>(c.input);
    for (size_t at = 0, bytes = c.n * sizeof(float); at < bytes; at += scratch::peers_bytes)
        CHECK(cudaMemcpyAsync(to, from + at, std::min(bytes - at, scratch::peers_bytes),
                              cudaMemcpyDeviceToDevice, c.stream));
}

static void add_peers(std::vector<contender> &list, const scratch &memory)
{
    void *const peers = memory.peers;
#ifdef BENCH_CUB
    list.push_back({"cub", [=](const call &c) {
                        size_t bytes = scratch::peers_bytes;
                        CHECK(cub::DeviceReduce::Sum(peers, bytes, c.input, c.output,
                                                     static_cast<long long>(c.n), c.stream));
                    }});
#endif
#ifdef BENCH_CUB_GPU_TO_GPU
    list.push_back({"gpu_to_gpu", [=](const call &c) {
                        CHECK(sum_gpu_to_gpu(c.input, c.output, c.n, c.stream, borrowed{peers}));
                    }});
#endif
#ifdef BENCH_THRUST
    list.push_back({"thrust", sum_by_thrust});
    list.back().capturable = false;
#endif
#ifdef BENCH_CUBLAS
    list.push_back({"cublas", [](const call &c) {
                        CHECK_CUBLAS(cublasSasum_64(cublas_of(c.stream), static_cast<int64_t>(c.n),
                                                    c.input, 1, c.output));
                    }});
    list.back().magnitudes = true;
#endif
    list.push_back({"copy", [=](const call &c) { copy_by_parts(c, peers); }});
    list.back().sums = false;
}

static std::vector<contender> contenders(const options &wanted, const scratch &memory)
{
    std::vector<contender> all = {ours(FASTREDUCE_AUTO, 0, memory),
                                  ours(FASTREDUCE_EXACT, 0, memory)};
    for (int v = FASTREDUCE_V0; v <= FASTREDUCE_V7; ++v)
        for (unsigned block_size : wanted.block_sizes)
            all.push_back(ours(static_cast<fastreduce_kernel>(v), block_size, memory));
    add_peers(all, memory);
    const auto unwanted = [&](const contender &c) { return !is_among(wanted.kernels, c.name); };
    all.erase(std::remove_if(all.begin(), all.end(), unwanted), all.end());
    if (all.empty()) fail(2, "none of these kernels is built in");
    return all;
}

/* The producer of --after-producer: writes every float anew, and a second one restores them all,
 * so that their sum stays known. A sum that does not wait for it has the wrong sign. */
static __global__ void negate(float *data, size_t n)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
         i += size_t(gridDim.x) * blockDim.x)
        data[i] = -data[i];
}

/* The producer, and after it each of the list with the producer before its every call. */
static std::vector<contender> after_producer(const std::vector<contender> &list, const device &gpu)
{
    const unsigned blocks = 2 * gpu.multiprocessors;
    const auto produce = [=](const call &c) {
        negate<<<blocks, 512, 0, c.stream>>>(const_cast<float *>(c.input), c.n);
        CHECK(cudaGetLastError());
    };
    std::vector<contender> pairs = {{"producer", produce}};
    pairs[0].sums = false;
    for (const contender &one : list) {
        pairs.push_back(one);
        pairs.back().after_first = true;
        pairs.back().enqueue = [=](const call &c) {
            produce(c);
            one.enqueue(c);
        };
    }
    return pairs;
}

/* Enough for every kernel: V0 has the most partial results. */
static size_t workspace_for(const options &wanted, size_t n)
{
    fastreduce_config config = {};
    config.kernel = FASTREDUCE_V0;
    config.block_size = *std::min_element(wanted.block_sizes.begin(), wanted.block_sizes.end());
    return std::max(FASTREDUCE_WORKSPACE_BYTES, fastreduce_workspace_bytes(n, &config));
}

/* ---- The table ------------------------------------------------------------------------------- */

struct judgement {
    double right, error; /* relative to it; 0: correctly rounded */
    bool wrong;
};

static judgement judge(const contender &c, double got, const exact_sums &exact)
{
    if (!c.sums) return {0, 0, false};
    const double right = c.magnitudes ? exact.magnitude : exact.sum;
    const double error = got == exact.rounded ? 0
                         : std::isnan(got)    ? INFINITY
                         : right != 0         ? std::fabs(got - right) / std::fabs(right)
                                              : std::fabs(got);
    /* others add in orders of their own: 1e-4 of the magnitudes is generous and finds losses */
    return {right, error,
            (c.name == "exact" && error != 0) ||
                !(std::fabs(got - right) <= 1e-4 * exact.magnitude)};
}

/* Of one kernel and n; with --errors, of which there is no time, its sum. */
static void print_row(const options &wanted, printer &print, const device &gpu, double best,
                      size_t n, const contender &c, const timing &t, float got, judgement j)
{
    const double us = t.microseconds, gbs = 4e-3 * static_cast<double>(n) / us;
    std::vector<cell> cells = {
        {"gpu", "", gpu.name},
        {"n", "%.0f", static_cast<double>(n), "           n", "%.0f"},
        {"kernel", "kernel    ", c.name},
        {"block", "%.0f", static_cast<double>(c.block_size), "block", c.block_size ? "%.0f" : ""}};
    if (wanted.how == mode::errors) {
        cells.insert(cells.begin() + 1, {"data", "", data_names[wanted.data]});
        cells.insert(cells.end(), {{"sum", "%.9g", got, "            sum", "%.9g"},
                                   {"exact", "%.9g", j.right, "          exact", "%.9g"}});
    } else {
        cells.insert(cells.begin() + 1, {"cache", "", name_of(wanted.how)});
        cells.insert(cells.end(), {{"us", "%.4f", us, "         us"},
                                   {"spread", "%.4f", t.spread, " spread", "%.1f%%"},
                                   {"gbs", "%.2f", gbs, "    GB/s", "%.1f"},
                                   {"peak_gbs", "%.1f", gpu.peak},
                                   {"best_gbs", "%.1f", best},
                                   {"", "%.1f", 100 * gbs / gpu.peak, " % peak", "%.1f"},
                                   {"", "%.1f", 100 * gbs / best, " % best", "%.1f"}});
    }
    cells.push_back({"error", "%.3g", j.error, "    error", "%.1e"});
    cells.push_back({"", " ", j.wrong ? "WRONG" : ""});
    print.row("", cells);
}

static std::string heading(const options &wanted, const device &gpu, double best)
{
    const auto sizes = std::minmax_element(wanted.sizes.begin(), wanted.sizes.end());
    const std::string fewest = std::to_string(replays_of(wanted, *sizes.second)),
                      most = std::to_string(replays_of(wanted, *sizes.first));
    if (wanted.how == mode::errors) return gpu.name + ", data " + data_names[wanted.data];
    char limits[80];
    std::snprintf(limits, sizeof limits, ", peak %.0f GB/s, best read measured %.0f GB/s", gpu.peak,
                  best);
    return gpu.name + limits + ", data " + data_names[wanted.data] + ", inputs " +
           in_words(wanted.how) + ", " + (most == fewest ? most : fewest + " to " + most) +
           " replays";
}

static bool table(const options &wanted)
{
    const device gpu;
    const size_t most = *std::max_element(wanted.sizes.begin(), wanted.sizes.end());
    field inputs(gpu, most * sizeof(float), wanted.how, wanted.data);
    const scratch memory(workspace_for(wanted, inputs.floats));
    std::vector<contender> chosen = contenders(wanted, memory);
    double best = 0; /* of AUTO, over as much as there is */
    bool wrong = false;
    if (wanted.how != mode::errors) {
        inputs.set(inputs.floats - 1024);
        const contender automatic = ours(FASTREDUCE_AUTO, 0, memory);
        const timing whole = times_of({automatic}, inputs, gpu.stream, 5, "the best read")[0];
        best = 4e-3 * static_cast<double>(inputs.n) / whole.microseconds;
    }
    if (wanted.how == mode::after_producer) chosen = after_producer(chosen, gpu);
    printer print(wanted, heading(wanted, gpu, best));
    for (size_t n : wanted.sizes) {
        inputs.set(n);
        const exact_sums exact = sum_exactly(inputs.inputs, n);
        const auto times =
            times_of(chosen, inputs, gpu.stream, replays_of(wanted, n), name_of(wanted.how));
        for (size_t k = 0; k < chosen.size(); ++k) {
            float got;
            std::memcpy(&got, &times[k].result, sizeof got);
            const judgement j = judge(chosen[k], got, exact);
            wrong |= j.wrong;
            if (chosen[k].sums || wanted.how != mode::errors)
                print_row(wanted, print, gpu, best, n, chosen[k], times[k], got, j);
        }
    }
    return wrong;
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

static void take_kernel(const arguments &a, options &wanted)
{
    const std::string word = a.word;
    const size_t before = wanted.kernels.size();
    for (const char *name : {"v0", "v1", "v2", "v3", "v4", "v5", "v6", "v7", "auto", "exact", "cub",
                             "gpu_to_gpu", "thrust", "cublas", "copy"})
        if (word == "all" || word == name || (word == "ladder" && name[0] == 'v'))
            wanted.kernels.push_back(name);
    if (wanted.kernels.size() == before && word != "reduce")
        wrong_usage(&a, "not understood: ", a.word);
}

static options parse(char **argv)
{
    arguments a = arguments_of(argv);
    options wanted;
    wanted.modes = {mode::warm, mode::isolated, mode::after_producer, mode::errors};
    while (next_argument(&a, help))
        if (has_value(a, "block"))
            take_blocks(a, wanted);
        else if (has_value(a, "data"))
            take_data(a, wanted);
        else if (has_value(a, "n"))
            take_sizes(a, wanted.sizes);
        else if (!take_option(a, wanted))
            take_kernel(a, wanted);
    if (wanted.how == mode::errors && wanted.json) wrong_usage(&a, "--errors has no --json", "");
    const bool after = wanted.how == mode::after_producer;
    if (wanted.data < 0) wanted.data = wanted.how == mode::errors || after; /* positive, uniform */
    default_sizes(wanted, after ? 12 : 10, after ? 26 : 30);
    return wanted;
}

int main(int, char **argv)
{
    const options wanted = parse(argv);
    (void)count_gpus();
    const bool wrong = table(wanted);
    finish_output();
    return wrong;
}

/* The order of things on a GPU's stream: overlapped launches among a user's kernels, a capture
 * as the first call of a process, input in host and managed memory, and input that is written
 * while the sum already waits for it.
 *
 *     nvcc -O3 -std=c++17 -arch=native test_order.cu -o test_order && ./test_order
 *     test_order [quick] [capture] [chain] [edges] [memory] [release]
 *
 * quick is for a sanitizer; without a part's name all parts run.
 *
 * Nothing here waits without end: kernels give up after two seconds, the host after ten.
 */
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_TYPES FASTREDUCE_F32
#define FASTREDUCE_OPERATORS FASTREDUCE_SUM
#include "../../fastreduce.cuh"
#include "../common/check.h"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

constexpr fastreduce_kernel both[] = {FASTREDUCE_AUTO, FASTREDUCE_EXACT};
constexpr unsigned long long patience_ns = 2000000000ull; /* of a kernel */
static int host_patience = 10;                            /* seconds */
static bool quick = false;

/* ---- The user's kernels ---------------------------------------------------------------------- */

__device__ void allow_next()
{
#if __CUDA_ARCH__ >= 900 && CUDART_VERSION >= 12000
    cudaTriggerProgrammaticLaunchCompletion();
#endif
}

__device__ void wait_for_previous()
{
#if __CUDA_ARCH__ >= 900 && CUDART_VERSION >= 12000
    cudaGridDependencySynchronize();
#endif
}

__device__ unsigned long long now()
{
    unsigned long long ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
    return ns;
}

/* Float number i, in [-0.75, 1.25): sums are far from zero. */
__host__ __device__ inline float datum(unsigned long long i, unsigned long long seed)
{
    unsigned long long z =
        i * 0x9e3779b97f4a7c15ull + seed * 0xd1342543de82ef95ull + 0x632be59bd9b4e019ull;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93ull;
    z = (z ^ (z >> 32)) * 0xd6e8feb86659fd93ull;
    return static_cast<float>(static_cast<int>(z >> 40)) / (1 << 23) - 0.75f;
}

__global__ void fill(float *data, size_t n, unsigned long long seed)
{
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
         i += size_t(gridDim.x) * blockDim.x)
        data[i] = datum(i, seed);
}

/* Lets the next grid begin at once, and writes late. */
__global__ void write_late(unsigned *cell, unsigned value, unsigned long long nanoseconds)
{
    allow_next();
    const unsigned long long begin = now();
    while (now() - begin < nanoseconds) {
    }
    if (threadIdx.x == 0) *static_cast<volatile unsigned *>(cell) = value;
}

/* The two answers to what the cell holds: before and after the wait for the grid before. */
__global__ void read_twice(const unsigned *cell, unsigned *before, unsigned *after)
{
    *before = *static_cast<const volatile unsigned *>(cell);
    wait_for_previous();
    *after = *static_cast<const volatile unsigned *>(cell);
}

/* In the sum's place. Launched as usual, or overlapped and then either waits first or allows the
 * next grid first. */
enum class manner { usual, waits_first, allows_first };

__global__ void stand_in(const float *input, float *output, manner how)
{
    if (how == manner::allows_first) allow_next();
    if (how != manner::usual) wait_for_previous();
    if (how == manner::waits_first) allow_next();
    if (blockIdx.x == 0 && threadIdx.x == 0) *output = *input;
}

/* Lets the next grid begin at once, waits until the host sets the flag to this round, then
 * copies. Gives up in time. */
__global__ void copy_when_released(const volatile unsigned *flag, unsigned round,
                                   volatile unsigned *late, const float *from, float *to, size_t n)
{
    allow_next();
    if (threadIdx.x == 0) {
        const unsigned long long begin = now();
        while (*flag != round) {
            if (now() - begin > patience_ns) {
                *late = round;
                break;
            }
        }
        __threadfence_system();
    }
    __syncthreads();
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
         i += size_t(gridDim.x) * blockDim.x)
        to[i] = from[i];
}

/* Whether this build's kernels have overlapped launches: PTX of an older
 * architecture lacks the instructions. */
static bool has_overlap()
{
    cudaFuncAttributes compiled = {};
    CUDA(cudaFuncGetAttributes(&compiled, write_late));
    return compiled.ptxVersion >= 90 && CUDART_VERSION >= 12000;
}

/* ---- The host's side ------------------------------------------------------------------------- */

template <class... Parameters, class... Arguments>
static void launch(void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
                   cudaStream_t stream, bool overlapped, Arguments... arguments)
{
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(blocks);
    config.blockDim = dim3(threads);
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = overlapped ? 1 : 0;
    CUDA(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...));
}

using timer = std::chrono::steady_clock;

static double seconds_since(timer::time_point begin)
{
    return std::chrono::duration<double>(timer::now() - begin).count();
}

/* Instead of cudaStreamSynchronize, which would wait for ever for a sum that hangs. */
static void wait_for(cudaStream_t stream, const char *what)
{
    const timer::time_point begin = timer::now();
    for (cudaError_t state; (state = cudaStreamQuery(stream)) != cudaSuccess;) {
        if (state != cudaErrorNotReady) check::cuda(state, what);
        if (seconds_since(begin) < host_patience) continue;
        std::printf("FAIL: %s: still running after %d s\n", what, host_patience);
        std::fflush(stdout);
        std::_Exit(1);
    }
}

/* Sums on a stream with a workspace. */
struct summer {
    fastreduce_config config = {};
    float *one; /* where alone() writes */

    explicit summer(size_t most)
    {
        for (fastreduce_kernel kernel : both) {
            config.kernel = kernel;
            config.workspace_bytes =
                std::max(config.workspace_bytes, fastreduce_workspace_bytes(most, &config));
        }
        CUDA(cudaStreamCreateWithFlags(&config.stream, cudaStreamNonBlocking));
        CUDA(cudaMalloc(&config.workspace, config.workspace_bytes + 16));
        CUDA(cudaMemset(config.workspace, 0, config.workspace_bytes + 16));
        CUDA(cudaMalloc(reinterpret_cast<void **>(&one), sizeof(float)));
        CUDA(cudaDeviceSynchronize()); /* the stream does not wait for the default one */
    }
    ~summer()
    {
        CUDA(cudaFree(config.workspace));
        CUDA(cudaFree(one));
        CUDA(cudaStreamDestroy(config.stream));
    }
    summer(const summer &) = delete;
    summer &operator=(const summer &) = delete;

    fastreduce_status enqueue(fastreduce_kernel kernel, const float *input, size_t n, float *output)
    {
        config.kernel = kernel;
        const fastreduce_status status = fastreduce_sum_f32(input, output, n, &config);
        check::that(status == 0, "%s, n %zu: status %d", fastreduce_kernel_name(kernel), n, status);
        return status;
    }
    float alone(fastreduce_kernel kernel, const float *input, size_t n)
    {
        float result = 0;
        if (enqueue(kernel, input, n, one) != 0) return NAN;
        wait_for(config.stream, "a sum alone");
        CUDA(cudaMemcpy(&result, one, sizeof result, cudaMemcpyDeviceToHost));
        return result;
    }
};

static bool same(float a, float b) { return std::memcmp(&a, &b, sizeof a) == 0; }

static std::vector<float> on_host(size_t n, unsigned long long seed)
{
    std::vector<float> values(n);
    for (size_t i = 0; i < n; ++i) values[i] = datum(i, seed);
    return values;
}

/* ---- The first call of a process, captured --------------------------------------------------- */

/* In a process of its own. CUDA loads a kernel at its first use, here within the capture: so the
 * first kernel of this file, fill, comes after it. */
static int first_call(fastreduce_kernel kernel, size_t n)
{
    check::need_device();
    const char *const name = fastreduce_kernel_name(kernel);
    fastreduce_config config = {};
    float *input, *output;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t executable;
    config.kernel = kernel;
    config.workspace_bytes = fastreduce_workspace_bytes(n, &config);
    CUDA(cudaMalloc(reinterpret_cast<void **>(&input), n * sizeof(float)));
    CUDA(cudaMalloc(reinterpret_cast<void **>(&output), sizeof(float)));
    CUDA(cudaMalloc(&config.workspace, config.workspace_bytes + 16));
    CUDA(cudaMemset(config.workspace, 0, config.workspace_bytes + 16));
    CUDA(cudaDeviceSynchronize());
    CUDA(cudaStreamCreateWithFlags(&config.stream, cudaStreamNonBlocking));

    CUDA(cudaStreamBeginCapture(config.stream, cudaStreamCaptureModeGlobal));
    const fastreduce_status status = fastreduce_sum_f32(input, output, n, &config);
    const cudaError_t ended = cudaStreamEndCapture(config.stream, &graph);
    check::that(status == 0 && ended == cudaSuccess,
                "%s, n %zu: the first call, captured: status %d (%s), end of the capture: %s", name,
                n, status, fastreduce_status_string(status), cudaGetErrorString(ended));
    if (check::failures() != 0) return check::finish("first call");
    CUDA(cudaGraphInstantiateWithFlags(&executable, graph, 0));

    fill<<<1024, 256, 0, config.stream>>>(input, n, n);
    CUDA(cudaGetLastError());
    std::vector<float> got;
    for (int replay = 0; replay <= 3; ++replay) { /* the last is a call, no replay */
        float result;
        CUDA(cudaMemsetAsync(output, 0xff, sizeof(float), config.stream));
        if (replay < 3) CUDA(cudaGraphLaunch(executable, config.stream));
        if (replay == 3)
            check::that(fastreduce_sum_f32(input, output, n, &config) == 0, "a call after replays");
        wait_for(config.stream, "a replay");
        CUDA(cudaMemcpy(&result, output, sizeof result, cudaMemcpyDeviceToHost));
        got.push_back(result);
    }
    for (float result : got)
        check::that(same(result, got[3]), "%s, n %zu: a replay gave %.9g, a call %.9g", name, n,
                    static_cast<double>(result), static_cast<double>(got[3]));

    config.kernel = FASTREDUCE_EXACT;
    config.workspace = nullptr;
    float exact;
    check::that(fastreduce_sum_f32(input, output, n, &config) == 0, "exact");
    wait_for(config.stream, "exact");
    CUDA(cudaMemcpy(&exact, output, sizeof exact, cudaMemcpyDeviceToHost));
    /* magnitudes are 0.6 on average */
    const double bound =
        kernel == FASTREDUCE_EXACT ? 0 : check::auto_depth * std::ldexp(1.0, -24) * 0.6 * n;
    check::that(std::fabs(static_cast<double>(got[0]) - exact) <= bound,
                "%s, n %zu: %.9g, exactly %.9g", name, n, static_cast<double>(got[0]),
                static_cast<double>(exact));
    if (n <= size_t(1) << 22) {
        const float wanted = fastreduce_host_sum_f32(on_host(n, n).data(), n);
        check::that(same(exact, wanted), "exact, n %zu: %.9g, on the host %.9g", n,
                    static_cast<double>(exact), static_cast<double>(wanted));
    }
    std::printf("capture, %s, n %zu: first call captured, 3 replays gave %.9g, exact %.9g\n", name,
                n, static_cast<double>(got[0]), static_cast<double>(exact));
    return check::finish("first call");
}

/* This program again, as `test_order first-call KERNEL N`: its exit status. Before any CUDA call
 * of this process. */
static int process_of(fastreduce_kernel kernel, size_t n)
{
    const std::string number = std::to_string(n);
    const char *const arguments[] = {"test_order", "first-call",
                                     kernel == FASTREDUCE_EXACT ? "exact" : "auto", number.c_str(),
                                     nullptr};
    pid_t child;
    int status = 0;
    std::fflush(stdout);
    if (posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, const_cast<char **>(arguments),
                    environ) != 0)
        return -1;
    if (waitpid(child, &status, 0) != child || !WIFEXITED(status)) return -1;
    return WEXITSTATUS(status);
}

static void first_calls()
{
    unsetenv("CUDA_MODULE_LOADING"); /* lazy is the default */
    const struct {
        fastreduce_kernel kernel;
        size_t n;
    } cases[] = {{FASTREDUCE_AUTO, size_t(1) << (quick ? 20 : 27)},
                 {FASTREDUCE_EXACT, size_t(1) << (quick ? 20 : 22)},
                 {FASTREDUCE_EXACT, size_t(1) << (quick ? 12 : 27)}};
    for (const auto &c : cases) {
        const int status = process_of(c.kernel, c.n);
        if (status == 77) std::exit(77); /* it said why */
        check::that(status == 0, "%s, n %zu, first in its process: exit status %d",
                    fastreduce_kernel_name(c.kernel), c.n, status);
    }
}

/* ---- A chain of overlapped launches ---------------------------------------------------------- */

/* On one stream a kernel that allows the next early and writes late, a sum of other data, and a
 * kernel launched to overlap that reads what the first wrote. After its wait it must see that,
 * as the sum waited too. */
static void chain()
{
    if (!has_overlap()) {
        std::printf("chain: left out, this build has no overlapped launches for this GPU\n");
        return;
    }
    const unsigned rounds = quick ? 5 : 200;
    constexpr size_t most = size_t(1) << 20;
    const struct {
        const char *name;
        int kernel; /* or -1 */
        manner how;
    } middles[] = {{"auto", FASTREDUCE_AUTO, manner::usual},
                   {"exact", FASTREDUCE_EXACT, manner::usual},
                   {"a usual kernel", -1, manner::usual},
                   {"a kernel that waits, then allows", -1, manner::waits_first},
                   {"a kernel that allows, then waits", -1, manner::allows_first}};
    summer sums(most);
    const cudaStream_t stream = sums.config.stream;
    check::buffer<float> input(most), results(rounds);
    check::buffer<unsigned> cell(1), before(rounds), after(rounds);
    fill<<<256, 256>>>(input.data(), most, 1);
    CUDA(cudaGetLastError());
    cell.fill(0);
    CUDA(cudaDeviceSynchronize());
    for (const auto &middle : middles) {
        const fastreduce_kernel kernel =
            middle.kernel < 0 ? FASTREDUCE_AUTO : static_cast<fastreduce_kernel>(middle.kernel);
        for (size_t n : {size_t(1) << 12, most}) {
            if (middle.kernel < 0 && n == most) continue; /* n is nothing to it */
            const float wanted =
                middle.kernel < 0 ? datum(0, 1) : sums.alone(kernel, input.data(), n);
            const auto round = [&](unsigned value, unsigned r) {
                launch(write_late, 1, 32, stream, false, cell.data(), value, 200000ull);
                if (middle.kernel < 0)
                    launch(stand_in, 8, 256, stream, middle.how != manner::usual, input.data(),
                           results.data() + r, middle.how);
                else
                    sums.enqueue(kernel, input.data(), n, results.data() + r);
                launch(read_twice, 1, 1, stream, true, cell.data(), before.data() + r,
                       after.data() + r);
                wait_for(stream, "a chain");
            };
            round(~0u, 0); /* loads the kernels, so that the next rounds are enqueued in time */
            results.fill(0xff);
            CUDA(cudaDeviceSynchronize());
            for (unsigned r = 0; r < rounds; ++r) round(r + 1, r);
            const std::vector<unsigned> early = before.get(), late = after.get();
            const std::vector<float> got = results.get();
            unsigned old_before = 0, old_after = 0;
            for (unsigned r = 0; r < rounds; ++r) {
                old_before += early[r] != r + 1;
                old_after += late[r] != r + 1;
                check::that(same(got[r], wanted), "chain, %s, n %zu, round %u: %.9g, alone %.9g",
                            middle.name, n, r, static_cast<double>(got[r]),
                            static_cast<double>(wanted));
            }
            check::that(old_after == 0, "chain, %s, n %zu: %u of %u reads after the wait were old",
                        middle.name, n, old_after, rounds);
            if (middle.kernel >=
                0) /* what begins after a sum begins after all that came before the sum */
                check::that(old_before == 0,
                            "chain, %s, n %zu: %u of %u reads before the wait were old",
                            middle.name, n, old_before, rounds);
            std::printf("chain, %s%s: %u of %u reads before the wait were old, %u after it\n",
                        middle.name, middle.kernel < 0 ? "" : (", n " + std::to_string(n)).c_str(),
                        old_before, rounds, old_after);
        }
    }
}

/* ---- Input that is not in device memory ------------------------------------------------------ */

/* Pinned and managed memory, the latter first with its pages on the host: the same bits as from
 * device memory. */
static void memory_kinds()
{
    const size_t most = quick ? (size_t(1) << 20) + 3 : (size_t(1) << 27) + 5, floats = most + 1;
    summer sums(most);
    check::buffer<float> device(floats);
    float *pinned, *managed;
    CUDA(cudaMallocHost(reinterpret_cast<void **>(&pinned), floats * sizeof(float)));
    CUDA(cudaMallocManaged(reinterpret_cast<void **>(&managed), floats * sizeof(float)));
    fill<<<1024, 256>>>(device.data(), floats, 2);
    CUDA(cudaGetLastError());
    CUDA(cudaMemcpy(pinned, device.data(), device.bytes(), cudaMemcpyDeviceToHost));
    for (fastreduce_kernel kernel : both) {
        const char *const name = fastreduce_kernel_name(kernel);
        for (size_t n : {(size_t(1) << 14) + 1, (size_t(1) << 20) + 3, most}) {
            double milliseconds[3] = {};
            for (size_t offset : {size_t(0), size_t(1)}) {
                const float wanted = sums.alone(kernel, device.data() + offset, n);
                if (kernel == FASTREDUCE_EXACT && n <= size_t(1) << 21) {
                    const float host = fastreduce_host_sum_f32(pinned + offset, n);
                    check::that(same(wanted, host),
                                "exact, n %zu, offset %zu: %.9g, on the host %.9g", n, offset,
                                static_cast<double>(wanted), static_cast<double>(host));
                }
                if (offset == 0) std::memcpy(managed, pinned, (n + 1) * sizeof(float));
                const char *const kinds[] = {"pinned", "managed", "managed, again"};
                for (int kind = 0; kind < 3; ++kind) {
                    const timer::time_point begin = timer::now();
                    const float got =
                        sums.alone(kernel, (kind == 0 ? pinned : managed) + offset, n);
                    if (offset == 0) milliseconds[kind] = 1e3 * seconds_since(begin);
                    check::that(same(got, wanted),
                                "%s, n %zu, offset %zu, %s memory: %.9g, from device memory %.9g",
                                name, n, offset, kinds[kind], static_cast<double>(got),
                                static_cast<double>(wanted));
                }
            }
            std::printf("memory, %s, n %zu: pinned %.2f ms, managed %.2f ms with its pages on the "
                        "host, then %.2f ms\n",
                        name, n, milliseconds[0], milliseconds[1], milliseconds[2]);
        }
    }
    CUDA(cudaFreeHost(pinned));
    CUDA(cudaFree(managed));
}

/* ---- Input that is written while the sum waits ----------------------------------------------- */

/* The kernel before the sum waits for the host, so that the sum, launched to overlap, has asked for
 * its first lines of old data when the new are written: by the host (pinned), or by that kernel. */
static void released(summer &sums, fastreduce_kernel kernel, size_t n, bool pinned,
                     volatile unsigned *words, float *result)
{
    constexpr unsigned kinds = 4;
    const unsigned rounds = quick ? 5 : 200;
    const char *const name = fastreduce_kernel_name(kernel), *const where =
                                                                 pinned ? "pinned" : "device";
    const cudaStream_t stream = sums.config.stream;
    volatile unsigned *const flag = words, *const late = words + 1;
    check::buffer<float> sets(kinds * n), in_device(n);
    std::vector<float> values[kinds];
    float wanted[kinds], *input = in_device.data();
    if (pinned) CUDA(cudaMallocHost(reinterpret_cast<void **>(&input), n * sizeof(float)));
    for (unsigned k = 0; k < kinds; ++k) {
        values[k] = on_host(n, 10 + k);
        CUDA(cudaMemcpy(sets.data() + k * n, values[k].data(), n * sizeof(float),
                        cudaMemcpyHostToDevice));
        CUDA(cudaDeviceSynchronize());
        wanted[k] = sums.alone(kernel, sets.data() + k * n, n);
        const float exact = fastreduce_host_sum_f32(values[k].data(), n);
        check::that(kernel == FASTREDUCE_EXACT
                        ? same(wanted[k], exact)
                        : std::fabs(wanted[k] - exact) <= 1e-5 * static_cast<double>(n),
                    "%s, n %zu alone: %.9g, exactly %.9g", name, n, static_cast<double>(wanted[k]),
                    static_cast<double>(exact));
        check::that(k == 0 || wanted[k] != wanted[k - 1], "two data sets have one sum");
    }
    CUDA(cudaMemcpy(input, sets.data(), n * sizeof(float), cudaMemcpyDefault));
    CUDA(cudaDeviceSynchronize());
    *flag = *late = 0;
    unsigned wrong = 0, done = 0;
    for (unsigned r = 1; r <= rounds; ++r, ++done) {
        const unsigned k = r % kinds;
        *result = NAN;
        launch(copy_when_released, pinned ? 1 : 32, 256, stream, false, flag, r, late,
               sets.data() + k * n, input, pinned ? 0 : n);
        const fastreduce_status status = sums.enqueue(kernel, input, n, result);
        const timer::time_point begin = timer::now();
        while (seconds_since(begin) < 50e-6) { /* for the sum to begin */
        }
        if (pinned) std::memcpy(input, values[k].data(), n * sizeof(float));
        std::atomic_thread_fence(std::memory_order_seq_cst);
        *flag = r;
        wait_for(stream, "a sum after a kernel that was released");
        if (*late == r) { /* a sanitizer may launch nothing beside a running kernel */
            check::that(quick,
                        "release, %s, n %zu, %s memory, round %u: the launch waited for the kernel",
                        name, n, where, r);
            break;
        }
        if (!check::that(status == 0 && same(*result, wanted[k]),
                         "release, %s, n %zu, %s memory, round %u: %.9g, not %.9g; the old data's "
                         "sum is %.9g",
                         name, n, where, r, static_cast<double>(*result),
                         static_cast<double>(wanted[k]),
                         static_cast<double>(wanted[(r - 1) % kinds])))
            ++wrong;
    }
    std::printf("release, %s, n %zu, %s memory: %u of %u rounds done, %u wrong\n", name, n, where,
                done, rounds, wrong);
    if (pinned) CUDA(cudaFreeHost(input));
}

static void releases()
{
    summer sums(size_t(1) << 20);
    void *words;
    float *result;
    CUDA(cudaMallocHost(&words, 2 * sizeof(unsigned)));
    CUDA(cudaMallocHost(reinterpret_cast<void **>(&result), sizeof(float)));
    /* loads the kernel: nothing is loaded while one waits for the host */
    *static_cast<volatile unsigned *>(words) = 1;
    launch(copy_when_released, 1, 32, sums.config.stream, false,
           static_cast<const unsigned *>(words), 1u, static_cast<unsigned *>(words) + 1, nullptr,
           nullptr, 0);
    wait_for(sums.config.stream, "the first release");
    for (fastreduce_kernel kernel : both)
        for (size_t n : {size_t(1) << 12, size_t(1) << 16, size_t(1) << 20})
            for (bool pinned : {true, false})
                released(sums, kernel, n, pinned, static_cast<volatile unsigned *>(words), result);
    CUDA(cudaFreeHost(words));
    CUDA(cudaFreeHost(result));
}

#if CUDART_VERSION >= 13000
/* Two captured calls have one edge, which is programmatic where they may overlap: then it is lost
 * without edge data, as fastreduce.h says. */
static void edges()
{
    const bool overlaps = has_overlap() && fastreduce::detail::toolkit_knows_hopper;
    summer sums(1000);
    cudaGraph_t graph;
    cudaGraphNode_t from[2], to[2];
    cudaGraphEdgeData data[2] = {};
    size_t count = 2, with_data = 2;
    CUDA(cudaMemset(sums.one, 0, sizeof(float)));
    CUDA(cudaStreamBeginCapture(sums.config.stream, cudaStreamCaptureModeThreadLocal));
    for (fastreduce_kernel kernel : both) sums.enqueue(kernel, sums.one, 0, sums.one);
    CUDA(cudaStreamEndCapture(sums.config.stream, &graph));
    const cudaError_t plain = cudaGraphGetEdges(graph, from, to, nullptr, &count);
    (void)cudaGetLastError();
    CUDA(cudaGraphGetEdges(graph, from, to, data, &with_data));
    check::that(plain == (overlaps ? cudaErrorLossyQuery : cudaSuccess) && with_data == 1 &&
                    data[0].type == (overlaps ? cudaGraphDependencyTypeProgrammatic
                                              : cudaGraphDependencyTypeDefault),
                "edges: %s without data, %zu with data, the first of type %d",
                cudaGetErrorName(plain), with_data, static_cast<int>(data[0].type));
    CUDA(cudaGraphDestroy(graph));
}
#endif

int main(int argc, char **argv)
{
    std::vector<std::string> parts;
    std::setvbuf(stdout, nullptr, _IOLBF, 0); /* for what was said before an alarm */
    if (argc == 4 && std::strcmp(argv[1], "first-call") == 0) {
        alarm(100); /* the last resort: a CUDA call that does not come back */
        return first_call(std::strcmp(argv[2], "exact") == 0 ? FASTREDUCE_EXACT : FASTREDUCE_AUTO,
                          std::strtoull(argv[3], nullptr, 10));
    }
    for (int i = 1; i < argc; ++i) {
        if (std::strcmp(argv[i], "quick") == 0)
            quick = true;
        else
            parts.push_back(argv[i]);
    }
    if (quick) host_patience = 200;
    alarm(quick ? 900 : 120);
    const auto wanted = [&parts](const char *part) {
        return parts.empty() || std::find(parts.begin(), parts.end(), part) != parts.end();
    };
    const timer::time_point begin = timer::now();
    if (wanted("capture")) first_calls();
    check::need_device();
    if (wanted("chain")) chain();
#if CUDART_VERSION >= 13000
    if (wanted("edges") && !quick) edges(); /* a sanitizer would report the error */
#endif
    if (wanted("memory")) memory_kinds();
    if (wanted("release")) releases();
    std::printf("%.1f s\n", seconds_since(begin));
    return check::finish("order");
}

/* Two objects of one program with a copy of FastReduce each (FASTREDUCE_STATIC), compiled for
 * different architectures, of which only the newer knows overlapped launches: neither may run
 * the other's code or go by the other's facts. Their sums follow each other on one stream with
 * one workspace, and are the same, AUTO's too, whose kernels differ.
 *
 *     nvcc -O3 -std=c++17 -gencode arch=compute_80,code=compute_80 -DCOPY=80 -c copies_part.cu \
 *         -o copy_80.o
 *     nvcc -O3 -std=c++17 -arch=sm_90 -DCOPY=90 -c copies_part.cu -o copy_90.o
 *     nvcc -O3 -std=c++17 -arch=sm_90 test_copies.cu copy_80.o copy_90.o -o test_copies
 *     ./test_copies
 *
 * and again with copy_90.o before copy_80.o, as a linker keeps the first of what both define.
 * Two processes: in one the older copy is the first to be called, in the other the newer, as the
 * first may find out facts for both.
 *
 *     test_copies [quick]     quick for a sanitizer
 */
#define FASTREDUCE_HOST_IMPLEMENTATION
#include "../../fastreduce.h"
#include "../common/check.h"
#include <algorithm>
#include <chrono>
#include <sys/wait.h>
#include <unistd.h>

extern "C" fastreduce_status sum_80(const float *, float *, size_t, const fastreduce_config *);
extern "C" fastreduce_status sum_90(const float *, float *, size_t, const fastreduce_config *);
extern "C" size_t workspace_bytes_80(size_t, const fastreduce_config *);
extern "C" size_t workspace_bytes_90(size_t, const fastreduce_config *);

constexpr int calls = 4; /* of a round: AUTO and EXACT of one copy, then of the other */
struct call {
    const char *name;
    fastreduce_status (*sum)(const float *, float *, size_t, const fastreduce_config *);
    fastreduce_kernel kernel;
};
static const call older_first[calls] = {{"auto, copy for 8.0", sum_80, FASTREDUCE_AUTO},
                                        {"exact, copy for 8.0", sum_80, FASTREDUCE_EXACT},
                                        {"auto, copy for 9.0", sum_90, FASTREDUCE_AUTO},
                                        {"exact, copy for 9.0", sum_90, FASTREDUCE_EXACT}};

static const call newer_first[calls] = {older_first[2], older_first[3], older_first[0],
                                        older_first[1]};
static const call *call_of = older_first;

static int patience = 10; /* seconds */

static double now()
{
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch())
        .count();
}

/* Instead of cudaStreamSynchronize: sums that spoil each other's workspace may wait for ever. */
static void wait_for(cudaStream_t stream, const char *what)
{
    const double begin = now();
    for (cudaError_t state; (state = cudaStreamQuery(stream)) != cudaSuccess;) {
        if (state != cudaErrorNotReady) check::cuda(state, what);
        if (now() - begin < patience) continue;
        std::printf("FAIL: %s: still running after %d s\n", what, patience);
        std::fflush(stdout);
        std::_Exit(1);
    }
}

/* A user's kernel that lets the next grid begin at once, and writes the input late. */
__global__ void copy_late(const float *from, float *to, size_t n)
{
#if __CUDA_ARCH__ >= 900 && CUDART_VERSION >= 12000
    cudaTriggerProgrammaticLaunchCompletion();
#endif
    unsigned long long begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin)::"memory");
    do {
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now)::"memory");
    } while (now - begin < 10000);
    for (size_t i = blockIdx.x * size_t(blockDim.x) + threadIdx.x; i < n;
         i += size_t(gridDim.x) * blockDim.x)
        to[i] = from[i];
}

/* Rounds of four sums each, with one input; or, rewritten, with one that copy_late writes before
 * each, this data and that in turns. Results are compared with those that each call gave alone.
 * Stops after a batch with a wrong one. */
static void rounds_of(size_t n, unsigned rounds, bool rewritten)
{
    constexpr unsigned batch = 500;
    fastreduce_config config = {};
    for (int c = 0; c < calls; ++c) {
        config.kernel = call_of[c].kernel;
        for (const auto bytes : {workspace_bytes_80, workspace_bytes_90})
            config.workspace_bytes = std::max(config.workspace_bytes, bytes(n, &config));
    }
    check::buffer<unsigned char> workspace(config.workspace_bytes + 16);
    check::buffer<float> input(n), data(2 * n), results(batch * calls);
    workspace.fill(0);
    config.workspace = workspace.data();
    CUDA(cudaStreamCreateWithFlags(&config.stream, cudaStreamNonBlocking));

    float wanted[2][calls];
    for (int k = 1; k >= 0; --k) { /* the input is left with the data of 0 */
        const std::vector<float> values =
            check::make(check::data::uniform, n, 40 + static_cast<unsigned>(k));
        const float exact = fastreduce_host_sum_f32(values.data(), n);
        CUDA(cudaMemcpy(data.data() + k * n, values.data(), n * sizeof(float),
                        cudaMemcpyHostToDevice));
        input.set(values);
        CUDA(cudaDeviceSynchronize());
        for (int c = 0; c < calls; ++c) {
            config.kernel = call_of[c].kernel;
            const fastreduce_status status =
                call_of[c].sum(input.data(), results.data(), n, &config);
            wait_for(config.stream, call_of[c].name);
            CUDA(cudaMemcpy(&wanted[k][c], results.data(), sizeof(float), cudaMemcpyDeviceToHost));
            const bool right = config.kernel == FASTREDUCE_EXACT
                                   ? std::memcmp(&wanted[k][c], &exact, sizeof exact) == 0
                                   : check::plausible_sum(values, check::data::uniform,
                                                          wanted[k][c], check::auto_depth);
            check::that(status == 0 && right, "%s alone, n %zu: status %d, %.9g, exactly %.9g",
                        call_of[c].name, n, status, static_cast<double>(wanted[k][c]),
                        static_cast<double>(exact));
        }
        for (int c = 0; c < 2; ++c)
            check::that(std::memcmp(&wanted[k][c], &wanted[k][c + 2], sizeof(float)) == 0,
                        "n %zu: %s %.9g, %s %.9g", n, call_of[c].name,
                        static_cast<double>(wanted[k][c]), call_of[c + 2].name,
                        static_cast<double>(wanted[k][c + 2]));
        if (k == 0)
            for (int c = 0; c < calls; ++c)
                check::that(wanted[0][c] != wanted[1][c], "both data have one sum");
    }

    unsigned done = 0;
    unsigned long long wrong[calls] = {}, before = check::failures();
    std::vector<fastreduce_status> statuses(batch * calls);
    const double begin = now();
    while (done < rounds && check::failures() == before) {
        const unsigned now_done = std::min(batch, rounds - done);
        results.fill(0xff);
        CUDA(cudaDeviceSynchronize()); /* the stream does not wait for the default one */
        for (unsigned r = 0; r < now_done; ++r)
            for (unsigned c = 0; c < calls; ++c) {
                if (rewritten) {
                    copy_late<<<16, 256, 0, config.stream>>>(data.data() + c % 2 * n, input.data(),
                                                             n);
                    CUDA(cudaGetLastError());
                }
                config.kernel = call_of[c].kernel;
                statuses[r * calls + c] =
                    call_of[c].sum(input.data(), results.data() + r * calls + c, n, &config);
            }
        wait_for(config.stream, "a batch of rounds");
        const std::vector<float> got = results.get();
        for (unsigned r = 0; r < now_done; ++r)
            for (unsigned c = 0; c < calls; ++c) {
                const float right = wanted[rewritten ? c % 2 : 0][c], sum = got[r * calls + c];
                wrong[c] += !check::that(
                    statuses[r * calls + c] == 0 && std::memcmp(&sum, &right, sizeof sum) == 0,
                    "%s, n %zu%s, round %u: status %d, %.9g, alone %.9g", call_of[c].name, n,
                    rewritten ? ", rewritten" : "", done + r, statuses[r * calls + c],
                    static_cast<double>(sum), static_cast<double>(right));
            }
        done += now_done;
    }
    check::that(workspace.every_byte_is(0), "n %zu: workspace left dirty", n);
    std::printf(
        "copies, %s first, n %zu%s: %u of %u rounds, %.2f s; wrong: %llu, %llu, %llu, %llu\n",
        call_of == newer_first ? "9.0" : "8.0", n, rewritten ? ", rewritten" : "", done, rounds,
        now() - begin, wrong[0], wrong[1], wrong[2], wrong[3]);
    CUDA(cudaStreamDestroy(config.stream));
}

int main(int argc, char **argv)
{
    const bool quick = argc > 1 && std::strcmp(argv[1], "quick") == 0;
    int device, major, other_status = 0;
    std::setvbuf(stdout, nullptr, _IOLBF, 0); /* for what was said before an alarm */
    const pid_t other = fork();               /* before the first CUDA call */
    if (other < 0) return 1;
    /* the last resort: a CUDA call that does not come back */
    const unsigned seconds = quick ? 900 : 100;
    alarm(other == 0 ? seconds : 2 * seconds + 10);
    if (quick) patience = 200;
    if (other == 0)
        call_of = newer_first;
    else if (waitpid(other, &other_status, 0) == other && WIFEXITED(other_status) &&
             WEXITSTATUS(other_status) == 77)
        return 77; /* it said why */
    check::need_device();
    CUDA(cudaGetDevice(&device));
    CUDA(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device));
    if (major < 9) {
        std::printf("SKIP: one copy is for compute capability 9.0\n");
        return 77;
    }
    /* one block of AUTO; several; EXACT with more shared memory; the copy engine */
    const size_t small = 5000, middle = (size_t(1) << 16) + 5, wide = (size_t(1) << 21) + 3;
    const size_t large = (size_t(1) << 26) + 5;
    for (size_t n : {small, middle}) {
        rounds_of(n, quick ? 20 : 100000, false);
        rounds_of(n, quick ? 20 : 10000, true);
    }
    rounds_of(wide, quick ? 5 : 10000, false);
    rounds_of(wide, quick ? 5 : 1000, true);
    if (!quick) rounds_of(large, 100, false);
    check::that(other_status == 0,
                "the process that calls the newer copy first ended with status %d", other_status);
    return check::finish(other == 0 ? "copies, the newer called first"
                                    : "copies, the older called first");
}

/* The CPU machine itself: kernels that are wrong on purpose must be reported, with file and
 * line; right ones must not; counts are those of the textbook; failures of the runtime can be
 * made to happen. */
#include <cuda_runtime.h>
#include <sys/wait.h>
#include "../common/check.h"

namespace kernels
{
extern __shared__ __align__(16) unsigned char bytes[];
SIMT_DYNAMIC_SHARED(bytes)

/* The line of the wrong statement, set right before it. */
static int marked;
#define MARK marked = __LINE__ + 1

template <class T>
static T *shared()
{
    return reinterpret_cast<T *>(bytes);
}

/* The tree that the wrong ones are made from. */
template <class T>
__global__ void right(const T *in, T *out)
{
    T *s = shared<T>();
    const unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

template <class T>
__global__ void no_barrier_after_load(const T *in, T *out)
{
    T *s = shared<T>();
    const unsigned t = threadIdx.x;
    MARK;
    s[t] = in[blockIdx.x * blockDim.x + t];
    for (unsigned k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

/* All threads add to one word, of shared and then of global memory. */
template <class T>
__global__ void atomics(const T *in, T *out)
{
    T *s = shared<T>();
    if (threadIdx.x == 0) s[0] = 0.0f;
    if (threadIdx.x == 0) out[blockIdx.x] = 0.0f;
    __syncthreads();
    atomicAdd(s, in[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x % 2 == 0) atomicAdd(out + blockIdx.x, threadIdx.x == 0 ? s[0] + 1 : T(0.0f));
    if (threadIdx.x == 1) atomicAdd(&out[blockIdx.x], -1);
}

template <class T>
__global__ void atomics_and_a_read(const T *, T *out)
{
    T *s = shared<T>();
    if (threadIdx.x == 0) s[0] = 0.0f;
    __syncthreads();
    atomicAdd(s, 1);
    MARK;
    if (threadIdx.x == 5) out[0] = s[0];
}

template <class T>
__global__ void atomics_on_nothing(const T *, T *)
{
    MARK;
    atomicAdd(shared<T>(), 1);
}

template <class T>
__global__ void no_barrier_in_loop(const T *in, T *out)
{
    T *s = shared<T>();
    const unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned k = blockDim.x / 2; k > 0; k /= 2) {
        MARK;
        if (t < k) s[t] += s[t + k];
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

template <class T>
__global__ void warp_in_lock_step(const T *in, T *out)
{
    T *s = shared<T>();
    const unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    if (t < 32) {
        for (unsigned k = 16; k > 0;
             k /= 2) { /* right where warps run in lock-step, of which Pascal was the last */
            MARK;
            s[t] += s[(t + k) % 32];
        }
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

/* The same as old code has it. */
template <class T>
__global__ void volatile_warp(const T *in, T *out)
{
    volatile T *s = shared<T>();
    const unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned k = 16; t < 32 && k > 0; k /= 2) {
        MARK;
        s[t] += s[(t + k) % 32];
    }
    if (t == 0) out[blockIdx.x] = s[0];
}

/* Each step between two meetings of a half warp: ordered within the halves, which share nothing. */
template <class T>
__global__ void half_warps(const T *in, T *out)
{
    T *s = shared<T>();
    const unsigned t = threadIdx.x, half = t % 32 < 16 ? 0xffffu : 0xffff0000u;
    s[t] = in[t];
    for (unsigned k = 8; k > 0; k /= 2) {
        __syncwarp(half);
        if (t % 16 < k) s[t] += s[t + k];
    }
    if (t % 16 == 0) out[t / 16] = s[t];
}

/* Reads of a neighbour, a meeting, then writes: ordered the other way round. */
template <class T>
__global__ void rotate(const T *in, T *out)
{
    T *s = shared<T>();
    const unsigned t = threadIdx.x;
    s[t] = in[t];
    __syncwarp();
    for (unsigned k = 0; k < 3; ++k) {
        const T next = s[t / 32 * 32 + (t + 1) % 32];
        __syncwarp();
        s[t] = next;
        __syncwarp();
    }
    out[t] = s[t];
}

/* The same, but lanes meet in the wrong halves: no order between those that share. */
template <class T>
__global__ void wrong_mask(const T *in, T *out)
{
    T *s = shared<T>();
    const unsigned t = threadIdx.x, even = t % 2 ? 0xaaaaaaaau : 0x55555555u;
    s[t] = in[t];
    __syncwarp(even);
    MARK;
    if (t % 2 == 0) s[t] += s[t + 1];
    if (t == 0) out[0] = s[0];
}

template <class T>
__global__ void barrier_in_branch(const T *in, T *out)
{
    T *s = shared<T>();
    const unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    for (unsigned k = blockDim.x / 2; k > 0; k /= 2) {
        if (t < k) {
            s[t] += s[t + k];
            MARK;
            __syncthreads();
        }
    }
    __syncthreads();
    if (t == 0) out[blockIdx.x] = s[0];
}

template <class T>
__global__ void shuffle_by_half(const T *in, T *out)
{
    T v = in[threadIdx.x];
    MARK;
    if (threadIdx.x % 32 < 16) v = __shfl_down_sync(0xffffffffu, v, 8);
    __syncthreads();
    if (threadIdx.x == 0) out[0] = v;
}

template <class T>
__global__ void shuffle_from_stranger(const T *in, T *out)
{
    T v = in[threadIdx.x];
    MARK;
    if (threadIdx.x < 16) v = __shfl_down_sync(0xffffu, v, 8);
    if (threadIdx.x == 0) out[0] = v;
}

template <class T>
__global__ void not_in_mask(const T *in, T *out)
{
    MARK;
    out[threadIdx.x] = __shfl_sync(0xffffu, in[threadIdx.x], 0);
}

template <class T>
__global__ void masks_differ(const T *in, T *out)
{
    const unsigned t = threadIdx.x;
    const unsigned mask = t < 16 ? 0xffffffffu : 0xffff0001u | 1u << t;
    MARK;
    __syncwarp(mask);
    out[t] = in[t];
}

template <class T>
__global__ void uninitialised(const T *in, T *out)
{
    T *s = shared<T>();
    const unsigned t = threadIdx.x;
    if (t != 5) s[t] = in[t];
    __syncthreads();
    MARK;
    out[t] = s[t];
}

template <class T>
__global__ void shared_bounds(const T *in, T *out)
{
    T *s = shared<T>();
    const unsigned t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    MARK;
    out[t] = s[t + 1];
}

template <class T>
__global__ void global_bounds(const T *in, T *out)
{
    MARK;
    out[threadIdx.x] = in[blockDim.x * gridDim.x + threadIdx.x + 1];
}

template <class T>
__global__ void global_before(const T *in, T *out)
{
    MARK;
    out[0] = in[-1 - static_cast<int>(threadIdx.x)];
}

template <class T>
__global__ void leaves_early(const T *in, T *out)
{ /* exited threads are not waited for */
    T *s = shared<T>();
    const unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads();
    if (t >= 32) return;
    for (unsigned k = t + 32; k < blockDim.x; k += 32) s[t] += s[k];
    for (unsigned k = 16; k > 0; k /= 2) {
        __syncwarp();
        if (t < k) s[t] += s[t + k];
    }
    if (t >= 1) return;
    __syncthreads();
    out[blockIdx.x] = s[0];
}

/* Barriers that ask all threads, each for itself. */
template <class T>
__global__ void asks_all(const T *in, T *out)
{
    T *s = shared<T>();
    const unsigned t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    const bool last = __syncthreads_or(t == blockDim.x - 1), none = __syncthreads_or(false),
               first = __syncthreads_or(t == 0 ? 2 : 0);
    if (t >= 1) return;
    for (unsigned k = 1; k < blockDim.x; ++k)
        if (last && first && !none) s[0] += s[k];
    out[blockIdx.x] = s[0];
}

/* A thread of the last block spins until every other block has published. */
template <class T>
__global__ void waits(const T *in, T *out)
{
    if (blockIdx.x + 1 < gridDim.x) {
        if (threadIdx.x == 0) out[1 + blockIdx.x] = in[blockIdx.x];
        return;
    }
    volatile unsigned char *flag = shared<unsigned char>();
    if (threadIdx.x == 0) {
        while (*flag != 1) simt::yield();
        out[0] = in[0];
    }
    if (threadIdx.x == 40) *flag = 1;
}

template <class T>
__global__ void waits_forever(const T *in, T *out)
{
    volatile unsigned char *flag = shared<unsigned char>();
    if (threadIdx.x < 3)
        while (*flag != 1) simt::yield();
    __syncthreads();
    out[0] = in[0];
}

/* Threads take turns, many times, by a counter: no barrier, and no deadlock either, unless the
 * counter stands still. */
template <class T, unsigned Step>
__global__ void turns(const T *in, T *out)
{
    unsigned *counter = shared<unsigned>();
    if (threadIdx.x == 0) *counter = 0;
    __syncthreads();
    for (unsigned k = 0; k < 300; ++k) {
        while (*static_cast<volatile unsigned *>(counter) % blockDim.x != threadIdx.x)
            simt::yield();
        atomicAdd(counter, Step);
    }
    out[threadIdx.x] = in[threadIdx.x];
}

/* Textbook counts. */
template <class T>
__global__ void interleaved(const T *in, T *out)
{
    T *s = shared<T>();
    const unsigned t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (unsigned k = 1; k < blockDim.x; k *= 2) {
        if (t % (2 * k) == 0) s[t] += s[t + k];
        __syncthreads();
    }
    if (t == 0) out[0] = s[0];
}
template <class T>
__global__ void strided(const T *in, T *out)
{
    T *s = shared<T>();
    const unsigned t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    for (unsigned k = 1; k < blockDim.x; k *= 2) {
        if (2 * k * t < blockDim.x) s[2 * k * t] += s[2 * k * t + k];
        __syncthreads();
    }
    if (t == 0) out[0] = s[0];
}

/* Static shared memory: of the kernel, and of a member of a class template that it uses. The result
 * is what the last thread of the warp has written. */
template <unsigned Bytes>
__global__ void holds(unsigned *out)
{
    __shared__ unsigned char mine[Bytes];
    mine[threadIdx.x] = static_cast<unsigned char>(threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) *out = mine[31];
}

template <unsigned Bytes>
struct holder {
    static __device__ unsigned turned(unsigned value)
    {
        __shared__ unsigned char members[Bytes];
        members[threadIdx.x] = static_cast<unsigned char>(value);
        __syncthreads();
        return members[31 - threadIdx.x];
    }
};
template <class Holder>
__global__ void holds_by_class(unsigned *out)
{
    __shared__ unsigned short mine[32];
    mine[threadIdx.x] = static_cast<unsigned short>(Holder::turned(threadIdx.x));
    __syncthreads();
    if (threadIdx.x == 0) *out = mine[0];
}

/* What a block finds in static shared memory, before it leaves something there. */
__global__ void finds(unsigned *out)
{
    __shared__ unsigned left[2];
    out[blockIdx.x] = left[1];
    left[1] = 7;
}
} // namespace kernels

using element = simt::traced<float>;
template <class T>
using kernel = void (*)(const T *, T *);

constexpr unsigned threads = 256, blocks = 4; /* 4096 bytes of floats: guard pages on either side */

/* Runs a kernel on 4 x 256 elements, or one block of `block`; the status. */
template <class T>
static cudaError_t run(kernel<T> k, std::vector<float> *result = nullptr, unsigned grid = blocks,
                       unsigned block = threads)
{
    const std::vector<float> values = check::make(check::data::integers, threads * blocks, 3);
    T *in, *out;
    CUDA(cudaMalloc(reinterpret_cast<void **>(&in), grid * block * sizeof(T)));
    CUDA(cudaMalloc(reinterpret_cast<void **>(&out), threads * sizeof(T)));
    std::memcpy(static_cast<void *>(in), values.data(), grid * block * sizeof(T));
    const T *const_in = in;
    void *arguments[] = {&const_in, &out};
    const cudaError_t error =
        cudaLaunchKernel(k, dim3(grid), dim3(block), arguments, block * sizeof(T), nullptr);
    if (result) {
        result->resize(threads);
        std::memcpy(static_cast<void *>(result->data()), static_cast<void *>(out),
                    threads * sizeof(float));
    }
    CUDA(cudaFree(in));
    CUDA(cudaFree(out));
    return error;
}

static const simt::order orders[] = {simt::order::forward, simt::order::reverse,
                                     simt::order::random};

/* Reported under every schedule, by a sentence that begins with `kind` and names the line. */
static void wrong(const char *name, kernel<element> k, const char *kind, unsigned block = threads)
{
    for (simt::order schedule : orders) {
        simt::settings().schedule = schedule;
        simt::settings().trace = true;
        const cudaError_t error = run(k, nullptr, 1, block);
        const std::string report = simt::report();
        const std::string where = "test_simt.cpp:" + std::to_string(kernels::marked);
        check::that(error == cudaErrorLaunchFailure && report.find(kind) != std::string::npos &&
                        report.find(where) != std::string::npos,
                    "%s: expected '%s' at %s, got status %d, '%s'", name, kind, where.c_str(),
                    error, report.c_str());
    }
    simt::settings() = simt::options();
}

static float sum_of_block(unsigned b)
{
    const std::vector<float> values = check::make(check::data::integers, threads * blocks, 3);
    float sum = 0;
    for (unsigned i = 0; i < threads; ++i) sum += values[b * threads + i];
    return sum;
}

/* Not reported, and the sums are right, traced and untraced. */
template <class T>
static void right(const char *name, kernel<T> k)
{
    for (simt::order schedule : orders) {
        for (bool trace : {false, true}) {
            simt::settings().schedule = schedule;
            simt::settings().trace = trace;
            std::vector<float> result;
            const cudaError_t error = run(k, &result);
            check::that(error == cudaSuccess && simt::report().empty(), "%s: status %d, '%s'", name,
                        error, simt::report().c_str());
            for (unsigned b = 0; b < blocks; ++b)
                check::that(result[b] == sum_of_block(b), "%s: block %u gave %g", name, b,
                            static_cast<double>(result[b]));
        }
    }
    simt::settings() = simt::options();
}

static void wrong_kernels()
{
    using namespace kernels;
    wrong("no barrier after the load", no_barrier_after_load<element>, "race");
    wrong("no barrier in the loop", no_barrier_in_loop<element>, "race");
    wrong("a warp in lock-step", warp_in_lock_step<element>, "race");
    wrong("a warp in lock-step, volatile", volatile_warp<element>, "race");
    wrong("a mask of the wrong lanes", wrong_mask<element>, "race", 32);
    wrong("atomics, and a read beside them", atomics_and_a_read<element>, "race");
    wrong("atomics on what nobody wrote", atomics_on_nothing<element>, "uninitialised");
    wrong("a barrier in a branch", barrier_in_branch<element>, "barrier");
    wrong("a shuffle by half a warp", shuffle_by_half<element>, "deadlock");
    wrong("a shuffle from a stranger", shuffle_from_stranger<element>, "takes no part", 32);
    wrong("not in its own mask", not_in_mask<element>, "not in its own mask", 32);
    wrong("masks that differ", masks_differ<element>, "mask", 32);
    wrong("an uninitialised read", uninitialised<element>, "uninitialised");
    wrong("past shared memory", shared_bounds<element>, "out of bounds");
    wrong("past global memory", global_bounds<element>, "out of bounds");
    wrong("before global memory", global_before<element>, "out of bounds");
}

/* Without tracing a wild access ends the process; so does a small one past the end, when the
 * memory is freed. */
static void untraced_bounds()
{
    const auto child = [](auto work, const char *wanted) {
        int ends[2];
        if (pipe(ends) != 0) return false;
        const pid_t process = fork();
        if (process == 0) {
            dup2(ends[1], STDERR_FILENO);
            work();
            _exit(0);
        }
        close(ends[1]);
        std::string text;
        char buffer[512];
        for (ssize_t got; (got = read(ends[0], buffer, sizeof buffer)) > 0;)
            text.append(buffer, static_cast<size_t>(got));
        close(ends[0]);
        int status = 0;
        waitpid(process, &status, 0);
        return WIFEXITED(status) && WEXITSTATUS(status) == 99 &&
               text.find(wanted) != std::string::npos;
    };
    check::that(child([] { run<float>(kernels::global_bounds<float>); }, "out of bounds: thread"),
                "a wild read");
    check::that(child([] { run<float>(kernels::global_before<float>); }, "out of bounds: thread"),
                "a read before");
#if defined(__x86_64__)
    const std::string where = "test_simt.cpp:" + std::to_string(kernels::marked);
    check::that(child([] { run<float>(kernels::global_before<float>); }, where.c_str()),
                "a wild read's place");
#endif
    check::that(child(
                    [] {
                        void *p;
                        CUDA(cudaMalloc(&p, 5));
                        static_cast<char *>(p)[5] = 1;
                        CUDA(cudaFree(p));
                    },
                    "bytes after an allocation"),
                "one byte past the end");
    check::that(child(
                    [] {
                        float *p;
                        CUDA(cudaMalloc(reinterpret_cast<void **>(&p), 64));
                        CUDA(cudaFree(p));
                        p[0] = 1;
                    },
                    "of freed global memory"),
                "a write after free");
}

static void counts()
{
    const auto of = [](kernel<element> k) {
        simt::settings().trace = true;
        simt::reset();
        check::that(run(k, nullptr, 1) == cudaSuccess, "counting: %s", simt::report().c_str());
        simt::settings() = simt::options();
        return simt::statistics();
    };
    /* 8 warps store; then stride 1 to 16 keep 8 warps busy, 32 to 128 keep 4, 2, 1:
     * 47, each with two loads, a store */
    const simt::counts v0 = of(kernels::interleaved<element>);
    check::that(
        v0.warp_steps == 8 + 3 * 47 + 1 && v0.partial_steps == 3 * 47 + 1 && v0.conflicts == 0,
        "interleaved: %llu steps, %llu partial, %llu conflicts", (unsigned long long)v0.warp_steps,
        (unsigned long long)v0.partial_steps, (unsigned long long)v0.conflicts);
    /* packed they need 4, 2, 1, 1, 1, 1, 1, 1 = 12 */
    check::that(v0.avoidable_steps == 3 * (47 - 12), "interleaved: %llu avoidable",
                (unsigned long long)v0.avoidable_steps);
    check::that(v0.barriers == 9 && v0.launches == 1 && v0.blocks == 1, "interleaved: barriers");
    check::that(v0.shared_stores == 256 + 255 && v0.shared_loads == 2 * 255 + 1,
                "interleaved: loads and stores");
    /* strided: 2-, 4-, 8-way in the 4 + 2 + 1 full steps; then 16 lanes 16 words apart are
     * 8-way, and so on down */
    const simt::counts v1 = of(kernels::strided<element>);
    check::that(v1.warp_steps == 8 + 3 * 12 + 1 && v1.avoidable_steps == 0, "strided: steps");
    check::that(v1.conflicts == 3 * (4 * 1 + 2 * 3 + 1 * 7 + 1 * 7 + 1 * 7 + 1 * 3 + 1 * 1) &&
                    v1.max_way == 8,
                "strided: %llu conflicts, %u-way", (unsigned long long)v1.conflicts, v1.max_way);
    const unsigned ways[] = {1, 2, 4, 8, 8, 8, 4, 2, 1, 1};
    for (size_t k = 0; k < v1.interval_way.size(); ++k)
        check::that(v1.interval_way[k] == ways[k], "strided: interval %zu is %u-way", k,
                    v1.interval_way[k]);
    const simt::counts v2 = of(kernels::right<element>);
    check::that(v2.warp_steps == 8 + 3 * 12 + 1 && v2.conflicts == 0 && v2.avoidable_steps == 0,
                "sequential");
}

/* The blocks before settings().first_block do not run, and those after it as ever. */
static void later_blocks()
{
    for (uint64_t first : {1u, 3u}) {
        std::vector<float> result;
        simt::reset();
        simt::settings().first_block = first;
        check::that(run(kernels::right<float>, &result) == cudaSuccess, "later blocks: %s",
                    simt::report().c_str());
        simt::settings() = simt::options();
        check::that(simt::statistics().blocks == blocks - first, "from block %d on: %d blocks",
                    static_cast<int>(first), static_cast<int>(simt::statistics().blocks));
        for (unsigned b = 0; b < blocks; ++b)
            check::that(b < first ? std::isnan(result[b]) : result[b] == sum_of_block(b),
                        "from block %d on: block %u gave %g", static_cast<int>(first), b,
                        static_cast<double>(result[b]));
    }
}

/* What a block may have of shared memory counts static and dynamic together, as CUDA does. */
static void shared_memory()
{
    using kernels::holds;
    using holder = kernels::holder<4096>;
    unsigned *out = nullptr;
    void *arguments[] = {&out};
    CUDA(cudaMalloc(reinterpret_cast<void **>(&out), sizeof *out));
    const auto launch = [&](auto kernel, size_t dynamic) {
        return cudaLaunchKernel(kernel, dim3(1), dim3(32), arguments, dynamic, nullptr);
    };
    const auto ask = [](const void *kernel, int dynamic) {
        return cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, dynamic);
    };
    const auto own_of = [](const void *kernel) {
        cudaFuncAttributes attributes = {};
        CUDA(cudaFuncGetAttributes(&attributes, kernel));
        return attributes.sharedSizeBytes;
    };
    const auto large = holds<40960>;
    const auto by_class = kernels::holds_by_class<holder>;
    const auto none = kernels::right<float>;
    const void *const address = reinterpret_cast<const void *>(large);
    check::that(own_of(address) == 40960 &&
                    own_of(reinterpret_cast<const void *>(holds<1000>)) == 1000 &&
                    own_of(reinterpret_cast<const void *>(by_class)) == 4096 + 64 &&
                    own_of(reinterpret_cast<const void *>(none)) == 0,
                "static shared memory: %zu, %zu, %zu, %zu bytes", own_of(address),
                own_of(reinterpret_cast<const void *>(holds<1000>)),
                own_of(reinterpret_cast<const void *>(by_class)),
                own_of(reinterpret_cast<const void *>(none)));

    unsigned found[3] = {};
    unsigned *to = found;
    void *finds_arguments[] = {&to};
    check::that(cudaLaunchKernel(kernels::finds, dim3(3), dim3(1), finds_arguments) ==
                        cudaSuccess &&
                    found[0] == ~0u && found[1] == ~0u && found[2] == ~0u,
                "a block finds %x, the next one %x", found[0], found[1]);

    check::that(launch(large, 8192) == cudaSuccess, "48 KiB in all");
    check::that(launch(large, 8193) == cudaErrorInvalidValue, "a byte more, unasked");
    check::that(ask(address, 187 * 1024 + 1) == cudaErrorInvalidValue, "more than 227 KiB in all");
    check::that(launch(large, 8193) == cudaErrorInvalidValue, "an answer of no counts for a yes");
    check::that(ask(address, 187 * 1024) == cudaSuccess &&
                    launch(large, 187 * 1024) == cudaSuccess &&
                    launch(large, 187 * 1024 + 1) == cudaErrorInvalidValue,
                "227 KiB in all");
    check::that(launch(holds<1000>, 48 * 1024) == cudaErrorInvalidValue,
                "what another kernel has asked for");
    simt::gpu small;
    small.shared_bytes = 64 * 1024;
    simt::set_gpu(small);
    check::that(launch(large, 8193) == cudaErrorInvalidValue &&
                    ask(address, 24 * 1024 + 1) == cudaErrorInvalidValue &&
                    ask(address, 24 * 1024) == cudaSuccess &&
                    launch(large, 24 * 1024) == cudaSuccess,
                "a device of 64 KiB");
    small.shared_bytes = 48 * 1024;
    simt::set_gpu(small);
    check::that(launch(large, 8192) == cudaSuccess && ask(address, 8192) == cudaSuccess &&
                    ask(address, 8193) == cudaErrorInvalidValue,
                "a device of 48 KiB");
    simt::set_gpu(simt::gpu());

    /* a launch that does not run is checked and counted all the same */
    CUDA(cudaMemset(out, 0, sizeof *out));
    simt::set_runs(false);
    const uint64_t before = simt::statistics().launches;
    check::that(launch(large, 8192) == cudaSuccess && *out == 0 &&
                    launch(large, 8193) == cudaErrorInvalidValue &&
                    simt::statistics().launches == before + 1,
                "a launch that does not run");
    simt::set_runs(true);
    check::that(launch(large, 8192) == cudaSuccess && *out == 31, "a launch that runs");
    CUDA(cudaFree(out));
}

static void runtime()
{
    const size_t live = simt::live_allocations();
    void *p = nullptr;
    simt::fail_call(1);
    check::that(cudaMalloc(&p, 16) == cudaErrorMemoryAllocation, "the first call does not fail");
    check::that(cudaMalloc(&p, 16) == cudaSuccess, "the second call fails");
    check::that(simt::live_allocations() == live + 1, "an allocation is not counted");
    simt::fail_call(2);
    check::that(cudaMemset(p, 1, 16) == cudaSuccess && cudaMemset(p, 1, 16) == cudaErrorUnknown,
                "the second of two");
    check::that(cudaGetLastError() == cudaErrorUnknown && cudaGetLastError() == cudaSuccess,
                "the last error");
    check::that(cudaFree(p) == cudaSuccess && simt::live_allocations() == live,
                "a free is not counted");
    check::that(cudaFree(p) == cudaErrorInvalidValue, "freed twice");
    simt::set_device_present(false);
    int devices = 7;
    check::that(cudaGetDeviceCount(&devices) == cudaErrorInsufficientDriver && devices == 0,
                "no device");
    simt::set_device_present(true);
    check::that(cudaGetDeviceCount(&devices) == cudaSuccess && devices == 1, "one device");

    const float *in = nullptr;
    float *out = nullptr;
    void *arguments[] = {&in, &out};
    const auto launch = [&](dim3 grid, dim3 block, size_t shared) {
        return cudaLaunchKernel(kernels::right<float>, grid, block, arguments, shared, nullptr);
    };
    std::vector<float> memory(200 * 4);
    in = out = memory.data();
    int place;
    const cudaStream_t stream = reinterpret_cast<cudaStream_t>(&place);
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    cudaLaunchConfig_t config = {dim3(3), dim3(64), 512, stream, &attribute, 1};
    for (int allowed : {1, 0}) {
        attribute.val.programmaticStreamSerializationAllowed = allowed;
        const simt::launch &done = simt::latest_launch();
        check::that(cudaLaunchKernelExC(&config, kernels::right<float>, arguments) == cudaSuccess &&
                        done.overlapped == (allowed == 1) && done.grid.x == 3 &&
                        done.block.x == 64 && done.shared_bytes == 512 && done.stream == stream &&
                        done.kernel == reinterpret_cast<const void *>(kernels::right<float>),
                    "a launch with an attribute");
        check::that(launch(dim3(2), dim3(32), 256) == cudaSuccess && !done.overlapped &&
                        done.grid.x == 2 && done.block.x == 32 && done.shared_bytes == 256 &&
                        done.stream == nullptr,
                    "a launch without one");
    }
    in = out = nullptr;
    check::that(launch(dim3(1), dim3(0), 0) == cudaErrorInvalidConfiguration, "no threads");
    check::that(launch(dim3(1), dim3(1025), 0) == cudaErrorInvalidConfiguration, "1025 threads");
    check::that(launch(dim3(0), dim3(32), 0) == cudaErrorInvalidConfiguration, "no blocks");
    check::that(launch(dim3(0x80000000u), dim3(32), 0) == cudaErrorInvalidConfiguration,
                "2^31 blocks");
    check::that(launch(dim3(1, 65536), dim3(32), 0) == cudaErrorInvalidConfiguration,
                "65536 blocks in y");
    check::that(launch(dim3(1), dim3(32), 228 * 1024) == cudaErrorInvalidValue,
                "228 KiB of shared memory");
}

/* Each block waits for the one `ahead` before or, if less than 0, behind it; shared memory is each
 * block's own, whichever runs in between. */
namespace kernels
{
__global__ void waits_for_another(volatile unsigned *done, int ahead, unsigned *wrong)
{
    __shared__ unsigned own;
    if (threadIdx.x == 0) own = blockIdx.x;
    __syncthreads();
    const int other = static_cast<int>(blockIdx.x) - ahead;
    if (other >= 0 && other < static_cast<int>(gridDim.x))
        while (done[other] == 0) simt::yield();
    if (own != blockIdx.x) ++*wrong;
    __syncthreads();
    if (threadIdx.x == 0) done[blockIdx.x] = 1;
}
} // namespace kernels

static void several_blocks()
{
    unsigned wrong = 0, *to_wrong = &wrong;
    for (unsigned resident : {0u, 1u, 2u, 3u, 8u, 20u})
        for (int ahead : {1, 3, -1, -3})
            for (unsigned seed = 1; seed < (ahead > 0 ? 4u : 2u); ++seed) {
                unsigned flags[12] = {};
                volatile unsigned *done = flags;
                void *arguments[] = {&done, &ahead, &to_wrong};
                simt::settings().resident = resident;
                simt::settings().seed = seed;
                const uint64_t before = simt::statistics().blocks;
                const bool good = cudaLaunchKernel(kernels::waits_for_another, dim3(12), dim3(64),
                                                   arguments) == cudaSuccess;
                /* those that begin later run only if those before them end */
                const bool possible = ahead > 0 || resident >= 12;
                check::that(good == possible,
                            "%u blocks at a time, each waits for the %dth before "
                            "it: '%s'",
                            resident, ahead, simt::report().c_str());
                check::that(good ? simt::statistics().blocks - before == 12
                                 : simt::report().find("no thread will write") != std::string::npos,
                            "%u blocks at a time: '%s'", resident, simt::report().c_str());
            }
    check::that(wrong == 0, "shared memory of another block");
    simt::settings() = simt::options();
}

int main()
{
    right("the tree", kernels::right<float>);
    right("the tree", kernels::right<element>);
    right("atomics", kernels::atomics<float>);
    right("atomics", kernels::atomics<element>);
    right("threads that leave early", kernels::leaves_early<element>);
    right("barriers that ask all", kernels::asks_all<element>);
    for (simt::order schedule : orders) {
        simt::settings().schedule = schedule;
        simt::settings().trace = true;
        check::that(run(kernels::rotate<element>, nullptr, 1, 64) == cudaSuccess, "rotate: %s",
                    simt::report().c_str());
        check::that(run(kernels::half_warps<element>, nullptr, 1, 64) == cudaSuccess,
                    "half warps: %s", simt::report().c_str());
        simt::settings() = simt::options();
        simt::settings().schedule = schedule;
        check::that(run(kernels::waits<float>) == cudaSuccess, "a thread that spins: %s",
                    simt::report().c_str());
        simt::settings() = simt::options();
    }
    wrong_kernels();
    later_blocks();
    check::that(run(kernels::waits_forever<float>) == cudaErrorLaunchFailure &&
                    simt::report().find("no thread will write") != std::string::npos,
                "threads that wait forever: '%s'", simt::report().c_str());
    check::that(run(kernels::turns<float, 1>, nullptr, 1, 64) == cudaSuccess,
                "threads that take turns: %s", simt::report().c_str());
    check::that(run(kernels::turns<float, 0>, nullptr, 1, 64) == cudaErrorLaunchFailure &&
                    simt::report().find("no thread will write") != std::string::npos,
                "a counter that stands still: '%s'", simt::report().c_str());
    untraced_bounds();
    counts();
    shared_memory();
    runtime();
    several_blocks();
    return check::finish("the CPU machine");
}

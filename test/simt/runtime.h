/* Stand-ins for what CUDA code calls: intrinsics in kernels, the runtime API on the host.
 * Streams run at once. */
#ifndef SIMT_RUNTIME_H
#define SIMT_RUNTIME_H

#include <chrono>
#include <cmath>
#include <functional>
#include <tuple>
#include <type_traits>
#include <unordered_map>
#include <csignal>
#include "traced.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(n) __attribute__((aligned(n)))
#define __grid_constant__
/* one block runs at a time on a host thread, so one instance for a
 * host thread is one for a block */
#define __shared__ thread_local

/* A test program says this once, in the namespace of the kernels, of their extern __shared__
 * array of bytes. */
#define SIMT_DYNAMIC_SHARED(name)                                            \
    alignas(128) thread_local unsigned char name[simt::most_dynamic_shared]; \
    static const bool name##_registered = (                                  \
        simt::dynamic_shared_of() = []() -> unsigned char * { return name; }, true);

/* ---- Intrinsics ------------------------------------------------------------------------------ */

constexpr int warpSize = simt::lanes;
#define SIMT_PLACE const char *file = __builtin_FILE(), int line = __builtin_LINE()

inline void __syncthreads(SIMT_PLACE) { simt::block_barrier({file, line}); }

inline int __syncthreads_or(int what, SIMT_PLACE)
{
    return simt::block_barrier({file, line}, what != 0);
}
inline int __syncthreads_and(int what, SIMT_PLACE)
{
    return !simt::block_barrier({file, line}, what == 0);
}

inline void __syncwarp(unsigned mask = 0xffffffffu, SIMT_PLACE)
{
    const auto met = simt::meet(mask, nullptr, 0, {file, line});
    if (simt::is_first(met)) ++simt::statistics().warp_barriers;
}

struct alignas(8) float2 {
    float x, y;
};
struct float3 {
    float x, y, z;
};
struct alignas(16) float4 {
    float x, y, z, w;
};
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float3 make_float3(float x, float y, float z) { return {x, y, z}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline unsigned __float_as_uint(float x)
{
    unsigned bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
inline float __uint_as_float(unsigned bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
template <class T>
[[gnu::always_inline]] inline T __ldg(const T *from)
{
    return *from;
}
inline int __float_as_int(float x) { return static_cast<int>(__float_as_uint(x)); }
inline float __int_as_float(int bits) { return __uint_as_float(static_cast<unsigned>(bits)); }
inline float rsqrtf(float x) { return 1 / sqrtf(x); }
inline float __fadd_rn(float x, float y) { return x + y; }
inline float __fsub_rn(float x, float y) { return x - y; }
inline float __fmul_rn(float x, float y) { return x * y; }
inline float __fdiv_rn(float x, float y) { return x / y; }
inline float __fmaf_rn(float x, float y, float z) { return fmaf(x, y, z); }
namespace simt
{
SIMT_FUNCTION(__float_as_uint, )
SIMT_FUNCTION(__float_as_int, )
SIMT_FUNCTION(rsqrtf, )
SIMT_FUNCTION(__fadd_rn, )
SIMT_FUNCTION(__fsub_rn, )
SIMT_FUNCTION(__fmul_rn, )
SIMT_FUNCTION(__fdiv_rn, )
SIMT_FUNCTION(__fmaf_rn, )
#undef SIMT_FUNCTION
} // namespace simt
inline void __nanosleep(unsigned) { simt::yield(); }

namespace simt
{
/* A parameter's type that follows from another parameter: the argument is converted to it. */
template <class T>
struct same {
    using type = T;
};
template <class T>
using as = typename same<T>::type;

/* What blocks may order their stores by. */
inline void on_order(happening what, const void *where)
{
    machine &m = the_machine();
    if (m.running && m.watcher) m.watcher(what, reinterpret_cast<uintptr_t>(where), nullptr);
}
/* Changes a word as one step, and returns what it was. Somebody may have waited for the change. */
template <class T, class Next>
T change(T *address, const Next &next)
{
    on_order(happening::word_atomic, address);
    const T old = *address;
    *address = next(old);
    if (*address != old) *the_machine().idle_yields = 0;
    return old;
}
} // namespace simt

template <class T>
T atomicAdd(T *address, simt::as<T> value)
{
    return simt::change(address, [&](T old) { return static_cast<T>(old + value); });
}
template <class T>
[[gnu::noinline]] simt::traced<T> atomicAdd(simt::traced<T> *address,
                                            simt::as<simt::traced<T>> value)
{
    return address->add_atomically(value.get(), SIMT_SITE);
}

template <class T>
T atomicSub(T *address, simt::as<T> value)
{
    return atomicAdd(address, static_cast<T>(-value));
}
/* The next of 0 to most, and 0 after that. */
inline unsigned atomicInc(unsigned *address, unsigned most)
{
    return simt::change(address, [&](unsigned old) { return old >= most ? 0 : old + 1; });
}
template <class T>
T atomicExch(T *address, simt::as<T> value)
{
    return simt::change(address, [&](T) { return value; });
}
template <class T>
T atomicAnd(T *address, simt::as<T> value)
{
    return simt::change(address, [&](T old) { return old & value; });
}
template <class T>
T atomicOr(T *address, simt::as<T> value)
{
    return simt::change(address, [&](T old) { return old | value; });
}
template <class T>
T atomicMin(T *address, simt::as<T> value)
{
    return simt::change(address, [&](T old) { return value < old ? value : old; });
}
template <class T>
T atomicMax(T *address, simt::as<T> value)
{
    return simt::change(address, [&](T old) { return value > old ? value : old; });
}
template <class T>
T atomicCAS(T *address, simt::as<T> expected, simt::as<T> value)
{
    return simt::change(address, [&](T old) { return old == expected ? value : old; });
}

inline void __threadfence() { simt::on_order(simt::happening::fence, nullptr); }
inline void __threadfence_block() {}
inline void __threadfence_system() { __threadfence(); }

namespace simt
{
/* What `source` gave at this meeting; a lane outside the width's segment gets its own value. */
template <class T>
T shuffle(unsigned mask, T value, int source, bool inside, place where)
{
    static_assert(sizeof(T) <= 16, "shuffles move 16 bytes at the most");
    const auto met = meet(mask, &value, sizeof(T), where);
    machine &m = the_machine();
    const unsigned part = met.first->took_part[met.second];
    if (is_first(met)) ++m.statistics.shuffles;
    if (!inside) return value;
    if (!(part >> source & 1))
        stop(m, words(m.threads[m.current]) + " at " + words(where) + ": shuffles from lane " +
                    std::to_string(source) + ", which takes no part");
    memcpy(static_cast<void *>(&value), met.first->value[met.second][source], sizeof(T));
    if (m.watcher)
        m.watcher(happening::shuffle, m.current / lanes * lanes + static_cast<unsigned>(source),
                  nullptr);
    return value;
}
inline int lane_now() { return static_cast<int>(the_machine().current % lanes); }
} // namespace simt

template <class T>
T __shfl_sync(unsigned mask, T value, int source, int width = warpSize, SIMT_PLACE)
{
    const int lane = simt::lane_now();
    return simt::shuffle(mask, value, lane / width * width + source % width, true, {file, line});
}
template <class T>
T __shfl_down_sync(unsigned mask, T value, unsigned delta, int width = warpSize, SIMT_PLACE)
{
    const int lane = simt::lane_now(), source = lane + static_cast<int>(delta);
    return simt::shuffle(mask, value, source, source / width == lane / width, {file, line});
}
template <class T>
T __shfl_up_sync(unsigned mask, T value, unsigned delta, int width = warpSize, SIMT_PLACE)
{
    const int lane = simt::lane_now(), source = lane - static_cast<int>(delta);
    return simt::shuffle(mask, value, source, source >= lane / width * width, {file, line});
}
template <class T>
T __shfl_xor_sync(unsigned mask, T value, int flip, int width = warpSize, SIMT_PLACE)
{
    const int lane = simt::lane_now(), source = lane ^ flip;
    return simt::shuffle(mask, value, source, source / width == lane / width, {file, line});
}

/* Which lanes gave a value that is not 0. */
inline unsigned __ballot_sync(unsigned mask, int predicate, SIMT_PLACE)
{
    const auto met = simt::meet(mask, &predicate, sizeof predicate, {file, line});
    const unsigned part = met.first->took_part[met.second];
    unsigned votes = 0;
    for (unsigned lane = 0; lane < simt::lanes; ++lane) {
        int vote = 0;
        if (part >> lane & 1) memcpy(&vote, met.first->value[met.second][lane], sizeof vote);
        votes |= static_cast<unsigned>(vote != 0) << lane;
    }
    return votes;
}
inline int __any_sync(unsigned mask, int predicate, SIMT_PLACE)
{
    return __ballot_sync(mask, predicate, file, line) != 0;
}
inline int __popc(unsigned word) { return __builtin_popcount(word); }
inline int __clz(int word) { return word ? __builtin_clz(static_cast<unsigned>(word)) : 32; }
inline int __clzll(long long word)
{
    return word ? __builtin_clzll(static_cast<unsigned long long>(word)) : 64;
}
/* Returns the greater of each of the two halves of words. */
inline unsigned __vmaxu2(unsigned a, unsigned b)
{
    const unsigned low = (a & 0xffff) > (b & 0xffff) ? a : b, high = a >> 16 > b >> 16 ? a : b;
    return (high & 0xffff0000) | (low & 0xffff);
}
inline unsigned __vmaxu4(unsigned a, unsigned b) /* of four bytes */
{
    const unsigned odd = __vmaxu2(a, b), even = __vmaxu2(a << 8, b << 8) >> 8;
    return (odd & 0xff00ff00) | (even & 0xff00ff);
}
/* Returns the upper word of two, shifted left by 32 bits at most. */
inline unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift)
{
    const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
    return static_cast<unsigned>(both << (shift < 32 ? shift : 32) >> 32);
}
inline unsigned __brev(unsigned word)
{
    unsigned turned = 0;
    for (int bit = 0; bit < 32; ++bit) turned |= (word >> bit & 1) << (31 - bit);
    return turned;
}

/* ---- Errors and fault injection -------------------------------------------------------------- */

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInvalidConfiguration = 9,
    cudaErrorStubLibrary = 34,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorLaunchOutOfResources = 701,
    cudaErrorLaunchFailure = 719,
    cudaErrorStreamCaptureUnsupported = 900,
    cudaErrorUnknown = 999
};

inline const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
    case cudaSuccess: return "no error";
    case cudaErrorInvalidValue: return "invalid argument";
    case cudaErrorMemoryAllocation: return "out of memory";
    case cudaErrorInvalidConfiguration: return "invalid configuration argument";
    case cudaErrorInsufficientDriver: return "no driver on this machine (by order of the test)";
    case cudaErrorLaunchOutOfResources: return "too many resources requested for launch";
    case cudaErrorLaunchFailure:
        return simt::report().empty() ? "launch failure" : simt::report().c_str();
    default: return "an error of the CPU machine";
    }
}

namespace simt
{
/* What the runtime says of the current device. Kernels here are compiled for no compute
 * capability, and take their portable ways, whatever the version of PTX. */
struct gpu {
    int number = 0, multiprocessors = 4;
    int shared_bytes = static_cast<int>(most_dynamic_shared); /* of a block that asks */
    int multiprocessor_shared_bytes = 0;                      /* 0: 1 KiB more than a block's */
    int ptx_version = 0;
    int l2_bytes = 1 << 20;
};
struct host_side {
    unsigned long long calls = 0, failing_call = 0;
    bool device_present = true;
    gpu device;
    unsigned long long default_stream_calls = 0;
    unsigned failing_exchange = 0; /* of capture modes, counted down; 0: none */
    std::unordered_map<const void *, size_t>
        shared_limit;      /* of kernels that asked for more than others may have */
    bool runs = true;      /* kernels that are launched */
    bool captures = false; /* every stream: grids run all the same */
    cudaError_t last = cudaSuccess;
};
inline host_side &host()
{
    static thread_local host_side instance;
    return instance;
}
/* Runtime calls so far; the k-th from now fails (0: none does); no call works without a device. */
inline unsigned long long calls() { return host().calls; }
inline void fail_call(unsigned k) { host().failing_call = k ? host().calls + k : 0; }
inline void set_device_present(bool present) { host().device_present = present; }
inline void set_gpu(const gpu &device)
{
    host().device = device;
    host().shared_limit.clear();
}
/* Without, launches are checked and counted, and that is all. */
inline void set_runs(bool runs) { host().runs = runs; }
/* Bytes of shared memory that a block may have, static and dynamic together. */
inline size_t most_shared()
{
    return std::min(static_cast<size_t>(host().device.shared_bytes), most_dynamic_shared);
}
/* Calls on the default stream so far, of those that take a stream. */
inline unsigned long long default_stream_calls() { return host().default_stream_calls; }
inline size_t live_allocations()
{
    size_t count = 0;
    for (const allocation &a : the_machine().allocations) count += a.live;
    return count;
}
/* Every runtime call begins with this. */
inline cudaError_t begin_call(cudaError_t failure)
{
    host_side &h = host();
    ++h.calls;
    if (!h.device_present) return h.last = cudaErrorInsufficientDriver;
    if (h.calls == h.failing_call) return h.last = failure;
    return cudaSuccess;
}
#define SIMT_CALL(failure) \
    if (const cudaError_t error_ = simt::begin_call(failure)) return error_

/* ---- Memory ---------------------------------------------------------------------------------- */

constexpr size_t page = 4096;

/* An access that no page backs: says where, as far as it can be
 * told, and ends the process with 99. */
inline void on_fault(int, siginfo_t *info, void *context)
{
    machine &m = the_machine();
    const uintptr_t address = reinterpret_cast<uintptr_t>(info->si_addr);
    std::string sentence = "out of bounds: ";
    if (m.running) sentence += words(m.threads[m.current]) + ", ";
#if defined(__x86_64__) && defined(REG_RIP)
    const ucontext_t *registers = static_cast<const ucontext_t *>(context);
    sentence +=
        "at " +
        source_of(reinterpret_cast<const void *>(registers->uc_mcontext.gregs[REG_RIP] + 1)) + ", ";
#else
    (void)context;
#endif
    const allocation *a = find_allocation(m, address);
    if (a)
        sentence += "byte " + std::to_string(static_cast<long long>(address - a->begin)) + " of " +
                    std::to_string(a->end - a->begin) + " bytes of " + (a->live ? "" : "freed ") +
                    "global memory\n";
    else
        sentence += "an address that no allocation is near\n";
    if (write(STDERR_FILENO, sentence.data(), sentence.size()) < 0) _exit(98);
    _exit(99);
}

inline bool catch_faults()
{
    static char handler_stack[64 * 1024];
    stack_t stack = {};
    stack.ss_sp = handler_stack;
    stack.ss_size = sizeof handler_stack;
    sigaltstack(&stack, nullptr);
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_ONSTACK;
    return sigaction(SIGSEGV, &action, nullptr) == 0;
}

/* The end touches a page without access, but for the slack that keeps the beginning aligned to
 * 16: that holds a pattern, checked when the memory is freed. The beginning touches one where
 * the size is a multiple of a page. */
inline cudaError_t allocate(void **result, size_t bytes)
{
    static const bool caught = catch_faults();
    if (!caught) return cudaErrorUnknown;
    const size_t room = (bytes + 15) / 16 * 16, data = (room + page - 1) / page * page;
    void *memory = mmap(nullptr, data + 2 * page, PROT_NONE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return cudaErrorMemoryAllocation;
    char *mapped = static_cast<char *>(memory);
    if (data && mprotect(mapped + page, data, PROT_READ | PROT_WRITE) != 0)
        return cudaErrorMemoryAllocation;
    char *begin = mapped + page + data - room;
    memset(mapped + page, 0xff, data);
    const uintptr_t address = reinterpret_cast<uintptr_t>(begin);
    the_machine().allocations.push_back({address, address + bytes, mapped, data + 2 * page, true});
    *result = begin;
    return cudaSuccess;
}

inline cudaError_t release(void *pointer)
{
    if (!pointer) return cudaSuccess;
    std::vector<allocation> &all = the_machine().allocations;
    const uintptr_t address = reinterpret_cast<uintptr_t>(pointer);
    for (size_t i = all.size(); i-- > 0;) {
        allocation &a = all[i];
        if (!a.live || a.begin != address) continue;
        const uintptr_t end = reinterpret_cast<uintptr_t>(a.mapped) + a.mapped_bytes - page;
        for (uintptr_t slack = a.end; slack < end; ++slack) {
            if (*reinterpret_cast<unsigned char *>(slack) == 0xff) continue;
            fprintf(stderr,
                    "out of bounds: the bytes after an allocation of %zu bytes were written\n",
                    static_cast<size_t>(a.end - a.begin));
            _exit(99);
        }
        /* kept without access for a while, so that a late access is told from others */
        a.live = false;
        mprotect(a.mapped, a.mapped_bytes, PROT_NONE);
        madvise(a.mapped, a.mapped_bytes, MADV_DONTNEED);
        size_t dead = 0;
        for (const allocation &x : all) dead += !x.live;
        for (size_t k = 0; dead > 16 && k < all.size();) {
            if (all[k].live) {
                ++k;
                continue;
            }
            munmap(all[k].mapped, all[k].mapped_bytes);
            all.erase(all.begin() + static_cast<ptrdiff_t>(k));
            --dead;
        }
        return cudaSuccess;
    }
    return cudaErrorInvalidValue;
}

/* ---- Launches -------------------------------------------------------------------------------- */

template <class... A, size_t... I>
void call_with(void *kernel, void **arguments, std::index_sequence<I...>)
{
    reinterpret_cast<void (*)(A...)>(kernel)(
        *static_cast<std::remove_reference_t<A> *>(arguments[I])...);
}
template <class... A>
void call_kernel(void *kernel, void **arguments)
{
    call_with<A...>(kernel, arguments, std::index_sequence_for<A...>());
}
} // namespace simt

typedef struct CUstream_st *cudaStream_t;

namespace simt
{
/* What a program asked for when it launched a kernel. */
struct launch {
    const void *kernel;
    dim3 grid, block;
    size_t shared_bytes;
    cudaStream_t stream;
    bool overlapped; /* may begin before the previous grid has ended */
};
/* Called with the kernel's arguments before each launch, if set. */
inline std::function<void(void **)> &before_launch()
{
    static thread_local std::function<void(void **)> instance;
    return instance;
}
inline launch &latest_launch()
{
    static thread_local launch instance = {};
    return instance;
}
} // namespace simt

namespace simt
{
using kernel_call = void (*)(void *kernel, void **arguments);
/* How a kernel is called whose type was known once. */
inline std::unordered_map<const void *, kernel_call> &known_kernels()
{
    static thread_local std::unordered_map<const void *, kernel_call> instance;
    return instance;
}
template <class... A>
void know_kernel(void (*kernel)(A...))
{
    known_kernels()[reinterpret_cast<const void *>(kernel)] = call_kernel<A...>;
}
} // namespace simt

inline cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments,
                                    size_t shared_bytes = 0, cudaStream_t stream = nullptr)
{
    simt::host().default_stream_calls += stream == nullptr;
    simt::latest_launch() = {kernel, grid, block, shared_bytes, stream, false};
    SIMT_CALL(cudaErrorLaunchOutOfResources);
    const uint64_t threads = static_cast<uint64_t>(block.x) * block.y * block.z;
    if (threads == 0 || threads > 1024 || grid.x == 0 || grid.x > 0x7fffffff || grid.y == 0 ||
        grid.y > 65535 || grid.z == 0 || grid.z > 65535)
        return simt::host().last = cudaErrorInvalidConfiguration;
    /* static and dynamic; cudaFuncSetAttribute has to come before more than any kernel may have */
    const auto asked = simt::host().shared_limit.find(kernel);
    const size_t own = simt::static_shared(kernel), all = own + shared_bytes;
    if (all > simt::most_shared() ||
        (all > simt::unasked_shared &&
         (asked == simt::host().shared_limit.end() || shared_bytes > asked->second)))
        return simt::host().last = cudaErrorInvalidValue;
    if (simt::before_launch()) simt::before_launch()(arguments);
    simt::machine &m = simt::the_machine();
    if (!simt::host().runs) {
        ++m.statistics.launches;
        return simt::host().last = cudaSuccess;
    }
    m.call = simt::known_kernels().at(kernel);
    m.kernel = const_cast<void *>(kernel);
    m.arguments = arguments;
    return simt::host().last =
               simt::run_grid(grid, block, shared_bytes) ? cudaSuccess : cudaErrorLaunchFailure;
}

template <class... A>
cudaError_t cudaLaunchKernel(void (*kernel)(A...), dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes = 0, cudaStream_t stream = nullptr)
{
    simt::know_kernel(kernel);
    return cudaLaunchKernel(reinterpret_cast<const void *>(kernel), grid, block, arguments,
                            shared_bytes, stream);
}

/* Launches with attributes, which CUDA 12 brought. Here grids run one after the other; what was
 * allowed is noted. */
#define CUDART_VERSION 12000
enum cudaLaunchAttributeID { cudaLaunchAttributeProgrammaticStreamSerialization = 6 };
union cudaLaunchAttributeValue {
    int programmaticStreamSerializationAllowed;
};
struct cudaLaunchAttribute {
    cudaLaunchAttributeID id;
    cudaLaunchAttributeValue val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};
inline cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *kernel,
                                       void **arguments)
{
    bool overlapped = false;
    for (unsigned k = 0; k < config->numAttrs; ++k) {
        if (config->attrs[k].id != cudaLaunchAttributeProgrammaticStreamSerialization)
            return simt::host().last = cudaErrorInvalidValue;
        overlapped |= config->attrs[k].val.programmaticStreamSerializationAllowed != 0;
    }
    const cudaError_t error = cudaLaunchKernel(kernel, config->gridDim, config->blockDim, arguments,
                                               config->dynamicSmemBytes, config->stream);
    simt::latest_launch().overlapped = overlapped;
    return error;
}

template <class... A>
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, void (*kernel)(A...),
                                void **arguments)
{
    simt::know_kernel(kernel);
    return cudaLaunchKernelExC(config, reinterpret_cast<const void *>(kernel), arguments);
}

/* ---- The rest of the runtime API, as far as the library and its tests call it ---------------- */

enum cudaMemcpyKind {
    cudaMemcpyHostToHost,
    cudaMemcpyHostToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyDeviceToDevice
};

inline cudaError_t cudaGetLastError() { return std::exchange(simt::host().last, cudaSuccess); }
inline cudaError_t cudaGetDeviceCount(int *count)
{
    *count = 0;
    SIMT_CALL(cudaErrorUnknown);
    *count = 1;
    return cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}
inline cudaError_t cudaGetDevice(int *device)
{
    SIMT_CALL(cudaErrorUnknown);
    *device = simt::host().device.number;
    return cudaSuccess;
}

enum cudaDeviceAttr {
    cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
inline cudaError_t cudaDeviceGetAttribute(int *value, cudaDeviceAttr attribute, int)
{
    SIMT_CALL(cudaErrorUnknown);
    const simt::gpu &device = simt::host().device;
    *value = attribute == cudaDevAttrMultiProcessorCount            ? device.multiprocessors
             : attribute == cudaDevAttrL2CacheSize                  ? device.l2_bytes
             : attribute == cudaDevAttrMaxSharedMemoryPerBlockOptin ? device.shared_bytes
             : device.multiprocessor_shared_bytes > 0 ? device.multiprocessor_shared_bytes
                                                      : device.shared_bytes + 1024;
    return cudaSuccess;
}

struct cudaFuncAttributes {
    size_t sharedSizeBytes;
    int ptxVersion;
};
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes *attributes, const void *kernel)
{
    SIMT_CALL(cudaErrorUnknown);
    *attributes = {simt::static_shared(kernel), simt::host().device.ptx_version};
    return cudaSuccess;
}
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
inline cudaError_t cudaFuncSetAttribute(const void *kernel, cudaFuncAttribute, int bytes)
{
    SIMT_CALL(cudaErrorUnknown);
    if (bytes < 0 || simt::static_shared(kernel) + static_cast<size_t>(bytes) > simt::most_shared())
        return simt::host().last = cudaErrorInvalidValue;
    simt::host().shared_limit[kernel] = static_cast<size_t>(bytes);
    return cudaSuccess;
}

inline cudaError_t cudaMalloc(void **result, size_t bytes)
{
    SIMT_CALL(cudaErrorMemoryAllocation);
    return simt::host().last = simt::allocate(result, bytes);
}
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive };
inline cudaError_t cudaStreamIsCapturing(cudaStream_t, cudaStreamCaptureStatus *status)
{
    SIMT_CALL(cudaErrorUnknown);
    *status = simt::host().captures ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}

/* Whether this thread may do what would break another one's capture, if that went wrong. */
enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal,
    cudaStreamCaptureModeThreadLocal,
    cudaStreamCaptureModeRelaxed
};
namespace simt
{
inline cudaStreamCaptureMode &capture_mode()
{
    static thread_local cudaStreamCaptureMode instance = cudaStreamCaptureModeGlobal;
    return instance;
}
} // namespace simt
inline cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode *mode)
{
    if (!simt::host().device_present) return simt::host().last = cudaErrorInsufficientDriver;
    if (simt::host().failing_exchange && --simt::host().failing_exchange == 0)
        return simt::host().last = cudaErrorUnknown;
    std::swap(simt::capture_mode(), *mode);
    return cudaSuccess;
}
/* As if another thread captured in global mode. */
inline cudaError_t cudaMallocAsync(void **result, size_t bytes, cudaStream_t stream)
{
    simt::host().default_stream_calls += stream == nullptr;
    if (simt::capture_mode() != cudaStreamCaptureModeRelaxed)
        return simt::host().last = cudaErrorStreamCaptureUnsupported;
    return cudaMalloc(result, bytes);
}
inline cudaError_t cudaFree(void *pointer)
{
    SIMT_CALL(cudaErrorUnknown);
    return simt::host().last = simt::release(pointer);
}
inline cudaError_t cudaFreeAsync(void *pointer, cudaStream_t stream)
{
    simt::host().default_stream_calls += stream == nullptr;
    return cudaFree(pointer);
}
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t bytes, cudaMemcpyKind)
{
    SIMT_CALL(cudaErrorUnknown);
    if (bytes) memcpy(to, from, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemset(void *pointer, int byte, size_t bytes)
{
    SIMT_CALL(cudaErrorUnknown);
    if (bytes) memset(pointer, byte, bytes);
    return cudaSuccess;
}
inline cudaError_t cudaMemsetAsync(void *pointer, int byte, size_t bytes, cudaStream_t stream)
{
    simt::host().default_stream_calls += stream == nullptr;
    return cudaMemset(pointer, byte, bytes);
}
inline cudaError_t cudaDeviceSynchronize()
{
    SIMT_CALL(cudaErrorUnknown);
    return cudaSuccess;
}
#endif

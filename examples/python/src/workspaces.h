// Workspaces for calls on a GPU: FASTREDUCE_WORKSPACE_BYTES of zeroed memory for each device and
// stream, which later calls there use again.
#pragma once
#include <cuda_runtime_api.h>
#include <tvm/ffi/tvm_ffi.h>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <utility>
#include <vector>
#include "fastreduce.h"

namespace
{
void check_cuda(cudaError_t error)
{
    if (error) TVM_FFI_THROW(RuntimeError) << "fastreduce: " << cudaGetErrorString(error);
}

// Makes a device the current one until the end of its scope.
class current_device
{
  public:
    explicit current_device(int device) : number(device)
    {
        check_cuda(cudaGetDevice(&before));
        if (before != number) check_cuda(cudaSetDevice(number));
    }
    ~current_device()
    {
        if (before != number) cudaSetDevice(before);
    }
    const int number;

  private:
    int before = 0;
};

// Lets this thread allocate memory and load kernels while a stream is being captured.
class relaxed_capture
{
  public:
    relaxed_capture() { cudaThreadExchangeStreamCaptureMode(&mode); }
    ~relaxed_capture() { cudaThreadExchangeStreamCaptureMode(&mode); }

  private:
    cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
};

class workspace_pool
{
  public:
    // The workspace of the current device and a stream. A graph may run beside other work of the
    // stream that it was captured from, so each capture has its own, which returns to the pool
    // when the graph is destroyed.
    void *get(int device, cudaStream_t stream)
    {
        const std::lock_guard<std::mutex> lock(mutex);
        cudaStreamCaptureStatus status;
        unsigned long long capture = 0, id = 0;
        cudaGraph_t graph = nullptr;
#if CUDART_VERSION >= 13000
        check_cuda(cudaStreamGetCaptureInfo(stream, &status, &capture, &graph));
#else
        check_cuda(cudaStreamGetCaptureInfo_v2(stream, &status, &capture, &graph));
#endif
        if (status != cudaStreamCaptureStatusActive) capture = 0;
#if CUDART_VERSION >= 12000
        if (!capture) check_cuda(cudaStreamGetId(stream, &id));
#endif
        const place where{device, stream, capture};
        workspace &found = used[where];
        if (!found.memory) {
            found = {take(device), id};
            if (capture) return_with(graph, where);
        } else if (found.stream_id != id) { // a new stream at the address of a destroyed one
            check_cuda(cudaDeviceSynchronize());
            found.stream_id = id;
        }
        return found.memory;
    }
    // A failed launch may leave a workspace that is not zero: it is not used again.
    void drop(const void *memory)
    {
        const std::lock_guard<std::mutex> lock(mutex);
        for (auto &one : used)
            if (one.second.memory == memory) one.second.memory = nullptr;
    }

  private:
    using place = std::tuple<int, cudaStream_t, unsigned long long>; // the last: of a capture, or 0
    struct workspace {
        void *memory = nullptr;
        unsigned long long stream_id = 0;
    };
    std::mutex mutex;
    std::map<place, workspace> used;
    std::map<int, std::vector<void *>> returned; // by device

    void *take(int device)
    {
        std::vector<void *> &spare = returned[device];
        void *memory = nullptr;
        if (!spare.empty()) {
            memory = spare.back();
            spare.pop_back();
            return memory;
        }
        cudaStream_t stream; // one that nothing else waits for
        check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
        cudaError_t error = cudaMalloc(&memory, FASTREDUCE_WORKSPACE_BYTES);
        if (!error) error = cudaMemsetAsync(memory, 0, FASTREDUCE_WORKSPACE_BYTES, stream);
        if (!error) error = cudaStreamSynchronize(stream);
        cudaStreamDestroy(stream);
        check_cuda(error);
        return memory;
    }

    using reference = std::pair<workspace_pool *, place>;
    void return_with(cudaGraph_t graph, const place &where)
    {
        cudaUserObject_t object;
        check_cuda(cudaUserObjectCreate(&object, new reference(this, where), give_back, 1,
                                        cudaUserObjectNoDestructorSync));
        check_cuda(cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove));
    }
    static void CUDART_CB give_back(void *owned) // calls no function of CUDA's, which it may not
    {
        const std::unique_ptr<reference> from(static_cast<reference *>(owned));
        workspace_pool &pool = *from->first;
        const std::lock_guard<std::mutex> lock(pool.mutex);
        const auto found = pool.used.find(from->second);
        if (found->second.memory)
            pool.returned[std::get<0>(from->second)].push_back(found->second.memory);
        pool.used.erase(found);
    }
};

// One for the process, which outlives every graph.
workspace_pool &workspaces()
{
    static workspace_pool &pool = *new workspace_pool;
    return pool;
}
} // namespace

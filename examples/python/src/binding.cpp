// FastReduce for Python, by tvm-ffi: the C functions on tensors that speak DLPack. A call on a GPU
// goes to the caller's current stream and does not wait. Without FASTREDUCE_PYTHON_CUDA there are
// the functions of the CPU alone. What is refused is a TypeError (dtypes) or a ValueError (all
// else), before anything is launched or written.
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>
#include <algorithm>
#include <cfenv>
#include <cstring>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>
#if FASTREDUCE_PYTHON_CUDA
#include <tvm/ffi/extra/cuda/device_guard.h>
#else
#define FASTREDUCE_HOST_IMPLEMENTATION
#endif
#define FASTREDUCE_API __attribute__((visibility("protected"))) extern // for Python's ctypes
#include "fastreduce.h"

#define REFUSE(kind) TVM_FFI_THROW(kind) << "fastreduce: "

namespace
{
using namespace tvm::ffi;

// The dtypes of fastreduce_type, from FASTREDUCE_F32 on
const DLDataType dtypes[] = {{kDLFloat, 32, 1},  {kDLFloat, 64, 1}, {kDLFloat, 16, 1},
                             {kDLBfloat, 16, 1}, {kDLInt, 8, 1},    {kDLInt, 16, 1},
                             {kDLInt, 32, 1},    {kDLInt, 64, 1},   {kDLUInt, 8, 1},
                             {kDLUInt, 16, 1},   {kDLUInt, 32, 1},  {kDLUInt, 64, 1}};

fastreduce_type type_of(const TensorView &x)
{
    if (x.dtype() == DLDataType{kDLBool, 8, 1}) return FASTREDUCE_U8;
    const auto found = std::find(std::begin(dtypes), std::end(dtypes), x.dtype());
    if (found == std::end(dtypes))
        REFUSE(TypeError) << "arrays of complex or other such numbers are not taken";
    return static_cast<fastreduce_type>(found - dtypes + 1);
}

char *data(const TensorView &x) { return static_cast<char *>(x.data_ptr()) + x.byte_offset(); }

bool is_on(const TensorView &x, DLDevice device)
{
    return x.device().device_type == device.device_type && x.device().device_id == device.device_id;
}

// Whether an array has this shape and no gaps, and is on this device.
bool fits(const TensorView &x, ShapeView shape, DLDevice device)
{
    const ShapeView sizes = x.shape();
    return std::equal(shape.begin(), shape.end(), sizes.begin(), sizes.end()) && x.IsContiguous() &&
           is_on(x, device);
}

void check_alike(const TensorView &x, const TensorView &y)
{
    if (x.dtype() != y.dtype()) REFUSE(TypeError) << "arrays are of different dtypes";
    if (x.ndim() != 1 || !x.IsContiguous() || !fits(y, x.shape(), x.device()))
        REFUSE(ValueError) << "arrays need one axis, no gaps, the same shapes, and one device";
}

#define CHECK(call) \
    if (const fastreduce_status error = (call)) return error

#if FASTREDUCE_PYTHON_CUDA
// Workspaces of zeroed memory: one for each device and stream, which later calls there use again. A
// graph may run beside other work of the stream that it was captured from. So each capture has its
// own, which is spare when the graph is destroyed.
using place = std::tuple<int, cudaStream_t, unsigned long long>; // the last: of a capture, or 0
auto &used = *new std::map<place, std::pair<void *, unsigned long long>>; // with a stream's id
auto &spare = *new std::multimap<int, void *>;                            // by device
auto &mutex = *new std::mutex; // these three outlive every graph

void give_back(void *memory) // calls no function of CUDA's, which it may not
{
    const std::lock_guard<std::mutex> lock(mutex);
    const auto holds = [&](const auto &entry) { return entry.second.first == memory; };
    const auto found = std::find_if(used.begin(), used.end(), holds);
    spare.emplace(std::get<0>(found->first), memory);
    used.erase(found);
}

fastreduce_status find_workspace(int device, cudaStream_t stream, void *&memory)
{
    cudaStreamCaptureStatus status;
    unsigned long long capture = 0, id = 0;
    cudaGraph_t graph = nullptr;
#if CUDART_VERSION >= 13000
    CHECK(cudaStreamGetCaptureInfo(stream, &status, &capture, &graph));
#else
    CHECK(cudaStreamGetCaptureInfo_v2(stream, &status, &capture, &graph));
#endif
    if (status != cudaStreamCaptureStatusActive) capture = 0;
#if CUDART_VERSION >= 12000
    if (!capture) CHECK(cudaStreamGetId(stream, &id));
#endif
    const std::lock_guard<std::mutex> lock(mutex);
    auto &[found, owner] = used[{device, stream, capture}];
    // A new stream may be at the address of a destroyed one, whose work may not be done.
    if (found && owner != id) CHECK(cudaDeviceSynchronize());
    owner = id;
    if ((memory = found)) return FASTREDUCE_SUCCESS;
    if (const auto node = spare.extract(device)) {
        memory = node.mapped();
    } else {
        cudaStream_t separate; // nothing else waits for it
        CHECK(cudaMalloc(&memory, FASTREDUCE_WORKSPACE_BYTES));
        CHECK(cudaStreamCreateWithFlags(&separate, cudaStreamNonBlocking));
        CHECK(fastreduce_workspace_init(memory, FASTREDUCE_WORKSPACE_BYTES, separate));
        CHECK(cudaStreamSynchronize(separate));
        CHECK(cudaStreamDestroy(separate));
    }
    found = memory;
    if (!capture) return FASTREDUCE_SUCCESS;
    cudaUserObject_t object;
    CHECK(cudaUserObjectCreate(&object, memory, give_back, 1, cudaUserObjectNoDestructorSync));
    return cudaGraphRetainUserObject(graph, object, 1, cudaGraphUserObjectMove);
}
#endif

// A call. It reduces rows, columns or segments of x, or adds up the products x * y.
struct reduction {
    TensorView x;
    fastreduce_operator op;
    bool exact;
    fastreduce_type asked; // of results, or 0
    fastreduce_type type = type_of(x);
    bool on_cpu = x.device().device_type == kDLCPU || x.device().device_type == kDLCUDAHost;
    fastreduce_shape shape = {1, 1, 1, 0, 0};
    const char *y = nullptr, *offsets = nullptr;
    fastreduce_config config = {};
    char *out = nullptr;
    std::vector<const void *> inputs = {}; // of a fold
    const char *index = nullptr;           // of a reduction by index to shape.inner results
    Tensor index_workspace = {};           // of PyTorch's memory, or none

    int64_t at(const void *from, size_t i) const
    {
        return config.offset_type == FASTREDUCE_I32 ? static_cast<const int32_t *>(from)[i]
                                                    : static_cast<const int64_t *>(from)[i];
    }
    // The first element of result k, and the number of its elements.
    std::pair<int64_t, int64_t> elements(size_t k) const
    {
        if (!offsets) return {k / shape.inner * shape.outer_stride + k % shape.inner, shape.n};
        const void *ends = config.end_offsets;
        const int64_t begin = at(offsets, k), end = ends ? at(ends, k) : at(offsets, k + 1);
        return {begin < end ? begin : 0, begin < end ? end - begin : 0};
    }
    fastreduce_status run_on_cpu(size_t result_size, size_t second_size) const
    {
        const auto dot = exact ? fastreduce_host_dot : fastreduce_host_pairwise_dot;
        fastreduce_config now = config; // of one result
        const auto reduce = [&](const char *from, char *to, size_t n) {
            return fastreduce_reduce_on_host(from, to, n, type, op, &now);
        };
        const size_t size = fastreduce_type_size(type);
        if (index) { // the elements of each result beside each other, in their order
            std::vector<size_t> ends(shape.inner + 1);
            std::vector<char> grouped(shape.n * size);
            const auto each = [&](const auto &use) {
                for (size_t i = 0; i < shape.n; ++i)
                    if (const size_t k = at(index, i); k < shape.inner) use(i, k);
            };
            each([&](size_t, size_t k) { ++ends[k + 1]; });
            for (size_t k = 0; k < shape.inner; ++k) ends[k + 1] += ends[k];
            const std::vector<size_t> begins = ends;
            each([&](size_t i, size_t k) {
                std::memcpy(&grouped[ends[k]++ * size], data(x) + i * size, size);
            });
            for (size_t k = 0; k < shape.inner; ++k) {
                const size_t n = ends[k] - begins[k];
                char *const to = out + k * result_size;
                if (op == FASTREDUCE_COUNT_NONZERO)
                    std::memcpy(to, &n, sizeof n);
                else
                    CHECK(reduce(grouped.data() + begins[k] * size, to, n));
            }
            return FASTREDUCE_SUCCESS;
        }
        if (!inputs.empty()) {
            std::vector<char> across(inputs.size() * size);
            for (size_t k = 0; k < shape.inner; ++k) {
                for (size_t i = 0; i < inputs.size(); ++i) {
                    const char *const from = static_cast<const char *>(inputs[i]);
                    std::memcpy(&across[i * size], from + k * size, size);
                }
                CHECK(reduce(across.data(), out + k * result_size, inputs.size()));
            }
            return FASTREDUCE_SUCCESS;
        }
        std::vector<char> columns[2];
        for (auto &column : columns)
            column.resize(x.numel() && shape.stride > 1 ? shape.n * size : 0);
        const auto collect = [&](const char *from, std::vector<char> &column) -> const char * {
            for (size_t i = 0; i < column.size(); i += size)
                std::memcpy(&column[i], from + i * shape.stride, size);
            return shape.stride > 1 ? column.data() : from;
        };
        for (size_t k = 0; k < shape.outer * shape.inner; ++k) {
            const auto [first, n] = elements(k);
            const char *const from = collect(data(x) + first * size, columns[0]);
            char *const to = out + k * result_size;
            if (config.second_output)
                now.second_output = static_cast<char *>(config.second_output) + k * second_size;
            CHECK(y ? dot(from, collect(y + first * size, columns[1]), to, n, type, asked)
                    : reduce(from, to, n));
        }
        return FASTREDUCE_SUCCESS;
    }
#if FASTREDUCE_PYTHON_CUDA
    fastreduce_status launch() const
    {
        const size_t count = shape.outer * shape.inner;
        if (!inputs.empty())
            return fastreduce_fold(inputs.data(), inputs.size(), out, count, type, op, &config);
        if (index)
            return fastreduce_reduce_by_index(op == FASTREDUCE_COUNT_NONZERO ? nullptr : data(x),
                                              index, out, shape.n, count, type, op, &config);
        const bool is_single = count == 1 && shape.stride <= 1;
        if (y && is_single) return fastreduce_dot(data(x), y, out, shape.n, type, &config);
        if (y) return fastreduce_dot_axis(data(x), y, out, &shape, type, &config);
        if (offsets)
            return fastreduce_reduce_segments(data(x), out, count, offsets, type, op, &config);
        if (is_single) return fastreduce_reduce(data(x), out, shape.n, type, op, &config);
        return fastreduce_reduce_axis(data(x), out, &shape, type, op, &config);
    }
    // By index the workspace grows with the results. Takes memory that PyTorch keeps: CUDA's pool,
    // which the call takes without, gives large pieces back whenever a stream waits. PyTorch may
    // use it again at once, so that a graph may not.
    fastreduce_status find_index_workspace()
    {
        cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
        if (cudaStreamIsCapturing(config.stream, &status) != cudaSuccess ||
            status != cudaStreamCaptureStatusNone || !TVMFFIEnvGetDLPackManagedTensorAllocator())
            return FASTREDUCE_SUCCESS;
        const int64_t bytes = fastreduce_by_index_workspace_bytes(shape.inner, type, op, &config);
        if (bytes == 0) return FASTREDUCE_SUCCESS;
        index_workspace =
            Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, {&bytes, 1}, {kDLUInt, 8, 1}, x.device());
        config.workspace = index_workspace.data_ptr();
        config.workspace_bytes = bytes;
        return fastreduce_workspace_init(config.workspace, config.workspace_bytes, config.stream);
    }
    fastreduce_status run_on_gpu()
    {
        const int device = x.device().device_id;
        const CUDADeviceGuard guard(device);
        config.stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(kDLCUDA, device));
        fastreduce_status status = index ? find_index_workspace() : FASTREDUCE_SUCCESS;
        cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
        cudaThreadExchangeStreamCaptureMode(&mode); // to allocate and to load kernels in a capture
        if (!index) {
            config.workspace_bytes = FASTREDUCE_WORKSPACE_BYTES;
            status = find_workspace(device, config.stream, config.workspace);
        }
        if (!status && (status = launch()) > 0) // the workspace may not be zero
            fastreduce_workspace_init(config.workspace, config.workspace_bytes, config.stream);
        cudaThreadExchangeStreamCaptureMode(&mode);
        return status;
    }
#endif
    // Returns where the results are written, unless the output does not fit them.
    char *output_of(const TensorView &output, DLDataType dtype, ShapeView sizes) const
    {
        if (output.dtype() != dtype)
            REFUSE(TypeError) << "out is of " << output.dtype() << ", the result of " << dtype;
        if (!fits(output, sizes, x.device()))
            REFUSE(ValueError) << "out has gaps, or another shape or device than the result";
        return data(output);
    }
    // Writes to the given output, or else to one of the library of x, which it returns; and second
    // results, if there is an array for them.
    Tensor run(const Optional<TensorView> &given, ShapeView sizes,
               const Optional<TensorView> &second = {})
    {
        const auto result = asked ? asked : fastreduce_output_type(type, op);
        const auto second_type = fastreduce_second_type(type, op);
        if (second && !second_type) REFUSE(TypeError) << "there is no second result";
        const bool chosen = !asked && (op == FASTREDUCE_MIN || op == FASTREDUCE_MAX ||
                                       op == FASTREDUCE_MIN_MAX); // may be bool
        const DLDataType dtype = chosen ? x.dtype() : dtypes[result - 1];
        Tensor made;
        if (!given) made = Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, sizes, dtype, x.device());
        out = output_of(given ? *given : TensorView(made), dtype, sizes);
        size_t second_size = 0;
        if (second) {
            const DLDataType its = second_type == type ? x.dtype() : dtypes[second_type - 1];
            char *const to = output_of(*second, its, sizes);
            second_size = its.bits / 8;
            const size_t count = second.value().numel();
            if (out < to + count * second_size && to < out + count * (dtype.bits / 8))
                REFUSE(ValueError) << "the two arrays of out overlap";
            config.second_output = to;
        }
        config.kernel = exact ? FASTREDUCE_EXACT : FASTREDUCE_AUTO;
        config.output_type = asked;
        fastreduce_status status = FASTREDUCE_ERROR_NO_DEVICE;
        if (on_cpu) {
            std::fenv_t before; // threads of XLA and PyTorch may take denormals for zeros
            std::fegetenv(&before);
            std::fesetenv(FE_DFL_ENV);
            status = run_on_cpu(dtype.bits / 8, second_size);
            std::fesetenv(&before);
        }
#if FASTREDUCE_PYTHON_CUDA
        if (x.device().device_type == kDLCUDA) status = run_on_gpu();
#endif
        if (status == FASTREDUCE_ERROR_NO_DEVICE)
            REFUSE(ValueError) << "this build does not read arrays on this device";
        if (status == FASTREDUCE_ERROR_UNSUPPORTED)
            REFUSE(TypeError) << "this build has no such reduction of " << x.dtype();
        if (status > 0) REFUSE(RuntimeError) << fastreduce_status_string(status);
        if (status) REFUSE(ValueError) << fastreduce_status_string(status);
        return made;
    }
};

// Runs a call that reduces these axes of an array.
Tensor reduce_axes(reduction job, Optional<TensorView> out, Optional<TensorView> second,
                   AnyView axis, bool keepdims)
{
    const TensorView &x = job.x;
    auto &[outer, n, inner, outer_stride, stride] = job.shape; // into which the axes are merged
    const auto single = axis.try_cast<int64_t>();
    const auto list = axis.try_cast<Array<int64_t>>();
    std::vector<int64_t> sizes(x.shape().begin(), x.shape().end()); // of the result
    size_t unit = 1, axes = single ? 1 : list ? list->size() : sizes.size();
    bool readable = true;
    for (int k = x.ndim(); k-- > 0;) {
        const auto is_k = [&](int64_t each) { return each == k || each == k - x.ndim(); };
        const bool reduced =
            single ? is_k(*single) : !list || std::any_of(list->begin(), list->end(), is_k);
        axes -= reduced;
        if (reduced && keepdims) sizes[k] = 1;
        if (reduced && !keepdims) sizes.erase(sizes.begin() + k);
        const size_t size = x.size(k), step = x.stride(k);
        if (size == 1) continue;
        const bool last = !reduced && outer == 1 && step == inner;
        size_t &merged = reduced ? n : last ? inner : outer;
        size_t &first_step = reduced ? stride : last ? unit : outer_stride;
        if (merged == 1) first_step = step;
        readable &= x.stride(k) > 0 && step == merged * first_step;
        merged *= size;
    }
    if (axes) REFUSE(ValueError) << "an axis is out of bounds, or occurs twice";
    if (!readable && x.numel())
        REFUSE(ValueError) << "these axes cannot be read without a copy: pass a contiguous array";
    if (!n &&
        ((job.op >= FASTREDUCE_MIN && job.op <= FASTREDUCE_ARGMAX) || job.op >= FASTREDUCE_MIN_MAX))
        REFUSE(ValueError) << "no elements have neither a least nor a greatest one";
    return job.run(out, ShapeView(sizes.data(), sizes.size()), second);
}

Tensor reduce_two(TensorView x, Optional<TensorView> out, Optional<TensorView> second, AnyView axis,
                  bool keepdims, fastreduce_operator op, bool exact, fastreduce_type asked)
{
    return reduce_axes({x, op, exact, asked}, out, second, axis, keepdims);
}

// An operator, to which 32 is added where NaNs do not count.
Tensor reduce(TensorView x, Optional<TensorView> out, AnyView axis, bool keepdims, int64_t op,
              bool exact, fastreduce_type asked)
{
    reduction job{x, static_cast<fastreduce_operator>(op % 32), exact, asked};
    job.config.options = op < 32 ? 0 : FASTREDUCE_SKIP_NAN;
    return reduce_axes(job, out, {}, axis, keepdims);
}

Tensor vecdot(TensorView x, TensorView y, Optional<TensorView> out, AnyView axis, bool keepdims,
              bool exact, fastreduce_type asked)
{
    if (x.dtype() != y.dtype()) REFUSE(TypeError) << "arrays are of different dtypes";
    const ShapeView sizes = x.shape(), other_sizes = y.shape();
    bool alike = std::equal(sizes.begin(), sizes.end(), other_sizes.begin(), other_sizes.end()) &&
                 is_on(y, x.device());
    for (int k = 0; alike && k < x.ndim(); ++k)
        alike = x.stride(k) == y.stride(k) || x.size(k) == 1 || !x.numel();
    if (!alike) REFUSE(ValueError) << "arrays have different shapes, strides or devices";
    reduction job{x, FASTREDUCE_SUM, exact, asked};
    job.y = data(y);
    return reduce_axes(job, out, {}, axis, keepdims);
}

Tensor dot(TensorView x, TensorView y, Optional<TensorView> out, bool exact, fastreduce_type asked)
{
    check_alike(x, y);
    reduction job{x, FASTREDUCE_SUM, exact, asked};
    job.y = data(y);
    job.shape.n = x.numel();
    return job.run(out, {nullptr, 0});
}

// The first array is by itself, as tvm-ffi takes the stream and the library from it.
Tensor fold(TensorView x, Array<Tensor> others, Optional<TensorView> out, fastreduce_operator op)
{
    reduction job{x, op, false, FASTREDUCE_DEFAULT_TYPE};
    job.inputs = {data(x)};
    if (others.size() >= 64) REFUSE(ValueError) << "there are more than 64 arrays";
    if (!x.IsContiguous()) REFUSE(ValueError) << "an array has gaps";
    for (const Tensor &each : others) {
        const TensorView y(each);
        if (x.dtype() != y.dtype()) REFUSE(TypeError) << "arrays are of different dtypes";
        if (!fits(y, x.shape(), x.device()))
            REFUSE(ValueError) << "arrays have gaps, or different shapes or devices";
        job.inputs.push_back(data(y));
    }
    job.shape.inner = x.numel();
    return job.run(out, x.shape());
}

Tensor segments(TensorView x, TensorView offsets, Optional<TensorView> ends,
                Optional<TensorView> out, fastreduce_operator op, bool exact, fastreduce_type asked)
{
    check_alike(x, x);
    check_alike(offsets, ends.value_or(offsets));
    reduction job{x, op, exact, asked};
    job.offsets = data(offsets);
    job.config.end_offsets = ends ? data(*ends) : nullptr;
    job.config.offset_type = type_of(offsets);
    if (offsets.dtype().code != kDLInt || offsets.dtype().bits < 32)
        REFUSE(TypeError) << "offsets have to be int32 or int64";
    const int64_t count = offsets.numel() - !ends;
    if (count < 0 || !fits(offsets, offsets.shape(), x.device()))
        REFUSE(ValueError) << "offsets have to be one number at least, on the device of the array";
    job.shape.outer = count;
    for (int64_t k = 0; job.on_cpu && k < count; ++k)
        if (const auto [first, n] = job.elements(k); first < 0 || first + n > x.numel())
            REFUSE(ValueError) << "segment " << k << " is not inside of the array";
    return job.run(out, {&count, 1});
}

// Sums of elements by index; or of an index alone how often each number occurs.
Tensor by_index(TensorView index, Optional<TensorView> x, Optional<TensorView> out, int64_t size,
                fastreduce_type asked)
{
    reduction job{x.value_or(index), x ? FASTREDUCE_SUM : FASTREDUCE_COUNT_NONZERO, false, asked};
    const int64_t n = index.numel();
    if (index.dtype().code != kDLInt || index.dtype().bits < 32)
        REFUSE(TypeError) << "an index has to be int32 or int64";
    if (index.ndim() != 1 || !index.IsContiguous() || !fits(job.x, {&n, 1}, index.device()))
        REFUSE(ValueError) << "arrays need one axis, no gaps, the same shapes, and one device";
    if (size < 0) REFUSE(ValueError) << "there are " << size << " results";
    job.exact = x && job.type <= FASTREDUCE_BF16;
    job.index = data(index);
    job.config.offset_type = type_of(index);
    job.shape.n = n;
    job.shape.inner = size;
    return job.run(out, {&size, 1});
}
} // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(reduce, reduce)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(reduce_two, reduce_two)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(dot, dot)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(vecdot, vecdot)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(fold, fold)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(segments, segments)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(by_index, by_index)

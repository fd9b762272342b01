// FastReduce for Python, by tvm-ffi: the C functions on tensors that speak DLPack. A call on a GPU
// goes to the caller's current stream and does not wait. Without FASTREDUCE_PYTHON_CUDA there are
// the functions of the CPU alone. What is refused is a TypeError (dtypes) or a ValueError (all
// else), before anything is launched or written.
#include <tvm/ffi/extra/c_env_api.h>
#include <tvm/ffi/tvm_ffi.h>
#include <algorithm>
#include <cfenv>
#include <cstring>
#include <optional>
#include <vector>
#if FASTREDUCE_PYTHON_CUDA
#include "workspaces.h"
#elif !defined(FASTREDUCE_HOST_IMPLEMENTATION)
#define FASTREDUCE_HOST_IMPLEMENTATION
#endif
#include "accumulators.h"
#include "fastreduce.h"

#define REFUSE(kind) TVM_FFI_THROW(kind) << "fastreduce: "

namespace
{
namespace ffi = tvm::ffi;
using ffi::AnyView;
using ffi::Tensor;
using ffi::TensorView;
using result = ffi::Optional<Tensor>; // what a call made; nothing if the caller gave an output

const struct {
    fastreduce_type type;
    DLDataType dtype;
} dtypes[] = {{FASTREDUCE_F32, {kDLFloat, 32, 1}}, {FASTREDUCE_F64, {kDLFloat, 64, 1}},
              {FASTREDUCE_F16, {kDLFloat, 16, 1}}, {FASTREDUCE_BF16, {kDLBfloat, 16, 1}},
              {FASTREDUCE_I8, {kDLInt, 8, 1}},     {FASTREDUCE_I16, {kDLInt, 16, 1}},
              {FASTREDUCE_I32, {kDLInt, 32, 1}},   {FASTREDUCE_I64, {kDLInt, 64, 1}},
              {FASTREDUCE_U8, {kDLUInt, 8, 1}},    {FASTREDUCE_U16, {kDLUInt, 16, 1}},
              {FASTREDUCE_U32, {kDLUInt, 32, 1}},  {FASTREDUCE_U64, {kDLUInt, 64, 1}},
              {FASTREDUCE_U8, {kDLBool, 8, 1}}};

bool same(DLDevice a, DLDevice b)
{
    return a.device_type == b.device_type && a.device_id == b.device_id;
}

fastreduce_type type_of(DLDataType dtype)
{
    for (const auto &one : dtypes)
        if (one.dtype == dtype) return one.type;
    const ffi::String name = dtype.code == kDLComplex ? "complex" : ffi::DLDataTypeToString(dtype);
    REFUSE(TypeError) << "there are no elements of " << name;
    TVM_FFI_UNREACHABLE();
}

// The dtype of a result; `asked` is 0 or a type. The least and the greatest bool are bools.
DLDataType result_dtype(DLDataType input, int64_t op, int64_t asked)
{
    if (!asked && (op == FASTREDUCE_MIN || op == FASTREDUCE_MAX)) return input;
    const auto own = fastreduce_output_type(type_of(input), static_cast<fastreduce_operator>(op));
    for (const auto &one : dtypes)
        if (one.type == (asked ? static_cast<fastreduce_type>(asked) : own)) return one.dtype;
    REFUSE(ValueError) << "there is no operator " << op;
    TVM_FFI_UNREACHABLE();
}

char *data(const TensorView &x) { return static_cast<char *>(x.data_ptr()) + x.byte_offset(); }

// Rounding to nearest, and denormals that are numbers, until the end of its scope: the CPU's
// functions need both, and XLA's and PyTorch's threads may flush denormals.
class usual_arithmetic
{
  public:
    usual_arithmetic()
    {
        std::fegetenv(&before);
        std::fesetenv(FE_DFL_ENV);
    }
    ~usual_arithmetic() { std::fesetenv(&before); }

  private:
    std::fenv_t before;
};

// A call: its input, and what is asked of it.
struct call {
    TensorView x;
    int64_t op;
    bool exact;
    int64_t asked;
    fastreduce_operator named = static_cast<fastreduce_operator>(op);
    fastreduce_type output_type = static_cast<fastreduce_type>(asked);
    fastreduce_type type = type_of(x.dtype());
    DLDataType dtype = result_dtype(x.dtype(), op, asked);

    bool on_cpu() const
    {
        const int device = x.device().device_type;
        if (device == kDLCPU || device == kDLCUDAHost) return true;
        if (device != kDLCUDA) REFUSE(ValueError) << "arrays are on the CPU or on NVIDIA GPUs";
        if (!FASTREDUCE_PYTHON_CUDA)
            REFUSE(ValueError) << "the array is on a GPU, and this package was built without CUDA";
        return false;
    }

    void check(fastreduce_status status) const
    {
        if (status == FASTREDUCE_ERROR_UNSUPPORTED)
            REFUSE(TypeError) << "there is no " << (exact ? "exact " : "")
                              << fastreduce_operator_name(named) << " of "
                              << ffi::DLDataTypeToString(x.dtype())
                              << " here with such a result (show_config())";
        if (status > 0) REFUSE(RuntimeError) << fastreduce_status_string(status);
        if (status) REFUSE(ValueError) << fastreduce_status_string(status);
    }

    // One result of contiguous elements on the CPU.
    void reduce_on_cpu(const char *elements, size_t n, char *out) const
    {
        const auto function = exact ? fastreduce_host_reduce : fastreduce_host_pairwise;
        check(function(elements, out, n, type, named, output_type));
    }

    // function(config), with the caller's device and stream and a workspace of theirs
    template <class Function>
    void on_gpu([[maybe_unused]] const Function &function) const
    {
#if FASTREDUCE_PYTHON_CUDA
        const current_device device(x.device().device_id);
        const relaxed_capture relaxed;
        fastreduce_config config = {};
        config.kernel = exact ? FASTREDUCE_EXACT : FASTREDUCE_AUTO;
        config.output_type = output_type;
        config.stream = static_cast<cudaStream_t>(TVMFFIEnvGetStream(kDLCUDA, device.number));
        config.workspace = workspaces().get(device.number, config.stream);
        config.workspace_bytes = FASTREDUCE_WORKSPACE_BYTES;
        const fastreduce_status status = function(config);
        if (status > 0) workspaces().drop(config.workspace);
        check(status);
#endif
    }
};

// The output of a call: the caller's, or else one that the library of the input allocates.
struct output {
    char *pointer;
    result made;

    output(const AnyView &given, const call &of, ffi::ShapeView shape)
    {
        const std::optional<TensorView> out = given.try_cast<TensorView>();
        if (!out) {
            made = Tensor::FromEnvAlloc(TVMFFIEnvTensorAlloc, shape, of.dtype, of.x.device());
            pointer = static_cast<char *>((*made).data_ptr());
            return;
        }
        pointer = data(*out);
        if (out->dtype() != of.dtype)
            REFUSE(TypeError) << "out is of " << ffi::DLDataTypeToString(out->dtype())
                              << ", the result of " << ffi::DLDataTypeToString(of.dtype);
        if (!std::equal(shape.begin(), shape.end(), out->shape().begin(), out->shape().end()))
            REFUSE(ValueError) << "out does not have the shape of the result";
        if (!out->IsContiguous()) REFUSE(ValueError) << "out has gaps";
        if (!same(out->device(), of.x.device()))
            REFUSE(ValueError) << "out is on another device than the input";
    }
};

constexpr int most_axes = 64;

// A bit for each axis that is reduced.
uint64_t axes_of(const AnyView &axis, int count)
{
    if (axis.type_index() == ffi::TypeIndex::kTVMFFINone) return ~uint64_t{0};
    uint64_t bits = 0;
    const auto add = [&](int64_t one) {
        if (one < -count || one >= count)
            REFUSE(ValueError) << "axis " << one << " is out of bounds of " << count << " axes";
        const uint64_t bit = uint64_t{1} << (one < 0 ? one + count : one);
        if (bits & bit) REFUSE(ValueError) << "axis " << one << " occurs twice";
        bits |= bit;
    };
    if (const std::optional<int64_t> one = axis.try_cast<int64_t>())
        add(*one);
    else
        for (int64_t each : axis.cast<ffi::Array<int64_t>>()) add(each);
    return bits;
}

// The axes of x merged into outer x n x inner, and the shape of the output.
struct reduction {
    fastreduce_shape shape = {1, 1, 1, 0, 0};
    int64_t results[most_axes]; // its last `count` are the output's
    int count = 0;

    reduction(const TensorView &x, const AnyView &axis, bool keepdims)
    {
        if (x.ndim() > most_axes) REFUSE(ValueError) << "an array has 64 axes at most here";
        const uint64_t axes = axes_of(axis, x.ndim());
        const bool empty = x.numel() == 0;
        bool fits = true;
        for (int k = x.ndim(); k-- > 0;) {
            const bool reduced = axes >> k & 1;
            const size_t size = static_cast<size_t>(x.size(k));
            const size_t stride = static_cast<size_t>(x.stride(k));
            if (!reduced || keepdims) results[most_axes - ++count] = reduced ? 1 : x.size(k);
            if (size == 1) continue;
            if (!reduced && !empty && shape.outer == 1 && stride == shape.inner) {
                shape.inner *= size;
                continue;
            }
            size_t &merged = reduced ? shape.n : shape.outer;
            size_t &step = reduced ? shape.stride : shape.outer_stride;
            if (merged == 1) step = stride;
            fits &= empty || (x.stride(k) > 0 && stride == merged * step);
            merged *= size;
        }
        if (empty) shape.stride = shape.outer_stride = 0;
        if (!fits)
            REFUSE(ValueError) << "these axes cannot be read without a copy, which is not made: "
                                  "reduced ones have to follow each other without gaps, and all "
                                  "others but the first, too; pass a contiguous array";
    }
    ffi::ShapeView output_shape() const
    {
        return {results + most_axes - count, static_cast<size_t>(count)};
    }
};

result reduce(TensorView x, AnyView given, AnyView axis, bool keepdims, int64_t op, bool exact,
              int64_t asked)
{
    const call self{x, op, exact, asked};
    const bool cpu = self.on_cpu();
    const reduction merged(x, axis, keepdims);
    const fastreduce_shape &shape = merged.shape;
    if (!shape.n && op >= FASTREDUCE_MIN && op <= FASTREDUCE_ARGMAX)
        REFUSE(ValueError) << "no elements have neither a least nor a greatest one";
    const output out(given, self, merged.output_shape());
    if (!cpu) {
        self.on_gpu([&](const fastreduce_config &config) {
            if (shape.outer * shape.inner == 1 && shape.stride <= 1)
                return fastreduce_reduce(data(x), out.pointer, shape.n, self.type, self.named,
                                         &config);
            return fastreduce_reduce_axis(data(x), out.pointer, &shape, self.type, self.named,
                                          &config);
        });
        return out.made;
    }
    const usual_arithmetic usual;
    const size_t size = fastreduce_type_size(self.type), stride = shape.n > 1 ? shape.stride : 1;
    std::vector<char> column(stride == 1 ? 0 : shape.n * size);
    for (size_t k = 0; k < shape.outer * shape.inner; ++k) {
        const char *from =
            data(x) + (k / shape.inner * shape.outer_stride + k % shape.inner) * size;
        for (size_t i = 0; i < column.size() / size; ++i)
            std::memcpy(&column[i * size], from + i * stride * size, size);
        self.reduce_on_cpu(stride == 1 ? from : column.data(), shape.n,
                           out.pointer + k * (self.dtype.bits / 8));
    }
    return out.made;
}

// x and y lie without gaps, and are alike, or y is nothing.
void check_alike(const TensorView &x, const std::optional<TensorView> &y)
{
    if (!x.IsContiguous() || (y && !y->IsContiguous()))
        REFUSE(ValueError) << "arrays with gaps, or with axes in another order, are not taken here";
    if (!y) return;
    if (x.dtype() != y->dtype()) REFUSE(TypeError) << "arrays are of different dtypes";
    if (x.numel() != y->numel() || x.ndim() != y->ndim())
        REFUSE(ValueError) << "arrays have different shapes";
    if (!same(x.device(), y->device())) REFUSE(ValueError) << "arrays are on different devices";
}

result dot(TensorView x, TensorView y, AnyView given, bool exact, int64_t asked)
{
    check_alike(x, y);
    if (x.ndim() != 1) REFUSE(ValueError) << "dot takes arrays of one axis";
    const call self{x, FASTREDUCE_SUM, exact, asked};
    const bool cpu = self.on_cpu();
    const output out(given, self, {nullptr, 0});
    const size_t n = static_cast<size_t>(x.size(0));
    const auto function = exact ? fastreduce_host_dot : fastreduce_host_pairwise_dot;
    const usual_arithmetic usual;
    if (cpu)
        self.check(function(data(x), data(y), out.pointer, n, self.type, self.output_type));
    else
        self.on_gpu([&](const fastreduce_config &config) {
            return fastreduce_dot(data(x), data(y), out.pointer, n, self.type, &config);
        });
    return out.made;
}

result segments(TensorView x, TensorView offsets, AnyView ends, AnyView given, int64_t op,
                bool exact, int64_t asked)
{
    const std::optional<TensorView> end = ends.try_cast<TensorView>();
    check_alike(x, {});
    check_alike(offsets, end);
    if (x.ndim() != 1 || offsets.ndim() != 1)
        REFUSE(ValueError) << "elements and offsets of segments have one axis";
    const call self{x, op, exact, asked};
    const fastreduce_type index = type_of(offsets.dtype());
    if (index != FASTREDUCE_I32 && index != FASTREDUCE_I64)
        REFUSE(TypeError) << "offsets have to be int32 or int64";
    if (!same(offsets.device(), x.device()))
        REFUSE(ValueError) << "offsets are on another device than the elements";
    const int64_t count = offsets.size(0) - (end ? 0 : 1);
    if (count < 0) REFUSE(ValueError) << "offsets have to hold one number at least";
    const output out(given, self, {&count, 1});
    if (self.on_cpu()) {
        const usual_arithmetic usual;
        const auto at = [&](const TensorView &from, int64_t k) {
            return index == FASTREDUCE_I32 ? reinterpret_cast<const int32_t *>(data(from))[k]
                                           : reinterpret_cast<const int64_t *>(data(from))[k];
        };
        const size_t size = fastreduce_type_size(self.type), result_size = self.dtype.bits / 8;
        for (bool checked : {false, true}) // all segments are looked at before one is reduced
            for (int64_t k = 0; k < count; ++k) {
                const int64_t from = at(offsets, k), to = end ? at(*end, k) : at(offsets, k + 1);
                const int64_t n = std::max<int64_t>(to - from, 0);
                if (n && (from < 0 || to > x.size(0)))
                    REFUSE(ValueError) << "segment " << k << " is not inside of the array";
                if (checked)
                    self.reduce_on_cpu(data(x) + (n ? from : 0) * size, n,
                                       out.pointer + k * result_size);
            }
        return out.made;
    }
    self.on_gpu([&](fastreduce_config config) {
        config.offset_type = index;
        config.end_offsets = end ? data(*end) : nullptr;
        return fastreduce_reduce_segments(data(x), out.pointer, static_cast<size_t>(count),
                                          data(offsets), self.type, self.named, &config);
    });
    return out.made;
}

// Adds x, or the products x * y, to the limbs of an accumulator, which are int64 and where x is.
void accumulate(TensorView x, AnyView factor, TensorView limbs)
{
    const std::optional<TensorView> y = factor.try_cast<TensorView>();
    check_alike(x, y);
    const call self{x, FASTREDUCE_SUM, true, 0};
    const size_t n = static_cast<size_t>(x.numel()), count = self.type == FASTREDUCE_F64;
    const int64_t sizes[] = {sizeof(fastreduce_accumulator), sizeof(fastreduce_wide_accumulator),
                             sizeof(fastreduce_product_accumulator)};
    if (limbs.dtype() != DLDataType{kDLInt, 64, 1} || limbs.numel() * 8 != sizes[count + !!y] ||
        !same(limbs.device(), x.device()))
        REFUSE(ValueError) << "the limbs are not those of an accumulator of these elements";
    void *sum = data(limbs);
    const auto *doubles = reinterpret_cast<const double *>(data(x));
    const auto *factors = reinterpret_cast<const double *>(y ? data(*y) : nullptr);
    auto *narrow = static_cast<fastreduce_accumulator *>(sum);
    auto *wide = static_cast<fastreduce_wide_accumulator *>(sum);
    auto *products = static_cast<fastreduce_product_accumulator *>(sum);
    if (self.on_cpu()) {
        if (self.type != FASTREDUCE_F64)
            self.check(y ? fastreduce_host_accumulate_dot(data(x), data(*y), wide, n, self.type)
                         : fastreduce_host_accumulate(data(x), narrow, n, self.type));
        else if (y)
            fastreduce_host_accumulate_dot_f64(doubles, factors, products, n);
        else
            fastreduce_host_accumulate_f64(doubles, wide, n);
        return;
    }
    self.on_gpu([&](const fastreduce_config &config) {
        if (self.type == FASTREDUCE_F64)
            return y ? fastreduce_accumulate_dot_f64(doubles, factors, products, n, &config)
                     : fastreduce_accumulate_f64(doubles, wide, n, &config);
        return y ? fastreduce_accumulate_dot(data(x), data(*y), wide, n, self.type, &config)
                 : fastreduce_accumulate(data(x), narrow, n, self.type, &config);
    });
}

int64_t output_type(int64_t type, int64_t op)
{
    return fastreduce_output_type(static_cast<fastreduce_type>(type),
                                  static_cast<fastreduce_operator>(op));
}

// Whether there is this reduction on the GPU: 1 of one array, 2 of many, 4 dot products.
int64_t supports(int64_t type, int64_t op, bool exact)
{
    const auto element = static_cast<fastreduce_type>(type);
    const auto named = static_cast<fastreduce_operator>(op);
    const fastreduce_kernel kernel = exact ? FASTREDUCE_EXACT : FASTREDUCE_AUTO;
#if FASTREDUCE_PYTHON_CUDA
    return fastreduce_supports(element, named, kernel) |
           fastreduce_supports_shapes(element, named, kernel) << 1 |
           fastreduce_supports_dot(element, kernel) << 2;
#else
    return element && named && kernel && false;
#endif
}
} // namespace

TVM_FFI_DLL_EXPORT_TYPED_FUNC(reduce, reduce)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(dot, dot)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(segments, segments)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(accumulate, accumulate)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(merge_accumulators, merge_accumulators)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(accumulator_value, accumulator_value)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(output_type, output_type)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(supports, supports)
TVM_FFI_DLL_EXPORT_TYPED_FUNC(version, fastreduce_version)

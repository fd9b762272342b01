// Exact partial sums: the limbs of fastreduce.h's three accumulators, as bytes in Python, or as a
// tensor of int64 on the GPU.
#pragma once
#include <tvm/ffi/tvm_ffi.h>
#include <cstring>
#include <optional>
#include <string>
#include "fastreduce.h"

namespace
{
// function(accumulator) of the accumulator that has so many bytes
template <class Function>
auto with_accumulator(const char *limbs, size_t bytes, Function function)
{
    const auto of = [&](auto accumulator) {
        std::memcpy(&accumulator, limbs, sizeof accumulator);
        return function(accumulator);
    };
    if (bytes == sizeof(fastreduce_accumulator)) return of(fastreduce_accumulator{});
    if (bytes == sizeof(fastreduce_wide_accumulator)) return of(fastreduce_wide_accumulator{});
    if (bytes == sizeof(fastreduce_product_accumulator))
        return of(fastreduce_product_accumulator{});
    TVM_FFI_THROW(ValueError) << "fastreduce: no accumulator has " << bytes << " bytes";
    TVM_FFI_UNREACHABLE();
}
void merge(fastreduce_accumulator &into, const fastreduce_accumulator &from)
{
    fastreduce_accumulator_merge(&into, &from);
}
void merge(fastreduce_wide_accumulator &into, const fastreduce_wide_accumulator &from)
{
    fastreduce_wide_accumulator_merge(&into, &from);
}
void merge(fastreduce_product_accumulator &into, const fastreduce_product_accumulator &from)
{
    fastreduce_product_accumulator_merge(&into, &from);
}
double value(const fastreduce_accumulator &sum, bool as_float)
{
    return as_float ? fastreduce_accumulator_f32(&sum) : fastreduce_accumulator_f64(&sum);
}
double value(const fastreduce_wide_accumulator &sum, bool as_float)
{
    return as_float ? fastreduce_wide_accumulator_f32(&sum) : fastreduce_wide_accumulator_f64(&sum);
}
double value(const fastreduce_product_accumulator &sum, bool)
{
    return fastreduce_product_accumulator_f64(&sum);
}

tvm::ffi::Bytes merge_accumulators(tvm::ffi::Bytes a, tvm::ffi::Bytes b)
{
    if (a.size() != b.size())
        TVM_FFI_THROW(ValueError) << "fastreduce: accumulators of different dtypes do not merge";
    return with_accumulator(a.data(), a.size(), [&](auto into) {
        auto from = into;
        std::memcpy(&from, b.data(), sizeof from);
        merge(into, from);
        return tvm::ffi::Bytes(reinterpret_cast<const char *>(&into), sizeof into);
    });
}
double accumulator_value(tvm::ffi::Bytes limbs, bool as_float)
{
    return with_accumulator(limbs.data(), limbs.size(),
                            [&](const auto &sum) { return value(sum, as_float); });
}
} // namespace

"""-use_fast_math and -ftz=true change no bit: AUTO and EXACT are what fastreduce.h says under any
flags of nvcc.

python3 fast_math.py ROOT NVCC [all]

The PTX of all kernels, compiled with these flags, must have
  - no .ftz: additions, comparisons and conversions would take denormals for zeros; but setp.nan
    may have it, as a denormal is no NaN, and neither is a zero;
  - no .approx and no .full: divisions and roots would not be rounded to nearest;
  - no fma but in inline PTX, which is where the source asks for one; and no product that may still
    be fused, as one without .rn may.
f32 and f16 by the operators that round are compiled, as all types and operators take minutes: with
`all` these are. No GPU needed. The checks are first tried on kernels that are wrong.
"""
import os
import re
import subprocess
import sys

import memory_model

SOURCE = """
#define FASTREDUCE_IMPLEMENTATION
#define FASTREDUCE_WITH_SHAPES
#define FASTREDUCE_WITH_EXACT_PRODUCTS
#define FASTREDUCE_WITH_BY_INDEX
#include "fastreduce.cuh"
using namespace fastreduce;
template fastreduce_status fastreduce::reduce_by(const float *, double *, size_t, plus, double,
                                                 cudaStream_t, workspace);
template fastreduce_status fastreduce::reduce_by(const double *, float *, size_t, plus, float,
                                                 cudaStream_t, workspace);
"""
# Other operators share their arithmetic, and integers have none of floats.
FEW = ["-DFASTREDUCE_TYPES=FASTREDUCE_F32+FASTREDUCE_F16",
       "-DFASTREDUCE_OPERATORS=" + "+".join(
           "FASTREDUCE_" + name for name in ("SUM", "PRODUCT", "MAX", "NORM2", "VARIANCE"))]
PORTABLE = ["-DFASTREDUCE_TYPES=FASTREDUCE_F32", "-DFASTREDUCE_NO_EXACT", "-DFASTREDUCE_NO_LADDER",
            "-DFASTREDUCE_OPERATORS=FASTREDUCE_SUM+FASTREDUCE_MAX+FASTREDUCE_VARIANCE"]
BUILDS = [("90", ["-use_fast_math"] + FEW), ("75", ["-ftz=true"] + PORTABLE)]
ALL = [("90", ["-use_fast_math"]), ("75", ["-ftz=true"])]

# The name of each kernel says what is to be found in it.
SELF_CHECK = """
extern "C" __global__ void right(float *x, double *y)
{
    float sum;
    asm("fma.rn.f32 %0, %1, %2, %3;" : "=f"(sum) : "f"(x[1]), "f"(x[2]), "f"(x[3]));
    asm("add.rn.f32 %0, %1, %2;" : "=f"(*x) : "f"(sum), "f"(x[4]));
    *y = __dadd_rn(__dmul_rn(y[1], y[2]), y[3]) / y[4];
}
extern "C" __global__ void right_nan(float *x, int *y) { *y = x[1] != x[1] || x[2] != x[2]; }
extern "C" __global__ void flushes(float *x) { *x += x[1]; }
extern "C" __global__ void flushes_intrinsic(float *x) { *x = __fmul_rn(x[1], x[2]); }
extern "C" __global__ void flushes_comparing(float *x) { *x = x[1] == x[2] ? x[3] : x[4]; }
extern "C" __global__ void flushes_converting(float *x, double *y) { *y = *x; }
extern "C" __global__ void approximates(float *x) { *x = x[1] / x[2]; }
extern "C" __global__ void approximates_root(float *x) { *x = sqrtf(*x); }
extern "C" __global__ void fuses(double *y) { *y += y[1] * y[2]; }
extern "C" __global__ void fusable(double *y) { *y = y[1] * y[2]; }
"""
RULES = {"flushes": ".ftz", "approximates": "approximate", "fuses": "fused by the compiler",
         "fusable": "may be fused"}
FLOATS = ("f16", "f16x2", "bf16", "bf16x2", "f32", "f32x2", "f64")


def wrong_in(function):
    """What is wrong with the arithmetic of a function: a list of sentences."""
    wrong, inline = [], False
    for words in function.statements:
        if words[0] in ("inline_begins", "inline_ends"):
            inline = words[0] == "inline_begins"
            continue
        parts = memory_model.split(words)[1]
        text = " ".join(words)
        if "ftz" in parts and parts[:2] != ["setp", "nan"]:
            wrong.append(f".ftz: {text}")
        if "approx" in parts or "full" in parts:
            wrong.append(f"approximate: {text}")
        if parts[-1] in FLOATS and not inline:
            if parts[0] in ("fma", "mad"):
                wrong.append(f"fused by the compiler: {text}")
            if parts[0] == "mul" and "rn" not in parts:
                wrong.append(f"may be fused: {text}")
    return wrong


def functions_of(ptx):
    """memory_model's, in which statements say where inline PTX begins and ends."""
    return memory_model.functions_of(
        re.sub(r"// (begin|end) inline asm", r"inline_\1s;", ptx))


def self_check(nvcc, root):
    functions, kernels = functions_of(memory_model.ptx_of(nvcc, root, SELF_CHECK, "80",
                                                          ["-use_fast_math"]))
    for kernel in kernels:
        wrong, rule = wrong_in(functions[kernel]), RULES.get(kernel.split("_")[0])
        if not any(rule in sentence for sentence in wrong) if rule else wrong:
            sys.exit(f"FAIL: self-check: {kernel}: {wrong}")
    right = sum(kernel.startswith("right") for kernel in kernels)
    print(f"ok: the checks find what is wrong in {len(kernels) - right} kernels, and nothing in "
          f"{right}")


def main():
    root, nvcc = os.path.abspath(sys.argv[1]), sys.argv[2]
    known = subprocess.run([nvcc, "--list-gpu-arch"], stdout=subprocess.PIPE,
                           universal_newlines=True, check=True).stdout.split()
    self_check(nvcc, root)
    with open(os.path.join(root, "fastreduce.cuh"), encoding="utf-8") as file:
        named = set(re.findall(r"^__global__ void [^{;]*?\b(\w+)\([^()]*\)\s*\{", file.read(),
                               re.MULTILINE))
    failed, seen = 0, set()
    for arch, flags in ALL if sys.argv[3:] == ["all"] else BUILDS:
        if "compute_" + arch not in known:
            arch = "80"
        functions, kernels = functions_of(memory_model.ptx_of(nvcc, root, SOURCE, arch, flags))
        wrong = [f"{name}: {sentence}" for name, function in functions.items()
                 for sentence in wrong_in(function)]
        for sentence in wrong[:20]:
            print(f"FAIL: {flags[0]}, compute_{arch}: {sentence}")
        failed += len(wrong)
        seen |= {name for name in named for kernel in kernels if name in kernel}
        if not wrong:
            print(f"ok: {flags[0]}, compute_{arch}: {len(functions)} functions, {len(kernels)} of "
                  "them kernels, flush no denormals, and fuse and round as the source says")
    if seen != named or len(named) < 3:
        sys.exit(f"FAIL: these kernels are not there: {sorted(named - seen)}, of {len(named)}")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())

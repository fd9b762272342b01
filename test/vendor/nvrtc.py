"""NVRTC compiles the kernels at run time, from the two files alone and without an include folder.

python3 nvrtc.py ROOT [LIBRARY ...]   LIBRARY is a libnvrtc.so, or nvcc, whose toolkit has one

For every C++ standard, and for the oldest and the newest architecture that the library knows, of
nvcc's for the first of each generation: PTX, and the assembler's word that it is right. (nvcc
compiles for all.) For these two the kernels that take the compiler longest, too. No GPU needed.
"""
import ctypes
import glob
import os
import re
import shutil
import sys

KERNELS = ["v0_baseline<plus, float, float>", "v1_no_divergence<plus, long long, int>",
           "v2_no_bank_conflict<minimum, float, float>",
           "v3_add_during_load<maximum, double, double>",
           "v4_unroll_last_warp<minimum, int, int>",
           "v5_completely_unroll<maximum, 128, unsigned, unsigned>",
           "v6_multi_add<plus, 512, 4, unsigned long long, unsigned char>",
           "v7_shuffle<minimum, 1024, 8, signed char, signed char>",
           "detail::reduce_pairwise<detail::reducer_t<plus, float>, 256, 4, false>",
           "detail::reduce_pairwise<detail::reducer_t<maximum, signed char>, 512, 8, true>",
           "detail::reduce_pairwise<detail::reducer_t<add_points, point>, 512, 8, true>",
           "detail::reduce_pairwise<detail::reducer_t<plus, unsigned short>, 512, 8, true>",
           "detail::reduce_exact<detail::superaccumulator<256>, 4>"]
# to compile
LONGEST = ["detail::reduce_exact<detail::superaccumulator<512>, 4>",
           "detail::reduce_pairwise<detail::reducer_t<minimum, double>, 512, 8, true>"]

SOURCE = """
#include "fastreduce.cuh"
using namespace fastreduce;
using namespace fastreduce::detail;
static_assert(bounds<int>::greatest() == 2147483647, "int");
static_assert(bounds<int>::least() == -2147483647 - 1, "int");
static_assert(bounds<unsigned char>::greatest() == 255, "unsigned char");
static_assert(bounds<unsigned char>::least() == 0, "unsigned char");
static_assert(bounds<long long>::greatest() == 9223372036854775807, "long long");
struct point { /* of a size that does not divide 16 */
    float x, y, z;
};
struct add_points {
    template <class Value>
    static __device__ Value identity()
    {
        return {0, 0, 0};
    }
    __device__ point operator()(point a, point b) const
    {
        return {a.x + b.x, a.y + b.y, a.z + b.z};
    }
};
extern "C" __global__ void own_kernel(const float *x, float *sums)
{
    __shared__ float slots[8];
    const float sum = block_reduce<256, plus>(x[blockIdx.x * 256 + threadIdx.x], slots);
    if (threadIdx.x == 0) sums[blockIdx.x] = sum;
}
extern "C" __global__ void own_exact_kernel(const float *x, const double *y, double *sums,
                                            fastreduce_accumulator *total,
                                            fastreduce_wide_accumulator *wide)
{
    __shared__ fastreduce_accumulator slots[8];
    const float sum = exact_block_reduce<256>(x[blockIdx.x * 256 + threadIdx.x], slots);
    if (threadIdx.x > 0) return;
    exact_atomic_add(total, sum);
    exact_atomic_add(wide, y[blockIdx.x]);
    exact_carry(wide);
    sums[blockIdx.x] = exact_value<double>(total) + exact_value(wide);
}
"""


class Nvrtc:
    def __init__(self, path):
        # by its full path, so that NVRTC finds it loaded: the loader
        # may not know the toolkit's folder
        beside = os.path.join(os.path.dirname(path), "libnvrtc-builtins.so*")
        for builtins in sorted(glob.glob(beside))[:1]:
            ctypes.CDLL(builtins, ctypes.RTLD_GLOBAL)
        self.library = ctypes.CDLL(path)
        major, minor = ctypes.c_int(), ctypes.c_int()
        self.check("nvrtcVersion", ctypes.byref(major), ctypes.byref(minor))
        self.name = f"NVRTC {major.value}.{minor.value}"
        self.newest_standard = 20 if major.value >= 12 else 17
        count = ctypes.c_int()
        self.check("nvrtcGetNumSupportedArchs", ctypes.byref(count))
        self.architectures = (ctypes.c_int * count.value)()
        self.check("nvrtcGetSupportedArchs", self.architectures)

    def check(self, function, *arguments):
        error = getattr(self.library, function)(*arguments)
        if error:
            raise RuntimeError(f"{function}: error {error}")

    def text(self, program, what):
        size = ctypes.c_size_t()
        self.check(f"nvrtcGet{what}Size", program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        self.check(f"nvrtcGet{what}", program, buffer)
        return buffer.value.decode(errors="replace")

    def compile(self, headers, kernels, architecture, standard):
        """What is wrong, or None."""
        names = (ctypes.c_char_p * len(headers))(*(name.encode() for name in headers))
        texts = (ctypes.c_char_p * len(headers))(*(text.encode() for text in headers.values()))
        program = ctypes.c_void_p()
        self.check("nvrtcCreateProgram", ctypes.byref(program), SOURCE.encode(), b"program.cu",
                   len(headers), texts, names)
        try:
            expressions = [("fastreduce::" + kernel).encode() for kernel in kernels]
            for expression in expressions:
                self.check("nvrtcAddNameExpression", program, expression)
            options = [f"--gpu-architecture=sm_{architecture}".encode(),
                       f"--std=c++{standard}".encode()]
            error = self.library.nvrtcCompileProgram(program, len(options),
                                                     (ctypes.c_char_p * 2)(*options))
            log = re.sub("nvrtc: warning: Architectures prior .* deprecated.*\n", "",
                         self.text(program, "ProgramLog")).strip()
            if error or log:
                return log or f"error {error}"
            entries = set(re.findall(r"\.entry (\w+)", self.text(program, "PTX")))
            for expression in expressions:
                lowered = ctypes.c_char_p()
                self.check("nvrtcGetLoweredName", program, expression, ctypes.byref(lowered))
                if lowered.value.decode() not in entries:
                    return f"no kernel {expression.decode()}"
            size = ctypes.c_size_t()
            self.check("nvrtcGetCUBINSize", program, ctypes.byref(size))
            return None if "own_kernel" in entries and size.value > 0 else "nothing compiled"
        finally:
            self.check("nvrtcDestroyProgram", ctypes.byref(program))


def library_of(path):
    """The library itself, or the one of nvcc's toolkit; None where that has none."""
    if ".so" in os.path.basename(path):
        return path
    toolkit = os.path.dirname(os.path.dirname(os.path.realpath(shutil.which(path) or path)))
    found = [file for folder in ("lib64", "lib", "targets/x86_64-linux/lib", "lib/x86_64-linux-gnu")
             for file in sorted(glob.glob(f"{toolkit}/{folder}/libnvrtc.so*"))]
    return found[0] if found else None


def main():
    root = sys.argv[1]
    headers = {}
    for name in ("fastreduce.h", "fastreduce.cuh"):
        with open(os.path.join(root, name), encoding="utf-8") as file:
            headers[name] = file.read()
    failed = compiled = 0
    for path in sys.argv[2:]:
        library = library_of(path)
        if not library:
            print(f"skip: NVRTC ({path} comes without one)")
            continue
        nvrtc = Nvrtc(library)
        known = sorted(nvrtc.architectures)
        oldest, newest = known[0], known[-1]
        some = sorted({arch // 10: arch for arch in reversed(known)}.values())
        if library == path:
            some = [oldest, newest]
        runs = [(LONGEST, arch, 17) for arch in (oldest, newest)]
        standards = sorted({17, nvrtc.newest_standard})
        runs += [(KERNELS, newest, standard) for standard in standards if standard > 17]
        runs += [(KERNELS, arch, 17) for arch in some]
        for kernels, architecture, standard in runs:
            wrong = nvrtc.compile(headers, kernels, architecture, standard)
            if wrong:
                print(f"FAIL: {nvrtc.name}, sm_{architecture}, C++{standard}: {wrong[:2000]}")
                failed += 1
        compiled += len(runs)
        if not failed:
            print(f"ok: {nvrtc.name}: C++", *standards, "architectures", *some)
    if not compiled:
        return 77
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())

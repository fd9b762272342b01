#!/usr/bin/env python3
"""usage: numpy_exact [N | FILE.npy]

The exact sum of a NumPy array, from Python. Builds a shared library of FastReduce with
one line of cc, calls it through ctypes on the array's own memory, and compares with
math.fsum, which is exact too, but for one Python float at a time. Where CuPy or PyTorch
has a GPU, nvcc builds the library, and their arrays are summed where they lie, by
pointer, on their streams.

N float32 values of both signs (default 1e6; 10k, 3M, 2G, 1T, 2^20 are numbers too), or
the file's. -h, --help and --version print and do nothing else. Exit status: 0; 1 if two
exact sums differ or something failed; 2 for a wrong command line; 77 without NumPy.
"""
import ctypes
import importlib
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

try:
    import numpy
except ImportError:
    numpy = None

EXAMPLES = os.path.dirname(os.path.abspath(__file__))
AUTO, EXACT = 0, 9  # of enum fastreduce_kernel


class Config(ctypes.Structure):
    """fastreduce_config; all zeros: AUTO, on the default stream, memory of the stream's pool."""
    _fields_ = [("kernel", ctypes.c_int), ("block_size", ctypes.c_uint),
                ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_size_t),
                ("stream", ctypes.c_void_p), ("n_on_device", ctypes.c_void_p),
                ("output_type", ctypes.c_int), ("offset_type", ctypes.c_int),
                ("end_offsets", ctypes.c_void_p)]


def version():
    """The library's, from its header."""
    with open(os.path.join(EXAMPLES, "..", "fastreduce.h"), encoding="utf-8") as header:
        return ".".join(re.findall(r"#define FASTREDUCE_VERSION_[A-Z]+ (\d+)", header.read()))


def build(folder, gpu):
    """The library: the host functions alone, or all of it."""
    library = os.path.join(folder, "libfastreduce.so")
    if gpu:
        line = "nvcc -O3 -std=c++17 -arch=native -shared -Xcompiler -fPIC fastreduce.cu"
    else:
        line = "cc -O3 -shared -fPIC -x c -DFASTREDUCE_HOST_IMPLEMENTATION ../fastreduce.h"
    line += " -DFASTREDUCE_SUFFIX= -o"  # functions by their names alone
    print(line, "libfastreduce.so")
    subprocess.run([*line.split(), library], cwd=EXAMPLES, check=True)
    lib = ctypes.CDLL(library)
    size, pointer = ctypes.c_size_t, ctypes.c_void_p
    lib.fastreduce_status_string.restype = ctypes.c_char_p
    lib.fastreduce_host_sum_f32.restype = ctypes.c_float
    lib.fastreduce_host_sum_f32.argtypes = [pointer, size]
    lib.fastreduce_host_accumulate_f32.restype = None
    lib.fastreduce_host_accumulate_f32.argtypes = [pointer, pointer, size]
    lib.fastreduce_accumulator_f64.restype = ctypes.c_double
    lib.fastreduce_accumulator_f64.argtypes = [pointer]
    if gpu:
        lib.fastreduce_sum_f32.argtypes = [pointer, pointer, size, ctypes.POINTER(Config)]
    return lib


def host_sums(lib, array):
    """The sum rounded once to float32, and once to float64, by way of an accumulator."""
    accumulator = (ctypes.c_int64 * 16)()
    lib.fastreduce_host_accumulate_f32(array.ctypes.data, accumulator, array.size)
    return (lib.fastreduce_host_sum_f32(array.ctypes.data, array.size),
            lib.fastreduce_accumulator_f64(accumulator))


def gpu_sum(lib, kernel, pointer, output, size, stream):
    """Enqueues a sum on the stream, of size floats at one address of the GPU, to another."""
    config = Config(kernel=kernel, stream=stream)
    status = lib.fastreduce_sum_f32(pointer, output, size, config)
    if status != 0:
        raise RuntimeError(lib.fastreduce_status_string(status).decode())


def cupy_sum(cupy, lib, array, kernel):
    """The same of a CuPy array, on CuPy's stream."""
    data, output = cupy.asarray(array), cupy.empty(1, dtype=cupy.float32)
    gpu_sum(lib, kernel, data.data.ptr, output.data.ptr, data.size,
            cupy.cuda.get_current_stream().ptr)
    return float(output[0])


def torch_sum(torch, lib, array, kernel):
    """The same of a PyTorch tensor, on PyTorch's stream."""
    data = torch.from_numpy(array).cuda()
    output = torch.empty(1, dtype=torch.float32, device="cuda")
    gpu_sum(lib, kernel, data.data_ptr(), output.data_ptr(), data.numel(),
            torch.cuda.current_stream().cuda_stream)
    return output.item()


def gpu_packages():
    """(module, function) for each of the two that is here and has a GPU."""
    found = []
    for name, function in (("cupy", cupy_sum), ("torch", torch_sum)):
        try:
            module = importlib.import_module(name)
            there = module.cuda.is_available()
        except Exception as error:  # pylint: disable=broad-except
            there = print(f"{name}: not here ({type(error).__name__})")
        if there:
            found.append((module, function))
    return found


def fsum(array):
    """math.fsum; NaN where both infinities occur, which it refuses to sum."""
    try:
        return math.fsum(array.tolist())
    except ValueError:
        return math.nan


def size_of(text):
    """A number as the other examples take it; None for anything else."""
    found = re.fullmatch(r"(\d+)(?:([kmgt])|e(\d\d?)|\^(\d\d?))?", text, re.IGNORECASE)
    if not found:
        return None
    value, letter, ten, power = found.groups()
    if power:
        return int(value) ** int(power)
    return int(value) * 10 ** int(ten or 0) << 10 * (" kmgt".index((letter or " ").lower()))


def load(argument):
    """The array: contiguous float32."""
    size = size_of(argument)
    if size is not None:
        values = numpy.random.default_rng(1).standard_normal(size)
        return (values * 2.0 ** (numpy.arange(size) % 60 - 30)).astype(numpy.float32)
    with open(argument, "rb") as file:
        start = file.peek()[:6]
        if start != b"\x93NUMPY":
            raise ValueError(f"{argument}: {'is no .npy file' if start else 'is empty'}")
        array = numpy.lib.format.read_array(file, allow_pickle=False)
    if array.dtype != numpy.float32:
        raise ValueError(f"{argument}: {array.dtype}, not float32")
    return numpy.ascontiguousarray(array).ravel()


def same(a, b):
    return a == b or (math.isnan(a) and math.isnan(b))


def compare(array):
    """Prints all sums; whether the exact ones agree."""
    packages = gpu_packages()
    if packages and not shutil.which("nvcc"):
        packages = print("no nvcc on the PATH: without the GPU") or []
    with tempfile.TemporaryDirectory() as folder:
        lib = build(folder, bool(packages))
        rows = [("numpy.sum", f"{array.sum():.9g}")]
        began = time.perf_counter()
        wanted = fsum(array)
        middle = time.perf_counter()
        once, wide = host_sums(lib, array)
        took = f"{middle - began:.3g} s, two sums by FastReduce {time.perf_counter() - middle:.3g}"
        rows += [("math.fsum", f"{wanted:.17g}"), ("FastReduce, to float64", f"{wide:.17g}"),
                 ("FastReduce, to float32", f"{once:.9g}")]
        good = same(wide, wanted)
        # not float32(wanted): that rounds twice, and one sum in 2^29 is so near a tie that it shows
        good &= not abs(once - wanted) > numpy.spacing(abs(numpy.float32(once))) / 2
        for module, function in packages:
            auto, exact = (function(module, lib, array, kernel) for kernel in (AUTO, EXACT))
            rows += [(f"AUTO, {module.__name__}", f"{auto:.9g}"),
                     (f"EXACT, {module.__name__}", f"{exact:.9g}")]
            good &= same(exact, once)
    for label, value in rows:
        print(f"{label:23} {value}")
    print(f"{array.size} values: math.fsum took {took}")
    print("the exact sums agree" if good else "the exact sums DIFFER")
    return good


def show(text):
    """Prints it; what was printed counts only once it has been written."""
    try:
        print(text, end="", flush=True)
    except OSError as error:
        print("numpy_exact: standard output:", error.strerror, file=sys.stderr, flush=True)
        os._exit(1)  # at once, or Python would write it again
    return 0


def main():
    arguments = sys.argv[1:] or ["1e6"]
    if arguments[0] in ("-h", "--help"):
        return show(__doc__)
    if arguments[0] == "--version":
        return show(f"numpy_exact (FastReduce) {version()}\n")
    if len(arguments) > 1 or arguments[0].startswith("-"):
        word = ascii(arguments[-1])[1:-1]  # no terminal obeys it
        print(f"numpy_exact: not understood: {word} ({sys.argv[0]} --help tells more)",
              file=sys.stderr)
        return 2
    if numpy is None:
        print("numpy_exact: no NumPy here: apt-get install python3-numpy, or "
              "python3 -m pip install numpy", file=sys.stderr)
        return 77
    try:
        with numpy.errstate(all="ignore"):
            return 0 if compare(load(arguments[0])) else 1
    except (OSError, MemoryError, ValueError, RuntimeError, subprocess.CalledProcessError) as error:
        print("numpy_exact:", " ".join(str(error).split()), file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())

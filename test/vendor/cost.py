"""What vendoring costs a build, beside CUB in the same run: processor seconds and object bytes of
one file for one architecture, of all types and operators and of sums of floats.

python3 cost.py ROOT NVCC   prints a line a file; exit 1 past the limits

Processor seconds, as the wall clock shows what else the machine does; the least of rounds in which
the files take turns, and still they differ by a tenth from run to run. The limits are there to
notice a slip, not to hold the targets: they are about one and a half times what was measured.
"""
import os
import resource
import subprocess
import sys
import tempfile

ROUNDS = 2
CUB = """
#include <cub/device/device_reduce.cuh>
cudaError_t sum(const float *x, float *y, size_t n, void *scratch, size_t *bytes,
                cudaStream_t stream)
{
    return cub::DeviceReduce::Sum(scratch, *bytes, x, y, n, stream);
}
"""
TEMPLATE = """
#include "fastreduce.cuh"
fastreduce_status sum(const float *x, float *y, size_t n, cudaStream_t stream)
{
    return fastreduce::reduce<>(x, y, n, stream);
}
"""
INTEGERS = TEMPLATE.replace("const float *x, float *y", "const int *x, long long *y")
INCLUDED = '#include "fastreduce.cuh"\n'
ALL = "#define FASTREDUCE_IMPLEMENTATION\n" + INCLUDED
FLOATS = "#define FASTREDUCE_TYPES FASTREDUCE_F32\n" \
         "#define FASTREDUCE_OPERATORS FASTREDUCE_SUM\n" + ALL
LEAST = "#define FASTREDUCE_NO_LADDER\n#define FASTREDUCE_NO_EXACT\n" + FLOATS
MOST_BYTES = 8 << 20

# what, source, target and limits of seconds and bytes as parts of CUB's; dot products are with
# sums
FILES = [
    ("cub::DeviceReduce::Sum", CUB, None, None, None),
    ("the C functions", ALL, 4, 8, None),
    ("sums of floats", FLOATS, 1 / 3, 0.95, 3),
    ("with many results", "#define FASTREDUCE_WITH_SHAPES\n" + FLOATS, None, 2.2, 8),
    ("no ladder, no exact", LEAST, 1 / 6, 0.7, 0.95),
    ("fastreduce::reduce<>", TEMPLATE, 1 / 3, 0.3, 0.55),
    ("the same of integers", INTEGERS, 1 / 3, 0.3, 0.55),
    ("the include alone", INCLUDED, None, 0.3, 0.45),
]


def compile_once(nvcc, root, source):
    """The processor seconds that it takes."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([nvcc, "-O3", "-std=c++17", "-arch=sm_90",
                    "-Xcompiler=-fno-exceptions,-fno-threadsafe-statics", "-I", root, "-c", source,
                    "-o", source + ".o"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    root, nvcc = os.path.abspath(sys.argv[1]), sys.argv[2]
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, (_, text, *_) in enumerate(FILES):
            paths.append(os.path.join(folder, f"{number}.cu"))
            with open(paths[-1], "w", encoding="utf-8") as file:
                file.write(text)
        if subprocess.run([nvcc, "-std=c++17", "-E", paths[0], "-o", os.devnull],
                          capture_output=True, check=False).returncode:
            print("SKIP: this toolkit comes without CUB")
            return 77
        times = [[compile_once(nvcc, root, path) for path in paths] for _ in range(ROUNDS)]
        seconds = [min(column) for column in zip(*times)]
        sizes = [os.path.getsize(path + ".o") for path in paths]

    failed = False
    print(f"cost: {'':24}{'seconds':>8}{'of CUB':>8}{'bytes':>10}{'of CUB':>8}{'target':>8}")
    for (what, _, target, *limits), time, size in zip(FILES, seconds, sizes):
        parts = (time / seconds[0], size / sizes[0])
        line = f"cost: {what:24}{time:8.2f}{parts[0]:8.2f}{size:10}{parts[1]:8.2f}"
        if target:
            met = [name for name, part in zip(("seconds", "bytes"), parts) if part <= target]
            line += f"{target:8.2f}, met: {', '.join(met) or 'neither'}"
        print(line)
        for name, part, limit in zip(("seconds", "bytes"), parts, limits):
            if limit and part > limit:
                print(f"FAIL: {what}: {part:.2f} of CUB's {name}, limit {limit}")
                failed = True
    if max(sizes) > MOST_BYTES:
        print(f"FAIL: {max(sizes)} bytes, limit {MOST_BYTES}")
        failed = True
    return failed


if __name__ == "__main__":
    sys.exit(main())

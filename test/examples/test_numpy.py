"""Tests examples/numpy_exact.py: python3 test_numpy.py ROOT. Without NumPy: exit 77.

Its GPU half too, by stand-ins: an nvcc that builds a fastreduce_sum_f32 for the CPU, which looks
at the configuration it is given, and a module torch whose tensors are NumPy's arrays.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import checks
from checks import that

PROGRAM = os.path.join(os.path.abspath(sys.argv[1]), "examples", "numpy_exact.py")

LIBRARY = r"""
#define FASTREDUCE_HOST_IMPLEMENTATION
#include "fastreduce.h"
#include <stdlib.h>
fastreduce_status fastreduce_sum_f32(const float *input, float *output, size_t n,
                                     const fastreduce_config *config)
{
    if (config->stream != (fastreduce_stream)4096 || config->block_size || config->workspace ||
        config->workspace_bytes || config->n_on_device || config->output_type ||
        config->offset_type || config->end_offsets)
        return FASTREDUCE_ERROR_INVALID_ARGUMENT;
    if (n == 7) return FASTREDUCE_ERROR_UNSUPPORTED;
    *output = fastreduce_host_sum_f32(input, n);
    if (config->kernel == FASTREDUCE_AUTO) *output += 1;
    else if (config->kernel != FASTREDUCE_EXACT || n == 9) *output += 2;
    return FASTREDUCE_SUCCESS;
}
"""
SIZE = r"""
#include "fastreduce.h"
#include <stdio.h>
int main(void) { printf("%zu", sizeof(fastreduce_config)); return 0; }
"""
TORCH = """
import types
import numpy
float32 = numpy.float32
cuda = types.SimpleNamespace(is_available=lambda: True, current_stream=lambda:
                             types.SimpleNamespace(cuda_stream=4096))
class Tensor:
    def __init__(self, array):
        self.array = array
        self.cuda, self.numel = lambda: self, lambda: array.size
        self.data_ptr, self.item = lambda: array.ctypes.data, lambda: float(array[0])
from_numpy = Tensor
def empty(size, dtype, device):
    return Tensor(numpy.zeros(size, dtype))
"""
WITH_GPU = {}


def run(*arguments, **more):
    return subprocess.run([sys.executable, PROGRAM, *arguments], capture_output=True, text=True,
                          timeout=120, check=False, **more)


def values(done):
    return dict(re.findall(r"^(\S.*?)  +(\S+)$", done.stdout, re.MULTILINE))


def agrees(what, done, *labels):
    found = values(done)
    good = that(done.returncode == 0 and not done.stderr and "agree" in done.stdout,
                f"{what}: exit {done.returncode}, {done.stdout!r} {done.stderr!r}")
    if good:
        that(found["math.fsum"] == found["FastReduce, to float64"] and
             set(labels) <= set(found), f"{what}: {found}")
    return found


def refuses(what, status, words, done):
    that(done.returncode == status and words in done.stderr and done.stderr.count("\n") == 1,
         f"{what}: exit {done.returncode}, {done.stderr!r}")


def check_cpu():
    for size in ("", "0", "1", "1000", "10k", "1e5", "2^17"):
        agrees(f"numbers {size}", run(*size.split()))
    import numpy  # pylint: disable=import-outside-toplevel
    huge = numpy.finfo(numpy.float32).max
    for array, sums in (([[0.1, 2.5], [1e30, -1e30]], None), ([huge, huge, 1], "inf"),
                        ([1, numpy.nan], "nan"), ([numpy.inf, -numpy.inf], "nan"),
                        ([-numpy.inf, 3], "-inf"), ([2.0**24, 1, 2.0**-149], "16777218")):
        numpy.save("a.npy", numpy.asfortranarray(array, dtype=numpy.float32))
        found = agrees(f"{array}", run("a.npy"))
        that(sums in (None, found.get("FastReduce, to float32")), f"{array}: {found}")
    numpy.save("d.npy", numpy.zeros(3))
    refuses("float64", 1, "d.npy: float64, not float32", run("d.npy"))
    numpy.savez("a.npz", numpy.zeros(3, numpy.float32))
    write("empty.npy", "")
    write("text.npy", "1.5")
    write("short.npy", b"\x93NUMPY\1")
    refuses("an .npz file", 1, "a.npz: is no .npy file", run("a.npz"))
    refuses("an empty file", 1, "empty.npy: is empty", run("empty.npy"))
    refuses("text", 1, "text.npy: is no .npy file", run("text.npy"))
    refuses("a cut header", 1, "EOF", run("short.npy"))
    os.mkdir("none")
    write("none/numpy.py", "raise ImportError")
    refuses("no NumPy", 77, "apt-get install python3-numpy, or python3 -m pip install numpy",
            run("5", env={**os.environ, "PYTHONPATH": "none"}))
    refuses("a missing file", 1, "No such file", run("missing.npy"))
    refuses("two arguments", 2, "not understood: 5 (", run("4", "5"))
    refuses("an option", 2, "not understood: --fast (", run("--fast"))
    refuses("no compiler", 1, "cc", run("5", env={**os.environ, "PATH": os.curdir}))


def check_config():
    """The program's fastreduce_config has the size of the header's."""
    write("size.c", SIZE)
    subprocess.run(["cc", "-I", os.path.dirname(os.path.dirname(PROGRAM)), "size.c", "-o", "size"],
                   check=True)
    sys.path.insert(0, os.path.dirname(PROGRAM))
    import numpy_exact  # pylint: disable=import-outside-toplevel
    wanted = int(subprocess.run(["./size"], capture_output=True, check=True).stdout)
    size = numpy_exact.ctypes.sizeof(numpy_exact.Config)
    that(size == wanted, f"Config has {size} bytes, not {wanted}")


def check_gpu():
    for what, env in (("no torch", {}), ("torch", WITH_GPU)):
        found = agrees(what, run("1000", env={**os.environ, **env}))
        that(("EXACT, torch" in found) == bool(env), f"{what}: {found}")
    that(found["EXACT, torch"] == found["FastReduce, to float32"], f"EXACT: {found}")
    found = agrees("AUTO", run("0", env={**os.environ, **WITH_GPU}))
    that(found["AUTO, torch"] == "1" and found["EXACT, torch"] == "0", f"AUTO: {found}")
    refuses("an error of the library", 1, "not supported by this build",
            run("7", env={**os.environ, **WITH_GPU}))
    done = run("9", env={**os.environ, **WITH_GPU})
    that(done.returncode == 1 and "DIFFER" in done.stdout, f"a wrong sum: {done}")


def write(name, text):
    with open(name, "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    os.chmod(name, 0o755)


try:
    import numpy as _
except ImportError:
    print("SKIP: no NumPy")
    sys.exit(77)
with tempfile.TemporaryDirectory() as FOLDER:
    os.chdir(FOLDER)
    for name in ("cupy", "torch"):  # if they are here, they are not the ones to be tested
        write(name + ".py", "raise ImportError")
    os.environ["PYTHONPATH"] = FOLDER
    os.mkdir("gpu")
    write("gpu/cupy.py", "raise ImportError")
    write("gpu/torch.py", TORCH)
    write("gpu/library.c", LIBRARY)
    include = os.path.dirname(os.path.dirname(PROGRAM))
    write("gpu/nvcc", '#!/bin/sh\nfor output; do case $output in -D*) macro=$output ;; esac; done\n'
          f'exec cc -O1 -shared -fPIC "$macro" -I"{include}" "{FOLDER}/gpu/library.c" '
          '-o "$output"\n')
    WITH_GPU.update(PYTHONPATH=os.path.join(FOLDER, "gpu"),
                    PATH=os.path.join(FOLDER, "gpu") + os.pathsep + os.environ["PATH"])
    if not shutil.which("cc"):
        print("SKIP: no cc")
        sys.exit(77)
    for group in (check_cpu, check_config, check_gpu):
        checks.run(group)
sys.exit(checks.finish("numpy_exact"))

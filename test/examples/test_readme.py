"""What README.md, test/README.md and examples/*.md show is there and works.

python3 test_readme.py ROOT [NVCC]

Links lead somewhere, files that are named exist, code compiles, and the commands under Vendoring
make a program of the README's first example. The quick start is run for a thousand numbers; that
test/run.sh works shows in this test being run.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

import checks
from checks import that

DOCUMENTS = ("README.md", "test/README.md", "examples/README.md", "examples/results.md")
LONGEST = 10200  # bytes of README.md
# what the documents name and git does not keep
MADE = ("build/", "/usr/local/cuda/")
ELSEWHERE = ("main.c", "cuda_runtime_api.h", "stddef.h", "stdio.h",
             "kernel_reduce_deterministic.cuh")  # CUB's
MANUAL = """#include "fastreduce.cuh"
void calls(const float *input, float *output, float *partials, const float *x, const float *y,
           float (*transform)(float), float (*combine)(float, float), float identity,
           cudaStream_t stream, size_t n, fastreduce_status status,
           fastreduce::result_pair<long long, float> *pair)
{
"""


def run(command, folder, what):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    that(done.returncode == 0, f"{what}: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout


def exists(root, near, path):
    """A path from here, from the top or from test/; a bare name anywhere."""
    if any(os.path.exists(os.path.join(root, folder, path)) for folder in (near, "", "test")):
        return True
    kept = (files for top in ("examples", "test") for _, _, files in os.walk(f"{root}/{top}"))
    return "/" not in path and any(path in files for files in kept)


def links(root, name, text):
    near = os.path.dirname(name)
    for target in re.findall(r"\]\(([^)]*)\)", text):
        if re.match(r"https?://[\w.-]+/", target):
            continue
        that(os.path.exists(os.path.join(root, near, target.split("#")[0])),
             f"{name}: nothing at {target}")
    named = re.findall(r"(?:\w[\w.-]*/)*\w[\w-]*\.(?:sh|py|cu|cuh|c|h|cpp|svg|csv|md)\b", text)
    for path in sorted(set(named)):
        if path.startswith(MADE) or path in ELSEWHERE:
            continue
        that(exists(root, near, path), f"{name}: there is no {path}")


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def code(root, name, text, cc, cxx, folder, toolkit):
    languages = re.findall(r"^```(\w*)\n", text, re.MULTILINE)
    that(set(languages[::2]) <= {"c", "cpp", "sh", "cmake", "python"} and not any(languages[1::2]),
         f"{name}: blocks of {languages[::2]}")
    for block in blocks(text, "c"):
        with open(os.path.join(folder, "block.c"), "w", encoding="utf-8") as file:
            file.write(block)
        if "cuda_runtime" in block and toolkit is None:
            continue
        for compiler in ([*cc.split(), "-std=c99"], [*cxx.split(), "-std=c++14", "-x", "c++"]):
            run([*compiler, "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only",
                 "-I" + root, "-isystem", f"{toolkit}/include", "block.c"], folder, name)
    for block in blocks(text, "cpp"):
        with open(os.path.join(folder, "block.cpp"), "w", encoding="utf-8") as file:
            file.write(block)
        run([*cxx.split(), "-std=c++17", "-fsyntax-only", "-Wno-unknown-pragmas", "-I" + root,
             "-I" + os.path.join(root, "test", "simt"), "block.cpp"], folder, name)
    with open(os.path.join(root, "examples/cmake/CMakeLists.txt"), encoding="utf-8") as file:
        built = re.findall(r"^#     (.*)\n", file.read(), re.MULTILINE) # by build_systems.sh
    for block in blocks(text, "cmake"):
        for line in re.findall(r"^(\w.*?)(?: *#.*)?$", block, re.MULTILINE):
            that(line in built, f"{name}: examples/cmake does not show {line}")
    package = os.path.join(root, "examples/python/fastreduce/__init__.py")
    with open(package, encoding="utf-8") as file:
        package = file.read()
    for block in blocks(text, "python"): # test_package.py runs one
        compile(block, name, "exec")
        for called in re.findall(r"\bfastreduce\.(\w+)\(", block):
            that(re.search(rf"^def {called}\(|import .*\b{called}\b", package, re.MULTILINE),
                 f"{name}: there is no fastreduce.{called}")
    for block in blocks(text, "sh"):
        run(["sh", "-n", "-c", block], folder, name)
        for script in re.findall(r"^(?:sh|python3) (\S+)", block, re.MULTILINE):
            that(os.path.exists(os.path.join(root, script)), f"{name}: there is no {script}")


def manual(root, cxx, folder):
    """The calls that the first comment of fastreduce.cuh shows."""
    with open(os.path.join(root, "fastreduce.cuh"), encoding="utf-8") as file:
        text = file.read().split("*/")[0]
    calls = re.findall(r"^ \*     (fastreduce::.*;)", text, re.MULTILINE)
    that(len(calls) >= 5, f"fastreduce.cuh shows {calls}")
    with open(os.path.join(folder, "manual.cpp"), "w", encoding="utf-8") as file:
        file.write(MANUAL + "\n".join(calls) + "\n}\n")
    run([*cxx.split(), "-std=c++17", "-fsyntax-only", "-Wno-unknown-pragmas", "-I" + root,
         "-I" + os.path.join(root, "test", "simt"), "manual.cpp"], folder, "fastreduce.cuh")


def toolkit_of(nvcc):
    return os.path.dirname(os.path.dirname(os.path.realpath(shutil.which(nvcc) or nvcc)))


def vendoring(root, text, cc, nvcc, folder, toolkit):
    for name in ("fastreduce.h", "fastreduce.cuh"):
        shutil.copy(os.path.join(root, name), folder)
    with open(os.path.join(folder, "main.c"), "w", encoding="utf-8") as file:
        file.write(blocks(text, "c")[0])
    chosen = [b for b in blocks(text, "sh") if "FASTREDUCE_IMPLEMENTATION" in b]
    that(len(chosen) == 1, "README.md: one block says how to vendor")
    # here are no GPU and another folder of libraries; the rest as it stands
    lines = chosen[0].replace("-arch=native", "-arch=sm_90").replace("/usr/local/cuda", toolkit)
    for word, program in (("nvcc", nvcc), ("cc", cc)):
        lines = re.sub(rf"^{word} ", program + " ", lines, flags=re.MULTILINE)
    options = subprocess.run([nvcc, "--help"], capture_output=True, text=True, check=True).stdout
    if "--Ofast-compile" in options: # it takes a minute otherwise, and only has to compile
        os.environ["NVCC_APPEND_FLAGS"] = "-Ofc max"
    with open(os.path.join(folder, "standard.cu"), "w", encoding="utf-8") as file:
        file.write("__cplusplus\n")
    if run([nvcc, "-E", "standard.cu"], folder, "C++").endswith("\n201402L\n"):
        os.environ["NVCC_PREPEND_FLAGS"] = "-std=c++17" # as README.md says
    # where is no GPU it has to say so
    run(["sh", "-e", "-c", lines + "./main > out 2> err || test $? = 1\n"], folder, "vendoring")
    with open(os.path.join(folder, "out"), encoding="utf-8") as file:
        that(file.read() in ("7.5\n", "no GPU\n"), "README.md: what the program prints")


def main():
    root = os.path.abspath(sys.argv[1])
    cc, cxx = os.environ.get("CC", "cc"), os.environ.get("CXX", "c++")
    toolkit = toolkit_of(sys.argv[2]) if len(sys.argv) > 2 else None
    with tempfile.TemporaryDirectory() as folder:
        manual(root, cxx, folder)
        for name in DOCUMENTS:
            with open(os.path.join(root, name), encoding="utf-8") as file:
                text = file.read()
            links(root, name, text)
            code(root, name, text, cc, cxx, folder, toolkit)
            if name == "README.md":
                that(len(text.encode()) <= LONGEST, f"README.md has {len(text.encode())} bytes")
                run(["sh", "examples/quickstart.sh", "1000"], root, "quick start")
                if len(sys.argv) > 2:
                    vendoring(root, text, cc, sys.argv[2], folder, toolkit)
    return checks.finish("documents" + ("" if len(sys.argv) > 2 else ", without nvcc"))


if __name__ == "__main__":
    sys.exit(main())

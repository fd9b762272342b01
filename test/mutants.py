"""Takes one barrier at a time out of fastreduce.cuh and demands that the tests on the CPU machine notice.

python3 mutants.py ROOT [CXX]   prints a line a barrier; exit 1 if any can go unnoticed
"""
import concurrent.futures
import os
import re
import subprocess
import sys
import tempfile

BARRIER = re.compile(r"\b(__syncthreads|__syncwarp)\(\)")
TESTS = ["test_races.cpp", "test_auto.cpp"]


def barriers(source):
    """Spans of the barriers in code, comments left out."""
    code = re.sub(r"/\*.*?\*/", lambda m: re.sub(r"[^\n]", " ", m.group()), source, flags=re.S)
    return [match.span() for match in BARRIER.finditer(code)]


def killed_by(root, compiler, source, folder):
    """Builds and runs the tests against a version of fastreduce.cuh; the first that fails, or None."""
    os.makedirs(os.path.join(folder, "test"))
    for name in ("fastreduce.h",):
        os.symlink(os.path.join(root, name), os.path.join(folder, name))
    for name in os.listdir(os.path.join(root, "test")):
        os.symlink(os.path.join(root, "test", name), os.path.join(folder, "test", name))
    with open(os.path.join(folder, "fastreduce.cuh"), "w", encoding="utf-8") as file:
        file.write(source)
    for test in TESTS:
        # compiled by a copy, so that its "../fastreduce.cuh" is the mutant and not the link's target
        copy = os.path.join(folder, "test", "mutant_" + test)
        with open(os.path.join(root, "test", test), encoding="utf-8") as file, open(copy, "w", encoding="utf-8") as out:
            out.write(file.read())
        program = os.path.join(folder, test + ".run")
        build = [compiler, "-std=c++17", "-O1", "-g", "-w", "-I", os.path.join(folder, "test", "simt"), "-I",
                 os.path.join(folder, "test"), copy, "-o", program, "-ldl"]
        built = subprocess.run(build, capture_output=True, text=True, check=False)
        if built.returncode != 0:
            raise RuntimeError("a mutant does not compile:\n" + built.stderr[:2000])
        try:
            ran = subprocess.run([program], capture_output=True, text=True, timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return test + " (hangs)"
        if ran.returncode != 0:
            return next((line[6:150] for line in ran.stdout.splitlines() if line.startswith("FAIL: ")), test)
    return None


def main():
    root = os.path.abspath(sys.argv[1])
    compiler = sys.argv[2] if len(sys.argv) > 2 else "c++"
    with open(os.path.join(root, "fastreduce.cuh"), encoding="utf-8") as file:
        source = file.read()
    spans = barriers(source)
    with tempfile.TemporaryDirectory() as scratch:
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            whole = pool.submit(killed_by, root, compiler, source, os.path.join(scratch, "whole"))
            jobs = [(begin, end, pool.submit(killed_by, root, compiler, source[:begin] + "(void)0" + source[end:],
                                             os.path.join(scratch, str(begin)))) for begin, end in spans]
            if whole.result() is not None:
                print("the tests fail without any change:", whole.result())
                return 1
            survivors = 0
            for begin, end, job in jobs:
                line = source.count("\n", 0, begin) + 1
                function = re.findall(r"(\w+)\([^;(){}]*\)\n\{", source[:begin])[-1]
                reason = job.result()
                survivors += reason is None
                print(f"fastreduce.cuh:{line} {source[begin:end]} in {function}: "
                      + ("SURVIVED" if reason is None else "killed: " + reason), flush=True)
    print(f"barriers: {len(spans)} taken out, {survivors} survived")
    return 1 if survivors or len(spans) < 10 else 0


if __name__ == "__main__":
    sys.exit(main())

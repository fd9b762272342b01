"""Measures which lines of fastreduce.h and fastreduce.cuh the tests that need no GPU run:
python3 coverage.py ROOT [CXX]

Prints gcovr's line coverage of each file; exit 1 if it is under 95 %, 77 (skipped) where there is
no gcovr. Kernels run on the CPU too, so they count as well; what only nvcc sees does not.
"""
import concurrent.futures
import json
import os
import re
import subprocess
import sys
import tempfile

FEW_TYPES = ["-DFASTREDUCE_NO_LADDER", "-DFASTREDUCE_TYPES=FASTREDUCE_F32,FASTREDUCE_U8",
             "-DFASTREDUCE_OPERATORS=FASTREDUCE_SUM,FASTREDUCE_ARGMAX,FASTREDUCE_VARIANCE"]
TESTS = [("kernels/test_shapes.cpp", FEW_TYPES + ["-ldl"], "quick"),  # the longest begins first
         ("kernels/test_operators.cpp", ["-ldl"]),
         ("kernels/test_exact_shapes.cpp", ["-DFASTREDUCE_NO_LADDER", "-ldl"]),
         ("kernels/test_exact_floats.cpp", ["-ldl"]),
         ("kernels/test_small.cpp", ["-ldl"]),
         ("host/test_host.c", ["-lmpfr", "-lgmp", "-lm"]),
         ("host/test_floats.c", ["-lmpfr", "-lgmp", "-lm"])] + [
    (f"kernels/test_{name}.cpp", ["-ldl"]) for name in ("launcher", "exact_atomics", "dot", "races",
                                                   "auto", "plan")]
LEAST = 95  # %
# at least; a template that no test uses has none
LINES = {"fastreduce.h": 140, "fastreduce.cuh": 600}


def main():
    root = os.path.abspath(sys.argv[1])
    compiler = sys.argv[2] if len(sys.argv) > 2 else "c++"
    try:
        subprocess.run(["gcovr", "--version"], stdout=subprocess.DEVNULL, check=True)
    except (OSError, subprocess.CalledProcessError):
        print("SKIP: no gcovr: coverage is not measured")
        return 77

    with tempfile.TemporaryDirectory() as folder:
        def build_and_run(test):
            source, flags, *arguments = test
            into = os.path.join(folder, os.path.basename(source))
            os.mkdir(into)
            command = [compiler, "-std=c++17"] if source.endswith("cpp") else ["cc", "-std=c99"]
            program = os.path.join(into, "run")
            command += ["--coverage", "-O0", "-w", "-I", os.path.join(root, "test", "simt"),
                        os.path.join(root, "test", source), "-o", program]
            subprocess.run(command + flags, cwd=into, check=True)
            subprocess.run([program] + arguments, cwd=into, stdout=subprocess.DEVNULL, check=True)

        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            list(pool.map(build_and_run, TESTS))
        report = os.path.join(folder, "coverage.json")
        headers = re.escape(root) + r"/fastreduce\.(h|cuh)"
        subprocess.run(["gcovr", "--root", root, "--filter", headers, "--json", report, folder],
                       check=True)
        with open(report, encoding="utf-8") as file:
            files = json.load(file)["files"]

    good = len(files) == 2
    for file in files:
        counts = {}  # a line of a template may be there several times
        for line in file["lines"]:
            if not line.get("gcovr/noncode"):
                counts[line["line_number"]] = counts.get(line["line_number"], 0) + line["count"]
        missed = [str(number) for number, count in sorted(counts.items()) if count == 0]
        percent = 100 * (len(counts) - len(missed)) / len(counts)
        good = good and percent >= LEAST and len(counts) >= LINES[file["file"]]
        print(f"coverage: {file['file']}: {percent:.1f} % of {len(counts)} lines; "
              f"not run: {' '.join(missed) or 'none'}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())

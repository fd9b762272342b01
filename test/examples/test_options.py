"""What the programs in examples/ but hello have in common: python3 test_options.py PROGRAM...

--help, -h and --version, anywhere; what is not an option is refused in one line, which names this
very program; sizes are understood in all forms, and others refused with the forms. Where no
NVIDIA driver can be loaded, what was built for a GPU says that, and nothing of a version.
"""
import ctypes
import os
import re
import subprocess
import sys

import checks
from checks import that

SIZES = ("ladder", "exact", "sum", "sum_nccl")  # whose first operand is a size
FORMS = "numbers are like 1000, 10k, 3M, 2G, 1T (k = 2^10), 1e9 or 2^30"
NO_GPU = 77
ON_CPU = ("host_speed",)
NO_OPERANDS = ("block_reduce", "histogram", "deposit", "experiments")


def run(program, *arguments, stdout=subprocess.PIPE):
    interpreter = [sys.executable] if program.endswith(".py") else []
    return subprocess.run([*interpreter, program, *arguments], stdin=subprocess.DEVNULL,
                          stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=120,
                          check=False)


def refused(program, words, *arguments):
    done = run(program, *arguments)
    that(done.returncode == 2 and not done.stdout and done.stderr.count("\n") == 1 and
         words in done.stderr, f"{program} {arguments}: exit {done.returncode}, {done.stdout!r}, "
         f"{done.stderr!r} without {words!r}")


def has_driver():
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


def names_no_driver(program, name):
    done = run(program, *(["5"] if name in SIZES else []))
    on_cpu = name == "sum" and done.returncode == 0
    that((on_cpu or done.returncode == NO_GPU) and
         "(no NVIDIA driver)" in done.stdout + done.stderr,
         f"{program}, no driver: exit {done.returncode}, {done.stdout!r}, {done.stderr!r}")


def test(program, name):
    for arguments in (["--help"], ["-h"], ["5", "-h"] if name in SIZES else ["--help", "5"]):
        done = run(program, *arguments)
        that(done.returncode == 0 and done.stdout.startswith(f"usage: {name} ") and
             "--version" in done.stdout and not done.stderr and
             max(map(len, done.stdout.splitlines())) <= 90,
             f"{program} {arguments}: exit {done.returncode}, {done.stdout!r}, {done.stderr!r}")
    done = run(program, "--version")
    that(done.returncode == 0 and not done.stderr and
         re.fullmatch(rf"{name} \(FastReduce\) \d+\.\d+\.\d+\n", done.stdout),
         f"{program} --version: {done.stdout!r} {done.stderr!r}")
    refused(program, f"--fast ({program} --help tells more)", "--fast")
    refused(program, "(" + program, "--fast\x1b[31m")
    if name in NO_OPERANDS:
        for words in (["5"], ["-"], ["--", "--help"], [""]):
            refused(program, f"not understood: {words[-1]} (", *words)
    if os.path.exists("/dev/full"):
        with open("/dev/full", "wb") as full:
            done = run(program, "--help", stdout=full)
        that(done.returncode == 1 and done.stderr.startswith(f"{name}: standard output") and
             done.stderr.count("\n") == 1, f"{program} --help on a full disk: {done.stderr!r}")
    if name in SIZES:
        refused(program, FORMS, "12x")
        refused(program, FORMS, "2^62")
        for size in ("1k", "1K", "1e3", "2^10", "10^3"):
            done = run(program, size)
            that(done.returncode == 0 or done.returncode == NO_GPU and not done.stdout and
                 done.stderr.startswith(f"{name}: no GPU here (") or
                 name == "exact" and done.returncode == NO_GPU,
                 f"{program} {size}: exit {done.returncode}, {done.stderr!r}")
    if name == os.path.basename(program) and name not in ON_CPU and not has_driver():
        names_no_driver(program, name)


if len(sys.argv) < 2:
    sys.exit("usage: test_options.py PROGRAM...")
for path in sys.argv[1:]:
    test(os.path.abspath(path), re.sub(r"_(host|simt)$|\.py$", "", os.path.basename(path)))
sys.exit(checks.finish("options"))

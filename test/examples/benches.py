"""What the tests of the bench programs have in common: how the program, argv[1], is called, what it
refuses, and how a test ends where there is no GPU."""

import subprocess
import sys

import checks
from checks import that


def bench(*arguments):
    return subprocess.run(
        [sys.argv[1], *arguments], capture_output=True, text=True, timeout=300, check=False
    )


def refuses(cases):
    """Each of arguments and a part of the line that says why."""
    for arguments, part in cases:
        refused = bench(*arguments)
        that(
            refused.returncode == 2
            and part in refused.stderr
            and refused.stderr.count("\n") == 1
            and not refused.stdout,
            f"{arguments}: exit {refused.returncode}, {refused.stderr!r}",
        )


def finish(name, sample, *groups):
    """The groups where there is a GPU, as a call with the sample arguments tells; the exit status,
    77 without one."""
    gpu = bench(*sample)
    if gpu.returncode == 77:
        that(
            gpu.stderr.startswith(f"{name}: no GPU here (")
            and gpu.stderr.count("\n") == 1
            and not gpu.stdout,
            f"no GPU: {gpu.stdout!r} {gpu.stderr!r}",
        )
    else:
        for group in groups:
            group()
    status = checks.finish(name)
    if status == 0 and gpu.returncode == 77:
        print("SKIP: " + gpu.stderr.strip() + "; the command line is tested, the tables are not")
        return 77
    return status

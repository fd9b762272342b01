"""The ladder's comparison matrix from a GPU's hardware counters, beside the counts of the CPU
machine, as a Markdown table.

python3 profile.py PROFILE_LADDER SIMT_COUNTS [--ncu NCU] [--readme FILE] [--keep FOLDER]

Runs Nsight Compute on PROFILE_LADDER (profile_ladder.cu), a version at a time, and reads what
each instruction of the kernel did: block barriers, accesses to shared memory, lanes active in them,
extra wavefronts by bank conflicts, divergent branches; and the bytes read from memory over the
time. Per block of 256 threads. With --readme (of
examples/results.md) the table also replaces what stands between the lines <!-- profile --> and
<!-- /profile -->. Exit 77 where there is no ncu or no GPU.
"""
import argparse
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile

KERNELS = ["v0_baseline", "v1_no_divergence", "v2_no_bank_conflict", "v3_add_during_load",
           "v4_unroll_last_warp", "v5_completely_unroll", "v6_multi_add", "v7_shuffle"]
BLOCKS, WARPS = 1 << 15, 8
EXECUTED, LANES = "Instructions Executed", "Predicated-On Thread Instructions Executed"
EXCESSIVE = "L1 Wavefronts Shared Excessive"
DIVERGENT = "smsp__sass_branch_targets_threads_divergent.sum"
BYTES, NANOSECONDS = "dram__bytes_read.sum", "gpu__time_duration.sum"
PEAK = "dram__bytes_read.sum.pct_of_peak_sustained_elapsed"
MARKS = "<!-- profile -->\n", "<!-- /profile -->\n"


def fail(sentence):
    sys.exit(f"profile: {sentence}")


def run(*command):
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        fail(f"{' '.join(command[:3])} ...: exit {ran.returncode}: "
             f"{(ran.stderr or ran.stdout).strip()[-600:]}")
    return ran.stdout


def number(text):
    return float(text.replace(",", "") or 0)


def table_in(text, column):
    """The rows of the first CSV table that has the column; ncu prints other lines around it."""
    lines = text.splitlines()
    for begin, line in enumerate(lines):
        if f'"{column}"' in line:
            return list(csv.DictReader(lines[begin:]))
    fail(f"ncu printed no column '{column}'; it printed: {text[:600]!r}")


def instructions(text):
    """{opcode: {column: sum over the kernel}}"""
    sums = {}
    for row in table_in(text, EXECUTED):
        opcode = re.match(r"\s*(?:\{\s*)?(?:@!?U?P\w+\s+)?([A-Z]\w*)", row["Source"] or "")
        if not opcode:
            continue
        total = sums.setdefault(opcode[1], dict.fromkeys((EXECUTED, LANES, EXCESSIVE), 0.0))
        for column in total:
            if column not in row:
                fail(f"ncu printed no column '{column}' but {sorted(key for key in row if key)}")
            total[column] += number(row[column] or "")
    return sums


def counts_of(source):
    """Per block: barriers; instructions, accesses and conflicts in shared memory."""
    sums = instructions(source)
    def over(opcodes, column):
        return sum(total[column] for opcode, total in sums.items() if opcode in opcodes) / BLOCKS
    shared = ("LDS", "STS")
    return {"barriers": over(("BAR",), EXECUTED) / WARPS, "instructions": over(shared, EXECUTED),
            "accesses": over(shared, LANES), "conflicts": over(shared, EXCESSIVE)}


def measure(ncu, program, kernel, folder):
    report = os.path.join(folder, kernel)
    run(ncu, "--clock-control", "none", "--section", "SourceCounters", "--metrics",
        f"{BYTES},{NANOSECONDS},{PEAK},{DIVERGENT}", "--kernel-name", f"regex:^{kernel}",
        "--launch-count", "1", "--force-overwrite", "--export", report, program, str(BLOCKS))
    source = run(ncu, "--import", report + ".ncu-rep", "--csv", "--page", "source",
                 "--print-source", "sass")
    raw = table_in(run(ncu, "--import", report + ".ncu-rep", "--csv", "--page", "raw",
                       "--print-units", "base"), BYTES)[-1]
    counts = counts_of(source)
    counts["divergent"] = number(raw[DIVERGENT]) / BLOCKS
    counts["gbs"] = number(raw[BYTES]) / number(raw[NANOSECONDS])
    counts["peak"] = number(raw[PEAK])
    return counts


def counts_of_cpu(program):
    """simt_counts' rows for blocks of 256 threads."""
    rows = {}
    for line in run(program).splitlines():
        words = line.split()
        if len(words) == 9 and words[0] == "256":
            counts = [int(word) for word in words[2:]]
            barriers, steps, divergent, _, conflicts, _, accesses = counts
            rows[words[1]] = {"barriers": barriers, "steps": steps, "divergent": divergent,
                              "conflicts": conflicts, "accesses": accesses}
    if list(rows) != KERNELS:
        fail(f"{program} printed no rows for blocks of 256 threads")
    return rows


def matrix(gpu, cpu):
    lines = ["| per block of 256 threads: GPU (CPU) | block barriers | "
             "lane accesses to shared memory | extra wavefronts by bank conflicts | "
             "warps at work, summed over steps | instructions on shared memory | "
             "divergent branches | memory read, GB/s | of peak |",
             "|---|---|---|---|---|---|---|---|---|"]
    for version, kernel in enumerate(KERNELS):
        g, c = gpu[kernel], cpu[kernel]
        cells = [f"{g[key]:.4g} ({c[key]})" for key in ("barriers", "accesses", "conflicts")]
        lines.append(f"| V{version} | {' | '.join(cells)} | ({c['steps']}) | "
                     f"{g['instructions']:.4g} | {g['divergent']:.4g} | {g['gbs']:.0f} | "
                     f"{g['peak']:.1f} % |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(prog="profile",
                                     description="The ladder's counts from hardware, as a table.")
    parser.add_argument("program", help="build of test/gpu/profile_ladder.cu")
    parser.add_argument("counts", help="build of test/kernels/test_counts.cpp")
    parser.add_argument("--ncu", default="ncu")
    parser.add_argument("--readme",
                        help="a file with the lines <!-- profile --> and <!-- /profile -->")
    parser.add_argument("--keep", help="folder for ncu's reports")
    arguments = parser.parse_args()
    if not shutil.which(arguments.ncu):
        print("SKIP: no Nsight Compute (ncu)")
        return 77
    if subprocess.run([arguments.program, "1"], capture_output=True, check=False).returncode == 77:
        print("SKIP: no GPU")
        return 77
    text = None
    if arguments.readme:
        with open(arguments.readme, encoding="utf-8") as file:
            text = file.read()
        if any(text.count(mark) != 1 for mark in MARKS):
            fail(f"{arguments.readme} has not one line {MARKS[0].strip()} "
                 f"and one {MARKS[1].strip()}")
    cpu = counts_of_cpu(arguments.counts)
    with tempfile.TemporaryDirectory() as scratch:
        folder = arguments.keep or scratch
        os.makedirs(folder, exist_ok=True)
        table = matrix({kernel: measure(arguments.ncu, arguments.program, kernel, folder)
                        for kernel in KERNELS}, cpu)
    print(table, end="")
    if text:
        begin, end = text.index(MARKS[0]) + len(MARKS[0]), text.index(MARKS[1])
        with open(arguments.readme, "w", encoding="utf-8") as file:
            file.write(text[:begin] + "\n" + table + "\n" + text[end:])
    return 0


if __name__ == "__main__":
    sys.exit(main())

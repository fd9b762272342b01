"""Tests bench_shapes, built for f32, u8 and sum, argmax: its command line anywhere, its
tables where there is a GPU.

python3 test_bench_shapes.py PROGRAM    exit 77 if there is no GPU and the command line is right
"""

import csv
import io
import sys

from benches import bench, finish, refuses
from checks import that

SMALL = ("--elements", "100000", "--replays", "3")


def command_line():
    shown = bench("--isolated", "--help").stdout
    that("--isolated " in shown and "host us" in shown, f"--help: {shown}")
    refuses([
        (["rows"], "not understood: rows"),
        (["--warm"], "not understood: --warm"),
        (["--isolated", "3"], "not understood: 3"),
        (["--isolated=3"], "not understood: --isolated=3"),
        (["--isolated", "--replays", "0"], "no such number of replays: 0"),
        (["--table", "rows,rowz"], "no such table: rowz"),
        (["--type=u7"], "no such type: u7"),
        (["--op", "sum,"], "no such operator: "),
        (["--elements", "0"], "no such size: 0"),
        (["--elements", "5,6"], "one number, not 5,6"),
        (["shape=3x4"], "no such shape: 3x4"),
        (["shape=3x4x5x6"], "no such shape: 3x4x5x6"),
        (["shape=3x0x5"], "no such shape: 3x0x5"),
        (["shape=2^20x2^20x1"], "no such shape: 2^20x2^20x1"),
        (["shape=3x4x5y"], "no such size: 5y; numbers are like 1000, 10k,"),
        (["--replays", "0"], "no such number of replays: 0"),
        (["--type", "f64"], "none of these types and operators is built in"),
    ])


def tables():
    shown = bench("--csv", "--type=all", "--op=all", "shape=10x300x1", "shape=7x50x3", *SMALL,
                  "--table=rows,columns,segments,small")
    rows = list(csv.DictReader(io.StringIO(shown.stdout)))
    that(shown.returncode == 0 and not shown.stderr, f"{shown}")
    for name in ("shape", "rows", "columns", "segments", "small"):
        found = {(r["type"], r["op"]) for r in rows if r["table"] == name}
        that(len(found) == 4, f"types and operators of {name}: {found}")
    for r in rows:
        equal = r["inner"].isdigit()
        size = {"f32": 4, "u8": 1}[r["type"]]
        inner = int(r["inner"]) if equal else 1
        results = int(r["outer"]) * inner
        read = results * int(r["n"]) * size
        moved = read + results * (4 if (r["type"], r["op"]) == ("f32", "sum") else 8)
        if not equal:
            moved += 8 * (results + 1)
        us, flat = float(r["us"]), float(r["flat_us"])
        that(abs(float(r["gbs"]) * us / moved / 1e-3 - 1) < 0.02 or moved < 1e4, f"GB/s of {r}")
        wanted = moved / us / (read / flat)
        that(abs(float(r["of_flat"]) - wanted) < 1e-3 * wanted + 1e-4, f"over flat: {r}")
        for peer in ("fixed", "offsets"):
            if r[f"cub_{peer}_us"]:
                ratio = float(r[f"cub_{peer}_us"]) / us
                that(abs(float(r[f"cub_{peer}_over_ours"]) - ratio) < 1e-3 * ratio + 1e-4,
                     f"CUB: {r}")
        that(r["cache"] == "cold" and not r["host_us"], f"in a graph: {r}")
    shown = bench("--no-peers", "--table", "small", "--replays=1")
    that("\nf32 sum, small\n" in shown.stdout and shown.stdout.count("\n") == 16 and
         "host us" not in shown.stdout, f"{shown}")


def second_and_fold():
    """Second results beside a call without, folds beside a copy."""
    shown = bench("--csv", "--type=f32", "--op=all", *SMALL, "--table=second,fold")
    rows = list(csv.DictReader(io.StringIO(shown.stdout)))
    that(shown.returncode == 0 and not shown.stderr, f"{shown}")
    found = {(r["table"], r["op"]) for r in rows}
    that(found == {("second", "argmax"), ("fold", "sum")}, f"tables and operators: {found}")
    for r in rows:
        second = r["table"] == "second"
        n, outer = int(r["n"]), int(r["outer"])
        results = outer * int(r["inner"]) if second else n
        moved = 4 * n * (results if second else outer) + results * (8 + 4 if second else 4)
        us = float(r["us"])
        that(abs(float(r["gbs"]) * us / moved / 1e-3 - 1) < 0.02 or moved < 1e4, f"GB/s of {r}")
        ratio = float(r["cub_fixed_us"]) / us
        said = float(r["cub_fixed_over_ours"])
        that(0.05 < ratio < 20 and abs(said - ratio) < 1e-3 * ratio + 1e-4, f"over ours: {r}")
        that(not r["cub_offsets_us"], f"max is not built in: {r}")


def isolated():
    shapes = ("shape=10x300x1", "shape=1x30x1000", "shape=1x3x2^18")
    shown = bench("--isolated", "--csv", "--type=all", "--op=all", *shapes, "--replays=9",
                  "--table=segments,dot", "--elements=100000")
    rows = list(csv.DictReader(io.StringIO(shown.stdout)))
    that(shown.returncode == 0 and not shown.stderr, f"{shown}")
    for name in ("shape", "segments", "dot"):
        found = {(r["type"], r["op"]) for r in rows if r["table"] == name}
        that(len(found) == (2 if name == "dot" else 4), f"types and operators of {name}: {found}")
    for r in rows:
        host, us = float(r["host_us"]), float(r["us"])
        that(r["cache"] == "isolated" and 0.1 < host < 20000, f"on the CPU: {r}")
        # The GPU is idle: the events around the call enclose what the CPU does before the launch.
        that(us > host / 2, f"the events do not enclose the call: {r}")
    shown = bench("--isolated", "--no-peers", "shape=7x50x3", "--replays=3")
    lines = shown.stdout.splitlines()
    that(shown.returncode == 0 and len(lines) == 5 and "one call at a time" in lines[0] and
         lines[3].split()[-2:] == ["host", "us"] and float(lines[4].split()[-1]) > 0, f"{shown}")


def main():
    command_line()
    return finish("bench_shapes", ("shape=2x3x4", "--replays", "1"), tables, second_and_fold,
                  isolated)


if __name__ == "__main__":
    sys.exit(main())

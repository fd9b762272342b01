"""Tests bench_by_index: its command line anywhere, its tables where there is a GPU.

python3 test_bench_by_index.py PROGRAM    exit 77 if there is no GPU and the command line is right
"""

import csv
import io
import sys

from benches import bench, finish, refuses
from checks import that

ORDERS = ("random", "sorted", "half", "zipf")


def command_line():
    shown = bench("--help").stdout
    that("--bins N" in shown and "--order ORDER" in shown, f"--help: {shown}")
    refuses([
        (["random"], "not understood: random"),
        (["--isolated"], "not understood: --isolated"),
        (["--elements", "0"], "no such size: 0"),
        (["--elements", "5,6"], "one number, not 5,6"),
        (["--bins=3,x"], "no such size: x"),
        (["--bins", "2^31"], "no such size: 2^31"),
        (["--order", "random,"], "no such order: "),
        (["--order=descending"], "no such order: descending"),
        (["--replays", "0"], "no such number of replays: 0"),
        (["--csv", "--json"], "--csv or --json, not both"),
    ])


def tables():
    shown = bench("--csv", "--elements", "1000003", "--bins", "1,700,2^18", "--replays=3")
    rows = list(csv.DictReader(io.StringIO(shown.stdout)))
    that(shown.returncode == 0 and not shown.stderr, f"{shown}")
    that(
        [(r["order"], r["bins"]) for r in rows]
        == [(order, bins) for order in ORDERS for bins in ("1", "700", "262144")],
        f"rows: {rows}",
    )
    for r in rows:
        us, floats = float(r["us"]), float(r["float_us"])
        that(1 < us < 5000 and r["n"] == "1000003", f"a time: {r}")
        that(abs(us / floats - float(r["over_float"])) < 0.001 * us / floats + 1e-4,
             f"over atomicAdd: {r}")
        that(abs(float(r["gbs"]) * us / 8000.024 - 1) < 0.01, f"GB/s: {r}")
    text = bench("--elements=5000", "--bins=64", "--order=half", "--replays=1").stdout
    that("\nhalf\n" in text and "over CUB" in text, f"a table: {text}")


def main():
    command_line()
    return finish("bench_by_index", ("--elements=1000", "--bins=5", "--replays=1"), tables)


if __name__ == "__main__":
    sys.exit(main())

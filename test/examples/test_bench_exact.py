"""Tests bench_exact, built for f32, f64 and sum, norm2: its command line anywhere, its
tables where there is a GPU.

python3 test_bench_exact.py PROGRAM     exit 77 if there is no GPU and the command line is right
"""

import csv
import io
import itertools
import sys

from benches import bench, finish, refuses
from checks import that

REDUCTIONS = (("f32", "sum"), ("f32", "norm2"), ("f32", "dot"), ("f64", "sum"), ("f64", "norm2"),
              ("f64", "dot"))
SIZES = {"f32": 4, "f64": 8}


def command_line():
    shown = bench("--help")
    that(
        all(word in shown.stdout for word in ("--csv", "type=", "op=", "data=", "bytes=", "dot")),
        "--help names the options",
    )
    refuses([
        (["nonsense"], "not understood: nonsense"),
        (["--isolated"], "not understood: --isolated"),
        (["type=i32"], "no such type: i32"),
        (["op=max,"], "no such operator: "),
        (["data=normal"], "no such data: normal"),
        (["bytes=0"], "no such size: 0"),
        (["--replays", "0"], "no such number of replays: 0"),
        (["op=mean"], "none of these types and operators is built in"),
    ])


def rows_of(*arguments):
    shown = bench("--csv", *arguments)
    that(shown.returncode == 0 and not shown.stderr, f"{arguments}: {shown}")
    return list(csv.DictReader(io.StringIO(shown.stdout)))


def tables():
    rows = rows_of("bytes=2^12,2^21", "--replays", "3")
    wanted = [
        (name, op, kind, str(size), str(size // SIZES[name] // (2 if op == "dot" else 1)))
        for (name, op), kind, size in itertools.product(
            REDUCTIONS, ("uniform", "any"), (2**12, 2**21)
        )
    ]
    that(
        [(r["type"], r["op"], r["data"], r["bytes"], r["n"]) for r in rows] == wanted,
        f"rows: {rows}",
    )
    for r in rows:
        us, auto = float(r["us"]), float(r["auto_us"])
        that(0.5 < us < 1000 and 0.5 < auto < 1000, f"times of {r}")
        that(abs(us / auto - float(r["over_auto"])) < 0.001, f"EXACT over AUTO of {r}")
        that(
            not r["cub_us"] or abs(us / float(r["cub_us"]) - float(r["over_cub"])) < 0.001,
            f"EXACT over CUB of {r}",
        )
        that(r["op"] == "sum" or not r["cub_us"], f"CUB sums alone: {r}")
    rows = rows_of("bytes=2^12", "type=f64", "op=sum", "data=any", "--replays", "1")
    that([(r["type"], r["op"], r["data"]) for r in rows] == [("f64", "sum", "any")], f"{rows}")
    text = bench("bytes=2^12", "op=dot", "data=uniform", "--replays", "1").stdout
    that("f32 dot, uniform\n" in text and "over AUTO" in text, f"a table: {text}")


def main():
    command_line()
    return finish("bench_exact", ("bytes=4k", "--replays", "1"), tables)


if __name__ == "__main__":
    sys.exit(main())

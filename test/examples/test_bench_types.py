"""Tests bench_types, built for f32, f16, u8 and sum, argmin, variance: its command line
anywhere, its tables where there is a GPU.

python3 test_bench_types.py PROGRAM     exit 77 if there is no GPU and the command line is right
"""

import csv
import io
import itertools
import json
import sys

from benches import bench, finish, refuses
from checks import that

TYPES = ("f32", "f16", "u8")
OPERATORS = ("sum", "argmin", "variance")
SIZES = {"f32": 4, "f16": 2, "u8": 1}


def command_line():
    shown = bench("--help")
    that(
        all(
            word in shown.stdout
            for word in ("--isolated", "--csv", "--json", "type=", "op=", "bytes=", "n=SIZE")
        ),
        "--help names the options",
    )
    refuses([
        (["nonsense"], "not understood: nonsense"),
        (["u8"], "not understood: u8"),
        (["--warm"], "not understood: --warm"),
        (["--csv", "--json"], "--csv or --json, not both"),
        (["type=u7"], "no such type: u7"),
        (["type=u8,"], "no such type: "),
        (["type="], "no such type: "),
        (["op=sum,Sum"], "no such operator: Sum"),
        (["op=unknown"], "no such operator: unknown"),
        (["bytes=0"], "no such size: 0"),
        (["bytes=12x"], "no such size: 12x; numbers are like 1000, 10k,"),
        (["n=2^41"], "no such size: 2^41"),
        (["--replays", "0"], "no such number of replays: 0"),
        (["--replays"], "a value is missing after --replays"),
        (["type=i64"], "none of these types and operators is built in"),
        (["op=norm2", "type=all"], "none of these types and operators is built in"),
    ])


def rows_of(*arguments):
    """Of --csv and of --json, which are alike."""
    shown = bench(*arguments, "--csv")
    rows = list(csv.DictReader(io.StringIO(shown.stdout)))
    that(shown.returncode == 0 and not shown.stderr, f"{arguments}: {shown}")
    parsed = json.loads(bench(*arguments, "--json").stdout)
    for key in ("gpu", "cache", "type", "op", "bytes", "n"):
        that(
            [r[key] for r in rows] == [str(r[key]) for r in parsed],
            f"{arguments}: {key} of --csv and --json",
        )
    that(
        [r["over_cub"] == "" for r in rows] == [r["over_cub"] is None for r in parsed],
        f"{arguments}: peers of --csv and --json",
    )
    return rows


def tables():
    for mode, cache in ([], "cold"), (["--isolated"], "isolated"):
        rows = rows_of("bytes=2^12,2^20", "n=1,5000", "--replays", "3", *mode)
        wanted = [
            (name, op, str(n), str(n * SIZES[name]), cache)
            for name, op in itertools.product(TYPES, OPERATORS)
            for n in (4096 // SIZES[name], 2**20 // SIZES[name], 1, 5000)
        ]
        that(
            [(r["type"], r["op"], r["n"], r["bytes"], r["cache"]) for r in rows] == wanted,
            f"rows of {mode}: {rows}",
        )
        for r in rows:
            us, f32 = float(r["us"]), float(r["f32_us"])
            that(us > 0 and abs(float(r["over_f32"]) - us / f32) < 1e-3 * us / f32, f"times of {r}")
            that(r["op"] != "variance" or r["cub_us"] == "", f"peer of {r}")
            if r["cub_us"]:
                ratio = us / float(r["cub_us"])
                that(abs(float(r["over_cub"]) - ratio) < 1e-3 * ratio, f"CUB's time of {r}")
    shown = bench("type=u8,f16", "op=argmin", "bytes=64k").stdout
    that(
        [line for line in shown.splitlines() if line.endswith("argmin")]
        == ["f16 argmin", "u8 argmin"]
        and shown.count("\n       65536 ") == 2,
        f"tables: {shown}",
    )
    that(bench("bytes=2^39").returncode == 1, "bytes that do not fit in memory")


def main():
    command_line()
    return finish("bench_types", ("bytes=4k", "--replays", "1"), tables)


if __name__ == "__main__":
    sys.exit(main())

"""Tests bench: its command line anywhere, its tables where there is a GPU.

python3 test_bench.py BENCH     exit 77 if there is no GPU and the command line is right
"""

import csv
import io
import itertools
import json
import sys

from benches import bench, finish, refuses
from checks import that

MODES = ("--warm", "--isolated", "--after-producer", "--errors")


def command_line():
    shown = bench("--help")
    that(
        shown.returncode == 0 and shown.stdout.startswith("usage: bench") and not shown.stderr,
        "--help",
    )
    that(
        all(word in shown.stdout for word in (*MODES, "--csv", "--json", "n=SIZE")),
        "--help names the options",
    )
    that(max(map(len, shown.stdout.splitlines())) <= 90, "--help's lines are of at most 90 columns")
    refuses([
        (["nonsense"], "not understood: nonsense"),
        (["--csv", "--json"], "not both"),
        (["--errors", "--json"], "--errors has no --json"),
        (["n=0"], "no such size: 0"),
        (["n=12x"], "no such size: 12x; numbers are like 1000, 10k,"),
        (["n=2^41"], "no such size: 2^41"),
        (["n=1024,"], "no such size: "),
        (["n=-5"], "no such size: -5"),
        (["--block", "48"], "no such block size: 48"),
        (["--block", "256,4294967552"], "no such block size: 4294967552"),
        (["--block"], "a value is missing after --block"),
        (["--block=48"], "no such block size: 48"),
        (["--data", "odd"], "no such data: odd"),
        (["--replays", "0"], "no such number of replays: 0"),
        (["--replays=1e6"], "no such number of replays: 1e6"),
        (["--one-round"], "not understood: --one-round"),
        (["--cold"], "not understood: --cold"),
        (["--after-producer", "--json", "--csv"], "--csv or --json, not both"),
        *(
            (list(two), f"{two[0]} or {two[1]}, not both")
            for two in itertools.permutations(MODES, 2)
        ),
    ])
    for mode in MODES:
        refused = bench(mode, mode, "n=0")
        that(
            refused.returncode == 2 and "no such size: 0" in refused.stderr,
            f"{mode} twice: {refused.stderr!r}",
        )


def tables():
    rows = list(
        csv.DictReader(
            io.StringIO(
                bench(
                    "auto",
                    "exact",
                    "v3",
                    "n=1e3,64k",
                    "--replays",
                    "3",
                    "--block",
                    "64,512",
                    "--csv",
                ).stdout
            )
        )
    )
    wanted = [
        (n, *k)
        for n in ("1000", "65536")
        for k in (("auto", "0"), ("exact", "0"), ("v3", "64"), ("v3", "512"))
    ]
    that([(r["n"], r["kernel"], r["block"]) for r in rows] == wanted, f"rows of --csv: {rows}")
    for r in rows:
        us, gbs = float(r["us"]), float(r["gbs"])
        that(us > 0 and abs(gbs - 4e-3 * int(r["n"]) / us) < 0.02 * gbs + 0.01, f"GB/s of {r}")
        that(float(r["error"]) < (1e-30 if r["kernel"] == "exact" else 1e-3), f"error of {r}")
    parsed = json.loads(
        bench("ladder", "n=4K", "--replays", "3", "--json", "--warm", "--data", "wide").stdout
    )
    that([r["kernel"] for r in parsed] == [f"v{k}" for k in range(8)], f"rows of --json: {parsed}")
    that(all(r["n"] == 4096 and r["cache"] == "warm" for r in parsed), f"rows of --json: {parsed}")
    guide = bench("reduce", "all", "n=1048576")
    that(
        guide.returncode == 0 and "1048576 v7" in guide.stdout and "WRONG" not in guide.stdout,
        "reduce all n=1048576",
    )
    that(bench("n=2^39").returncode == 1, "an n that does not fit in memory")


def modes():
    """The table's other ways of calling: whose rows there are, and that sums after a producer are
    right."""
    for mode, first in ("isolated", []), ("after-producer", ["producer"]):
        kernels = [*first, "auto", "exact", "v2"]
        shown = bench(
            "auto", "exact", "v2", f"--{mode}", "n=1000,2^20,5000", "--replays", "5", "--csv"
        )
        rows = list(csv.DictReader(io.StringIO(shown.stdout)))
        that(shown.returncode == 0, f"--{mode}: exit {shown.returncode}, {shown.stderr}")
        that(
            [(r["n"], r["kernel"]) for r in rows]
            == [(n, k) for n in ("1000", "1048576", "5000") for k in kernels],
            f"rows of --{mode}: {rows}",
        )
        for r in rows:
            that(r["cache"] == mode and 0 < float(r["us"]) < 1e5, f"--{mode}: {r}")
            that(
                float(r["error"]) < (1e-30 if r["kernel"] in ("exact", "producer") else 1e-3),
                f"error of {r}",
            )
        parsed = json.loads(
            bench("exact", f"--{mode}", "n=4K,64K", "--replays", "1", "--json").stdout
        )
        that(
            [(r["n"], r["kernel"], r["cache"], r["error"]) for r in parsed]
            == [(n, k, mode, 0) for n in (4096, 65536) for k in [*first, "exact"]],
            f"--{mode} --json: {parsed}",
        )
        every = bench(f"--{mode}", "n=2^16")
        that(
            every.returncode == 0 and "65536 v7" in every.stdout and "WRONG" not in every.stdout,
            f"--{mode} n=2^16: {every.stdout}",
        )
    alone = bench("auto", "--isolated", "n=2^12,2^27").stdout
    that(", 15 to 41 replays" in alone and "one call at a time" in alone, f"--isolated: {alone}")
    pairs = bench("auto", "--after-producer")
    that(
        [line.split()[:2] for line in pairs.stdout.splitlines()[3:]]
        == [[str(2**k), name] for k in range(12, 27, 2) for name in ("producer", "auto")]
        and "data positive" in pairs.stdout
        and ", 15 replays" in pairs.stdout,
        f"--after-producer: {pairs.stdout}",
    )


def errors():
    """Of every kernel built in; of positive numbers, so that none is large."""
    shown = bench("--errors", "n=1000,2^20", "--csv")
    rows = list(csv.DictReader(io.StringIO(shown.stdout)))
    that(
        shown.returncode == 0
        and {"auto", "exact", "v0", "v7"} <= {r["kernel"] for r in rows}
        and {r["n"] for r in rows} == {"1000", "1048576"}
        and "copy" not in {r["kernel"] for r in rows},
        f"rows of --errors: {shown.stdout}",
    )
    for r in rows:
        n, total, exact, error = int(r["n"]), float(r["sum"]), float(r["exact"]), float(r["error"])
        that(r["data"] == "positive" and abs(exact / n - 0.5) < 0.05, f"exact sum of {r}")
        that(error < (1e-30 if r["kernel"] == "exact" else 1e-5), f"error of {r}")
        # a sum that is correctly rounded has no error, though it is not the real sum
        that(abs(abs(total - exact) / exact - error) < 1e-7, f"error against sums of {r}")
    guide = bench("--errors", "auto", "v7", "n=2^16", "--data", "normal")
    that(
        guide.returncode == 0
        and "65536 v7" in guide.stdout
        and "data normal" in guide.stdout
        and "auto" in guide.stdout
        and "v6" not in guide.stdout,
        f"--errors: {guide.stdout}",
    )


def main():
    command_line()
    return finish("bench", ("auto", "n=1024", "--replays", "1", "--csv"), tables, modes, errors)


if __name__ == "__main__":
    sys.exit(main())

"""Tests examples/plot.py with rows made up here: python3 test_plot.py PLOT FIGURES

Without matplotlib: exit 77.
"""
import os
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

import checks
from checks import that

PLOT, FIGURES = (os.path.abspath(path) for path in sys.argv[1:3])
HEADER = "gpu,cache,n,kernel,block,us,spread,gbs,peak_gbs,best_gbs,error\n"


def row(kernel, n, us, gpu="A GPU", cache="cold"):
    return f'"{gpu}",{cache},{n},{kernel},256,{us},0.001,{4e-3 * n / us:.2f},3000,2900,1e-7\n'


def plot(folder, *texts):
    """(exit status, standard error, the figures as text)"""
    for number, text in enumerate(texts):
        with open(os.path.join(folder, f"{number}.csv"), "w", encoding="utf-8") as file:
            file.write(text)
    out = os.path.join(folder, "out")
    inputs = [os.path.join(folder, f"{k}.csv") for k in range(len(texts))]
    ran = subprocess.run([sys.executable, PLOT, *inputs, "--out", out], capture_output=True,
                         text=True, check=False)
    figures = {}
    for name in sorted(os.listdir(out)) if os.path.isdir(out) else []:
        figures[name] = "".join(ElementTree.parse(os.path.join(out, name)).getroot().itertext())
    return ran.returncode, ran.stderr, figures


def case(*texts):
    with tempfile.TemporaryDirectory() as folder:
        return plot(folder, *texts)


def main():
    try:
        import matplotlib  # pylint: disable=unused-import
    except ImportError:
        print("SKIP: no matplotlib")
        return 77
    ours = HEADER + "".join(row("auto", 1 << k, 2 + (4 << k) / 3e6) for k in range(10, 30, 4))
    ladder = HEADER + "".join(row(f"v{k}", 1 << 20, 90 - 10 * k) for k in range(8))
    with_cub = ours + row("cub", 1 << 10, 4) + row("cub", 1 << 14, 5)

    status, error, figures = case(ours)
    that(status == 0 and list(figures) == ["bandwidth.svg"], f"AUTO alone: {status} {error}")
    that("FastReduce AUTO" in figures.get("bandwidth.svg", "") and
         "CUB" not in figures["bandwidth.svg"], "its legend")
    status, error, figures = case(with_cub, ladder)
    that(status == 0 and list(figures) == ["bandwidth.svg", "ladder.svg"],
         f"two files: {status} {error}")
    that("time over CUB's" in figures["bandwidth.svg"] and "peak 3,000" in figures["bandwidth.svg"],
         "beside CUB")
    that(all(f"V{k}" in figures["ladder.svg"] and f"{90 - 10 * k} µs" in figures["ladder.svg"]
             for k in range(8)),
         "the bars' words")
    later = ladder + "".join(row(f"v{k}", 1 << 20, 500) + row(f"v{k}", 1 << 12, 7, cache="warm")
                             for k in range(8))
    that("500 µs" not in case(later)[2]["ladder.svg"], "the first row counts")
    for text, part in [("", "no cold rows"), (HEADER, "no cold rows"),
                       ("a,b\n1,2\n", "not the output"),
                       (HEADER + '"A GPU",cold,x,auto\n', "not the output"),
                       (ours + row("auto", 3, 1, "another"), "one GPU"),
                       (HEADER + row("auto", 1024, 1, cache="warm"), "no cold rows")]:
        status, error, figures = case(text)
        that(status == 1 and part in error and error.count("\n") == 1 and not figures,
             f"{text[:40]!r}: {error!r}")
    missing = subprocess.run([sys.executable, PLOT, "/nonexistent.csv"], capture_output=True,
                             text=True, check=False)
    that(missing.returncode == 1 and "/nonexistent.csv" in missing.stderr and
         "Traceback" not in missing.stderr, "no file")

    # the README's ladder is that of the rows beside it
    with open(os.path.join(FIGURES, "h200.csv"), encoding="utf-8") as file:
        drawn = case(file.read())[2]["ladder.svg"]
    with open(os.path.join(FIGURES, "ladder.svg"), encoding="utf-8") as file:
        kept = "".join(ElementTree.fromstring(file.read()).itertext())
    times = [re.findall(r"[\d,]+ µs", text) for text in (drawn, kept)]
    that(len(times[0]) == 8 and times[0] == times[1],
         f"ladder.svg is not of h200.csv: {times}")
    return checks.finish("plot")


if __name__ == "__main__":
    sys.exit(main())

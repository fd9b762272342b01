"""Tests examples/bench/plot.py, plot_shapes.py beside it, and figures.sh, with rows made up here:

    python3 test_plot.py PLOT FIGURES

Without matplotlib: exit 77.
"""
import os
import re
import shutil
import stat
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree

import checks
from checks import that

PLOT, FIGURES = (os.path.abspath(path) for path in sys.argv[1:3])
HEADER = "gpu,cache,n,kernel,block,us,spread,gbs,peak_gbs,best_gbs,error\n"
NAMES = ["bandwidth.svg", "calls.svg", "exact.svg", "hero.svg", "ladder.svg"]


def row(kernel, n, us, gpu="A GPU", cache="cold"):
    return f'"{gpu}",{cache},{n},{kernel},256,{us},0.001,{4e-3 * n / us:.2f},3000,2900,1e-7\n'


def run(folder, inputs, out="out", **environment):
    return subprocess.run([sys.executable, PLOT, *inputs, "--out", os.path.join(folder, out)],
                          capture_output=True, text=True, check=False,
                          env={**os.environ, **environment})


def text_of(svg):
    return "".join(ElementTree.fromstring(svg).itertext())


def drawn(folder):
    """{name: bytes} of a folder's figures."""
    figures = {}
    for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
        with open(os.path.join(folder, name), "rb") as file:
            figures[name] = file.read()
    return figures


def case(*texts):
    """(exit status, standard error, {name: bytes})"""
    with tempfile.TemporaryDirectory() as folder:
        inputs = []
        for number, text in enumerate(texts):
            inputs.append(os.path.join(folder, f"{number}.csv"))
            with open(inputs[-1], "wb") as file:
                file.write(text if isinstance(text, bytes) else text.encode())
        ran = run(folder, inputs)
        return ran.returncode, ran.stderr, drawn(os.path.join(folder, "out"))


OURS = HEADER + "".join(row("auto", 1 << k, 2 + (4 << k) / 3e6) for k in range(10, 30, 4))
LADDER = HEADER + "".join(row(f"v{k}", 1 << 20, 90 - 10 * k) for k in range(8))


def calls(cache, kernels=("auto", "exact", "cub")):
    return "".join(row(name, 1 << k, k + len(name), cache=cache)
                   for k in range(10, 22, 4) for name in kernels)


def check_what_is_drawn():
    status, error, figures = case(OURS)
    that(status == 0 and list(figures) == ["bandwidth.svg"], f"AUTO alone: {status} {error}")
    that(all(f"no {name}" in error for name in NAMES if name != "bandwidth.svg") and
         error.count("\n") == 4, f"what is not drawn is said: {error}")
    words = text_of(figures["bandwidth.svg"])
    that("FastReduce AUTO" in words and "CUB" not in words, "its legend")
    that("peak 3,000" in words and "best read measured 2,900" in words, "the memory's limits")

    for cache, names in [("cold", ["bandwidth.svg", "exact.svg", "hero.svg"]),
                         ("isolated", ["calls.svg", "exact.svg"]),
                         ("after-producer", ["calls.svg", "exact.svg"])]:
        status, error, figures = case(HEADER + calls(cache))
        that(status == 0 and list(figures) == names, f"{cache}: {list(figures)} {error}")
    status, error, figures = case(HEADER + calls("isolated", ["auto", "cub"]))
    that(list(figures) == ["calls.svg"] and "EXACT" not in text_of(figures["calls.svg"]),
         f"no EXACT: {list(figures)}")

    everything = OURS + calls("cold") + calls("isolated") + calls("after-producer")
    status, error, figures = case(everything, LADDER)
    that(status == 0 and list(figures) == NAMES and error == "", f"two files: {status} {error}")
    words = {name: text_of(svg) for name, svg in figures.items()}
    that("time over CUB's" in words["hero.svg"] and "FastReduce EXACT" in words["hero.svg"], "hero")
    that("single calls" in words["calls.svg"] and "after a producer" in words["calls.svg"], "calls")
    that(all(part in words["exact.svg"] for part in ("in graphs", "single calls", "producer")),
         "EXACT's price")
    that(all(f"V{k}" in words["ladder.svg"] and f"{90 - 10 * k} µs" in words["ladder.svg"]
             for k in range(8)), "the bars' words")
    that(case(everything, LADDER)[2] == figures, "the same bytes for the same rows")
    # without colours: the lines of one figure differ in their dashes
    lines = [line for line in re.findall(r"<path[^>]*clip-path[^>]*>",
                                         figures["bandwidth.svg"].decode())
             if "stroke: #808080" not in line]
    dashes = {"".join(re.findall("stroke-dasharray: [^;]*", line)) for line in lines}
    that(len(lines) == len(dashes) == 3, f"AUTO, EXACT and CUB by their dashes: {dashes}")

    later = LADDER + "".join(row(f"v{k}", 1 << 20, 500) + row(f"v{k}", 1 << 12, 7, cache="warm")
                             for k in range(8))
    that("500 µs" not in text_of(case(later)[2]["ladder.svg"]), "the first row counts")
    status, error, figures = case(HEADER + row("auto", 1000, 1, gpu="$x^ & <$"))
    that(status == 0 and "$x^ & <$" in text_of(figures["bandwidth.svg"]), f"a name: {error}")


def check_refusals():
    warm = HEADER + row("auto", 1024, 1, cache="warm")
    for text, part in [("", "nothing to draw"), (HEADER, "nothing to draw"),
                       ("a,b\n1,2\n", "not the output"), ("no GPU here\nx\n", "not the output"),
                       (HEADER + '"A GPU",cold,x,auto\n', "not the output"),
                       (OURS.replace(",256,", ",256,nan,"), "not the output"),
                       (HEADER + row("auto", 1024, -1), "not the output"),
                       (OURS.replace(",3000,", ",inf,"), "not the output"),
                       (OURS.replace(",1024,", ",0,"), "not the output"),
                       (b"\xff\xfe\x00" + OURS.encode(), "not the output"),
                       (OURS.replace(",1024,", ",\0,"), "not the output"),
                       (OURS + row("auto", 3, 1, "another"), "one GPU")]:
        status, error, figures = case(text)
        that(status == 1 and part in error and error.count("\n") == 1 and not figures,
             f"{text[:40]!r}: {error!r}")
    status, error, figures = case(warm)
    that(status == 1 and "plot: nothing to draw\n" in error and not figures and
         "Traceback" not in error, f"warm rows alone: {error!r}")
    with tempfile.TemporaryDirectory() as folder:
        good = os.path.join(folder, "good.csv")
        with open(good, "w", encoding="utf-8") as file:
            file.write(OURS)
        os.mkdir(os.path.join(folder, "taken"))
        os.mkdir(os.path.join(folder, "taken", "bandwidth.svg"))
        os.mkdir(os.path.join(folder, "matplotlib"))  # one that does not load
        with open(os.path.join(folder, "matplotlib", "__init__.py"), "w", encoding="utf-8") as file:
            file.write("raise ImportError('broken')\n")
        for ran, part in [(run(folder, ["/nonexistent.csv"]), "/nonexistent.csv"),
                          (run(folder, [folder]), "s a directory"),
                          (run(folder, [good], "good.csv"), "good.csv"),
                          (run(folder, [good], "good.csv/below"), "good.csv"),
                          (run(folder, [good], "taken"), "s a directory"),
                          (run(folder, [good], PYTHONPATH=folder), "needs matplotlib")]:
            last = ran.stderr.splitlines()[-1]
            that(ran.returncode == 1 and part in last and last.startswith("plot: ") and
                 "Traceback" not in ran.stderr, f"{part}: {ran.stderr}")


STAND_IN = """#!/bin/sh
# prints the rows of the file named after its arguments
[ -z "${{NO_GPU:-}}" ] || {{ echo "no GPU here"; exit 77; }}
cat '{folder}'/"$(echo "$*" | tr -c 'a-z0-9\\n' _ | cut -c 1-12)"
"""


def check_figures_sh():
    """One command from the bench to the figures, with a stand-in for the bench."""
    script = os.path.join(os.path.dirname(PLOT), "figures.sh")
    with tempfile.TemporaryDirectory() as folder:
        parts = {"__csv_ladder": LADDER, "__csv_auto_e": OURS + row("v7", 1 << 20, 1000),
                 "__csv___isol": HEADER + calls("isolated"),
                 "__csv___afte": HEADER + calls("after-producer")}
        for name, text in parts.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text.replace("A GPU", "NVIDIA Some GPU"))
        bench = os.path.join(folder, "bench")
        with open(bench, "w", encoding="utf-8") as file:
            file.write(STAND_IN.format(folder=folder))
        os.chmod(bench, stat.S_IRWXU)
        out = os.path.join(folder, "the figures")

        def measure(**environment):
            return subprocess.run(["/bin/sh", script, out], capture_output=True, text=True,
                                  check=False, env={**os.environ, "BENCH": bench, **environment})
        tools = os.path.join(folder, "tools")  # without nvcc
        os.mkdir(tools)
        for tool in ("dirname", "mkdir"):
            os.symlink(shutil.which(tool), os.path.join(tools, tool))
        os.symlink("/bin/true", os.path.join(tools, "python3"))
        ran = measure(BENCH="", PATH=tools)
        that(ran.returncode == 77 and ran.stderr == "figures: no nvcc on the PATH\n",
             f"no nvcc: {ran.returncode} {ran.stderr}")
        os.remove(os.path.join(tools, "python3"))
        os.symlink("/bin/false", os.path.join(tools, "python3"))
        ran = measure(PATH=tools)
        that(ran.returncode == 1 and ran.stderr.startswith("figures: needs matplotlib"),
             f"no matplotlib: {ran.returncode} {ran.stderr}")
        ran = measure(NO_GPU="1")
        that(ran.returncode == 77 and "no GPU here" in ran.stderr and os.listdir(out) == [],
             f"no GPU: {ran.returncode} {ran.stderr}")
        ran = measure()
        that(ran.returncode == 0, f"figures.sh: {ran.returncode} {ran.stderr}")
        figures = drawn(out)
        rows = figures.pop("some-gpu.csv", b"").decode()
        that(rows.count("gpu,cache") == 1 and rows.startswith(HEADER) and
             rows.count("\n") == 1 + sum(text.count("\n") - 1 for text in parts.values()),
             f"all rows in one file: {rows.count('gpu,cache')} {rows.count(chr(10))}")
        that(list(figures) == [name for name in NAMES if name != "hero.svg"], f"{list(figures)}")
        that("20 µs" in text_of(figures["ladder.svg"]), "the ladder's own V7")


def check_committed_figures():
    """They are of the rows beside them: to the byte where this is the matplotlib that drew them,
    else in their words."""
    with open(os.path.join(FIGURES, "h100.csv"), encoding="utf-8") as file:
        status, error, figures = case(file.read())
    that(status == 0 and error == "" and list(figures) == NAMES, f"h100.csv: {error}")
    creator = rb"<dc:title>(.*?)</dc:title>"
    for name, svg in figures.items():
        with open(os.path.join(FIGURES, name), "rb") as file:
            kept = file.read()
        that(len(kept) < 40000, f"{name} has {len(kept)} bytes")
        same = re.findall(creator, kept) == re.findall(creator, svg)
        words = [text_of(re.sub(creator, b"", x)).split() for x in (kept, svg)]
        that(kept == svg if same else words[0] == words[1],
             f"{name} is not what plot.py draws of h100.csv")


def draw_shapes(text):
    """(exit status, standard error, the figure)"""
    with tempfile.TemporaryDirectory() as folder:
        rows = os.path.join(folder, "rows.csv")
        with open(rows, "w", encoding="utf-8") as file:
            file.write(text)
        program = os.path.join(os.path.dirname(PLOT), "plot_shapes.py")
        ran = subprocess.run([sys.executable, program, rows, "--out", folder],
                             capture_output=True, text=True, check=False)
        return ran.returncode, ran.stderr, drawn(folder).get("shapes.svg")


def shape_row(table, outer, n, inner, fixed="2.0", offsets="", gpu="A GPU"):
    return (f'"{gpu}",{table},f32,sum,{outer},{n},{inner},10,0.001,3000,9,0.9,'
            f'20,,{fixed},{offsets}\n')


def check_shapes():
    header = ("gpu,table,type,op,outer,n,inner,us,spread,gbs,flat_us,of_flat,cub_fixed_us,"
              "cub_offsets_us,cub_fixed_over_ours,cub_offsets_over_ours\n")
    rows = "".join(shape_row("rows", 1 << (20 - k), 1 << k, 1) for k in range(0, 20, 4))
    columns = "".join(shape_row("columns", 1, 1 << (20 - k), 1 << k) for k in range(2, 20, 4))
    planes = shape_row("columns", 64, 64, 7)
    status, error, figure = draw_shapes(header + rows + planes)
    that(status == 0 and error == "", f"rows alone: {status} {error}")
    words = text_of(figure)
    that("elements of a row" in words and "FastReduce AUTO" in words and "CUB" in words and
         "ragged" not in words and "columns" not in words, f"rows alone: {words}")
    status, error, figure = draw_shapes(
        header + rows + columns + shape_row("segments", 100, 64, "ragged", "", "1.5") +
        shape_row("segments", 100, 64, "half in one") + shape_row("small", 10, 10, 1))
    words = text_of(figure)
    that(status == 0 and "elements on average" in words, f"three panels: {status} {error}")
    for text in (header, header + shape_row("small", 10, 10, 1), OURS, "nothing\n",
                 header + rows.replace(",0.9,", ",fast,")):
        status, error, figure = draw_shapes(text)
        that(status == 1 and error.startswith("plot: ") and error.count("\n") == 1 and
             figure is None, f"refused: {status} {error}")
    with open(os.path.join(FIGURES, "h100_shapes.csv"), encoding="utf-8") as file:
        status, error, figure = draw_shapes(file.read())
    with open(os.path.join(FIGURES, "shapes.svg"), "rb") as file:
        kept = file.read()
    creator = rb"<dc:title>(.*?)</dc:title>"
    same = re.findall(creator, kept) == re.findall(creator, figure)
    words = [text_of(re.sub(creator, b"", x)).split() for x in (kept, figure)]
    that(kept == figure if same else words[0] == words[1],
         "shapes.svg is not what plot_shapes.py draws of h100_shapes.csv")


def main():
    try:
        import matplotlib  # pylint: disable=unused-import
    except ImportError:
        print("SKIP: no matplotlib")
        return 77
    for group in (check_what_is_drawn, check_refusals, check_figures_sh, check_committed_figures,
                  check_shapes):
        checks.run(group)
    return checks.finish("plot")


if __name__ == "__main__":
    sys.exit(main())

"""Draws what readers ask first from the rows of bench --csv, of one GPU:

    python3 plot.py ../figures/h100.csv --out ../figures

    hero.svg       time over CUB's, AUTO and EXACT, in graphs
    bandwidth.svg  GB/s over n beside the others and the memory's limit
    calls.svg      time over CUB's for single calls, and right after the kernel that wrote the input
    exact.svg      EXACT's price: its time over AUTO's
    ladder.svg     V0 to V7, at the largest size that all of them have

Several files may be given; of rows of one kernel, size and column `cache` the first counts. What
the rows have nothing for is not drawn, and standard error says so. Needs matplotlib. Readable on
white and on black, and without colours. figures.sh measures and draws.
"""
import argparse
import csv
import math
import os
import sys

INK = "#808080"
LINES = {  # label, colour, dashes and marker, in the order of the legend
    "auto": ("FastReduce AUTO", "#2f81f7", "-", "o"),
    "exact": ("FastReduce EXACT", "#d2691e", "--", "s"),
    "cub": ("CUB", "#3fa34d", "-.", "^"),
    "gpu_to_gpu": ("CUB gpu_to_gpu", "#a371f7", ":", "v"),
    "cublas": ("cuBLAS asum", "#c44e8a", (0, (5, 1, 1, 1, 1, 1)), "D"),
    "thrust": ("Thrust", "#8b8b00", (0, (1, 3)), "x"),
}
CALLS = {  # the column `cache`: title, colour, dashes and marker
    "cold": ("in graphs", "#2f81f7", "-", "o"),
    "isolated": ("single calls", "#d2691e", "--", "s"),
    "after-producer": ("after a producer", "#3fa34d", "-.", "^"),
}
LADDER = [f"v{k}" for k in range(8)]


def fail(sentence):
    sys.exit(f"plot: {sentence}")


def positive(text):
    value = float(text)
    if not 0 < value < math.inf:
        raise ValueError(text)
    return value


def read(paths):
    """{cache: {kernel: {n: (microseconds, GB/s)}}}, and (GPU, peak, best read measured)."""
    rows, gpu, peak, best = {}, None, 0, 0
    for path in paths:
        try:
            with open(path, newline="", encoding="utf-8") as file:
                for row in csv.DictReader(file):
                    gpu = gpu or row["gpu"]
                    if row["gpu"] != gpu:
                        fail(f"{path}: rows of {row['gpu']} and of {gpu}; a figure shows one GPU")
                    peak, best = positive(row["peak_gbs"]), max(best, positive(row["best_gbs"]))
                    sizes = rows.setdefault(row["cache"], {}).setdefault(row["kernel"], {})
                    sizes.setdefault(int(positive(row["n"])),
                                     (positive(row["us"]), positive(row["gbs"])))
        except OSError as error:
            fail(error)
        except (csv.Error, KeyError, TypeError, ValueError):
            fail(f"{path}: not the output of bench --csv")
    if not rows:
        fail("no rows, so nothing to draw")
    return rows, (gpu.replace("$", r"\$"), peak, best)  # $ would begin a formula


def power(n):
    """n as a power of two where it is one."""
    if n & (n - 1):
        return f"{n:,}"
    return "2" + str(n.bit_length() - 1).translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹"))


def over(rows, cache, kernel, peer):
    """{n: time of the kernel over the peer's}, where both were measured."""
    times = rows.get(cache, {})
    ours, theirs = times.get(kernel, {}), times.get(peer, {})
    return {n: ours[n][0] / theirs[n][0] for n in ours if n in theirs}


# ---- Drawing -------------------------------------------------------------------------------------


def style(axes, title):
    axes.set_title(title, color=INK, fontsize=10)
    axes.tick_params(colors=INK, which="both", labelsize=9)
    axes.xaxis.label.set_color(INK)
    axes.yaxis.label.set_color(INK)
    for name, side in axes.spines.items():
        side.set_color(INK)
        side.set_visible(name in ("left", "bottom"))


def limit(axes, height, text, x=0.01, ha="left", va="bottom"):
    axes.axhline(height, color=INK, linewidth=1)
    axes.text(x, height, text, color=INK, ha=ha, va=va, transform=axes.get_yaxis_transform(),
              fontsize=8)


def over_n(axes, lines):
    """lines: [((label, colour, dashes, marker), {n: y})]"""
    for (label, colour, dashes, marker), points in lines:
        axes.plot(*zip(*sorted(points.items())), color=colour, label=label, linestyle=dashes,
                  marker=marker, markersize=4, linewidth=1.6)
    sizes = [n.bit_length() - 1 for _, points in lines for n in points]
    ticks = [2 ** k for k in range(min(sizes), max(sizes) + 1, 4)]
    axes.set_xscale("log", base=2)
    axes.set_xticks(ticks, [power(n) for n in ticks])
    axes.minorticks_off()
    axes.set_xlabel("n, floats")
    axes.grid(True, axis="y", color=INK, alpha=0.25, linewidth=0.6)
    axes.set_ylim(bottom=0)


def ratios(axes, title, lines, one):
    """Times over those of `one`, which is a line at 1."""
    style(axes, title)
    over_n(axes, lines)
    axes.set_ylim(0, max(1.2, 1.08 * max(y for _, points in lines for y in points.values())))
    limit(axes, 1, one, 0.99, "right")
    axes.legend(frameon=False, labelcolor=INK, fontsize=9, loc="lower right", handlelength=4)


def over_cub(rows, cache):
    lines = [(LINES[name], over(rows, cache, name, "cub")) for name in ("auto", "exact")]
    return [(look, points) for look, points in lines if points]


def hero(pyplot, rows, machine):
    lines = over_cub(rows, "cold")
    if not lines:
        return "no size has cold rows of cub and of auto or exact"
    figure, axes = pyplot.subplots(figsize=(7.2, 3.6))
    ratios(axes, f"Sum of n floats in CUDA graphs, {machine[0]}: time over CUB's (lower is faster)",
           lines, "CUB")
    return figure


def bandwidth(pyplot, rows, machine):
    gpu, peak, best = machine
    kernels = rows.get("cold", {})
    lines = [(look, {n: gbs for n, (_, gbs) in kernels[name].items()})
             for name, look in LINES.items() if name in kernels]
    if not lines:
        return "no cold rows of " + ", ".join(LINES)
    figure, axes = pyplot.subplots(figsize=(7.2, 4))
    style(axes, f"Sum of n floats that are not in L2, {gpu}")
    over_n(axes, lines)
    limit(axes, peak, f"memory's peak {peak:,.0f}")
    limit(axes, best, f"best read measured {best:,.0f}", va="top")
    axes.set_ylim(0, peak * 1.1)
    axes.set_ylabel("GB/s")
    axes.legend(frameon=False, labelcolor=INK, fontsize=9, loc="upper left", handlelength=4,
                bbox_to_anchor=(0, 0.85))
    return figure


def calls(pyplot, rows, machine):
    drawn = [cache for cache in ("isolated", "after-producer") if over_cub(rows, cache)]
    if not drawn:
        return "no size has isolated or after-producer rows of cub and of auto or exact"
    figure, panels = pyplot.subplots(1, len(drawn), figsize=(1.2 + 4 * len(drawn), 3.6),
                                     squeeze=False, sharey=True)
    for axes, cache in zip(panels[0], drawn):
        ratios(axes, CALLS[cache][0], over_cub(rows, cache), "CUB")
    panels[0][0].set_ylim(0, max(axes.dataLim.y1 for axes in panels[0]) * 1.08)
    figure.suptitle(f"Sum of n floats, {machine[0]}: time over CUB's (lower is faster)", color=INK,
                    fontsize=10)
    return figure


def exact(pyplot, rows, machine):
    lines = [(look, over(rows, cache, "exact", "auto")) for cache, look in CALLS.items()]
    lines = [(look, points) for look, points in lines if points]
    if not lines:
        return "no size has rows of exact and of auto"
    figure, axes = pyplot.subplots(figsize=(7.2, 3.6))
    ratios(axes, f"The price of EXACT, {machine[0]}: its time over AUTO's", lines, "AUTO")
    return figure


def ladder(pyplot, rows, machine):
    gpu, peak, _ = machine
    kernels = rows.get("cold", {})
    sizes = set.intersection(*(set(kernels.get(name, ())) for name in LADDER))
    if not sizes:
        return "no size has cold rows of V0 to V7"
    n = max(sizes)
    times = [kernels[name][n] for name in LADDER]
    figure, axes = pyplot.subplots(figsize=(7.2, 3.6))
    style(axes, f"Sum of {power(n)} floats that are not in L2, {gpu}")
    bars = axes.bar([name.upper() for name in LADDER], [gbs for _, gbs in times],
                    color=LINES["auto"][1], width=0.7)
    axes.bar_label(bars, [f"{us:,.0f} µs" for us, _ in times], color=INK, fontsize=9)
    limit(axes, peak, f"memory's peak {peak:,.0f}")
    axes.set_ylim(0, peak * 1.1)
    axes.set_ylabel("GB/s")
    return figure


FIGURES = {"hero": hero, "bandwidth": bandwidth, "calls": calls, "exact": exact, "ladder": ladder}


def main():
    parser = argparse.ArgumentParser(prog="plot",
                                     description="Draws figures from the rows of bench --csv.")
    parser.add_argument("csv", nargs="+")
    parser.add_argument("--out", default=".", metavar="FOLDER",
                        help="where " + ", ".join(f"{name}.svg" for name in FIGURES) + " go")
    arguments = parser.parse_args()
    rows, machine = read(arguments.csv)
    try:
        import matplotlib
    except ImportError:
        fail("needs matplotlib: python3 -m pip install matplotlib")
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "fastreduce"  # the same bytes for the same rows
    matplotlib.rcParams["svg.fonttype"] = "none"  # text as text
    from matplotlib import pyplot

    drawn = 0
    for name, draw in FIGURES.items():
        figure = draw(pyplot, rows, machine)
        if isinstance(figure, str):
            print(f"plot: no {name}.svg: {figure}", file=sys.stderr)
            continue
        path = os.path.join(arguments.out, name + ".svg")
        try:
            os.makedirs(arguments.out, exist_ok=True)
            figure.tight_layout()
            figure.savefig(path, transparent=True, metadata={"Date": None})
        except OSError as error:
            fail(error)
        print(path)
        drawn += 1
    if not drawn:
        fail("nothing to draw")


if __name__ == "__main__":
    main()

"""Draws two figures from the rows of bench --csv: bandwidth over n, and the ladder as bars.

    ./bench --csv > figures/h200.csv && python3 plot.py figures/h200.csv --out figures

Several files may be given; the first row of a kernel at a size counts, among cold ones. Writes
bandwidth.svg, and ladder.svg if there are rows of V0 to V7, at the largest size that all of them
have. Needs matplotlib. The colours are chosen to be read on white as well as on black.
"""
import argparse
import csv
import os
import sys

INK = "#808080"
LINES = {  # in the order of the legend
    "auto": ("FastReduce AUTO", "#2f81f7", "-"),
    "exact": ("FastReduce EXACT", "#d2691e", "-"),
    "cub": ("CUB", "#3fa34d", "--"),
    "gpu_to_gpu": ("CUB gpu_to_gpu", "#a371f7", "--"),
    "cublas": ("cuBLAS asum", "#c44e8a", ":"),
    "thrust": ("Thrust", "#8b8b00", ":"),
}
LADDER = [f"v{k}" for k in range(8)]


def fail(sentence):
    sys.exit(f"plot: {sentence}")


def read(paths):
    """{kernel: {n: (microseconds, GB/s)}} of the cold rows, and (GPU, peak in GB/s)."""
    kernels, machine = {}, None
    for path in paths:
        try:
            with open(path, newline="", encoding="utf-8") as file:
                rows = list(csv.DictReader(file))
        except (OSError, UnicodeDecodeError) as error:
            fail(f"{path}: {error}")
        try:
            for row in rows:
                machine = machine or (row["gpu"], float(row["peak_gbs"]))
                if row["gpu"] != machine[0]:
                    fail(f"{path}: rows of {row['gpu']} and of {machine[0]}; "
                         "a figure shows one GPU")
                if row["cache"] == "cold":
                    sizes = kernels.setdefault(row["kernel"], {})
                    sizes.setdefault(int(row["n"]), (float(row["us"]), float(row["gbs"])))
        except (KeyError, TypeError, ValueError):
            fail(f"{path}: not the output of bench --csv")
    if not kernels:
        fail("no cold rows")
    return kernels, machine


def power(n):
    """n as a power of two where it is one."""
    return f"$2^{{{n.bit_length() - 1}}}$" if n & (n - 1) == 0 else f"{n:,}"


def style(axes, title):
    axes.set_title(title, color=INK, fontsize=10)
    axes.tick_params(colors=INK, which="both")
    axes.xaxis.label.set_color(INK)
    axes.yaxis.label.set_color(INK)
    for name, side in axes.spines.items():
        side.set_color(INK)
        side.set_visible(name in ("left", "bottom"))


def line(axes, height, text):
    axes.axhline(height, color=INK, linewidth=1)
    axes.text(0.01, height, text, color=INK, va="bottom", transform=axes.get_yaxis_transform(),
              fontsize=8)


def save(pyplot, figure, path):
    figure.tight_layout()
    try:
        figure.savefig(path, transparent=True, metadata={"Date": None})
    except OSError as error:
        fail(error)
    pyplot.close(figure)
    print(path)


def over_n(axes, kernels, value):
    """A line a kernel; value(n, microseconds, GB/s) or None where there is none."""
    for name, (label, colour, dashes) in LINES.items():
        points = [(n, value(n, *row)) for n, row in sorted(kernels.get(name, {}).items())]
        points = [(n, y) for n, y in points if y is not None]
        if points:
            axes.plot(*zip(*points), dashes, color=colour, label=label, marker=".", linewidth=1.6)
    axes.set_xscale("log", base=2)
    axes.set_xlabel("n, floats")
    axes.grid(True, which="major", color=INK, alpha=0.25, linewidth=0.6)


def bandwidth(pyplot, path, kernels, gpu, peak):
    """GB/s over n; beside it time over CUB's, if CUB was measured, as small sums
    all lie near zero in the first."""
    cub = kernels.get("cub", {})
    figure, panels = pyplot.subplots(1, 2 if cub else 1, figsize=(9.0 if cub else 5.0, 3.8),
                                     squeeze=False)
    axes = panels[0][0]
    style(axes, f"Sum of n floats out of L2, {gpu}")
    over_n(axes, kernels, lambda n, us, gbs: gbs)
    line(axes, peak, f"peak {peak:,.0f}")
    axes.set_ylim(0, peak * 1.12)
    axes.set_ylabel("GB/s")
    axes.legend(frameon=False, labelcolor=INK, fontsize=8, loc="upper left",
                bbox_to_anchor=(0, 0.92))
    if cub:
        axes = panels[0][1]
        style(axes, "time over CUB's")
        over_n(axes, kernels,
               lambda n, us, gbs: us / cub[n][0] if n in cub and us < 2.5 * cub[n][0] else None)
        axes.set_ylim(bottom=0)
    save(pyplot, figure, path)


def ladder(pyplot, path, kernels, gpu, peak, n):
    figure, axes = pyplot.subplots(figsize=(6.4, 3.6))
    times = [kernels[name][n] for name in LADDER]
    style(axes, f"Sum of {power(n)} floats out of L2, {gpu}")
    bars = axes.bar([name.upper() for name in LADDER], [gbs for _, gbs in times],
                    color=LINES["auto"][1], width=0.7)
    axes.bar_label(bars, [f"{us:,.0f} µs" for us, _ in times], color=INK, fontsize=8)
    line(axes, peak, f"peak {peak:,.0f}")
    axes.set_ylim(0, peak * 1.12)
    axes.set_ylabel("GB/s")
    save(pyplot, figure, path)


def main():
    parser = argparse.ArgumentParser(prog="plot",
                                     description="Draws figures from the rows of bench --csv.")
    parser.add_argument("csv", nargs="+")
    parser.add_argument("--out", default=".", help="folder for bandwidth.svg and ladder.svg")
    arguments = parser.parse_args()
    kernels, (gpu, peak) = read(arguments.csv)
    try:
        import matplotlib
    except ImportError:
        fail("needs matplotlib: python3 -m pip install matplotlib")
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "fastreduce"  # the same bytes for the same rows
    matplotlib.rcParams["svg.fonttype"] = "none"  # text as text
    from matplotlib import pyplot

    os.makedirs(arguments.out, exist_ok=True)
    if any(name in kernels for name in LINES):
        bandwidth(pyplot, os.path.join(arguments.out, "bandwidth.svg"), kernels, gpu, peak)
    sizes = set.intersection(*(set(kernels.get(name, ())) for name in LADDER))
    if sizes:
        ladder(pyplot, os.path.join(arguments.out, "ladder.svg"), kernels, gpu, peak, max(sizes))


if __name__ == "__main__":
    main()

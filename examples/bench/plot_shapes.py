"""Draws how fast many results are made from the rows of bench_shapes --csv, of one GPU:

    python3 plot_shapes.py ../figures/h100_shapes.csv --out ../figures

    shapes.svg     rows, by their length; columns, by how many; segments, by their average length

Each is the speed, elements and offsets read and results written, beside that of AUTO's one sum of
the same elements, with CUB's faster form where there is one. Of one type and operator: those of
the first row. Needs matplotlib.
"""
import argparse
import csv
import os

from plot import INK, LINES, fail, limit, positive, power, style

PANELS = {"rows": ("rows", "n", "elements of a row"),
          "columns": ("columns", "inner", "columns"),
          "segments": ("ragged segments", "n", "elements on average")}


def read(path):
    """{table: {x: (ours, CUB's or None)}} of flat, and what they are of."""
    panels, of = {}, None
    try:
        with open(path, newline="", encoding="utf-8") as file:
            for row in csv.DictReader(file):
                this = row["gpu"], row["type"], row["op"]
                of = of or this
                if this != of or row["table"] not in PANELS:
                    continue
                if row["table"] == "columns" and row["outer"] != "1":
                    continue  # planes
                if row["inner"] == "half in one":
                    continue
                x = int(positive(row[PANELS[row["table"]][1]]))
                ours = positive(row["of_flat"])
                faster = [positive(row[name]) for name in
                          ("cub_fixed_over_ours", "cub_offsets_over_ours") if row[name]]
                panels.setdefault(row["table"], {})[x] = (
                    ours, ours / min(faster) if faster else None)
    except OSError as error:
        fail(error)
    except (csv.Error, KeyError, TypeError, ValueError):
        fail(f"{path}: not the output of bench_shapes --csv")
    if not panels:
        fail("no rows, so nothing to draw")
    return panels, of


def draw(pyplot, panels, of):
    gpu, kind, op = of
    figure, all_axes = pyplot.subplots(1, len(panels), figsize=(3.6 * len(panels), 3.4),
                                       sharey=True, squeeze=False)
    for axes, table in zip(all_axes[0], [name for name in PANELS if name in panels]):
        title, _, label = PANELS[table]
        style(axes, title)
        points = sorted(panels[table].items())
        for which, name in enumerate(("auto", "cub")):
            text, colour, dashes, marker = LINES[name]
            own = [(x, both[which]) for x, both in points if both[which]]
            if own:
                axes.plot(*zip(*own), color=colour, label=text, linestyle=dashes, marker=marker,
                          markersize=4, linewidth=1.6)
        axes.set_xscale("log", base=2)
        powers = [x.bit_length() - 1 for x, _ in points]
        ticks = [2 ** k for k in range(min(powers), max(powers) + 1, 4)]
        axes.set_xticks(ticks, [power(x) for x in ticks])
        axes.minorticks_off()
        axes.set_xlabel(label)
        axes.grid(True, axis="y", color=INK, alpha=0.25, linewidth=0.6)
        axes.set_ylim(0, 1.15)
        limit(axes, 1, "one result" if table == "rows" else "")
    all_axes[0][0].legend(frameon=False, labelcolor=INK, fontsize=9, loc="lower right",
                          handlelength=4)
    figure.suptitle(f"{op} of {kind}, {gpu}: speed beside one result's", color=INK,
                    fontsize=10)
    return figure


def main():
    parser = argparse.ArgumentParser(
        prog="plot_shapes", description="Draws shapes.svg from the rows of bench_shapes --csv.")
    parser.add_argument("csv")
    parser.add_argument("--out", default=".", metavar="FOLDER", help="where shapes.svg goes")
    arguments = parser.parse_args()
    panels, of = read(arguments.csv)
    try:
        import matplotlib
    except ImportError:
        fail("needs matplotlib: python3 -m pip install matplotlib")
    matplotlib.use("svg")
    matplotlib.rcParams["svg.hashsalt"] = "fastreduce"  # the same bytes for the same rows
    matplotlib.rcParams["svg.fonttype"] = "none"  # text as text
    from matplotlib import pyplot

    figure = draw(pyplot, panels, of)
    path = os.path.join(arguments.out, "shapes.svg")
    try:
        os.makedirs(arguments.out, exist_ok=True)
        figure.tight_layout()
        figure.savefig(path, transparent=True, metadata={"Date": None})
    except OSError as error:
        fail(error)
    print(path)


if __name__ == "__main__":
    main()

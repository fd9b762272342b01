"""Draws roofline.svg, of measured times: python3 examples/course/roofline.py [--out FILE]

GB/s by number of elements of AUTO, V7 and CUB, from the first table of examples/results.md, under
the two limits: what the memory gives, and what a sum of next to nothing takes.
"""
import argparse
import math
import os
import re

FOLDER = os.path.dirname(os.path.abspath(__file__))
WIDTH, HEIGHT, LEFT, TOP, RIGHT, BOTTOM = 760, 420, 70, 20, 90, 50
SERIES = {"AUTO": "#2f81f7", "V7": "#3fa34d", "CUB": "#a371f7"}
MARKED = (12, 20, 28)


def measured():
    """(logs of n, {name: microseconds}, GB/s of the memory)"""
    with open(os.path.join(FOLDER, "..", "results.md"), encoding="utf-8") as file:
        text = file.read()
    table = text[text.index("| n | 2^10 "):]
    table = table[:table.index("\n\n")].split("\n")
    rows = {cells[1]: cells[2:-1] for cells in (re.split(r" *\| *", line) for line in table)}
    logs = [int(cell[2:]) for cell in rows["n"]]
    roof = float(re.search(r"memory allows (\d+) GB/s", text)[1])
    return logs, {name: [float(cell) for cell in rows[name]] for name in SERIES}, roof


def draw():
    logs, times, roof = measured()
    nothing = times["AUTO"][0]
    right, bottom = WIDTH - RIGHT, HEIGHT - BOTTOM

    def place(log, rate):
        return (LEFT + (log - logs[0]) / (logs[-1] - logs[0]) * (right - LEFT),
                bottom - math.log10(rate) / 4 * (bottom - TOP))

    def path(points):
        return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)

    def rate(log, time):
        return 4 * 2 ** log / time / 1000

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}">',
           "<style>text{font-family:sans-serif;font-size:13px;fill:#808080}"
           "path{fill:none}.end{text-anchor:end}.middle{text-anchor:middle}</style>"]
    for power in range(5):
        y = place(logs[0], 10 ** power)[1]
        out.append(f'<path stroke="#808080" stroke-opacity=".3" d="M{LEFT} {y:.1f}H{right}"/>')
        out.append(f'<text class="end" x="{LEFT - 8}" y="{y + 4:.1f}">{10 ** power}</text>')
    for log in logs:
        x = place(log, 1)[0]
        strong = ' stroke-dasharray="4 4"' if log in MARKED else ' stroke-opacity=".15"'
        out.append(f'<path stroke="#808080"{strong} d="M{x:.1f} {TOP}V{bottom}"/>')
        out.append(f'<text class="middle" x="{x:.1f}" y="{bottom + 18}">2^{log}</text>')
    out.append(f'<text class="middle" x="{(LEFT + right) / 2}" y="{HEIGHT - 8}">'
               "elements; GB/s upwards</text>")
    x, y = place(logs[-1], roof)
    out.append(f'<path stroke="#e5534b" stroke-width="2" d="M{LEFT} {y:.1f}H{x:.1f}"/>')
    out.append(f'<text x="{LEFT + 8}" y="{y - 6:.1f}">memory: {roof:g} GB/s</text>')
    edge = math.log2(roof * 1000 * nothing / 4)
    ends = [place(logs[0], rate(logs[0], nothing)), place(edge, roof)]
    out.append(f'<path stroke="#e5534b" stroke-width="2" d="{path(ends)}"/>')
    x, y = place(15, rate(15, nothing))
    out.append(f'<text class="end" x="{x - 8:.1f}" y="{y:.1f}">latency: {nothing:g} µs</text>')
    for name, color in SERIES.items():
        points = [place(log, rate(log, time)) for log, time in zip(logs, times[name])]
        out.append(f'<path stroke="{color}" stroke-width="2" d="{path(points)}"/>')
        for log, (x, y) in zip(logs, points):
            if log in MARKED:
                out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{color}"/>')
        label = TOP + 70 + 20 * list(SERIES).index(name)
        out.append(f'<text x="{right + 8}" y="{label}" style="fill:{color}">{name}</text>')
    return "\n".join(out + ["</svg>", ""])


def main():
    parser = argparse.ArgumentParser(prog="roofline", description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", default=os.path.join(FOLDER, "roofline.svg"), metavar="FILE")
    with open(parser.parse_args().out, "w", encoding="utf-8") as file:
        file.write(draw())


if __name__ == "__main__":
    main()

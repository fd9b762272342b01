#!/usr/bin/env python3
"""usage: beside_torch.py [--quick] [--csv FILE] [--figure FILE]

Reductions of bf16, f16 and f32 on the GPU beside PyTorch's and beside a row mean in Triton of the
kind that batch-invariant modes use: how long they take, how long a call keeps the host busy, and of
how many rows the bits change with the batch; and sums by index beside PyTorch's. Prints Markdown.

Times are medians of 7 replays of CUDA graphs, whose calls rotate over inputs that together are
larger than the L2 cache; ours, PyTorch's and Triton's take turns. Sums by index are timed without
graphs. --quick: fewer shapes, no Triton. --csv: all times but those, too. --figure: draws those of
rows (needs matplotlib). Exit status: 0; 1 if a result is wrong or bits of ours depend on the batch
or the order; 77 without PyTorch or a GPU.
"""
import argparse
import csv
import statistics
import sys
import time

try:
    import torch
except ImportError:
    torch = None
if torch is None or not torch.cuda.is_available():
    print("SKIP: no PyTorch, or no GPU")
    sys.exit(77)

import fastreduce as fr
from row_mean import row_mean  # None without Triton

CACHE = 300e6  # bytes of inputs, more than the L2 cache of any GPU
DTYPES = (torch.bfloat16, torch.float16, torch.float32)
ROWS = ((1, 4096), (8, 4096), (64, 4096), (512, 4096), (4096, 4096), (32768, 4096), (64, 14336),
        (4096, 14336), (1, 128256), (8, 128256), (64, 128256), (1024, 128256), (65536, 128),
        (1 << 20, 100))
COLUMNS = ((8, 4096), (8, 1 << 20), (64, 4096), (4096, 4096), (32768, 4096), (65536, 128),
           (1 << 20, 100))
BATCHES = (1, 2, 3, 4, 7, 8, 16, 31, 32, 64, 100, 128, 255)
# the name of ours, and PyTorch's with the same result: float32, of extremes the dtype of x
FUNCTIONS = {
    "sum": lambda x, axis: torch.sum(x, axis, dtype=torch.float32),
    "mean": lambda x, axis: torch.mean(x, axis, dtype=torch.float32),
    "norm": lambda x, axis: torch.linalg.vector_norm(x, dim=axis, dtype=torch.float32),
    "max": torch.amax,
    "argmax": torch.argmax,
    "var": lambda x, axis: torch.var(x.float(), axis, correction=0),
}


def short(dtype):
    """bf16 of torch.bfloat16, and so on."""
    return str(dtype)[6:].replace("loat", "")


def graph_of(calls):
    """A graph of the calls, after one run outside of it. What they return stays with it."""
    stream = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(stream):
        for call in calls:
            call()
        stream.synchronize()
        with torch.cuda.graph(graph, stream=stream):
            kept = [call() for call in calls]
    return graph, kept


def median_times(calls, turns):
    """Microseconds of each of the calls, which take turns; the first one warms up."""
    taken = [[] for _ in calls]
    for turn in range(turns):
        for call, of in zip(calls, taken):
            begin = torch.cuda.Event(enable_timing=True)
            end = torch.cuda.Event(enable_timing=True)
            begin.record()
            call()
            end.record()
            end.synchronize()
            if turn:
                of.append(begin.elapsed_time(end) * 1000)
    return [statistics.median(each) for each in taken]


def times(variants):
    """Microseconds a call of each list of calls, measured in turns."""
    graphs = [graph_of(calls) for calls in variants]
    taken = median_times([graph.replay for graph, _ in graphs], 8)
    return [time_of_all / len(calls) for time_of_all, calls in zip(taken, variants)]


def inputs(shape, dtype):
    """Random arrays, as many as exceed the cache or make a graph of 8 calls at least."""
    size = shape[0] * shape[1] * dtype.itemsize
    made = [torch.randn(shape, device="cuda").to(dtype)
            for _ in range(min(64, int(CACHE // size) + 2))]
    return made * (1 if len(made) >= 8 else 4)


def compare(shape, dtype, axis, names, triton):
    """{name: (ours, torch's, Triton's or None)} in microseconds."""
    arrays, result = inputs(shape, dtype), {}
    for name in names:
        ours, theirs = getattr(fr, name), FUNCTIONS[name]
        made = ours(arrays[0], axis)
        torch.testing.assert_close(made, theirs(arrays[0], axis).to(made.dtype), rtol=2e-3,
                                   atol=2e-3)
        outs = [torch.empty_like(made) for _ in arrays]
        variants = [[lambda x=x, out=out: ours(x, axis, out=out) for x, out in zip(arrays, outs)],
                    [lambda x=x: theirs(x, axis) for x in arrays]]
        if triton and name == "mean" and axis == 1:
            variants.append([lambda x=x, out=out: triton(x, out) for x, out in zip(arrays, outs)])
        result[name] = (*times(variants), None)[:3]
    return result


def table(title, shapes, dtypes, axis, names, triton, rows):
    """Prints the times of all shapes, and adds them to rows."""
    print(f"\n| {title} | dtype | ours, µs: mean | " + " | ".join(names)
          + (" | Triton's mean |" if triton else " |"))
    print("|" + "---|" * (3 + len(names) + bool(triton)))
    for dtype in dtypes:
        for shape in shapes:
            found = compare(shape, dtype, axis, names, triton)
            for name, (ours, theirs, third) in found.items():
                rows.append((title, *shape, short(dtype), name, ours, theirs, third))
            cells = [f"{theirs / ours:.2f}" for ours, theirs, _ in found.values()]
            if triton:
                cells.append(f"{found['mean'][2] / found['mean'][0]:.2f}")
            print(f"| {shape[0]} x {shape[1]} | {short(dtype)} | {found['mean'][0]:.2f} | "
                  + " | ".join(cells) + " |", flush=True)


def bits(dtypes, lengths):
    """Prints how many rows change with the batch; returns whether ours have one."""
    total = sum(BATCHES)
    print(f"\n| of {total} rows | dtype | " + " | ".join(
        f"{who} {name}" for who in ("torch's", "our") for name in ("sum", "mean", "norm", "var")))
    print("|" + "---|" * 10)
    wrong = False
    for dtype in dtypes:
        for n in lengths:
            x = torch.randn(256, n, device="cuda").to(dtype)
            changed = []
            for who in (FUNCTIONS, vars(fr)):
                for name in ("sum", "mean", "norm", "var"):
                    whole = who[name](x, 1)
                    changed.append(sum(int((who[name](x[:k], 1) != whole[:k]).sum())
                                       for k in BATCHES))
            wrong |= any(changed[4:])
            print(f"| of {n} | {short(dtype)} | " + " | ".join(map(str, changed)) + " |",
                  flush=True)
    return wrong


def by_index(quick):
    """Prints times of sums of floats by index. Returns whether bits of ours depend on the order."""
    n, wrong = 1 << (20 if quick else 26), False
    print(f"\n| {n} floats, sums | order | ours, µs | index_add_ | the same, deterministic | "
          "scatter_reduce | bincount over our bincount |\n|" + "---|" * 7)
    x = torch.rand(n, device="cuda") * 2 - 1
    for bins in (1, 64, 1024, 4096, 65536, 1 << 20, 1 << 24):
        for order in ("random", "sorted"):
            index = torch.randint(bins, (n,), device="cuda")
            if order == "sorted":
                index = index.sort()[0]
            ours, zeros = torch.empty(bins, device="cuda"), torch.zeros(bins, device="cuda")

            def add(deterministic=False, index=index, zeros=zeros):
                torch.use_deterministic_algorithms(deterministic)
                zeros.index_add_(0, index, x)
                torch.use_deterministic_algorithms(False)

            calls = {
                "ours": lambda: fr.index_sum(x, index, bins, out=ours),
                "index_add_": add, "deterministic": lambda: add(True),
                "scatter_reduce": lambda: zeros.scatter_reduce_(0, index, x, "sum"),
                "bincount": lambda: torch.bincount(index, x, bins),
                "our bincount": lambda: fr.bincount(index, x, bins)}
            taken = dict(zip(calls, median_times(list(calls.values()), 6)))
            shuffled = torch.randperm(n, device="cuda")
            wrong |= not torch.equal(ours, fr.index_sum(x[shuffled], index[shuffled], bins))
            exact = torch.zeros(bins, dtype=torch.float64, device="cuda")
            exact.index_add_(0, index, x.double())
            torch.testing.assert_close(ours, exact.float(), rtol=1e-6, atol=1e-6)
            mine = taken["ours"]
            print(f"| {bins} | {order} | {mine:.0f} | " + " | ".join(
                f"{taken[name] / mine:.2f}"
                for name in ("index_add_", "deterministic", "scatter_reduce"))
                + f" | {taken['bincount'] / taken['our bincount']:.2f} |", flush=True)
    return wrong


def host_time(triton):
    """Prints the microseconds for which a call keeps the host busy, of sums of 64 x 4096 floats."""
    x = torch.randn(64, 4096, device="cuda")
    out = torch.empty(64, device="cuda")
    calls = {"ours, out=": lambda: fr.sum(x, 1, out=out), "ours": lambda: fr.sum(x, 1),
             "torch, out=": lambda: torch.sum(x, 1, out=out), "torch": lambda: torch.sum(x, 1)}
    if triton:
        calls["Triton, out="] = lambda: triton(x, out)
    taken = {name: [] for name in calls}
    for _ in range(9):
        for name, call in calls.items():
            torch.cuda.synchronize()
            begin = time.perf_counter()
            for _ in range(500):
                call()
            taken[name].append((time.perf_counter() - begin) / 500 * 1e6)
    torch.cuda.synchronize()
    print("\nHost time of a call, µs: "
          + ", ".join(f"{name} {statistics.median(of):.2f}" for name, of in taken.items()))


def draw(rows, path):
    """The speed of means of rows, and of torch's, by the number of rows."""
    import matplotlib
    matplotlib.use("svg")
    import matplotlib.pyplot as plt
    chosen = [row for row in rows
              if row[0] == "rows" and row[4] == "mean" and row[3] != "f16"]  # which is as bf16
    labels = list(dict.fromkeys(f"{row[1]} x {row[2]}" for row in chosen))
    figure, axes = plt.subplots(figsize=(9, 3.6))
    for k, dtype in enumerate(dict.fromkeys(row[3] for row in chosen)):
        for place, (who, column) in enumerate((("ours", 5), ("torch", 6), ("Triton", 7))):
            points = [(labels.index(f"{row[1]} x {row[2]}"),
                       row[1] * row[2] * (4 if dtype == "f32" else 2) / row[column] / 1e3)
                      for row in chosen if row[3] == dtype and row[column]]
            if points:
                axes.plot(*zip(*points), marker="o^s"[place], linestyle=("-", "--")[k],
                          color=("#1f5fa8", "#c0504d", "#7f7f7f")[place], label=f"{who}, {dtype}")
    axes.set_xticks(range(len(labels)), labels, rotation=35, ha="right", fontsize=8)
    axes.set_yscale("log")
    axes.set_ylabel("GB/s, mean of each row")
    axes.legend(fontsize=8, ncols=3)
    axes.grid(alpha=0.3)
    figure.tight_layout()
    figure.savefig(path)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.partition("\n\n")[0].partition(": ")[2])
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--csv")
    parser.add_argument("--figure")
    options = parser.parse_args()
    triton = None if options.quick else row_mean
    dtypes = DTYPES[::2] if options.quick else DTYPES
    torch.manual_seed(1)
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}, FastReduce "
          f"{fr.__version__} by nvcc {fr.show_config()['cuda']}: PyTorch's time over ours")
    rows = []
    names = ("mean", "norm", "max", "argmax") if options.quick else tuple(FUNCTIONS)
    wrong = bits(dtypes, (1000, 4096, 14336, 128256))
    host_time(triton)
    table("rows", ROWS[:3] if options.quick else ROWS, dtypes, 1, names, triton, rows)
    table("columns", COLUMNS[:3] if options.quick else COLUMNS, dtypes, 0, names, None, rows)
    flat = [(1, 1 << k) for k in ((10, 20) if options.quick else (10, 14, 17, 20, 22, 24, 26, 28))]
    table("one array", flat, dtypes, None, names, None, rows)
    wrong |= by_index(options.quick)
    if options.csv:
        with open(options.csv, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file)
            writer.writerow(("table", "rows", "columns", "dtype", "function", "ours_us", "torch_us",
                             "triton_us"))
            writer.writerows(rows)
    if options.figure:
        draw(rows, options.figure)
    return int(wrong)


if __name__ == "__main__":
    sys.exit(main())

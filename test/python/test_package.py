"""Tests the Python package that is installed, with NumPy, and with PyTorch, CuPy and JAX where they
are: python3 test_package.py. Without the package or NumPy: exit 77. Where there is a GPU all arrays
are on it, too, and its bits are compared with the CPU's.

Sums are compared with the six lines of fastreduce.h in NumPy's float32, bit by bit; exact ones with
fractions; all else with NumPy's results in double, to 4 roundings of the result's dtype and what
log2(n) additions of float32 lose.
"""

import fractions
import functools
import itertools
import math
import os
import pickle
import re
import sys
import threading
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples"))
import checks
from checks import that

try:
    import numpy as np
    import fastreduce as fr
except ImportError as error:
    print(f"SKIP: {error}")
    sys.exit(77)


def optional(name):
    """A module, or None."""
    try:
        return __import__(name)
    except ImportError:
        return None


torch, cupy, jax = optional("torch"), optional("cupy"), optional("jax")
if jax and not optional("jax_tvm_ffi"):
    jax = None
with_cuda = fr.show_config()["cuda"] is not None and torch is not None and torch.cuda.is_available()
random = np.random.default_rng(7)
warnings.filterwarnings("ignore", "The given NumPy array is not writable")
NUMPY_NAMES = {
    "norm": lambda x, axis: np.sqrt((x * x).sum(axis)),
    "sum_abs": lambda x, axis: abs(x).sum(axis),
    "sum_squares": lambda x, axis: (x * x).sum(axis),
    "max_abs": lambda x, axis: abs(x).max(axis),
    "count_nonzero": lambda x, axis: np.count_nonzero(x, axis),
    "argmax_abs": lambda x, axis: abs(x).argmax(axis),
}
FUNCTIONS = (
    "sum",
    "prod",
    "min",
    "max",
    "argmin",
    "argmax",
    "sum_abs",
    "sum_squares",
    "max_abs",
    "norm",
    "mean",
    "var",
    "count_nonzero",
    "argmax_abs",
)
PAIRS = {  # functions with two results
    "min_max": fr.min_max,
    "var_mean": fr.var_mean,
    "exact var_mean": functools.partial(fr.var_mean, exact=True),
    "min with index": functools.partial(fr.min, with_index=True),
    "max with index": functools.partial(fr.max, with_index=True),
}
EXACT = ("sum", "sum_abs", "sum_squares", "norm", "mean", "var")
DTYPES = (
    "float16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
)


def libraries():
    """Pairs: makes an array of a library of one of NumPy's, and makes that of it."""
    yield "numpy", lambda x: x, np.asarray
    if torch:
        yield "torch", torch.from_numpy, lambda x: x.numpy()
    if with_cuda:
        yield "torch on a GPU", lambda x: torch.from_numpy(x).cuda(), lambda x: x.cpu().numpy()
    if with_cuda and cupy:
        yield "cupy", cupy.asarray, lambda x: x.get()
    if jax:
        jax.config.update("jax_enable_x64", True)
        yield "jax", jax.numpy.asarray, np.asarray


def data(shape, dtype):
    """Numbers of both signs, small enough for float16, none of which is the others' mean."""
    numbers = (
        random.integers(-120, 121, shape) if dtype[0] in "fi" else random.integers(0, 250, shape)
    )
    return (numbers / 16 if dtype[0] == "f" else numbers).astype(dtype)


def pairwise(x):
    """The six lines, of a NumPy array of one axis."""
    half = 1
    while 2 * half < len(x):
        half *= 2
    return x[0] if len(x) == 1 else pairwise(x[:half]) + pairwise(x[half:])


def rounded(number, dtype):
    """A fraction as the nearest float of a dtype, ties to even."""
    near = np.array(float(number)).astype(dtype)
    candidates = [near, np.nextafter(near, dtype(-np.inf)), np.nextafter(near, dtype(np.inf))]
    return min(
        candidates,
        key=lambda one: (
            abs(fractions.Fraction(float(one)) - number),
            int(one.view(f"u{one.itemsize}")) & 1,
        ),
    )


def same(a, b):
    """Whether two arrays of NumPy have the same dtype, shape and bits."""
    a, b = np.asarray(a), np.asarray(b)
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def check_values():
    for name, make, back in libraries():
        for dtype in DTYPES if name != "jax" else ("float32", "int16"):  # each is compiled there
            x = data((3, 40, 5), dtype)
            for function in FUNCTIONS:
                for axis in (None, 0, 1, -1, (0, 1), (1, 2), (-3, -2, -1)):
                    if function[:3] == "arg" and isinstance(axis, tuple):
                        continue
                    if function == "prod" and axis != 0:
                        continue  # others overflow
                    got = back(getattr(fr, function)(make(x), axis))
                    wide = x.astype(np.float64 if dtype[0] == "f" else object)
                    peer = NUMPY_NAMES.get(function) or getattr(np, function)
                    want = np.asarray(
                        peer(
                            (
                                x.astype(float)
                                if function in ("var", "norm", "mean", "argmin", "argmax")
                                else wide
                            ),
                            axis,
                        )
                    )
                    if got.dtype.kind in "iu":
                        good = got.shape == want.shape and (got == want.astype(got.dtype)).all()
                    else:
                        good = got.shape == want.shape and np.allclose(
                            got.astype(float),
                            want.astype(float),
                            rtol=40 * float(np.finfo(got.dtype).eps),
                            atol=1e-5,
                        )
                    that(good, f"{name} {dtype} {function} {axis}: {got}, not {want}")
                    kept = back(getattr(fr, function)(make(x), axis, keepdims=True))
                    that(
                        kept.ndim == 3 and kept.tobytes() == got.tobytes(),
                        f"{name} {dtype} {function} {axis} keepdims",
                    )


def with_numpy(function, x, axis):
    """What NumPy says to a function with two results: for each a function of the results' dtype."""
    if function == "min_max":
        return lambda _: x.min(axis), lambda _: x.max(axis)
    if "var_mean" in function:
        kept = np.moveaxis(x, axis, -1) if isinstance(axis, int) else x.reshape(-1, *x.shape[2:])
        if isinstance(axis, tuple):
            kept = np.moveaxis(kept, 0, -1)
        rows = kept.reshape(-1, kept.shape[-1]) if axis is not None else x.reshape(1, -1)
        rows = [[fractions.Fraction(each.item()) for each in row] for row in rows]
        means = [sum(row) / len(row) for row in rows]
        variances = [sum((e - m) ** 2 for e in row) / len(row) for row, m in zip(rows, means)]
        shape = x.sum(axis).shape
        return tuple(
            lambda dtype, each=each: np.array([rounded(e, dtype) for e in each]).reshape(shape)
            for each in (variances, means)
        )
    name = "arg" + function[:3]
    flat = x.reshape(-1) if axis is None else x.reshape(-1, *x.shape[2:]) if axis == (0, 1) else x
    along = axis if isinstance(axis, int) else 0
    index = getattr(flat, name)(along)
    there = np.take_along_axis(flat, np.expand_dims(index, along), along).squeeze(along)
    return lambda _: there, lambda _: index


def check_by_index():
    """Sums by index and bincount, beside exact sums of each group."""
    for name, make, back in libraries():
        if name == "jax":
            index = make(np.arange(3, dtype="int32"))
            refuses(lambda: fr.bincount(index), TypeError, "JAX", name)
            continue
        for dtype, width in itertools.product((*DTYPES, "bool"), ("int32", "int64")):
            x = data((500,), "uint8" if dtype == "bool" else dtype)
            x = x > 90 if dtype == "bool" else x
            index = (np.arange(500) * 7 % 31 - 3).astype(width)  # some are out of range
            exact = {"exact": True} if dtype[0] == "f" else {}
            want = np.array([fr.sum(x[index == b], **exact) for b in range(25)])
            got = back(fr.index_sum(make(x), make(index), 25))
            that(same(got, want), f"{name} {dtype} {width}: sums by index {got}, not {want}")
            out = make(np.ones_like(want))
            that(
                fr.index_sum(make(x), make(index), 25, out=out) is out and same(back(out), want),
                f"{name} {dtype} {width} out: {out}",
            )
            index = np.abs(index)
            got = back(fr.bincount(make(index), make(x), 40))
            want = np.array([fr.sum(x[index == b], **exact) for b in range(40)])
            that(same(got, want), f"{name} {dtype} {width}: bincount by weights {got}, not {want}")
            got = back(fr.bincount(make(index)))
            want = np.bincount(index).astype("uint64")
            that(same(got, want), f"{name} {width}: bincount {got}, not {want}")
        got = back(fr.index_sum(make(x.astype("float32")), make(index), 3, dtype="float64"))
        that(got.dtype == "float64", f"{name}: sums in doubles")
        nothing = make(np.zeros(0, "int32"))
        that(back(fr.bincount(nothing, None, 4)).tolist() == [0] * 4, f"{name}: of no indices")
        refuses(lambda: fr.bincount(make(-index)), ValueError, "negative", name)
        refuses(lambda: fr.index_sum(make(x), make(index[1:]), 9), ValueError, "shapes", name)
        refuses(lambda: fr.index_sum(make(x), make(x), 9), TypeError, "index", name)
        refuses(lambda: fr.index_sum(make(x), make(index), -1), ValueError, "", name)


def check_nan():
    """Functions that leave out NaNs, of rows of which one has nothing else."""
    for name, make, back in libraries():
        for dtype in ("float16", "float32", "float64") if name != "jax" else ("float32",):
            x = data((3, 40, 5), dtype)
            x[:, ::7] = np.nan
            x[1, 3:9, 2] = -np.nan
            x[2, :, 4] = np.nan
            lost = np.isnan(x)
            zeros = np.where(lost, 0, x).astype(dtype)
            for axis in (None, 1, -1, (0, 1)):
                count = (~lost).sum(axis)
                least = np.where(lost, np.inf, x).astype(dtype)
                index = np.where(lost, -np.inf, x)
                if axis is None:
                    index = index.reshape(-1)
                elif not isinstance(axis, int):
                    index = np.moveaxis(index, 2, 0).reshape(5, -1)
                along = axis if isinstance(axis, int) else -1
                with np.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    mean = fr.sum(zeros, axis).astype(float) / count
                    variance = np.nanvar(x.astype(float), axis)
                wanted = {
                    "nansum": fr.sum(zeros, axis),
                    "nanprod": fr.prod(np.where(lost, 1, x).astype(dtype), axis),
                    "nanmin": fr.min(least, axis),
                    "nanmax": -fr.min(np.where(lost, np.inf, -x).astype(dtype), axis),
                    "nanargmax": np.where(count == 0, -1, index.argmax(along)).astype("int64"),
                    "nanargmin": fr.nanargmax(-x, axis),
                    "nanmean": mean.astype(fr.sum(zeros).dtype),
                }
                for function, want in wanted.items():
                    got = back(getattr(fr, function)(make(x), axis))
                    that(
                        got.dtype == want.dtype and np.array_equal(got, want, equal_nan=True),
                        f"{name} {dtype} {function} {axis}: {got}, not {want}",
                    )
                got = back(fr.nanvar(make(x), axis))
                that(
                    np.allclose(got.astype(float), variance, rtol=1e-5, equal_nan=True),
                    f"{name} {dtype} nanvar {axis}: {got}, not {variance}",
                )
                exact = back(fr.nansum(make(x), axis, exact=True))
                that(same(exact, fr.sum(zeros, axis, exact=True)), f"{name} {dtype} exact {axis}")
        refuses(lambda: fr.nansum(make(x.astype(complex))), TypeError, "no", f"{name}: complex")
        that(int(back(fr.nansum(make(np.arange(9, dtype="int32"))))) == 36, f"{name}: integers")


def check_pairs():
    for name, make, back in libraries():
        for dtype in (*DTYPES, "bool") if name != "jax" else ("float32", "int16", "bool"):
            x = data((3, 40, 5), "uint8" if dtype == "bool" else dtype)
            x = x > 200 if dtype == "bool" else x
            axes = None, 0, 1, -1, (0, 1)
            for (function, call), axis in itertools.product(PAIRS.items(), axes):
                if "exact" in function and dtype[0] != "f":
                    continue
                what = f"{name} {dtype} {function} {axis}"
                made = call(make(x), axis)
                got = [back(each) for each in made]
                want = [of(each.dtype.type) for of, each in zip(with_numpy(function, x, axis), got)]
                if function == "var_mean":  # AUTO's
                    want[0] = fr.var(x, axis)
                if function == "var_mean" and dtype not in ("float16", "float32"):
                    that(np.allclose(got[1], want[1], rtol=0, atol=1e-13), f"{what}: {got}")
                    want[1] = got[1]
                that(all(map(same, got, want)), f"{what}: {got}, not {want}")
                kept = [back(each) for each in call(make(x), axis, keepdims=True)]
                that(
                    all(a.ndim == 3 and a.tobytes() == b.tobytes() for a, b in zip(kept, got)),
                    f"{what} keepdims",
                )
                if name == "jax":
                    continue
                outs = [make(np.full_like(each, 1)) for each in got]
                given = call(make(x), axis, out=outs)
                that(
                    len(given) == 2
                    and all(a is b for a, b in zip(given, outs))
                    and all(same(back(a), b) for a, b in zip(outs, got)),
                    f"{what} out: {outs}",
                )
        zeros = np.array([[0.0, -0.0], [-0.0, 0.0], [-0.0, np.nan]], np.float32)
        for function in ("min with index", "max with index"):
            values, indices = map(back, PAIRS[function](make(zeros), 1))
            that(
                indices.tolist() == [0, 0, 1]
                and np.signbit(values[:2]).tolist() == [False, True]
                and np.isnan(values[2]),
                f"{name}: {function}: of zeros {values}, {indices}",
            )
        made = fr.max(make(zeros), 1, with_index=True)
        that(made.values is made[0] and made.indices is made[1], f"{name}: the names")
        least, greatest = map(back, fr.min_max(make(zeros), 1))
        that(
            np.signbit(least).tolist()[:2] == [True, True]
            and np.signbit(greatest).tolist()[:2] == [False, False]
            and np.isnan(least[2])
            and np.isnan(greatest[2]),
            f"{name}: min_max of zeros {least}, {greatest}",
        )
        odd = np.array([3, -128, 127, -128], np.int8)
        that(int(back(fr.argmax_abs(make(odd)))) == 1, f"{name}: the magnitude of -128")
        odd = np.array([3, np.inf, np.nan, np.nan], np.float32)
        that(int(back(fr.argmax_abs(make(odd)))) == 2, f"{name}: the first NaN")
        none = np.empty((3, 0), np.float32)
        for call in (fr.argmax_abs, *(PAIRS[each] for each in PAIRS if "var" not in each)):
            refuses(lambda: call(make(none), 1), ValueError, "no elements", f"{name}: of nothing")
            made = call(make(none), 0)
            made = made if isinstance(made, tuple) else (made,)
            that(all(back(each).shape == (0,) for each in made), f"{name}: no results")
        that(all(np.isnan(back(each)).all() for each in fr.var_mean(make(none), 1)), f"{name}: NaN")
        x = data((4, 6), "float32")
        refuses(lambda: fr.min_max(make(x), 2), ValueError, "out of bounds", f"{name}: axis")
        refuses(lambda: fr.var_mean(make(x), (1, 1)), ValueError, "twice", f"{name}: axes")
        refuses(lambda: fr.min_max(make(x.astype(complex))), TypeError, "no", f"{name}: complex")
        one = make(np.full(4, 7, np.float32))
        if name == "jax":
            refuses(lambda: fr.min_max(make(x), 1, out=(one, one)), TypeError, "out=", "jax: out")
            made = jax.jit(lambda a: fr.min_max(a * 2, 1))(make(x))
            that(all(map(same, map(back, made), fr.min_max(x * 2, 1))), "inside jax.jit")
            continue
        refuses(
            lambda: fr.segments(one, make(np.arange(3)), "min_max"), ValueError, "one result", name
        )
        got = back(fr.segments(make(x[0]), make(np.array([0, 2, 2, 6])), "argmax_abs"))
        want = [int(abs(x[0, :2]).argmax()), -1, int(abs(x[0, 2:]).argmax())]
        that(same(got, np.array(want)), f"{name}: argmax_abs of segments {got}, not {want}")
        for words, kind, other in (
            ("pair", TypeError, None),
            ("is of float64", TypeError, np.full(4, 7.0)),
            ("shape", ValueError, np.full(5, 7, np.float32)),
            ("overlap", ValueError, one),
        ):
            other = make(other) if isinstance(other, np.ndarray) and other is not one else other
            for out in ((one, other), (other, one)):
                refuses(lambda: fr.min_max(make(x), 1, out=out), kind, words, f"{name}: {words}")
                that(bool((one == 7).all()), f"{name}: {words}: the output as it was")
        refuses(lambda: fr.min_max(make(x), 1, out=one), TypeError, "pair", f"{name}: one output")


def check_order_of_additions():
    for name, make, back in libraries():
        for n in (1, 2, 3, 5, 31, 64, 100, 1000, 4097):
            x = random.standard_normal((3, n)).astype(np.float32)
            want = np.array([pairwise(row) for row in x])
            that(same(back(fr.sum(make(x), 1)), want), f"{name}: sums of rows of {n}")
            that(
                same(back(fr.sum(make(np.ascontiguousarray(x.T)), 0)), want),
                f"{name}: sums of columns of {n}",
            )
            that(same(back(fr.sum(make(x[1].copy()))), want[1]), f"{name}: the sum of {n}")
            halves = x.astype(np.float16)
            want = np.array([pairwise(row.astype(np.float32)) for row in halves])
            that(same(back(fr.sum(make(halves), -1)), want), f"{name}: sums of {n} halves")
            want = pairwise(x[0] * x[1])
            that(
                same(back(fr.dot(make(x[0].copy()), make(x[1].copy()))), want),
                f"{name}: dot of {n}",
            )


def check_vecdot():
    for name, make, back in libraries():
        for dtype in DTYPES if name != "jax" else ("float32", "int16"):
            x, y = data((3, 40, 5), dtype), data((3, 40, 5), dtype)
            for axis in (None, 0, 1, -1, (0, 1)):
                got = back(fr.vecdot(make(x), make(y), axis))
                wide = got.dtype if dtype[0] != "f" else np.float64
                want = (x.astype(wide) * y.astype(wide)).sum(axis)
                that(
                    got.shape == want.shape
                    and (np.allclose if dtype[0] == "f" else np.array_equal)(got, want),
                    f"{name} {dtype} vecdot {axis}: {got}, not {want}",
                )
                kept = back(fr.vecdot(make(x), make(y), axis, keepdims=True))
                that(kept.ndim == 3 and kept.tobytes() == got.tobytes(), f"{name}: keepdims")
            if dtype in ("float32", "float64"):
                for exact in (False, True):
                    got = back(fr.vecdot(make(x), make(y), 1, exact=exact))
                    want = [
                        [
                            fr.dot(x[k, :, j].copy(), y[k, :, j].copy(), exact=exact)
                            for j in range(5)
                        ]
                        for k in range(3)
                    ]
                    that(same(got, want), f"{name} {dtype} vecdot, exact: {exact}: {got}")
        none = make(np.empty((3, 0), np.float32))
        that(same(back(fr.vecdot(none, none)), np.zeros(3, np.float32)), f"{name}: of nothing")
        x = data((4, 6), "float32")
        for words, kind, other in (
            ("shapes", ValueError, x[:3]),
            ("dtypes", TypeError, x.astype(float)),
        ):
            refuses(lambda: fr.vecdot(make(x), make(other)), kind, words, f"{name}: {words}")
        refuses(lambda: fr.vecdot(make(x), make(x), 2), ValueError, "out of bounds", name)
        if name == "jax":
            continue
        out = make(np.full(4, 7, np.float32))
        that(fr.vecdot(make(x), make(x), out=out) is out, f"{name}: vecdot, out")
        that(same(back(out), fr.sum_squares(x, 1)), f"{name}: vecdot, out: {out}")
        if name in ("numpy", "torch"):
            wide = np.concatenate((x, x + 1), 1)
            a, b = make(wide)[:, :6], make(wide)[:, 6:]
            that(same(back(fr.vecdot(a, b)), fr.vecdot(x, x + 1)), f"{name}: views")
            refuses(lambda: fr.vecdot(make(x), b), ValueError, "strides", f"{name}: strides")


def check_fold():
    for name, make, back in libraries():
        if name == "jax":
            two = [make(np.ones(3, np.float32))] * 2
            refuses(lambda: fr.fold(two), TypeError, "folds", "jax: fold")
            continue
        for dtype in (*DTYPES, "bool"):
            for count, op in itertools.product((1, 2, 3, 7, 64), ("sum", "min", "max", "mean")):
                x = data((count, 3, 5), "uint8" if dtype == "bool" else dtype)
                x = x > 100 if dtype == "bool" else x
                got = back(fr.fold([make(row) for row in x], op))
                want = getattr(fr, op)(x, 0)
                that(same(got, want), f"{name} {dtype} fold of {count}, {op}: {got}, not {want}")
        x = data((4, 6), "float32")
        want = fr.sum(x, 0)
        rows = [make(row.copy()) for row in x]
        that(fr.fold(tuple(rows), out=rows[2]) is rows[2], f"{name}: fold, out")
        that(same(back(rows[2]), want), f"{name}: fold into one of the arrays")
        rows = [make(row) for row in x]
        wide = make(np.zeros(12, np.float32))
        for words, kind, call in (
            ("not sum", ValueError, lambda: fr.fold(rows, "norm")),
            ("list", TypeError, lambda: fr.fold([])),
            ("list", TypeError, lambda: fr.fold(rows[0])),
            ("64", ValueError, lambda: fr.fold((rows * 17)[:65])),
            ("gaps", ValueError, lambda: fr.fold([wide[::2]])),
            ("gaps", ValueError, lambda: fr.fold([rows[0], wide[::2]])),
            ("shapes", ValueError, lambda: fr.fold([rows[0], rows[1][:5]])),
            ("dtypes", TypeError, lambda: fr.fold([rows[0], make(x[1].astype(float))])),
        ):
            refuses(call, kind, words, f"{name}: fold, {words}")
    if torch:
        leaf = torch.ones(3, requires_grad=True)
        for call in (lambda: fr.fold([torch.ones(3), leaf]), lambda: fr.dot(torch.ones(3), leaf)):
            refuses(call, TypeError, "gradient", "a gradient of the second array")


def check_exact():
    for name, make, back in libraries():
        for dtype in (np.float16, np.float32, np.float64):
            scale = 2.0 ** random.integers(
                *((-8, 8) if dtype is np.float16 else (-60, 60)), (4, 333)
            )
            x = (random.standard_normal((4, 333)) * scale).astype(dtype)
            result = np.float64 if dtype is np.float64 else np.float32
            rows = [[fractions.Fraction(float(each)) for each in row] for row in x]
            for function, exactly in (
                ("sum", sum),
                ("sum_abs", lambda row: sum(map(abs, row))),
                ("mean", lambda row: sum(row) / len(row)),
                ("sum_squares", lambda row: sum(e * e for e in row)),
                (
                    "var",
                    lambda row: sum(e * e for e in row) / len(row) - (sum(row) / len(row)) ** 2,
                ),
            ):
                want = [exactly(row) for row in rows]
                call = getattr(fr, function)
                that(
                    same(back(call(make(x), 1, exact=True)), [rounded(w, result) for w in want]),
                    f"{name} exact {function} of {dtype.__name__}",
                )
                that(
                    same(
                        back(call(make(x), 1, exact=True, dtype="float64")),
                        [rounded(w, np.float64) for w in want],
                    ),
                    f"{name} exact {function} of {dtype.__name__} as double",
                )
                shuffled = np.ascontiguousarray(x[:, random.permutation(333)].T)
                that(
                    same(
                        back(call(make(shuffled), 0, exact=True)),
                        [rounded(w, result) for w in want],
                    ),
                    f"{name} exact {function} of shuffled columns of {dtype.__name__}",
                )
            want = rounded(sum(a * b for a, b in zip(rows[0], rows[1])), result)
            that(
                same(back(fr.dot(make(x[0].copy()), make(x[1].copy()), exact=True)), want),
                f"{name} exact dot of {dtype.__name__}",
            )


def check_16_bits():
    for name, make, back in libraries():
        x = (random.standard_normal((4, 333)) * 9).astype(np.float16)
        half = "float16" if name == "numpy" else make(x).dtype
        for function, axis in itertools.product(EXACT, (None, 0, 1)):
            call = functools.partial(getattr(fr, function), make(x), axis)
            want = np.asarray(back(call())).astype(np.float16)
            that(same(back(call(dtype=half)), want), f"{name} {function} {axis} as float16")
        for call in (
            functools.partial(fr.dot, make(x[0].copy()), make(x[1].copy())),
            functools.partial(fr.vecdot, make(x), make(x)),
        ):
            want = np.asarray(back(call())).astype(np.float16)
            that(same(back(call(dtype="float16")), want), f"{name} {call.func} as float16")
        # beside the middle between two of float16, where a float is at it
        ties = np.array([[1, 2**-11, 2**-24], [1, 2**-11, 0]], np.float16)
        got = back(fr.sum(make(ties), 1, exact=True, dtype="float16"))
        that(same(got, np.array([1 + 2**-10, 1], np.float16)), f"{name}: ties: {got}")
        if name == "jax":
            continue  # XLA raises its own errors
        for one, dtype in ((x, "bfloat16"), (x.astype(np.float32), "float16")):
            refuses(
                lambda one=one, dtype=dtype: fr.sum(make(one), 1, dtype=dtype, out=make(one[:, 0])),
                TypeError,
                "",
                f"{name}: {dtype} of {one.dtype}",
            )
    if torch:
        x = torch.randn(5, 777).bfloat16()
        for function in EXACT:
            call = getattr(fr, function)
            that(
                torch.equal(call(x, 1, dtype=torch.bfloat16), call(x, 1).bfloat16()),
                f"{function} as bfloat16",
            )


def check_views():
    x = random.standard_normal((6, 8, 10)).astype(np.float32)
    windows = np.lib.stride_tricks.sliding_window_view(x[0, 0], 4, writeable=True)
    views = (
        (x[:, 2:5], (1, 2)),
        (x[:, :, 3], 1),
        (x[1, :, 2:9], 0),
        (x[1, :, 2:9], 1),
        (x[2].T, 0),
        (x[2].T, 1),
        (x[::2], (1, 2)),
        (x[:, ::3, :1], 1),
        (windows, 1),
        (x[3:, 1:2], 2),
        (x[0, 0, 1:], 0),
        (x[:, 0, 0], None),
    )
    refused = (
        (x[:, :, ::-1], 2),
        (np.broadcast_to(x[0, 0], (4, 10)), 0),
        (x, (0, 2)),
        (x.T, None),
        (x[:, 1:3], (0, 1)),
        (x[:, ::2, ::3], 0),
        (x[:, 2:5], 2),
    )
    for name, make, back in libraries():
        if name in ("jax", "cupy", "torch on a GPU"):
            continue  # whose arrays would be copies
        for view, axis in views:
            want = fr.sum(np.ascontiguousarray(view), axis)
            that(
                same(back(fr.sum(make(view), axis)), want), f"{name}: view of {view.strides} {axis}"
            )
            for function in ("min_max", "max with index"):
                want = PAIRS[function](np.ascontiguousarray(view), axis)
                got = PAIRS[function](make(view), axis)
                that(
                    all(same(back(a), b) for a, b in zip(got, want)),
                    f"{name}: {function} of a view of {view.strides} {axis}",
                )
        for view, axis in refused:
            if name == "torch" and (min(view.strides) < 0):
                continue  # PyTorch has no such views
            refuses(
                lambda: fr.sum(make(view), axis),
                ValueError,
                "without a copy",
                f"{name}: {view.shape} {view.strides} {axis}",
            )
    if with_cuda:
        whole = torch.from_numpy(x).cuda()
        for view, axis in (
            (whole[:, 2:5], (1, 2)),
            (whole[1, :, 2:9], 0),
            (whole[2].T, 1),
            (whole[::2], (1, 2)),
            (whole[0, 0].unfold(0, 4, 1), 1),
        ):
            want = fr.sum(view.contiguous(), axis)
            that(
                torch.equal(fr.sum(view, axis), want), f"a view on the GPU, {view.stride()} {axis}"
            )
    locked = x.copy()
    locked.flags.writeable = False
    that(same(fr.sum(locked, 2), fr.sum(x, 2)), "an array that may only be read")


def check_nothing():
    for name, make, back in libraries():
        none = np.empty((3, 0), np.float32)
        that(same(back(fr.sum(make(none), 1)), np.zeros(3, np.float32)), f"{name}: sums of nothing")
        that(same(back(fr.prod(make(none), 1)), np.ones(3, np.float32)), f"{name}: products")
        that(np.isnan(back(fr.mean(make(none), 1))).all(), f"{name}: means of nothing")
        that(back(fr.sum(make(none), 0)).shape == (0,), f"{name}: no results")
        that(back(fr.argmax(make(np.empty((0, 5), np.float32)), 1)).shape == (0,), f"{name}: none")
        for function in ("min", "max", "argmin", "argmax"):
            refuses(
                lambda: getattr(fr, function)(make(none), 1),
                ValueError,
                "no elements",
                f"{name}: {function} of nothing",
            )
        that(
            same(back(fr.dot(make(none[0]), make(none[1]))), np.float32(0)), f"{name}: dot of none"
        )
        that(back(fr.sum(make(np.array(2.5, np.float32)))) == 2.5, f"{name}: an array of no axis")


def refuses(call, kind, words, what):
    """Whether the call raises this error with these words."""
    try:
        got = call()
    except kind as error:
        that(words in str(error), f"{what}: {error}")
    except Exception as error:  # pylint: disable=broad-except
        that(False, f"{what}: {type(error).__name__}: {error}")
    else:
        that(False, f"{what}: no error but {got}")


def check_refusals():
    for name, make, _ in libraries():
        x = data((4, 6), "float32")
        for words, kind, call in (
            ("out of bounds", ValueError, lambda a, out: fr.sum(a, 2, out=out)),
            ("out of bounds", ValueError, lambda a, out: fr.sum(a, -3, out=out)),
            ("twice", ValueError, lambda a, out: fr.sum(a, (1, 1), out=out)),
            (
                "no results of dtype",
                TypeError,
                lambda a, out: fr.sum(a, 1, out=out, dtype="complex64"),
            ),
            ("int32", TypeError, lambda a, out: fr.sum(a, 1, out=out, dtype="int32", exact=True)),
            ("object cannot be", TypeError, lambda a, out: fr.sum(a, 1.5, out=out)),
        ):
            out = None if name == "jax" else make(np.full(4, 7, np.float32))
            if name == "jax" and kind is TypeError and words == "int32":
                continue  # XLA raises its own error
            refuses(lambda: call(make(x), out), kind, words, f"{name}: {words}")
            that(out is None or bool((out == 7).all()), f"{name}: {words}: the output as it was")
        refuses(lambda: fr.sum(make(x.astype(np.complex64))), TypeError, "no", f"{name}: complex")
        refuses(
            lambda: fr.dot(make(x), make(x)), ValueError, "one axis", f"{name}: dot of matrices"
        )
        line = data(6, "float32")
        refuses(
            lambda: fr.dot(make(line), make(line[:5])), ValueError, "shapes", f"{name}: lengths"
        )
        refuses(
            lambda: fr.dot(make(line), make(line.astype(float))),
            TypeError,
            "dtypes",
            f"{name}: dot of two dtypes",
        )
        if name == "jax":
            refuses(lambda: fr.sum(make(x), 1, out=x), TypeError, "out=", "jax: out")
            refuses(
                lambda: fr.segments(make(line), make(np.arange(3))), TypeError, "segments", "jax"
            )
            continue
        for words, kind, out in (
            ("is of float64", TypeError, np.full(4, 7.0)),
            ("shape", ValueError, np.full(5, 7, np.float32)),
            ("gaps", ValueError, np.full(8, 7, np.float32)[::2]),
        ):
            out = make(out) if "gaps" != words else make(np.full(8, 7, np.float32))[::2]
            refuses(lambda: fr.sum(make(x), 1, out=out), kind, words, f"{name}: out, {words}")
            that(bool((out == 7).all()), f"{name}: {words}: the output as it was")
        that(
            fr.sum(make(x), 1, out=(out := make(np.full(4, 7, np.float32)))) is out, f"{name}: out"
        )
        refuses(
            lambda: fr.segments(make(line), make(np.arange(3)), "median"),
            ValueError,
            "median",
            f"{name}: an operator that is none",
        )
        refuses(
            lambda: fr.segments(make(line), make(np.zeros(3, np.int16))),
            TypeError,
            "int32",
            f"{name}: offsets of 16 bits",
        )
        refuses(
            lambda: fr.segments(make(line), make(np.zeros(0, np.int64))),
            ValueError,
            "one number",
            f"{name}: no offsets",
        )
        if "GPU" not in name and name != "cupy":
            refuses(
                lambda: fr.segments(make(line), make(np.array([0, 7]))),
                ValueError,
                "inside",
                f"{name}: a segment past the end",
            )
    refuses(lambda: fr.sum([1.0, 2.0]), TypeError, "DLPack", "a list")
    refuses(lambda: fr.sum("text"), TypeError, "DLPack", "a text")
    refuses(lambda: fr.sum(np.array(["text"])), TypeError, "DLPack", "an array of texts")
    refuses(lambda: fr.sum(np.zeros(3, ">f4")), TypeError, "byte order", "another byte order")
    if torch:
        x = torch.tensor([1e-45, 3e-39] * 9)
        want = fr.sum(x)
        if torch.set_flush_denormal(True):
            that(bits(fr.sum(x)) == bits(want), "where the CPU flushes denormals")
            that(bits(fr.segments(x, torch.tensor([0, 18]))) == bits(want), "segments there")
            that(bits(fr.dot(x, torch.full_like(x, 1.0))) == bits(want), "dot there")
            torch.set_flush_denormal(False)
        refuses(
            lambda: fr.sum(torch.ones(3, requires_grad=True)), TypeError, "gradient", "a gradient"
        )
        with torch.no_grad():
            that(float(fr.sum(torch.ones(3, requires_grad=True))) == 3, "no gradient is asked for")
    if with_cuda:
        x = torch.ones(4, 6).cuda()
        refuses(lambda: fr.sum(x, 1, out=torch.ones(4)), ValueError, "device", "out on the CPU")
        refuses(lambda: fr.dot(x[0], torch.ones(6)), ValueError, "device", "y on the CPU")
    elif torch:
        refuses(
            lambda: fr.sum(torch.ones(4, 6, device="meta"), 1), Exception, "", "no memory at all"
        )


def check_segments():
    for name, make, back in libraries():
        if name == "jax":
            continue
        x = random.standard_normal(500).astype(np.float32)
        bounds = np.sort(random.integers(0, 501, 40))
        for index in (np.int32, np.int64):
            offsets = bounds.astype(index)
            got = back(fr.segments(make(x), make(offsets)))
            want = [
                pairwise(x[a:b]) if b > a else np.float32(0) for a, b in zip(bounds, bounds[1:])
            ]
            that(same(got, want), f"{name}: segments by {index.__name__}")
        begins, ends = random.integers(0, 400, 30), random.integers(0, 501, 30)
        got = back(fr.segments(make(x), make(begins), "argmax", ends=make(ends)))
        want = [int(np.argmax(x[a:b])) if b > a else -1 for a, b in zip(begins, ends)]
        that(same(got, np.array(want, np.int64)), f"{name}: segments by ends")
        out = make(np.zeros(39, np.float64))
        fr.segments(make(x), make(bounds), "norm", exact=True, dtype="float64", out=out)
        want = [
            fr.norm(x[a:b].copy(), exact=True, dtype="float64") for a, b in zip(bounds, bounds[1:])
        ]
        that(same(back(out), np.array(want)), f"{name}: exact norms of segments")


def check_accumulators():
    for name, make, _ in libraries():
        if name == "jax":
            continue
        for dtype, products in (
            ("float32", False),
            ("float64", False),
            ("float32", True),
            ("float64", True),
        ):
            x = (random.standard_normal(1000) * 2.0 ** random.integers(-40, 40, 1000)).astype(dtype)
            y = random.standard_normal(1000).astype(dtype)
            terms = [
                fractions.Fraction(float(a)) * (fractions.Fraction(float(b)) if products else 1)
                for a, b in zip(x, y)
            ]
            parts = [fr.Accumulator(dtype, products=products) for _ in range(3)]
            for k, part in enumerate(np.array_split(np.arange(1000), 7)):
                added = (make(x[part]), make(y[part])) if products else (make(x[part]),)
                that(parts[k % 3].add(*added) is parts[k % 3], f"{name}: add returns itself")
            whole = pickle.loads(pickle.dumps(parts[0])).merge(parts[2]).merge(parts[1])
            that(
                whole.value() == rounded(sum(terms), getattr(np, dtype)),
                f"{name}: {dtype}, products: {products}: {whole}",
            )
            if not (dtype == "float64" and products):
                that(whole.value("float32") == rounded(sum(terms), np.float32), f"{name}: as float")
            that(
                len(bytes(whole))
                == 8 * {(0, 0): 16, (1, 1): 138}.get((dtype == "float64", products), 72),
                "its bytes",
            )
            again = fr.Accumulator.from_bytes(bytes(whole), dtype, products=products)
            that(again.value() == whole.value() and bytes(again) == bytes(whole), "from_bytes")
            two = fr.Accumulator(dtype, products=products)
            two.add(
                *(
                    (make(x.reshape(20, 50)), make(y.reshape(20, 50)))
                    if products
                    else (make(x.reshape(20, 50)),)
                )
            )
            that(bytes(two) == bytes(whole), f"{name}: the limbs do not depend on the split")
        one = fr.Accumulator()
        refuses(lambda: one.add(make(np.ones(3))), TypeError, "float64", f"{name}: doubles")
        refuses(
            lambda: one.add(make(np.ones(3, np.int32))), TypeError, "int32", f"{name}: integers"
        )
        refuses(lambda: one.add(make(np.ones(3, np.float32)), 1), ValueError, "products", "y")
        refuses(
            lambda: one.add(make(np.ones((4, 4), np.float32))[:, ::2]), ValueError, "gaps", "gaps"
        )
        that(one.value() == 0 and bytes(one) == bytes(128), f"{name}: as it was")
        shared, x = fr.Accumulator(), make(np.arange(1000, dtype=np.float32))
        threads = [
            threading.Thread(target=lambda: [shared.add(x) for _ in range(50)]) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        that(shared.value("float64") == 200 * 499500, f"{name}: of four threads {shared.value()}")
    if torch:
        leaf = torch.ones(3, requires_grad=True)
        refuses(lambda: fr.Accumulator().add(leaf), TypeError, "gradient", "a gradient")
        nowhere = torch.ones(3, device="meta")
        refuses(lambda: fr.Accumulator().add(nowhere), ValueError, "CPU", "no memory at all")
    refuses(lambda: fr.Accumulator("int32"), TypeError, "int32", "of integers")
    refuses(
        lambda: fr.Accumulator().merge(fr.Accumulator("float64")), ValueError, "kinds", "two kinds"
    )
    refuses(lambda: fr.Accumulator.from_bytes(b"12"), ValueError, "dtypes", "two bytes")
    refuses(
        lambda: fr.Accumulator("float64", products=True).value("float32"),
        TypeError,
        "float32",
        "a float of products of doubles",
    )
    refuses(lambda: fr.Accumulator().add([1.0]), TypeError, "list", "a list")


def check_threads():
    for name, make, back in libraries():
        arrays = [random.standard_normal((50, 300)).astype(np.float32) for _ in range(8)]
        wants, wrong = [fr.sum(x, 1) for x in arrays], []

        def work(k):
            x = make(arrays[k])
            for _ in range(30):
                if not same(back(fr.sum(x, 1)), wants[k]):
                    wrong.append(k)

        threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        that(not wrong, f"{name}: eight threads")


def check_jax():
    if not jax:
        return "no JAX, or no jax-tvm-ffi"
    x = random.standard_normal((20, 300)).astype(np.float32)
    got = jax.jit(lambda a: fr.sum(a * 2, 1, keepdims=True) + 1)(jax.numpy.asarray(x))
    that(same(np.asarray(got)[:, 0], fr.sum(x * 2, 1) + np.float32(1)), "inside jax.jit")
    refuses(lambda: fr.sum(jax.numpy.asarray(x[None]), (0, 2)), ValueError, "beside", "axes apart")
    return None


def check_document():
    """What examples/README.md shows, with the results in its comments."""
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, '../../examples/README.md'), encoding='utf-8') as file:
        block = file.read().split('```python\n')[1].split('```')[0]
    names = {}
    for line in block.splitlines():
        code, _, said = line.partition('#')
        try:
            got = eval(code, names)  # pylint: disable=eval-used
        except SyntaxError:
            exec(code, names)  # pylint: disable=exec-used
            continue
        for number in re.findall(r'^ *(\d+\.\d)|\[(\d+), (\d+)\]', said):
            want = [float(each) for each in number if each]
            that(np.atleast_1d(got).tolist() == want, f"{line}: {got}")


def bits(x):
    """A tensor as integers on the CPU. All NaN are one."""
    x = x.cpu()
    if x.is_floating_point():
        x = torch.where(x.isnan(), torch.full_like(x, torch.nan), x)
    return x.view({1: torch.int8, 2: torch.int16, 4: torch.int32, 8: torch.int64}[x.itemsize])


def check_on_a_gpu():
    if not with_cuda:
        return "no GPU, no PyTorch for it, or a package for the CPU alone"
    arrays = {
        str(dtype)[6:]: torch.randn(70, 900).mul(9).to(dtype)
        for dtype in (torch.bfloat16, torch.float16, torch.float32, torch.float64)
    }
    arrays |= {
        dtype: torch.from_numpy(data((70, 900), dtype)) for dtype in DTYPES if dtype[0] != "f"
    }
    for dtype, x in arrays.items():
        for function in FUNCTIONS:
            for axis in (None, 0, 1):
                for exact in (False, True):
                    if exact and (function not in EXACT or "float" not in dtype):
                        continue
                    more = {"exact": True} if exact else {}
                    got = getattr(fr, function)(x.cuda(), axis, **more)
                    that(got.is_cuda, "where the result is")
                    want = getattr(fr, function)(x, axis, **more)
                    that(
                        torch.equal(bits(got), bits(want)),
                        f"{dtype} {function} {axis} {more}: the CPU's bits",
                    )
        for (function, call), axis in itertools.product(PAIRS.items(), (None, 0, 1)):
            if "exact" in function and "float" not in dtype:
                continue
            got, want = call(x.cuda(), axis), call(x, axis)
            that(all(each.is_cuda for each in got), "where the results are")
            that(
                all(torch.equal(bits(a), bits(b)) for a, b in zip(got, want)),
                f"{dtype} {function} {axis}: the CPU's bits",
            )
        for axis, exact in itertools.product((None, 0, 1), (False, True)):
            if exact and "float" not in dtype:
                continue
            got = fr.vecdot(x.cuda(), x.flip(1).cuda(), axis, exact=exact)
            want = fr.vecdot(x, x.flip(1), axis, exact=exact)
            that(torch.equal(bits(got), bits(want)), f"{dtype} vecdot {axis} {exact}")
        for op in ("sum", "min", "max", "mean"):
            got, want = fr.fold(list(x.cuda()[:9]), op), fr.fold(list(x[:9]), op)
            that(torch.equal(bits(got), bits(want)), f"{dtype} fold, {op}")
    row = torch.randn(4097, device="cuda")
    want = {name: getattr(fr, name)(row) for name in ("sum", "mean", "norm", "var")}
    for batch in range(1, 2001):
        x = torch.randn(batch, 4097, device="cuda")
        place = 7919 % batch
        x[place] = row
        for name, one in want.items():
            that(torch.equal(getattr(fr, name)(x, 1)[place], one), f"{name} in a batch of {batch}")
    return None


def check_streams_and_graphs():
    if not with_cuda:
        return "no GPU, no PyTorch for it, or a package for the CPU alone"
    x = torch.randn(3000, 1000, device="cuda")
    want = fr.sum(x, 1)
    streams = [torch.cuda.Stream() for _ in range(8)]
    torch.cuda.synchronize()
    made = []
    for k in range(160):  # side by side, each with a workspace of its own
        with torch.cuda.stream(streams[k % 8]):
            made.append((fr.sum(x, 1), fr.sum(x)))
    torch.cuda.synchronize()
    that(all(torch.equal(rows, want) for rows, _ in made), "eight streams, rows")
    that(all(torch.equal(whole, fr.sum(x)) for _, whole in made), "eight streams, one sum")
    late = torch.zeros(1 << 24, device="cuda")
    with torch.cuda.stream(streams[0]):
        torch.cuda._sleep(20_000_000)  # the sum has to wait for what its stream does before
        late.fill_(2)
        total = fr.sum(late)
    streams[0].synchronize()
    that(float(total) == 2.0**25, "the order of a stream")
    graphs = []
    for k in range(4):
        graph, out = torch.cuda.CUDAGraph(), torch.zeros(3000, device="cuda")
        with torch.cuda.graph(graph):
            fr.sum(x, 1, out=out)
            total = fr.sum(x)
        graphs.append((graph, out, total))
    for _ in range(25):
        for (graph, _, _), stream in zip(graphs, streams):
            with torch.cuda.stream(stream):
                graph.replay()
    torch.cuda.synchronize()
    that(all(torch.equal(out, want) for _, out, _ in graphs), "four graphs side by side")
    that(all(torch.equal(total, fr.sum(x)) for _, _, total in graphs), "their sums")
    x.mul_(2)
    graphs[0][0].replay()
    torch.cuda.synchronize()
    that(torch.equal(graphs[0][1], want * 2), "a replay reads what is there then")
    before = torch.cuda.mem_get_info()[0]
    for _ in range(60):  # graphs that are gone give their workspaces back
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            fr.sum(x, 1, out=graphs[0][1])
        graph.replay()
        torch.cuda.synchronize()
        del graph
    used = before - torch.cuda.mem_get_info()[0]
    that(used < 30 << 20, f"sixty graphs: {used >> 20} MiB")
    if cupy:
        array = cupy.asarray(random.standard_normal((100, 500)).astype(np.float32))
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            stream.begin_capture()
            out = cupy.zeros(100, cupy.float32)
            fr.sum(array, 1, out=out)
            graph = stream.end_capture()
            graph.launch()
        stream.synchronize()
        that(same(out.get(), fr.sum(array.get(), 1)), "a graph of CuPy's")
    return None


for group in (
    check_values,
    check_pairs,
    check_nan,
    check_by_index,
    check_order_of_additions,
    check_vecdot,
    check_fold,
    check_exact,
    check_16_bits,
    check_views,
    check_nothing,
    check_refusals,
    check_segments,
    check_accumulators,
    check_threads,
    check_jax,
    check_document,
    check_on_a_gpu,
    check_streams_and_graphs,
):
    checks.run(group)
sys.exit(checks.finish("Python package"))

"""Tests fastreduce.torch: python3 test_torch.py [FOLDER OF THE PACKAGE]. Without PyTorch: exit 77.

Everything runs on the CPU, batch_invariant() too, which has a switch for it; and again on a GPU,
where there is one. Bits are compared with those of `fastreduce` itself, whose own test judges them.
"""
import contextlib
import functools
import itertools
import operator
import os
import subprocess
import sys
import threading
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples"))
sys.path[:0] = sys.argv[1:2]
try:
    import torch
except ImportError as error:
    print(f"skipped: there is no PyTorch: {error}")
    sys.exit(77)
import numpy
import torch.utils.flop_counter
import torch.nn.functional as F  # for the expressions below

import checks
import fastreduce
import fastreduce.torch as ft
from checks import that

GPU = torch.cuda.is_available() and fastreduce.show_config()["cuda"] is not None
DEVICES = ("cpu", "cuda") if GPU else ("cpu",)
NAMES = ("sum prod min max argmin argmax sum_abs sum_squares max_abs norm mean var "
         "count_nonzero argmax_abs").split()
DIFFERENTIABLE = [name for name in NAMES if name[:3] != "arg" and name != "count_nonzero"]
PAIRS = {  # functions of a module with two results
    "min_max": lambda module: module.min_max, "var_mean": lambda module: module.var_mean,
    "min_with_index": lambda module: functools.partial(module.min, with_index=True),
    "max_with_index": lambda module: functools.partial(module.max, with_index=True)}
HALVES = (torch.bfloat16, torch.float16)


def numbers(*shape, dtype=torch.float32, seed=1):
    """Normal numbers of many magnitudes, or integers."""
    generator = torch.Generator().manual_seed(seed)
    x = torch.randn(shape, generator=generator, dtype=torch.float64)
    if dtype == torch.bool:
        return x > 0.3
    if not dtype.is_floating_point:
        return (x * 40).abs().to(dtype)
    return (x * torch.randint(1, 9, shape, generator=generator)).to(dtype)


def same(a, b):
    """Whether two results are alike to the bit, or both NaN."""
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    return (a.dtype == b.dtype and a.shape == b.shape
            and bool(((a == b) | ((a != a) & (b != b))).all()))


def raises(kind, words, function):
    try:
        made = function()
    except kind as error:
        return that(words in str(error), f"{kind.__name__} without {words!r}: {error}")
    except Exception as error:  # pylint: disable=broad-except
        return that(False, f"{type(error).__name__}, not {kind.__name__}: {error}")
    return that(False, f"no {kind.__name__} ({words}): {made}")


@contextlib.contextmanager
def counted():
    """The compiled reductions that are called: a list of names that grows, of two results with +"""
    names = fastreduce._core.OPERATORS
    calls, real, two = [], fastreduce._core.reduce_, fastreduce._core.reduce_two
    fastreduce._core.reduce_ = lambda *given: calls.append(names[given[4]]) or real(*given)
    fastreduce._core.reduce_two = lambda *given: calls.append(names[given[5]] + "+") or two(*given)
    try:
        yield calls
    finally:
        fastreduce._core.reduce_, fastreduce._core.reduce_two = real, two


# ---- Operators ----------------------------------------------------------------------------------

AXES = (None, 1, -1, (0, 1), [2], (), (0, 1, 2))


def check_functions():
    for device in DEVICES:
        for dtype in (torch.float32, torch.float64, *HALVES, torch.int32, torch.uint8, torch.bool):
            x = numbers(3, 4, 5, dtype=dtype).to(device)
            for name in NAMES:
                for axis in AXES:
                    for keepdims in (False, True):
                        what = f"{name} of {dtype}, axis {axis}, {keepdims} on {device}"
                        expected = getattr(fastreduce, name)(x, axis, keepdims=keepdims)
                        made = getattr(ft, name)(x, axis, keepdims=keepdims)
                        that(same(made, expected), f"{what}: {made}, not {expected}")
                        listed = axis if axis is None or isinstance(axis, (tuple, list)) else [axis]
                        made = getattr(torch.ops.fastreduce, name)(x, listed, keepdims)
                        that(same(made, expected), f"{what}, operator: {made}, not {expected}")
                        if dtype.is_floating_point and name in DIFFERENTIABLE:
                            leaf = x.clone().requires_grad_()
                            made = getattr(ft, name)(leaf, axis, keepdims=keepdims)
                            that(made.requires_grad and same(made.detach(), expected),
                                 f"{what}, recorded: {made}, not {expected}")
                            with torch.no_grad():
                                made = getattr(ft, name)(leaf, axis, keepdims=keepdims)
                            that(not made.requires_grad and same(made, expected), f"{what} {made}")
                        out = torch.full_like(expected, 1)
                        version = out._version
                        made = getattr(ft, name)(x, axis, keepdims=keepdims, out=out)
                        that(made is out and same(out, expected) and out._version > version,
                             f"{what}, out: {out}, not {expected}")
        x, y = numbers(100).to(device), numbers(100, seed=2).to(device)
        offsets = torch.tensor([0, 3, 3, 50, 98], device=device)
        that(same(ft.dot(x, y), fastreduce.dot(x, y)), "dot")
        that(same(torch.ops.fastreduce.dot(x, y), fastreduce.dot(x, y)), "dot, operator")
        for axis, keepdims in itertools.product((None, 0, -1), (False, True)):
            rows, others = x.reshape(20, 5), y.reshape(20, 5)
            expected = fastreduce.vecdot(rows, others, axis, keepdims=keepdims)
            listed, leaf = axis if axis is None else [axis], rows.clone().requires_grad_()
            that(same(ft.vecdot(rows, others, axis, keepdims=keepdims), expected)
                 and same(ft.vecdot(leaf, others, axis, keepdims=keepdims).detach(), expected)
                 and same(torch.ops.fastreduce.vecdot(rows, others, listed, keepdims), expected),
                 f"vecdot, {axis}, {keepdims}")
        out = torch.zeros(20, device=device)
        that(ft.vecdot(rows, others, out=out) is out and out._version == 1
             and same(out, fastreduce.vecdot(rows, others)), "vecdot, out")
        for name in NAMES:
            for ends in (None, offsets + 2):
                expected = fastreduce.segments(x, offsets, name, ends=ends)
                that(same(ft.segments(x, offsets, name, ends=ends), expected) and same(
                    torch.ops.fastreduce.segments(x, offsets, name, ends), expected),
                    f"segments: {name}")
        for function in ("sum", "norm", "var"):
            expected = getattr(fastreduce, function)(x, exact=True, dtype="float64")
            for dtype in ("float64", torch.float64):
                leaf = x.clone().requires_grad_()
                that(same(getattr(ft, function)(x, exact=True, dtype=dtype), expected) and same(
                    getattr(ft, function)(leaf, exact=True, dtype=dtype).detach(), expected),
                    f"exact {function} as {dtype}")


def check_pairs():
    for device in DEVICES:
        for dtype in (torch.float32, torch.float64, *HALVES, torch.int32, torch.uint8, torch.bool):
            x = numbers(3, 4, 5, dtype=dtype).to(device)
            for (name, function), axis, keepdims in itertools.product(
                    PAIRS.items(), AXES, (False, True)):
                what = f"{name} of {dtype}, axis {axis}, {keepdims} on {device}"
                expected = function(fastreduce)(x, axis, keepdims=keepdims)
                made = function(ft)(x, axis, keepdims=keepdims)
                that(same(made, expected) and type(made) is type(expected),
                     f"{what}: {made}, not {expected}")
                listed = axis if axis is None or isinstance(axis, (tuple, list)) else [axis]
                made = getattr(torch.ops.fastreduce, name)(x, listed, keepdims)
                that(same(made, tuple(expected)), f"{what}, operator: {made}, not {expected}")
                if dtype.is_floating_point:
                    leaf = x.clone().requires_grad_()
                    made = function(ft)(leaf, axis, keepdims=keepdims)
                    that(all(each.requires_grad == each.is_floating_point() for each in made)
                         and same([each.detach() for each in made], list(expected)),
                         f"{what}, recorded: {made}, not {expected}")
                outs = tuple(torch.full_like(each, 1) for each in expected)
                versions = [each._version for each in outs]
                made = function(ft)(x, axis, keepdims=keepdims, out=outs)
                that(all(map(operator.is_, made, outs)) and same(list(outs), list(expected))
                     and all(each._version > version for each, version in zip(outs, versions)),
                     f"{what}, out: {outs}, not {expected}")
            for made, expected in (
                    (ft.max(x, 1, with_index=True), torch.max(x, 1)),
                    (ft.min(x, -1, keepdims=True, with_index=True), torch.min(x, -1, True)),
                    (ft.min_max(x), torch.aminmax(x)), (ft.min_max(x, 0), torch.aminmax(x, dim=0))):
                made, expected = tuple(made), tuple(expected)
                that(same(made, expected), f"{dtype} on {device}: {made}, not {expected}")
        x = numbers(3, 4).to(device)
        leaf = x.clone().requires_grad_()
        with counted() as calls:
            ft.var_mean(leaf, 1)[0].sum().backward()
            ft.max(leaf, 1, with_index=True).values.sum().backward()
        that(calls == ["var+", "argmax+"], f"gradients: {calls}")
        exact = fastreduce.var_mean(x, 1, exact=True)
        that(same(ft.var_mean(x, 1, exact=True), exact) and same(
            [each.detach() for each in ft.var_mean(leaf, 1, exact=True)], list(exact)), "exact")
    raises(RuntimeError, "no gradient", lambda: ft.min_max(leaf, 1, out=exact))
    raises(TypeError, "a pair", lambda: ft.min_max(x, 1, out=exact[0]))
    raises(ValueError, "overlap", lambda: ft.min_max(x, 1, out=(exact[0], exact[0])))
    raises(ValueError, "one result", lambda: ft.segments(x[0], torch.tensor([0, 1]), "min_max"))
    outs = torch.full((3,), 7.0), torch.full((4,), 7.0)
    with torch.utils.flop_counter.FlopCounterMode(display=False):  # a mode that sees the call
        raises(ValueError, "out has to be", lambda: ft.min_max(x, 1, out=outs))
        that(bool((outs[0] == 7).all()), f"an output as it was: {outs}")
        made = ft.min_max(x, 1, out=(outs[0], outs[1][:3]))
        that(same(list(made), list(fastreduce.min_max(x, 1))), f"in a mode: {made}")


def check_refusals():
    x, leaf = numbers(3, 4), numbers(3, 4).requires_grad_()
    raises(TypeError, "no tensor", lambda: ft.sum(numpy.zeros(3)))
    raises(TypeError, "complex", lambda: ft.sum(x + 1j))
    raises(RuntimeError, "no gradient", lambda: ft.sum(leaf, 1, out=torch.zeros(3)))
    raises(RuntimeError, "no gradient",
           lambda: ft.sum(x, 1, out=torch.zeros(3, requires_grad=True)))
    raises(ValueError, "out of bounds", lambda: ft.sum(x, 2))
    raises(ValueError, "shape", lambda: ft.sum(x, 1, out=torch.zeros(4)))
    raises(ValueError, "out has to be",
           lambda: torch.compile(lambda t: ft.sum(t, 1, out=torch.zeros(4)), backend="eager")(x))
    raises(ValueError, "no function", lambda: ft.segments(x[0], torch.tensor([0, 1]), "median"))
    offsets = torch.tensor([0, 2, 4])
    for op, ends in (("max", None), ("var", None), ("sum", offsets)):
        made = ft.segments(leaf.detach()[0].requires_grad_(), offsets, op, ends=ends)
        raises(NotImplementedError, "sum and mean", made.sum().backward)
    made = ft.segments(leaf.detach()[0].requires_grad_(), torch.tensor([0, 3, 2]))
    raises(RuntimeError, "ascending", made.sum().backward)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(x, x)
        raises(NotImplementedError, "forward-mode", lambda: ft.sum(dual))
    # A view whose numbers are negated when they are read; a result that autograd has saved.
    that(same(ft.sum(torch._neg_view(x), 1), -ft.sum(x, 1)), "a negated view")
    out = torch.ones(3)
    product = (out * numbers(3).requires_grad_()).sum()
    ft.sum(x, 1, out=out)
    raises(RuntimeError, "modified by an inplace operation", product.backward)


def check_opcheck():
    for device in DEVICES:
        for dtype in (torch.float64, torch.bfloat16):
            for gradient in (False, True):
                def given(*shape):
                    return numbers(*shape, dtype=dtype).to(device).requires_grad_(gradient)
                offsets = torch.tensor([0, 3, 4, 10], device=device)
                calls = [(name, (given(3, 4), axis, keepdims)) for name in NAMES
                         for axis, keepdims in ((None, False), ([1], True))]
                calls += [(name, (given(3, 4), axis, keepdims)) for name in PAIRS
                          for axis, keepdims in ((None, False), ([0], True))]
                calls += [("vecdot", (given(3, 4), given(3, 4), [1]))]
                calls += [("dot", (given(9), given(9))), ("segments", (given(11), offsets)),
                          ("segments", (given(11), offsets, "mean"))]
                if not gradient:
                    calls += [("segments", (given(11), offsets, "argmax", offsets + 1))]
                for name, arguments in calls:
                    try:
                        torch.library.opcheck(getattr(torch.ops.fastreduce, name).default,
                                              arguments)
                        that(True, name)
                    except Exception as error:  # pylint: disable=broad-except
                        that(False, f"opcheck of {name}{arguments}: {error}")


TORCH = {"sum": torch.sum, "prod": None, "mean": torch.mean,
         "min": lambda x, axis: x.amin(axis), "max": lambda x, axis: x.amax(axis),
         "var": lambda x, axis: torch.var(x.float(), axis, correction=0),
         "norm": lambda x, axis: torch.linalg.vector_norm(x, 2, axis),
         "sum_abs": lambda x, axis: x.abs().sum(axis),
         "sum_squares": lambda x, axis: (x * x).sum(axis),
         "max_abs": lambda x, axis: x.abs().amax(axis)}
TORCH_PAIRS = {"min_max": lambda x: (x.amin(1), x.amax(1)),
               "var_mean": lambda x: torch.var_mean(x.float(), 1, correction=0),
               "min_with_index": lambda x: torch.min(x, 1),
               "max_with_index": lambda x: torch.max(x, 1)}


def mixed(pair):
    """A sum of both results, if both are floats, which has the gradients of both."""
    return sum(each * (k + 1.5) for k, each in enumerate(pair) if each.is_floating_point())


def check_gradients():
    offsets = torch.tensor([2, 3, 4, 9, 10])
    for device in DEVICES:
        x = numbers(3, 4, 2, dtype=torch.float64).to(device)
        v, w = (numbers(11, dtype=torch.float64, seed=seed).to(device) for seed in (3, 4))
        zeros = x.clone()
        zeros[0, 1], zeros[1, 2, 1] = 0, 0
        there = offsets.to(device)
        calls = [(f"{name}, {axis}, {keepdims}", (x,),
                  lambda t, name=name, axis=axis, keepdims=keepdims:
                  getattr(ft, name)(t, axis, keepdims=keepdims))
                 for name in DIFFERENTIABLE for axis in (None, 1, (0, 1), (2, -2), ())
                 for keepdims in (False, True)]
        calls += [(f"{name}, {axis}, {keepdims}", (x,),
                   lambda t, function=function(ft), axis=axis, keepdims=keepdims:
                   mixed(function(t, axis, keepdims=keepdims)))
                  for name, function in PAIRS.items()
                  for axis in (None, 1, (0, 1), (2, -2), ())
                  for keepdims in (False, True)]
        calls += [("the mean alone", (x,), lambda t: ft.var_mean(t, 1)[1]),
                  ("the maximum alone", (x,), lambda t: ft.min_max(t, 1)[1]),
                  ("prod with zeros", (zeros,), lambda t: ft.prod(t, (1, 2))),
                  ("dot", (v, w), ft.dot),
                  *((f"vecdot, {axis}, {keepdims}", (x, zeros),
                     functools.partial(ft.vecdot, axis=axis, keepdims=keepdims))
                    for axis in (None, 1, (0, 1)) for keepdims in (False, True)),
                  ("segments", (v,), lambda t: ft.segments(t, there)),
                  ("segments, mean", (v,), lambda t: ft.segments(t, there.int(), "mean"))]
        for what, leaves, function in calls:
            leaves = tuple(each.clone().requires_grad_() for each in leaves)
            for judge in (torch.autograd.gradcheck, torch.autograd.gradgradcheck):
                try:
                    that(judge(function, leaves), what)
                except Exception as error:  # pylint: disable=broad-except
                    that(False, f"{judge.__name__} of {what} on {device}: {error}")
        # As PyTorch's, where elements are equal, NaN, zero or infinite; and of 16 bits.
        hard = torch.tensor([[1, 2, 2, -2], [0, -0.0, 0, -1], [0, 0, 0, 0], [torch.nan, 1, 2, 2],
                             [torch.inf, 1, -3, torch.inf], [torch.nan, torch.nan, 1, 3]])
        judges = [(name, functools.partial(getattr(ft, name), axis=1),
                   functools.partial(reference, axis=1))
                  for name, reference in TORCH.items() if reference]
        judges += [(name, lambda t, function=PAIRS[name](ft): mixed(function(t, 1)),
                    lambda t, reference=reference: mixed(reference(t)))
                   for name, reference in TORCH_PAIRS.items()]
        for dtype in (torch.float32, *HALVES):
            for name, function, reference in judges:
                for rows in hard, numbers(5, 7):
                    if name == "var_mean":  # with an infinity the mean is NaN, too
                        rows = rows[~rows.isinf().any(1)]
                    leaf = rows.to(dtype).to(device).requires_grad_()
                    weights = numbers(len(rows), seed=5).to(device)
                    made, = torch.autograd.grad((function(leaf) * weights).sum(), leaf)
                    expected, = torch.autograd.grad((reference(leaf) * weights).sum(), leaf)
                    that(made.dtype == dtype and torch.allclose(
                        made, expected, 2e-2 if dtype in HALVES else 1e-5, 1e-5, equal_nan=True),
                        f"gradient of {name}, {dtype}: {made}, not {expected}")


def check_compiler():
    from torch._subclasses import FakeTensorMode

    def function(t, offsets):
        rows = ft.sum(t * 2, 1) + ft.max(t, axis=(1,)) - ft.norm(t, 1) + ft.var(t, 1)
        rows = rows + mixed(ft.min_max(t, 1)) * mixed(ft.max(t, 1, with_index=True))
        out = ft.mean(t.detach(), 1, out=torch.empty(t.shape[0]))
        rows = rows + ft.dot(t[0], t[1]) + ft.vecdot(t, 2 * t)
        return rows + out + ft.segments(t[0], offsets).sum()

    for dynamic in (False, True):
        torch._dynamo.reset()
        compiled = torch.compile(function, backend="aot_eager", fullgraph=True, dynamic=dynamic)
        for size in (10, 17):
            x, offsets = numbers(size, 33, seed=size), torch.tensor([0, size, 33])
            that(same(compiled(x, offsets), function(x, offsets)), f"compiled, {size}")
            leaf, other = x.clone().requires_grad_(), x.clone().requires_grad_()
            compiled(leaf, offsets).sum().backward()
            function(other, offsets).sum().backward()
            that(torch.allclose(leaf.grad, other.grad, 1e-5, 1e-5), f"compiled gradient, {size}")
    for name in NAMES:
        expected = getattr(fastreduce, name)(numbers(3, 4, dtype=torch.bfloat16), 1)
        with FakeTensorMode():
            made = getattr(ft, name)(torch.empty(3, 4, device="cuda", dtype=torch.bfloat16), 1)
        that(made.shape == (3,) and made.device.type == "cuda" and made.dtype == expected.dtype,
             f"fake {name}: {made}")
    for name, function in PAIRS.items():
        expected = function(fastreduce)(numbers(3, 4, dtype=torch.bfloat16), 1)
        with FakeTensorMode():
            made = function(ft)(torch.empty(3, 4, device="cuda", dtype=torch.bfloat16), 1)
        that(all(a.shape == (3,) and a.device.type == "cuda" and a.dtype == b.dtype
                 for a, b in zip(made, expected)), f"fake {name}: {made}")
    x = numbers(3, 4)
    that(ft.sum(x.to("meta"), 1).is_meta, "a tensor without memory")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # vmap takes a loop, torch.jit is old
        that(same(torch.vmap(ft.sum)(x), ft.sum(x, 1)), "vmap")
        that("fastreduce::sum" in str(torch.jit.trace(lambda t: ft.sum(t, 1), x).graph), "trace")
    seen = []

    class Witness(torch.utils._python_dispatch.TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(func)
            return func(*args, **(kwargs or {}))
    with Witness():
        ft.norm(x)
    that(seen == [torch.ops.fastreduce.norm.default], f"a mode sees {seen}")


# ---- batch_invariant() --------------------------------------------------------------------------


def mode(device):
    return ft.batch_invariant(_device=device)


FLOATS = """
x.sum() x.sum(1) x.sum((0,-1),keepdim=True) x.sum([]) x.sum(dtype=torch.float64)
x.sum(0,dtype=torch.float32) x.sum(-1,dtype=torch.bfloat16) x.sum(dtype=torch.int32) x.prod()
x.prod(1) x.prod(-1,keepdim=True,dtype=torch.float64) x.mean() x.mean(1) x.mean((0,1),True)
x.mean(dtype=torch.float64) x.mean(-1,dtype=torch.float16) x.amax() x.amax(1) x.amax((0,-1))
x.amin(-1,True) x.max() x.min() x.max(1) x.min(-1,keepdim=True) x.argmax() x.argmin() x.argmax(1)
x.argmin(-1,keepdim=True) x.argmax(keepdim=True) x.var() x.var(1) x.var((0,1),correction=0)
x.var(0,unbiased=False,keepdim=True) x.std() x.std(-1,correction=2.5) x.std(1,correction=9)
torch.var_mean(x) torch.var_mean(x,1,correction=0) torch.std_mean(x,(0,1),keepdim=True)
torch.linalg.vector_norm(x) torch.linalg.vector_norm(x,1,1)
torch.linalg.vector_norm(x,torch.inf,(0,1)) torch.linalg.vector_norm(x,-torch.inf,-1,True)
torch.linalg.vector_norm(x,0,1) torch.linalg.vector_norm(x,3) torch.linalg.vector_norm(x,0.5,-1)
torch.linalg.vector_norm(x,2,1,dtype=torch.float64) x.norm() x.norm(1) x.norm(p="fro")
x.norm(3,dim=1) x.norm(2,-1,True,dtype=torch.float32) torch.linalg.norm(x,dim=1) x.softmax(0)
x.softmax(-1) x.softmax(1,dtype=torch.float32) x.log_softmax(0) x.log_softmax(-1)
x.log_softmax(1,torch.float32) x.logsumexp(1) x.logsumexp((0,-1),keepdim=True)
F.layer_norm(x,x.shape[-1:]) F.layer_norm(x,x.shape[1:],x[0],x[0]*2,0.1) F.rms_norm(x,x.shape[-1:])
F.rms_norm(x,x.shape[1:],x[0],0.1) F.mse_loss(x,x*0.5) F.l1_loss(x,x*0.5) F.smooth_l1_loss(x,x*0.5)
F.huber_loss(x,x*3) F.normalize(x,dim=-1) F.cosine_similarity(x,x*2+1,-1) torch.dist(x,x*2)
F.kl_div(x,x.abs(),reduction='sum') x.renorm(2,0,1) F.softmin(x,1) F.gumbel_softmax(x,hard=False)*0
torch.ops.aten._foreach_norm([x,x*2]) torch.ops.aten._foreach_norm([x],1) x.cov()*0 F.softmax(x.T,0)
x.sum(3) x.sum((0,0)) x.sum((1,-1)) x.amax(5) x.mean(dtype=torch.int64) x.argmax(7) x.var(9)
x.std((1,1)) x.softmax(4) torch.sum(x,0,out=x.new_empty(0,dtype=torch.float32))
torch.sum(x,-1,out=torch.empty(0,dtype=torch.float64))
torch.mean(x,-1,out=x.new_empty(0))
torch.amax(x,-1,out=x.new_empty(0,dtype=torch.int8))
torch.amax(x,-1,out=x.new_empty(0))
torch.argmax(x,-1,out=x.new_empty(0,dtype=torch.int64))
torch.max(x,-1,out=(x.new_empty(0),x.new_empty(0,dtype=torch.int64)))
torch.max(x,out=x.new_empty(0)) torch.var(x,-1,out=x.new_empty(0))
torch.std(x,-1,out=x.new_empty(0)) torch.prod(x,-1,out=x.new_empty(0))
torch.norm(x,2,-1,out=x.new_empty(0))
torch.logsumexp(x,-1,out=x.new_empty(0))
torch.ops.aten._softmax.out(x,-1,False,out=x.new_empty(0))
"""
INTEGERS = """
x.sum() x.sum(1) x.sum((0,-1),keepdim=True) x.sum(dtype=torch.int8) x.sum(0,dtype=torch.float32)
x.sum(dtype=torch.bool) x.sum(1,dtype=torch.int32) x.prod() x.prod(1) x.mean()
x.mean(1,dtype=torch.float32) x.amax() x.amax((0,1)) x.amin(-1) x.max() x.max(1)
x.min(-1,keepdim=True) x.byte().argmax() x.byte().argmin(1) x.var() x.std(1)
torch.linalg.vector_norm(x) x.softmax(1,dtype=torch.float32) x.logsumexp(1)
torch.sum(x,0,out=x.new_empty(0,dtype=torch.int64)) x.sum(4)
"""
NONE_OF_OURS = ("*0", "(3)", "0,0", "(5)", "(7)", "(9)", "(4)", "(1,1)", "(1,-1)",
                "dtype=torch.int64)", "int8))")


def shapes(dtype):
    base = numbers(6, 8, 10, dtype=dtype)
    yield "contiguous", base[:3, :4, :5].contiguous()
    yield "of a larger one", base[1:4, 2:6, 3:8]
    yield "transposed", base[:3, :4, :5].transpose(0, 2)
    yield "every second", base[:, :, ::2]
    yield "expanded", base[:1, :4, :5].expand(3, 4, 5)
    yield "matrix", base[0, :5, :5].contiguous()
    yield "one axis", base[0, 0].clone()
    yield "one element", base[0, 0, 0].clone()
    yield "no row", base[:0]
    yield "no column", base[:, :, :0]
    if dtype.is_floating_point:
        hard = base[:3, :4, :5].clone()
        hard[0, 0, 0], hard[1, 2], hard[2, :, 3] = torch.nan, torch.inf, 0
        hard[0, 1, :3] = -torch.inf
        yield "NaN and infinities", hard


def result(expression, x):
    """What the expression gives, or what it raises."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            torch.manual_seed(1)
            made = eval(expression, globals(), {"x": x})  # pylint: disable=eval-used
        return made if isinstance(made, (tuple, list)) else (made,)
    except Exception as error:  # pylint: disable=broad-except
        return error


def alike(made, expected, dtype):
    if isinstance(expected, Exception) or isinstance(made, Exception):
        return type(made) is type(expected)
    def near(a, b):
        relative = max({torch.float16: 4e-3, torch.bfloat16: 3e-2, torch.float64: 1e-12,
                        torch.float32: 1e-4}.get(each, 0) for each in (dtype, a.dtype))
        return torch.allclose(a.double(), b.double(), relative, relative, equal_nan=True)
    return len(made) == len(expected) and all(
        a.dtype == b.dtype and a.shape == b.shape and a.device == b.device and near(a, b)
        for a, b in zip(made, expected))


def check_semantics():
    """As PyTorch's own, dtypes, shapes, errors and all; and FastReduce has computed it."""
    for device in DEVICES:
        for dtype in (torch.float32, torch.float64, *HALVES, torch.int32, torch.uint8, torch.int64,
                      torch.bool):
            for shape, x in shapes(dtype):
                # What PyTorch does on the CPU alone: -infinity, and another error first; and the
                # mean beside a variance, which is NaN where there is an infinity; on the GPU also
                # an rms_norm of a row with one.
                odd = ("torch.max(x,out", "int8))") if not x.numel() else (
                    "_mean(", "rms_norm") if shape == "NaN and infinities" else ()
                x = x.to(device)  # a copy keeps the strides, if there are no gaps
                expressions = [each for each in (FLOATS if dtype.is_floating_point
                                                 else INTEGERS).split()
                               if not any(part in each for part in odd)]
                expected = [result(each, x) for each in expressions]
                with mode(device), counted() as calls:
                    for expression, reference in zip(expressions, expected):
                        calls.clear()
                        made = result(expression, x)
                        ours = bool(calls)  # before anything is compared or printed
                        that(alike(made, reference, dtype), f"{expression} of {dtype}, {shape}, on "
                             f"{device}: {made!r}, not {reference!r}")
                        if not isinstance(made, Exception) and x.numel() and not any(
                                each in expression for each in NONE_OF_OURS):
                            that(ours, f"{expression} of {dtype}, {shape}: not by FastReduce")


BATCHES = (2, 37, 300)
ROWS = {  # a function of rows, and the same of one row alone by fastreduce, or None
    "sum": (lambda x: x.sum(-1), lambda r: fastreduce.sum(r)),
    "mean": (lambda x: x.mean(-1), lambda r: fastreduce.mean(r)),
    "norm": (lambda x: x.norm(dim=-1), lambda r: fastreduce.norm(r)),
    "1-norm": (lambda x: x.norm(1, -1), lambda r: fastreduce.sum_abs(r)),
    "var": (lambda x: x.var(-1, correction=0), lambda r: fastreduce.var(r)),
    "var, corrected": (lambda x: x.var(-1), lambda r: fastreduce.var(r) * numpy.float32(
        len(r) / (len(r) - 1) if len(r) > 1 else numpy.inf)),
    "softmax": (lambda x: x.softmax(-1), None), "log_softmax": (lambda x: x.log_softmax(-1), None),
    "std": (lambda x: x.std(-1), None), "logsumexp": (lambda x: x.logsumexp(-1), None),
    "layer_norm": (lambda x: F.layer_norm(x, x.shape[-1:]), None),
    "rms_norm": (lambda x: F.rms_norm(x, x.shape[-1:]), None)}


def by_hand(name, row):
    """Softmax of a row: what fastreduce adds up, and the elementwise rest as PyTorch does it."""
    shifted = row.float() - row.max().float()
    total = fastreduce.sum(shifted.exp())
    return (shifted - total.log() if name == "log_softmax" else shifted.exp() / total).to(row.dtype)


def layouts(rows):
    """The rows, alike, in other places."""
    wide = torch.cat((rows, rows), 1)
    yield "contiguous", rows
    yield "with gaps", wide[:, :rows.shape[1]]
    yield "as columns", rows.T.contiguous().T
    yield "every second row", rows.repeat_interleave(2, 0)[::2]


def check_bits():
    """A row has the same bits alone and in every batch, which are those of fastreduce."""
    for device in DEVICES:
        for dtype in (torch.float32, *HALVES):
            for n in (1, 7, 1000, 4096):
                rows = numbers(300, n, dtype=dtype, seed=n)
                for name, (function, reference) in ROWS.items():
                    with mode(device):
                        alone = [function(row[None])[0] for row in rows[:20].to(device)]
                    for k in (0, 1, 17):
                        what = f"{name} of {n} {dtype} on {device}, row {k}"
                        if reference:
                            # NumPy has no bfloat16: the same numbers as floats, where it is alike.
                            row = rows[k].numpy() if dtype != torch.bfloat16 else None
                            if row is None and name in ("sum", "mean", "1-norm"):
                                row = rows[k].float().numpy()
                            if row is not None:
                                with numpy.errstate(invalid="ignore"):
                                    expected = torch.tensor(reference(row)).to(dtype)
                                that(same(alone[k].cpu(), expected), f"{what}: {alone[k]}, not "
                                     f"{expected}")
                        elif "softmax" in name:
                            expected = by_hand(name, rows[k].to(device))
                            that(same(alone[k], expected), f"{what}: {alone[k]}, not {expected}")
                    for batch in BATCHES:
                        for layout, x in layouts(rows[:batch].to(device)):
                            if n == 4096 and batch == 300 and layout != "contiguous":
                                continue
                            with mode(device):
                                made = function(x)
                            that(same(list(made[:20]), alone[:batch]),
                                 f"{name} of {n} {dtype} on {device}, {batch} rows {layout}")
                for name in ("sum", "mean", "norm", "var"):
                    together = getattr(ft, name)(rows.to(device), 1).cpu()
                    that(same(list(together[:9]), [getattr(fastreduce, name)(row)
                                                   for row in rows[:9]]), f"rows: {name} of {n}")


def weight_of(x):
    return lambda seed: numbers(x.shape[-1], dtype=x.dtype, seed=seed).to(x.device)


BACKWARD = {
    "softmax": lambda x: x.softmax(-1), "log_softmax": lambda x: x.log_softmax(-1),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[-1:], *map(weight_of(x), (7, 8))),
    "rms_norm": lambda x: F.rms_norm(x, x.shape[-1:], weight_of(x)(7)),
    "amax": lambda x: x.amax(-1), "norm": lambda x: x.norm(dim=-1), "var": lambda x: x.var(-1),
    "std": lambda x: x.std(-1), "logsumexp": lambda x: x.logsumexp(-1),
    "mean": lambda x: x.mean(-1), "max": lambda x: x.max(-1).values,
    "broadcast": lambda x: x * x[:1], "normalize": lambda x: F.normalize(x, dim=-1)}


def check_backward():
    """Gradients are PyTorch's, and sums in backward are FastReduce's, in autograd's threads too."""
    for device in DEVICES:
        for name, function in BACKWARD.items():
            x = numbers(4, 3, 6, dtype=torch.float64).to(device).requires_grad_()
            with mode(device), counted() as calls:
                try:
                    that(torch.autograd.gradcheck(function, (x,)), name)
                except Exception as error:  # pylint: disable=broad-except
                    that(False, f"gradcheck of {name} on {device}: {error}")
                made = function(x)
                weights = numbers(*made.shape, dtype=made.dtype).to(device)
                calls.clear()
                made.backward(weights)
                if name in ("softmax", "log_softmax", "layer_norm", "rms_norm", "amax",
                            "broadcast"):
                    that(calls, f"the backward of {name} on {device} is not by FastReduce")
            for dtype in (torch.float32, *HALVES):
                rows = numbers(37, 1000, dtype=dtype).to(device)
                weights = numbers(37, *function(rows[:1]).shape[1:], seed=2).to(device, dtype)
                first = rows[:1]  # whose numbers are a weight in every call
                grads = {}
                for batch in (1, 2, 37):
                    x = torch.cat((first, rows))[:batch + 1].requires_grad_()
                    with mode(device):
                        (function(x)[1:] * weights[:batch]).sum().backward()
                    grads[batch] = x.grad[1]
                that(same(grads[1], grads[2]) and same(grads[1], grads[37]),
                     f"the gradient of {name} of {dtype} on {device} depends on the batch")
                x = torch.cat((first, rows)).requires_grad_()
                (function(x)[1:] * weights).sum().backward()
                tolerance = {torch.float32: 1e-4, torch.float16: 5e-3, torch.bfloat16: 4e-2}[dtype]
                that(torch.allclose(grads[37].float(), x.grad[1].float(), tolerance, tolerance),
                     f"gradient of {name} of {dtype} on {device}: {grads[37]}, not {x.grad[1]}")
    # The weights' gradients, and rms_norm's own kernels, which PyTorch calls on a GPU alone.
    from fastreduce import _batch_invariant
    x = numbers(5, 30, dtype=torch.bfloat16)
    with mode("cpu"):  # softmax from 16 bits to floats in one, which the CPU's kernel refuses
        for operator, function in ((torch.ops.aten._softmax, F.softmax),
                                   (torch.ops.aten._log_softmax, F.log_softmax)):
            a, b = x.clone().requires_grad_(), x.clone().requires_grad_()
            made, expected = operator(a, -1, True), function(b, -1, dtype=torch.float32)
            made.backward(numbers(5, 30))
            expected.backward(numbers(5, 30))
            that(same(made.detach(), expected.detach()) and same(a.grad, b.grad),
                 f"{operator} to float")
    for dtype in (torch.float64, torch.float32, torch.bfloat16):
        x, g = numbers(5, 2, 30, dtype=dtype), numbers(5, 2, 30, dtype=dtype, seed=3)
        w, b = (numbers(2, 30, dtype=dtype, seed=k) for k in (4, 5))
        tolerance = {torch.float64: 1e-12, torch.float32: 1e-4, torch.bfloat16: 4e-2}[dtype]
        for shape, weight, bias in (((2, 30), w, b), ((30,), None, None), ((30,), w[0], b[0])):
            leaves = [None if each is None else each.clone().requires_grad_()
                      for each in (x, weight, bias)]
            needed = [each for each in leaves if each is not None]
            expected = torch.autograd.grad(F.layer_norm(leaves[0], shape, *leaves[1:]), needed, g)
            with mode("cpu"):
                made = torch.autograd.grad(F.layer_norm(leaves[0], shape, *leaves[1:]), needed, g)
            that(alike(made, expected, dtype), f"layer_norm's gradients, {dtype}: {made}, not "
                 f"{expected}")
            small = x * 0.01  # so that the default eps shows
            made, expected = _batch_invariant._rms_norm(small, shape, weight, None)[0], F.rms_norm(
                small, shape, weight)
            that(torch.allclose(made, expected, tolerance, tolerance), f"rms_norm, {dtype}: {made}")
            expected = F.rms_norm(leaves[0], shape, leaves[1])
            made, scale = _batch_invariant._rms_norm(x, shape, weight, None)
            that(torch.allclose(made, expected, tolerance, tolerance), f"rms_norm, {dtype}: {made}")
            expected = torch.autograd.grad(expected, needed[:2], g)
            made = _batch_invariant._rms_norm_gradient(g, x, shape, scale, weight,
                                                       [True, weight is not None])
            that(alike([each for each in made if each is not None], expected, dtype),
                 f"rms_norm's gradients, {dtype}: {made}, not {expected}")


def check_warnings():
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", f"import sys; sys.path[:0] = {sys.path[:2]!r}\n"
         "import torch, fastreduce.torch\nwith fastreduce.torch.batch_invariant(_device='cpu'):\n"
         "    print(torch.arange(5).sum().item())"],
        capture_output=True, text=True, timeout=120, check=False)
    that(done.stdout == "10\n" and not done.stderr, f"{done.stdout!r} {done.stderr!r}")


def check_mode():
    from fastreduce import _batch_invariant
    x = numbers(5, 999)
    ours, device = fastreduce.sum(x, 1), "cpu"

    def table():
        return [torch._C._dispatch_dump(f"aten::{name}") for name in _batch_invariant._KERNELS]

    def replaced():
        return same(x.sum(1), ours) and same(torch.sum(x, 1, out=torch.empty(0)), ours)

    before = table()
    that(not replaced(), "PyTorch's own sums have the same bits: nothing would be seen")
    with mode(device):
        that(replaced(), "inside")
        with mode(device), mode("cuda"):
            that(replaced(), "inside twice")
        that(replaced(), "inside again")
        raises(NotImplementedError, "nansum", x.nansum)
        raises(NotImplementedError, "complex", (x + 1j).sum)
        raises(NotImplementedError, "", lambda: x.to(torch.float8_e4m3fn).sum())
        for context in (torch.no_grad, torch.inference_mode):
            with context():
                that(replaced(), str(context))
        with torch.autocast("cpu", torch.bfloat16), counted() as calls:
            that(x.bfloat16().softmax(1).dtype == torch.bfloat16 or calls, "autocast")
            that(calls, "autocast, not by FastReduce")
        with counted() as calls:
            made = torch.vmap(torch.func.grad(lambda r: (r * r).sum() + r.softmax(0)[0]))(x)
            that(made.shape == x.shape and calls, "torch.func")
        for expression, functions in (
                ("x.logsumexp(1)", "max sum"), ("x.mean(1)", "mean"), ("x.max(1)", "argmax+"),
                ("F.layer_norm(x,(999,))", "var+"), ("torch.std_mean(x)", "var+"),
                ("F.softmax(x,1)", "max sum"), ("F.mse_loss(x,2*x)", "mean"), ("x.std(1)", "var"),
                ("x.T.sum()", "sum sum")):
            with counted() as calls:
                result(expression, x)
                that(" ".join(calls) == functions, f"{expression}: {calls}")
        for operator in ("_softmax_backward_data", "_log_softmax_backward_data"):
            made = getattr(torch.ops.aten, operator)(x, x, 1, torch.bfloat16)
            that(made.dtype == torch.bfloat16, f"{operator}: {made.dtype}")
        class Other(torch.Tensor):
            pass
        made = x.as_subclass(Other).max(1).values.as_subclass(torch.Tensor)
        that(same(made, fastreduce.max(x, 1)), "a class of tensors")
        with torch._subclasses.FakeTensorMode():
            that(torch.empty(3, 4).softmax(1).shape == (3, 4), "fake tensors")
    that(table() == before and not replaced(), "after")
    raises(ZeroDivisionError, "", lambda: mode(device)(lambda: 1 // 0)())
    that(table() == before, "after an exception")

    @mode(device)
    def decorated(deep):
        return replaced() and (not deep or decorated(deep - 1))
    that(decorated(2) and table() == before and decorated.__name__ == "decorated", "a decorator")

    # Two threads: the first leaves before the second.
    seen, turns = [], [threading.Event() for _ in range(3)]

    def first():
        with mode(device):
            turns[0].set()
            turns[1].wait(20)
        turns[2].set()

    def second():
        turns[0].wait(20)
        with mode(device):
            turns[1].set()
            turns[2].wait(20)
            seen.append(replaced())
    threads = [threading.Thread(target=each) for each in (first, second)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    that(seen == [True] and table() == before, f"two threads: {seen}")

    # An operator that this PyTorch does not have: nothing stays replaced.
    _batch_invariant._KERNELS["no_operator"] = _batch_invariant._sum
    raises(Exception, "no_operator", lambda: mode(device).__enter__())
    del _batch_invariant._KERNELS["no_operator"]
    that(table() == before and torch._dynamo.eval_frame._stance.stance == "default", "half entered")

    # Compiled functions run in eager mode inside, and as ever afterwards.
    compiled = torch.compile(lambda t: t.sum(1), backend="aot_eager")
    compiled(x)
    with mode(device):
        that(same(compiled(x), ours), "compiled before")
        that(same(torch.compile(lambda t: t.sum(1) + 0)(x), ours), "compiled inside")
    that(torch._dynamo.eval_frame._stance.stance == "default", "the compiler's stance afterwards")

    def entered(t):
        with mode(device):
            return t.sum(1)
    raises(RuntimeError, "compiled function", lambda: torch.compile(entered, backend="eager")(x))
    whole = mode(device)(lambda t: t.sum(1))
    that(same(torch.compile(lambda t: whole(t + 0) + 0, backend="eager")(x), ours),
         "a decorated function in a compiled one")
    that(table() == before, "after compiled functions")


def products(x, y):
    """x @ y, each sequence of a batch by itself, as the mode does not cover matrix products."""
    return torch.stack([one @ (y if y.dim() == 2 else y[k]) for k, one in enumerate(x)])


def check_transformer():
    """The logits of a sequence are the same alone and in a batch of 64."""
    for device in DEVICES:
        torch.manual_seed(5)
        layers = [[torch.randn(rows, columns).mul(rows ** -0.5).to(device, torch.bfloat16)
                   for rows, columns in (*[(64, 64)] * 4, (64, 200), (200, 64))]
                  for _ in range(2)]
        head = torch.randn(64, 1000).mul(0.1).to(device, torch.bfloat16)

        def logits(x):
            for query, key, value, output, up, down in layers:
                normal = F.layer_norm(x, (64,))
                scores = products(products(normal, query), products(normal, key).transpose(1, 2))
                shares = (scores / 8).softmax(-1)
                x = x + products(products(shares, products(normal, value)), output)
                x = x + products(F.gelu(products(F.rms_norm(x, (64,)), up)), down)
            return products(x / x.norm(dim=-1, keepdim=True), head).log_softmax(-1)

        x = torch.randn(64, 17, 64).to(device, torch.bfloat16)
        with mode(device), torch.no_grad():
            whole = logits(x)
            for batch in (1, 7, 40):
                for first in (0, 13, 64 - batch):
                    that(same(logits(x[first:first + batch]), whole[first:first + batch]),
                         f"logits of {batch} sequences on {device}")


def check_gpu():
    if not GPU:
        return "there is no GPU, or the package was built without CUDA"
    x = numbers(64, 4096).cuda()
    with ft.batch_invariant():
        expected = [x.sum(1), x.softmax(1), x.var(1), ft.norm(x, 1)]
        graph = torch.cuda.CUDAGraph()
        x.softmax(1)
        torch.cuda.synchronize()
        with torch.cuda.graph(graph):
            made = [x.sum(1), x.softmax(1), x.var(1), ft.norm(x, 1)]
        for each in made:
            each.zero_()
        for _ in range(3):
            graph.replay()
        that(same(made, expected), "a graph")
        with torch.autocast("cuda", torch.bfloat16):
            that(same(x.bfloat16().softmax(1), x.bfloat16().softmax(1, dtype=torch.float32)),
                 "autocast")
    that(same(expected[0].cpu(), fastreduce.sum(x.cpu(), 1)), "the CPU's bits")
    that(same(torch.compile(lambda t: ft.sum(t * 2, 1), fullgraph=True)(x), ft.sum(x * 2, 1)),
         "compiled")
    other = torch.cuda.Stream()
    other.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(other):
        made = ft.sum(x, 1)
    other.synchronize()
    that(same(made, ft.sum(x, 1)), "another stream")
    return None


if __name__ == "__main__":
    for group in (check_functions, check_pairs, check_refusals, check_opcheck, check_gradients,
                  check_compiler, check_semantics, check_bits, check_backward, check_warnings,
                  check_mode, check_transformer, check_gpu):
        checks.run(group)
    sys.exit(checks.finish("fastreduce.torch"))

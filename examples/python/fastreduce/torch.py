"""The functions of fastreduce for PyTorch's autograd and torch.compile, and batch-invariant mode.

``fastreduce.torch.sum(x, axis=None, *, keepdims=False, out=None, exact=False, dtype=None)`` and so
on take the arguments of the functions of `fastreduce`, which say what is computed, of which shapes
and dtypes, on which devices, and what is refused. Bits and errors are theirs, too; a tensor whose
axes cannot be read as they lie is a ValueError. Each function is also an operator
torch.ops.fastreduce.NAME with a fake function, so that torch.compile and FakeTensorMode take it
with dynamic shapes; min and max with an index are min_with_index and max_with_index. Outside of
these a call without a gradient does not go through PyTorch's dispatcher, so that its profiler sees
the kernel alone. `fastreduce.fold` has no operator and no gradient.

Gradients: of sum, prod, min, max, min_max, mean, var, var_mean, norm, sum_abs, sum_squares,
max_abs, dot, vecdot, and of sums and means of segments without `ends`, whose offsets have to
ascend. They are differentiable again. Equal extremes share a gradient, as of torch.amax; with an
index it is that element's alone, as of torch.max. A gradient has the dtype of x. PyTorch's
elementwise kernels compute it, and reductions of this module; that of prod, torch.cumprod. With
`out` there is none (RuntimeError), nor forward-mode or of other segments (NotImplementedError).
torch.func.grad does not take operators like these; torch.vmap takes them one by one.

`batch_invariant` replaces PyTorch's own reductions. This module is tested with PyTorch 2.11.
"""

from __future__ import annotations

import functools
import math
import operator
from typing import Any, Callable, Optional

import torch
import torch.autograd.forward_ad as _forward_ad
from torch import Tensor

import fastreduce

from . import _core
from ._batch_invariant import batch_invariant

_SUM, _PROD, _MIN, _MAX, _ARGMIN, _ARGMAX, _SUM_ABS, _SUM_SQUARES, _MAX_ABS, _NORM, _MEAN, _VAR, \
    _COUNT_NONZERO, _MIN_MAX, _ARGMAX_ABS = range(15)
_EXACT = (_SUM, _SUM_ABS, _SUM_SQUARES, _NORM, _MEAN, _VAR)  # functions that take exact and dtype
_DTYPES = {None: 0, **{getattr(torch, name): k for k, name in enumerate(_core.TYPES) if name}}
_NAMES = {getattr(torch, name): name for name in (*_core.TYPES[1:], "bool")}

# ---- Operators ----------------------------------------------------------------------------------

_library = torch.library.Library("fastreduce", "DEF")
_Axes = Optional["list[int]"]


def _whole(g: Tensor, axes: list[int], keepdims: bool) -> Tensor:
    """The result, or its gradient, with one element along each reduced axis."""
    for axis in () if keepdims else axes:
        g = g.unsqueeze(axis)
    return g


def _shared(g: Tensor, equal: Tensor, axes: list[int]) -> Tensor:
    return g * equal / (equal.sum(axes, keepdim=True) if axes else equal)


def _products_of_others(x: Tensor, axes: list[int]) -> Tensor:
    """For each element the product of the others along the axes, which zeros do not disturb."""
    order = [k for k in range(x.dim()) if k not in axes] + axes
    moved = x.permute(order)
    rows = moved.reshape(*moved.shape[:x.dim() - len(axes)], -1)
    one = torch.ones_like(rows[..., :1])
    before = torch.cat((one, rows[..., :-1]), -1).cumprod(-1)
    after = torch.cat((rows[..., 1:], one), -1).flip(-1).cumprod(-1).flip(-1)
    return (before * after).reshape(moved.shape).permute([order.index(k) for k in range(x.dim())])


# The gradient of x: of the result's g and the result r, both with all axes, x and the reduced axes.
# Autograd rounds it to the dtype of x.
_gradients: dict[int, Callable[[Tensor, Tensor, Tensor, list[int]], Tensor]] = {
    _SUM: lambda g, r, x, axes: g.expand(x.shape),
    _PROD: lambda g, r, x, axes: g * _products_of_others(x.to(r.dtype), axes),
    _MIN: lambda g, r, x, axes: _shared(g, x == r, axes),
    _MAX: lambda g, r, x, axes: _shared(g, x == r, axes),
    _SUM_ABS: lambda g, r, x, axes: g * x.sgn(),
    _SUM_SQUARES: lambda g, r, x, axes: 2 * g * x,
    _MAX_ABS: lambda g, r, x, axes: _shared(g * x.sgn(), x.abs() == r, axes),
    _NORM: lambda g, r, x, axes: (g / r).masked_fill(r == 0, 0) * x,
    _MEAN: lambda g, r, x, axes: (g / math.prod(x.shape[k] for k in axes)).expand(x.shape),
    _VAR: lambda g, r, x, axes: (2 * g / math.prod(x.shape[k] for k in axes)
                                 * (x - mean(x, tuple(axes), keepdims=True))),
}


def _scattered(g: Tensor, index: Tensor, x: Tensor, axes: list[int]) -> Tensor:
    """Zeros like x, but g where an index along the axes is."""
    order = [k for k in range(x.dim()) if k not in axes] + axes
    sizes = [x.shape[k] for k in order]
    kept = sizes[:len(sizes) - len(axes)]
    rows = g.new_zeros(*kept, math.prod(sizes[len(kept):]))
    rows = rows.scatter(-1, index.reshape(*kept, 1), g.reshape(*kept, 1))
    return rows.reshape(sizes).permute([order.index(k) for k in range(x.dim())])


# The functions with two results: the operators whose results these are like, and the gradients of x
# that belong to either one, of its g, the results r and s, x and the axes.
_pairs: dict[str, Any] = {
    "min_max": (fastreduce.min_max, _MIN, _MAX,
                lambda g, r, s, x, axes: _gradients[_MIN](g, r, x, axes),
                lambda g, r, s, x, axes: _gradients[_MAX](g, s, x, axes)),
    "var_mean": (fastreduce.var_mean, _VAR, _MEAN,
                 lambda g, r, s, x, axes: 2 * g / math.prod(x.shape[k] for k in axes) * (x - s),
                 lambda g, r, s, x, axes: _gradients[_MEAN](g, s, x, axes)),
    "min_with_index": (functools.partial(fastreduce.min, with_index=True), _MIN, _ARGMIN,
                       lambda g, r, s, x, axes: _scattered(g, s, x, axes), None),
    "max_with_index": (functools.partial(fastreduce.max, with_index=True), _MAX, _ARGMAX,
                       lambda g, r, s, x, axes: _scattered(g, s, x, axes), None),
}


def _define(name: str, schema: str, run: Callable[..., Any], fake: Callable[..., Any],
            setup: Callable[..., None], backward: Optional[Callable[..., Any]],
            made: str = "Tensor") -> Any:
    """Defines an operator. Returns it, and what calls it in eager mode, recording a gradient."""
    _library.define(f"{name}({schema}) -> {made}")
    for device in ("CPU", "CUDA"):
        _library.impl(name, run, device)
    torch.library.register_fake(f"fastreduce::{name}", fake, lib=_library)
    recorded: Callable[..., Any] = run
    if backward:
        torch.library.register_autograd(f"fastreduce::{name}", backward, setup_context=setup,
                                        lib=_library)

        def forward(ctx: Any, *inputs: Any) -> Any:  # twice as fast as with setup_context
            output = run(*inputs)
            setup(ctx, inputs, output)
            return output

        recorded = type(name, (torch.autograd.Function,), {
            "forward": staticmethod(forward), "backward": staticmethod(backward)}).apply
    return getattr(torch.ops.fastreduce, name).default, recorded


def _define_function(op: int) -> Any:
    """The operator of one array, by its number."""

    def run(x: Tensor, axis: _Axes = None, keepdims: bool = False, exact: bool = False,
            dtype: Any = None) -> Tensor:
        return _core.reduce_(x, None, axis, keepdims, op, exact, _DTYPES[dtype])

    def fake(x: Tensor, axis: _Axes = None, keepdims: bool = False, exact: bool = False,
             dtype: Any = None) -> Tensor:
        axes = axis if axis is None else tuple(axis)
        made = _core.result_type(_NAMES[x.dtype], op, _DTYPES[dtype])
        return x.new_empty(_core.result_shape(tuple(x.shape), axes, keepdims),
                           dtype=getattr(torch, made))

    def setup(ctx: Any, inputs: Any, output: Tensor) -> None:
        x, axis, ctx.keepdims, *more = inputs
        ctx.axes = _core.axes_of(axis if axis is None else tuple(axis), x.dim())
        ctx.arguments = len(inputs)
        ctx.save_for_backward(x, output)

    def backward(ctx: Any, g: Tensor) -> Any:
        x, r = ctx.saved_tensors
        g, r = (_whole(each, ctx.axes, ctx.keepdims) for each in (g, r))
        return (_gradients[op](g, r, x, ctx.axes), *[None] * (ctx.arguments - 1))

    more = ", bool exact=False, ScalarType? dtype=None" if op in _EXACT else ""
    return _define(_core.OPERATORS[op], "Tensor x, int[]? axis=None, bool keepdims=False" + more,
                   run, fake, setup, backward if op in _gradients else None)


def _pair(name: str, x: Tensor, axis: Any, keepdims: bool, exact: bool,
          out: Any = None) -> tuple[Tensor, Tensor]:
    more = {"exact": exact} if exact else {}
    return _pairs[name][0](x, axis, keepdims=keepdims, out=out, **more)


def _define_pair(name: str) -> Any:
    """The operator of one array with two results."""
    _, *ops, of_first, of_second = _pairs[name]

    def run(x: Tensor, axis: _Axes = None, keepdims: bool = False,
            exact: bool = False) -> tuple[Tensor, Tensor]:
        return tuple(_pair(name, x, axis, keepdims, exact))

    def fake(x: Tensor, axis: _Axes = None, keepdims: bool = False,
             exact: bool = False) -> tuple[Tensor, Tensor]:
        shape = _core.result_shape(tuple(x.shape), axis if axis is None else tuple(axis), keepdims)
        return tuple(x.new_empty(shape, dtype=getattr(torch, _core.result_type(
            _NAMES[x.dtype], op, 0))) for op in ops)

    def setup(ctx: Any, inputs: Any, output: tuple[Tensor, Tensor]) -> None:
        x, axis, ctx.keepdims, *more = inputs
        ctx.axes = _core.axes_of(axis if axis is None else tuple(axis), x.dim())
        ctx.arguments = len(inputs)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(x, *output)

    def backward(ctx: Any, *gs: Optional[Tensor]) -> Any:
        x, *made = ctx.saved_tensors
        made = [_whole(each, ctx.axes, ctx.keepdims) for each in made]
        parts = [gradient(_whole(g, ctx.axes, ctx.keepdims), *made, x, ctx.axes)
                 for g, gradient in zip(gs, (of_first, of_second)) if gradient and g is not None]
        return (functools.reduce(operator.add, parts) if parts else None,
                *[None] * (ctx.arguments - 1))

    more = ", bool exact=False" if name == "var_mean" else ""
    return _define(name, "Tensor x, int[]? axis=None, bool keepdims=False" + more, run, fake, setup,
                   backward, "(Tensor, Tensor)")


def _dot_run(x: Tensor, y: Tensor, exact: bool = False, dtype: Any = None) -> Tensor:
    return _core.dot_(x, y, None, exact, _DTYPES[dtype])


def _dot_fake(x: Tensor, y: Tensor, exact: bool = False, dtype: Any = None) -> Tensor:
    made = _core.result_type(_NAMES[x.dtype], _SUM, _DTYPES[dtype])
    return x.new_empty((), dtype=getattr(torch, made))


def _dot_setup(ctx: Any, inputs: Any, output: Tensor) -> None:
    ctx.save_for_backward(*inputs[:2])


def _dot_backward(ctx: Any, g: Tensor) -> Any:
    x, y = ctx.saved_tensors
    needed = ctx.needs_input_grad
    return g * y if needed[0] else None, g * x if needed[1] else None, None, None


def _vecdot_run(x: Tensor, y: Tensor, axis: _Axes = None, keepdims: bool = False,
                exact: bool = False, dtype: Any = None) -> Tensor:
    return _core.vecdot_(x, y, None, axis, keepdims, exact, _DTYPES[dtype])


def _vecdot_fake(x: Tensor, y: Tensor, axis: _Axes = None, keepdims: bool = False,
                 exact: bool = False, dtype: Any = None) -> Tensor:
    made = _core.result_type(_NAMES[x.dtype], _SUM, _DTYPES[dtype])
    return x.new_empty(_core.result_shape(tuple(x.shape), axis if axis is None else tuple(axis),
                                          keepdims), dtype=getattr(torch, made))


def _vecdot_setup(ctx: Any, inputs: Any, output: Tensor) -> None:
    x, y, axis, ctx.keepdims, *more = inputs
    ctx.axes = _core.axes_of(axis if axis is None else tuple(axis), x.dim())
    ctx.save_for_backward(x, y)


def _vecdot_backward(ctx: Any, g: Tensor) -> Any:
    return (*_dot_backward(ctx, _whole(g, ctx.axes, ctx.keepdims)), None, None)


def _segments_run(x: Tensor, offsets: Tensor, op: str = "sum", ends: Optional[Tensor] = None,
                  exact: bool = False, dtype: Any = None) -> Tensor:
    return _core.segments_(x, offsets, ends, None, _core.operator_number(op), exact,
                           _DTYPES[dtype])


def _segments_fake(x: Tensor, offsets: Tensor, op: str = "sum", ends: Optional[Tensor] = None,
                   exact: bool = False, dtype: Any = None) -> Tensor:
    made = _core.result_type(_NAMES[x.dtype], _core.operator_number(op), _DTYPES[dtype])
    return x.new_empty((offsets.shape[0] - int(ends is None),), dtype=getattr(torch, made))


def _segments_setup(ctx: Any, inputs: Any, output: Tensor) -> None:
    x, offsets, ctx.op, ends, *more = inputs
    ctx.count, ctx.ends = x.shape[0], ends is not None
    ctx.save_for_backward(offsets)
    if ctx.op in ("argmin", "argmax", "argmax_abs", "count_nonzero"):
        ctx.mark_non_differentiable(output)


def _segments_backward(ctx: Any, g: Tensor) -> Any:
    if ctx.op not in ("sum", "mean") or ctx.ends:
        raise NotImplementedError("fastreduce.torch: segments have gradients of sum and mean "
                                  "alone, and without ends")
    offsets, = ctx.saved_tensors
    lengths = offsets.diff()
    torch._assert_async((lengths >= 0).all(), "fastreduce: a gradient needs ascending offsets")
    if ctx.op == "mean":
        g = g / lengths.clamp(min=1)
    elements = torch.arange(ctx.count, dtype=offsets.dtype, device=offsets.device)
    segment = torch.searchsorted(offsets, elements, right=True) - 1
    segment = torch.where(segment < 0, lengths.shape[0], segment)  # none: the zero at the end
    gradient = torch.cat((g, g.new_zeros(1))).index_select(0, segment)
    return gradient, None, None, None, None, None


_functions = {op: _define_function(op) for op in range(15) if op != _MIN_MAX}
_functions_of_two = {name: _define_pair(name) for name in _pairs}
_dot = _define("dot", "Tensor x, Tensor y, bool exact=False, ScalarType? dtype=None", _dot_run,
               _dot_fake, _dot_setup, _dot_backward)
_vecdot = _define("vecdot", "Tensor x, Tensor y, int[]? axis=None, bool keepdims=False, "
                  "bool exact=False, ScalarType? dtype=None", _vecdot_run, _vecdot_fake,
                  _vecdot_setup, _vecdot_backward)
_segments = _define("segments", "Tensor x, Tensor offsets, str op='sum', Tensor? ends=None, "
                    "bool exact=False, ScalarType? dtype=None", _segments_run, _segments_fake,
                    _segments_setup, _segments_backward)

# ---- Functions ----------------------------------------------------------------------------------

_is_compiling, _is_grad_enabled = torch.compiler.is_compiling, torch.is_grad_enabled
_modes, _tracing = torch._C._len_torch_dispatch_stack, torch._C._get_tracing_state
_transforms = torch._C._functorch.maybe_current_level

def _direct(x: Any) -> bool:
    """Whether a call need not go through PyTorch's dispatcher, which takes several microseconds: x
    has memory to read, and no compiler, mode, transform or tracer has to see the call."""
    return (not _is_compiling() and type(x) in (Tensor, torch.nn.Parameter) and not _modes()
            and _transforms() is None and _forward_ad._current_level < 0 and _tracing() is None
            and not x.is_neg() and not x.is_meta)


def _finish(function: Any, direct: bool, arrays: tuple[Any, ...], outs: tuple[Any, ...],
            arguments: tuple[Any, ...]) -> Any:
    """Calls an operator where a gradient is recorded, or a mode, transform or compiler sees it."""
    for x in arrays:
        if not isinstance(x, Tensor):
            raise TypeError(f"fastreduce.torch: {type(x).__name__} is no tensor of PyTorch")
        if _forward_ad._current_level >= 0 and _forward_ad.unpack_dual(x).tangent is not None:
            raise NotImplementedError("fastreduce.torch: there are no forward-mode gradients")
    run, recorded = function
    if all(out is None for out in outs):
        return (recorded if direct else run)(*arguments)
    if _needs_gradient(*arrays, *outs):
        raise RuntimeError("fastreduce.torch: with out there is no gradient, which a tensor needs")
    made = run(*arguments) if len(outs) > 1 else (run(*arguments),)
    for out, one in zip(outs, made):
        if one.shape != out.shape or one.dtype != out.dtype:
            raise ValueError(f"fastreduce.torch: out has to be {one.dtype} of {tuple(one.shape)}")
    for out, one in zip(outs, made):
        out.copy_(one)
    return outs if len(outs) > 1 else outs[0]


def _needs_gradient(x: Tensor, y: Optional[Tensor], z: Optional[Tensor] = None) -> bool:
    return _is_grad_enabled() and (x.requires_grad or (y is not None and y.requires_grad)
                                        or (z is not None and z.requires_grad))


def _written(made: Optional[Tensor], out: Optional[Tensor]) -> Tensor:
    if out is None:
        return made
    torch.autograd.graph.increment_version(out)
    return out


def _dtype(asked: int) -> Optional[torch.dtype]:
    return getattr(torch, _core.TYPES[asked]) if asked else None


def _reduce(op: int, x: Tensor, axis: Any, keepdims: bool, out: Optional[Tensor],
            exact: bool = False, dtype: Any = None) -> Tensor:
    axis = _core.integers(axis)
    asked = 0 if dtype is None else _core.type_number(dtype)
    direct = _direct(x)
    if direct and not _needs_gradient(x, out):
        return _written(_core.reduce_(x, out, axis, keepdims, op, exact, asked), out)
    axes = axis if axis is None else [axis] if type(axis) is int else list(axis)
    more = (exact, _dtype(asked)) if op in _EXACT else ()
    return _finish(_functions[op], direct, (x,), (out,), (x, axes, keepdims, *more))


def _reduce_two(name: str, x: Tensor, axis: Any, keepdims: bool, out: Any,
                exact: bool = False) -> tuple[Tensor, Tensor]:
    axis, outs, direct = _core.integers(axis), _core.pair(out), _direct(x)
    if direct and not _needs_gradient(x, *outs):
        made = _pair(name, x, axis, keepdims, exact, out)
        if out is not None:
            torch.autograd.graph.increment_version(outs)
        return made
    axes = axis if axis is None else [axis] if type(axis) is int else list(axis)
    more = (exact,) if name == "var_mean" else ()
    return _finish(_functions_of_two[name], direct, (x,), outs, (x, axes, keepdims, *more))


def _function(op: int) -> Any:
    if op in _EXACT:
        def function(x: Tensor, axis: Any = None, *, keepdims: bool = False,
                     out: Optional[Tensor] = None, exact: bool = False,
                     dtype: Any = None) -> Tensor:
            return _reduce(op, x, axis, keepdims, out, exact, dtype)
    elif op in (_MIN, _MAX):
        def function(x: Tensor, axis: Any = None, *, keepdims: bool = False, out: Any = None,
                     with_index: bool = False) -> Any:
            if with_index:
                return fastreduce.ValuesAndIndices(
                    *_reduce_two(_core.OPERATORS[op] + "_with_index", x, axis, keepdims, out))
            return _reduce(op, x, axis, keepdims, out)
    elif op == _MIN_MAX:
        def function(x: Tensor, axis: Any = None, *, keepdims: bool = False,
                     out: Any = None) -> tuple[Tensor, Tensor]:
            return _reduce_two("min_max", x, axis, keepdims, out)
    else:
        def function(x: Tensor, axis: Any = None, *, keepdims: bool = False,
                     out: Optional[Tensor] = None) -> Tensor:
            return _reduce(op, x, axis, keepdims, out)
    function.__name__ = function.__qualname__ = _core.OPERATORS[op]
    function.__doc__ = getattr(fastreduce, _core.OPERATORS[op]).__doc__
    return function


sum, prod, min, max, argmin, argmax, sum_abs, sum_squares, max_abs, norm, mean, var, \
    count_nonzero, min_max, argmax_abs = map(_function, range(15))


def var_mean(x: Tensor, axis: Any = None, *, keepdims: bool = False, out: Any = None,
             exact: bool = False) -> tuple[Tensor, Tensor]:
    return _reduce_two("var_mean", x, axis, keepdims, out, exact)


var_mean.__doc__ = fastreduce.var_mean.__doc__


def dot(x: Tensor, y: Tensor, *, out: Optional[Tensor] = None, exact: bool = False,
        dtype: Any = None) -> Tensor:
    """The sum of the products of two tensors of one axis, of one dtype and device; 0 of none."""
    asked = _core.type_number(dtype)
    direct = _direct(x) and _direct(y)
    if direct and not _needs_gradient(x, y, out):
        return _written(_core.dot_(x, y, out, exact, asked), out)
    return _finish(_dot, direct, (x, y), (out,), (x, y, exact, _dtype(asked)))


def vecdot(x: Tensor, y: Tensor, axis: Any = -1, *, keepdims: bool = False,
           out: Optional[Tensor] = None, exact: bool = False, dtype: Any = None) -> Tensor:
    axis, asked = _core.integers(axis), _core.type_number(dtype)
    direct = _direct(x) and _direct(y)
    if direct and not _needs_gradient(x, y, out):
        return _written(_core.vecdot_(x, y, out, axis, keepdims, exact, asked), out)
    axes = axis if axis is None else [axis] if type(axis) is int else list(axis)
    return _finish(_vecdot, direct, (x, y), (out,), (x, y, axes, keepdims, exact, _dtype(asked)))


vecdot.__doc__ = fastreduce.vecdot.__doc__


def segments(x: Tensor, offsets: Tensor, op: str = "sum", *, ends: Optional[Tensor] = None,
             out: Optional[Tensor] = None, exact: bool = False, dtype: Any = None) -> Tensor:
    number, asked = _core.operator_number(op), _core.type_number(dtype)
    direct = _direct(x) and _direct(offsets)
    if direct and not _needs_gradient(x, out):
        return _written(_core.segments_(x, offsets, ends, out, number, exact, asked), out)
    return _finish(_segments, direct, (x, offsets), (out,),
                   (x, offsets, op, ends, exact, _dtype(asked)))


segments.__doc__ = fastreduce.segments.__doc__

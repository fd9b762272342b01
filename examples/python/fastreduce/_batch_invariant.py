"""The mode fastreduce.torch.batch_invariant, and the kernels that it gives to PyTorch's operators.

A kernel has its operator's arguments, dtypes and errors. It runs below autograd, so that nothing
is recorded. What it calls beside FastReduce's reductions are elementwise operators, whose results
do not depend on the shape, either.
"""

from __future__ import annotations

import contextlib
import functools
import math
import threading
import warnings
from typing import Any, Callable, Optional

import torch
from torch import Tensor
from torch._prims_common.wrappers import _maybe_resize_out

import fastreduce

from . import _core

(_SUM, _PROD, _MIN, _MAX, _ARGMIN, _ARGMAX, _SUM_ABS, _SUM_SQUARES, _MAX_ABS, _NORM, _MEAN, _VAR,
 _COUNT_NONZERO) = range(13)

_HALVES = (torch.float16, torch.bfloat16)


def _wide(x: Tensor) -> Tensor:
    """x as PyTorch computes with it: halves as floats."""
    return x.float() if x.dtype in _HALVES else x


def _as(x: Tensor, dtype: torch.dtype) -> Tensor:
    """x with elements whose reduction has the given dtype, or is rounded to it."""
    kept = x.dtype == dtype or (x.dtype in _HALVES and dtype == torch.float32) or (
        dtype == torch.int64 and not x.is_floating_point() and not x.is_complex())
    return x if kept else x.to(dtype)


def _axes_of(x: Tensor, dim: Any) -> list[int]:
    """The reduced axes, from the first on: all, if dim is None or empty."""
    count = x.dim() or 1
    axes = []
    for each in [dim] if isinstance(dim, int) else dim or range(x.dim()):
        if not -count <= each < count:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-count}, "
                             f"{count - 1}], but got {each})")
        axes.append(each % count)
    if len(set(axes)) < len(axes):
        raise RuntimeError(f"a dim appears multiple times in the list of dims {dim}")
    return sorted(axes) if x.dim() else []


def _read(op: int, x: Tensor, dim: Any = None, keepdim: bool = False, pair: Any = None) -> Any:
    """AUTO's reduction of x as it lies, or of a contiguous copy if it cannot be read so; or what a
    function of fastreduce gives that has two results."""
    def run(x: Tensor, axis: Any, keepdim: bool) -> Any:
        if not pair:
            return _core.reduce_(x, None, axis, keepdim, op, False, 0)
        with torch.no_grad():  # autograd is above
            return pair(x, axis, keepdims=keepdim)

    try:
        return run(x, dim if isinstance(dim, int) else tuple(dim) if dim else None, keepdim)
    except TypeError as error:
        raise NotImplementedError(f"batch_invariant(): {error}") from None
    except ValueError:
        axes = _axes_of(x, dim)
        if op in _core.EXTREMES and not all(x.shape[k] for k in axes):
            kind = RuntimeError if dim is None and op <= _MAX else IndexError
            raise kind(f"{_core.OPERATORS[op]}(): Expected reduction dim to have non-zero size."
                       ) from None
        kept = [k for k in range(x.dim()) if k not in axes]
        moved = x.permute(kept + axes).contiguous()
        made = run(moved, tuple(range(len(kept), x.dim())), False)
        shape = _core.result_shape(x.shape, tuple(axes), keepdim)
        return tuple(each.reshape(shape) for each in made) if pair else made.reshape(shape)


def _sum(x: Tensor, dim: Any = None, keepdim: bool = False, *,
         dtype: Optional[torch.dtype] = None, op: int = _SUM) -> Tensor:
    if dtype is None:
        dtype = x.dtype if x.is_floating_point() or x.is_complex() else torch.int64
    return _read(op, _as(x, dtype), dim, keepdim).to(dtype)


def _prod(x: Tensor, dim: Any = None, keepdim: bool = False, *,
          dtype: Optional[torch.dtype] = None) -> Tensor:
    return _sum(x, dim, keepdim, dtype=dtype, op=_PROD)


def _prod_all(x: Tensor, *, dtype: Optional[torch.dtype] = None) -> Tensor:
    return _prod(x, dtype=dtype)


def _mean(x: Tensor, dim: Any = None, keepdim: bool = False, *,
          dtype: Optional[torch.dtype] = None) -> Tensor:
    dtype = dtype or x.dtype
    if not dtype.is_floating_point and not dtype.is_complex:
        raise RuntimeError("mean(): could not infer output dtype. Input dtype must be either a "
                           f"floating point or complex dtype. Got: {dtype}")
    return _read(_MEAN, _as(x, dtype), dim, keepdim).to(dtype)


def _extreme(op: int) -> Callable[..., Tensor]:
    return lambda x, dim=None, keepdim=False: _read(op, x, dim, keepdim)


def _extreme_at(op: int, pair: Any) -> Callable[..., tuple[Tensor, Tensor]]:
    pair = functools.partial(pair, with_index=True)
    return lambda x, dim, keepdim=False: _read(op, x, dim, keepdim, pair)


def _spread(mean_too: bool, root: bool) -> Callable[..., Any]:
    """The kernel of var and std, and of these with the mean."""

    def run(x: Tensor, dim: Any = None, *, correction: Any = None, keepdim: bool = False) -> Any:
        if not x.is_floating_point() and not x.is_complex():
            raise RuntimeError("std and var only support floating point and complex dtypes")
        n = math.prod(x.shape[k] for k in _axes_of(x, dim))
        left = n - (1 if correction is None else correction)
        made = _read(_VAR, x, dim, keepdim, fastreduce.var_mean if mean_too else None)
        if mean_too:
            made, average = made
        if left != n:
            made = made * (n / left if left > 0 else math.inf)
        made = (made.sqrt() if root else made).to(x.dtype)
        return (made, average.to(x.dtype)) if mean_too else made
    return run


def _vector_norm(x: Tensor, ord: Any = 2, dim: Any = None, keepdim: bool = False, *,
                 dtype: Optional[torch.dtype] = None) -> Tensor:
    dtype = dtype or x.dtype
    if not dtype.is_floating_point and not dtype.is_complex:
        raise RuntimeError("linalg.vector_norm: Expected a floating point or complex tensor as "
                           f"input. Got {dtype}")
    if torch.promote_types(x.dtype, dtype) != dtype:
        raise RuntimeError(f"linalg.vector_norm: the dtype of the input ({x.dtype}) should be "
                           f"convertible without narrowing to the specified dtype ({dtype})")
    x = _as(x, dtype)
    if ord < 0 or ord == math.inf:
        if not all(x.shape[k] for k in _axes_of(x, dim)):
            raise RuntimeError(f"linalg.vector_norm cannot compute the {ord} norm on an empty "
                               "tensor because the operation does not have an identity")
    if ord == -math.inf:
        return _read(_MIN, x.abs(), dim, keepdim).to(dtype)
    known = {0: _COUNT_NONZERO, 1: _SUM_ABS, 2: _NORM, math.inf: _MAX_ABS}
    if ord in known:
        return _read(known[ord], x, dim, keepdim).to(dtype)
    return _read(_SUM, _wide(x).abs().pow(ord), dim, keepdim).pow(1 / ord).to(dtype)


def _softmax(logarithm: bool) -> Callable[..., Tensor]:
    def run(x: Tensor, dim: int, half_to_float: bool) -> Tensor:
        dtype = torch.float32 if half_to_float else x.dtype
        _axes_of(x, dim)
        if not x.numel():
            return torch.empty_like(x, dtype=dtype)
        shifted = _wide(x) - _read(_MAX, x, dim, True)
        powers = shifted.exp()
        total = _read(_SUM, powers, dim, True)
        return (shifted - total.log() if logarithm else powers / total).to(dtype)
    return run


def _softmax_gradient(logarithm: bool) -> Callable[..., Tensor]:
    def run(g: Tensor, y: Tensor, dim: int, input_dtype: torch.dtype) -> Tensor:
        if not g.numel():
            return torch.empty_like(g, dtype=input_dtype)
        g, y = _wide(g), _wide(y)
        if logarithm:
            return (g - y.exp() * _read(_SUM, g, dim, True)).to(input_dtype)
        return (y * (g - _read(_SUM, y * g, dim, True))).to(input_dtype)
    return run


def _last_axes(x: Tensor, shape: Any) -> range:
    if not len(shape) or tuple(x.shape[-len(shape):]) != tuple(shape):
        raise RuntimeError(f"Given normalized_shape={list(shape)}, expected input with shape "
                           f"[*, that], but got input of size {list(x.shape)}")
    return range(x.dim() - len(shape), x.dim())


def _layer_norm(x: Tensor, shape: Any, weight: Optional[Tensor], bias: Optional[Tensor],
                eps: float) -> tuple[Tensor, Tensor, Tensor]:
    axes = _last_axes(x, shape)
    variance, average = _read(_VAR, x, axes, True, fastreduce.var_mean)
    scale = (variance + eps).rsqrt()
    y = (_wide(x) - average) * scale
    y = y if weight is None else y * weight
    return (y if bias is None else y + bias).to(x.dtype), average, scale


def _rms_norm(x: Tensor, shape: Any, weight: Optional[Tensor],
              eps: Optional[float]) -> tuple[Tensor, Tensor]:
    axes = _last_axes(x, shape)
    squares = _read(_SUM_SQUARES, x, axes, True) / math.prod(shape)
    scale = (squares + (torch.finfo(squares.dtype).eps if eps is None else eps)).rsqrt()
    y = _wide(x) * scale
    return (y if weight is None else y * weight).to(x.dtype), scale


def _norm_gradient(g: Tensor, x: Tensor, shape: Any, average: Optional[Tensor], scale: Tensor,
                   weight: Optional[Tensor], mask: Any) -> list[Optional[Tensor]]:
    """The gradients of x, weight and bias of a layer_norm, or of an rms_norm without average."""
    first = x.dim() - len(shape)
    axes, rows = range(first, x.dim()), list(range(first))
    g = _wide(g)
    y = (_wide(x) if average is None else _wide(x) - average) * scale
    made: list[Optional[Tensor]] = [None] * 3
    if mask[0]:
        inner = g if weight is None else g * _wide(weight)
        inner_y = y * _read(_MEAN, inner * y, axes, True)
        if average is not None:
            inner_y = inner_y + _read(_MEAN, inner, axes, True)
        made[0] = ((inner - inner_y) * scale).to(x.dtype)
    for k, each in ((1, lambda: g * y), (2, lambda: g)):
        if len(mask) > k and mask[k]:
            made[k] = (_read(_SUM, each(), rows) if rows else each()).to(
                x.dtype if weight is None else weight.dtype)
    return made


def _refuse(x: Tensor, *arguments: Any, **more: Any) -> Tensor:
    raise NotImplementedError("batch_invariant(): there is no nansum yet; replace NaN by 0 first, "
                              "and use sum")


def _all_norms(arrays: list[Tensor], ord: Any = 2,
               dtype: Optional[torch.dtype] = None) -> list[Tensor]:
    return [_vector_norm(x, ord, dtype=dtype) for x in arrays]


def _rms_norm_gradient(g: Tensor, x: Tensor, shape: Any, scale: Tensor, weight: Optional[Tensor],
                       mask: Any) -> tuple[Optional[Tensor], ...]:
    return tuple(_norm_gradient(g, x, shape, None, scale, weight, mask)[:2])


def _layer_norm_gradient(g: Tensor, x: Tensor, shape: Any, average: Tensor, scale: Tensor,
                         weight: Optional[Tensor], bias: Optional[Tensor],
                         mask: Any) -> tuple[Optional[Tensor], ...]:
    return tuple(_norm_gradient(g, x, shape, average, scale, weight, mask))


_KERNELS: dict[str, Callable[..., Any]] = {
    "sum.dim_IntList": _sum, "sum.IntList_out": _sum,
    "prod": _prod_all, "prod.dim_int": _prod, "prod.int_out": _prod,
    "mean.dim": _mean, "mean.out": _mean,
    "nansum": _refuse, "nansum.out": _refuse,
    "amin": _extreme(_MIN), "amin.out": _extreme(_MIN),
    "amax": _extreme(_MAX), "amax.out": _extreme(_MAX),
    "min": _extreme(_MIN), "min.unary_out": _extreme(_MIN),
    "max": _extreme(_MAX), "max.unary_out": _extreme(_MAX),
    "argmin": _extreme(_ARGMIN), "argmin.out": _extreme(_ARGMIN),
    "argmax": _extreme(_ARGMAX), "argmax.out": _extreme(_ARGMAX),
    "min.dim": _extreme_at(_MIN, fastreduce.min),
    "min.dim_min": _extreme_at(_MIN, fastreduce.min),
    "max.dim": _extreme_at(_MAX, fastreduce.max),
    "max.dim_max": _extreme_at(_MAX, fastreduce.max),
    "var.correction": _spread(False, False), "var.correction_out": _spread(False, False),
    "std.correction": _spread(False, True), "std.correction_out": _spread(False, True),
    "var_mean.correction": _spread(True, False), "std_mean.correction": _spread(True, True),
    "linalg_vector_norm": _vector_norm, "linalg_vector_norm.out": _vector_norm,
    "_foreach_norm.Scalar": _all_norms,
    "_softmax": _softmax(False), "_softmax.out": _softmax(False),
    "_log_softmax": _softmax(True), "_log_softmax.out": _softmax(True),
    "_softmax_backward_data": _softmax_gradient(False),
    "_softmax_backward_data.out": _softmax_gradient(False),
    "_log_softmax_backward_data": _softmax_gradient(True),
    "_log_softmax_backward_data.out": _softmax_gradient(True),
    "native_layer_norm": _layer_norm, "native_layer_norm_backward": _layer_norm_gradient,
    "_fused_rms_norm": _rms_norm, "_fused_rms_norm_backward": _rms_norm_gradient,
}


def _kernel(name: str) -> Callable[..., Any]:
    """The kernel of an operator, which for an operator with outputs writes these."""
    run = _KERNELS[name]
    packet, _, overload = name.partition(".")
    arguments = getattr(getattr(torch.ops.aten, packet), overload or "default")._schema.arguments
    outputs = [each.name for each in arguments if each.alias_info and each.alias_info.is_write]
    typed = any(each.name == "dtype" for each in arguments)

    def write(*given: Any, **more: Any) -> Any:
        outs = tuple(more.pop(each) for each in outputs)
        if typed and more.get("dtype") is None:
            more["dtype"] = outs[0].dtype
        made = run(*given, **more)
        for out, each in zip(outs, made if len(outs) > 1 else (made,)):
            if out.device != each.device:
                raise RuntimeError(f"Expected out tensor to have device {each.device}, but got "
                                   f"{out.device} instead")
            if out.dtype != each.dtype:
                raise RuntimeError(f"Expected out tensor to have dtype {each.dtype}, but got "
                                   f"{out.dtype} instead")
            _maybe_resize_out(out, each.shape).copy_(each)
        return outs if len(outs) > 1 else outs[0]
    return write if outputs else run


class batch_invariant(contextlib.ContextDecorator):
    """A context manager, and a decorator, in which PyTorch's reductions on NVIDIA GPUs are ours.

    A row then has the same bits alone and in any batch, on any GPU, forward and backward, and they
    are those of the function of fastreduce: the pairwise sum by index.

        with fastreduce.torch.batch_invariant():
            loss = model(x).sum()
            loss.backward()

    Replaced, whoever calls them, with their arguments, dtypes and errors:

    - sum, prod, mean, amin, amax, min, max, argmin, argmax, var, std, var_mean, std_mean,
      linalg.vector_norm, norm, clip_grad_norm_, and what PyTorch computes with these: logsumexp,
      mse_loss, l1_loss, normalize, sums over broadcast axes in backward, and so on;
    - softmax, log_softmax, layer_norm and rms_norm, forward and backward.

    16-bit floats are added as floats, and the result is rounded once; so are exponentials and
    quotients of softmax. Variances with a correction are the one without, times n / (n -
    correction). A mean in var_mean, std_mean and layer_norm is fastreduce.var_mean's. Where axes
    cannot be read as they lie there is a contiguous copy.

    Not covered: matrix products (mm, linear, dot, einsum), convolutions, attention kernels
    (scaled_dot_product_attention but for its "math" backend's softmax), cumulative sums,
    batch_norm, group_norm, nll_loss and cross_entropy beyond their log_softmax, ctc_loss, cdist,
    weight_norm, embedding_bag, the backward of prod, and atomic additions: scatter_add, index_add,
    index_put with accumulate, the backward of embedding and of indexing (for these
    torch.use_deterministic_algorithms). Whatever does not depend on order is PyTorch's: aminmax,
    count_nonzero, any, all, median, sorting.

    NotImplementedError: complex numbers, other dtypes that FastReduce does not have, and nansum.

    torch.compile: compiled functions run in eager mode inside, as Inductor writes reductions of its
    own. The mode cannot be entered in a compiled function (RuntimeError), but one that it decorates
    can be called there. CUDA graphs are captured inside, and keep the kernels. autocast,
    inference_mode, no_grad and torch.func work as ever.

    Threads: PyTorch's table of operators is the process's, so that inside, reductions of all
    threads are replaced, autograd's among them. It may be entered by several threads and again by
    one; the last to leave restores the table. PyTorch does not lock the table against calls: let
    no other thread call a reduction just when the first enters, or the last leaves.
    """

    # Why kernels for the key CUDA and no TorchDispatchMode. Operators of PyTorch call others below
    # the level where a mode sees calls, as logsumexp and mse_loss call sum: a mode would miss them,
    # silently. And a mode takes several microseconds of Python for every operator, matrix products
    # included; these kernels cost other operators nothing. A mode's one advantage is that it is the
    # thread's own, which backward's threads would have to get passed on.

    _lock = threading.Lock()
    _entered: dict[str, list[Any]] = {}  # for each dispatch key: how often, and what to undo

    def __init__(self, *, _device: str = "cuda") -> None:
        self._key = _device.upper()

    def __call__(self, function: Any) -> Any:
        return torch.compiler.disable(super().__call__(function))

    def __enter__(self) -> batch_invariant:
        if torch.compiler.is_compiling() or torch._C._dynamo.eval_frame.get_eval_frame_callback():
            raise RuntimeError("batch_invariant() cannot be entered in a compiled function: enter "
                               "it outside, or decorate a function with it")
        with self._lock:
            if self._key not in self._entered:
                self._entered[self._key] = [0, self._replace()]
            self._entered[self._key][0] += 1
        return self

    def __exit__(self, *exception: Any) -> None:
        with self._lock:
            state = self._entered[self._key]
            state[0] -= 1
            if not state[0]:
                del self._entered[self._key]
                state[1].close()

    def _replace(self) -> contextlib.ExitStack:
        with contextlib.ExitStack() as undo, warnings.catch_warnings():
            warnings.filterwarnings("ignore", "(?s).*Overriding a previously registered kernel")
            undo.enter_context(torch.compiler.set_stance("force_eager"))
            library = torch.library.Library("aten", "IMPL")
            undo.callback(library._destroy)
            for name in _KERNELS:
                if self._key == "CUDA" or "rms_norm" not in name:  # elsewhere made of others
                    library.impl(name, _kernel(name), self._key, allow_override=True)
            return undo.pop_all()

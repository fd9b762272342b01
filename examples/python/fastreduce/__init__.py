"""Reductions whose bits are always the same, of NumPy, PyTorch, CuPy and JAX arrays.

By default a result is AUTO's: the pairwise sum by index. It does not depend on the GPU, on the
rows beside it, or on the run, and the CPU gives the same bits. With ``exact=True`` sums, means,
norms and variances of floats are exact and rounded once, whatever the order of the elements.

An array is on the CPU or on an NVIDIA GPU; the result is an array of the same library there. On a
GPU a call goes to the library's current stream and returns at once; the first one on a stream
allocates a workspace of 1 MiB. Nothing is copied: an array is read where it is, through its
strides, or refused. What the functions take:

x
    The array: float16, bfloat16, float32, float64, (u)int8 to (u)int64, or bool, which counts as
    uint8. NumPy, PyTorch, CuPy and JAX arrays, and any other that speaks DLPack if `out` is given.
axis
    None for all axes, an int, or a tuple of ints. Negative ones count from the end.
keepdims
    Whether reduced axes stay, with one element.
out
    None, or an array for the result, of its shape and dtype, without gaps, on the same device. The
    function returns it. Functions with two results take and return a pair. Arrays of JAX cannot be
    written, so they take none.
exact
    Whether the result is the exact one, rounded once: of float16, bfloat16, float32 and float64.
dtype
    None for the dtype in the table; with ``exact=True`` also "float64". Where x is of 16-bit floats
    and the table says float32, also the dtype of x, to which the result is rounded.

    ==========================  ================  =======  ======================
    function                    16 bits, float32  float64  integers
    ==========================  ================  =======  ======================
    sum, prod, dot, vecdot      float32           float64  (u)int64, modulo 2**64
    sum_abs, sum_squares        float32           float64  uint64, modulo 2**64
    mean, var, var_mean, norm   float32           float64  float64
    min, max, min_max           that of x         float64  that of x
    max_abs                     that of x         float64  the unsigned dtype
    argmin, argmax, argmax_abs  int64             int64    int64
    count_nonzero               uint64            uint64   uint64
    ==========================  ================  =======  ======================

nansum, nanmean and the like leave out NaNs; their dtypes are those of sum, mean and so on, and that
of index_sum is sum's.

TypeError: a dtype that is not taken, or no array. ValueError: axes, shapes, strides or devices that
do not fit; extremes of no elements, or their indices. RuntimeError: what CUDA reports. Where a call
is refused `out` is as it was. All functions may be called by several threads at once.
"""

from __future__ import annotations

from builtins import max as _max
from collections import namedtuple as _namedtuple
from typing import Any, Optional, Union

from . import _core
from ._accumulator import Accumulator
from ._core import __version__, show_config

_compiled, _direct = _core.reduce_, _core.direct
Axis = Optional[Union[int, "tuple[int, ...]"]]
ValuesAndIndices = _namedtuple("ValuesAndIndices", "values indices")


def _reduce(x: Any, axis: Axis, keepdims: bool, out: Any, exact: bool, dtype: Any, op: int) -> Any:
    if type(x) in _direct and type(axis) is int and dtype is None and not x.requires_grad:
        made = _compiled(x, out, axis, keepdims, op, exact, 0)  # the shortest way: PyTorch's rows
        return made if out is None else out
    asked = 0 if dtype is None else _core.type_number(dtype)
    axis = _core.integers(axis)
    return _core.call(_core.reduce_, (x,), (out,), lambda: [
        (_core.result_shape(x.shape, axis, keepdims),
         _core.result_type(str(x.dtype), op % 32, asked))], (axis, keepdims, op, exact, asked))


def _reduce_two(x: Any, axis: Axis, keepdims: bool, outs: tuple[Any, Any], exact: bool, op: int,
                other: int) -> tuple[Any, Any]:
    """The result of an operator and the second one, which is of the dtype of another operator's."""
    axis = _core.integers(axis)

    def results() -> list[tuple[tuple[int, ...], str]]:
        shape, dtype = _core.result_shape(x.shape, axis, keepdims), str(x.dtype).rpartition(".")[2]
        return [(shape, _core.result_type(dtype, one, 0)) for one in (op, other)]

    return _core.call(_core.reduce_two, (x,), outs, results, (axis, keepdims, op, exact, 0))


def _with_index(x: Any, axis: Axis, keepdims: bool, out: Any, op: int) -> ValuesAndIndices:
    indices, values = _reduce_two(x, axis, keepdims, _core.pair(out)[::-1], False, op + 2, op)
    return ValuesAndIndices(values, indices)


def sum(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None,
        exact: bool = False, dtype: Any = None) -> Any:
    """The sum of the elements; 0 of none."""
    return _reduce(x, axis, keepdims, out, exact, dtype, 0)


def prod(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None) -> Any:
    """The product of the elements; 1 of none."""
    return _reduce(x, axis, keepdims, out, False, None, 1)


def min(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None,
        with_index: bool = False) -> Any:
    """The least element; NaN if one is NaN. -0 is less than +0.

    With `with_index` it is a named tuple (values, indices), of one reading: the indices are those
    of argmin, to which -0 and +0 are equal, and the values are the elements there.
    """
    if with_index:
        return _with_index(x, axis, keepdims, out, 2)
    return _reduce(x, axis, keepdims, out, False, None, 2)


def max(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None,
        with_index: bool = False) -> Any:
    """The greatest element; NaN if one is NaN. +0 is greater than -0.

    With `with_index` it is a named tuple (values, indices), of one reading: the indices are those
    of argmax, to which -0 and +0 are equal, and the values are the elements there.
    """
    if with_index:
        return _with_index(x, axis, keepdims, out, 3)
    return _reduce(x, axis, keepdims, out, False, None, 3)


def argmin(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None) -> Any:
    """The index of the least element along the axes, the first of several; a NaN is less."""
    return _reduce(x, axis, keepdims, out, False, None, 4)


def argmax(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None) -> Any:
    """The index of the greatest element, the first of several; a NaN is greater."""
    return _reduce(x, axis, keepdims, out, False, None, 5)


def argmax_abs(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None) -> Any:
    """The index of the greatest magnitude, the first of several; a NaN's is greater."""
    return _reduce(x, axis, keepdims, out, False, None, 14)


def min_max(x: Any, axis: Axis = None, *, keepdims: bool = False,
            out: Any = None) -> tuple[Any, Any]:
    """The pair of min and max, of one reading of the elements; NaN if one is NaN."""
    return _reduce_two(x, axis, keepdims, _core.pair(out), False, 13, 3)


def sum_abs(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None,
            exact: bool = False, dtype: Any = None) -> Any:
    """The sum of the magnitudes (the 1-norm); 0 of no elements."""
    return _reduce(x, axis, keepdims, out, exact, dtype, 6)


def sum_squares(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None,
                exact: bool = False, dtype: Any = None) -> Any:
    """The sum of the squares; 0 of no elements."""
    return _reduce(x, axis, keepdims, out, exact, dtype, 7)


def max_abs(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None) -> Any:
    """The greatest magnitude (the infinity norm); 0 of no elements, NaN if one is NaN."""
    return _reduce(x, axis, keepdims, out, False, None, 8)


def norm(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None,
         exact: bool = False, dtype: Any = None) -> Any:
    """The root of the sum of the squares (the 2-norm), which does not overflow on the way."""
    return _reduce(x, axis, keepdims, out, exact, dtype, 9)


def mean(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None,
         exact: bool = False, dtype: Any = None) -> Any:
    """The arithmetic mean; NaN of no elements."""
    return _reduce(x, axis, keepdims, out, exact, dtype, 10)


def var(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None,
        exact: bool = False, dtype: Any = None) -> Any:
    """The mean square of the distance from the mean (``correction=0``); NaN of no elements."""
    return _reduce(x, axis, keepdims, out, exact, dtype, 11)


def var_mean(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None,
             exact: bool = False) -> tuple[Any, Any]:
    """The pair of var and a mean, of one reading of the elements.

    The mean is the one beside a variance in fastreduce.h, whose last bits may differ from those of
    `mean`, and which is NaN if an element is infinite. With `exact` the two means are the same.
    """
    return _reduce_two(x, axis, keepdims, _core.pair(out), exact, 11, 10)


def count_nonzero(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None) -> Any:
    """How many elements are not zero; NaN is not zero."""
    return _reduce(x, axis, keepdims, out, False, None, 12)


def nansum(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None,
           exact: bool = False, dtype: Any = None) -> Any:
    """The sum of the elements that are not NaN; 0 of none."""
    return _reduce(x, axis, keepdims, out, exact, dtype, 32 + 0)


def nanprod(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None) -> Any:
    """The product of the elements that are not NaN; 1 of none."""
    return _reduce(x, axis, keepdims, out, False, None, 32 + 1)


def nanmin(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None) -> Any:
    """The least element that is not NaN; infinity if all are."""
    return _reduce(x, axis, keepdims, out, False, None, 32 + 2)


def nanmax(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None) -> Any:
    """The greatest element that is not NaN; -infinity if all are."""
    return _reduce(x, axis, keepdims, out, False, None, 32 + 3)


def nanargmin(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None) -> Any:
    """The index of the least element that is not NaN, the first of several; -1 if all are."""
    return _reduce(x, axis, keepdims, out, False, None, 32 + 4)


def nanargmax(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None) -> Any:
    """The index of the greatest element that is not NaN, the first of several; -1 if all are."""
    return _reduce(x, axis, keepdims, out, False, None, 32 + 5)


def nanmean(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None,
            exact: bool = False, dtype: Any = None) -> Any:
    """The mean of the elements that are not NaN; NaN of none."""
    return _reduce(x, axis, keepdims, out, exact, dtype, 32 + 10)


def nanvar(x: Any, axis: Axis = None, *, keepdims: bool = False, out: Any = None,
           exact: bool = False, dtype: Any = None) -> Any:
    """The variance (``correction=0``) of the elements that are not NaN; NaN of none."""
    return _reduce(x, axis, keepdims, out, exact, dtype, 32 + 11)


def dot(x: Any, y: Any, *, out: Any = None, exact: bool = False, dtype: Any = None) -> Any:
    """The sum of the products of two arrays of one axis, of one dtype and device; 0 of none."""
    asked = _core.type_number(dtype)
    return _core.call(_core.dot_, (x, y), (out,),
                      lambda: [((), _core.result_type(str(x.dtype), 0, asked))], (exact, asked))


def vecdot(x: Any, y: Any, axis: Axis = -1, *, keepdims: bool = False, out: Any = None,
           exact: bool = False, dtype: Any = None) -> Any:
    """The dot products along the axes of two arrays of one shape, dtype and device; 0 of none.

    The arrays have the same strides. They are not broadcast. Each result has the bits of `dot`.
    """
    axis, asked = _core.integers(axis), _core.type_number(dtype)
    return _core.call(_core.vecdot_, (x, y), (out,), lambda: [
        (_core.result_shape(x.shape, axis, keepdims), _core.result_type(str(x.dtype), 0, asked))],
        (axis, keepdims, exact, asked))


def fold(arrays: Any, op: str = "sum", *, out: Any = None) -> Any:
    """Reduces 1 to 64 arrays element by element: after a gather, an all-reduce with the same bits.

    arrays are a list or a tuple, of one shape, dtype and device, without gaps. op is sum, min, max
    or mean. Element i of the result has the bits of that function of the elements i. `out` may be
    one of the arrays if it is of the dtype of the result. Arrays of JAX are refused (TypeError).
    """
    if op not in ("sum", "min", "max", "mean"):
        raise ValueError(f"fastreduce: op of a fold is {op!r}, and not sum, min, max or mean")
    if not isinstance(arrays, (tuple, list)) or not arrays:
        raise TypeError("fastreduce: a fold takes a list of arrays, which is not empty")
    number = _core.OPERATORS.index(op)

    def function(x: Any, *given: Any) -> Any:
        count = len(arrays) - 1
        return _core.fold_(x, given[:count], *given[count:])

    return _core.call(function, tuple(arrays), (out,), lambda: [
        (arrays[0].shape, _core.result_type(str(arrays[0].dtype), number, 0))], (number,))


def segments(x: Any, offsets: Any, op: str = "sum", *, ends: Any = None, out: Any = None,
             exact: bool = False, dtype: Any = None) -> Any:
    """Reduces segments of an array of one axis: segment s is x[offsets[s]:offsets[s + 1]].

    offsets, of int32 or int64 on the device of x, hold one number more than there are segments.
    With `ends`, as many as offsets and of their dtype, segment s is x[offsets[s]:ends[s]]: then
    segments may overlap, leave gaps, and come in any order. A segment that ends before it begins
    is empty, and has the result of no elements: of extremes and their indices what fastreduce.h
    says. On a GPU offsets are read when the kernel runs, so one outside of x is not noticed.

    op is the name of a function of one array and one result.
    """
    number, asked = _core.operator_number(op), _core.type_number(dtype)
    return _core.call(_core.segments_, (x, offsets, ends), (out,), lambda: [
        ((_max(offsets.shape[0] - (ends is None), 0),),
         _core.result_type(str(x.dtype), number, asked))], (number, exact, asked))


def index_sum(x: Any, index: Any, size: int, *, out: Any = None, dtype: Any = None) -> Any:
    """The sums of elements by index: result b is that of all x[i] whose index[i] is b; 0 of none.

    x and index, of int32 or int64, have one axis and one length; an element whose index is not in
    range(size) is left out. Sums of floats are exact and rounded once. So they do not depend on
    the order of the elements, as those of atomics do. On a GPU each call allocates a workspace, of
    192 bytes for each sum of float32.
    """
    asked = _core.type_number(dtype)
    return _core.call(_core.by_index_, (index, x), (out,), lambda: [
        ((size,), _core.result_type(str(x.dtype), 0, asked))], (size, asked))


def bincount(index: Any, weights: Any = None, minlength: int = 0, *, out: Any = None) -> Any:
    """How often each number occurs in an index, as uint64; or by `weights` their exact sums.

    index is as for index_sum, but without negative numbers (ValueError). There are as many results
    as its greatest number says, and at least `minlength`: to find that, the call waits for a GPU.
    """
    size = minlength
    if index.shape[0]:
        least, greatest = map(int, min_max(index))
        size = _max(size, greatest + 1)
        if least < 0:
            raise ValueError("fastreduce: an index is negative")
    if weights is not None:
        return index_sum(weights, index, size, out=out)
    return _core.call(_core.by_index_, (index, None), (out,), lambda: [((size,), "uint64")],
                      (size, 0))

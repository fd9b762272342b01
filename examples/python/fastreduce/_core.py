"""The compiled functions, and what calls them for each library of arrays."""

from __future__ import annotations

import ctypes
import functools
import sys
from operator import index
from pathlib import Path
from typing import Any

import tvm_ffi

from ._build import BUILT  # written by the build: what the library holds

__version__ = "0.8.0"

_path = str(next(Path(__file__).parent.glob("_binding.*")))
_library = tvm_ffi.load_module(_path)
reduce_ = _library["reduce"]
reduce_two = _library["reduce_two"]  # with an array for second results
dot_ = _library["dot"]
vecdot_ = _library["vecdot"]
fold_ = _library["fold"]
segments_ = _library["segments"]
by_index_ = _library["by_index"]
functions = ctypes.CDLL(_path)  # those of fastreduce.h
functions.fastreduce_status_string.restype = ctypes.c_char_p

# numbers of fastreduce.h
TYPES = ("", "float32", "float64", "float16", "bfloat16", "int8", "int16", "int32", "int64",
         "uint8", "uint16", "uint32", "uint64")
OPERATORS = ("sum", "prod", "min", "max", "argmin", "argmax", "sum_abs", "sum_squares", "max_abs",
             "norm", "mean", "var", "count_nonzero", "min_max", "argmax_abs")
EXTREMES = (2, 3, 4, 5, 13, 14)  # operators that refuse no elements


def operator_number(name: str) -> int:
    """The number of a function of one array and one result."""
    if name not in OPERATORS or name == "min_max":
        raise ValueError(f"fastreduce: op is {name!r}, and no function of one array and one result")
    return OPERATORS.index(name)


def integers(axis: Any) -> Any:
    """None, an int, or a tuple of ints."""
    if axis is None or type(axis) is int:
        return axis
    return tuple(map(index, axis)) if isinstance(axis, (tuple, list)) else index(axis)


def pair(out: Any) -> tuple[Any, Any]:
    """The arrays for two results: those of `out`, or None and None."""
    if out is None:
        return None, None
    if not isinstance(out, (tuple, list)) or len(out) != 2 or out[0] is None or out[1] is None:
        raise TypeError("fastreduce: out has to be None or a pair of arrays")
    return tuple(out)


def type_number(dtype: Any) -> int:
    """The number of a dtype of any library, or of its name; 0 for None."""
    if dtype is None:
        return 0
    name = dtype if isinstance(dtype, str) else (
        getattr(dtype, "name", None) or getattr(dtype, "__name__", None)
        or str(dtype).rpartition(".")[2])
    if name not in TYPES[1:]:
        raise TypeError(f"fastreduce: there are no results of dtype {dtype!r}")
    return TYPES.index(name)


@functools.lru_cache(None)
def result_type(x: str, op: int, asked: int) -> str:
    """The dtype of the result of an operator on dtype x; x itself if a call will refuse it."""
    if asked:
        return TYPES[asked]
    if op in (2, 3, 13):
        return x  # of bools, a bool
    x = "uint8" if x == "bool" else x
    return TYPES[functions.fastreduce_output_type(TYPES.index(x), op)] if x in TYPES else x


def axes_of(axis: Any, count: int) -> list[int]:
    """The axes that are reduced, from the first on, of an array of `count` axes."""
    given = range(count) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = sorted(one + count if one < 0 else one for one in given)
    if axes and not 0 <= axes[0] <= axes[-1] < count:
        raise ValueError(f"fastreduce: axis {axis} is out of bounds of {count} axes")
    if len(set(axes)) < len(axes):
        raise ValueError(f"fastreduce: an axis occurs twice in {axis}")
    return axes


def result_shape(shape: tuple[int, ...], axis: Any, keepdims: bool) -> tuple[int, ...]:
    """The shape of the result."""
    axes = axes_of(axis, len(shape))
    return tuple(1 if k in axes else size for k, size in enumerate(shape)
                 if keepdims or k not in axes)


def show_config() -> dict[str, Any]:
    """What was compiled into this package.

    Returns a dict: "version"; "cuda", the version of nvcc, or None where there are functions of the
    CPU alone; "architectures" of GPUs, compiled for; "gpu", for each dtype the functions that it
    has on a GPU, with "exact " before those that take ``exact=True``.
    """
    gpu = {}
    for number, name in enumerate(TYPES[1:] if BUILT["cuda"] else (), 1):
        kernels = ("", 0), ("exact ", 9)  # of fastreduce_kernel
        found = [exact + function for exact, kernel in kernels
                 for op, function in enumerate(OPERATORS)
                 if functions.fastreduce_supports_shapes(number, op, kernel)]
        found += [exact + "dot" for exact, kernel in kernels
                  if functions.fastreduce_supports_dot(number, kernel)]
        if found:
            gpu[name] = found
    return {"version": __version__, **BUILT, "gpu": gpu}


# ---- Calls, by the library of the arrays --------------------------------------------------------


def call(function: Any, arrays: tuple[Any, ...], outs: tuple[Any, ...], results: Any,
         arguments: tuple[Any, ...]) -> Any:
    """Calls function(*arrays, *outputs, *arguments), and returns its output, or both in a tuple.

    The outputs are `outs`, or for each that is None an array of the library of the first of
    `arrays`. `results()` has for each its shape and the name of its dtype.
    """
    adapter = _adapters.get(type(arrays[0])) or _adapter(arrays[0])
    made = adapter(function, arrays, outs, results, arguments)
    return made[0] if len(outs) == 1 else tuple(made)


def check_gradient(x: Any) -> None:
    """Refuses a tensor of PyTorch whose gradient would be lost."""
    if x.requires_grad and sys.modules["torch"].is_grad_enabled():
        raise TypeError("fastreduce: x requires a gradient: call the function of fastreduce.torch, "
                        "or pass x.detach()")


def _torch(function: Any, arrays: tuple[Any, ...], outs: tuple[Any, ...], results: Any,
           arguments: tuple[Any, ...]) -> Any:
    for each in arrays:
        if each is not None:
            check_gradient(each)
    out, *more = outs
    if more and more[0] is None:
        shape, dtype = results()[1]
        torch = sys.modules["torch"]
        more = [torch.empty(shape, dtype=getattr(torch, dtype), device=arrays[0].device)]
    made = function(*arrays, out, *more, *arguments)  # PyTorch allocates it
    return made if out is None else out, *more


def _numpy(function: Any, arrays: tuple[Any, ...], outs: tuple[Any, ...], results: Any,
           arguments: tuple[Any, ...]) -> Any:
    made = _allocate(sys.modules["numpy"], outs, results)
    function(*map(_view, (*arrays, *made)), *arguments)
    return [one[()] if out is None else out for one, out in zip(made, outs)]


def _allocate(module: Any, outs: tuple[Any, ...], results: Any) -> list[Any]:
    if all(out is not None for out in outs):
        return list(outs)
    return [module.empty(*result) if out is None else out for out, result in zip(outs, results())]


def _view(x: Any) -> Any:
    """An array of NumPy as a tensor: one that may only be read, too, from NumPy 2.1 on."""
    if x is None:
        return None
    try:
        return tvm_ffi.from_dlpack(x.__dlpack__(max_version=(1, 0)))
    except (AttributeError, BufferError) as error:
        raise TypeError(f"fastreduce: no array that speaks DLPack: {error}") from None
    except TypeError:
        return tvm_ffi.from_dlpack(x)


def _cupy(function: Any, arrays: tuple[Any, ...], outs: tuple[Any, ...], results: Any,
          arguments: tuple[Any, ...]) -> Any:
    cupy = sys.modules["cupy"]
    device = arrays[0].device
    with device:
        made = _allocate(cupy, outs, results)
        stream = cupy.cuda.get_current_stream().ptr  # which DLPack does not say
        views = [None if each is None else tvm_ffi.from_dlpack(each.__dlpack__(stream=-1))
                 for each in (*arrays, *made)]
        with tvm_ffi.use_raw_stream(tvm_ffi.device("cuda", device.id), stream):
            function(*views, *arguments)
    return made


def _other(function: Any, arrays: tuple[Any, ...], outs: tuple[Any, ...], results: Any,
           arguments: tuple[Any, ...]) -> Any:
    if not hasattr(arrays[0], "__dlpack__"):
        raise TypeError(f"fastreduce: {type(arrays[0]).__name__} is no array that speaks DLPack")
    if any(out is None for out in outs):
        raise TypeError(f"fastreduce: pass out=, as arrays of {type(arrays[0]).__module__} cannot "
                        "be made here")
    function(*arrays, *outs, *arguments)
    return outs


def _adapter(x: Any) -> Any:
    """What calls a function for arrays of the type of x, from now on."""
    known = {"numpy": _numpy, "cupy": _cupy}.get(type(x).__module__.partition(".")[0], _other)
    if "torch" in sys.modules and isinstance(x, sys.modules["torch"].Tensor):
        known = _torch
        if type(x) is sys.modules["torch"].Tensor:
            direct.add(type(x))
    if "jax" in sys.modules and isinstance(x, sys.modules["jax"].Array):
        from ._jax import call as known
    _adapters[type(x)] = known
    return known


_adapters: dict[type, Any] = {}
direct: set[type] = set()  # PyTorch's class of tensors, from the first one on

"""JAX arrays: XLA calls the compiled functions, at once or inside jax.jit, by jax-tvm-ffi."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

from . import _core

try:
    import jax_tvm_ffi
except ImportError as error:
    raise TypeError("fastreduce: JAX arrays need the package jax-tvm-ffi") from error

_ARGUMENTS = {"reduce": ("axis", "keepdims", "op", "exact", "asked"), "dot": ("exact", "asked")}
_ARGUMENTS["reduce_two"] = _ARGUMENTS["reduce"]
_ARGUMENTS["vecdot"] = ("axis", "keepdims", "exact", "asked")
_FUNCTIONS = {_core.reduce_: "reduce", _core.reduce_two: "reduce_two", _core.dot_: "dot",
              _core.vecdot_: "vecdot"}
for _function, _name in _FUNCTIONS.items():
    for _platform in ("cpu", "gpu") if _core.BUILT["cuda"] else ("cpu",):
        jax_tvm_ffi.register_ffi_target(
            "fastreduce." + _name, _function,
            ["args", "rets", *("attrs." + each for each in _ARGUMENTS[_name])],
            platform=_platform, allow_cuda_graph=True)


def call(function: Any, arrays: tuple[Any, ...], outs: tuple[Any, ...], results: Any,
         arguments: tuple[Any, ...]) -> Any:
    """As _core.call. XLA knows no strides, so the reduced axes become the middle one of three."""
    if any(out is not None for out in outs):
        raise TypeError("fastreduce: arrays of JAX cannot be written: call without out=")
    if function not in _FUNCTIONS:
        raise TypeError("fastreduce: there are no segments, folds or sums by index of JAX arrays")
    name = _FUNCTIONS[function]
    for x in arrays: # what the compiled function would refuse, but as an error of XLA's
        if str(x.dtype) not in (*_core.TYPES, "bool"):
            raise TypeError(f"fastreduce: there are no elements of {x.dtype}")
        if x.dtype != arrays[0].dtype:
            raise TypeError("fastreduce: arrays are of different dtypes")
        if name == "dot" and x.ndim != 1:
            raise ValueError("fastreduce: dot takes arrays of one axis")
        if x.shape != arrays[0].shape:
            raise ValueError("fastreduce: arrays have different shapes")
    shape, dtypes = results()[0][0], [dtype for _, dtype in results()]
    for dtype in dtypes:
        if jnp.dtype(dtype) != jax.dtypes.canonicalize_dtype(dtype):
            raise TypeError(f"fastreduce: the result is of {dtype}, which JAX has by "
                            'jax.config.update("jax_enable_x64", True)')
    made = shape
    if name != "dot":
        x = arrays[0]
        axes = _core.axes_of(arguments[0], x.ndim)
        if axes != list(range(axes[0], axes[0] + len(axes))) if axes else False:
            raise ValueError("fastreduce: the axes of a JAX array have to lie beside each other")
        first = axes[0] if axes else x.ndim
        sizes = (math.prod(x.shape[:first]), math.prod(x.shape[k] for k in axes),
                 math.prod(x.shape[first + len(axes):]))
        if not sizes[1] and name != "vecdot" and arguments[2] in _core.EXTREMES:
            raise ValueError("fastreduce: no elements have neither a least nor a greatest one")
        arrays = tuple(jnp.reshape(each, sizes) for each in arrays)
        made = sizes[::2]
        arguments = (1, False, *arguments[2:])
    called = jax.ffi.ffi_call("fastreduce." + name,
                              [jax.ShapeDtypeStruct(made, dtype) for dtype in dtypes])
    return [jnp.reshape(one, shape)
            for one in called(*arrays, **dict(zip(_ARGUMENTS[name], arguments)))]

"""Exact partial sums that are added to, merged, stored and rounded."""

from __future__ import annotations

import contextlib
import ctypes
import math
import sys
import threading
from typing import Any, Optional

from . import _core

# what is after fastreduce_ in the names of the structs, and how many int64 limbs they have
_STRUCTS = (("accumulator", 16), ("wide_accumulator", 72), ("product_accumulator", 138))
_TAKES = {"float32": ("float32", "float16", "bfloat16"), "float64": ("float64",)}


class _Config(ctypes.Structure):
    """fastreduce_config. With no workspace, a call takes memory from the pool of the stream."""
    _fields_ = [("kernel", ctypes.c_int), ("block_size", ctypes.c_uint),
                ("workspace", ctypes.c_void_p), ("workspace_bytes", ctypes.c_size_t),
                ("stream", ctypes.c_void_p), ("n_on_device", ctypes.c_void_p),
                ("output_type", ctypes.c_int), ("offset_type", ctypes.c_int),
                ("end_offsets", ctypes.c_void_p),
                ("added_later", ctypes.c_void_p * 8)]  # by fastreduce.h: zero means as before


class Accumulator:
    """An exact sum in the making, of arrays that are added one by one, in any order and split.

    dtype
        "float32", which also takes float16 and bfloat16, or "float64".
    products
        Whether it adds up x * y, by ``add(x, y)``, instead of x.

    Arrays have one axis or more, without gaps, on the CPU or a GPU. What lies on a GPU is added
    there, on the current stream, without waiting; `value`, `merge`, `bytes` and pickling wait for
    it. ``bytes(accumulator)`` is the struct of fastreduce.h (fastreduce_accumulator, of float64 or
    products fastreduce_wide_accumulator, of both fastreduce_product_accumulator), and `from_bytes`
    takes one. Several threads may use one accumulator.
    """

    def __init__(self, dtype: Any = "float32", *, products: bool = False) -> None:
        name = _core.TYPES[_core.type_number(dtype)]
        if name not in ("float32", "float64"):
            raise TypeError(f"fastreduce: accumulators are of float32 or float64, not {dtype!r}")
        self.dtype = name
        self.products = bool(products)
        self._struct, self._count = _STRUCTS[(name == "float64") + self.products]
        self._sum = bytes(8 * self._count)  # of what is merged already
        self._parts: dict[Any, Any] = {}  # limbs, by library, device and stream
        self._lock = threading.Lock()

    def add(self, x: Any, y: Optional[Any] = None) -> "Accumulator":
        """Adds the elements of x, or the products of those of x and y; returns itself.

        TypeError: other dtypes than this accumulator's. ValueError: y without `products`, no y
        with it, gaps, different lengths or devices. The sum is then as it was.
        """
        if (y is not None) != self.products:
            raise ValueError("fastreduce: add(x, y) is for an accumulator of products, add(x) for "
                             "all others")
        name = _dtype(x)
        if name not in _TAKES[self.dtype]:
            raise TypeError(f"fastreduce: an accumulator of {self.dtype} does not take {name}")
        if y is not None and _dtype(y) != name:
            raise TypeError("fastreduce: arrays are of different dtypes")
        where, make_limbs, wait, device = _place(x)
        arrays = (x,) if y is None else (x, y)
        if y is not None and (x.shape != y.shape or _place(y)[0] != where):
            raise ValueError("fastreduce: arrays have different shapes or devices")
        on_gpu = device is not None
        if on_gpu and not _core.BUILT["cuda"]:
            raise ValueError("fastreduce: this package was built without CUDA")
        function = getattr(_core.functions, "fastreduce_" + "host_" * (not on_gpu) + "accumulate"
                           + "_dot" * self.products + "_f64" * (name == "float64"))
        function.restype = ctypes.c_int if on_gpu or name != "float64" else None
        more: list[Any] = [ctypes.c_size_t(math.prod(x.shape))]
        more += [_core.TYPES.index(name)] * (name != "float64")
        more += [ctypes.byref(_Config(stream=where[2]))] * on_gpu
        with self._lock, device or contextlib.nullcontext():
            limbs, _ = self._parts.get(where) or (make_limbs(self._count), wait)
            status = function(*map(_address, (*arrays, limbs)), *more)
            if status:
                raise (RuntimeError if status > 0 else TypeError if status == -2 else ValueError)(
                    "fastreduce: " + _core.functions.fastreduce_status_string(status).decode())
            self._parts[where] = limbs, wait
        return self

    def value(self, dtype: Any = None) -> float:
        """The sum, rounded once to float32 or float64 (by default to this accumulator's dtype)."""
        name = self.dtype if dtype is None else _core.TYPES[_core.type_number(dtype)]
        kind = {"float32": ctypes.c_float, "float64": ctypes.c_double}.get(name)
        function = getattr(_core.functions, f"fastreduce_{self._struct}_f{name[5:]}", None)
        if kind is None or function is None:
            raise TypeError(f"fastreduce: no value of dtype {dtype!r} of this accumulator")
        function.restype = kind
        return function(bytes(self))

    def merge(self, other: "Accumulator") -> "Accumulator":
        """Adds the sum of another accumulator of the same kind; returns itself."""
        if (self.dtype, self.products) != (other.dtype, other.products):
            raise ValueError("fastreduce: accumulators of different kinds do not merge")
        added = bytes(other)
        with self._lock:
            self._merge(added)
        return self

    def __bytes__(self) -> bytes:
        with self._lock:
            while self._parts:
                limbs, wait = self._parts.popitem()[1]
                if wait:
                    wait()
                self._merge(bytes((ctypes.c_int64 * self._count)(*limbs.tolist())))
            return self._sum

    def _merge(self, limbs: bytes) -> None:
        if len(limbs) != len(self._sum):
            raise ValueError("fastreduce: accumulators of different dtypes do not merge")
        into = ctypes.create_string_buffer(self._sum, len(limbs))
        getattr(_core.functions, f"fastreduce_{self._struct}_merge")(into, limbs)
        self._sum = into.raw

    @classmethod
    def from_bytes(cls, data: bytes, dtype: Any = "float32", *,
                   products: bool = False) -> "Accumulator":
        """An accumulator with the limbs of one; ValueError if `data` is not as long."""
        made = cls(dtype, products=products)
        made._merge(bytes(data))
        return made

    def __reduce__(self) -> Any:
        return _restore, (bytes(self), self.dtype, self.products)

    def __repr__(self) -> str:
        return f"Accumulator({self.dtype!r}, products={self.products}): {self.value()!r}"


def _dtype(x: Any) -> str:
    return str(getattr(x, "dtype", type(x).__name__)).rpartition(".")[2]


def _place(x: Any) -> Any:
    """The library, device and stream of x; what makes limbs there; what waits for them; what makes
    the GPU of x the current one."""
    name = type(x).__module__.partition(".")[0]
    module = sys.modules[name]
    if name == "numpy":
        return (name, None, 0), lambda count: module.zeros(count, "int64"), None, None
    if name == "torch":
        _core.check_gradient(x)
        if x.device.type not in ("cpu", "cuda"):
            raise ValueError("fastreduce: arrays are on the CPU or on NVIDIA GPUs")

        def make_limbs(count: int) -> Any:
            return module.zeros(count, dtype=module.int64, device=x.device)
        if not x.is_cuda:
            return (name, None, 0), make_limbs, None, None
        device = x.device.index
        stream = module.cuda.current_stream(device).cuda_stream
        return ((name, device, stream), make_limbs, lambda: module.cuda.synchronize(device),
                module.cuda.device(device))
    if name == "cupy":
        with x.device:
            place = name, x.device.id, module.cuda.get_current_stream().ptr
        return place, lambda count: module.zeros(count, "int64"), x.device.synchronize, x.device
    raise TypeError("fastreduce: accumulators take arrays of NumPy, PyTorch and CuPy")


def _address(x: Any) -> Any:
    """Where the elements of x are, which have to follow each other."""
    is_torch = hasattr(x, "data_ptr")
    if not (x.is_contiguous() if is_torch else x.flags.c_contiguous):
        raise ValueError("fastreduce: an array has gaps, or axes in another order")
    return ctypes.c_void_p(x.data_ptr() if is_torch else
                           x.ctypes.data if hasattr(x, "ctypes") else x.data.ptr)


def _restore(data: bytes, dtype: str, products: bool) -> Accumulator:
    return Accumulator.from_bytes(data, dtype, products=products)

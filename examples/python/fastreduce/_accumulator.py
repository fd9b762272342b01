"""Exact partial sums that are added to, merged, stored and rounded."""

from __future__ import annotations

import struct
import sys
import threading
from typing import Any, Optional

from . import _core

# int64 limbs of fastreduce_accumulator, _wide_accumulator and _product_accumulator
_LIMBS = (16, 72, 138)
_TAKES = {"float32": ("float32", "float16", "bfloat16"), "float64": ("float64",)}


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
        self._count = _LIMBS[(name == "float64") + self.products]
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
        name = str(getattr(x, "dtype", type(x).__name__)).rpartition(".")[2]
        if name not in _TAKES[self.dtype]:
            raise TypeError(f"fastreduce: an accumulator of {self.dtype} does not take {name}")
        where, make_limbs, wait = _place(x)
        with self._lock:
            limbs, _ = self._parts.get(where) or (make_limbs(self._count), wait)
            _core.call(_core.accumulate_, (x, y), limbs, None, ())
            self._parts[where] = limbs, wait
        return self

    def value(self, dtype: Any = None) -> float:
        """The sum, rounded once to float32 or float64 (by default to this accumulator's dtype)."""
        name = self.dtype if dtype is None else _core.TYPES[_core.type_number(dtype)]
        if name not in ("float32", "float64") or (name == "float32" and self._count == _LIMBS[2]):
            raise TypeError(f"fastreduce: no value of dtype {dtype!r} of this accumulator")
        return _core.accumulator_value(bytes(self), name == "float32")

    def merge(self, other: "Accumulator") -> "Accumulator":
        """Adds the sum of another accumulator of the same kind; returns itself."""
        if (self.dtype, self.products) != (other.dtype, other.products):
            raise ValueError("fastreduce: accumulators of different kinds do not merge")
        added = bytes(other)
        with self._lock:
            self._sum = _core.merge_accumulators(self._sum, added)
        return self

    def __bytes__(self) -> bytes:
        with self._lock:
            while self._parts:
                limbs, wait = self._parts.popitem()[1]
                if wait:
                    wait()
                numbers = struct.pack(f"{self._count}q", *limbs.tolist())
                self._sum = _core.merge_accumulators(self._sum, numbers)
            return self._sum

    @classmethod
    def from_bytes(cls, data: bytes, dtype: Any = "float32", *,
                   products: bool = False) -> "Accumulator":
        """An accumulator with the limbs of one; ValueError if `data` is not as long."""
        made = cls(dtype, products=products)
        made._sum = _core.merge_accumulators(made._sum, bytes(data))
        return made

    def __reduce__(self) -> Any:
        return _restore, (bytes(self), self.dtype, self.products)

    def __repr__(self) -> str:
        return f"Accumulator({self.dtype!r}, products={self.products}): {self.value()!r}"


def _place(x: Any) -> Any:
    """The library, device and stream of x, what makes limbs there, and what waits for them."""
    name = type(x).__module__.partition(".")[0]
    module = sys.modules[name]
    if name == "numpy":
        return (name, None, 0), lambda count: module.zeros(count, "int64"), None
    if name == "torch":
        def make_limbs(count: int) -> Any:
            return module.zeros(count, dtype=module.int64, device=x.device)
        if not x.is_cuda:
            return (name, None, 0), make_limbs, None
        device = x.device.index
        stream = module.cuda.current_stream(device).cuda_stream
        return (name, device, stream), make_limbs, lambda: module.cuda.synchronize(device)
    if name == "cupy":
        def make_limbs(count: int) -> Any:
            with x.device:
                return module.zeros(count, "int64")
        place = name, x.device.id, module.cuda.get_current_stream().ptr
        return place, make_limbs, x.device.synchronize
    raise TypeError("fastreduce: accumulators take arrays of NumPy, PyTorch and CuPy")


def _restore(data: bytes, dtype: str, products: bool) -> Accumulator:
    return Accumulator.from_bytes(data, dtype, products=products)

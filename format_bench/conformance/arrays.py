"""Arrays for the conformance tests of array stores, and comparisons of their round trips."""

from __future__ import annotations

import numpy as np

from adapter_core import ArrayStore, Codec
from adapter_core.array_source import ArraySource
from adapter_core.codecs import ErrorScale
from data_generator.synthetic.edge_case_arrays import DTYPES, values


def a_dtype_of(store: ArrayStore, codec: Codec | None = None) -> str:
    """Return a usual dtype that a store supports, with a codec if one is given."""
    usual = ("float32", "float64", "uint16", "uint8", "int32", *DTYPES)
    for dtype in usual:
        if dtype in store.dtypes:
            source = ArraySource.of(values((2, 8, 12), dtype), (1, 8, 12))
            try:
                store.check(source, codec.name if codec else None)
            except ValueError:
                continue
            return dtype
    raise AssertionError(f"{store.label} supports none of the dtypes")


def smooth(dtype: str, steps: int = 4) -> ArraySource:
    """Return an array that every codec makes smaller, shape (steps, 24, 32), a step a chunk."""
    step, row, column = np.ogrid[:steps, :24, :32]
    field = 100 + step + row // 4 + column // 8
    return ArraySource.of((field % 2 == 0 if dtype == "bool" else field).astype(dtype), (1, 24, 32))


def difference(
    store: ArrayStore, saved: np.ndarray, found: np.ndarray, codec: Codec | None = None, level: int = 0
) -> str:
    """Return how an array differs from the saved one; empty if by nothing beyond a declared error.

    Values are compared bit for bit, or within the bound of a lossy store or codec.
    """
    if (found.dtype, found.shape) != (saved.dtype, saved.shape):
        return f"{found.dtype} of shape {found.shape}, not {saved.dtype} of shape {saved.shape}"
    scale, bits = (codec.error, level) if codec and codec.error else store.error or (None, 0)
    if scale is None:
        same = np.ascontiguousarray(found).tobytes() == np.ascontiguousarray(saved).tobytes()
        return "" if same else "other bits"
    saved, found = saved.astype("float64"), found.astype("float64")
    span = saved.max() - saved.min() if saved.size else 0.0
    allowed = {ErrorScale.VALUE: np.abs(saved), ErrorScale.RANGE: span, ErrorScale.ONE: 1.0}[scale]
    # The bound holds for exact arithmetic; libraries calculate in the array's own precision.
    excess = np.abs(found - saved) - allowed * 2.0**-bits * (1 + 1e-6)
    return f"an error {excess.max():g} above the bound" if (excess > 0).any() else ""

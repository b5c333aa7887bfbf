"""Values of columns as pandas has them, from what `adapter_core.column_arrays` made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adapter_core import text_arrays

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


def array_names(note: dict[str, Any]) -> list[str]:
    """Return the names of the arrays of a column, by its description."""
    return [note[key] for key in ("values", "valid", "offsets") if key in note]


def put_together(note: dict[str, Any], arrays: Mapping[str, np.ndarray]) -> Any:
    """Return the values of a column, shape (rows,), as pandas takes them.

    Parameters
    ----------
    note : dict
        As `adapter_core.column_arrays.take_apart` returned it.
    arrays : mapping
        The arrays by name. Of datetimes also the integers are taken.
    """
    import pandas as pd

    values = arrays[note["values"]]
    valid = arrays[note["valid"]] if "valid" in note else None
    objects = note.get("objects")
    dtype = pd.api.types.pandas_dtype(note["dtype"])
    if objects in ("text", "bytes") or isinstance(dtype, pd.StringDtype):
        offsets = arrays[note["offsets"]] if "offsets" in note else None
        return _text(values, offsets, valid, dtype, is_bytes=objects == "bytes")
    if "categories" in note:
        categories = pd.Index(note["categories"], dtype=note["categories_dtype"])
        return pd.Categorical.from_codes(values, categories, note["ordered"])
    if objects == "dates":
        return values.view("datetime64[D]").astype(object)
    if isinstance(dtype, pd.DatetimeTZDtype):
        times = pd.DatetimeIndex(values.view(f"datetime64[{dtype.unit}]"))
        return times.tz_localize("UTC").tz_convert(dtype.tz)
    if objects == "booleans":
        return _objects(values, valid)
    if isinstance(dtype, pd.api.extensions.ExtensionDtype):
        return _masked(values, valid, dtype)
    return values.view(dtype) if dtype.kind in "mM" else values


def _text(
    values: np.ndarray,
    offsets: np.ndarray | None,
    valid: np.ndarray | None,
    dtype: Any,
    *,
    is_bytes: bool,
) -> Any:
    import pandas as pd
    import pyarrow as pa

    arrow = pa.large_binary() if is_bytes else pa.large_string()
    text: pa.Array = text_arrays.from_arrays(values, offsets, valid, arrow)
    if dtype == object:
        # Of a bare array pandas would make text again.
        return pd.Series(text.to_numpy(zero_copy_only=False), dtype=object)
    return dtype.__from_arrow__(text)


def _objects(values: np.ndarray, valid: np.ndarray | None) -> np.ndarray:
    objects = values.astype(object)
    if valid is not None:
        objects[~valid] = None
    return objects


def _masked(values: np.ndarray, valid: np.ndarray | None, dtype: Any) -> Any:
    import numpy as np

    mask = np.zeros(len(values), bool) if valid is None else ~valid
    return dtype.construct_array_type()(values, mask)

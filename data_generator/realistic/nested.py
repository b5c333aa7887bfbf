"""Columns of lists and of records, of which flat columns are the parts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from data_generator.bits import Bits
from data_generator.realistic import columns, nulls
from data_generator.realistic.widths import widths

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from data_generator.spec import ColumnSpec


def column(spec: ColumnSpec, rows: int, *key: str | int) -> pa.Array:
    """Return a column of lists or records; see `data_generator.realistic.columns.column`.

    Of the properties, nulls hold for lists and records as wholes, and width for lists.
    """
    import pyarrow as pa

    there = nulls.validity(spec, rows, Bits(*key, "nulls"))
    absent = None if there is None else pa.array(~there)
    if spec.dtype == "record":
        parts = [columns.column(field, rows, *key, field.name) for field in spec.fields]
        return pa.StructArray.from_arrays(parts, [field.name for field in spec.fields], mask=absent)
    lengths = widths(spec, rows, Bits(*key, "lengths")).clip(0)
    if there is not None:
        lengths[~there] = 0
    return _lists(spec, lengths, absent, *key)


def _lists(spec: ColumnSpec, lengths: np.ndarray, absent: pa.Array | None, *key: str | int) -> pa.Array:
    """Return lists of the lengths, whose items make one column."""
    import numpy as np
    import pyarrow as pa

    if spec.items is None:
        raise AssertionError("a list without a spec of its items passed the check of specs")
    ends = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=ends[1:])
    items = columns.column(spec.items, int(ends[-1]), *key, "items")
    return pa.LargeListArray.from_arrays(pa.array(ends), items, mask=absent)

"""Order-independent digests of tables and arrays, for data that no single process has in memory.

Each value of a table has a 64-bit hash, that of `pandas.util.hash_array`, and a column the sum of its
values' hashes modulo 2**64: digests of partitions add up to that of the table, in any order. The hash of
a row combines those of its values, which reveals values that moved to another row. Numbers of equal
value have equal hashes whatever their type, and all nulls, NaN included, have one: changed types are not
noticed.

The hash of a value of an array combines its bits with its position, which reveals values that moved and
changed types; all NaNs are equal. Digests of regions add up to that of the array, too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from adapter_core.kinds import Kind, kinds_of

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

_MODULUS = 2**64

_NULL = 0x9E3779B97F4A7C15
"""Hash of a null."""

_BLOCK = 2**17
"""Values of an array that are hashed at a time, so that temporary arrays stay in the caches."""

_LARGEST_EXACT = 2.0**53
"""Floats below it that are whole have the hash of the integer."""


@dataclass(frozen=True)
class ColumnDigest:
    """Digest of a column; digests of partitions can be added."""

    hash_sum: int
    """Sum of the hashes of all values, modulo 2**64."""
    nulls: int
    float_sum: float = 0.0
    """Sum of the values that are not null, of a column of floats."""
    float_size: float = 0.0
    """Sum of their absolute values."""
    is_float: bool = False

    def __add__(self, other: ColumnDigest) -> ColumnDigest:
        return ColumnDigest(
            (self.hash_sum + other.hash_sum) % _MODULUS,
            self.nulls + other.nulls,
            self.float_sum + other.float_sum,
            self.float_size + other.float_size,
            self.is_float or other.is_float,
        )


@dataclass(frozen=True)
class TableDigest:
    """Digest of a table, or of a partition of it; digests of partitions can be added."""

    rows: int = 0
    row_sum: int = 0
    """Sum of the hashes of all rows, modulo 2**64."""
    columns: Mapping[str, ColumnDigest] = field(default_factory=dict)

    def __add__(self, other: TableDigest) -> TableDigest:
        if not self.columns:
            return other
        columns = {name: self.columns[name] + other.columns[name] for name in self.columns}
        return TableDigest(self.rows + other.rows, (self.row_sum + other.row_sum) % _MODULUS, columns)


def digest(df: pd.DataFrame) -> TableDigest:
    """Return the digest of a table of numbers, booleans and text, shape (rows, columns).

    Raises
    ------
    ValueError
        If a column contains anything else.
    """
    import numpy as np

    rows = np.zeros(len(df), np.uint64)
    columns: dict[str, ColumnDigest] = {}
    for position, (name, kind) in enumerate(zip(df.columns, kinds_of(df), strict=True)):
        column = df.iloc[:, position]
        nulls = column.isna().to_numpy()
        hashes, floats = _hashes(column, kind, nulls)
        sums: dict[str, Any] = {}
        if floats is not None:
            sums = {"float_sum": float(floats.sum()), "float_size": float(abs(floats).sum())}
            sums["is_float"] = True
        columns[name] = ColumnDigest(_sum(hashes), int(nulls.sum()), **sums)
        # An odd factor for each position: exchanged values of two columns change the sum.
        rows += hashes * np.uint64(2 * position + 1)
        rows ^= rows >> np.uint64(29)
    return TableDigest(len(df), _sum(rows * np.uint64(_NULL)), columns)


def differences(
    saved: TableDigest, read: TableDigest, kept_digits: int | None = None
) -> tuple[str, ...]:
    """Return what differs between a table and what came back of it, or of some of its columns.

    Parameters
    ----------
    saved : TableDigest
        Digest of the table that was saved.
    read : TableDigest
        Digest of what was read: all columns, or some of them.
    kept_digits : int, optional
        Decimal digits of a float that the format keeps; sums of floats may differ as much.
    """
    if saved.rows != read.rows:
        return (f"{saved.rows:,} rows came back as {read.rows:,}",)
    missing = [name for name in read.columns if name not in saved.columns]
    if missing:
        return (f"column {missing[0]!r} was not saved",)
    found = [
        f"column {name}: other values came back"
        for name, column in read.columns.items()
        if not _equal(saved.columns[name], column, kept_digits)
    ]
    whole = list(saved.columns) == list(read.columns)
    rounded = kept_digits is not None and any(each.is_float for each in saved.columns.values())
    if not found and whole and not rounded and saved.row_sum != read.row_sum:
        found.append("the values of some rows came back in other rows")
    return tuple(found)


@dataclass(frozen=True)
class ArrayDigest:
    """Digest of an array, or of a region of it; digests of regions can be added."""

    count: int
    """Number of values."""
    hash_sum: int
    """Sum of the hashes of all values and their positions, modulo 2**64."""

    def __add__(self, other: ArrayDigest) -> ArrayDigest:
        return ArrayDigest(self.count + other.count, (self.hash_sum + other.hash_sum) % _MODULUS)


def array_digest(values: np.ndarray, first_row: int = 0) -> ArrayDigest:
    """Return the digest of consecutive rows of an array of numbers or booleans.

    Parameters
    ----------
    values : numpy.ndarray
        At least one dimension.
    first_row : int
        Index of the first of the rows in the whole array.
    """
    import numpy as np

    flat = np.ascontiguousarray(values).reshape(-1)
    if flat.dtype.kind == "c":
        flat = flat.view(flat.real.dtype)
    start = first_row * (flat.size // len(values) if len(values) else 0)
    total = 0
    for place in range(0, flat.size, _BLOCK):
        block = flat[place : place + _BLOCK]
        hashes = block.view(f"u{block.dtype.itemsize}").astype(np.uint64)
        if block.dtype.kind == "f":
            hashes[np.isnan(block)] = _NULL
        first = start + place + 1
        hashes += np.arange(first, first + block.size, dtype=np.uint64) * np.uint64(_NULL)
        # The last steps of SplitMix64: https://doi.org/10.1145/2660193.2660195
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            hashes ^= hashes >> np.uint64(shift)
            hashes *= np.uint64(factor)
        total += _sum(hashes ^ (hashes >> np.uint64(31)))
    return ArrayDigest(values.size, total % _MODULUS)


def _equal(saved: ColumnDigest, read: ColumnDigest, kept_digits: int | None) -> bool:
    if saved.nulls != read.nulls:
        return False
    if kept_digits is None or not saved.is_float:
        return saved.hash_sum == read.hash_sum
    return abs(saved.float_sum - read.float_sum) <= saved.float_size * 10.0 ** (1 - kept_digits)


def _hashes(column: pd.Series, kind: Kind, nulls: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the hash of each value, shape (rows,), and those that are not null if they are floats."""
    import numpy as np
    import pandas as pd

    floats = None
    if nulls.all():
        hashes = np.zeros(len(column), np.uint64)
    elif column.dtype.kind in "biuf":
        numbers, floats = _numbers(column, nulls)
        hashes = pd.util.hash_array(numbers).astype(np.uint64)
    elif kind is Kind.TEXT:
        hashes = _text_hashes(column)
    else:
        raise ValueError(f"column {column.name!r} contains {kind}, which has no digest")
    hashes[nulls] = _NULL
    return hashes, floats


def _text_hashes(column: pd.Series) -> np.ndarray:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    # Each distinct text is hashed once.
    encoded = pa.array(column, pa.large_string(), from_pandas=True)
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    encoded = encoded.dictionary_encode()
    distinct = pd.util.hash_array(encoded.dictionary.to_numpy(zero_copy_only=False), categorize=False)
    places = encoded.indices.fill_null(0).to_numpy()
    return distinct[places].astype(np.uint64)


def _numbers(column: pd.Series, nulls: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Return 64-bit integers, equal for equal numbers, and the floats among them that are not null."""
    import numpy as np

    if column.dtype.kind in "biu":
        values = column.fillna(0).to_numpy() if nulls.any() else column.to_numpy()
        return values.astype(np.uint64 if column.dtype.kind == "u" else np.int64), None
    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    whole = (values == np.floor(values)) & (abs(values) < _LARGEST_EXACT)
    # -0.0 and 0.0 are equal numbers, and whole ones.
    bits = values.view(np.int64).copy()
    bits[whole] = values[whole].astype(np.int64)
    return bits, values[~nulls]


def _sum(hashes: np.ndarray) -> int:
    import numpy as np

    return int(hashes.sum(dtype=np.uint64))

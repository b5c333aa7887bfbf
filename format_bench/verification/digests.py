"""Order-independent digests of tables and arrays, for data that no single process has in memory.

Each value of a table has a 64-bit hash, by `pandas.util.hash_array`, and a column the sum of its
values' hashes modulo 2**64: digests of partitions add up to the table's, in any order. The hash of
a row combines its values' hashes, which reveals values that moved to another row. Numbers of equal
value have equal hashes whatever their type, except that -0.0 is not 0.0, and all nulls, NaN included,
have one: changed types are not noticed. A column has besides a sum of hashes that combine values with
their positions in the partition, which reveals another order of its rows, and is compared partition by
partition. Manifests keep these sums: who changes them raises the version of manifests.

Floats that a format has rounded have other hashes. Their columns have to agree in their sums, and in the
numbers of values that are positive, negative, zero or infinite; and the rows in the hashes of the other
columns, and in the sum of a wave, whose phase changes little with rounding, but much with a value of
another row. Floats below 1e-6 that moved to other rows are not noticed then.

The hash of a value of an array combines its bits with its position, with the type, and with the shape of
a row, which reveals values that moved and changed types; all NaNs are equal. Digests of regions add up
to the array's, too.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adapter_core.kinds import Kind, kinds_of
from format_bench.verification.columns import other_columns

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

# Sums of uint64 wrap around so: they do not depend on the order of the rows.
_MODULUS = 2**64

# Hash of a null.
_NULL = 0x9E3779B97F4A7C15

# Values of an array that are hashed at a time, so that temporary arrays stay in the caches.
_BLOCK = 2**17

# Floats below it that are whole have the hash of the integer.
_LARGEST_EXACT = 2.0**53

# Set apart from integers of the same bits: other floats, and unsigned integers beyond 2**63.
_NO_INT64 = 0x2545F4914F6CDD1D

# Radians of the wave for a float that changes from 0 to 1, and for one that grows by a factor of e.
_FREQUENCY = 10_000.0

_NO_NUMBERS = (0,) * 6


@dataclass(frozen=True)
class ColumnDigest:
    """Digest of a column; digests of partitions can be added."""

    hash_sum: int
    """Sum of the hashes of all values, modulo 2**64."""
    nulls: int
    float_sum: float = 0.0
    """Sum of the finite values of a column of numbers."""
    float_size: float = 0.0
    """Sum of their absolute values."""
    signs: tuple[int, ...] = _NO_NUMBERS
    """Counts of numbers that are zero, finite and infinite, without and with the sign of minus."""
    float_rows: int = 0
    """Rows in which it was a column of floats: one of whole floats may come back as integers."""
    order_sum: int = 0
    """Sum of the hashes of all values with their positions in the partition, modulo 2**64."""

    def __add__(self, other: ColumnDigest) -> ColumnDigest:
        return ColumnDigest(
            (self.hash_sum + other.hash_sum) % _MODULUS,
            self.nulls + other.nulls,
            self.float_sum + other.float_sum,
            self.float_size + other.float_size,
            tuple(map(sum, zip(self.signs, other.signs, strict=True))),
            self.float_rows + other.float_rows,
            (self.order_sum + other.order_sum) % _MODULUS,
        )

    @property
    def text(self) -> str:
        """Return the digest of values and order, as a manifest keeps it."""
        return f"{self.order_sum:016x}"


@dataclass(frozen=True)
class TableDigest:
    """Digest of a table, or of a partition of it; digests of partitions can be added."""

    rows: int = 0
    row_sum: int = 0
    """Sum of the hashes of all rows, modulo 2**64."""
    columns: Mapping[str, ColumnDigest] = field(default_factory=dict)
    exact_sum: int = 0
    """Sum of the hashes of the rows without columns of floats, modulo 2**64."""
    wave_sum: float = 0.0
    """Sum of the waves of all rows."""

    def __add__(self, other: TableDigest) -> TableDigest:
        if not self.columns:
            return other
        none = ColumnDigest(0, 0)
        names = dict.fromkeys([*self.columns, *other.columns])
        columns = {name: self.columns.get(name, none) + other.columns.get(name, none) for name in names}
        row_sum = (self.row_sum + other.row_sum) % _MODULUS
        exact_sum = (self.exact_sum + other.exact_sum) % _MODULUS
        wave_sum = self.wave_sum + other.wave_sum
        return TableDigest(self.rows + other.rows, row_sum, columns, exact_sum, wave_sum)


def digest(df: pd.DataFrame) -> TableDigest:
    """Return the digest of a table of numbers, booleans and text, shape (rows, columns).

    Raises
    ------
    ValueError
        If a column contains anything else.
    """
    import numpy as np

    rows, exact, phases = np.zeros(len(df), np.uint64), np.zeros(len(df), np.uint64), np.zeros(len(df))
    columns: dict[str, ColumnDigest] = {}
    for position, (name, kind) in enumerate(zip(df.columns, kinds_of(df), strict=True)):
        column = df.iloc[:, position]
        nulls = column.isna().to_numpy(bool)
        hashes, numbers = _hashes(column, kind, nulls)
        is_float = column.dtype.kind == "f"
        columns[name] = _column_digest(hashes, nulls, numbers, is_float=is_float)
        # An odd factor for each position: exchanged values of two columns change the sum.
        rows += hashes * np.uint64(2 * position + 1)
        rows ^= rows >> np.uint64(29)
        if not is_float:
            exact += hashes * np.uint64(2 * position + 1)
            exact ^= exact >> np.uint64(29)
        phase = hashes.astype(float) * (2 * np.pi / _MODULUS) if numbers is None else _phases(numbers)
        phase[nulls] = 1.0
        phases += phase * (1 + position / len(df.columns))
    waves = float(np.cos(phases).sum())
    sums = _sum(rows * np.uint64(_NULL)), _sum(exact * np.uint64(_NULL))
    return TableDigest(len(df), sums[0], columns, sums[1], waves)


def differences(
    saved: TableDigest,
    read: TableDigest,
    kept_digits: int | None = None,
    kept_decimals: int | None = None,
    wanted: Sequence[str] | None = None,
) -> tuple[str, ...]:
    """Return the differences between a table and its round trip, or of some of its columns.

    Parameters
    ----------
    saved : TableDigest
        Digest of the table that was saved.
    read : TableDigest
        Digest of the table read: all columns, or some of them.
    kept_digits : int, optional
        Significant decimal digits of a float that the format keeps.
    kept_decimals : int, optional
        Decimals that it keeps at least, where these are fewer digits.
    wanted : sequence of str, optional
        Columns that were asked for, in this order; by default those that came back.
    """
    if saved.rows != read.rows:
        return (f"{saved.rows:,} rows came back as {read.rows:,}",)
    missing = [name for name in read.columns if name not in saved.columns]
    if missing:
        return (f"column {missing[0]!r} was not saved",)
    if wanted is not None and list(read.columns) != list(wanted):
        return (other_columns(wanted, list(read.columns)),)
    rounding = None if kept_digits is None else (kept_digits, kept_decimals)
    found = [
        f"column {name}: other values came back"
        for name, column in read.columns.items()
        if not _equal(saved.columns[name], column, read.rows, rounding)
    ]
    whole = list(saved.columns) == list(read.columns)
    if not found and whole and not _equal_rows(saved, read, rounding):
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

    @property
    def text(self) -> str:
        """Return the digest as a manifest keeps it."""
        return f"{self.hash_sum:016x}"


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

    described = f"{values.dtype.str} {values.shape[1:]}".encode()
    flat = np.ascontiguousarray(values).reshape(-1)
    if flat.dtype.kind == "c":
        flat = flat.view(flat.real.dtype)
    # Zeros have equal bits in all types and shapes.
    salt = zlib.crc32(described) << 32
    start = first_row * (flat.size // len(values) if len(values) else 0)
    total = 0
    for place in range(0, flat.size, _BLOCK):
        block = flat[place : place + _BLOCK]
        hashes = block.view(f"u{block.dtype.itemsize}").astype(np.uint64)
        if block.dtype.kind == "f":
            hashes[np.isnan(block)] = _NULL
        total += _sum_of_placed(hashes, start + place, salt)
    return ArrayDigest(values.size, total % _MODULUS)


def _sum_of_placed(hashes: np.ndarray, start: int, salt: int = 0) -> int:
    """Return the sum of hashes, which are changed, with their positions from `start` on."""
    import numpy as np

    first = start + 1
    places = np.arange(first, first + hashes.size, dtype=np.uint64)
    hashes += places * np.uint64(_NULL) + np.uint64(salt)
    # The last steps of SplitMix64: https://doi.org/10.1145/2660193.2660195
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        hashes ^= hashes >> np.uint64(shift)
        hashes *= np.uint64(factor)
    return _sum(hashes ^ (hashes >> np.uint64(31)))


def _sum_in_order(hashes: np.ndarray) -> int:
    """Return the sum of all hashes combined with their positions."""
    places = range(0, hashes.size, _BLOCK)
    return sum(_sum_of_placed(hashes[each : each + _BLOCK].copy(), each) for each in places) % _MODULUS


def _equal(
    saved: ColumnDigest, read: ColumnDigest, rows: int, rounding: tuple[int, int | None] | None
) -> bool:
    import numpy as np

    if saved.nulls != read.nulls:
        return False
    if saved.hash_sum == read.hash_sum or rounding is None or not saved.float_rows:
        return saved.hash_sum == read.hash_sum
    if saved.signs != read.signs:
        return False
    if not np.isfinite(saved.float_size):
        return True
    digits, decimals = rounding
    allowed = saved.float_size * 10.0 ** (1 - digits)
    allowed += 0.0 if decimals is None else rows * 10.0**-decimals
    return abs(saved.float_sum - read.float_sum) <= allowed


def _equal_rows(saved: TableDigest, read: TableDigest, rounding: tuple[int, int | None] | None) -> bool:
    if saved.row_sum == read.row_sum:
        return True
    float_rows = [each.float_rows for each in saved.columns.values()]
    floats = sum(map(bool, float_rows))
    if rounding is None or not floats:
        return False
    same_types = float_rows == [each.float_rows for each in read.columns.values()]
    if same_types and {*float_rows} <= {0, saved.rows} and saved.exact_sum != read.exact_sum:
        return False
    error = floats * 2 * _FREQUENCY * 10.0 ** (1 - rounding[0]) + 1e-9
    return abs(saved.wave_sum - read.wave_sum) <= saved.rows * error


def _column_digest(
    hashes: np.ndarray, nulls: np.ndarray, numbers: np.ndarray | None, *, is_float: bool
) -> ColumnDigest:
    """Return the digest of a column from its hashes, its nulls, and its numbers, each shape (rows,)."""
    import numpy as np

    count, order_sum = int(nulls.sum()), _sum_in_order(hashes)
    if numbers is None:
        return ColumnDigest(_sum(hashes), count, order_sum=order_sum)
    values = numbers[~nulls] if count else numbers
    kinds = (values != 0) + np.isinf(values).astype(np.int8) + np.int8(3) * np.signbit(values)
    finite = values[np.isfinite(values)]
    with np.errstate(over="ignore"):
        sums = float(finite.sum()), float(abs(finite).sum())
    signs = tuple(np.bincount(kinds, minlength=len(_NO_NUMBERS)).tolist())
    return ColumnDigest(_sum(hashes), count, *sums, signs, len(numbers) if is_float else 0, order_sum)


def _phases(numbers: np.ndarray) -> np.ndarray:
    """Return the phase of each number in the wave of its row, shape (rows,)."""
    import numpy as np

    phases = np.arcsinh(numbers) * _FREQUENCY
    infinite = np.isinf(phases)
    phases[infinite] = np.sign(phases[infinite]) * 2.0
    return phases


def _hashes(column: pd.Series, kind: Kind, nulls: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    """Return the hash of each value, and the values as floats if they are numbers, shape (rows,)."""
    import numpy as np
    import pandas as pd

    floats = None
    if nulls.all():
        hashes = np.zeros(len(column), np.uint64)
        floats = np.full(len(column), np.nan) if column.dtype.kind in "biuf" else None
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


def _numbers(column: pd.Series, nulls: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return 64-bit integers, equal for equal numbers, and the numbers as floats, nulls as NaN."""
    import numpy as np

    values = column.to_numpy(dtype=np.float64, na_value=np.nan)
    if column.dtype.kind in "biu":
        integers = column.fillna(0).to_numpy() if nulls.any() else column.to_numpy()
        if column.dtype.kind != "u":
            return integers.astype(np.int64), values
        bits = integers.astype(np.uint64)
        bits[bits >= np.uint64(2**63)] ^= np.uint64(_NO_INT64)
        return bits, values
    whole = (values == np.floor(values)) & (abs(values) < _LARGEST_EXACT)
    whole &= ~((values == 0) & np.signbit(values))
    bits = values.view(np.int64) ^ np.int64(_NO_INT64)
    bits[whole] = values[whole].astype(np.int64)
    return bits, values


def _sum(hashes: np.ndarray) -> int:
    import numpy as np

    return int(hashes.sum(dtype=np.uint64))

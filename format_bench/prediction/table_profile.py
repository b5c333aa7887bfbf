"""Properties of a table as numbers, by which tables resemble each other."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from adapter_core.errors import InvalidDataError
from adapter_core.kinds import Kind, kinds_of
from data_generator.profiling.measures import measure
from data_generator.profiling.profile import as_arrow

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

BLOCK_ROWS = 10_000
"""Consecutive rows that are profiled: enough for shares, and a fraction of a second for any table."""

_INTEGERS = {Kind.INTEGER, Kind.UNSIGNED, Kind.NULLABLE_INTEGER, Kind.NULLABLE_UNSIGNED, Kind.TIMEDELTA}
_FLOATS = {Kind.FLOAT, Kind.HALF_FLOAT, Kind.NULLABLE_FLOAT, Kind.DECIMAL}
GROUPS = {
    "integers": _INTEGERS,
    "floats": _FLOATS,
    "texts": {Kind.TEXT},
    "categories": {Kind.CATEGORY},
    "booleans": {Kind.BOOLEAN, Kind.NULLABLE_BOOLEAN},
    "times": {Kind.DATETIME, Kind.ZONED_DATETIME, Kind.DATE, Kind.TIME},
}
"""Kinds of columns that formats treat alike; those of no group are "others"."""

# Below it the ratio of distinct values says nothing more: all are alike.
LEAST_RATIO = 1e-4
# Columns without values have no width, and a logarithm all the same.
LEAST_BYTES = 1e-2
# Where the text or the bytes of a row start.
PLACE_BYTES = 8


class TableProfile(NamedTuple):
    """A table's size, kinds of columns, and properties."""

    rows: int
    columns: int
    value_bytes: float
    """Size of all values in memory, by the widths of values of a block."""
    kinds: frozenset[Kind]
    features: Mapping[str, float]
    """Logarithms to the base of ten where values span orders of magnitude, else shares."""

    def extent(self, unit: str) -> float:
        """Return the size to which values of a unit are proportional: bytes, or the number of cells."""
        return max(1.0, self.value_bytes if unit == "bytes" else self.rows * self.columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the profile as plain values for JSON."""
        return {**self._asdict(), "kinds": sorted(self.kinds), "features": dict(self.features)}

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Return the profile of values from `to_dict`.

        Raises
        ------
        InvalidDataError
            If they are not a profile, or one with other properties.
        """
        try:
            found = cls(**{**facts, "kinds": frozenset(map(Kind, facts["kinds"]))})
            features = {name: float(found.features[name]) for name in FEATURES}
            return found._replace(value_bytes=float(found.value_bytes), features=features)
        except (TypeError, ValueError, LookupError, AttributeError) as error:
            raise InvalidDataError(
                "the profile", "is none of this version", "measure it again"
            ) from error


def profile_of(df: pd.DataFrame, rows: int | None = None) -> TableProfile:
    """Return the profile of a table, shape (rows, columns).

    Parameters
    ----------
    df : pandas.DataFrame
        The table, or consecutive rows of it, of which `BLOCK_ROWS` count.
    rows : int, optional
        All rows of the table; by default the rows of `df`.
    """
    block, kinds = df.iloc[:BLOCK_ROWS], kinds_of(df)
    count = len(df) if rows is None else rows
    columns = [_column(block.iloc[:, place]) for place in range(df.shape[1])]
    shares = {name: sum(kind in group for kind in kinds) for name, group in GROUPS.items()}
    shares["others"] = len(kinds) - sum(shares.values())
    texts = [each["width"] for each, kind in zip(columns, kinds, strict=True) if kind in GROUPS["texts"]]
    features = {
        "rows": math.log10(max(1, count)),
        "columns": math.log10(max(1, df.shape[1])),
        **{name: number / max(1, len(kinds)) for name, number in shares.items()},
        **{name: _mean([each[name] for each in columns]) for name in _OF_COLUMNS},
        "text width": _mean(texts),
    }
    of_row = sum(10 ** each["width"] for each in columns)
    return TableProfile(count, df.shape[1], count * of_row, frozenset(kinds), features)


_OF_COLUMNS = ("width", "nulls", "distinct", "sortedness", "runs")

FEATURES = ("rows", "columns", *GROUPS, "others", *_OF_COLUMNS, "text width")


def _column(column: pd.Series) -> dict[str, float]:
    """Return the properties of a column; usual ones of a column without values, or of nested ones."""
    found = dict.fromkeys(_OF_COLUMNS, 0.0)
    try:
        array = as_arrow(str(column.name), column)
    except InvalidDataError:
        return found
    found["width"] = math.log10(max(LEAST_BYTES, _width(array)))
    found["nulls"] = array.null_count / max(1, len(array))
    if _is_ordered(array.type) and array.null_count < len(array):
        # Arrow has no sort for float16.
        statistics = measure(array.cast("float32") if str(array.type) == "halffloat" else array)
        found["distinct"] = math.log10(max(LEAST_RATIO, statistics.ndv_ratio))
        found["sortedness"] = statistics.sortedness
        found["runs"] = math.log10(max(1.0, statistics.mean_run_length))
    return found


def _width(array: pa.Array) -> float:
    """Return the bytes of a value, of text on average and with its place."""
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        return float(array.type.bit_width / 8)
    except ValueError:  # no fixed width
        rows = max(1, len(array))
    if array.type in {pa.string(), pa.large_string(), pa.binary(), pa.large_binary()}:
        return float(PLACE_BYTES + (pc.sum(pc.binary_length(array)).as_py() or 0) / rows)
    return float(array.nbytes / rows)


def _is_ordered(kind: pa.DataType) -> bool:
    import pyarrow as pa

    is_flat = not pa.types.is_nested(kind) and not isinstance(kind, pa.BaseExtensionType)
    return is_flat and not pa.types.is_interval(kind)


def _mean(values: list[float]) -> float:
    return sum(values) / len(values) if values else 0.0

"""Data types of the columns of a `TableSpec`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class DtypeFamily(StrEnum):
    """Family of a data type, which decides on the properties that apply to it."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    FLOAT = "float"
    DECIMAL = "decimal"
    TEXT = "text"
    TIME = "time"
    NESTED = "nested"


@dataclass(frozen=True)
class Dtype:
    """A data type."""

    family: DtypeFamily
    largest: int = 2**63 - 1
    """Largest generated number, for integers."""


DTYPES = {
    "bool": Dtype(DtypeFamily.BOOLEAN),
    **{f"int{n}": Dtype(DtypeFamily.INTEGER, 2 ** (n - 1) - 1) for n in (8, 16, 32, 64)},
    # Numbers are computed as int64, so that uint64 columns use half of their range.
    **{f"uint{n}": Dtype(DtypeFamily.INTEGER, 2 ** min(n, 63) - 1) for n in (8, 16, 32, 64)},
    "float16": Dtype(DtypeFamily.FLOAT),
    "float32": Dtype(DtypeFamily.FLOAT),
    "float64": Dtype(DtypeFamily.FLOAT),
    "decimal": Dtype(DtypeFamily.DECIMAL),
    "str": Dtype(DtypeFamily.TEXT),
    "category": Dtype(DtypeFamily.TEXT),
    "bytes": Dtype(DtypeFamily.TEXT),
    "date": Dtype(DtypeFamily.TIME),
    "datetime": Dtype(DtypeFamily.TIME),
    "time": Dtype(DtypeFamily.TIME),
    "timedelta": Dtype(DtypeFamily.TIME),
    "list": Dtype(DtypeFamily.NESTED),
    "vector": Dtype(DtypeFamily.NESTED),
    "map": Dtype(DtypeFamily.NESTED),
    "record": Dtype(DtypeFamily.NESTED),
}

UNITS_PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}

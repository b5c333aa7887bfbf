"""The types that a column of a `TableSpec` can have."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

    from data_generator.spec.spec import ColumnSpec


class Family(StrEnum):
    """What kind of values a type has, and so which properties it knows."""

    BOOLEAN = "boolean"
    INTEGER = "integer"
    FLOAT = "float"
    DECIMAL = "decimal"
    TEXT = "text"
    TIME = "time"
    NESTED = "nested"


@dataclass(frozen=True)
class Dtype:
    """One type."""

    family: Family
    largest: int = 2**63 - 1
    """The largest number that it holds, for integers."""
    signed: bool = True


DTYPES = {
    "bool": Dtype(Family.BOOLEAN),
    **{f"int{n}": Dtype(Family.INTEGER, 2 ** (n - 1) - 1) for n in (8, 16, 32, 64)},
    # No number beyond a signed 64-bit one is made.
    **{f"uint{n}": Dtype(Family.INTEGER, 2 ** min(n, 63) - 1, signed=False) for n in (8, 16, 32, 64)},
    "float16": Dtype(Family.FLOAT),
    "float32": Dtype(Family.FLOAT),
    "float64": Dtype(Family.FLOAT),
    "decimal": Dtype(Family.DECIMAL),
    "str": Dtype(Family.TEXT),
    "category": Dtype(Family.TEXT),
    "bytes": Dtype(Family.TEXT),
    "date": Dtype(Family.TIME),
    "datetime": Dtype(Family.TIME),
    "time": Dtype(Family.TIME),
    "timedelta": Dtype(Family.TIME),
    "list": Dtype(Family.NESTED),
    "record": Dtype(Family.NESTED),
}

UNITS_PER_DAY = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}


def arrow_type(spec: ColumnSpec) -> pa.DataType:
    """Return the Arrow type of a flat column; categories have that of their texts."""
    import pyarrow as pa

    match spec.dtype:
        case "bool":
            return pa.bool_()
        case "str" | "category":
            return pa.large_string()
        case "bytes":
            return pa.large_binary()
        case "date":
            return pa.date32()
        case "datetime":
            return pa.timestamp(spec.unit, spec.zone or None)
        case "time":
            return pa.time32(spec.unit) if spec.unit in ("s", "ms") else pa.time64(spec.unit)
        case "timedelta":
            return pa.duration(spec.unit)
        case "decimal":
            return pa.decimal128(38, spec.decimals or 0)
    return pa.from_numpy_dtype(spec.dtype)

"""ORC through pandas and pyarrow."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core.data_format import DataFormat, Feature
from adapter_core.kinds import Kind
from adapter_core.values import NANOSECOND_YEARS, datetimes_beyond

if TYPE_CHECKING:
    import pandas as pd

_NO_TYPE = "pandas' ORC writer has no type for them"


class Adapter(DataFormat):
    """Apache ORC through `DataFrame.to_orc` and `pandas.read_orc`.

    A file keeps no pandas types: nullable columns come back as floats or objects, datetimes in
    nanoseconds, datetimes with a time zone in UTC.
    """

    label = "ORC"
    suffix = ".orc"
    requires = ("pandas", "pyarrow>=15")
    supports: ClassVar = frozenset({Feature.COLUMNS})
    reads_nullable_integers_as_floats = True
    refuses: ClassVar = {
        Kind.UNSIGNED: "ORC has none",
        Kind.NULLABLE_UNSIGNED: "ORC has none",
        Kind.HALF_FLOAT: "ORC has none",
        Kind.COMPLEX: "ORC has none",
        Kind.TIMEDELTA: "ORC has none",
        Kind.TIME: "ORC has none",
        Kind.CATEGORY: _NO_TYPE,
        Kind.CATEGORY_NOT_TEXT: _NO_TYPE,
        Kind.NULL: _NO_TYPE,
        Kind.PERIOD: _NO_TYPE,
        Kind.INTERVAL: _NO_TYPE,
        Kind.SPARSE: _NO_TYPE,
        Kind.ARROW: "the file keeps no Arrow types of pandas",
        Kind.ARROW_NESTED: "the file keeps no Arrow types of pandas",
        Kind.MIXED: "an ORC column has one type",
    }

    def _check_values(self, df: pd.DataFrame) -> None:

        name = datetimes_beyond(df, {Kind.DATETIME, Kind.ZONED_DATETIME}, *NANOSECOND_YEARS)
        if name is not None:
            raise self.refusal(f"column {name!r} holds datetimes that do not fit in 64-bit nanoseconds")

    def _save(self, df: pd.DataFrame, path: Path) -> None:
        df.to_orc(path, engine="pyarrow", index=False)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import pandas as pd

        return pd.read_orc(path, columns=columns)

    def _column_names(self, path: Path) -> list[str]:
        from pyarrow import orc

        return orc.ORCFile(path).schema.names

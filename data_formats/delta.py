"""Delta Lake through deltalake."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, ClassVar

from adapter_core.data_format import DataFormat, Feature
from adapter_core.kinds import Kind, kinds_of
from adapter_core.tables.arrow import REFUSES_WITHOUT_NOTE, arrow_of, frame_of, retyped
from adapter_core.tables.sql import misnamed
from adapter_core.traits import Trait
from adapter_core.values import with_nanoseconds

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

LARGEST_LONG = 2**63 - 1

_ODD = re.compile(r"[^\w /.=+-]")
"""Characters of paths that deltalake does not take, as it makes the domain of an address of a path."""

_NO_TYPE = "Delta Lake has no type for them"


class Adapter(DataFormat):
    """A Delta Lake table (a directory) through `deltalake.write_deltalake` and `deltalake.DeltaTable`.

    Its files are Parquet, here not compressed, and listed in a log by paths relative to the table, so
    that it may be moved. Where deltalake does not take a path, the table goes by a copy elsewhere.
    Unsigned integers come back as larger signed ones, datetimes in microseconds and those with a time
    zone in UTC, nullable dtypes as similar ones, categories as their values.
    """

    label = "Delta"
    suffix = ".delta"
    requires = ("pandas", "deltalake", "pyarrow>=15")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND})
    supports: ClassVar = frozenset({Feature.COLUMNS})
    refuses: ClassVar = REFUSES_WITHOUT_NOTE | {
        Kind.HALF_FLOAT: _NO_TYPE,
        Kind.TIME: _NO_TYPE,
        Kind.TIMEDELTA: _NO_TYPE,
    }

    def _check_values(self, df: pd.DataFrame) -> None:
        reason = misnamed(df.columns)
        if reason:
            raise self.refusal(reason)
        name = with_nanoseconds(df)
        if name is not None:
            raise self.refusal(f"column {name!r} contains nanoseconds; Delta Lake stores microseconds")
        for position, kind in enumerate(kinds_of(df)):
            unsigned = kind in (Kind.UNSIGNED, Kind.NULLABLE_UNSIGNED)
            if unsigned and (df.iloc[:, position].dropna() > LARGEST_LONG).any():
                name = df.columns[position]
                raise self.refusal(f"column {name!r} contains integers beyond Delta's long, 2**63 - 1")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import deltalake

        table = retyped(arrow_of(df), _signed)
        uncompressed = deltalake.WriterProperties(compression="UNCOMPRESSED")
        if not _ODD.search(str(path.absolute())):
            deltalake.write_deltalake(path, table, writer_properties=uncompressed)
            return
        with TemporaryDirectory() as folder:
            place = Path(folder, "table")
            deltalake.write_deltalake(place, table, writer_properties=uncompressed)
            shutil.move(place, path)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import deltalake

        with _addressable(path) as place:
            return frame_of(deltalake.DeltaTable(place).to_pyarrow_table(columns=columns))

    def _column_names(self, path: Path) -> list[str]:
        import deltalake

        with _addressable(path) as place:
            return [field.name for field in deltalake.DeltaTable(place).schema().fields]


@contextmanager
def _addressable(path: Path) -> Iterator[Path]:
    """Give a path by which a table can be read."""
    if not _ODD.search(str(path.absolute())):
        yield path
        return
    with TemporaryDirectory() as folder:
        yield shutil.copytree(path, Path(folder, "table"))


def _signed(arrow: pa.DataType) -> pa.DataType:
    """Return the signed integers that hold unsigned ones, and any other type as it is.

    deltalake would take those of the same width, and refuse large values of them.
    """
    import pyarrow as pa

    if not pa.types.is_unsigned_integer(arrow):
        return arrow
    wider = {8: pa.int16(), 16: pa.int32()}
    return wider.get(arrow.bit_width, pa.int64())

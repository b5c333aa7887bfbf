"""Avro through Polars."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import OBJECT_STORES, ColumnReads, Given, Kind, Snippet, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.tables.arrow import REFUSES_WITHOUT_METADATA, arrow_of, frame_of, retyped
from adapter_core.tables.fetched import FetchedFormat
from adapter_core.tables.polars import polars_of
from adapter_core.values import integers_beyond_int64, with_nanoseconds

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from adapter_core import RemoteFile

# https://avro.apache.org/docs/1.12.0/specification/#names
_AVRO_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")

# The sync marker after each block; a block without rows is two zeros: its count and its length.
_MARKER_BYTES = 16
_EMPTY_BLOCK = b"\0\0"

_NO_TYPE = "Polars' Avro writer has no type for them"


class Adapter(FetchedFormat, ColumnReads):
    """Avro object container files through `polars.DataFrame.write_avro` and `polars.read_avro`.

    Every field is a union with null, which costs a byte a value, and Polars writes no metadata: small
    and unsigned integers come back as larger ones, nullable dtypes as similar ones, categories as their
    values. All rows are one block, hence a truncated file lacks its end.
    """

    label = "Avro[polars]"
    suffix = ".avro"
    requires = ("pandas", "polars", "pyarrow>=15", "fastavro")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND, Trait.SINGLE_FILE})
    save_schemes: ClassVar = OBJECT_STORES
    refuses: ClassVar = {
        **REFUSES_WITHOUT_METADATA,
        Kind.HALF_FLOAT: "Avro has no type for them",
        Kind.NULL: _NO_TYPE,
        Kind.TIME: _NO_TYPE,
        Kind.ZONED_DATETIME: _NO_TYPE,
        Kind.DECIMAL: "Polars' Avro writer loses the sign bit of some",
        Kind.TIMEDELTA: _NO_TYPE,
        Kind.WIDE_DECIMAL: _NO_TYPE,
        Kind.VECTOR: _NO_TYPE,
        Kind.MAP: _NO_TYPE,
    }
    file_facts = FileFacts(version="1")
    snippet = Snippet(
        imports="import polars as pl",
        write='df.rechunk().write_avro({path}, name="row")',
        read="df = pl.read_avro({path})",
        given=Given.POLARS,
        lacks=("int8", "category"),
    )

    def _check_values(self, df: pd.DataFrame) -> None:
        for name in df.columns:
            if not _AVRO_NAME.fullmatch(name):
                raise self.refusal(f"{name!r} cannot be the name of an Avro field")
        self._refuse_column(with_nanoseconds(df), "nanoseconds; Polars' Avro writer takes none")
        self._refuse_column(integers_beyond_int64(df), "integers beyond Avro's long, 2**63 - 1")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        polars_of(retyped(arrow_of(df), _writable)).rechunk().write_avro(path, name="row")

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        table = polars_of(retyped(arrow_of(df), _writable)).rechunk()
        with file.arrow_stream() as stream:
            table.write_avro(stream, name="row")

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import polars as pl

        table = pl.read_avro(path, columns=columns).to_arrow()
        if table.num_rows == 0:
            _check_block(path)
        return frame_of(table)

    def _column_names(self, path: Path) -> list[str]:
        import fastavro

        # Polars would read all rows for the names.
        with path.open("rb") as file:
            return [field["name"] for field in fastavro.reader(file).writer_schema["fields"]]


def _writable(arrow: pa.DataType) -> pa.DataType:
    """Return the type that Polars writes to Avro, of the same values."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(arrow):
        return _writable(arrow.value_type)
    if types.is_integer(arrow):
        fits = arrow.bit_width < pa.int32().bit_width or arrow == pa.int32()
        return pa.int32() if fits else pa.int64()
    if arrow == pa.timestamp("ns"):
        return pa.timestamp("us")
    return arrow


def _check_block(path: Path) -> None:
    """Raise ValueError for a file without rows that does not end with an empty block.

    Polars writes one such block for a table without rows. A truncated file ends with its header instead,
    and one that was written twice has rows after an empty block, where Polars stops reading.
    """
    with path.open("rb") as file:
        file.seek(-_MARKER_BYTES - len(_EMPTY_BLOCK), os.SEEK_END)
        if not file.read().startswith(_EMPTY_BLOCK):
            raise ValueError(f"{path.name} is cut short, or was written twice: no empty block ends it")

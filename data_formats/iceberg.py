"""Apache Iceberg through PyIceberg.

Iceberg tables in a folder that is not, or not yet, where their metadata say.

Iceberg's metadata name every file by its whole address. A table that is written under a temporary name
names those of its final place, and one that was moved those of its former place. So files are looked for
in the folder at hand, under the rest of their address.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core.data_format import DataFormat, Feature
from adapter_core.kinds import Kind, kinds_of
from adapter_core.tables.arrow import REFUSES_WITHOUT_NOTE, arrow_of, frame_of, retyped
from adapter_core.traits import Trait
from adapter_core.values import with_nanoseconds

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyiceberg.catalog import Catalog
    from pyiceberg.io import FileIO
    from pyiceberg.table import Table


HINT = "version-hint.text"


def files_in(folder: Path, place: str) -> FileIO:
    """Return access to the files of a table whose metadata say it is at `place`, and is in `folder`."""
    from pyarrow.fs import LocalFileSystem
    from pyiceberg.io.pyarrow import PyArrowFile, PyArrowFileIO

    local = LocalFileSystem()

    def at_hand(location: str) -> Path:
        if not location.startswith(f"{place}/"):
            raise FileNotFoundError(f"{location} is not in the table, which should be at {place}")
        return folder / location.removeprefix(f"{place}/")

    class FilesInFolder(PyArrowFileIO):
        """Local files, whose addresses begin with that place."""

        def new_input(self, location: str) -> PyArrowFile:
            return PyArrowFile(location, str(at_hand(location)), local)

        def new_output(self, location: str) -> PyArrowFile:
            at_hand(location).parent.mkdir(exist_ok=True)
            return self.new_input(location)

    return FilesInFolder()


def folder_catalog() -> Catalog:
    """Return the catalog of a table that has none: its versions are files in its own folder.

    They are numbered, and a hint names the last, as other libraries know it of tables on file systems:
    https://iceberg.apache.org/spec/#file-system-tables
    """
    from pyiceberg.catalog.noop import NoopCatalog
    from pyiceberg.serializers import ToOutputFile
    from pyiceberg.table import CommitTableResponse
    from pyiceberg.table.update import TableRequirement, TableUpdate, update_table_metadata

    class FolderCatalog(NoopCatalog):
        """Writes the metadata of a new version."""

        def commit_table(
            self,
            table: Table,
            requirements: tuple[TableRequirement, ...],
            updates: tuple[TableUpdate, ...],
        ) -> CommitTableResponse:
            for requirement in requirements:
                requirement.validate(table.metadata)
            metadata = update_table_metadata(table.metadata, updates)
            version = 1 + int(table.metadata_location.rpartition("/v")[2].split(".")[0])
            address = f"{metadata.location}/metadata/v{version}.metadata.json"
            ToOutputFile.table_metadata(metadata, table.io.new_output(address))
            hint = table.io.new_output(f"{metadata.location}/metadata/{HINT}")
            with hint.create(overwrite=True) as file:
                file.write(str(version).encode())
            return CommitTableResponse.model_validate(
                {"metadata": metadata, "metadata-location": address}
            )

    return FolderCatalog("folder")


LARGEST_LONG = 2**63 - 1

FIELD_ID = "PARQUET:field_id"
"""Key of an Arrow field's metadata by which PyIceberg, and Parquet, number columns."""

UNCOMPRESSED = {"write.parquet.compression-codec": "uncompressed"}

_NO_TYPE = "Iceberg has no type for them"


class Adapter(DataFormat):
    """An Apache Iceberg table (a directory) through PyIceberg, without a catalog.

    Its files are Parquet, here not compressed. Its metadata name them by whole addresses, so a table
    that was moved is read here, where files are looked for in the folder at hand, but not by others.

    Unsigned integers come back as larger signed ones, datetimes in microseconds and those with a time
    zone in UTC, nullable dtypes as similar ones, categories as their values.
    """

    label = "Iceberg"
    suffix = ".iceberg"
    requires = ("pandas", "pyiceberg", "pyarrow>=15")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND})
    supports: ClassVar = frozenset({Feature.COLUMNS})
    refuses: ClassVar = REFUSES_WITHOUT_NOTE | {
        Kind.HALF_FLOAT: _NO_TYPE,
        Kind.NULL: "Iceberg has no type for them before version 3",
        Kind.TIMEDELTA: _NO_TYPE,
    }

    def __init__(self) -> None:
        self._final_paths: dict[Path, Path] = {}

    @contextmanager
    def replacing(self, path: str | os.PathLike[str]) -> Iterator[Path]:
        """Give a temporary path, and remember the place that the metadata shall name."""
        with super().replacing(path) as temporary:
            self._final_paths[temporary] = Path(path)
            try:
                yield temporary
            finally:
                del self._final_paths[temporary]

    def _check_values(self, df: pd.DataFrame) -> None:
        if "" in df.columns:
            raise self.refusal("a column has no name")
        name = with_nanoseconds(df)
        if name is not None:
            raise self.refusal(f"column {name!r} contains nanoseconds; PyIceberg writes none")
        for position, kind in enumerate(kinds_of(df)):
            unsigned = kind in (Kind.UNSIGNED, Kind.NULLABLE_UNSIGNED)
            if unsigned and (df.iloc[:, position].dropna() > LARGEST_LONG).any():
                name = df.columns[position]
                raise self.refusal(f"column {name!r} contains integers beyond Iceberg's long, 2**63 - 1")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        table = retyped(arrow_of(df), _writable)
        place = self._final_paths.get(path, path).absolute().as_uri()
        path.mkdir()
        _new_table(table.schema, path, place).append(table)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        fields = ("*",) if columns is None else tuple(columns)
        return frame_of(opened(path).scan(selected_fields=fields).to_arrow())

    def _column_names(self, path: Path) -> list[str]:
        return list(opened(path).schema().column_names)


def _new_table(schema: pa.Schema, path: Path, place: str) -> Table:
    import pyarrow as pa
    from pyiceberg.io.pyarrow import pyarrow_to_schema
    from pyiceberg.partitioning import UNPARTITIONED_PARTITION_SPEC
    from pyiceberg.table import Table
    from pyiceberg.table.metadata import new_table_metadata
    from pyiceberg.table.sorting import UNSORTED_SORT_ORDER

    numbered = pa.schema(
        [field.with_metadata({FIELD_ID: str(number)}) for number, field in enumerate(schema, 1)]
    )
    metadata = new_table_metadata(
        pyarrow_to_schema(numbered),
        UNPARTITIONED_PARTITION_SPEC,
        UNSORTED_SORT_ORDER,
        place,
        UNCOMPRESSED,
    )
    before = f"{place}/metadata/v0.metadata.json"
    return Table(("data",), metadata, before, files_in(path, place), folder_catalog())


def opened(path: Path) -> Table:
    """Return the last version of a table."""
    from pyiceberg.serializers import FromByteStream
    from pyiceberg.table import Table

    folder = path / "metadata"
    name = f"v{int((folder / HINT).read_text())}.metadata.json"
    with (folder / name).open("rb") as file:
        metadata = FromByteStream.table_metadata(file)
    place = metadata.location
    address = f"{place}/metadata/{name}"
    return Table(("data",), metadata, address, files_in(path, place), folder_catalog())


def _writable(arrow: pa.DataType) -> pa.DataType:
    """Return the type that Iceberg has in place of another, and that holds the same values."""
    import pyarrow as pa
    from pyarrow import types

    if types.is_dictionary(arrow):
        return _writable(arrow.value_type)
    if types.is_unsigned_integer(arrow):
        return pa.int32() if arrow.bit_width < pa.int32().bit_width else pa.int64()
    if types.is_timestamp(arrow):
        return pa.timestamp("us", "UTC" if arrow.tz else None)
    return arrow

"""Arrow IPC stream through pyarrow."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import OBJECT_STORES, Given, PartialReads, Snippet, Streams, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.tables import arrow
from adapter_core.tables.arrow_parts import rows_where, slice_of, tables_of
from adapter_core.tables.fetched import FetchedFormat

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from adapter_core import Batch, Predicate, RemoteFile

END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"
"""https://arrow.apache.org/docs/format/Columnar.html#ipc-streaming-format"""


class Adapter(FetchedFormat, PartialReads, Streams):
    """The Arrow IPC stream, in a file, through pyarrow: Feather without the index at its end.

    pyarrow trusts the sizes and offsets in a file. Sizes are checked here, which costs next to nothing;
    offsets are not, since `pyarrow.Table.validate` with ``full=True`` doubles the time of a read. Hence
    text of a damaged file may crash its user, as in 10 of 56 trials with pyarrow 26.0.1.

    The format allows streams without an end marker, which could be cut between two batches. These files
    have one, and files without it are refused.
    """

    label = "IPC.stream"
    suffix = ".arrows"
    requires = ("pandas", "pyarrow>=15")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    refuses_categories: ClassVar = arrow.NO_CATEGORIES_OF_EXTENSIONS
    refuses: ClassVar = arrow.REFUSES_WITH_METADATA
    save_schemes: ClassVar = OBJECT_STORES
    crash_on_damage = "damaged offsets of text end the process (SIGABRT) when the values are used"
    file_facts = FileFacts(
        silent="a stream has no footer, and each message alone names its codec", threads="all cores"
    )
    snippet = Snippet(
        imports="import pyarrow as pa",
        write="""
            with pa.OSFile({path}, "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
                writer.write_table(table)
        """,
        read="""
            with pa.OSFile({path}) as file, pa.ipc.open_stream(file) as reader:
                table = reader.read_all()
        """,
        given=Given.TABLE,
    )

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import pyarrow as pa

        table = arrow.arrow_of(df)
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, table.schema) as writer:
            writer.write_table(table)

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        import pyarrow as pa

        table = arrow.arrow_of(df)
        with file.arrow_stream() as stream, pa.ipc.new_stream(stream, table.schema) as writer:
            writer.write_table(table)

    def _save_batches(self, batches: Iterator[pd.DataFrame], path: Path) -> None:
        import pyarrow as pa

        reader = arrow.reader_of(batches)
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_stream(file, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import pyarrow as pa

        fields = None
        if columns is not None:
            names = self._column_names(path)
            fields = [names.index(name) for name in columns]
        options = pa.ipc.IpcReadOptions(included_fields=fields)
        with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file, options=options) as reader:
            table = reader.read_all()
        table.validate()
        _check_end(path)
        return arrow.pandas_of(table)

    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        import pyarrow as pa

        # By read(2), pyarrow would read the columns that it skips.
        with pa.memory_map(str(path)) as file:
            fields = arrow.positions(pa.ipc.open_stream(file).schema, columns)
            file.seek(0)
            options = pa.ipc.IpcReadOptions(included_fields=fields)
            for batch in pa.ipc.open_stream(file, options=options):
                batch.validate()
                yield from arrow.array_batches([batch])
        _check_end(path)

    def _column_names(self, path: Path) -> list[str]:
        import pyarrow as pa

        with pa.OSFile(str(path)) as file, pa.ipc.open_stream(file) as reader:
            return reader.schema.names

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        with _mapped(path, columns) as (batches, schema):
            return arrow.frame_of_part(slice_of(batches, schema, start, stop))

    def _read_where(self, path: Path, columns: list[str] | None, predicate: Predicate) -> pd.DataFrame:
        needed = None if columns is None else [*columns, *predicate.columns]
        with _mapped(path, needed) as (batches, schema):
            return arrow.frame_of_part(rows_where(batches, schema, columns, predicate))

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        with _mapped(path, columns) as (batches, _):
            for part in tables_of(batches, batch_rows):
                yield arrow.frame_of_part(part)


@contextmanager
def _mapped(
    path: Path, columns: list[str] | None
) -> Iterator[tuple[Iterator[pa.RecordBatch], pa.Schema]]:
    """Map a file into memory, whose pages are read as they are used; provide its batches and schema."""
    import pyarrow as pa

    _check_end(path)
    with pa.memory_map(str(path)) as file:
        with pa.ipc.open_stream(file) as reader:
            fields = None if columns is None else arrow.positions(reader.schema, set(columns))
        file.seek(0)
        options = pa.ipc.IpcReadOptions(included_fields=fields)
        with pa.ipc.open_stream(file, options=options) as reader:
            yield _validated(reader), reader.schema


def _validated(batches: pa.RecordBatchReader) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        batch.validate()
        yield batch


def _check_end(path: Path) -> None:
    with path.open("rb") as file:
        file.seek(-len(END_OF_STREAM), os.SEEK_END)
        if file.read() != END_OF_STREAM:
            raise ValueError(f"{path.name} is cut short: it has no end-of-stream marker")

"""Feather through pandas and pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import (
    OBJECT_STORES,
    Codec,
    PartialReads,
    RemoteTable,
    Snippet,
    Streams,
    Trait,
    Tunable,
)
from adapter_core.arrow_codec import codec_of_file
from adapter_core.codec_choice import Recommended
from adapter_core.file_facts import FileFacts
from adapter_core.snippets import keywords
from adapter_core.tables import arrow
from adapter_core.tables.arrow_parts import slice_of, tables_of

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.dataset as ds

    from adapter_core import Batch, Predicate, RemoteFile


class Adapter(PartialReads, Streams, Tunable, RemoteTable):
    """Feather V2, the Arrow IPC file, through `DataFrame.to_feather` and `pyarrow.feather.read_feather`.

    pyarrow trusts the offsets of text in an uncompressed file: damaged ones end the process that uses
    the values, seen in 14 of 56 trials with pyarrow 26.0.1.
    """

    label = "Feather"
    suffix = ".feather"
    requires = ("pandas", "pyarrow>=15")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    codecs: ClassVar = (Codec("lz4", range(1, 13), 1), Codec("zstd", range(1, 23), 1))
    default_codec = "lz4"
    recommended = Recommended(
        "https://arrow.apache.org/docs/python/feather.html",
        default_codec,
        words="LZ4, as by default",
        seen="2026-11-25",
    )
    refuses_categories: ClassVar = arrow.NO_CATEGORIES_OF_EXTENSIONS
    refuses: ClassVar = arrow.REFUSES_WITH_METADATA
    remote_schemes: ClassVar = ("s3",)
    save_schemes: ClassVar = OBJECT_STORES
    tuned_options: ClassVar = {"compression": "uncompressed", "chunksize": 65_536}
    tuned_indexes = "no codec, so that columns are mapped; Feather has neither statistics nor indexes"
    crash_on_damage = (
        "damaged offsets of text end the process (SIGABRT, SIGSEGV) when the values are used"
    )
    file_facts = FileFacts(version="2", parts={"record batch": 65_536}, threads="all cores")
    snippet = Snippet(
        imports="from pyarrow import feather",
        write="df.to_feather({path}, {compression}, version=2)",
        read="df = feather.read_feather({path})",
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {"compression": keywords(compression=codec or "uncompressed", compression_level=level)}

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        df.to_feather(path, compression=codec or "uncompressed", compression_level=level, version=2)

    def _save_tuned(self, df: pd.DataFrame, path: Path, sort_by: list[str], lookups: list[str]) -> None:
        df.to_feather(path, version=2, **self.tuned_options)

    def _save_batches(self, batches: Iterator[pd.DataFrame], path: Path) -> None:
        import pyarrow as pa

        reader = arrow.reader_of(batches)
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, reader.schema) as writer:
            for batch in reader:
                writer.write_batch(batch)

    def _count_rows(self, path: Path) -> int:
        return _dataset(path).count_rows()

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        from pyarrow import feather

        # pandas opens the path itself, and pyarrow reads through Python's file object: twice the time.
        return arrow.pandas_of(feather.read_table(path, columns=columns))

    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        import pyarrow as pa

        with pa.OSFile(str(path)) as file:
            # The file is opened twice, since columns are chosen by position.
            fields = arrow.positions(pa.ipc.open_file(file).schema, columns)
            options = pa.ipc.IpcReadOptions(included_fields=fields)
            reader = pa.ipc.open_file(file, options=options)
            yield from arrow.array_batches(map(reader.get_batch, range(reader.num_record_batches)))

    def _column_names(self, path: Path) -> list[str]:
        import pyarrow as pa

        with pa.OSFile(str(path)) as file:
            return pa.ipc.open_file(file).schema.names

    def _codec_used(self, path: Path) -> str | None:
        return codec_of_file(path)

    def _read_remote(self, file: RemoteFile, columns: list[str] | None) -> pd.DataFrame:
        from pyarrow import dataset

        # Unlike pandas.read_feather, data sets request several columns at once.
        server = file.arrow_file_system()
        data = dataset.dataset(file.arrow_path, format="ipc", filesystem=server)
        return arrow.pandas_of(data.to_table(columns))

    def _count_rows_remote(self, file: RemoteFile) -> int:
        from pyarrow import dataset

        server = file.arrow_file_system()
        return dataset.dataset(file.arrow_path, format="ipc", filesystem=server).count_rows()

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        with file.arrow_stream() as stream:
            codec = codec or "uncompressed"
            df.to_feather(stream, compression=codec, compression_level=level, version=2)

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        data = _dataset(path)
        part = slice_of(data.to_batches(columns=columns), _schema(data, columns), start, stop)
        return arrow.frame_of_part(part)

    def _read_where(self, path: Path, columns: list[str] | None, predicate: Predicate) -> pd.DataFrame:
        data = _dataset(path)
        return arrow.frame_of_part(data.to_table(columns, arrow.arrow_filter(predicate, data.schema)))

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        import pyarrow as pa

        # A data set would read many batches ahead, whatever its options.
        with pa.OSFile(str(path)) as file:
            schema = pa.ipc.open_file(file).schema
            fields = None if columns is None else arrow.positions(schema, columns)
            options = pa.ipc.IpcReadOptions(included_fields=fields)
            reader = pa.ipc.open_file(file, options=options)
            batches = map(reader.get_batch, range(reader.num_record_batches))
            for part in tables_of(batches, batch_rows):
                yield arrow.frame_of_part(part if columns is None else part.select(columns))


def _dataset(path: Path) -> ds.Dataset:
    import pyarrow.dataset as ds

    return ds.dataset(path, format="ipc")


def _schema(data: ds.Dataset, columns: list[str] | None) -> pa.Schema:
    """Return the schema of some columns, with the metadata of the file."""
    return data.scanner(columns=columns).projected_schema

"""Parquet through pandas and pyarrow."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import (
    Codec,
    Kind,
    PartialReads,
    Predicate,
    RemoteTable,
    Snippet,
    Streams,
    TableLayout,
    Trait,
    Tunable,
)
from adapter_core.codec_choice import Recommended
from adapter_core.file_facts import FileFacts
from adapter_core.kinds import NESTED
from adapter_core.remote import OBJECT_STORES
from adapter_core.snippets import keywords, literal
from adapter_core.tables import arrow
from adapter_core.tables.parquet_files import codec_of_files

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow.parquet as pq

    from adapter_core import Batch, RemoteFile

# Of each column while a file is read in batches; without a limit a whole row group is in memory.
_BUFFER_BYTES = 2**20


class Adapter(PartialReads, Streams, Tunable, RemoteTable):
    """Apache Parquet through `DataFrame.to_parquet`, and pyarrow as `pandas.read_parquet` calls it.

    pandas itself cannot read back its own metadata of nested columns.
    """

    label = "Parquet"
    suffix = ".parquet"
    requires = ("pandas", "pyarrow>=15")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    codecs: ClassVar = (
        Codec("snappy"),
        Codec("gzip", range(1, 10), 9),
        Codec("brotli", range(12), 8),
        Codec("lz4", range(1, 13), 1),
        Codec("zstd", range(1, 23), 1),
    )
    default_codec = "snappy"
    recommended = Recommended(
        "https://docs.rs/parquet/latest/parquet/basic/enum.Compression.html "
        "https://duckdb.org/docs/stable/guides/performance/file_formats",
        "zstd",
        options={"row_group_size": 122_880, "write_page_index": True},
        words="zstd as a balance of size, speed and support; row groups of 100,000 to 1,000,000 rows",
        seen="2026-11-25",
        parts={"row group": 122_880, "page index": "yes"},
    )
    refuses_categories: ClassVar = arrow.NO_CATEGORIES_OF_EXTENSIONS | {
        Kind.TIMEDELTA: "they come back as numbers"
    }
    refuses: ClassVar = {
        **arrow.REFUSES_WITH_METADATA,
        **arrow.NO_EMPTY_STRUCTS,
        Kind.MIXED: "a Parquet column has one type",
    }
    checksums = "CRC-32 of each page: write_page_checksum, and page_checksum_verification when reading"
    remote_schemes: ClassVar = ("s3",)
    save_schemes: ClassVar = OBJECT_STORES
    tuned_options: ClassVar = {
        "compression": "zstd",
        "row_group_size": 131_072,
        "write_page_index": True,
        "max_rows_per_page": 8_192,
    }
    not_indexed: ClassVar = NESTED | {Kind.BOOLEAN, Kind.NULLABLE_BOOLEAN}
    tuned_indexes = "sorting_columns; bloom filters of lookup columns (ndv=131072, fpp=0.01)"
    layout_names: ClassVar = {
        "codec": "compression",
        "level": "compression_level",
        "group_rows": "row_group_size",
        "page_rows": "max_rows_per_page",
        "encodings": "column_encoding",
        "statistics": "write_statistics",
        "lookups": "",
    }
    layout_codecs: ClassVar = ("none", "snappy", "lz4", "zstd:1", "zstd:6")
    file_facts = FileFacts(
        version="2.6",
        parts={"row group": 1_048_576, "encodings": "PLAIN, RLE, RLE_DICTIONARY", "page index": "no"},
        threads="all cores",
    )
    snippet = Snippet(
        imports="import pandas as pd",
        write='df.to_parquet({path}, engine="pyarrow", {compression}, {options}, index=False)',
        read='df = pd.read_parquet({path}, engine="pyarrow", partitioning=None)',
        notes=("row_group_size=131_072 makes row groups of so many rows, the parts that readers skip",),
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {
            "compression": f"compression={literal(codec)}",
            "options": keywords(compression_level=level, **self.options),
        }

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        options = {**self.options, "write_page_checksum": True} if self.uses_checksums else self.options
        df.to_parquet(
            path, engine="pyarrow", compression=codec, compression_level=level, index=False, **options
        )

    def layout_options(self, layout: TableLayout) -> dict[str, Any]:
        options = super().layout_options(layout)
        if layout.page_rows:
            options["write_page_index"] = True
        if layout.encodings:
            options["column_encoding"] = dict(layout.encodings)
        if layout.statistics:
            options["write_statistics"] = list(layout.statistics)
        return options

    def layout_code(self, layout: TableLayout, names: Sequence[str]) -> str:
        options = _with_dictionaries(self.layout_options(layout), names)
        if layout.filtered:
            options["bloom_filter_options"] = _filters(layout.filtered)
        arguments = ["target", 'engine="pyarrow"', "index=False"]
        if layout.sort_by:
            numbers = ", ".join(f"pq.SortingColumn({names.index(each)})" for each in layout.sort_by)
            arguments.append(f"sorting_columns=[{numbers}]")
        arguments += [f"{name}={value!r}" for name, value in options.items()]
        lines = "".join(f"    {each},\n" for each in arguments)
        return f"import pyarrow.parquet as pq\n\ndf.to_parquet(\n{lines})\n"

    def _save_tuned(self, df: pd.DataFrame, path: Path, sort_by: list[str], lookups: list[str]) -> None:
        import pyarrow.parquet as pq

        order = [pq.SortingColumn(df.columns.get_loc(name)) for name in sort_by]
        df.to_parquet(
            path,
            engine="pyarrow",
            index=False,
            sorting_columns=order or None,
            bloom_filter_options=_filters(lookups) or None,
            **_with_dictionaries(self.tuned_options, list(df.columns)),
        )

    def _save_batches(self, batches: Iterator[pd.DataFrame], path: Path) -> None:
        import pyarrow.parquet as pq

        reader = arrow.reader_of(batches)
        checks = {"write_page_checksum": True} if self.uses_checksums else {}
        with pq.ParquetWriter(path, reader.schema, compression="none", **checks) as writer:
            for batch in reader:
                writer.write_batch(batch)

    def _count_rows(self, path: Path) -> int:
        import pyarrow.parquet as pq

        return pq.read_metadata(path).num_rows

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import pyarrow.parquet as pq

        # Without partitioning=None, a folder named "key=value" above the file becomes a column.
        table = pq.read_table(path, columns=columns, partitioning=None, **self._checks())
        return arrow.pandas_of(table)

    def _checks(self) -> dict[str, Any]:
        return {"page_checksum_verification": True} if self.uses_checksums else {}

    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        import pyarrow.parquet as pq

        with pq.ParquetFile(path, page_checksum_verification=self.uses_checksums) as file:
            arrow.positions(file.schema_arrow, columns)  # pyarrow would leave out unknown ones
            for group in range(file.num_row_groups):
                yield from arrow.array_batches(file.read_row_group(group, columns).to_batches())

    def _column_names(self, path: Path) -> list[str]:
        import pyarrow.parquet as pq

        return pq.read_schema(path).names

    def _codec_used(self, path: Path) -> str | None:
        return codec_of_files([path])

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        with self._opened(path) as file:
            groups, before = _groups_between(file.metadata, start, stop)
            table = file.read_row_groups(groups, columns)
        length = None if stop is None else stop - start
        return arrow.frame_of_part(table.slice(start - before, length))

    def _read_where(self, path: Path, columns: list[str] | None, predicate: Predicate) -> pd.DataFrame:
        import pyarrow.parquet as pq

        rows = arrow.arrow_filter(predicate, pq.read_schema(path))
        return arrow.frame_of_part(
            pq.read_table(path, columns=columns, filters=rows, partitioning=None, **self._checks())
        )

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        import pyarrow as pa

        with self._opened(path) as file:
            for batch in file.iter_batches(batch_rows, columns=columns):
                yield arrow.frame_of_part(pa.Table.from_batches([batch]))

    def _opened(self, path: Path) -> pq.ParquetFile:
        import pyarrow.parquet as pq

        # With a buffer for each column, a row group is not in memory as a whole.
        return pq.ParquetFile(path, buffer_size=_BUFFER_BYTES, pre_buffer=False, **self._checks())

    def _read_remote(self, file: RemoteFile, columns: list[str] | None) -> pd.DataFrame:
        import pyarrow.parquet as pq

        server = file.arrow_file_system()
        return arrow.pandas_of(
            pq.read_table(file.arrow_path, columns=columns, filesystem=server, partitioning=None)
        )

    def _count_rows_remote(self, file: RemoteFile) -> int:
        import pyarrow.parquet as pq

        return pq.read_metadata(file.arrow_path, filesystem=file.arrow_file_system()).num_rows

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        df.to_parquet(
            file.arrow_path,
            engine="pyarrow",
            compression=codec,
            compression_level=level,
            index=False,
            filesystem=file.arrow_file_system(),
        )


def _filters(names: Sequence[str]) -> dict[str, dict[str, float]]:
    return {name: {"ndv": 131_072, "fpp": 0.01} for name in names}


def _with_dictionaries(options: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return options with dictionaries for all columns but those that have an encoding of their own."""
    encoded = options.get("column_encoding")
    plain = {"use_dictionary": [name for name in names if name not in encoded]} if encoded else {}
    return {**options, **plain}


def _groups_between(metadata: pq.FileMetaData, start: int, stop: int | None) -> tuple[list[int], int]:
    """Return the row groups with rows of a range, and the number of rows before the first of them."""
    groups: list[int] = []
    before = end = 0
    for group in range(metadata.num_row_groups):
        first, end = end, end + metadata.row_group(group).num_rows
        if end <= start:
            before = end
        elif stop is None or first < stop:
            groups.append(group)
    return groups, before

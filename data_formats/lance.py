"""Lance through its own Python library."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import (
    OBJECT_STORES,
    Changeable,
    Codec,
    IncompleteError,
    Kind,
    PartialReads,
    PartitionedTable,
    Partitions,
    Piece,
    RemoteTable,
    Snippet,
    Streams,
    TableLayout,
    Trait,
    Tunable,
    query_sql,
)
from adapter_core.codec_choice import Recommended
from adapter_core.file_facts import FileFacts
from adapter_core.kinds import NESTED, kind_of_arrow, types_in
from adapter_core.snippets import literal
from adapter_core.tables import arrow

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from lance.dataset import LanceDataset
    from lance.fragment import LanceFragment

    from adapter_core import Batch, Predicate, RemoteFile
    from adapter_core.predicate import Value

# Parts of Lance's description of a page's encoding, which exists as text only.
_DICTIONARY = re.compile(r"dictionary: Some.*?num_dictionary_items", re.DOTALL)
_SCHEME = re.compile(r"scheme: CompressionAlgorithm(\w+)")

# The defaults are 16 batches and 2 GiB, which would be most of a table in memory.
_READ_AHEAD = 2
_IO_BUFFER_BYTES = 2**26

# A codebook of 8 bits is trained on at least as many vectors as it has entries.
_FEWEST_VECTORS = 256

# The default is 8 MiB for each column.
_STREAM_CACHE_BYTES = 2**25


class Adapter(PartialReads, Streams, Tunable, Partitions, RemoteTable, Changeable):
    """A Lance data set (a directory) through pylance, written directly from an Arrow table.

    The usual detour by a Parquet data set would also measure Parquet, and its threads may change the
    order of the rows.

    Without a codec, Lance packs bits, and compresses text by FSST; repeated values always go into
    dictionaries, and these through LZ4. With a codec, small pages stay uncompressed.
    """

    label = "Lance"
    suffix = ".lance"
    requires = ("pandas", "pyarrow>=15", "pylance")
    modules: ClassVar = {"pylance": "lance"}
    holds_nul_in_names = False
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND})
    codecs: ClassVar = (Codec("lz4"), Codec("zstd", range(1, 23), 3))
    recommended = Recommended(
        "https://lancedb.github.io/lance/format/file/versioning",
        None,
        words="the latest stable version of the format, as by default",
        seen="2026-11-25",
    )
    remote_schemes: ClassVar = ("s3",)
    save_schemes: ClassVar = OBJECT_STORES
    not_indexed: ClassVar = (NESTED - {Kind.VECTOR}) | {Kind.CATEGORY, Kind.CATEGORY_NOT_TEXT}
    tuned_indexes = "indexes: ZONEMAP of sort keys, BTREE of lookup columns, IVF_PQ of vectors"
    refuses_categories: ClassVar = arrow.NO_CATEGORIES_OF_EXTENSIONS | dict.fromkeys(
        (Kind.DATE, Kind.TIME, Kind.DATETIME, Kind.ZONED_DATETIME, Kind.TIMEDELTA, Kind.DECIMAL),
        "Lance encodes no dictionary of them",
    )
    refuses: ClassVar = {
        **arrow.REFUSES_WITH_METADATA,
        **arrow.NO_EMPTY_STRUCTS,
        Kind.MIXED: "a Lance column has one type",
    }

    layout_names: ClassVar = {"lookups": ""}
    file_facts = FileFacts(version="2.2", threads="all cores")
    snippet = Snippet(
        imports="import lance\nimport pyarrow as pa",
        write="""
            table = pa.Table.from_pandas(df, preserve_index=False)
            {fields}
            lance.write_dataset(table, {path})
        """,
        read="df = lance.dataset({path}).to_table().to_pandas()",
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the lines that name the codec in the metadata of each field."""
        if codec is None:
            return {"fields": ""}
        metadata = literal(_codec_metadata(codec, level))
        return {
            "fields": f"fields = [field.with_metadata({metadata}) for field in table.schema]\n"
            "table = table.cast(pa.schema(fields, table.schema.metadata))"
        }

    def _check_inside(self, name: str, kind: Kind, array: pa.Array) -> None:
        import pyarrow as pa

        super()._check_inside(name, kind, array)
        vectors = (each for each in types_in(array.type) if kind_of_arrow(each) is Kind.VECTOR)
        if any(not pa.types.is_primitive(each.value_type) for each in vectors):
            self._refuse_column(name, f"{Kind.VECTOR} of other values than numbers")

    def _check_values(self, df: pd.DataFrame) -> None:
        for name in df.columns:
            if not name or "." in name or "`" in name:
                raise self.refusal(f"{name!r} cannot be the name of a Lance field")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import lance
        import pyarrow as pa

        table = pa.Table.from_pandas(df, preserve_index=False)
        if codec is not None:
            table = _with_codec(table, codec, level)
        lance.write_dataset(table, path)

    def layout_code(self, layout: TableLayout, names: Sequence[str]) -> str:
        indexes = [*((each, "ZONEMAP") for each in layout.sort_by)]
        indexes += [(each, "BTREE") for each in layout.filtered]
        lines = ["data = lance.write_dataset(pa.Table.from_pandas(df, preserve_index=False), target)"]
        lines += [f"data.create_scalar_index({name!r}, {kind!r})" for name, kind in indexes]
        return "import lance\nimport pyarrow as pa\n\n" + "\n".join(lines) + "\n"

    def _save_tuned(self, df: pd.DataFrame, path: Path, sort_by: list[str], lookups: list[str]) -> None:
        import lance
        import pyarrow as pa

        data = lance.write_dataset(pa.Table.from_pandas(df, preserve_index=False), path)
        for name in sort_by:
            data.create_scalar_index(name, "ZONEMAP")
        for name in lookups:
            dtype = data.schema.field(name).type
            if not pa.types.is_fixed_size_list(dtype):
                data.create_scalar_index(name, "BTREE")
            elif len(df) >= _FEWEST_VECTORS and pa.types.is_floating(dtype.value_type):
                data.create_index(name, "IVF_PQ", num_sub_vectors=_codes_of(dtype.list_size))

    def _save_batches(self, batches: Iterator[pd.DataFrame], path: Path) -> None:
        import lance

        first = next(batches)
        for name in first.columns[first.dtypes == "category"]:
            raise self.refusal(f"in column {name!r} pylance repeats the categories of each batch")
        reader = arrow.reader_of(chain([first], batches))
        lance.write_dataset(reader, path, data_cache_bytes=_STREAM_CACHE_BYTES)

    def partitioned(self, path: str | os.PathLike[str]) -> PartitionedTable:
        return _Fragments(Path(path), self)

    def _partitioned_remote(self, file: RemoteFile) -> PartitionedTable:
        return _Fragments(file, self)

    def _count_rows(self, path: Path) -> int:
        import lance

        return lance.dataset(path).count_rows()

    def _append(self, path: Path, df: pd.DataFrame) -> None:
        import lance
        import pyarrow as pa

        lance.write_dataset(pa.Table.from_pandas(df, preserve_index=False), path, mode="append")

    def _update(self, path: Path, key: str, df: pd.DataFrame) -> None:
        import lance
        import pyarrow as pa

        rows = pa.Table.from_pandas(df, preserve_index=False)
        lance.dataset(path).merge_insert(key).when_matched_update_all().execute(rows)

    def _delete(self, path: Path, key: str, values: list[int]) -> None:
        import lance

        lance.dataset(path).delete(f"`{key}` IN ({', '.join(map(str, values))})")

    def _add_column(self, path: Path, name: str) -> None:
        import lance
        import pyarrow as pa

        lance.dataset(path).add_columns(pa.field(name, pa.float64()))

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import lance

        return arrow.pandas_of(lance.dataset(path).to_table(columns=columns))

    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        import lance

        yield from arrow.array_batches(lance.dataset(path).to_batches(columns=columns))

    def _column_names(self, path: Path) -> list[str]:
        import lance

        return lance.dataset(path).schema.names

    def _codec_used(self, path: Path) -> str | None:
        from lance.file import LanceFileReader

        for file in path.glob("data/*.lance"):
            for column in LanceFileReader(file).metadata().columns:
                for page in column.pages:
                    found = _SCHEME.search(_DICTIONARY.sub("", page.encoding))
                    if found:
                        return found[1].lower()
        return None

    def _read_remote(self, file: RemoteFile, columns: list[str] | None) -> pd.DataFrame:
        import lance

        options = file.lance_options()
        data = lance.dataset(file.url, storage_options=options)
        return arrow.pandas_of(data.to_table(columns=columns))

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        import lance
        import pyarrow as pa

        table = pa.Table.from_pandas(df, preserve_index=False)
        if codec is not None:
            table = _with_codec(table, codec, level)
        lance.write_dataset(table, file.url, storage_options=file.lance_options())

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        import lance

        length = None if stop is None else stop - start
        return arrow.frame_of_part(
            lance.dataset(path).to_table(columns=columns, offset=start, limit=length)
        )

    def _read_where(self, path: Path, columns: list[str] | None, predicate: Predicate) -> pd.DataFrame:
        import lance

        data = lance.dataset(path)
        return arrow.frame_of_part(
            data.to_table(columns=columns, filter=_filter(predicate, data.schema))
        )

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        import lance
        import pyarrow as pa

        batches = lance.dataset(path).to_batches(
            columns=columns,
            batch_size=batch_rows,
            batch_readahead=_READ_AHEAD,
            io_buffer_size=_IO_BUFFER_BYTES,
        )
        for batch in batches:
            yield arrow.frame_of_part(pa.Table.from_batches([batch]))


class _Fragments(PartitionedTable):
    """A Lance data set whose fragments are written first, and then committed as its first version.

    https://lance.org/guide/distributed_write/
    """

    @property
    def _options(self) -> dict[str, str] | None:
        """Options of the object store; with credentials, so they are found where they are used."""
        return self.folder.remote.lance_options() if self.folder.remote else None

    def write(self, number: int, df: pd.DataFrame) -> Piece:
        import lance

        if self.adapter.checks_saves:
            self.adapter.check(df)
        table = arrow.arrow_of(df)
        fragments = lance.fragment.write_fragments(
            table, self.folder.address, mode="create", storage_options=self._options
        )
        written = [file for each in fragments for file in each.files]
        facts = {"fragments": [each.to_json() for each in fragments], "schema": table.schema}
        names = " ".join(file.path for file in written)
        return Piece(number, names, len(df), sum(file.file_size_bytes for file in written), facts)

    def commit(self, pieces: Sequence[Piece]) -> None:
        import lance

        fragments = [
            lance.FragmentMetadata.from_json(json.dumps(each))
            for piece in pieces
            for each in piece.facts["fragments"]
        ]
        created = lance.LanceOperation.Overwrite(pieces[0].facts["schema"], fragments)
        lance.LanceDataset.commit(self.folder.address, created, storage_options=self._options)

    def pieces(self) -> list[Piece]:
        sizes = self.folder.sizes()
        if not any(name.startswith("_versions/") for name in sizes):
            raise IncompleteError(f"{self.folder} is not complete: it has no version")
        return [
            Piece(
                fragment.fragment_id,
                str(fragment.fragment_id),
                fragment.metadata.physical_rows,
                sum(sizes[f"data/{file.path}"] for file in fragment.metadata.files),
            )
            for fragment in self._opened().get_fragments()
        ]

    def read(self, piece: Piece, columns: Sequence[str] | None = None) -> pd.DataFrame:
        fragment = self._fragment(piece)
        if columns is not None:
            arrow.positions(fragment.schema, columns)
        wanted = None if columns is None else list(columns)
        return arrow.frame_of_part(fragment.to_table(columns=wanted))

    def count(self, piece: Piece) -> int:
        return self._fragment(piece).count_rows()

    def _opened(self) -> LanceDataset:
        import lance

        return lance.dataset(self.folder.address, storage_options=self._options)

    def _fragment(self, piece: Piece) -> LanceFragment:
        return self._opened().get_fragment(piece.number)


def _with_codec(table: pa.Table, codec: str, level: int | None) -> pa.Table:
    """Return the table with the codec in the metadata of each field of values, where Lance expects it.

    https://lance.org/format/file/encoding/#configuring-compression
    """
    import pyarrow as pa

    metadata = _codec_metadata(codec, level)
    fields = [_with_metadata(field, metadata) for field in table.schema]
    # Values stay where they are: types differ in metadata alone.
    return table.cast(pa.schema(fields, table.schema.metadata))


def _with_metadata(field: pa.Field, metadata: dict[str, str]) -> pa.Field:
    """Return a field with metadata, or with those in the fields inside of lists and structs."""
    import pyarrow as pa

    if pa.types.is_list(field.type):
        return field.with_type(pa.list_(_with_metadata(field.type.value_field, metadata)))
    if pa.types.is_struct(field.type):
        return field.with_type(pa.struct([_with_metadata(each, metadata) for each in field.type]))
    return field.with_metadata(metadata)


def _codes_of(length: int) -> int:
    """Return the number of codes, of 8 bits each, for a vector, as LanceDB chooses it unasked.

    https://app.unpkg.com/@lancedb/lancedb@0.26.2/files/dist/indices.d.ts
    """
    return next((length // numbers for numbers in (16, 8) if length % numbers == 0), 1)


def _filter(predicate: Predicate, schema: pa.Schema) -> str:
    """Return a predicate in Lance's SQL, which takes literals of a column's own type only."""
    return " AND ".join(
        f"`{each.column}` {each.operator.replace('==', '=')} {literal_of(each.value)}"
        for each in arrow.fitted_to_schema(predicate, schema).by_total_order().comparisons
    )


def literal_of(value: Value) -> str:
    """Return a constant in Lance's SQL."""
    if isinstance(value, str):
        return "'{}'".format(value.replace("'", "''"))
    if isinstance(value, float):
        return f"CAST('{value}' AS DOUBLE)"
    if isinstance(value, datetime) and value.tzinfo is not None:
        # A literal of a timestamp is of the column's zone, whatever its own.
        text = value.astimezone(UTC).isoformat()
        return f"arrow_cast('{text}', 'Timestamp(Microsecond, Some(\"UTC\"))')"
    if isinstance(value, date):
        return f"{'timestamp' if isinstance(value, datetime) else 'date'} '{value}'"
    if isinstance(value, Decimal):
        return query_sql.literal(value, query_sql.Dialect.DATAFUSION)
    # A sign is an operation on the number after it, which is beyond 64 bits here.
    return f"CAST('{value}' AS BIGINT)" if value == -(2**63) else str(value).lower()


def _codec_metadata(codec: str, level: int | None) -> dict[str, str]:
    """Return the metadata of a field that is to be compressed."""
    metadata = {"lance-encoding:compression": codec}
    return metadata if level is None else {**metadata, "lance-encoding:compression-level": str(level)}

"""ORC through pandas and pyarrow."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import (
    OBJECT_STORES,
    Codec,
    Kind,
    PartialReads,
    RemoteTable,
    Snippet,
    Streams,
    TableLayout,
    Trait,
    Tunable,
)
from adapter_core.codec_choice import Recommended
from adapter_core.file_facts import FileFacts
from adapter_core.snippets import literal
from adapter_core.tables.arrow import array_batches, arrow_filter, pandas_of, reader_of, unsliced
from adapter_core.tables.arrow_parts import nullable_columns, slice_of, tables_of
from adapter_core.values import NANOSECOND_YEARS, datetimes_beyond

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    import pyarrow.dataset as ds

    from adapter_core import Batch, Predicate, RemoteFile

MAGIC = b"ORC"

# Length and a flag for chunks stored as they are: https://orc.apache.org/specification/ORCv1/#compression
CHUNK_HEADER_BYTES = 3

# Share of compressed bytes below which a codec counts as not used. The indexes and the footer may be
# compressed although no value is.
NEGLIGIBLE = 0.01

_NO_TYPE = "pandas' ORC writer has no type for them"


class Adapter(PartialReads, Streams, Tunable, RemoteTable):
    """Apache ORC through `DataFrame.to_orc`, and pyarrow as `pandas.read_orc` calls it.

    A file keeps no pandas types: nullable columns come back as floats or objects, datetimes in
    nanoseconds, datetimes with a time zone in UTC. No codec has levels. LZ4 runs at a speed at which it
    finds little but long repetitions, and leaves most data as it is.
    """

    label = "ORC"
    suffix = ".orc"
    requires = ("pandas", "pyarrow>=15")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    reads_nullable_integers_as_floats = True
    remote_schemes: ClassVar = ("s3",)
    save_schemes: ClassVar = OBJECT_STORES
    codecs: ClassVar = (Codec("snappy"), Codec("zlib"), Codec("lz4"), Codec("zstd"))
    # The writer of the format's makers, whose default pyarrow does not share.
    recommended = Recommended(
        "https://orc.apache.org/docs/core-java-config.html",
        "zstd",
        options={"dictionary_key_size_threshold": 0.8},
        words="zstd, and dictionaries of columns with up to 0.8 distinct values a row",
        seen="2026-11-25",
        parts={"dictionaries": "yes"},
    )
    tuned_options: ClassVar = {
        "compression": "zstd",
        "dictionary_key_size_threshold": 0.8,
        "stripe_size": 16_777_216,
    }
    tuned_indexes = "bloom filters of lookup columns (bloom_filter_fpp=0.01)"
    layout_names: ClassVar = {"codec": "compression", "page_rows": "row_index_stride", "lookups": ""}
    layout_codecs: ClassVar = ("none", "snappy", "lz4", "zstd")
    refuses: ClassVar = {
        Kind.UNSIGNED: "ORC has no type for them",
        Kind.NULLABLE_UNSIGNED: "ORC has no type for them",
        Kind.HALF_FLOAT: "ORC has no type for them",
        Kind.COMPLEX: "ORC has no type for them",
        Kind.TIMEDELTA: "ORC has no type for them",
        Kind.TIME: "ORC has no type for them",
        Kind.CATEGORY: _NO_TYPE,
        Kind.CATEGORY_NOT_TEXT: _NO_TYPE,
        Kind.NULL: _NO_TYPE,
        Kind.PERIOD: _NO_TYPE,
        Kind.INTERVAL: _NO_TYPE,
        Kind.SPARSE: _NO_TYPE,
        Kind.ARROW: "the file keeps no Arrow types of pandas",
        Kind.WIDE_DECIMAL: "ORC has no type for them",
        Kind.OTHER_NESTED: "ORC has no type for them",
        Kind.MIXED: "an ORC column has one type",
    }
    file_facts = FileFacts(
        version="0.12", parts={"row index": 10_000, "dictionaries": "no"}, threads="one"
    )
    snippet = Snippet(
        imports="import pandas as pd",
        write='df.to_orc({path}, engine="pyarrow", index=False, engine_kwargs={options})',
        read="df = pd.read_orc({path})",
        changes={"datetime64[us]": "datetime64[ns]", "Int64": "float64"},
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        return {"options": literal({**({"compression": codec} if codec else {}), **self.options})}

    def _check_values(self, df: pd.DataFrame) -> None:
        name = datetimes_beyond(df, {Kind.DATETIME, Kind.ZONED_DATETIME}, *NANOSECOND_YEARS)
        self._refuse_column(name, "datetimes beyond 64-bit nanoseconds")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        options = {**({"compression": codec} if codec else {}), **self.options}
        unsliced(df).to_orc(path, engine="pyarrow", index=False, engine_kwargs=options)

    def layout_options(self, layout: TableLayout) -> dict[str, Any]:
        options = super().layout_options(layout)
        return {**options, "compression": "uncompressed"} if layout.codec == "none" else options

    def layout_code(self, layout: TableLayout, names: Sequence[str]) -> str:
        options = {**self.layout_options(layout), **_filters(layout.filtered, names)}
        return f'df.to_orc(target, engine="pyarrow", index=False, engine_kwargs={options!r})\n'

    def _save_tuned(
        self,
        df: pd.DataFrame,
        path: Path,
        sort_by: list[str],
        lookups: list[str],
    ) -> None:
        options = {**self.tuned_options, **_filters(lookups, list(df.columns))}
        unsliced(df).to_orc(path, engine="pyarrow", index=False, engine_kwargs=options)

    def _save_batches(self, batches: Iterator[pd.DataFrame], path: Path) -> None:
        import pyarrow as pa
        from pyarrow import orc

        reader = reader_of(batches)
        with orc.ORCWriter(path) as writer:
            for batch in reader:
                writer.write(pa.Table.from_batches([batch]))

    def _count_rows(self, path: Path) -> int:
        from pyarrow import orc

        return orc.ORCFile(path).nrows

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        from pyarrow import orc

        return pandas_of(orc.ORCFile(path).read(columns))

    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        from pyarrow import orc

        file = orc.ORCFile(path)
        for stripe in range(file.nstripes):
            yield from array_batches([file.read_stripe(stripe, columns)])

    def _column_names(self, path: Path) -> list[str]:
        from pyarrow import orc

        return orc.ORCFile(path).schema.names

    def _codec_used(self, path: Path) -> str | None:
        from pyarrow import orc

        codec = orc.ORCFile(path).compression
        if codec == "UNCOMPRESSED":
            return None
        compressed, original = _chunk_bytes(path)
        return codec.lower() if compressed > NEGLIGIBLE * original else None

    def _read_remote(self, file: RemoteFile, columns: list[str] | None) -> pd.DataFrame:
        from pyarrow import orc

        with file.arrow_file_system().open_input_file(file.arrow_path) as opened:
            return pandas_of(orc.ORCFile(opened).read(columns))

    def _count_rows_remote(self, file: RemoteFile) -> int:
        from pyarrow import orc

        with file.arrow_file_system().open_input_file(file.arrow_path) as opened:
            return orc.ORCFile(opened).nrows

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        options = {"compression": codec} if codec else {}
        with file.arrow_stream() as stream:
            unsliced(df).to_orc(stream, engine="pyarrow", index=False, engine_kwargs=options)

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        data = _dataset(path)
        schema = data.scanner(columns=columns).projected_schema
        part = slice_of(data.to_batches(columns), schema, start, stop)
        return _frame_of(part, nullable_columns(schema, columns, data.to_batches))

    def _read_where(self, path: Path, columns: list[str] | None, predicate: Predicate) -> pd.DataFrame:
        data = _dataset(path)
        part = data.to_table(columns, arrow_filter(predicate, data.schema))
        return _frame_of(part, nullable_columns(data.schema, columns, data.to_batches))

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        data = _dataset(path)
        nullable = nullable_columns(data.schema, columns, data.to_batches)
        for part in tables_of(data.to_batches(columns, batch_size=batch_rows), batch_rows):
            yield _frame_of(part, nullable)


def _chunk_bytes(path: Path) -> tuple[int, int]:
    """Return the bytes of a file in compressed chunks, and in others.

    Everything between the magic number and the postscript is in chunks, whose headers have a flag:
    https://orc.apache.org/specification/ORCv1/#compression
    """
    compressed = original = 0
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        end = file.tell() - file.read(1)[0]
        position = file.seek(len(MAGIC))
        while position < end:
            header = int.from_bytes(file.read(CHUNK_HEADER_BYTES), "little")
            length = header >> 1
            if header & 1:
                original += length
            else:
                compressed += length
            position = file.seek(length, os.SEEK_CUR)
    return compressed, original


def _dataset(path: Path) -> ds.Dataset:
    import pyarrow.dataset as ds

    return ds.dataset(path, format="orc")


def _frame_of(part: pa.Table, nullable: list[str]) -> pd.DataFrame:
    """Return some rows with the dtypes of the whole table, which depend on nulls in other rows."""
    df = pandas_of(part)
    return df.astype({name: object if df[name].dtype in (bool, object) else float for name in nullable})


def _filters(lookups: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    # The root of the tree of columns is number 0.
    numbers = [1 + names.index(name) for name in lookups]
    return {"bloom_filter_columns": numbers, "bloom_filter_fpp": 0.01} if numbers else {}

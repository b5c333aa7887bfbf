"""Delta Lake through deltalake."""

from __future__ import annotations

import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, ClassVar

from adapter_core import PARTIAL_READS, DataFormat, Kind, Trait
from adapter_core.remote import OBJECT_STORES
from adapter_core.tables.arrow import (
    REFUSES_WITHOUT_METADATA,
    array_batches,
    arrow_filter,
    arrow_of,
    frame_of,
    retyped,
)
from adapter_core.tables.arrow_parts import nullable_columns, slice_of, tables_of
from adapter_core.tables.sql import misnamed
from adapter_core.values import integers_beyond_int64, with_nanoseconds

if TYPE_CHECKING:
    import deltalake
    import pandas as pd
    import pyarrow as pa
    import pyarrow.dataset as ds

    from adapter_core import Predicate, RemoteFile
    from adapter_core.column_batches import Batch

# deltalake turns a path into the domain of an address, which forbids other characters.
_NOT_IN_DOMAIN = re.compile(r"[^\w /.=+-]")

_NO_TYPE = "Delta Lake has no type for them"


class Adapter(DataFormat):
    """A Delta Lake table (a directory) through `deltalake.write_deltalake` and `deltalake.DeltaTable`.

    Its files are uncompressed Parquet, listed in a log by paths relative to the table, which may be
    moved. If deltalake refuses a path, the table is written, or read, by way of a copy elsewhere.
    Unsigned integers come back as larger signed ones, datetimes in microseconds and those with a time
    zone in UTC, nullable dtypes as similar ones, categories as their values.
    """

    label = "Delta"
    suffix = ".delta"
    requires = ("pandas", "deltalake", "pyarrow>=15")
    suite = "engines"
    holds_nul_in_names = False
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND})
    supports: ClassVar = PARTIAL_READS
    save_schemes: ClassVar = OBJECT_STORES
    tuned_options: ClassVar = {"compression": "ZSTD", "max_row_group_size": 131_072}
    tuned_indexes = "bloom filters of lookup columns (ndv=131072, fpp=0.01)"
    refuses: ClassVar = REFUSES_WITHOUT_METADATA | {
        Kind.HALF_FLOAT: _NO_TYPE,
        Kind.TIME: _NO_TYPE,
        Kind.TIMEDELTA: _NO_TYPE,
    }

    def _check_values(self, df: pd.DataFrame) -> None:
        reason = misnamed(df.columns)
        if reason:
            raise self.refusal(reason)
        self._refuse_column(with_nanoseconds(df), "nanoseconds; Delta Lake stores microseconds")
        self._refuse_column(integers_beyond_int64(df), "integers beyond Delta's long, 2**63 - 1")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import deltalake

        _write(df, path, deltalake.WriterProperties(compression="UNCOMPRESSED"))

    def _save_tuned(
        self,
        df: pd.DataFrame,
        path: Path,
        sort_by: list[str],
        lookups: list[str],
    ) -> None:
        import deltalake

        bloom = deltalake.BloomFilterProperties(set_bloom_filter_enabled=True, fpp=0.01, ndv=131_072)
        filtered = deltalake.ColumnProperties(bloom_filter_properties=bloom)
        options = deltalake.WriterProperties(
            column_properties=dict.fromkeys(lookups, filtered), **self.tuned_options
        )
        _write(df, path, options)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import deltalake

        with _addressable(path) as location:
            return frame_of(deltalake.DeltaTable(location).to_pyarrow_table(columns=columns))

    def _read_remote(self, file: RemoteFile, columns: list[str] | None) -> pd.DataFrame:
        import deltalake

        table = deltalake.DeltaTable(file.url, storage_options=_storage_options(file))
        return frame_of(table.to_pyarrow_table(columns=columns))

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        import deltalake

        deltalake.write_deltalake(
            file.url,
            retyped(arrow_of(df), _signed),
            writer_properties=deltalake.WriterProperties(compression="UNCOMPRESSED"),
            storage_options=_storage_options(file),
        )

    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        import deltalake

        with _addressable(path) as location:
            files = deltalake.DeltaTable(location).to_pyarrow_dataset()
            yield from array_batches(files.to_batches(columns=columns))

    def _column_names(self, path: Path) -> list[str]:
        import deltalake

        with _addressable(path) as location:
            return [field.name for field in deltalake.DeltaTable(location).schema().fields]

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        with _dataset(path) as data:
            schema = data.scanner(columns=columns).projected_schema
            part = slice_of(data.to_batches(columns), schema, start, stop)
            return frame_of(part, nullable=nullable_columns(schema, columns, data.to_batches))

    def _read_where(self, path: Path, columns: list[str] | None, predicate: Predicate) -> pd.DataFrame:
        with _dataset(path) as data:
            part = data.to_table(columns, arrow_filter(predicate, data.schema))
            return frame_of(part, nullable=nullable_columns(data.schema, columns, data.to_batches))

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        with _dataset(path) as data:
            nullable = nullable_columns(data.schema, columns, data.to_batches)
            batches = data.to_batches(
                columns,
                batch_size=batch_rows,
                batch_readahead=1,
                fragment_readahead=1,
                fragment_scan_options=_buffered(),
            )
            for part in tables_of(batches, batch_rows):
                yield frame_of(part, nullable=nullable)


def _write(df: pd.DataFrame, path: Path, options: deltalake.WriterProperties) -> None:
    import deltalake

    table = retyped(arrow_of(df), _signed)
    if not _NOT_IN_DOMAIN.search(str(path.absolute())):
        deltalake.write_deltalake(path, table, writer_properties=options)
        return
    with TemporaryDirectory() as folder:
        elsewhere = Path(folder, "table")
        deltalake.write_deltalake(elsewhere, table, writer_properties=options)
        shutil.move(elsewhere, path)


def _storage_options(file: RemoteFile) -> dict[str, str]:
    return file.object_store_options() | {"max_retries": str(file.attempts - 1)}


@contextmanager
def _dataset(path: Path) -> Iterator[ds.Dataset]:
    import deltalake

    with _addressable(path) as location:
        yield deltalake.DeltaTable(location).to_pyarrow_dataset()


def _buffered() -> ds.ParquetFragmentScanOptions:
    """Return options for files read through small buffers, not by row groups."""
    import pyarrow.dataset as ds

    return ds.ParquetFragmentScanOptions(use_buffered_stream=True, pre_buffer=False)


@contextmanager
def _addressable(path: Path) -> Iterator[Path]:
    """Provide a path that deltalake can read."""
    if not _NOT_IN_DOMAIN.search(str(path.absolute())):
        yield path
        return
    with TemporaryDirectory() as folder:
        yield shutil.copytree(path, Path(folder, "table"))


def _signed(arrow: pa.DataType) -> pa.DataType:
    """Return the signed type for an unsigned one, with all its values, and any other type as it is."""
    import pyarrow as pa

    if not pa.types.is_unsigned_integer(arrow):
        return arrow
    # deltalake itself chooses the type of the same width, and refuses large values.
    wider = {8: pa.int16(), 16: pa.int32()}
    return wider.get(arrow.bit_width, pa.int64())

"""TileDB through TileDB-Py."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import (
    Changeable,
    Kind,
    PartialReads,
    RemoteTable,
    Snippet,
    TableChange,
    Trait,
    Tunable,
)
from adapter_core.file_facts import FileFacts
from adapter_core.kinds import kinds_of
from adapter_core.tables.array_format import DESCRIPTION, ArrayFormat
from adapter_core.tables.arrays import NO_VECTORS, OFFSETS, REFUSES
from adapter_core.tables.text_arrays import as_fixed_width, text_from_arrays, text_to_arrays

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import tiledb

    from adapter_core import RemoteFile
    from adapter_core.tables.array_format import ArrayTable, Opened, OpenedRows


# Largest number of rows in a tile, TileDB's unit of reading.
TILE_ROWS = 2**20

_NULS: dict[Kind, str | bytes] = {Kind.TEXT: "\0", Kind.BINARY: b"\0"}

DATA_BYTES = "data_bytes"
"""Name of the metadata with the size of all files of values."""


class Adapter(ArrayFormat, PartialReads, Tunable, RemoteTable, Changeable):
    """A dense TileDB array (a directory) through TileDB-Py, with an attribute for each column.

    The library's functions for data frames refuse pandas 3, hence the arrays of NumPy. Text of differing
    lengths is bytes of variable length: TileDB's own type for ASCII drops NUL characters at the end. An
    array has at least one row; a table without rows leaves it empty. Truncated files are noticed by
    their size, and damaged offsets by a checksum, before they could end the process; damaged values are
    not noticed.
    """

    label = "TileDB"
    overridden_default = "codec"
    suffix = ".tdb"
    requires = ("pandas", "pyarrow", "tiledb")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE})
    remote_schemes: ClassVar = ("s3",)
    save_schemes: ClassVar = ("s3",)
    block_rows = TILE_ROWS
    _tile_rows = TILE_ROWS
    tuned_options: ClassVar = {"tile": 65_536}
    tuned_indexes = "smaller tiles; the dimension stays the row's number, which parts of tables need"
    refuses: ClassVar = {**REFUSES, **NO_VECTORS, Kind.HALF_FLOAT: "TileDB has no type for them"}
    unsupported_changes: ClassVar = {
        TableChange.APPEND: "the dimension of its dense array ends at the last row, and cannot grow",
        TableChange.UPDATE: "a dense array takes ranges of rows, each of which writes whole tiles",
        TableChange.DELETE: "TileDB deletes cells of sparse arrays only, and this one is dense",
    }
    file_facts = FileFacts(
        version="22",
        parts={"tile": 1_048_576},
        threads="all cores",
        differs="tiles of 1,048,576 rows, since tables are read whole or by ranges of rows",
    )
    snippet = Snippet(
        imports="import pandas as pd\nimport tiledb",
        write="""
            texts = df.select_dtypes("str").columns
            arrays = {name: df[name].to_numpy() for name in df}
            arrays |= {name: df[name].fillna("").to_numpy(str) for name in texts}
            row = tiledb.Dim("row", domain=(0, len(df) - 1), tile=min(len(df), 2**20), dtype="uint64")
            plain = tiledb.FilterList([])
            values = [tiledb.Attr(n, dtype=each.dtype, filters=plain) for n, each in arrays.items()]
            tiledb.Array.create({path}, tiledb.ArraySchema(tiledb.Domain(row), values))
            with tiledb.open({path}, "w") as stored:
                stored[:] = arrays
        """,
        read="""
            with tiledb.open({path}) as stored:
                df = pd.DataFrame(stored[:])
        """,
        changes={"Int64": "float64"},
        lacks=("category",),
        differs="FormatBench's own files also contain the dtypes of pandas, and text as bytes",
        notes=("nulls among texts come back as empty texts",),
    )

    def _check_values(self, df: pd.DataFrame) -> None:
        super()._check_values(df)
        for position, kind in enumerate(kinds_of(df)):
            if kind in _NULS and _contains(df.iloc[:, position], _NULS[kind]):
                self._refuse_column(df.columns[position], "a single NUL, which is read as nothing")

    def _save_tuned(
        self,
        df: pd.DataFrame,
        path: Path,
        sort_by: list[str],
        lookups: list[str],
    ) -> None:
        writer = copy.copy(self)
        writer._tile_rows = self.tuned_options["tile"]  # noqa: SLF001 (its own copy)
        writer._save(df, path)  # noqa: SLF001

    def _write(self, path: Path, table: ArrayTable, codec: str | None, level: int | None) -> None:
        self._write_to(str(path.absolute()), table)

    def _write_remote(
        self, file: RemoteFile, table: ArrayTable, codec: str | None, level: int | None
    ) -> None:
        self._write_to(file.url, table, file.tiledb_settings())

    def _write_to(self, uri: str, table: ArrayTable, settings: Mapping[str, str] | None = None) -> None:
        import tiledb

        context = tiledb.Ctx(dict(settings)) if settings else None
        arrays = table.arrays
        columns = {
            name: _with_offsets(array, arrays[name + OFFSETS])
            if name + OFFSETS in arrays
            else as_fixed_width(array)
            for name, array in arrays.items()
            if not name.endswith(OFFSETS)
        }
        rows = len(next(iter(columns.values())))
        tiledb.Array.create(uri, _schema(columns, rows, self._tile_rows), ctx=context)
        with tiledb.open(uri, "w", ctx=context) as array:
            if rows:
                array[:] = columns
            array.meta[DESCRIPTION] = table.description
            if settings is None:  # an object appears whole, and listing the files takes requests
                array.meta[DATA_BYTES] = _data_bytes(Path(uri))

    def _add_column(self, path: Path, name: str) -> None:
        import numpy as np
        import tiledb

        uri = str(path.absolute())
        with self._opened_array(path) as array:
            table = json.loads(array.meta[DESCRIPTION])
        attribute = self._array_name(len(table["columns"]), name)
        table["columns"].append({"name": name, "dtype": "float64", "values": attribute})
        evolution = tiledb.ArraySchemaEvolution()
        # Rows that were written before contain TileDB's fill value of floats, which is NaN.
        plain = tiledb.FilterList([])
        evolution.add_attribute(tiledb.Attr(attribute, dtype=np.float64, filters=plain))
        evolution.array_evolve(uri)
        # Last: until then, the attribute belongs to no column.
        with tiledb.open(uri, "w") as array:
            array.meta[DESCRIPTION] = json.dumps(table)

    @contextmanager
    def _opened(self, path: Path) -> Iterator[Opened]:
        with self._opened_array(path) as array:
            yield array.meta[DESCRIPTION], lambda names: _read(array, names)

    @contextmanager
    def _opened_array(self, path: Path) -> Iterator[tiledb.Array]:
        import tiledb

        with tiledb.open(str(path.absolute())) as array:
            if array.meta.get(DATA_BYTES) not in {_data_bytes(path), None}:
                # TileDB may end the process if it reads beyond the end of a file.
                raise ValueError(f"{path.name} is damaged: its files have another size than written")
            yield array

    @contextmanager
    def _opened_rows(self, path: Path) -> Iterator[OpenedRows]:
        with self._opened_array(path) as array:
            yield array.meta[DESCRIPTION], lambda names, rows: _read(array, names, rows)

    @contextmanager
    def _opened_remote(self, file: RemoteFile) -> Iterator[Opened]:
        import tiledb

        with tiledb.open(file.url, ctx=tiledb.Ctx(file.tiledb_settings())) as array:
            yield array.meta[DESCRIPTION], lambda names: _read(array, names)


def _contains(column: pd.Series, value: str | bytes) -> bool:
    import pyarrow as pa
    import pyarrow.compute as pc

    return bool(pc.any(pc.equal(pa.array(column.array, from_pandas=True), value)).as_py())


def _data_bytes(path: Path) -> int:
    return sum(file.stat().st_size for file in path.glob("__fragments/*/*"))


def _schema(columns: Mapping[str, np.ndarray], rows: int, tile_rows: int) -> tiledb.ArraySchema:
    """Return the schema of an array with uncompressed tiles of one size."""
    import numpy as np
    import tiledb

    tiles = -(-rows // tile_rows)
    tile = max(1, -(-rows // max(1, tiles)))
    row = tiledb.Dim("_row", domain=(0, max(rows, 1) - 1), tile=tile, dtype=np.uint64)
    plain = tiledb.FilterList([])
    attributes = [
        tiledb.Attr(name, dtype=np.bytes_, var=True, filters=plain)
        if values.dtype == object
        else tiledb.Attr(name, dtype=values.dtype, filters=plain)
        for name, values in columns.items()
    ]
    # TileDB may end the process if offsets are damaged; their checksum costs next to nothing.
    checked = tiledb.FilterList([tiledb.ChecksumSHA256Filter()])
    return tiledb.ArraySchema(tiledb.Domain(row), attributes, offsets_filters=checked)


def _with_offsets(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return one bytes object a row, the only form that TileDB-Py takes."""
    import pyarrow as pa

    return text_from_arrays(values, offsets, None, pa.large_binary()).to_numpy(zero_copy_only=False)


def _read(array: tiledb.Array, names: list[str], rows: slice | None = None) -> dict[str, np.ndarray]:
    import numpy as np
    import pyarrow as pa

    attributes = [name for name in names if not name.endswith(OFFSETS)]
    if array.nonempty_domain() is None or (rows is not None and rows.start == rows.stop):
        columns = {name: np.empty(0, array.attr(name).dtype) for name in attributes}
    else:
        columns = array.query(attrs=attributes)[rows or slice(None)]
    found: dict[str, Any] = {}
    for name, values in columns.items():
        if array.attr(name).isvar:
            found[name], found[name + OFFSETS] = text_to_arrays(pa.array(values, pa.large_binary()))
        else:
            found[name] = values
    return found

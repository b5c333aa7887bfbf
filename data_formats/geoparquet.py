"""GeoParquet through pyarrow."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Codec, ColumnReads, Given, Kind, Snippet, Trait, Tunable
from adapter_core.file_facts import FileFacts
from adapter_core.geometries import bounds_of, hilbert_order, types_in
from adapter_core.snippets import keywords, literal
from adapter_core.tables import arrow
from adapter_core.tables.parquet_files import codec_of_files

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

# Key of the note of geometries in the metadata of a file.
_GEO = b"geo"

_BOUNDS = ("xmin", "ymin", "xmax", "ymax")


class Adapter(ColumnReads, Tunable):
    """GeoParquet 1.1: Apache Parquet through pyarrow, with geometries in WKB and a note of them.

    Tuned files have the bounds of each geometry in a column, the covering, and rows in the order of a
    Hilbert curve, so that readers skip row groups. A table without geometries is a plain Parquet file.

    Specification: https://geoparquet.org/releases/v1.1.0/
    """

    label = "GeoParquet"
    suffix = ".parquet"
    suite = "features"
    requires = ("pandas", "pyarrow>=15", "shapely>=2")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    codecs: ClassVar = (Codec("snappy"), Codec("zstd", range(1, 23), 1))
    default_codec = "snappy"
    refuses_categories: ClassVar = arrow.NO_CATEGORIES_OF_EXTENSIONS | {
        Kind.TIMEDELTA: "they come back as numbers"
    }
    refuses: ClassVar = {
        **arrow.REFUSES_WITH_METADATA,
        **arrow.NO_EMPTY_STRUCTS,
        Kind.MIXED: "a Parquet column has one type",
    }
    tuned_options: ClassVar = {"compression": "zstd", "row_group_size": 16_384}
    tuned_indexes = "bounds of each geometry (covering), and rows along a Hilbert curve"
    orders_rows_by_place = True
    file_facts = FileFacts(
        version="2.6",
        parts={"row group": 1_048_576, "encodings": "PLAIN, RLE, RLE_DICTIONARY", "page index": "no"},
        threads="all cores",
    )
    snippet = Snippet(
        imports="import json\nimport pyarrow.parquet as pq",
        write="""
            note = {"encoding": "WKB", "geometry_types": []}
            geo = {"version": "1.1.0", "primary_column": "geometry", "columns": {"geometry": note}}
            table = table.replace_schema_metadata({**table.schema.metadata, "geo": json.dumps(geo)})
            pq.write_table(table, {path}, {compression})
        """,
        read="table = pq.read_table({path}, partitioning=None)",
        given=Given.TABLE,
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the options of the calls."""
        options = keywords(compression_level=level, **self.options)
        return {"compression": f"compression={literal(codec or 'none')}" + (options and f", {options}")}

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import pyarrow.parquet as pq

        pq.write_table(
            _noted(df), path, compression=codec or "none", compression_level=level, **self.options
        )

    def _save_tuned(self, df: pd.DataFrame, path: Path, sort_by: list[str], lookups: list[str]) -> None:
        import pyarrow as pa
        import pyarrow.parquet as pq

        table = _noted(df)
        if name := _note_of(table.schema).get("name", ""):
            bounds = bounds_of(df[name])
            box = pa.StructArray.from_arrays([*map(pa.array, bounds.T)], _BOUNDS)
            table = _covered(table, name, box).take(hilbert_order(bounds))
        pq.write_table(table, path, **self.tuned_options)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import pyarrow.parquet as pq

        wanted = self._column_names(path) if columns is None else columns
        return arrow.pandas_of(pq.read_table(path, columns=wanted, partitioning=None))

    def _column_names(self, path: Path) -> list[str]:
        import pyarrow.parquet as pq

        schema = pq.read_schema(path)
        covering = _note_of(schema).get("covering", {})
        boxes = {name for name, _ in covering.get("bbox", {}).values()}
        return [name for name in schema.names if name not in boxes]

    def _count_rows(self, path: Path) -> int:
        import pyarrow.parquet as pq

        return pq.read_metadata(path).num_rows

    def _codec_used(self, path: Path) -> str | None:
        return codec_of_files([path])


def _noted(df: pd.DataFrame) -> pa.Table:
    """Return a table with the note of its geometries, if it has any."""
    import pyarrow as pa

    table = arrow.arrow_of(df)
    found = {
        field.name: types_in(table.column(position))
        for position, field in enumerate(table.schema)
        if pa.types.is_binary(field.type)
    }
    columns = {
        name: {"encoding": "WKB", "geometry_types": types} for name, types in found.items() if types
    }
    return _with_note(table, columns) if columns else table


def _with_note(table: pa.Table, columns: Mapping[str, Any]) -> pa.Table:
    note = {"version": "1.1.0", "primary_column": next(iter(columns)), "columns": columns}
    return table.replace_schema_metadata({**(table.schema.metadata or {}), _GEO: json.dumps(note)})


def _note_of(schema: pa.Schema) -> dict[str, Any]:
    """Return the name and the note of the primary column; empty in a file without geometries."""
    text = (schema.metadata or {}).get(_GEO)
    if text is None:
        return {}
    note = json.loads(text)
    name = note["primary_column"]
    return {**note["columns"][name], "name": name}


def _covered(table: pa.Table, name: str, box: pa.StructArray) -> pa.Table:
    """Return a table with the bounds of its geometries in a further column."""
    column = "bbox"
    while column in table.column_names:
        column += "_"
    columns = json.loads(table.schema.metadata[_GEO])["columns"]
    columns[name]["covering"] = {"bbox": {each: [column, each] for each in _BOUNDS}}
    return _with_note(table.append_column(column, box), columns)

"""Formats of features, rows with a geometry, that GDAL writes and reads."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import ColumnReads, Given, Kind, Snippet, Trait
from adapter_core.errors import InvalidSelectionError
from adapter_core.geometries import (
    GEOMETRY,
    geometry_columns,
    types_in,
    with_empty,
    with_nested_collections,
)
from adapter_core.kinds import kinds_of
from adapter_core.tables.sql import check_whole, misnamed
from adapter_core.values import any_contains, longest_bytes, text_columns, with_minus_zero

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

CRS = "EPSG:4326"
"""Longitudes and latitudes of WGS 84; WKB names no system of coordinates."""

LAYER = "data"
"""Name of the layer of a file, which has no others."""

OPEN_GEOJSON: Mapping[str, str] = {"DATE_AS_STRING": "YES"}
"""Options of GDAL's reader of GeoJSON, which takes texts for dates otherwise."""

_KEPT = {Kind.BOOLEAN, Kind.INTEGER, Kind.FLOAT, Kind.TEXT, Kind.BINARY}
_NO_FIELD = "GDAL has no field that gives them back as they were"


def snippet_of(
    driver: str,
    changes: Mapping[str, str],
    options: str = "",
    open_options: Mapping[str, str] | None = None,
) -> Snippet:
    """Return the code of a format.

    Parameters
    ----------
    driver : str
        Name of the format in GDAL.
    changes : mapping
        Dtypes that come back as others.
    options : str
        Further arguments of the writer.
    open_options : mapping, optional
        Options of the reader.
    """
    arguments = f'layer="{LAYER}", driver="{driver}"' + (options and f", {options}")
    reading = "".join(f', {name}="{value}"' for name, value in (open_options or {}).items())
    return Snippet(
        imports="import pyogrio",
        write=f"pyogrio.write_arrow(table, {{path}}, {arguments})",
        read=f'table = pyogrio.read_arrow({{path}}, layer="{LAYER}", read_geometry=False{reading})[1]',
        given=Given.TABLE,
        changes=changes,
        notes=(
            'for geometries in WKB: geometry_name="geometry", geometry_type="Unknown", crs="EPSG:4326"',
            "to read them: read_geometry=True; the first of the two results names their column",
        ),
    )


class FeatureFormat(ColumnReads):
    """A format of features through GDAL: `pyogrio.write_arrow` and `pyogrio.read_arrow`.

    A table has one column of geometries, the last one, named "geometry", or none. Fields are booleans,
    integers, floats and texts. Integers of 8 and 16 bits come back with 32.
    """

    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    refuses: ClassVar[Mapping[Kind, str]] = dict.fromkeys(sorted(set(Kind) - _KEPT), _NO_FIELD)
    holds_nul_in_names = False

    driver: ClassVar[str]
    """Name of the format in GDAL."""
    layer_options: ClassVar[Mapping[str, str]] = {}
    """Options of GDAL's writer."""
    dataset_options: ClassVar[Mapping[str, str]] = {}
    """Options of GDAL's writer for the file as a whole."""
    open_options: ClassVar[Mapping[str, str]] = {}
    """Options of GDAL's reader."""
    keeps_null_geometries: ClassVar[bool] = True
    """False if each row of a table with geometries has one."""
    keeps_nested_collections: ClassVar[bool] = True
    """False if a part of a collection has no parts itself."""
    keeps_minus_zero: ClassVar[bool] = True
    """False if -0.0 comes back as 0.0."""
    is_database: ClassVar[bool] = False
    """True for files of SQLite, whose ends GDAL may not miss."""
    own_names: ClassVar[frozenset[str]] = frozenset()
    """Names, in lower case, that no column may have."""

    def _check_values(self, df: pd.DataFrame) -> None:
        self._check_geometries(df, geometry_columns(df))
        if reason := misnamed(df.columns):
            raise self.refusal(reason)
        for name, texts in text_columns(df):
            if any_contains(texts, "\0"):
                self._refuse_column(name, "text with NUL, which ends a text there")
        if not self.keeps_minus_zero:
            self._refuse_column(with_minus_zero(df), "-0.0, which is stored as 0")

    def _check_geometries(self, df: pd.DataFrame, names: list[str]) -> None:
        """Raise `refusal` for bytes that are not geometries, and geometries that come back as others."""
        for name, kind in zip(df.columns, kinds_of(df), strict=True):
            if kind is Kind.BINARY and name not in names:
                self._refuse_column(name, "bytes that are not all geometries in WKB")
            if name.lower() in self.own_names or (name.lower() == GEOMETRY and name not in names):
                raise self.refusal(f"the format has the name {name!r} for itself")
        if not names:
            return
        if names != [GEOMETRY] or df.columns[-1] != GEOMETRY:
            reason = f"geometries, which come back as one column, the last one, named {GEOMETRY!r}"
            self._refuse_column(names[0], reason)
        try:
            has_empty = with_empty(df[GEOMETRY])
        except InvalidSelectionError as error:
            raise self.refusal(str(error)) from error
        if has_empty:
            self._refuse_column(GEOMETRY, "empty geometries or parts, which GDAL may leave out")
        if not self.keeps_null_geometries and df[GEOMETRY].isna().any():
            self._refuse_column(GEOMETRY, "geometries with nulls, of which GDAL's reader makes others")
        if not self.keeps_nested_collections and with_nested_collections(df[GEOMETRY]):
            self._refuse_column(GEOMETRY, "collections of geometries with parts, which it would join")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        self._write(df, path, self.layer_options)

    def _write(self, df: pd.DataFrame, path: Path, layer_options: Mapping[str, str]) -> None:
        import pyarrow as pa
        import pyogrio

        table = pa.Table.from_pandas(df, preserve_index=False).replace_schema_metadata(None)
        geometry: dict[str, Any] = {}
        if GEOMETRY in table.column_names:
            types = types_in(table.column(GEOMETRY))
            one = types[0] if len(types) == 1 else "Unknown"
            geometry = {"geometry_name": GEOMETRY, "geometry_type": one, "crs": CRS}
        pyogrio.write_arrow(
            table,
            path,
            layer=LAYER,
            driver=self.driver,
            layer_options=dict(layer_options),
            dataset_options=dict(self.dataset_options),
            **geometry,
        )

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        return self._table(path, columns).to_pandas()

    def _table(self, path: Path, columns: list[str] | None) -> pa.Table:
        """Return columns of a file, with the geometries as the last one."""
        import pyogrio

        if self.is_database:
            check_whole(path)
        fields = None if columns is None else [each for each in columns if each != GEOMETRY]
        with_geometry = columns is None or GEOMETRY in columns
        facts, table = pyogrio.read_arrow(
            path, layer=LAYER, columns=fields, read_geometry=with_geometry, **self.open_options
        )
        return _with_geometry(table, facts) if with_geometry else table

    def _column_names(self, path: Path) -> list[str]:
        import pyogrio

        facts = pyogrio.read_info(path, layer=LAYER, force_total_bounds=True)
        names = list(facts["fields"])
        return names if facts["total_bounds"] is None else [*names, GEOMETRY]

    def _count_rows(self, path: Path) -> int:
        import pyogrio

        return int(pyogrio.read_info(path, layer=LAYER, force_feature_count=True)["features"])


def geometry_name(facts: Mapping[str, Any]) -> str:
    """Return the name of the geometries in the table that pyogrio reads with some facts."""
    return facts["geometry_name"] or "wkb_geometry"


def _with_geometry(table: pa.Table, facts: Mapping[str, Any]) -> pa.Table:
    """Return a table with its geometries as the last column; without it if there are none."""
    name = geometry_name(facts)
    if name not in table.column_names:
        return table
    position = table.column_names.index(name)
    geometries = table.column(position)
    table = table.remove_column(position)
    # A layer of no type has empty bytes, or nulls, in each row if the table had no such column.
    if facts["geometry_type"] == "Unknown" and not longest_bytes(geometries):
        return table
    return table.append_column(GEOMETRY, geometries)

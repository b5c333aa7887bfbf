"""GeoPandas."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.geometries import GEOMETRY, rectangle
from adapter_core.queries.arrow import expression, finished
from adapter_core.queries.scan import ScanEngine
from adapter_core.query_engine import Part
from adapter_core.tables.gdal import LAYER, OPEN_GEOJSON, geometry_name

if TYPE_CHECKING:
    import geopandas
    import numpy as np
    import pyarrow as pa

    from adapter_core.query import Box, Condition, Nearest, Query

_PARQUET = {"GeoParquet", "Parquet"}


class Adapter(ScanEngine):
    """GeoPandas: reads within a rectangle, distances and joins of geometries; pyarrow does the rest.

    Files of GDAL's are read through pyogrio.
    """

    label = "geopandas"
    requires = ("geopandas>=1.1", "pyarrow>=15", "pyogrio>=0.12")
    environment = "geospatial"
    reads = ("FlatGeobuf", "GeoJSON", "GeoPackage", "GeoParquet", "Parquet", "SpatiaLite")
    compares_times: ClassVar = frozenset({"GeoParquet", "Parquet"})
    compares_decimals: ClassVar = frozenset({"GeoParquet", "Parquet"})
    does: ClassVar = frozenset({Part.COLUMNS, Part.GEOMETRIES})
    reads_fields = False
    notes: ClassVar = {
        "FlatGeobuf": "a file of the track defaults has no index, and is read whole",
        "GeoJSON": "read whole; a column of nulls alone is text",
        "GeoParquet": "a file of the track defaults has no covering, and is read whole",
        "Parquet": "read whole, with geometries in WKB",
    }

    def _open(self, format_label: str, path: Path) -> tuple[str, Path]:
        return format_label, path

    def _shape(self, table: tuple[str, Path]) -> tuple[int, int]:
        label, path = table
        if label in _PARQUET:
            import pyarrow.parquet as pq

            facts = pq.read_metadata(path)
            columns = len(facts.schema.to_arrow_schema())
            # The bounds in a tuned file are no column of the table's own.
            return facts.num_rows, columns - (label == "GeoParquet" and _is_covered(path))
        import pyogrio

        found = pyogrio.read_info(path, layer=LAYER, force_feature_count=True, force_total_bounds=True)
        return int(found["features"]), len(found["fields"]) + (found["total_bounds"] is not None)

    def _scan(self, table: tuple[str, Path], columns: list[str], where: Sequence[Condition]) -> pa.Table:
        wanted = list(dict.fromkeys([*columns, *(each.column for each in where)]))
        found = _table(*table, wanted)
        return found.filter(expression(where, found.schema)) if where else found

    def _finished(self, handle: dict[str, Any], table: Any, query: Query) -> pa.Table:
        if not query.asks_geometries:
            return super()._finished(handle, table, query)
        label, path = table
        selecting = query.box or query.nearest or query.join
        frame = _frame(label, path, query.read, selecting.column if selecting else GEOMETRY, query.box)
        if query.nearest:
            return _arrow(frame.iloc[_neighbours(frame, query.nearest)], query.columns)
        joined: tuple[str, ...] = ()
        if query.join and query.join.intersects:
            joined = tuple(query.join.columns)
            second = handle["paths"][query.join.table]
            other = _frame(label, second, [query.join.key, *joined], query.join.key, None)
            frame = frame.sjoin(other.set_geometry(query.join.key), predicate="intersects")
        found = _arrow(frame, [*query.read, *joined])
        if query.where:
            found = found.filter(expression(query.where, found.schema))
        plain = replace(query, box=None, where=(), join=None if joined else query.join)
        return finished(found, plain, lambda: self._other(handle, query))


def _table(label: str, path: Path, columns: Sequence[str]) -> pa.Table:
    """Return columns as they are, with geometries in WKB."""
    if label in _PARQUET:
        import pyarrow.parquet as pq

        return pq.read_table(path, columns=list(columns), partitioning=None)
    import pyogrio

    fields = [each for each in columns if each != GEOMETRY]
    facts, table = pyogrio.read_arrow(
        path, layer=LAYER, columns=fields, read_geometry=GEOMETRY in columns, **_options(label)
    )
    name = geometry_name(facts)
    names = [GEOMETRY if each == name else each for each in table.column_names]
    return table.rename_columns(names).select(list(columns))


def _options(label: str) -> Mapping[str, str]:
    return OPEN_GEOJSON if label == "GeoJSON" else {}


def _frame(
    label: str, path: Path, columns: Sequence[str], geometry: str, box: Box | None
) -> geopandas.GeoDataFrame:
    """Return columns with geometries, of the rows whose geometries intersect a rectangle."""
    import geopandas

    bounds = None if box is None else box.bounds
    if label == "Parquet":
        import pyarrow.parquet as pq

        df = pq.read_table(path, columns=list(columns), partitioning=None).to_pandas()
        df[geometry] = geopandas.GeoSeries.from_wkb(df[geometry])
        frame = geopandas.GeoDataFrame(df, geometry=geometry)
    elif label == "GeoParquet":
        within = bounds if _is_covered(path) else None
        frame = geopandas.read_parquet(path, columns=list(columns), bbox=within)
    else:
        fields = [each for each in columns if each != GEOMETRY]
        options = dict(_options(label))
        if label == "FlatGeobuf" and bounds:
            # Of a tuned file without a geometry inside, GDAL 3.12 returns a batch of empty rows.
            options["on_invalid"] = "ignore"
        frame = geopandas.read_file(
            path, layer=LAYER, columns=fields, bbox=bounds, use_arrow=True, **options
        )
    return frame if bounds is None else frame[frame.intersects(rectangle(bounds))]


def _is_covered(path: Path) -> bool:
    """Return whether a file has the bounds of its geometries in a column."""
    import pyarrow.parquet as pq

    return b'"covering"' in pq.read_schema(path).metadata.get(b"geo", b"")


def _neighbours(frame: geopandas.GeoDataFrame, nearest: Nearest) -> np.ndarray:
    """Return the numbers of the rows nearest to each point, point after point."""
    import numpy as np
    import shapely

    geometries = frame[nearest.column].to_numpy()
    # Without a place, the distance is NaN, which is behind all others.
    placeless = shapely.is_missing(geometries) | shapely.is_empty(geometries)
    count = min(nearest.count, int(np.count_nonzero(~placeless)))
    found = []
    for point in nearest.vectors:
        distances = shapely.distance(geometries, shapely.Point(point))
        found.append(np.argpartition(distances, count - 1)[:count])
    return np.concatenate(found)


def _arrow(frame: geopandas.GeoDataFrame, columns: Sequence[str]) -> pa.Table:
    """Return columns with geometries in WKB."""
    import pyarrow as pa

    found = {}
    for name in columns:
        values = frame[name]
        is_geometry = str(values.dtype) == GEOMETRY
        found[name] = pa.array(values.to_wkb() if is_geometry else values, from_pandas=True)
    return pa.table(found)

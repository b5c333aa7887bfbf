"""Geometries in formats of features: each comes back byte by byte, or is refused."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pandas as pd
import pytest

import array_stores
import data_formats
import data_generator
from adapter_core import CannotHoldError
from adapter_core.geometries import geometry_columns, types_of
from format_bench.library_sets.sets import parse
from format_bench.verification.tables import verify
from tests.helpers import chosen

# The environments of other formats lack it.
shapely = pytest.importorskip("shapely")

GDAL = ["FlatGeobuf", "GeoJSON", "GeoPackage", "SpatiaLite"]
ALL = [*GDAL, "GeoParquet"]
FORMATS = [each for each in ALL if each in chosen(data_formats, __name__)]

SQUARE = "(0 0, 4 0, 4 4, 0 4, 0 0)"
HOLE = "(1 1, 1 2, 2 2, 2 1, 1 1)"
SHAPES = {
    "points": ["POINT (1 2)", "POINT (-0.0 0.5)", "POINT (179.1234567 -89.7654321)"],
    "lines": ["LINESTRING (0 0, 1 1.5, -3 4)"],
    "polygons": [f"POLYGON ({SQUARE}, {HOLE})"],
    "rings the other way": ["POLYGON ((0 0, 0 4, 4 4, 4 0, 0 0), (1 1, 2 1, 2 2, 1 2, 1 1))"],
    "several points": ["MULTIPOINT (0 0, 1 1)", "MULTIPOINT (3 3)"],
    "several lines": ["MULTILINESTRING ((0 0, 1 1), (2 2, 3 3))"],
    "several polygons": [
        f"MULTIPOLYGON (({SQUARE}))",
        f"MULTIPOLYGON (({SQUARE}, {HOLE}), ((5 5, 6 5, 6 6, 5 5)))",
    ],
    "collections": ["GEOMETRYCOLLECTION (POINT (1 1), LINESTRING (0 0, 1 1))"],
    "mixed": ["POINT (1 2)", f"POLYGON ({SQUARE})", "LINESTRING (0 0, 1 1)"],
    "polygons, one and several": [f"POLYGON ({SQUARE})", f"MULTIPOLYGON (({SQUARE}))"],
    "nulls": [None, "POINT (1 2)", None],
    "empty ones": ["POINT (1 2)", "POINT EMPTY"],
    "empty polygons": ["POLYGON EMPTY", f"POLYGON ({SQUARE})"],
    "long coordinates": ["POINT (0.1 0.30000000000000004)"],
}
REFUSED = {
    "FlatGeobuf": {"nulls", "empty ones", "empty polygons"},
    "GeoJSON": {"empty ones", "empty polygons", "long coordinates"},
    "GeoPackage": {"empty ones", "empty polygons"},
    "GeoParquet": set(),
    "SpatiaLite": {"empty ones", "empty polygons"},
}


@pytest.fixture
def adapter(label):
    """Return an available format; those of GDAL's are tested by the interpreter of their environment."""
    found = data_formats.find(label)
    if not (answer := found.availability()):
        pytest.skip(answer.reason)
    return found


def table(texts):
    wkb = [None if each is None else shapely.to_wkb(shapely.from_wkt(each)) for each in texts]
    rows = len(wkb)
    geometries = pd.Series(wkb, dtype=object)
    # Large, so that GeoJSON's reader takes them for 64 bits.
    return pd.DataFrame(
        {"id": [2**40 + each for each in range(rows)], "name": ["ä"] * rows, "geometry": geometries}
    )


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("label", FORMATS)
def test_geometries_come_back_or_are_refused(adapter, label, shape, tmp_path):
    df = table(SHAPES[shape])
    path = tmp_path / f"features{adapter.suffix}"
    if shape in REFUSED[label]:
        with pytest.raises(CannotHoldError, match="column 'geometry' contains"):
            adapter.save(df, path)
        return
    adapter.save(df, path)
    assert verify(df, adapter.read(path)).exact
    part = adapter.read(path, columns=["geometry", "id"])
    assert verify(df[["geometry", "id"]], part).exact
    assert verify(df[["name"]], adapter.read(path, columns=["name"])).exact
    assert adapter.count_rows(path) == len(df)


@pytest.mark.parametrize("name", ["places", "roads", "parcels"])
@pytest.mark.parametrize("label", FORMATS)
def test_made_features_come_back(adapter, label, name, tmp_path):
    df = data_generator.table(name, rows=3_000).df
    path = tmp_path / f"features{adapter.suffix}"
    adapter.save(df, path)
    found = verify(df, adapter.read(path), *adapter.kept)
    assert found.errors == ()
    lost = ("column id: int64 came back as int32",) if label == "GeoJSON" else ()
    assert found.losses == lost


@pytest.mark.parametrize("label", FORMATS)
def test_texts_that_look_like_json_or_times_stay_texts(adapter, tmp_path):
    texts = ["[1, 2]", '{"a": 1}', "2020-01-01", "2020-01-01T00:00:00Z", "null"]
    df = pd.DataFrame({"text": texts, "time": ["2020-01-01"] * 5})
    adapter.save(df, tmp_path / f"table{adapter.suffix}")
    assert verify(df, adapter.read(tmp_path / f"table{adapter.suffix}")).exact


@pytest.mark.parametrize("label", ["FlatGeobuf", "GeoParquet"])
def test_tuned_files_have_the_same_rows_near_each_other(adapter, tmp_path):
    df = data_generator.table("parcels", rows=3_000).df
    path = tmp_path / f"features{adapter.suffix}"
    adapter.save_tuned(df, path, ["id"])
    found = adapter.read(path)
    assert list(found["id"]) != list(df["id"])
    assert verify(df, found.sort_values("id", ignore_index=True)).exact

    def steps(geometries):
        places = shapely.get_coordinates(shapely.centroid(shapely.from_wkb(geometries.to_numpy())))
        return abs(places[1:] - places[:-1]).sum()

    assert steps(found["geometry"]) < steps(df["geometry"]) / 5


def test_tuned_geoparquet_keeps_rows_without_a_place_and_columns_named_as_its_own(tmp_path):
    adapter = data_formats.get("GeoParquet")
    df = table([None, "POINT EMPTY", "POINT (1 2)"]).rename(columns={"name": "bbox"})
    adapter.save_tuned(df, tmp_path / "features.parquet", ["id"])
    found = adapter.read(tmp_path / "features.parquet").sort_values("id", ignore_index=True)
    assert verify(df, found).exact


def test_geopandas_reads_geoparquet_and_its_covering(tmp_path):
    geopandas = pytest.importorskip("geopandas", reason="GeoPandas is in the environment geospatial")
    adapter, df = data_formats.get("GeoParquet"), data_generator.table("places", rows=2_000).df
    adapter.save(df, tmp_path / "plain.parquet")
    found = geopandas.read_parquet(tmp_path / "plain.parquet")
    assert found.crs == "OGC:CRS84"
    assert found.geometry.to_wkb().tolist() == df["geometry"].tolist()
    adapter.save_tuned(df, tmp_path / "tuned.parquet", ["id"])
    box = (0, 0, 60, 60)
    part = geopandas.read_parquet(tmp_path / "tuned.parquet", bbox=box)
    inside = found[found.intersects(shapely.box(*box))]
    assert sorted(part["id"]) == sorted(inside["id"])
    assert 0 < len(part) < len(df)


@pytest.mark.parametrize("label", GDAL)
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda df: df.rename(columns={"geometry": "shape"}), "named 'geometry'"),
        (lambda df: df[["geometry", "id"]], "the last one"),
        (lambda df: df.assign(other=df["geometry"]), "as one column"),
        (lambda df: df.assign(geometry=[b"POINT"]), "bytes that are not all geometries"),
        (lambda df: df.assign(geometry=["POINT (1 2)"]), "the name 'geometry' for itself"),
    ],
)
def test_columns_that_gdal_would_change_are_refused(label, change, words):
    df = change(table(["POINT (1 2)"]))
    with pytest.raises(CannotHoldError, match=words):
        data_formats.find(label).check(df)


def test_bytes_are_geometries_by_their_values_alone():
    df = table(["POINT (1 2)", None])
    assert geometry_columns(df) == ["geometry"]
    assert types_of(df["geometry"]) == ["Point"]
    big = shapely.to_wkb(shapely.Point(1, 2), byte_order=0)
    solid = shapely.to_wkb(shapely.Point(1, 2, 3))
    for other in (b"", b"\x01\x01", b"abcdefgh", big, solid):
        mixed = df.assign(geometry=pd.Series([df["geometry"][0], other], dtype=object))
        assert geometry_columns(mixed) == []
    assert geometry_columns(df.assign(geometry=pd.Series([None, None], dtype=object))) == []


def test_the_note_of_a_geoparquet_file_is_that_of_the_specification(tmp_path):
    import pyarrow.parquet as pq

    adapter = data_formats.get("GeoParquet")
    adapter.save_tuned(table(SHAPES["mixed"]), tmp_path / "features.parquet", ["id"])
    note = json.loads(pq.read_schema(tmp_path / "features.parquet").metadata[b"geo"])
    column = note["columns"][note["primary_column"]]
    assert note["version"] == "1.1.0"
    assert column["geometry_types"] == ["Point", "LineString", "Polygon"]
    assert column["covering"]["bbox"]["xmax"] == ["bbox", "xmax"]


BESIDE = """
import sys
from pathlib import Path

import numpy as np

import array_stores
import data_formats
import data_generator

def features():
    df = data_generator.table("parcels", rows=200).df
    data_formats.get("GeoParquet").save_tuned(df, Path("features.parquet"), ["id"])

def raster():
    store, values = array_stores.get("GeoTIFF"), np.arange(32 * 32, dtype="int16").reshape(1, 32, 32)
    store.save(values, Path("raster.tif"), codec="zstd", level=9)
    assert store.read(Path("raster.tif")).tobytes() == values.tobytes()

for step in sys.argv[1:]:
    globals()[step]()
"""


@pytest.mark.parametrize("steps", [("features", "raster"), ("raster", "features", "raster")])
def test_geotiff_keeps_its_codecs_beside_features(root, steps, tmp_path):
    if not (answer := array_stores.find("GeoTIFF").availability()):
        pytest.skip(answer.reason)
    python = [sys.executable, "-c", BESIDE, *steps]
    subprocess.run(python, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(root)}, check=True)


def test_gdal_is_not_in_the_library_set(root):
    pins = parse((root / "constraints.txt").read_text(encoding="utf-8"))
    assert "shapely" in pins
    assert not {"fiona", "geopandas", "pyogrio", "pyproj"} & pins.keys()

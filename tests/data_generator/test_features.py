"""Features: geometries in WKB, valid, of the declared sizes, and the same as ever."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import shapely

import data_generator
from adapter_core.errors import TooFewRowsError
from adapter_core.geometries import geometry_columns, hilbert_order, types_of, with_long_coordinates

TYPES = {"places": "Point", "roads": "LineString", "parcels": "Polygon"}


def geometries(df):
    return shapely.from_wkb(df["geometry"].to_numpy())


@pytest.mark.parametrize("name", TYPES)
def test_made_geometries_are_valid_and_of_one_type(name):
    df = data_generator.table(name, rows=2_000).df
    assert list(df.columns) == ["id", "kind", "name", "height", "geometry"]
    assert geometry_columns(df) == ["geometry"]
    assert types_of(df["geometry"]) == [TYPES[name]]
    assert not with_long_coordinates(df["geometry"])
    found = geometries(df)
    assert shapely.is_valid(found).all()
    assert np.abs(shapely.get_coordinates(found)).max() < 180
    # Towns are dense: half of all features are within a degree of another town's breadth.
    middles = shapely.get_coordinates(shapely.centroid(found))
    cells = pd.DataFrame(middles.round(0)).value_counts()
    assert cells.head(len(cells) // 10).sum() > len(df) / 5


def test_blocks_are_parts_of_the_whole():
    whole = data_generator.table("parcels", rows=300).df
    blocks = list(data_generator.blocks("parcels", rows=300, block_rows=128))
    assert [len(each) for each in blocks] == [128, 128, 44]
    pd.testing.assert_frame_equal(pd.concat(blocks, ignore_index=True), whole)


def test_roads_and_parcels_have_as_many_vertices_as_declared():
    turns = shapely.get_num_coordinates(geometries(data_generator.table("roads", rows=5_000).df))
    assert (turns.min(), turns.max()) == (2, 40)
    parcels = geometries(data_generator.table("parcels", rows=5_000).df)
    holes = shapely.get_num_interior_rings(parcels)
    assert 0.08 < holes.mean() < 0.12
    assert holes.max() == 1
    corners = shapely.get_num_coordinates(shapely.get_exterior_ring(parcels)) - 1
    assert set(corners) == {*range(4, 17), 1_024}
    assert shapely.is_ccw(shapely.get_exterior_ring(parcels)).all()
    assert not shapely.is_ccw(shapely.get_interior_ring(parcels[holes == 1], 0)).any()


def test_countries_are_real_and_have_seven_decimals():
    df = data_generator.table("countries").df
    assert len(df) == 177
    assert types_of(df["geometry"]) == ["Polygon", "MultiPolygon"]
    czechia = df[df["name"] == "Czechia"]["geometry"]
    assert shapely.contains(shapely.from_wkb(czechia.iloc[0]), shapely.Point(16.6, 49.2))
    borders = data_generator.table("places-countries").df
    assert list(borders.columns) == ["country", "geometry"]
    assert borders["geometry"].equals(df["geometry"])
    assert not with_long_coordinates(df["geometry"])
    with pytest.raises(TooFewRowsError):
        data_generator.table("countries", rows=178)


def test_countries_are_those_of_the_package():
    pyogrio = pytest.importorskip("pyogrio", reason="pyogrio is in the environment geospatial")
    folder = Path(pyogrio.__file__).parent / "tests" / "fixtures" / "naturalearth_lowres"
    facts, table = pyogrio.read_arrow(folder / "naturalearth_lowres.shp")
    theirs = table.to_pandas().rename(columns={facts["geometry_name"] or "wkb_geometry": "geometry"})
    df = data_generator.table("countries").df
    pd.testing.assert_frame_equal(df.drop(columns="geometry"), theirs.drop(columns="geometry"))
    assert shapely.equals_exact(geometries(df), geometries(theirs), 1e-7).all()


def test_rows_in_the_order_of_a_curve_are_neighbours():
    corners = [(x, y) for x in range(8) for y in range(8)]
    bounds = np.array([(x, y, x, y) for x, y in corners], float)
    order = hilbert_order(np.vstack([np.full((1, 4), np.nan), bounds]))
    assert order[-1] == 0
    steps = np.abs(np.diff(np.array(corners)[order[:-1] - 1], axis=0)).sum(axis=1)
    assert (steps == 1).all()

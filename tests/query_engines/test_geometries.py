"""Questions to geometries: every engine on every format gives Shapely's answer."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import data_formats
import query_engines
from adapter_core import CannotHoldError, UnsupportedError
from adapter_core.errors import InvalidQuestionsError
from adapter_core.query import Box, Nearest, Query
from adapter_core.query_engine import Part
from format_bench.families.queries.operations import QueryOperations, QueryTables
from format_bench.families.questions import Question, Questions, read_entries
from format_bench.families.tables import reference
from format_bench.families.tables.compiler import query_of
from format_bench.families.tables.subject import Subject, layouts
from tests.helpers import chosen, pair_of

shapely = pytest.importorskip("shapely")

ROWS = {"places": 1_500, "parcels": 800, "countries": 177}
PAIRS = [
    each
    for each in chosen(query_engines, __name__)
    if Part.GEOMETRIES in query_engines.find(each).engine.does
]
BOXES = {"box-1e-5", "box-1e-3", "box-1e-1"}
ASKED = {
    "places": BOXES | {"near-10", "by-country"},
    "parcels": BOXES | {"near-10"},
    "countries": BOXES | {"near-10"},
}


@pytest.fixture(scope="module")
def stored(tmp_path_factory):
    """Return stored tables, made when they are asked for first."""
    folder, made = tmp_path_factory.mktemp("data"), {}

    def of(name):
        if name not in made:
            data = QueryOperations.generate(name, ROWS[name])
            QueryOperations.store(data, folder / name)
            made[name] = data, folder / name
        return made[name]

    return of


@pytest.mark.parametrize("track", ["defaults", "tuned"])
@pytest.mark.parametrize("dataset", ROWS)
@pytest.mark.parametrize("label", PAIRS)
def test_all_answers_equal_those_of_shapely(label, dataset, track, stored, tmp_path):
    pair = pair_of(label)
    data, place = stored(dataset)
    operations = QueryOperations.on(place, pair, track=track)
    try:
        operations.check(data)
    except CannotHoldError as error:
        assert re.search("coordinates of more|nothing to tune|no column that tuned", str(error))
        assert track == "tuned" or (label.startswith("GeoJSON") and dataset == "countries")
        return
    operations.save(data, tmp_path / "tables")
    assert operations.compare(data, operations.read(tmp_path / "tables")).errors == ()
    answered = set()
    for name, query in data.facts.asked.items():
        if not isinstance(query, str):
            operations.check_query(name)
            opened = operations.open_query(name, tmp_path / "tables")
            assert "equal" in opened.verify(opened.read(), data) or opened.missed_share == 0
            opened.close()
            answered.add(name)
    assert answered == ASKED[dataset]


def test_rows_of_a_file_in_an_order_of_places_have_other_numbers(stored, tmp_path):
    data, place = stored("places")
    for label, reorders in (("GeoParquet[geopandas]", True), ("Parquet[geopandas]", False)):
        pair = pair_of(label)
        operations = QueryOperations.on(place, pair, track="tuned")
        operations.save(data, tmp_path / label)
        found = operations.read(tmp_path / label)
        assert list(found["id"]) == sorted(found["id"]) or reorders
        assert operations.compare(data, found).exact
        wrong = found.assign(id=found["id"].iloc[::-1].to_numpy())
        assert operations.compare(data, wrong).errors


def asked(df, **fields):
    subject = Subject("mine", {"data": df, "places": df}, layouts()["places"])
    return query_of(Question("mine", "", {"columns": ["id"], **fields}), subject)


def test_the_reference_is_that_of_plain_coordinates(stored):
    df = stored("places")[0].tables["data"]
    places = shapely.get_coordinates(shapely.from_wkb(df["geometry"].to_numpy()))
    query = asked(df, box={"column": "geometry", "bounds": [0, 0, 60, 50]})
    inside = ((places >= 0) & (places <= [60, 50])).all(axis=1)
    found = reference.answer(query, {"data": df}).table.column("id").to_pylist()
    assert found == np.flatnonzero(inside).tolist()
    assert 0 < len(found) < len(df)
    query = asked(df, nearest={"column": "geometry", "count": 3, "vectors": [[10, 20], [-60, 5]]})
    found = reference.answer(query, {"data": df}).table.column("id").to_pylist()
    for group, point in zip((found[:3], found[3:]), query.nearest.vectors, strict=True):
        distances = np.hypot(*(places - point).T)
        assert group == np.argsort(distances)[:3].tolist()


def test_a_square_has_about_its_share_of_the_rows(stored):
    df = stored("places")[0].tables["data"]
    for share in (0.01, 0.1, 1):
        query = asked(df, box={"column": "$geometry", "share": share})
        found = reference.answer(query, {"data": df}).table.num_rows
        assert round(share * len(df)) <= found <= round(share * len(df)) + 1


@pytest.mark.parametrize("nothing", [None, shapely.Point().wkb])
def test_constants_come_from_geometries_with_places_alone(nothing, stored):
    df = stored("places")[0].tables["data"].copy()
    df.loc[7, "geometry"] = nothing
    for fields in (
        {"box": {"column": "$geometry", "share": 0.1}},
        {"nearest": {"column": "$geometry", "count": 3, "vectors": 2}},
        {"nearest": {"column": "$geometry", "count": 3, "vectors": [[1, 2]]}},
    ):
        with pytest.raises(UnsupportedError, match="'geometry' contains nulls or empty geometries"):
            asked(df, **fields)
    everywhere = asked(df, box={"column": "geometry", "bounds": [-180, -90, 180, 90]})
    found = reference.answer(everywhere, {"data": df}).table.column("id").to_pylist()
    assert found == [each for each in df["id"] if each != df["id"][7]]


@pytest.mark.parametrize("nothing", [None, shapely.Point().wkb])
@pytest.mark.parametrize("label", PAIRS)
def test_nulls_and_empty_geometries_are_near_to_nothing(label, nothing, stored, tmp_path):
    pair = pair_of(label)
    df = stored("places")[0].tables["data"].head(40).copy()
    df.loc[[0, 7, 39], "geometry"] = nothing
    try:
        pair.save({"data": df}, tmp_path / "tables")
    except CannotHoldError as error:
        assert re.search("geometries with nulls|empty geometries or parts", str(error))
        return
    handle = pair.engine.open(pair.format.label, pair.paths(tmp_path / "tables"))
    for query in (
        Query(columns=["id"], box=Box("geometry", (-180, -90, 180, 90))),
        Query(columns=["id"], nearest=Nearest("geometry", [[10, 20], [-60, 5]], 5, of_geometries=True)),
        Query(columns=["id"], nearest=Nearest("geometry", [[10, 20]], 39, of_geometries=True)),
    ):
        found = sorted(pair.engine.answer(handle, query).column("id").to_pylist())
        wanted = reference.answer(query, {"data": df}).table.column("id").to_pylist()
        assert found == sorted(wanted)
    pair.engine.close(handle)


@pytest.mark.parametrize("track", ["defaults", "tuned"])
@pytest.mark.parametrize("label", PAIRS)
def test_rectangles_may_have_no_area_and_nothing_inside(label, track, tmp_path):
    pair = pair_of(label)
    shapes = ["LINESTRING (0 -1, 0 1)", "MULTILINESTRING ((5 5, 6 6), (-1 0, 1 0))", "POINT (3 0)"]
    geometries = shapely.to_wkb(shapely.from_wkt([*shapes, "POLYGON ((-1 -1, 1 -1, 0 1, -1 -1))"]))
    df = pd.DataFrame({"id": range(4), "geometry": geometries})
    try:
        if track == "tuned":
            pair.save_tuned({"data": df}, tmp_path / "tables", {"data": (["id"], [])})
        else:
            pair.save({"data": df}, tmp_path / "tables")
    except CannotHoldError as error:
        assert re.search("nothing to tune|no column that tuned", str(error))
        return
    handle = pair.engine.open(pair.format.label, pair.paths(tmp_path / "tables"))
    for bounds, wanted in {
        (0, 0, 0, 0): [0, 1, 3],
        (0, -2, 0, -1): [0, 3],
        (-5, 0, 5, 0): [0, 1, 2, 3],
        (20, 20, 30, 30): [],
        (3, 1, 3, 1): [],
    }.items():
        query = Query(columns=["id"], box=Box("geometry", tuple(map(float, bounds))))
        assert reference.answer(query, {"data": df}).table.column("id").to_pylist() == wanted
        assert sorted(pair.engine.answer(handle, query).column("id").to_pylist()) == wanted
    pair.engine.close(handle)


@pytest.mark.parametrize("geometry", ["geometry", "geom"])
@pytest.mark.parametrize("label", PAIRS)
def test_columns_may_have_any_names(label, geometry, stored, tmp_path):
    pair = pair_of(label)
    df = stored("places")[0].tables["data"].head(40)
    # Names that statements of engines give to points.
    df = df.rename(columns={"kind": "x", "name": "place", "height": "y", "geometry": geometry})
    try:
        pair.save({"data": df}, tmp_path / "tables")
    except CannotHoldError as error:
        assert re.search("the last one, named 'geometry'|has the name 'geom' for itself", str(error))
        return
    handle = pair.engine.open(pair.format.label, pair.paths(tmp_path / "tables"))
    columns = ["id", "x", "y", "place", geometry]
    for query in (
        Query(columns=columns, box=Box(geometry, (-90, -90, 90, 90))),
        Query(columns=columns, nearest=Nearest(geometry, [[10, 20]], 1, of_geometries=True)),
    ):
        found = pair.engine.answer(handle, query).sort_by("id").to_pydict()
        assert found == reference.answer(query, {"data": df}).table.sort_by("id").to_pydict()
    pair.engine.close(handle)


@pytest.mark.parametrize("label", ["GeoParquet[duckdb.spatial]", "GeoParquet[geopandas]"])
def test_bounds_in_a_tuned_file_are_no_column_of_the_table(label, stored, tmp_path):
    pair = pair_of(label)
    df = stored("places")[0].tables["data"].head(40)
    pair.save_tuned({"data": df}, tmp_path / "tables", {"data": (["id"], [])})
    handle = pair.engine.open(pair.format.label, pair.paths(tmp_path / "tables"))
    shape = pair.engine.answer(handle, Query(shape=True)).to_pydict()
    assert shape == {"rows": [40], "columns": [df.shape[1]]}
    if Part.SQL in pair.engine.does:
        found = pair.engine.answer(handle, Query(statement="SELECT * FROM data"))
        assert found.column_names == list(df.columns)
    pair.engine.close(handle)


def test_a_geometry_of_another_column_and_other_forms_are_refused(stored):
    df = stored("places")[0].tables["data"]
    with pytest.raises(InvalidQuestionsError, match="'name' contains no geometries"):
        asked(df, box={"column": "name", "share": 0.1})
    with pytest.raises(InvalidQuestionsError, match="a point has two numbers, not 3"):
        asked(df, nearest={"column": "geometry", "count": 3, "vectors": [[1, 2, 3]]})
    wrong = [1, 2, 3], [3, 0, 1, 2], [0, 2, 1, 1], [0, 0, np.nan, 1], [-np.inf, 0, 1, 1]
    boxes = [{"column": "geometry", "bounds": each} for each in wrong]
    for box in ({"column": "geometry"}, [1, 2, 3, 4], *boxes):
        entry = {"name": "x", "columns": ["id"], "box": box}
        with pytest.raises(InvalidQuestionsError, match="box is"):
            list(read_entries("mine.toml", {"question": [entry]}))


def test_bytes_that_only_begin_as_a_geometry_are_refused(stored):
    df = stored("places")[0].tables["data"].head(40).copy()
    df.loc[7, "geometry"] = df["geometry"][7][:9]
    for field in ("box = {bounds = [0, 0, 1, 1]", "nearest = {count = 3, vectors = 2"):
        text = f"[[question]]\nname = 'x'\ncolumns = ['id']\n{field}, column = 'geometry'}}"
        questions = Questions((("mine.toml", text),))
        with pytest.raises(InvalidQuestionsError, match="column 'geometry' has bytes without geometry"):
            _ = QueryTables("mine", given={"data": df}, questions=questions, is_own=True).facts
    with pytest.raises(CannotHoldError, match="column 'geometry' has bytes without geometry"):
        data_formats.find("FlatGeobuf").check(df)


@pytest.mark.parametrize(
    "change", [{"column": 3}, {"vectors": [[1, np.nan]]}, {"vectors": [[1, 10**400]]}, {"count": "3"}]
)
def test_neighbours_of_another_form_are_refused(change):
    near = {"column": "geometry", "count": 3, "vectors": [[1, 2]]}
    entry = {"name": "x", "columns": ["id"], "nearest": near | change}
    with pytest.raises(InvalidQuestionsError, match=r"question 'x': nearest is .*; write \{ column"):
        list(read_entries("mine.toml", {"question": [entry]}))


def test_an_engine_without_geometries_says_so(stored):
    df = stored("places")[0].tables["data"]
    near = {"column": "geometry", "count": 3, "vectors": 2}
    for fields in ({"box": {"column": "geometry", "share": 0.1}}, {"nearest": near}):
        engine = query_engines.find("Parquet[pyarrow]").engine
        with pytest.raises(UnsupportedError, match="it knows no geometries"):
            engine.check("Parquet", asked(df, **fields))

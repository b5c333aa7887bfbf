"""Tables of coordinates and values in Parquet and CSV."""

from pathlib import Path

import duckdb
import numpy as np
import polars as pl
import pytest

import array_stores
from adapter_core import ArraySource, CannotHoldError
from adapter_core.arrays import coordinate_table

STORES = ["Parquet.coordinates[polars]", "Parquet.coordinates[duckdb]", "CSV[polars]", "CSV[duckdb]"]
LATITUDES = np.linspace(60.0, 54.25, 24)
LONGITUDES = np.arange(-7.75, 0.25, 0.25, dtype="float32")
FIRST_HOUR = 1_051_896  # 2020-01-01


@pytest.fixture
def weather() -> ArraySource:
    """Return an hourly field in chunks that divide all axes."""
    values = np.random.default_rng(3).normal(280, 12, (6, 24, 32)).astype("float32")
    return ArraySource.of(
        values,
        (4, 10, 10),
        name="t2m",
        dims=("time", "latitude", "longitude"),
        attributes={"units": "K"},
        coordinate_attributes={"time": {"units": "hours since 1900-01-01 00:00:00"}},
        coordinates={
            "time": np.arange(FIRST_HOUR, FIRST_HOUR + 6),
            "latitude": LATITUDES,
            "longitude": LONGITUDES,
        },
    )


def _whole(source: ArraySource) -> np.ndarray:
    return source.read(tuple(slice(0, edge) for edge in source.shape))


def _path(folder: Path, label: str) -> Path:
    return folder / f"saved{array_stores.get(label).suffix}"


@pytest.mark.parametrize("label", STORES)
def test_rows_are_selected_by_coordinates(label: str, weather: ArraySource, tmp_path: Path) -> None:
    store, path = array_stores.get(label), _path(tmp_path, label)
    store.save(weather, path)
    bounds = {
        "time": (FIRST_HOUR + 1, FIRST_HOUR + 2.5),
        "latitude": (55.1, 58.5),
        "longitude": (-3.0, np.inf),
    }
    with store.open(path) as reader:
        found = reader.select(bounds)
        assert reader.select({"latitude": (10, 20)}).shape == (6, 0, 32)
        with pytest.raises(KeyError, match="height"):
            reader.select({"height": (0, 1)})
    rows, columns = (LATITUDES >= 55.1) & (LATITUDES <= 58.5), LONGITUDES >= -3.0
    np.testing.assert_array_equal(found, _whole(weather)[1:3][:, rows][:, :, columns])


@pytest.mark.parametrize("label", STORES)
def test_a_row_of_chunks_beyond_memory_goes_through_a_file(
    label: str, weather: ArraySource, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(coordinate_table, "_SLAB_BYTES", 1)
    monkeypatch.setattr(coordinate_table, "BATCH_ROWS", 1000)
    store, path = array_stores.get(label), _path(tmp_path, label)
    store.save(weather, path)
    assert np.array_equal(store.read(path), _whole(weather))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("label", STORES)
def test_random_bits_of_floats_come_back(label: str, tmp_path: Path) -> None:
    store, path = array_stores.get(label), _path(tmp_path, label)
    for bits in (np.uint32, np.uint64):
        random = np.random.default_rng(4).integers(0, np.iinfo(bits).max, 20_000, bits)
        values = random.view("float32" if bits is np.uint32 else "float64")
        values[np.isnan(values)] = np.nan
        store.save(values, path)
        assert np.array_equal(store.read(path).view(bits), values.view(bits))


@pytest.mark.parametrize("label", STORES)
def test_coordinates_that_do_not_identify_rows_are_refused(label: str, tmp_path: Path) -> None:
    store, path = array_stores.get(label), _path(tmp_path, label)
    for wrong in ([0.0, 1.0, 1.0], [0.0, 2.0, 1.0], [0.0, np.nan, 2.0]):
        source = ArraySource.of(np.zeros(3), dims=("x",), coordinates={"x": np.array(wrong)})
        with pytest.raises(CannotHoldError, match="ascending"):
            store.save(source, path)
    assert not list(tmp_path.iterdir())


def test_columns_are_those_that_other_programs_expect(weather: ArraySource, tmp_path: Path) -> None:
    for label in STORES:
        array_stores.get(label).save(weather, _path(tmp_path, label))
        path = _path(tmp_path, label)
        if path.is_dir():
            table = pl.read_csv(path / "values.csv", try_parse_dates=True)
        else:
            table = pl.read_parquet(path)
        assert table.columns == ["time", "latitude", "longitude", "t2m"]
        assert table["time"].dtype == pl.Datetime("us")
        assert str(table["time"][-1]) == "2020-01-01 05:00:00"
        assert table["latitude"].to_list() == np.tile(np.repeat(LATITUDES, 32), 6).tolist()


def test_an_answer_by_duckdb_is_read_back(weather: ArraySource, tmp_path: Path) -> None:
    store, path = array_stores.get("CSV[duckdb]"), tmp_path / "answer.csvs"
    store.write_answer(weather, path)
    assert np.array_equal(store.read(path), _whole(weather))
    with duckdb.connect() as connection:
        query = "SELECT count(*) FROM read_csv(?)"
        (found,) = connection.execute(query, [str(path / "values.csv")]).fetchall()
    assert found == (6 * 24 * 32,)


@pytest.mark.parametrize("label", STORES)
@pytest.mark.parametrize("day", ["0000-00-00", "850-02-30"])
def test_counts_from_a_day_that_never_was_stay_counts(label: str, day: str, tmp_path: Path) -> None:
    store, path = array_stores.get(label), _path(tmp_path, label)
    source = ArraySource.of(
        np.ones((2, 3), "float32"),
        dims=("t", "x"),
        coordinates={"t": np.array([1, 2]), "x": np.arange(3)},
        coordinate_attributes={"t": {"units": f"days since {day}"}},
    )
    store.save(source, path)
    with store.open(path) as reader:
        assert reader.coordinates["t"].tolist() == [1, 2]

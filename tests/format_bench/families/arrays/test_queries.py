"""Queries to arrays: their declaration, their answers, and their measurement."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import array_stores
from adapter_core import ArrayReader, ArraySource, UnsupportedError
from adapter_core.array_description import Description
from adapter_core.errors import NotColdError, WrongValuesError
from format_bench.families.arrays import operations as array_operations
from format_bench.families.arrays.operations import ArrayOperations
from format_bench.families.arrays.queries import ArrayQuery, bounds_of, check, chunks_on, queries_to
from format_bench.families.cases import codec_on
from format_bench.families.measuring import measure_steps
from format_bench.families.questions import Questions, declared
from format_bench.instruments import page_cache
from format_bench.instruments.clock import Effort
from format_bench.results.status import CellStatus
from format_bench.results.suites import FAMILIES, SUITES

HOURS = 30
STEPS = {step.name: step for step in FAMILIES["arrays"].steps}
QUESTIONS = declared("arrays").by_name
TRACKS = {track.name: track for track in SUITES["foxbench"].tracks}


def temperature(hours=HOURS):
    """Return a made temperature on a grid of 4 degrees, from north to south."""
    latitude, longitude = np.arange(90.0, -91, -2), np.arange(-180.0, 180, 4) + 1
    time = np.arange(hours) + 1_051_896
    values = np.arange(hours * latitude.size * longitude.size, dtype="float32") % 9973
    return ArraySource.of(
        values.reshape(hours, latitude.size, longitude.size),
        (1, 20, 30),
        name="t2m",
        dims=("time", "latitude", "longitude"),
        coordinates={"time": time, "latitude": latitude, "longitude": longitude},
    )


@pytest.fixture
def array():
    return temperature()


@pytest.fixture
def measured(array, tmp_path):
    """Return operations of HDF5 on a saved array, its data, and the file."""
    ArrayOperations.store(array, tmp_path / "data")
    operations = ArrayOperations(array_stores.get("HDF5"), "blosc:lz4", 6, "paper")
    operations.expect(tmp_path / "data")
    operations.save(array, file := tmp_path / "file.h5")
    return operations, lambda: array, file


def test_there_are_the_forty_queries_of_the_paper():
    durations = ["day", "week", "fortnight", "month", "quarter", "year"]
    hours = [24, 168, 336, 744, 2_208, 8_760]
    found = QUESTIONS
    assert list(found) == [f"Q{number}" for number in range(1, 41)]
    assert [str(found[f"Q{n}"]).rpartition(", ")[2] for n in range(2, 8)] == durations
    assert [found[f"Q{n}"].fields["first"]["time"] for n in range(2, 8)] == hours
    assert {found[f"Q{n}"].heading for n in range(8, 14)} == {"Germany"}
    assert {found[f"Q{n}"].heading for n in range(14, 20)} == {"USA"}
    assert {found[f"Q{n}"].heading for n in range(20, 26)} == {"EU"}
    assert [found[f"Q{n}"].fields["first"]["time"] for n in range(26, 29)] == hours[:3]
    assert {found[f"Q{n}"].fields["variable"] for n in range(29, 41)} == {"stl"}
    assert [found[f"Q{n}"].fields["area"]["altitude"] for n in range(29, 35)] == [[1, 1]] * 6
    assert "altitude" not in found["Q35"].fields["area"]


def test_bounds_select_both_ends_on_descending_coordinates(array):
    description = Description.of(array)
    selection = description.selection(bounds_of(QUESTIONS["Q8"], description))
    time, latitude, longitude = (
        array.coordinates[dim][part] for dim, part in zip(array.dims, selection, strict=True)
    )
    assert len(time) == 24
    assert latitude.tolist() == [54, 52, 50, 48]
    assert longitude.tolist() == [9, 13]


def test_bounds_outside_select_nothing_and_unknown_dimensions_are_an_error(array):
    description = Description.of(array)
    assert description.selection({"latitude": (91, 99)})[1] == slice(0, 0)
    with pytest.raises(KeyError, match="altitude"):
        description.selection({"altitude": (1, 1)})


@pytest.mark.parametrize(
    ("name", "reason"), [("Q3", "asks 168 hours, and the array has 30"), ("Q29", "asks stl")]
)
def test_a_query_to_other_data_says_so(array, name, reason):
    with pytest.raises(UnsupportedError, match=reason):
        check(QUESTIONS[name], Description.of(array))


def test_an_array_without_coordinates_is_not_asked(array):
    bare = replace(array, coordinates={})
    with pytest.raises(UnsupportedError, match="no coordinates of time, latitude and longitude"):
        check(QUESTIONS["Q1"], Description.of(bare))


def test_complex_coordinates_have_no_bounds(array):
    lines = {**array.coordinates, "time": array.coordinates["time"] * 1j}
    with pytest.raises(UnsupportedError, match="have no order: those of time"):
        check(QUESTIONS["Q1"], Description.of(replace(array, coordinates=lines)))


def test_the_queries_to_an_array_are_those_that_apply(array):
    names = [query.name for query in queries_to(Description.of(array))]
    assert names == ["Q1", "Q2", "Q8", "Q14", "Q20", "Q26"]


def test_the_tracks_have_chunks_within_the_array(array):
    assert chunks_on("paper", "HDF5", Description.of(array)) == (1, 50, 90)
    for track in TRACKS:
        for label in array_stores.registry.names():
            chunks = chunks_on(track, label, Description.of(array))
            assert all(1 <= edge <= whole for edge, whole in zip(chunks, array.shape, strict=True))


def test_a_track_takes_the_first_codec_that_a_store_has():
    assert codec_on(TRACKS["paper"], array_stores.get("HDF5")) == ("blosc:lz4", 6)
    assert codec_on(TRACKS["paper"], array_stores.get("TileDB")) == ("lz4", None)
    assert codec_on(TRACKS["paper"], array_stores.get("safetensors")) == (None, None)


def test_each_query_has_samples_of_both_steps(measured, array):
    operations, data, file = measured
    steps = [STEPS["query"], STEPS["cold query"]]
    found = measure_steps(steps, operations, data, file, Effort(0.2, 1))
    by_key = {(step, each.metric, each.query): each for step in found for each in found[step]}
    asked = [query.name for query in queries_to(Description.of(array))]
    for step in steps:
        for metric in step.metrics:
            if metric == "open time":
                continue
            for name in QUESTIONS:
                cell = by_key[step.name, metric, name]
                assert (cell.status is CellStatus.VALUE) == (name in asked), cell
                assert bool(cell.repeats) == (name in asked)
                assert cell.status is CellStatus.VALUE or cell.sentence
    assert by_key["query", "open time", ""].repeats
    assert by_key["query", "query time", "Q26"].sentence == "196,560 values, all equal to NumPy's"
    cold_bytes = by_key["cold query", "query bytes", "Q26"].repeats
    assert min(cold_bytes) >= page_cache.resident_bytes(file) / 2
    assert not list(file.parent.glob("answer*"))


def test_a_wrong_answer_fails_its_query_alone(measured, monkeypatch):
    operations, data, file = measured
    read = ArrayQuery.read

    def changed(query):
        answer = read(query)
        return answer + np.float32(1) if answer.size == 1 else answer

    monkeypatch.setattr(ArrayQuery, "read", changed)
    found = measure_steps([STEPS["query"]], operations, data, file, Effort(0.1, 1))["query"]
    times = {each.query: each for each in found if each.metric == "query time"}
    assert times["Q1"].status is CellStatus.FAILED
    assert times["Q1"].sentence == "WrongValuesError: came back wrong: 1 of 1 values"
    assert times["Q2"].status is CellStatus.VALUE


def test_a_failed_eviction_fails_the_cold_values_of_its_query_alone(measured, monkeypatch):
    operations, data, file = measured
    evict = page_cache.make_cold
    evicted = []

    def evict_once(path):
        evicted.append(path)
        if len(evicted) > 1:
            raise NotColdError("1 of 9 pages stay in the page cache")
        evict(path)

    # The first eviction is the trial whether any file can be cold.
    monkeypatch.setattr(page_cache, "make_cold", evict_once)
    steps = [STEPS["query"], STEPS["cold query"]]
    found = measure_steps(steps, operations, data, file, Effort(0, 1))
    (warm,) = [e for e in found["query"] if (e.metric, e.query) == ("query time", "Q1")]
    assert warm.repeats
    assert "all equal to NumPy's" in warm.sentence
    cold = [each for each in found["cold query"] if each.query == "Q1"]
    assert len(cold) == 3
    assert {each.status for each in cold} == {CellStatus.UNAVAILABLE}
    assert {each.sentence for each in cold} == {"1 of 9 pages stay in the page cache"}


WRITES = """
import sys
from pathlib import Path

import array_stores
from format_bench.families.arrays.operations import ArrayOperations

label, folder = sys.argv[1], Path(sys.argv[2])
operations = ArrayOperations(array_stores.get(label))
operations.expect(folder / "data")
operations.warm_up()
operations.save(ArrayOperations.load(folder / "data"), file := folder / "file")
query = operations.open_query("Q2", file)
answer = query.read()
before = set(sys.modules)
query.write(answer, folder / "answer")
print(*(set(sys.modules) - before))
"""


@pytest.mark.costly("array_stores")
@pytest.mark.parametrize("label", ["Zarr.dir[xarray]", "NetCDF4[xarray-h5netcdf]"])
def test_no_answer_is_the_first_to_import_what_writes_it(array, tmp_path, label):
    ArrayOperations.store(array, tmp_path / "data")
    command = [sys.executable, "-c", WRITES, label, str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_answers_are_compared_bit_by_bit(measured, array):
    operations, _, file = measured
    query = operations.open_query("Q2", file)
    answer = query.read()
    query.close()
    zeros = replace(array, read=lambda selection: np.zeros_like(array.read(selection)))
    with pytest.raises(WrongValuesError, match="24 of 24 values"):
        query.verify(-np.zeros_like(answer), zeros)
    with pytest.raises(WrongValuesError, match="float64"):
        query.verify(answer.astype("float64"), array)


def test_no_query_starts_after_the_limit(measured):
    effort = Effort(0.1, 1, limit_seconds=0)
    found = measure_steps([STEPS["query"]], *measured, effort)["query"]
    times = {each.query: each for each in found if each.metric == "query time"}
    late = times["Q26"]
    assert late.status is CellStatus.TIMED_OUT
    assert late.sentence.startswith("not started: the queries before took")
    assert times["Q3"].status is CellStatus.UNSUPPORTED


def test_a_store_without_coordinates_is_not_asked(array, tmp_path):
    ArrayOperations.store(array, tmp_path / "data")
    operations = ArrayOperations(array_stores.get("NPY.memmap"))
    operations.expect(tmp_path / "data")
    with pytest.raises(UnsupportedError, match="keeps no coordinates"):
        operations.check_query("Q1")


def test_a_large_array_is_read_row_by_row_while_small_chunks_are_saved(array, tmp_path, monkeypatch):
    monkeypatch.setattr(array_operations, "IN_MEMORY_BYTES", 0)
    whole_maps = replace(array, chunks=(1, *array.shape[1:]))
    ArrayOperations.store(whole_maps, tmp_path / "data")
    read = []
    opened = ArrayReader.read
    monkeypatch.setattr(ArrayReader, "read", lambda *args: read.append(args) or opened(*args))
    loaded = ArrayOperations.load(tmp_path / "data")
    chunks = list(replace(loaded, chunks=(1, 20, 30)))
    for selection, values in chunks:
        assert np.array_equal(values, array.read(selection))
    assert len(chunks) == HOURS * 5 * 3
    assert len(read) == HOURS
    across = (slice(3, 6), slice(0, 2), slice(0, 2))
    assert np.array_equal(loaded.read(across), array.read(across))


def test_an_array_beyond_a_disk_is_kept_compressed_until_stores_save_it(array, tmp_path, monkeypatch):
    sizes = {}
    for limit in (array.size_bytes, array.size_bytes - 1):
        monkeypatch.setattr(array_operations, "PLAIN_BYTES", limit)
        ArrayOperations.store(array, path := tmp_path / f"{limit}")
        sizes[limit] = array_stores.get("NPY").size_bytes(path)
        assert np.array_equal(
            ArrayOperations.load(path).read(whole_of(array)), array.read(whole_of(array))
        )
    plain, compressed = sizes.values()
    assert compressed < 0.9 * array.size_bytes <= plain


def whole_of(array):
    """Return the selection of all values."""
    return tuple(slice(0, edge) for edge in array.shape)


def test_a_question_by_indexes_needs_no_coordinates_and_stays_at_its_place(tmp_path):
    values = np.arange(6 * 7 * 8, dtype="int32").reshape(6, 7, 8)
    array = ArraySource.of(values, (2, 7, 8), dims=("time", "row", "column"))
    text = """
        [[question]]
        name = "line"
        extent = { time = "all", row = 1, column = 0.5 }
        start = { row = 3 }
        """
    operations = ArrayOperations(array_stores.get("HDF5"))
    operations.questions = Questions((("mine.toml", text),))
    ArrayOperations.store(array, tmp_path / "data")
    operations.expect(tmp_path / "data")
    operations.chunk_shape = (9, 2, 4)
    operations.save(array, file := tmp_path / "file.h5")
    with operations.adapter.open(file) as reader:
        assert reader.description.chunks == operations.chunks == (6, 2, 4)
    operations.check_query("line")
    answers = []
    for _ in range(2):
        query = operations.open_query("line", file)
        answers.append(query.read())
        assert query.verify(answers[-1], array) == "24 values, all equal to NumPy's"
        query.close()
    assert answers[0].shape == (6, 1, 4)
    assert (answers[0] == answers[1]).all()
    assert set(answers[0][0, 0] // 8) == {3}
    operations.chunk_shape = (2, 4)
    with pytest.raises(UnsupportedError, match="the array has 3 axes, and a chunk shape 2 edges"):
        operations.save(array, file)

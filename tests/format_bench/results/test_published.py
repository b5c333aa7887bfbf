"""Published figures as results."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict

import pytest

import array_stores
import data_formats
import data_generator
import image_storages
import record_stores
from adapter_core import UnknownNameError
from adapter_core.arrays.xarray import XarrayStore
from adapter_core.errors import InvalidResultsError
from format_bench.results import published
from format_bench.results.export import export
from format_bench.results.load import load, suite_of
from format_bench.results.record_form import validate
from format_bench.results.status import CellStatus


@pytest.fixture(scope="module")
def thesis():
    return load("thesis")


def value_of(results, *cell):
    (found,) = [
        each.value
        for each in results.records
        if (suite_of(each), each.format, each.dataset, each.metric, each.codec) == (*cell, None)[:5]
    ]
    return found


def test_all_cells_of_the_published_tables_exist(thesis):
    # 12 formats on 5 tables and 9 on webface; 4 formats with 3 codecs; 6 storages on 2 sets.
    assert Counter(map(suite_of, thesis.records)) == {
        "tabular": (12 * 5 + 9) * 5,
        "compression": 4 * 3 * 3,
        "image": 6 * 2 * 3,
    }
    assert len({each.run_id for each in thesis.records}) == 1
    assert all(each.status is CellStatus.VALUE and "Tarageľ" in each.sentence for each in thesis.records)
    for record in thesis.records:
        validate(asdict(record))


def test_labels_are_those_of_the_adapters(thesis):
    for family, known in (("tabular", data_formats), ("image", image_storages)):
        labels = {each.format for each in thesis.records if suite_of(each) == family}
        assert labels <= set(known.names())


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        (("tabular", "CSV", "eq", "save time"), 2.65),
        (("tabular", "HDF5.table", "webface", "size"), 24_400_000_000),
        (("tabular", "Avro", "webface", "read memory"), 37_600_000_000),
        (("compression", "Parquet", "webface", "save time", "lz4"), 17.72 + 8.81),
        (("compression", "ORC", "webface", "read time", "lz4"), 15.37 - 0.46),
        (("compression", "Feather", "webface", "size", "zstd"), 6_900_000_000 * 0.3),
        (("compression", "Feather", "webface", "size"), 6_900_000_000),
        (("image", "PNG", "ImageNet-100", "save time"), 1076.31),
        (("image", "SQLite", "CIFAR-10", "size"), 205_000_000),
    ],
)
def test_figures_are_in_seconds_and_bytes(thesis, cell, value):
    assert value_of(thesis, *cell) == pytest.approx(value)


@pytest.mark.parametrize("dataset", ["eq", "int", "float", "bool", "str"])
def test_sizes_of_pickles_show_the_rows_and_the_megabyte(thesis, tmp_path, dataset):
    share = 100
    df = data_generator.table(dataset, rows=1_000_000 // share).df
    text = df.select_dtypes("str").columns
    df.astype(dict.fromkeys(text, object)).to_pickle(tmp_path / "table.pkl")
    expected = (tmp_path / "table.pkl").stat().st_size * share
    assert value_of(thesis, "tabular", "Pickle", dataset, "size") == pytest.approx(expected, rel=0.02)


def test_the_interval_of_a_size_is_its_rounding(thesis):
    sizes = [each for each in thesis.records if each.metric == "size" and each.repeats]
    for record in sizes:
        low, high = record.interval
        assert (low + high) / 2 == record.value
        assert high - low == (1e6 if record.value < 1e9 else 1e8)


def test_foxbench_has_all_times_and_sizes():
    found = load("foxbench").records
    for record in found:
        validate(asdict(record))
    # Four stacks read forty queries, three write; four formats have five sizes, CSV two.
    assert Counter(each.metric for each in found) == {
        "query time": 4 * 40,
        "answer write time": 3 * 40,
        "size": 4 * 5 + 2,
    }
    cells = {(each.format, each.metric, each.query): each for each in found}
    read = cells["NetCDF4[xarray-h5netcdf]", "query time", "Q7"]
    assert (read.value, read.dataset, read.rows, read.track) == (0.1012, "era5-hourly", 8760, "paper")
    assert cells["TileDB[xarray]", "query time", "Q40"].dataset == "era5-hourly-soil"
    sizes = {(each.format, each.rows): each.value for each in found if each.metric == "size"}
    assert sizes["Zarr.dir[xarray]", 8760] == pytest.approx(45.79e9)
    assert ("CSV", 8760) not in sizes


def test_stacks_of_foxbench_are_those_of_the_adapters():
    times = {each.format for each in load("foxbench").records if each.query}
    assert times <= set(array_stores.names())
    # All were read through xarray, TensorStore by a driver for it.
    assert all(issubclass(type(array_stores.find(each)), XarrayStore) for each in times)
    assert "Zarr[xarray-tensorstore]" in times


def test_qaware_has_all_figures_in_bytes_and_labels_of_adapters():
    found = load("qaware").records
    for record in found:
        validate(asdict(record))
    assert Counter(each.metric for each in found) == {
        "save time": 13,
        "size": 13,
        "read time": 16,
        "held memory": 16,
    }
    assert {each.format for each in found} <= set(record_stores.names())
    cells = {(each.format, each.codec, each.metric): each for each in found}
    # The published program's entities take exactly as many bytes: "MB" are MiB.
    low, high = cells["Protobuf[jvm-seed]", None, "size"].interval
    assert low <= 1_001_405_020 <= high
    assert high - low < 1
    assert cells["Kryo[jvm-seed]", None, "size"].value == pytest.approx(726_469_789, abs=5)
    assert cells["Parquet.group[jvm]", "gzip", "held memory"].value == pytest.approx(9965.99 * 2**20)
    assert cells["Avro.generic[jvm]", None, "read time"].value == 9.356
    assert cells["Avro.specific[jvm]", None, "read time"].value == 8.494


def test_a_folder_of_that_name_takes_precedence(thesis, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert load("thesis") == thesis
    with pytest.raises(InvalidResultsError, match="no results at thesis"):
        load("./thesis")
    folder = tmp_path / "thesis"
    folder.mkdir()
    export(thesis.records[:1], folder / "results.jsonl")
    assert len(load("thesis").records) == 1


def test_a_missing_folder_is_reported_with_the_published_results(tmp_path):
    with pytest.raises(
        InvalidResultsError,
        match=r"no results at .*gone.*, and published ones are: thesis, foxbench, qaware",
    ):
        load(tmp_path / "gone")
    with pytest.raises(UnknownNameError, match="no published result 'theses'; did you mean thesis"):
        published.records("theses")

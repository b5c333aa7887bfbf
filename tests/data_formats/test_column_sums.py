"""Columns as arrays, and their sums, of every table format, next to NumPy's of the saved table."""

from __future__ import annotations

import math
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import data_formats
import data_generator
from adapter_core import (
    CannotHoldError,
    Comparison,
    DataFormat,
    InvalidSelectionError,
    Predicate,
    UnknownNameError,
)
from adapter_core.column_batches import ColumnSums, selected, sums_of
from format_bench.instruments import threads
from tests.helpers import chosen

ROWS = 5_000

COLUMNS = ["H1_PX", "H1_isMuon", "H2_isMuon", "H3_isMuon", "H3_Charge", "B_VertexChi2"]

NO_MUON = Predicate([Comparison(f"H{track}_isMuon", "==", 0) for track in (1, 2, 3)])

QUERIES = [
    (["H3_Charge", "H1_PX"], None),
    (["H1_PX", "H3_Charge", "H1_isMuon"], NO_MUON),
    (["B_VertexChi2"], Predicate([Comparison("H1_PX", ">", 100.5), Comparison("H3_Charge", "<=", 0)])),
    (["H1_PX"], Predicate([Comparison("H3_Charge", "!=", -1), Comparison("B_VertexChi2", "<", 9)])),
    (["H1_PX", "H3_Charge"], Predicate([Comparison("H1_PX", ">=", 1e300)])),
]

IN_THREADS = [
    "Parquet",
    "Parquet[polars]",
    "Parquet[duckdb]",
    "DuckDB",
    "Vortex",
    "ROOT.TTree[RDataFrame]",
]
"""Formats whose libraries use threads of their own."""


@cache
def events() -> pd.DataFrame:
    """Return some columns of kaons, shape (5000, 6)."""
    df = data_generator.table("kaons", rows=ROWS).df[COLUMNS]
    return df.assign(H1_PX=df["H1_PX"].round(9))  # Excel keeps 16 digits


@pytest.fixture(scope="module")
def files() -> dict[str, Path]:
    """Return the files saved so far, by label."""
    return {}


@pytest.fixture(params=chosen(data_formats, __name__))
def adapter(request) -> DataFormat:
    found = data_formats.find(request.param)
    state = found.availability()
    if not state.available:
        pytest.skip(state.reason)
    return found


@pytest.fixture
def saved(adapter, files, tmp_path_factory) -> Path:
    if adapter.label not in files:
        files[adapter.label] = tmp_path_factory.mktemp("sums") / f"a[b]?{adapter.suffix}"
        adapter.save(events(), files[adapter.label])
    return files[adapter.label]


def expected_sums(columns, where) -> ColumnSums:
    df = events() if where is None else events()[where.mask(events())]
    return ColumnSums(len(df), {name: math.fsum(df[name]) for name in columns})


def test_sums_are_those_of_the_saved_rows(adapter, saved):
    for columns, where in QUERIES:
        found, expected = adapter.sum_columns(saved, columns, where), expected_sums(columns, where)
        assert found.rows == expected.rows
        assert list(found.sums) == columns
        assert found.sums == pytest.approx(expected.sums, rel=1e-9)
        assert {type(each) for each in found.sums.values()} == {float}


@pytest.mark.parametrize("adapter", IN_THREADS, indirect=True)
def test_sums_do_not_depend_on_threads(adapter, saved):
    columns, where = QUERIES[1]
    sums = {}
    try:
        for policy in ("1", "all"):
            threads.apply(policy)
            sums[policy] = adapter.sum_columns(saved, columns, where)
    finally:
        threads.apply("all")
    assert sums["1"].rows == sums["all"].rows
    assert sums["1"].sums == pytest.approx(sums["all"].sums, rel=1e-12)


def test_arrays_are_the_saved_values_in_order(adapter, saved):
    for columns, where in QUERIES:
        arrays = adapter.read_arrays(saved, columns, where)
        df = events() if where is None else events()[where.mask(events())]
        assert list(arrays) == columns
        for name, values in arrays.items():
            assert isinstance(values, np.ndarray)
            # JSON has 15 decimals by default.
            np.testing.assert_allclose(values, df[name], rtol=1e-12)


def test_sums_are_neither_rounded_to_short_floats_nor_beyond_long_integers(adapter, tmp_path):
    drawn = np.random.default_rng(8)
    df = pd.DataFrame(
        {
            "single": drawn.random(9_000, np.float32),
            "long": drawn.integers(2**61, 2**62, 9_000),
            "unsigned": drawn.integers(2**62, 2**63, 9_000, np.uint64),
        }
    )
    path = tmp_path / f"sums{adapter.suffix}"
    for name in df:
        try:
            adapter.save(df[[name]], path)
        except CannotHoldError:
            continue
        # The values as they come back: formats of text may round the shortest floats' last digit.
        back = adapter.read(path)[name].astype(np.float64)
        assert adapter.sum_columns(path, [name]).sums[name] == pytest.approx(math.fsum(back), rel=1e-12)
        adapter.remove(path)


def test_a_name_that_does_not_exist_is_reported(adapter, saved):
    nowhere = Predicate([Comparison("H4_PX", "==", 0)])
    for ask in (adapter.sum_columns, adapter.read_arrays):
        with pytest.raises(UnknownNameError, match="no column 'H4_PX'"):
            ask(saved, ["H4_PX"])
        with pytest.raises(UnknownNameError, match="no column 'H4_PX'"):
            ask(saved, ["H1_PX"], nowhere)
        with pytest.raises(FileNotFoundError):
            ask(saved.with_name("missing"), ["H1_PX"])
        with pytest.raises(InvalidSelectionError, match="at least one column"):
            ask(saved, [])


def test_a_table_without_rows_has_sums_of_zero(adapter, tmp_path):
    if not adapter.holds_zero_rows:
        pytest.skip(f"{adapter.label} refuses tables without rows")
    path = tmp_path / f"empty{adapter.suffix}"
    adapter.save(events().head(0), path)
    for where in (None, NO_MUON):
        found = adapter.sum_columns(path, ["H1_PX", "H3_Charge"], where)
        assert found == ColumnSums(0, {"H1_PX": 0.0, "H3_Charge": 0.0})
        arrays = adapter.read_arrays(path, ["H1_PX", "H3_Charge"], where)
        assert [len(values) for values in arrays.values()] == [0, 0]


def test_booleans_and_integers_are_added_up_but_not_text_or_times(adapter, tmp_path):
    columns = {"number": [1.5, 2.5, 3.5], "truth": [True, False, True]}
    large = np.full(3, 2**31 - 1, np.int32)
    others = {"word": ["1", "x", "3"], "when": pd.to_datetime(["2020-01-01"] * 3)}
    try:
        adapter.check(pd.DataFrame(others))
    except CannotHoldError:
        del others["when"]
    df = pd.DataFrame({**others, **columns, "large": large})
    path = tmp_path / f"words{adapter.suffix}"
    adapter.save(df, path)
    expected = {"number": 7.5, "truth": 2.0, "large": float(3 * (2**31 - 1))}
    assert adapter.sum_columns(path, list(expected)) == ColumnSums(3, expected)
    odd = Predicate([Comparison("truth", "==", True), Comparison("number", "!=", 1.5)])
    assert adapter.sum_columns(path, ["large"], odd) == ColumnSums(1, {"large": 2.0**31 - 1})
    for name in others:
        for ask in (adapter.sum_columns, adapter.read_arrays):
            with pytest.raises(InvalidSelectionError, match=repr(name)):
                ask(path, [name])


def test_batches_are_joined_and_added_up():
    batches = [{"a": np.arange(3), "b": np.ones(3)}, {"a": np.arange(3, 5), "b": np.ones(2)}]
    where = Predicate([Comparison("a", ">", 1), Comparison("b", "==", 1)])
    assert selected(batches, ["a"], where)["a"].tolist() == [2, 3, 4]
    assert sums_of(batches, ["a", "b"], where) == ColumnSums(3, {"a": 9.0, "b": 3.0})
    assert sums_of([], ["a"], None) == ColumnSums(0, {"a": 0.0})


def test_sums_of_32_bit_integers_do_not_overflow():
    batch = {"a": np.full(3, 2**31 - 1, np.int32)}
    assert sums_of([batch], ["a"], None).sums == {"a": 3.0 * (2**31 - 1)}


@pytest.mark.parametrize(
    ("values", "total"), [((np.inf, -np.inf), "nan"), ((1e308, 1e308), "inf"), ((1.0, 2.0), "3.0")]
)
def test_sums_that_are_no_number_are_answers(values, total):
    batches = [{"c": np.array([each])} for each in values]
    assert str(sums_of(batches, ["c"], None).sums["c"]) == total

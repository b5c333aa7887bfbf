"""Parts of tables: slices, predicates and batches have the values and dtypes of the whole table."""

from __future__ import annotations

import re
from inspect import getattr_static
from itertools import product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pytest

from adapter_core import (
    CannotHoldError,
    Comparison,
    DataFormat,
    Feature,
    FilteredReads,
    InvalidSelectionError,
    Predicate,
    UnknownNameError,
    UnsupportedError,
)
from adapter_core.predicate import OPERATORS

ROWS = 1_300
"""More than two blocks of rows, and more than the samples from which readers infer types."""

SLICES = [
    (0, 0),
    (0, 1),
    (0, None),
    (630, 1_250),
    (640, 665),
    (655, 660),  # nulls alone in columns that have some
    (1_290, 2_000),
    (ROWS, 1_500),
    (9_999, None),
]

COMPARISONS: list[list[tuple[str, str, Any]]] = [
    *([("whole", operator, 7)] for operator in OPERATORS),
    *([("word", operator, "b c")] for operator in OPERATORS),
    *([("holes", operator, 1.25)] for operator in ("!=", "<", ">=")),
    *([("maybe", operator, 7)] for operator in ("!=", "<", ">=")),
    [("truth", "==", True)],
    [("gap", "!=", True)],
    [("name", "==", "Zürich")],
    [("late", "==", "007")],
    [("small", ">", 1_000)],  # beyond the column's type
    [("whole", "<=", 6.5)],
    [("single", "==", 0.1)],  # in 32 bits only
    [("real", ">", -np.inf)],
    [("whole", ">=", -49), ("real", "<", 1), ("word", "!=", "a"), ("whole", "<", 30)],
    [("whole", "==", 1), ("whole", "==", 2)],
]


def table() -> pd.DataFrame:
    """Return columns of common types, with and without nulls, shape (1300, 13).

    All nulls are near the middle, so that most parts have none in columns that have some.
    """
    rng = np.random.default_rng(17)
    whole = rng.integers(-50, 50, ROWS)
    real = rng.integers(-40, 40, ROWS) / 8
    word = np.array(["a", "Ab", "b c", "Zürich", "名前", "z", "b", "A"], object)[whole % 8]
    df = pd.DataFrame({"whole": whole, "real": real, "truth": whole % 3 == 0, "word": word})
    df["small"] = (whole + 60).astype("int8")
    df["single"] = np.where(whole % 2, np.float32(0.1), real.astype("float32"))
    nulls = (df.index > ROWS // 2) & (df.index < ROWS // 2 + 20)
    df["holes"] = df["real"].mask(nulls)
    df["name"] = df["word"].mask(nulls)
    df["maybe"] = df["whole"].astype("Int64").mask(nulls)
    df["gap"] = df["truth"].astype("boolean").mask(nulls)
    df["fits"] = df["truth"].astype(object).mask(nulls, None)
    df["bytes"] = df["name"].str.encode("utf-8").astype(object).where(~nulls, None)
    df["late"] = np.where(df.index < ROWS - 20, "007", "x")
    return df


class Saved(NamedTuple):
    """A table in a file."""

    path: Path
    whole: pd.DataFrame
    """The table as the adapter reads it."""


@pytest.fixture(scope="module")
def saved_tables() -> dict[str, Saved]:
    """Return the tables saved so far, by label: one for all tests of an adapter."""
    return {}


@pytest.fixture
def saved(
    adapter: DataFormat, saved_tables: dict[str, Saved], tmp_path_factory: pytest.TempPathFactory
) -> Saved:
    """Return the saved table, without the columns that the adapter refuses."""
    if adapter.label not in saved_tables:
        df = table()
        accepted = [name for name in df.columns if _is_accepted(adapter, df[[name]])]
        path = tmp_path_factory.mktemp("parts") / f"saved{adapter.suffix}"
        adapter.save(df[accepted], path)
        saved_tables[adapter.label] = Saved(path, adapter.read(path))
    return saved_tables[adapter.label]


def _is_accepted(adapter: DataFormat, df: pd.DataFrame) -> bool:
    try:
        adapter.check(df)
    except CannotHoldError:
        return False
    return True


def _skip_without(adapter: DataFormat, feature: Feature) -> None:
    if feature not in adapter.supports:
        pytest.skip(f"{adapter.label} has no {feature}")


def _projections(adapter: DataFormat) -> list[list[str] | None]:
    return [None, ["word", "real"]] if Feature.COLUMNS in adapter.supports else [None]


def _assert_equal(read: pd.DataFrame, expected: pd.DataFrame) -> None:
    pd.testing.assert_frame_equal(read, expected.reset_index(drop=True))
    assert type(read.index) is pd.RangeIndex


def test_slices_equal_those_of_the_whole_table(adapter, share_of, saved):
    _skip_without(adapter, Feature.ROWS)
    for (start, stop), columns in share_of(product(SLICES, _projections(adapter))):
        read = adapter.read(saved.path, columns, slice(start, stop))
        expected = saved.whole.iloc[start:stop]
        _assert_equal(read, expected if columns is None else expected[columns])


def test_predicates_select_the_rows_that_pass(adapter, share_of, saved):
    _skip_without(adapter, Feature.FILTER)
    tried = 0
    candidates = share_of(COMPARISONS[:: _step(adapter)])
    for comparisons in candidates:
        predicate = Predicate([Comparison(*each) for each in comparisons])
        if not set(predicate.columns) <= set(saved.whole.columns):
            continue
        expected = saved.whole[_passing(saved.whole, predicate)]
        # Half of them with a projection, mostly without the compared columns.
        columns = _projections(adapter)[-1] if tried % 2 else None
        read = adapter.read(saved.path, columns, predicate)
        _assert_equal(read, expected if columns is None else expected[columns])
        tried += 1
    assert tried > len(candidates) / 2


EXTREMES = pd.DataFrame(
    {
        "zeros": [0.0, -0.0, 1.5, 0.1, 5e-324, 1e300, np.nan, -0.0],
        "both": [0.0, -0.0, 0.0, 0.0, -0.0, -0.0, np.nan, 0.0],
        "minus": [-0.0] * 8,
        "single": np.array([0.0, -0.0, 0.1, -2.5, 1e-45, 3e38, np.nan, -0.0], "float32"),
        "endless": [np.inf, -1.0, -np.inf, 0.0, 7.0, np.nan, -0.0, np.inf],
        "beyond": [np.inf, 1.0, 2.0, 0.0, 7.0, np.nan, -0.0, np.inf],
        "whole": np.array([-(2**63), 2**63 - 1, 2**53, 2**53 + 1, 0, -1, 7, 7], "int64"),
    }
)

EXTREME_COMPARISONS = [
    (column, operator, value)
    for column, values in {
        "zeros": [0.0, 0.1, 5e-324, 1e300],
        "both": [0.0],
        "minus": [0.0],
        "single": [0.0, 0.1],
        "endless": [0.0, np.inf],
        "beyond": [1.0, np.inf],
        "whole": [-(2**63), 2**53 + 1, 2**63 - 1],
    }.items()
    for value in values
    for operator in OPERATORS
]


def test_predicates_at_zeros_and_ends_select_the_rows_that_pass(adapter, share_of, path):
    _skip_without(adapter, Feature.FILTER)
    df = EXTREMES[[name for name in EXTREMES if _is_accepted(adapter, EXTREMES[[name]])]]
    adapter.save(df, path)
    whole = adapter.read(path)
    differ = []
    for column, operator, value in share_of(EXTREME_COMPARISONS[:: _step(adapter)]):
        if column not in df.columns:
            continue
        predicate = _where(column, operator, value)
        expected = whole[_passing(whole, predicate)].reset_index(drop=True)
        if not adapter.read(path, rows=predicate).equals(expected):
            differ.append(f"{column} {operator} {value!r}")
    assert differ == []


def _step(adapter: DataFormat) -> int:
    """Return which part of all comparisons to try: filters of batches share their implementation."""
    own, default = (getattr_static(each, "_read_where") for each in (type(adapter), FilteredReads))
    return 5 if own is default else 1


def _passing(df: pd.DataFrame, predicate: Predicate) -> list[bool]:
    values = [df[each.column].tolist() for each in predicate.comparisons]
    # Formats that store 32-bit floats as larger ones compare these.
    constants = [
        float(np.float32(each.value)) if df[each.column].dtype == "float32" else each.value
        for each in predicate.comparisons
    ]
    compare = [OPERATORS[each.operator] for each in predicate.comparisons]
    return [
        all(
            not pd.isna(value) and function(value, constant)
            for value, function, constant in zip(row, compare, constants, strict=True)
        )
        for row in zip(*values, strict=True)
    ]


@pytest.mark.parametrize("batch_rows", [300, ROWS])
def test_batches_are_bounded_and_together_the_whole_table(adapter, saved, batch_rows):
    _skip_without(adapter, Feature.BATCHES)
    for columns in _projections(adapter):
        expected = saved.whole if columns is None else saved.whole[columns]
        rows = 0
        for batch in adapter.iterate(saved.path, columns, batch_rows):
            assert 0 < len(batch) <= batch_rows
            _assert_equal(batch, expected.iloc[rows : rows + len(batch)])
            rows += len(batch)
        assert rows == ROWS


def test_a_table_without_rows_has_empty_parts_and_no_batches(adapter, path):
    df = table()[["whole", "word"]].head(0)
    if not _is_accepted(adapter, df):
        pytest.skip(f"{adapter.label} refuses tables without rows")
    adapter.save(df, path)
    whole = adapter.read(path)
    if Feature.ROWS in adapter.supports:
        _assert_equal(adapter.read(path, rows=slice(1, 3)), whole)
    if Feature.BATCHES in adapter.supports:
        assert list(adapter.iterate(path)) == []


def test_predicates_find_columns_of_any_name(adapter, path):
    _skip_without(adapter, Feature.FILTER)
    names = [
        "a,b",
        'c"d',
        "e'f",
        "g h",
        "i;j",
        "k.l",
        "m/n",
        "o`p",
        "größe",
        "1",
        "select",
        "rowid",
        "A[0]",
    ]
    df = pd.DataFrame({name: [i, i + 1, i + 2] for i, name in enumerate(names)})
    df = df[[name for name in names if _is_accepted(adapter, df[[name]])]]
    adapter.save(df, path)
    whole = adapter.read(path)
    for position, name in enumerate(df.columns):
        value = int(df[name][1])
        read = adapter.read(path, rows=_where(name, "==", value))
        _assert_equal(read, whole.iloc[1:2])
        if position == 0 and Feature.COLUMNS in adapter.supports:
            other = list(df.columns[-1:])
            _assert_equal(adapter.read(path, other, _where(name, "<", value)), whole.iloc[:1][other])


def test_undeclared_features_are_refused(adapter, saved):
    reads = {
        Feature.ROWS: lambda: adapter.read(saved.path, rows=slice(1)),
        Feature.FILTER: lambda: adapter.read(saved.path, rows=_where("whole", "==", 1)),
        Feature.BATCHES: lambda: adapter.iterate(saved.path),
    }
    for feature, read in reads.items():
        if feature not in adapter.supports:
            with pytest.raises(
                UnsupportedError, match=re.escape(f"{adapter.label} has no {feature}: it reads all rows")
            ):
                read()


def test_unknown_columns_are_named(adapter, saved):
    if Feature.FILTER in adapter.supports:
        with pytest.raises(UnknownNameError, match="there is no column 'hole'; did you mean"):
            adapter.read(saved.path, rows=_where("hole", "==", 1))
    if {Feature.BATCHES, Feature.COLUMNS} <= adapter.supports:
        with pytest.raises(UnknownNameError, match="there is no column 'reel'; did you mean real"):
            adapter.iterate(saved.path, ["reel"])


def test_constants_of_another_type_than_the_column_are_refused(adapter, saved):
    _skip_without(adapter, Feature.FILTER)
    for column, value in [("word", 1), ("whole", "1"), ("real", True), ("truth", 1)]:
        with pytest.raises(InvalidSelectionError, match=f"column '{column}' contains"):
            adapter.read(saved.path, rows=_where(column, "==", value))


def test_slices_that_select_no_range_are_refused(adapter, saved):
    _skip_without(adapter, Feature.ROWS)
    for rows in (slice(None, None, 2), slice(-3, None), slice(0, -1)):
        with pytest.raises(InvalidSelectionError):
            adapter.read(saved.path, rows=rows)


def _where(column: str, operator: str, value: Any) -> Predicate:
    return Predicate([Comparison(column, operator, value)])

"""Comparison of tables: differences and their wording."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from format_bench.conformance.tables import every_table, ordinary
from format_bench.verification.tables import TableDiff, verify


@pytest.mark.parametrize("table", every_table())
def test_a_table_is_exactly_itself(table):
    df = every_table()[table]
    assert verify(df, df.copy(deep=True)) == TableDiff()


@pytest.mark.parametrize(
    ("saved", "read", "loss"),
    [
        (np.int32([1, 2]), np.int64([1, 2]), "column c: int32 came back as int64"),
        (np.float32([0.1, 2]), np.float64(["0.1", 2]), "column c: float32 came back as float64"),
        (pd.array([1, None], "Int64"), [1.0, None], "column c: Int64 came back as float64"),
        (pd.Categorical(["a", "b"]), ["a", "b"], "column c: category came back as str"),
        (
            pd.to_datetime(["2020-01-01", "2020-01-02"]).astype("datetime64[ns]"),
            ["2020-01-01", "2020-01-02T00:00:00.000000000"],
            "column c: datetime64[ns] came back as str",
        ),
    ],
)
def test_a_changed_dtype_is_a_loss(saved, read, loss):
    verdict = verify(pd.DataFrame({"c": saved}), pd.DataFrame({"c": read}))
    assert verdict == TableDiff(losses=(loss,), lost_columns=1)
    assert not verdict.exact


@pytest.mark.parametrize(
    ("saved", "read"),
    [
        ([1, 2], [1, 3]),
        ([1.0, 2.0], [1.0, 2.0000000000000004]),
        ([0.0, 1.0], [-0.0, 1.0]),
        ([1.0, np.nan], [1.0, 0.0]),
        ([1.0, 0.0], [1.0, np.nan]),
        (["a", ""], ["a", None]),
        (["a", "NA"], ["a", None]),
        (["01", "2"], [1, 2]),
        ([True, False], [True, True]),
        (pd.Categorical(["a", "b"]), pd.Categorical(["b", "a"])),
        (pd.to_datetime(["2020-01-01", None]), pd.to_datetime(["2020-01-02", None])),
        (pd.array([2**53 + 1, None], "Int64"), [float(2**53), None]),
        (pd.Series([b"a", b"b"], dtype=object), pd.Series(["a", "b"], dtype=object)),
        (pd.Series([1, True], dtype=object), pd.Series([1, 1], dtype=object)),
    ],
)
def test_a_changed_value_is_an_error(saved, read):
    verdict = verify(pd.DataFrame({"c": saved}), pd.DataFrame({"c": read}))
    assert len(verdict.errors) == 1
    assert verdict.errors[0].startswith("column c: ")


def test_an_error_names_the_first_value_that_differs():
    verdict = verify(pd.DataFrame({"c": [5, 6, 7]}), pd.DataFrame({"c": [5, 0, 0]}))
    (error,) = verdict.errors
    assert error == ("column c: 2 of 3 values differ, first in row 1: 6 came back as 0")


def test_rows_names_order_and_index_count():
    df = ordinary()
    assert verify(df, df.head(3)).errors == ("4 rows came back as 3",)
    assert "came back as" in verify(df, df[["real", "whole", "truth", "word"]]).errors[0]
    assert verify(df, df.rename(columns={"real": "r"})).errors
    assert len(verify(df, df.iloc[::-1].reset_index(drop=True)).errors) == 3
    assert verify(df, df.set_axis([3, 2, 1, 0])).errors == ("the index is not the default one",)


def test_rounding_is_a_loss_only_within_the_declared_digits():
    saved = pd.DataFrame({"c": [12.3456789012345678, 1e-20]})
    rounded = pd.DataFrame({"c": saved["c"].round(12)})
    assert verify(saved, rounded).errors
    assert verify(saved, rounded, kept_digits=15).errors
    assert verify(saved, rounded, kept_digits=12).losses == (
        "column c: floats were rounded to 12 digits",
    )

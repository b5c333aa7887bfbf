"""Comparison of tables: differences and their wording."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from format_bench.conformance.tables import every_table, ordinary
from format_bench.verification import Diff
from format_bench.verification.columns import other_columns
from format_bench.verification.tables import verify


@pytest.mark.parametrize("table", every_table())
def test_a_table_is_exactly_itself(table):
    df = every_table()[table]
    assert verify(df, df.copy(deep=True)) == Diff()


@pytest.mark.parametrize(
    ("saved", "read", "loss"),
    [
        (np.int32([1, 2]), np.int64([1, 2]), "column c: int32 came back as int64"),
        (np.float32([0.1, 2]), np.float64(["0.1", 2]), "column c: float32 came back as float64"),
        (np.float16([1, 2]), np.int64([1, 2]), "column c: float16 came back as int64"),
        (pd.array([1, None], "Int64"), [1.0, None], "column c: Int64 came back as float64"),
        (pd.Categorical(["a", "b"]), ["a", "b"], "column c: category came back as str"),
        (
            pd.to_datetime(["2020-01-01", "2020-01-02"]).astype("datetime64[ns]"),
            ["2020-01-01", "2020-01-02T00:00:00.000000000"],
            "column c: datetime64[ns] came back as str",
        ),
        # As text of pandas 2.
        *(
            (values, pd.Series(text, dtype=object), f"column c: {name} came back as object")
            for values, text, name in [
                (pd.to_datetime(["2020-01-01"]).as_unit("ns"), ["2020-01-01"], "datetime64[ns]"),
                (pd.to_timedelta(["1h"]).as_unit("ns"), ["0 days 01:00:00"], "timedelta64[ns]"),
            ]
        ),
    ],
)
def test_a_changed_dtype_is_a_loss(saved, read, loss):
    verdict = verify(pd.DataFrame({"c": saved}), pd.DataFrame({"c": read}))
    assert verdict == Diff(losses=(loss,), lost=1)
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


@pytest.mark.parametrize(
    ("read", "sentence"),
    [
        (["a", 1], "columns 'a', '1' came back as 'a', 1"),
        (["1", "a"], "columns 'a', '1' came back as '1', 'a'"),
        (["a"], "columns 'a', '1' came back as 'a'"),
    ],
)
def test_names_of_columns_are_shown_with_their_types_and_order(read, sentence):
    saved = pd.DataFrame([[1, 2]], columns=["a", "1"])
    assert verify(saved, pd.DataFrame([[1] * len(read)], columns=read)).errors == (sentence,)


def test_of_many_or_long_names_the_first_that_differs_is_shown():
    names = [f"column {number}" for number in range(20)]
    swapped = [*names[:18], names[19], names[18]]
    assert other_columns(names, swapped) == (
        "the name of column 19 of 20: 'column 18' came back as 'column 19'"
    )
    doubled = [*names[:19], names[18]]
    assert other_columns(names, doubled).endswith(" 20 of 20: 'column 19' came back as 'column 18'")
    assert other_columns(names, names[:19]).endswith(" 20 of 20: 'column 19' came back as none")
    long = "x" * 500
    shown = other_columns([f"{long}1"], [f"{long}2"])
    assert shown == f"the name of column 1 of 1: ...{'x' * 40}1' came back as ...{'x' * 40}2'"


def test_rows_names_order_and_index_count():
    df = ordinary()
    assert verify(df, df.head(3)).errors == ("4 rows came back as 3",)
    assert "came back as" in verify(df, df[["real", "whole", "truth", "word"]]).errors[0]
    assert verify(df, df.rename(columns={"real": "r"})).errors
    assert len(verify(df, df.iloc[::-1].reset_index(drop=True)).errors) == 3
    assert verify(df, df.set_axis([3, 2, 1, 0])).errors == ("the index is not the default one",)


def test_rounding_is_a_loss_only_within_the_declared_digits():
    saved = pd.DataFrame({"c": [12.3456789012345678, 1.23456789012345e-20, 9.99999999999951]})
    rounded = saved.map(lambda value: float(f"{value:.12g}"))
    assert verify(saved, rounded).errors
    assert verify(saved, rounded, kept_digits=15).errors
    assert verify(saved, rounded, kept_digits=12).losses == (
        "column c: floats were rounded to 12 digits",
    )
    assert verify(saved, saved.round(12), kept_digits=12).errors


@pytest.mark.parametrize("digits", [15, 16])
def test_every_float_rounded_to_the_declared_digits_is_a_loss(digits):
    random = np.random.default_rng(1)
    bits = random.integers(0, 2**64, 20_000, dtype=np.uint64).view(np.float64)
    powers = 10.0 ** np.arange(-307, 308)
    saved = np.concatenate([bits[np.isfinite(bits)], powers, np.nextafter(powers, 0), -1 / powers])
    rounded = np.array([float(f"{value:.{digits}g}") for value in saved])
    finite = np.isfinite(rounded)
    verdict = verify(_column(saved[finite]), _column(rounded[finite]), kept_digits=digits)
    assert verdict.losses == (f"column c: floats were rounded to {digits} digits",)
    assert not verdict.errors


@pytest.mark.parametrize(
    ("saved", "read"),
    [
        (1.79e308, 1.0),
        (1.7976931348623157e308, np.inf),
        (1e-16, 0.0),
        (5e-324, 0.0),
        (0.0, 1e-300),
        (3e-16, -3e-16),
        (-0.0, 0.0),
        (5e-324, 1e-323),
        (2.5e-15, 2.6e-15),
        (1e22, 1.00000000000001e22),
        (1.0, 1.00000000000001),
        (9.87654321, 9.87654321000001),
        (123456789.12345679, 123456789.1234),
    ],
)
def test_a_wrong_float_is_no_rounding(saved, read):
    assert verify(_column([saved, 2.5]), _column([read, 2.5]), kept_digits=15).errors


def test_rounding_to_decimals_is_named_and_keeps_the_others():
    saved = _column([0.000123456789012345678, 1.23456789012345678e-5, 2.5e-15])
    assert verify(saved, saved.round(15), kept_digits=15).errors
    assert verify(saved, saved.round(15), kept_digits=15, kept_decimals=15).losses == (
        "column c: floats were rounded to 15 decimals",
    )
    for wrong in (0.0, -2.5e-15, 1e-16):
        read = _column([*saved.c[:2], wrong])
        assert verify(saved, read, kept_digits=15, kept_decimals=15).errors
    small = _column([4e-16, 1.0])
    assert verify(small, _column([5e-16, 1.0]), kept_digits=15, kept_decimals=15).errors


def _column(values):
    return pd.DataFrame({"c": values})

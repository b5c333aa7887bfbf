"""Order-independent digests of tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from data_generator import catalog
from format_bench.verification.digests import array_digest, differences, digest
from tests.factories.wrong_tables import WRONG, every_type


@pytest.fixture(scope="module")
def table():
    return catalog.table("core", 3_000).df


def test_partitions_add_up_in_any_order(table):
    parts = [table[start : start + 700] for start in range(0, 3_000, 700)]
    total = digest(parts.pop())
    for part in parts:
        total += digest(part.reset_index(drop=True))
    assert differences(digest(table), total) == ()
    assert differences(digest(table), digest(table.sample(frac=1, random_state=1))) == ()


@pytest.mark.parametrize("name", ["int_0", "float_0", "string_0"])
def test_one_changed_value_is_noticed(table, name):
    changed = table.copy()
    row = int(changed[name].notna().idxmax())
    changed.loc[row, name] = changed[name].iloc[row] * 2 + (
        changed[name].iloc[row] * 0 + 1 if name != "string_0" else ""
    )
    assert differences(digest(table), digest(changed)) == (f"column {name}: other values came back",)


def test_values_in_other_rows_are_noticed(table):
    for name in ("int_4", "string_4"):
        moved = table.assign(**{name: table[name].sample(frac=1, random_state=1).to_numpy()})
        assert differences(digest(table), digest(moved)) == (
            "the values of some rows came back in other rows",
        )


def test_a_lost_and_a_doubled_row_are_noticed(table):
    assert differences(digest(table), digest(table[1:])) == ("3,000 rows came back as 2,999",)
    doubled = table.assign(
        **{name: table[name].where(table.index != 5, table[name][6]) for name in table}
    )
    assert differences(digest(table), digest(doubled))


def test_the_first_other_column_of_many_is_shown(table):
    names = list(table.columns)
    swapped = digest(table.head(5)[[*names[:-2], names[-1], names[-2]]])
    (sentence,) = differences(digest(table.head(5)), swapped, wanted=names)
    assert sentence.endswith(f"of 20: {names[-2]!r} came back as {names[-1]!r}")


def test_types_are_no_difference_but_nulls_are():
    saved = pd.DataFrame({"a": pd.array([1, 2, None], "Int64"), "b": ["x", None, ""]})
    read = pd.DataFrame({"a": [1.0, 2.0, np.nan], "b": np.array(["x", None, ""], object)})
    assert differences(digest(saved), digest(read)) == ()
    filled = read.assign(b=["x", "", ""])
    assert differences(digest(saved), digest(filled)) == ("column b: other values came back",)


def test_digits_that_a_format_does_not_keep_are_no_difference():
    saved = pd.DataFrame({"a": [1 / 3, 1 / 7], "b": [1, 2]})
    rounded = saved.round(15)
    assert differences(digest(saved), digest(rounded)) != ()
    assert differences(digest(saved), digest(rounded), kept_digits=15) == ()
    assert differences(digest(saved), digest(saved.round(9)), kept_digits=15) != ()


def test_columns_read_alone_are_compared_with_theirs(table):
    names = ["string_4", "int_4"]
    assert differences(digest(table), digest(table[names])) == ()
    assert differences(digest(table), digest(table[names].rename(columns={"int_4": "x"}))) != ()


def test_other_kinds_of_values_have_no_digest():
    with pytest.raises(ValueError, match="has no digest"):
        digest(pd.DataFrame({"a": pd.to_datetime(["2026-01-01"])}))


@pytest.mark.parametrize(
    "dtype", ["bool", "int16", "uint8", "float16", "float32", "float64", "complex128"]
)
def test_regions_of_an_array_add_up_in_any_order(dtype):
    values = (np.arange(500 * 7 * 60) % 113).reshape(500, 7, 60).astype(dtype)
    whole = array_digest(values)
    assert whole.count == values.size
    assert array_digest(values[300:], 300) + array_digest(values[:300]) == whole
    assert array_digest(np.asfortranarray(values)) == whole
    changed = values.copy()
    changed[499, 6, 59] += 1
    changed[499, 6, 59] = changed[499, 6, 59] or 1
    assert (array_digest(changed) == whole) == bool((changed == values).all())
    assert array_digest(values[::-1]) != whole


def test_types_of_arrays_are_a_difference_and_payloads_of_nan_are_not():
    values = np.array([[1.0, np.nan], [0.0, 2.0]])
    assert array_digest(values.astype("float32")) != array_digest(values)
    assert array_digest(values.astype(">f8").astype("f8")) == array_digest(values)
    other = values.copy()
    other.view("u8")[0, 1] += 5
    assert np.isnan(other[0, 1])
    assert array_digest(other) == array_digest(values)
    assert array_digest(-0.0 * np.ones((1, 1))) != array_digest(np.zeros((1, 1)))


KINDS = ["whole", "small", "unsigned", "real", "rounded", "single", "truth", "word", "maybe whole"]
OF_ANY_ORDER = {"rows reversed", "two rows swapped", "an index", "a named index", "an index of floats"}


def _mutations():
    """Return the mutations of columns whose values have digests, but those of order and types."""
    saved = every_type(np.random.default_rng(0))[KINDS]
    for name, mutate in WRONG.items():
        try:
            mutate(saved, np.random.default_rng(0))
        except KeyError:
            continue
        if name not in OF_ANY_ORDER and name != "integers as times":
            yield name


@pytest.mark.parametrize("mutation", list(_mutations()))
@pytest.mark.parametrize("kept", [(), (15, 15)])
def test_a_wrong_table_has_another_digest(mutation, kept):
    if kept and "ulp" in mutation:
        return
    for seed in range(3):
        random = np.random.default_rng(seed)
        saved = every_type(random)[KINDS]
        read = WRONG[mutation](saved, random)
        assert differences(digest(saved), digest(read), *kept, wanted=KINDS), seed


def test_rounded_floats_have_the_digest_of_the_table_and_moved_ones_have_not():
    random = np.random.default_rng(1)
    saved = pd.DataFrame({"a": random.normal(0, 1e3, 5_000), "b": random.integers(0, 9, 5_000)})
    saved["c"] = random.uniform(0, 1, 5_000)
    saved.loc[:9, "a"] = [np.inf, -np.inf, np.nan, 0.0, 1e300, -1e300, 1e-300, 5.0, -5.0, 1.5]
    rounded = saved.map(lambda value: float(f"{value:.15g}")).astype({"b": "int64"})
    wholes = digest(rounded[:2_000]) + digest(rounded[2_000:].reset_index(drop=True))
    assert differences(digest(saved), wholes, 15) == ()
    decimals = saved.assign(c=saved.c.round(15))
    assert differences(digest(saved), digest(decimals), 15, 15) == ()
    moved = rounded.assign(c=rounded.c.iloc[[1, 0, *range(2, 5_000)]].to_numpy())
    assert differences(digest(saved), digest(moved), 15) == (
        "the values of some rows came back in other rows",
    )
    for row, value in ((20, -rounded.a[20]), (1, np.inf), (3, -0.0), (3, 1e-9), (2, 0.0), (7, np.inf)):
        wrong = rounded.copy()
        wrong.loc[row, "a"] = value
        assert differences(digest(saved), digest(wrong), 15), (row, value)


def test_partitions_of_other_columns_are_noticed():
    df = pd.DataFrame({"a": [1, 2], "b": [0.5, 1.5]})
    more = digest(df) + digest(df.assign(c=1))
    assert differences(digest(df) + digest(df), more) == ("column 'c' was not saved",)
    assert differences(digest(df) + digest(df), digest(df) + digest(df[["a"]]))


@pytest.mark.parametrize(
    "mutate",
    [
        lambda values: values.reshape(6, 4),
        lambda values: values.reshape(-1),
        lambda values: values.T,
        lambda values: values.astype("int64"),
        lambda values: values.astype("float32"),
        lambda values: values.view("int64"),
        lambda values: values.view("M8[s]").view("u8"),
        lambda values: values.byteswap(),
        lambda values: np.nextafter(values, 9),
        lambda values: values[:, ::-1],
        lambda values: values[::-1],
        lambda values: -values,
        lambda values: np.where(values == 5, np.inf, values),
        lambda values: np.where(values == 5, np.nan, values),
        lambda values: values[:-1],
    ],
)
@pytest.mark.parametrize("zeros", [False, True])
def test_a_wrong_array_has_another_digest(mutate, zeros):
    values = np.zeros((4, 6)) if zeros else np.arange(24.0).reshape(4, 6)
    read = np.ascontiguousarray(mutate(values))
    same = (
        read.dtype == values.dtype and read.shape == values.shape and read.tobytes() == values.tobytes()
    )
    assert (array_digest(read) == array_digest(values)) == same

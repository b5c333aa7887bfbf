"""Order-independent digests of tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from data_generator import catalog
from format_bench.verification.digests import array_digest, differences, digest


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

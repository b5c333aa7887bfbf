"""Amounts of work of queries to tables: blocks that statistics and filters admit, bytes, orders."""

import numpy as np
import pandas as pd
import pytest

from adapter_core import Comparison, TableLayout
from adapter_core.query import Aggregate, Contains, OneOf, Query
from format_bench.planning.layout_cost import SHARED_TERMS, Touched, facts_of

ROWS = 40_000


@pytest.fixture(scope="module")
def facts():
    random = np.random.default_rng(2)
    df = pd.DataFrame(
        {
            "place": np.arange(ROWS),
            "key": random.permutation(ROWS),
            "text": random.choice(["one", "two", "three"], ROWS),
            "none": [None] * ROWS,
            "list": [[1]] * ROWS,
        }
    )
    asked = {
        "range": Query(
            columns=("key",), where=(Comparison("place", ">=", 9_000), Comparison("place", "<", 9_500))
        ),
        "key": Query(columns=("text",), where=(Comparison("key", "==", 20_001),)),
        "keys": Query(columns=("text",), where=(OneOf("key", [7, ROWS - 1]),)),
        "none": Query(columns=("text",), where=(Comparison("none", "==", "x"),)),
        "contains": Query(columns=("key",), where=(Contains("text", "wo"),)),
        "sum": Query(aggregates=(Aggregate("sum", "place"),)),
    }
    return facts_of(df, asked, [("key",), ("list",)], ["none", "zstd:1"], ["key"])


def touched(facts, order, name, rows, *, filters=False):
    return facts.touched[order, name, rows, filters]


def test_statistics_admit_the_blocks_whose_bounds_contain_a_selected_value(facts):
    assert touched(facts, (), "range", 8_192) == Touched(1, 8_192)
    assert touched(facts, ("key",), "range", 8_192) == Touched(5, ROWS)
    assert touched(facts, (), "key", 8_192) == Touched(5, ROWS)
    assert touched(facts, ("key",), "key", 8_192) == Touched(1, 8_192)
    assert touched(facts, ("key",), "keys", 8_192).blocks == 2
    assert touched(facts, (), "range", ROWS) == Touched(1, ROWS)


def test_bloom_filters_admit_the_blocks_that_have_the_value(facts):
    assert touched(facts, (), "key", 8_192, filters=True).blocks == 1
    assert 1 <= touched(facts, (), "keys", 8_192, filters=True).blocks <= 2
    assert touched(facts, (), "range", 8_192, filters=True).blocks == 1


def test_nulls_fulfil_nothing_and_parts_of_texts_are_not_in_statistics(facts):
    assert touched(facts, (), "none", 8_192).blocks == 0
    assert touched(facts, (), "contains", 8_192) == Touched(5, ROWS)


def test_a_dot_in_the_name_of_a_column_is_no_field():
    df = pd.DataFrame({"sepal.length": [1.0, 2.0], "sepal.width": [3.0, 4.0], "kind.of": ["a", "b"]})
    asked = {"q": Query(columns=("sepal.width",), where=(Comparison("sepal.length", ">", 1),))}
    assert facts_of(df, asked, [], ["none"], []).read == {"q": ["sepal.width", "sepal.length"]}


def test_rows_are_not_sorted_by_columns_without_an_order(facts):
    assert facts.orders == [(), ("key",)]
    assert list(facts.unsortable) == ["list"]


def test_amounts_are_of_the_columns_row_groups_and_codec_of_a_layout(facts):
    def amounts(name, codec="none", **layout):
        found = facts.amounts(name, TableLayout(**layout), codec, ["zstd:1"], 2)
        terms = [*SHARED_TERMS, "zstd:1"]
        return dict(zip(terms, found, strict=True))

    whole = amounts("sum", group_rows=8_192)
    assert whole["per column chunk of the file"] == 5 * 5
    assert whole["per column chunk read"] == 5
    assert whole["zstd:1"] == 0
    one = amounts("key", "zstd:1", sort_by=("key",), group_rows=8_192)
    assert one["per column chunk read"] == 2
    assert one["per row and condition"] == 8_192
    assert 0 < one["per byte read"] < whole["per byte read"]
    assert one["zstd:1"] > one["per byte read"]
    fewer = amounts("key", group_rows=8_192, statistics=("key",))
    assert fewer["per column chunk with statistics"] == 5
    assert fewer["per column chunk of the file"] == 5 * 5
    assert amounts("key", "zstd:1")["per row and condition"] == ROWS


def test_other_encodings_are_offered_where_they_are_smaller(facts):
    usual, smallest, *_ = facts.encodings((), "none")
    assert usual == ()
    assert dict(smallest)["place"] == "DELTA_BINARY_PACKED"
    small = TableLayout(encodings=smallest)
    assert facts.size_bytes(small, "none") < facts.size_bytes(TableLayout(), "none")


def test_folders_are_read_like_rows_in_order_whose_groups_end_with_the_folder():
    df = pd.DataFrame({"year": np.arange(ROWS) % 4, "value": np.arange(ROWS) * 1.0})
    query = Query(columns=("value",), where=(Comparison("year", "==", 2),))
    facts = facts_of(df, {"year": query}, [("year",)], ["none"], [])
    layout = TableLayout(partition_by=("year",))
    assert facts.group_rows(layout) == 8_192  # of the 10,000 rows of a year
    assert facts.group_rows(TableLayout()) == ROWS
    amounts = dict(zip(SHARED_TERMS, facts.amounts("year", layout, "none", [], 2), strict=True))
    assert amounts["per row and condition"] == 2 * 8_192

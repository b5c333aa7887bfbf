"""NumPy's answers beside DuckDB's, on small random tables with nulls."""

from __future__ import annotations

import duckdb
import pandas as pd
import pyarrow as pa
import pytest

pytest.importorskip("hypothesis")

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from adapter_core import Comparison, UnsupportedError
from adapter_core.query import (
    COUNT,
    GREATEST,
    LEAST,
    MEAN,
    SUM,
    Aggregate,
    Contains,
    Join,
    OneOf,
    Order,
    Query,
)
from adapter_core.query_sql import sql
from format_bench.families.tables import reference
from format_bench.verification.answers import difference

VALUES = {
    "whole": [-(2**62), -1, 0, 1, 2**53 + 1, 2**62],
    "real": [float("-inf"), -1.5, -0.0, 0.0, 2.5, float("inf")],
    "text": ["", "a", "A", "\u00e9", "e\u0301", "a b"],
    "flag": [True, False],
}
DTYPES = {"whole": "Int64", "real": "float64", "text": "str", "flag": "boolean"}
COLUMNS = [*VALUES]
OPERATORS = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])


@st.composite
def tables(draw):
    """Return a table, and a second one with keys that are all different but for nulls."""
    rows = draw(st.integers(0, 7))
    data = pd.DataFrame(
        {
            name: pd.Series(
                draw(st.lists(st.none() | st.sampled_from(values), min_size=rows, max_size=rows)),
                dtype=DTYPES[name],
            )
            for name, values in VALUES.items()
        }
    )
    keys = draw(st.lists(st.sampled_from(VALUES["whole"]), unique=True))
    keys = pd.Series([None, *keys, None], dtype="Int64")
    return {"data": data, "other": pd.DataFrame({"key": keys, "number": range(len(keys))})}


@st.composite
def conditions(draw):
    name = draw(st.sampled_from(COLUMNS))
    value = draw(st.sampled_from(VALUES[name]))
    if name == "flag":
        return Comparison(name, draw(st.sampled_from(["==", "!="])), value)
    kinds = ["comparison", "one of", *(["contains"] if name == "text" else [])]
    kind = draw(st.sampled_from(kinds))
    if kind == "contains":
        return Contains("text", draw(st.sampled_from(["a", "A", "b"])))
    if kind == "one of":
        return OneOf(name, draw(st.lists(st.sampled_from(VALUES[name]), min_size=1, max_size=3)))
    return Comparison(name, draw(OPERATORS), value)


AGGREGATES = st.lists(
    st.just(Aggregate(COUNT))
    | st.builds(Aggregate, st.just(COUNT), st.sampled_from(COLUMNS))
    | st.builds(
        Aggregate, st.sampled_from([SUM, LEAST, GREATEST, MEAN]), st.sampled_from(["whole", "real"])
    ),
    min_size=1,
    max_size=4,
    unique_by=lambda each: each.name,
)


@st.composite
def queries(draw):
    where = draw(st.lists(conditions(), max_size=2))
    kind = draw(st.sampled_from(["columns", "aggregates", "groups", "order", "join"]))
    if kind == "columns":
        return Query(columns=COLUMNS, where=where)
    if kind == "aggregates":
        return Query(aggregates=draw(AGGREGATES), where=where)
    if kind == "groups":
        group = draw(st.sampled_from(COLUMNS))
        return Query(groups=[group], aggregates=draw(AGGREGATES), where=where)
    if kind == "join":
        join = Join("other", "whole", "key", ["number"])
        return Query(columns=["text", "whole", "number"], join=join, where=where)
    column = draw(st.sampled_from(["whole", "real"]))
    order = Order(column, descending=draw(st.booleans()))
    return Query(columns=[column], order=order, limit=draw(st.integers(1, 9)), where=where)


@pytest.mark.parametrize(("function", "expected"), [(LEAST, "a\0"), (GREATEST, "\0")])
def test_ends_of_texts_keep_nul_at_their_end(function, expected):
    texts = ["a\0", "a\0b"] if function == LEAST else ["\0", ""]
    query = Query(aggregates=[Aggregate(function, "text")])
    found = reference.answer(query, {"data": pd.DataFrame({"text": pd.Series(texts, dtype="str")})})
    assert found.table.column(0).to_pylist() == [expected]


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(given_tables=tables(), query=queries())
def test_answers_equal_those_of_duckdb(given_tables, query):
    try:
        wanted = reference.answer(query, given_tables)
    except UnsupportedError:
        assume(False)
    with duckdb.connect() as database:
        for name, df in given_tables.items():
            database.register(name, pa.Table.from_pandas(df, preserve_index=False))
        found = database.sql(sql(query)).to_arrow_table()
    assert difference(found, wanted) == "", sql(query)

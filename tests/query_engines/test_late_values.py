"""Query engines on text whose later rows have other types than the first ones, or the first quote.

Libraries infer types from a sample: 100 rows (Polars), 1,000 (DataFusion), 20,480 (DuckDB), 25,000
(chDB), 256 kB (Dask), one block of 1 MiB (pyarrow), or the first part of a file (Daft). What comes
later is lost, rounded, or an error.
"""

from __future__ import annotations

import pandas as pd
import pytest

import query_engines
from adapter_core import Comparison
from adapter_core.query import COUNT, SUM, Aggregate, Query
from format_bench.families.tables import reference
from format_bench.verification.answers import difference
from tests.helpers import chosen

FIRST = 30_000
"""Rows of the first kind: more than any sample, and in all columns more than one block of 1 MiB."""

PAIRS = [each for each in chosen(query_engines, __name__) if each.startswith(("CSV[", "JSON["))]


def late(first, last, dtype):
    return pd.Series([*[first] * FIRST, last, last, last], dtype=dtype)


TABLE = pd.DataFrame(
    {
        "id": range(FIRST + 3),
        "whole": late(7.0, 7.5, "float64"),
        "real": late(None, 2.5, "float64"),
        "number": late(None, 5, "Int64"),
        "flag": late(None, True, "boolean"),
        "null_flag": late(True, None, "boolean"),
        "text": late(None, "x", "str"),
        "quoted": late("a", 'line\nbreak, "q"', "str"),
        "empty": late("", "x", "str"),
    }
)

LAST = [Comparison("id", ">=", FIRST - 1)]


def queries():
    for name in TABLE.columns.drop("id"):
        yield Query(columns=["id", name], where=LAST)
        yield Query(aggregates=[Aggregate(COUNT, name)])
    for name in ("whole", "real", "number"):
        yield Query(aggregates=[Aggregate(SUM, name)])
    yield Query(columns=["id"], where=[Comparison("text", "==", "x")])
    yield Query(columns=["id"], where=[Comparison("whole", ">", 7.0)])
    yield Query(columns=["id"], where=[Comparison("quoted", "==", TABLE["quoted"].iloc[-1])])


@pytest.mark.parametrize("label", PAIRS)
def test_types_are_those_of_all_rows(label, tmp_path):
    pair = query_engines.find(label)
    if not (found := pair.availability()):
        pytest.skip(found.reason)
    tables = {"data": TABLE}
    pair.save(tables, tmp_path / "file.tables")
    handle = pair.engine.open(pair.format.label, pair.paths(tmp_path / "file.tables", tables))
    differs = {}
    for query in queries():
        try:
            answer = pair.engine.answer(handle, query)
        except Exception as error:
            differs[str(query)] = f"{type(error).__name__}: {error}"
            continue
        differs[str(query)] = difference(answer, reference.answer(query, tables))
    pair.engine.close(handle)
    assert {query: each for query, each in differs.items() if each} == {}

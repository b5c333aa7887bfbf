"""Random questions to random tables: each answer is NumPy's, or an error."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest

pytest.importorskip("hypothesis")

from hypothesis import strategies as st

import query_engines
from adapter_core import CannotHoldError, Trait, UnsupportedError
from adapter_core.errors import InvalidQuestionsError
from adapter_core.kinds import Kind
from adapter_core.query import COUNT, GREATEST, LEAST, MEAN, SUM
from format_bench.conformance.strategies import tables, try_values
from format_bench.families.questions import Question
from format_bench.families.tables import reference
from format_bench.families.tables.compiler import query_of
from format_bench.families.tables.subject import Subject
from format_bench.verification.answers import difference
from tests.helpers import chosen, pair_of

IN_TEXT = frozenset({Kind.BOOLEAN, Kind.INTEGER, Kind.FLOAT})
IN_TEXT |= {Kind.NULLABLE_BOOLEAN, Kind.NULLABLE_INTEGER, Kind.NULLABLE_FLOAT}
KINDS = IN_TEXT | {Kind.UNSIGNED, Kind.NULLABLE_UNSIGNED, Kind.DECIMAL, Kind.TEXT, Kind.CATEGORY}
KINDS |= {Kind.DATE, Kind.DATETIME, Kind.ZONED_DATETIME}
MISREAD = {"Avro[polars]": {Kind.DATETIME, Kind.ZONED_DATETIME}}
"""Kinds of column that an engine takes for another one, as nanoseconds for integers."""

NAMES = st.sampled_from(["a", "b", "c", "d", "e f", "Z", "group"])
OPERATORS = st.sampled_from(["==", "!=", "<", "<=", ">", ">="])
PLACES = st.sampled_from([0.0, 0.2, 0.5, 0.8, 0.99])


@st.composite
def conditions(draw, names, rows):
    kind = draw(st.sampled_from(["at", "keys", "share", "one_of_at"]))
    if kind == "at":
        given = {"operator": draw(OPERATORS), "at": draw(PLACES)}
    else:
        values = {
            "keys": st.integers(1, rows),
            "share": st.sampled_from([0.1, 0.5, 0.9]),
            "one_of_at": st.lists(PLACES, min_size=1, max_size=3),
        }
        given = {kind: draw(values[kind])}
    return {"column": draw(names), **given}


@st.composite
def questions(draw, names, rows):
    """Draw the fields of a question to columns of these names."""
    columns = st.sampled_from(names)
    where = draw(st.lists(conditions(columns, rows), max_size=2))
    fields = {"where": where} if where else {}
    match draw(st.sampled_from(["rows", "aggregates", "groups", "order", "positions"])):
        case "rows":
            fields["columns"] = draw(st.lists(columns, min_size=1, unique=True))
        case "order":
            column = draw(columns)
            fields |= {"columns": [column], "order": column, "limit": draw(st.integers(1, rows))}
            fields["descending"] = draw(st.booleans())
        case "positions":
            rows_of = st.lists(st.integers(0, rows - 1), min_size=1, max_size=3, unique=True)
            return {"columns": [draw(columns)], "positions": draw(rows_of)}
        case kind:
            functions = st.sampled_from([COUNT, SUM, LEAST, GREATEST, MEAN])
            found = draw(st.lists(st.tuples(functions, columns), max_size=3))
            fields["aggregates"] = [COUNT, *(f"{function}({column})" for function, column in found)]
            if kind == "groups":
                fields["group"] = draw(columns)
    return fields


@st.composite
def asked_tables(draw, kinds):
    """Draw a table and questions to it."""
    df = draw(tables(kinds, NAMES).filter(len))
    names = list(df.columns)[:4]
    return df, draw(st.lists(questions(names, len(df)), min_size=4, max_size=4))


def _asked(fields, given):
    """Return the query and its right answer."""
    query = query_of(Question("mine", "mine", fields, file="mine.toml"), Subject("mine", given))
    return query, reference.answer(query, given)


def _answer(pair, folder, query):
    handle = pair.engine.open(pair.format.label, pair.paths(folder))
    try:
        return pair.engine.answer(handle, query)
    finally:
        pair.engine.close(handle)


@pytest.mark.nightly
@pytest.mark.parametrize("label", chosen(query_engines, __name__))
def test_answers_to_random_questions_are_those_of_numpy(label, tmp_path, request):
    pair, folder = pair_of(label), tmp_path / "tables"
    # Of text, readers guess types, and some take infinities and large integers for others.
    is_text = Trait.TEXT in pair.format.traits
    kinds = (IN_TEXT if is_text else KINDS) - pair.format.refuses.keys() - MISREAD.get(label, set())

    def check(drawn):
        df, asked = drawn
        if is_text and np.isinf(df.to_numpy(float, na_value=np.nan)).any():
            return
        given = {"data": df}
        with suppress(CannotHoldError):
            pair.save(given, folder)
        for fields in asked if folder.exists() else ():
            with suppress(UnsupportedError, InvalidQuestionsError):
                query, wanted = _asked(fields, given)
                pair.check_query(query)
                try:
                    found = _answer(pair, folder, query)
                except Exception:
                    continue  # a failed cell, which is no wrong answer
                assert difference(found, wanted) == "", fields
        pair.remove(folder)

    try_values(10, asked_tables(kinds), check, request)

"""Rows with a value of a column."""

from adapter_core import Comparison
from adapter_core.query import OneOf, Query
from format_bench.families.queries.question import Question
from format_bench.families.queries.subject import Subject

PLACE = 4
KEYS = 100


def _point(table: Subject) -> Query:
    value = table.value("random")
    return Query(columns=table.names, where=[Comparison(table.part("random"), "==", value)])


def _text(table: Subject) -> Query:
    value = table.value("lookup")
    return Query(columns=table.part("shown"), where=[Comparison(table.part("lookup"), "==", value)])


def _keys(table: Subject) -> Query:
    values = table.values_at("sorted", table.positions(KEYS))
    return Query(columns=table.part("shown"), where=[OneOf(table.part("sorted"), values)])


QUESTIONS = (
    Question("point", "all columns of the rows with a number of a random column", _point, "lookup"),
    Question("point-text", "3 columns of the rows with a text", _text, "lookup"),
    Question("keys-100", "3 columns of 100 rows by their keys, a sorted column", _keys, "lookup"),
)

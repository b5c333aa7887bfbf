"""Rows whose text contains a word."""

from adapter_core.query import COUNT, Aggregate, Contains, Query
from format_bench.families.queries.question import Question
from format_bench.families.queries.subject import Subject

PLACE = 9


def _contains(table: Subject) -> Query:
    word = Contains(table.part("text"), table.part("needle"))
    return Query(aggregates=[Aggregate(COUNT)], where=[word])


QUESTIONS = (Question("contains", "the number of rows whose text contains a word", _contains),)

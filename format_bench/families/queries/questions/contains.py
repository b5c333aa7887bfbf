"""Rows whose text contains a word, and their number."""

from adapter_core.query import COUNT, Aggregate, Contains, Query
from format_bench.families.queries.question import Question
from format_bench.families.queries.subject import Subject

PLACE = 9


def _word(table: Subject) -> Contains:
    return Contains(table.part("text"), table.part("needle"))


QUESTIONS = (
    Question(
        "contains",
        "the number of rows whose text contains a word",
        lambda table: Query(aggregates=[Aggregate(COUNT)], where=[_word(table)]),
        "texts",
    ),
    Question(
        "contains-rows",
        "3 columns of the rows whose text contains a word",
        lambda table: Query(columns=table.part("shown"), where=[_word(table)]),
        "texts",
    ),
)

"""Join with the second table of a data set."""

from adapter_core.query import COUNT, SUM, Aggregate, Join, Query
from format_bench.families.queries.question import Question
from format_bench.families.queries.subject import Subject

PLACE = 10


def _join(table: Subject) -> Query:
    part = table.part("join")
    return Query(
        groups=[part["group"]],
        aggregates=[Aggregate(COUNT), Aggregate(SUM, table.part("value"))],
        join=Join(part["table"], part["column"], part["key"], [part["group"]]),
    )


QUESTIONS = (
    Question("join", "groups by a column of a second file, joined by a key, and a sum of each", _join),
)

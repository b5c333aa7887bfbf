"""Aggregates of two columns, over all rows and over a range."""

from adapter_core.query import COUNT, GREATEST, LEAST, MEAN, SUM, Aggregate, Query
from format_bench.families.queries.question import Question
from format_bench.families.queries.subject import Subject

PLACE = 6


def _aggregates(table: Subject) -> list[Aggregate]:
    value, other = table.part("value"), table.part("other_value")
    return [
        Aggregate(COUNT),
        Aggregate(SUM, value),
        Aggregate(LEAST, value),
        Aggregate(GREATEST, value),
        Aggregate(MEAN, other),
    ]


QUESTIONS = (
    Question(
        "aggregate",
        "five aggregates of two columns",
        lambda table: Query(aggregates=_aggregates(table)),
        "aggregates",
    ),
    Question(
        "aggregate-range",
        "five aggregates of two columns over a range of a random column, 1e-2",
        lambda table: Query(aggregates=_aggregates(table), where=table.between("random", 1e-2)),
        "aggregates",
    ),
)

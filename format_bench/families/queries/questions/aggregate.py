"""Aggregates of two columns, over all rows, over a range and over some values of a column."""

from adapter_core.query import COUNT, GREATEST, LEAST, MEAN, SUM, Aggregate, OneOf, Query
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


def _two_values(table: Subject) -> OneOf:
    column, values = table.part("few"), (table.value("few", 0.3), table.value("few", 0.6))
    return OneOf(column, list(dict.fromkeys(values)))


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
    Question(
        "aggregate-values",
        "five aggregates of two columns over the rows with two of few values of another",
        lambda table: Query(aggregates=_aggregates(table), where=[_two_values(table)]),
        "aggregates",
    ),
)

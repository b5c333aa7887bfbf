"""Random rows by their numbers."""

from functools import partial

from adapter_core.query import Query
from format_bench.families.queries.question import Question
from format_bench.families.queries.subject import Subject

PLACE = 5


def _take(count: int, table: Subject) -> Query:
    return Query(columns=table.names, positions=table.positions(count))


QUESTIONS = tuple(
    Question(
        f"take-{count}",
        f"all columns of rows by their numbers, {count:,} at random",
        partial(_take, count),
        "rows by their numbers",
    )
    for count in (1, 100, 10_000)
)

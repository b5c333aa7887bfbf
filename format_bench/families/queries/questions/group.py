"""Groups by a column of few and of many values."""

from functools import partial

from adapter_core.query import COUNT, SUM, Aggregate, Query
from format_bench.families.queries.question import Question
from format_bench.families.queries.subject import Subject

PLACE = 7


def _group(part: str, table: Subject) -> Query:
    aggregates = [Aggregate(COUNT), Aggregate(SUM, table.part("value"))]
    return Query(groups=[table.part(part)], aggregates=aggregates)


QUESTIONS = tuple(
    Question(
        f"group-{part}",
        f"the number of rows and a sum for each value, {part} values",
        partial(_group, part),
        "groups",
    )
    for part in ("few", "many")
)

"""Groups by a column of few and of many values, of all rows and of a range."""

from functools import partial

from adapter_core.query import COUNT, SUM, Aggregate, Query
from format_bench.families.queries.question import Question
from format_bench.families.queries.subject import Subject

PLACE = 7


def _group(part: str, share: float, table: Subject) -> Query:
    aggregates = [Aggregate(COUNT), Aggregate(SUM, table.part("value"))]
    where = table.between("clustered", share) if share < 1 else []
    return Query(groups=[table.part(part)], aggregates=aggregates, where=where)


QUESTIONS = (
    *(
        Question(
            f"group-{part}",
            f"the number of rows and a sum for each value, {part} values",
            partial(_group, part, 1.0),
            "groups",
        )
        for part in ("few", "many")
    ),
    Question(
        "group-range",
        "the number of rows and a sum for each of few values, over a range of a clustered column, 1e-1",
        partial(_group, "few", 0.1),
        "groups",
    ),
)

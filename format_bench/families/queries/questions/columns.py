"""Some columns of all rows."""

from functools import partial

from adapter_core.query import Query
from format_bench.families.queries.question import Question
from format_bench.families.queries.subject import Subject

PLACE = 2


def _columns(part: str, table: Subject) -> Query:
    return Query(columns=table.part(part))


QUESTIONS = tuple(
    Question(
        f"columns-{count}",
        f"all rows of {count} columns",
        partial(_columns, part),
        "all rows",
    )
    for count, part in ((2, "pair"), (10, "ten"))
)

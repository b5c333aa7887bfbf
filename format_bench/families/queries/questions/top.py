"""First rows of an order."""

from adapter_core.query import Order, Query
from format_bench.families.queries.question import Question
from format_bench.families.queries.subject import Subject

PLACE = 8
ROWS = 10


def _top(table: Subject) -> Query:
    column = table.part("top")
    table.check_top(column, ROWS)
    columns = list(dict.fromkeys([*table.part("shown"), column]))
    return Query(columns=columns, order=Order(column, descending=True), limit=ROWS)


def _largest(table: Subject) -> Query:
    # The column alone: rows of equal values are then alike, so that any of them is right.
    column = table.part("value")
    return Query(columns=[column], order=Order(column, descending=True), limit=ROWS)


QUESTIONS = (
    Question("top-10", "3 columns of the 10 rows with the largest values of a column", _top, "order"),
    Question("largest-10", "the 10 largest values of a column", _largest, "order"),
)

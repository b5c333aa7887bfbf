"""Rows of a range of a column, by its order in the file and the share of rows, and of two columns."""

from functools import partial

from adapter_core import Comparison
from adapter_core.query import Query
from format_bench.families.queries.question import Question
from format_bench.families.queries.subject import Subject

PLACE = 3
SHARES = {"1e-5": 1e-5, "1e-3": 1e-3, "1e-1": 1e-1, "1": 1.0}


def _select(order: str, share: float, table: Subject) -> Query:
    return Query(columns=table.part("shown"), where=table.between(order, share))


def _select_by_two(table: Subject) -> Query:
    few = Comparison(table.part("few"), "==", table.value("few"))
    return Query(columns=table.part("shown"), where=[*table.between("random", 1e-1), few])


QUESTIONS = (
    *(
        Question(
            f"select-{order}-{name}",
            f"3 columns of the rows of a range of a {order} column, {name}",
            partial(_select, order, share),
            f"a range of a {order} column",
        )
        for order in ("sorted", "clustered", "random")
        for name, share in SHARES.items()
    ),
    Question(
        "select-two",
        "3 columns of the rows of a range of a random column, 1e-1, with one of few values of another",
        _select_by_two,
        "conditions on two columns",
    ),
)

"""Some columns of a table with very many."""

from adapter_core.query import Query
from format_bench.families.queries.question import Question

PLACE = 12
QUESTIONS = (
    Question(
        "wide-10", "all rows of 10 of 10,000 columns", lambda table: Query(columns=table.part("wide"))
    ),
)

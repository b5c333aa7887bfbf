"""Number of rows, and the shape of a table."""

from adapter_core.query import COUNT, Aggregate, Query
from format_bench.families.queries.question import Question

PLACE = 1
QUESTIONS = (
    Question("count", "the number of rows", lambda _: Query(aggregates=[Aggregate(COUNT)])),
    Question("open", "the numbers of rows and of columns", lambda _: Query(shape=True)),
)

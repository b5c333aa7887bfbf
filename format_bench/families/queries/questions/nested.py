"""A field of records."""

from adapter_core.query import Query
from format_bench.families.queries.question import Question

PLACE = 11
QUESTIONS = (
    Question("field", "one field of all records", lambda table: Query(columns=table.part("field"))),
)

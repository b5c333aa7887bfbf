"""Questions to tables that adapters answer without an engine: sums of columns over selected rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapter_core import UnsupportedError
from adapter_core.errors import InvalidQuestionsError, WrongValuesError
from adapter_core.predicate import Comparison, Predicate
from adapter_core.query import COUNT, SUM, TABLE, Query
from format_bench.families.operations import OpenQuery
from format_bench.families.tables import reference
from format_bench.families.tables.subject import Subject, query_of
from format_bench.results.display.text import plural
from format_bench.results.status import WRONG
from format_bench.verification.answers import difference

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import pandas as pd

    from adapter_core import DataFormat
    from adapter_core.column_batches import ColumnSums
    from format_bench.families.questions import Question


def query_to(question: Question, names: Sequence[str]) -> Query:
    """Return the query of a question to a table of numbers with columns of these names.

    Raises
    ------
    UnsupportedError
        If the table lacks a column, or the question asks for more than sums of selected rows.
    """
    import pandas as pd

    empty = pd.DataFrame({name: pd.Series(dtype="float64") for name in names})
    try:
        found = query_of(question, Subject("the table", {TABLE: empty}, are_typed=False))
    except InvalidQuestionsError as error:
        raise UnsupportedError(str(error)) from error
    functions = [each.function for each in found.aggregates]
    compared = all(isinstance(each, Comparison) for each in found.where)
    if functions != [COUNT, *[SUM] * (len(functions) - 1)] or found.groups or found.join or not compared:
        raise UnsupportedError("an adapter without an engine counts rows and adds up columns alone")
    return found


class TableQuery(OpenQuery):
    """A query to a saved table.

    Parameters
    ----------
    adapter : DataFormat
        The format of the file.
    file : Path
        The file, or directory; each answer opens it anew.
    query : Query
        A count and sums, of `query_to`.
    """

    def __init__(self, adapter: DataFormat, file: Path, query: Query) -> None:
        self._adapter, self._file, self._query = adapter, file, query
        self._columns = [each.column for each in query.aggregates if each.column]
        compared = [each for each in query.where if isinstance(each, Comparison)]
        self._where = Predicate(compared) if compared else None

    def read(self) -> ColumnSums:
        """Return the number of selected rows, and the sums of the columns."""
        return self._adapter.sum_columns(self._file, self._columns, self._where)

    def verify(self, answer: ColumnSums, data: pd.DataFrame) -> str:
        """Compare the sums with NumPy's on the data, the number of rows exactly.

        Raises
        ------
        WrongValuesError
            If they differ.
        """
        import pandas as pd
        import pyarrow as pa

        values = [answer.rows, *(answer.sums[name] for name in self._columns)]
        names = [each.name for each in self._query.aggregates]
        found = pa.table({name: [value] for name, value in zip(names, values, strict=True)})
        # Adapters give sums of floats.
        read = {name: data[name] for name in self._query.compared}
        read |= {name: data[name].astype("float64") for name in self._columns}
        wanted = reference.answer(self._query, {TABLE: pd.DataFrame(read)})
        differs = difference(found, wanted, ordered=True)
        if differs:
            raise WrongValuesError(WRONG + differs)
        return f"{answer.rows:,} rows, {plural(len(self._columns), 'sum')} equal to NumPy's"

    def close(self) -> None:
        """Do nothing: each answer has opened the file and closed it."""

"""Operations on tables, questions that adapters answer without an engine among them."""

from __future__ import annotations

import functools
import math
import os
import pickle
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import data_formats
import data_generator
from adapter_core import DataFormat, UnsupportedError
from adapter_core.error_bounds import ErrorBound, rounded
from adapter_core.errors import InvalidQuestionsError, WrongValuesError
from adapter_core.kinds import NUMBERS, Kind, kinds_of
from adapter_core.predicate import Comparison, Predicate
from adapter_core.query import COUNT, SUM, TABLE, Aggregate, Query
from format_bench.compatibility.files import read_by
from format_bench.compatibility.verdicts import Judgement, Verdict, judge
from format_bench.families.bounded import resolved
from format_bench.families.elsewhere import measure_remote, measure_scale
from format_bench.families.operations import CatalogOperations, Measured, OpenQuery, warm_up_file
from format_bench.families.tables import reference
from format_bench.families.tables.compiler import query_of
from format_bench.families.tables.pickled import dump_table, load_table
from format_bench.families.tables.subject import Subject, tuning_keys
from format_bench.instruments import isolation
from format_bench.instruments.isolation import Outcome
from format_bench.instruments.touch import touch
from format_bench.results.display.text import plural
from format_bench.results.status import WRONG
from format_bench.verification import Diff
from format_bench.verification.answers import difference
from format_bench.verification.arrays import broken_bound
from format_bench.verification.canonical import CanonicalTable
from format_bench.verification.tables import verify

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas as pd

    from adapter_core.column_batches import ColumnSums
    from format_bench.families.questions import Question
    from format_bench.instruments.clock import Effort
    from format_bench.results.suites import Step

READER_LIMIT_SECONDS = 60.0
"""Time after which a reader hangs: a hundred times what usual ones need for the largest table."""

# Verdicts that are no objection to a file: types may differ, if the values do not.
_NO_OBJECTION = {Verdict.SAME, Verdict.RETYPED, Verdict.UNTRIED}


def query_to(question: Question, kinds: Mapping[str, Kind]) -> Query:
    """Return the query of a question to a table, whose columns have some kinds, by name.

    Raises
    ------
    UnsupportedError
        If the table lacks a column, or the question asks for more than sums of selected rows, or of
        columns with more than numbers.
    """
    import pandas as pd

    empty = pd.DataFrame({name: pd.Series(dtype="float64") for name in kinds})
    try:
        found = query_of(question, Subject("the table", {TABLE: empty}, are_typed=False))
    except InvalidQuestionsError as error:
        raise UnsupportedError(str(error)) from error
    counted, summed = found.aggregates[:1], found.aggregates[1:]
    is_plain = counted == (Aggregate(COUNT),) and all(each.function == SUM for each in summed)
    compared = all(isinstance(each, Comparison) for each in found.where)
    if not is_plain or found.groups or found.join or not compared:
        raise UnsupportedError("an adapter without an engine counts rows and adds up columns alone")
    if other := next((name for name in found.read if kinds[name] not in NUMBERS), None):
        reason = f"column {other!r} contains {kinds[other]}, and only numbers without nulls add up"
        raise UnsupportedError(str(question.refused(reason)))
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

        # Of no rows an adapter has sums of 0.0, which are null.
        sums = [answer.sums[name] if answer.rows else None for name in self._columns]
        names = [each.name for each in self._query.aggregates]
        values = zip(names, [answer.rows, *sums], strict=True)
        found = pa.table({name: [value] for name, value in values})
        # Adapters give sums of floats.
        read = {name: data[name] for name in self._query.compared}
        read |= {name: data[name].astype("float64") for name in self._columns}
        wanted = reference.answer(self._query, {TABLE: pd.DataFrame(read)})
        differs = difference(found, wanted)
        if differs:
            raise WrongValuesError(WRONG + differs)
        return f"{answer.rows:,} rows, {plural(len(self._columns), 'sum')} equal to NumPy's"

    def close(self) -> None:
        """Do nothing: each answer has opened the file and closed it."""


class TableOperations(CatalogOperations):
    """One table format, with or without one of its codecs."""

    family = "tables"
    has_error_bounds = True
    adapter: DataFormat
    error_bounds: Mapping[int, ErrorBound] = {}
    """Absolute or relative bounds of columns of floats, by position; empty if no value shall change."""

    @staticmethod
    def datasets() -> list[str]:
        """Return the names of the generated and the real tables."""
        return data_generator.names()

    @staticmethod
    def tuning_keys(dataset: str) -> tuple[list[str], list[str]]:
        """Return the columns that questions select by."""
        return tuning_keys(dataset)

    @staticmethod
    def generate(dataset: str, size: int | None) -> pd.DataFrame:
        """Return a table of `size` rows."""
        if size is None:
            return data_generator.table(dataset).df
        return data_generator.table(dataset, rows=size).df

    @staticmethod
    def store(data: pd.DataFrame, path: Path) -> tuple[int, int]:
        """Store a table as a pickle, after one of its kinds; return the number of rows and columns."""
        with path.open("wb") as file:
            pickle.dump(dict(zip(data.columns, kinds_of(data), strict=True)), file)
            dump_table(data, file)
        return data.shape

    @staticmethod
    def load(path: Path) -> pd.DataFrame:
        """Return the table, shape (rows, columns)."""
        with path.open("rb") as file:
            pickle.load(file)  # noqa: S301 (written by `store`)
            return load_table(file)

    @staticmethod
    def take(data: pd.DataFrame, positions: Sequence[int]) -> pd.DataFrame:
        """Return the rows at some positions, with the default index."""
        return data.iloc[positions].reset_index(drop=True)

    def expect(self, data: Path) -> None:
        """Note the kinds of the stored table's columns, by name."""
        with data.open("rb") as file:
            self.column_kinds: dict[str, Kind] = pickle.load(file)  # noqa: S301 (written by `store`)

    def warm_up(self) -> None:
        """Save and read a tiny table, and import the codec's own libraries."""
        _warm_up(self.adapter)
        if self.codec is not None:
            self.adapter.codec_availability(self.codec)

    def keep_within(self, bound: ErrorBound) -> None:
        """Round NumPy's floats before they are saved; the bound is of each column alone.

        A column that the bound means nothing for, e.g. as its values are equal, remains as it is.
        """
        import numpy as np

        data = self.load(self.data_file)
        found, why = {}, "error bounds are of floats, and no column has NumPy's"
        for place, dtype in enumerate(data.dtypes):
            if not isinstance(dtype, np.dtype) or dtype.kind != "f":
                continue
            values = [data.iloc[:, place].to_numpy()]
            try:
                found[place] = resolved(bound, values, values)
            except UnsupportedError as error:
                why = f"column {data.columns[place]}: {error}"
        if not found:
            raise UnsupportedError(why)
        self.error_bounds = found

    def _rounded(self, data: pd.DataFrame) -> pd.DataFrame:
        """Return a table whose floats are rounded within their bounds; itself without any."""
        if not self.error_bounds:
            return data
        found = data.copy(deep=False)
        for place, bound in self.error_bounds.items():
            found.isetitem(place, rounded(data.iloc[:, place].to_numpy(), bound))
        return found

    def save(self, data: pd.DataFrame, file: Path) -> None:
        """Save the table, tuned for queries if it has keys for that, and rounded where it has bounds."""
        data = self._rounded(data)
        if self.tuned:
            self.unchecked.save_tuned(data, file, *self.tuned)
        else:
            self.unchecked.save(data, file, self.codec, self.level)

    def read(self, file: Path) -> pd.DataFrame:
        """Read the table, and touch a mapped one, so that nothing lazy escapes the clock."""
        df: pd.DataFrame = self.adapter.read(file)
        return touch(df) if self.adapter.maps_files else df

    def compare(self, data: pd.DataFrame, found: pd.DataFrame) -> Diff:
        """Compare the tables column by column, in the order of a tuned file if it is one.

        Floats with a bound equal the rounded ones, as a lossless format keeps them, and are within it.
        """
        import numpy as np

        expected = self._rounded(data)
        if self.tuned:
            order = expected.sort_values(self.tuned[0], kind="stable").index
            data, expected = (each.loc[order].reset_index(drop=True) for each in (data, expected))
        verdict = verify(expected, found, *self.adapter.kept)
        if verdict.errors or not self.error_bounds:
            return verdict
        wrong = []
        for place, bound in self.error_bounds.items():
            before = data.iloc[:, place].to_numpy()
            after = found.iloc[:, place].to_numpy(dtype=before.dtype, na_value=np.nan)
            if why := broken_bound(before, after, bound):
                wrong.append(f"column {data.columns[place]}: {why}")
        kept = f"floats of {plural(len(self.error_bounds), 'column')} rounded within error bounds"
        return Diff((*verdict.losses, kept), tuple(wrong), verdict.lost + len(self.error_bounds))

    def measure(self, step: Step, file: Path, _effort: Effort) -> list[Measured] | None:
        """Measure the steps `remote`, `scale` and `compatibility` in processes of their own."""
        if step.name == "remote":
            return measure_remote(
                "tables", self.adapter.label, file, step.metrics, link=self.link, bucket=self.bucket
            )
        if step.name == "scale":
            where = self.track, file.parent
            return measure_scale(self.adapter.label, self.subject, *where, step.metrics)
        if step.name == "compatibility":
            return [count_unlike_readers(self.adapter, self.load(self.data_file), file)]
        return None

    def check_query(self, query: str) -> None:
        """Raise `UnsupportedError` if the expected table lacks a column of a query, or numbers in it."""
        query_to(self.questions.by_name[query], self.column_kinds)

    def open_query(self, query: str, file: Path) -> OpenQuery:
        """Return a query to a saved table; each answer opens the file."""
        asked = query_to(self.questions.by_name[query], self.column_kinds)
        return TableQuery(self.adapter, file, asked)


OPERATIONS = TableOperations


@functools.cache
def _warm_up(adapter: DataFormat) -> None:
    with warm_up_file(adapter.suffix) as path:
        adapter.save(data_generator.table("eq", rows=8).df, path)
        adapter.read(path)


def count_unlike_readers(adapter: DataFormat, df: pd.DataFrame, file: Path) -> Measured:
    """Return the number of readers that refuse a file, or give other values, with their verdicts.

    Parameters
    ----------
    adapter : DataFormat
        The writer.
    df : pandas.DataFrame
        The table that it saved, shape (rows, columns).
    file : Path
        Its file.
    """
    labels = [each for each in data_formats.names() if data_formats.find(each).suffix == adapter.suffix]
    saved = CanonicalTable.of_frame(df)
    found = {
        label: judge(saved, outcome) for label, outcome in _outcomes_of_readers(labels, file).items()
    }
    unlike = {label: each for label, each in found.items() if each.verdict not in _NO_OBJECTION}
    read = [label for label, each in found.items() if each.verdict is not Verdict.UNTRIED]
    return Measured("unlike readers", [len(unlike)], _remark(unlike) or f"read by {', '.join(read)}")


def _remark(unlike: dict[str, Judgement]) -> str:
    return "; ".join(f"{label}: {each.sentence}" for label, each in unlike.items())[:500]


def _outcomes_of_readers(labels: Sequence[str], file: Path) -> dict[str, Outcome]:
    """Return the outcome of each reader; they share a process until one ends it."""
    # This process may be a fork, which cannot start the server of forks again.
    own = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "TMPDIR": tempfile.gettempdir()}
    found: dict[str, Outcome] = {}
    left = list(labels)
    while left:
        whole = isolation.run(
            *(read_by, left, str(file.resolve()), READER_LIMIT_SECONDS),
            limit_seconds=math.inf,
            environment=own,
            interpreter=sys.executable,
        )
        found |= dict(whole.yielded)
        left = left[len(whole.yielded) :]
        if left and whole.status:
            found[left.pop(0)] = whole
    return found

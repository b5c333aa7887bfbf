"""Operations on tables to ask: saved by a format's adapter, asked by an engine."""

from __future__ import annotations

import functools
import pickle
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import IO, TYPE_CHECKING

import data_generator
import query_engines
from adapter_core import CannotHoldError, TableLayout, Tunable, UnsupportedError
from adapter_core.errors import (
    ColdProcessError,
    InvalidQuestionsError,
    InvalidSelectionError,
    WrongValuesError,
)
from adapter_core.query import TABLE, Query
from format_bench.families.operations import CatalogOperations, ColdRead, OpenQuery, warm_up_file
from format_bench.families.questions import Questions, declared
from format_bench.families.tables import reference
from format_bench.families.tables.compiler import asked
from format_bench.families.tables.operations import TableOperations
from format_bench.families.tables.pickled import dump_table, load_table
from format_bench.families.tables.subject import Subject, layouts, tuning_keys
from format_bench.instruments import isolation, threads
from format_bench.instruments.threads import Threads
from format_bench.instruments.touch import touch, touch_arrow
from format_bench.results.status import WRONG
from format_bench.verification.answers import TOLERANCE, Answer, difference, missed_share
from format_bench.verification.tables import verify
from query_engines import EngineOnFormat

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from format_bench.verification import Diff

FAMILY = "queries"

DEFAULTS, TUNED = "defaults", "tuned"
"""Tracks: files as the library writes unasked, and files by `DataFormat.save_tuned`."""

# Largest number of rows of an answer that is stored with the data; larger ones are computed again. Each
# measuring process loads them, and filters and joins may answer with millions of rows. Chosen, not
# measured.
STORED_ROWS = 100_000


@dataclass(frozen=True)
class Facts:
    """Facts of stored tables that reads depend on."""

    dataset: str
    names: list[str]
    """Names of the tables."""
    asked: dict[str, Query | str]
    """The query of each question, or the reason why it is not asked."""
    answers: dict[str, Answer]
    """Answers that are small."""
    tuned: dict[str, tuple[list[str], list[str]]]
    """Sort key and lookup columns of tuned files, by table."""
    is_sorted: bool
    """Whether the rows have the order of tuned files."""
    questions: Questions | None
    is_own: bool

    @property
    def asks_geometries(self) -> bool:
        """Whether a question selects rows by their geometries."""
        return any(not isinstance(each, str) and each.asks_geometries for each in self.asked.values())

    def query(self, name: str) -> Query:
        """Return the query of a question; raise `UnsupportedError` if it is not asked."""
        found = self.asked[name]
        if isinstance(found, str):
            raise UnsupportedError(found)
        return found


@dataclass(frozen=True)
class QueryTables:
    """The tables of a data set."""

    dataset: str
    path: Path | None = None
    """Where they are stored; None if they are in memory."""
    given: Mapping[str, pd.DataFrame] | None = None
    questions: Questions | None = None
    """Questions to ask; by default the family's."""
    is_own: bool = False
    """Whether they are a user's, whose columns play no declared parts."""

    @cached_property
    def tables(self) -> Mapping[str, pd.DataFrame]:
        """The tables by name, loaded when they are needed."""
        if self.given is not None:
            return self.given
        if self.path is None:
            raise ValueError(f"{self.dataset} has neither tables nor a path")
        with self.path.open("rb") as file:
            facts = _facts(file)
            return {name: load_table(file) for name in facts.names}

    @cached_property
    def facts(self) -> Facts:
        """The queries, and small answers."""
        if self.path is not None:
            with self.path.open("rb") as file:
                return _facts(file)
        questions = self.questions or declared(FAMILY).to(self.dataset)
        layout = {} if self.is_own else layouts().get(self.dataset, {})
        subject = Subject(self.dataset, self.tables, layout, constants=questions.constants)
        found = asked(subject, questions)
        answers = {}
        for name, query in found.items():
            if isinstance(query, str):
                continue
            try:
                answers[name] = reference.answer(query, self.tables)
            except UnsupportedError as error:
                found[name] = str(error)
            except InvalidSelectionError as error:
                raise questions.by_name[name].refused(error) from error
        small = {name: each for name, each in answers.items() if each.num_rows <= STORED_ROWS}
        tuned = self._tuned(questions)
        is_sorted = all(
            self.tables[table][key].is_monotonic_increasing
            for table, (keys, _) in tuned.items()
            for key in keys
        )
        return Facts(
            self.dataset, list(self.tables), found, small, tuned, is_sorted, self.questions, self.is_own
        )

    def _tuned(self, questions: Questions) -> dict[str, tuple[list[str], list[str]]]:
        """Return the keys of tuned files: of the questions, or else of the data set's layout."""
        if not questions.tuned:
            return {TABLE: ([], []) if self.is_own else tuning_keys(self.dataset)}
        for table, keys in questions.tuned.items():
            lacking = {*keys["sort_by"], *keys["lookups"]} - {*self.tables.get(table, ())}
            if lacking:
                reason = f"[tuned.{table}]: {self.dataset} has no column {min(lacking)!r} there"
                raise InvalidQuestionsError(f"{questions.file}: {reason}")
        return {name: (keys["sort_by"], keys["lookups"]) for name, keys in questions.tuned.items()}

    def answer(self, name: str) -> Answer:
        """Return the right answer to a question that is asked."""
        query = self.facts.query(name)
        return self.facts.answers.get(name) or reference.answer(query, self.tables)


def _facts(file: IO[bytes]) -> Facts:
    found: Facts = pickle.load(file)  # noqa: S301 (written by `store`)
    return found


class QueryOperations(CatalogOperations):
    """One query engine on the files of one format."""

    family = FAMILY
    adapter: EngineOnFormat
    facts: Facts
    """Of the tables that are saved."""
    layout: TableLayout | None = None
    """Layout of the first table's file, in place of the track's."""

    @staticmethod
    def datasets() -> list[str]:
        """Return the names of the data sets that have parts for questions, or files of their own."""
        known = data_generator.datasets.names()
        return [name for name in (*layouts(), *declared(FAMILY).datasets) if name in known]

    @staticmethod
    def generate(dataset: str, size: int | None) -> QueryTables:
        """Return the tables of a data set, of `size` rows."""
        definition = data_generator.datasets.find(dataset)
        if definition.family == FAMILY:
            count = definition.default_count if size is None else size
            made = definition.make(count, data_generator.DEFAULT_SEED).tables
            return QueryTables(dataset, given=made)
        tables = {TABLE: TableOperations.generate(dataset, size)}
        join = layouts().get(dataset, {}).get("join")
        if join:
            tables[join["table"]] = data_generator.table(f"{dataset}-{join['table']}").df
        return QueryTables(dataset, given=tables)

    @staticmethod
    def store(data: QueryTables, path: Path) -> tuple[int, int]:
        """Store tables, their queries and small answers; return rows and columns of the first table."""
        with path.open("wb") as file:
            pickle.dump(data.facts, file)
            for df in data.tables.values():
                dump_table(df, file)
        shape: tuple[int, int] = data.tables[data.facts.names[0]].shape
        return shape

    @staticmethod
    def load(path: Path) -> QueryTables:
        """Return the tables, which are loaded when they are used."""
        with path.open("rb") as file:
            facts = _facts(file)
            return QueryTables(facts.dataset, path, questions=facts.questions, is_own=facts.is_own)

    @staticmethod
    def take(data: QueryTables, positions: Sequence[int]) -> QueryTables:
        """Return the rows of the first table at some positions, with the default index."""
        first = data.facts.names[0]
        df = data.tables[first].iloc[positions].reset_index(drop=True)
        return replace(data, path=None, given={**data.tables, first: df})

    @staticmethod
    def ask_own(name: str, stored: Path, questions: Questions, place: Path) -> None:
        """Store a user's table with the queries of his questions."""
        tables = {TABLE: TableOperations.load(stored)}
        QueryOperations.store(QueryTables(name, None, tables, questions, is_own=True), place)

    @staticmethod
    def check_asked(data: QueryTables, questions: Questions) -> None:  # noqa: ARG004 (they are the data's)
        """Raise `InvalidQuestionsError` if a question does not fit tables."""
        _ = data.facts

    @staticmethod
    def asking(data: QueryTables, questions: Questions) -> QueryTables:
        """Return tables to ask other questions than the family's."""
        return replace(data, questions=questions)

    def expect(self, data: Path) -> None:
        """Note the queries to the stored tables."""
        self._stored = data.absolute()
        with data.open("rb") as file:
            self.facts = _facts(file)

    def warm_up(self) -> None:
        """Save two tiny tables and ask them, so that no measured call imports a library."""
        _warm_up(self.adapter)

    def check(self, data: QueryTables) -> None:
        """Raise `CannotHoldError` if the format cannot keep a table, or has no tuned file of it."""
        self.unchecked.check(data.tables)
        if self.track == TUNED and self.layout is None:
            self._check_tuned(data)

    def _check_tuned(self, data: QueryTables) -> None:
        """Raise `CannotHoldError` if a tuned file would equal the one of the track `defaults`."""
        label = self.unchecked.format.label
        if not any(keys for keys, _ in data.facts.tuned.values()):
            raise CannotHoldError(f"{data.dataset} has no column that tuned files are sorted by")
        has_more = isinstance(self.unchecked.format, Tunable) or label in self.unchecked.engine.indexes
        if data.facts.is_sorted and not has_more:
            raise CannotHoldError(
                f"{label} has nothing to tune but the order of rows, and {data.dataset} is in order"
            )

    def save(self, data: QueryTables, file: Path) -> None:
        """Save the tables into a directory with the settings of the track."""
        if self.layout and self.layout != TableLayout():
            self.unchecked.save_laid_out(data.tables, file, data.facts.names[0], self.layout)
        elif self.track == TUNED and self.layout is None:
            self.unchecked.save_tuned(data.tables, file, data.facts.tuned)
        else:
            self.unchecked.save(data.tables, file)

    def read(self, file: Path) -> pd.DataFrame:
        """Read the first table as a whole, by the format's adapter."""
        return touch(
            self.adapter.format.read(self.adapter.paths(file, self.facts.names)[self.facts.names[0]])
        )

    def compare(self, data: QueryTables, found: pd.DataFrame) -> Diff:
        """Compare the first table with the one read, column by column."""
        first = data.facts.names[0]
        wanted = data.tables[first]
        keys: Sequence[str] = []
        if self.layout is not None:
            keys = self.layout.sort_by
        elif self.track == TUNED:
            keys, _ = data.facts.tuned.get(first, ([], []))
        if keys:
            wanted = wanted.sort_values(list(keys), kind="stable", ignore_index=True)
            if self._orders_by_place(data.facts):
                found = found.sort_values(list(keys), kind="stable", ignore_index=True)
        return verify(wanted, found, *self.adapter.format.kept)

    def check_query(self, query: str) -> None:
        """Raise `UnsupportedError` if the data set lacks the columns, or the engine cannot answer."""
        found = self.facts.query(query)
        if found.positions and self._reorders:
            raise UnsupportedError(f"rows of a tuned file of {self.facts.dataset} have other numbers")
        self.adapter.check_query(found)

    @property
    def _reorders(self) -> bool:
        if self.layout is not None:
            return bool(self.layout.sort_by or self.layout.partition_by)
        is_reordered = not self.facts.is_sorted or self._orders_by_place(self.facts)
        return self.track == TUNED and is_reordered

    def _orders_by_place(self, facts: Facts) -> bool:
        return facts.asks_geometries and self.adapter.format.orders_rows_by_place

    def open_query(self, query: str, file: Path) -> OpenQuery:
        """Open the saved tables by a new instance of the engine's connection."""
        found = self.facts.query(query)
        paths = self.adapter.paths(file, self.facts.names)
        return EngineQuery(self.adapter, paths, query, found, may_miss=self._may_miss)

    @property
    def _may_miss(self) -> bool:
        """True if neighbours come from an index, which a tuned file may have."""
        searched = self.adapter.engine.searches_indexes
        return self.track == TUNED and self.adapter.format.label in searched

    def answer_cold(self, query: str, file: Path, limit_seconds: float) -> ColdRead:
        """Answer a query in a fresh process: engines keep parts of files, and indexes, by process.

        Raises
        ------
        ColdProcessError
            If there is no answer.
        """
        outcome = isolation.run(
            answer_cold,
            *(self.adapter.label, self.track, self._stored, query, file.absolute(), self.threads),
            limit_seconds=limit_seconds,
        )
        if outcome.status:
            raise ColdProcessError(outcome.sentence)
        found: ColdRead = outcome.value
        return found


OPERATIONS = QueryOperations


def answer_cold(  # noqa: PLR0913, PLR0917 (a cell, and its place)
    label: str, track: str, stored: Path, query: str, file: Path, policy: Threads | None
) -> ColdRead:
    """Answer a query in this process, whose libraries are imported and tried on tiny tables before.

    Parameters
    ----------
    label, track : str
        Label of a pair, and the track.
    stored : Path
        The stored tables.
    query, file
        As `Operations.answer_cold` takes them.
    policy : {"1", "all"}, optional
        The thread policy.

    Raises
    ------
    NotColdError
        If the file stays in the page cache.
    """
    operations = QueryOperations.on(stored, query_engines.get(label), track=track)
    if policy:
        threads.apply(policy)
    return ColdRead.measured(functools.partial(operations.open_query, query, file), file)


class EngineQuery(OpenQuery):
    """A query to tables that an engine has opened.

    Parameters
    ----------
    adapter : EngineOnFormat
        The engine, and the format of the files.
    paths : mapping
        The files by the names of the tables.
    name : str
        Name of the question.
    query : Query
        The query.
    may_miss : bool
        Whether an answer may lack neighbours of vectors.
    """

    def __init__(
        self,
        adapter: EngineOnFormat,
        paths: Mapping[str, Path],
        name: str,
        query: Query,
        *,
        may_miss: bool = False,
    ) -> None:
        self._engine, self._name, self._query = adapter.engine, name, query
        self._may_miss = may_miss
        digits, decimals = adapter.format.kept
        is_computed = bool(query.aggregates or query.statement or digits)
        self._allowed = {
            "absolute": 10.0**-decimals if decimals else 0.0,
            "tolerance": TOLERANCE if is_computed else 0.0,
        }
        self._handle = self._engine.open(adapter.format.label, paths)

    def read(self) -> pa.Table:
        """Return the answer, in memory."""
        return touch_arrow(self._engine.answer(self._handle, self._query))

    def verify(self, answer: pa.Table, data: QueryTables) -> str:
        """Compare an answer with NumPy's; return its number of rows.

        Raises
        ------
        WrongValuesError
            If they differ.
        """
        wanted = data.answer(self._name)
        if wanted.group_rows:
            return self._verify_groups(answer, wanted)
        differs = difference(answer, wanted, **self._allowed)
        if differs:
            raise WrongValuesError(WRONG + differs)
        reference_library = "DuckDB's on the tables in memory" if self._query.statement else "NumPy's"
        return f"{wanted.num_rows:,} rows, equal to {reference_library}"

    def _verify_groups(self, answer: pa.Table, wanted: Answer) -> str:
        """Note the share of rows that an answer lacks; raise `WrongValuesError` if it may lack none."""
        try:
            self.missed_share = missed_share(answer, wanted)
        except ValueError as error:
            raise WrongValuesError(f"{WRONG}{error}") from error
        if self.missed_share and not self._may_miss:
            raise WrongValuesError(f"{WRONG}{self.missed_share:.1%} of the rows are others")
        return f"{wanted.num_rows:,} rows, {1 - self.missed_share:.1%} of them NumPy's"

    def close(self) -> None:
        """Close the tables."""
        self._engine.close(self._handle)


@functools.cache
def _warm_up(adapter: EngineOnFormat) -> None:
    generated = QueryOperations.generate("query", 200)
    data = replace(generated, questions=declared(FAMILY).to().only("count", "columns-2", "group-few"))
    with warm_up_file(adapter.suffix) as file:
        adapter.save(data.tables, file)
        for name, query in data.facts.asked.items():
            if isinstance(query, str):
                continue
            opened = EngineQuery(adapter, adapter.paths(file, data.facts.names), name, query)
            opened.read()
            opened.close()

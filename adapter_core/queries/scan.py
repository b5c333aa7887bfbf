"""Engines that read selected rows and columns; Arrow does the rest of a query."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.queries.arrow import count_of, finished, shape_of
from adapter_core.query import TABLE, Condition, Query
from adapter_core.query_engine import Part, QueryEngine

if TYPE_CHECKING:
    import pyarrow as pa


class ScanEngine(QueryEngine):
    """Engine whose library scans a table; joins, groups and orders are left to pyarrow.

    A handle is a dictionary of opened tables by name.
    """

    does: ClassVar = frozenset({Part.COLUMNS, Part.ROWS})
    finished_by = "pyarrow"

    def open(self, format_label: str, tables: Mapping[str, Path]) -> dict[str, Any]:
        """Open the table that is asked; tables to join are opened when they are needed."""
        opened = {TABLE: self._open(format_label, tables[TABLE])}
        return {"format": format_label, "paths": tables, "opened": opened}

    def close(self, handle: dict[str, Any]) -> None:
        """Close all tables."""
        for each in handle["opened"].values():
            self._close(each)

    def answer(self, handle: dict[str, Any], query: Query) -> pa.Table:
        """Return the answer, which pyarrow computes from a scan."""
        table = handle["opened"][TABLE]
        if query.shape:
            return shape_of(*self._shape(table))
        if query.is_count:
            return count_of(self._shape(table)[0])
        if query.positions:
            return finished(self._take(table, list(query.positions), query.needed), query)
        return self._finished(handle, table, query)

    def _finished(self, handle: dict[str, Any], table: Any, query: Query) -> pa.Table:
        found = self._scan(table, query.needed, query.where)
        return finished(found, query, lambda: self._other(handle, query))

    def _other(self, handle: dict[str, Any], query: Query) -> pa.Table:
        """Return the second table of a join."""
        if query.join is None:
            raise ValueError("the query has no join")
        name = query.join.table
        if name not in handle["opened"]:
            handle["opened"][name] = self._open(handle["format"], handle["paths"][name])
        return self._scan(handle["opened"][name], [query.join.key, *query.join.columns], ())

    @abstractmethod
    def _open(self, format_label: str, path: Path) -> Any:
        """Open a table."""

    def _close(self, table: Any) -> None:
        """Close a table."""

    @abstractmethod
    def _shape(self, table: Any) -> tuple[int, int]:
        """Return the numbers of rows and of columns from the metadata."""

    @abstractmethod
    def _scan(self, table: Any, columns: list[str], where: Sequence[Condition]) -> pa.Table:
        """Return the rows that fulfil the conditions.

        Parameters
        ----------
        table : Any
            As `_open` has returned it.
        columns : list of str
            Columns to return; may be empty if the rows are counted.
        where : sequence of Condition
            Conditions on any columns of the table.
        """

    def _take(self, table: Any, positions: list[int], columns: list[str]) -> pa.Table:
        """Return rows by their numbers, ascending; by default from a scan of all rows."""
        return self._scan(table, columns, ()).take(positions)

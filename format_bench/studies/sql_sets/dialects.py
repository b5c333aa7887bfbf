"""Engines that take SQL statements, on the saved tables of a query set."""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import UnknownNameError

if TYPE_CHECKING:
    import pyarrow as pa

    from adapter_core.query_engine import QueryEngine


class Dialect(ABC):
    """A query engine that is given statements instead of trees."""

    name: str
    """Name of the engine's file in `query_engines`."""

    @property
    def engine(self) -> QueryEngine:
        """The engine."""
        found: QueryEngine = importlib.import_module(f"query_engines.{self.name}").Adapter()
        return found

    def open(self, format_label: str, tables: Mapping[str, Path]) -> Any:
        """Return a handle of saved tables."""
        return self.engine.open(format_label, tables)

    @abstractmethod
    def answer(self, handle: Any, statement: str) -> pa.Table:
        """Return the result of a statement in memory."""


class _DuckDB(Dialect):
    name = "duckdb"

    def answer(self, handle: Any, statement: str) -> pa.Table:
        return handle["database"].sql(statement).to_arrow_table()


class _DataFusion(Dialect):
    name = "datafusion"

    def answer(self, handle: Any, statement: str) -> pa.Table:
        return handle.sql(statement).to_arrow_table()


class _Polars(Dialect):
    name = "polars"

    def open(self, format_label: str, tables: Mapping[str, Path]) -> Any:
        import polars as pl

        from query_engines.polars import lazy_frame

        return pl.SQLContext({name: lazy_frame(format_label, path) for name, path in tables.items()})

    def answer(self, handle: Any, statement: str) -> pa.Table:
        return handle.execute(statement).collect(engine="streaming").to_arrow()


DIALECTS: dict[str, Dialect] = {each.name: each for each in (_DuckDB(), _DataFusion(), _Polars())}
"""Dialects by the names of their engines."""


def dialect(name: str) -> Dialect:
    """Return a dialect.

    Raises
    ------
    UnknownNameError
        If there is none of that name.
    """
    if name not in DIALECTS:
        raise UnknownNameError("engine of SQL", name, DIALECTS)
    return DIALECTS[name]

"""Queries as SQL, in the words that DataFusion, DuckDB and SQLite have in common."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapter_core.predicate import Comparison
from adapter_core.query import TABLE, OneOf

if TYPE_CHECKING:
    from collections.abc import Mapping

    from adapter_core.predicate import Value
    from adapter_core.query import Aggregate, Condition, Query


def sql(
    query: Query,
    tables: Mapping[str, str] | None = None,
    positions: str = "",
    *,
    fields_in_brackets: bool = False,
    like_ignores_case: bool = False,
) -> str:
    """Return a query as one statement.

    Parameters
    ----------
    query : Query
        The query.
    tables : mapping, optional
        Text for a table in the statement, by its name; the name itself by default.
    positions : str
        Expression for the number of a row, counted from 0.
    fields_in_brackets : bool
        True for DataFusion's way to name the field of a record, ``"record"['field']``.
    like_ignores_case : bool
        True for SQLite, whose LIKE takes "a" for "A": texts are found by ``instr`` then.

    Raises
    ------
    ValueError
        If the query selects by positions, without an expression for them.
    """
    source = (tables or {}).get(TABLE, TABLE)
    if query.shape:
        return f"SELECT count(*) FROM {source}"  # noqa: S608 (names of tables)
    selected = ", ".join(_selected(query, in_brackets=fields_in_brackets))
    parts = [f"SELECT {selected}", f"FROM {source}"]
    if query.join:
        other, join = (tables or {}).get(query.join.table, query.join.table), query.join
        parts.append(f"JOIN {other} ON {quoted(join.column)} = {quoted(join.key)}")
    conditions = [condition(each, like_ignores_case=like_ignores_case) for each in query.where]
    if query.positions:
        if not positions:
            raise ValueError("no expression gives the number of a row")
        conditions = [f"{positions} IN ({', '.join(map(str, query.positions))})"]
    if conditions:
        parts.append(f"WHERE {' AND '.join(conditions)}")
    if query.groups:
        parts.append(f"GROUP BY {', '.join(map(quoted, query.groups))}")
    if query.order:
        way = " DESC" if query.order.descending else ""
        parts.append(f"ORDER BY {quoted(query.order.column)}{way} LIMIT {query.limit}")
    return " ".join(parts)


def condition(found: Condition, *, like_ignores_case: bool = False) -> str:
    """Return a condition as an expression, see `sql`."""
    column = quoted(found.column)
    if isinstance(found, Comparison):
        return f"{column} {found.operator.replace('==', '=')} {literal(found.value)}"
    if isinstance(found, OneOf):
        return f"{column} IN ({', '.join(map(literal, found.values))})"
    if like_ignores_case:
        return f"instr({column}, {literal(found.text)}) > 0"
    return f"{column} LIKE '%{found.text}%'"


def quoted(name: str) -> str:
    """Return the name of a column, or of a field of a record, in quotation marks."""
    return ".".join('"{}"'.format(part.replace('"', '""')) for part in name.split("."))


def literal(value: Value) -> str:
    """Return a constant."""
    if isinstance(value, str):
        return "'{}'".format(value.replace("'", "''"))
    if isinstance(value, bool):
        return str(value).lower()
    return repr(value)


def _selected(query: Query, *, in_brackets: bool) -> list[str]:
    if in_brackets:
        return [_in_brackets(name) for name in query.columns] or _selected(query, in_brackets=False)
    if not query.aggregates:
        return [quoted(name) for name in query.columns]
    return [*map(quoted, query.groups), *map(_aggregate, query.aggregates)]


def _in_brackets(name: str) -> str:
    outer, *inner = name.split(".")
    return quoted(outer) + "".join(f"[{literal(part)}]" for part in inner)


def _aggregate(found: Aggregate) -> str:
    return f"{found.function}({quoted(found.column) if found.column else '*'}) AS {quoted(found.name)}"

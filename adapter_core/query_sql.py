"""Queries as SQL, in the words that DataFusion, DuckDB and SQLite have in common."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum

from adapter_core.predicate import DECIMALS, Comparison, Value
from adapter_core.query import (
    ENDS,
    LEAST,
    MEAN,
    TABLE,
    Aggregate,
    Condition,
    Nearest,
    OneOf,
    Query,
    by_total_order,
    path_of,
)


class Dialect(Enum):
    """Peculiarities of an engine of SQL."""

    DUCKDB = "DuckDB"
    """Nothing."""
    DATAFUSION = "DataFusion"
    """A field of a record is ``"record"['field']``; -0.0 is less than 0.0; and the least of a group of
    infinities is the largest finite number (version 55)."""
    DAFT = "Daft"
    """-0.0 is less than 0.0, and a group of its own; no literal is -0.0; a literal of a timestamp is in
    UTC, and compares with no time without a zone; beside a constant of microseconds, nanoseconds of a
    column are cut off; and -2**63 is a float (version 0.7)."""
    CHDB = "chDB"
    """IN and groups distinguish -0.0 from 0.0; a literal of a timestamp is between 1970 and 2106, and in
    the machine's zone, where a time without a zone is in UTC (version 4)."""
    SQLITE = "SQLite"
    """LIKE takes "a" for "A", hence ``instr`` finds texts; no name is infinity, but 9e999 is; times and
    dates are texts."""


# Engines that take -0.0 for less than 0.0, or for another value where they compare bits.
_ORDERS_ZEROS = {Dialect.DATAFUSION, Dialect.DAFT}
_LISTS_ZEROS = {Dialect.CHDB}
_GROUPS_ZEROS = {Dialect.DAFT, Dialect.CHDB}
# Their means of decimals have four digits more: of large sums DataFusion fails, and Daft has null.
_OVERFLOWING_MEANS = {Dialect.DATAFUSION, Dialect.DAFT}

# Whole years of the range of 64-bit nanoseconds.
_NANOSECOND_YEARS = range(1678, 2262)


def sql(
    query: Query,
    tables: Mapping[str, str] | None = None,
    positions: str = "",
    dialect: Dialect = Dialect.DUCKDB,
    floats: Collection[str] = (),
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
    dialect : Dialect
        The engine's way.
    floats : collection of str
        Columns of floats, which the ways of some engines depend on where there are groups.

    Raises
    ------
    ValueError
        If the query selects by positions, without an expression for them.
    """
    source = (tables or {}).get(TABLE, TABLE)
    if query.nearest:
        raise ValueError("neighbours are asked for by `nearest_sql`")
    if query.shape:
        return f"SELECT count(*) FROM {source}"  # noqa: S608 (names of tables)
    # The sum of -0.0 and 0.0 is 0.0.
    two_zeros = set(floats) if dialect in _GROUPS_ZEROS else set()
    keys = {each: quoted(each) + " + 0.0" * (each in two_zeros) for each in query.groups}
    selected = ", ".join(_selected(query, keys, dialect, floats))
    parts = [f"SELECT {selected}", f"FROM {source}"]
    if query.join:
        other, join = (tables or {}).get(query.join.table, query.join.table), query.join
        parts.append(f"JOIN {other} ON {quoted(join.column)} = {quoted(join.key)}")
    where = by_total_order(query.where) if dialect in _ORDERS_ZEROS else query.where
    conditions = [condition(each, dialect) for each in where]
    if query.positions:
        if not positions:
            raise ValueError("no expression gives the number of a row")
        conditions = [f"{positions} IN ({', '.join(map(str, query.positions))})"]
    if conditions:
        parts.append(f"WHERE {' AND '.join(conditions)}")
    if query.groups:
        parts.append(f"GROUP BY {', '.join(keys.values())}")
    if query.order:
        way = " DESC" if query.order.descending else ""
        # SQL leaves their place to the engines otherwise.
        parts.append(f"ORDER BY {quoted(query.order.column)}{way} NULLS LAST LIMIT {query.limit}")
    return " ".join(parts)


def nearest_sql(query: Query, nearest: Nearest, wanted: str) -> str:
    """Return a query for neighbours as one statement in DuckDB's words.

    Parameters
    ----------
    query, nearest : Query, Nearest
        The query, and its part about neighbours.
    wanted : str
        Name of a table of the vectors, with the columns "number" and "vector".
    """
    array, number = f"FLOAT[{len(nearest.vectors[0])}]", f"{wanted}.number"
    vector = f"{TABLE}.{quoted(nearest.column)}"
    distance = f"array_distance({vector}::{array}, {wanted}.vector::{array})"
    row = ", ".join(f"{quoted(each)} := {TABLE}.{quoted(each)}" for each in query.columns)
    # arg_min leaves rows without a distance out.
    first = f"unnest(arg_min(struct_pack({row}), {distance}, {nearest.count}), recursive := true)"
    return f"SELECT {first} FROM {TABLE}, {wanted} GROUP BY {number} ORDER BY {number}"  # noqa: S608


def condition(found: Condition, dialect: Dialect = Dialect.DUCKDB) -> str:
    """Return a condition as an expression, see `sql`."""
    column = quoted(found.column)
    if isinstance(found, Comparison):
        return f"{column} {found.operator.replace('==', '=')} {literal(found.value, dialect)}"
    if isinstance(found, OneOf):
        values = found.with_both_zeros if dialect in _LISTS_ZEROS else found.values
        constants = [literal(each, dialect) for each in values]
        if dialect is Dialect.DAFT and isinstance(values[0], datetime | Decimal):
            # Constants of a list are of one type.
            return f"({' OR '.join(f'{column} = {each}' for each in constants)})"
        return f"{column} IN ({', '.join(constants)})"
    if dialect is Dialect.SQLITE:
        return f"instr({column}, {literal(found.text)}) > 0"
    return f"{column} LIKE '%{found.text}%'"


def quoted(name: str) -> str:
    """Return the name of a column, or of a field of a record, in quotation marks."""
    return ".".join('"{}"'.format(part.replace('"', '""')) for part in path_of(name))


def literal(value: Value, dialect: Dialect = Dialect.DUCKDB) -> str:
    """Return a constant."""
    if isinstance(value, float) and math.isinf(value):
        sign = "-" if value < 0 else ""
        is_named = dialect is not Dialect.SQLITE
        return f"CAST('{sign}Infinity' AS DOUBLE)" if is_named else f"{sign}9e999"
    if isinstance(value, str):
        if dialect is Dialect.CHDB:
            value = value.replace("\\", "\\\\")
        return "'{}'".format(value.replace("'", "''"))
    if isinstance(value, datetime):
        is_zoned = value.tzinfo is not None
        value = value.astimezone(UTC).replace(tzinfo=None) if is_zoned else value
        text, zone = value.isoformat(sep=" "), 'Some("UTC")' if is_zoned else "None"
        written = {
            # Its timestamps are of nanoseconds, which end in 2262.
            Dialect.DATAFUSION: f"arrow_cast('{text}', 'Timestamp(Microsecond, {zone})')",
            Dialect.DAFT: f"to_datetime('{text}Z', '%Y-%m-%d %H:%M:%S%.f%#z', 'UTC')"
            if is_zoned
            else f"CAST('{text}' AS TIMESTAMP{'(9)' * (value.year in _NANOSECOND_YEARS)})",
            Dialect.CHDB: f"toDateTime64('{text}', 6, 'UTC')",
            Dialect.SQLITE: f"'{text}'",
        }
        # To DuckDB, a text is of its column's type, and no other type compares with zoned nanoseconds.
        return written.get(dialect, f"'{text}+00'" if is_zoned else f"TIMESTAMP '{text}'")
    if isinstance(value, date):
        written = {Dialect.CHDB: f"toDate32('{value}')", Dialect.SQLITE: f"'{value}'"}
        return written.get(dialect, f"CAST('{value}' AS DATE)")
    if isinstance(value, Decimal):
        return _decimal(value, dialect)
    if isinstance(value, bool):
        return str(value).lower()
    if dialect is Dialect.DAFT and value == -(2**63):
        return f"CAST({value!r} AS BIGINT)"
    if dialect is Dialect.DAFT and repr(value) == "-0.0":
        return "CAST('-0.0' AS DOUBLE)"
    return repr(value)


def _decimal(value: Decimal, dialect: Dialect) -> str:
    """Return a decimal of its own digits: of more, engines would convert the column."""
    _, digits, exponent = value.as_tuple()
    scale = -int(exponent)
    if dialect is Dialect.CHDB:
        return f"toDecimal128('{value:f}', {scale})"
    return f"CAST('{value:f}' AS DECIMAL({max(len(digits), scale)}, {scale}))"


def order_of(statement: str) -> tuple[str, ...]:
    """Return the keys that a statement orders its rows by, without directions; empty without any.

    A key is the name of a column in small letters, its number, or another expression.
    """
    text = re.sub(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'", " ", statement, flags=re.DOTALL)
    inner = None
    while inner != text:
        # Orders within brackets are of a part of the statement.
        inner, text = text, re.sub(r"\([^()]*\)", "?", text)
    found = _ORDER.search(text)
    keys = found[1].split(",") if found else []
    return tuple(_DIRECTION.sub("", each).strip().lower() for each in keys)


_ORDER = re.compile(
    r"\border\s+by\b(.*?)(?:\blimit\b|\boffset\b|\bfetch\b|;|$)", re.DOTALL | re.IGNORECASE
)
_DIRECTION = re.compile(r"\b(?:asc|desc|nulls\s+first|nulls\s+last)\b", re.IGNORECASE)


def _selected(
    query: Query, keys: Mapping[str, str], dialect: Dialect, floats: Collection[str]
) -> list[str]:
    if not query.aggregates:
        named = _in_brackets if dialect is Dialect.DATAFUSION else quoted
        return [named(name) for name in query.columns]
    unbound = floats if dialect is Dialect.DATAFUSION and query.groups else ()
    overflowing = query.types if dialect in _OVERFLOWING_MEANS else {}
    decimals = [name for name, contents in overflowing.items() if contents == DECIMALS]
    groups = (key if key == quoted(name) else f"{key} AS {quoted(name)}" for name, key in keys.items())
    return [*groups, *(_aggregate(each, unbound, decimals) for each in query.aggregates)]


def _in_brackets(name: str) -> str:
    outer, *inner = path_of(name)
    return quoted(outer) + "".join(f"[{literal(part)}]" for part in inner)


def _aggregate(found: Aggregate, unbound: Collection[str], decimals: Collection[str]) -> str:
    """Return an aggregate.

    Of unbound columns an end is the one of the finite values, else the infinite one; a mean of decimals
    is computed of floats.
    """
    column = quoted(found.column) if found.column else "*"
    if found.function == MEAN and found.column in decimals:
        column = f"CAST({column} AS DOUBLE)"
    text = f"{found.function}({column})"
    if found.function in ENDS and found.column in unbound:
        sign, operator = ("", "<") if found.function == LEAST else ("-", ">")
        last = literal(float(f"{sign}inf"))
        finite = f"{found.function}(CASE WHEN {column} {operator} {last} THEN {column} END)"
        text = f"coalesce({finite}, CASE WHEN count({column}) > 0 THEN {last} END)"
    return f"{text} AS {quoted(found.name)}"

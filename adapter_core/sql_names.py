"""Names of columns, as databases that speak SQL take them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def quoted(name: str) -> str:
    """Return a column's name as SQL takes it, whatever is in it."""
    return '"{}"'.format(name.replace('"', '""'))


def query(columns: Sequence[str] | None, source: str) -> str:
    """Return the query for columns of a source, or for all of them if None is given."""
    wanted = "*" if columns is None else ", ".join(map(quoted, columns))
    return f"SELECT {wanted} FROM {source}"  # noqa: S608 (quoted)


def misnamed(names: Iterable[str]) -> str | None:
    """Return why a database does not take names, or changes them; None if it does neither.

    SQLite and DuckDB ignore the case of ASCII letters:
    https://duckdb.org/docs/stable/sql/dialect/keywords_and_identifiers
    """
    seen: dict[bytes, str] = {}
    for name in names:
        if not name:
            return "a column has no name"
        other = seen.setdefault(name.encode().lower(), name)
        if other != name:
            return f"the names {other!r} and {name!r} differ in case alone"
    return None

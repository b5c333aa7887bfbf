"""Validation of table specifications, with one line for each mistake."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, get_args, get_type_hints

from data_generator.spec.spec import COLUMNS, Alphabet, ColumnSpec, Rule, TableSpec

# Largest difference between a sum of shares and 1: the shares of a measured column are rounded.
SUM_TOLERANCE = 0.01

# Largest product of `distinct_ratio` and `mean_run_length`, which are rounded: each distinct value has
# at least one run, so that exact ones have a product of at most 1.
RUNS_TOLERANCE = 1.02


def mistakes(table: Mapping[str, Any]) -> Iterator[str]:
    """Yield one line for each mistake in a table's properties, as JSON or TOML states them."""
    yield from _broken_rules(TableSpec, table, "the table")
    columns = table.get("columns", ())
    if COLUMNS.accepts(columns):
        yield from _columns(columns, "column")
        if not columns:
            yield "the table has no columns"


def _columns(columns: list[Any], what: str) -> Iterator[str]:
    names: list[Any] = []
    for number, column in enumerate(columns):
        if not isinstance(column, dict):
            yield f"{what} {number} is not a table of properties"
            continue
        name = column.get("name")
        where = f"{what} {number}" if name is None else f"{what} {name!r}"
        yield from _column(column, where)
        if name is None:
            yield f"{where} has no name"
        elif name in names:
            yield f"two columns are named {name!r}"
        names.append(name)


def _column(column: dict[str, Any], where: str) -> Iterator[str]:
    broken = list(_broken_rules(ColumnSpec, column, where))
    yield from broken
    if "dtype" not in column:
        yield f"{where} has no dtype"
    if broken or "dtype" not in column:
        return
    # Combinations are checked among valid values only: their messages would repeat the first ones.
    yield from _frequencies(column, where)
    yield from _content(column, where)
    yield from _parts(column, where)


def _broken_rules(kind: type, given: Mapping[str, Any], where: str) -> Iterator[str]:
    """Yield a line for each property that `kind` does not have, and for each value against its rule."""
    rules = _rules(kind)
    for key, value in given.items():
        if key not in rules:
            near = difflib.get_close_matches(key, rules, n=1)
            yield f"{where} has no property {key!r}{f'; did you mean {near[0]}?' if near else ''}"
        elif not rules[key].accepts(value):
            yield f"{where}: {key} is {rules[key].words}, not {value!r}"


@cache
def _rules(kind: type) -> dict[str, Rule]:
    """Return the rules of a specification's properties, from their annotations."""
    hints = get_type_hints(kind, include_extras=True)
    return {name: get_args(hint)[1] for name, hint in hints.items()}


def _frequencies(column: dict[str, Any], where: str) -> Iterator[str]:
    shares = column.get("rank_shares", ())
    if (column.get("pattern") == "measured") != bool(shares):
        yield f"{where}: rank_shares and the pattern measured go together"
    elif shares and abs(sum(shares) - 1) > SUM_TOLERANCE:
        yield f"{where}: the sum of rank_shares is {sum(shares):.3g}, not 1"
    if column.get("pattern") in ("constant", "binary"):
        return
    runs = column.get("distinct_ratio", 1.0) * column.get("mean_run_length", 1.0)
    if runs > RUNS_TOLERANCE:
        yield f"{where}: distinct_ratio x mean_run_length is {runs:.3g}, and cannot be more than 1"


def _content(column: dict[str, Any], where: str) -> Iterator[str]:
    alphabet = column.get("alphabet")
    if alphabet is not None:
        broken = list(_broken_rules(Alphabet, alphabet, f"{where}: the alphabet"))
        yield from broken
        total = sum({"lower": Alphabet.lower, **alphabet}.values()) if not broken else 1.0
        if abs(total - 1) > SUM_TOLERANCE:
            yield f"{where}: the sum of the alphabet's shares is {total:.3g}, not 1"
    if column["dtype"] == "decimal" and "decimals" not in column:
        yield f"{where}: decimals need the property decimals, their digits after the point"
    if column.get("zone") and column["dtype"] != "datetime":
        yield f"{where}: only datetime has a zone"


def _parts(column: dict[str, Any], where: str) -> Iterator[str]:
    """Yield the mistakes in the items of lists and vectors, and in the fields of records and maps."""
    for key, dtypes in _PARTS.items():
        if (column["dtype"] in dtypes) != bool(column.get(key)):
            yield f"{where}: {key} and the dtype {' or '.join(dtypes)} go together"
            return
    if column.get("items"):
        yield from _column(column["items"], f"{where}: items")
    if column.get("fields"):
        yield from _columns(column["fields"], f"{where}: field")
    if (column["dtype"] == "vector") != bool(column.get("length")):
        yield f"{where}: length and the dtype vector go together"
    if column["dtype"] == "map" and len(column["fields"]) != len(("key", "value")):
        yield f"{where}: the fields of a map are two, its keys and its values"


# Properties of the values inside, by the data types that have them.
_PARTS = {"items": ("list", "vector"), "fields": ("record", "map")}

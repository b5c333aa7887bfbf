"""What each property of a `TableSpec` may be, in words and as a check.

Finds what is wrong with a `TableSpec`, and says each mistake in a line.
"""

from __future__ import annotations

import difflib
import zoneinfo
from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from typing import Any, NamedTuple

from data_generator.spec.dtypes import DTYPES
from data_generator.spec.spec import PATTERNS


class Rule(NamedTuple):
    """What a value must be."""

    words: str
    """As in "is ..., not 3"."""
    holds: Callable[[Any], bool]


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _between(low: float, high: float, words: str) -> Rule:
    return Rule(words, lambda value: _number(value) and low <= value <= high)


def _whole(low: int, high: int, words: str) -> Rule:
    return Rule(words, lambda value: _number(value) and value == int(value) and low <= value <= high)


def _one_of(names: Any) -> Rule:
    return Rule(f"one of {', '.join(names)}", lambda value: isinstance(value, str) and value in names)


def _all(rule: Rule, words: str) -> Rule:
    return Rule(words, lambda value: isinstance(value, list | tuple) and all(map(rule.holds, value)))


def _known_zone(value: Any) -> bool:
    return isinstance(value, str) and (not value or value in zoneinfo.available_timezones())


SHARE = _between(0, 1, "a share from 0 to 1")
RUN = _between(1, 2**40, "a length of 1 or more")
WIDTH = _between(-300, 2**31, "a width up to 2**31")
TEXT = Rule("text", lambda value: isinstance(value, str))

COLUMN = {
    "name": TEXT,
    "dtype": _one_of(DTYPES),
    "distinct_ratio": SHARE,
    "pattern": _one_of(PATTERNS),
    "exponent": _between(0, 4, "a number from 0 to 4"),
    "top_share": SHARE,
    "rank_shares": _all(SHARE, "a list of shares from 0 to 1"),
    "null_share": SHARE,
    "null_run_length": RUN,
    "sortedness": SHARE,
    "mean_run_length": RUN,
    "longest_run": RUN,
    "clustering": SHARE,
    "repetition": SHARE,
    "width": WIDTH,
    "width_spread": _between(0, 2**31, "a number that is not negative"),
    "rank_widths": _all(WIDTH, "a list of widths up to 2**31"),
    "negative_share": SHARE,
    "decimals": _whole(0, 15, "a whole number from 0 to 15"),
    "rank_decimals": _all(_between(0, 400, ""), "a list of numbers that are not negative"),
    "significant_bits": _whole(1, 53, "a whole number from 1 to 53"),
    "granularity": _whole(1, 10**18, "a whole number from 1 to 10**18"),
    "regularity": SHARE,
    "prefix_length": _whole(0, 2**31, "a whole number that is not negative"),
    "bits_per_character": _between(0, 8, "a number from 0 to 8"),
    "alphabet": Rule("a table of shares", lambda value: isinstance(value, dict)),
    "quoted_share": SHARE,
    "quote_marks": _between(0, 2**31, "a number that is not negative"),
    "unit": _one_of(("s", "ms", "us", "ns")),
    "zone": Rule("the name of a time zone, as in Europe/Paris", _known_zone),
    "items": Rule("a table of properties", lambda value: isinstance(value, dict)),
    "fields": Rule("a list of columns", lambda value: isinstance(value, list | tuple)),
}

ALPHABET = {"lower": SHARE, "upper": SHARE, "digit": SHARE, "other": SHARE}

TABLE = {
    "columns": Rule("a list of columns", lambda value: isinstance(value, list | tuple)),
    "rows": _whole(0, 2**40, "a whole number that is not negative"),
    "seed": _whole(-(2**63), 2**63, "a whole number"),
    "note": TEXT,
}


NEAR_ONE = 0.01
"""Shares were rounded, so their sum need not be 1."""

RUNS_PER_VALUE = 1.02
"""Each distinct value has a run at least; both numbers were rounded."""


def mistakes(table: Mapping[str, Any]) -> Iterator[str]:
    """Yield one line for each mistake in a table's properties, as JSON or TOML states them."""
    yield from _against(TABLE, table, "the table")
    if not TABLE["columns"].holds(table.get("columns")):
        if "columns" not in table:
            yield "the table has no columns"
        return
    yield from _columns(table["columns"], "column")
    if not table["columns"]:
        yield "the table has no columns"


def _columns(columns: list[Any], what: str) -> Iterator[str]:
    names: list[Any] = []
    for number, column in enumerate(columns):
        if not isinstance(column, dict):
            yield f"{what} {number} is no table of properties"
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
    wrong = list(_against(COLUMN, column, where))
    yield from wrong
    if "dtype" not in column:
        yield f"{where} has no dtype"
    if wrong or "dtype" not in column:
        return
    yield from _frequencies(column, where)
    yield from _content(column, where)
    yield from _parts(column, where)


def _against(rules: dict[str, Rule], given: Mapping[str, Any], where: str) -> Iterator[str]:
    """Yield what there is no rule for, and what breaks its rule."""
    for key, value in given.items():
        if key not in rules:
            near = difflib.get_close_matches(key, rules, n=1)
            yield f"{where} has no property {key!r}{f'; did you mean {near[0]}?' if near else ''}"
        elif not rules[key].holds(value):
            yield f"{where}: {key} is {rules[key].words}, not {value!r}"


def _frequencies(column: dict[str, Any], where: str) -> Iterator[str]:
    shares = column.get("rank_shares", ())
    if (column.get("pattern") == "measured") != bool(shares):
        yield f"{where}: rank_shares and the pattern measured go together"
    elif shares and abs(sum(shares) - 1) > NEAR_ONE:
        yield f"{where}: the sum of rank_shares is {sum(shares):.3g}, not 1"
    if column.get("pattern") in ("constant", "binary"):
        return
    runs = column.get("distinct_ratio", 1.0) * column.get("mean_run_length", 1.0)
    if runs > RUNS_PER_VALUE:
        yield f"{where}: distinct_ratio x mean_run_length is {runs:.3g}, and cannot be more than 1"


def _content(column: dict[str, Any], where: str) -> Iterator[str]:
    alphabet = column.get("alphabet")
    if alphabet is not None:
        wrong = list(_against(ALPHABET, alphabet, f"{where}: the alphabet"))
        yield from wrong
        # The share of small letters is 1 if it is not given.
        total = sum({"lower": 1.0, **alphabet}.values()) if not wrong else 1.0
        if abs(total - 1) > NEAR_ONE:
            yield f"{where}: the sum of the alphabet's shares is {total:.3g}, not 1"
    if column["dtype"] == "decimal" and "decimals" not in column:
        yield f"{where}: decimals need the property decimals, their digits after the point"
    if column.get("zone") and column["dtype"] != "datetime":
        yield f"{where}: only datetime has a zone"


def _parts(column: dict[str, Any], where: str) -> Iterator[str]:
    """Yield what is wrong with the items of lists and the fields of records."""
    for dtype, key in (("list", "items"), ("record", "fields")):
        if (column["dtype"] == dtype) != bool(column.get(key)):
            yield f"{where}: {key} and the dtype {dtype} go together"
            return
    if column["dtype"] == "list":
        yield from _column(column["items"], f"{where}: items")
    if column["dtype"] == "record":
        yield from _columns(column["fields"], f"{where}: field")

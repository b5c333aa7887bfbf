"""What each property of a `TableSpec` may be, in words and as a check."""

from __future__ import annotations

import zoneinfo
from collections.abc import Callable
from math import isfinite
from typing import Any, NamedTuple

from data_generator.realistic.dtypes import DTYPES
from data_generator.spec import PATTERNS


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

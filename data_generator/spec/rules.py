"""Rules for the values of a specification's properties, each with its wording for messages.

Values are plain, as in JSON or TOML: numbers, text, lists and dictionaries.
"""

from __future__ import annotations

import zoneinfo
from collections.abc import Callable, Iterable
from math import isfinite
from typing import Any, NamedTuple


class Rule(NamedTuple):
    """A condition on the value of a property."""

    words: str
    """Wording that completes "is ..., not 3"."""
    accepts: Callable[[Any], bool]


def between(low: float, high: float, words: str) -> Rule:
    """Return the rule for numbers from `low` to `high`."""
    return Rule(words, lambda value: _is_number(value) and low <= value <= high)


def whole(low: int, high: int, words: str) -> Rule:
    """Return the rule for whole numbers from `low` to `high`."""
    return Rule(words, lambda value: _is_number(value) and value == int(value) and low <= value <= high)


def one_of(names: Iterable[str]) -> Rule:
    """Return the rule for one of several names."""
    known = tuple(names)
    return Rule(f"one of {', '.join(known)}", lambda value: isinstance(value, str) and value in known)


def list_of(rule: Rule, words: str) -> Rule:
    """Return the rule for lists whose items all fulfil a rule."""
    return Rule(words, lambda value: COLUMNS.accepts(value) and all(map(rule.accepts, value)))


def table(words: str) -> Rule:
    """Return the rule for nested properties, which are validated on their own."""
    return Rule(words, lambda value: isinstance(value, dict))


def _is_number(value: Any) -> bool:
    # Python's booleans are integers, and json.loads accepts NaN and Infinity.
    return isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)


def _is_zone(value: Any) -> bool:
    return isinstance(value, str) and (not value or value in zoneinfo.available_timezones())


SHARE = between(0, 1, "a share from 0 to 1")
RUN_LENGTH = between(1, 2**40, "a length of 1 or more")
WIDTH = between(-300, 2**31, "a width up to 2**31")
NOT_NEGATIVE = between(0, 2**31, "a number that is not negative")
TEXT = Rule("text", lambda value: isinstance(value, str))
COLUMNS = Rule("a list of columns", lambda value: isinstance(value, list | tuple))
SHARES = list_of(SHARE, "a list of shares from 0 to 1")
WIDTHS = list_of(WIDTH, "a list of widths up to 2**31")
ZONE = Rule("the name of a time zone, e.g. Europe/Paris", _is_zone)

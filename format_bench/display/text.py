"""Phrases of names and numbers, and text that spreadsheets do not evaluate."""

from __future__ import annotations

from collections.abc import Iterable

# A spreadsheet takes text with such a start for a formula, also in full width; after OWASP, "CSV
# Injection".
_FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")


def guarded(text: str) -> str:
    """Return text that no spreadsheet takes for a formula: with an apostrophe before, if needed."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def plural(number: int, noun: str) -> str:
    """Return a number of things, e.g. "1 row" or "20,000 rows"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def joined(names: Iterable[object], most: int | None = 4) -> str:
    """Return names as a phrase, e.g. "A, B and C".

    Parameters
    ----------
    names : iterable
        At least one name.
    most : int, optional
        Longest list that is not shortened to its first names and the number of the others.
    """
    shown = [str(name) for name in names]
    if most is not None and len(shown) > most:
        others = len(shown) - most + 1
        shown = [*shown[: most - 1], f"{others} others"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)

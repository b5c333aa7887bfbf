"""Phrases of names, numbers, quantities with units and ratios, and text that is safe in spreadsheets."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

STEPS = {
    "seconds": ((1, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns")),
    "bytes": ((1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1, "B")),
}
"""Sizes and names of units, from the largest to the smallest; with the prefixes of the SI."""

# Digits behind the point by the smallest ratio that has them: three digits in all, or more.
_DECIMALS = ((99.95, 0), (9.995, 1), (0.1, 2))


def quantity(value: float, unit: str) -> str:
    """Return a value with three digits and a unit of handy size, e.g. "1.25 ms" or "43 MB".

    Values of other units than seconds and bytes are counts or ratios, and come without a unit.
    """
    steps = STEPS.get(unit, ((1, ""),))
    if value == 0:
        # The smallest unit would be odd: "0 ns".
        return f"0 {dict(steps)[1]}".strip()
    # 999.5 and more is rounded to the next unit's 1.
    fitting = [step for step in steps if abs(value) >= 0.9995 * step[0]]
    size, name = (fitting or steps[-1:])[0]
    return f"{float(f'{value / size:.3g}'):g} {name}".strip()


def signed(value: float, unit: str) -> str:
    """Return a difference with its sign, e.g. "+1.2 ms"."""
    return ("+" if value > 0 else "") + quantity(value, unit)


def format_ratio(value: float) -> str:
    """Return a ratio with three digits, or all before the point, e.g. "1.04", "12.3" or "1,234"."""
    decimals = next((digits for smallest, digits in _DECIMALS if value >= smallest), None)
    return f"{value:.3g}" if decimals is None else f"{value:,.{decimals}f}"


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
    """Return names as a phrase, e.g. "A, B and C"; "A, b; C and D" where a name contains a comma.

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
    comma = "; " if any(", " in each for each in shown) else ", "
    return " and ".join([comma.join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)


# As in `ulimit`, systemd and Docker: powers of 1,024.
_UNITS = {"K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


def size_of(text: str) -> int | None:
    """Return the bytes of a size such as "4G" (2**30 each), "512M" or "1000"; None if it is none."""
    plain = text.strip().upper().removesuffix("B")
    number = plain.rstrip("KMGT")
    if not number.isdecimal() or len(plain) > len(number) + 1:
        return None
    return int(number) * _UNITS.get(plain[len(number) :], 1)


def size_text(size_bytes: int) -> str:
    """Return a size as `size_of` takes it, in the largest unit that divides it."""
    for unit, factor in reversed(_UNITS.items()):
        if size_bytes and not size_bytes % factor:
            return f"{size_bytes // factor}{unit}"
    return str(size_bytes)


_MINUTE, _HOUR = 60, 3600

_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s?)?")


def seconds_of(text: str) -> float:
    """Return the seconds of a duration such as "90s", "10m" or "1h30m"; NaN if it is none."""
    found = _DURATION.fullmatch(text.strip().lower())
    if not found or not any(found.groups()):
        return math.nan
    hours, minutes, seconds = (int(each or 0) for each in found.groups())
    return float(_HOUR * hours + _MINUTE * minutes + seconds)


def duration(seconds: float) -> str:
    """Return a duration in one unit or two, as in "40 s", "3 min" or "1 h 20 min"."""
    if seconds < 1.5 * _MINUTE:
        return f"{seconds:.0f} s"
    if seconds < _HOUR - _MINUTE / 2:
        return f"{seconds / _MINUTE:.0f} min"
    hours, minutes = divmod(round(seconds / _MINUTE), 60)
    return f"{hours} h {minutes} min"

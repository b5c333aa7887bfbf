"""Text of records as it is shown: whatever a label or a sentence holds, it stays text.

Labels and sentences come from formats, libraries and files, so nothing is trusted to be printable.
"""

from __future__ import annotations

from collections.abc import Sequence

from format_bench.display.units import human

_FORMULA = tuple("=+-@\t\r\n\uff1d\uff0b\uff0d\uff20")
"""What makes a spreadsheet take text for a formula, also in full width; after OWASP, "CSV Injection"."""


def guarded(text: str) -> str:
    """Return text that no spreadsheet takes for a formula: an apostrophe before what could be one."""
    return f"'{text}" if text.startswith(_FORMULA) else text


def quantity(value: float, unit: str) -> str:
    """Return a value with three digits and its unit, as `human` does, also ratios and negative ones."""
    if unit == "ratio":
        return f"{float(f'{value:.3g}'):g}"
    # Of all its units, no time would have the smallest.
    return (
        "0 s"
        if value == 0 and unit == "seconds"
        else ("-" if value < 0 else "") + human(abs(value), unit)
    )


def signed(value: float, unit: str) -> str:
    """Return a difference, as in "+1.2 ms"."""
    return ("+" if value > 0 else "") + quantity(value, unit)


def times(ratio: float) -> str:
    """Return a ratio with the digits that can be read at a glance, as in "1.04", "12.3" or "1,310"."""
    if ratio >= 99.95:  # noqa: PLR2004 (three digits)
        return f"{float(f'{ratio:.3g}'):,.0f}"
    return f"{ratio:.1f}" if ratio >= 9.995 else f"{ratio:.2f}"  # noqa: PLR2004 (three digits)


def many(number: int, what: str) -> str:
    """Return a number of things, as in "1 row" or "20,000 rows"."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def joined(names: Sequence[object], most: int = 4) -> str:
    """Return names as a phrase, as in "A, B and C"; of many the first ones, and how many others."""
    shown = [str(name) for name in names]
    if len(shown) > most:
        others = len(shown) - most + 1
        shown = [*shown[: most - 1], f"{others} others"]
    return " and ".join([", ".join(shown[:-1]), shown[-1]] if len(shown) > 1 else shown)

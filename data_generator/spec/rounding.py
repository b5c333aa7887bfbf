"""Rounding of statistics to the few digits that readers and generators of a table need."""

from __future__ import annotations

NEAR_ONE = 0.9


def significant(value: float, digits: int = 3) -> float:
    """Return a number rounded to a number of significant digits."""
    return float(f"{value:.{digits}g}")


def share(value: float) -> float:
    """Return a share rounded to three significant digits of its distance to 0 or 1: 0.9996 is not 1."""
    return significant(value) if value < NEAR_ONE else round(1 - significant(1 - value), 12)

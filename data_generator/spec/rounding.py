"""Numbers for people, and no more exact than a statistic needs to be."""

from __future__ import annotations


def significant(value: float, digits: int = 3) -> float:
    """Return a number rounded to so many significant digits."""
    return float(f"{value:.{digits}g}")


NEAR_ONE = 0.9


def share(value: float) -> float:
    """Return a share with three significant digits from either end, so that 0.9996 is not 1."""
    return significant(value) if value < NEAR_ONE else round(1 - significant(1 - value), 12)

"""What a machine does to all formats alike: a month in which everything is slower is no format's doing.

The row effects of a two-way table, as J. W. Tukey polishes it by medians (Exploratory Data Analysis,
1977): a format that changes, or a minority of them, does not move them.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from format_bench.changes.operations import Kind

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from format_bench.changes.cell_series import CellSeries

FEWEST_FORMATS = 6
"""Of fewer, a change of one or two would be taken for the machine's."""

Mood = tuple[str, str]
"""What has a mood of its own: a module of suites, and an operation, whose cells are measured in turn."""


def moods(series: Sequence[CellSeries]) -> dict[Mood, NDArray[np.float64]]:
    """Return the logarithm of what all formats have in common at each point, shape (points,).

    Of times alone: memory and size are not the machine's.
    """
    members: dict[Mood, list[CellSeries]] = {}
    for each in series:
        if each.group.operation.kind is Kind.TIME:
            members.setdefault(mood_of(each), []).append(each)
    return {
        mood: _common(np.array([each.levels for each in found]))
        for mood, found in members.items()
        if len({each.group.format for each in found}) >= FEWEST_FORMATS
    }


def mood_of(series: CellSeries) -> Mood:
    """Return which mood a series shares."""
    return series.group.module, series.group.operation.name


def _common(levels: NDArray[np.float64]) -> NDArray[np.float64]:
    with warnings.catch_warnings():
        # A cell, or a month, may have no value at all.
        warnings.filterwarnings("ignore", "All-NaN slice encountered", RuntimeWarning)
        usual = np.nanmedian(levels, axis=1, keepdims=True)
        return np.nan_to_num(np.nanmedian(levels - usual, axis=0))

"""Changes as sentences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adapter_core.text import printable
from format_bench.changes.change import Sort
from format_bench.display.text import joined, many, quantity, times

if TYPE_CHECKING:
    from format_bench.changes.change import Change
    from format_bench.library_sets import Step


MOST_STEPS = 4
"""Libraries that a sentence names; tables have all."""


def sentence(change: Change) -> str:
    """Return a change on one line, without a full stop.

    As in "Parquet read 1.31 times slower since 2026-03 (pyarrow 22.0.0 -> 23.0.0), on 5 of 5 data sets".
    """
    text = f"{_what(change)} {_when(change)} ({libraries(change)}), {_where(change)}"
    if change.sort is Sort.LOST:
        text += f": {change.reason}"
    if change.sort is Sort.GAINED:
        text += f"; before: {change.verb}, {change.reason}"
    return printable(text)


def _what(change: Change) -> str:
    if change.sort is Sort.LOST:
        return f"{change.subject} {change.verb}"
    if change.sort is Sort.GAINED:
        return f"{change.subject} has values"
    if change.counted or change.factor is None:
        ends = {
            tuple(quantity(end or 0, cell.unit) for end in (cell.before, cell.after))
            for cell in change.cells
        }
        if len(ends) == 1:
            return f"{change.subject}: {' -> '.join(*ends)}"
        return f"{change.subject}: {change.verb}"
    return f"{change.subject} {times(change.factor)} times {change.verb}"


def _when(change: Change) -> str:
    if change.sort is Sort.DRIFT:
        return f"little by little from {change.before.name} to {change.since.name}"
    if change.sort is Sort.SUSPECTED:
        return f"in {change.since.name}, seen by one process so far"
    return f"since {change.since.name}"


def libraries(change: Change) -> str:
    """Return which versions differ, those of the libraries that the adapter declares first."""
    before, since = change.before, change.since
    if not before.libraries or not since.libraries:
        said = "versions not known"
    elif change.own_steps:
        others = len(change.other_steps)
        noun = "library" if others == 1 else "libraries"
        said = _listed(change.own_steps) + (f"; {others} other {noun} changed, too" if others else "")
    elif change.other_steps:
        said = f"none of its own libraries changed; of others: {_listed(change.other_steps)}"
    else:
        said = "no library changed"
    if before.system != since.system:
        said += f"; the system changed, too: {before.system} -> {since.system}"
    return said


def _listed(steps: Sequence[Step]) -> str:
    return joined(steps, most=MOST_STEPS)


def _where(change: Change) -> str:
    if change.sort in (Sort.LOST, Sort.GAINED):
        return f"in {many(len(change.cells), 'cell')} on {joined(change.datasets)}"
    changed, of = change.changed_datasets, len(change.datasets)
    named = "" if len(changed) == of else f" ({joined(changed)})"
    return f"on {len(changed)} of {many(of, 'data set')}{named}"

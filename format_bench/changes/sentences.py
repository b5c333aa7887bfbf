"""Changes as sentences of one line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adapter_core.text import printable
from format_bench.changes.change import ChangeKind, FormatChange
from format_bench.results.display.text import format_ratio, joined, plural, quantity

if TYPE_CHECKING:
    from format_bench.library_sets import VersionChange

# Libraries that a sentence names; tables have all.
MOST_STEPS = 4


def sentence(change: FormatChange) -> str:
    """Return a change as a sentence without a full stop.

    E.g. "Parquet read 1.31 times slower since 2026-03 (pyarrow 22.0.0 -> 23.0.0), on 5 of 5 data sets".
    """
    text = f"{_event(change)} {_period(change)} ({libraries(change)}), {_extent(change)}"
    if change.kind is ChangeKind.LOST:
        text += f": {change.reason}"
    if change.kind is ChangeKind.GAINED:
        text += f"; before: {change.verb}, {change.reason}"
    return printable(text)


def _event(change: FormatChange) -> str:
    if change.kind is ChangeKind.LOST:
        return f"{change.subject} {change.verb}"
    if change.kind is ChangeKind.GAINED:
        return f"{change.subject} has values"
    if change.has_counts or change.factor is None:
        ends = {
            tuple(quantity(end or 0, cell.unit) for end in (cell.before, cell.after))
            for cell in change.cells
        }
        # Cells of several data sets often agree, e.g. all lose the same column.
        if len(ends) == 1:
            return f"{change.subject}: {' -> '.join(*ends)}"
        return f"{change.subject}: {change.verb}"
    return f"{change.subject} {format_ratio(change.factor)} times {change.verb}"


def _period(change: FormatChange) -> str:
    if change.kind is ChangeKind.DRIFT:
        return f"little by little from {change.before.name} to {change.since.name}"
    if change.kind is ChangeKind.SUSPECTED:
        return f"in {change.since.name}, seen by one process so far"
    return f"since {change.since.name}"


def libraries(change: FormatChange) -> str:
    """Return the versions that differ, first of the libraries that the adapter declares."""
    before, since = change.before, change.since
    if not before.libraries or not since.libraries:
        text = "versions not known"
    elif change.own_steps:
        others = len(change.other_steps)
        noun = "library" if others == 1 else "libraries"
        text = _listed(change.own_steps) + (f"; {others} other {noun} changed, too" if others else "")
    elif change.other_steps:
        text = f"none of its own libraries changed; of others: {_listed(change.other_steps)}"
    else:
        text = "no library changed"
    if before.system != since.system:
        text += f"; the system changed, too: {before.system} -> {since.system}"
    return text


def _listed(steps: Sequence[VersionChange]) -> str:
    return joined(steps, most=MOST_STEPS)


def _extent(change: FormatChange) -> str:
    if change.kind in (ChangeKind.LOST, ChangeKind.GAINED):
        return f"in {plural(len(change.cells), 'cell')} on {joined(change.datasets)}"
    changed, compared = change.changed_datasets, len(change.datasets)
    names = "" if len(changed) == compared else f" ({joined(changed)})"
    return f"on {len(changed)} of {plural(compared, 'data set')}{names}"

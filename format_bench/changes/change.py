"""A change, as pages, feeds, programs and sentences of one line show it."""

from __future__ import annotations

import math
import uuid
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from adapter_core.text import printable
from format_bench.changes.history import HistoryLine, Point
from format_bench.library_sets import VersionChange
from format_bench.results.display.text import format_ratio, joined, plural, quantity
from format_bench.results.suites import qualified

# UUID namespace of change ids; independent of the site's URL.
NAMESPACE = uuid.UUID("5b7f6f0c-6f3e-5a0c-9d55-2f1f1b3c9a10")

# Units of counts, as opposed to measured quantities.
COUNTS = ("columns", "fields", "files", "images", "properties")


class ChangeKind(StrEnum):
    """Kinds of change; the values are part of the exported JSON."""

    STEP = "step"
    """The level changed from one point to the next."""
    DRIFT = "drift"
    """The level moved little by little."""
    SUSPECTED = "suspected"
    """A single process has seen a step at the newest point; the next run will decide."""
    LOST = "lost"
    """Cells lost their values."""
    GAINED = "gained"
    """Cells without values gained them."""


@dataclass(frozen=True)
class CellChange:
    """State of one cell before and after a change."""

    name: str
    """Data set and variant, e.g. "eq, cold"."""
    dataset: str
    unit: str
    before: float | None
    """Median of the state before, in `unit`; None if it was missing."""
    after: float | None
    """Median of the state after, in `unit`; None if it is missing."""
    ratio_interval: tuple[float, float] | None
    """Interval of after / before, from the intervals of both medians."""


@dataclass(frozen=True)
class FormatChange:
    """Change of an operation of one format between two points of a line."""

    kind: ChangeKind
    line: HistoryLine
    module: str
    """Module of the suite, e.g. "tabular"."""
    format: str
    operation: str
    """E.g. "read"; empty for losses and gains of values of several operations."""
    verb: str
    """Direction, e.g. "slower" or "larger"; the status of lost or gained values."""
    ratio: float | None
    """After / before, divided by `common_ratio`; None where one of them is 0 or missing."""
    before: Point
    """The last point with the state before; of a drift, the first of all."""
    since: Point
    """The first point that shows the change; of a drift, the newest."""
    cells: list[CellChange]
    """Cells that changed."""
    datasets: list[str]
    """All data sets with values before and after, changed or not."""
    own_steps: list[VersionChange]
    """Version steps between both points, of libraries that the adapter declares."""
    other_steps: list[VersionChange]
    """Version steps of all other libraries."""
    reason: str = ""
    """Reason why values were lost, or were missing before."""
    common_ratio: float = 1.0
    """After / before of all formats of the suite, of times where it is more than noise; else 1."""

    @cached_property
    def changed_datasets(self) -> list[str]:
        """Data sets of the cells that changed, in their order."""
        return list(dict.fromkeys(cell.dataset for cell in self.cells))

    @property
    def is_improvement(self) -> bool:
        """True if values were gained, or became smaller."""
        return self.kind is ChangeKind.GAINED or (self.ratio is not None and self.ratio < 1)

    @property
    def has_counts(self) -> bool:
        """True if the values are counts, whose ratio means little."""
        return any(cell.unit in COUNTS for cell in self.cells)

    @property
    def subject(self) -> str:
        """The format, the suite unless it measures plain tables, and the operation."""
        return f"{qualified(self.format, self.module)} {self.operation}".strip()

    @property
    def factor(self) -> float | None:
        """Size of the change as a factor of at least 1."""
        return math.exp(abs(math.log(self.ratio))) if self.ratio else None

    @property
    def identity(self) -> str:
        """URN that stays the same when later runs are added."""
        # A drift goes on, so its end moves; its beginning does not.
        commit = (self.before if self.kind is ChangeKind.DRIFT else self.since).run.commit
        line = (self.line.machine, self.line.environment)
        # The effect is not part of it: each month estimates that anew.
        name = "/".join((*line, commit, self.module, self.format, self.operation, self.verb))
        return uuid.uuid5(NAMESPACE, name).urn


# Libraries that a sentence names; tables have all.
# A renewed set may raise dozens of libraries, and the sentence is also the title of a feed's entry.
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
    event = f"{change.subject} {format_ratio(change.factor)} times {change.verb}"
    if change.common_ratio == 1:
        return event
    verb = "slower" if change.common_ratio > 1 else "faster"
    factor = format_ratio(max(change.common_ratio, 1 / change.common_ratio))
    return f"{event} beside all formats, which are {factor} times {verb},"


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

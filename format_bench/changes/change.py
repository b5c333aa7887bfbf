"""One change, as pages, feeds and programs tell it."""

from __future__ import annotations

import math
import uuid
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import TYPE_CHECKING

from format_bench.changes.series import SUITES

if TYPE_CHECKING:
    from format_bench.changes.history import Line, Point
    from format_bench.library_sets import Step

NAMESPACE = uuid.UUID("5b7f6f0c-6f3e-5a0c-9d55-2f1f1b3c9a10")
"""Of the names of changes, so that they are the same wherever a site stands."""


COUNTS = ("columns", "files", "images")
"""Units of what is counted."""


class Sort(StrEnum):
    """What kind of change it is."""

    STEP = "step"
    """The level changed from one point to the next."""
    DRIFT = "drift"
    """The level moved little by little."""
    SUSPECTED = "suspected"
    """A single process has seen a step at the newest point; the next run will tell."""
    LOST = "lost"
    """Cells that had values have none."""
    GAINED = "gained"
    """Cells that had none have values."""


@dataclass(frozen=True)
class CellChange:
    """What one cell was before and is after."""

    name: str
    """Data set and variant, as in "eq, cold"."""
    dataset: str
    unit: str
    before: float | None
    """Median of the state before, in `unit`; None if there was no value."""
    after: float | None
    ratio_interval: tuple[float, float] | None
    """Where after / before lies, by the intervals of both medians."""


@dataclass(frozen=True)
class Change:
    """Something that changed for one format."""

    sort: Sort
    line: Line
    module: str
    """The module of suites, as in "tabular"."""
    format: str
    operation: str
    """As in "read"; empty for losses and gains of values, which are of all operations."""
    verb: str
    """What has become of it, as in "slower" or "larger"."""
    ratio: float | None
    """After / before; None where one of them is 0 or no value."""
    before: Point
    """The last point with the state before; of a drift, the first of all."""
    since: Point
    """The first point that shows the change; of a drift, the newest."""
    cells: list[CellChange]
    """Those that changed."""
    datasets: list[str]
    """All that have values before and after, whether they changed or not."""
    own_steps: list[Step]
    """The libraries that the adapter declares whose versions differ between both points."""
    other_steps: list[Step]
    """All other libraries whose versions differ."""
    reason: str = ""
    """Why there are no values any more."""

    @cached_property
    def changed_datasets(self) -> list[str]:
        """The data sets of the cells that changed, in their order."""
        return list(dict.fromkeys(cell.dataset for cell in self.cells))

    @property
    def better(self) -> bool:
        """Whether users will like it."""
        return self.sort is Sort.GAINED or (self.ratio is not None and self.ratio < 1)

    @property
    def counted(self) -> bool:
        """Whether the values are counts, of which a ratio says little."""
        return any(cell.unit in COUNTS for cell in self.cells)

    @property
    def subject(self) -> str:
        """The format, the suite where it is not that of plain tables, and the operation."""
        suite = f" ({SUITES[self.module]})" if self.module in SUITES else ""
        return f"{self.format}{suite} {self.operation}".strip()

    @property
    def factor(self) -> float | None:
        """By how many times, at least 1."""
        return math.exp(abs(math.log(self.ratio))) if self.ratio else None

    @property
    def identity(self) -> str:
        """A name that stays the same when later runs are added, as a URN."""
        # A drift goes on, so its end moves.
        commit = (self.before if self.sort is Sort.DRIFT else self.since).run.commit
        line = (self.line.machine, self.line.environment)
        named = "/".join((*line, commit, self.module, self.format, self.operation, self.verb))
        return uuid.uuid5(NAMESPACE, named).urn

"""What there is to say of values, other than losses: how often measured, by which method."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.display.text import many
from format_bench.report.losses import COUNTED

if TYPE_CHECKING:
    from format_bench.report.groups import Family


_SHOWN = 3
"""How many cells are named of those with the same remark; the others are in the CSV."""


@dataclass(frozen=True)
class Remark:
    """A sentence, and what it is said of."""

    sentence: str
    cells: list[str]
    """Their names, as in "CSV, save time (eq)"."""

    @property
    def places(self) -> str:
        """The first cells, and how many others."""
        others = len(self.cells) - _SHOWN
        more = [many(others, "other")] if others > 0 else []
        return "; ".join([*self.cells[:_SHOWN], *more])


def remarks(family: Family) -> list[Remark]:
    """Return the remarks of a family, each sentence once, in the order of the groups."""
    said: dict[str, list[str]] = {}
    for group in family.groups:
        for (entry, measure), cell in group.cells.items():
            if cell.value is not None and cell.sentence and measure not in COUNTED:
                said.setdefault(cell.sentence, []).append(f"{entry}, {measure} ({group.name})")
    return [Remark(sentence, cells) for sentence, cells in said.items()]

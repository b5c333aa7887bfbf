"""The values of one measure, as a chart of bars shows them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.display.text import quantity
from format_bench.report.marks import WORDS

if TYPE_CHECKING:
    from format_bench.report.cells import Cell, Entry


@dataclass(frozen=True)
class Series:
    """The bars of one measure."""

    cells: dict[Entry, Cell]
    """Of each row that has one."""
    marks: dict[Entry, str]
    """As `marks_of` returns them."""
    role: str = "bar"
    """"bar", or "cold" for outlines."""
    show: Callable[[float, str], str] = quantity
    """Returns a value as text, given its unit."""

    def text(self, entry: Entry) -> str:
        """Return what stands at the end of a bar, or in its place."""
        cell = self.cells.get(entry)
        if cell is None or cell.value is None:
            return cell.status if cell else ""
        return f"{self.show(cell.value, cell.unit)} {WORDS[self.marks.get(entry, '')]}".strip()

"""What came back otherwise than it was saved."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.report.cells import Measure
from format_bench.results.status import WRONG

if TYPE_CHECKING:
    from format_bench.report.cells import Entry
    from format_bench.report.groups import Family, Group

COUNTED = (Measure("lost columns"), Measure("changed images"))
"""The measures that count losses; of what has none of them, nothing is known."""


@dataclass(frozen=True)
class Loss:
    """What an entry lost, in groups where it lost the same."""

    entry: Entry
    groups: list[str]
    """Their names."""
    words: str


def losses(family: Family) -> list[Loss]:
    """Return what was lost though every value is right, by entry."""
    found: dict[tuple[Entry, str], list[str]] = {}
    for group in family.groups:
        for measure in COUNTED:
            for entry, value in group.values(measure).items():
                if value:
                    cell = group.cell(entry, measure)
                    words = _summary(cell.sentence) or f"{value:g} {cell.unit}"
                    found.setdefault((entry, words), []).append(group.name)
    in_order = sorted(found.items(), key=lambda item: item[0][0].place)
    return [Loss(entry, groups, words) for (entry, words), groups in in_order]


def _summary(sentence: str) -> str:
    """Return kinds of loss, each with its number of columns, for a list of losses of columns."""
    kinds: Counter[str] = Counter()
    for loss in filter(None, sentence.split("; ")):
        _, colon, kind = loss.partition(": ")
        kinds[kind if loss.startswith("column ") and colon else loss] += 1
    return "; ".join(kind if n == 1 else f"{kind} (in {n} columns)" for kind, n in kinds.items())


def in_short(family: Family) -> str:
    """Return what there is to say where no loss is."""
    if exact(family):
        return "What came back was compared with what was saved; nothing was lost."
    return "The results do not say whether anything was lost."


def exact(family: Family) -> list[Entry]:
    """Return the entries that were looked at and of which nothing was lost, in no group."""
    return [entry for entry in family.entries if _looked_at(entry, family) == {0}]


def lossy(family: Family) -> list[Entry]:
    """Return the entries that lost something."""
    return [entry for entry in family.entries if _looked_at(entry, family) - {0}]


def _looked_at(entry: Entry, family: Family) -> set[float]:
    counts = (group.cell(entry, measure).value for group in family.groups for measure in COUNTED)
    return {count for count in counts if count is not None}


def wrong(family: Family) -> dict[Entry, list[str]]:
    """Return the names of the groups in which entries gave back wrong values, by entry."""
    found = {entry: [g.name for g in family.groups if _is_wrong(g, entry)] for entry in family.entries}
    return {entry: names for entry, names in found.items() if names}


def _is_wrong(group: Group, entry: Entry) -> bool:
    cells = (group.cell(entry, measure) for measure in group.measures)
    return any(cell.value is None and cell.sentence.startswith(WRONG.strip()) for cell in cells)

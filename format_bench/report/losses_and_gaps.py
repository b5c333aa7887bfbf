"""What came back otherwise than it was saved.

What has no value, and why: cells of the same kind together.

What there is to say of values, other than losses: how often measured, by which method.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.display.text import many
from format_bench.results.metrics import Measure
from format_bench.results.status import WRONG

if TYPE_CHECKING:
    from format_bench.report.model import SuiteResults
    from format_bench.results.candidates import Configuration
    from format_bench.results.groups import ComparisonGroup


COUNTED = (Measure("lost columns"), Measure("changed images"))
"""The measures that count losses; of what has none of them, nothing is known."""


@dataclass(frozen=True)
class Loss:
    """What an entry lost, in groups where it lost the same."""

    entry: Configuration
    groups: list[str]
    """Their names."""
    words: str


def losses(family: SuiteResults) -> list[Loss]:
    """Return what was lost though every value is right, by entry."""
    found: dict[tuple[Configuration, str], list[str]] = {}
    for group in family.groups:
        for measure in COUNTED:
            for entry, value in group.values(measure).items():
                if value:
                    cell = group.cell(entry, measure)
                    words = _summary(cell.sentence) or f"{value:g} {cell.unit}"
                    found.setdefault((entry, words), []).append(group.name)
    in_order = sorted(found.items(), key=lambda item: item[0][0].sort_key)
    return [Loss(entry, groups, words) for (entry, words), groups in in_order]


def _summary(sentence: str) -> str:
    """Return kinds of loss, each with its number of columns, for a list of losses of columns."""
    kinds: Counter[str] = Counter()
    for loss in filter(None, sentence.split("; ")):
        _, colon, kind = loss.partition(": ")
        kinds[kind if loss.startswith("column ") and colon else loss] += 1
    return "; ".join(kind if n == 1 else f"{kind} (in {n} columns)" for kind, n in kinds.items())


def in_short(family: SuiteResults) -> str:
    """Return what there is to say where no loss is."""
    if exact(family):
        return "What came back was compared with what was saved; nothing was lost."
    return "The results do not say whether anything was lost."


def exact(family: SuiteResults) -> list[Configuration]:
    """Return the entries that were looked at and of which nothing was lost, in no group."""
    return [entry for entry in family.configurations if _looked_at(entry, family) == {0}]


def lossy(family: SuiteResults) -> list[Configuration]:
    """Return the entries that lost something."""
    return [entry for entry in family.configurations if _looked_at(entry, family) - {0}]


def _looked_at(entry: Configuration, family: SuiteResults) -> set[float]:
    counts = (group.cell(entry, measure).value for group in family.groups for measure in COUNTED)
    return {count for count in counts if count is not None}


def wrong(family: SuiteResults) -> dict[Configuration, list[str]]:
    """Return the names of the groups in which entries gave back wrong values, by entry."""
    found = {
        entry: [g.name for g in family.groups if _is_wrong(g, entry)] for entry in family.configurations
    }
    return {entry: names for entry, names in found.items() if names}


def _is_wrong(group: ComparisonGroup, entry: Configuration) -> bool:
    cells = (group.cell(entry, measure) for measure in group.measures)
    return any(cell.value is None and cell.sentence.startswith(WRONG.strip()) for cell in cells)


@dataclass(frozen=True)
class Gap:
    """Cells of one entry that have no value for the same reason."""

    entry: Configuration
    groups: list[str]
    """Their names."""
    measures: list[Measure]
    """Those without a value in each of the groups."""
    everything: bool
    """Whether these are all measures of the groups."""
    status: str
    sentence: str

    @property
    def cells(self) -> int:
        """How many cells they are."""
        return len(self.groups) * len(self.measures)

    @property
    def what(self) -> str:
        """The measures in words."""
        return "everything" if self.everything else "; ".join(map(str, self.measures))


def gaps(family: SuiteResults) -> list[Gap]:
    """Return the gaps of a family, by entry; also what the results hold no record of."""
    found: dict[tuple[Configuration, str, str, tuple[Measure, ...], bool], list[str]] = {}
    for group in family.groups:
        for key in _of_group(group, family.configurations):
            found.setdefault(key, []).append(group.name)
    in_order = sorted(found.items(), key=lambda item: item[0][0].sort_key)
    return [
        Gap(entry, groups, list(measures), everything, status, sentence)
        for (entry, status, sentence, measures, everything), groups in in_order
    ]


def _of_group(
    group: ComparisonGroup, entries: list[Configuration]
) -> Iterator[tuple[Configuration, str, str, tuple[Measure, ...], bool]]:
    for entry in entries:
        reasons: dict[tuple[str, str], list[Measure]] = {}
        for measure in group.measures:
            cell = group.cell(entry, measure)
            if cell.value is None:
                reasons.setdefault((cell.status, cell.sentence), []).append(measure)
        for (status, sentence), measures in reasons.items():
            yield entry, status, sentence, tuple(measures), measures == group.measures


def total(family: SuiteResults) -> int:
    """Return how many cells a family has, with and without values."""
    return sum(len(family.configurations) * len(group.measures) for group in family.groups)


def not_run(group: ComparisonGroup, family: SuiteResults) -> list[Configuration]:
    """Return the entries of which a group has no record at all."""
    return [entry for entry in family.configurations if entry not in set(group.configurations)]


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


def remarks(family: SuiteResults) -> list[Remark]:
    """Return the remarks of a family, each sentence once, in the order of the groups."""
    said: dict[str, list[str]] = {}
    for group in family.groups:
        for (entry, measure), cell in group.cells.items():
            if cell.value is not None and cell.sentence and measure not in COUNTED:
                said.setdefault(cell.sentence, []).append(f"{entry}, {measure} ({group.name})")
    return [Remark(sentence, cells) for sentence, cells in said.items()]

"""What has no value, and why: cells of the same kind together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from format_bench.report.cells import Entry, Measure
    from format_bench.report.groups import Family, Group


@dataclass(frozen=True)
class Gap:
    """Cells of one entry that have no value for the same reason."""

    entry: Entry
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


def gaps(family: Family) -> list[Gap]:
    """Return the gaps of a family, by entry; also what the results hold no record of."""
    found: dict[tuple[Entry, str, str, tuple[Measure, ...], bool], list[str]] = {}
    for group in family.groups:
        for key in _of_group(group, family.entries):
            found.setdefault(key, []).append(group.name)
    in_order = sorted(found.items(), key=lambda item: item[0][0].place)
    return [
        Gap(entry, groups, list(measures), everything, status, sentence)
        for (entry, status, sentence, measures, everything), groups in in_order
    ]


def _of_group(
    group: Group, entries: list[Entry]
) -> Iterator[tuple[Entry, str, str, tuple[Measure, ...], bool]]:
    for entry in entries:
        reasons: dict[tuple[str, str], list[Measure]] = {}
        for measure in group.measures:
            cell = group.cell(entry, measure)
            if cell.value is None:
                reasons.setdefault((cell.status, cell.sentence), []).append(measure)
        for (status, sentence), measures in reasons.items():
            yield entry, status, sentence, tuple(measures), measures == group.measures


def total(family: Family) -> int:
    """Return how many cells a family has, with and without values."""
    return sum(len(family.entries) * len(group.measures) for group in family.groups)


def not_run(group: Group, family: Family) -> list[Entry]:
    """Return the entries of which a group has no record at all."""
    return [entry for entry in family.entries if entry not in set(group.entries)]

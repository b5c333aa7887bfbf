"""Who is ahead in a measure, in a sentence computed from the cells."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.display.marks import BEST, TIE
from format_bench.display.text import joined, quantity, times
from format_bench.report.marks import marks_of
from format_bench.report.ratios import mean_ratios

if TYPE_CHECKING:
    from format_bench.report.cells import Entry, Measure
    from format_bench.report.groups import Family, Group
    from format_bench.results.noise_floor import Floors

_LONGER, _MORE, _LARGER = "takes {} times as long", "needs {} times as much", "is {} times as large"
SUBJECTS = {
    "read time": ("Fastest to read", _LONGER),
    "random read time per image": ("Fastest to read one image at random", _LONGER),
    "batch read time per image": ("Fastest to read a batch at random", _LONGER),
    "save time": ("Fastest to save", _LONGER),
    "size": ("Smallest", _LARGER),
    "save memory": ("Least memory growth in a save", _MORE),
    "read memory": ("Least memory growth in a read", _MORE),
}
"""How a sentence on a metric begins, and how it says how far behind the last is."""


@dataclass(frozen=True)
class Contest:
    """The groups in which a measure tells at least two entries apart."""

    measure: Measure
    groups: list[Group]
    marks: list[dict[Entry, str]]
    """Of each group."""

    @property
    def leader(self) -> Entry:
        """Who is the best most often; of equals who ties more often."""
        best, tied = (Counter(self._marked(mark, self.marks)) for mark in (BEST, TIE))
        return min(best, key=lambda entry: (-best[entry], -tied[entry], entry.place))

    def share(self, leader: Entry) -> str:
        """Return in how many of the groups somebody is the best, in words."""
        number, count = sum(each.get(leader) == BEST for each in self.marks), len(self.groups)
        distinct = len({group.dataset for group in self.groups}) == count
        things = "data sets" if distinct else "comparisons"
        if number == count:
            return f"both {things}" if count == 2 else f"all {count} {things}"  # noqa: PLR2004 (both are two)
        return f"{number} of {count} {things}"

    def ties(self, leader: Entry) -> dict[Entry, int]:
        """Return who cannot be told from the leader, and in how many groups."""
        led = [{**each, leader: ""} for each in self.marks if each.get(leader) == BEST]
        tied = [each for each in self.marks if each.get(leader) == TIE]
        return Counter(self._marked(BEST, led) + self._marked(TIE, led) + self._marked(BEST, tied))

    def elsewhere(self, leader: Entry) -> dict[Entry, int]:
        """Return who is the best in how many of the groups where the leader is behind."""
        return Counter(self._marked(BEST, [each for each in self.marks if not each.get(leader)]))

    @staticmethod
    def _marked(mark: str, marks: list[dict[Entry, str]]) -> list[Entry]:
        return [entry for each in marks for entry, found in each.items() if found == mark]


def contest_of(family: Family, measure: Measure, floors: Floors | None) -> Contest | None:
    """Return the contest in a measure; None if nothing can be compared."""
    marked = [(group, marks_of(group, measure, floors)) for group in family.groups]
    told = [(group, marks) for group, marks in marked if BEST in marks.values()]
    groups, marks = [group for group, _ in told], [marks for _, marks in told]
    return Contest(measure, groups, marks) if told else None


def rest_of_sentence(contest: Contest) -> str:
    """Return where the leader is ahead, who ties with it, who leads elsewhere, and who is the last."""
    leader, count = contest.leader, len(contest.groups)
    elsewhere, ties = contest.elsewhere(leader), contest.ties(leader)
    where = f"on {contest.share(leader)}" if count > 1 else _value(contest, leader)
    parts = [f", {where}"]
    if ties:
        parts.append(f"ties with {_counted(ties, several=count > 1)}")
    if elsewhere:
        parts.append(f"elsewhere {_counted(elsewhere, several=True)}")
    return "; ".join([*parts, *_last(contest)])


def _value(contest: Contest, leader: Entry) -> str:
    cell = contest.groups[0].cell(leader, contest.measure)
    return quantity(cell.value or 0, cell.unit)


def _counted(numbers: dict[Entry, int], *, several: bool) -> str:
    ordered = sorted(numbers, key=lambda entry: (-numbers[entry], entry.place))
    return joined([f"{entry} on {numbers[entry]}" if several else entry for entry in ordered])


def _last(contest: Contest) -> list[str]:
    """Return how far the last of all is behind the best, if that can be said."""
    ratios = mean_ratios(contest.groups, contest.measure)
    if not ratios:
        return []
    last = max(ratios, key=lambda entry: ratios[entry])
    verb = SUBJECTS[contest.measure.metric][1].format(times(ratios[last]))
    mean = " (geometric mean)" if len(contest.groups) > 1 else ""
    return [f"{last} {verb} as the best{mean}"]

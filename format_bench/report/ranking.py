"""Which value is the best of a comparison, and which cannot be told from it.

With the machine's noise floors, a tie is what is no further from the best than noise is. Without them,
it is what has an interval that overlaps with the best's: a weaker test, for with few samples intervals
are wide, and it says nothing where there is one sample, as of sizes.

How many times the best a value is, in one group and over several.

What nothing beats in two measures at once.

Who is ahead in a measure, in a sentence computed from the cells.

The verdict of a report, in plain sentences that are computed from its cells.
"""

from __future__ import annotations

import math
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.display.marks import BEST, TIE
from format_bench.display.text import joined, quantity, times
from format_bench.report import losses_and_gaps
from format_bench.report.losses_and_gaps import gaps, total
from format_bench.report.model import families
from format_bench.results.metrics import LEADERS, METRICS, Measure

if TYPE_CHECKING:
    from format_bench.report.model import SuiteResults
    from format_bench.results.candidates import Configuration
    from format_bench.results.groups import ComparisonGroup, ResultCell
    from format_bench.results.load import Results
    from format_bench.results.noise_floor import Floors


def marks_of(
    group: ComparisonGroup, measure: Measure, floors: Floors | None
) -> dict[Configuration, str]:
    """Return `BEST`, `TIE` or nothing for each value.

    Nothing is marked where no two values differ, or where they are ratios: these explain times, and
    are no aims.
    """
    values = group.values(measure)
    if METRICS[measure.metric].unit == "ratio" or len(set(values.values())) < 2:  # noqa: PLR2004 (a comparison needs two)
        return dict.fromkeys(values, "")
    best = min(values, key=lambda entry: values[entry])
    return {
        entry: BEST
        if value == values[best]
        else TIE
        if _ties(group.cell(entry, measure), group.cell(best, measure), measure, floors)
        else ""
        for entry, value in values.items()
    }


def _ties(cell: ResultCell, best: ResultCell, measure: Measure, floors: Floors | None) -> bool:
    if floors:
        bound = (best.value or 0) * (1 + floors.of(measure.metric))
        return cell.value is not None and cell.value <= bound
    return bool(cell.interval and best.interval and cell.interval[0] <= best.interval[1])


def legend(floors: Floors | None) -> str:
    """Return what the words mean."""
    text = "Smaller is better, always; the best of each comparison is marked."
    if floors:
        return f"{text} A tie is what is no further from the best than noise is here ({floors})."
    return (
        f"{text} A tie is what has an interval that overlaps with the best's: this machine's noise has"
        " not been measured, so a difference that is not a tie may be noise all the same."
    )


def ratios(group: ComparisonGroup, measure: Measure) -> dict[Configuration, float]:
    """Return each value by the smallest one; none if that is 0."""
    values = group.values(measure)
    best = min(values.values(), default=0)
    return {entry: value / best for entry, value in values.items()} if best > 0 else {}


def mean_ratios(groups: Iterable[ComparisonGroup], measure: Measure) -> dict[Configuration, float]:
    """Return the geometric means over groups, of the entries that have a ratio in each.

    Ratios call for the geometric mean: it does not depend on what they are relative to (Fleming and
    Wallace, "How not to lie with statistics", Communications of the ACM 29, 1986).
    """
    found = [each for group in groups if (each := ratios(group, measure))]
    everywhere = set.intersection(*map(set, found)) if found else set()
    return {
        entry: math.exp(statistics.fmean(math.log(each[entry]) for each in found))
        for entry in sorted(everywhere, key=lambda entry: entry.sort_key)
    }


Points = dict["Configuration", tuple[float, float]]


def front(points: Points) -> list[Configuration]:
    """Return the entries on the Pareto front, by the first measure.

    An entry is on it if no other is at most as large in both measures and smaller in one.

    Parameters
    ----------
    points : dict
        Of each entry two values, of which smaller is better.
    """
    ahead = [
        entry
        for entry, (x, y) in points.items()
        if not any(
            other_x <= x and other_y <= y and (other_x, other_y) != (x, y)
            for other_x, other_y in points.values()
        )
    ]
    return sorted(ahead, key=lambda entry: points[entry])


def points_of(group: ComparisonGroup, read: Measure) -> Points:
    """Return size and read time of the entries that have both."""
    sizes, times = group.values(Measure("size")), group.values(read)
    return {entry: (sizes[entry], times[entry]) for entry in sizes if entry in times}


@dataclass(frozen=True)
class Contest:
    """The groups in which a measure tells at least two entries apart."""

    measure: Measure
    groups: list[ComparisonGroup]
    marks: list[dict[Configuration, str]]
    """Of each group."""

    @property
    def leader(self) -> Configuration:
        """Who is the best most often; of equals who ties more often."""
        best, tied = (Counter(self._marked(mark, self.marks)) for mark in (BEST, TIE))
        return min(best, key=lambda entry: (-best[entry], -tied[entry], entry.sort_key))

    def share(self, leader: Configuration) -> str:
        """Return in how many of the groups somebody is the best, in words."""
        number, count = sum(each.get(leader) == BEST for each in self.marks), len(self.groups)
        distinct = len({group.dataset for group in self.groups}) == count
        things = "data sets" if distinct else "comparisons"
        if number == count:
            return f"both {things}" if count == 2 else f"all {count} {things}"  # noqa: PLR2004 (both are two)
        return f"{number} of {count} {things}"

    def ties(self, leader: Configuration) -> dict[Configuration, int]:
        """Return who cannot be told from the leader, and in how many groups."""
        led = [{**each, leader: ""} for each in self.marks if each.get(leader) == BEST]
        tied = [each for each in self.marks if each.get(leader) == TIE]
        return Counter(self._marked(BEST, led) + self._marked(TIE, led) + self._marked(BEST, tied))

    def elsewhere(self, leader: Configuration) -> dict[Configuration, int]:
        """Return who is the best in how many of the groups where the leader is behind."""
        return Counter(self._marked(BEST, [each for each in self.marks if not each.get(leader)]))

    @staticmethod
    def _marked(mark: str, marks: list[dict[Configuration, str]]) -> list[Configuration]:
        return [entry for each in marks for entry, found in each.items() if found == mark]


def contest_of(family: SuiteResults, measure: Measure, floors: Floors | None) -> Contest | None:
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


def _value(contest: Contest, leader: Configuration) -> str:
    cell = contest.groups[0].cell(leader, contest.measure)
    return quantity(cell.value or 0, cell.unit)


def _counted(numbers: dict[Configuration, int], *, several: bool) -> str:
    ordered = sorted(numbers, key=lambda entry: (-numbers[entry], entry.sort_key))
    return joined([f"{entry} on {numbers[entry]}" if several else entry for entry in ordered])


def _last(contest: Contest) -> list[str]:
    """Return how far the last of all is behind the best, if that can be said."""
    ratios = mean_ratios(contest.groups, contest.measure)
    if not ratios:
        return []
    last = max(ratios, key=lambda entry: ratios[entry])
    verb = METRICS[contest.measure.metric].comparison.format(times(ratios[last]))
    mean = " (geometric mean)" if len(contest.groups) > 1 else ""
    return [f"{last} {verb} as the best{mean}"]


@dataclass(frozen=True)
class Finding:
    """One sentence."""

    subject: str
    """What it is about, as in "Fastest to read, warm"."""
    lead: str
    """Who, or how many: the text that comes first."""
    rest: str = ""
    """What else there is to say, with the punctuation that it begins with."""

    def __str__(self) -> str:
        """Return the whole sentence."""
        return f"{self.subject}: {self.lead}{self.rest}."


def findings(results: Results) -> list[str]:
    """Return the verdict on all families, a sentence each; with several families, each says its own."""
    found = families(results)
    return [
        f"{f'{family.title}: ' if len(found) > 1 else ''}{each}"
        for family in found
        for each in findings_on(family, results.floors)
    ]


def findings_on(family: SuiteResults, floors: Floors | None) -> list[Finding]:
    """Return the verdict on a family: who is ahead, in what; what was lost; what has no value."""
    ahead = [*_ahead(family, floors), *_unbeaten(family)]
    if not ahead:
        ahead = [Finding("Nothing to rank", "no metric that is ranked has two values that differ")]
    return [*ahead, *_kept(family), *_empty(family)]


def _ahead(family: SuiteResults, floors: Floors | None) -> Iterator[Finding]:
    for metric, subject in ((each.name, each.leader) for each in LEADERS):
        for measure in family.measures:
            told = measure.metric == metric and (measure.cache != "cold" or metric == "read time")
            contest = contest_of(family, measure, floors) if told else None
            if contest:
                cache = f", {measure.cache}" if "time" in metric and measure.cache else ""
                yield Finding(subject + cache, str(contest.leader), rest_of_sentence(contest))


def _unbeaten(family: SuiteResults) -> Iterator[Finding]:
    reads = [each for each in family.measures if each.metric == "read time" and each.cache != "cold"]
    for read in reads:
        fronts = [front(points) for g in family.groups if len(points := points_of(g, read)) > 1]
        often = Counter(entry for each in fronts for entry in each)
        ordered = sorted(often, key=lambda entry: (-often[entry], entry.sort_key))
        names = [f"{entry} (on {often[entry]})" if len(fronts) > 1 else str(entry) for entry in ordered]
        if names:
            yield Finding(f"Not beaten in both size and {read}", joined(names, most=8))


def _kept(family: SuiteResults) -> Iterator[Finding]:
    wrong, lossy, exact = (
        losses_and_gaps.wrong(family),
        losses_and_gaps.lossy(family),
        losses_and_gaps.exact(family),
    )
    if wrong:
        names = [f"{entry} on {joined(groups)}" for entry, groups in wrong.items()]
        yield Finding("Came back with wrong values", joined(names), "; their cells there are empty")
    if lossy:
        rest = f"; {len(exact)} of {len(family.configurations)} gave everything back exactly"
        yield Finding("Lost something", joined(lossy, most=8), rest)
    elif exact:
        everyone = exact == family.configurations and len(exact) > 1
        yield Finding("Gave back exactly", f"all {len(exact)}" if everyone else joined(exact, most=8))


def _empty(family: SuiteResults) -> Iterator[Finding]:
    by_status: Counter[str] = Counter()
    for gap in gaps(family):
        by_status[gap.status] += gap.cells
    if by_status:
        kinds = ", ".join(f"{number} {status}" for status, number in by_status.items())
        yield Finding("Without a value", f"{by_status.total()} of {total(family)} cells", f": {kinds}")

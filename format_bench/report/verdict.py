"""The verdict of a report, in plain sentences that are computed from its cells."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.display.text import joined
from format_bench.report import losses
from format_bench.report.gaps import gaps, total
from format_bench.report.grouping import families
from format_bench.report.pareto import front, points_of
from format_bench.report.winners import SUBJECTS, contest_of, rest_of_sentence

if TYPE_CHECKING:
    from format_bench.report.groups import Family
    from format_bench.results.load import Results
    from format_bench.results.noise_floor import Floors


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


def findings_on(family: Family, floors: Floors | None) -> list[Finding]:
    """Return the verdict on a family: who is ahead, in what; what was lost; what has no value."""
    ahead = [*_ahead(family, floors), *_unbeaten(family)]
    if not ahead:
        ahead = [Finding("Nothing to rank", "no metric that is ranked has two values that differ")]
    return [*ahead, *_kept(family), *_empty(family)]


def _ahead(family: Family, floors: Floors | None) -> Iterator[Finding]:
    for metric, (subject, _) in SUBJECTS.items():
        for measure in family.measures:
            told = measure.metric == metric and (measure.cache != "cold" or metric == "read time")
            contest = contest_of(family, measure, floors) if told else None
            if contest:
                cache = f", {measure.cache}" if "time" in metric and measure.cache else ""
                yield Finding(subject + cache, str(contest.leader), rest_of_sentence(contest))


def _unbeaten(family: Family) -> Iterator[Finding]:
    reads = [each for each in family.measures if each.metric == "read time" and each.cache != "cold"]
    for read in reads:
        fronts = [front(points) for g in family.groups if len(points := points_of(g, read)) > 1]
        often = Counter(entry for each in fronts for entry in each)
        ordered = sorted(often, key=lambda entry: (-often[entry], entry.place))
        names = [f"{entry} (on {often[entry]})" if len(fronts) > 1 else str(entry) for entry in ordered]
        if names:
            yield Finding(f"Not beaten in both size and {read}", joined(names, most=8))


def _kept(family: Family) -> Iterator[Finding]:
    wrong, lossy, exact = losses.wrong(family), losses.lossy(family), losses.exact(family)
    if wrong:
        names = [f"{entry} on {joined(groups)}" for entry, groups in wrong.items()]
        yield Finding("Came back with wrong values", joined(names), "; their cells there are empty")
    if lossy:
        rest = f"; {len(exact)} of {len(family.entries)} gave everything back exactly"
        yield Finding("Lost something", joined(lossy, most=8), rest)
    elif exact:
        everyone = exact == family.entries and len(exact) > 1
        yield Finding("Gave back exactly", f"all {len(exact)}" if everyone else joined(exact, most=8))


def _empty(family: Family) -> Iterator[Finding]:
    by_status: Counter[str] = Counter()
    for gap in gaps(family):
        by_status[gap.status] += gap.cells
    if by_status:
        kinds = ", ".join(f"{number} {status}" for status, number in by_status.items())
        yield Finding("Without a value", f"{by_status.total()} of {total(family)} cells", f": {kinds}")

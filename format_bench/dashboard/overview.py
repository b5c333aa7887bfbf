"""Who is ahead in what, on each data set: the summary tables of the thesis, computed.

The overview: what was found, what changed, and where everything else is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from format_bench.changes.sentences import sentence
from format_bench.dashboard.asv_page import ASV_PAGE, INDEX
from format_bench.dashboard.changes.pages import FILE_NAME as CHANGES_PAGE
from format_bench.dashboard.changes.pages import headline
from format_bench.dashboard.comparisons import address
from format_bench.dashboard.layout import Page, render
from format_bench.display.marks import BEST, TIE
from format_bench.display.text import joined, quantity
from format_bench.report import circumstances, ranking
from format_bench.report.charts.axes import LOGARITHMIC_RANGE
from format_bench.report.ranking import SUBJECTS, findings_on, marks_of

if TYPE_CHECKING:
    from format_bench.changes.summary import Told
    from format_bench.dashboard.comparisons import Newest
    from format_bench.dashboard.layout import Source
    from format_bench.report.model import SuiteResults
    from format_bench.results.groups import ComparisonGroup
    from format_bench.results.metrics import Measure
    from format_bench.results.noise_floor import Floors


@dataclass(frozen=True)
class Leader:
    """Who is ahead in one measure on one data set."""

    names: str
    """The best, or those that share its value; empty if no two values differ."""
    value: str
    ties: str
    """Who cannot be told from the best; empty if nobody."""


@dataclass(frozen=True)
class Leaders:
    """A table: a row for each measure, a column for each data set."""

    columns: list[str]
    rows: list[tuple[str, list[Leader]]]


def leaders(family: SuiteResults, floors: Floors | None) -> Leaders:
    """Return who is ahead in the measures that the findings rank, where anyone is."""
    rows = []
    for metric, (subject, _) in SUBJECTS.items():
        for measure in (each for each in family.measures if each.metric == metric):
            found = [_leader(group, measure, floors) for group in family.groups]
            if any(each.names for each in found):
                cache = f", {measure.cache}" if measure.cache else ""
                rows.append((subject + cache, found))
    return Leaders([group.name for group in family.groups], rows)


def _leader(group: ComparisonGroup, measure: Measure, floors: Floors | None) -> Leader:
    marks = marks_of(group, measure, floors)
    best = [entry for entry, mark in marks.items() if mark == BEST]
    if not best:
        return Leader("", "", "")
    cell = group.cell(best[0], measure)
    ties = [entry for entry, mark in marks.items() if mark == TIE]
    return Leader(joined(best), quantity(cell.value or 0, cell.unit), joined(ties))


_LIBRARIES = ("pandas", "pyarrow", "numpy")
"""Those that most formats go through; the circumstances have all."""


def landing(
    newest: Newest, pages: Sequence[Page], source: Source, changes: Told, for_programs: Sequence[str]
) -> Page:
    """Return the overview.

    Parameters
    ----------
    newest : Newest
        The newest run.
    pages : sequence of Page
        The other pages that it leads to.
    source : Source
        What the site is about.
    changes : Told
        What changed on the machine of the newest run.
    for_programs : sequence of str
        Files for programs, by name.
    """
    outline = newest.outline
    body = render(
        "landing.html",
        lead=outline.lead,
        machine=circumstances.in_short(newest.results),
        run=newest.run,
        headline=headline(changes),
        changes=[sentence(change) for change in changes.newest],
        changes_page=CHANGES_PAGE,
        suites_missing=joined(newest.suites_missing),
        libraries=_libraries(newest),
        commit_url=source.commit_url + newest.run.commit,
        families=[
            {
                "title": family.title,
                "findings": findings_on(family, outline.floors),
                "leaders": leaders(family, outline.floors),
                "address": address(family),
            }
            for family in outline.families
        ],
        legend=ranking.legend(outline.floors),
        logarithmic_range=LOGARITHMIC_RANGE,
        pages=[page for page in pages if page.in_menu],
        asv_page=ASV_PAGE,
        for_programs=for_programs,
    )
    return Page("Overview", INDEX, body, "")


def _libraries(newest: Newest) -> list[tuple[str, Any]]:
    if not newest.results.circumstances:
        return []
    found = newest.results.circumstances[-1].get("libraries", {})
    return [(name, found[name]) for name in _LIBRARIES if found.get(name)]

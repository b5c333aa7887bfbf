"""The overview: what was found, what changed, and where everything else is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from format_bench.changes.changes_page import FILE_NAME as CHANGES_PAGE
from format_bench.changes.changes_page import headline
from format_bench.changes.words import sentence
from format_bench.dashboard.asv_page import ASV_PAGE, INDEX
from format_bench.dashboard.comparisons import address
from format_bench.dashboard.leaders import leaders
from format_bench.dashboard.page import Page
from format_bench.dashboard.templating import render
from format_bench.display.text import joined
from format_bench.report import circumstances, ranking
from format_bench.report.charts.axes import LOGARITHMIC_RANGE
from format_bench.report.ranking import findings_on

if TYPE_CHECKING:
    from format_bench.changes.told import Told
    from format_bench.dashboard.newest import Newest
    from format_bench.dashboard.source import Source

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

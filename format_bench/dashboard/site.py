"""All files of the site that are ours."""

from __future__ import annotations

from typing import TYPE_CHECKING

from format_bench.changes.history import read_history
from format_bench.changes.summary import told
from format_bench.dashboard.changes.exports import site_files
from format_bench.dashboard.changes.pages import pages as changes_pages
from format_bench.dashboard.comparisons import comparisons, newest
from format_bench.dashboard.documents import documents
from format_bench.dashboard.layout import framed
from format_bench.dashboard.other_pages import circumstances, engines, losses_and_gaps
from format_bench.dashboard.overview import landing

if TYPE_CHECKING:
    from format_bench.dashboard.layout import Source


def files(source: Source) -> dict[str, str]:
    """Return the text of each file by its name, relative to the site; the overview last.

    Raises
    ------
    ResultsNotFoundError
        If asv has no results.
    """
    history = read_history(source.results_dir, source.root)
    run = newest(source, history)
    pages = [
        *changes_pages(history, source.floors),
        *comparisons(run),
        *engines(run),
        losses_and_gaps(run),
        circumstances(run, source),
        *documents(source.root / "docs", source.project_url),
    ]
    for_programs = site_files(history, source.floors, source.site_url)
    overview = landing(run, pages, source, told(history, source.floors)[0], list(for_programs))
    menu = [overview, *pages]
    return for_programs | {page.file_name: framed(page, menu, source) for page in (*pages, overview)}

"""The pages on what is not in the charts: losses, empty cells, the machines and their state.

Which engine to take for which format, by the newest run.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

from adapter_core.errors import InvalidResultsError
from format_bench.dashboard.documents import as_html
from format_bench.dashboard.layout import Page, render
from format_bench.display.text import quantity
from format_bench.library_sets import outcomes
from format_bench.recommendation.engines import page as engine_page
from format_bench.report import circumstances as facts
from format_bench.report import losses_and_gaps as gaps
from format_bench.report import losses_and_gaps as losses
from format_bench.report import losses_and_gaps as remarks

if TYPE_CHECKING:
    from format_bench.dashboard.comparisons import Newest
    from format_bench.dashboard.layout import Source


def losses_and_gaps(newest: Newest) -> Page:
    """Return the page on what came back changed, and on what has no value."""
    families = [
        {
            "title": family.title,
            "losses": losses.losses(family),
            "no_loss": losses.in_short(family),
            "gaps": gaps.gaps(family),
            "remarks": remarks.remarks(family),
        }
        for family in newest.outline.families
    ]
    summary = "What each format loses of the data, which cells have no value, and why."
    return Page("Losses and gaps", "losses.html", render("lists.html", families=families), summary)


def circumstances(newest: Newest, source: Source) -> Page:
    """Return the page on the machines, and on the circumstances of the newest run."""
    by_section = groupby(facts.facts(newest.results), key=lambda fact: fact.section)
    body = render(
        "machines.html",
        machines=_machines(source),
        sets=outcomes.read(source.results_dir),
        newest=newest.run,
        facts=[(section, list(rows)) for section, rows in by_section],
        runs=len(newest.results.circumstances),
    )
    summary = (
        "The machines, and under what circumstances the newest run was made: versions, threads, load."
    )
    return Page("Circumstances", "circumstances.html", body, summary)


def _machines(source: Source) -> list[dict[str, Any]]:
    """Return what asv knows of each machine, and how many commits were measured on it."""
    found = []
    for path in sorted(source.results_dir.glob("*/machine.json")):
        facts_of_machine = json.loads(path.read_text(encoding="utf-8"))
        results = [each.name for each in path.parent.glob("*.json") if each != path]
        commits = {name.partition("-")[0] for name in results}
        known = {**dict.fromkeys(_FACTS, ""), **facts_of_machine}
        found.append({**known, "ram": _memory(known["ram"]), "commits": len(commits)})
    return found


_FACTS = ("machine", "cpu", "num_cpu", "ram", "arch", "os")
"""What asv's machine files hold, as text; whoever edits them may leave any out."""


def _memory(text: str) -> str:
    """Return a number of bytes for people, and anything else as it is."""
    return quantity(int(text), "bytes") if text.isdecimal() else text


def engines(newest: Newest) -> Iterator[Page]:
    """Yield the page, unless no format was measured with several engines."""
    try:
        text = engine_page(newest.results)
    except InvalidResultsError:
        return
    yield Page(
        "Which engine",
        "which-engine.html",
        as_html(text),
        "Which library to take for a format that several save and read.",
    )

"""Page on the machines, the circumstances of the latest run, and library sets of earlier days."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from format_bench.dashboard.layout import Page, render
from format_bench.dashboard.site_data import SiteData
from format_bench.library_sets import outcomes
from format_bench.report import metadata_table
from format_bench.results.display.text import quantity

MENU_ORDER = 60

# Names in asv's machine files, whose values are text.
FACTS = ("machine", "cpu", "num_cpu", "ram", "arch", "os")


def pages(site: SiteData) -> Iterator[Page]:
    """Yield the page."""
    latest, results_dir = site.latest, site.config.results_dir
    body = render(
        "machines.html",
        machines=_machines(results_dir),
        sets=outcomes.read(results_dir),
        latest=latest.run,
        facts=metadata_table.by_section(latest.results),
        runs=len(latest.results.metadata),
    )
    summary = "The machines, and the versions, threads and load of the latest run."
    yield Page("Circumstances", "circumstances.html", body, summary)


def _machines(results_dir: Path) -> list[dict[str, Any]]:
    """Return asv's facts on each machine, and the number of commits measured on it."""
    found = []
    for path in sorted(results_dir.glob("*/machine.json")):
        results = [each.name for each in path.parent.glob("*.json") if each != path]
        # A file is named <commit>-<environment>.json, and a commit may have several environments.
        commits = {name.partition("-")[0] for name in results}
        # People edit machine files, and may leave any fact out.
        facts = dict.fromkeys(FACTS, "") | json.loads(path.read_text(encoding="utf-8"))
        found.append({**facts, "ram": _memory(facts["ram"]), "commits": len(commits)})
    return found


def _memory(text: str) -> str:
    """Return a number of bytes for people, and any other text unchanged."""
    return quantity(int(text), "bytes") if text.isdecimal() else text

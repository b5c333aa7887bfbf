"""Pages of studies on the site."""

from __future__ import annotations

from types import SimpleNamespace

from format_bench.dashboard.pages import comparisons
from format_bench.dashboard.pages.findings import pages
from format_bench.report.model import SuiteResults
from format_bench.results.load import load
from format_bench.results.suites import SUITES
from format_bench.studies.declared import study
from tests.helpers import ROOT

KEPT = ROOT / "tests" / "data" / "study_results"


def site_of(*names):
    """Return a site whose machines have measured the kept results of studies."""
    runs = [
        SimpleNamespace(
            results=load(KEPT / f"{name}.jsonl"),
            run=SimpleNamespace(machine=name),
            folder=f"{name}/" if number else "",
            up="../" if number else "",
            point="2026-11-01",
        )
        for number, name in enumerate(names)
    ]
    return SimpleNamespace(runs=runs, latest=runs[0], other_machines=runs[1:])


def test_each_study_has_a_page_on_each_machine_that_measured_it():
    made = list(pages(site_of("foxbench", "ipsl")))
    assert [(each.title, each.file_name, each.in_menu) for each in made] == [
        ("Findings of FoxBench", "findings-of-foxbench.html", True),
        ("Findings on array stores on ipsl", "ipsl/findings-on-array-stores.html", True),
    ]
    assert "<strong>refuted</strong>" in made[1].body_html
    # The site's Markdown takes no HTML.
    assert "&lt;details" not in made[0].body_html
    assert "<td>CSV (paper)</td>" in made[0].body_html


def test_no_study_takes_the_page_of_a_suite():
    titles = {each.menu for name in study.places() if (each := study.read(name)).menu}
    files = {f"{each.lower().replace(' ', '-')}.html" for each in titles}
    assert len(files) == len(titles)
    assert not files & {comparisons.file_name(SuiteResults(each, [])) for each in SUITES}

"""Site that asv publishes, with the pages added to it."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import sys
import time
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from format_bench.dashboard import asv_page
from format_bench.dashboard.pages.documents import documents
from format_bench.library_sets import outcomes
from format_bench.results.display.text import quantity
from format_bench.results.status import CellStatus
from tests.factories.histories import Gap, MadeUp, Planted
from tests.factories.site import Made, add_pages, pages, parsed, publish
from tests.helpers import git

MONTHS = 3
PLANTED = (
    Planted("Avro", "time_read", 3, gap=Gap(CellStatus.FAILED, "it fell <b>over</b>"), datasets=("eq",)),
    Planted("XML", "track_lost_columns", 1, factor=2),
)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "project"
    results_dir = MadeUp(planted=PLANTED).write(folder, months=MONTHS)
    outcomes.write(
        results_dir,
        outcomes.SetRecord(
            "0" * 40, "2024-03-01", "m", outcomes.SetOutcome.NOT_INSTALLED, "no <wheel> of lance"
        ),
    )
    return Made(folder, publish(folder, "gh-pages", "--no-push"))


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """Make a site of three suites, whose pages take a fraction of the time of all."""
    folder = tmp_path_factory.mktemp("small") / "project"
    MadeUp(modules=("tabular", "engines", "image")).write(folder, months=2)
    return Made(folder, publish(folder, "publish"))


def of_graph(address: str) -> tuple[str, dict[str, str]]:
    """Return the benchmark and the parameters of a link to a graph."""
    benchmark, _, query = urlsplit(address).fragment.partition("?")
    return unquote(benchmark), {
        name.removeprefix("p-"): values[0]
        for name, values in parse_qs(query).items()
        if name.startswith("p-")
    }


def test_the_overview_is_the_index_and_asvs_page_is_beside_it(site):
    assert {"index.html", "tables.html", "compression.html", "images.html", "losses.html"} < set(
        pages(site)
    )
    assert {"circumstances.html", "docs/methodology.html"} < set(pages(site))
    asvs_own = site.read(asv_page.ASV_PAGE)
    assert "airspeed velocity" in asvs_own
    assert asv_page.LINK in asvs_own
    assert "Best formats" in site.read("index.html")
    assert "warning" not in site.printed.lower()


def test_a_library_set_that_does_not_install_is_listed(site):
    assert "not installed: no &lt;wheel&gt; of lance" in site.read("circumstances.html")


def test_engines_are_compared_with_the_usual_one_of_their_format(site):
    page = site.read("which-engine.html")
    assert "<td>CSV[polars]</td>" in page
    assert "<td>CSV</td>" in page
    assert 'href="which-engine.html"' in site.read("index.html")


def test_the_branch_has_the_same_pages(site):
    listed = git(site.folder, "ls-tree", "-r", "--name-only", "gh-pages").splitlines()
    assert {*pages(site), "changes.xml", "changes.json", "badge.svg", ".nojekyll"} < set(listed)
    assert git(site.folder, "show", "gh-pages:index.html") == site.read("index.html")


def test_changes_are_on_the_overview_and_on_their_page(site):
    sentence = "Avro read failed since 2026-11"
    assert sentence in site.read("index.html")
    assert sentence in site.read("changes.html")
    assert sentence in site.read("changes.xml")
    assert 'href="https://formatbench.github.io/formatbench/changes.html#' in site.read("changes.xml")


def test_every_link_resolves(site):
    assert check_links(site) > 500


def check_links(site) -> int:
    """Check that every link within the site leads somewhere; return their number."""
    index = json.loads(site.read("index.json"))
    checked = 0
    for name in pages(site):
        for link in parsed(site.read(name)).links:
            if urlsplit(link).scheme == "https":  # the project's code, and papers
                continue
            checked += 1
            target = (site.html / name).parent / urlsplit(link).path if urlsplit(link).path else None
            path = (target or site.html / name).resolve()
            assert path.is_file(), (name, link)
            fragment = urlsplit(link).fragment
            if path.name == asv_page.ASV_PAGE:
                check_graph(link, index)
            elif fragment:
                assert fragment in parsed(path.read_text(encoding="utf-8")).ids, (name, link)
    return checked


def check_graph(link: str, index) -> None:
    """Check that asv's page has the benchmark and the parameters of a link."""
    benchmark, chosen = of_graph(link)
    if benchmark in ("/", "/summarylist", "/regressions"):
        return
    known = index["benchmarks"][benchmark]
    for name, value in chosen.items():
        assert value in known["params"][known["param_names"].index(name)], link


def test_every_number_is_that_of_the_graph_it_links_to(site):
    results, index = site.results(), json.loads(site.read("index.json"))
    numbers = 0
    for link, text in (cell for name in pages(site) for cell in parsed(site.read(name)).cells):
        benchmark, chosen = of_graph(link)
        known = index["benchmarks"].get(benchmark)
        if known is None or set(chosen) != set(known["param_names"]):
            continue
        value = results[benchmark][tuple(chosen[each] for each in known["param_names"])]
        if value is None or math.isnan(value):
            assert text in ("unsupported", "failed"), link
        else:
            assert text == quantity(value, known["unit"]), link
            numbers += 1
    assert numbers > 500


def test_all_cells_of_the_latest_run_are_linked(site):
    links = [of_graph(link) for name in pages(site) for link in parsed(site.read(name)).links]
    known = json.loads(site.read("index.json"))["benchmarks"]
    # Heat maps of queries show ratios; the graph of all queries is linked below them.
    queried = {name for name in site.results() if "query" in known[name]["param_names"]}
    assert queried <= {benchmark for benchmark, _ in links}
    linked = {(benchmark, tuple(chosen.values())) for benchmark, chosen in links if len(chosen) > 1}
    assert linked == {
        (benchmark, params)
        for benchmark, values in site.results().items()
        for params in values
        if benchmark not in queried
    }


def test_the_best_format_has_the_smallest_value(site):
    saves = {
        params[0][1:-1]: value
        for params, value in site.results()["tabular.Tabular.track_size"].items()
        if params[1] == "'eq'"
    }
    best = min(saves, key=saves.get)
    row = re.search(r'<th scope="row">Smallest</th><td>(.*?)</td>', site.read("index.html"))[1]
    # The tables come first, and eq is their first data set.
    assert f'<span class="best">{best}</span> {quantity(saves[best], "bytes")}' in row


def test_pages_load_nothing_and_run_nothing_but_their_own(site):
    check_policies(site)


def check_policies(site) -> None:
    """Check that no page loads anything, or allows scripts from elsewhere."""
    for name in pages(site):
        text = site.read(name)
        assert all(each.startswith("data:") for each in parsed(text).loads), name
        policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
        assert policy.startswith("default-src 'none'")
        assert "unsafe" not in policy
        assert ' style="' not in text


TOY_PAGE = """
from format_bench.dashboard.layout import Page

MENU_ORDER = 35


def pages(site):
    number = len(site.latest.run.cells)
    body = f'<p id="toy">{number} cells, and <a href="index.html">the overview</a>.</p>'
    yield Page("Toy page", "toy.html", body, "A page in one file.")
"""


def test_a_page_is_one_file(tmp_path, small):
    (tmp_path / "pages").mkdir()
    (tmp_path / "pages/toy.py").write_text(TOY_PAGE, encoding="utf-8")
    folder = tmp_path / "project"
    shutil.copytree(small.folder, folder, symlinks=True)
    more = (
        f"from format_bench.dashboard import pages; pages.__path__.append({str(tmp_path / 'pages')!r})"
    )
    add_pages(folder, before=more)
    toy = Made(folder, "")
    assert set(pages(toy)) == {*pages(small), "toy.html"}
    menus = [re.search(r"<nav.*?</nav>", toy.read(name), re.DOTALL)[0] for name in pages(toy)]
    for menu in menus:
        titles = re.findall(r">([^<]+)</a>", menu)
        # Families are at 30, engines at 40.
        assert titles.index("Images") < titles.index("Toy page") < titles.index("Which engine")
    assert "A page in one file." in toy.read("index.html")
    assert "<h1>Toy page</h1>" in toy.read("toy.html")
    assert check_links(toy) > check_links(small)
    check_policies(toy)


def test_an_empty_cell_has_its_sentence_as_text(site):
    losses = site.read("losses.html")
    assert "it fell &lt;b&gt;over&lt;/b&gt;" in losses
    assert "<b>over" not in losses
    assert "2 columns" in losses


@pytest.mark.nightly
def test_suites_without_a_result_are_reported(tmp_path, site):
    folder = tmp_path / "project"
    shutil.copytree(site.folder, folder, symlinks=True)
    results_dir = folder / ".asv/full/results"
    newest = max(
        (path for path in (results_dir / "tester").glob("*-*.json")),
        key=lambda path: json.loads(path.read_text(encoding="utf-8"))["date"],
    )
    facts = json.loads(newest.read_text(encoding="utf-8"))
    facts["results"] = {
        name: value
        for name, value in facts["results"].items()
        if not name.startswith(("image.", "query."))
    }
    newest.write_text(json.dumps(facts), encoding="utf-8")
    add_pages(folder)
    text = (folder / ".asv/full/html/index.html").read_text(encoding="utf-8")
    assert "This run has no results for the suites image" in text
    assert "Optional suites that this run leaves out: query." in text
    assert not (folder / ".asv/full/html/images.html").exists()


def test_missing_results_are_reported_and_leave_asvs_site(tmp_path, small):
    folder = tmp_path / "project"
    shutil.copytree(small.folder, folder, symlinks=True)
    for path in (folder / ".asv/full/results/tester").glob("*-*.json"):
        path.unlink()
    printed = add_pages(folder)
    assert re.search(r"the site has no report: no results of asv in \S+", printed)
    assert not (folder / ".asv/full/html" / asv_page.ASV_PAGE).exists()


@pytest.mark.parametrize("missing", ["jinja2", "markdown_it", "format_bench"])
def test_missing_packages_are_reported_and_leave_asvs_site(tmp_path, small, missing):
    folder = tmp_path / "project"
    shutil.copytree(small.folder, folder, symlinks=True)
    printed = add_pages(folder, before=f"sys.modules[{missing!r}] = None")
    assert re.search(rf"the site has no report.*{missing}\S* is not installed", printed, re.DOTALL)
    html = folder / ".asv/full/html"
    assert 'id="summarygrid-display"' in (html / "index.html").read_text(encoding="utf-8")
    assert not (html / asv_page.ASV_PAGE).exists()


def test_the_plugin_imports_nothing_but_asv(root):
    code = (
        "import sys, asv.publishing; before = set(sys.modules); import postprocessing;"
        "print(*(set(sys.modules) - before))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True
    )
    assert found.stdout.split() == ["postprocessing"]


def test_documents_lead_to_each_other_and_to_the_project(tmp_path):
    (tmp_path / "methodology.md").write_text(
        "# How\n\nSee [more](more.md#the-second-part), [code](../setup.py), [web](https://example.org).\n\n"
        "| a | b |\n|---|--:|\n| 1 | <script> |\n",
        encoding="utf-8",
    )
    (tmp_path / "more.md").write_text(
        "# More\n\n## The second part\n\n[back](methodology.md)\n", "utf-8"
    )
    (tmp_path / "alone.md").write_text("# Alone\n", encoding="utf-8")
    first, second = documents(tmp_path, "https://example.org/project")
    assert (first.title, first.file_name, first.in_menu) == (
        "Methodology",
        "docs/methodology.html",
        True,
    )
    assert (second.title, second.file_name, second.in_menu) == ("More", "docs/more.html", False)
    assert parsed(first.body_html).links == [
        "more.html#the-second-part",
        "https://example.org/project/blob/HEAD/setup.py",
        "https://example.org",
    ]
    assert "<h1" not in first.body_html + second.body_html
    assert "&lt;script&gt;" in first.body_html
    assert 'style="' not in first.body_html
    assert "the-second-part" in parsed(second.body_html).ids


@pytest.mark.nightly
def test_the_latest_run_is_that_of_the_newest_commit(tmp_path, small):
    folder = tmp_path / "project"
    shutil.copytree(small.folder, folder, symlinks=True)
    paths = list((folder / ".asv/full/results/tester").glob("*-*.json"))
    facts = {path: json.loads(path.read_text(encoding="utf-8")) for path in paths}
    oldest = min(paths, key=lambda path: facts[path]["date"])
    began = facts[oldest]["result_columns"].index("started_at")
    for values in facts[oldest]["results"].values():
        values[began] = int(time.time() * 1000)
    oldest.write_text(json.dumps(facts[oldest]), encoding="utf-8")
    add_pages(folder)
    assert (folder / ".asv/full/html/index.html").read_text(encoding="utf-8") == small.read("index.html")

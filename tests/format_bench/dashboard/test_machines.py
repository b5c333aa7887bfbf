"""Results of two machines: a menu on the site's pages, and comparisons by `format-bench compare`."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from urllib.parse import parse_qs, urlsplit

import pytest

from format_bench.asv_support.results import load_run
from format_bench.asv_support.run import AsvMetadataFile
from format_bench.changes.history import read_history
from format_bench.dashboard.site_data import folder_of
from format_bench.results.metrics import Measure
from tests.commands import run
from tests.factories.histories import MACHINE, MadeUp, MonthlyRepository, benchmarks
from tests.factories.site import Made, pages, parsed, publish
from tests.format_bench.dashboard.test_dashboard import check_links, check_policies
from tests.format_bench.report.test_chooser_in_browser import shown
from tests.format_bench.report.test_report_in_browser import browser
from tests.helpers import watched_pages

__all__ = ["browser"]

SERVER = MACHINE | {"machine": "big server", "cpu": "Other CPU"}
FOLDER = folder_of("big server")
MODULES = ("tabular",)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return a site of a machine with two months, and of one with the first of these."""
    folder = tmp_path_factory.mktemp("site") / "project"
    MadeUp(modules=MODULES).write(folder, months=2)
    MadeUp(modules=MODULES, machine=SERVER, seed=2, left_out=1).write(folder, months=2)
    return Made(folder, publish(folder, "publish"))


@pytest.fixture
def results_dir(site):
    return site.folder / ".asv/full/results"


@pytest.fixture
def opened(browser, site):
    """Return a function that opens a page; errors, and requests to other files, fail the test."""
    start = site.html.as_uri()
    with watched_pages(browser, lambda url, _: url.startswith(start) or url == "data:,") as open_page:
        yield lambda name, width=1400: open_page(f"{start}/{name}", width)


def test_each_machine_has_an_overview_and_comparisons(site):
    names = set(pages(site))
    assert {f"{FOLDER}{name}" for name in ("index.html", "tables.html", "losses.html")} < names
    # Pages on the whole history are there once.
    assert {name for name in names if name.startswith(FOLDER)} < {FOLDER + name for name in names}
    assert "on tester at commit" in site.read("index.html")
    assert "on big server at commit" in site.read(f"{FOLDER}index.html")
    assert "warning" not in site.printed.lower()


def test_every_link_resolves(site):
    assert check_links(site) > 1000
    check_policies(site)


def test_the_numbers_are_those_of_the_machine_and_link_to_its_graphs(site, results_dir):
    for name, machine in (("", "tester"), (FOLDER, "big server")):
        html = site.read(f"{name}tables.html")
        own = [each for each in load_run(results_dir, machine).records if each.metric == "size"]
        value = next(each.value for each in own if (each.format, each.dataset) == ("CSV", "eq"))
        assert f'data-value="{value:.6g}"' in html
        links = [each for each in parsed(html).links if "asv.html#tabular" in each]
        assert len(links) > 100
        queries = [parse_qs(urlsplit(each).fragment.partition("?")[2]) for each in links]
        assert {query["machine"][0] for query in queries} == {machine}


def test_the_menu_of_machines_leads_to_the_same_page_and_back(opened):
    page = opened("tables.html")
    menu = page.get_by_role("group", name="Machine")
    assert menu.get_by_role("link").all_inner_texts() == ["tester", "big server"]
    assert menu.locator("[aria-current=page]").inner_text() == "tester"
    menu.get_by_role("link", name="big server").click()
    assert page.get_by_role("heading", level=1).inner_text() == "Tables on big server"
    assert page.get_by_role("group", name="Machine").locator("[aria-current=page]").inner_text() == (
        "big server"
    )
    page.get_by_role("group", name="Machine").get_by_role("link", name="tester").click()
    assert page.get_by_role("heading", level=1).inner_text() == "Tables"


def test_the_losses_of_each_machine_have_a_page(opened):
    page = opened("losses.html")
    page.get_by_role("group", name="Machine").get_by_role("link", name="big server").click()
    assert page.get_by_role("heading", level=1).inner_text() == "Losses and gaps on big server"
    page.get_by_role("group", name="Machine").get_by_role("link", name="tester").click()
    assert page.get_by_role("heading", level=1).inner_text() == "Losses and gaps"


def test_the_chooser_ranks_the_results_of_the_machine(opened, results_dir):
    choice = "#choose?suite=tabular&weight=read_time:2,size:1&require=safe"
    rankings = []
    for name, machine in (("", "tester"), (FOLDER, "big server")):
        page = opened(f"{name}index.html{choice}")
        source = f"{results_dir}#{machine}"
        arguments = ["--weight", "read_time=2", "--weight", "size=1", "--require", "safe"]
        done = run("recommend", source, "--suite", "tabular", *arguments, "--json")
        answer = json.loads(done.stdout)
        rows, _ = shown(page)
        assert [each["name"] for each in answer["ranked"]] == [each[0] for each in rows]
        scores = [each["score"] for each in answer["ranked"]]
        assert scores == pytest.approx([each[1] for each in rows], rel=1e-9)
        rankings.append(scores)
    assert rankings[0] != rankings[1]


@pytest.mark.parametrize("name", ["index.html", f"{FOLDER}index.html", f"{FOLDER}tables.html"])
def test_pages_of_machines_are_readable_on_a_phone(opened, name):
    page = opened(name, 400)
    assert page.evaluate("document.documentElement.scrollWidth") <= 400


def test_machines_are_compared_by_name(results_dir):
    done = run("compare", f"{results_dir}#tester", f"{results_dir}#big server", "--json")
    found = json.loads(done.stdout)
    assert (found["a"], found["b"]) == ("tester", "big server")
    own = {
        machine: {
            (each.format, each.dataset): each.value
            for each in load_run(results_dir, machine).records
            if Measure.of(each) == Measure("size")
        }
        for machine in ("tester", "big server")
    }
    sizes = [each for each in found["cells"] if each["metric"] == "size"]
    assert len(sizes) > 50
    for each in sizes:
        cell = each["format"], each["dataset"]
        assert (each["a"], each["b"]) == (own["tester"][cell], own["big server"][cell])


def test_a_folder_of_asv_is_its_newest_run(results_dir):
    done = run("compare", results_dir, f"{results_dir}#big server", "--json")
    assert json.loads(done.stdout)["a"] == "tester"


def test_an_unknown_machine_is_reported_with_those_that_are_known(results_dir):
    done = run("compare", f"{results_dir}#tester", f"{results_dir}#laptop")
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.endswith("'laptop'; known: big server, tester")


def test_metadata_are_those_of_the_machine_where_environments_have_the_same_name(tmp_path):
    file = AsvMetadataFile(tmp_path, "virtualenv")
    file.path.parent.mkdir()
    lines = [
        {"asv_commit": "c", "shapes": {"tabular.eq": [1, 2]}, "cpu": {"model": model}}
        for model in ("Some CPU", "Other CPU")
    ]
    file.path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    assert file.newest("c", "Some CPU")["cpu"] == {"model": "Some CPU"}
    assert file.newest("c", "Other CPU")["cpu"] == {"model": "Other CPU"}
    # A machine whose file was edited by hand has those of the newest run.
    assert file.newest("c", "My CPU")["cpu"] == {"model": "Other CPU"}
    assert file.newest("d", "Some CPU") == {}


def test_of_machines_with_the_same_commit_the_one_measured_last_comes_first(tmp_path):
    day = datetime(2026, 11, 3, tzinfo=UTC)
    sizes = next(each for each in benchmarks() if each["name"] == "tabular.Tabular.track_size")
    names = ["a", "b", "c"]
    for last in names:
        folder = tmp_path / last
        machines = [MACHINE | {"machine": name} for name in names]
        repositories = [MonthlyRepository(folder, [sizes], machine=each) for each in machines]
        commit = repositories[0].renew(day, {})
        for repository in repositories:
            repository.add(commit, day, lambda *_: [1.0])
        (path,) = (folder / ".asv/full/results" / last).glob("*-*.json")
        facts = json.loads(path.read_text(encoding="utf-8"))
        facts["results"][sizes["name"]][facts["result_columns"].index("started_at")] += 1000
        path.write_text(json.dumps(facts), encoding="utf-8")
        assert read_history(folder / ".asv/full/results", folder).lines[0].machine == last


def test_folders_of_machines_differ():
    names = ["a b", "a-b", "a/b", "ä"]
    assert len({folder_of(each) for each in names}) == len(names)
    assert all(re.fullmatch(r"machine-[\w.-]+/", folder_of(each)) for each in names)

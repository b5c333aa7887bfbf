"""Published site in a real browser, as `make preview` serves it."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from itertools import pairwise

import pytest

from format_bench.dashboard.asv_page import ASV_PAGE
from tests.factories.histories import MadeUp, Planted
from tests.factories.site import Made, pages, publish
from tests.format_bench.report.test_report_in_browser import browser, check_contrast, unfold
from tests.helpers import watched_pages

__all__ = ["browser"]

PLANTED = (Planted("Feather", "time_read", 5, factor=3.0),)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return a site of six months; in the last two, one format reads slower."""
    folder = tmp_path_factory.mktemp("site") / "project"
    MadeUp(planted=PLANTED).write(folder, months=6)
    return Made(folder, publish(folder, "publish"))


@pytest.fixture(scope="module")
def address(site):
    """Return the address at which the server of `make preview` serves the site."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "http.server", "--bind", "127.0.0.1", str(port)]
    with subprocess.Popen(
        command, cwd=site.html, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as server:
        try:
            yield served(f"http://127.0.0.1:{port}/")
        finally:
            server.terminate()


def served(url: str) -> str:
    for _ in range(100):
        try:
            with urllib.request.urlopen(url):
                return url
        except OSError:
            time.sleep(0.2)
    pytest.fail(f"nothing answers at {url}")


@pytest.fixture
def opened(browser, address):
    """Return a function that opens a page; errors, and requests to other hosts, fail the test."""
    with watched_pages(browser, lambda url, _: url.startswith((address, "data:"))) as open_page:
        yield lambda name, width=1400: open_page(address + name, width)


def test_each_page_is_readable_and_accessible(site, opened):
    for name in pages(site):
        page = opened(name, 400)
        unfold(page)
        check_width(page, 400)
        check_structure(page)
        check_contrast(page)
        page.set_viewport_size({"width": 1400, "height": 900})
        check_width(page, 1400)


def check_width(page, width: int) -> None:
    assert page.evaluate("document.documentElement.scrollWidth") <= width, page.url
    outside = page.evaluate(
        "Array.from(document.querySelectorAll('body *'))"
        ".filter((e) => !e.closest('.scroll, .skip, pre, .unseen')"
        " && e.getBoundingClientRect().right > innerWidth)"
        ".map((e) => e.outerHTML.slice(0, 200))"
    )
    assert outside == [], page.url


def check_structure(page) -> None:
    for role in ("banner", "main", "navigation", "contentinfo"):
        assert page.get_by_role(role).count() == 1, (page.url, role)
    assert page.locator("h1").count() == 1, page.url
    levels = page.locator("h1, h2, h3, h4").evaluate_all("(h) => h.map((e) => Number(e.tagName[1]))")
    assert levels[0] == 1, page.url
    assert all(after <= before + 1 for before, after in pairwise(levels)), (page.url, levels)
    assert page.locator("th:not([scope])").count() == 0, page.url
    assert page.locator("svg:not([role=img])").count() == 0, page.url
    assert page.locator(".scroll:not([tabindex='0'], :has(a, button))").count() == 0, page.url
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content", page.url


def test_the_menu_leads_through_all_pages(opened):
    page = opened("")
    names = page.locator("header nav a").all_inner_texts()
    assert len(names) > 6
    for name in names[:-1]:
        page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
        assert page.locator("nav [aria-current=page]").inner_text() == name


def test_the_overview_starts_with_the_verdict_the_chooser_and_pictures_with_their_words(opened):
    page = opened("")
    sections = page.locator("main section").evaluate_all("(all) => all.map((each) => each.id)")
    assert sections[:3] == ["verdict", "choose", "picture"]
    charts = page.locator("#picture svg[role=img]")
    titles = [each.locator("> title").text_content() for each in charts.all()]
    assert titles == [
        f"Size against read time: {each}"
        for each in ("eq, tables", "cifar-like", "era5-small, arrays", "entities")
    ]
    for each in charts.all():
        assert "On the Pareto front" in each.locator("> desc").text_content()
    links = page.locator("#picture figcaption a")
    assert links.all_inner_texts() == [
        f"All charts and numbers: {each}" for each in ("Tables", "Images", "Arrays", "Records")
    ]
    links.first.click()
    assert page.get_by_role("heading", level=1).inner_text() == "Tables"


def test_the_chooser_of_the_overview_has_its_choice_in_the_address(opened):
    page = opened("index.html#choose?suite=image&weight=random_read_time_per_image:3")
    assert page.url.partition("#")[0].endswith("index.html")
    assert page.get_by_label("suite").input_value() == "image"
    random_reads = page.get_by_role("slider", name="random read time per image", exact=True)
    assert random_reads.input_value() == "3"
    first = page.locator("#choose-table tbody th").first.inner_text()
    page.get_by_role("button", name="archive").click()
    assert page.locator("#choose-table tbody th").first.inner_text() != first
    assert "weight=read_time:1,size:3" in page.evaluate("location.href")
    assert page.locator(".machine-menu").count() == 0


def test_tables_sort_by_the_numbers_that_are_links(opened):
    page = opened("tables.html")
    header = page.locator(".numbers >> nth=0 >> th:nth-child(2)")
    header.get_by_role("button").click()
    cells = page.locator(".numbers >> nth=0 >> tbody tr > :nth-child(2)")
    values = cells.evaluate_all("(cells) => cells.map((cell) => Number(cell.dataset.value))")
    assert values == sorted(values)


def test_a_number_leads_to_its_graph_and_back(opened):
    page = opened("tables.html")
    row = page.locator(".numbers >> nth=0 >> tbody tr").filter(has_text="Parquet").first
    row.get_by_role("link").first.click()
    page.wait_for_selector("#main-graph canvas")
    assert page.locator("#title").inner_text().startswith("tabular.")
    assert page.locator(".legendLabel").all_inner_texts() == ["dataset-eq; format-Parquet"]
    page.get_by_role("link", name="Report").click()
    assert page.get_by_role("heading", level=1).inner_text() == "FormatBench"


@pytest.mark.parametrize(
    ("view", "shown"),
    [
        ("#tabular.Tabular.time_save?p-format=%27CSV%27", "#main-graph canvas"),
        ("#/summarylist", "#summarylist-body table tbody tr"),
        ("#/regressions", "#regressions-body table tbody tr"),
        ("#/", "#summarygrid-display canvas"),
    ],
)
def test_the_addresses_that_asv_gives_lead_to_its_page(opened, view, shown):
    page = opened(view)
    page.wait_for_selector(shown)
    assert page.url.partition("#")[0].endswith(ASV_PAGE)
    if "regressions" in view:
        assert "Feather" in page.locator("#regressions-body").inner_text()


def test_the_overview_stays_where_its_own_sections_are_named(opened):
    page = opened("index.html#leaders")
    page.wait_for_load_state()
    assert page.url.endswith("index.html#leaders")
    assert page.get_by_role("heading", level=1).inner_text() == "FormatBench"


def test_it_can_be_read_without_scripts(browser, address):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(address)
    page.get_by_role("link", name="Tables", exact=True).first.click()
    assert page.locator("thead th").first.inner_text() == "format"
    context.close()


def test_asvs_error_page_leads_back(browser, address):
    page = browser.new_page()
    page.route("**/*jquery*", lambda route: route.abort())
    page.goto(address + ASV_PAGE)
    page.wait_for_url("**/error.html")
    page.get_by_role("link", name="report").click()
    assert page.get_by_role("heading", level=1).inner_text() == "FormatBench"
    page.close()

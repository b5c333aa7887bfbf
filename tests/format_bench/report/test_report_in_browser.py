"""The report in a real browser: it asks for nothing, is operable, readable and printable."""

from __future__ import annotations

import re
import shlex
import shutil
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest
from PIL import Image

from format_bench import report
from format_bench.results import cells
from format_bench.results.status import CellStatus
from tests.factories.records import answered, compressed, labels, measured, record, results
from tests.helpers import watched_pages

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
ARGUMENTS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking"
    " --disable-component-update --disable-sync"
).split()

HARD_TO_SEE = """
() => {
  const channels = (colour) => colour.match(/[\\d.]+/g).map(Number);
  const luminance = ([r, g, b]) => {
    const [x, y, z] = [r, g, b].map((v) => {
      v /= 255;
      return v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  const contrast = (...colours) => {
    const [light, dark] = colours.map(luminance).sort((a, b) => b - a);
    return (light + 0.05) / (dark + 0.05);
  };
  const behind = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const [r, g, b, a = 1] = channels(getComputedStyle(e).backgroundColor);
      if (a > 0) return [r, g, b];
    }
    return [255, 255, 255];
  };
  const found = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || element.closest("script, title, desc")) continue;
    const style = getComputedStyle(element);
    const colour = channels(element.closest("svg") ? style.fill : style.color);
    if (contrast(colour, behind(element)) < 4.5) found.push(element.outerHTML.slice(0, 200));
  }
  // Bars and points; lines of grids guide the eye alone, and paper is around marks.
  const guides = ["grid", "paper"].map((name) => `var(--${name})`);
  for (const mark of document.querySelectorAll(".chart > path, .chart > use")) {
    for (const name of ["fill", "stroke"]) {
      const value = mark.getAttribute(name);
      if (!value?.startsWith("var(") || guides.includes(value)) continue;
      const colour = channels(getComputedStyle(mark)[name]);
      if (contrast(colour, behind(mark)) < 3) found.push(mark.outerHTML.slice(0, 200));
    }
  }
  return found;
}
"""


@pytest.fixture(scope="module")
def browser():
    program = next(filter(None, map(shutil.which, BROWSERS)), None)
    if program is None:
        pytest.skip(f"the page is tried in a browser, and none of {', '.join(BROWSERS)} is on PATH")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as driver:
        started = driver.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return the reports that are looked at, by name."""
    folder = tmp_path_factory.mktemp("pages")
    long_label = "A format with a very long name, " * 20 + "<b>bold</b>"
    odd = [
        record("CSV", "size", 5, sentence=long_label),
        record(long_label, "size", 7, dataset="x" * 300),
        record("XML", "size", None, status=CellStatus.UNSUPPORTED, sentence=long_label),
        record("XML", "read time", 3.0, cache="warm"),
    ]
    pages = {
        "twelve": results(measured(labels(12), ["eq", "str"])),
        "queries": results(answered(labels(25), ["paper"], slowest=0.5)),
        "many": results(measured(labels(40), [f"data_{number}" for number in range(5)])),
        "all": results(
            [*odd, *compressed(["eq"]), *measured(["PNG"], ["cifar"], suite="image.Image", rows=500)]
        ),
    }
    for name, found in pages.items():
        page = report.page(replace(found, source="it's a run"))
        (folder / f"{name}.html").write_text(page, encoding="utf-8")
    return folder


@pytest.fixture
def opened(browser, files):
    """Return a function that opens a report; messages and requests of the page fail the test."""
    with watched_pages(browser, lambda url, page: url in (page, "data:,")) as open_page:
        yield lambda name, width=1400: open_page((files / f"{name}.html").as_uri(), width)


def unfold(page) -> None:
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")


@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("name", ["twelve", "many", "all", "queries"])
def test_nothing_is_wider_than_the_screen(opened, name, width):
    page = opened(name, width)
    unfold(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    outside = page.evaluate(
        "Array.from(document.querySelectorAll('body *'))"
        ".filter((e) => !e.closest('.scroll, .skip, pre')"
        " && e.getBoundingClientRect().right > innerWidth)"
        ".map((e) => e.outerHTML.slice(0, 200))"
    )
    assert outside == []


@pytest.mark.parametrize("name", ["twelve", "all", "queries"])
def test_all_text_and_marks_have_enough_contrast(opened, name):
    page = opened(name)
    unfold(page)
    check_contrast(page)


def check_contrast(page) -> None:
    """Check texts and marks of charts as the page shows them, light and dark."""
    papers = set()
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        assert page.evaluate(HARD_TO_SEE) == [], (page.url, scheme)
        papers.add(page.evaluate("getComputedStyle(document.body).backgroundColor"))
    page.emulate_media(color_scheme="light")
    assert papers == {"rgb(255, 255, 255)", "rgb(22, 24, 28)"}


def column(page, position: int) -> list[str]:
    return page.locator(f".numbers >> nth=0 >> tbody tr > :nth-child({position})").all_inner_texts()


def seconds(texts: list[str]) -> list[float]:
    units = {"s": 1, "ms": 1e-3, "µs": 1e-6}
    return [float(text.split()[0]) * units[text.split()[1]] for text in texts]


def test_a_click_sorts_by_value_and_another_one_the_other_way(opened):
    page = opened("twelve")
    header = page.locator(".numbers >> nth=0 >> th:nth-child(2)")
    assert header.inner_text().startswith("save time")
    before = column(page, 2)
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "ascending"
    ascending = column(page, 2)
    assert seconds(ascending) == sorted(seconds(before)) != seconds(before)
    header.get_by_role("button").click()
    assert header.get_attribute("aria-sort") == "descending"
    assert column(page, 2) == ascending[::-1]


def test_a_number_that_is_chosen_has_the_command_of_its_script(opened):
    page = opened("twelve")
    table = page.locator(".numbers >> nth=0")
    command = page.locator(".again >> nth=0 >> code")

    def chosen() -> str:
        program, verb, source, option, cell, last = shlex.split(command.inner_text())
        assert [program, verb, source, option] == ["format-bench", "show", "it's a run", "--cell"]
        assert last == "--script"
        return cell

    first = table.locator("tbody tr >> nth=0 >> th").inner_text()
    table.locator("tbody tr >> nth=0 >> td >> nth=0").click()
    assert chosen() == f"tabular/eq/{first}/save_time"
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    second = table.locator("tbody tr >> nth=1 >> th").inner_text()
    measure = table.locator("th[scope=col] >> nth=2").get_attribute("data-measure")
    assert chosen() == f"tabular/eq/{second}/{measure}"
    found = results(measured(labels(12), ["eq", "str"]))
    assert cells.find(found.records, chosen()).format == second
    assert page.locator(".again >> nth=0 >> button.copy").is_visible()


@pytest.mark.parametrize("key", ["Enter", "Space"])
def test_a_key_sorts_too_and_one_column_at_a_time(opened, key):
    page = opened("twelve")
    headers = page.locator(".numbers >> nth=0 >> th[scope=col]")
    headers.nth(0).get_by_role("button").focus()
    page.keyboard.press("Tab")
    page.keyboard.press(key)
    assert headers.nth(1).get_attribute("aria-sort") == "ascending"
    assert seconds(column(page, 2)) == sorted(seconds(column(page, 2)))
    headers.nth(0).get_by_role("button").press(key)
    assert headers.nth(1).get_attribute("aria-sort") == "none"
    assert column(page, 1) == sorted(column(page, 1), key=str.casefold)


def test_what_has_no_value_stays_last(opened):
    page = opened("all")
    header = page.locator(".numbers >> nth=0 >> th[scope=col]").filter(has_text=re.compile("^size"))
    position = 1 + header.evaluate("(each) => each.cellIndex")
    for _ in range(2):
        header.get_by_role("button").click()
        texts = column(page, position)
        assert texts[-1] == "unsupported"
        assert texts[0].startswith("5 B")


def test_every_chart_has_a_name_and_a_description(opened):
    page = opened("all")
    unfold(page)
    described = page.evaluate(
        "Array.from(document.querySelectorAll('svg, img'), (e) => [e.getAttribute('role'),"
        " ...['title', 'desc'].map((name) => e.querySelector(`:scope > ${name}`)?.textContent)])"
    )
    assert len(described) > 10
    for role, title, words in described:
        assert role == "img"
        assert page.get_by_role("img", name=title, exact=True).count() == 1, title
        assert len(words) > 20


def test_the_page_has_landmarks_headings_and_tables_that_can_be_found_by_ear(opened):
    page = opened("all")
    unfold(page)
    for role in ("banner", "main", "navigation", "contentinfo"):
        assert page.get_by_role(role).count() == 1, role
    levels = [
        int(tag[1]) for tag in page.locator("h1, h2, h3").evaluate_all("(h) => h.map((e) => e.tagName)")
    ]
    assert levels[0] == 1
    assert all(after <= before + 1 for before, after in pairwise(levels))
    assert page.locator("table:not(:has(> caption))").count() == 0
    assert page.locator("th:not([scope])").count() == 0
    targets = page.locator("nav a").evaluate_all("(links) => links.map((e) => e.hash.slice(1))")
    assert all(page.locator(f"section#{target}").count() == 1 for target in targets)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the verdict"


def test_it_prints_what_is_folded_too(opened):
    page = opened("many")
    assert page.locator("details.group").count() == 5
    assert page.locator("details.group[open]").count() == 1
    printed = page.pdf(format="A4")
    assert page.locator("details.group[open]").count() == 1
    unfold(page)
    assert pages_of(printed) == pages_of(page.pdf(format="A4")) > 10


def pages_of(pdf: bytes) -> int:
    assert pdf.startswith(b"%PDF")
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def test_it_can_be_read_without_scripts(browser, files):
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((files / "twelve.html").as_uri())
    assert page.locator("thead th").first.inner_text() == "format"
    assert page.locator("svg").count() == 12
    context.close()


def test_a_map_of_queries_sorts_by_any_of_them_and_cells_explain_themselves(opened):
    page = opened("queries")
    table = page.locator(".queries").first
    assert table.locator("thead th[scope=colgroup]").all_inner_texts() == [
        "place", "Germany", "USA", "EU", "map",
    ]  # fmt: skip
    header = table.get_by_role("button", name="Q10", exact=True)
    header.click()
    cells = table.locator("tbody tr > :nth-child(12)")
    ratios = [float(text) for text in cells.all_inner_texts()]
    assert ratios == sorted(ratios)
    assert ratios[0] == 1
    assert cells.first.get_attribute("title").startswith("Q10, t2m, Germany, fortnight: ")


def test_lines_over_queries_are_legible_on_a_phone(opened):
    page = opened("queries", 400)
    chart = page.locator(".wide svg").first
    heights = chart.locator("text").evaluate_all(
        "(texts) => texts.map((e) => Math.min(e.getBoundingClientRect().height,"
        " e.getBoundingClientRect().width))"
    )
    assert min(heights) > 8
    # Names at the right end do not overlap.
    names = chart.locator("text").filter(has_text=re.compile("^(CSV|JSON|ORC|Avro|XML)"))
    tops = sorted(names.evaluate_all("(e) => e.map((each) => each.getBoundingClientRect().top)"))
    assert len(tops) >= 5
    assert all(below - above > 8 for above, below in pairwise(tops))


def test_names_of_points_do_not_overlap_in_the_page_either(opened):
    page = opened("many", 400)
    unfold(page)
    charts = page.locator("figure .explored").all()
    assert len(charts) == 5
    for chart in charts:
        overlaps, outside = chart.evaluate(
            """(svg) => {
              const texts = Array.from(svg.querySelectorAll("text"));
              const boxes = texts.map((each) => each.getBoundingClientRect());
              const all = svg.getBoundingClientRect();
              // The box of a line is a little higher than its letters.
              const meet = (a, b) =>
                a.left < b.right && b.left < a.right && a.top + 2 < b.bottom && b.top + 2 < a.bottom;
              const pairs = boxes.flatMap((a, at) =>
                boxes.slice(at + 1).filter((b) => meet(a, b)).map(() => texts[at].textContent));
              const out = boxes.filter((e) => e.left < all.left - 1 || e.right > all.right + 1);
              return [pairs, out.length];
            }"""
        )
        assert overlaps == []
        assert outside == 0


def test_points_tell_their_names_by_pointer_and_by_arrow_keys(opened):
    page = opened("many")
    figure = page.locator("figure:has(.explored)").first
    tip = figure.locator(".tip")
    chart = figure.locator("svg")
    chart.focus()
    seen = []
    for _ in range(3):
        page.keyboard.press("ArrowRight")
        seen.append(tip.inner_text())
    assert all("size" in each and "read time" in each for each in seen)
    assert len(set(seen)) == 3
    page.keyboard.press("ArrowLeft")
    assert tip.inner_text() == seen[1]
    assert chart.locator(".shown").count() == 1
    other = chart.locator(f"use:has-text('{seen[0]}')")
    other.dispatch_event("pointerenter")
    assert tip.inner_text() == seen[0]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_chart_is_saved_as_svg_and_as_png_of_twice_the_size(opened, scheme, tmp_path):
    page = opened("twelve")
    page.emulate_media(color_scheme=scheme)
    figure = page.locator("figure").first
    for kind in ("SVG", "PNG"):
        with page.expect_download() as done:
            figure.get_by_role("button", name=f"Save as {kind}").click()
        assert done.value.suggested_filename == f"size-against-read-time-eq.{kind.lower()}"
        done.value.save_as(tmp_path / kind)
    text = (tmp_path / "SVG").read_text(encoding="utf-8")
    root = ElementTree.fromstring(text)
    assert "var(" not in text
    # In light colours, whatever the page has.
    assert "rgb(11, 93, 59)" in text
    assert root.find("{*}rect").attrib["fill"] == "#fff"
    width, height = map(float, root.attrib["viewBox"].split()[2:])
    with Image.open(tmp_path / "PNG") as picture:
        assert picture.size == (int(2 * width), int(2 * height))
        assert picture.convert("RGB").getpixel((1, 1)) == (255, 255, 255)
        assert len(picture.convert("RGB").getcolors(100_000)) > 20


def test_links_open_the_sections_that_are_folded(opened):
    page = opened("all")
    for name in ("Losses", "Empty cells", "Circumstances"):
        section = page.locator(f"section[aria-labelledby={name.split()[0].lower()}-title]")
        assert not section.is_visible()
        page.get_by_role("navigation").get_by_role("link", name=name, exact=True).click()
        assert section.is_visible()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_stops_of_the_keyboard_are_visible_and_in_the_order_of_the_page(opened, scheme):
    page = opened("twelve", 400)
    page.emulate_media(color_scheme=scheme)
    page.keyboard.press("Tab")
    stops = []
    for _ in range(80):
        page.keyboard.press("Tab")
        tag, seen, follows = page.evaluate(
            """() => {
              const now = document.activeElement;
              const style = getComputedStyle(now);
              const before = window.lastStop ?? document.body;
              window.lastStop = now;
              const order = before.compareDocumentPosition(now);
              return [now.tagName, style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0,
                now === document.body || Boolean(order & Node.DOCUMENT_POSITION_FOLLOWING)];
            }"""
        )
        if tag == "BODY":
            break
        stops.append(tag)
        assert (seen, follows) == (True, True), (len(stops), tag)
    assert {"A", "BUTTON", "SUMMARY", "svg"} <= set(stops)

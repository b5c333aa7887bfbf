"""Atlas in a real browser: a reader's own bundle beside it, permanent links, readability."""

from __future__ import annotations

import gzip
import json
import math
import statistics

import pytest

from format_bench.bundles.atlas import atlas_pages
from format_bench.bundles.atlas.agreement import Rankings
from format_bench.bundles.atlas.collection import Group, collect
from format_bench.comparison import spearman
from format_bench.results.display.text import format_ratio, quantity
from format_bench.results.metrics import Measure
from tests.factories.bundles import write_bundles
from tests.format_bench.report.test_report_in_browser import browser, check_contrast, unfold
from tests.helpers import watched_pages

__all__ = ["browser"]

EQ, READ = Group("tabular", "eq", (), 100, "all", ""), Measure("read time")


@pytest.fixture(scope="module")
def atlas(tmp_path_factory):
    """Return the bundles, the folder of the site, and the ranking of reads."""
    folder, out = tmp_path_factory.mktemp("atlas"), tmp_path_factory.mktemp("site")
    bundles = write_bundles(folder, 7)
    columns = collect(folder)
    atlas_pages.write(columns, out, lambda _: None)
    (ranking,) = (each for each in Rankings(columns).of(EQ, set()) if each.measure == READ)
    return bundles, out, ranking


@pytest.fixture
def opened(browser, atlas):
    folder = atlas[1].as_uri()
    with watched_pages(browser, lambda url, _: url.startswith((folder, "data:,"))) as open_page:
        yield lambda name, width=1400: open_page(f"{folder}/{name}", width)


def choose(page, path):
    before = page.text_content("#mine-status")
    page.set_input_files("#mine-file", path)
    changed = "text => document.querySelector('#mine-status').textContent !== text"
    page.wait_for_function(changed, arg=before)
    return page.text_content("#mine-status")


def own_of(page, measure):
    """Return the cells of a reader's own bundle by row."""
    cells = "Array.from(row.querySelectorAll('td.own'), (each) => each.textContent)"
    script = f"rows => rows.map((row) => [row.id, ...{cells}])"
    rows = page.eval_on_selector_all(f"[id='{measure}'] table:first-of-type tbody tr[data-of]", script)
    return {name: cells for name, *cells in rows}


def test_an_own_bundle_is_shown_beside_the_atlas(atlas, opened):
    bundles, _, ranking = atlas
    page = opened("tabular-eq-100.html")
    status = choose(page, bundles[3])
    head, *records = map(json.loads, gzip.decompress(bundles[3].read_bytes()).splitlines())
    assert status.startswith(f"run.bundle.gz: {len(records) // 2 - 6} of {len(records) - 12} values")
    assert head["form"]
    own = {
        each["format"]: each["value"]
        for each in records
        if (each["dataset"], each["metric"]) == ("eq", "read time")
        and each["conditions"]["cache"] == "warm"
    }
    typical = {row.configuration.format: row.ratio.median for row in ranking.rows}
    level = statistics.median(math.log(own[name] / typical[name]) for name in own)
    expected = {
        f"read_time/{row.configuration.format}": [
            quantity(own[row.configuration.format], "seconds"),
            format_ratio(own[row.configuration.format] / math.exp(level)),
        ]
        for row in ranking.rows
    }
    assert own_of(page, "read_time") == expected
    rho = spearman([own[name] for name in typical], list(typical.values()))
    assert f"6 formats, rho {rho:.2f}" in page.text_content("[id='read_time'] p .own")


def test_an_own_bundle_stays_for_the_other_pages_until_it_is_put_away(atlas, opened):
    page = opened("tabular-eq-100.html")
    choose(page, atlas[0][2])
    page.click("nav a >> text=Machines")
    assert "shown on the pages of data" in page.text_content("#mine-status")
    page.goto(page.url.replace("machines", "tabular-str-100"))
    assert len(own_of(page, "size")["size/CSV"]) == 2
    page.click("#mine-away")
    assert own_of(page, "size")["size/CSV"] == []
    page.reload()
    assert own_of(page, "size")["size/CSV"] == []


@pytest.mark.parametrize(
    "content",
    [b"PK\3\4", gzip.compress(b"{}\n"), gzip.compress(b"[" * 10_000), gzip.compress(b"null\n<script>")],
    ids=["no gzip", "no bundle", "no JSON", "no head"],
)
def test_other_files_change_nothing(opened, tmp_path, content):
    path = tmp_path / "<b>x.bundle.gz"
    path.write_bytes(content)
    page = opened("tabular-eq-100.html")
    assert "<b>x.bundle.gz is no bundle" in choose(page, path)
    assert page.query_selector("td.own") is None


def test_a_permanent_link_marks_its_row(opened):
    page = opened("tabular-eq-100.html#cold_read_time/Parquet")
    assert (
        page.eval_on_selector(":target", "row => row.querySelector('a').textContent")
        == "Parquet, no codec"
    )
    page.click("[id='size/CSV'] th a")
    assert page.url.endswith("#size/CSV")


@pytest.mark.parametrize("width", [400, 1400])
@pytest.mark.parametrize("name", ["index.html", "machines.html", "tabular-eq-100.html"])
def test_pages_can_be_read(atlas, opened, name, width):
    page = opened(name, width)
    unfold(page)
    choose(page, atlas[0][0])
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    check_contrast(page)

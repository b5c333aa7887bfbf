"""Pages, feed, JSON and badge of the changes."""

from __future__ import annotations

import json
import re
from datetime import datetime
from xml.etree import ElementTree as ET

import jsonschema
import pytest
from markupsafe import escape

from format_bench.changes.change import sentence
from format_bench.dashboard.exports import MOST_ENTRIES, export_files
from format_bench.dashboard.pages import changes as changes_page
from format_bench.dashboard.pages import versions as versions_page
from format_bench.dashboard.site_data import SiteConfig, SiteData
from format_bench.results.status import CellStatus
from tests.factories.histories import Gap, MadeUp, Planted
from tests.helpers import ROOT

ATOM = "{http://www.w3.org/2005/Atom}"
SCHEMA = json.loads((ROOT / "format_bench/dashboard/changes_schema.json").read_text(encoding="utf-8"))
PLANTED = (
    Planted("Parquet", "time_read", 3, 1.31, library="pyarrow"),
    Planted("ORC", "track_size", 5, 1.2),
    Planted(
        "CSV", "time", 6, gap=Gap(CellStatus.FAILED, "ValueError: <script>alert(1)</script> & so on")
    ),
    Planted("Feather", "track_read_memory", 6, 2.0),
    Planted("LMDB", "time_read", 2, 1.6, module="image", gradual=True),
)


def site_of(folder, months, *planted, modules=()):
    results_dir = MadeUp(planted=planted, modules=modules).write(folder, months)
    return SiteData.read(SiteConfig("FormatBench", "", "", "", results_dir, folder / "html", folder))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """Return six months of all suites, with a change of each kind, and text that is not markup."""
    return site_of(tmp_path_factory.mktemp("site") / "made", 6, *PLANTED)


def body(module, site) -> str:
    [page] = module.pages(site)
    return page.body_html


def exports(site, site_url: str = "") -> dict[str, str]:
    return export_files(site.changes, site_url)


def test_pages_contain_every_sentence_and_no_markup_of_results(site):
    changes, versions = body(changes_page, site), body(versions_page, site)
    for change in site.changes[0].changes:
        assert str(escape(sentence(change))) in changes
    assert "<script" not in changes + versions
    assert "&lt;script&gt;alert(1)" in changes


def test_each_chart_has_a_title_a_description_and_its_numbers_in_a_table(site):
    text = body(versions_page, site)
    charts = [ET.fromstring(text) for text in re.findall(r"<svg.*?</svg>", text, re.DOTALL)]
    assert len(charts) > 50
    svg = "{http://www.w3.org/2000/svg}"
    for chart in charts:
        assert chart.get("role") == "img"
        assert chart.findtext(f"{svg}title")
        assert chart.findtext(f"{svg}desc")
    rows = set(re.findall(r'<th scope="row">([^<]+)</th>', text))
    assert {"Parquet", "LMDB", "CSV"} <= rows


def test_the_feed_is_atom(site):
    feed = ET.fromstring(exports(site, "https://example.org/bench/")["changes.xml"])
    entries = feed.findall(f"{ATOM}entry")
    assert len(entries) == min(MOST_ENTRIES, len(site.changes[0].changes)) >= 4
    for element in (feed, *entries):
        assert [len(element.findall(ATOM + name)) for name in ("id", "title", "updated")] == [1, 1, 1]
        assert element.findtext(f"{ATOM}id").startswith("urn:uuid:")
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", element.findtext(f"{ATOM}updated"))
    assert feed.findtext(f"{ATOM}author/{ATOM}name")
    links = {link.get("rel"): link.get("href") for link in feed.findall(f"{ATOM}link")}
    assert links == {
        "self": "https://example.org/bench/changes.xml",
        "alternate": "https://example.org/bench/changes.html",
    }
    identities = [entry.findtext(f"{ATOM}id") for entry in entries]
    assert len(set(identities)) == len(identities)
    page = body(changes_page, site)
    for entry in entries:
        anchor = entry.find(f"{ATOM}link").get("href").partition("#")[2]
        assert page.count(f'id="{anchor}"') == 1
    newest = max(datetime.fromisoformat(entry.findtext(f"{ATOM}updated")) for entry in entries)
    assert newest == site.history.lines[0].points[-1].date


def test_a_site_without_an_address_has_a_feed_with_relative_links(site):
    feed = ET.fromstring(exports(site)["changes.xml"])
    assert [link.get("rel") for link in feed.findall(f"{ATOM}link")] == ["alternate"]


def test_the_json_is_as_its_schema_says(site):
    found = json.loads(exports(site)["changes.json"])
    jsonschema.validate(found, SCHEMA)
    [line] = found["lines"]
    assert {change["sort"] for change in line["changes"]} == {"step", "drift", "lost"}
    [slower] = [each for each in line["changes"] if each["format"] == "Parquet"]
    assert slower["since"]["name"] == "2026-08"
    assert slower["libraries"][0] == {
        "name": "pyarrow",
        "old": "15.0.0",
        "new": "16.0.0",
        "declared": True,
    }
    # Of hundreds of lines, noise alone makes a few suspected.
    assert "Feather" in [each["format"] for each in line["suspected"]]


def test_the_badge_counts_what_the_newest_month_shows(site, tmp_path):
    text = exports(site)["badge.svg"]
    newest = len(site.changes[0].newest)
    assert ET.fromstring(text).get("aria-label") == f"changes this month: {newest}"
    first = site_of(tmp_path / "made", 1, modules=("tabular",))
    assert "changes this month: first run" in exports(first)["badge.svg"]
    assert "there is one point, 2026-11" in body(changes_page, first)

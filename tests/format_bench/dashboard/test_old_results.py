"""Results that an earlier version has published: the same changes, ids and pages as then.

`old_asv_results.zip` contains six months of asv's results for some formats of three suites, the facts of
their adapters, and under `expected/` the files that the code at commit f4b5123 made of them.
"""

from __future__ import annotations

import json
import re
import shutil
from html import unescape
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from format_bench.dashboard.site import site_files
from format_bench.dashboard.site_data import SiteConfig
from tests.helpers import ROOT

SITE_URL = "https://example.org/bench/"
ATOM = "{http://www.w3.org/2005/Atom}"


@pytest.fixture(scope="module")
def old(tmp_path_factory):
    folder = tmp_path_factory.mktemp("old")
    shutil.unpack_archive(Path(__file__).with_name("old_asv_results.zip"), folder)
    return folder


@pytest.fixture(scope="module")
def site(old):
    # The documents are those of the checkout, the adapters' declarations those of the time.
    (old / "docs").symlink_to(ROOT / "docs")
    config = SiteConfig("FormatBench", "", "", SITE_URL, old / "results", old / "html", old)
    return site_files(config)


def expected(old, name):
    return (old / "expected" / name).read_text(encoding="utf-8")


def test_the_changes_are_the_same(old, site):
    found, before = (json.loads(text) for text in (site["changes.json"], expected(old, "changes.json")))
    [line] = before["lines"]
    kinds = {change["sort"] for change in line["changes"] + line["suspected"]}
    assert kinds == {"step", "drift", "lost", "suspected"}
    assert found == before


def test_the_feed_has_the_same_entries(old, site):
    found, before = (ET.fromstring(text) for text in (site["changes.xml"], expected(old, "changes.xml")))
    for name in ("id", "title", "updated"):
        path = f"{ATOM}entry/{ATOM}{name}"
        assert [e.text for e in found.findall(path)] == [e.text for e in before.findall(path)]
    assert found.findtext(f"{ATOM}id") == before.findtext(f"{ATOM}id")


def test_the_badge_counts_the_same(old, site):
    found, before = (ET.fromstring(text) for text in (site["badge.svg"], expected(old, "badge.svg")))
    assert found.get("aria-label") == before.get("aria-label")


def test_the_pages_have_the_same_names(old, site):
    before = set(json.loads(expected(old, "files.json")))
    assert before == {name for name in site if not name.startswith("docs/")}


@pytest.mark.parametrize("name", ["changes.html", "versions.html"])
def test_the_pages_have_the_same_anchors_and_numbers(old, site, name):
    text, before = site[name], expected(old, name)
    assert set(anchors(before)) <= set(anchors(text))
    assert cells(text) == cells(before)


def anchors(text: str) -> list[str]:
    return re.findall(r'<(?:details|section)[^>]* id="([^"]+)"', text)


def cells(text: str) -> list[str | float]:
    """Return the cells of tables, numbers as such: their digits may be written otherwise."""
    found = (unescape(cell) for cell in re.findall(r"<td[^>]*>([^<]*)</td>", text))
    return [float(cell) if re.fullmatch(r"[\d.]+", cell) else cell for cell in found]

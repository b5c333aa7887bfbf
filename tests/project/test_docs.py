"""The documentation site: builds without warnings, has no dead links and no foreign resources."""

from __future__ import annotations

import contextlib
import importlib
import os
import pkgutil
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from format_bench.results.metrics import METRICS
from format_bench.results.suites import SUITES, read_family
from tests.format_bench.report.test_report_in_browser import HARD_TO_SEE, browser
from tests.helpers import ROOT

__all__ = ["browser"]

DOCS = ROOT / "docs"
MARKDOWN = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md"), *(ROOT / ".github").rglob("*.md")])

MADE = ("reports/", "build/", "results/reasons/", "docs/methodology.html", "benchmarks/text.py")
"""Files and folders that commands or readers make."""

ENTRY_POINTS = (
    "format_bench.array_stores",
    "format_bench.data_formats",
    "format_bench.image_storages",
    "format_bench.query_engines",
    "format_bench.record_stores",
    "format_bench.training_loaders",
)

SITE = pytest.mark.costly(
    "adapter_core",
    "array_stores",
    "data_formats",
    "data_generator",
    "format_bench",
    "image_storages",
    "query_engines",
    "record_stores",
    "training_loaders",
)
"""Marker of the tests of the whole site: pages have tables of the code's facts."""

NAVIGATION = ("index", "next", "prev", "search")
"""Relations of pages, which browsers do not load."""


class PageReader(HTMLParser):
    """Collects the anchors, links and loaded files of a page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        found = dict(attrs)
        self.anchors |= {found[name] for name in ("id", "name") if found.get(name)}
        if tag == "a" and found.get("href"):
            self.links.append(found["href"])
        elif tag == "link" and found.get("rel") not in NAVIGATION:
            self.loaded.append(found["href"])
        elif found.get("src"):
            self.loaded.append(found["src"])
        self.loaded += re.findall(r"url\(([^)]*)\)", found.get("style") or "")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    folder = tmp_path_factory.mktemp("docs")
    options = ["--quiet", "--fail-on-warning", "--keep-going", "--doctree-dir", folder / "doctrees"]
    # A proxy that refuses every connection: a build that asks the network fails.
    nowhere = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")
    command = [sys.executable, "-m", "sphinx", *options, "--builder", "html", DOCS, folder / "html"]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, **nowhere}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return folder / "html"


@pytest.fixture(scope="module")
def pages(built):
    found = {path: PageReader(path) for path in built.rglob("*.html")}
    assert len(found) > len(list(DOCS.rglob("*.md")))
    return found


def is_foreign(link: str) -> bool:
    return bool(urlsplit(link).scheme or urlsplit(link).netloc)


@SITE
def test_every_page_is_built(built):
    sources = [path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")]
    assert [path for path in sources if not (built / path).is_file()] == []


@SITE
def test_contents_have_every_page_in_two_levels(built):
    side = (built / "index.html").read_text(encoding="utf-8").partition('class="sidebar-tree"')[2]
    side = side.partition("</div>")[0]
    levels = set(re.findall(r"toctree-l(\d)", side))
    listed = re.findall(
        r'<li class="toctree-l\d[^>]*><a class="reference internal" href="([^"#]+)"', side
    )
    assert levels == {"1", "2"}
    pages = {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")}
    notes = {each for each in pages if each.match("decisions/0*")}
    assert sorted(map(Path, listed)) == sorted(pages - notes - {Path("index.html")})


@SITE
def test_links_and_anchors_exist(pages):
    broken = []
    for page, reader in pages.items():
        for link in reader.links:
            target, anchor = unquote(urlsplit(link).path), unquote(urlsplit(link).fragment)
            if is_foreign(link):
                continue
            path = (page.parent / target).resolve() if target else page
            if not path.is_file():
                broken.append(f"{page.name}: {link}")
            elif anchor and path in pages and anchor not in pages[path].anchors:
                broken.append(f"{page.name}: {link} lacks the anchor")
    assert broken == []


@SITE
def test_nothing_is_loaded_from_elsewhere(built, pages):
    loaded = {(page, link) for page, reader in pages.items() for link in reader.loaded}
    for style in built.rglob("*.css"):
        text = style.read_text(encoding="utf-8")
        urls = re.findall(r"url\(\s*[\"']?([^\"')]+)", text) + re.findall(
            r"@import\s+[\"']([^\"']+)", text
        )
        loaded |= {(style, link) for link in urls if not link.startswith(("data:", "#"))}
    assert [link for _, link in loaded if is_foreign(link)] == []
    missing = [link for file, link in loaded if not (file.parent / urlsplit(link).path).is_file()]
    assert missing == []


@SITE
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_pages_follow_the_readers_setting_with_enough_contrast(built, browser, scheme):
    context = browser.new_context(viewport={"width": 400, "height": 900}, color_scheme=scheme)
    page = context.new_page()
    for name in ("index", "recommendation", "formats", "command_line"):
        page.goto((built / f"{name}.html").as_uri())
        assert page.evaluate(HARD_TO_SEE) == [], name
        assert page.evaluate("document.documentElement.scrollWidth") <= 400, name
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (paper == "rgb(255, 255, 255)") is (scheme == "light"), paper
    context.close()


def test_links_between_files_exist_without_a_site():
    broken = []
    for path in MARKDOWN:
        text = re.sub(
            r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE
        )
        for link in re.findall(r"\]\(([^)\s]+)\)", text):
            target = path.parent / urlsplit(link).path
            if not is_foreign(link) and urlsplit(link).path and not target.exists():
                broken.append(f"{path.relative_to(ROOT)}: {link}")
    assert broken == []


def test_decisions_have_a_status_and_a_date():
    notes = sorted((DOCS / "decisions").glob("0*.md"))
    index = (DOCS / "decisions/index.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((.+?)\)", index) == [path.name for path in notes]
    for number, path in enumerate(notes, start=1):
        text = path.read_text(encoding="utf-8")
        assert path.name.startswith(f"{number:04}-")
        assert text.startswith(f"# {number}. ")
        assert re.search(r"^- Status: (accepted|superseded by .+)$", text, re.MULTILINE), path.name
        assert re.search(r"^- Date: \d{4}-\d\d-\d\d$", text, re.MULTILINE), path.name


def test_files_named_in_documents_exist():
    missing = []
    for path in MARKDOWN:
        for name in re.findall(r"`([\w-]+(?:/[\w.-]+)+/?)`", path.read_text(encoding="utf-8")):
            if name.startswith(MADE) or "/" not in name.strip("/"):
                continue
            if not any(
                (folder / name).exists() for folder in (ROOT, ROOT / "format_bench", path.parent)
            ):
                missing.append(f"{path.relative_to(ROOT)}: {name}")
    assert missing == []


def test_tests_named_in_documents_exist():
    found = [
        each
        for path in MARKDOWN
        for each in re.findall(r"`([\w/]+\.py)::(\w+)`", path.read_text("utf-8"))
    ]
    assert len(found) > 30
    assert [each for each in found if f"def {each[1]}(" not in (ROOT / each[0]).read_text("utf-8")] == []


def test_names_of_code_in_documents_exist():
    missing = []
    packages = (
        "adapter_core|array_stores|data_formats|image_storages|query_engines|record_stores|data_generator|"
        "format_bench|tools|training_loaders"
    )
    for path in MARKDOWN:
        text = path.read_text(encoding="utf-8")
        if path.name == "CHANGELOG.md":
            continue  # it names what is gone, too
        for name in set(re.findall(rf"(?<![\w./])((?:{packages})(?:\.\w+)+)", text)):
            is_page = name.endswith(".md")
            if name not in ENTRY_POINTS and not is_page and not is_importable(name):
                missing.append(f"{path.relative_to(ROOT)}: {name}")
    assert missing == []


def test_the_glossary_has_every_suite_and_no_word_twice():
    glossary = (DOCS / "glossary.md").read_text(encoding="utf-8")
    assert [name for name in SUITES if f"`{name}`" not in glossary] == []
    words = re.findall(r"^- \*\*(.+?)\*\*", glossary, re.MULTILINE)
    assert sorted(words) == sorted(set(words))


def test_the_example_of_a_suite_is_valid(tmp_path):
    text = (DOCS / "adding_a_suite.md").read_text(encoding="utf-8")
    example = re.search(r"^```toml\n(.*?)^```", text, re.DOTALL | re.MULTILINE)[1]
    declared = (ROOT / "format_bench/families/tables/family.toml").read_text(encoding="utf-8")
    path = tmp_path / "family.toml"
    path.write_text(f"{declared}\n{example}", encoding="utf-8")
    suite = read_family(path).suites[-1]
    assert (suite.name, suite.default_dataset) == ("text", "str")
    metrics = {metric for each in suite.benchmarks for metric in each.metrics}
    assert metrics | set(suite.columns) <= set(METRICS)


def is_importable(name: str) -> bool:
    """Whether a dotted name is a module, or something in one."""
    found = pkgutil.resolve_name(name.partition(".")[0])
    for part in name.split(".")[1:]:
        if not hasattr(found, part) and hasattr(found, "__path__"):
            with contextlib.suppress(ModuleNotFoundError):
                importlib.import_module(f"{found.__name__}.{part}")
        if not hasattr(found, part):
            return False
        found = getattr(found, part)
    return True

"""Sites of invented histories, published by asv, and parsers of their pages."""

from __future__ import annotations

import functools
import itertools
import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from format_bench.dashboard.asv_page import ASV_PAGE, ERROR_LINK, ERROR_PAGE, INDEX, LINK
from tests.helpers import ROOT


def publish(folder: Path, *command: str) -> str:
    """Run a command of asv that publishes the results in a folder; return its output."""
    for name in ("asv.conf.json", "postprocessing.py"):
        shutil.copy(ROOT / name, folder)
    (folder / "docs").symlink_to(ROOT / "docs")
    return _run(folder, "-m", "asv", *command)


def add_pages(folder: Path, before: str = "") -> str:
    """Run the plug-in again, after some Python code in its process; return its output."""
    html = folder / ".asv/full/html"
    for name in pages(Made(folder, "")):
        (html / name).unlink()
    (html / ASV_PAGE).rename(html / INDEX)
    for name, link in ((INDEX, LINK), (ERROR_PAGE, ERROR_LINK)):
        text = (html / name).read_text(encoding="utf-8")
        (html / name).write_text(text.replace(link, ""), encoding="utf-8")
    code = (
        "from asv.config import Config; from asv.console import log; log.enable();"
        "from postprocessing import Report; Report.publish(Config.load(), *[None] * 4); log.flush()"
    )
    return _run(folder, "-c", f"import sys; {before}\n{code}")


def _run(folder: Path, *arguments: str) -> str:
    roles = ("AUTHOR", "COMMITTER")
    who = {f"GIT_{role}_{what}": "a@example.org" for role in roles for what in ("NAME", "EMAIL")}
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=folder,
        env=os.environ | who,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


@dataclass
class Made:
    """Project with a published site."""

    folder: Path
    printed: str

    @property
    def html(self) -> Path:
        return self.folder / ".asv/full/html"

    def read(self, name: str) -> str:
        return (self.html / name).read_text(encoding="utf-8")

    def results(self) -> dict[str, dict[str, float | None]]:
        """Return the newest values in asv's results, by benchmark and parameters."""
        from asv.results import iter_results

        results_dir = self.folder / ".asv/full/results"
        newest = max(iter_results(str(results_dir)), key=lambda each: each.date)
        benchmarks = json.loads((results_dir / "benchmarks.json").read_text(encoding="utf-8"))
        found = {}
        for name in newest.get_all_result_keys():
            params = benchmarks[name]["params"]
            found[name] = dict(
                zip(itertools.product(*params), newest.get_result_value(name, params), strict=True)
            )
        return found


@dataclass
class Parsed:
    """Ids, links and resources of a page."""

    ids: set[str]
    links: list[str]
    loads: list[str]
    cells: list[tuple[str, str]]
    """Addresses of links with their texts."""


@functools.cache
def parsed(text: str) -> Parsed:
    """Return the parsed page; pages are parsed once for all tests."""
    from lxml import html

    tree = html.document_fromstring(text)
    links = tree.findall(".//a")
    loads = [each.attrib["src"] for each in tree.iter("script", "img", "iframe") if "src" in each.attrib]
    loads += [
        each.attrib["href"]
        for each in tree.iter("link")
        if each.get("rel") not in ("alternate", "canonical")
    ]
    return Parsed(
        {each.attrib["id"] for each in tree.iterfind(".//*[@id]")},
        [each.attrib["href"] for each in links],
        loads,
        [(each.attrib["href"], each.text_content()) for each in links],
    )


def pages(site: Made) -> list[str]:
    """Return the names of the pages that asv has not written itself."""
    found = [path.relative_to(site.html).as_posix() for path in site.html.rglob("*.html")]
    return sorted(name for name in found if name not in (ASV_PAGE, ERROR_PAGE))

"""asv's own pages with links to the overview and local copies of their scripts."""

from __future__ import annotations

import base64
import hashlib
from importlib import resources
from pathlib import Path

import pytest

from adapter_core.errors import UnknownAsvPageError
from format_bench.dashboard import asv_page

FOLDER = resources.files(asv_page.__package__) / asv_page.VENDOR

OTHER_EDITIONS = (
    "jquery.flot-",
    "jquery.flot.time",
    "jquery.flot.sel",
    "jquery.flot.cat",
    "stupidtable",
)
"""Files that the npm registry has in another edition than the page loads."""


@pytest.fixture(scope="module")
def page():
    import asv

    return Path(asv.__file__).with_name("www").joinpath("index.html").read_text(encoding="utf-8")


def test_an_unknown_menu_is_reported():
    with pytest.raises(UnknownAsvPageError, match="is asv newer"):
        asv_page.with_links("<html></html>", "<html></html>")


def test_every_script_of_asvs_page_has_a_local_copy(page):
    text, files = asv_page.with_local_scripts(page)
    addresses = {link["address"] for link in asv_page.EXTERNAL.finditer(page)}
    assert addresses == set(asv_page.LOCAL_FILES)
    assert text.count("https://") == 1, "the link to asv's own site"
    for name in asv_page.LOCAL_FILES.values():
        assert f'="vendor/{name}" crossorigin' in text
    assert set(files) == {f"vendor/{name}" for name in (*asv_page.LOCAL_FILES.values(), "LICENSES.txt")}


def test_local_copies_are_the_files_that_the_page_loads(page):
    for link in asv_page.EXTERNAL.finditer(page):
        name = asv_page.LOCAL_FILES[link["address"]]
        algorithm, _, expected = link["digest"].partition("-")
        digest = hashlib.new(algorithm, (FOLDER / name).read_bytes()).digest()
        same = base64.b64encode(digest).decode() == expected
        assert same != name.startswith(OTHER_EDITIONS), name


def test_every_local_copy_has_its_licence():
    text = (FOLDER / "LICENSES.txt").read_text(encoding="utf-8")
    for name in asv_page.LOCAL_FILES.values():
        # The headings of the files of one package are shortened to what they share.
        assert name in text or (name.startswith("jquery.flot") and "jquery.flot*-0.8.3.js" in text), name


def test_an_unknown_script_is_reported():
    page = '<script src="https://cdn.example.org/toy.js" integrity="sha256-0" crossorigin></script>'
    with pytest.raises(UnknownAsvPageError, match=r"no local copy of https://cdn\.example\.org/toy"):
        asv_page.with_local_scripts(page)

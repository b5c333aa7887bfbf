"""Pages of the project's documents: the methodology, and the documents that it refers to."""

from __future__ import annotations

import base64
import posixpath
from collections.abc import Iterator
from pathlib import Path

from format_bench.dashboard.layout import Page
from format_bench.dashboard.pages._markdown import Document
from format_bench.dashboard.site_data import SiteData

MENU_ORDER = 70

FIRST = "methodology.md"
# Folder of the documents in the checkout, and of their pages in the site.
FOLDER = "docs"


def pages(site: SiteData) -> Iterator[Page]:
    """Yield the pages, the methodology first."""
    return documents(site.config.root / FOLDER, site.config.project_url)


def documents(folder: Path, project_url: str) -> Iterator[Page]:
    """Yield the methodology, and all documents of its folder that can be reached from it by links.

    A link to any other file of the project leads to the project's own site. Pictures become part of
    their page, which by its policy loads nothing.

    Parameters
    ----------
    folder : Path
        Folder of the documents, in Markdown.
    project_url : str
        Address of the project, e.g. "https://github.com/name/name".
    """
    waiting, seen = [FIRST], {FIRST}
    while waiting:
        name = waiting.pop(0)
        document = Document.parse((folder / name).read_text(encoding="utf-8"))
        for link in document.links():
            target, _, anchor = str(link.attrs["href"]).partition("#")
            if _is_document(target, folder):
                link.attrs["href"] = f"{Path(target).stem}.html" + (f"#{anchor}" if anchor else "")
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
            elif target and "://" not in target:
                path = posixpath.normpath(posixpath.join(FOLDER, target))
                link.attrs["href"] = f"{project_url}/blob/HEAD/{path}"
        for image in document.images():
            image.attrs["src"] = _embedded(folder / str(image.attrs["src"]))
        yield _page(name, document)


def _page(name: str, document: Document) -> Page:
    file_name = f"{FOLDER}/{Path(name).stem}.html"
    title = document.title or name
    if name == FIRST:
        return Page("Methodology", file_name, document.html(), f"{title}: the rules of all numbers.")
    return Page(title, file_name, document.html(), title, in_menu=False)


def _embedded(picture: Path) -> str:
    """Return a picture, PNG, as an address that contains it."""
    return f"data:image/png;base64,{base64.b64encode(picture.read_bytes()).decode('ascii')}"


def _is_document(target: str, folder: Path) -> bool:
    return target.endswith(".md") and "/" not in target and (folder / target).is_file()

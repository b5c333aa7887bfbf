"""The project's documents as pages: the methodology, and what it refers to."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

from format_bench.dashboard.layout import Page

if TYPE_CHECKING:
    from collections.abc import Sequence

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

FIRST = "methodology.md"
FOLDER = "docs"


def documents(folder: Path, project_url: str) -> Iterator[Page]:
    """Yield the methodology, and all documents of its folder that can be reached from it by links.

    A link to any other file of the project leads to the project's own site.

    Parameters
    ----------
    folder : Path
        Where the documents are, in Markdown.
    project_url : str
        Where the project is, as in "https://github.com/name/name".
    """
    waiting, seen = [FIRST], {FIRST}
    while waiting:
        name = waiting.pop(0)
        markdown = _parser()
        tokens = markdown.parse((folder / name).read_text(encoding="utf-8"))
        title = _cut_title(tokens) or name
        for link in _links(tokens):
            target, _, anchor = str(link.attrs["href"]).partition("#")
            if _is_document(target, folder):
                link.attrs["href"] = f"{Path(target).stem}.html" + (f"#{anchor}" if anchor else "")
                if target not in seen:
                    seen.add(target)
                    waiting.append(target)
            elif target and "://" not in target:
                path = posixpath.normpath(posixpath.join(FOLDER, target))
                link.attrs["href"] = f"{project_url}/blob/HEAD/{path}"
        yield _page(name, title, _rendered(markdown, tokens))


def as_html(text: str) -> str:
    """Return a document, without its title, as the body of a page."""
    markdown = _parser()
    tokens = markdown.parse(text)
    _cut_title(tokens)
    return _rendered(markdown, tokens)


def _rendered(markdown: MarkdownIt, tokens: list[Token]) -> str:
    return f'<div class="prose">\n{markdown.renderer.render(tokens, markdown.options, {})}</div>'


def _page(name: str, title: str, body: str) -> Page:
    first = name == FIRST
    summary = f"{title}: the rules that the numbers obey." if first else title
    shown = "Methodology" if first else title
    return Page(shown, f"{FOLDER}/{Path(name).stem}.html", body, summary, in_menu=first)


def _is_document(target: str, folder: Path) -> bool:
    return target.endswith(".md") and "/" not in target and (folder / target).is_file()


def _parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"html": False}).enable("table")
    for rule in (_table_open, _table_close, _th_open):
        parser.add_render_rule(rule.__name__.removeprefix("_"), rule)
    parser.core.ruler.push("anchors", lambda state: _add_anchors(state.tokens))
    return parser


def _table_open(_self: Any, _tokens: Sequence[Token], _index: int, _options: Any, _env: Any) -> str:
    return '<div class="scroll"><table>\n'


def _table_close(_self: Any, _tokens: Sequence[Token], _index: int, _options: Any, _env: Any) -> str:
    return "</table></div>\n"


def _th_open(_self: Any, _tokens: Sequence[Token], _index: int, _options: Any, _env: Any) -> str:
    return '<th scope="col">'


def _add_anchors(tokens: list[Token]) -> None:
    """Give each heading the anchor that GitHub gives it, so that links to it work here as there."""
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            words = re.sub(r"[^\w\- ]", "", inline.content.lower())
            token.attrs["id"] = words.replace(" ", "-")
        elif token.type == "td_open":
            # Policies of these pages allow no style of an element.
            token.attrs.pop("style", None)


def _cut_title(tokens: list[Token]) -> str:
    """Remove the heading of the whole document, which the page has already, and return it."""
    if not tokens or tokens[0].tag != "h1":
        return ""
    title = tokens[1].content
    del tokens[:3]
    return title


def _links(tokens: Sequence[Token]) -> Iterator[Token]:
    for token in tokens:
        for child in token.children or ():
            if child.type == "link_open":
                yield child

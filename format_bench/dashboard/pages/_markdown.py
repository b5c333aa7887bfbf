"""Markdown as HTML of the site: wide tables scroll, and headings have GitHub's anchors."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


@dataclass(frozen=True)
class Document:
    """A parsed document, whose links may be changed before it is rendered."""

    title: str
    """Text of the first heading; empty if the document does not start with one."""
    tokens: list[Token]
    """Everything but that heading, which the frame of the page shows."""
    parser: MarkdownIt

    @classmethod
    def parse(cls, text: str) -> Document:
        """Parse a text in Markdown."""
        parser = _parser()
        tokens = parser.parse(text)
        if tokens and tokens[0].tag == "h1":
            # A heading is three tokens: its start, its text, its end.
            return cls(tokens[1].content, tokens[3:], parser)
        return cls("", tokens, parser)

    def links(self) -> Iterator[Token]:
        """Yield the tokens of links, which have their addresses in `attrs["href"]`."""
        return self._inline("link_open")

    def images(self) -> Iterator[Token]:
        """Yield the tokens of images, which have their addresses in `attrs["src"]`."""
        return self._inline("image")

    def _inline(self, kind: str) -> Iterator[Token]:
        for token in self.tokens:
            for child in token.children or ():
                if child.type == kind:
                    yield child

    def html(self) -> str:
        """Return the body of a page."""
        text = self.parser.renderer.render(self.tokens, self.parser.options, {})
        return f'<div class="prose">\n{text}</div>'


def as_html(text: str) -> str:
    """Return a text in Markdown, without its title, as the body of a page."""
    return Document.parse(text).html()


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
    for token, inline in pairwise(tokens):
        if token.type == "heading_open":
            # GitHub's rule, so that a link to a heading works there and here.
            words = re.sub(r"[^\w\- ]", "", inline.content.lower())
            token.attrs["id"] = words.replace(" ", "-")
        elif token.type == "td_open":
            # The pages' Content Security Policy forbids style attributes.
            token.attrs.pop("style", None)

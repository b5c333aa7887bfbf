"""Configuration of Sphinx for the documentation site; ``make docs`` builds it without a network."""

from __future__ import annotations

import functools
import importlib.metadata
import logging
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docutils import nodes
from sphinx.addnodes import pending_xref, toctree

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment

ROOT = Path(__file__).resolve().parent.parent
PROJECT_URL = "https://github.com/formatbench/formatbench"

project = "FormatBench"
author = "The FormatBench developers"
copyright = "2026, The FormatBench developers"  # noqa: A001 (the name that Sphinx reads)
release = importlib.metadata.version("formatbench")

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
exclude_patterns = ["systemd"]

# Decision notes are listed by their index, so that contents have two levels.
suppress_warnings = ["toc.not_included"]

# GitHub's anchors: a link to a heading is valid there, here and on the dashboard.
myst_heading_anchors = 3

# Single backticks in docstrings: a link if the name is documented, else code.
default_role = "py:obj"
autodoc_member_order = "bysource"
autodoc_typehints = "none"
autodoc_use_type_comments = False  # there are none, and each function would be parsed for them
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_google_docstring = False
napoleon_use_rtype = False

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["manual.css"]
html_title = "FormatBench"
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "source_repository": PROJECT_URL,
    "source_branch": "main",
    "source_directory": "docs/",
}

# It reports its threads when a documented module imports it, and Sphinx shows that as a message.
logging.getLogger("numexpr").setLevel(logging.WARNING)


# Files of the project's root that pages of the site include, and these pages.
INCLUDED = {
    target: page.stem
    for page in Path(__file__).parent.glob("*.md")
    for target in re.findall(r"^```\{include\} \.\./(\S+)$", page.read_text("utf-8"), re.MULTILINE)
}


def link_root_files(_app: Sphinx, doctree: nodes.document) -> None:
    """Link files of the project's root to the pages that include them, or to GitHub."""
    for node in list(doctree.findall(pending_xref)):
        target = node["reftarget"]
        if target in INCLUDED:
            node["refdomain"], node["reftarget"], node["reftargetid"] = "doc", INCLUDED[target], None
        elif node["reftype"] == "myst" and (ROOT / target).is_file():
            uri = f"{PROJECT_URL}/blob/main/{target}"
            node.replace_self(nodes.reference("", "", *node.children, internal=False, refuri=uri))


@functools.cache
def titles_of(env: BuildEnvironment) -> dict[str, nodes.bullet_list]:
    """Return the title of each page, with the lists of pages below it."""
    titles = {}
    for name, contents in env.tocs.items():
        titles[name] = contents.deepcopy()
        for title in titles[name].children:
            if len(title) > 1:
                below = list(title.findall(toctree))
                title[1:] = [nodes.bullet_list("", *below)] if below else []
    return titles


def list_titles(
    app: Sphinx, _name: str, _template: str, context: dict[str, Any], _doctree: nodes.document | None
) -> None:
    """Let the theme list pages by their titles, without copying the headings of all pages for each."""
    list_pages = context["toctree"]

    def listed(**options: Any) -> str:
        whole = app.env.tocs
        app.env.tocs = titles_of(app.env) if options.get("titles_only") else whole
        try:
            return list_pages(**options)
        finally:
            app.env.tocs = whole

    context["toctree"] = listed


HIDDEN_COLON = "\ufffc"


def before_napoleon(_app: Sphinx, what: str, *arguments: Any) -> None:
    """Make a literal block of each drawn tree, and hide colons in descriptions of attributes."""
    lines: list[str] = arguments[-1]
    drawn = [number for number, line in enumerate(lines) if line.startswith(("├", "│", "└"))]
    if drawn:
        root, end = drawn[0] - 1, drawn[-1] + 1
        lines[root:end] = ["::", "", *(f"    {line}" for line in lines[root:end])]
    if what in ("attribute", "data", "property"):
        # napoleon takes the text before a colon in the first line for the attribute's type.
        lines[:1] = [line.replace(":", HIDDEN_COLON) for line in lines[:1]]


def after_napoleon(*arguments: Any) -> None:
    """Show the hidden colons."""
    lines: list[str] = arguments[-1]
    lines[:] = [line.replace(HIDDEN_COLON, ":") for line in lines]


def setup(app: Sphinx) -> None:
    """Connect the handlers of events; those of napoleon and of the theme have the priority 500."""
    app.connect("doctree-read", link_root_files)
    app.connect("html-page-context", list_titles, priority=400)
    app.connect("autodoc-process-docstring", before_napoleon, priority=400)
    app.connect("autodoc-process-docstring", after_napoleon, priority=600)

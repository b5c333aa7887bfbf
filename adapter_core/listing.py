"""The facts that adapter files declare, read without importing them.

setup.py derives the extras from these facts and the asv suites their parameter lists, both where the
formats' libraries, or even this project, may not be installed. So this file needs the standard
library alone and imports nothing from the project.
"""

from __future__ import annotations

import ast
import functools
from dataclasses import dataclass
from pathlib import Path
from typing import Any

CLASS_NAME = "Adapter"


@dataclass(frozen=True)
class Declaration:
    """The literal facts at the top of one adapter file."""

    stem: str
    """File name without its ending: the module, and the name of the pip extra."""
    label: str
    """What results, tables and charts call it."""
    requires: tuple[str, ...]
    """Requirement strings of the distributions that it needs, as pip takes them."""
    suite: str = ""
    """The asv suite that measures it; empty for the first one of its family."""
    excluded_from_all: str = ""
    """Reason why the extra `all` excludes its libraries; empty if it includes them."""


def declarations(folder: Path) -> list[Declaration]:
    """Return one declaration for each adapter file of a folder, ordered by label.

    Parameters
    ----------
    folder : Path
        A folder of adapter files; names that start with an underscore are left out.

    Raises
    ------
    SyntaxError
        If a file is not Python, or declares no class ``Adapter`` with a literal ``label`` and
        ``requires``; the message names the file.
    """
    found = [declaration(path) for path in sorted(folder.glob("[!_]*.py"))]
    return sorted(found, key=lambda each: (each.label.lower(), each.label))


def declaration(path: Path) -> Declaration:
    """Return the facts that one adapter file declares; see `declarations`."""
    return _declaration(path, path.stat().st_mtime_ns)


@functools.cache
def _declaration(path: Path, _changed_ns: int) -> Declaration:
    """Parse a file once for as long as it does not change: every look for a format asks for all."""
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == CLASS_NAME:
            facts = _literals(node)
            if isinstance(facts.get("label"), str) and isinstance(facts.get("requires"), tuple):
                further = {name: facts.get(name, "") for name in ("suite", "excluded_from_all")}
                return Declaration(path.stem, facts["label"], facts["requires"], **further)
    raise SyntaxError(
        f"{path}: declares no class {CLASS_NAME} with a literal `label` (text) and `requires` (tuple)"
    )


def _literals(node: ast.ClassDef) -> dict[str, Any]:
    facts = {}
    for statement in node.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            try:
                facts[statement.targets[0].id] = ast.literal_eval(statement.value)
            except ValueError:
                continue
    return facts

"""Declarations of adapters, read from their files without importing them.

An adapter is a file, or an entry of a table: the file `adapters.toml` of a folder below, whose entries
are facts of one class.

setup.py derives the extras from them, and the asv suites their parameter lists, both where the formats'
libraries, or even this project, may be missing. Hence this file imports the standard library only.
"""

from __future__ import annotations

import ast
import functools
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

CLASS_NAME = "Adapter"
TABLE_NAME = "adapters.toml"


@dataclass(frozen=True)
class Declaration:
    """Literal facts at the top of an adapter file, or of an entry of a table."""

    stem: str
    """Name of the file without extension, or of the table's folder; also the name of the pip extra."""
    label: str
    """Name in results, tables and charts."""
    requires: tuple[str, ...]
    """Requirement strings of the distributions that it needs, in pip's syntax."""
    suite: str = ""
    """The asv suite that measures it; empty for the first suite of its family."""
    excluded_from_all: str = ""
    """Reason why its libraries are in the extra `native`; empty if they are in `all`."""
    outside_library_set: str = ""
    """Reason why its libraries are in no extra; empty if they are in one."""
    environment: str = ""
    """Name of its own environment, whose libraries are in no extra; empty without one."""
    reads: tuple[str, ...] = ()
    """Labels of the formats that a query engine reads; empty for other adapters."""
    table_class: str = ""
    """Class of a table's entries, as ``module:Class``; empty for an adapter with a file of its own."""
    facts: Mapping[str, Any] = field(default_factory=dict, compare=False)
    """All facts of a table's entry, with its `name`; empty for an adapter with a file of its own."""

    @property
    def labels(self) -> tuple[str, ...]:
        """Names in results: one for each format that a query engine reads, e.g. ``Parquet[duckdb]``."""
        return tuple(f"{each}[{self.label}]" for each in self.reads) or (self.label,)


def declarations(folder: Path) -> list[Declaration]:
    """Return one declaration for each adapter of a folder, ordered by label.

    Parameters
    ----------
    folder : Path
        A folder of adapter files and of folders with a table; names that start with an underscore are
        skipped.

    Raises
    ------
    SyntaxError
        If a file is not valid Python, or lacks a class ``Adapter`` with a literal ``label`` and
        ``requires``; if a table is not valid TOML, or an entry of it lacks a ``label``. The message
        names the file.
    """
    found = [declaration(path) for path in sorted(folder.glob("[!_]*.py"))]
    for path in sorted(folder.glob(f"[!_]*/{TABLE_NAME}")):
        found += _table(path, path.stat().st_mtime_ns)
    return sorted(found, key=lambda each: (each.label.lower(), each.label))


def declaration(path: Path) -> Declaration:
    """Return the declaration of one adapter file; see `declarations`."""
    return _declaration(path, path.stat().st_mtime_ns)


@functools.cache
def _declaration(path: Path, _changed_ns: int) -> Declaration:
    # Each search for a format lists all files, hence the cache, whose key changes with the file.
    tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name == CLASS_NAME:
            facts = _literals(node)
            if isinstance(facts.get("label"), str) and isinstance(facts.get("requires"), tuple):
                names = ("suite", "excluded_from_all", "outside_library_set", "environment", "reads")
                further: dict[str, Any] = {name: facts[name] for name in names if name in facts}
                return Declaration(path.stem, facts["label"], facts["requires"], **further)
    raise SyntaxError(
        f"{path}: declares no class {CLASS_NAME} with a literal `label` (text) and `requires` (tuple)"
    )


@functools.cache
def _table(path: Path, _changed_ns: int) -> list[Declaration]:
    try:
        entries = tomllib.loads(path.read_text(encoding="utf-8"))
        table_class = entries.pop("adapter")
        return [
            Declaration(
                path.parent.name,
                facts["label"],
                tuple(facts.get("requires", ())),
                suite=facts.get("suite", ""),
                table_class=table_class,
                facts={"name": name, **facts},
            )
            for name, facts in entries.items()
        ]
    except tomllib.TOMLDecodeError as error:
        raise SyntaxError(f"{path}: {error}") from error
    except KeyError as error:
        raise SyntaxError(f"{path}: it lacks {error}") from error


def _literals(node: ast.ClassDef) -> dict[str, Any]:
    facts = {}
    for statement in node.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            try:
                facts[statement.targets[0].id] = ast.literal_eval(statement.value)
            except ValueError:
                continue
    return facts

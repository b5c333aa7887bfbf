"""Tables that put formats side by side: one for each data set, formats by metrics, the best marked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Table:
    """One comparison, as text."""

    title: str
    header: list[str]
    rows: list[list[str]]
    """A row for each format, the format first."""
    notes: list[str]
    """A sentence for each kind of empty cell, in the order of their numbers."""


def reference(note: str, notes: list[str]) -> str:
    """Return the number of a note in brackets; the same note has one number."""
    if note not in notes:
        notes.append(note)
    return f"[{notes.index(note) + 1}]"


def markdown(table: Table) -> str:
    """Return a table in Markdown, with its notes."""
    lines = [f"## {table.title}", ""]
    for row in (table.header, ["---"] + ["--:"] * (len(table.header) - 1), *table.rows):
        lines.append("| " + " | ".join(text.replace("|", "\\|") for text in row) + " |")
    lines.append("")
    lines += [f"{number}. {note}" for number, note in enumerate(table.notes, start=1)]
    return "\n".join(lines) + "\n"

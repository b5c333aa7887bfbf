"""Metadata of the runs as a table: a row for each fact, a column for each run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from adapter_core.text import printable
from format_bench.results.display.text import quantity
from format_bench.results.load import Results

RUN = "run"
"""Section of the facts without one."""

UNKNOWN = "unknown"
_BYTES = "_bytes"
_ABBREVIATIONS = {"cpu", "os", "smt"}


@dataclass(frozen=True)
class Fact:
    """A fact about the runs."""

    section: str
    """The name of the section, e.g. "libraries", or `RUN`."""
    name: str
    values: list[str]
    """The value of each run, oldest first."""

    @property
    def agreed(self) -> bool:
        """Whether all runs have the same value."""
        return len(set(self.values)) == 1


def facts(results: Results) -> list[Fact]:
    """Return the facts of all runs, in order of appearance."""
    runs = [dict(_flat(run, ())) for run in results.metadata]
    paths = dict.fromkeys(path for run in runs for path in run)
    sections = [*dict.fromkeys(path[0] for path in paths)]
    return [
        Fact(
            section=_words(path[0]) if path[1:] else RUN,
            name=_words(*(path[1:] or path)),
            values=[run.get(path, UNKNOWN) for run in runs],
        )
        for path in sorted(paths, key=lambda path: (bool(path[1:]), sections.index(path[0])))
    ]


def by_section(results: Results) -> list[tuple[str, list[Fact]]]:
    """Return the facts of each section."""
    return [(name, list(rows)) for name, rows in groupby(facts(results), key=lambda fact: fact.section)]


def _flat(value: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], str]]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from _flat(inner, (*path, str(key)))
    else:
        yield path, _shown(value, path[-1])


def _shown(value: Any, name: str) -> str:
    if value is None:
        return UNKNOWN
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, list):
        return ", ".join(_shown(each, name) for each in value) or "none"
    if isinstance(value, (int, float)) and name.endswith(_BYTES) and value >= 0:
        return quantity(value, "bytes")
    return f"{value:.3g}" if isinstance(value, float) else printable(str(value))


def _words(*names: str) -> str:
    words = ", ".join(name.removesuffix(_BYTES).replace("_", " ") for name in names).split()
    return printable(" ".join(word.upper() if word in _ABBREVIATIONS else word for word in words))


def summary(results: Results) -> str:
    """Return the machine and the day of the newest run on one line; empty if nothing is known."""
    if not results.metadata:
        return ""
    known = dict(_flat(results.metadata[-1], ()))
    memory = known.get(("memory", "total_bytes"))
    parts = [
        known.get(("cpu", "model")),
        f"{known[('cpu', 'usable')]} CPUs" if ("cpu", "usable") in known else None,
        f"{memory} of memory" if memory else None,
        known.get(("system", "os")),
        known.get(("started",), "").partition("T")[0],
    ]
    return ", ".join(part for part in parts if part and part != UNKNOWN)

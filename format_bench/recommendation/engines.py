"""The page "Which engine for which format", in Markdown, computed from results.

The engines of each format, compared with each other alone.

Prints the page, of results in a folder or a file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import data_formats
from adapter_core.errors import InvalidResultsError
from adapter_core.traits import Trait
from format_bench.display.text import joined, many, times
from format_bench.report import ranking
from format_bench.report.losses_and_gaps import losses
from format_bench.report.model import SuiteResults, families
from format_bench.report.ranking import contest_of, findings_on, mean_ratios
from format_bench.results.load import Results, suite_of
from format_bench.results.metrics import Measure
from format_bench.results.suites import FAMILIES

if TYPE_CHECKING:
    from format_bench.results.candidates import Configuration
    from format_bench.results.noise_floor import Floors
    from format_bench.results.records import Record


MEASURES = {
    "save": Measure("save time"),
    "read": Measure("read time", "warm"),
    "cold read": Measure("read time", "cold"),
    "size": Measure("size"),
    "read memory": Measure("read memory"),
}
"""The columns of the tables."""

RANKED = ("save", "read", "size")

_HEAD = """\
# Which engine for which format

A format is read and written through a library, its engine, and engines differ. Each section compares
the engines of one format with each other alone, on the same tables. The numbers in its table are how
many times the best engine's value each engine has, as geometric mean over the data sets: 1 is the best,
smaller is better. The label without brackets is what a pandas user gets. A format whose label has a
second part, as HDF5.table, has layouts besides engines.
"""


def page(results: Results) -> str:
    """Return the page.

    Raises
    ------
    InvalidResultsError
        If no format has several engines in the results.
    """
    families = list(by_format(results))
    if not families:
        raise InvalidResultsError(f"{results.name} holds no format with several engines")
    parts = [_HEAD, f"{_extent(families)} {ranking.legend(results.floors)}\n"]
    parts += _overview(families, results.floors)
    for family in families:
        parts += _section(family, results.floors)
    return "\n".join(parts) + "\n"


def _extent(families: list[SuiteResults]) -> str:
    """Return on which data was measured, as a sentence."""
    groups = [group for family in families for group in family.groups]
    datasets = list(dict.fromkeys(group.dataset for group in groups))
    rows = [many(number, "row") for number in sorted({group.rows for group in groups})]
    return f"Measured on {joined(datasets, most=8)}, of {joined(rows)}."


def _overview(families: list[SuiteResults], floors: Floors | None) -> Iterator[str]:
    yield "| format | engines | fastest to save | fastest to read | smallest |"
    yield "| --- | --: | --- | --- | --- |"
    for family in families:
        ahead = [_ahead(family, MEASURES[name], floors) for name in RANKED]
        yield f"| {family.name} | {len(family.configurations)} | {' | '.join(ahead)} |"


def _ahead(family: SuiteResults, measure: Measure, floors: Floors | None) -> str:
    contest = contest_of(family, measure, floors)
    if contest is None:
        return "no difference"
    ties = [str(entry) for entry in contest.ties(contest.leader)]
    return f"{contest.leader}{f' (ties: {joined(ties)})' if ties else ''}"


def _section(family: SuiteResults, floors: Floors | None) -> Iterator[str]:
    yield f"\n## {family.name}\n"
    yield from (f"- {finding}" for finding in findings_on(family, floors))
    ratios = {name: mean_ratios(family.groups, measure) for name, measure in MEASURES.items()}
    lost = {entry: joined(words, most=3) for entry, words in _lost(family).items()}
    yield f"\n| engine | {' | '.join(MEASURES)} | loses | reading runs no code |"
    yield f"| --- {'| --: ' * len(MEASURES)}| --- | --- |"
    for entry in family.configurations:
        numbers = [times(found[entry]) if entry in found else "-" for found in ratios.values()]
        yield f"| {entry} | {' | '.join(numbers)} | {lost.get(entry, 'nothing')} | {_safe(entry)} |"


def _lost(family: SuiteResults) -> dict[Configuration, list[str]]:
    found: dict[Configuration, list[str]] = {}
    for loss in losses(family):
        found.setdefault(loss.entry, []).append(f"{loss.words} ({joined(loss.groups)})")
    return found


def _safe(entry: Configuration) -> str:
    try:
        traits = data_formats.find(entry.format).traits
    except Exception:
        # Results outlive their adapters: of one that is gone or broken nothing is known.
        traits = None
    return "not known" if traits is None else "yes" if Trait.SAFE in traits else "**no**"


SUITES = tuple(each.name for each in FAMILIES["tables"].suites if not each.codecs)
"""Both measure tables alike, on tables of the same name, number and seed."""

_AFTER_NAME = re.compile(r"[.\[]")
"""Begins what a label says beyond the format: the engine, or the layout, as in HDF5.table."""

_FEWEST = 2


def format_of(label: str) -> str:
    """Return the format that a label names, as in "CSV" of "CSV[polars]"."""
    return _AFTER_NAME.split(label, maxsplit=1)[0]


def by_format(results: Results) -> Iterator[SuiteResults]:
    """Yield a family for each format of which at least two engines have values on some data set.

    Records with a codec are left out: codecs are compared elsewhere.
    """
    found: dict[str, list[Record]] = {}
    for record in results.records:
        if suite_of(record) in SUITES and record.codec is None:
            one_suite = replace(record, suite=SUITES[0])
            found.setdefault(format_of(record.format), []).append(one_suite)
    for name in sorted(found, key=str.casefold):
        for family in families(replace(results, records=found[name])):
            groups = [group for group in family.groups if len(group.configurations) >= _FEWEST]
            if groups:
                yield SuiteResults(name, groups)

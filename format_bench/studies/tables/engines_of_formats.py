"""Engines of each format, compared with each other alone.

A format is read and written through a library, its engine. Results of the usual formats and of the
suite of further engines are on the same tables, so both are compared.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

import data_formats
from adapter_core import Trait
from adapter_core.errors import InvalidResultsError
from format_bench.report.losses_and_gaps import losses
from format_bench.report.model import SuiteResults, results_by_suite
from format_bench.report.ranking import findings_on, ranking_of, ratios_everywhere
from format_bench.results.candidates import Configuration
from format_bench.results.display.text import format_ratio, joined, plural
from format_bench.results.load import Results, suite_of
from format_bench.results.marks import LEGEND
from format_bench.results.metrics import Measure
from format_bench.results.records import Record
from format_bench.results.suites import FAMILIES
from format_bench.studies.declared.blocks import Block, Context

# Suites that measure tables alike, on tables of the same name, rows and seed.
SUITES = tuple(each.name for each in FAMILIES["tables"].suites if not each.codecs)

# The columns of the tables.
MEASURES = {
    "save": Measure("save time"),
    "read": Measure("read time", "warm"),
    "cold read": Measure("read time", "cold"),
    "size": Measure("size"),
    "read memory": Measure("read memory"),
}

# The columns of the overview.
RANKED = ("save", "read", "size")

# Engines of a format that are worth a comparison.
_FEWEST = 2

# First character of a label after the format's name: of the engine, or of the layout (HDF5.table).
_AFTER_NAME = re.compile(r"[.\[]")


def engines(context: Context) -> Iterator[Block]:
    """Yield an overview, and a block for each format with several engines.

    Raises
    ------
    InvalidResultsError
        If the results contain several engines of no format.
    """
    results = context.results
    formats = list(by_format(results))
    if not formats:
        raise InvalidResultsError(f"{results.name} holds no format with several engines")
    yield _overview(formats)
    for each in formats:
        yield _section(each)


def by_format(results: Results) -> Iterator[SuiteResults]:
    """Yield the results of each format with at least two engines that have values on some data set.

    Records with a codec are left out: codecs are compared elsewhere.
    """
    found: dict[str, list[Record]] = {}
    for record in results.records:
        if suite_of(record) in SUITES and record.codec is None:
            # As one suite, the usual engine and the others are in one group, and compare.
            one_suite = replace(record, suite=SUITES[0])
            found.setdefault(format_of(record.format), []).append(one_suite)
    for name in sorted(found, key=str.casefold):
        for suite in results_by_suite(replace(results, records=found[name])):
            groups = [group for group in suite.groups if len(group.configurations) >= _FEWEST]
            if groups:
                yield SuiteResults(name, groups)


def format_of(label: str) -> str:
    """Return the format of a label, e.g. "CSV" of "CSV[polars]"."""
    return _AFTER_NAME.split(label, maxsplit=1)[0]


def _extent(formats: list[SuiteResults]) -> str:
    """Return a sentence on the data sets and their sizes."""
    groups = [group for each in formats for group in each.groups]
    datasets = list(dict.fromkeys(group.dataset for group in groups))
    rows = [plural(number, "row") for number in sorted({group.rows for group in groups})]
    return f"Measured on {joined(datasets, most=8)}, of {joined(rows)}."


def _overview(formats: list[SuiteResults]) -> Block:
    header = ["format", "engines", "fastest to save", "fastest to read", "smallest"]
    rows = [
        [
            each.name,
            str(len(each.configurations)),
            *(_best(each, MEASURES[name]) for name in RANKED),
        ]
        for each in formats
    ]
    return Block("", f"{_extent(formats)} {LEGEND}", header, rows, alignment="lrlll")


def _best(results: SuiteResults, measure: Measure) -> str:
    ranking = ranking_of(results, measure)
    if ranking is None:
        return "no difference"
    ties = [str(each) for each in ranking.ties(ranking.leader)]
    return f"{ranking.leader}{f' (ties: {joined(ties)})' if ties else ''}"


def _section(results: SuiteResults) -> Block:
    ratios = [ratios_everywhere(results.groups, measure) for measure in MEASURES.values()]
    lost = {each: joined(words, most=3) for each, words in _losses(results).items()}
    rows = [
        [
            str(each),
            *(format_ratio(found[each]) if each in found else "-" for found in ratios),
            lost.get(each, "nothing"),
            _is_safe(each),
        ]
        for each in results.configurations
    ]
    header = ["engine", *MEASURES, "loses", "reading runs no code"]
    alignment = "l" + "r" * len(MEASURES) + "ll"
    return Block(results.name, "", header, rows, alignment, list(map(str, findings_on(results))))


def _losses(results: SuiteResults) -> dict[Configuration, list[str]]:
    found: dict[Configuration, list[str]] = {}
    for loss in losses(results):
        found.setdefault(loss.configuration, []).append(f"{loss.words} ({joined(loss.groups)})")
    return found


def _is_safe(configuration: Configuration) -> str:
    try:
        traits = data_formats.find(configuration.format).traits
    except Exception:
        # Results outlive their adapters: one may be gone or broken by now.
        traits = None
    return "not known" if traits is None else "yes" if Trait.SAFE in traits else "**no**"

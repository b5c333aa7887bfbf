"""Study of partial reads: the findings of Blomer's review of formats beside measured results.

J. Blomer (A quantitative review of data formats for HEP analyses, ACAT 2017) wrote decays of B mesons in
ROOT, Protocol Buffers, SQLite, HDF5, Avro and Parquet, and read what two analyses need of them. The
suite `analysis` asks the same of all table formats.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean, median
from typing import TYPE_CHECKING

import click

from adapter_core.errors import InvalidResultsError
from format_bench.display.markdown import table_lines
from format_bench.display.text import format_ratio, joined, plural, quantity
from format_bench.report.losses_and_gaps import rows_of_gaps
from format_bench.report.model import SuiteResults, results_of_suite
from format_bench.results.load import Results, load
from format_bench.results.metrics import Measure

if TYPE_CHECKING:
    from format_bench.results.candidates import Configuration
    from format_bench.results.groups import ComparisonGroup

SUITE = "analysis"
QUERIES = ("full", "cut", "sparse")

SAVE, SIZE = Measure("save time"), Measure("size")

COMMON_NAMES = {
    "gzip": "zlib",
    "deflate": "zlib",
    "xz": "lzma",
    "blosc:lz4": "lz4",
    "blosc:zstd": "zstd",
}
"""Algorithms by the names that formats give them; other names are their own."""

_FEW_BYTES = 0.5
"""A format that fetches less than this share of a file for 2 of 26 columns skips the others."""

_HEAD = """\
# Partial reads: an analysis of decays

J. Blomer (A quantitative review of data formats for HEP analyses, ACAT 2017) asked two things of decays
of B mesons with 26 columns: to add up 18 columns of the events that 3 others select (*cut*), and 1
column selected by another (*sparse*). *full* adds up all columns. The events here are generated, with
the published names and types. Each format reads into NumPy arrays, through its library's own selection
of columns and of rows where that is faster, or adds up itself; sums and numbers of rows are compared
with the generator's. Smaller is better. Made by `format-bench study analysis`.
"""


@dataclass(frozen=True)
class Reads:
    """The results of one data set, size and thread policy."""

    group: ComparisonGroup

    def values(self, query: str, cache: str, metric: str = "query time") -> dict[Configuration, float]:
        """Return the values of a query by configuration."""
        return self.group.values(Measure(metric, cache, query))

    def shares(self, query: str) -> dict[Configuration, float]:
        """Return the bytes that a cold query fetched, as a share of the file."""
        sizes = self.group.values(SIZE)
        fetched = self.values(query, "cold", "query bytes")
        return {each: value / sizes[each] for each, value in fetched.items() if sizes.get(each)}

    @cached_property
    def ranked(self) -> list[Configuration]:
        """The configurations by the geometric mean of their warm queries; incomplete ones come last."""
        means = {}
        for each in self.group.configurations:
            values = [self.values(query, "warm").get(each) for query in QUERIES]
            found = [value for value in values if value]
            if found:
                means[each] = len(QUERIES) - len(found), geometric_mean(found)
        return sorted(means, key=lambda each: means[each])

    @cached_property
    def plain(self) -> list[Configuration]:
        """The configurations without a codec, in the order of `ranked`."""
        return [each for each in self.ranked if each.codec is None]


def geometric_mean(values: Iterable[float]) -> float:
    """Return the geometric mean of numbers above 0."""
    return math.exp(fmean(map(math.log, values)))


def page(results: Results) -> str:
    """Return the page in Markdown.

    Raises
    ------
    InvalidResultsError
        If the results have no answer to a query of the suite.
    """
    suite = results_of_suite(results, SUITE)
    all_reads = [Reads(group) for group in suite.groups]
    all_reads = [each for each in all_reads if each.ranked]
    if not all_reads:
        raise InvalidResultsError(f"{results.name} has no answers of the suite {SUITE}")
    parts = [
        _HEAD,
        *_extent(all_reads),
        *_findings(all_reads),
        *(line for each in all_reads for line in _times(each)),
        *_threads(all_reads),
        *_left_out(suite),
    ]
    return "\n".join(parts) + "\n"


def _extent(all_reads: list[Reads]) -> Iterator[str]:
    yield "## Measured\n"
    rows = []
    for reads in all_reads:
        answers = [
            cell
            for (_, measure), cell in reads.group.cells.items()
            if measure.metric == "query time" and measure.cache == "warm" and cell.value is not None
        ]
        formats = {each.format for each in reads.ranked}
        numbers = (len(formats), len(reads.ranked), len(answers))
        extent = [reads.group.dataset, f"{reads.group.rows:,}", reads.group.threads]
        rows.append([*extent, *(f"{number:,}" for number in numbers)])
    header = ["data set", "rows", "threads", "formats", "with codecs", "answers"]
    yield from table_lines(header, rows, alignment="lrlrrr")
    yield ("\nAn answer whose sums or number of rows differ from the generator's is a failure.\n")


@dataclass(frozen=True)
class Finding:
    """A published finding beside the results."""

    published: str
    verdict: str
    evidence: str


def findings(all_reads: list[Reads]) -> Iterator[tuple[Reads, Finding]]:
    """Yield each published finding with the largest results that have values for it."""
    by_size = sorted(
        all_reads, key=lambda each: (each.group.rows, each.group.threads == "all"), reverse=True
    )
    for rule in (_columns, _parquet, _root, _lz4):
        for reads in by_size:
            found = rule(reads)
            if found:
                yield reads, found
                break


def _findings(all_reads: list[Reads]) -> Iterator[str]:
    yield "## Findings of the review\n"
    yield "Each verdict follows from the numbers beside it by a fixed rule.\n"
    for reads, each in findings(all_reads):
        extent = f"At {reads.group.rows:,} rows on {_in_words(reads.group.threads)}"
        yield f"- **{each.published}** {each.verdict}. {extent}: {each.evidence}"
    yield ""


def _in_words(threads: str) -> str:
    return "1 thread" if threads == "1" else f"{threads} threads"


def _columns(reads: Reads) -> Finding | None:
    """Compare formats that skip columns with those that read the whole file, in `sparse`."""
    shares, seconds = reads.shares("sparse"), reads.values("sparse", "cold")
    skipping = [each for each in reads.plain if each in seconds and shares.get(each, 1) < _FEW_BYTES]
    reading = [each for each in reads.plain if each in seconds and shares.get(each, 0) >= _FEW_BYTES]
    if not skipping or not reading:
        return None
    faster = [seconds[a] < seconds[b] for a in skipping for b in reading]
    share = fmean(faster)
    factor = geometric_mean(seconds[each] for each in reading) / geometric_mean(
        seconds[each] for each in skipping
    )
    exceptions = [each for each in skipping if seconds[each] > min(seconds[b] for b in reading)]
    evidence = (
        f"{plural(len(skipping), 'format')} fetch less than half of the file for 2 of 26 columns, and "
        f"answer {format_ratio(factor)} times as fast from a cold file as the {len(reading)} others, in "
        f"the geometric mean; {share:.0%} of the pairs have this order."
    )
    if exceptions:
        evidence += f" Not ahead of all others: {joined(exceptions)}."
    return Finding("Columnar formats win sparse reads.", _verdict(share), evidence)


_MOST, _HALF = 0.9, 0.5


def _verdict(share: float) -> str:
    if share >= _MOST:
        return "Confirmed"
    return "Confirmed in part" if share >= _HALF else "Not confirmed"


def _parquet(reads: Reads) -> Finding | None:
    """Return the shares of Parquet's files that a sparse query fetches."""
    shares = {each: share for each, share in reads.shares("sparse").items() if _is(each, "Parquet")}
    if not shares:
        return None
    largest = max(shares, key=lambda each: shares[each])
    evidence = (
        f"for 2 of 26 columns, {plural(len(shares), 'configuration')} of Parquet fetch "
        f"{min(shares.values()):.1%} to {shares[largest]:.1%} of the file, read-ahead included; the "
        f"most {largest}."
    )
    verdict = "Confirmed" if min(shares.values()) >= _FEW_BYTES else "No more"
    return Finding("Parquet reads the whole file also for a sparse read.", verdict, evidence)


def _root(reads: Reads) -> Finding | None:
    """Compare the fastest reader of ROOT files with the fastest of all others."""
    texts, firsts = [], []
    for query in ("cut", "sparse"):
        for cache in ("warm", "cold"):
            seconds = reads.values(query, cache)
            root = {each: value for each, value in seconds.items() if _is(each, "ROOT")}
            others = {each: value for each, value in seconds.items() if not _is(each, "ROOT")}
            if not root or not others:
                continue
            best = min(root, key=lambda each: root[each])
            faster = [each for each in others if others[each] < root[best]]
            firsts.append(not faster)
            factor = format_ratio(root[best] / min(others.values()))
            leaders = joined(sorted(faster, key=others.__getitem__)[:3]) if faster else ""
            place = f"behind {len(faster)}, the first {leaders}" if faster else "ahead of all"
            texts.append(
                f"{query} {cache}: {best} with {quantity(root[best], 'seconds')}, {factor} times the "
                f"best other, {place}"
            )
    if not texts:
        return None
    return Finding("ROOT is the fastest.", _verdict(fmean(firsts)), "; ".join(texts) + ".")


def _is(configuration: Configuration, kind: str) -> bool:
    return configuration.format.replace("[", ".").partition(".")[0] == kind


def _lz4(reads: Reads) -> Finding | None:
    """Compare codecs by the product of size and of time, each relative to none in the same format."""
    rows = trade_offs(reads)
    if "lz4" not in rows or len(rows) <= 1:
        return None
    products = {name: row.size * row.cut for name, row in rows.items()}
    best = min(products, key=lambda name: products[name])
    texts = [
        f"{name} {row.size:.2f} of the size, {row.cut:.2f} times the read, {row.save:.2f} times the "
        f"save ({plural(row.formats, 'format')})"
        for name, row in sorted(rows.items(), key=lambda item: products[item[0]])
    ]
    return Finding(
        "LZ4 is the best trade-off of size and speed.",
        "Confirmed" if best == "lz4" else f"Not confirmed: {best} is",
        f"relative to no codec, medians over formats, by size times read time: {'; '.join(texts)}.",
    )


@dataclass(frozen=True)
class TradeOff:
    """Size and times of a codec by those without it, medians over formats."""

    formats: int
    size: float
    save: float
    cut: float
    """Of the query `cut`, warm."""


def trade_offs(reads: Reads) -> dict[str, TradeOff]:
    """Return the trade-offs of codecs by their common name."""
    columns: list[dict[Configuration, float]] = [
        reads.group.values(SIZE),
        reads.group.values(SAVE),
        reads.values("cut", "warm"),
    ]
    found: dict[str, list[list[float]]] = {}
    for each in reads.ranked:
        plain = next((other for other in reads.plain if other.format == each.format), None)
        if each.codec is None or plain is None:
            continue
        if all(column.get(each) and column.get(plain) for column in columns):
            ratios = [column[each] / column[plain] for column in columns]
            found.setdefault(COMMON_NAMES.get(each.codec, each.codec), []).append(ratios)
    return {
        name: TradeOff(len(rows), *(median(column) for column in zip(*rows, strict=True)))
        for name, rows in found.items()
    }


def _times(reads: Reads) -> Iterator[str]:
    group = reads.group
    yield f"## {group.dataset}, {group.rows:,} rows, {_in_words(group.threads)}\n"
    yield (
        "Bytes fetched are those that the storage layer brought in for a cold query, read-ahead "
        "included, as a share of the file. In order of the geometric mean of the warm queries.\n"
    )
    sizes, saves = group.values(SIZE), group.values(SAVE)
    columns: list[tuple[str, Callable[[Configuration], str]]] = [
        ("save", lambda each: _text(saves.get(each), "seconds")),
        ("bytes a row", lambda each: f"{sizes[each] / group.rows:.1f}" if each in sizes else "-"),
    ]
    for cache in ("warm", "cold"):
        for query in QUERIES:
            columns.append((f"{query}, {cache}", _seconds(reads.values(query, cache))))
    for query in ("cut", "sparse"):
        columns.append((f"{query}, fetched", _shares(reads.shares(query))))
    rows = [[str(each), *(text(each) for _, text in columns)] for each in reads.ranked]
    yield from table_lines(["format", *(name for name, _ in columns)], rows)
    yield ""


def _seconds(values: dict[Configuration, float]) -> Callable[[Configuration], str]:
    return lambda each: _text(values.get(each), "seconds")


def _shares(values: dict[Configuration, float]) -> Callable[[Configuration], str]:
    return lambda each: f"{values[each]:.1%}" if each in values else "-"


def _text(value: float | None, unit: str) -> str:
    return "-" if value is None else quantity(value, unit)


def _threads(all_reads: list[Reads]) -> Iterator[str]:
    """Yield the times on one thread by those on all, of groups that differ by the threads alone."""
    yield "## One thread beside all threads\n"
    by_data: dict[tuple[str, int], dict[str, Reads]] = {}
    for reads in all_reads:
        by_data.setdefault((reads.group.dataset, reads.group.rows), {})[reads.group.threads] = reads
    pairs = [each for each in by_data.values() if {"1", "all"} <= each.keys()]
    if not pairs:
        yield "Measured on one of them only.\n"
        return
    for pair in pairs:
        one, every = pair["1"], pair["all"]
        yield f"Warm times on 1 thread by those on all, {one.group.dataset}, {one.group.rows:,} rows.\n"
        rows = []
        for each in every.ranked:
            factors = [
                _factor(one.values(query, "warm"), every.values(query, "warm"), each)
                for query in QUERIES
            ]
            if any(factor != "-" for factor in factors):
                rows.append([str(each), *factors])
        yield from table_lines(["format", *QUERIES], rows)
        yield ""


def _factor(
    one: dict[Configuration, float], other: dict[Configuration, float], configuration: Configuration
) -> str:
    if configuration not in one or not other.get(configuration):
        return "-"
    return format_ratio(one[configuration] / other[configuration])


def _left_out(suite: SuiteResults) -> Iterator[str]:
    yield "## Left out\n"
    rows = [row[1:] for row in rows_of_gaps([suite])]
    if rows:
        header = ["format", "data sets", "cells", "status", "reason"]
        yield from table_lines(header, rows, alignment="lllll")
    else:
        yield "Every cell has a value."


@click.command
@click.argument("results", type=click.Path(path_type=Path))
def command(results: Path) -> None:
    """Compare results of partial reads with the findings of Blomer's review.

    RESULTS is a folder or file of results of the suite `analysis`. Prints a Markdown page: the findings
    with a verdict and the numbers, all times, the shares of files that were fetched, threads.

    \b
    Example:
      format-bench run --suite analysis --rows 1000000 --cold --codecs none,lz4,zstd \\
          --out reports/analysis
      format-bench study analysis reports/analysis > docs/analysis.md
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    click.echo(page(load(results)), nl=False)

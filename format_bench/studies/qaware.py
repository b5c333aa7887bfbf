"""Study of objects on the JVM: the published tables and findings of QAware beside measured results.

J. Ommer (QAware, 2021) kept 10,000,000 objects with 10,000 distinct texts in seven formats, plain and
with gzip. The data set `entities-seed` has the published program's own sequence; labels with `seed` are
its own way to use a format.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import click

from adapter_core.errors import InvalidResultsError, NoCommonCellsError
from format_bench.comparison import Comparison, compare
from format_bench.display.markdown import table_lines
from format_bench.display.text import format_ratio, joined, plural, quantity
from format_bench.report.losses_and_gaps import rows_of_gaps
from format_bench.report.model import SuiteResults, results_of_suite
from format_bench.results.groups import NOT_RUN
from format_bench.results.load import Results, load
from format_bench.results.metrics import Measure
from format_bench.results.published import qaware

if TYPE_CHECKING:
    from format_bench.results.candidates import Configuration
    from format_bench.results.groups import ComparisonGroup

SAVE, READ = Measure("save time"), Measure("read time", "warm")
SIZE, HELD = Measure("size"), Measure("held memory")
FIRST_SAVE, FIRST_READ = Measure("first save time"), Measure("first read time")
_PUBLISHED_READ = Measure("read time")
COMPARED = (SAVE, READ, SIZE, HELD)

COPIES, SHARED = "entities", "entities-shared"

_AVRO = (
    "The published time contains a full collection of the objects read, which is outside the clock "
    "here, and the first use of the classes, half a second (first calls)."
)

EXPLANATIONS: dict[tuple[str, str], str] = {
    ("Protobuf[jvm-seed]", "read time"): (
        "`parseDelimitedFrom` on a file without a buffer makes two system calls and 4.6 kB of garbage "
        "for each record (traced with 100,000 records). So the time is that of system calls and of "
        "collections, which the serial collector here makes on one thread while it copies the records "
        "kept so far; the plain label, with one buffer, shows the format's time."
    ),
    ("Protobuf[jvm-seed]", "save time"): (
        "`writeDelimitedTo` on a file without a buffer: the time is that of system calls, and differs "
        "between operating systems and machines."
    ),
    ("MicroStream[jvm-seed]", "save time"): (
        "The published way ends with a garbage collection and a cache check of the store; the plain "
        "label leaves them out."
    ),
    ("Avro.generic[jvm]", "read time"): _AVRO,
    ("Avro.specific[jvm]", "read time"): _AVRO,
    ("Parquet.specific[jvm]", "read time"): (
        "It takes two thirds of the published time; both readers of Avro have overtaken it."
    ),
}
"""Reasons of disagreements with the published tables, by label and metric.

Each is printed if the results disagree so.
"""

_A_FIFTH, _TWICE = 1 / 4, 2.0
"""Bounds of verdicts: a fifth, with some slack, and twice."""
_MINUTES = 60.0

_HEAD = """\
# Objects on the JVM: published and measured

J. Ommer (QAware, 2021) kept 10,000,000 objects, of five numbers and five texts out of 10,000, in seven
formats, plain and with gzip. Each value is that of one call in one JVM that served all formats in turn,
with a collection inside the timed read. Here each cell has a JVM of its own; times are those of its
later calls. The data set `entities-seed` is the published sequence, so sizes can be equal to the byte.
A label with `seed` is the published program's own way to use a format: files without buffers, a
question to the file after each record. Smaller is better. Made by `format-bench study qaware`.
"""


@dataclass(frozen=True)
class Verdict:
    """A published finding, and the numbers that confirm it or not."""

    published: str
    holds: bool
    evidence: str


def page(results: Results) -> str:
    """Return the page in Markdown.

    Raises
    ------
    InvalidResultsError
        If the results have no value of the suite `records`.
    """
    suite = results_of_suite(results, qaware.SUITE)
    groups = [each for each in suite.groups if each.values(SIZE)]
    if not groups:
        raise InvalidResultsError(f"{results.name} has no values of the suite {qaware.SUITE}")
    parts = [
        _HEAD,
        *_extent(groups),
        *_published(results),
        *_findings(groups),
        *_ways(groups),
        *_sharing(groups),
        *_first_calls(groups),
        *_left_out(suite),
    ]
    return "\n".join(parts) + "\n"


def _extent(groups: list[ComparisonGroup]) -> Iterator[str]:
    yield "## Measured\n"
    rows = []
    for group in groups:
        verified = group.values(Measure("lost fields"))
        numbers = (group.rows, len({each.format for each in verified}), len(verified))
        rows.append([group.name, *(f"{number:,}" for number in numbers)])
    yield from table_lines(["data set", "records", "stores", "with codecs"], rows, alignment="lrrr")
    yield "\nThe digest of all fields of all records was compared in each of these cells.\n"


def _published(results: Results) -> Iterator[str]:
    yield "## Beside the published tables\n"
    try:
        found = compare(load("qaware"), results)
    except NoCommonCellsError:
        yield f"The results have no value of a published cell: {qaware.ROWS:,} of `{qaware.DATASET}`.\n"
        return
    for measure in COMPARED:
        ratios = [each for each in found.ratios if each.pair.measure.metric == measure.metric]
        if not ratios:
            continue
        yield f"### {measure.metric.capitalize()}\n"
        agreement = next(
            (each for each in found.agreements if each.measure.metric == measure.metric), None
        )
        if agreement and agreement.spearman is not None and agreement.kendall_tau_b is not None:
            yield (
                f"Order of {plural(agreement.cells, 'configuration')}: Spearman "
                f"{agreement.spearman:.2f}, Kendall's tau-b {agreement.kendall_tau_b:.2f}.\n"
            )
        rows = []
        for each in sorted(ratios, key=lambda each: each.pair.a.value or 0):
            a, b = each.pair.a, each.pair.b
            texts = [quantity(value, a.unit) for value in (a.value or 0, b.value or 0)]
            ratio = "-" if each.value is None else f"{each.value:.3f}"
            rows.append([str(each.pair.configuration), *texts, ratio])
        yield from table_lines(["store", "published", "here", "here / published"], rows)
        yield ""
    yield from _disagreements(found)


def _disagreements(found: Comparison) -> Iterator[str]:
    yield "### Disagreements\n"
    if not found.disagreements:
        yield "No place differs by two or more.\n"
        return
    for each in found.disagreements:
        metric = each.measure.metric
        reason = EXPLANATIONS.get((each.configuration.format, metric), "")
        yield (
            f"- **{each.configuration}, {metric}**: number {each.rank_a:g} of {each.formats} published, "
            f"{each.rank_b:g} here. {reason}".rstrip()
        )
    yield ""


def _findings(groups: list[ComparisonGroup]) -> Iterator[str]:
    yield "## Findings\n"
    yield "Each verdict follows from the numbers beside it by a fixed rule.\n"
    for group in groups:
        verdicts = [found for rule in _RULES if (found := rule(group))]
        if verdicts:
            yield f"{group.name}, {group.rows:,} records:\n"
        for each in verdicts:
            verdict = "Confirmed" if each.holds else "Not confirmed"
            yield f"- **{each.published}** {verdict}: {each.evidence}."
        if verdicts:
            yield ""


def _plain(group: ComparisonGroup, measure: Measure) -> dict[str, float]:
    """Return the values of stores of the JVM without a codec, by label."""
    values = group.values(measure)
    return {each.format: values[each] for each in values if _is_plain_jvm(each)}


def _is_plain_jvm(configuration: Configuration) -> bool:
    return configuration.codec is None and "[jvm" in configuration.format


def _shared_texts(group: ComparisonGroup) -> Verdict | None:
    held = _plain(group, HELD)
    parquet = held.get("Parquet.specific[jvm]")
    others = _held_by(_OF_ONE_OBJECT_A_TEXT, held)
    if parquet is None or not others:
        return None
    ratio = parquet / median(others.values())
    evidence = (
        f"{quantity(parquet, 'bytes')} of objects from Parquet, {format_ratio(ratio)} of the median of "
        f"{joined(sorted(others))}"
    )
    return Verdict(
        "Objects from Parquet share their texts: a fifth of the heap.", ratio <= _A_FIFTH, evidence
    )


_OF_ONE_OBJECT_A_TEXT = (
    "Avro.specific[jvm]",
    "JSON.yasson[jvm]",
    "Kryo[jvm]",
    "Protobuf[jvm]",
    "SQLite[jvm]",
)
"""Published formats whose objects have a text of their own in each field."""


def _held_by(labels: Sequence[str], held: dict[str, float]) -> dict[str, float]:
    """Return heap size by label; fall back to the published program's own way."""
    ways = {label: (label, label.replace("[jvm]", "[jvm-seed]")) for label in labels}
    found = {label: next((each for each in ways[label] if each in held), None) for label in labels}
    return {label: held[label] for label in found.values() if label}


def _groups_of_parquet(group: ComparisonGroup) -> Verdict | None:
    held = _plain(group, HELD)
    groups = held.get("Parquet.group[jvm]")
    others = _held_by((*_OF_ONE_OBJECT_A_TEXT, "Avro.generic[jvm]"), held)
    if groups is None or not others:
        return None
    largest = max(others, key=others.__getitem__)
    ratio = groups / others[largest]
    evidence = (
        f"{quantity(groups, 'bytes')}, {format_ratio(ratio)} times {largest}, the largest of the "
        f"others, and {format_ratio(groups / median(others.values()))} times their median"
    )
    return Verdict("Groups of Parquet take twice the heap of others.", ratio >= _TWICE, evidence)


def _price_of_gzip(group: ComparisonGroup) -> Verdict | None:
    """Compare the files and times with gzip with those without."""
    texts, slower = [], []
    sizes, saves = group.values(SIZE), group.values(SAVE)
    reads = group.values(READ) or group.values(_PUBLISHED_READ)
    for each in sorted(sizes, key=str):
        if each.codec != "gzip" or "[jvm" not in each.format:
            continue
        plain = each._replace(codec=None, level=None)
        if not all(each in column and plain in column for column in (sizes, saves, reads)):
            continue
        size, save, read = (column[each] / column[plain] for column in (sizes, saves, reads))
        slower.append(save > 1)
        texts.append(
            f"{each.format} {size:.2f} of the size, {format_ratio(save)} times the save, "
            f"{format_ratio(read)} times the read"
        )
    if not texts:
        return None
    return Verdict("Gzip saves little and costs much time in a save.", all(slower), "; ".join(texts))


def _gzip_of_sqlite(group: ComparisonGroup) -> Verdict | None:
    saves = {each: value for each, value in group.values(SAVE).items() if each.codec == "gzip"}
    found = {each: value for each, value in saves.items() if each.format.startswith("SQLite[jvm")}
    if not found or group.rows < qaware.ROWS:
        return None
    texts = [f"{each} {quantity(value, 'seconds')}" for each, value in found.items()]
    evidence = f"{joined(texts)}; the published program copies the file byte by byte, without a buffer"
    return Verdict("SQLite with gzip takes minutes.", min(found.values()) > _MINUTES, evidence)


def _gzip_of_kryo(group: ComparisonGroup) -> Verdict | None:
    """Compare Kryo's reads with gzip and without, in the published way and in the plain one."""
    reads = group.values(READ) or group.values(_PUBLISHED_READ)
    ratios = {}
    for label in ("Kryo[jvm-seed]", "Kryo[jvm]"):
        own = {each.codec: value for each, value in reads.items() if each.format == label}
        if own.get(None) and own.get("gzip"):
            ratios[label] = own["gzip"] / own[None]
    if "Kryo[jvm-seed]" not in ratios:
        return None
    texts = [
        f"{label} {format_ratio(ratio)} times the read with gzip" for label, ratio in ratios.items()
    ]
    return Verdict(
        "Kryo reads faster with gzip than without.",
        ratios["Kryo[jvm-seed]"] < 1,
        f"{joined(texts)}; the published program asks the file for its rest after each record, which is "
        "a system call without gzip",
    )


_RULES: tuple[Callable[[ComparisonGroup], Verdict | None], ...] = (
    _shared_texts,
    _groups_of_parquet,
    _price_of_gzip,
    _gzip_of_sqlite,
    _gzip_of_kryo,
)


def _ways(groups: list[ComparisonGroup]) -> Iterator[str]:
    yield "## The format's time, and the program's\n"
    yield "Values of the published program's own way by those of the plain label of the same codec.\n"
    rows = []
    for group in groups:
        columns = [group.values(each) for each in COMPARED]
        for each in group.configurations:
            if not each.format.endswith("[jvm-seed]"):
                continue
            plain = each._replace(format=each.format.replace("[jvm-seed]", "[jvm]"))
            texts = [
                format_ratio(column[each] / column[plain]) if plain in column and each in column else "-"
                for column in columns
            ]
            if any(text != "-" for text in texts):
                rows.append([str(each), group.name, f"{group.rows:,}", *texts])
    if rows:
        header = ["store", "data set", "records", *(each.metric for each in COMPARED)]
        yield from table_lines(header, rows, alignment="llrrrrr")
    else:
        yield "Not measured."
    yield ""


def _sharing(groups: list[ComparisonGroup]) -> Iterator[str]:
    """Yield ratios of sizes and heaps, of shared texts to copies."""
    yield "## Shared texts and copies\n"
    yield (
        "Equal texts of `entities-shared` are one object, those of `entities` are copies, as in a "
        "program that has parsed them. Values of shared texts by those of copies:\n"
    )
    rows = []
    for shared in (each for each in groups if each.dataset == SHARED):
        copies = next(
            (each for each in groups if each.dataset == COPIES and each.rows == shared.rows), None
        )
        if copies is None:
            continue
        columns = [(shared.values(each), copies.values(each)) for each in (SIZE, HELD)]
        for each in shared.configurations:
            if not all(each in column for pair in columns for column in pair):
                continue
            ratios = [one[each] / other[each] for one, other in columns]
            if any(abs(ratio - 1) > _NOTABLE for ratio in ratios):
                rows.append([str(each), f"{shared.rows:,}", *(f"{ratio:.2f}" for ratio in ratios)])
    if rows:
        yield from table_lines(["store", "records", "size", "held memory"], rows)
        yield f"\nOther stores differ by less than {_NOTABLE:.0%}.\n"
    else:
        yield "Not measured, or without a difference.\n"


_NOTABLE = 0.05


def _first_calls(groups: list[ComparisonGroup]) -> Iterator[str]:
    """Yield the first calls of the largest group that has them, by its steady state."""
    yield "## First calls\n"
    group = max(
        (each for each in groups if _plain(each, FIRST_READ)), key=lambda each: each.rows, default=None
    )
    if group is None:
        yield "Not measured.\n"
        return
    yield (
        f"The first call of a new JVM beside the median of later ones, {group.name}, {group.rows:,} "
        "records, without codecs.\n"
    )
    columns = [_plain(group, each) for each in (FIRST_SAVE, SAVE, FIRST_READ, READ)]
    rows = []
    for label in sorted(columns[2], key=str.casefold):
        texts = [quantity(each[label], "seconds") if label in each else "-" for each in columns]
        rows.append([label, *texts])
    yield from table_lines(["store", "first save", "save", "first read", "read"], rows)
    yield ""


def _left_out(suite: SuiteResults) -> Iterator[str]:
    yield "## Left out\n"
    yield "Cells that the runs did not request are not listed.\n"
    stores: dict[tuple[str, ...], list[str]] = {}
    for _, store, *others in rows_of_gaps([suite]):
        # Steps are left out by request, on some data sets more than on others.
        if NOT_RUN.status not in others:
            stores.setdefault(tuple(others), []).append(store)
    if stores:
        rows = [[", ".join(labels), *others] for others, labels in stores.items()]
        header = ["stores", "data sets", "cells", "status", "reason"]
        yield from table_lines(header, rows, alignment="lllll")
    else:
        yield "Every cell has a value."


@click.command
@click.argument("results", type=click.Path(path_type=Path))
def command(results: Path) -> None:
    """Compare results of record stores with the tables and findings of QAware.

    RESULTS is a folder or file of results of the suite `records`. Prints a Markdown page: published and
    measured values with rank correlations, findings with a verdict, the cost of the published program's
    own ways, shared texts and copies, first calls.

    \b
    Example:
      format-bench run --suite records --datasets entities-seed --rows 10000000 \\
          --steps save,read --repeats 1 --codecs none,gzip --out reports/qaware
      format-bench study qaware reports/qaware > docs/qaware.md
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    click.echo(page(load(results)), nl=False)

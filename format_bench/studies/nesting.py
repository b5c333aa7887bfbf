"""Study of nesting: lists of records beside flat columns, and split objects beside unsplit ones.

J. Blomer (A quantitative review of data formats for HEP analyses, ACAT 2017) compared events as rows of
plain columns with events that contain a list of particles, in ROOT's files with and without splitting.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import click

from adapter_core.errors import InvalidResultsError, UnknownNameError
from format_bench.results.display.markdown import table_lines
from format_bench.results.display.text import format_ratio
from format_bench.results.study_rows import read
from format_bench.studies.declared.rows import kept
from format_bench.studies.nested import trials
from format_bench.studies.nested.root_classes import SPLIT, UNSPLIT
from format_bench.studies.nested.trials import FORM, NestingResult

VALUES: dict[str, Callable[[NestingResult], float]] = {
    "size": lambda each: each.file_bytes,
    "write": lambda each: each.write_seconds,
    "whole": lambda each: each.whole_seconds,
    "sparse": lambda each: each.sparse_seconds,
}
"""Values of a result by the name of their column."""

_NANO = 1e-9

_HEAD = """\
# Nesting and splitting

A decay of a B meson to three kaons is a row of 26 columns, or a row of 2 columns and a list of three
records with 8 fields. *whole* adds up 18 fields of the events in which none of the kaons is marked as a
muon: 21 of 26 columns. *sparse* adds up one field of the first kaon, selected by another: 2 columns if
flat, 2 fields of every kaon if nested. Sums and numbers of events are compared with NumPy's on the
generated events (data sets `kaons` and `kaons-deep`).

Each value is measured in a fresh process with one thread, as the median of three calls after a first
one. CPU time is in ns an event; smaller is better. Parquet is written without dictionaries, which these
values make larger; zstd has each library's own level, in ROOT's files 5. Vortex has encodings of its
own and no codec. The libraries of Arrow, Lance, Vortex and HDF5, and uproot, read arrays, which NumPy
adds up; for lists it first combines the flags of each event. Feather, Lance and Vortex read a list
whole, the others its fields on their own. ROOT's own library fills and reads objects of compiled C++
classes event by event: from a split tree the needed branches (of a list, through the branch of its
counts), from an unsplit one all, and from an RNTuple the fields through views. Made by `format-bench
study nesting`.
"""


def page(results: Sequence[NestingResult]) -> str:
    """Return the page in Markdown.

    Raises
    ------
    InvalidResultsError
        If results are missing.
    """
    if not results:
        raise InvalidResultsError("there are no results on nesting")
    measured = [each for each in results if not each.reason]
    lines = [_HEAD]
    if measured:
        lines += _measured(measured)
    lines += _section(
        "The cost of nesting",
        "Values of lists of records by those of flat columns. ROOT's trees are compared at the same "
        "split level.",
        _nested(measured),
        "nesting",
    )
    lines += _section(
        "The cost of splitting",
        f"Values of ROOT's trees with split level {SPLIT}, a branch for each field, by those with level "
        f"{UNSPLIT}, one branch for the object.",
        _split(measured),
        "splitting",
    )
    failed = [each for each in results if each.reason]
    if failed:
        lines.append("## Not measured\n")
        lines += [f"- {_name(each)}, codec {each.codec}: {each.reason}" for each in failed]
    return "\n".join(lines).rstrip() + "\n"


def _name(result: NestingResult) -> str:
    return f"{result.format}, {result.layout}"


def _measured(results: Sequence[NestingResult]) -> Iterator[str]:
    yield f"## {results[0].rows:,} events\n"
    table = [
        [
            each.format,
            each.layout,
            each.codec,
            f"{each.file_bytes / each.rows:.1f}",
            *(f"{VALUES[name](each) / each.rows / _NANO:,.0f}" for name in ("write", "whole", "sparse")),
        ]
        for each in results
    ]
    header = ["format", "layout", "codec", "bytes an event", "write", "whole", "sparse"]
    yield from table_lines(header, table, alignment="lllrrrr")
    yield ""


Pair = tuple[str, NestingResult, NestingResult]
"""Name of a comparison, and its two results: before and after the change."""


def _nested(results: Sequence[NestingResult]) -> Iterator[Pair]:
    """Yield flat and deep results of the same format, split level and codec."""
    for flat in results:
        for deep in results:
            alike = (flat.format, flat.codec, _level(flat)) == (deep.format, deep.codec, _level(deep))
            if alike and not flat.deep and deep.deep:
                name = f"{flat.format}, split {_level(flat)}" if _level(flat) else flat.format
                yield name, flat, deep


def _split(results: Sequence[NestingResult]) -> Iterator[Pair]:
    """Yield unsplit and split results of the same class and codec."""
    for unsplit in results:
        for split in results:
            alike = (unsplit.format, unsplit.codec, unsplit.deep) == (
                split.format, split.codec, split.deep
            )  # fmt: skip
            if alike and _level(unsplit) == str(UNSPLIT) and _level(split) == str(SPLIT):
                yield unsplit.layout.partition(",")[0], unsplit, split


def _level(result: NestingResult) -> str:
    """Return the split level in the name of a layout, or an empty string."""
    return result.layout.partition(", split ")[2]


def _section(title: str, text: str, pairs: Iterator[Pair], change: str) -> Iterator[str]:
    found = list(pairs)
    if not found:
        return
    yield f"## {title}\n"
    yield f"{text} {_extent(found)}\n"
    rows = [
        [name, first.codec, *map(format_ratio, _ratios(first, other).values())]
        for name, first, other in found
    ]
    yield from table_lines(["format", "codec", *VALUES], rows, alignment="llrrrr")
    yield ""
    for name in dict.fromkeys(name for name, *_ in found):
        yield _sentence(change, name, [pair for pair in found if pair[0] == name])
    yield ""


def _ratios(first: NestingResult, other: NestingResult) -> dict[str, float]:
    return {name: value(other) / value(first) for name, value in VALUES.items()}


def _extent(pairs: Sequence[Pair]) -> str:
    """Return a sentence with the range of each ratio."""
    ratios = [_ratios(first, other) for _, first, other in pairs]
    ranges = [
        f"{name} {format_ratio(min(each[name] for each in ratios))} to "
        f"{format_ratio(max(each[name] for each in ratios))}"
        for name in VALUES
    ]
    return f"Ranges: {', '.join(ranges)}."


def _sentence(change: str, name: str, pairs: Sequence[Pair]) -> str:
    """Return a sentence on one format, with a part for each codec."""
    parts = []
    for _, first, other in pairs:
        ratios = {key: format_ratio(value) for key, value in _ratios(first, other).items()}
        codec = "without a codec" if first.codec == "none" else f"with {first.codec}"
        parts.append(
            f"{codec}, {ratios['size']} times the size and {ratios['write']} times the CPU time of the "
            f"write, {ratios['whole']} of *whole*, {ratios['sparse']} of *sparse*"
        )
    return f"- {name}: {change} costs, {'; '.join(parts)}."


def run(chosen: Sequence[str], rows: int, out: Path | None) -> list[NestingResult]:
    """Measure formats; write the result of each layout, if there is a folder for them."""
    results = []
    for result in kept(FORM, out, trials.measure(chosen, rows)):
        results.append(result)
        state = f": {result.reason}" if result.reason else ""
        click.echo(f"{_name(result)}, codec {result.codec}{state}", err=True)
    return results


@click.command
@click.option("--formats", default="", metavar="NAMES", help="Names with commas; all by default.")
@click.option("--rows", type=click.IntRange(1), default=300_000, show_default=True, help="Events.")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the results.")
@click.option(
    "--page",
    "shown",
    type=click.Path(exists=True, path_type=Path),
    help="Print the page of results of --out, and measure nothing.",
)
def command(formats: str, rows: int, out: Path | None, shown: Path | None) -> None:
    """Compare lists of records with flat columns, and split objects with unsplit ones.

    Events with three kaons each are written in both layouts, without a codec and with zstd. Two
    questions are answered from each file. Prints a Markdown page: sizes, CPU times, and their ratios.
    ROOT's own library takes part where it is installed and g++ can compile the classes of the events.

    \b
    Examples:
      format-bench study nesting > docs/nesting.md
      format-bench study nesting --formats Parquet,ORC --rows 100000 --out reports/nesting
      format-bench study nesting --page reports/nesting
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    if shown:
        results = read(FORM, shown)
    else:
        names = [each for each in formats.split(",") if each]
        for name in names:
            if name not in trials.formats():
                raise UnknownNameError("format", name, trials.formats())
        results = run(names or trials.formats(), rows, out)
    click.echo(page(results), nl=False)

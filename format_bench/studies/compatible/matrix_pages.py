"""Page of the compatibility study: verdicts by format, writers by readers, the worst findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from format_bench.compatibility.verdicts import Verdict
from format_bench.results.display.text import plural
from format_bench.studies.compatible.matrix_rows import VERSIONS, CompatibilityRow, findings
from format_bench.studies.declared.blocks import Block, Context

_WORST = 10
"""Findings that the page shows."""


def versions(context: Context) -> Iterator[Block]:
    """Yield the versions of the libraries of each set, in all runs: each has those of its formats."""
    found: dict[str, dict[str, None]] = {}
    for each in context.results.metadata:
        for name, text in (each.get(VERSIONS) or {}).items():
            found.setdefault(name or "this environment", {}).update(dict.fromkeys(text.split(", ")))
    items = [
        f"{name}: {', '.join([python, *sorted(libraries, key=str.lower)])}"
        for name, (python, *libraries) in found.items()
    ]
    if items:
        yield Block(items=items)


def counts(context: Context) -> Iterator[Block]:
    """Yield how many cells of tables have which verdict, by format."""
    by_format: dict[str, Counter[Verdict]] = {}
    for row in _of_tables(context):
        by_format.setdefault(row.group, Counter())[row.verdict] += 1
    rows = [
        [name, f"{found.total():,}", *(f"{found[verdict]:,}" for verdict in Verdict)]
        for name, found in by_format.items()
    ]
    if rows:
        yield Block(header=["format", "cells", *Verdict], rows=rows)


def _of_tables(context: Context) -> list[CompatibilityRow]:
    return [row for row in context.rows if not row.feature]


def matrix(context: Context) -> Iterator[Block]:
    """Yield a table for each format: writers by readers, those with equal counts together."""
    cells: dict[str, dict[tuple[str, str], Counter[Verdict]]] = {}
    for row in _of_tables(context):
        of_format = cells.setdefault(row.group, {})
        of_format.setdefault((row.writer, row.reader), Counter())[row.verdict] += 1
    if cells:
        yield Block(
            text="Edge cases by their verdicts. An environment without a name after @ is this one; "
            "writers, and readers, of equal counts share a row or a column."
        )
    for name, counted in cells.items():
        writers, readers = (list(dict.fromkeys(each)) for each in zip(*counted, strict=True))
        found = {pair: _cell(each) for pair, each in counted.items()}
        columns = _alike(
            {each: [found.get((writer, each), "-") for writer in writers] for each in readers}
        )
        shown = [first for first, *_ in columns]
        lines = _alike({each: [found.get((each, reader), "-") for reader in shown] for each in writers})
        rows = [
            [_together(line), *(found.get((line[0], reader), "-") for reader in shown)] for line in lines
        ]
        text = f"{plural(len(writers), 'writer')}, {plural(len(readers), 'reader')}."
        header = ["written by", *(f"read by {_together(each)}" for each in columns)]
        yield Block(name, text, header, rows, "l" * len(header), level=3)


def _alike(cells: dict[str, list[str]]) -> list[list[str]]:
    """Return the names of writers, or of readers, in groups with the same cells."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for name, each in cells.items():
        groups.setdefault(tuple(each), []).append(name)
    return list(groups.values())


def _together(names: Sequence[str]) -> str:
    """Return names with library sets as a phrase, e.g. "Parquet, @2024-03, Parquet[polars]@2024-03"."""
    names = sorted(names)
    labels = [name.partition("@")[0] for name in names]
    parts = [
        name.removeprefix(label) if label == before and name != label else name
        for name, label, before in zip(names, labels, ["", *labels], strict=False)
    ]
    return ", ".join(parts)


def worst(context: Context) -> Iterator[Block]:
    """Yield the worst findings, one for each reader and verdict, with the smallest table."""
    found = findings(context.rows)
    items = [
        f"{rows[0].writer} read by {rows[0].reader}, {rows[0].subject}: {rows[0].sentence}"
        + (f" ({len(rows):,} cells of this reader and verdict)" if len(rows) > 1 else "")
        for rows in found
    ]
    more = f"{plural(len(items) - _WORST, 'further finding')} of other readers or verdicts"
    text = "" if items else "No reader crashed, hung, refused a file or changed a value."
    yield Block(text=text, items=[*items[:_WORST], *([more] if len(items) > _WORST else [])])


def untried(context: Context) -> Iterator[Block]:
    """Yield why cells were not tried, each reason with the number of its cells."""
    reasons = Counter(row.sentence for row in context.rows if row.verdict is Verdict.UNTRIED)
    rows = [[f"{count:,}", reason] for reason, count in reasons.most_common()]
    if rows:
        yield Block(header=["cells", "reason"], rows=rows, alignment="rl", fold=True)


_WORDS = {Verdict.DIFFERENT: "**different**", Verdict.CRASH: "**crash**", Verdict.HANG: "**hang**"}


def _cell(found: Counter[Verdict]) -> str:
    if set(found) == {Verdict.UNTRIED}:
        return Verdict.UNTRIED
    parts = [
        f"{found[each]} {_WORDS.get(each, each)}"
        for each in reversed(Verdict)
        if found[each] and each is not Verdict.UNTRIED
    ]
    return ", ".join(parts) or "-"

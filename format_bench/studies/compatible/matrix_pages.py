"""Page of the compatibility study: verdicts by format, writers by readers, the worst findings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from format_bench.compatibility.verdicts import Verdict
from format_bench.results.display.text import plural
from format_bench.studies.compatible.matrix_rows import SERIOUS, VERSIONS, CompatibilityRow
from format_bench.studies.declared.blocks import Block, Context

_WORST = 10
"""Findings that the page shows."""


def versions(context: Context) -> Iterator[Block]:
    """Yield the versions of the libraries of each set."""
    facts = [each.get(VERSIONS) or {} for each in context.results.metadata]
    found = {name or "this environment": text for each in facts for name, text in each.items()}
    if found:
        yield Block(items=[f"{name}: {text}" for name, text in found.items()])


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
    """Yield a table for each format: writers by readers."""
    cells: dict[str, dict[tuple[str, str], Counter[Verdict]]] = {}
    for row in _of_tables(context):
        of_format = cells.setdefault(row.group, {})
        of_format.setdefault((row.writer, row.reader), Counter())[row.verdict] += 1
    if cells:
        named = "an environment without a name after @ is this one"
        yield Block(text=f"Edge cases by their verdicts; {named}.")
    for name, found in cells.items():
        writers, readers = (list(dict.fromkeys(each)) for each in zip(*found, strict=True))
        rows = [
            [writer, *(_cell(found.get((writer, reader), Counter())) for reader in readers)]
            for writer in writers
        ]
        header = ["written by", *(f"read by {reader}" for reader in readers)]
        yield Block(name, header=header, rows=rows, alignment="l" * len(header), level=3)


def worst(context: Context) -> Iterator[Block]:
    """Yield the worst findings, one for each reader and message, with the smallest table of each."""
    seen: dict[tuple[object, ...], CompatibilityRow] = {}
    for row in sorted(context.rows, key=lambda row: "smallest table: " not in row.sentence):
        if row.verdict in SERIOUS:
            # Differences of a table are of it alone; messages are common to many.
            what = row.subject if row.verdict is Verdict.DIFFERENT else row.sentence[:60]
            seen.setdefault((row.group, row.reader, row.verdict, what), row)
    order = {verdict: place for place, verdict in enumerate(Verdict)}
    found = sorted(seen.values(), key=lambda row: order[row.verdict])
    items = [f"{row.writer} read by {row.reader}, {row.subject}: {row.sentence}" for row in found]
    more = f"{plural(len(items) - _WORST, 'further finding')} of other readers or messages"
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

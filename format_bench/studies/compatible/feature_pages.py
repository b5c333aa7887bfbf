"""Page and summary of the features of formats: which readers read them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from adapter_core.errors import InvalidResultsError
from format_bench.compatibility.features import formats
from format_bench.compatibility.verdicts import Verdict
from format_bench.results import flat_csv
from format_bench.results.shipped import FeatureReading
from format_bench.studies.compatible.matrix_rows import REDUCED
from format_bench.studies.declared.blocks import Block, Context

if TYPE_CHECKING:
    from format_bench.studies.compatible.matrix_rows import CompatibilityRow

_MARKS = {
    Verdict.SAME: "same",
    Verdict.RETYPED: "another type",
    Verdict.DIFFERENT: "**different**",
    Verdict.CRASH: "**crash**",
    Verdict.HANG: "**hang**",
}

_LONG = 200
"""Characters of a reason that are shown: messages of libraries may fill a screen."""


def tables(context: Context) -> Iterator[Block]:
    """Yield a table for each format: features by readers, with the reason of each that is not read."""
    by_format: dict[str, list[CompatibilityRow]] = {}
    for row in _of_readers_here(context.rows):
        by_format.setdefault(row.format, []).append(row)
    if by_format:
        text = "A library of this environment wrote each feature. Dashes are features that none wrote."
        yield Block(text=text)
    for name, found in by_format.items():
        yield from _of_format(name, found)


def _of_readers_here(rows: Sequence[CompatibilityRow]) -> list[CompatibilityRow]:
    """Return the rows of features, without readers that read nothing: they are missing."""
    here = {(row.format, row.reader) for row in rows if row.verdict is not Verdict.UNTRIED}
    return [row for row in rows if row.feature and (row.format, row.reader) in here]


def _of_format(name: str, found: Sequence[CompatibilityRow]) -> Iterator[Block]:
    order = [each.name for each in formats()[name].features] if name in formats() else []
    found = sorted(
        found, key=lambda row: order.index(row.feature) if row.feature in order else len(order)
    )
    readers = list(dict.fromkeys(row.reader for row in found))
    cells = {(row.feature, row.reader): row for row in found}
    rows = [
        [feature, *(_mark(cells.get((feature, reader))) for reader in readers)]
        for feature in dict.fromkeys(row.feature for row in found)
    ]
    yield Block(
        name, header=["feature", *readers], rows=rows, alignment="l" * (len(readers) + 1), level=3
    )
    reasons = [
        [row.feature, row.reader, f"{row.verdict}: {_reason(row)}"]
        for row in found
        if row.verdict not in {Verdict.SAME, Verdict.UNTRIED}
    ]
    if reasons:
        yield Block(
            header=["feature", "reader", "what it does"], rows=reasons, alignment="lll", fold=True
        )


def _reason(row: CompatibilityRow) -> str:
    """Return the first difference, or the message, without the verdict and the reduced table."""
    text = row.sentence.partition(f"; {REDUCED}")[0]
    if text == row.verdict:
        return ""
    # The first difference stands for all.
    text = text.removeprefix(f"{row.verdict}: ").partition("; column ")[0]
    return text if len(text) <= _LONG else f"{text[:_LONG]}..."


def _mark(row: CompatibilityRow | None) -> str:
    if row is None or row.verdict is Verdict.UNTRIED:
        return "-"
    return _MARKS.get(row.verdict, str(row.verdict))


def facts(rows: Sequence[CompatibilityRow]) -> str:
    """Return the verdicts on features as CSV, for `results.shipped`.

    Raises
    ------
    InvalidResultsError
        If there are none.
    """
    found = readings(rows, datetime.now(tz=UTC).date().isoformat())
    if not found:
        raise InvalidResultsError("the results contain no features; measure them with --features all")
    return flat_csv.to_csv(FeatureReading, found)


def readings(rows: Sequence[CompatibilityRow], date: str) -> list[FeatureReading]:
    """Return the verdicts on declared features, in the order of the declarations."""
    order = {
        (each.format, feature.name): (first, second)
        for first, each in enumerate(formats().values())
        for second, feature in enumerate(each.features)
    }
    found = [
        FeatureReading(
            row.format,
            row.feature,
            row.reader,
            str(row.verdict),
            _reason(row),
            date,
        )
        for row in _of_readers_here(rows)
        if (row.format, row.feature) in order
    ]
    return sorted(found, key=lambda each: (*order[each.format, each.feature], each.reader))

"""Sizes and times of FoxBench beside the published ones, whose sizes are of both variables together."""

from __future__ import annotations

import re
from collections.abc import Iterator

from format_bench.results.display.text import format_ratio, joined, quantity
from format_bench.results.groups import query_order
from format_bench.results.published import foxbench
from format_bench.studies.declared.blocks import MISSING, Block, Context
from format_bench.studies.declared.sections import Column
from format_bench.studies.declared.selection import Number, Numbers

# Data sets with both variables; of several the first that was measured counts.
_BOTH = (("era5-hourly", "era5-hourly-soil"), ("era5-hourly-1deg", "era5-hourly-soil-1deg"))

_ZARR = foxbench.FORMATS["Zarr"]


def storage(context: Context) -> Iterator[Block]:
    """Yield the sizes of both variables beside the published ones, as ratios to Zarr."""
    hours, own = _sizes_of_both(context.numbers)
    if not own:
        yield Block(text=f"No size of both variables in {_ZARR} was measured.")
        return
    duration = min(foxbench.HOURS, key=lambda each: abs(foxbench.HOURS[each] - hours))
    published = {
        each.format: each.value or 0
        for each in foxbench.records()
        if each.metric == "size" and each.rows == foxbench.HOURS[duration]
    }
    rows = []
    for label in foxbench.FORMATS.values():
        mine = [each for each in own if label in {each, re.split(r"[.\[]", each, maxsplit=1)[0]}]
        theirs = published.get(label)
        ratio = theirs / published[_ZARR] if theirs else None
        shown = [quantity(theirs, "bytes"), format_ratio(ratio)] if theirs and ratio else ["-", "-"]
        for each in mine:
            here = own[each] / own[_ZARR]
            deviation = f"{here / ratio - 1:+.0%}" if ratio else "-"
            rows.append([each, *shown, quantity(own[each], "bytes"), format_ratio(here), deviation])
        if not mine:
            rows.append([label, *shown, "not measured", "-", "-"])
    text = (
        f"Both variables together, {hours:,} hours here, the {duration} published; ratios are to "
        "Zarr, and the deviation is between them."
    )
    header = ["format", "published", "ratio", "here", "ratio", "deviation"]
    yield Block(text=text, header=header, rows=rows)


def _sizes_of_both(numbers: Numbers) -> tuple[int, dict[str, float]]:
    """Return the largest number of hours at which Zarr has both sizes, and the sums by format."""
    for names in _BOTH:
        sizes: dict[int, dict[str, dict[str, float]]] = {}
        for each in numbers.select({"metric": "size", "dataset": list(names)}):
            if each.track in {foxbench.TRACK, ""}:
                of_dataset = sizes.setdefault(each.rows, {}).setdefault(each.dataset, {})
                of_dataset[each.format] = each.value
        for hours in sorted(sizes, reverse=True):
            one, other = (sizes[hours].get(name, {}) for name in names)
            both = {label: one[label] + other[label] for label in one if label in other}
            if both.get(_ZARR):
                return hours, both
    return 0, {}


_SHOWN = Column(select={}, interval=True)


def times(context: Context) -> Iterator[Block]:
    """Yield warm query times of the published stacks beside the published ones, with their intervals."""
    published = {
        (each.format, each.query): quantity(each.value or 0, each.unit)
        for each in foxbench.records()
        if each.metric == "query time"
    }
    wanted = {"metric": "query time", "cache": "warm", "track": foxbench.TRACK}
    for scope in context.numbers.scopes():
        by_query: dict[str, dict[str, Number]] = {}
        for each in scope.select({**wanted, "format": list(foxbench.STORES.values())}):
            by_query.setdefault(each.query, {})[each.format] = each
        stacks = [
            each for each in foxbench.STORES.values() if any(each in own for own in by_query.values())
        ]
        rows = [
            [
                query,
                *(text for stack in stacks for text in _beside(own.get(stack), published[stack, query])),
            ]
            for query, own in sorted(by_query.items(), key=lambda each: query_order(each[0]))
        ]
        if rows:
            header = ["query", *(name for stack in stacks for name in (stack, "published"))]
            alignment = "l" + "r" * (len(header) - 1)
            text = "Warm query times, with the interval of the median where samples are kept."
            yield Block(f"Times of {scope.suite.groups[0].name}", text, header, rows, alignment)


def _beside(number: Number | None, published: str) -> tuple[str, str]:
    return _SHOWN.value(number) if number else MISSING, published


def longer(context: Context) -> Iterator[Block]:
    """Yield a sentence on the published durations that are longer than all that was measured."""
    most = max(group.rows for group in context.numbers.suite.groups)
    names = [each for each, hours in foxbench.HOURS.items() if hours > most]
    if names:
        text = "Sizes of the paper that were not measured, with the queries of that length"
        yield Block(text=f"{text}: {joined(names, most=None)}.")

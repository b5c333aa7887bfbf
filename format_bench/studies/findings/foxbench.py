"""Sizes of both variables of FoxBench beside the published ones, which are of both together."""

from __future__ import annotations

import re
from collections.abc import Iterator

from format_bench.results.display.text import format_ratio, joined, quantity
from format_bench.results.published import foxbench
from format_bench.studies.declared.blocks import Block, Context
from format_bench.studies.declared.selection import Numbers

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


def longer(context: Context) -> Iterator[Block]:
    """Yield a sentence on the published durations that are longer than all that was measured."""
    most = max(group.rows for group in context.numbers.suite.groups)
    names = [each for each, hours in foxbench.HOURS.items() if hours > most]
    if names:
        text = "Sizes of the paper that were not measured, with the queries of that length"
        yield Block(text=f"{text}: {joined(names, most=None)}.")

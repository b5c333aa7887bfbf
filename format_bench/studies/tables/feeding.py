"""Tables of training loaders: the limit, samples that are exact, and the costs of faults."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from format_bench.results.display.text import format_ratio, plural
from format_bench.studies.declared.blocks import MISSING, Block, Context
from format_bench.studies.declared.selection import VALUE, Number

_COUNTS = {"repeated samples": "repeated", "lost samples": "lost"}

_FAULTS = {
    "on two ranks": "samples off on two ranks",
    "process killed, resumed": "samples off after a resume",
    "worker killed": "samples off after a lost worker",
    "server cut": "samples off after a lost server",
}

# E.g. "2 repeated, 1 lost; it stops: ValueError: ...", of which any part may be missing.
_REMARK = re.compile(
    r"((?:[\d,]+ (?:repeated|lost)(?:, )?)*)(?:; )?(?:it (goes on|stops|hangs))?(?:: )?(.*)", re.DOTALL
)


def limits(context: Context) -> Iterator[Block]:
    """Yield the fastest plain loop beside the fastest loader of a library, place by place."""
    by_place: dict[tuple[str, ...], list[Number]] = {}
    for each in context.numbers.select({"metric": "sample time", "local cache": ""}):
        workers = each.conditions.get("workers", "1x1").partition("x")[0]
        place = each.data, workers, each.conditions.get("link", "") or "local files"
        by_place.setdefault(place, []).append(each)
    rows = []
    for place, numbers in by_place.items():
        loops = [each for each in numbers if each.format.endswith("[loop]")]
        others = [each for each in numbers if each not in loops]
        if loops and others:
            loop, other = (min(each, key=lambda one: one.value) for each in (loops, others))
            words = [part for each in (loop, other) for part in (each.format, each.quantity)]
            rows.append([*place, *words, format_ratio(other.value / loop.value)])
    header = ["samples", "workers", "place", "fastest loop", "a sample", "fastest library", "a sample", "ratio"]
    yield Block(header=header, rows=rows, alignment="lrllrlrr")


def exactness(context: Context) -> Iterator[Block]:
    """Yield the verdict on each loader's epochs of each data set, and how many samples it is of."""
    counted = [
        each.rows * len(each.repeats)
        for each in context.results.records
        if each.metric == "order distance" and each.value is not None
    ]
    text = (
        f"{sum(counted):,} samples of {plural(len(counted), 'training')} were compared with their digests; one "
        "with another value would be an error. *Exact*: each sample was in each epoch once."
    )
    yield replace(_table(context, [*_COUNTS], lambda each: each.data, _verdict), text=text)


def faults(context: Context) -> Iterator[Block]:
    """Yield a table for each data set: what each loader does under each fault."""
    names = {metric: name for name, metric in _FAULTS.items()}
    wanted = {"metric": [*names]}
    for data in dict.fromkeys(each.data for each in context.numbers.select(wanted)):
        block = _table(context, [*names], lambda each: names[each.metric], _outcome, data)
        yield replace(block, title=data, level=3)


def _table(
    context: Context,
    metrics: Sequence[str],
    head: Callable[[Number], str],
    cell: Callable[[Sequence[Number]], tuple[str, str]],
    data: str = "*",
) -> Block:
    """Return a row for each loader and a column for each head; sentences are notes below."""
    wanted = {"metric": [*metrics], "data": data}
    found = [*context.numbers.select(wanted), *context.numbers.gaps(wanted)]
    heads = list(dict.fromkeys(map(head, found)))
    cells: dict[tuple[str, str], list[Number]] = {}
    # Values come first, local ones before those over a link: a cell shows the first.
    for each in sorted(found, key=lambda each: (each.status != VALUE, "link" in each.conditions)):
        cells.setdefault((each.format, head(each)), []).append(each)
    notes: dict[str, int] = {}
    rows = []
    for label in sorted({each.format for each in found}, key=str.casefold):
        row = [f"`{label}`"]
        for name in heads:
            shown, note = cell(cells[label, name]) if (label, name) in cells else (MISSING, "")
            own = note.replace(label, "it")
            row.append(f"{shown} [{notes.setdefault(own, len(notes) + 1)}]" if own else shown)
        rows.append(row)
    header = ["loader", *heads]
    return Block(header=header, rows=rows, alignment="l" * len(header), notes=[*notes])


def _verdict(numbers: Sequence[Number]) -> tuple[str, str]:
    """Return whether all epochs were exact, or what was off; or the status, with its sentence."""
    values = [each for each in numbers if each.status == VALUE]
    if not values:
        return numbers[0].status, numbers[0].sentence
    worst = {
        word: max((int(each.value) for each in values if each.metric == metric), default=0)
        for metric, word in _COUNTS.items()
    }
    off = ", ".join(f"{count:,} {word}" for word, count in worst.items() if count)
    return (f"**{off}**" if off else "exact"), ""


def _outcome(numbers: Sequence[Number]) -> tuple[str, str]:
    """Return what a loader does under a fault, and what is off then; and the words of its error."""
    first = numbers[0]
    if first.status != VALUE:
        return first.status, first.sentence
    found = _REMARK.fullmatch(first.sentence)
    counts, end, error = found.groups("") if found else ("", "", "")
    return ", ".join(filter(None, [end, counts])) or "exact", error

"""Tables of training loaders: the limit, samples that are exact, and the costs of faults."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from format_bench.results.display.text import format_ratio, plural
from format_bench.studies.declared.blocks import MISSING, Block, Context
from format_bench.studies.declared.selection import VALUE, Number

_COUNTS = {"repeated samples": "repeated", "lost samples": "lost"}

# Libraries' errors at servers go on with an address, times and attempts, different in each run.
_ADDRESS = re.compile(r" \S*(?:http://|/benchmark/)")

_SERVER = "server cut"

_FAULTS = {
    "on two ranks": "samples off on two ranks",
    "process killed, resumed": "samples off after a resume",
    "worker killed": "samples off after a lost worker",
    _SERVER: "samples off after a lost server",
}

# E.g. "2 repeated, 1 lost; it stops: ValueError: ...", of which any part may be missing.
_REMARK = re.compile(
    r"((?:[\d,]+ (?:repeated|lost)(?:, )?)*)(?:; )?(?:it (goes on|stops|hangs))?(?:: )?(.*)", re.DOTALL
)

# Text of a cell, and a sentence on it.
_Cell = tuple[str, str]


def limits(context: Context) -> Iterator[Block]:
    """Yield the fastest plain loop beside the fastest loader of a library, place by place."""
    by_place: dict[tuple[str, str, str], list[Number]] = {}
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
    header = [
        "samples",
        "workers",
        "place",
        "fastest loop",
        "a sample",
        "fastest library",
        "a sample",
        "ratio",
    ]
    yield Block(header=header, rows=rows, alignment="lrllrlrr")


def exactness(context: Context) -> Iterator[Block]:
    """Yield the verdict on each loader's epochs of each data set, and how many samples it is of."""
    counted = [
        each.rows * len(each.repeats)
        for each in context.results.records
        if each.metric == "order distance" and each.value is not None
    ]
    text = (
        f"{sum(counted):,} samples of {plural(len(counted), 'training')} were compared with their "
        "digests; one with another value would be an error. *Exact*: each sample was in each epoch once."
    )
    found = _found(context, list(_COUNTS))
    datasets = list(dict.fromkeys(each.data for each in found))
    cells: dict[tuple[str, ...], list[Number]] = {}
    for each in found:
        cells.setdefault((each.format, each.data), []).append(each)
    yield replace(
        _table(["loader"], datasets, {key: _verdict(each) for key, each in cells.items()}), text=text
    )


def faults(context: Context) -> Iterator[Block]:
    """Yield a row for each loader and its samples, with its behaviour under each fault."""
    names = {metric: name for name, metric in _FAULTS.items()}
    cells: dict[tuple[str, ...], _Cell] = {}
    for each in _found(context, list(names)):
        if each.metric == _FAULTS[_SERVER] and "link" not in each.conditions:
            continue  # local files have no server
        cells.setdefault((each.format, each.data, names[each.metric]), _outcome(each))
    yield _table(["loader", "samples"], list(_FAULTS), cells)


def _found(context: Context, metrics: list[str]) -> list[Number]:
    """Return the cells of metrics: cells with a value first, and local ones before remote ones."""
    wanted = {"metric": metrics}
    found = [*context.numbers.select(wanted), *context.numbers.gaps(wanted)]
    return sorted(found, key=lambda each: (each.status != VALUE, "link" in each.conditions))


def _table(heads: list[str], columns: list[str], cells: Mapping[tuple[str, ...], _Cell]) -> Block:
    """Return a table of cells by the names of their row and their column; sentences are notes below."""
    notes: dict[str, int] = {}
    rows = []
    for names in sorted({key[:-1] for key in cells}, key=lambda names: names[0].casefold()):
        row = [f"`{names[0]}`", *names[1:]]
        for column in columns:
            shown, sentence = cells.get((*names, column), (MISSING, ""))
            # Loaders with the same reason share a note.
            own = re.sub(f"^{re.escape(names[0])} ", "it ", sentence)
            row.append(f"{shown} [{notes.setdefault(own, len(notes) + 1)}]" if own else shown)
        rows.append(row)
    header = [*heads, *columns]
    return Block(header=header, rows=rows, alignment="l" * len(header), notes=[*notes])


def _verdict(numbers: Sequence[Number]) -> _Cell:
    """Return whether all epochs were exact, or how they differ; or the status, with its sentence."""
    values = [each for each in numbers if each.status == VALUE]
    if not values:
        return numbers[0].status, numbers[0].sentence
    worst = {
        word: max((int(each.value) for each in values if each.metric == metric), default=0)
        for metric, word in _COUNTS.items()
    }
    off = ", ".join(f"{count:,} {word}" for word, count in worst.items() if count)
    return (f"**{off}**" if off else "exact"), ""


def _outcome(number: Number) -> _Cell:
    """Return a loader's behaviour under a fault, its wrong samples, and the words of its error."""
    if number.status != VALUE:
        return number.status, number.sentence
    found = _REMARK.fullmatch(number.sentence)
    counts, end, error = found.groups("") if found else ("", "", "")
    return ", ".join(filter(None, [end, counts])) or "exact", _ADDRESS.split(error)[0]

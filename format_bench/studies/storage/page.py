"""Blocks of the page on media: times, reads of devices, orders that turn around, and estimates.

Estimates of read times on other media::

    seconds = seconds in memory + seeks * seconds of a seek + bytes / rate

Seeks and bytes are as an emulated disk with one head counted them. Nothing overlaps in this model, so
it overestimates readers that decode while they wait.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from statistics import median

from adapter_core.errors import InvalidRequestError
from format_bench.instruments.medium import IN_MEMORY
from format_bench.report import turns
from format_bench.results.display.text import joined, plural, quantity
from format_bench.studies.declared.blocks import Block, Context
from format_bench.studies.storage.storage_cell import QUESTIONS, StorageCell, StorageResults


@dataclass(frozen=True)
class MediumModel:
    """Figures of a medium, measured or assumed."""

    name: str
    seek_seconds: float
    bytes_per_second: float

    @classmethod
    def parse(cls, text: str) -> MediumModel:
        """Return the medium of a text like "network disk=1,125": milliseconds, and MB/s.

        Raises
        ------
        InvalidRequestError
            If it is something else.
        """
        name, _, figures = text.partition("=")
        try:
            milliseconds, megabytes = map(float, figures.split(","))
        except ValueError:
            milliseconds = megabytes = 0.0
        if not name or not 0 <= milliseconds < math.inf or not 0 < megabytes < math.inf:
            raise InvalidRequestError(
                f"--medium {text}: write a name, milliseconds of a random read, and MB/s, as in "
                "disk=8,150"
            )
        return cls(name, milliseconds / 1e3, megabytes * 1e6)

    def __str__(self) -> str:
        """Return the name with the figures."""
        return f"{self.name} ({1e3 * self.seek_seconds:g} ms, {self.bytes_per_second / 1e6:,.0f} MB/s)"


ASSUMED = (
    MediumModel("HDD, 5,400 a minute", 0.012, 100e6),
    MediumModel("network disk", 0.001, 125e6),
    MediumModel("SATA SSD", 0.0001, 500e6),
    MediumModel("NVMe SSD", 0.00002, 3e9),
)
"""Media with figures of the usual size of their kind. They are assumptions, not measurements."""


@dataclass(frozen=True)
class ReadCost:
    """Demands of a read on any medium."""

    format: str
    question: str
    memory_seconds: float
    """Time on a medium in memory."""
    seeks: int
    read_bytes: int

    def seconds_on(self, medium: MediumModel) -> float:
        """Return the estimated time on a medium."""
        waiting = self.seeks * medium.seek_seconds + self.read_bytes / medium.bytes_per_second
        return self.memory_seconds + waiting


def media_of_costs(results: StorageResults) -> tuple[str, str] | None:
    """Return the medium in memory and the one that counts seeks; None if either is missing."""
    known = {name: facts for name, facts in results.media.items() if facts}
    memory = next((name for name in known if known[name]["file_system"] in IN_MEMORY), None)
    counting = next((name for name in known if results.has(name, "seeks")), None)
    return (memory, counting) if memory and counting else None


def read_costs(results: StorageResults, question: str) -> list[tuple[ReadCost, StorageCell]]:
    """Return the cost of a question for each format, and the cell of the disk that counted."""
    media = media_of_costs(results)
    if media is None:
        return []
    memory, counting = media
    found = []
    for label, seconds in results.times(question, memory).items():
        cell = results.cell(label, question, counting)
        if cell and cell.seconds and cell.seeks is not None and cell.read_bytes is not None:
            cost = ReadCost(label, question, seconds, cell.seeks, cell.read_bytes)
            found.append((cost, cell))
    return found


# Ratio from which on an order counts as clear, since times are of one call or a few.
APART = 1.5

# Ratio up to which an estimate is good.
NEAR = 1.25

_MOST_PAIRS = 8


def _of(context: Context) -> StorageResults:
    return StorageResults.of(context.rows, context.results.metadata)


def extent(context: Context) -> Iterator[Block]:
    """Yield the number of measurements, and the load."""
    results = _of(context)
    rounds = max((len(each.seconds) for each in results.cells), default=0)
    media = plural(len(results.media), "medium").replace("mediums", "media")
    load = "The load of the machine is not known"
    if results.loads:
        ends = f"{min(results.loads):.0f} to {max(results.loads):.0f}"
        load = f"The load of the machine was {ends} on {plural(results.cpus, 'CPU')}"
    yield Block(
        text=f"{results.rows:,} rows of `{results.dataset}` on {media}. Times are the shortest of "
        f"{plural(rounds, 'round')}. {load}: an order counts as clear only where one time is half as "
        "long again as the other."
    )


def media(context: Context) -> Iterator[Block]:
    """Yield the facts and figures of each medium that the metadata have."""
    header = ["medium", "file system", "device", "read-ahead", "random", "95 %", "sequential", "fsync"]
    rows = [
        [
            name,
            facts["file_system"] or "unknown",
            facts["block_device"] or "none",
            quantity(facts["read_ahead_bytes"], "bytes") if facts["read_ahead_bytes"] else "-",
            quantity(facts["random_read_seconds"], "seconds"),
            quantity(facts["random_read_p95_seconds"], "seconds"),
            f"{facts['sequential_bytes_per_second'] / 1e6:,.0f} MB/s",
            quantity(facts["sync_seconds"], "seconds"),
        ]
        for name, facts in _of(context).media.items()
        if facts
    ]
    if rows:
        yield Block(header=header, rows=rows, alignment="lll" + "r" * 5)


def fastest(context: Context) -> Iterator[Block]:
    """Yield the format with the shortest time of each question by medium, with those near it."""
    results = _of(context)
    rows = []
    for question, words in QUESTIONS.items():
        row = [words]
        for medium in results.media:
            times = results.times(question, medium)
            best = min(times.values(), default=0.0)
            near = sorted((each for each in times if times[each] <= best * NEAR), key=times.__getitem__)
            row.append(f"{joined(near, most=None)} ({quantity(best, 'seconds')})" if near else "-")
        rows.append(row)
    header = ["question", *results.media]
    yield Block(header=header, rows=rows, alignment="l" * len(header))
    left_out = [label for label in results.wanted if label not in results.formats]
    if left_out:
        yield Block(text=f"Not measured: {joined(left_out, most=None)}.")


def questions(context: Context) -> Iterator[Block]:
    """Yield the times of each question, the pairs that turn around, and the reasons of gaps."""
    results = _of(context)
    for question, words in QUESTIONS.items():
        yield _times(results, question, words.capitalize())
        yield _turned_around(results, question)
        yield Block(items=_gaps(results, question))


def _times(results: StorageResults, question: str, title: str) -> Block:
    """Return the times of a question by format and medium, the best bold, with reads of devices."""
    counted = [name for name in results.media if results.has(name, "requests") and question != "save"]
    times = {name: results.times(question, name) for name in results.media}
    first = next(iter(times.values()))
    labels = sorted(results.formats, key=lambda label: first.get(label, math.inf))
    rows = []
    for label in labels:
        row = [label]
        for of_medium in times.values():
            seconds = of_medium.get(label)
            text = "-" if seconds is None else quantity(seconds, "seconds")
            row.append(
                f"**{text}**" if seconds is not None and seconds == min(of_medium.values()) else text
            )
        for name in counted:
            cell = results.cell(label, question, name)
            row.append(_reads(cell))
        rows.append(row)
    header = ["format", *results.media, *(f"reads, {name}" for name in counted)]
    return Block(title, header=header, rows=rows)


def _reads(cell: StorageCell | None) -> str:
    """Return requests and bytes, and seeks if they are known."""
    if cell is None or cell.requests is None or cell.read_bytes is None or not cell.seconds:
        return "-"
    seeks = "" if cell.seeks is None else f", {plural(cell.seeks, 'seek')}"
    return f"{cell.requests:,}; {cell.read_bytes / 1e6:,.3g} MB{seeks}"


def turned(results: StorageResults, question: str) -> list[tuple[str, str, list[str], list[str]]]:
    """Return pairs of formats with the media on which the first, and the second, is clearly ahead."""
    times = {name: results.times(question, name) for name in results.media}

    def is_ahead(medium: str, one: str, other: str) -> bool:
        found = times[medium]
        return one in found and other in found and found[one] * APART < found[other]

    return list(turns.turned(results.formats, results.media, is_ahead))


def _turned_around(results: StorageResults, question: str) -> Block:
    """Return a list of the pairs that turn around, the widest first."""
    times = {name: results.times(question, name) for name in results.media}

    def width(pair: tuple[str, str, list[str], list[str]]) -> float:
        one, other, first, second = pair
        gains = [max(times[name][b] / times[name][a] for name in names)
                 for a, b, names in ((one, other, first), (other, one, second))]  # fmt: skip
        return -min(gains)

    pairs = sorted(turned(results, question), key=width)
    if not pairs:
        text = "No two formats turn around: none of two is clearly ahead here and behind there."
        return Block(text=text)
    verb = "turns" if len(pairs) == 1 else "turn"
    end = ":" if len(pairs) <= _MOST_PAIRS else f"; the {_MOST_PAIRS} widest:"
    items = [
        f"{one} is ahead of {other} on {_with_times(times, first, one, other)}; "
        f"{other} is ahead on {_with_times(times, second, other, one)}."
        for one, other, first, second in pairs[:_MOST_PAIRS]
    ]
    text = f"{plural(len(pairs), 'pair')} of formats {verb} around between media{end}"
    return Block(text=text, items=items)


def _with_times(times: dict[str, dict[str, float]], media: list[str], one: str, other: str) -> str:
    values = (
        f"{name} ({quantity(times[name][one], 'seconds')} to {quantity(times[name][other], 'seconds')})"
        for name in media
    )
    return joined(values, most=None)


def _gaps(results: StorageResults, question: str) -> list[str]:
    """Return the reasons of cells without a value, each once with its media."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for cell in results.cells:
        if cell.question == question and cell.status:
            reason = f"{cell.status}: {cell.sentence}"
            reasons.setdefault((cell.format, reason), []).append(cell.medium)
    found = []
    for (label, reason), names in reasons.items():
        where = "" if len(names) == len(results.media) else f" on {joined(names, most=None)}"
        found.append(f"{label}{where}: {reason}")
    return found


def estimates(context: Context, further: str) -> Iterator[Block]:
    """Yield estimates for other media, if a disk has counted seeks; else what those asked for need.

    Parameters
    ----------
    context : Context
        The cells.
    further : str
        Figures of media as `MediumModel.parse` takes them, with semicolons.
    """
    results, asked = _of(context), [MediumModel.parse(each) for each in further.split(";") if each]
    if not media_of_costs(results):
        if asked:
            needs = "they need reads in memory and from an emulated disk, which counts seeks"
            yield Block(text=f"No estimates of {joined(asked, most=None)}: {needs}.")
        return
    yield Block()
    yield Block(text=_accuracy(results))
    for question in list(QUESTIONS)[1:]:
        title = QUESTIONS[question].capitalize()
        yield _estimates(results, question, [*ASSUMED, *asked], title)


def _accuracy(results: StorageResults) -> str:
    """Return how far estimates of the emulated disk are from its measured times, as a sentence."""
    media = media_of_costs(results)
    if media is None:
        return ""
    model = _model(results, media[1])
    ratios = [
        cost.seconds_on(model) / cell.best
        for question in list(QUESTIONS)[1:]
        for cost, cell in read_costs(results, question)
        if cell.best
    ]
    near = sum(1 / NEAR <= each <= NEAR for each in ratios)
    return (
        f"With the figures of the {model} that were measured, the {len(ratios)} estimates are\n"
        f"{median(ratios):.2f} times the measured times in the median, from {min(ratios):.2f} to "
        f"{max(ratios):.2f}; {near} are within a quarter."
    )


def _model(results: StorageResults, medium: str) -> MediumModel:
    facts = results.media[medium]
    return MediumModel(
        medium,
        float(f"{facts['random_read_seconds']:.3g}"),
        float(f"{facts['sequential_bytes_per_second']:.3g}"),
    )


def _estimates(
    results: StorageResults, question: str, others: Sequence[MediumModel], title: str
) -> Block:
    """Return seeks, bytes, and measured and estimated times of a question by format."""
    found = media_of_costs(results)
    if found is None:
        return Block()
    memory, counting = found
    own = _model(results, counting)
    rows = []
    for cost, cell in sorted(read_costs(results, question), key=lambda each: each[1].best or 0):
        rows.append(
            [
                cost.format,
                f"{cost.seeks:,}",
                f"{cost.read_bytes / 1e6:,.3g}",
                quantity(cost.memory_seconds, "seconds"),
                quantity(cell.best or 0.0, "seconds"),
                *(quantity(cost.seconds_on(each), "seconds") for each in (own, *others)),
            ]
        )
    header = ["format", "seeks", "MB", memory, counting, f"estimated: {own}", *map(str, others)]
    return Block(title, header=header, rows=rows, level=3)

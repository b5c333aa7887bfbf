"""Page of the study of media: times, reads of devices, orders that turn around, and estimates."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import median

from format_bench.report import turns
from format_bench.results.display.markdown import table_lines
from format_bench.results.display.text import joined, plural, quantity
from format_bench.studies.storage.estimates import ASSUMED, MediumModel, media_of_costs, read_costs
from format_bench.studies.storage.results import QUESTIONS, StorageCell, StorageResults

APART = 1.5
"""Ratio from which on an order counts as clear, since times are of one call or a few."""

NEAR = 1.25
"""Ratio up to which an estimate is good."""

_MOST_PAIRS = 8


_HEAD = """\
# Which format on which medium

The same files on {media}: durable saves, and reads from outside the page cache. `format-bench run`
with several `--scratch` [compares media](command_line.md#compare-media) in any suite; this page is
made by a study of its own, since it counts what the devices did.

{rows:,} rows of `{dataset}` (20 columns: integers, floats, texts, truth values), each format as its
library writes it unasked. Each cell is a fresh process that has asked the same question to a small
table before, so imports are not timed. A file is evicted, and proven absent from the page cache,
before each read, except in memory, where no read is cold. Times are the shortest of {rounds}. The load
of the machine was {load} on {cpus}: an order counts as clear only where one time is half as long again
as the other.

## In short

The fastest format of each question on each medium:

{fastest}

## The media

{table}

*Random*, *sequential* and *fsync* are measured without the page cache (O_DIRECT): 4 KiB at random
places (median and 95th percentile), 1 MiB in order, and the wait after 4 KiB were written. Emulated
media are files on the machine's own disk behind a loop device, and their word is in each label; the
emulated disk adds 8 ms for a seek and the time of 150 MB/s. Requests and bytes are counted by the loop
devices, which nothing else uses; the machine's own disk is shared, so its counters are left out.
"""

_ESTIMATES = """
## Any other medium

Two numbers of a read carry over to each medium: its **seeks** and its **MB**, both counted at the
emulated disk (a request further than 1 MiB from the last one's end is a seek). With the time in memory
they give an estimate,

    seconds = seconds in memory + seeks * seconds of a random read + bytes / rate

which assumes that nothing overlaps and that requests near each other are free. On a busy machine each
of these waits, too, so readers of many small pieces are slower than estimated. {accuracy}

The columns on the right are estimates for media with assumed figures. `format-bench study media --page
RESULTS --medium "NAME=MS,MB/S"` makes them for others, e.g. with the figures that `format-bench media
show FOLDER` measures.
"""

_THESIS = """
## HDD, SSD, NVMe and RAM disk

The thesis that this project follows names other media first among its future work. Who has them gets
their table by

    format-bench study media --scratch hdd=/mnt/hdd --scratch ssd=/mnt/ssd \\
        --scratch nvme=/mnt/nvme --scratch ram=/dev/shm --out reports/media
    format-bench study media --page reports/media > media.md

and, for all suites and formats, by `format-bench run --cold` with the same `--scratch`.

Made by `format-bench study media` on {made}. Limits: one table, one process at a time, and no cache of
a controller or a host is emptied: what lies below a loop device answers faster than a disk would, but
for the emulated one.
"""


def page(results: StorageResults, further: Sequence[MediumModel] = ()) -> str:
    """Return the page in Markdown."""
    rounds = max((len(each.seconds) for each in results.cells), default=0)
    text = _HEAD.format(
        media=plural(len(results.media), "medium").replace("mediums", "media"),
        rows=results.rows,
        dataset=results.dataset,
        rounds=plural(rounds, "round"),
        load=f"{min(results.loads):.0f} to {max(results.loads):.0f}",
        cpus=plural(results.cpus, "CPU"),
        table="\n".join(_media_table(results)),
        fastest="\n".join(_fastest(results)),
    )
    left_out = [label for label in results.wanted if label not in results.formats]
    if left_out:
        text += f"\nNot measured: {joined(left_out, most=None)}.\n"
    for question, words in QUESTIONS.items():
        text += f"\n## {words.capitalize()}\n\n" + "\n".join(_times(results, question)) + "\n"
        text += "".join(_turned_around(results, question))
        text += "".join(_gaps(results, question))
    if media_of_costs(results):
        text += _ESTIMATES.format(accuracy=_accuracy(results))
        for question in list(QUESTIONS)[1:]:
            text += f"\n### {QUESTIONS[question].capitalize()}\n\n"
            text += "\n".join(_estimates(results, question, [*ASSUMED, *further])) + "\n"
    return text + _THESIS.format(made=joined(results.media, most=None))


def _media_table(results: StorageResults) -> list[str]:
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
        for name, facts in results.media.items()
    ]
    return list(table_lines(header, rows, alignment="lll" + "r" * 5))


def _fastest(results: StorageResults) -> list[str]:
    """Return the format with the shortest time of each question by medium, with those near it."""
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
    return list(table_lines(header, rows, alignment="l" * len(header)))


def _times(results: StorageResults, question: str) -> list[str]:
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
    return list(table_lines(header, rows, alignment="l" + "r" * (len(header) - 1)))


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


def _turned_around(results: StorageResults, question: str) -> Iterator[str]:
    """Yield a list of the pairs that turn around, the widest first."""
    times = {name: results.times(question, name) for name in results.media}

    def width(pair: tuple[str, str, list[str], list[str]]) -> float:
        one, other, first, second = pair
        gains = [max(times[name][b] / times[name][a] for name in names)
                 for a, b, names in ((one, other, first), (other, one, second))]  # fmt: skip
        return -min(gains)

    pairs = sorted(turned(results, question), key=width)
    if not pairs:
        yield "\nNo two formats turn around: none of two is clearly ahead here and behind there.\n"
        return
    verb = "turns" if len(pairs) == 1 else "turn"
    yield f"\n{plural(len(pairs), 'pair')} of formats {verb} around between media"
    yield ":\n\n" if len(pairs) <= _MOST_PAIRS else f"; the {_MOST_PAIRS} widest:\n\n"
    for one, other, first, second in pairs[:_MOST_PAIRS]:
        yield f"- {one} is ahead of {other} on {_with_times(times, first, one, other)}; "
        yield f"{other} is ahead on {_with_times(times, second, other, one)}.\n"


def _with_times(times: dict[str, dict[str, float]], media: list[str], one: str, other: str) -> str:
    values = (
        f"{name} ({quantity(times[name][one], 'seconds')} to {quantity(times[name][other], 'seconds')})"
        for name in media
    )
    return joined(values, most=None)


def _gaps(results: StorageResults, question: str) -> Iterator[str]:
    """Yield the reasons of cells without a value, each once with its media."""
    reasons: dict[tuple[str, str], list[str]] = {}
    for cell in results.cells:
        if cell.question == question and cell.status:
            reason = f"{cell.status}: {cell.sentence}"
            reasons.setdefault((cell.format, reason), []).append(cell.medium)
    for number, ((label, reason), media) in enumerate(reasons.items()):
        where = "" if len(media) == len(results.media) else f" on {joined(media, most=None)}"
        yield ("\n" if number == 0 else "") + f"- {label}{where}: {reason}\n"


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


def _estimates(results: StorageResults, question: str, media: Sequence[MediumModel]) -> list[str]:
    """Return seeks, bytes, and measured and estimated times of a question by format."""
    found = media_of_costs(results)
    if found is None:
        return []
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
                *(quantity(cost.seconds_on(each), "seconds") for each in (own, *media)),
            ]
        )
    header = ["format", "seeks", "MB", memory, counting, f"estimated: {own}", *map(str, media)]
    return list(table_lines(header, rows, alignment="l" + "r" * (len(header) - 1)))

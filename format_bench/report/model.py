"""One colour for each format, the same in all charts of a report.

What stands in one place of a chart or a table: a value with its interval, or why there is none.

What is charted, out of all that is measured.

Cells that are compared with each other, and the families that they belong to.

Which records are compared with each other: those of one data set, size and thread policy.

The values of one measure, as a chart of bars shows them.

What all outputs of a report begin with: its families, one colour for each entry, its heading.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from adapter_core.text import printable
from format_bench.display.marks import WORDS
from format_bench.display.text import joined, many, quantity
from format_bench.results.load import family_of
from format_bench.results.metrics import METRICS

if TYPE_CHECKING:
    from format_bench.results.load import Results
    from format_bench.results.noise_floor import Floors
    from format_bench.results.records import Record


# After P. Tol, "Colour schemes" (2021), its muted scheme, which colour-blind people tell apart, and
# M. Okabe and K. Ito, "Color Universal Design" (2008); darkened where needed for 3:1 against white
# (WCAG 2.2, 1.4.11). No chart relies on colour alone: each bar and point has its name beside it.
HUES = (
    "#0072b2",
    "#b07800",
    "#117733",
    "#aa4499",
    "#2a8c80",
    "#c8553d",
    "#332288",
    "#7d7d1e",
    "#882255",
    "#3a8fc4",
    "#6b6b6b",
    "#cc6677",
)
_DARKER = 0.82
"""Of each channel, for each further engine of a format."""


def colours(entries: Iterable[Entry]) -> dict[Entry, str]:
    """Return a colour, as in "#0072b2", for each entry.

    Formats take the hues in turn. What has the same name before the bracket has the same hue, each
    engine darker than the one before; codecs do not change the colour.
    """
    engines: dict[str, list[str]] = {}
    found = {}
    for entry in entries:
        base = entry.format.partition("[")[0]
        known = engines.setdefault(base, [])
        if entry.format not in known:
            known.append(entry.format)
        hue = HUES[list(engines).index(base) % len(HUES)]
        found[entry] = _darkened(hue, known.index(entry.format))
    return found


def _darkened(colour: str, steps: int) -> str:
    channels = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(channel * _DARKER**steps):02x}" for channel in channels)


class Entry(NamedTuple):
    """What is compared: a format, with or without a codec."""

    format: str
    """The label, as in "Parquet[polars]"."""
    codec: str | None = None
    level: int | None = None

    def __str__(self) -> str:
        """Return a name, as in "Parquet zstd 3"."""
        level = "" if self.level is None else f" {self.level}"
        return printable(f"{self.format} {self.codec or ''}{level}")

    @property
    def place(self) -> tuple[str, str, str, int]:
        """A sort key: by name, and of one format first what is not compressed."""
        return self.format.casefold(), self.format, self.codec or "", self.level or 0


class Measure(NamedTuple):
    """What was measured, and with the file in which state of the page cache."""

    metric: str
    """One of `format_bench.results.metrics.METRICS`."""
    cache: str | None = None
    """"warm" or "cold"; None where it does not apply."""

    def __str__(self) -> str:
        """Return a name, as in "read time, cold"."""
        return self.metric + (f", {self.cache}" if self.cache else "")


@dataclass(frozen=True)
class Cell:
    """A value, or why there is none."""

    unit: str
    value: float | None
    interval: tuple[float, float] | None
    """The lower and the upper end, in `unit`."""
    samples: list[float]
    """All samples in the order taken, in `unit`; possibly none."""
    status: str
    """"value", or why there is none; one of `format_bench.results.status.Status`, or "not run"."""
    sentence: str
    """On one line; may be empty if there is a value."""


NOT_RUN = Cell("", None, None, [], "not run", "the results hold no record of it")


def cell_of(record: Record) -> Cell:
    """Return what a record says of its cell."""
    low_high = (record.interval[0], record.interval[1]) if record.interval else None
    sentence = printable(record.sentence)
    return Cell(record.unit, record.value, low_high, record.repeats, record.status.value, sentence)


CHARTED = {
    "save time": "Save time",
    "read time": "Read time",
    "random read time per image": "Random read time per image",
    "batch read time per image": "Batch read time per image",
    "save memory": "Save memory growth",
    "read memory": "Read memory growth",
    "size": "Total size",
    "files": "Files",
    "changed images": "Changed images",
}
"""The metrics that have a chart, where they were measured, and its title."""


TITLES = {"tabular": "Tables", "engines": "Engines", "compression": "Compression", "image": "Images"}


@dataclass(frozen=True)
class Group:
    """Cells that may be compared: all on the same data, under the same thread policy."""

    name: str
    """The data set, and what tells it from others of that name in the results."""
    dataset: str
    rows: int
    columns: int
    threads: str
    cells: dict[tuple[Entry, Measure], Cell]

    @cached_property
    def entries(self) -> list[Entry]:
        """Those of which there is a record, in the order of the whole report."""
        return sorted({entry for entry, _ in self.cells}, key=lambda entry: entry.place)

    @cached_property
    def measures(self) -> list[Measure]:
        """Those of which there is a record, in the order of `METRICS`, warm before cold."""
        return _in_order({measure for _, measure in self.cells})

    def cell(self, entry: Entry, measure: Measure) -> Cell:
        """Return a cell; of which there is no record, one that says so."""
        return self.cells.get((entry, measure), NOT_RUN)

    def values(self, measure: Measure) -> dict[Entry, float]:
        """Return the values that there are, in the order of the entries."""
        found = {entry: self.cell(entry, measure).value for entry in self.entries}
        return {entry: value for entry, value in found.items() if value is not None}


@dataclass(frozen=True)
class Family:
    """The groups of one kind of data."""

    name: str
    """As `family_of` gives it."""
    groups: list[Group]

    @property
    def title(self) -> str:
        """What headings call it."""
        return title_of(self.name)

    def extent(self, group: Group) -> str:
        """Return how large the data of a group are; empty if that is not known."""
        if self.name == "image":
            return many(group.rows, "image") if group.rows else ""
        sizes = ((group.rows, "row"), (group.columns, "column"))
        return ", ".join(many(number, what) for number, what in sizes if number)

    @property
    def datasets(self) -> list[str]:
        """Their names; one may be in several groups."""
        return list(dict.fromkeys(group.dataset for group in self.groups))

    @cached_property
    def entries(self) -> list[Entry]:
        """Those of any group, in the order of the whole report."""
        found = {entry for group in self.groups for entry in group.entries}
        return sorted(found, key=lambda entry: entry.place)

    @cached_property
    def measures(self) -> list[Measure]:
        """Those of any group, in order."""
        return _in_order({measure for group in self.groups for measure in group.measures})


def title_of(family: str) -> str:
    """Return what headings call a family."""
    return TITLES.get(family, printable(family).capitalize())


def _in_order(measures: set[Measure]) -> list[Measure]:
    names = list(METRICS)
    return sorted(measures, key=lambda each: (names.index(each.metric), each.cache == "cold"))


Key = tuple[str, int, str]
"""Data set, rows, thread policy."""


def families(results: Results) -> list[Family]:
    """Return the families in the order in which they were measured."""
    found: dict[str, dict[Key, list[Record]]] = {}
    for record in results.records:
        key = (record.dataset, record.rows, record.threads)
        found.setdefault(family_of(record), {}).setdefault(key, []).append(record)
    datasets = Counter(dataset for keys in found.values() for dataset in {key[0] for key in keys})
    shared = {dataset for dataset, times in datasets.items() if times > 1}
    return [
        Family(name, _groups(by_key, shared, title_of(name).lower())) for name, by_key in found.items()
    ]


def _groups(by_key: dict[Key, list[Record]], shared: set[str], kind: str) -> list[Group]:
    return [
        Group(
            name=_name(key, list(by_key)) + (f", {kind}" if key[0] in shared else ""),
            dataset=printable(key[0]),
            rows=key[1],
            # A case that failed early may not know them.
            columns=max(record.columns for record in records),
            threads=key[2],
            cells={
                (
                    Entry(record.format, record.codec, record.level),
                    Measure(record.metric, record.cache),
                ): cell_of(record)
                for record in records
            },
        )
        for key, records in by_key.items()
    ]


def _name(key: Key, keys: list[Key]) -> str:
    dataset, rows, threads = key
    name = printable(dataset)
    if len({each[1] for each in keys if each[0] == dataset}) > 1:
        name += f", {rows:,} rows"
    if len({each[2] for each in keys}) > 1:
        name += ", 1 thread" if threads == "1" else ", all threads"
    return name


@dataclass(frozen=True)
class Series:
    """The bars of one measure."""

    cells: dict[Entry, Cell]
    """Of each row that has one."""
    marks: dict[Entry, str]
    """As `marks_of` returns them."""
    role: str = "bar"
    """"bar", or "cold" for outlines."""
    show: Callable[[float, str], str] = quantity
    """Returns a value as text, given its unit."""

    def text(self, entry: Entry) -> str:
        """Return what stands at the end of a bar, or in its place."""
        cell = self.cells.get(entry)
        if cell is None or cell.value is None:
            return cell.status if cell else ""
        return f"{self.show(cell.value, cell.unit)} {WORDS[self.marks.get(entry, '')]}".strip()


@dataclass(frozen=True)
class Outline:
    """A report before anything is drawn or written."""

    name: str
    families: list[Family]
    colours: dict[Entry, str]
    """Of all entries, in the order of the report."""
    floors: Floors | None

    @property
    def lead(self) -> str:
        """What was measured, on one line."""
        return joined([_extent(family, self.families) for family in self.families])


def _extent(family: Family, families: list[Family]) -> str:
    what = many(len({entry.format for entry in family.entries}), "format")
    if any(entry.codec for entry in family.entries):
        what += f" with codecs, {many(len(family.entries), 'combination')},"
    kind = f" ({family.title.lower()})" if len(families) > 1 else ""
    return f"{what} on {many(len(family.datasets), 'data set')}{kind}"


def outline_of(results: Results) -> Outline:
    """Return the outline of a report on results."""
    found = families(results)
    entries = {entry for family in found for entry in family.entries}
    return Outline(
        name=printable(results.name),
        families=found,
        colours=colours(sorted(entries, key=lambda entry: entry.place)),
        floors=results.floors,
    )

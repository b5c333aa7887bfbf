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
from typing import TYPE_CHECKING

from adapter_core.text import printable
from format_bench.display.marks import WORDS
from format_bench.display.text import joined, many, quantity
from format_bench.results.groups import ComparisonGroup, ResultCell, sorted_measures
from format_bench.results.load import suite_of
from format_bench.results.metrics import METRICS
from format_bench.results.suites import item_of, title_of

if TYPE_CHECKING:
    from format_bench.results.candidates import Configuration
    from format_bench.results.load import Results
    from format_bench.results.metrics import Measure
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


def colours(entries: Iterable[Configuration]) -> dict[Configuration, str]:
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


CHARTED = {each.name: each.chart for each in METRICS.values() if each.chart}
"""The titles of the charts by metric; a metric has its chart where it was measured."""


@dataclass(frozen=True)
class SuiteResults:
    """The groups of one kind of data."""

    name: str
    """As `family_of` gives it."""
    groups: list[ComparisonGroup]

    @property
    def title(self) -> str:
        """What headings call it."""
        return printable(title_of(self.name))

    def extent(self, group: ComparisonGroup) -> str:
        """Return how large the data of a group are; empty if that is not known."""
        item = item_of(self.name)
        sizes = [(group.rows, item)]
        if item == "row":
            sizes.append((group.columns, "column"))
        return ", ".join(many(number, what) for number, what in sizes if number)

    @property
    def datasets(self) -> list[str]:
        """Their names; one may be in several groups."""
        return list(dict.fromkeys(group.dataset for group in self.groups))

    @cached_property
    def configurations(self) -> list[Configuration]:
        """Those of any group, in the order of the whole report."""
        found = {entry for group in self.groups for entry in group.configurations}
        return sorted(found, key=lambda entry: entry.sort_key)

    @cached_property
    def measures(self) -> list[Measure]:
        """Those of any group, in order."""
        return sorted_measures(measure for group in self.groups for measure in group.measures)


Key = tuple[str, int, str]
"""Data set, rows, thread policy."""


def families(results: Results) -> list[SuiteResults]:
    """Return the families in the order in which they were measured."""
    found: dict[str, dict[Key, list[Record]]] = {}
    for record in results.records:
        key = (record.dataset, record.rows, record.threads)
        found.setdefault(suite_of(record), {}).setdefault(key, []).append(record)
    datasets = Counter(dataset for keys in found.values() for dataset in {key[0] for key in keys})
    shared = {dataset for dataset, times in datasets.items() if times > 1}
    return [
        SuiteResults(name, _groups(by_key, shared, printable(title_of(name)).lower()))
        for name, by_key in found.items()
    ]


def _groups(by_key: dict[Key, list[Record]], shared: set[str], kind: str) -> list[ComparisonGroup]:
    return [
        ComparisonGroup.of(_name(key, list(by_key)) + (f", {kind}" if key[0] in shared else ""), records)
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

    cells: dict[Configuration, ResultCell]
    """Of each row that has one."""
    marks: dict[Configuration, str]
    """As `marks_of` returns them."""
    role: str = "bar"
    """"bar", or "cold" for outlines."""
    show: Callable[[float, str], str] = quantity
    """Returns a value as text, given its unit."""

    def text(self, entry: Configuration) -> str:
        """Return what stands at the end of a bar, or in its place."""
        cell = self.cells.get(entry)
        if cell is None or cell.value is None:
            return cell.status if cell else ""
        return f"{self.show(cell.value, cell.unit)} {WORDS[self.marks.get(entry, '')]}".strip()


@dataclass(frozen=True)
class Outline:
    """A report before anything is drawn or written."""

    name: str
    families: list[SuiteResults]
    colours: dict[Configuration, str]
    """Of all entries, in the order of the report."""
    floors: Floors | None

    @property
    def lead(self) -> str:
        """What was measured, on one line."""
        return joined([_extent(family, self.families) for family in self.families])


def _extent(family: SuiteResults, families: list[SuiteResults]) -> str:
    what = many(len({entry.format for entry in family.configurations}), "format")
    if any(entry.codec for entry in family.configurations):
        what += f" with codecs, {many(len(family.configurations), 'combination')},"
    kind = f" ({family.title.lower()})" if len(families) > 1 else ""
    return f"{what} on {many(len(family.datasets), 'data set')}{kind}"


def outline_of(results: Results) -> Outline:
    """Return the outline of a report on results."""
    found = families(results)
    entries = {entry for family in found for entry in family.configurations}
    return Outline(
        name=printable(results.name),
        families=found,
        colours=colours(sorted(entries, key=lambda entry: entry.sort_key)),
        floors=results.floors,
    )

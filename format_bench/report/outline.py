"""What all outputs of a report begin with: its families, one colour for each entry, its heading."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from format_bench.display.text import joined, many, printable
from format_bench.report.grouping import families
from format_bench.report.palette import colours

if TYPE_CHECKING:
    from format_bench.report.cells import Entry
    from format_bench.report.groups import Family
    from format_bench.results.load import Results
    from format_bench.results.noise_floor import Floors


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

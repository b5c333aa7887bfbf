"""Codec grid: its cases, and its tables, one for each format and one of two tracks.

The tracks are each format at its own default, and all at the same codec and level.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING

import data_formats
import data_generator
from adapter_core import Codec, UnavailableError, UnknownNameError, UnsupportedError
from adapter_core.codecs import algorithm_of
from adapter_core.errors import InvalidRequestError
from format_bench.families.cases import Case
from format_bench.results.candidates import Configuration
from format_bench.results.codec_costs import CODEC_COSTS, SIZE_RATIO
from format_bench.results.display.markdown import TextTable
from format_bench.results.groups import ComparisonGroup
from format_bench.results.marks import marks
from format_bench.results.records import Record, key
from format_bench.results.table import FormattedCell, codec_table, formatted_cell, text_table, with_notes
from format_bench.runner.recording import keys

if TYPE_CHECKING:
    from format_bench.results.metrics import Measure
    from format_bench.results.noise_floor import Floors
    from format_bench.results.suites import Step


# Names of the runner's steps that the grid measures.
STEPS = ("save", "read")

# Two or three of many levels, e.g. of zstd's 22, would hide the level at which the cost soars. So of a
# range of more levels than this every sixth is measured, too.
LONG_RANGE = 12
EVERY = 6


def measured_steps(case: Case) -> list[Step]:
    """Return the steps of a case that the grid measures."""
    return [step for step in case.steps if step.name in STEPS]


def cases(labels: Iterable[str], dataset: str, rows: int, *, full: bool) -> list[Case]:
    """Return a case for each codec and level of some formats; each format's uncompressed case is first.

    Parameters
    ----------
    labels : iterable of str
        Labels of formats; if empty, all usual formats that have codecs.
    dataset : str
        Name of a table.
    rows : int
        Rows of the table.
    full : bool
        All levels, not only the lowest, the default and the highest, and a few between them in long
        ranges.

    Raises
    ------
    InvalidRequestError
        If `rows` is less than 1.
    UnknownNameError
        If a format or the table does not exist.
    UnsupportedError
        If a format offers no choice of a codec.
    """
    if rows < 1:
        raise InvalidRequestError(f"a grid needs a table of at least 1 row, not {rows}")
    if dataset not in data_generator.names():
        raise UnknownNameError("table", dataset, data_generator.names())
    found = []
    for label in dict.fromkeys(labels) or data_formats.registry.usual_names():
        try:
            codecs = data_formats.find(label).codecs
        except UnavailableError:
            # One case, which the runner records as unavailable with the reason.
            found.append(Case(label, dataset, rows))
            continue
        if codecs:
            found += [Case(label, dataset, rows), *_compressed(label, dataset, rows, codecs, full=full)]
        elif labels:
            raise UnsupportedError(f"{label} offers no choice of a codec")
    return found


def _compressed(
    label: str, dataset: str, rows: int, codecs: tuple[Codec, ...], *, full: bool
) -> Iterator[Case]:
    for codec in codecs:
        for level in _levels(codec, full=full):
            yield Case(label, dataset, rows, codec=codec.name, level=level)


def _levels(codec: Codec, *, full: bool) -> list[int | None]:
    if codec.levels is None:
        return [None]
    if full:
        return list(codec.levels)
    wanted = {codec.levels[0], codec.levels[-1], codec.default_level}
    if len(codec.levels) > LONG_RANGE:
        wanted.update(codec.levels[::EVERY])
    return [level for level in codec.levels if level in wanted]


# The records of a case by metric; reads are warm.
Row = dict[str, "Record"]

# The rows of the grid in order: of each format the uncompressed case first.
Cells = dict[Case, Row]


def by_case(cases: Iterable[Case], records: Iterable[Record]) -> Cells:
    """Return the records of each case, out of all records."""
    found = {key(record): record for record in records}
    return {
        case: {
            found[each].metric: found[each]
            for step in measured_steps(case)
            for each in keys(case, step)
            if each in found
        }
        for case in cases
    }


def by_format(cells: Cells) -> dict[str, Cells]:
    """Return the cells of each format."""
    found: dict[str, Cells] = {}
    for case, row in cells.items():
        found.setdefault(case.format, {})[case] = row
    return found


def group_of(cells: Cells) -> ComparisonGroup:
    """Return the cells as a group of results."""
    return ComparisonGroup.of("", [record for row in cells.values() for record in row.values()])


def configuration_of(case: Case) -> Configuration:
    """Return the configuration of a case."""
    return Configuration(case.format, case.codec, case.level)


def tables(cells: Cells, floors: Floors | None = None) -> list[TextTable]:
    """Return a table for each format, whose codecs are compared with each other."""
    group = group_of(cells)
    return [
        text_table(label, codec_table(group, [configuration_of(case) for case in rows], floors), _LEAD)
        for label, rows in by_format(cells).items()
    ]


_LEAD = {
    "codec": lambda each: each.codec or "none",
    "level": lambda each: "" if each.level is None else str(each.level),
}


# The algorithms that several formats offer.
ALGORITHMS = ("zstd", "lz4", "gzip")

# The lowest level that all of them have.
LEVEL = 1

OWN_DEFAULT = "own default"

TRACKS = (OWN_DEFAULT, *(f"{name} {LEVEL}" for name in ALGORITHMS))

TITLE = "Own defaults beside the same codec and level"

_HEADER = ["format", "metric", "default codec", *TRACKS]


def table(cells: Cells, floors: Floors | None = None) -> TextTable:
    """Return a table of all formats, metric by metric, so that formats are neighbours.

    The formats of a track are compared with each other.
    """
    group = group_of(cells)
    plain, tracks = _choices(cells)
    notes: list[str] = []
    rows = []
    for cost in CODEC_COSTS:
        measure = cost.measure_in(group)
        columns = [_column(track, plain, tracks[track], group, measure, floors) for track in TRACKS]
        for label in plain:
            found = [column[label] for column in columns]
            default = tracks[OWN_DEFAULT][label].codec or "none"
            shown = [with_notes(cell.plain_text, cell.notes, notes) for cell in found]
            rows.append([label, measure.metric, default, *shown])
    return TextTable(TITLE, _HEADER, rows, notes)


# A configuration of each format, by label.
Choices = dict[str, "Configuration"]


def _choices(cells: Cells) -> tuple[Choices, dict[str, Choices]]:
    """Return the uncompressed configurations, and each track's.

    Of several codecs with the algorithm of a track, the first that the format declares is taken.
    """
    plain: Choices = {}
    tracks: dict[str, Choices] = {track: {} for track in TRACKS}
    for label, rows in by_format(cells).items():
        first, *compressed = rows
        plain[label] = configuration_of(first)
        default = replace(first, codec=_default_codec(label))
        tracks[OWN_DEFAULT][label] = configuration_of(default)
        for case in compressed:
            track = f"{algorithm_of(case.codec or '')} {LEVEL}"
            if track in tracks and case.level in (LEVEL, None):
                tracks[track].setdefault(label, configuration_of(case))
    return plain, tracks


def _default_codec(label: str) -> str | None:
    try:
        return data_formats.find(label).default_codec
    except UnavailableError:
        return None


def _column(  # noqa: PLR0913, PLR0917 (a track, and all that it is compared with)
    track: str,
    plain: Choices,
    chosen: Choices,
    group: ComparisonGroup,
    measure: Measure,
    floors: Floors | None,
) -> dict[str, FormattedCell]:
    """Return the cells of a track by label."""
    cells = {label: group.cell(each, measure) for label, each in chosen.items()}
    found = marks(cells, measure, floors)
    column = {}
    for label, uncompressed in plain.items():
        plain_cell = group.cell(uncompressed, measure)
        if label not in chosen and plain_cell.value is not None:
            missing = f"{label} offers no {track.partition(' ')[0]}"
            column[label] = FormattedCell("unsupported", "", None, missing, notes=(missing,))
            continue
        configuration = chosen.get(label, uncompressed)
        cell = cells.get(label, plain_cell)
        shown = formatted_cell(configuration, measure, cell, found.get(label, ""))
        if measure.metric == "size" and cell.value is not None:
            own_name = _own_name(configuration)
            if track not in (OWN_DEFAULT, own_name):
                shown = replace(shown, notes=(*shown.notes, f"{label}: {own_name}"))
            shown = replace(shown, detail=SIZE_RATIO.text(cell, plain_cell))
        column[label] = shown
    return column


def _own_name(configuration: Configuration) -> str:
    """Return the format's name of a codec and level."""
    level = ", which has no levels" if configuration.level is None else f" {configuration.level}"
    return f"{configuration.codec}{level}"

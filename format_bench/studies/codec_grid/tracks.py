"""Table of two tracks: each format at its own default, and all at the same codec and level."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import data_formats
from adapter_core import UnavailableError
from format_bench.display.markdown import TextTable
from format_bench.results.codec_costs import CODEC_COSTS, SIZE_RATIO
from format_bench.results.marks import marks
from format_bench.results.table import FormattedCell, formatted_cell, with_notes
from format_bench.studies.codec_grid.tables import Cells, by_format, configuration_of, group_of

if TYPE_CHECKING:
    from format_bench.results.candidates import Configuration
    from format_bench.results.groups import ComparisonGroup
    from format_bench.results.metrics import Measure
    from format_bench.results.noise_floor import Floors


# The algorithms that several formats offer.
ALGORITHMS = ("zstd", "lz4", "gzip")

# The lowest level that all of them have.
LEVEL = 1

OWN_DEFAULT = "own default"

TRACKS = (OWN_DEFAULT, *(f"{name} {LEVEL}" for name in ALGORITHMS))

TITLE = "Own defaults beside the same codec and level"

_HEADER = ["format", "metric", "default codec", *TRACKS]

# Other names of one algorithm: gzip and zlib wrap what deflate makes, RFC 1950 to 1952.
_NAMES = {"zstandard": "zstd", "zlib": "gzip", "deflate": "gzip"}


def algorithm_of(codec: str) -> str:
    """Return the algorithm of a codec, whoever applies it: "zstd" of "blosc:zstd" and "zstandard"."""
    name = codec.rpartition(":")[2]
    return _NAMES.get(name, name)


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
    """Return the uncompressed configurations, and those of each track.

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

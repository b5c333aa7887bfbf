"""Codecs of formats: each format's beside each other, and all formats at the same codec and level."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import data_formats
from adapter_core import UnavailableError
from adapter_core.codecs import algorithm_of
from format_bench.report.charts.figures import LABEL, QUIET, TEXT, Chart, Panel
from format_bench.results.candidates import OWN_DEFAULT, Configuration
from format_bench.results.codec_costs import CODEC_COSTS, SIZE_RATIO
from format_bench.results.display.text import plural, quantity
from format_bench.results.marks import SYMBOLS
from format_bench.results.table import (
    FormattedCell,
    codec_table,
    formatted_cell,
    measured_column,
    text_table,
    with_notes,
)
from format_bench.studies.declared.blocks import Block, Context

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from format_bench.results.groups import ComparisonGroup
    from format_bench.results.metrics import Measure

# The algorithms that several formats offer, at the lowest level that all of them have.
ALGORITHMS, LEVEL = ("zstd", "lz4", "gzip"), 1

TRACKS = (OWN_DEFAULT, *(f"{name} {LEVEL}" for name in ALGORITHMS))

TITLE = "Own defaults beside the same codec and level"

Choices = dict[str, Configuration]
"""A configuration of each format, by label."""


def by_format(group: ComparisonGroup) -> dict[str, list[Configuration]]:
    """Return the configurations of each format in the order of the results, the uncompressed first."""
    found: dict[str, list[Configuration]] = {}
    for each in dict.fromkeys(configuration for configuration, _ in group.cells):
        found.setdefault(each.format, []).append(each)
    return {label: sorted(own, key=lambda each: each.codec is not None) for label, own in found.items()}


def formats(context: Context) -> Iterator[Block]:
    """Yield a table for each format, whose codecs are compared with each other."""
    lead = {
        "codec": lambda each: each.codec or "none",
        "level": lambda each: "" if each.level is None else str(each.level),
    }
    for group in context.numbers.suite.groups:
        for label, own in by_format(group).items():
            found = text_table(label, codec_table(group, own), lead)
            yield Block(found.title, "", found.header, found.rows, notes=found.notes)


def tracks(context: Context) -> Iterator[Block]:
    """Yield a table of all formats for each group, metric by metric, so that formats are neighbours.

    Its columns are each format at its own default, and all at the same codec and level; the formats of
    a column are compared with each other.
    """
    header = ["format", "metric", "default codec", *TRACKS]
    legend = SYMBOLS.replace("*", "\\*")
    for group in context.numbers.suite.groups:
        plain, chosen = _choices(group)
        notes: list[str] = []
        rows = []
        for cost in CODEC_COSTS:
            measure = cost.measure_in(group)
            columns = [_column(track, plain, chosen[track], group, measure) for track in TRACKS]
            for label in plain:
                cells = [column[label] for column in columns]
                shown = [with_notes(each.plain_text, each.notes, notes) for each in cells]
                default = chosen[OWN_DEFAULT][label].codec or "none"
                rows.append([label, measure.metric, default, *shown])
        yield Block(TITLE, legend, header, rows, notes=notes)


def _choices(group: ComparisonGroup) -> tuple[Choices, dict[str, Choices]]:
    """Return the uncompressed configurations, and each track's.

    Of several codecs with the algorithm of a track, the first that the format declares is taken.
    """
    plain: Choices = {}
    found: dict[str, Choices] = {track: {} for track in TRACKS}
    for label, (first, *compressed) in by_format(group).items():
        plain[label] = first
        found[OWN_DEFAULT][label] = _default_of(label)
        for each in compressed:
            track = f"{algorithm_of(each.codec or '')} {LEVEL}"
            if track in found and each.level in (LEVEL, None):
                found[track].setdefault(label, each)
    return plain, found


def _default_of(label: str) -> Configuration:
    """Return the configuration that a format's library takes unasked."""
    try:
        adapter = data_formats.find(label)
    except UnavailableError:
        return Configuration(label, family="tables")
    default = adapter.default_codec
    level = None if default is None else adapter.codec_named(default).default_level
    return Configuration(label, default, level, family="tables")


def _column(
    track: str,
    plain: Choices,
    chosen: Choices,
    group: ComparisonGroup,
    measure: Measure,
) -> dict[str, FormattedCell]:
    """Return the cells of a track by label."""
    measured = measured_column(group, measure, list(chosen.values()))
    column = {}
    for label, uncompressed in plain.items():
        plain_cell = group.cell(uncompressed, measure)
        if label not in chosen:
            shown = formatted_cell(uncompressed, measure, plain_cell, "")
            if plain_cell.value is not None:
                missing = f"{label} offers no {track.partition(' ')[0]}"
                shown = FormattedCell("unsupported", "", None, missing, notes=(missing,))
        else:
            configuration = chosen[label]
            shown, cell = measured[configuration], group.cell(configuration, measure)
            if measure.metric == "size" and cell.value is not None:
                own_name = _own_name(configuration)
                if track not in {OWN_DEFAULT, own_name}:
                    shown = replace(shown, notes=(*shown.notes, f"{label}: {own_name}"))
                shown = replace(shown, detail=SIZE_RATIO.text(cell, plain_cell))
        column[label] = shown
    return column


def _own_name(configuration: Configuration) -> str:
    """Return the format's name of a codec and level."""
    level = ", which has no levels" if configuration.level is None else f" {configuration.level}"
    return f"{configuration.codec}{level}"


# Colours that colour-blind people can distinguish, after M. Okabe and K. Ito, "Color Universal Design"
# (2008), darkened to 3:1 against white as the report's are, since levels are written in them;
# and markers for those who see no colours.
_LOOKS = {
    "zstd": ("#0072B2", "o"),
    "gzip": ("#B07800", "s"),
    "lz4": ("#00875F", "^"),
    "lz4hc": ("#00875F", "v"),
    "snappy": ("#3A8FC4", "D"),
    "blosclz": ("#3A8FC4", "d"),
    "brotli": ("#C8553D", "P"),
    "lzo": ("#C8553D", "p"),
    "xz": ("#AA4499", "X"),
    "bzip2": ("#6B6B6B", "h"),
}
_OTHER = ("#666666", ".")
_UNCOMPRESSED = ("#000000", "*")

# By the library that applies the algorithm: the part of a codec's name before the colon.
_STROKES = {"": "-", "blosc": "--", "blosc2": ":", "file": "-."}

_NOTE = "Numbers are the lowest and the highest level; the lower left is best."

# Panels side by side, and the room of each in points: two columns have their text in full size.
COLUMNS, WIDTH, _HEIGHT, _LEFT, _RIGHT, _TOP, _BOTTOM = 2, 860.0, 260.0, 60.0, 100.0, 24.0, 44.0

# Room of a number, as shares of a panel.
_NUMBER_WIDTH, _NUMBER_HEIGHT = 0.05, 0.05

Lines = Mapping[str | None, list[tuple[float, float, int | None]]]
"""By codec: share of the uncompressed size, seconds, level."""


def look(codec: str | None) -> tuple[str, str, str]:
    """Return colour, marker and stroke of a codec's line."""
    if codec is None:
        return *_UNCOMPRESSED, ""
    where = codec.rpartition(":")[0]
    return *_LOOKS.get(algorithm_of(codec), _OTHER), _STROKES.get(where, "-")


def chart(context: Context) -> Chart | None:
    """Return the picture of the first group: size against read time, a panel per format."""
    group = context.numbers.suite.groups[0]
    panels = {label: _lines(group, own) for label, own in by_format(group).items()}
    panels = {label: lines for label, lines in panels.items() if lines}
    if not panels:
        return None
    height = _HEIGHT * math.ceil(len(panels) / COLUMNS)
    alt = f"Size against read time under each codec: {plural(len(panels), 'format')}."
    title = f"Codecs and levels: {group.dataset}, {group.rows:,} rows"
    return Chart(title, alt, height, partial(_draw, panels), _NOTE, WIDTH)


def _lines(group: ComparisonGroup, own: list[Configuration]) -> Lines:
    size, _, read = (each.measure_in(group) for each in CODEC_COSTS)
    sizes, times = group.values(size), group.values(read)
    plain = sizes.get(own[0])
    lines: dict[str | None, list[tuple[float, float, int | None]]] = {}
    for each in own:
        if plain and each in sizes and each in times:
            lines.setdefault(each.codec, []).append((sizes[each] / plain, times[each], each.level))
    return lines


def _draw(panels: Mapping[str, Lines], panel: Panel) -> None:
    width = panel.width / min(COLUMNS, len(panels))
    for at, (label, lines) in enumerate(panels.items()):
        line, column = divmod(at, COLUMNS)
        above = line * _HEIGHT
        below = panel.height - panel.heading - above - _HEIGHT
        axes = panel.add_axes(
            column * width + _LEFT,
            panel.width - (column + 1) * width + _RIGHT,
            above + _TOP,
            below + _BOTTOM,
        )
        _draw_format(axes, label, lines)


def _draw_format(axes: Axes, label: str, lines: Lines) -> None:
    axes.set_title(label, fontweight="bold", loc="left", fontsize=LABEL)
    axes.set_xlabel("size, share of the uncompressed size")
    axes.set_ylabel("warm read time")
    axes.yaxis.set_major_formatter(lambda value, _: quantity(value, "seconds") if value else "0")
    axes.tick_params(labelsize=TEXT, labelcolor=QUIET)
    # Room for the numbers.
    axes.margins(x=0.1, y=0.1)
    for codec, points in lines.items():
        x, y, _ = zip(*points, strict=True)
        colour, marker, stroke = look(codec)
        axes.plot(
            x, y, color=colour, marker=marker, linestyle=stroke, markersize=6, label=codec or "none"
        )
    axes.set_ylim(bottom=0)
    _number(axes, lines)
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0), frameon=False)


def _number(axes: Axes, lines: Lines) -> None:
    """Write the levels at the ends of the lines, except those that would cover another."""
    to_share = axes.transData + axes.transAxes.inverted()
    taken: list[tuple[float, float]] = []
    for codec, points in lines.items():
        middle = (points[0][0] + points[-1][0]) / 2
        for x, y, level in dict.fromkeys([points[0], points[-1]]):
            # On the side away from the line.
            side = 1 if x > middle else -1
            across, up = to_share.transform((x, y))
            across += side * _NUMBER_WIDTH / 2
            is_free = all(
                abs(across - a) >= _NUMBER_WIDTH or abs(up - b) >= _NUMBER_HEIGHT for a, b in taken
            )
            if level is not None and is_free:
                taken.append((across, up))
                axes.annotate(
                    str(level),
                    (x, y),
                    xytext=(6 * side, 0),
                    textcoords="offset points",
                    horizontalalignment="left" if side > 0 else "right",
                    verticalalignment="center",
                    color=look(codec)[0],
                )

"""Two tracks side by side: each format at its own default, and all at the same codec and level."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING

import data_formats
from adapter_core import UnavailableError
from format_bench.display.markdown import Table, reference
from format_bench.studies.codec_grid import tables
from format_bench.studies.codec_grid.tables import METRICS, Cells, by_format

if TYPE_CHECKING:
    from format_bench.families.cases import Case
    from format_bench.results.records import Record


ALGORITHMS = ("zstd", "lz4", "gzip")
"""Those that several formats offer."""

LEVEL = 1
"""The lowest one that all of them have."""

OWN_DEFAULT = "own default"

TRACKS = (OWN_DEFAULT, *(f"{name} {LEVEL}" for name in ALGORITHMS))

TITLE = "Own defaults beside the same codec and level"

_HEADER = ["format", "metric", "default codec", *TRACKS]

_NAMES = {"zstandard": "zstd", "zlib": "gzip", "deflate": "gzip"}
"""Other names of one algorithm: gzip and zlib wrap what deflate makes, RFC 1950 to 1952."""


def algorithm_of(codec: str) -> str:
    """Return what a codec does, whoever applies it: "zstd" for "blosc:zstd" and for "zstandard"."""
    name = codec.rpartition(":")[2]
    return _NAMES.get(name, name)


def table(cells: Cells) -> Table:
    """Return a table of all formats, metric by metric, so that formats stand together."""
    formats = by_format(cells)
    chosen = {label: _by_track(label, rows) for label, rows in formats.items()}
    notes: list[str] = []
    lines = []
    for metric in METRICS:
        best = {
            track: tables.best_of(cells[of[track]][metric] for of in chosen.values() if track in of)
            for track in TRACKS
        }
        for label, rows in formats.items():
            plain = next(iter(rows.values()))[metric]
            line = [label, metric, chosen[label][OWN_DEFAULT].codec or "none"]
            for track in TRACKS:
                case = chosen[label].get(track)
                found = None if case is None else cells[case][metric]
                line.append(_text(track, found, plain, best[track], notes))
            lines.append(line)
    return Table(TITLE, _HEADER, lines, notes)


def _by_track(label: str, cases: Iterable[Case]) -> dict[str, Case]:
    """Return the case that stands for each track: of several the first that the format declares."""
    plain, *compressed = cases
    found = {OWN_DEFAULT: replace(plain, codec=_default_codec(label))}
    for case in compressed:
        if case.codec and case.level in (LEVEL, None):
            found.setdefault(f"{algorithm_of(case.codec)} {LEVEL}", case)
    return found


def _default_codec(label: str) -> str | None:
    try:
        return data_formats.find(label).default_codec
    except UnavailableError:
        return None


def _text(track: str, found: Record | None, plain: Record, best: float | None, notes: list[str]) -> str:
    if found is None and plain.value is not None:
        missing = f"{plain.format} offers no {track.partition(' ')[0]}"
        return f"unsupported {reference(missing, notes)}"
    found = found or plain
    if found.metric != "size" or found.value is None:
        return tables.value(found, best, notes)
    text = tables.value(found, best, notes, tables.ratio(found, plain))
    own_name = _own_name(found)
    if track not in (OWN_DEFAULT, own_name):
        text += f" {reference(f'{found.format}: {own_name}', notes)}"
    return text


def _own_name(found: Record) -> str:
    """Return what the format calls a codec and level."""
    level = ", which has no levels" if found.level is None else f" {found.level}"
    return f"{found.codec}{level}"

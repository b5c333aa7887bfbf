"""Colours, markers and strokes of the grid's lines: the same for a codec in all panels."""

from __future__ import annotations

from format_bench.grid_tracks import algorithm_of

# Colours that colour-blind people tell apart, after M. Okabe and K. Ito, "Color Universal Design"
# (2008), and markers for those who see none.
_LOOKS = {
    "zstd": ("#0072B2", "o"),
    "gzip": ("#E69F00", "s"),
    "lz4": ("#009E73", "^"),
    "lz4hc": ("#009E73", "v"),
    "snappy": ("#56B4E9", "D"),
    "blosclz": ("#56B4E9", "d"),
    "brotli": ("#D55E00", "P"),
    "lzo": ("#D55E00", "p"),
    "xz": ("#CC79A7", "X"),
    "bzip2": ("#999999", "h"),
}
_STRANGE = ("#666666", ".")
_PLAIN = ("#000000", "*")
_STROKES = {"": "-", "blosc": "--", "blosc2": ":", "file": "-."}
"""By what stands before the colon in a codec's name: who applies the algorithm."""


def look(codec: str | None) -> tuple[str, str, str]:
    """Return colour, marker and stroke of a codec's line."""
    if codec is None:
        return *_PLAIN, ""
    where = codec.rpartition(":")[0]
    return *_LOOKS.get(algorithm_of(codec), _STRANGE), _STROKES.get(where, "-")

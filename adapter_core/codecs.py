"""Compression codecs of table formats and array stores."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from adapter_core.error_bounds import BoundKind
from adapter_core.errors import UnknownLevelError

# Other names of one algorithm: gzip and zlib wrap what deflate makes, RFC 1950 to 1952.
_NAMES = {"zstandard": "zstd", "zlib": "gzip", "deflate": "gzip"}


def algorithm_of(codec: str) -> str:
    """Return the algorithm of a codec, whoever applies it.

    It is "zstd" for "blosc:zstd", "zstd+shuffle" and "zstandard".
    """
    name = codec.partition("+")[0].rpartition(":")[2]
    return _NAMES.get(name, name)


def shuffles(codec: str) -> bool:
    """Return whether a codec regroups the bytes of numbers before it compresses them, as Blosc does."""
    container, _, filters = codec.partition("+")
    return filters == "shuffle" or (container.startswith("blosc") and not filters)


class ErrorScale(StrEnum):
    """Quantity that the error of a lossy codec is relative to: at most 2**-n of it at level n."""

    VALUE = "value"
    """Each value's own magnitude."""
    RANGE = "range"
    """Largest less smallest value of the chunk."""
    ONE = "one"
    """The unit of the data: the bound is absolute."""


@dataclass(frozen=True)
class Codec:
    """A compression codec that a format offers.

    Filters follow the name of the algorithm, e.g. "zstd+shuffle"; its container precedes it, e.g.
    "blosc:lz4+bitshuffle". The usual filter of a container has no mention: Blosc shuffles.
    """

    name: str
    """Name that `save` takes and `codec_used` returns."""
    levels: range | None = None
    """Levels that make a difference; None without levels, or if the library ignores them."""
    default_level: int | None = None
    """Level that the library chooses by default."""
    requires: str = ""
    """Distribution that only this codec needs; also part of the format's `requires`."""
    error: ErrorScale | None = None
    """Scale of the error of a lossy codec, whose levels are bits of precision; None if lossless."""
    bounds: tuple[BoundKind, ...] = ()
    """Kinds of error bounds that a lossy codec takes in place of a level."""

    def level_or_default(self, level: int | None) -> int | None:
        """Return the level to use: the given one, or the default one for None.

        Raises
        ------
        UnknownLevelError
            If the codec has no such level, or no levels.
        """
        if level is None:
            return self.default_level
        if self.levels is None:
            raise UnknownLevelError(f"the codec {self.name} has no levels, so {level} cannot be chosen")
        if level not in self.levels:
            first, last = self.levels[0], self.levels[-1]
            raise UnknownLevelError(f"the codec {self.name} has levels {first} to {last}, not {level}")
        return level

"""Compression codecs of table formats."""

from __future__ import annotations

from dataclasses import dataclass

from adapter_core.errors import UnknownLevelError

# Other names of one algorithm: gzip and zlib wrap what deflate makes, RFC 1950 to 1952.
_NAMES = {"zstandard": "zstd", "zlib": "gzip", "deflate": "gzip"}


def algorithm_of(codec: str) -> str:
    """Return the algorithm of a codec, whoever applies it: "zstd" of "blosc:zstd" and "zstandard"."""
    name = codec.rpartition(":")[2]
    return _NAMES.get(name, name)


@dataclass(frozen=True)
class Codec:
    """A compression codec that a format offers."""

    name: str
    """Name that `DataFormat.save` takes and `DataFormat.codec_used` returns."""
    levels: range | None = None
    """Levels that make a difference; None without levels, or if the library ignores them."""
    default_level: int | None = None
    """Level that the library chooses by default."""
    requires: str = ""
    """Distribution that only this codec needs; also part of the format's `requires`."""

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

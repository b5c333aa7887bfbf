"""Compression codecs, as table formats declare them."""

from __future__ import annotations

from dataclasses import dataclass

from adapter_core.errors import UnknownLevelError


@dataclass(frozen=True)
class Codec:
    """One way in which a format compresses."""

    name: str
    """What `DataFormat.save` takes and `DataFormat.codec_used` gives."""
    levels: range | None = None
    """The levels that make a difference; None if there are none, or if the library ignores them."""
    default_level: int | None = None
    """The level that the library takes when none is given."""
    requires: str = ""
    """Distribution that only the codec needs; the `requires` of its format names it too."""

    def level_or_default(self, level: int | None) -> int | None:
        """Return the level to use, which is the default one if None is given.

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

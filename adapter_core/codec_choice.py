"""Base class of adapters that offer a choice of compression codecs."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, Self

from adapter_core.adapter import BaseAdapter
from adapter_core.availability import Availability, import_failure
from adapter_core.codecs import Codec, algorithm_of
from adapter_core.errors import (
    UnavailableError,
    UnknownLevelError,
    UnknownNameError,
    UnsupportedError,
)
from adapter_core.snippets import Code

DEFAULTS, RECOMMENDED = "defaults", "recommended"
"""Names of settings: a library's own defaults, and the advice of its makers."""


@dataclass(frozen=True)
class Recommended:
    """Settings that the makers of a library advise for saves."""

    source: str
    """Address of the advice, or several with blanks between."""
    codec: str | None
    """None for no codec, or one of the library's own choice."""
    level: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """Further options, by the library's names."""
    words: str = ""
    """The advice in a clause."""
    seen: str = ""
    """Date of the page, or of the visit, as in 2026-11-25."""
    parts: Mapping[str, str | int] = field(default_factory=dict)
    """Facts of files that differ from `FileFacts.parts` by it."""


class Chosen(NamedTuple):
    """An adapter that saves with settings, and the codec and level that belong to them."""

    adapter: Any
    codec: str | None
    level: int | None


class CodecChoice(BaseAdapter):
    """An adapter with codecs to choose from, if its format has any."""

    codecs: ClassVar[tuple[Codec, ...]] = ()
    """Codecs to choose from; empty if `default_codec` is the only way to write."""
    default_codec: ClassVar[str | None] = None
    """Codec that the library uses by default; `save` uses it only if `codecs` is empty."""

    overridden_default: ClassVar[str] = ""
    """Default of the library that no save has, e.g. "codec"; usually none."""
    recommended: ClassVar[Recommended | None] = None
    """Advice of the library's makers on settings, which may be the defaults; None if none is known."""
    options: Mapping[str, Any] = {}
    """Options of the library for saves besides the codec, in adapters that do not name it one."""

    @property
    def has_own_default(self) -> bool:
        """Whether the library's defaults differ from the usual settings of `save`."""
        return bool(self.options or (self.codecs and self.default_codec)) and not self.overridden_default

    @property
    def has_advice(self) -> bool:
        """Whether the makers advise other settings than the library's defaults."""
        advice = self.recommended
        own = self.default_codec if self.codecs else None
        return advice is not None and bool(advice.options or advice.codec != own)

    def with_settings(self, name: str) -> Chosen:
        """Return an adapter for settings, with the codec to give to `save`.

        Parameters
        ----------
        name : str
            "defaults", "recommended", or empty for the usual settings, without a codec.

        Raises
        ------
        UnsupportedError
            If no advice of its makers is known, or there are no such settings.
        """
        if name == DEFAULTS:
            return Chosen(self.with_defaults(), self.default_codec if self.codecs else None, None)
        if name == RECOMMENDED and (advice := self.recommended):
            return Chosen(self.with_recommended(), advice.codec, advice.level)
        if name:
            raise UnsupportedError(f"{self.label} has no settings {name!r}")
        return Chosen(self, None, None)

    def with_defaults(self) -> Self:
        """Return an adapter that saves without `options`; the caller gives `default_codec`."""
        adapter = copy.copy(self)
        adapter.options = {}
        return adapter

    def with_recommended(self) -> Self:
        """Return an adapter that saves with the options of `recommended`; the caller gives the codec.

        Raises
        ------
        UnsupportedError
            If no advice is known.
        """
        if self.recommended is None:
            raise UnsupportedError(f"{self.label} has no known advice of its makers on settings")
        adapter = copy.copy(self)
        adapter.options = self.recommended.options
        return adapter

    @property
    def _needed(self) -> tuple[str, ...]:
        """The requirements of more than one codec; see `codec_availability` for the others."""
        optional = {codec.requires for codec in self.codecs}
        return tuple(each for each in self.requires if each not in optional)

    def codec_named(self, name: str) -> Codec:
        """Return one of the adapter's codecs.

        Raises
        ------
        UnknownNameError
            If the codec is unknown.
        UnsupportedError
            If the adapter offers no choice of codecs.
        """
        if not self.codecs:
            raise UnsupportedError(f"{self.label} offers no choice of a codec")
        for codec in self.codecs:
            if codec.name == name:
                return codec
        raise UnknownNameError(f"{self.label} codec", name, [codec.name for codec in self.codecs])

    def nearest_codec(self, name: str | None, level: int | None) -> tuple[str | None, int | None]:
        """Return the codec of a name, or else the plainest lossless one of the same algorithm.

        A level is left out where the codec has none.

        Raises
        ------
        UnsupportedError
            If there is no codec of that algorithm.
        UnknownLevelError
            If the codec lacks the level.
        """
        if name is None:
            return None, None
        algorithm = algorithm_of(name)
        same = [each for each in self.codecs if not each.error and algorithm_of(each.name) == algorithm]
        if not same:
            raise UnsupportedError(f"{self.label} has no codec {name}")
        # "+" joins filters to a codec.
        codec = min(same, key=lambda each: (each.name != name, "+" in each.name))
        return codec.name, codec.level_or_default(level) if codec.levels else None

    def codec_availability(self, name: str) -> Availability:
        """Report whether one of the adapter's codecs can work here."""
        package = self.codec_named(name).requires
        reason = import_failure(self.modules.get(package, package)) if package else ""
        return Availability(not reason, reason, self._install_hint if reason else "")

    def codec_used(self, path: str | os.PathLike[str]) -> str | None:
        """Return the codec of the values in a file, read from the file itself; None if uncompressed.

        Some values may be uncompressed all the same: libraries store them as they are where a codec
        would not make them smaller. Encodings such as dictionaries and bit-packing do not count as
        codecs.

        Raises
        ------
        FileNotFoundError
            If the path does not exist.
        """
        path = self._existing(path)
        return self._codec_used(path) if self.codecs or self.default_codec else None

    def code(self, codec: str | None = None, level: int | None = None, path: str = "") -> Code | None:
        """Return the code to write and read a file, see `Pasteable.code`."""
        found = super().code(codec, self._checked_level(codec, level), path)
        if found is None or codec is not None or not (self.codecs and self.default_codec):
            return found
        note = f"without a codec; by default the library uses {self.default_codec}"
        return replace(found, notes=(*found.notes, note))

    def _checked_level(self, codec: str | None, level: int | None) -> int | None:
        """Return the level, or the codec's default one; raise an error if the adapter lacks either."""
        if codec is not None:
            return self.codec_named(codec).level_or_default(level)
        if level is not None:
            raise UnknownLevelError(f"{self.label}: level {level} is given without a codec")
        return None

    def _chosen(self, codec: str | None, level: int | None) -> dict[str, Any]:
        """Return the arguments of `_save` for compression; empty without a codec."""
        level = self._checked_level(codec, level)
        if codec is None:
            return {}
        answer = self.codec_availability(codec)
        if not answer:
            raise UnavailableError(f"{self.label} with {codec}", answer.reason, answer.install_hint)
        return {"codec": codec, "level": level}

    def _codec_used(self, path: Path) -> str | None:
        """Return the codec of a file; required if the adapter declares codecs or a default codec."""
        raise NotImplementedError(f"{type(self).__module__}: declares a codec, so it must override this")

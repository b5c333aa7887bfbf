"""Optional features of formats: a file of declarations each, with the calls that write and read them.

`write` and the readers of a format are names of functions, as "module:function", that take a table of
Arrow and a path, or a path alone: those of libraries, of `feature_writers` or of `library_readers`.
"""

from __future__ import annotations

import functools
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from adapter_core.adapter import format_of
from adapter_core.errors import UnknownNameError

FOLDER = Path(__file__).parent

BASE = "defaults"
"""The feature that each file of a format has: as the library writes it, without compression."""


class Feature(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """An optional feature of a format, and a file that has it."""

    name: str
    title: str
    table: str = "text with nulls"
    """The edge-case table that shows it."""
    value: str = ""
    """Text that its column `c` has in all rows instead of its own values."""
    types: dict[str, str] = {}
    """Types of Arrow, e.g. "decimal256(50, 2)", that columns of the table are cast to before."""
    write: str = ""
    """Function that writes the file; by default the format's."""
    options: dict[str, Any] = {}
    """Keyword arguments of the function."""
    unwritten: str = ""
    """Why no installed library writes it, where none says so itself."""
    codec: str = ""
    """FormatBench's name of the codec, if the feature is one."""
    settings: list[str] = []
    """Values of the axis of settings with which the adapter named as the format writes it."""
    checksums: bool = False
    """Whether the axis of checksums is for it."""

    @property
    def setting(self) -> str:
        """The settings of FormatBench that write it, in words; empty if none does."""
        parts = [f"codec {self.codec}"] if self.codec else []
        parts += [f"settings {each}" for each in self.settings]
        return ", ".join([*parts, "checksums"] if self.checksums else parts)


class Format(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A format with its features."""

    format: str
    """Label of its adapters, without an engine."""
    suffix: str
    write: str
    """Function that writes a file, of features that name none."""
    options: dict[str, Any] = {}
    """Keyword arguments of all its features that name no function."""
    readers: dict[str, list[str]] = {}
    """A function by distribution, and methods to call on its result."""
    features: list[Feature]

    def feature(self, name: str) -> Feature:
        """Return a feature.

        Raises
        ------
        UnknownNameError
            If there is none of that name.
        """
        found = {each.name: each for each in self.features}
        if name not in found:
            raise UnknownNameError(f"feature of {self.format}", name, found)
        return found[name]

    def of_codec(self, codec: str | None) -> Feature | None:
        """Return the feature that a codec is; the base without a codec, None if undeclared."""
        if not codec:
            return self.feature(BASE)
        return next((each for each in self.features if each.codec == codec), None)

    def call_of(self, feature: Feature) -> tuple[str, dict[str, Any]]:
        """Return the function that writes a feature, and its keyword arguments."""
        if feature.write:
            return feature.write, feature.options
        return self.write, self.options | feature.options


@functools.cache
def formats() -> dict[str, Format]:
    """Return all formats with declared features, by label.

    Raises
    ------
    ValueError
        If a declaration is invalid; the message names the file.
    """
    found = map(_declared, sorted(FOLDER.glob("*.toml")))
    return {each.format: each for each in found}


def find(label: str) -> Format:
    """Return a format by the label of an adapter, with or without an engine.

    Raises
    ------
    UnknownNameError
        If no features of it are declared.
    """
    name = format_of(label)
    if name not in formats():
        raise UnknownNameError("format with features", name, formats())
    return formats()[name]


def _declared(path: Path) -> Format:
    try:
        return msgspec.convert(tomllib.loads(path.read_text(encoding="utf-8")), Format)
    except (tomllib.TOMLDecodeError, msgspec.ValidationError) as error:
        raise ValueError(f"{path}: {error}") from error

"""Sections of a page: their material, and the fields that all of them have."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import TYPE_CHECKING, Any

import msgspec

from adapter_core.errors import NoCommonCellsError
from format_bench.comparison import Comparison, compare
from format_bench.results.load import load

if TYPE_CHECKING:
    from format_bench.results.load import Results
    from format_bench.studies.declared.blocks import Block
    from format_bench.studies.declared.selection import Numbers

MISSING = "-"


@dataclass(frozen=True)
class Context:
    """Material of sections."""

    results: Results
    numbers: Numbers
    published: str
    explanations: dict[str, str]
    rows: Sequence[Any] = ()
    """The rows of a study with an instrument."""

    @functools.cached_property
    def comparison(self) -> Comparison | None:
        """The published results beside ours; None if nothing is common to them."""
        try:
            return compare(load(self.published), self.results)
        except NoCommonCellsError:
            return None


class SectionBase(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, tag_field="kind"):
    """Fields of all sections."""

    title: str = ""
    text: str = ""
    select: dict[str, Any] = {}
    """Patterns that all its numbers share."""
    fold: bool = False

    def blocks(self, context: Context) -> Iterator[Block]:
        """Yield the blocks of the section."""
        raise NotImplementedError


def replaced(text: str, values: dict[str, str]) -> str:
    """Return a text with values in place of their names in braces."""
    for name, value in values.items():
        text = text.replace(f"{{{name}}}", value)
    return text


def imported(place: str) -> Any:
    """Import the object that a declaration names as "module:name"."""
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)

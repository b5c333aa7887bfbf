"""Declared facts of adapters: defaults and losses, which are in names, and facts for requirements.

Results may come from a machine with other packages: facts of unknown adapters are empty.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from adapter_core import DataFormat, Feature, Trait
from adapter_core.codecs import Codec, ErrorScale
from adapter_core.errors import UnavailableError, UnknownNameError
from format_bench.results.suites import FAMILIES

_OF = {
    ErrorScale.VALUE: "each value",
    ErrorScale.RANGE: "the range of its chunk",
    ErrorScale.ONE: "the unit",
}


@dataclass(frozen=True)
class AdapterFacts:
    """Declared facts of an adapter; by default the facts of an unknown one."""

    default_codec: str | None = None
    """Codec that the library takes by itself."""
    recommended_codec: str | None = None
    """Codec that its makers advise."""
    has_own_default: bool = False
    """Whether the library's defaults differ from the usual settings, and can be measured."""
    compresses_by_itself: bool = False
    """Whether the library's defaults compress, and the usual settings do not."""
    codecs: Mapping[str, Codec] | None = None
    changes_values: str = ""
    """The loss of values of any file, in words; empty if the adapter is lossless."""
    traits: frozenset[Trait] | None = None
    """None if unknown."""
    features: frozenset[Feature] | None = None
    """None if unknown, and of other families than tables."""
    language: str = ""
    """Language of the measured program, as "python"; empty if unknown."""
    lazy: str = ""
    """Work of a record store that a read leaves until a field is used, as a clause; empty if none."""

    def loss_by(self, codec: str | None, level: int | None) -> str:
        """Return in words the loss of values with a codec; empty if there is none."""
        chosen = (self.codecs or {}).get(codec or "")
        if chosen is not None and chosen.error:
            return _bound(chosen.error, chosen.default_level if level is None else level)
        return self.changes_values


def _bound(scale: ErrorScale, bits: int | None) -> str:
    return f"values change, by up to 2**-{bits} of {_OF[scale]}"


def facts_of(family: str, label: str) -> AdapterFacts:
    """Return the facts of the adapter of a label, given the name of its family."""
    if family not in FAMILIES:
        return AdapterFacts()
    return _facts_of(import_module(FAMILIES[family].adapters).registry.find, label)


@functools.cache
def _facts_of(find: Callable[[str], Any], label: str) -> AdapterFacts:
    try:
        adapter = find(label)
    except (UnknownNameError, UnavailableError):
        return AdapterFacts()
    codecs: tuple[Codec, ...] = getattr(adapter, "codecs", ())
    loss = "pixels change" if getattr(adapter, "changes_pixels", False) else ""
    if error := getattr(adapter, "error", None):
        loss = _bound(*error)
    own = getattr(adapter, "has_own_default", False)
    return AdapterFacts(
        default_codec=getattr(adapter, "default_codec", None) if codecs else None,
        recommended_codec=getattr(getattr(adapter, "recommended", None), "codec", None),
        has_own_default=own,
        compresses_by_itself=own or getattr(adapter, "overridden_default", "") == "codec",
        codecs={each.name: each for each in codecs},
        changes_values=loss,
        traits=getattr(adapter, "traits", None),
        features=adapter.supports if isinstance(adapter, DataFormat) else None,
        language=getattr(adapter, "language", ""),
        lazy=getattr(adapter, "lazy", ""),
    )

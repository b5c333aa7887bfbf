"""What is known of a format besides its values: what its adapter says of it, if there is one here."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, NamedTuple

import data_formats
import image_storages
from adapter_core import DataFormat, Feature, Registry, Unavailable, UnknownName

if TYPE_CHECKING:
    from adapter_core.traits import Trait


class Facts(NamedTuple):
    """What an adapter says; None where nothing is said."""

    traits: frozenset[Trait] | None = None
    features: frozenset[Feature] | None = None


@functools.cache
def facts_of(label: str, family: str) -> Facts:
    """Return what is known here of the format, or image storage, of a label.

    Results may come from a machine with other packages: then nothing is known.
    """
    registry: Registry[Any] = (image_storages if family == "image" else data_formats).registry
    try:
        adapter = registry.find(label)
    except (UnknownName, Unavailable):
        return Facts()
    features = adapter.supports if isinstance(adapter, DataFormat) else None
    return Facts(adapter.traits, features)

"""What there is to measure, as facts: formats, data sets, codecs and suites."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from typing import Any

import data_formats
import image_storages
from adapter_core import DataFormat, Registry, UnavailableError
from adapter_core.traits import Trait
from data_generator import datasets as data_sets
from format_bench.runner.plan import COMPRESSION_CODECS, DEFAULT_DATASETS

Fact = dict[str, Any]

SUITES = {
    "tabular": "table formats: save, read, size, memory, and what came back",
    "compression": "table formats under their codecs: " + ", ".join(COMPRESSION_CODECS),
    "image": "image storages: save, read, random access, size, files, memory",
}


def formats() -> list[Fact]:
    """Return a row for each table format and image storage, available or not."""
    families: list[tuple[str, Registry[Any]]] = [
        ("table", data_formats.registry),
        ("images", image_storages.registry),
    ]
    return [_format(kind, registry, name) for kind, registry in families for name in registry.names()]


def datasets() -> list[Fact]:
    """Return a row for each data set that a run can generate."""
    return [
        {"name": each.name, "kind": kind, "description": each.description}
        for family, kind in (("tables", "table"), ("images", "images"))
        for each in data_sets.definitions(family)
    ]


def codecs() -> list[Fact]:
    """Return a row for each codec of each table format."""
    return [fact for name in data_formats.names() for fact in _codecs(name)]


def suites() -> list[Fact]:
    """Return a row for each suite."""
    return [
        {"name": name, "measures": text, "default data set": DEFAULT_DATASETS[name]}
        for name, text in SUITES.items()
    ]


def _format(kind: str, registry: Registry[Any], name: str) -> Fact:
    fact: Fact = {
        "name": name,
        "kind": kind,
        "available": "yes",
        "versions": "",
        "offers": "",
        "note": "",
    }
    try:
        adapter = registry.find(name)
    except UnavailableError as error:
        return {**fact, "available": f"no: {error.reason}"}
    answer = adapter.availability()
    if not answer:
        fact["available"] = f"no: {answer.reason}; {answer.install_hint}"
    traits = [trait.value for trait in Trait if trait in (adapter.traits or ())]
    features = [feature.value for feature in adapter.supports] if isinstance(adapter, DataFormat) else []
    return {
        **fact,
        "versions": ", ".join(_versions(adapter.requires)),
        "offers": ", ".join([*features, *traits]),
        "note": _safety(adapter.traits),
    }


def _safety(traits: frozenset[Trait] | None) -> str:
    if traits is None:
        return "not known whether reading is safe"
    return "" if Trait.SAFE in traits else "reading can run code that a file holds"


def _versions(requires: tuple[str, ...]) -> Iterator[str]:
    from packaging.requirements import Requirement

    for text in requires:
        name = Requirement(text).name
        try:
            yield f"{name} {importlib.metadata.version(name)}"
        except importlib.metadata.PackageNotFoundError:
            yield f"{name} is missing"


def _codecs(name: str) -> Iterator[Fact]:
    try:
        adapter = data_formats.find(name)
    except UnavailableError:
        return
    for codec in adapter.codecs:
        answer = adapter.codec_availability(codec.name)
        levels = codec.levels
        yield {
            "format": name,
            "codec": codec.name,
            "levels": f"{levels[0]} to {levels[-1]}" if levels else "",
            "default level": "" if codec.default_level is None else codec.default_level,
            "own default": "yes" if codec.name == adapter.default_codec else "",
            "available": "yes" if answer else f"no: {answer.reason}",
        }

"""Inventory of formats, data sets, codecs and suites."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from typing import Any

import data_formats
from adapter_core import DataFormat, Registry, UnavailableError
from adapter_core.traits import Trait
from format_bench.families.operations import operations_of, registry_of
from format_bench.results.suites import FAMILIES, SUITES

Fact = dict[str, Any]


def formats() -> list[Fact]:
    """Return a row for each adapter of each family, available or not."""
    return [
        _format(family.name, registry_of(family), name)
        for family in FAMILIES.values()
        for name in registry_of(family).names()
    ]


def datasets() -> list[Fact]:
    """Return a row for each data set that a run can generate."""
    return [
        {"name": name, "family": family.name, "description": operations_of(family).describe(name)}
        for family in FAMILIES.values()
        for name in operations_of(family).datasets()
    ]


def codecs() -> list[Fact]:
    """Return a row for each codec of each table format."""
    return [fact for name in data_formats.names() for fact in _codecs(name)]


def suites() -> list[Fact]:
    """Return a row for each suite."""
    return [
        {
            "name": each.name,
            "family": each.family,
            "measures": each.measures,
            "default data set": each.default_dataset,
        }
        for each in SUITES.values()
    ]


def _format(family: str, registry: Registry[Any], name: str) -> Fact:
    fact: Fact = {
        "name": name,
        "family": family,
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

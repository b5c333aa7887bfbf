"""Environments of records: Python, the measurement's version and the libraries, as a line of text.

An example: "CPython 3.11.7, measurement 4, numpy 2.4.6, pandas 3.1.1, pyarrow 26.0.1". Only libraries
count that the adapter requires, and those that all measurements use: a library that is installed for
one format leaves the values of the others as they are. The machine is not part of it. A version that is
not known is "?", and agrees with each.
"""

from __future__ import annotations

import functools
import importlib
import importlib.metadata
import json
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from adapter_core.environments import OwnEnvironment
from adapter_core.listing import Declaration, declarations
from adapter_core.registry import entry_points
from format_bench.results.display.text import joined, plural
from format_bench.results.records import Record
from format_bench.results.suites import FAMILIES, SUITES

# What generates, holds and compares the data of all families.
BASE = frozenset({"numpy", "pandas", "pyarrow"})

MEASUREMENT = "measurement"
"""In the place of a library: the version of the suite, which is raised when measured work changes."""

UNKNOWN = "?"


def described(
    label: str, suite: str, python: str, version: Callable[[str], str | None], measurement: object = None
) -> str:
    """Return the environment of a format's values as text.

    Parameters
    ----------
    label : str
        The format.
    suite : str
        The suite, as a record names it.
    python : str
        Implementation and version of Python.
    version : callable
        Returns the version of a distribution; None if it is missing.
    measurement : optional
        Version of the measured work; by default the one of the suite here.
    """
    name = suite.partition(".")[0]
    if measurement is None:
        measurement = SUITES[name].version if name in SUITES else UNKNOWN
    parts = [python, f"{MEASUREMENT} {measurement}"]
    for library in libraries_of(label, name):
        found = version(library)
        if found is not None:
            parts.append(f"{library} {found}")
    return ", ".join(parts)


@functools.cache
def libraries_of(label: str, suite: str) -> tuple[str, ...]:
    """Return the names of the distributions that decide the values of a format in a suite."""
    from packaging.requirements import Requirement

    names = set(BASE)
    if suite in SUITES:
        declared = _declared(label, suite)
        names |= {Requirement(text).name for each in declared for text in each.requires}
        if not declared:
            group = f"format_bench.{FAMILIES[SUITES[suite].family].adapters}"
            entries = [each for each in entry_points(group) if each.name == label]
            names |= {entry.dist.name for entry in entries if entry.dist}
            names |= {Requirement(text).name for entry in entries for text in _required(entry)}
    return tuple(sorted(names))


def own_environment(label: str, suite: str) -> OwnEnvironment | None:
    """Return the environment of a format's adapter in a suite; None without one of its own."""
    name = suite.partition(".")[0]
    found = _declared(label, name) if name in SUITES else []
    return next((OwnEnvironment(each.environment) for each in found if each.environment), None)


@functools.cache
def _declared(label: str, suite: str) -> list[Declaration]:
    """Return the declaration of a format in a suite; none for one of another package."""
    package = importlib.import_module(FAMILIES[SUITES[suite].family].adapters)
    return [each for each in declarations(Path(package.__path__[0])) if label in each.labels]


def _required(entry: importlib.metadata.EntryPoint) -> tuple[str, ...]:
    """Return the requirements of an adapter of another package; none if it cannot be loaded."""
    try:
        found: tuple[str, ...] = entry.load().requires
    except Exception:
        return ()  # its cells say why
    return found


def differences(one: str, other: str) -> dict[str, tuple[str, str]]:
    """Return the differences of two environments: a name, and both versions, "" if missing.

    Nothing differs from an environment that is not known.
    """
    if not one or not other or one == other:
        return {}
    a, b = versions_of(one), versions_of(other)
    pairs = {name: (a.get(name, ""), b.get(name, "")) for name in dict.fromkeys([*a, *b])}
    return {name: pair for name, pair in pairs.items() if len({*pair}) > 1 and UNKNOWN not in pair}


def in_words(found: Mapping[str, tuple[str, str]]) -> str:
    """Return differences as a phrase, e.g. "pyarrow 19.0.0, now 26.0.1"."""
    return "; ".join(
        f"{name} {before or 'missing'}, now {after or 'missing'}"
        for name, (before, after) in found.items()
    )


def completed(records: Iterable[Record], folder: Path) -> list[Record]:
    """Return records, those without an environment with the one in the metadata of their run.

    Records of earlier releases lack it. Their metadata have versions of libraries, but none of the
    measurement.

    Parameters
    ----------
    records : iterable of Record
        The records.
    folder : Path
        The folder of metadata, named as the runner does.
    """
    metadata = functools.cache(functools.partial(metadata_of, folder))

    def complete(record: Record) -> Record:
        if record.environment:
            return record
        found = _of_metadata(record, metadata(record.run_id))
        return replace(record, environment=found) if found else record

    return [*map(complete, records)]


def mixture(records: Iterable[Record]) -> str:
    """Return sentences on values of several environments; empty if there is one alone."""
    valued = [each for each in records if each.value is not None]
    apart = {cell: has.name for cell in {*map(_cell, valued)} if (has := own_environment(*cell))}
    usual = [each for each in valued if _cell(each) not in apart]
    found: defaultdict[str, set[str]] = defaultdict(set)
    for text, suite in {(each.environment, each.suite.partition(".")[0]) for each in usual}:
        for name, version in versions_of(text).items():
            if version != UNKNOWN:
                found[f"{suite} {name}" if name == MEASUREMENT else name].add(version)
    several = {name: sorted(versions) for name, versions in found.items() if len(versions) > 1}
    sentences = []
    if several:
        parts = "; ".join(f"{name} {joined(each)}" for name, each in several.items())
        sentences.append(f"Values of several environments, which do not compare: {parts}.")
    unknown = sum(not each.environment for each in usual)
    if unknown and unknown < len(usual):
        sentences.append(f"The environment of {plural(unknown, 'value')} is not known.")
    own = {(apart[cell], each.environment) for each in valued if (cell := _cell(each)) in apart}
    for name, text in sorted(own):
        versions = versions_of(text).items()
        other = [
            f"{each} {version}"
            for each, version in versions
            if version not in found.get(each, {version})
        ]
        if other:
            sentences.append(f"Values of the environment {name}, which has {joined(other, most=None)}.")
    return " ".join(sentences)


def _cell(record: Record) -> tuple[str, str]:
    return record.format, record.suite


def versions_of(text: str) -> dict[str, str]:
    """Return the versions of an environment by name, "Python" and "measurement" among them."""
    if not text:
        return {}
    python, *libraries = text.split(", ")
    return {"Python": python.removeprefix("CPython "), **dict(map(_split, libraries))}


def _split(part: str) -> tuple[str, str]:
    name, _, version = part.partition(" ")
    return name, version


def _of_metadata(record: Record, facts: Mapping[str, Any]) -> str:
    try:
        python = python_of(facts["python"]["implementation"], facts["python"]["version"])
        versions = facts["libraries"]
        return described(
            record.format,
            record.suite,
            python,
            lambda name: versions.get(name, UNKNOWN),
            measurement=UNKNOWN,
        )
    except (AttributeError, LookupError, TypeError):
        return ""


def python_of(implementation: str, version: str) -> str:
    """Return Python as an environment names it; its version is the text of `sys.version`."""
    free = " free-threading" if "free-threading" in version else ""
    return f"{implementation} {version.split(maxsplit=1)[0]}{free}"


def metadata_of(folder: Path, run_id: str) -> dict[str, Any]:
    """Return the metadata of a run under any policy, whose libraries are the same; {} without."""
    for path in sorted(folder.glob("*-threads-*.json")):
        if path.name.startswith(f"{run_id}-threads-"):
            try:
                facts = json.loads(path.read_bytes())
            except (OSError, ValueError):
                continue
            if isinstance(facts, dict):
                return facts
    return {}

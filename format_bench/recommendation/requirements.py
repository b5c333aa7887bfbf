"""What a format must be or do to be chosen at all, and the sentence that excludes one.

What is known of a format besides its values: what its adapter says of it, if there is one here.
"""

from __future__ import annotations

import functools
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from adapter_core import DataFormat, Feature, Trait, UnavailableError, UnknownNameError
from format_bench.families.operations import registry_of
from format_bench.results.metrics import Measure
from format_bench.results.suites import FAMILIES, SUITES, family_of_suite, item_of

if TYPE_CHECKING:
    from format_bench.results.candidates import Candidate, DatasetSize


class Facts(NamedTuple):
    """What an adapter says; None where nothing is said."""

    traits: frozenset[Trait] | None = None
    features: frozenset[Feature] | None = None


@functools.cache
def facts_of(label: str, family: str) -> Facts:
    """Return what is known here of the format, or image storage, of a label.

    Results may come from a machine with other packages: then nothing is known.
    """
    if family not in SUITES:
        return Facts()
    registry = registry_of(family_of_suite(family))
    try:
        adapter = registry.find(label)
    except (UnknownNameError, UnavailableError):
        return Facts()
    features = adapter.supports if isinstance(adapter, DataFormat) else None
    return Facts(adapter.traits, features)


class Requirement(StrEnum):
    """A condition; the value is how it is written after --require."""

    EXACT = "exact"
    COLUMNS = "columns"
    SAFE = Trait.SAFE.value
    PORTABLE = Trait.PORTABLE.value
    TEXT = Trait.TEXT.value
    APPEND = Trait.APPEND.value
    SINGLE_FILE = Trait.SINGLE_FILE.value


MEANINGS = {
    Requirement.EXACT: "every table came back as it was saved: values, types, nulls, order",
    Requirement.COLUMNS: "some columns can be read without the others",
    Requirement.SAFE: "reading runs no code that a file holds",
    Requirement.PORTABLE: "other languages have libraries that read it",
    Requirement.TEXT: "people can read a file as it is",
    Requirement.APPEND: "rows can be added without writing the rest again",
    Requirement.SINGLE_FILE: "a table is one file",
}

_REASONS = {
    Requirement.COLUMNS: "{} reads whole tables only",
    Requirement.SAFE: "{} runs code that a file holds when it is read",
    Requirement.PORTABLE: "{} is read by Python alone, in whole or in part",
    Requirement.TEXT: "{} is not text that people can read",
    Requirement.APPEND: "{} cannot take more rows without being written again",
    Requirement.SINGLE_FILE: "{} is a directory of files",
}


class Answer(NamedTuple):
    """Whether a candidate meets a requirement."""

    met: bool | None
    """None if that is not known."""
    sentence: str = ""
    """Why not, or why it is not known."""


def answer(
    requirement: Requirement, candidate: Candidate, family: str, tables: list[DatasetSize]
) -> Answer:
    """Tell whether a candidate meets a requirement on some tables."""
    if requirement is Requirement.EXACT:
        return _exact(candidate, Measure(_loss_of(family)), tables)
    facts = facts_of(candidate.configuration.format, family)
    if requirement is Requirement.COLUMNS:
        return _columns(candidate, family, facts)
    if facts.traits is None:
        return Answer(
            None, f"whether {candidate.configuration.format} is {requirement} is not known here"
        )
    if requirement is Requirement.TEXT and candidate.configuration.codec:
        return Answer(met=False, sentence=f"{candidate.name} is compressed, and so no text")
    return _as_reasoned(requirement, candidate, met=Trait(requirement.value) in facts.traits)


def _loss_of(suite: str) -> str:
    """Return the metric that counts losses, of a suite that is not declared here that of tables."""
    return family_of_suite(suite).loss if suite in SUITES else FAMILIES["tables"].loss


def _exact(candidate: Candidate, losses: Measure, tables: list[DatasetSize]) -> Answer:
    for table in tables:
        record = candidate.cells.get((table, losses))
        if record is None:
            return Answer(None, f"whether {candidate.name} kept {table.dataset} was not verified")
        if record.value is None:
            return Answer(None, candidate.empty_reason(table, losses))
        if record.value > 0:
            first = record.sentence.partition("; ")[0]
            example = f": {first}" if first else ""
            return Answer(
                met=False,
                sentence=f"{candidate.name} loses something in {record.value:g} "
                f"{record.unit} of {table.dataset}{example}",
            )
    return Answer(met=True)


def _columns(candidate: Candidate, family: str, facts: Facts) -> Answer:
    if item_of(family) != "row":
        return Answer(None, f"{candidate.name} keeps {item_of(family)}s, which have no columns")
    if facts.features is None:
        label = candidate.configuration.format
        return Answer(None, f"whether {label} reads single columns is not known here")
    return _as_reasoned(Requirement.COLUMNS, candidate, met=Feature.COLUMNS in facts.features)


def _as_reasoned(requirement: Requirement, candidate: Candidate, *, met: bool) -> Answer:
    return Answer(met, "" if met else _REASONS[requirement].format(candidate.name))

"""Requirements on a format, and the answer of a candidate to each, with a sentence if it is excluded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import StrEnum
from typing import NamedTuple, Self

from adapter_core import Feature, Trait
from adapter_core.adapter import format_of
from adapter_core.codec_choice import DEFAULTS, RECOMMENDED
from adapter_core.error_bounds import ErrorBound
from format_bench.compatibility import features
from format_bench.compatibility.feature_choice import resolved, use
from format_bench.compatibility.features import Format
from format_bench.results import shipped
from format_bench.results.adapter_facts import AdapterFacts, facts_of
from format_bench.results.candidates import OWN_DEFAULT, Candidate, Configuration, DatasetSize
from format_bench.results.metrics import Measure
from format_bench.results.suites import SUITES, Family, family_of_suite


class Requirement(StrEnum):
    """A condition; the value is its name after --require."""

    EXACT = "exact"
    LOSSLESS = "lossless"
    COLUMNS = "columns"
    SAFE = Trait.SAFE.value
    PORTABLE = Trait.PORTABLE.value
    TEXT = Trait.TEXT.value
    APPEND = Trait.APPEND.value
    SINGLE_FILE = Trait.SINGLE_FILE.value
    DETECTS_DAMAGE = "detects-damage"
    ROWS = "rows"
    REMOTE = "remote"
    STREAMS = "streams"
    PYTHON = "python"
    JAVA = "java"
    CPP = "c++"


MEANINGS = {
    Requirement.EXACT: "every table came back as it was saved: values, types, nulls, order",
    Requirement.LOSSLESS: "no value is changed; usual unless you allow lossy ones",
    Requirement.COLUMNS: "some columns can be read without the others",
    Requirement.SAFE: "reading runs no code that a file contains",
    Requirement.PORTABLE: "other languages have libraries that read it",
    Requirement.TEXT: "people can read a file as it is",
    Requirement.APPEND: "rows can be added without writing the rest again",
    Requirement.SINGLE_FILE: "a table is one file",
    Requirement.DETECTS_DAMAGE: "no damaged file was read as wrong values in the trials of the study",
    Requirement.ROWS: "some rows can be read without the others",
    Requirement.REMOTE: "a file on a server is read without being copied first",
    Requirement.STREAMS: "tables larger than memory can be written, batch by batch",
    Requirement.PYTHON: "it was measured in a program in Python",
    Requirement.JAVA: "it was measured in a program in Java, as stores of records with [jvm] are",
    Requirement.CPP: "its queries were measured in a program in C++, as event loops of ROOT are",
}

LANGUAGES = (Requirement.PYTHON, Requirement.JAVA, Requirement.CPP)
"""Languages of the programs that are measured."""

# Requirements that features of table formats meet.
_FEATURES = {
    Requirement.COLUMNS: Feature.COLUMNS,
    Requirement.ROWS: Feature.ROWS,
    Requirement.REMOTE: Feature.REMOTE,
    Requirement.STREAMS: Feature.STREAMS,
}

_REASONS = {
    Requirement.COLUMNS: "{} reads whole tables only",
    Requirement.ROWS: "{} reads all rows only",
    Requirement.REMOTE: "{} reads local files only",
    Requirement.STREAMS: "{} writes whole tables only",
    Requirement.SAFE: "{} runs code that a file contains when it is read",
    Requirement.PORTABLE: "{} is read by {language} alone, in whole or in part",
    Requirement.TEXT: "{} is not text that people can read",
    Requirement.APPEND: "{} cannot take more rows without being written again",
    Requirement.SINGLE_FILE: "{} is a directory of files",
}


class ReadBy(str):
    """The requirement that some readers can read the files, as a text that names them."""

    __slots__ = ()

    @classmethod
    def of(cls, names: Iterable[str]) -> Self:
        """Return the requirement of readers, named as for `format-bench compatible`.

        Raises
        ------
        UnknownNameError
            If no reader of a name was tried.
        """
        return cls(_READ_BY + ", ".join(resolved(names, shipped.feature_readings())))

    @property
    def readers(self) -> list[str]:
        """The readers with their versions."""
        return self.removeprefix(_READ_BY).split(", ")


class Within(str):
    """The requirement that values change within an error bound, or not at all."""

    __slots__ = ()

    @classmethod
    def of(cls, bound: ErrorBound) -> Self:
        """Return the requirement of a bound."""
        return cls(f"{_WITHIN}{bound}")

    @property
    def bound(self) -> ErrorBound:
        """The bound."""
        return ErrorBound.parse(self.removeprefix(_WITHIN))


_READ_BY = "read by "
_WITHIN = "within "

Required = Requirement | ReadBy | Within


class Answer(NamedTuple):
    """Answer of a candidate to a requirement."""

    met: bool | None
    """None if it is not known."""
    sentence: str = ""
    """The reason why it is not met, or not known."""


def answer(
    requirement: Required, candidate: Candidate, suite: str, datasets: list[DatasetSize]
) -> Answer:
    """Return the answer of a candidate to a requirement, on some data sets of a suite."""
    family = family_of_suite(suite)
    if isinstance(requirement, ReadBy):
        return _read_by(requirement, candidate, family)
    if isinstance(requirement, Within):
        return _within(requirement.bound, candidate, Measure(family.loss), datasets)
    if requirement is Requirement.EXACT:
        return _exact(candidate, Measure(family.loss), datasets)
    if requirement is Requirement.LOSSLESS:
        return _lossless(candidate, Measure(family.loss), datasets)
    if requirement is Requirement.DETECTS_DAMAGE:
        return _detects_damage(candidate, family)
    label = candidate.configuration.format
    facts = facts_of(family.name, label) if suite in SUITES else AdapterFacts()
    if requirement in _FEATURES:
        return _feature(requirement, candidate, family, facts)
    if facts.traits is None:
        return Answer(None, f"whether {label} is {requirement} is not known here")
    if requirement in LANGUAGES:
        words = f"{candidate.name} was measured in a program in {facts.language.capitalize()}"
        met = facts.language == requirement
        return Answer(met, "" if met else words)
    if requirement is Requirement.TEXT and candidate.configuration.codec:
        # The trait describes the format as it is written without a codec.
        return Answer(met=False, sentence=f"{candidate.name} is compressed, and so no text")
    met = Trait(requirement.value) in facts.traits
    return _as_reasoned(requirement, candidate, facts, met=met)


def _exact(candidate: Candidate, losses: Measure, datasets: list[DatasetSize]) -> Answer:
    for dataset in datasets:
        record = candidate.cells.get((dataset, losses))
        if record is None:
            return Answer(None, f"whether {candidate.name} kept {dataset.dataset} was not verified")
        if record.value is None:
            return Answer(None, candidate.empty_reason(dataset, losses))
        if record.value > 0:
            first = record.sentence.partition("; ")[0]
            example = f": {first}" if first else ""
            return Answer(
                met=False,
                sentence=f"{candidate.name} loses something in {record.value:g} "
                f"{record.unit} of {dataset.dataset}{example}",
            )
    return Answer(met=True)


def _lossless(candidate: Candidate, losses: Measure, datasets: list[DatasetSize]) -> Answer:
    if not candidate.configuration.loss:
        return Answer(met=True)
    verified = (candidate.cells.get((dataset, losses)) for dataset in datasets)
    said = (each.sentence for each in verified if each and each.value)
    return Answer(
        met=False,
        sentence=f"{candidate.name} changes values: {next(said, candidate.configuration.loss)}",
    )


def _within(
    bound: ErrorBound, candidate: Candidate, losses: Measure, datasets: list[DatasetSize]
) -> Answer:
    own = candidate.configuration.error_bound
    if not own or not ErrorBound.parse(own).is_within(bound):
        return _lossless(candidate, losses, datasets)
    for dataset in datasets:
        record = candidate.cells.get((dataset, losses))
        if record is None or record.value is None:
            return Answer(None, f"whether {candidate.name} kept {dataset.dataset} was not verified")
    return Answer(met=True)


def usual_requirements(candidates: Iterable[Candidate]) -> tuple[Requirement, ...]:
    """Return the requirements that count where the user allows nothing else."""
    is_lossy = any(each.configuration.loss for each in candidates)
    return (Requirement.LOSSLESS,) if is_lossy else ()


def _feature(
    requirement: Requirement, candidate: Candidate, family: Family, facts: AdapterFacts
) -> Answer:
    if family.item != "row":
        of_tables = f"{requirement} is a requirement on tables"
        return Answer(None, f"{candidate.name} keeps {family.item}s: {of_tables}")
    if facts.features is None:
        label = candidate.configuration.format
        return Answer(None, f"whether {label} has {_FEATURES[requirement]} is not known here")
    met = _FEATURES[requirement] in facts.features
    return _as_reasoned(requirement, candidate, facts, met=met)


def _detects_damage(candidate: Candidate, family: Family) -> Answer:
    label, codec = candidate.configuration.format, candidate.configuration.codec or ""
    tried = shipped.damage()
    counts = tried.get((family.name, label, codec, False))
    if counts is None:
        return Answer(None, f"{candidate.name} was never tried with damaged files")
    if not counts.wrong:
        return Answer(met=True)
    sentence = (
        f"{candidate.name} returned wrong values from {counts.wrong} of {counts.trials} damaged files"
    )
    protected = tried.get((family.name, label, codec, True))
    if protected is not None:
        sentence += (
            f", with its optional checksums from {protected.wrong} of {protected.trials}; "
            "they are off in these results"
        )
    return Answer(met=False, sentence=sentence)


def _read_by(requirement: ReadBy, candidate: Candidate, family: Family) -> Answer:
    """Return whether readers read the files of a candidate: its format, its codec, its settings."""
    label = format_of(candidate.configuration.format)
    if family.item != "row" or label not in features.formats():
        return Answer(None, f"which readers read {candidate.name} was never tried")
    for feature in _features_of(candidate.configuration, features.find(label)):
        if feature is None:
            return Answer(None, f"which readers read the codec of {candidate.name} was never tried")
        found = use(label, feature, requirement.readers, shipped.feature_readings())
        if not found.is_allowed:
            met = None if found.is_untried else False
            words = f"{candidate.name} needs the feature {feature.name!r} of {label}: {found.reason}"
            return Answer(met, words)
    return Answer(met=True)


def _features_of(found: Configuration, declared: Format) -> Iterator[features.Feature | None]:
    """Yield the features that a configuration writes; None for a codec that is none of them."""
    codec = found.codec
    if found.settings == DEFAULTS or codec == OWN_DEFAULT:
        codec = found.facts.default_codec
    elif found.settings == RECOMMENDED:
        codec = found.facts.recommended_codec
    yield declared.of_codec(None)
    yield declared.of_codec(codec)
    if found.format == declared.format:
        yield from (each for each in declared.features if found.settings in each.settings)


def _as_reasoned(
    requirement: Requirement, candidate: Candidate, facts: AdapterFacts, *, met: bool
) -> Answer:
    words = _REASONS[requirement].format(candidate.name, language=facts.language.capitalize())
    return Answer(met, "" if met else words)

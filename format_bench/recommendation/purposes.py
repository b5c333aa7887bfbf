"""Purposes of a recommendation: presets of weights and requirements, completed by the user."""

from __future__ import annotations

import tomllib
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from adapter_core.error_bounds import ErrorBound
from adapter_core.errors import InvalidWeightError
from format_bench.recommendation.recommend import excluded_of
from format_bench.recommendation.requirements import (
    LANGUAGES,
    Required,
    Requirement,
    Within,
    answer,
    usual_requirements,
)
from format_bench.recommendation.scope import Scope, one_suite
from format_bench.recommendation.scoring import NO_TRANSFER, Speeds, Weights, checked
from format_bench.results.candidates import Candidate, Configuration, DatasetSize
from format_bench.results.display.text import joined
from format_bench.results.load import Results
from format_bench.results.metrics import Measure
from format_bench.results.suites import FAMILIES, SUITES, Family, family_of_suite

_PROGRAMS = {
    Requirement.PYTHON: "Python",
    Requirement.JAVA: "Java (marked [jvm])",
    Requirement.CPP: "C++",
}


class Reasoned(NamedTuple):
    """A weight with its reason."""

    weight: float
    reason: str


@dataclass(frozen=True)
class Preset:
    """Weights and requirements for a purpose."""

    name: str
    purpose: str
    """The life of the data, in words."""
    weighted: dict[str, Reasoned]
    """By names of metrics on the command line."""
    required: dict[Requirement, str]
    """The reason of each requirement."""

    @property
    def weights(self) -> Weights:
        """The weights by measure."""
        return {Measure.named(name): each.weight for name, each in self.weighted.items()}


def _declared() -> dict[str, Preset]:
    facts = tomllib.loads(Path(__file__).with_name("presets.toml").read_text(encoding="utf-8"))
    return {
        name: Preset(
            name,
            each["purpose"],
            {metric: Reasoned(*weighted) for metric, weighted in each["weights"].items()},
            {Requirement(key): reason for key, reason in each.get("required", {}).items()},
        )
        for name, each in facts.items()
    }


PRESETS = _declared()

# The weights of a user who gives neither weights nor a preset.
BALANCED = PRESETS.pop("balanced")


class Criteria(NamedTuple):
    """Weights and requirements of a recommendation."""

    weights: Weights
    requirements: tuple[Required, ...]
    caveats: list[str]
    """The parts of a preset that were left out, with reasons."""


@dataclass(frozen=True)
class Wish:
    """Weights and requirements as the user gives them."""

    weights: Weights = field(default_factory=dict)
    """They replace the preset's; without any and without a preset, `BALANCED` counts."""
    requirements: tuple[Required, ...] = ()
    preset: str | None = None
    """The name of one of `PRESETS`, or of `BALANCED`."""
    speeds: Speeds = NO_TRANSFER
    """Transfers that read and save times include."""
    allow_lossy: bool = False
    """Whether candidates that change values may be chosen."""
    max_error: ErrorBound | None = None
    """Bound within which the values of candidates may change."""

    @property
    def base(self) -> Preset | None:
        """The preset that is completed; None if only the user's own weights count."""
        return None if self.weights and not self.preset else PRESETS.get(self.preset or "", BALANCED)

    def completing(self, base: Criteria, candidates: Iterable[Candidate]) -> Criteria:
        """Return the criteria of the preset, as far as it can be answered, with the user's own."""
        usual: tuple[Required, ...] = () if self.allow_lossy else usual_requirements(candidates)
        left_out = "formats and codecs that change values are left out; --allow-lossy takes them in"
        if self.max_error:
            usual = (Within.of(self.max_error),)
            left_out = f"values may change within {self.max_error}; such candidates are marked as lossy"
        requirements = (*usual, *base.requirements, *self.requirements)
        unlike = _unlike(candidates, requirements)
        caveats = [*base.caveats, *([left_out] if usual else []), *unlike]
        return Criteria(base.weights | self.weights, requirements, caveats)


def _unlike(candidates: Iterable[Candidate], required: Collection[Required]) -> Iterator[str]:
    """Yield a sentence for each way in which reads of candidates are not the same work."""
    found = {
        each.configuration.format: each.configuration.facts
        for each in candidates
        if each.configuration.family in FAMILIES
    }
    if not set(LANGUAGES).isdisjoint(required):
        found = {label: each for label, each in found.items() if each.language in required}
    present = {each.language for each in found.values()}
    mixed = [each for each in LANGUAGES if each in present]
    if mixed[1:]:
        programs = joined((_PROGRAMS[each] for each in mixed), most=None)
        options = joined((f"--language {each}" for each in mixed), most=None)
        yield f"programs in {programs} are ranked together; each of {options} takes one of them"
    if lazy := sorted(label for label, each in found.items() if each.lazy):
        yield f"a read leaves decoding until a field is used: {joined(lazy, most=None)}"


def criteria_for(results: Results, wish: Wish, suite: str | None = None) -> Criteria:
    """Return the criteria of a user for some results; without parts of a preset that they lack.

    Raises
    ------
    InvalidWeightError
        If the results have no values of a measure that the user gives a weight, or none to rank.
    NoCandidateError
        If no candidate has any value.
    """
    # A weight of 0 takes a metric out of the preset, and need not have values.
    counting = {measure: weight for measure, weight in wish.weights.items() if weight}
    scoped = one_suite(results, counting, suite)
    if wish.base is None:
        return wish.completing(Criteria({}, (), []), scoped.candidates)
    if not scoped.records:
        raise InvalidWeightError(f"{results.name} has no values but of single queries: nothing to rank")
    if not scoped.measures:
        # Nothing can be weighed: this raises, with the reasons of the empty cells.
        empty = {measure: scoped.datasets for each in scoped.candidates for _, measure in each.cells}
        excluded_of(scoped.candidates, (), scoped.suite, empty)
    return wish.completing(criteria_of(wish.base, scoped), scoped.candidates)


def criteria_of(preset: Preset, scope: Scope) -> Criteria:
    """Return the criteria of a preset that results can answer.

    A preset is made for all suites and all runs: a metric without values in these results is left out,
    and so is a requirement that no format has a known answer to.
    """
    return _answerable(preset, scope.candidates, scope.measures, scope.suite, scope.datasets)


def criteria_before(configurations: Iterable[Configuration], suite: str, wish: Wish) -> Criteria:
    """Return the criteria of a user for configurations of a suite that have not been measured yet.

    Raises
    ------
    InvalidWeightError
        If the suite's family has no measure that the user gives a weight.
    """
    family = family_of_suite(suite)
    measures = _measures_of(family)
    for measure in checked(wish.weights) if wish.weights else ():
        if measure not in measures:
            known = ", ".join(sorted(each.option for each in set(measures)))
            raise InvalidWeightError(f"{family.name} have no {measure.phrase}; they have {known}")
    candidates = [Candidate(each) for each in configurations]
    if wish.base is None:
        return wish.completing(Criteria({}, (), []), candidates)
    return wish.completing(_answerable(wish.base, candidates, measures, suite, []), candidates)


def _measures_of(family: Family) -> list[Measure]:
    return [
        Measure.at(metric, step.cache).comparable for step in family.steps for metric in step.metrics
    ]


def _answerable(
    preset: Preset,
    candidates: list[Candidate],
    measures: list[Measure],
    suite: str,
    datasets: list[DatasetSize],
) -> Criteria:
    """Return the parts of a preset that can be answered, and caveats on the others.

    Metrics of other families than the suite's need no caveat.
    """
    possible = _measures_of(family_of_suite(suite)) if suite in SUITES else preset.weights
    caveats = [
        f"{measure.phrase} does not count: these results have no values of it"
        for measure in preset.weights
        if measure not in measures and measure in possible
    ]
    requirements = []
    for requirement in preset.required:
        answers = [answer(requirement, each, suite, datasets) for each in candidates]
        if any(each.met is not None for each in answers):
            requirements.append(requirement)
        else:
            caveats.append(f"{requirement} is not required: {answers[0].sentence}")
    weights = {each: weight for each, weight in preset.weights.items() if each in measures}
    return Criteria(weights, tuple(requirements), caveats)

"""Measurement of two versions of a library in turn: a plan on the axis of library sets."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from adapter_core.errors import InvalidRequestError, UnavailableError
from format_bench.changes.against.verdicts import JudgedPair, judge
from format_bench.families.operations import registry_of
from format_bench.instruments.clock import MIN_REPEATS
from format_bench.library_sets.replacement import ReplacedSet, Replacement, install
from format_bench.results.records import Record, key
from format_bench.results.suites import FAMILIES, SUITES, Family
from format_bench.runner.runner import Limits
from format_bench.runner.session import measure
from format_bench.system import library_set

if TYPE_CHECKING:
    from rich.console import Console

    from format_bench.runner.plan import RunRequest

# Wall time of the repeats of a step in each round.
ROUND_SECONDS = 1.0


@dataclass(frozen=True)
class Comparison:
    """Two versions of a library, and the verdict on each cell."""

    before: ReplacedSet
    after: ReplacedSet
    pairs: list[JudgedPair]

    @property
    def changed(self) -> list[JudgedPair]:
        """Cells that changed, the largest changes first."""
        return sorted((each for each in self.pairs if each.changed), key=lambda each: -each.effect)


def with_formats(request: RunRequest, package: str) -> RunRequest:
    """Return a request with suite and formats: by default the first suite of formats that use a package.

    Raises
    ------
    InvalidRequestError
        If no format declares the package.
    """
    families = [FAMILIES[SUITES[request.suite].family]] if request.suite else FAMILIES.values()
    for family in families:
        labels = request.formats or _using(family, package)
        if set(labels) & set(registry_of(family).names()):
            return replace(request, suite=request.suite or family.suites[0].name, formats=tuple(labels))
    reason = f"no format{f' of {request.suite}' if request.suite else ''} declares {package}"
    raise InvalidRequestError(f"{reason}; name formats by --formats")


def _using(family: Family, package: str) -> list[str]:
    """Return the usual formats that declare a package, or all that do if none is usual."""
    registry = registry_of(family)
    found = [each for each in registry.names() if package in _packages(requirements([each], family))]
    return [each for each in registry.usual_names() if each in found] or found


def _packages(texts: Iterable[str]) -> set[str]:
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    return {canonicalize_name(Requirement(text).name) for text in texts}


def requirements(labels: Iterable[str], family: Family) -> list[str]:
    """Return the requirements of formats that can be loaded here."""
    found = []
    for label in labels:
        try:
            found += registry_of(family).find(label).requires
        except UnavailableError:
            continue
    return found


def install_both(
    before: Replacement, after: Replacement, further: Sequence[str], index: str | None
) -> tuple[ReplacedSet, ReplacedSet]:
    """Install a library set with each of two versions of one package.

    Raises
    ------
    InvalidRequestError
        If they are of two packages, or one version.
    ResolutionError
        If a set does not exist, or cannot be installed.
    """
    if before.package != after.package:
        raise InvalidRequestError(f"{before.package} and {after.package} are two packages; compare one")
    first, second = (install(each, further, index) for each in (before, after))
    if first.name == second.name:
        reason = f"both sides are {first.package} {first.version}; name another version by --with"
        raise InvalidRequestError(reason)
    return first, second


def compare_sets(
    request: RunRequest, before: ReplacedSet, after: ReplacedSet, rounds: int, shown: Console
) -> Comparison:
    """Measure the cases of a request with both sets in turn, and judge each cell.

    Parameters
    ----------
    request : RunRequest
        The cases; its folder of results keeps what was measured before.
    before, after : ReplacedSet
        The sets.
    rounds : int
        Times that each step is made with either, each in a fresh process.
    shown : Console
        For progress and remarks.
    """
    conditions = {**request.conditions, library_set.AXIS: (before.name, after.name)}
    found = measure(
        replace(request, conditions=conditions),
        shown,
        on_own=lambda _: None,
        on_record=lambda _: None,
        limits=Limits(
            rounds=rounds, repeats=MIN_REPEATS * rounds, budget_seconds=ROUND_SECONDS * rounds
        ),
    )
    return Comparison(before, after, judge(pairs_of(found.records, before.name, after.name)))


def pairs_of(records: Iterable[Record], before: str, after: str) -> list[tuple[Record, Record]]:
    """Return the records of cells in two library sets; without the sets as conditions."""
    sides: dict[str, dict[object, Record]] = {before: {}, after: {}}
    for each in records:
        if (name := each.conditions.get(library_set.AXIS, "")) in sides:
            rest = {axis: value for axis, value in each.conditions.items() if axis != library_set.AXIS}
            plain = replace(each, conditions=rest)
            sides[name][key(plain)] = plain
    return [(each, sides[after][cell]) for cell, each in sides[before].items() if cell in sides[after]]

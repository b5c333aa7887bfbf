"""Dependence of a ratio of two formats on facts of machines, with the error of leaving each machine out.

Logarithms of ratios are regressed on standardised facts by ridge regression (A. E. Hoerl, R. W. Kennard:
Ridge Regression, Technometrics 12, 1970). Its error is taken on machines whose bundles were left out,
beside a baseline, the mean of the other machines. Facts that go together, as CPUs and memory, share an
effect.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

from format_bench.results.environments import libraries_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

    from format_bench.bundles.atlas.collection import Entry, Group
    from format_bench.results.candidates import Configuration

    Floats = NDArray[np.float64]

FEWEST_MACHINES = 5
"""Machines below which the error is unknown."""

# A fact of standardised values weighs like one bundle against no effect: chosen before any measurement.
_PENALTY = 1.0

# An effect is named beyond so many of its standard errors, since one of a dozen is beyond two by chance;
# and no more than so many.
_STANDARD_ERRORS, _MOST_EFFECTS = 3.0, 3

# Parts of the names of processors.
_MAKERS = {"AMD": "AMD", "ARM": "ARM", "Neoverse": "ARM", "Apple": "Apple"}


class Effect(NamedTuple):
    """Effect of a fact on a ratio."""

    fact: str
    """E.g. "twice the CPUs"."""
    factor: float
    """Of the ratio of the first to the second."""


@dataclass(frozen=True)
class Dependence:
    """Fitted dependence of the ratio of two configurations on facts of machines."""

    effects: list[Effect]
    """Largest first; none where the facts predict no better than the baseline."""
    error: float
    """Median error of a left-out machine, as a factor."""
    baseline: float
    """The same of the mean of the other machines."""
    right: float
    """Share of the bundles that order the pair whose order is predicted right when left out."""
    baseline_right: float

    @property
    def is_better(self) -> bool:
        """Whether facts predict a left-out machine better than the mean of the others."""
        return self.error < self.baseline


class Fact(NamedTuple):
    """Values of a fact of all bundles."""

    change: str
    """What a difference of 1 means, in words."""
    values: list[float]
    """NaN where it is not known."""


class _Fit(NamedTuple):
    effects: Floats
    errors: Floats
    """Standard errors of the effects."""
    left_out: Floats
    """Predictions of left-out machines, shape (bundles,)."""
    baseline: Floats


def explained(  # noqa: PLR0913, PLR0917 (a pair of configurations with its values)
    group: Group,
    entries: Sequence[Entry],
    one: Configuration,
    other: Configuration,
    logs: Floats,
    noise: Floats,
) -> Dependence | None:
    """Return how the ratio of two configurations depends on facts; None for too few machines.

    Parameters
    ----------
    group : Group
        The data.
    entries : sequence of Entry
        The bundles.
    one, other : Configuration
        The pair.
    logs : numpy.ndarray
        Logarithms of the ratios of the first to the second, shape (bundles,); NaN where one lacks.
    noise : numpy.ndarray
        Differences of logarithms that chance explains, shape (bundles,).
    """
    import numpy as np

    known = np.flatnonzero(np.isfinite(logs))
    kept, y = [entries[int(each)] for each in known], logs[known]
    machines = [each.machine for each in kept]
    if len(set(machines)) < FEWEST_MACHINES:
        return None
    libraries = {name for each in (one, other) for name in libraries_of(each.format, group.suite)}
    facts, x = _standardised([*_facts(kept, libraries)])
    fit = _fitted(y, x, machines)
    errors, base_errors = np.abs(fit.left_out - y), np.abs(fit.baseline - y)
    decided = np.abs(y) > noise[known]
    signs = [np.sign(each[decided]) == np.sign(y[decided]) for each in (fit.left_out, fit.baseline)]
    found = Dependence(
        [],
        *(float(np.exp(np.median(each))) for each in (errors, base_errors)),
        *(float(each.mean()) if len(each) else 1.0 for each in signs),
    )
    if not found.is_better:
        return found
    order = np.argsort(-np.abs(fit.effects))
    clear = [n for n in order if abs(fit.effects[n]) > _STANDARD_ERRORS * fit.errors[n]]
    for number in clear[:_MOST_EFFECTS]:
        fact, scale = facts[number]
        found.effects.append(Effect(fact.change, float(np.exp(fit.effects[number] / scale))))
    return found


def _facts(entries: Sequence[Entry], libraries: set[str]) -> Iterator[Fact]:
    """Yield the facts of machines, and places of versions among those of all bundles."""
    import numpy as np

    def logs(numbers: Sequence[float | None]) -> list[float]:
        return [np.nan if each is None else float(np.log2(each)) for each in numbers]

    facts = [each.facts for each in entries]
    yield Fact("twice the CPUs", logs([each.cpus for each in facts]))
    yield Fact("twice the memory", logs([each.memory_bytes for each in facts]))
    yield Fact("a rotational disk", [_flag(each.rotational) for each in facts])
    in_memory = [each.is_in_memory if each.file_system else None for each in facts]
    yield Fact("files in memory", [_flag(each) for each in in_memory])
    for maker in dict.fromkeys(_MAKERS.values()):
        names = [name for name, each in _MAKERS.items() if each == maker]
        of_maker = [any(name in each.processor for name in names) for each in facts]
        yield Fact(f"a processor of {maker}", [_flag(each) for each in of_maker])
    for name in ["Python", *sorted(libraries)]:
        versions = sorted({each.versions.get(name, "") for each in facts} - {""}, key=version_key)
        if len(versions) > 1:
            places = {each: place / (len(versions) - 1) for place, each in enumerate(versions)}
            change = f"{name} {versions[0]} to {versions[-1]}"
            yield Fact(change, [places.get(each.versions.get(name, ""), np.nan) for each in facts])


def _flag(value: bool | None) -> float:  # noqa: FBT001 (a fact)
    return float("nan") if value is None else float(value)


@functools.lru_cache(maxsize=10_000)
def version_key(text: str) -> tuple[int, ...]:
    """Return a sort key of a version, which need not be one of PEP 440."""
    return tuple(int(each) for each in "".join(c if c.isdecimal() else " " for c in text).split()[:6])


def _standardised(facts: list[Fact]) -> tuple[list[tuple[Fact, float]], Floats]:
    """Return the facts that differ with their spread, and their values, unknown ones at the mean."""
    import numpy as np

    kept, columns = [], []
    for each in facts:
        values = np.array(each.values)
        if np.isfinite(values).any() and (spread := float(np.nanstd(values))) > 0:
            kept.append((each, spread))
            columns.append(np.nan_to_num((values - np.nanmean(values)) / spread))
    return kept, np.array(columns).reshape(len(kept), len(facts[0].values)).T


def _fitted(y: Floats, x: Floats, machines: Sequence[str]) -> _Fit:
    """Regress values on facts, once with all machines, and once without each of them.

    Parameters
    ----------
    y : numpy.ndarray
        Shape (bundles,).
    x : numpy.ndarray
        Standardised, shape (bundles, facts).
    machines : sequence of str
        The machine of each bundle, sorted.
    """
    import numpy as np

    design = np.column_stack([np.ones(len(y)), x])
    # The mean is not drawn to 0.
    gram = design.T @ design + np.diag([0.0] + [_PENALTY] * x.shape[1])
    moments = design.T @ y
    _, starts, machine = np.unique(machines, return_index=True, return_inverse=True)
    grams = np.add.reduceat(design[:, :, None] * design[:, None, :], starts)
    of_machines = np.add.reduceat(design * y[:, None], starts)
    without = np.linalg.solve(gram - grams, (moments - of_machines)[:, :, None])[:, :, 0]
    left_out = (design * without[machine]).sum(axis=1)
    counts = np.diff([*starts, len(y)])
    baseline = ((y.sum() - np.add.reduceat(y, starts)) / (len(y) - counts))[machine]
    # Of left-out machines, since a few bundles can be fitted without any residual.
    variance = float(np.mean((left_out - y) ** 2))
    errors = np.sqrt(variance * np.diag(np.linalg.inv(gram)))
    return _Fit(np.linalg.solve(gram, moments)[1:], errors[1:], left_out, baseline)

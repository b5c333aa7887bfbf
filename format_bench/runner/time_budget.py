"""Time budget of a run: cases on a sample of the rows first, then on all rows, the cheapest first."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from format_bench.families.cases import Case
from format_bench.results.display.text import duration
from format_bench.results.records import Key, Record, key
from format_bench.results.status import CellStatus
from format_bench.runner.estimates import seconds_of
from format_bench.runner.result_store import keys
from format_bench.runner.runner import Limits

# The sample is a part of the rows, if those are not too few, and is measured for at most a share of
# the time.
SAMPLE_DIVISOR, LEAST_SAMPLE = 25, 20
# It orders the cases by cost, and all rows shall have most of the time. Chosen, not measured.
SAMPLE_SHARE = 1 / 3


def sampled(cases: Iterable[Case]) -> tuple[Case, ...]:
    """Return the cases on a sample of the rows; none if one of the samples were too small."""
    samples = tuple(replace(case, rows=case.rows // SAMPLE_DIVISOR) for case in cases)
    return samples if min(case.rows for case in samples) >= LEAST_SAMPLE else ()


def sample_limits(budget_seconds: float, cases: int, hosts: int = 1) -> Limits:
    """Return the limits of a run on a sample: each step is made once.

    Parameters
    ----------
    budget_seconds : float
        The time budget of the whole run.
    cases : int
        Number of cases.
    hosts : int
        Number of machines that share them.
    """
    share_seconds = SAMPLE_SHARE * budget_seconds
    return Limits(
        repeats=1,
        budget_seconds=0,
        time_budget_seconds=share_seconds,
        step_share_seconds=min(share_seconds / 2, 3 * share_seconds * hosts / cases),
    )


def costs(
    cases: Sequence[Case], samples: Sequence[Case], records: Iterable[Record]
) -> dict[Case, float]:
    """Return the estimated seconds of one call of each step of cases, as far as samples were measured.

    Parameters
    ----------
    cases : sequence of Case
        The cases on all rows.
    samples : sequence of Case
        The same cases on a sample.
    records : iterable of Record
        Records of the samples, of one machine or of several, whose mean counts.
    """
    by_cell: defaultdict[Key, list[Record]] = defaultdict(list)
    for each in records:
        by_cell[key(replace(each, machine=""))].append(each)
    found = {}
    for case, sample in zip(cases, samples, strict=True):
        cells = {cell for step in sample.steps for cell in keys(sample, step)}
        own = [each for cell in cells for each in by_cell[cell]]
        if own and not any(each.status is CellStatus.TIMED_OUT for each in own):
            machines = len({each.machine for each in own})
            # Nothing of cases that fail, which end soon.
            found[case] = seconds_of(([each] for each in own), case.rows) / machines
    return found


def cheapest_first(cases: Iterable[Case], estimated: Mapping[Case, float]) -> tuple[Case, ...]:
    """Return cases in the order of their costs; those that had no time on the sample come last."""
    return tuple(sorted(cases, key=lambda case: estimated.get(case, math.inf)))


def shared(limits: Limits, cases: int, steps: int, hosts: int) -> Limits:
    """Return limits that leave time for each step: the repeats of one take its share at most.

    Parameters
    ----------
    limits : Limits
        Of a run, with its time budget.
    cases : int
        Number of cases.
    steps : int
        Number of steps of a case.
    hosts : int
        Number of machines that share the cases.
    """
    share_seconds = limits.time_budget_seconds * hosts / (cases * steps)
    return replace(limits, budget_seconds=min(limits.budget_seconds, share_seconds))


def spent(budget_seconds: float) -> str:
    """Return the reason for cells that were not run."""
    return f"the time budget of {duration(budget_seconds)} was spent"

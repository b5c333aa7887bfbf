"""Which of many series have changed, and when, with few false alarms over all of them.

Each series is split at its most significant contrast, then its parts are, as long as that is
significant (A. J. Scott and M. Knott, "A cluster analysis method for grouping means in the analysis of
variance", Biometrics 30, 1974). Contrasts are judged by t with moderated variances; over the contrasts
of a series by Bonferroni's bound, over all series after S. Holm, "A simple sequentially rejective
multiple test procedure" (Scandinavian Journal of Statistics 6, 1979): the probability that anything is
named falsely is bounded. To control the share of false names instead would be wrong here: one
regression shows in many series, and so many true names would allow for a false one beside them.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from format_bench.changes.detection.confirmation import settled, steady
from format_bench.changes.detection.model import Contrasts, Question, Shift, contrasts
from format_bench.changes.detection.variance import Known, known_of, t_tails

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from format_bench.changes.detection.confirmation import Rounds
    from format_bench.changes.detection.variance import Spread


FEW = 3
"""Points up to which the first one alone may be the state before."""


@dataclass(frozen=True)
class _Part:
    """A stretch of a series without a known shift: the points that have values."""

    name: Hashable
    points: NDArray[np.int64]


def shifts(questions: Mapping[Hashable, Question], level: float) -> dict[Hashable, list[Shift]]:
    """Return what has changed of each series, in order of time; those that have not are left out.

    Last, it is asked what a single process shows at the newest point; that is not confirmed.

    Parameters
    ----------
    questions : mapping
        All series by name.
    level : float
        The probability with which chance may name anything.
    """
    valued = {name: np.flatnonzero(~np.isnan(each.levels)) for name, each in questions.items()}
    open_parts = [_Part(name, points) for name, points in valued.items() if len(points) > 1]
    known = known_of(questions.values(), level)
    found: dict[Hashable, list[Shift]] = {}
    settled: list[_Part] = []
    while open_parts:
        judged = [(part, *_best(part, questions[part.name], known, sure=True)) for part in open_parts]
        bound = _bound([p for _, p, _ in judged], len(open_parts) + len(settled), level)
        open_parts = []
        for part, p, shift in judged:
            if shift is None or p > bound:
                settled.append(part)
                continue
            found.setdefault(part.name, []).append(shift)
            open_parts += _halves(part, shift)
    judged = [(part, *_best(part, questions[part.name], known, sure=False)) for part in settled]
    bound = _bound([p for _, p, _ in judged], len(settled), level)
    for part, p, shift in judged:
        if shift and p <= bound:
            found.setdefault(part.name, []).append(shift)
    return {name: sorted(each, key=lambda shift: shift.after) for name, each in found.items()}


def _best(
    part: _Part, question: Question, known: Mapping[Hashable, Known], *, sure: bool
) -> tuple[float, Shift | None]:
    """Return the most significant shift of interest and its p-value; 1 if there is none."""
    found, of_kind = contrasts(question.levels[part.points]), known[question.kind]
    p_values = _p_values(found, len(part.points), question, of_kind.spread)
    of_interest = np.abs(found.effect) > question.least_effect
    for which in np.argsort(p_values).tolist():
        if of_interest[which]:
            shift = _shift(part, found, which, question, of_kind.rounds)
            if shift.confirmed is sure and (sure or shift.after == (len(question.levels) - 1,)):
                return float(p_values[which]), shift
    return 1.0, None


def _p_values(found: Contrasts, points: int, question: Question, spread: Spread) -> NDArray[np.float64]:
    """Return a bound of the p-value of each contrast, given that one of all of them is chosen."""
    freedom = points - 2
    variance = spread.moderated(question.alike, found.squares, freedom)
    t = np.abs(found.effect) / np.sqrt(variance * found.weight)
    return np.minimum(1.0, len(t) * t_tails(t, spread.freedom + freedom))


def _shift(part: _Part, found: Contrasts, which: int, question: Question, rounds: Rounds) -> Shift:
    points, at = part.points.tolist(), int(found.at[which])
    shift = Shift(
        before=tuple(points[:at]),
        after=tuple(points[at:]),
        drift=bool(found.drift[which]),
        effect=float(found.effect[which]),
        confirmed=False,
    )
    if shift.drift:
        fits_best = which == int(found.squares.argmin())
        return replace(shift, confirmed=fits_best and steady(shift, question))
    newest = shift.after == (len(question.levels) - 1,)
    # A first point that stands out, with many after it, says nothing of interest.
    telling = newest or len(shift.before) > 1 or len(points) <= FEW
    return replace(shift, confirmed=telling and settled(shift, question, rounds))


def _halves(part: _Part, shift: Shift) -> list[_Part]:
    """Return the parts on both sides of a step that can be split further; a drift leaves none."""
    if shift.drift:
        return []
    sides = (np.array(shift.before), np.array(shift.after))
    return [_Part(part.name, points) for points in sides if len(points) > 1]


def _bound(p_values: list[float], tests: int, level: float) -> float:
    """Return up to which p-value to reject, of so many tests of which all others have larger ones."""
    bound = -1.0
    for rank, p in enumerate(sorted(p_values)):
        if p > level / (tests - rank):
            break
        bound = p
    return bound

"""What all series of a kind tell of each."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from format_bench.changes.observed import variances
from format_bench.changes.rounds import Rounds
from format_bench.changes.spread import Spread, spread_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from format_bench.changes.question import Question


@dataclass(frozen=True)
class Known:
    """How series of a kind vary from point to point, and from process to process."""

    spread: Spread
    rounds: Rounds


def known_of(questions: Iterable[Question], level: float) -> dict[Hashable, Known]:
    """Return what is known of each kind that has series of two points or more."""
    kinds: dict[Hashable, list[Question]] = {}
    for each in questions:
        if np.count_nonzero(~np.isnan(each.levels)) > 1:
            kinds.setdefault(each.kind, []).append(each)
    return {kind: _known(found, level) for kind, found in kinds.items()}


def _known(questions: list[Question], level: float) -> Known:
    alike: dict[Hashable, list[NDArray[np.float64]]] = {}
    for each in questions:
        alike.setdefault(each.alike, []).append(each.levels[~np.isnan(each.levels)])
    spread = spread_of({name: variances(found) for name, found in alike.items()})
    return Known(spread, Rounds.of([each.halves for each in questions], level))

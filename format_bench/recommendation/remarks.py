"""What a reader of a recommendation must know besides."""

from __future__ import annotations

from typing import TYPE_CHECKING

from format_bench.display.units import human
from format_bench.recommendation.scope import families
from format_bench.recommendation.scores import shift_of
from format_bench.results.load import family_of

if TYPE_CHECKING:
    from format_bench.recommendation.scores import Scoring
    from format_bench.results.load import Results


def about(results: Results, scoped: Results, scoring: Scoring, noise: str) -> list[str]:
    """Return sentences on what limits an answer.

    Parameters
    ----------
    results, scoped : Results
        All of them, and those that the answer is from.
    scoring : Scoring
        What scores were relative to.
    noise : str
        "floors", "intervals" or "unknown".
    """
    found = []
    for measure, best in scoring.best.items():
        shift = shift_of(measure)
        if measure.unit == "seconds" and max(best) < shift:
            found.append(
                f"the best {measure} is below {human(shift, 'seconds')} on every table, where "
                "differences hardly count; measure more rows if yours are more"
            )
    if noise == "unknown":
        found.append("ties cannot be told: times of one sample do not show how they vary")
    return found + _left_out(results, scoped)


def _left_out(results: Results, scoped: Results) -> list[str]:
    others = [each for each in families(results) if each not in families(scoped)]
    if not others:
        return []
    names = dict.fromkeys(each.dataset for each in results.records if family_of(each) in others)
    said = f"the results of {' and '.join(others)} are left out; --dataset takes them in, with one of "
    return [said + ", ".join(names)]

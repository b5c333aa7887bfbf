"""Outcome of a race: the recommendation with its caveats, and the race as JSON values."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from format_bench.results.display.text import joined, plural

if TYPE_CHECKING:
    from format_bench.racing.race import RaceState
    from format_bench.recommendation import Recommendation
    from format_bench.results.candidates import Configuration
    from format_bench.results.noise_floor import Floors

# Names in a sentence.
NAMED = 5


def recommendation(progress: RaceState, floors: Floors | None) -> Recommendation:
    """Return the recommendation of a race, with caveats on the race.

    It is by values on all rows, where at least two entries have them; until then, by estimates.

    Parameters
    ----------
    progress : RaceState
        The race at its end.
    floors : Floors, optional
        The noise floors of the machine, if they were measured.

    Raises
    ------
    NoCandidateError
        If no entry can be chosen.
    """
    found = progress.standings
    if progress.is_settled or len(found.measured) > 1:
        answer = found.recommendation(only_full=True, floors=floors)
    else:
        answer = found.recommendation()
    return replace(answer, caveats=[*_caveats(progress, answer), *answer.caveats])


def _caveats(progress: RaceState, answer: Recommendation) -> list[str]:
    """Return sentences on the rows that the answer rests on, and on the changes that time may bring."""
    found = progress.standings
    out = f"{len(found.drops)} of {plural(len(found.entries), 'candidate')} are out"
    if progress.is_settled:
        where = f"all {found.rows:,} {found.item}s"
        return [f"the race is settled on {where}: {out}; --json has the reasons"]
    spent = f"{progress.budget.seconds:.0f} s were spent before the race was settled ({out})"
    sentences = [f"{spent}; the same command goes on from here, and may change the answer"]
    first = answer.first.candidate.configuration
    if first not in found.measured:
        sizes = " and ".join(f"{each:,}" for each in found.rows_of(first))
        sentences.append(
            f"the answer rests on samples of {sizes} {found.item}s, from which the values for all "
            f"{found.rows:,} are estimated"
        )
    if progress.unfinished:
        names = joined(progress.unfinished, most=NAMED)
        sentences.append(f"measured on samples only, and may still win: {names}")
    if progress.untried:
        sentences.append(f"not tried, and may still win: {joined(progress.untried, most=NAMED)}")
    return sentences


def to_json(progress: RaceState) -> dict[str, Any]:
    """Return a race as JSON values."""
    found = progress.standings
    return {
        "settled": progress.is_settled,
        "rows": found.rows,
        "budget_seconds": progress.budget.seconds,
        "first_answer": {"seconds": progress.first_seconds, "ranking": progress.first_ranking},
        "last_answer": {"seconds": progress.last_seconds},
        "candidates": len(found.entries),
        "tried": [_tried(each, progress) for each in found.entries if found.rows_of(each)],
        "not_tried": [str(each) for each in progress.untried],
        "unfinished": [str(each) for each in progress.unfinished],
        "dropped": [
            {
                "name": str(each.configuration),
                **each.configuration._asdict(),
                "rows": each.rows,
                "reason": each.reason,
            }
            for each in found.drops.values()
        ],
    }


def _tried(entry: Configuration, progress: RaceState) -> dict[str, Any]:
    found = progress.standings
    return {"name": str(entry), "rows": found.rows_of(entry), "rounds": found.rounds_of(entry)}

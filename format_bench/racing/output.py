"""Output of a race: on a terminal a table in place, elsewhere a line for each event; then the answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from adapter_core.errors import NoCandidateError
from adapter_core.text import visible
from format_bench.racing.race import Race
from format_bench.racing.standings import Drop
from format_bench.recommendation.recommend import Ranked, Recommendation
from format_bench.results.display.terminal import rich_table
from format_bench.results.display.text import format_ratio, joined, plural

# Entries and drops that are shown on a terminal: with the lines between them they fit into 24 lines.
SHOWN, DROPS_SHOWN = 10, 5

# Names in one line.
IN_LINE = 5


class RaceDisplay:
    """Live display of a race.

    Parameters
    ----------
    console : Console
        The output.
    """

    def __init__(self, console: Console) -> None:
        self.console = console
        self._race: Race | None = None
        self._names: list[str] = []
        self._drops = 0
        self._live = Live(console=console, get_renderable=self._shown, transient=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._live.stop()

    def __call__(self, race: Race) -> None:
        """Show the race; elsewhere than on a terminal, the news since the last call."""
        self._race = race
        if self.console.is_terminal:
            self._live.start()
            return
        drops = list(race.standings.drops.values())[self._drops :]
        self._drops += len(drops)
        lines = [drop_line(each, race.standings.item) for each in drops if each.rows]
        if declared := [each.configuration for each in drops if not each.rows]:
            lines.insert(0, f"out by declaration: {joined(declared, most=IN_LINE)}")
        if race.answer is not None and race.first_seconds is not None:
            names = [each.candidate.name for each in race.answer.ranked[:IN_LINE]]
            if names != self._names:
                self._names = names
                lines.append(_ranking_line(race.answer, race))
        for line in lines:
            self.console.print(f"{race.budget.elapsed_seconds:6.1f} s  {line}", soft_wrap=True)

    def _shown(self) -> Group:
        if (race := self._race) is None:
            return Group()
        parts: list[Any] = [Text(_state(race))]
        if race.answer is not None:
            rows = [_row(each, race) for each in race.answer.ranked[:SHOWN]]
            parts.append(rich_table(["still in", "score", "from", "to", "rows"], rows))
        drops = list(race.standings.drops.values())[-DROPS_SHOWN:]
        lines = (visible(drop_line(each, race.standings.item)) for each in drops)
        parts += [Text(each, "dim", no_wrap=True, overflow="ellipsis") for each in lines]
        return Group(*parts)


def drop_line(drop: Drop, item: str) -> str:
    """Return a drop as a line; `item` is the unit of the size of the data."""
    rows = f" on {drop.rows:,} {item}s" if drop.rows else ""
    return f"out{rows}: {drop.configuration}: {drop.reason}"


def _ranking_line(answer: Recommendation, race: Race) -> str:
    """Return the first places of the ranking as a line."""
    names = [f"{place}. {each.candidate.name}" for place, each in enumerate(answer.ranked[:IN_LINE], 1)]
    counts = f"{len(race.standings.live)} in, {len(race.standings.drops)} out"
    rows = max(race.standings.rows_of(answer.first.candidate.configuration))
    return f"{', '.join(names)}; the first on {rows:,} {race.standings.item}s ({counts})"


def _state(race: Race) -> str:
    found = race.standings
    counts = f"{len(found.live)} in, {len(found.drops)} out, {len(race.untried)} not tried"
    now = ""
    if race.trial:
        sizes = " and ".join(f"{each:,}" for each in race.trial.sizes)
        now = f"; now {joined(race.trial.entries, most=2)} on {sizes} {found.item}s"
    return f"{counts}; at most {plural(round(race.budget.left_seconds), 'second')} left{now}"


def _row(ranked: Ranked, race: Race) -> list[str]:
    rows = max(race.standings.rows_of(ranked.candidate.configuration))
    scores = map(format_ratio, (ranked.score, *ranked.band))
    return [ranked.candidate.name, *scores, f"{rows:,}"]


def recommendation(race: Race) -> Recommendation:
    """Return the recommendation of a race at its end, with caveats on the race.

    It is by values on all rows, where at least two entries have them; by estimates until then, or where
    none of these can be chosen.

    Parameters
    ----------
    race : Race
        The race.

    Raises
    ------
    NoCandidateError
        If no entry can be chosen.
    """
    found = race.standings
    try:
        answer = found.recommendation(only_full=race.is_settled or len(found.measured) > 1)
    except NoCandidateError:
        if race.is_settled or not found.live:
            raise
        answer = found.recommendation()
    about_race = _caveats(race, answer)
    return replace(
        answer,
        caveats=[*about_race, *answer.caveats],
        leading_caveats=len(about_race),
        unmeasured=race.unfinished,
    )


def _tried(race: Race) -> str:
    """Return in words how many candidates were tried, and which formats are none."""
    found = race.standings
    tried = sum(bool(found.rows_of(each)) for each in race.candidates)
    declared = len(found.entries) - len(race.candidates)
    parts = [f"tried {tried} of {plural(len(race.candidates), 'candidate')}"]
    if declared:
        parts.append(f"{declared} more {'is' if declared == 1 else 'are'} out by declaration")
    if found.unavailable:
        names = joined(found.unavailable, most=IN_LINE)
        parts.append(f"not installed, and so no candidates: {names}")
    return "; ".join(parts)


def _caveats(race: Race, answer: Recommendation) -> list[str]:
    """Return sentences on the rows that the answer rests on, and on the changes that time may bring."""
    found = race.standings
    if race.is_settled:
        where = f"all {found.rows:,} {found.item}s"
        return [f"{_tried(race)}; the race is settled on {where}, --json has the reasons"]
    spent = f"{race.budget.seconds:.0f} s were spent before the race was settled"
    sentences = [f"{_tried(race)}; {spent}: the same command resumes, and may change the answer"]
    first = answer.first.candidate.configuration
    if first not in found.measured:
        sizes = " and ".join(f"{each:,}" for each in found.rows_of(first))
        sentences.append(
            f"the answer rests on samples of {sizes} {found.item}s, from which the values for all "
            f"{found.rows:,} are estimated"
        )
    if race.unfinished:
        names = joined(race.unfinished, most=IN_LINE)
        sentences.append(f"not yet measured on all rows, and may still win: {names}")
    if race.untried:
        sentences.append(f"not tried, and may still win: {joined(race.untried, most=IN_LINE)}")
    return sentences


def to_json(race: Race) -> dict[str, Any]:
    """Return a race as JSON values."""
    found = race.standings
    return {
        "settled": race.is_settled,
        "rows": found.rows,
        "budget_seconds": race.budget.seconds,
        "first_answer": {"seconds": race.first_seconds, "ranking": race.first_ranking},
        "last_answer": {"seconds": race.last_seconds},
        "candidates": len(race.candidates),
        "not_installed": [
            {"format": label, "reason": reason} for label, reason in found.unavailable.items()
        ],
        "tried": [
            {"name": str(each), "rows": found.rows_of(each), "rounds": found.rounds_of(each)}
            for each in found.entries
            if found.rows_of(each)
        ],
        "not_tried": [str(each) for each in race.untried],
        "unfinished": [str(each) for each in race.unfinished],
        "dropped": [
            {
                "name": str(each.configuration),
                **each.configuration.to_json(),
                "rows": each.rows,
                "reason": each.reason,
            }
            for each in found.drops.values()
        ],
    }

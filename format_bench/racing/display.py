"""Display of a race: on a terminal a table in place, elsewhere a line for each event."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from rich.console import Console, Group
from rich.live import Live
from rich.text import Text

from adapter_core.text import visible
from format_bench.racing.race import RaceState, Watcher
from format_bench.results.display.terminal import rich_table
from format_bench.results.display.text import format_ratio, joined, plural
from format_bench.runner.reading_display import ReadingLines, reading_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from format_bench.racing.standings import Drop
    from format_bench.recommendation.answer import Ranked

# Entries and drops that are shown on a terminal.
SHOWN, DROPS_SHOWN = 10, 5

# Entries of a ranking in one line.
IN_LINE = 5


class RaceDisplay(Watcher):
    """Live display of a race.

    Parameters
    ----------
    console : Console
        The output.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._progress: RaceState | None = None
        self._names: list[str] = []
        self._reading = "reading the data"
        self._lines: ReadingLines | None = None
        self._live = Live(console=console, get_renderable=self._shown, transient=True)

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._live.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._console.is_terminal:
            self._live.stop()

    def reads(self, place: str, seconds: float) -> None:
        """Show for how long the data have been read."""
        self._reading = reading_line(place, seconds)
        if not self._console.is_terminal:
            if self._lines is None:
                self._lines = ReadingLines(place, lambda line: self._console.print(line, soft_wrap=True))
            self._lines(seconds)

    def starts(self, progress: RaceState) -> None:
        """Show the trial that starts."""
        self._progress = progress

    def dropped(self, drops: Sequence[Drop], progress: RaceState) -> None:
        """Print the entries that are out, with reasons."""
        if names := [each.configuration for each in drops if not each.rows]:
            self._print(progress, f"out by declaration: {joined(names, most=IN_LINE)}")
        for each in drops:
            if each.rows:
                self._print(progress, drop_line(each))

    def ranked(self, progress: RaceState) -> None:
        """Print the first places of a ranking, if they are not the same as before."""
        self._progress = progress
        names = [each.candidate.name for each in progress.answer.ranked] if progress.answer else []
        if names[:IN_LINE] != self._names:
            self._names = names[:IN_LINE]
            self._print(progress, ranking_line(progress))

    def _print(self, progress: RaceState, line: str) -> None:
        if not self._console.is_terminal:
            self._console.print(f"{progress.budget.elapsed_seconds:6.1f} s  {line}", soft_wrap=True)

    def _shown(self) -> Group:
        if self._progress is None:
            return Group(Text(visible(self._reading)))
        progress = self._progress
        parts: list[object] = [Text(_state(progress))]
        if progress.answer is not None:
            rows = [_row(each, progress) for each in progress.answer.ranked[:SHOWN]]
            parts.append(rich_table(["still in", "score", "from", "to", "rows"], rows))
        drops = list(progress.standings.drops.values())[-DROPS_SHOWN:]
        parts += [
            Text(visible(drop_line(each)), "dim", no_wrap=True, overflow="ellipsis") for each in drops
        ]
        return Group(*parts)  # type: ignore[arg-type]


def drop_line(drop: Drop) -> str:
    """Return a drop as a line."""
    rows = f" on {drop.rows:,} rows" if drop.rows else ""
    return f"out{rows}: {drop.configuration}: {drop.reason}"


def ranking_line(progress: RaceState) -> str:
    """Return the first places of the ranking as a line."""
    if progress.answer is None:
        return "no ranking yet"
    found = progress.answer.ranked
    names = [f"{place}. {each.candidate.name}" for place, each in enumerate(found[:IN_LINE], 1)]
    counts = f"{len(progress.standings.live)} in, {len(progress.standings.drops)} out"
    rows = max(progress.standings.rows_of(found[0].candidate.configuration))
    return f"{', '.join(names)}; the first on {rows:,} {progress.standings.item}s ({counts})"


def _state(progress: RaceState) -> str:
    counts = (
        f"{len(progress.standings.live)} in, {len(progress.standings.drops)} out, "
        f"{len(progress.untried)} not tried"
    )
    now = ""
    if progress.trial:
        names = joined(progress.trial.entries, most=2)
        sizes = " and ".join(f"{each:,}" for each in progress.trial.sizes)
        now = f"; now {names} on {sizes} {progress.standings.item}s"
    return f"{counts}; at most {plural(round(progress.budget.left_seconds), 'second')} left{now}"


def _row(ranked: Ranked, progress: RaceState) -> list[str]:
    rows = max(progress.standings.rows_of(ranked.candidate.configuration))
    return [
        ranked.candidate.name,
        format_ratio(ranked.score),
        *map(format_ratio, ranked.band),
        f"{rows:,}",
    ]

"""Race of entries on samples of growing size, until one is left or the budget is spent.

Successive elimination (Even-Dar, Mannor and Mansour, "Action elimination and stopping conditions for the
multi-armed bandit and reinforcement learning problems", JMLR 7, 2006): all entries that may still win
are measured once more, and those whose bounds rule them out are dropped. As in successive halving
(Jamieson and Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization",
AISTATS 2016), most entries see small samples only; no fixed share of them is dropped, however.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from format_bench.racing.standings import Drop, Standings
    from format_bench.recommendation import Recommendation
    from format_bench.results.candidates import Configuration
    from format_bench.results.records import Record
    from format_bench.runner.executor import TimeBudget

# The samples, as divisors of all rows. The first two are measured together: their difference shows
# the part of a value that grows with the rows. The third is for entries that cost more than a second.
SMALL_SAMPLES = (100, 25)
LARGE_SAMPLE = 5

# Rows or images below which a sample says nothing.
LEAST_ROWS = 20

# Wall time of the call after which the first ranking is due.
FIRST_ANSWER_SECONDS = 10.0

# Time before that at which measurements are interrupted for it. None starts in twice the time.
SPARE_SECONDS = 1.0

# Wall time of an entry on the small samples, the imports of its libraries included. It is
# shorter before the first ranking.
FIRST_LIMIT_SECONDS, SAMPLE_LIMIT_SECONDS = 4.0, 15.0

# Share of the budget after which no further entry is tried while others are left to finish.
TRYING_SHARE = 0.6

# Entries that are measured on all rows before others are tried: only sure values rule others out.
LEADERS = 3

# How often an entry is measured on all rows, each time in a fresh process.
ROUNDS = 3

# Calls of each step in one process on all rows, by which the time of a measurement is estimated.
CALLS = 3

# Estimated time of a measurement on all rows above which the large sample comes before.
DEAR_SECONDS = 1.0


class Trial(NamedTuple):
    """Measurements that come next: entries of one format on samples, or on all rows."""

    entries: tuple[Configuration, ...]
    sizes: tuple[int, ...]
    limit_seconds: float
    """Wall time of one entry on one size."""


# Measures a trial within a number of seconds; entries that had no time have no records.
Measurer = Callable[[Trial, float], "list[Record]"]


@dataclass
class RaceState:
    """State of a race, for displays; updated in place."""

    standings: Standings
    budget: TimeBudget
    """Wall time from the call."""
    trial: Trial | None = None
    """The measurements under way."""
    answer: Recommendation | None = None
    """The ranking so far."""
    first_seconds: float | None = None
    """Wall time from the call to the first ranking."""
    first_ranking: list[str] = field(default_factory=list)
    """Names, best first."""
    last_seconds: float = 0.0
    """Wall time from the call to the last ranking."""
    is_settled: bool = False

    @property
    def untried(self) -> list[Configuration]:
        """The entries that have not been measured on any sample."""
        return [each for each in self.standings.live if not self.standings.rows_of(each)]

    @property
    def unfinished(self) -> list[Configuration]:
        """The entries that can still win and have been measured on samples only."""
        found = self.standings
        return [
            each for each in found.live if found.rows_of(each) and found.rows not in found.rows_of(each)
        ]


class Watcher:
    """Receiver of the events of a race; does nothing by default."""

    def reads(self, place: str, seconds: float) -> None:
        """Show for how long the data have been read."""

    def starts(self, progress: RaceState) -> None:
        """Show that a trial starts."""

    def dropped(self, drops: Sequence[Drop], progress: RaceState) -> None:
        """Show entries that are out."""

    def ranked(self, progress: RaceState) -> None:
        """Show a new ranking."""


def sample_sizes(rows: int) -> tuple[tuple[int, ...], int | None]:
    """Return the sizes of the small samples and of the large one, None if all rows are few."""
    small = tuple(rows // each for each in SMALL_SAMPLES if rows // each >= LEAST_ROWS)
    large = rows // LARGE_SAMPLE
    return small, large if large >= LEAST_ROWS else None


class Race:
    """Schedule of a race.

    Parameters
    ----------
    standings : Standings
        The entries; those that cannot meet a requirement are out already.
    first : collection of Configuration
        The entries that are tried before the first ranking.
    measure : callable
        Measures a trial.
    budget : TimeBudget
        Wall time from the call, after which nothing more is measured.
    watcher : Watcher, optional
        Receiver of events.
    """

    def __init__(
        self,
        standings: Standings,
        first: Collection[Configuration],
        measure: Measurer,
        budget: TimeBudget,
        *,
        watcher: Watcher | None = None,
    ) -> None:
        self._budget = budget
        self._standings, self._first, self._measure = standings, set(first), measure
        self._watcher = watcher or Watcher()
        self._small, self._large = sample_sizes(standings.rows)
        self._attempted: set[tuple[Configuration, int, int]] = set()
        self.progress = RaceState(standings, budget)

    def run(self) -> RaceState:
        """Measure until the race is settled or the budget is spent."""
        if declared := list(self._standings.drops.values()):
            self._watcher.dropped(declared, self.progress)
        self._update()  # earlier races may have measured already
        while (trial := self._next()) and not self._budget.is_spent():
            self._report_first(trial)
            self.progress.trial = trial
            self._watcher.starts(self.progress)
            is_first = self.progress.first_seconds is None and self.progress.answer is not None
            before_first = FIRST_ANSWER_SECONDS - SPARE_SECONDS - self._budget.elapsed_seconds
            limit = (
                min(self._budget.left_seconds, before_first) if is_first else self._budget.left_seconds
            )
            self._standings.add(self._measure(trial, limit))
            self._note(trial, is_first=is_first)
            self._update()
            if self.progress.first_seconds is not None:
                self._report()
        self.progress.trial = None
        self.progress.is_settled = self._next() is None and not (
            self.progress.untried or self.progress.unfinished
        )
        self._report()
        return self.progress

    def _update(self) -> None:
        """Drop the entries that cannot win any more, and rank the others."""
        self.progress.answer = self._standings.answer()
        if self.progress.answer and (drops := self._standings.eliminate(self.progress.answer)):
            self.progress.answer = self._standings.answer()
            self._watcher.dropped(drops, self.progress)

    def _report_first(self, coming: Trial) -> None:
        """Report the first ranking when the usual formats are done, or would take too long."""
        if self.progress.first_seconds is None and self.progress.answer:
            is_late = self._budget.elapsed_seconds + 2 * SPARE_SECONDS > FIRST_ANSWER_SECONDS
            if is_late or not self._is_among_first(coming):
                self._report()

    def _is_among_first(self, trial: Trial) -> bool:
        return trial.entries[0] in self._first and (not self._small or trial.sizes == self._small)

    def _report(self) -> None:
        if self.progress.answer is None:
            return
        self.progress.last_seconds = self._budget.elapsed_seconds
        if self.progress.first_seconds is None:
            self.progress.first_seconds = self.progress.last_seconds
            self.progress.first_ranking = [each.candidate.name for each in self.progress.answer.ranked]
        self._watcher.ranked(self.progress)

    def _note(self, trial: Trial, *, is_first: bool) -> None:
        for entry in trial.entries:
            # An entry that the first ranking has interrupted has another chance after it.
            if is_first and not self._standings.rows_of(entry):
                continue
            for size in trial.sizes:
                self._attempted.add((entry, size, self._round(entry, size)))

    def _round(self, entry: Configuration, size: int) -> int:
        return self._standings.rounds_of(entry) if size == self._standings.rows else 0

    def _next(self) -> Trial | None:
        """Return the next trial, or None if nothing is left to do."""
        is_early = self._budget.elapsed_seconds < TRYING_SHARE * self._budget.seconds
        # After these, an entry that seems to be the best one so far is measured at once.
        leaders = LEADERS if len(self._standings.measured) < LEADERS else 1
        return next(
            filter(
                None,
                (
                    self._untried(first=True),
                    self._on_all_rows(leaders) if is_early else None,
                    self._untried(first=False) if is_early else None,
                    self._on_all_rows(None),
                    self._once_more(LEADERS, 2),
                    self._untried(first=False),
                    self._once_more(None, ROUNDS),
                ),
            ),
            None,
        )

    def _untried(self, *, first: bool) -> Trial | None:
        """Return a trial of the next format that has not been measured."""
        if not self._small:
            return None
        left = [
            each
            for each in self._standings.live
            if (each in self._first) is first and not self._is_attempted(each, self._small[0])
        ]
        if not left:
            return None
        limit = FIRST_LIMIT_SECONDS if first else SAMPLE_LIMIT_SECONDS
        return Trial(tuple(each for each in left if each.format == left[0].format), self._small, limit)

    def _is_attempted(self, entry: Configuration, size: int) -> bool:
        measured = size in self._standings.rows_of(entry) and size != self._standings.rows
        return measured or (entry, size, self._round(entry, size)) in self._attempted

    def _on_all_rows(self, most: int | None) -> Trial | None:
        """Return a trial of the most promising entry that was not measured on all rows.

        Parameters
        ----------
        most : int, optional
            Number of entries that count, best first; all by default.
        """
        for entry in self._by_promise()[:most]:
            sizes = self._standings.rows_of(entry)
            if self._standings.rows in sizes or not self._has_time(entry):
                continue
            size = self._standings.rows
            is_dear = CALLS * self._standings.seconds_of(entry) > DEAR_SECONDS
            if most is None and is_dear and self._large and self._large not in sizes:
                size = self._large
            if not self._is_attempted(entry, size):
                return self._single(entry, size)
        return None

    def _once_more(self, most: int | None, rounds: int) -> Trial | None:
        """Return a trial of the entry with the fewest rounds on all rows, if several are left.

        Parameters
        ----------
        most : int, optional
            Number of entries that count, best first; all by default.
        rounds : int
            Number of rounds after which an entry is left alone.
        """
        if len(self._standings.live) < 2:  # noqa: PLR2004 (one alone has won)
            return None
        found = [
            each
            for each in self._by_promise()[:most]
            if 0 < self._standings.rounds_of(each) < rounds
            and self._has_time(each)
            and not self._is_attempted(each, self._standings.rows)
        ]
        if not found:
            return None
        return self._single(min(found, key=self._standings.rounds_of), self._standings.rows)

    def _single(self, entry: Configuration, size: int) -> Trial:
        limit = max(FIRST_LIMIT_SECONDS, 4 * CALLS * self._standings.seconds_of(entry))
        return Trial((entry,), (size,), limit)

    def _has_time(self, entry: Configuration) -> bool:
        """Tell whether one call of each step on all rows, by its estimate, fits into the budget."""
        return self._standings.seconds_of(entry) < self._budget.left_seconds

    def _by_promise(self) -> list[Configuration]:
        """Return the live entries, best first; those without a ranking yet come last."""
        ranked = self.progress.answer.ranked if self.progress.answer else []
        found = [each.candidate.configuration for each in ranked]
        places = {entry: place for place, entry in enumerate(found)}
        live = self._standings.live
        if not self._small:
            return sorted(live, key=lambda each: places.get(each, len(places)))
        return [each for each in found if each in live]

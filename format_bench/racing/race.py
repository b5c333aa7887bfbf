"""Race of entries on samples of growing size, until one is left or the budget is spent.

Successive elimination (Even-Dar, Mannor and Mansour, "Action elimination and stopping conditions for the
multi-armed bandit and reinforcement learning problems", JMLR 7, 2006): all entries that may still win
are measured once more, and those whose bounds rule them out are dropped. As in successive halving
(Jamieson and Talwalkar, "Non-stochastic best arm identification and hyperparameter optimization",
AISTATS 2016), most entries see small samples only; no fixed share of them is dropped, however.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from itertools import product
from typing import NamedTuple

from format_bench.racing.standings import Standings
from format_bench.recommendation import Recommendation
from format_bench.results.candidates import Configuration
from format_bench.results.records import Record
from format_bench.results.status import CellStatus
from format_bench.runner.executor import TimeBudget

# The samples, as divisors of all rows. The first two are measured together: their difference shows
# the part of a value that grows with the rows. The third is for entries that cost more than a second.
SMALL_SAMPLES = (100, 25)
LARGE_SAMPLE = 5

# Rows or images below which a sample says nothing.
LEAST_ROWS = 20

# Wall time of the call after which the first ranking is due.
# So long users wait without turning to something else: J. Nielsen, Usability Engineering, 1993, ch. 5.
FIRST_ANSWER_SECONDS = 10.0

# Time before that at which measurements are interrupted for it. None starts in twice the time.
SPARE_SECONDS = 1.0

# Wall time of an entry on the small samples, the imports of its libraries included. It is
# shorter before the first ranking.
FIRST_LIMIT_SECONDS, SAMPLE_LIMIT_SECONDS = 4.0, 15.0

# Wall time at the end of the budget in which nothing is measured: the last process is ended, its files
# are removed, and the answer is computed and printed. The slowest ranking so far is added to it. A busy
# machine, known by the time that the start has taken, takes longer, up to a share of the budget.
END_SECONDS, MOST_END_SHARE = 0.8, 0.1

# Share of the time left that the format of the user's own file may take on all rows, before any other.
# It may be the slowest of all, as Excel and XML are, and others shall be compared with it. Chosen, not
# measured.
BASELINE_SHARE = 0.25

# Share of the budget after which no further entry is tried while others are left to finish.
# An entry needs samples and up to three rounds, which one begun late would not get. Chosen, not
# measured.
TRYING_SHARE = 0.6

# Entries that are measured on all rows before others are tried: only sure values rule others out.
LEADERS = 3

# How often an entry is measured on all rows, each time in a fresh process.
# A median needs three.
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


# An entry, a number of rows, and the rounds that it had on them before.
Attempt = tuple[Configuration, int, int]

# Measures a trial within a number of seconds; entries that had no time have no records.
Measurer = Callable[[Trial, float], "list[Record]"]


def sample_sizes(rows: int) -> tuple[tuple[int, ...], int | None]:
    """Return the sizes of the small samples and of the large one, None if all rows are few."""
    small = tuple(rows // each for each in SMALL_SAMPLES if rows // each >= LEAST_ROWS)
    large = rows // LARGE_SAMPLE
    return small, large if large >= LEAST_ROWS else None


class Race:
    """Race of entries: the next measurement, and the ranking so far.

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
    watch : callable, optional
        Called with the race when a trial starts or has changed the standings, and at the end.
    """

    def __init__(
        self,
        standings: Standings,
        first: Collection[Configuration],
        measure: Measurer,
        budget: TimeBudget,
        *,
        watch: Callable[[Race], None] = lambda _: None,
    ) -> None:
        self.standings, self.budget = standings, budget
        self.trial: Trial | None = None
        """The measurements under way."""
        self.answer: Recommendation | None = None
        """The ranking so far."""
        self.first_seconds: float | None = None
        """Wall time from the call to the first ranking that is shown."""
        self.first_ranking: list[str] = []
        """Names, best first."""
        self.last_seconds = 0.0
        """Wall time from the call to the last ranking that is shown."""
        self.is_settled = False
        self.watch = watch
        self.end_seconds = END_SECONDS
        """Wall time at the end of the budget in which nothing is measured."""
        self._first, self._measure = set(first), measure
        self._ranking_seconds = 0.0
        self._small, self._large = sample_sizes(standings.rows)
        self._attempted: set[Attempt] = set()
        self._late: set[Configuration] = set()

    @property
    def untried(self) -> list[Configuration]:
        """The entries that have not been measured on any sample."""
        return [each for each in self.standings.live if not self.standings.rows_of(each)]

    @property
    def candidates(self) -> list[Configuration]:
        """The entries that no declaration rules out."""
        drops = self.standings.drops
        return [each for each in self.standings.entries if each not in drops or drops[each].rows]

    @property
    def unfinished(self) -> list[Configuration]:
        """The entries that can still win and have been measured on samples only."""
        found = self.standings
        return [
            each for each in found.live if found.rows_of(each) and found.rows not in found.rows_of(each)
        ]

    def run(self) -> Race:
        """Measure until the race is settled or the budget is spent."""
        self._rank()  # earlier races may have measured already
        while (trial := self._next()) and self.measuring_seconds > 0:
            if self.first_seconds is None and self._is_first_due(trial):
                self._show()
            self.trial = trial
            self.watch(self)
            is_before_first = self.first_seconds is None and self.answer is not None
            limit = self.measuring_seconds
            first_left = FIRST_ANSWER_SECONDS - SPARE_SECONDS - self.budget.elapsed_seconds
            if is_before_first and first_left > 0:
                limit = min(limit, first_left)
            # A value makes the next round another attempt.
            attempts = {
                (each, size, self._round(each, size))
                for each, size in product(trial.entries, trial.sizes)
            }
            self.standings.add(self._in_time(trial, self._measure(trial, limit)))
            self._note(attempts, is_before_first=is_before_first)
            self._rank()
            if self.first_seconds is not None:
                self._show()
        self.trial = None
        lacking = self._lacking(self.standings.live, ROUNDS) if self._is_contested else []
        self.is_settled = not (self._next() or self.untried or self.unfinished or lacking)
        self._show()
        return self

    @property
    def measuring_seconds(self) -> float:
        """Wall time left to measure, without that for the end."""
        return max(0.0, self.budget.left_seconds - self.end_seconds - self._ranking_seconds)

    def _rank(self) -> None:
        """Drop the entries that cannot win any more, and rank the others."""
        self.standings.drop_failed()
        start = self.budget.elapsed_seconds
        self.answer = self.standings.answer()
        if self.answer and self.standings.eliminate(self.answer):
            self.answer = self.standings.answer()
        self.watch(self)
        self._ranking_seconds = max(self._ranking_seconds, self.budget.elapsed_seconds - start)

    def _is_first_due(self, coming: Trial) -> bool:
        """Tell whether the usual formats are ranked, or the next trial of them would take too long."""
        elapsed = self.budget.elapsed_seconds + 2 * SPARE_SECONDS
        # The user's own format alone is no ranking, except very late.
        is_alone = self.answer is not None and len(self.answer.ranked) == 1
        is_late = elapsed > FIRST_ANSWER_SECONDS * (2 if is_alone else 1)
        is_usual = coming.entries[0] in self._first and self._small in {(), coming.sizes}
        return is_late or not is_usual

    def _show(self) -> None:
        """Show the ranking, if there is one."""
        if self.answer is None:
            return
        self.last_seconds = self.budget.elapsed_seconds
        if self.first_seconds is None:
            self.first_seconds = self.last_seconds
            self.first_ranking = [each.candidate.name for each in self.answer.ranked]
        self.watch(self)

    def _in_time(self, trial: Trial, found: Sequence[Record]) -> list[Record]:
        """Return the records without entries that the first ranking's short limit has ended.

        These are tried again after it: a JVM, or a large library on a busy machine, may take longer to
        start than that limit.
        """
        if self.standings.baseline not in trial.entries and trial.sizes == self._small:
            timely = (each for each in found if each.status is not CellStatus.TIMED_OUT)
            ended = self._first & set(map(Configuration.of, found)) - set(map(Configuration.of, timely))
            self._first -= ended
            self._late |= ended
            return [each for each in found if Configuration.of(each) not in ended]
        return list(found)

    def _note(self, attempts: set[Attempt], *, is_before_first: bool) -> None:
        self._attempted |= {
            attempt
            for attempt in attempts
            # An entry that the first ranking has interrupted has another chance after it.
            if self.standings.rows_of(attempt[0]) or not (is_before_first or attempt[0] in self._late)
        }

    def _round(self, entry: Configuration, size: int) -> int:
        return self.standings.rounds_of(entry) if size == self.standings.rows else 0

    def _next(self) -> Trial | None:
        """Return the next trial, or None if nothing is left to do."""
        is_early = self.budget.elapsed_seconds < TRYING_SHARE * self.budget.seconds
        # After these, an entry that seems to be the best one so far is measured at once.
        leaders = LEADERS if len(self.standings.measured) < LEADERS else 1
        return (
            self._of_baseline()
            or self._untried(first=True)
            or (self._on_all_rows(leaders) if is_early else None)
            or (self._untried(first=False) if is_early else None)
            or self._on_all_rows(None)
            or self._once_more(LEADERS, 2)
            or self._untried(first=False)
            or self._once_more(None, ROUNDS)
        )

    def _of_baseline(self) -> Trial | None:
        """Return a trial of the user's own format: on samples, then on all rows if that is cheap."""
        entry = self.standings.baseline
        if entry is None or self.standings.rows in self.standings.rows_of(entry):
            return None
        if self._small and not self._is_attempted(entry, self._small[0]):
            return Trial((entry,), self._small, FIRST_LIMIT_SECONDS)
        limit = BASELINE_SHARE * self.measuring_seconds
        # Of one that was not finished on a sample, nothing is known.
        is_known = not self._small or self.standings.seconds_of(entry) > 0
        if not is_known or self._is_attempted(entry, self.standings.rows):
            return None
        if CALLS * self.standings.seconds_of(entry) > limit:
            return None  # its estimate has to do
        return Trial((entry,), (self.standings.rows,), limit)

    def _untried(self, *, first: bool) -> Trial | None:
        """Return a trial of the next format that has not been measured."""
        if not self._small:
            return None
        left = [
            each
            for each in self.standings.live
            if (each in self._first) is first and not self._is_attempted(each, self._small[0])
        ]
        if not left:
            return None
        # Choices of a format share a process, and so its imports.
        same = tuple(each for each in left if each.format == left[0].format)
        return Trial(same, self._small, FIRST_LIMIT_SECONDS if first else SAMPLE_LIMIT_SECONDS)

    def _is_attempted(self, entry: Configuration, size: int) -> bool:
        measured = size in self.standings.rows_of(entry) and size != self.standings.rows
        return measured or (entry, size, self._round(entry, size)) in self._attempted

    def _on_all_rows(self, most: int | None) -> Trial | None:
        """Return a trial of the best of so many entries, or of all, that lacks values on all rows."""
        for entry in self._by_promise()[:most]:
            sizes, size = self.standings.rows_of(entry), self.standings.rows
            if size in sizes or not self._has_time(entry):
                continue
            is_dear = CALLS * self.standings.seconds_of(entry) > DEAR_SECONDS
            if most is None and is_dear and self._large and self._large not in sizes:
                size = self._large
            if not self._is_attempted(entry, size):
                return self._single(entry, size)
        return None

    def _once_more(self, most: int | None, rounds: int) -> Trial | None:
        """Return a trial of one of the best entries, or of all, with fewer rounds than these."""
        if not self._is_contested:
            return None
        lacking = self._lacking(self._by_promise()[:most], rounds)
        found = [each for each in lacking if self._has_time(each)]
        if not found:
            return None
        return self._single(min(found, key=self.standings.rounds_of), self.standings.rows)

    @property
    def _is_contested(self) -> bool:
        """Whether several entries can still win."""
        return len(self.standings.live) > 1

    def _lacking(self, entries: Collection[Configuration], rounds: int) -> list[Configuration]:
        """Return the entries with values on all rows, but of fewer rounds than these."""
        return [
            each
            for each in entries
            if 0 < self.standings.rounds_of(each) < rounds
            and not self._is_attempted(each, self.standings.rows)
        ]

    def _single(self, entry: Configuration, size: int) -> Trial:
        # Without samples, this may be the first start of its library.
        is_slow = entry in self._late or not self._small
        least = SAMPLE_LIMIT_SECONDS if is_slow else FIRST_LIMIT_SECONDS
        limit = max(least, 4 * CALLS * self.standings.seconds_of(entry))
        return Trial((entry,), (size,), limit)

    def _has_time(self, entry: Configuration) -> bool:
        """Tell whether one call of each step on all rows, by its estimate, fits into the budget."""
        return self.standings.seconds_of(entry) < self.measuring_seconds

    def _by_promise(self) -> list[Configuration]:
        """Return the live entries, best first; those without a ranking yet come last."""
        ranked = [each.candidate.configuration for each in self.answer.ranked] if self.answer else []
        places = {entry: place for place, entry in enumerate(ranked)}
        # Without samples, nothing but a measurement on all rows tells what an unranked entry is worth.
        live = [each for each in self.standings.live if each in places or not self._small]
        return sorted(live, key=lambda each: places.get(each, len(places)))

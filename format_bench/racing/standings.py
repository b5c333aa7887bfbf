"""Standings of a race: the records so far, the ranking that follows, and the entries that are out.

An entry is out when its best score within its bounds is worse than the worst one of another entry: the
rule of Hoeffding races (Maron and Moore, "Hoeffding races: accelerating model selection search for
classification and function approximation", NIPS 6, 1994). Scores and bounds come from
`format_bench.recommendation.scoring`, on values that are measured or estimated for all rows.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from adapter_core.errors import InvalidWeightError, NoCandidateError
from format_bench.recommendation import purposes
from format_bench.recommendation.purposes import Criteria, Wish
from format_bench.recommendation.recommend import Excluded, Ranked, Recommendation, choose, recommend
from format_bench.recommendation.scope import one_suite
from format_bench.recommendation.scoring import ESTIMATES, checked
from format_bench.results.candidates import Configuration, candidates_of
from format_bench.results.display.text import format_ratio, joined, plural
from format_bench.results.disturbance import Disturbance
from format_bench.results.load import Results
from format_bench.results.metrics import Measure
from format_bench.results.records import Record
from format_bench.runner.estimates import estimate, seconds_of


class Drop(NamedTuple):
    """An entry that is out; of no rows, by a declaration."""

    configuration: Configuration
    rows: int
    """Rows of the largest sample on which it was measured; 0 if it was not."""
    reason: str
    """A sentence without a full stop."""


class Standings:
    """Records and drops of a race.

    Parameters
    ----------
    name : str
        Name of the results.
    rows : int
        All rows.
    entries : sequence of Configuration
        The entries of the race, in the order in which they are tried.
    wish : Wish
        Weights and requirements.
    item : str
        Unit of the size of the data.
    """

    def __init__(
        self, name: str, rows: int, entries: Sequence[Configuration], wish: Wish, item: str = "row"
    ) -> None:
        self.name, self.rows, self.entries, self.wish = name, rows, entries, wish
        self.item = item
        self._records: dict[Configuration, dict[Measure, dict[int, Record]]] = defaultdict(dict)
        self.drops: dict[Configuration, Drop] = {}
        self.unavailable: dict[str, str] = {}
        """Why formats are not entries, by label: a package is missing."""
        self.metadata: dict[str, Any] = {}
        """Facts of the data and of the machine, as the metadata of a run have them."""
        self.baseline: Configuration | None = None
        """The configuration of the user's own file: measured before all others, also if it is out."""

    def add(self, records: Iterable[Record]) -> None:
        """Take new records; a later one of a cell replaces the earlier one."""
        for record in records:
            cells = self._records[Configuration.of(record)]
            cells.setdefault(Measure.of(record).comparable, {})[record.rows] = record

    def rows_of(self, entry: Configuration) -> list[int]:
        """Return the numbers of rows on which an entry was measured, ascending."""
        return sorted({rows for cells in self._records[entry].values() for rows in cells})

    def rounds_of(self, entry: Configuration) -> int:
        """Return the rounds of an entry on all rows."""
        cells = (cells.get(self.rows) for cells in self._records[entry].values())
        return max((each.rounds for each in cells if each), default=0)

    def seconds_of(self, entry: Configuration) -> float:
        """Return the time of one call of each step on all rows, measured or estimated."""
        return seconds_of((each.values() for each in self._records[entry].values()), self.rows)

    @property
    def measured(self) -> list[Configuration]:
        """The entries that have a value of all rows, in or out."""
        return [
            entry
            for entry in self.entries
            if any(
                self.rows in cells and cells[self.rows].value is not None
                for cells in self._records[entry].values()
            )
        ]

    @property
    def live(self) -> list[Configuration]:
        """The entries that can still win, measured or not."""
        return [each for each in self.entries if each not in self.drops]

    def drop(self, entry: Configuration, reason: str) -> Drop:
        """Take an entry out of the race."""
        found = Drop(entry, max(self.rows_of(entry), default=0), reason)
        self.drops[entry] = found
        return found

    def answer(self) -> Recommendation | None:
        """Return the ranking of the entries that are in, or None if nothing can be ranked yet.

        It has no caveats, and comes many times in a race.
        """
        try:
            results, criteria = self._asked(only_full=False)
            needed = self.wish.speeds.needed(checked(criteria.weights))
            scope = one_suite(results, needed)
            return choose(scope, criteria.weights, criteria.requirements, self.wish.speeds)
        except (NoCandidateError, InvalidWeightError):
            return None

    def recommendation(self, *, only_full: bool = False) -> Recommendation:
        """Return the recommendation by the records so far.

        Parameters
        ----------
        only_full : bool
            Rank all entries that were measured on all rows, also those that are out; by default, those
            that are in, with estimates.

        Raises
        ------
        NoCandidateError
            If no entry can be chosen.
        InvalidWeightError
            If no entry has values of everything that has a weight.
        """
        results, criteria = self._asked(only_full=only_full)
        answer = recommend(results, criteria.weights, criteria.requirements, speeds=self.wish.speeds)
        answer = replace(answer, caveats=[*answer.caveats, *criteria.caveats])
        if not only_full:
            measured = [
                each
                for found in self._records.values()
                for cells in found.values()
                for each in cells.values()
            ]
            answer = replace(answer, noise=ESTIMATES, disturbance=Disturbance.of(results, measured))
        if answer.own and not answer.own.baseline and self.baseline and self.rows_of(self.baseline):
            cells = self._records[self.baseline].values()
            (own,) = candidates_of(estimate(each.values(), self.rows) for each in cells)
            answer = replace(answer, own=replace(answer.own, baseline=own))
        return answer

    def _asked(self, *, only_full: bool) -> tuple[Results, Criteria]:
        """Return the results that are ranked, and the criteria.

        Raises the errors of `recommendation`.
        """
        records = [record for entry in self.entries for record in self._cells(entry, full=only_full)]
        if not records:
            if self.live:
                raise NoCandidateError(
                    f"the time ended before any of {plural(len(self.live), 'candidate')} was measured; "
                    "a longer --time-budget measures some; the same command resumes from here"
                )
            reasons = joined(dict.fromkeys(each.reason for each in self.drops.values()))
            raise NoCandidateError(f"no candidate is left: {reasons}")
        results = Results(self.name, records, [self.metadata])
        return results, purposes.criteria_for(results, self.wish)

    def _cells(self, entry: Configuration, *, full: bool) -> Iterable[Record]:
        cells = self._records[entry].values()
        if full:
            return [each[self.rows] for each in cells if self.rows in each]
        return [] if entry in self.drops else [estimate(each.values(), self.rows) for each in cells]

    def drop_failed(self) -> list[Drop]:
        """Take out the entries that were measured and have no value at all; return them."""
        found = []
        for entry in self.live:
            records = [each for cells in self._records[entry].values() for each in cells.values()]
            if records and all(each.value is None for each in records):
                found.append(self.drop(entry, f"{records[-1].status}: {records[-1].sentence}"))
        return found

    def eliminate(self, answer: Recommendation) -> list[Drop]:
        """Take out the entries that cannot win any more by an answer; return them with the reasons."""
        found = []
        # An estimate may be far too low: only values on all rows rule others out.
        if measured := [each for each in answer.ranked if self._is_full(each)]:
            sure = min(measured, key=lambda each: each.band[1])
            beaten = [each for each in answer.ranked if each.band[0] > sure.band[1]]
            found = [self.drop(each.candidate.configuration, _beaten(each, sure)) for each in beaten]
        return found + [
            self.drop(each.candidate.configuration, _reason(each)) for each in answer.excluded
        ]

    def _is_full(self, ranked: Ranked) -> bool:
        return self.rows in self.rows_of(ranked.candidate.configuration)


def _beaten(beaten: Ranked, sure: Ranked) -> str:
    return (
        f"its score is at least {format_ratio(beaten.band[0])}, "
        f"that of {sure.candidate.name} at most {format_ratio(sure.band[1])}"
    )


def _reason(excluded: Excluded) -> str:
    return joined(excluded.reasons.values(), most=None) if excluded.reasons else excluded.empty

"""Rankings that turn around between conditions: pairs of configurations whose order differs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import TypeVar

from format_bench.report.model import SuiteResults
from format_bench.results.candidates import Configuration
from format_bench.results.conditions import place_of
from format_bench.results.display.text import joined, quantity
from format_bench.results.groups import ComparisonGroup, ResultCell
from format_bench.results.metrics import LEADERS, Measure

Name = TypeVar("Name")
Place = TypeVar("Place")

# Times of durable saves are ranked here alone: only they reach the medium.
_RANKED = {"durable save time", *(each.name for each in LEADERS)}

# How far two values without intervals must be apart, as a ratio.
# Chosen, not measured.
_APART = 1.25


@dataclass(frozen=True)
class Turn:
    """Two configurations that are each ahead of the other under some condition, beyond noise."""

    data: str
    """The data set, with the conditions that all groups share."""
    axis: str
    """The condition that decides, e.g. "medium"."""
    measure: Measure
    one: Configuration
    other: Configuration
    one_ahead: tuple[ComparisonGroup, ...]
    """The groups, one for each value of the axis, in which the first is ahead."""
    other_ahead: tuple[ComparisonGroup, ...]

    def places(self, groups: Iterable[ComparisonGroup]) -> str:
        """Return values of the axis with those measured, e.g. "tmpfs (50 ms before 90 ms)"."""
        return joined([f"{self._condition(each)} ({self._values(each)})" for each in groups])

    def _condition(self, group: ComparisonGroup) -> str:
        value = group.conditions.get(self.axis, "none")
        return value if self.axis == "medium" else f"{self.axis} {value}"

    def _values(self, group: ComparisonGroup) -> str:
        cells = [group.cell(each, self.measure) for each in (self.one, self.other)]
        low, high = sorted(cells, key=lambda cell: cell.value or 0.0)
        return f"{quantity(low.value or 0, low.unit)} before {quantity(high.value or 0, high.unit)}"


def turned(
    names: Iterable[Name], places: Iterable[Place], is_ahead: Callable[[Place, Name, Name], bool]
) -> Iterator[tuple[Name, Name, list[Place], list[Place]]]:
    """Yield pairs whose order differs: with the places where the first, and the other, is ahead.

    Parameters
    ----------
    names, places : iterable
        All that may be a pair, and where they are compared.
    is_ahead : callable
        Return whether at a place one is ahead of another.
    """
    places = list(places)
    for one, other in combinations(names, 2):
        first = [each for each in places if is_ahead(each, one, other)]
        second = [each for each in places if is_ahead(each, other, one)]
        if first and second:
            yield one, other, first, second


def turns(suite: SuiteResults) -> list[Turn]:
    """Return the pairs whose order differs by one condition, by data set and measure."""
    found: list[Turn] = []
    for axis in sorted({each for group in suite.groups for each in group.conditions}):
        alike: dict[tuple[object, ...], list[ComparisonGroup]] = {}
        for group in suite.groups:
            place = place_of(group.data, group.conditions | {axis: None})
            threads = "" if axis == "threads" else group.threads
            alike.setdefault((place, group.rows, threads, group.suite), []).append(group)
        for groups in alike.values():
            if len(groups) > 1:
                place = place_of(groups[0].data, groups[0].conditions | {axis: None})
                found += _turns(axis, place, groups)
    return found


def _turns(axis: str, place: str, groups: list[ComparisonGroup]) -> Iterator[Turn]:
    measures = dict.fromkeys(
        measure
        for group in groups
        for measure in (*group.measures, *group.query_measures)
        if measure.metric in _RANKED and not measure.is_exact
    )
    configurations = dict.fromkeys(each for group in groups for each in group.configurations)
    for measure in measures:

        def is_ahead(
            group: ComparisonGroup,
            one: Configuration,
            other: Configuration,
            measure: Measure = measure,
        ) -> bool:
            return is_clearly_below(group.cell(one, measure), group.cell(other, measure))

        for one, other, first, second in turned(configurations, groups, is_ahead):
            yield Turn(place, axis, measure, one, other, tuple(first), tuple(second))


def is_clearly_below(one: ResultCell, other: ResultCell) -> bool:
    """Return whether a value is below another beyond noise.

    Their intervals lie apart; of values without intervals, one is more than a quarter larger.
    """
    if one.value is None or other.value is None:
        return False
    if one.interval and other.interval:
        return one.interval[1] < other.interval[0]
    return one.value * _APART < other.value


HEADER = ["data set", "measure", "format", "is ahead on", "of format", "which is ahead on"]


def rows_of_turns(suites: Iterable[SuiteResults]) -> list[list[str]]:
    """Return the turns of all suites as rows below `HEADER`."""
    return [
        [
            each.data,
            str(each.measure),
            str(each.one),
            each.places(each.one_ahead),
            str(each.other),
            each.places(each.other_ahead),
        ]
        for suite in suites
        for each in turns(suite)
    ]

"""Selection of measured numbers: by format, codec, data set, metric, query and conditions."""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Any

from format_bench.report.model import SuiteResults, results_of_suite
from format_bench.report.queries import query_names
from format_bench.results.candidates import Configuration
from format_bench.results.conditions import Conditions
from format_bench.results.display.text import quantity
from format_bench.results.groups import ComparisonGroup
from format_bench.results.load import Results
from format_bench.results.metrics import Measure
from format_bench.results.status import CellStatus

NONE = "none"
"""Name of the codec of files without one, as on the command line."""

VALUE = CellStatus.VALUE.value

_ELSE = " else "

Wanted = Mapping[str, str | int | list[str]]
"""Patterns by the name of a field of `Number` or of an axis; `per` divides by "row" or "size"."""

SIZE = Measure("size")

_OF_NO_CELL = {
    *("value", "unit", "interval", "status", "sentence"),
    *("algorithm", "heading", "dataset", "conditions", "family"),
}
"""Fields of a number that follow from others, or are measured."""


@dataclass(frozen=True)
class Number:
    """A measured value with all that distinguishes it from others."""

    format: str
    codec: str
    algorithm: str
    """The codec by its common name; formats name some differently."""
    level: int | None
    track: str
    data: str
    """The data set alone."""
    conditions: Conditions
    """Values of further axes, e.g. the medium."""
    dataset: str
    """The data set with these conditions."""
    rows: int
    threads: str
    metric: str
    cache: str
    """"warm", "cold" or empty."""
    query: str
    heading: str
    """Kind of the query."""
    family: str
    value: float
    unit: str
    interval: tuple[float, float] | None = None
    status: str = VALUE
    sentence: str = ""

    @property
    def name(self) -> str:
        """The configuration in words, e.g. "Parquet zstd 3"."""
        codec = None if self.codec == NONE else self.codec
        settings, bound = (self.conditions.get(each, "") for each in ("settings", "error bound"))
        fields = self.format, codec, self.level, "all", self.track, settings, bound
        return str(Configuration(*fields, family=self.family))

    @property
    def quantity(self) -> str:
        """The value with its unit."""
        return quantity(self.value, self.unit)

    @property
    def measure(self) -> str:
        """The measure in words, e.g. "cold read time of cut"."""
        return Measure(self.metric, self.cache or None, self.query).phrase

    def without(self, names: Collection[str]) -> tuple[object, ...]:
        """Return all that identifies the number but some fields; a codec goes with its level."""
        dropped = {*names, *_OF_NO_CELL}
        if "codec" in dropped:
            dropped.add("level")
        if "dataset" in names:
            dropped.add("data")
        conditions = tuple(each for each in self.conditions.items() if each[0] not in dropped)
        others = (value for name, value in vars(self).items() if name not in dropped)
        return (conditions, *others)

    def field(self, name: str) -> Any:
        """Return a field, or the value of an axis, which is empty if it has none."""
        return vars(self)[name] if name in vars(self) else self.conditions.get(name, "")


@dataclass(frozen=True)
class Numbers:
    """The numbers of one suite, and its groups."""

    suite: SuiteResults
    every: tuple[Number, ...]
    names: Mapping[tuple[str, int, str], str]
    """Names of the groups, by data set, rows and threads."""
    missing: tuple[Number, ...] = ()
    """The cells without a value, whose status and sentence have the reason."""

    @classmethod
    def of(cls, results: Results, suite: str, aliases: Mapping[str, str] | None = None) -> Numbers:
        """Return the numbers of a suite in results.

        Parameters
        ----------
        results : Results
            Results of one run.
        suite : str
            Name of a suite.
        aliases : dict, optional
            Common names of codecs by the names that formats give them.
        """
        found = results_of_suite(results, suite)
        names = {(each.dataset, each.rows, each.threads): each.name for each in found.groups}
        headings = {name: query.heading for name, query in query_names(suite).items()}
        cells = [number for group in found.groups for number in _numbers(group, aliases or {}, headings)]
        every = tuple(each for each in cells if each.status == VALUE)
        return cls(found, every, names, tuple(each for each in cells if each.status != VALUE))

    def select(self, wanted: Wanted) -> list[Number]:
        """Return the numbers that match all patterns.

        A pattern is a text in which ``*`` is any text, several in a list of which one must match, and
        with ``!`` before one that must not match. In a list of formats "A else B" is B where A has no
        number. "warm" also matches values without a state of the
        cache, which some suites take for granted.
        """
        patterns: dict[str, Any] = {name: pattern for name, pattern in wanted.items() if name != "per"}
        formats = patterns.get("format")
        if isinstance(formats, list) and any(_ELSE in each for each in formats):
            patterns["format"] = self._present(patterns)
        found = [each for each in self.every if all(_matches(each, *item) for item in patterns.items())]
        if wanted.get("per") == "row":
            # asv's results of a case that failed before loading its data do not say how many there are.
            return [_scaled(each, each.rows) for each in found if each.rows]
        if wanted.get("per") == "size":
            return [
                replace(_scaled(each, self.sizes[key]), unit="share")
                for each in found
                if self.sizes.get(key := _of_file(each))
            ]
        return found

    def gaps(self, wanted: Wanted) -> list[Number]:
        """Return the cells without a value that match all patterns."""
        patterns = [item for item in wanted.items() if item[0] != "per"]
        return [each for each in self.missing if all(_matches(each, *item) for item in patterns)]

    def _present(self, patterns: dict[str, Any]) -> list[str]:
        """Return patterns of formats, of each list of alternatives the first that has a number."""
        others = {name: pattern for name, pattern in patterns.items() if name != "format"}
        choices = [each.split(_ELSE) for each in patterns["format"]]
        return [
            next((one for one in each if self.select({**others, "format": one})), each[-1])
            for each in choices
        ]

    @functools.cached_property
    def sizes(self) -> dict[tuple[object, ...], float]:
        """Bytes of the saved files, by the fields that identify a file."""
        return {_of_file(each): each.value for each in self.every if each.metric == SIZE.metric}

    def scopes(self, *, largest_first: bool = False) -> list[Numbers]:
        """Return the numbers of each group with the group alone."""
        groups = self.suite.groups
        if largest_first:
            groups = sorted(groups, key=lambda each: (each.rows, each.threads == "all"), reverse=True)
        return [
            replace(
                self,
                suite=SuiteResults(self.suite.name, [group]),
                every=tuple(each for each in self.every if _is_of(each, group)),
                missing=tuple(each for each in self.missing if _is_of(each, group)),
            )
            for group in groups
        ]

    def plain(self) -> Numbers:
        """Return the numbers of files saved without other settings, and without an error bound."""
        axes = ("settings", "error bound")
        every, missing = (
            tuple(each for each in cells if not any(each.field(axis) for axis in axes))
            for cells in (self.every, self.missing)
        )
        return replace(self, every=every, missing=missing)

    def merged(self) -> Numbers:
        """Return the numbers of the largest size of each cell: slow ones are measured on less."""
        by_cell = {
            each.without(("rows",)): each for each in sorted(self.every, key=lambda each: each.rows)
        }
        return replace(self, every=tuple(by_cell.values()))

    def place(self, number: Number) -> str:
        """Return the name of a number's group."""
        return self.names[number.dataset, number.rows, number.threads]


def _numbers(
    group: ComparisonGroup, aliases: Mapping[str, str], headings: Mapping[str, str]
) -> Iterator[Number]:
    for (configuration, measure), cell in group.cells.items():
        codec = configuration.codec or NONE
        yield Number(
            format=configuration.format,
            codec=codec,
            algorithm=aliases.get(codec, codec),
            level=configuration.level,
            track=configuration.track,
            data=group.data,
            conditions=group.conditions
            | {"settings": configuration.settings, "error bound": configuration.error_bound},
            dataset=group.dataset,
            rows=group.rows,
            threads=group.threads,
            metric=measure.metric,
            cache=measure.cache or "",
            query=measure.query,
            heading=headings.get(measure.query, measure.query),
            family=configuration.family,
            value=math.nan if cell.value is None else cell.value,
            unit=cell.unit,
            interval=cell.interval,
            status=cell.status if cell.value is None else VALUE,
            sentence=cell.sentence,
        )


def _is_of(number: Number, group: ComparisonGroup) -> bool:
    return (number.dataset, number.rows, number.threads) == (group.dataset, group.rows, group.threads)


def _of_file(number: Number) -> tuple[object, ...]:
    return number.without(("metric", "cache", "query"))


def _scaled(number: Number, by: float) -> Number:
    interval = number.interval and (number.interval[0] / by, number.interval[1] / by)
    return replace(number, value=number.value / by, interval=interval)


def _matches(number: Number, name: str, pattern: str | int | list[str]) -> bool:
    value = number.field(name)
    if isinstance(pattern, int):
        return bool(value == pattern)
    patterns = [pattern] if isinstance(pattern, str) else pattern
    if name == "cache" and not value:
        return "warm" in patterns
    refused = [each[1:] for each in patterns if each.startswith("!")]
    allowed = [each for each in patterns if not each.startswith("!")]
    text = str(value)
    return not any(_fits(text, each) for each in refused) and (
        not allowed or any(_fits(text, each) for each in allowed)
    )


def _fits(text: str, pattern: str) -> bool:
    return _expression(pattern).fullmatch(text) is not None


@functools.cache
def _expression(pattern: str) -> re.Pattern[str]:
    # Not fnmatch: labels contain brackets.
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)


def counterparts(
    upper: Sequence[Number], lower: Sequence[Number], apart: AbstractSet[str]
) -> Iterator[tuple[Number, Number]]:
    """Yield pairs of numbers that differ in nothing but some fields."""
    by_rest = {each.without(apart): each for each in lower}
    for each in upper:
        if other := by_rest.get(each.without(apart)):
            yield each, other


def first_of(numbers: Sequence[Number], order: Sequence[str]) -> list[Number]:
    """Return numbers in the order of some patterns of formats, those without a codec first."""

    def place(each: Number) -> tuple[object, ...]:
        number = next(
            (at for at, pattern in enumerate(order) if _fits(each.format, pattern)), len(order)
        )
        return number, each.format.casefold(), each.codec != NONE, each.codec, each.level or 0

    return sorted(numbers, key=place)

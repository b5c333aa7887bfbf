"""Verdicts on published findings: the words, the kinds that are counted, and the numbers behind them."""

from __future__ import annotations

import math
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median
from typing import Literal

from format_bench.results.display.text import format_ratio, plural, quantity
from format_bench.studies.declared.selection import Number

Mean = Literal["least", "largest", "median", "mean"]

BOUNDS: dict[str, Callable[[float, float], bool]] = {
    "below": operator.lt,
    "at_most": operator.le,
    "above": operator.gt,
    "at_least": operator.ge,
}

CONFIRMED, IN_PART, REFUTED, DEPENDS = "confirmed", "confirmed in part", "refuted", "depends"
UNDECIDED, NOT_MEASURED = "undecided within the noise", "not measured"
UNTESTABLE = "not testable here"

KINDS = {
    CONFIRMED: "confirmed",
    REFUTED: "refuted",
    DEPENDS: "true of a part or under a condition",
    UNDECIDED: "undecided within the noise",
    UNTESTABLE: "not testable here",
    NOT_MEASURED: "not measured",
}
"""Kinds of verdicts in the order in which they are counted, with the words for their numbers."""


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of numbers, which is 0 if one of them is."""
    return math.exp(fmean(map(math.log, values))) if all(values) else 0.0


_MEANS: dict[str, Callable[[Sequence[float]], float]] = {
    "least": min,
    "largest": max,
    "median": median,
    "mean": geometric_mean,
}


@dataclass(frozen=True)
class Side:
    """One side of a ratio: a number, or the mean of several."""

    name: str
    value: float
    unit: str
    interval: tuple[float, float] | None = None

    @classmethod
    def of(cls, numbers: Sequence[Number], by: Mean) -> Side:
        """Return the mean of numbers, or the least or the largest with its name."""
        if by in {"least", "largest"} or len(numbers) == 1:
            return cls.one((min if by == "least" else max)(numbers, key=lambda each: each.value))
        value = _MEANS[by]([each.value for each in numbers])
        formats = plural(len(numbers), "configuration")
        return cls(f"{by} of {formats}", value, numbers[0].unit)

    @classmethod
    def one(cls, number: Number) -> Side:
        """Return a number as a side."""
        return cls(number.name, number.value, number.unit, number.interval)

    def __str__(self) -> str:
        """Return the name with the value."""
        text = f"{self.value:.1%}" if self.unit == "share" else quantity(self.value, self.unit)
        return f"{self.name} {text}"


@dataclass(frozen=True)
class Ratio:
    """A number by another one, or alone, and the bounds it is held against."""

    upper: Side
    lower: Side | None
    measure: str
    bounds: Sequence[tuple[str, float]]

    @property
    def value(self) -> float:
        """The ratio, or the number itself."""
        return self.upper.value / self.lower.value if self.lower else self.upper.value

    @property
    def holds(self) -> bool | None:
        """Whether it is within the bounds; None if that differs within the intervals of the numbers."""
        found = {self._is_within(each) for each in (self.value, *self._ends())}
        return found.pop() if len(found) == 1 else None

    def _is_within(self, value: float) -> bool:
        return all(BOUNDS[name](value, bound) for name, bound in self.bounds)

    def _ends(self) -> tuple[float, ...]:
        one, other = self.upper.interval, self.lower.interval if self.lower else (1.0, 1.0)
        if one is None or other is None or min(other) <= 0:
            return ()
        return one[0] / other[1], one[1] / other[0]

    def __str__(self) -> str:
        """Return both sides and the ratio."""
        if self.lower is None:
            return str(self.upper)
        return f"{self.upper} / {self.lower} = {format_ratio(self.value)}"


@dataclass(frozen=True)
class Verdict:
    """Answer of measured numbers to a claim."""

    verdict: str
    evidence: str
    ratios: Sequence[Ratio] = ()
    score: float | None = None
    """For the rule *best*: the mean of the expected one by the best."""

    def __str__(self) -> str:
        """Return the verdict; of the rule *best* with the factor to the best one."""
        by = f" by {format_ratio(self.score)}" if self.score is not None and self.score > 1 else ""
        return f"{self.verdict}{by}"

    @property
    def is_measured(self) -> bool:
        """Whether the numbers are there."""
        return self.kind not in {NOT_MEASURED, UNTESTABLE}

    @property
    def kind(self) -> str:
        """The kind that is counted: one of `CONFIRMED`, `REFUTED`, `DEPENDS` and so on."""
        word = self.verdict.partition(":")[0]
        if word == IN_PART or word.startswith(DEPENDS):
            return DEPENDS
        # Other words are an entry's own for a claim that is no longer true.
        return word if word in KINDS else REFUTED


def counts_of(verdicts: Iterable[Verdict]) -> str:
    """Return how many verdicts there are of each kind, as a sentence."""
    found = Counter(each.kind for each in verdicts)
    words = [f"{found[kind]} {words}" for kind, words in KINDS.items() if found[kind]]
    return f"{plural(found.total(), 'claim')}: {', '.join(words)}."

"""Published findings as entries: the numbers that each compares, and the rule of its verdict.

Three rules decide all of them. *ratio* holds numbers, alone or by others, against bounds. *best* ranks
the values of a field, such as codecs, by the mean of their ratios to one of them. *order* correlates the
numbers with the published ones of a table. The published numbers, where the project has them, are judged
by the same rules, so that a reader sees both sides of a verdict.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import fmean, median
from typing import Any, Literal

import msgspec

from adapter_core.errors import InvalidResultsError
from format_bench.comparison import FEWEST_RANKED, spearman
from format_bench.results.display.text import format_ratio, joined, plural
from format_bench.studies.declared.blocks import imported
from format_bench.studies.declared.break_even import BreakEven
from format_bench.studies.declared.selection import NONE, Number, Numbers, counterparts
from format_bench.studies.declared.verdicts import (
    BOUNDS,
    CONFIRMED,
    DEPENDS,
    IN_PART,
    NOT_MEASURED,
    REFUTED,
    UNDECIDED,
    UNTESTABLE,
    Mean,
    Ratio,
    Side,
    Verdict,
    geometric_mean,
)

# Ratios of one comparison that are written out; of more, their number, mean and range.
_SHOWN = 4

# Fields in which published numbers may differ from ours: the size, and circumstances left out.
_FREE = {"rows", "level", "cache", "threads", "medium"}


class Compared(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Numbers that a claim compares, with the bounds within which it is true."""

    select: dict[str, Any] = {}
    over: dict[str, Any] | None = None
    """Fields in which the numbers below differ; without them, the numbers themselves are compared."""
    by: Mean | None = None
    """How the numbers become one; else each is compared with its counterpart."""
    over_by: Mean | None = None
    pairs: Literal["counterparts", "all"] = "counterparts"
    """Whether each number has the numbers of the same cell below it, or all."""
    where: dict[str, Any] | None = None
    """Another measure of the same file, whose bounds it must be within."""
    over_where: dict[str, Any] | None = None
    below: float | None = None
    at_most: float | None = None
    above: float | None = None
    at_least: float | None = None
    optional: bool = False
    """Whether the claim can be judged without it."""

    @property
    def bounds(self) -> list[tuple[str, float]]:
        """The names and values of its bounds; a comparison without any is shown alone."""
        return [(name, bound) for name in BOUNDS if (bound := getattr(self, name)) is not None]


# A configuration without and with the fields that the rule *best* changes.
_Key = tuple[object, object]

# Ratios to the plain configuration, by measure, ranked value and configuration.
_Ratios = dict[str, dict[str, dict[_Key, float]]]


class Claim(msgspec.Struct, forbid_unknown_fields=True, frozen=True, kw_only=True):
    """A published finding."""

    claim: str
    published: str = ""
    """The published figure with its table, in words."""
    definition: str = ""
    """Definition of the paper's numbers, where it matters; its rule is `numbers`."""
    ours: list[Compared] = []
    """Numbers by another definition, judged beside the paper's for the rule *ratio*."""
    our_definition: str = ""
    on: str = ""
    """Its condition, if both definitions have different verdicts, or if it is true in part."""
    suite: str = ""
    """The suite of its numbers, if it is another than the study's."""
    across: bool = False
    """Whether its numbers are of several groups of results, so that it is judged on all together."""
    of_one_size: bool = False
    """Or whether its numbers are of one size: those of the largest group that has all of them."""
    untestable: str = ""
    """Reason why no numbers can decide it here."""
    kept: dict[Literal["verdict", "evidence"], str] = {}
    """Verdict of an earlier measurement whose page lacks numbers for the rule."""
    rule: Literal["ratio", "best", "order"] = "ratio"
    select: dict[str, Any] = {}
    """Patterns that all its numbers share."""
    published_as: dict[str, Any] = {}
    """Patterns of the published numbers, for the rule *order*, in fields where they differ."""
    numbers: list[Compared] = []
    confirmed_from: float = 1.0
    """Share of the ratios within their bounds, or rank correlation, from which it is confirmed."""
    in_part_from: float = 1.0
    """And from which it is in part."""
    else_: str = msgspec.field(name="else", default=REFUTED)
    """Verdict if it is not."""
    note: str = ""
    tried: str = ""
    """Or a function, "module:name", that returns whether the claim is true, and the evidence."""
    of: str = "algorithm"
    """For the rule *best*: the field whose values are ranked."""
    expected: str = ""
    measures: list[dict[str, Any]] = []
    shown: list[dict[str, Any]] = []
    """Measures that are shown, and do not count."""
    over: dict[str, Any] = msgspec.field(default_factory=lambda: {"codec": NONE})
    by: Literal["mean", "median"] = "mean"
    """How the ratios of one measure become one."""
    complete: bool = False
    """Whether only configurations with all measures count, and only values beside the plain one."""
    margin: float = 1.0
    """Factor within which two means are equal."""
    depends_on: str = ""
    """A field or an axis: each of its values is judged alone, too, and the verdicts may differ."""
    break_even: BreakEven | None = None
    """Or up to which speed of the disk it is true; beside `ours`, of the disk of these numbers."""

    def judge(self, numbers: Numbers, published: Numbers | None = None) -> Verdict:
        """Return the verdict of measured numbers; for the rule *order* beside the published ones.

        Files saved with other settings do not count: a published label is that of the plain call.
        """
        numbers = numbers.plain()
        if self.untestable:
            return Verdict(UNTESTABLE, self.untestable)
        if self.tried:
            try:
                is_true, evidence = imported(self.tried)()
            except ImportError as error:
                return Verdict(NOT_MEASURED, str(error))
            return Verdict(CONFIRMED if is_true else self.else_, evidence)
        if self.ours:
            return self._by_both(numbers)
        try:
            found = self._by_rule(numbers, published)
        except InvalidResultsError as error:
            return Verdict(NOT_MEASURED, str(error))
        if self.depends_on:
            return self._by_part(found, numbers)
        limit = self.break_even.words(self.select, numbers) if self.break_even else ""
        if limit:
            return replace(
                found, verdict=f"{DEPENDS} on the disk", evidence=f"{limit}; {found.evidence}"
            )
        return found

    def _by_rule(self, numbers: Numbers, published: Numbers | None) -> Verdict:
        match self.rule:
            case "best":
                return self._best(numbers)
            case "order":
                return self._order(numbers, published)
            case _:
                return self._by_ratios(numbers)

    def _by_both(self, numbers: Numbers) -> Verdict:
        """Return the verdict by the paper's definition and by ours, which may differ."""
        one, other = (
            msgspec.structs.replace(self, numbers=each, ours=[], break_even=limit).judge(numbers)
            for each, limit in ((self.numbers, None), (self.ours, self.break_even))
        )
        if not other.is_measured:
            return one
        words = f"by ours, {self.our_definition}: {other}, {other.evidence}"
        if not one.is_measured:
            return replace(other, evidence=words)
        verdict = one.verdict if one.kind == other.kind else f"{DEPENDS} on {self.on}"
        evidence = f"by the paper's definition: {one}, {one.evidence}; {words}"
        return replace(one, verdict=verdict, evidence=evidence)

    def _order(self, numbers: Numbers, published: Numbers | None) -> Verdict:
        theirs = published.select(self.select | self.published_as) if published else []
        own = numbers.merged().select(self.select)
        apart = _FREE | self.published_as.keys()
        pairs = list(counterparts(_of_tracks(own), _of_tracks(theirs), apart))
        rho = spearman([a.value for a, _ in pairs], [b.value for _, b in pairs])
        if rho is None:
            raise InvalidResultsError(
                f"{plural(len(pairs), 'value')} of the published table, of {FEWEST_RANKED} that an "
                "order needs"
            )
        evidence = f"Spearman's rank correlation {rho:.2f} of {plural(len(pairs), 'value')}"
        return Verdict(self._decided(rho), evidence)

    def _decided(self, share: float) -> str:
        """Return the verdict of a share, or of a correlation."""
        if share >= self.confirmed_from:
            return CONFIRMED
        if share >= self.in_part_from:
            return f"{DEPENDS} on {self.on}" if self.on else IN_PART
        return self.else_

    def _by_part(self, whole: Verdict, numbers: Numbers) -> Verdict:
        """Return the verdict on all numbers; if values of a field have different ones, these."""
        parts = {}
        for value in dict.fromkeys(each.field(self.depends_on) for each in numbers.select(self.select)):
            alone = self.select | {self.depends_on: value}
            verdict = msgspec.structs.replace(self, select=alone, depends_on="").judge(numbers)
            if verdict.is_measured:
                parts[value] = verdict
        if len({each.kind == CONFIRMED for each in parts.values()}) < 2:  # noqa: PLR2004 (yes and no)
            return whole
        words = "; ".join(f"{value}: {each}" for value, each in parts.items())
        return replace(
            whole, verdict=f"{DEPENDS} on the {self.depends_on}", evidence=f"{words}; {whole.evidence}"
        )

    def _by_ratios(self, numbers: Numbers) -> Verdict:
        found: list[Ratio] = []
        texts: dict[str, list[str]] = {}
        for each in self.numbers:
            ratios = list(self._ratios(each, numbers))
            if not ratios and not each.optional:
                wanted = joined(map(_words, (self.select | each.select).values()), most=None)
                raise InvalidResultsError(f"no values of {wanted}")
            found += ratios
            for text in _in_words(ratios):
                texts.setdefault(_measure_of(ratios), []).append(text)
        decided = [holds for each in found if each.bounds and (holds := each.holds) is not None]
        if not any(each.bounds for each in found):
            raise InvalidResultsError("none of its numbers")
        evidence = "; ".join(f"{measure}: {', '.join(each)}" for measure, each in texts.items())
        if not decided:
            return Verdict(UNDECIDED, evidence, found)
        share = fmean(decided)
        verdict = self._decided(share)
        # One within the noise is no confirmation of all.
        if self.confirmed_from == share == 1 and len(decided) < sum(bool(each.bounds) for each in found):
            verdict = UNDECIDED
        if len(decided) > _SHOWN:
            evidence += f"; {share:.0%} within the bounds"
        return Verdict(verdict, evidence, found)

    def _ratios(self, compared: Compared, numbers: Numbers) -> Iterator[Ratio]:
        wanted = self.select | compared.select
        upper = _within(compared.where, numbers, numbers.select(wanted))
        if compared.over is None:
            for each in [Side.of(upper, compared.by)] if upper and compared.by else map(Side.one, upper):
                yield Ratio(each, None, upper[0].measure, compared.bounds)
            return
        below = numbers.select(wanted | compared.over)
        below = [each for each in _within(compared.over_where, numbers, below) if each.value]
        if compared.by or compared.over_by:
            if upper and below:
                one, other = (
                    Side.of(upper, compared.by or "mean"),
                    Side.of(below, compared.over_by or "mean"),
                )
                yield Ratio(one, other, upper[0].measure, compared.bounds)
        elif compared.pairs == "all":
            for a, b in itertools.product(upper, below):
                yield Ratio(Side.one(a), Side.one(b), a.measure, compared.bounds)
        else:
            for a, b in counterparts(upper, below, {*compared.over, "rows"}):
                yield Ratio(Side.one(a), Side.one(b), a.measure, compared.bounds)

    def _best(self, numbers: Numbers) -> Verdict:
        ratios = {
            measure: self._to_plain(dict(given), numbers) for measure, given in self._measures().items()
        }
        counted = {measure: ratios[measure] for measure in list(ratios)[: len(self.measures)]}
        names = dict.fromkeys(name for found in counted.values() for name in found)
        # Each against the expected one where both are measured: the mean of five stores says nothing
        # about a codec that one store was measured with.
        means = {name: self._mean(name, self.expected, counted) for name in names}
        beside = {name: self._mean(self.expected, name, counted) for name in names}
        if means.get(self.expected) is None:
            raise InvalidResultsError(f"no values of {self.expected}")
        scores = {
            name: own / other
            for name in names
            if (own := means[name]) is not None and (other := beside[name])
        }
        if self.complete and len(scores) == 1:
            raise InvalidResultsError(f"nothing beside {self.expected}")
        order = sorted(scores, key=scores.__getitem__)
        is_best = self.margin * scores[order[0]] >= 1
        everywhere = format_ratio(means[self.expected] or 0.0)
        words = []
        for name in order:
            there = format_ratio(beside[name] or math.inf)
            remark = "" if there == everywhere else f" where {self.expected} is {there}"
            words.append(f"{name} {format_ratio(means[name] or 0.0)}{remark}{self._parts(name, ratios)}")
        words += [f"{name} nowhere beside {self.expected}" for name in names if name not in scores]
        return Verdict(
            CONFIRMED if is_best else f"{REFUTED}: {order[0]} is",
            f"geometric means of {joined(list(counted), most=None)}, by {joined(self.over.values())}: "
            f"{', '.join(words)}",
            score=1 / scores[order[0]],
        )

    def _mean(self, name: str, beside: str, ratios: _Ratios) -> float | None:
        """Return the mean ratio of a value in the files of which another value is known too."""
        both = zip(self._counting(name, ratios), self._counting(beside, ratios), strict=True)
        parts = [
            [value for key, value in own.items() if key[0] in {place for place, _ in others}]
            for own, others in both
        ]
        if not (all(parts) if self.complete else any(parts)):
            return None
        if self.by == "mean":
            return geometric_mean([value for part in parts for value in part])
        return geometric_mean([median(part) for part in parts if part])

    def _counting(self, name: str, ratios: _Ratios) -> list[dict[_Key, float]]:
        """Return the ratios of a value that count, for each measure."""
        parts = [found.get(name, {}) for found in ratios.values()]
        if not self.complete:
            return parts
        common = set.intersection(*map(set, parts))
        return [{key: value for key, value in part.items() if key in common} for part in parts]

    def _measures(self) -> dict[str, dict[str, Any]]:
        every = [*self.measures, *self.shown]
        return {
            " ".join(str(each[name]) for name in ("cache", "metric", "query") if name in each): each
            for each in every
        }

    def _to_plain(self, given: dict[str, Any], numbers: Numbers) -> dict[str, dict[_Key, float]]:
        """Return ratios to the plain configuration, by the ranked value and the configuration."""
        upper = numbers.select(self.select | given)
        below = numbers.select(self.select | given | self.over)
        found: dict[str, dict[_Key, float]] = {}
        for a, b in counterparts(upper, below, {*self.over, "rows"}):
            name = getattr(a, self.of)
            if b.value and a.value and not (self.complete and a == b):
                # Slow codecs are measured on fewer rows of the same file.
                place = a.without(("metric", "cache", "query", "rows", *self.over))
                key = place, a.without(("metric", "cache", "query"))
                found.setdefault(name, {})[key] = a.value / b.value
        return found

    def _parts(self, name: str, ratios: _Ratios) -> str:
        if not self.shown:
            return ""
        texts = [
            f"{measure} {format_ratio(median(found[name].values()))}"
            for measure, found in ratios.items()
            if found.get(name)
        ]
        return f" ({', '.join(texts)})"


def _words(pattern: Any) -> str:
    return " or ".join(pattern) if isinstance(pattern, list) else f"{pattern}"


def _within(where: dict[str, Any] | None, numbers: Numbers, found: list[Number]) -> list[Number]:
    """Return the numbers whose file has another measure within bounds."""
    if where is None:
        return found
    bounds = [(name, where[name]) for name in BOUNDS if name in where]
    others = numbers.select({name: value for name, value in where.items() if name not in BOUNDS})
    values = {each.without(("metric", "cache", "query")): each.value for each in others}
    keys = {each: each.without(("metric", "cache", "query")) for each in found}
    return [
        each
        for each, key in keys.items()
        if key in values and all(BOUNDS[name](values[key], bound) for name, bound in bounds)
    ]


def _measure_of(ratios: Sequence[Ratio]) -> str:
    """Return the measure of some ratios, without the query if they are of several."""
    measures = {each.measure for each in ratios}
    return measures.pop() if len(measures) == 1 else ratios[0].measure.rpartition(" of ")[0]


def _of_tracks(numbers: Sequence[Number]) -> list[Number]:
    """Return numbers without the codec that a track decides, whose name differs between stores."""
    return [replace(each, codec=NONE) if each.track else each for each in numbers]


def _in_words(ratios: Sequence[Ratio]) -> Iterator[str]:
    if len(ratios) <= _SHOWN:
        yield from map(str, ratios)
        return
    values = [each.value for each in ratios]
    lower = {each.lower.name for each in ratios if each.lower}
    beside = f" beside {joined(sorted(lower), most=3)}" if lower else ""
    worst = max(ratios, key=lambda each: each.value)
    yield (
        f"{plural(len({each.upper.name for each in ratios}), 'configuration')}{beside}, "
        f"{plural(len(ratios), 'value')}, geometric mean {format_ratio(geometric_mean(values))}, from "
        f"{format_ratio(min(values))} to {format_ratio(worst.value)} ({worst.upper.name})"
    )

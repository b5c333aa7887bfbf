"""Plan of a store and a layout for a mix of queries: measurements and predictions, ties and gains."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from format_bench.instruments import threads
from format_bench.instruments.intervals import CONFIDENCE, median_interval
from format_bench.planning.cost_model import MOST_ERROR
from format_bench.planning.mix import Mix
from format_bench.planning.planner import Planner, StorePlan, Verified
from format_bench.results.display.text import format_ratio, joined, plural, quantity
from format_bench.results.disturbance import busy_sentence

# Layouts whose share of opening is said.
OPENS_SHOWN = 3


class Gain(NamedTuple):
    """Ratio of the time of a default to the time of the recommended layout, in the same turns."""

    over: Verified
    kind: str
    """Kind of the default."""
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class Plan:
    """Outcome of a planning session."""

    planner: Planner
    stores: list[StorePlan]
    cold: bool
    seconds: float
    """Wall time of the session."""
    load: float
    """Processes that ran or waited for a CPU in the last minute, on average, at the end."""
    metric: str
    """The time of a query that counts."""

    @property
    def mix(self) -> Mix:
        """The queries."""
        return self.planner.mix

    @property
    def turns(self) -> int:
        """Number of turns, earlier sessions' included."""
        return max((len(each.costs) for each in self.ranked), default=0)

    @property
    def ranked(self) -> list[Verified]:
        """The verified layouts, the best first: the fastest, but for the weights of saves and sizes."""
        found = [each for store in self.stores for each in store.verified if each.costs]
        return sorted(found, key=lambda each: each.seconds * self._weight(each))

    def _weight(self, each: Verified) -> float:
        """Return the factor of a layout's time for its save and its size."""
        saved = max(each.save_seconds, 1e-9) ** self.mix.save_power
        return saved * float(max(each.size_bytes, 1)) ** self.mix.size_power

    @property
    def first(self) -> Verified:
        """The recommended layout."""
        return self.ranked[0]

    @property
    def first_store(self) -> StorePlan:
        """Its store."""
        return next(each for each in self.stores if each.label == self.first.layout.store)

    @property
    def ties(self) -> list[Verified]:
        """The layouts whose intervals overlap the first one's."""
        first, *others = self.ranked
        most = first.interval.high * self._weight(first)
        return [each for each in others if each.interval.low * self._weight(each) <= most]

    @property
    def gains(self) -> list[Gain]:
        """The gains of the recommended layout over the defaults of its store."""
        found, of = [], self.first
        for kind in self.planner.defaults:
            for other in self.first_store.verified:
                if kind in other.kinds and other is not of and other.costs:
                    # A layout that was proposed later lacks the first turns.
                    shared = min(len(other.costs), len(of.costs))
                    pairs = zip(other.costs[-shared:], of.costs[-shared:], strict=True)
                    ratios = [one / best for one, best in pairs]
                    interval = median_interval(ratios)
                    median = statistics.median(ratios)
                    found.append(Gain(other, kind, median, interval.low, interval.high))
        return found

    @property
    def prediction_error(self) -> float | None:
        """The median relative error of the predictions of the verified layouts."""
        errors = [
            abs(each.predicted / each.seconds - 1) for each in self.ranked if each.predicted is not None
        ]
        return statistics.median(errors) if errors else None


def answer(plan: Plan) -> list[tuple[str, str]]:
    """Return the answer in three lines, each with its first word: use, because, or."""
    first = plan.first
    lines = [("use", f"{first.layout.store} {plan.planner.words(first.form)}")]
    mean = "geometric mean" if plan.mix.mean == "geometric" else "mean"
    time = "CPU time of a query" if "CPU" in plan.metric else "query"
    because = [f"a {time} of the mix takes {_measured(first)} in the {mean}".replace("a CPU", "the CPU")]
    for gain in plan.gains:
        because.append(
            f"{format_ratio(gain.ratio)} times as long ({format_ratio(gain.low)} to "
            f"{format_ratio(gain.high)}) in {gain.kind}, {_measured(gain.over)}, with "
            f"{quantity(gain.over.size_bytes, 'bytes')} instead of {quantity(first.size_bytes, 'bytes')}"
        )
    same = [each for each in first.kinds if each in plan.planner.defaults]
    if same:
        because.append(f"it is {joined(same)}")
    lines.append(("because", "; ".join(because)))
    if len(plan.ranked) > 1:
        lines.append(("or", _other(plan)))
    return lines


def _measured(each: Verified) -> str:
    low, high = (quantity(one, "seconds") for one in (each.interval.low, each.interval.high))
    predicted = "" if each.predicted is None else f"; predicted {quantity(each.predicted, 'seconds')}"
    return f"{quantity(each.seconds, 'seconds')} ({low} to {high}{predicted})"


def _other(plan: Plan) -> str:
    """Return the runner-up, and how far it is behind: a default that is a tie, or of another store."""
    first, *others = plan.ranked
    defaults = {*plan.planner.defaults}
    usual = [each for each in plan.ties if defaults & {*each.kinds}]
    of_others = [each for each in others if each.layout.store != first.layout.store]
    other = (usual or of_others or others)[0]
    times = format_ratio(other.seconds / first.seconds)
    behind = "a tie: the intervals overlap" if other in plan.ties else f"{times} times the time"
    smaller = first.size_bytes - other.size_bytes
    why = f", and {quantity(smaller, 'bytes')} less" if smaller > 0 else ""
    return f"{other.layout.store} {plan.planner.words(other.form)}: {behind}{why}"


def banner(plan: Plan) -> str:
    """Return a sentence on the noise of a busy machine; empty if it was not busy."""
    return busy_sentence(plan.load, threads.cpus("all"))


def sentences(plan: Plan) -> list[str]:
    """Return the answer in sentences, for pages and programs."""
    words = {"use": "Use {}.", "because": "Because {}.", "or": "Or {}."}
    found = [words[word].format(text) for word, text in answer(plan)]
    return [*found, *_defaults(plan), *_ties(plan), *_predictions(plan)]


def _defaults(plan: Plan) -> Iterator[str]:
    """Yield how far the fastest store in the first kind of default is behind, if it is another one."""
    first, kind = plan.first, plan.planner.defaults[0]
    defaults = [each for each in plan.ranked if kind in each.kinds]
    if defaults and defaults[0].layout.store != first.layout.store:
        yield (
            f"The fastest store in {kind} is {defaults[0].layout.store}, with "
            f"{format_ratio(defaults[0].seconds / first.seconds)} times the time."
        )


def _ties(plan: Plan) -> Iterator[str]:
    if found := plan.ties:
        names = joined((each.name for each in found), most=6)
        yield f"{names} {'is a tie' if len(found) == 1 else 'are ties'}: the intervals overlap."


def _predictions(plan: Plan) -> Iterator[str]:
    error = plan.prediction_error
    if error is not None:
        number = sum(each.predicted is not None for each in plan.ranked)
        yield (
            f"The predicted times of {plural(number, 'verified layout')} differ from the measured "
            f"ones by {error:.0%} in the median."
        )


def caveats(plan: Plan) -> list[str]:
    """Return the grounds of the answer, and the facts that may change it."""
    return [*plan.planner.on_sample(plan.ranked), *_on_models(plan), *_on_time(plan)]


def _on_models(plan: Plan) -> Iterator[str]:
    for store in plan.stores:
        if store.failure:
            yield f"{store.label} is left out: {store.failure}."
        elif store.usable_model is None:
            reason = (
                f"since the median error on held-back reads is {store.model.median_error:.0%}, above "
                f"{MOST_ERROR:.0%}"
                if store.model
                else f"since too few {plan.planner.noun}s were read"
            )
            yield f"{store.label} is judged by measurements alone: its model does not fit, {reason}."
        for each in store.verified:
            if each.failure:
                yield f"{each.name} has no further turns: {each.failure}."


def _on_time(plan: Plan) -> Iterator[str]:
    first = plan.first
    if first.interval.confidence < CONFIDENCE:
        yield (
            f"{plural(len(first.costs), 'turn')} give intervals of {first.interval.confidence:.0%} "
            "confidence; a longer --budget gives more, and may settle the ties."
            if plan.ties
            else f"{plural(len(first.costs), 'turn')} give intervals of "
            f"{first.interval.confidence:.0%} confidence; a longer --budget narrows them."
        )
    if first.open_seconds:
        shares = [
            f"{quantity(each.open_seconds, 'seconds')} of {quantity(each.seconds, 'seconds')} with "
            f"{each.name}"
            for each in plan.ranked[:OPENS_SHOWN]
        ]
        yield (
            f"Each query opens the data anew, which takes {joined(shares, most=None)}; a mix with "
            "keep_open = true leaves it out, and may have another winner."
        )
    if plan.cold:
        yield "Reads are cold: each file was evicted from the page cache before each query."

"""Plan of a store and chunks for a mix of queries: what was measured and predicted, ties and gains.

A `Layout` is what a family can choose when it saves, beside store and codec: here the shape of chunks.
"""

from __future__ import annotations

import math
import statistics
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from format_bench.families.arrays.boxes import by
from format_bench.instruments import threads
from format_bench.instruments.intervals import CONFIDENCE, Interval, median_interval
from format_bench.planning.cost_model import MOST_ERROR
from format_bench.results.display.text import format_ratio, joined, plural, quantity
from format_bench.results.disturbance import busy_sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

    from adapter_core.array_description import Description
    from format_bench.planning.chunk_search import Proposal
    from format_bench.planning.cost_model import CostModel, ReadSample
    from format_bench.planning.mix import Mix

KINDS = PROPOSED, DESIGNED, SOURCE, LIBRARY = (
    "proposed",
    "designed",
    "chunks of the source",
    "the library's own chunks",
)
"""Kinds of verified layouts: by the search, best of those that the model is fitted to, and defaults."""

NEAR = 1.1
"""Ratio of predicted times on the whole array below which they count as alike."""


class Layout(NamedTuple):
    """A store, its codec, and a shape of chunks."""

    store: str
    codec: str | None
    level: int | None
    chunks: tuple[int, ...]

    @property
    def name(self) -> str:
        """Store and chunks as text."""
        return f"{self.store} {by(self.chunks)}"


@dataclass
class Verified:
    """A layout that was measured in turns, with its prediction."""

    layout: Layout
    """With chunks that are cut at the sample's edges."""
    chunks: tuple[int, ...]
    """Chunks of the whole array."""
    kinds: list[str]
    """Reasons for its choice, of `KINDS`."""
    chunks_number: int
    """Number of the whole array's chunks."""
    predicted: float | None = None
    """Predicted mean time of the mix on the sample, in seconds; None without a model that fits."""
    predicted_queries: list[float] = field(default_factory=list)
    """Predicted times of its queries; empty without such a model."""
    predicted_whole: float | None = None
    """The same on the whole array."""
    save_seconds: float = 0.0
    size_bytes: int = 0
    files: int = 0
    costs: list[float] = field(default_factory=list)
    """Measured mean time of the mix in each turn, in seconds."""
    query_seconds: list[list[float]] = field(default_factory=list)
    """Measured times of each query, one for each turn."""
    failure: str = ""

    @property
    def name(self) -> str:
        """Store and chunks of the whole array as text."""
        return f"{self.layout.store} {by(self.chunks)}"

    @property
    def seconds(self) -> float:
        """Median of the measured mean times of the mix."""
        return statistics.median(self.costs)

    @property
    def interval(self) -> Interval:
        """Interval of that median."""
        return median_interval(self.costs)


@dataclass
class StorePlan:
    """Facts on a store."""

    label: str
    codec: str | None = None
    level: int | None = None
    samples: list[ReadSample] = field(default_factory=list)
    mix_costs: dict[tuple[int, ...], float] = field(default_factory=dict)
    """Measured mean time of the mix by designed shape."""
    model: CostModel | None = None
    front: list[Proposal] = field(default_factory=list)
    """Pareto front of predicted time and number of chunks."""
    verified: list[Verified] = field(default_factory=list)
    failure: str = ""
    """Reason why the store is not compared."""

    @property
    def usable_model(self) -> CostModel | None:
        """The model, if it fits."""
        return self.model if self.model and self.model.fits else None

    @property
    def best(self) -> Verified | None:
        """The fastest layout."""
        measured = (each for each in self.verified if each.costs)
        return min(measured, key=lambda each: each.seconds, default=None)


class Gain(NamedTuple):
    """Ratio of the time of other chunks to the time of the recommended ones, in the same turns."""

    over: Verified
    kind: str
    """Kind of the other chunks."""
    ratio: float
    low: float
    high: float


@dataclass(frozen=True)
class ChunkPlan:
    """Outcome of a planning session."""

    array: Description
    sample: tuple[int, ...]
    """Edges of the sample."""
    mix: Mix
    stores: list[StorePlan]
    cold: bool
    seconds: float
    """Wall time of the session."""
    load: float
    """Processes that ran or waited for a CPU in the last minute, on average, at the end."""

    @property
    def turns(self) -> int:
        """Number of turns, earlier sessions' included."""
        return max((len(each.costs) for each in self.ranked), default=0)

    @property
    def ranked(self) -> list[Verified]:
        """The verified layouts, the fastest first."""
        found = [each for store in self.stores for each in store.verified if each.costs]
        return sorted(found, key=lambda each: each.seconds)

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
        return [each for each in others if each.interval.low <= first.interval.high]

    @property
    def gains(self) -> list[Gain]:
        """The gains of the recommended layout over the defaults of its store."""
        found, of = [], self.first
        for kind in (SOURCE, LIBRARY):
            for other in self.first_store.verified:
                if kind in other.kinds and other is not of and other.costs:
                    pairs = zip(other.costs, of.costs, strict=False)
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

    def chunk_bytes(self, each: Verified) -> int:
        """Return the size of a chunk in memory."""
        return math.prod(each.chunks) * self.array.dtype.itemsize


def sentences(plan: ChunkPlan) -> list[str]:
    """Return the answer in sentences."""
    return [*_use(plan), *_gains(plan), *_ties(plan), *_predictions(plan)]


def _use(plan: ChunkPlan) -> Iterator[str]:
    first = plan.first
    dims = " x ".join(plan.array.dims)
    low, high = (quantity(each, "seconds") for each in (first.interval.low, first.interval.high))
    mean = "geometric mean" if plan.mix.mean == "geometric" else "mean"
    yield (
        f"Use {first.layout.store} in chunks of {by(first.chunks)} ({dims}), "
        f"{quantity(plan.chunk_bytes(first), 'bytes')} each: a query of the mix takes "
        f"{quantity(first.seconds, 'seconds')} in the {mean} ({low} to {high})."
    )


def _gains(plan: ChunkPlan) -> Iterator[str]:
    first = plan.first
    for gain in plan.gains:
        yield (
            f"{first.layout.store} takes {format_ratio(gain.ratio)} times as long "
            f"({format_ratio(gain.low)} to {format_ratio(gain.high)}) in {gain.kind}, "
            f"{by(gain.over.chunks)}."
        )
    if SOURCE in first.kinds or LIBRARY in first.kinds:
        yield f"These are {joined(k for k in first.kinds if k in {SOURCE, LIBRARY})}."
    defaults = [each for each in plan.ranked if SOURCE in each.kinds]
    if defaults and defaults[0].layout.store != first.layout.store:
        yield (
            f"The fastest store in chunks of the source is {defaults[0].layout.store}, with "
            f"{format_ratio(defaults[0].seconds / first.seconds)} times the time."
        )


def _ties(plan: ChunkPlan) -> Iterator[str]:
    if found := plan.ties:
        names = joined((each.name for each in found), most=6)
        yield f"{names} {'is a tie' if len(found) == 1 else 'are ties'}: the intervals overlap."


def _predictions(plan: ChunkPlan) -> Iterator[str]:
    error = plan.prediction_error
    if error is not None:
        number = sum(each.predicted is not None for each in plan.ranked)
        yield (
            f"The predicted times of {plural(number, 'verified layout')} differ from the measured "
            f"ones by {error:.0%} in the median."
        )


def caveats(plan: ChunkPlan) -> list[str]:
    """Return the grounds of the answer, and the facts that may change it."""
    return [*_on_sample(plan), *_on_models(plan), *_on_time(plan)]


def _on_sample(plan: ChunkPlan) -> Iterator[str]:
    edges, shape = plan.sample, plan.array.shape
    if edges == shape:
        yield f"Measured on the whole array, {by(shape)}."
        return
    yield (
        f"Measured on a sample of {by(edges)} out of {by(shape)}; no edge of a chunk is longer than the "
        "sample's."
    )
    scaled = plan.mix.scaled(shape, edges)
    cut = [
        one.name
        for one, other in zip(plan.mix.queries, scaled.queries, strict=True)
        if one.box.extents != other.box.extents
    ]
    if cut:
        yield f"Queries that are smaller on the sample: {joined(cut, most=6)}."
    first = plan.first
    whole = [each for each in plan.ranked if each.predicted_whole is not None]
    if first.predicted_whole is not None:
        yield (
            "On the whole array the model predicts "
            f"{quantity(first.predicted_whole, 'seconds')} for these chunks: an extrapolation."
        )
        best = min(whole, key=lambda each: each.predicted_whole or 0.0)
        if (best.predicted_whole or 0.0) * NEAR < first.predicted_whole:
            yield (
                f"There it predicts less for {best.name}, "
                f"{quantity(best.predicted_whole or 0.0, 'seconds')}: try a larger sample."
            )


def _on_models(plan: ChunkPlan) -> Iterator[str]:
    for store in plan.stores:
        if store.failure:
            yield f"{store.label} is left out: {store.failure}."
        elif store.usable_model is None:
            reason = (
                f"since the median error on held-back reads is {store.model.median_error:.0%}, above "
                f"{MOST_ERROR:.0%}"
                if store.model
                else "since too few chunk shapes were read"
            )
            yield f"{store.label} is judged by measurements alone: its model does not fit, {reason}."
        for each in store.verified:
            if each.failure:
                yield f"{each.name} has no further turns: {each.failure}."


def _on_time(plan: ChunkPlan) -> Iterator[str]:
    first = plan.first
    if first.interval.confidence < CONFIDENCE:
        yield (
            f"{plural(len(first.costs), 'turn')} give intervals of {first.interval.confidence:.0%} "
            "confidence; a longer --budget gives more, and may settle the ties."
            if plan.ties
            else f"{plural(len(first.costs), 'turn')} give intervals of "
            f"{first.interval.confidence:.0%} confidence; a longer --budget narrows them."
        )
    if busy := busy_sentence(plan.load, threads.cpus("all")):
        yield busy
    if plan.cold:
        yield "Reads are cold: each file was evicted from the page cache before each query."

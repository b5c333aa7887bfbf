"""Answer of a plan: the recommended store and chunks, gains, ties and caveats in sentences."""

from __future__ import annotations

import statistics
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

from format_bench.instruments import threads
from format_bench.instruments.intervals import CONFIDENCE, median_interval
from format_bench.planning.chunk_plan import LIBRARY, PROPOSED, SOURCE
from format_bench.planning.cost_model import MOST_ERROR, TERMS
from format_bench.planning.reads import by
from format_bench.results.display.text import format_ratio, joined, plural, quantity

if TYPE_CHECKING:
    from format_bench.planning.chunk_plan import ChunkPlan, StorePlan, Verified

BUSY = 1.5
"""Processes for each CPU above which a machine counts as busy with other work."""

NEAR = 1.1
"""Ratio of predicted times on the whole array below which they count as alike."""


class Gain(NamedTuple):
    """Ratio of the time of other chunks to the time of the recommended ones, in the same turns."""

    over: Verified
    kind: str
    """Kind of the other chunks."""
    ratio: float
    low: float
    high: float


def ties(plan: ChunkPlan) -> list[Verified]:
    """Return the layouts whose intervals overlap the first one's."""
    first, *others = plan.ranked
    return [each for each in others if each.interval.low <= first.interval.high]


def gains(plan: ChunkPlan, of: Verified) -> list[Gain]:
    """Return the gains of a layout over the defaults of its store."""
    store = next(each for each in plan.stores if each.label == of.layout.store)
    found = []
    for kind in (SOURCE, LIBRARY):
        for other in store.verified:
            common = sorted(set(other.costs) & set(of.costs))
            if kind in other.kinds and other is not of and common:
                ratios = [other.costs[turn] / of.costs[turn] for turn in common]
                interval = median_interval(ratios)
                found.append(Gain(other, kind, statistics.median(ratios), interval.low, interval.high))
    return found


def best_of(store: StorePlan) -> Verified | None:
    """Return the fastest layout of a store."""
    return min(
        (each for each in store.verified if each.costs), key=lambda each: each.seconds, default=None
    )


def prediction_error(plan: ChunkPlan) -> float | None:
    """Return the median relative error of the predictions of the verified layouts."""
    errors = [
        abs(each.predicted / each.seconds - 1) for each in plan.ranked if each.predicted is not None
    ]
    return statistics.median(errors) if errors else None


def sentences(plan: ChunkPlan) -> list[str]:
    """Return the answer in sentences."""
    return [*_use(plan), *_gains(plan), *_ties(plan), *_predictions(plan)]


def _use(plan: ChunkPlan) -> Iterator[str]:
    first = plan.ranked[0]
    dims = " x ".join(plan.array.dims)
    low, high = (quantity(each, "seconds") for each in (first.interval.low, first.interval.high))
    mean = "geometric mean" if plan.mix.mean == "geometric" else "mean"
    yield (
        f"Use {first.layout.store} in chunks of {by(first.chunks)} ({dims}), "
        f"{quantity(_chunk_bytes(plan, first), 'bytes')} each: a query of the mix takes "
        f"{quantity(first.seconds, 'seconds')} in the {mean} ({low} to {high})."
    )


def _gains(plan: ChunkPlan) -> Iterator[str]:
    first = plan.ranked[0]
    for gain in gains(plan, first):
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
    if found := ties(plan):
        names = joined((each.name for each in found), most=6)
        yield f"{names} {'is a tie' if len(found) == 1 else 'are ties'}: the intervals overlap."


def _predictions(plan: ChunkPlan) -> Iterator[str]:
    error = prediction_error(plan)
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
    edges, shape = plan.sample.shape, plan.array.shape
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
        if one.extents != other.extents
    ]
    if cut:
        yield f"Queries that are smaller on the sample: {joined(cut, most=6)}."
    first = plan.ranked[0]
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
    first = plan.ranked[0]
    if first.interval.confidence < CONFIDENCE:
        yield (
            f"{plural(len(first.costs), 'turn')} give intervals of {first.interval.confidence:.0%} "
            "confidence; a longer --budget gives more, and may settle the ties."
            if ties(plan)
            else f"{plural(len(first.costs), 'turn')} give intervals of "
            f"{first.interval.confidence:.0%} confidence; a longer --budget narrows them."
        )
    cpus = threads.cpus("all")
    if plan.load > BUSY * cpus:
        yield (
            f"The machine was busy, with {plan.load:.1f} processes for {plural(cpus, 'CPU')}: times may "
            "be far too long, and predictions be wrong. Repeat this when it is idle."
        )
    if plan.cold:
        yield "Reads are cold: each file was evicted from the page cache before each query."


def _chunk_bytes(plan: ChunkPlan, each: Verified) -> int:
    import numpy as np

    return int(np.prod(each.chunks)) * plan.array.dtype.itemsize


def to_json(plan: ChunkPlan) -> dict[str, Any]:
    """Return a plan as JSON values; times in seconds, sizes in bytes."""
    first, tied = plan.ranked[0], ties(plan)
    return {
        "use": {"store": first.layout.store, "chunks": list(first.chunks)},
        "explanation": sentences(plan),
        "remarks": caveats(plan),
        "array": {
            "name": plan.array.name,
            "dims": list(plan.array.dims),
            "shape": list(plan.array.shape),
            "chunks": list(plan.array.chunks),
            "dtype": plan.array.dtype.name,
        },
        "sample_shape": list(plan.sample.shape),
        "mix": {
            "mean": plan.mix.mean,
            "keep_open": plan.mix.keep_open,
            "queries": [
                {
                    "name": each.name,
                    "weight": each.weight,
                    "extents": list(each.extents),
                    "starts": list(each.starts),
                }
                for each in plan.mix.queries
            ],
        },
        "cold": plan.cold,
        "turns": plan.turns,
        "load": plan.load,
        "seconds": plan.seconds,
        "gains": [
            {
                "over": gain.kind,
                "chunks": list(gain.over.chunks),
                "ratio": gain.ratio,
                "low": gain.low,
                "high": gain.high,
            }
            for gain in gains(plan, first)
        ],
        "best": {
            store.label: list(best.chunks)
            for store in plan.stores
            if (best := best_of(store)) is not None
        },
        "prediction_error": prediction_error(plan),
        "stores": [_store(store) for store in plan.stores],
        "ranked": [_verified(plan, each, is_tie=each in tied) for each in plan.ranked],
    }


def _store(store: StorePlan) -> dict[str, Any]:
    model = store.model
    return {
        "store": store.label,
        "codec": store.codec,
        "level": store.level,
        "failure": store.failure,
        "model": model
        and {
            "coefficients": dict(zip(TERMS, model.coefficients, strict=True)),
            "median_error": model.median_error,
            "r_squared": model.r_squared,
            "reads": model.reads,
            "fits": model.fits,
        },
        "front": [
            {"chunks": list(each.chunks), "seconds": each.seconds, "chunks_number": each.number}
            for each in store.front
        ],
    }


def _verified(plan: ChunkPlan, each: Verified, *, is_tie: bool) -> dict[str, Any]:
    return {
        "store": each.layout.store,
        "codec": each.layout.codec,
        "level": each.layout.level,
        "chunks": list(each.chunks),
        "chunk_bytes": _chunk_bytes(plan, each),
        "kinds": each.kinds,
        "proposed": PROPOSED in each.kinds,
        "ties_with_first": is_tie,
        "predicted": each.predicted,
        "predicted_whole": each.predicted_whole,
        "measured": each.seconds,
        "low": each.interval.low,
        "high": each.interval.high,
        "turns": len(each.costs),
        "save_seconds": each.save_seconds,
        "size_bytes": each.size_bytes,
        "files": each.files,
        "chunks_number": each.chunks_number,
        "queries": [
            {
                "name": query.name,
                "predicted": each.predicted_queries[place] if each.predicted_queries else None,
                "measured": statistics.median(each.query_seconds[place]),
            }
            for place, query in enumerate(plan.mix.queries)
        ],
    }

"""Session of a plan on one sample: fitted cost models, search, and verification by measuring."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeVar

import array_stores
from adapter_core import FormatBenchError, UnsupportedError
from adapter_core.array_store import Property
from adapter_core.codecs import algorithm_of
from format_bench.instruments import isolation
from format_bench.planning.chunk_plan import (
    DESIGNED,
    LIBRARY,
    PROPOSED,
    SOURCE,
    StorePlan,
    Verified,
)
from format_bench.planning.chunk_search import (
    LEAST_CHUNK_BYTES,
    MOST_CHUNK_BYTES,
    designed,
    different,
    front,
    search,
)
from format_bench.planning.cost_model import CostModel, ReadSample, fit
from format_bench.planning.mix import Mix, MixQuery
from format_bench.planning.reads import Layout, LayoutReads, ReadPlan, file_of, measure_each, remove
from format_bench.runner.executor import TimeBudget, isolated

if TYPE_CHECKING:
    from pathlib import Path

    from adapter_core import ArrayStore
    from adapter_core.array_description import Description
    from format_bench.planning.sample import ArrayOrigin, StoredSample

MOST_SAMPLE_CHUNKS = 5_000
"""Most chunks of the sample: more take too long to save."""

FIT_SHARE = 0.45
"""Part of the budget for the reads that the models are fitted to."""

PROPOSALS, SLOWER = 3, 1.5
"""Most proposals of a store that are verified, and times of the best one that they may take."""

DESIGNED_KEPT = 2
"""Designed shapes of a store that are verified: the fastest ones."""

MOST_VERIFIED = PROPOSALS + 1 + DESIGNED_KEPT + 2
"""Most files of a store at a time."""

LEAST_TURNS = 3
"""Turns of the verification, whatever the budget."""

HOPELESS = 3.0
"""Times of the best one of its store above which a proposal has no further turn after two."""

LEAST_LIMIT_SECONDS = 30.0
"""Least wall time after which saving and reading a layout counts as timed out."""


@dataclass(frozen=True)
class PlanRequest:
    """A plan as the user asks for it."""

    mix: Path
    origin: ArrayOrigin
    stores: tuple[str, ...] = ()
    codec: str | None = None
    level: int | None = None
    cold: bool = False
    budget_seconds: float = 120
    sample_bytes: float | None = None
    scratch: Path | None = None


Watch = Callable[[str], None]
"""Receiver of sentences on the progress."""


def codec_of(store: ArrayStore, name: str | None, level: int | None) -> tuple[str | None, int | None]:
    """Return a store's codec of a name, or else its plainest lossless one of the same algorithm.

    A level is left out where the codec has none.

    Raises
    ------
    UnsupportedError
        If the store has no codec of that algorithm.
    UnknownLevelError
        If the codec lacks the level.
    """
    if name is None:
        return None, None
    same = [
        codec
        for codec in store.codecs
        if codec.error is None and algorithm_of(codec.name) == algorithm_of(name)
    ]
    if not same:
        raise UnsupportedError(f"{store.label} has no codec {name}")
    exact = [codec for codec in same if codec.name == name]
    codec = (exact or sorted(same, key=lambda each: "+" in each.name))[0]
    return codec.name, codec.level_or_default(level) if codec.levels else None


class PlanSession:
    """A session on one sample: fits models, proposes chunk shapes, and verifies them by measuring."""

    def __init__(  # noqa: PLR0913, PLR0917 (the request and what follows from it)
        self,
        request: PlanRequest,
        array: Description,
        mix: Mix,
        sample: StoredSample,
        folder: Path,
        budget: TimeBudget,
        watch: Watch,
    ) -> None:
        self._request, self._array, self._mix, self._sample = request, array, mix, sample
        self._folder, self._budget, self._watch = folder, budget, watch
        self._edges = sample.description.shape
        self._value_bytes = array.dtype.itemsize
        self._sample_mix = mix.scaled(array.shape, self._edges)
        sample_bytes = math.prod(self._edges) * self._value_bytes
        self._least_bytes = max(min(LEAST_CHUNK_BYTES, sample_bytes), sample_bytes / MOST_SAMPLE_CHUNKS)

    def chosen(self, label: str) -> StorePlan:
        """Return a store with its codec, or with the reason why it is left out."""
        found = StorePlan(label)
        try:
            store = array_stores.get(label)
            found.codec, found.level = codec_of(store, self._request.codec, self._request.level)
            if Property.CHUNKS not in store.keeps:
                raise UnsupportedError(f"{label} does not divide arrays into chunks")
            if store.error:
                raise UnsupportedError(f"{label} changes values")
            store.check(self._sample.source(self._sample.description.chunks), found.codec)
        except FormatBenchError as error:
            found.failure = str(error)
            self._watch(f"left out: {error}")
        return found

    def _measured(
        self, layouts: Sequence[Layout], plan: ReadPlan, seconds: float, *, keep: bool
    ) -> dict[Layout, LayoutReads | str]:
        """Return the reads of layouts of one store, or the reasons why they are missing.

        If a process dies, each layout gets one of its own.
        """
        limit = LEAST_LIMIT_SECONDS + self._budget.seconds
        case, call = layouts[0].case, partial(measure_each, keep=keep)
        wanted = layouts, self._sample, self._folder, plan, seconds
        outcome = isolated(case, call, *wanted, limit_seconds=limit, folder=self._folder)
        if not outcome.status:
            found: dict[Layout, LayoutReads | str] = outcome.value
            return found
        for left in layouts:
            remove(file_of(left, self._folder))
        if len(layouts) == 1:
            return {layouts[0]: outcome.sentence or str(outcome.status)}
        budget = TimeBudget(seconds)
        return {
            layout: reads
            for each in layouts
            if not budget.is_spent()
            for layout, reads in self._measured([each], plan, math.inf, keep=keep).items()
        }

    def fit_models(self, stores: Sequence[StorePlan]) -> None:
        """Measure designed chunk shapes and fit a cost model to each store."""
        plan = ReadPlan(
            (*self._sample_mix.queries, *_generic(self._edges)),
            self._mix.keep_open,
            self._request.cold,
            same_places=False,
        )
        shapes = designed(self._edges, self._value_bytes, self._least_bytes)
        live = [each for each in stores if not each.failure]
        for place, store in enumerate(live):
            left = FIT_SHARE * self._budget.seconds - self._budget.elapsed_seconds
            seconds = max(0.0, left / (len(live) - place))
            self._watch(f"fit a model of {store.label} ({place + 1} of {len(live)})")
            layouts = [self._layout(store, chunks) for chunks in shapes]
            self._take_designed(
                store, plan, self._measured(layouts[:LEAST_FITTED], plan, math.inf, keep=False)
            )
            if seconds and not store.failure:
                rest = layouts[LEAST_FITTED:]
                self._take_designed(store, plan, self._measured(rest, plan, seconds, keep=False))
            store.model = fit(store.samples, self._edges, self._value_bytes)

    @staticmethod
    def _layout(store: StorePlan, chunks: tuple[int, ...]) -> Layout:
        return Layout(store.label, store.codec, store.level, chunks)

    def _take_designed(
        self, store: StorePlan, plan: ReadPlan, found: Mapping[Layout, LayoutReads | str]
    ) -> None:
        for layout, reads in found.items():
            if isinstance(reads, str):
                self._watch(f"{layout.name}: {reads}")
                store.failure = store.failure or reads
                continue
            for query, seconds, place in zip(plan.queries, reads.seconds, reads.places, strict=True):
                fixed = replace(query, starts=tuple(along.start for along in place))
                store.samples.append(ReadSample(fixed, layout.chunks, seconds))
            cost = self._mix.cost(reads.seconds[: len(self._mix.queries)])
            store.mix_costs[layout.chunks] = float(cost)
        if store.mix_costs:
            store.failure = ""

    def choose(self, stores: Sequence[StorePlan]) -> None:
        """Choose the layouts of each store that are verified."""
        for store in stores:
            if store.failure:
                continue
            self._propose(store)
            self._add(store, self._array.chunks, SOURCE)
            own = self._library_chunks(store.label)
            if own:
                self._add(store, own, LIBRARY)

    def _propose(self, store: StorePlan) -> None:
        for chunks in sorted(store.mix_costs, key=lambda each: store.mix_costs[each])[:DESIGNED_KEPT]:
            self._add(store, chunks, DESIGNED)
        if store.model is None:
            return
        found = search(
            store.model,
            self._mix,
            self._array.shape,
            self._value_bytes,
            edges=self._edges,
            least_bytes=self._least_bytes,
            most_bytes=MOST_CHUNK_BYTES,
        )
        if store.usable_model:
            store.front = front(found)
        best = different(found, PROPOSALS, SLOWER)
        for each in best:
            self._add(store, each.chunks, PROPOSED)
        fewer = [each for each in front(found) if each.seconds <= SLOWER * found[0].seconds]
        self._add(store, fewer[-1].chunks, PROPOSED)

    def _library_chunks(self, label: str) -> tuple[int, ...] | None:
        outcome = isolation.run(
            _library_chunks, label, self._array.shape, self._array.dtype, limit_seconds=60
        )
        found: tuple[int, ...] | None = outcome.value
        return found

    def _add(self, store: StorePlan, chunks: tuple[int, ...], kind: str) -> None:
        layout = self._layout(store, tuple(map(min, chunks, self._edges)))
        for each in store.verified:
            if each.layout == layout:
                each.kinds.append(kind)
                return
        number = math.prod(-(-e // c) for e, c in zip(self._array.shape, chunks, strict=True))
        found = Verified(layout, chunks, [kind], number, None, [], None)
        if model := store.usable_model:
            found.predicted_queries = self._predicted(
                model, self._sample_mix, self._edges, layout.chunks
            )
            found.predicted = float(self._mix.cost(found.predicted_queries))
            whole = self._predicted(model, self._mix, self._array.shape, chunks)
            found.predicted_whole = float(self._mix.cost(whole))
        store.verified.append(found)

    def _predicted(
        self, model: CostModel, mix: Mix, shape: tuple[int, ...], chunks: tuple[int, ...]
    ) -> list[float]:
        return [
            float(model.seconds(each, shape, [chunks], self._value_bytes)[0]) for each in mix.queries
        ]

    def verify(self, stores: Sequence[StorePlan]) -> int:
        """Measure the chosen layouts in turns until the budget is spent; return the number of turns."""
        live = [each for store in stores for each in store.verified]
        turn, longest = 0, 0.0
        while live and (turn < LEAST_TURNS or longest < self._budget.left_seconds):
            start = self._budget.elapsed_seconds
            # Each turn starts with another store, and in it with another layout.
            labels = list(dict.fromkeys(each.layout.store for each in live))
            for label in _rotated(labels, turn):
                self._watch(f"verify, turn {turn + 1}: {label}")
                self._take_turn([each for each in live if each.layout.store == label], turn)
            turn += 1
            live = list(self._hopeful(stores, live))
            longest = self._budget.elapsed_seconds - start
        return turn

    def _take_turn(self, layouts: Sequence[Verified], turn: int) -> None:
        plan = ReadPlan(self._sample_mix.queries, self._mix.keep_open, self._request.cold, turn + 1)
        by_layout = {each.layout: each for each in _rotated(layouts, turn)}
        found = self._measured(list(by_layout), plan, math.inf, keep=True)
        for layout, reads in found.items():
            each = by_layout[layout]
            if isinstance(reads, str):
                each.failure = reads
                self._watch(f"{layout.name}: {reads}")
                continue
            each.save_seconds = each.save_seconds or reads.save_seconds
            each.size_bytes, each.files = reads.size_bytes, reads.files
            each.query_seconds = each.query_seconds or [[] for _ in reads.seconds]
            for known, new in zip(each.query_seconds, reads.seconds, strict=True):
                known.append(new)
            each.costs[turn] = float(self._mix.cost(reads.seconds))

    def _hopeful(self, stores: Sequence[StorePlan], live: Sequence[Verified]) -> Iterator[Verified]:
        """Yield the layouts that go on; the files of the others are removed."""
        best = {
            store.label: min((each.seconds for each in store.verified if each.costs), default=math.inf)
            for store in stores
        }
        for each in live:
            is_default = bool(set(each.kinds) & {SOURCE, LIBRARY})
            # One turn may be slow by noise: the fastest one counts.
            fastest = min(each.costs.values(), default=0.0)
            is_slow = len(each.costs) > 1 and fastest > HOPELESS * best[each.layout.store]
            if each.failure or (is_slow and not is_default):
                remove(file_of(each.layout, self._folder))
            else:
                yield each


LEAST_FITTED = 4
"""Designed shapes of a store that are read, whatever the budget."""


def _generic(shape: tuple[int, ...]) -> Iterator[MixQuery]:
    """Yield queries that separate the terms of the model: a value, and a line along each axis."""
    ones, free = (1,) * len(shape), (None,) * len(shape)
    yield MixQuery("a value", 0.0, ones, free)
    for axis, edge in enumerate(shape):
        yield MixQuery(f"a line along axis {axis}", 0.0, (*ones[:axis], edge, *ones[axis + 1 :]), free)


def _library_chunks(label: str, shape: tuple[int, ...], dtype: object) -> tuple[int, ...] | None:
    return array_stores.get(label).library_chunks(shape, dtype)  # type: ignore[arg-type]


T = TypeVar("T")


def _rotated(found: Sequence[T], turn: int) -> list[T]:
    first = turn % max(1, len(found))
    return [*found[first:], *found[:first]]

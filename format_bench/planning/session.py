"""Session of a plan: sample, fitted cost models, search, and verification by measuring.

The model is of arrays in chunks. A plan for other data would choose other settings of a case and predict
their times otherwise; samples, cells, turns and records stay.
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeVar

import array_stores
from adapter_core import FormatBenchError, UnsupportedError
from adapter_core.array_description import Description
from adapter_core.array_store import Property
from adapter_core.errors import (
    InvalidFolderError,
    InvalidRequestError,
    NoCandidateError,
    UserDataError,
)
from data_generator.confinement.limits import USUAL_LIMITS
from format_bench.families.arrays.boxes import Box, by, part_edges
from format_bench.families.arrays.operations import ArrayOperations, middle_of
from format_bench.families.questions import digest
from format_bench.instruments import isolation
from format_bench.planning.cells import Cells, Sample
from format_bench.planning.chunk_plan import (
    DESIGNED,
    LIBRARY,
    PROPOSED,
    SOURCE,
    ChunkPlan,
    Layout,
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
from format_bench.planning.mix import Mix, MixQuery, distinct, read_mix
from format_bench.results.display.text import plural
from format_bench.runner import folders
from format_bench.runner.executor import TimeBudget
from format_bench.runner.reading_display import ReadingLines
from format_bench.runner.user_data import Source, describe_own_array, prepare

STORES = ("HDF5", "NetCDF4", "Zarr.dir", "Zarr.sharded", "Zarr[tensorstore]", "TileDB", "Blosc2")
"""Stores that are compared unless others are named: their chunks can be chosen, and parts be read."""

SAMPLE_BYTES_PER_SECOND, LEAST_SAMPLE_BYTES, MOST_SAMPLE_BYTES = 4_000_000, 4_000_000, 1_000_000_000
"""Default size of the sample: so many bytes for each second that a store gets, within bounds."""

MOST_SAMPLE_CHUNKS = 5_000
"""Most chunks of the sample: more take too long to save."""

FIT_SHARE = 0.45
"""Part of the budget for the reads that the models are fitted to."""

LEAST_FITTED = 4
"""Designed shapes of a store that are read, whatever the budget."""

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

Watch = Callable[[str], None]
"""Receiver of sentences on the progress."""


@dataclass(frozen=True)
class PlanRequest:
    """A plan as the user asks for it."""

    mix: Path
    data: Source | None = None
    """A user's file."""
    dataset: str | None = None
    """A named data set in its place."""
    size: int | None = None
    """Chunks of the data set; all if None."""
    stores: tuple[str, ...] = ()
    codec: str | None = None
    level: int | None = None
    cold: bool = False
    budget_seconds: float = 120
    sample_bytes: float | None = None
    scratch: Path | None = None
    out: Path | None = None
    """Folder of the results; by default one below reports, after the data."""
    fresh: bool = False
    """Drop earlier results."""

    @property
    def name(self) -> str:
        """Name of the array."""
        return Path(self.data.path.partition("::")[0]).stem if self.data else self.dataset or ""

    @property
    def results_folder(self) -> Path:
        """The folder of the results."""
        return self.out or Path("reports", f"plan-{self.name}")


def plan(request: PlanRequest, watch: Watch) -> ChunkPlan:
    """Return the measured stores and chunk shapes for a user's mix of queries.

    Parameters
    ----------
    request : PlanRequest
        The mix, the array, the stores and the budget.
    watch : callable
        Receives sentences on the progress.

    Raises
    ------
    InvalidQuestionsError
        If the mix is not one of queries to the array.
    NoCandidateError
        If no store can be measured.
    FormatBenchError
        If the array cannot be read, or the store is unknown.
    """
    budget, out = TimeBudget(request.budget_seconds), request.results_folder
    labels = _labels(request.stores)
    with ExitStack() as stack:
        folder = stack.enter_context(folders.make(folders.check_scratch(request.scratch)))
        array = _described(request, watch)
        mix = read_mix(request.mix, array)
        value_bytes = array.dtype.itemsize
        sample_bytes = request.sample_bytes or _sample_bytes(request, labels)
        boxes = [each.box for each in mix.queries]
        edges = part_edges(array.shape, boxes, sample_bytes / value_bytes)
        size = math.prod(edges) * value_bytes
        _check_room(folder, size, labels)
        watch(f"sample of {by(edges)} out of {by(array.shape)}, {size / 1e6:,.0f} MB")
        sample, fingerprint = _stored(request, array, edges, folder, watch)
        known = _fingerprints(request, mix.scaled(array.shape, edges), sample.name)
        known = {sample.name: fingerprint, **known}
        folders.open_results(out, fresh=request.fresh, fingerprints=known, option="--results")
        stack.enter_context(folders.only_run(out))
        keep_open = mix.keep_open
        cells = Cells(out, folder, sample, budget, cold=request.cold, keep_open=keep_open)
        stack.enter_context(cells)
        session = PlanSession(request, array, mix, edges, cells, budget, watch)
        stores = [session.chosen(label) for label in labels]
        session.fit_models(stores)
        session.choose(stores)
        session.verify(stores)
    load = os.getloadavg()[0]
    found = ChunkPlan(array, edges, mix, stores, request.cold, budget.elapsed_seconds, load)
    if not found.ranked:
        reasons = "; ".join(f"{each.label}: {each.failure}" for each in stores if each.failure)
        raise NoCandidateError(f"no store could be measured: {reasons}")
    return found


def _labels(wanted: tuple[str, ...]) -> list[str]:
    known = array_stores.names()
    if not wanted:
        return [label for label in STORES if label in known]
    for label in wanted:
        array_stores.find(label)
    return list(dict.fromkeys(wanted))


def _sample_bytes(request: PlanRequest, labels: Sequence[str]) -> float:
    wanted = SAMPLE_BYTES_PER_SECOND * request.budget_seconds / len(labels)
    return min(MOST_SAMPLE_BYTES, max(LEAST_SAMPLE_BYTES, wanted))


def _check_room(folder: Path, sample_bytes: int, labels: Sequence[str]) -> None:
    """Raise InvalidFolderError if a folder has no room for the sample and all verified files."""
    needed = sample_bytes * (1 + MOST_VERIFIED * len(labels))
    free = shutil.disk_usage(folder).free
    if needed > free:
        raise InvalidFolderError(
            f"{folder.parent} has {free / 1e9:,.1f} GB left, and {plural(len(labels), 'store')} with a "
            f"sample of {sample_bytes / 1e6:,.0f} MB may need {needed / 1e9:,.1f} GB; choose a smaller "
            "--sample-size, fewer --stores or another --scratch"
        )


def _described(request: PlanRequest, watch: Watch) -> Description:
    if request.data:
        reading = ReadingLines(request.data.path, watch)
        found = describe_own_array(request.data, reading, watch)
    else:
        found = _generated(request, None, None)
    if not found.shape or 0 in found.shape:
        raise InvalidRequestError(f"an array of shape {found.shape} has no chunks to choose")
    return found


def _stored(
    request: PlanRequest, array: Description, edges: tuple[int, ...], folder: Path, watch: Watch
) -> tuple[Sample, str]:
    """Return the stored middle of an array, and a fingerprint of its content."""
    path, fingerprint = folder / "sample", f"{request.dataset} {request.size}"
    if request.data:
        reading = ReadingLines(request.data.path, watch)
        own = prepare(replace(request.data, edges=edges), folder, reading)
        path, fingerprint = own.place.value[0], own.fingerprint
    else:
        _generated(request, edges, path)
    chunks = tuple(map(min, array.chunks, edges))
    name = f"{request.name}-{'x'.join(map(str, edges))}"
    return Sample(name, path, replace(array, shape=edges, chunks=chunks)), fingerprint


def _fingerprints(request: PlanRequest, mix: Mix, name: str) -> dict[str, str]:
    """Return what tells queries of one name apart, by names in words."""
    kind = "cold query" if request.cold else "query"
    opened = request.cold and mix.keep_open
    return {
        f"{kind} {each.name!r} to {name}": digest([each.box.extents, each.box.starts, opened])
        for each in mix.queries
    }


def _generated(request: PlanRequest, edges: tuple[int, ...] | None, path: Path | None) -> Description:
    """Return the description of a named data set, and store its middle, in a process of its own."""
    seconds = USUAL_LIMITS.seconds
    outcome = isolation.run(_generate, request.dataset, request.size, edges, path, limit_seconds=seconds)
    if outcome.status:
        raise UserDataError(f"{request.dataset}: cannot be made: {outcome.sentence}")
    if isinstance(outcome.value, str):
        raise UserDataError(outcome.value)
    found: Description = outcome.value
    return found


def _generate(
    dataset: str, size: int | None, edges: tuple[int, ...] | None, path: Path | None
) -> Description | str:
    """Return a description, or the message of an error that is meant for the user."""
    try:
        found = ArrayOperations.generate(dataset, size)
    except (FormatBenchError, ValueError) as error:  # the latter e.g. if it has fewer chunks
        return str(error)
    if edges is not None and path is not None:
        ArrayOperations.store(middle_of(found, edges), path)
    return Description.of(found)


class PlanSession:
    """A session on one sample: fits models, proposes chunk shapes, and verifies them by measuring."""

    def __init__(  # noqa: PLR0913, PLR0917 (the request and what follows from it)
        self,
        request: PlanRequest,
        array: Description,
        mix: Mix,
        edges: tuple[int, ...],
        cells: Cells,
        budget: TimeBudget,
        watch: Watch,
    ) -> None:
        self._request, self._array, self._mix, self._edges = request, array, mix, edges
        self._cells, self._budget, self._watch = cells, budget, watch
        self._value_bytes = array.dtype.itemsize
        self._sample_mix = mix.scaled(array.shape, edges)
        sample_bytes = math.prod(edges) * self._value_bytes
        self._least_bytes = max(min(LEAST_CHUNK_BYTES, sample_bytes), sample_bytes / MOST_SAMPLE_CHUNKS)

    def chosen(self, label: str) -> StorePlan:
        """Return a store with its codec, or with the reason why it is left out."""
        found = StorePlan(label)
        try:
            store = array_stores.get(label)
            found.codec, found.level = store.nearest_codec(self._request.codec, self._request.level)
            if Property.CHUNKS not in store.keeps:
                raise UnsupportedError(f"{label} does not divide arrays into chunks")
            if store.error:
                raise UnsupportedError(f"{label} changes values")
        except FormatBenchError as error:
            found.failure = str(error)
            self._watch(f"left out: {error}")
        return found

    def fit_models(self, stores: Sequence[StorePlan]) -> None:
        """Measure designed chunk shapes and fit a cost model to each store."""
        queries = [*self._sample_mix.queries, *_generic(self._edges)]
        names = distinct([each.name for each in queries])
        queries = [replace(each, name=name) for each, name in zip(queries, names, strict=True)]
        shapes = designed(self._edges, self._value_bytes, self._least_bytes)
        live = [each for each in stores if not each.failure]
        for place, store in enumerate(live):
            left = FIT_SHARE * self._budget.seconds - self._budget.elapsed_seconds
            self._watch(f"fit a model of {store.label} ({place + 1} of {len(live)})")
            layouts = [Layout(store.label, store.codec, store.level, chunks) for chunks in shapes]
            budget = TimeBudget(max(0.0, left / (len(live) - place)))
            self._cells.fit(layouts, queries, LEAST_FITTED, budget)
            for layout in layouts:
                self._take_designed(store, layout, queries)
            if store.mix_costs:
                store.failure = ""
            store.model = fit(store.samples, self._edges, self._value_bytes)

    def _take_designed(self, store: StorePlan, layout: Layout, queries: Sequence[MixQuery]) -> None:
        reads = self._cells.reads(layout, queries, is_fit=True)
        if reads.failure:
            self._watch(f"{layout.name}: {reads.failure}")
            store.failure = store.failure or reads.failure
        for times in reads.turns[:1]:
            for query, seconds in zip(queries, times, strict=True):
                box = query.box.placed(self._edges, query.name, *layout.chunks)
                store.samples.append(ReadSample(box, layout.chunks, seconds))
            store.mix_costs[layout.chunks] = float(self._mix.cost(times[: len(self._mix.queries)]))

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
        cut = tuple(map(min, chunks, self._edges))
        layout = Layout(store.label, store.codec, store.level, cut)
        for each in store.verified:
            if each.layout == layout:
                each.kinds.append(kind)
                return
        number = math.prod(-(-e // c) for e, c in zip(self._array.shape, chunks, strict=True))
        found = Verified(layout, chunks, [kind], number)
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
            float(model.seconds(each.box, shape, [chunks], self._value_bytes)[0]) for each in mix.queries
        ]

    def verify(self, stores: Sequence[StorePlan]) -> None:
        """Measure the chosen layouts in turns until the budget is spent."""
        for store in stores:
            for each in store.verified:
                self._take(each)
        live = self._hopeful(stores, [each for store in stores for each in store.verified])
        turn, longest = 0, 0.0
        while live and (
            min(len(each.costs) for each in live) < LEAST_TURNS or longest < self._budget.left_seconds
        ):
            start = self._budget.elapsed_seconds
            # Each turn starts with another store, and in it with another layout.
            labels = list(dict.fromkeys(each.layout.store for each in live))
            for label in _rotated(labels, turn):
                self._watch(f"verify, turn {turn + 1}: {label}")
                own = _rotated([each for each in live if each.layout.store == label], turn)
                self._cells.verify([each.layout for each in own], self._sample_mix.queries)
                for each in own:
                    self._take(each)
            turn += 1
            live = self._hopeful(stores, live)
            longest = self._budget.elapsed_seconds - start

    def _take(self, each: Verified) -> None:
        """Note the turns of a layout."""
        reads = self._cells.reads(each.layout, self._sample_mix.queries)
        if reads.failure:
            self._watch(f"{each.layout.name}: {reads.failure}")
            each.failure = reads.failure
        each.save_seconds, each.size_bytes, each.files = (
            reads.save_seconds, reads.size_bytes, reads.files,
        )  # fmt: skip
        each.costs = [float(self._mix.cost(times)) for times in reads.turns]
        each.query_seconds = [list(times) for times in zip(*reads.turns, strict=True)]

    def _hopeful(self, stores: Sequence[StorePlan], live: Sequence[Verified]) -> list[Verified]:
        """Return the layouts that go on; the files of the others are removed."""
        best = {each.label: each.best.seconds for each in stores if each.best}
        found = []
        for each in live:
            is_default = bool(set(each.kinds) & {SOURCE, LIBRARY})
            # One turn may be slow by noise: the fastest one counts.
            is_slow = len(each.costs) > 1 and min(each.costs) > HOPELESS * best[each.layout.store]
            if each.failure or (is_slow and not is_default):
                self._cells.remove(each.layout)
            else:
                found.append(each)
        return found


def _generic(shape: tuple[int, ...]) -> Iterator[MixQuery]:
    """Yield queries that separate the terms of the model: a value, and a line along each axis."""
    ones, free = (1,) * len(shape), (None,) * len(shape)
    yield MixQuery("a value", 0.0, Box(ones, free))
    for axis, edge in enumerate(shape):
        extents = (*ones[:axis], edge, *ones[axis + 1 :])
        yield MixQuery(f"a line along axis {axis}", 0.0, Box(extents, free))


def _library_chunks(label: str, shape: tuple[int, ...], dtype: object) -> tuple[int, ...] | None:
    return array_stores.get(label).library_chunks(shape, dtype)  # type: ignore[arg-type]


T = TypeVar("T")


def _rotated(found: Sequence[T], turn: int) -> list[T]:
    first = turn % max(1, len(found))
    return [*found[first:], *found[:first]]

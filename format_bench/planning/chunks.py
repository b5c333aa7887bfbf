"""Planner of arrays: shapes of chunks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, ClassVar, cast

import array_stores
from adapter_core import BaseAdapter, FormatBenchError, UnsupportedError
from adapter_core.array_description import Description
from adapter_core.array_source import grid_of
from adapter_core.array_store import Property
from adapter_core.errors import InvalidRequestError, UserDataError
from data_generator.confinement.limits import USUAL_LIMITS
from format_bench.conditions.axes.chunk_shape import ChunkShape, edges_of, shape_text
from format_bench.families.arrays.boxes import Box, by, part_edges
from format_bench.families.arrays.operations import ArrayOperations, middle_of
from format_bench.families.questions import Questions, digest
from format_bench.instruments import isolation
from format_bench.planning.chunk_search import (
    LEAST_CHUNK_BYTES,
    MOST_CHUNK_BYTES,
    TERMS,
    amounts,
    designed,
    different,
    front,
    search,
)
from format_bench.planning.mix import ArrayMix, MixQuery, Weighted, distinct, placed, read_mix
from format_bench.planning.planner import Form, Planner, PlanRequest, StorePlan, Verified, Watch
from format_bench.results.conditions import Conditions
from format_bench.results.display.text import joined, quantity
from format_bench.runner.reading_display import ReadingLines
from format_bench.runner.user_data import describe_own_array, prepare

SOURCE, LIBRARY = "chunks of the source", "the library's own chunks"
"""Kinds of defaults."""

# Most chunks of the sample: more take too long to save.
MOST_SAMPLE_CHUNKS = 5_000

# Times of the best proposal that another one may take. Predictions of a store err by 4 to 31 % in the
# median (docs/planning.md): slower ones hardly win.
SLOWER = 1.5


# Ratio of predicted times on the whole array below which they count as alike. Less than the median error
# of predictions, 15 % (docs/planning.md).
NEAR = 1.1


class ChunkPlanner(Planner):
    """The middle of an array, and queries to it.

    Parameters
    ----------
    name : str
        Name of the array.
    array : Description
        The array.
    whole_mix : ArrayMix
        Queries to it.
    edges : tuple of int
        Edges of the sample.
    path : Path
        The sample, as the family has stored it.
    """

    family, suite, title = "arrays", "foxbench", "Stores and chunk shapes for a mix of queries"
    stores = ("HDF5", "NetCDF4", "Zarr.dir", "Zarr.sharded", "Zarr[tensorstore]", "TileDB", "Blosc2")
    defaults: ClassVar = (SOURCE, LIBRARY)
    noun = "chunk shape"
    # The three best that differ in kind, and the one with the fewest chunks (docs/planning.md).
    proposals_kept = 4
    predicts_whole = True

    mix: ArrayMix

    def __init__(
        self, name: str, array: Description, whole_mix: ArrayMix, edges: tuple[int, ...], path: Path
    ) -> None:
        self.array, self.whole_mix, self.edges, self.path = array, whole_mix, edges, path
        self.name = f"{name}-{shape_text(edges)}"
        self.mix = whole_mix.scaled(array.shape, edges)
        self.sample = replace(array, shape=edges, chunks=tuple(map(min, array.chunks, edges)))
        self.rows, self.columns = math.prod(grid_of(edges, self.sample.chunks)), len(edges)
        self.opens_apart = not whole_mix.keep_open
        self._value_bytes = array.dtype.itemsize
        sample_bytes = math.prod(edges) * self._value_bytes
        self._least_bytes = max(min(LEAST_CHUNK_BYTES, sample_bytes), sample_bytes / MOST_SAMPLE_CHUNKS)

    def check(self, label: str) -> BaseAdapter:
        store = array_stores.get(label)
        if Property.CHUNKS not in store.keeps:
            raise UnsupportedError(f"{label} does not divide arrays into chunks")
        if store.error:
            raise UnsupportedError(f"{label} changes values")
        return store

    def conditions(self, form: Form) -> Conditions:
        return Conditions({"track": "own", ChunkShape.name: shape_text(form)})

    def form_of(self, conditions: Mapping[str, str]) -> Form | None:
        shape = conditions.get(ChunkShape.name, "")
        return edges_of(shape) if shape else None

    def questions(self, queries: Sequence[Weighted], key: Iterable[int]) -> Questions:
        own = cast("Sequence[MixQuery]", queries)
        return placed(own, self.sample, *key, keep_open=self.whole_mix.keep_open)

    def fit_queries(self) -> Sequence[Weighted]:
        queries = [*self.mix.queries, *_generic(self.edges)]
        names = distinct([each.name for each in queries])
        return [replace(each, name=name) for each, name in zip(queries, names, strict=True)]

    def place_of(self, form: Form) -> tuple[int, ...]:
        found: tuple[int, ...] = form
        return found

    def designed(self, store: StorePlan) -> list[Form]:
        return [*designed(self.edges, self._value_bytes, self._least_bytes)]

    def terms(self) -> tuple[str, ...]:
        return TERMS

    def amounts(
        self, query: Weighted, form: Form, *, whole: bool = False, is_fit: bool = False
    ) -> Sequence[float]:
        box = cast("MixQuery", query).box
        if is_fit:
            box = box.placed(self.edges, query.name, *form)
        shape = self.array.shape if whole else self.edges
        if whole:
            place = [each.name for each in self.mix.queries].index(query.name)
            box = self.whole_mix.queries[place].box
        found: list[float] = amounts(box, shape, [form], self._value_bytes)[0].tolist()
        return found

    def proposals(self, store: StorePlan) -> list[Form]:
        if store.model is None:
            return []
        found = search(
            store.model,
            self.whole_mix,
            self.array.shape,
            self._value_bytes,
            edges=self.edges,
            least_bytes=self._least_bytes,
            most_bytes=MOST_CHUNK_BYTES,
        )
        if store.usable_model:
            store.front = [(each.chunks, each.seconds, each.number) for each in front(found)]
        best = different(found, self.proposals_kept - 1, SLOWER)
        fewer = [each for each in front(found) if each.seconds <= SLOWER * found[0].seconds]
        return [*(each.chunks for each in best), fewer[-1].chunks]

    def usual(self, store: StorePlan) -> list[tuple[Form, str]]:
        found = [(self.array.chunks, SOURCE)]
        outcome = isolation.run(
            _library_chunks, store.label, self.array.shape, self.array.dtype, limit_seconds=60
        )
        return [*found, (outcome.value, LIBRARY)] if outcome.value else found

    def cut(self, form: Form) -> Form:
        return tuple(map(min, form, self.edges))

    def parts(self, form: Form) -> int:
        return math.prod(-(-edge // chunk) for edge, chunk in zip(self.array.shape, form, strict=True))

    def words(self, form: Form) -> str:
        size = quantity(self._chunk_bytes(form), "bytes")
        return f"in chunks of {by(form)} ({' x '.join(self.array.dims)}), {size} each"

    def brief(self, form: Form) -> str:
        return by(form)

    def _chunk_bytes(self, form: Form) -> int:
        return math.prod(form) * self._value_bytes

    def lead(self) -> str:
        array = self.array
        dims = " x ".join(array.dims)
        return (
            f"{array.name}, {by(array.shape)} ({dims}), {array.dtype.name}; "
            f"{len(self.mix.queries)} queries"
        )

    def on_sample(self, ranked: Sequence[Verified]) -> Iterator[str]:
        edges, shape = self.edges, self.array.shape
        if edges == shape:
            yield f"Measured on the whole array, {by(shape)}."
            return
        yield (
            f"Measured on a sample of {by(edges)} out of {by(shape)}; no edge of a chunk is longer than "
            "the sample's."
        )
        cut = [
            one.name
            for one, other in zip(self.whole_mix.queries, self.mix.queries, strict=True)
            if one.box.extents != other.box.extents
        ]
        if cut:
            yield f"Queries that are smaller on the sample: {joined(cut, most=6)}."
        first = ranked[0]
        whole = [each for each in ranked if each.predicted_whole is not None]
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

    def cells(self, each: Verified) -> dict[str, str]:
        size = quantity(self._chunk_bytes(each.form), "bytes")
        return {"chunk": size, "chunks in all": f"{each.parts:,}"}

    def extents(self, query: Weighted) -> str:
        return by(cast("MixQuery", query).box.extents)

    def to_json(self) -> dict[str, Any]:
        array, mix = self.array, self.whole_mix
        queries = [{"name": q.name, "weight": q.weight, **asdict(q.box)} for q in mix.queries]
        return {
            "array": {name: getattr(array, name) for name in ("name", "dims", "shape", "chunks")}
            | {"dtype": array.dtype.name},
            "sample_shape": self.edges,
            "mix": {"mean": mix.mean, "keep_open": mix.keep_open, "queries": queries},
        }

    def form_json(self, form: Form) -> dict[str, Any]:
        return {"chunks": form, "chunk_bytes": self._chunk_bytes(form)}


def prepared(
    request: PlanRequest, sample_bytes: float, folder: Path, watch: Watch
) -> tuple[ChunkPlanner, dict[str, str]]:
    """Return the planner of an array, its sample stored in a folder, and fingerprints of both.

    Raises
    ------
    InvalidQuestionsError
        If the mix is not one of queries to the array.
    FormatBenchError
        If the array cannot be read.
    """
    array = _described(request, watch)
    mix = read_mix(request.mix, array)
    boxes = [each.box for each in mix.queries]
    edges = part_edges(array.shape, boxes, sample_bytes / array.dtype.itemsize)
    size = math.prod(edges) * array.dtype.itemsize
    request.check_room(folder, size, ChunkPlanner)
    watch(f"sample of {by(edges)} out of {by(array.shape)}, {size / 1e6:,.0f} MB")
    path, fingerprint = folder / "sample", f"{request.dataset} {request.size}"
    if request.data:
        reading = ReadingLines(request.data.path, watch)
        own = prepare(replace(request.data, edges=edges), folder, reading)
        path, fingerprint = own.place.value[0], own.fingerprint
    else:
        _generated(request, edges, path)
    found = ChunkPlanner(request.name, array, mix, edges, path)
    kind = "cold query" if request.cold else "query"
    opened = request.cold and mix.keep_open
    known = {
        f"{kind} {each.name!r} to {found.name}": digest([each.box.extents, each.box.starts, opened])
        for each in found.mix.queries
    }
    return found, {found.name: fingerprint, **known}


def _described(request: PlanRequest, watch: Watch) -> Description:
    if request.data:
        reading = ReadingLines(request.data.path, watch)
        found = describe_own_array(request.data, reading, watch)
    else:
        found = _generated(request, None, None)
    if not found.shape or 0 in found.shape:
        raise InvalidRequestError(f"an array of shape {found.shape} has no chunks to choose")
    return found


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


def _generic(shape: tuple[int, ...]) -> Iterator[MixQuery]:
    """Yield queries that separate the terms of the model: a value, and a line along each axis."""
    ones, free = (1,) * len(shape), (None,) * len(shape)
    yield MixQuery("a value", 0.0, Box(ones, free))
    for axis, edge in enumerate(shape):
        extents = (*ones[:axis], edge, *ones[axis + 1 :])
        yield MixQuery(f"a line along axis {axis}", 0.0, Box(extents, free))


def _library_chunks(label: str, shape: tuple[int, ...], dtype: object) -> tuple[int, ...] | None:
    return array_stores.get(label).library_chunks(shape, dtype)  # type: ignore[arg-type]

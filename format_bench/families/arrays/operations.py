"""Operations on n-d arrays: all of them read and write chunk by chunk."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import TYPE_CHECKING

import array_stores
import data_generator
from adapter_core import ArraySource, ArrayStore, UnsupportedError
from adapter_core.array_description import Description
from adapter_core.array_source import Selection, chunk_selections, grid_of
from adapter_core.array_store import Property
from adapter_core.error_bounds import BoundKind, ErrorBound, rounded
from format_bench.families.arrays.access import Pattern, loader_seconds_per_chunk, read_in_order
from format_bench.families.arrays.queries import (
    ArrayQuery,
    check,
    check_own,
    chunks_on,
    selects_by_coordinates,
)
from format_bench.families.bounded import MOST_PAIRS, extremes, resolved
from format_bench.families.elsewhere import measure_remote
from format_bench.families.operations import CatalogOperations, Measured, OpenQuery, warm_up_file
from format_bench.verification.arrays import Errors, verify_array

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

    import numpy as np

    from format_bench.families.questions import Questions
    from format_bench.instruments.clock import Effort
    from format_bench.results.suites import Step
    from format_bench.verification import Diff

# Largest array that is loaded before the clock starts. A save of a larger one includes reading its
# chunks from the page cache, by the store `NPY`, for all stores alike: a row of chunks along the first
# axis at a time, if it is of usual size. Leaves room for the copy that is read back and compared.
# Chosen, not measured.
IN_MEMORY_BYTES = 2**32

# Largest array that is kept as it is while stores are measured; a larger one is compressed, which all
# stores alike decode as they save. A quarter of FoxBench's soil, 37 GB, would leave a disk of 40 GB no
# room for a store. Chosen, not measured.
PLAIN_BYTES = 2**34

# Largest row of chunks that is kept while smaller chunks are cut out of it. 64 maps of ERA5's grid, 721
# x 1,440 float32, fit. Chosen, not measured.
ROW_BYTES = 2**28

PATTERNS = {
    "random read time per chunk": Pattern(partitioned=False, shuffled=True),
    "partition read time per chunk": Pattern(partitioned=True, shuffled=False),
    "random partition read time per chunk": Pattern(partitioned=True, shuffled=True),
}


class ArrayOperations(CatalogOperations):
    """One array store, with or without one of its codecs."""

    family = "arrays"
    has_error_bounds = True
    adapter: ArrayStore
    error_bound: ErrorBound | None = None
    """Bound that files are compared with, absolute or relative; None if values shall not change."""
    rounds = False
    """Whether values are rounded within the bound before they are saved."""
    chunk_shape: tuple[int, ...] = ()
    """Shape of the chunks to write, in place of the track's or the array's own; cut at its edges."""
    expected: Description
    """Of the array whose stored file is read."""

    @staticmethod
    def datasets() -> list[str]:
        """Return the names of the generated and the real arrays."""
        return data_generator.array_names()

    @staticmethod
    def generate(dataset: str, size: int | None) -> ArraySource:
        """Return an array of `size` chunks."""
        found = data_generator.array(dataset, size).array
        if found is None:
            raise AssertionError(f"{dataset} is not an array")
        return found

    @staticmethod
    def store(data: ArraySource, path: Path) -> tuple[int, int]:
        """Store an array chunk by chunk; return the number of chunks and of dimensions."""
        _cache().save(data, path, codec="blosc:lz4" if data.size_bytes > PLAIN_BYTES else None)
        return math.prod(grid_of(data.shape, data.chunks)), len(data.shape)

    @staticmethod
    def load(path: Path) -> ArraySource:
        """Return the array, in memory if it is of usual size."""
        reader = _cache().open(path)
        source = reader.source()
        if source.size_bytes > IN_MEMORY_BYTES:
            return replace(source, read=_by_rows(source))
        in_memory = ArraySource.of(reader.read(), source.chunks)
        return replace(source, read=in_memory.read)

    @staticmethod
    def take(data: ArraySource, positions: Sequence[int]) -> ArraySource:
        """Return rows of chunks along the first axis, with chunks at the positions.

        As many rows are taken as have as many chunks as there are positions.
        """
        grid = grid_of(data.shape, data.chunks)
        row_chunks = max(1, math.prod(grid[1:]))
        rows = sorted({position // row_chunks for position in positions})
        wanted = max(1, len(positions) // row_chunks)
        return _rows_of(data, rows[:: max(1, len(rows) // wanted)][:wanted])

    @staticmethod
    def raw_bytes(data: ArraySource) -> int:
        """Return the size of all values: all stores of a large array together may fill a disk."""
        return data.size_bytes

    @staticmethod
    def ask_own(name: str, stored: Path, questions: Questions, place: Path) -> None:  # noqa: ARG004
        """Check a user's questions, and leave the array where it shall be."""
        with _cache().open(stored) as reader:
            for each in questions.by_name.values():
                check_own(each, reader.description)
        stored.rename(place)

    @staticmethod
    def check_asked(data: ArraySource, questions: Questions) -> None:
        """Raise `InvalidQuestionsError` if a question does not fit an array."""
        for each in questions.by_name.values():
            check_own(each, Description.of(data))

    def expect(self, data: Path) -> None:
        """Note the description of stored data."""
        with _cache().open(data) as reader:
            self.expected = reader.description

    @property
    def chunks(self) -> tuple[int, ...]:
        """Shape of the chunks to write and to read, whether or not the store keeps it."""
        return self._chunks_of(self.expected)

    def _chunks_of(self, array: Description) -> tuple[int, ...]:
        if not self.chunk_shape:
            return chunks_on(self.track, self.adapter.label, array) if self.track else array.chunks
        if len(self.chunk_shape) != len(array.shape):
            edges = f"{len(self.chunk_shape)} edges"
            raise UnsupportedError(f"the array has {len(array.shape)} axes, and a chunk shape {edges}")
        return tuple(map(min, self.chunk_shape, array.shape))

    def warm_up(self) -> None:
        """Save, open and read a tiny array, with the codec if it can; write a tiny answer."""
        _warm_up(self.adapter, self.codec)

    def keep_within(self, bound: ErrorBound) -> None:
        """Give the bound to a lossy codec; before a lossless one, or without any, round the values."""
        if self.expected.dtype.kind != "f":
            raise UnsupportedError(f"error bounds are of floats, and values are {self.expected.dtype}")
        codec = self.adapter.codec_named(self.codec) if self.codec else None
        with _cache().open(self.data_file) as reader:
            source = reader.source()
            taken = self.error_bound = resolved(bound, _values(source), _sampled(source))
            if codec is not None and codec.error and taken.kind not in codec.bounds:
                least, greatest = extremes(_values(source))
                most = max(-least, greatest)
                share = min(1.0, taken.share / most) if most else 1.0
                taken = ErrorBound(BoundKind.RELATIVE, share)
        if codec is not None and codec.error:
            self.adapter = self.adapter.with_error_bound(taken)
            self.unchecked = self.adapter.without_check()
        else:
            # A store that always changes values has no use for rounded ones.
            self.rounds = self.adapter.error is None

    def check(self, data: ArraySource) -> None:
        """Raise `CannotHoldError` if the store, or the codec, cannot keep the array."""
        self.adapter.check(data, self.codec)

    def save(self, data: ArraySource, file: Path) -> None:
        """Save the array chunk by chunk, rounded where that keeps the bound."""
        chunks = self._chunks_of(Description.of(data))
        if self.rounds and self.error_bound:
            data = _rounded(data, self.error_bound)
        self.unchecked.save(data, file, chunks, self.codec, self.level)

    def read(self, file: Path) -> Path:
        """Open the array and read every chunk in order; return the file, for `verify`."""
        with self.adapter.open(file) as reader:
            read_in_order(reader, self.chunks)
        return file

    def compare(self, data: ArraySource, found: Path) -> Diff:
        """Compare the arrays chunk by chunk; values may change within the bound, or as declared."""
        codec = self.adapter.codec_named(self.codec) if self.codec else None
        level = codec.level_or_default(self.level) if codec else None
        with self.adapter.open(found) as reader:
            return verify_array(self.adapter, codec, level, data, reader, self.error_bound)

    def sample(
        self,
        metric: str,
        file: Path,
        *,
        cache: str | None,  # noqa: ARG002 (the file is in that state)
        turn: int,
        budget_seconds: float,
    ) -> list[float]:
        """Sample the seconds per chunk of reads by a pattern, or of loading ahead."""
        if metric == "loader time per chunk":
            label = self.adapter.label
            return [loader_seconds_per_chunk(label, file, self.chunks, turn, budget_seconds)]
        with self.adapter.open(file) as reader:
            return [PATTERNS[metric].seconds_per_chunk(reader, self.chunks, turn, budget_seconds)]

    def measure(self, step: Step, file: Path, _effort: Effort) -> list[Measured] | None:
        """Measure the step `remote` in processes of its own, and `errors` against the data."""
        if step.name == "errors":
            found = self._errors(file).by_metric()
            return [Measured(each, [found[each]]) for each in step.metrics]
        if step.name != "remote":
            return None
        return measure_remote(
            "arrays", self.adapter.label, file, step.metrics, link=self.link, bucket=self.bucket
        )

    def _errors(self, file: Path) -> Errors:
        found = Errors()
        with _cache().open(self.data_file) as data, self.adapter.open(file) as reader:
            for selection, values in data.source():
                found.add(values, reader.read(selection))
        return found

    def check_query(self, query: str) -> None:
        """Raise `UnsupportedError` if a query asks other data, or the store keeps no coordinates."""
        question = self.questions.by_name[query]
        check(question, self.expected)
        if selects_by_coordinates(question) and Property.COORDINATES not in self.adapter.keeps:
            raise UnsupportedError(
                f"{self.adapter.label} keeps no coordinates, by which queries select their values"
            )

    def open_query(self, query: str, file: Path) -> OpenQuery:
        """Open a saved array for a query."""
        return ArrayQuery(self.adapter, file, self.questions.by_name[query], self.expected)


OPERATIONS = ArrayOperations


def _cache() -> ArrayStore:
    """Return the store that generated data are kept in: its chunks are read without decoding."""
    return array_stores.get("NPY")


def _values(source: ArraySource) -> Iterator[np.ndarray]:
    """Yield the values of each chunk."""
    return (values for _, values in source)


def _sampled(source: ArraySource) -> Iterator[np.ndarray]:
    """Yield the values of chunks over the whole array, with some more than `MOST_PAIRS` in all."""
    chunks = list(chunk_selections(source.shape, source.chunks))
    wanted = -(-MOST_PAIRS // max(1, math.prod(source.chunks))) + 1
    return (source.read(each) for each in chunks[:: max(1, len(chunks) // wanted)] if source.shape)


def _rounded(source: ArraySource, bound: ErrorBound) -> ArraySource:
    """Return an array whose values are rounded as they are read."""
    return replace(source, read=lambda selection: rounded(source.read(selection), bound))


def _by_rows(source: ArraySource) -> Callable[[Selection], np.ndarray]:
    """Return a reader of a source that reads a row of chunks once for all selections within it."""
    import numpy as np

    edge = source.chunks[0]
    row_bytes = edge * math.prod(source.shape[1:]) * source.dtype.itemsize

    @functools.lru_cache(maxsize=1)
    def row(first: int) -> np.ndarray:
        whole = (slice(0, each) for each in source.shape[1:])
        return source.read((slice(first, min(first + edge, source.shape[0])), *whole))

    def read(selection: Selection) -> np.ndarray:
        start, stop = selection[0].start, selection[0].stop
        first = start - start % edge
        if row_bytes > ROW_BYTES or stop > first + edge:
            return source.read(selection)
        inner = slice(start - first, stop - first)
        return np.ascontiguousarray(row(first)[(inner, *selection[1:])])

    return read


def middle_of(data: ArraySource, edges: tuple[int, ...]) -> ArraySource:
    """Return a part of some edges from the middle of an array, which is read when the part is."""
    # Whole chunks of the source, so that none is read twice.
    firsts = tuple(
        (edge - less) // 2 // chunk * chunk
        for edge, less, chunk in zip(data.shape, edges, data.chunks, strict=True)
    )

    def read(selection: Selection) -> np.ndarray:
        moved = zip(selection, firsts, strict=True)
        return data.read(tuple(slice(each.start + by, each.stop + by) for each, by in moved))

    coordinates = {
        dim: data.coordinates[dim][first : first + less]
        for dim, first, less in zip(data.dims, firsts, edges, strict=True)
        if dim in data.coordinates
    }
    chunks = tuple(map(min, data.chunks, edges))
    return replace(data, shape=edges, chunks=chunks, read=read, coordinates=coordinates)


def _rows_of(data: ArraySource, rows: list[int]) -> ArraySource:
    """Return the rows of chunks along the first axis at some places, in order."""
    import numpy as np

    if not data.shape:
        return data
    edge, chunk = data.shape[0], data.chunks[0]
    spans = [range(row * chunk, min(edge, (row + 1) * chunk)) for row in rows]
    places = [place for span in spans for place in span]
    coordinates = dict(data.coordinates)
    if data.dims[0] in coordinates:
        coordinates[data.dims[0]] = coordinates[data.dims[0]][places]

    def read(selection: Selection) -> np.ndarray:
        wanted = places[selection[0]]
        parts = [data.read((slice(place, place + 1), *selection[1:])) for place in wanted]
        return np.concatenate(parts) if len(parts) != 1 else parts[0]

    shape = (len(places), *data.shape[1:])
    return replace(data, shape=shape, read=read, coordinates=coordinates)


@functools.cache
def _warm_up(adapter: ArrayStore, codec: str | None) -> None:
    import numpy as np

    with warm_up_file(adapter.suffix) as path:
        values = np.arange(2 * 16 * 16, dtype="float32").reshape(2, 16, 16)
        adapter.save(values, path, (1, 16, 16), codec)
        with adapter.open(path) as reader:
            read_in_order(reader, (1, 16, 16))
        if Property.COORDINATES in adapter.keeps:
            # Else the first query's answer imports what the library writes with.
            dims = ("time", "latitude", "longitude")
            coordinates = {
                dim: np.arange(edge, dtype="float64")
                for dim, edge in zip(dims, values.shape, strict=True)
            }
            answer = ArraySource.of(values, name="warm", dims=dims, coordinates=coordinates)
            adapter.write_answer(answer, path.with_name(f"answer{adapter.suffix}"))

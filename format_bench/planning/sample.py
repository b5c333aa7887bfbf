"""Sample of an array: a hyperrectangle from its middle, kept in one file that processes map."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import data_generator
from adapter_core import ArraySource, FormatBenchError
from adapter_core.array_description import Description
from adapter_core.array_source import chunk_selections
from adapter_core.errors import InvalidDataError, InvalidRequestError, UserDataError
from data_generator.confinement.limits import USUAL_LIMITS, DataLimits
from data_generator.confinement.process import Watch, call
from format_bench.instruments import isolation

if TYPE_CHECKING:
    import numpy as np

    from format_bench.planning.mix import Mix

SHORT_AXIS = 8
"""Axes of at most so many indexes are not cut, unless nothing else is left."""

LIMIT_SECONDS = 3600
"""After which reading counts as hung."""


@dataclass(frozen=True)
class ArrayOrigin:
    """Where the array of a plan comes from: a user's file, or a named data set."""

    path: str | None = None
    dataset: str | None = None
    size: int | None = None
    """Chunks of the data set; all if None."""
    limits: DataLimits = USUAL_LIMITS
    """Of the process that reads a file."""

    def source(self) -> ArraySource:
        """Return the array, which is read or generated piece by piece.

        Raises
        ------
        InvalidDataError
            If the file is not an array.
        FormatBenchError
            If it cannot be read, or the data set is unknown.
        """
        if self.path is not None:
            from data_generator.user.array import load_array

            found = load_array(self.path).array
        else:
            found = data_generator.array(self.dataset or "", self.size).array
        if found is None:
            raise AssertionError(f"{self} is not an array")
        return found


def describe(
    origin: ArrayOrigin,
    watch: Watch | None = None,
    remark: Callable[[str], object] | None = None,
) -> Description:
    """Return the description of an array, read in a process of its own.

    Raises
    ------
    UserDataError
        If it cannot be read.
    """
    if origin.path is not None:
        found = _confined("describe_file", {}, origin, None, watch, remark)
    else:
        found = _in_process(_describe, origin)
    if not found.shape or 0 in found.shape:
        raise InvalidRequestError(f"an array of shape {found.shape} has no chunks to choose")
    return found


def sample_edges(
    shape: tuple[int, ...], mix: Mix, value_bytes: int, most_bytes: float
) -> tuple[int, ...]:
    """Return the edges of a sample of at most a size.

    All axes are cut by the same factor, but to no less than the largest extent, other than the whole
    axis, that a query has along it; and short axes are not cut. Where the size does not allow that, only
    the factor counts.

    Parameters
    ----------
    shape : tuple of int
        Edges of the array.
    mix : Mix
        The queries to it.
    value_bytes : int
        Bytes of a value.
    most_bytes : float
        Size of the sample.
    """
    least = []
    for axis, edge in enumerate(shape):
        extents = [each.extents[axis] for each in mix.queries if each.extents[axis] < edge]
        least.append(max([1, *extents, min(edge, SHORT_AXIS)]))
    most_values = max(1.0, most_bytes / value_bytes)
    if math.prod(least) > most_values:
        least = [1] * len(shape)
    low, high = 0.0, 1.0
    if math.prod(shape) <= most_values:
        return shape
    for _ in range(50):
        factor = (low + high) / 2
        is_small = math.prod(_cut(shape, least, factor)) <= most_values
        low, high = (factor, high) if is_small else (low, factor)
    return _cut(shape, least, low)


def _cut(shape: tuple[int, ...], least: list[int], factor: float) -> tuple[int, ...]:
    return tuple(max(few, min(edge, int(edge * factor))) for edge, few in zip(shape, least, strict=True))


@dataclass(frozen=True)
class StoredSample:
    """A sample on disk, as measuring processes get it."""

    path: Path
    description: Description
    """Its chunks are the source's, cut at its edges."""

    def values(self) -> np.ndarray:
        """Return the values, mapped."""
        import numpy as np

        return np.load(self.path, mmap_mode="r", allow_pickle=False)

    def source(self, chunks: tuple[int, ...]) -> ArraySource:
        """Return the sample as a source of some chunks."""
        facts = self.description
        return ArraySource.of(
            self.values(),
            chunks,
            name=facts.name,
            dims=facts.dims,
            attributes=facts.attributes,
            coordinates=facts.coordinates,
        )


def store_sample(
    origin: ArrayOrigin, edges: tuple[int, ...], path: Path, watch: Watch | None = None
) -> StoredSample:
    """Store the middle of an array, in a process of its own.

    Raises
    ------
    UserDataError
        If it cannot be read.
    """
    if origin.path is None:
        return StoredSample(path, _in_process(_store, origin, edges, path))
    folder = path.parent / "reading"
    arguments = {"edges": edges, "target": str((folder / path.name).absolute())}
    found = _confined("store_file", arguments, origin, folder, watch)
    if found.shape != edges:
        raise UserDataError(f"{origin.path}: the process that read it gave another answer")
    (folder / path.name).rename(path)
    return StoredSample(path, found)


def _confined(  # noqa: PLR0913, PLR0917 (what is called, and how)
    task: str,
    arguments: dict[str, Any],
    origin: ArrayOrigin,
    folder: Path | None,
    watch: Watch | None,
    remark: Callable[[str], object] | None = None,
) -> Description:
    """Call a task of this module on a user's file in a confined process."""
    place = origin.path or ""
    try:
        found = call(
            f"{__name__}:{task}",
            {"path": place, **arguments},
            place=place,
            folder=folder,
            limits=origin.limits,
            watch=watch,
            remark=remark,
        )
        return Description.from_dict(found)
    except InvalidDataError as error:
        raise UserDataError(str(error)) from error
    except (ValueError, TypeError, LookupError) as error:
        raise UserDataError(f"{place}: the process that read it gave no answer") from error


def describe_file(path: str) -> dict[str, Any]:
    """Return the description of an array in a file, as JSON has it; a task of a confined process."""
    return _describe(ArrayOrigin(path)).to_dict()


def store_file(path: str, edges: list[int], target: str) -> dict[str, Any]:
    """Store the middle of an array in a file; return the description. A task of a confined process."""
    return _store(ArrayOrigin(path), tuple(edges), Path(target)).to_dict()


def _in_process(step: Any, origin: ArrayOrigin, *arguments: Any) -> Any:
    outcome = isolation.run(_caught, step, origin, *arguments, limit_seconds=LIMIT_SECONDS)
    if outcome.status:
        raise UserDataError(f"{origin.path or origin.dataset}: cannot be read: {outcome.sentence}")
    if isinstance(outcome.value, str):
        raise UserDataError(outcome.value)
    return outcome.value


def _caught(step: Any, *arguments: Any) -> Any:
    """Return the result of a step, or the message of an error that is meant for the user."""
    try:
        return step(*arguments)
    except FormatBenchError as error:
        return str(error)
    except ValueError as error:  # e.g. a real data set has fewer chunks
        return str(error)


def _describe(origin: ArrayOrigin) -> Description:
    return Description.of(origin.source())


def _store(origin: ArrayOrigin, edges: tuple[int, ...], path: Path) -> Description:
    import numpy as np

    source = origin.source()
    # Whole chunks of the source, so that none is read twice.
    firsts = tuple(
        (edge - less) // 2 // chunk * chunk
        for edge, less, chunk in zip(source.shape, edges, source.chunks, strict=True)
    )
    values = np.lib.format.open_memmap(path, "w+", source.dtype, edges)
    chunks = tuple(map(min, source.chunks, edges))
    for selection in chunk_selections(edges, chunks):
        moved = tuple(
            slice(each.start + first, each.stop + first)
            for each, first in zip(selection, firsts, strict=True)
        )
        values[selection] = source.read(moved)
    values.flush()
    coordinates = {
        dim: np.asarray(source.coordinates[dim])[first : first + less]
        for dim, first, less in zip(source.dims, firsts, edges, strict=True)
        if dim in source.coordinates
    }
    return replace(Description.of(source), shape=edges, chunks=chunks, coordinates=coordinates)

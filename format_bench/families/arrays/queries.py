"""Questions to arrays by coordinates or indexes, and their answers."""

from __future__ import annotations

import contextlib
import difflib
import tomllib
from datetime import UTC, date, datetime, time
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import ArraySource, ArrayStore, UnsupportedError
from adapter_core.adapter import format_of
from adapter_core.availability import import_failure
from adapter_core.errors import WrongValuesError
from format_bench.families.arrays.access import touched
from format_bench.families.arrays.boxes import Box, box_of
from format_bench.families.operations import OpenQuery
from format_bench.families.questions import ARRAYS, Question, declared
from format_bench.results.display.text import joined
from format_bench.results.status import WRONG

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.array_description import Bounds, Description

CHUNKS = Path(__file__).with_name("chunks.toml")


def check(question: Question, array: Description) -> None:
    """Check that a question applies to an array.

    Raises
    ------
    UnsupportedError
        If the array is of another variable, has no coordinates to select by, or is too short.
    """
    fields = question.fields
    variable, first = fields.get("variable", array.name), fields.get("first", {})
    if array.name != variable:
        raise UnsupportedError(f"{question.name} asks {variable}, and the array is {array.name}")
    dims = list(dict.fromkeys([*first, *fields.get("area", {})]))
    if missing := [dim for dim in dims if dim not in array.coordinates]:
        raise UnsupportedError(f"the array has no coordinates of {joined(missing)}")
    if unordered := [dim for dim in dims if array.coordinates[dim].dtype.kind == "c"]:
        raise UnsupportedError(f"complex coordinates have no order: those of {joined(unordered)}")
    for dim, count in first.items():
        edge = array.shape[array.dims.index(dim)]
        if edge < count:
            unit = "hours" if dim == "time" else f"indexes of {dim}"
            raise UnsupportedError(f"{question.name} asks {count:,} {unit}, and the array has {edge:,}")


def check_own(question: Question, array: Description) -> None:
    """Check that a user's question fits an array.

    Raises
    ------
    InvalidQuestionsError
        If it does not; the message names the file and the entry.
    """
    if question.kind != ARRAYS:
        raise question.refused("it asks a table, and the data are an array")
    fields = question.fields
    bounded = fields.get("first", {}).keys() | fields.get("area", {}).keys()
    extents = fields.get("extent", {}).keys()
    for dim in (*bounded, *extents, *fields.get("start", {})):
        if dim not in array.dims:
            near = difflib.get_close_matches(dim, array.dims, n=1)
            advice = f"did you mean {near[0]!r}?" if near else f"it has {joined(array.dims)}"
            raise question.refused(f"the array has no dimension {dim!r}; {advice}")
    if both := sorted(bounded & extents):
        raise question.refused(f"{both[0]} has an extent and bounds; write one of them")
    if alone := sorted(fields.get("start", {}).keys() - extents):
        raise question.refused(f"{alone[0]} has a start, but no extent")
    try:
        check(question, array)
        bounds_of(question, array)
    except UnsupportedError as error:
        raise question.refused(error) from error
    if 0 in box_to(question, array).extents:
        raise question.refused("no value of the array is within its bounds")


def bounds_of(question: Question, array: Description) -> Bounds:
    """Return all bounds of a question that applies to an array, inclusive, by dimension."""
    found: dict[str, tuple[float, float]] = {}
    for dim, count in question.fields.get("first", {}).items():
        ends = array.coordinates[dim][[0, count - 1]].tolist()
        found[dim] = min(ends), max(ends)
    for dim, (least, largest) in question.fields.get("area", {}).items():
        is_moment = isinstance(least, date)
        found[dim] = _in_units(dim, least, largest, array) if is_moment else (least, largest)
    return found


def _in_units(dim: str, least: date, largest: date, array: Description) -> tuple[float, float]:
    """Return two dates or times in the units of a coordinate; the last date counts to its end.

    Raises
    ------
    UnsupportedError
        If the coordinate has no units and calendar of the CF conventions, or cftime is missing.
    """
    if reason := import_failure("cftime"):
        raise UnsupportedError(f"bounds of {dim} are dates, which cftime converts: {reason}")
    import cftime

    attributes = array.coordinate_attributes.get(dim, {})
    units, calendar = attributes.get("units"), attributes.get("calendar", "standard")
    if not isinstance(least, datetime):
        least, largest = (
            datetime.combine(day, at) for day, at in ((least, time.min), (largest, time.max))
        )
    try:
        first, last = (
            float(cftime.date2num(_moment(each, calendar), units, calendar)) for each in (least, largest)
        )
    except (ValueError, TypeError, AttributeError) as error:
        has = f"the coordinate has the units {units!r} and the calendar {calendar!r}"
        raise UnsupportedError(f"bounds of {dim} are dates, and {has}; write numbers") from error
    return first, last


def _moment(moment: date, calendar: object) -> Any:
    """Return a date or time of a calendar; of a zone, as UTC."""
    import cftime

    if isinstance(moment, datetime) and moment.tzinfo is not None:
        moment = moment.astimezone(UTC)
    return cftime.datetime(*moment.timetuple()[:6], getattr(moment, "microsecond", 0), calendar=calendar)


def box_to(question: Question, array: Description) -> Box:
    """Return the part of an array that a question asks for which applies to it.

    Raises
    ------
    InvalidQuestionsError
        If an extent does not fit the array.
    """
    return box_of(question, array, array.selection(bounds_of(question, array)))


def selects_by_coordinates(question: Question) -> bool:
    """Return whether an answer depends on coordinates, which a store has to keep then."""
    return bool(question.fields.keys() & {"first", "area"})


def queries_to(array: Description) -> list[Question]:
    """Return the family's questions that apply to an array, in order."""
    found = []
    for question in declared("arrays").to().by_name.values():
        with contextlib.suppress(UnsupportedError):
            check(question, array)
            found.append(question)
    return found


@cache
def _chunks() -> dict[str, Any]:
    return tomllib.loads(CHUNKS.read_text(encoding="utf-8"))


def chunks_on(track: str, label: str, array: Description) -> tuple[int, ...]:
    """Return the shape of the chunks that a store writes on a track.

    Parameters
    ----------
    track : str
        Name of the track; chunks.toml has the edges for the variable and the store. On a track without
        edges, the chunks are the array's own.
    label : str
        The store.
    array : Description
        The array: an edge is at most its own, and dimensions without a declared edge are not divided.
    """
    by_variable = _chunks().get(track)
    if by_variable is None:
        return array.chunks
    declared = by_variable.get(array.name) or by_variable.get("all", {})
    kind = format_of(label)
    edges: dict[str, int] = declared.get(label) or declared.get(kind) or declared.get("all", {})
    return tuple(
        max(1, min(edges.get(dim, edge), edge))
        for dim, edge in zip(array.dims, array.shape, strict=True)
    )


# A chunk of a written answer: whole steps in time, as many as this.
ANSWER_CHUNK_BYTES = 2**24


class ArrayQuery(OpenQuery):
    """A query to an open array.

    Parameters
    ----------
    store : ArrayStore
        The store of the file.
    file : Path
        The file.
    question : Question
        A question that applies.
    array : Description
        Of the array that was saved.
    """

    def __init__(self, store: ArrayStore, file: Path, question: Question, array: Description) -> None:
        self._store, self._array = store, array
        self._bounds = bounds_of(question, array)
        # Without extents this is the selection of the bounds. A random place is the question's own.
        self._selection = box_to(question, array).selection(array.shape, question.name)
        self._by_indexes = "extent" in question.fields
        self._reader = store.open(file)
        # xarray reads coordinates as it opens a file, and other stores later: not in the query's time.
        for dim in self._bounds:
            self._reader.coordinates.get(dim)

    def read(self) -> np.ndarray:
        """Return the values that the query asks for, in memory."""
        if self._by_indexes:
            values = self._reader.read(self._selection)
        else:
            values = self._reader.select(self._bounds)
        return touched(self._reader, values)

    def write(self, answer: np.ndarray, path: Path) -> None:
        """Write the values with their coordinates, uncompressed."""
        array = self._array
        step_bytes = max(1, answer.nbytes // max(1, len(answer)))
        steps = max(1, min(len(answer), ANSWER_CHUNK_BYTES // step_bytes))
        source = ArraySource.of(
            answer,
            (steps, *(max(1, edge) for edge in answer.shape[1:])),
            name=array.name,
            dims=array.dims,
            attributes=array.attributes,
            coordinates={
                dim: array.coordinates[dim][part]
                for dim, part in zip(array.dims, self._selection, strict=True)
                if dim in array.coordinates
            },
            coordinate_attributes=array.coordinate_attributes,
        )
        self._store.write_answer(source, path)

    def verify(self, answer: np.ndarray, data: ArraySource) -> str:
        """Compare an answer with NumPy's on the data, bit by bit; return the number of values.

        Raises
        ------
        WrongValuesError
            If shape, dtype or a value differs.
        """
        wanted = data.read(self._selection)
        if answer.shape != wanted.shape or answer.dtype != wanted.dtype:
            raise WrongValuesError(
                f"{WRONG}{answer.dtype} of shape {answer.shape} instead of {wanted.dtype} of shape "
                f"{wanted.shape}"
            )
        differs = (_bytes_of(answer) != _bytes_of(wanted)).any(axis=1)
        if differs.any():
            raise WrongValuesError(f"{WRONG}{differs.sum():,} of {answer.size:,} values")
        return f"{answer.size:,} values, all equal to NumPy's"

    def close(self) -> None:
        """Close the array."""
        self._reader.close()


def _bytes_of(values: np.ndarray) -> np.ndarray:
    """Return the bytes of each value; shape (size, itemsize), uint8."""
    import numpy as np

    return np.ascontiguousarray(values).reshape(-1, 1).view(np.uint8)

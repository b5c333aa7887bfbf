"""GRIB files of editions 1 and 2, through ecCodes: messages of one variable are one array."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.array_source import Selection, shape_of
from data_generator.array_files._file import ArrayFile, StoredArray
from data_generator.array_files._grib_fields import Parts, fields, message_of
from data_generator.errors import silenced
from data_generator.readers._reader import check_fits

if TYPE_CHECKING:
    import numpy as np


DTYPE = "float32"
"""Type of all values: users of cfgrib and xarray get it, too."""

MISSING = 3.4028234663852886e38
"""The largest float32, in place of missing values: ecCodes' usual 9999 is the height of a mountain."""

_MARKS_OF_MISSING = ("bitmapPresent", "missingValueManagementUsed")

MESSAGE = "message"
"""Dimension of messages that differ in something else than the axes."""

# Attributes by key of a message.
_ATTRIBUTES = {"units": "units", "long_name": "name", "standard_name": "cfName"}
_UNKNOWN = ("unknown", "~", "")

_TIME_ATTRIBUTES = {
    "units": "seconds since 1970-01-01T00:00:00",
    "calendar": "proleptic_gregorian",
    "standard_name": "time",
}
_COORDINATE_ATTRIBUTES: Mapping[str, Mapping[str, str]] = {
    "number": {"long_name": "number of the member of an ensemble"},
    "time": _TIME_ATTRIBUTES,
    "step": {"long_name": "time since the start of the forecast"},
    "level": {},
    "latitude": {"units": "degrees_north", "standard_name": "latitude"},
    "longitude": {"units": "degrees_east", "standard_name": "longitude"},
}
AXES = ("number", "time", "step", "level")
"""Keys in which messages of one variable differ, outer axes first."""

# Seconds of the units of steps; the first that divides all steps is taken.
_STEP_UNITS = {"hours": 3600, "minutes": 60, "seconds": 1}

_LEVEL_UNITS = {"isobaricInhPa": "hPa", "isobaricInPa": "Pa", "heightAboveGround": "m"}

# Coordinates are computed as doubles, of latitude and longitude.
_BYTES_OF_A_POINT = 2 * 8


class GRIBFile(ArrayFile):
    """File of GRIB messages; missing values are the attribute `missing_value`.

    An array is named by the parameter's short name, with the type of level where that differs. Its axes
    are those of `AXES` in which its messages differ, then latitude and longitude. Coordinates have names
    below the array's, e.g. ``t/level``. Each message is a chunk, and so is each field of one that has
    several.
    """

    kind = "GRIB"
    endings = (".grib", ".grib1", ".grib2", ".grb", ".grb1", ".grb2")
    signatures = (b"GRIB",)
    requires = ("eccodes",)
    remarks = (f"packed values are decoded to {DTYPE}",)

    @classmethod
    def recognises(cls, path: Path, head: bytes) -> bool:
        """Return True for a file that begins with a message, or with the header of a bulletin."""
        is_named = path.name.lower().endswith(cls.endings)
        return super().recognises(path, head) or (is_named and cls.signatures[0] in head)

    def arrays(self) -> list[StoredArray]:
        """Return the variables and their coordinates."""
        import numpy as np

        found = []
        for each in self._variables().values():
            lines = {name: f"{each.name}/{name}" for name in each.coordinates}
            shape = (*each.lead_shape, *each.grid)
            chunks = (*(1 for _ in each.lead_shape), *each.grid)
            dtype = np.dtype(DTYPE)
            found.append(StoredArray(each.name, shape, dtype, chunks, each.dims, each.attributes, lines))
            found += [
                StoredArray(
                    lines[name],
                    values.shape,
                    values.dtype,
                    dims=(name,),
                    attributes=each.attributes_of(name),
                    is_coordinate=True,
                )
                for name, values in each.coordinates.items()
            ]
        return found

    def read(self, name: str, selection: Selection) -> np.ndarray:
        """Return decoded values; the last messages are kept."""
        import numpy as np

        variable, _, coordinate = name.partition("/")
        found = self._variables()[variable]
        if coordinate:
            return found.coordinates[coordinate][selection]
        edges = len(found.lead_shape)
        lead, rest = selection[:edges], selection[edges:]
        values = np.empty(shape_of(selection), DTYPE)
        for place in itertools.product(*(range(each.start, each.stop) for each in lead)):
            field = _decoded(self.path, self.path.stat().st_mtime_ns, found.messages[place])
            inner = tuple(index - each.start for index, each in zip(place, lead, strict=True))
            values[inner] = field.reshape(found.grid)[rest]
        return values

    def _variables(self) -> Mapping[str, _Variable]:
        facts = self.path.stat()
        return _variables_of(self.path, facts.st_mtime_ns, facts.st_size)


@dataclass(frozen=True)
class _Message:
    """A field, which most messages have one of: its place, and its variable."""

    parts: Parts
    kind: tuple[str, str, str]
    """Short name, type of level, and digest of the grid."""
    axes: tuple[int, ...]
    """Values by the axes of `AXES`, of times and steps in seconds."""
    has_missing: bool
    """Whether a bitmap marks missing values."""


@dataclass(frozen=True, eq=False)
class _Variable:
    """Messages that are one array."""

    name: str
    level_type: str
    dims: tuple[str, ...]
    coordinates: Mapping[str, np.ndarray]
    lead_shape: tuple[int, ...]
    """Shape of the axes of messages."""
    grid: tuple[int, ...]
    """Shape of the values of a message."""
    messages: Mapping[tuple[int, ...], Parts]
    """Place of a message by its index."""
    attributes: Mapping[str, Any]
    step_units: str

    def attributes_of(self, coordinate: str) -> Mapping[str, str]:
        """Return the attributes of a coordinate."""
        if coordinate == "step":
            return {"units": self.step_units, **_COORDINATE_ATTRIBUTES[coordinate]}
        if coordinate != "level":
            return _COORDINATE_ATTRIBUTES[coordinate]
        units = _LEVEL_UNITS.get(self.level_type)
        return {"long_name": self.level_type, **({"units": units} if units else {})}


# All messages would be looked through for each selection otherwise.
@lru_cache(maxsize=2)
def _variables_of(path: Path, changed_ns: int, size_bytes: int) -> dict[str, _Variable]:  # noqa: ARG001 (tells files apart)
    by_kind: dict[tuple[str, str, str], list[_Message]] = {}
    with silenced(), path.open("rb") as file:
        for message in _messages(file, size_bytes):
            by_kind.setdefault(message.kind, []).append(message)
        return {
            name: _variable(path, name, messages)
            for name, messages in zip(_names(by_kind), by_kind.values(), strict=True)
        }


def _messages(file: Any, size_bytes: int) -> Iterator[_Message]:
    """Yield the messages of an open file.

    Raises
    ------
    ValueError
        If the last message is incomplete.
    """
    import eccodes

    # A setting of the whole process, off by default; with it ecCodes yields fields in place of messages.
    eccodes.codes_grib_multi_support_off()
    while (handle := eccodes.codes_grib_new_from_file(file)) is not None:
        with _released(handle):
            offset = int(eccodes.codes_get_message_offset(handle))
            length = int(eccodes.codes_get(handle, "totalLength"))
            if offset + length > size_bytes:
                raise ValueError(f"the message at byte {offset:,} is incomplete")
            places = fields(file.fileno(), offset, length)
            for parts in places:
                is_whole = len(places) == 1
                with nullcontext(handle) if is_whole else _opened(file.fileno(), parts) as field:
                    yield _message(field, parts)


def _message(handle: int, parts: Parts) -> _Message:
    kind = _short_name(handle), _text(handle, "typeOfLevel"), _text(handle, "md5GridSection")
    has_missing = any(_whole(handle, key) for key in _MARKS_OF_MISSING)
    return _Message(parts, kind, tuple(_axes(handle)), has_missing)


def _short_name(handle: int) -> str:
    found = _text(handle, "shortName")
    if not found:
        raise ValueError("a message has no parameter")
    if found not in _UNKNOWN:
        return found
    return f"unknown_{_text(handle, 'parameterCategory')}_{_text(handle, 'parameterNumber')}"


def _axes(handle: int) -> Iterator[int]:
    """Yield the values of a message by the axes of `AXES`; 0 for one without."""
    import eccodes

    yield _whole(handle, "number")
    day, minute = _whole(handle, "dataDate"), _whole(handle, "dataTime")
    try:
        date = day // 10_000, day // 100 % 100, day % 100
        moment = datetime(*date, minute // 100, minute % 100, _whole(handle, "second"), tzinfo=UTC)
    except ValueError:  # e.g. of a climatology, which has no year
        yield 0
    else:
        yield int(moment.timestamp())
    # In ecCodes' own unit, steps of some minutes would be whole hours, or numbers among hours.
    with suppress(eccodes.CodesInternalError):
        eccodes.codes_set(handle, "stepUnits", "s")
    yield _whole(handle, "endStep")
    yield _whole(handle, "level")


def _text(handle: int, key: str) -> str:
    import eccodes

    try:
        return str(eccodes.codes_get(handle, key, ktype=str))
    except eccodes.CodesInternalError:
        return ""


def _whole(handle: int, key: str) -> int:
    import eccodes

    try:
        return int(eccodes.codes_get(handle, key, ktype=int))
    except eccodes.CodesInternalError:
        return 0


def _names(kinds: Iterable[tuple[str, str, str]]) -> list[str]:
    """Return a name for each kind of message, as short as makes them distinct."""
    kinds = list(kinds)
    found: list[str] = []
    for short, level, _ in kinds:
        is_alone = sum(each[0] == short for each in kinds) == 1
        name = short if is_alone or not level else f"{short}_{level}"
        count = sum(each == name or each.startswith(f"{name}_grid") for each in found)
        found.append(f"{name}_grid{count + 1}" if count else name)
    return found


def _variable(path: Path, name: str, messages: Sequence[_Message]) -> _Variable:
    """Return the messages of one kind as an array."""
    first = messages[0]
    dims, coordinates, places = _placed(messages)
    steps = [each.axes[AXES.index("step")] for each in messages]
    step_units = next(
        units for units, size in _STEP_UNITS.items() if all(step % size == 0 for step in steps)
    )
    with path.open("rb", buffering=0) as file, _opened(file.fileno(), first.parts) as handle:
        points = _whole(handle, "numberOfPoints") or _whole(handle, "numberOfValues")
        check_fits(path, points * _BYTES_OF_A_POINT)
        grid_dims, grid, of_grid = _grid(handle, points)
        attributes: dict[str, Any] = {
            attribute: text
            for attribute, key in _ATTRIBUTES.items()
            if (text := _text(handle, key)) not in _UNKNOWN
        }
        if any(each.has_missing for each in messages):
            attributes["missing_value"] = MISSING
    if "step" in coordinates:
        coordinates["step"] //= _STEP_UNITS[step_units]
    return _Variable(
        name,
        first.kind[1],
        (*dims, *grid_dims),
        {**coordinates, **of_grid},
        tuple(len(coordinates[dim]) if dim in coordinates else len(messages) for dim in dims),
        grid,
        {place: each.parts for place, each in zip(places, messages, strict=True)},
        attributes,
        step_units,
    )


def _placed(
    messages: Sequence[_Message],
) -> tuple[tuple[str, ...], dict[str, np.ndarray], list[tuple[int, ...]]]:
    """Return the axes in which messages differ, their coordinates, and the index of each message.

    If messages are missing, or differ in something else, they are on one axis, in the file's order.
    """
    import numpy as np

    values = {name: sorted({each.axes[i] for each in messages}) for i, name in enumerate(AXES)}
    dims = tuple(name for name in AXES if len(values[name]) > 1)
    places = [
        tuple(values[name].index(each.axes[AXES.index(name)]) for name in dims) for each in messages
    ]
    if len(set(places)) == len(messages) == math.prod(len(values[name]) for name in dims):
        return dims, {name: np.array(values[name], np.int64) for name in dims}, places
    return (MESSAGE,), {}, [(number,) for number in range(len(messages))]


def _grid(handle: int, points: int) -> tuple[tuple[str, ...], tuple[int, ...], dict[str, np.ndarray]]:
    """Return the dimensions of a message's values, their shape and their coordinates.

    Grids that are not rectangles, e.g. reduced Gaussian ones, have one dimension without coordinates.
    """
    import eccodes

    columns, rows = _whole(handle, "Ni"), _whole(handle, "Nj")
    if columns * rows != points or points == 0:
        return ("values",), (points,), {}
    dims, shape = ("latitude", "longitude"), (rows, columns)
    if _whole(handle, "jPointsAreConsecutive"):
        dims, shape = ("longitude", "latitude"), (columns, rows)
    try:
        lines = [eccodes.codes_get_array(handle, f"{name}s").reshape(shape) for name in dims]
    except (eccodes.CodesInternalError, ValueError):  # e.g. of a projection that ecCodes does not know
        return ("y", "x"), shape, {}
    outer, inner = lines[0][:, :1], lines[1][:1]
    # Not of rotated grids and projections, whose latitude depends on both axes.
    if (lines[0] == outer).all() and (lines[1] == inner).all():
        return dims, shape, {dims[0]: outer[:, 0].copy(), dims[1]: inner[0].copy()}
    return ("y", "x"), shape, {}


# A message has no parts that could be decoded alone.
@lru_cache(maxsize=4)
def _decoded(path: Path, changed_ns: int, parts: Parts) -> np.ndarray:  # noqa: ARG001 (tells files apart)
    import eccodes
    import numpy as np

    with path.open("rb", buffering=0) as file, silenced(), _opened(file.fileno(), parts) as handle:
        eccodes.codes_set(handle, "missingValue", MISSING)
        try:
            values: np.ndarray = eccodes.codes_get_values(handle, np.float32)
        except eccodes.FunctionNotImplementedError:  # of values of 64 bits
            values = eccodes.codes_get_values(handle).astype(np.float32)
    return values


@contextmanager
def _opened(descriptor: int, parts: Parts) -> Iterator[int]:
    """Yield a handle of a field of an open file."""
    import eccodes

    with _released(eccodes.codes_new_from_message(message_of(descriptor, parts))) as handle:
        yield handle


@contextmanager
def _released(handle: int) -> Iterator[int]:
    """Yield a handle, and free the memory of its message."""
    import eccodes

    try:
        yield handle
    finally:
        eccodes.codes_release(handle)

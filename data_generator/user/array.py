"""Loading of a user's own n-d array from a file of any known kind, read piece by piece."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.array_source import ArraySource, Attribute, Selection
from adapter_core.array_store import ALL_DTYPES
from adapter_core.errors import InvalidDataError
from adapter_core.text import listed
from data_generator import datasets, location
from data_generator.array_files import ArrayFile, StoredArray, array_file, every_kind
from data_generator.dataset import UserData
from data_generator.errors import library_errors
from data_generator.readers._reader import check_fits

if TYPE_CHECKING:
    import numpy as np


# Size of chunks of a file that is not divided.
USUAL_CHUNK_BYTES = 4 * 2**20

# Attributes that change values when they are read by libraries that apply them.
CONVERSIONS = ("scale_factor", "add_offset")
FILL_VALUE, MISSING_VALUE = "_FillValue", "missing_value"
FILL_VALUES = (FILL_VALUE, MISSING_VALUE)
# Attributes of the CF conventions that name variables which describe others.
DESCRIBING = (
    *("ancillary_variables", "bounds", "cell_measures", "climatology", "coordinates"),
    *("formula_terms", "grid_mapping"),
)
# An attribute for which the library of NetCDF-4 rounds what is written.
ROUNDING = "least_significant_digit"


@dataclass(frozen=True)
class FileReader:
    """Reader of any part of an array in a file, for `ArraySource`; it can be pickled."""

    file: ArrayFile
    name: str
    dtype: str

    def __call__(self, selection: Selection) -> np.ndarray:
        """Return the values of a selection, in the byte order of the machine.

        Raises
        ------
        InvalidDataError
            If that part of the file is damaged.
        """
        import numpy as np

        with library_errors(self.file.path, self.file.kind):
            return np.ascontiguousarray(self.file.read(self.name, selection), self.dtype)


def load_array(
    path: str | os.PathLike[str],
    *,
    chunks: tuple[int, ...] | None = None,
    sample: int | None = None,
) -> UserData:
    """Return an array of a file or Zarr folder, which is read when it is used, piece by piece.

    Values are those in the file: scale factors, offsets and fill values are not applied, but kept as
    attributes, so that packed values remain packed. A fill value is kept as `missing_value`, which means
    the same by the CF conventions, since libraries take `_FillValue` only as a variable is created; NaN
    is left out, since it marks missing values by itself. Coordinates and attributes are taken where they
    are numbers or text.

    Parameters
    ----------
    path : path-like
        File or folder of a kind in `data_generator.array_files`; ``weather.nc::wind`` for one of several
        variables. Without a name, the largest array of numbers is taken that describes no other one, as
        coordinates, bounds and cell areas do.
    chunks : tuple of int, optional
        Shape of a chunk; the file's if not given, else chunks of 4 MiB.
    sample : int, optional
        Number of chunks along the first axis, from the first on; all if not given.

    Raises
    ------
    InvalidDataError
        If the file does not exist, is damaged, or has no array of numbers of that name; or if chunks do
        not match the array.
    UnavailableError
        If the package that reads it is missing or broken.
    ValueError
        If `sample` is not positive.
    """
    if sample is not None and sample < 1:
        raise ValueError(f"a sample cannot have {sample} chunks")
    place = location.find(path)
    file = array_file(place)
    if file is None:
        known = ", ".join(dict.fromkeys(each.kind for each in every_kind()))
        raise InvalidDataError(place.path, "contains no array", f"known are {known}")
    file.check_available()
    with library_errors(file.path, file.kind):
        stored = file.arrays()
    array, remarks = _chosen(file, stored, place.table)
    # The library decodes whole chunks of the file, for a single value too.
    whole = math.prod(array.chunks or ()) * array.dtype.itemsize
    check_fits(file.path, whole, advice="divide it into smaller chunks")
    chunks, further = _chunks(file.path, array, chunks)
    edge = array.shape[0] if sample is None else min(array.shape[0], sample * chunks[0])
    source, lost = _source(file, array, chunks, {each.name: each for each in stored}, edge)
    _try(source)
    name = f"{file.stem}_{array.name}" if place.table else file.stem
    return UserData(
        location.safe_name(name, datasets.names()),
        array=source,
        remarks=(*remarks, *file.remarks, *further, *lost),
        typed=(MISSING_VALUE,) if MISSING_VALUE in source.attributes else (),
        has_other_size=any(not each.is_coordinate for each in stored if each is not array),
    )


def _chosen(
    file: ArrayFile, stored: list[StoredArray], wanted: str | None
) -> tuple[StoredArray, list[str]]:
    """Return the array with the wanted name, or the largest one, and remarks on the choice."""
    if wanted is not None:
        return _named(file, stored, wanted), []
    usable = [each for each in stored if not _problem(each)]
    usable = [each for each in usable if not each.is_coordinate] or usable
    describing = _describing(stored)
    data = [each for each in usable if each.name not in describing] or usable
    if not usable:
        if len(stored) == 1:
            raise InvalidDataError(file.path, f"contains one array, which {_problem(stored[0])}")
        raise InvalidDataError(file.path, "contains no array of numbers")
    largest = max(data, key=lambda each: math.prod(each.shape) * each.dtype.itemsize)
    others = [each.name for each in data if each is not largest]
    remarks = []
    if others:
        some = ",".join([largest.name, *others][:2])
        remarks.append(
            f"{largest.name} is the largest variable of data; others: {listed(others)}; "
            f"{file.path.name}::{some} takes several"
        )
    if left_out := [each.name for each in usable if each not in data]:
        remarks.append(f"left out, since they describe others: {listed(left_out)}")
    return largest, remarks


def _describing(stored: list[StoredArray]) -> set[str]:
    """Return the names of variables that others name as their coordinates, bounds and the like."""
    found = set()
    for each in stored:
        group = each.name.rpartition("/")[0]
        for attribute in DESCRIBING:
            named = _plain(each.attributes.get(attribute))
            if isinstance(named, str):
                found |= {f"{group}/{word}".strip("/") for word in named.split()}
    return found


def _named(file: ArrayFile, stored: list[StoredArray], wanted: str) -> StoredArray:
    names = [each.name for each in stored if not each.is_coordinate] or [each.name for each in stored]
    if names == [""]:
        raise InvalidDataError(file.path, f"is {file.kind} of one array", f"leave out ::{wanted}")
    found = next((each for each in stored if each.name == wanted.strip("/")), None)
    if found is None:
        advice = f"it contains {listed(names)}" if names else ""
        if all(each in names for each in wanted.split(",")):
            advice = "name one of them; `run --data` takes several"
        raise InvalidDataError(file.path, f"contains no variable {wanted!r}", advice)
    problem = _problem(found)
    if problem:
        raise InvalidDataError(file.path, f"contains {wanted!r}, which {problem}")
    return found


def _problem(array: StoredArray) -> str:
    """Return why an array cannot be measured, or an empty string."""
    other = array.problem
    if not other and array.dtype.names:
        other = "has structured values"
    elif not other and array.dtype.name not in ALL_DTYPES:
        other = f"has values of type {array.dtype}"
    if other:
        return f"{other}: only arrays of numbers can be measured"
    if not array.shape:
        return "is a single value"
    if 0 in array.shape:
        return "contains no values"
    if min(array.shape) < 0:
        return "has an edge below 0"
    if array.chunks is not None and min(array.chunks) < 1:
        return "has chunks with an edge below 1"
    return ""


def _chunks(
    path: Path, array: StoredArray, given: tuple[int, ...] | None
) -> tuple[tuple[int, ...], list[str]]:
    """Return the shape of chunks, and a remark if neither the user nor the file has chosen it."""
    shape = array.shape
    if given is None and array.chunks is not None:
        return tuple(map(min, array.chunks, shape)), []
    if given is None:
        chunks = usual_chunks(shape, array.dtype.itemsize)
        return chunks, [f"the file has no chunks; those measured are {_by(chunks)}"]
    if len(given) != len(shape):
        problem = f"has {len(shape)} dimensions, {_by(shape)}, but chunks of {len(given)} were requested"
        raise InvalidDataError(path, problem, f"give {len(shape)} edges")
    if not all(1 <= chunk <= edge for chunk, edge in zip(given, shape, strict=True)):
        problem = f"is {_by(shape)}: chunks of {_by(given)} do not fit"
        raise InvalidDataError(path, problem, "give edges from 1 to the array's")
    return given, []


def usual_chunks(shape: Sequence[int], value_bytes: int) -> tuple[int, ...]:
    """Return chunks of at most 4 MiB, whole along as many of the last axes as possible."""
    left = max(1, USUAL_CHUNK_BYTES // value_bytes)
    chunks = []
    for edge in reversed(shape):
        chunks.append(min(edge, left))
        left = max(1, left // edge)
    return tuple(reversed(chunks))


def _source(
    file: ArrayFile,
    array: StoredArray,
    chunks: tuple[int, ...],
    stored: Mapping[str, StoredArray],
    edge: int,
) -> tuple[ArraySource, list[str]]:
    """Return the first indices of an array as a source, and remarks on changes and omissions."""
    remarks = []
    if not array.dtype.isnative:
        remarks.append("values have been converted to the byte order of this machine")
    attributes, lost = _attributes(file, array.attributes)
    dims = array.dims if len(set(array.dims)) == len(array.shape) else ()
    coordinates = _coordinates(file, array, stored, edge) if dims else {}
    coordinate_attributes = {}
    for dimension in coordinates:
        raw = stored[array.coordinates[dimension]].attributes
        coordinate_attributes[dimension], further = _attributes(file, raw)
        lost += [f"{dimension}:{name}" for name in further]
    if lost:
        remarks.append(f"attributes left out: {listed(lost)}")
    if unapplied := [name for name in (*CONVERSIONS, MISSING_VALUE) if name in attributes]:
        dtype = array.dtype.newbyteorder("=")
        remarks.append(
            f"values are those in the file, {dtype}; not applied, but kept as attributes: "
            f"{listed(unapplied)}"
        )
    if FILL_VALUE in array.attributes and FILL_VALUE not in lost:
        remarks.append(
            f"{FILL_VALUE} is kept as {MISSING_VALUE}, which means the same by the CF conventions"
            if MISSING_VALUE in attributes
            else f"{FILL_VALUE} is left out: NaN marks missing values by itself"
        )
    own = array.name.rpartition("/")[2] or file.stem
    source = ArraySource(
        shape=(edge, *array.shape[1:]),
        dtype=array.dtype.newbyteorder("="),
        chunks=chunks,
        read=FileReader(file, array.name, array.dtype.newbyteorder("=").str),
        name=re.sub(r"\W", "_", own),
        dims=dims,
        attributes=attributes,
        coordinates=coordinates,
        coordinate_attributes=coordinate_attributes,
    )
    return source, remarks


def _attributes(file: ArrayFile, raw: Mapping[str, Any]) -> tuple[dict[str, Attribute], list[str]]:
    """Return attributes that are text, a number or numbers, and the names of the others."""
    found: dict[str, Attribute] = {}
    lost = []
    for name, value in raw.items():
        if name in file.own_attributes:
            continue
        plain = _plain(value)
        if plain is None or name == ROUNDING or (name in FILL_VALUES and isinstance(plain, str)):
            lost.append(name)
        elif name not in FILL_VALUES:
            found[name] = plain
    missing = _missing_values(raw)
    if missing:
        found[MISSING_VALUE] = missing[0] if len(missing) == 1 else missing
    return found, lost


def _missing_values(raw: Mapping[str, Any]) -> list[Any]:
    """Return the numbers that mark missing values, each once and of one type, without NaN."""
    found: list[Any] = []
    for plain in (_plain(raw[name]) for name in FILL_VALUES if name in raw):
        found += plain if isinstance(plain, list) else [plain]
    numbers = [each for each in found if isinstance(each, int | float) and not math.isnan(each)]
    if any(isinstance(each, float) for each in numbers):
        numbers = list(map(float, numbers))
    return list(dict.fromkeys(numbers))


def _plain(value: Any) -> Attribute | None:
    """Return a value of an attribute as Python's own; None if it is neither text nor numbers."""
    import numpy as np

    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        return value.replace("\0", "")
    try:
        numbers = np.asarray(value)
    except ValueError:  # lists of different lengths
        return None
    if numbers.dtype.kind not in "iuf" or numbers.ndim > 1 or numbers.size == 0:
        return None
    # NetCDF stores a single number as a list of one.
    return numbers.item() if numbers.size == 1 else numbers.tolist()


def _coordinates(
    file: ArrayFile, array: StoredArray, stored: Mapping[str, StoredArray], first: int
) -> dict[str, np.ndarray]:
    """Return the coordinates that are numbers: one for each index, on the first axis for `first`."""
    found = {}
    own = array.name.rpartition("/")[2]
    for axis, (dimension, edge) in enumerate(zip(array.dims, array.shape, strict=True)):
        other = stored.get(array.coordinates[dimension]) if dimension in array.coordinates else None
        if other is None or other.shape != (edge,) or dimension == own:
            continue
        if other.dtype.name in ALL_DTYPES:
            read = FileReader(file, other.name, other.dtype.newbyteorder("=").str)
            count = edge if axis else first
            check_fits(
                file.path, count * other.dtype.itemsize, advice="take the first chunks by `run --sample`"
            )
            found[dimension] = read((slice(0, count),))
    return found


def _try(source: ArraySource) -> None:
    """Read the first and the last value, to report a file that is cut or needs a missing filter."""
    source.read(tuple(slice(0, 1) for _ in source.shape))
    source.read(tuple(slice(edge - 1, edge) for edge in source.shape))


def _by(edges: Sequence[int]) -> str:
    return " x ".join(map(str, edges))

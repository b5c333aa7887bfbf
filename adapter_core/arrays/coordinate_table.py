"""Base classes of stores that keep an array as a table of coordinates and values."""

from __future__ import annotations

import math
import re
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import ArrayReader, ArraySource, Description, Selection
from adapter_core.array_source import shape_of
from adapter_core.array_store import COMPLEX, FLOATS, INTEGERS, ArrayStore
from adapter_core.arrays.chunk_writing import write_flat
from adapter_core.arrays.shards import shards
from adapter_core.file_facts import FileFacts

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


# pyarrow's default size of a row group.
BATCH_ROWS = 2**20
"""Least number of rows to write at a time, if the table has as many."""

# A row of chunks above it is laid out in a file beside, rather than in memory.
_SLAB_BYTES = 2**28
_SECONDS = {"days": 86_400, "hours": 3_600, "minutes": 60, "seconds": 1}
_TIMES = re.compile(rf"({'|'.join(_SECONDS)}) since (\d{{4}}-\d\d-\d\d)(?:[T ](\d\d:\d\d:\d\d))?Z?")
_YEARS = ("0001-01-01", "9999-12-31")


class CoordinateTable(ArrayStore):
    """A table with a row for each value in C order: its coordinates, and the value.

    Columns have the names of the dimensions and of the variable. A dimension without coordinates has its
    indexes. Integer coordinates are timestamps if their attribute `units` is a count since a time, as CF
    conventions have it. Queries are predicates on coordinates, so these must be strictly ascending or
    descending.
    """

    dtypes: ClassVar = frozenset({"bool"}) | INTEGERS | FLOATS - {"float16"} - COMPLEX
    file_facts = FileFacts(threads="all cores")
    snippet = (
        "it is a table with a row for each value, xarray's array.to_dataframe(); the table formats "
        "CSV and Parquet have the code that writes it"
    )

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        names = [name.strip().lower() for name in (*source.dims, source.name)]
        if len(set(names)) < len(names) or "" in names:
            raise self.refusal(
                f"names of columns differ in more than case and are not blank: {', '.join(names)}"
            )
        for dim in source.dims:
            values = coordinates_of(source, dim)
            if values.dtype.name not in self.dtypes - {"bool"}:
                raise self.refusal(f"coordinates of {dim} are of type {values.dtype}")
            if not ((values[1:] > values[:-1]).all() or (values[1:] < values[:-1]).all()):
                raise self.refusal(
                    f"rows are found by coordinates; {dim} is neither ascending nor descending"
                )


class CoordinateTableReader(ArrayReader):
    """An open table of coordinates and values, whose rows a library selects by coordinates.

    A subclass implements `_values`.
    """

    times_as_text: ClassVar[bool] = False
    """True if times are compared as text of ISO 8601."""

    def __init__(self, description: Description) -> None:
        super().__init__(description)
        self._columns: dict[str, np.ndarray] = {}

    @abstractmethod
    def _values(self, bounds: dict[str, tuple[Any, Any]]) -> np.ndarray:
        """Return the values of the rows within bounds, in the order of the file.

        Parameters
        ----------
        bounds : dict
            Least and largest coordinate by dimension: numbers, `datetime.datetime`, or text; without the
            dimensions that the selection spans.
        """

    def _read(self, selection: Selection) -> np.ndarray:
        import numpy as np

        shape = shape_of(selection)
        if 0 in shape:
            return np.empty(shape, self.dtype)
        bounds = {}
        for dim, each, edge in zip(self.description.dims, selection, self.shape, strict=True):
            if (each.start, each.stop) != (0, edge):
                if dim not in self._columns:
                    self._columns[dim] = column_of(self.description, dim)
                ends = self._columns[dim][[each.start, each.stop - 1]]
                if self.times_as_text and ends.dtype.kind == "M":
                    ends = _text_of(ends)
                bounds[dim] = tuple(sorted(ends.tolist()))
        values = self._values(bounds)
        if len(values) != math.prod(shape):
            raise ValueError(f"the file has {len(values)} of the {math.prod(shape)} selected values")
        return values.astype(self.dtype, copy=False).reshape(shape)


def coordinates_of(array: ArraySource | Description, dim: str) -> np.ndarray:
    """Return the coordinates of a dimension, or its indexes without them."""
    import numpy as np

    if dim in array.coordinates:
        return array.coordinates[dim]
    return np.arange(array.shape[array.dims.index(dim)], dtype=np.int32)


def column_of(array: ArraySource | Description, dim: str) -> np.ndarray:
    """Return the coordinates of a dimension as a table has them: counts of time as datetime64[us]."""
    import numpy as np

    values = coordinates_of(array, dim)
    units = array.coordinate_attributes.get(dim, {}).get("units")
    found = _TIMES.fullmatch(units) if isinstance(units, str) else None
    if found is None or values.dtype.kind not in "iu" or not len(values):
        return values
    unit, day, time = found.groups()
    try:
        start = np.datetime64(f"{day}T{time or '00:00:00'}", "s")
    except ValueError:  # no day of this calendar, as 0000-00-00 of older files
        return values
    least, largest = (
        int((np.datetime64(year, "s") - start).astype(np.int64)) // _SECONDS[unit] for year in _YEARS
    )
    if int(values.min()) <= least or int(values.max()) > largest:
        return values
    return (start + values.astype("m8[s]") * _SECONDS[unit]).astype("M8[us]")


def schema_of(source: ArraySource | Description, *, times_as_text: bool = False) -> pa.Schema:
    """Return the schema of the table of an array."""
    import pyarrow as pa

    fields = []
    for dim in source.dims:
        dtype = column_of(source, dim).dtype
        is_text = times_as_text and dtype.kind == "M"
        fields.append((dim, pa.string() if is_text else pa.from_numpy_dtype(dtype)))
    return pa.schema([*fields, (source.name, pa.from_numpy_dtype(source.dtype))])


def batches(
    source: ArraySource, beside: Path, *, times_as_text: bool = False
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of the table of an array, in C order, a million or more at a time.

    The source is iterated over once. If a row of chunks takes more than 256 MiB, the values go through a
    temporary file.

    Parameters
    ----------
    source : ArraySource
        The array.
    beside : Path
        A path in a folder for the temporary file.
    times_as_text : bool
        True for times as text of ISO 8601.
    """
    import pyarrow as pa

    schema = schema_of(source, times_as_text=times_as_text)
    columns = _Columns(source, schema)
    with _slabs(source, beside) as slabs:
        for first_row, values in slabs:
            inner = max(1, math.prod(values.shape[1:]))
            rows = max(1, BATCH_ROWS // inner)
            for start in range(0, len(values), rows):
                part = values[start : start + rows]
                arrays = columns.of(first_row + start, len(part))
                # A copy, since the engine may still write it when the slab's array is used again.
                yield pa.record_batch([*arrays, pa.array(part.reshape(-1).copy())], schema)


def _text_of(times: np.ndarray) -> np.ndarray:
    return times.astype("M8[s]").astype(str)


class _Columns:
    """Columns of coordinates; all but the first axis's are made once for a number of rows."""

    def __init__(self, source: ArraySource, schema: pa.Schema) -> None:
        import pyarrow as pa

        self._shape = source.shape
        self._coordinates = []
        for dim in source.dims:
            values = column_of(source, dim)
            is_text = schema.field(dim).type == pa.string()
            self._coordinates.append(pa.array(_text_of(values) if is_text else values))
        self._rows = -1
        self._first: Any = None
        self._others: list[Any] = []

    def of(self, start: int, rows: int) -> list[Any]:
        """Return the columns for some indexes of the first axis."""
        import numpy as np
        import pyarrow as pa

        if not self._shape:
            return []
        if rows != self._rows:
            self._rows = rows
            indexes = np.ogrid[tuple(slice(edge) for edge in (rows, *self._shape[1:]))]
            flat = [
                pa.array(each.reshape(-1))
                for each in map(np.ascontiguousarray, np.broadcast_arrays(*indexes))
            ]
            self._first = flat[0]
            self._others = [
                each.take(index) for each, index in zip(self._coordinates[1:], flat[1:], strict=True)
            ]
        return [self._coordinates[0].slice(start, rows).take(self._first), *self._others]


@contextmanager
def _slabs(source: ArraySource, beside: Path) -> Iterator[Iterator[tuple[int, np.ndarray]]]:
    """Provide whole rows of the array, in order: the first row's index, and values in C order."""
    import numpy as np

    if not source.shape:
        yield ((0, values.reshape(1)) for _, values in source)
        return
    row_bytes = max(1, math.prod(source.shape[1:]) * source.dtype.itemsize)
    edge = source.chunks[0]
    if edge * row_bytes <= _SLAB_BYTES or len(source.shape) == 1:
        count = max(1, BATCH_ROWS * source.dtype.itemsize // (edge * row_bytes))
        shape = (edge * count, *(max(1, each) for each in source.shape[1:]))
        yield ((selection[0].start, values) for selection, values in shards(source, shape))
        return
    with TemporaryDirectory(dir=beside.parent) as folder:
        path = Path(folder, "values")
        path.touch()
        write_flat(source, path, 0)
        values = np.memmap(path, source.dtype, "r", shape=source.shape)
        yield iter([(0, values)])

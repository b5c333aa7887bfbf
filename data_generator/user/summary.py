"""Summary of a table, a set of images, an array or records in numbers."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Self

from adapter_core import Kind
from adapter_core.array_source import ArraySource, chunk_selection, grid_of
from adapter_core.array_store import Property
from adapter_core.kinds import NESTED, kinds_of
from adapter_core.record_schema import avro_of, type_of
from adapter_core.values import longest_text, text_columns
from data_generator.user.image_folder import FolderImages

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from adapter_core.record_set import RecordSet
    from adapter_core.record_type import RecordType


# Number of smallest hashes that are kept: fewer distinct values are counted, more are estimated with a
# relative standard error of 1 / sqrt(KEPT_HASHES - 2), 0.4 %.
KEPT_HASHES = 2**16

# Hashes of more rows would be in memory beside the column.
SLICE_ROWS = 10**6
# Values of a 64-bit hash, over which distinct values spread evenly.
HASHES = 2**64

# Number of chunks that the summary of an array reads, evenly spread.
READ_CHUNKS = 8

# Values that JSON represents.
Plain = bool | int | float | str

_WITHOUT_ORDER = {
    Kind.BOOLEAN,
    Kind.NULLABLE_BOOLEAN,
    Kind.COMPLEX,
    Kind.NULL,
    Kind.CATEGORY_NOT_TEXT,
    Kind.INTERVAL,
    *NESTED,
}
_WITH_LENGTH = {Kind.TEXT, Kind.CATEGORY, Kind.BINARY}


@dataclass(frozen=True)
class ColumnDescription:
    """Summary of a column."""

    name: str
    dtype: str
    kind: str
    """Wording of a kind of `adapter_core.kinds`."""
    null_share: float
    """From 0 to 1."""
    distinct: int | None
    """Number of distinct values without nulls; None if the values cannot be hashed."""
    distinct_is_exact: bool
    least: Plain | None
    """Smallest number or earliest time; None for text and for values without an order."""
    greatest: Plain | None
    longest: int | None
    """Length of the longest text in characters, or of the longest bytes; None for other kinds."""
    types: tuple[str, ...]
    """Python types of the values in a column of mixed objects; empty for other kinds."""


@dataclass(frozen=True)
class TableDescription:
    """Summary of a table."""

    rows: int
    memory_bytes: int
    """Memory of the pandas DataFrame."""
    columns: tuple[ColumnDescription, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Return the summary of values from `to_dict`, which JSON may have changed."""
        columns = [{**each, "types": tuple(each["types"])} for each in facts["columns"]]
        return cls(**{**facts, "columns": tuple(ColumnDescription(**each) for each in columns)})


@dataclass(frozen=True)
class ImagesDescription:
    """Summary of a set of images."""

    images: int
    shapes: int
    """Number of distinct shapes."""
    smallest: tuple[int, ...]
    """Shape of the image with the fewest pixels."""
    largest: tuple[int, ...]
    """Shape of the image with the most pixels."""
    channels: dict[int, int]
    """Number of images by number of channels; 0 represents the shape (height, width)."""
    labels: int
    """Number of distinct labels."""
    raw_bytes: int
    """Uncompressed size of all pixels."""

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Return the summary of values from `to_dict`, which JSON may have changed."""
        channels = {int(number): count for number, count in facts["channels"].items()}
        shapes = {each: tuple(facts[each]) for each in ("smallest", "largest")}
        return cls(**{**facts, **shapes, "channels": channels})


@dataclass(frozen=True)
class ArrayDescription:
    """Summary of an n-d array; the values are taken from a sample of its chunks."""

    shape: tuple[int, ...]
    dtype: str
    chunk: tuple[int, ...]
    """Shape of a chunk."""
    chunks: int
    raw_bytes: int
    """Size of all values in memory."""
    read_chunks: int
    """Number of chunks in the sample."""
    mean: float | str | None
    """Of the finite values; None for complex numbers, or if none is finite."""
    least: Plain | None
    greatest: Plain | None
    nan_share: float
    """Share of NaN, from 0 to 1."""
    properties: tuple[str, ...] = ()
    """Values of `Property` that the array has and a store may lose, e.g. "coordinates"."""

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Return the summary of values from `to_dict`, which JSON may have changed."""
        of_json = {name: tuple(facts[name]) for name in ("shape", "chunk", "properties")}
        return cls(**{**facts, **of_json})


@dataclass(frozen=True)
class RecordsDescription:
    """Summary of records."""

    records: int
    schema: dict[str, Any]
    """Avro schema of their type: processes exchange it, and have classes of their own."""

    @classmethod
    def of_records(cls, records: RecordSet) -> Self:
        """Return the summary of records."""
        return cls(records.count, avro_of(records.of))

    @property
    def of(self) -> RecordType:
        """Their type."""
        return type_of(self.schema)

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain values for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, facts: Mapping[str, Any]) -> Self:
        """Return the summary of values from `to_dict`, which JSON may have changed."""
        type_of(facts["schema"])  # or an error
        return cls(int(facts["records"]), facts["schema"])


def describe(df: pd.DataFrame) -> TableDescription:
    """Return the summary of a table with unique column names."""
    columns = tuple(_column(df, name, kind) for name, kind in zip(df.columns, kinds_of(df), strict=True))
    memory_bytes = int(df.memory_usage(index=False, deep=True).sum())
    return TableDescription(len(df), memory_bytes, columns)


def describe_images(images: Sequence[np.ndarray], labels: Iterable[int]) -> ImagesDescription:
    """Return the summary of at least one image; images of a folder are not decoded."""
    shapes = images.shapes if isinstance(images, FolderImages) else [image.shape for image in images]
    counted = Counter(shapes)
    channels = Counter(shape[2] if shape[2:] else 0 for shape in shapes)
    by_pixels = sorted(counted, key=lambda shape: (shape[0] * shape[1], shape))
    return ImagesDescription(
        images=len(shapes),
        shapes=len(counted),
        smallest=by_pixels[0],
        largest=by_pixels[-1],
        channels=dict(sorted(channels.items())),
        labels=len(set(labels)),
        raw_bytes=sum(math.prod(shape) * number for shape, number in counted.items()),
    )


def describe_array(source: ArraySource) -> ArrayDescription:
    """Return the summary of an array with at least one value; up to 8 of its chunks are read."""
    import numpy as np

    grid = grid_of(source.shape, source.chunks)
    chunks = math.prod(grid)
    count = min(READ_CHUNKS, chunks)
    total, finite, missing, values = 0.0, 0, 0, 0
    least: Any = None
    greatest: Any = None
    for place in range(count):
        number = place * (chunks - 1) // max(count - 1, 1)
        index = tuple(int(each) for each in np.unravel_index(number, grid))
        part = source.read(chunk_selection(index, source.shape, source.chunks))
        values += part.size
        missing += int(np.count_nonzero(np.isnan(part)))
        part = part[np.isfinite(part)]
        if part.size and part.dtype.kind != "c":
            low, high = part.min(), part.max()
            least = low if least is None else min(least, low)
            greatest = high if greatest is None else max(greatest, high)
            finite += part.size
            with np.errstate(over="ignore"):
                total += float(part.sum(dtype=np.float64))
    mean = _plain(total / finite) if finite else None
    return ArrayDescription(
        shape=source.shape,
        dtype=str(source.dtype),
        chunk=source.chunks,
        chunks=chunks,
        raw_bytes=source.size_bytes,
        read_chunks=count,
        mean=mean,
        least=None if least is None else _plain(least),
        greatest=None if greatest is None else _plain(greatest),
        nan_share=missing / values,
        properties=tuple(_properties(source)),
    )


def _properties(source: ArraySource) -> Iterator[str]:
    """Yield the properties of an array without which its values cannot be understood."""
    if source.attributes:
        yield Property.ATTRIBUTES.value
    if source.coordinates:
        yield Property.COORDINATES.value
    if any(source.coordinate_attributes.values()):
        yield Property.COORDINATE_ATTRIBUTES.value


def _column(df: pd.DataFrame, name: str, kind: Kind) -> ColumnDescription:
    column = df[name]
    number, is_exact = (None, False) if kind in NESTED else count_distinct(column)
    values = column.dropna()
    least = greatest = None
    if len(values) and kind not in _WITHOUT_ORDER | _WITH_LENGTH | {Kind.MIXED}:
        least, greatest = _plain(values.min()), _plain(values.max())
    return ColumnDescription(
        name=name,
        dtype=str(column.dtype),
        kind=kind.value,
        null_share=1 - len(values) / max(len(column), 1),
        distinct=number,
        distinct_is_exact=is_exact,
        least=least,
        greatest=greatest,
        longest=_longest(df, name, kind) if len(values) and kind in _WITH_LENGTH else None,
        types=tuple(sorted({type(value).__name__ for value in values})) if kind is Kind.MIXED else (),
    )


def _longest(df: pd.DataFrame, name: str, kind: Kind) -> int:
    if kind is Kind.BINARY:
        return int(df[name].dropna().map(len).max())
    ((_, text),) = text_columns(df[[name]])
    return longest_text(text)


def _plain(value: Any) -> Plain:
    """Return a number as Python's own, and other values, infinity too, as text."""
    import numpy as np

    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and math.isfinite(value):
        return value
    return value if isinstance(value, int) else str(value)


def count_distinct(column: pd.Series) -> tuple[int | None, bool]:
    """Return the number of distinct values without nulls, and True if it is exact.

    The k smallest hashes of values are kept, in constant memory. If the k-th is at the fraction u of the
    range of hashes, there are about (k - 1) / u values: Beyer et al., On synopses for distinct-value
    estimation under multiset operations, SIGMOD 2007.

    Parameters
    ----------
    column : pandas.Series
        Shape (rows,). Objects of mixed types are distinguished by their text.

    Returns
    -------
    int or None, bool
        None if the values cannot be hashed, e.g. lists.
    """
    import numpy as np
    import pandas as pd

    kept = np.empty(0, np.uint64)
    is_full = False
    values = column.dropna()
    for start in range(0, len(values), SLICE_ROWS):
        part = values.iloc[start : start + SLICE_ROWS]
        try:
            # Categorizing first would keep all distinct values in memory.
            hashes = pd.util.hash_pandas_object(part, index=False, categorize=False).to_numpy()
        except (TypeError, ValueError):
            return None, False
        kept = _without_repeats(np.concatenate([kept, hashes]))
        is_full = is_full or len(kept) > KEPT_HASHES
        kept = kept[:KEPT_HASHES]
    if not is_full:
        return len(kept), True
    estimate = round((KEPT_HASHES - 1) / (int(kept[-1]) / HASHES))
    return min(estimate, len(values)), False


def _without_repeats(hashes: np.ndarray) -> np.ndarray:
    """Return the distinct hashes in ascending order."""
    import numpy as np

    # This takes a twentieth of the time of numpy.unique.
    hashes.sort()
    return hashes[np.concatenate([[True], hashes[1:] != hashes[:-1]])]

"""Digests of generated data, which are the same wherever the generators make the same data."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from adapter_core.errors import UnsupportedError
from format_bench.families.operations import operations_of
from format_bench.results.suites import FAMILIES
from format_bench.verification.canonical import CanonicalTable
from format_bench.verification.digests import ArrayDigest, array_digest
from format_bench.verification.digests import digest as table_digest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np
    import pandas as pd

    from adapter_core import ArraySource, RecordSet

# Whoever verifies makes the data of a bundle from anybody: a second and 300 MB each, at most.
MOST_VALUES = 10_000_000
MOST_IMAGES = 5_000
MOST_ARRAY_BYTES = 2**29

# Values of nested and other columns, which are printed one by one.
_MOST_PRINTED = 2_000_000


@functools.lru_cache(maxsize=1000)
def data_digest(family: str, dataset: str, rows: int, columns: int) -> str:
    """Return the digest of a generated data set, 32 hexadecimal digits.

    Parameters
    ----------
    family, dataset : str
        Names of the family and of the data set.
    rows, columns : int
        As records have them.

    Raises
    ------
    UnsupportedError
        If the data are too large for it, or their family has none.
    FormatBenchError
        If the data cannot be made here.
    """
    if family not in _PARTS:
        raise UnsupportedError(f"data of {family} have no digest")
    _check_count(family, rows, columns)
    data = operations_of(FAMILIES[family]).generate(dataset, rows)
    found = hashlib.sha256(f"{family} {dataset} {rows}".encode())
    for part in _PARTS[family](data):
        found.update(part.encode() + b"\0")
    return found.hexdigest()[:32]


def _check_count(family: str, rows: int, columns: int) -> None:
    most = MOST_IMAGES if family == "images" else MOST_VALUES
    # Chunks of arrays are counted by their bytes, once the source says how large one is.
    values = rows if family in {"images", "arrays"} else rows * max(1, columns)
    if values > most:
        what = "images" if family == "images" else "values"
        raise UnsupportedError(f"{values:,} {what} are more than the {most:,} that are digested")


def _of_table(df: pd.DataFrame) -> Iterable[str]:
    try:
        found = table_digest(df)
    except ValueError:
        if df.size > _MOST_PRINTED:
            raise UnsupportedError(f"{df.size:,} values, nested ones among them, are too many") from None
        whole = CanonicalTable.of_frame(df)
        return [name + whole.digest(place) for place, (name, _) in enumerate(whole.columns)]
    columns = (f"{name} {each.text} {each.nulls}" for name, each in found.columns.items())
    # Without types, which pandas names otherwise in each version.
    return [f"{found.rows} {found.row_sum:016x}", *columns]


def _of_tables(data: Any) -> Iterable[str]:
    tables: Mapping[str, pd.DataFrame] = data.tables
    values = sum(each.size for each in tables.values())
    if values > MOST_VALUES:
        raise UnsupportedError(f"{values:,} values of all tables are more than {MOST_VALUES:,}")
    return [part for name, df in tables.items() for part in (name, *_of_table(df))]


def _of_images(data: tuple[Sequence[np.ndarray], Sequence[int]]) -> Iterable[str]:
    for image, label in zip(*data, strict=True):
        yield f"{image.shape} {label} {hashlib.sha256(image.tobytes()).hexdigest()}"


def _of_array(source: ArraySource) -> Iterable[str]:
    if source.size_bytes > MOST_ARRAY_BYTES:
        raise UnsupportedError(f"{source.size_bytes:,} bytes are more than {MOST_ARRAY_BYTES:,}")
    total = ArrayDigest(0, 0)
    rest = tuple(slice(0, edge) for edge in source.shape[1:])
    for first in range(0, source.shape[0], source.chunks[0]):
        last = min(first + source.chunks[0], source.shape[0])
        total += array_digest(source.read((slice(first, last), *rest)), first)
    return [f"{source.shape} {source.dtype} {total.text}"]


def _of_records(records: RecordSet) -> Iterable[str]:
    return [records.digest]


_PARTS: dict[str, Callable[[Any], Iterable[str]]] = {
    "tables": _of_table,
    "images": _of_images,
    "arrays": _of_array,
    "records": _of_records,
    "queries": _of_tables,
}

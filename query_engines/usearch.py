"""USearch: a scan of vectors, or a graph of neighbours beside the file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.queries.arrow import vectors_of
from adapter_core.queries.scan import ScanEngine
from adapter_core.query_engine import Part

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pyarrow as pa
    from usearch.index import BatchMatches, Matches

    from adapter_core.query import Condition, Nearest, Query

_FORMATS = {"Feather": "ipc", "Parquet": "parquet"}


@dataclass(frozen=True)
class _Opened:
    data: Any
    """A data set of pyarrow."""
    path: Path


class Adapter(ScanEngine):
    """USearch on the vectors that pyarrow reads, without an index by its exact search.

    Beside a tuned file it saves the graph HNSW of each column of vectors, and maps it into memory. Its
    numbers have 32 bits like the vectors, where USearch itself would take 16; the rest is unasked.
    Several threads make another graph each time, which misses other neighbours.
    """

    label = "usearch"
    requires = ("usearch>=2.20", "pyarrow>=15", "numpy")
    reads = ("Feather", "Parquet")
    does: ClassVar = frozenset({Part.COLUMNS, Part.POSITIONS, Part.NEAREST})
    finished_by = "pyarrow"
    indexes: ClassVar = frozenset(_FORMATS)
    searches_indexes: ClassVar = frozenset(_FORMATS)

    def unsupported(self, format_label: str, query: Query) -> str:  # noqa: ARG002
        return "" if query.nearest else "it searches for neighbours alone"

    def index(self, format_label: str, path: Path, lookups: Sequence[str]) -> None:
        import numpy as np
        from usearch.index import Index

        opened = self._open(format_label, path)
        for name in lookups:
            if not _has_vectors(opened.data.schema.field(name).type):
                continue
            vectors, numbers = vectors_of(opened.data.to_table([name])[name])
            index = Index(ndim=vectors.shape[1], metric="l2sq", dtype="f32")
            index.add(numbers, vectors.astype(np.float32, copy=False), threads=_threads())
            index.save(str(_beside(opened, name)))

    def _open(self, format_label: str, path: Path) -> _Opened:
        import pyarrow.dataset as ds
        import usearch.index  # noqa: F401 (within the warm-up)

        return _Opened(ds.dataset(path, format=_FORMATS[format_label]), path)

    def _shape(self, table: _Opened) -> tuple[int, int]:
        return table.data.count_rows(), len(table.data.schema)

    def _scan(self, table: _Opened, columns: list[str], where: Sequence[Condition]) -> pa.Table:
        from adapter_core.queries.arrow import expression

        return table.data.to_table(columns, filter=expression(where, table.data.schema))

    def _take(self, table: _Opened, positions: list[int], columns: list[str]) -> pa.Table:
        return table.data.take(positions, columns=columns)

    def _finished(self, handle: dict[str, Any], table: _Opened, query: Query) -> pa.Table:
        if query.nearest is None:
            return super()._finished(handle, table, query)
        import numpy as np

        found = _neighbours(table, query.nearest)
        # Each row once, in the order of the file, so that no part of it is read twice.
        rows, places = np.unique(found, return_inverse=True)
        return self._take(table, rows.tolist(), list(query.columns)).take(places)


def _neighbours(table: _Opened, wanted: Nearest) -> np.ndarray:
    """Return the numbers of the rows nearest to each vector, vector after vector."""
    import numpy as np
    from usearch.index import Index, search

    vectors = np.array(wanted.vectors, np.float32)
    file = _beside(table, wanted.column)
    if file.exists():
        index = Index.restore(str(file), view=True)
        if wanted.candidates > 1:
            index.expansion_search = wanted.count * wanted.candidates
        return _keys(index.search(vectors, wanted.count, threads=_threads()))
    rows, numbers = vectors_of(table.data.to_table([wanted.column])[wanted.column])
    rows, count = rows.astype(np.float32, copy=False), min(wanted.count, len(rows))
    return numbers[_keys(search(rows, vectors, count, "l2sq", exact=True, threads=_threads()))]


def _keys(found: BatchMatches | Matches) -> np.ndarray:
    """Return the keys of the matches of each vector, vector after vector."""
    import numpy as np
    from usearch.index import Matches

    if isinstance(found, Matches):  # of one vector
        return found.keys
    return np.concatenate([keys[:count] for keys, count in zip(found.keys, found.counts, strict=True)])


def _has_vectors(dtype: pa.DataType) -> bool:
    from pyarrow import types

    return types.is_fixed_size_list(dtype) and types.is_floating(dtype.value_type)


def _beside(table: _Opened, name: str) -> Path:
    """Return the file of the graph of a column."""
    number = table.data.schema.get_field_index(name)
    return table.path.with_name(f"{table.path.name}.{number}.usearch")


def _threads() -> int:
    """Return the number of threads of pyarrow's pool, which follows the condition of a measurement."""
    import pyarrow as pa

    return pa.cpu_count()

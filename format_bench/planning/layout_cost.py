"""Work of queries to tables in layouts, in amounts of a cost model's terms, from the values of a sample.

The sample is put into each order of rows that may be chosen. For each query that gives the row groups
and pages whose least and greatest values admit a row that it selects (as readers prune by statistics),
the row groups that a bloom filter admits, and the rows that share a page with a selected one (as engines
that decode late read the other columns). Slices of each order, written as Parquet by each codec and
encoding, give the bytes of each column. Other formats are modelled by the same amounts: their
coefficients differ.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from adapter_core.predicate import Comparison
from adapter_core.query import Contains, OneOf, Query, path_of
from format_bench.families.tables.reference import selected

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    from adapter_core import TableLayout

# Rows of the least block that is looked at. The smallest page that is proposed.
BLOCK_ROWS = 1_024

# Powers of two up to the default; the ends are chosen, not measured.
GROUP_ROWS = (8_192, 16_384, 32_768, 65_536, 131_072, 262_144, 524_288, 1_048_576)
# Smaller than the default, for questions to few rows. Chosen, not measured.
PAGE_ROWS = (1_024, 4_096)
# Of Parquet's writers; pyarrow's pages end at 20,000 rows.
DEFAULT_GROUP_ROWS, DEFAULT_PAGE_ROWS = 1_048_576, 16_384

# Rows that engines decode at a time: DuckDB's vectors.
HIT_ROWS = 2_048

# Slices of an order whose bytes are measured, and their rows. Each order's are written by each codec and
# encoding, so they are few. Chosen, not measured.
SLICES, SLICE_ROWS = 4, 16_384

# Share of the bytes of a column above which another encoding, or a dictionary, is not worth it. For less
# gain no reader shall have to understand another setting. Chosen, not measured.
SMALLER = 0.95

DICTIONARY, PLAIN, DELTA = "dictionary", "plain", "delta or split"
"""Kinds of decoders."""

SHARED_TERMS = (
    "per column chunk of the file",
    "per column chunk with statistics",
    "per column chunk read",
    "per byte read",
    *(f"per value decoded, {kind}" for kind in (DICTIONARY, PLAIN, DELTA)),
    "per row and condition",
    "per value in pages that statistics admit",
    "per value in pages with selected rows",
    "per value of the busiest thread",
)
"""Terms besides one for each query, and one for each codec's bytes."""


class Touched(NamedTuple):
    """Blocks that a query reads, and their rows."""

    blocks: int
    rows: int


class ColumnBytes(NamedTuple):
    """Bytes of a value of a column in one encoding, compressed and not."""

    stored: float
    decoded: float


@dataclass
class TableFacts:
    """Facts of a table that amounts of work depend on."""

    rows: int
    names: list[str]
    asked: dict[str, Query]
    """The queries, by name; of the mix, and further ones that separate terms."""
    orders: list[tuple[str, ...]] = field(default_factory=list)
    """Sort keys of the orders that were looked at; the first one is empty."""
    unsortable: dict[str, str] = field(default_factory=dict)
    """Columns that rows cannot be sorted by, with reasons."""
    touched: dict[tuple[tuple[str, ...], str, int, bool], Touched] = field(default_factory=dict)
    """By order, query, rows of a block, and whether lookups have bloom filters."""
    hits: dict[tuple[tuple[str, ...], str], int] = field(default_factory=dict)
    """Rows of small blocks with a selected one, by order and query."""
    sizes: dict[tuple[tuple[str, ...], str, str], dict[str, ColumnBytes]] = field(default_factory=dict)
    """Bytes of a value by column, of each order, codec and encoding (its name, or empty)."""
    alternatives: dict[str, str] = field(default_factory=dict)
    """The encoding of each column that may take the dictionary's place."""
    read: dict[str, list[str]] = field(default_factory=dict)
    """Columns that a query reads."""
    folders: dict[str, int] = field(default_factory=dict)
    """Number of values of the columns that rows may be sorted by, and so partitioned by."""

    def group_rows(self, layout: TableLayout, rows: int | None = None) -> int:
        """Return the rows of a row group: at most all, and of a folder a known number.

        Parameters
        ----------
        layout : TableLayout
            The layout.
        rows : int, optional
            Rows of the table; by default those that were looked at.
        """
        rows = rows or self.rows
        most = min(rows, layout.group_rows or DEFAULT_GROUP_ROWS)
        if layout.partition_by:
            mean = rows // math.prod(self.folders[each] for each in layout.partition_by)
            most = min(most, max((each for each in GROUP_ROWS if each <= mean), default=GROUP_ROWS[0]))
        return most

    def groups(self, layout: TableLayout, rows: int | None = None) -> int:
        """Return the number of row groups of a table, by default of the rows that were looked at."""
        return -(-(rows or self.rows) // self.group_rows(layout, rows))

    def encodings(self, order: tuple[str, ...], codec: str) -> list[tuple[tuple[str, str], ...]]:
        """Return choices of encodings: the usual ones, the smallest, no useless dictionaries."""
        usual = self.sizes[order, codec, ""]
        plain = self.sizes[order, codec, "PLAIN"]
        other = self.sizes[order, codec, "other"]
        smallest = [
            (name, self.alternatives[name])
            for name in usual
            if name in self.alternatives and other[name].stored < SMALLER * usual[name].stored
        ]
        useless = [
            (name, "PLAIN")
            for name in usual
            if name in self.alternatives and usual[name].decoded > SMALLER * plain[name].decoded
        ]
        return list(dict.fromkeys([(), tuple(smallest), tuple(useless)]))

    def bytes_of(self, layout: TableLayout, codec: str, name: str) -> tuple[ColumnBytes, str]:
        """Return the bytes of a value of a column, and its kind of decoder."""
        order = self.order_of(layout)
        encoding = dict(layout.encodings).get(name, "")
        if encoding == "PLAIN":
            return self.sizes[order, codec, "PLAIN"][name], PLAIN
        if encoding:
            return self.sizes[order, codec, "other"][name], DELTA
        usual = self.sizes[order, codec, ""][name]
        is_useless = usual.decoded > SMALLER * self.sizes[order, codec, "PLAIN"][name].decoded
        return usual, PLAIN if is_useless else DICTIONARY

    def order_of(self, layout: TableLayout) -> tuple[str, ...]:
        """Return the order of rows of a layout."""
        order = (*layout.partition_by, *layout.sort_by)
        return order if order in self.orders else layout.sort_by

    def size_bytes(self, layout: TableLayout, codec: str) -> float:
        """Return the bytes of the columns that were looked at."""
        known = self.sizes[self.order_of(layout), codec, ""]
        return self.rows * sum(self.bytes_of(layout, codec, name)[0].stored for name in known)

    def amounts(
        self, name: str, layout: TableLayout, codec: str, codecs: Sequence[str], cpus: int
    ) -> list[float]:
        """Return the amounts of `SHARED_TERMS`, and the decompressed bytes of each codec."""
        query, order = self.asked[name], self.order_of(layout)
        columns = [each for each in self.read[name] if each in self.sizes[order, codec, ""]]
        rows, groups = self.rows, self.groups(layout)
        group_rows, page_rows = self.group_rows(layout), layout.page_rows or DEFAULT_PAGE_ROWS
        has_filters = bool(layout.lookups)
        whole = Touched(groups, rows)
        touched = self.touched.get((order, name, group_rows, has_filters), whole)
        pages = self.touched.get((order, name, page_rows, False), whole)
        width = len(columns)
        decoded = dict.fromkeys((DICTIONARY, PLAIN, DELTA), 0.0)
        stored = unpacked = 0.0
        for each in columns:
            size, kind = self.bytes_of(layout, codec, each)
            decoded[kind] += touched.rows
            stored += size.stored * touched.rows
            unpacked += size.decoded * touched.rows
        threads = max(1, min(cpus, touched.blocks))
        return [
            float(groups * len(self.names)),
            float(groups * len(layout.statistics or self.names)),
            float(touched.blocks * width),
            stored,
            *decoded.values(),
            float(touched.rows * len(query.where)),
            float(min(pages.rows, touched.rows) * width),
            float(self.hits.get((order, name), rows) * width),
            touched.rows * width / threads,
            *(unpacked * (each == codec) for each in codecs),
        ]


def facts_of(
    df: pd.DataFrame,
    asked: Mapping[str, Query],
    orders: Iterable[tuple[str, ...]],
    codecs: Iterable[str],
    lookups: Sequence[str],
) -> TableFacts:
    """Return the facts of a table for amounts of work.

    Parameters
    ----------
    df : pandas.DataFrame
        The sample.
    asked : mapping
        Queries by name.
    orders : iterable of tuple of str
        Sort keys that may be chosen.
    codecs : iterable of str
        Codecs that may be chosen, as layouts have them.
    lookups : sequence of str
        Columns that may have bloom filters.
    """
    found = TableFacts(len(df), [str(name) for name in df.columns], dict(asked))
    for name, query in asked.items():
        found.read[name] = _read_by(query, found.names)
    columns = _Columns(df)
    wanted = [name for name in found.names if any(name in each for each in found.read.values())]
    for order in dict.fromkeys([(), *orders]):
        failed = [name for name in order if columns.why_not(name)]
        found.unsortable |= {name: columns.why_not(name) for name in failed}
        if failed:
            continue
        found.orders.append(order)
        found.folders |= {name: columns.values(name) for name in order}
        places = columns.places(order)
        for name, query in asked.items():
            if query.where:
                _note_touched(found, columns, places, order, name, query, lookups)
        _note_sizes(found, df, places, order, wanted, [*codecs])
    return found


def _read_by(query: Query, names: Sequence[str]) -> list[str]:
    if query.statement:
        words = {each.lower() for each in re.findall(r"\w+", query.statement)}
        return [each for each in names if each.lower() in words]
    return list(dict.fromkeys(path_of(each)[0] for each in query.read))


class _Columns:
    """Columns of a table as numbers in the order of their values."""

    def __init__(self, df: pd.DataFrame) -> None:
        self._df = df
        self._known: dict[str, tuple[np.ndarray, Any] | str] = {}

    def _coded(self, name: str) -> tuple[np.ndarray, Any] | str:
        import pandas as pd

        if name not in self._known:
            try:
                codes, values = pd.factorize(self._df[name], sort=True)
                self._known[name] = codes.astype("int64"), values
            except (TypeError, ValueError, NotImplementedError) as error:
                self._known[name] = " ".join(str(error).split())
        return self._known[name]

    def why_not(self, name: str) -> str:
        """Return why rows cannot be sorted by a column; empty if they can."""
        found = self._coded(name)
        return found if isinstance(found, str) else ""

    def values(self, name: str) -> int:
        """Return the number of values of a column that rows can be sorted by."""
        return len(self._coded(name)[1])

    def places(self, order: Sequence[str]) -> np.ndarray:
        """Return the numbers of the rows in an order, nulls last."""
        import numpy as np

        keys = []
        for name in reversed(order):
            found = self._coded(name)
            if not isinstance(found, str):
                keys.append(np.where(found[0] < 0, np.iinfo(np.int64).max, found[0]))
        return np.lexsort(keys) if keys else np.arange(len(self._df))

    def matches(self, condition: Any) -> tuple[np.ndarray, np.ndarray] | None:
        """Return the codes of a condition's column, and which of them fulfil it; None if unknown."""
        import numpy as np
        import pandas as pd

        found = self._coded(condition.column)
        if isinstance(found, str):
            return None
        codes, values = found
        column = pd.DataFrame({condition.column: pd.Series(values)})
        query = Query(columns=(condition.column,), where=(condition,))
        fulfilled = np.zeros(len(values), bool)
        fulfilled[selected(column, query)] = True
        return codes, fulfilled


def _note_touched(  # noqa: PLR0913, PLR0917 (a query to an order)
    found: TableFacts,
    columns: _Columns,
    places: np.ndarray,
    order: tuple[str, ...],
    name: str,
    query: Query,
    lookups: Sequence[str],
) -> None:
    """Note the blocks that a query with conditions reads in an order of rows."""
    import numpy as np

    starts = np.arange(0, len(places), BLOCK_ROWS)
    zones, exact = [], []
    chosen = np.ones(len(places), bool)
    for condition in query.where:
        matched = columns.matches(condition)
        if matched is None:
            continue
        codes, fulfilled = matched[0][places], matched[1]
        mask = np.append(fulfilled, False)[codes]  # nulls, -1, fulfil none
        chosen &= mask
        if not isinstance(condition, Contains):
            least = np.where(codes < 0, len(fulfilled), codes)
            zones.append(
                (np.minimum.reduceat(least, starts), np.maximum.reduceat(codes, starts), fulfilled)
            )
        is_lookup = isinstance(condition, OneOf) or (
            isinstance(condition, Comparison) and condition.operator == "=="
        )
        if is_lookup and condition.column in lookups:
            exact.append(np.logical_or.reduceat(mask, starts))
    hits = np.logical_or.reduceat(chosen, np.arange(0, len(places), HIT_ROWS))
    found.hits[order, name] = min(found.rows, int(hits.sum()) * HIT_ROWS)
    sizes = {*GROUP_ROWS, *PAGE_ROWS, DEFAULT_PAGE_ROWS, found.rows}
    for rows in (each for each in sizes if each <= found.rows):
        parts = np.arange(0, len(starts), max(1, rows // BLOCK_ROWS)) if rows < found.rows else [0]
        admitted = np.ones(len(parts), bool)
        for least, greatest, fulfilled in zones:
            sums = np.append(0, np.cumsum(fulfilled))
            low, high = np.minimum.reduceat(least, parts), np.maximum.reduceat(greatest, parts)
            admitted &= (high >= 0) & (sums[high + 1] > sums[np.minimum(low, len(fulfilled))])
        filtered = admitted.copy()
        for each in exact:
            filtered &= np.logical_or.reduceat(each, parts)
        for has_filters, blocks in ((False, admitted), (True, filtered)):
            count = int(blocks.sum())
            touched = Touched(count, min(found.rows, count * rows))
            found.touched[order, name, rows, has_filters] = touched


def _note_sizes(  # noqa: PLR0913, PLR0917 (an order, and what is written of it)
    found: TableFacts,
    df: pd.DataFrame,
    places: np.ndarray,
    order: tuple[str, ...],
    names: list[str],
    codecs: list[str],
) -> None:
    """Note the bytes of columns in an order by codec and encoding, from slices."""
    import numpy as np
    import pyarrow as pa

    names = names or found.names[:1]
    starts = np.linspace(0, max(0, len(places) - SLICE_ROWS), SLICES, dtype=int)
    rows = np.unique(np.concatenate([np.arange(at, min(at + SLICE_ROWS, len(places))) for at in starts]))
    table = pa.Table.from_pandas(df[names].iloc[places[rows]], preserve_index=False)
    found.alternatives = {
        each.name: encoding for each in table.schema if (encoding := _alternative(each.type))
    }
    flat = [each for each in names if each in found.alternatives]
    for codec, kind in itertools.product(codecs, ("", "PLAIN", "other")):
        encodings = {
            "": {},
            "PLAIN": dict.fromkeys(flat, "PLAIN"),
            "other": {each: found.alternatives[each] for each in flat},
        }[kind]
        found.sizes[order, codec, kind] = _written(table, codec, encodings)


def _alternative(kind: pa.DataType) -> str:
    """Return the encoding of Parquet that suits a type besides dictionaries; empty for other types."""
    import pyarrow as pa

    if pa.types.is_integer(kind) or pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        return "DELTA_BINARY_PACKED" if kind.bit_width >= 32 else "PLAIN"  # noqa: PLR2004 (bits)
    if pa.types.is_float64(kind) or pa.types.is_float32(kind):
        return "BYTE_STREAM_SPLIT"
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind):
        return "DELTA_LENGTH_BYTE_ARRAY"
    return ""


def _written(table: pa.Table, codec: str, encodings: Mapping[str, str]) -> dict[str, ColumnBytes]:
    """Return the bytes of a value of each column of a table as Parquet."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    name, _, level = codec.partition(":")
    buffer = pa.BufferOutputStream()
    pq.write_table(
        table,
        buffer,
        compression=name.removesuffix("_raw"),
        compression_level=int(level) if level else None,
        use_dictionary=not encodings or [each for each in table.column_names if each not in encodings],
        column_encoding=dict(encodings) or None,
    )
    metadata = pq.read_metadata(pa.BufferReader(buffer.getvalue()))
    found: dict[str, list[float]] = {each: [0.0, 0.0] for each in table.column_names}
    for group, column in itertools.product(range(metadata.num_row_groups), range(metadata.num_columns)):
        facts = metadata.row_group(group).column(column)
        path = facts.path_in_schema
        owner = path if path in found else next(e for e in found if path.startswith(f"{e}."))
        found[owner][0] += facts.total_compressed_size / table.num_rows
        found[owner][1] += facts.total_uncompressed_size / table.num_rows
    return {each: ColumnBytes(*sizes) for each, sizes in found.items()}

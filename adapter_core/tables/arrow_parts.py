"""Parts of tables through batches of Arrow: slices, filtered rows, and columns with nulls."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from adapter_core.tables.arrow import arrow_filter, may_be_nullable

if TYPE_CHECKING:
    import pyarrow as pa

    from adapter_core import Predicate


def tables_of(batches: Iterable[pa.RecordBatch], batch_rows: int) -> Iterator[pa.Table]:
    """Yield batches as tables of at most that many rows, over the same memory."""
    import pyarrow as pa

    for batch in batches:
        for start in range(0, batch.num_rows, batch_rows):
            yield pa.Table.from_batches([batch.slice(start, batch_rows)])


def slice_of(
    batches: Iterable[pa.RecordBatch], schema: pa.Schema, start: int, stop: int | None
) -> pa.Table:
    """Return the rows from `start` to before `stop`, or to the end if None.

    Batches after the last row are not read.
    """
    import pyarrow as pa

    parts: list[pa.RecordBatch] = []
    rows = 0
    for batch in batches:
        if stop is not None and rows >= stop:
            break
        first = min(max(0, start - rows), batch.num_rows)
        last = batch.num_rows if stop is None else min(stop - rows, batch.num_rows)
        if first < last:
            parts.append(batch.slice(first, last - first))
        rows += batch.num_rows
    return pa.Table.from_batches(parts, schema)


def rows_where(
    batches: Iterable[pa.RecordBatch],
    schema: pa.Schema,
    columns: Sequence[str] | None,
    predicate: Predicate,
) -> pa.Table:
    """Return some columns of the rows that pass a predicate, which Arrow applies batch by batch.

    Raises
    ------
    InvalidSelectionError
        If a column cannot be compared with its constant.
    """
    import pyarrow.dataset as ds

    where = arrow_filter(predicate, schema)
    wanted = None if columns is None else list(columns)
    return ds.Scanner.from_batches(batches, schema=schema, columns=wanted, filter=where).to_table()


def nullable_columns(
    schema: pa.Schema,
    columns: Sequence[str] | None,
    read: Callable[[list[str]], Iterable[pa.RecordBatch]],
) -> list[str]:
    """Return the columns with nulls, of those whose dtype in pandas depends on them.

    Parameters
    ----------
    schema : pyarrow.Schema
        Schema of the file.
    columns : sequence of str or None
        The columns to look at; None for all.
    read : callable
        Takes names of columns; returns their batches.
    """
    names = [name for name in may_be_nullable(schema) if columns is None or name in columns]
    found: set[str] = set()
    for batch in read(names) if names else ():
        found.update(name for name in names if batch.column(name).null_count)
        if len(found) == len(names):
            break
    return sorted(found)


def common_schema(tables: Iterable[pa.Table]) -> tuple[pa.Schema, list[str]]:
    """Return the schema for the rows of all tables, and the columns that contain nulls.

    Parameters
    ----------
    tables : iterable of pyarrow.Table
        Tables with equal columns, whose types were inferred for each table.
    """
    import pyarrow as pa

    schema: pa.Schema | None = None
    nullable: set[str] = set()
    for table in tables:
        found = table.schema
        schema = (
            found if schema is None else pa.unify_schemas([schema, found], promote_options="permissive")
        )
        columns = zip(found.names, table.columns, strict=True)
        nullable.update(name for name, column in columns if column.null_count)
    return schema or pa.schema([]), sorted(nullable)

"""Tables of text whose types pyarrow guesses, with what it takes for dates and times left as text."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa

BLOCK_BYTES = 2**24
"""What pyarrow parses at once, in bytes. A row must fit; pyarrow's own choice, 1 MiB, is soon too little
for long text, and no faster."""

FIRST_BYTES = 2**16
"""What is read, in bytes, to see which columns hold text like dates."""


def first_types(types_of_block: Callable[[int], pa.Schema]) -> pa.Schema:
    """Return names and types as the first rows look.

    Parameters
    ----------
    types_of_block : callable
        Returns the same of the first block of so many bytes.
    """
    import pyarrow as pa

    try:
        return types_of_block(FIRST_BYTES)
    except pa.ArrowInvalid:
        # A row, or the names, may be longer.
        return types_of_block(BLOCK_BYTES)


def without_times(first: pa.Schema, table_of: Callable[[list[str]], pa.Table]) -> pa.Table:
    """Return a table in which no type is a date or a time, read once more if need be.

    Parameters
    ----------
    first : pyarrow.Schema
        What `first_types` returns.
    table_of : callable
        Reads the table, with the columns of these names as text.
    """
    # Most dates show in the first rows; a column that begins with nulls may hold some all the same.
    as_text = _times_in(first)
    table = table_of(as_text)
    late = _times_in(table.schema)
    return table_of(as_text + late) if late else table


def _times_in(schema: pa.Schema) -> list[str]:
    """Return the names of the columns that pyarrow took for dates or times."""
    import pyarrow as pa

    return [field.name for field in schema if pa.types.is_temporal(field.type)]

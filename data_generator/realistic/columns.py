"""One column of a table as an Arrow array."""

from __future__ import annotations

from typing import TYPE_CHECKING

from data_generator.bits import Bits
from data_generator.realistic import nested, nulls, order, ranks
from data_generator.realistic.dtypes import DTYPES, Family, arrow_type
from data_generator.realistic.values import most, values
from data_generator.spec import WINDOW

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

    from data_generator.spec import ColumnSpec


def column(spec: ColumnSpec, rows: int, *key: str | int) -> pa.Array:
    """Return a column of the stated properties, shape (rows,).

    Parameters
    ----------
    spec : ColumnSpec
        The properties.
    rows : int
        Number of rows, nulls included.
    *key : str or int
        What decides all that is left open, as in `data_generator.bits.Bits`.
    """
    if DTYPES[spec.dtype].family is Family.NESTED:
        return nested.column(spec, rows, *key)
    there = nulls.validity(spec, rows, Bits(*key, "nulls"))
    count = rows - nulls.null_count(spec, rows)
    if not count:
        return _all_null(spec, rows)
    distinct = min(ranks.distinct_count(spec, count), most(spec))
    found = values(spec, distinct, Bits(*key, "values"))
    codes = _codes(spec, count, found.ranks, Bits(*key, "order"))
    return _taken(spec, found.array, codes, there)


def _all_null(spec: ColumnSpec, rows: int) -> pa.Array:
    import pyarrow as pa

    nothing = pa.nulls(rows, arrow_type(spec))
    return nothing.dictionary_encode() if spec.dtype == "category" else nothing


def _codes(spec: ColumnSpec, count: int, ranks_of: np.ndarray, bits: Bits) -> np.ndarray:
    """Return which distinct value is in each row that is not null, shape (count,), dtype int64."""
    distinct = len(ranks_of)
    room = (count - max(distinct, WINDOW)) // WINDOW
    again = max(0, min(round(spec.repetition * (count // WINDOW)), room))
    fresh = count - again * WINDOW
    of_ranks = ranks.counts(spec, fresh, distinct)
    return order.repeated(order.arranged(spec, of_ranks[ranks_of], bits), count, bits)


def _taken(
    spec: ColumnSpec, distinct: pa.Array, codes: np.ndarray, there: np.ndarray | None
) -> pa.Array:
    """Return the values of the codes in the rows that are not null."""
    import numpy as np
    import pyarrow as pa

    if there is None:
        indices = pa.array(codes, pa.int32())
    else:
        filled = np.zeros(len(there), np.int32)
        filled[there] = codes
        indices = pa.array(filled, mask=~there)
    if spec.dtype == "category":
        return pa.DictionaryArray.from_arrays(indices, distinct)
    return distinct.take(indices)

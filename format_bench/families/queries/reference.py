"""Answers by NumPy on the data themselves, to compare engines' answers with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adapter_core import Comparison
from adapter_core.query import COUNT, GREATEST, LEAST, SUM, TABLE, OneOf

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    from adapter_core.query import Aggregate, Condition, Query


def answer(query: Query, tables: Mapping[str, pd.DataFrame]) -> pa.Table:
    """Return the answer to a query, computed from tables in memory."""
    import numpy as np

    df = tables[TABLE]
    if query.shape:
        return _table({"rows": [df.shape[0]], "columns": [df.shape[1]]})
    rows = _selected(df, query)
    columns = {name: _column(df, name, rows) for name in query.needed}
    if query.join:
        columns = _joined(columns, query, tables[query.join.table])
    count = len(next(iter(columns.values()))) if columns else len(rows)
    if query.aggregates:
        return _table(_grouped(columns, query, count))
    if query.order:
        keys = np.asarray(columns[query.order.column])
        order = np.argsort(-keys if query.order.descending else keys, kind="stable")[: query.limit]
        columns = {name: values[order] for name, values in columns.items()}
    return _table({name: columns[name] for name in query.columns})


def _table(columns: Mapping[str, Any]) -> pa.Table:
    import pyarrow as pa

    return pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})


def _selected(df: pd.DataFrame, query: Query) -> np.ndarray:
    """Return the numbers of the selected rows."""
    import numpy as np

    if query.positions:
        return np.array(query.positions)
    mask = np.ones(len(df), bool)
    for each in query.where:
        mask &= _mask(df[each.column], each)
    return np.flatnonzero(mask)


def _mask(column: pd.Series, found: Condition) -> np.ndarray:
    import numpy as np

    if isinstance(found, Comparison):
        return found.mask(column.to_numpy() if column.dtype.kind in "iuf" else column)
    if isinstance(found, OneOf):
        return np.isin(column.to_numpy(), np.array(found.values))
    return np.array([isinstance(text, str) and found.text in text for text in column], bool)


def _column(df: pd.DataFrame, name: str, rows: np.ndarray) -> np.ndarray:
    """Return the values of a column, or of a field of its records, in some rows."""
    import numpy as np

    outer, *inner = name.split(".")
    column = df[outer]
    if len(rows) < len(df):
        column = column.iloc[rows]
    if inner:
        return np.array([_field(each, inner) for each in column])
    return column.to_numpy()


def _field(record: Any, names: list[str]) -> Any:
    for name in names:
        record = record[name]
    return record


def _joined(columns: dict[str, Any], query: Query, other: pd.DataFrame) -> dict[str, Any]:
    """Return the columns of the rows that have a partner, with their partners' columns."""
    import numpy as np

    join = query.join
    if join is None:
        return columns
    keys = other[join.key].to_numpy()
    order = np.argsort(keys)
    place = np.minimum(np.searchsorted(keys, columns[join.column], sorter=order), len(keys) - 1)
    partner = order[place]
    has_one = keys[partner] == columns[join.column]
    found = {name: values[has_one] for name, values in columns.items()}
    return found | {name: other[name].to_numpy()[partner[has_one]] for name in join.columns}


def _grouped(columns: dict[str, Any], query: Query, count: int) -> dict[str, Any]:
    """Return the groups and their aggregates; one row without groups."""
    import numpy as np

    numbers = np.zeros(count, np.intp)
    found: dict[str, Any] = {}
    groups = 1
    if query.groups:
        (name,) = query.groups
        found[name], numbers = np.unique(columns[name], return_inverse=True)
        groups = len(found[name])
    for each in query.aggregates:
        found[each.name] = _aggregate(each, columns, numbers, groups)
    return found


def _aggregate(
    found: Aggregate, columns: dict[str, Any], numbers: np.ndarray, groups: int
) -> np.ndarray:
    import numpy as np

    counts = np.bincount(numbers, minlength=groups)
    if found.function == COUNT:
        return counts
    values = np.asarray(columns[found.column])
    if found.function in {LEAST, GREATEST}:
        smallest = found.function == LEAST
        function = np.minimum if smallest else np.maximum
        result = np.full(groups, values.max() if smallest else values.min(), values.dtype)
        function.at(result, numbers, values)
        return result
    sums = np.bincount(numbers, weights=values, minlength=groups)
    if found.function == SUM:
        return sums.astype(values.dtype) if values.dtype.kind in "iu" else sums
    return sums / counts

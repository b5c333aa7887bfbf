"""Answers on the data themselves, by NumPy, to compare engines' answers with.

Statements of SQL are answered by DuckDB on the tables in memory, which reads no file of any format.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from adapter_core import Comparison, UnsupportedError
from adapter_core.errors import InvalidSelectionError
from adapter_core.query import COUNT, GREATEST, LEAST, SUM, TABLE, OneOf
from format_bench.verification.answers import TOLERANCE, Answer

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    from adapter_core.query import Aggregate, Condition, Query


def answer(query: Query, tables: Mapping[str, pd.DataFrame]) -> Answer:
    """Return the answer to a query, computed from tables in memory.

    Raises
    ------
    UnsupportedError
        If it depends on how a library adds up missing values, or exceeds 64 bits.
    InvalidSelectionError
        If a statement of SQL is wrong.
    """
    import numpy as np

    if query.statement:
        return Answer(_by_duckdb(query.statement, tables))
    df = tables[TABLE]
    if query.shape:
        return Answer(_table({"rows": [df.shape[0]], "columns": [df.shape[1]]}))
    rows = selected(df, query)
    columns = {name: _column(df, name, rows) for name in query.needed}
    if query.join:
        columns = _joined(columns, query, tables[query.join.table])
    count = len(next(iter(columns.values()))) if columns else len(rows)
    if query.aggregates:
        return _grouped(columns, query, count)
    if query.order:
        keys = np.asarray(columns[query.order.column])
        order = np.argsort(-keys if query.order.descending else keys, kind="stable")[: query.limit]
        columns = {name: values[order] for name, values in columns.items()}
    return Answer(_table({name: columns[name] for name in query.columns}))


def _table(columns: Mapping[str, Any]) -> pa.Table:
    import pyarrow as pa

    return pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})


def _by_duckdb(statement: str, tables: Mapping[str, pd.DataFrame]) -> pa.Table:
    try:
        import duckdb
    except ImportError as error:
        raise UnsupportedError("answers to SQL are compared with DuckDB's, which is missing") from error
    import pyarrow as pa

    with duckdb.connect() as database:
        for name, df in tables.items():
            if not re.search(rf"\b{re.escape(name)}\b", statement, re.IGNORECASE):
                continue  # a copy to Arrow of eight tables takes longer than most statements
            database.register(name, pa.Table.from_pandas(df, preserve_index=False))
        try:
            return database.sql(statement).to_arrow_table()
        except duckdb.Error as error:
            raise InvalidSelectionError(" ".join(str(error).split())[:300]) from error


def selected(df: pd.DataFrame, query: Query) -> np.ndarray:
    """Return the numbers of the rows that a query selects."""
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


def _grouped(columns: dict[str, Any], query: Query, count: int) -> Answer:
    """Return the groups and their aggregates; one row without groups."""
    import numpy as np
    import pandas as pd

    numbers = np.zeros(count, np.intp)
    found: dict[str, Any] = {}
    rounding: dict[str, np.ndarray] = {}
    groups = 1
    if query.groups:
        (name,) = query.groups
        numbers, keys = pd.factorize(columns[name], sort=True, use_na_sentinel=False)
        found[name] = np.asarray(keys)
        groups = len(keys)
    for each in query.aggregates:
        if each.function == COUNT:
            found[each.name] = np.bincount(numbers, minlength=groups)
        else:
            found[each.name], rounding[each.name] = _aggregate(
                each, columns[each.column], numbers, groups
            )
    return Answer(_table(found), rounding)


def _aggregate(
    found: Aggregate, values: Any, numbers: np.ndarray, groups: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return an aggregate of the values that are not missing, and the rounding of libraries' own."""
    import numpy as np
    import pandas as pd

    valid = ~pd.isna(values)
    values, numbers = np.asarray(values)[valid], numbers[valid]
    if values.dtype == object:
        values = np.array(values.tolist())
    counts = np.bincount(numbers, minlength=groups)
    if not counts.all():
        raise UnsupportedError(
            f"some {found.function} of {found.column} is of no value, for which libraries differ"
        )
    if found.function in {LEAST, GREATEST}:
        smallest = found.function == LEAST
        function = np.minimum if smallest else np.maximum
        result = np.full(groups, values.max() if smallest else values.min(), values.dtype)
        function.at(result, numbers, values)
        return result, np.zeros(groups)
    magnitudes = np.bincount(numbers, weights=np.abs(values.astype(np.float64)), minlength=groups)
    if values.dtype.kind in "iu":
        if magnitudes.max() >= _LARGEST_SUM:
            raise UnsupportedError(f"the sum of {found.column} does not fit in 64 bits")
        sums = np.zeros(groups, np.int64)
        np.add.at(sums, numbers, values.astype(np.int64))
        share = 0.0
    else:
        sums = np.bincount(numbers, weights=values, minlength=groups)
        share = rounding_of_sums(values.dtype, len(values))
    if found.function == SUM:
        return sums, share * magnitudes
    return sums / counts, share * magnitudes / counts


# Integers are summed exactly up to here, as int64 of the engines.
_LARGEST_SUM = 2.0**63


def rounding_of_sums(dtype: np.dtype[Any], count: int) -> float:
    """Return the difference of two right sums of floats, as a share of the sum of absolute values.

    Libraries add in different orders. Each addition rounds by at most half of the type's epsilon, to
    either side, so that errors of n additions grow with the square root of n (Higham, Accuracy and
    Stability of Numerical Algorithms, section 4.2, has the bound n); four times that much is allowed.
    """
    import numpy as np

    return max(TOLERANCE, 2 * float(np.finfo(dtype).eps) * math.sqrt(count))

"""Answers on the data themselves, by NumPy, to compare engines' answers with.

They have the meaning that `adapter_core.query` defines. Statements of SQL are answered by DuckDB on the
tables in memory, which reads no file of any format.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from decimal import Decimal, localcontext
from typing import TYPE_CHECKING, Any

from adapter_core import Comparison, UnsupportedError
from adapter_core.errors import InvalidSelectionError
from adapter_core.geometries import geometries_of, rectangle
from adapter_core.kinds import nested_array
from adapter_core.predicate import DECIMAL_DIGITS
from adapter_core.query import (
    COUNT,
    ENDS,
    LEAST,
    SUM,
    TABLE,
    Aggregate,
    Condition,
    Join,
    Nearest,
    OneOf,
    Query,
    path_of,
)
from adapter_core.query_sql import order_of
from adapter_core.text import shortened
from adapter_core.values import in_utc, with_nan
from format_bench.verification.answers import TOLERANCE, Answer, difference

if TYPE_CHECKING:
    import duckdb
    import numpy as np
    import pandas as pd
    import pyarrow as pa


def answer(query: Query, tables: Mapping[str, pd.DataFrame]) -> Answer:
    """Return the answer to a query, computed from tables in memory.

    Raises
    ------
    UnsupportedError
        If it exceeds 64 bits, or libraries would answer differently, and be right.
    InvalidSelectionError
        If a statement of SQL is wrong.
    """
    if query.statement:
        return _by_duckdb(query.statement, tables)
    df = tables[TABLE]
    if query.shape:
        return Answer(_table({"rows": [df.shape[0]], "columns": [df.shape[1]]}))
    _check_nan(df, query)
    rows = selected(df, query)
    if query.nearest:
        neighbours = _near_places if query.nearest.of_geometries else _neighbours
        rows = neighbours(df, query.nearest)
        # A row may be near to several.
        table = _table({name: df[name].iloc[rows] for name in query.columns})
        return Answer(table, group_rows=len(rows) // len(query.nearest.vectors))
    columns = {name: _column(df, name, rows) for name in query.needed}
    if query.join:
        columns = _joined(columns, query, tables[query.join.table])
    count = len(next(iter(columns.values()))) if columns else len(rows)
    if query.aggregates:
        return _grouped(columns, query, count)
    if query.order:
        order = _ranks(columns[query.order.column], descending=query.order.descending)[: query.limit]
        columns = {name: values.iloc[order] for name, values in columns.items()}
    table = _table({name: columns[name] for name in query.columns})
    return Answer(table, order=(query.order.column,) if query.order else ())


def _check_nan(df: pd.DataFrame, query: Query) -> None:
    """Raise `UnsupportedError` if a column that is read contains NaN beside nulls of its own."""
    import pandas as pd
    import pyarrow as pa

    for name in query.read:
        column = df.get(name)
        if column is not None and isinstance(column.dtype, pd.ArrowDtype) and with_nan(pa.array(column)):
            raise UnsupportedError(
                f"column {name!r} contains NaN beside nulls, which pandas takes for null, too"
            )


def _table(columns: Mapping[str, Any]) -> pa.Table:
    import pyarrow as pa

    return pa.table(
        {
            name: values if isinstance(values, pa.Array) else _array(values)
            for name, values in columns.items()
        }
    )


def _array(values: Any) -> pa.Array:
    import pyarrow as pa

    kind = _zoned_type(values)
    # pyarrow 25 takes zoned times in a way that pandas 3.1 deprecates.
    return pa.array(in_utc(values).to_numpy(), kind) if kind else pa.array(values, from_pandas=True)


def _zoned_type(values: Any) -> pa.DataType | None:
    """Return the Arrow type, in UTC, of a column of times with a time zone; None for all others."""
    import pandas as pd
    import pyarrow as pa

    dtype = getattr(values, "dtype", None)
    return pa.timestamp(dtype.unit, "UTC") if isinstance(dtype, pd.DatetimeTZDtype) else None


def _by_duckdb(statement: str, tables: Mapping[str, pd.DataFrame]) -> Answer:
    """Return DuckDB's answer to a statement.

    Raises
    ------
    UnsupportedError
        If DuckDB is missing, or the answer depends on where nulls are in an order, which SQL leaves to
        libraries.
    """
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
            found = _answer_of(database, statement)
            if re.search(r"\border\s+by\b", statement, re.IGNORECASE):
                database.execute("SET default_null_order = 'NULLS_FIRST'")
                other = _answer_of(database, statement)
                if difference(other.table, found):
                    raise UnsupportedError(_ANY_PLACE)
        except duckdb.Error as error:
            raise InvalidSelectionError(shortened(str(error))) from error
    return found


_ANY_PLACE = (
    "its rows depend on where an order has nulls, or equal values, in which libraries differ; write "
    "NULLS FIRST or NULLS LAST, and end the order with a key"
)


def _answer_of(database: duckdb.DuckDBPyConnection, statement: str) -> Answer:
    table = database.sql(statement).to_arrow_table()
    return Answer(table, order=order_of(statement), is_statement=True)


def selected(df: pd.DataFrame, query: Query) -> np.ndarray:
    """Return the numbers of the rows that a query selects."""
    import numpy as np

    if query.positions:
        return np.array(query.positions)
    mask = np.ones(len(df), bool)
    if query.box:
        mask &= _intersecting(geometries_of(df[query.box.column]), rectangle(query.box.bounds))
    for each in query.where:
        mask &= _mask(df[each.column], each)
    return np.flatnonzero(mask)


def _neighbours(df: pd.DataFrame, nearest: Nearest) -> np.ndarray:
    """Return the numbers of the rows nearest to each vector, vector after vector.

    Raises
    ------
    UnsupportedError
        If rounding decides which rows are the nearest, or a vector has a value that is not finite.
    """
    import numpy as np

    vectors = nested_array(df[nearest.column])
    numbers = np.flatnonzero(vectors.is_valid())
    flat = vectors.flatten().to_numpy()
    if not np.isfinite(flat).all():
        raise UnsupportedError(
            f"column {nearest.column!r} has vectors with NaN or infinity, whose distances have no order"
        )
    wanted = np.array(nearest.vectors, np.float64)
    blocks = np.array_split(flat.reshape(len(numbers), -1), len(numbers) // _BLOCK_ROWS + 1)
    squares = np.concatenate([_squares(each.astype(np.float64), wanted) for each in blocks])
    return np.concatenate([numbers[_first(each, nearest, "vector")] for each in squares.T])


def _first(distances: np.ndarray, nearest: Nearest, what: str) -> np.ndarray:
    """Return the numbers of the least distances, or of their squares; NaN is none.

    Raises
    ------
    UnsupportedError
        If rounding decides which ones are the least.
    """
    import numpy as np

    known = int(np.count_nonzero(~np.isnan(distances)))
    order = np.argsort(distances, kind="stable")
    if nearest.count < known:
        last, next_one = distances[order[nearest.count - 1 : nearest.count + 1]]
        if next_one - last <= _NEAR_TIE * next_one:
            raise UnsupportedError(_TIE.format(nearest.count, nearest.count + 1, what))
    found: np.ndarray = order[: min(nearest.count, known)]
    return found


def _intersecting(geometries: np.ndarray, one: Any) -> np.ndarray:
    """Return True for the geometries that intersect one, which only those near it are tried for."""
    import numpy as np
    import shapely

    left, lower, right, upper = shapely.bounds(one)
    bounds = shapely.bounds(geometries).T
    may = (bounds[0] <= right) & (bounds[2] >= left) & (bounds[1] <= upper) & (bounds[3] >= lower)
    found = np.zeros(len(geometries), bool)
    found[may] = shapely.intersects(geometries[may], one)
    return found


def _near_places(df: pd.DataFrame, nearest: Nearest) -> np.ndarray:
    """Return the numbers of the rows nearest to each point, point after point.

    Raises
    ------
    UnsupportedError
        If rounding decides which rows are the nearest.
    """
    import numpy as np
    import shapely

    geometries = geometries_of(df[nearest.column])
    found = []
    for point in nearest.vectors:
        distances = shapely.distance(geometries, shapely.Point(point))
        found.append(_first(distances, nearest, "point"))
    return np.concatenate(found)


def _squares(rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Return the squares of distances, shape (rows, wanted)."""
    lengths = (rows * rows).sum(axis=1)[:, None] + (wanted * wanted).sum(axis=1)
    squares: np.ndarray = lengths - 2 * rows @ wanted.T
    return squares


_TIE = "rows number {} and {} are equally near to a {}"

# Difference of two squares of distances, as a share of them, that sums of 32 bits may turn around.
_NEAR_TIE = 2e-6

# Rows whose vectors are 64-bit floats at a time.
_BLOCK_ROWS = 10_000


def _mask(column: pd.Series, found: Condition) -> np.ndarray:
    """Return True for the values for which a condition is true, which it is for no null."""
    import numpy as np

    if isinstance(found, Comparison):
        # An array of nullable integers would be of floats.
        is_plain = isinstance(column.dtype, np.dtype) and column.dtype.kind in "iuf"
        return found.mask(column.to_numpy() if is_plain else column)
    if isinstance(found, OneOf):
        mask = column.notna().to_numpy(bool, copy=True)
        present = _plain(column[mask])
        if present.dtype.kind == "M":
            # NumPy takes no time of another unit for equal, and pandas fails beyond the unit's range.
            times = column[mask]
            mask[mask] = np.any([times == each for each in found.values], axis=0)  # noqa: PD011 (not pandas)
        elif present.dtype == object:
            wanted = set(found.values)
            mask[mask] = [each in wanted for each in present.tolist()]
        else:
            # Unsigned integers and NumPy's usual ones would be compared as floats.
            dtype = present.dtype if present.dtype.kind in "iu" else None
            mask[mask] = np.isin(present, np.array(found.values, dtype))
        return mask
    return np.array([isinstance(text, str) and found.text in text for text in column], bool)


def _plain(values: pd.Series) -> np.ndarray:
    """Return values, none of which is null, as an array of NumPy's own types or of objects."""
    import pandas as pd

    dtype: Any = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _plain(values.astype(dtype.categories.dtype))
    return in_utc(values).to_numpy(getattr(dtype, "numpy_dtype", None))


def _column(df: pd.DataFrame, name: str, rows: np.ndarray) -> pd.Series:
    """Return the values of a column, or of a field of its records, in some rows."""
    import pandas as pd

    outer, *inner = path_of(name)
    column = df[outer]
    if len(rows) < len(df):
        column = column.iloc[rows]
    if not inner:
        return column
    return pd.Series([_field(each, inner) for each in column], dtype=object)


def _field(record: Any, names: list[str]) -> Any:
    for name in names:
        record = record[name] if isinstance(record, Mapping) else None
    return record


def _joined(columns: dict[str, pd.Series], query: Query, other: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the columns of the rows that have a partner, with their partners' columns."""
    import numpy as np
    import pandas as pd

    join = query.join
    if join is None:
        return columns
    if join.intersects:
        return _overlaid(columns, join, other)
    partners = other[other[join.key].notna()]
    index = pd.Index(_plain(partners[join.key]))
    if not index.is_unique:
        raise UnsupportedError(f"the keys {join.key!r} of {join.table} are not all different")
    keys = columns[join.column]
    place = np.full(len(keys), -1)
    has_key = keys.notna().to_numpy(bool)
    place[has_key] = index.get_indexer(_plain(keys[has_key]))
    has_one = place >= 0
    found = {name: values[has_one] for name, values in columns.items()}
    return found | {name: partners[name].iloc[place[has_one]] for name in join.columns}


def _overlaid(columns: dict[str, pd.Series], join: Join, other: pd.DataFrame) -> dict[str, pd.Series]:
    """Return the columns of the pairs of rows whose geometries intersect, partner after partner."""
    import numpy as np

    geometries = geometries_of(columns[join.column])
    pairs = [
        np.flatnonzero(_intersecting(geometries, each)) if each is not None else np.zeros(0, np.intp)
        for each in geometries_of(other[join.key])
    ]
    partner = np.repeat(np.arange(len(pairs)), [len(each) for each in pairs])
    rows = np.concatenate(pairs)
    found = {name: values.iloc[rows] for name, values in columns.items()}
    return found | {name: other[name].iloc[partner] for name in join.columns}


def _ranks(values: pd.Series, *, descending: bool) -> np.ndarray:
    """Return the numbers of the rows in the order of their values, nulls last."""
    import numpy as np

    present = values.notna().to_numpy(bool)
    _, ranks = np.unique(_plain(values[present]), return_inverse=True)
    keys = np.full(len(values), len(values))
    keys[present] = -ranks if descending else ranks
    return np.argsort(keys, kind="stable")


def _grouped(columns: dict[str, pd.Series], query: Query, count: int) -> Answer:
    """Return the groups and their aggregates; one row without groups."""
    import numpy as np

    numbers = np.zeros(count, np.intp)
    found: dict[str, Any] = {}
    rounding: dict[str, np.ndarray] = {}
    groups = 1
    if query.groups:
        (name,) = query.groups
        numbers, first = _numbered(columns[name])
        groups = len(first)
        found[name] = columns[name].iloc[first]
    for each in query.aggregates:
        if not each.column:
            found[each.name] = np.bincount(numbers, minlength=groups)
        else:
            found[each.name], rounding[each.name] = _aggregate(
                each, columns[each.column], numbers, groups
            )
    return Answer(_table(found), rounding)


def _numbered(keys: pd.Series) -> tuple[np.ndarray, np.ndarray]:
    """Return the number of each row's group, and the first row of each; nulls are one of them."""
    import numpy as np
    import pandas as pd

    present = keys.notna().to_numpy(bool)
    codes, values = pd.factorize(_plain(keys[present]))
    numbers = np.full(len(keys), len(values), np.intp)
    numbers[present] = codes
    _, first = np.unique(numbers, return_index=True)
    return numbers, first


def _aggregate(
    found: Aggregate, column: pd.Series, numbers: np.ndarray, groups: int
) -> tuple[Any, np.ndarray]:
    """Return an aggregate of the values that are not null, and the rounding of libraries' own."""
    import numpy as np
    import pyarrow as pa

    present = column.notna().to_numpy(bool)
    numbers = numbers[present]
    counts = np.bincount(numbers, minlength=groups)
    if found.function == COUNT:
        return counts, np.zeros(groups)
    values = _plain(column[present])
    if values.dtype == object:
        # Dates become NumPy's. It has no least of its own texts, and no decimals.
        own = np.array(values.tolist())
        values = values if own.dtype.kind == "U" else own
    if not len(values):
        return pa.nulls(groups), np.zeros(groups)
    result, rounding = _computed(found, values, numbers, counts)
    return pa.array(result, _zoned_type(column), mask=counts == 0), rounding


def _computed(
    found: Aggregate, values: np.ndarray, numbers: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return an aggregate of each group, anything for those without values, and its rounding."""
    import numpy as np

    groups = len(counts)
    if found.function in ENDS:
        smallest = found.function == LEAST
        function = np.minimum if smallest else np.maximum
        result = np.empty(groups, values.dtype)
        # np.full would make an array of the value, and lose NUL at the end of a text.
        result.fill(values.max() if smallest else values.min())
        function.at(result, numbers, values)
        return result, np.zeros(groups)
    if values.dtype == object:
        return _of_decimals(found, values, numbers, counts)
    magnitudes = _magnitudes(values, numbers, groups)
    if values.dtype.kind in "iu":
        if magnitudes.max() >= _LARGEST_SUM:
            raise UnsupportedError(f"the sum of {found.column} does not fit in 64 bits")
        sums = np.zeros(groups, np.int64)
        np.add.at(sums, numbers, values.astype(np.int64))
        # The mean of integers is that of their floats to some libraries.
        share = 0.0 if found.function == SUM else rounding_of_sums(np.dtype(float), len(values))
    else:
        if np.isposinf(values).any() and np.isneginf(values).any():
            raise UnsupportedError(
                f"{found.column} contains infinities of both signs, whose sum libraries differ in"
            )
        sums = np.bincount(numbers, weights=values, minlength=groups)
        share = rounding_of_sums(values.dtype, len(values))
    # An infinite sum is infinite, however it is added up.
    rounding = share * np.where(np.isfinite(magnitudes), magnitudes, 0.0)
    if found.function == SUM:
        return sums, rounding
    return sums / np.maximum(counts, 1), rounding / np.maximum(counts, 1)


def _of_decimals(
    found: Aggregate, values: np.ndarray, numbers: np.ndarray, counts: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the exact sum of the decimals of each group, or their mean as a float, and its rounding."""
    import numpy as np

    groups = len(counts)
    with localcontext(prec=2 * DECIMAL_DIGITS):
        sums = np.full(groups, Decimal(0), object)
        np.add.at(sums, numbers, values)
        if any(len(each.as_tuple().digits) > DECIMAL_DIGITS for each in sums.tolist()):
            raise UnsupportedError(f"the sum of {found.column} does not fit in {DECIMAL_DIGITS} digits")
        if found.function == SUM:
            return sums, np.zeros(groups)
        means = (sums / np.maximum(counts, 1)).astype(np.float64)
    # Some engines compute the mean of floats.
    share = rounding_of_sums(means.dtype, len(values))
    return means, share * _magnitudes(values, numbers, groups) / np.maximum(counts, 1)


def _magnitudes(values: np.ndarray, numbers: np.ndarray, groups: int) -> np.ndarray:
    """Return the sum of the absolute values of each group."""
    import numpy as np

    return np.bincount(numbers, weights=np.abs(values.astype(np.float64)), minlength=groups)


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

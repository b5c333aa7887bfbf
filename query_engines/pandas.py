"""pandas."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import localcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.pandas_text import read_csv
from adapter_core.predicate import DECIMAL_DIGITS
from adapter_core.queries.arrow import count_of, expression, shape_of
from adapter_core.queries.frames import aggregated, plain, rows_where, with_keys
from adapter_core.query import TABLE
from adapter_core.query_engine import Part, QueryEngine

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from adapter_core.query import Order, Query

_KEY = "table"
_NESTED = "files with a column of records or lists fail: pandas does not read its own metadata of them"
_READ_WHOLE = "the file is read whole, within the measured time"


class Adapter(QueryEngine):
    """pandas: columns are read where its readers can, rows are filtered by Parquet's reader alone."""

    label = "pandas"
    requires = ("pandas", "pyarrow>=15")
    reads = ("CSV", "Feather", "HDF5.fixed", "HDF5.table", "JSON", "ORC", "Parquet", "Pickle")
    does: ClassVar = frozenset({Part.COLUMNS, Part.ROWS, Part.GROUPS, Part.ORDER, Part.JOIN})
    finished_by = "pandas"
    reads_fields = False
    compares_times: ClassVar = frozenset(reads) - {"CSV", "JSON"}
    compares_decimals: ClassVar = frozenset({"Feather", "ORC", "Parquet", "Pickle"})
    notes: ClassVar = {
        "Feather": _NESTED,
        "HDF5.fixed": _READ_WHOLE,
        "HDF5.table": "all rows are read: the file has no columns that conditions can use",
        "JSON": _READ_WHOLE,
        "Parquet": f"conditions on a column with integers beyond 2**63 fail; {_NESTED}",
        "Pickle": _READ_WHOLE,
    }

    def open(self, format_label: str, tables: Mapping[str, Path]) -> dict[str, Any]:
        return {"format": format_label, "tables": tables}

    def answer(self, handle: dict[str, Any], query: Query) -> pa.Table:
        # By default, Python rounds sums of decimals to 28 digits.
        with localcontext(prec=DECIMAL_DIGITS):
            return self._answer(handle, query)

    def _answer(self, handle: dict[str, Any], query: Query) -> pa.Table:
        import pyarrow as pa

        label, path = handle["format"], handle["tables"][TABLE]
        if query.shape or query.is_count:
            return self._counted(label, path, query)
        df = _selected(_read(label, path, query), query, is_filtered=label == "Parquet")
        if query.join:
            join = query.join
            other = _read_columns(label, handle["tables"][join.table], [join.key, *join.columns])
            df = df.merge(with_keys(other, join.key), left_on=join.column, right_on=join.key)
        if categories := query.computed & {*df.columns[df.dtypes == "category"]}:
            df = df.assign(**{name: plain(df[name]) for name in categories})
        if query.groups:
            df = _grouped(df, query)
        elif query.aggregates:
            df = _aggregated(df, query)
        elif query.order:
            df = _first(df, query.order, query.limit or 0)
        wanted = query.columns or [*query.groups, *(each.name for each in query.aggregates)]
        return pa.Table.from_pandas(df[list(wanted)], preserve_index=False)

    def _counted(self, label: str, path: Path, query: Query) -> pa.Table:
        df = _read_columns(label, path, None) if query.shape else _read_columns(label, path, [])
        return shape_of(*df.shape) if query.shape else count_of(len(df))


def _read(label: str, path: Path, query: Query) -> pd.DataFrame:
    if label == "Parquet" and query.where:
        import pandas as pd

        return pd.read_parquet(
            path, columns=query.read, filters=expression(query.where, None), partitioning=None
        )
    return _read_columns(label, path, query.read)


def _read_columns(label: str, path: Path, columns: list[str] | None) -> pd.DataFrame:
    """Read columns, by the reader's own way if it has one; all for None."""
    import pandas as pd

    if label == "Parquet":
        return pd.read_parquet(path, columns=columns, partitioning=None)
    if label == "Feather":
        return pd.read_feather(path, columns=columns or None)
    if label == "ORC":
        return pd.read_orc(path, columns=columns or None)
    if label == "CSV":
        return read_csv(path, usecols=columns or None, keep_default_na=False, na_values=[r"\N"])
    if label == "HDF5.table":
        return pd.read_hdf(path, _KEY, columns=columns or None)
    if label == "HDF5.fixed":
        return pd.read_hdf(path, _KEY)
    if label == "JSON":
        # Unasked, pandas makes numbers and dates of text, and dates of numbers in a column "timestamp".
        return pd.read_json(path, lines=True, dtype=False, convert_axes=False)
    return pd.read_pickle(path)  # noqa: S301 (written by the format's adapter)


def _selected(df: pd.DataFrame, query: Query, *, is_filtered: bool) -> pd.DataFrame:
    if query.positions:
        return df.iloc[list(query.positions)]
    for each in () if is_filtered else query.where:
        df = df[rows_where(df, each)]
    return df


def _first(df: pd.DataFrame, order: Order, limit: int) -> pd.DataFrame:
    import pandas as pd

    dtype = df[order.column].dtype
    # The other way refuses texts, and objects, as dates and decimals are.
    if dtype == object or isinstance(dtype, pd.StringDtype):
        return df.sort_values(order.column, ascending=not order.descending).head(limit)
    first = df.nlargest if order.descending else df.nsmallest
    return first(limit, order.column)


def _grouped(df: pd.DataFrame, query: Query) -> pd.DataFrame:
    import pandas as pd

    groups = df.groupby(list(query.groups), sort=False, observed=True, dropna=False)
    found = {
        each.name: aggregated(groups[each.column], each) if each.column else groups.size()
        for each in query.aggregates
    }
    return pd.DataFrame(found).reset_index()


def _aggregated(df: pd.DataFrame, query: Query) -> pd.DataFrame:
    import pandas as pd

    return pd.DataFrame(
        {
            each.name: [aggregated(df[each.column], each) if each.column else len(df)]
            for each in query.aggregates
        }
    )

"""Dask."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.pandas_text import common_dtypes, exact_floats
from adapter_core.partial_reads import BATCH_ROWS
from adapter_core.predicate import DATES, DECIMALS, TEXT
from adapter_core.queries.arrow import shape_of
from adapter_core.queries.frames import aggregated, rows_where, with_keys
from adapter_core.query import COUNT, MEAN, SUM, TABLE, Contains
from adapter_core.query_engine import Part, QueryEngine

if TYPE_CHECKING:
    import pyarrow as pa

    from adapter_core.query import Query


class Adapter(QueryEngine):
    """Dask's data frames, by its scheduler of threads in this process."""

    label = "dask"
    requires = ("dask", "pandas", "pyarrow>=15")
    reads = ("CSV", "ORC", "Parquet")
    does: ClassVar = frozenset({Part.COLUMNS, Part.ROWS, Part.GROUPS, Part.ORDER, Part.JOIN})
    compares_times: ClassVar = frozenset({"ORC", "Parquet"})
    compares_decimals: ClassVar = frozenset({"ORC", "Parquet"})
    reads_fields = False
    notes: ClassVar = {
        "ORC": "its reader loses columns of records and lists",
        "Parquet": "files with a column of records or lists fail, as in pandas",
    }

    def unsupported(self, format_label: str, query: Query) -> str:
        if any(each.function == MEAN and each.column in query.groups for each in query.aggregates):
            return "it has no mean of the column that makes the groups"
        if query.computes(DATES) or query.computes(DECIMALS):
            return "it has no order, ends or sums of dates and decimals, which are objects"
        if query.computes(TEXT) and (query.order or format_label == "ORC"):
            return "it has no order of texts, and no ends of them where they are objects"
        if query.compares_dates and format_label == "ORC":
            return "its reader makes times of dates, which compare with no date"
        if query.positions:
            return "its partitions give no numbers to rows"
        if format_label == "ORC" and query.columns and any(isinstance(e, Contains) for e in query.where):
            return "its optimizer loses the columns of rows that are selected by a contained text"
        return ""

    def open(self, format_label: str, tables: Mapping[str, Path]) -> dict[str, Any]:
        dtypes = {name: _csv_dtypes(path) for name, path in tables.items() if format_label == "CSV"}
        return {"format": format_label, "tables": tables, "dtypes": dtypes}

    def answer(self, handle: dict[str, Any], query: Query) -> pa.Table:
        import dask
        import pyarrow as pa

        options = {"scheduler": "threads", "dataframe.convert-string": False}
        with dask.config.set(options), warnings.catch_warnings():
            # Dask's own calls of pandas.
            warnings.simplefilter("ignore", DeprecationWarning)
            frame = _frame(handle, TABLE)
            if query.shape:
                return shape_of(len(frame), len(frame.columns))
            categories = {*frame.columns[frame.dtypes == "category"]}
            if categories & query.computed:
                raise self.refused(handle["format"], "it has no order, ends or sums of categories")
            for each in query.where:
                frame = frame[rows_where(frame, each)]
            if query.join:
                join = query.join
                other = _frame(handle, join.table)
                other = with_keys(other[[join.key, *join.columns]], join.key)
                frame = frame.merge(other, left_on=join.column, right_on=join.key)
            if query.aggregates:
                return _aggregated(frame, query)
            if query.order:
                first = frame.nlargest if query.order.descending else frame.nsmallest
                frame = first(query.limit, query.order.column)
            found = frame[list(query.columns)].compute()
        return pa.Table.from_pandas(found, preserve_index=False)


def _frame(handle: dict[str, Any], name: str) -> Any:
    import dask.dataframe as dd

    path = str(handle["tables"][name])
    if handle["format"] == "Parquet":
        return dd.read_parquet(path)
    if handle["format"] == "ORC":
        return dd.read_orc(path)
    return dd.read_csv(path, dtype=handle["dtypes"][name], **_csv_options())


def _csv_options() -> dict[str, Any]:
    import pandas as pd

    return {"keep_default_na": False, "na_values": [r"\N"], **exact_floats(pd.__version__)}


def _csv_dtypes(path: Path) -> dict[str, Any]:
    """Return the dtypes that all rows have; Dask infers them from the first 256 kB."""
    import pandas as pd

    with pd.read_csv(path, chunksize=BATCH_ROWS, low_memory=False, **_csv_options()) as batches:
        dtypes = common_dtypes(batches, float)
    # pandas parses no booleans among nulls as objects.
    return {name: "boolean" if dtype is object else dtype for name, dtype in dtypes.items()}


def _aggregated(frame: Any, query: Query) -> pa.Table:
    import dask
    import pandas as pd
    import pyarrow as pa

    if not query.groups:
        wanted = [
            aggregated(frame[each.column], each) if each.column else frame.shape[0]
            for each in query.aggregates
        ]
        values = dask.compute(*wanted)
        found = zip(query.aggregates, values, strict=True)
        return pa.table({each.name: pa.array(pd.Series([value])) for each, value in found})
    (group,) = query.groups
    # One aggregation: Dask would read, and join, the tables again for each of several.
    anything = next((each.column for each in query.aggregates if each.column), group)
    pairs = [
        (
            each.column or anything,
            _FUNCTIONS.get(each.function, each.function) if each.column else "size",
        )
        for each in query.aggregates
    ]
    # A sum of no values is null, which is zero unasked.
    counted = [(column, COUNT) for column, function in pairs if function == SUM]
    named = {f"{each[1]} of {each[0]}": each for each in (*pairs, *counted)}
    found = frame.groupby(group, dropna=False).agg(**named).compute()
    for column, _ in counted:
        found[f"sum of {column}"] = found[f"sum of {column}"].where(found[f"count of {column}"] > 0)
    columns = {group: found.index}
    columns |= {
        each.name: found[f"{pair[1]} of {pair[0]}"].array
        for each, pair in zip(query.aggregates, pairs, strict=True)
    }
    return pa.table({name: pa.array(values, from_pandas=True) for name, values in columns.items()})


_FUNCTIONS = {MEAN: "mean"}

"""Queries to data frames: conditions, and scan engines whose tables the format's own adapter reads."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.predicate import BOOLEANS, NUMBERS, OPERATORS, TEXT, TIMES, Comparison
from adapter_core.queries.arrow import expression
from adapter_core.queries.scan import ScanEngine
from adapter_core.query import MEAN, SUM, Aggregate, Condition, OneOf
from adapter_core.query_engine import Part
from adapter_core.tables.arrow import arrow_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    import pyarrow as pa

    from adapter_core.data_format import DataFormat


class FrameScan(ScanEngine):
    """Engine of a library without conditions: columns are read whole, and pyarrow filters them."""

    does: ClassVar = frozenset({Part.COLUMNS})

    def _open(self, format_label: str, path: Path) -> tuple[DataFormat, Path]:
        return self._format(format_label), path

    def _format(self, format_label: str) -> DataFormat:
        """Return the adapter of a format."""
        raise NotImplementedError(f"{type(self).__module__} must override this")

    def _scan(self, table: Any, columns: list[str], where: Sequence[Condition]) -> pa.Table:
        data_format, path = table
        compared = [each.column for each in where]
        needed = list(dict.fromkeys([*columns, *compared]))
        found = arrow_of(data_format.read(path, needed))
        return found.filter(expression(where, found.schema)) if where else found


def rows_where(df: Any, condition: Condition) -> Any:
    """Return the mask of the rows that fulfil a condition, of a data frame of pandas or of Dask."""
    column = df[condition.column]
    if isinstance(condition, Comparison):
        # Without an order of their own, categories of pandas have no smaller ones.
        column = plain(column, condition.type)
        compared = OPERATORS[condition.operator](column, condition.value)
        # To pandas, a null differs from every value.
        return compared & ~column.isna() if condition.operator == "!=" else compared
    if isinstance(condition, OneOf):
        return column.isin(list(condition.values))
    return column.str.contains(condition.text, regex=False, na=False)


_DTYPES = {TEXT: "str", NUMBERS: "Float64", BOOLEANS: "boolean", TIMES: "datetime64[us]"}


def plain(column: Any, contents: str = "") -> Any:
    """Return a series without categories, which have no least value, no order and no sum.

    Parameters
    ----------
    column : pandas.Series or dask.dataframe.Series
        The series.
    contents : str
        Type of its values, which Dask does not know before it has read them, if it is a series of Dask.
    """
    import pandas as pd

    if str(column.dtype) != "category":
        return column
    if not isinstance(column, pd.Series):
        return column.astype(_DTYPES.get(contents, "object"))
    # Of pandas' own types, so that nulls make no floats of integers.
    values = pd.array(column.cat.categories.to_numpy())
    return pd.Series(values.take(column.cat.codes.to_numpy(), allow_fill=True), column.index)


def aggregated(values: Any, aggregate: Aggregate) -> Any:
    """Return an aggregate of a series, or of the groups of one, of pandas or of Dask.

    A sum of no values is null, which is zero unasked.
    """
    if aggregate.function == SUM:
        return values.sum(min_count=1)
    return getattr(values, {MEAN: "mean"}.get(aggregate.function, aggregate.function))()


def with_keys(df: Any, key: str) -> Any:
    """Return the rows of a data frame whose key is not null: pandas and Dask join null with null."""
    return df[df[key].notnull()]  # noqa: PD004 (the name that both have)

"""Queries in Arrow: conditions as expressions, and the rest of a query after a scan."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from functools import reduce
from typing import TYPE_CHECKING

from adapter_core.predicate import Comparison
from adapter_core.query import COUNT, MEAN, Aggregate, Condition, Nearest, OneOf, Query, path_of
from adapter_core.tables.arrow import comparison, zoned_times

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from pathlib import Path

    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.dataset as ds


_FUNCTIONS = {MEAN: "mean"}


def text_dataset(format_label: str, path: Path) -> ds.Dataset:
    """Return a data set of a file of "CSV" or "JSON", with the types that all of its rows have.

    By itself, a data set infers them from the first block, and stops at later values of other types.
    """
    import pyarrow as pa
    import pyarrow.dataset as ds
    from pyarrow import csv, json

    if format_label == "JSON":
        schema, kind = json.read_json(path).schema, "json"
    else:
        options = {
            "parse_options": csv.ParseOptions(newlines_in_values=True),
            "convert_options": csv.ConvertOptions(null_values=[r"\N"], strings_can_be_null=True),
        }
        schema, kind = csv.read_csv(path, **options).schema, ds.CsvFileFormat(**options)
    # Else a measured answer finds this memory, and seems to need none.
    pa.default_memory_pool().release_unused()
    return ds.dataset(path, schema, kind)


def expression(where: Sequence[Condition], schema: pa.Schema | None) -> pc.Expression | None:
    """Return the conjunction of conditions for a table of pyarrow; None if there are none.

    Without its schema, columns of uint64 fail at values beyond 2**63.
    """
    found = [_of_condition(each, schema) for each in where]
    return reduce(lambda one, other: one & other, found) if found else None


def _of_condition(found: Condition, schema: pa.Schema | None) -> pc.Expression:
    import pyarrow as pa
    import pyarrow.compute as pc

    if isinstance(found, Comparison):
        return comparison(found, schema)
    column = pc.field(found.column)
    if isinstance(found, OneOf):
        arrow = schema.field(found.column).type if schema is not None else None
        if zone := getattr(arrow, "tz", None):
            return column.isin(zoned_times(found.values, zone))
        if isinstance(found.values[0], Decimal):
            return column.isin(pa.array(found.values, arrow))
        # Acero looks floats up by their bits.
        return column.isin(pa.array(found.with_both_zeros))
    return pc.match_substring(column, found.text)


def field(name: str) -> pc.Expression:
    """Return a column, or a field of a record, as an expression."""
    import pyarrow.compute as pc

    return pc.field(*path_of(name))


def finished(found: pa.Table, query: Query, other: Callable[[], pa.Table] | None = None) -> pa.Table:
    """Return the answer from the selected rows of a table.

    Parameters
    ----------
    found : pyarrow.Table
        The selected rows, with the columns that the query needs.
    query : Query
        The query.
    other : callable, optional
        Returns the second table of a join.
    """
    if query.join:
        if other is None:
            raise ValueError("a join needs its second table")
        right = plain_text(other().select([query.join.key, *query.join.columns]))
        found = plain_text(found).join(right, query.join.column, query.join.key, "inner")
    if query.aggregates:
        return grouped(found, query)
    if query.order:
        found = first_rows(found, query)
    if query.nearest:
        found = found.take(neighbours(found[query.nearest.column], query.nearest))
    return found.select(list(query.columns))


def grouped(found: pa.Table, query: Query) -> pa.Table:
    """Return groups with their aggregates; one row without groups."""
    if not found.num_columns:
        return _count_alone(found, query)
    names = [*query.groups, *(each.name for each in query.aggregates)]
    # Groups of dictionaries are found by their numbers, unless their values are computed with, too.
    found = _decoded(found, set(_numbers(query)) - ({*query.groups} - query.computed))
    found, query = _with_float_means(found, query)
    # Acero takes a name that begins with a dot or a bracket for a path.
    places = {name: str(place) for place, name in enumerate(found.column_names)}
    table, groups = found.rename_columns(list(places.values())), [places[name] for name in query.groups]
    wanted = [_aggregation(each, places) for each in query.aggregates]
    if groups:
        read = list(dict.fromkeys([*groups, *(places[name] for name in _numbers(query))]))
        # Acero groups by large_string and string_view several times slower than by string.
        table = _with_one_zero(plain_text(table.select(read)), groups)
    result = table.group_by(groups, use_threads=False).aggregate(wanted)
    # Acero has put the groups first since version 12, as the answer wants them.
    if (keys := len(groups)) and result.column_names[:keys] != groups:
        result = result.select([*result.column_names[-keys:], *result.column_names[:-keys]])
    return result.rename_columns(names)


def _with_float_means(table: pa.Table, query: Query) -> tuple[pa.Table, Query]:
    """Return a table and a query for means of floats in place of decimals.

    Acero cuts the mean of decimals after as many digits as they have themselves.
    """
    import pyarrow as pa
    from pyarrow import types

    aggregates = []
    for each in query.aggregates:
        wanted = each
        if each.function == MEAN and types.is_decimal(table.schema.field(each.column).type):
            wanted = replace(each, column=f"{each.column} as floats")
            table = table.append_column(wanted.column, table[each.column].cast(pa.float64()))
        aggregates.append(wanted)
    return table, replace(query, aggregates=aggregates)


def _with_one_zero(table: pa.Table, names: Sequence[str]) -> pa.Table:
    """Return a table with 0.0 for -0.0 in some columns, which Acero makes two groups of."""
    import pyarrow as pa
    import pyarrow.compute as pc

    for name in floats_of(table.schema) & set(names):
        column = pc.add(table[name], pa.scalar(0.0, table[name].type))
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def floats_of(schema: pa.Schema) -> set[str]:
    """Return the names of the columns of floats in a table."""
    from pyarrow import types

    return {each.name for each in schema if types.is_floating(each.type)}


def _count_alone(found: pa.Table, query: Query) -> pa.Table:
    import pyarrow as pa

    return pa.table({each.name: [found.num_rows] for each in query.aggregates})


def _numbers(query: Query) -> list[str]:
    return list(dict.fromkeys(each.column for each in query.aggregates if each.column))


def _aggregation(found: Aggregate, places: Mapping[str, str]) -> tuple[object, str]:
    if found.function == COUNT and not found.column:
        return [], "count_all"
    return places[found.column], _FUNCTIONS.get(found.function, found.function)


def first_rows(found: pa.Table, query: Query) -> pa.Table:
    """Return the first rows in the query's order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if query.order is None:
        raise ValueError("the query has no order")
    way = "descending" if query.order.descending else "ascending"
    # By itself, since a name that begins with a dot or a bracket is taken for a path.
    keys = _decoded(pa.table({"key": found[query.order.column]}), {"key"})
    rows = pc.select_k_unstable(keys, k=query.limit, sort_keys=[("key", way)])
    return found.take(rows)


def _decoded(table: pa.Table, names: Collection[str]) -> pa.Table:
    """Return a table without dictionaries in some columns.

    Acero does not aggregate them, and an order by one ends the process.
    """
    from pyarrow import types

    for place, field in enumerate(table.schema):
        if field.name in names and types.is_dictionary(field.type):
            column = table.column(place).cast(field.type.value_type)
            table = table.set_column(place, field.name, column)
    return table


def neighbours(vectors: pa.ChunkedArray, nearest: Nearest) -> np.ndarray:
    """Return the numbers of the rows nearest to each vector, vector after vector, by NumPy."""
    import numpy as np

    rows, numbers = vectors_of(vectors)
    # Sums of bytes and halves would overflow, and the wanted vectors may have fractions.
    rows = rows.astype(np.result_type(rows, np.float32), copy=False)
    wanted = np.array(nearest.vectors, rows.dtype)
    # The square of a distance, without the square of the wanted vector's length, which all rows share.
    far = np.einsum("ij,ij->i", rows, rows)[:, None] - 2 * rows @ wanted.T
    count = min(nearest.count, len(rows))
    return numbers[np.argpartition(far, count - 1, axis=0)[:count].T.reshape(-1)]


def vectors_of(column: pa.ChunkedArray) -> tuple[np.ndarray, np.ndarray]:
    """Return the vectors of a column, shape (count, length), and the numbers of their rows.

    Rows of nulls are near to nothing, and left out.
    """
    import numpy as np

    # Flattened lists have no place for a null.
    numbers = np.flatnonzero(column.is_valid()) if column.null_count else np.arange(len(column))
    return column.combine_chunks().flatten().to_numpy().reshape(len(numbers), -1), numbers


def plain_text(table: pa.Table) -> pa.Table:
    """Return a table with all texts as `string`, which Acero's kernels are fastest with."""
    import pyarrow as pa
    from pyarrow import types

    def of(arrow: pa.DataType) -> pa.DataType:
        wide = types.is_large_string(arrow) or types.is_string_view(arrow)
        return pa.string() if wide else arrow

    fields = [each.with_type(of(each.type)) for each in table.schema]
    return table if fields == list(table.schema) else table.cast(pa.schema(fields))


def shape_of(rows: int, columns: int) -> pa.Table:
    """Return the answer of a query for the shape of a table."""
    import pyarrow as pa

    return pa.table({"rows": [rows], "columns": [columns]})


def count_of(rows: int) -> pa.Table:
    """Return the answer of a query for the number of rows."""
    import pyarrow as pa

    return pa.table({"count_rows": [rows]})

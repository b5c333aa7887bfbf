"""Polars, lazy and streaming."""

from __future__ import annotations

import glob
import math
import re
from collections.abc import Callable, Mapping
from datetime import UTC
from functools import partial, reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.predicate import OPERATORS, Comparison
from adapter_core.queries.arrow import shape_of
from adapter_core.query import MEAN, SUM, TABLE, ZEROS, OneOf, by_total_order, path_of
from adapter_core.query_engine import QueryEngine

if TYPE_CHECKING:
    import polars as pl
    import pyarrow as pa

    from adapter_core.query import Aggregate, Condition, Query

    _Opened = tuple[dict[str, pl.LazyFrame], pl.SQLContext[pl.LazyFrame]]


class Adapter(QueryEngine):
    """Polars: a lazy frame, which is optimized and collected by the streaming engine."""

    label = "polars"
    requires = ("polars", "pyarrow>=15")
    reads = ("Avro", "CSV", "Delta", "Feather", "JSON", "Lance", "ORC", "Parquet", "Vortex")
    compares_times: ClassVar = frozenset(reads) - {"CSV", "JSON"}
    compares_decimals: ClassVar = frozenset(reads) - {"CSV", "JSON"}
    notes: ClassVar = {
        "Avro": "the file is read whole, within the measured time; times of nanoseconds are integers",
        "CSV": "a column of nulls alone is text; integers beyond 2**63 are of a type that Arrow lacks",
        "Delta": "the log is read by deltalake",
        "Feather": "it refuses categories with nulls, whose code is -1 to pandas",
        "JSON": "integers beyond 2**63 are of a type that Arrow lacks",
        "Lance": "as a data set of Arrow, from pylance",
        "ORC": "as a data set of Arrow",
        "Vortex": "scanned by vortex-data",
    }

    def unsupported(self, format_label: str, query: Query) -> str:
        if format_label == "Vortex" and {math.inf, -math.inf} & {*query.constants}:
            return "no rows are left of a condition on infinity that it hands to vortex-data"
        if format_label == "Lance" and query.compares_zoned_times:
            return "conditions that it hands to pylance lose the time zone of their constants"
        if format_label == "Delta" and query.has_long_decimals:
            return "it leaves out files by the log's statistics, which have floats for decimals"
        if format_label == "ORC" and _NOT_IN.search(query.statement):
            return "rows with nulls are left by NOT IN, which it hands to a data set of Arrow"
        return ""

    def open(self, format_label: str, tables: Mapping[str, Path]) -> Callable[[], _Opened]:
        opening = partial(_opened, format_label, tables)
        # To open a file of Avro is to read it, which is a part of the answer.
        if format_label == "Avro":
            return opening
        found = opening()
        return lambda: found

    def answer(self, handle: Callable[[], _Opened], query: Query) -> pa.Table:
        import polars as pl

        frames, context = handle()
        if query.statement:
            return context.execute(query.statement).collect(engine="streaming").to_arrow()
        frame = frames[TABLE]
        if query.shape:
            rows = frame.select(pl.len()).collect(engine="streaming").item()
            return shape_of(rows, len(frame.collect_schema()))
        if query.positions:
            wanted = [pl.col(name).gather(list(query.positions)) for name in query.columns]
            return frame.select(wanted).collect(engine="streaming").to_arrow()
        if query.join:
            other = frames[query.join.table]
            frame = frame.join(other, left_on=query.join.column, right_on=query.join.key)
        if query.where:
            # Some of its sources compare zeros by their bits.
            schema = frame.collect_schema() if query.compares_times else {}
            conditions = (_condition(each, schema) for each in by_total_order(query.where))
            frame = frame.filter(reduce(lambda one, two: one & two, conditions))
        if query.aggregates:
            adds = any(each.function == SUM for each in query.aggregates)
            schema = frame.collect_schema() if adds else {}
            aggregates = [_aggregate(each, schema) for each in query.aggregates]
            of_groups = frame.group_by(query.groups).agg if query.groups else frame.select
            frame = of_groups(aggregates)
        else:
            if query.order:
                order = query.order
                frame = frame.top_k(query.limit or 0, by=order.column, reverse=not order.descending)
                frame = frame.sort(order.column, descending=order.descending, nulls_last=True)
            frame = frame.select([_column(name) for name in query.columns])
        return frame.collect(engine="streaming").to_arrow()


# NOT IN with values; rows are joined with the rows of a SELECT.
_NOT_IN = re.compile(r"\bnot\s+in\s*\((?!\s*select\b)", re.IGNORECASE)


def _opened(format_label: str, tables: Mapping[str, Path]) -> _Opened:
    """Return the lazy frames of files by name, and a context that takes SQL on them."""
    import polars as pl

    frames = {name: lazy_frame(format_label, path) for name, path in tables.items()}
    return frames, pl.SQLContext(frames)


def lazy_frame(format_label: str, path: Path) -> pl.LazyFrame:
    """Return a lazy frame of a file, or of a directory, of one of `Adapter.reads`."""
    import polars as pl

    if format_label == "Avro":
        return pl.read_avro(path).lazy()
    if format_label == "Vortex":
        import vortex

        frame: pl.LazyFrame = vortex.open(str(path), without_segment_cache=True).to_polars()
        return frame
    if format_label == "ORC":
        import pyarrow.dataset as ds

        return pl.scan_pyarrow_dataset(ds.dataset(path, format="orc"))
    if format_label == "Lance":  # Polars 1 has no such function
        return pl.scan_lance(str(path))
    # Brackets in a path are no pattern.
    scans: dict[str, Any] = {
        "CSV": partial(_scan_csv, null_values=r"\N", glob=False),
        "Delta": pl.scan_delta,
        "Feather": partial(pl.scan_ipc, glob=False),
        "JSON": lambda text: _typed_scan(partial(pl.scan_ndjson, glob.escape(text))),
        "Parquet": partial(pl.scan_parquet, glob=False),
    }
    return scans[format_label](str(path))


def _scan_csv(path: str, **options: Any) -> pl.LazyFrame:
    """Scan CSV whose empty texts are not nulls."""
    import inspect

    import polars as pl

    # Polars 2 has renamed the option, and turned it round.
    renamed = "empty_string_is_null" in inspect.signature(pl.scan_csv).parameters
    option: dict[str, Any]
    option = {"empty_string_is_null": False} if renamed else {"missing_utf8_is_empty_string": True}
    return _typed_scan(partial(pl.scan_csv, path, **option, **options))


def _typed_scan(scan: Callable[..., pl.LazyFrame]) -> pl.LazyFrame:
    """Scan a file of text with the types that all of its rows have; Polars infers them from 100."""
    return scan(schema=scan(infer_schema_length=None).collect_schema())


def _column(name: str) -> pl.Expr:
    import polars as pl

    outer, *inner = path_of(name)
    return reduce(lambda found, part: found.struct.field(part), inner, pl.col(outer))


def _condition(found: Condition, schema: Mapping[str, Any]) -> pl.Expr:
    """Return a condition as an expression; the schema is needed for times alone."""
    import polars as pl

    column = pl.col(found.column)
    if isinstance(found, Comparison):
        if found.operator == "!=" and isinstance(found.value, float) and found.value == 0:
            # Polars takes conditions on both zeros for one and the same. To a data set of Arrow, which
            # is handed the condition, no null is in a list.
            return column.is_not_null() & column.is_in(ZEROS).not_()
        value: Any = found.value
        dtype = schema.get(found.column)
        if isinstance(dtype, pl.Datetime):
            # Beside a constant of microseconds, nanoseconds would be cut off.
            if dtype.time_zone:
                # By its moment: Polars and Python disagree on the summer times of later centuries.
                moment = pl.lit(value.astimezone(UTC), pl.Datetime(dtype.time_unit, "UTC"))
                value = moment.dt.convert_time_zone(dtype.time_zone)
            else:
                value = pl.lit(value, dtype)
        compared: pl.Expr = OPERATORS[found.operator](column, value)
        return compared
    if isinstance(found, OneOf):
        return column.is_in(list(found.values))
    return column.str.contains(found.text, literal=True)


def _aggregate(found: Aggregate, schema: Mapping[str, Any]) -> pl.Expr:
    """Return an aggregate as an expression; the schema is needed for sums alone."""
    import polars as pl

    if not found.column:
        return pl.len().alias(found.name)
    column = pl.col(found.column)
    if found.function == SUM:
        if schema[found.column] in {pl.Int32, pl.UInt32}:
            # Polars adds shorter integers with 64 bits, and these with 32.
            column = column.cast(pl.Int64)
        # Of no values it is 0 to Polars.
        return pl.when(column.count() > 0).then(column.sum()).alias(found.name)
    function = "mean" if found.function == MEAN else found.function
    result: pl.Expr = getattr(column, function)().alias(found.name)
    return result

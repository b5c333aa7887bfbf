"""ROOT's RDataFrame."""

from __future__ import annotations

import json
import math
import sys
import warnings
from contextlib import ExitStack
from dataclasses import dataclass
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import data_formats
from adapter_core import UnsupportedError
from adapter_core.predicate import BOOLEANS, NUMBERS, TEXT, Comparison
from adapter_core.queries.arrow import expression
from adapter_core.queries.scan import ScanEngine
from adapter_core.query import COUNT, GREATEST, LEAST, MEAN, SUM, Contains
from adapter_core.query_engine import Part
from adapter_core.tables.array_format import DESCRIPTION
from adapter_core.tables.arrays import array_names, column_from_arrays
from adapter_core.tables.arrow import arrow_of
from adapter_core.tables.root_data_frame import all_threads
from adapter_core.tables.root_native import cpp_condition, cpp_constant, opened, root
from adapter_core.tables.root_uproot import TABLE

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    import pyarrow as pa

    from adapter_core import Availability, DataFormat
    from adapter_core.predicate import Value
    from adapter_core.query import Aggregate, Condition, Query

_ENTRY = "rdfentry_"

_SET_NUMBERS = count()

_SHORT = {"Short_t", "UShort_t", "Int_t", "UInt_t"}
_SHORT |= {f"std::{sign}int{bits}_t" for sign in ("", "u") for bits in (16, 32)}
_FLOATS = {"float", "double", "float_t", "double_t"}

# Of 64 and of 32 bits.
_LARGEST = {sys.float_info.max, 3.4028234663852886e38}

_FUNCTIONS = {SUM: "Sum", LEAST: "Min", GREATEST: "Max", MEAN: "Mean"}


@dataclass(frozen=True)
class _Table:
    """An open ROOT file with a table."""

    path: Path
    file: Any
    described: dict[str, dict[str, Any]]
    rows: int
    reader: DataFormat
    """The adapter of ROOT's own library, which reads texts in bulk."""
    stack: ExitStack

    def frame(self) -> Any:
        return root().RDataFrame(TABLE, str(self.file.GetName()))

    def contents(self, column: str) -> str:
        """Return the type of a column for `Comparison.fitted`; empty for others, e.g. times."""
        import pandas as pd

        described = self.described[column]
        dtype = pd.api.types.pandas_dtype(described["dtype"])
        if described.get("objects") == "text" or isinstance(dtype, pd.StringDtype):
            return TEXT
        if "objects" in described or "categories" in described:
            return ""
        if pd.api.types.is_bool_dtype(dtype):
            return BOOLEANS
        return NUMBERS if pd.api.types.is_numeric_dtype(dtype) else ""


class Adapter(ScanEngine):
    """RDataFrame: conditions and aggregates in an event loop; pyarrow joins, groups and orders.

    Conditions are C++ that ROOT compiles at their first use in a process, for 0.1 to 2 seconds.
    RDataFrame makes a Python object of each text, hence it finds the rows, and ROOT's own readers get
    their texts.

    https://root.cern/doc/master/classROOT_1_1RDataFrame.html
    """

    label = "RDataFrame"
    requires = (
        "pandas",
        "pyarrow>=15",
        "root>=0.1a12; sys_platform == 'linux' and platform_machine == 'x86_64'",
    )
    reads = ("ROOT.RNTuple", "ROOT.TTree")
    compares_times: ClassVar = frozenset(reads)
    modules: ClassVar = {"root": "ROOT"}
    does: ClassVar = frozenset({Part.COLUMNS, Part.ROWS})
    finished_by = "pyarrow"
    excluded_from_all = "wheels of ROOT are alphas, for Linux on x86-64 alone, and take 591 MB"
    notes: ClassVar = dict.fromkeys(
        reads, "aggregates without groups are its own, too; conditions on times are pyarrow's"
    )

    def availability(self) -> Availability:
        # ROOT warns that its wheel is an alpha.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return super().availability()

    def _open(self, format_label: str, path: Path) -> _Table:
        with ExitStack() as stack:
            file = stack.enter_context(opened(path))
            tables = {str(key.GetName()) for key in file.GetListOfKeys()} - {DESCRIPTION}
            if tables != {TABLE}:
                raise UnsupportedError(
                    f"{self.label} reads one table of a file, and so many columns are in {len(tables)}"
                )
            table = json.loads(str(file.Get(DESCRIPTION).GetString()))
            described = {each["name"]: each for each in table["columns"]}
            reader = data_formats.find(f"{format_label}[ROOT]")
            return _Table(path, file, described, table["rows"], reader, stack.pop_all())

    def _close(self, table: _Table) -> None:
        table.stack.close()

    def _shape(self, table: _Table) -> tuple[int, int]:
        return table.rows, len(table.described)

    def _finished(self, handle: dict[str, Any], table: _Table, query: Query) -> pa.Table:
        plain = query.aggregates and not query.groups and query.join is None
        numbers = [each.column for each in query.aggregates if each.column]
        condition = _cpp(table, query.where)
        if plain and condition is not None and all(_is_plain(table, each) for each in numbers):
            with all_threads():
                found = _aggregated(table, condition, query.aggregates)
            if not any(map(_may_be_infinite, filter(None, found.to_pylist()[0].values()))):
                return found
        return super()._finished(handle, table, query)

    def _scan(self, table: _Table, columns: list[str], where: Sequence[Condition]) -> pa.Table:
        condition = _cpp(table, where)
        if condition is None:
            needed = list(dict.fromkeys([*columns, *(each.column for each in where)]))
            found = arrow_of(table.reader.read(table.path, needed))
            return found.filter(expression(where, found.schema))
        return arrow_of(_read(table, columns or [where[0].column], condition))


def _read(table: _Table, columns: list[str], condition: str) -> Any:
    """Return columns of the rows that fulfil a condition as a data frame."""
    import numpy as np
    import pandas as pd

    texts = [name for name in columns if table.contents(name) == TEXT or _is_bytes(table, name)]
    # Of integers of a byte it makes letters.
    texts += [name for name in columns if name not in texts and _is_small(table, name)]
    others = [table.described[name] for name in columns if name not in texts]
    wanted = [name for each in others for name in array_names(each)]
    if texts and condition:
        wanted.append(_ENTRY)
    # One thread, since several would return the rows in any order.
    found = _filtered(table, condition).AsNumpy(wanted) if wanted else {}
    arrays: dict[str, np.ndarray] = {name: np.asarray(each) for name, each in found.items()}
    values = {each["name"]: column_from_arrays(each, arrays) for each in others}
    if texts:
        values |= _texts(table, texts, arrays.get(_ENTRY))
    return pd.DataFrame({name: values[name] for name in columns}, copy=False)


def _texts(table: _Table, names: list[str], entries: np.ndarray | None) -> dict[str, Any]:
    """Return columns of text; of all rows if `entries` is None."""
    if entries is None:
        return dict(table.reader.read(table.path, names).items())
    first, end = (int(entries[0]), int(entries[-1]) + 1) if len(entries) else (0, 0)
    part = table.reader.read(table.path, names, slice(first, end))
    chosen = part.take(entries.astype("int64") - first).reset_index(drop=True)
    return dict(chosen.items())


def _may_be_infinite(value: float) -> bool:
    """Return True for what RDataFrame makes of infinities.

    The compensation of its sums, by Kahan's method, is NaN then, and its search for the least starts
    at the largest finite one.
    """
    return math.isnan(value) or abs(value) in _LARGEST


def _is_bytes(table: _Table, column: str) -> bool:
    return table.described[column].get("objects") == "bytes"


def _is_small(table: _Table, column: str) -> bool:
    described = table.described[column]
    return described["dtype"].lower() in {"int8", "uint8"} or "categories" in described


def _is_plain(table: _Table, column: str) -> bool:
    """Return True for numbers with NaN for their nulls, if any, and that are not letters to ROOT."""
    is_number = table.contents(column) == NUMBERS and not _is_small(table, column)
    return is_number and "valid" not in table.described[column]


def _filtered(table: _Table, condition: str) -> Any:
    return table.frame().Filter(condition) if condition else table.frame()


def _aggregated(table: _Table, condition: str, aggregates: Sequence[Aggregate]) -> pa.Table:
    """Return a row of aggregates from one event loop."""
    import pyarrow as pa

    frame = _filtered(table, condition)
    rows = frame.Count()
    booked: dict[str, tuple[Any, Any]] = {}
    for each in aggregates:
        if not each.column:
            booked[each.name] = rows, None
            continue
        name = table.described[each.column]["values"]
        kind = str(frame.GetColumnType(name))
        # NaN is null.
        present = frame.Filter(f"{name} == {name}") if kind.lower() in _FLOATS else frame
        if each.function == COUNT:
            booked[each.name] = present.Count(), None
            continue
        function = getattr(present, _FUNCTIONS[each.function])
        if each.function == SUM and kind in _SHORT:
            # A sum has the type of its values, which a few large ones exceed.
            wide, kind = f"{name}_with_64_bits", "Long64_t"
            function, name = present.Define(wide, f"({kind}) {name}").Sum, wide
        # Without the type, the least and the greatest of integers are floats.
        value = function(name) if each.function == MEAN else function[kind](name)
        booked[each.name] = value, present.Count()
    # The first request starts the loop, which computes all results.
    return pa.table(
        {
            name: [value.GetValue() if number is None or number.GetValue() else None]
            for name, (value, number) in booked.items()
        }
    )


def _cpp(table: _Table, where: Sequence[Condition]) -> str | None:
    """Return conditions in C++; None if some cannot be written so, and empty text without any."""
    parts = [_cpp_of(table, each) for each in where]
    return None if None in parts else " && ".join(filter(None, parts))


def _cpp_of(table: _Table, found: Condition) -> str | None:
    described, contents = table.described[found.column], table.contents(found.column)
    name, dtype = described["values"], described["dtype"]
    if not contents:
        return None
    value = f"format_bench::Text({name})" if contents == TEXT else name
    if isinstance(found, Comparison):
        fitted = found.fitted(contents, is_single=dtype.lower() == "float32")
        is_text = isinstance(fitted.value, str)
        text = (
            f"{value} {fitted.operator} {_text(fitted.value)}"
            if is_text
            else cpp_condition(fitted, value)
        )
    elif isinstance(found, Contains):
        text = f"{value}.find({_text(found.text)}) != std::string_view::npos"
    else:
        text = f"{_declared(found.values)}.count({value}) > 0"
        if dtype.lower().startswith("float"):
            # To a set, NaN equals each of its values.
            text += f" && {value} == {value}"
    return f"({text} && {described['valid']})" if "valid" in described else f"({text})"


@lru_cache
def _declared(values: tuple[Value, ...]) -> str:
    """Declare a set of values to ROOT, and return its name."""
    kinds = {type(each) for each in values}
    kind = "std::string_view" if str in kinds else "double" if float in kinds else "long long"
    written = ", ".join(_text(each) if isinstance(each, str) else cpp_constant(each) for each in values)
    name = f"Given{next(_SET_NUMBERS)}"
    root().gInterpreter.Declare(
        f"namespace format_bench {{ const std::set<{kind}> {name}{{{written}}}; }}"
    )
    return f"format_bench::{name}"


def _text(value: Value) -> str:
    """Return a text in C++, without letters that RDataFrame could take for names of columns."""
    data = str(value).encode()
    octal = "".join(f"\\{each:03o}" for each in data)
    return f'std::string_view("{octal}", {len(data)})'

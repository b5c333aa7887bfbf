"""ArcticDB in a folder."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import reduce
from operator import and_
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Kind, PartialReads, Snippet, Streams, Trait
from adapter_core.file_facts import FileFacts
from adapter_core.files import plain_path
from adapter_core.predicate import BOOLEANS, NUMBERS, OPERATORS, TEXT, TIMES, Comparison
from adapter_core.remote_adapter import IN_PLACE
from adapter_core.values import NANOSECOND_YEARS, datetimes_beyond

if TYPE_CHECKING:
    import pandas as pd
    from arcticdb import Arctic
    from arcticdb.version_store.library import Library

    from adapter_core import Predicate

_LIBRARY = _SYMBOL = "data"

_NO_TYPE = "ArcticDB has no type for them"


class Adapter(PartialReads, Streams):
    """ArcticDB with LMDB in a folder: a library of one symbol, through `Library.write` and `read`.

    Values are in segments of 100,000 rows and 127 columns, compressed by LZ4, which cannot be switched
    off. It keeps pandas' own types alone, and needs pandas below 3.

    Library: https://docs.arcticdb.io/latest/
    """

    label = "ArcticDB"
    suffix = ".arcticdb"
    requires = ("pandas", "arcticdb>=6")
    environment = "arcticdb"
    suite = "engines"
    local_only = IN_PLACE
    default_codec = "lz4"
    detects_truncation = False
    traits: ClassVar = frozenset({Trait.SAFE, Trait.APPEND})
    refuses: ClassVar = {
        Kind.HALF_FLOAT: _NO_TYPE,
        Kind.COMPLEX: _NO_TYPE,
        Kind.BINARY: _NO_TYPE,
        Kind.DATE: _NO_TYPE,
        Kind.TIME: _NO_TYPE,
        Kind.DECIMAL: _NO_TYPE,
        Kind.WIDE_DECIMAL: _NO_TYPE,
        Kind.NULLABLE_BOOLEAN: _NO_TYPE,
        Kind.NULLABLE_INTEGER: _NO_TYPE,
        Kind.NULLABLE_UNSIGNED: _NO_TYPE,
        Kind.NULLABLE_FLOAT: _NO_TYPE,
        Kind.TIMEDELTA: _NO_TYPE,
        Kind.PERIOD: _NO_TYPE,
        Kind.INTERVAL: _NO_TYPE,
        Kind.SPARSE: _NO_TYPE,
        Kind.ARROW: _NO_TYPE,
        Kind.NESTED: _NO_TYPE,
        Kind.MIXED: "a column has one type",
    }
    file_facts = FileFacts(silent="segments are in its own encoding, in pages of LMDB")
    snippet = Snippet(
        imports="from arcticdb import Arctic",
        write="""
            library = Arctic("lmdb://" + {path}).create_library("data")
            library.write("data", df)
        """,
        read="""
            library = Arctic("lmdb://" + {path}).get_library("data")
            df = library.read("data").data
        """,
        changes={"datetime64[us]": "datetime64[ns]"},
    )

    def _check_values(self, df: pd.DataFrame) -> None:
        import pandas as pd

        if "" in df.columns:
            raise self.refusal("a column has no name; ArcticDB gives it one, by which alone it is read")
        name = datetimes_beyond(df, {Kind.DATETIME, Kind.ZONED_DATETIME}, *NANOSECOND_YEARS)
        self._refuse_column(name, "datetimes beyond nanoseconds, the only unit of ArcticDB")
        for column, dtype in df.dtypes.items():
            if isinstance(dtype, pd.StringDtype) and dtype.na_value is pd.NA:
                self._refuse_column(
                    str(column), "text of pandas' nullable dtype; ArcticDB takes objects"
                )
            if isinstance(dtype, pd.CategoricalDtype) and not _takes(dtype.categories):
                self._refuse_column(
                    str(column), "such categories; ArcticDB takes text and integers from 0 on"
                )

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        with _created(path) as library:
            library.write(_SYMBOL, df)

    def _save_batches(self, batches: Iterator[pd.DataFrame], path: Path) -> None:
        with _created(path) as library:
            # Of the versions before the last one, only their rows are kept.
            for df in batches:
                library.append(_SYMBOL, df, prune_previous_versions=True)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        with _opened(path) as library:
            return _frame(library, columns)

    def _column_names(self, path: Path) -> list[str]:
        with _opened(path) as library:
            return [each.name for each in library.get_description(_SYMBOL).columns]

    def _count_rows(self, path: Path) -> int:
        with _opened(path) as library:
            return int(library.get_description(_SYMBOL).row_count)

    def _codec_used(self, path: Path) -> str | None:
        return self.default_codec

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        with _opened(path) as library:
            return _frame(library, columns, row_range=(start, stop))

    def _read_where(self, path: Path, columns: list[str] | None, predicate: Predicate) -> pd.DataFrame:
        from arcticdb import QueryBuilder

        with _opened(path) as library:
            types = {each.name: str(each.dtype) for each in library.get_description(_SYMBOL).columns}
            fitted = predicate.fitted(lambda each: _fitted(each, types[each.column]))
            if not all(map(_is_answered, fitted.comparisons)):
                return super()._read_where(path, columns, predicate)
            query = QueryBuilder()
            conditions = [
                # To ArcticDB a null, and NaN, differ from any constant.
                OPERATORS[each.operator](query[each.column], _constant(each.value))
                & query[each.column].notna()
                for each in fitted.comparisons
            ]
            return _frame(library, columns, query_builder=query[reduce(and_, conditions)])

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        with _opened(path) as library:
            count = int(library.get_description(_SYMBOL).row_count)
            for start in range(0, count, batch_rows):
                yield _frame(library, columns, row_range=(start, start + batch_rows))


def _takes(categories: pd.Index) -> bool:
    kind = categories.inferred_type
    return kind in {"string", "empty"} or (kind == "integer" and categories.min() >= 0)


def _frame(library: Library, columns: list[str] | None, **part: Any) -> pd.DataFrame:
    with warnings.catch_warnings():
        # ArcticDB 6 makes tables by a function of pandas that pandas 2 deprecates.
        warnings.simplefilter("ignore", DeprecationWarning)
        found: pd.DataFrame = library.read(_SYMBOL, columns=columns, **part).data
    # Of no rows, the index is of times.
    return found.reset_index(drop=True) if part or found.empty else found


def _fitted(comparison: Comparison, dtype: str) -> Comparison:
    """Return a comparison for a column of a type of ArcticDB, e.g. "TD<type=FLOAT64, dim=0>"."""
    name = dtype.partition("=")[2].partition(",")[0]
    kinds = {"UTF": TEXT, "BOOL": BOOLEANS, "NANO": TIMES}
    kind = next((each for start, each in kinds.items() if name.startswith(start)), NUMBERS)
    return comparison.fitted(kind, is_single=name == "FLOAT32")


def _constant(value: Any) -> Any:
    """Return a constant as ArcticDB takes it: it rounds floats of Python, not of NumPy, to 32 bits."""
    import numpy as np

    return np.float64(value) if isinstance(value, float) else value


def _is_answered(comparison: Comparison) -> bool:
    """Return whether ArcticDB makes a comparison: it has no order of text, and refuses infinity."""
    if comparison.type == TEXT:
        return comparison.operator in {"==", "!="}
    return not (isinstance(comparison.value, float) and math.isinf(comparison.value))


@contextmanager
def _created(path: Path) -> Iterator[Library]:
    path.mkdir()
    with _database(path) as database:
        yield database.create_library(_LIBRARY)


@contextmanager
def _opened(path: Path) -> Iterator[Library]:
    with _database(path) as database:
        yield database.get_library(_LIBRARY)


@contextmanager
def _database(path: Path) -> Iterator[Arctic]:
    from arcticdb import Arctic

    _hush()
    with plain_path(path) as plain:
        yield Arctic(f"lmdb://{plain}")


@functools.cache
def _hush() -> None:
    """Let it log errors alone: it names each column of nulls, and each table without rows."""
    from arcticdb.config import set_log_level

    set_log_level(default_level="ERROR")

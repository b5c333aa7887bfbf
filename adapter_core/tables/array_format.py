"""Base class of formats that store columns as named arrays, beside a description of the table."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from adapter_core import Batch, ColumnReads, Feature, Kind, Predicate, RemoteFile, RowReads
from adapter_core.tables import vectors
from adapter_core.tables.arrays import (
    OFFSETS,
    REFUSES,
    array_names,
    array_names_of_numbers,
    column_from_arrays,
    column_to_arrays,
    unsupported_reason,
)
from adapter_core.tables.rows import pieces

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa

    Opened = tuple[str, Callable[[list[str]], Mapping[str, np.ndarray]]]
    """Description of a table, and a function that reads arrays by their names."""

    OpenedRows = tuple[str, Callable[[list[str], slice], Mapping[str, np.ndarray]]]
    """Description of a table, and a function that reads a range of rows of arrays by their names."""


DESCRIPTION = "table.json"
"""Name of the description, which is JSON in an attribute, or in whatever a format has instead.

Its keys are ``rows``, their number, and ``columns``, see `adapter_core.tables.arrays`.
"""

# All formats take such a name; "__" separates the endings of further arrays.
_PLAIN_NAME = re.compile(r"[A-Za-z](?!\w*__)\w{0,99}", re.ASCII)


class ArrayTable(NamedTuple):
    """A table as arrays."""

    arrays: Mapping[str, np.ndarray]
    """Arrays by name, of the shapes in `adapter_core.tables.arrays.column_to_arrays`."""
    description: str
    """JSON, see `DESCRIPTION`."""


class ArrayFormat(ColumnReads, RowReads):
    """A format that stores named arrays.

    An array has the name of its column if that is a plain name, else ``_`` and the column's position.
    A subclass writes and reads the arrays and the description.
    """

    refuses: ClassVar = REFUSES
    reserved_names: ClassVar[frozenset[str]] = frozenset()
    """Names that arrays cannot have."""
    block_rows: ClassVar[int] = 1
    """Number of rows that are read at once for smaller batches, as many as chunks of the format have."""

    def _check_values(self, df: pd.DataFrame) -> None:
        reason = unsupported_reason(df)
        if reason is not None:
            raise self.refusal(reason)

    def _check_inside(self, name: str, kind: Kind, array: pa.Array) -> None:
        super()._check_inside(name, kind, array)
        if contents := vectors.problem(array):
            self._refuse_column(name, f"{kind} with {contents}")

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        self._write(path, self._arrays_of(df), codec, level)

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        self._write_remote(file, self._arrays_of(df), codec, level)

    def _arrays_of(self, df: pd.DataFrame) -> ArrayTable:
        arrays: dict[str, np.ndarray] = {}
        columns = [
            column_to_arrays(column, self._array_name(i, name), arrays.__setitem__)
            for i, (name, column) in enumerate(df.items())
        ]
        return ArrayTable(arrays, json.dumps({"rows": len(df), "columns": columns}))

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        with self._opened(path) as opened:
            return _frame_of(opened, columns)

    def _read_remote(self, file: RemoteFile, columns: list[str] | None) -> pd.DataFrame:
        with self._opened_remote(file) as opened:
            return _frame_of(opened, columns)

    def _array_batches(self, path: Path, columns: list[str]) -> Iterator[Batch]:
        with self._opened(path) as (description, get):
            names = array_names_of_numbers(json.loads(description)["columns"], columns)
            arrays = get(list(names.values()))
            yield {column: arrays[name] for column, name in names.items()}

    def _column_names(self, path: Path) -> list[str]:
        with self._opened(path) as (description, _):
            return [column["name"] for column in json.loads(description)["columns"]]

    def _read_slice(
        self, path: Path, columns: list[str] | None, start: int, stop: int | None
    ) -> pd.DataFrame:
        with self._opened_rows(path) as opened:
            return _rows_of(opened, columns, slice(start, stop))

    def _read_where(self, path: Path, columns: list[str] | None, predicate: Predicate) -> pd.DataFrame:
        import pandas as pd

        with self._opened(path) as (description, get):
            table = json.loads(description)

            def read(column: dict[str, Any]) -> Any:
                return column_from_arrays(column, get(array_names(column)))

            compared = {each["name"]: each for each in table["columns"]}
            mask = predicate.mask({name: read(compared[name]) for name in predicate.columns})
            # Column after column: all of them together would not fit in memory.
            values = {
                each["name"]: _taken(read(each), mask)
                for each in table["columns"]
                if columns is None or each["name"] in columns
            }
        return pd.DataFrame(values, pd.RangeIndex(int(mask.sum())), copy=False)

    def _batches(self, path: Path, columns: list[str] | None, batch_rows: int) -> Iterator[pd.DataFrame]:
        with self._opened_rows(path) as opened:
            rows = json.loads(opened[0])["rows"]
            block_rows = max(batch_rows, self.block_rows)
            for start in range(0, rows, block_rows):
                block = _rows_of(opened, columns, slice(start, start + block_rows))
                yield from pieces(block, batch_rows)

    def _array_name(self, position: int, name: str) -> str:
        is_plain = _PLAIN_NAME.fullmatch(name) and name not in self.reserved_names
        return name if is_plain else f"_{position}"

    @abstractmethod
    def _write(self, path: Path, table: ArrayTable, codec: str | None, level: int | None) -> None:
        """Write a table to a path that does not exist yet."""

    @abstractmethod
    def _opened(self, path: Path) -> AbstractContextManager[Opened]:
        """Open a saved table; provide its description, and a function that reads arrays."""

    @contextmanager
    def _opened_rows(self, path: Path) -> Iterator[OpenedRows]:
        """Open a saved table; provide its description, and a function that reads rows of arrays.

        By default, whole arrays are read, one after the other.
        """
        with self._opened(path) as (description, get):
            # A copy, since a view would keep the whole array in memory.
            yield description, by_elements(lambda name, part: get([name])[name][part].copy())

    def _write_remote(
        self, file: RemoteFile, table: ArrayTable, codec: str | None, level: int | None
    ) -> None:
        """Write a table to an object store, as `_write`; required for `save_schemes`."""
        raise NotImplementedError(
            f"{type(self).__module__}: declares {Feature.REMOTE_SAVE}, so it must override this"
        )

    def _opened_remote(self, file: RemoteFile) -> AbstractContextManager[Opened]:
        """Open a saved table on a server, as `_opened`; required for `remote_schemes`."""
        raise NotImplementedError(
            f"{type(self).__module__}: declares {Feature.REMOTE}, so it must override this"
        )


def _frame_of(opened: Opened, columns: list[str] | None) -> pd.DataFrame:
    import pandas as pd

    description, get = opened
    table = json.loads(description)
    wanted = [each for each in table["columns"] if columns is None or each["name"] in columns]
    arrays = get([name for each in wanted for name in array_names(each)])
    values = {each["name"]: column_from_arrays(each, arrays) for each in wanted}
    return pd.DataFrame(values, pd.RangeIndex(table["rows"]), copy=False)


def by_elements(
    get: Callable[[str, slice], np.ndarray],
) -> Callable[[list[str], slice], dict[str, np.ndarray]]:
    """Return a function that reads a range of rows, from one that reads a range of an array.

    The bytes of text are found by its offsets, which are returned relative to the first row.
    """

    def read(names: list[str], rows: slice) -> dict[str, np.ndarray]:
        arrays: dict[str, np.ndarray] = {}
        for name in names:
            if name + OFFSETS in names:
                offsets = get(name + OFFSETS, slice(rows.start, rows.stop + 1))
                arrays[name + OFFSETS] = offsets - offsets[0]
                arrays[name] = get(name, slice(int(offsets[0]), int(offsets[-1])))
            elif not name.endswith(OFFSETS):
                arrays[name] = get(name, rows)
        return arrays

    return read


def _rows_of(opened: OpenedRows, columns: list[str] | None, rows: slice) -> pd.DataFrame:
    import pandas as pd

    description, read = opened
    table = json.loads(description)
    end: int = table["rows"]
    within = slice(min(rows.start, end), end if rows.stop is None else min(rows.stop, end))
    values = {
        each["name"]: column_from_arrays(each, read(array_names(each), within))
        for each in table["columns"]
        if columns is None or each["name"] in columns
    }
    return pd.DataFrame(values, pd.RangeIndex(within.stop - within.start), copy=False)


def _taken(values: Any, mask: np.ndarray) -> Any:
    import pandas as pd

    taken = values[mask]
    return taken.reset_index(drop=True) if isinstance(taken, pd.Series) else taken

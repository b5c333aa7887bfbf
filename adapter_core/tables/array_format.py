"""Base class of formats that store columns as named arrays, beside a description of the table."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from adapter_core import DataFormat, Feature
from adapter_core.tables.arrays import (
    REFUSES,
    array_names,
    array_names_of_numbers,
    column_from_arrays,
    column_to_arrays,
    unsupported_reason,
)

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from adapter_core import RemoteFile
    from adapter_core.column_batches import Batch

    Opened = tuple[str, Callable[[list[str]], Mapping[str, np.ndarray]]]
    """Description of a table, and a function that reads arrays by their names."""


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


class ArrayFormat(DataFormat):
    """A format that stores named arrays.

    An array has the name of its column if that is a plain name, else ``_`` and the column's position.
    A subclass writes and reads the arrays and the description.
    """

    supports: ClassVar = frozenset({Feature.COLUMNS})
    refuses: ClassVar = REFUSES
    reserved_names: ClassVar[frozenset[str]] = frozenset()
    """Names that arrays cannot have."""

    def _check_values(self, df: pd.DataFrame) -> None:
        reason = unsupported_reason(df)
        if reason is not None:
            raise self.refusal(reason)

    def _save(
        self, df: pd.DataFrame, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        arrays: dict[str, np.ndarray] = {}
        columns = [
            column_to_arrays(column, self._array_name(i, name), arrays.__setitem__)
            for i, (name, column) in enumerate(df.items())
        ]
        description = json.dumps({"rows": len(df), "columns": columns})
        self._write(path, ArrayTable(arrays, description), codec, level)

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

    def _array_name(self, position: int, name: str) -> str:
        is_plain = _PLAIN_NAME.fullmatch(name) and name not in self.reserved_names
        return name if is_plain else f"_{position}"

    @abstractmethod
    def _write(self, path: Path, table: ArrayTable, codec: str | None, level: int | None) -> None:
        """Write a table to a path that does not exist yet."""

    @abstractmethod
    def _opened(self, path: Path) -> AbstractContextManager[Opened]:
        """Open a saved table; provide its description, and a function that reads arrays."""

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

"""The base of formats that keep each column as arrays, beside a description of the table."""

from __future__ import annotations

import json
import re
from abc import abstractmethod
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core.data_format import DataFormat, Feature
from adapter_core.tables.arrays import (
    REFUSES,
    array_names,
    column_from_arrays,
    column_to_arrays,
    unsupported_reason,
)

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    Opened = tuple[str, Callable[[list[str]], Mapping[str, np.ndarray]]]


NOTE = "table.json"
"""Name of the attribute, or whatever a format has instead, that holds the description as JSON.

It has the keys ``rows``, their number, and ``columns``, which `adapter_core.tables.arrays` explains.
"""

_PLAIN_NAME = re.compile(r"[A-Za-z](?!\w*__)\w{0,99}", re.ASCII)
"""In ASCII, of a length that all formats take, and without what begins the endings of other arrays."""


class ArrayFormat(DataFormat):
    """A format that keeps named arrays.

    An array has the name of its column if that is plain, else ``_`` and the column's position. A
    subclass writes and reads arrays and one text.
    """

    supports: ClassVar = frozenset({Feature.COLUMNS})
    refuses: ClassVar = REFUSES
    reserved_names: ClassVar[frozenset[str]] = frozenset()
    """Names of columns that cannot be the names of arrays."""

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
        note = json.dumps({"rows": len(df), "columns": columns})
        self._write(path, arrays, note, codec, level)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        import pandas as pd

        with self._opened(path) as (note, get):
            table = json.loads(note)
            notes = [each for each in table["columns"] if columns is None or each["name"] in columns]
            arrays = get([name for each in notes for name in array_names(each)])
            values = {each["name"]: column_from_arrays(each, arrays) for each in notes}
        return pd.DataFrame(values, pd.RangeIndex(table["rows"]), copy=False)

    def _column_names(self, path: Path) -> list[str]:
        with self._opened(path) as (note, _):
            return [column["name"] for column in json.loads(note)["columns"]]

    def _array_name(self, position: int, name: str) -> str:
        is_plain = _PLAIN_NAME.fullmatch(name) and name not in self.reserved_names
        return name if is_plain else f"_{position}"

    @abstractmethod
    def _write(
        self,
        path: Path,
        arrays: Mapping[str, np.ndarray],
        note: str,
        codec: str | None,
        level: int | None,
    ) -> None:
        """Write arrays, of the shapes that `column_to_arrays` tells, and the description."""

    @abstractmethod
    def _opened(self, path: Path) -> AbstractContextManager[Opened]:
        """Open a file; give the description, and a function that reads arrays by their names."""

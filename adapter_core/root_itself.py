"""What both tables of ROOT files have in common, through ROOT itself."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.array_format import NOTE, ArrayFormat
from adapter_core.codecs import Codec
from adapter_core.column_arrays import OFFSETS, REFUSES
from adapter_core.kinds import Kind
from adapter_core.root import Root
from adapter_core.root_library import created, opened, plain, root

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.array_format import Opened
    from adapter_core.availability import Availability

ALGORITHMS = {"zlib": 1, "lzma": 2, "lz4": 4, "zstd": 5}
"""ROOT's numbers of codecs (Compression.h); a setting is 100 times that, plus the level."""

CODEC_NAMES = {number: name for name, number in ALGORITHMS.items()}


class RootItself(ArrayFormat):
    """A table of a ROOT file as `adapter_core.root.Root` lays it out, so that each reads the other's."""

    suffix = Root.suffix
    modules: ClassVar = {"root": "ROOT"}
    traits: ClassVar = Root.traits
    codecs: ClassVar = (
        Codec("zlib", range(1, 10), 1),
        Codec("lzma", range(1, 10), 7),
        Codec("lz4", range(1, 10), 4),
        Codec("zstd", range(1, 10), 5),
    )
    refuses: ClassVar = {
        **REFUSES,
        Kind.HALF_FLOAT: "ROOT's Float16_t is another type",
        Kind.COMPLEX: "ROOT has no type for them",
    }

    def availability(self) -> Availability:
        """Import ROOT, which warns that its wheel is an alpha, and tell whether it can work here."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return super().availability()

    def _write(
        self,
        path: Path,
        arrays: Mapping[str, np.ndarray],
        note: str,
        codec: str | None,
        level: int | None,
    ) -> None:
        setting = ALGORITHMS[codec] * 100 + (level or 1) if codec else 0
        with created(path, setting) as file:
            self._write_table(file, plain(arrays), setting)
            file.WriteObject(root().TObjString(note), NOTE)

    @abstractmethod
    def _write_table(self, file: Any, arrays: Mapping[str, np.ndarray], setting: int) -> None:
        """Write arrays, which `adapter_core.root_library.columns_of` takes, as one table of a file."""

    @contextmanager
    def _opened(self, path: Path) -> Iterator[Opened]:
        with opened(path) as file:
            keys = [str(key.GetName()) for key in file.GetListOfKeys()]
            tables = [self._table(file, key) for key in keys if key != NOTE]
            table_of = {column: table for table in tables for column in table.columns()}

            @lru_cache(maxsize=2)  # of text, as bytes and offsets are asked for one by one
            def lists(column: str) -> tuple[np.ndarray, np.ndarray]:
                return table_of[column].lists(column)

            def get(name: str) -> np.ndarray:
                column = name.removesuffix(OFFSETS)
                if column != name:
                    return lists(column)[0]
                table = table_of[column]
                return lists(column)[1] if table.is_list(column) else table.values(column)

            yield str(file.Get(NOTE).GetString()), lambda names: {name: get(name) for name in names}

    @abstractmethod
    def _table(self, file: Any, name: str) -> StoredTable:
        """Return a table of a file that is open."""


class StoredTable(ABC):
    """A TTree or RNTuple of a file that is open."""

    @abstractmethod
    def columns(self) -> list[str]:
        """Return the names of its branches or fields."""

    @abstractmethod
    def is_list(self, column: str) -> bool:
        """Return whether each row has a list of values, not always as many."""

    @abstractmethod
    def values(self, column: str) -> np.ndarray:
        """Return the values of a column, shape (rows,) or (rows, length)."""

    @abstractmethod
    def lists(self, column: str) -> tuple[np.ndarray, np.ndarray]:
        """Return where each row's bytes begin and end, int64 of shape (rows + 1,), and all bytes."""

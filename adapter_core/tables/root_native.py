"""Tables of ROOT files through ROOT's own library: base class of TTree and RNTuple.

Python would call ROOT once for each value of text, hence the helpers in C++, which ROOT's interpreter
compiles at first use.
"""

from __future__ import annotations

import math
import os
import secrets
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import IN_PLACE, Availability, Codec, Comparison, Kind, PartialReads
from adapter_core.file_facts import FileFacts
from adapter_core.tables.array_format import DESCRIPTION, ArrayFormat
from adapter_core.tables.arrays import NO_VECTORS, OFFSETS, REFUSES
from adapter_core.tables.root_uproot import Root

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.tables.array_format import ArrayTable, Opened, OpenedRows


HELPERS = Path(__file__).with_name("root_tables.hxx")

ALGORITHMS = {"zlib": 1, "lzma": 2, "lz4": 4, "zstd": 5}
"""ROOT's numbers of codecs (Compression.h); a setting is 100 times the number, plus the level."""

CODEC_NAMES = {number: name for name, number in ALGORITHMS.items()}


class NativeRoot(ArrayFormat, PartialReads):
    """A table in the layout of `root_uproot.Root`: each reads the other's files."""

    local_only = IN_PLACE
    suffix = Root.suffix
    overridden_default = "codec"
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
        **NO_VECTORS,
        Kind.HALF_FLOAT: "ROOT's Float16_t is another type",
        Kind.COMPLEX: "ROOT has no type for them",
    }
    file_facts = FileFacts(threads="one")
    snippet = (
        "it fills rows by functions in C++ that ROOT compiles; the code of ROOT.TTree and "
        "ROOT.RNTuple, by uproot, writes and reads the same formats"
    )

    def availability(self) -> Availability:
        """Import ROOT and report whether it can work here."""
        # ROOT warns that its wheel is an alpha.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return super().availability()

    def _write(self, path: Path, table: ArrayTable, codec: str | None, level: int | None) -> None:
        setting = ALGORITHMS[codec] * 100 + (level or 1) if codec else 0
        with created(path, setting) as file:
            self._write_table(file, _contiguous(table.arrays), setting)
            file.WriteObject(root().TObjString(table.description), DESCRIPTION)

    @abstractmethod
    def _write_table(self, file: Any, arrays: Mapping[str, np.ndarray], setting: int) -> None:
        """Write arrays, see `columns_of`, as a table of an open file."""

    @contextmanager
    def _opened(self, path: Path) -> Iterator[Opened]:
        with opened(path) as file:
            table_of = self._tables(file)

            @lru_cache(maxsize=2)  # bytes and offsets of text are requested one after the other
            def lists(column: str) -> tuple[np.ndarray, np.ndarray]:
                return table_of[column].lists(column)

            def get(name: str) -> np.ndarray:
                column = name.removesuffix(OFFSETS)
                if column != name:
                    return lists(column)[0]
                table = table_of[column]
                return lists(column)[1] if table.is_list(column) else table.values(column)

            description = str(file.Get(DESCRIPTION).GetString())
            yield description, lambda names: {name: get(name) for name in names}

    @contextmanager
    def _opened_rows(self, path: Path) -> Iterator[OpenedRows]:
        with opened(path) as file:
            table_of = self._tables(file)

            def read(names: list[str], rows: slice) -> dict[str, np.ndarray]:
                arrays: dict[str, np.ndarray] = {}
                for name in names:
                    if name + OFFSETS in names:
                        arrays[name + OFFSETS], arrays[name] = table_of[name].lists(name, rows)
                    elif not name.endswith(OFFSETS):
                        arrays[name] = table_of[name].values(name, rows)
                return arrays

            yield str(file.Get(DESCRIPTION).GetString()), read

    def _tables(self, file: Any) -> dict[str, StoredTable]:
        """Return the table of each column of an open file."""
        keys = [str(key.GetName()) for key in file.GetListOfKeys()]
        tables = [self._table(file, key) for key in keys if key != DESCRIPTION]
        return {column: table for table in tables for column in table.columns()}

    @abstractmethod
    def _table(self, file: Any, name: str) -> StoredTable:
        """Return a table of an open file."""


class StoredTable(ABC):
    """A TTree or RNTuple of an open file."""

    @abstractmethod
    def columns(self) -> list[str]:
        """Return the names of its branches or fields."""

    @abstractmethod
    def is_list(self, column: str) -> bool:
        """Return True if each row has a list of values, of any length."""

    @abstractmethod
    def values(self, column: str, rows: slice | None = None) -> np.ndarray:
        """Return the values of a column, shape (rows,) or (rows, length); by default of all rows."""

    @abstractmethod
    def lists(self, column: str, rows: slice | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Return the offsets of each row's bytes, int64 of shape (rows + 1,), and the bytes."""


@lru_cache
def root() -> Any:
    """Return the module ROOT, with the helpers declared, and without messages."""
    import ROOT

    # On a crash ROOT's handlers would start a debugger, in place of faulthandler.
    ROOT.gSystem.ResetSignals()
    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    ROOT.gInterpreter.Declare(HELPERS.read_text(encoding="utf-8"))
    return ROOT


def columns_of(arrays: Mapping[str, np.ndarray], type_of: Callable[[str, np.ndarray, bool], str]) -> Any:
    """Return the number of rows, and the columns for the helpers; the arrays must outlive these.

    Parameters
    ----------
    arrays : mapping
        Contiguous arrays by name; bytes of text together with their offsets.
    type_of : callable
        Takes the name, the array, and True for lists; returns ROOT's name of the type.
    """
    helpers = root().format_bench
    rows, columns = 0, root().std.vector[helpers.Column]()
    for name, array in arrays.items():
        offsets = arrays.get(name + OFFSETS)
        if name.endswith(OFFSETS):
            continue
        rows = len(array) if offsets is None else len(offsets) - 1
        address = 0 if offsets is None else offsets.ctypes.data
        type_name = type_of(name, array, offsets is not None)
        columns.push_back(
            helpers.Column(name, type_name, width_bytes(array), array.ctypes.data, address)
        )
    return rows, columns


def width_bytes(array: np.ndarray) -> int:
    """Return the bytes of a row in a contiguous array."""
    return array.itemsize * math.prod(array.shape[1:])


def _contiguous(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return arrays contiguous, with times as integers and offsets as int64."""
    import numpy as np

    return {
        name: np.ascontiguousarray(each, np.int64 if name.endswith(OFFSETS) else None)
        for name, each in _without_times(arrays).items()
    }


def _without_times(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: each.view("i8") if each.dtype.kind in "mM" else each for name, each in arrays.items()}


def cpp_condition(comparison: Comparison, value: str) -> str:
    """Return a comparison as an expression of C++, which is false for NaN.

    Parameters
    ----------
    comparison : Comparison
        The comparison, fitted to its column.
    value : str
        The expression of the column's value.
    """
    condition = f"{value} {comparison.operator} {cpp_constant(comparison.value)}"
    return f"({condition} && {value} == {value})" if comparison.operator == "!=" else condition


def cpp_constant(constant: Any) -> str:
    """Return a number or a boolean as an expression of C++."""
    if isinstance(constant, bool):
        return str(constant).lower()
    if isinstance(constant, float) and math.isinf(constant):
        return "INFINITY" if constant > 0 else "-INFINITY"
    if isinstance(constant, int) and constant == -(2**63):
        # Its number without the sign is an unsigned one.
        return f"({constant + 1} - 1)"
    return repr(constant)


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open a ROOT file for reading.

    Raises
    ------
    OSError
        If it cannot be opened, or its writer did not close it.
    """
    # ROOT parses file names as URLs, in which # and ? have a meaning.
    with path.open("rb") as descriptor, _closing(f"/proc/self/fd/{descriptor.fileno()}") as file:
        if file.TestBit(root().TFile.kRecovered):
            raise OSError(f"{path.name} was not closed, or is cut short")
        yield file


@contextmanager
def created(path: Path, setting: int) -> Iterator[Any]:
    """Create a ROOT file, compressed by ROOT's number of a codec and level.

    Raises
    ------
    OSError
        If it cannot be created, or not all of it could be written.
    """
    name = f"{secrets.token_hex(8)}.root"
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        with _closing(f"/proc/self/fd/{folder}/{name}", "RECREATE", "", setting) as file:
            yield file
        if file.TestBit(root().TFile.kWriteError):
            raise OSError(f"ROOT could not write all of {path.name}")
        os.rename(name, path, src_dir_fd=folder)
    finally:
        with suppress(FileNotFoundError):
            os.unlink(name, dir_fd=folder)
        os.close(folder)


@contextmanager
def _closing(name: str, *how: Any) -> Iterator[Any]:
    file = root().TFile(name, *how)
    try:
        yield file
    finally:
        file.Close()

"""ROOT's own library: its module, its files, and how arrays become the columns that the helpers take."""

from __future__ import annotations

import math
import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.column_arrays import OFFSETS

if TYPE_CHECKING:
    import numpy as np

HELPERS = Path(__file__).with_name("root_tables.hxx")


@lru_cache
def root() -> Any:
    """Return the module ROOT, silent, as all errors are raised, and with the helpers declared."""
    import ROOT

    # On a crash ROOT's handlers would start a debugger, and faulthandler would not be heard.
    ROOT.gSystem.ResetSignals()
    ROOT.gErrorIgnoreLevel = ROOT.kFatal
    ROOT.gInterpreter.Declare(HELPERS.read_text(encoding="utf-8"))
    return ROOT


def columns_of(arrays: Mapping[str, np.ndarray], type_of: Callable[[str, np.ndarray, bool], str]) -> Any:
    """Return rows and columns as the helpers take them; the arrays must outlive these.

    Parameters
    ----------
    arrays : mapping
        Contiguous arrays by name, bytes of text together with their offsets.
    type_of : callable
        Takes name, array and whether it holds lists; returns how ROOT calls the type.
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
    """Return how many bytes a row of a contiguous array has."""
    return array.itemsize * math.prod(array.shape[1:])


def plain(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Return arrays that are contiguous, times as integers, offsets as int64."""
    import numpy as np

    return {
        name: np.ascontiguousarray(each, np.int64 if name.endswith(OFFSETS) else None)
        for name, each in _without_times(arrays).items()
    }


def _without_times(arrays: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: each.view("i8") if each.dtype.kind in "mM" else each for name, each in arrays.items()}


@contextmanager
def opened(path: Path) -> Iterator[Any]:
    """Open a ROOT file for reading, and close it in the end.

    Raises
    ------
    OSError
        If it cannot be opened, or was not closed by who wrote it.
    """
    # ROOT takes names of files for URLs, in which # and ? have a meaning.
    with path.open("rb") as plain, _closing(f"/proc/self/fd/{plain.fileno()}") as file:
        if file.TestBit(root().TFile.kRecovered):
            raise OSError(f"{path.name} was not closed, or is cut short")
        yield file


@contextmanager
def created(path: Path, setting: int) -> Iterator[Any]:
    """Create a ROOT file, compressed as ROOT's number says, and close it in the end.

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

"""Toy writers of one file: careful, careless, and deaf to a full disk."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from adapter_core import DataFormat
from format_bench.families.tables.operations import TableOperations


class Careless(DataFormat):
    """Writer of a line for each row, whose reader takes what is there."""

    label = "Careless"
    suffix = ".toy"
    requires = ()

    def _save(self, df: pd.DataFrame, path: Path, **_: Any) -> None:
        with path.open("wb", buffering=0) as file:
            for each in df["number"]:
                file.write(b"%d\n" % each)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:  # noqa: ARG002
        return pd.DataFrame({"number": [int(each) for each in path.read_bytes().split()]})


class Careful(Careless):
    """Writer that brings a whole file to the device before it has its name."""

    label = "Careful"

    def _save(self, df: pd.DataFrame, path: Path, **_: Any) -> None:
        new = path.with_suffix(".new")
        with new.open("wb") as file:
            file.write(b"".join(b"%d\n" % each for each in df["number"]))
            file.flush()
            os.fsync(file.fileno())
        new.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


class Deaf(Careless):
    """Writer that overlooks errors."""

    label = "Deaf"

    def _save(self, df: pd.DataFrame, path: Path, **_: Any) -> None:
        with contextlib.suppress(OSError):
            super()._save(df, path)


class Strict(Careless):
    """Format whose reader wants the number of rows first, in a new file."""

    label = "Strict"

    def _save(self, df: pd.DataFrame, path: Path, **_: Any) -> None:
        with path.open("xb", buffering=0) as file:
            file.write(b"%d\n" % len(df))
            for each in df["number"]:
                file.write(b"%d\n" % each)

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        found = super()._read(path, columns)["number"]
        if not len(found):
            os.abort()
        if len(found) == 1:
            time.sleep(1000)
        if found[0] != len(found) - 1:
            raise OSError(f"{found[0] + 1 - len(found)} rows are missing")
        return pd.DataFrame({"number": found[1:].reset_index(drop=True)})


WRITERS = {each.label: each for each in (Careless, Careful, Deaf, Strict)}


@contextmanager
def operating(label: str, data: Path) -> Iterator[TableOperations]:
    """Provide the operations of a toy writer on stored data."""
    assert data.exists()
    yield TableOperations(WRITERS[label]())


def store_numbers(path: Path, count: int) -> None:
    """Store the table of all toys, two versions of so many rows: numbers of four digits."""
    TableOperations.store(pd.DataFrame({"number": range(1000, 1000 + 2 * count)}), path)

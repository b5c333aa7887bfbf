"""Toy readers of damaged files: one that ignores damage, and one for each other class of outcome."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd

from adapter_core import DataFormat
from format_bench.families.tables.operations import TableOperations


class BytesReader(DataFormat):
    """Format of bytes in one column: any damage of the file is another value."""

    label = "Bytes"
    suffix = ".bytes"
    requires = ()

    def _save(self, df: pd.DataFrame, path: Path, **_: Any) -> None:
        path.write_bytes(df["byte"].to_numpy("uint8").tobytes())

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:  # noqa: ARG002
        content = path.read_bytes()
        if content != bytes(range(256)) * (len(content) // 256):
            self.react()
        return pd.DataFrame({"byte": list(content)})

    def react(self) -> None:
        """React to damage; here not at all."""


class Raising(BytesReader):
    label = "Raising"

    def react(self) -> None:
        raise OSError("the checksum differs")


class Crashing(BytesReader):
    label = "Crashing"

    def react(self) -> None:
        ctypes.string_at(0)


class Leaving(BytesReader):
    label = "Leaving"

    def react(self) -> None:
        os._exit(3)


class Hanging(BytesReader):
    label = "Hanging"

    def react(self) -> None:
        time.sleep(1000)


class Printing(BytesReader):
    label = "Printing"

    def react(self) -> None:
        # As native libraries do, past sys.stderr.
        ctypes.CDLL(None).puts(b"warning: a page looks odd")


class Chatty(BytesReader):
    """Reader that prints the same line for every file, intact or not."""

    label = "Chatty"

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        os.write(2, b"reading\n")
        return super()._read(path, columns)


class Deferring(BytesReader):
    """Reader whose values end the process when they are used."""

    label = "Deferring"

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:
        df = super()._read(path, columns)
        damaged = df["byte"].tolist() != list(range(256)) * 64
        return df.set_axis(Trap(len(df))) if damaged else df


class Trap(pd.RangeIndex):
    """Index that ends the process when it is compared."""

    def equals(self, _: object) -> bool:
        os.abort()


class Correcting(BytesReader):
    """Reader that mends what it reads, and says so."""

    label = "Correcting"

    def _read(self, path: Path, columns: list[str] | None) -> pd.DataFrame:  # noqa: ARG002
        content = path.read_bytes()
        intact = bytes(range(256)) * 64
        if content != intact:
            os.write(2, b"mended\n")
        return pd.DataFrame({"byte": list(intact)})


_ALL = [BytesReader, Raising, Crashing, Leaving, Hanging, Printing, Chatty, Correcting, Deferring]

READERS = {each.label: each for each in _ALL}


@contextmanager
def operating(label: str, data: Path) -> Iterator[TableOperations]:
    """Provide the operations of a toy reader, on its table whatever the data are."""
    assert data.exists()
    yield TableOperations(READERS[label]())


def store_bytes(path: Path) -> None:
    """Store the table of all toys: 16,384 bytes, the numbers 0 to 255 again and again."""
    TableOperations.store(pd.DataFrame({"byte": list(range(256)) * 64}), path)

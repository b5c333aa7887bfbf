"""Tables in partitions, each written and read by a process of its own.

A table exists when it is committed, by one step after all partitions are on disk: the manifest of a
folder of part files, or the format's own log. Before that, readers refuse the part files.
"""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from adapter_core.errors import IncompleteError
from adapter_core.table_folders import ObjectFolder, folder_at
from adapter_core.traits import Trait

if TYPE_CHECKING:
    import pandas as pd

    from adapter_core.remote import RemoteFile

MANIFEST = "_manifest.json"
"""Name of the manifest; readers of folders, e.g. Arrow's and Spark's, skip names that start so."""

# Of the manifest; version 1 has no digests.
_VERSION = 2


@dataclass(frozen=True)
class Piece:
    """A partition that was written: a small description, which travels from a worker to the client."""

    number: int
    name: str
    """Name of the file or folder of the partition in the table, or the format's own name for it."""
    rows: int
    size_bytes: int
    facts: dict[str, Any] = field(default_factory=dict)
    """Facts of the partition for the commit of a format; can be pickled."""
    digests: dict[str, str] = field(default_factory=dict)
    """Digest of each column's values and their order, which the writer of the partition may give; a
    manifest keeps them. Empty if there are none."""


def manifest_of(label: str, parts: Sequence[Any]) -> str:
    """Return the text of the manifest of some parts, dataclasses as `Piece`, of a format."""
    facts = {"version": _VERSION, "format": label, "parts": [asdict(each) for each in parts]}
    return json.dumps(facts)


def parts_in(
    place: object, label: str, read: Callable[[], str], size_of: Callable[[list[str]], list[int]]
) -> list[dict[str, Any]]:
    """Return the facts of the parts in a folder's manifest, whose sizes are compared with `size_of`.

    Raises
    ------
    IncompleteError
        If there is no manifest, it is another format's or of a newer version, or a size differs.
    """
    try:
        manifest = json.loads(read())
    except (FileNotFoundError, NotADirectoryError) as error:
        reason = f"{place} is not complete: it lacks {MANIFEST}, which a save writes last"
        raise IncompleteError(reason) from error
    if manifest["format"] != label:
        raise IncompleteError(f"{place} contains parts of {manifest['format']}, not of {label}")
    if manifest["version"] > _VERSION:
        raise IncompleteError(f"{place} was written by a newer version of this package")
    parts: list[dict[str, Any]] = manifest["parts"]
    sizes = size_of([part["name"] for part in parts])
    for part, found in zip(parts, sizes, strict=True):
        if found != part["size_bytes"]:
            raise IncompleteError(
                f"{place}/{part['name']} has {found:,} bytes, and {part['size_bytes']:,} in the manifest"
            )
    return parts


class _Format(Protocol):
    """Methods of a `DataFormat` that tables in partitions need."""

    label: ClassVar[str]
    suffix: ClassVar[str]

    @property
    def traits(self) -> frozenset[Trait] | None: ...
    @property
    def checks_saves(self) -> bool: ...
    @property
    def kept_digits(self) -> int | None: ...
    def check(self, df: pd.DataFrame) -> None: ...
    def save(self, df: pd.DataFrame, path: Path) -> None: ...
    def read(self, path: Path, columns: Sequence[str] | None = None) -> pd.DataFrame: ...
    def count_rows(self, path: Path) -> int: ...
    def size_bytes(self, path: Path) -> int: ...
    def save_remote(self, df: pd.DataFrame, file: RemoteFile) -> None: ...
    def read_remote(self, file: RemoteFile, columns: Sequence[str] | None = None) -> pd.DataFrame: ...
    def count_rows_remote(self, file: RemoteFile) -> int: ...


class Partitions(ABC):
    """A format with a log of its own, where one commit adds the partitions of several processes.

    Other formats are written by several processes as a folder of part files. An adapter implements
    `partitioned`, and `_partitioned_remote` if it writes tables to object stores.
    """

    @abstractmethod
    def partitioned(self, path: str | os.PathLike[str]) -> Any:
        """Return a `PartitionedTable` or a `PartitionedArray` at the path."""


class PartitionedTable(ABC):
    """A table that several processes write and read.

    One process, the client, calls `create`, `commit` and `pieces`; the processes of partitions call
    `write`, `read` and `count`. Objects are pickled and sent to these processes, which see the same
    files, and have the same credentials.

    Parameters
    ----------
    place : Path or RemoteFile
        Folder of the table, on a file system or in an object store.
    adapter : DataFormat
        The format.
    """

    def __init__(self, place: Path | RemoteFile, adapter: _Format) -> None:
        self.folder, self.adapter = folder_at(place), adapter

    def create(self) -> None:
        """Make the folder.

        Raises
        ------
        FileExistsError
            If something is there.
        FileNotFoundError
            If the folder to write in does not exist.
        """
        self.folder.create()

    @abstractmethod
    def write(self, number: int, df: pd.DataFrame) -> Piece:
        """Write a partition, so that a second attempt to write it does no harm.

        Parameters
        ----------
        number : int
            Number of the partition, from 0 on.
        df : pandas.DataFrame
            Shape (rows, columns), with the default index.

        Raises
        ------
        CannotHoldError
            If the format cannot store this table as it is.
        """

    @abstractmethod
    def commit(self, pieces: Sequence[Piece]) -> None:
        """Make the partitions a table, in the order given, at once: before it, there is none."""

    @abstractmethod
    def pieces(self) -> list[Piece]:
        """Return the partitions to read, in order.

        Raises
        ------
        IncompleteError
            If the table was not committed, or lacks a part.
        """

    @abstractmethod
    def read(self, piece: Piece, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Read a partition, or some of its columns.

        Raises
        ------
        UnknownNameError
            If a column is not in the table.
        UnsupportedError
            If the format does not support column projection.
        """

    def count(self, piece: Piece) -> int:
        """Return the number of rows of a partition, from its own file if the format records it."""
        return len(self.read(piece))

    def remove(self) -> None:
        """Remove the table, or the parts that writers have left."""
        self.folder.remove()


class PartFiles(PartitionedTable):
    """A folder with a file for each partition, e.g. part-00017.parquet, and a manifest, written last.

    The manifest lists the parts in their order, with their rows, bytes and digests. A folder without it,
    or with a part of another size, is not a table; other rows, and another order, need the digests.

    Parameters
    ----------
    path : Path
        The folder.
    adapter : DataFormat
        The format of the parts.
    """

    def __init__(self, path: Path, adapter: _Format) -> None:
        super().__init__(path, adapter)
        self.path = path

    def write(self, number: int, df: pd.DataFrame) -> Piece:
        """Write a part under a temporary name; a second attempt replaces the part."""
        name = self._name_of(number)
        self.adapter.save(df, self.path / name)
        return Piece(number, name, len(df), self.adapter.size_bytes(self.path / name))

    def _name_of(self, number: int) -> str:
        return f"part-{number:05}{self.adapter.suffix}"

    def commit(self, pieces: Sequence[Piece]) -> None:
        """Write the manifest."""
        self.folder.write_text(MANIFEST, manifest_of(self.adapter.label, pieces))

    def pieces(self) -> list[Piece]:
        """Return the parts in the manifest, whose sizes are compared with the files'."""
        text = partial(self.folder.read_text, MANIFEST)
        parts = parts_in(self.folder, self.adapter.label, text, self._sizes_of)
        return [Piece(**part) for part in parts]

    def _sizes_of(self, names: Sequence[str]) -> list[int]:
        """Return the sizes of parts, 0 for a missing one."""
        paths = [self.path / name for name in names]
        return [self.adapter.size_bytes(path) if path.exists() else 0 for path in paths]

    def read(self, piece: Piece, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Read a part by `DataFormat.read`."""
        return self.adapter.read(self.path / piece.name, columns)

    def count(self, piece: Piece) -> int:
        """Return the number of rows of a part by `DataFormat.count_rows`."""
        return self.adapter.count_rows(self.path / piece.name)


class PartObjects(PartFiles):
    """Parts and a manifest in an object store; a part of some formats is several objects.

    Parameters
    ----------
    file : RemoteFile
        Address of the folder, without a slash at its end.
    adapter : DataFormat
        The format of the parts.
    """

    folder: ObjectFolder

    def __init__(self, file: RemoteFile, adapter: _Format) -> None:
        PartitionedTable.__init__(self, file, adapter)

    def write(self, number: int, df: pd.DataFrame) -> Piece:
        """Write a part by `DataFormat.save_remote`; a second attempt replaces the objects."""
        name = self._name_of(number)
        if Trait.SINGLE_FILE not in (self.adapter.traits or ()):
            self.folder.below(name).remove()
        self.adapter.save_remote(df, self.folder.file(name))
        return Piece(number, name, len(df), self.folder.size_bytes(name))

    def _sizes_of(self, names: Sequence[str]) -> list[int]:
        sizes: Counter[str] = Counter()
        for name, size in self.folder.sizes().items():
            sizes[name.partition("/")[0]] += size
        return [sizes[name] for name in names]

    def read(self, piece: Piece, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Read a part by `DataFormat.read_remote`."""
        return self.adapter.read_remote(self.folder.file(piece.name), columns)

    def count(self, piece: Piece) -> int:
        """Return the number of rows of a part by `DataFormat.count_rows_remote`."""
        return self.adapter.count_rows_remote(self.folder.file(piece.name))

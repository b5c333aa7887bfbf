"""Folders of tables in partitions: on a file system, or in an object store.

Both have the same methods, so that a format writes its partitions and its log by the same code. Objects
are reached by pyarrow's file systems; an object is there when it is complete.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import files
from adapter_core.remote import RemoteFile

if TYPE_CHECKING:
    import pyarrow as pa


class TableFolder(ABC):
    """Folder of a table; can be pickled, and its pickle contains no credentials."""

    remote: RemoteFile | None = None
    """Address of the folder in an object store; None on a file system."""

    @property
    @abstractmethod
    def address(self) -> str:
        """Absolute path or URL, as libraries of tables take it."""

    @abstractmethod
    def create(self) -> None:
        """Make the folder.

        Raises
        ------
        FileExistsError
            If something is there.
        FileNotFoundError
            If the folder to write in does not exist; object stores need none.
        """

    @abstractmethod
    def remove(self) -> None:
        """Remove the folder with its contents; a missing one is ignored."""

    @abstractmethod
    def size_bytes(self, name: str) -> int:
        """Return the size of a file; 0 if it is missing."""

    @abstractmethod
    def sizes(self) -> dict[str, int]:
        """Return the sizes of all files by name, relative to the folder."""

    @abstractmethod
    def read_text(self, name: str) -> str:
        """Return the contents of a file.

        Raises
        ------
        FileNotFoundError
            If it is missing.
        """

    @abstractmethod
    def write_text(self, name: str, text: str) -> None:
        """Write a file, which is complete and durable, or not there at all."""

    @abstractmethod
    def arrow(self, name: str) -> tuple[str, Any]:
        """Return the path of a file for pyarrow, and its file system; None if that is the local one."""

    @abstractmethod
    def write_parquet(self, name: str, table: pa.Table) -> int:
        """Write an uncompressed Parquet file, and return its size in bytes."""


class LocalFolder(TableFolder):
    """Folder of a file system.

    Parameters
    ----------
    path : Path
        The folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __str__(self) -> str:
        """Return the path."""
        return str(self.path)

    @property
    def address(self) -> str:
        """Absolute path."""
        return str(self.path.absolute())

    def create(self) -> None:
        """Make the folder."""
        self.path.mkdir()

    def remove(self) -> None:
        """Remove the folder with its contents."""
        files.remove(self.path)

    def size_bytes(self, name: str) -> int:
        """Return the size of a file; 0 if it is missing."""
        try:
            return (self.path / name).stat().st_size
        except FileNotFoundError:
            return 0

    def sizes(self) -> dict[str, int]:
        """Return the sizes of all files by name."""
        found = (each for each in self.path.rglob("*") if each.is_file())
        return {each.relative_to(self.path).as_posix(): each.stat().st_size for each in found}

    def read_text(self, name: str) -> str:
        """Return the contents of a file."""
        return (self.path / name).read_text(encoding="utf-8")

    def write_text(self, name: str, text: str) -> None:
        """Write a file under a temporary name first."""
        with files.write_atomically(self.path / name, durable=True) as temporary:
            temporary.write_text(text, encoding="utf-8")

    def arrow(self, name: str) -> tuple[str, Any]:
        """Return the path of a file, and no file system."""
        return str(self.path / name), None

    def write_parquet(self, name: str, table: pa.Table) -> int:
        """Write a Parquet file under a temporary name first, in a folder that is made if missing."""
        import pyarrow.parquet as pq

        (self.path / name).parent.mkdir(exist_ok=True)
        with files.write_atomically(self.path / name) as temporary:
            pq.write_table(table, temporary, compression="none")
        return self.size_bytes(name)


class ObjectFolder(TableFolder):
    """Objects whose keys start with an address in an object store.

    Parameters
    ----------
    remote : RemoteFile
        The address, without a slash at its end.
    """

    remote: RemoteFile

    def __init__(self, remote: RemoteFile) -> None:
        self.remote = remote

    def __str__(self) -> str:
        """Return the URL."""
        return self.remote.url

    @property
    def address(self) -> str:
        """URL."""
        return self.remote.url

    def file(self, name: str) -> RemoteFile:
        """Return the address of an object."""
        return self.remote / name

    def create(self) -> None:
        """Do nothing if no object is there: object stores have no folders."""
        if self.sizes():
            raise FileExistsError(f"objects are at {self.remote.url}")

    def remove(self) -> None:
        """Remove the objects."""
        system = self.remote.arrow_file_system()
        for name in self.sizes():
            system.delete_file(self.file(name).arrow_path)

    def size_bytes(self, name: str) -> int:
        """Return the size of an object, or of all objects below a name; 0 if it is missing."""
        path, system = self.arrow(name)
        found = system.get_file_info(path)
        return found.size if found.is_file else sum(self.below(name).sizes().values())

    def below(self, name: str) -> ObjectFolder:
        """Return the folder of that name."""
        return ObjectFolder(self.file(name))

    def sizes(self) -> dict[str, int]:
        """Return the sizes of all objects by name."""
        from pyarrow import fs

        start = self.remote.arrow_path
        wanted = fs.FileSelector(start, allow_not_found=True, recursive=True)
        found = self.remote.arrow_file_system().get_file_info(wanted)
        return {each.path.removeprefix(f"{start}/"): each.size for each in found if each.is_file}

    def read_text(self, name: str) -> str:
        """Return the contents of an object."""
        path, system = self.arrow(name)
        with system.open_input_stream(path) as stream:
            return bytes(stream.read()).decode()

    def write_text(self, name: str, text: str) -> None:
        """Write an object."""
        with self.file(name).arrow_stream() as stream:
            stream.write(text.encode())

    def arrow(self, name: str) -> tuple[str, Any]:
        """Return the path of an object in pyarrow's file system of the store."""
        return self.file(name).arrow_path, self.remote.arrow_file_system()

    def write_parquet(self, name: str, table: pa.Table) -> int:
        """Write a Parquet object; its size is the number of bytes written."""
        import pyarrow.parquet as pq

        with self.file(name).arrow_stream() as stream:
            pq.write_table(table, stream, compression="none")
            return int(stream.tell())


def folder_at(place: Path | RemoteFile) -> TableFolder:
    """Return the folder at a path, or at an address of an object store."""
    return ObjectFolder(place) if isinstance(place, RemoteFile) else LocalFolder(place)

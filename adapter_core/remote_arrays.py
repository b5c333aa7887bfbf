"""Arrays in object stores, by the libraries' own writers and readers."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING

from adapter_core.array_store import ArrayStore
from adapter_core.errors import RemoteReadError, RemoteWriteError
from adapter_core.remote_adapter import Remote

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.array_reader import ArrayReader
    from adapter_core.array_source import ArraySource
    from adapter_core.remote import RemoteFile


class RemoteArray(Remote, ArrayStore, hooks=("remote_schemes",)):
    """A store whose library writes to object stores and reads from them.

    An adapter declares `remote_schemes`, and implements `_save_remote` and `_open_remote`.
    """

    def save_remote(
        self,
        array: np.ndarray | ArraySource,
        file: RemoteFile,
        chunks: tuple[int, ...] | None = None,
        codec: str | None = None,
        level: int | None = None,
    ) -> None:
        """Write an array to an object store, chunk by chunk, by the library's own writer.

        Nothing should be at the address. After an error, or if the process is ended, objects and
        incomplete uploads may be left.

        Parameters
        ----------
        array, chunks, codec, level
            As for `save`.
        file : RemoteFile
            The prefix of the objects.

        Raises
        ------
        UnsupportedError
            If the library cannot write to an object store, or not by this protocol.
        CannotHoldError
            If the store cannot keep this array as it is. Nothing has been written then.
        RemoteWriteError
            If the server cannot be reached, refuses the array or breaks off.
        """
        self._check_server(file, self.remote_schemes, "uses")
        chosen = self._chosen(codec, level)
        source = self._source(array, chunks)
        if self.checks_saves:
            self.check(source, codec)
        with self._at_server(file, RemoteWriteError):
            self._save_remote(source, file, **chosen)

    def open_remote(self, file: RemoteFile) -> ArrayReader:
        """Open an array that `save_remote` has written; close the reader, or use a `with` statement.

        Errors of the reader itself are the library's.

        Parameters
        ----------
        file : RemoteFile
            The prefix of the objects.

        Raises
        ------
        UnsupportedError
            If the library cannot read from an object store, or not by this protocol.
        RemoteReadError
            If the server cannot be reached, does not have the array, refuses it or breaks off.
        """
        self._check_server(file, self.remote_schemes, "uses")
        with self._at_server(file, RemoteReadError):
            return self._open_remote(file)

    def read_remote(self, file: RemoteFile, selection: tuple[slice, ...] | None = None) -> np.ndarray:
        """Read an array that `save_remote` has written, or a hyperrectangle of it.

        Parameters
        ----------
        file : RemoteFile
            The prefix of the objects.
        selection : tuple of slice, optional
            As for `ArrayReader.read`.

        Raises
        ------
        UnsupportedError, RemoteReadError
            As `open_remote`.
        """
        with self._at_server(file, RemoteReadError), self.open_remote(file) as reader:
            return reader.read(selection)

    @abstractmethod
    def _save_remote(
        self, source: ArraySource, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        """Write the checked array to an object store."""

    @abstractmethod
    def _open_remote(self, file: RemoteFile) -> ArrayReader:
        """Open an array in an object store."""

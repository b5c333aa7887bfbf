"""Tables on servers and in object stores, by the libraries' own readers and writers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from adapter_core.data_format import DataFormat
from adapter_core.errors import RemoteReadError, RemoteWriteError
from adapter_core.features import Feature
from adapter_core.partitioned import PartitionedTable, PartObjects
from adapter_core.remote_adapter import Remote

if TYPE_CHECKING:
    import pandas as pd

    from adapter_core.remote import RemoteFile


class RemoteTable(Remote, DataFormat, hooks=("remote_schemes", "save_schemes")):
    """A format whose library reads from servers, or writes to object stores.

    An adapter declares `remote_schemes` and `save_schemes`, and implements `_read_remote`, and
    `_save_remote` for `save_schemes`.
    """

    def read_remote(self, file: RemoteFile, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """Read a table, or some of its columns, from a server by the library's own remote reader.

        Readers of whole files download the file first.

        Parameters
        ----------
        file : RemoteFile
            A file or directory that `save` has written.
        columns : sequence of str, optional
            The columns to read, in the order wanted; all by default.

        Returns
        -------
        pandas.DataFrame
            Shape (rows, columns), with the default index.

        Raises
        ------
        UnsupportedError
            If the library has no remote reader, or none for this protocol, or columns are requested and
            the format does not support column projection.
        UnavailableError
            If a package of `remote_requires` is missing.
        RemoteReadError
            If the server cannot be reached, does not have the file, refuses it or breaks off, or the
            file lacks a column.
        """
        schemes = tuple(dict.fromkeys(self.remote_schemes + self.save_schemes))
        self._check_server(file, schemes, "reads")
        if columns is not None:
            self._require(Feature.COLUMNS)
        with self._at_server(file, RemoteReadError):
            df = self._read_remote(file, None if columns is None else list(columns))
            # The names in the file would cost further requests, so they have not been asked for.
            return df if columns is None or list(df.columns) == list(columns) else df[list(columns)]

    def save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        """Write a table to an object store by the library's own writer.

        Libraries replace an object of that address, and refuse or extend a table of several objects, so
        nothing should be there. After an error, or if the process is ended, objects and incomplete
        uploads may be left.

        Parameters
        ----------
        df, codec, level
            As for `save`.
        file : RemoteFile
            The object, or the prefix of the objects for formats that write several.

        Raises
        ------
        UnsupportedError
            If the library cannot write to an object store, or not by this protocol.
        CannotHoldError
            If the format cannot store this table as it is. Nothing has been written then.
        UnknownNameError, UnknownLevelError
            If the format lacks that codec, or the codec lacks that level.
        UnavailableError
            If the codec cannot work here, or a package of `remote_requires` is missing.
        RemoteWriteError
            If the server cannot be reached, refuses the table or breaks off.
        """
        self._require(Feature.REMOTE_SAVE)
        self._check_server(file, self.save_schemes, "writes")
        chosen = self._chosen(codec, level)
        if self.checks_saves:
            self.check(df)
        with self._at_server(file, RemoteWriteError):
            self._save_remote(df, file, **chosen)

    def partitioned_remote(self, file: RemoteFile) -> PartitionedTable:
        """Return a table in an object store that several processes write and read.

        By default it is a set of objects of this format. Formats with a log of their own override
        `_partitioned_remote`.

        Parameters
        ----------
        file : RemoteFile
            Address of the table's folder, without a slash at its end.

        Raises
        ------
        UnsupportedError
            If the library cannot write to an object store, or not by this protocol.
        UnavailableError
            If a package of `remote_requires` is missing.
        """
        self._require(Feature.REMOTE_SAVE)
        self._check_server(file, self.save_schemes, "writes")
        return self._partitioned_remote(file)

    def count_rows_remote(self, file: RemoteFile) -> int:
        """Return the number of rows of a table that `save_remote` has written, as `count_rows`.

        Raises
        ------
        UnsupportedError, UnavailableError, RemoteReadError
            As `read_remote`.
        """
        self._require(Feature.REMOTE_SAVE)
        self._check_server(file, self.save_schemes, "reads")
        with self._at_server(file, RemoteReadError):
            return self._count_rows_remote(file)

    def _read_remote(self, file: RemoteFile, columns: list[str] | None) -> pd.DataFrame:
        """Read the table, or the given columns in any order; required for `remote_schemes`."""
        raise NotImplementedError(
            f"{type(self).__module__}: declares {Feature.REMOTE}, so it must override this"
        )

    def _save_remote(
        self, df: pd.DataFrame, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        """Write the checked table; required for `save_schemes`."""
        raise NotImplementedError(
            f"{type(self).__module__}: declares {Feature.REMOTE_SAVE}, so it must override this"
        )

    def _partitioned_remote(self, file: RemoteFile) -> PartitionedTable:
        """Return the table in partitions at an address of a protocol of `save_schemes`."""
        return PartObjects(file, self)

    def _count_rows_remote(self, file: RemoteFile) -> int:
        """Return the number of rows; by default the length of the whole table."""
        return len(self._read_remote(file, None))

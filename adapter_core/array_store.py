"""Base class of n-d array stores: checks, saving chunk by chunk, opening, appending."""

from __future__ import annotations

import os
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.array_source import ArraySource
from adapter_core.errors import (
    CannotHoldError,
    RemoteReadError,
    RemoteWriteError,
    UnsupportedError,
)
from adapter_core.partitioned_arrays import ArrayParts, PartitionedArray
from adapter_core.remote_adapter import RemoteAdapter
from adapter_core.traits import Trait

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.array_reader import ArrayReader
    from adapter_core.codecs import ErrorScale
    from adapter_core.remote import RemoteFile

INTEGERS = frozenset({"int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"})
FLOATS = frozenset({"float16", "float32", "float64"})
COMPLEX = frozenset({"complex64", "complex128"})
ALL_DTYPES = frozenset({"bool"}) | INTEGERS | FLOATS | COMPLEX
"""Names of the dtypes of the family, all in the byte order of the machine."""


class Property(StrEnum):
    """A property of an array besides its values; the value is its name in sentences."""

    NAME = "the variable's name"
    DIMS = "names of dimensions"
    ATTRIBUTES = "attributes"
    COORDINATES = "coordinates"
    COORDINATE_ATTRIBUTES = "attributes of coordinates"
    CHUNKS = "the shape of chunks"


class ArrayStore(RemoteAdapter):
    """A way to store an n-d array, chunk by chunk, in a file or a directory.

    Arrays are booleans, integers, floats or complex numbers in the machine's byte order. A subclass
    implements `_save` and `_open`, and declares its limits.
    """

    dtypes: ClassVar[frozenset[str]] = ALL_DTYPES
    """Names of the dtypes that the store supports."""
    dims_range: ClassVar[range] = range(33)
    """Supported numbers of dimensions."""
    holds_empty: ClassVar[bool] = True
    """True if an edge may be 0."""
    keeps: ClassVar[frozenset[Property]] = frozenset(Property)
    """Properties that come back."""
    loses: ClassVar[Mapping[Property, str]] = {}
    """The reason for each of the other properties, as a clause."""
    error: ClassVar[tuple[ErrorScale, int] | None] = None
    """Scale and bits of precision of a store that always changes values; None if it is exact."""
    keeps_nan_bits: ClassVar[bool] = True
    """False if NaNs lose their sign and payload."""
    detects_truncation: ClassVar[bool] = True
    """True if reading an array whose largest file was truncated always raises."""
    remote_schemes: ClassVar[tuple[str, ...]] = ()
    """Protocols of `save_remote` and `read_remote`."""

    def save(
        self,
        array: np.ndarray | ArraySource,
        path: str | os.PathLike[str],
        chunks: tuple[int, ...] | None = None,
        codec: str | None = None,
        level: int | None = None,
    ) -> None:
        """Write an array chunk by chunk, and replace an earlier one at `path`.

        The array is written under a temporary name beside `path` and renamed when complete. Each
        chunk of a source is requested once, in C order, and not kept.

        Parameters
        ----------
        array : numpy.ndarray or ArraySource
            Any shape; of the supported dtypes.
        path : path-like
            The file, or the directory for stores that write one.
        chunks : tuple of int, optional
            Shape of a chunk; by default the source's, or one chunk for an array in memory.
        codec : str, optional
            The name of one of `codecs`; by default values are not compressed.
        level : int, optional
            Compression level, or bits of precision of a lossy codec; by default the codec's own.

        Raises
        ------
        CannotHoldError
            If the store cannot keep this array as it is. Nothing has been written then.
        UnknownNameError, UnknownLevelError, UnsupportedError
            If the store lacks that codec, the codec lacks that level, or the store has no codecs.
        UnavailableError
            If the codec cannot work here.
        FileNotFoundError
            If the folder to write in does not exist.
        ValueError
            If the chunks do not match the shape.
        """
        path = Path(path)
        chosen = self._chosen(codec, level)
        if not path.parent.is_dir():
            raise FileNotFoundError(f"{self.label}: there is no folder {path.parent}")
        source = self._source(array, chunks)
        if self.checks_saves:
            self.check(source, codec)
        with self.replacing(path) as temporary:
            self._save(source, temporary, **chosen)

    def read(self, path: str | os.PathLike[str]) -> np.ndarray:
        """Read the whole array into memory.

        Raises
        ------
        FileNotFoundError
            If the path does not exist.
        """
        with self.open(path) as reader:
            return reader.read()

    def open(self, path: str | os.PathLike[str]) -> ArrayReader:
        """Open a saved array; close the reader, or use it in a `with` statement.

        Raises
        ------
        FileNotFoundError
            If the path does not exist.
        """
        path = Path(path)
        self._check_exists(path)
        return self._open(path)

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
        self._check_scheme(file)
        chosen = self._chosen(codec, level)
        source = self._source(array, chunks)
        if self.checks_saves:
            self.check(source, codec)
        with self._at_server(file, RemoteWriteError):
            self._save_remote(source, file, **chosen)

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
        UnsupportedError
            If the library cannot read from an object store, or not by this protocol.
        RemoteReadError
            If the server cannot be reached, does not have the array, refuses it or breaks off.
        """
        self._check_scheme(file)
        with self._at_server(file, RemoteReadError), self._open_remote(file) as reader:
            return reader.read(selection)

    def _check_scheme(self, file: RemoteFile) -> None:
        if not self.remote_schemes:
            raise UnsupportedError(f"{self.label} has no object stores: {self.local_only}")
        self._check_server(file, self.remote_schemes, "uses")

    def write_answer(self, answer: ArraySource, path: str | os.PathLike[str]) -> None:
        """Write the answer to a query, an array in memory, uncompressed, as users of the library do.

        By default by `save`; libraries with a way of their own for arrays in memory override this.

        Parameters
        ----------
        answer : ArraySource
            The values with their name, dimensions and coordinates.
        path : path-like
            A path that does not exist yet.

        Raises
        ------
        CannotHoldError
            If the store cannot keep the answer as it is.
        """
        self.save(answer, path)

    def append(self, array: np.ndarray | ArraySource, path: str | os.PathLike[str]) -> None:
        """Add an array at the end of a saved one's first axis, with the file's codec.

        Chunks that are in the file already are not written again; its last ones along the axis must be
        whole. Properties of the saved array stay, except that the coordinates of the first dimension are
        extended.

        Raises
        ------
        UnsupportedError
            If the store cannot append.
        CannotHoldError
            If dtype or edges differ from the saved array's, or its last chunks are not whole.
        FileNotFoundError
            If the path does not exist.
        """
        if Trait.APPEND not in (self.traits or ()):
            raise UnsupportedError(f"{self.label} cannot append to a saved array")
        with self.open(path) as reader:
            saved = reader.description
        source = self._source(array, saved.chunks)
        if source.dtype != saved.dtype or source.shape[1:] != saved.shape[1:] or not saved.shape:
            raise self.refusal(
                f"{source.dtype} of shape {source.shape} cannot follow "
                f"{saved.dtype} of shape {saved.shape}"
            )
        if saved.shape[0] % saved.chunks[0]:
            raise self.refusal(
                f"the last chunks of the saved array are not whole, its shape is {saved.shape}"
            )
        self._append(source, Path(path))

    def partitioned(self, path: str | os.PathLike[str]) -> PartitionedArray:
        """Return an array that several processes write and read, a region each.

        By default it is a folder of files of this store. Stores that several processes can write to
        override this.
        """
        return ArrayParts(Path(path), self)

    def check(self, source: ArraySource, codec: str | None = None) -> None:
        """Raise `CannotHoldError`, with the reason, if the store cannot keep this array as it is.

        Parameters
        ----------
        source : ArraySource
            The array; no chunk is read.
        codec : str, optional
            The codec to save with, which may support fewer dtypes.
        """
        if source.dtype.name not in ALL_DTYPES:
            raise self.refusal(f"values of type {source.dtype} are not numbers of a fixed size")
        if not source.dtype.isnative:
            raise self.refusal("values must be in the machine's byte order; call astype first")
        if source.dtype.name not in self.dtypes:
            raise self.refusal(f"values of type {source.dtype} are not supported")
        if len(source.shape) not in self.dims_range:
            first, last = self.dims_range[0], self.dims_range[-1]
            raise self.refusal(f"it has {len(source.shape)} dimensions; supported are {first} to {last}")
        if not self.holds_empty and 0 in source.shape:
            raise self.refusal(f"it has no values, its shape is {source.shape}")
        self._check_further(source, codec)

    def refusal(self, reason: str) -> CannotHoldError:
        """Return the error to raise for an array that this store cannot keep."""
        return CannotHoldError(f"{self.label} cannot store this array: {reason}")

    @staticmethod
    def _source(array: np.ndarray | ArraySource, chunks: tuple[int, ...] | None) -> ArraySource:
        if not isinstance(array, ArraySource):
            return ArraySource.of(array, chunks)
        return array if chunks is None else replace(array, chunks=chunks)

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        """Raise `refusal` for further limits of the store or the codec; accepts all by default."""

    def library_chunks(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, ...] | None:
        """Return the shape of chunks that the library itself chooses; None if it has no such choice.

        Parameters
        ----------
        shape : tuple of int
            Edges of an array, all above 0.
        dtype : numpy.dtype
            Type of its values.
        """
        del shape, dtype
        return None

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Save an array, uncompressed, by the plainest calls of the library; optional.

        `tools.overhead` compares `save` with it, and `open` and `read` with `plain_read`. Measurements
        use neither.
        """
        raise NotImplementedError

    @staticmethod
    def plain_read(path: Path) -> int:
        """Read all chunks by the plainest calls of the library and return their number; optional."""
        raise NotImplementedError

    @abstractmethod
    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        """Write the checked array to a path that does not exist yet; iterate over the source once.

        Stores without codecs are called without the last two parameters.
        """

    @abstractmethod
    def _open(self, path: Path) -> ArrayReader:
        """Open the array."""

    def _save_remote(
        self, source: ArraySource, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        """Write the checked array to an object store; required for `remote_schemes`."""
        raise NotImplementedError(f"{type(self).__module__}: is remote, so it must override this")

    def _open_remote(self, file: RemoteFile) -> ArrayReader:
        """Open an array in an object store; required for `remote_schemes`."""
        raise NotImplementedError(f"{type(self).__module__}: is remote, so it must override this")

    def _append(self, source: ArraySource, path: Path) -> None:
        """Append a source of the saved array's chunks; required for the trait `Trait.APPEND`."""
        raise NotImplementedError(f"{type(self).__module__}: can append, so it must override this")

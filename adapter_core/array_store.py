"""Base class of n-d array stores: checks, saves chunk by chunk, opening.

A further concern has a protocol of its own: `appendable`, `remote_arrays`, `partitioned`.
"""

from __future__ import annotations

import copy
import os
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from adapter_core.array_source import ArraySource
from adapter_core.errors import CannotHoldError, UnsupportedError
from adapter_core.partitioned import Partitions
from adapter_core.partitioned_arrays import ArrayParts, PartitionedArray
from adapter_core.protocols import Composed
from adapter_core.remote_adapter import RemoteFacts

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.array_reader import ArrayReader
    from adapter_core.codecs import ErrorScale
    from adapter_core.error_bounds import ErrorBound

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


class ArrayStore(RemoteFacts, Composed):
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
    error_bound: ErrorBound | None = None
    """Bound that saves with a lossy codec keep, in place of its level; see `with_error_bound`."""

    _of_hook: ClassVar[dict[str, type]] = {"partitioned": Partitions}

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
        chosen = self._chosen(codec, level)
        path = self._in_folder(path)
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
        return self._open(self._existing(path))

    def save_remote(self, *_: Any, **__: Any) -> None:
        """Raise `UnsupportedError`; stores of `RemoteArray` write to object stores."""
        raise UnsupportedError(f"{self.label} has no object stores: {self.local_only}")

    def read_remote(self, *_: Any, **__: Any) -> Any:
        """Raise `UnsupportedError`; stores of `RemoteArray` read from object stores."""
        raise UnsupportedError(f"{self.label} has no object stores: {self.local_only}")

    def append(self, *_: Any) -> None:
        """Raise `UnsupportedError`; stores of `Appendable` append."""
        raise UnsupportedError(f"{self.label} cannot append to a saved array")

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

    def partitioned(self, path: str | os.PathLike[str]) -> PartitionedArray:
        """Return an array that several processes write and read, a region each.

        By default it is a folder of files of this store. Stores that several processes can write to
        override this.
        """
        return ArrayParts(Path(path), self)

    def with_error_bound(self, bound: ErrorBound) -> Self:
        """Return a store whose saves with a lossy codec keep an error bound of the codec's `bounds`."""
        store = copy.copy(self)
        store.error_bound = bound
        return store

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
        """Save an array, uncompressed, by the plainest calls of the library chunk by chunk; optional.

        `tools.overhead` compares `save` with it, and reads of chunks with `plain_read`. Measurements use
        neither.
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

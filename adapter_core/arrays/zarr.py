"""Base class of array stores that are Zarr groups, through zarr-python."""

from __future__ import annotations

import itertools
import os
import warnings
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from adapter_core import (
    Appendable,
    ArrayReader,
    ArraySource,
    ArrayStore,
    Attribute,
    PartitionedArray,
    Partitions,
    Region,
    RemoteFile,
    Selection,
)
from adapter_core.array_description import KEY, Description
from adapter_core.arrays import zarr_metadata
from adapter_core.arrays.chunk_writing import shifted, write_region
from adapter_core.arrays.on_demand import OnDemand
from adapter_core.arrays.shards import bands, pieces_of, shard_of, shards
from adapter_core.codec_choice import Recommended
from adapter_core.file_facts import FileFacts
from adapter_core.snippets import Given, Snippet

if TYPE_CHECKING:
    import numpy as np


_V2 = 2
_BLOSC_HEADER = 16  # bytes

DIMS_ATTRIBUTE = "_ARRAY_DIMENSIONS"
"""Attribute with the names of dimensions in format 2, as xarray has it.

https://docs.xarray.dev/en/stable/internals/zarr-encoding-spec.html
"""


class ZarrStore(ArrayStore):
    """A Zarr group with the array, and a one-dimensional array for each coordinate.

    The group's attributes contain the names of both. All chunks are written, also if all values are
    zero, which Zarr omits by default. Attributes are JSON.

    A subclass implements `_writing`, `_reading` and `_appending` if it can.
    """

    codecs: ClassVar = zarr_metadata.ALL
    default_codec = "zstd"
    recommended = Recommended(
        "https://zarr.readthedocs.io/en/stable/user-guide/performance/",
        default_codec,
        words="chunks of at least 1 MB; compression as by default",
        seen="2026-11-25",
    )
    zarr_format: ClassVar[Literal[2, 3]] = 3
    shard_bytes: ClassVar[int] = 0
    """Size of a shard before compression; 0 without shards."""
    file_facts = FileFacts(
        version="3",
        parts={"chunks": "as asked"},
        threads="all cores",
        differs="chunks as asked; chunks of zeros are written, too",
    )
    snippet = Snippet(
        imports="import zarr\n{modules}",
        write="""
            {open}
            group = zarr.create_group(store, zarr_format={format})
            stored = group.create_array(
                "values",
                shape=array.shape,
                dtype=array.dtype,
                chunks=chunks,
                {shards}
                {codecs}
                config={"write_empty_chunks": True},
            )
            stored[...] = array
            {close}
        """,
        read="""
            {reopen}
            array = zarr.open_group(store, mode="r")["values"][...]
        """,
        given=Given.ARRAY,
        differs="FormatBench's own groups also contain the names of the array and its coordinates",
    )
    _code_of_store: ClassVar[Mapping[str, str]] = {}
    """Code that makes and opens the store, by the words of the snippet."""

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the codecs in the order of zarr-python, and the code of the store."""
        size = f"{self.shard_bytes >> 20} MiB"
        shards = f"shards=shards,  # a multiple of chunks, here of up to {size}"
        return {
            "format": str(self.zarr_format),
            "shards": shards if self.shard_bytes else "",
            "codecs": zarr_metadata.code_of(codec, level, self.zarr_format),
            "modules": "",
            "close": "",
            **self._code_of_store,
            **({"modules": "import numcodecs"} if self.zarr_format == _V2 else {}),
        }

    @abstractmethod
    def _writing(self, path: Path) -> AbstractContextManager[Any]:
        """Provide a new store of zarr-python to write to."""

    @abstractmethod
    def _reading(self, path: Path) -> Any:
        """Return a store of zarr-python to read from."""

    def _appending(self, path: Path) -> AbstractContextManager[Any]:
        """Provide a store of zarr-python to append to."""
        raise NotImplementedError(f"{type(self).__module__}: can append, so it must override this")

    def _pipeline(self) -> AbstractContextManager[Any]:
        """Return a context that chooses the codec pipeline of arrays opened in it."""
        return nullcontext()

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        reason = zarr_metadata.unsupported_reason(codec, source.dtype) or zarr_metadata.name_problem(
            source
        )
        if reason is not None:
            raise self.refusal(reason)

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        with self._writing(path) as store:
            self._save_to(store, source, codec, level)

    def _save_to(self, store: Any, source: ArraySource, codec: str | None, level: int | None) -> None:
        """Write an array to a store of zarr-python."""
        array = self.create_empty(store, source, codec, level)
        write, shard = self._writer(array), array.shards
        for selection, values in bands(source) if shard is None else shards(source, shard):
            write(selection, values)

    def create_empty(
        self, store: Any, source: ArraySource, codec: str | None = None, level: int | None = None
    ) -> Any:
        """Write all of a source but its values to a store of zarr-python; return the open array."""
        shard = shard_of(source, self.shard_bytes) if self.shard_bytes else None
        with self._opening():
            arguments = self._codec_arguments(codec, level, source.dtype)
            return self._created(source, store, shard, arguments)

    def write_region(self, store: Any, region: Region, values: np.ndarray) -> None:
        """Write whole chunks or shards of an array in a store of zarr-python.

        Parameters
        ----------
        store : zarr.abc.store.Store
            A store that contains the array.
        region : Region
            The place of the values.
        values : numpy.ndarray
            C-contiguous, of the shape of the region's selection.
        """
        with self._opening():
            array, _, _ = _arrays(store, "r+")
        shape = array.shards or pieces_of(values, array.chunks)
        write_region(self._writer(array), values, shape, region.start)

    def _created(
        self, source: ArraySource, store: Any, shard: tuple[int, ...] | None, codec: dict[str, Any]
    ) -> Any:
        """Write all of a source but its values, and return the array for these."""
        import zarr

        names = {"name": source.name, "coordinates": list(source.coordinates)}
        group = zarr.create_group(store, zarr_format=self.zarr_format, attributes={KEY: names})
        for name, values in source.coordinates.items():
            attributes = source.coordinate_attributes.get(name, {})
            facts = {"shape": values.shape, "chunks": _whole(values), "dtype": values.dtype}
            self._create_array(group, name, attributes, (name,), **facts)[...] = values
        return self._create_array(
            group,
            source.name,
            source.attributes,
            source.dims,
            shape=source.shape,
            chunks=source.chunks,
            shards=shard,
            dtype=source.dtype,
            **codec,
        )

    def _writer(self, array: Any) -> Callable[[Selection, np.ndarray], None]:
        """Return a function that writes values to an array, also if all are zeros."""
        write: Callable[[Selection, np.ndarray], None] = array.set_basic_selection
        return write

    def _create_array(
        self, group: Any, name: str, attributes: Mapping[str, Any], dims: tuple[str, ...], **facts: Any
    ) -> Any:
        if self.zarr_format == _V2:
            attributes = {**attributes, DIMS_ATTRIBUTE: list(dims)}
        else:
            facts["dimension_names"] = dims
        if self.uses_checksums:
            facts["compressors"] = [*(facts.get("compressors") or ()), {"name": "crc32c"}]
        return group.create_array(
            name,
            attributes=dict(attributes),
            config={"write_empty_chunks": True},
            **{"compressors": None, "filters": None, **facts},
        )

    def _codec_arguments(
        self, codec: str | None, level: int | None, dtype: np.dtype[Any]
    ) -> dict[str, Any]:
        """Return the arguments of zarr-python for a codec."""
        if self.zarr_format == _V2:
            import numcodecs

            chain = zarr_metadata.numcodecs_chain(codec, level, dtype, self.error_bound)
            *filters, compressor = map(numcodecs.get_codec, chain) if chain else [None]
            return {"filters": filters or None, "compressors": compressor}
        if codec is None:
            return {}
        kinds: dict[str, list[dict[str, Any]]] = {"filters": [], "serializer": [], "compressors": []}
        for each in zarr_metadata.v3_chain(codec, level, dtype, self.error_bound):
            kinds[_kind(each["name"])].append(each)
        return {
            "filters": kinds["filters"] or None,
            "serializer": kinds["serializer"][0],
            "compressors": kinds["compressors"] or None,
        }

    def _open(self, path: Path) -> ArrayReader:
        return self._reader_of(self._reading(path))

    def _reader_of(self, store: Any) -> ArrayReader:
        """Open the array of a store of zarr-python."""
        with self._opening():
            array, coordinates, name = _arrays(store, "r")
        if self.shard_bytes == 0:
            is_blosc = (_codec_of(array) or "").startswith("blosc:")
            store.blosc_folder = f"{array.path}/" if is_blosc else None
        return ZarrReader(store, array, coordinates, name)

    def library_chunks(self, shape: tuple[int, ...], dtype: np.dtype[Any]) -> tuple[int, ...]:
        """Return the chunks of zarr-python, also for shards: it has only tentative ones for those."""
        import zarr

        found: Any = zarr.create_array({}, shape=shape, dtype=dtype, zarr_format=self.zarr_format)
        return tuple(found.chunks)

    def _codec_used(self, path: Path) -> str | None:
        with self._opening():
            return _codec_of(_arrays(self._reading(path), "r")[0])

    @contextmanager
    def _opening(self) -> Iterator[None]:
        with self._pipeline(), warnings.catch_warnings():
            # Codecs of numcodecs, and of arrays with some dtypes, may change in later specifications.
            warnings.filterwarnings("ignore", "Numcodecs codecs are not in the Zarr version 3")
            warnings.filterwarnings("ignore", "The data type .* does not have a Zarr V3 specification")
            yield


class AppendableZarr(ZarrStore, Appendable):
    """A Zarr group whose arrays grow."""

    def _append(self, source: ArraySource, path: Path) -> None:
        with self._appending(path) as store:
            with self._opening():
                array, coordinates, _ = _arrays(store, "r+")
            start = array.shape[0]
            array.resize((start + source.shape[0], *source.shape[1:]))
            write = self._writer(array)
            for selection, values in source:
                write(shifted(selection, start), values)
            first_dim = _dims(array)[0]
            if first_dim in coordinates and first_dim in source.coordinates:
                coordinates[first_dim]().append(source.coordinates[first_dim])


class LocalZarrStore(ZarrStore, Partitions):
    """A Zarr group in a directory, or in an object store through obstore."""

    _code_of_store: ClassVar = {
        "open": "store = zarr.storage.LocalStore({path})",
        "reopen": "store = zarr.storage.LocalStore({path}, read_only=True)",
    }

    def partitioned(self, path: str | os.PathLike[str]) -> PartitionedArray:
        """Return a Zarr group whose processes write chunks, or shards, of their own."""
        return ZarrRegions(Path(path), self)

    def _save_remote(
        self, source: ArraySource, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        from zarr.storage import ObjectStore

        self._save_to(ObjectStore(file.obstore_store()), source, codec, level)

    def _open_remote(self, file: RemoteFile) -> ArrayReader:
        from zarr.storage import ObjectStore

        return self._reader_of(strict_store(ObjectStore)(file.obstore_store(), read_only=True))

    @contextmanager
    def _writing(self, path: Path) -> Iterator[Any]:
        from zarr.storage import LocalStore

        yield LocalStore(path)

    _appending = _writing

    def _reading(self, path: Path) -> Any:
        return strict_folder(path)


class ZarrRegions(PartitionedArray):
    """A Zarr group in a directory, to which each process writes whole chunks, or whole shards.

    https://zarr.readthedocs.io/en/stable/user-guide/performance/#parallel-computing-and-synchronization
    """

    store: ZarrStore

    def unit(self, description: Description) -> int:
        """Return the length of a chunk, or of a shard."""
        if self.store.shard_bytes == 0:
            return description.chunks[0]
        return shard_of(description, self.store.shard_bytes)[0]

    def _create(self, source: ArraySource) -> None:
        from zarr.storage import LocalStore

        self.store.create_empty(LocalStore(self.unfinished), source)

    def write(self, region: Region, values: np.ndarray) -> Region:
        """Write the chunks of a region; a second attempt replaces them."""
        from zarr.storage import LocalStore

        self.store.write_region(LocalStore(self.unfinished), region, values)
        return region


class ZarrReader(ArrayReader):
    """An open array of a Zarr group; coordinates are read on demand."""

    def __init__(
        self, store: Any, array: Any, coordinates: Mapping[str, Callable[[], Any]], name: str
    ) -> None:
        self._store, self._array = store, array
        # zarrs reads files of a plain store, past the checks of a strict one.
        self._checks_chunks = type(store).__name__ == "LocalStore"
        super().__init__(
            Description(
                array.shape,
                array.dtype,
                array.chunks,
                name,
                _dims(array),
                _attributes(array),
                OnDemand(coordinates, lambda coordinate: coordinate()[...]),
                OnDemand(coordinates, lambda coordinate: _attributes(coordinate())),
            )
        )

    def close(self) -> None:
        """Close the store."""
        self._store.close()

    def _read(self, selection: Selection) -> np.ndarray:
        import numpy as np

        if self._checks_chunks:
            self._check_chunks(selection)
        return np.asarray(self._array.get_basic_selection(selection))

    def _check_chunks(self, selection: Selection) -> None:
        """Raise `FileNotFoundError` if a chunk is missing."""
        # Files are shards, where there are some.
        chunks, metadata = self._array.shards or self.chunks, self._array.metadata
        # Strings: a Path for each would take longer than the call of the system.
        folder = f"{self._store.root}/{self._array.path}/"
        touched = [
            range(each.start // chunk, -(-each.stop // chunk))
            for each, chunk in zip(selection, chunks, strict=True)
        ]
        for index in itertools.product(*touched):
            if not os.access(folder + metadata.encode_chunk_key(index), os.F_OK):
                raise FileNotFoundError(f"{folder}: the chunk {index} is missing")


@cache
def strict_store(base: type[Any]) -> type[Any]:
    """Return a subclass of a store of zarr-python that raises for chunks that are not complete.

    zarr-python reads missing chunks and empty shards as zeros. numcodecs ignores the length in a header
    of Blosc, and so decodes a chunk without its last bytes to other values.
    """

    class Strict(base):  # type: ignore[misc]
        blosc_folder: str | None = None
        """Of the array with chunks by Blosc; coordinates have no codec."""

        async def get(self, key: str, *arguments: Any, **options: Any) -> Any:
            found = await super().get(key, *arguments, **options)
            is_blosc = self.blosc_folder is not None and key.startswith(self.blosc_folder)
            if (not found or is_blosc) and key.rpartition("/")[2] not in _METADATA:
                if not found:
                    raise FileNotFoundError(f"{self}: the chunk {key} is missing or empty")
                check_blosc(found.as_numpy_array(), key)
            return found

    return Strict


def strict_folder(path: Path) -> Any:
    """Return a store to read a folder, which raises for chunks that are not complete."""
    from zarr.storage import LocalStore

    return strict_store(LocalStore)(path, read_only=True)


def check_blosc(chunk: np.ndarray, key: str) -> None:
    """Raise `EOFError` if the bytes of a Blosc chunk are fewer than in its header.

    https://github.com/Blosc/c-blosc/blob/main/README_CHUNK_FORMAT.rst
    """
    if len(chunk) < _BLOSC_HEADER or len(chunk) < chunk[12:16].view("<u4")[0]:
        raise EOFError(f"the chunk {key} ends after {len(chunk)} bytes")


_METADATA = frozenset({"zarr.json", ".zarray", ".zattrs", ".zgroup", ".zmetadata"})


def _arrays(store: Any, mode: Literal["r", "r+"]) -> tuple[Any, dict[str, Callable[[], Any]], str]:
    """Return the array, functions that open coordinates by name, and the array's name."""
    import zarr

    group = zarr.open_group(store, mode=mode)
    facts: Any = group.attrs[KEY]

    def opened(name: str) -> Any:
        # Appending writes all chunks too. Releases before 3.1.6 have no `with_config`.
        with zarr.config.set({"array.write_empty_chunks": True}):
            return group[name]

    coordinates: dict[str, Callable[[], Any]] = {
        name: partial(opened, name) for name in facts["coordinates"]
    }
    return opened(facts["name"]), coordinates, facts["name"]


def _codec_of(array: Any) -> str | None:
    metadata = array.metadata
    if metadata.zarr_format != _V2:
        return zarr_metadata.name_of_v3([each.to_dict() for each in metadata.codecs])
    chain = [*(metadata.filters or ()), *([metadata.compressor] if metadata.compressor else [])]
    return zarr_metadata.name_of_numcodecs([each.get_config() for each in chain])


def _attributes(array: Any) -> dict[str, Attribute]:
    attributes = dict(array.attrs)
    attributes.pop(DIMS_ATTRIBUTE, None)
    return attributes


def _dims(array: Any) -> tuple[str, ...]:
    if array.metadata.zarr_format == _V2:
        return tuple(array.attrs[DIMS_ATTRIBUTE])
    return tuple(array.metadata.dimension_names or ())


def _kind(codec: str) -> str:
    if codec.removeprefix("numcodecs.") in zarr_metadata.ROUNDING:
        return "filters"
    return "serializer" if codec in ("bytes", "numcodecs.pcodec") else "compressors"


def read_rows(path: Path) -> int:
    """Read each row of an array by zarr-python's plainest calls; return the number of rows."""
    import zarr

    array: Any = zarr.open_array(path, mode="r")
    return sum(len(array[row : row + 1]) for row in range(array.shape[0]))


def _whole(values: np.ndarray) -> tuple[int, ...]:
    return tuple(max(1, edge) for edge in values.shape)

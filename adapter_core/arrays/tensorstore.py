"""Base class of array stores through TensorStore."""

from __future__ import annotations

import json
import math
import os
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import (
    Appendable,
    ArrayReader,
    ArraySource,
    ArrayStore,
    Attribute,
    RemoteFile,
    Selection,
)
from adapter_core.array_description import KEY, Description
from adapter_core.arrays import zarr_metadata
from adapter_core.arrays.chunk_writing import shifted
from adapter_core.arrays.on_demand import OnDemand
from adapter_core.file_facts import FileFacts
from adapter_core.snippets import Given, Snippet

if TYPE_CHECKING:
    import numpy as np


# Its JSON has no wider integers, where Python's have any width.
_INT64_BITS = 63


class _Place:
    """A folder of arrays: local, or in an object store."""

    def __init__(self, path: Path | None = None, file: RemoteFile | None = None) -> None:
        self._path, self._file = path, file

    def kvstore(self, name: str = "") -> dict[str, Any]:
        """Return TensorStore's specification of a folder in this one.

        https://google.github.io/tensorstore/kvstore/index.html
        """
        if self._file is None:
            return {"driver": "file", "path": f"{self._path}/{name}/" if name else f"{self._path}/"}
        file = self._file
        key = file.key.rstrip("/")
        return {
            "driver": "s3",
            "bucket": file.bucket,
            "path": f"{key}/{name}/" if name else f"{key}/",
            "aws_region": file.region,
            "aws_credentials": {"type": _credentials(file)},
            "endpoint": file.origin,
        }

    def context(self) -> Any:
        """Return TensorStore's context."""
        import tensorstore as ts

        if self._file is None:
            return ts.Context({"file_io_sync": False})
        return ts.Context({"s3_request_retries": {"max_retries": self._file.attempts}})

    def read(self, name: str) -> bytes:
        """Return the contents of a file; raises FileNotFoundError without it."""
        if self._path is not None:
            return (self._path / name).read_bytes()
        import tensorstore as ts

        store = ts.KvStore.open(self.kvstore(), context=self.context()).result()
        found = store.read(name).result()
        if found.state != "value":
            raise FileNotFoundError(f"there is no {name}")
        value: bytes = found.value
        return value

    def write(self, name: str, content: bytes) -> None:
        """Write a file."""
        if self._path is not None:
            self._path.mkdir(exist_ok=True)
            (self._path / name).write_bytes(content)
            return
        import tensorstore as ts

        ts.KvStore.open(self.kvstore(), context=self.context()).result().write(name, content).result()


def _credentials(file: RemoteFile) -> str:
    """Return TensorStore's name of the place of credentials, where `find_credentials` looks first."""
    if not file.credentials():
        return "anonymous"
    # The other prints an error for each file of a profile that is missing.
    return "environment" if os.environ.get("AWS_ACCESS_KEY_ID") else "default"


class TensorStoreStore(ArrayStore):
    """A group of arrays through TensorStore: the array, and one for each coordinate.

    The group's attributes contain the names of both; TensorStore itself has no groups. All chunks are
    written, also if all values are zero, and a missing chunk is an error. TensorStore's own fsync of
    each file is off. Attributes are JSON without NaN and infinity.
    """

    driver: ClassVar[str]
    """TensorStore's name of the format."""
    metadata_file: ClassVar[str]
    """Name of the file with the metadata of a group or an array."""
    group_metadata: ClassVar[dict[str, Any]]
    """Metadata of a group besides attributes."""
    file_facts = FileFacts(version="3", parts={"chunks": "as asked"}, threads="all cores")
    snippet: ClassVar[Snippet | str] = Snippet(
        imports="import tensorstore as ts",
        write="""
            spec = {"driver": "{driver}", "kvstore": {"driver": "file", "path": {path}}}
            metadata = {
                {metadata}
            }
            stored = ts.open({**spec, "metadata": metadata}, create=True).result()
            stored{order}.write(array).result()
        """,
        read="""
            spec = {"driver": "{driver}", "kvstore": {"driver": "file", "path": {path}}}
            array = ts.open(spec).result(){order}.read().result()
        """,
        given=Given.ARRAY,
        differs="FormatBench's own files are groups, with the names of the array and its coordinates",
    )

    @abstractmethod
    def _metadata(self, source: ArraySource, codec: str | None, level: int | None) -> dict[str, Any]:
        """Return the metadata of an array, in the form of the format."""

    @abstractmethod
    def _description(self, metadata: dict[str, Any], array: Any) -> Description:
        """Return the description of an open array, without coordinates."""

    def _pieces(self, source: ArraySource) -> Iterator[tuple[Selection, np.ndarray]]:
        """Yield the parts to write at a time."""
        yield from source

    def _in_order(self, array: Any) -> Any:
        """Return an open array with its dimensions in the order of the source."""
        return array

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        reason = (
            zarr_metadata.unsupported_reason(codec, source.dtype)
            or zarr_metadata.name_problem(source)
            or _json_problem(source)
        )
        for name, values in source.coordinates.items():
            if values.dtype.name not in self.dtypes:
                reason = f"coordinates {name!r} of type {values.dtype} are not supported"
        if reason is not None:
            raise self.refusal(reason)

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        self._save_at(_Place(path), source, codec, level)

    def _save_remote(
        self, source: ArraySource, file: RemoteFile, codec: str | None = None, level: int | None = None
    ) -> None:
        self._save_at(_Place(file=file), source, codec, level)

    def _save_at(self, place: _Place, source: ArraySource, codec: str | None, level: int | None) -> None:
        facts = {"name": source.name, "coordinates": list(source.coordinates)}
        metadata = {**self.group_metadata, "attributes": {KEY: facts}}
        place.write(self.metadata_file, json.dumps(metadata).encode())
        for name, values in source.coordinates.items():
            attributes = source.coordinate_attributes.get(name, {})
            coordinate = ArraySource.of(values, name=name, dims=(name,), attributes=attributes)
            self._write(place, coordinate, self._metadata(coordinate, None, None))
        self._write(place, source, self._metadata(source, codec, level))

    def _write(self, place: _Place, source: ArraySource, metadata: dict[str, Any]) -> None:
        array = self._array(place, source.name, metadata=metadata, create=True)
        for selection, values in self._pieces(source):
            array[selection].write(values, can_reference_source_data_indefinitely=True).result()

    def _array(
        self, place: _Place, name: str, metadata: dict[str, Any] | None = None, **options: Any
    ) -> Any:
        # Options: https://google.github.io/tensorstore/driver/zarr3/index.html
        import tensorstore as ts

        spec: dict[str, Any] = {
            "driver": self.driver,
            "kvstore": place.kvstore(name),
            "store_data_equal_to_fill_value": True,
            "fill_missing_data_reads": False,
            "recheck_cached_data": "open",
            "recheck_cached_metadata": "open",
        }
        if metadata is not None:
            spec["metadata"] = metadata
        return self._in_order(ts.open(spec, open=True, context=place.context(), **options).result())

    def _open(self, path: Path) -> ArrayReader:
        return self._open_at(_Place(path))

    def _open_remote(self, file: RemoteFile) -> ArrayReader:
        return self._open_at(_Place(file=file))

    def _open_at(self, place: _Place) -> ArrayReader:
        facts = self._read_metadata(place)["attributes"][KEY]
        array = self._array(place, facts["name"], read=True)
        metadata = self._read_metadata(place, facts["name"])

        def coordinate(name: str) -> np.ndarray:
            values: np.ndarray = self._array(place, name, read=True).read().result()
            return values

        def attributes(name: str) -> Mapping[str, Attribute]:
            found: Mapping[str, Attribute] = self._read_metadata(place, name).get("attributes", {})
            return found

        names = {name: name for name in facts["coordinates"]}
        described = replace(
            self._description(metadata, array),
            name=facts["name"],
            coordinates=OnDemand(names, coordinate),
            coordinate_attributes=OnDemand(names, attributes),
        )
        return _Reader(array, described)

    def _saved_metadata(self, path: Path) -> dict[str, Any]:
        """Return the metadata of a saved array."""
        place = _Place(path)
        return self._read_metadata(place, self._read_metadata(place)["attributes"][KEY]["name"])

    def _read_metadata(self, place: _Place, name: str = "") -> dict[str, Any]:
        """Return the metadata of the group, or of one of its arrays."""
        file = f"{name}/{self.metadata_file}" if name else self.metadata_file
        metadata: dict[str, Any] = json.loads(place.read(file))
        return metadata


class AppendableTensorStore(TensorStoreStore, Appendable):
    """A store of TensorStore whose arrays grow."""

    def _append(self, source: ArraySource, path: Path) -> None:
        place = _Place(path)
        facts = self._read_metadata(place)["attributes"][KEY]
        array = self._array(place, facts["name"])
        start = array.shape[0]
        array = array.resize(exclusive_max=[start + source.shape[0], *source.shape[1:]]).result()
        for selection, values in source:
            array[shifted(selection, start)].write(values).result()
        first_dim = self._description(self._read_metadata(place, facts["name"]), array).dims[0]
        if first_dim in facts["coordinates"] and first_dim in source.coordinates:
            values = source.coordinates[first_dim]
            coordinate = self._array(place, first_dim)
            coordinate = coordinate.resize(exclusive_max=[start + len(values)]).result()
            coordinate[start:].write(values).result()


class TensorStoreZarr(TensorStoreStore):
    """Base class of Zarr stores of format 3 through TensorStore."""

    driver = "zarr3"
    metadata_file = "zarr.json"
    group_metadata: ClassVar = {"zarr_format": 3, "node_type": "group"}
    # Of other codecs TensorStore reports an error.
    codecs: ClassVar = (zarr_metadata.GZIP, zarr_metadata.ZSTD, *zarr_metadata.BLOSC)

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the metadata of the array in the form of the format."""
        codecs = zarr_metadata.code_of_v3(codec, level)
        grid = '{"name": "regular", "configuration": {"chunk_shape": chunks}}'
        return {
            "driver": self.driver,
            "order": "",
            "metadata": '"shape": array.shape,\n"data_type": array.dtype.name,\n'
            f'"chunk_grid": {grid},\n"codecs": [{codecs}],\n"fill_value": 0,',
        }

    def _metadata(self, source: ArraySource, codec: str | None, level: int | None) -> dict[str, Any]:
        return {
            "shape": source.shape,
            "data_type": source.dtype.name,
            "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": source.chunks}},
            "codecs": zarr_metadata.v3_chain(codec, level, source.dtype),
            "fill_value": _zero(source.dtype),
            "dimension_names": source.dims,
            "attributes": dict(source.attributes),
        }

    def _description(self, metadata: dict[str, Any], array: Any) -> Description:
        return Description(
            array.shape,
            array.dtype.numpy_dtype,
            array.chunk_layout.read_chunk.shape or (),
            dims=tuple(metadata.get("dimension_names", ())),
            attributes=metadata.get("attributes", {}),
        )

    def _codec_used(self, path: Path) -> str | None:
        return zarr_metadata.name_of_v3(self._saved_metadata(path)["codecs"])


class _Reader(ArrayReader):
    def __init__(self, array: Any, description: Description) -> None:
        self._array = array
        super().__init__(description)

    def _read(self, selection: Selection) -> np.ndarray:
        values: np.ndarray = self._array[selection].read().result()
        return values


def _zero(dtype: np.dtype[Any]) -> Any:
    zero = dtype.type(0).item()
    return [0.0, 0.0] if isinstance(zero, complex) else zero


def _json_problem(source: ArraySource) -> str | None:
    """Return the reason why TensorStore cannot write the attributes or dimensions, or None."""
    if len(set(source.dims)) < len(source.dims):
        return f"names of dimensions are not unique: {', '.join(source.dims)}"
    for name, value in source.all_attributes():
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, float) and not math.isfinite(each):
                return f"the attribute {name!r} contains {each}, and JSON has finite numbers only"
            if isinstance(each, int) and each.bit_length() > _INT64_BITS:
                return f"the attribute {name!r} contains an integer beyond 64 bits"
    return None

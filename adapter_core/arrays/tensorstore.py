"""Base class of array stores through TensorStore."""

from __future__ import annotations

import json
import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.array_description import KEY, Description
from adapter_core.array_reader import ArrayReader
from adapter_core.array_source import ArraySource
from adapter_core.array_store import ArrayStore
from adapter_core.arrays import zarr_metadata
from adapter_core.arrays.chunk_writing import shifted
from adapter_core.arrays.on_demand import OnDemand

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.array_source import Attribute, Selection

_INT64_BITS = 63


class TensorStoreStore(ArrayStore):
    """A group of arrays through TensorStore: the array, and one for each coordinate.

    The group's attributes contain the names of both; TensorStore itself has no groups. All chunks are
    written, also those of zeros only, and a missing chunk is an error. TensorStore's own fsync of each
    file is off. Attributes are JSON without NaN and infinity.
    """

    driver: ClassVar[str]
    """TensorStore's name of the format."""
    metadata_file: ClassVar[str]
    """Name of the file with the metadata of a group or an array."""
    group_metadata: ClassVar[dict[str, Any]]
    """Metadata of a group besides attributes."""

    @abstractmethod
    def _metadata(self, source: ArraySource, codec: str | None, level: int | None) -> dict[str, Any]:
        """Return the metadata of an array, in the form of the format."""

    @abstractmethod
    def _description(self, metadata: dict[str, Any], array: Any) -> Description:
        """Return the description of an open array, without coordinates."""

    def _pieces(self, source: ArraySource) -> Iterator[tuple[Selection, np.ndarray]]:
        """Yield what to write at a time."""
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
        if reason is not None:
            raise self.refusal(reason)

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        path.mkdir()
        facts = {"name": source.name, "coordinates": list(source.coordinates)}
        metadata = {**self.group_metadata, "attributes": {KEY: facts}}
        (path / self.metadata_file).write_text(json.dumps(metadata), encoding="utf-8")
        for name, values in source.coordinates.items():
            attributes = source.coordinate_attributes.get(name, {})
            coordinate = ArraySource.of(values, name=name, dims=(name,), attributes=attributes)
            self._write(path, coordinate, self._metadata(coordinate, None, None))
        self._write(path, source, self._metadata(source, codec, level))

    def _write(self, path: Path, source: ArraySource, metadata: dict[str, Any]) -> None:
        array = self._array(path / source.name, metadata=metadata, create=True)
        for selection, values in self._pieces(source):
            array[selection].write(values, can_reference_source_data_indefinitely=True).result()

    def _array(self, path: Path, metadata: dict[str, Any] | None = None, **options: Any) -> Any:
        # Options: https://google.github.io/tensorstore/driver/zarr3/index.html
        import tensorstore as ts

        spec: dict[str, Any] = {
            "driver": self.driver,
            "kvstore": {"driver": "file", "path": f"{path}/"},
            "store_data_equal_to_fill_value": True,
            "fill_missing_data_reads": False,
            "recheck_cached_data": "open",
            "recheck_cached_metadata": "open",
        }
        if metadata is not None:
            spec["metadata"] = metadata
        context = ts.Context({"file_io_sync": False})
        return self._in_order(ts.open(spec, open=True, context=context, **options).result())

    def _open(self, path: Path) -> ArrayReader:
        facts = self._facts(path)
        array = self._array(path / facts["name"], read=True)
        metadata = json.loads((path / facts["name"] / self.metadata_file).read_bytes())

        def coordinate(name: str) -> np.ndarray:
            values: np.ndarray = self._array(path / name, read=True).read().result()
            return values

        def attributes(name: str) -> Mapping[str, Attribute]:
            found: Mapping[str, Attribute] = self._read_metadata(path / name).get("attributes", {})
            return found

        names = {name: name for name in facts["coordinates"]}
        described = replace(
            self._description(metadata, array),
            name=facts["name"],
            coordinates=OnDemand(names, coordinate),
            coordinate_attributes=OnDemand(names, attributes),
        )
        return _Reader(array, described)

    def _append(self, source: ArraySource, path: Path) -> None:
        facts = self._facts(path)
        array = self._array(path / facts["name"])
        start = array.shape[0]
        array = array.resize(exclusive_max=[start + source.shape[0], *source.shape[1:]]).result()
        for selection, values in source:
            array[shifted(selection, start)].write(values).result()
        first_dim = self._description(self._read_metadata(path / facts["name"]), array).dims[0]
        if first_dim in facts["coordinates"] and first_dim in source.coordinates:
            values = source.coordinates[first_dim]
            coordinate = self._array(path / first_dim)
            coordinate = coordinate.resize(exclusive_max=[start + len(values)]).result()
            coordinate[start:].write(values).result()

    def _facts(self, path: Path) -> dict[str, Any]:
        facts: dict[str, Any] = self._read_metadata(path)["attributes"][KEY]
        return facts

    def _read_metadata(self, path: Path) -> dict[str, Any]:
        metadata: dict[str, Any] = json.loads((path / self.metadata_file).read_bytes())
        return metadata


class TensorStoreZarr(TensorStoreStore):
    """Base class of Zarr stores of format 3 through TensorStore."""

    driver = "zarr3"
    metadata_file = "zarr.json"
    group_metadata: ClassVar = {"zarr_format": 3, "node_type": "group"}
    # Of other codecs TensorStore reports an error.
    codecs: ClassVar = (zarr_metadata.GZIP, zarr_metadata.ZSTD, *zarr_metadata.BLOSC)

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
        metadata = self._read_metadata(path / self._facts(path)["name"])
        return zarr_metadata.name_of_v3(metadata["codecs"])


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

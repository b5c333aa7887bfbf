"""Zarr through zarr-python."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.codecs import Codec
from adapter_core.tables.array_format import NOTE, ArrayFormat
from adapter_core.traits import Trait

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.tables.array_format import Opened

CHUNK_BYTES = 2**24
"""The most that a chunk holds; each is a file. Zarr's guide advises 1 MB or more:
https://zarr.readthedocs.io/en/stable/user-guide/performance/"""


class Adapter(ArrayFormat):
    """A Zarr group of format 3 (a directory) through zarr-python, an array for each.

    Text is bytes, since the format has no stable type for text: zarr-python writes nulls of its own
    text as the word None, and makes a Python object of each value. Times are integers for the same
    reason. All chunks are written, also those of zeros alone, and none may be missing when they are
    read; Zarr itself would fill its place with zeros. It notices no bits that have changed.
    """

    label = "Zarr"
    suffix = ".zarr"
    requires = ("pandas", "pyarrow", "zarr>=3.1")
    suite = "engines"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE})
    codecs: ClassVar = (Codec("gzip", range(1, 10), 5), Codec("zstd", range(1, 23), 3))
    default_codec = "zstd"

    def _write(
        self,
        path: Path,
        arrays: Mapping[str, np.ndarray],
        note: str,
        codec: str | None,
        level: int | None,
    ) -> None:
        import zarr

        compressor: Any = _compressors()[codec](level=level) if codec else None
        group = zarr.create_group(path, zarr_format=3, attributes={NOTE: note})
        for name, array in arrays.items():
            group.create_array(
                name,
                data=array.view("int64") if array.dtype.kind in "mM" else array,
                chunks=_chunks(array),
                compressors=compressor,
                config={"write_empty_chunks": True},
            )

    @contextmanager
    def _opened(self, path: Path) -> Iterator[Opened]:
        import zarr

        group: Any = zarr.open_group(path, mode="r", zarr_format=3)

        def get(name: str) -> np.ndarray:
            array = group[name]
            if array.nchunks_initialized != array.nchunks:
                raise ValueError(f"{path.name}: chunks of the array {name} are missing")
            return array[...]

        yield group.attrs[NOTE], lambda names: {name: get(name) for name in names}

    def _codec_used(self, path: Path) -> str | None:
        import zarr

        group: Any = zarr.open_group(path, mode="r", zarr_format=3)
        for _, array in group.arrays():
            for compressor in array.compressors:
                return compressor.to_dict()["name"]
        return None


def _compressors() -> dict[str, Any]:
    from zarr.codecs import GzipCodec, ZstdCodec

    return {"gzip": GzipCodec, "zstd": ZstdCodec}


def _chunks(array: np.ndarray) -> tuple[int, ...]:
    """Return the shape of chunks, which all take the same room: the last one is filled up."""
    parts = -(-array.nbytes // CHUNK_BYTES)
    return max(1, -(-len(array) // max(1, parts))), *array.shape[1:]

"""N5 in a directory, through TensorStore."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Codec, Description, RemoteArray, Trait
from adapter_core.array_store import INTEGERS
from adapter_core.arrays import zarr_metadata
from adapter_core.arrays.tensorstore import AppendableTensorStore
from adapter_core.file_facts import FileFacts
from adapter_core.snippets import literal

if TYPE_CHECKING:
    from adapter_core import ArraySource

_TYPES = {"gzip": "gzip", "bz2": "bzip2", "lzma": "xz", "zstd": "zstd"}
# Names of the parameter that a level is.
_LEVELS = {"gzip": "level", "bz2": "blockSize", "lzma": "preset", "zstd": "level"}


class Adapter(AppendableTensorStore, RemoteArray):
    """An N5 group in a directory, a file for each block, through TensorStore.

    N5 stores values in big-endian order, and its first dimension varies fastest: dimensions are reversed
    in the file, so that a block contains the bytes in the order of NumPy. Attributes of the array are
    in a member of their own, since N5 reserves some names, "units" among them.

    Format: https://github.com/saalfeldlab/n5#file-system-specification
    """

    label = "N5[tensorstore]"
    file_facts = FileFacts(parts={"chunks": "as asked"}, threads="all cores")
    suffix = ".n5"
    requires = ("numpy", "tensorstore")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND})
    remote_schemes: ClassVar = ("s3",)
    dtypes: ClassVar = INTEGERS | {"float32", "float64"}
    driver = "n5"
    metadata_file = "attributes.json"
    group_metadata: ClassVar = {"n5": "4.0.0"}
    codecs: ClassVar = (
        zarr_metadata.GZIP,
        zarr_metadata.ZSTD,
        Codec("bz2", range(1, 10), 9),
        Codec("lzma", range(10), 6),
        *zarr_metadata.BLOSC,
    )

    def placeholders(self, codec: str | None, level: int | None) -> Mapping[str, str]:
        """Return the metadata of the array in the form of the format."""
        return {
            "driver": self.driver,
            "order": ".T",
            "metadata": '"dimensions": array.shape[::-1],\n"blockSize": chunks[::-1],\n'
            f'"dataType": array.dtype.name,\n"compression": {literal(_compression(codec, level))},',
        }

    def _metadata(self, source: ArraySource, codec: str | None, level: int | None) -> dict[str, Any]:
        return {
            "dimensions": source.shape[::-1],
            "blockSize": source.chunks[::-1],
            "dataType": source.dtype.name,
            "axes": source.dims[::-1],
            "compression": _compression(codec, level),
            "attributes": dict(source.attributes),
        }

    def _in_order(self, array: Any) -> Any:
        return array.T

    def _description(self, metadata: dict[str, Any], array: Any) -> Description:
        return Description(
            array.shape,
            array.dtype.numpy_dtype,
            tuple(reversed(metadata["blockSize"])),
            dims=tuple(reversed(metadata.get("axes", ()))),
            attributes=metadata.get("attributes", {}),
        )

    def _codec_used(self, path: Path) -> str | None:
        compression = self._saved_metadata(path)["compression"]
        if compression["type"] == "raw":
            return None
        names = {kind: name for name, kind in _TYPES.items()}
        name = names.get(compression["type"], compression["type"])
        return zarr_metadata.name_of_numcodecs([{**compression, "id": name}])

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Write each chunk to a slice of `tensorstore.open`."""
        import tensorstore as ts

        metadata = {
            "dimensions": source.shape[::-1],
            "blockSize": source.chunks[::-1],
            "dataType": source.dtype.name,
            "compression": {"type": "raw"},
        }
        array = ts.open(
            {"driver": "n5", "kvstore": {"driver": "file", "path": f"{path}/"}, "metadata": metadata},
            create=True,
            context=ts.Context({"file_io_sync": False}),
        ).result()
        for selection, values in source:
            array.T[selection] = values

    @staticmethod
    def plain_read(path: Path) -> int:
        """Read each row of an open array."""
        import tensorstore as ts

        spec = {"driver": "n5", "kvstore": {"driver": "file", "path": f"{path}/"}}
        array = ts.open(spec, read=True).result().T
        return sum(len(array[row : row + 1].read().result()) for row in range(array.shape[0]))


def _compression(codec: str | None, level: int | None) -> dict[str, Any]:
    if codec is None:
        return {"type": "raw"}
    if codec.startswith("blosc:"):
        (blosc,) = zarr_metadata.numcodecs_chain(codec, level, zarr_metadata.ANY_DTYPE)
        return {"type": blosc.pop("id"), **blosc}
    return {"type": _TYPES[codec], _LEVELS[codec]: level}

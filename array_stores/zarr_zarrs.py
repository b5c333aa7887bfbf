"""Zarr format 3 in a directory, through the codec pipeline zarrs."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Trait
from adapter_core.array_source import chunk_selections
from adapter_core.arrays import zarr_metadata
from adapter_core.arrays.zarr import AppendableZarr, LocalZarrStore

if TYPE_CHECKING:
    import numpy as np

    from adapter_core import ArraySource, Selection


PYTHON_PIPELINE = "zarr.core.codec_pipeline.BatchedCodecPipeline"


class Adapter(LocalZarrStore, AppendableZarr):
    """A Zarr group of format 3 in a directory, whose chunks pass through zarrs, a library in Rust.

    zarr-python reads and writes the metadata. zarrs takes whole chunks from files to values with threads
    of its own. Other arrays of the process keep their pipeline. Codecs that zarrs lacks are not
    declared: with them it would leave the work to Python and only warn.

    https://zarrs-python.readthedocs.io
    """

    label = "Zarr[zarrs]"
    suffix = ".zarr"
    requires = ("numpy", "zarr>=3.1", "zarrs", "pcodec")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND})

    # zarrs reads a zlib chunk without its last bytes, the checksum, and lacks the others.
    codecs: ClassVar = tuple(
        each for each in zarr_metadata.ALL if each.name not in ("zlib", "lz4", "lzma") and not each.error
    )
    _code_of_store: ClassVar = {
        "modules": "import zarrs\n\n"
        'zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"})',
        "open": "store = zarr.storage.LocalStore({path})",
        "reopen": "store = zarr.storage.LocalStore({path}, read_only=True)",
    }

    def _pipeline(self) -> AbstractContextManager[Any]:
        import zarr

        return zarr.config.set(
            {"codec_pipeline.path": "zarrs.ZarrsCodecPipeline", "codec_pipeline.strict": True}
        )

    def _reading(self, path: Path) -> Any:
        from zarr.storage import LocalStore

        return LocalStore(path, read_only=True)

    def _writer(self, array: Any) -> Callable[[Selection, np.ndarray], None]:
        import zarr

        # zarrs 0.2.3 omits chunks of zeros, also with write_empty_chunks.
        with zarr.config.set({"codec_pipeline.path": PYTHON_PIPELINE}):
            python_array = array.with_config({"write_empty_chunks": True})

        def write(selection: Selection, values: np.ndarray) -> None:
            array.set_basic_selection(selection, values)
            for place in chunk_selections(values.shape, array.chunks):
                chunk = values[place]
                # Most chunks are known by their first value; any() reads all.
                if chunk.size > 0 and not chunk.item(0) and not chunk.any():
                    python_array.set_basic_selection(_within(selection, place), chunk)

        return write

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Assign each chunk to a slice of `zarr.create_array`."""
        import zarr

        with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"}):
            array: Any = zarr.create_array(
                path, shape=source.shape, chunks=source.chunks, dtype=source.dtype, compressors=None
            )
        for selection, values in source:
            array[selection] = values

    @staticmethod
    def plain_read(path: Path) -> int:
        """Read each row of an open array."""
        import zarr

        with zarr.config.set({"codec_pipeline.path": "zarrs.ZarrsCodecPipeline"}):
            array: Any = zarr.open_array(path, mode="r")
        return sum(len(array[row : row + 1]) for row in range(array.shape[0]))


def _within(selection: Selection, place: Selection) -> Selection:
    """Return the selection of a place within the values of a selection."""
    pairs = zip(selection, place, strict=True)
    return tuple(slice(all_.start + part.start, all_.start + part.stop) for all_, part in pairs)

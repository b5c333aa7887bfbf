"""Base class of array stores in HDF5 files that are read as Zarr, by Kerchunk's references."""

from __future__ import annotations

import gc
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.array_description import KEY, Description
from adapter_core.array_store import ALL_DTYPES, COMPLEX, ArrayStore
from adapter_core.arrays import hdf5, zarr_metadata
from adapter_core.arrays.zarr import DIMS_ATTRIBUTE
from adapter_core.file_facts import FileFacts

if TYPE_CHECKING:
    import h5py

    from adapter_core import ArraySource, Codec

DATA_FILE = "data.h5"
REFERENCES_FILE = "references.json"
DATASET = "values"

# Other filters of HDF5 have no codec in Zarr: kerchunk.hdf.SingleHdf5ToZarr raises an error.
_FILTERS = frozenset({"gzip", "gzip+shuffle", "zstd", "zstd+shuffle"})


class KerchunkStore(ArrayStore):
    """A directory with an HDF5 file, and references to its chunks as a Zarr group of format 2.

    h5py writes the file, Kerchunk the references: for each chunk its offset and length. zarr-python
    reads the chunks through fsspec and decodes them by its own codecs, without HDF5. Chunks up to 500
    bytes may be in the references. The description of the array is an attribute of the group.

    Format: https://fsspec.github.io/kerchunk/spec.html, version 1
    """

    local_only = "its references name a local file"

    # HDF5 has complex numbers as compounds, which Zarr reads as records.
    dtypes: ClassVar = ALL_DTYPES - COMPLEX
    dims_range = range(1, 33)  # a 0-d dataset has no chunks to refer to
    holds_empty = False
    codecs: ClassVar[tuple[Codec, ...]] = tuple(
        each for each in hdf5.CODECS if each.name in _FILTERS or each.name.startswith("blosc:")
    )
    file_facts = FileFacts(silent="its references name parts of another file")
    snippet = (
        "HDF5 writes the file, see its code, and kerchunk.hdf.SingleHdf5ToZarr(path).translate() "
        "makes the references that zarr and xarray read"
    )

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        reason = hdf5.refused_by(codec, source)
        if reason:
            raise self.refusal(reason)

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import h5py
        from kerchunk.hdf import Hdf5FeatureNotSupported, SingleHdf5ToZarr

        path.mkdir()
        # HDF5 does not accept chunks larger than a fixed axis.
        chunks = tuple(min(pair) for pair in zip(source.chunks, source.shape, strict=True))
        with h5py.File(path / DATA_FILE, "w", rdcc_nbytes=0) as file:
            name = self._array_name(source)
            filters = hdf5.filter_options(codec, level)
            dataset = file.create_dataset(name, source.shape, source.dtype, chunks=chunks, **filters)
            for selection, values in source:
                dataset[selection] = values
            self._finish(file, dataset, source)
        translator = SingleHdf5ToZarr(str(path / DATA_FILE), DATA_FILE, error="raise")
        # A collection in zarr's thread that frees an object of h5py would wait for the lock that h5py
        # holds while it visits the file, and the visit waits for zarr's thread.
        was_collecting = gc.isenabled()
        gc.disable()
        try:
            references = translator.translate()
        except Hdf5FeatureNotSupported as error:
            # HDF5 stores a chunk without the filter that makes it no smaller.
            raise self.refusal(
                "only some chunks become smaller, and Kerchunk needs all alike"
            ) from error
        finally:
            if was_collecting:
                gc.enable()
        attributes = json.loads(references["refs"][f"{name}/.zattrs"])
        attributes[DIMS_ATTRIBUTE] = source.dims
        references["refs"][f"{name}/.zattrs"] = json.dumps(attributes)
        references["refs"][".zattrs"] = json.dumps({KEY: Description.of(source).to_json()})
        (path / REFERENCES_FILE).write_text(json.dumps(references), encoding="utf-8")

    def _array_name(self, described: ArraySource | Description) -> str:
        """Return the name of the array in the HDF5 file."""
        return DATASET

    def _finish(self, file: h5py.File, dataset: h5py.Dataset, source: ArraySource) -> None:
        """Add parts to the HDF5 file that engines need besides the values; nothing by default."""

    def _codec_used(self, path: Path) -> str | None:
        references = references_of(path)
        description = Description.from_json(json.loads(references[".zattrs"])[KEY])
        metadata = json.loads(references[f"{self._array_name(description)}/.zarray"])
        compressor = [metadata["compressor"]] if metadata["compressor"] else []
        chain = [*(metadata["filters"] or ()), *compressor]
        name = zarr_metadata.name_of_numcodecs(chain)
        # The filter gzip of HDF5 writes streams of zlib.
        return name.replace("zlib", "gzip") if name and name.startswith("zlib") else name


def references_of(path: Path) -> dict[str, Any]:
    """Return the references by key."""
    references: dict[str, Any] = json.loads((path / REFERENCES_FILE).read_bytes())["refs"]
    return references


def store_of(path: Path, references: dict[str, Any]) -> Any:
    """Return a store of zarr-python with the references.

    Raises
    ------
    EOFError
        If the HDF5 file ends before a chunk does.
    """
    from fsspec.implementations.reference import ReferenceFileSystem
    from zarr.storage import FsspecStore

    # References are relative, since the directory is renamed; fsspec opens absolute ones.
    place = str(path.absolute() / DATA_FILE)
    ends = [each[1] + each[2] for each in references.values() if isinstance(each, list)]
    # fsspec returns what there is of a chunk, and Blosc may decode that.
    if (size := Path(place).stat().st_size) < max(ends, default=0):
        raise EOFError(f"{place}: the file has {size} bytes, and its chunks end at {max(ends)}")
    found = {
        key: [place, *each[1:]] if isinstance(each, list) else each for key, each in references.items()
    }
    files = ReferenceFileSystem(found, remote_protocol="file", asynchronous=True)
    return FsspecStore(files, read_only=True)

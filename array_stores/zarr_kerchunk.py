"""HDF5 read through zarr-python, by Kerchunk's references."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import ArrayReader, Trait
from adapter_core.array_description import KEY, Description
from adapter_core.arrays.kerchunk import DATASET, KerchunkStore, references_of, store_of

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.array_source import Selection


class Adapter(KerchunkStore):
    """A directory with an HDF5 file, and references to its chunks as a Zarr group of format 2.

    h5py writes the file, Kerchunk the references: for each chunk its offset and length. zarr-python
    reads the chunks through fsspec and decodes them by its own codecs, without HDF5. Chunks up to 500
    bytes may be in the references. The description of the array is an attribute of the group.

    Format: https://fsspec.github.io/kerchunk/spec.html, version 1
    """

    label = "Zarr.kerchunk"
    suffix = ".kerchunk"
    requires = ("numpy", "zarr>=3.1", "kerchunk", "h5py", "hdf5plugin", "fsspec")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE})

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    @staticmethod
    def plain_read(path: Path) -> int:
        """Read each row of an array that is opened through fsspec."""
        import zarr

        array: Any = zarr.open_group(store_of(path, references_of(path)), mode="r", zarr_format=2)[
            DATASET
        ]
        return sum(len(array[row : row + 1]) for row in range(array.shape[0]))


class _Reader(ArrayReader):
    def __init__(self, path: Path) -> None:
        import zarr

        references = references_of(path)
        description = Description.from_json(json.loads(references[".zattrs"])[KEY])
        self._array: Any = zarr.open_array(
            store_of(path, references), path=DATASET, mode="r", zarr_format=2
        )
        super().__init__(description)

    def _read(self, selection: Selection) -> np.ndarray:
        import numpy as np

        return np.asarray(self._array.get_basic_selection(selection))

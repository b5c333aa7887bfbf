"""HDF5 read through xarray's engine for Zarr, by Kerchunk's references."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Trait
from adapter_core.arrays import hdf5
from adapter_core.arrays.kerchunk import KerchunkStore, references_of, store_of
from adapter_core.arrays.xarray import XarrayStore, loaded

if TYPE_CHECKING:
    import h5py

    from adapter_core import ArraySource, Description


class Adapter(XarrayStore, KerchunkStore):
    """The directory of `Zarr.kerchunk`, with coordinates as dimension scales of the HDF5 file.

    xarray's engine `zarr` reads the references through fsspec. It writes none: an answer is saved like
    an array.

    https://fsspec.github.io/kerchunk/
    """

    label = "Zarr.kerchunk[xarray]"
    suffix = ".kerchunk"
    requires = ("numpy", "zarr>=3.1", "kerchunk", "h5py", "hdf5plugin", "fsspec", "xarray")
    suite = "foxbench"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE})

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        super()._check_further(source, codec)
        reason = hdf5.refused_properties(source, hdf5.RESERVED) or hdf5.long_attribute(source)
        if reason:
            raise self.refusal(reason)

    def _array_name(self, described: ArraySource | Description) -> str:
        return described.name

    def _finish(self, file: h5py.File, dataset: h5py.Dataset, source: ArraySource) -> None:
        dataset.attrs.update(source.attributes)
        for axis, name in enumerate(source.dims):
            if name in source.coordinates:
                scale = file.create_dataset(name, data=source.coordinates[name])
                scale.make_scale(name)
                scale.attrs.update(source.coordinate_attributes.get(name, {}))
                dataset.dims[axis].attach_scale(scale)

    def _dataset(self, path: Path) -> Any:
        store = store_of(path, references_of(path))
        return loaded().open_dataset(
            store, engine="zarr", cache=False, decode_cf=False, consolidated=False, zarr_format=2
        )

    def _write_dataset(self, dataset: Any, answer: ArraySource, path: Path) -> None:
        self.save(answer, path)

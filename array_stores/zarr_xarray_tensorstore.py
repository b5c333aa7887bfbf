"""Zarr format 3 in a directory, through xarray and TensorStore."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import Property, Trait
from adapter_core.arrays.tensorstore import TensorStoreZarr
from adapter_core.arrays.xarray import XarrayStore, loaded, write_zarr

if TYPE_CHECKING:
    from adapter_core import ArraySource

_TIME_UNITS = {f"{prefix}seconds" for prefix in ("", "milli", "micro", "nano")} | {
    "minutes",
    "hours",
    "days",
}


class Adapter(XarrayStore, TensorStoreZarr):
    """The directory of `Zarr[tensorstore]`, read by the package xarray-tensorstore.

    xarray and zarr-python open the data set, TensorStore then opens the array once more and reads its
    values. A missing chunk is read as zeros. xarray writes answers through zarr-python. Coordinates are
    written without attributes, since xarray would decode times, which are integers elsewhere.

    https://github.com/google/xarray-tensorstore
    """

    label = "Zarr[xarray-tensorstore]"
    suffix = ".zarr"
    requires = ("numpy", "tensorstore", "xarray-tensorstore", "xarray", "zarr>=3.1")
    modules: ClassVar = {"xarray-tensorstore": "xarray_tensorstore"}
    suite = "foxbench"
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE})
    keeps: ClassVar = frozenset(Property) - {Property.COORDINATE_ATTRIBUTES}
    loses: ClassVar = {Property.COORDINATE_ATTRIBUTES: "xarray-tensorstore would decode times by them"}
    snippet = (
        "xarray-tensorstore only reads; Zarr.dir[xarray] has the code that writes, and "
        "xarray_tensorstore.open_zarr(path) opens its groups"
    )

    def write_answer(self, answer: ArraySource, path: str | os.PathLike[str]) -> None:
        super().write_answer(replace(answer, coordinate_attributes={}), path)

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        super()._check_further(source, codec)
        units = source.attributes.get("units")
        # xarray-tensorstore opens with xarray's defaults, and these take the attributes out.
        if isinstance(units, str) and (units in _TIME_UNITS or " since " in units):
            raise self.refusal(f"xarray would decode values with the unit {units!r} as times")
        if "coordinates" in source.attributes:
            raise self.refusal("xarray would take the attribute 'coordinates' as names of variables")

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        super()._save(replace(source, coordinate_attributes={}), path, codec, level)

    def _dataset(self, path: Path) -> Any:
        loaded()
        import xarray_tensorstore

        return xarray_tensorstore.open_zarr(str(path), mask_and_scale=False, consolidated=False)

    def _write_dataset(self, dataset: Any, answer: ArraySource, path: Path) -> None:
        from zarr.storage import LocalStore

        write_zarr(dataset, answer, LocalStore(path))

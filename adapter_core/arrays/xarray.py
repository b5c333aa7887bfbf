"""Base classes of array stores that are read and queried through xarray."""

from __future__ import annotations

import functools
import os
import warnings
from abc import abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import ArrayReader, ArraySource, Attribute, Availability, Selection
from adapter_core.array_description import KEY, Bounds, Description
from adapter_core.array_store import INTEGERS, ArrayStore
from adapter_core.arrays.on_demand import OnDemand
from adapter_core.arrays.shards import shard_of
from adapter_core.arrays.zarr import ZarrStore
from adapter_core.file_facts import FileFacts
from adapter_core.snippets import Given, Snippet

if TYPE_CHECKING:
    import numpy as np


FILL_VALUE = "_FillValue"
# pandas has no index of float16, and one of objects for complex numbers.
_INDEX_DTYPES = INTEGERS | {"float32", "float64"}


class XarrayStore(ArrayStore):
    """A store that xarray opens, selects from, and writes answers to.

    Derive from this class first and from the one that saves the array second: files are the
    same as the store's without xarray. Values are read as stored, neither masked nor scaled nor decoded
    as times, and nothing is cached between selections. Dask is not used.

    https://docs.xarray.dev/en/stable/user-guide/io.html
    """

    local_only = "it asks queries of files that another store writes"

    def availability(self) -> Availability:
        """Import the required packages and xarray's engines, and report whether they work here."""
        found = super().availability()
        if found:
            loaded()
        return found

    def write_answer(self, answer: ArraySource, path: str | os.PathLike[str]) -> None:
        """Write the answer to a query by xarray, uncompressed.

        Raises
        ------
        CannotHoldError
            If the store cannot keep the answer as it is, or it is boolean, which xarray writes as int8.
        """
        self.check(answer)
        if answer.dtype.kind == "b":
            raise self.refusal("xarray writes booleans as integers")
        array = loaded().DataArray(
            answer.read(tuple(slice(0, edge) for edge in answer.shape)),
            {
                name: (name, values, answer.coordinate_attributes.get(name, {}))
                for name, values in answer.coordinates.items()
            },
            answer.dims,
            answer.name,
            answer.attributes,
        )
        self._write_dataset(array.to_dataset(), answer, Path(path))

    def _check_further(self, source: ArraySource, codec: str | None) -> None:
        super()._check_further(source, codec)
        reason = _refused_properties(source)
        if reason:
            raise self.refusal(reason)

    def _open(self, path: Path) -> ArrayReader:
        return XarrayReader(self._dataset(path))

    @abstractmethod
    def _dataset(self, path: Path) -> Any:
        """Open the data set."""

    @abstractmethod
    def _write_dataset(self, dataset: Any, answer: ArraySource, path: Path) -> None:
        """Write a data set in memory with one variable, the answer."""


class XarrayZarrStore(XarrayStore, ZarrStore):
    """A Zarr group through xarray's engine for Zarr.

    A missing chunk is read as zeros, since Zarr defines that. Metadata are not consolidated. Appending
    is not offered: xarray opens no array that is longer than its coordinates.
    """

    file_facts = FileFacts(
        version="3",
        parts={"chunks": "as asked"},
        threads="all cores",
        differs="chunks as asked; chunks of zeros are written, too",
    )
    snippet = Snippet(
        imports="import xarray\n{modules}",
        write="""
            {open}
            encoding = dict(
                chunks=chunks,
                {shards}
                {codecs}
                write_empty_chunks=True,
            )
            array.to_dataset().to_zarr(
                store,
                mode="w-",
                consolidated=False,
                zarr_format={format},
                encoding={array.name: encoding},
            )
            {close}
        """,
        read="""
            {reopen}
            options = {"engine": "zarr", "cache": False, "decode_cf": False, "consolidated": False}
            with xarray.open_dataset(store, **options) as dataset:
                array = dataset["values"].load()
        """,
        given=Given.LABELLED,
    )

    def _dataset(self, path: Path) -> Any:
        with self._opening():
            return loaded().open_dataset(
                self._place(path),
                engine="zarr",
                cache=False,
                decode_cf=False,
                consolidated=False,
                zarr_format=self.zarr_format,
            )

    def _place(self, path: Path) -> Any:
        """Return the argument of `xarray.open_dataset`."""
        from zarr.storage import LocalStore

        # zarr-python 3.4 takes a text for an address, in which no path goes on after "?" or "#".
        return LocalStore(path, read_only=True)

    def _write_dataset(self, dataset: Any, answer: ArraySource, path: Path) -> None:
        with self._opening(), self._writing(path) as store:
            write_zarr(dataset, answer, store, self.zarr_format, self.shard_bytes)


class XarrayReader(ArrayReader):
    """An open data set with one variable.

    Parameters
    ----------
    dataset : xarray.Dataset
        Its index coordinates are in memory, as xarray has them.
    """

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        (name,) = dataset.data_vars
        self._array: Any = dataset[name]
        encoding = self._array.encoding
        indexes = self._array.xindexes
        self._indexes = {
            dim: indexes[dim].to_pandas_index() for dim in self._array.dims if dim in indexes
        }
        labelled = dict(zip(self._indexes, self._indexes, strict=True))
        super().__init__(
            Description(
                self._array.shape,
                self._array.dtype,
                tuple(encoding.get("chunks") or encoding.get("chunksizes") or self._array.shape),
                name,
                self._array.dims,
                _attributes(self._array),
                OnDemand(labelled, self._coordinate),
                OnDemand(labelled, lambda dim: _attributes(self._array[dim])),
            )
        )

    def select(self, bounds: Bounds) -> np.ndarray:
        """Return the values within bounds of coordinates, by slices of labels."""
        unknown = [dim for dim in bounds if dim not in self._indexes]
        if unknown:
            raise KeyError(f"there are no coordinates of {', '.join(unknown)}")
        labels = {}
        for dim, (least, largest) in bounds.items():
            index = self._indexes[dim]
            # xarray expects labels in the order of the coordinates.
            is_descending = len(index) > 1 and index[0] > index[-1]
            labels[dim] = slice(largest, least) if is_descending else slice(least, largest)
        return self._values(self._array.sel(labels))

    def close(self) -> None:
        """Close the data set."""
        self._dataset.close()

    def _read(self, selection: Selection) -> np.ndarray:
        return self._values(self._array.isel(dict(zip(self._array.dims, selection, strict=True))))

    def _values(self, selected: Any) -> np.ndarray:
        if 0 in selected.shape:
            import numpy as np

            # Engines do not agree on selections without values.
            return np.empty(selected.shape, self.dtype)
        values: np.ndarray = selected.values
        return values

    def _coordinate(self, dim: str) -> np.ndarray:
        values: np.ndarray = self._array[dim].values
        return values


@functools.cache
def loaded() -> Any:
    """Return the package xarray, after it has imported its engines.

    An installed engine that fails to import is a warning then; it is none that an adapter uses.
    """
    import xarray

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Engine .* loading failed", RuntimeWarning)
        xarray.backends.list_engines()
    return xarray


def attribute_of(value: Any) -> Attribute:
    """Return the value of an attribute as Python's own types."""
    if isinstance(value, tuple):
        return list(value)
    if hasattr(value, "tolist"):
        return value.tolist()
    return value


def _attributes(array: Any) -> dict[str, Attribute]:
    return {
        name: attribute_of(value)
        for name, value in array.attrs.items()
        if name != FILL_VALUE and not name.startswith("_Quantize")
    }


def write_zarr(
    dataset: Any, answer: ArraySource, store: Any, zarr_format: int = 3, shard_bytes: int = 0
) -> None:
    """Write an answer as a Zarr group by xarray, uncompressed and with chunks of zeros.

    Parameters
    ----------
    dataset : xarray.Dataset
        The answer as a data set.
    answer : ArraySource
        The array gets its chunks.
    store : store of zarr-python
        Where nothing is yet.
    zarr_format, shard_bytes
        As in `adapter_core.arrays.zarr.ZarrStore`.
    """
    encoding = {
        "chunks": answer.chunks,
        "compressors": None,
        "filters": None,
        "write_empty_chunks": True,
    }
    if shard_bytes:
        encoding["shards"] = shard_of(answer, shard_bytes)
    # The attribute of groups that ZarrStore saves.
    noted = dataset.assign_attrs({KEY: {"name": answer.name, "coordinates": list(answer.coordinates)}})
    noted.to_zarr(
        store,
        mode="w-",
        consolidated=False,
        zarr_format=zarr_format,
        encoding={answer.name: encoding},
    )


def netcdf_encoding(answer: ArraySource) -> dict[str, dict[str, Any]]:
    """Return the encoding of an answer in netCDF-4: its chunks, and no value that means missing ones."""
    if 0 in answer.shape or not answer.shape:
        return {answer.name: {FILL_VALUE: None}}
    # Dimensions of an answer are limited, and chunks not larger than they are.
    chunks = tuple(map(min, answer.chunks, answer.shape))
    return {answer.name: {FILL_VALUE: None, "chunksizes": chunks}}


def _refused_properties(source: ArraySource) -> str:
    """Return why xarray cannot keep a source's properties, or an empty string."""
    if len(set(source.dims)) < len(source.dims):
        return f"xarray does not select by dimensions of the same name, {', '.join(source.dims)}"
    if source.name in source.dims:
        return f"a variable of the name of a dimension, {source.name!r}, would be its coordinates"
    if FILL_VALUE in dict(source.all_attributes()):
        return f"xarray's engines use the attribute {FILL_VALUE!r} themselves"
    for name, values in source.coordinates.items():
        if name not in source.dims:
            return f"coordinates {name!r} belong to no dimension"
        if values.dtype.name not in _INDEX_DTYPES:
            return f"pandas has no index for coordinates {name!r} of type {values.dtype}"
    return ""

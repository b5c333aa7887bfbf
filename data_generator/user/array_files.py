"""Files and folders that contain n-d arrays: NPY, classic NetCDF, NetCDF-4, HDF5 and Zarr.

Values are those in the file: scale factors, offsets and fill values are not applied.
"""

from __future__ import annotations

import logging
import mmap
from abc import ABC, abstractmethod
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.errors import InvalidDataError
from data_generator.errors import library_errors
from data_generator.foreign_parts import check_folder
from data_generator.user.zarr_codecs import check_codecs

if TYPE_CHECKING:
    import h5py
    import numpy as np

    from adapter_core.array_source import Selection
    from data_generator.location import DataLocation


@dataclass(frozen=True, eq=False)
class StoredArray:
    """An array in a file, of any dtype."""

    name: str
    """Name with the groups that it is in, e.g. ``forecast/wind``; empty if the file is one array."""
    shape: tuple[int, ...]
    dtype: np.dtype[Any]
    chunks: tuple[int, ...] | None = None
    """None if the file does not divide the array."""
    dims: tuple[str, ...] = ()
    """Empty if the file does not name them."""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    coordinates: Mapping[str, str] = field(default_factory=dict)
    """For some dimensions the name of the one-dimensional array with their coordinates."""
    is_coordinate: bool = False


@dataclass(frozen=True)
class ArrayFile(ABC):
    """A file or folder of one kind; it can be pickled, and is open only while it is read."""

    path: Path
    kind: ClassVar[str]
    """Name of the kind in messages."""
    requires: ClassVar[tuple[str, ...]] = ()
    """Distributions beyond those that this project itself requires."""
    own_attributes: ClassVar[frozenset[str]] = frozenset()
    """Attributes that describe the kind of file, and are not the user's."""

    @abstractmethod
    def arrays(self) -> list[StoredArray]:
        """Return all arrays, those that cannot be measured too."""

    @abstractmethod
    def read(self, name: str, selection: Selection) -> np.ndarray:
        """Return the values of a selection, in any order in memory and any order of bytes."""


@dataclass(frozen=True)
class NPYFile(ArrayFile):
    """File of `numpy.save`, which is mapped into memory."""

    kind = "NPY"

    def arrays(self) -> list[StoredArray]:
        """Return the one array."""
        from numpy.lib import format as npy

        readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
        with self.path.open("rb") as file:
            version = npy.read_magic(file)
            if version not in readers:  # 3.0 has structured dtypes with names in Unicode
                raise ValueError(f"version {version[0]}.{version[1]} of the format is unknown")
            shape, _, dtype = readers[version](file)
        return [StoredArray("", shape, dtype)]

    def read(self, name: str, selection: Selection) -> np.ndarray:  # noqa: ARG002 (there is only one)
        """Return a view of the mapped file."""
        import numpy as np

        return np.load(self.path, mmap_mode="r", allow_pickle=False)[selection]


@dataclass(frozen=True)
class ClassicNetCDFFile(ArrayFile):
    """NetCDF-3 file with 32-bit or 64-bit offsets, which SciPy maps into memory."""

    kind = "classic NetCDF"

    # SciPy closes a mapped file only if no variable of it is referred to, not even by a local name.

    def arrays(self) -> list[StoredArray]:
        """Return the variables."""
        with self._opened() as file:
            lines = {name for name, each in file.variables.items() if each.dimensions == (name,)}
            return [_of_variable(name, each, lines) for name, each in file.variables.items()]

    def read(self, name: str, selection: Selection) -> np.ndarray:
        """Return a copy of the values, which are big-endian."""
        with self._opened() as file:
            return file.variables[name][selection].copy()

    def _opened(self) -> Any:
        from scipy.io import netcdf_file  # type: ignore[import-untyped]

        try:
            return netcdf_file(self.path, "r", mmap=True)
        except Exception as error:
            problem = str(error)
        # Not in the except clause: the traceback would refer to variables.
        raise ValueError(problem)


def _of_variable(name: str, variable: Any, lines: set[str]) -> StoredArray:
    return StoredArray(
        name,
        variable.shape,
        variable.data.dtype,
        dims=variable.dimensions,
        attributes=dict(variable._attributes),  # noqa: SLF001 (nothing else lists them)
        coordinates={dimension: dimension for dimension in variable.dimensions if dimension in lines},
        is_coordinate=name in lines,
    )


@dataclass(frozen=True)
class HDF5File(ArrayFile):
    """HDF5 or NetCDF-4 file, through h5py."""

    kind = "HDF5"
    requires = ("h5py",)
    own_attributes = frozenset(
        "CLASS NAME DIMENSION_LIST DIMENSION_LABELS REFERENCE_LIST "
        "_Netcdf4Dimid _Netcdf4Coordinates _NCProperties _nc3_strict".split()
    )

    def arrays(self) -> list[StoredArray]:
        """Return the datasets of all groups."""
        import h5py

        found: list[h5py.Dataset] = []

        # Links to other files are not visited.
        def visit(_: str, node: h5py.Group | h5py.Dataset) -> None:
            if isinstance(node, h5py.Dataset) and node.shape is not None:
                found.append(node)

        with h5py.File(self.path, "r") as file:
            file.visititems(visit)
            for each in found:
                _check_own(self.path, each)
            return [_of_dataset(each) for each in found]

    def read(self, name: str, selection: Selection) -> np.ndarray:
        """Return the values, decompressed by hdf5plugin where that is needed."""
        import h5py

        with suppress(ImportError):  # registers its filters
            import hdf5plugin  # noqa: F401
        with h5py.File(self.path, "r") as file:
            return file[name][selection]


def _check_own(path: Path, dataset: h5py.Dataset) -> None:
    """Refuse a dataset with its values in other files, which could be any files of the user."""
    import h5py

    layout = dataset.id.get_create_plist()
    if layout.get_external_count():
        others = [layout.get_external(0)[0].decode("utf-8", "replace")]
    elif layout.get_layout() == h5py.h5d.VIRTUAL:
        parts = range(layout.get_virtual_count())
        others = [name for name in map(layout.get_virtual_filename, parts) if name != "."]
    else:
        others = []
    if others:
        problem = f"has the values of {dataset.name} in another file, {others[0][:100]!a}"
        raise InvalidDataError(path, problem, "copy them into it, e.g. by h5repack")


def _attributes_of(dataset: h5py.Dataset) -> dict[str, Any]:
    """Return attributes of numbers and text, and None for each of another type."""
    import h5py

    # h5py takes the tag of an opaque type for the name of a NumPy dtype: the bytes of a file would
    # become addresses of objects.
    plain = (h5py.h5t.INTEGER, h5py.h5t.FLOAT, h5py.h5t.STRING)
    return {
        name: dataset.attrs[name] if dataset.attrs.get_id(name).get_type().get_class() in plain else None
        for name in dataset.attrs
    }


def _of_dataset(dataset: h5py.Dataset) -> StoredArray:
    name = dataset.name.strip("/")
    scales = [dimension[0] if len(dimension) else None for dimension in dataset.dims]
    dims = [scale.name.rpartition("/")[2] if scale else "" for scale in scales]
    if dataset.is_scale and dataset.ndim == 1:
        dims = [name.rpartition("/")[2]]
    return StoredArray(
        name,
        dataset.shape,
        dataset.dtype,
        dataset.chunks,
        tuple(dims) if all(dims) else (),
        _attributes_of(dataset),
        {
            dimension: scale.name.strip("/")
            for dimension, scale in zip(dims, scales, strict=True)
            if scale and scale.ndim == 1 and not _is_bare_dimension(scale)
        },
        dataset.is_scale,
    )


def _is_bare_dimension(scale: h5py.Dataset) -> bool:
    """Return True for a dimension of NetCDF-4 without coordinates, stored as a dataset of zeros."""
    name = _attributes_of(scale).get("NAME")
    return isinstance(name, bytes) and name.startswith(b"This is a netCDF dimension but not")


@dataclass(frozen=True)
class ZarrFolder(ArrayFile):
    """Zarr array or group in a folder, format 2 or 3."""

    kind = "Zarr"
    requires = ("zarr",)
    own_attributes = frozenset({"_ARRAY_DIMENSIONS"})
    MARKS: ClassVar = ("zarr.json", ".zarray", ".zgroup", ".zmetadata")

    def arrays(self) -> list[StoredArray]:
        """Return the arrays of all groups."""
        import zarr

        check_folder(self.path)
        check_codecs(self.path)
        root = self._opened()
        if isinstance(root, zarr.Array):
            return [_of_zarr("", root, {})]
        found = {name: node for name, node in root.members(None) if isinstance(node, zarr.Array)}
        return [_of_zarr(name, node, found) for name, node in found.items()]

    def read(self, name: str, selection: Selection) -> np.ndarray:
        """Return the values; chunks that are not stored have the fill value."""
        root = self._opened()
        return (root[name] if name else root)[selection]

    def _opened(self) -> Any:
        import zarr

        # One damaged member ends the listing, and asyncio would print what the others under way raise.
        logging.getLogger("asyncio").disabled = True
        # Not by a text, which might be a URL. Consolidated metadata might name places outside.
        store = zarr.storage.LocalStore(self.path, read_only=True)
        try:
            return zarr.open_group(store, mode="r", use_consolidated=False)
        except (zarr.errors.ContainsArrayError, zarr.errors.GroupNotFoundError):
            return zarr.open_array(store, mode="r")


def _of_zarr(name: str, array: Any, others: Mapping[str, Any]) -> StoredArray:
    attributes = dict(array.attrs)
    named = getattr(array.metadata, "dimension_names", None) or attributes.get("_ARRAY_DIMENSIONS") or ()
    group, _, own = name.rpartition("/")
    beside = {dimension: f"{group}/{dimension}".strip("/") for dimension in filter(None, named)}
    return StoredArray(
        name,
        array.shape,
        array.dtype,
        array.chunks,
        tuple(named) if all(named) and len(named) == len(array.shape) else (),
        attributes,
        {key: path for key, path in beside.items() if path in others and others[path].ndim == 1},
        tuple(named) == (own,),
    )


_SIGNATURES: dict[bytes, type[ArrayFile]] = {
    b"\x93NUMPY": NPYFile,
    b"CDF\1": ClassicNetCDFFile,
    b"CDF\2": ClassicNetCDFFile,
}
# At 0, or after a block of the user's, e.g. 512 bytes of MATLAB (HDF5 file format specification, II.A).
_HDF5_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_HDF5_OFFSETS = (0, *(512 << doubling for doubling in range(7)))
_ENDINGS: dict[str, type[ArrayFile]] = {".npy": NPYFile, ".nc": ClassicNetCDFFile, ".nc4": HDF5File}
# CDF-5, which neither SciPy nor HDF5 reads.
_CDF5 = b"CDF\5"
# In the root group of all files of PyTables, through which pandas writes.
_PYTABLES = b"PYTABLES_FORMAT_VERSION"
_PANDAS = b"pandas_type"


def array_file(place: DataLocation) -> ArrayFile | None:
    """Return the file of arrays at a location; None if it contains something else.

    Raises
    ------
    InvalidDataError
        If the name says a file of arrays, but the content does not.
    """
    path = place.path
    if place.is_folder:
        is_zarr = any((path / mark).is_file() for mark in ZarrFolder.MARKS)
        return ZarrFolder(path) if is_zarr else None
    with library_errors(path, "a file"), path.open("rb") as file:
        head = file.read(2**16)
    for magic, kind in _SIGNATURES.items():
        if head.startswith(magic):
            return kind(path)
    if any(head.startswith(_HDF5_SIGNATURE, offset) for offset in _HDF5_OFFSETS):
        return None if _PYTABLES in head and _contains(path, _PANDAS) else HDF5File(path)
    if head.startswith(_CDF5):
        raise InvalidDataError(
            path, "is NetCDF of the 64-bit data format", "convert it by nccopy -k netCDF-4"
        )
    if path.suffix.lower() in _ENDINGS:
        kind = _ENDINGS[path.suffix.lower()]
        problem = "is empty" if not head else f"is {kind.kind} by its name, but not by its content"
        raise InvalidDataError(path, problem, "it may be damaged or incomplete")
    return None


def _contains(path: Path, text: bytes) -> bool:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(text) >= 0

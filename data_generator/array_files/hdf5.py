"""HDF5 and NetCDF-4 files, through h5py."""

from __future__ import annotations

import mmap
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import InvalidDataError
from data_generator.array_files._file import ArrayFile, StoredArray

if TYPE_CHECKING:
    import h5py
    import numpy as np

    from adapter_core.array_source import Selection

# At 0, or after a block of the user's, e.g. 512 bytes of MATLAB (HDF5 file format specification, II.A).
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_OFFSETS = (0, *(512 << doubling for doubling in range(7)))
# In the root group of all files of PyTables, through which pandas writes.
_PYTABLES = b"PYTABLES_FORMAT_VERSION"
_PANDAS = b"pandas_type"


class HDF5File(ArrayFile):
    """HDF5 or NetCDF-4 file, through h5py."""

    kind = "HDF5"
    endings = (".nc4",)
    requires = ("h5py",)
    own_attributes = frozenset(
        "CLASS NAME DIMENSION_LIST DIMENSION_LABELS REFERENCE_LIST "
        "_Netcdf4Dimid _Netcdf4Coordinates _NCProperties _nc3_strict".split()
    )

    @classmethod
    def recognises(cls, path: Path, head: bytes) -> bool:
        """Return True for HDF5 that pandas did not write."""
        if not any(head.startswith(_SIGNATURE, offset) for offset in _OFFSETS):
            return False
        return _PYTABLES not in head or not _contains(path, _PANDAS)

    def arrays(self) -> list[StoredArray]:
        """Return the datasets of all groups, but for dimensions without coordinates."""
        import h5py

        found: list[h5py.Dataset] = []

        # Links to other files are not visited.
        def visit(_: str, node: h5py.Group | h5py.Dataset) -> None:
            is_filled = isinstance(node, h5py.Dataset) and node.shape is not None
            if is_filled and not (node.is_scale and _is_bare_dimension(node)):
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
        _dtype_of(dataset),
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


def _dtype_of(dataset: h5py.Dataset) -> np.dtype[Any]:
    """Return the dtype, of raw bytes where NumPy has none, e.g. of integers of 24 bits."""
    import numpy as np

    try:
        return dataset.dtype
    except TypeError:
        return np.dtype((np.void, dataset.id.get_type().get_size()))


def _is_bare_dimension(scale: h5py.Dataset) -> bool:
    """Return True for a dimension of NetCDF-4 without coordinates, stored as a dataset of zeros."""
    name = _attributes_of(scale).get("NAME")
    return isinstance(name, bytes) and name.startswith(b"This is a netCDF dimension but not")


def _contains(path: Path, text: bytes) -> bool:
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return content.find(text) >= 0

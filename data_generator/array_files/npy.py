"""Files of `numpy.save`."""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from data_generator.array_files._file import ArrayFile, StoredArray

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.array_source import Selection


class NPYFile(ArrayFile):
    """File of `numpy.save`, which is mapped into memory."""

    kind = "NPY"
    endings = (".npy",)
    signatures = (b"\x93NUMPY",)

    def arrays(self) -> list[StoredArray]:
        """Return the one array."""
        with self.path.open("rb") as file:
            return [header_of("", file)]

    def read(self, name: str, selection: Selection) -> np.ndarray:  # noqa: ARG002 (there is only one)
        """Return a view of the mapped file."""
        import numpy as np

        return np.load(self.path, mmap_mode="r", allow_pickle=False)[selection]


def header_of(name: str, file: IO[bytes]) -> StoredArray:
    """Return the array that begins in an open file, named as given.

    Raises
    ------
    ValueError
        If the version of the format is unknown, or the header is damaged.
    """
    from numpy.lib import format as npy

    readers = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}
    version = npy.read_magic(file)
    if version not in readers:  # 3.0 has structured dtypes with names in Unicode
        raise ValueError(f"version {version[0]}.{version[1]} of the format is unknown")
    shape, _, dtype = readers[version](file)
    return StoredArray(name, shape, dtype)

"""Archives of `numpy.savez` and `numpy.savez_compressed`."""

from __future__ import annotations

import zipfile
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from data_generator.array_files._archive import members_of
from data_generator.array_files._file import ArrayFile, StoredArray
from data_generator.array_files.npy import header_of
from data_generator.readers._reader import check_fits

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.array_source import Selection

MEMBER = ".npy"
"""Ending of the members that are arrays; others are left alone."""


class NPZFile(ArrayFile):
    """ZIP archive of NPY files; an array is decoded as a whole, and the last one is kept."""

    kind = "NPZ"
    endings = (".npz",)

    @classmethod
    def recognises(cls, path: Path, head: bytes) -> bool:
        """Return True for an archive with an NPY file."""
        return any(name.endswith(MEMBER) for name in members_of(path, head))

    def arrays(self) -> list[StoredArray]:
        """Return the arrays of all members, from their headers."""
        found = []
        with zipfile.ZipFile(self.path) as archive:
            for name in filter(lambda each: each.endswith(MEMBER), dict.fromkeys(archive.namelist())):
                with archive.open(name) as file:
                    found.append(header_of(name.removesuffix(MEMBER), file))
        return found

    def read(self, name: str, selection: Selection) -> np.ndarray:
        """Return a view of the array; its CRC-32 has been compared."""
        return _decoded(self.path, self.path.stat().st_mtime_ns, f"{name}{MEMBER}")[selection]


# A member has no chunks: without the last array, each selection would decode the whole again.
@lru_cache(maxsize=1)
def _decoded(path: Path, changed_ns: int, member: str) -> np.ndarray:  # noqa: ARG001 (tells files apart)
    from numpy.lib import format as npy

    with zipfile.ZipFile(path) as archive:
        # What the archive declares it unpacks to, which zipfile does not exceed.
        check_fits(path, archive.getinfo(member).file_size)
        with archive.open(member) as file:
            values: np.ndarray = npy.read_array(file, allow_pickle=False)
    return values

"""Zarr arrays and groups in ZIP files, format 2 or 3."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

from data_generator.array_files._archive import SIGNATURES, members_of
from data_generator.array_files._zarr_codecs import check_codecs, metadata_in_archive
from data_generator.array_files.zarr import MARKS, ZarrFolder

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.array_source import Selection


class ZarrZip(ZarrFolder):
    """Zarr array or group in a ZIP file, at its root or in a folder that was zipped as a whole."""

    kind = "zipped Zarr"
    endings = (".zarr.zip",)

    @classmethod
    def recognises(cls, path: Path, head: bytes) -> bool:
        """Return True for an archive with metadata of Zarr."""
        return bool(_marks(members_of(path, head)))

    @classmethod
    def is_in(cls, folder: Path) -> bool:  # noqa: ARG003 (as the base class has it)
        """Return False: it is a file."""
        return False

    def read(self, name: str, selection: Selection) -> np.ndarray:
        """Return the values; chunks that are not stored have the fill value. The file is kept open."""
        root = _kept_open(self, self.path.stat().st_mtime_ns, os.getpid())
        values: np.ndarray = (root[name] if name else root)[selection]
        return values

    def _check(self) -> None:
        check_codecs(self.path, metadata_in_archive(self.path))

    def _store(self) -> Any:
        import zarr

        return zarr.storage.ZipStore(self.path, mode="r")

    def _prefix(self) -> str:
        places = {str(mark.parent) for mark in _marks(members_of(self.path, SIGNATURES[0]))}
        root = min(places, key=lambda each: (each != ".", each.count("/"), each))
        return "" if root == "." else root


# Each opening reads the whole list of members. Processes share the position in a file that is open
# when they are forked, so that each opens its own.
@lru_cache(maxsize=1)
def _kept_open(file: ZarrZip, changed_ns: int, process: int) -> Any:  # noqa: ARG001 (tell openings apart)
    return file._opened(file._store())  # noqa: SLF001 (of this module)


def _marks(names: list[str]) -> list[PurePosixPath]:
    return [path for path in map(PurePosixPath, names) if path.name in MARKS]

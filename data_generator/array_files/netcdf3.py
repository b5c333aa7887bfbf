"""Classic NetCDF files, through SciPy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import InvalidDataError
from data_generator.array_files._file import ArrayFile, StoredArray

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.array_source import Selection

# CDF-5, which neither SciPy nor HDF5 reads.
_64_BIT_DATA = b"CDF\5"


class ClassicNetCDFFile(ArrayFile):
    """NetCDF-3 file with 32-bit or 64-bit offsets, which SciPy maps into memory."""

    kind = "classic NetCDF"
    endings = (".nc",)
    signatures = (b"CDF\1", b"CDF\2")

    # SciPy closes a mapped file only if no variable of it is referred to, not even by a local name.

    @classmethod
    def recognises(cls, path: Path, head: bytes) -> bool:
        """Return True for NetCDF-3.

        Raises
        ------
        InvalidDataError
            If it is of the version with 64-bit data.
        """
        if head.startswith(_64_BIT_DATA):
            raise InvalidDataError(
                path, "is NetCDF of the 64-bit data format", "convert it by nccopy -k netCDF-4"
            )
        return super().recognises(path, head)

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

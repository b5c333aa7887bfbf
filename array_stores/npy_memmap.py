"""One NPY file, memory-mapped, through NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import ArrayReader, ArrayStore, Description, Given, Property, Snippet, Trait
from adapter_core.arrays.chunk_writing import write_flat
from adapter_core.file_facts import FileFacts

if TYPE_CHECKING:
    import numpy as np

    from adapter_core import ArraySource, Selection


class Adapter(ArrayStore):
    """One NPY file in C order; readers map it, and pages come in when their values are used.

    The file format is NEP 1's, https://numpy.org/neps/nep-0001-npy-format.html.
    """

    label = "NPY.memmap"
    suffix = ".npy"
    requires = ("numpy",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})
    keeps: ClassVar = frozenset()
    loses: ClassVar = dict.fromkeys(Property, "the file has shape and dtype alone")
    file_facts = FileFacts(version="1.0", threads="one", mapped=True)
    snippet = Snippet(
        imports="import numpy as np",
        write="np.save({path}, array)",
        read='array = np.load({path}, mmap_mode="r")',
        given=Given.WHOLE_ARRAY,
    )

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        from numpy.lib import format as npy

        with path.open("wb") as file:
            header = {"shape": source.shape, "fortran_order": False, "descr": source.dtype.str}
            npy.write_array_header_1_0(file, header)
            start = file.tell()
        write_flat(source, path, start)

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Fill a map from `numpy.lib.format.open_memmap`."""
        from numpy.lib import format as npy

        mapped = npy.open_memmap(path, "w+", source.dtype, source.shape)
        for selection, values in source:
            mapped[selection] = values

    @staticmethod
    def plain_read(path: Path) -> int:
        """Copy each row of a map."""
        import numpy as np

        mapped = np.load(path, mmap_mode="r")
        return len([row.copy() for row in mapped])


class _Reader(ArrayReader):
    maps_files = True

    def __init__(self, path: Path) -> None:
        import numpy as np

        # Empty files cannot be mapped.
        with path.open("rb") as file:
            np.lib.format.read_magic(file)
            shape, _, dtype = np.lib.format.read_array_header_1_0(file)
        self._values = np.load(path, mmap_mode=None if 0 in shape else "r")
        whole = tuple(max(1, edge) for edge in shape)
        super().__init__(Description(shape, dtype, whole))

    def _read(self, selection: Selection) -> np.ndarray:
        import numpy as np

        return np.asarray(self._values)[selection]

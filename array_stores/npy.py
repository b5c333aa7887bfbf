"""NPY files, one for each chunk, through NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import ArrayStore, Trait
from adapter_core.array_description import Description
from adapter_core.arrays.whole_chunks import WholeChunkReader
from adapter_core.files import write_atomically

if TYPE_CHECKING:
    import numpy as np

    from adapter_core import ArrayReader, ArraySource
    from adapter_core.array_source import Selection

DESCRIPTION_FILE = "array.json"


class Adapter(ArrayStore):
    """A directory of NPY files, e.g. ``0.3.1.npy`` for the chunk at (0, 3, 1), and a description.

    The file format is that of NEP 1, https://numpy.org/neps/nep-0001-npy-format.html.
    """

    label = "NPY"
    suffix = ".npys"
    requires = ("numpy",)
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND})

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        path.mkdir()
        _write_chunks(source, path, first_row=0)
        (path / DESCRIPTION_FILE).write_text(Description.of(source).to_json(), encoding="utf-8")

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    def _append(self, source: ArraySource, path: Path) -> None:
        saved = _Reader(path).description
        _write_chunks(source, path, first_row=saved.shape[0] // saved.chunks[0])
        with write_atomically(path / DESCRIPTION_FILE) as file:
            file.write_text(saved.extended(source).to_json(), encoding="utf-8")

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        """Save each chunk by `numpy.save`."""
        import numpy as np

        path.mkdir()
        for number, (_, values) in enumerate(source):
            np.save(path / f"{number}.npy", values)

    @staticmethod
    def plain_read(path: Path) -> int:
        """Read each chunk by `numpy.load`."""
        import numpy as np

        return len([np.load(file) for file in path.glob("*.npy")])


class _Reader(WholeChunkReader):
    def __init__(self, path: Path) -> None:
        self._folder = f"{path}/"
        super().__init__(Description.from_json((path / DESCRIPTION_FILE).read_bytes()))

    def _chunk(self, index: tuple[int, ...]) -> np.ndarray:
        import numpy as np

        chunk: np.ndarray = np.load(self._folder + _name(index))
        return chunk


def _write_chunks(source: ArraySource, path: Path, first_row: int) -> None:
    import numpy as np

    folder = f"{path}/"
    for selection, values in source:
        np.save(folder + _name(_index(selection, source.chunks, first_row)), values)


def _index(selection: Selection, chunks: tuple[int, ...], first_row: int) -> tuple[int, ...]:
    """Return the index in the grid of chunks, whose first row of a source is `first_row`."""
    index = [each.start // chunk for each, chunk in zip(selection, chunks, strict=True)]
    return tuple([index[0] + first_row, *index[1:]] if index else index)


def _name(index: tuple[int, ...]) -> str:
    return f"{'.'.join(map(str, index)) or '0'}.npy"

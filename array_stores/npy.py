"""NPY files, one for each chunk, through NumPy."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import Appendable, Trait
from adapter_core.arrays import chunk_codecs
from adapter_core.arrays.encoded import EncodedStore, StoredDescription, chunk_index, chunk_name
from adapter_core.arrays.whole_chunks import WholeChunkReader
from adapter_core.file_facts import FileFacts
from adapter_core.files import write_atomically

if TYPE_CHECKING:
    import numpy as np

    from adapter_core import ArrayReader, ArraySource

DESCRIPTION_FILE = "array.json"


class Adapter(EncodedStore, Appendable):
    """A directory of NPY files, e.g. ``0.3.1.npy`` for the chunk at (0, 3, 1), and a description.

    The file format is NEP 1's, https://numpy.org/neps/nep-0001-npy-format.html. With a codec, a
    file consists of the compressed values alone.
    """

    label = "NPY"
    file_facts = FileFacts(version="1.0", threads="one")
    suffix = ".npys"
    requires = ("blosc2", "fpzip", "lz4", "numcodecs", "numpy", "openzl", "pcodec", "zstandard")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.APPEND})

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        path.mkdir()
        _write_chunks(source, path, 0, codec, level, checksum=self.uses_checksums)
        stored = StoredDescription.of_source(source, codec, level)
        (path / DESCRIPTION_FILE).write_text(stored.to_json(), encoding="utf-8")

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    def _append(self, source: ArraySource, path: Path) -> None:
        saved = _Reader(path).stored
        first_row = saved.array.shape[0] // saved.array.chunks[0]
        checksum = self.uses_checksums
        _write_chunks(source, path, first_row, saved.codec, saved.level, checksum=checksum)
        with write_atomically(path / DESCRIPTION_FILE) as file:
            extended = replace(saved, array=saved.array.extended(source))
            file.write_text(extended.to_json(), encoding="utf-8")

    def _first_chunk(self, path: Path) -> tuple[str | None, bytes]:
        reader = _Reader(path)
        first = (0,) * len(reader.shape)
        return reader.stored.codec, Path(reader.folder + chunk_name(first)).read_bytes()

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        import numpy as np

        path.mkdir()
        for number, (_, values) in enumerate(source):
            np.save(path / f"{number}.npy", values)

    @staticmethod
    def plain_read(path: Path) -> int:
        import numpy as np

        return len([np.load(file).size for file in path.glob("*.npy")])


class _Reader(WholeChunkReader):
    def __init__(self, path: Path) -> None:
        self.folder = f"{path}/"
        self.stored = StoredDescription.from_json((path / DESCRIPTION_FILE).read_bytes())
        super().__init__(self.stored.array)

    def _chunk(self, index: tuple[int, ...]) -> np.ndarray:
        import numpy as np

        name = self.folder + chunk_name(index)
        if self.stored.codec is None:
            chunk: np.ndarray = np.load(name)
            return chunk
        with open(name, "rb") as file:  # noqa: PTH123 (once a chunk)
            data = file.read()
        return chunk_codecs.decode(data, self.stored.codec, self.dtype, self.chunk_shape(index))


def _write_chunks(  # noqa: PLR0913 (the options of a file)
    source: ArraySource,
    path: Path,
    first_row: int,
    codec: str | None,
    level: int | None,
    *,
    checksum: bool,
) -> None:
    import numpy as np

    folder = f"{path}/"
    for selection, values in source:
        name = folder + chunk_name(chunk_index(selection, source.chunks, first_row))
        if codec is None:
            np.save(name, values)
        else:
            with open(name, "wb") as file:  # noqa: PTH123 (once a chunk)
                file.write(chunk_codecs.encode(values, codec, level, checksum=checksum))

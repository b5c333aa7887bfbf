"""A tar archive of NPY files with an index of its own."""

from __future__ import annotations

import io
import math
import os
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, ClassVar

from adapter_core import Trait
from adapter_core.array_source import grid_of
from adapter_core.arrays import chunk_codecs
from adapter_core.arrays.encoded import EncodedStore, StoredDescription, chunk_index, chunk_name
from adapter_core.arrays.whole_chunks import WholeChunkReader
from adapter_core.file_facts import FileFacts

if TYPE_CHECKING:
    import numpy as np

    from adapter_core import ArrayReader, ArraySource

DESCRIPTION_MEMBER = "array.json"
INDEX_MEMBER = "index.bin"


class Adapter(EncodedStore):
    """A tar archive: a description, an index, and an NPY file for each chunk.

    The format has no index, and a reader would have to follow all headers to find a chunk. The member
    ``index.bin`` has offset and size in bytes of the values of each chunk in C order, as pairs of
    little-endian 64-bit integers; it is filled in last. With a codec, a member consists of the
    compressed values alone. The archive is in the POSIX format ustar.
    """

    label = "NPY.tar"
    file_facts = FileFacts(silent="it is an archive of a file for each chunk", threads="one")
    suffix = ".tar"
    requires = ("blosc2", "fpzip", "lz4", "numcodecs", "numpy", "openzl", "pcodec", "zstandard")
    traits: ClassVar = frozenset({Trait.SAFE, Trait.PORTABLE, Trait.SINGLE_FILE})

    def _save(
        self, source: ArraySource, path: Path, codec: str | None = None, level: int | None = None
    ) -> None:
        import numpy as np

        index = np.zeros((math.prod(grid_of(source.shape, source.chunks)), 2), "<i8")
        stored = StoredDescription.of_source(source, codec, level)
        with path.open("wb") as file:
            _add(file, DESCRIPTION_MEMBER, stored.to_json().encode())
            index_start = _add(file, INDEX_MEMBER, index.tobytes())
            for number, (selection, values) in enumerate(source):
                name = chunk_name(chunk_index(selection, source.chunks))
                if codec is None:
                    start = _add(file, name, values.reshape(-1).view("u1").data, _npy_header(values))
                    index[number] = start, values.nbytes
                else:
                    data = chunk_codecs.encode(values, codec, level, checksum=self.uses_checksums)
                    index[number] = _add(file, name, data), len(data)
            file.write(bytes(2 * tarfile.BLOCKSIZE))
            file.seek(index_start)
            file.write(index.tobytes())

    def _open(self, path: Path) -> ArrayReader:
        return _Reader(path)

    def _first_chunk(self, path: Path) -> tuple[str | None, bytes]:
        with _Reader(path) as reader:
            start, size = reader.places[0].tolist()
            return reader.stored.codec, os.pread(reader.file.fileno(), size, start)

    @staticmethod
    def plain_save(source: ArraySource, path: Path) -> None:
        import numpy as np

        with tarfile.open(path, "w") as archive:
            for number, (_, values) in enumerate(source):
                file = io.BytesIO()
                np.save(file, values)
                info = tarfile.TarInfo(f"{number}.npy")
                info.size = file.tell()
                file.seek(0)
                archive.addfile(info, file)

    @staticmethod
    def plain_read(path: Path) -> int:
        import numpy as np

        count = 0
        with tarfile.open(path) as archive:
            for member in archive:
                file = archive.extractfile(member)
                if file is not None and member.name.endswith(".npy"):
                    count += bool(np.load(io.BytesIO(file.read())).size)
        return count


class _Reader(WholeChunkReader):
    def __init__(self, path: Path) -> None:
        import numpy as np

        with tarfile.open(path) as archive:
            description, index = (_content(archive) for _ in range(2))
        self.stored = StoredDescription.from_json(description)
        super().__init__(self.stored.array)
        self.places = np.frombuffer(index, "<i8").reshape(-1, 2)
        end = int(self.places.sum(axis=1).max(initial=0))
        if path.stat().st_size < end + 2 * tarfile.BLOCKSIZE:
            raise ValueError(f"{path.name}: the archive is truncated")
        self.file = path.open("rb", buffering=0)

    def _chunk(self, index: tuple[int, ...]) -> np.ndarray:
        import numpy as np

        start, size = self.places[self.chunk_number(index)].tolist()
        shape = self.chunk_shape(index)
        if self.stored.codec is None:
            self.file.seek(start)
            chunk = np.empty(shape, self.dtype)
            if self.file.readinto(chunk.reshape(-1).view(np.uint8).data) != size:
                raise ValueError(f"the chunk at {index} is truncated")
            return chunk
        data = os.pread(self.file.fileno(), size, start)
        return chunk_codecs.decode(data, self.stored.codec, self.dtype, shape)

    def close(self) -> None:
        self.file.close()


def _add(file: BinaryIO, name: str, data: bytes | memoryview, header: bytes = b"") -> int:
    """Append a member; return the offset of the data, without the header of an NPY file."""
    info = tarfile.TarInfo(name)
    info.size = len(header) + len(data)
    file.write(info.tobuf(tarfile.USTAR_FORMAT))
    file.write(header)
    start = file.tell()
    file.write(data)
    file.write(bytes(-info.size % tarfile.BLOCKSIZE))
    return start


def _npy_header(values: np.ndarray) -> bytes:
    from numpy.lib import format as npy

    file = io.BytesIO()
    npy.write_array_header_1_0(file, npy.header_data_from_array_1_0(values))
    return file.getvalue()


def _content(archive: tarfile.TarFile) -> bytes:
    """Return the content of the next member."""
    member = archive.next()
    file = archive.extractfile(member) if member else None
    if file is None:
        raise ValueError("the archive has no description or no index")
    return file.read()

"""RocksDB through rocksdict."""

from __future__ import annotations

import struct
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import Given, ImageReader, ImageStorage, Snippet
from adapter_core.file_facts import FileFacts
from adapter_core.image_shapes import shape_row
from adapter_core.images.packed import none_larger

if TYPE_CHECKING:
    import numpy as np
    import rocksdict

    from adapter_core.image_input import CheckedImages

KEY = struct.Struct(">I")  # big-endian, since keys are sorted by their bytes

HEAD = struct.Struct("<4I")
"""Height, width, channels and label, before the pixels in each value."""

# Size of the largest image, see https://github.com/facebook/rocksdb/wiki/RocksDB-FAQ
MOST_BYTES = 3 * 2**30

# RocksDB's default size of files, `target_file_size_base`.
FILE_BYTES = 64 * 2**20

# RocksDB's own read-ahead ends at 256 KiB (`max_auto_readahead_size`). Chosen, not measured.
READ_AHEAD_BYTES = 2 * 2**20


class Adapter(ImageStorage):
    """A RocksDB database (a directory) of shape, label and pixels by the number of the image.

    Since keys come in order, they are written into sorted tables, which the database ingests without a
    journal, without sorting them in memory, and without merging them on disk later:
    https://github.com/facebook/rocksdb/wiki/Creating-and-Ingesting-SST-files. Keys and values are plain
    bytes (raw mode); otherwise rocksdict may unpickle them.
    """

    label = "RocksDB"
    suffix = ".rocksdb"
    requires = ("rocksdict",)
    file_facts = FileFacts(silent="its options are in a file that its library alone reads")
    snippet = Snippet(
        imports="import struct\n\nimport numpy as np\nimport rocksdict",
        write="""
            options = rocksdict.Options(raw_mode=True)
            options.set_compression_type(rocksdict.DBCompressionType.none())
            database = rocksdict.Rdict({path}, options)
            for index, (image, label) in enumerate(zip(images, labels.tolist())):
                head = struct.pack("<4I", *(*image.shape, 0)[:3], label)
                database[index.to_bytes(4, "big")] = head + image.tobytes()
            database.close()
        """,
        read="""
            options = rocksdict.Options(raw_mode=True)
            read_only = rocksdict.AccessType.read_only()
            database = rocksdict.Rdict({path}, options, access_type=read_only)
            values = list(database.values())
            database.close()
            heads = [struct.unpack_from("<4I", value) for value in values]
            labels = np.array([head[3] for head in heads])
            images = [
                np.frombuffer(value, "uint8", offset=16).reshape(head[: 3 if head[2] else 2])
                for value, head in zip(values, heads)
            ]
        """,
        given=Given.IMAGES,
    )

    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        import rocksdict

        options = _options()
        path.mkdir()
        tables: list[str] = []
        writer, filled = None, 0
        for index, image in enumerate(none_larger(images, MOST_BYTES, self.refusal)):
            if writer is None:
                tables.append(str(path / f"new{len(tables)}.sst"))
                writer, filled = rocksdict.SstFileWriter(options), 0
                writer.open(tables[-1])
            head = HEAD.pack(*shape_row(image), labels[index])
            writer[KEY.pack(index)] = b"".join((head, image.data))
            filled += image.nbytes
            if filled >= FILE_BYTES:
                writer.finish()
                writer = None
        if writer is not None:
            writer.finish()
        with closing(rocksdict.Rdict(str(path), options)) as database:
            if tables:
                moving = rocksdict.IngestExternalFileOptions()
                moving.set_move_files(True)
                database.ingest_external_file(tables, moving)

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        import numpy as np
        import rocksdict

        images, labels = [], []
        options = rocksdict.ReadOptions()
        # Each value is read once, without a cache; rocksdict's types lack this argument.
        options.fill_cache(False)  # type: ignore[call-arg]  # noqa: FBT003
        options.set_readahead_size(READ_AHEAD_BYTES)
        with closing(_opened(path)) as database:
            for value in database.values(read_opt=options):
                image, label = _image_and_label(value)
                images.append(image)
                labels.append(label)
        return images, np.array(labels, np.int64)

    def _open(self, path: Path) -> ImageReader:
        return _RocksDBReader(_opened(path))


class _RocksDBReader(ImageReader):
    def __init__(self, database: rocksdict.Rdict) -> None:
        # rocksdict has types for its other mode only.
        self._database: Any = database
        last: Any = next(iter(database.keys(backwards=True)), None)
        super().__init__(0 if last is None else KEY.unpack(last)[0] + 1)

    def _get(self, index: int) -> tuple[np.ndarray, int]:
        return _image_and_label(self._database[KEY.pack(index)])

    def _get_many(self, indices: list[int]) -> tuple[list[np.ndarray], np.ndarray]:
        import numpy as np

        values = self._database.get([KEY.pack(index) for index in indices])
        found = [_image_and_label(value) for value in values]
        return [image for image, _ in found], np.array([label for _, label in found], np.int64)

    def close(self) -> None:
        """Close the database."""
        self._database.close()


def _options() -> rocksdict.Options:
    import rocksdict

    options = rocksdict.Options(raw_mode=True)
    options.set_compression_type(rocksdict.DBCompressionType.none())
    return options


def _opened(path: Path) -> rocksdict.Rdict:
    import rocksdict

    return rocksdict.Rdict(str(path), _options(), access_type=rocksdict.AccessType.read_only())


def _image_and_label(value: bytes) -> tuple[np.ndarray, int]:
    import numpy as np

    height, width, channels, label = HEAD.unpack_from(value)
    shape = (height, width, channels) if channels else (height, width)
    return np.ndarray(shape, np.uint8, value, HEAD.size), label

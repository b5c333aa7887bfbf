"""TFRecord files of tf.train.Example messages, without TensorFlow."""

from __future__ import annotations

from contextlib import ExitStack
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import ImageReader, ImageStorage
from adapter_core.images.packed import none_larger
from adapter_core.images.shards import BUFFER_BYTES, Shard, read_index, write_index, write_shards
from adapter_core.images.tfrecord import (
    FRAME_BYTES,
    MOST_BYTES,
    SUM_BYTES,
    message_length,
    record,
    sample,
)

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_input import CheckedImages


class Adapter(ImageStorage):
    """A directory of TFRecord files, 000000.tfrecord and so on, and index.json.

    A record is a tf.train.Example of three features: `label` and `shape` as integers, and `image`, the
    pixels as bytes, for `tf.io.parse_single_example` and `tf.io.decode_raw`. Both checksums of a record
    are checked on reading.

    A TFRecord file may end after any record. Hence index.json lists the files with their sizes and
    numbers of records, in the layout of WebDataset's library wids.

    Format: https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details
    """

    label = "TFRecord"
    suffix = ".tfrecords"
    requires = ("google-crc32c",)
    modules: ClassVar = {"google-crc32c": "google_crc32c"}

    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        path.mkdir()
        pairs = zip(none_larger(images, MOST_BYTES, self.refusal), labels.tolist(), strict=True)
        shards = write_shards(path, ".tfrecord", (record(image, label) for image, label in pairs))
        write_index(path, shards)

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        import numpy as np

        images, labels = [], []
        for shard in read_index(path):
            with shard.path.open("rb", buffering=BUFFER_BYTES) as file:
                frame = file.read(FRAME_BYTES)
                for _ in range(shard.samples):
                    message = file.read(message_length(frame))
                    # One call reads the checksum of this record and the frame of the next one.
                    rest = file.read(SUM_BYTES + FRAME_BYTES)
                    frame = rest[SUM_BYTES:]
                    image, label = sample(message, rest[:SUM_BYTES])
                    images.append(image)
                    labels.append(label)
            if frame:
                raise ValueError(f"{shard.path} does not end after {shard.samples} records")
        return images, np.array(labels, np.int64)

    def _open(self, path: Path) -> ImageReader:
        return _Reader(read_index(path))


class _Reader(ImageReader):
    """Keeps the files mapped, and the positions of the records in memory."""

    def __init__(self, shards: list[Shard]) -> None:
        self._positions: list[tuple[mmap, int, int]] = []
        with ExitStack() as opened:
            for shard in shards:
                if shard.samples == 0:
                    continue  # an empty file cannot be mapped
                with shard.path.open("rb") as file:
                    mapped = opened.enter_context(mmap(file.fileno(), 0, access=ACCESS_READ))
                begin = 0
                for _ in range(shard.samples):
                    length = message_length(mapped[begin : begin + FRAME_BYTES])
                    self._positions.append((mapped, begin + FRAME_BYTES, begin + FRAME_BYTES + length))
                    begin += FRAME_BYTES + length + SUM_BYTES
            self._opened = opened.pop_all()
        super().__init__(len(self._positions))

    def _get(self, index: int) -> tuple[np.ndarray, int]:
        mapped, begin, end = self._positions[index]
        return sample(mapped[begin:end], mapped[end : end + SUM_BYTES])

    def close(self) -> None:
        self._positions = []
        self._opened.close()

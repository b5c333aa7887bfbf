"""TFRecord files of tf.train.Example messages, without TensorFlow."""

from __future__ import annotations

import json
from contextlib import ExitStack
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core.image_reader import ImageReader
from adapter_core.image_storage import ImageStorage
from adapter_core.images.packed import none_larger
from adapter_core.images.shards import BUFFER_BYTES, Shard, checked, described, write_shards
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

INDEX = "index.json"


class Adapter(ImageStorage):
    """A directory of TFRecord files, 000000.tfrecord and so on, and index.json.

    A record is a tf.train.Example of three features: `label` and `shape`, which are integers, and
    `image`, the pixels as bytes, so that `tf.io.parse_single_example` and `tf.io.decode_raw` read it.
    Both checksums of a record are checked on reading.

    A TFRecord file may end after any record. So index.json lists the files, with their sizes and numbers
    of records, in the way of WebDataset's library wids.

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
        index = {"shardlist": described(shards)}
        (path / INDEX).write_text(json.dumps(index), encoding="utf-8")

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        import numpy as np

        images, labels = [], []
        for shard in _shards(path):
            with shard.path.open("rb", buffering=BUFFER_BYTES) as file:
                frame = file.read(FRAME_BYTES)
                for _ in range(shard.samples):
                    message = file.read(message_length(frame))
                    # The next record's frame is read with this one's sum.
                    rest = file.read(SUM_BYTES + FRAME_BYTES)
                    frame = rest[SUM_BYTES:]
                    image, label = sample(message, rest[:SUM_BYTES])
                    images.append(image)
                    labels.append(label)
            if frame:
                raise ValueError(f"{shard.path} goes on after {shard.samples} records")
        return images, np.array(labels, np.int64)

    def _open(self, path: Path) -> ImageReader:
        return _Reader(_shards(path))


class _Reader(ImageReader):
    """Keeps the files mapped, and the records' places in memory."""

    def __init__(self, shards: list[Shard]) -> None:
        self._places: list[tuple[mmap, int, int]] = []
        with ExitStack() as opened:
            for shard in shards:
                if shard.samples == 0:
                    continue  # an empty file cannot be mapped
                with shard.path.open("rb") as file:
                    mapped = opened.enter_context(mmap(file.fileno(), 0, access=ACCESS_READ))
                begin = 0
                for _ in range(shard.samples):
                    length = message_length(mapped[begin : begin + FRAME_BYTES])
                    self._places.append((mapped, begin + FRAME_BYTES, begin + FRAME_BYTES + length))
                    begin += FRAME_BYTES + length + SUM_BYTES
            self._opened = opened.pop_all()
        super().__init__(len(self._places))

    def _get(self, index: int) -> tuple[np.ndarray, int]:
        mapped, begin, end = self._places[index]
        return sample(mapped[begin:end], mapped[end : end + SUM_BYTES])

    def close(self) -> None:
        self._places = []
        self._opened.close()


def _shards(path: Path) -> list[Shard]:
    return checked(path, json.loads((path / INDEX).read_text(encoding="utf-8"))["shardlist"])

"""TFRecord files of tf.train.Example messages, without TensorFlow.

The messages have one simple form and are built here: the protobuf package would copy the pixels twice on
saving and once on reading. Formats:
https://www.tensorflow.org/tutorials/load_data/tfrecord#tfrecords_format_details,
https://protobuf.dev/programming-guides/encoding/ and
https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/example/feature.proto
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from contextlib import ExitStack
from functools import lru_cache
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core import ImageReader, ImageStorage
from adapter_core.file_facts import FileFacts
from adapter_core.images.packed import none_larger
from adapter_core.images.shards import BUFFER_BYTES, Shard, read_index, write_index, write_shards
from adapter_core.tfrecord_frames import frame_of, masked

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_input import CheckedImages

# Size of the largest image. A message has less than 2 GiB:
# https://protobuf.dev/programming-guides/proto-limits/#total
MOST_BYTES = 2**31 - 2**10

# Bytes before a message: its length, and the checksum of the length.
FRAME_BYTES = 12

# The masked CRC-32C after a message: https://www.tensorflow.org/tutorials/load_data/tfrecord
SUM_BYTES = 4

_VARINT = rb"[\x80-\xff]*[\x00-\x7f]"
# Matches the results of `_head`.
_HEAD = re.compile(
    rb"\x0aV\x0aV\x0a\x05label\x12V\x1aV\x0aV(V)\x0aV\x0a\x05shape\x12V\x1aV\x0aV(V{2,3})"
    rb"\x0aV\x0a\x05image\x12V\x0aV\x0aV".replace(b"V", rb"(?:%b)" % _VARINT)
)


class Adapter(ImageStorage):
    """A directory of TFRecord files, 000000.tfrecord and so on, and index.json.

    A record is a tf.train.Example of three features: `label` and `shape` as integers, and `image`, the
    pixels as bytes, for `tf.io.parse_single_example` and `tf.io.decode_raw`. Both checksums of a record
    are checked on reading.

    A TFRecord file may end after any record. Hence index.json lists the files with their sizes and
    numbers of records, in the layout of WebDataset's library wids.
    """

    label = "TFRecord"
    suffix = ".tfrecords"
    requires = ("google-crc32c",)
    modules: ClassVar = {"google-crc32c": "google_crc32c"}
    file_facts = FileFacts(silent="it is a stream of values without a header")
    snippet = (
        "it encodes the records itself, without TensorFlow, whose tf.io.TFRecordWriter makes such files"
    )

    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        path.mkdir()
        pairs = zip(none_larger(images, MOST_BYTES, self.refusal), labels.tolist(), strict=True)
        shards = write_shards(path, ".tfrecord", (_record(image, label) for image, label in pairs))
        write_index(path, shards)

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        import numpy as np

        images, labels = [], []
        for shard in read_index(path):
            with shard.path.open("rb", buffering=BUFFER_BYTES) as file:
                frame = file.read(FRAME_BYTES)
                for _ in range(shard.samples):
                    message = file.read(_message_length(frame))
                    # One call reads the checksum of this record and the frame of the next one.
                    rest = file.read(SUM_BYTES + FRAME_BYTES)
                    frame = rest[SUM_BYTES:]
                    image, label = _sample(message, rest[:SUM_BYTES])
                    images.append(image)
                    labels.append(label)
            if frame:
                raise ValueError(f"{shard.path} does not end after {shard.samples} records")
        return images, np.array(labels, np.int64)

    def _open(self, path: Path) -> ImageReader:
        return _TFRecordReader(read_index(path))


class _TFRecordReader(ImageReader):
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
                    length = _message_length(mapped[begin : begin + FRAME_BYTES])
                    self._positions.append((mapped, begin + FRAME_BYTES, begin + FRAME_BYTES + length))
                    begin += FRAME_BYTES + length + SUM_BYTES
            self._opened = opened.pop_all()
        super().__init__(len(self._positions))

    def _get(self, index: int) -> tuple[np.ndarray, int]:
        mapped, begin, end = self._positions[index]
        return _sample(mapped[begin:end], mapped[end : end + SUM_BYTES])

    def close(self) -> None:
        self._positions = []
        self._opened.close()


def _record(image: np.ndarray, label: int) -> tuple[bytes, memoryview, bytes]:
    """Return a record in three pieces, with the pixels as the second."""
    import google_crc32c

    head = _head(label, image.shape)
    checksum = google_crc32c.extend(google_crc32c.value(head), image)
    return frame_of(len(head) + image.nbytes) + head, image.data, masked(checksum)


def _sample(message: bytes, checksum: bytes) -> tuple[np.ndarray, int]:
    """Return the image and the label of a record."""
    import google_crc32c
    import numpy as np

    head = _HEAD.match(message)
    if checksum != masked(google_crc32c.value(message)) or head is None:
        raise ValueError("a TFRecord file is damaged: a record does not match its checksum")
    image = np.frombuffer(message, np.uint8, offset=head.end()).reshape(_integers(head[2]))
    return image, _integers(head[1])[0]


def _message_length(frame: bytes) -> int:
    """Return the length of the message that follows a frame."""
    length = int.from_bytes(frame[:8], "little")
    if frame != frame_of(length):
        raise ValueError("a TFRecord file is damaged: a record does not start at its offset")
    return length


@lru_cache(4096)
def _head(label: int, shape: tuple[int, ...]) -> bytes:
    """Return an Example up to the pixels, which are its end."""
    pixels = math.prod(shape)
    values = b"\x0a" + _varint(pixels)
    kind = b"\x0a" + _varint(len(values) + pixels) + values
    entry = b"\x0a\x05image\x12" + _varint(len(kind) + pixels) + kind
    features = _feature(b"label", [label]) + _feature(b"shape", shape)
    features += b"\x0a" + _varint(len(entry) + pixels) + entry
    return b"\x0a" + _varint(len(features) + pixels) + features


def _feature(name: bytes, integers: Iterable[int]) -> bytes:
    """Return one entry of the features, a list of integers."""
    values = _delimited(b"\x0a", b"".join(map(_varint, integers)))
    return _delimited(
        b"\x0a", _delimited(b"\x0a", name) + _delimited(b"\x12", _delimited(b"\x1a", values))
    )


def _delimited(tag: bytes, data: bytes) -> bytes:
    return tag + _varint(len(data)) + data


def _varint(number: int) -> bytes:
    """Return a number in seven bits a byte, lowest first; all but the last have the eighth bit."""
    found = bytearray()
    while number >= 1 << 7:
        found.append(number & 127 | 128)
        number >>= 7
    found.append(number)
    return bytes(found)


@lru_cache(4096)
def _integers(varints: bytes) -> list[int]:
    numbers, number, bits = [], 0, 0
    for byte in varints:
        number |= (byte & 127) << bits
        bits += 7
        if byte < 1 << 7:
            numbers.append(number)
            number = bits = 0
    return numbers

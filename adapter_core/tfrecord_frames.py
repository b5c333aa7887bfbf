"""Frames of TFRecord files: https://www.tensorflow.org/tutorials/load_data/tfrecord."""

from __future__ import annotations

import struct
from functools import lru_cache


def masked(checksum: int) -> bytes:
    """Return a checksum in TFRecord's form, which differs from a checksum of checksums."""
    rotated = checksum >> 15 | checksum << 17
    return struct.pack("<I", (rotated + 0xA282EAD8) & 0xFFFFFFFF)


# Messages of a file have few lengths.
@lru_cache(4096)
def frame_of(length: int) -> bytes:
    """Return the bytes before a message: its length, and the checksum of the length."""
    import google_crc32c

    number = struct.pack("<Q", length)
    return number + masked(google_crc32c.value(number))

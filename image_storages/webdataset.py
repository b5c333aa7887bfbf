"""WebDataset: tar archives of samples."""

from __future__ import annotations

import math
from functools import lru_cache
from pathlib import Path
from tarfile import BLOCKSIZE, USTAR_FORMAT, TarInfo
from typing import TYPE_CHECKING

from adapter_core import ImageReader, ImageStorage
from adapter_core.file_facts import FileFacts
from adapter_core.images.npy import HEADER_BYTES, header, image_in, shape_in
from adapter_core.images.packed import none_larger
from adapter_core.images.readers import PlacedReader
from adapter_core.images.shards import BUFFER_BYTES, read_index, write_index, write_shards

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_input import CheckedImages

# Size of the largest image. Sizes have eleven octal digits:
# https://pubs.opengroup.org/onlinepubs/9799919799/utilities/pax.html#tag_20_94_13_06
MOST_BYTES = 8**11 - 1 - HEADER_BYTES

# Bytes before an image's file: the header of the label's file, the label, the image's header.
HEAD_BYTES = 3 * BLOCKSIZE

_END = bytes(2 * BLOCKSIZE)  # end of an archive

# Fields of a header: the name, the size, and the sum of its bytes.
_NAME, _SIZE, _SUM = slice(0, 100), slice(124, 135), slice(148, 156)


class Adapter(ImageStorage):
    """A directory of tar archives, 000000.tar and so on, and index.json.

    A sample is two members of an archive, the label as text and the image as a .npy file, 000000000.cls
    and 000000000.npy: `webdataset.TarWriter` writes the same, and `webdataset.WebDataset` decodes them
    by their extensions (https://github.com/webdataset/webdataset#the-webdataset-format). index.json
    lists the archives with their sizes and numbers of samples, in the layout of the wids library, hence
    a missing archive is noticed. Tar has no checksum of the pixels.

    The headers of members and of .npy files are derived from one that tarfile or NumPy made. With small
    images, TarWriter takes many times as long to write, and tarfile to read.
    """

    label = "WebDataset"
    suffix = ".wds"
    requires = ("numpy",)
    file_facts = FileFacts(silent="it is an archive of the files of images")
    snippet = (
        "it writes the headers of the archive itself, for speed; webdataset.ShardWriter writes such "
        "shards"
    )

    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        path.mkdir()
        pairs = zip(none_larger(images, MOST_BYTES, self.refusal), labels.tolist(), strict=True)
        samples = (_members(number, image, label) for number, (image, label) in enumerate(pairs))
        shards = write_shards(path, ".tar", samples, _END)
        write_index(path, shards, __kind__="wids-shard-index-v1", wids_version=1)

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        import numpy as np

        images, labels = [], []
        for shard in read_index(path):
            with shard.path.open("rb", buffering=BUFFER_BYTES) as file:
                head = file.read(HEAD_BYTES)
                for _ in range(shard.samples):
                    label, size = _sample(head)
                    labels.append(label)
                    images.append(image_in(file.read(size)))
                    padding = -size % BLOCKSIZE
                    head = file.read(padding + HEAD_BYTES)[padding:]
            if head != _END:
                raise ValueError(f"{shard.path} does not end after {shard.samples} samples")
        return images, np.array(labels, np.int64)

    def _open(self, path: Path) -> ImageReader:
        import numpy as np

        shards = read_index(path)
        positions = []
        for number, shard in enumerate(shards):
            with shard.path.open("rb", buffering=0) as file:
                begin = 0
                for _ in range(shard.samples):
                    file.seek(begin)
                    start = file.read(HEAD_BYTES + HEADER_BYTES)
                    label, size = _sample(start[:HEAD_BYTES])
                    shape = shape_in(start[HEAD_BYTES:])
                    if size != HEADER_BYTES + math.prod(shape):
                        raise ValueError(f"{shard.path}: an image of shape {shape} has {size} bytes")
                    positions.append(
                        (number, begin + len(start), *shape, *[0] * (3 - len(shape)), label)
                    )
                    begin += HEAD_BYTES + size + -size % BLOCKSIZE
        return PlacedReader(
            [shard.path for shard in shards], np.array(positions, np.int64).reshape(len(positions), 6)
        )


def _members(number: int, image: np.ndarray, label: int) -> tuple[bytes, memoryview, bytes]:
    """Return both members of a sample in three pieces, with the pixels as the second."""
    key, text, size = f"{number:09d}", b"%d" % label, HEADER_BYTES + image.nbytes
    before = _tar_header(f"{key}.cls", len(text)) + text.ljust(BLOCKSIZE, b"\0")
    before += _tar_header(f"{key}.npy", size) + header(image.shape)
    return before, image.data, bytes(-size % BLOCKSIZE)


def _tar_header(name: str, size: int) -> bytes:
    """Return the header of a member."""
    between, end, total = _header_without_name(size)
    letters = name.encode("ascii")
    return b"%b%b%06o\0 %b" % (letters.ljust(_NAME.stop, b"\0"), between, total + sum(letters), end)


@lru_cache
def _header_without_name(size: int) -> tuple[bytes, bytes, int]:
    """Return the header of a nameless member before and after its sum, and the sum."""
    info = TarInfo()
    info.size = size
    block = info.tobuf(USTAR_FORMAT)
    return block[_NAME.stop : _SUM.start], block[_SUM.stop :], int(block[_SUM].rstrip(b"\0 "), 8)


def _sample(head: bytes) -> tuple[int, int]:
    """Return the label, and the size of the image's file, from the bytes before it."""
    # The sums of the headers are not checked: names, size, shape and the next header prove more.
    key, ending = head[_NAME].rstrip(b"\0")[:-4], head[_NAME].rstrip(b"\0")[-4:]
    second = head[2 * BLOCKSIZE :]
    if len(head) != HEAD_BYTES or ending != b".cls" or second[_NAME].rstrip(b"\0") != key + b".npy":
        raise ValueError("a shard is cut short or damaged: a sample does not start at its offset")
    return int(head[BLOCKSIZE : BLOCKSIZE + int(head[_SIZE], 8)]), int(second[_SIZE], 8)

"""HDF5 through h5py, in chunks of images."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core import Given, ImageReader, ImageStorage, Snippet
from adapter_core.file_facts import FileFacts

if TYPE_CHECKING:
    import h5py
    import numpy as np

    from adapter_core.image_input import CheckedImages

# Largest size of a chunk with more than one image. The default cache of other readers does not take
# larger chunks: https://docs.h5py.org/en/stable/high/file.html#chunk-cache
CHUNK_BYTES = 2**20

# HDF5 reads only the requested bytes of uncompressed chunks that are not in its cache.
NO_CHUNK_CACHE = 0


class Adapter(ImageStorage):
    """One HDF5 file: all images as one dataset (images, height, width[, channels]), and `labels`.

    A chunk contains whole images. With one image in each, finding the chunks takes longer than reading
    them; chunks beyond 1 MiB bring no further gain. The images are spread evenly over the fewest chunks,
    since HDF5 stores the last one whole, too. Chunks are written directly, without HDF5's selections:
    https://docs.h5py.org/en/stable/low_level.html
    """

    label = "HDF5.chunked"
    suffix = ".h5"
    requires = ("h5py",)
    equal_shapes_only = True
    file_facts = FileFacts(version="superblock 0", threads="one")
    snippet = Snippet(
        imports="import h5py\nimport numpy as np",
        write="""
            with h5py.File({path}, "w") as file:
                count = max(1, min(len(images), 2**20 // images[0].nbytes))  # chunks of about 1 MiB
                chunks = (count, *images[0].shape)
                file.create_dataset("images", data=np.stack(images), chunks=chunks)
                file["labels"] = labels
        """,
        read="""
            with h5py.File({path}, rdcc_nbytes=0) as file:
                images, labels = list(file["images"][()]), file["labels"][()]
        """,
        given=Given.IMAGES,
    )

    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        import h5py
        import numpy as np

        count = len(images)
        with h5py.File(path, "w") as file:
            file["labels"] = labels
            if not count:
                file["images"] = np.empty(0, np.uint8)
            chunk = np.empty(0, np.uint8)
            for index, image in enumerate(images):
                if not index:
                    chunk = np.zeros((images_a_chunk(count, image.nbytes), *image.shape), np.uint8)
                    dataset = file.create_dataset(
                        "images", (count, *image.shape), np.uint8, chunks=chunk.shape
                    )
                position = index % len(chunk)
                chunk[position] = image
                if position == len(chunk) - 1 or index == count - 1:
                    start = (index - position, *[0] * image.ndim)
                    dataset.id.write_direct_chunk(start, chunk)

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        import h5py

        with h5py.File(path, "r", rdcc_nbytes=NO_CHUNK_CACHE) as file:
            return list(file["images"][()]), file["labels"][()]

    def _open(self, path: Path) -> ImageReader:
        import h5py

        return _ChunkedHDF5Reader(h5py.File(path, "r", rdcc_nbytes=NO_CHUNK_CACHE))


def images_a_chunk(count: int, image_bytes: int) -> int:
    """Return the number of images in a chunk that fills the last one nearly, too."""
    most = max(1, CHUNK_BYTES // image_bytes)
    chunks = -(-count // most)
    return -(-count // chunks)


class _ChunkedHDF5Reader(ImageReader):
    def __init__(self, file: h5py.File) -> None:
        self._file, self._images = file, file["images"]
        self._labels = file["labels"][()]
        super().__init__(len(self._labels))

    # A loop over single images is the fast way to read many: h5py's selection of a list of them
    # takes some thirty times as long.
    def _get(self, index: int) -> tuple[np.ndarray, int]:
        return self._images[index], int(self._labels[index])

    def close(self) -> None:
        """Close the file."""
        self._file.close()

"""HDF5 through h5py."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core import Given, ImageReader, ImageStorage, Snippet
from adapter_core.file_facts import FileFacts
from adapter_core.image_shapes import SHAPE_DTYPE, offsets
from adapter_core.images.packed import batches, split

if TYPE_CHECKING:
    import h5py
    import numpy as np

    from adapter_core.image_input import CheckedImages

# As in `adapter_core.images.arrow`.
BATCH_BYTES = 8 * 2**20
# Size of a chunk. HDF5 stores the last one whole, and small ones waste little.
CHUNK_BYTES = 2**18

# HDF5 reads and writes only the requested bytes of chunks that do not fit into its cache:
# https://docs.h5py.org/en/stable/high/file.html#chunk-cache
NO_CHUNK_CACHE = 0


class Adapter(ImageStorage):
    """One HDF5 file with three datasets: `pixels`, the bytes of all images, `shapes` and `labels`.

    HDF5's own type for unequal lengths stores a reference for each image, and follows them one by one,
    which takes more than twice the time. The number of bytes is unknown at the start, hence `pixels`
    grows, in chunks; a set smaller than a batch is one chunk without waste.
    """

    label = "HDF5"
    suffix = ".h5"
    requires = ("h5py",)
    file_facts = FileFacts(version="superblock 0", threads="one")
    snippet = Snippet(
        imports="import math\nfrom itertools import accumulate\n\nimport h5py\nimport numpy as np",
        write="""
            with h5py.File({path}, "w") as file:
                pixels = np.concatenate([each.ravel() for each in images])
                file.create_dataset("pixels", data=pixels, chunks=(min(len(pixels), 2**18),))
                file["shapes"] = np.array([(*each.shape, 0)[:3] for each in images], "<u4")
                file["labels"] = labels
        """,
        read="""
            with h5py.File({path}) as file:
                pixels, shapes, labels = (file[n][()] for n in ("pixels", "shapes", "labels"))
            shapes = [tuple(each if each[2] else each[:2]) for each in shapes.tolist()]
            starts = [0, *accumulate(map(math.prod, shapes))]
            images = [pixels[i:j].reshape(each) for i, j, each in zip(starts, starts[1:], shapes)]
        """,
        given=Given.IMAGES,
    )

    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        import h5py
        import numpy as np

        shapes = [np.empty((0, 3), SHAPE_DTYPE)]
        with h5py.File(path, "w", rdcc_nbytes=NO_CHUNK_CACHE) as file:
            for batch in batches(images, BATCH_BYTES):
                size = len(batch.pixels)
                if "pixels" not in file:
                    chunk = size if size < BATCH_BYTES else CHUNK_BYTES
                    file.create_dataset("pixels", (0,), "u1", maxshape=(None,), chunks=(chunk,))
                start = len(file["pixels"])
                file["pixels"].resize(start + size, axis=0)
                file["pixels"][start:] = np.frombuffer(batch.pixels, np.uint8)
                shapes.append(batch.shapes)
            if not len(images):
                file.create_dataset("pixels", (0,), "u1")
            file["shapes"] = np.concatenate(shapes)
            file["labels"] = labels

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        import h5py

        with h5py.File(path, "r", rdcc_nbytes=NO_CHUNK_CACHE) as file:
            return split(file["pixels"][()], file["shapes"][()]), file["labels"][()]

    def _open(self, path: Path) -> _HDF5Reader:
        import h5py

        return _HDF5Reader(h5py.File(path, "r", rdcc_nbytes=NO_CHUNK_CACHE))


class _HDF5Reader(ImageReader):
    def __init__(self, file: h5py.File) -> None:
        self._file, self._pixels = file, file["pixels"]
        self._labels, self._shapes = file["labels"][()], file["shapes"][()]
        self._offsets = offsets(self._shapes)
        super().__init__(len(self._labels))

    def _get(self, index: int) -> tuple[np.ndarray, int]:
        start, end = self._offsets[index : index + 2].tolist()
        height, width, channels = self._shapes[index].tolist()
        shape = (height, width, channels) if channels else (height, width)
        return self._pixels[start:end].reshape(shape), int(self._labels[index])

    def close(self) -> None:
        """Close the file."""
        self._file.close()

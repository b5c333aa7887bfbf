"""Zarr through zarr-python."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import Given, ImageReader, ImageStorage, Snippet
from adapter_core.arrays.zarr import strict_folder
from adapter_core.file_facts import FileFacts
from adapter_core.image_shapes import offsets, shape_table
from adapter_core.images.packed import image_of, split

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_input import CheckedImages

# zarr-python's overhead for a chunk is about the time of moving 1 MiB.
CHUNK_BYTES = 2**20

# zarr-python keeps all chunks of a call until it ends: one call would need the set in memory twice.
BATCH_BYTES = 8 * CHUNK_BYTES


class Adapter(ImageStorage):
    """A Zarr group (version 3, a directory) of three arrays: `pixels`, `shapes` and `labels`.

    `pixels` is one run of bytes, for images of any shape, and grows batch by batch. Each chunk is a
    file. Shards would mean fewer files, but zarr-python reads the index of a shard anew for each image,
    which takes half as long again or more. Chunks are not compressed, and chunks of zeros only, which
    Zarr omits by default, are written. A missing chunk is an error, in whose place Zarr itself would
    read zeros.

    Format: https://zarr-specs.readthedocs.io/en/latest/v3/core/index.html
    """

    label = "Zarr"
    suffix = ".zarr"
    requires = ("zarr>=3.1",)
    file_facts = FileFacts(version="3", differs="no codec, while zarr-python takes zstd")
    snippet = Snippet(
        imports="import math\nfrom itertools import accumulate\n\nimport numpy as np\nimport zarr",
        write="""
            group = zarr.create_group({path})
            plain = {"compressors": None, "config": {"write_empty_chunks": True}}
            pixels = np.concatenate([each.ravel() for each in images])
            group.create_array("pixels", data=pixels, chunks=(min(2**20, len(pixels)),), **plain)
            shapes = np.array([(*each.shape, 0)[:3] for each in images], "<u4")
            group.create_array("shapes", data=shapes, **plain)
            group.create_array("labels", data=labels, **plain)
        """,
        read="""
            group = zarr.open_group({path}, mode="r")
            pixels, shapes, labels = (group[name][:] for name in ("pixels", "shapes", "labels"))
            shapes = [tuple(each if each[2] else each[:2]) for each in shapes.tolist()]
            starts = [0, *accumulate(map(math.prod, shapes))]
            images = [pixels[i:j].reshape(each) for i, j, each in zip(starts, starts[1:], shapes)]
        """,
        given=Given.IMAGES,
    )

    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        import zarr

        group = zarr.create_group(path)
        plain: dict[str, Any] = {"compressors": None, "config": {"write_empty_chunks": True}}
        shapes: list[tuple[int, ...]] = []
        batches = _batches(images, shapes)
        first = next(batches)
        # A chunk is stored whole, hence a small set has a smaller one.
        chunks = (min(CHUNK_BYTES, max(len(first), 1)),)
        pixels = group.create_array("pixels", data=first, chunks=chunks, **plain)
        for batch in batches:
            pixels.append(batch)
        group.create_array("shapes", data=shape_table(shapes), **plain)
        group.create_array("labels", data=labels, **plain)

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        import numpy as np
        from zarr.buffer.cpu import NDBuffer

        pixels, shapes, labels = _arrays(path)
        flat = np.empty(pixels.shape, np.uint8)
        for start in range(0, len(flat), BATCH_BYTES):
            end = min(start + BATCH_BYTES, len(flat))
            room = NDBuffer.from_numpy_array(flat[start:end])
            pixels.get_basic_selection(slice(start, end), out=room)
        return split(flat, shapes), labels

    def _open(self, path: Path) -> ImageReader:
        return _ZarrReader(*_arrays(path))


def _batches(images: CheckedImages, shapes: list[tuple[int, ...]]) -> Iterator[np.ndarray]:
    """Yield the bytes of images in batches, the last one shorter, and append to the shapes."""
    import numpy as np

    batch, filled = np.empty(BATCH_BYTES, np.uint8), 0
    for image in images:
        shapes.append(image.shape)
        rest = image.reshape(-1)
        while filled + len(rest) >= BATCH_BYTES:
            room = BATCH_BYTES - filled
            batch[filled:] = rest[:room]
            yield batch
            rest, filled = rest[room:], 0
        batch[filled : filled + len(rest)] = rest
        filled += len(rest)
    yield batch[:filled]


def _arrays(path: Path) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return the array of pixels, unread, and the shapes and labels."""
    import zarr

    group: Any = zarr.open_group(strict_folder(path), mode="r")
    shapes, labels = group["shapes"][:], group["labels"][:]
    if len(shapes) != len(labels):
        raise ValueError(f"there are {len(shapes)} shapes and {len(labels)} labels")
    return group["pixels"], shapes, labels


class _ZarrReader(ImageReader):
    def __init__(self, pixels: Any, shapes: np.ndarray, labels: np.ndarray) -> None:
        self._pixels, self._shapes, self._labels = pixels, shapes, labels
        self._offsets = offsets(shapes)
        super().__init__(len(labels))

    def _get(self, index: int) -> tuple[np.ndarray, int]:
        start, end = self._offsets[index : index + 2].tolist()
        return image_of(self._pixels[start:end], self._shapes[index].tolist()), int(self._labels[index])

    def _get_many(self, indices: list[int]) -> tuple[list[np.ndarray], np.ndarray]:
        import numpy as np

        # One request for all images that start in a chunk, since zarr-python reads whole chunks.
        (chunk,) = self._pixels.chunks
        found: dict[int, np.ndarray] = {}
        for _, group in groupby(sorted(set(indices)), lambda i: self._offsets[i] // chunk):
            near = list(group)
            start = int(self._offsets[near[0]])
            run = self._pixels[start : int(self._offsets[near[-1] + 1])]
            for index in near:
                begin, end = (self._offsets[index : index + 2] - start).tolist()
                found[index] = image_of(run[begin:end], self._shapes[index].tolist())
        return [found[index] for index in indices], self._labels[np.array(indices, np.intp)]

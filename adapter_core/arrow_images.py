"""Images as Arrow record batches: one row an image, its pixels as they lie in memory.

The columns are `image` (large_binary, since a batch may pass the 2 GB of binary), `height`, `width`,
`channels` (0 standing for greyscale of shape (height, width)) and `label`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from adapter_core.flat_images import offsets, sizes, split
from adapter_core.flat_reader import FlatReader
from adapter_core.image_batches import batches

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

SHAPE_COLUMNS = ("height", "width", "channels")
COLUMNS = ("image", *SHAPE_COLUMNS, "label")
BATCH_BYTES = 8 << 20
"""Pixels in a batch: memory in use while saving, and few enough batches that each costs nothing."""


def image_schema(image_metadata: dict[str, str] | None = None) -> pa.Schema:
    """Return the schema, with metadata for the column of pixels."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("image", pa.large_binary(), nullable=False, metadata=image_metadata),
            *(pa.field(name, pa.uint32(), nullable=False) for name in SHAPE_COLUMNS),
            pa.field("label", pa.int64(), nullable=False),
        ]
    )


def record_batches(
    images: Iterable[np.ndarray], labels: np.ndarray, schema: pa.Schema, batch_bytes: int = BATCH_BYTES
) -> Iterator[pa.RecordBatch]:
    """Yield a set as record batches, each complete as soon as it has `batch_bytes`."""
    import pyarrow as pa

    first = 0
    for batch in batches(images, batch_bytes):
        count = len(batch.shapes)
        buffers = [None, pa.py_buffer(offsets(batch.shapes)), pa.py_buffer(batch.pixels)]
        pixels = pa.LargeBinaryArray.from_buffers(pa.large_binary(), count, buffers)
        numbers = [*batch.shapes.T, labels[first : first + count]]
        yield pa.record_batch([pixels, *map(pa.array, numbers)], schema=schema)
        first += count


def pixels_of(batch: pa.RecordBatch) -> tuple[np.ndarray, np.ndarray]:
    """Return the pixels of a batch, without a copy, and the shapes of its images, (images, 3).

    Raises
    ------
    ValueError
        If there are more or fewer pixels in any image than its shape says.
    """
    import numpy as np
    import pyarrow as pa

    column = batch.column("image")
    shapes = np.column_stack([batch.column(name).to_numpy() for name in SHAPE_COLUMNS])
    _, place_buffer, pixel_buffer = column.buffers()
    if not len(column) or pixel_buffer is None:
        return np.empty(0, np.uint8), shapes
    width = np.int64 if pa.types.is_large_binary(column.type) else np.int32
    places = np.frombuffer(place_buffer, width)[column.offset : column.offset + len(column) + 1]
    if not np.array_equal(np.diff(places), sizes(shapes)):
        raise ValueError("there are more or fewer pixels than the shapes of the images say")
    return np.frombuffer(pixel_buffer, np.uint8)[places[0] : places[-1]], shapes


def images_of(batches: Iterable[pa.RecordBatch]) -> tuple[list[np.ndarray], np.ndarray]:
    """Return all images, as views of the batches' memory, and their labels.

    Raises
    ------
    ValueError
        If there are more or fewer pixels in any image than its shape says.
    """
    import numpy as np

    images: list[np.ndarray] = []
    labels = [np.empty(0, np.int64)]
    for batch in batches:
        images += split(*pixels_of(batch))
        labels.append(batch.column("label").to_numpy())
    return images, np.concatenate(labels)


def reader_of(batches: Sequence[pa.RecordBatch]) -> FlatReader:
    """Return random access to batches that stay where they are, be it in a mapped file.

    Raises
    ------
    ValueError
        If there are more or fewer pixels in any image than its shape says.
    """
    import numpy as np

    parts = [pixels_of(batch) for batch in batches]
    labels = [batch.column("label").to_numpy() for batch in batches]
    return FlatReader(
        [pixels for pixels, _ in parts],
        [shapes for _, shapes in parts],
        np.concatenate([np.empty(0, np.int64), *labels]),
    )

"""Images as Arrow record batches: one row an image, with its pixels as plain bytes.

The columns are `image` (large_binary, since a batch may exceed the 2 GB of binary), `height`, `width`,
`channels` (0 for greyscale of shape (height, width)) and `label`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from adapter_core.image_shapes import offsets, sizes
from adapter_core.images.packed import batches, split
from adapter_core.images.readers import FlatReader

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


SHAPE_COLUMNS = ("height", "width", "channels")
BATCH_BYTES = 8 << 20
"""Size of a batch: bounds the memory of a save, and makes the overhead of batches negligible."""

CODE_OF_TABLE = """\
shapes = np.array([(*each.shape, 0)[:3] for each in images], "uint32").T
pixels = pa.array([each.tobytes() for each in images], pa.large_binary())
names = ["image", "height", "width", "channels", "label"]
table = pa.table([pixels, *map(pa.array, shapes), pa.array(labels)], names)
"""
"""Code to paste that makes `table` of `images` and `labels`."""

CODE_OF_IMAGES = """
shapes = zip(*(table[name].to_pylist() for name in ("height", "width", "channels")))
images = [
    np.frombuffer(pixels.as_buffer(), "uint8").reshape(shape if shape[2] else shape[:2])
    for pixels, shape in zip(table["image"], shapes)
]
labels = table["label"].to_numpy()"""
"""Code to paste that makes `images` and `labels` of `table`."""


def image_schema(image_metadata: dict[str, str] | None = None) -> pa.Schema:
    """Return the schema, with optional metadata of the column of pixels."""
    import pyarrow as pa

    return pa.schema(
        [
            pa.field("image", pa.large_binary(), nullable=False, metadata=image_metadata),
            *(pa.field(name, pa.uint32(), nullable=False) for name in SHAPE_COLUMNS),
            pa.field("label", pa.int64(), nullable=False),
        ]
    )


def record_batches(
    images: Iterable[np.ndarray], labels: np.ndarray, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    """Yield a set as record batches of at least `BATCH_BYTES`, except for the last one."""
    import pyarrow as pa

    first = 0
    for batch in batches(images, BATCH_BYTES):
        count = len(batch.shapes)
        buffers = [None, pa.py_buffer(offsets(batch.shapes)), pa.py_buffer(batch.pixels)]
        pixels = pa.LargeBinaryArray.from_buffers(pa.large_binary(), count, buffers)
        numbers = [*batch.shapes.T, labels[first : first + count]]
        yield pa.record_batch([pixels, *map(pa.array, numbers)], schema=schema)
        first += count


@contextmanager
def record_reader(
    images: Iterable[np.ndarray], labels: np.ndarray, schema: pa.Schema
) -> Iterator[pa.RecordBatchReader]:
    """Provide `record_batches` as a stream; errors of the images are raised unchanged.

    Arrow's C interface would replace them by its own.
    """
    import pyarrow as pa

    raised: list[Exception] = []

    def batches_noting_errors() -> Iterator[pa.RecordBatch]:
        try:
            yield from record_batches(images, labels, schema)
        except Exception as error:
            raised.append(error)
            raise

    try:
        yield pa.RecordBatchReader.from_batches(schema, batches_noting_errors())
    except Exception:
        if raised:
            raise raised[0] from None
        raise


def shapes_of(batch: pa.RecordBatch | pa.Table) -> np.ndarray:
    """Return the shapes of images, (images, 3)."""
    import numpy as np

    return np.column_stack([batch.column(name).to_numpy() for name in SHAPE_COLUMNS])


def pixels_of(column: pa.Array, shapes: np.ndarray) -> np.ndarray:
    """Return the pixels in a column of images, shape (bytes,), without a copy.

    Raises
    ------
    ValueError
        If the number of pixels in an image does not fit its shape.
    """
    import numpy as np
    import pyarrow as pa

    _, offset_buffer, pixel_buffer = column.buffers()
    if not len(column) or pixel_buffer is None:
        return np.empty(0, np.uint8)
    width = np.int64 if pa.types.is_large_binary(column.type) else np.int32
    ends = np.frombuffer(offset_buffer, width)[column.offset : column.offset + len(column) + 1]
    if not np.array_equal(np.diff(ends), sizes(shapes)):
        raise ValueError("the numbers of pixels do not fit the shapes of the images")
    return np.frombuffer(pixel_buffer, np.uint8)[ends[0] : ends[-1]]


def images_of(batches: Iterable[pa.RecordBatch]) -> tuple[list[np.ndarray], np.ndarray]:
    """Return all images, as views of the batches' memory, and their labels.

    Raises
    ------
    ValueError
        If the number of pixels in an image does not fit its shape.
    """
    import numpy as np

    images: list[np.ndarray] = []
    labels = [np.empty(0, np.int64)]
    for batch in batches:
        shapes = shapes_of(batch)
        images += split(pixels_of(batch.column("image"), shapes), shapes)
        labels.append(batch.column("label").to_numpy())
    return images, np.concatenate(labels)


def rows_a_batch(shapes: np.ndarray) -> int:
    """Return the number of images in about `BATCH_BYTES`."""
    return max(1, BATCH_BYTES * len(shapes) // max(1, int(sizes(shapes).sum())))


def images_of_shapes(batches: Iterable[pa.RecordBatch], shapes: np.ndarray) -> list[np.ndarray]:
    """Return all images of batches with no other column than `image`, as views of their memory.

    Raises
    ------
    ValueError
        If there are more or fewer images than shapes, or pixels do not fit a shape.
    """
    images: list[np.ndarray] = []
    for batch in batches:
        some = shapes[len(images) : len(images) + len(batch)]
        images += split(pixels_of(batch.column("image"), some), some)
    if len(images) != len(shapes):
        raise ValueError(f"there are {len(images)} images and {len(shapes)} shapes")
    return images


def reader_of(batches: Sequence[pa.RecordBatch]) -> FlatReader:
    """Return random access to batches in memory or in a mapped file.

    Raises
    ------
    ValueError
        If the number of pixels in an image does not fit its shape.
    """
    import numpy as np

    shapes = [shapes_of(batch) for batch in batches]
    pixels = [
        pixels_of(batch.column("image"), each) for batch, each in zip(batches, shapes, strict=True)
    ]
    labels = [np.empty(0, np.int64), *(batch.column("label").to_numpy() for batch in batches)]
    return FlatReader(pixels, shapes, np.concatenate(labels))

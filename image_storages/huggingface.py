"""Hugging Face datasets."""

from __future__ import annotations

from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any

from adapter_core import ImageReader, ImageStorage
from adapter_core.file_facts import FileFacts
from adapter_core.images.arrow import image_schema, images_of, record_batches, shapes_of
from adapter_core.images.packed import image_of

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_input import CheckedImages

SPLIT = "train"
"""The library's name of a set that is not split."""


class Adapter(ImageStorage):
    """A directory of `Dataset.save_to_disk`: an Arrow stream, one row an image, and JSON files.

    Columns: see `adapter_core.images.arrow`. Pixels are plain bytes. The library's own `Image` feature
    turns each image into a PNG, which takes sixty times as long to save, and forty or more to read; its
    `Array3D` requires images of one shape. With `with_format("numpy")`, bytes lose zeros at their end.

    `Dataset.from_generator` makes a Python object of each value, in a cache that `save_to_disk`
    copies: five to thirteen times slower, and twice on the disk. Hence `save_to_disk` saves an empty
    set, and the library's `ArrowWriter` replaces its Arrow file, batch by batch, without a cache.
    Beyond 500 MB, `save_to_disk` would make several files. dataset_info.json contains the number of
    images, since an Arrow stream that is cut between two batches looks complete.

    Library: https://huggingface.co/docs/datasets/package_reference/main_classes
    """

    label = "HuggingFace"
    suffix = ".dataset"
    requires = ("datasets>=3", "pyarrow>=15")
    file_facts = FileFacts(silent="a stream of Arrow has no footer")
    snippet = (
        "it streams the set to Arrow files that the library would make from a copy; a user writes "
        "Dataset.from_dict({...}).save_to_disk(path)"
    )

    def _save(self, images: CheckedImages, labels: np.ndarray, path: Path) -> None:
        import pyarrow as pa
        from datasets import DatasetInfo, Features
        from datasets.arrow_writer import ArrowWriter

        features = Features.from_arrow_schema(image_schema())
        file = _save_no_images(features, path)
        with ArrowWriter(features=features, path=str(file)) as writer:
            for batch in record_batches(images, labels, features.arrow_schema):
                writer.write_table(pa.Table.from_batches([batch]))
            count, size_bytes = writer.finalize()
        split = {"name": SPLIT, "num_bytes": size_bytes, "num_examples": count}
        DatasetInfo(features=features, splits=[split]).write_to_directory(path)

    def _read(self, path: Path) -> tuple[list[np.ndarray], np.ndarray]:
        return images_of(_load(path, keep_in_memory=True).to_batches())

    def _open(self, path: Path) -> ImageReader:
        return _HuggingFaceReader(_load(path, keep_in_memory=False))


def _library() -> Any:
    """Return the library, without progress bars."""
    import datasets

    # Even then, it locks them, by default with a semaphore, which a killed process leaves behind.
    datasets.disable_progress_bars()
    datasets.utils.tqdm.set_lock(RLock())
    return datasets


def _save_no_images(features: Any, path: Path) -> Path:
    """Save an empty set, and return its Arrow file."""
    from datasets.fingerprint import generate_random_fingerprint
    from datasets.table import InMemoryTable

    table = InMemoryTable(features.arrow_schema.empty_table())
    # The library finds cached results of a set by its fingerprint, and empty sets share one.
    empty = _library().Dataset(table, split=SPLIT, fingerprint=generate_random_fingerprint())
    empty.save_to_disk(path, num_shards=1)
    (file,) = path.glob("*.arrow")
    return file


def _load(path: Path, *, keep_in_memory: bool) -> Any:
    """Return the library's table of all images, in memory or in a mapped file."""
    dataset = _library().load_from_disk(path, keep_in_memory=keep_in_memory)
    count = dataset.info.splits[SPLIT].num_examples
    if len(dataset) != count:
        raise ValueError(f"{path} has {len(dataset)} images of {count}")
    return dataset.data


class _HuggingFaceReader(ImageReader):
    """Slices and gathers rows of the library's table; labels and shapes are in memory."""

    def __init__(self, table: Any) -> None:
        self._shapes = shapes_of(table.table)
        self._labels = table.column("label").to_numpy().copy()
        self._images = table.select(["image"])
        super().__init__(len(self._labels))

    def _get(self, index: int) -> tuple[np.ndarray, int]:
        column = self._images.fast_slice(index, 1).column(0)
        return self._image(column.chunk(0), index), int(self._labels[index])

    def _get_many(self, indices: list[int]) -> tuple[list[np.ndarray], np.ndarray]:
        if not indices:
            return [], self._labels[:0]
        rows = self._images.fast_gather(indices).column(0).chunks
        images = [self._image(row, index) for row, index in zip(rows, indices, strict=True)]
        return images, self._labels[indices]

    def _image(self, row: Any, index: int) -> np.ndarray:
        # A copy, since the row lies in the mapped file.
        return image_of(row[0].as_buffer(), self._shapes[index].tolist()).copy()

    def close(self) -> None:
        """Release the file."""
        self._images = None

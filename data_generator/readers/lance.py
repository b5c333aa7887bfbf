"""Lance data sets, which are folders, through pylance."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from data_generator.readers._arrow import ArrowReader, Notes

if TYPE_CHECKING:
    import pyarrow as pa


class Reader(ArrowReader):
    """https://lance.org/format/table/."""

    what = "Lance"
    endings = (".lance",)
    requires = ("pylance",)
    modules: ClassVar = {"pylance": "lance"}
    crashes = True

    def is_in(self, folder: Path) -> bool:
        """Tell whether a folder is such a data set: each has the manifests of its versions."""
        return (folder / "_versions").is_dir()

    def _notes(self, path: Path) -> Notes:
        import lance

        dataset = lance.dataset(path)
        return Notes(dataset.schema, dataset.count_rows())

    def _batches(self, path: Path) -> Iterator[pa.RecordBatch]:
        import lance

        yield from lance.dataset(path).to_batches(scan_in_order=True)

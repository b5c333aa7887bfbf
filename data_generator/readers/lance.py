"""Reader of Lance data sets, which are folders, through pylance."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from adapter_core.errors import InvalidDataError
from data_generator.foreign_parts import check_folder
from data_generator.readers._arrow import ArrowReader, FileMetadata

if TYPE_CHECKING:
    import pyarrow as pa

    from data_generator.readers._reader import ReadRequest


class LanceReader(ArrowReader):
    """Reader of Lance data sets, https://lance.org/format/table/."""

    kind = "Lance"
    endings = (".lance",)
    requires = ("pylance",)
    modules: ClassVar = {"pylance": "lance"}
    crashes = True

    def is_in(self, folder: Path) -> bool:
        """Return True if a folder has the manifests of a data set's versions."""
        return (folder / "_versions").is_dir()

    def _metadata(self, request: ReadRequest) -> FileMetadata:
        import lance

        check_folder(request.path)
        dataset = lance.dataset(request.path)
        # Paths or URLs of further places, which a data set may name.
        for base in dataset.base_paths().values():
            raise InvalidDataError(
                request.path,
                f"has data in another place, {base.path[:100]!a}",
                "write it again without base paths",
            )
        return FileMetadata(dataset.schema, dataset.count_rows())

    def _batches(self, request: ReadRequest) -> Iterator[pa.RecordBatch]:
        import lance

        # Without scan_in_order, batches come in the order in which threads finish.
        yield from lance.dataset(request.path).to_batches(scan_in_order=True)

"""Saving and reading sets of images."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

import data_generator
import image_storages
from adapter_core.errors import WrongValuesError
from format_bench.instruments import page_cache
from format_bench.operations import image_cache
from format_bench.operations.cases import Measured
from format_bench.operations.warm_up import warm_up_storage
from format_bench.operations.work import Work
from format_bench.results.status import WRONG
from format_bench.verification.images import verify_images

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.image_storage import ImageStorage
    from format_bench.operations.cases import Case

    Set = tuple[Sequence[np.ndarray], np.ndarray]
    """Images and labels."""


def make_images(dataset: str, count: int, path: Path) -> tuple[int, int]:
    """Generate a set and leave it at `path`; return how many images it has, and 2."""
    found = data_generator.images(dataset, count)
    images = cast("Sequence[np.ndarray]", found.images)
    return leave_images(images, cast("Sequence[int]", found.labels), path)


def leave_images(images: Sequence[np.ndarray], labels: Sequence[int], path: Path) -> tuple[int, int]:
    """Leave a set at `path` for `ImageWork.load`; return how many images it has, and 2.

    Images and labels are two columns, as it were.
    """
    image_cache.write(images, labels, path)
    return len(images), 2


class ImageWork(Work):
    """One image storage."""

    adapter: ImageStorage

    def __init__(self, case: Case) -> None:
        self.adapter = image_storages.get(case.format)
        warm_up_storage(self.adapter)

    def load(self, data: Path) -> Set:
        """Return images and labels."""
        return image_cache.load(data)

    def check(self, data: Set) -> None:
        """Raise `CannotHoldError` if the storage cannot hold the images."""
        self.adapter.check(data[0])

    def save(self, data: Set, file: Path) -> None:
        """Save the set."""
        self.adapter.save(*data, file)

    def read(self, file: Path) -> Set:
        """Read the set; no storage gives images that are not in memory."""
        return self.adapter.read(file)

    def verify(self, data: Set, found: Set) -> Measured:
        """Return the number of images whose pixels changed as the storage declares."""
        verdict = verify_images(self.adapter, *data, *found)
        if verdict.errors:
            raise WrongValuesError(WRONG + "; ".join(verdict.errors))
        return Measured("changed images", [verdict.changed_images], "; ".join(verdict.losses))

    def about(self, file: Path) -> list[Measured]:
        """Return the size and the number of files."""
        files = len(list(page_cache.files_of(file)))
        return [Measured("size", [self.adapter.size_bytes(file)]), Measured("files", [files])]

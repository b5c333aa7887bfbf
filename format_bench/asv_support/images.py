"""The sets of images of the asv suite, and the cells that save and read them.

The measured steps of the image suite that note more than asv asks for.
"""

from __future__ import annotations

import functools
import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, cast

import data_generator
import image_storages
from adapter_core import CannotHoldError, UnavailableError
from adapter_core.errors import WrongValuesError
from adapter_core.image_storage import ImageStorage
from format_bench.asv_support.cell import Cell
from format_bench.asv_support.run import DATA, FILES, prepare
from format_bench.asv_support.steps import READ_MEMORY, SAVE_MEMORY, VERDICT
from format_bench.instruments.memory import Meter, measure
from format_bench.operations import image_cache
from format_bench.operations.warm_up import warm_up_storage
from format_bench.results.status import WRONG, Status
from format_bench.verification.images import verify_images

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    import numpy as np


ROOM = 1.5
"""Free disk space that a save asks for, as a multiple of the raw pixels: Base64 takes 1.34, and the
file system something."""


def prepare_images(counts: Mapping[str, int], module: str, scale: str) -> None:
    """Begin a run of a module's suites on sets of so many images."""

    def make() -> dict[str, tuple[int, int]]:
        for name, count in counts.items():
            found = data_generator.images(name, count)
            images = cast("Sequence[np.ndarray]", found.images)
            image_cache.write(images, cast("Sequence[int]", found.labels), DATA / name)
        # Images and labels, as it were two columns.
        return {name: (count, 2) for name, count in counts.items()}

    prepare(module, scale, make)


@functools.cache
def load(dataset: str) -> tuple[image_cache.CachedImages, np.ndarray]:
    """Return images and labels that `prepare_images` made; loaded once in a process."""
    return image_cache.load(DATA / dataset)


class ImageCell(Cell[ImageStorage]):
    """A set of images in a storage.

    Files are kept only while the disk has room for the next ones: all storages of ImageNet-100 take
    300 GB. What is not kept is saved again, unmeasured, for each benchmark that reads it.
    """

    _unkept: ImageStorage | None = None
    registry = image_storages.registry

    @functools.cached_property
    def images(self) -> image_cache.CachedImages:
        """The set."""
        return load(self.dataset)[0]

    def check(self, adapter: ImageStorage) -> None:
        """Skip the cell, with a reason, if the storage cannot hold the set, or the disk has no room."""
        try:
            adapter.check(self.images)
        except CannotHoldError as error:
            raise self.skip(Status.UNSUPPORTED, error) from error
        free, needed = self._room()
        if free < needed:
            why = f"the disk has {free / 1e9:.0f} GB free; the set may take {needed / 1e9:.0f} GB"
            raise self.skip(Status.UNAVAILABLE, UnavailableError(adapter.label, why, "free some"))

    def warm_up(self, adapter: ImageStorage) -> None:
        """Save, read and open a tiny set."""
        warm_up_storage(adapter)

    def save(self, adapter: ImageStorage, path: Path) -> None:
        """Save the set, unmeasured."""
        self.check(adapter)
        self.guard(lambda: adapter.save(*load(self.dataset), path))
        if self._is_full():
            self._unkept = adapter

    def keep(self, adapter: ImageStorage, path: Path) -> None:
        """Keep the file that a measured save has left, while there is room for others."""
        if self._is_full():
            adapter.remove(path)
        else:
            super().keep(adapter, path)

    def end(self) -> None:
        """End, and remove what this process has saved if there is no room for others."""
        super().end()
        if self._unkept:
            self._unkept.remove(self.path(self._unkept))

    def _is_full(self) -> bool:
        """Return whether the disk has no room for another file."""
        free, needed = self._room()
        return free < needed

    def _room(self) -> tuple[int, float]:
        """Return the free bytes of the disk, and those that a save may take."""
        return shutil.disk_usage(FILES).free, ROOM * self.images.size_bytes


class SaveMeter:
    """Notes by how much the process grows in its first save; later ones find memory that it has kept."""

    def __init__(self, cell: ImageCell) -> None:
        self._cell = cell
        self._meter = None if cell.has_note(SAVE_MEMORY) else Meter()

    def note(self, path: Path) -> None:
        """Note the growth, in bytes, if this process is the first that has saved."""
        if self._meter is not None and path.exists() and not self._cell.has_note(SAVE_MEMORY):
            self._cell.note(SAVE_MEMORY, str(self._meter.growth().peak_bytes))


def read(cell: ImageCell, adapter: ImageStorage, path: Path) -> None:
    """Read, and note by how much the process grew, in bytes, and the verdict."""
    growth, (images, labels) = measure(lambda: adapter.read(path))
    cell.note(READ_MEMORY, str(growth.peak_bytes))
    verdict = verify_images(adapter, *load(cell.dataset), images, labels)
    facts = {"losses": verdict.losses, "lost": verdict.changed_images, "errors": verdict.errors}
    cell.note(VERDICT, json.dumps(facts))


def changed_images(cell: ImageCell, adapter: ImageStorage, path: Path) -> int:
    """Return how many images came back with other pixels, as the storage declares; remark on it.

    Raises
    ------
    WrongValuesError
        If anything came back wrong.
    """
    facts = json.loads(cell.noted(VERDICT, lambda: read(cell, adapter, path)))
    if facts["errors"]:
        raise WrongValuesError(WRONG + "; ".join(facts["errors"]))
    if facts["losses"]:
        cell.remark("; ".join(facts["losses"]))
    return int(facts["lost"])

"""The measured steps of the image suite that note more than asv asks for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from format_bench.asv_images import load
from format_bench.asv_steps import READ_MEMORY, SAVE_MEMORY, VERDICT
from format_bench.instruments.memory import Meter, measure
from format_bench.results.status import WRONG, WrongValues
from format_bench.verification.images import verify_images

if TYPE_CHECKING:
    from adapter_core.image_storage import ImageStorage
    from format_bench.asv_images import ImageCell


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
    WrongValues
        If anything came back wrong.
    """
    facts = json.loads(cell.noted(VERDICT, lambda: read(cell, adapter, path)))
    if facts["errors"]:
        raise WrongValues(WRONG + "; ".join(facts["errors"]))
    if facts["losses"]:
        cell.remark("; ".join(facts["losses"]))
    return int(facts["lost"])

"""What becomes of a set of images that a storage saves and reads; and the sets to try."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import data_generator
from adapter_core.errors import CannotHold
from data_generator.synthetic.edge_case_images import hostile_images
from format_bench.verification.images import verify_images

if TYPE_CHECKING:
    from adapter_core.image_storage import ImageStorage
    from data_generator.synthetic.edge_case_images import Set

IMAGES = 50
"""How many images of each set of the generator are tried; one of those of imagenet-like is greyscale."""

_FEWER = {"pictures": 5}
"""Sets that have large images, and how many are tried."""


class Verdict(NamedTuple):
    """What became of a set."""

    kind: str
    """exact, changed, refused or wrong."""
    words: str
    """The same with its particulars, in Markdown."""

    @property
    def kept(self) -> bool:
        """Whether everything came back, pixels perhaps changed."""
        return self.kind in ("exact", "changed")


def verdict(storage: ImageStorage, images: Set) -> Verdict:
    """Save a set, read it and tell what became of it."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"set{storage.suffix}")
        try:
            storage.save(*images, path)
        except CannotHold as refusal:
            return Verdict("refused", f"**refused**: {str(refusal).partition(': ')[2]}")
        found = verify_images(storage, *images, *storage.read(path))
    if found.errors:
        return Verdict("wrong", f"**wrong**: {'; '.join(found.errors)}")
    if found.losses:
        return Verdict("changed", "; ".join(found.losses))
    return Verdict("exact", "**exact**")


def sets() -> dict[str, Set]:
    """Return all sets that are tried, by name."""
    made: dict[str, Set] = {}
    for name in data_generator.image_names():
        found = data_generator.images(name, _FEWER.get(name, IMAGES))
        images = list(found.images or ())
        made[f"{name}, {len(images)} images"] = images, list(found.labels or ())
    return made | hostile_images()

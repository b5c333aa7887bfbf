"""Losses in round trips of images.

Apart from tables, so that a change of the image storages does not have all tables tested anew.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

from adapter_core import CannotHoldError, ImageStorage
from data_generator import DEFAULT_SEED
from data_generator import datasets as named
from data_generator.synthetic.edge_case_images import edge_case_images
from format_bench.conformance.losses import RoundTrip
from format_bench.verification.images import verify_images

if TYPE_CHECKING:
    from pathlib import Path

    from data_generator.synthetic.edge_case_images import ImageSet

# Images of each generated set: of 50 images of imagenet-like one is greyscale.
IMAGES = 50


def of_images(storage: ImageStorage, images: ImageSet, path: Path) -> RoundTrip:
    """Save and read a set of images with labels."""
    try:
        storage.save(*images, path)
    except CannotHoldError as error:
        return RoundTrip(f"**refused**: {str(error).partition(': ')[2]}", str(error))
    read = storage.read(path)
    found = verify_images(storage, *images, *read)
    text = f"**wrong**: {'; '.join(found.errors)}" if found.errors else "; ".join(found.losses)
    return RoundTrip(text or "**exact**", errors=found.errors, read=read)


@functools.cache
def image_sets() -> dict[str, ImageSet]:
    """Return all sets by name: data sets and edge cases."""
    made: dict[str, ImageSet] = {}
    for definition in named.definitions("images"):
        # A quarter of what a run takes at most, rounded up: large images come in few copies.
        found = definition.make(-(-definition.count_for_run(4 * IMAGES) // 4), DEFAULT_SEED)
        images = list(found.images or ())
        made[f"{definition.name}, {len(images)} images"] = images, list(found.labels or ())
    return made | edge_case_images()

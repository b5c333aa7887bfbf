"""What each image storage keeps: ``python -m format_bench.image_verdicts > docs/image_losses.md``."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import click

import data_generator
import image_storages
from adapter_core.errors import CannotHold
from data_generator.hostile_images import hostile_images
from format_bench.verify_images import verify_images

if TYPE_CHECKING:
    from adapter_core.image_storage import ImageStorage
    from data_generator.hostile_images import Set

_HEAD = """\
# What each image storage keeps

Each set was saved, read back and compared: pixels, shapes, greyscale, order, and labels, which are whole
numbers up to 2**31 and come back as int64. **exact** means that nothing differs; **refused** that the
storage says that it cannot hold the set, and leaves nothing. Otherwise the words say what was lost.

This page is made by `python -m format_bench.image_verdicts > docs/image_losses.md`, with the libraries
that `constraints.txt` names.
"""

_REAL = {"cifar-like": 100, "imagenet-like": 20, "digits": 100, "pictures": 5}
"""Sets of the generator, and how many of their images are tried."""


def verdict(storage: ImageStorage, images: Set) -> str:
    """Return in a few words what became of a set that a storage saved and read."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"set{storage.suffix}")
        try:
            storage.save(*images, path)
        except CannotHold as refusal:
            return f"refused: {str(refusal).partition(': ')[2]}"
        found = verify_images(storage, *images, *storage.read(path))
    if found.errors:
        return f"**wrong**: {'; '.join(found.errors)}"
    return "; ".join(found.losses) or "exact"


def page() -> str:
    """Return the whole page in Markdown."""
    found = [image_storages.find(name) for name in image_storages.names()]
    storages = [each for each in found if each.availability()]
    lines = [_HEAD]
    for name, images in sets().items():
        lines.append(f"## {name}\n")
        by_verdict: dict[str, list[str]] = {}
        for storage in storages:
            by_verdict.setdefault(verdict(storage, images), []).append(storage.label)
        for words, labels in sorted(by_verdict.items(), key=lambda item: item[0] != "exact"):
            lines.append(f"- {', '.join(labels)}: {'**exact**' if words == 'exact' else words}")
        lines.append("")
    lines += [
        f"- {each.label} is not available here: {each.availability().reason}"
        for each in found
        if each not in storages
    ]
    return "\n".join(lines).rstrip() + "\n"


def sets() -> dict[str, Set]:
    """Return all sets that are tried, by name."""
    real: dict[str, Set] = {}
    for name, count in _REAL.items():
        found = data_generator.images(name, count)
        real[f"{name}, {count} images"] = (list(found.images or ()), list(found.labels or ()))
    return real | hostile_images()


if __name__ == "__main__":
    click.echo(page(), nl=False)

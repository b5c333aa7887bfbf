"""Memory of image storages: ``python -m tools.image_memory [STORAGE...] --count 3000``.

The images are generated on access, so the set itself takes no memory. A save that streams grows little,
whatever the size of the set; a read needs the set once. Pages of a mapped file count, too, though the
kernel can reclaim them.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

import data_generator
import image_storages
from format_bench.families.images.operations import ImageOperations
from format_bench.instruments import isolation
from format_bench.instruments.memory import measure


def save(label: str, count: int, path: Path) -> tuple[int, int]:
    """Save images; return the growth of the process and the raw size of the set, in bytes."""
    storage = image_storages.get(label)
    ImageOperations(storage).warm_up()
    found = data_generator.images("imagenet-like", count)
    images = CountingImages(found.images)
    images[0]  # the memory of the generator itself does not count
    images.size_bytes = 0
    growth, _ = measure(lambda: storage.save(images, found.labels, path))
    return growth.peak_bytes, images.size_bytes


def read(label: str, path: Path) -> int:
    """Read all images; return the growth of the process in bytes."""
    storage = image_storages.get(label)
    ImageOperations(storage).warm_up()
    growth, _ = measure(lambda: storage.read(path))
    return growth.peak_bytes


class CountingImages:
    """Sequence of images that counts the bytes of the images accessed."""

    def __init__(self, images) -> None:
        self.images = images
        self.size_bytes = 0

    def __len__(self) -> int:
        return len(self.images)

    def __getitem__(self, index: int):
        image = self.images[index]
        self.size_bytes += image.nbytes
        return image

    def __iter__(self):
        return (self[index] for index in range(len(self)))


@click.command()
@click.argument("labels", nargs=-1, metavar="[STORAGE]...")
@click.option("--count", default=3_000, show_default=True, help="Images of the set.")
@click.option("--scratch", type=click.Path(exists=True, file_okay=False, path_type=Path))
def main(labels: tuple[str, ...], count: int, scratch: Path | None) -> None:
    """Print the memory growth of a save and a read, in MB and relative to the raw set."""
    for label in labels or image_storages.names():
        with tempfile.TemporaryDirectory(dir=scratch) as folder:
            path = Path(folder, "set")
            saved = isolation.run(save, label, count, path, limit_seconds=3600)
            if saved.status:
                click.echo(f"{label:14} {saved.status}: {saved.sentence[:80]}")
                continue
            loaded = isolation.run(read, label, path, limit_seconds=3600)
        growth, raw = saved.value
        text = f"{label:14} save {growth / 1e6:7.0f} MB {growth / raw:5.2f}"
        text += (
            f"   {loaded.sentence[:60]}"
            if loaded.status
            else (
                f"   read {loaded.value / 1e6:7.0f} MB {loaded.value / raw:5.2f}   of {raw / 1e6:.0f} MB"
            )
        )
        click.echo(text)


if __name__ == "__main__":
    main()

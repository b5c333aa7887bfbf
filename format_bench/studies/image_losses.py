"""Study of losses in image storages: the page docs/image_losses.md."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

import image_storages
from adapter_core import CannotHoldError, ImageStorage
from data_generator import DEFAULT_SEED, datasets
from data_generator.synthetic.edge_case_images import edge_case_images
from format_bench.results.display.markdown import table_lines
from format_bench.verification.images import verify_images

if TYPE_CHECKING:
    from data_generator.synthetic.edge_case_images import ImageSet

# Of 50 images of imagenet-like one is greyscale.
# Images of each generated set.
IMAGES = 50


class RoundTrip(NamedTuple):
    """Result of saving and reading a set of images."""

    kind: str
    """exact, changed, refused or wrong."""
    text: str
    """The result with its details, in Markdown."""

    @property
    def kept(self) -> bool:
        """All images and labels came back; pixels may have changed."""
        return self.kind in ("exact", "changed")


def round_trip(storage: ImageStorage, images: ImageSet) -> RoundTrip:
    """Save and read a set, and compare."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"set{storage.suffix}")
        try:
            storage.save(*images, path)
        except CannotHoldError as refusal:
            return RoundTrip("refused", f"**refused**: {str(refusal).partition(': ')[2]}")
        found = verify_images(storage, *images, *storage.read(path))
    if found.errors:
        return RoundTrip("wrong", f"**wrong**: {'; '.join(found.errors)}")
    if found.losses:
        return RoundTrip("changed", "; ".join(found.losses))
    return RoundTrip("exact", "**exact**")


def sets() -> dict[str, ImageSet]:
    """Return all sets, by name."""
    made: dict[str, ImageSet] = {}
    for definition in datasets.definitions("images"):
        # A quarter of what a run takes at most, rounded up: large images come in few copies.
        count = -(-definition.count_for_run(4 * IMAGES) // 4)
        found = definition.make(count, DEFAULT_SEED)
        images = list(found.images or ())
        made[f"{definition.name}, {len(images)} images"] = images, list(found.labels or ())
    return made | edge_case_images()


_HEAD = """\
# Losses of image storages

This page is the output of `format-bench study image-losses > docs/image_losses.md` with the libraries in
`constraints.txt`. It covers all sets of images of `data_generator`, and those of
`data_generator/synthetic/edge_case_images.py`: shapes, channels and labels that are easily lost.

Each set was saved, read back and compared: number and order of images, shapes (greyscale images
have the shape (height, width), not one channel), pixels, and labels, which come back as int64.
**exact**: nothing differs. **refused**: the storage raised an error because it cannot hold the set, and
wrote nothing. Any other entry names the loss.
"""

# For each possible loss, a set in which nothing else can be lost.
_SHOWN_BY = {
    "unequal shapes": "wide and high",
    "greyscale": "greyscale",
    "order": "constant",
    "labels to 2**31": "large labels",
}

_CHANNELS = {
    1: "one channel",
    2: "two channels",
    3: "one image",
    4: "four channels",
    5: "five channels",
}


def page() -> str:
    """Return the whole page in Markdown."""
    storages = [image_storages.find(name) for name in image_storages.names()]
    tried = {each.label: each for each in storages if each.availability()}
    found = {
        name: {label: round_trip(storage, images) for label, storage in tried.items()}
        for name, images in sets().items()
    }
    missing = [
        f"- {each.label} is not available here: {each.availability().reason}"
        for each in storages
        if each.label not in tried
    ]
    lines = [_HEAD, "## Summary\n", *_summary(list(tried), found), "", *missing, "## Results by set\n"]
    return "\n".join([*lines, *_details(found)]).rstrip() + "\n"


def _summary(labels: list[str], found: dict[str, dict[str, RoundTrip]]) -> Iterator[str]:
    """Yield a table; storages with equal results share a row."""
    rows: dict[tuple[str, ...], list[str]] = {}
    for label in labels:
        changed = any(by_label[label].kind == "changed" for by_label in found.values())
        channels = [str(count) for count, name in _CHANNELS.items() if found[name][label].kept]
        shown = [found[name][label] for name in _SHOWN_BY.values()]
        cells = ["kept" if each.kept else each.kind for each in shown]
        row = ("changed" if changed else "kept", ", ".join(channels), *cells)
        rows.setdefault(row, []).append(label)
    header = ["storages", "pixels", "channels", *_SHOWN_BY]
    lines = [[", ".join(alike), *row] for row, alike in rows.items()]
    yield from table_lines(header, lines, "l" * len(header))


def _details(found: dict[str, dict[str, RoundTrip]]) -> Iterator[str]:
    """Yield a list of results for each set; exact ones share a line."""
    for name, by_label in found.items():
        yield f"### {name}\n"
        by_text: dict[str, list[str]] = {}
        for label, each in by_label.items():
            if each.kind != "exact":
                by_text.setdefault(each.text, []).append(label)
        for text, labels in by_text.items():
            yield f"- {', '.join(labels)}: {text}"
        yield f"- {'all others' if by_text else 'all'}: **exact**\n"


@click.command
def command() -> None:
    """List the losses of image storages.

    Saves and reads sets of images in each storage, and prints a Markdown page.

    \b
    Example:
      format-bench study image-losses > docs/image_losses.md
    """  # noqa: D301 (click takes the character itself for an unwrapped paragraph)
    click.echo(page(), nl=False)

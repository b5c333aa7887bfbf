"""Which images are in a folder, and how they are labelled.

A user's own images: a folder of them, decoded each time they are asked for.
"""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.availability import probe
from adapter_core.errors import InvalidDataError, UnavailableError
from adapter_core.image_input import LABELS_FILE, MAX_LABEL
from data_generator import location
from data_generator.catalog import image_names
from data_generator.decoding import decode, shape_of
from data_generator.lazy_images import LazyImages
from data_generator.sampling import sampled_rows
from data_generator.spec.spec import DEFAULT_SEED
from data_generator.user.dataset import UserData, safe_name
from data_generator.user.table import load_table

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp")


def listed(folder: Path) -> tuple[list[Path], list[int]]:
    """Return the images in a folder and their labels.

    Subfolders are classes, numbered in the order of their names; whatever lies deeper in one belongs to
    it, and those without images are not counted. In a folder without any, the labels are in labels.csv,
    in its columns `file` and `label`, or else all are 0. Hidden files are left out.

    Raises
    ------
    InvalidDataError
        If there are no images, or some in classes and some in none, or if labels.csv does not fit them.
    """
    loose = sorted(path for path in folder.iterdir() if _is_image(path))
    subfolders = sorted(path for path in folder.iterdir() if path.is_dir() and not _is_hidden(path))
    classes = [images for images in map(_images_below, subfolders) if images]
    if loose and classes:
        problem = f"has images both in subfolders and beside them, as {loose[0].name}"
        raise InvalidDataError(folder, problem, "put all into subfolders, one for each class, or none")
    if not loose and not classes:
        raise InvalidDataError(folder, "contains no images", f"looked for were {', '.join(ENDINGS)}")
    if loose:
        return loose, _labels_of(loose, folder / LABELS_FILE)
    paths = [path for images in classes for path in images]
    return paths, [label for label, images in enumerate(classes) for _ in images]


def _images_below(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if _is_image(path))


def _is_image(path: Path) -> bool:
    return path.suffix.lower() in ENDINGS and not _is_hidden(path) and path.is_file()


def _is_hidden(path: Path) -> bool:
    return path.name.startswith(".")


def _labels_of(images: list[Path], notes: Path) -> list[int]:
    if not notes.exists():
        return [0] * len(images)
    df: pd.DataFrame = load_table(notes).df
    _check_notes(df, notes)
    labels = dict(zip(df["file"], df["label"].tolist(), strict=True))
    for image in images:
        if image.name not in labels:
            raise InvalidDataError(notes, f"has no label for {image.name}")
    there = {image.name for image in images}
    gone = next((name for name in labels if name not in there), None)
    if gone is not None:
        raise InvalidDataError(notes, f"labels {gone}, which is not in the folder")
    return [labels[image.name] for image in images]


def _check_notes(df: pd.DataFrame, notes: Path) -> None:
    for name in ("file", "label"):
        if name not in df:
            raise InvalidDataError(notes, f"has no column {name!r}", "its first line must be file,label")
    if not df["file"].is_unique:
        raise InvalidDataError(
            notes, f"labels {df['file'][df['file'].duplicated()].iloc[0]} more than once"
        )
    label = df["label"]
    if label.dtype.kind != "i" or label.min() < 0 or label.max() > MAX_LABEL:
        raise InvalidDataError(notes, f"has labels that are no whole numbers from 0 to {MAX_LABEL}")


class FolderImages(LazyImages):
    """The images of a folder, whose shapes are known before they are decoded."""

    def __init__(self, paths: list[Path]) -> None:
        super().__init__(partial(_decoded, paths), range(len(paths)))
        self.paths = paths
        self.shapes = [shape_of(path) for path in paths]
        """Shape of each image: (height, width), or (height, width, channels)."""


def load_image_folder(
    path: str | os.PathLike[str], sample: int | None = None, seed: int = DEFAULT_SEED
) -> UserData:
    """Return the images of a folder and their labels; nothing is written there.

    PNG, JPEG, WebP, TIFF and BMP are read through Pillow, see `data_generator.decoding.decode`;
    labels are those of subfolders or of labels.csv, see `data_generator.user.image_folder.listed`.

    Parameters
    ----------
    path : path-like
        The folder.
    sample : int, optional
        Take that many images at random, without replacement and in their order; all if there are fewer.
    seed : int
        What the sample depends on, beside the number of images.

    Raises
    ------
    InvalidDataError
        If there is no such folder, if it contains no images, or if one of those taken is no image or has
        more than 8 bits a channel. That one is damaged behind its head is told when it is decoded.
    UnavailableError
        If Pillow is missing or broken.
    ValueError
        If `sample` is not positive.
    """
    if sample is not None and sample < 1:
        raise ValueError(f"a sample cannot have {sample} images")
    hint = "python -m pip install pillow"
    available = probe(("pillow",), {"pillow": "PIL"}, hint)
    if not available:
        raise UnavailableError("the reader of images", available.reason, hint)
    found = location.find(path)
    if not found.is_folder:
        raise InvalidDataError(found.path, "is a file", "give the folder that the images are in")
    paths, labels = listed(found.path)
    chosen = sampled_rows(len(paths), sample, seed)
    if chosen is not None:
        paths, labels = [paths[i] for i in chosen], [labels[i] for i in chosen]
    name = safe_name(found.path.name, image_names())
    return UserData(name, images=FolderImages(paths), labels=labels)


def _decoded(paths: list[Path], number: int) -> np.ndarray:
    return decode(paths[number])

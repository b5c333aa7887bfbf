"""Loading of a user's own images from a folder, with their labels."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core import UnavailableError
from adapter_core.availability import probe
from adapter_core.errors import InvalidDataError
from adapter_core.image_input import LABELS_FILE, MAX_LABEL
from adapter_core.text import listed
from data_generator import location
from data_generator.catalog import image_names
from data_generator.dataset import UserData
from data_generator.decoding import CONVERTED_MODES, decode, header_of
from data_generator.foreign_parts import check_folder
from data_generator.lazy_images import LazyImages
from data_generator.sampling import sampled_rows
from data_generator.spec.spec import DEFAULT_SEED
from data_generator.user.table import load_table

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


ENDINGS = (".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".bmp")


def list_images(folder: Path) -> tuple[list[Path], list[int]]:
    """Return the images in a folder and their labels.

    Subfolders are classes, numbered in the order of their names; images in deeper folders belong to
    them, and subfolders without images are skipped. Without subfolders, the labels are in labels.csv, in
    its columns `file` and `label`; without that file, all are 0. Hidden files are skipped.

    Raises
    ------
    InvalidDataError
        If images are missing, or some inside and some outside of subfolders, or if labels.csv does not
        match them.
    """
    loose = sorted(path for path in folder.iterdir() if _is_image(path))
    subfolders = sorted(path for path in folder.iterdir() if path.is_dir() and not _is_hidden(path))
    classes = [images for images in map(_images_below, subfolders) if images]
    if loose and classes:
        problem = f"has images both in subfolders and beside them, e.g. {loose[0].name}"
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
    is_whole = label.dtype.kind == "i" and label.notna().all()
    if not is_whole or label.min() < 0 or label.max() > MAX_LABEL:
        raise InvalidDataError(notes, f"has labels that are not whole numbers from 0 to {MAX_LABEL}")


class FolderImages(LazyImages):
    """Images of a folder, with headers that are read without decoding."""

    def __init__(self, paths: list[Path]) -> None:
        super().__init__(partial(_decoded, paths), range(len(paths)))
        self.paths = paths
        self._headers = [header_of(path) for path in paths]

    @property
    def shapes(self) -> list[tuple[int, ...]]:
        """Shapes (height, width) or (height, width, channels)."""
        return [each.shape for each in self._headers]

    def remarks(self) -> list[str]:
        """Return what decoding changes or leaves out, as clauses."""
        found = []
        if modes := [each.mode for each in self._headers if each.mode in CONVERTED_MODES]:
            found.append(
                f"{_images(len(modes))} in {listed(sorted(set(modes)))} converted to RGB, rounded"
            )
        if several := sum(each.frames > 1 for each in self._headers):
            found.append(f"{_images(several)} with several frames or pages, of which the first is taken")
        return found


def _images(count: int) -> str:
    return "1 image" if count == 1 else f"{count:,} images"


def load_image_folder(
    path: str | os.PathLike[str], sample: int | None = None, seed: int = DEFAULT_SEED
) -> UserData:
    """Return the images of a folder and their labels; nothing is written there.

    PNG, JPEG, WebP, TIFF and BMP are decoded by Pillow, see `data_generator.decoding.decode`. Labels are
    given by subfolders or labels.csv, see `list_images`.

    Parameters
    ----------
    path : path-like
        The folder.
    sample : int, optional
        Number of images in a random sample without replacement, kept in their order; all images if there
        are fewer.
    seed : int
        Seed of the sample, which depends on the seed and the number of images alone.

    Raises
    ------
    InvalidDataError
        If the folder does not exist or has no images, or if the header of an image in the sample is
        damaged, or declares what `data_generator.decoding.decode` refuses. Damage after the header is
        detected by decoding.
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
    check_folder(found.path)
    paths, labels = list_images(found.path)
    chosen = sampled_rows(len(paths), sample, seed)
    if chosen is not None:
        paths, labels = [paths[i] for i in chosen], [labels[i] for i in chosen]
    name = location.safe_name(found.path.name, image_names())
    images = FolderImages(paths)
    return UserData(name, images=images, labels=labels, remarks=tuple(images.remarks()))


def _decoded(paths: list[Path], number: int) -> np.ndarray:
    return decode(paths[number])

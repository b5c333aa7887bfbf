"""A user's own images: a folder of them, decoded each time they are asked for."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.availability import probe
from adapter_core.errors import Unavailable
from data_generator import image_sets, place
from data_generator.bad_data import BadData
from data_generator.image_decoding import decode, shape_of
from data_generator.image_listing import listed
from data_generator.lazy import LazyImages
from data_generator.own_data import OwnData, safe_name
from data_generator.sampling import sampled_rows
from data_generator.tables import DEFAULT_SEED

if TYPE_CHECKING:
    import numpy as np


class FolderImages(LazyImages):
    """The images of a folder, whose shapes are known before they are decoded."""

    def __init__(self, paths: list[Path]) -> None:
        super().__init__(partial(_decoded, paths), range(len(paths)))
        self.paths = paths
        self.shapes = [shape_of(path) for path in paths]
        """Shape of each image: (height, width), or (height, width, channels)."""


def load_image_folder(
    path: str | os.PathLike[str], sample: int | None = None, seed: int = DEFAULT_SEED
) -> OwnData:
    """Return the images of a folder and their labels; nothing is written there.

    PNG, JPEG, WebP, TIFF and BMP are read through Pillow, see `data_generator.image_decoding.decode`;
    labels are those of subfolders or of labels.csv, see `data_generator.image_listing.listed`.

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
    BadData
        If there is no such folder, if it holds no images, or if one of those taken is no image or has
        more than 8 bits a channel. That one is damaged behind its head is told when it is decoded.
    Unavailable
        If Pillow is missing or broken.
    ValueError
        If `sample` is not positive.
    """
    if sample is not None and sample < 1:
        raise ValueError(f"a sample cannot have {sample} images")
    hint = "python -m pip install pillow"
    available = probe(("pillow",), {"pillow": "PIL"}, hint)
    if not available:
        raise Unavailable("the reader of images", available.reason, hint)
    found = place.find(path)
    if not found.is_folder:
        raise BadData(found.path, "is a file", "give the folder that the images are in")
    paths, labels = listed(found.path)
    chosen = sampled_rows(len(paths), sample, seed)
    if chosen is not None:
        paths, labels = [paths[i] for i in chosen], [labels[i] for i in chosen]
    name = safe_name(found.path.name, image_sets.image_names())
    return OwnData(name, images=FolderImages(paths), labels=labels)


def _decoded(paths: list[Path], number: int) -> np.ndarray:
    return decode(paths[number])

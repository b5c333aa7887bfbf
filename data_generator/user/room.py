"""Limits of own data that are known before any value is read: free disk and memory, number of chunks."""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from adapter_core.array_source import ArraySource, grid_of
from adapter_core.errors import InvalidDataError
from data_generator.dataset import UserData
from data_generator.readers._reader import check_fits
from data_generator.user.image_folder import FolderImages

# A step for each takes hours with more.
MOST_CHUNKS = 10**6

# Compressed, uncompressed, and once more while it is compared.
COPIES_OF_A_CHUNK = 3


def check_room(place: str | os.PathLike[str], found: UserData, folder: Path) -> None:
    """Raise `InvalidDataError` if own data cannot be copied to a folder for want of disk or memory.

    A file of some hundred bytes may declare an array of any size. Tables are in memory already.

    Parameters
    ----------
    place : path-like
        The user's file or folder.
    found : UserData
        Arrays and images are not read.
    folder : Path
        Existing folder for the copy.
    """
    if found.array is not None:
        _check_array(Path(place), found.array, folder)
    elif isinstance(found.images, FolderImages):
        _check_images(Path(place), found.images.shapes, folder)


def _check_array(place: Path, source: ArraySource, folder: Path) -> None:
    chunks = math.prod(grid_of(source.shape, source.chunks))
    if chunks > MOST_CHUNKS:
        problem = f"declares {chunks:,} chunks, and at most {MOST_CHUNKS:,} can be measured"
        raise InvalidDataError(
            place,
            problem,
            "give larger ones by `run --chunks`, or take the first ones by `run --sample`",
        )
    check_fits(
        place, COPIES_OF_A_CHUNK * source.chunk_bytes, advice="give smaller chunks by `run --chunks`"
    )
    advice = "take the first chunks by `run --sample`, or name a smaller variable, or use a larger disk"
    _check_disk(place, source.size_bytes, folder, advice)


def _check_images(place: Path, shapes: Sequence[tuple[int, ...]], folder: Path) -> None:
    sizes = [math.prod(shape) for shape in shapes]
    check_fits(place, COPIES_OF_A_CHUNK * max(sizes), advice="leave out the largest image")
    _check_disk(place, sum(sizes), folder, "take some images by `run --sample`, or use a larger disk")


def _check_disk(place: Path, size_bytes: int, folder: Path, advice: str) -> None:
    import resource

    free = shutil.disk_usage(folder).free
    limit, _ = resource.getrlimit(resource.RLIMIT_FSIZE)
    if limit != resource.RLIM_INFINITY and limit < size_bytes <= free:
        problem = f"declares {size_bytes / 1e9:,.1f} GB, and {limit / 1e9:,.1f} GB of disk are allowed"
        raise InvalidDataError(place, problem, f"{advice}, or allow more by --data-disk")
    if size_bytes > free:
        problem = f"declares {size_bytes / 1e9:,.1f} GB, and {free / 1e9:,.1f} GB of disk are free"
        raise InvalidDataError(place, problem, advice)

"""Loaders of real data from the Hugging Face hub, through `datasets`.

`load_images` returns CIFAR-10 and ImageNet-100, which the synthetic sets of images imitate, and
`hub_table` any table. Neither is a named data set: their content depends on the network or on a copy.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import UnavailableError, UnknownNameError
from adapter_core.availability import probe
from adapter_core.errors import TooFewRowsError
from data_generator.dataset import Dataset
from data_generator.decoding import to_array
from data_generator.lazy_images import LazyImages
from data_generator.readers._arrow import to_pandas

if TYPE_CHECKING:
    import numpy as np


# A hub out of reach is said before a user gives up.
SECONDS_TO_WAIT = 10
SPLIT = "train"


@dataclass(frozen=True)
class _Source:
    repository: str
    image: str
    """Column of images; labels are in the column `label`."""


_SOURCES = {
    "CIFAR-10": _Source("uoft-cs/cifar10", "img"),
    "ImageNet-100": _Source("clane9/imagenet-100", "image"),
}


def load_images(
    name: str, count: int | None = None, path: str | os.PathLike[str] | None = None
) -> Dataset:
    """Return real images of the train split, decoded at each access.

    Greyscale images have the shape (height, width), all others (height, width, 3); see
    `data_generator.decoding.to_array`.

    Parameters
    ----------
    name : str
        ``CIFAR-10`` or ``ImageNet-100``.
    count : int, optional
        Number of images, the first ones; all if not given.
    path : path-like, optional
        Local copy: a folder written by `save_to_disk` of `datasets`, a Parquet file, or a folder with
        Parquet files (those whose names start with "train", if any do). If not given, the copy in
        Hugging Face's cache is used or, without one, downloaded; with HF_HUB_OFFLINE=1, only the cache
        is used.

    Raises
    ------
    UnknownNameError
        If no such set is known.
    UnavailableError
        If `datasets` or Pillow is missing, or the set is not in the cache and cannot be reached.
    FileNotFoundError
        If `path` does not exist.
    ValueError
        If `path` does not contain such images, or if `count` is negative or larger than the set.
    """
    if name not in _SOURCES:
        raise UnknownNameError("set of real images", name, _SOURCES)
    hint = "python -m pip install datasets pillow"
    available = probe(("datasets", "pillow"), {"pillow": "PIL"}, hint)
    if not available:
        raise UnavailableError(name, available.reason, hint)
    source = _SOURCES[name]
    rows = _from_hub(name) if path is None else _from_disk(name, Path(path))
    column = source.image
    for wanted in (column, "label"):
        if wanted not in rows.column_names:
            raise ValueError(f"{name}: {path or source.repository} has no column {wanted!r}")
    count = len(rows) if count is None else count
    if not 0 <= count <= len(rows):
        raise ValueError(f"{name}: there are {len(rows):,} images, not {count:,}")
    pictures = rows.select_columns([column]).cast_column(column, import_module("datasets").Image())
    decoded = LazyImages(partial(_decoded, pictures, column), range(count))
    return Dataset(name, images=decoded, labels=list(rows["label"][:count]))


def hub_table(
    repository: str, split: str = "train", rows: int | None = None, config: str | None = None
) -> Dataset:
    """Return the first rows of a table on the Hugging Face hub, in their order; lists are Arrow's.

    The copy in Hugging Face's cache is used or, without one, downloaded; with HF_HUB_OFFLINE=1, only the
    cache is used. A folder of Parquet, CSV or JSON files that `datasets` can load is a repository too.

    Parameters
    ----------
    repository : str
        Name of a repository, e.g. ``scikit-learn/iris``, or path of a folder.
    split : str
        Split of the table, by the repository's name for it.
    rows : int, optional
        Number of rows; all if not given.
    config : str, optional
        Name of the table in a repository of several.

    Raises
    ------
    UnavailableError
        If `datasets` is missing, or if the table is neither in the cache nor reachable.
    TooFewRowsError
        If the table has fewer rows.
    """
    hint = "python -m pip install datasets"
    available = probe(("datasets",), {}, hint)
    if not available:
        raise UnavailableError(repository, available.reason, hint)
    try:
        found = _load(repository, split, config)
    except Exception as error:
        endpoint = import_module("datasets").config.HF_ENDPOINT
        source = repository if Path(repository).is_dir() else endpoint
        reason = f"its split {split} could not be loaded from {source}: {_first_line(error)}"
        hint = "a file of the table, which load_table reads, or once with access to the internet"
        raise UnavailableError(repository, reason, hint) from error
    wanted = len(found) if rows is None else rows
    if wanted > len(found):
        raise TooFewRowsError(repository, wanted, len(found))
    return Dataset(repository, to_pandas(found.with_format("arrow")[:wanted]))


def _decoded(rows: Any, column: str, number: int) -> np.ndarray:
    return to_array(rows[number][column])


def _from_disk(name: str, path: Path) -> Any:
    """Return the rows of a local copy, memory-mapped."""
    datasets = import_module("datasets")
    if not path.exists():
        raise FileNotFoundError(f"{name}: there is nothing at {path}")
    try:
        if (path / "dataset_dict.json").is_file() or (path / "dataset_info.json").is_file():
            saved = datasets.load_from_disk(str(path))
            return saved[SPLIT] if isinstance(saved, datasets.DatasetDict) else saved
        files = [path] if path.is_file() else sorted(path.rglob("*.parquet"))
        files = [file for file in files if file.name.startswith(SPLIT)] or files
        return datasets.Dataset.from_parquet([str(file) for file in files])
    except Exception as error:
        raise ValueError(f"{name}: {path} contains no saved images: {_first_line(error)}") from error


def _from_hub(name: str) -> Any:
    repository = _SOURCES[name].repository
    try:
        return _load(repository, SPLIT)
    except Exception as error:
        endpoint = import_module("datasets").config.HF_ENDPOINT
        reason = f"{repository} could not be loaded from {endpoint}: {_first_line(error)}"
        hint = f"load_images({name!r}, path=...) with a local copy, or once with access to the internet"
        raise UnavailableError(name, reason, hint) from error


def _load(repository: str, split: str, config: str | None = None) -> Any:
    """Return the memory-mapped rows of a folder, of the cache, or of the hub after a download."""
    datasets = import_module("datasets")
    cached = Path(datasets.config.HF_DATASETS_CACHE) / repository.replace("/", "___")
    if not cached.is_dir() and not Path(repository).is_dir():
        # Without a connection, load_dataset fails only after six attempts, with a message for each.
        hub = import_module("huggingface_hub").HfApi(endpoint=datasets.config.HF_ENDPOINT)
        hub.dataset_info(repository, timeout=SECONDS_TO_WAIT)
    return datasets.load_dataset(repository, config, split=split)


def _first_line(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".splitlines()[0].rstrip(" .:")

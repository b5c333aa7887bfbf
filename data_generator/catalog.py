"""Generation of tables, images, arrays, records and samples by name."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from data_generator import datasets
from data_generator.spec.spec import DEFAULT_SEED

if TYPE_CHECKING:
    import pandas as pd

    from data_generator.dataset import Dataset, DatasetDefinition


# 24 MB of ``kaons``.
BLOCK_ROWS = 2**17


def names() -> list[str]:
    """Return the names of all tables: synthetic ones first, then real ones."""
    return datasets.names("tables")


def image_names() -> list[str]:
    """Return the names of all sets of images: synthetic ones first, then real ones."""
    return datasets.names("images")


def array_names() -> list[str]:
    """Return the names of all n-d arrays: synthetic ones first, then real ones."""
    return datasets.names("arrays")


def record_names() -> list[str]:
    """Return the names of all sets of records."""
    return datasets.names("records")


def sample_names() -> list[str]:
    """Return the names of all sets of samples to train a model on."""
    return datasets.names("training")


def table(
    name: str,
    rows: int | None = None,
    seed: int = DEFAULT_SEED,
    path: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Return a named table, the same for the same (name, rows, seed) on every machine.

    Parameters
    ----------
    name : str
        One of `names`; ``format-bench list datasets`` describes each.
    rows : int, optional
        Number of rows; if not given, 1,000,000, 8,556,118 of ``kaons`` and ``kaons-deep``, 100,000 of
        ``embeddings``, or all of a real table. Fewer rows of a real table are its first ones.
    seed : int
        Tables of different seeds have nothing in common but their columns. Real tables ignore it.
    path : path-like, optional
        File with the real table that a synthetic one imitates, for ``webface`` alone: an HDF5 file. Its
        first `rows` are read.

    Raises
    ------
    UnknownNameError
        If no table has that name.
    ValueError
        If `rows` is negative, if a path is given for a table that is always generated, or if the file
        contains another table.
    FileNotFoundError
        If nothing is at `path`.
    TooFewRowsError
        If a real table has fewer rows.
    UnavailableError
        If the package of a real table is missing.
    """
    definition = datasets.find(name, "tables", "table")
    rows = _count(definition, rows, "a table", "rows")
    if path is None:
        return definition.make(rows, seed)
    if definition.load is None:
        readable = ", ".join(each.name for each in datasets.definitions("tables") if each.load)
        raise ValueError(f"table {name!r} is made, not read; only {readable} takes a path")
    return definition.load(Path(path), rows)


def blocks(
    name: str, rows: int | None = None, seed: int = DEFAULT_SEED, block_rows: int = BLOCK_ROWS
) -> Iterator[pd.DataFrame]:
    """Return a named table block by block: consecutive rows, each block with the default index.

    Together, the blocks are the table that `table` returns for the same name, rows and seed. Only
    ``kaons`` and ``kaons-deep`` are made block by block, in memory for one block; other tables are made
    as a whole first.

    Parameters
    ----------
    name : str
        One of `names`.
    rows : int, optional
        Number of rows of the table, as for `table`.
    seed : int
        Seed of the table, as for `table`.
    block_rows : int
        Number of rows of a block, at least 1; the last block has the rest. A table without rows is one
        block without rows.

    Raises
    ------
    UnknownNameError
        If no table has that name.
    ValueError
        If `rows` is negative, or `block_rows` not positive.
    TooFewRowsError
        If a real table has fewer rows.
    UnavailableError
        If the package of a real table is missing.
    """
    definition = datasets.find(name, "tables", "table")
    if block_rows < 1:
        raise ValueError(f"a block cannot have {block_rows} rows")
    count = _count(definition, rows, "a table", "rows")
    make_rows = definition.make_rows or _slicer(definition.make(count, seed).df)
    # One block at least, from which a writer takes the columns.
    starts = range(0, max(1, count), block_rows)
    return (make_rows(start, min(start + block_rows, count), seed) for start in starts)


def partition(
    name: str, number: int, partitions: int, rows: int | None = None, seed: int = DEFAULT_SEED
) -> pd.DataFrame:
    """Return one of several partitions of a named table, without making the others.

    Partitions have nearly equal numbers of rows. In ``kaons`` and ``kaons-deep`` they are rows of
    the table that `table` returns. The rows of other synthetic tables depend on each other, e.g. on the
    number of distinct values, so a partition of them is a table of its own, with a seed of its own; all
    have the columns and the properties of the named table. Partitions of real tables are slices.

    Parameters
    ----------
    name : str
        One of `names`.
    number : int
        Number of the partition, from 0 on.
    partitions : int
        Number of all partitions.
    rows, seed
        Rows and seed of the whole table, as for `table`.

    Raises
    ------
    UnknownNameError
        If no table has that name.
    ValueError
        If `rows` is negative, or there is no partition of that number.
    TooFewRowsError
        If a real table has fewer rows.
    UnavailableError
        If the package of a real table is missing.
    """
    definition = datasets.find(name, "tables", "table")
    if not 0 <= number < partitions:
        raise ValueError(f"there is no partition {number} of {partitions}")
    count = _count(definition, rows, "a table", "rows")
    start, stop = (count * each // partitions for each in (number, number + 1))
    if definition.make_rows:
        return definition.make_rows(start, stop, seed)
    if definition.is_real:
        return _slicer(definition.make(count, seed).df)(start, stop, seed)
    key = f"{seed} {number} {partitions}".encode()
    own_seed = int.from_bytes(hashlib.sha256(key).digest()[:7], "little")
    df = definition.make(stop - start, own_seed).df
    return _slicer(df)(0, stop - start, own_seed)


def _slicer(df: pd.DataFrame | None) -> Callable[[int, int, int], pd.DataFrame]:
    """Return a function that returns rows of a table, called as `DatasetDefinition.make_rows`."""
    if df is None:
        raise AssertionError("a data set of the family of tables is no table")
    return lambda start, stop, _seed: df.iloc[start:stop].reset_index(drop=True)


def _count(definition: DatasetDefinition, count: int | None, whole: str, items: str) -> int:
    if count is not None and count < 0:
        raise ValueError(f"{whole} cannot have {count} {items}")
    return definition.default_count if count is None else count


def images(name: str, count: int | None = None, seed: int = DEFAULT_SEED) -> Dataset:
    """Return a named set of images, the same for the same (name, count, seed) on every machine.

    Images are generated or decoded at each access, in any order, and are not kept: 126,689 of
    ``imagenet-like`` would take 13 GB. Fewer images are the first ones of more; sorted labels are
    distributed anew.

    Parameters
    ----------
    name : str
        One of `image_names`; ``format-bench list datasets`` describes each.
    count : int, optional
        Number of images; if not given, all of a real set, or as many as the set that a synthetic one
        imitates has for training.
    seed : int
        Synthetic images of different seeds have nothing in common. Their labels are unrelated to the
        pixels. Real sets ignore it.

    Raises
    ------
    UnknownNameError
        If no set has that name.
    ValueError
        If `count` is negative, or larger than a real set.
    UnavailableError
        If the package of a real set is missing.
    """
    definition = datasets.find(name, "images", "set of images")
    return definition.make(_count(definition, count, "a set", "images"), seed)


def array(name: str, count: int | None = None, seed: int = DEFAULT_SEED) -> Dataset:
    """Return a named n-d array, the same for the same (name, count, seed) on every machine.

    Chunks of synthetic arrays are generated when they are read, in any order, and are not kept: 896 of
    ``era5-like`` would take 8.7 GB. Fewer chunks are the first ones of more.

    Parameters
    ----------
    name : str
        One of `array_names`; ``format-bench list datasets`` describes each.
    count : int, optional
        Number of chunks, along the first axis; if not given, all of a real array, or as many as the data
        that a synthetic one imitates.
    seed : int
        Synthetic arrays of different seeds have nothing in common. Real ones and ``constant`` ignore it.

    Raises
    ------
    UnknownNameError
        If no array has that name.
    ValueError
        If `count` is negative, or larger than a real array.
    UnavailableError
        If the package of a real array is missing.
    """
    definition = datasets.find(name, "arrays", "array")
    return definition.make(_count(definition, count, "an array", "chunks"), seed)


def records(name: str, count: int | None = None, seed: int = DEFAULT_SEED) -> Dataset:
    """Return a named set of records, the same for the same (name, count, seed) on every machine.

    Objects are made when they are used. Fewer records are the first ones of more.

    Parameters
    ----------
    name : str
        One of `record_names`; ``format-bench list datasets`` describes each.
    count : int, optional
        Number of records; if not given, as many as the published program has.
    seed : int
        Sets of different seeds have nothing in common but their types. ``entities-seed`` and those with
        extreme values, ``entities-edge`` and ``entities-nested-edge``, ignore it.

    Raises
    ------
    UnknownNameError
        If no set has that name.
    ValueError
        If `count` is negative.
    """
    definition = datasets.find(name, "records", "set of records")
    return definition.make(_count(definition, count, "a set", "records"), seed)


def samples(name: str, count: int | None = None, seed: int = DEFAULT_SEED) -> Dataset:
    """Return a named set of samples to train a model on, the same for the same (name, count, seed).

    Samples are made when they are asked for. The files of images depend on the version of Pillow too.

    Parameters
    ----------
    name : str
        One of `sample_names`; ``format-bench list datasets`` describes each.
    count : int, optional
        Number of samples; if not given, the data set's own.
    seed : int
        Sets of different seeds have nothing in common but their fields.

    Raises
    ------
    UnknownNameError
        If no set has that name.
    ValueError
        If `count` is negative.
    """
    definition = datasets.find(name, "training", "set of samples")
    return definition.make(_count(definition, count, "a set", "samples"), seed)

"""Data sets: the data themselves, and the definitions that name them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from adapter_core.array_source import ArraySource
    from adapter_core.record_set import RecordSet
    from adapter_core.sample_set import SampleSet


@dataclass(frozen=True)
class Dataset:
    """Data of one benchmark: a table or several, images with labels, an n-d array, records, samples."""

    name: str
    df: pd.DataFrame | None = None
    """Shape (rows, columns), with the default index; None for other data."""
    images: Sequence[np.ndarray] | None = None
    """uint8 arrays of shape (height, width) or (height, width, channels); None for other data."""
    labels: Sequence[int] | None = None
    """One integer from 0 to 2**31 - 1 for each image; None for other data."""
    array: ArraySource | None = None
    """N-d array, made chunk by chunk; None for other data."""
    records: RecordSet | None = None
    """Records, made on demand; None for other data."""
    tables: Mapping[str, pd.DataFrame] | None = None
    """Several tables by name, the first counts the rows; None for other data."""
    samples: SampleSet | None = None
    """Samples to train a model on, made on demand; None for other data."""


@dataclass(frozen=True)
class UserData(Dataset):
    """A user's own table, images, array or records."""

    remarks: tuple[str, ...] = ()
    """Changes and omissions that make the data measurable, as clauses."""
    typed: tuple[str, ...] = ()
    """Columns whose types follow from their values, and attributes that the file names otherwise."""
    has_other_size: bool = False
    """The file has other data besides, or only describes these, so that its size is not theirs."""


@dataclass(frozen=True, kw_only=True)
class DatasetDefinition:
    """A named data set: its generator, and the facts for lists, plans of runs and packaging.

    Definitions are read where no third-party package is installed (setup.py), so modules that contain
    them import NumPy, pandas and the like inside functions.
    """

    name: str
    """Unique among all data sets, whatever their family."""
    family: str
    """Kind of data: ``tables``, ``images``, ``arrays``, ``records``, ``training``; ``queries`` of
    several tables."""
    description: str
    """One line for lists, without a full stop."""
    make: Callable[[int, int], Dataset]
    """Generator, called with the number of rows, images, chunks, records or samples, and the seed."""
    default_count: int
    """Number of rows, images, chunks, records or samples if none is given; all of a real data set."""
    quick_count: int | None = None
    """Largest number of them in a run without a given number; None for the suite's own."""
    is_real: bool = False
    """The data come from a package: there are `default_count` items, and seeds are ignored."""
    requires: tuple[str, ...] = ()
    """Distributions that contain the data, or without which they cannot be made."""
    load: Callable[[Path, int], Dataset] | None = None
    """Reader of a file with the real data that a synthetic set imitates, called with the path and the
    number of rows; None if the set does not imitate one."""
    make_rows: Callable[[int, int, int], pd.DataFrame] | None = None
    """Generator of some rows of a table without those before them, called with the first row, the row
    after the last one and the seed; None if the table is made as a whole. Rows do not depend on the
    number of rows of the table."""

    @classmethod
    def of_rows(
        cls,
        name: str,
        description: str,
        make_rows: Callable[[int, int, int], pd.DataFrame],
        default_count: int,
        quick_count: int | None = None,
    ) -> DatasetDefinition:
        """Return the definition of a table whose rows are made without those before them."""
        return cls(
            name=name,
            family="tables",
            description=description,
            make=partial(_first_rows, name, make_rows),
            default_count=default_count,
            quick_count=quick_count,
            make_rows=make_rows,
        )

    def count_for_run(self, usual: int) -> int:
        """Return the number of items of a run whose suite usually takes `usual` ones."""
        if self.quick_count is not None:
            usual = min(usual, self.quick_count)
        return min(usual, self.default_count) if self.is_real else usual


def _first_rows(
    name: str, make_rows: Callable[[int, int, int], pd.DataFrame], rows: int, seed: int
) -> Dataset:
    return Dataset(name, make_rows(0, rows, seed))

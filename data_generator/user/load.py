"""Loading of a user's own data, a folder of images or a table."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from data_generator import location
from data_generator.readers import every_reader
from data_generator.spec.spec import DEFAULT_SEED
from data_generator.user.image_folder import load_image_folder
from data_generator.user.table import load_table

if TYPE_CHECKING:
    from data_generator.dataset import UserData


def load_data(
    path: str | os.PathLike[str],
    *,
    sample: int | None = None,
    seed: int = DEFAULT_SEED,
    trust_pickle: bool = False,
) -> UserData:
    """Return the table or the images at a path.

    The errors raised are those of `load_table` and `load_image_folder`.

    Parameters
    ----------
    path : path-like
        A file; or a folder, which contains images unless it is a Lance data set.
    sample : int, optional
        Number of rows or images in a random sample; all if not given.
    seed : int
        Seed of the sample.
    trust_pickle : bool
        Load pickles, which can run any program.
    """
    found = location.find(path)
    if found.is_folder and not any(reader.is_in(found.path) for reader in every_reader()):
        return load_image_folder(path, sample, seed)
    return load_table(path, sample_rows=sample, seed=seed, trust_pickle=trust_pickle)

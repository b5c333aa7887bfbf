"""A data set: a named table, or named images with their labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


@dataclass(frozen=True)
class Dataset:
    """What a benchmark saves and reads: a table, or images."""

    name: str
    df: pd.DataFrame | None = None
    """Shape (rows, columns), with the default index; None for a set of images."""
    images: Sequence[np.ndarray] | None = None
    """uint8 arrays of shape (height, width) or (height, width, channels); None for a table."""
    labels: Sequence[int] | None = None
    """One integer from 0 to 2**31 - 1 for each image; None for a table."""

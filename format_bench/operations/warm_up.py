"""Makes a process ready, so that no import of a library falls into a measured call."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import data_generator
from adapter_core.errors import CannotHoldError

if TYPE_CHECKING:
    from adapter_core import DataFormat
    from adapter_core.image_storage import ImageStorage


@functools.cache
def warm_up(adapter: DataFormat) -> None:
    """Save and read a tiny table."""
    df = data_generator.table("eq", rows=8).df
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"warm{adapter.suffix}")
        try:
            adapter.save(df, path)
        except CannotHoldError:
            return
        adapter.read(path)


@functools.cache
def warm_up_storage(adapter: ImageStorage) -> None:
    """Save, read and open a tiny set of images."""
    import numpy as np

    images = [np.full((8, 8, 3), value, np.uint8) for value in range(4)]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, f"warm{adapter.suffix}")
        adapter.save(images, range(4), path)
        adapter.read(path)
        with adapter.open(path) as reader:
            reader.get(1)
            reader.get_many([2, 0])

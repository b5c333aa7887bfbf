"""Real arrays that are part of Python packages: digits, faces and the elevation of a landscape.

Only files inside the installed packages are opened: nothing is ever downloaded.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core import UnavailableError
from adapter_core.array_source import ArraySource
from data_generator.dataset import Dataset, DatasetDefinition
from data_generator.datasets._packages import module_of

if TYPE_CHECKING:
    import numpy as np


def digits() -> np.ndarray:
    """Return the handwritten digits of scikit-learn, shape (1797, 8, 8), float64 of 17 levels."""
    return module_of("digits-float", "scikit-learn", "sklearn", "sklearn.datasets").load_digits().images


def faces() -> np.ndarray:
    """Return the faces and other sections in scikit-image's wheel, shape (200, 25, 25), float64.

    They are of Labeled Faces in the Wild (Huang et al., 2007).
    """
    import numpy as np

    package = module_of("faces", "scikit-image", "skimage", "skimage")
    path = Path(package.__file__).parent / "data" / "lfw_subset.npy"
    if not path.is_file():
        reason = f"this version of scikit-image comes without {path.name}"
        raise UnavailableError("faces", reason, "python -m pip install scikit-image==0.26.0")
    return np.load(path, allow_pickle=False)


def elevation() -> np.ndarray:
    """Return the heights around the Jacksboro fault in metres, shape (344, 403), int16.

    They are part of matplotlib's sample data, and of the Shuttle Radar Topography Mission.
    """
    cbook = module_of("elevation", "matplotlib", "matplotlib", "matplotlib.cbook")
    return cbook.get_sample_data("jacksboro_fault_dem.npz")["elevation"]


def _array(
    name: str,
    load: Callable[[], np.ndarray],
    edge: int,
    dims: tuple[str, ...],
    count: int,
    _seed: int,
) -> Dataset:
    """Return the first `count` chunks, each of `edge` steps along the first axis."""
    values = load()
    values.flags.writeable = False  # reading returns views
    chunks = -(-len(values) // edge)
    if count > chunks:
        raise ValueError(f"{name} has {chunks} chunks, not {count:,}")
    array = ArraySource.of(
        values[: count * edge], (edge, *values.shape[1:]), name=name.replace("-", "_"), dims=dims
    )
    return Dataset(name, array=array)


DATASETS = (
    DatasetDefinition(
        name="digits-float",
        family="arrays",
        description="real: handwritten digits as float64, chunks of 100 x 8 x 8, the last one smaller",
        make=partial(_array, "digits-float", digits, 100, ("image", "row", "column")),
        default_count=18,
        is_real=True,
        requires=("scikit-learn",),
    ),
    DatasetDefinition(
        name="faces",
        family="arrays",
        description="real: faces of 25 x 25 pixels as float64, chunks of 10 faces",
        make=partial(_array, "faces", faces, 10, ("image", "row", "column")),
        default_count=20,
        is_real=True,
        requires=("scikit-image",),
    ),
    DatasetDefinition(
        name="elevation",
        family="arrays",
        description="real: heights of a landscape in metres, int16, chunks of 43 x 403",
        make=partial(_array, "elevation", elevation, 43, ("latitude", "longitude")),
        default_count=8,
        is_real=True,
        requires=("matplotlib",),
    ),
)

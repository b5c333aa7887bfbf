"""A volume of biological cells as a fluorescence microscope shows it, and its segmentation.

Formats for volumes meet here what fields of weather lack: chunks of three dimensions, 12 bits of signal
in 16, and labels, integers in long runs along all three, which change at borders alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import product
from typing import TYPE_CHECKING

from adapter_core.array_source import ArraySource, Selection, shape_of
from data_generator.dataset import Dataset, DatasetDefinition
from data_generator.random_words import RandomWords
from data_generator.synthetic.octaves import signed_noise

if TYPE_CHECKING:
    import numpy as np


DIMENSIONS = ("z", "y", "x")

# Voxels of a chunk.
DEPTH, SIDE = 32, 128

# Cells are the voxels that are nearest to a point, of which there is one within each cube of a grid. One
# more row and column of cubes around the volume are those of cells that its borders cut.
SPACING = 16
CUBES = SIDE // SPACING + 2
LAYERS = DEPTH // SPACING + 2

# Twice the distance of two points times a voxel's from the border between them: about a voxel.
BORDER = 24

# Counts of a camera of 12 bits.
DARK, LEAST_LIGHT, LIGHT, MEMBRANE, MOST_COUNTS = 100, 150, 650, 24_000, 4_095


@dataclass(frozen=True)
class _Slabs:
    """Reader of any part of a volume, whose chunks are made one after another, and not kept."""

    make: Callable[[int], np.ndarray]
    """Returns the chunk of a number, a new array of shape (DEPTH, SIDE, SIDE)."""

    def __call__(self, selection: Selection) -> np.ndarray:
        """Return the values of a selection."""
        import numpy as np

        along, rows, columns = selection
        pieces = []
        for number in range(along.start // DEPTH, -(-along.stop // DEPTH)):
            first = number * DEPTH
            within = slice(max(along.start - first, 0), min(along.stop - first, DEPTH))
            pieces.append(self.make(number)[within, rows, columns])
        if not pieces:
            return self.make(0)[:0, rows, columns].reshape(shape_of(selection))
        return np.ascontiguousarray(pieces[0]) if len(pieces) == 1 else np.concatenate(pieces)


def _labels_of(seed: int, number: int) -> np.ndarray:
    """Return the cells' numbers from 1 on, in order of the layers, and 0 between cells."""
    import numpy as np

    cells, gaps = _nearest(seed, number)
    return np.where(gaps < BORDER, 0, cells).astype(np.uint32)


def _image_of(seed: int, number: int) -> np.ndarray:
    """Return the light of membranes, which fades with the distance, and of the cells between them."""
    import numpy as np

    cells, gaps = _nearest(seed, number)
    # A multiplicative hash: each cell has a light of its own.
    light = LEAST_LIGHT + ((cells * 2_654_435_761) % 2**32 * LIGHT >> 32)
    light += MEMBRANE // (gaps.astype(np.int64) + BORDER // 2)
    # The variance of counts is their number; the deviation of the noise is 148 without the shift.
    noise = signed_noise(RandomWords("cells", "noise", seed, number), 4, light.size)
    deviation = np.sqrt(light.astype(np.float64)).astype(np.int64)
    light += DARK + (noise.reshape(light.shape) * deviation >> 7)
    return light.clip(0, MOST_COUNTS).astype(np.uint16)


def _nearest(seed: int, number: int) -> tuple[np.ndarray, np.ndarray]:
    """Return for each voxel of a chunk the number of its cell, and how far its border is.

    Returns
    -------
    tuple of numpy.ndarray
        Numbers, dtype int64, and distances to the second nearest point less those to the nearest one,
        squared, dtype int16; both of shape (DEPTH, SIDE, SIDE).
    """
    import numpy as np

    layers = DEPTH // SPACING
    first = number * layers - 1
    points = np.stack([_points(seed, first + each) for each in range(LAYERS)])
    grid = np.arange(LAYERS * CUBES * CUBES, dtype=np.int16).reshape(LAYERS, CUBES, CUBES)
    shape = (layers, SPACING, CUBES - 2, SPACING, CUBES - 2, SPACING)
    best = np.full(shape, np.iinfo(np.int16).max, np.int16)
    second, owner = best.copy(), np.zeros(shape, np.int16)
    inside = np.arange(SPACING, dtype=np.int16)
    # One cube of neighbours after the other, for all voxels: distances are below 2**12.
    for offset in product((-1, 0, 1), repeat=3):
        there = tuple(
            slice(1 + step, edge - 1 + step) for step, edge in zip(offset, grid.shape, strict=True)
        )
        distance = np.zeros(shape, np.int16)
        for axis, step in enumerate(offset):
            place = points[there][..., axis] + np.int16(step * SPACING)
            steps = inside.reshape([-1 if each == 2 * axis + 1 else 1 for each in range(6)])
            distance += (steps - place[:, None, :, None, :, None]) ** 2
        is_nearer = distance < best
        second = np.where(is_nearer, best, np.minimum(second, distance))
        best = np.where(is_nearer, distance, best)
        owner = np.where(is_nearer, grid[there][:, None, :, None, :, None], owner)
    edges = (DEPTH, SIDE, SIDE)
    # Cells of the layer before the volume have numbers too.
    cells = owner.reshape(edges).astype(np.int64) + (first + 1) * CUBES * CUBES + 1
    return cells, (second - best).reshape(edges)


@lru_cache(maxsize=16)
def _points(seed: int, layer: int) -> np.ndarray:
    """Return the points of a layer, each within its cube; shape (CUBES, CUBES, 3), dtype int16."""
    import numpy as np

    words = RandomWords("cells", "points", seed, layer).integers(SPACING - 2, CUBES * CUBES * 3)
    return words.astype(np.int16).reshape(CUBES, CUBES, 3) + np.int16(1)


def _volume(
    name: str, make: Callable[[int, int], np.ndarray], dtype: str, count: int, seed: int
) -> Dataset:
    import numpy as np

    array = ArraySource(
        shape=(count * DEPTH, SIDE, SIDE),
        dtype=np.dtype(dtype),
        chunks=(DEPTH, SIDE, SIDE),
        read=_Slabs(partial(make, seed)),
        name=name.replace("-", "_"),
        dims=DIMENSIONS,
    )
    return Dataset(name, array=array)


DATASETS = (
    DatasetDefinition(
        name="cells",
        family="arrays",
        description="a volume of cells in a microscope of 12 bits; uint16 chunks of 32 x 128 x 128",
        make=partial(_volume, "cells", _image_of, "uint16"),
        default_count=64,
    ),
    DatasetDefinition(
        name="cell-labels",
        family="arrays",
        description="the segmentation of that volume; uint32 chunks of 32 x 128 x 128",
        make=partial(_volume, "cell-labels", _labels_of, "uint32"),
        default_count=64,
    ),
)

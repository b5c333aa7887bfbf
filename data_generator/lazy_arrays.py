"""Arrays that are generated step by step along their first axis."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adapter_core.array_source import ArraySource, Selection, shape_of

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class StepReader:
    """Reader of any part of an array, for `ArraySource`; it can be pickled if `make` can."""

    make: Callable[[int], np.ndarray]
    """Returns the values at an index of the first axis: a new array of the shape of the other axes."""
    dtype: str

    def __call__(self, selection: Selection) -> np.ndarray:
        """Return the values of a selection; each of its steps is generated, and none is kept."""
        import numpy as np

        first, rest = selection[0], selection[1:]
        numbers = range(first.start, first.stop)
        if len(numbers) == 1:  # without a copy of a whole step
            return np.ascontiguousarray(self.make(first.start)[rest])[np.newaxis]
        values = np.empty(shape_of(selection), self.dtype)
        for place, number in enumerate(numbers):
            values[place] = self.make(number)[rest]
        return values


def stepwise(
    make: Callable[[int], np.ndarray], count: int, shape: tuple[int, ...], dtype: str, **facts: Any
) -> ArraySource:
    """Return an array of `count` steps, each a chunk.

    Parameters
    ----------
    make : callable
        Called with the number of a step, from 0 on; returns a new array of `shape` and `dtype`.
    count : int
        Number of steps.
    shape : tuple of int
        Shape of a step.
    dtype : str
        Name of the dtype.
    **facts
        Further fields of `ArraySource`: name, dims, attributes, coordinates.
    """
    import numpy as np

    return ArraySource(
        shape=(count, *shape),
        dtype=np.dtype(dtype),
        chunks=(1, *shape),
        read=StepReader(make, dtype),
        **facts,
    )

"""Packed data of the CF conventions: floats as 16-bit integers with a scale and an offset.

https://cfconventions.org/cf-conventions/cf-conventions.html#packed-data
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

from adapter_core.codecs import Codec, ErrorScale
from adapter_core.error_bounds import BoundKind, ErrorBound

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np

PACKED = Codec(
    "zlib+packed+shuffle", range(1, 21), 10, error=ErrorScale.ONE, bounds=(BoundKind.ABSOLUTE,)
)
"""Integers that are multiples of a step, with netCDF's default level of zlib."""

DTYPE = "int16"
FILL = -(2**15)
"""Integer that stands for NaN."""
_MOST = 2**15 - 1
SCALE, OFFSET = "scale_factor", "add_offset"


@dataclass(frozen=True)
class Packing:
    """Scale and offset of packed floats; both are of the floats' own type."""

    scale: Any
    offset: Any

    @classmethod
    def within(cls, bound: ErrorBound, parts: Iterable[np.ndarray], dtype: np.dtype[Any]) -> Self:
        """Return the packing of some floats that keeps an absolute bound, by two passes over them.

        Raises
        ------
        ValueError
            If there is none, with the reason.
        """
        import numpy as np

        least, greatest = np.inf, -np.inf
        for values in parts:
            if np.isinf(values).any():
                raise ValueError("no packed integer is infinite")
            numbers = values[~np.isnan(values)]
            if numbers.size:
                least = min(least, float(numbers.min()))
                greatest = max(greatest, float(numbers.max()))
        if least > greatest:
            least = greatest = 0.0
        # A power of two, by which nothing but the fraction of a step is lost.
        scale = dtype.type(bound.step)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            middle = np.rint((least / 2 + greatest / 2) / bound.step) * bound.step
            steps = (greatest / 2 - least / 2) / bound.step
        if not (scale > 0 and np.isfinite(scale) and np.isfinite(middle) and steps <= _MOST - 1):
            raise ValueError("the range has more steps of the bound than 16 bits have numbers")
        return cls(scale, dtype.type(middle))

    @classmethod
    def of(cls, variable: Any) -> Self | None:
        """Return the packing of a variable of netCDF; None if its values are not packed.

        A variable that only has the attributes of one, from other software, has no fill value here.
        """
        names = {SCALE, OFFSET, "_FillValue"}
        if variable.dtype != DTYPE or not names <= set(variable.ncattrs()):
            return None
        return cls(variable.getncattr(SCALE), variable.getncattr(OFFSET))

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the floats."""
        import numpy as np

        return np.dtype(type(self.scale))

    def packed(self, values: np.ndarray) -> np.ndarray:
        """Return the integers of floats of any shape.

        Raises
        ------
        ValueError
            If a value lies beyond the range.
        """
        import numpy as np

        numbers = np.rint((values.astype(np.float64) - float(self.offset)) / float(self.scale))
        is_missing = np.isnan(values)
        if not (np.abs(numbers[~is_missing]) <= _MOST).all():
            raise ValueError("a value is beyond the range of the packed integers")
        return np.where(is_missing, FILL, numbers).astype(DTYPE)

    def unpacked(self, numbers: np.ndarray) -> np.ndarray:
        """Return the floats of integers of any shape."""
        import numpy as np

        values = numbers * np.float64(self.scale) + np.float64(self.offset)
        return np.where(numbers == FILL, np.nan, values).astype(self.dtype)


class PackedVariable:
    """A variable of netCDF that takes floats.

    Parameters
    ----------
    variable : netCDF4.Variable
        Its integers, without masks and scales.
    packing : Packing
        Scale and offset.
    """

    def __init__(self, variable: Any, packing: Packing) -> None:
        self._variable, self._packing = variable, packing

    def __setitem__(self, selection: Any, values: np.ndarray) -> None:
        self._variable[selection] = self._packing.packed(values)

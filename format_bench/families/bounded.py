"""Error bounds on given data: shares of their range, or of their information, become plain bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from adapter_core.error_bounds import BoundKind, ErrorBound, bits_for, information_of
from adapter_core.errors import UnsupportedError

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np

# Pairs of neighbours whose bits are counted: chance has 5e-6 bits of information in so many, and
# counting takes some tenths of a second. Chosen, not measured.
MOST_PAIRS = 2**20


def resolved(bound: ErrorBound, parts: Iterable[np.ndarray], sample: Iterable[np.ndarray]) -> ErrorBound:
    """Return the absolute or relative bound that a bound means for some data.

    Parameters
    ----------
    bound : ErrorBound
        Of any kind.
    parts : iterable of numpy.ndarray
        All values; read if their range counts.
    sample : iterable of numpy.ndarray
        Parts with enough of the data; read if the information of bits counts. Neighbours are along the
        last axis.

    Raises
    ------
    UnsupportedError
        If the data have no range, or neighbours that have no information in common.
    """
    if bound.kind is BoundKind.RANGE:
        least, greatest = extremes(parts)
        error = bound.share * (greatest - least)
        # Not of values that are equal, missing, or so far apart that a double cannot say how far.
        if not 0 < error < ErrorBound.MOST_ERROR:
            raise UnsupportedError("its finite values have no range that an error could be a share of")
        return ErrorBound(BoundKind.ABSOLUTE, error)
    if bound.kind is BoundKind.INFORMATION:
        return ErrorBound(BoundKind.RELATIVE, 2.0 ** -(_bits(sample, bound.share) + 1))
    return bound


def extremes(parts: Iterable[np.ndarray]) -> tuple[float, float]:
    """Return the least and the greatest finite value of floats; both 0 if there is none."""
    import numpy as np

    found = [values[np.isfinite(values)] for values in parts]
    ends = [(float(each.min()), float(each.max())) for each in found if each.size]
    return min((each for each, _ in ends), default=0.0), max((each for _, each in ends), default=0.0)


def _bits(sample: Iterable[np.ndarray], percent: float) -> int:
    import numpy as np

    pairs, count = [], 0
    for values in sample:
        first, second = values[..., :-1].reshape(-1), values[..., 1:].reshape(-1)
        is_number = np.isfinite(first) & np.isfinite(second)
        pairs.append((first[is_number], second[is_number]))
        count += int(is_number.sum())
        if count >= MOST_PAIRS:
            break
    if count:
        first, second = (np.concatenate(each)[:MOST_PAIRS] for each in zip(*pairs, strict=True))
        mantissa = int(np.finfo(first.dtype).nmant)
        found = bits_for(information_of(first, second), percent, mantissa)
        if found is not None:
            return found
    raise UnsupportedError("its neighbouring values share no information, by which bits are counted")

"""Comparison of an array read back with the one saved, and the errors of its floats."""

from __future__ import annotations

import math
import sys
from typing import TYPE_CHECKING, Any

from adapter_core.array_source import grid_of
from adapter_core.array_store import Property
from adapter_core.codecs import ErrorScale
from adapter_core.error_bounds import ErrorBound, exceeding
from format_bench.verification import Diff

if TYPE_CHECKING:
    from collections.abc import Iterator

    import numpy as np

    from adapter_core import ArrayReader, ArraySource, ArrayStore, Codec

LOST = " lost: "
"""Between a lost property and the reason."""

# Squares and sums of greater doubles may be infinite, and long doubles have room for them.
_LARGE = 1e150


def verify_array(  # noqa: PLR0913, PLR0917 (a file as it was saved, and the array)
    store: ArrayStore,
    codec: Codec | None,
    level: int | None,
    saved: ArraySource,
    found: ArrayReader,
    bound: ErrorBound | None = None,
) -> Diff:
    """Compare an array read back with the one saved, chunk by chunk.

    Values are compared bit for bit, NaN payloads included; a lossy codec's or store's, which are
    finite, with the declared bound; and each value of a file under an error bound with that.

    Parameters
    ----------
    store : ArrayStore
        Declares the properties and the values that it does not keep.
    codec, level
        The codec of the file and its level; None for none.
    saved : ArraySource
        The saved array.
    found : ArrayReader
        The open file.
    bound : ErrorBound, optional
        The absolute or relative bound that it was saved under.
    """
    if (found.shape, found.dtype) != (saved.shape, saved.dtype):
        changed = f"{saved.dtype} {saved.shape} came back as {found.dtype} {found.shape}"
        return Diff(errors=(changed,))
    losses, errors = _properties(store, saved, found)
    if bound is not None:
        changes, broken = _changes_within(bound, saved, found)
        return Diff((*losses, *changes), (*errors, *broken), len(losses) + len(changes))
    scale, bits = (codec.error, level or 0) if codec and codec.error else store.error or (None, 0)
    changed_chunks, largest = 0, 0.0
    for place, values, read in _changed(saved, found):
        changed_chunks += 1
        if scale is None:
            errors.append(f"values of the chunk at {place} differ")
            break
        largest = max(largest, _error_share(values, read, scale))
    if changed_chunks and scale is not None:
        words = (
            f"values of {changed_chunks} of {_chunk_count(saved)} chunks changed, "
            f"by up to {largest:.3g} of {_NAMES[scale]}"
        )
        # The bound holds for exact arithmetic; libraries calculate in the array's own precision.
        if largest <= 2.0**-bits * (1 + 1e-6):
            losses.append(words)
        else:
            errors.append(f"{words}, although 2**-{bits} is declared")
    return Diff(tuple(losses), tuple(errors), len(losses))


_NAMES = {
    ErrorScale.VALUE: "each value",
    ErrorScale.RANGE: "the range of their chunk",
    ErrorScale.ONE: "the unit",
}


def _changes_within(
    bound: ErrorBound, saved: ArraySource, found: ArrayReader
) -> tuple[list[str], list[str]]:
    """Return the changes of values that an error bound permits, and those that it does not."""
    import numpy as np

    changed_chunks, largest = 0, 0.0
    for place, values, read in _changed(saved, found):
        changed_chunks += 1
        if wrong := broken_bound(values, read, bound):
            return [], [f"chunk at {place}: {wrong}"]
        finite = np.isfinite(values)
        change = np.abs(read[finite].astype(np.float64) - values[finite])
        largest = max(largest, float(change.max(initial=0.0)))
    if not changed_chunks:
        return [], []
    words = f"values of {changed_chunks} of {_chunk_count(saved)} chunks changed"
    return [f"{words}, by up to {largest:.3g}, within {bound}"], []


def _changed(
    saved: ArraySource, found: ArrayReader
) -> Iterator[tuple[list[int], np.ndarray, np.ndarray]]:
    """Yield the place of each changed chunk, and its values as they were saved and read."""
    for selection, values in saved:
        read = found.read(selection)
        if not _same_bits(values, read):
            yield [each.start for each in selection], values, read


def _chunk_count(saved: ArraySource) -> int:
    return math.prod(grid_of(saved.shape, saved.chunks))


def broken_bound(saved: np.ndarray, read: np.ndarray, bound: ErrorBound) -> str:
    """Return in words how floats exceed an error bound; empty if they keep it."""
    import numpy as np

    if (read.dtype, read.shape) != (saved.dtype, saved.shape):
        return f"{saved.dtype} {saved.shape} came back as {read.dtype} {read.shape}"
    wrong = exceeding(saved, read, bound)
    if not wrong.any():
        return ""
    before, after = saved[wrong].astype(np.float64), read[wrong].astype(np.float64)
    # The worst of all, which NaN and infinities are.
    with np.errstate(over="ignore", invalid="ignore"):
        error = np.nan_to_num(np.abs(after - before), nan=np.inf)
    worst = int(np.argmax(error))
    return (
        f"{wrong.sum():,} of {wrong.size:,} values are not within {bound}, e.g. {before[worst]!s} came "
        f"back as {after[worst]!s}"
    )


def _properties(
    store: ArrayStore, saved: ArraySource, found: ArrayReader
) -> tuple[list[str], list[str]]:
    """Return declared and undeclared losses of properties that the saved array has."""
    losses, errors = [], []
    kept = found.description
    has: dict[Property, tuple[Any, Any]] = {
        Property.NAME: (saved.name, kept.name),
        Property.DIMS: (saved.dims, kept.dims),
        Property.ATTRIBUTES: (dict(saved.attributes), dict(kept.attributes)),
        Property.COORDINATES: (_as_arrays(saved.coordinates), _as_arrays(kept.coordinates)),
        Property.COORDINATE_ATTRIBUTES: (
            _as_dicts(saved.coordinate_attributes),
            _as_dicts(kept.coordinate_attributes),
        ),
        Property.CHUNKS: (clipped(saved.chunks, saved.shape), clipped(kept.chunks, saved.shape)),
    }
    for each, (wanted, got) in has.items():
        if _exact(wanted) == _exact(got):
            continue
        if each in store.keeps:
            errors.append(f"{each} came back as {got!s:.80}, not {wanted!s:.80}")
        else:
            losses.append(f"{each}{LOST}{store.loses[each]}")
    return losses, errors


def _as_dicts(attributes: Any) -> dict[str, dict[str, Any]]:
    return {name: dict(each) for name, each in attributes.items() if each}


def _as_arrays(coordinates: Any) -> dict[str, tuple[str, list[Any]]]:
    return {name: (each.dtype.str, each.tolist()) for name, each in coordinates.items()}


def _exact(value: Any) -> Any:
    """Return a value whose equality distinguishes 1, True and 1.0, and 0.0 from -0.0, but no NaN."""
    if isinstance(value, dict):
        return {name: _exact(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_exact(each) for each in value]
    # Stores return scalars of NumPy for those of Python.
    plain = value.item() if hasattr(value, "item") and not getattr(value, "ndim", 0) else value
    return type(plain), repr(plain)


def clipped(chunks: tuple[int, ...], shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape of chunks, cut at the edges of the array."""
    return tuple(min(chunk, max(1, edge)) for chunk, edge in zip(chunks, shape, strict=True))


def _same_bits(values: np.ndarray, read: np.ndarray) -> bool:
    import numpy as np

    if (read.dtype, read.shape) != (values.dtype, values.shape):
        return False
    one, other = (np.ascontiguousarray(each).reshape(-1).view(np.uint8) for each in (values, read))
    return np.array_equal(one, other)


def _error_share(values: np.ndarray, read: np.ndarray, scale: ErrorScale) -> float:
    """Return the largest error of a chunk as a share of its scale."""
    import numpy as np

    if (read.dtype, read.shape) != (values.dtype, values.shape):
        return np.inf
    if not np.isfinite(read).all():
        return np.inf
    error = np.abs(read.astype(np.float64) - values)
    of: Any = {
        ErrorScale.VALUE: np.abs(values.astype(np.float64)),
        ErrorScale.RANGE: np.ptp(values.astype(np.float64)),
        ErrorScale.ONE: 1.0,
    }[scale]
    with np.errstate(divide="ignore"):
        share = np.divide(error, of, out=np.zeros_like(error), where=error > 0)
    return float(share.max(initial=0.0))


class Errors:
    """Errors of an array that comes in parts.

    Means, extremes and gradients are of values alone that are finite before and after.
    """

    def __init__(self) -> None:
        self._absolute: Any = 0.0
        self._relative: Any = 0.0
        self._special = self._count = 0
        self._sums: list[Any] = [0.0, 0.0]
        self._ends: list[tuple[Any, Any]] = [(math.inf, -math.inf)] * 2
        self._gradients: list[Any] = [0.0, 0.0]

    def add(self, saved: np.ndarray, read: np.ndarray) -> None:
        """Count the floats of a part, saved and read, of one shape."""
        import numpy as np

        before, after = saved.astype(np.float64), read.astype(np.float64)
        finite = np.isfinite(before) & np.isfinite(after)
        # A NaN with another sign or payload is no other value.
        same = (before == after) | (np.isnan(before) & np.isnan(after))
        self._special += int((~same & ~finite).sum())
        before, after = (np.where(finite, each, 0.0) for each in (before, after))
        if max(np.abs(before).max(initial=0.0), np.abs(after).max(initial=0.0)) > _LARGE:
            before, after = before.astype(np.longdouble), after.astype(np.longdouble)
        size, change = np.abs(before), np.abs(after - before)
        # A change of a subnormal number may be infinitely many times as large as it is.
        with np.errstate(over="ignore"):
            shares = np.divide(change, size, out=np.zeros_like(change), where=size > 0)
        self._absolute = max(self._absolute, change.max(initial=0.0))
        self._relative = max(self._relative, shares.max(initial=0.0))
        self._count += int(finite.sum())
        for place, values in enumerate((before, after)):
            self._sums[place] += values.sum()
            least, greatest = self._ends[place]
            self._ends[place] = (
                min(least, values.min(initial=math.inf, where=finite)),
                max(greatest, values.max(initial=-math.inf, where=finite)),
            )
        for axis in range(before.ndim):
            steps, others = np.diff(before, axis=axis), np.diff(after, axis=axis)
            edge = finite.shape[axis]
            both = finite.take(range(1, edge), axis) & finite.take(range(edge - 1), axis)
            self._gradients[0] += np.square(others - steps).sum(where=both)
            self._gradients[1] += np.square(steps).sum(where=both)

    def by_metric(self) -> dict[str, float]:
        """Return all errors by the names of their metrics.

        Absolute errors are in the unit of the data, relative ones of values that are not 0. Errors of
        mean and extremes are shares of the range. The error of gradients is the root mean square change
        of differences between neighbours, as a share of the root mean square difference.
        """
        import numpy as np

        (least, greatest), read = self._ends
        changed, whole = self._gradients
        between = greatest - least if greatest > least else 1.0
        ends = (abs(one - other) for one, other in zip((least, greatest), read, strict=True))
        # Shares of subnormal ranges and differences may be infinite.
        with np.errstate(over="ignore"):
            found = {
                "greatest absolute error": self._absolute,
                "greatest relative error": self._relative,
                "error of the mean": abs(self._sums[1] - self._sums[0]) / max(1, self._count) / between,
                "error of extremes": max(ends) / between if self._count else 0.0,
                "error of gradients": (changed / whole) ** 0.5 if whole else 0.0,
                "changed special values": self._special,
            }
        # Results have no infinite values.
        return {name: min(float(value), sys.float_info.max) for name, value in found.items()}

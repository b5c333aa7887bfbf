"""Set of samples to train a model on: fields, stored values, and their decoding."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from hashlib import blake2b
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    import numpy as np

    from adapter_core.array_source import ArraySource

Sample = Mapping[str, Any]
"""Values by field; `INDEX` is among them."""

INDEX = "index"
"""The field of a sample's place in its set, an integer that travels through every loader."""


class SampleKind(StrEnum):
    """Kind of samples; the value is its name in sentences."""

    IMAGE = "images"
    MASK = "images with masks"
    WINDOW = "windows of an array"
    ROW = "rows of a table"
    EMBEDDING = "embeddings"
    TEXT = "texts"


class FieldForm(StrEnum):
    """Form of a field's stored value."""

    INTEGER = "integer"
    """A Python int of 64 bits."""
    NUMBER = "number"
    """A Python float."""
    TEXT = "text"
    """A str of any length."""
    PICTURE = "picture"
    """The bytes of a file of an image, which `SampleSet.decode` turns into an array of pixels."""
    ARRAY = "array"
    """A NumPy array of the field's dtype and shape."""


@dataclass(frozen=True)
class SampleField:
    """Form of one field of all samples of a set."""

    form: FieldForm
    dtype: str = ""
    """Of an array, e.g. "float32"."""
    shape: tuple[int, ...] = ()
    """Of an array; the same for all samples."""
    extension: str = ""
    """Of a picture's file, without the dot, e.g. "jpg"."""


class SampleSet(Sequence[Sample]):
    """Samples in the order in which a user has them; each is made when it is asked for.

    A subclass implements `__len__` and `stored`.

    Parameters
    ----------
    kind : SampleKind
        Kind of the samples.
    fields : mapping of str to SampleField
        The fields without `INDEX`, in order.
    decode : callable, optional
        Returns the sample that a model takes of a stored one; workers of loaders call it. Can be
        pickled. A storage may have decoded pictures before. By default it is the stored sample.
    array : ArraySource, optional
        The array whose windows the samples are, for loaders of arrays: sample i has the `window` steps
        from step i on of the first axis, in the only field.
    window : int
        Steps of a window.
    """

    def __init__(
        self,
        kind: SampleKind,
        fields: Mapping[str, SampleField],
        decode: Callable[[Sample], Sample] | None = None,
        array: ArraySource | None = None,
        window: int = 0,
    ) -> None:
        self.kind = kind
        self.fields = dict(fields)
        self.decode = decode or as_stored
        self.array = array
        self.window = window

    @abstractmethod
    def stored(self, index: int) -> dict[str, Any]:
        """Return the stored values of a sample from 0 on, without `INDEX`."""

    @overload
    def __getitem__(self, index: int) -> Sample: ...
    @overload
    def __getitem__(self, index: slice) -> list[Sample]: ...
    def __getitem__(self, index: int | slice) -> Sample | list[Sample]:
        """Return a stored sample with its index, or a list of samples."""
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        place = range(len(self))[index]
        return {INDEX: place, **self.stored(place)}


def as_stored(sample: Sample) -> Sample:
    """Return a stored sample, which needs no decoding."""
    return sample


def digest(sample: Sample) -> bytes:
    """Return the digest of all values of a decoded sample, equal for equal values of one type.

    Values that NumPy makes arrays of count as those: a whole number may come as an array or a tensor
    of one.
    """
    found = blake2b(digest_size=8)
    for name in sorted(sample):
        found.update(name.encode())
        found.update(_canonical(sample[name]))
    return found.digest()


def _canonical(value: Any) -> bytes:
    import numpy as np

    if isinstance(value, str):
        return b"text" + value.encode()
    if isinstance(value, bytes):
        return b"bytes" + value
    array: np.ndarray = np.ascontiguousarray(value)
    return f"{array.dtype.str} {np.shape(value)}".encode() + array.tobytes()

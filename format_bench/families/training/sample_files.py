"""Stored samples: their values in a file, or the array whose windows they are, and their digests."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import array_stores
from adapter_core.sample_set import SampleKind, SampleSet, digest
from data_generator.training_samples import WindowSamples

if TYPE_CHECKING:
    import numpy as np

_FACTS, _VALUES, _ARRAY = "facts.pickle", "values", "array.npy"
_ENDS, _DIGESTS = "ends.npy", "digests.npy"


class StoredSamples(SampleSet):
    """Samples whose stored values are read from a file when they are asked for."""

    def __init__(self, folder: Path, kind: SampleKind, fields: Any, decode: Any) -> None:
        import numpy as np

        super().__init__(kind, fields, decode)
        self._ends = np.load(folder / _ENDS)
        self._values = np.memmap(folder / _VALUES, np.uint8, "r") if self._ends[-1:].any() else b""

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self._ends)

    def stored(self, index: int) -> dict[str, Any]:
        """Return the stored values of a sample."""
        start = self._ends[index - 1] if index else 0
        content = self._values[start : self._ends[index]]
        found: dict[str, Any] = pickle.loads(bytes(content))  # noqa: S301 (written by `store`)
        return found


def store(samples: SampleSet, folder: Path) -> None:
    """Write samples for `load`, and the digest of each decoded one."""
    import numpy as np

    folder.mkdir()
    ends, digests = [], []
    with (folder / _VALUES).open("wb") as file:
        for sample in samples:
            digests.append(digest(samples.decode(sample)))
            if samples.array is None:
                values = {name: sample[name] for name in samples.fields}
                file.write(pickle.dumps(values, protocol=pickle.HIGHEST_PROTOCOL))
                ends.append(file.tell())
    if samples.array is not None:
        _array_store().save(samples.array, folder / _ARRAY)
    np.save(folder / _ENDS, np.array(ends, np.int64))
    np.save(folder / _DIGESTS, np.frombuffer(b"".join(digests), np.uint64))
    facts = samples.kind, samples.fields, samples.decode, samples.window
    (folder / _FACTS).write_bytes(pickle.dumps(facts))


def load(folder: Path) -> SampleSet:
    """Return stored samples."""
    kind, fields, decode, window = _facts(folder)
    if not window:
        return StoredSamples(folder, kind, fields, decode)
    return WindowSamples(_array_store().open(folder / _ARRAY).source(), window)


def part_of(samples: SampleSet, positions: Sequence[int]) -> SampleSet:
    """Return as many samples as there are positions: those there, or the first windows."""
    if samples.array is None:
        return _Chosen(samples, positions)
    steps = len(positions) + samples.window - 1
    array = samples.array
    coordinates = dict(array.coordinates)
    if array.dims[0] in coordinates:
        coordinates[array.dims[0]] = coordinates[array.dims[0]][:steps]
    first = replace(array, shape=(steps, *array.shape[1:]), coordinates=coordinates)
    return WindowSamples(first, samples.window)


class _Chosen(SampleSet):
    """Some samples of a set, which have indices of their own."""

    def __init__(self, samples: SampleSet, positions: Sequence[int]) -> None:
        super().__init__(samples.kind, samples.fields, samples.decode)
        self._samples, self._positions = samples, positions

    def __len__(self) -> int:
        return len(self._positions)

    def stored(self, index: int) -> dict[str, Any]:
        return self._samples.stored(self._positions[index])


def decoding(folder: Path) -> Any:
    """Return the function from a stored sample to a model's input."""
    return _facts(folder)[2]


def digests(folder: Path) -> np.ndarray:
    """Return the digests of decoded samples, shape (samples,), dtype uint64."""
    import numpy as np

    found: np.ndarray = np.load(folder / _DIGESTS)
    return found


def _facts(folder: Path) -> Any:
    return pickle.loads((folder / _FACTS).read_bytes())  # noqa: S301 (written by `store`)


def _array_store() -> Any:
    return array_stores.get("NPY")

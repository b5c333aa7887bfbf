"""Base class of loaders that cut windows of Zarr groups by xbatcher."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from adapter_core.array_source import ArraySource
from adapter_core.errors import CannotHoldError
from adapter_core.remote import RemoteFile
from adapter_core.sample_set import INDEX, Sample, SampleKind, SampleSet
from adapter_core.training.fields import content_of
from adapter_core.training.loop import LoopFeed, SampleReader
from adapter_core.training_loader import Feed, Feeding, TrainingLoader

_FACTS = "facts.json"


class XbatcherLoader(TrainingLoader):
    """Windows that overlap in all but a step, of an array that xarray opens, by `BatchGenerator`.

    Workers read window by window in the order of a full shuffle, each window from its chunks. They are
    those of the plain loop: xbatcher's own loaders are for PyTorch and TensorFlow.

    Library: https://xbatcher.readthedocs.io/
    """

    local_only = ""
    refuses: ClassVar = {
        kind: "it cuts arrays into windows" for kind in SampleKind if kind is not SampleKind.WINDOW
    }

    @abstractmethod
    def _save(self, array: ArraySource, folder: Path) -> None:
        """Write the array of all samples into a folder."""

    @staticmethod
    @abstractmethod
    def _store(place: Path | RemoteFile) -> Any:
        """Return the store for `xarray.open_zarr`."""

    def _prepare(self, samples: SampleSet, folder: Path) -> None:
        if samples.array is None:
            raise CannotHoldError(f"{self.label} needs the array of the windows")
        (name,) = samples.fields
        facts = {"field": name, "name": samples.array.name, "window": samples.window}
        (folder / _FACTS).write_text(json.dumps(facts))
        self._save(samples.array, folder)

    def _open(self, folder: Path, feeding: Feeding) -> Feed:
        return LoopFeed(partial(_Reader, folder, self._store), feeding)

    def _open_remote(self, file: RemoteFile, feeding: Feeding) -> Feed:
        return LoopFeed(partial(_Reader, file, self._store), feeding)


class _Reader(SampleReader):
    def __init__(self, place: Path | RemoteFile, store: Callable[[Path | RemoteFile], Any]) -> None:
        import xarray as xr
        import xbatcher

        facts = json.loads(content_of(place, _FACTS))
        # As stored: a scale or a fill value among the attributes would change the values.
        dataset = xr.open_zarr(store(place), consolidated=False, chunks=None, decode_cf=False)
        array = dataset[facts["name"]]
        steps, window = array.dims[0], facts["window"]
        self._field = facts["field"]
        self._windows = xbatcher.BatchGenerator(
            array,
            input_dims={**array.sizes, steps: window},
            input_overlap={steps: window - 1} if window > 1 else {},
        )

    def __len__(self) -> int:
        return len(self._windows)

    def get(self, index: int) -> Sample:
        return {INDEX: index, self._field: self._windows[index].values}

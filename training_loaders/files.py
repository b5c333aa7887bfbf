"""A folder with a file for each value of a sample, as most trainings begin, read by a plain loop."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import RemoteFile
from adapter_core.sample_set import INDEX, FieldForm
from adapter_core.training.loop import LoopFeed, SampleReader
from adapter_core.training_loader import TrainingLoader

if TYPE_CHECKING:
    from adapter_core.sample_set import Sample, SampleField, SampleSet
    from adapter_core.training_loader import Feed, Feeding

# Files of a folder: directories with millions of entries are slow to list and to copy.
_FILES_PER_FOLDER = 1_000


class Adapter(TrainingLoader):
    """A file for each picture, array and text of a sample, and a JSON file for its numbers.

    Workers read the files of a batch one by one, in the order of a full shuffle.
    """

    label = "Files[loop]"
    requires = ("numpy",)

    def _prepare(self, samples: SampleSet, folder: Path) -> None:
        (folder / "fields.json").write_text(json.dumps([len(samples), _facts(samples.fields)]))
        for sample in samples:
            stem = _stem(folder, sample[INDEX])
            stem.parent.mkdir(exist_ok=True)
            plain = {}
            for name, field in samples.fields.items():
                if field.form in _NUMBERS:
                    plain[name] = sample[name]
                else:
                    stem.with_suffix(f".{name}").write_bytes(_WRITTEN[field.form](sample[name]))
            stem.with_suffix(".json").write_text(json.dumps(plain))

    def _open(self, place: Path | RemoteFile, feeding: Feeding) -> Feed:
        if isinstance(place, RemoteFile):
            raise AssertionError("the base class refuses servers")
        return LoopFeed(partial(_Reader, place), feeding)


class _Reader(SampleReader):
    """Reader of a folder; keeps no file open."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._count, self._fields = json.loads((folder / "fields.json").read_text())

    def __len__(self) -> int:
        return self._count

    def get(self, index: int) -> Sample:
        stem = _stem(self._folder, index)
        sample = {INDEX: index, **json.loads(stem.with_suffix(".json").read_bytes())}
        for name, (form, dtype, shape) in self._fields.items():
            if form not in _NUMBERS:
                content = stem.with_suffix(f".{name}").read_bytes()
                sample[name] = _read(form, dtype, shape, content)
        return sample


_NUMBERS = {FieldForm.INTEGER, FieldForm.NUMBER}

_WRITTEN: dict[FieldForm, Callable[[Any], bytes]] = {
    FieldForm.TEXT: str.encode,
    FieldForm.PICTURE: bytes,
    FieldForm.ARRAY: lambda values: values.tobytes(),
}


def _read(form: str, dtype: str, shape: list[int], content: bytes) -> Any:
    import numpy as np

    if form == FieldForm.ARRAY:
        return np.frombuffer(content, dtype).reshape(shape)
    return content.decode() if form == FieldForm.TEXT else content


def _facts(fields: Mapping[str, SampleField]) -> dict[str, tuple[str, str, tuple[int, ...]]]:
    return {name: (each.form.value, each.dtype, each.shape) for name, each in fields.items()}


def _stem(folder: Path, index: int) -> Path:
    return folder / f"{index // _FILES_PER_FOLDER:05d}" / f"{index:09d}"

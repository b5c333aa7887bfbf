"""Base class of loaders of a folder with a file for each value of a sample."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from adapter_core.remote import RemoteFile
from adapter_core.sample_set import INDEX, FieldForm, Sample, SampleField, SampleSet
from adapter_core.training.batches import collated
from adapter_core.training.fields import PlainFields, array_of
from adapter_core.training.loop import SampleReader
from adapter_core.training_loader import Batch, TrainingLoader

# Files of a folder: directories with millions of entries are slow to list and to copy.
_FILES_PER_FOLDER = 1_000

# Samples that a worker requests from a server at a time. Chosen, not measured: those of half a batch.
_REQUESTS = 16


class FilesLoader(TrainingLoader):
    """A file for each picture, array and text of a sample, and a JSON file for its numbers."""

    def _prepare(self, samples: SampleSet, folder: Path) -> None:
        fields = PlainFields.write(samples, folder)
        for sample in samples:
            stem = folder / _stem(sample[INDEX])
            stem.parent.mkdir(exist_ok=True)
            plain = {}
            for name, field in fields.fields.items():
                if field.form in _NUMBERS:
                    plain[name] = sample[name]
                else:
                    stem.with_suffix(f".{name}").write_bytes(_WRITTEN[field.form](sample[name]))
            stem.with_suffix(".json").write_text(json.dumps(plain))


class FilesReader(SampleReader):
    """Reader of a folder; keeps no file open."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._fields = folder, PlainFields.read(folder)

    def __len__(self) -> int:
        """Return the number of samples."""
        return self._fields.count

    def get(self, index: int) -> Sample:
        """Return a stored sample of its files."""
        stem = _stem(index)
        sample = {INDEX: index, **json.loads(self._content(f"{stem}.json"))}
        for name, field in self._fields.fields.items():
            if field.form not in _NUMBERS:
                sample[name] = _value(self._content(f"{stem}.{name}"), field)
        return sample

    def _content(self, name: str) -> Any:
        return (self._folder / name).read_bytes()


class ObjectsReader(FilesReader):
    """Reader of a copy of a folder on a server, an object for each file, several samples at a time."""

    def __init__(self, place: RemoteFile) -> None:
        self._store, self._fields = place.obstore_store(), PlainFields.read(place)
        self._threads = ThreadPoolExecutor(_REQUESTS)

    def batch(self, indices: Sequence[int], decode: Callable[[Sample], Sample]) -> Batch:
        """Return decoded samples as a batch."""
        return collated([decode(each) for each in self._threads.map(self.get, indices)])

    def close(self) -> None:
        """End the threads."""
        self._threads.shutdown()

    def _content(self, name: str) -> Any:
        import obstore

        return bytes(obstore.get(self._store, name).bytes())


_NUMBERS = {FieldForm.INTEGER, FieldForm.NUMBER}

_WRITTEN: dict[FieldForm, Callable[[Any], bytes]] = {
    FieldForm.TEXT: str.encode,
    FieldForm.PICTURE: bytes,
    FieldForm.ARRAY: lambda values: values.tobytes(),
}


def _value(content: bytes, field: SampleField) -> Any:
    if field.form is FieldForm.ARRAY:
        return array_of(content, field)
    return content.decode() if field.form is FieldForm.TEXT else content


def _stem(index: int) -> str:
    return f"{index // _FILES_PER_FOLDER:05d}/{index:09d}"

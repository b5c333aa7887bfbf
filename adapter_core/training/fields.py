"""Stored samples as numbers, texts and bytes alone, which every library holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from adapter_core.remote import RemoteFile
from adapter_core.sample_set import INDEX, FieldForm, Sample, SampleField, SampleSet

_FILE = "fields.json"

SHARDS = 16
"""Files of a prepared set: enough for each worker of each rank to have some, and to be shuffled."""


@dataclass(frozen=True)
class PlainFields:
    """Fields of a prepared set, which a file beside the samples keeps."""

    count: int
    """Number of samples."""
    fields: Mapping[str, SampleField]
    files: int = SHARDS
    """Number of shards, if there are as many samples."""

    @classmethod
    def write(cls, samples: SampleSet, folder: Path, files: int = SHARDS) -> PlainFields:
        """Write the fields of samples into their folder."""
        fields = {name: asdict(each) for name, each in samples.fields.items()}
        facts = {"count": len(samples), "fields": fields, "files": files}
        (folder / _FILE).write_text(json.dumps(facts))
        return cls(len(samples), samples.fields, files)

    @classmethod
    def read(cls, place: Path | RemoteFile) -> PlainFields:
        """Return the fields of a prepared folder."""
        found = json.loads(content_of(place, _FILE))
        fields = {name: _field(**each) for name, each in found["fields"].items()}
        return cls(found["count"], fields, found["files"])

    def plain(self, sample: Sample) -> dict[str, int | float | str | bytes]:
        """Return a stored sample with the bytes of arrays in their place; the index comes first."""
        found = {INDEX: sample[INDEX]}
        for name, field in self.fields.items():
            value = sample[name]
            found[name] = value.tobytes() if field.form == FieldForm.ARRAY else value
        return found

    def restored(self, plain: Mapping[str, Any]) -> Sample:
        """Return a stored sample of its plain values."""
        found = {INDEX: plain[INDEX]}
        for name, field in self.fields.items():
            found[name] = array_of(plain[name], field) if field.form == FieldForm.ARRAY else plain[name]
        return found

    def shards(self) -> list[range]:
        """Return the indices of each shard, of equal sizes but for one sample."""
        bounds = [self.count * number // self.files for number in range(self.files + 1)]
        return [range(start, end) for start, end in pairwise(bounds) if start < end]


def content_of(place: Path | RemoteFile, name: str) -> bytes:
    """Return the bytes of a file of a prepared folder."""
    if isinstance(place, Path):
        return (place / name).read_bytes()
    with place.arrow_file_system().open_input_stream((place / name).arrow_path) as stream:
        found: bytes = stream.read()
    return found


def array_of(content: Any, field: SampleField) -> Any:
    """Return the array of a field of its bytes, without a copy."""
    import numpy as np

    return np.frombuffer(content, field.dtype).reshape(field.shape)


def _field(form: str, dtype: str, shape: list[int], extension: str) -> SampleField:
    return SampleField(FieldForm(form), dtype, tuple(shape), extension)

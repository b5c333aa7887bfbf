"""Base class of loaders that read a Lance data set."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from adapter_core.remote import RemoteFile
from adapter_core.sample_set import SampleSet
from adapter_core.training.arrow import sample_batches, sample_schema
from adapter_core.training.fields import PlainFields
from adapter_core.training_loader import TrainingLoader

_NAME = "samples.lance"


class LanceLoader(TrainingLoader):
    """A Lance data set (a directory), one row a sample; pictures and arrays are bytes.

    Library: https://lance.org/
    """

    modules: ClassVar = {"pylance": "lance"}
    local_only = ""

    def _prepare(self, samples: SampleSet, folder: Path) -> None:
        import lance

        fields = PlainFields.write(samples, folder)
        batches = sample_batches(iter(samples), fields)
        lance.write_dataset(batches, folder / _NAME, schema=sample_schema(fields))


def open_dataset(place: Path | RemoteFile) -> Any:
    """Return the data set of a prepared folder."""
    import lance

    file = place / _NAME
    if isinstance(file, Path):
        return lance.dataset(file)
    return lance.dataset(file.url, storage_options=file.lance_options())

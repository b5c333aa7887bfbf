"""Base class of loaders that read shards of Arrow through Hugging Face's datasets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from adapter_core.sample_set import SampleSet
from adapter_core.training.arrow import sample_batches, sample_schema
from adapter_core.training.fields import SHARDS, PlainFields
from adapter_core.training_loader import TrainingLoader


class HuggingFaceLoader(TrainingLoader):
    """Arrow streams of samples as the library's `ArrowWriter` makes them, mapped into memory by readers.

    Pictures and arrays are plain bytes: the library's own `Image` would decode with Pillow what decoding
    decodes again, and its arrays become lists of Python's numbers.

    Library: https://huggingface.co/docs/datasets/
    """

    shards = SHARDS

    def _prepare(self, samples: SampleSet, folder: Path) -> None:
        import pyarrow as pa
        from datasets import Features
        from datasets.arrow_writer import ArrowWriter

        fields = PlainFields.write(samples, folder, self.shards)
        features = Features.from_arrow_schema(sample_schema(fields))
        for number, indices in enumerate(fields.shards()):
            path = str(folder / f"data-{number:05d}.arrow")
            with ArrowWriter(features=features, path=path) as writer:
                for batch in sample_batches((samples[index] for index in indices), fields):
                    writer.write_table(pa.Table.from_batches([batch]))
                writer.finalize()


def load(folder: Path) -> Any:
    """Return the library's data set of all shards of a folder."""
    from datasets import Dataset, concatenate_datasets

    shards = [Dataset.from_file(str(path)) for path in sorted(folder.glob("*.arrow"))]
    return concatenate_datasets(shards)

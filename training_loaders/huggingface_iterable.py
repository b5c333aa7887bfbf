"""Hugging Face datasets as streams."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.training.fields import PlainFields
from adapter_core.training.huggingface import HuggingFaceLoader, load
from adapter_core.training.streams import SampleStream, StreamFeed

if TYPE_CHECKING:
    from adapter_core.sample_set import Sample
    from adapter_core.training.streams import Part
    from adapter_core.training_loader import Feed, Feeding

# Samples that are shuffled together; the library's default.
_BUFFER = 1_000


class Adapter(HuggingFaceLoader):
    """An `IterableDataset` of the shards, shuffled by shards and in a buffer.

    Ranks and workers share the shards. A state is the library's own; with datasets 5.2 a resumed epoch
    loses nothing, the samples of the buffer included. The workers are the plain loop's, since the
    library leaves them to PyTorch's DataLoader.
    """

    label = "HuggingFace[iterable]"
    requires = ("datasets>=3", "pyarrow>=15")
    advice: ClassVar = {
        "several shards, for workers and for the order": (
            "https://huggingface.co/docs/datasets/package_reference/main_classes, 2026-11-26"
        )
    }

    def _open(self, folder: Path, feeding: Feeding) -> Feed:
        return StreamFeed(partial(_Stream, folder), feeding, resumes=True)


class _Stream(SampleStream):
    def __init__(self, folder: Path, part: Part) -> None:
        from datasets.distributed import split_dataset_by_node

        self._fields = PlainFields.read(folder)
        dataset = load(folder).to_iterable_dataset(num_shards=len(self._fields.shards()))
        if part.seed is not None:
            dataset = dataset.shuffle(seed=part.seed, buffer_size=_BUFFER)
            dataset.set_epoch(part.epoch)
        if part.world > 1:
            dataset = split_dataset_by_node(dataset, part.rank, part.world)
        if part.workers > 1:
            dataset = dataset.shard(num_shards=part.workers, index=part.worker, contiguous=False)
        self._dataset: Any = dataset

    def samples(self) -> Iterator[Sample]:
        yield from map(self._fields.restored, self._dataset)

    def state(self) -> Any:
        return self._dataset.state_dict()

    def resume(self, state: Any) -> None:
        self._dataset.load_state_dict(state)

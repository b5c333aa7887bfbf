"""MosaicML Streaming: shards of MDS."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.sample_set import INDEX, FieldForm
from adapter_core.training.fields import PlainFields
from adapter_core.training_loader import Feed, TrainingLoader

if TYPE_CHECKING:
    from adapter_core.sample_set import Sample, SampleField, SampleSet
    from adapter_core.training_loader import Batch, Feeding


class Adapter(TrainingLoader):
    """Shards of MDS through `StreamingDataset` and `StreamingDataLoader`, with the library's shuffle.

    Shards have up to 64 MiB, and samples are shuffled within blocks of them. A state is the library's.

    Library: https://docs.mosaicml.com/projects/streaming/
    """

    label = "MosaicML"
    requires = ("numpy", "mosaicml-streaming>=0.8", "torch>=2.4")
    modules: ClassVar = {"mosaicml-streaming": "streaming"}
    outside_library_set = "it needs NumPy below 2.2, and PyTorch with gigabytes of CUDA"
    single_rank = "its ranks are those of a process group of PyTorch"

    def _prepare(self, samples: SampleSet, folder: Path) -> None:
        from streaming import MDSWriter

        PlainFields.write(samples, folder)
        columns = {INDEX: "int", **{name: _encoding(each) for name, each in samples.fields.items()}}
        with MDSWriter(out=str(folder / "shards"), columns=columns) as writer:
            for sample in samples:
                writer.write({name: sample[name] for name in columns})

    def _open(self, folder: Path, feeding: Feeding) -> Feed:
        return _Feed(folder, feeding)


class _Feed(Feed):
    def __init__(self, folder: Path, feeding: Feeding) -> None:
        from streaming import StreamingDataLoader, StreamingDataset
        from torch.utils.data import default_collate

        samples: Any = StreamingDataset(
            local=str(folder / "shards"),
            shuffle=feeding.seed is not None,
            shuffle_seed=feeding.seed or 0,
            batch_size=feeding.batch_size,
            num_canonical_nodes=1,
        )
        self._samples = samples
        self._loader: Any = StreamingDataLoader(
            samples,
            batch_size=feeding.batch_size,
            num_workers=feeding.workers,
            collate_fn=_Collating(feeding.decode, default_collate),
        )

    def epoch(self, number: int, state: Any = None) -> Iterator[Batch]:
        """Return the batches of an epoch, of tensors and lists of texts."""
        if state is None and self._samples.next_epoch != number:
            state = {**self._samples.state_dict(0, from_beginning=True), "epoch": number}
        if state is not None:
            self._samples.load_state_dict(state)
        yield from self._loader

    def state(self) -> Any:
        """Return the library's state: the epoch and the samples that were given."""
        return self._loader.state_dict()

    def close(self) -> None:
        """End the workers, which the garbage collector does here."""
        self._loader = self._samples = None


class _Collating:
    """Decodes and joins samples, in the workers."""

    def __init__(
        self, decode: Callable[[Sample], Sample], join: Callable[[list[Sample]], Batch]
    ) -> None:
        self._decode, self._join = decode, join

    def __call__(self, samples: list[Sample]) -> Batch:
        return self._join([self._decode(each) for each in samples])


def _encoding(field: SampleField) -> str:
    """Return the type of a column: https://docs.mosaicml.com/projects/streaming/."""
    if field.form is FieldForm.ARRAY:
        return f"ndarray:{field.dtype}:{','.join(map(str, field.shape))}"
    return {
        FieldForm.INTEGER: "int",
        FieldForm.NUMBER: "float64",
        FieldForm.TEXT: "str",
        FieldForm.PICTURE: "bytes",
    }[field.form]

"""Deep Lake with random access."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.sample_set import INDEX, FieldForm
from adapter_core.training.batches import collated, grouped
from adapter_core.training.fields import PlainFields
from adapter_core.training.loop import LoopFeed, SampleReader
from adapter_core.training_loader import TrainingLoader

if TYPE_CHECKING:
    from adapter_core.sample_set import Sample, SampleField, SampleSet
    from adapter_core.training_loader import Batch, Feed, Feeding

_NAME = "samples.deeplake"

# Rows that are appended at once: a call takes far longer than a row.
_ROWS = 256

_EMPTY: dict[FieldForm, str | bytes] = {FieldForm.TEXT: "", FieldForm.PICTURE: b""}


class Adapter(TrainingLoader):
    """A Deep Lake data set, of which workers read the rows of a batch at once, in a full shuffle.

    Pictures are bytes: with its type `Image`, Deep Lake would decode what decoding decodes again. The
    workers are the plain loop's; `Dataset.pytorch` has the workers of PyTorch's DataLoader.

    deeplake 4.7 connects to ingest.sentry.io at its first use, whatever SENTRY_DSN and DO_NOT_TRACK say.

    Library: https://docs.deeplake.ai/latest/
    """

    label = "DeepLake"
    requires = ("numpy", "deeplake>=4.1")
    outside_library_set = "it reports to Sentry, a service of others, and has no switch for that"

    def _prepare(self, samples: SampleSet, folder: Path) -> None:
        import deeplake

        fields = PlainFields.write(samples, folder)
        dataset = deeplake.create(str(folder / _NAME))
        dataset.add_column(INDEX, deeplake.types.Int64())
        for name, field in fields.fields.items():
            dataset.add_column(name, _type_of(field))
        for rows in grouped(iter(samples), _ROWS):
            dataset.append({name: [each[name] for each in rows] for name in (INDEX, *fields.fields)})
        dataset.commit()

    def _open(self, folder: Path, feeding: Feeding) -> Feed:
        return LoopFeed(partial(_Reader, folder), feeding)


class _Reader(SampleReader):
    def __init__(self, folder: Path) -> None:
        import deeplake

        self._fields = PlainFields.read(folder)
        self._dataset = deeplake.open_read_only(str(folder / _NAME))

    def __len__(self) -> int:
        return self._fields.count

    def get(self, index: int) -> Sample:
        (sample,) = self._samples([index])
        return sample

    def batch(self, indices: Sequence[int], decode: Callable[[Sample], Sample]) -> Batch:
        return collated([decode(each) for each in self._samples(indices)])

    def _samples(self, indices: Sequence[int]) -> list[Sample]:
        rows = self._dataset[list(indices)]
        columns = {INDEX: rows[INDEX]}
        for name, field in self._fields.fields.items():
            empty = _EMPTY.get(field.form)
            values = rows[name]
            # Empty texts and bytes come back as None.
            columns[name] = values if empty is None else [each or empty for each in values]
        return [
            {name: values[place] for name, values in columns.items()} for place in range(len(indices))
        ]


def _type_of(field: SampleField) -> Any:
    from deeplake import types

    if field.form == FieldForm.ARRAY:
        return types.Array(field.dtype, shape=list(field.shape))
    of_forms = {
        FieldForm.INTEGER: types.Int64,
        FieldForm.NUMBER: types.Float64,
        FieldForm.TEXT: types.Text,
        FieldForm.PICTURE: types.Bytes,
    }
    return of_forms[field.form]()

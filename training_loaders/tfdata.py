"""TensorFlow's tf.data over TFRecord files."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core.sample_set import INDEX, FieldForm
from adapter_core.training.fields import SHARDS, PlainFields, array_of
from adapter_core.training.streams import epoch_seed
from adapter_core.training_loader import Feed, TrainingLoader

if TYPE_CHECKING:
    from adapter_core.sample_set import Sample, SampleField, SampleSet
    from adapter_core.training_loader import Batch, Feeding

# Samples that are shuffled together.
_BUFFER = 1_024

# Files that are read in turns, one record each.
_CYCLE = 4


class Adapter(TrainingLoader):
    """Shards of `tf.train.Example` messages through tf.data: interleaved, shuffled, prefetched.

    Ranks share the shards. Workers are threads of the process, whose decoding in Python takes turns: an
    image of a pipeline that decodes by TensorFlow's own operations does not wait for the others.

    Library: https://www.tensorflow.org/guide/data_performance
    """

    label = "tf.data"
    shards = SHARDS
    requires = ("numpy", "tensorflow-cpu>=2.16")
    modules: ClassVar = {"tensorflow-cpu": "tensorflow"}
    outside_library_set = "TensorFlow takes more than a gigabyte, and would hold other libraries back"
    cannot_resume = "its checkpoints are files of `tf.train.Checkpoint`"
    advice: ClassVar = {
        "interleave, parallel map, prefetch(AUTOTUNE) last": (
            "https://www.tensorflow.org/guide/data_performance, 2026-11-26"
        )
    }

    def _prepare(self, samples: SampleSet, folder: Path) -> None:
        import tensorflow as tf

        fields = PlainFields.write(samples, folder, self.shards)
        for number, indices in enumerate(fields.shards()):
            with tf.io.TFRecordWriter(str(folder / f"{number:06d}.tfrecord")) as writer:
                for index in indices:
                    features = {
                        name: _feature(each) for name, each in fields.plain(samples[index]).items()
                    }
                    example = tf.train.Example(features=tf.train.Features(feature=features))
                    writer.write(example.SerializeToString())

    def _open(self, folder: Path, feeding: Feeding) -> Feed:
        return _Feed(folder, feeding)


class _Feed(Feed):
    def __init__(self, folder: Path, feeding: Feeding) -> None:
        self._fields, self._feeding = PlainFields.read(folder), feeding
        self._shards = sorted(map(str, folder.glob("*.tfrecord")))[feeding.rank :: feeding.world]

    def epoch(self, number: int, state: Any = None) -> Iterator[Batch]:
        """Return the batches of an epoch, of arrays and lists of texts."""
        import tensorflow as tf

        feeding, seed = self._feeding, epoch_seed(self._feeding.seed, number)
        threads = max(1, feeding.workers)
        dataset = tf.data.Dataset.from_tensor_slices(self._shards)
        if seed is None:
            dataset = tf.data.TFRecordDataset(dataset)
        else:
            dataset = dataset.shuffle(len(self._shards), seed=seed)
            dataset = dataset.interleave(
                tf.data.TFRecordDataset, cycle_length=_CYCLE, num_parallel_calls=threads
            ).shuffle(_BUFFER, seed=seed)
        decoding = _Decoding(self._fields, feeding.decode)
        first = next(iter(dataset.take(1).as_numpy_iterator()), None)
        if first is None:
            return
        names, types = decoding.outputs(first)

        def decode(record: Any) -> Any:
            return dict(zip(names, tf.numpy_function(decoding, [record], types), strict=True))

        dataset = dataset.map(decode, num_parallel_calls=threads)
        options = tf.data.Options()
        options.threading.private_threadpool_size = threads
        dataset = dataset.batch(feeding.batch_size).prefetch(tf.data.AUTOTUNE).with_options(options)
        for batch in dataset.as_numpy_iterator():
            yield {name: self._values(name, each) for name, each in batch.items()}

    def _values(self, name: str, values: Any) -> Any:
        """Return texts as a list of str, and everything else as it is."""
        field = self._fields.fields.get(name)
        is_text = field is not None and field.form == FieldForm.TEXT
        return [each.decode() for each in values] if is_text else values


@dataclass(frozen=True)
class _Decoding:
    """Decoding of a message, called by TensorFlow's threads."""

    fields: PlainFields
    decode: Callable[[Sample], Sample]

    def __call__(self, record: bytes) -> list[Any]:
        """Return the values of a decoded sample in the order of its fields."""
        return [
            each.encode() if isinstance(each, str) else each for each in self._sample(record).values()
        ]

    def outputs(self, record: bytes) -> tuple[list[str], list[Any]]:
        """Return the names and types of the values of a record, which all of them share."""
        import numpy as np
        import tensorflow as tf

        sample = self._sample(record)
        types = [
            tf.string if isinstance(each, (str, bytes)) else tf.as_dtype(np.asarray(each).dtype)
            for each in sample.values()
        ]
        return list(sample), types

    def _sample(self, record: bytes) -> Sample:
        import tensorflow as tf

        features = tf.train.Example.FromString(record).features.feature
        sample: dict[str, Any] = {INDEX: features[INDEX].int64_list.value[0]}
        for name, field in self.fields.fields.items():
            sample[name] = _value(features[name], field)
        return self.decode(sample)


def _feature(value: float | str | bytes) -> Any:
    """Return a feature of a message; floats as bytes, since floats of messages have 32 bits."""
    import numpy as np
    import tensorflow as tf

    if isinstance(value, int):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))
    if isinstance(value, float):
        value = np.float64(value).tobytes()
    content = value.encode() if isinstance(value, str) else value
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[content]))


def _value(feature: Any, field: SampleField) -> Any:
    import numpy as np

    if field.form == FieldForm.INTEGER:
        return feature.int64_list.value[0]
    (content,) = feature.bytes_list.value
    if field.form == FieldForm.NUMBER:
        return float(np.frombuffer(content, np.float64)[0])
    if field.form == FieldForm.TEXT:
        return content.decode()
    return array_of(content, field) if field.form == FieldForm.ARRAY else content

"""WebDataset: tar archives of samples, read one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from adapter_core import RemoteFile
from adapter_core.sample_set import INDEX, FieldForm
from adapter_core.training.fields import SHARDS, PlainFields
from adapter_core.training.streams import SampleStream, StreamFeed
from adapter_core.training_loader import TrainingLoader

if TYPE_CHECKING:
    from adapter_core.sample_set import Sample, SampleSet
    from adapter_core.training.streams import Part
    from adapter_core.training_loader import Feed, Feeding

# Samples that are shuffled together; the library's default.
_BUFFER = 1_000

_PLAIN = "plain.json"

# Bytes of a request to a server. Chosen, not measured: pyarrow's own streams ask for each read.
_REQUEST_BYTES = 8 << 20


class Adapter(TrainingLoader):
    """Shards of samples through the webdataset library: members of tar archives for arrays and pictures.

    Numbers and texts of a sample share a JSON file. Each worker gets every n-th shard, as by
    `split_by_node` and `split_by_worker`, reads its shards in shuffled order, and shuffles samples in a
    buffer: two samples of one shard never come far from each other. Workers without a shard are idle.
    The workers are the plain loop's, since the library's own, `WebLoader`, are PyTorch's. From a
    server, whole shards come into the library's cache, by pyarrow in place of its programs curl and aws.

    Library: https://github.com/webdataset/webdataset
    """

    label = "WebDataset"
    shards = SHARDS
    requires = ("numpy", "webdataset>=1")
    cannot_resume = "the library keeps no place within an epoch"
    local_only = ""
    limits_cache = True
    advice: ClassVar = {
        "shards shuffled, then samples": "https://github.com/webdataset/webdataset, 2026-11-26"
    }

    def _prepare(self, samples: SampleSet, folder: Path) -> None:
        import webdataset

        fields = PlainFields.write(samples, folder, self.shards)
        for number, indices in enumerate(fields.shards()):
            with webdataset.TarWriter(str(folder / _name(number))) as writer:
                for index in indices:
                    writer.write(_members(samples[index], fields))

    def _open(self, folder: Path, feeding: Feeding) -> Feed:
        return StreamFeed(partial(_Stream, folder, None, -1), feeding)

    def _open_remote(self, file: RemoteFile, feeding: Feeding) -> Feed:
        cache_bytes = feeding.cache_bytes or -1  # no limit; each worker looks at it every 30 seconds
        return StreamFeed(partial(_Stream, file, feeding.cache, cache_bytes), feeding)


class _Stream(SampleStream):
    def __init__(
        self, place: Path | RemoteFile, cache: Path | None, cache_bytes: int, part: Part
    ) -> None:
        if isinstance(place, RemoteFile):
            _open_by_arrow(place)
        root = place.url if isinstance(place, RemoteFile) else str(place)
        names = [f"{root}/{_name(number)}" for number, _ in enumerate(PlainFields.read(place).shards())]
        self._shards, self._part = part.of(names), part
        self._cache: dict[str, Any] = (
            {"cache_dir": str(cache), "cache_size": cache_bytes} if cache else {}
        )

    def samples(self) -> Iterator[Sample]:
        import webdataset

        if not self._shards:
            return
        part, seed = self._part, self._part.epoch_seed
        dataset = webdataset.WebDataset(
            self._shards,
            shardshuffle=len(self._shards) if seed is not None else False,
            seed=seed or 0,
            nodesplitter=None,
            workersplitter=None,
            **self._cache,
        )
        if seed is not None:
            dataset = dataset.shuffle(_BUFFER, seed=seed + part.rank * part.workers + part.worker)
        for found in dataset.decode():
            yield _sample(found)


def _name(shard: int) -> str:
    return f"{shard:06d}.tar"


def _open_by_arrow(place: RemoteFile) -> None:
    """Let the library open addresses of a bucket by pyarrow, with the project's credentials."""
    from webdataset.gopen import gopen_schemes

    system, scheme = place.arrow_file_system(), place.scheme

    def open_object(url: str, *_arguments: Any) -> Any:
        path = url.removeprefix(f"{scheme}://")
        return system.open_input_stream(path, buffer_size=_REQUEST_BYTES)

    gopen_schemes[scheme] = open_object


def _members(sample: Sample, fields: PlainFields) -> dict[str, Any]:
    """Return the members of a sample by their extensions, as `TarWriter` takes them."""
    found: dict[str, Any] = {"__key__": f"{sample[INDEX]:09d}"}
    plain = {}
    for name, field in fields.fields.items():
        if field.form not in {FieldForm.ARRAY, FieldForm.PICTURE}:
            plain[name] = sample[name]
        else:
            extension = field.extension or "npy"
            found[f"{name}.{extension}"] = sample[name]
    return found | {_PLAIN: plain}


def _sample(found: dict[str, Any]) -> Sample:
    sample = {INDEX: int(found["__key__"]), **found[_PLAIN]}
    for member, value in found.items():
        if not member.startswith("__") and member != _PLAIN:
            sample[member.rpartition(".")[0]] = value
    return sample

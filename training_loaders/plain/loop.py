"""Plain loops: the storages of other families, read by worker processes without a library of loaders."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, overload

import array_stores
import data_formats
import image_storages
from adapter_core import CannotHoldError, Kind, RemoteFile, UnsupportedError
from adapter_core.availability import install_hint
from adapter_core.sample_set import INDEX, SampleKind, as_stored
from adapter_core.training.batches import MIXED_BLOCKS, block_rows
from adapter_core.training.columns import column_values, frame_of
from adapter_core.training.fields import content_of
from adapter_core.training.loop import BlockFeed, LoopFeed, SampleReader
from adapter_core.training_loader import TrainingLoader

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from adapter_core import ImageStorage
    from adapter_core.sample_set import Sample, SampleSet
    from adapter_core.training_loader import Batch, Feed, Feeding

# The family whose storages keep samples of a kind.
_FAMILIES = {
    SampleKind.IMAGE: "images",
    SampleKind.MASK: "images",
    SampleKind.WINDOW: "arrays",
    SampleKind.ROW: "tables",
    SampleKind.EMBEDDING: "tables",
    SampleKind.TEXT: "tables",
}

_REGISTRIES: Mapping[str, Any] = {
    "images": image_storages,
    "arrays": array_stores,
    "tables": data_formats,
}

_FACTS = "facts.json"

_S3 = "s3"


class PlainLoop(TrainingLoader):
    """A loop over a storage of images, a store of arrays or a format of tables.

    Images and windows are read at random, one by one; a table by blocks of its rows, some of which are
    shuffled together. Storages of images keep the decoded pixels in their own way. Windows are read from
    a server as from a file; a table is read whole there by each process, as no format reads some rows.

    Parameters
    ----------
    facts : mapping
        An entry of adapters.toml.
    folder : Path, optional
        Folder of the table.
    """

    requires: ClassVar[tuple[str, ...]] = ()

    def __init__(self, facts: Mapping[str, Any], folder: Path | None = None) -> None:
        del folder
        self.label = facts["label"]  # type: ignore[misc]
        self._of = {family: facts[family] for family in _REGISTRIES if family in facts}
        storages = [_REGISTRIES[family].find(label) for family, label in self._of.items()]
        self.requires = tuple(sorted({text for each in storages for text in each.requires}))  # type: ignore[misc]
        self.modules = {name: module for each in storages for name, module in each.modules.items()}  # type: ignore[misc]
        self._stem = type(storages[0]).__module__.rpartition(".")[2]
        self.refuses = {  # type: ignore[misc]
            kind: f"there is no such storage of {family}"
            for kind, family in _FAMILIES.items()
            if family not in self._of
        }
        if any(_S3 in getattr(each, "remote_schemes", ()) for each in storages):
            self.local_only = ""  # type: ignore[misc]
        if "tables" in self._of:
            refused = data_formats.find(self._of["tables"]).refuses
            if Kind.VECTOR in refused:
                self.refuses[SampleKind.EMBEDDING] = f"{Kind.VECTOR}: {refused[Kind.VECTOR]}"

    @property
    def _install_hint(self) -> str:
        return install_hint(self._stem)

    def check(self, samples: SampleSet) -> None:
        """Raise `CannotHoldError` if there is no storage of the kind, or it changes pixels."""
        super().check(samples)
        family = _FAMILIES[samples.kind]
        storage = _REGISTRIES[family].get(self._of[family])
        if family == "images" and storage.changes_pixels:
            raise CannotHoldError(f"{self.label} cannot be checked: its storage changes pixels")
        if family == "tables":
            storage.check(frame_of(samples))

    def _prepare(self, samples: SampleSet, folder: Path) -> None:
        family = _FAMILIES[samples.kind]
        label = self._of[family]
        storage = _REGISTRIES[family].get(label)
        facts = {"family": family, "label": label, "count": len(samples), "window": samples.window}
        if family == "arrays":
            storage.save(samples.array, folder / f"array{storage.suffix}")
            facts["field"] = next(iter(samples.fields))
        elif family == "images":
            facts["pictures"] = _save_pictures(storage, samples, folder)
        else:
            storage.save(frame_of(samples), folder / f"table{storage.suffix}", storage.default_codec)
        (folder / _FACTS).write_text(json.dumps(facts))

    def _open(self, folder: Path, feeding: Feeding) -> Feed:
        return self._feed(folder, json.loads(content_of(folder, _FACTS)), feeding)

    def _open_remote(self, file: RemoteFile, feeding: Feeding) -> Feed:
        facts = json.loads(content_of(file, _FACTS))
        storage = _REGISTRIES[facts["family"]].find(facts["label"])
        if _S3 not in getattr(storage, "remote_schemes", ()):
            raise UnsupportedError(f"{self.label} reads no {facts['family']} from object stores")
        return self._feed(file, facts, feeding)

    @staticmethod
    def _feed(place: Path | RemoteFile, facts: Mapping[str, Any], feeding: Feeding) -> Feed:
        if facts["family"] == "tables":
            rows = block_rows(facts["count"], feeding)
            return BlockFeed(partial(_RowReader, place, facts, rows), feeding)
        reader: Any = {"images": _PictureReader, "arrays": _WindowReader}[facts["family"]]
        return LoopFeed(partial(reader, place, facts), feeding)


def _save_pictures(storage: ImageStorage, samples: SampleSet, folder: Path) -> list[str]:
    """Save a set of images for each field of pictures, with the labels; return the fields."""
    pictures = [name for name, field in samples.fields.items() if field.extension]
    labels = [samples[index]["label"] for index in range(len(samples))]
    for name in pictures:
        storage.save(_Pixels(samples, name), labels, folder / f"{name}{storage.suffix}")
    return pictures


class _Pixels(Sequence["np.ndarray"]):
    """Pixels of a field of pictures, decoded at each access."""

    def __init__(self, samples: SampleSet, name: str) -> None:
        self._samples, self._name = samples, name

    def __len__(self) -> int:
        return len(self._samples)

    @overload
    def __getitem__(self, index: int) -> np.ndarray: ...
    @overload
    def __getitem__(self, index: slice) -> list[np.ndarray]: ...
    def __getitem__(self, index: int | slice) -> np.ndarray | list[np.ndarray]:
        from io import BytesIO

        import numpy as np
        from PIL import Image

        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        return np.array(Image.open(BytesIO(self._samples[index][self._name])))


class _PictureReader(SampleReader):
    """Reader of sets of images, one for each field."""

    def __init__(self, folder: Path, facts: Mapping[str, Any]) -> None:
        storage = image_storages.get(facts["label"])
        self._count = facts["count"]
        self._readers = {
            name: storage.open(folder / f"{name}{storage.suffix}") for name in facts["pictures"]
        }

    def __len__(self) -> int:
        return self._count

    def get(self, index: int) -> Sample:
        sample: dict[str, Any] = {INDEX: index}
        for name, reader in self._readers.items():
            sample[name], sample["label"] = reader.get(index)
        return sample

    def close(self) -> None:
        for reader in self._readers.values():
            reader.close()


class _WindowReader(SampleReader):
    """Reader of windows of an array."""

    def __init__(self, place: Path | RemoteFile, facts: Mapping[str, Any]) -> None:
        store: Any = array_stores.get(facts["label"])
        opening = store.open if isinstance(place, Path) else store.open_remote
        self._reader = opening(place / f"array{store.suffix}")
        self._field, self._count, self._window = (facts[name] for name in ("field", "count", "window"))

    def __len__(self) -> int:
        return self._count

    def get(self, index: int) -> Sample:
        return {INDEX: index, self._field: self._reader.read((slice(index, index + self._window),))}

    def close(self) -> None:
        self._reader.close()


class _RowReader(SampleReader):
    """Reader of a table by blocks of rows, which keeps some of them."""

    def __init__(self, place: Path | RemoteFile, facts: Mapping[str, Any], rows: int) -> None:
        format_: Any = data_formats.get(facts["label"])
        path = place / f"table{format_.suffix}"
        self._count, self._rows = facts["count"], rows
        whole = cache(partial(format_.read_remote, path))

        @lru_cache(maxsize=MIXED_BLOCKS)
        def block(number: int) -> dict[str, np.ndarray]:
            part = slice(number * rows, (number + 1) * rows)
            df: pd.DataFrame
            df = format_.read(path, rows=part) if isinstance(path, Path) else whole().iloc[part]
            return {name: column_values(df[name]) for name in df.columns}

        self._block = block

    def __len__(self) -> int:
        return self._count

    def get(self, index: int) -> Sample:
        number, row = divmod(index, self._rows)
        return {name: values[row] for name, values in self._block(number).items()}

    def batch(self, indices: Sequence[int], decode: Callable[[Sample], Sample]) -> Batch:
        """Return rows column by column; samples that are decoded are rows."""
        import numpy as np

        if decode is not as_stored:
            return super().batch(indices, decode)
        numbers, rows = np.divmod(np.asarray(indices), self._rows)
        places = {number: np.flatnonzero(numbers == number) for number in np.unique(numbers).tolist()}
        batch: dict[str, Any] = {}
        for name, first in self._block(next(iter(places))).items():
            values = np.empty((len(rows), *first.shape[1:]), first.dtype)
            for number, chosen in places.items():
                values[chosen] = self._block(number)[name][rows[chosen]]
            batch[name] = values.tolist() if values.dtype == object else values
        return batch

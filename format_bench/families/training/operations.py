"""Operations on samples and training loaders."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import data_generator
from adapter_core import UnavailableError, UnsupportedError
from adapter_core.errors import UserDataError
from adapter_core.sample_set import SampleKind, SampleSet, as_stored
from adapter_core.training_loader import TrainingLoader
from data_generator.datasets.training import WINDOW
from data_generator.training_samples import (
    PictureSamples,
    TableSamples,
    WindowSamples,
    numbers_and_texts,
)
from format_bench.families.operations import CatalogOperations, Measured, operations_of, warm_up_file
from format_bench.families.training import sample_files
from format_bench.families.training.epochs import TrainingPlace, Trainings, place_of
from format_bench.families.training.trainer import Order
from format_bench.instruments.clock import Effort
from format_bench.results.status import CellStatus
from format_bench.results.suites import FAMILIES, Step
from format_bench.verification import Diff

# As trainings have them: a window is ten thousand times as large as a row.
BATCH_SIZES = {SampleKind.WINDOW: 4, SampleKind.ROW: 256, SampleKind.EMBEDDING: 256}
USUAL_BATCH_SIZE = 32

_STEPS: dict[str, Callable[[Trainings], list[Measured]]] = {
    "epochs": Trainings.epochs,
    "fetching": Trainings.fetching,
    "cold epochs": Trainings.cold_epochs,
    "two ranks": Trainings.two_ranks,
    "resume": Trainings.resumed,
    "faults": Trainings.disturbed,
}


# Why metrics are missing that not every place and loader has.
_WHY_NOT = {
    "bytes per sample": "they are counted cold, or at a server: nothing else is brought in",
    "samples off after a lost worker": "it has no workers that are processes of their own",
    "samples off after a lost server": "the samples are local files; --link has them on a server",
}


class TrainingOperations(CatalogOperations):
    """One training loader."""

    family = "training"
    has_workers = True
    made_of: ClassVar = frozenset({"arrays", "images", "tables"})
    measures_at_servers = True
    adapter: TrainingLoader

    @staticmethod
    def datasets() -> list[str]:
        """Return the names of the sets of samples."""
        return data_generator.sample_names()

    @staticmethod
    def generate(dataset: str, size: int | None) -> SampleSet:
        """Return a set of `size` samples, made when they are asked for."""
        found = data_generator.samples(dataset, size).samples
        if found is None:
            raise AssertionError(f"{dataset} is not a set of samples")
        return found

    @staticmethod
    def store(data: SampleSet, path: Path) -> tuple[int, int]:
        """Store samples with the digests of decoded ones; return the numbers of samples and fields."""
        sample_files.store(data, path)
        return len(data), len(data.fields)

    @staticmethod
    def load(path: Path) -> SampleSet:
        """Return the samples, which are read when they are asked for."""
        return sample_files.load(path)

    @staticmethod
    def take(data: SampleSet, positions: Sequence[int]) -> SampleSet:
        """Return as many samples as there are positions: those there, or the first windows."""
        return sample_files.part_of(data, positions)

    @staticmethod
    def store_made_of(family: str, stored: Path, place: Path) -> tuple[int, int]:
        """Store samples of a user's images with labels, rows, or windows of an array."""
        data = operations_of(FAMILIES[family]).load(stored)
        samples: SampleSet
        if family == "images":
            samples = PictureSamples(*data)
        elif family == "arrays":
            if not data.shape:
                raise UserDataError("a number has no windows along its first axis")
            samples = WindowSamples(data, min(WINDOW, data.shape[0]))
        else:
            df = numbers_and_texts(data)
            if df.empty:
                raise UserDataError("it has no column of numbers or texts")
            samples = TableSamples(SampleKind.ROW, lambda rows: df.iloc[:rows], len(df))
        return TrainingOperations.store(samples, place)

    def expect(self, data: Path) -> None:
        """Note the stored samples, and the size of a batch."""
        self._stored, self._samples = data.resolve(), sample_files.load(data)
        self._batch_size = BATCH_SIZES.get(self._samples.kind, USUAL_BATCH_SIZE)

    def warm_up(self) -> None:
        """Prepare a few of the samples, so that no measured call imports a library."""
        few = range(min(4, len(self._samples)))
        with warm_up_file(self.adapter.suffix) as path:
            self.adapter.prepare(sample_files.part_of(self._samples, few), path)

    def save(self, data: SampleSet, file: Path) -> None:
        """Prepare the samples."""
        self.unchecked.prepare(data, file)

    def compare(self, data: SampleSet, found: Any) -> Diff:
        """Raise `AssertionError`: a training compares each sample as it comes."""
        raise AssertionError(f"{len(data)} samples are not read as a whole, but {found} was")

    def measure(self, step: Step, file: Path, effort: Effort) -> list[Measured] | None:
        """Measure all steps but the save in training processes."""
        if step.name == "save":
            return None
        found: list[Measured] = []
        why, status = "", CellStatus.UNSUPPORTED
        try:
            if self.link or self.bucket:
                self.adapter.check_server()  # before a server is started and samples are sent there
            with place_of(file, self.link, self.bucket) as place:
                found = _STEPS[step.name](self._trainings(place, file, effort))
        except UnsupportedError as error:
            why = str(error)
        except UnavailableError as error:
            why, status = str(error), CellStatus.UNAVAILABLE
        values = {each.metric: each for each in found}
        return [
            values.get(each) or Measured(each, [], why or _WHY_NOT[each], status=status)
            for each in step.metrics
        ]

    def _trainings(self, place: TrainingPlace, file: Path, effort: Effort) -> Trainings:
        order = Order(self.adapter.label, "", str(self._stored), self._batch_size, self.workers)
        is_decoded = self._samples.decode is not as_stored
        count, cannot_resume = len(self._samples), self.adapter.cannot_resume
        size_bytes = self.adapter.size_bytes(file) if self.cache_share else 0
        cache_bytes = int(self.cache_share * size_bytes) or None
        return Trainings(order, place, effort, count, is_decoded, cannot_resume, cache_bytes)


OPERATIONS = TrainingOperations

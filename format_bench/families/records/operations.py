"""Operations on records, objects of a program."""

from __future__ import annotations

import functools
import time
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import data_generator
from adapter_core import RecordSet, RecordStore, UnsupportedError
from adapter_core.record_type import RecordType
from data_generator.random_words import RandomWords
from format_bench.families.operations import CatalogOperations, Measured, warm_up_file
from format_bench.families.records import stored
from format_bench.families.records.first_call import first_seconds
from format_bench.families.records.jvm_cells import JvmCell
from format_bench.instruments.clock import MAX_REPEATS, MIN_REPEATS, Effort, turns
from format_bench.results.status import CellStatus
from format_bench.results.suites import Step
from format_bench.verification import Diff
from format_bench.verification.records import verify_records
from record_stores import JvmStore


class RecordOperations(CatalogOperations):
    """One record store, with or without one of its codecs."""

    family = "records"
    adapter: Any
    """A `RecordStore`, or a `JvmStore`, whose calls a JVM makes and times."""
    stored: stored.Stored
    """Facts of the records whose file is read."""

    @staticmethod
    def datasets() -> list[str]:
        """Return the names of the sets of records."""
        return data_generator.record_names()

    @staticmethod
    def generate(dataset: str, size: int | None) -> RecordSet:
        """Return a set of `size` records, made when they are used."""
        found = data_generator.records(dataset, size).records
        if found is None:
            raise AssertionError(f"{dataset} is not a set of records")
        return found

    @staticmethod
    def store(data: RecordSet, path: Path) -> tuple[int, int]:
        """Store how to make the records again; return the number of records and of fields."""
        stored.store(data, path)
        return data.count, len(data.of.fields)

    @staticmethod
    def load(path: Path) -> RecordSet:
        """Return the records, whose objects are made when they are used."""
        return stored.load(path)

    @staticmethod
    def take(data: RecordSet, positions: Sequence[int]) -> RecordSet:
        """Return the records at some positions."""
        return data.take(positions)

    def expect(self, data: Path) -> None:
        """Note the type and the number of stored records, and where they are."""
        self.stored, self._data = stored.facts(data), data

    @property
    def _jvm(self) -> JvmCell | None:
        """The cell in a JVM; None for a store of this process."""
        if not isinstance(self.adapter, JvmStore):
            return None
        return JvmCell(self.adapter, self.codec, self.stored, self._data)

    def measure(self, step: Step, file: Path, effort: Effort) -> list[Measured] | None:
        """Measure a step in a JVM, if the store is one of the JVM."""
        return self._jvm.measure(step, file, effort) if self._jvm else None

    def warm_up(self) -> None:
        """Save and read a few records of the type, with the codec; a JVM's first calls are samples."""
        if self._jvm:
            return
        _warm_up(self.adapter, self.codec, self.stored.of)

    def check(self, data: RecordSet) -> None:
        """Raise `CannotHoldError` if the store cannot keep the records; make the objects."""
        if self._jvm:
            self._jvm.check()
            return
        self.adapter.check(data)
        _ = data.objects

    def save(self, data: RecordSet, file: Path) -> None:
        """Save the records."""
        if self._jvm:
            self._jvm.save(file)
            return
        self.unchecked.save(data, file, self.codec, self.level)

    def read(self, file: Path) -> list[Any]:
        """Read all records to the library's objects; fields that it decodes later are not used."""
        found: list[Any] = self.adapter.read(file, self.stored.of)
        return found

    def compare(self, data: RecordSet, found: list[Any]) -> Diff:
        """Compare the records by the digest of all fields, and the types of the fields."""
        return verify_records(data, found, self.adapter.plain(data.of))

    def metric(
        self, metric: str, file: Path, *, cache: str | None = None, budget_seconds: float = 0.0
    ) -> Measured:
        """Measure a first call, single records, or a metric of all families."""
        if metric in {"save allocation", "read allocation"}:
            return Measured(metric, [], _NO_COUNTER, status=CellStatus.UNSUPPORTED)
        measure = _MEASURED.get(metric)
        if measure is None:
            return super().metric(metric, file, cache=cache, budget_seconds=budget_seconds)
        try:
            return Measured(metric, measure(self, file, budget_seconds))
        except UnsupportedError as error:
            return Measured(metric, [], str(error), status=CellStatus.UNSUPPORTED)

    def first_save_seconds(self, file: Path, _budget_seconds: float) -> list[float]:
        """Return the seconds of the first save in each of some new interpreters."""
        codec = [] if self.codec is None else [self.codec]
        codec += [] if self.level is None else [str(self.level)]
        target = file.with_name(f"{file.stem}-first{file.suffix}")
        try:
            return _sampled(lambda: self._first("save", target, *codec))
        finally:
            self.adapter.remove(target)

    def first_read_seconds(self, file: Path, _budget_seconds: float) -> list[float]:
        """Return the seconds of the first read in each of some new interpreters."""
        return _sampled(lambda: self._first("read", file))

    def _first(self, operation: str, file: Path, *codec: str) -> float:
        return first_seconds([operation, self.adapter.label, self._data, file, *codec])

    def entry_seconds(self, file: Path, budget_seconds: float) -> list[float]:
        """Return the seconds of reading one record at random, of opening the file included."""
        count = self.stored.count
        places = RandomWords("entries", count).integers(max(1, count), MAX_REPEATS).tolist()
        remaining = iter(places)
        return _sampled(
            lambda: _seconds(lambda: self.adapter.entry(file, next(remaining), self.stored.of)),
            budget_seconds,
        )

    def iteration_seconds(self, file: Path, budget_seconds: float) -> list[float]:
        """Return the seconds of iterating over all records without keeping any."""
        return _sampled(
            lambda: _seconds(lambda: _exhaust(self.adapter.iterate(file, self.stored.of))),
            budget_seconds,
        )

    def access_seconds(self, file: Path, budget_seconds: float) -> list[float]:
        """Return the seconds of using every field of all records once, after reading them."""
        objects = self.adapter.read(file, self.stored.of)
        plain = self.adapter.plain(self.stored.of)
        return _sampled(lambda: _seconds(lambda: _exhaust(map(plain, objects))), budget_seconds)


OPERATIONS = RecordOperations

_NO_COUNTER = "CPython has no counter of allocated bytes"

_MEASURED: dict[str, Callable[[RecordOperations, Path, float], list[float]]] = {
    "first save time": RecordOperations.first_save_seconds,
    "first read time": RecordOperations.first_read_seconds,
    "entry read time": RecordOperations.entry_seconds,
    "iteration time": RecordOperations.iteration_seconds,
    "field access time": RecordOperations.access_seconds,
}


def _sampled(sample: Callable[[], float], budget_seconds: float = 0.0) -> list[float]:
    """Return three samples, and more within the time of three."""
    return [sample() for _ in turns(time.perf_counter() + MIN_REPEATS * budget_seconds)]


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def _exhaust(values: Iterable[object]) -> None:
    # The fastest loop of CPython: nothing of it is Python's.
    deque(values, maxlen=0)


@functools.cache
def _warm_up(adapter: RecordStore, codec: str | None, of: RecordType) -> None:
    with warm_up_file(adapter.suffix) as path:
        adapter.save(RecordSet.of_objects(of, [of.example] * 8), path, codec)
        adapter.read(path, of)

"""Training without a model, in a process of its own: it takes batches, and checks them.

The process answers the commands of `Trainer`, and ends with its standard input.
"""

from __future__ import annotations

import contextlib
import logging
import shutil
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import training_loaders
from adapter_core import RemoteFile
from adapter_core.errors import TrainingError, UnsupportedError, WrongValuesError
from adapter_core.sample_set import INDEX, as_stored, digest
from adapter_core.text import shortened
from adapter_core.training_loader import Batch, Feed, Feeding
from format_bench.families.training import sample_files
from format_bench.instruments import page_cache, process_tree
from format_bench.network.processes import CommandedProcess, answer_commands
from format_bench.results.status import WRONG, CellStatus, status_of

# Decoded samples that are kept until the clock has stopped; more are checked between two batches.
HELD_BYTES = 2**30

# Batches at which the memory of all processes is read: while batches are on their way.
MEMORY_BATCHES = range(2, 32, 3)


@dataclass(frozen=True)
class Order:
    """A feed that a trainer shall open."""

    label: str
    place: str | Mapping[str, Any]
    """The prepared folder, or the fields of a `RemoteFile`."""
    data: str
    """The stored samples."""
    batch_size: int
    workers: int
    seed: int = 0
    rank: int = 0
    world: int = 1
    cache: str = ""
    """Folder for copies of files from a server; empty for local files."""
    cache_bytes: int | None = None
    """Most bytes of such copies; None for no limit."""
    is_decoded: bool = True
    """False for stored values, which are not checked."""


@dataclass(frozen=True)
class Opened:
    """Cost of opening a feed."""

    seconds: float
    fetched_bytes: int
    """Bytes that all processes fetched from the device."""


@dataclass(frozen=True)
class Pass:
    """Batches that a trainer took."""

    arrivals: list[float] = field(default_factory=list)
    """Seconds from the start of the epoch to the arrival of each batch."""
    indices: list[int] = field(default_factory=list)
    """Samples in the order of arrival."""
    cpu_seconds: float = 0.0
    """Of all processes."""
    fetched_bytes: int = 0
    """Bytes that all processes fetched from the device."""
    memory_bytes: int = 0
    """Largest memory of all processes, shared pages once; 0 if it was not read."""
    state: Any = None
    """State after the last batch; None if the loader has none."""
    error: str = ""
    """Error that ended it, if errors are tolerated."""


class Trainer(CommandedProcess):
    """A training process, which ends with the block."""

    def __init__(self, environment: Mapping[str, str] | None = None) -> None:
        super().__init__(__name__, environment=environment)

    def _end(self) -> None:
        """Let the process end; end those that it has left behind."""
        started = process_tree.descendants(self.pid)
        super()._end()
        process_tree.end_of(started)

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    def upload(self, folder: Path, address: RemoteFile, limit_seconds: float) -> None:
        """Copy a prepared folder to an object store. For errors see `take`."""
        self._told(limit_seconds, do="upload", folder=str(folder), address=asdict(address))

    def open(self, order: Order, limit_seconds: float) -> Opened:
        """Open a feed; return the cost. For errors see `take`."""
        return Opened(**self._told(limit_seconds, do="open", order=asdict(order)))

    def take(self, epoch: int, limit_seconds: float, **options: Any) -> Pass:
        """Take batches of an epoch, and check every sample.

        Parameters
        ----------
        epoch : int
            Number of the epoch.
        limit_seconds : float
            Time for all batches.
        **options
            `state` to resume with; `most`, a number of batches after which the iterator stays as it is;
            `goes_on`, to take the rest of it; `tolerates_errors`, to return the batches before one;
            `reads_memory`.

        Raises
        ------
        TrainingError, UnsupportedError
            If the loader failed, or does not support the request.
        LinkError
            If the process ended, or has not answered within the limit.
        WrongValuesError
            If a sample has other values than it was stored with.
        """
        return Pass(**self._told(limit_seconds, do="take", epoch=epoch, **options))

    def _told(self, limit_seconds: float, **command: Any) -> Any:
        found = self.ask(limit_seconds, **command)
        if "error" not in found:
            return found["value"]
        sentence = found["error"]
        if found["status"] == CellStatus.UNSUPPORTED:
            raise UnsupportedError(sentence)
        raise (WrongValuesError if sentence.startswith(WRONG) else TrainingError)(sentence)


class _Training:
    """The process' side of `Trainer`."""

    _feed: Feed | None = None
    _digests: Any = None
    _world = 1

    def __init__(self) -> None:
        self._batches: Iterator[Batch] = iter(())

    def answer(self, command: dict[str, Any]) -> dict[str, Any]:
        """Return the value of a command, or its error."""
        try:
            return {"value": self._method(command.pop("do"))(**command)}
        except Exception as error:
            status = status_of(error)
            text = f"{type(error).__name__}: {error}" if status is CellStatus.FAILED else str(error)
            sentence = str(error) if isinstance(error, WrongValuesError) else shortened(text)
            return {"error": sentence, "status": status.value}

    def _method(self, name: str) -> Callable[..., Any]:
        methods: dict[str, Callable[..., Any]]
        methods = {"upload": _upload, "open": self._open, "take": self._take}
        return methods[name]

    def _open(self, order: dict[str, Any]) -> dict[str, Any]:
        wanted = Order(**order)
        data, place, self._world = Path(wanted.data), wanted.place, wanted.world
        if wanted.is_decoded:
            self._digests = sample_files.digests(data)
        feeding = Feeding(
            sample_files.decoding(data) if wanted.is_decoded else as_stored,
            wanted.batch_size,
            wanted.seed,
            wanted.workers,
            wanted.rank,
            wanted.world,
            Path(wanted.cache) if wanted.cache else None,
            wanted.cache_bytes,
        )
        loader = training_loaders.get(wanted.label)  # imports its library, if it is here
        before = process_tree.cost()
        start = time.perf_counter()
        self._feed = loader.open(Path(place) if isinstance(place, str) else RemoteFile(**place), feeding)
        seconds = time.perf_counter() - start
        return asdict(Opened(seconds, (process_tree.cost() - before).fetched_bytes))

    def end(self) -> None:
        """Close the feed."""
        if self._feed:
            self._feed.close()

    def _take(  # noqa: PLR0913 (the options of `Trainer.take`)
        self,
        epoch: int,
        state: Any = None,
        most: int = 0,
        *,
        goes_on: bool = False,
        tolerates_errors: bool = False,
        reads_memory: bool = False,
    ) -> dict[str, Any]:
        if self._feed is None:
            raise AssertionError("a feed is opened before batches are taken")
        held = _Held(self._digests)
        arrivals: list[float] = []
        memory_bytes, failure = 0, ""
        before = process_tree.cost()
        start = time.perf_counter()
        try:
            if not goes_on:
                self._batches = iter(self._feed.epoch(epoch, state))
            for batch in self._batches:
                held.add(batch)
                arrivals.append(time.perf_counter() - start - held.checking_seconds)
                if reads_memory and len(arrivals) in MEMORY_BATCHES:
                    memory_bytes = max(memory_bytes, process_tree.proportional_bytes() - held.size_bytes)
                if len(arrivals) == most:
                    break
        except Exception as error:
            if not tolerates_errors:
                raise
            failure = shortened(f"{type(error).__name__}: {error}")
        # A part of few samples may have none.
        if not arrivals and not goes_on and not failure and self._world == 1:
            raise ValueError("the epoch has no batch")
        cost = process_tree.cost() - before
        held.check()
        after = None
        with contextlib.suppress(Exception):  # many loaders have none
            after = self._feed.state()
        costs = cost.cpu_seconds, cost.fetched_bytes, memory_bytes
        return asdict(Pass(arrivals, held.indices, *costs, after, failure))


def _upload(folder: str, address: dict[str, Any]) -> None:
    target = RemoteFile(**address)
    system = target.arrow_file_system()
    for file in page_cache.files_of(Path(folder)):
        key = f"{target.arrow_path}/{file.relative_to(folder)}"
        with file.open("rb") as source, system.open_output_stream(key) as object_:
            shutil.copyfileobj(source, object_, 1 << 20)


class _Held:
    """Batches that were taken and are kept for their check, which no clock sees.

    A model's device copies each batch, too; a loader may use its memory again.
    """

    def __init__(self, digests: Any) -> None:
        self._digests = digests
        self._batches: list[dict[str, Any]] = []
        self.indices: list[int] = []
        self.size_bytes = 0
        self.checking_seconds = 0.0

    def add(self, batch: Batch) -> None:
        """Copy a batch; check those so far if there are too many."""
        import numpy as np

        own: dict[str, Any] = {}
        for name, values in batch.items():
            if isinstance(values, (list, tuple)):
                copies = [each if isinstance(each, (str, bytes)) else np.array(each) for each in values]
                self.size_bytes += sum(getattr(each, "nbytes", 0) or len(each) for each in copies)
                own[name] = copies
            else:
                copy = own[name] = np.array(values)
                self.size_bytes += copy.nbytes
        self.indices += [int(each) for each in own[INDEX]]
        if self._digests is None:
            return
        self._batches.append(own)
        if self.size_bytes > HELD_BYTES:
            start = time.perf_counter()
            self.check()
            self.checking_seconds += time.perf_counter() - start

    def check(self) -> None:
        """Compare every sample with its digest; raise `WrongValuesError` for the first other one."""
        for batch in self._batches:
            for place, index in enumerate(batch[INDEX]):
                sample = {name: values[place] for name, values in batch.items()} | {INDEX: int(index)}
                found = int.from_bytes(digest(sample), "little")
                if not 0 <= index < len(self._digests) or found != int(self._digests[index]):
                    raise WrongValuesError(f"{WRONG}the sample {index} has other values than stored")
        self._batches.clear()
        self.size_bytes = 0


if __name__ in {"__main__", "__mp_main__"}:
    # Workers that a loader spawns import this file, too, before Grain warns that it has no JAX.
    logging.getLogger().addHandler(logging.NullHandler())

if __name__ == "__main__":
    training = _Training()
    answer_commands(training.answer)
    training.end()

"""Steps of training loaders: epochs, warm and cold, two ranks, a resume, and faults.

Each training is a process of its own, as a user's is; its loader's workers are its children.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from adapter_core import RemoteFile, UnavailableError, UnsupportedError
from adapter_core.errors import LinkError
from format_bench.families.operations import Measured
from format_bench.families.training.arrivals import Counts, order_distance, stalled_share
from format_bench.families.training.trainer import MEMORY_BATCHES, Opened, Order, Pass, Trainer
from format_bench.instruments import page_cache, process_tree
from format_bench.instruments.clock import Effort
from format_bench.network import object_server
from format_bench.network.places import StorePlace, environments_address, own_place, user_place
from format_bench.network.proxy import RESET, Fault, Proxy
from format_bench.network.trials import BYTES_PER_MBIT, Setting
from format_bench.results.status import CellStatus

# Durations of a model's step. Chosen, not measured: 2 ms is a small network on a large device, 50 ms a
# large one.
STEPS_MS = (2, 10, 50)

# Epochs of a training: the first, and two for which files, caches and workers are as they stay. While
# the budget lasts there are more of these, which cost less than another training.
EPOCHS, _MOST_EPOCHS = 3, 12

_NO_DELAY = Setting(0.0)

# Trainings of a cold step at most, while its budget lasts.
_MOST_TRAININGS = 3

# Time without an answer after which a loader hangs that has been disturbed.
HANG_SECONDS = 30.0

# Time for a whole epoch, where a step has no limit of its own.
_LIMIT_SECONDS = 1800.0


@dataclass(frozen=True)
class TrainingPlace:
    """Where prepared samples are, as trainings reach them."""

    file: Path
    """The prepared folder on this machine."""
    remote: RemoteFile | None = None
    """Its copy on a server; None if trainings read the folder."""
    store: StorePlace | None = None
    setting: Setting = _NO_DELAY

    @property
    def proxy(self) -> Proxy | None:
        """The proxy before the server; None if there is none."""
        return self.store.proxy if self.store else None

    @property
    def environment(self) -> dict[str, str]:
        """Variables of trainings."""
        return dict(self.store.environment) if self.store else {}

    def link(self, fault: Fault | None = None) -> None:
        """Delay and pace requests by the setting, and let some fail."""
        if self.proxy:
            seconds, rate = self.setting.round_trip_ms / 1000, self.setting.mbit * BYTES_PER_MBIT
            self.proxy.set(fault or Fault(), seconds, rate)


@contextmanager
def place_of(file: Path, link: str, bucket: str) -> Iterator[TrainingPlace]:
    """Provide the place of prepared samples: their folder, or a copy on a server over a link.

    Parameters
    ----------
    file : Path
        The prepared folder.
    link : str
        Text of a `Setting`; empty for none.
    bucket : str
        Address of a user's bucket; empty for a server here.
    """
    if not link and not bucket:
        yield TrainingPlace(file)
        return
    found = object_server.availability()
    if not bucket and not found:
        raise UnavailableError("the object server", found.reason, found.install_hint)
    with user_place(environments_address(bucket)) if bucket else own_place() as store:
        if link and not store.proxy:
            raise UnsupportedError(f"requests to {bucket} are encrypted, and cannot be delayed")
        place = TrainingPlace(file, store.address("samples"), store, Setting.of(link) or _NO_DELAY)
        with Trainer(place.environment) as client:
            client.upload(file, store.address("samples"), _LIMIT_SECONDS)
        place.link()
        yield place


@dataclass(frozen=True)
class Trainings:
    """Trainings of one loader on prepared samples."""

    order: Order
    """Loader, samples, batches and workers."""
    place: TrainingPlace
    effort: Effort
    count: int
    """Number of samples."""
    is_decoded: bool
    """Whether samples are decoded, so that fetching them is a part of the work."""
    cannot_resume: str = ""
    cache_bytes: int | None = None
    """Limit of the loader's copies of a server's files; None for none."""

    @property
    def limit_seconds(self) -> float:
        """Time for one epoch."""
        return min(self.effort.limit_seconds, _LIMIT_SECONDS)

    @contextmanager
    def training(self, **changes: Any) -> Iterator[tuple[Trainer, Opened]]:
        """Provide a training that has opened its loader, and the cost of that."""
        environment = self.place.environment
        with TemporaryDirectory(prefix="loader-cache-") as cache, Trainer(environment) as found:
            remote = self.place.remote
            place = asdict(remote) if remote else str(self.place.file)
            changes |= {"cache": cache, "cache_bytes": self.cache_bytes} if remote else {}
            yield found, found.open(replace(self.order, place=place, **changes), self.limit_seconds)

    def epochs(self) -> list[Measured]:
        """Measure a whole training on files in the page cache, or on a server."""
        if not self.place.remote:
            page_cache.fill(self.place.file)
        if self.place.proxy:
            self.place.proxy.take()  # what others have asked for
        with self.training() as (trainer, opened):
            passes = [trainer.take(epoch, self.limit_seconds) for epoch in range(EPOCHS)]
            costs = self._bytes_over_link()
            end = time.monotonic() + self.effort.budget_seconds
            while time.monotonic() < end and len(passes) < _MOST_EPOCHS:
                passes.append(trainer.take(len(passes), self.limit_seconds))
            most = MEMORY_BATCHES.stop
            seen = trainer.take(len(passes), self.limit_seconds, most=most, reads_memory=True)
        costs["sample CPU time"] = [each.cpu_seconds / self.count for each in passes[1:]]
        costs |= _times(opened.seconds, passes, self.count)
        measured = [Measured(metric, values) for metric, values in costs.items()]
        return [*measured, _memory_of(seen), *_order_of(passes), *_counts_of(passes, self.count)]

    def _bytes_over_link(self) -> dict[str, list[float]]:
        """Return the bytes per sample of the first epochs; nothing without a link."""
        if not self.place.proxy:
            return {}
        down_bytes = sum(each.down_bytes for each in self.place.proxy.take())
        return {"bytes per sample": [down_bytes / EPOCHS / self.count]}

    def fetching(self) -> list[Measured]:
        """Measure the CPU time of samples that are not decoded."""
        if not self.is_decoded:
            raise UnsupportedError("its samples are not decoded: all of their CPU time is for fetching")
        if not self.place.remote:
            page_cache.fill(self.place.file)
        with self.training(is_decoded=False) as (trainer, _):
            # The imports of workers are in their first epoch.
            passes = [trainer.take(epoch, self.limit_seconds) for epoch in range(EPOCHS)]
        return [Measured("fetching CPU time", [each.cpu_seconds / self.count for each in passes[1:]])]

    def cold_epochs(self) -> list[Measured]:
        """Measure first epochs on files that are out of the page cache."""
        if self.place.remote:
            raise UnsupportedError("a server's files are not in the page cache here")
        epoch_seconds: list[float] = []
        batch_seconds, fetched_bytes = [], []
        end = time.monotonic() + self.effort.budget_seconds
        while not epoch_seconds or (time.monotonic() < end and len(epoch_seconds) < _MOST_TRAININGS):
            page_cache.make_cold(self.place.file)
            with self.training() as (trainer, opened):
                first = trainer.take(0, self.limit_seconds)
            epoch_seconds.append(first.arrivals[-1] / self.count)
            batch_seconds.append(opened.seconds + first.arrivals[0])
            fetched_bytes.append((opened.fetched_bytes + first.fetched_bytes) / self.count)
        return [
            Measured("first epoch sample time", epoch_seconds),
            Measured("first batch time", batch_seconds),
            Measured("bytes per sample", fetched_bytes),
        ]

    def two_ranks(self) -> list[Measured]:
        """Count the samples of an epoch that two processes share."""
        with ExitStack() as stack, ThreadPoolExecutor(2) as threads:
            opening = [
                threads.submit(lambda rank: stack.enter_context(self.training(rank=rank, world=2)), rank)
                for rank in range(2)
            ]
            trainers = [each.result()[0] for each in opening]
            parts = [threads.submit(each.take, 0, self.limit_seconds) for each in trainers]
            indices = [index for each in parts for index in each.result().indices]
        return [_off("samples off on two ranks", indices, self.count)]

    def resumed(self) -> list[Measured]:
        """Count the samples of an epoch whose process was killed in its middle, and of the rest."""
        if self.cannot_resume:
            raise UnsupportedError(f"it cannot resume: {self.cannot_resume}")
        half = -(-self.count // self.order.batch_size) // 2
        if not half:
            raise UnsupportedError("an epoch of one batch has no middle to be killed in")
        with self.training() as (trainer, _):
            before = trainer.take(0, self.limit_seconds, most=half)
            started = process_tree.descendants(trainer.pid)
            trainer.kill()
        if before.state is None:
            raise UnsupportedError("its state within an epoch cannot be saved")
        left = process_tree.end_of(started)
        with self.training() as (trainer, _):
            after = trainer.take(0, self.limit_seconds, state=before.state)
        remark = f"{left} of its processes outlive a training that is killed" if left else ""
        indices = before.indices + after.indices
        return [_off("samples off after a resume", indices, self.count, remark)]

    def disturbed(self) -> list[Measured]:
        """Count the samples of epochs in which a worker is killed, and in which the server is lost."""
        found = []
        with contextlib.suppress(UnsupportedError):
            found.append(self._disturbed("samples off after a lost worker", _kill_worker))
        if self.place.proxy:
            found.append(self._disturbed("samples off after a lost server", self._end_server))
            self.place.link()
        return found

    def _end_server(self, _trainer: Trainer) -> None:
        self.place.link(Fault(RESET, reads=True))

    def _disturbed(self, metric: str, disturb: Any) -> Measured:
        """Return the samples that an epoch lost or repeated after a disturbance, and its outcome."""
        with self.training() as (trainer, _):
            before = trainer.take(0, self.limit_seconds, most=1)
            disturb(trainer)
            start = time.monotonic()
            try:
                after = trainer.take(0, HANG_SECONDS, goes_on=True, tolerates_errors=True)
            except LinkError as error:
                is_hanging = time.monotonic() - start >= HANG_SECONDS
                what = f"it hangs: no end after {HANG_SECONDS:.0f} seconds" if is_hanging else str(error)
                return _off(metric, before.indices, self.count, what)
        what = f"it stops: {after.error}" if after.error else "it goes on"
        return _off(metric, before.indices + after.indices, self.count, what)


def _times(opened_seconds: float, passes: Sequence[Pass], count: int) -> dict[str, list[float]]:
    """Return the times and stalls of a training."""
    first, *later = passes
    stalls = {
        f"stalls at {ms} ms": [stalled_share(each.arrivals, ms / 1000) for each in later]
        for ms in STEPS_MS
    }
    return {
        "first epoch sample time": [first.arrivals[-1] / count],
        "first batch time": [opened_seconds + first.arrivals[0]],
        "sample time": [each.arrivals[-1] / count for each in later],
        **stalls,
    }


def _memory_of(seen: Pass) -> Measured:
    """Return the memory of a training; why there is none if the epoch ended before it was read."""
    if seen.memory_bytes:
        return Measured("loader memory", [seen.memory_bytes])
    reason = f"memory is read at batch {MEMORY_BATCHES.start}, and an epoch has fewer"
    return Measured("loader memory", [], reason, status=CellStatus.UNSUPPORTED)


def _order_of(passes: Sequence[Pass]) -> list[Measured]:
    """Return the distance of the orders of epochs from full shuffles."""
    repeats = {tuple(each.indices) for each in passes}
    remark = "" if len(repeats) == len(passes) else "epochs have the same order"
    return [Measured("order distance", [order_distance(each.indices) for each in passes], remark)]


def _counts_of(passes: Sequence[Pass], count: int) -> list[Measured]:
    """Return the numbers of samples that epochs have repeated and lost, of the worst epoch each."""
    counts = [Counts.of(each.indices, count) for each in passes]
    worst = {
        "repeated samples": max(each.repeated for each in counts),
        "lost samples": max(each.lost for each in counts),
    }
    return [
        Measured(metric, [number], f"of {count:,} in an epoch" if number else "")
        for metric, number in worst.items()
    ]


def _off(metric: str, indices: Sequence[int], count: int, remark: str = "") -> Measured:
    found = Counts.of(indices, count)
    sentence = "; ".join(filter(None, [str(found), remark]))
    return Measured(metric, [found.repeated + found.lost], sentence)


def _kill_worker(trainer: Trainer) -> None:
    """Kill the worker that has worked most; raise `UnsupportedError` if there is none."""
    workers = process_tree.descendants(trainer.pid)
    if not workers:
        raise UnsupportedError("its workers are threads of the training's own process")
    max(workers, key=lambda each: sum(each.cpu_times()[:2])).send_signal(signal.SIGKILL)

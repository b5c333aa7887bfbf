"""Faults of an object store in the middle of a save: its end, its leftovers, and a read afterwards."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from tempfile import TemporaryDirectory

from adapter_core import RemoteFile
from adapter_core.errors import LinkError, ObjectStoreError
from format_bench.network import object_server
from format_bench.network.client import ARRAY, READ, SAVE, TABLE
from format_bench.network.environment import NO_REQUEST
from format_bench.network.object_server import REAL, ObjectServer
from format_bench.network.proxy import (
    EXPIRED,
    RESET,
    SLOW_DOWN,
    STALL,
    UPLOADS,
    Fault,
    Proxy,
    retries_of,
)
from format_bench.network.trials import Trial, shown
from format_bench.results.display.text import plural
from format_bench.results.status import CellStatus
from format_bench.results.study_rows import StudyForm
from format_bench.studies.declared.blocks import Block, Context
from format_bench.studies.declared.rows import Agenda, Instrument
from format_bench.studies.object_stores import ARRAY_DATASET, trials_of

# Times that libraries may send a request: more than two failures, so that one after them succeeds.
ATTEMPTS = 4

# Time after which a save, or a read, counts as timed out.
#
# Libraries that try each request four times gave up after at most 25 seconds (docs/object_stores.md).
LIMIT_SECONDS = 30.0

REFUSED, KILLED, FULL_DISK = "refused credentials", "client killed", "full disk"

_PROXIED = {
    "slow down twice": Fault(SLOW_DOWN, times=2),
    "slow down always": Fault(SLOW_DOWN),
    "reset once": Fault(RESET, times=1),
    "reset always": Fault(RESET),
    "expired credentials": Fault(EXPIRED),
    KILLED: Fault(STALL, times=1),
}

FAULTS = (*_PROXIED, REFUSED, FULL_DISK)
"""Names of the faults."""


class Saved(StrEnum):
    """How a save ended."""

    DONE = "done"
    ERROR = "error"
    TIMED_OUT = "timed out"
    CRASHED = "crashed"
    """The client's process ended by itself."""
    KILLED = "killed"
    UNTRIED = "unavailable"


class Found(StrEnum):
    """Result of a read afterwards."""

    WHOLE = "whole"
    ABSENT = "absent"
    """Nothing was left."""
    REFUSED = "refused"
    """Something was left, and the reader raises an error."""
    PARTIAL = "partial taken for whole"
    TIMED_OUT = "timed out"
    UNTRIED = "-"


@dataclass(frozen=True)
class FaultRow:
    """A save with a fault, and a read without one afterwards."""

    format: str
    dataset: str
    rows: int
    fault: str
    seconds: float | None = None
    """Wall time of the save."""
    requests: int | None = None
    retries: int | None = None
    objects: int | None = None
    """Objects left."""
    uploads: int | None = None
    """Incomplete uploads left."""
    partial: int | None = None
    """1 if the reader took a part for the whole, else 0."""
    sentence: str = ""
    """The ends of save and read, as in "error; absent", and after a colon the error of the save, else of
    the reader."""
    status: str = ""
    """Why there are no values; empty if there are."""

    @property
    def ends(self) -> tuple[Saved, Found]:
        """End of the save, and of the read afterwards."""
        if self.status:
            return Saved.UNTRIED, Found.UNTRIED
        saved, found = self.sentence.partition(": ")[0].split("; ")
        return Saved(saved), Found(found)


def fault_results(trial: Trial, kind: str = REAL) -> Iterator[FaultRow]:
    """Save under each fault and read afterwards.

    A fault strikes the middle one of the requests that write, counted in a first save
    without faults. The disk of `FULL_DISK` has room for half of the bytes that the first save sent.

    Parameters
    ----------
    trial : Trial
        The adapter and its data.
    kind : str
        Kind of server, as `ObjectServer` takes it.
    """
    with _bench(trial, kind) as bench:
        expected = bench.client.expected()[READ]
        file = bench.server.address(bench.proxy.port, f"{bench.server.folder}/first")
        outcome = bench.client.run(SAVE, file, LIMIT_SECONDS)
        calls = [each for each in bench.proxy.take() if each.method in UPLOADS]
        if outcome.error or not calls:
            reason = outcome.error or f"it {NO_REQUEST} {file.origin}"
            raise LinkError(f"the save without a fault failed: {reason}")
        for name, fault in _PROXIED.items():
            yield bench.run(name, Fault(fault.kind, len(calls) // 2, fault.times), expected)
        bench.renew({"AWS_SECRET_ACCESS_KEY": "not that of the server"})
        yield bench.run(REFUSED, Fault(), expected)
        sent_bytes = sum(each.up_bytes for each in calls)
    if kind == REAL:  # the other has no disk
        yield _on_a_full_disk(trial, expected, sent_bytes // 2)


def _on_a_full_disk(trial: Trial, expected: str, disk_bytes: int) -> FaultRow:
    try:
        with _bench(trial, REAL, disk_bytes) as bench:
            bench.client.expected()
            return bench.run(FULL_DISK, Fault(), expected)
    except (LinkError, ObjectStoreError) as error:
        return FaultRow(*_cell(trial), FULL_DISK, sentence=str(error), status=CellStatus.UNAVAILABLE)


def _cell(trial: Trial) -> tuple[str, str, int]:
    dataset, _, rows = trial.source.rpartition(":")
    return trial.label, dataset, int(rows)


@contextmanager
def _bench(trial: Trial, kind: str, disk_bytes: int = 0) -> Iterator[_Bench]:
    with (
        TemporaryDirectory() as folder,
        ObjectServer(Path(folder), kind, disk_bytes) as server,
        Proxy(server.port) as proxy,
    ):
        bench = _Bench(trial, server, proxy)
        try:
            yield bench
        finally:
            bench.client.close()


class _Bench:
    """A server with its proxy, and a client, which is replaced after it was killed."""

    def __init__(self, trial: Trial, server: ObjectServer, proxy: Proxy) -> None:
        self.trial, self.server, self.proxy = trial, server, proxy
        self.client = trial.client(server.environment)

    def renew(self, environment: Mapping[str, str] | None = None) -> None:
        """Start another client, with further environment variables, and have it import and load."""
        self.client.close()
        self.client = self.trial.client({**self.server.environment, **(environment or {})})
        self.client.expected()

    def run(self, name: str, fault: Fault, expected: str) -> FaultRow:
        """Save under a fault, and read without it."""
        key = f"{self.server.folder}/{name.replace(' ', '-')}"
        file = self.server.address(self.proxy.port, key, ATTEMPTS)
        self.proxy.set(fault)
        self.proxy.take()
        start = time.perf_counter()
        saved, sentence = self._save(file, kills=fault.kind == STALL)
        seconds = time.perf_counter() - start
        calls = self.proxy.take()
        if saved in {Saved.KILLED, Saved.TIMED_OUT, Saved.CRASHED} or name == REFUSED:
            self.renew()
        # Only now: a client that is still at work would complete its save.
        self.proxy.set()
        objects, uploads = self.server.bucket.objects(key), self.server.bucket.uploads(key)
        found, reason = self._read(file, expected, is_empty=not objects)
        cell, reason = (*_cell(self.trial), name), sentence or reason
        if saved is Saved.UNTRIED:
            return FaultRow(*cell, sentence=reason, status=CellStatus.UNAVAILABLE)
        counts = len(calls), retries_of(calls), len(objects), len(uploads), int(found is Found.PARTIAL)
        ends = f"{saved}; {found}"
        return FaultRow(*cell, seconds, *counts, sentence=f"{ends}: {reason}" if reason else ends)

    def _save(self, file: RemoteFile, *, kills: bool) -> tuple[Saved, str]:
        end = time.monotonic() + LIMIT_SECONDS
        if kills:
            self.client.start(SAVE, file)
            while not self.proxy.has_stalled():
                if time.monotonic() > end:
                    self.client.kill()
                    return Saved.UNTRIED, "the save made no request to be killed in"
                time.sleep(0.01)
            self.client.kill()
            return Saved.KILLED, ""
        try:
            outcome = self.client.run(SAVE, file, LIMIT_SECONDS)
        except LinkError as error:
            return (Saved.TIMED_OUT if time.monotonic() > end else Saved.CRASHED), str(error)
        return (Saved.ERROR if outcome.error else Saved.DONE), outcome.error

    def _read(self, file: RemoteFile, expected: str, *, is_empty: bool) -> tuple[Found, str]:
        try:
            outcome = self.client.run(READ, file, LIMIT_SECONDS)
        except LinkError as error:
            self.renew()
            return Found.TIMED_OUT, str(error)
        if outcome.error:
            return (Found.ABSENT if is_empty else Found.REFUSED), outcome.error
        return (Found.WHOLE if outcome.digest == expected else Found.PARTIAL), ""


def name_of(row: FaultRow) -> str:
    """Return the label of a row, distinct from the other family's."""
    return shown(ARRAY if row.dataset == ARRAY_DATASET else TABLE, row.format)


def cell_of(row: FaultRow) -> str:
    """Return the ends of save and read in words."""
    if row.seconds is None:
        return CellStatus.UNAVAILABLE
    saved, found = row.ends
    counts = [(row.objects, "object"), (row.uploads, "upload")]
    left = " + ".join(plural(number, noun) for number, noun in counts if number)
    reader = f"**{found}**" if row.partial else found
    noun = "retry" if row.retries == 1 else "retries"
    retries = f", {row.retries} {noun}" if row.retries else ""
    return f"{saved}, {row.seconds:.1f} s{retries}; {reader}{f' ({left})' if left else ''}"


def error_of(row: FaultRow) -> str:
    """Return the error of a save that neither ended well nor was killed; empty if there is none."""
    if row.ends[0] in {Saved.DONE, Saved.KILLED}:
        return ""
    return row.sentence.partition(": ")[2] or row.sentence


def measure(
    agenda: Agenda[FaultRow], labels: Sequence[str], rows: int, chunks: int
) -> Iterator[FaultRow]:
    """Return the rows of adapters, of all that write to object stores if no labels are given.

    Raises
    ------
    UnknownNameError
        If an adapter of a label does not exist, or writes to no object store.
    """
    trials = trials_of(labels, rows, chunks)
    kind = REAL if object_server.availability() else object_server.STAND_IN
    return (
        row
        for trial in trials
        if agenda.has(format=trial.label, dataset=trial.source.partition(":")[0])
        for row in [*fault_results(trial, kind)]
    )


FORM = StudyForm(
    suite="faults",
    of=FaultRow,
    values={
        "seconds": "remote save time",
        "requests": "remote save requests",
        "retries": "save retries",
        "objects": "left objects",
        "uploads": "left uploads",
        "partial": "partial reads",
    },
    reason="sentence",
    threads="all",
)

INSTRUMENT = Instrument(FORM, measure, name_of)


def table(context: Context) -> Iterator[Block]:
    """Yield a row for each adapter and a column for each fault."""
    found = {(name_of(each), each.fault): cell_of(each) for each in context.rows}
    labels = dict.fromkeys(map(name_of, context.rows))
    rows = [[label, *(found.get((label, fault), "unavailable") for fault in FAULTS)] for label in labels]
    yield Block(header=["format", *FAULTS], rows=rows)


def errors(context: Context, shown: str) -> Iterator[Block]:
    """Yield the sentences of the saves that failed, if they are to be shown."""
    found = [(each, error_of(each)) for each in context.rows]
    items = [f"{name_of(each)}, {each.fault}: {error}" for each, error in found if error]
    if items and shown == str(True):
        yield Block(items=items)

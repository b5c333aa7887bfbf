"""Process that measures one round of a case, or describes its machine, for a worker of a cluster.

The process locks the host until it ends, and the kernel kills it with the worker. So no two cells are
measured side by side on a host, whatever becomes of workers and clients. A worker's own process does not
measure: Dask's threads run there, and it may not start processes as the runner does.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import math
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from adapter_core.errors import ClusterError, FormatBenchError
from adapter_core.files import write_atomically
from data_generator import DEFAULT_SEED
from data_generator.user.load import fingerprint as content_fingerprint
from format_bench import conditions
from format_bench.families.cases import Case
from format_bench.instruments import isolation
from format_bench.instruments.isolation import Outcome
from format_bench.instruments.threads import Threads
from format_bench.metadata import machine, run_metadata
from format_bench.metadata.machine import fingerprint, sources_digest
from format_bench.results import records
from format_bench.results.load import RESULTS
from format_bench.results.records import Record
from format_bench.runner import folders
from format_bench.runner.media import ComparedMedium, Scratch, compared, for_data
from format_bench.runner.result_store import ResultStore
from format_bench.runner.runner import CaseData, Limits, Runner
from format_bench.runner.user_data import OwnData, Source, prepare
from format_bench.system.locks import lock_host


@dataclass(frozen=True)
class SharedData:
    """The user's data, which each worker reads at the same path."""

    source: Source
    fingerprint: str
    """Of the data, as `prepare` returns it."""
    content: str
    """Fingerprint of the file, as `data_generator.user.load.fingerprint` returns it."""


@dataclass(frozen=True)
class WorkerSetup:
    """Folders, threads and data of a run on each of its workers."""

    scratches: tuple[Scratch, ...] = ()
    """Folders for measured files, each with the name of its medium if there are several; by default the
    system's for temporary ones."""
    threads: Threads = "all"
    user_data: SharedData | None = None
    """In place of generated data."""

    def check_folders(self) -> None:
        """Check that measured files have room.

        Raises
        ------
        InvalidFolderError
            If a folder does not exist, cannot be written to, or has no room.
        """
        for scratch in self.scratches:
            folders.check_scratch(scratch.folder)
        if not self.scratches:
            folders.check_scratch(None)


@dataclass(frozen=True)
class CellRequest:
    """One round of a case, as a client orders it."""

    case: Case
    number: int
    """The round, from 1."""
    limits: Limits
    steps: frozenset[str]
    earlier: tuple[Record, ...]
    """Records of the case's earlier rounds on machines of this kind."""
    run_id: str
    setup: WorkerSetup
    run: str
    """Name of the run on the cluster, whose cells share generated data on a worker."""


@dataclass(frozen=True)
class HostDescription:
    """A worker's machine, and its folders."""

    host: str
    fingerprint: str
    sources: str
    """Digest of the project's own files."""
    metadata: dict[str, Any]
    """Metadata of a run on the machine, with its fingerprint."""
    scratch: Path
    """The folder for data, and for the measured files of cases without a medium."""
    media: tuple[ComparedMedium, ...]


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a process of its own that has the lock of the host.

    Raises
    ------
    ClusterError
        If the process ended without an answer, or the function raised an error.
    """
    # The worker's: the process imports the same packages, and names folders that outlive it.
    own = {"PYTHONPATH": os.pathsep.join(filter(None, sys.path)), "TMPDIR": tempfile.gettempdir()}
    done = isolation.run(
        *(_locked, function, arguments),
        limit_seconds=math.inf,
        environment=own,
        interpreter=sys.executable,
    )
    if done.status or isinstance(done.value, ClusterError):
        raise done.value or ClusterError(done.sentence)
    return done.value


def _locked(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    """Return the result of a call with the lock of the host, or the error that the user is to read."""
    # At once to the worker's log, which the process inherits.
    host = lock_host(say=lambda text: sys.stderr.writelines([f"format-bench: {text}\n"]))
    try:
        found = function(*arguments)
    except FormatBenchError as error:
        return ClusterError(str(error))
    if host.remark and function is measure:
        return [replace(each, sentence=f"{each.sentence}; {host.remark}".lstrip("; ")) for each in found]
    return found


# Folder of generated data, which the cells of a run share, and its removal, by run.
_DATA: dict[str, tuple[ExitStack, Path]] = {}


def measure_on_worker(request: CellRequest, host: HostDescription) -> tuple[Record, ...]:
    """Return the records of one round of a case, measured in a process of its own."""
    request.setup.check_folders()
    if request.run not in _DATA:
        stack = ExitStack()
        atexit.register(stack.close)
        _DATA[request.run] = stack, stack.enter_context(folders.make(host.scratch))
    return tuple(call(measure, request, host, _DATA[request.run][1]))


def release_worker(run: str) -> None:
    """Remove the data that were generated for a run that has ended."""
    if run in _DATA:
        _DATA.pop(run)[0].close()


def describe(setup: WorkerSetup) -> HostDescription:
    """Return the metadata of a run on this machine, and its folders; media are measured.

    Raises
    ------
    FormatBenchError
        If a folder or a medium cannot be used, a medium has another name here, or the user's data are
        missing or others.
    """
    setup.check_folders()
    if setup.user_data is not None:
        shared = setup.user_data
        _check_same(shared, content_fingerprint(shared.source.path), shared.content)
    is_compared = any(scratch.medium for scratch in setup.scratches)
    media = compared(setup.scratches) if is_compared else []
    for scratch, medium in zip(setup.scratches, media, strict=False):
        if medium.name != scratch.medium:
            raise ClusterError(f"--scratch {scratch.medium}={scratch.folder}: it is {medium.name} there")
    if media:
        folder = for_data(media)
    else:
        folder = folders.check_scratch(setup.scratches[0].folder if setup.scratches else None)
    metadata = run_metadata.collect(folder, seed=DEFAULT_SEED, scale="", threads=setup.threads)
    if media:
        metadata["media"] = {medium.name: medium.metadata for medium in media}
    mark = fingerprint(metadata)
    metadata["machine"] = mark
    return HostDescription(machine.host(), mark, sources_digest(), metadata, folder, tuple(media))


def measure(request: CellRequest, host: HostDescription, data: Path) -> list[Record]:
    """Return the records of one round of a case, in the order in which they were made.

    Parameters
    ----------
    request : CellRequest
        The order.
    host : HostDescription
        This machine's, as `describe` returned it; its facts are not collected again.
    data : Path
        The folder of data, which the cells of a worker share.
    """
    with tempfile.TemporaryDirectory(dir=data) as folder:
        out = Path(folder)
        (out / RESULTS).write_bytes(b"".join(map(records.line, request.earlier)))
        facts = json.dumps(host.metadata)
        (out / f"{request.run_id}-threads-{request.case.threads}.json").write_text(facts, "utf-8")
        case = request.case
        runner = Runner(
            out,
            host.scratch,
            request.limits,
            steps=request.steps,
            prepared={case.dataset: lambda _: _stored(request, data)},
            media=host.media,
            rounds=(request.number,),
            store=ResultStore(out, request.run_id),
        )
        return list(runner.run([case]))


def _stored(request: CellRequest, folder: Path) -> Outcome:
    """Return the stored data of a case, made if no earlier cell of the worker left them."""
    case, shared = request.case, request.setup.user_data
    # As in a run without a cluster, own data are the same for all library sets.
    maker = "" if shared else conditions.data_interpreter_of(case)
    facts = case.family.name, case.dataset, case.rows, case.questions, maker
    name = hashlib.sha256(repr(facts).encode()).hexdigest()
    shape = folder / f"{name}.json"
    if shape.exists():
        return Outcome((folder / name, json.loads(shape.read_bytes())))
    # A process that was killed may have left a part of them.
    with tempfile.TemporaryDirectory(dir=folder) as place:
        if shared is None:
            limit = min(request.limits.limit_seconds, request.limits.time_budget_seconds)
            made = CaseData(Path(place), {}).of(case, limit)
        else:
            made = _read(shared, case, Path(place))
        if made.status:
            return made
        path, columns = made.value
        path.rename(folder / name)
    with write_atomically(shape) as temporary:
        temporary.write_text(json.dumps(columns), encoding="utf-8")
    return Outcome((folder / name, columns))


def _read(shared: SharedData, case: Case, folder: Path) -> Outcome:
    """Read the user's data, or a sample of them, into a folder."""
    own = prepare(shared.source, folder, questions=case.questions, suite=case.suite)
    _check_same(shared, own.fingerprint, shared.fingerprint)
    return OwnData(own, folder).of(case.rows)


def _check_same(shared: SharedData, found: str, expected: str) -> None:
    if found != expected:
        raise ClusterError(f"{shared.source.path}: its content there differs from the one here")

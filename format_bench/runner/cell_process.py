"""Process that measures one round of a case, or describes its machine, for a worker of a cluster.

Workers call `call` and `measure_on_worker`. The process locks the host until it ends, and the kernel
kills it with the worker. So no two cells are measured side by side on a host, whatever becomes of
workers and clients. A worker's own process does not measure: Dask's threads run there, and it may not
start processes as the runner does.
"""

from __future__ import annotations

import atexit
import hashlib
import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import ClusterError, FormatBenchError
from adapter_core.files import write_atomically
from data_generator import DEFAULT_SEED
from data_generator.confinement.kernel import die_with
from data_generator.user.load import fingerprint as content_fingerprint
from format_bench.instruments.isolation import Outcome
from format_bench.metadata import machine, run_metadata
from format_bench.metadata.fingerprint import fingerprint, sources_digest
from format_bench.results import records
from format_bench.results.load import RESULTS
from format_bench.runner import folders
from format_bench.runner.media import ComparedMedium, Scratch, compared, for_data
from format_bench.runner.result_store import ResultStore
from format_bench.runner.runner import CaseData, Limits, Runner
from format_bench.runner.user_data import OwnData, Source, prepare
from format_bench.system.locks import lock_host

if TYPE_CHECKING:
    from format_bench.families.cases import Case
    from format_bench.instruments.threads import Threads
    from format_bench.results.records import Record

# The path of the worker: the process must import the same packages in any working directory.
_CHILD = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from format_bench.runner import cell_process; cell_process.answer(sys.argv[2], int(sys.argv[3]))"
)


@dataclass(frozen=True)
class SharedData:
    """The user's data, which each worker reads at the same path."""

    source: Source
    fingerprint: str
    """Of their content, as `data_generator.user.load.fingerprint` returns it."""


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
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "answer")
        with os.fdopen(os.dup(2), "wb") as log:
            command = [sys.executable, "-c", _CHILD, json.dumps(sys.path), str(path), str(log.fileno())]
            done = subprocess.run(  # noqa: S603 (the command is this file's own)
                command,
                input=pickle.dumps((function, arguments)),
                capture_output=True,
                check=False,
                pass_fds=(log.fileno(),),
            )
        if not path.exists():
            lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
            raise ClusterError(f"the measuring process ended with {done.returncode}: {lines[-1]}")
        found = pickle.loads(path.read_bytes())  # noqa: S301 (written by `answer`)
    if isinstance(found, ClusterError):
        raise found
    return found


def answer(path: str, log: int) -> None:
    """Make the call that is on the standard input, and write its result to a file.

    Parameters
    ----------
    path : str
        The file.
    log : int
        Descriptor of the worker's standard error output, for what must be seen at once.
    """
    die_with(os.getppid())
    function, arguments = pickle.load(sys.stdin.buffer)  # noqa: S301 (written by `call`)
    host = lock_host(say=lambda text: _write_line(log, text))
    try:
        found = function(*arguments)
        if host.remark and function is measure:
            found = [_with_remark(each, host.remark) for each in found]
    except FormatBenchError as error:
        found = ClusterError(str(error))
    except Exception as error:
        # Errors of libraries may not survive pickling.
        found = ClusterError(f"{type(error).__name__}: {error}")
    with write_atomically(Path(path)) as temporary:
        temporary.write_bytes(pickle.dumps(found))


class _WorkerData:
    """Data that were generated for a worker's cells, which share them until a run ends."""

    def __init__(self) -> None:
        self.measuring = 0
        self._folders: dict[Path, Path] = {}
        self._stack = ExitStack()
        atexit.register(self._stack.close)

    def folder(self, scratch: Path) -> Path:
        """Return the folder of data in a scratch folder, made if missing."""
        if scratch not in self._folders:
            self._folders[scratch] = self._stack.enter_context(folders.make(scratch))
        return self._folders[scratch]

    def remove(self) -> None:
        """Remove all data, unless another run measures on this worker."""
        if not self.measuring:
            self._folders.clear()
            self._stack.close()


_DATA = _WorkerData()


def measure_on_worker(request: CellRequest, host: HostDescription) -> tuple[Record, ...]:
    """Return the records of one round of a case, measured in a process of its own."""
    # First, since the end of another run, in another thread, removes the data of a worker at rest.
    _DATA.measuring += 1
    try:
        request.setup.check_folders()
        return tuple(call(measure, request, host, _DATA.folder(host.scratch)))
    finally:
        _DATA.measuring -= 1


def release_worker() -> None:
    """Remove the data that were generated for a run that has ended."""
    _DATA.remove()


def _write_line(descriptor: int, text: str) -> None:
    os.write(descriptor, f"format-bench: {text}\n".encode())


def _with_remark(record: Record, remark: str) -> Record:
    return replace(record, sentence=f"{record.sentence}; {remark}".lstrip("; "))


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
        _check_same(setup.user_data, content_fingerprint(setup.user_data.source.path))
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
    name = f"{case.family.name}-{case.dataset}-{case.rows}"
    if shared is not None or case.questions is not None:
        # Runs of other users' data, or with other questions, may share the folder.
        name = hashlib.sha256(repr((name, shared, case.questions)).encode()).hexdigest()
    shape = folder / f"{name}.json"
    if shape.exists():
        return Outcome((folder / name, json.loads(shape.read_bytes())))
    # A process that was killed may have left a part of them.
    with tempfile.TemporaryDirectory(dir=folder) as place:
        if shared is None:
            made = CaseData(Path(place), {}, request.limits.limit_seconds).of(case)
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
    own = prepare(shared.source, folder, questions=case.questions)
    _check_same(shared, own.fingerprint)
    return OwnData(own, folder).of(case.rows)


def _check_same(shared: SharedData, found: str) -> None:
    if found != shared.fingerprint:
        raise ClusterError(f"{shared.source.path}: its content there differs from the one here")

"""Process that measures one round of a case, or describes its machine, for a worker of a cluster.

It locks the host until it ends, and the kernel kills it with the worker. So no two cells are measured
side by side on a host, whatever becomes of workers and clients. A worker's own process does not
measure: Dask's threads run there, and it may not start processes as the runner does.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import ClusterError
from adapter_core.files import write_atomically
from data_generator import DEFAULT_SEED
from format_bench.instruments.isolation import Outcome, die_with
from format_bench.metadata import run_metadata
from format_bench.results import records
from format_bench.results.load import RESULTS
from format_bench.runner.runner import CaseData, Limits, Runner
from format_bench.system.locks import lock_host

if TYPE_CHECKING:
    from format_bench.families.cases import Case
    from format_bench.instruments.threads import Threads
    from format_bench.results.records import Record

# The path of the worker: the process must import the same packages in any working directory.
_CHILD = (
    "import sys, json; sys.path[:] = json.loads(sys.argv[1]); "
    "from format_bench.runner import cell_process; cell_process.answer(sys.argv[2])"
)


@dataclass(frozen=True)
class CellRequest:
    """One round of a case, as a client orders it."""

    run: str
    """Id of the folder of results."""
    case: Case
    number: int
    """The round, from 1."""
    limits: Limits
    steps: frozenset[str]
    earlier: tuple[Record, ...]
    """Records of the case's earlier rounds on machines of this kind."""
    run_id: str
    scratch: Path | None


def call(function: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function in a process of its own that has the lock of the host.

    Raises
    ------
    ClusterError
        If the process ended without an answer, or the function raised an error.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "answer")
        command = [sys.executable, "-c", _CHILD, json.dumps(sys.path), str(path)]
        done = subprocess.run(  # noqa: S603 (the command is this file's own)
            command, input=pickle.dumps((function, arguments)), capture_output=True, check=False
        )
        if not path.exists():
            lines = done.stderr.decode(errors="replace").strip().splitlines() or ["no message"]
            raise ClusterError(f"the measuring process ended with {done.returncode}: {lines[-1]}")
        found = pickle.loads(path.read_bytes())  # noqa: S301 (written by `answer`)
    if isinstance(found, ClusterError):
        raise found
    return found


def answer(path: str) -> None:
    """Make the call that is on the standard input, and write its result to a file."""
    die_with(os.getppid())
    function, arguments = pickle.load(sys.stdin.buffer)  # noqa: S301 (written by `call`)
    lock_host()
    try:
        found = function(*arguments)
    except Exception as error:
        # Errors of libraries may not survive pickling.
        found = ClusterError(f"{type(error).__name__}: {error}")
    with write_atomically(Path(path)) as temporary:
        temporary.write_bytes(pickle.dumps(found))


def describe(scratch: Path, threads: Threads, scale: str) -> dict[str, Any]:
    """Return the metadata of a run on this machine."""
    return run_metadata.collect(scratch, seed=DEFAULT_SEED, scale=scale, threads=threads)


def measure(
    request: CellRequest, scratch: Path, data: Path, metadata: Mapping[str, Any]
) -> list[Record]:
    """Return the records of one round of a case, in the order in which they were made.

    Parameters
    ----------
    request : CellRequest
        The order.
    scratch : Path
        The folder for measured files.
    data : Path
        The folder of generated data, which the cells of a worker share.
    metadata : mapping
        The machine's, which are not collected again.
    """
    with tempfile.TemporaryDirectory(dir=data) as folder:
        out = Path(folder)
        (out / RESULTS).write_bytes(b"".join(map(records.line, request.earlier)))
        facts = json.dumps(metadata)
        (out / f"{request.run_id}-threads-{request.case.threads}.json").write_text(facts, "utf-8")
        case = request.case
        runner = Runner(
            out,
            scratch,
            request.limits,
            steps=request.steps,
            prepared={case.dataset: _stored(case, data, request.limits)},
            rounds=(request.number,),
        )
        runner.run_id = request.run_id
        return list(runner.run([case]))


def _stored(case: Case, folder: Path, limits: Limits) -> Outcome:
    """Return the stored data of a case, generated if no earlier cell of the worker left them."""
    name = f"{case.family.name}-{case.dataset}-{case.rows}"
    shape = folder / f"{name}.json"
    if shape.exists():
        return Outcome((folder / name, json.loads(shape.read_bytes())))
    # A process that was killed may have left a part of them.
    with tempfile.TemporaryDirectory(dir=folder) as place:
        made = CaseData(Path(place), {}, limits.limit_seconds).of(case)
        if made.status:
            return made
        path, columns = made.value
        path.rename(folder / name)
    with write_atomically(shape) as temporary:
        temporary.write_text(json.dumps(columns), encoding="utf-8")
    return Outcome((folder / name, columns))

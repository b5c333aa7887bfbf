"""Under what circumstances numbers were obtained. What cannot be read is null, never a guess.

The circumstances of a run, in a file beside its results for each thread policy.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from adapter_core.errors import GitError
from adapter_core.files import write_atomically
from data_generator import DEFAULT_SEED
from format_bench.metadata import libraries, machine
from format_bench.system.git import run_git

if TYPE_CHECKING:
    from format_bench.instruments.threads import Threads


def collect(scratch: Path, *, seed: int, scale: str, threads: Threads) -> dict[str, Any]:
    """Return the circumstances of a run that begins now, as JSON can hold them.

    The libraries are asked in a fresh process under the thread policy, which is what measuring
    processes are: so this process loads none of them, and one that crashes costs its answers only.

    Parameters
    ----------
    scratch : Path
        The folder that the measured files are in.
    seed, scale
        What the data are made from.
    threads : {"1", "all"}
        The thread policy of the run.
    """
    asked = libraries.asked_in_a_child(threads)
    told = asked.get("c_libraries", {})
    return {
        "started": _now(),
        "ended": None,
        "seed": seed,
        "scale": scale,
        "threads": {"policy": threads, "in_force": asked.get("in_force")},
        "commit": _commit(),
        "python": {
            "implementation": platform.python_implementation(),
            "version": sys.version,
            "compiler": platform.python_compiler(),
        },
        "libraries": libraries.distributions(),
        "c_libraries": {name: told.get(name) for name in libraries.C_LIBRARIES},
        "system": machine.system(),
        "cpu": machine.cpu(),
        "memory": machine.memory(),
        "scratch": machine.scratch(scratch),
        "load_average": {"start": machine.load_average(), "end": None},
    }


def finish(circumstances: dict[str, Any]) -> dict[str, Any]:
    """Return the circumstances of a run that ends now."""
    load = {**circumstances["load_average"], "end": machine.load_average()}
    return {**circumstances, "ended": _now(), "load_average": load}


def write(circumstances: dict[str, Any], path: Path) -> None:
    """Write circumstances as JSON; the file is whole at any time, or not there."""
    with write_atomically(path) as temporary:
        temporary.write_text(json.dumps(circumstances, indent=2) + "\n", encoding="utf-8")


def _commit() -> dict[str, Any]:
    """Return the commit under test; an installed copy inside some checkout belongs to no commit."""
    if said := os.environ.get("ASV_COMMIT"):
        return {"hash": said, "clean": None}
    here = Path(__file__).resolve()
    if _git(here.parent, "ls-files", "--error-unmatch", "__init__.py") is None:
        return {"hash": None, "clean": None}
    changes = _git(here.parents[1], "status", "--porcelain")
    return {
        "hash": _git(here.parent, "rev-parse", "HEAD"),
        "clean": None if changes is None else not changes,
    }


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        return run_git(arguments, folder).decode(errors="replace").strip()
    except (OSError, GitError):
        return None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class CircumstancesFiles:
    """Writes what a run begins under, and completes it when the run ends, if by an error or not.

    Parameters
    ----------
    out : Path
        The folder of the results.
    run_id : str
        Begins the names of the files.
    scratch : Path
        The folder of the measured files.
    scale : str
        How large the data are, in words.
    """

    def __init__(self, out: Path, run_id: str, scratch: Path, scale: str) -> None:
        self._out, self._run_id, self._scratch, self._scale = out, run_id, scratch, scale
        self._found: dict[Threads, dict[str, Any]] = {}

    def begin(self, policy: Threads) -> None:
        """Collect and write the circumstances under a policy, unless that is done."""
        if policy not in self._found:
            self._found[policy] = collect(
                self._scratch, seed=DEFAULT_SEED, scale=self._scale, threads=policy
            )
            write(self._found[policy], self._path(policy))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for policy, found in self._found.items():
            write(finish(found), self._path(policy))

    def _path(self, policy: Threads) -> Path:
        return self._out / f"{self._run_id}-threads-{policy}.json"

"""Under what circumstances numbers were obtained. What cannot be read is null, never a guess."""

from __future__ import annotations

import json
import os
import platform
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from format_bench import library_facts, machine_facts
from format_bench.git_command import GitFailed, run_git

if TYPE_CHECKING:
    from format_bench.threads import Threads


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
    asked = library_facts.asked_in_a_child(threads)
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
        "libraries": library_facts.distributions(),
        "c_libraries": {name: told.get(name) for name in library_facts.C_LIBRARIES},
        "system": machine_facts.system(),
        "cpu": machine_facts.cpu(),
        "memory": machine_facts.memory(),
        "scratch": machine_facts.scratch(scratch),
        "load_average": {"start": machine_facts.load_average(), "end": None},
    }


def finish(circumstances: dict[str, Any]) -> dict[str, Any]:
    """Return the circumstances of a run that ends now."""
    load = {**circumstances["load_average"], "end": machine_facts.load_average()}
    return {**circumstances, "ended": _now(), "load_average": load}


def write(circumstances: dict[str, Any], path: Path) -> None:
    """Write circumstances as JSON; the file is whole at any time, or not there."""
    unfinished = path.with_name(f"{path.name}.{os.getpid()}.tmp")
    unfinished.write_text(json.dumps(circumstances, indent=2) + "\n", encoding="utf-8")
    unfinished.replace(path)


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
    except (OSError, GitFailed):
        return None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")

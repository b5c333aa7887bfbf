"""Metadata of a run, as a JSON file beside its results; a fact that cannot be read is null."""

from __future__ import annotations

import json
import os
import platform
import shlex
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from adapter_core.errors import GitError
from adapter_core.files import write_atomically
from data_generator import DEFAULT_SEED
from format_bench.instruments.threads import Threads
from format_bench.metadata import libraries, machine
from format_bench.system.git import Repository


def collect(  # noqa: PLR0913 (facts of a run, by name)
    scratch: Path,
    *,
    seed: int,
    scale: str,
    threads: Threads,
    earlier: Mapping[str, Any] | None = None,
    limit_seconds: float = libraries.CHILD_SECONDS,
) -> dict[str, Any]:
    """Return the metadata of a run that starts now, as values that JSON supports.

    Parameters
    ----------
    scratch : Path
        The folder of the measured files.
    seed : int
        Seed of the data.
    scale : str
        Size of the data, in words.
    threads : {"1", "all"}
        The thread policy of the run.
    earlier : mapping, optional
        Metadata of an earlier run of the same code. The libraries are not asked again, which takes
        seconds, if it had the same ones on the same Python, CPUs and policy.
    limit_seconds : float
        Wall time that asking the libraries may take; their facts are null after that.
    """
    fixed = {
        "python": {
            "implementation": platform.python_implementation(),
            "version": sys.version,
            "compiler": platform.python_compiler(),
        },
        "libraries": libraries.distributions(),
        "cpu": machine.cpu(),
    }
    return {
        "started": _now(),
        "ended": None,
        "command": _command(),
        "seed": seed,
        "scale": scale,
        **_facts(threads, fixed, earlier or {}, limit_seconds),
        "commit": _commit(),
        **fixed,
        "system": machine.system(),
        "memory": machine.memory(),
        "scratch": machine.scratch(scratch),
        "load_average": {"start": machine.load_average(), "end": None},
    }


def _facts(
    threads: Threads, fixed: dict[str, Any], earlier: Mapping[str, Any], limit_seconds: float
) -> dict[str, Any]:
    """Return thread counts and versions of C libraries; of an earlier run if all else is the same."""
    known = earlier.get("threads") or {}
    same = known.get("in_force") and known["policy"] == threads
    if same and all(earlier.get(name) == value for name, value in fixed.items()):
        return {name: earlier[name] for name in ("threads", "c_libraries")}
    # In a process of its own: this one imports no library under test, and a crash costs only facts.
    facts = libraries.facts_from_child(threads, limit_seconds)
    versions = facts.get("c_libraries", {})
    return {
        "threads": {"policy": threads, "in_force": facts.get("in_force")},
        "c_libraries": {name: versions.get(name) for name in libraries.C_LIBRARIES},
    }


def finish(metadata: dict[str, Any], *, is_here: bool = True) -> dict[str, Any]:
    """Return the metadata of a run that ends now.

    Parameters
    ----------
    metadata : dict
        As `collect` returns them.
    is_here : bool
        The run was on this machine, whose load counts.
    """
    load = {**metadata["load_average"], "end": machine.load_average() if is_here else None}
    return {**metadata, "ended": _now(), "load_average": load}


def write(metadata: dict[str, Any], path: Path) -> None:
    """Write metadata as JSON, atomically."""
    # Results reach the disk one by one, and are of little use without their metadata.
    with write_atomically(path, durable=True) as temporary:
        temporary.write_text(json.dumps(metadata, indent=2) + "\n", encoding="utf-8")


def _command() -> str | None:
    """Return the command line of `format-bench`; None in processes of other programs."""
    program, *arguments = sys.argv
    place = Path(program)
    is_own = place.name in {"format-bench", "main.py"} or place.parts[-2:] == (
        "format_bench",
        "__main__.py",
    )
    return shlex.join(["format-bench", *arguments]) if is_own else None


def _commit() -> dict[str, Any]:
    """Return the commit under test, and whether the checkout is clean; nulls outside of a checkout."""
    # asv installs a wheel, which has no checkout, and sets this variable.
    if commit := os.environ.get("ASV_COMMIT"):
        return {"hash": commit, "clean": None}
    here = Path(__file__).resolve()
    # A copy installed below some other checkout, e.g. in its .venv, is not a file of that checkout.
    if _git(here.parent, "ls-files", "--error-unmatch", "__init__.py") is None:
        return {"hash": None, "clean": None}
    changes = _git(here.parents[1], "status", "--porcelain")
    return {
        "hash": _git(here.parent, "rev-parse", "HEAD"),
        "clean": None if changes is None else not changes,
    }


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        return Repository(folder).git(*arguments)
    except (OSError, GitError):
        return None


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


class RunMetadataFiles:
    """Metadata files of a run, one for each thread policy; completed when the run ends or fails.

    Parameters
    ----------
    out : Path
        The folder of the results.
    run_id : str
        First part of the files' names.
    scratch : Path
        The folder of the measured files.
    scale : str
        Size of the data, in words.
    facts : mapping, optional
        Further facts. ``media``: facts and measured figures of the media that the run compares, by
        name. ``data``: facts of the data sets, by name: the number of all ``rows``, and of a user's
        file its name, its ``bytes`` and the ``baseline``, the configuration that is nearest to it.
    """

    def __init__(
        self,
        out: Path,
        run_id: str,
        scratch: Path,
        scale: str,
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        self._out, self._run_id, self._scratch, self._scale = out, run_id, scratch, scale
        self._facts = {} if facts is None else facts
        # Before the run adds to it: only other programs disturb it.
        self._load = machine.load_average()
        self._metadata: dict[Threads, dict[str, Any]] = {}

    def start(self, policy: Threads, limit_seconds: float = libraries.CHILD_SECONDS) -> None:
        """Collect and write the metadata under a policy, if that was not done yet.

        Asking the libraries may take `limit_seconds` of wall time; their facts are null after that.
        """
        if policy in self._metadata:
            return
        path = self._path(policy)
        if path.exists():
            # An earlier part of the run, on a sample of the rows, has collected them.
            found = json.loads(path.read_text(encoding="utf-8"))
            self._metadata[policy] = {**found, "scale": f"{found['scale']}; {self._scale}"}
        else:
            found = collect(
                self._scratch,
                seed=DEFAULT_SEED,
                scale=self._scale,
                threads=policy,
                limit_seconds=limit_seconds,
            )
            found["load_average"]["start"] = self._load
            self._metadata[policy] = {
                **found,
                **{name: each for name, each in self._facts.items() if each},
            }
        write(self._metadata[policy], path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for policy, metadata in self._metadata.items():
            write(finish(metadata), self._path(policy))

    def _path(self, policy: Threads) -> Path:
        return self._out / f"{self._run_id}-threads-{policy}.json"

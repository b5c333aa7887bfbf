"""Folders of a run: the scratch folder of measured files, and the folder of results."""

from __future__ import annotations

import json
import os
import secrets
import shlex
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from adapter_core.errors import InvalidFolderError, LockedError
from adapter_core.files import write_atomically
from format_bench.results.load import RESULTS
from format_bench.system.locks import lock
from format_bench.system.scratch import remove_abandoned, scratch_folder


@contextmanager
def make(parent: Path) -> Iterator[Path]:
    """Give a new folder in `parent`, removed at the end; remove the folders of runs that were killed."""
    remove_abandoned(parent)
    with scratch_folder(parent) as folder:
        yield folder


@contextmanager
def only_run(out: Path) -> Iterator[None]:
    """Keep other runs from writing to the results in a folder.

    Raises
    ------
    LockedError
        If one is writing.
    """
    try:
        descriptor = lock(out)
    except BlockingIOError as error:
        reason = f"another run is writing to {out}; wait for it, or choose another folder"
        raise LockedError(reason) from error
    try:
        yield
    finally:
        os.close(descriptor)


# Fingerprints of the user's own data sets, by name.
DATA = "data.json"

# The id of a folder of results of a cluster, by which workers know whose cells they keep.
CLUSTER_ID = "cluster.json"

# What became of each assignment on a cluster, one line of JSON each.
CLUSTER_LOG = "cluster-log.jsonl"

# Below which a scratch folder has no room for any run.
# Chosen, not measured.
LEAST_FREE_BYTES = 200_000_000


def check_scratch(scratch: Path | None) -> Path:
    """Return the folder for measured files, the system's temporary one by default.

    Raises
    ------
    InvalidFolderError
        If it does not exist, cannot be written to, or has no room.
    """
    folder = scratch or Path(tempfile.gettempdir())
    if not folder.is_dir():
        raise InvalidFolderError(
            f"--scratch {folder}: there is no such folder; create it, or name another"
        )
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InvalidFolderError(f"--scratch {folder}: it cannot be written to; name another")
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE_BYTES:
        least = f"at least {LEAST_FREE_BYTES / 1e6:.0f} MB are needed"
        raise InvalidFolderError(f"--scratch {folder}: its disk has {free / 1e6:.0f} MB free; {least}")
    return folder


def open_results(
    out: Path, *, fresh: bool, fingerprints: Mapping[str, str] | None = None, option: str = "--out"
) -> None:
    """Make the folder of results, or empty it of earlier ones, and record their data's fingerprints.

    Parameters
    ----------
    out : Path
        The folder.
    fresh : bool
        Discard the results in it.
    fingerprints : mapping of str to str, optional
        Fingerprints of data, questions and plans, by name.
    option : str
        The option that named the folder, for messages.

    Raises
    ------
    InvalidFolderError
        If something else is there, it cannot be written to, or its results are of other data.
    LockedError
        If another run is writing to it.
    """
    if out.exists() and not out.is_dir():
        raise InvalidFolderError(f"{option} {out}: not a folder; name another")
    out.mkdir(parents=True, exist_ok=True)
    if not os.access(out, os.W_OK | os.X_OK):
        raise InvalidFolderError(f"{option} {out}: it cannot be written to; name another")
    if fresh:
        with only_run(out):
            names = (RESULTS, DATA, CLUSTER_ID, CLUSTER_LOG)
            for path in (*(out / name for name in names), *out.glob("*-threads-*.json")):
                path.unlink(missing_ok=True)
    if fingerprints:
        check_same_data(out, fingerprints, option)


def check_no_cluster(out: Path) -> None:
    """Check that a folder has no results of a cluster, whose machines may be others.

    Raises
    ------
    InvalidFolderError
        If it has.
    """
    if (out / CLUSTER_ID).exists():
        reason = "it has results of a cluster; start over with --fresh, or name another --out"
        raise InvalidFolderError(f"{out}: {reason}")


def cluster_id(out: Path) -> str:
    """Return the id of a folder of results of a cluster, which is made if missing.

    Raises
    ------
    InvalidFolderError
        If the folder contains results that are not of a cluster.
    """
    path = out / CLUSTER_ID
    if not path.exists() and (out / RESULTS).exists():
        reason = "its results are not of a cluster; start over with --fresh, or name another --out"
        raise InvalidFolderError(f"{out}: {reason}")
    mark_cluster(out)
    return _read(path, "run")["run"]


def mark_cluster(out: Path) -> None:
    """Give a folder of results an id, if it has none: its records name their machines."""
    if not (out / CLUSTER_ID).exists():
        with write_atomically(out / CLUSTER_ID, durable=True) as temporary:
            temporary.write_text(json.dumps({"run": secrets.token_hex(8)}) + "\n", encoding="utf-8")


def _read(path: Path, *keys: str) -> dict[str, str]:
    """Return the texts in a JSON file of a folder of results, which has some keys."""
    try:
        facts = json.loads(path.read_bytes())
    except (ValueError, RecursionError):
        facts = None
    is_whole = isinstance(facts, dict) and facts.keys() >= {*keys}
    if not is_whole or not all(isinstance(each, str) for each in facts.values()):
        advice = f"`format-bench repair {shlex.quote(str(path.parent))}` sets it aside"
        raise InvalidFolderError(f"{path} is damaged; {advice}")
    return facts


def check_same_data(out: Path, fingerprints: Mapping[str, str], option: str = "--out") -> None:
    """Record fingerprints of data, questions and plans; one name must not mean two in a folder.

    Raises
    ------
    InvalidFolderError
        If the results are of other data, or answers to other questions.
    """
    advice = f"start over with --fresh, or name another {option}"
    write_fingerprints(out, same_data(fingerprints_in(out), fingerprints, out, advice))


def fingerprints_in(out: Path) -> dict[str, str]:
    """Return the fingerprints of the data, questions and plans of a folder of results, by name."""
    return _read(out / DATA) if (out / DATA).exists() else {}


def same_data(
    known: Mapping[str, str], found: Mapping[str, str], out: Path, advice: str
) -> dict[str, str]:
    """Return the fingerprints of both.

    Raises
    ------
    InvalidFolderError
        If one name means two.
    """
    for name, fingerprint in found.items():
        if known.get(name, fingerprint) != fingerprint:
            raise InvalidFolderError(f"{out} contains results of another {name}; {advice}")
    return {**known, **found}


def write_fingerprints(out: Path, fingerprints: Mapping[str, str]) -> None:
    """Write the fingerprints of the data, questions and plans of a folder of results."""
    # Results whose data are unknown could never be resumed: they outlive a power failure together.
    with write_atomically(out / DATA, durable=True) as temporary:
        temporary.write_text(json.dumps(dict(fingerprints)) + "\n", encoding="utf-8")

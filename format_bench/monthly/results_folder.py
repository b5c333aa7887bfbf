"""The folder of asv's results: files that a kill or a full disk has cut off are found and removed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from format_bench.monthly.say import say

ASV = Path(".asv")


def folder(scale: str) -> Path:
    """Return the folder of the results of a scale."""
    return ASV / scale / "results"


def mend(scale: str) -> None:
    """Remove files of results, and lines of notes, that were cut off as they were written."""
    for path in folder(scale).rglob("*.json"):
        if not _readable(path.read_text(encoding="utf-8", errors="replace")):
            say(f"{path} was cut off; what was committed of it takes its place")
            path.unlink()
    for path in folder(scale).rglob("*.jsonl"):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
        whole = [line for line in lines if line.endswith("\n") and _readable(line)]
        if whole != lines:
            say(f"{path}: {len(lines) - len(whole)} lines were cut off")
            path.write_text("".join(whole), encoding="utf-8")


def _readable(text: str) -> bool:
    try:
        json.loads(text)
    except ValueError:
        return False
    return True


def paths_of(scale: str, commit: str) -> list[Path]:
    """Return asv's results of a commit on this machine, one file for each environment."""
    from asv.machine import Machine

    machine = Machine.load(interactive=False).machine
    return sorted((folder(scale) / machine).glob(f"{commit[:8]}-*.json"))


def results_of(scale: str, commit: str) -> list[Any]:
    """Return the same as asv reads it."""
    from asv.results import Results

    return [Results.load(str(path)) for path in paths_of(scale, commit)]


def values(scale: str, commit: str, suite: str) -> int:
    """Return how many cells of a suite have a value, or are skipped with a reason."""
    return sum(
        value is not None
        for result in results_of(scale, commit)
        for name in result.get_all_result_keys()
        if name.startswith(f"{suite}.")
        for value in result.get_result_value(name, result.get_result_params(name))
    )


def written_since(scale: str, commit: str, suite: str, seconds: float) -> bool:
    """Return whether results of a suite were written that began after a time, in seconds since 1970."""
    return any(
        name.startswith(f"{suite}.") and started_at >= seconds * 1000
        for result in results_of(scale, commit)
        for name, started_at in result.started_at.items()
        if started_at
    )

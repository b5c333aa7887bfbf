"""Results of asv: their folder, and the branch that keeps them so that they survive the machine.

The branch is written without a work tree: a separate index is filled from the folder. Files that a kill
or a full disk has cut off are removed from the folder, and restored from the branch.
"""

from __future__ import annotations

import itertools
import json
import logging
import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from format_bench.asv_support.journal import Journal, Reason
from format_bench.automation.monthly.state import ASV, REPOSITORY, now
from format_bench.results.status import CellStatus
from format_bench.system.git import NO_COMMIT

LOG = logging.getLogger(__name__)

BRANCH = "results"
OURS, UPSTREAM = f"refs/heads/{BRANCH}", f"refs/remotes/origin/{BRANCH}"
STAGE_OURS, STAGE_THEIRS = "2", "3"

HOURS_SPENT = "not measured: the suite's hours"
"""Begin of the reason, by ``benchmarks/_suites.py``, of a step that did not begin for want of hours."""


def folder(scale: str) -> Path:
    """Return the folder of the results of a scale."""
    return ASV / scale / "results"


def remove_torn(scale: str) -> None:
    """Remove files of results, and lines of notes, that a kill has cut off."""
    for path in folder(scale).rglob("*.json"):
        if not _is_json(path.read_text(encoding="utf-8", errors="replace")):
            LOG.info("%s was cut off; its last committed version replaces it", path)
            path.unlink()
    for path in folder(scale).rglob("*.jsonl"):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines(keepends=True)
        complete = [line for line in lines if line.endswith("\n") and _is_json(line)]
        if complete != lines:
            LOG.info("%s: %s lines were cut off", path, len(lines) - len(complete))
            # Torn again by a kill, it is repaired again; a temporary file would be committed with it.
            path.write_text("".join(complete), encoding="utf-8")


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    # A file of many brackets is none of asv's either.
    except (ValueError, RecursionError):
        return False
    return True


def paths_of(scale: str, commit: str) -> list[Path]:
    """Return asv's results of a commit on this machine, one file for each environment."""
    from asv.machine import Machine

    machine = Machine.load(interactive=False).machine
    return sorted((folder(scale) / machine).glob(f"{commit[:8]}-*.json"))


def _results_of(scale: str, commit: str) -> list[Any]:
    """Return asv's results of a commit on this machine, as `asv.results.Results`."""
    from asv.results import Results

    return [Results.load(str(path)) for path in paths_of(scale, commit)]


def count_values(scale: str, commit: str, suite: str, *, skipped: bool = True) -> int:
    """Return the number of cells of a suite that have a value, or are skipped with a reason.

    Without `skipped`, only values count: of formats that no run has selected asv has NaN, too.
    """
    return sum(
        value is not None and (skipped or not math.isnan(value))
        for result in _results_of(scale, commit)
        for name in result.get_all_result_keys()
        if name.startswith(f"{suite}.")
        for value in result.get_result_value(name, result.get_result_params(name))
    )


def were_written_since(scale: str, commit: str, suite: str, seconds: float) -> bool:
    """Return whether the results of a suite started after a time, in seconds since 1970."""
    return any(
        # asv counts milliseconds.
        name.startswith(f"{suite}.") and started_at >= seconds * 1000
        for result in _results_of(scale, commit)
        for name, started_at in result.started_at.items()
        if started_at
    )


def note_left_out(scale: str, commit: str, suite: str, labels: Sequence[str], sentence: str) -> None:
    """Note why formats of a suite have no cells."""
    for result in _results_of(scale, commit):
        journal = Journal(folder(scale) / "reasons", result.env_name, commit)
        for label in labels:
            journal.write(suite, [label], CellStatus.UNAVAILABLE, sentence)


def cut_short(scale: str, commit: str, suite: str, seconds: float) -> set[str]:
    """Return the formats of a suite that lack a value for want of hours since a time.

    A later round may have measured what the first one left out.

    Parameters
    ----------
    scale, commit, suite : str
        Scale, commit and module of the results.
    seconds : float
        The time, in seconds since 1970.
    """
    return {
        reason.params[0]
        for result in _results_of(scale, commit)
        for reason in Journal(folder(scale) / "reasons", result.env_name, commit).read()
        if reason.suite.partition(".")[0] == suite
        and reason.time >= seconds
        and reason.sentence.startswith(HOURS_SPENT)
        and _lacks_value(result, reason)
    }


def _lacks_value(result: Any, reason: Reason) -> bool:
    """Return whether a benchmark has no value of the cell of a reason."""
    cell = tuple(map(repr, reason.params))
    for name in result.get_all_result_keys():
        if name.startswith(f"{reason.suite}."):
            params = result.get_result_params(name)
            values = zip(itertools.product(*params), result.get_result_value(name, params), strict=True)
            if any(each == cell and (value is None or math.isnan(value)) for each, value in values):
                return True
    return False


@contextmanager
def _index() -> Iterator[dict[str, str]]:
    """Give the variables that make git use a temporary index, and .asv as its work tree."""
    with TemporaryDirectory() as place:
        yield {
            "GIT_INDEX_FILE": str(Path(place, "index")),
            "GIT_DIR": str(Path(".git").absolute()),
            "GIT_WORK_TREE": str(ASV.absolute()),
        }


def restore(scale: str) -> None:
    """Write committed files that the folder lacks, or that were cut off there."""
    remove_torn(scale)
    if not REPOSITORY.commit_of(OURS) and REPOSITORY.commit_of(UPSTREAM):
        REPOSITORY.git("update-ref", OURS, UPSTREAM)
    if REPOSITORY.commit_of(OURS):
        ASV.mkdir(exist_ok=True)
        _write_missing(OURS)


def _write_missing(commit: str) -> None:
    """Write those files of a commit that the folder lacks."""
    listed = REPOSITORY.git("ls-tree", "-r", "-z", "--name-only", commit).split("\0")
    missing = [name for name in listed if name and not (ASV / name).exists()]
    _write(commit, "--stdin", "-z", text="\0".join(missing))


def _write(commit: str, *options: str, text: str = "") -> None:
    with _index() as environment:
        REPOSITORY.git("read-tree", commit, **environment)
        command = ["-C", str(ASV), "checkout-index", "--force", *options]
        REPOSITORY.git(*command, text=text, **environment)


def commit(scale: str, message: str) -> None:
    """Commit the folder; a file that the folder lacks stays in the branch."""
    if not folder(scale).is_dir():
        return
    parent = REPOSITORY.commit_of(OURS)
    with _index() as environment:
        if parent:
            REPOSITORY.git("read-tree", parent, **environment)
        path = str(folder(scale).relative_to(ASV))
        # .gitignore excludes all of .asv from main, hence --force.
        add = ["-C", str(ASV), "add", "--force", "--ignore-removal", path]
        REPOSITORY.git(*add, **environment)
        tree = REPOSITORY.git("write-tree", **environment)
    if not parent or tree != REPOSITORY.git("rev-parse", f"{parent}^{{tree}}"):
        _advance(tree, message, [parent] if parent else [])


def _advance(tree: str, message: str, parents: list[str]) -> None:
    new = REPOSITORY.commit_tree(tree, parents, f"{message}\n", now())
    REPOSITORY.git("update-ref", OURS, new, *(parents[:1] or [NO_COMMIT]))


def absorb(scale: str) -> None:
    """Merge the remote's results: all files of both sides, and all lines of notes changed by both."""
    commit(scale, "Results")
    ours, theirs = REPOSITORY.commit_of(OURS), REPOSITORY.commit_of(UPSTREAM)
    if not theirs or (ours and REPOSITORY.is_ancestor(theirs, ours)):
        return
    if not ours or REPOSITORY.is_ancestor(ours, theirs):
        REPOSITORY.git("update-ref", OURS, theirs)
    else:
        _advance(_union(ours, theirs), "Merge results of another machine", [ours, theirs])
    _write(OURS, "--all")


def _union(ours: str, theirs: str) -> str:
    """Return the tree of all files of two commits; where a file differs, ours is the newer one."""
    # Two machines that both started the branch have no common ancestor.
    related = REPOSITORY.succeeds("merge-base", ours, theirs)
    empty = REPOSITORY.git("hash-object", "-t", "tree", "-w", "--stdin")
    base = REPOSITORY.git("merge-base", ours, theirs) if related else empty
    with _index() as environment:
        # --aggressive merges additions and removals of one side; changes of both remain unmerged.
        REPOSITORY.git("read-tree", "-i", "-m", "--aggressive", base, ours, theirs, **environment)
        for path, stages in _unmerged(environment).items():
            blob = stages.get(STAGE_OURS) or stages[STAGE_THEIRS]
            if path.endswith(".jsonl") and STAGE_THEIRS in stages:
                blob = _all_lines(blob, stages[STAGE_THEIRS])
            entry = f"100644,{blob},{path}"
            REPOSITORY.git("update-index", "--add", "--cacheinfo", entry, **environment)
        return REPOSITORY.git("write-tree", **environment)


def _unmerged(environment: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return the blobs of each path that both sides have changed, by stage."""
    found: dict[str, dict[str, str]] = {}
    listed = REPOSITORY.git("ls-files", "--unmerged", "-z", **environment)
    for entry in filter(None, listed.split("\0")):
        facts, _, path = entry.partition("\t")
        _, blob, stage = facts.split()
        found.setdefault(path, {})[stage] = blob
    return found


def _all_lines(ours: str, theirs: str) -> str:
    """Return a blob with the lines of two, without repetition."""
    blobs = [REPOSITORY.git("cat-file", "blob", blob) for blob in (theirs, ours)]
    lines = dict.fromkeys(line for blob in blobs for line in blob.splitlines())
    return REPOSITORY.git("hash-object", "-w", "--stdin", text="".join(f"{line}\n" for line in lines))

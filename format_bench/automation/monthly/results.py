"""The folder of asv's results: files that a kill or a full disk has cut off are found and removed.

The branch that keeps asv's results, so that they survive the machine.

It is written without a work tree: an index of its own is filled from the folder of results.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from format_bench.automation.monthly import tools
from format_bench.automation.monthly.tools import commit_of, git, holds, is_ancestor, say

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


BRANCH = "results"
OURS, UPSTREAM = f"refs/heads/{BRANCH}", f"refs/remotes/origin/{BRANCH}"
STAGE_OURS, STAGE_THEIRS = "2", "3"


@contextmanager
def _index() -> Iterator[dict[str, str]]:
    """Yield the variables by which git uses an index of its own, and .asv as its work tree."""
    with TemporaryDirectory() as place:
        yield {
            "GIT_INDEX_FILE": str(Path(place, "index")),
            "GIT_DIR": str(Path(".git").absolute()),
            "GIT_WORK_TREE": str(ASV.absolute()),
        }


def restore(scale: str) -> None:
    """Write what was committed and is missing in the folder, or was cut off there."""
    mend(scale)
    if not commit_of(OURS) and commit_of(UPSTREAM):
        git("update-ref", OURS, UPSTREAM)
    if commit_of(OURS):
        ASV.mkdir(exist_ok=True)
        _write_missing(OURS)


def _write_missing(commit: str) -> None:
    """Write those files of a commit that are not in the folder."""
    listed = git("ls-tree", "-r", "-z", "--name-only", commit).split("\0")
    missing = [name for name in listed if name and not (ASV / name).exists()]
    _write(commit, "--stdin", "-z", text="\0".join(missing))


def _write(commit: str, *which: str, text: str | None = None) -> None:
    with _index() as environment:
        git("read-tree", commit, **environment)
        git("-C", str(ASV), "checkout-index", "--force", *which, text=text, **environment)


def commit(scale: str, message: str) -> None:
    """Commit the folder; a file that is missing there stays in the branch."""
    if not folder(scale).is_dir():
        return
    parent = commit_of(OURS)
    with _index() as environment:
        if parent:
            git("read-tree", parent, **environment)
        path = str(folder(scale).relative_to(ASV))
        git("-C", str(ASV), "add", "--force", "--ignore-removal", path, **environment)
        tree = git("write-tree", **environment)
    if not parent or tree != git("rev-parse", f"{parent}^{{tree}}"):
        _advance(tree, message, [parent] if parent else [])


def _advance(tree: str, message: str, parents: list[str]) -> None:
    named = [word for parent in parents for word in ("-p", parent)]
    new = git("commit-tree", tree, *named, "-m", message, **tools.dates())
    git("update-ref", OURS, new, *(parents[:1] or ["0" * 40]))


def absorb(scale: str) -> None:
    """Merge what others pushed: all files of both sides, all lines of notes that both have added to."""
    commit(scale, "Results")
    ours, theirs = commit_of(OURS), commit_of(UPSTREAM)
    if not theirs or (ours and is_ancestor(theirs, ours)):
        return
    if not ours or is_ancestor(ours, theirs):
        git("update-ref", OURS, theirs)
    else:
        _advance(_union(ours, theirs), "Merge results of another machine", [ours, theirs])
    _write(OURS, "--all")


def _union(ours: str, theirs: str) -> str:
    """Return the tree of all files of two commits; of a file that differs, ours is the newer one."""
    related = holds("merge-base", ours, theirs)
    empty = git("hash-object", "-t", "tree", "-w", "--stdin", text="")
    base = git("merge-base", ours, theirs) if related else empty
    with _index() as environment:
        git("read-tree", "-i", "-m", "--aggressive", base, ours, theirs, **environment)
        for path, stages in _unmerged(environment).items():
            blob = stages.get(STAGE_OURS) or stages[STAGE_THEIRS]
            if path.endswith(".jsonl") and STAGE_THEIRS in stages:
                blob = _all_lines(blob, stages[STAGE_THEIRS])
            git("update-index", "--add", "--cacheinfo", f"100644,{blob},{path}", **environment)
        return git("write-tree", **environment)


def _unmerged(environment: dict[str, str]) -> dict[str, dict[str, str]]:
    """Return the blobs of each path that both sides have changed, by stage."""
    found: dict[str, dict[str, str]] = {}
    listed = git("ls-files", "--unmerged", "-z", **environment)
    for entry in filter(None, listed.split("\0")):
        facts, _, path = entry.partition("\t")
        _, blob, stage = facts.split()
        found.setdefault(path, {})[stage] = blob
    return found


def _all_lines(ours: str, theirs: str) -> str:
    """Return a blob with the lines of two, each once."""
    lines = [line for blob in (theirs, ours) for line in git("cat-file", "blob", blob).splitlines()]
    text = "".join(f"{line}\n" for line in dict.fromkeys(lines))
    return git("hash-object", "-w", "--stdin", text=text)

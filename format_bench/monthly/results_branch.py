"""The branch that keeps asv's results, so that they survive the machine.

It is written without a work tree: an index of its own is filled from the folder of results.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from format_bench.monthly import today
from format_bench.monthly.git import commit_of, git, holds, is_ancestor
from format_bench.monthly.results_folder import ASV, folder, mend

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
    new = git("commit-tree", tree, *named, "-m", message, **today.dates())
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

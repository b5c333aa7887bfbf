"""A git repository whose work tree, index and current branch are left alone."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from format_bench.system.git import GitFailed, run_git


@dataclass(frozen=True)
class Repository:
    """A git repository.

    Parameters
    ----------
    root : Path
        A folder in it.
    """

    root: Path

    def git(self, *arguments: str, text: str = "", **environment: str) -> str:
        """Run git, with text as its standard input, and return what it prints, without the last newline.

        Raises
        ------
        GitFailed
            If git fails, with the reason that it gives.
        """
        told = self.git_bytes(*arguments, text=text, **environment)
        return told.decode().removesuffix("\n")

    def git_bytes(self, *arguments: str, text: str = "", **environment: str) -> bytes:
        """Run git and return what it prints, as it is; see `git`."""
        return run_git(arguments, self.root, text, environment)

    def commit_of(self, name: str) -> str:
        """Return the hash of the commit that a name stands for; empty if there is no such name."""
        try:
            return self.git("rev-parse", "--quiet", "--verify", f"{name}^{{commit}}")
        except GitFailed:
            return ""

    def has_changes(self) -> bool:
        """Return whether files of the work tree or the index differ from the current commit."""
        # git would write what it learned of the files into the user's index.
        quiet = {"GIT_OPTIONAL_LOCKS": "0"}
        return bool(self.git("status", "--porcelain", "--untracked-files=no", **quiet))

    def tree_with(self, commit: str, files: Mapping[str, str]) -> str:
        """Return the hash of the tree of a commit in which files, by path, have other texts."""
        with TemporaryDirectory() as folder:
            index = str(Path(folder, "index"))
            self.git("read-tree", commit, GIT_INDEX_FILE=index)
            for path, text in files.items():
                blob = self.git("hash-object", "-w", "--stdin", text=text)
                entry = f"100644,{blob},{path}"
                self.git("update-index", "--add", "--cacheinfo", entry, GIT_INDEX_FILE=index)
            return self.git("write-tree", GIT_INDEX_FILE=index)

    def commit(self, tree: str, parent: str, message: str, moment: datetime) -> str:
        """Return the hash of a new commit, written at a moment by its author and committer both."""
        date = f"{int(moment.timestamp())} +0000"
        parents = ["-p", parent] if parent else []
        return self.git(
            "commit-tree",
            tree,
            *parents,
            text=message,
            GIT_AUTHOR_DATE=date,
            GIT_COMMITTER_DATE=date,
        )

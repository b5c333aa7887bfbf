"""A git repository whose work tree, index and current branch are left alone."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from adapter_core.errors import FormatBenchError


class GitFailed(FormatBenchError):
    """A git command that failed."""


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
        done = subprocess.run(  # noqa: S603 (the arguments are our own)
            ["git", *arguments],  # noqa: S607 (the user's own git)
            cwd=self.root,
            input=text.encode(),
            env={**os.environ, **environment},
            capture_output=True,
            check=False,
        )
        if done.returncode:
            lines = [line for line in done.stderr.decode(errors="replace").splitlines() if line]
            told = next((line for line in lines if line.startswith("fatal:")), " ".join(lines[:1]))
            raise GitFailed(f"git {arguments[0]} failed: {told or f'status {done.returncode}'}")
        return done.stdout

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

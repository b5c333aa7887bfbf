"""Git repositories, through the user's own git program.

The only module that runs git. A library would be another implementation beside the one whose
configuration, credentials and hooks the user has set up.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from adapter_core.errors import GitError

# Old value of a reference that must not exist yet, for `git update-ref`.
NO_COMMIT = "0" * 40


@dataclass(frozen=True)
class Repository:
    """A git repository.

    Parameters
    ----------
    root : Path
        A folder in it.
    timeout_seconds : float, optional
        Limit of each command; none by default.
    """

    root: Path
    timeout_seconds: float | None = None

    def git(self, *arguments: str, text: str = "", **environment: str) -> str:
        """Run git and return its output as text, without the last newline; see `git_bytes`."""
        return self.git_bytes(*arguments, text=text, **environment).decode().removesuffix("\n")

    def git_bytes(self, *arguments: str, text: str = "", **environment: str) -> bytes:
        """Run git and return its standard output.

        Parameters
        ----------
        *arguments : str
            The subcommand and its arguments.
        text : str
            Standard input; empty by default, so git never waits for a terminal.
        **environment : str
            Variables to set in addition, e.g. ``GIT_INDEX_FILE="..."``.

        Raises
        ------
        GitError
            If git fails, or does not finish in time.
        """
        try:
            done = subprocess.run(  # noqa: S603 (the arguments are our own)
                ["git", *arguments],  # noqa: S607 (the user's own git)
                cwd=self.root,
                input=text.encode(),
                env={**os.environ, **environment},
                capture_output=True,
                timeout=self.timeout_seconds,
                check=False,
            )
        except subprocess.TimeoutExpired as error:
            # 128 is git's own status of fatal errors.
            reason = f"fatal: not finished after {self.timeout_seconds} seconds"
            raise GitError(arguments[0], 128, reason) from error
        if done.returncode:
            raise GitError(arguments[0], done.returncode, done.stderr.decode(errors="replace"))
        return done.stdout

    def succeeds(self, *arguments: str) -> bool:
        """Return whether a git command succeeds, e.g. ``succeeds("diff", "--quiet", "HEAD")``."""
        try:
            self.git(*arguments)
        except GitError:
            return False
        return True

    def commit_of(self, name: str) -> str:
        """Return the commit of a name, as 40 hexadecimal digits; empty if the name does not exist."""
        try:
            return self.git("rev-parse", "--quiet", "--verify", f"{name}^{{commit}}")
        except GitError:
            return ""

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        """Return whether a commit equals the other one, or precedes it."""
        return self.succeeds("merge-base", "--is-ancestor", ancestor, descendant)

    def has_changes(self) -> bool:
        """Return whether files of the work tree or the index differ from the current commit."""
        # git would refresh the user's index with the file times that it has just read.
        quiet = {"GIT_OPTIONAL_LOCKS": "0"}
        return bool(self.git("status", "--porcelain", "--untracked-files=no", **quiet))

    def contents(self, names: Sequence[str]) -> dict[str, bytes]:
        """Return the contents of objects, e.g. ``"HEAD:setup.py"``; missing ones are left out.

        One process reads all of them: a history has hundreds of commits.
        """
        output = self.git_bytes("cat-file", "--batch", text="".join(f"{name}\n" for name in names))
        found = {}
        for name in names:
            head, _, output = output.partition(b"\n")
            if head.endswith(b" missing"):
                continue
            size = int(head.rpartition(b" ")[2])
            # A newline, which is not part of the object, follows each.
            found[name], output = output[:size], output[size + 1 :]
        return found

    def tree_with(self, commit: str, files: Mapping[str, str]) -> str:
        """Return the hash of the tree of a commit with other texts of some files, by path."""
        with TemporaryDirectory() as folder:
            index = str(Path(folder, "index"))
            self.git("read-tree", commit, GIT_INDEX_FILE=index)
            for path, text in files.items():
                blob = self.git("hash-object", "-w", "--stdin", text=text)
                entry = f"100644,{blob},{path}"
                self.git("update-index", "--add", "--cacheinfo", entry, GIT_INDEX_FILE=index)
            return self.git("write-tree", GIT_INDEX_FILE=index)

    def commit_tree(self, tree: str, parents: Sequence[str], message: str, moment: datetime) -> str:
        """Return the hash of a new commit, dated a moment for author and committer alike."""
        parent_options = [word for parent in parents for word in ("-p", parent)]
        return self.git("commit-tree", tree, *parent_options, text=message, **dates(moment))


def dates(moment: datetime) -> dict[str, str]:
    """Return the variables that date new commits and tags of git."""
    text = f"{int(moment.timestamp())} +0000"
    return {"GIT_AUTHOR_DATE": text, "GIT_COMMITTER_DATE": text}

"""A git repository whose work tree, index and current branch are left alone.

The checkout that a history is made in.

The message of a commit that takes the library set of a day.

The branch that has a commit for each day.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

from adapter_core.errors import FormatBenchError, GitError, InvalidBranchError
from format_bench.automation.history.past_sets import PastSet, described
from format_bench.library_sets.resolution import noon
from format_bench.library_sets.sets import steps
from format_bench.system.git import run_git


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
        GitError
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
        except GitError:
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


def checkout(folder: Path) -> Repository:
    """Return the checkout of the project that a folder is in.

    Raises
    ------
    FormatBenchError
        If it is in none, or in one without a commit.
    """
    try:
        root = Path(Repository(folder).git("rev-parse", "--show-toplevel"))
    except GitError as error:
        raise FormatBenchError(f"{folder} is in no git checkout; a history is made in one") from error
    if not (root / "asv.conf.json").is_file():
        raise FormatBenchError(f"{root} is no checkout of this project: it has no asv.conf.json")
    repository = Repository(root)
    if not repository.commit_of("HEAD"):
        raise FormatBenchError(f"{root} has no commit yet; a history is made from one")
    return repository


def commit_message(past: PastSet, before: Mapping[str, str], base: str) -> str:
    """Return what changed, and what is left out.

    Parameters
    ----------
    past : PastSet
        The set.
    before : mapping
        Versions by name of the set before it.
    base : str
        The commit that all other files are from.
    """
    parts = [f"Take the library set of {past.day}", f"All else is as in {base}."]
    if past.reason:
        parts.append(f"There was none: {past.reason}")
    else:
        changes = steps(before, past.versions)
        parts.append("\n".join(map(str, changes)) or "No version has changed.")
    if past.left_out:
        lines = [f"{requirement}: {reason}" for requirement, reason in past.left_out.items()]
        parts.append("\n".join(["Left out:", *lines]))
    return "\n\n".join(parts) + "\n"


SET = "constraints.txt"
DESCRIPTION = "library_set.json"


@dataclass(frozen=True)
class Branch:
    """A branch of library sets, oldest first. Its first commit has no parent.

    Parameters
    ----------
    repository : Repository
        Where it is.
    name : str
        Its name, as in "history".
    """

    repository: Repository
    name: str

    @property
    def ref(self) -> str:
        """The full name."""
        return f"refs/heads/{self.name}"

    @property
    def tip(self) -> str:
        """The newest commit: ours, or else the one that was fetched; empty if there is none."""
        ours = self.repository.commit_of(self.ref)
        return ours or self.repository.commit_of(f"refs/remotes/origin/{self.name}")

    def commits(self) -> dict[date, str]:
        """Return the commit of each day, oldest first."""
        if not self.tip:
            return {}
        listed = self.repository.git("log", "--reverse", "--first-parent", "--format=%at %H", self.tip)
        pairs = [line.split() for line in listed.splitlines()]
        return {datetime.fromtimestamp(int(seconds), UTC).date(): commit for seconds, commit in pairs}

    def set_of(self, commit: str) -> PastSet:
        """Return the set of a commit.

        Raises
        ------
        InvalidBranchError
            If the commit was made for something else.
        """
        git = self.repository.git
        try:
            return described(
                git("show", f"{commit}:{DESCRIPTION}"), git("show", f"{commit}:{SET}") + "\n"
            )
        except GitError as error:
            raise InvalidBranchError(
                f"the branch {self.name} has other commits than library sets; name another: --branch"
            ) from error

    def check(self, days: Sequence[date]) -> None:
        """Check that commits for the days can be added, or are there.

        Raises
        ------
        InvalidBranchError
            If they cannot.
        """
        git = self.repository.git
        try:
            git("check-ref-format", self.ref)
        except GitError as error:
            raise InvalidBranchError(f"{self.name!r} is no name that git takes for a branch") from error
        if f"branch {self.ref}" in git("worktree", "list", "--porcelain").splitlines():
            raise InvalidBranchError(
                f"the branch {self.name} is checked out, and would move under your feet; check out "
                "another, or name one: --branch"
            )
        try:
            git("var", "GIT_COMMITTER_IDENT")
        except GitError as error:
            raise InvalidBranchError(
                "git knows no author for the commits; tell it: git config user.name and user.email"
            ) from error
        self._check_order(days)

    def _check_order(self, days: Sequence[date]) -> None:
        """Check that no day comes before those that the branch has: its commits are never rewritten."""
        found = self.commits()
        if not found:
            return
        self.set_of(self.tip)
        before = [day for day in days if day < max(found) and day not in found]
        if before:
            raise InvalidBranchError(
                f"the branch {self.name} goes up to {max(found)} already, so {before[0]} cannot be "
                "added; start another: --branch"
            )

    def add(self, past: PastSet, base: str) -> str:
        """Add the commit of a set, with the other files of the commit `base`, and return its hash."""
        parent = self.tip
        before = self.set_of(parent).versions if parent else {}
        files = {SET: past.constraints(), DESCRIPTION: past.description()}
        tree = self.repository.tree_with(base, files)
        text = commit_message(past, before, base)
        commit = self.repository.commit(tree, parent, text, noon(past.day))
        ours = self.repository.commit_of(self.ref) or "0" * 40
        self.repository.git("update-ref", self.ref, commit, ours)
        return commit

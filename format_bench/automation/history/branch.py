"""Branch of library sets, with a commit for each day, in the checkout that a history is made in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path

from adapter_core import FormatBenchError
from adapter_core.errors import GitError, InvalidBranchError
from format_bench.automation.history.past_sets import PastSet
from format_bench.library_sets.resolution import noon
from format_bench.library_sets.sets import version_changes
from format_bench.system.git import NO_COMMIT, Repository

CONSTRAINTS = "constraints.txt"
DESCRIPTION = "library_set.json"


def checkout(folder: Path) -> Repository:
    """Return the checkout of the project that contains a folder.

    Raises
    ------
    FormatBenchError
        If the folder is not in a checkout of the project with a commit.
    """
    try:
        root = Path(Repository(folder).git("rev-parse", "--show-toplevel"))
    except GitError as error:
        raise FormatBenchError(
            f"{folder} is not in a git checkout, which a history is made in"
        ) from error
    if not (root / "asv.conf.json").is_file():
        raise FormatBenchError(f"{root} is not a checkout of this project: asv.conf.json is missing")
    repository = Repository(root)
    if not repository.commit_of("HEAD"):
        raise FormatBenchError(f"{root} has no commit yet; a history is made from one")
    return repository


@dataclass(frozen=True)
class Branch:
    """Branch of library sets, oldest first. Its first commit has no parent.

    Work tree, index and current branch of the repository stay as they are.

    Parameters
    ----------
    repository : Repository
        The repository.
    name : str
        Name of the branch, e.g. "history".
    """

    repository: Repository
    name: str

    @property
    def ref(self) -> str:
        """The full name."""
        return f"refs/heads/{self.name}"

    @property
    def tip(self) -> str:
        """The newest commit here, or else of the fetched branch; empty if neither exists."""
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
            If the commit is not one of a library set.
        """
        git = self.repository.git
        try:
            description = git("show", f"{commit}:{DESCRIPTION}")
            constraints = git("show", f"{commit}:{CONSTRAINTS}") + "\n"
        except GitError as error:
            raise InvalidBranchError(
                f"the branch {self.name} has other commits than library sets; name another: --branch"
            ) from error
        return PastSet.from_texts(description, constraints)

    def check(self, days: Sequence[date]) -> None:
        """Check that the branch has commits for the days, or can take them.

        Raises
        ------
        InvalidBranchError
            If it cannot.
        """
        git = self.repository.git
        try:
            git("check-ref-format", self.ref)
        except GitError as error:
            raise InvalidBranchError(f"git does not take {self.name!r} as name of a branch") from error
        if f"branch {self.ref}" in git("worktree", "list", "--porcelain").splitlines():
            raise InvalidBranchError(
                f"the branch {self.name} is checked out, and would move under your feet; check out "
                "another, or name one: --branch"
            )
        try:
            git("var", "GIT_COMMITTER_IDENT")
        except GitError as error:
            raise InvalidBranchError(
                "git has no author for the commits; set one: git config user.name and user.email"
            ) from error
        self._check_order(days)

    def _check_order(self, days: Sequence[date]) -> None:
        """Check that new days follow the branch's, whose commits are never rewritten."""
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
        files = {CONSTRAINTS: past.constraints(), DESCRIPTION: past.description()}
        tree = self.repository.tree_with(base, files)
        message = commit_message(past, before, base)
        # asv sorts commits by date, but parents before children: as a descendant of the current commit,
        # a set of the past would be the newest point. So the first commit has no parent.
        parents = [parent] if parent else []
        commit = self.repository.commit_tree(tree, parents, message, noon(past.day))
        ours = self.repository.commit_of(self.ref) or NO_COMMIT
        self.repository.git("update-ref", self.ref, commit, ours)
        return commit


def commit_message(past: PastSet, before: Mapping[str, str], base: str) -> str:
    """Return the commit message of a set: its version changes, and the requirements left out.

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
        changes = version_changes(before, past.versions)
        parts.append("\n".join(map(str, changes)) or "No version has changed.")
    if past.left_out:
        lines = [f"{requirement}: {reason}" for requirement, reason in past.left_out.items()]
        parts.append("\n".join(["Left out:", *lines]))
    return "\n\n".join(parts) + "\n"

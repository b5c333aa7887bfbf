"""The branch that has a commit for each day."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime
from typing import TYPE_CHECKING

from adapter_core.errors import FormatBenchError
from format_bench.backfill.commit_message import commit_message
from format_bench.backfill.past_set import PastSet, described
from format_bench.library_sets.resolution import noon
from format_bench.system.git import GitFailed

if TYPE_CHECKING:
    from format_bench.backfill.git import Repository

SET = "constraints.txt"
DESCRIPTION = "library_set.json"


class BadBranch(FormatBenchError):
    """A branch that cannot take the commits."""


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
        BadBranch
            If the commit was made for something else.
        """
        git = self.repository.git
        try:
            return described(
                git("show", f"{commit}:{DESCRIPTION}"), git("show", f"{commit}:{SET}") + "\n"
            )
        except GitFailed as error:
            raise BadBranch(
                f"the branch {self.name} has other commits than library sets; name another: --branch"
            ) from error

    def check(self, days: Sequence[date]) -> None:
        """Check that commits for the days can be added, or are there.

        Raises
        ------
        BadBranch
            If they cannot.
        """
        git = self.repository.git
        try:
            git("check-ref-format", self.ref)
        except GitFailed as error:
            raise BadBranch(f"{self.name!r} is no name that git takes for a branch") from error
        if f"branch {self.ref}" in git("worktree", "list", "--porcelain").splitlines():
            raise BadBranch(
                f"the branch {self.name} is checked out, and would move under your feet; check out "
                "another, or name one: --branch"
            )
        try:
            git("var", "GIT_COMMITTER_IDENT")
        except GitFailed as error:
            raise BadBranch(
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
            raise BadBranch(
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

"""asv plug-in that puts the history of library sets before the branches in graphs.

The commits of a history are on a branch of their own, so asv would draw graphs of their own. With
``"dvcs": "git-with-history"`` in its configuration, every branch that is shown begins with them; asv
puts all commits in order of their dates.
"""

from __future__ import annotations

from asv.plugins.git import Git
from asv.repo import NoSuchNameError

# Where a history is; the first one that exists counts.
BRANCHES = ("refs/heads/history", "refs/remotes/origin/history")


class GitWithHistory(Git):  # type: ignore[misc]  # asv has no types
    """Git repository whose branches include its history of library sets, if any."""

    dvcs = "git-with-history"

    def get_branch_commits(self, branch: str) -> list[str]:
        """Return the commits of a branch and of the history."""
        own: list[str] = super().get_branch_commits(branch)
        for name in BRANCHES:
            try:
                self.get_hash_from_name(name)
            except NoSuchNameError:
                continue
            return [*own, *self.get_hashes_from_range(name)]
        return own

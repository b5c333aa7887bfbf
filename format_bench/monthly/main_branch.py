"""The branch main and the months' tags: where the library sets are recorded."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from format_bench.monthly import today
from format_bench.monthly.git import commit_of, git, is_ancestor
from format_bench.monthly.remote import push_merged
from format_bench.system.git import GitFailed

BRANCH = "main"
REFSPECS = [BRANCH, "refs/tags/*:refs/tags/*"]
MONTH = re.compile(r"\d{4}-\d{2}")


def months() -> list[str]:
    """Return the months that have a tag, oldest first."""
    return [name for name in git("tag", "--list").splitlines() if MONTH.fullmatch(name)]


def date_of(name: str) -> datetime:
    """Return when a commit was made."""
    return datetime.fromtimestamp(int(git("log", "-1", "--format=%ct", name)), tz=UTC)


def tag(month: str, commit: str) -> None:
    """Tag the commit that a month measures, unless it is tagged already."""
    if not commit_of(f"refs/tags/{month}"):
        git("tag", "--annotate", "-m", f"Measured in {month}", month, commit, **today.dates())


def undo(before: str, month: str) -> None:
    """Go back to a commit: what was chosen since has not been sent or measured."""
    git("reset", "--quiet", "--hard", before)
    if month in months():
        git("tag", "--delete", month)


def send() -> None:
    """Push main and the tags.

    Raises
    ------
    MonthlyError
        If they cannot be sent.
    """
    push_merged(REFSPECS, _absorb)


def _absorb() -> None:
    """Merge what others pushed into our commits, not the other way round.

    A commit that was measured must stay on the line of first parents, which is what asv draws.
    """
    upstream = f"origin/{BRANCH}"
    if not commit_of(upstream) or is_ancestor(upstream, BRANCH):
        return
    if is_ancestor(BRANCH, upstream):
        git("merge", "--quiet", "--ff-only", upstream)
        return
    try:
        git("merge", "--quiet", "--no-edit", "-X", "theirs", upstream, **today.dates())
    except GitFailed:
        git("merge", "--abort")
        raise

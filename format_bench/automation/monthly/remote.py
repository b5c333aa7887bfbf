"""Sending to the remote repository, which may be out of reach or have moved on.

The branch main and the months' tags: where the library sets are recorded.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime

from adapter_core.errors import GitError, MonthlyError, PushRejectedError
from format_bench.automation.monthly import tools
from format_bench.automation.monthly.state import Status
from format_bench.automation.monthly.tools import commit_of, git, is_ancestor, say

ATTEMPTS = 4
REFUSED = 1
"""What git push returns if the remote has answered, and did not take it; 128 if it has not answered."""
FETCHED = "+refs/heads/*:refs/remotes/origin/*"


def wait_seconds() -> float:
    """Return how long to wait before another attempt; ``CRON_RETRY_SECONDS``, 60 by default."""
    return float(os.environ.get("CRON_RETRY_SECONDS", "60"))


def fetch() -> None:
    """Fetch all branches and tags; a tag that someone else pushed first is taken over.

    Raises
    ------
    GitError
        If the remote is out of reach.
    """
    git("fetch", "--quiet", "--force", "--tags", "origin", FETCHED)


def push(*refspecs: str) -> None:
    """Push, all of it or nothing; try again while the remote does not answer.

    Raises
    ------
    PushRejectedError
        If the remote has something that is not here.
    MonthlyError
        If the remote does not answer.
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            git("push", "--quiet", "--atomic", "origin", *refspecs)
        except GitError as error:
            told = str(error)
            if error.returncode == REFUSED:
                raise PushRejectedError(Status.UNSENT, told) from error
        else:
            return
        if attempt < ATTEMPTS:
            say(f"{told}; trying again in {wait_seconds():g} s")
            time.sleep(wait_seconds())
    raise MonthlyError(Status.UNSENT, f"kept for the next run: {told}")


def push_merged(refspecs: list[str], prepare: Callable[[], None]) -> None:
    """Push; where someone else was first, fetch, and prepare and push again.

    Parameters
    ----------
    refspecs : list of str
        What is pushed.
    prepare : callable
        Makes the local branches descend from those that were fetched last.

    Raises
    ------
    MonthlyError
        If it cannot be sent.
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            prepare()
            push(*refspecs)
        except PushRejectedError as refused:
            if attempt == ATTEMPTS:
                raise
            say(f"{refused}; fetching what is new there")
            _fetch_or_keep()
        except GitError as error:
            raise MonthlyError(Status.UNSENT, f"kept for the next run: {error}") from error
        else:
            return


def _fetch_or_keep() -> None:
    try:
        fetch()
    except GitError as error:
        raise MonthlyError(Status.UNSENT, f"kept for the next run: {error}") from error


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
        git("tag", "--annotate", "-m", f"Measured in {month}", month, commit, **tools.dates())


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
        git("merge", "--quiet", "--no-edit", "-X", "theirs", upstream, **tools.dates())
    except GitError:
        git("merge", "--abort")
        raise

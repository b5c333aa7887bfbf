"""Remote repository, which may be out of reach or have moved on; and main with the tags of months."""

from __future__ import annotations

import logging
import os
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime

from adapter_core.errors import GitError, MonthlyError, PushRejectedError
from format_bench.automation.monthly.state import REPOSITORY, ExitStatus, now
from format_bench.system.git import dates

LOG = logging.getLogger(__name__)

# A minute apart, unless `CRON_RETRY_SECONDS` says otherwise; what is not sent then, the next run sends.
ATTEMPTS = 4
# Exit status of git push if the remote answered with a rejection; 128 if it did not answer.
REJECTED = 1
FETCHED = "+refs/heads/*:refs/remotes/origin/*"

BRANCH = "main"
REFSPECS = [BRANCH, "refs/tags/*:refs/tags/*"]
MONTH = re.compile(r"\d{4}-\d{2}")


def fetch() -> None:
    """Fetch all branches and tags; tags of the remote replace local ones of the same name.

    Raises
    ------
    GitError
        If the remote is out of reach.
    """
    # Without --force, a tag that another machine pushed first would fail the fetch.
    REPOSITORY.git("fetch", "--quiet", "--force", "--tags", "origin", FETCHED)


def push(*refspecs: str) -> None:
    """Push all refspecs or none; try again while the remote does not answer.

    Raises
    ------
    PushRejectedError
        If the remote has commits that are not here.
    MonthlyError
        If the remote does not answer.
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            # --atomic: after a rejection the month is chosen again, so its tag must not be there.
            REPOSITORY.git("push", "--quiet", "--atomic", "origin", *refspecs)
        except GitError as error:
            reason = str(error)
            if error.returncode == REJECTED:
                raise PushRejectedError(ExitStatus.UNSENT, reason) from error
        else:
            return
        if attempt < ATTEMPTS:
            LOG.info("%s; trying again in %g s", reason, _wait_seconds())
            time.sleep(_wait_seconds())
    raise _unsent(reason)


def _wait_seconds() -> float:
    """Return the time between attempts; ``CRON_RETRY_SECONDS``, 60 by default."""
    return float(os.environ.get("CRON_RETRY_SECONDS", "60"))


def push_merged(refspecs: list[str], prepare: Callable[[], None]) -> None:
    """Push; if the remote has moved, fetch, prepare and push again.

    Parameters
    ----------
    refspecs : list of str
        The refspecs to push.
    prepare : callable
        Makes the local branches descend from those that were fetched last.

    Raises
    ------
    MonthlyError
        If they cannot be sent.
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            prepare()
            push(*refspecs)
        except PushRejectedError as rejection:
            if attempt == ATTEMPTS:
                raise
            LOG.info("%s; fetching the new commits", rejection)
            try:
                fetch()
            except GitError as error:
                raise _unsent(error) from error
        except GitError as error:
            raise _unsent(error) from error
        else:
            return


def _unsent(reason: object) -> MonthlyError:
    return MonthlyError(ExitStatus.UNSENT, f"kept for the next run: {reason}")


def tagged_months() -> list[str]:
    """Return the months that have a tag, oldest first."""
    return [name for name in REPOSITORY.git("tag", "--list").splitlines() if MONTH.fullmatch(name)]


def date_of(name: str) -> datetime:
    """Return the time at which a commit was made."""
    return datetime.fromtimestamp(int(REPOSITORY.git("log", "-1", "--format=%ct", name)), tz=UTC)


def tag(month: str, commit: str) -> None:
    """Tag the commit that a month measures, unless the month has a tag."""
    if not REPOSITORY.commit_of(f"refs/tags/{month}"):
        message = f"Measured in {month}"
        REPOSITORY.git("tag", "--annotate", "-m", message, month, commit, **dates(now()))


def undo(before: str, month: str) -> None:
    """Return to an earlier commit, and remove the month's tag; neither was sent or measured."""
    REPOSITORY.git("reset", "--quiet", "--hard", before)
    if month in tagged_months():
        REPOSITORY.git("tag", "--delete", month)


def push_main() -> None:
    """Push main and the tags.

    Raises
    ------
    MonthlyError
        If they cannot be sent.
    """
    push_merged(REFSPECS, _absorb_upstream)


def _absorb_upstream() -> None:
    """Merge the remote's main into ours.

    Ours is the first parent: asv draws the line of first parents, which must contain each commit that
    was measured.
    """
    upstream = f"origin/{BRANCH}"
    if not REPOSITORY.commit_of(upstream) or REPOSITORY.is_ancestor(upstream, BRANCH):
        return
    if REPOSITORY.is_ancestor(BRANCH, upstream):
        REPOSITORY.git("merge", "--quiet", "--ff-only", upstream)
        return
    try:
        # -X: nobody is there to resolve a conflict, e.g. of two renewed library sets.
        merge = ["merge", "--quiet", "--no-edit", "-X", "theirs", upstream]
        REPOSITORY.git(*merge, **dates(now()))
    except GitError:
        REPOSITORY.git("merge", "--abort")
        raise

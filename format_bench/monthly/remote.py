"""Sending to the remote repository, which may be out of reach or have moved on."""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from format_bench.monthly.git import git
from format_bench.monthly.say import say
from format_bench.monthly.statuses import MonthlyError, Status
from format_bench.system.git import GitFailed

ATTEMPTS = 4
REFUSED = 1
"""What git push returns if the remote has answered, and did not take it; 128 if it has not answered."""
FETCHED = "+refs/heads/*:refs/remotes/origin/*"


class Refused(MonthlyError):
    """Someone else has pushed first."""


def wait_seconds() -> float:
    """Return how long to wait before another attempt; ``CRON_RETRY_SECONDS``, 60 by default."""
    return float(os.environ.get("CRON_RETRY_SECONDS", "60"))


def fetch() -> None:
    """Fetch all branches and tags; a tag that someone else pushed first is taken over.

    Raises
    ------
    GitFailed
        If the remote is out of reach.
    """
    git("fetch", "--quiet", "--force", "--tags", "origin", FETCHED)


def push(*refspecs: str) -> None:
    """Push, all of it or nothing; try again while the remote does not answer.

    Raises
    ------
    Refused
        If the remote has something that is not here.
    MonthlyError
        If the remote does not answer.
    """
    for attempt in range(1, ATTEMPTS + 1):
        try:
            git("push", "--quiet", "--atomic", "origin", *refspecs)
        except GitFailed as error:
            told = str(error)
            if error.returncode == REFUSED:
                raise Refused(Status.UNSENT, told) from error
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
        except Refused as refused:
            if attempt == ATTEMPTS:
                raise
            say(f"{refused}; fetching what is new there")
            _fetch_or_keep()
        except GitFailed as error:
            raise MonthlyError(Status.UNSENT, f"kept for the next run: {error}") from error
        else:
            return


def _fetch_or_keep() -> None:
    try:
        fetch()
    except GitFailed as error:
        raise MonthlyError(Status.UNSENT, f"kept for the next run: {error}") from error

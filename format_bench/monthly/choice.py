"""Which commit a month measures."""

from __future__ import annotations

from format_bench.monthly import library_set, main_branch, today
from format_bench.monthly.git import commit_of, holds
from format_bench.monthly.say import say
from format_bench.monthly.state import Month
from format_bench.monthly.statuses import MonthlyError, Status

UNMEASURED = ["docs", "tests", "*.md", ".*", "cron.sh", "Makefile", "postprocessing.py", "LICENSE"]
"""What may change in a commit without changing what is measured."""


def choose(month: str) -> Month:
    """Return what a month measures; a commit is made only if the library set has changed.

    - A month that has a tag measures the tagged commit: it was begun before, or on another machine.
    - Where neither the set nor the code has changed since the month before, samples are added to its
      commit: a commit of its own would be a point on the graphs behind which nothing stands.
    - Otherwise the newest commit of main is measured, with the renewed set.

    Raises
    ------
    MonthlyError
        If the clock is set back.
    """
    tagged = main_branch.months()
    if tagged and tagged[-1] > month:
        raise MonthlyError(
            Status.CLOCK, f"the clock says {month}, but {tagged[-1]} is measured already; set it right"
        )
    if month in tagged:
        return Month(month, commit_of(f"refs/tags/{month}"), append=False)
    _check_clock()
    changes = problem = ""
    try:
        changes = library_set.renew()
    except MonthlyError as error:
        problem = str(error)
        say(problem)
    head = commit_of("HEAD")
    measured = commit_of(f"refs/tags/{tagged[-1]}") if tagged else ""
    if measured and _equal(measured, head):
        say(f"nothing has changed since {tagged[-1]}: samples are added to its commit {measured[:8]}")
        return Month(month, measured, append=True, problem=problem)
    return Month(month, head, append=False, changes=changes, problem=problem)


def _check_clock() -> None:
    """Refuse to date a commit before its parent."""
    newest = main_branch.date_of("HEAD")
    if today.now() < newest:
        raise MonthlyError(
            Status.CLOCK,
            f"the clock says {today.now():%Y-%m-%d %H:%M} UTC, but the newest commit is of "
            f"{newest:%Y-%m-%d %H:%M}; set it right",
        )


def _equal(one: str, other: str) -> bool:
    """Return whether two commits would measure the same."""
    if one == other:
        return True
    excluded = [f":(exclude){name}" for name in UNMEASURED]
    return holds("diff", "--quiet", one, other, "--", ".", *excluded)

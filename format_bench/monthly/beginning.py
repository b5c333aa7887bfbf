"""The beginning of a month: what it measures is chosen, announced and noted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from format_bench.monthly import main_branch, remote, state, today
from format_bench.monthly.choice import choose
from format_bench.monthly.git import commit_of
from format_bench.monthly.say import say
from format_bench.monthly.statuses import MonthlyError
from format_bench.system.git import GitFailed

if TYPE_CHECKING:
    from format_bench.monthly.state import Month


def state_path(scale: str) -> Path:
    """Return the file that notes what is under way at a scale."""
    return Path(".asv", scale, "month.json")


def begin(scale: str) -> None:
    """Choose the commit that this month measures.

    A month that is begun goes on as it was chosen; suites of it that failed are tried again.

    Raises
    ------
    MonthlyError
        If the clock is set back.
    """
    path = state_path(scale)
    month = f"{today.now():%Y-%m}"
    found = state.read(path)
    if found is None or found.name != month:
        found = _chosen(month, path)
    for suite in found.failed:
        del found.ended[suite]
    found.write(path)


def _chosen(month: str, path: Path) -> Month:
    """Choose and send; where someone else pushes at the same time, choose again on top of that.

    What cannot be sent now is sent, merged if need be, when the month is finished.
    """
    for attempt in range(1, remote.ATTEMPTS + 1):
        _send_what_was_kept()
        before = commit_of("HEAD")
        chosen = choose(month)
        chosen.write(path)
        main_branch.tag(month, chosen.commit)
        try:
            remote.push(*main_branch.REFSPECS)
        except remote.Refused as refused:
            say(f"{refused}; choosing again")
            if attempt < remote.ATTEMPTS:
                main_branch.undo(before, month)
                continue
        except MonthlyError as unsent:
            say(str(unsent))
        break
    say(f"{month} measures commit {chosen.commit}")
    return chosen


def _send_what_was_kept() -> None:
    try:
        remote.fetch()
        main_branch.send()
    except (GitFailed, MonthlyError) as error:
        say(str(error))

"""Which commit a month measures.

The renewed library set: committed if it installs, told if it does not.

The beginning of a month: what it measures is chosen, announced and noted.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from adapter_core.errors import GitError, MonthlyError, PushRejectedError
from format_bench.automation.monthly import remote, state, tools
from format_bench.automation.monthly.state import Month, Status
from format_bench.automation.monthly.tools import PYTHON, commit_of, git, holds, say

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
    tagged = remote.months()
    if tagged and tagged[-1] > month:
        raise MonthlyError(
            Status.CLOCK, f"the clock says {month}, but {tagged[-1]} is measured already; set it right"
        )
    if month in tagged:
        return Month(month, commit_of(f"refs/tags/{month}"), append=False)
    _check_clock()
    changes = problem = ""
    try:
        changes = renew()
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
    newest = remote.date_of("HEAD")
    if tools.now() < newest:
        raise MonthlyError(
            Status.CLOCK,
            f"the clock says {tools.now():%Y-%m-%d %H:%M} UTC, but the newest commit is of "
            f"{newest:%Y-%m-%d %H:%M}; set it right",
        )


def _equal(one: str, other: str) -> bool:
    """Return whether two commits would measure the same."""
    if one == other:
        return True
    excluded = [f":(exclude){name}" for name in UNMEASURED]
    return holds("diff", "--quiet", one, other, "--", ".", *excluded)


CONSTRAINTS = "constraints.txt"
TRIAL = Path(".asv/trial")
"""The environment that a renewed set is installed in before anyone else sees it."""


def renew() -> str:
    """Renew the set and commit it; return what changed, as the subject of the commit, or nothing.

    Raises
    ------
    MonthlyError
        If the renewed set does not resolve or install; the set is as it was.
    """
    say("renewing the library set")
    message = _resolved()
    if not message:
        say("no version has changed")
        return ""
    try:
        say("installing the renewed set for a trial")
        _install()
    except MonthlyError:
        git("checkout", "--quiet", "--", CONSTRAINTS)
        raise
    finally:
        shutil.rmtree(TRIAL, ignore_errors=True)
    git("commit", "--quiet", "--file=-", "--", CONSTRAINTS, text=message, **tools.dates())
    return message.partition("\n")[0]


def _resolved() -> str:
    """Resolve the set, write it if it has changed, and return the commit message if so."""
    command = ["-m", "format_bench.library_sets", "renew", "--constraints", CONSTRAINTS]
    if day := tools.rehearsed():
        command += ["--exclude-newer", day.isoformat()]
    return _python(PYTHON, command, "resolved").strip()


def _install() -> None:
    shutil.rmtree(TRIAL, ignore_errors=True)
    _python(PYTHON, ["-m", "venv", str(TRIAL)], "tried")
    pip = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-r", CONSTRAINTS]
    _python(TRIAL / "bin" / "python", pip, "installed")


def _python(python: Path, command: list[str], what: str) -> str:
    done = subprocess.run(  # noqa: S603 (the arguments are our own)
        [python, *command], capture_output=True, text=True, check=False
    )
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if "error" in line.lower()]
        reason = (errors or lines or [f"status {done.returncode}"])[-1]
        raise MonthlyError(Status.OLD_SET, f"the renewed set could not be {what}: {reason}")
    return done.stdout


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
    month = f"{tools.now():%Y-%m}"
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
        remote.tag(month, chosen.commit)
        try:
            remote.push(*remote.REFSPECS)
        except PushRejectedError as refused:
            say(f"{refused}; choosing again")
            if attempt < remote.ATTEMPTS:
                remote.undo(before, month)
                continue
        except MonthlyError as unsent:
            say(str(unsent))
        break
    say(f"{month} measures commit {chosen.commit}")
    return chosen


def _send_what_was_kept() -> None:
    try:
        remote.fetch()
        remote.send()
    except (GitError, MonthlyError) as error:
        say(str(error))

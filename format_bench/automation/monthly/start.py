"""First step of a month: renew the library set, choose the commit to measure, and announce it."""

from __future__ import annotations

import logging
import shutil
import subprocess
from pathlib import Path

from adapter_core.errors import GitError, MonthlyError, PushRejectedError
from format_bench.automation.monthly import remote
from format_bench.automation.monthly.state import (
    ASV,
    PYTHON,
    REPOSITORY,
    ExitStatus,
    MonthState,
    now,
    rehearsal_day,
    state_path,
)
from format_bench.system.git import dates

LOG = logging.getLogger(__name__)

# Files that may change in a commit without an effect on measurements.
UNMEASURED = ["docs", "tests", "*.md", ".*", "cron.sh", "Makefile", "postprocessing.py", "LICENSE"]

CONSTRAINTS, LOCK = ("constraints.txt", "constraints.lock")
# Locks of adapters' own environments, which are renewed with the set.
ENVIRONMENTS = "environments"
# Environment in which a renewed set is installed before it is committed.
TRIAL = ASV / "trial"


def start(scale: str) -> None:
    """Choose the commit that this month measures, and record it in the state file.

    A month that was begun before keeps its commit; its failed suites will run again.

    Raises
    ------
    MonthlyError
        If the clock is set back.
    """
    path = state_path(scale)
    name = f"{now():%Y-%m}"
    month = MonthState.read(path)
    if month is None or month.name != name:
        month = _choose_and_announce(name, path)
    # A suite may have failed for a reason that is gone by now, e.g. a full disk.
    for suite in month.failed:
        del month.ended[suite]
    month.write(path)


def _choose_and_announce(name: str, path: Path) -> MonthState:
    """Choose and push; if someone else pushes at the same time, choose again on top of that.

    Commits that cannot be sent now are sent, merged if need be, when the month is finished.
    """
    for attempt in range(1, remote.ATTEMPTS + 1):
        # Commits that could not be pushed are merged, never rebased: results are kept by commit.
        _send_unsent()
        before = REPOSITORY.commit_of("HEAD")
        month = choose(name)
        # First the state: if a kill prevents the tag, the resumed month makes it.
        month.write(path)
        remote.tag(name, month.commit)
        try:
            remote.push(*remote.REFSPECS)
        except PushRejectedError as rejection:
            LOG.info("%s; choosing again", rejection)
            if attempt < remote.ATTEMPTS:
                remote.undo(before, name)
                continue
        except MonthlyError as unsent:
            LOG.info("%s", unsent)
        break
    LOG.info("%s measures commit %s", name, month.commit)
    return month


def _send_unsent() -> None:
    try:
        remote.fetch()
        remote.push_main()
    except (GitError, MonthlyError) as error:
        LOG.info("%s", error)


def choose(name: str) -> MonthState:
    """Return the commit that a month measures; commit the library set if it has changed.

    - A month that has a tag measures the tagged commit: it was begun before, or on another machine.
      Samples are added if an earlier month has the same commit.
    - If neither the set nor the code has changed since the month before, samples are added to its
      commit: a new commit would be a point on the graphs without a change behind it.
    - Otherwise the newest commit of main is measured, with the renewed set.

    Raises
    ------
    MonthlyError
        If the clock is set back.
    """
    tagged = remote.tagged_months()
    if tagged and tagged[-1] > name:
        raise MonthlyError(
            ExitStatus.CLOCK,
            f"the clock says {name}, but {tagged[-1]} is measured already; set it right",
        )
    if name in tagged:
        commit, *earlier = (
            REPOSITORY.commit_of(f"refs/tags/{each}") for each in reversed(tagged) if each <= name
        )
        return MonthState(name, commit, append=commit in earlier)
    _check_clock()
    changes = problem = ""
    try:
        changes = renew()
    except MonthlyError as error:
        problem = str(error)
        LOG.info("%s", problem)
    head = REPOSITORY.commit_of("HEAD")
    measured = REPOSITORY.commit_of(f"refs/tags/{tagged[-1]}") if tagged else ""
    if measured and _measure_alike(measured, head):
        LOG.info(
            "nothing has changed since %s: samples are added to its commit %s", tagged[-1], measured[:8]
        )
        return MonthState(name, measured, append=True, problem=problem)
    return MonthState(name, head, append=False, changes=changes, problem=problem)


def _check_clock() -> None:
    """Refuse to date a commit before its parent."""
    newest = remote.date_of("HEAD")
    if now() < newest:
        raise MonthlyError(
            ExitStatus.CLOCK,
            f"the clock says {now():%Y-%m-%d %H:%M} UTC, but the newest commit is of "
            f"{newest:%Y-%m-%d %H:%M}; set it right",
        )


def _measure_alike(one: str, other: str) -> bool:
    """Return whether two commits would measure the same."""
    if one == other:
        return True
    excluded = [f":(exclude){name}" for name in UNMEASURED]
    return REPOSITORY.succeeds("diff", "--quiet", one, other, "--", ".", *excluded)


def renew() -> str:
    """Renew the library set and commit it; return the subject of the commit, empty without a change.

    Raises
    ------
    MonthlyError
        If the renewed set does not resolve or install; constraints.txt is as before.
    """
    LOG.info("renewing the library set")
    message = _resolve()
    if not message:
        LOG.info("no version has changed")
        return ""
    try:
        LOG.info("installing the renewed set for a trial")
        _install()
    except MonthlyError:
        REPOSITORY.git("checkout", "--quiet", "--", *_renewed())
        raise
    finally:
        shutil.rmtree(TRIAL, ignore_errors=True)
    commit = ["commit", "--quiet", "--file=-", "--", *_renewed()]
    REPOSITORY.git(*commit, text=message, **dates(now()))
    return message.partition("\n")[0]


def _renewed() -> list[str]:
    """Return the files that a renewal writes."""
    return [name for name in (CONSTRAINTS, LOCK, ENVIRONMENTS) if Path(name).exists()]


def _resolve() -> str:
    """Resolve the set, write it if it has changed, and return the commit message if so."""
    command = ["-m", "format_bench.library_sets", "renew", "--constraints", CONSTRAINTS]
    if day := rehearsal_day():
        command += ["--exclude-newer", day.isoformat()]
    return _run_python(PYTHON, command, "resolved").strip()


def _install() -> None:
    shutil.rmtree(TRIAL, ignore_errors=True)
    _run_python(PYTHON, ["-m", "venv", str(TRIAL)], "tried")
    quiet = ["--quiet", "--disable-pip-version-check"]
    pip = ["-m", "pip", "install", *quiet, "--require-hashes", "-r", LOCK]
    _run_python(str(TRIAL / "bin" / "python"), pip, "installed")


def _run_python(python: str, command: list[str], action: str) -> str:
    done = subprocess.run(  # noqa: S603 (the arguments are our own)
        [python, *command], capture_output=True, text=True, check=False
    )
    if done.returncode:
        # pip prints notices after its error, so the last line may be one of them.
        lines = [line.strip() for line in done.stderr.splitlines() if line.strip()]
        errors = [line for line in lines if "error" in line.lower()]
        reason = (errors or lines or [f"status {done.returncode}"])[-1]
        raise MonthlyError(ExitStatus.OLD_SET, f"the renewed set could not be {action}: {reason}")
    return done.stdout

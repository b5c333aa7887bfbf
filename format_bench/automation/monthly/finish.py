"""The rest of a month: what is left is measured, compared and published."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from adapter_core.errors import MonthlyError
from format_bench.automation.monthly import publish, remote, results, state
from format_bench.automation.monthly import suites as machine
from format_bench.automation.monthly.results import ASV
from format_bench.automation.monthly.start import state_path
from format_bench.automation.monthly.state import Status
from format_bench.automation.monthly.suites import Suites
from format_bench.automation.monthly.tools import say

if TYPE_CHECKING:
    from format_bench.automation.monthly.state import Month


Problem = tuple[Status, str]


def config(scale: str) -> str:
    """Return asv's configuration of a scale; the Makefile derives all but that of "full"."""
    return "asv.conf.json" if scale == "full" else f".asv.{scale}.json"


def is_unfinished(scale: str) -> bool:
    """Return whether a month was begun and has suites left."""
    month = state.read(state_path(scale))
    return month is not None and bool(Suites(month, scale, config(scale), state_path(scale)).left)


def finish(scale: str) -> tuple[Status, str]:
    """Finish the month that was begun last.

    Returns
    -------
    tuple of Status and str
        The gravest of what happened, and all of it in a line.
    """
    month = state.read(state_path(scale))
    if month is None:
        return Status.DONE, "no month was begun"
    results.restore(scale)
    machine.describe(scale)
    remote.tag(month.name, month.commit)
    suites = Suites(month, scale, config(scale), state_path(scale))
    problems = _measured(suites, month) if suites.left else []
    problems += _tried(partial(publish.publish, scale, config(scale)))
    status = max((status for status, _ in problems), default=Status.DONE)
    return status, "; ".join([_told(month), *(sentence for _, sentence in problems)])


def _measured(suites: Suites, month: Month) -> list[Problem]:
    """Measure and compare; return what went wrong in this month so far."""
    if not month.begun and not month.append:
        # asv never upgrades an environment, and what a set no longer has would stay in it.
        shutil.rmtree(ASV / "env", ignore_errors=True)
    say(f"measuring {month.name}: {', '.join(suites.left)}")
    suites.run()
    problems = [(Status.OLD_SET, month.problem)] if month.problem else []
    if month.failed:
        problems.append((Status.INCOMPLETE, f"suites failed: {', '.join(month.failed)}"))
    return problems + _tried(partial(publish.compare, suites.config))


def _tried(step: Callable[[], None]) -> list[Problem]:
    """Return what went wrong in a step: nothing, or one thing."""
    try:
        step()
    except MonthlyError as error:
        say(str(error))
        return [(Status(error.status), str(error))]
    return []


def _told(month: Month) -> str:
    what = "samples added to" if month.append else "measured"
    renewed = f" ({month.changes})" if month.changes else ""
    return f"{month.name}: {what} commit {month.commit[:8]}{renewed}"

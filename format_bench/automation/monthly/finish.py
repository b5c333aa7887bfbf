"""Second step of a month: run the remaining suites, compare, and push main, results and site.

Suites run one by one, so that a kill loses one at most and a failure stops none.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from adapter_core.errors import MonthlyError
from format_bench.automation import asv_runs
from format_bench.automation.asv_runs import machine_name
from format_bench.automation.monthly import remote, results
from format_bench.automation.monthly.state import (
    ASV,
    DONE,
    FAILED,
    PYTHON,
    REPOSITORY,
    ExitStatus,
    MonthState,
    state_path,
)

LOG = logging.getLogger(__name__)


def suite_names() -> list[str]:
    """Return the suites, in order of name; only the ones in ``CRON_SUITES``, if it is set."""
    return os.environ.get("CRON_SUITES", "").split() or asv_runs.suite_names(Path())


@dataclass(frozen=True)
class MonthSuites:
    """Suites of a month; the state file records each start and end.

    Parameters
    ----------
    month : MonthState
        The month.
    scale : str
        "full", "quick" or "tiny".
    config : str
        asv's configuration of that scale.
    """

    month: MonthState
    scale: str
    config: str

    @property
    def remaining(self) -> list[str]:
        """The suites that have not ended."""
        return [suite for suite in suite_names() if suite not in self.month.ended]

    def run(self) -> None:
        """Run the suites that have not ended."""
        for suite in self.remaining:
            self._run(suite)

    def _run(self, suite: str) -> None:
        month = self.month
        if self._was_saved(suite):
            LOG.info("suite %s: its results were saved before it was killed", suite)
            succeeded = True
        else:
            month.begun[suite] = time.time()
            month.write(state_path(self.scale))
            succeeded = self._measure(suite)
        results.commit(self.scale, f"Results of {month.name}: {suite}")
        month.ended[suite] = DONE if succeeded else FAILED
        month.write(state_path(self.scale))

    def _was_saved(self, suite: str) -> bool:
        """Return whether a killed run had saved the suite's results."""
        begun = self.month.begun.get(suite)
        # Without --append-samples asv skips benchmarks with results; with it, samples would double.
        if not self.month.append or begun is None:
            return False
        return results.were_written_since(self.scale, self.month.commit, suite, begun)

    def _measure(self, suite: str) -> bool:
        """Return whether the suite has values, and not fewer than before."""
        LOG.info("suite %s", suite)
        commit = self.month.commit
        before = results.count_values(self.scale, commit, suite)
        status = asv_runs.run_suite(
            suite, commit, self.config, root=Path(), python=PYTHON, append_samples=self.month.append
        )
        if status not in asv_runs.SUCCESSFUL:
            results.remove_torn(self.scale)
        after = results.count_values(self.scale, commit, suite)
        if after < before:
            LOG.info("suite %s has %s values where it had %s: those are restored", suite, after, before)
            self._restore_committed()
        if status not in asv_runs.SUCCESSFUL or not after or after < before:
            LOG.info("suite %s failed; asv returned %s", suite, status)
            return False
        return True

    def _restore_committed(self) -> None:
        for path in results.paths_of(self.scale, self.month.commit):
            path.unlink()
        results.restore(self.scale)


SITE = "gh-pages"


def compare(config: str) -> None:
    """Print and write the comparison.

    Raises
    ------
    MonthlyError
        If it failed.
    """
    _run("the comparison", ExitStatus.INCOMPLETE, "postprocessing.py", "--config", config)


def publish(scale: str, config: str) -> None:
    """Send main with its tags, the results, and the site.

    Raises
    ------
    MonthlyError
        If something could not be sent; it stays in the clone, and the next run sends it.
    """
    remote.push_main()
    remote.push_merged([results.BRANCH], lambda: results.absorb(scale))
    remote.push_merged([results.BRANCH, SITE], lambda: _prepare(scale, config))


def _prepare(scale: str, config: str) -> None:
    """Build the site from the results of all machines, on top of the site that was fetched."""
    results.absorb(scale)
    published = ASV / scale / "shown"
    result_commit = REPOSITORY.commit_of(results.OURS)
    upstream = REPOSITORY.commit_of(f"refs/remotes/origin/{SITE}")
    site_commit = REPOSITORY.commit_of(f"refs/heads/{SITE}")
    built_of = published.read_text(encoding="utf-8") if published.exists() else ""
    if built_of == f"{result_commit} {site_commit}" and upstream == site_commit:
        return
    # asv commits on top of the local branch, which a fetch does not move.
    if upstream:
        REPOSITORY.git("update-ref", f"refs/heads/{SITE}", upstream)
    LOG.info("making the site")
    _run("the site", ExitStatus.UNSENT, "-m", "asv", "gh-pages", "--no-push", "--config", config)
    built = f"{result_commit} {REPOSITORY.commit_of(f'refs/heads/{SITE}')}"
    published.write_text(built, encoding="utf-8")


def _run(step: str, status: ExitStatus, *command: str) -> None:
    done = subprocess.run([PYTHON, *command], check=False)  # noqa: S603 (our own arguments)
    if done.returncode:
        raise MonthlyError(status, f"{step} failed with status {done.returncode}")


Problem = tuple[ExitStatus, str]


def config(scale: str) -> str:
    """Return asv's configuration of a scale; the Makefile derives all but "full"."""
    return "asv.conf.json" if scale == "full" else f".asv.{scale}.json"


def is_unfinished(scale: str) -> bool:
    """Return whether a month was begun and has suites left."""
    month = MonthState.read(state_path(scale))
    return month is not None and bool(MonthSuites(month, scale, config(scale)).remaining)


def finish(scale: str) -> tuple[ExitStatus, str]:
    """Finish the month that was begun last.

    Returns
    -------
    tuple of ExitStatus and str
        The gravest status, and a summary of all problems in a line.
    """
    month = MonthState.read(state_path(scale))
    if month is None:
        return ExitStatus.DONE, "no month was begun"
    # Results first: a machine that was set up anew takes its description from them.
    results.restore(scale)
    machine_name(Path(), results.folder(scale), PYTHON)
    # A kill between state file and tag may have left the month without its tag.
    remote.tag(month.name, month.commit)
    suites = MonthSuites(month, scale, config(scale))
    problems = _measure(suites) if suites.remaining else []
    problems += _attempt(partial(publish, scale, config(scale)))
    status = max((status for status, _ in problems), default=ExitStatus.DONE)
    return status, "; ".join([_summary(month), *(sentence for _, sentence in problems)])


def _measure(suites: MonthSuites) -> list[Problem]:
    """Measure and compare; return the problems of this month so far."""
    month = suites.month
    if not month.begun and not month.append:
        # asv never upgrades an environment: packages that the new set lacks would stay in it.
        shutil.rmtree(ASV / "env", ignore_errors=True)
    LOG.info("measuring %s: %s", month.name, ", ".join(suites.remaining))
    suites.run()
    problems = [(ExitStatus.OLD_SET, month.problem)] if month.problem else []
    if month.failed:
        problems.append((ExitStatus.INCOMPLETE, f"suites failed: {', '.join(month.failed)}"))
    return problems + _attempt(partial(compare, suites.config))


def _attempt(step: Callable[[], None]) -> list[Problem]:
    """Run a step, and return its problem, if any."""
    try:
        step()
    except MonthlyError as error:
        LOG.info("%s", error)
        return [(ExitStatus(error.status), str(error))]
    return []


def _summary(month: MonthState) -> str:
    action = "samples added to" if month.append else "measured"
    renewed = f" ({month.changes})" if month.changes else ""
    return f"{month.name}: {action} commit {month.commit[:8]}{renewed}"

"""Second step of a month: run the remaining suites, compare, and push main, results and site.

Suites run one by one, and long ones in portions of some formats, so that a kill loses one portion at
most and a failure stops none. A suite has hours; formats that do not fit come first in the next month.
"""

from __future__ import annotations

import logging
import os
import shutil
import subprocess
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from adapter_core.errors import MonthlyError
from format_bench.asv_support import KEPT_VARIABLE
from format_bench.automation import asv_runs
from format_bench.automation.asv_runs import machine_name
from format_bench.automation.monthly import costs, remote, results
from format_bench.automation.monthly.costs import Cost, Room, room_watched
from format_bench.automation.monthly.plan import Portion, SuitePlan
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
from format_bench.instruments.memory_limit import largest_ended_below
from format_bench.results.suites import parts_of

LOG = logging.getLogger(__name__)

# As much as the tools, the page cache of programs and the kernel need: below a few hundred MB pages of
# programs are read again and again.
_LEAST_MEMORY_BYTES = 1_000_000_000


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
        _build_parts(self.remaining)
        for suite in self.remaining:
            self._run(suite)

    def _run(self, suite: str) -> None:
        """Measure the portions of a suite that are left, as far as its hours suffice."""
        month, plan = self.month, self._plan_of(suite)
        if not month.measured.get(suite):
            # They may be of a commit that was given up.
            shutil.rmtree(self._data_of(suite), ignore_errors=True)
        left_out: list[str] = []
        month.left_out.pop(suite, None)
        portions = plan.portions(month.measured.get(suite, ()))
        succeeded = True
        for portion in portions:
            if plan.fits(portion, month.spent.get(suite, 0.0)):
                succeeded &= self._run_portion(plan, portion)
            else:
                left_out += portion.labels
        in_parts = not all(map(plan.is_all, portions))
        if in_parts and not results.count_values(self.scale, month.commit, suite, skipped=False):
            succeeded, month.measured[suite] = False, []
        elif left_out:
            self._note_left_out(plan, left_out)
        shutil.rmtree(self._data_of(suite), ignore_errors=True)
        month.ended[suite] = DONE if succeeded else FAILED
        month.write(state_path(self.scale))

    def _plan_of(self, suite: str) -> SuitePlan:
        earlier = costs.noted(results.folder(self.scale))
        # This month's own are of its first portions: they are done, and so in nobody's way.
        return SuitePlan.of(suite, self.scale, Path(), earlier)

    def _data_of(self, suite: str) -> Path:
        """Return the folder in which the portions of a suite share its data sets."""
        return ASV / self.scale / "data" / suite

    def _run_portion(self, plan: SuitePlan, portion: Portion) -> bool:
        """Measure a portion, unless a killed run has saved it; return whether that succeeded."""
        suite, month = plan.suite, self.month
        key = suite if plan.is_all(portion) else f"{suite} {portion.labels[0]}"
        seconds = portion.seconds
        if self._was_saved(plan, portion, month.begun.get(key)):
            LOG.info("suite %s: its results were saved before it was killed", key)
            succeeded, room = True, Room()
        else:
            month.begun[key] = time.time()
            month.write(state_path(self.scale))
            left_seconds = plan.left_seconds(month.spent.get(suite, 0.0))
            with room_watched() as room, largest_ended_below(_LEAST_MEMORY_BYTES):
                succeeded = self._measure(plan, portion, month.begun[key], left_seconds)
            seconds = time.time() - month.begun[key]
        if portion.labels and succeeded:
            # asv may have had all results already, in seconds.
            if self._was_measured(suite, month.begun[key]):
                cut = results.cut_short(self.scale, month.commit, suite, month.begun[key])
                self._note_costs(plan, portion, seconds, room, cut)
            month.measured.setdefault(suite, []).extend(portion.labels)
        month.spent[suite] = month.spent.get(suite, 0.0) + seconds
        # If it has failed, what other portions save is none of its results.
        month.begun.pop(key, None)
        results.commit(self.scale, f"Results of {month.name}: {key}")
        month.write(state_path(self.scale))
        return succeeded

    def _note_costs(
        self, plan: SuitePlan, portion: Portion, seconds: float, room: Room, cut: Collection[str]
    ) -> None:
        """Note the costs of the formats of a portion, apart for those that were cut short."""
        month, suite = self.month, plan.suite
        divided = {each: seconds * plan.share_of(each, portion) for each in portion.labels}
        for is_whole in (True, False):
            some = {each: divided[each] for each in divided if (each in cut) != is_whole}
            if some:
                cost = Cost(month.name, suite, some, is_whole, room.disk_bytes, room.memory_bytes)
                costs.note(results.folder(self.scale), cost)

    def _was_saved(self, plan: SuitePlan, portion: Portion, begun: float | None) -> bool:
        """Return whether a killed run had saved the results of a portion, which it began then."""
        # Without --append-samples asv skips benchmarks of a whole suite that have results; with it,
        # samples would double.
        if begun is None or (plan.is_all(portion) and not self.month.append):
            return False
        return self._was_measured(plan.suite, begun)

    def _was_measured(self, suite: str, begun: float) -> bool:
        """Return whether results of a suite began after a time; asv may have had them all."""
        return results.were_written_since(self.scale, self.month.commit, suite, begun)

    def _measure(self, plan: SuitePlan, portion: Portion, begin: float, left_seconds: float) -> bool:
        """Return whether asv has measured a portion, and the suite has not fewer values than before."""
        suite, commit, is_all = plan.suite, self.month.commit, plan.is_all(portion)
        variables = {"FORMAT_BENCH_PERIOD": f"{begin} {begin + left_seconds}"}
        if is_all:
            LOG.info("suite %s", suite)
        else:
            LOG.info("suite %s: %s", suite, ", ".join(portion.labels))
            variables[KEPT_VARIABLE] = str(self._data_of(suite).absolute())
        before = results.count_values(self.scale, commit, suite, skipped=is_all)
        status = asv_runs.run_suite(
            *(suite, commit, self.config),
            root=Path(),
            python=PYTHON,
            append_samples=self.month.append,
            labels=() if is_all else portion.labels,
            variables=variables,
        )
        if status not in asv_runs.SUCCESSFUL:
            # asv has one file for all suites: what earlier ones have saved is in its committed version.
            results.restore(self.scale)
        after = results.count_values(self.scale, commit, suite, skipped=is_all)
        if after < before:
            LOG.info("suite %s has %s values where it had %s: those are restored", suite, after, before)
            self._restore_committed()
        if status not in asv_runs.SUCCESSFUL or (is_all and not after) or after < before:
            LOG.info("suite %s failed; asv returned %s", suite, status)
            return False
        return True

    def _note_left_out(self, plan: SuitePlan, labels: list[str]) -> None:
        """Note the formats that the hours of a suite did not suffice for, beside its results."""
        month, suite = self.month, plan.suite
        LOG.info("suite %s: its %g hours do not suffice for %s", suite, plan.hours, ", ".join(labels))
        sentence = (
            f"not measured in {month.name}: the {plan.hours:g} hours of the suite {suite} were spent; "
            "it comes first in the next month"
        )
        results.note_left_out(self.scale, month.commit, suite, labels, sentence)
        results.commit(self.scale, f"Results of {month.name}: {suite}, formats left out")
        month.left_out[suite] = labels

    def _restore_committed(self) -> None:
        for path in results.paths_of(self.scale, self.month.commit):
            path.unlink()
        results.restore(self.scale)


def _build_parts(suites: Sequence[str]) -> None:
    """Build what suites need beside the packages; cells of what does not build are unavailable."""
    own = ["environment"] if suites and Path("environments").is_dir() else []
    for part in [*own, *parts_of(suites)]:
        LOG.info("building beside the packages: %s", part)
        # What it prints is of interest in the log alone.
        command = [PYTHON, "-m", "format_bench", "build", part, "--optional"]
        subprocess.run(command, check=False)  # noqa: S603 (our own arguments)


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
    if not (month.begun or month.spent or month.append):
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
    numbers = (f"{len(labels)} formats of {suite}" for suite, labels in month.left_out.items())
    left_out = f"; out of time for {', '.join(numbers)}" if month.left_out else ""
    return f"{month.name}: {action} commit {month.commit[:8]}{renewed}{left_out}"

"""Suites of a month, run one by one, so that a kill loses one at most and a failure stops none."""

from __future__ import annotations

import logging
import os
import time
from dataclasses import dataclass
from pathlib import Path

from format_bench.automation import asv_runs
from format_bench.automation.monthly import results
from format_bench.automation.monthly.clone import PYTHON
from format_bench.automation.monthly.state import DONE, FAILED, MonthState, state_path

LOG = logging.getLogger(__name__)


def suite_names() -> list[str]:
    """Return the suites, in order of name; those of ``CRON_SUITES``, if it is set."""
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

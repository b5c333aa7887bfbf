"""The name and the parts of this machine, by which asv tells its graphs apart.

asv's suites, one after the other, so that a kill loses one at most and a failure stops none.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path

from format_bench.automation.monthly import results
from format_bench.automation.monthly.results import folder, mend, paths_of, values, written_since
from format_bench.automation.monthly.state import DONE, FAILED, Month
from format_bench.automation.monthly.tools import PYTHON, say


def describe(scale: str) -> None:
    """Describe this machine to asv, unless that was done: a new kernel must not begin new graphs.

    A machine that was set up anew takes the description that its earlier results have.
    """
    from asv.machine import MachineCollection
    from asv.util import UserError

    name = platform.node()
    try:
        MachineCollection.load(name)
    except UserError:
        known = folder(scale) / name / "machine.json"
        if known.exists():
            facts = json.loads(known.read_text(encoding="utf-8"))
            del facts["version"]
            MachineCollection.save(name, facts)
        else:
            subprocess.run([PYTHON, "-m", "asv", "machine", "--yes"], check=True)  # noqa: S603


SOME_FAILED = 2
"""What asv returns if a benchmark has failed; the comparison says which and why."""


def names() -> list[str]:
    """Return the suites, in order of name; those of ``CRON_SUITES``, if it is set."""
    told = os.environ.get("CRON_SUITES", "").split()
    return told or sorted(path.stem for path in Path("benchmarks").glob("[!_]*.py"))


@dataclass(frozen=True)
class Suites:
    """Runs the suites of a month, and notes how far it has come.

    Parameters
    ----------
    month : Month
        What is measured.
    scale : str
        "full", "quick" or "tiny".
    config : str
        asv's configuration of that scale.
    state : Path
        The file that the month is noted in.
    """

    month: Month
    scale: str
    config: str
    state: Path

    @property
    def left(self) -> list[str]:
        """The suites that have not ended."""
        return [suite for suite in names() if suite not in self.month.ended]

    def run(self) -> None:
        """Run the suites that have not ended."""
        for suite in self.left:
            self._run(suite)

    def _run(self, suite: str) -> None:
        month = self.month
        if self._was_saved(suite):
            say(f"suite {suite}: its results were saved before it was killed")
            good = True
        else:
            month.begun[suite] = time.time()
            month.write(self.state)
            good = self._measure(suite)
        results.commit(self.scale, f"Results of {month.name}: {suite}")
        month.ended[suite] = DONE if good else FAILED
        month.write(self.state)

    def _was_saved(self, suite: str) -> bool:
        """Return whether a run that was killed had come so far; adding samples twice doubles them."""
        begun = self.month.begun.get(suite)
        if not self.month.append or begun is None:
            return False
        return written_since(self.scale, self.month.commit, suite, begun)

    def _measure(self, suite: str) -> bool:
        """Return whether the suite has values, and none less than before."""
        say(f"suite {suite}")
        before = values(self.scale, self.month.commit, suite)
        status = self._asv(suite)
        if status not in (0, SOME_FAILED):
            mend(self.scale)
        after = values(self.scale, self.month.commit, suite)
        if after < before:
            say(f"suite {suite} has {after} values where it had {before}: those are put back")
            self._put_back()
        if status not in (0, SOME_FAILED) or not after or after < before:
            say(f"suite {suite} failed; asv returned {status}")
            return False
        return True

    def _asv(self, suite: str) -> int:
        adding = "--append-samples" if self.month.append else "--skip-existing-successful"
        command = [str(PYTHON), "-m", "asv", "run", "--config", self.config, "--record-samples"]
        command += [adding, "--bench", rf"^{suite}\.", f"{self.month.commit}^!"]
        return subprocess.run(command, check=False).returncode  # noqa: S603 (our own arguments)

    def _put_back(self) -> None:
        for path in paths_of(self.scale, self.month.commit):
            path.unlink()
        results.restore(self.scale)

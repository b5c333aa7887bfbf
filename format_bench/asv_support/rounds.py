"""Samples of each process of a cell, beside asv's results.

asv joins the samples of all rounds into one list, and keeps the value alone of a `track_` benchmark. The
difference between processes is the larger part of the noise, so each process of a benchmark appends the
samples that it reports to a file of the commit.
"""

from __future__ import annotations

import json
import math
import statistics
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

# Name of the folder, in the folder of asv's results. Its files end in .jsonl, since asv reads every
# .json.
FOLDER = "rounds"

# In place of a metric: the wall time that a process was on the clock.
CLOCK_TIME = "on the clock"

_Key = tuple[str, str, tuple[str, ...]]


class Round(NamedTuple):
    """Samples of one process."""

    repeats: list[float]
    cpu: Sequence[float] = ()
    """CPU seconds of each, if it is a time; possibly none."""
    loop: Sequence[float] = ()
    """CPU seconds of the clock's reference loop beside each."""


class RoundsFile:
    """The samples of one commit in one asv environment.

    Parameters
    ----------
    results_dir : Path
        The folder of asv's results.
    environment : str
        Name of the asv environment, as in asv's own file names.
    commit : str
        Hash of the commit under test; may be empty.
    """

    def __init__(self, results_dir: Path, environment: str, commit: str) -> None:
        name = f"{commit[:8]}-{environment}" if commit else environment
        self.path = results_dir / FOLDER / f"{name}.jsonl"

    def append(self, suite: str, params: Sequence[str], metric: str, rounds: list[Round]) -> None:
        """Append the samples that a benchmark reports for a cell.

        Parameters
        ----------
        suite : str
            Module and class of the benchmark, e.g. "tabular.Tabular".
        params : sequence of str
            Its parameters.
        metric : str
            The metric.
        rounds : list of Round
            The samples of each process.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        facts = {
            "suite": suite,
            "params": list(params),
            "metric": metric,
            "rounds": [each.repeats for each in rounds],
        }
        for name in ("cpu", "loop"):
            if all(beside := [getattr(each, name) for each in rounds]):
                # The clock of CPU time tells microseconds apart, and no less.
                facts[name] = [[round(seconds, 6) for seconds in each] for each in beside]
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(facts) + "\n")

    def append_on_clock(
        self, suite: str, params: Sequence[str], step: str, number: int, seconds: float
    ) -> None:
        """Append the wall time that a process was on the clock.

        Parameters
        ----------
        suite, params
            The benchmark that measures, as `append` takes them.
        step : str
            The first step that it measures.
        number : int
            Number of processes that measured the same before.
        seconds : float
            The time.
        """
        self.append(suite, [*params, step, str(number)], CLOCK_TIME, [Round([seconds])])

    def read(self) -> Rounds:
        """Return the samples of all cells."""
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        found: dict[_Key, list[list[Round]]] = {}
        for facts in map(json.loads, lines):
            key = facts["suite"], facts["metric"], tuple(facts["params"])
            none = [()] * len(facts["rounds"])
            parts = facts["rounds"], facts.get("cpu", none), facts.get("loop", none)
            found.setdefault(key, []).append([Round(*each) for each in zip(*parts, strict=True)])
        return Rounds(found)


class Rounds:
    """Samples of each process by cell, as the benchmarks appended them."""

    def __init__(self, found: dict[_Key, list[list[Round]]]) -> None:
        self._found = found

    def of_cell(
        self, suite: str, params: Sequence[str], metric: str, value: float, samples: list[float] | None
    ) -> list[Round]:
        """Return the samples of each process behind asv's value of a cell; none if they are unknown.

        Another run of the same commit may have left samples of its own, so they must explain the value.

        Parameters
        ----------
        suite, params, metric
            As `RoundsFile.append` takes them.
        value : float
            The value, as asv keeps it.
        samples : list of float, optional
            The samples, as asv keeps them of times: from all processes, each of which appended its
            own. Of other values, one process appended all samples.
        """
        rounds: list[Round] = []
        for appended in reversed(self._found.get((suite, metric, tuple(params)), [])):
            rounds = appended + rounds if samples else appended
            joined = [sample for each in rounds for sample in each.repeats]
            if joined == samples:
                return rounds
            if not samples and math.isclose(statistics.median(joined), value):
                return rounds
        return []

    def seconds_on_clock(self, module: str) -> float:
        """Return the wall time that the processes of a module of benchmarks were on the clock.

        Of a cell that was measured again, the last time counts, as asv keeps its last duration. 0 if
        the processes noted none, as those of earlier versions.
        """
        return sum(
            appended[-1][0].repeats[0]
            for (suite, metric, _), appended in self._found.items()
            if metric == CLOCK_TIME and suite.partition(".")[0] == module
        )

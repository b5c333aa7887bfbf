"""The circumstances of a run, in a file beside its results for each thread policy."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from data_generator import DEFAULT_SEED
from format_bench import circumstances

if TYPE_CHECKING:
    from format_bench.threads import Threads


class CircumstancesFiles:
    """Writes what a run begins under, and completes it when the run ends, if by an error or not.

    Parameters
    ----------
    out : Path
        The folder of the results.
    run_id : str
        Begins the names of the files.
    scratch : Path
        The folder of the measured files.
    scale : str
        How large the data are, in words.
    """

    def __init__(self, out: Path, run_id: str, scratch: Path, scale: str) -> None:
        self._out, self._run_id, self._scratch, self._scale = out, run_id, scratch, scale
        self._found: dict[Threads, dict[str, Any]] = {}

    def begin(self, policy: Threads) -> None:
        """Collect and write the circumstances under a policy, unless that is done."""
        if policy not in self._found:
            self._found[policy] = circumstances.collect(
                self._scratch, seed=DEFAULT_SEED, scale=self._scale, threads=policy
            )
            circumstances.write(self._found[policy], self._path(policy))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for policy, found in self._found.items():
            circumstances.write(circumstances.finish(found), self._path(policy))

    def _path(self, policy: Threads) -> Path:
        return self._out / f"{self._run_id}-threads-{policy}.json"

"""The circumstances of a run under asv, kept beside its results.

One run of a module's asv suites: its folders, its data, and where its reasons and circumstances go.

All processes of a suite share one working directory for the whole run. There the data sets are put
once, the first benchmark of a cell that saves leaves its file for the others, and further measurements
of one process are noted for the benchmarks that only report them.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import data_generator
from format_bench.asv_support.journal import Journal
from format_bench.metadata import run_metadata

if TYPE_CHECKING:
    from collections.abc import Callable

FOLDER = "circumstances"
"""Name of the folder, in that of asv's results. Its files end in .jsonl: asv takes .json for its own."""


@dataclass(frozen=True)
class Keeper:
    """The circumstances of all runs in one asv environment.

    Parameters
    ----------
    results_dir : Path
        Where asv's results are.
    environment : str
        Name of the asv environment, as in asv's own file names.
    """

    results_dir: Path
    environment: str

    @property
    def path(self) -> Path:
        """The file, a line for each run of a suite."""
        return self.results_dir / FOLDER / f"{self.environment}.jsonl"

    @property
    def end_path(self) -> Path:
        """The file that each cell writes anew as it ends."""
        return self.path.with_suffix(".end")

    def begin(self, scratch: Path, *, seed: int, scale: str, shapes: dict[str, tuple[int, int]]) -> None:
        """Append a line; whatever goes wrong is written down, since it must cost no measurement.

        Parameters
        ----------
        scratch : Path
            The folder that the measured files are in.
        seed, scale
            Seed and scale of the data.
        shapes : dict
            Rows and columns of each data set, by names as in "tabular.eq".
        """
        try:
            facts = run_metadata.collect(scratch, seed=seed, scale=scale, threads="all")
        except Exception as error:
            facts = {"error": f"{type(error).__name__}: {error}"}
        facts = {
            **facts,
            "shapes": shapes,
            "asv_commit": os.environ.get("ASV_COMMIT", ""),
            "time": time.time(),
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(facts) + "\n")

    def note_end(self) -> None:
        """Note time and load: a run ends with its last cell, which does not know that it is."""
        self.end_path.parent.mkdir(parents=True, exist_ok=True)
        facts = {"ended": datetime.now(UTC).isoformat(timespec="seconds"), "load": list(os.getloadavg())}
        self.end_path.write_text(json.dumps(facts), encoding="utf-8")

    def newest(self, commit: str) -> dict[str, Any]:
        """Return the circumstances of the newest run of a commit; empty if there are none."""
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        own = [each for each in map(json.loads, lines) if each["asv_commit"] in ("", commit)]
        if not own:
            return {}
        # Each module of suites begins a run of its own, on data sets of its own.
        found: dict[str, Any] = {**own[-1], "shapes": {}}
        for each in own:
            found["shapes"] |= each["shapes"]
        if self.end_path.exists() and "load_average" in found:
            end = json.loads(self.end_path.read_text(encoding="utf-8"))
            found["ended"], found["load_average"]["end"] = end["ended"], end["load"]
        return found


DATA = Path("data")
FILES = Path("files")
NOTES = Path("notes")


def results_dir(scale: str) -> Path:
    """Return the folder of asv's results of that scale, or this one if asv is not running."""
    root = os.environ.get("ASV_CONF_DIR")
    return Path(root, ".asv", scale, "results") if root else Path()


def missing(dataset: str) -> Path:
    """Return the path of the reason why a data set is missing; the file exists only then."""
    return DATA / f"{dataset}.missing"


def journal(scale: str) -> Journal:
    """Return the journal beside asv's results of that scale."""
    commit = os.environ.get("ASV_COMMIT", "")
    return Journal(results_dir(scale) / "reasons", _environment(), commit)


def keeper(scale: str) -> Keeper:
    """Return what keeps the circumstances beside asv's results of that scale."""
    return Keeper(results_dir(scale), _environment())


def _environment() -> str:
    return os.environ.get("ASV_ENV_NAME", "none")


def prepare(module: str, scale: str, make: Callable[[], dict[str, tuple[int, int]]]) -> None:
    """Begin a run of a module's suites: make its data, once, and collect its circumstances.

    Parameters
    ----------
    module : str
        Name of the suites' module, as in "tabular".
    scale : str
        The scale, which decides where results are.
    make : callable
        Puts the data sets into `DATA`, and returns rows and columns of each by name.
    """
    journal(scale).settle(module)
    for folder in (DATA, FILES, NOTES):
        folder.mkdir()
    shapes = {f"{module}.{name}": shape for name, shape in make().items()}
    keeper(scale).begin(FILES, seed=data_generator.DEFAULT_SEED, scale=scale, shapes=shapes)

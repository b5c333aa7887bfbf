"""Run of a module's suites under asv: its folders, data sets, reasons and metadata.

All processes of a suite share one working directory for the whole run. Each data set is generated there
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
from typing import Any

import data_generator
from adapter_core import UnavailableError
from adapter_core.errors import TooFewRowsError
from adapter_core.files import remove, write_atomically
from format_bench.asv_support import KEPT_VARIABLE
from format_bench.asv_support.journal import Journal
from format_bench.asv_support.rounds import RoundsFile
from format_bench.families.operations import Operations, operations_of
from format_bench.metadata import run_metadata
from format_bench.results.suites import Family, Suite

# Name of the folder, in the folder of asv's results. Its files end in .jsonl, since asv reads every
# .json.
METADATA_FOLDER = "circumstances"


@dataclass(frozen=True)
class AsvMetadataFile:
    """Metadata of all runs in one asv environment, a line for each run of a suite.

    Parameters
    ----------
    results_dir : Path
        The folder of asv's results.
    environment : str
        Name of the asv environment, as in the names of asv's files.
    """

    results_dir: Path
    environment: str

    @property
    def path(self) -> Path:
        """The file."""
        return self.results_dir / METADATA_FOLDER / f"{self.environment}.jsonl"

    @property
    def end_path(self) -> Path:
        """The file with the time and load at the end of the latest cell."""
        return self.path.with_suffix(".end")

    def begin(self, scratch: Path, *, seed: int, scale: str, shapes: dict[str, tuple[int, int]]) -> None:
        """Append the metadata of a run that starts now, or the error if they cannot be collected.

        Parameters
        ----------
        scratch : Path
            The folder of the measured files.
        seed, scale
            Seed and scale of the data.
        shapes : dict
            Rows and columns of each data set, by name, e.g. "tabular.eq".
        """
        commit = os.environ.get("ASV_COMMIT", "")
        try:
            facts = run_metadata.collect(
                scratch, seed=seed, scale=scale, threads="all", earlier=self.newest(commit)
            )
        except Exception as error:
            # Metadata that cannot be read must cost no measurement.
            facts = {"error": f"{type(error).__name__}: {error}"}
        facts = {
            **facts,
            "shapes": shapes,
            "asv_commit": commit,
            "time": time.time(),
        }
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(facts) + "\n")

    def note_end(self) -> None:
        """Write the time and load at the end of a cell."""
        # Every cell does, since asv runs nothing after the last one.
        self.end_path.parent.mkdir(parents=True, exist_ok=True)
        facts = {
            "ended": datetime.now(UTC).isoformat(timespec="seconds"),
            "load": list(os.getloadavg()),
            "asv_commit": os.environ.get("ASV_COMMIT", ""),
        }
        with write_atomically(self.end_path) as temporary:
            temporary.write_text(json.dumps(facts), encoding="utf-8")

    def newest(self, commit: str, cpu: str = "") -> dict[str, Any]:
        """Return the metadata of the newest run of a commit; empty without any.

        Parameters
        ----------
        commit : str
            Hash of the commit.
        cpu : str
            Model of the machine's CPU. Metadata of other models are left out if there are such of this.
        """
        lines = self.path.read_text(encoding="utf-8").splitlines() if self.path.exists() else []
        own = [each for each in map(json.loads, lines) if each["asv_commit"] in ("", commit)]
        if not own:
            return {}
        # Results of several machines may be in one folder, and environments have the same names there.
        own = [each for each in own if (each.get("cpu") or {}).get("model") == cpu] or own
        # Each module of suites has a run of its own, on data sets of its own.
        found: dict[str, Any] = {**own[-1], "shapes": {}}
        for each in own:
            found["shapes"] |= each["shapes"]
        if self.end_path.exists() and "load_average" in found:
            end = json.loads(self.end_path.read_text(encoding="utf-8"))
            if end.get("asv_commit", commit) in ("", commit):
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


def metadata_file(scale: str) -> AsvMetadataFile:
    """Return the metadata file beside asv's results of that scale."""
    return AsvMetadataFile(results_dir(scale), _environment())


def rounds_file(scale: str) -> RoundsFile:
    """Return the file of the processes' samples beside asv's results of that scale."""
    return RoundsFile(results_dir(scale), _environment(), os.environ.get("ASV_COMMIT", ""))


def _environment() -> str:
    return os.environ.get("ASV_ENV_NAME", "none")


def prepare_data(family: Family, suite: Suite, scale: str) -> None:
    """Start a run of a suite: generate its data sets, and collect the metadata of the run.

    A real data set has as many rows as were asked for, or all of its own. One that is not available
    leaves its reason, and `CellRun.start` skips its cells.

    Parameters
    ----------
    family, suite
        As the checkout declares them.
    scale : str
        One of `format_bench.results.suites.SCALES`, which also decides where results are.
    """
    journal(scale).settle(suite.name)
    for folder in (FILES, NOTES):
        folder.mkdir()
    kept = os.environ.get(KEPT_VARIABLE)
    if kept:
        Path(kept).mkdir(parents=True, exist_ok=True)
        DATA.symlink_to(Path(kept).absolute(), target_is_directory=True)
    else:
        DATA.mkdir()
    operations = operations_of(family)
    shapes: dict[str, tuple[int, int]] = {}
    for name in suite.datasets:
        try:
            rows = suite.size(name, scale)
            shapes[f"{suite.name}.{name}"] = _store_once(operations, name, rows)
        except MemoryError:
            size = f"{suite.size(name, scale):,} {family.item}s"
            missing(name).write_text(f"{name} of {size} does not fit in memory here", encoding="utf-8")
        except UnavailableError as error:
            missing(name).write_text(str(error), encoding="utf-8")
    metadata_file(scale).begin(FILES, seed=data_generator.DEFAULT_SEED, scale=scale, shapes=shapes)


def _store_once(operations: type[Operations], name: str, size: int) -> tuple[int, int]:
    """Generate and store a data set, unless an earlier run has kept it; return its shape."""
    note = DATA / f"{name}.shape"
    if not note.exists():
        remove(DATA / name)
        shape = operations.store(_generated(operations, name, size), DATA / name)
        missing(name).unlink(missing_ok=True)
        with write_atomically(note) as temporary:
            temporary.write_text(json.dumps(shape), encoding="utf-8")
    rows, columns = json.loads(note.read_text(encoding="utf-8"))
    return rows, columns


def _generated(operations: type[Operations], name: str, size: int) -> Any:
    try:
        return operations.generate(name, size)
    except TooFewRowsError:
        return operations.generate(name, None)

"""Histories of monthly results: a git repository with a library set and asv's results per month.

`MadeUp` invents results of all suites, with noise of a given size and planted changes;
`MonthlyRepository` takes results of any origin. The files are asv's own, written by asv's own code.
"""

from __future__ import annotations

import functools
import itertools
import json
import math
import os
import random
import shutil
import subprocess
import sys
import tempfile
from ast import literal_eval
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from format_bench.asv_support.journal import Journal
from format_bench.asv_support.run import METADATA_FOLDER
from format_bench.results.status import CellStatus
from format_bench.results.suites import SUITES
from tests.helpers import ROOT, git

MACHINE = {
    "arch": "x86_64",
    "cpu": "Some CPU",
    "machine": "tester",
    "num_cpu": "4",
    "os": "Linux 6.12",
    "ram": "16000000000",
}

LIBRARIES = {
    "duckdb": (1, 4),
    "fastavro": (1, 5),
    "h5py": (3, 6),
    "lmdb": (2, 9),
    "lxml": (6, 4),
    "numpy": (2, 6),
    "openpyxl": (3, 11),
    "pandas": (2, 6),
    "pillow": (11, 3),
    "pyarrow": (15, 3),
    "pylance": (5, 2),
    "tables": (3, 8),
    "zarr": (3, 5),
}
"""An old major version of each library, and the number of months until the next."""

TYPICAL = {
    "time_save": 0.4,
    "time_durable_save": 0.5,
    "time_read": 0.2,
    "track_open_time": 0.004,
    "track_random_read": 3e-4,
    "track_batch_read": 1e-4,
    "time_query": 5e-3,
    "time_write_answer": 2e-3,
    "track_query_bytes": 2e6,
    "track_query_requests": 40,
    "track_random_chunk": 2e-3,
    "track_partition": 1e-3,
    "track_size": 4e7,
    "track_files": 3,
    **{
        f"track_{place}_{step}_time": seconds
        for step, seconds in (("save", 0.6), ("read", 0.4), ("part", 0.1))
        for place in ("remote", "distant")
    },
    **{f"track_remote_{step}_requests": 6 for step in ("save", "read", "part")},
    **{f"track_remote_{step}_bytes": 4e7 for step in ("save", "read", "part")},
    **{
        f"track_parallel_{step}_{what}": value
        for step in ("save", "read", "part", "count")
        for what, value in (("time", 0.2), ("cpu_time", 0.3), ("memory", 2e8))
    },
    "track_lost_columns": 0,
    "track_unlike_readers": 0,
    "track_changed_images": 0,
    "track_lost_properties": 0,
    "track_first_save": 0.7,
    "track_first_read": 0.9,
    "track_save_allocation": 4e7,
    "track_read_allocation": 8e7,
    "track_entry_read": 2e-4,
    "track_iteration": 0.1,
    "track_field_access": 0.05,
    "track_lost_fields": 0,
    "track_sample": 5e-5,
    "track_first_epoch_sample": 2e-4,
    "track_stalls_10_ms": 2,
    "track_order_distance": 0.3,
    "track_repeated_samples": 0,
    "track_lost_samples": 0,
    "track_loader_memory": 3e8,
    "track_save_memory": 6e7,
    "track_read_memory": 9e7,
    "track_held_memory": 7e7,
    "peakmem_save": 2e8,
    "peakmem_read": 2.5e8,
}
"""Typical value of each benchmark method, in its unit."""

EXACT = (
    *("track_size", "track_files", "track_unlike_readers"),
    *("track_lost_columns", "track_changed_images", "track_lost_properties", "track_lost_fields"),
    *("track_repeated_samples", "track_lost_samples"),
)
"""Methods whose values have no noise."""

SINGLE_TIMES = (
    *("track_open_time", "track_random_read", "track_batch_read"),
    *("track_random_chunk", "track_partition", "track_first_save", "track_first_read"),
    *("track_entry_read", "track_iteration", "track_field_access"),
    *("track_sample", "track_first_epoch_sample"),
    *(
        f"track_{place}_{step}_time"
        for place in ("remote", "distant")
        for step in ("save", "read", "part")
    ),
    *(
        f"track_parallel_{step}_{what}"
        for step in ("save", "read", "part", "count")
        for what in ("time", "cpu_time")
    ),
)
"""Methods whose values are times without samples."""


class Gap(NamedTuple):
    """Status and reason of a cell without a value."""

    status: CellStatus
    sentence: str


Outcome = list[float] | Gap
"""The samples of a cell, or the reason for a gap."""


@dataclass(frozen=True)
class Planted:
    """Planted change: values of one format, or of all, change from a month on."""

    label: str
    """Label of the format; empty for all formats."""
    method: str
    """Prefix of the methods' names, e.g. "time_read"."""
    month: int
    """Number of the first month with the change, from 1."""
    factor: float = 1.3
    """Factor of the values; a value of 0 becomes the factor itself."""
    module: str = "tabular"
    datasets: tuple[str, ...] = ()
    """Data sets with the change; empty for all."""
    library: str = ""
    """Library that has a new version in that month."""
    gradual: bool = False
    """The factor is reached in equal steps, from that month to the last."""
    gap: Gap | None = None
    """Gap instead of a value."""

    def concerns(self, benchmark: str, params: Sequence[str]) -> bool:
        """Return whether a cell has the change."""
        module, _, method = benchmark.split(".")
        named = (
            module == self.module and method.startswith(self.method) and self.label in ("", params[0])
        )
        return named and (not self.datasets or params[1] in self.datasets)

    def factor_in(self, month: int, months: int) -> float:
        """Return the factor of the values in a month."""
        if month < self.month:
            return 1.0
        done = (month - self.month + 1) / (months - self.month + 1) if self.gradual else 1.0
        return self.factor**done


@functools.cache
def benchmarks(scale: str = "full") -> list[dict[str, Any]]:
    """Return the benchmarks that asv discovers in the checkout, as in benchmarks.json."""
    code = (
        "import sys; sys.path.insert(0, '.'); from asv_runner.discovery import list_benchmarks;"
        "list_benchmarks('benchmarks', open(sys.argv[1], 'w'))"
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "benchmarks.json")
        variables = os.environ | {"FORMAT_BENCH_SCALE": scale}
        subprocess.run([sys.executable, "-c", code, path], cwd=ROOT, env=variables, check=True)
        return json.loads(path.read_text(encoding="utf-8"))


class MonthlyRepository:
    """Git repository with a commit per month, and asv's results of each.

    Parameters
    ----------
    folder : Path
        The repository; created if it does not exist. Results go to `.asv/<scale>/results` in it.
    suites : sequence of dict
        The benchmarks, as `benchmarks` returns them.
    machine : dict
        Machine as in asv's machine.json.
    """

    def __init__(
        self,
        folder: Path,
        suites: Sequence[dict[str, Any]],
        scale: str = "full",
        machine: dict[str, str] = MACHINE,
    ) -> None:
        self.folder, self.suites, self.scale, self.machine = folder, suites, scale, machine
        self.results_dir = folder / ".asv" / scale / "results"
        self.environment = f"virtualenv-py3.11-FORMAT_BENCH_SCALE{scale}"
        self.libraries: dict[str, str] = {}
        if not (folder / ".git").exists():
            folder.mkdir(parents=True, exist_ok=True)
            git(folder, "init", "--quiet", "--initial-branch", "main")
        self._write_frame()

    def renew(self, date: datetime, libraries: dict[str, str]) -> str:
        """Commit a library set on a date; return the commit's hash."""
        steps = [
            f"{name} {self.libraries.get(name, 'none')} -> {version}"
            for name, version in libraries.items()
            if self.libraries.get(name) != version
        ]
        self.libraries = libraries
        lines = [f"{name}=={version}" for name, version in libraries.items()]
        text = "\n".join(["# The library set under test.", *lines, ""])
        (self.folder / "constraints.txt").write_text(text, encoding="utf-8")
        git(self.folder, "add", "constraints.txt")
        when = date.isoformat()
        who = {"AUTHOR": "a", "COMMITTER": "a"}
        variables = {f"GIT_{role}_NAME": name for role, name in who.items()}
        variables |= {f"GIT_{role}_EMAIL": "a@example.org" for role in who}
        variables |= {f"GIT_{role}_DATE": when for role in who}
        message = f"Renew the library set: {', '.join(steps) or 'nothing new'}"
        command = ["git", "commit", "--quiet", "--allow-empty", "-m", message]
        subprocess.run(command, cwd=self.folder, env=os.environ | variables, check=True)
        return git(self.folder, "rev-parse", "HEAD").strip()

    def add(self, commit: str, date: datetime, outcome: Callable[[str, list[str]], Outcome]) -> None:
        """Write the results of a commit.

        Parameters
        ----------
        commit, date
            Hash and date of the commit.
        outcome : callable
            Function of a benchmark's name and parameters that returns the samples or the gap of a cell.
        """
        from asv.results import Results

        params = {**self.machine, "python": "3.11"}
        scale = {"FORMAT_BENCH_SCALE": self.scale}
        stamp = int(date.timestamp() * 1000)
        results = Results(params, {}, commit, stamp, "3.11", self.environment, scale)
        journal = Journal(self.results_dir / "reasons", self.environment, commit)
        for suite in self.suites:
            found = [
                (each, outcome(suite["name"], each))
                for each in map(_parsed, itertools.product(*suite["params"]))
            ]
            for cell, result in found:
                if isinstance(result, Gap):
                    journal.write(suite["name"].rpartition(".")[0], cell, result.status, result.sentence)
            results.add_result(
                suite, _asv_result(suite, [result for _, result in found]), date, 1.0, True
            )
        results.save(str(self.results_dir))
        self._write_circumstances(commit, date)

    def _write_frame(self) -> None:
        from asv.util import write_json

        by_name = {suite["name"]: suite for suite in self.suites}
        write_json(str(self.results_dir / "benchmarks.json"), by_name, 2)
        machine_file = self.results_dir / self.machine["machine"] / "machine.json"
        write_json(str(machine_file), self.machine, 1)

    def _write_circumstances(self, commit: str, date: datetime) -> None:
        facts = {
            "started": date.isoformat(),
            "libraries": self.libraries,
            "shapes": {},
            "asv_commit": commit,
            "time": date.timestamp(),
        }
        path = self.results_dir / METADATA_FOLDER / f"{self.environment}.jsonl"
        path.parent.mkdir(exist_ok=True)
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(facts) + "\n")


def _parsed(params: Sequence[str]) -> list[str]:
    return [_literal(text) for text in params]


@functools.cache
def _literal(text: str) -> str:
    """Return the value of a literal; thousands of cells share a few dozen."""
    return literal_eval(text)


def _asv_result(suite: dict[str, Any], outcomes: Sequence[Outcome]) -> Any:
    """Return outcomes as asv's runner does: a failure is null, a skip not a number."""
    from asv.runner import BenchmarkResult

    timed = suite["type"] == "time"
    values: list[float | None] = []
    for each in outcomes:
        if isinstance(each, Gap):
            values.append(math.nan if each.status in _SKIPPED else None)
        else:
            values.append(sorted(each)[len(each) // 2])
    samples = [each if timed and isinstance(each, list) else None for each in outcomes]
    numbers = [each and 1 for each in samples]
    return BenchmarkResult(values, samples, numbers, 0, "", None)


MOST_STORES = 12
"""Number of array stores in an invented history; each has 130 cells."""
MOST_LABELS_OF_OPTIONAL = 6
"""Number of labels of a suite that is measured on demand; each has up to 135 cells."""


def _with_few_labels(suite: dict[str, Any]) -> dict[str, Any]:
    """Return a benchmark with the first labels alone, if its suite has thousands of cells."""
    module = suite["name"].partition(".")[0]
    most = MOST_LABELS_OF_OPTIONAL if SUITES[module].optional else None
    labels, *others = suite["params"]
    return suite | {"params": [labels[: MOST_STORES if module == "chunks" else most], *others]}


_SKIPPED = (CellStatus.UNSUPPORTED, CellStatus.UNAVAILABLE)


@dataclass(frozen=True)
class MadeUp:
    """Properties of an invented history, with a few labels of the largest suites."""

    noise: float = 0.03
    """Relative standard deviation of a cell's level from run to run. Samples within a run deviate twice
    as much, and the whole machine a third."""
    bursts: float = 0.005
    """Probability that another program slows a format down by some tenths in one round."""
    planted: tuple[Planted, ...] = ()
    seed: int = 1
    modules: tuple[str, ...] = ()
    """The modules of suites; empty for all."""
    scale: str = "full"
    machine: dict[str, str] = field(default_factory=lambda: MACHINE)
    left_out: int = 0
    """Number of months at the end that the machine did not measure."""

    def write(self, folder: Path, months: int = 6) -> Path:
        """Invent results of all suites for some months; return the folder of the results.

        Parameters
        ----------
        folder : Path
            A git repository, which gets a commit per month; created with the adapters of the checkout
            if it does not exist.
        months : int
            Number of months, the last of them November 2026, `left_out` included.
        """
        suites = [
            _with_few_labels(suite)
            for suite in benchmarks(self.scale)
            if not self.modules or suite["name"].partition(".")[0] in self.modules
        ]
        if not folder.exists():
            for family in (
                "array_stores",
                "data_formats",
                "image_storages",
                "query_engines",
                "record_stores",
                "training_loaders",
            ):
                shutil.copytree(ROOT / family, folder / family)
        repository = MonthlyRepository(folder, suites, self.scale, self.machine)
        for month, date in enumerate(dates(months)[: months - self.left_out], start=1):
            commit = repository.renew(date, libraries(month, self.planted))
            repository.add(commit, date, _Month(self, month, months).outcome)
        return repository.results_dir


def dates(months: int) -> list[datetime]:
    """Return the third day of each month, the last of them November 2026."""
    last = 2026 * 12 + 10
    return [
        datetime(number // 12, number % 12 + 1, 3, 2, 30, tzinfo=UTC)
        for number in range(last - months + 1, last + 1)
    ]


def libraries(month: int, planted: Iterable[Planted] = ()) -> dict[str, str]:
    """Return the version of each library in a month; planted changes come with new versions."""
    found = {}
    for name, (major, every) in LIBRARIES.items():
        first = next((each.month for each in planted if each.library == name), every)
        found[name] = f"{major + (month - 1 - (first - 1) % every) // every + 1}.0.0"
    return found


class _Month:
    """Invented results of a month."""

    def __init__(self, made_up: MadeUp, month: int, months: int) -> None:
        self.month, self.months = month, months
        self.noise, self.often, self.planted = made_up.noise, made_up.bursts, made_up.planted
        self.chance = random.Random(f"{made_up.seed} {month} {made_up.machine['machine']}")
        self.machine = self.chance.gauss(0, self.noise / 3)
        self.bursts: dict[tuple[str, str, int], float] = {}

    def outcome(self, benchmark: str, params: list[str]) -> Outcome:
        method = benchmark.rpartition(".")[2]
        if params[0] == "HDF5.table" and params[-1] == "own default":
            return Gap(CellStatus.UNSUPPORTED, "HDF5.table does not compress unless it is told to")
        value = level(benchmark, params)
        for each in self.planted:
            if each.concerns(benchmark, params) and self.month >= each.month:
                if each.gap:
                    return each.gap
                value = value * each.factor_in(self.month, self.months) or each.factor
        if method.startswith(EXACT):
            return [float(round(value))]
        value *= math.exp(self.machine + self._error(1))
        if not method.startswith("time_"):
            if method in SINGLE_TIMES:
                return [value * math.exp(self._burst(benchmark, params, 0))]
            return [float(round(value))]
        return [
            value * math.exp(self._burst(benchmark, params, which) + self._error(2))
            for which in (0, 1)
            for _ in range(4)
        ]

    def _error(self, times: float) -> float:
        return self.chance.gauss(0, times * self.noise)

    def _burst(self, benchmark: str, params: list[str], which: int) -> float:
        beside = (benchmark, params[0], which)
        if beside not in self.bursts:
            struck = self.chance.random() < self.often
            self.bursts[beside] = self.chance.expovariate(1 / 0.1) if struck else 0.0
        return self.bursts[beside]


def level(benchmark: str, params: Sequence[str]) -> float:
    """Return the value of a cell without noise; each cell has its own."""
    method = benchmark.rpartition(".")[2]
    factor = _factor(f"{params[0]} {method}", 0.8) * _factor(" ".join(params[1:]), 0.5)
    value = TYPICAL[method] * factor
    return round(value) if method.startswith(EXACT) else value


@functools.cache
def _factor(seed: str, spread: float) -> float:
    return random.Random(seed).lognormvariate(0, spread)

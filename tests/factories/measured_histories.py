"""Histories of measured results: a fake library gets slower, real formats stay the same.

Real adapters save and read in fresh processes, two per month, and results are stored as asv stores them.
Samples are CPU seconds, each the smallest of a few calls, since other programs run meanwhile.
"""

from __future__ import annotations

import functools
import importlib.util
import multiprocessing
import pickle
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import data_formats
import data_generator
from format_bench.changes import LineChanges, changes_by_line, read_history
from format_bench.instruments.clock import time_call
from format_bench.instruments.touch import touch
from tests.factories.fake_formats import toy
from tests.factories.histories import MonthlyRepository, benchmarks, dates

MONTHS = 6
FIRST_SLOW_MONTH = 3

ROWS = 2_000
SAMPLES = 4
"""Samples of a cell in each process."""
CALLS = 3
"""Calls of a sample."""

TOY = toy("Toy", requires=("toylib",)).replace(
    "return pd.read_pickle(path, compression=None)", "import toylib\n\n        return toylib.load(path)"
)
LIBRARY = """
import pandas as pd

__version__ = "{version}"


def load(path):
    for _ in range({times}):
        df = pd.read_pickle(path, compression=None)
    return df
"""
FAST, SLOW = "1.4.0", "2.0.0"
VERSIONS = {FAST: 4, SLOW: 24}
"""Versions of the fake library, and the number of times that each reads a file in one call."""

FORMATS = ("CSV", "Feather", "ORC", "Parquet", "Pickle")
DATASETS = ("eq", "int", "float")
SAVE, READ = "tabular.Tabular.time_save", "tabular.TabularRead.time_read"


@dataclass(frozen=True)
class Measurement:
    """Measurement of all cells in one process."""

    folder: Path
    """Folder of the tables, the fake adapter, and the versions of the fake library."""
    version: str
    """Version of the fake library."""

    def measure(self) -> dict[tuple[str, str, str], list[float]]:
        """Return CPU seconds by benchmark, format and data set."""
        sys.path.insert(0, str(self.folder / f"toylib-{self.version}"))
        adapters = [_adapter(self.folder / "data_formats" / "toy.py")]
        adapters += [data_formats.get(label) for label in FORMATS]
        found: dict[tuple[str, str, str], list[float]] = {}
        for dataset in DATASETS:
            df = pickle.loads((self.folder / dataset).read_bytes())
            for adapter in adapters:
                path = self.folder / f"{dataset}-{adapter.label}{adapter.suffix}"
                save = functools.partial(adapter.save, df, path)
                found[SAVE, adapter.label, dataset] = _samples(save)
                read = functools.partial(_read, adapter, path)
                found[READ, adapter.label, dataset] = _samples(read)
        return found


def _read(adapter, path: Path) -> None:
    touch(adapter.read(path))


def _samples(step) -> list[float]:
    step()
    return [min(time_call(step).cpu_seconds for _ in range(CALLS)) for _ in range(SAMPLES)]


def _adapter(path: Path):
    spec = importlib.util.spec_from_file_location("toy_format", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.Adapter()


def planted(folder: Path) -> LineChanges:
    """Return the changes of a history with a slower library from the third month on."""
    before = FIRST_SLOW_MONTH - 1
    return measured(folder, [FAST] * before + [SLOW] * (MONTHS - before))


def unchanged(folder: Path) -> LineChanges:
    """Return the changes of a history in which the library stays the same."""
    return measured(folder, [FAST] * MONTHS)


def measured(folder: Path, versions: Sequence[str]) -> LineChanges:
    """Measure months with these versions of the fake library; return the changes."""
    _prepare(folder)
    repository = MonthlyRepository(folder, _suites())
    # Fresh processes, which need not import pandas.
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pandas", "pyarrow.parquet", "pyarrow.orc", __name__])
    with context.Pool(1, maxtasksperchild=1) as pool:
        for version, date in zip(versions, dates(len(versions)), strict=True):
            rounds = [pool.apply(Measurement(folder, version).measure) for _ in range(2)]
            commit = repository.renew(date, {"pandas": "3.0.0", "toylib": version})
            repository.add(commit, date, functools.partial(_outcome, rounds))
    return changes_by_line(read_history(repository.results_dir, folder))[0]


def _prepare(folder: Path) -> None:
    (folder / "data_formats").mkdir(parents=True)
    (folder / "data_formats" / "toy.py").write_text(TOY, encoding="utf-8")
    for version, times in VERSIONS.items():
        module = folder / f"toylib-{version}" / "toylib.py"
        module.parent.mkdir()
        module.write_text(LIBRARY.format(version=version, times=times), encoding="utf-8")
    for dataset in DATASETS:
        data_generator.table(dataset, rows=ROWS).df.to_pickle(folder / dataset)


def _outcome(rounds, benchmark: str, params: list[str]) -> list[float]:
    return [sample for found in rounds for sample in found[benchmark, params[0], params[1]]]


def _suites() -> list[dict]:
    lists = [["Toy", *FORMATS], list(DATASETS), ["warm"]]
    texts = [[repr(value) for value in values] for values in lists]
    return [
        {**suite, "params": texts[: len(suite["params"])], "rounds": 2}
        for suite in benchmarks("tiny")
        if suite["name"] in (SAVE, READ)
    ]

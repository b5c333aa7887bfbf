"""One run of a module's asv suites: its folders, its data, and where its reasons and circumstances go.

All processes of a suite share one working directory for the whole run. There the data sets are put
once, the first benchmark of a cell that saves leaves its file for the others, and what one process
measured besides is noted for the benchmarks that only report it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import data_generator
from format_bench.asv_circumstances import Keeper
from format_bench.journal import Journal

DATA = Path("data")
FILES = Path("files")
NOTES = Path("notes")


def results_dir(scale: str) -> Path:
    """Return the folder of asv's results of that scale, or this one if asv is not running."""
    root = os.environ.get("ASV_CONF_DIR")
    return Path(root, ".asv", scale, "results") if root else Path()


def missing(dataset: str) -> Path:
    """Return where it says why a data set could not be had; nothing is there if it could."""
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
        The scale, which says where results are.
    make : callable
        Puts the data sets into `DATA`, and returns rows and columns of each by name.
    """
    journal(scale).settle(module)
    for folder in (DATA, FILES, NOTES):
        folder.mkdir()
    shapes = {f"{module}.{name}": shape for name, shape in make().items()}
    keeper(scale).begin(FILES, seed=data_generator.DEFAULT_SEED, scale=scale, shapes=shapes)

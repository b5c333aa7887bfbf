"""Results that a command line names: records, published ones, or asv's on one machine."""

from __future__ import annotations

from pathlib import Path

from format_bench.asv_support.results import is_results_dir, load_run
from format_bench.results.load import Results, load


def load_source(source: str | Path) -> Results:
    """Return the results that an argument names.

    Parameters
    ----------
    source : str or Path
        As `format_bench.results.load.load` takes it; or a folder of asv's results, for its newest run;
        or such a folder, "#" and the name of a machine, for the newest run on that machine.

    Raises
    ------
    InvalidResultsError, ResultsNotFoundError
        If results are missing.
    UnknownNameError
        If the machine has no results.
    """
    if is_results_dir(Path(source)):
        return load_run(Path(source))
    folder, mark, machine = str(source).rpartition("#")
    if mark and is_results_dir(Path(folder)):
        return load_run(Path(folder), machine)
    return load(source)

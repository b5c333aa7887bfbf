"""Writers of reports, one for each kind of file; a file is written whole or not at all."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path

from adapter_core import UnavailableError
from adapter_core.files import write_atomically
from format_bench.results.load import Results

WRITERS = {each: each for each in ("html", "pdf", "png", "svg", "csv", "xlsx", "parquet")} | {
    "md": "markdown"
}
"""Module of each output, by its ending."""

FOLDERS = ("png", "svg")
"""Outputs that are folders of pictures."""

NAME = "report"
"""Name of files, before the ending."""


def path_of(output: str, folder: Path) -> Path:
    """Return the path of an output in a folder."""
    return folder / (f"{NAME}-{output}" if output in FOLDERS else f"{NAME}.{output}")


def write(results: Results, output: str, path: Path) -> None:
    """Write one output; a file at `path` is replaced once the new one is whole.

    Parameters
    ----------
    results : Results
        The results to report on.
    output : str
        One of `WRITERS`.
    path : Path
        The file; for `FOLDERS` the folder, which is made if missing.

    Raises
    ------
    UnavailableError
        If a library that this output needs is not installed.
    """
    writer = import_module(f"{__package__}.{WRITERS[output]}").write
    try:
        if output in FOLDERS:
            writer(results, path)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            with write_atomically(path, durable=True) as temporary:
                writer(results, temporary)
    except ModuleNotFoundError as error:
        reason, hint = f"{error.name} is not installed", "pip install 'formatbench[report]'"
        raise UnavailableError(f"a report as {output}", reason, hint) from error

"""The files that a report can be written to, each whole or not at all."""

from __future__ import annotations

import secrets
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from format_bench.results import Results

WRITERS = {
    "html": "html_page",
    "pdf": "pdf",
    "png": "pictures",
    "csv": "comma_separated",
    "md": "markdown_page",
    "xlsx": "sheets",
}
"""The modules that write each output, by its ending; "png" is a folder of pictures."""

NAME = "report"
"""What files are called, before the ending."""


def path_of(output: str, folder: Path) -> Path:
    """Return where an output goes in a folder."""
    return folder / (f"{NAME}-{output}" if output == "png" else f"{NAME}.{output}")


def write(results: Results, output: str, path: Path) -> None:
    """Write one output; a file at `path` is replaced once the new one is whole.

    Parameters
    ----------
    results : Results
        What the report is on.
    output : str
        One of `WRITERS`.
    path : Path
        The file; for "png" the folder, which is made if missing.
    """
    writer = import_module(f"{__package__}.{WRITERS[output]}").write
    if output == "png":
        writer(results, path)
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.stem}.{secrets.token_hex(4)}.partial{path.suffix}")
    try:
        writer(results, temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)

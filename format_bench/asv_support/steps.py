"""The measured steps of the tabular suites that note more than asv asks for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core.errors import FormatBenchError, WrongValuesError
from format_bench.asv_support.tables import load
from format_bench.instruments import page_cache
from format_bench.instruments.memory import measure
from format_bench.instruments.touch import touch
from format_bench.results.status import WRONG, Status
from format_bench.verification.tables import verify

if TYPE_CHECKING:
    import pandas as pd

    from adapter_core import DataFormat
    from format_bench.asv_support.cell import Cell
    from format_bench.asv_support.tables import TableCell


SAVE_MEMORY, READ_MEMORY, HELD_MEMORY = "save memory", "read memory", "held memory"
VERDICT = "verdict"


def save(cell: TableCell, adapter: DataFormat, df: pd.DataFrame, path: Path) -> None:
    """Save, and note by how much the process grew, in bytes."""
    growth, _ = measure(lambda: adapter.save(df, path))
    cell.note(SAVE_MEMORY, str(growth.peak_bytes))


def read(cell: TableCell, adapter: DataFormat, path: Path) -> pd.DataFrame:
    """Read, and note by how much the process grew at its peak and for good, in bytes."""
    growth, df = measure(lambda: touch(adapter.read(path)))
    cell.note(READ_MEMORY, str(growth.peak_bytes))
    cell.note(HELD_MEMORY, str(growth.held_bytes))
    return df


def note_verdict(cell: TableCell, adapter: DataFormat, df: pd.DataFrame) -> None:
    """Compare a table read back with the one saved, and note the verdict."""
    verdict = verify(load(cell.dataset), df, adapter.kept_digits)
    facts = {"losses": verdict.losses, "lost": verdict.lost_columns, "errors": verdict.errors}
    cell.note(VERDICT, json.dumps(facts))


def lost_columns(cell: TableCell, adapter: DataFormat, path: Path) -> int:
    """Return in how many columns something was lost though every value is right; remark on what.

    Raises
    ------
    WrongValuesError
        If a value, a row or a name came back wrong.
    """
    facts = json.loads(
        cell.noted(VERDICT, lambda: note_verdict(cell, adapter, read(cell, adapter, path)))
    )
    _raise_if_wrong(facts)
    if facts["losses"]:
        cell.remark("; ".join(facts["losses"]))
    return int(facts["lost"])


def refuse_wrong(cell: Cell[Any]) -> None:
    """Fail a cell of which an earlier suite has found that its table comes back wrong."""
    if cell.has_note(VERDICT):
        facts = json.loads(cell.note_of(VERDICT))
        cell.guard(lambda: _raise_if_wrong(facts))


def _raise_if_wrong(facts: dict[str, Any]) -> None:
    if facts["errors"]:
        raise WrongValuesError(WRONG + "; ".join(facts["errors"]))


def set_page_cache(cell: Cell[Any], path: Path, state: str) -> None:
    """Bring a file into the page cache ("warm") or prove it out of it ("cold"), else skip the cell."""
    if state == "warm":
        for file in page_cache.files_of(path):
            file.read_bytes()
        return
    try:
        page_cache.make_cold(path)
    except FormatBenchError as error:
        raise cell.skip(Status.UNAVAILABLE, error) from error

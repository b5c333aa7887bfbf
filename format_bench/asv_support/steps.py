"""Measurements that several benchmarks of an asv suite report: memory and verdict of one call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adapter_core import FormatBenchError
from adapter_core.errors import WrongValuesError
from format_bench.instruments import page_cache
from format_bench.instruments.memory import Meter, measure
from format_bench.results.status import CellStatus

if TYPE_CHECKING:
    from format_bench.asv_support.cell import CellRun


SAVE_MEMORY, READ_MEMORY, HELD_MEMORY = "save memory", "read memory", "held memory"
VERDICT = "verdict"


def save(cell: CellRun) -> None:
    """Save, and note the growth of the process in bytes."""
    growth, _ = measure(lambda: cell.operations.save(cell.data, cell.new_path))
    cell.note(SAVE_MEMORY, str(growth.peak_bytes))


class SaveMeter:
    """Memory growth of the first save of a process; later ones find memory that it has kept."""

    def __init__(self, cell: CellRun) -> None:
        self._cell = cell
        self._meter = None if cell.has_note(SAVE_MEMORY) else Meter()

    def note(self) -> None:
        """Note the growth, in bytes, if this process is the first that has saved."""
        saved = self._meter is not None and self._cell.new_path.exists()
        if self._meter is not None and saved and not self._cell.has_note(SAVE_MEMORY):
            self._cell.note(SAVE_MEMORY, str(self._meter.growth().peak_bytes))


def read(cell: CellRun, path: Path) -> Any:
    """Read, and note the growth of the process in bytes, at its peak and for good."""
    growth, found = measure(lambda: cell.operations.read(path))
    cell.note(READ_MEMORY, str(growth.peak_bytes))
    cell.note(HELD_MEMORY, str(growth.held_bytes))
    return found


def note_verdict(cell: CellRun, found: Any) -> None:
    """Compare data read back with those saved, and note the verdict."""
    try:
        loss = cell.operations.verify(cell.data, found)
        facts = {"lost": loss.repeats[0], "remark": loss.sentence, "wrong": ""}
    except WrongValuesError as error:
        facts = {"lost": 0, "remark": "", "wrong": str(error)}
    cell.note(VERDICT, json.dumps(facts))


def loss(cell: CellRun, path: Path) -> int:
    """Return the loss of a file whose values are all right, and remark on it.

    Raises
    ------
    WrongValuesError
        If a value came back wrong.
    """
    facts = json.loads(cell.noted(VERDICT, lambda: note_verdict(cell, read(cell, path))))
    _raise_if_wrong(facts)
    if facts["remark"]:
        cell.remark(facts["remark"])
    return int(facts["lost"])


def proven_size(cell: CellRun) -> int:
    """Return the size of the saved file in bytes, and remark on a codec that was declined.

    Raises
    ------
    WrongValuesError
        If the file of a suite that chooses codecs comes back wrong.
    """
    path = cell.saved()
    if cell.suite.codecs:
        cell.operations.verify(cell.data, cell.operations.read(path))
    found = cell.operations.track("size", path)
    if cell.suite.codecs and found.sentence:
        cell.remark(found.sentence)
    return int(found.repeats[0])


def refuse_wrong(cell: CellRun) -> None:
    """Fail a cell whose data an earlier benchmark has read back wrong."""
    if cell.has_note(VERDICT):
        facts = json.loads(cell.note_of(VERDICT))
        cell.guard(lambda: _raise_if_wrong(facts))


def _raise_if_wrong(facts: dict[str, Any]) -> None:
    if facts["wrong"]:
        raise WrongValuesError(facts["wrong"])


def set_page_cache(cell: CellRun, path: Path, state: str) -> None:
    """Bring a file into the page cache ("warm") or prove it out of it ("cold"), else skip the cell."""
    if state == "warm":
        for file in page_cache.files_of(path):
            file.read_bytes()
        return
    try:
        page_cache.make_cold(path)
    except FormatBenchError as error:
        raise cell.skip(CellStatus.UNAVAILABLE, error) from error

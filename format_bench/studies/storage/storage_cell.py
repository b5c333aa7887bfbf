"""Cell of the study of media: a format, a question and a medium, kept as records.

The media, and the load of the machine, are in the metadata of the runs beside them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

from adapter_core.errors import InvalidResultsError
from adapter_core.files import content_of
from format_bench.instruments.medium import IN_MEMORY
from format_bench.results.records import Record
from format_bench.results.study_rows import StudyForm

SAVE = "save"

QUESTIONS = {
    SAVE: "durable save",
    "whole": "whole table",
    "columns": "2 columns of all rows",
    "rows": "100 random rows",
}
"""The timed call, in words."""

DATASET = "query"


@dataclass(frozen=True)
class StorageCell:
    """Times of a format on a medium, one for each round, and the reads of the last one."""

    format: str
    engine: str
    """The query engine; empty for saves and reads of whole tables, which the adapter does."""
    question: str
    """One of `QUESTIONS`."""
    medium: str
    seconds: tuple[float, ...] = ()
    requests: int | None = None
    """Requests that the block device answered; None without a device of the medium's own."""
    read_bytes: int | None = None
    """Bytes of these requests."""
    seeks: int | None = None
    """Seeks for reads, as an emulated disk counts them; None for other media."""
    file_bytes: int = 0
    """Size of the saved table; 0 for reads."""
    status: str = ""
    """Empty if there are times."""
    sentence: str = ""
    """Why there are none."""
    rows: int = 0
    """Rows of the table; 0 in files of earlier versions, which had them once."""
    cache: str = ""
    """State of the page cache at reads: "cold", or "warm" on media in memory; empty for saves."""

    @property
    def best(self) -> float | None:
        """The shortest time in seconds; noise of the machine only adds to it."""
        return min(self.seconds, default=None)


class _StorageForm(StudyForm[StorageCell]):
    """Form of cells; a save is not a query, and only it has a size."""

    def metric_of(self, row: StorageCell, name: str) -> tuple[str, str | None] | None:
        """Return the metric of a value; None if it was not counted."""
        value = getattr(row, name)
        if value is None or (name == "file_bytes" and not value):
            return None
        metric = "durable save time" if (row.question, name) == (SAVE, "seconds") else self.values[name]
        return str(metric), None

    def value_of(self, record: Record) -> tuple[str, dict[str, Any]] | None:
        """Return the field of a record's value, and the question if it is the save."""
        if record.metric in {"durable save time", "size"}:
            return ("file_bytes" if record.metric == "size" else "seconds"), {"question": SAVE}
        return super().value_of(record)

    def rows(self, found: Iterable[Record]) -> list[StorageCell]:
        """Return the cells of records, in order."""
        return [
            replace(
                each,
                requests=_whole(each.requests),
                read_bytes=_whole(each.read_bytes),
                seeks=_whole(each.seeks),
            )
            for each in super().rows(found)
        ]

    def earlier_rows(self, path: Path) -> list[StorageCell]:
        """Return the cells of a file of JSON that earlier versions wrote."""
        found = _earlier(path)
        memory = {name for name, each in found.media.items() if each["file_system"] in IN_MEMORY}
        return [
            replace(
                each,
                rows=found.rows,
                file_bytes=each.file_bytes if each.question == SAVE else 0,
                cache="" if each.question == SAVE else "warm" if each.medium in memory else "cold",
            )
            for each in found.cells
        ]

    def earlier_facts(self, path: Path) -> dict[str, Any]:
        """Return the metadata in a file of JSON that earlier versions wrote."""
        found = _earlier(path)
        facts = {"media": found.media, "loads": found.loads, "formats": found.wanted}
        return {**facts, "cpu": {"usable": found.cpus}}

    def _subject(self, row: StorageCell) -> tuple[dict[str, Any], dict[str, str]]:
        own, conditions = super()._subject(row)
        return ({**own, "query": ""} if row.question == SAVE else own), conditions


def _whole(count: float | None) -> int | None:
    return None if count is None else int(count)


FORM = _StorageForm(
    suite="media",
    of=StorageCell,
    values={
        "seconds": "query time",
        "requests": "device requests",
        "read_bytes": "query bytes",
        "seeks": "device seeks",
        "file_bytes": "size",
    },
    named={"question": "query"},
    dataset=DATASET,
    reason="sentence",
    threads="all",
)


@dataclass(frozen=True)
class StorageResults:
    """All cells of a folder, or of a file of an earlier version."""

    rows: int
    dataset: str
    media: dict[str, dict[str, Any]]
    """Facts and figures of the probe by name; none where the metadata of the run are missing."""
    cpus: int
    loads: list[float] = field(default_factory=list)
    """Load of the machine at the ends of each run; before each format in earlier versions."""
    cells: list[StorageCell] = field(default_factory=list)
    wanted: list[str] = field(default_factory=list)
    """The formats that were asked for, measured or not."""

    @property
    def formats(self) -> list[str]:
        """The formats in order of appearance."""
        return list(dict.fromkeys(each.format for each in self.cells))

    def cell(self, label: str, question: str, medium: str) -> StorageCell | None:
        """Return a cell, or None if it was not measured."""
        wanted = label, question, medium
        return next(
            (each for each in self.cells if (each.format, each.question, each.medium) == wanted), None
        )

    def times(self, question: str, medium: str) -> dict[str, float]:
        """Return the best time of each format that has one."""
        found = {
            label: cell.best
            for label in self.formats
            if (cell := self.cell(label, question, medium)) is not None
        }
        return {label: seconds for label, seconds in found.items() if seconds is not None}

    def has(self, medium: str, fact: str) -> bool:
        """Return whether any cell of a medium has a fact, e.g. "seeks"."""
        return any(each.medium == medium and getattr(each, fact) is not None for each in self.cells)

    @classmethod
    def of(cls, cells: Sequence[StorageCell], metadata: Iterable[dict[str, Any]]) -> Self:
        """Return the results of cells, and of the metadata of their runs."""
        found = cls(cells[0].rows, DATASET, {}, 0, cells=list(cells))
        for each in metadata:
            found.media.update(each.get("media", {}))
            load = each.get("load_average") or {}
            ends = [load[end][0] for end in ("start", "end") if load.get(end)]
            found.loads.extend(each.get("loads", ends))
            found.wanted.extend(name for name in each.get("formats", []) if name not in found.wanted)
            found = replace(found, cpus=(each.get("cpu") or {}).get("usable", found.cpus))
        for cell in cells:
            found.media.setdefault(cell.medium, {})
        return found


def _earlier(path: Path) -> StorageResults:
    import msgspec

    with content_of(path, InvalidResultsError, "contains no results of `study media`"):
        return msgspec.json.decode(path.read_bytes(), type=StorageResults)

"""Rows of studies as records: one for each value, in results.jsonl like the cells of suites, and back.

A row is a dataclass. Its values become records of their metrics, its format, data set, rows, codec and
query the fields of these records, and all its other fields their conditions. Files of rows that studies
wrote before, CSV or JSON lines, can still be read.
"""

from __future__ import annotations

import statistics
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from adapter_core.adapter import engine_of
from adapter_core.errors import InvalidResultsError
from adapter_core.files import content_of, write_atomically
from format_bench.results import flat_csv, records
from format_bench.results.metrics import METRICS
from format_bench.results.records import Record
from format_bench.results.status import CellStatus, Reason

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

    Row = TypeVar("Row", bound=DataclassInstance)
else:
    Row = TypeVar("Row")

RESULTS = "results.jsonl"

# Fields of a record that name the cell; all others of a row are conditions.
_OWN = ("format", "dataset", "rows", "columns", "codec", "query")

_NO_CODEC = "none"

_PARSERS: Mapping[str, Callable[[str], Any]] = {
    "int": int,
    "float": float,
    "str": str,
    "bool": lambda text: text == "yes",
}


@dataclass(frozen=True)
class StudyForm(Generic[Row]):
    """Form of the rows of a study as records."""

    suite: str
    """Suite of the records."""
    of: type[Row]
    values: Mapping[str, str | tuple[str, str]]
    """Metric of each value by the row's field, or metric and query: an empty one if rows have a query,
    but the value is of all queries at once."""
    named: Mapping[str, str] = field(default_factory=dict)
    """Names in records by field of the row, where they differ."""
    dataset: str = ""
    """The data set, where rows have no field of it."""
    reason: str = "reason"
    """Field with the reason for missing values; a `Reason`, if rows have no field `status`."""
    threads: str = "1"
    """Thread policy of the study."""
    earlier: str = ""
    """Name of the file of JSON lines that earlier versions wrote."""
    suites: Mapping[str, str] = field(default_factory=dict)
    """Suites by the row's field `family`, then not a condition; empty if all rows are of one."""

    def metric_of(self, row: Row, name: str) -> tuple[str, str | None] | None:
        """Return the metric of a value, and the query in place of the row's; None if it has none."""
        del row  # for forms whose metrics depend on it
        found = self.values[name]
        return (found, None) if isinstance(found, str) else found

    def value_of(self, record: Record) -> tuple[str, dict[str, Any]] | None:
        """Return the field of a record's value, and fields that its metric implies; None if no row's."""
        for name, found in self.values.items():
            metric, query = (found, None) if isinstance(found, str) else found
            if metric == record.metric and query in {None, record.query}:
                return name, {}
        return None

    def records(self, row: Row, run_id: str) -> Iterator[Record]:
        """Yield the records of a row."""
        own, conditions = self._subject(row)
        label = own["format"]
        if getattr(row, "engine", "") and "engine" not in self.named:
            label = f"{label}[{row.engine}]"  # type: ignore[attr-defined]
        sentence, status = getattr(row, self.reason), self.status_of(row)
        for name in self.values:
            found, value = self.metric_of(row, name), getattr(row, name)
            is_common = not isinstance(self.values[name], str) and self.values[name][1] == ""
            if found is None or (value is None and not status) or (is_common and status and not value):
                continue
            metric, query = found
            samples = [*value] if isinstance(value, tuple) else [value]
            has_value = (not status or is_common) and bool(samples)
            if not (has_value or status):
                continue
            cache = {"cache": "warm"} if METRICS[metric].cached else {}
            yield Record(
                suite=self.suites[row.family] if self.suites else self.suite,  # type: ignore[attr-defined]
                format=label,
                engine=engine_of(label),
                dataset=own["dataset"],
                rows=own["rows"],
                columns=own["columns"],
                codec=None if own["codec"] in {"", _NO_CODEC} else own["codec"],
                level=None,
                conditions={"threads": self.threads, **cache, **conditions},
                metric=metric,
                unit=METRICS[metric].unit,
                value=float(statistics.median(samples)) if has_value else None,
                repeats=[float(each) for each in samples] if has_value else [],
                interval=None,
                status=CellStatus.VALUE if has_value else CellStatus(status),
                sentence="" if has_value and status else sentence,
                run_id=run_id,
                query=own["query"] if query is None else query,
            )

    def status_of(self, row: Row) -> str:
        """Return why a row has no values; empty if it has."""
        sentence = getattr(row, self.reason)
        usual = getattr(sentence, "status", "failed") if sentence else ""
        return str(getattr(row, "status", usual))

    def _subject(self, row: Row) -> tuple[dict[str, Any], dict[str, str]]:
        """Return the fields of all records of a row, and their conditions."""
        own = {"dataset": self.dataset, "rows": 0, "columns": 0, "codec": "", "query": ""}
        conditions = {}
        for each in self._subject_fields():
            name, value = self.named.get(each.name, each.name), getattr(row, each.name)
            if name in _OWN:
                own[name] = value
            elif value not in {each.default, ""} and name != "engine":
                conditions[name.replace("_", " ")] = _text(value)
        return own, conditions

    def _subject_fields(self) -> list[Field[Any]]:
        others = {*self.values, self.reason, "status", *(["family"] if self.suites else [])}
        return [each for each in fields(self.of) if each.name not in others]

    def rows(self, found: Iterable[Record]) -> list[Row]:
        """Return the rows of records, in order; records of other suites and metrics are left out."""
        rows: dict[tuple[tuple[str, Any], ...], dict[str, Any]] = {}
        common: dict[tuple[tuple[str, Any], ...], dict[str, Any]] = {}
        types = {each.name: str(each.type) for each in fields(self.of)}
        query = next((each.name for each in fields(self.of) if self._name(each.name) == "query"), "")
        for record in found:
            place = (
                self.value_of(record) if record.suite in {self.suite, *self.suites.values()} else None
            )
            if place is None:
                continue
            name, implied = place
            subject = {**self._facts(record), **implied}
            is_common = query and not isinstance(self.values[name], str)
            if is_common:
                subject.pop(query)
            row = (common if is_common else rows).setdefault(tuple(subject.items()), {})
            if not is_common:
                status = CellStatus.FAILED if record.value is not None else record.status
                row[self.reason] = row.get(self.reason) or Reason(record.sentence, status)
            if record.value is None:
                row.update({"status": record.status.value} if "status" in types else {})
            elif types[name].startswith("tuple"):
                row[name] = tuple(record.repeats)
            else:
                row[name] = int(record.value) if types[name].startswith("int") else record.value
        return [
            self.of(
                **dict(subject),
                **common.get(tuple(each for each in subject if each[0] != query), {}),
                **row,
            )
            for subject, row in rows.items()
        ]

    def earlier_rows(self, path: Path) -> list[Row]:
        """Return the rows of a file of JSON lines that earlier versions wrote.

        Raises
        ------
        InvalidResultsError
            If it contains something else.
        """
        import msgspec

        found = []
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            with content_of(f"{path}, line {number}:", InvalidResultsError, "no result of this study"):
                found.append(msgspec.json.decode(line, type=self.of))
        return found

    def earlier_facts(self, path: Path) -> dict[str, Any]:
        """Return the metadata in a file of JSON that earlier versions wrote."""
        raise InvalidResultsError(f"{path} contains no results of this study")

    def joined(self, earlier: Sequence[Row], recorded: Sequence[Row]) -> list[Row]:
        """Return the rows of an earlier file and of the records beside it."""
        return [*earlier, *recorded]

    def _name(self, of_row: str) -> str:
        return self.named.get(of_row, of_row)

    def _facts(self, record: Record) -> dict[str, Any]:
        """Return the fields of a row that name the cell."""
        families = {suite: name for name, suite in self.suites.items()}
        facts: dict[str, Any] = {"family": families[record.suite]} if families else {}
        for each in self._subject_fields():
            name = self._name(each.name)
            if name == "engine":
                facts[each.name] = record.engine
            elif name == "codec":
                facts[each.name] = record.codec or _NO_CODEC
            elif name in _OWN:
                facts[each.name] = getattr(record, name)
            elif (text := record.conditions.get(name.replace("_", " "))) is not None:
                facts[each.name] = _PARSERS[str(each.type)](text)
            elif each.default is MISSING:
                facts[each.name] = _PARSERS[str(each.type)]("") if str(each.type) == "str" else 0
        if "engine" in facts and "engine" not in self.named:
            facts["format"] = facts["format"].removesuffix(f"[{facts['engine']}]")
        return facts


def _text(value: Any) -> str:
    """Return a value as text that `_PARSERS` read to the same."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    short = f"{value:g}" if isinstance(value, float) else str(value)
    return short if not isinstance(value, float) or float(short) == value else repr(value)


class StudyFile(Generic[Row]):
    """File to which a study appends its rows as records.

    Parameters
    ----------
    form : StudyForm
        The form of the rows.
    out : Path
        A folder, made if missing. A name that ends in .csv is a table of the rows, as of earlier
        versions.
    """

    def __init__(self, form: StudyForm[Row], out: Path) -> None:
        self.form, self.out = form, out
        self.run_id = uuid.uuid4().hex
        self._rows: list[Row] = []
        self._written: set[tuple[object, ...]] = set()
        if out.suffix != ".csv":
            out.mkdir(parents=True, exist_ok=True)

    def append(self, row: Row) -> None:
        """Add a row; it is on disk when this returns."""
        if self.out.suffix == ".csv":
            self._rows.append(row)
            with write_atomically(self.out) as partial:
                partial.write_text(flat_csv.to_csv(self.form.of, self._rows), encoding="utf-8")
            return
        for record in self.form.records(row, self.run_id):
            # A value of all queries at once is in each of their rows.
            written = (records.key(record), record.value, len(record.repeats), record.sentence)
            if written not in self._written:
                self._written.add(written)
                records.append(self.out / RESULTS, record)

    def appended(self, row: Row) -> Row:
        """Add a row, and return it."""
        self.append(row)
        return row


def read(form: StudyForm[Row], path: Path) -> list[Row]:
    """Return the rows of a study: first of an earlier file, then of records, the last of a cell.

    Parameters
    ----------
    form : StudyForm
        Their form.
    path : Path
        A folder of results, a file of records, or a file of rows of earlier versions: CSV or JSON lines.

    Raises
    ------
    InvalidResultsError
        If there is none, or it contains something else.
    """
    if path.suffix == ".csv" and path.is_file():
        return flat_csv.read(form.of, path)
    if path.suffix == ".json" and path.is_file():
        return form.earlier_rows(path)
    folder = path if path.is_dir() else path.parent
    names = [form.earlier, RESULTS] if path.is_dir() else [path.name]
    paths = [folder / name for name in names if name and (folder / name).is_file()]
    if not paths:
        raise InvalidResultsError(f"{path / names[-1] if path.is_dir() else path} does not exist")
    earlier, recorded = list[Row](), list[Row]()
    for each in paths:
        if each.name == form.earlier:
            earlier = form.earlier_rows(each)
        else:
            last = {records.key(record): record for record in records.read(each)}
            recorded = form.rows(last.values())
    return form.joined(earlier, recorded)

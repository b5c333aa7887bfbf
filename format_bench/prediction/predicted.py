"""Predicted records of a table, from measured tables that resemble it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from adapter_core.errors import FormatBenchError, NoCandidateError
from format_bench.families.operations import operations_of, registry_of
from format_bench.prediction.model import FEWEST_TABLES, Neighbourhood
from format_bench.prediction.table_profile import BLOCK_ROWS, TableProfile, profile_of
from format_bench.results.candidates import Configuration, DatasetSize, candidates_of
from format_bench.results.display.text import plural
from format_bench.results.load import Results, suite_of
from format_bench.results.metrics import METRICS, Measure, Noise
from format_bench.results.status import CellStatus
from format_bench.results.suites import FAMILIES, family_of_suite

if TYPE_CHECKING:
    from adapter_core.kinds import Kind
    from format_bench.results.records import Record

FAMILY = FAMILIES["tables"]

SUITE = FAMILY.suites[0].name

# Tables that are named as the nearest ones.
NEAREST = 3

# Noise of metrics whose values grow with a table; of others the nearest table's value is taken.
_GROWING = {Noise.WALL_TIME, Noise.CPU_TIME, Noise.MEMORY, Noise.SIZE}

Cell = tuple[Configuration, Measure]


@dataclass(frozen=True)
class MeasuredTable:
    """A table with its profile and its records."""

    name: str
    """The data set with its rows, and with the results if there are several."""
    profile: TableProfile
    cells: Mapping[Cell, Record]


@dataclass
class MeasuredTables:
    """All measured tables of some results."""

    tables: list[MeasuredTable] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    """Sentences on tables that have no profile."""

    @classmethod
    def of(cls, sources: Iterable[Results]) -> MeasuredTables:
        """Return the tables of results of the suite of usual formats; generated ones are made again."""
        found, sources = cls(), [*sources]
        for results in sources:
            records = [each for each in results.records if suite_of(each) == SUITE and _is_plain(each)]
            by_table: defaultdict[DatasetSize, dict[Cell, Record]] = defaultdict(dict)
            for candidate in candidates_of(records):
                for (table, measure), record in candidate.cells.items():
                    by_table[table][candidate.configuration, measure] = record
            for table, cells in by_table.items():
                prefix = f"{results.name}: " if len(sources) > 1 else ""
                name = f"{prefix}{table.dataset}, {table.rows:,} rows"
                try:
                    profile = _profile(table)
                except FormatBenchError as error:
                    found.left_out.append(f"{name}: {error}")
                    continue
                found.tables.append(MeasuredTable(name, profile, cells))
        return found


def _is_plain(record: Record) -> bool:
    """Return whether a record is under no further condition than the page cache's state."""
    return record.conditions.keys() <= {"cache", "threads", "settings"} and record.threads == "all"


def _profile(table: DatasetSize) -> TableProfile:
    operations = operations_of(FAMILY)
    if table.dataset not in operations.datasets():
        raise NoCandidateError("an own table, whose file is not at hand")
    return profile_of(operations.generate(table.dataset, min(table.rows, BLOCK_ROWS)), table.rows)


@dataclass(frozen=True)
class Prediction:
    """Predicted records of a table, and their evidence."""

    results: Results
    nearest: list[tuple[str, float]]
    """Names of the tables that resemble it most, with their distances."""
    errors: Mapping[Measure, float]
    """Factor by which four of five predictions of a measure were off at most, median over formats."""
    tables: int


def predict(tables: Sequence[MeasuredTable], profile: TableProfile, name: str) -> Prediction:
    """Return the prediction for a table.

    Parameters
    ----------
    tables : sequence of MeasuredTable
        The measured ones.
    profile : TableProfile
        The table.
    name : str
        Its name, for the records.

    Raises
    ------
    NoCandidateError
        If too few tables have been measured.
    """
    if len(tables) < FEWEST_TABLES:
        number = plural(len(tables), "table")
        raise NoCandidateError(
            f"{number} of the suite {SUITE} are too few to predict another one, {FEWEST_TABLES} are "
            "needed; format-bench run --datasets eq,str,core,log measures some"
        )
    space = Neighbourhood([each.profile for each in tables])
    distances = space.distances(profile)
    order = sorted(range(len(tables)), key=lambda number: distances[number])
    found: list[Record] = []
    errors: defaultdict[Measure, list[float]] = defaultdict(list)
    for configuration, measure in dict.fromkeys(cell for each in tables for cell in each.cells):
        cell = configuration, measure
        cells = {n: tables[n].cells[cell] for n in order if cell in tables[n].cells}
        record = _predicted(cells, tables, space, profile, measure)
        if record is None:
            continue
        if refusal := _refusal(configuration.format, profile.kinds):
            record = replace(
                record, value=None, interval=None, status=CellStatus.UNSUPPORTED, sentence=refusal
            )
        elif record.interval and record.value:
            errors[measure].append(record.interval[1] / record.value)
        found.append(replace(record, dataset=name, rows=profile.rows, columns=profile.columns))
    middle = {each: sorted(factors)[len(factors) // 2] for each, factors in errors.items()}
    nearest = [(tables[number].name, float(distances[number])) for number in order[:NEAREST]]
    return Prediction(Results(f"{name}, predicted", found, []), nearest, middle, len(tables))


def _predicted(
    cells: Mapping[int, Record],
    tables: Sequence[MeasuredTable],
    space: Neighbourhood,
    profile: TableProfile,
    measure: Measure,
) -> Record | None:
    """Return the record of a cell from records of other tables, the nearest first."""
    nearest = next(iter(cells.values()))
    plain: dict[str, Any] = {"repeats": [], "interval": None, "round_sizes": [], "rounds": 1}
    plain |= {"cpu_repeats": [], "loop_repeats": [], "environment": ""}
    if METRICS[measure.metric].noise not in _GROWING or METRICS[measure.metric].unit == "ratio":
        return replace(nearest, **plain)
    logs = {
        number: math.log(each.value / tables[number].profile.extent(each.unit))
        for number, each in cells.items()
        if each.value
    }
    found = space.predict(logs, profile)
    if found is None:
        return None
    value = math.exp(found.log) * profile.extent(nearest.unit)
    factor = math.exp(found.error)
    facts = plain | {"value": value, "interval": [value / factor, value * factor]}
    sentence = f"predicted from {plural(len(logs), 'table')}"
    return replace(nearest, **facts, status=CellStatus.VALUE, sentence=sentence)


def _refusal(label: str, kinds: frozenset[Kind]) -> str:
    """Return why a format cannot hold columns of these kinds, as it declares; empty if it may."""
    registry = registry_of(family_of_suite(SUITE))
    if label not in registry.names():
        return ""
    try:
        adapter = registry.find(label)
    except FormatBenchError as error:
        return str(error)
    refused = {str(kind): reason for kind, reason in adapter.refuses.items()}
    kind = next((each for each in sorted(kinds) if each in refused), None)
    return "" if kind is None else str(adapter.refusal(f"{kind}: {refused[kind]}"))

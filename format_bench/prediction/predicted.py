"""Predicted records of a table, from measured tables that resemble it."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from adapter_core.errors import FormatBenchError, NoCandidateError
from adapter_core.kinds import Kind
from format_bench.families.operations import operations_of, registry_of
from format_bench.prediction.model import FEWEST_TABLES, Fit, Neighbourhood, log_value
from format_bench.prediction.table_profile import BLOCK_ROWS, TableProfile, profile_of
from format_bench.results.candidates import Configuration, DatasetSize, candidates_of
from format_bench.results.display.text import plural
from format_bench.results.load import Results, suite_of
from format_bench.results.metrics import METRICS, Measure, Noise
from format_bench.results.records import Record
from format_bench.results.status import CellStatus
from format_bench.results.suites import FAMILIES, family_of_suite

FAMILY = FAMILIES["tables"]

SUITE = FAMILY.suites[0].name

# Rows may be so many times more, or fewer, than those of measured tables: costs of opening a file and
# of each column, which small tables consist of, do not grow with them.
FAR = 3.0

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
                    profile = _profile(table, results.data.get(table.dataset, {}).get("profile"))
                except FormatBenchError as error:
                    found.left_out.append(f"{name}: {error}")
                    continue
                found.tables.append(MeasuredTable(name, profile, cells))
        return found


def _is_plain(record: Record) -> bool:
    """Return whether a record is under no further condition than the page cache's state."""
    return record.conditions.keys() <= {"cache", "threads", "settings"} and record.threads == "all"


def _profile(table: DatasetSize, own: Any) -> TableProfile:
    """Return the profile of a generated table, or of an own one from the metadata of its run."""
    operations = operations_of(FAMILY)
    if table.dataset in operations.datasets():
        return profile_of(operations.generate(table.dataset, min(table.rows, BLOCK_ROWS)), table.rows)
    if own is None:
        raise NoCandidateError("an own table, measured without a profile")
    found = TableProfile.from_dict(own)
    if found.rows != table.rows:
        raise NoCandidateError("a sample of an own table, whose profile is of all rows")
    return found


@dataclass(frozen=True)
class CellModel:
    """A measure of a configuration on measured tables, and how it follows from a profile."""

    configuration: Configuration
    measure: Measure
    records: Mapping[int, Record]
    """By the number of the table."""
    fit: Fit | None
    """None of a count: the nearest table's is taken."""

    def nearest(self, order: Iterable[int]) -> Record:
        """Return the record of the first table in order that has one."""
        return next(self.records[number] for number in order if number in self.records)


@dataclass(frozen=True)
class Prediction:
    """Predicted records of a table, and their evidence."""

    results: Results
    nearest: list[tuple[str, float]]
    """Names of the tables that resemble it most, with their distances."""
    errors: Mapping[Measure, float]
    """Factor by which four of five predictions of a measure were off at most, median over formats."""
    tables: int
    measured_rows: tuple[int, int]
    """Fewest and most rows of a measured table."""
    is_far: bool
    """Whether the table has so few or so many rows that the errors are unreliable."""


class Predictor:
    """Values of any table, by a regression on measured ones.

    Parameters
    ----------
    tables : sequence of MeasuredTable
        The measured ones.

    Raises
    ------
    NoCandidateError
        If they are too few.
    """

    def __init__(self, tables: Sequence[MeasuredTable]) -> None:
        if len(tables) < FEWEST_TABLES:
            number = plural(len(tables), "table")
            raise NoCandidateError(
                f"{number} of the suite {SUITE} are too few to predict another one, {FEWEST_TABLES} are "
                "needed; format-bench run --datasets eq,str,core,log measures some"
            )
        self.tables = tables
        self.space = Neighbourhood([each.profile for each in tables])
        wanted = dict.fromkeys(cell for each in tables for cell in each.cells)
        self.cells = [found for cell in wanted if (found := self._cell(*cell))]

    def _cell(self, configuration: Configuration, measure: Measure) -> CellModel | None:
        """Return the model of a cell; None of a value that too few tables have."""
        cells = (
            (number, each.cells.get((configuration, measure))) for number, each in enumerate(self.tables)
        )
        records = {number: record for number, record in cells if record}
        if METRICS[measure.metric].noise not in _GROWING or METRICS[measure.metric].unit == "ratio":
            return CellModel(configuration, measure, records, None)
        fit = self.space.fit(
            {
                number: math.log(each.value / self.tables[number].profile.extent(each.unit))
                for number, each in records.items()
                if each.value
            }
        )
        return CellModel(configuration, measure, records, fit) if fit else None

    def predict(self, profile: TableProfile, name: str) -> Prediction:
        """Return the prediction for a table, under a name for its records."""
        place = self.space.place(profile)
        distances, covariances = self.space.distances(place), self.space.covariances(place)
        order = sorted(range(len(self.tables)), key=distances.__getitem__)
        labels = {each.configuration.format for each in self.cells}
        refusals = {label: refusal_of(label, profile.kinds) for label in labels}
        found: list[Record] = []
        errors: defaultdict[Measure, list[float]] = defaultdict(list)
        for cell in self.cells:
            facts: dict[str, Any] = {"repeats": [], "interval": None, "round_sizes": [], "rounds": 1}
            facts |= {"cpu_repeats": [], "loop_repeats": [], "environment": ""}
            if refusal := refusals[cell.configuration.format]:
                facts |= {"value": None, "status": CellStatus.UNSUPPORTED, "sentence": refusal}
            elif cell.fit:
                log = log_value(cell.fit.centre, covariances, cell.fit.weights)
                value = math.exp(log) * profile.extent(cell.measure.unit)
                factor = math.exp(cell.fit.error)
                known = plural(sum(map(bool, cell.fit.weights)), "table")
                facts |= {"value": value, "interval": [value / factor, value * factor]}
                facts |= {"status": CellStatus.VALUE, "sentence": f"predicted from {known}"}
                errors[cell.measure].append(factor)
            facts |= {"dataset": name, "rows": profile.rows, "columns": profile.columns}
            found.append(replace(cell.nearest(order), **facts))
        middle = {each: sorted(factors)[len(factors) // 2] for each, factors in errors.items()}
        nearest = [(self.tables[number].name, distances[number]) for number in order[:NEAREST]]
        least, most = self.measured_rows
        is_far = not least / FAR <= profile.rows <= most * FAR
        results = Results(f"{name}, predicted", found, [])
        return Prediction(results, nearest, middle, len(self.tables), (least, most), is_far)

    @property
    def measured_rows(self) -> tuple[int, int]:
        """Fewest and most rows of a measured table."""
        rows = [each.profile.rows for each in self.tables]
        return min(rows), max(rows)


def refusal_of(label: str, kinds: Iterable[Kind]) -> str:
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

"""Promise of entries: the score that earlier measurements lead one to expect, before any of these data.

Where results beside the race's have enough tables, the scores of their configurations are predicted by
the profile of the user's table (`format_bench.prediction`). Other sources are the measurements that the
package contains (typical_costs.csv, by `python -m tools.typical_costs`) and results of the same user in
folders beside the race's. Both say how many times the best an entry was in each measure. Of the shipped
ones those count most whose columns are most like the user's: a table of text has other winners than one
of numbers.
"""

from __future__ import annotations

import functools
import math
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from adapter_core import FormatBenchError, Kind
from data_generator.user.summary import ArrayDescription, TableDescription
from format_bench.families.operations import operations_of
from format_bench.instruments import isolation
from format_bench.prediction.model import FEWEST_TABLES
from format_bench.prediction.predicted import FAMILY, MeasuredTables, Predictor
from format_bench.prediction.table_profile import profile_of
from format_bench.recommendation import formulas
from format_bench.recommendation.scoring import Weights, shift_of
from format_bench.results import flat_csv, records
from format_bench.results.candidates import Configuration
from format_bench.results.load import RESULTS, load
from format_bench.results.metrics import METRICS, Measure
from format_bench.results.records import Record
from format_bench.results.status import CellStatus
from format_bench.results.suites import Family, family_of_suite
from format_bench.runner.user_data import Prepared

TEXT, NUMBERS, PIXELS = "text", "numbers", "pixels"
"""Kinds of data that the shipped measurements distinguish."""

_TEXTS = {Kind.TEXT, Kind.CATEGORY}

# Earlier results of the user that are read, the newest ones: reading thousands of records takes longer
# than a better order saves.
MOST_FILES, MOST_BYTES = 5, 5_000_000

# Wall time of a prediction, and its share of the time left: a race that is late starts without one.
# Chosen, not measured.
PREDICTION_SECONDS, PREDICTION_SHARE = 3.0, 0.1


@dataclass(frozen=True)
class TypicalCost:
    """Measured factor of a configuration to the best of its family, on data of one kind."""

    family: str
    format: str
    """Label of the adapter."""
    codec: str
    """Empty if none."""
    level: int
    """-1 without one."""
    metric: str
    """Name of the measure on the command line."""
    kind: str
    """`TEXT`, `NUMBERS` or `PIXELS`."""
    factor: float
    dataset: str
    rows: int
    date: str

    @property
    def configuration(self) -> Configuration:
        """The configuration."""
        return Configuration(self.format, self.codec or None, None if self.level < 0 else self.level)


Logs = Mapping[Configuration, Mapping[Measure, float]]
"""Logarithms of factors to the best, by configuration and measure."""


class Promise:
    """Expected scores of entries by earlier measurements.

    Parameters
    ----------
    weights : Weights
        Weights of the measures.
    sources : iterable
        Logarithms of factors, each source with its weight.
    predicted : mapping, optional
        Logarithms of factors that are predicted for these data: they count instead of the sources.
    """

    def __init__(
        self, weights: Weights, sources: Iterable[tuple[float, Logs]], predicted: Logs | None = None
    ) -> None:
        self._weights, self._sources = weights, [each for each in sources if each[0] > 0]
        self._by_label: dict[str, float] = {}
        for _, logs in self._sources:
            for configuration in logs:
                known = self._of(configuration)
                before = self._by_label.get(configuration.format, math.inf)
                if known is not None:
                    self._by_label[configuration.format] = min(before, known)
        # A format without any earlier result is in the middle of the others.
        self._middle = statistics.median(self._by_label.values() or [0.0])
        self._predicted = {
            entry: score
            for entry, logs in (predicted or {}).items()
            if (score := self._score(logs)) is not None
        }
        # Factors to the best of a few formats are smaller than to the best of many with all codecs.
        scales = [
            known - score
            for entry, score in self._predicted.items()
            if (known := self._of(entry)) is not None
        ]
        self._scale = statistics.median(scales or [0.0])

    @property
    def is_predicted(self) -> bool:
        """Whether the order of some entries follows from the profile of the data."""
        return bool(self._predicted)

    def of(self, entry: Configuration) -> float:
        """Return the logarithm of the expected score; of an unknown codec, its format's."""
        if entry in self._predicted:
            return self._predicted[entry] + self._scale
        known = self._of(entry)
        return self._by_label.get(entry.format, self._middle) if known is None else known

    def knows(self, label: str) -> bool:
        """Return whether a format has any earlier result."""
        return label in self._by_label

    def _of(self, entry: Configuration) -> float | None:
        found = [
            (share, score)
            for share, logs in self._sources
            if (score := self._score(logs.get(entry, {}))) is not None
        ]
        total = sum(share for share, _ in found)
        return sum(share * score for share, score in found) / total if found else None

    def _score(self, logs: Mapping[Measure, float]) -> float | None:
        """Return the weighted mean of the measures that are known; None without any."""
        known = [(weight, logs[each]) for each, weight in self._weights.items() if each in logs]
        total = sum(weight for weight, _ in known)
        return sum(weight * log for weight, log in known) / total if total else None


def promise_for(
    own: Prepared, family: Family, weights: Weights, beside: Path, left_seconds: float
) -> Promise:
    """Return the promise of the entries of a race.

    Parameters
    ----------
    own : Prepared
        The data.
    family : Family
        Their family.
    weights : Weights
        Weights of the measures.
    beside : pathlib.Path
        Folder whose folders may contain results of other data.
    left_seconds : float
        Wall time of the race that is left; without any, nothing is predicted.
    """
    shares = kinds_of_data(own)
    shipped = [(share, typical(family.name).get(kind, {})) for kind, share in shares.items()]
    sources = [*shipped, *((0.5, each) for each in _earlier(family, beside))]
    return Promise(weights, sources, _predicted(own, family, beside, left_seconds))


def _predicted(own: Prepared, family: Family, beside: Path, left_seconds: float) -> Logs:
    """Return the logarithms of predicted factors; none without enough measured tables, or in time."""
    places = [each.parent for each in _newest(beside.glob(f"*/{RESULTS}"))]
    limit = min(PREDICTION_SECONDS, PREDICTION_SHARE * left_seconds)
    if family is not FAMILY or not places or limit <= 0:
        return {}
    # In a process of its own, which ends at the limit: tables are made again to be profiled.
    outcome = isolation.run(predicted_logs, own.place.value[0], own.rows, places, limit_seconds=limit)
    found: Logs = {} if outcome.status else outcome.value
    return found


def predicted_logs(
    stored: Path, rows: int, places: Iterable[Path]
) -> dict[Configuration, dict[Measure, float]]:
    """Return the logarithms of factors that measured tables lead one to expect of a stored table.

    Parameters
    ----------
    stored : pathlib.Path
        The table, as the runner loads it.
    rows : int
        Its rows.
    places : iterable of pathlib.Path
        Folders of results.
    """
    sources = []
    for place in places:
        try:
            sources.append(load(place))
        except (FormatBenchError, OSError):
            continue  # what is wrong with other results is no matter of this race
    tables = MeasuredTables.of(sources).tables
    if len(tables) < FEWEST_TABLES:
        return {}
    profile = profile_of(operations_of(FAMILY).load(stored), rows)
    return logs_of(Predictor(tables).predict(profile, "own").results.records)


def kinds_of_data(own: Prepared) -> dict[str, float]:
    """Return the shares of the kinds of data, by number of columns."""
    facts = own.description
    if isinstance(facts, TableDescription):
        texts = statistics.fmean(each.kind in _TEXTS for each in facts.columns)
        return {TEXT: texts, NUMBERS: 1 - texts}
    return {NUMBERS if isinstance(facts, ArrayDescription) else PIXELS: 1.0}


@functools.cache
def typical(family: str) -> dict[str, dict[Configuration, dict[Measure, float]]]:
    """Return the shipped factors of a family by kind of data."""
    file = resources.files("format_bench.results").joinpath("typical_costs.csv")
    found: dict[str, dict[Configuration, dict[Measure, float]]] = {}
    for each in flat_csv.from_csv(TypicalCost, file.read_text(encoding="utf-8")):
        if each.family == family:
            logs = found.setdefault(each.kind, {}).setdefault(each.configuration, {})
            logs[Measure.named(each.metric)] = math.log(each.factor)
    return found


def _earlier(family: Family, beside: Path) -> list[Logs]:
    """Return the logarithms of factors in the newest results of a folder's folders, one for each."""
    places = [each for each in beside.glob(f"*/{RESULTS}") if each.stat().st_size < MOST_BYTES]
    found: list[Logs] = []
    for place in _newest(places):
        try:
            known = records.read(place)
        except (FormatBenchError, OSError):
            continue  # what is wrong with other results is no matter of this race
        if logs := logs_of(each for each in known if family_of_suite(each.suite) is family):
            found.append(logs)
    return found


def _newest(places: Iterable[Path]) -> list[Path]:
    return sorted(places, key=lambda each: -each.stat().st_mtime)[:MOST_FILES]


def logs_of(found: Iterable[Record]) -> dict[Configuration, dict[Measure, float]]:
    """Return the logarithm of each configuration's mean factor to the best, on the largest data alike.

    Of each data set and size the best counts among all configurations there, so a size that a few were
    measured on says little, and less than two say nothing.
    """
    cells: dict[tuple[str, int, Measure], dict[Configuration, float]] = defaultdict(dict)
    ended: list[tuple[tuple[str, int, Measure], Configuration]] = []
    for each in found:
        if each.query or METRICS[each.metric].unit == "ratio":
            continue
        cell, entry = (each.place, each.rows, Measure.of(each).comparable), Configuration.of(each)
        if each.value is not None:
            cells[cell][entry] = each.value
        elif each.status in {CellStatus.TIMED_OUT, CellStatus.FAILED}:
            ended.append((cell, entry))
    for cell, entry in ended:  # worse than all that have ended well
        if cells[cell]:
            cells[cell].setdefault(entry, 2 * max(cells[cell].values()))
    logs: dict[Configuration, dict[Measure, list[float]]] = defaultdict(lambda: defaultdict(list))
    for (_, _, measure), values in cells.items():
        if len(values) > 1:
            best = min(values.values())
            for entry, value in values.items():
                # The data that are raced may have more rows, where less time is noticed.
                log = formulas.log_factor([value], [best], shift_of(measure) / 10)
                logs[entry][measure].append(log)
    return {
        entry: {measure: statistics.fmean(several) for measure, several in by_measure.items()}
        for entry, by_measure in logs.items()
    }

"""Weighted scores of candidates, and the bands that noise may move them in.

For each cell the factor is (c + x) / (c + best), as ClickBench has it for its queries, with c = 10 ms
(https://github.com/ClickHouse/ClickBench, "relative time"): near zero the difference counts and not the
ratio, and a value of zero does no harm. Factors are combined by geometric means, over data sets and
then, weighted, over measures. There the best cancels out, so the order of two candidates does not
depend on the others.

Read and save times may include the transfer of files over a link, or from and to a disk, size / speed: a
file is fetched and then read, or saved and then sent. Only times of files in the page cache are added
to: a cold read and a durable save contain the transfer from and to the disk of the machine that was
measured.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from adapter_core.errors import InvalidWeightError
from format_bench.recommendation import formulas
from format_bench.results.candidates import Candidate, DatasetSize
from format_bench.results.metrics import METRICS, Measure
from format_bench.results.noise import RunNoise
from format_bench.results.records import Record

ESTIMATES = "estimates"
"""Source of the bands of values that are estimated from samples."""

PREDICTIONS = "predictions"
"""Source of the bands of values that are predicted from other tables."""

# Only their proportions matter.
Weights = dict[Measure, float]


def numbers(
    texts: Iterable[str], option: str, wanted: str, *, takes_zero: bool
) -> Iterator[tuple[str, str, float]]:
    """Yield each text such as "read_time=3" with its name and its number, which is finite.

    Parameters
    ----------
    texts : iterable of str
        Values of an option.
    option : str
        The option.
    wanted : str
        The form of the texts, for the message.
    takes_zero : bool
        A number of 0 is right.

    Raises
    ------
    InvalidWeightError
        If a text has another form, or a number that is negative, or 0 if that is not right.
    """
    for text in texts:
        name, equals, number = (part.strip() for part in text.partition("="))
        if not (name and equals):
            raise InvalidWeightError(f"{option} {text}: {wanted}")
        try:
            found = float(number)
        except ValueError:
            found = math.nan
        if not (math.isfinite(found) and (found > 0 or (takes_zero and found == 0))):
            kind = "from 0 on" if takes_zero else "above 0"
            raise InvalidWeightError(f"{option} {text}: {number or 'nothing'} is not a number {kind}")
        yield text, name, found


def parsed(texts: Iterable[str]) -> Weights:
    """Return the weights of texts such as "read_time=3".

    Raises
    ------
    InvalidWeightError
        If a text has another form, a number below 0, or a metric that has a weight already.
    UnknownNameError
        If a metric does not exist.
    """
    weights: Weights = {}
    wanted = "a metric and its weight are wanted, as in read_time=3"
    for text, name, number in numbers(texts, "--weight", wanted, takes_zero=True):
        measure = Measure.named(name)
        if measure in weights:
            raise InvalidWeightError(
                f"--weight {text}: {measure.phrase} has a weight already, {weights[measure]:g}"
            )
        weights[measure] = number
    return weights


def checked(weights: Weights) -> Weights:
    """Return the weights above 0, which are those that count.

    Raises
    ------
    InvalidWeightError
        If a weight is not a finite number from 0 on, or if none is above 0.
    """
    for measure, weight in weights.items():
        if not (math.isfinite(weight) and weight >= 0):
            raise InvalidWeightError(
                f"the weight of {measure.phrase} is {weight:g}; it must be a number from 0 on"
            )
    counting = {measure.comparable: weight for measure, weight in weights.items() if weight > 0}
    if not counting:
        raise InvalidWeightError("no metric has a weight above 0, so there is nothing to choose by")
    return counting


SIZE, READ_TIME, SAVE_TIME = Measure("size"), Measure("read time"), Measure("save time")

BYTES_PER_MEGABYTE = 1_000_000


class Speeds(NamedTuple):
    """Speeds of a link or a disk, in bytes per second; None for no transfer."""

    read: float | None = None
    """Files are fetched before they are read."""
    save: float | None = None
    """Files are sent after they are saved."""

    @classmethod
    def of_megabytes(cls, read: float | None, save: float | None) -> Speeds:
        """Return the speeds of numbers in MB/s.

        Raises
        ------
        InvalidWeightError
            If a number is not positive.
        """
        for each in (read, save):
            # Not a number fails every comparison.
            if each is not None and not 0 < each < float("inf"):
                raise InvalidWeightError(f"a speed of {each:g} MB/s; it must be a number above 0")
        return cls(*(each and each * BYTES_PER_MEGABYTE for each in (read, save)))

    def speed_of(self, measure: Measure) -> float | None:
        """Return the speed of the transfer that a measure includes; None without a transfer."""
        return {READ_TIME: self.read, SAVE_TIME: self.save}.get(measure)

    def needed(self, measures: Iterable[Measure]) -> list[Measure]:
        """Return the measures that a candidate needs; a transfer needs the size, too."""
        found = list(measures)
        if any(self.speed_of(each) for each in found) and SIZE not in found:
            found.append(SIZE)
        return found

    def value(self, candidate: Candidate, dataset: DatasetSize, measure: Measure) -> float | None:
        """Return the value of a cell with its transfer; None if it, or the size, is empty."""
        value, speed = candidate.value(dataset, measure), self.speed_of(measure)
        if value is None or speed is None:
            return value
        size = candidate.value(dataset, SIZE)
        return None if size is None else formulas.transferred(value, size, speed)


NO_TRANSFER = Speeds()


def shift_of(measure: Measure) -> float:
    """Return c, in the unit of the measure."""
    return METRICS[measure.metric].shift


@dataclass(frozen=True)
class Scoring:
    """Weights, and the best values that scores are relative to."""

    weights: Weights
    datasets: dict[Measure, list[DatasetSize]]
    """The data sets with any value of a measure."""
    best: dict[Measure, list[float]]
    """The smallest value of each measure on each of its data sets."""
    speeds: Speeds = NO_TRANSFER
    """Transfers that times include."""

    @classmethod
    def of(
        cls,
        candidates: list[Candidate],
        weights: Weights,
        datasets: dict[Measure, list[DatasetSize]],
        speeds: Speeds = NO_TRANSFER,
    ) -> Scoring:
        """Return the scoring for candidates that have a value in every cell."""
        found = cls(weights, datasets, {}, speeds)
        for measure in datasets:
            columns = zip(*(found.values(each, measure) for each in candidates), strict=True)
            found.best[measure] = [min(values) for values in columns]
        return found

    def values(self, candidate: Candidate, measure: Measure) -> list[float]:
        """Return the values of a candidate that has all of them, with their transfers."""
        found = (self.speeds.value(candidate, each, measure) for each in self.datasets[measure])
        return [value for value in found if value is not None]

    def logs(self, candidate: Candidate) -> dict[Measure, float]:
        """Return the logarithm of the candidate's factor for each measure."""
        return {
            measure: formulas.log_factor(self.values(candidate, measure), best, shift_of(measure))
            for measure, best in self.best.items()
        }

    def score(self, candidate: Candidate) -> float:
        """Return the weighted factor: 1 if the candidate is the best of everything."""
        return self.weighted(self.logs(candidate))

    def band(self, candidate: Candidate, bands: Bands) -> formulas.Band:
        """Return the scores with all values at the lower, and at the upper end of their bands."""
        # Values do not all err to the same side, so ties are rather too many than too few.
        ends = []
        for end in (0, 1):
            logs = {
                measure: formulas.log_factor(
                    [
                        _transferred_band(candidate, dataset, measure, self.speeds, bands)[end]
                        for dataset in datasets
                    ],
                    self.best[measure],
                    shift_of(measure),
                )
                for measure, datasets in self.datasets.items()
            }
            ends.append(self.weighted(logs))
        return ends[0], ends[1]

    def weighted(self, logs: dict[Measure, float]) -> float:
        """Return the score of logarithms of factors."""
        return formulas.weighted([logs[each] for each in self.weights], [*self.weights.values()])

    def ratios(self, candidate: Candidate) -> dict[Measure, float | None]:
        """Return the ratios to the best, geometric means over data sets; None if the best is 0."""
        return {
            measure: formulas.times_best(self.values(candidate, measure), best)
            for measure, best in self.best.items()
        }


@dataclass(frozen=True)
class Bands:
    """Bands of values that noise allows, by the rule for ties (`format_bench.results.marks`)."""

    noise: RunNoise
    """Noise by the rounds of the run."""

    def own(self, record: Record) -> formulas.Band | None:
        """Return the band by the rounds of the run; None if they do not show any."""
        noise = self.noise.of_cell(record)
        if noise is None:
            return None
        # Two bands touch where values differ by the noise.
        half, value = math.sqrt(1 + noise), record.value or 0.0
        return value / half, value * half

    def of(self, record: Record) -> formulas.Band:
        """Return the lower and the upper end of the values that noise allows for a cell."""
        value = record.value or 0.0
        low, high = self.own(record) or record.interval or (value, value)
        return low, high


def _transferred_band(
    candidate: Candidate, dataset: DatasetSize, measure: Measure, speeds: Speeds, bands: Bands
) -> formulas.Band:
    """Return a cell's value range including transfer time."""
    low, high = bands.of(candidate.cells[dataset, measure])
    speed = speeds.speed_of(measure)
    if speed is None:
        return low, high
    least, most = bands.of(candidate.cells[dataset, SIZE])
    return formulas.transferred(low, least, speed), formulas.transferred(high, most, speed)


def noise_source(records: Iterable[Record], bands: Bands) -> str:
    """Return the source of the bands: "rounds", "intervals", or "unknown".

    It is unknown where a time has a single sample.
    """
    # Sizes and counts have no intervals, and need none.
    timed = [each for each in records if each.unit == "seconds"]
    if timed and all(bands.own(each) for each in timed):
        return "rounds"
    return "unknown" if any(each.interval is None for each in timed) else "intervals"

"""Comparison of two results: ratios of medians, agreement of orders, differences of metadata, caveats.

Each median lies in an interval of order statistics (`instruments.intervals`; Le Boudec 2010). The
samples of two results are independent, so both medians lie in theirs with the product of the
confidences, and their ratio then between (lower end of B) / (upper end of A) and the opposite. That
assumes no distribution and no equal variance; it is wider than need be.

Times and sizes do not grow in one proportion with the rows, but the order of the formats changes less.
So where two results have different numbers of rows, each value is divided by the geometric mean of all
formats that both have. The ratio of two such values compares a format's places among the others.

Orders are compared by rank correlations (C. Spearman: The Proof and Measurement of Association between
Two Things, American Journal of Psychology 15, 1904; M. G. Kendall: The Treatment of Ties in Ranking
Problems, Biometrika 33, 1945, for tau-b): the ranks of the formats in each measure. The order of a few
formats in one query says little: of four there are 24. The order of the queries in one format, and of
all cells, says more.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from statistics import fmean
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from adapter_core.errors import NoCommonCellsError
from format_bench.instruments.intervals import Interval, median_interval
from format_bench.results.candidates import Candidate, Configuration, DatasetSize, candidates_of
from format_bench.results.disturbance import Disturbance
from format_bench.results.environments import mixture
from format_bench.results.load import Results, suite_of
from format_bench.results.metrics import Measure
from format_bench.results.noise import RunNoise

if TYPE_CHECKING:
    import numpy as np

    from format_bench.results.records import Record

    Key = TypeVar("Key", bound=Hashable)

# Formats of a mean; one alone is always at its own mean.
FEWEST_FOR_MEAN = 2

# Values of a correlation; of two it is 1 or -1, whatever they are.
FEWEST_RANKED = 3

# Smallest difference of ranks that is reported.
NOTABLE_RANKS = 2

# Confidence of two intervals of 95 %, rounded; a lower one is a caveat.
CONFIDENT = 0.9


class PairedDataset(NamedTuple):
    """A data set that both results have, perhaps with different numbers of rows."""

    suite: str
    name: str
    rows_a: int
    rows_b: int

    @property
    def same_rows(self) -> bool:
        """Whether values compare directly."""
        return self.rows_a == self.rows_b


class Pair(NamedTuple):
    """Two cells with values, of the same configuration and measure."""

    dataset: PairedDataset
    configuration: Configuration
    measure: Measure
    a: Record
    b: Record

    @property
    def values(self) -> tuple[float, float]:
        """The values in A and in B."""
        return self.a.value or 0.0, self.b.value or 0.0

    @property
    def all_queries(self) -> Measure:
        """The measure of no single query."""
        return self.measure._replace(query="")


class Significance(StrEnum):
    """Significance of a difference."""

    REAL = "real"
    """The interval excludes 1, and the difference is beyond the noise that the rounds of both show."""
    NOISE = "noise"
    UNCLEAR = "unclear"
    """At least one of the values is a single sample of an inexact metric."""


@dataclass(frozen=True)
class Ratio:
    """B / A of one pair."""

    pair: Pair
    value: float | None
    """None if A is 0 and B is not; 1 if both are."""
    low: float | None
    high: float | None
    """Ends of the interval; None if a value is a single sample, or an end is not finite."""
    confidence: float | None
    """Lower bound of the interval's confidence."""
    significance: Significance
    relative: bool
    """Whether both values were first divided by the geometric mean of the common formats."""


class Agreement(NamedTuple):
    """Correlations of two orders in one measure."""

    suite: str
    measure: Measure
    dataset: str
    """Data set of an order of formats; empty if by the geometric mean over all common ones."""
    configuration: Configuration | None
    """Configuration of an order of queries; None if of all cells of all configurations together."""
    cells: int
    """Formats, or cells of queries, in the order."""
    spearman: float | None
    kendall_tau_b: float | None


class Disagreement(NamedTuple):
    """A configuration whose ranks differ."""

    dataset: PairedDataset
    measure: Measure
    configuration: Configuration
    rank_a: float
    rank_b: float
    formats: int


class QueryDisagreement(NamedTuple):
    """A cell whose place among the common formats differs, as a ratio to their geometric mean."""

    pair: Pair
    relative_a: float
    """The value in A by the geometric mean of all common formats in A, in this query."""
    relative_b: float

    @property
    def log_ratio(self) -> float:
        """Logarithm of the relative value in B by that in A."""
        return math.log(self.relative_b / self.relative_a)


class MetadataDifference(NamedTuple):
    """A fact about two runs that differs, or is known of one alone."""

    name: str
    """Section and name, e.g. "libraries pandas"."""
    a: str | None
    """None if it is not known."""
    b: str | None


@dataclass(frozen=True)
class Comparison:
    """Results A beside results B."""

    a: str
    """Name of the first results."""
    b: str
    ratios: list[Ratio]
    """B / A of each cell that has a value in both."""
    agreements: list[Agreement]
    """Of the orders of formats."""
    disagreements: list[Disagreement]
    """Largest first."""
    query_agreements: list[Agreement]
    """Of the orders of queries."""
    query_disagreements: list[QueryDisagreement]
    """Largest first."""
    differences: list[MetadataDifference]
    only_a: int
    """Cells on common data sets that have a value in the first results alone."""
    only_b: int
    caveats: list[str] = field(default_factory=list)
    banners: list[str] = field(default_factory=list)
    """Disturbances of A or B."""


def compare(a: Results, b: Results) -> Comparison:
    """Compare the second results with the first.

    Where a data set has different numbers of rows in both, values are first divided by the geometric
    mean of the formats that both have: then the ratio compares a format's places among the others.

    Raises
    ------
    NoCommonCellsError
        If no cell has a value in both.
    """
    a, b = a.without_samples(), b.without_samples()
    pairs, only_a, only_b = pairs_of(a, b)
    if not pairs:
        raise NoCommonCellsError(f"nothing was measured in both: {_datasets(a)}; {_datasets(b)}")
    means = _means_where_rows_differ(pairs)
    noise = RunNoise(a.records), RunNoise(b.records)
    ratios = list(_ratios(pairs, means, noise))
    by_place = _grouped(pairs, lambda each: (each.dataset.suite, each.measure))
    return Comparison(
        a=a.name,
        b=b.name,
        ratios=ratios,
        agreements=list(_agreements(by_place)),
        disagreements=_disagreements(by_place),
        query_agreements=_query_agreements(pairs),
        query_disagreements=_query_disagreements(pairs),
        differences=_metadata_differences(a, b),
        only_a=only_a,
        only_b=only_b,
        banners=[
            f"{name}: {banner}"
            for name, each in (("A", a), ("B", b))
            if (banner := Disturbance.of(each).banner)
        ],
        caveats=[*_about_rows(means), *_about_noise(a, b, noise, ratios), *_about_metadata(a, b)],
    )


def _datasets(results: Results) -> str:
    names = dict.fromkeys(each.place for each in results.records if each.value is not None)
    return f"{results.name} has values of {', '.join(names) or 'nothing'}"


def _grouped(pairs: Iterable[Pair], key: Callable[[Pair], Key]) -> dict[Key, list[Pair]]:
    found: dict[Key, list[Pair]] = {}
    for each in pairs:
        found.setdefault(key(each), []).append(each)
    return found


# Pairs of cells.


class Pairs(NamedTuple):
    """Pairs of cells, and the numbers of cells that remain."""

    pairs: list[Pair]
    only_a: int
    """Cells on common data sets that have a value in the first results alone."""
    only_b: int


def pairs_of(a: Results, b: Results) -> Pairs:
    """Return the pairs of two results, in the order of the first."""
    pairs: list[Pair] = []
    only_a = only_b = 0
    for suite in dict.fromkeys(map(suite_of, a.records)):
        one, other = _candidates(a, suite), _candidates(b, suite)
        for dataset in _common_datasets(suite, one, other):
            for configuration in dict.fromkeys([*one, *other]):
                cells_a = _cells(one.get(configuration), DatasetSize(dataset.name, dataset.rows_a))
                cells_b = _cells(other.get(configuration), DatasetSize(dataset.name, dataset.rows_b))
                pairs += [
                    Pair(dataset, configuration, measure, cells_a[measure], cells_b[measure])
                    for measure in cells_a
                    if measure in cells_b
                ]
                only_a += len(cells_a.keys() - cells_b.keys())
                only_b += len(cells_b.keys() - cells_a.keys())
    return Pairs(pairs, only_a, only_b)


def _candidates(results: Results, suite: str) -> dict[Configuration, Candidate]:
    records = [each for each in results.records if suite_of(each) == suite]
    return {_compared(each.configuration): each for each in candidates_of(records)}


def _compared(configuration: Configuration) -> Configuration:
    """Return a configuration without its codec if a track decides it: names of one codec differ."""
    return replace(configuration, codec=None, level=None) if configuration.track else configuration


def _common_datasets(
    suite: str, a: dict[Configuration, Candidate], b: dict[Configuration, Candidate]
) -> Iterator[PairedDataset]:
    """Yield data sets of equal rows; where there are none, each results' largest of that name."""
    rows_a, rows_b = _rows(a), _rows(b)
    for name in rows_a:
        if name not in rows_b:
            continue
        # Absolute values say more than ratios to a mean, so equal rows come first.
        common = sorted(rows_a[name] & rows_b[name])
        if common:
            yield from (PairedDataset(suite, name, rows, rows) for rows in common)
        else:
            yield PairedDataset(suite, name, max(rows_a[name]), max(rows_b[name]))


def _rows(candidates: dict[Configuration, Candidate]) -> dict[str, set[int]]:
    found: dict[str, set[int]] = {}
    for candidate in candidates.values():
        for dataset, _ in candidate.cells:
            found.setdefault(dataset.dataset, set()).add(dataset.rows)
    return found


def _cells(candidate: Candidate | None, dataset: DatasetSize) -> dict[Measure, Record]:
    """Return the cells of a data set that have values."""
    cells = candidate.cells.items() if candidate else ()
    return {
        measure: record for (at, measure), record in cells if at == dataset and record.value is not None
    }


# Ratios.


Means = tuple[float, float]
"""Geometric means of the values in A and in B of all formats in both."""
MeansByPlace = dict[tuple[PairedDataset, Measure], "Means | None"]


def _means_of(pairs: list[Pair]) -> Means | None:
    """Return the means of some pairs; None for a single one, or if a value is 0."""
    values = [each.values for each in pairs]
    if len(values) < FEWEST_FOR_MEAN or any(0.0 in each for each in values):
        return None
    a, b = (math.exp(math.fsum(map(math.log, side)) / len(side)) for side in zip(*values, strict=True))
    return a, b


def _means_where_rows_differ(pairs: list[Pair]) -> MeansByPlace:
    differ = (each for each in pairs if not each.dataset.same_rows)
    found = _grouped(differ, lambda each: (each.dataset, each.measure))
    return {place: _means_of(those) for place, those in found.items()}


def _ratios(pairs: list[Pair], means: MeansByPlace, noise: tuple[RunNoise, RunNoise]) -> Iterator[Ratio]:
    for pair in pairs:
        place = pair.dataset, pair.measure
        if place not in means or means[place] is not None:
            # A difference must be beyond the noise of either run.
            both = (of_run.of_cell(each) or 0.0 for of_run, each in zip(noise, pair[3:], strict=True))
            yield _ratio_of(pair, means.get(place), max(both))


def _ratio_of(pair: Pair, means: Means | None, noise: float) -> Ratio:
    """Return the ratio of a pair; divided by means, which are taken for known, if there are any."""
    mean_a, mean_b = means or (1.0, 1.0)
    a, b = (value / mean for value, mean in zip(pair.values, (mean_a, mean_b), strict=True))
    one, other = _interval_of(pair.a), _interval_of(pair.b)
    value = _divided(b, a)
    if one is None or other is None:
        return Ratio(pair, value, None, None, None, Significance.UNCLEAR, relative=bool(means))
    low_a, high_a = one.low / mean_a, one.high / mean_a
    low_b, high_b = other.low / mean_b, other.high / mean_b
    apart = low_b > high_a or low_a > high_b
    beyond_noise = max(a, b) > min(a, b) * (1 + noise)
    return Ratio(
        pair,
        value,
        _divided(low_b, high_a),
        _divided(high_b, low_a),
        one.confidence * other.confidence,
        Significance.REAL if apart and beyond_noise else Significance.NOISE,
        relative=bool(means),
    )


def _interval_of(record: Record) -> Interval | None:
    """Return the interval of a cell's median; None for a single sample of an inexact metric."""
    if len(record.repeats) > 1:
        return median_interval(record.repeats)
    if record.interval:
        # A published size is somewhere in the range that rounds to it.
        low, high = record.interval
        return Interval(low, high, confidence=1.0)
    if Measure.of(record).is_exact:
        value = record.value or 0.0
        return Interval(value, value, confidence=1.0)
    return None


def _divided(b: float, a: float) -> float | None:
    if a:
        return b / a
    return None if b else 1.0


# Orders.


Places = dict[tuple[str, Measure], list[Pair]]
"""Pairs of one suite and measure."""


def _agreements(by_place: Places) -> Iterator[Agreement]:
    """Yield the correlations of each measure: on each data set, and on all."""
    for (suite, measure), pairs in by_place.items():
        by_dataset = _grouped(pairs, lambda each: each.dataset)
        orders = [(each.name, [pair.values for pair in found]) for each, found in by_dataset.items()]
        if len(by_dataset) > 1:
            orders.append(("", _on_all(by_dataset)))
        for name, values in orders:
            if len(values) >= FEWEST_RANKED:
                yield Agreement(suite, measure, name, None, len(values), *_correlations(values))


def _on_all(by_dataset: dict[PairedDataset, list[Pair]]) -> list[tuple[float, float]]:
    """Return the mean logarithms of the configurations that are on all data sets."""
    every = [each for pairs in by_dataset.values() for each in pairs]
    return [
        (fmean(_log(each.values[0]) for each in found), fmean(_log(each.values[1]) for each in found))
        for found in _grouped(every, lambda each: each.configuration).values()
        if len(found) == len(by_dataset)
    ]


def _log(value: float) -> float:
    return math.log(value) if value else -math.inf


def _query_agreements(pairs: Iterable[Pair]) -> list[Agreement]:
    """Return the correlations of each measure of queries: of each format, and of all cells."""
    queries = [each for each in pairs if each.measure.query]
    found: dict[tuple[str, Measure, Configuration | None], list[Pair]] = {
        **_grouped(queries, lambda each: (each.dataset.suite, each.all_queries, each.configuration)),
        **_grouped(queries, lambda each: (each.dataset.suite, each.all_queries, None)),
    }
    agreements = [
        Agreement(*key[:2], "", key[2], len(cells), *_correlations([each.values for each in cells]))
        for key, cells in found.items()
        if len(cells) >= FEWEST_RANKED
    ]
    return sorted(agreements, key=_place)


def _place(agreement: Agreement) -> tuple[object, ...]:
    configuration = agreement.configuration
    of_all = configuration is None, configuration and configuration.sort_key
    return agreement.suite, agreement.measure.phrase, *of_all


def _disagreements(by_place: Places) -> list[Disagreement]:
    """Return the configurations whose ranks differ notably, largest differences first."""
    found = []
    for (_, measure), pairs in by_place.items():
        for dataset, cells in _grouped(pairs, lambda each: each.dataset).items():
            sides = [ranks([each.values[side] for each in cells]) for side in (0, 1)]
            found += [
                Disagreement(dataset, measure, each.configuration, float(a), float(b), len(cells))
                for each, a, b in zip(cells, *sides, strict=True)
                if abs(a - b) >= NOTABLE_RANKS
            ]
    return sorted(found, key=lambda each: -abs(each.rank_a - each.rank_b))


def _query_disagreements(pairs: Iterable[Pair]) -> list[QueryDisagreement]:
    """Return the cells of queries with their relative places, those that differ most first.

    Only of queries that several formats answered in both results, with values above 0.
    """
    found = []
    answered = (each for each in pairs if each.measure.query and all(each.values))
    for cells in _grouped(answered, lambda each: (each.dataset, each.measure)).values():
        if means := _means_of(cells):
            found += [
                QueryDisagreement(each, each.values[0] / means[0], each.values[1] / means[1])
                for each in cells
            ]
    return sorted(found, key=lambda each: -abs(each.log_ratio))


def ranks(values: Sequence[float]) -> np.ndarray:
    """Return the ranks of values, 1 for the smallest; ties share their mean rank.

    Returns
    -------
    numpy.ndarray
        Shape (values,), dtype float64.
    """
    from scipy.stats import rankdata  # type: ignore[import-untyped]

    found: np.ndarray = rankdata(values)
    return found


def spearman(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Return Spearman's rho; None for fewer than three values, or if all of one side are equal."""
    from scipy.stats import spearmanr

    # Of ranks, since a mean logarithm of zeros is infinite, and scipy would return NaN.
    return float(spearmanr(ranks(a), ranks(b)).statistic) if _have_order(a, b) else None


def kendall_tau_b(a: Sequence[float], b: Sequence[float]) -> float | None:
    """Return Kendall's tau-b, where ties count neither way; None as for `spearman`."""
    from scipy.stats import kendalltau

    return float(kendalltau(ranks(a), ranks(b)).statistic) if _have_order(a, b) else None


def _have_order(a: Sequence[float], b: Sequence[float]) -> bool:
    return len(a) >= FEWEST_RANKED and min(len(set(a)), len(set(b))) > 1


def _correlations(values: list[tuple[float, float]]) -> tuple[float | None, float | None]:
    a, b = [each[0] for each in values], [each[1] for each in values]
    return spearman(a, b), kendall_tau_b(a, b)


# Circumstances.


# Facts that differ between any two runs, or have no effect on speed.
_IGNORED_METADATA = {
    "started",
    "ended",
    "command",
    "available_bytes",
    "path",
    "free_bytes",
    "mount_point",
    "device",
    "options",
    "shapes",
    "time",
    "asv_commit",
}


def _metadata_differences(a: Results, b: Results) -> list[MetadataDifference]:
    """Return the differences of the newest metadata of two results; empty if either lacks them."""
    if not (a.metadata and b.metadata):
        return []
    one, other = (dict(_leaves(each.metadata[-1])) for each in (a, b))
    names = dict.fromkeys([*one, *other])
    found = [MetadataDifference(name, one.get(name), other.get(name)) for name in names]
    return [each for each in found if each.a != each.b]


def _leaves(facts: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str | None]]:
    for name, value in facts.items():
        if name in _IGNORED_METADATA:
            continue
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{name} ".replace("_", " "))
        else:
            yield f"{prefix}{name}", None if value is None else str(value)


def _about_rows(means: MeansByPlace) -> Iterator[str]:
    for dataset in dict.fromkeys(dataset for dataset, _ in means):
        rows = f"{dataset.name} has {dataset.rows_a:,} rows in A and {dataset.rows_b:,} in B"
        yield (
            f"{rows}: ratios there are relative to the geometric mean of the common formats, and do not "
            "compare absolute values"
        )
    without = [(dataset, measure) for (dataset, measure), found in means.items() if found is None]
    for dataset, measure in dict.fromkeys((each, of._replace(query="")) for each, of in without):
        queries = sum((each, of._replace(query="")) == (dataset, measure) for each, of in without)
        some = f", {queries} queries," if queries > 1 else ""
        what = f"{measure.phrase} of {dataset.name}{some}"
        yield f"{what} is left out: one format alone, or a 0, has no such mean"


def _about_noise(
    a: Results, b: Results, noise: tuple[RunNoise, RunNoise], ratios: list[Ratio]
) -> Iterator[str]:
    unknown = [
        name
        for name, each, of_run in zip("AB", (a, b), noise, strict=True)
        if not any(map(of_run.of_cell, each.records))
    ]
    if unknown:
        yield (
            f"the rounds of {' and '.join(unknown)} do not show the noise of a run: intervals alone "
            "decide what is real there"
        )
    weakest = min((each.confidence for each in ratios if each.confidence is not None), default=1.0)
    if weakest < CONFIDENT:
        yield (
            f"where repeats are fewest, an interval covers the true ratio with {weakest:.0%} only; more "
            "repeats raise that"
        )


def _about_metadata(a: Results, b: Results) -> Iterator[str]:
    for name, each in (("A", a), ("B", b)):
        if not each.metadata:
            yield f"nothing is known of the circumstances of {name}: libraries, CPU, threads"
        if several := mixture(each.records):
            yield f"{name} holds {several[0].lower()}{several[1:].rstrip('.')}"

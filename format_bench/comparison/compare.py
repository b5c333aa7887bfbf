"""Comparison of two results: ratios, rankings, differences of metadata, and caveats."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from adapter_core.errors import NoCommonCellsError
from format_bench.comparison.pairs import MeanKey, Pair, means_of, pairs_of
from format_bench.comparison.query_ranks import (
    QueryAgreement,
    QueryDisagreement,
    query_agreements,
    query_disagreements,
)
from format_bench.comparison.ranks import Agreement, Disagreement, agreements, disagreements
from format_bench.comparison.ratios import Ratio, ratio_of
from format_bench.results.environments import mixture

if TYPE_CHECKING:
    from format_bench.results.load import Results
    from format_bench.results.noise_floor import Floors


@dataclass(frozen=True)
class Comparison:
    """Results A beside results B."""

    a: str
    """Name of the first results."""
    b: str
    ratios: list[Ratio]
    """B / A of each cell that has a value in both."""
    agreements: list[Agreement]
    disagreements: list[Disagreement]
    """Largest first."""
    query_agreements: list[QueryAgreement]
    query_disagreements: list[QueryDisagreement]
    """Largest first."""
    differences: list[MetadataDifference]
    only_a: int
    """Cells on common data sets that have a value in the first results alone."""
    only_b: int
    caveats: list[str] = field(default_factory=list)


def compare(a: Results, b: Results) -> Comparison:
    """Compare the second results with the first.

    Where a data set has different numbers of rows in both, values are first divided by the geometric
    mean of the formats that both have: then the ratio compares a format's places among the others.

    Raises
    ------
    NoCommonCellsError
        If no cell has a value in both.
    """
    pairs, only_a, only_b = pairs_of(a, b)
    if not pairs:
        raise NoCommonCellsError(f"nothing was measured in both: {_datasets(a)}; {_datasets(b)}")
    means = means_of(pairs)
    ratios = _ratios(pairs, means, [each.floors for each in (a, b) if each.floors])
    return Comparison(
        a=a.name,
        b=b.name,
        ratios=ratios,
        agreements=agreements(pairs),
        disagreements=disagreements(pairs),
        query_agreements=query_agreements(pairs),
        query_disagreements=query_disagreements(pairs),
        differences=metadata_differences(a, b),
        only_a=only_a,
        only_b=only_b,
        caveats=caveats(a, b, ratios, means),
    )


def _ratios(
    pairs: list[Pair], means: dict[MeanKey, tuple[float, float] | None], floors: list[Floors]
) -> list[Ratio]:
    found = []
    for pair in pairs:
        key = pair.dataset, pair.measure
        if key in means and means[key] is None:
            continue
        # A difference must be beyond the noise of either machine.
        floor = max((each.floor_for(pair.a.metric) for each in floors), default=0.0)
        found.append(ratio_of(pair, means.get(key), floor))
    return found


def _datasets(results: Results) -> str:
    names = dict.fromkeys(each.place for each in results.records if each.value is not None)
    return f"{results.name} has values of {', '.join(names) or 'nothing'}"


# Facts that differ between any two runs, or have no effect on speed.
_IGNORED_METADATA = {
    "started",
    "ended",
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


class MetadataDifference(NamedTuple):
    """A fact about two runs that differs, or is known of one alone."""

    name: str
    """Section and name, e.g. "libraries pandas"."""
    a: str | None
    """None if it is not known."""
    b: str | None


def metadata_differences(a: Results, b: Results) -> list[MetadataDifference]:
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


# Confidence of two intervals of 95 %, rounded; a lower one is a caveat.
CONFIDENT = 0.9


def caveats(
    a: Results, b: Results, ratios: list[Ratio], means: dict[MeanKey, tuple[float, float] | None]
) -> list[str]:
    """Return sentences on the limits of a comparison."""
    return [*_about_rows(means), *_about_noise(a, b, ratios), *_about_metadata(a, b)]


def _about_rows(means: dict[MeanKey, tuple[float, float] | None]) -> Iterator[str]:
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


def _about_noise(a: Results, b: Results, ratios: list[Ratio]) -> Iterator[str]:
    unknown = [name for name, each in (("A", a), ("B", b)) if each.floors is None]
    if unknown:
        yield (
            f"the noise floors of {' and '.join(unknown)} are not known (format-bench study noise "
            "--out noise.json, beside the results): intervals alone decide what is real"
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

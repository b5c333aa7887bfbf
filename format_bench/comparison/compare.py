"""Two results put side by side.

In what the circumstances of two results differ: candidates for why their values do.

What a reader of a comparison must know besides.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from adapter_core.errors import NoCommonCellsError
from format_bench.comparison.pairs import Group, Pair, means_of, pairs_of
from format_bench.comparison.ranks import Agreement, Disagreement, agreements, disagreements
from format_bench.comparison.ratios import Ratio, ratio_of

if TYPE_CHECKING:
    from format_bench.results.load import Results
    from format_bench.results.noise_floor import Floors


@dataclass(frozen=True)
class Comparison:
    """What two results have in common, and in what they differ."""

    a: str
    """Name of the first results."""
    b: str
    ratios: list[Ratio]
    """B / A of each cell that has a value in both."""
    agreements: list[Agreement]
    disagreements: list[Disagreement]
    """Largest first."""
    differences: list[Difference]
    only_a: int
    """Cells on common tables that have a value in the first results alone."""
    only_b: int
    remarks: list[str] = field(default_factory=list)


def compare(a: Results, b: Results) -> Comparison:
    """Put the second results beside the first.

    Where a data set has other numbers of rows in both, values are first divided by the geometric mean
    of the formats that both have: then the ratio tells how a format stands among the others.

    Raises
    ------
    NoCommonCellsError
        If no cell has a value in both.
    """
    pairs, only_a, only_b = pairs_of(a, b)
    if not pairs:
        raise NoCommonCellsError(f"nothing was measured in both: {_tables(a)}; {_tables(b)}")
    means = means_of(pairs)
    ratios = _ratios(pairs, means, [each.floors for each in (a, b) if each.floors])
    return Comparison(
        a=a.name,
        b=b.name,
        ratios=ratios,
        agreements=agreements(pairs),
        disagreements=disagreements(pairs),
        differences=differences(a, b),
        only_a=only_a,
        only_b=only_b,
        remarks=about(a, b, ratios, means),
    )


def _ratios(
    pairs: list[Pair], means: dict[Group, tuple[float, float] | None], floors: list[Floors]
) -> list[Ratio]:
    found = []
    for pair in pairs:
        group = pair.table, pair.measure
        if group in means and means[group] is None:
            continue
        floor = max((each.floor_for(pair.a.metric) for each in floors), default=0.0)
        found.append(ratio_of(pair, means.get(group), floor))
    return found


def _tables(results: Results) -> str:
    names = dict.fromkeys(each.dataset for each in results.records if each.value is not None)
    return f"{results.name} has values of {', '.join(names) or 'nothing'}"


_OF_NO_INTEREST = {
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
"""What differs between any two runs, or says nothing of speed."""


class Difference(NamedTuple):
    """A circumstance that differs, or is known on one side alone."""

    name: str
    """As in "libraries pandas"."""
    a: str | None
    """None if it is not known."""
    b: str | None


def differences(a: Results, b: Results) -> list[Difference]:
    """Return in what the newest circumstances of two results differ; nothing if either has none."""
    if not (a.circumstances and b.circumstances):
        return []
    one, other = (dict(_leaves(each.circumstances[-1])) for each in (a, b))
    names = dict.fromkeys([*one, *other])
    found = [Difference(name, one.get(name), other.get(name)) for name in names]
    return [each for each in found if each.a != each.b]


def _leaves(facts: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str | None]]:
    for name, value in facts.items():
        if name in _OF_NO_INTEREST:
            continue
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{name} ".replace("_", " "))
        else:
            yield f"{prefix}{name}", None if value is None else str(value)


CONFIDENT = 0.9
"""Two intervals of 95 % cover both medians with that."""


def about(
    a: Results, b: Results, ratios: list[Ratio], means: dict[Group, tuple[float, float] | None]
) -> list[str]:
    """Return sentences on what limits a comparison."""
    return [*_rows(means), *_noise(a, b, ratios), *_unknown(a, b)]


def _rows(means: dict[Group, tuple[float, float] | None]) -> Iterator[str]:
    for table in dict.fromkeys(table for table, _ in means):
        rows = f"{table.dataset} has {table.rows_a:,} rows in A and {table.rows_b:,} in B"
        yield (
            f"{rows}: ratios there are relative to the geometric mean of the common formats, and say "
            "nothing of absolute values"
        )
    for (table, measure), found in means.items():
        if found is None:
            what = f"{measure.phrase} of {table.dataset}"
            yield f"{what} is left out: one format alone, or a 0, has no such mean"


def _noise(a: Results, b: Results, ratios: list[Ratio]) -> Iterator[str]:
    unknown = [name for name, each in (("A", a), ("B", b)) if each.floors is None]
    if unknown:
        yield (
            f"the noise floors of {' and '.join(unknown)} are not known "
            "(format-bench study noise "
            "--out noise.json, beside the results): intervals alone say what is real"
        )
    weakest = min((each.confidence for each in ratios if each.confidence is not None), default=1.0)
    if weakest < CONFIDENT:
        yield (
            f"where repeats are fewest, an interval covers the true ratio with {weakest:.0%} only; more "
            "repeats make it surer"
        )


def _unknown(a: Results, b: Results) -> Iterator[str]:
    for name, each in (("A", a), ("B", b)):
        if not each.circumstances:
            yield f"nothing is known of the circumstances of {name}: libraries, CPU, threads"

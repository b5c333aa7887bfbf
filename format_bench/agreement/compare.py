"""Two results put side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from adapter_core.errors import FormatBenchError
from format_bench.agreement import remarks
from format_bench.agreement.circumstances import Difference, differences
from format_bench.agreement.means import Group, means_of
from format_bench.agreement.pairs import Pair, pairs_of
from format_bench.agreement.rank_agreement import Agreement, Disagreement, agreements, disagreements
from format_bench.agreement.ratios import Ratio, ratio_of

if TYPE_CHECKING:
    from format_bench.results.load import Results
    from format_bench.results.noise_floor import Floors


class NothingInCommon(FormatBenchError):
    """Two results of which no cell measures the same thing; the message says what each has."""


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
    NothingInCommon
        If no cell has a value in both.
    """
    pairs, only_a, only_b = pairs_of(a, b)
    if not pairs:
        raise NothingInCommon(f"nothing was measured in both: {_tables(a)}; {_tables(b)}")
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
        remarks=remarks.about(a, b, ratios, means),
    )


def _ratios(
    pairs: list[Pair], means: dict[Group, tuple[float, float] | None], floors: list[Floors]
) -> list[Ratio]:
    found = []
    for pair in pairs:
        group = pair.table, pair.measure
        if group in means and means[group] is None:
            continue
        floor = max((each.of(pair.a.metric, pair.a.unit) for each in floors), default=0.0)
        found.append(ratio_of(pair, means.get(group), floor))
    return found


def _tables(results: Results) -> str:
    names = dict.fromkeys(each.dataset for each in results.records if each.value is not None)
    return f"{results.name} has values of {', '.join(names) or 'nothing'}"

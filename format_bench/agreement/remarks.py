"""What a reader of a comparison must know besides."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from format_bench.agreement.means import Group
    from format_bench.agreement.ratios import Ratio
    from format_bench.results.load import Results

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
            yield f"{measure} of {table.dataset} is left out: one format alone, or a 0, has no such mean"


def _noise(a: Results, b: Results, ratios: list[Ratio]) -> Iterator[str]:
    unknown = [name for name, each in (("A", a), ("B", b)) if each.floors is None]
    if unknown:
        yield (
            f"the noise floors of {' and '.join(unknown)} are not known "
            "(python -m format_bench.studies.noise "
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

"""The charts and numbers of a family, as templates take them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from format_bench.display.text import joined
from format_bench.report import gaps, tables
from format_bench.report.all_charts import charts_of
from format_bench.report.heat_map import heat_maps

if TYPE_CHECKING:
    from format_bench.report.groups import Family, Group
    from format_bench.report.outline import Outline

_UNFOLDED = 3
"""Up to so many data sets of a family are all open; of more, the first."""

_MANY_ENTRIES = 20
"""From which number on heat maps are folded, but for the first."""


def section(family: Family, outline: Outline, *, anchor: str, title: str) -> dict[str, Any]:
    """Return heat maps, and for each data set charts and numbers, under an anchor and a title."""
    unfolded = len(family.groups) <= _UNFOLDED
    return {
        "anchor": anchor,
        "title": title,
        "heat_maps": list(heat_maps(family, outline.floors)),
        "folds_maps": len(family.entries) >= _MANY_ENTRIES,
        "groups": [
            {**_group(group, family, outline), "open": unfolded or group is family.groups[0]}
            for group in family.groups
        ],
    }


def _group(group: Group, family: Family, outline: Outline) -> dict[str, Any]:
    return {
        "name": group.name,
        "extent": family.extent(group),
        "not_run": joined(gaps.not_run(group, family), most=8),
        "charts": charts_of(group, outline.colours, outline.floors),
        "numbers": tables.numbers(group, outline.floors),
    }

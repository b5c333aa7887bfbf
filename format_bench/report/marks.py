"""Which value is the best of a comparison, and which cannot be told from it.

With the machine's noise floors, a tie is what is no further from the best than noise is. Without them,
it is what has an interval that overlaps with the best's: a weaker test, for with few samples intervals
are wide, and it says nothing where there is one sample, as of sizes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from format_bench.display.marks import BEST, TIE
from format_bench.results.metrics import METRICS

if TYPE_CHECKING:
    from format_bench.report.cells import Cell, Entry, Measure
    from format_bench.report.groups import Group
    from format_bench.results.noise_floor import Floors

WORDS = {BEST: "best", TIE: "tie", "": ""}
"""The marks as charts and pages spell them."""


def marks_of(group: Group, measure: Measure, floors: Floors | None) -> dict[Entry, str]:
    """Return `BEST`, `TIE` or nothing for each value.

    Nothing is marked where no two values differ, or where they are ratios: these explain times, and
    are no aims.
    """
    values = group.values(measure)
    if METRICS[measure.metric] == "ratio" or len(set(values.values())) < 2:  # noqa: PLR2004 (a comparison needs two)
        return dict.fromkeys(values, "")
    best = min(values, key=lambda entry: values[entry])
    return {
        entry: BEST
        if value == values[best]
        else TIE
        if _ties(group.cell(entry, measure), group.cell(best, measure), measure, floors)
        else ""
        for entry, value in values.items()
    }


def _ties(cell: Cell, best: Cell, measure: Measure, floors: Floors | None) -> bool:
    if floors:
        bound = (best.value or 0) * (1 + floors.of(measure.metric, cell.unit))
        return cell.value is not None and cell.value <= bound
    return bool(cell.interval and best.interval and cell.interval[0] <= best.interval[1])


def legend(floors: Floors | None) -> str:
    """Return what the words mean."""
    text = "Smaller is better, always; the best of each comparison is marked."
    if floors:
        return f"{text} A tie is what is no further from the best than noise is here ({floors})."
    return (
        f"{text} A tie is what has an interval that overlaps with the best's: this machine's noise has"
        " not been measured, so a difference that is not a tie may be noise all the same."
    )

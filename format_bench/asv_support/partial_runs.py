"""asv plug-in that adds up the durations of runs that measured some cells of a benchmark each.

A suite is measured in parts: a data set before the others, or some formats at a time. asv keeps the
values of all parts, but the duration of the last one alone, so a run would seem to have taken less than
it measured.
"""

from __future__ import annotations

import math
from typing import Any

from asv.results import Results

_add_result = Results.add_result


def add_result(  # noqa: PLR0913, PLR0917 (asv's own parameters)
    results: Results,
    benchmark: dict[str, Any],
    result: Any,
    started_at: Any = None,
    duration: float | None = None,
    record_samples: bool = False,  # noqa: FBT001, FBT002 (likewise)
    append_samples: bool = False,  # noqa: FBT001, FBT002
    selected_idx: list[int] | None = None,
) -> None:
    """Add a result as asv does; if only some cells were measured, with the earlier duration added."""
    # asv passes the duration of all rounds so far, once in each of them.
    earlier: dict[str, float] = vars(results).setdefault("durations_before", dict(results.duration))
    cells = math.prod(map(len, benchmark["params"]))
    if duration is not None and selected_idx is not None and len(selected_idx) < cells:
        duration += earlier.get(benchmark["name"]) or 0.0
    options = (started_at, duration, record_samples, append_samples, selected_idx)
    _add_result(results, benchmark, result, *options)


Results.add_result = add_result

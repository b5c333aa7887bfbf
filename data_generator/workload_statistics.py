"""The statistics of the workloads of the study, and numbers that are distributed as they say.

Source: XinyuZeng/OpenFormat-Public (MIT License), benchmark/generator_v2/workload_config: histograms of
the properties of 2,837 columns of real data sets, as `data_generator.spec` names them. What their files
call ``continuous_mean`` is the mean over windows of 512 values of the longest run in the window.
"""

from __future__ import annotations

import json
from functools import cache
from itertools import accumulate
from math import fsum
from pathlib import Path
from typing import Any

WORKLOADS = ("core", "bi", "classic", "geo", "log", "ml")
TYPES = ("int", "float", "string")
PROPERTIES = ("null_ratio", "ndv_ratio", "sortedness", "longest_run", "zipf_s")
"""Those with histograms; the pattern has shares instead."""

LOGARITHMIC = ("null_ratio", "ndv_ratio")
"""Their cuts are powers of ten."""


@cache
def statistics() -> dict[str, Any]:
    """Return the content of the file beside this one."""
    path = Path(__file__).with_name("workload_statistics.json")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def cuts(name: str) -> list[float]:
    """Return the bounds of a property's histogram, one more than it has shares."""
    found: list[float] = statistics()["cuts"][name]
    return found


def shares(workload: str, kind: str, name: str) -> list[float]:
    """Return the shares of columns in each part of a property's histogram, of sum 1."""
    found = statistics()["workloads"][workload][kind][name]
    return [each / fsum(found) for each in found]


def quantile(workload: str, kind: str, name: str, below: float) -> float:
    """Return the value that so large a share of columns, from 0 to 1, is below.

    Inside a part of the histogram columns are spread evenly; on a logarithmic scale from 1e-8 on, where
    the cuts are powers of ten.
    """
    bounds = cuts(name)
    ends = list(accumulate(shares(workload, kind, name)))
    part = next((i for i, end in enumerate(ends) if below <= end), len(ends) - 1)
    low, high = bounds[part : part + 2]
    start = ends[part - 1] if part else 0.0
    inside = (below - start) / (ends[part] - start) if ends[part] > start else 0.5
    if name not in LOGARITHMIC:
        return low + (high - low) * inside
    return float(low * (high / low) ** inside) if low else 0.0


def apportioned(weights: dict[str, float], count: int) -> dict[str, int]:
    """Return whole numbers of sum `count` in proportion to weights, by the largest remainders."""
    total = fsum(weights.values())
    ideal = {name: count * weight / total for name, weight in weights.items()}
    given = {name: int(each) for name, each in ideal.items()}
    rest = sorted(ideal, key=lambda name: ideal[name] - given[name], reverse=True)
    for name in rest[: count - sum(given.values())]:
        given[name] += 1
    return given

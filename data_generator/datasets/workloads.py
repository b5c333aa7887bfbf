"""Workloads of a study of real tables: ``core``, ``bi``, ``classic``, ``geo``, ``log`` and ``ml``.

Source: XinyuZeng/OpenFormat-Public (MIT License), benchmark/generator_v2/workload_config: histograms of
the properties of 2,837 columns of real data sets. `data_generator.spec.spec` cites the study and defines
the properties. Their ``continuous_mean`` is the mean over windows of 512 values of the longest run in
the window.

The columns of each type have the quantiles of each property's distribution, the closest approximation
with a given number of columns. The distributions are not joint ones. Here columns with long runs are the
sorted ones, with few distinct values and much skew, since the one causes the other.
"""

from __future__ import annotations

import json
from functools import cache, partial
from itertools import accumulate, pairwise
from math import fsum, sqrt
from pathlib import Path
from typing import Any

from data_generator.dataset import Dataset, DatasetDefinition
from data_generator.realistic.ranks import evenly
from data_generator.realistic.tables import realistic_table
from data_generator.spec.spec import ColumnSpec, TableSpec, significant

WORKLOADS = ("core", "bi", "classic", "geo", "log", "ml")
TYPES = ("int", "float", "string")
# Properties with histograms; patterns have shares instead.
PROPERTIES = ("null_ratio", "ndv_ratio", "sortedness", "longest_run", "zipf_s")

# Properties whose histograms have powers of ten as bounds.
LOGARITHMIC = ("null_ratio", "ndv_ratio")

COLUMNS = 20
ROWS = 1_000_000

# Consecutive nulls, as in the study's generator.
NULL_BLOCK = 256

DTYPES = {"int": "int64", "float": "float64", "string": "str"}

# Mean over windows of the longest run, by the mean length of memoryless runs; found by trial.
LONGEST = {1: 1, 1.1: 3.3, 1.5: 6.3, 2: 9.3, 3: 14.6, 4: 19.3, 6: 27.9, 8: 36.2, 12: 50.8, 16: 63,
           24: 86.2, 32: 106, 48: 139, 64: 168, 96: 216, 128: 249, 192: 303, 256: 342, 384: 384,
           512: 410, 1024: 452, 2048: 482, 4096: 499, 16384: 509}  # fmt: skip

# Sortedness of random order: the numbers of ascending and descending neighbours, of 511, differ a little
# by chance.
UNSORTED = 0.018

# Largest share of a hot spot's frequent value: it alone would cause the longest runs in the study.
MOST_FREQUENT = 0.75

# Ratio of the most frequent to other values of a hot spot; the study requires more than 9.
STEEPER_THAN_ZIPF = 9.5

# Digits or bytes by ratio of distinct values: below 1e-6, 1e-5, ... 0.1, and above.
#
# Those of integers and texts are medians of the mean widths in the study's feature_olap.csv, where all
# floats are 8 bytes wide.
WIDTHS = {
    "int": (1, 1, 1, 2, 3, 6, 7),
    "float": (2, 2, 2, 3, 4, 6, 6),
    "string": (2, 7, 8, 10, 9, 12, 21),
}

# Smallest ratio of distinct values of floats with all digits; others have two after the point.
LONG_FLOATS = 0.1


@cache
def statistics() -> dict[str, Any]:
    """Return the study's statistics from the file beside this one."""
    path = Path(__file__).with_name("workload_statistics.json")
    found: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return found


def cuts(name: str) -> list[float]:
    """Return the bounds of the bins of a property's histogram, one more than there are bins."""
    found: list[float] = statistics()["cuts"][name]
    return found


def shares(workload: str, kind: str, name: str) -> list[float]:
    """Return the share of columns in each bin of a property's histogram, of sum 1."""
    found = statistics()["workloads"][workload][kind][name]
    return [each / fsum(found) for each in found]


def quantile(workload: str, kind: str, name: str, below: float) -> float:
    """Return a quantile of a property's distribution: the share `below` of columns is below it.

    Columns are evenly distributed inside a bin of the histogram; on a logarithmic scale from 1e-8 on, if
    the bounds are powers of ten.
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
    """Return whole numbers of sum `count` in proportion to weights, by the largest-remainder method."""
    total = fsum(weights.values())
    ideal = {name: count * weight / total for name, weight in weights.items()}
    given = {name: int(each) for name, each in ideal.items()}
    rest = sorted(ideal, key=lambda name: ideal[name] - given[name], reverse=True)
    for name in rest[: count - sum(given.values())]:
        given[name] += 1
    return given


@cache
def workload(name: str, columns: int = COLUMNS) -> TableSpec:
    """Return the specification of a workload, of 1,000,000 rows.

    Parameters
    ----------
    name : str
        One of `WORKLOADS`.
    columns : int
        Number of columns; with more of them, properties are closer to the workload's distributions.
    """
    counts = apportioned(statistics()["type_mix"][name], columns)
    found = [column for kind in TYPES for column in _of_type(name, kind, counts[kind])]
    # Columns of different types alternate, as far as their numbers allow.
    places = {kind: iter(evenly(counts[kind]).tolist()) for kind in TYPES}
    order = sorted(found, key=lambda column: next(places[column.name.partition("_")[0]]))
    return TableSpec(tuple(order), ROWS, note=f"The workload {name} of Zeng et al., PVLDB 17(2), 2023")


def _of_type(name: str, kind: str, count: int) -> list[ColumnSpec]:
    """Return the columns of one type in the order of decreasing runs."""
    steps = [(i + 0.5) / count for i in range(count)]
    ascending = {what: [quantile(name, kind, what, step) for step in steps] for what in PROPERTIES}
    patterns = _patterns(name, kind, count)
    skewed = patterns.count("gentle_zipf")
    exponents = iter([quantile(name, kind, "zipf_s", 1 - (i + 0.5) / skewed) for i in range(skewed)])
    # Nulls are independent of the other properties.
    mixed = sorted(range(count), key=evenly(count).tolist().__getitem__)
    columns = []
    for i, pattern in enumerate(patterns):
        ndv_ratio, sortedness = ascending["ndv_ratio"][i], ascending["sortedness"][-1 - i]
        column = ColumnSpec(
            f"{kind}_{i}",
            DTYPES[kind],
            null_share=1.0 if pattern == "null" else significant(ascending["null_ratio"][mixed[i]]),
            null_run_length=NULL_BLOCK,
            sortedness=significant(sortedness),
            **_frequencies(pattern, ndv_ratio, sortedness, exponents),
            **_runs(ascending["longest_run"][-1 - i], sortedness, ndv_ratio),
            **_content(kind, ndv_ratio),
        )
        columns.append(column)
    return columns


def _patterns(name: str, kind: str, count: int) -> list[str]:
    """Return the pattern of each column, with hot spots evenly distributed among the skewed ones."""
    given = apportioned(statistics()["workloads"][name][kind]["pattern"], count)
    hot = given["hotspot"]
    skewed = hot + given["gentle_zipf"]
    ends = [i * hot // max(1, skewed) for i in range(skewed + 1)]
    return [
        *(each for each in ("null", "single", "binary", "uniform") for _ in range(given[each])),
        *("hotspot" if low < high else "gentle_zipf" for low, high in pairwise(ends)),
    ]


def _frequencies(pattern: str, ndv_ratio: float, sortedness: float, exponents: Any) -> dict[str, Any]:
    """Return the properties of frequencies."""
    # A share that is too large would make neighbours equal, and the column more sorted than specified.
    ratio = {"distinct_ratio": significant(ndv_ratio, 4)}
    match pattern:
        case "null" | "single":
            return {"pattern": "constant"}
        case "binary":
            top = (1 + sqrt(max(0.0, 2 * sortedness - 1))) / 2
            return {"pattern": "binary", "top_share": significant(min(MOST_FREQUENT, top))}
        case "hotspot":
            least = STEEPER_THAN_ZIPF / (max(3, ndv_ratio * ROWS) + STEEPER_THAN_ZIPF - 1)
            top = max(least, min(MOST_FREQUENT, sqrt(sortedness)))
            return {"pattern": "hotspot", "top_share": significant(top), **ratio}
        case "gentle_zipf":
            return {"pattern": "zipf", "exponent": significant(next(exponents)), **ratio}
    return ratio


def _runs(longest: float, sortedness: float, ndv_ratio: float) -> dict[str, Any]:
    """Return the lengths of runs: memoryless ones, limited by the sortedness and the distinct values."""
    room = 1 / (1 - max(0.0, sortedness - UNSORTED))
    mean = min(_mean_of(longest), room, 1 / max(ndv_ratio, 1 / ROWS))
    return {
        "mean_run_length": significant(max(1.0, mean)),
        "longest_run": significant(max(1.0, longest)),
    }


def _mean_of(longest: float) -> float:
    """Return the mean length of memoryless runs with a mean longest run in a window."""
    for (low, shorter), (high, longer) in pairwise(LONGEST.items()):
        if longest <= longer:
            return low + (high - low) * max(0.0, longest - shorter) / (longer - shorter)
    return max(LONGEST)


def _content(kind: str, ndv_ratio: float) -> dict[str, Any]:
    """Return the properties of widths, which grow with the ratio of distinct values."""
    width = WIDTHS[kind][sum(ndv_ratio >= 10.0**-power for power in range(1, 7))]
    if kind == "string":
        return {"width": width, "width_spread": width / 4, "bits_per_character": 3.0}
    if kind == "float" and ndv_ratio < LONG_FLOATS:
        return {"width": width, "decimals": 2}
    return {"width": width}


def _table(name: str, rows: int, seed: int) -> Dataset:
    return Dataset(name, realistic_table(workload(name), rows, seed, name))


DATASETS = tuple(
    DatasetDefinition(
        name=name,
        family="tables",
        description=f"{COLUMNS} columns with the statistics of real tables, workload {name} of a study",
        make=partial(_table, name),
        default_count=ROWS,
    )
    for name in WORKLOADS
)

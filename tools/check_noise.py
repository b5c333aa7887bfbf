"""Noise of measurements: ``python -m tools.check_noise [FORMAT...]``, or with an option.

Compares an adapter with a twin that reads 10 % slower, and with an equal twin, 20 times each. The slower
twin burns a tenth of the CPU time that the adapter needs, measured just before. Two sets of CPU times
differ by the rank test of Mann and Whitney (Annals of Mathematical Statistics 18, 1947) with an error of
one in a thousand. By default for Feather, Parquet, Pickle and CSV.

Of two runs of the same cells on one machine, `--runs` prints how well they agree: the difference of
times in the median cell, the share of groups in which formats come in the same order, and the share of
pairs out of order in each, e.g. cold reads below warm ones.

`--load` measures the same cells beside no, half a, one and two busy processes for each CPU, and prints
for each load the share of cells whose wall time is `SLOWED` times their CPU time, how far the wall times
are above the least of all loads, and whether a report has a banner then: the constants of
`format_bench.results.disturbance` follow from it. The first line needs an idle machine.

`--lags` reads each format again and again, and prints by how much two reads differ in the median pair by
the time between them: calls of one moment of the machine resemble each other, and count as one. The
last column is how many moments, further apart than that, bring two medians within `NEAR` of each other.
"""

from __future__ import annotations

import argparse
import bisect
import math
import os
import statistics
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import data_formats
import data_generator
from adapter_core import FormatBenchError
from format_bench.cli.options import load_source
from format_bench.comparison import compare
from format_bench.instruments.clock import time_call
from format_bench.instruments.touch import touch
from format_bench.results.disturbance import SLOWED, is_slowed, slowed_share
from format_bench.results.metrics import METRICS, Noise
from format_bench.results.noise import RunNoise, is_wall_time
from format_bench.results.self_check import SelfCheck
from tools.check_estimators import STEADY, THESIS, Rounds, load, measure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from adapter_core import DataFormat
    from format_bench.instruments.clock import Sample
    from format_bench.results.load import Results
    from format_bench.results.records import Record


TRIES, SAMPLES = 20, 200

FEWEST_IN_ORDER, SAME_ORDER = 5, 0.97
"""Least number of formats whose order is compared, and the least correlation of equal orders."""

SIGNIFICANCE = 0.001
"""Probability that equal calls are called different."""

LOADS = (0.0, 0.5, 1.0, 2.0)
"""Busy processes for each CPU."""

LAGS = (0.0, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
"""Seconds from one call to the other; 0 is to the next one."""

NEAR = 0.05
"""Difference of two medians that a run should not exceed in the median cell."""

LAG_SECONDS = 30.0

LOADED = [label for label in THESIS if label not in {"Excel", "XML"}]
"""Formats measured beside them; two of the thesis take longer than all others."""


@contextmanager
def saved(label: str, rows: int) -> Iterator[tuple[DataFormat, Path]]:
    """Give the adapter of a format, and its file of `eq`, which is removed at the end."""
    with tempfile.TemporaryDirectory() as folder:
        adapter = data_formats.get(label)
        path = Path(folder, f"table{adapter.suffix}")
        adapter.save(data_generator.table("eq", rows=rows).df, path)
        yield adapter, path


def slower(adapter: DataFormat, path: Path) -> DataFormat:
    """Return a twin of an adapter that reads 10 % slower."""
    typical = sorted(time_call(lambda: touch(adapter.read(path))).cpu_seconds for _ in range(21))[10]

    class Slower(type(adapter)):  # type: ignore[misc] (a base that is known at run time)
        def _read(self, path, columns):
            df = super()._read(path, columns)
            end = time.thread_time() + 0.1 * typical
            while time.thread_time() < end:
                pass
            return df

    return Slower()


def interleaved(
    first: Callable[[], Any], second: Callable[[], Any], samples: int
) -> tuple[list[Sample], list[Sample]]:
    """Time two calls alternately, so that a machine that grows slower favours neither."""
    found: tuple[list[Sample], list[Sample]] = ([], [])
    calls = (first, second)
    for turn in range(samples):
        # The order alternates too: the first call of a pair may leave memory to the second.
        for place in (turn % 2, 1 - turn % 2):
            found[place].append(time_call(calls[place]))
    return found


def differ(first: list[Sample], second: list[Sample]) -> bool:
    """Return whether the CPU times of two calls differ by more than chance explains."""
    from scipy.stats import mannwhitneyu

    one, other = ([each.cpu_seconds for each in samples] for samples in (first, second))
    # The normal approximation is good for eight samples and more.
    return mannwhitneyu(one, other, method="asymptotic").pvalue < SIGNIFICANCE


def reads_differ(first: DataFormat, second: DataFormat, path: Path) -> bool:
    """Return whether reads by two adapters differ in CPU time."""
    samples = interleaved(lambda: touch(first.read(path)), lambda: touch(second.read(path)), SAMPLES)
    return differ(*samples)


def agreement(a: Results, b: Results) -> Iterator[str]:
    """Yield sentences on how well two runs of the same cells agree.

    Raises
    ------
    NoCommonCellsError
        If they have no cell in common.
    """
    found = compare(a, b)
    noise = RunNoise(a.records)
    differences, beyond, known = [], 0, 0
    for each in found.ratios:
        if is_wall_time(each.pair.a) and each.value:
            differences.append(max(each.value, 1 / each.value) - 1)
            if (own := noise.of_cell(each.pair.a)) is not None:
                known += 1
                beyond += differences[-1] > own
    if differences:
        ordered = sorted(differences)
        high = ordered[math.ceil(0.95 * len(ordered)) - 1]
        yield (
            f"{len(ordered):,} times differ by {statistics.median(ordered):.1%} in the median cell, and "
            f"by {high:.0%} or less in 95% of them"
        )
    if steadied := sorted(
        max(one, other) / min(one, other) - 1
        for each in found.ratios
        if (one := _in_loops(each.pair.a)) and (other := _in_loops(each.pair.b))
    ):
        yield (
            f"{len(steadied):,} CPU times by the reference loop beside them differ by "
            f"{statistics.median(steadied):.1%} in the median cell"
        )
    if known:
        yield f"{beyond / known:.1%} of {known:,} differ by more than A's noise; 5% are expected"
    orders = [
        each.spearman
        for each in found.agreements
        if each.dataset and each.cells >= FEWEST_IN_ORDER and each.spearman is not None
        if METRICS[each.measure.metric].noise is Noise.WALL_TIME
    ]
    if orders:
        good = sum(each >= SAME_ORDER for each in orders)
        yield (
            f"{good} of {len(orders)} groups of times ({good / len(orders):.0%}) have a Spearman "
            f"correlation of {SAME_ORDER} or more; the least is {min(orders):.3f}"
        )
    for name, each in (("A", a), ("B", b)):
        check = SelfCheck.of(each.records)
        if check.pairs:
            wrong = f"{len(check.out_of_order)} of {len(check.pairs):,} pairs ({check.share:.1%})"
            yield f"{name}: {wrong} are out of order"


def _in_loops(record: Record) -> float | None:
    """Return the CPU time of a warm call by the reference loop beside it, if it is known."""
    beside = [*zip(record.cpu_repeats, record.loop_repeats, strict=False)]
    if record.cache == "cold" or not all(loop for _, loop in beside):
        return None
    return statistics.median(cpu / loop for cpu, loop in beside) if beside else None


def at_loads(found: Mapping[float, Rounds]) -> Iterator[str]:
    """Yield a line for each load, of samples by busy processes for each CPU."""
    walls: dict[float, dict[str, float]] = {}
    cpus: dict[float, dict[str, float]] = {}
    for processes, cells in found.items():
        samples = {cell: [each for taken in rounds for each in taken] for cell, rounds in cells.items()}
        for kind, seconds in ((walls, "wall_seconds"), (cpus, "cpu_seconds")):
            kind[processes] = {
                cell: statistics.median(getattr(one, seconds) for one in each)
                for cell, each in samples.items()
            }
    common = set.intersection(*map(set, walls.values()))
    least = {cell: min(each[cell] for each in walls.values()) for cell in common}
    yield f"{'processes a CPU':>15}{f'cells from {SLOWED}':>17}{'wall by least':>15}{'95 %':>7}  banner"
    for processes, of_cells in walls.items():
        ratios = [of_cells[cell] / cpus[processes][cell] for cell in common]
        above = sorted(of_cells[cell] / least[cell] for cell in common)
        high = above[math.ceil(0.95 * len(above)) - 1]
        shown = (
            f"{processes:15.1f}{slowed_share(ratios):17.0%}{statistics.median(above):15.2f}{high:7.2f}"
        )
        yield f"{shown}  {'yes' if is_slowed(ratios) else 'no'}"


def beside_loads(labels: list[str], rows: int, rounds: int, calls: int) -> dict[float, Rounds]:
    """Measure saves and reads of formats beside each of `LOADS`."""
    found = {}
    for each in LOADS:
        with load(STEADY, round(each * (os.cpu_count() or 1))):
            found[each] = measure(labels, rows, rounds, calls)
    return found


def timeline(label: str, rows: int, seconds: float) -> list[tuple[float, float]]:
    """Return start and wall seconds of each warm read of `eq`, one after the other for so long."""
    with saved(label, rows) as (adapter, path):
        begin, found = time.perf_counter(), []
        while (start := time.perf_counter() - begin) < seconds:
            found.append((start, time_call(lambda: touch(adapter.read(path))).wall_seconds))
    return found[1:]


def by_lag(calls: Sequence[tuple[float, float]]) -> list[float]:
    """Return the difference of two calls in the median pair for each of `LAGS`; nan without pairs."""
    starts = [start for start, _ in calls]
    found = []
    for lag in LAGS:
        # The first call that begins later; of 0, the next one.
        later = (bisect.bisect(starts, start + lag) for start in starts)
        pairs = ((calls[a][1], calls[b][1]) for a, b in enumerate(later) if b < len(calls))
        differences = [max(pair) / min(pair) - 1 for pair in pairs]
        found.append(statistics.median(differences) if differences else math.nan)
    return found


def needed_moments(difference: float) -> int:
    """Return how many moments of which two differ so bring the medians of two runs within `NEAR`.

    The difference of two means falls by the square root of their number; medians need somewhat more.
    """
    return math.ceil((difference / NEAR) ** 2)


def at_lags(found: Mapping[str, Sequence[tuple[float, float]]]) -> Iterator[str]:
    """Yield a line for each format, of the starts and wall seconds of its calls."""
    heads = ["next", *(f"{each:g} s" for each in LAGS[1:])]
    yield f"{'format':12}{'median':>10}" + "".join(f"{each:>8}" for each in heads) + f"{'moments':>9}"
    for label, calls in found.items():
        typical = statistics.median(seconds for _, seconds in calls)
        differences = by_lag(calls)
        shown = "".join(f"{each:8.1%}" for each in differences)
        yield f"{label:12}{typical * 1e3:7.2f} ms{shown}{needed_moments(differences[-1]):9}"


def main() -> None:
    """Print for each format in how many of 20 tries its reads differed from its twins'; or on runs."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    usual = ["Feather", "Parquet", "Pickle", "CSV"]
    parser.add_argument("labels", nargs="*", metavar="FORMAT")
    parser.add_argument("--runs", nargs=2, metavar=("A", "B"), help="results of two runs")
    parser.add_argument("--load", action="store_true", help="measure beside busy processes")
    parser.add_argument("--lags", action="store_true", help="compare reads by the time between them")
    asked = parser.parse_args()
    if asked.lags:
        calls = {each: timeline(each, 10_000, LAG_SECONDS) for each in asked.labels or usual}
        print("\n".join(at_lags(calls)))
        return
    if asked.load:
        print("\n".join(at_loads(beside_loads(asked.labels or LOADED, 10_000, 4, 3))))
        return
    if asked.runs:
        try:
            print("\n".join(agreement(*map(load_source, asked.runs))))
        except FormatBenchError as error:
            raise SystemExit(f"check_noise: {error}") from error
        return
    for label in asked.labels or usual:
        with saved(label, 100_000) as (adapter, path):
            twin = type(adapter)()
            found = sum(reads_differ(adapter, slower(adapter, path), path) for _ in range(TRIES))
            wrong = sum(reads_differ(adapter, twin, path) for _ in range(TRIES))
        print(f"{label}: differs from a slower twin {found} times of {TRIES}, from an equal one {wrong}")


if __name__ == "__main__":
    main()

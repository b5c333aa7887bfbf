"""Estimators of the time of a call beside each other: ``python -m tools.check_estimators [FORMAT...]``.

Saves and reads `eq` by the clock and the isolation of a run, round by round, each format in a process of
its own in each round. Odd and even rounds are two runs that take turns. A good estimator gives both the
same values, and the same order of formats. Prints for each estimator the relative difference of the two
values (median and 95th percentile over all formats and steps) and Spearman's correlation of the two
orders; and, since an estimator may be steady and wrong, the correlation with the order of the least wall
times of all rounds. By default for the twelve formats of the thesis.
"""

from __future__ import annotations

import argparse
import contextlib
import dataclasses
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from format_bench.comparison import spearman
from format_bench.families.cases import Case
from format_bench.instruments import isolation, page_cache
from format_bench.instruments.clock import Repeats, Sample
from format_bench.runner.executor import isolated
from format_bench.runner.steps import operations_on, store_data

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

THESIS = [
    "Avro", "CSV", "Excel", "Feather", "HDF5.fixed", "HDF5.table", "JSON", "Lance", "ORC", "Parquet",
    "Pickle", "XML",
]  # fmt: skip

LIMIT_SECONDS = 3600.0

BUSY = """
import random, time
while True:
    end = time.monotonic() + random.uniform(0.5, 5)
    while time.monotonic() < end:
        pass
    time.sleep(random.uniform(0.5, 5))
"""
"""Work that starts and stops at random."""

STEADY = "while True: pass"
"""Work that never stops."""

Rounds = dict[str, list[list[Sample]]]
"""Samples of each round, by cell, e.g. "save, Parquet"."""


def _lower_half(values: Sequence[float]) -> float:
    return statistics.mean(sorted(values)[: max(1, len(values) // 2)])


def _in_loops(samples: Sequence[Sample]) -> float:
    return statistics.median(each.cpu_seconds / each.loop_cpu_seconds for each in samples)


ESTIMATORS: dict[str, Callable[[Sequence[Sample]], float]] = {
    "median wall": lambda samples: statistics.median(each.wall_seconds for each in samples),
    "minimum wall": lambda samples: min(each.wall_seconds for each in samples),
    "lower-half mean wall": lambda samples: _lower_half([each.wall_seconds for each in samples]),
    "median CPU": lambda samples: statistics.median(each.cpu_seconds for each in samples),
    "minimum CPU": lambda samples: min(each.cpu_seconds for each in samples),
    "wall / loop wall, median": lambda samples: statistics.median(
        each.wall_seconds / each.loop_wall_seconds for each in samples
    ),
    "CPU / loop CPU, median": _in_loops,
    # Of a call on several threads, CPU is more than wall; of one that waits, less.
    "the same by least wall / CPU": lambda samples: (
        _in_loops(samples) * min(each.wall_seconds / each.cpu_seconds for each in samples)
    ),
}


@contextlib.contextmanager
def load(work: str, processes: int) -> Iterator[None]:
    """Run so many processes of some work."""
    burners = [subprocess.Popen([sys.executable, "-c", work]) for _ in range(processes)]
    try:
        yield
    finally:
        for each in burners:
            each.kill()
            each.wait()


def samples_of(case: Case, data: Path, file: Path, calls: int) -> dict[str, list[Sample]]:
    """Save and read so often in this process; the first call of each does not count."""
    with operations_on(case, data) as operations:
        loaded = operations.load(data)
        operations.check(loaded)
        saves, reads = Repeats(0, calls + 1), Repeats(0, calls + 1)
        for stopwatch in saves:
            operations.adapter.remove(file)
            with stopwatch:
                operations.save(loaded, file)
            page_cache.sync(file)
        for stopwatch in reads:
            with stopwatch:
                found = operations.read(file)
            del found
        return {"save": saves.samples[1:], "read": reads.samples[1:]}


def measure(labels: Sequence[str], rows: int, rounds: int, calls: int) -> Rounds:
    """Measure formats in rounds; print formats that fail."""
    found: Rounds = {}
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        data = folder / "data"
        first = isolation.run(store_data, Case(labels[0], "eq", rows), data, limit_seconds=LIMIT_SECONDS)
        if first.status:
            raise SystemExit(f"check_estimators: {first.sentence}")
        for number in range(rounds):
            for label in labels:
                case = Case(label, "eq", rows)
                with tempfile.TemporaryDirectory(dir=folder) as own:
                    facts = data, Path(own, case.file_name), calls
                    outcome = isolated(
                        case, samples_of, case, *facts, limit_seconds=LIMIT_SECONDS, folder=folder
                    )
                if outcome.status:
                    print(f"{label}: {outcome.sentence}", file=sys.stderr)
                    continue
                for step, samples in outcome.value.items():
                    found.setdefault(f"{step}, {label}", []).append(samples)
            print(f"round {number + 1} of {rounds}", file=sys.stderr)
    return {cell: each for cell, each in found.items() if len(each) == rounds}


def agreement(found: Rounds, estimate: Callable[[Sequence[Sample]], float]) -> tuple[float, ...]:
    """Return the median and the 95th percentile of the difference of halves, and two correlations."""
    differences, orders, truths = [], [], []
    for step in ("save", "read"):
        cells = [rounds for cell, rounds in found.items() if cell.startswith(step)]
        halves = [[estimate(_joined(each[half::2])) for each in cells] for half in (0, 1)]
        differences += [max(pair) / min(pair) - 1 for pair in zip(*halves, strict=True)]
        orders.append(spearman(*halves) or math.nan)
        whole = [_joined(each) for each in cells]
        least = [min(sample.wall_seconds for sample in each) for each in whole]
        truths.append(spearman([estimate(each) for each in whole], least) or math.nan)
    ordered = sorted(differences)
    high = ordered[math.ceil(0.95 * len(ordered)) - 1]
    return statistics.median(ordered), high, statistics.mean(orders), statistics.mean(truths)


def _joined(rounds: Sequence[list[Sample]]) -> list[Sample]:
    return [sample for each in rounds for sample in each]


def waiting(found: Rounds) -> float:
    """Return the wall time of all loops by their CPU time: 1 on an idle machine."""
    samples = [sample for rounds in found.values() for sample in _joined(rounds)]
    cpu = sum(each.loop_cpu_seconds for each in samples)
    return sum(each.loop_wall_seconds for each in samples) / cpu


def loop_share(found: Rounds) -> float:
    """Return the share of measured time that the loop takes, of runs that follow the last one."""
    samples = [sample for rounds in found.values() for sample in _joined(rounds)]
    loops = {each.loop_cpu_seconds for each in samples}
    return sum(loops) / sum(each.wall_seconds for each in samples)


def main() -> None:
    """Measure, and print a line for each estimator."""
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("labels", nargs="*", default=THESIS, metavar="FORMAT")
    parser.add_argument("--rows", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=12, help="an even number")
    parser.add_argument("--calls", type=int, default=3, help="of each step in each round")
    parser.add_argument("--load", action="store_true", help="beside work that comes and goes")
    parser.add_argument("--samples", type=Path, help="file to keep them in, or to take them from")
    asked = parser.parse_args()
    if asked.samples and asked.samples.exists():
        facts = json.loads(asked.samples.read_bytes())
        found = {
            cell: [[Sample(**each) for each in samples] for samples in rounds]
            for cell, rounds in facts.items()
        }
    else:
        with load(BUSY, (os.cpu_count() or 1) if asked.load else 0):
            found = measure(asked.labels, asked.rows, asked.rounds, asked.calls)
    if asked.samples and not asked.samples.exists():
        facts = {
            cell: [[dataclasses.asdict(each) for each in samples] for samples in rounds]
            for cell, rounds in found.items()
        }
        asked.samples.write_text(json.dumps(facts), encoding="utf-8")
    if not found:
        raise SystemExit("check_estimators: no format was measured in all rounds")
    print(
        f"{len(found)} cells; loops waited {waiting(found):.2f} times their CPU time, and took "
        f"{loop_share(found):.1%} of the measured time"
    )
    print(f"{'estimator':30}{'median':>9}{'95 %':>9}{'Spearman':>10}{'with wall':>11}")
    for name, estimate in ESTIMATORS.items():
        middle, high, order, truth = agreement(found, estimate)
        print(f"{name:30}{middle:9.1%}{high:9.1%}{order:10.3f}{truth:11.3f}")


if __name__ == "__main__":
    main()

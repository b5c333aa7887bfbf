"""Costs of the measurements of a month: as earlier months noted them, else typical ones.

Each portion of a suite that was measured appends a line to a file beside asv's results, so that the
costs survive the machine with them. Of a format without such a line, the costs follow from the data's
size and from the shipped typical costs. Imports the standard library and declarations alone, since
``cron.sh --dry-run`` asks where nothing is installed.
"""

from __future__ import annotations

import csv
import functools
import json
import math
import platform
import shutil
import statistics
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from adapter_core.adapter import format_of
from format_bench.instruments.memory import available_bytes
from format_bench.results.suites import FAMILIES, LIMIT_SECONDS, Benchmark, Step, Suite
from format_bench.system.background import repeated

# Name of the folder, in the folder of asv's results. Its files end in .jsonl, since asv reads every
# .json.
FOLDER = "costs"

TYPICAL = Path(__file__).parents[2] / "results" / "typical_costs.csv"
"""Times of formats as multiples of the best of their family, by ``python -m tools.typical_costs``."""

# Bytes in memory that the best of a family saves or reads in a second, on the data of the typical costs:
# a table of 10,000 rows by pickle, and images and arrays by one write of a few MB to the page cache.
# With them the twelve formats on `eq` of 1,000,000 rows come within a factor of two of measured times:
# Excel 60 and 53 s where 98 and 56 were measured, XML 14 and 26 (24, 32), JSON 1.6 and 5.3 (2.8, 6.1).
_BEST_BYTES_PER_SECOND = {"tables": 1e9, "images": 1e10, "arrays": 1e10}

# Factor of formats without typical costs, e.g. stores of objects: the median of all in the file.
_USUAL_FACTOR = 10.0

# Repeats until the median of a usual call is known to 5 %, where the clock takes 3 to 100: a guess, as
# the two below, which the noted costs of the first month replace.
_REPEATS = 30

# Seconds of a process beside its calls: it forks, imports, warms up and writes its notes.
_PROCESS_SECONDS = 1.0

# Calls of a process beside the measured ones: it loads the data, touches and verifies what it has read.
_FURTHER_CALLS = 2

# Bytes that a process makes, or verifies, in a second beside its calls, where they are objects: `Pickle`
# and `Fory` took 40 minutes each on the full scale of `records`, and 15 without this.
_OBJECT_BYTES_PER_SECOND = {"records": 4.5e7}

# Share of the data that a step of parts reads in a call: a few columns, rows, images or chunks.
_PART = 0.1
_OF_PARTS = ("query", "entry", " per ")

# Bytes of memory for each byte of a table, where a library makes an object of each value: of `tabular`
# at full scale (docs/monthly_run.md). Others have about two copies.
_MEMORY_FACTORS = {("tables", "Avro"): 34, ("tables", "JSON"): 31, ("tables", "XML"): 86}
_USUAL_MEMORY_FACTOR = 2

# Interval at which disk and memory are looked at: files stay for minutes at full scale.
_SAMPLE_SECONDS = 5.0


@dataclass(frozen=True)
class Cost:
    """Cost of a measured portion of a suite."""

    month: str
    """As in "2026-12"."""
    suite: str
    seconds: dict[str, float]
    """Wall time by label of the format; of a portion of several, divided as was expected. Formats of a
    portion that lacked hours for some of their steps have a cost of their own."""
    is_whole: bool
    """Whether the hours sufficed for all cells of these formats."""
    disk_bytes: int
    """Most of the disk that it has taken at once."""
    memory_bytes: int
    """Most of the memory that was not available any more."""


def note(results_dir: Path, cost: Cost) -> None:
    """Append a cost to the file of this machine."""
    path = results_dir / FOLDER / f"{platform.node()}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a", encoding="utf-8") as file:
        file.write(json.dumps(asdict(cost)) + "\n")


def noted(results_dir: Path) -> list[Cost]:
    """Return the costs of this machine, oldest first; of other machines if it has none."""
    paths = sorted((results_dir / FOLDER).glob("*.jsonl"))
    own = [path for path in paths if path.stem == platform.node()]
    found = []
    for path in own or paths:
        for line in path.read_text(encoding="utf-8", errors="replace").splitlines():
            try:
                found.append(Cost(**json.loads(line)))
            except (ValueError, TypeError):
                continue  # cut off by a kill, or of another version
    return sorted(found, key=lambda each: each.month)


@dataclass
class Room:
    """Room that a block takes at most: differences to its start, of all programs together."""

    disk_bytes: int = 0
    memory_bytes: int = 0


@contextmanager
def room_watched() -> Iterator[Room]:
    """Watch how much disk and memory a block takes."""
    room, start = Room(), _free()

    def look() -> None:
        disk, memory = _free()
        room.disk_bytes = max(room.disk_bytes, start[0] - disk)
        room.memory_bytes = max(room.memory_bytes, start[1] - memory)

    with repeated(look, _SAMPLE_SECONDS):
        yield room


def _free() -> tuple[int, int]:
    """Return the free bytes of the disk of temporary files, and of memory."""
    return shutil.disk_usage(tempfile.gettempdir()).free, available_bytes()


def typical_seconds(suite: Suite, label: str, scale: str) -> float:
    """Return the estimated seconds of all cells of a format in a suite."""
    limit, sampling = LIMIT_SECONDS[scale], suite.sampling[scale]
    seconds = 0.0
    for dataset, steps in _steps(suite, label, scale):
        size = suite.raw_bytes(dataset, scale)
        calls = {step: min(limit, _call_seconds(suite, label, size, step)) for step in steps}
        repeated = {
            step: max(min(limit, step.calls * call), min(sampling.budget_seconds, _REPEATS * call))
            for step, call in calls.items()
        }
        measured = sum(questions * repeated[step] for step, questions in steps.items())
        further = _FURTHER_CALLS * max(calls.values()) + 2 * _PROCESS_SECONDS
        further += len(steps) * size / _OBJECT_BYTES_PER_SECOND.get(suite.family, math.inf)
        seconds += sampling.rounds * (measured + further)
    return seconds


def typical_bytes(suite: Suite, portions: Sequence[Sequence[str]], scale: str) -> tuple[int, int]:
    """Return the estimated bytes of disk and memory that a suite takes with portions of formats.

    Each data set is kept once, and once by each format and codec that one portion measures.
    """
    sizes = [suite.raw_bytes(each, scale) for each in suite.datasets_at(scale)]
    at_once = max(map(len, portions), default=0)
    files = at_once * max(1, len(suite.codecs_at(scale)), len(suite.tracks))
    makers = {(suite.family, format_of(each)) for labels in portions for each in labels}
    factors = [_MEMORY_FACTORS[each] for each in makers & _MEMORY_FACTORS.keys()]
    return sum(sizes) * (1 + files), max([_USUAL_MEMORY_FACTOR, *factors]) * max(sizes)


def _steps(suite: Suite, label: str, scale: str) -> Iterator[tuple[str, dict[Step, int]]]:
    """Yield each file of a format: its data set, and the steps with their numbers of questions."""
    family = FAMILIES[suite.family]
    files: dict[tuple[str, str, str], dict[Step, int]] = {}
    for benchmark in suite.benchmarks:
        if benchmark.formats and label not in benchmark.formats:
            continue
        for dataset in benchmark.datasets or suite.datasets_at(scale):
            for way in _ways(suite, benchmark, scale):
                steps = files.setdefault((dataset, benchmark.settings, way), {})
                for cache in benchmark.caches or (None,):
                    for metric in benchmark.metrics:
                        step = family.step_of(metric.replace(" peak ", " "), cache)
                        if step:
                            steps[step] = max(steps.get(step, 1), len(benchmark.queries))
    for (dataset, _, _), steps in files.items():
        yield dataset, steps


def _ways(suite: Suite, benchmark: Benchmark, scale: str) -> tuple[str, ...]:
    if benchmark.settings:
        return ("",)
    tracks = tuple(each.name for each in suite.tracks if not each.for_own_questions)
    return (benchmark.track,) if benchmark.track else suite.codecs_at(scale) or tracks or ("",)


def _call_seconds(suite: Suite, label: str, raw_bytes: int, step: Step) -> float:
    metric = "save_time" if "save time" in step.metrics else "read_time"
    # A query engine's label is its format's, and the engine's in brackets.
    names = (label, format_of(label))
    known = _factors().get(suite.family) or _factors()["tables"]
    factor = next((known[name, metric] for name in names if (name, metric) in known), _USUAL_FACTOR)
    share = _PART if any(word in metric for metric in step.metrics for word in _OF_PARTS) else 1.0
    bytes_per_second = _BEST_BYTES_PER_SECOND.get(suite.family, 1e9)
    return share * suite.typical_factor * factor * raw_bytes / bytes_per_second


@functools.cache
def _factors() -> Mapping[str, dict[tuple[str, str], float]]:
    """Return the factors to the best without a codec, by family, then by label and metric."""
    factors: dict[str, dict[tuple[str, str], list[float]]] = {"tables": {}}
    if TYPICAL.exists():
        with TYPICAL.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                if not row["codec"] and float(row["factor"]) > 0:
                    of_family = factors.setdefault(row["family"], {})
                    key = row["format"], row["metric"]
                    of_family.setdefault(key, []).append(float(row["factor"]))
    return {
        family: {key: statistics.geometric_mean(each) for key, each in found.items()}
        for family, found in factors.items()
    }

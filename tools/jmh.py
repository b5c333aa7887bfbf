"""JMH beside the driver of the JVM: ``python -m tools.jmh [LABEL...]``.

JMH, OpenJDK's own harness, warms up, times and consumes objects by rules of its own. Here it makes the
calls that the driver of record_stores/jvm times, by the same classes and flags. Each turn is a new JVM
of the driver and a fork of JMH, one after the other. Prints both times of a steady call, of the
processor and of the wall clock, and the ratios with their intervals. Maven fetches JMH once.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

import record_stores
from adapter_core.records.jvm import jvm_flags
from adapter_core.records.maven import MavenModule, find_java, java_environment
from format_bench.families.records.jvm_cells import MOST_CALLS, steady_calls
from format_bench.instruments.intervals import median_interval
from format_bench.results.display.markdown import table_lines
from record_stores import HEAP_GIB, JvmRequest, JvmStore

LABELS = (
    "Avro.specific[jvm]",
    "JSON.jackson[jvm]",
    "Kryo[jvm]",
    "Parquet.specific[jvm]",
    "Protobuf[jvm]",
)
OPERATIONS = ("write", "read", "iterate")
DATASET = "entities"

# Fewer do not bound a median with 95 %.
TURNS = 6

# Longest warm-up of the driver, which ends when it is steady; JMH takes as long, in iterations.
WARM_UP_SECONDS = 6.0
ITERATIONS = 3
LIMIT_SECONDS = 600.0

HEADER = [
    *("store", "call", "driver, CPU ms", "JMH, CPU ms"),
    *("ratio of CPU times", "interval", "ratio of wall times", "interval"),
]


@dataclass(frozen=True)
class Cost:
    """Seconds of a steady call."""

    cpu: float
    wall: float


@dataclass(frozen=True)
class Setting:
    """Records, and how long both sides warm up."""

    folder: Path
    rows: int = 100_000
    warm_up_seconds: float = WARM_UP_SECONDS
    iteration_seconds: float = 1.0

    def file(self, store: JvmStore, operation: str) -> Path:
        """Return the file that an operation writes, or reads."""
        return self.folder / f"{operation == 'write'}-{store.format_name}{store.suffix}"


@dataclass(frozen=True)
class Comparison:
    """Costs of one call of a store, by the driver and by JMH, turn by turn."""

    label: str
    operation: str
    driver: Sequence[Cost]
    jmh: Sequence[Cost]

    @property
    def cells(self) -> list[str]:
        cpu = [f"{1_000 * statistics.median(each.cpu for each in side):.1f}" for side in self._sides]
        return [self.label, self.operation, *cpu, *self._ratio("cpu"), *self._ratio("wall")]

    @property
    def _sides(self) -> tuple[Sequence[Cost], Sequence[Cost]]:
        return self.driver, self.jmh

    def _ratio(self, clock: str) -> list[str]:
        """Return the median of the turns' ratios, the driver's time by JMH's, and its interval."""
        pairs = zip(*self._sides, strict=True)
        ratios = [getattr(one, clock) / getattr(other, clock) for one, other in pairs]
        found = median_interval(ratios)
        return [f"{statistics.median(ratios):.2f}", f"{found.low:.2f} to {found.high:.2f}"]


def by_driver(store: JvmStore, operation: str, setting: Setting) -> Cost:
    """Return the cost of a steady call in a new JVM of the driver."""
    file = setting.file(store, operation)
    request = JvmRequest(
        operation,
        DATASET,
        setting.rows,
        file,
        most_calls=MOST_CALLS,
        most_seconds=setting.warm_up_seconds,
    )
    answers = store.run(request, LIMIT_SECONDS)
    if answers[-1]["event"] != "end":
        raise click.ClickException(f"{store.label}: {answers[-1]}")
    calls = steady_calls(answers)
    cpu, wall = ([each[f"{clock}_seconds"] for each in calls] for clock in ("cpu", "wall"))
    return Cost(statistics.median(cpu), statistics.median(wall))


def by_jmh(jars: Path, store: JvmStore, operation: str, setting: Setting) -> Cost:
    """Return the cost of a steady call in a fork of JMH."""
    java = find_java()
    if java is None:
        raise click.ClickException("there is no Java")
    parameters = {
        "format": store.format_name,
        "codec": "none",
        "dataset": DATASET,
        "rows": setting.rows if operation == "write" else 0,
        "path": setting.file(store, operation),
    }
    seconds = f"{1_000 * setting.iteration_seconds:.0f}ms"
    warm_ups = max(1, round(setting.warm_up_seconds / setting.iteration_seconds))
    with tempfile.TemporaryDirectory(prefix="formatbench-jmh-") as scratch:
        found = Path(scratch, "results.json")
        command = [str(java.java), *jvm_flags(java, HEAP_GIB, scratch), "-cp", f"{jars}/*"]
        command += ["org.openjdk.jmh.Main", rf"TimedCalls\.{operation}$", "-foe", "true", "-f", "1"]
        command += ["-wi", str(warm_ups), "-w", seconds, "-i", str(ITERATIONS), "-r", seconds]
        command += ["-rf", "json", "-rff", str(found)]
        command += [part for name, value in parameters.items() for part in ("-p", f"{name}={value}")]
        done = subprocess.run(
            command,
            capture_output=True,
            text=True,
            check=False,
            timeout=LIMIT_SECONDS,
            cwd=scratch,
            env=java_environment(),
        )
        if done.returncode or not found.is_file():
            raise click.ClickException(f"JMH failed: {(done.stdout + done.stderr)[-2_000:]}")
        (result,) = json.loads(found.read_text(encoding="utf-8"))
    return cost_of(result)


def cost_of(result: Mapping[str, Any]) -> Cost:
    """Return the cost of a call by a result of JMH, whose iterations have a mean each.

    Raises
    ------
    ValueError
        If JMH had other units than seconds.
    """
    if result["primaryMetric"]["scoreUnit"] != "s/op":
        raise ValueError(f"the unit of JMH is {result['primaryMetric']['scoreUnit']}, not s/op")
    counters = {
        # Some versions put a dot before the name of a counter.
        name.lstrip("\u00b7"): each["rawData"][0]
        for name, each in result["secondaryMetrics"].items()
    }
    cpu = [each / calls for each, calls in zip(counters["cpuSeconds"], counters["calls"], strict=True)]
    return Cost(statistics.median(cpu), statistics.median(result["primaryMetric"]["rawData"][0]))


def compared(jars: Path, store: JvmStore, operation: str, setting: Setting, turns: int) -> Comparison:
    """Measure a call by the driver and by JMH in turn."""
    if operation != "write":
        path = setting.file(store, operation)
        store.run(JvmRequest("write", DATASET, setting.rows, path), LIMIT_SECONDS)
    costs: tuple[list[Cost], list[Cost]] = ([], [])
    for turn in range(turns):
        for side in (turn % 2, 1 - turn % 2):
            measure = (
                by_jmh(jars, store, operation, setting) if side else by_driver(store, operation, setting)
            )
            costs[side].append(measure)
    return Comparison(store.label, operation, *costs)


@click.command()
@click.argument("labels", nargs=-1, metavar="[LABEL]...")
@click.option("--operation", "operations", type=click.Choice(OPERATIONS), multiple=True)
@click.option("--rows", default=100_000, show_default=True, help="Records.")
@click.option("--turns", default=TURNS, show_default=True, help="JVMs of each side.")
def main(labels: tuple[str, ...], operations: tuple[str, ...], rows: int, turns: int) -> None:
    """Compare the driver of the JVM with JMH."""
    jars = MavenModule(record_stores.jvm.folder, "jmh").build()
    found, load = [], os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="formatbench-jmh-") as folder:
        setting = Setting(Path(folder), rows)
        for label in labels or LABELS:
            store = record_stores.get(label)
            for operation in operations or OPERATIONS:
                found.append(compared(jars, store, operation, setting, turns))
                click.echo(" ".join(found[-1].cells), err=True)
    click.echo(f"{rows:,} records of {DATASET}, {turns} JVMs of each side, {os.cpu_count()} CPUs,")
    click.echo(f"load {load:.1f} at the start, {os.getloadavg()[0]:.1f} at the end\n")
    for line in table_lines(HEADER, [each.cells for each in found], "ll" + "r" * 6):
        click.echo(line)


if __name__ == "__main__":
    main()

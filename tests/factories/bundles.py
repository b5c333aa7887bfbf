"""Bundles of made-up machines, whose rankings depend on planted facts, for an atlas of any size."""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
import random
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from format_bench.bundles.data_digests import data_digest
from format_bench.results.bundle import FORM, VERSION
from format_bench.results.metrics import METRICS
from format_bench.results.suites import SUITES
from tests.factories.records import TABULAR, record

LABELS = ("CSV", "Feather", "JSON", "ORC", "Parquet", "Pickle")
ROWS, COLUMNS = 100, 8

SLOW_ALONE = "Parquet"
"""Its reads gain from each doubling of the CPUs, by this share; ORC's do not."""
GAIN = 0.4

CHANGED = "Feather"
"""Its saves take this factor with the newest pyarrow."""
CHANGE = 3.0

PYARROW = ("24.0.0", "25.0.0", "26.0.1")


def head(chance: random.Random, machine: int, month: str) -> dict[str, Any]:
    """Return the head of a machine's bundle, without the number and the digest of its records."""
    cpus = 2 ** (machine % 6)
    versions = {"numpy": "2.4.6", "pandas": "3.1.1", "pyarrow": PYARROW[chance.randrange(len(PYARROW))]}
    run = {
        "started": f"{month}-15",
        "python": {"implementation": "CPython", "version": "3.11.7 (main)"},
        "libraries": versions,
        "cpu": {"model": chance.choice(["AMD EPYC", "Intel Xeon", "ARM Neoverse"]), "usable": cpus},
        "memory": {"total_bytes": cpus * chance.choice([2, 4, 8]) * 10**9},
        "scratch": {"file_system": chance.choice(["ext4", "xfs", "tmpfs"]), "rotational": False},
    }
    noise = {"cells": 100, "median": 0.03, "quantile_95": 0.08}
    check = {"pairs": 0, "out_of_order": 0, "beyond_noise": 0}
    return {
        "form": FORM, "version": VERSION, "made": f"{month}-20", "program": "0.1", "metadata": [run],
        "commands": ["format-bench run"], "noise": noise, "self_check": check, "left_out": [],
    }  # fmt: skip


def records(
    of: dict[str, Any], chance: random.Random, labels: tuple[str, ...], datasets: tuple[str, ...]
) -> Iterator[dict[str, Any]]:
    """Yield the records of a bundle as JSON values; `of` is its head."""
    (run,) = of["metadata"]
    versions = run["libraries"]
    named = ", ".join(f"{name} {version}" for name, version in versions.items())
    environment = f"CPython 3.11.7, measurement {SUITES['tabular'].version}, {named}"
    usual = asdict(record("CSV", "size", 1.0, rows=ROWS, columns=COLUMNS, environment=environment))
    speed = chance.lognormvariate(0, 0.5)
    for label in labels:
        for dataset in datasets:
            for (metric, cache), typical in TABULAR.items():
                value = typical * _factor(label, metric, run["cpu"]["usable"], versions["pyarrow"])
                if "time" in metric:
                    value *= speed * chance.lognormvariate(0, 0.02)
                where = {"format": label, "dataset": dataset, "metric": metric}
                conditions = {"threads": "all"} | ({"cache": cache} if cache else {})
                unit = METRICS[metric].unit
                value = float(f"{value:.6g}") if unit == "seconds" else float(round(value))
                yield usual | where | {
                    "unit": unit, "conditions": conditions, "value": value, "repeats": [value],
                }  # fmt: skip


def _factor(label: str, metric: str, cpus: int, pyarrow: str) -> float:
    factor = _typical(label, metric)
    if "read" in metric and label in {SLOW_ALONE, "ORC"}:
        factor = 2.0 * (1 + GAIN) ** -(cpus.bit_length() - 1) if label == SLOW_ALONE else 1.0
    if "save" in metric and label in {CHANGED, "CSV"}:
        factor = 1.0 if label == "CSV" else (CHANGE if pyarrow == PYARROW[-1] else 1.0) * 0.6
    return factor


@functools.cache
def _typical(label: str, metric: str) -> float:
    return 1.6 ** random.Random(f"{label} {metric.removesuffix('time')}").randrange(6)


def write_bundle(path: Path, facts: dict[str, Any], found: list[dict[str, Any]]) -> Path:
    """Write a head and records as a bundle, right or wrong."""
    lines = [json.dumps(each).encode() + b"\n" for each in found]
    digest = hashlib.sha256(b"".join(lines)).hexdigest()
    whole = facts | {"records": len(lines), "records_sha256": digest}
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(gzip.compress(json.dumps(whole).encode() + b"\n" + b"".join(lines), 6))
    return path


def write_bundles(
    folder: Path,
    machines: int,
    months: tuple[str, ...] = ("2026-11",),
    labels: tuple[str, ...] = LABELS,
    datasets: tuple[str, ...] = ("eq", "str"),
) -> list[Path]:
    """Write a bundle for each machine and month, and return their paths."""
    data = [
        {
            "family": "tables", "name": name, "rows": ROWS, "columns": COLUMNS, "reason": "",
            "digest": data_digest("tables", name, ROWS, COLUMNS),
        }
        for name in datasets
    ]  # fmt: skip
    found = []
    for machine in range(machines):
        for month in months:
            chance = random.Random(f"{machine} {month}")
            facts = head(chance, machine, month) | {"data": data}
            path = folder / f"machine-{machine}" / month / "run.bundle.gz"
            found.append(write_bundle(path, facts, list(records(facts, chance, labels, datasets))))
    return found


def change(path: Path, changed: Callable[[dict[str, Any], list[dict[str, Any]]], object]) -> Path:
    """Change a bundle as a careful forger would: its records have the stated digest afterwards."""
    first, *lines = map(json.loads, gzip.decompress(path.read_bytes()).splitlines())
    changed(first, lines)
    return write_bundle(path, first, lines)

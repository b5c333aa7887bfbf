"""Records and results with invented values, for any number of formats and data sets."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from adapter_core.adapter import engine_of
from format_bench.results.conditions import Conditions
from format_bench.results.load import Results
from format_bench.results.metrics import METRICS
from format_bench.results.records import Record
from format_bench.results.status import CellStatus

if TYPE_CHECKING:
    from format_bench.results.candidates import Candidate

TABULAR = {
    ("save time", None): 0.02,
    ("save CPU time", None): 0.02,
    ("durable save time", None): 0.03,
    ("save memory", None): 5e6,
    ("size", None): 2e6,
    ("read time", "warm"): 0.01,
    ("read CPU time", "warm"): 0.01,
    ("read memory", "warm"): 9e6,
    ("held memory", None): 6e6,
    ("lost columns", None): 0,
    ("read time", "cold"): 0.015,
    ("read CPU time", "cold"): 0.015,
    ("read amplification", "cold"): 1.0,
}
IMAGES = {
    ("save time", None): 1.5,
    ("save memory", None): 4e7,
    ("size", None): 3e7,
    ("files", None): 1,
    ("read memory", None): 8e7,
    ("changed images", None): 0,
    ("open time", None): 0.003,
    ("random read time per image", "warm"): 2e-4,
    ("random read time per image", "cold"): 6e-4,
    ("batch read time per image", "warm"): 1e-4,
    ("batch read time per image", "cold"): 2e-4,
    ("read time", "warm"): 0.5,
    ("read time", "cold"): 0.8,
}
"""Typical values of what the suites measure, by metric and cache."""

METADATA: dict[str, Any] = {
    "started": "2026-11-01T02:00:00+00:00",
    "ended": "2026-11-01T03:30:00+00:00",
    "threads": {"policy": "all", "in_force": {"cpus": 8}},
    "libraries": {"pandas": "3.1.1", "pyarrow": "26.0.1", "lmdb": None},
    "system": {"os": "Some Linux 12", "kernel": "6.18"},
    "cpu": {"model": "Some CPU", "usable": 8},
    "memory": {"total_bytes": 32_000_000_000},
}


AXES = ("cache", "threads", "track", "medium", "settings")
"""Axes that `record` takes as fields."""


def record(label: str, metric: str, value: float | None, **fields: Any) -> Record:
    """Return a record with usual fields, some replaced; without a value its status is failed."""
    under = {"threads": "all"} | {name: fields.pop(name) for name in AXES if name in fields}
    facts: dict[str, Any] = {
        "suite": "tabular",
        "format": label,
        "engine": engine_of(label),
        "dataset": "eq",
        "rows": 50_000,
        "columns": 8,
        "codec": None,
        "level": None,
        "conditions": dict(Conditions(under)),
        "metric": metric,
        "unit": METRICS[metric].unit,
        "value": value,
        "repeats": [] if value is None else [value],
        "interval": None,
        "status": CellStatus.FAILED if value is None else CellStatus.VALUE,
        "sentence": "it fell over" if value is None else "",
        "run_id": "made-up",
    }
    return Record(**facts | fields)


def results(records: Iterable[Record], **fields: Any) -> Results:
    """Return results with these records and usual metadata, some fields replaced."""
    return Results(**{"name": "made up", "records": list(records), "metadata": [METADATA]} | fields)


def in_rounds(records: Iterable[Record], apart: float = 0.1) -> Iterator[Record]:
    """Yield records whose times have two rounds of a sample each, apart by this share of the value."""
    for each in records:
        if each.value and each.unit == "seconds":
            samples = [each.value * (1 - apart / 2), each.value * (1 + apart / 2)]
            yield replace(each, repeats=samples, rounds=2, round_sizes=[1, 1], interval=samples)
        else:
            yield each


def results_of(values: dict[str, dict[str, float]], **fields: Any) -> Results:
    """Return results without metadata, with a record for each value.

    Parameters
    ----------
    values : dict
        Values by label and metric, e.g. ``{"CSV": {"size": 1e6}}``.
    **fields
        Fields of all records that differ from the usual ones.
    """
    records = [
        record(label, metric, value, **fields)
        for label, by_metric in values.items()
        for metric, value in by_metric.items()
    ]
    return results(records, metadata=[])


QUERIES = {
    ("query time", "warm"): 1e-3,
    ("query time", "cold"): 4e-3,
    ("query CPU time", "warm"): 1e-3,
    ("answer write time", None): 2e-3,
    ("query bytes", "cold"): 1e5,
    ("query requests", "cold"): 3,
}
"""Typical values of the smallest query, by metric and cache."""

QUERIES_TO = {"era5-hourly": range(1, 29), "era5-hourly-soil": range(29, 41)}
"""Numbers of the queries that apply to a data set of a year."""


def answered(
    formats: Iterable[str],
    tracks: Iterable[str] = ("paper", "best"),
    hours: int = 8760,
    slowest: float = 1.0,
) -> Iterator[Record]:
    """Yield records of the suite of queries: sizes, and values of each query.

    Parameters
    ----------
    formats, tracks : iterable of str
        Labels, and ways of writing.
    hours : int
        Size of the data sets.
    slowest : float
        Share of the queries that the last format answers; the others time out.
    """
    formats = list(formats)
    for label in formats:
        for dataset, own in QUERIES_TO.items():
            for track in tracks:
                facts: dict[str, Any] = {"suite": "foxbench", "dataset": dataset, "rows": hours}
                facts |= {"track": track, "codec": "lz4", "level": 6}
                factor = random.Random(f"{label} {track}").lognormvariate(0, 0.8)
                yield record(label, "size", round(1e9 * factor**0.2), **facts)
                for number in own:
                    late = label == formats[-1] and number > own[0] + slowest * len(own)
                    for (metric, cache), usual in QUERIES.items():
                        cell = facts | {"cache": cache, "query": f"Q{number}"}
                        if late:
                            limit = {"status": CellStatus.TIMED_OUT, "sentence": "not started"}
                            yield record(label, metric, None, **cell | limit)
                        else:
                            chance = random.Random(f"{label} {track} {metric} {number}")
                            growth = 1.6 ** ((number - own[0]) % 7 + (number - own[0]) // 7)
                            value = usual * factor * growth * chance.lognormvariate(0, 0.2)
                            whole = METRICS[metric].unit != "seconds"
                            yield record(label, metric, round(value) if whole else value, **cell)


def labels(number: int) -> list[str]:
    """Return a number of labels, some of them with engines."""
    names = (
        "Arrow Avro BSON CBOR CSV Delta DuckDB Excel Feather HDF5.fixed HDF5.table JSON Lance MsgPack"
    )
    known = [*names.split(), "NumPy", "ORC", "Parquet", "Pickle", "SQLite", "XML", "YAML", "Zarr"]
    engines = [f"{name}[{engine}]" for engine in ("polars", "duckdb") for name in known]
    return [*known, *engines][:number]


def measured(formats: Iterable[str], datasets: Iterable[str], **fields: Any) -> Iterator[Record]:
    """Yield a record for each metric of each format and data set; the suite decides the metrics."""
    metrics = IMAGES if fields.get("suite", "").startswith("image") else TABULAR
    for label in formats:
        for dataset in datasets:
            for (metric, cache), usual in metrics.items():
                chance = random.Random(f"{label} {dataset} {metric} {cache}")
                factor = random.Random(f"{label} {metric}").lognormvariate(0, 1.2)
                samples = _samples(usual * factor, METRICS[metric].unit, chance)
                middle = sorted(samples)[len(samples) // 2]
                several = len(samples) > 1
                yield record(
                    label, metric, middle, dataset=dataset, cache=cache, repeats=samples,
                    interval=[min(samples), max(samples)] if several else None, **fields,
                )  # fmt: skip


def _samples(value: float, unit: str, chance: random.Random) -> list[float]:
    if unit == "seconds":
        return [value * chance.lognormvariate(0, 0.05) for _ in range(5)]
    return [float(round(value * chance.lognormvariate(0, 0.1)))]


def compressed(datasets: Iterable[str]) -> Iterator[Record]:
    """Yield records of the compression suite: two formats, each with and without codecs."""
    shares = {(None, None): 1.0, ("lz4", None): 0.6, ("zstd", 1): 0.4, ("own default", None): 0.7}
    for dataset in datasets:
        for label, size in (("Feather", 4e6), ("Parquet", 3e6)):
            for (codec, level), share in shares.items():
                fields = {
                    "dataset": dataset,
                    "codec": codec,
                    "level": level,
                    "suite": "compression.Compression",
                }
                yield record(label, "size", size * share, **fields)
                for metric, seconds in (("save time", 0.02 / share), ("read time", 0.01 * share)):
                    samples = [seconds * factor for factor in (0.97, 1.0, 1.05)]
                    yield record(
                        label,
                        metric,
                        seconds,
                        repeats=samples,
                        interval=[samples[0], samples[2]],
                        **fields,
                    )


def bare(candidate: Candidate) -> str:
    """Return the name of a candidate without facts of its adapter, e.g. "Parquet" uncompressed."""
    return str(replace(candidate.configuration, family=""))

"""Cost of keeping data in a cloud: storage, requests, transfer and CPU time, by format.

With n of saves, reads and partial reads a month, and the prices of a file such as cloud_prices.toml:

    month = kept * size / GB * gb_month
          + saves * (requests * put_1000 / 1,000 + CPU seconds / 3,600 * cpu_hour)
          + reads * (requests * get_1000 / 1,000 + bytes / GB * gb_out + CPU seconds / 3,600 * cpu_hour)
          + parts * (the same of a partial read)

and a year is twelve months. The cost is linear in each number, so two formats cost the same at one
number at most.
"""

from __future__ import annotations

import datetime
import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from importlib import resources
from pathlib import Path
from typing import Any, NamedTuple

from adapter_core import Feature
from adapter_core.errors import InvalidRequestError, UnknownCostError
from adapter_core.traits import Trait
from format_bench.recommendation.recommend import Recommendation
from format_bench.results import shipped
from format_bench.results.adapter_facts import facts_of
from format_bench.results.candidates import Candidate, DatasetSize
from format_bench.results.display.text import joined, plural
from format_bench.results.metrics import Measure
from format_bench.results.records import Record
from format_bench.results.suites import family_of_suite

EXAMPLE = "cloud_prices.toml"
SECONDS_OF_HOUR = 3600
MONTHS_OF_YEAR = 12
KINDS = ("saves", "reads", "parts")


@dataclass(frozen=True)
class Prices:
    """Prices in the currency."""

    gigabyte_bytes: float
    """Bytes of a GB."""
    put_1000: float
    """1,000 requests that write."""
    get_1000: float
    """1,000 requests that read."""
    gb_month: float
    gb_out: float
    cpu_hour: float


@dataclass(frozen=True)
class Use:
    """Use of the data in a month."""

    kept: float
    """Stored files."""
    saves: float
    reads: float
    parts: float
    """Reads of two columns."""


@dataclass(frozen=True)
class Cloud:
    """A file of prices."""

    name: str
    currency: str
    date: datetime.date
    source: str
    prices: Prices
    use: Use


def example() -> str:
    """Return the text of the example file."""
    return resources.files(__package__).joinpath(EXAMPLE).read_text(encoding="utf-8")


def read_cloud(path: Path) -> Cloud:
    """Return the prices and the use in a file.

    Raises
    ------
    InvalidRequestError
        If the file cannot be read, or has mistakes; each but the first is a note of the error.
    """
    try:
        facts = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise InvalidRequestError(f"--cloud {path}: {reason}; --cloud-example prints one") from error
    mistakes = [*_mistakes(facts)]
    if mistakes:
        first, *others = (f"--cloud {path}: {each}" for each in mistakes)
        found = InvalidRequestError(first)
        for each in others:
            found.add_note(each)
        raise found
    prices, use = Prices(**facts.pop("prices")), Use(**facts.pop("use"))
    return Cloud(**facts, prices=prices, use=use)


_TEXTS = {"name": "text", "currency": "text", "date": "date, as in 2026-11-25", "source": "text"}
_TABLES = {"prices": Prices, "use": Use}


def _mistakes(facts: Mapping[str, Any]) -> Iterator[str]:
    """Yield a sentence for each mistake."""
    for name in sorted(facts.keys() - {*_TEXTS, *_TABLES}):
        yield f"{name}: unknown; it can be {joined([*_TEXTS, *_TABLES], most=None)}"
    for name, kind in _TEXTS.items():
        if name not in facts:
            yield f"{name} is missing"
        elif not isinstance(facts[name], datetime.date if name == "date" else str):
            yield f"{name}: {facts[name]!r} is no {kind}"
    for name, of_class in _TABLES.items():
        table = facts.get(name)
        if isinstance(table, dict):
            yield from _mistakes_of_numbers(name, table, [each.name for each in fields(of_class)])
        else:
            yield f"the table [{name}] is missing"


def _mistakes_of_numbers(name: str, table: Mapping[str, Any], known: list[str]) -> Iterator[str]:
    for key in sorted(table.keys() - {*known}):
        yield f"{name}.{key}: unknown; it can be {joined(known, most=None)}"
    for key in known:
        value = table.get(key)
        if value is None:
            yield f"{name}.{key} is missing"
        elif isinstance(value, bool) or not isinstance(value, (int, float)):
            yield f"{name}.{key}: {value!r} is no number"
        elif not 0 <= value < math.inf:
            yield f"{name}.{key}: {value} is negative or not finite"
        elif key == "gigabyte_bytes" and not value:
            yield f"{name}.{key}: a GB has bytes"


class Access(NamedTuple):
    """Consumption of one save, read or partial read."""

    requests: float = 0.0
    bytes_out: float = 0.0
    cpu_seconds: float = 0.0


@dataclass(frozen=True)
class Consumption:
    """Consumption of one file."""

    size_bytes: float
    save: Access
    read: Access
    part: Access
    sources: tuple[str, ...] = ()
    """Origins of the numbers that were not measured in the results, in words."""


@dataclass(frozen=True)
class Cost:
    """Cost of a month, in the currency of the prices."""

    storage: float
    each: dict[str, float]
    """Of one save, read and partial read, by `KINDS`."""
    use: Use

    @property
    def by_kind(self) -> dict[str, float]:
        """All saves, reads and partial reads of a month, by `KINDS`."""
        return {kind: getattr(self.use, kind) * each for kind, each in self.each.items()}

    @property
    def month(self) -> float:
        """All of a month."""
        return self.storage + sum(self.by_kind.values())

    @property
    def year(self) -> float:
        """Twelve months."""
        return MONTHS_OF_YEAR * self.month


def cost_of(consumption: Consumption, prices: Prices, use: Use) -> Cost:
    """Return the cost of a month."""

    def of_access(access: Access, price_1000: float) -> float:
        transfer = access.bytes_out / prices.gigabyte_bytes * prices.gb_out
        cpu = access.cpu_seconds / SECONDS_OF_HOUR * prices.cpu_hour
        return access.requests * price_1000 / 1000 + transfer + cpu

    storage = use.kept * consumption.size_bytes / prices.gigabyte_bytes * prices.gb_month
    each = {
        "saves": of_access(consumption.save, prices.put_1000),
        "reads": of_access(consumption.read, prices.get_1000),
        "parts": of_access(consumption.part, prices.get_1000),
    }
    return Cost(storage, each, use)


class Span(NamedTuple):
    """The cheapest from a number of saves, reads or partial reads a month on."""

    start: float
    name: str


def cheapest(costs: Mapping[str, Cost], kind: str) -> list[Span]:
    """Return the cheapest by the number of one kind a month, from 0 on, the others as they are.

    Parameters
    ----------
    costs : mapping
        Costs by name, at least one.
    kind : str
        One of `KINDS`.
    """
    lines = {name: (each.month - each.by_kind[kind], each.each[kind]) for name, each in costs.items()}
    name = min(lines, key=lambda each: lines[each])
    spans = [Span(0.0, name)]
    while True:
        fixed, slope = lines[name]
        crossings = [
            ((other_fixed - fixed) / (slope - other_slope), other_slope, other)
            for other, (other_fixed, other_slope) in lines.items()
            if other_slope < slope
        ]
        if not crossings:
            return spans
        start, _, name = min(crossings)
        spans.append(Span(start, name))


def break_even(spans: list[Span], kind: str) -> str:
    """Return the cheapest by the number of one kind a month as a sentence."""
    noun = {"saves": "saves", "reads": "whole reads", "parts": "partial reads"}[kind]
    if len(spans) == 1:
        return f"{spans[0].name} is cheapest for any number of {noun} a month."
    starts = [f"{float(f'{each.start:.3g}'):,.6g}" for each in spans[1:]]
    first = f"Below {starts[0]} {noun} a month {spans[0].name} is cheapest"
    middle = [f"up to {end} {each.name}" for each, end in zip(spans[1:], starts[1:], strict=False)]
    return "; ".join([first, *middle, f"above {spans[-1].name}"]) + "."


@dataclass(frozen=True)
class Bill:
    """Costs of the candidates of a recommendation."""

    cloud: Cloud
    costs: dict[str, Cost]
    """By name, the cheapest first."""
    missing: dict[str, str] = field(default_factory=dict)
    """Why a candidate has no costs, by name."""
    sources: list[str] = field(default_factory=list)
    """Origins of numbers that were not measured in the results, in sentences."""

    @property
    def break_evens(self) -> list[str]:
        """A sentence for each kind of use."""
        if len(self.costs) < 2:  # noqa: PLR2004 (a comparison needs two)
            return []
        kinds = [kind for kind in KINDS if any(each.each[kind] for each in self.costs.values())]
        used = [kind for kind in kinds if kind != "parts" or self.cloud.use.parts]
        return [break_even(cheapest(self.costs, kind), kind) for kind in used]


def bill(answer: Recommendation, records: Iterable[Record], cloud: Cloud) -> Bill:
    """Return the costs of the ranked candidates; all their data sets together.

    Parameters
    ----------
    answer : Recommendation
        The ranking.
    records : iterable of Record
        All results that it is from: suites on object stores count requests.
    cloud : Cloud
        Prices and use.
    """
    counted = _Counted(answer, records, cloud)
    costs: dict[str, Cost] = {}
    missing: dict[str, str] = {}
    sources: dict[str, list[str]] = {}
    for each in answer.ranked:
        found = counted.consumption(each.candidate)
        if isinstance(found, str):
            missing[each.candidate.name] = found
            continue
        costs[each.candidate.name] = cost_of(found, cloud.prices, cloud.use)
        for source in found.sources:
            sources.setdefault(source, []).append(each.candidate.name)
    in_order = dict(sorted(costs.items(), key=lambda item: (item[1].month, item[0])))
    said = [f"{source}: {joined(names, most=None)}" for source, names in sources.items()]
    return Bill(cloud, in_order, missing, said)


class _Counted:
    """Consumption of candidates, as measured here or by shipped studies."""

    def __init__(self, answer: Recommendation, records: Iterable[Record], cloud: Cloud) -> None:
        self.cloud = cloud
        self.family = family_of_suite(answer.suite)
        self.datasets: list[DatasetSize] = answer.datasets
        self.remote: dict[tuple[object, ...], Record] = {
            (
                each.format,
                each.codec,
                each.level,
                each.conditions.get("settings"),
                each.conditions.get("error bound"),
                each.place,
                each.rows,
                each.metric,
            ): each
            for each in records
            if each.metric.startswith("remote ") and each.value is not None
        }

    def consumption(self, candidate: Candidate) -> Consumption | str:
        """Return the consumption of a candidate, or why it is not known."""
        sources: dict[str, None] = {}
        sums = {name: [0.0, 0.0, 0.0] for name in KINDS}
        size = 0.0
        try:
            for dataset in self.datasets:
                size += self._value(candidate, dataset, Measure("size"))
                for kind in KINDS:
                    if kind == "parts" and not self.cloud.use.parts:
                        continue
                    access = self._access(candidate, dataset, kind, sources)
                    sums[kind] = [a + b for a, b in zip(sums[kind], access, strict=True)]
        except UnknownCostError as error:
            return str(error)
        save, read, part = (Access(*sums[kind]) for kind in KINDS)
        return Consumption(size, save, read, part, tuple(sources))

    def _value(self, candidate: Candidate, dataset: DatasetSize, measure: Measure) -> float:
        value = candidate.value(dataset, measure)
        if value is None:
            raise UnknownCostError(candidate.empty_reason(dataset, measure))
        return value

    def _cpu(self, candidate: Candidate, dataset: DatasetSize, metric: str) -> float:
        if not self.cloud.prices.cpu_hour:
            return 0.0
        try:
            return self._value(candidate, dataset, Measure(metric))
        except UnknownCostError as error:
            raise UnknownCostError(f"{error}; cpu_hour = 0 leaves CPU time out") from None

    def _access(
        self, candidate: Candidate, dataset: DatasetSize, kind: str, sources: dict[str, None]
    ) -> Access:
        """Return the consumption of one save, read or partial read; add the origins of its numbers."""
        step = kind.removesuffix("s")
        cpu = self._cpu(candidate, dataset, "save CPU time" if kind == "saves" else "read CPU time")
        own = [
            self._remote(candidate, dataset, f"remote {step} {each}") for each in ("requests", "bytes")
        ]
        if None not in own:
            requests, sent = (each or 0.0 for each in own)
            if kind == "parts":
                read = self._remote(candidate, dataset, "remote read bytes")
                return Access(requests, sent, self._part_cpu(cpu, sent / read if read else 1.0, sources))
            return Access(requests, 0.0 if kind == "saves" else sent, cpu)
        size = self._value(candidate, dataset, Measure("size"))
        if kind == "saves":
            return Access(self._files(candidate, dataset, "a save", sources), 0.0, cpu)
        label = candidate.configuration.format
        is_table = self.family.name == shipped.LINK_FAMILY
        whole, part = (
            (shipped.link_costs(question).get(label) if is_table else None)
            for question in (shipped.WHOLE, shipped.SPARSE)
        )
        found = whole if kind == "reads" else part
        if found is not None:
            sources[
                f"requests and bytes of reads as `format-bench study links` counted them "
                f"({found.dataset}, {plural(found.rows, 'row')}, {found.date})"
            ] = None
            if kind == "reads":
                return Access(found.requests, found.share * size, cpu)
            return Access(found.requests, found.share * size, self._part_cpu(cpu, found.share, sources))
        if kind == "parts" and self._reads_columns(label):
            raise UnknownCostError(
                f"requests of partial reads of {label} were not counted; the suite "
                "remote counts them, and parts = 0 leaves them out"
            )
        return Access(self._files(candidate, dataset, "a read", sources), size, cpu)

    def _remote(self, candidate: Candidate, dataset: DatasetSize, metric: str) -> float | None:
        made = candidate.configuration
        way = made.settings or None, made.error_bound or None
        key = (made.format, made.codec, made.level, *way, *dataset, metric)
        record = self.remote.get(key)
        return record.value if record else None

    def _part_cpu(self, cpu: float, share: float, sources: dict[str, None]) -> float:
        if cpu:
            sources["CPU time of partial reads by their share of the bytes of whole ones"] = None
        return cpu * min(1.0, share)

    def _reads_columns(self, label: str) -> bool:
        features = facts_of(self.family.name, label).features
        return features is None or Feature.COLUMNS in features

    def _files(
        self, candidate: Candidate, dataset: DatasetSize, what: str, sources: dict[str, None]
    ) -> float:
        """Return a request for each file."""
        files = candidate.value(dataset, Measure("files"))
        label = candidate.configuration.format
        if files is None:
            traits = facts_of(self.family.name, label).traits or frozenset()
            if Trait.SINGLE_FILE not in traits:
                raise UnknownCostError(
                    f"requests of {what} of {label}, a directory of files, were not counted; the suite "
                    "remote counts them"
                )
            files = 1.0
        sources[f"one request for each file is assumed of {what}"] = None
        return files

"""Registry of metrics: an entry in metrics.toml, or in a family's, is all that a metric needs.

The asv suites read it from the checkout, by path, also where an older version of this package is
installed: so this file imports nothing from the project while it is imported.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple, Protocol

_COLD = "cold "


class Noise(StrEnum):
    """Kind of noise of a metric, the difference of repeated measurements."""

    WALL_TIME = "wall time"
    CPU_TIME = "cpu time"
    MEMORY = "memory"
    SIZE = "size"
    """Nearly exact: a library writes its own version into files."""
    EXACT = "exact"


# c of the recommendation's factors by unit. Nobody notices 10 ms; file systems and the kernel give out
# space by pages of 4,096 bytes; and one thing more than none shall count as twice as much, not
# infinitely more.
_SHIFTS = {"seconds": 0.01, "bytes": 4096.0}


@dataclass(frozen=True)
class Metric:
    """One entry of the registry; metrics.toml explains the fields."""

    name: str
    unit: str
    noise: Noise
    column: str
    cached: bool = False
    chart: str = ""
    leader: str = ""
    leader_place: int = 0
    benchmark: str = ""
    pretty: str = ""
    operation: str = ""
    variant: str = ""
    at_least: str = ""
    remarked: bool = False
    shift: float = 0.0
    queried: bool = False

    @property
    def comparison(self) -> str:
        """A verb for a value that is some times the best one, with a gap for the factor."""
        if self.unit == "seconds":
            return "takes {} times as long"
        return "is {} times as large" if self.noise is Noise.SIZE else "needs {} times as much"

    def __post_init__(self) -> None:
        object.__setattr__(self, "noise", Noise(self.noise))
        object.__setattr__(self, "pretty", self.pretty or self.name)
        object.__setattr__(self, "shift", self.shift or _SHIFTS.get(self.unit, 1.0))


def read_metrics(path: Path) -> list[Metric]:
    """Return the metrics of a TOML file, in order.

    Raises
    ------
    ValueError
        If an entry is not a metric; the message names the file and the entry.
    """
    entries = tomllib.loads(path.read_text(encoding="utf-8"))["metric"]
    found = []
    for entry in entries:
        try:
            found.append(Metric(**entry))
        except (TypeError, ValueError) as error:
            raise ValueError(f"{path}, metric {entry.get('name', '?')!r}: {error}") from error
    return found


def _all_metrics() -> dict[str, Metric]:
    here = Path(__file__).resolve().parent
    of_families = sorted((here.parent / "families").glob("*/metrics.toml"))
    return {
        each.name: each for path in (here / "metrics.toml", *of_families) for each in read_metrics(path)
    }


# All metrics by name, in the order of tables and charts; metrics of single families come last.
METRICS = _all_metrics()

# The metrics whose best value is a finding, in the order of the findings.
LEADERS = sorted((each for each in METRICS.values() if each.leader), key=lambda each: each.leader_place)

# The metrics that asv measures, by the method of asv's classes.
BY_BENCHMARK = {each.benchmark: each for each in METRICS.values() if each.benchmark}


class _Cell(Protocol):
    """Fields of a record; `format_bench.results.records` imports this module, not the reverse."""

    @property
    def metric(self) -> str: ...
    @property
    def cache(self) -> str | None: ...
    @property
    def query(self) -> str: ...


class Measure(NamedTuple):
    """A metric, the state of the page cache, and the query if it is of one."""

    metric: str
    """One of `METRICS`."""
    cache: str | None = None
    """"warm" or "cold"; None where the cache has no bearing, or is not recorded."""
    query: str = ""
    """E.g. "Q7"; empty if the metric is of no single query."""

    @classmethod
    def of(cls, record: _Cell) -> Measure:
        """Return the measure of a record."""
        return cls(record.metric, record.cache, record.query)

    @classmethod
    def at(cls, metric: str, cache: str | None) -> Measure:
        """Return the measure of a metric in a state of the page cache, if that has a bearing on it."""
        return cls(metric, cache if METRICS[metric].cached else None)

    @classmethod
    def named(cls, name: str) -> Measure:
        """Return the measure of a name such as "read_time" or "cold read time".

        Raises
        ------
        UnknownNameError
            If the metric does not exist; the message lists near ones.
        """
        from adapter_core.errors import UnknownNameError

        words = name.replace("_", " ").replace("-", " ")
        metric = words.removeprefix(_COLD)
        exact = next((each for each in METRICS if each.lower() == metric.lower()), None)
        if exact is None:
            raise UnknownNameError("metric", name, [each.replace(" ", "_") for each in METRICS])
        return cls(exact, _COLD.strip() if words.startswith(_COLD) else None)

    @property
    def comparable(self) -> Measure:
        """The same measure without "warm", which some suites record and others take for granted."""
        return self if self.cache == "cold" else self._replace(cache=None)

    @property
    def unit(self) -> str:
        """The unit of its values."""
        return METRICS[self.metric].unit

    @property
    def is_exact(self) -> bool:
        """Whether equal calls give equal values: sizes and counts, but not times or memory."""
        # Pages by pages, but the kernel decides how many it reads ahead.
        return METRICS[self.metric].noise in {Noise.SIZE, Noise.EXACT} and self.unit != "ratio"

    @property
    def phrase(self) -> str:
        """The name inside a sentence, e.g. "cold read time"."""
        phrase = f"{self.cache} {self.metric}" if self.cache else self.metric
        return f"{phrase} of {self.query}" if self.query else phrase

    @property
    def option(self) -> str:
        """The name on the command line, e.g. "cold_read_time"."""
        return self.phrase.replace(" ", "_")

    def __str__(self) -> str:
        """Return the name in headings, e.g. "read time, cold"."""
        return ", ".join(filter(None, self))

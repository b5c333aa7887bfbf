"""Registry of families and suites: a family.toml in a folder of `format_bench.families` declares both.

A family is a kind of data, with adapters and operations of its own; a suite is a set of measurements.
The asv suites read this file and the declarations from the checkout, by path, also where an older
version of this package is installed: so this file imports nothing from the project.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

# Sizes of asv's data sets; "tiny" is for tests of the suites themselves.
SCALES = ("full", "quick", "tiny")

# Seconds by scale after which asv ends a cell as timed out: a hundred times what a usual format needs.
LIMIT_SECONDS = {"full": 1800, "quick": 90, "tiny": 8}

# The `adapter_group` of a suite that measures all adapters of its family.
ALL_ADAPTERS = "*"


@dataclass(frozen=True)
class Step:
    """Metrics that the runner measures in one process."""

    name: str
    metrics: tuple[str, ...]
    cache: str | None = None
    """State of the page cache for the metrics that depend on it: "warm", "cold", or None."""
    under: str = ""
    """Axis without a value of which there is nothing to measure; empty for most."""
    calls: int = 1
    """Saves and reads of the whole that it makes for its values; several in processes of its own."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "metrics", tuple(self.metrics))


@dataclass(frozen=True)
class Track:
    """A way to write the files of a suite, named in every label of a result."""

    name: str
    codecs: tuple[str, ...] = ()
    """Choices of a codec, e.g. "lz4 level 6"; the first that an adapter has counts, else none."""
    for_own_questions: bool = False
    """Whether only files that a user asks questions of his own are written on it, unless it is named."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "codecs", tuple(self.codecs))


@dataclass(frozen=True)
class Benchmark:
    """One class of asv benchmarks; asv runs the classes of a suite in order of name."""

    name: str
    metrics: tuple[str, ...]
    caches: tuple[str, ...] = ()
    """States of the page cache, the last parameter of the benchmarks; none if it does not matter."""
    queries: tuple[str, ...] = ()
    """Queries, a further parameter; none if the metrics are of no single query."""
    datasets: tuple[str, ...] = ()
    """Data sets that they are limited to; the suite's if empty."""
    formats: tuple[str, ...] = ()
    """Labels that they are limited to; the suite's if empty."""
    track: str = ""
    """The track of their files, if the tracks of the suite are not a parameter."""
    settings: str = ""
    """The settings of their files, e.g. "defaults", without the suite's codecs; else the usual ones."""

    def __post_init__(self) -> None:
        for name in ("metrics", "caches", "queries", "datasets", "formats"):
            object.__setattr__(self, name, tuple(getattr(self, name)))


@dataclass(frozen=True)
class Sampling:
    """Effort of the asv suites for one step of a cell."""

    budget_seconds: float
    """Wall time of a process after which no further repeat starts."""
    rounds: int = 1
    """Number of processes."""


@dataclass(frozen=True)
class Suite:
    """Set of measurements of a family: axes, metrics, sizes, and asv's classes."""

    name: str
    """The module in benchmarks/, and the value of `--suite`."""
    family: str
    title: str
    """In headings, e.g. "Tables"."""
    prefix: str
    """Start of asv's names of benchmarks, e.g. "Table"."""
    measures: str
    """One line for `format-bench list suites`."""
    datasets: tuple[str, ...]
    """Data sets of the asv suite."""
    sizes: Mapping[str, int]
    """Rows of a table, or images of a set, by scale."""
    run_size: int
    """Rows, or images, that the runner takes by default: an answer within minutes."""
    columns: tuple[str, ...]
    """Metrics of the narrow table on a terminal, a query's as in "query time of Q2"."""
    version: int
    """Version of asv's benchmarks; raised when the measurement changes."""
    sampling: Mapping[str, Sampling]
    """By scale."""
    benchmarks: tuple[Benchmark, ...]
    further_datasets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Data sets of the asv suite at some scales alone, by scale."""
    left_out_datasets: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Data sets that the asv suite has at other scales alone, by scale."""
    dataset_sizes: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Sizes by scale of the data sets that differ from `sizes`."""
    qualifier: str = ""
    """In sentences on a format, e.g. "compressed"; empty for the family's usual data and options."""
    adapter_group: str = ""
    """The adapters that declare this name as their `suite`; the usual ones if empty, all if "*"."""
    formats: tuple[str, ...] = ()
    """Labels that the asv suite is limited to; all if empty."""
    further_formats: tuple[str, ...] = ()
    """Labels of usual adapters that a suite with an `adapter_group` measures besides."""
    steps: tuple[str, ...] = ()
    """Names of the steps of the family that the runner takes."""
    tracks: tuple[Track, ...] = ()
    """Ways to write each file: a further parameter of asv's benchmarks, unless these name theirs."""
    optional: bool = False
    """Whether `make bench` leaves it out unless it is named."""
    generated_only: bool = False
    """Whether its steps make the data themselves, so that it cannot measure a user's."""
    ratio_shift_seconds: float = 0.0
    """c of the ratios (c + t) / (c + best) that rank queries: without it, the ratios of times
    near the clock's resolution would decide."""
    codecs: tuple[str, ...] = ()
    """Codec choices, a third parameter of asv's benchmarks; empty for uncompressed files."""
    left_out_codecs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Codec choices that the asv suite has at other scales alone, by scale."""
    month_hours: float = 10.0
    """Most hours of a monthly run; by default a night."""
    parts: tuple[str, ...] = ()
    """What its adapters need beside the packages, as `format-bench build` names it."""
    item_bytes: int = 100
    """Typical size in memory of an item of its data sets, to estimate a month that has no forerunner."""
    dataset_item_bytes: Mapping[str, int] = field(default_factory=dict)
    """The same of data sets that differ from `item_bytes`."""
    typical_factor: float = 1.0
    """Time of a call by that of the family's usual files of as many bytes, for the same estimate."""

    def __post_init__(self) -> None:
        several = (
            "datasets",
            "columns",
            "formats",
            "further_formats",
            "codecs",
            "steps",
            "tracks",
            "parts",
        )
        for name in several:
            object.__setattr__(self, name, tuple(getattr(self, name)))

    @property
    def default_dataset(self) -> str:
        """The data set that the runner measures if none is named."""
        return self.datasets[0]

    @cached_property
    def tracks_by_name(self) -> dict[str, Track]:
        """The tracks by name."""
        return {each.name: each for each in self.tracks}

    def includes(self, label: str, group: str) -> bool:
        """Return whether the suite measures an adapter, which declares a group as its `suite`."""
        return self.adapter_group in {group, ALL_ADAPTERS} or label in self.further_formats

    def labels(self, declared: Iterable[Any]) -> list[str]:
        """Return the labels of the adapters that asv measures, in order.

        Parameters
        ----------
        declared : iterable of Declaration
            Declarations of the family's folder, as `adapter_core.listing.declarations` reads them.
        """
        names = [label for each in declared for label in each.labels if self.includes(label, each.suite)]
        names.sort(key=lambda label: (label.lower(), label))
        return [name for name in names if name in self.formats] if self.formats else names

    def datasets_at(self, scale: str) -> tuple[str, ...]:
        """Return the data sets of the asv suite at a scale.

        Further ones are last: asv finds older results by the place of a parameter in its list.
        """
        left_out = self.left_out_datasets.get(scale, ())
        kept = (each for each in self.datasets if each not in left_out)
        return (*kept, *self.further_datasets.get(scale, ()))

    def codecs_at(self, scale: str) -> tuple[str, ...]:
        """Return the codec choices of the asv suite at a scale."""
        left_out = self.left_out_codecs.get(scale, ())
        return tuple(each for each in self.codecs if each not in left_out)

    def size(self, dataset: str, scale: str) -> int:
        """Return the rows, or images, of a data set of the asv suite at a scale."""
        return self.dataset_sizes.get(dataset, self.sizes)[scale]

    def raw_bytes(self, dataset: str, scale: str) -> int:
        """Return the typical size in memory of a data set of the asv suite at a scale."""
        return self.size(dataset, scale) * self.dataset_item_bytes.get(dataset, self.item_bytes)

    def benchmark(self, name: str) -> Benchmark | None:
        """Return the class of benchmarks of that name, if it is declared."""
        return next((each for each in self.benchmarks if each.name == name), None)

    def saves(self, track: str = "", settings: str = "") -> str:
        """Return the class of benchmarks that saves the files that the others read on a track."""
        wanted = track, settings
        return next(each.name for each in self.benchmarks if (each.track, each.settings) == wanted)

    @property
    def settings(self) -> tuple[str, ...]:
        """Settings of files that are configurations beside the usual ones, e.g. "defaults"."""
        return tuple(dict.fromkeys(each.settings for each in self.benchmarks if each.settings))

    def recorded_track(self, track: str) -> str:
        """Return the track of a record; one from before the suite had tracks is on the first."""
        return track or (self.tracks[0].name if self.tracks else "")


@dataclass(frozen=True)
class Family:
    """A kind of data."""

    name: str
    title: str
    place: int
    """Its place among the families in lists."""
    item: str
    """Unit of the size of its data sets, e.g. "row" or "image"."""
    adapters: str
    """The package with its adapters."""
    adapter: str
    """An adapter in words, e.g. "table format"."""
    parameter: str
    """Name of the first parameter of asv's benchmarks, the adapter's label."""
    user_data: str
    """A user's data of this family in words, e.g. "a folder of images"."""
    loss: str
    """The metric of loss: counts items with a change that is not an error, e.g. of a dtype."""
    steps: tuple[Step, ...]
    """The runner's steps in order; the first leaves the file that the others read."""
    suites: tuple[Suite, ...]
    takes_codecs: bool = False
    """Whether its adapters take a codec."""
    asks: str = ""
    """The family of the user's data that it asks a user's questions; empty if it asks none."""
    studies: tuple[str, ...] = ()
    """Suites of studies with rows of the family; a study of several families is in each."""

    @property
    def asking_suites(self) -> list[Suite]:
        """The suites whose steps ask questions."""
        return [each for each in self.suites if "query" in each.steps and self.asks]

    def steps_of(self, suite: Suite) -> tuple[Step, ...]:
        """Return the steps that the runner takes in a suite; all if it names none."""
        return tuple(each for each in self.steps if each.name in suite.steps or not suite.steps)

    def step_of(self, metric: str, cache: str | None = None) -> Step | None:
        """Return the step that measures a metric, under a state of the page cache if one is given."""
        for step in self.steps:
            if metric in step.metrics and cache in (None, step.cache):
                return step
        return None

    @cached_property
    def folder(self) -> str:
        """The adapters' folder, relative to the project."""
        return self.adapters.replace(".", "/")


def read_family(path: Path) -> Family:
    """Return the family that a TOML file declares.

    Raises
    ------
    ValueError
        If the declaration has an unknown or a missing field; the message names the file.
    """
    facts: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    try:
        name = facts["family"]["name"]
        steps = tuple(Step(**each) for each in facts["step"])
        suites = tuple(_suite(name, each) for each in facts["suite"])
        return Family(**facts["family"], steps=steps, suites=suites)
    except (KeyError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from error


def _suite(family: str, facts: dict[str, Any]) -> Suite:
    benchmarks = tuple(Benchmark(**each) for each in facts.pop("benchmarks"))
    sampling = {scale: Sampling(**each) for scale, each in facts.pop("sampling").items()}
    tracks = tuple(Track(**each) for each in facts.pop("tracks", ()))
    return Suite(family=family, benchmarks=benchmarks, sampling=sampling, tracks=tracks, **facts)


def read_families(folder: Path) -> dict[str, Family]:
    """Return the families whose packages are in a folder, by name, in order of their places."""
    found = [read_family(path) for path in folder.glob("*/family.toml")]
    return {each.name: each for each in sorted(found, key=lambda each: (each.place, each.name))}


# All families by name.
FAMILIES = read_families(Path(__file__).resolve().parent.parent / "families")

# All suites by name, in the order of the families.
SUITES = {suite.name: suite for family in FAMILIES.values() for suite in family.suites}


def family_of_suite(name: str) -> Family:
    """Return the family of a suite, or the first one of a study; the tables if no family declares it."""
    if name in SUITES:
        return FAMILIES[SUITES[name].family]
    declaring = (each for each in FAMILIES.values() if name in each.studies)
    return next(declaring, FAMILIES["tables"])


def parts_of(names: Iterable[str]) -> list[str]:
    """Return what suites need beside the packages, each part once; nothing for undeclared suites."""
    needed = (part for name in names if name in SUITES for part in SUITES[name].parts)
    return list(dict.fromkeys(needed))


def compared_with(suite: str) -> str:
    """Return the suite in whose tables the results of a suite appear.

    Results of a suite of further adapters appear in its family's first suite, so that a reader has all
    adapters of a family side by side. One with tracks writes and measures its files in a way of its own.
    """
    if suite in SUITES and SUITES[suite].adapter_group not in {"", ALL_ADAPTERS}:
        return suite if SUITES[suite].tracks else family_of_suite(suite).suites[0].name
    return suite


def title_of(suite: str) -> str:
    """Return the title of a suite; of one that is not declared here, its name."""
    return SUITES[suite].title if suite in SUITES else suite.replace("-", " ").capitalize()


def qualified(label: str, suite: str) -> str:
    """Return a format with the suite's qualifier, e.g. "Parquet (compressed)"."""
    qualifier = SUITES[suite].qualifier if suite in SUITES else ""
    return f"{label} ({qualifier})" if qualifier else label


def item_of(suite: str) -> str:
    """Return the item of a suite's data sets."""
    return family_of_suite(suite).item


def suite_order(name: str) -> tuple[int, str]:
    """Return a sort key: suites in the order of their declarations, and undeclared ones by name."""
    names = list(SUITES)
    return (names.index(name) if name in SUITES else len(names)), name

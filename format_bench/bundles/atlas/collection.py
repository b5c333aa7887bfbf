"""Collection of bundles in a folder, as columns of values with the facts of their machines.

A bundle is at MACHINE/YYYY-MM/NAME.bundle.gz. One that cannot be read, or fails a quick check, is left
out with a sentence. Millions of values stay as arrays: a record lives only while its bundle is read.
"""

from __future__ import annotations

import functools
import multiprocessing
import os
import re
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from adapter_core.errors import FormatBenchError, InvalidResultsError
from adapter_core.text import printable
from format_bench.bundles.checks import Verdict, quick_checks
from format_bench.families.operations import operations_of, registry_of
from format_bench.instruments.medium import IN_MEMORY
from format_bench.metadata.libraries import distributions
from format_bench.results import bundle as bundle_file
from format_bench.results.bundle import Bundle
from format_bench.results.candidates import Configuration
from format_bench.results.conditions import WITHIN_A_PLACE, place_of
from format_bench.results.environments import MEASUREMENT, UNKNOWN, versions_of
from format_bench.results.metrics import METRICS, Measure
from format_bench.results.records import key
from format_bench.results.suites import FAMILIES, SUITES, compared_with, family_of_suite

if TYPE_CHECKING:
    from collections.abc import Iterable

    import numpy as np
    from numpy.typing import NDArray


_PLACE = re.compile(r"(?P<machine>[a-z0-9][a-z0-9-]{0,39})/(?P<month>[0-9]{4}-(?:0[1-9]|1[0-2]))")

_RANKED_UNITS = {"seconds", "bytes"}

# In place of own names, as bundles have them: the same placeholder means another thing in each bundle.
_PLACEHOLDER = re.compile(r"(own|question|medium|place|library-set)-\d+")

_VERSION = re.compile(r"[\w.+-]{1,40}")

# Bundles that a process reads at a time; fewer are read in this one, which saves its start.
_AT_A_TIME = 25


class Facts(NamedTuple):
    """Facts of the machine and the environment of a bundle; None or empty where they are not known."""

    processor: str
    cpus: float | None
    memory_bytes: float | None
    file_system: str
    rotational: bool | None
    versions: dict[str, str]
    """Of Python and the libraries, by name."""
    noise: float | None
    """Difference from another run that 95 % of the timed cells do not exceed, as a share."""

    @property
    def is_in_memory(self) -> bool:
        """Whether files are pages of memory alone."""
        return self.file_system in IN_MEMORY

    @property
    def storage(self) -> str:
        """File system and kind of disk in words."""
        return f"{self.file_system}{' on a rotational disk' if self.rotational else ''}"


@dataclass(frozen=True)
class Entry:
    """A bundle of the atlas."""

    machine: str
    """Name of its folder, which its owner chose."""
    month: str
    path: str
    """Relative to the atlas."""
    values: int
    """Number of its values that rankings count."""
    facts: Facts


class Group(NamedTuple):
    """Cells that compare: one data set under the same conditions."""

    suite: str
    """As `compared_with` returns it."""
    dataset: str
    conditions: tuple[tuple[str, str], ...]
    """Those that set the data set apart."""
    rows: int
    threads: str
    query: str

    @property
    def place(self) -> str:
        """The data set with its conditions, e.g. "core on tmpfs"."""
        return place_of(self.dataset, dict(self.conditions))


class Cell(NamedTuple):
    """Place of values that bundles have one of each."""

    group: Group
    measure: Measure
    """Comparable, without the query."""
    configuration: Configuration


@dataclass
class Columns:
    """Values of some bundles."""

    entries: list[Entry] = field(default_factory=list)
    refused: list[tuple[str, str]] = field(default_factory=list)
    """Paths and reasons."""
    left_out: Counter[str] = field(default_factory=Counter)
    """Records that no ranking counts, by reason."""
    cells: dict[Cell, int] = field(default_factory=dict)
    """Numbers of the cells."""
    parts: list[tuple[int, NDArray[np.int32], NDArray[np.float64]]] = field(default_factory=list)
    """Number of the entry, numbers of its cells, and their values."""

    def add(self, others: Columns) -> None:
        """Append the bundles of other columns, whose numbers of entries and cells change."""
        import numpy as np

        first = len(self.entries)
        new = np.array([self.cells.setdefault(each, len(self.cells)) for each in others.cells], np.int32)
        self.entries += others.entries
        self.refused += others.refused
        self.left_out += others.left_out
        self.parts += [(first + number, new[cells], values) for number, cells, values in others.parts]


def collect(folder: Path) -> Columns:
    """Return the values of all bundles below a folder.

    Raises
    ------
    InvalidResultsError
        If the folder is missing or has no bundle that can be used.
    """
    if not folder.is_dir():
        raise InvalidResultsError(f"{folder} is not a folder of bundles")
    paths = sorted(folder.rglob(f"*{bundle_file.SUFFIX}"))
    read = functools.partial(_read_all, folder)
    found = Columns()
    if len(paths) <= _AT_A_TIME:
        found.add(read(paths))
    else:
        # Threads of libraries that are imported by now would not survive a fork.
        context = multiprocessing.get_context("forkserver")
        workers = len(os.sched_getaffinity(0))
        with ProcessPoolExecutor(workers, mp_context=context) as pool:
            starts = range(0, len(paths), _AT_A_TIME)
            for each in pool.map(read, [paths[start : start + _AT_A_TIME] for start in starts]):
                found.add(each)
    if not found.entries:
        reasons = "; ".join(f"{path}: {why}" for path, why in found.refused[:3])
        raise InvalidResultsError(f"{folder} has no bundle to show{': ' if reasons else ''}{reasons}")
    return found


def _read_all(folder: Path, paths: Iterable[Path]) -> Columns:
    found = Columns()
    for path in paths:
        shown = path.relative_to(folder)
        try:
            _read(path, shown, found)
        except (FormatBenchError, OSError) as error:
            reason = printable(str(error)).removeprefix(f"{path} is refused: ")
            found.refused.append((printable(str(shown)), reason))
    return found


def _read(path: Path, shown: Path, found: Columns) -> None:
    """Add a bundle to columns.

    Raises
    ------
    FormatBenchError
        If it is not used; the columns are as before then.
    """
    import numpy as np

    place = _PLACE.fullmatch(shown.parent.as_posix())
    if not place:
        raise InvalidResultsError(
            "its folders are not MACHINE/YYYY-MM, in at most 40 small letters, digits and hyphens"
        )
    if path.is_symlink():
        raise InvalidResultsError("it is a link")
    whole = bundle_file.read(path)
    failed = [each for each in quick_checks(whole, lambda _: None) if each.verdict is Verdict.FAILS]
    if failed:
        raise InvalidResultsError("; ".join(f"{each.name} failed: {each.sentence}" for each in failed))
    cells, values = [], []
    for each in whole.records:
        cell, reason = _cell(key(each), each.environment)
        if cell is None or not each.value:
            found.left_out[reason or ("0" if each.value == 0 else "no value")] += 1
        else:
            cells.append(found.cells.setdefault(cell, len(found.cells)))
            values.append(each.value)
    entry = Entry(**place.groupdict(), path=str(shown), values=len(cells), facts=_facts_of(whole))
    found.parts.append((len(found.entries), np.array(cells, np.int32), np.array(values, np.float64)))
    found.entries.append(entry)


# Texts of a bundle from anybody are kept for at most so many cells.
@functools.lru_cache(maxsize=100_000)
def _cell(of: tuple[Any, ...], environment: str) -> tuple[Cell | None, str]:
    """Return the cell of a record, by its `key` and environment; or None and why it has none."""
    suite, label, dataset, rows, codec, level, values, query, metric, fingerprint = of
    suite = suite.partition(".")[0]
    conditions = dict(values)
    if fingerprint:
        return None, "machines of a cluster"
    if METRICS[metric].unit not in _RANKED_UNITS:
        return None, "counts and ratios, which are not ranked"
    family = family_of_suite(suite)
    own = [dataset, query, *conditions.values()]
    formats, datasets = _known(family.name)
    if any(map(_PLACEHOLDER.fullmatch, own)) or dataset not in datasets:
        return None, "own data, questions, media or places"
    if suite not in SUITES or label not in formats:
        return None, "formats or suites that are not known here"
    version = versions_of(environment).get(MEASUREMENT, UNKNOWN)
    if version not in {UNKNOWN, str(SUITES[suite].version)}:
        return None, "an earlier measurement, whose work was another"
    apart = tuple(each for each in values if each[0] not in WITHIN_A_PLACE)
    threads = conditions.get("threads", "all")
    group = Group(compared_with(suite), dataset, apart, rows, threads, query)
    measure = Measure(metric, conditions.get("cache")).comparable
    further = {name: conditions.get(name, "") for name in ("track", "settings")}
    return Cell(group, measure, Configuration(label, codec, level, family=family.name, **further)), ""


@functools.cache
def _known(family: str) -> tuple[frozenset[str], frozenset[str]]:
    """Return the labels of formats and the names of generated data of a family."""
    found = FAMILIES[family]
    return frozenset(registry_of(found).names()), frozenset(operations_of(found).datasets())


def _facts_of(whole: Bundle) -> Facts:
    """Return the facts of the newest run; those that are not of their kind are not known."""
    head = whole.head
    run: dict[str, Any] = head["metadata"][-1] if head["metadata"] else {}

    def fact(section: str, name: str, kind: type | tuple[type, ...]) -> Any:
        value = run.get(section, {}).get(name)
        return value if isinstance(value, kind) else None

    python = str(fact("python", "version", str) or "").partition(" ")[0]
    stated = run.get("libraries", {}) | {"Python": python}
    # Of several runs, the newest need not be the one that measured.
    for text in sorted({each.environment for each in whole.records}):
        stated |= {name: each for name, each in versions_of(text).items() if each != UNKNOWN}
    versions = {
        name: version
        for name, version in stated.items()
        if name in _libraries() and isinstance(version, str) and _VERSION.fullmatch(version)
    }
    noise = head["noise"]
    return Facts(
        processor=fact("cpu", "model", str) or "",
        cpus=_positive(fact("cpu", "usable", (int, float))),
        memory_bytes=_positive(fact("memory", "total_bytes", (int, float))),
        file_system=fact("scratch", "file_system", str) or "",
        rotational=fact("scratch", "rotational", bool),
        versions=versions,
        noise=noise["quantile_95"] if noise else None,
    )


@functools.cache
def _libraries() -> frozenset[str]:
    """Return Python and the names of the libraries that adapters require."""
    return frozenset({"Python", *distributions()})


def _positive(number: float | None) -> float | None:
    return float(number) if number is not None and number > 0 else None

"""Checks of a bundle from anybody: what can be recomputed is, and what physics forbids is found.

None of them proves that values were measured. Together they find what changed on the way, what was
measured of other data, and what no machine does; `rerun` compares ranks with this machine.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Any

from adapter_core.errors import FormatBenchError
from format_bench.bundles.data_digests import data_digest
from format_bench.bundles.making import counts_of, data_sets_of, noise_of
from format_bench.families.operations import operations_of
from format_bench.instruments.medium import IN_MEMORY
from format_bench.results.bundle import Bundle
from format_bench.results.display.text import joined, plural, quantity
from format_bench.results.environments import (
    MEASUREMENT,
    UNKNOWN,
    own_environment,
    python_of,
    versions_of,
)
from format_bench.results.load import suite_of
from format_bench.results.metrics import METRICS
from format_bench.results.noise import is_wall_time
from format_bench.results.records import Record
from format_bench.results.self_check import SelfCheck
from format_bench.results.suites import FAMILIES, SUITES
from format_bench.system.library_set import AXIS


class Verdict(StrEnum):
    """Outcome of a check."""

    HOLDS = "holds"
    FAILS = "fails"
    UNKNOWN = "unknown"
    """The check lacks its input; the sentence has the reason."""


@dataclass(frozen=True)
class CheckResult:
    """Outcome of a check, with its reason."""

    name: str
    verdict: Verdict
    sentence: str


# Values may be rounded on the way through other programs.
_TOLERANCE = 1e-9

# Above it the ranks of formats are chance: chosen as twice what a banner of reports warns of.
MOST_NOISE = 1.0

# Of pairs that are equal in truth, one of forty exceeds its noise on the wrong side.
MOST_OUT_OF_ORDER = 0.05

# Share that the upper value may lack where the noise of a pair is not known: chosen.
_WIDE_GAP = 0.5

# A core copies 10 to 40 GB/s from memory, and some times that from its caches.
CORE_BYTES_PER_SECOND = 200e9
# Two sockets of twelve channels of DDR5-6400.
MEMORY_BYTES_PER_SECOND = 1.3e12
# Eight SSD, each on four lanes of PCI Express 5.
DISK_BYTES_PER_SECOND = 126e9

# The clock ticks in nanoseconds, and a call of Python alone takes 30 of them.
LEAST_SECONDS = 30e-9

# Samples of one time that a clock of nanoseconds never gives alike.
_ALIKE_SAMPLES = 3

# Below this share of the file's size, the read left values in the file, e.g. in a memory map.
_HELD_SHARE = 0.5

# Of a bundle from anybody; the usual one takes seconds.
DIGESTS_SECONDS = 300.0

_SHOWN = 3


def check(bundle: Bundle, say: Callable[[str], object]) -> list[CheckResult]:
    """Return the outcome of each check.

    Parameters
    ----------
    bundle : Bundle
        A bundle that could be read, and so has the form of the schema.
    say : callable
        Called with a line for each data set that is made again.
    """
    order = SelfCheck.of(bundle.records)
    return [
        *quick_checks(bundle, say),
        _order(order),
        _physics(bundle),
        _noise(order),
        _stated(bundle, order),
    ]


def quick_checks(bundle: Bundle, say: Callable[[str], object]) -> list[CheckResult]:
    """Return the outcome of the checks that take milliseconds once the data were made; see `check`."""
    return [
        _content(bundle),
        _medians(bundle.records),
        _data(bundle, say),
        _versions(bundle),
    ]


def _result(name: str, found: list[str], holds: str) -> CheckResult:
    """Return a failure with its first reasons, or that the check holds."""
    if not found:
        return CheckResult(name, Verdict.HOLDS, holds)
    more = f"; and {len(found) - _SHOWN:,} more" if len(found) > _SHOWN else ""
    return CheckResult(name, Verdict.FAILS, "; ".join(found[:_SHOWN]) + more)


def _cell(record: Record) -> str:
    what = f"{record.format} {record.codec or ''}".strip()
    return f"{record.metric} of {what} on {record.dataset}"


def _content(bundle: Bundle) -> CheckResult:
    found = [] if bundle.is_unchanged else ["records were changed after the bundle was made"]
    return _result("content", found, f"{plural(len(bundle.records), 'record')} with the stated digest")


def _medians(records: list[Record]) -> CheckResult:
    """Check that values are the medians of their samples, and lie in their intervals."""
    found, checked = [], 0
    for each in records:
        if each.value is None or not each.repeats:
            continue
        checked += 1
        median = statistics.median(each.repeats)
        if not math.isclose(each.value, median, rel_tol=_TOLERANCE):
            found.append(f"{_cell(each)} is {each.value:.4g}, the median of its samples {median:.4g}")
        elif each.interval and not each.interval[0] <= each.value <= each.interval[1]:
            found.append(f"{_cell(each)} is outside of its own interval")
    return _result("medians", found, f"{plural(checked, 'value')} are the medians of their samples")


def _data(bundle: Bundle, say: Callable[[str], object]) -> CheckResult:
    """Make generated data again, and compare their digests."""
    wrong, unknown, same = [], [], 0
    end = time.monotonic() + DIGESTS_SECONDS
    listed = {(each["family"], each["name"], each["rows"]): each for each in bundle.head["data"]}
    for place, columns in data_sets_of(bundle.records).items():
        facts = listed.get(place)
        family, name, rows = place
        size = plural(rows, FAMILIES[family].item)
        shown = f"{name} with {size}"
        if facts is None or facts["columns"] != columns:
            wrong.append(f"{shown} has values, but no entry among the data")
            continue
        if facts["digest"] is None:
            if name in operations_of(FAMILIES[family]).datasets() and facts["reason"] == "own data":
                wrong.append(f"{shown} is generated, but has no digest")
            unknown.append(f"{shown}: {facts['reason']}")
            continue
        if time.monotonic() > end:
            unknown.append(f"{shown}: {DIGESTS_SECONDS:.0f} s were over")
            continue
        say(f"digest of {name}, {size}")
        try:
            digest = data_digest(family, name, rows, columns)
        except FormatBenchError as error:
            unknown.append(f"{shown}: {error}")
            continue
        if digest == facts["digest"]:
            same += 1
        else:
            wrong.append(f"{shown} is {digest[:8]} here and {facts['digest'][:8]} there")
    if unknown and not same and not wrong:
        return CheckResult("data", Verdict.UNKNOWN, "; ".join(unknown[:_SHOWN]))
    without = f", {len(unknown)} without one" if unknown else ""
    return _result("data", wrong, f"{plural(same, 'data set')} with the same digest here{without}")


def _versions(bundle: Bundle) -> CheckResult:
    """Check that versions are such, agree between head and records, and are known to this project."""
    runs = _versions_by_run(bundle.head["metadata"])
    every = _joined_versions(runs.values())
    # Thousands of records share each of these.
    measured = {
        (each.environment, each.format, suite_of(each), AXIS in each.conditions, each.run_id)
        for each in bundle.records
    }
    places = {
        (text, suite, None if has_own or own_environment(label, suite) else run_id)
        for text, label, suite, has_own, run_id in measured
    }
    named = {
        (name, version, suite, run_id)
        for text, suite, run_id in places
        for name, version in versions_of(text).items()
        if version != UNKNOWN
    }
    found = dict.fromkeys(
        reason
        for name, version, suite, run_id in sorted(named, key=str)
        # The head has the versions of the run's interpreter alone. Metadata without ids are of bundles
        # that were made before, and of asv's results.
        for known in [{} if run_id is None else runs.get(run_id, every)]
        if (reason := _about_version(name, version, suite, known))
    )
    found |= dict.fromkeys(
        f"the head has {name} {joined(sorted(each))} for one run"
        for run_id, versions in runs.items()
        for name, each in versions.items()
        if run_id is not None and len(each) > 1
    )
    unknown = sorted({suite_of(each) for each in bundle.records} - {*SUITES})
    if unknown:
        found[f"suite {joined(unknown)} is not known here"] = None
    if not named and not found:
        return CheckResult("versions", Verdict.UNKNOWN, "the records name no environment")
    number = len({(name, version) for name, version, _, _ in named})
    return _result("versions", [*found], f"{plural(number, 'version')} agree with the head")


Versions = dict[str, set[str]]
"""Versions by the name of the library; several of a run that metadata describe several times."""


def _versions_by_run(metadata: list[dict[str, Any]]) -> dict[object, Versions]:
    """Return the versions that metadata name, by the id of the run; without ids by nothing."""
    found: dict[object, list[Versions]] = {}
    for run in metadata:
        versions = {name: {str(version)} for name, version in run.get("libraries", {}).items()}
        python = run.get("python", {})
        if isinstance(python.get("implementation"), str) and isinstance(python.get("version"), str):
            text = python_of(python["implementation"], python["version"])
            versions["Python"] = {versions_of(text)["Python"]}
        found.setdefault(run.get("run_id"), []).append(versions)
    return {run_id: _joined_versions(each) for run_id, each in found.items()}


def _joined_versions(of: Iterable[Versions]) -> Versions:
    found: Versions = {}
    for versions in of:
        for name, each in versions.items():
            found.setdefault(name, set()).update(each)
    return found


def _about_version(name: str, version: str, suite: str, runs: Mapping[str, set[str]]) -> str:
    """Return why a version in the environment of records cannot be right; empty if it may be."""
    from packaging.version import InvalidVersion, Version

    if name == MEASUREMENT:
        newest = SUITES[suite].version if suite in SUITES else math.inf
        if version.isdecimal() and int(version) <= newest:
            return ""
        return f"measurement {version} of {suite} is not one of those up to {newest} known here"
    try:
        Version(version.split(maxsplit=1)[0])
    except (InvalidVersion, IndexError):
        return f"{name} {version!r} is no version"
    if version in runs.get(name, {version}):
        return ""
    return f"records have {name} {version}, the head {joined(sorted(runs[name]))}"


def _order(found: SelfCheck) -> CheckResult:
    """Check the orderings that physics demands, e.g. cold reads after warm ones."""
    pairs = len(found.pairs)
    if not pairs:
        return CheckResult("order", Verdict.UNKNOWN, "no pair of values has an order")
    beyond = [each for each in found.out_of_order if each.is_beyond_noise]
    wrong = [each for each in beyond if each.noise or each.gap > _WIDE_GAP]
    sentence = f"{len(wrong):,} of {plural(pairs, 'pair')} out of order by more than noise"
    if len(wrong) <= MOST_OUT_OF_ORDER * pairs:
        return CheckResult("order", Verdict.HOLDS, sentence)
    return CheckResult("order", Verdict.FAILS, f"{sentence}, first: {wrong[0]}")


def _physics(bundle: Bundle) -> CheckResult:
    """Check times against the bandwidth of memory and disks, and the resolution of clocks."""
    cpus = [run.get("cpu", {}).get("usable") for run in bundle.head["metadata"]]
    known = [each for each in cpus if isinstance(each, int) and each > 0]
    memory = min(MEMORY_BYTES_PER_SECOND, max(known, default=64) * CORE_BYTES_PER_SECOND)
    systems = {str(run.get("scratch", {}).get("file_system")) for run in bundle.head["metadata"]}
    disk = DISK_BYTES_PER_SECOND if systems and not systems & {"None", *IN_MEMORY} else memory
    sizes = {_file(each): each.value for each in bundle.records if each.metric == "size" and each.value}
    held = {_file(each): each.value for each in bundle.records if each.metric == "held memory"}
    found: list[str] = []
    checked = 0
    for each in bundle.records:
        if each.value is None or not is_wall_time(each) or METRICS[each.metric].unit != "seconds":
            continue
        checked += 1
        found += _against_clock(each)
        size = sizes.get(_file(each))
        on_disk = each.metric == "durable save time" or each.cache == "cold"
        moves = each.metric in {"save time", "durable save time", "read time"} and size
        is_mapped = "save" not in each.metric and (held.get(_file(each)) or 0) < _HELD_SHARE * (
            size or 0
        )
        limit = disk if on_disk and not each.medium else memory
        if moves and size and not is_mapped and each.value and size / each.value > limit:
            speed, most = quantity(size / each.value, "bytes"), quantity(limit, "bytes")
            found.append(f"{_cell(each)} is {speed}/s, where {most}/s is possible")
    return _result("physics", found, f"{plural(checked, 'time')} within what hardware does")


def _against_clock(record: Record) -> Iterator[str]:
    """Yield why no clock gives the samples of a record."""
    if record.repeats and min(record.repeats) < LEAST_SECONDS:
        yield f"{_cell(record)} has a sample of {quantity(min(record.repeats), 'seconds')}"
    if len(record.repeats) >= _ALIKE_SAMPLES and len(set(record.repeats)) == 1:
        yield f"{_cell(record)} has {len(record.repeats)} equal samples"


def _file(record: Record) -> tuple[object, ...]:
    """Return the coordinates of the file of a record."""
    conditions = sorted((name, value) for name, value in record.conditions.items() if name != "cache")
    what = (suite_of(record), record.format, record.codec, record.level)
    return (*what, record.dataset, record.rows, tuple(conditions), record.machine)


def _noise(found: SelfCheck) -> CheckResult:
    noise = noise_of(found)
    if noise is None:
        return CheckResult("noise", Verdict.UNKNOWN, "too few cells have two rounds")
    sentence = f"{noise['median']:.0%} in the median of {plural(int(noise['cells']), 'cell')}"
    is_low = noise["median"] <= MOST_NOISE
    return CheckResult("noise", Verdict.HOLDS if is_low else Verdict.FAILS, sentence)


def _stated(bundle: Bundle, order: SelfCheck) -> CheckResult:
    """Check that noise and self-check of the head follow from its records."""
    close = partial(math.isclose, rel_tol=0.01, abs_tol=0.001)
    noise, stated = noise_of(order), bundle.head["noise"]
    found = [] if counts_of(order) == bundle.head["self_check"] else ["the stated self-check is another"]
    is_same = noise == stated or (
        noise is not None
        and stated is not None
        and all(close(noise[name], stated[name]) for name in noise)
    )
    found += [] if is_same else ["the stated noise is another"]
    return _result("statements", found, "noise and self-check follow from the records")

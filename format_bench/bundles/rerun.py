"""Rerun of some cells of a bundle on this machine, to compare the ranks of formats."""

from __future__ import annotations

import statistics
import tempfile
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

from adapter_core.errors import FormatBenchError
from format_bench.bundles.checks import CheckResult, Verdict
from format_bench.comparison import FEWEST_RANKED, compare
from format_bench.families.operations import operations_of, registry_of
from format_bench.results.display.text import joined, plural
from format_bench.results.load import Results, load, suite_of
from format_bench.results.suites import SUITES, family_of_suite
from format_bench.runner.plan import NO_CODEC, RunRequest
from format_bench.runner.session import measure

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from format_bench.results.bundle import Bundle
    from format_bench.results.records import Record

NAME = "rerun"

# Spearman's rho of the orders here and there, in the median metric; chosen. Machines, disks and library
# versions change orders, so that a lower one asks for a reason and proves nothing.
LEAST_AGREEMENT = 0.5

# A rerun takes minutes at most: larger data would take hours.
MOST_ROWS = 200_000

# Conditions that any machine has.
_COMMON = {"cache": ("warm",), "threads": ("all",)}


def rerun(bundle: Bundle, formats: int, shown: Console) -> CheckResult:
    """Measure some formats of a bundle again; return how their orders agree.

    Parameters
    ----------
    bundle : Bundle
        The bundle.
    formats : int
        How many formats, those between the fastest and the slowest alike.
    shown : Console
        For progress.
    """
    chosen = sample_of(bundle.records, formats)
    if len({each.format for each in chosen}) < FEWEST_RANKED:
        reason = f"no generated data of at most {MOST_ROWS:,} rows have {FEWEST_RANKED} formats here"
        return CheckResult(NAME, Verdict.UNKNOWN, reason)
    first, labels = chosen[0], list(dict.fromkeys(each.format for each in chosen))
    with tempfile.TemporaryDirectory() as folder:
        request = RunRequest(
            suite=suite_of(first),
            formats=tuple(labels),
            datasets=(first.dataset,),
            rows=first.rows,
            codecs=(NO_CODEC,) if family_of_suite(suite_of(first)).takes_codecs else (),
            out=Path(folder) / "rerun",
        )
        try:
            measure(request, shown, on_own=lambda _: None, on_record=lambda _: None)
            here = load(request.out)
            agreements = compare(Results("the bundle", chosen, []), here).agreements
        except FormatBenchError as error:
            return CheckResult(NAME, Verdict.UNKNOWN, str(error))
    found = {each.measure.phrase: each.spearman for each in agreements if each.spearman is not None}
    if not found:
        return CheckResult(NAME, Verdict.UNKNOWN, "no metric has different values of three formats")
    middle = statistics.median(found.values())
    verdict = Verdict.HOLDS if middle >= LEAST_AGREEMENT else Verdict.FAILS
    ranks = joined((f"{name} {rho:.2f}" for name, rho in found.items()), most=None)
    what = f"{plural(len(labels), 'format')} on {first.dataset}, {first.rows:,} rows"
    return CheckResult(NAME, verdict, f"Spearman's rho of {what}: {ranks}; median {middle:.2f}")


def sample_of(records: Sequence[Record], formats: int) -> list[Record]:
    """Return the records of some formats, uncompressed and warm, on the data set with most of them."""
    groups: defaultdict[tuple[str, str, int], list[Record]] = defaultdict(list)
    for each in records:
        if each.value is not None and _is_plain(each):
            groups[suite_of(each), each.dataset, each.rows].append(each)
    group = max(groups.values(), key=lambda found: len({each.format for each in found}), default=[])
    # By the first metric, so that the chosen ones span the order.
    first = [each for each in group if each.metric == group[0].metric and not each.query]
    labels = list(dict.fromkeys(each.format for each in sorted(first, key=lambda each: each.value or 0)))
    steps = max(1, min(formats, len(labels)) - 1)
    wanted = (
        {labels[round(place * (len(labels) - 1) / steps)] for place in range(steps + 1)}
        if labels
        else ()
    )
    return [each for each in group if each.format in wanted]


def _is_plain(record: Record) -> bool:
    """Return whether a cell can be measured here as it was there."""
    suite = SUITES.get(suite_of(record))
    if suite is None or record.codec is not None or record.rows > MOST_ROWS:
        return False
    family = family_of_suite(suite.name)
    is_common = all(record.conditions[each] in _COMMON.get(each, ()) for each in record.conditions)
    return (
        is_common
        and record.dataset in operations_of(family).datasets()
        and record.format in registry_of(family).names()
    )

"""Evidence on a chosen candidate: a line for each kind that the results, or shipped ones, contain.

A kind is an entry of `EVIDENCE`. Most select records, whose values are shown as multiples of the best
among all candidates in the same cells; the others quote a study or a declaration.
"""

from __future__ import annotations

import math
import statistics
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from adapter_core import Trait
from adapter_core.adapter import format_of
from format_bench.recommendation import requirements
from format_bench.recommendation.recommend import Recommendation
from format_bench.recommendation.requirements import Requirement
from format_bench.results import published, shipped
from format_bench.results.adapter_facts import facts_of
from format_bench.results.display.text import format_ratio, plural
from format_bench.results.load import Results
from format_bench.results.metrics import METRICS, Measure, Noise
from format_bench.results.records import Record
from format_bench.results.suites import family_of_suite

# Measures of one kind that are shown.
SHOWN = 4


class Evidence(NamedTuple):
    """One line of evidence."""

    kind: str
    text: str
    source: str


@dataclass(frozen=True)
class EvidenceKind:
    """A kind of evidence, and how it is found."""

    name: str
    find: Callable[[Recommendation, Results], Iterable[tuple[str, str]]]
    """Returns texts with their sources."""


def evidence_on(answer: Recommendation, results: Results) -> list[Evidence]:
    """Return the evidence on the first candidate.

    Parameters
    ----------
    answer : Recommendation
        The recommendation.
    results : Results
        All results that it is from, other suites and conditions included.
    """
    return [Evidence(kind.name, *found) for kind in EVIDENCE for found in kind.find(answer, results)]


def _losses(answer: Recommendation, results: Results) -> Iterator[tuple[str, str]]:
    first = answer.first.candidate
    found = requirements.answer(Requirement.EXACT, first, answer.suite, answer.datasets)
    if found.met is not None:
        yield found.sentence or "everything came back as it was saved", results.name


def _safety(answer: Recommendation, _: Results) -> Iterator[tuple[str, str]]:
    label = answer.first.candidate.configuration.format
    traits = facts_of(family_of_suite(answer.suite).name, label).traits
    if traits is not None:
        safe = Trait.SAFE in traits
        text = "runs no code that a file contains" if safe else "RUNS CODE that a file contains"
        yield f"reading {text}", "declaration of the adapter"


def _damage(answer: Recommendation, _: Results) -> Iterator[tuple[str, str]]:
    facts = answer.first.candidate.configuration
    key = family_of_suite(answer.suite).name, facts.format, facts.codec or ""
    for checksums in (False, True):
        if counts := shipped.damage().get((*key, checksums)):
            how = " with its optional checksums" if checksums else ""
            wrong = f"{counts.wrong} of {counts.trials} damaged files were read as wrong values{how}"
            yield wrong, f"study damage, {counts.date}"


def _links(answer: Recommendation, results: Results) -> Iterator[tuple[str, str]]:
    label = answer.first.candidate.configuration.format
    costs = shipped.link_costs().get(label)
    if costs and family_of_suite(answer.suite).name == shipped.LINK_FAMILY:
        text = f"waits for {costs.round_trips:.0f} round trips, fetches {costs.share:.2f} of the file"
        yield f"a read on a server {text}", f"study links, {costs.date}"
    yield from _of_records(lambda each: "link" in each.conditions or "remote" in each.metric)(
        answer, results
    )


def _elsewhere(answer: Recommendation, results: Results) -> Iterator[tuple[str, str]]:
    family = family_of_suite(answer.suite)
    for name in (each for each in published.names() if each != results.name):
        records = [each for each in published.records(name) if family_of_suite(each.suite) == family]
        if text := _factors(answer, [each for each in records if not each.query]):
            yield text, f"published: {name}"


def _of_records(
    selects: Callable[[Record], bool],
) -> Callable[[Recommendation, Results], Iterator[tuple[str, str]]]:
    """Return a finder that shows the selected records of the candidate beside all others."""

    def find(answer: Recommendation, results: Results) -> Iterator[tuple[str, str]]:
        chosen = [each for each in results.without_samples().records if selects(each)]
        if text := _factors(answer, chosen):
            yield text, results.name

    return find


def _factors(answer: Recommendation, records: Iterable[Record]) -> str:
    """Return the candidate's values as multiples of the best in the same cells; empty without any."""
    cells: dict[tuple[Measure, str, int, str, str], list[Record]] = defaultdict(list)
    for each in records:
        if each.value is not None and each.value > 0 and METRICS[each.metric].unit != "ratio":
            measure = Measure.of(each)._replace(query="")
            cells[measure, each.place, each.rows, each.query, each.suite].append(each)
    ratios: dict[Measure, list[float]] = defaultdict(list)
    for (measure, *_), found in cells.items():
        own = _own(answer, found)
        if own and len(found) > 1:
            ratios[measure].append(math.log((own.value or 0) / min(each.value or 0 for each in found)))
    return ", ".join(
        f"{measure.phrase} {format_ratio(math.exp(statistics.fmean(logs)))} times the best"
        + (f" in {plural(len(logs), 'cell')}" if len(logs) > 1 else "")
        for measure, logs in list(ratios.items())[:SHOWN]
    )


def _own(answer: Recommendation, found: list[Record]) -> Record | None:
    """Return the candidate's record in a cell: with its codec, or else the best of its format."""
    facts = answer.first.candidate.configuration
    # In questions the label of a format has an engine in brackets.
    same = [each for each in found if facts.format in {each.format, format_of(each.format)}]
    exact = [each for each in same if (each.codec, each.level) == (facts.codec, facts.level)]
    return min(exact or same, key=lambda each: each.value or 0, default=None)


def _other_sizes(answer: Recommendation, results: Results) -> Iterator[tuple[str, str]]:
    counted = {each.rows for each in answer.datasets}
    yield from _of_records(
        lambda each: (
            each.rows not in counted
            or each.metric.startswith("parallel")
            or "workers" in each.conditions
        )
    )(answer, results)


def _is_memory(record: Record) -> bool:
    return METRICS[record.metric].noise is Noise.MEMORY and not record.query


EVIDENCE = (
    EvidenceKind("losses", _losses),
    EvidenceKind("safety", _safety),
    EvidenceKind("damage", _damage),
    EvidenceKind("memory", _of_records(_is_memory)),
    EvidenceKind("links", _links),
    EvidenceKind("media", _of_records(lambda each: bool(each.conditions.get("medium")))),
    EvidenceKind("queries", _of_records(lambda each: bool(each.query))),
    EvidenceKind("scale", _other_sizes),
    EvidenceKind("settings", _of_records(lambda each: bool(each.conditions.get("settings")))),
    EvidenceKind("other machines", _elsewhere),
)

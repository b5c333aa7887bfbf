"""Time budgets: costs of cases by their records on samples."""

from __future__ import annotations

from dataclasses import replace

import pytest

from format_bench.families.cases import Case
from format_bench.families.operations import Measured
from format_bench.instruments.isolation import Outcome
from format_bench.results.conditions import Conditions
from format_bench.results.metrics import METRICS
from format_bench.runner import time_budget
from format_bench.runner.result_store import records_of

ROWS = 1_000


def records_on(sample, seconds, machine=""):
    """Yield the records of a sample whose times all have one value."""
    for step in sample.steps:
        names = sample.asked.by_name
        measured = [
            Measured(metric, [seconds], query=query)
            for metric in step.metrics
            for query in (names if METRICS[metric].queried else [""])
        ]
        for each in records_of(sample, 2, step, Outcome(measured), "run-1"):
            yield replace(each, machine=machine)


def costs_of(*cases, of=lambda _: 0.01, machines=("",)):
    samples = time_budget.sampled(cases)
    records = [
        record
        for sample in samples
        for machine in machines
        for record in records_on(sample, of(sample), machine)
    ]
    return time_budget.costs(cases, samples, records)


def test_each_settings_track_and_suite_of_a_format_has_costs_of_its_own():
    seconds = {"": 0.01, "defaults": 0.02, "recommended": 0.04}
    cases = [Case("Parquet", "eq", ROWS, Conditions({"settings": each})) for each in seconds]
    engines = Case("Parquet", "eq", ROWS, suite="engines")

    def of(sample):
        return 10.0 if sample.suite == "engines" else seconds[sample.conditions.get("settings", "")]

    found = costs_of(*cases, engines, of=of)
    # A durable save, a warm read and a cold one.
    calls = 3 * time_budget.SAMPLE_DIVISOR
    assert [found[case] for case in cases] == pytest.approx([0.01 * calls, 0.02 * calls, 0.04 * calls])
    assert found[engines] == pytest.approx(10.0 * calls)
    assert time_budget.cheapest_first([engines, *cases[::-1]], found) == (*cases, engines)


def test_costs_are_the_mean_of_machines():
    case = Case("Parquet", "eq", ROWS)
    assert costs_of(case, machines=("a", "b")) == pytest.approx(costs_of(case))


@pytest.mark.parametrize(
    ("suite", "dataset", "times"),
    [
        ("tabular", "eq", 3),
        ("remote", "core", 1 + 6),  # save, read and part, near and distant
        ("scale", "core", 4),
        ("analysis", "kaons", 1 + 6),  # three questions, warm and cold
    ],
)
def test_all_times_of_a_suite_count_once(suite, dataset, times):
    case = Case("Parquet", dataset, ROWS, suite=suite)
    calls = times * time_budget.SAMPLE_DIVISOR
    assert costs_of(case)[case] == pytest.approx(0.01 * calls)

"""Parts of a measurement that share a process, and what becomes of them if one ends it."""

from __future__ import annotations

import math
import os
import signal

import pytest

from format_bench.families.cases import Case
from format_bench.instruments.isolation import Outcome
from format_bench.results.status import CellStatus
from format_bench.runner.executor import TimeBudget, in_turn

CASE = Case("CSV", "float", 10)


def measured(parts, ended_by=(), hanging=(), broken=()):
    """Yield each part with the process that it is measured in."""
    for part in parts:
        if part in hanging:
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            signal.pause()
        if part in ended_by or (part in broken and part != parts[0]):
            os.kill(os.getpid(), signal.SIGSEGV)
        yield part, Outcome((part, os.getpid()))


def some_of(parts):
    """Yield the first part, leave the second one out, and end there."""
    yield parts[0], Outcome(parts[0])
    yield parts[1], None


def refusing(parts, refused):
    """Yield each part, and why there is nothing of one."""
    for part in parts:
        yield part, Outcome(status=CellStatus.UNAVAILABLE) if part == refused else Outcome(part)


@pytest.fixture
def outcomes(tmp_path):
    """Return a function that returns the outcomes of parts by part."""

    def run(call, *arguments, **options):
        limits = {"limit_seconds": 60} | options
        return list(in_turn(CASE, "abcde", call, *arguments, folder=tmp_path, **limits))

    return run


@pytest.mark.parametrize("limit_seconds", [60, math.inf])
def test_parts_share_a_process(outcomes, limit_seconds):
    found = outcomes(measured, limit_seconds=limit_seconds)
    assert [part for part, _ in found] == list("abcde")
    assert len({outcome.value[1] for _, outcome in found}) == 1


def test_a_part_that_ends_the_process_costs_itself_alone(outcomes):
    found = dict(outcomes(measured, ("c",), ("d",)))
    assert [found[part].sentence for part in "cd"] == [
        "its process crashed (SIGSEGV)",
        "its timer ran out",
    ]
    pids = [found[part].value[1] for part in "abe"]
    assert pids[0] == pids[1] != pids[2]


def test_a_part_that_crashes_after_others_is_tried_again_alone(outcomes):
    found = outcomes(measured, (), (), ("c",))
    assert [(part, outcome.status) for part, outcome in found] == [(part, None) for part in "abcde"]


def test_a_plan_decides_on_the_parts_after_one_that_failed(outcomes):
    found = outcomes(measured, ("b",), after=lambda *facts: facts[-1][-1:])
    assert [(part, bool(outcome.status)) for part, outcome in found] == [("a", 0), ("b", 1), ("e", 0)]


def test_a_process_that_ends_early_goes_on_as_the_plan_says(outcomes):
    found = outcomes(some_of, after=lambda part, _, rest: rest[-2:] if part == "b" else [])
    assert [(part, outcome.value) for part, outcome in found] == [("a", "a"), ("d", "d")]


def test_a_plan_decides_on_a_last_part_that_failed(outcomes):
    found = outcomes(refusing, "e", after=lambda part, _, rest: rest or [part.upper()])
    assert [(part, bool(outcome.status)) for part, outcome in found[3:]] == [
        ("d", 0),
        ("e", 1),
        ("E", 0),
    ]


def test_nothing_is_measured_without_time(outcomes):
    assert outcomes(measured, budget=TimeBudget(0.0)) == []
